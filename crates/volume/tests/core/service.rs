//! Requests through the whole service, in virtual time.

use proptest::prelude::*;
use units::Bytes;
use volume::counters::{Counters, Procedure};
use volume::ids::ConnectionId;
use volume::service::{Arrival, ArriveError, DueRequest, Service};

use crate::{endpoint_id, id_of, start};

/// 64 MiB/s, 1 ms for reads and 2 ms for writes, no burst.
const CONFIG: &str = r#"
[[endpoint]]
name = "near"
[[endpoint]]
name = "far"
distance = "far"
[[pool]]
name = "pool1"
service_level = "premium"
size = "4TiB"
[[volume]]
name = "vol1"
pool = "pool1"
quota = "1TiB"
endpoints = "near"
[[volume]]
name = "vol2"
pool = "pool1"
quota = "2TiB"
endpoints = "far"
[limits]
refill_interval = "0"
[delay]
read = "1ms"
write = "2ms"
far_read = "5ms"
"#;

/// Calls the service at each instant of `next_ns` until `end_ns`, and answers all requests.
fn run(service: &mut Service, bytes: u64, end_ns: u64) -> Vec<(u64, DueRequest)> {
    let (mut out, mut answered) = (Vec::new(), Vec::new());
    while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
        service.advance(at_ns, &mut out);
        for due in out.drain(..) {
            service.answered(&due, bytes, false);
            answered.push((at_ns, due));
        }
    }
    answered
}

fn read(service: &mut Service, now_ns: u64, connection: ConnectionId, token: u64) {
    let volume = id_of(service, "vol1");
    let arrival = service.arrive(now_ns, connection, volume, Procedure::Read, 65_536, token);
    assert_eq!(arrival.map(Arrival::due), Ok(None), "deferred for at least 1 ms");
}

fn connect(service: &mut Service, endpoint: &str, flow: &str) -> ConnectionId {
    let endpoint = endpoint_id(service, endpoint);
    let (client, _) = flow.split_once(':').expect("an address and a port");
    service.connect(endpoint, flow, client)
}

fn counters(service: &Service, volume: &str) -> Counters {
    let mut volumes = service.counters().volumes();
    volumes.find(|(name, _)| *name == volume).expect("a volume").1.clone()
}

#[test]
fn an_unloaded_request_is_delayed_but_not_by_limits() {
    let mut service = start(CONFIG);
    let near = connect(&mut service, "near", "a:1");
    let far = connect(&mut service, "far", "b:1");
    read(&mut service, 1_000, near, 1);
    let [vol1, vol2] = ["vol1", "vol2"].map(|name| id_of(&service, name));
    service.arrive(1_000, near, vol1, Procedure::Write, 0, 2).unwrap();
    service.arrive(1_000, far, vol2, Procedure::Getattr, 0, 3).unwrap();
    let answered = run(&mut service, 0, u64::MAX);
    let due: Vec<(u64, u64, u64)> =
        answered.iter().map(|(at_ns, due)| (due.token, *at_ns, due.qos_delay_ns)).collect();
    assert_eq!(due, [(1, 1_001_000, 0), (2, 2_001_000, 0), (3, 5_001_000, 0)]);
    assert_eq!(service.deferred(), 0);
}

#[test]
fn throughput_is_the_volumes_limit_and_is_counted() {
    let mut service = start(CONFIG);
    let connections: Vec<ConnectionId> =
        (0..4).map(|i| connect(&mut service, "near", &format!("a:{i}"))).collect();
    for token in 0..1024 {
        read(&mut service, 0, connections[token as usize % 4], token);
    }
    // One per 1/1024 s, each with a delay of 1 ms.
    let answered = run(&mut service, 65_536, u64::MAX);
    assert_eq!(answered.len(), 1024);
    for (number, (at_ns, due)) in answered.iter().enumerate() {
        let released_ns = (number as u64 * 1_000_000_000).div_ceil(1024);
        assert_eq!((*at_ns, due.token), (released_ns + 1_000_000, number as u64));
        assert_eq!(due.qos_delay_ns, released_ns);
    }
    let counters = counters(&service, "vol1");
    assert_eq!((counters.arrived, counters.of(Procedure::Read)), (1024, 1024));
    assert_eq!(counters.read_bytes, 64 << 20);
    assert_eq!((counters.outstanding_max, counters.outstanding), (1024, 0));
    assert_eq!(counters.throttled(), 1023);
    assert!(service.counters().flows().all(|(_, flow)| flow.outstanding_max == 256));
}

#[test]
fn next_deferred_returns_each_waiting_request_once_before_it_is_due() {
    let mut service = start(CONFIG);
    let connections = [1, 2].map(|i| connect(&mut service, "near", &format!("a:{i}")));
    for token in 0..100 {
        read(&mut service, 0, connections[token as usize % 2], token);
    }
    let (mut out, mut released, mut returned) = (Vec::new(), 0, Vec::new());
    while let Some(at_ns) = service.next_ns() {
        while let Some((_, token)) = service.next_deferred() {
            assert!(token >= released, "{token} was released before");
            returned.push(token);
        }
        service.advance(at_ns, &mut out);
        released += out.len() as u64;
        out.clear();
    }
    // Limits do not defer request 0, and requests 1 and 2 were the first of their connections when
    // they arrived.
    assert_eq!(returned, (3..100).collect::<Vec<u64>>());
}

#[test]
fn a_raised_quota_speeds_up_waiting_requests_immediately() {
    let mut service = start(CONFIG);
    let connection = connect(&mut service, "near", "a:1");
    for token in 0..3072 {
        read(&mut service, 0, connection, token);
    }
    // Requests released before 1 s are answered before 1.001 s.
    let first = run(&mut service, 65_536, 1_000_999_999).len();
    assert_eq!(first, 1024);
    let mut new = service.config().clone();
    new.account.volumes[0].quota = Bytes::gib(2 << 10);
    service.change(1_001_000_000, new).unwrap();
    let second = run(&mut service, 65_536, 2_001_000_000 - 1).len();
    assert!((2046..=2049).contains(&second), "{second} at twice the rate");
}

#[test]
fn requests_of_a_closed_connection_are_no_longer_outstanding() {
    let mut service = start(CONFIG);
    let connection = connect(&mut service, "near", "a:1");
    for token in 0..10 {
        read(&mut service, 0, connection, token);
    }
    // One is in its delay, the others wait for the limit.
    let mut out = Vec::new();
    service.advance(0, &mut out);
    assert_eq!((out.len(), service.deferred()), (0, 10));
    service.disconnect(500_000, connection);
    assert_eq!(run(&mut service, 0, u64::MAX), []);
    let counters = counters(&service, "vol1");
    assert_eq!((counters.arrived, counters.completed(), counters.outstanding), (10, 0, 0));
    let volume = id_of(&service, "vol1");
    let late = service.arrive(600_000, connection, volume, Procedure::Read, 1, 1);
    assert_eq!(late, Err(ArriveError::NotOpen));
}

#[test]
fn a_volume_is_served_only_at_its_endpoint_and_until_it_is_removed() {
    let mut service = start(CONFIG);
    assert_eq!(service.volume_id("nothing"), None);
    let [vol1, vol2] = ["vol1", "vol2"].map(|name| id_of(&service, name));
    let connection = connect(&mut service, "near", "a:1");
    let error = service.arrive(0, connection, vol2, Procedure::Read, 1, 1).unwrap_err();
    assert!(error.to_string().contains("volume `vol2` is not served at endpoint `near`"));
    let mut new = service.config().clone();
    new.account.volumes.remove(0);
    new.ops.remove(0);
    let before = service.config().clone();
    service.change(0, new).unwrap();
    let removed = service.arrive(0, connection, vol1, Procedure::Read, 1, 1);
    assert_eq!(removed, Err(ArriveError::NoVolume));
    // A later volume with the same name has another id.
    service.change(0, before).unwrap();
    let again = id_of(&service, "vol1");
    assert_ne!(again, vol1);
    assert!(service.arrive(0, connection, vol1, Procedure::Read, 1, 1).is_err());
    assert!(service.arrive(0, connection, again, Procedure::Read, 1, 1).is_ok());
}

#[derive(Clone, Debug)]
enum Step {
    Connect(bool),
    Disconnect(usize),
    Arrive(usize, bool, u64),
    Resize(u64),
    Advance(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        1 => any::<bool>().prop_map(Step::Connect),
        1 => (0usize..8).prop_map(Step::Disconnect),
        8 => (0usize..8, any::<bool>(), 0u64..2_000_000)
            .prop_map(|(connection, write, bytes)| Step::Arrive(connection, write, bytes)),
        1 => (50u64..2048).prop_map(Step::Resize),
        3 => (0u64..50_000_000).prop_map(Step::Advance),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    /// Every accepted request is answered once, not before its delay is over, or is dropped with its
    /// connection. At the end no request is deferred.
    #[test]
    fn every_request_is_answered_once_or_dropped_with_its_connection(steps in steps()) {
        let mut service = start(CONFIG);
        let (mut now_ns, mut token) = (0, 0u64);
        let mut open: Vec<(ConnectionId, &str)> = Vec::new();
        let mut accepted = std::collections::BTreeMap::new();
        let mut answered = std::collections::BTreeSet::new();
        let mut out = Vec::new();
        for step in steps.into_iter().chain([Step::Advance(1 << 50)]) {
            match step {
                Step::Connect(far) => {
                    let (at, volume) = if far { ("far", "vol2") } else { ("near", "vol1") };
                    let name = format!("c:{}", open.len());
                    open.push((connect(&mut service, at, &name), volume));
                }
                Step::Disconnect(index) if index < open.len() => {
                    service.disconnect(now_ns, open.remove(index).0);
                }
                Step::Arrive(index, write, bytes) if index < open.len() => {
                    let (connection, volume) = open[index];
                    let procedure = if write { Procedure::Write } else { Procedure::Read };
                    token += 1;
                    let volume = id_of(&service, volume);
                    let result =
                        service.arrive(now_ns, connection, volume, procedure, bytes, token);
                    prop_assert_eq!(result.map(Arrival::due), Ok(None));
                    accepted.insert(token, (now_ns, connection));
                }
                Step::Disconnect(_) | Step::Arrive(..) => {}
                Step::Resize(gib) => {
                    let mut new = service.config().clone();
                    new.account.volumes[0].quota = Bytes::gib(gib);
                    prop_assert!(service.change(now_ns, new).is_ok());
                }
                Step::Advance(by_ns) => {
                    let end_ns = now_ns + by_ns;
                    while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
                        now_ns = now_ns.max(at_ns);
                        service.advance(now_ns, &mut out);
                        for due in out.drain(..) {
                            let (arrived_ns, connection) = accepted[&due.token];
                            prop_assert!(answered.insert(due.token));
                            prop_assert_eq!(connection, due.connection);
                            prop_assert!(open.iter().any(|(other, _)| *other == connection));
                            prop_assert!(now_ns >= arrived_ns + 1_000_000 + due.qos_delay_ns);
                            service.answered(&due, 0, false);
                        }
                    }
                    now_ns = end_ns;
                }
            }
        }
        prop_assert_eq!(service.deferred(), 0);
        let (mut arrived, mut completed) = (0, 0);
        for (_, counters) in service.counters().volumes() {
            prop_assert_eq!(counters.outstanding, 0);
            arrived += counters.arrived;
            completed += counters.completed();
        }
        prop_assert_eq!((arrived, completed), (accepted.len() as u64, answered.len() as u64));
        let is_open = |connection| open.iter().any(|(other, _)| *other == connection);
        let mut kept = accepted.iter().filter(|(_, (_, connection))| is_open(*connection));
        prop_assert!(kept.all(|(token, _)| answered.contains(token)));
    }
}
