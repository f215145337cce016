//! A quota changed under load: the new limit applies within a second, without other effects.

use crate::served::*;

fn quota(gib: u64) -> volume::config::Config {
    described(&format!("[[volume]]\nname = \"vol1\"\npool = \"premium\"\nquota = \"{gib}GiB\"\n"))
}

#[test]
fn a_new_quota_applies_within_a_second_and_no_connection_or_operation_is_lost() {
    let _alone = alone();
    hold(attempt);
}

fn attempt() -> Vec<Seen> {
    let running = service(quota(512));
    let mut load = Load { nconnect: 4, transfer_bytes: 65_536, ..LOAD };
    (load.phases.warm_up_ns, load.phases.measure_ns) = (1000 * MS, 5000 * MS);
    // In GiB, and so in MiB/s at 1/16: when it is set, and when it must apply at the latest.
    let steps = [(20, 1024), (40, 256)];
    let mut snapshots = Vec::new();
    let measured = load.on(&running, |interval| {
        if let Some((_, gib)) = steps.iter().find(|(at, _)| *at == interval + 1) {
            snapshots.push(running.snapshot().expect("a snapshot"));
            running.change(quota(*gib)).expect("the quota can change");
        } else if (interval + 1) % 10 == 0 {
            snapshots.push(running.snapshot().expect("a snapshot"));
        }
    });
    measured.assert_flawless();
    // One snapshot at the end of each second. The first second is for settling, and the one after
    // each change is the time allowed for it.
    let rates = [(0, 1, 32), (2, 3, 64), (4, 5, 16)].map(|(from, to, mib)| {
        let counted = counted_rate(&snapshots[from], &snapshots[to], "vol1");
        seen(format!("second {to}, counted"), counted, mib, 0.01)
    });
    for snapshot in &snapshots {
        assert_eq!(snapshot.connections, snapshots[0].connections, "no connection was lost");
    }
    // What the client measured in the last of these seconds.
    let bytes: u64 = measured
        .record
        .intervals
        .iter()
        .filter(|i| (50..60).contains(&i.index))
        .flat_map(|interval| &interval.streams)
        .flat_map(|stream| &stream.kinds)
        .map(|kind| kind.bytes)
        .sum();
    let last = seen("the last second, measured", bytes as f64, 16, 0.02);
    rates.into_iter().chain([last]).collect()
}
