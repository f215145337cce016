//! The generator's figures and the service's counters are equal, to the byte.

use std::collections::BTreeMap;

use volume::counters::{Counters, Procedure};
use workload::op::OpKind;

use crate::served::*;

const PROCEDURES: [(OpKind, Procedure); 3] = [
    (OpKind::Read, Procedure::Read),
    (OpKind::Write, Procedure::Write),
    (OpKind::Fsync, Procedure::Commit),
];

const VOLUME: &str = "[[volume]]\nname = \"vol1\"\npool = \"manual\"\nquota = \"1TiB\"\n\
    throughput = \"64MiB/s\"\n";

#[test]
fn operations_bytes_and_kinds_are_equal_on_both_sides_of_each_connection() {
    let _alone = alone();
    let running = service(described(VOLUME));
    let mut load = Load { nconnect: 4, queue_depth: 64, read_permille: 700, ..LOAD };
    (load.fsync_every_writes, load.phases.measure_ns) = (Some(5), 1000 * MS);
    let measured = load.on(&running, |_| ());
    measured.assert_flawless();

    let (before, after) = (&measured.before, &measured.after);
    let flows: BTreeMap<&str, &Counters> = after.counters.flows().collect();
    // Every flow of the run by its two addresses: [kind] (calls, bytes).
    let mut generated: BTreeMap<String, [(u64, u64); 3]> = BTreeMap::new();
    for interval in &measured.record.intervals {
        for connection in &interval.connections {
            let flow = format!("{}-{}", connection.local, connection.remote);
            let sums = generated.entry(flow).or_default();
            for (kind, _) in PROCEDURES {
                let counted = connection.kinds[kind as usize];
                sums[kind as usize].0 += counted.calls;
                sums[kind as usize].1 += counted.bytes;
            }
        }
    }
    assert_eq!(generated.len(), 4);
    let mut calls = 0;
    for (flow, sums) in &generated {
        let counters = flows.get(flow.as_str()).expect("the service lists the flow");
        for (kind, procedure) in PROCEDURES {
            assert_eq!(sums[kind as usize].0, counters.of(procedure), "{flow} {kind:?}");
            assert!(sums[kind as usize].0 > 0, "each kind occurred on each connection");
        }
        let bytes = [OpKind::Read, OpKind::Write].map(|kind| sums[kind as usize].1);
        assert_eq!(bytes, [counters.read_bytes, counters.written_bytes], "{flow}");
        let of_the_three: u64 = PROCEDURES.iter().map(|(_, one)| counters.of(*one)).sum();
        assert_eq!(counters.completed(), of_the_three, "no other call was sent");
        assert_eq!((counters.outstanding, counters.dropped), (0, 0));
        calls += counters.completed();
    }
    // All streams together compared with the volume.
    let (before, after) = (counted(before, "vol1"), counted(after, "vol1"));
    assert_eq!(after.completed() - before.completed(), calls);
    for (kind, procedure) in PROCEDURES {
        let streams = measured.record.intervals.iter().flat_map(|interval| &interval.streams);
        let completed: u64 = streams.map(|stream| stream.kinds[kind as usize].completed).sum();
        assert_eq!(completed, after.of(procedure) - before.of(procedure), "{kind:?}");
    }
}

#[test]
fn a_queue_depth_of_64_over_4_connections_is_64_in_the_service_and_16_on_each() {
    let _alone = alone();
    // Slow enough that all wait in the service simultaneously.
    let running = service(described(&VOLUME.replace("64MiB", "4MiB")));
    let mut load = Load { nconnect: 4, queue_depth: 64, ..LOAD };
    load.phases.measure_ns = 1000 * MS;
    let measured = load.on(&running, |_| ());
    measured.assert_flawless();
    assert_eq!(counted(&measured.after, "vol1").outstanding_max, 64);
    let ends: Vec<String> = measured.record.intervals[0]
        .connections
        .iter()
        .map(|connection| format!("{}-{}", connection.local, connection.remote))
        .collect();
    assert_eq!(ends.len(), 4);
    for (flow, counters) in measured.after.counters.flows() {
        if ends.iter().any(|end| end == flow) {
            assert_eq!(counters.outstanding_max, 16, "{flow}");
        }
    }
    // And in the generator's counts at the end of each interval of the window.
    let (first, end) = load.window();
    for interval in &measured.record.intervals[first as usize..end as usize - 1] {
        assert_eq!(interval.streams[0].outstanding_end, 64);
        let of_each = interval.connections.iter().map(|one| one.outstanding_end);
        assert!(of_each.clone().all(|outstanding| outstanding <= 16), "{of_each:?}");
    }
}
