//! The same seed gives the same bytes, and an hour is simulated in seconds.

use sim::nfs_setup::{Client, Connections, Data, Incident, Setup};
use sim::nfs_world::simulate;
use sim::wire::{Pieces, Wire};
use volume::delay::Distribution;
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::plan::{Run, Stream};

use crate::setups::{
    MS, S, US, VOLUME, assert_near, assert_whole, kind, run, small, stream, volume_of,
};

#[test]
fn only_the_same_seed_gives_the_same_record_bit_for_bit() {
    let time = Distribution::lognormal(MS, 8 * MS).unwrap();
    let setup = Setup {
        wire: Wire {
            jitter_ns: 100 * US,
            pieces: Pieces::Random { most_bytes: 3000 },
            bytes_per_s: Some(100 << 20),
            ..Wire::of_delay(20 * US)
        },
        client: Client::of(5),
        data: Data::Verified { seed: 3 },
        incidents: vec![(S / 4, Incident::Lose(Connections::One(2))), (S / 3, Incident::Restart)],
        ..Setup::new(volume_of(Some(32), Some(16), time), VOLUME)
    };
    let arrival = Arrival::Poisson { offered_rate: 1000.0 };
    let first = Stream {
        read_permille: 700,
        working_set: small(2, 2 << 20),
        fsync_every_writes: Some(8),
        ..stream(arrival, 16)
    };
    // Two workers with their own files: after a restart each rewrites what it had not committed,
    // over data written there since by another worker, which verification does not know about.
    let second = Stream { name: "second".to_owned(), ..first.clone() };
    let run = run(vec![first, second], S / 2, S / 10);
    let one = simulate(&run, &setup, 1);
    let same = simulate(&run, &setup, 1);
    assert!(one.record == same.record && one.snapshot == same.snapshot);
    assert_eq!(format!("{:?}", one.record), format!("{:?}", same.record));
    assert_whole(&one);
    let other = simulate(&run, &setup, 2);
    assert!(one.record.intervals != other.record.intervals);
    let other = simulate(&Run { seed: 43, ..run }, &setup, 1);
    assert!(one.record.intervals != other.record.intervals);
}

#[test]
fn an_hour_of_load_is_fully_simulated() {
    let time = Distribution::lognormal(MS, 8 * MS).unwrap();
    let setup =
        Setup { client: Client::of(4), ..Setup::new(volume_of(Some(64), None, time), VOLUME) };
    let arrival = Arrival::Poisson { offered_rate: 50.0 };
    let simulated = simulate(&run(vec![stream(arrival, 32)], 3600 * S, S), &setup, 1);
    assert_whole(&simulated);
    assert_eq!(simulated.record.intervals.len(), 3600);
    // The number of arrivals is Poisson: its standard deviation is 0.24 % of 180,000.
    let reads = kind(&simulated.record, OpKind::Read);
    assert_near(reads.completed as f64, 180_000.0, 0.01, "operations");
    crate::service_counters::assert_agree(&simulated);
}
