//! Every rule of the service, broken one at a time, and changes of an account in force.

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

/// Pools of all levels and both QoS types, with a volume in two of them.
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
    account.volumes[0].endpoints = vec!["dedicated".to_owned()];
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

/// Each change with the message for the rule that it breaks.
#[test]
fn every_broken_rule_is_reported_with_its_limit_and_remedy() {
    type Case = (fn(&mut Account), &'static str);
    let cases: &[Case] = &[
        (
            |a| a.capacity_quota = tib(20),
            "account `lab`: the pools have 24 TiB in total; the region's capacity quota is 20 TiB",
        ),
        (
            |a| {
                for i in 0..21 {
                    let name = format!("p{i}");
                    a.pools.push(pool(&name, ServiceLevel::Standard, QosType::Auto, tib(1)));
                }
            },
            "account `lab`: the account has 26 pools; the maximum is 25",
        ),
        (|a| a.pools[2].name = "standard".to_owned(), "pool `standard`: this name is used twice"),
        (
            |a| a.pools[0].size = Bytes::gib(512),
            "pool `standard`: size 512 GiB is below the minimum of 1 TiB",
        ),
        (
            |a| {
                a.pools[1].size = tib(3);
                a.volumes[0].network = NetworkFeatures::Basic;
            },
            "pool `premium`: size 3 TiB is below the minimum of 4 TiB with Basic network features",
        ),
        (
            |a| a.pools[0].size = tib(2049),
            "pool `standard`: size 2.00 PiB is above the maximum of 2 PiB",
        ),
        (
            |a| a.pools[0].size = Bytes::gib(1536),
            "pool `standard`: size 1.50 TiB is not a multiple of 1 TiB",
        ),
        (
            |a| {
                a.volumes.extend((0..500).map(|i| {
                    let mut one = volume(&format!("v{i}"), "manual", Bytes::gib(50));
                    one.throughput = Some(mib_per_s(1));
                    one
                }))
            },
            "pool `manual`: the pool has 501 volumes; the maximum is 500",
        ),
        (|a| a.pools[4].qos = QosType::Auto, "pool `flexible`: the level flexible has no auto QoS"),
        (
            |a| a.pools[4].throughput = None,
            "pool `flexible`: throughput is missing; service level flexible requires at least \
             128 MiB/s",
        ),
        (
            |a| a.pools[4].throughput = Some(mib_per_s(127)),
            "pool `flexible`: throughput 127 MiB/s is below the minimum of 128 MiB/s at service \
             level flexible",
        ),
        (
            |a| a.pools[4].throughput = Some(mib_per_s(1281)),
            "pool `flexible`: throughput 1,281 MiB/s is above the maximum of 1,280 MiB/s for a \
             flexible pool of 2 TiB",
        ),
        (
            |a| a.pools[4].throughput = Some(KibPerSec::new(131_584)),
            "pool `flexible`: throughput 128.5 MiB/s is not a multiple of 1 MiB/s",
        ),
        (
            |a| a.pools[0].throughput = Some(mib_per_s(128)),
            "pool `standard`: throughput is set, but at service level standard it follows from \
             the size",
        ),
        (
            |a| a.volumes[0].quota = tib(5),
            "pool `premium`: the quotas of its volumes add up to 5 TiB; the pool has 4 TiB",
        ),
        (
            |a| a.volumes[1].throughput = Some(mib_per_s(1281)),
            "pool `manual`: its volumes are assigned 1,281 MiB/s; the pool has 1,280 MiB/s",
        ),
        (|a| a.volumes[0].pool = "other".to_owned(), "volume `data`: there is no pool `other`"),
        (|a| a.volumes[0].name = "log".to_owned(), "volume `log`: this name is used twice"),
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
            "volume `data`: endpoint `ep1` also serves `log`; a large volume needs a dedicated \
             endpoint",
        ),
        (
            |a| {
                large(a);
                a.volumes[0].kind = VolumeKind::Breakthrough;
            },
            "volume `data`: the volume has 1 endpoints; a breakthrough volume has 6",
        ),
        (
            |a| a.volumes[0].endpoints = vec![],
            "volume `data`: the volume has 0 endpoints; a regular volume has 1",
        ),
    ];
    let catalog = Catalog::embedded();
    for (change, message) in cases {
        let mut account = account();
        change(&mut account);
        let broken = texts(&check(&catalog, &account));
        let found = broken.iter().find(|text| text.starts_with(message));
        let found = found.unwrap_or_else(|| panic!("no `{message}` in {broken:#?}"));
        assert!(found.len() > message.len() + 5 && found.ends_with(')'), "no remedy: {found}");
    }
}

#[test]
fn all_breaches_are_reported_together() {
    let mut account = account();
    account.pools[0].size = Bytes::gib(512);
    account.volumes[0].quota = Bytes::gib(1);
    account.volumes[1].throughput = None;
    // 512 GiB is too small and not a multiple of 1 TiB.
    assert_eq!(check(&Catalog::embedded(), &account).len(), 4);
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
    LiveAccount::start(Catalog::embedded(), account()).expect("the account keeps every rule")
}

type Changed = Result<(), Vec<Breach>>;

fn change_volume(
    live: &mut LiveAccount,
    now_ns: u64,
    name: &str,
    edit: impl FnOnce(&mut Volume),
) -> Changed {
    let mut new = live.account().clone();
    edit(new.volumes.iter_mut().find(|volume| volume.name == name).expect("a volume"));
    live.change(now_ns, new)
}

fn change_pool(
    live: &mut LiveAccount,
    now_ns: u64,
    name: &str,
    edit: impl FnOnce(&mut Pool),
) -> Changed {
    let mut new = live.account().clone();
    edit(new.pools.iter_mut().find(|pool| pool.name == name).expect("a pool"));
    live.change(now_ns, new)
}

fn resize_volume(live: &mut LiveAccount, now_ns: u64, name: &str, quota: Bytes) -> Changed {
    change_volume(live, now_ns, name, |volume| volume.quota = quota)
}

fn resize_pool(live: &mut LiveAccount, now_ns: u64, name: &str, size: Bytes) -> Changed {
    change_pool(live, now_ns, name, |pool| pool.size = size)
}

fn assign(live: &mut LiveAccount, now_ns: u64, name: &str, throughput: KibPerSec) -> Changed {
    change_volume(live, now_ns, name, |volume| volume.throughput = Some(throughput))
}

/// Moves a volume to another pool. In a manual pool it keeps its throughput limit.
fn move_volume(live: &mut LiveAccount, now_ns: u64, name: &str, pool: &str) -> Changed {
    let volume = live.account().volume(name).expect("a volume");
    let limit = live.throughput_limit(volume);
    let target = live.account().pool(pool).expect("a pool");
    let throughput = limit.filter(|_| target.qos == QosType::Manual);
    change_volume(live, now_ns, name, |volume| {
        (volume.pool, volume.throughput) = (pool.to_owned(), throughput);
    })
}

/// Makes an auto pool manual. Its volumes keep their throughput limits, but at least 1 MiB/s.
fn make_manual(live: &mut LiveAccount, now_ns: u64, pool: &str) -> Changed {
    let mut new = live.account().clone();
    new.pools.iter_mut().find(|other| other.name == pool).expect("a pool").qos = QosType::Manual;
    for volume in new.volumes.iter_mut().filter(|volume| volume.pool == pool) {
        volume.throughput = live.throughput_limit(volume).map(|limit| limit.max(mib_per_s(1)));
    }
    live.change(now_ns, new)
}

fn limit(live: &LiveAccount, name: &str) -> String {
    let volume = live.account().volume(name).expect("a volume of the account");
    live.throughput_limit(volume).expect("the volume has a limit").to_string()
}

fn refusal(result: Changed) -> String {
    texts(&result.expect_err("the change breaks a rule")).join("\n")
}

#[test]
fn a_resized_volume_has_its_new_limit_immediately() {
    let mut live = live();
    assert_eq!(limit(&live, "data"), "128 MiB/s");
    resize_volume(&mut live, 1, "data", tib(4)).unwrap();
    assert_eq!(limit(&live, "data"), "256 MiB/s");
    resize_volume(&mut live, 2, "data", Bytes::gib(100)).unwrap();
    assert_eq!(limit(&live, "data"), "6.25 MiB/s");
}

#[test]
fn a_refused_change_changes_nothing() {
    let mut live = live();
    let said = refusal(resize_volume(&mut live, 1, "data", tib(5)));
    assert!(said.contains("of its volumes add up to 5 TiB; the pool has 4 TiB"), "{said}");
    assert_eq!(live.account(), &account());
}

#[test]
fn a_quota_cannot_shrink_below_the_stored_bytes() {
    let mut live = live();
    live.set_used("data", tib(1));
    let said = refusal(resize_volume(&mut live, 1, "data", Bytes::gib(1023)));
    assert!(said.contains("quota 1023 GiB is below the 1 TiB that the volume stores"), "{said}");
    resize_volume(&mut live, 1, "data", tib(1)).unwrap();
}

#[test]
fn a_pool_cannot_shrink_below_the_quotas_of_its_volumes() {
    let mut live = live();
    resize_pool(&mut live, 1, "premium", tib(2)).unwrap();
    let said = refusal(resize_pool(&mut live, 1, "premium", tib(1)));
    assert!(said.contains("of its volumes add up to 2 TiB; the pool has 1 TiB"), "{said}");
}

#[test]
fn after_a_move_up_a_move_down_must_wait_and_a_move_up_need_not() {
    let mut live = live();
    move_volume(&mut live, 1_000, "data", "ultra").unwrap();
    assert_eq!(limit(&live, "data"), "256 MiB/s");
    let said = refusal(move_volume(&mut live, DAY_NS / 2, "data", "premium"));
    assert!(said.contains("a move from ultra down to premium is allowed in 12h"), "{said}");
    assert!(refusal(move_volume(&mut live, DAY_NS + 999, "data", "standard")).contains("1s"));
    move_volume(&mut live, DAY_NS + 1_000, "data", "standard").unwrap();
    assert_eq!(limit(&live, "data"), "32 MiB/s");
    // Moving up after a move down, and up again, need not wait.
    move_volume(&mut live, DAY_NS + 1_001, "data", "premium").unwrap();
    move_volume(&mut live, DAY_NS + 1_002, "data", "ultra").unwrap();
}

#[test]
fn the_cool_down_of_the_account_applies() {
    let mut account = account();
    account.cool_down_s = 7 * 24 * 3600;
    let mut live = LiveAccount::start(Catalog::embedded(), account).unwrap();
    move_volume(&mut live, 0, "data", "ultra").unwrap();
    assert!(
        refusal(move_volume(&mut live, 7 * DAY_NS - 1, "data", "premium"))
            .contains("is allowed in 1s")
    );
    move_volume(&mut live, 7 * DAY_NS, "data", "premium").unwrap();
}

#[test]
fn a_volume_has_its_assigned_throughput_in_a_manual_pool_and_follows_its_quota_in_an_auto_pool() {
    let mut live = live();
    move_volume(&mut live, 0, "data", "manual").unwrap();
    assert_eq!(limit(&live, "data"), "128 MiB/s");
    assign(&mut live, 1, "data", mib_per_s(1000)).unwrap();
    let said = refusal(assign(&mut live, 1, "data", mib_per_s(1025)));
    assert!(said.contains("its volumes are assigned 1,281 MiB/s; the pool has 1,280"), "{said}");
    move_volume(&mut live, 2, "data", "ultra").unwrap();
    assert_eq!(limit(&live, "data"), "256 MiB/s");
}

#[test]
fn a_pool_that_became_manual_cannot_become_auto_again() {
    let mut live = live();
    make_manual(&mut live, 0, "premium").unwrap();
    assert_eq!(limit(&live, "data"), "128 MiB/s");
    let mut new = live.account().clone();
    new.pools[1].qos = QosType::Auto;
    new.volumes[0].throughput = None;
    let said = refusal(live.change(1, new));
    assert!(said.contains("a manual pool cannot become an auto pool"), "{said}");
    // 50 GiB at level Standard have 0.78 MiB/s; at least 1 MiB/s must be assigned.
    let mut small = account();
    small.volumes[0] = volume("data", "standard", Bytes::gib(50));
    let mut live = LiveAccount::start(Catalog::embedded(), small).unwrap();
    assert_eq!(limit(&live, "data"), "0.78125 MiB/s");
    make_manual(&mut live, 0, "standard").unwrap();
    assert_eq!(limit(&live, "data"), "1 MiB/s");
}

#[test]
fn the_level_of_a_pool_and_the_kind_of_a_volume_cannot_change() {
    let mut live = live();
    let mut new = account();
    new.pools[1].level = ServiceLevel::Ultra;
    let said = refusal(live.change(0, new));
    assert!(said.contains("level of a pool cannot change from premium to ultra"), "{said}");
    let mut new = account();
    large(&mut new);
    let said = refusal(live.change(0, new));
    assert!(said.contains("a regular volume cannot become a large volume"), "{said}");
}

#[test]
fn a_large_volume_can_grow_to_thirty_percent_over_its_lowest_quota() {
    let mut account = account();
    large(&mut account);
    let mut live = LiveAccount::start(Catalog::embedded(), account).unwrap();
    resize_volume(&mut live, 0, "data", tib(130)).unwrap();
    let said = refusal(resize_volume(&mut live, 1, "data", tib(131)));
    assert!(said.contains("is above 130 TiB, 30 % over the lowest so far (100 TiB)"), "{said}");
    resize_volume(&mut live, 2, "data", tib(60)).unwrap();
    assert!(refusal(resize_volume(&mut live, 3, "data", tib(79))).contains("is above 78 TiB"));
}

#[test]
fn all_changes_of_an_account_are_applied_together() {
    // The pool shrinks together with its volume; shrinking the pool first would be refused.
    let mut live = live();
    let mut new = account();
    new.pools[1].size = tib(1);
    new.volumes[0].quota = tib(1);
    new.volumes.push(volume("new", "ultra", tib(3)));
    live.change(0, new).unwrap();
    assert_eq!(limit(&live, "new"), "384 MiB/s");
    assert_eq!(limit(&live, "data"), "64 MiB/s");
}

proptest! {
    /// After any sequence of changes the account keeps every rule, and a refused change has no
    /// effect.
    #[test]
    fn no_change_leads_to_an_account_that_breaks_a_rule(
        changes in prop::collection::vec((0u8..6, 0usize..2, 0usize..5, 0u64..6000), 1..30),
    ) {
        let catalog = Catalog::embedded();
        let mut live = live();
        let volumes = ["data", "log"];
        let pools = ["standard", "premium", "ultra", "manual", "flexible"];
        for (step, (kind, volume, pool, number)) in changes.into_iter().enumerate() {
            let now_ns = step as u64 * DAY_NS / 3;
            let (volume, pool) = (volumes[volume], pools[pool]);
            let before = live.account().clone();
            let result = match kind {
                0 => resize_volume(&mut live, now_ns, volume, Bytes::gib(number)),
                1 => resize_pool(&mut live, now_ns, pool, Bytes::gib(number)),
                2 => move_volume(&mut live, now_ns, volume, pool),
                3 => assign(&mut live, now_ns, volume, mib_per_s(number)),
                4 => change_pool(&mut live, now_ns, pool, |pool| {
                    pool.throughput = Some(mib_per_s(number));
                }),
                _ => make_manual(&mut live, now_ns, pool),
            };
            prop_assert_eq!(check(&catalog, live.account()), vec![]);
            if result.is_err() {
                prop_assert_eq!(live.account(), &before);
            }
        }
    }
}
