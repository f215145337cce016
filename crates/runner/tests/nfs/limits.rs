//! A volume's throughput limit is quota times service level, for all operations and numbers of
//! connections.

use std::thread;

use volume::shell::Running;

use crate::served::*;

/// Volume, transfer size, and the limit in MiB/s: 16, 64 or 128 MiB/s per TiB. Small operations
/// have the lower limits, because each of them costs processor time.
const VOLUMES: [(&str, u64, u64); 4] =
    [("s1", 8192, 16), ("p1", 65_536, 64), ("p2", 8192, 16), ("u1", 65_536, 64)];

const DESCRIBED: &str = "\
    [[volume]]\nname = \"s1\"\npool = \"standard\"\nquota = \"1TiB\"\n\
    [[volume]]\nname = \"p1\"\npool = \"premium\"\nquota = \"1TiB\"\n\
    [[volume]]\nname = \"p2\"\npool = \"premium\"\nquota = \"256GiB\"\n\
    [[volume]]\nname = \"u1\"\npool = \"ultra\"\nquota = \"512GiB\"\n";

fn holds(read_permille: u16) {
    let _alone = alone();
    let running = service(described(DESCRIBED));
    let loads = VOLUMES.into_iter().zip([1, 16, 16, 1]);
    let loads: Vec<_> = loads
        .map(|((volume, transfer_bytes, mib), nconnect)| {
            (Load { volume, nconnect, read_permille, transfer_bytes, ..LOAD }, mib)
        })
        .collect();
    // Two volumes are loaded simultaneously, which halves the duration of the test.
    for pair in loads.chunks(2) {
        hold(|| {
            let both = thread::scope(|scope| {
                let threads: Vec<_> =
                    pair.iter().map(|load| scope.spawn(|| throughput(load, &running))).collect();
                threads.into_iter().map(|thread| thread.join().expect("a load")).collect::<Vec<_>>()
            });
            both.into_iter().flatten().collect()
        });
    }
}

/// Throughput of a load, counted by the service and measured by the client, with its volume's limit
/// in MiB/s.
fn throughput((load, mib): &(Load, u64), running: &Running) -> [Seen; 2] {
    let Load { read_permille, transfer_bytes, nconnect, .. } = load;
    let what = format!("{read_permille} reads in 1000, {transfer_bytes} bytes x {nconnect}");
    let (measured, counted) = load.in_window(running);
    [
        seen(format!("{what}, counted"), counted, *mib, 0.01),
        seen(format!("{what}, measured"), measured.throughput(), *mib, 0.01),
    ]
}

#[test]
fn reads_get_quota_times_level_within_a_percent() {
    holds(1000);
}

#[test]
fn writes_get_quota_times_level_within_a_percent() {
    holds(0);
}

#[test]
fn reads_and_writes_together_get_quota_times_level_within_a_percent() {
    holds(500);
}
