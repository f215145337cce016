//! Limits are found at their value, and at the queue depth given by Little's law.

use analysis::{Findings, analyze};
use sim::nfs_setup::{Client, Incident, Setup};
use sim::nfs_world::{experiment, simulate};
use volume::delay::Distribution;
use workload::experiment::parse;
use workload::plan::{Plan, Stream, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

use crate::setups::{
    CLOSED, MIB, MS, S, SEEDS, VOLUME, assert_near, assert_whole, calls, described, run, size,
    stream, throughput, volume, volume_of,
};

/// Round trip.
const WIRE_NS: u64 = 20_000;

/// A sweep over queue depths in the form that a user writes.
fn sweep(transfer_size: &str, queue_depths: &str) -> Plan {
    let text = format!(
        "name = \"sweep\"\n[run]\nwarm_up = \"500ms\"\nmeasure = \"2s\"\ninterval = \"250ms\"\n\
         [stream.reader]\nread = \"100%\"\ntransfer_size = \"{transfer_size}\"\n\
         pattern = \"random\"\nfiles = 2\nfile_size = \"512MiB\"\nqueue_depth = [{queue_depths}]\n"
    );
    let experiment = parse(&text, "sweep").unwrap_or_else(|wrong| panic!("{wrong:#?}"));
    let options = ResolveOptions::LOCAL;
    resolve(&experiment, "sweep", TargetSpec::Null, &options)
        .unwrap_or_else(|wrong| panic!("{wrong:#?}"))
}

/// `(queue depth, MiB/s, mean response time in seconds, mean outstanding)` of each load point.
fn points(findings: &Findings) -> Vec<(f64, f64, f64, f64)> {
    let point = |point: &analysis::load_point::LoadPoint| {
        let total = &point.merged.total;
        (
            point.queue_depth_total as f64,
            total.data.throughput.unwrap().value / MIB,
            total.data.response.mean_ns.unwrap().value / 1e9,
            total.outstanding_mean.unwrap().value,
        )
    };
    findings.load_points.iter().map(point).collect()
}

/// A volume of 64 MiB/s and 1 ms, with all numbers of connections and all seeds.
fn saturates(transfer_size: &str, size_bytes: f64, queue_depths: &str) {
    let limit = 64.0 * MIB / size_bytes;
    let alone_s = 1e-3 + WIRE_NS as f64 / 1e9;
    // Little's law: what the limit passes in the time of a single operation.
    let knee = limit * alone_s;
    for (seed, nconnect) in SEEDS.into_iter().zip([1, 4, 16]) {
        let client = Client::of(nconnect);
        let setup = Setup { client, ..Setup::new(volume(Some(64), MS), VOLUME) };
        let findings = analyze(&experiment(&sweep(transfer_size, queue_depths), &setup, seed));
        let points = points(&findings);
        assert!(points.len() >= 4);
        for (depth, throughput, response_s, outstanding) in points {
            let what = format!("{transfer_size}, {nconnect} connections, queue depth {depth}");
            let rate = if depth < knee { depth / alone_s } else { limit };
            assert_near(throughput, rate * size_bytes / MIB, 0.005, &what);
            assert_near(response_s, depth / rate, 0.005, &what);
            assert_near(outstanding, depth, 0.005, &what);
        }
        let curve = &findings.curves[0];
        let saturation = curve.points[curve.most.expect("it saturates")].x;
        assert!((knee..4.0 * knee + 2.0).contains(&saturation), "{saturation}, the knee is {knee}");
    }
}

#[test]
fn saturation_is_the_limit_at_the_queue_depth_of_littles_law() {
    saturates("8KiB", 8192.0, "1, 4, 8, 16, 32, 64");
}

#[test]
fn large_transfers_saturate_at_a_small_queue_depth() {
    saturates("64KiB", 65536.0, "1, 2, 4, 8, 16");
}

#[test]
fn response_time_at_queue_depth_one_is_that_of_storage_and_network() {
    for (nconnect, size_bytes) in [(1, 8192), (4, 65536), (16, 8192)] {
        let client = Client::of(nconnect);
        let setup = Setup { client, ..Setup::new(volume(Some(64), MS), VOLUME) };
        let stream = Stream { transfer_sizes: size(size_bytes), ..stream(CLOSED, 1) };
        let simulated = simulate(&run(vec![stream], S / 2, S), &setup, 1);
        let reads = crate::setups::kind(&simulated.record, workload::op::OpKind::Read);
        // Exact to the nanosecond, because nothing else takes time.
        let mean_ns = reads.response.mean_ns().unwrap();
        assert_eq!((mean_ns as u64, reads.response.max_ns), (MS + WIRE_NS, MS + WIRE_NS));
    }
}

#[test]
fn connections_multiply_the_flow_limit_up_to_the_volume_limit() {
    for seed in SEEDS {
        let config = volume_of(Some(64), Some(4), Distribution::Constant { ns: MS });
        for (nconnect, expected) in [(1, 4.0), (2, 8.0), (8, 32.0), (16, 64.0), (32, 64.0)] {
            let client = Client::of(nconnect);
            let setup = Setup { client, ..Setup::new(config.clone(), VOLUME) };
            let stream = Stream { transfer_sizes: size(65536), ..stream(CLOSED, 128) };
            let simulated = simulate(&run(vec![stream], 5 * S, S), &setup, seed);
            assert_whole(&simulated);
            let record = &simulated.record;
            let what = format!("{nconnect} connections");
            assert_near(throughput(record, 0, 1..5), expected, 0.005, &what);
            let of_one = calls(record, workload::op::OpKind::Read, Some(nconnect - 1)).bytes;
            let all = calls(record, workload::op::OpKind::Read, None).bytes;
            assert_near(of_one as f64 * f64::from(nconnect), all as f64, 0.1, &what);
        }
    }
}

/// Two volumes of 64 MiB/s each on an endpoint of 48 MiB/s.
const SHARED: &str = r#"
[[endpoint]]
name = "ep1"
address = "127.0.0.1:0"
throughput = "48MiB/s"
[[pool]]
name = "pool1"
service_level = "premium"
size = "4TiB"
qos = "auto"
[[volume]]
name = "one"
pool = "pool1"
quota = "1TiB"
endpoints = "ep1"
[[volume]]
name = "two"
pool = "pool1"
quota = "1TiB"
endpoints = "ep1"
[delay]
read = "1ms"
"#;

#[test]
fn two_volumes_on_one_endpoint_share_its_limit() {
    for seed in SEEDS {
        let volumes = vec!["one".to_owned(), "two".to_owned()];
        let setup = Setup { volumes, ..Setup::new(described(SHARED), "one") };
        let of = |name: &str| Stream {
            name: name.to_owned(),
            transfer_sizes: size(65536),
            ..stream(CLOSED, 32)
        };
        let simulated = simulate(&run(vec![of("a"), of("b")], 5 * S, S), &setup, seed);
        assert_whole(&simulated);
        let [one, two] = [0, 1].map(|stream| throughput(&simulated.record, stream, 1..5));
        assert_near(one + two, 48.0, 0.005, "together");
        assert_near(one, 24.0, 0.02, "half for each");
        let alone = simulate(&run(vec![of("a")], 5 * S, S), &setup, seed);
        assert_near(throughput(&alone.record, 0, 1..5), 48.0, 0.005, "one alone");
    }
}

#[test]
fn a_limit_changed_under_load_applies_immediately_and_loses_nothing() {
    for seed in SEEDS {
        let change = |limit| Incident::Change(Box::new(volume(Some(limit), MS)));
        let incidents = vec![(S, change(16)), (2 * S, change(128))];
        let client = Client::of(4);
        let setup = Setup { incidents, client, ..Setup::new(volume(Some(64), MS), VOLUME) };
        let stream = Stream { read_permille: 700, ..stream(CLOSED, 256) };
        let simulated = simulate(&run(vec![stream], 3 * S, S / 20), &setup, seed);
        assert_whole(&simulated);
        let record = &simulated.record;
        // From the interval of the change on, without the burst at the beginning.
        for (intervals, limit) in [(1..20, 64.0), (20..40, 16.0), (40..60, 128.0)] {
            let seen = throughput(record, 0, intervals.clone());
            assert_near(seen, limit, 0.01, &format!("intervals {intervals:?}"));
            let first = throughput(record, 0, intervals.start..intervals.start + 1);
            assert_near(first, limit, 0.2, "in the first 50 ms");
        }
        assert_eq!(crate::setups::repeats(record), (0, 0), "no connection was lost");
        crate::service_counters::assert_agree(&simulated);
    }
}
