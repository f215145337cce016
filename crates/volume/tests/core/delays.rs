//! The delays of requests through the service compared with the configured distributions.

use cloud::catalog::Catalog;
use volume::config::parse;
use volume::counters::Procedure;
use volume::ids::{ConnectionId, VolumeId};
use volume::service::{Arrival, Service};

use crate::{endpoint_id, id_of};

const REQUESTS: u64 = 200_000;

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
name = "near"
pool = "pool1"
quota = "1TiB"
endpoints = "near"
[[volume]]
name = "far"
pool = "pool1"
quota = "1TiB"
endpoints = "far"
[limits]
enforced = false
[delay]
seed = 11
read = { median = "300us", p99 = "2ms" }
write = "700us"
far_read = { histogram = "far.hgrm", unit = "us" }
far_write = { median = "1500us", p99 = "4ms" }
"#;

/// Quantiles of the standard normal distribution (Abramowitz and Stegun, table 26.5).
const NORMAL: [(f64, f64); 3] = [(0.5, 0.0), (0.99, 2.326_347_874), (0.999, 3.090_232_306)];

/// A percentile file of HdrHistogram: uniform from 1 ms to 2 ms, with 1 % in a tail up to 10 ms.
fn histogram() -> String {
    let mut text = "       Value     Percentile TotalCount 1/(1-Percentile)\n\n".to_owned();
    for step in 0..=99u64 {
        let fraction = step as f64 / 100.0;
        let value = 1000.0 + 1000.0 * fraction / 0.99;
        let inverse = 1.0 / (1.0 - fraction);
        text += &format!("{value:12.3} {fraction:.12} {:10} {inverse:14.2}\n", step * 100);
    }
    for (value, fraction) in [(6000.0, 0.999), (10_000.0, 1.0)] {
        text += &format!("{value:12.3} {fraction:.12} {:10}\n", 10_000);
    }
    text + "#[Mean    =     1530.000, StdDeviation   =      450.000]\n"
}

fn service() -> Service {
    let catalog = Catalog::embedded();
    let config = parse(CONFIG, "v.toml", &catalog, &mut |path| match path {
        "far.hgrm" => Ok(histogram()),
        other => Err(format!("there is no {other}")),
    });
    Service::start(0, catalog, config.expect("a valid configuration")).expect("no broken rules")
}

/// A connection to an endpoint, and the volume with the same name.
fn connect(service: &mut Service, name: &str) -> (ConnectionId, VolumeId) {
    let endpoint = endpoint_id(service, name);
    let connection = service.connect(endpoint, "a:1", "a");
    (connection, id_of(service, name))
}

/// The sorted delays of requests at an endpoint.
fn delays(endpoint: &str, procedure: Procedure, requests: u64) -> Vec<u64> {
    let mut service = service();
    let (connection, volume) = connect(&mut service, endpoint);
    let (mut out, mut delays) = (Vec::new(), Vec::new());
    for token in 0..requests {
        let now_ns = token * 10_000;
        let arrival = service.arrive(now_ns, connection, volume, procedure, 8192, token);
        assert_eq!(arrival.map(Arrival::due), Ok(None), "each is deferred");
        if token % 64 == 0 {
            service.advance(now_ns, &mut out);
        }
    }
    service.advance(u64::MAX, &mut out);
    delays.extend(out.iter().map(|due| {
        assert_eq!(due.qos_delay_ns, 0, "no limit is in force");
        due.due_ns - due.arrived_ns
    }));
    assert_eq!(delays.len() as u64, requests);
    delays.sort_unstable();
    delays
}

#[track_caller]
fn assert_percentile(delays: &[u64], fraction: f64, expected_ns: f64) {
    let actual_ns = delays[(fraction * (delays.len() - 1) as f64) as usize] as f64;
    // Above the 99.9th percentile there are 200 requests; its standard error is about 1.3 %. The seed
    // is fixed, so no run fails by chance.
    let tolerance = if fraction > 0.99 { 0.03 } else { 0.01 };
    let error = (actual_ns / expected_ns - 1.0).abs();
    assert!(error < tolerance, "{actual_ns} ns instead of {expected_ns} ns at {fraction}");
}

#[test]
fn lognormal_reads_at_a_near_endpoint_have_the_configured_percentiles() {
    let delays = delays("near", Procedure::Read, REQUESTS);
    // sigma = ln(2 ms / 300 us) / 2.32635, which gives a 99.9th percentile of 3.729 ms.
    let sigma = (2000.0f64 / 300.0).ln() / NORMAL[1].1;
    for (fraction, normal) in NORMAL {
        assert_percentile(&delays, fraction, 300_000.0 * (sigma * normal).exp());
    }
    assert_percentile(&delays, 0.99, 2_000_000.0);
    assert_percentile(&delays, 0.999, 3_729_000.0);
}

#[test]
fn lognormal_writes_at_a_far_endpoint_have_the_configured_percentiles() {
    let delays = delays("far", Procedure::Write, REQUESTS);
    let sigma = (4000.0f64 / 1500.0).ln() / NORMAL[1].1;
    for (fraction, normal) in NORMAL {
        assert_percentile(&delays, fraction, 1_500_000.0 * (sigma * normal).exp());
    }
}

#[test]
fn constant_writes_have_exactly_the_configured_delay() {
    let delays = delays("near", Procedure::Write, REQUESTS);
    assert_eq!((delays[0], delays[delays.len() - 1]), (700_000, 700_000));
}

#[test]
fn measured_reads_have_the_percentiles_of_the_file() {
    let delays = delays("far", Procedure::Read, REQUESTS);
    let expected = [
        (0.25, 1_252_525.0),
        (0.5, 1_505_050.5),
        (0.9, 1_909_090.9),
        (0.99, 2_000_000.0),
        (0.995, 4_222_222.0),
        (0.999, 6_000_000.0),
    ];
    for (fraction, expected_ns) in expected {
        assert_percentile(&delays, fraction, expected_ns);
    }
    assert!(delays[0] >= 1_000_000 && delays[delays.len() - 1] <= 10_000_000);
}

#[test]
fn procedures_other_than_read_and_write_are_delayed_like_reads() {
    let other = delays("far", Procedure::Getattr, 1000);
    assert_eq!(other, delays("far", Procedure::Read, 1000));
}

#[test]
fn a_delay_starts_when_limits_release_a_request_even_if_the_wakeup_is_late() {
    let text = CONFIG.replace("enforced = false", "refill_interval = \"0\"");
    let catalog = Catalog::embedded();
    let config = parse(&text, "v.toml", &catalog, &mut |_| Ok(histogram())).expect("valid");
    let mut service = Service::start(0, catalog, config).expect("no broken rules");
    let (connection, volume) = connect(&mut service, "near");
    for token in 0..1024 {
        let arrival = service.arrive(0, connection, volume, Procedure::Write, 65_536, token);
        assert_eq!(arrival.map(Arrival::due), Ok(None));
    }
    let mut out = Vec::new();
    // One wake-up for a second: at 64 MiB/s it has 1,024 requests of 64 KiB.
    service.advance(1_000_000_000, &mut out);
    assert_eq!(out.len(), 1024);
    for (number, due) in out.iter().enumerate() {
        let released_ns = (number as u64 * 1_000_000_000).div_ceil(1024);
        assert_eq!((due.token, due.qos_delay_ns), (number as u64, released_ns));
        assert_eq!(due.due_ns, released_ns + 700_000);
    }
}
