//! Features missing in regions, and the cost of snapshots, replicas and reservations.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::price::{ReplicationInterval, ReservationTerm, Usd};
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::cost::{self, Cost, Item};
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, NeedError, Protocol, Replication};
use sizing::pool::Pool;
use sizing::solve::{Verdict, solve};
use sizing::statement::CostNote;
use units::Share;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn need(mib: u64, gib: u64) -> Need {
    let demand = Demand {
        throughput: KibPerSec::new(mib << 10),
        transfer_bytes: 64 << 10,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    };
    needs::of(demand, gib)
}

fn in_region(region: &str, need: Need) -> Need {
    Need { region: region.to_owned(), ..need }
}

fn designs(need: &Need) -> Vec<Design> {
    match solve(need, &FACTS).expect("a need") {
        Verdict::Feasible { designs, of_each, .. } => designs.into_iter().chain(of_each).collect(),
        Verdict::Infeasible(why) => panic!("{why:?}"),
    }
}

/// The monthly cost of one pool of a level, without hosts.
fn month(level: ServiceLevel, tib: u64, need: &Need) -> Cost {
    let pool = Pool {
        level,
        qos: QosType::Auto,
        size_gib: tib << 10,
        throughput: KibPerSec::new(0),
        volumes: vec![sizing::pool::Volumes {
            part: "data".to_owned(),
            count: 1,
            kind: VolumeKind::Large,
            quota_gib: tib << 10,
            throughput: KibPerSec::new(0),
        }],
    };
    cost::month(need, &[pool], None, &FACTS)
}

fn cents(amount: Usd) -> f64 {
    (amount.as_dollars() * 100.0).round() / 100.0
}

#[test]
fn every_listed_region_can_be_sized_with_each_of_its_levels() {
    for region in FACTS.regions.iter().filter(|region| region.features.is_some()) {
        let levels = FACTS.levels_of(&region.name);
        assert!(levels.len() >= 3, "{}", region.name);
        let need = Need { levels, ..in_region(&region.name, need(0, 4 << 10)) };
        let designs = designs(&need);
        assert!(designs[0].cost.month() > Usd::ZERO, "{}", region.name);
    }
}

#[test]
fn a_feature_missing_in_a_region_is_refused_with_the_nearest_regions() {
    let refused = |need: Need| solve(&need, &FACTS).expect_err("it is lacking").to_string();
    let nowhere = in_region("newzealandnorth", need(0, 1024));
    assert_eq!(
        refused(nowhere),
        "New Zealand North has no Flexible service level; the nearest regions that have it are \
         australiaeast, australiacentral2, australiacentral"
    );
    let standard = |region: &str| Need {
        levels: vec![ServiceLevel::Standard],
        ..in_region(region, need(0, 1024))
    };
    let datastores = Need { protocol: Protocol::Datastores, ..standard("koreacentral") };
    let said = refused(datastores);
    let words = "Korea Central has no datastores for Azure VMware Solution; the nearest regions \
                 that have it are japanwest, ";
    assert!(said.starts_with(words), "{said}");
    let unlisted = |charges| Need { charges, ..standard("mexicocentral") };
    let cool = Charges { cool: Share::from_percent(10), ..Charges::default() };
    assert!(refused(unlisted(cool)).starts_with("mexicocentral has no cool access; "));
    let backup = Charges { backup_gib: 1, ..Charges::default() };
    assert!(refused(unlisted(backup)).starts_with("mexicocentral has no backup; "));
    let premium = Need { levels: vec![ServiceLevel::Premium], ..standard("mexicocentral") };
    let words = "mexicocentral has no price for the premium service level; ";
    assert!(refused(premium).starts_with(words));
    let none = refused(standard("westindia"));
    let words = "West India has no Azure NetApp Files; the nearest regions that have it are \
                 centralindia, southindia, ";
    assert!(none.starts_with(words), "{none}");
}

#[test]
fn volumes_are_replicated_between_pairs_only() {
    let to = |to: &str| {
        let replication = Replication {
            to: to.to_owned(),
            interval: ReplicationInterval::Hour,
            daily_change: Share::from_percent(3),
            level: None,
        };
        let charges = Charges { replication: Some(replication), ..Charges::default() };
        Need { charges, ..need(0, 4 << 10) }
    };
    assert!(solve(&to("westus"), &FACTS).is_ok());
    let refused = |need: &Need| solve(need, &FACTS).expect_err("there is no such pair");
    let error = refused(&to("westeurope"));
    assert!(matches!(error, NeedError::NoReplication { .. }));
    let words = "volumes in East US cannot be replicated to West Europe; they can be replicated to \
                 westus, westus2, ";
    assert!(error.to_string().starts_with(words), "{error}");
    assert!(refused(&to("atlantis")).to_string().contains("replicated to atlantis; "));
}

#[test]
fn large_volumes_need_a_region_that_has_them() {
    let of = |region: &str| {
        let levels = vec![ServiceLevel::Standard];
        designs(&Need { levels, ..in_region(region, need(0, 120 << 10)) })
    };
    assert!(of("eastus").iter().any(|design| design.kind == VolumeKind::Large));
    assert!(of("southindia").iter().all(|design| design.kind == VolumeKind::Regular));
}

/// 10 TiB of data with 20 % for snapshots are 12,288 GiB, of which 2,048 are snapshots.
#[test]
fn snapshots_use_quota_and_have_a_line_in_the_cost() {
    let need = need(0, 10 << 10).with_snapshots(Share::from_percent(20));
    assert_eq!(need.parts[0].capacity_gib, 12_288);
    let cost = month(ServiceLevel::Standard, 12, &need);
    // 10,240 and 2,048 GiB x $0.000202 x 730 h.
    assert_eq!(cents(cost.of(Item::Capacity)), 1_509.99);
    assert_eq!(cents(cost.of(Item::Snapshots)), 302.0);
    let without = month(ServiceLevel::Standard, 12, &self::need(0, 12 << 10));
    assert_eq!(cost.month(), without.month());
    // Growth applies to both.
    let grown = Need { growth: Share::from_percent(50), ..need }.grown();
    assert_eq!(grown.grown(), grown, "it grows once");
    let cost = month(ServiceLevel::Standard, 18, &grown);
    assert_eq!(cents(cost.of(Item::Snapshots)), 453.0);
}

/// 4,096 GiB of which 3 % change in a day: 4,096 x 0.03 x 730 / 24 = 3,737.6, so 3,738 GiB.
#[test]
fn a_replica_costs_transfer_and_its_pool() {
    let of = |interval, level| {
        let to = "westus".to_owned();
        let replication = Replication { to, interval, daily_change: Share::from_percent(3), level };
        let charges = Charges { replication: Some(replication), ..Charges::default() };
        month(ServiceLevel::Premium, 4, &Need { charges, ..need(0, 4 << 10) })
    };
    let prices = FACTS.prices.replication("eastus", "westus").expect("the pair has a price");
    let hourly = of(ReplicationInterval::Hour, None);
    assert_eq!(hourly.of(Item::Replication), prices.hours.times(3738));
    let often = of(ReplicationInterval::TenMinutes, None);
    assert_eq!(often.of(Item::Replication), prices.minutes.times(3738));
    assert!(often.of(Item::Replication) > hourly.of(Item::Replication));
    let west = FACTS.prices.storage("westus").expect("prices");
    let pool = |level| west.capacity(level).expect("a price").times(4096).times(730);
    assert_eq!(hourly.of(Item::Replicas), pool(ServiceLevel::Premium));
    let standard = of(ReplicationInterval::Hour, Some(ServiceLevel::Standard));
    assert_eq!(standard.of(Item::Replicas), pool(ServiceLevel::Standard));
}

#[test]
fn a_reservation_covers_whole_units_and_the_rest_is_pay_as_you_go() {
    let reserved = |level, tib, term| {
        let charges = Charges { reserved: Some(term), ..Charges::default() };
        month(level, tib, &Need { charges, ..need(0, tib << 10) })
    };
    use ReservationTerm::{OneYear, ThreeYears};
    use ServiceLevel::{Flexible, Premium, Standard};
    // 100 TiB x $0.000202 x 730 h less 18 %, and 20 TiB without a discount.
    let cost = reserved(Standard, 120, OneYear);
    assert_eq!(cents(cost.of(Item::Reserved)), 12_381.92);
    assert_eq!(cents(cost.of(Item::Capacity)), 3_019.98);
    // A unit used to 82.5 % costs less than 82.5 TiB without it; 81 TiB do not.
    let cost = reserved(Standard, 83, OneYear);
    assert_eq!((cents(cost.of(Item::Reserved)), cost.of(Item::Capacity)), (12_381.92, Usd::ZERO));
    let cost = reserved(Standard, 81, OneYear);
    assert_eq!(cost.of(Item::Reserved), Usd::ZERO);
    let note = CostNote::NothingReserved {
        level: Standard,
        required_gib: 81 << 10,
        unit_gib: 100 << 10,
        term: OneYear,
    };
    assert_eq!(cost.notes, [note]);
    // 1 PiB and 100 TiB for three years: 34 % and 30 % off $0.000403.
    let cost = reserved(Premium, 1124, ThreeYears);
    let unit = |tib: u64, percent: f64| (tib << 10) as f64 * 0.000403 * 730.0 * (1.0 - percent);
    let expected = ((unit(1024, 0.34) + unit(100, 0.30)) * 100.0).round() / 100.0;
    assert_eq!(cents(cost.of(Item::Reserved)), expected);
    assert_eq!(cost.of(Item::Capacity), Usd::ZERO);
    let cost = reserved(Flexible, 200, OneYear);
    assert_eq!(cost.of(Item::Reserved), Usd::ZERO);
    assert_eq!(cost.notes, [CostNote::NotReservable { level: Flexible }]);
}

/// For pools of every size up to 3 PiB, no other count of units is cheaper.
#[test]
fn no_other_number_of_units_costs_less() {
    let units = FACTS.prices.reservations(ServiceLevel::Premium);
    let each = FACTS.prices.storage("eastus").expect("prices").capacity(ServiceLevel::Premium);
    let each = each.expect("a price");
    for term in ReservationTerm::ALL {
        for tib in (1..3 * 1024).step_by(37) {
            let charges = Charges { reserved: Some(term), ..Charges::default() };
            let need = Need { charges, ..need(0, tib << 10) };
            let found = month(ServiceLevel::Premium, tib, &need).month();
            let of = |small: u64, large: u64| {
                let covered = small * units[0].unit_gib + large * units[1].unit_gib;
                units[0].unit_cost(each, term, 730).times(small)
                    + units[1].unit_cost(each, term, 730).times(large)
                    + each.times((tib << 10).saturating_sub(covered)).times(730)
            };
            let counts = (0..=31).flat_map(|small| (0..=3).map(move |large| (small, large)));
            let best = counts.map(|(small, large)| of(small, large)).min();
            assert_eq!(Some(found), best, "{tib} TiB, {}", term.name());
        }
    }
}

#[test]
fn an_unverified_price_of_a_machine_is_marked_in_every_cost() {
    for design in designs(&need(950, 4096)) {
        let hosts = design.hosts.as_ref().expect("hosts");
        let expected = CostNote::UnverifiedPrice { vm: hosts.vm.clone() };
        assert!(design.cost.notes.contains(&expected), "{:?}", design.cost.notes);
    }
}
