//! The sums over one run's window, before they are summarised.

use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use workload::arrival::Arrival;
use workload::plan::Stream;

use crate::host_state::{self, HostSample};
use crate::window::{self, WindowSums};

/// The sums over one run's window, before they are summarised.
pub(crate) struct RunMeasured<'a> {
    /// Each stream over the part of the window in which it is active.
    pub(crate) streams: Vec<WindowSums<'a>>,
    /// The workers of each stream over the same time.
    pub(crate) workers: Vec<WorkerMeasured>,
    /// Both over the time in which all streams are active, if that is not the time of each.
    common: Option<(Vec<WindowSums<'a>>, Vec<WorkerMeasured>)>,
    /// CPU time of the process in each interval in which all streams are active, in nanoseconds.
    pub(crate) cpu_ns: Vec<f64>,
    /// These intervals with readings of the host.
    pub(crate) host: Vec<HostSample>,
}

/// One worker over a window.
#[derive(Clone, Debug)]
pub(crate) struct WorkerMeasured {
    pub(crate) stream: u32,
    lane: u32,
    /// Its CPU time in each interval, in nanoseconds.
    pub(crate) cpu_ns: Vec<f64>,
}

impl<'a> RunMeasured<'a> {
    pub(crate) fn of(record: &'a RunRecord) -> RunMeasured<'a> {
        let run = &record.run;
        let common = window::common(record);
        let mut own: Vec<WindowSums<'a>> = Vec::new();
        let mut workers: Vec<WorkerMeasured> = Vec::new();
        for (index, stream) in run.streams.iter().enumerate() {
            let intervals = window::of_stream(record, stream);
            own.push(sums_of(record, index, &intervals));
            workers.extend(workers_of(&intervals, |of| of as usize == index));
        }
        let window = run.common_window();
        let is_common = |stream: &Stream| stream.active.window(&run.phases) == window;
        let other = (!run.streams.iter().all(is_common)).then(|| {
            let sums = (0..run.streams.len()).map(|index| sums_of(record, index, &common));
            (sums.collect(), workers_of(&common, |_| true))
        });
        RunMeasured {
            streams: own,
            workers,
            common: other,
            cpu_ns: common
                .iter()
                .map(|i| (i.process_user_ns + i.process_system_ns) as f64)
                .collect(),
            host: host_state::samples(&common),
        }
    }

    /// All streams together, over the time in which all of them are active.
    pub(crate) fn total(&self) -> WindowSums<'a> {
        let streams = self.common.as_ref().map_or(&self.streams, |(streams, _)| streams);
        let mut total = streams[0].clone();
        for stream in &streams[1..] {
            total.add_stream(stream);
        }
        total
    }

    /// The workers of all streams over the time of [`RunMeasured::total`].
    pub(crate) fn workers_of_total(&self) -> &[WorkerMeasured] {
        self.common.as_ref().map_or(&self.workers, |(_, workers)| workers)
    }

    /// Adds another repeat of the same load point.
    pub(crate) fn append(&mut self, other: &RunMeasured<'a>) {
        append_each(&mut self.streams, &mut self.workers, (&other.streams, &other.workers));
        if let (Some((streams, workers)), Some((their_streams, their_workers))) =
            (&mut self.common, &other.common)
        {
            append_each(streams, workers, (their_streams, their_workers));
        }
        self.cpu_ns.extend(&other.cpu_ns);
        self.host.extend(&other.host);
    }
}

/// Adds the streams and workers of another repeat.
fn append_each<'a>(
    streams: &mut [WindowSums<'a>],
    workers: &mut Vec<WorkerMeasured>,
    (their_streams, their_workers): (&[WindowSums<'a>], &[WorkerMeasured]),
) {
    let length = |streams: &[WindowSums<'_>], of: u32| {
        streams.get(of as usize).map_or(0, |stream| stream.length_ns.len())
    };
    for worker in their_workers {
        let before = length(streams, worker.stream);
        let cpu_ns = worker_of(workers, worker.stream, worker.lane);
        // A worker of one repeat only has no CPU time in the others.
        cpu_ns.resize(before, 0.0);
        cpu_ns.extend(&worker.cpu_ns);
    }
    for (stream, theirs) in streams.iter_mut().zip(their_streams) {
        stream.append(theirs);
    }
    for worker in workers {
        worker.cpu_ns.resize(length(streams, worker.stream), 0.0);
    }
}

/// The sums of a stream over these intervals of a run.
fn sums_of<'a>(record: &'a RunRecord, index: usize, intervals: &[&'a Interval]) -> WindowSums<'a> {
    let before = intervals.first().and_then(|first| {
        record.intervals.iter().find(|i| first.index.checked_sub(1) == Some(i.index))
    });
    let backlog_start =
        before.and_then(|i| i.streams.get(index)).map_or(0, |stream| stream.backlog_end);
    let mut measured = WindowSums::of(intervals, index, backlog_start);
    let Some(stream) = record.run.streams.get(index) else { return measured };
    // A closed loop has no growing backlog: at the end of a window at most the allowed
    // outstanding operations are due and not issued.
    measured.backlog_changed &= stream.arrival.is_open();
    measured.rate_varies = stream.arrival.is_varying();
    measured.due = due(&stream.arrival, intervals);
    measured
}

/// The workers of the streams that `is_wanted` selects.
fn workers_of(intervals: &[&Interval], is_wanted: impl Fn(u32) -> bool) -> Vec<WorkerMeasured> {
    let mut workers: Vec<WorkerMeasured> = Vec::new();
    for (number, interval) in intervals.iter().enumerate() {
        for worker in interval.workers.iter().filter(|worker| is_wanted(worker.stream)) {
            let cpu_ns = worker_of(&mut workers, worker.stream, worker.lane);
            cpu_ns.resize(intervals.len(), 0.0);
            cpu_ns[number] += worker.cpu_ns as f64;
        }
    }
    workers
}

/// Operations that become due in each interval; `None` in a closed loop.
pub(crate) fn due(arrival: &Arrival, intervals: &[&Interval]) -> Option<Vec<f64>> {
    let of = |interval: &&Interval| {
        let (from, to) = (interval.start_ns, interval.end_ns);
        let rate = arrival.offered_rate(from, to)?;
        Some(rate.get() * to.saturating_sub(from) as f64 / 1e9)
    };
    intervals.iter().map(of).collect::<Option<Vec<f64>>>().filter(|_| arrival.is_open())
}

/// The CPU times of a worker; adds the worker if it is new.
fn worker_of(workers: &mut Vec<WorkerMeasured>, stream: u32, lane: u32) -> &mut Vec<f64> {
    let same = |worker: &WorkerMeasured| (worker.stream, worker.lane) == (stream, lane);
    let index = workers.iter().position(same).unwrap_or(workers.len());
    if index == workers.len() {
        workers.push(WorkerMeasured { stream, lane, cpu_ns: Vec::new() });
    }
    &mut workers[index].cpu_ns
}
