//! Use of the measuring host's processors: shares of constructed counters.

use crate::records::{SECOND_NS, done, experiment, host_second, reads, run, stream};
use analysis::analyze;
use analysis::estimate::{Estimate, Method};
use analysis::host_state::HostSummary;
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::run_record::RunRecord;
use units::Nanos;

const MS: u64 = 1_000_000;

/// One warm-up interval with other counters, and six intervals of 10,000 reads.
fn record(host: impl Fn(usize) -> Option<HostInterval>) -> RunRecord {
    let streams = vec![reads(10_000, 8192, 100_000); 7];
    let mut record = done(run("random read 8 KiB", vec![stream("data", 4)], 1, 6), streams);
    for (index, interval) in record.intervals.iter_mut().enumerate() {
        interval.host = match index {
            0 => Some(HostInterval { pressure_ns: Some(7), ..host_second() }),
            _ => host(index),
        };
    }
    record
}

fn summary(runs: Vec<RunRecord>) -> Option<HostSummary> {
    analyze(&experiment(runs)).load_points[0].merged.host.clone()
}

#[track_caller]
fn assert_value(estimate: Option<Estimate>, value: f64) {
    let estimate = estimate.expect("there is an estimate");
    assert!((estimate.value - value).abs() < 1e-12, "{estimate:?}, not {value}");
}

#[test]
fn shares_are_of_the_allowed_processors_and_of_the_window() {
    let host = summary(vec![record(|_| Some(host_second()))]).unwrap();
    assert_eq!((host.intervals, host.span_ns, host.late_readings), (6, 6 * SECOND_NS, 0));
    assert_eq!((host.processors, host.quota), (Some(2.0), Some(1.5)));
    assert_eq!(host.reading_cpu_mean, Nanos(80_000.0));
    assert_value(host.busy, 0.75);
    assert_value(host.process, 0.3);
    assert_value(host.others, 0.45);
    assert_value(host.steal, 0.05);
    assert_value(host.run_queue_delay, 0.25);
    // 250 ms of 10,000 operations.
    assert_value(host.run_queue_delay_ns_per_op, 25_000.0);
    assert_value(host.pressure, 0.9);
    assert_value(host.runnable_mean, 4.0);
    assert_value(host.service_cpu, 0.3);
    // Every interval is the same.
    assert_eq!(host.busy.unwrap().uncertainty, Some(0.0));
    assert_eq!(host.busy.unwrap().method, Method::Intervals);
}

#[test]
fn late_counters_are_divided_by_their_own_time_span() {
    // The reading at the end of interval 3 is 500 ms late: it counts half as much again, and the
    // next one half as much.
    let scaled = |percent: u64| {
        let of = |ns: u64| ns * percent / 100;
        let (whole, times) = (host_second(), host_second().times.unwrap());
        HostInterval {
            span_ns: of(whole.span_ns),
            times: Some(ProcessorTimes {
                busy_ns: of(times.busy_ns),
                idle_ns: of(times.idle_ns),
                steal_ns: of(times.steal_ns),
            }),
            pressure_ns: whole.pressure_ns.map(of),
            run_queue_delay_ns: whole.run_queue_delay_ns.map(of),
            service_cpu_ns: whole.service_cpu_ns.map(of),
            ..whole
        }
    };
    let percent = |index| match index {
        3 => 150,
        4 => 50,
        _ => 100,
    };
    let host = summary(vec![record(|index| Some(scaled(percent(index))))]).unwrap();
    assert_eq!((host.span_ns, host.late_readings), (6 * SECOND_NS, 2));
    for (estimate, value) in [
        (host.busy, 0.75),
        (host.steal, 0.05),
        (host.run_queue_delay, 0.25),
        (host.pressure, 0.9),
        (host.service_cpu, 0.3),
    ] {
        assert_value(estimate, value);
        // The share of each interval is the same.
        assert!(estimate.unwrap().uncertainty.unwrap() < 1e-12, "{estimate:?}");
    }
    // The last reading is late: the same shares, over a longer time.
    let host = summary(vec![record(|index| Some(scaled(if index == 6 { 150 } else { 100 })))]);
    let host = host.unwrap();
    assert_eq!((host.span_ns, host.late_readings), (6_500 * MS, 1));
    assert_value(host.busy, 0.75);
}

#[test]
fn bursts_that_the_kernel_does_not_sample_count_as_busy() {
    let host = summary(vec![record(|_| {
        let sampled = ProcessorTimes { busy_ns: 200 * MS, ..host_second().times.unwrap() };
        Some(HostInterval { times: Some(sampled), ..host_second() })
    })]);
    let host = host.unwrap();
    assert_value(host.busy, 0.75);
    assert_value(host.others, 0.45);
}

#[test]
fn intervals_without_a_counter_do_not_affect_its_share() {
    // A processor went offline during interval 2, and the service ended in interval 5.
    let host = summary(vec![record(|index| {
        let whole = host_second();
        Some(match index {
            2 => HostInterval { processors: Some(1), times: None, ..whole },
            5 => HostInterval { service_cpu_ns: None, ..whole },
            6 => HostInterval { runnable_tasks: Some(9), ..whole },
            _ => whole,
        })
    })]);
    let host = host.unwrap();
    assert_value(host.busy, 0.75);
    assert_value(host.process, 0.3);
    assert_value(host.others, 0.45);
    assert_value(host.service_cpu, 0.3);
    assert_value(host.runnable_mean, (5.0 * 4.0 + 9.0) / 6.0);
    assert_eq!((host.intervals, host.processors), (6, Some(11.0 / 6.0)));
}

#[test]
fn unreported_counters_have_no_share() {
    let bare = HostInterval { span_ns: SECOND_NS, reading_cpu_ns: 9, ..HostInterval::default() };
    let host = summary(vec![record(|_| Some(bare))]).unwrap();
    let expected = HostSummary {
        intervals: 6,
        span_ns: 6 * SECOND_NS,
        late_readings: 0,
        reading_cpu_mean: Nanos(9.0),
        processors: None,
        quota: None,
        busy: None,
        process: None,
        others: None,
        steal: None,
        run_queue_delay: None,
        run_queue_delay_ns_per_op: None,
        pressure: None,
        runnable_mean: None,
        service_cpu: None,
    };
    assert_eq!(host, expected);
    assert_eq!(summary(vec![record(|_| None)]), None, "the warm-up does not count");
}

#[test]
fn the_differences_between_repeats_give_the_uncertainty() {
    let with_busy = |repeat: u32, busy_ms: u64| {
        let mut record = record(|_| {
            let idle_ns = (2000 - busy_ms) * MS;
            let times = ProcessorTimes { idle_ns, ..ProcessorTimes::default() };
            Some(HostInterval { times: Some(times), ..host_second() })
        });
        record.run.repeat = repeat;
        record
    };
    let host = summary(vec![with_busy(0, 960), with_busy(1, 1000), with_busy(2, 1040)]).unwrap();
    let busy = host.busy.unwrap();
    assert_value(host.busy, 0.5);
    assert_eq!((busy.method, busy.samples), (Method::Repeats, 3.0));
    // s = 0.02, t(2) = 4.302653: 4.302653 * 0.02 / sqrt(3) = 0.049683.
    assert!((busy.uncertainty.unwrap() - 0.049_682_75).abs() < 1e-7);
    // One of the repeats is an older record.
    let mut old = with_busy(2, 1040);
    old.intervals.iter_mut().for_each(|interval| interval.host = None);
    let host = summary(vec![with_busy(0, 960), with_busy(1, 1000), old]).unwrap();
    assert_eq!(host.intervals, 12);
    assert_value(host.busy, 0.49);
}
