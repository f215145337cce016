//! Changes of the configuration while requests wait: they are applied completely or not at all,
//! immediately, and no request is lost.

use std::num::NonZeroU64;

use cloud::throughput::KibPerSec;
use units::Bytes;
use volume::config::Config;
use volume::counters::Procedure;
use volume::delay::{Distance, Distribution};
use volume::ids::ConnectionId;
use volume::service::{ArriveError, DueRequest, Service};

use crate::{endpoint_id, id_of, start};

const NS_PER_S: u64 = 1_000_000_000;
const KIB_64: u64 = 65_536;

/// Two volumes of 64 MiB/s at one endpoint, no burst, no delay.
const CONFIG: &str = r#"
[[endpoint]]
name = "ep1"
[[endpoint]]
name = "ep2"
address = "127.0.0.1:2049"
[[pool]]
name = "pool1"
service_level = "premium"
size = "8TiB"
[[volume]]
name = "vol1"
pool = "pool1"
quota = "1TiB"
endpoints = "ep1"
[[volume]]
name = "vol2"
pool = "pool1"
quota = "1TiB"
endpoints = "ep1"
[limits]
refill_interval = "0"
"#;

fn connect(service: &mut Service, endpoint: &str) -> ConnectionId {
    let endpoint = endpoint_id(service, endpoint);
    service.connect(endpoint, "a:1", "a")
}

/// Sends READs of 64 KiB at time 0. Returns those that are not deferred.
fn send(
    service: &mut Service,
    connection: ConnectionId,
    volume: &str,
    requests: u64,
) -> Vec<DueRequest> {
    let volume = id_of(service, volume);
    let mut due = Vec::new();
    for token in 0..requests {
        let arrival = service.arrive(0, connection, volume, Procedure::Read, KIB_64, token);
        due.extend(arrival.expect("it is accepted").due());
    }
    due
}

/// Answers requests due by `end_ns`. Returns how many there were.
fn run(service: &mut Service, end_ns: u64) -> usize {
    let mut out = Vec::new();
    while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
        service.advance(at_ns, &mut out);
    }
    for due in &out {
        service.answered(due, KIB_64, false);
    }
    out.len()
}

fn change(service: &mut Service, now_ns: u64, edit: impl FnOnce(&mut Config)) {
    let mut config = service.config().clone();
    edit(&mut config);
    service.change(now_ns, config).expect("an allowed change");
}

#[test]
fn a_change_of_any_limit_acts_on_waiting_requests_immediately() {
    let mut service = start(CONFIG);
    let connection = connect(&mut service, "ep1");
    let undeferred = send(&mut service, connection, "vol1", 8192).len();
    assert_eq!(undeferred, 1);
    // In each second one more limit is added. All requests have 64 KiB.
    let second = |service: &mut Service, s: u64| run(service, (s + 1) * NS_PER_S - 1);
    assert_eq!(second(&mut service, 0) + undeferred, 1024, "64 MiB/s by quota");
    change(&mut service, NS_PER_S, |config| {
        config.endpoints[0].throughput = Some(KibPerSec::new(32 << 10));
    });
    assert!(second(&mut service, 1).abs_diff(512) <= 1, "32 MiB/s of the endpoint");
    change(&mut service, 2 * NS_PER_S, |config| {
        config.limits.flow_throughput = Some(KibPerSec::new(16 << 10));
    });
    assert!(second(&mut service, 2).abs_diff(256) <= 1, "16 MiB/s of the flow");
    change(&mut service, 3 * NS_PER_S, |config| config.ops[0] = NonZeroU64::new(100));
    assert!(second(&mut service, 3).abs_diff(100) <= 1, "100 operations of the volume");
    change(&mut service, 4 * NS_PER_S, |config| config.limits.flow_ops = NonZeroU64::new(50));
    assert!(second(&mut service, 4).abs_diff(50) <= 1, "50 operations of the flow");
    change(&mut service, 5 * NS_PER_S, |config| config.endpoints[0].ops = NonZeroU64::new(20));
    assert!(second(&mut service, 5).abs_diff(20) <= 1, "20 operations of the endpoint");
    change(&mut service, 6 * NS_PER_S, |config| {
        let limits = &mut config.limits;
        (limits.flow_throughput, limits.flow_ops, config.ops[0]) = (None, None, None);
        (config.endpoints[0].throughput, config.endpoints[0].ops) = (None, None);
        config.account.volumes[0].quota = Bytes::gib(4 << 10);
    });
    assert!(second(&mut service, 6).abs_diff(4096) <= 1, "256 MiB/s by quota");
    change(&mut service, 7 * NS_PER_S, |config| config.limits.enforced = false);
    assert_eq!(service.next_ns(), Some(7 * NS_PER_S));
    run(&mut service, 7 * NS_PER_S);
    assert_eq!(service.deferred(), 0, "without limits all are answered");
    let (_, counters) = service.counters().volumes().next().expect("vol1");
    assert_eq!(counters.arrived, 8192);
}

#[test]
fn a_changed_delay_applies_to_later_requests_only() {
    let mut service = start(CONFIG);
    let connection = connect(&mut service, "ep1");
    let volume = id_of(&service, "vol1");
    change(&mut service, 0, |config| config.delay.read = Distribution::Constant { ns: 5_000_000 });
    let read = |service: &mut Service, now_ns: u64| {
        let arrival = service.arrive(now_ns, connection, volume, Procedure::Read, 0, now_ns);
        arrival.expect("it is accepted").due()
    };
    assert_eq!(read(&mut service, 0), None);
    change(&mut service, 1, |config| config.delay.read = Distribution::Constant { ns: 1_000 });
    assert_eq!(read(&mut service, 2), None);
    change(&mut service, 3, |config| {
        config.endpoints[0].distance = Distance::Far;
        config.delay.far_read = Distribution::Constant { ns: 0 };
    });
    assert!(read(&mut service, 4).is_some(), "far reads have no delay now");
    let mut out = Vec::new();
    service.advance(NS_PER_S, &mut out);
    let due: Vec<(u64, u64)> = out.iter().map(|due| (due.token, due.due_ns)).collect();
    assert_eq!(due, [(2, 1_002), (0, 5_000_000)]);
}

#[test]
fn a_refused_change_reports_all_reasons_and_has_no_effect() {
    let mut service = start(CONFIG);
    let before = service.config().clone();
    let mut new = before.clone();
    new.endpoints[1].address = "127.0.0.1:2050".parse().expect("an address");
    new.endpoints[0].name = "ep3".to_owned();
    new.endpoints[0].throughput = Some(KibPerSec::new(1));
    new.account.volumes[0].quota = Bytes::gib(1);
    let broken = service.change(0, new).expect_err("not allowed");
    let broken: Vec<String> = broken.iter().map(ToString::to_string).collect();
    for part in [
        "endpoint `ep2`: the address 127.0.0.1:2049 cannot change to 127.0.0.1:2050 while the \
         service runs (restart the service)",
        "endpoint `ep3`: an endpoint cannot be added while the service runs",
        "`ep1`: an endpoint cannot be removed while the service runs",
        "volume `vol1`: a quota of 1 GiB, a regular volume has at least 50 GiB (raise `quota`)",
    ] {
        assert!(broken.iter().any(|line| line.starts_with(part)), "no {part} in {broken:#?}");
    }
    assert_eq!(service.config(), &before);
}

#[test]
fn endpoints_keep_their_ids_when_they_are_reordered() {
    let mut service = start(CONFIG);
    let [ep1, ep2] = ["ep1", "ep2"].map(|name| endpoint_id(&service, name));
    change(&mut service, 0, |config| config.endpoints.reverse());
    assert_eq!(["ep1", "ep2"].map(|name| endpoint_id(&service, name)), [ep1, ep2]);
    let connection = connect(&mut service, "ep1");
    assert_eq!(send(&mut service, connection, "vol1", 1).len(), 1);
}

#[test]
fn an_added_volume_is_served_and_a_removed_one_answers_its_waiting_requests() {
    let mut service = start(CONFIG);
    let connection = connect(&mut service, "ep1");
    let first = send(&mut service, connection, "vol1", 11);
    service.answered(&first[0], KIB_64, false);
    let removed = id_of(&service, "vol1");
    change(&mut service, 1, |config| {
        let mut vol3 = config.account.volumes.remove(0);
        vol3.name = "vol3".to_owned();
        config.account.volumes.push(vol3);
    });
    assert_eq!(service.volume_id("vol1"), None);
    let late = service.arrive(1, connection, removed, Procedure::Read, KIB_64, 1);
    assert_eq!(late, Err(ArriveError::NoVolume));
    assert_eq!(run(&mut service, NS_PER_S), 10, "at the limit it had");
    let snapshot = service.counters().snapshot();
    let of = |name: &str| snapshot.volumes.iter().find(|one| &*one.name == name).expect("listed");
    assert_eq!((of("vol1").open, of("vol1").counters.completed()), (false, 11));
    // The new volume has a separate limit, although it reuses the old one's id in the shaper.
    assert_eq!(send(&mut service, connection, "vol3", 3).len(), 1);
    assert!(of("vol3").open);
}

#[test]
fn a_volume_that_moved_to_another_endpoint_answers_waiting_requests_at_the_old_one() {
    let mut service = start(CONFIG);
    let (old, new) = (connect(&mut service, "ep1"), connect(&mut service, "ep2"));
    send(&mut service, old, "vol1", 5);
    change(&mut service, 1, |config| {
        config.account.volumes[0].endpoints = vec!["ep2".to_owned()];
    });
    let volume = id_of(&service, "vol1");
    let error = service.arrive(1, old, volume, Procedure::Read, 1, 1).expect_err("it moved");
    assert!(error.to_string().contains("`vol1` is not served at endpoint `ep1`"));
    assert!(service.arrive(1, new, volume, Procedure::Read, 1, 1).is_ok());
    assert_eq!(run(&mut service, NS_PER_S), 4, "one was not deferred");
}

#[test]
fn a_quota_cannot_shrink_below_the_stored_bytes() {
    let mut service = start(CONFIG);
    let volume = id_of(&service, "vol1");
    service.set_used(volume, Bytes::gib(600));
    let mut new = service.config().clone();
    new.account.volumes[0].quota = Bytes::gib(500);
    let broken = service.change(0, new).expect_err("it stores more");
    let message = "quota 500 GiB is below the 600 GiB that the volume stores";
    assert!(broken[0].to_string().contains(message), "{broken:?}");
    change(&mut service, 0, |config| config.account.volumes[0].quota = Bytes::gib(600));
}

#[test]
fn ten_thousand_closed_flows_leave_bounded_counters_and_complete_totals() {
    let mut service = start(CONFIG);
    let endpoint = endpoint_id(&service, "ep1");
    let volume = id_of(&service, "vol1");
    for number in 0..10_000u64 {
        let (flow, client) = (format!("a:{number}"), format!("10.0.0.{}", number % 250));
        let connection = service.connect(endpoint, &flow, &client);
        service.without_volume(connection);
        let arrival = service
            .arrive(number, connection, volume, Procedure::Getattr, 0, number)
            .expect("it is accepted");
        let due = arrival.due().expect("nothing defers it");
        service.disconnect(number, connection);
        // The connection closed before the reply was sent.
        service.dropped(&due);
    }
    let now = service.counters().snapshot();
    assert_eq!((now.flows.len(), now.closed_flows.count), (1024, 8976));
    assert_eq!((now.clients.len(), now.closed_clients.count), (250, 0));
    let listed: u64 = now.flows.iter().map(|flow| flow.counters.arrived).sum();
    assert_eq!(listed + now.closed_flows.counters.arrived, 10_000);
    let without: u64 = now.clients.iter().map(|client| client.counters.calls_without_volume).sum();
    assert_eq!(without, 10_000);
    let volume = &now.volumes[0].counters;
    assert_eq!((volume.arrived, volume.dropped, volume.outstanding), (10_000, 10_000, 0));
    let all = now.flows.iter().map(|flow| &flow.counters).chain([&now.closed_flows.counters]);
    assert_eq!(all.map(|counters| counters.outstanding).sum::<u64>(), 0);
}
