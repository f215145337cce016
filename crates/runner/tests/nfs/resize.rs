//! A quota that changes under load: the new limit holds within a second, and nobody notices
//! anything else.

use crate::served::*;

fn quota(gib: u64) -> volume::config::Config {
    described(&format!("[[volume]]\nname = \"vol1\"\npool = \"premium\"\nquota = \"{gib}GiB\"\n"))
}

#[test]
fn a_new_quota_holds_within_a_second_and_no_connection_or_operation_is_lost() {
    let _alone = alone();
    hold(attempt);
}

fn attempt() -> Vec<Seen> {
    let running = service(quota(512));
    let mut load = Load { nconnect: 4, transfer_bytes: 65_536, ..LOAD };
    (load.phases.warm_up_ns, load.phases.measure_ns) = (1000 * MS, 5000 * MS);
    // In GiB, and so in MiB/s at 1/16: when it is set, and when it must hold at the latest.
    let steps = [(20, 1024), (40, 256)];
    let mut looks = Vec::new();
    let measured = load.on(&running, |interval| {
        if let Some((_, gib)) = steps.iter().find(|(at, _)| *at == interval + 1) {
            looks.push(running.snapshot().expect("a snapshot"));
            running.change(quota(*gib)).expect("the quota can change");
        } else if (interval + 1) % 10 == 0 {
            looks.push(running.snapshot().expect("a snapshot"));
        }
    });
    measured.assert_flawless();
    // One look at the end of each second. The first was for settling, and the one after each
    // change is what the change has.
    let rates = [(0, 1, 32), (2, 3, 64), (4, 5, 16)].map(|(from, to, mib)| {
        let counted = witnessed(&looks[from], &looks[to], "vol1");
        seen(format!("second {to}, counted"), counted, mib, 0.01)
    });
    for look in &looks {
        assert_eq!(look.connections, looks[0].connections, "nobody was dropped");
    }
    // What the client saw in the last of these seconds.
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
