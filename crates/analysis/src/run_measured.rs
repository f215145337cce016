//! The sums over one run's window, before they are summarised.

use metrics::interval::Interval;
use metrics::run_record::RunRecord;
use workload::arrival::Arrival;

use crate::host_state::{self, HostSample};
use crate::window::{self, WindowSums};

/// The sums over one run's window, before they are summarised.
pub(crate) struct RunMeasured<'a> {
    pub(crate) streams: Vec<WindowSums<'a>>,
    /// CPU time of the process in each interval, in nanoseconds.
    pub(crate) cpu_ns: Vec<f64>,
    /// CPU time of each worker in each interval, in nanoseconds.
    pub(crate) workers: Vec<WorkerMeasured>,
    /// The intervals with readings of the host.
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
        let intervals = window::measured(record);
        let before = intervals.first().and_then(|first| {
            record.intervals.iter().find(|i| first.index.checked_sub(1) == Some(i.index))
        });
        let backlog_start =
            |s: usize| before.and_then(|i| i.streams.get(s)).map_or(0, |stream| stream.backlog_end);
        let mut workers: Vec<WorkerMeasured> = Vec::new();
        for (number, interval) in intervals.iter().enumerate() {
            for worker in &interval.workers {
                let cpu_ns = worker_of(&mut workers, worker.stream, worker.lane);
                cpu_ns.resize(intervals.len(), 0.0);
                cpu_ns[number] += worker.cpu_ns as f64;
            }
        }
        let streams = record.run.streams.iter().enumerate().map(|(s, stream)| {
            let mut measured = WindowSums::of(&intervals, s, backlog_start(s));
            // A closed loop has no growing backlog: at the end of a window at most the allowed
            // outstanding operations are due and not issued.
            measured.backlog_changed &= stream.arrival.is_open();
            measured.rate_varies = stream.arrival.is_varying();
            measured.due = due(&stream.arrival, &intervals);
            measured
        });
        RunMeasured {
            streams: streams.collect(),
            cpu_ns: intervals
                .iter()
                .map(|i| (i.process_user_ns + i.process_system_ns) as f64)
                .collect(),
            workers,
            host: host_state::samples(&intervals),
        }
    }

    /// All streams together.
    pub(crate) fn total(&self) -> WindowSums<'a> {
        let mut total = self.streams[0].clone();
        for stream in &self.streams[1..] {
            total.add_stream(stream);
        }
        total
    }

    /// Adds another repeat of the same load point.
    pub(crate) fn append(&mut self, other: &RunMeasured<'a>) {
        for (stream, theirs) in self.streams.iter_mut().zip(&other.streams) {
            stream.append(theirs);
        }
        let before = self.cpu_ns.len();
        self.cpu_ns.extend(&other.cpu_ns);
        self.host.extend(&other.host);
        for worker in &other.workers {
            let cpu_ns = worker_of(&mut self.workers, worker.stream, worker.lane);
            // A worker of one repeat only has no CPU time in the others.
            cpu_ns.resize(before, 0.0);
            cpu_ns.extend(&worker.cpu_ns);
        }
        for worker in &mut self.workers {
            worker.cpu_ns.resize(self.cpu_ns.len(), 0.0);
        }
    }
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
