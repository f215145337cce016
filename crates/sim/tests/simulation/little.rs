//! Little's law is exact in every window if operations that cross its boundaries are included.
//!
//! In any window the time integral of the outstanding operations is the sum of the service times of
//! those that completed in it, minus their time before it, plus the time in it of those still
//! outstanding. The latter two are known from the operations seen by the storage; integers must be
//! equal. With response times the same holds for outstanding operations and backlog together.

use metrics::interval::Interval;
use sim::storage::{Demand, Model, Stall};
use sim::world::{Seen, Simulated, simulate_observed};
use units::{Nanos, OpsPerSec};
use workload::arrival::{Arrival, constant_due_ns};
use workload::plan::Stream;

use crate::runs::{CLOSED, MS, S, constant, poisson, run, stream};

const EXPONENTIAL: Demand = Demand::Exponential { mean_ns: 1e6 };

/// The length of the part of `from..to` within the interval.
fn overlap_ns(interval: &Interval, from_ns: u64, to_ns: u64) -> u128 {
    u128::from(to_ns.min(interval.end_ns).saturating_sub(from_ns.max(interval.start_ns)))
}

/// Service (or response) time spent before `edge_ns` by operations outstanding at that time.
fn spent_before(edge_ns: u64, began: impl Iterator<Item = (u64, u64)>) -> u128 {
    began
        .filter(|(began_ns, ended_ns)| *began_ns < edge_ns && *ended_ns >= edge_ns)
        .map(|(began_ns, _)| u128::from(edge_ns - began_ns))
        .sum()
}

fn service_spans(seen: &[Seen]) -> impl Iterator<Item = (u64, u64)> + Clone {
    seen.iter().map(|seen| (seen.issued_ns, seen.reply.completed_ns))
}

fn assert_outstanding_is_exact(simulated: &Simulated) {
    let intervals = &simulated.record.intervals;
    assert!(intervals.len() >= 10);
    for interval in intervals {
        let counted = interval.streams[0].outstanding_time_ns;
        let spans = service_spans(&simulated.seen);
        let expected: u128 = spans.clone().map(|(from, to)| overlap_ns(interval, from, to)).sum();
        assert_eq!(counted, expected, "outstanding in interval {}", interval.index);

        let service: u128 = interval.streams[0].kinds.iter().map(|k| k.service.sum_ns).sum();
        let before = spent_before(interval.start_ns, spans.clone());
        let after = spent_before(interval.end_ns, spans);
        // A completion exactly at the boundary belongs to the next interval; the last has none.
        let last = interval.index as usize + 1 == intervals.len();
        let after = if last { 0 } else { after };
        assert_eq!(counted + before, service + after, "Little in interval {}", interval.index);
    }
}

fn simulated(arrival: Arrival, queue_depth: u32, model: &Model) -> Simulated {
    let stream = Stream { workers: 3, ..stream(arrival, queue_depth) };
    simulate_observed(&run(vec![stream], 10 * S, S), model, 5)
}

#[test]
fn littles_law_is_exact_in_a_closed_loop() {
    let model = Model::queue(4, EXPONENTIAL);
    assert_outstanding_is_exact(&simulated(CLOSED, 8, &model));
    let thinking = Arrival::Closed { think_time_ns: 2 * MS };
    assert_outstanding_is_exact(&simulated(thinking, 8, &model));
}

#[test]
fn littles_law_is_exact_in_an_open_loop() {
    let model = Model::queue(4, EXPONENTIAL);
    assert_outstanding_is_exact(&simulated(poisson(3000.0), 64, &model));
    assert_outstanding_is_exact(&simulated(constant(3500.0), 64, &model));
    // With a queue depth that delays operations, and with a stall.
    assert_outstanding_is_exact(&simulated(poisson(3600.0), 2, &model));
    let stalls = vec![Stall { from_ns: 3_400 * MS, until_ns: 4_700 * MS }];
    assert_outstanding_is_exact(&simulated(constant(2000.0), 4, &Model { stalls, ..model }));
}

#[test]
fn littles_law_with_backlog_holds_for_response_times() {
    let stalls = vec![Stall { from_ns: 3_400 * MS, until_ns: 4_700 * MS }];
    let model = Model { stalls, ..Model::queue(4, EXPONENTIAL) };
    let (rate, workers, end_ns) = (3000.0, 3, 10 * S);
    let simulated = simulated(constant(rate), 2, &model);
    let due_ns =
        |seen: &Seen| constant_due_ns(rate, seen.lane, workers, seen.op.index / u64::from(workers));
    // Operations that were due before the end and never issued.
    let delayed: Vec<u64> = (0..workers)
        .flat_map(|lane| {
            let issued = simulated.seen.iter().filter(|seen| seen.lane == lane).count() as u64;
            (issued..)
                .map(move |step| constant_due_ns(rate, lane, workers, step))
                .take_while(|due_ns| *due_ns < end_ns)
        })
        .collect();
    assert!(!delayed.is_empty());
    let intervals = &simulated.record.intervals;
    let waited: u128 = intervals.iter().map(|i| i.streams[0].backlog_time_ns).sum();
    assert!(waited > 10_000 * u128::from(MS), "the backlog is significant");
    for interval in intervals {
        let stream = &interval.streams[0];
        let waits = simulated.seen.iter().map(|seen| (due_ns(seen), seen.issued_ns));
        let waiting = delayed.iter().map(|due_ns| (*due_ns, end_ns));
        let expected: u128 =
            waits.chain(waiting.clone()).map(|(from, to)| overlap_ns(interval, from, to)).sum();
        assert_eq!(stream.backlog_time_ns, expected, "backlog in interval {}", interval.index);

        let response: u128 = stream.kinds.iter().map(|k| k.response.sum_ns).sum();
        let spans = || simulated.seen.iter().map(|s| (due_ns(s), s.reply.completed_ns));
        let counted = stream.outstanding_time_ns + stream.backlog_time_ns;
        // The backlog is dropped when nothing is issued any more; the rest drains.
        let drains = interval.start_ns >= end_ns;
        let waiting = waiting.take(if drains { 0 } else { usize::MAX });
        let after = spent_before(interval.end_ns, spans().chain(waiting.clone()));
        let after = if drains { 0 } else { after };
        let before = spent_before(interval.start_ns, spans().chain(waiting));
        assert_eq!(counted + before, response + after, "interval {}", interval.index);
    }
}

#[test]
fn rate_times_service_time_is_the_mean_outstanding() {
    // Operations that cross the boundaries of a window of ten seconds are below 0.1 % here.
    let simulated = simulated(CLOSED, 8, &Model::queue(4, EXPONENTIAL));
    let whole = crate::runs::whole(&simulated.record, 0);
    let reads = crate::runs::reads(&simulated.record);
    let length_s = simulated.record.intervals.last().unwrap().end_ns as f64 / 1e9;
    let expected = analysis::little::outstanding_mean(
        OpsPerSec::new(reads.completed as f64 / length_s),
        Nanos(reads.service.mean_ns().unwrap()),
    );
    let counted = whole.outstanding_time_ns as f64 / 1e9 / length_s;
    crate::runs::assert_near(counted, expected, 1e-9, "outstanding");
    crate::runs::assert_near(counted, 24.0, 0.001, "three workers of queue depth 8");
}
