//! Connections and the settings of an emulated volume in every output.

use crate::fixture;
use crate::fixture::records::{
    done, emulated_volume, experiment, over_connections, over_connections_of_two_hosts_and_targets,
    reads, run, stream,
};
use analysis::{Findings, analyze};
use metrics::fleet::FleetHost;
use metrics::service_counters::ServiceCounters;
use report::{connections, html, json, text};
use serde_json::Value;

fn findings() -> Findings {
    let mut record = experiment(vec![over_connections(&[4000, 4100, 3900, 4000])]);
    *record.plan.target_mut() = emulated_volume();
    // Six seconds of 16,000 reads.
    let calls = workload::op::OpKind::data_counts([96_000, 0, 0]);
    let counters = ServiceCounters { calls, read_bytes: 96_000 * 8192, ..Default::default() };
    record.runs[0].service_counters = Some(counters);
    analyze(&record)
}

#[test]
fn a_limit_is_stated_with_the_rate_of_the_precise_runs_that_reached_it() {
    // A stalled run and two at the limit of 128 MiB/s: the plain mean is far below it.
    let run = |repeat: u32, rates: [u64; 6]| {
        let each = rates.map(|rate| reads(rate, 8192, 970_000));
        let mut done =
            done(run("random read 8 KiB", vec![stream("data", 16)], 0, 6), each.to_vec());
        done.run.repeat = repeat;
        done
    };
    let stalled = [16_384, 200, 9000, 100, 300, 200];
    let mut record = experiment(vec![run(0, stalled), run(1, [16_384; 6]), run(2, [16_383; 6])]);
    *record.plan.target_mut() = emulated_volume();
    let table = text::summary(&analyze(&record), 80);
    let flat = table.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = "128.00 MiB/s at queue depth 16 (runs weighted by their precision), 100 % of the \
                 configured 128.00 MiB/s (1 TiB x Ultra)";
    assert!(flat.contains(words), "{table}");
}

#[test]
fn the_text_lists_each_connection_and_the_settings_of_the_volume() {
    let table = text::summary(&findings(), 80);
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let from = table.find("Emulated volume").unwrap();
    let to = table.find("\nWarnings").unwrap_or(table.len());
    expect_test::expect![[r#"
        Emulated volume
          setting                 configured measured load point
          throughput limit, MiB/s        128      125 highest throughput: random read
                                                      8 KiB, queue_depth=64
          read delay, µs                 400        - no load point shows it
          write delay, µs                300        - no load point shows it
          The service and the generator counted the same in the run: 96,000 calls,
          786,432,000 bytes.

        Connections at random read 8 KiB, queue_depth=64
          worker   remote          rate throughput     out-  RTT retrans-
                                  ops/s      MiB/s standing   µs missions
          data 0.0 127.0.0.1:2049 4,000       31.2     16.0 50.0    5/0/0
          data 0.1 127.0.0.1:2049 4,100       32.0     16.0 50.0    5/0/0
          data 0.2 127.0.0.1:2049 3,900       30.5     16.0 50.0    5/0/0
          data 0.3 127.0.0.1:2049 4,000       31.2     16.0 50.0    5/0/0

        Bottleneck
          random read 8 KiB: Not enough data to tell whether throughput still rises with
          load.
          - 16,000 ops/s, 125.00 MiB/s at queue depth 64: a single load point does not
            show whether throughput still rises.
          - 125.00 MiB/s are 98 % of the volume's throughput limit (128.00 MiB/s, 1 TiB
            x Ultra).
          What to do:
          - More load shows where throughput stops rising. Add to the command:
            `--set queue_depth=1,4,16,64,256`
          - Or use `run --explain`, which runs these experiments.

        Confidence intervals
          Response times in µs, with 95 % confidence intervals (not necessarily
          symmetric). CSV and JSON have those of every load point.
          - random read 8 KiB, queue_depth=64: p50 400 (400 to 400); p99 400 (400 to
            400); p99.9 400 (400 to 400); busiest worker: 50 % CPU (± 0.0 %)
    "#]]
    .assert_eq(&table[from..to]);
}

/// Two hosts with a connection to each of two targets.
fn of_two_hosts_and_targets() -> Findings {
    let run = over_connections_of_two_hosts_and_targets(&[4000, 4100, 3900, 4000]);
    let mut record = experiment(vec![run]);
    record.plan.targets.push(record.plan.targets[0].clone());
    record.plan.target_names = ["vol1", "vol2"].map(str::to_owned).to_vec();
    record.hosts = ["vm01", "vm02"]
        .map(|name| FleetHost { name: name.to_owned(), ..FleetHost::default() })
        .to_vec();
    analyze(&record)
}

#[test]
fn each_connection_of_several_hosts_and_targets_is_named_with_both_in_every_output() {
    let findings = of_two_hosts_and_targets();
    let table = text::summary(&findings, 80);
    let from = table.find("Connections at").unwrap();
    let to = from + table[from..].find("\n\n").unwrap() + 1;
    expect_test::expect![[r#"
        Connections at random read 8 KiB, queue_depth=64
          host target worker   remote          rate throughput     out-  RTT retrans-
                                              ops/s      MiB/s standing   µs missions
          vm01 vol1   data 0.0 127.0.0.1:2049 4,000       31.2     16.0 50.0    5/0/0
          vm01 vol2   data 1.0 127.0.0.1:2049 4,100       32.0     16.0 50.0    5/0/0
          vm02 vol1   data 2.0 127.0.0.1:2049 3,900       30.5     16.0 50.0    5/0/0
          vm02 vol2   data 3.0 127.0.0.1:2049 4,000       31.2     16.0 50.0    5/0/0
    "#]]
    .assert_eq(&table[from..to]);

    let mut out = Vec::new();
    connections::write_csv(&findings, &mut out).unwrap();
    let csv = String::from_utf8(out).unwrap();
    let ends: Vec<&str> = csv.lines().map(|line| &line[line.len() - 10..]).collect();
    assert_eq!(ends[1..], [",vm01,vol1", ",vm01,vol2", ",vm02,vol1", ",vm02,vol2"]);

    let mut out = Vec::new();
    json::write(&findings, &mut out).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    let third = &document["load_points"][0]["runs"][0]["connections"][2];
    assert_eq!((&third["host"], &third["target"]), (&"vm02".into(), &"vol1".into()));
    let page = html::render(&findings).unwrap();
    assert!(page.contains("<td class=\"words\">vol2</td>"));
}

#[test]
fn the_csv_export_has_a_line_for_each_connection() {
    let mut out = Vec::new();
    connections::write_csv(&findings(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 5);
    let columns = lines[0].split(',').count();
    assert!(lines.iter().all(|line| line.split(',').count() == columns), "{text}");
    assert_eq!(
        lines[2],
        "2026-11-21T06-15-33-a1b2,0,random read 8 KiB,queue_depth=64,1,data,0,1,127.0.0.1:40001,\
         127.0.0.1:2049,20500,20500,167936000,4100,33587200,16,0,50000,0,5,0,0,0,0,0,0,,"
    );
}

#[test]
fn the_reference_describes_every_column_of_connections() {
    let page = include_str!("../../../docs/reference/connections.md");
    let mut out = Vec::new();
    connections::write_csv(&findings(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let described: Vec<&str> = rows.map(|line| line.split('`').nth(1).unwrap()).collect();
    assert_eq!(described.join(","), text.lines().next().unwrap(), "in this order");
}

#[test]
fn json_and_html_have_the_same_connections() {
    let mut out = Vec::new();
    json::write(&findings(), &mut out).unwrap();
    let document: Value = serde_json::from_slice(&out).unwrap();
    let listed = document["load_points"][0]["runs"][0]["connections"].as_array().unwrap();
    assert_eq!(listed.len(), 4);
    assert_eq!(listed[1]["local"], "127.0.0.1:40001");
    assert!(listed[1].get("host").is_none() && listed[1].get("target").is_none());
    assert_eq!(listed[1]["rate_ops_per_sec"]["value"], 4100.0);
    let volume = &document["emulated_volume"];
    assert_eq!(volume["throughput_limit_bytes_per_sec"], 128 << 20);
    assert_eq!(volume["throughput_max_bytes_per_sec"]["load_point"], 0);

    let page = html::render(&findings()).unwrap();
    assert!(page.contains("<td class=\"words\">127.0.0.1:40001</td>"));
    assert!(page.contains("<td>4,100</td>"));
    assert!(page.contains("id=\"emulated\""));
    assert!(page.contains("throughput limit, 128 MiB/s"));
    assert!(
        page.contains("The service and the generator counted the same in the run: 96,000 calls")
    );
    assert_eq!(document["service_counters"]["runs_that_differ"], 0);
    let without = html::render(&analyze(&fixture::four_corners())).unwrap();
    assert!(!without.contains("id=\"connections\"") && !without.contains("id=\"emulated\""));
}
