//! Combines the tallies of all workers into the host's intervals.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use metrics::connection::ConnectionInterval;
use metrics::interval::{Interval, StreamInterval, TargetInterval, WorkerInterval};
use metrics::recorder::Tally;
use rtrb::{Consumer, Producer};
use workload::connection::ConnectionCounters;
use workload::plan::Stream;

use crate::cpu::{ProcessCpu, ThreadTimes};
use crate::host_state::HostStateReader;
use crate::pulse::Pulse;
use crate::worker::Handover;

/// Empty tallies of a worker in addition to the one it records into.
pub(crate) const SPARE_TALLIES: usize = 3;

/// A full tally and the time at which its interval ended.
#[derive(Debug)]
struct Full {
    tally: Box<Tally>,
    end_ns: u64,
}

/// The worker's end of the handover: two lock-free rings.
#[derive(Debug)]
pub(crate) struct WorkerEnd {
    full: Producer<Full>,
    empty: Consumer<Box<Tally>>,
}

impl Handover for WorkerEnd {
    fn empty(&mut self) -> Option<Box<Tally>> {
        self.empty.pop().ok()
    }

    fn full(&mut self, tally: Box<Tally>, end_ns: u64) {
        let pushed = self.full.push(Full { tally, end_ns });
        pushed.expect("the ring has room for every tally of the worker");
    }

    fn is_abandoned(&self) -> bool {
        self.empty.is_abandoned()
    }
}

/// The collector's end of the handover, and the collector's state for the worker.
#[derive(Debug)]
pub(crate) struct CollectorEnd {
    full: Consumer<Full>,
    empty: Producer<Box<Tally>>,
    stream: usize,
    /// Index of its part in `Interval::targets`; `None` for a run with one target.
    part: Option<usize>,
    target: u32,
    lane: u32,
    tid: i32,
    pulse: Arc<Pulse>,
    /// The thread's times at the last edge.
    times: ThreadTimes,
    /// The counters of its connections at the last edge.
    connections: Vec<ConnectionCounters>,
    /// Its share of its lane's backlog at the last edge, which remains when it ends.
    backlog: i64,
    /// Number of the next interval that it will deliver.
    next_index: u32,
    /// It is stuck in a system call; no further tally is expected.
    is_abandoned: bool,
}

impl CollectorEnd {
    /// Whether it has delivered interval `index`, or never will.
    fn is_past(&self, index: u32) -> bool {
        self.next_index > index || self.is_gone()
    }

    /// Adds what its connections did in the interval of a tally.
    fn connections_in(&mut self, tally: &Tally, interval: &mut Interval, end_ns: u64) {
        let interval_ns = end_ns.saturating_sub(interval.start_ns);
        for (number, counters) in tally.connections().iter().enumerate() {
            let before = self.connections.get(number);
            interval.connections.push(ConnectionInterval {
                stream: self.stream as u32,
                lane: self.lane,
                number: number as u32,
                ..ConnectionInterval::between(before, counters, interval_ns)
            });
        }
        self.connections.clear();
        self.connections.extend_from_slice(tally.connections());
    }

    /// What it adds to in an interval: a stream, or its part on a target.
    fn sums<'i>(&self, interval: &'i mut Interval) -> &'i mut StreamInterval {
        match self.part {
            None => &mut interval.streams[self.stream],
            Some(part) => &mut interval.targets[part].sums,
        }
    }

    /// Whether no further tally will come.
    fn is_gone(&self) -> bool {
        self.is_abandoned || (self.full.is_abandoned() && self.full.is_empty())
    }
}

/// The part of a run that a worker belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// The stream's index.
    pub(crate) stream: usize,
    /// The target's position in the plan.
    pub(crate) target: u32,
}

/// Both ends of a worker's handover, and its first tally.
///
/// * `lane` - its number in the stream
/// * `tally` - makes a tally
pub(crate) fn handover(
    part: Part,
    lane: u32,
    connections: usize,
    pulse: Arc<Pulse>,
    tally: impl Fn() -> Tally,
) -> (WorkerEnd, CollectorEnd, Box<Tally>) {
    let (full_in, full_out) = rtrb::RingBuffer::new(SPARE_TALLIES + 1);
    let (mut empty_in, empty_out) = rtrb::RingBuffer::new(SPARE_TALLIES + 1);
    for _ in 0..SPARE_TALLIES {
        let spare = Box::new(tally());
        empty_in.push(spare).expect("the ring has room for the spares");
    }
    let worker = WorkerEnd { full: full_in, empty: empty_out };
    let (full, empty) = (full_out, empty_in);
    let collector = CollectorEnd {
        full,
        empty,
        stream: part.stream,
        part: None,
        target: part.target,
        lane,
        tid: 0,
        pulse,
        times: ThreadTimes::default(),
        connections: Vec::with_capacity(connections),
        backlog: 0,
        next_index: 0,
        is_abandoned: false,
    };
    (worker, collector, Box::new(tally()))
}

/// The parts of an interval, if the run has several targets: those that this host's workers send to.
fn parts(streams: &[Stream], ends: &[CollectorEnd]) -> Vec<TargetInterval> {
    if streams.iter().all(|stream| stream.targets.is_first()) {
        return Vec::new();
    }
    let part =
        |(stream, target)| TargetInterval { stream, target, sums: StreamInterval::default() };
    let used: BTreeSet<(u32, u32)> =
        ends.iter().map(|end| (end.stream as u32, end.target)).collect();
    used.into_iter().map(part).collect()
}

/// Builds the host's intervals in order. Tallies are taken as they come and returned immediately,
/// so that a stalled worker delays only itself.
pub(crate) struct Collector<'h> {
    ends: Vec<CollectorEnd>,
    streams: usize,
    /// An empty part for each target of each stream; none for a run with one target.
    parts: Vec<TargetInterval>,
    interval_ns: u64,
    /// Index of the first interval in `pending`.
    next_index: u32,
    pending: VecDeque<Pending>,
    process: ProcessCpu,
    host: Option<&'h mut dyn HostStateReader>,
}

/// An interval that some workers have not delivered yet.
#[derive(Debug)]
struct Pending {
    interval: Interval,
    /// At least one worker has delivered it.
    has_part: bool,
    /// CPU times and the host's state were read at its edge.
    is_sampled: bool,
}

impl<'h> Collector<'h> {
    /// Without a `host` reader, intervals have no host state.
    pub(crate) fn new(
        mut ends: Vec<CollectorEnd>,
        streams: &[Stream],
        interval_ns: u64,
        host: Option<&'h mut dyn HostStateReader>,
    ) -> Collector<'h> {
        let parts = parts(streams, &ends);
        for end in &mut ends {
            let is_its = |one: &TargetInterval| {
                one.stream as usize == end.stream && one.target == end.target
            };
            end.part = parts.iter().position(is_its);
        }
        Collector {
            ends,
            streams: streams.len(),
            parts,
            interval_ns,
            next_index: 0,
            pending: VecDeque::new(),
            process: ProcessCpu::read(),
            host,
        }
    }

    /// Sets the workers' thread numbers, in the order of the ends, and takes the first readings of
    /// their CPU time and of the host's state.
    pub(crate) fn start(&mut self, tids: &[i32]) {
        for (end, tid) in self.ends.iter_mut().zip(tids) {
            end.tid = *tid;
            end.times = ThreadTimes::of_thread(*tid).unwrap_or_default();
        }
        self.process = ProcessCpu::read();
        if let Some(host) = &mut self.host {
            host.begin(tids);
        }
    }

    /// The next edge at which CPU times are read, in nanoseconds from the run's start.
    pub(crate) fn next_edge_ns(&self) -> u64 {
        let sampled = self.pending.iter().take_while(|pending| pending.is_sampled).count();
        (u64::from(self.next_index) + sampled as u64 + 1) * self.interval_ns
    }

    /// Reads CPU times and the host's state if an edge has passed, and takes all delivered tallies.
    pub(crate) fn poll(&mut self, now_ns: u64) {
        while now_ns >= self.next_edge_ns() {
            let index = (self.next_edge_ns() / self.interval_ns - 1) as u32;
            self.sample(index);
        }
        for number in 0..self.ends.len() {
            while let Ok(Full { mut tally, end_ns }) = self.ends[number].full.pop() {
                let index = tally.index;
                self.pending(index);
                let pending = &mut self.pending[(index - self.next_index) as usize];
                let end = &mut self.ends[number];
                debug_assert_eq!(index, end.next_index, "tallies arrive in order");
                pending.has_part = true;
                pending.interval.end_ns = pending.interval.end_ns.max(end_ns);
                end.connections_in(&tally, &mut pending.interval, end_ns);
                end.backlog = tally.backlog_end();
                tally.drain_into(end.sums(&mut pending.interval));
                end.next_index = index + 1;
                // This fails only if the worker has ended and needs no empty tally.
                drop(end.empty.push(tally));
            }
        }
    }

    /// The next interval, if every worker has delivered it.
    pub(crate) fn take(&mut self) -> Option<Interval> {
        let front = self.pending.front()?;
        let is_complete = self.ends.iter().all(|end| end.is_past(self.next_index));
        if !is_complete || !front.has_part {
            return None;
        }
        if !front.is_sampled {
            // The last interval of a run may end before its edge.
            self.sample(self.next_index);
        }
        let Pending { mut interval, .. } = self.pending.pop_front()?;
        for end in self.ends.iter().filter(|end| end.next_index <= self.next_index) {
            // This worker ended before this interval, while others still wait for outstanding
            // operations: its backlog remains.
            let backlog = &mut end.sums(&mut interval).backlog_end;
            *backlog = backlog.wrapping_add_signed(end.backlog);
        }
        self.next_index += 1;
        // Workers deliver their parts in any order.
        interval.connections.sort_by_key(|one| (one.stream, one.lane, one.number));
        let has_gone = self.ends.iter().any(CollectorEnd::is_gone);
        let Interval { streams, targets, .. } = &mut interval;
        let parts = targets.iter_mut().map(|one| &mut one.sums);
        for stream in streams.iter_mut().chain(parts) {
            assert!(stream.is_balanced(), "issued = completed + failed + outstanding: {stream:?}");
            let is_negative = i64::try_from(stream.backlog_end).is_err()
                || i128::try_from(stream.backlog_time_ns).is_err();
            if has_gone && is_negative {
                // The worker that counted what is due is gone, so the backlog is unknown.
                (stream.backlog_end, stream.backlog_time_ns) = (0, 0);
            }
        }
        for part in targets {
            streams[part.stream as usize].merge(&part.sums);
        }
        Some(interval)
    }

    /// Stops waiting for a stuck worker.
    pub(crate) fn abandon(&mut self, number: usize) {
        self.ends[number].is_abandoned = true;
    }

    /// Whether every worker has ended, so that edges need not be awaited.
    pub(crate) fn are_workers_gone(&self) -> bool {
        self.ends.iter().all(|end| end.is_abandoned || end.full.is_abandoned())
    }

    /// Whether every worker has ended and everything it delivered was taken.
    pub(crate) fn is_done(&self) -> bool {
        self.ends.iter().all(CollectorEnd::is_gone)
            && !self.pending.iter().any(|pending| pending.has_part)
    }

    /// The pending interval `index`, added if it is new.
    fn pending(&mut self, index: u32) -> &mut Pending {
        while self.next_index + self.pending.len() as u32 <= index {
            let index = self.next_index + self.pending.len() as u32;
            let start_ns = u64::from(index) * self.interval_ns;
            let streams = vec![StreamInterval::default(); self.streams];
            let targets = self.parts.clone();
            let interval = Interval {
                index,
                start_ns,
                end_ns: start_ns,
                streams,
                targets,
                ..Interval::default()
            };
            self.pending.push_back(Pending { interval, has_part: false, is_sampled: false });
        }
        &mut self.pending[(index - self.next_index) as usize]
    }

    /// Reads CPU times and the host's state, and assigns the changes to interval `index`.
    fn sample(&mut self, index: u32) {
        let process = ProcessCpu::read();
        // Read immediately afterwards, so that both cover the same time.
        let mut host = self.host.as_mut().map(|host| host.since_last());
        let (user_ns, system_ns) = process.since(&self.process);
        self.process = process;
        let mut workers: Vec<WorkerInterval> = Vec::with_capacity(self.ends.len());
        let mut run_delay_ns = 0;
        for end in &mut self.ends {
            let times = end.pulse.times_at_end().or_else(|| ThreadTimes::of_thread(end.tid));
            let times = times.unwrap_or(end.times);
            let used_ns = times.cpu_ns.saturating_sub(end.times.cpu_ns);
            run_delay_ns += times.run_delay_ns.saturating_sub(end.times.run_delay_ns);
            let (stream, lane) = (end.stream as u32, end.lane);
            end.times = times;
            match workers.last_mut() {
                // The threads of a lane are adjacent and count as one worker.
                Some(worker) if worker.stream == stream && worker.lane == lane => {
                    worker.cpu_ns += used_ns;
                }
                _ => workers.push(WorkerInterval { stream, lane, cpu_ns: used_ns }),
            }
        }
        if let Some(others_ns) = host.as_mut().and_then(|host| host.run_queue_delay_ns.as_mut()) {
            *others_ns += run_delay_ns;
        }
        let pending = self.pending(index);
        pending.is_sampled = true;
        pending.interval.process_user_ns = user_ns;
        pending.interval.process_system_ns = system_ns;
        pending.interval.workers = workers;
        pending.interval.host = host;
    }
}

#[cfg(test)]
mod tests {
    use metrics::host_state::HostInterval;
    use metrics::recorder::Recorder;
    use workload::active_time::ActiveTime;
    use workload::arrival::Arrival;
    use workload::data::DataPattern;
    use workload::file_use::FileUse;
    use workload::pattern::AccessPattern;
    use workload::plan::{Spread, StreamTargets, WeightedSize, WorkingSet};

    use super::*;

    /// A stream on these targets.
    fn stream(positions: &[u32]) -> Stream {
        Stream {
            name: "main".to_owned(),
            read_permille: 1000,
            transfer_sizes: vec![WeightedSize { size_bytes: 4096, weight: 1 }],
            access_pattern: AccessPattern::Uniform,
            working_set: WorkingSet { files: 1, file_size_bytes: 4096, area_bytes: 4096 },
            file_use: FileUse::ALL,
            queue_depth: 1,
            workers: 2,
            arrival: Arrival::Closed { think_time_ns: 0 },
            active: ActiveTime::WHOLE_RUN,
            direct: true,
            dsync: false,
            write_stability: None,
            fsync_every_writes: None,
            data: DataPattern::default(),
            targets: StreamTargets { positions: positions.to_vec(), spread: Spread::Worker },
            names: None,
            replay: None,
        }
    }

    #[test]
    fn a_stream_is_the_sum_of_its_parts_on_targets() {
        let pulse = || Arc::new(Pulse::default());
        let part = |target| Part { stream: 0, target };
        let (mut first, first_end, first_tally) = handover(part(3), 0, 0, pulse(), Tally::default);
        let (mut second, second_end, second_tally) =
            handover(part(5), 1, 0, pulse(), Tally::default);
        let streams = [stream(&[3, 5])];
        let mut collector = Collector::new(vec![second_end, first_end], &streams, 1000, None);
        turn(&mut Recorder::new(first_tally), &mut first, 100);
        drop(first);
        let mut recorder = Recorder::new(second_tally);
        [20, 21].into_iter().for_each(|backlog| turn(&mut recorder, &mut second, backlog));
        drop(second);
        collector.poll(3000);
        let intervals: Vec<Interval> = std::iter::from_fn(|| collector.take()).collect();
        let backlogs: Vec<Vec<(u32, u64)>> = intervals
            .iter()
            .map(|one| {
                one.targets.iter().map(|part| (part.target, part.sums.backlog_end)).collect()
            })
            .collect();
        assert_eq!(backlogs, [[(3, 100), (5, 20)], [(3, 100), (5, 21)]]);
        let totals: Vec<u64> = intervals.iter().map(|one| one.streams[0].backlog_end).collect();
        assert_eq!(totals, [120, 121]);
    }

    /// Delivers the current tally at the end of its interval.
    fn turn(recorder: &mut Recorder, handover: &mut WorkerEnd, backlog: i64) {
        let index = recorder.interval();
        let edge_ns = u64::from(index + 1) * 1000;
        let empty = handover.empty().expect("there are spares");
        let full = recorder.turn(edge_ns, index + 1, backlog, 0, empty);
        handover.full(full, edge_ns);
    }

    #[test]
    fn the_backlog_of_an_ended_worker_remains_while_others_still_wait() {
        // Two threads of a lane: the first counts what is due for both and ends with interval 0;
        // the second has an operation outstanding until interval 2.
        let pulse = || Arc::new(Pulse::default());
        let only = Part { stream: 0, target: 0 };
        let (mut first, first_end, first_tally) = handover(only, 0, 0, pulse(), Tally::default);
        let (mut second, second_end, second_tally) = handover(only, 0, 0, pulse(), Tally::default);
        let streams = [stream(&[0])];
        let mut collector = Collector::new(vec![first_end, second_end], &streams, 1000, None);
        turn(&mut Recorder::new(first_tally), &mut first, 100);
        drop(first);
        let mut recorder = Recorder::new(second_tally);
        for own in [-40, -41, -41] {
            turn(&mut recorder, &mut second, own);
        }
        drop(second);
        collector.poll(3000);
        let backlogs = std::iter::from_fn(|| collector.take());
        let backlogs: Vec<u64> = backlogs.map(|i| i.streams[0].backlog_end).collect();
        assert_eq!(backlogs, [60, 59, 59]);
    }

    /// A reader that returns readings with the given spans.
    struct Scripted {
        spans_ns: VecDeque<u64>,
        workers: Vec<i32>,
    }

    impl HostStateReader for Scripted {
        fn begin(&mut self, workers: &[i32]) {
            self.workers = workers.to_vec();
        }

        fn since_last(&mut self) -> HostInterval {
            let span_ns =
                self.spans_ns.pop_front().expect("the script has a span for each reading");
            HostInterval { span_ns, ..HostInterval::default() }
        }
    }

    #[test]
    fn the_host_is_read_once_per_interval_even_if_edges_are_noticed_late() {
        let only = Part { stream: 0, target: 0 };
        let (mut worker, end, tally) =
            handover(only, 0, 0, Arc::new(Pulse::default()), Tally::default);
        // The collector polls 400 ns after the first edge, then after two more edges; the worker
        // ends during the last interval.
        let mut host = Scripted { spans_ns: [1400, 1650, 20, 300].into(), workers: Vec::new() };
        let streams = [stream(&[0])];
        let mut collector = Collector::new(vec![end], &streams, 1000, Some(&mut host));
        collector.start(&[-1]);
        let mut recorder = Recorder::new(tally);
        turn(&mut recorder, &mut worker, 0);
        collector.poll(1400);
        let spans = |collector: &mut Collector<'_>| -> Vec<u64> {
            let taken = std::iter::from_fn(|| collector.take());
            taken.map(|interval| interval.host.expect("there is a reader").span_ns).collect()
        };
        assert_eq!(spans(&mut collector), [1400]);
        (0..3).for_each(|_| turn(&mut recorder, &mut worker, 0));
        drop(worker);
        collector.poll(3050);
        assert_eq!(spans(&mut collector), [1650, 20, 300]);
        assert_eq!(host.workers, [-1]);
    }
}
