//! Each number of a load point against its value computed by hand.

use std::num::NonZeroU32;

use crate::records::{SECOND_NS, counts, done, experiment, interval, kind, reads, run, stream};
use analysis::analyze;
use analysis::compare::figure::Figure as Compared;
use analysis::compare::side::Side;
use analysis::estimate::Method;
use analysis::findings::Note;
use analysis::load_point::{ALL_STREAMS, StreamSummary};
use analysis::series::{POINTS_MAX, PointPhase};
use metrics::interval::StreamInterval;
use metrics::run_record::{ExperimentRecord, Outcome, RunRecord};
use metrics::warning::{Figure, Warning};
use units::{Nanos, OpsPerSec};
use workload::arrival::Arrival;
use workload::op::OpKind;
use workload::outcome::ErrorKind;
use workload::plan::IoMethodUsed;

/// Two warm-up intervals that must not count, then `rates` reads of 100 us in each second.
fn closed_run(rates: &[u64]) -> RunRecord {
    let warm_up = [reads(9_999, 8192, 900_000), reads(9_999, 8192, 900_000)];
    let window = rates.iter().map(|rate| reads(*rate, 8192, 100_000));
    let run = run("random read 8 KiB", vec![stream("data", 4)], 2, rates.len() as u64);
    done(run, warm_up.into_iter().chain(window).collect())
}

fn only_stream(record: &ExperimentRecord) -> StreamSummary {
    analyze(record).load_points[0].merged.streams[0].clone()
}

fn codes(record: &ExperimentRecord) -> Vec<&'static str> {
    analyze(record).warnings.iter().map(|group| group.code).collect()
}

#[test]
fn the_window_alone_gives_rate_throughput_outstanding_and_cpu() {
    let findings = analyze(&experiment(vec![closed_run(&[8_000, 12_000, 8_000, 12_000, 10_000])]));
    let point = &findings.load_points[0];
    assert_eq!((point.merged.intervals, point.merged.window_ns), (5, 5 * SECOND_NS));
    let data = &point.merged.total.data;
    assert_eq!(data.completed, 50_000);
    assert_eq!(data.bytes, 50_000 * 8192);
    assert_eq!(data.achieved_rate.unwrap().value, 10_000.0);
    assert_eq!(data.throughput.unwrap().value, 81_920_000.0);
    // Deviations -2000 2000 -2000 2000 0: s = 2000, n = 5, t(4) = 2.776445:
    // 2.776445 * 2000 / sqrt(5).
    let half = data.achieved_rate.unwrap().uncertainty.unwrap();
    assert!((half - 2_483.328).abs() < 1e-2, "{half}");
    assert_eq!(data.response.mean_ns.unwrap().value, 100_000.0);
    // 10,000 /s times 100 us is 1 operation.
    assert!((point.merged.total.outstanding_mean.unwrap().value - 1.0).abs() < 1e-12);
    // 0.6 CPU seconds in each of five seconds over 50,000 operations: 60 us.
    assert!((point.merged.cpu_ns_per_op.unwrap().value - 60_000.0).abs() < 1e-6);
    assert!((point.merged.cpu_used.unwrap().value - 0.6).abs() < 1e-12);
    // The worker alone: half a second in each.
    assert!((point.merged.total.worker_cpu_ns_per_op.unwrap().value - 50_000.0).abs() < 1e-6);
    assert!((point.merged.total.worker_busy_max.unwrap().value - 0.5).abs() < 1e-12);
    assert!(point.merged.total.little_service.unwrap().mismatch.abs() < 1e-12);
}

#[test]
fn percentiles_use_all_operations_and_count_those_above() {
    let mut window = Vec::new();
    for second in 0..5u64 {
        // 1 to 200 us, then 201 to 400 us, and so on: together every microsecond from 1 to 1,000.
        let times: Vec<u64> = (1..=200).map(|us| (second * 200 + us) * 1000).collect();
        let mut interval = StreamInterval::default();
        let read = &mut interval.kinds[OpKind::Read as usize];
        read.completed = 200;
        read.service = counts(&times);
        read.response = counts(&times);
        window.push(interval);
    }
    let record = experiment(vec![done(run("v", vec![stream("data", 1)], 0, 5), window)]);
    let response = only_stream(&record).data.response;
    let near = |fraction: f64, ns: u64| {
        let found = response.percentile(fraction).unwrap();
        let value = found.value_ns.unwrap();
        assert!(value >= ns && value - ns <= ns / 1000, "{fraction}: {value}");
        found.samples_above
    };
    assert_eq!(near(0.5, 500_000), 500);
    assert_eq!(near(0.9, 900_000), 100);
    assert_eq!(near(0.99, 990_000), 10);
    let few = response.percentile(0.999).unwrap();
    assert_eq!((few.value_ns, few.samples_above), (None, 1));
    assert_eq!((response.min_ns, response.max_ns), (Some(1_000), Some(1_000_000)));
    assert_eq!(response.mean_ns.unwrap().value, 500_500.0);
    assert!(response.drawable().all(|row| row.fraction <= 0.99));
    assert!(codes(&record).contains(&"few_samples_for_percentile"));
}

#[test]
fn reads_and_writes_are_added_without_fsyncs() {
    let both = || {
        let mut interval = StreamInterval {
            outstanding_time_ns: 700 * 100_000 + 300 * 200_000 + 10 * 5_000_000,
            ..StreamInterval::default()
        };
        interval.kinds[OpKind::Read as usize] = kind(700, 8192, 100_000, 100_000);
        interval.kinds[OpKind::Write as usize] = kind(300, 4096, 200_000, 200_000);
        interval.kinds[OpKind::Fsync as usize] = kind(10, 0, 5_000_000, 5_000_000);
        interval
    };
    let window = (0..6).map(|_| both()).collect();
    let record = experiment(vec![done(run("mix", vec![stream("data", 8)], 0, 6), window)]);
    let stream = only_stream(&record);
    assert_eq!(stream.data.achieved_rate.unwrap().value, 1000.0);
    assert_eq!(stream.data.throughput.unwrap().value, 700.0 * 8192.0 + 300.0 * 4096.0);
    assert_eq!(stream.data.response.mean_ns.unwrap().value, 130_000.0);
    let names: Vec<&str> = stream.kinds.iter().map(|k| k.name).collect();
    assert_eq!(names, ["read", "write", "fsync"]);
    assert_eq!(stream.kinds[0].throughput.unwrap().value, 700.0 * 8192.0);
    assert_eq!(stream.kinds[2].achieved_rate.unwrap().value, 10.0);
    assert_eq!(stream.kinds[2].response.mean_ns.unwrap().value, 5_000_000.0);
    // Little's law counts every kind: 70 + 60 + 50 ms of operations in each second.
    let little = stream.little_service.unwrap();
    assert!((little.counted - 0.18).abs() < 1e-12 && (little.expected - 0.18).abs() < 1e-12);
}

#[test]
fn operations_on_names_are_summed_and_each_kind_has_its_figures() {
    let interval = |second: u64| {
        let mut interval = StreamInterval {
            outstanding_time_ns: 200 * 500_000 + 800 * 100_000,
            ..StreamInterval::default()
        };
        interval.kinds[OpKind::Create] = kind(200, 4096, 500_000, 500_000);
        // A kind that does not occur in every interval.
        let stats = if second.is_multiple_of(2) { 1600 } else { 0 };
        if stats > 0 {
            interval.kinds[OpKind::Stat] = kind(stats, 0, 100_000, 100_000);
        }
        interval
    };
    let window = (0..6).map(interval).collect();
    let record = experiment(vec![done(run("mix", vec![stream("home", 8)], 0, 6), window)]);
    let stream = only_stream(&record);
    assert_eq!(stream.data.achieved_rate.unwrap().value, 1000.0);
    assert_eq!(stream.data.throughput.unwrap().value, 200.0 * 4096.0);
    // (200 x 500 us + 800 x 100 us) / 1,000.
    assert!((stream.data.response.mean_ns.unwrap().value - 180_000.0).abs() < 1e-6);
    let names: Vec<&str> = stream.kinds.iter().map(|k| k.name).collect();
    assert_eq!(names, ["create", "stat"]);
    assert_eq!(stream.kinds[1].achieved_rate.unwrap().value, 800.0);
    assert_eq!(stream.kinds[1].response.mean_ns.unwrap().value, 100_000.0);
    assert!(stream.all_kinds.is_none(), "without fsyncs it equals the data");
    let little = stream.little_service.unwrap();
    assert!((little.counted - 0.18).abs() < 1e-12 && (little.expected - 0.18).abs() < 1e-12);
}

#[test]
fn an_open_loop_shows_schedule_delay_and_backlog() {
    let mut open = stream("data", 4);
    open.arrival = Arrival::Constant { offered_rate: 1_000.0 };
    // One of warm-up, so that the backlog is there when the window begins.
    let window = (0..12).map(|_| {
        let mut interval = StreamInterval {
            // 1,000 operations of 2 ms outstanding, each due 3 ms before.
            outstanding_time_ns: 1_000 * 2_000_000,
            backlog_time_ns: 1_000 * 3_000_000,
            backlog_end: 3,
            ..StreamInterval::default()
        };
        interval.kinds[OpKind::Read as usize] = kind(1_000, 8192, 2_000_000, 5_000_000);
        interval
    });
    let record = experiment(vec![done(run("open", vec![open], 1, 11), window.collect())]);
    let stream = only_stream(&record);
    assert_eq!(stream.offered_rate, Some(OpsPerSec::new(1_000.0)));
    let delay = stream.schedule_delay_mean_ns.unwrap();
    assert!((delay.value - 3_000_000.0).abs() < 1e-6, "{delay:?}");
    assert_eq!(stream.outstanding_mean.unwrap().value, 2.0);
    assert_eq!(stream.backlog_mean.unwrap().value, 3.0);
    assert_eq!(stream.backlog_end, 3);
    assert!(stream.overload.is_none());
    assert!(stream.little_service.unwrap().holds() && stream.little_response.unwrap().holds());
    assert_eq!(stream.little_response.unwrap().counted, 5.0);
    assert_eq!(codes(&record), ["schedule_delay_high"]);
}

#[test]
fn data_generation_is_schedule_delay_in_a_closed_loop() {
    let writes = |backlog_end: u64| {
        let mut interval = StreamInterval {
            // 1,000 writes of 2 ms outstanding, each after 0.5 ms in which its data was made.
            outstanding_time_ns: 1_000 * 2_000_000,
            backlog_time_ns: 1_000 * 500_000,
            backlog_end,
            ..StreamInterval::default()
        };
        interval.kinds[OpKind::Write as usize] = kind(1_000, 8192, 2_000_000, 2_500_000);
        interval
    };
    // The window ends while data is made, and did not begin so.
    let window = [0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4].map(writes).into();
    let record = experiment(vec![done(run("closed", vec![stream("data", 4)], 1, 11), window)]);
    let stream = only_stream(&record);
    let delay = stream.schedule_delay_mean_ns.unwrap();
    assert!((delay.value - 500_000.0).abs() < 1e-6, "{delay:?}");
    assert_eq!(stream.outstanding_mean.unwrap().value, 2.0);
    assert_eq!(stream.backlog_mean.unwrap().value, 0.5);
    assert!(stream.overload.is_none(), "nothing was offered");
    assert!(stream.little_service.unwrap().holds() && stream.little_response.unwrap().holds());
    assert_eq!(stream.little_response.unwrap().counted, 2.5);
    // More than a tenth of the service time.
    assert_eq!(codes(&record), ["schedule_delay_high"]);
}

#[test]
fn service_times_are_compared_unless_they_equal_response_times() {
    let figures = |response_ns: u64| {
        let mut interval = StreamInterval::default();
        interval.kinds[OpKind::Write as usize] = kind(1_000, 8192, 2_000_000, response_ns);
        let window = vec![interval; 6];
        let record = experiment(vec![done(run("closed", vec![stream("data", 4)], 0, 6), window)]);
        let samples = Side::of(&record).points[0].subjects[0].samples.clone();
        samples.iter().map(|sample| sample.figure).collect::<Vec<Compared>>()
    };
    assert!(!figures(2_000_000).contains(&Compared::ServiceMean));
    assert!(figures(2_500_000).contains(&Compared::ServiceMean));
}

#[test]
fn only_a_growing_backlog_is_overload() {
    let judge = |backlogs: [u64; 6]| {
        let mut open = stream("data", 4);
        open.arrival = Arrival::Constant { offered_rate: 1_000.0 };
        let window =
            backlogs.map(|backlog_end| StreamInterval { backlog_end, ..reads(900, 8192, 100_000) });
        only_stream(&experiment(vec![done(run("open", vec![open], 0, 6), window.into())])).overload
    };
    let overload = judge([100, 200, 300, 400, 500, 600]).unwrap();
    assert_eq!((overload.achieved_rate.get(), overload.backlog_growth), (900.0, 600));
    assert_eq!(judge([0, 500, 900, 300, 20, 0]), None);
    // A hundredth of the 6,000 operations due is tolerated.
    assert_eq!(judge([0, 0, 0, 0, 0, 60]), None);
    assert!(judge([0, 0, 0, 0, 0, 61]).is_some());
}

/// An open stream at 10,000 ops/s that writes and sends an fsync after every write, of which
/// `completed` of each kind are done each second.
fn with_fsyncs(completed: u64) -> ExperimentRecord {
    let mut open = stream("log", 4);
    open.read_permille = 0;
    open.fsync_every_writes = Some(1);
    open.arrival = Arrival::Constant { offered_rate: 10_000.0 };
    let window = (1..=6).map(|second| {
        let mut interval = StreamInterval {
            outstanding_time_ns: u128::from(completed) * 300_000,
            backlog_end: second * 2 * (5_000 - completed),
            ..StreamInterval::default()
        };
        interval.kinds[OpKind::Write as usize] = kind(completed, 8192, 100_000, 100_000);
        interval.kinds[OpKind::Fsync as usize] = kind(completed, 0, 200_000, 200_000);
        interval
    });
    experiment(vec![done(run("log", vec![open], 0, 6), window.collect())])
}

#[test]
fn an_offered_rate_includes_fsyncs() {
    let kept = only_stream(&with_fsyncs(5_000));
    assert_eq!(kept.data.achieved_rate.unwrap().value, 5_000.0);
    assert_eq!(kept.achieved_rate_all_kinds().unwrap().value, 10_000.0);
    assert_eq!(kept.all_kinds.unwrap().response.mean_ns.unwrap().value, 150_000.0);
    assert_eq!(kept.overload, None);
    let late = only_stream(&with_fsyncs(4_500));
    assert_eq!(late.overload.unwrap().achieved_rate.get(), 9_000.0);
    assert_eq!(late.achieved_rate_all_kinds().unwrap().value, 9_000.0);
    // Without fsyncs both are equal.
    let reads = only_stream(&experiment(vec![closed_run(&[10_000; 6])]));
    assert_eq!(reads.all_kinds, None);
    assert_eq!(reads.achieved_rate_all_kinds(), reads.data.achieved_rate);
}

#[test]
fn an_overloaded_window_does_not_violate_littles_law() {
    let mut record = with_fsyncs(4_500);
    for interval in &mut record.runs[0].intervals {
        interval.streams[0].backlog_time_ns = 585_920 * u128::from(SECOND_NS);
    }
    let stream = only_stream(&record);
    assert!(stream.little_service.unwrap().holds());
    assert_eq!(stream.little_response, None);
    assert_eq!(codes(&record), ["overloaded"]);
}

#[test]
fn a_changed_backlog_in_one_repeat_counts() {
    let repeat = |repeat: u32, backlogs: [u64; 7]| {
        let mut open = stream("data", 4);
        open.arrival = Arrival::Constant { offered_rate: 1_000.0 };
        let each = |backlog_end| StreamInterval { backlog_end, ..reads(1_000, 8192, 100_000) };
        let mut run = run("open", vec![open], 1, 6);
        run.repeat = repeat;
        done(run, backlogs.map(each).into())
    };
    let little = |second: [u64; 7]| {
        let first = repeat(0, [5, 5, 5, 5, 5, 5, 9]);
        only_stream(&experiment(vec![first, repeat(1, second)])).little_response
    };
    assert_eq!(little([9, 5, 5, 5, 5, 5, 5]), None);
    let steady = only_stream(&experiment(vec![repeat(0, [5; 7])]));
    assert!(steady.little_response.is_some());
}

#[test]
fn failed_operations_do_not_violate_littles_law() {
    let mut record = closed_run(&[10_000; 6]);
    let stream = &mut record.intervals[2].streams[0];
    // A hundred of them, outstanding for a second each.
    stream.kinds[OpKind::Read as usize].failed[ErrorKind::InputOutput as usize] = 100;
    stream.outstanding_time_ns += 100 * u128::from(SECOND_NS);
    let record = experiment(vec![record]);
    assert!(!only_stream(&record).little_service.unwrap().holds());
    assert_eq!(codes(&record), ["errors_seen"]);
}

#[test]
fn a_workers_utilization_is_of_the_processors_it_can_use() {
    let busy = |engine: IoMethodUsed, queue_depth: u32, processors: Option<u32>, pin: bool| {
        let window = (0..6).map(|_| reads(10_000, 8192, 100_000)).collect();
        let mut record = done(run("v", vec![stream("data", queue_depth)], 0, 6), window);
        for interval in &mut record.intervals {
            interval.workers[0].cpu_ns = SECOND_NS * 3 / 2;
        }
        let mut record = experiment(vec![record]);
        record.io_method.io_method = engine;
        record.plan.pin = pin;
        record.environment.prior.processors = processors.and_then(NonZeroU32::new);
        only_stream(&record).worker_busy_max.unwrap().value
    };
    // Four threads on two processors, on eight, and on an unknown number.
    assert_eq!(busy(IoMethodUsed::Psync, 4, Some(2), false), 0.75);
    assert_eq!(busy(IoMethodUsed::Psync, 4, Some(8), false), 0.375);
    assert_eq!(busy(IoMethodUsed::Psync, 4, None, false), 0.375);
    // One thread; four on one processor.
    assert_eq!(busy(IoMethodUsed::Psync, 1, Some(2), false), 1.5);
    assert_eq!(busy(IoMethodUsed::Psync, 4, Some(2), true), 1.5);
    assert_eq!(busy(IoMethodUsed::IoUring, 4, Some(2), false), 1.5);
}

#[test]
fn a_process_that_uses_the_whole_host_is_a_warning() {
    let with = |used_ns: u64, processors: u32| {
        let mut record = closed_run(&[10_000; 6]);
        for interval in &mut record.intervals {
            (interval.process_user_ns, interval.process_system_ns) = (used_ns, 0);
        }
        let mut record = experiment(vec![record]);
        record.environment.prior.processors = NonZeroU32::new(processors);
        analyze(&record).warnings
    };
    let warnings = with(1_900_000_000, 2);
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        warnings[0].sightings[0].warning,
        Warning::ProcessorsBusy { used: 1.9, processors: 2 }
    );
    assert!(with(1_700_000_000, 2).is_empty());
    assert!(with(1_900_000_000, 4).is_empty());
    assert!(with(1_900_000_000, 0).is_empty(), "the number of processors is unknown");
}

#[test]
fn an_open_loop_is_unsteady_by_its_response_times() {
    let steady = |open: bool| {
        let mut stream = stream("data", 64);
        if open {
            stream.arrival = Arrival::Constant { offered_rate: 10_000.0 };
        }
        let window = (0..9).map(|second| reads(10_000, 8192, 1_000_000 + 100_000 * second));
        let record = done(run("v", vec![stream], 0, 9), window.collect());
        let findings = analyze(&experiment(vec![record]));
        findings.warnings.iter().map(|g| g.sightings[0].warning.clone()).collect::<Vec<_>>()
    };
    // Thirds of 1.1 and 1.7 ms around 1.4 ms.
    let [Warning::NotSteady { figure: Figure::ResponseTime, drift, thirds: Some(thirds) }] =
        steady(true)[..]
    else {
        panic!("{:?}", steady(true));
    };
    assert!((drift - 0.6 / 1.4).abs() < 1e-9, "{drift}");
    assert!((thirds[0] - 1.1e6).abs() < 1.0 && (thirds[1] - 1.7e6).abs() < 1.0, "{thirds:?}");
    assert_eq!(steady(false), []);
}

#[test]
fn a_barely_started_interval_has_no_point_in_the_series() {
    let mut record = closed_run(&[10_000; 6]);
    let mut drain = interval(8, vec![reads(4, 8192, 100_000)]);
    drain.end_ns = drain.start_ns + 62_000;
    record.intervals.push(drain);
    let series = |record: &RunRecord| analyze(&experiment(vec![record.clone()])).series[0].clone();
    assert_eq!(series(&record).points.len(), 8);
    assert!(series(&record).points.iter().all(|p| p.phase != PointPhase::CoolDown));
    record.intervals[8].end_ns = record.intervals[8].start_ns + SECOND_NS / 2;
    assert_eq!(series(&record).points[8].achieved_rate.get(), 8.0);
}

#[test]
fn an_irregular_record_causes_no_panic() {
    let whole = || (0..6).map(|_| reads(1_000, 8192, 100_000)).collect::<Vec<_>>();
    let mut lacking = done(run("v", vec![stream("data", 1)], 0, 6), whole());
    lacking.intervals[2].streams.clear();
    lacking.intervals[5].workers[0].stream = 7;
    let other = done(run("v", vec![stream("data", 1), stream("log", 1)], 0, 6), whole());
    let findings = analyze(&experiment(vec![lacking, other]));
    assert_eq!(findings.load_points.len(), 2);
    assert_eq!(findings.load_points[0].merged.total.data.completed, 5_000);
}

#[test]
fn repeats_form_a_load_point_with_uncertainty_from_their_differences() {
    let runs = [9_800, 10_000, 10_200].into_iter().enumerate().map(|(repeat, rate)| {
        let mut record = closed_run(&[rate; 6]);
        record.run.repeat = repeat as u32;
        record
    });
    let findings = analyze(&experiment(runs.collect()));
    assert_eq!(findings.load_points.len(), 1);
    let point = &findings.load_points[0];
    assert_eq!(point.runs.len(), 3);
    let rate = point.merged.total.data.achieved_rate.unwrap();
    assert_eq!((rate.value, rate.method, rate.samples), (10_000.0, Method::Repeats, 3.0));
    // s = 200, t(2) = 4.302653: 4.302653 * 200 / sqrt(3) = 496.8275.
    assert!((rate.uncertainty.unwrap() - 496.827_5).abs() < 1e-3);
    assert_eq!(point.merged.total.data.completed, 180_000);
    assert_eq!(point.merged.total.data.response.samples, 180_000);
    assert!(findings.warnings.is_empty(), "{:?}", findings.warnings);
}

#[test]
fn distant_repeats_disagree() {
    let runs = [8_000, 10_000].into_iter().enumerate().map(|(repeat, rate)| {
        let mut record = closed_run(&[rate; 6]);
        record.run.repeat = repeat as u32;
        record
    });
    let findings = analyze(&experiment(runs.collect()));
    let sighting = &findings.warnings[0].sightings[0];
    // 2,000 apart with a mean of 9,000, and no variation within the repeats.
    let Warning::RepeatsDisagree { spread, chance: Some(chance), repeat: None } = sighting.warning
    else {
        panic!("{sighting:?}")
    };
    assert!(spread == 2_000.0 / 9_000.0 && chance < 1e-9, "{spread} {chance}");
}

#[test]
fn streams_are_summarised_individually_and_together() {
    let run = run("database", vec![stream("data", 4), stream("log", 1)], 0, 6);
    let each = |index| interval(index, vec![reads(1_000, 8192, 200_000), reads(500, 4096, 50_000)]);
    let record = RunRecord {
        run,
        started_unix_ms: 0,
        intervals: (0..6).map(each).collect(),
        warnings: Vec::new(),
        hosts: Vec::new(),
        service_counters: None,
        trees: Vec::new(),
        outcome: Outcome::Done,
    };
    let findings = analyze(&experiment(vec![record]));
    let merged = &findings.load_points[0].merged;
    assert_eq!(merged.total.name, ALL_STREAMS);
    assert_eq!(merged.total.data.achieved_rate.unwrap().value, 1_500.0);
    assert_eq!(merged.total.data.response.mean_ns.unwrap().value, 150_000.0);
    assert_eq!(merged.total.queue_depth_total, 5);
    assert_eq!(merged.streams[1].data.achieved_rate.unwrap().value, 500.0);
    assert!((merged.total.outstanding_mean.unwrap().value - 0.225).abs() < 1e-12);
    assert_eq!(findings.series.len(), 2);
}

#[test]
fn an_aborted_run_keeps_its_whole_intervals() {
    let mut record = closed_run(&[10_000; 8]);
    record.intervals.truncate(8);
    // The last one was cut in half.
    record.intervals[7].end_ns -= SECOND_NS / 2;
    record.outcome = Outcome::Aborted;
    let mut record = experiment(vec![record]);
    record.outcome = Outcome::Aborted;
    let findings = analyze(&record);
    assert_eq!(findings.load_points[0].merged.intervals, 5);
    assert_eq!(findings.load_points[0].runs[0].intervals_planned, 8);
    let Warning::EndedEarly { reason } = &findings.warnings[0].sightings[0].warning else {
        panic!("{:?}", findings.warnings[0]);
    };
    assert!(reason.contains("5 of 8 intervals were measured"), "{reason}");
    assert_eq!(findings.notes[0], Note::Aborted);
}

#[test]
fn a_run_without_intervals_has_no_numbers() {
    let mut record = closed_run(&[10_000; 5]);
    record.intervals.clear();
    record.outcome = Outcome::Failed { reason: "EIO".to_owned() };
    let findings = analyze(&experiment(vec![record]));
    let merged = &findings.load_points[0].merged;
    assert_eq!(merged.intervals, 0);
    assert_eq!(merged.total.data.achieved_rate, None);
    assert_eq!(merged.total.data.response.mean_ns, None);
    assert!(merged.total.data.response.distribution.is_empty());
    let codes: Vec<&str> = findings.warnings.iter().map(|group| group.code).collect();
    assert_eq!(codes, ["ended_early", "nothing_measured"]);
}

#[test]
fn warnings_follow_from_the_numbers() {
    assert_eq!(codes(&experiment(vec![closed_run(&[10_000; 6])])), Vec::<&str>::new());
    assert_eq!(codes(&experiment(vec![closed_run(&[20_000; 4])])), ["window_too_short"]);
    let ramp: Vec<u64> = (0..9).map(|step| 10_000 + 1_000 * step).collect();
    assert_eq!(codes(&experiment(vec![closed_run(&ramp)])), ["not_steady"]);

    let mut busy = closed_run(&[10_000; 6]);
    for interval in &mut busy.intervals {
        interval.workers[0].cpu_ns = 950_000_000;
    }
    assert_eq!(codes(&experiment(vec![busy])), ["generator_busy"]);

    let mut unbalanced = closed_run(&[10_000; 6]);
    for interval in &mut unbalanced.intervals {
        interval.streams[0].outstanding_time_ns =
            interval.streams[0].outstanding_time_ns * 103 / 100;
    }
    assert_eq!(codes(&experiment(vec![unbalanced])), ["little_mismatch"]);

    let mut failing = closed_run(&[10_000; 6]);
    let read = &mut failing.intervals[3].streams[0].kinds[OpKind::Read as usize];
    read.failed[ErrorKind::InputOutput as usize] = 7;
    let findings = analyze(&experiment(vec![failing]));
    let errors = vec![("read".to_owned(), "input_output".to_owned(), 7)];
    assert_eq!(findings.warnings[0].sightings[0].warning, Warning::ErrorsSeen { errors });
    let stream = &findings.load_points[0].merged.streams[0];
    assert_eq!(stream.errors, [(OpKind::Read, ErrorKind::InputOutput, 7)]);
    assert_eq!(stream.data.failed, 7);
}

#[test]
fn warnings_of_the_run_are_kept_once() {
    let mut record = closed_run(&[10_000; 4]);
    record.warnings =
        vec![Warning::HostNoisy { steal: 0.2 }, Warning::WindowTooShort { intervals: 4 }];
    let findings = analyze(&experiment(vec![record]));
    let codes: Vec<&str> = findings.warnings.iter().map(|g| g.code).collect();
    assert_eq!(codes, ["window_too_short", "host_noisy"]);
    assert_eq!(findings.warnings[0].sightings.len(), 1);
    assert_eq!(findings.marks(0, None), "ab");
}

#[test]
fn curves_are_ordered_by_queue_depth_whatever_the_order_of_the_runs() {
    let at = |variant: &str, depth: u32, rate: u64| {
        let window = (0..6).map(|_| reads(rate, 8192, 100_000)).collect();
        done(run(variant, vec![stream("data", depth)], 0, 6), window)
    };
    let findings = analyze(&experiment(vec![
        at("read", 16, 40_000),
        at("write", 1, 20_000),
        at("read", 1, 10_000),
        at("read", 4, 45_000),
    ]));
    let names: Vec<&str> = findings.curves.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["read", "write"]);
    let read = &findings.curves[0];
    let labels: Vec<&str> = read.points.iter().map(|p| p.label.as_str()).collect();
    assert_eq!((read.axis.as_str(), labels), ("queue depth", vec!["1", "4", "16"]));
    assert_eq!(read.most, Some(1));
}

#[test]
fn two_swept_parameters_give_a_curve_per_value_of_the_other() {
    let at = |depth: u32, size: &str| {
        let mut run = run("read", vec![stream("data", depth)], 0, 6);
        run.parameters.push(("data.transfer_size".to_owned(), size.to_owned()));
        done(run, (0..6).map(|_| reads(1_000, 8192, 100_000)).collect())
    };
    let findings =
        analyze(&experiment(vec![at(1, "4 KiB"), at(1, "8 KiB"), at(2, "4 KiB"), at(2, "8 KiB")]));
    let names: Vec<&str> = findings.curves.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["read, data.transfer size=4 KiB", "read, data.transfer size=8 KiB"]);
    assert!(findings.curves.iter().all(|c| c.points.len() == 2));
}

#[test]
fn a_long_series_is_merged_without_losing_an_operation() {
    let intervals = 3 * POINTS_MAX as u64;
    let window = (0..intervals).map(|n| reads(1_000 + n % 3, 8192, 100_000)).collect();
    let record = done(run("v", vec![stream("data", 1)], 2, intervals - 2), window);
    let findings = analyze(&experiment(vec![record]));
    let series = &findings.series[0];
    assert_eq!(series.intervals_per_point, 3);
    assert_eq!(series.points[0].phase, PointPhase::WarmUp);
    assert_eq!(series.points[0].end_ns, 2 * SECOND_NS);
    assert_eq!(series.points[1].phase, PointPhase::Measure);
    assert_eq!(series.points[1].achieved_rate.get(), 1_001.0);
    assert!(series.points.len() <= POINTS_MAX + 2);
    let seconds = |p: &analysis::series::SeriesPoint| (p.end_ns - p.start_ns) as f64 / 1e9;
    let completed: f64 = series.points.iter().map(|p| p.achieved_rate.get() * seconds(p)).sum();
    assert!((completed - 3_003_000.0).abs() < 1.0, "{completed}");
    assert_eq!(series.points[1].response_mean, Some(Nanos(100_000.0)));
    assert!((series.points[1].cpu_used - 0.6).abs() < 1e-12);
}

#[test]
fn the_distribution_has_the_steps_of_hdrhistogram() {
    // Ten values 1 to 10: steps of 10 % to 50 %, of 5 % to 75 %, and so on; a step is printed with
    // the first value that reaches it.
    let mut interval = StreamInterval::default();
    let read = &mut interval.kinds[OpKind::Read as usize];
    read.completed = 10;
    read.response = counts(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    read.service = read.response.clone();
    let record = experiment(vec![done(run("v", vec![stream("data", 1)], 0, 1), vec![interval])]);
    let rows = only_stream(&record).data.response.distribution;
    let start: Vec<(u64, u64)> =
        rows.iter().take(8).map(|r| (r.value_ns, (r.fraction * 1000.0).round() as u64)).collect();
    assert_eq!(
        start,
        [(1, 0), (1, 100), (2, 200), (3, 300), (4, 400), (5, 500), (6, 550), (6, 600)]
    );
    let last = rows.last().unwrap();
    assert_eq!((last.value_ns, last.fraction, last.samples_to_here), (10, 1.0, 10));
}

#[test]
fn the_same_record_gives_the_same_findings_bit_for_bit() {
    let record = || {
        experiment(vec![
            closed_run(&[8_123, 12_001, 8_777, 12_345, 10_011]),
            closed_run(&[8_123, 12_001, 8_777, 12_345, 10_012]),
        ])
    };
    // The debug format prints floats exactly.
    assert_eq!(format!("{:?}", analyze(&record())), format!("{:?}", analyze(&record())));
}

#[test]
fn the_command_to_repeat_is_the_original_or_an_equivalent_one() {
    let mut record = experiment(vec![closed_run(&[10_000; 6])]);
    assert_eq!(analyze(&record).repeat_command, "fourcorners run /mnt/vol1 --profile four-corners");
    record.plan.source = "it's mine.toml".to_owned();
    let command = analyze(&record).repeat_command;
    assert_eq!(command, "fourcorners run /mnt/vol1 --workload 'it'\\''s mine.toml'");
    record.environment.command_line = Some("fourcorners run X --quick".to_owned());
    assert_eq!(analyze(&record).repeat_command, "fourcorners run X --quick");
}

#[test]
fn a_transient_in_the_window_is_a_warning_only() {
    // Fast for 12 s of which 2 are the warm-up, then throttled: burst credit that runs out.
    let rates: Vec<u64> = (0..60).map(|s| if s < 10 { 20_000 } else { 10_000 + s % 3 }).collect();
    let record = closed_run(&rates);
    let findings = analyze(&experiment(vec![record]));
    let over_time = &findings.steadiness[0].streams[0];
    let warm_up = over_time.warm_up.unwrap();
    assert_eq!((warm_up.planned_ns, warm_up.cut_ns), (2 * SECOND_NS, 12 * SECOND_NS));
    // 10,000 too many in 10 of 60 intervals, relative to the 10,001 that follow.
    let rate = findings.load_points[0].merged.total.data.achieved_rate.unwrap().value;
    assert!((warm_up.bias.unwrap() - (rate / 10_001.0 - 1.0)).abs() < 1e-4, "{warm_up:?}");
    let codes: Vec<&str> = findings.warnings.iter().map(|group| group.code).collect();
    assert_eq!(codes, ["not_steady", "warm_up_too_short", "outlier_intervals"]);
    assert_eq!(over_time.outliers.len(), 10);
    assert!(!over_time.rate.unwrap().is_steady());
}

#[test]
fn a_stall_of_one_interval_is_reported_and_counted() {
    let rates: Vec<u64> =
        (0..30).map(|s| if s == 20 { 1_000 } else { 10_000 + 50 * (s % 4) }).collect();
    let record = closed_run(&rates);
    let findings = analyze(&experiment(vec![record]));
    let [outlier] = findings.steadiness[0].streams[0].outliers[..] else {
        panic!("{:?}", findings.steadiness)
    };
    assert_eq!((outlier.start_ns, outlier.value), (22 * SECOND_NS, 1_000.0));
    let completed = findings.load_points[0].merged.total.data.completed;
    assert_eq!(completed, rates.iter().sum::<u64>());
}
