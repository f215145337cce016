//! Operations' bytes against bytes on the wire: detected caches, allowed headers.

use crate::records;
use crate::records::{done, experiment, reads, run, stream};
use analysis::compare::flaws::FlawKind;
use analysis::compare::side::Side;
use analysis::compare::{Options, compare};
use analysis::{Findings, analyze, wire};
use metrics::fleet::{self, FleetHost, HostEvent, HostRun};
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use metrics::wire::{CounterSource, WireInterval};
use workload::op::OpKind;
use workload::plan::TargetSpec;

/// Two warm-up intervals and six of 10,000 reads of 8 KiB, with this many
/// bytes counted at each source.
fn reading(counters: &[(CounterSource, u64, u64)]) -> RunRecord {
    let mut record = done(
        run("random read 8 KiB", vec![stream("data", 4)], 2, 6),
        vec![reads(10_000, 8192, 100_000); 8],
    );
    for interval in &mut record.intervals {
        let entry =
            |(source, received_bytes, sent_bytes): &(CounterSource, u64, u64)| WireInterval {
                source: *source,
                received_bytes: *received_bytes,
                sent_bytes: *sent_bytes,
            };
        interval.wire = counters.iter().map(entry).collect();
    }
    record
}

const MOVED: u64 = 10_000 * 8192;

fn codes(record: RunRecord) -> Vec<&'static str> {
    analyze(&experiment(vec![record])).warnings.iter().map(|group| group.code).collect()
}

/// Whether there is a warning about a client cache; that of a server has another one.
fn is_served_from_cache(findings: &Findings) -> bool {
    findings.warnings.iter().any(|group| group.code == "served_from_cache")
}

#[test]
fn reads_from_a_cache_are_marked_with_their_bytes() {
    let record = reading(&[(CounterSource::BlockDevice, MOVED / 50, 4096)]);
    let findings = analyze(&experiment(vec![record]));
    assert_eq!(findings.warnings.len(), 1);
    let group = &findings.warnings[0];
    assert_eq!(group.code, "served_from_cache");
    let warning = &group.sightings[0].warning;
    assert!(matches!(warning, Warning::ServedFromCache { is_read: true, .. }), "{warning:?}");
    assert!(findings.marks(0, None).contains(group.mark), "the load point's row is marked");
    let check = findings.wire[0][0].believed().unwrap();
    // The window's six intervals, not the warm-up's.
    assert_eq!((check.read.counted, check.read.wire), (6 * MOVED, 6 * (MOVED / 50)));
    assert!((check.read.ratio().unwrap() - 0.02).abs() < 1e-6);
    assert_eq!(check.intervals.len(), 6);
}

#[test]
fn bytes_at_the_edges_of_a_short_window_may_be_missing() {
    // A fifth is missing: more than a tenth, and of half a second no more than moves in 200 ms.
    let is_marked = |record: &RunRecord| codes(record.clone()).contains(&"served_from_cache");
    let mut record = reading(&[(CounterSource::BlockDevice, MOVED / 5 * 4, 0)]);
    assert!(is_marked(&record));
    let phases = &mut record.run.phases;
    for time_ns in [&mut phases.warm_up_ns, &mut phases.measure_ns, &mut phases.interval_ns] {
        *time_ns = *time_ns * 8 / 100;
    }
    for interval in &mut record.intervals {
        interval.start_ns = interval.start_ns * 8 / 100;
        interval.end_ns = interval.end_ns * 8 / 100;
    }
    assert!(!is_marked(&record));
    for interval in &mut record.intervals {
        interval.wire[0].received_bytes = MOVED / 2;
    }
    assert!(is_marked(&record));
}

#[test]
fn reads_over_a_shared_wire_are_not_marked() {
    assert_eq!(codes(reading(&[(CounterSource::BlockDevice, MOVED, 0)])), [] as [&str; 0]);
    // With headers, and with twice as much by others: in the section, without a warning.
    let record = reading(&[(CounterSource::Interface, 3 * MOVED, MOVED / 20)]);
    let findings = analyze(&experiment(vec![record.clone()]));
    assert!(findings.wire[0][0].believed().unwrap().read.has_others());
    assert_eq!(codes(record), [] as [&str; 0]);
}

#[test]
fn the_mount_is_more_reliable_than_the_interface() {
    // Others use the interface, so the interface alone would not reveal the cache.
    let record = reading(&[
        (CounterSource::Interface, 2 * MOVED, 0),
        (CounterSource::NfsMount, MOVED / 100, 0),
    ]);
    let findings = analyze(&experiment(vec![record]));
    assert_eq!(findings.wire[0][0].believed().unwrap().source, CounterSource::NfsMount);
    assert_eq!(findings.warnings[0].code, "served_from_cache");
}

#[test]
fn the_loopback_counts_both_directions_together() {
    // 8 KiB and 300 bytes of headers for each read, in both counters of the loopback.
    let passed = MOVED + 10_000 * 300;
    let findings =
        analyze(&experiment(vec![reading(&[(CounterSource::Loopback, passed, passed)])]));
    let check = findings.wire[0][0].believed().unwrap();
    assert_eq!(check.written.ratio(), None);
    assert!((check.read.ratio().unwrap() - (1.0 + 300.0 / 8192.0)).abs() < 1e-9);
    assert!(findings.warnings.is_empty());
    // Without writes there is no text on writes.
    let findings = analyze(&experiment(vec![reading(&[(CounterSource::Loopback, 0, 0)])]));
    let [sighting] = &findings.warnings[0].sightings[..] else { panic!("reads only") };
    let nothing =
        matches!(sighting.warning, Warning::ServedFromCache { is_read: true, wire_bytes: 0, .. });
    assert!(nothing, "{sighting:?}");
}

#[test]
fn a_loopback_with_both_directions_is_not_checked() {
    let mut record = reading(&[(CounterSource::Loopback, 0, 0)]);
    for interval in &mut record.intervals {
        interval.streams[0].kinds[OpKind::Write as usize] =
            records::kind(1_000, 8192, 100_000, 100_000);
    }
    let codes = codes(record);
    assert!(!codes.iter().any(|code| code.contains("cache")), "{codes:?}");
}

#[test]
fn a_target_without_a_cache_is_never_marked() {
    let nfs = || TargetSpec::Nfs { url: "nfs://10.0.0.4/vol1".to_owned(), connections: None };
    for target in [nfs(), records::emulated_volume(), TargetSpec::Null] {
        for source in CounterSource::ALL {
            let mut record = experiment(vec![reading(&[(source, 0, 0)])]);
            *record.plan.target_mut() = target.clone();
            let findings = analyze(&record);
            assert!(!is_served_from_cache(&findings), "{target:?}: {:?}", findings.warnings);
            assert!(!findings.wire[0][0].is_cached());
        }
    }
}

#[test]
fn direct_io_bypasses_the_cache_on_known_file_systems() {
    let warned = |environment: &[(&str, &str)], direct: bool| {
        let mut run = reading(&[(CounterSource::BlockDevice, 0, 0)]);
        run.run.streams[0].direct = direct;
        let mut record = experiment(vec![run]);
        let entries = environment.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        record.environment.extend(entries);
        is_served_from_cache(&analyze(&record))
    };
    let of = |name: &'static str| ("filesystem.type", name);
    for name in ["nfs", "nfs4", "xfs", "ext4"] {
        assert!(!warned(&[of(name)], true), "{name}");
        assert!(warned(&[of(name)], false), "{name}");
    }
    // ext4 that journals data reads and writes through the page cache even with O_DIRECT.
    assert!(warned(&[of("ext4"), ("mount.super_options", "rw,data=journal")], true));
    assert!(warned(&[of("fuse.sshfs")], true));
}

#[test]
fn failed_operations_are_not_marked() {
    let mut record = reading(&[(CounterSource::NfsMount, 0, 0)]);
    record.intervals[5].streams[0].kinds[OpKind::Read as usize].failed[0] = 1;
    assert_eq!(codes(record), ["errors_seen"]);
}

#[test]
fn late_counters_of_an_interface_are_not_marked() {
    // Of six seconds the driver has not counted the last two.
    let mut record = reading(&[(CounterSource::Interface, MOVED, 0)]);
    for interval in &mut record.intervals[6..] {
        interval.wire[0].received_bytes = 0;
    }
    assert_eq!(codes(record.clone()), [] as [&str; 0]);
    // It has not counted the last three.
    record.intervals[5].wire[0].received_bytes = 0;
    assert_eq!(codes(record), ["served_from_cache"]);
}

/// A load point of twelve hosts with these boot IDs, each with the reads of [`reading`], of which the last
/// host's are answered by its cache.
fn twelve_hosts(boot_id: fn(usize) -> String) -> ExperimentRecord {
    let interface = |received| reading(&[(CounterSource::Interface, received, MOVED / 20)]);
    let of_host = |host: usize| HostRun {
        intervals: interface(if host == 11 { MOVED / 50 } else { MOVED }).intervals,
        events: vec![HostEvent::Ended],
    };
    let hosts: Vec<FleetHost> = (0..12)
        .map(|host| FleetHost {
            name: format!("vm{host:02}"),
            boot_id: boot_id(host),
            facts: Vec::new(),
        })
        .collect();
    let mut run = reading(&[]);
    (run.run.hosts, run.run.streams[0].workers) = (12, 12);
    run.hosts = (0..12).map(of_host).collect();
    run.intervals = fleet::totals(&run.hosts, fleet::are_separate_machines(&hosts));
    ExperimentRecord { hosts, ..experiment(vec![run]) }
}

#[test]
fn a_host_that_reads_from_its_cache_is_named_although_the_total_hides_it() {
    let findings = analyze(&twelve_hosts(|host| format!("boot-{host}")));
    let total = findings.wire[0][0].believed().unwrap();
    assert!(total.read.ratio().unwrap() > 0.9, "a twelfth is missing");
    assert!(!findings.wire[0][0].is_cached() && findings.is_cached(0));
    let mut found = findings.warnings.iter().filter(|group| group.code == "served_from_cache");
    let Warning::OnHosts { hosts, of, warning } = &found.next().unwrap().sightings[0].warning
    else {
        panic!("{:?}", findings.warnings)
    };
    assert_eq!((hosts.as_slice(), *of), (&["vm11".to_owned()][..], 12));
    let expected = Warning::ServedFromCache {
        is_read: true,
        source: CounterSource::Interface,
        counted_bytes: 6 * MOVED,
        wire_bytes: 6 * (MOVED / 50),
    };
    assert_eq!(**warning, expected);
    let hosts = &findings.fleet.unwrap().load_points[0].hosts;
    let throughput = |host: usize| wire::throughput(&hosts[host].wire);
    assert_eq!(throughput(0), Some(MOVED as f64));
    assert_eq!(throughput(11), Some((MOVED / 50) as f64));
}

#[test]
fn a_comparison_sees_the_cache_of_one_host_among_many() {
    let cached = twelve_hosts(|host| format!("boot-{host}"));
    let mut whole = cached.clone();
    for interval in &mut whole.runs[0].hosts[11].intervals {
        interval.wire[0].received_bytes = MOVED;
    }
    let sides_with_a_cache = |first: &ExperimentRecord, second: &ExperimentRecord| {
        let compared = compare(&[Side::of(first), Side::of(second)], &Options::default());
        let caveats = compared.pairs[0].caveats.iter();
        let of_cache = caveats.filter(|caveat| caveat.kind == FlawKind::Cached);
        of_cache.map(|caveat| caveat.side).collect::<Vec<_>>()
    };
    assert_eq!(sides_with_a_cache(&whole, &cached), [1]);
    assert!(sides_with_a_cache(&whole, &whole).is_empty());
}

#[test]
fn hosts_on_one_machine_have_no_counters_of_their_own() {
    // Two containers on each machine, and one host alone.
    let findings = analyze(&twelve_hosts(|host| format!("boot-{}", host.div_ceil(2))));
    let hosts = &findings.fleet.as_ref().unwrap().load_points[0].hosts;
    let counted: Vec<usize> =
        hosts.iter().filter(|host| !host.wire.is_empty()).map(|host| host.host).collect();
    assert_eq!(counted, [0, 11]);
    assert!(findings.wire[0].is_empty(), "totals would count a machine twice");
    assert!(is_served_from_cache(&findings), "vm11 has a separate machine");
    let shared = analyze(&twelve_hosts(|host| format!("boot-{}", host / 2)));
    assert!(!is_served_from_cache(&shared) && !shared.is_cached(0));
}

#[test]
fn a_warning_about_several_cached_hosts_has_the_sum_of_their_bytes() {
    let mut record = twelve_hosts(|host| format!("boot-{host}"));
    for interval in &mut record.runs[0].hosts[3].intervals {
        interval.wire[0].received_bytes = MOVED / 4;
    }
    let findings = analyze(&record);
    let group = findings.warnings.iter().find(|group| group.code == "served_from_cache").unwrap();
    let Warning::OnHosts { hosts, warning, .. } = &group.sightings[0].warning else {
        panic!("{group:?}")
    };
    assert_eq!(hosts, &["vm03", "vm11"]);
    let Warning::ServedFromCache { counted_bytes, wire_bytes, .. } = **warning else {
        panic!("{warning:?}")
    };
    assert_eq!((counted_bytes, wire_bytes), (12 * MOVED, 6 * (MOVED / 4 + MOVED / 50)));
}

#[test]
fn a_record_without_wire_counts_has_no_wire_section() {
    let findings = analyze(&experiment(vec![reading(&[])]));
    assert!(findings.wire.iter().all(Vec::is_empty));
    assert!(findings.warnings.is_empty());
}
