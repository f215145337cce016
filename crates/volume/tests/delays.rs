//! The time that storage takes, as the service's answers show it, against its definition.

use cloud::catalog::Catalog;
use volume::config::parse;
use volume::service::{Connection, Service, VolumeKey};
use volume::witness::Procedure;

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

/// As HdrHistogram prints it: uniform from 1 ms to 2 ms with one request of a hundred in a tail
/// that reaches to 10 ms.
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
    Service::start(0, catalog, config.expect("it is right")).expect("it keeps rules")
}

fn at(service: &mut Service, place: &str) -> (Connection, VolumeKey) {
    let endpoint = service.endpoint_key(place).expect("it is there");
    let connection = service.connect(endpoint, "a:1", "a");
    (connection, service.volume_key(place).expect("it is there"))
}

/// Delays of requests, sorted.
fn seen(place: &str, procedure: Procedure, requests: u64) -> Vec<u64> {
    let mut service = service();
    let (connection, volume) = at(&mut service, place);
    let (mut out, mut delays) = (Vec::new(), Vec::new());
    for token in 0..requests {
        let now_ns = token * 10_000;
        let held = service.arrive(now_ns, connection, volume, procedure, 8192, token);
        assert_eq!(held, Ok(None), "each takes its time");
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

fn holds(delays: &[u64], fraction: f64, wanted_ns: f64) {
    let seen_ns = delays[(fraction * (delays.len() - 1) as f64) as usize] as f64;
    // At the 99.9th percentile 200 requests are above; its own error is 1.3 % or so.
    let share = if fraction > 0.99 { 0.03 } else { 0.01 };
    let what = format!("{seen_ns} ns instead of {wanted_ns} ns at {fraction}");
    assert!((seen_ns / wanted_ns - 1.0).abs() < share, "{what}");
}

#[test]
fn lognormal_reads_from_near_have_their_percentiles() {
    let delays = seen("near", Procedure::Read, REQUESTS);
    // sigma = ln(2 ms / 300 us) / 2.32635; the 99.9th percentile follows: 3.729 ms.
    let sigma = (2000.0f64 / 300.0).ln() / NORMAL[1].1;
    for (fraction, normal) in NORMAL {
        holds(&delays, fraction, 300_000.0 * (sigma * normal).exp());
    }
    holds(&delays, 0.99, 2_000_000.0);
    holds(&delays, 0.999, 3_729_000.0);
}

#[test]
fn lognormal_writes_from_afar_have_theirs() {
    let delays = seen("far", Procedure::Write, REQUESTS);
    let sigma = (4000.0f64 / 1500.0).ln() / NORMAL[1].1;
    for (fraction, normal) in NORMAL {
        holds(&delays, fraction, 1_500_000.0 * (sigma * normal).exp());
    }
}

#[test]
fn constant_writes_from_near_take_exactly_that() {
    let delays = seen("near", Procedure::Write, REQUESTS);
    assert_eq!((delays[0], delays[delays.len() - 1]), (700_000, 700_000));
}

#[test]
fn measured_reads_from_afar_have_the_percentiles_of_the_file() {
    let delays = seen("far", Procedure::Read, REQUESTS);
    let known = [
        (0.25, 1_252_525.0),
        (0.5, 1_505_050.5),
        (0.9, 1_909_090.9),
        (0.99, 2_000_000.0),
        (0.995, 4_222_222.0),
        (0.999, 6_000_000.0),
    ];
    for (fraction, wanted_ns) in known {
        holds(&delays, fraction, wanted_ns);
    }
    assert!(delays[0] >= 1_000_000 && delays[delays.len() - 1] <= 10_000_000);
}

#[test]
fn whatever_is_neither_read_nor_write_takes_the_time_of_a_read() {
    let other = seen("far", Procedure::Getattr, 1000);
    assert_eq!(other, seen("far", Procedure::Read, 1000));
}

#[test]
fn a_delay_begins_when_the_limits_let_go_and_not_when_one_wakes() {
    let text = CONFIG.replace("enforced = false", "refill_interval = \"0\"");
    let catalog = Catalog::embedded();
    let config = parse(&text, "v.toml", &catalog, &mut |_| Ok(histogram())).expect("it is right");
    let mut service = Service::start(0, catalog, config).expect("it keeps rules");
    let (connection, volume) = at(&mut service, "near");
    for token in 0..1024 {
        let taken = service.arrive(0, connection, volume, Procedure::Write, 65_536, token);
        assert_eq!(taken, Ok(None));
    }
    let mut out = Vec::new();
    // One wake for all of a second: 64 MiB/s are 1,024 of 64 KiB.
    service.advance(1_000_000_000, &mut out);
    assert_eq!(out.len(), 1024);
    for (place, due) in out.iter().enumerate() {
        let released_ns = (place as u64 * 1_000_000_000).div_ceil(1024);
        assert_eq!((due.token, due.qos_delay_ns), (place as u64, released_ns));
        assert_eq!(due.due_ns, released_ns + 700_000);
    }
}
