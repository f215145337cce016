//! A mix of reads and writes over a link that carries both directions simultaneously.

use sim::nfs_setup::{Client, Setup};
use sim::nfs_world::simulate;
use sim::wire::{Pieces, Wire};
use workload::plan::Stream;

use crate::setups::{
    CLOSED, S, SEEDS, US, VOLUME, assert_near, assert_whole, run, size, stream, volume, whole,
};

/// The known result at queue depth 2 on one connection if only the link takes time. The data of a
/// read occupies the inbound direction and that of a write the outbound one, both in order. A write
/// after a read is sent while the read's data arrives; everything else takes the link's time in
/// turn (a read's call waits behind the data of the write before it). In random order a quarter of
/// all operations are such writes, so the rate is that of one direction times `1 / (1 - 1/4)`. In
/// long runs of one kind it would be little more than that of one direction.
#[test]
fn half_reads_and_half_writes_use_both_directions_of_a_link() {
    let (link_bytes_per_s, size_bytes) = (25_000_000, 65_536);
    // Pieces, so that a call does not arrive as late as the data sent with it.
    let wire = Wire {
        bytes_per_s: Some(link_bytes_per_s),
        pieces: Pieces::Every { bytes: 1448 },
        ..Wire::of_delay(US)
    };
    let one_direction = link_bytes_per_s as f64 / size_bytes as f64;
    for seed in SEEDS {
        let client = Client::of(1);
        let setup = Setup { wire: wire.clone(), client, ..Setup::new(volume(None, US), VOLUME) };
        let mixed =
            Stream { read_permille: 500, transfer_sizes: size(size_bytes), ..stream(CLOSED, 2) };
        let mut run = run(vec![mixed], 40 * S, 10 * S);
        run.seed = seed;
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        let rate = whole(&simulated.record, 0).completed() as f64 / 40.0;
        // Of 20,000 operations the share of writes that follow reads has a standard deviation of
        // 0.18 %, so the rate has one of 0.24 %. Headers and delays take 0.5 %.
        assert_near(rate, one_direction * 4.0 / 3.0, 0.015, &format!("seed {seed}"));
    }
}
