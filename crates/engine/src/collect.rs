//! Gathers the tallies of all workers into the intervals of the host.

use std::sync::Arc;

use metrics::interval::{Interval, StreamInterval, WorkerInterval};
use metrics::recorder::Tally;
use rtrb::{Consumer, Producer};

use crate::cpu::{self, ProcessCpu};
use crate::drive::Pulse;
use crate::worker::Handover;

/// Empty tallies that a worker owns beside the one it records into.
const SPARE_TALLIES: usize = 3;

/// A tally on its way, and the instant at which its interval ended.
#[derive(Debug)]
struct Full {
    tally: Box<Tally>,
    end_ns: u64,
}

/// The worker's end: two rings without locks.
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
}

/// The collector's end, and what it knows of the worker.
#[derive(Debug)]
pub(crate) struct CollectorEnd {
    full: Consumer<Full>,
    empty: Producer<Box<Tally>>,
    stream: usize,
    lane: u32,
    open: bool,
    tid: i32,
    pulse: Arc<Pulse>,
    cpu_ns: u64,
}

/// Both ends of a worker's handover, and the tally it begins with.
pub(crate) fn handover(
    stream: usize,
    lane: u32,
    open: bool,
    pulse: Arc<Pulse>,
) -> (WorkerEnd, CollectorEnd, Box<Tally>) {
    let (full_in, full_out) = rtrb::RingBuffer::new(SPARE_TALLIES + 1);
    let (mut empty_in, empty_out) = rtrb::RingBuffer::new(SPARE_TALLIES + 1);
    for _ in 0..SPARE_TALLIES {
        empty_in.push(Box::default()).expect("the ring has room for the spares");
    }
    let worker = WorkerEnd { full: full_in, empty: empty_out };
    let (full, empty) = (full_out, empty_in);
    let collector = CollectorEnd { full, empty, stream, lane, open, tid: 0, pulse, cpu_ns: 0 };
    (worker, collector, Box::default())
}

/// Builds the host's intervals in order.
#[derive(Debug)]
pub(crate) struct Collector {
    ends: Vec<CollectorEnd>,
    streams: usize,
    interval_ns: u64,
    next_index: u32,
    process: ProcessCpu,
    /// CPU times sampled at the edge of the interval that is being gathered.
    sampled: Option<ProcessCpu>,
}

impl Collector {
    pub(crate) fn new(ends: Vec<CollectorEnd>, streams: usize, interval_ns: u64) -> Collector {
        Collector {
            ends,
            streams,
            interval_ns,
            next_index: 0,
            process: ProcessCpu::read(),
            sampled: None,
        }
    }

    /// Learns the workers' thread numbers, in the order of the ends, and begins to count their CPU
    /// time.
    pub(crate) fn start(&mut self, tids: &[i32]) {
        for (end, tid) in self.ends.iter_mut().zip(tids) {
            end.tid = *tid;
            end.cpu_ns = cpu::thread_cpu_ns(*tid).unwrap_or(0);
        }
        self.process = ProcessCpu::read();
    }

    /// The edge of the interval that is being gathered, in nanoseconds from the run's start.
    pub(crate) fn next_edge_ns(&self) -> u64 {
        (u64::from(self.next_index) + 1) * self.interval_ns
    }

    /// The interval that is being gathered, if every worker has delivered its part. Called at or
    /// after its edge.
    pub(crate) fn gather(&mut self) -> Option<Interval> {
        let process = *self.sampled.get_or_insert_with(ProcessCpu::read);
        let delivered = |end: &CollectorEnd| !end.full.is_empty();
        let complete = self.ends.iter().all(|end| delivered(end) || end.full.is_abandoned());
        // A worker may deliver its last tally and go between the two looks.
        if !complete || !self.ends.iter().any(delivered) {
            return None;
        }
        let start_ns = u64::from(self.next_index) * self.interval_ns;
        let (process_user_ns, process_system_ns) = process.since(&self.process);
        let mut interval = Interval {
            index: self.next_index,
            start_ns,
            end_ns: start_ns,
            streams: vec![StreamInterval::default(); self.streams],
            workers: Vec::with_capacity(self.ends.len()),
            process_user_ns,
            process_system_ns,
        };
        for end in &mut self.ends {
            if let Ok(Full { mut tally, end_ns }) = end.full.pop() {
                debug_assert_eq!(tally.index, self.next_index, "tallies come in order");
                interval.end_ns = interval.end_ns.max(end_ns);
                tally.drain_into(end.open, &mut interval.streams[end.stream]);
                // The worker is gone where this fails, and needs no empty tally.
                drop(end.empty.push(tally));
            }
            let at_end = end.pulse.cpu_at_end_ns();
            let cpu_ns = at_end.or_else(|| cpu::thread_cpu_ns(end.tid)).unwrap_or(end.cpu_ns);
            let (stream, lane, used_ns) =
                (end.stream as u32, end.lane, cpu_ns.saturating_sub(end.cpu_ns));
            end.cpu_ns = cpu_ns;
            match interval.workers.last_mut() {
                // The threads of one lane follow each other and are one worker.
                Some(worker) if worker.stream == stream && worker.lane == lane => {
                    worker.cpu_ns += used_ns;
                }
                _ => interval.workers.push(WorkerInterval { stream, lane, cpu_ns: used_ns }),
            }
        }
        for stream in &interval.streams {
            assert!(stream.is_balanced(), "issued = completed + failed + outstanding: {stream:?}");
        }
        self.process = process;
        self.sampled = None;
        self.next_index += 1;
        Some(interval)
    }

    /// Every worker has gone: edges need not be awaited any more.
    pub(crate) fn are_workers_gone(&self) -> bool {
        self.ends.iter().all(|end| end.full.is_abandoned())
    }

    /// Every worker has gone and everything it delivered was gathered.
    pub(crate) fn is_done(&self) -> bool {
        self.ends.iter().all(|end| end.full.is_abandoned() && end.full.is_empty())
    }
}
