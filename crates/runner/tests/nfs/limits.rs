//! A volume's throughput limit is quota times service level, whatever is sent and over however many
//! connections.

use crate::served::*;

/// Volume, operations' size, and the limit in MiB/s: 16, 64 or 128 MiB/s for each TiB. Small
/// operations have the lower limits, for each of them costs processor time.
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
    for ((volume, transfer_bytes, mib), nconnect) in VOLUMES.into_iter().zip([1, 16, 16, 1]) {
        let load = Load { volume, nconnect, read_permille, transfer_bytes, ..LOAD };
        let what = format!("{read_permille} reads in 1000, {transfer_bytes} bytes x {nconnect}");
        hold(|| {
            let (measured, counted) = load.in_window(&running);
            vec![
                seen(format!("{what}, counted"), counted, mib, 0.01),
                seen(format!("{what}, measured"), measured.throughput(), mib, 0.01),
            ]
        });
    }
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
