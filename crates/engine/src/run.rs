//! A run on this host: starts its threads together, gathers their intervals, watches them, and says
//! how it ended.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use metrics::interval::Interval;
use metrics::run_record::Outcome;
use target::TargetError;
use workload::op::Op;
use workload::plan::{Assignment, EngineChoice, Stream};

use crate::clock::{Clock, MonotonicClock};
use crate::collect::{self, Collector, CollectorEnd};
use crate::drive::{Pulse, STOP_NOW_GRACE_NS, Stop};
use crate::thread::{Ended, Message, StartLine, Thread, jobs};

/// Most threads of one run; a psync run needs one for each outstanding operation.
pub const THREADS_MAX: u64 = 2048;
/// How long opening all files and rings may take.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// A worker's stack: its loop is flat, and psync may need two thousand of them.
const STACK_BYTES: usize = 256 << 10;
/// Longest sleep of the conducting thread.
const NAP: Duration = Duration::from_millis(20);
/// Its sleep while some worker's part of an ended interval is still missing.
const STRAGGLER_NAP: Duration = Duration::from_micros(200);
/// From "all workers are ready" to the run's start.
const LEAD: Duration = Duration::from_millis(5);

/// What is to be run on this host.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The share of the run.
    pub assignment: &'a Assignment,
    /// The directory that holds the streams' files; `None` for the null target.
    pub directory: Option<PathBuf>,
    /// `IoUring` or `Psync`; the choice has been made.
    pub engine: EngineChoice,
    /// Workers are pinned to processors in turn.
    pub pin: bool,
    /// What is read is held against what must be there.
    pub verify: bool,
    /// The seed of the data in the files.
    pub data_seed: u64,
}

/// Why a run could not be started or carried on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A worker's target could not be opened or failed for good.
    #[error("stream {stream}, worker {lane}: {source}")]
    Target {
        /// The stream's name.
        stream: String,
        /// The worker's lane.
        lane: u32,
        /// What happened.
        source: TargetError,
    },
    /// A worker died of a programming mistake.
    #[error("a worker of stream {stream} died; this is a defect of fourcorners")]
    WorkerDied {
        /// The stream's name.
        stream: String,
    },
    /// More threads than one process should have.
    #[error(
        "the run needs {wanted} threads (psync: one for each outstanding operation), at most \
         {THREADS_MAX}; lower queue_depth or workers, or use the io_uring engine"
    )]
    TooManyThreads {
        /// Threads wanted.
        wanted: u64,
    },
    /// Workers did not become ready.
    #[error("opening files took longer than {} s", READY_WITHIN.as_secs())]
    NotReady,
}

/// How a run ended on this host.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// How.
    pub outcome: Outcome,
    /// Particulars for a reader: mismatches, operations that hang.
    pub details: Vec<String>,
}

/// Runs an assignment to its end. `on_interval` gets every interval as soon as it is complete, and
/// may end the run with a reason.
///
/// # Errors
/// A target could not be opened, or failed for good; what was measured before has been passed on.
pub fn run(
    request: &Request<'_>,
    stop: &Arc<Stop>,
    on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
) -> Result<RunEnd, EngineError> {
    let run = &request.assignment.run;
    let (crew, ends) = Crew::launch(request, stop)?;
    let tids = crew.await_ready().inspect_err(|_| crew.start_line.announce(None))?;
    let mut collector = Collector::new(ends, run.streams.len(), run.phases.interval_ns);
    collector.start(&tids);
    let start = Instant::now() + LEAD;
    let clock = MonotonicClock::starting_at(start);
    crew.start_line.announce(Some(start));

    let mut watch = Watch {
        running: crew.members.len(),
        crew,
        end: RunEnd { outcome: Outcome::Done, details: Vec::new() },
        broken: None,
    };
    loop {
        if let Some(interval) = collector.gather_at_edge(&clock) {
            if let ControlFlow::Break(reason) = on_interval(interval) {
                stop.now();
                watch.end.outcome = Outcome::Failed { reason };
            }
            continue;
        }
        watch.listen(stop);
        if watch.running == 0 && collector.is_done() {
            break;
        }
        // A worker that sits in a blocking call cannot look at the clock itself.
        if request.engine == EngineChoice::Psync && watch.running > 0 {
            let patience_ns =
                if stop.is_now() { STOP_NOW_GRACE_NS } else { run.operation_deadline_ns };
            if let Some(stuck) = watch.crew.stuck(patience_ns, clock.now_ns()) {
                watch.leave_behind(stuck, patience_ns, stop);
                break;
            }
        }
    }
    watch.finish(stop)
}

/// The threads of a run, as seen by the one that conducts them.
struct Crew {
    members: Vec<Member>,
    start_line: Arc<StartLine>,
    messages: Receiver<Message>,
}

/// One thread.
struct Member {
    stream: String,
    lane: u32,
    pulse: Arc<Pulse>,
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stream {}, worker {}", self.stream, self.lane)
    }
}

impl Crew {
    /// Starts a thread for each job; they open their targets and wait. All memory that is handed
    /// over later is allocated here, before anything is measured.
    fn launch(
        request: &Request<'_>,
        stop: &Arc<Stop>,
    ) -> Result<(Crew, Vec<CollectorEnd>), EngineError> {
        let jobs = jobs(request)?;
        let (sender, messages) = channel();
        let start_line = Arc::new(StartLine::default());
        let mut crew = Crew { members: Vec::with_capacity(jobs.len()), start_line, messages };
        let mut ends = Vec::with_capacity(jobs.len());
        for (number, job) in jobs.into_iter().enumerate() {
            let pulse = Arc::new(Pulse::default());
            crew.members.push(Member {
                stream: job.stream.name.clone(),
                lane: job.assigned.lane,
                pulse: Arc::clone(&pulse),
            });
            let open = job.stream.arrival.offered_rate().is_some();
            let (worker_end, collector_end, tally) =
                collect::handover(job.stream_index, job.assigned.lane, open, Arc::clone(&pulse));
            ends.push(collector_end);
            let thread = Thread {
                number,
                sender: sender.clone(),
                start_line: Arc::clone(&crew.start_line),
                stop: Arc::clone(stop),
                pulse,
            };
            std::thread::Builder::new()
                .name(format!("worker-{number}"))
                .stack_size(STACK_BYTES)
                .spawn(move || thread.work(job, worker_end, tally))
                .map_err(|source| {
                    crew.start_line.announce(None);
                    let target = "a thread".to_owned();
                    crew.failed(number, TargetError::Drive { target, source })
                })?;
        }
        Ok((crew, ends))
    }

    /// Waits until every thread has opened its target; their thread numbers, in order.
    fn await_ready(&self) -> Result<Vec<i32>, EngineError> {
        let mut tids = vec![0; self.members.len()];
        for _ in 0..self.members.len() {
            match self.messages.recv_timeout(READY_WITHIN) {
                Ok(Message::Ready(number, tid)) => tids[number] = tid,
                Ok(Message::Ended(number, Err(source))) => return Err(self.failed(number, source)),
                Ok(Message::Ended(number, Ok(_)) | Message::Died(number)) => {
                    return Err(self.died(number));
                }
                Err(_) => return Err(EngineError::NotReady),
            }
        }
        Ok(tids)
    }

    /// The first thread whose loop has not gone around for longer than `patience_ns`.
    fn stuck(&self, patience_ns: u64, now_ns: u64) -> Option<usize> {
        self.members.iter().position(|member| member.pulse.is_stuck(now_ns, patience_ns))
    }

    fn failed(&self, number: usize, source: TargetError) -> EngineError {
        let Member { stream, lane, .. } = &self.members[number];
        EngineError::Target { stream: stream.clone(), lane: *lane, source }
    }

    fn died(&self, number: usize) -> EngineError {
        EngineError::WorkerDied { stream: self.members[number].stream.clone() }
    }
}

impl Collector {
    /// Waits a little for the edge of the interval that is being gathered, then gathers it if it is
    /// complete.
    fn gather_at_edge(&mut self, clock: &impl Clock) -> Option<Interval> {
        let ahead = Duration::from_nanos(self.next_edge_ns().saturating_sub(clock.now_ns()));
        if !ahead.is_zero() && !self.are_workers_gone() {
            // Short naps, so that errors and ends need not wait for a long interval's edge.
            std::thread::sleep(ahead.min(NAP));
            if ahead > NAP && !self.are_workers_gone() {
                return None;
            }
        }
        let gathered = self.gather();
        if gathered.is_none() && !self.is_done() {
            std::thread::sleep(STRAGGLER_NAP);
        }
        gathered
    }
}

/// What the conducting thread hears while workers run.
struct Watch {
    crew: Crew,
    running: usize,
    end: RunEnd,
    broken: Option<EngineError>,
}

impl Watch {
    /// Takes every message that has arrived.
    fn listen(&mut self, stop: &Stop) {
        while let Ok(message) = self.crew.messages.try_recv() {
            match message {
                Message::Ready(..) => continue,
                Message::Ended(number, Ok(ended)) => self.note(number, ended, stop),
                Message::Ended(number, Err(source)) => {
                    self.broken.get_or_insert(self.crew.failed(number, source));
                    stop.now();
                }
                Message::Died(number) => {
                    self.broken.get_or_insert(self.crew.died(number));
                    stop.now();
                }
            }
            self.running -= 1;
        }
    }

    /// Notes what a worker tells at its end.
    fn note(&mut self, number: usize, ended: Ended, stop: &Stop) {
        let member = &self.crew.members[number];
        if ended.is_overdue {
            self.end.outcome = Outcome::Failed {
                reason: "operations did not return within their deadline".to_owned(),
            };
            stop.now();
        }
        for slot in &ended.not_returned {
            let Op { kind, file, offset_bytes, size_bytes, index } = slot.op;
            self.end.details.push(format!(
                "{member}: {} of {size_bytes} bytes at offset {offset_bytes} of file {file} \
                 (operation {index}), issued {:.3} s after the start, never returned",
                kind.name(),
                slot.issued_ns as f64 / 1e9,
            ));
        }
        for mismatch in ended.mismatches {
            self.end.details.push(format!("{member}: {mismatch}"));
        }
    }

    /// Gives up a worker that sits in a blocking call: its thread cannot be ended from outside and
    /// is left to the end of the process.
    fn leave_behind(&mut self, number: usize, patience_ns: u64, stop: &Stop) {
        self.end.details.push(format!(
            "{}: a blocking call has not returned for {} s",
            self.crew.members[number],
            patience_ns / 1_000_000_000
        ));
        if !stop.is_now() {
            self.end.outcome = Outcome::Failed {
                reason: "an operation did not return within its deadline".to_owned(),
            };
            stop.now();
        }
    }

    fn finish(mut self, stop: &Stop) -> Result<RunEnd, EngineError> {
        if let Some(error) = self.broken {
            return Err(error);
        }
        if self.end.outcome == Outcome::Done && stop.is_requested() {
            self.end.outcome = Outcome::Interrupted;
        }
        Ok(self.end)
    }
}

/// The files of a stream in its directory, in the order of `Op::file`.
pub fn file_paths(directory: &std::path::Path, stream: &Stream) -> Vec<PathBuf> {
    let set = stream.file_set();
    (0..set.files).map(|index| directory.join(set.file_name(index))).collect()
}
