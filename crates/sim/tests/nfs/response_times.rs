//! Response times are those of the service's configuration and the network.

use metrics::histogram::bucket_of;
use sim::nfs_setup::{Client, Setup};
use sim::nfs_world::simulate;
use sim::wire::{Outage, Wire};
use volume::delay::Distribution;
use workload::arrival::Arrival;
use workload::op::OpKind;

use crate::setups::{
    CLOSED, MS, S, SEEDS, US, VOLUME, assert_near, assert_whole, kind, run, stream, throughput,
    volume, volume_of,
};

/// Round trip over the network of a setup.
const WIRE_NS: f64 = 20_000.0;

#[test]
fn percentiles_are_those_of_a_lognormal_service() {
    let (median_ns, p99_ns) = (500 * US, 4 * MS);
    let time = Distribution::lognormal(median_ns, p99_ns).unwrap();
    let Distribution::Lognormal { sigma, .. } = time else { unreachable!() };
    for seed in SEEDS {
        let setup = Setup {
            client: Client::of(8),
            ..Setup::new(volume_of(None, None, time.clone()), VOLUME)
        };
        let simulated = simulate(&run(vec![stream(CLOSED, 64)], 4 * S, S), &setup, seed);
        assert_whole(&simulated);
        let reads = kind(&simulated.record, OpKind::Read);
        assert!(reads.completed > 200_000);
        // Quantiles of the standard normal distribution.
        for (fraction, z, tolerance) in
            [(0.5, 0.0, 0.01), (0.9, 1.281_552, 0.01), (0.99, 2.326_348, 0.03)]
        {
            let expected = median_ns as f64 * (sigma * z).exp() + WIRE_NS;
            let seen = reads.response.percentile_ns(fraction).unwrap() as f64;
            assert_near(seen, expected, tolerance, &format!("p{}", fraction * 100.0));
        }
        let seen = reads.response.percentile_ns(0.999).unwrap() as f64;
        assert_near(seen, median_ns as f64 * (sigma * 3.090_232).exp(), 0.08, "p99.9");
        assert_near(reads.response.mean_ns().unwrap(), time.mean_ns() + WIRE_NS, 0.01, "mean");
    }
}

#[test]
fn a_slow_service_is_exactly_as_slow_as_configured_at_every_queue_depth() {
    for (seed, queue_depth) in SEEDS.into_iter().zip([1, 10, 100]) {
        let setup = Setup::new(volume(None, 50 * MS), VOLUME);
        let run = run(vec![stream(CLOSED, queue_depth)], 10 * S, S);
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        let reads = kind(&simulated.record, OpKind::Read);
        assert_eq!(reads.response.mean_ns().unwrap(), 50e6 + WIRE_NS);
        let expected = f64::from(queue_depth) / 0.05002 * 8192.0 / crate::setups::MIB;
        assert_near(throughput(&simulated.record, 0, 0..10), expected, 0.006, "throughput");
    }
}

#[test]
fn an_outage_is_fully_visible_in_the_response_time() {
    let down = Outage { from_ns: 2 * S, until_ns: 2 * S + S / 2 };
    for (seed, nconnect) in SEEDS.into_iter().zip([1, 4, 16]) {
        let wire = Wire { down: vec![down], ..Wire::of_delay(10 * US) };
        let client = Client::of(nconnect);
        let setup = Setup { wire, client, ..Setup::new(volume(None, MS), VOLUME) };
        let arrival = Arrival::Constant { offered_rate: 1000.0 };
        let run = run(vec![stream(arrival, 64)], 4 * S, S / 4);
        let simulated = simulate(&run, &setup, seed);
        assert_whole(&simulated);
        let reads = kind(&simulated.record, OpKind::Read);
        assert_eq!(reads.completed, 4000, "the schedule is kept");
        // An operation due at its beginning waited for all of it.
        let most_ns = reads.response.max_ns;
        assert!((S / 2..S / 2 + 20 * MS).contains(&most_ns), "{most_ns} ns");
        let above = bucket_of(S / 20);
        let buckets = reads.response.buckets.iter();
        let late: u64 = buckets.filter(|(bucket, _)| *bucket > above).map(|(_, n)| n).sum();
        assert!(late.abs_diff(450) <= 8 * 64, "{late} operations were late");
        let completed: Vec<u64> =
            simulated.record.intervals.iter().map(|i| i.streams[0].completed()).collect();
        // Seconds 2 to 2.5 are intervals 8 and 9; waiting operations complete in the next one.
        assert!(completed[8] < 5 && completed[9] == 0 && completed[10] > 700, "{completed:?}");
        crate::service_counters::assert_agree(&simulated);
    }
}
