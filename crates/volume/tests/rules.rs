//! Every rule of the service, broken one at a time; and changes while an account runs.

use cloud::catalog::Catalog;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use proptest::prelude::*;
use units::Bytes;
use volume::live::LiveAccount;
use volume::model::{Account, NetworkFeatures, Pool, Volume};
use volume::rules::{Breach, check};

const DAY_NS: u64 = 24 * 3600 * 1_000_000_000;

fn tib(count: u64) -> Bytes {
    Bytes::gib(count << 10)
}

fn mib_per_s(count: u64) -> KibPerSec {
    KibPerSec::new(count << 10)
}

fn pool(name: &str, level: ServiceLevel, qos: QosType, size: Bytes) -> Pool {
    let throughput = (level == ServiceLevel::Flexible).then(|| mib_per_s(128));
    Pool { name: name.to_owned(), level, size, qos, throughput }
}

fn volume(name: &str, pool: &str, quota: Bytes) -> Volume {
    Volume {
        name: name.to_owned(),
        pool: pool.to_owned(),
        kind: VolumeKind::Regular,
        network: NetworkFeatures::Standard,
        quota,
        throughput: None,
        endpoints: vec!["ep1".to_owned()],
    }
}

/// Pools of three levels and both QoS types, a volume in two of them.
fn account() -> Account {
    let mut assigned = volume("log", "manual", tib(1));
    assigned.throughput = Some(mib_per_s(256));
    Account {
        name: "lab".to_owned(),
        capacity_quota: tib(5000),
        cool_down_s: 24 * 3600,
        pools: vec![
            pool("standard", ServiceLevel::Standard, QosType::Auto, tib(4)),
            pool("premium", ServiceLevel::Premium, QosType::Auto, tib(4)),
            pool("ultra", ServiceLevel::Ultra, QosType::Auto, tib(4)),
            pool("manual", ServiceLevel::Ultra, QosType::Manual, tib(10)),
            pool("flexible", ServiceLevel::Flexible, QosType::Manual, tib(2)),
        ],
        volumes: vec![volume("data", "premium", tib(2)), assigned],
    }
}

fn large(account: &mut Account) {
    account.pools[1].size = tib(200);
    account.volumes[0].kind = VolumeKind::Large;
    account.volumes[0].quota = tib(100);
    account.volumes[0].endpoints = vec!["own".to_owned()];
}

fn texts(broken: &[Breach]) -> Vec<String> {
    broken.iter().map(ToString::to_string).collect()
}

#[test]
fn an_account_that_keeps_every_rule_has_no_breach() {
    assert_eq!(check(&Catalog::embedded(), &account()), []);
    let mut with_large = account();
    large(&mut with_large);
    assert_eq!(check(&Catalog::embedded(), &with_large), []);
}

/// What each change breaks; the text has what is wrong, the limit, and what to do.
#[test]
fn every_rule_is_found_with_its_limit_and_its_remedy() {
    type Case = (fn(&mut Account), &'static str);
    let cases: &[Case] = &[
        (
            |a| a.capacity_quota = tib(20),
            "account `lab`: all pools have 24 TiB, the region's capacity quota is 20 TiB",
        ),
        (
            |a| {
                for i in 0..21 {
                    let name = format!("p{i}");
                    a.pools.push(pool(&name, ServiceLevel::Standard, QosType::Auto, tib(1)));
                }
            },
            "account `lab`: 26 pools, an account has at most 25",
        ),
        (|a| a.pools[2].name = "standard".to_owned(), "pool `standard`: this name stands twice"),
        (
            |a| a.pools[0].size = Bytes::gib(512),
            "pool `standard`: a size of 512 GiB, a pool has at least 1 TiB",
        ),
        (
            |a| {
                a.pools[1].size = tib(3);
                a.volumes[0].network = NetworkFeatures::Basic;
            },
            "pool `premium`: a size of 3 TiB, a pool with Basic network features has at \
             least 4 TiB",
        ),
        (
            |a| a.pools[0].size = tib(2049),
            "pool `standard`: a size of 2.00 PiB, a pool has at most 2 PiB",
        ),
        (
            |a| a.pools[0].size = Bytes::gib(1536),
            "pool `standard`: a size of 1.50 TiB, a pool has a multiple of 1 TiB",
        ),
        (
            |a| {
                a.volumes.extend((0..500).map(|i| {
                    let mut one = volume(&format!("v{i}"), "manual", Bytes::gib(50));
                    one.throughput = Some(mib_per_s(1));
                    one
                }))
            },
            "pool `manual`: 501 volumes, a pool has at most 500",
        ),
        (|a| a.pools[4].qos = QosType::Auto, "pool `flexible`: the level flexible has no auto QoS"),
        (
            |a| a.pools[4].throughput = None,
            "pool `flexible`: no throughput, a pool of the level flexible has at least 128 MiB/s",
        ),
        (
            |a| a.pools[4].throughput = Some(mib_per_s(127)),
            "pool `flexible`: a throughput of 127 MiB/s, a pool of the level flexible has \
             at least 128 MiB/s",
        ),
        (
            |a| a.pools[4].throughput = Some(mib_per_s(1281)),
            "pool `flexible`: a throughput of 1,281 MiB/s, a flexible pool of 2 TiB has at \
             most 1,280 MiB/s",
        ),
        (
            |a| a.pools[4].throughput = Some(KibPerSec::new(131_584)),
            "pool `flexible`: a throughput of 128.5 MiB/s, a pool of the level flexible has \
             a multiple of 1 MiB/s",
        ),
        (
            |a| a.pools[0].throughput = Some(mib_per_s(128)),
            "pool `standard`: a throughput for a pool of the level standard, which has it \
             by its size",
        ),
        (
            |a| a.volumes[0].quota = tib(5),
            "pool `premium`: the quotas of its volumes are 5 TiB, the pool has 4 TiB",
        ),
        (
            |a| a.volumes[1].throughput = Some(mib_per_s(1281)),
            "pool `manual`: its volumes are assigned 1,281 MiB/s, the pool has 1,280 MiB/s",
        ),
        (|a| a.volumes[0].pool = "gone".to_owned(), "volume `data`: no pool is called `gone`"),
        (|a| a.volumes[0].name = "log".to_owned(), "volume `log`: this name stands twice"),
        (
            |a| a.volumes[0].quota = Bytes::gib(49),
            "volume `data`: a quota of 49 GiB, a regular volume has at least 50 GiB",
        ),
        (
            |a| {
                a.pools[1].size = tib(200);
                a.volumes[0].quota = tib(101);
            },
            "volume `data`: a quota of 101 TiB, a regular volume has at most 100 TiB",
        ),
        (
            |a| a.volumes[0].quota = Bytes::mib(102_912),
            "volume `data`: a quota of 100.50 GiB, a volume has a multiple of 1 GiB",
        ),
        (
            |a| a.volumes[1].throughput = None,
            "volume `log`: no throughput, in a manual pool each volume is assigned one",
        ),
        (
            |a| a.volumes[0].throughput = Some(mib_per_s(5)),
            "volume `data`: a throughput for a volume in an auto pool, which has it by its quota",
        ),
        (
            |a| a.volumes[1].throughput = Some(KibPerSec::new(512)),
            "volume `log`: a throughput of 0.5 MiB/s, a volume is assigned at least 1 MiB/s",
        ),
        (
            |a| {
                a.pools[3].size = tib(100);
                a.volumes[1].throughput = Some(mib_per_s(4501));
            },
            "volume `log`: a throughput of 4,501 MiB/s, a regular volume is assigned at most \
             4,500 MiB/s",
        ),
        (
            |a| {
                large(a);
                a.volumes[0].quota = tib(49);
            },
            "volume `data`: a quota of 49 TiB, a large volume has at least 50 TiB",
        ),
        (
            |a| {
                large(a);
                a.pools[1].size = tib(2000);
                a.volumes[0].quota = tib(1025);
            },
            "volume `data`: a quota of 1.00 PiB, a large volume has at most 1 PiB",
        ),
        (
            |a| {
                large(a);
                a.volumes[0].endpoints = vec!["ep1".to_owned()];
            },
            "volume `data`: endpoint `ep1` serves `log` too, a large volume has its own",
        ),
        (
            |a| {
                large(a);
                a.volumes[0].kind = VolumeKind::Breakthrough;
            },
            "volume `data`: 1 endpoints, a breakthrough volume has 6",
        ),
        (|a| a.volumes[0].endpoints = vec![], "volume `data`: 0 endpoints, a regular volume has 1"),
    ];
    let catalog = Catalog::embedded();
    for (change, said) in cases {
        let mut account = account();
        change(&mut account);
        let broken = texts(&check(&catalog, &account));
        let hit = broken.iter().find(|text| text.starts_with(said));
        let hit = hit.unwrap_or_else(|| panic!("no `{said}` in {broken:#?}"));
        assert!(hit.len() > said.len() + 5 && hit.ends_with(')'), "no remedy: {hit}");
    }
}

#[test]
fn all_breaches_are_told_at_once() {
    let mut account = account();
    account.pools[0].size = Bytes::gib(512);
    account.volumes[0].quota = Bytes::gib(1);
    account.volumes[1].throughput = None;
    assert_eq!(check(&Catalog::embedded(), &account).len(), 4, "512 GiB is no step either");
}

#[test]
fn the_documented_split_of_a_manual_pool_is_allowed() {
    // 10 TiB Ultra has 1,280 MiB/s: data, log, shared and backup of a database.
    let mut account = account();
    account.volumes.truncate(1);
    for (name, gib, mib) in [("d", 4096, 704), ("l", 512, 256), ("s", 1024, 64), ("b", 4608, 256)] {
        let mut one = volume(name, "manual", Bytes::gib(gib));
        one.throughput = Some(mib_per_s(mib));
        account.volumes.push(one);
    }
    assert_eq!(check(&Catalog::embedded(), &account), []);
    account.volumes[2].throughput = Some(mib_per_s(257));
    assert_eq!(check(&Catalog::embedded(), &account).len(), 1);
}

fn live() -> LiveAccount {
    LiveAccount::start(Catalog::embedded(), account()).expect("it keeps every rule")
}

fn limit(live: &LiveAccount, name: &str) -> String {
    let volume = live.account().volume(name).expect("the test names a volume that is there");
    live.throughput_limit(volume).expect("the volume has a limit").to_string()
}

fn refusal(result: Result<(), Vec<Breach>>) -> String {
    texts(&result.expect_err("the change breaks a rule")).join("\n")
}

#[test]
fn a_resized_volume_has_its_new_limit_at_once() {
    let mut live = live();
    assert_eq!(limit(&live, "data"), "128 MiB/s");
    live.resize_volume(1, "data", tib(4)).unwrap();
    assert_eq!(limit(&live, "data"), "256 MiB/s");
    live.resize_volume(2, "data", Bytes::gib(100)).unwrap();
    assert_eq!(limit(&live, "data"), "6.25 MiB/s");
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut live = live();
    let said = refusal(live.resize_volume(1, "data", tib(5)));
    assert!(said.contains("the quotas of its volumes are 5 TiB, the pool has 4 TiB"), "{said}");
    assert_eq!(live.account(), &account());
    assert!(refusal(live.resize_volume(1, "none", tib(5))).contains("`none`"));
    assert!(refusal(live.resize_pool(1, "none", tib(5))).contains("`none`"));
}

#[test]
fn a_quota_cannot_go_below_what_the_volume_holds() {
    let mut live = live();
    live.set_used("data", tib(1));
    let said = refusal(live.resize_volume(1, "data", Bytes::gib(1023)));
    assert!(said.contains("a quota of 1023 GiB, the volume holds 1 TiB"), "{said}");
    live.resize_volume(1, "data", tib(1)).unwrap();
}

#[test]
fn a_pool_cannot_go_below_the_quotas_of_its_volumes() {
    let mut live = live();
    live.resize_pool(1, "premium", tib(2)).unwrap();
    let said = refusal(live.resize_pool(1, "premium", tib(1)));
    assert!(said.contains("the quotas of its volumes are 2 TiB, the pool has 1 TiB"), "{said}");
}

#[test]
fn after_a_move_up_a_move_down_waits_and_a_move_up_does_not() {
    let mut live = live();
    live.move_volume(1_000, "data", "ultra").unwrap();
    assert_eq!(limit(&live, "data"), "256 MiB/s");
    let said = refusal(live.move_volume(DAY_NS / 2, "data", "premium"));
    assert!(said.contains("a move down from ultra to premium must wait for 12h"), "{said}");
    assert!(refusal(live.move_volume(DAY_NS + 999, "data", "standard")).contains("1s"));
    live.move_volume(DAY_NS + 1_000, "data", "standard").unwrap();
    assert_eq!(limit(&live, "data"), "32 MiB/s");
    // Down, then up, and up again: neither waits.
    live.move_volume(DAY_NS + 1_001, "data", "premium").unwrap();
    live.move_volume(DAY_NS + 1_002, "data", "ultra").unwrap();
}

#[test]
fn the_cool_down_is_as_long_as_the_account_says() {
    let mut wanted = account();
    wanted.cool_down_s = 7 * 24 * 3600;
    let mut live = LiveAccount::start(Catalog::embedded(), wanted).unwrap();
    live.move_volume(0, "data", "ultra").unwrap();
    assert!(refusal(live.move_volume(7 * DAY_NS - 1, "data", "premium")).contains("must wait"));
    live.move_volume(7 * DAY_NS, "data", "premium").unwrap();
}

#[test]
fn a_volume_takes_its_limit_into_a_manual_pool_and_leaves_it_behind_for_an_auto_one() {
    let mut live = live();
    live.move_volume(0, "data", "manual").unwrap();
    assert_eq!(limit(&live, "data"), "128 MiB/s");
    live.assign_throughput(1, "data", mib_per_s(1000)).unwrap();
    let said = refusal(live.assign_throughput(1, "data", mib_per_s(1025)));
    assert!(said.contains("its volumes are assigned 1,281 MiB/s, the pool has 1,280"), "{said}");
    live.move_volume(2, "data", "ultra").unwrap();
    assert_eq!(limit(&live, "data"), "256 MiB/s");
}

#[test]
fn a_pool_that_became_manual_stays_so_and_its_volumes_keep_their_limits() {
    let mut live = live();
    live.make_manual(0, "premium").unwrap();
    assert_eq!(limit(&live, "data"), "128 MiB/s");
    let mut wanted = live.account().clone();
    wanted.pools[1].qos = QosType::Auto;
    wanted.volumes[0].throughput = None;
    let said = refusal(live.change(1, wanted));
    assert!(said.contains("a manual pool cannot become auto again"), "{said}");
    // 50 GiB of Standard are 0.78 MiB/s; the least that can be assigned is 1 MiB/s.
    let mut small = account();
    small.volumes[0] = volume("data", "standard", Bytes::gib(50));
    let mut live = LiveAccount::start(Catalog::embedded(), small).unwrap();
    assert_eq!(limit(&live, "data"), "0.78125 MiB/s");
    live.make_manual(0, "standard").unwrap();
    assert_eq!(limit(&live, "data"), "1 MiB/s");
}

#[test]
fn a_pool_keeps_its_level_and_a_volume_its_kind() {
    let mut live = live();
    let mut wanted = account();
    wanted.pools[1].level = ServiceLevel::Ultra;
    let said = refusal(live.change(0, wanted));
    assert!(said.contains("a pool of the level premium cannot become ultra"), "{said}");
    let mut wanted = account();
    large(&mut wanted);
    let said = refusal(live.change(0, wanted));
    assert!(said.contains("a regular volume cannot become a large one"), "{said}");
}

#[test]
fn a_large_volume_grows_by_thirty_percent_over_its_lowest_size_only() {
    let mut wanted = account();
    large(&mut wanted);
    let mut live = LiveAccount::start(Catalog::embedded(), wanted).unwrap();
    live.resize_volume(0, "data", tib(130)).unwrap();
    let said = refusal(live.resize_volume(1, "data", tib(131)));
    assert!(said.contains("30 % over the lowest so far (100 TiB) is 130 TiB"), "{said}");
    live.resize_volume(2, "data", tib(60)).unwrap();
    assert!(refusal(live.resize_volume(3, "data", tib(79))).contains("is 78 TiB"));
}

#[test]
fn a_configuration_read_again_is_one_step_whatever_its_parts() {
    // The pool shrinks and its volume with it; neither would do alone in this order.
    let mut live = live();
    let mut wanted = account();
    wanted.pools[1].size = tib(1);
    wanted.volumes[0].quota = tib(1);
    wanted.volumes.push(volume("new", "ultra", tib(3)));
    live.change(0, wanted).unwrap();
    assert_eq!(limit(&live, "new"), "384 MiB/s");
    assert_eq!(limit(&live, "data"), "64 MiB/s");
}

proptest! {
    /// Whatever is tried, an account that runs keeps every rule, and a refusal leaves it as it was.
    #[test]
    fn no_change_leads_to_an_account_that_breaks_a_rule(
        changes in prop::collection::vec((0u8..6, 0usize..2, 0usize..5, 0u64..6000), 1..30),
    ) {
        let catalog = Catalog::embedded();
        let mut live = live();
        let volumes = ["data", "log"];
        let pools = ["standard", "premium", "ultra", "manual", "flexible"];
        for (step, (what, volume, pool, number)) in changes.into_iter().enumerate() {
            let now_ns = step as u64 * DAY_NS / 3;
            let (volume, pool) = (volumes[volume], pools[pool]);
            let before = live.account().clone();
            let result = match what {
                0 => live.resize_volume(now_ns, volume, Bytes::gib(number)),
                1 => live.resize_pool(now_ns, pool, Bytes::gib(number)),
                2 => live.move_volume(now_ns, volume, pool),
                3 => live.assign_throughput(now_ns, volume, mib_per_s(number)),
                4 => live.set_pool_throughput(now_ns, pool, mib_per_s(number)),
                _ => live.make_manual(now_ns, pool),
            };
            prop_assert_eq!(check(&catalog, live.account()), vec![]);
            if result.is_err() {
                prop_assert_eq!(live.account(), &before);
            }
        }
    }
}
