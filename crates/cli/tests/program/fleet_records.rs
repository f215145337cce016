//! `predict --against`, `size --from-run` and `expect --run` with the record of a fleet that measured
//! volumes with known limits.

use serde_json::Value;

use crate::fleet_runs::number;
use crate::harness::TestDir;

const MIB: f64 = 1024.0 * 1024.0;
/// The limit of 512 GiB Premium.
const LIMIT_BYTES_PER_S: f64 = 32.0 * MIB;
/// Bytes of an operation.
const TRANSFER: f64 = 65_536.0;
/// Throughput of a Premium quota.
const KIB_PER_S_OF_GIB: u64 = 64;

/// Two volumes, each at its limit with the queue depth of one host.
const VOLUMES: &str = r#"
name = "fleet"
[target.vol1]
service_level = "premium"
quota = "512GiB"
[target.vol2]
service_level = "premium"
quota = "512GiB"
[run]
warm_up = "500ms"
measure = "2s"
interval = "250ms"
[stream.main]
read = "100%"
transfer_size = "64KiB"
pattern = "random"
files = 2
file_size = "4MiB"
queue_depth = 8
"#;

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("it is JSON")
}

fn value(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of} is no number"))
}

/// `(bytes per second, operations per second)` of a load point, all hosts and targets together.
fn rates(point: &Value) -> (f64, f64) {
    let data = &point["merged"]["total"]["data"];
    let of = |name: &str| value(&data[name]["value"]);
    (of("throughput_bytes_per_sec"), of("achieved_rate_ops_per_sec"))
}

/// `(hosts, targets)` of a load point.
fn counts(point: &Value) -> (usize, usize) {
    let count = |name: &str| point[name].as_array().map_or(1, Vec::len);
    (count("hosts"), count("targets"))
}

fn topology(hosts: usize, volumes: usize) -> String {
    format!(
        "name = \"fleet\"\nfloor = \"1ms\"\nfloor_spread = 0\n[[host]]\ncount = {hosts}\n[[volume]]\n\
         count = {volumes}\nthroughput = \"32MiB/s\"\n[[workload]]\ntransfer_size = \"64KiB\"\n\
         read = \"100%\"\npattern = \"random\"\noutstanding = 64\n"
    )
}

#[test]
fn a_prediction_and_a_requirement_are_those_of_all_hosts_and_volumes_of_a_record() {
    let dir = TestDir::new();
    dir.file("fleet.toml", VOLUMES);
    let sweep = ["--set", "run.hosts=1,2", "--set", "run.targets=1,2"];
    let run = ["run", "-w", "fleet.toml", "--hosts", "local:2", "--json"];
    let results = parsed(&dir.measured(&[&run[..], &sweep].concat()));
    let points = results["load_points"].as_array().expect("a list");
    assert_eq!(points.len(), 4);
    for point in points {
        let (hosts, volumes) = counts(point);
        let (throughput, rate) = rates(point);
        let of_limit = throughput / (LIMIT_BYTES_PER_S * volumes as f64);
        assert!((0.8..1.2).contains(&of_limit), "{hosts} hosts, {volumes} volumes: {of_limit}");

        // The prediction has the limit of all volumes, and only the load point that it is about.
        dir.file("topology.toml", &topology(hosts, volumes));
        let predicted = ["predict", "topology.toml", "--against", "last", "--json"];
        let json = parsed(&dir.ok(&predicted));
        assert_eq!(json["requested"]["bounded_by"]["kind"], "volume_limit");
        let limit = LIMIT_BYTES_PER_S * volumes as f64;
        assert_eq!(value(&json["requested"]["bytes_per_s"]["value"]), limit);
        let [compared] = &json["against_measured"][0]["points"].as_array().expect("a list")[..]
        else {
            panic!("{}", json["against_measured"])
        };
        assert!((value(&compared["measured_ops_per_s"]) / rate - 1.0).abs() < 1e-6, "{compared}");
        let predicted = value(&compared["predicted_ops_per_s"]);
        assert!((predicted - limit / TRANSFER).abs() < 0.5, "{compared}");
    }

    // A topology of another size is compared with none of them.
    for (hosts, volumes) in [(3, 2), (2, 3)] {
        dir.file("topology.toml", &topology(hosts, volumes));
        let ended = dir.run(&["predict", "topology.toml", "--against", "last"]);
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        let required = format!("100 % reads, {hosts} hosts, {volumes} volumes)");
        for expected in [required.as_str(), "1 host, 1 volume", "2 hosts, 2 volumes"] {
            assert!(words.contains(expected), "`{expected}` in {words}");
        }
    }

    // A design carries the throughput of both volumes, and the files of both.
    let most = points.iter().map(|point| rates(point).0).fold(0.0, f64::max);
    let json = parsed(&dir.ok(&["size", "--from-run", "last", "--level", "premium", "--json"]));
    let part = &json["need"]["parts"][0];
    let required = number(&part["demands"][0], "throughput_kib_s");
    assert!((required as f64 - most / 1024.0).abs() <= 1.0, "{required}: {most}");
    let volumes = json["designs"][0]["pools"][0]["volumes"].as_array().expect("a list").iter();
    let quota: u64 = volumes.map(|one| number(one, "quota_gib") * number(one, "count")).sum();
    assert!(quota >= required.div_ceil(KIB_PER_S_OF_GIB), "{quota} GiB for {required} KiB/s");
    let text = dir.ok(&["size", "--from-run", "last", "--level", "premium", "--full"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("the volumes hold the files of the record, 16 MiB"), "{text}");
}

#[test]
fn published_figures_are_compared_with_the_hosts_volumes_and_connections_of_a_record() {
    let dir = TestDir::new();
    // The second volume has twice the limit: the mean is 48 MiB/s.
    let (first, second) = VOLUMES.split_once("[target.vol2]").expect("there are two");
    let second = second.replacen("512GiB", "1TiB", 1);
    dir.file("fleet.toml", &format!("{first}[target.vol2]{second}"));
    let more = ["--hosts", "local:2", "--set", "run.nconnect=3", "--json", "--no-progress"];
    let results = parsed(&dir.measured(&[&["run", "-w", "fleet.toml"], &more[..]].concat()));
    let point = &results["load_points"][0];
    assert_eq!(counts(point), (2, 2));
    let connections = point["runs"][0]["connections"].as_array().expect("a list").len() as u64;

    let json = parsed(&dir.ok(&["expect", "--run", "last", "--json"]));
    let one = &json["expectations"][0];
    assert_eq!((number(one, "hosts"), number(one, "volumes")), (2, 2));
    assert_eq!(number(one, "nconnect") * 2, connections, "those of each host");
    assert_eq!(number(one, "outstanding"), 32);
    assert_eq!(value(&one["limit_bytes_per_sec"]), 48.0 * MIB);
    assert_eq!(one["predicted"]["bounded_by"]["kind"], "volume_limit");
    let (throughput, rate) = rates(point);
    assert!((value(&one["measured"]["ops_per_s"]) / rate - 1.0).abs() < 1e-6, "{one}");
    let reached = throughput / value(&one["predicted"]["bytes_per_s"]["value"]);
    assert!((0.8..1.2).contains(&reached), "{reached}: {one}");
    let basis = json["basis"].to_string();
    for words in [
        "From the record: 2 machines, 2 volumes.",
        "Throughput limit of each volume: 48.00 MiB/s (the mean of unequal limits).",
        "Assumed: regular volumes.",
    ] {
        assert!(basis.contains(words), "`{words}` in {basis}");
    }

    // The record's own report has the same.
    let shown = parsed(&dir.ok(&["show", "last", "--published", "--json"]));
    assert_eq!(shown["published"]["expectations"], json["expectations"]);
    // The user's numbers replace those of the record.
    let given = ["expect", "--run", "last", "--json", "--clients", "1", "--volumes", "4"];
    let given = parsed(&dir.ok(&given));
    let one = &given["expectations"][0];
    assert_eq!((number(one, "hosts"), number(one, "volumes")), (1, 4));
    assert!(given["basis"].to_string().contains("As given: 1 machine, 4 volumes."), "{given}");
}
