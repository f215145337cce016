//! A throughput limit is found at its value, at the queue depth given by Little's law.

use sim::simulate;
use sim::storage::{Model, ThroughputLimit};
use workload::plan::{Stream, WeightedSize};

use crate::runs::{CLOSED, MS, S, assert_near, run, stream};

const MIB: f64 = 1_048_576.0;

/// MiB/s of a closed loop on a storage with a limit of 64 MiB/s and 1 ms, without the first second,
/// which contains the burst.
fn throughput(size_bytes: u64, queue_depth: u32) -> f64 {
    let transfer_sizes = vec![WeightedSize { size_bytes, weight: 1 }];
    let stream = Stream { transfer_sizes, ..stream(CLOSED, queue_depth) };
    let limit = ThroughputLimit { bytes_per_s: 64 << 20, burst_bytes: 1 << 20 };
    let model = Model { throughput_limit: Some(limit), ..Model::fixed(MS) };
    let record = simulate(&run(vec![stream], 6 * S, S), &model, 1);
    let bytes: u64 =
        record.intervals[1..6].iter().flat_map(|i| &i.streams[0].kinds).map(|k| k.bytes).sum();
    bytes as f64 / 5.0 / MIB
}

#[test]
fn saturation_is_the_limit_at_the_queue_depth_of_littles_law() {
    // 64 MiB/s are 8,192 operations of 8 KiB per second; at 1 ms that is 8.192 outstanding.
    for queue_depth in [1, 2, 4, 8] {
        let expected = f64::from(queue_depth) * 1000.0 * 8192.0 / MIB;
        assert_near(throughput(8192, queue_depth), expected, 0.005, "below the limit");
    }
    for queue_depth in [9, 16, 32, 256] {
        assert_near(throughput(8192, queue_depth), 64.0, 0.005, "at the limit");
    }
}

#[test]
fn large_transfers_saturate_at_a_small_queue_depth() {
    // 1,024 operations of 64 KiB per second: 1.024 outstanding.
    assert_near(throughput(65536, 1), 62.5, 0.005, "below the limit");
    for queue_depth in [2, 8] {
        assert_near(throughput(65536, queue_depth), 64.0, 0.005, "at the limit");
    }
}

#[test]
fn beyond_saturation_response_time_grows_with_the_queue_depth() {
    let limit = ThroughputLimit { bytes_per_s: 64 << 20, burst_bytes: 0 };
    let model = Model { throughput_limit: Some(limit), ..Model::fixed(MS) };
    for queue_depth in [16, 32, 64] {
        let record = simulate(&run(vec![stream(CLOSED, queue_depth)], 5 * S, S), &model, 1);
        let mean_s = crate::runs::reads(&record).response.mean_ns().unwrap() / 1e9;
        assert_near(mean_s, f64::from(queue_depth) / 8192.0, 0.005, "response time");
    }
}
