//! Known answers for connections and for an emulated volume.

use crate::records::{
    connection, done, emulated_volume, experiment, kind, over_connections,
    over_connections_of_two_hosts_and_targets, reads, run, stream,
};
use analysis::analyze;
use analysis::connections::ConnectionSummary;
use metrics::warning::Warning;
use workload::op::OpKind;

#[test]
fn each_connection_is_summarised_over_the_window() {
    let findings = analyze(&experiment(vec![over_connections(&[1000, 3000])]));
    let connections = &findings.load_points[0].runs[0].connections;
    assert_eq!(connections.len(), 2);
    let second = &connections[1];
    assert_eq!((second.stream.as_str(), second.lane, second.number), ("data", 0, 1));
    assert_eq!(
        (second.local.as_str(), second.remote.as_str()),
        ("127.0.0.1:40001", "127.0.0.1:2049")
    );
    // Five of the six seconds are the window.
    assert_eq!((second.operations, second.calls, second.bytes), (15_000, 15_000, 15_000 * 8192));
    assert_eq!(second.rate.unwrap().value, 3000.0);
    assert_eq!(second.throughput.unwrap().value, 3000.0 * 8192.0);
    assert_eq!(second.outstanding_mean.unwrap().value, 16.0);
    assert_eq!(second.rtt_mean_ns.unwrap().value, 50_000.0);
    assert_eq!((second.retransmits, second.reconnects), (5, 0));
}

#[test]
fn each_connection_belongs_to_a_host_and_a_target() {
    let record = over_connections_of_two_hosts_and_targets(&[1000, 1100, 900, 1000]);
    let findings = analyze(&experiment(vec![record]));
    let owners = |one: &ConnectionSummary| (one.lane, one.host, one.target);
    let found: Vec<_> = findings.load_points[0].runs[0].connections.iter().map(owners).collect();
    assert_eq!(found, [(0, 0, 0), (1, 0, 1), (2, 1, 0), (3, 1, 1)]);
}

#[test]
fn connections_that_differ_by_more_than_a_fifth_are_uneven() {
    let codes = |calls: &[u64]| {
        let findings = analyze(&experiment(vec![over_connections(calls)]));
        findings.warnings.iter().map(|group| group.code).collect::<Vec<_>>()
    };
    assert!(!codes(&[1000, 1000, 1000, 1190]).contains(&"connections_uneven"));
    assert!(codes(&[1000, 1000, 1000, 1300]).contains(&"connections_uneven"));
    // Chance alone.
    assert!(!codes(&[100, 100, 100, 190]).contains(&"connections_uneven"));
}

#[test]
fn a_reconnection_outside_the_window_is_reported() {
    let mut record = over_connections(&[1000, 1000]);
    record.intervals[0].connections[1].reconnects = 2;
    record.intervals[3].connections[1].replays = 7;
    let findings = analyze(&experiment(vec![record]));
    let group =
        findings.warnings.iter().find(|group| group.code == "connection_reestablished").unwrap();
    let expected = Warning::ConnectionReestablished { connections: 1, reconnects: 2, replays: 7 };
    assert_eq!(group.sightings[0].warning, expected);
}

#[test]
fn a_server_restart_is_reported_once_with_all_rewritten_data() {
    let mut record = over_connections(&[1000, 1000, 1000]);
    let [first, second, third] = &mut record.intervals[2].connections[..] else { panic!() };
    // Two connections of one worker, one of another: both workers saw the second change too.
    third.lane = 1;
    (first.verifier_changes, first.rewritten_bytes) = (1, 8192);
    (second.verifier_changes, second.rewritten_bytes) = (1, 4096);
    (third.verifier_changes, third.rewritten_bytes) = (1, 100);
    let findings = analyze(&experiment(vec![record]));
    let warning = findings.warnings.iter().find(|group| group.code == "server_restarted").unwrap();
    let expected = Warning::ServerRestarted { times: 2, rewritten_bytes: 12_388 };
    assert_eq!(warning.sightings[0].warning, expected);

    let findings = analyze(&experiment(vec![over_connections(&[1000, 1000])]));
    assert!(findings.warnings.iter().all(|group| group.code != "server_restarted"));
}

#[test]
fn a_record_without_connections_has_no_summaries_of_them() {
    let record = done(run("v", vec![stream("data", 1)], 0, 5), vec![reads(100, 8192, 10); 5]);
    let findings = analyze(&experiment(vec![record]));
    assert!(findings.load_points[0].runs[0].connections.is_empty());
    assert!(findings.emulated.is_none());
}

#[test]
fn an_emulated_volumes_settings_are_with_its_measurements() {
    let at = |variant: &str, depth: u32, rate: u64, time_ns: u64, of: OpKind| {
        let mut second = reads(rate, 65_536, time_ns);
        if of == OpKind::Write {
            second.kinds = Default::default();
            second.kinds[OpKind::Write as usize] = kind(rate, 65_536, time_ns, time_ns);
        }
        done(run(variant, vec![stream("data", depth)], 0, 5), vec![second; 5])
    };
    let mut record = experiment(vec![
        at("read", 1, 1_700, 450_000, OpKind::Read),
        at("read", 16, 2_048, 7_800_000, OpKind::Read),
        at("slower read", 1, 1_000, 900_000, OpKind::Read),
        at("write", 4, 2_000, 350_000, OpKind::Write),
    ]);
    *record.plan.target_mut() = emulated_volume();
    let found = analyze(&record).emulated.unwrap();
    let throughput = found.throughput.unwrap();
    assert_eq!((throughput.load_point, throughput.value.value), (1, 128.0 * 1_048_576.0));
    let read = found.read.unwrap();
    assert_eq!((read.load_point, read.value.value), (0, 450_000.0));
    assert!(found.write.is_none(), "no load point wrote at queue depth 1");
    assert_eq!(analyze(&record).repeat_command, "fourcorners run --profile four-corners");
    assert_eq!(analyze(&record).target, "emulated volume (1 TiB Ultra)");
    assert_eq!(connection(0, 1, 1).bytes(), 8192);
}
