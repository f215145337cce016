//! A stall of one second is fully visible in the response time.
//!
//! 1,000 operations per second for 10 s at queue depth 1; the target stalls for 1 s and is instant
//! otherwise. An operation due `t` after the start of the stall responds after `1 s - t`, so
//! `P(response time > t) = (1 s - t) / 10 s`, and p99 is 0.90 s. A tool with coordinated omission
//! shows one slow operation and a p99 near 0 (Tene, "How NOT to Measure Latency", 2013). Latency",
//! 2013).

use metrics::histogram::{bucket_high_ns, bucket_of};
use sim::storage::{Model, Stall};
use sim::world::{Simulated, simulate_observed};
use workload::arrival::constant_due_ns;

use crate::runs::{MS, S, constant, reads, run, stream};

const STALL: Stall = Stall { from_ns: 5 * S, until_ns: 6 * S };
const RATE: f64 = 1000.0;
/// Draining the backlog takes a nanosecond per operation, which delays each.
const DRAIN_NS: u64 = 1000;

fn stalled() -> Simulated {
    let run = run(vec![stream(constant(RATE), 1)], 10 * S, S);
    simulate_observed(&run, &Model { stalls: vec![STALL], ..Model::fixed(0) }, 1)
}

/// The share of response times above `time_ns`, up to the width of its bucket.
fn share_above(response: &metrics::histogram::Counts, time_ns: u64) -> f64 {
    let bucket = bucket_of(time_ns);
    let above: u64 = response.buckets.iter().filter(|(b, _)| *b > bucket).map(|(_, n)| n).sum();
    above as f64 / response.total() as f64
}

#[test]
fn a_stall_is_fully_visible_in_the_response_time() {
    let reads = reads(&stalled().record);
    assert_eq!(reads.completed, 10_000);
    // Rank 9,900 of 10,000: 9,000 responded immediately, the 900th of the late ones after 900 ms.
    let p99_ns = reads.response.percentile_ns(0.99).unwrap();
    assert!(p99_ns >= 900 * MS && p99_ns <= bucket_high_ns(bucket_of(900 * MS + DRAIN_NS)));
    assert!((reads.response.max_ns - S) <= DRAIN_NS);
    for t_ms in (0..1000).step_by(7) {
        // Half a millisecond between the possible response times, so that no bucket contains one.
        let time_ns = t_ms * MS + MS / 2;
        let expected = (S - time_ns) as f64 / (10 * S) as f64;
        let seen = share_above(&reads.response, time_ns);
        // One operation of 10,000, and those in a bucket of 0.1 % width.
        let tolerance = 1e-4 + time_ns as f64 / 1024.0 / (10 * S) as f64;
        assert!((seen - expected).abs() <= tolerance, "{t_ms} ms: {seen}, not {expected}");
    }
}

#[test]
fn a_stall_is_one_slow_operation_in_the_service_time() {
    let reads = reads(&stalled().record);
    assert!(reads.service.percentile_ns(0.9999).unwrap() <= 2);
    assert_eq!(reads.service.max_ns, S);
    assert_eq!(reads.service.samples_above(0.9999), 1);
}

#[test]
fn a_stall_does_not_change_the_schedule_after_it() {
    let simulated = stalled();
    assert_eq!(simulated.seen.len(), 10_000);
    for (step, seen) in simulated.seen.iter().enumerate() {
        let due_ns = constant_due_ns(RATE, 0, 1, step as u64);
        let in_stall = due_ns > STALL.from_ns && due_ns <= STALL.until_ns;
        if in_stall {
            let late = seen.issued_ns.abs_diff(STALL.until_ns);
            assert!(late <= DRAIN_NS, "operation {step} waits for the end of the stall");
        } else {
            assert_eq!(seen.issued_ns, due_ns, "operation {step} is issued when due");
        }
    }
}

#[test]
fn a_stall_is_backlog_in_its_interval_and_drains_in_the_next() {
    let simulated = stalled();
    let intervals = &simulated.record.intervals;
    assert_eq!(intervals.len(), 10);
    for (index, interval) in intervals.iter().enumerate() {
        let stream = &interval.streams[0];
        // One is outstanding, those due 1 to 999 ms after it wait.
        let backlog = if index == 5 { 999 } else { 0 };
        assert_eq!(stream.backlog_end, backlog, "interval {index}");
        let completed = [1000, 1000, 1000, 1000, 1000, 0, 2000, 1000, 1000, 1000][index];
        assert_eq!(stream.completed(), completed, "interval {index}");
    }
    // 999 operations wait 999 + 998 + … + 1 ms.
    let waited_ns = intervals[5].streams[0].backlog_time_ns;
    assert_eq!(waited_ns, u128::from(999 * 1000 / 2 * MS));
}

#[test]
fn the_backlog_of_one_worker_remains_while_another_still_waits() {
    // Two workers each complete one operation in 3 ms of 1,000 per second. The last of the second
    // completes at the end of the run; that of the first, issued at 999 ms, waits for the end of
    // the stall.
    let mut stream = stream(constant(RATE), 1);
    stream.workers = 2;
    let run = run(vec![stream], S, S / 2);
    let stall = Stall { from_ns: S + MS, until_ns: 3 * S };
    let model = Model { stalls: vec![stall], ..Model::fixed(3 * MS) };
    let simulated = simulate_observed(&run, &model, 1);
    let left = RATE as u64 - simulated.seen.len() as u64;
    assert_eq!(left, 1000 - 334 - 333);
    let after = &simulated.record.intervals[2..];
    assert!(after.len() >= 4, "the stall lasts for four intervals after the end");
    for interval in after {
        assert_eq!(interval.streams[0].backlog_end, left, "interval {}", interval.index);
    }
}

#[test]
fn an_unsustainable_schedule_is_overloaded_and_its_backlog_reported() {
    // Half of the offered rate: 1,000 per second at queue depth 1 and 2 ms each.
    let run = run(vec![stream(constant(RATE), 1)], 10 * S, S);
    let simulated = simulate_observed(&run, &Model::fixed(2 * MS), 1);
    for (index, interval) in simulated.record.intervals[..10].iter().enumerate() {
        let expected = 500 * (index as u64 + 1);
        assert!(interval.streams[0].backlog_end.abs_diff(expected) <= 1, "interval {index}");
    }
    let overloaded = crate::examples::warnings_of(simulated.record, |warning| {
        matches!(warning, metrics::warning::Warning::Overloaded { .. })
    });
    assert_eq!(overloaded, 1);
}
