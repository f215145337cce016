//! Requests through the whole service, under a time that the test sets.

use cloud::catalog::Catalog;
use proptest::prelude::*;
use units::Bytes;
use volume::config::parse;
use volume::service::{ArriveError, Connection, Due, Service, VolumeKey};
use volume::witness::{Counters, Procedure};

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

fn service() -> Service {
    let catalog = Catalog::embedded();
    let config = parse(CONFIG, "v.toml", &catalog, &mut |path| Err(path.to_owned()));
    Service::start(0, catalog, config.expect("the description is right")).expect("it keeps rules")
}

/// Comes back whenever the service says so, until `end_ns`; answers everything whole.
fn run(service: &mut Service, bytes: u64, end_ns: u64) -> Vec<(u64, Due)> {
    let (mut out, mut answers) = (Vec::new(), Vec::new());
    while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
        service.advance(at_ns, &mut out);
        for due in out.drain(..) {
            service.answered(&due, bytes, false);
            answers.push((at_ns, due));
        }
    }
    answers
}

fn read(service: &mut Service, now_ns: u64, connection: Connection, token: u64) {
    let volume = service.volume_key("vol1").expect("the volume is there");
    let taken = service.arrive(now_ns, connection, volume, Procedure::Read, 65_536, token);
    assert_eq!(taken, Ok(None), "it takes a millisecond at least");
}

fn connect(service: &mut Service, endpoint: &str, flow: &str) -> Connection {
    let endpoint = service.endpoint_key(endpoint).expect("the endpoint is there");
    let (client, _) = flow.split_once(':').expect("an address and a port");
    service.connect(endpoint, flow, client)
}

fn key(service: &Service, volume: &str) -> VolumeKey {
    service.volume_key(volume).expect("the volume is there")
}

fn counters(service: &Service, volume: &str) -> Counters {
    let mut volumes = service.witness().volumes();
    volumes.find(|(name, _)| *name == volume).expect("the volume is known").1.clone()
}

#[test]
fn a_request_alone_takes_its_delay_and_waits_for_no_limit() {
    let mut service = service();
    let near = connect(&mut service, "near", "a:1");
    let far = connect(&mut service, "far", "b:1");
    read(&mut service, 1_000, near, 1);
    let [vol1, vol2] = ["vol1", "vol2"].map(|name| key(&service, name));
    service.arrive(1_000, near, vol1, Procedure::Write, 0, 2).unwrap();
    service.arrive(1_000, far, vol2, Procedure::Getattr, 0, 3).unwrap();
    let answers = run(&mut service, 0, u64::MAX);
    let seen: Vec<(u64, u64, u64)> =
        answers.iter().map(|(at_ns, due)| (due.token, *at_ns, due.qos_delay_ns)).collect();
    assert_eq!(seen, [(1, 1_001_000, 0), (2, 2_001_000, 0), (3, 5_001_000, 0)]);
    assert_eq!(service.held(), 0);
}

#[test]
fn the_throughput_is_the_volumes_limit_and_the_witness_counted_it() {
    let mut service = service();
    let connections: Vec<Connection> =
        (0..4).map(|i| connect(&mut service, "near", &format!("a:{i}"))).collect();
    for token in 0..1024 {
        read(&mut service, 0, connections[token as usize % 4], token);
    }
    // One each 1/1024 s, and each takes a millisecond more.
    let answers = run(&mut service, 65_536, u64::MAX);
    assert_eq!(answers.len(), 1024);
    for (place, (at_ns, due)) in answers.iter().enumerate() {
        let released_ns = (place as u64 * 1_000_000_000).div_ceil(1024);
        assert_eq!((*at_ns, due.token), (released_ns + 1_000_000, place as u64));
        assert_eq!(due.qos_delay_ns, released_ns);
    }
    let seen = counters(&service, "vol1");
    assert_eq!((seen.arrived, seen.of(Procedure::Read)), (1024, 1024));
    assert_eq!(seen.read_bytes, 64 << 20);
    assert_eq!((seen.outstanding_max, seen.outstanding), (1024, 0));
    assert_eq!(seen.throttled(), 1023);
    assert!(service.witness().flows().all(|(_, flow)| flow.outstanding_max == 256));
}

#[test]
fn what_waits_for_limits_is_told_before_it_is_due_and_once() {
    let mut service = service();
    let connections = [1, 2].map(|i| connect(&mut service, "near", &format!("a:{i}")));
    for token in 0..100 {
        read(&mut service, 0, connections[token as usize % 2], token);
    }
    let (mut out, mut gone, mut told) = (Vec::new(), 0, Vec::new());
    while let Some(at_ns) = service.next_ns() {
        while let Some(token) = service.coming() {
            assert!(token >= gone, "{token} is gone");
            told.push(token);
        }
        service.advance(at_ns, &mut out);
        gone += out.len() as u64;
        out.clear();
    }
    // No limit holds the first of all; of what is held, 1 and 2 were first of their connections
    // when they came.
    assert_eq!(told, (3..100).collect::<Vec<u64>>());
}

#[test]
fn a_resized_volume_is_quicker_at_once_with_requests_waiting() {
    let mut service = service();
    let connection = connect(&mut service, "near", "a:1");
    for token in 0..3072 {
        read(&mut service, 0, connection, token);
    }
    // What the limit lets go before 1 s is answered before 1.001 s.
    let first = run(&mut service, 65_536, 1_000_999_999).len();
    assert_eq!(first, 1024);
    let mut wanted = service.config().clone();
    wanted.account.volumes[0].quota = Bytes::gib(2 << 10);
    service.change(1_001_000_000, wanted).unwrap();
    let second = run(&mut service, 65_536, 2_001_000_000 - 1).len();
    assert!((2046..=2049).contains(&second), "{second} at twice the rate");
}

#[test]
fn a_connection_that_goes_leaves_nothing_outstanding() {
    let mut service = service();
    let connection = connect(&mut service, "near", "a:1");
    for token in 0..10 {
        read(&mut service, 0, connection, token);
    }
    // One is in its delay, the others wait for the limit.
    let mut out = Vec::new();
    service.advance(0, &mut out);
    assert_eq!((out.len(), service.held()), (0, 10));
    service.disconnect(500_000, connection);
    assert_eq!(run(&mut service, 0, u64::MAX), []);
    let seen = counters(&service, "vol1");
    assert_eq!((seen.arrived, seen.completed(), seen.outstanding), (10, 0, 0));
    let volume = key(&service, "vol1");
    let late = service.arrive(600_000, connection, volume, Procedure::Read, 1, 1);
    assert_eq!(late, Err(ArriveError::NotOpen));
}

#[test]
fn a_volume_is_served_at_its_own_endpoint_only_and_while_it_is_there() {
    let mut service = service();
    assert_eq!(service.endpoint_key("nowhere"), None);
    assert_eq!(service.volume_key("nothing"), None);
    let [vol1, vol2] = ["vol1", "vol2"].map(|name| key(&service, name));
    let connection = connect(&mut service, "near", "a:1");
    let wrong = service.arrive(0, connection, vol2, Procedure::Read, 1, 1).unwrap_err();
    assert!(wrong.to_string().contains("volume `vol2` is not served at endpoint `near`"));
    let mut wanted = service.config().clone();
    wanted.account.volumes.remove(0);
    wanted.ops.remove(0);
    let before = service.config().clone();
    service.change(0, wanted).unwrap();
    let gone = service.arrive(0, connection, vol1, Procedure::Read, 1, 1);
    assert_eq!(gone, Err(ArriveError::NoVolume));
    // One of the same name is another volume: who still has the old one's key has nothing.
    service.change(0, before).unwrap();
    let again = key(&service, "vol1");
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
    /// Whatever comes and goes: every request that was taken is answered once and not before its
    /// delay is over, or was dropped with its connection; and at the end nothing is held.
    #[test]
    fn nothing_is_lost_and_nothing_is_answered_twice(steps in steps()) {
        let mut service = service();
        let (mut now_ns, mut token) = (0, 0u64);
        let mut open: Vec<(Connection, &str)> = Vec::new();
        let mut taken = std::collections::BTreeMap::new();
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
                    let volume = key(&service, volume);
                    let result =
                        service.arrive(now_ns, connection, volume, procedure, bytes, token);
                    prop_assert_eq!(result, Ok(None));
                    taken.insert(token, (now_ns, connection));
                }
                Step::Disconnect(_) | Step::Arrive(..) => {}
                Step::Resize(gib) => {
                    let mut wanted = service.config().clone();
                    wanted.account.volumes[0].quota = Bytes::gib(gib);
                    prop_assert!(service.change(now_ns, wanted).is_ok());
                }
                Step::Advance(by_ns) => {
                    let end_ns = now_ns + by_ns;
                    while let Some(at_ns) = service.next_ns().filter(|at_ns| *at_ns <= end_ns) {
                        now_ns = now_ns.max(at_ns);
                        service.advance(now_ns, &mut out);
                        for due in out.drain(..) {
                            let (arrived_ns, connection) = taken[&due.token];
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
        prop_assert_eq!(service.held(), 0);
        let (mut arrived, mut completed) = (0, 0);
        for (_, seen) in service.witness().volumes() {
            prop_assert_eq!(seen.outstanding, 0);
            arrived += seen.arrived;
            completed += seen.completed();
        }
        prop_assert_eq!((arrived, completed), (taken.len() as u64, answered.len() as u64));
        let stayed = taken.iter().filter(|(_, (_, c))| open.iter().any(|(other, _)| other == c));
        prop_assert!(stayed.into_iter().all(|(token, _)| answered.contains(token)));
    }
}
