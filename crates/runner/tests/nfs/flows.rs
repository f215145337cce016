//! The limit per network flow: more connections give a higher rate, up to the volume's limit.

use crate::served::*;

#[test]
fn each_connection_adds_its_limit_up_to_the_volume_limit() {
    let _alone = alone();
    let running = service(described(
        "[[volume]]\nname = \"vol1\"\npool = \"manual\"\nquota = \"1TiB\"\n\
         throughput = \"48MiB/s\"\n[limits]\nflow_throughput = \"8MiB/s\"\n",
    ));
    for (nconnect, mib) in [(1, 8), (2, 16), (4, 32), (8, 48), (16, 48)] {
        let mut load = Load { nconnect, transfer_bytes: 65_536, ..LOAD };
        load.phases.measure_ns = 1500 * MS;
        let what = format!("nconnect={nconnect}");
        hold(|| {
            let (measured, counted) = load.in_window(&running);
            vec![
                seen(format!("{what}, counted"), counted, mib, 0.01),
                seen(format!("{what}, measured"), measured.throughput(), mib, 0.01),
            ]
        });
    }
}
