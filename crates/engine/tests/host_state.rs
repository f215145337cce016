//! The workers' part of the run-queue delay, which the engine reads itself.

#[expect(dead_code, reason = "other tests use the rest")]
mod runs;

use std::time::Instant;

use engine::host_state::HostStateReader;
use engine::processor;
use metrics::host_state::HostInterval;
use metrics::run_record::Outcome;
use runs::{Setting, measure_with, small_run};
use workload::plan::IoMethodUsed;

/// Reads only the clock.
struct Clock(Instant);

impl HostStateReader for Clock {
    fn begin(&mut self, _workers: &[i32]) {
        self.0 = Instant::now();
    }

    fn since_last(&mut self) -> HostInterval {
        let before = std::mem::replace(&mut self.0, Instant::now());
        HostInterval {
            span_ns: self.0.duration_since(before).as_nanos() as u64,
            run_queue_delay_ns: Some(0),
            ..HostInterval::default()
        }
    }
}

/// A worker on the null target never sleeps: it always either runs or waits for a processor,
/// whatever other processes do.
#[test]
fn workers_on_one_processor_always_run_or_wait_for_it() {
    // The workers inherit the affinity of this thread.
    processor::pin(processor::processors()[0]).expect("an allowed processor");
    let mut run = small_run();
    run.streams[0].workers = 2;
    run.phases.measure_ns = 2_000_000_000;
    run.phases.interval_ns = 200_000_000;
    let setting = Setting { engine: IoMethodUsed::IoUring, verify: false };
    let mut clock = Clock(Instant::now());
    let (intervals, end) = measure_with(&run, None, &setting, Some(&mut clock));
    assert_eq!(end.outcome, Outcome::Done);

    let hosts = || intervals.iter().map(|interval| interval.host.expect("there is a reader"));
    let span_ns: u64 = hosts().map(|host| host.span_ns).sum();
    let delay_ns: u64 = hosts().filter_map(|host| host.run_queue_delay_ns).sum();
    let workers = || intervals.iter().flat_map(|interval| &interval.workers);
    let cpu_ns: u64 = workers().map(|worker| worker.cpu_ns).sum();
    // Both sleep for 5 ms before the start, and the kernel adds a wait only at its end, so on a
    // busy machine some tens of ms of 2 s may be missing at the end.
    let accounted = (cpu_ns + delay_ns) as f64 / (2 * span_ns) as f64;
    assert!((0.9..1.02).contains(&accounted), "{cpu_ns} and {delay_ns} of 2 x {span_ns} ns");
    // At most one of the two runs at a time, so the other waits.
    assert!(delay_ns as f64 > 0.8 * span_ns as f64, "{delay_ns} of {span_ns} ns");
}
