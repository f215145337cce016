//! Connections between hosts and volumes: outstanding operations, slots, sessions, Multichannel,
//! datastores, and their settings.

use crate::needs;
use std::sync::LazyLock;

use cloud::figure::Access;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use sizing::claim::Claim;
use sizing::design::Design;
use sizing::facts::Facts;
use sizing::hosts::Hosts;
use sizing::need::{Demand, Need, NeedError, Protocol};
use sizing::pool::Pool;
use sizing::resource_use::Resource;
use sizing::shortfall::Lack;
use sizing::solve::{Verdict, solve};
use sizing::statement::{HostStatement, MissingPrice, Note, Statement};
use sizing::trade_offs::{PoolLack, SmallerPool, TradeOff};
use units::{Nanos, Share};

static FACTS: LazyLock<Facts> = LazyLock::new(Facts::embedded);

fn need(demand: Demand, protocol: Protocol) -> Need {
    let vm = (protocol != Protocol::Datastores).then(|| "D16s_v5".to_owned());
    Need { protocol, vm, levels: vec![ServiceLevel::Ultra], ..needs::of(demand, 4096) }
}

fn in_order(mib: u64, transfer_bytes: u64) -> Demand {
    let throughput = KibPerSec::new(mib << 10);
    Demand {
        throughput,
        transfer_bytes,
        read: Share::WHOLE,
        access: Access::Sequential,
        names_per_s: 0,
    }
}

fn front(need: &Need) -> Vec<Design> {
    match solve(need, &FACTS).expect("a need") {
        Verdict::Feasible { designs, .. } => designs,
        Verdict::Infeasible(why) => panic!("{why:?}"),
    }
}

fn hosts(design: &Design) -> &Hosts {
    design.hosts.as_ref().expect("something is moved")
}

fn slots_used(design: &Design) -> Option<(u64, u64)> {
    let one = design.uses.iter().find(|one| one.resource == Resource::Slots)?;
    Some((one.used, one.limit))
}

#[test]
fn slots_follow_from_the_predicted_response_time() {
    let wanted = Demand::of_rate(120_000, 8192, Share::from_permille(700));
    for design in front(&need(wanted, Protocol::Nfs3)) {
        let response = design.response.expect("the model reaches it");
        // Little's law at the rate that counts as reached.
        let by_law = 0.97 * 120_000.0 * response.mean.0 / 1e9;
        assert!((response.outstanding / by_law - 1.0).abs() < 0.01, "{response:?}");
        let hosts = hosts(&design);
        let each = (response.outstanding / f64::from(hosts.count)).ceil() as u64;
        assert_eq!(hosts.outstanding, Some(each));
        let slots = hosts.connections_total() * 128;
        assert_eq!(slots_used(&design), Some((response.requests.ceil() as u64, slots)));
        let is_law = |claim: &Claim| match claim.statement {
            Statement::Hosts(HostStatement::LittlesLaw { rate, .. }) => {
                rate.get().round() == 116_400.0
            }
            _ => false,
        };
        assert!(design.reasons.iter().any(is_law), "{:#?}", design.reasons);
    }
}

#[test]
fn an_operation_of_several_calls_needs_several_slots() {
    let large = front(&need(in_order(900, 1 << 20), Protocol::Nfs3));
    let response = large[0].response.expect("the model reaches it");
    assert!((response.requests / response.outstanding - 4.0).abs() < 1e-9);
}

#[test]
fn more_operations_are_outstanding_near_a_limit() {
    let designs =
        front(&need(Demand::of_rate(120_000, 8192, Share::from_permille(700)), Protocol::Nfs3));
    let tight = designs.first().and_then(|d| d.response).expect("a response time");
    let spare = designs.iter().max_by_key(|d| d.spare()).and_then(|d| d.response);
    assert!(spare.expect("a response time").outstanding < tight.outstanding);
}

#[test]
fn a_session_of_nfs_4_1_has_180_slots_however_many_connections_share_it() {
    // One large host with more outstanding operations than a session has slots.
    let large = |protocol| {
        let vm = Some("E104ids_v5".to_owned());
        Need {
            hosts: Some(1),
            vm,
            ..need(Demand::of_rate(250_000, 4096, Share::from_permille(1000)), protocol)
        }
    };
    let fits = |design: &Design| {
        slots_used(design).expect("slots are counted").0 <= 180 * hosts(design).paths
    };
    assert!(!front(&large(Protocol::Nfs3)).iter().all(fits));
    assert!(front(&large(Protocol::Nfs41)).iter().all(fits));
    let wanted = Demand::of_rate(250_000, 4096, Share::from_permille(1000));
    for design in front(&need(wanted, Protocol::Nfs41)) {
        let hosts = hosts(&design);
        let (used, limit) = slots_used(&design).expect("slots are counted");
        assert!(used <= limit);
        let each = (hosts.connections * 128).min(180);
        assert_eq!(limit, u64::from(hosts.count) * hosts.paths * each);
        let mut rows = design.reasons.iter().flat_map(|reason| &reason.rows);
        assert!(rows.any(|row| row.row == "limit slots_per_nfs41_session_max"));
        let commands = design.settings.commands();
        assert!(commands.iter().any(|c| c.contains("max_session_slots=180")), "{commands:?}");
        let options = design.settings.mount_options.as_ref().expect("a mount");
        assert!(options.contains("vers=4.1"), "{options}");
    }
}

#[test]
fn smb_has_multichannel_connections_and_no_slots() {
    for design in front(&need(in_order(900, 64 << 10), Protocol::Smb)) {
        let hosts = hosts(&design);
        assert!([4, 16].contains(&hosts.connections), "{hosts:?}");
        assert_eq!((hosts.slots, slots_used(&design)), (None, None));
        let commands = design.settings.commands();
        assert!(commands[0].ends_with(&hosts.connections.to_string()), "{commands:?}");
        assert!(commands[1].starts_with("New-SmbMapping"), "{commands:?}");
        assert_eq!(design.settings.mount_options, None);
    }
}

#[test]
fn levels_are_named_once_each_in_the_order_of_pools() {
    let mut design = front(&need(in_order(400, 64 << 10), Protocol::Nfs3)).remove(0);
    assert_eq!(design.level_names(), ["ultra"]);
    let pool = design.pools[0].clone();
    let (standard, ultra) = (ServiceLevel::Standard, ServiceLevel::Ultra);
    let of = |level, qos| Pool { level, qos, ..pool.clone() };
    design.pools =
        vec![of(ultra, QosType::Auto), of(standard, QosType::Auto), of(ultra, QosType::Manual)];
    assert_eq!(design.levels().len(), 3);
    assert_eq!(design.level_names(), ["ultra", "standard"]);
}

#[test]
fn every_host_has_one_connection_to_every_datastore() {
    // Published: 195,000 operations per second of four hosts with one datastore, 530,000 with four.
    let random = |ops| Need {
        hosts: Some(4),
        ..need(Demand::of_rate(ops, 8192, Share::from_permille(1000)), Protocol::Datastores)
    };
    let fewest = |ops| {
        let designs = front(&random(ops));
        for design in &designs {
            let hosts = hosts(design);
            assert_eq!((hosts.connections, hosts.paths), (1, design.volume_count()));
            assert_eq!(hosts.connections_total(), 4 * design.volume_count());
            assert_eq!(hosts.vm, "AV36");
            assert_eq!(design.kind, VolumeKind::Regular);
            let hosts =
                |one: &MissingPrice| matches!(one, MissingPrice::Hosts { vm, .. } if vm == "AV36");
            assert!(design.cost.missing.iter().any(hosts));
            let is_few = design.volume_count() < 4;
            let few = Statement::Note(Note::FewDatastores { recommended: 4 });
            let notes = design.notes.iter().any(|note| note.statement == few);
            assert_eq!(is_few, notes, "{:?}", design.notes);
        }
        designs.iter().map(Design::volume_count).min().expect("a design")
    };
    assert!(fewest(150_000) <= 2, "{}", fewest(150_000));
    assert!(fewest(400_000) > fewest(150_000), "{}", fewest(400_000));
    let few = Need { hosts: Some(2), ..random(1000) };
    let Ok(Verdict::Infeasible(why)) = solve(&few, &FACTS) else { panic!("a cluster has three") };
    let expected = Lack::HostsOfCluster { required: 3, hosts: 2 };
    assert_eq!(why.shortfalls[0].lack, expected, "{:?}", why.shortfalls);
    let unknown = Need { vm: Some("D16s_v5".to_owned()), ..random(1000) };
    assert!(matches!(solve(&unknown, &FACTS), Err(NeedError::UnknownVm { .. })));
}

#[test]
fn read_ahead_is_set_for_sequential_reads() {
    let reads = &front(&need(in_order(400, 64 << 10), Protocol::Nfs3))[0];
    assert_eq!(
        reads.settings.after,
        ["echo 15360 > /sys/class/bdi/$(mountpoint -d /MOUNT)/read_ahead_kb"]
    );
    let rows = reads.settings.reasons.iter().flat_map(|reason| &reason.rows);
    assert!(rows.clone().any(|row| row.row == "setting read_ahead_recommended"));
    let random =
        &front(&need(Demand::of_rate(10_000, 8192, Share::from_permille(1000)), Protocol::Nfs3))[0];
    assert!(random.settings.after.is_empty());
}

#[test]
fn a_response_time_can_require_another_than_the_cheapest_design() {
    let wanted = Demand::of_rate(60_000, 8192, Share::from_permille(700));
    let any = front(&need(wanted, Protocol::Nfs3));
    let mean_ns = |design: &Design| design.response.expect("the model reaches it").mean.0;
    let least = any.iter().map(mean_ns).fold(f64::INFINITY, f64::min);
    // The cheapest design misses the response time, another one meets it.
    let within = f64::midpoint(least, mean_ns(&any[0])).floor();
    assert!(mean_ns(&any[0]) > within);
    let fast = Need { response_time: Some(Nanos(within)), ..need(wanted, Protocol::Nfs3) };
    for design in &front(&fast) {
        assert!(mean_ns(design) <= within, "{} ns for {within}", mean_ns(design));
    }
}

#[test]
fn every_design_has_a_trade_off_with_a_cheaper_one() {
    let wanted = Demand { read: Share::ZERO, ..in_order(2200, 64 << 10) };
    let designs = front(&need(wanted, Protocol::Nfs3));
    let Some(TradeOff::Cheapest { pool, hosts: Some(hosts) }) = &designs[0].trade_off else {
        panic!("{:?}", designs[0].trade_off);
    };
    let is_short = matches!(
        pool,
        SmallerPool::NotSold | SmallerPool::Lacks { lack: PoolLack::Throughput { .. }, .. }
    );
    assert!(is_short, "{pool:?}");
    assert_eq!(hosts.used, 2200 << 10);
    for design in &designs[1..] {
        let trade_off = &design.trade_off;
        assert!(matches!(trade_off, Some(TradeOff::Cheaper { .. })), "{trade_off:?}");
    }
}

/// The response time is met by many times the hosts that the throughput alone needs.
#[test]
fn hosts_for_a_response_time_are_the_fewest() {
    let vm = Some("D2s_v5".to_owned());
    let any = Need {
        vm,
        ..need(Demand::of_rate(60_000, 8192, Share::from_permille(700)), Protocol::Nfs3)
    };
    let fast = Need { response_time: Some(Nanos(1_025_000.0)), ..any.clone() };
    let (cheapest, found) = (&front(&fast)[0], hosts(&front(&fast)[0]).count);
    assert!(found > 2 * hosts(&front(&any)[0]).count, "{found}");
    let fewer = Need { hosts: Some(found - 1), ..fast };
    if let Verdict::Feasible { designs, .. } = solve(&fewer, &FACTS).expect("a need") {
        assert!(designs[0].cost.month() > cheapest.cost.month());
    }
}
