//! What changes while requests wait: all of it or nothing, at once, and nothing is lost.

use std::num::NonZeroU64;

use cloud::catalog::Catalog;
use cloud::throughput::KibPerSec;
use units::Bytes;
use volume::config::{Config, parse};
use volume::delay::{Distance, Distribution};
use volume::service::{ArriveError, Connection, Due, Service, VolumeKey};
use volume::witness::Procedure;

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

fn service() -> Service {
    let catalog = Catalog::embedded();
    let config = parse(CONFIG, "v.toml", &catalog, &mut |path| Err(path.to_owned()));
    Service::start(0, catalog, config.expect("it is right")).expect("it keeps rules")
}

fn key(service: &Service, volume: &str) -> VolumeKey {
    service.volume_key(volume).expect("it is there")
}

fn connect(service: &mut Service, endpoint: &str) -> Connection {
    let endpoint = service.endpoint_key(endpoint).expect("it is there");
    service.connect(endpoint, "a:1", "a")
}

/// Brings so many READs of 64 KiB at once; gives those that nothing holds.
fn bring(service: &mut Service, connection: Connection, volume: &str, requests: u64) -> Vec<Due> {
    let volume = key(service, volume);
    let mut due = Vec::new();
    for token in 0..requests {
        let taken = service.arrive(0, connection, volume, Procedure::Read, KIB_64, token);
        due.extend(taken.expect("it is taken"));
    }
    due
}

/// How many come out by `end_ns`, answered.
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
    let mut wanted = service.config().clone();
    edit(&mut wanted);
    service.change(now_ns, wanted).expect("it may be so");
}

#[test]
fn every_limit_acts_on_what_waits_when_it_is_changed() {
    let mut service = service();
    let connection = connect(&mut service, "ep1");
    let at_once = bring(&mut service, connection, "vol1", 8192).len();
    assert_eq!(at_once, 1);
    // Seconds of their own, each with one more limit than the last; all are 64 KiB requests.
    let second = |service: &mut Service, s: u64| run(service, (s + 1) * NS_PER_S - 1);
    assert_eq!(second(&mut service, 0) + at_once, 1024, "64 MiB/s by quota");
    change(&mut service, NS_PER_S, |wanted| {
        wanted.endpoints[0].throughput = Some(KibPerSec::new(32 << 10));
    });
    assert!(second(&mut service, 1).abs_diff(512) <= 1, "32 MiB/s of the endpoint");
    change(&mut service, 2 * NS_PER_S, |wanted| {
        wanted.limits.flow_throughput = Some(KibPerSec::new(16 << 10));
    });
    assert!(second(&mut service, 2).abs_diff(256) <= 1, "16 MiB/s of the flow");
    change(&mut service, 3 * NS_PER_S, |wanted| wanted.ops[0] = NonZeroU64::new(100));
    assert!(second(&mut service, 3).abs_diff(100) <= 1, "100 operations of the volume");
    change(&mut service, 4 * NS_PER_S, |wanted| wanted.limits.flow_ops = NonZeroU64::new(50));
    assert!(second(&mut service, 4).abs_diff(50) <= 1, "50 operations of the flow");
    change(&mut service, 5 * NS_PER_S, |wanted| wanted.endpoints[0].ops = NonZeroU64::new(20));
    assert!(second(&mut service, 5).abs_diff(20) <= 1, "20 operations of the endpoint");
    change(&mut service, 6 * NS_PER_S, |wanted| {
        let limits = &mut wanted.limits;
        (limits.flow_throughput, limits.flow_ops, wanted.ops[0]) = (None, None, None);
        (wanted.endpoints[0].throughput, wanted.endpoints[0].ops) = (None, None);
        wanted.account.volumes[0].quota = Bytes::gib(4 << 10);
    });
    assert!(second(&mut service, 6).abs_diff(4096) <= 1, "256 MiB/s by quota");
    change(&mut service, 7 * NS_PER_S, |wanted| wanted.limits.enforced = false);
    assert_eq!(service.next_ns(), Some(7 * NS_PER_S));
    run(&mut service, 7 * NS_PER_S);
    assert_eq!(service.held(), 0, "all the rest without a limit");
    let (_, seen) = service.witness().volumes().next().expect("vol1");
    assert_eq!(seen.arrived, 8192);
}

#[test]
fn a_new_delay_is_taken_by_requests_that_have_not_begun_theirs() {
    let mut service = service();
    let connection = connect(&mut service, "ep1");
    let volume = key(&service, "vol1");
    change(&mut service, 0, |wanted| wanted.delay.read = Distribution::Constant { ns: 5_000_000 });
    let read = |service: &mut Service, now_ns: u64| {
        service.arrive(now_ns, connection, volume, Procedure::Read, 0, now_ns).expect("it is taken")
    };
    assert_eq!(read(&mut service, 0), None);
    change(&mut service, 1, |wanted| wanted.delay.read = Distribution::Constant { ns: 1_000 });
    assert_eq!(read(&mut service, 2), None);
    change(&mut service, 3, |wanted| {
        wanted.endpoints[0].distance = Distance::Far;
        wanted.delay.far_read = Distribution::Constant { ns: 0 };
    });
    assert!(read(&mut service, 4).is_some(), "from afar it takes no time now");
    let mut out = Vec::new();
    service.advance(NS_PER_S, &mut out);
    let due: Vec<(u64, u64)> = out.iter().map(|due| (due.token, due.due_ns)).collect();
    assert_eq!(due, [(2, 1_002), (0, 5_000_000)]);
}

#[test]
fn what_cannot_change_is_told_with_every_other_mistake_and_nothing_has_changed() {
    let mut service = service();
    let before = service.config().clone();
    let mut wanted = before.clone();
    wanted.endpoints[1].address = "127.0.0.1:2050".parse().expect("an address");
    wanted.endpoints[0].name = "ep3".to_owned();
    wanted.endpoints[0].throughput = Some(KibPerSec::new(1));
    wanted.account.volumes[0].quota = Bytes::gib(1);
    let told = service.change(0, wanted).expect_err("it cannot be so");
    let told: Vec<String> = told.iter().map(ToString::to_string).collect();
    for part in [
        "endpoint `ep2`: it listens at 127.0.0.1:2049, which cannot become 127.0.0.1:2050 while \
         the service runs (stop the service and start it anew)",
        "endpoint `ep3`: an endpoint cannot come while the service runs",
        "`ep1`: an endpoint cannot go while the service runs",
        "volume `vol1`: a quota of 1 GiB, a regular volume has at least 50 GiB (raise `quota`)",
    ] {
        assert!(told.iter().any(|line| line.starts_with(part)), "no {part} in {told:#?}");
    }
    assert_eq!(service.config(), &before);
    assert_eq!(service.endpoint_key("ep3"), None);
}

#[test]
fn endpoints_that_are_written_in_another_order_are_the_same() {
    let mut service = service();
    let [ep1, ep2] = ["ep1", "ep2"].map(|name| service.endpoint_key(name));
    change(&mut service, 0, |wanted| wanted.endpoints.reverse());
    assert_eq!(["ep1", "ep2"].map(|name| service.endpoint_key(name)), [ep1, ep2]);
    let connection = connect(&mut service, "ep1");
    assert_eq!(bring(&mut service, connection, "vol1", 1).len(), 1);
}

#[test]
fn a_volume_that_comes_is_served_and_one_that_goes_answers_what_it_took() {
    let mut service = service();
    let connection = connect(&mut service, "ep1");
    let first = bring(&mut service, connection, "vol1", 11);
    service.answered(&first[0], KIB_64, false);
    let gone = key(&service, "vol1");
    change(&mut service, 1, |wanted| {
        let mut vol3 = wanted.account.volumes.remove(0);
        vol3.name = "vol3".to_owned();
        wanted.account.volumes.push(vol3);
    });
    assert_eq!(service.volume_name(gone), None);
    let late = service.arrive(1, connection, gone, Procedure::Read, KIB_64, 1);
    assert_eq!(late, Err(ArriveError::NoVolume));
    assert_eq!(run(&mut service, NS_PER_S), 10, "at the limit that it had");
    let seen = service.witness().snapshot();
    let of = |name: &str| seen.volumes.iter().find(|named| &*named.name == name).expect("listed");
    assert_eq!((of("vol1").open, of("vol1").counters.completed()), (false, 11));
    // The new one has a limit of its own, and the place of the old one in the shaper.
    assert_eq!(bring(&mut service, connection, "vol3", 3).len(), 1);
    assert!(of("vol3").open);
}

#[test]
fn a_volume_that_moves_to_another_endpoint_is_served_there_and_answers_what_it_took_here() {
    let mut service = service();
    let (here, there) = (connect(&mut service, "ep1"), connect(&mut service, "ep2"));
    bring(&mut service, here, "vol1", 5);
    change(&mut service, 1, |wanted| {
        wanted.account.volumes[0].endpoints = vec!["ep2".to_owned()];
    });
    let volume = key(&service, "vol1");
    let wrong = service.arrive(1, here, volume, Procedure::Read, 1, 1).expect_err("it moved");
    assert!(wrong.to_string().contains("`vol1` is not served at endpoint `ep1`"));
    assert!(service.arrive(1, there, volume, Procedure::Read, 1, 1).is_ok());
    assert_eq!(run(&mut service, NS_PER_S), 4, "one went at once");
}

#[test]
fn a_quota_cannot_go_below_what_the_volume_holds() {
    let mut service = service();
    let volume = key(&service, "vol1");
    service.set_used(volume, Bytes::gib(600));
    let mut wanted = service.config().clone();
    wanted.account.volumes[0].quota = Bytes::gib(500);
    let told = service.change(0, wanted).expect_err("it holds more");
    assert!(told[0].to_string().contains("a quota of 500 GiB, the volume holds 600 GiB"));
    change(&mut service, 0, |wanted| wanted.account.volumes[0].quota = Bytes::gib(600));
}

#[test]
fn flows_that_are_closed_for_days_leave_a_bounded_book_and_whole_totals() {
    let mut service = service();
    let endpoint = service.endpoint_key("ep1").expect("it is there");
    let volume = key(&service, "vol1");
    for number in 0..10_000u64 {
        let (flow, client) = (format!("a:{number}"), format!("10.0.0.{}", number % 250));
        let connection = service.connect(endpoint, &flow, &client);
        service.without_volume(connection);
        let taken = service
            .arrive(number, connection, volume, Procedure::Getattr, 0, number)
            .expect("it is taken");
        let due = taken.expect("nothing holds it");
        service.disconnect(number, connection);
        // The answer was on its way when the connection went.
        service.dropped(&due);
    }
    let seen = service.witness().snapshot();
    assert_eq!((seen.flows.len(), seen.closed_flows.count), (1024, 8976));
    assert_eq!((seen.clients.len(), seen.closed_clients.count), (250, 0));
    let listed: u64 = seen.flows.iter().map(|flow| flow.counters.arrived).sum();
    assert_eq!(listed + seen.closed_flows.counters.arrived, 10_000);
    let without: u64 = seen.clients.iter().map(|client| client.counters.without_volume).sum();
    assert_eq!(without, 10_000);
    let volume = &seen.volumes[0].counters;
    assert_eq!((volume.arrived, volume.dropped, volume.outstanding), (10_000, 10_000, 0));
    let all = seen.flows.iter().map(|flow| &flow.counters).chain([&seen.closed_flows.counters]);
    assert_eq!(all.map(|counters| counters.outstanding).sum::<u64>(), 0);
}
