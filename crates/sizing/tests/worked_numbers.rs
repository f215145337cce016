//! The worked numbers of the documents of reference, to the digit.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::{Access, Value};
use cloud::price::Usd;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::capability::Abilities;
use sizing::choice::Choice;
use sizing::claim::Claim;
use sizing::cost;
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Charges, Demand, Need, Part};
use sizing::resource_use::Resource;
use sizing::shortfall::Lack;
use sizing::solve::{Relaxation, Verdict, solve};
use sizing::statement::{Caution, CostStatement, MissingPrice, Statement, StorageStatement};
use sizing::storage::{self, Storage};
use sizing::trade_offs::{FewerHosts, PoolLack, SmallerPool, TradeOff};
use units::Share;

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn demand(mib: u64, read_permille: u64) -> Demand {
    let read = Share::from_permille(read_permille);
    Demand {
        throughput: KibPerSec::new(mib << 10),
        transfer_bytes: 64 << 10,
        read,
        access: Access::Sequential,
        names_per_s: 0,
    }
}

fn need(mib: u64, gib: u64) -> Need {
    needs::of(demand(mib, 1000), gib)
}

fn choice(level: ServiceLevel, qos: QosType) -> Choice {
    let kind = VolumeKind::Regular;
    Choice { level, qos, kind, more_volumes: 0, pools: 1, spare: Share::ZERO }
}

fn storage(mib: u64, gib: u64, level: ServiceLevel, qos: QosType) -> Storage {
    let facts = &*FACTS;
    let need = need(mib, gib);
    let abilities = Abilities::of(&need, VolumeKind::Regular, facts);
    let choice = choice(level, qos);
    storage::build(&need, &choice, &abilities, &facts.catalog).expect("it can be built")
}

fn premium(mib: u64, gib: u64) -> Storage {
    storage(mib, gib, ServiceLevel::Premium, QosType::Auto)
}

fn front(need: &Need) -> Vec<Design> {
    match solve(need, &FACTS).expect("a need") {
        Verdict::Feasible { designs, .. } => designs,
        Verdict::Infeasible(why) => panic!("{why:?}"),
    }
}

#[test]
fn a_throughput_of_950_mib_s_is_15_200_gib_of_premium() {
    let storage = premium(950, 4096);
    let volume = &storage.pools[0].volumes[0];
    assert_eq!((volume.count, volume.quota_gib), (1, 15_200));
    assert_eq!(volume.throughput.get(), 972_800);
    assert_eq!(storage.pools[0].size_gib, 15 << 10);
    let is_arithmetic = |claim: &Claim| match claim.statement {
        Statement::Storage(StorageStatement::QuotaForThroughput {
            throughput,
            rate,
            quota_gib,
            level,
        }) => {
            let printed = rate.to_string() == "64 KiB/s per GiB" && level == ServiceLevel::Premium;
            printed && (throughput.get(), quota_gib) == (972_800, 15_200)
        }
        _ => false,
    };
    assert!(storage.reasons.iter().any(is_arithmetic), "{:#?}", storage.reasons);
}

#[test]
fn a_throughput_of_4_500_mib_s_is_70_31_tib_of_premium() {
    let pool = &premium(4500, 1024).pools[0];
    assert_eq!(pool.quota_gib(), 72_000);
    assert_eq!(format!("{:.2}", pool.quota_gib() as f64 / 1024.0), "70.31");
    // One volume may be assigned 4,500 MiB/s, and reaches 3,600 by the newest figure (B09).
    assert_eq!((premium(3600, 1024).volume_count(), premium(3601, 1024).volume_count()), (1, 2));
}

#[test]
fn five_tib_of_premium_give_320_mib_s_and_one_gives_64() {
    assert_eq!(premium(0, 5 << 10).pools[0].volumes[0].throughput.to_string(), "320 MiB/s");
    assert_eq!(premium(64, 1 << 10).pools[0].volumes[0].quota_gib, 1 << 10);
    assert_eq!(premium(0, 1 << 10).pools[0].throughput.to_string(), "64 MiB/s");
}

#[test]
fn a_machine_of_16_000_mbit_s_sends_1_907_mib_s_and_not_2_000() {
    let writes = |mib| {
        let mut writes = need(mib, 1024);
        writes.parts[0].demands = vec![demand(mib, 0)];
        Need { vm: Some("D32s_v3".to_owned()), hosts: Some(1), ..writes }
    };
    assert!(matches!(solve(&writes(1907), &FACTS), Ok(Verdict::Feasible { .. })));
    let Ok(Verdict::Infeasible(why)) = solve(&writes(2000), &FACTS) else {
        panic!("2,000 MiB/s are more than 16,000 Mbit/s")
    };
    let Lack::Egress { required, most, hosts: 1 } = why.shortfalls[0].lack else {
        panic!("{:?}", why.shortfalls)
    };
    assert_eq!(format!("{most:.1}, {required:.1}"), "1,907.3 MiB/s, 2,000.0 MiB/s");
    let instead = why.nearest.iter().find(|(change, _)| *change == Relaxation::AnyHostCount);
    let hosts = instead.and_then(|(_, design)| design.hosts.as_ref()).expect("more hosts");
    assert_eq!((hosts.count, hosts.vm.as_str()), (2, "Standard_D32s_v3"));
}

#[test]
fn a_need_beyond_all_published_figures_is_a_caution() {
    let cautions = |need: &Need| match solve(need, &FACTS).expect("a need") {
        Verdict::Feasible { cautions, .. } => cautions,
        Verdict::Infeasible(why) => panic!("{why:?}"),
    };
    let known: Vec<f64> = FACTS
        .figures
        .iter()
        .filter_map(|figure| match figure.value {
            Value::Throughput(rate) => Some(rate.get()),
            Value::Rate(rate) => Some(rate.get() * figure.transfer_bytes? as f64),
            Value::Seconds(_) => None,
        })
        .collect();
    let most_mib = known.iter().fold(0.0f64, |most, rate| most.max(rate / 1_048_576.0)) as u64;
    assert_eq!(cautions(&need(950, 4096)), []);
    let found = cautions(&need(999 << 10, 1024));
    let [published, region] = &found[..] else { panic!("{found:#?}") };
    let Statement::Caution(Caution::BeyondPublished { required, hosts, .. }) = &published.statement
    else {
        panic!("{published:?}")
    };
    assert_eq!((required.as_mib(), hosts.map(|(_, most)| most)), (1_022_976.0, Some(32)));
    assert_eq!(published.rows.len(), 1);
    let Statement::Caution(Caution::BeyondRegion { default_gib, .. }) = region.statement else {
        panic!("{region:?}")
    };
    assert_eq!(default_gib, 25 << 10);
    // A need equal to the largest figure has no caution.
    let is_beyond = |claim: &Claim| {
        matches!(claim.statement, Statement::Caution(Caution::BeyondPublished { .. }))
    };
    let beyond = |mib| cautions(&need(mib, 1024)).iter().any(is_beyond);
    assert!(!beyond(most_mib) && beyond(most_mib + 1));
}

#[test]
fn a_manual_pool_of_10_tib_of_ultra_is_split_as_the_documents_split_it() {
    let part = |name: &str, gib, mib: u64| Part {
        name: name.to_owned(),
        capacity_gib: gib,
        demands: vec![demand(mib, 1000)],
        inodes: 0,
    };
    let mut hana = need(0, 0);
    hana.parts = vec![
        part("data", 4096, 704),
        part("log", 512, 256),
        part("shared", 1024, 64),
        part("backup", 4608, 256),
    ];
    let facts = &*FACTS;
    let abilities = Abilities::of(&hana, VolumeKind::Regular, facts);
    let built =
        |qos| storage::build(&hana, &choice(ServiceLevel::Ultra, qos), &abilities, &facts.catalog);
    let manual = built(QosType::Manual).unwrap();
    assert_eq!((manual.pools.len(), manual.pools[0].size_gib), (1, 10 << 10));
    assert_eq!(manual.pools[0].throughput.to_string(), "1,280 MiB/s");
    assert_eq!(manual.pools[0].limits().to_string(), "1,280 MiB/s");
    // By quota the log alone would need 2 TiB.
    assert_eq!(built(QosType::Auto).unwrap().pools[0].size_gib, 13 << 10);
}

/// East US, months of 730 hours, prices of 2026-01-29. The documents print whole dollars.
#[test]
fn pools_cost_the_price_of_the_cost_page() {
    let facts = &*FACTS;
    let prices = facts.prices.storage("eastus").unwrap();
    let cost = |mib, tib: u64, level, qos| {
        let storage = storage(mib, tib << 10, level, qos);
        let pool = &storage.pools[0];
        assert_eq!(pool.size_gib, tib << 10);
        cost::capacity(pool, &prices, 730) + cost::throughput(pool, facts, &prices, 730)
    };
    use QosType::{Auto, Manual};
    use ServiceLevel::{Flexible, Premium, Ultra};
    let dollars = |amount: Usd| amount.to_string();
    assert_eq!(dollars(cost(0, 4, Ultra, Auto)), "$1,609");
    assert_eq!(dollars(cost(0, 36, Ultra, Auto)), "$14,478");
    assert_eq!(dollars(cost(4480, 7, Flexible, Manual)), "$10,582");
    assert_eq!(dollars(cost(0, 100, Premium, Auto)), "$30,125");
    assert_eq!(dollars(cost(6400, 75, Flexible, Manual)), "$22,577");
    assert_eq!(dollars(cost(0, 175, Flexible, Manual)), "$19,753");
    // The page truncates $976.82 to $976.
    assert_eq!(cost(512, 1, Flexible, Manual).micros(), 976_821_760);
}

#[test]
fn a_large_capacity_without_load_costs_its_pool() {
    let standard = Need { levels: vec![ServiceLevel::Standard], ..need(0, 175 << 10) };
    let designs = front(&standard);
    assert_eq!(designs[0].cost.month().to_string(), "$26,425");
    assert_eq!(designs[0].hosts, None);
}

#[test]
fn the_front_is_sorted_without_dominated_designs() {
    let designs = front(&need(950, 4096));
    assert!(designs.len() > 1);
    for pair in designs.windows(2) {
        assert!(pair[0].cost.month() <= pair[1].cost.month());
        let better = pair[1].spare() > pair[0].spare() || pair[1].things() < pair[0].things();
        assert!(better, "{pair:#?}");
    }
    for design in &designs {
        assert!(design.trade_off.is_some() && !design.reasons.is_empty());
    }
}

/// 100 MiB/s x 3,600 s x 730 h are 275,566 GB, each of which is paid in both directions.
#[test]
fn peering_traffic_costs_in_both_directions() {
    let peered = |crossing, mean| {
        let (crossing, mean) = (Share::from_permille(crossing), Share::from_permille(mean));
        let charges = Charges { crossing, mean, ..Charges::default() };
        Need { charges, ..need(100, 1024) }
    };
    let traffic = |need: &Need| front(need)[0].cost.of(cost::Item::Traffic);
    assert_eq!(traffic(&peered(1000, 1000)).to_string(), "$5,511");
    assert_eq!(traffic(&peered(1000, 250)).to_string(), "$1,378");
    assert_eq!(traffic(&peered(500, 500)).to_string(), "$1,378");
    assert_eq!(traffic(&peered(0, 1000)), Usd::ZERO);
    assert_eq!(traffic(&need(100, 1024)), Usd::ZERO);
}

/// AD:cool-access-introduction.md (2023-11-01): 5 TiB of Standard, of which 1 TiB is unallocated, 3
/// of the other 4 TiB are cool, a fifth of those moves in a month. The page states $498.18 for the
/// second and later months, and $61.44 for the first move.
#[test]
fn data_in_the_cool_tier_cost_the_price_of_its_page() {
    let pool = storage(0, 5 << 10, ServiceLevel::Standard, QosType::Auto).pools;
    assert_eq!(pool[0].size_gib, 5 << 10);
    let cool = |permille| {
        let (cool, cool_moved) = (Share::from_permille(permille), Share::from_percent(20));
        let charges = Charges { cool, cool_moved, ..Charges::default() };
        cost::month(&Need { charges, ..need(0, 4 << 10) }, &pool, None, &FACTS)
    };
    let month = cool(750);
    let of = |item| (month.of(item).as_dollars() * 100.0).round() / 100.0;
    assert_eq!(of(cost::Item::Capacity), 302.0);
    assert_eq!(of(cost::Item::CoolCapacity), 183.89);
    assert_eq!(of(cost::Item::CoolTraffic), 12.29);
    assert_eq!((month.month().as_dollars() * 100.0).round(), 49_818.0);
    let transfer = month.reasons.iter().find_map(|claim| match claim.statement {
        Statement::Cost(CostStatement::CoolCapacity { transfer, .. }) => Some(transfer.exact()),
        _ => None,
    });
    assert_eq!(transfer.as_deref(), Some("$61.44"));
    assert_eq!(cool(0).month().to_string(), "$755");
}

#[test]
fn backups_cost_their_stored_data() {
    let charges = Charges { backup_gib: 6 << 10, ..Charges::default() };
    let with = front(&Need { charges, ..need(0, 4 << 10) });
    let without = front(&need(0, 4 << 10));
    let backups = with[0].cost.of(cost::Item::Backup);
    // 6,144 GiB at $0.05 a month.
    assert_eq!(backups.to_string(), "$307");
    assert_eq!(with[0].cost.month().less(backups), without[0].cost.month());
}

#[test]
fn a_region_without_machine_prices_leaves_them_out() {
    let west = Need { region: "westeurope".to_owned(), ..need(950, 4096) };
    for design in front(&west) {
        assert_eq!(design.cost.of(cost::Item::Hosts), Usd::ZERO);
        let MissingPrice::Hosts { region, .. } = &design.cost.missing[0] else {
            panic!("{:?}", design.cost.missing)
        };
        assert_eq!(region, "westeurope");
    }
}

#[test]
fn each_design_names_the_published_figures_of_its_parts() {
    for design in front(&need(950, 4096)) {
        let rows = design.reasons.iter().flat_map(|reason| &reason.rows);
        assert!(rows.clone().any(|row| row.file == "published.toml"), "{:#?}", design.reasons);
        assert!(rows.clone().any(|row| row.file == "prices.toml"));
    }
}

#[test]
fn an_impossible_amount_has_readable_digits() {
    // Designs may have a spare share of a fifth: 5,500,000 / 0.8.
    let levels = vec![ServiceLevel::Standard];
    let wanted = Need { levels, ..need(5_500_000, 1024) };
    let Ok(Verdict::Infeasible(why)) = solve(&wanted, &FACTS) else {
        panic!("an account has too few pools")
    };
    // By figure A42 one large volume reaches 9,970 MiB/s.
    let Lack::Volumes { required, throughput, capacity_gib, .. } = why.shortfalls[0].lack else {
        panic!("{:?}", why.shortfalls)
    };
    assert_eq!((required, throughput.as_mib(), capacity_gib), (552, 5_500_000.0, 1024));
}

#[test]
fn the_cheapest_design_states_what_a_smaller_pool_and_fewer_hosts_lack() {
    let why = |need: &Need| {
        let first = front(need).remove(0);
        match first.trade_off {
            Some(TradeOff::Cheapest { pool, hosts }) => (pool, hosts),
            other => panic!("{other:?}"),
        }
    };
    let mib = |mib: u64| KibPerSec::new(mib << 10);
    let premium = |mib, gib| Need { levels: vec![ServiceLevel::Premium], ..need(mib, gib) };
    // 64 MiB/s per TiB: 14 TiB have 896.
    let lack = PoolLack::Throughput { throughput: mib(896), missing: mib(54) };
    let lacks = |tib, lack| SmallerPool::Lacks { tib, several: false, lack };
    assert_eq!(why(&premium(950, 4096)).0, lacks(14, lack));
    let lack = PoolLack::Quota { missing_gib: 1024 };
    assert_eq!(why(&premium(0, 20 << 10)).0, lacks(19, lack));
    assert_eq!(why(&premium(0, 1)).0, SmallerPool::NotSold);

    let mut writes = premium(2000, 1024);
    writes.parts[0].demands = vec![demand(2000, 0)];
    writes.vm = Some("D32s_v3".to_owned());
    writes.charges.hosts = true;
    // 16,000 Mbit/s are 1,953,125 KiB/s.
    let (resource, limit) = (Resource::Egress, 1_953_125);
    let fewer = FewerHosts { count: 1, resource, limit, used: 2000 << 10 };
    assert_eq!(why(&writes).1, Some(fewer));
    writes.parts[0].demands = vec![demand(1900, 0)];
    assert_eq!(why(&writes).1, None);
}
