//! Properties of every sizing: designs are compared with an independent checker, costs with an
//! exhaustive search, and both with each other for growing needs.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::row::LimitName;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use proptest::prelude::*;
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::need::{Demand, Need, NeedError, Protocol};
use sizing::pool::Pool;
use sizing::shortfall::{Constraint, Shortfall, Tried};
use sizing::solve::{Verdict, solve};
use units::{Nanos, Share};

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn need(kib: u64, gib: u64, read_permille: u64) -> Need {
    let read = Share::from_permille(read_permille);
    let demand = Demand {
        throughput: KibPerSec::new(kib),
        transfer_bytes: 64 << 10,
        read,
        access: Access::Sequential,
        names_per_s: 0,
    };
    Need { vm: Some("D16s_v5".to_owned()), ..needs::of(demand, gib) }
}

fn designs(need: &Need) -> Vec<Design> {
    match solve(need, &FACTS).expect("the need is one") {
        Verdict::Feasible { designs, of_each, .. } => designs.into_iter().chain(of_each).collect(),
        Verdict::Infeasible(_) => Vec::new(),
    }
}

fn cheapest(need: &Need) -> u64 {
    let month = |design: &Design| design.cost.month().micros();
    designs(need).iter().map(month).min().expect("some design")
}

fn limit(name: LimitName) -> u128 {
    u128::from(FACTS.catalog.limit(name))
}

/// All violations of a design, computed from the rows only.
fn wrong(need: &Need, design: &Design) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut demand = |holds: bool, what: &str| {
        if !holds {
            wrong.push(what.to_owned());
        }
    };
    demand(need.levels.contains(&design.level), "the level is not allowed");
    demand(need.previews || design.kind != VolumeKind::Breakthrough, "a preview");
    demand(
        design.pools.len() as u128 <= limit(LimitName::PoolsPerAccountMax),
        "pools of the account",
    );
    for pool in &design.pools {
        demand(need.levels.contains(&pool.level), "the level of a pool is not allowed");
        let size = u128::from(pool.size_gib);
        demand(size.is_multiple_of(limit(LimitName::PoolSizeStep)), "pool step");
        demand(size >= limit(LimitName::PoolSizeMin), "pool too small");
        demand(size <= limit(LimitName::PoolSizeMax), "pool too large");
        let mut quotas = 0;
        let mut assigned = 0;
        for v in &pool.volumes {
            let (least, most) = match v.kind {
                VolumeKind::Regular => (50, 102_400),
                VolumeKind::Large => (51_200, 1_048_576),
                VolumeKind::Breakthrough => (2_400, 2_457_600),
            };
            demand((least..=most).contains(&v.quota_gib), "quota");
            let rate =
                FACTS.catalog.level(pool.level).throughput.map(|rate| rate.kib_per_sec_per_gib());
            let ceiling = FACTS
                .catalog
                .volume_ceiling(pool.level, QosType::Auto, v.kind)
                .map_or(u64::MAX, |c| c.get());
            match pool.qos {
                QosType::Auto => {
                    let by_quota = v.quota_gib * rate.expect("a level by quota");
                    demand(v.throughput.get() == by_quota.min(ceiling), "limit by quota");
                }
                QosType::Manual => {
                    let kib = u128::from(v.throughput.get());
                    demand(kib >= limit(LimitName::ManualThroughputMin), "too little assigned");
                    let most = limit(LimitName::ManualThroughputMax).max(u128::from(ceiling));
                    demand(kib <= most, "too much assigned");
                }
            }
            quotas += u128::from(v.count) * u128::from(v.quota_gib);
            assigned += u128::from(v.count) * u128::from(v.throughput.get());
        }
        demand(quotas <= size, "quotas exceed the pool");
        let gives = match FACTS.catalog.level(pool.level).throughput {
            Some(rate) => u128::from(rate.kib_per_sec_per_gib()) * size,
            None => {
                let bought = u128::from(pool.throughput.get());
                demand(bought >= limit(LimitName::FlexibleThroughputBaseline), "baseline");
                let most = limit(LimitName::FlexibleThroughputMaxPerTib) * size / 1024;
                demand(bought <= most, "more throughput than the size allows");
                bought
            }
        };
        demand(pool.qos == QosType::Auto || assigned <= gives, "more assigned than there is");
    }
    let growth = u128::from(need.growth.added_to_whole().permille());
    let used = u128::from(need.headroom.rest().permille());
    let mut throughput = 0;
    let mut writes = 0;
    for part in &need.parts {
        let all = design.pools.iter().flat_map(|pool| &pool.volumes);
        let own: Vec<_> = all.filter(|v| v.part == part.name).collect();
        let quota: u128 = own.iter().map(|v| u128::from(v.count * v.quota_gib)).sum();
        demand(quota * 1000 >= u128::from(part.capacity_gib) * growth, "capacity");
        let given: u128 = own.iter().map(|v| u128::from(v.count * v.throughput.get())).sum();
        let wanted = u128::from(part.throughput().get()) * growth;
        demand(given * used >= wanted, "throughput");
        throughput += wanted;
        writes += u128::from(part.writes().get()) * growth;
    }
    let Some(hosts) = &design.hosts else {
        demand(throughput == 0, "no host moves the throughput");
        return wrong;
    };
    let vm = FACTS.vm(&hosts.vm).expect("a size that is known");
    demand(need.vm.as_ref().is_none_or(|name| FACTS.vm(name) == Some(vm)), "another size");
    demand(need.hosts.is_none_or(|count| count == hosts.count), "another number of hosts");
    let sent = u128::from(hosts.count) * u128::from(vm.egress_mbit_s) * 125_000 / 1024;
    demand(sent * used + 1000 >= writes, "egress");
    demand(u128::from(hosts.connections) <= limit(LimitName::NconnectMax), "nconnect");
    // Over NFSv3 each connection has its own slots.
    assert_eq!(need.protocol, Protocol::Nfs3, "another way to the volumes has other slots");
    let slots =
        u128::from(hosts.connections * hosts.paths) * limit(LimitName::OutstandingPerConnectionMax);
    let calls = design.response.map_or(0, |response| response.requests.ceil() as u128);
    let all = u128::from(hosts.count) * slots;
    demand(calls <= all, "slots");
    wrong
}

/// Cost of pools, computed from the rows only, in millionths of a dollar.
fn pools_cost(pools: &[Pool]) -> u128 {
    let prices = FACTS.prices.storage("eastus").expect("prices");
    let of = |pool: &Pool| {
        let gib = u128::from(pool.size_gib)
            * u128::from(prices.capacity(pool.level).expect("a price").micros());
        let above = match pool.level {
            ServiceLevel::Flexible => u128::from(pool.throughput.get() / 1024).saturating_sub(128),
            _ => 0,
        };
        (gib + above * u128::from(prices.flexible.expect("a price").throughput.micros())) * 730
    };
    pools.iter().map(of).sum()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_design_satisfies_every_constraint(
        kib in 1u64..40_000_000,
        gib in 1u64..600_000,
        read in 0u64..=1000,
        growth in 0u64..1000,
        headroom in 0u64..600,
        previews: bool,
    ) {
        let mut need = need(kib, gib, read);
        need.growth = Share::from_permille(growth);
        need.headroom = Share::from_permille(headroom);
        need.previews = previews;
        for design in designs(&need) {
            prop_assert_eq!(wrong(&need, &design), Vec::<String>::new(), "{:#?}", design);
            let vm = FACTS.prices.vm("Standard_D16s_v5", "eastus").expect("a price");
            let hosts = u128::from(vm.hour.micros()) * u128::from(design.host_count()) * 730;
            let month = pools_cost(&design.pools) + hosts;
            prop_assert_eq!(u128::from(design.cost.month().micros()), month);
        }
    }

    #[test]
    fn more_capacity_never_gives_less_throughput_and_more_of_either_never_costs_less(
        kib in 1u64..3_000_000,
        gib in 1u64..100_000,
        more_kib in 0u64..500_000,
        more_gib in 0u64..20_000,
    ) {
        let mut one = need(kib, gib, 1000);
        one.hosts = Some(40);
        let mut more = need(kib + more_kib, gib + more_gib, 1000);
        more.hosts = Some(40);
        prop_assert!(cheapest(&more) >= cheapest(&one));
        let mut larger = need(0, gib + more_gib, 1000);
        larger.levels = vec![ServiceLevel::Premium];
        let smaller = Need { parts: need(0, gib, 1000).parts, ..larger.clone() };
        let limits = |need: &Need| designs(need)[0].limits();
        prop_assert!(limits(&larger) >= limits(&smaller));
    }
}

/// The least cost of pools, by exhaustive search over the size of one pool with one to four
/// volumes.
fn by_brute_force(need: &Need, level: ServiceLevel, kind: VolumeKind) -> Option<u128> {
    let wanted = u128::from(need.throughput().get());
    let stored = u128::from(need.parts[0].capacity_gib);
    let (least, most) = if kind == VolumeKind::Large { (51_200, 1 << 20) } else { (50, 102_400) };
    let ceiling = u128::from(
        FACTS.catalog.volume_ceiling(level, QosType::Auto, kind).expect("a ceiling").get(),
    );
    let mut best: Option<u128> = None;
    for tib in 1..=160u64 {
        for count in 1..=4u128 {
            let size = u128::from(tib) * 1024;
            let (low, high) = (size / count, size.div_ceil(count));
            if low < least || high > most || size < stored {
                continue;
            }
            // All of the pool as quota: more quota is never worse.
            let rate = FACTS
                .catalog
                .level(level)
                .throughput
                .map(|rate| u128::from(rate.kib_per_sec_per_gib()));
            let per_tib = limit(LimitName::FlexibleThroughputMaxPerTib);
            let gives = rate.map_or(per_tib * size / 1024, |rate| rate * size);
            if gives < wanted || ceiling * count < wanted {
                continue;
            }
            // Flexible pools follow below.
            if rate.is_none() {
                continue;
            }
            let mib = wanted.div_ceil(1024).max(128);
            let pool = Pool {
                level,
                qos: QosType::Manual,
                size_gib: tib * 1024,
                throughput: KibPerSec::new(u64::try_from(mib * 1024).expect("it fits")),
                volumes: Vec::new(),
            };
            let cost = pools_cost(&[pool]);
            best = Some(best.map_or(cost, |best| best.min(cost)));
        }
    }
    if level == ServiceLevel::Flexible {
        let all = (1..=4u64).flat_map(|count| (1..=count).map(move |pools| (count, pools)));
        let found = all.filter_map(|(count, pools)| flexible(need, kind, count, pools));
        return found.min();
    }
    best
}

/// Flexible pools, each with its own baseline, with the least total size for capacity and
/// throughput. `unequal_volumes.rs` checks whether volumes can fill them.
fn flexible(need: &Need, kind: VolumeKind, count: u64, pools: u64) -> Option<u128> {
    let (least, most) = if kind == VolumeKind::Large { (51_200, 1 << 20) } else { (50, 102_400) };
    let ceiling = if kind == VolumeKind::Large { 12_800 } else { 4_500 };
    let gib = need.parts[0].capacity_gib.max(count * least);
    let mib = need.throughput().get().div_ceil(1024).max(count);
    if gib.div_ceil(count) > most || mib.div_ceil(count) > ceiling {
        return None;
    }
    let sizes = (pools * least.div_ceil(1024)).max(gib.div_ceil(1024)).max(mib.div_ceil(640));
    let bought = mib.saturating_sub(128 * (pools - 1)).max(128);
    let pool = Pool {
        level: ServiceLevel::Flexible,
        qos: QosType::Manual,
        size_gib: sizes * 1024,
        throughput: KibPerSec::new(bought * 1024),
        volumes: Vec::new(),
    };
    Some(pools_cost(&[pool]))
}

#[test]
fn brute_force_finds_no_cheaper_pools() {
    // Reads of a few GiB/s at most, which two volumes certainly reach.
    let cases = [
        (950 << 10, 4096),
        (1 << 10, 1),
        (972_801, 15_200),
        (3000 << 10, 60 << 10),
        (100 << 10, 53_000),
        (2_345_678, 1_234),
        (640 << 10, 1024),
        (641 << 10, 1024),
        (1600 << 10, 100 << 10),
        (65_537, 1025),
    ];
    for (kib, gib) in cases {
        for level in ServiceLevel::ALL {
            for kind in [VolumeKind::Regular, VolumeKind::Large] {
                let mut need = need(kib, gib, 1000);
                need.levels = vec![level];
                let Some(brute) = by_brute_force(&need, level, kind) else { continue };
                let found = designs(&need);
                let found = found.iter().filter(|d| d.kind == kind);
                let found = found.map(|design| pools_cost(&design.pools)).min();
                assert_eq!(found, Some(brute), "{kib} KiB/s, {gib} GiB, {level}, {kind:?}");
            }
        }
    }
}

#[test]
fn limits_are_distinguished_from_measured_writes() {
    let mut writes = need(1800 << 10, 40 << 10, 0);
    let all = designs(&writes);
    let one = all.iter().find(|d| d.kind == VolumeKind::Regular && d.volume_count() == 1);
    assert!(one.expect("the limit of one volume allows it").contradicted);
    let two = all.iter().find(|d| d.kind == VolumeKind::Regular && d.volume_count() == 2);
    assert!(!two.expect("two volumes do it").contradicted);
    // Above the highest figure of one volume it is certain that one is not enough.
    writes = need(3000 << 10, 40 << 10, 0);
    let regular = |d: &&Design| d.kind == VolumeKind::Regular;
    assert!(designs(&writes).iter().filter(regular).all(|d| d.volume_count() > 1));
}

#[test]
fn a_breakthrough_volume_gets_at_most_the_published_throughput() {
    let mut many = need(60 << 20, 100 << 10, 1000);
    many.previews = true;
    let all = designs(&many);
    let mut breakthrough = all.iter().filter(|d| d.kind == VolumeKind::Breakthrough).peekable();
    assert!(breakthrough.peek().is_some());
    assert!(breakthrough.all(|d| d.volume_count() > 1 && !d.notes.is_empty()));
}

#[test]
fn an_impossible_response_time_is_reported_with_the_shortest() {
    let slow = Need { response_time: Some(Nanos(10_000.0)), ..need(100 << 10, 1024, 1000) };
    let Verdict::Infeasible(why) = solve(&slow, &FACTS).expect("a need") else {
        panic!("10 us are less than any published response time")
    };
    assert_eq!(why.shortfalls[0].lack.constraint(), Constraint::ResponseTime);
    assert_eq!(why.shortfalls[0].tried, Tried::Front);
    let fast = Need { response_time: Some(Nanos(5_000_000.0)), ..slow };
    for design in designs(&fast) {
        assert!(design.response.expect("a response time").mean.0 <= 5e6);
    }
}

#[test]
fn meaningless_needs_are_refused() {
    let refused = |need: Need| solve(&need, &FACTS).expect_err("it is refused");
    assert_eq!(refused(need(0, 0, 0)), NeedError::Nothing);
    let region = Need { region: "atlantis".to_owned(), ..need(1, 1, 0) };
    assert!(matches!(refused(region), NeedError::UnknownRegion { .. }));
    let vm = Need { vm: Some("D33s_v3".to_owned()), ..need(1, 1, 0) };
    assert!(matches!(refused(vm), NeedError::UnknownVm { .. }));
    let twice = [need(1, 1, 0).parts, need(1, 1, 0).parts].concat();
    let twice = refused(Need { parts: twice, ..need(1, 1, 0) });
    assert_eq!(twice, NeedError::SameName { name: "data".to_owned() });
    for wrong in [
        Need { headroom: Share::from_permille(901), ..need(1, 1, 0) },
        Need { hours_per_month: 0, ..need(1, 1, 0) },
        Need { hosts: Some(0), ..need(1, 1, 0) },
        Need { response_time: Some(Nanos(0.0)), ..need(1, 1, 0) },
        need(1, 1, 1001),
        need(u64::MAX, 1, 0),
        need(1, u64::MAX, 0),
    ] {
        assert!(matches!(refused(wrong), NeedError::OutOfRange { .. }));
    }
}

#[test]
fn each_bound_is_allowed_itself_and_the_next_value_is_not() {
    let with = |change: &dyn Fn(&mut Need)| {
        let mut need = need(1, 1, 0);
        change(&mut need);
        need.check(&FACTS)
    };
    const EIB_IN_GIB: u64 = 1 << 30;
    assert_eq!(need(1 << 50, 1, 0).check(&FACTS), Ok(()));
    assert_eq!(need(1, EIB_IN_GIB, 1000).check(&FACTS), Ok(()));
    for (permille, is_allowed) in [(900, true), (901, false)] {
        let headroom = with(&|need| need.headroom = Share::from_permille(permille));
        assert_eq!(headroom.is_ok(), is_allowed);
    }
    for (percent, is_allowed) in [(10_000, true), (10_001, false)] {
        assert_eq!(with(&|n| n.growth = Share::from_percent(percent)).is_ok(), is_allowed);
    }
    for (hours, is_allowed) in [(0, false), (1, true), (744, true), (745, false)] {
        assert_eq!(with(&|need| need.hours_per_month = hours).is_ok(), is_allowed, "{hours}");
    }
    for (hosts, is_allowed) in [(0, false), (1, true), (10_000, true), (10_001, false)] {
        assert_eq!(with(&|need| need.hosts = Some(hosts)).is_ok(), is_allowed, "{hosts}");
    }
    for (permille, is_allowed) in [(1000, true), (1001, false)] {
        let share = Share::from_permille(permille);
        assert_eq!(with(&|need| need.charges.mean = share).is_ok(), is_allowed);
        assert_eq!(with(&|need| need.charges.crossing = share).is_ok(), is_allowed);
        assert_eq!(with(&|need| need.charges.cool = share).is_ok(), is_allowed);
    }
    for (gib, is_allowed) in [(EIB_IN_GIB, true), (EIB_IN_GIB + 1, false)] {
        assert_eq!(with(&|need| need.charges.backup_gib = gib).is_ok(), is_allowed);
    }
}

#[test]
fn an_impossible_throughput_is_reported_with_the_highest() {
    let Verdict::Infeasible(why) = solve(&need(1 << 44, 1024, 1000), &FACTS).expect("a need")
    else {
        panic!("no service gives 16 PiB/s")
    };
    assert!(why.shortfalls.iter().any(|one| one.lack.constraint() == Constraint::VolumeCount));
    let is_too_much = |one: &Shortfall| {
        let (required, most) = one.lack.amounts();
        required > most
    };
    assert!(why.shortfalls.iter().all(is_too_much));
}

#[test]
fn the_checker_finds_violations() {
    let need = need(950 << 10, 4096, 500);
    let design = designs(&need).into_iter().next().expect("a design");
    assert_eq!(wrong(&need, &design), Vec::<String>::new());
    let broken: [fn(&mut Design); 5] = [
        |design| design.pools[0].size_gib -= 1,
        |design| design.pools[0].volumes[0].quota_gib = 4095,
        |design| design.pools[0].volumes[0].throughput = KibPerSec::new(1),
        |design| design.hosts.as_mut().expect("hosts").vm = "Standard_D4s_v3".to_owned(),
        |design| design.pools[0].volumes[0].count = 1000,
    ];
    for (index, change) in broken.into_iter().enumerate() {
        let mut design = design.clone();
        change(&mut design);
        assert_ne!(wrong(&need, &design), Vec::<String>::new(), "{index}");
    }
}
