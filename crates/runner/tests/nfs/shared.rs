//! Two volumes behind one endpoint with its own limit.

use volume::shell::Snapshot;

use crate::served::*;

/// Both volumes simultaneously under the same load; snapshots at the boundaries of the window.
fn both(one_mib: u64, other_mib: u64) -> (Vec<Snapshot>, [f64; 2]) {
    let volume = |name, mib| {
        format!(
            "[[volume]]\nname = \"{name}\"\npool = \"manual\"\nquota = \"1TiB\"\n\
             throughput = \"{mib}MiB/s\"\n"
        )
    };
    let running = service(described(&format!(
        "[[endpoint]]\nname = \"ep1\"\naddress = \"127.0.0.1:0\"\nthroughput = \"32MiB/s\"\n{}{}",
        volume("one", one_mib),
        volume("other", other_mib)
    )));
    let load = |volume| Load { volume, nconnect: 4, transfer_bytes: 32_768, ..LOAD };
    let (first, end) = LOAD.window();
    let mut snapshots = Vec::new();
    let (one, other) = std::thread::scope(|scope| {
        let other = scope.spawn(|| load("other").on(&running, |_| ()));
        let one = load("one").on(&running, |interval| {
            // An interval inside the window, so that the other load has begun and not ended.
            if interval == first || interval + 2 == end {
                snapshots.push(running.snapshot().expect("a snapshot"));
            }
        });
        (one, other.join().expect("the other load"))
    });
    one.assert_flawless();
    other.assert_flawless();
    (snapshots, [one.throughput(), other.throughput()])
}

fn rates(snapshots: &[Snapshot]) -> [f64; 2] {
    ["one", "other"].map(|volume| counted_rate(&snapshots[0], &snapshots[1], volume))
}

#[test]
fn two_volumes_share_the_endpoints_limit_equally() {
    let _alone = alone();
    hold(|| {
        let (snapshots, measured) = both(64, 64);
        let [one, other] = rates(&snapshots);
        vec![
            seen("both, counted", one + other, 32, 0.01),
            // Requests are served in order of arrival, so a share is that of the waiting requests:
            // equal except for those in flight.
            seen("one, counted", one, 16, 0.05),
            seen("other, counted", other, 16, 0.05),
            seen("both, measured", measured[0] + measured[1], 32, 0.015),
        ]
    });
}

#[test]
fn the_other_volume_gets_what_a_slow_one_leaves_of_the_endpoints_limit() {
    let _alone = alone();
    hold(|| {
        let (snapshots, _) = both(8, 64);
        let [slow, other] = rates(&snapshots);
        vec![seen("the slow one", slow, 8, 0.01), seen("the other", other, 24, 0.01)]
    });
}
