//! A run on this host: starts its threads together, gathers their intervals, watches them, and says
//! how it ended.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use metrics::interval::Interval;
use metrics::run_record::Outcome;
use target::TargetError;
use target::threads::ThreadError;
use workload::op::OpStream;
use workload::plan::{Assignment, EngineChoice};

use crate::clock::{Clock, MonotonicClock};
use crate::collect::{self, Collector, CollectorEnd};
use crate::drive::{STOP_NOW_GRACE_NS, Stop};
use crate::host_state::HostStateReader;
use crate::place::{Identities, Place};
use crate::pulse::Pulse;
use crate::thread::{self, Ended, Job, Message, StartLine, Thread, jobs};

/// Most threads of one run; a psync run needs one for each outstanding operation.
pub const THREADS_MAX: u64 = 2048;
/// How long opening all files and rings may take.
const READY_WITHIN: Duration = Duration::from_secs(60);
/// A worker's stack: its loop is flat, and psync may need two thousand of them.
const STACK_BYTES: usize = 256 << 10;
/// Shortest and longest sleep of the conducting thread: what it is told of is 50 ms old
/// at most, and a run at rest costs it 20 wake-ups a second.
const NAP_MIN: Duration = Duration::from_micros(200);
const NAP_MAX: Duration = Duration::from_millis(50);
/// Within this time every worker that is not held up by its target has gone around its loop.
const HEARD_WITHIN_NS: u64 = 250_000_000;
/// A worker with a ring looks at its own operations; only one that hangs for longer than this
/// beyond their deadline is given up from outside.
const RING_GRACE_NS: u64 = 1_000_000_000;
/// From "all workers are ready" to the run's start.
const LEAD: Duration = Duration::from_millis(5);

/// What is to be run on this host.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The share of the run.
    pub assignment: &'a Assignment,
    /// Where the streams' files are.
    pub place: Place,
    /// `IoUring`, `Psync`, or `NfsClient` on an export; the choice has been made.
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
    /// The system refuses to start as many threads.
    #[error(transparent)]
    Threads(#[from] ThreadError),
    /// More threads than one process should have.
    #[error(
        "the run needs {wanted} threads (psync: one for each outstanding operation), at most \
         {THREADS_MAX}; lower queue_depth or workers, or use the io_uring engine"
    )]
    TooManyThreads {
        /// Threads wanted.
        wanted: u64,
    },
    /// Nobody looked up the files of a stream.
    #[error("the files of stream {stream} are not known; this is a defect of fourcorners")]
    NoFiles {
        /// The stream's name.
        stream: String,
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
    /// Operations that were given up and targets that failed, one line each.
    pub details: Vec<String>,
    /// Data that was not what had been written, one line for each place.
    pub mismatches: Vec<String>,
}

impl RunEnd {
    const fn new(outcome: Outcome) -> RunEnd {
        RunEnd { outcome, details: Vec::new(), mismatches: Vec::new() }
    }
}

/// Runs an assignment to its end. `host` is read at each interval's edge; without it intervals do
/// not have the state of the host. `on_interval` gets every interval as soon as it is complete, and
/// may end the run with a reason.
///
/// # Errors
/// A target could not be opened, or failed for good; what was measured before has been passed on.
pub fn run(
    request: &Request<'_>,
    stop: &Arc<Stop>,
    host: Option<&mut dyn HostStateReader>,
    on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
) -> Result<RunEnd, EngineError> {
    let run = &request.assignment.run;
    let jobs = jobs(request)?;
    let files = Identities::of(request)?;
    let (crew, ends) = Crew::launch(jobs, stop)?;
    let ready = crew.await_ready(stop).inspect_err(|_| crew.start_line.announce(None))?;
    let Some(tids) = ready else {
        crew.start_line.announce(None);
        return Ok(RunEnd::new(Outcome::Interrupted));
    };
    let mut collector = Collector::new(ends, run.streams.len(), run.phases.interval_ns, host);
    collector.start(&tids);
    let start = Instant::now() + LEAD;
    let clock = MonotonicClock::starting_at(start);
    crew.start_line.announce(Some(start));

    let mut watch =
        Watch { running: crew.members.len(), crew, end: RunEnd::new(Outcome::Done), died: None };
    loop {
        nap(&collector, &clock);
        collector.poll(clock.now_ns());
        while let Some(interval) = collector.take() {
            if let ControlFlow::Break(reason) = on_interval(interval) {
                stop.now();
                watch.end.outcome = Outcome::Failed { reason };
            }
        }
        watch.listen(stop);
        if watch.running == 0 && collector.is_done() {
            break;
        }
        if stop.is_requested() && stop.end_ns().is_none() {
            // Far enough ahead for every worker to hear of it before it comes.
            let ahead_ns = clock.now_ns() + HEARD_WITHIN_NS;
            stop.fix_end(ahead_ns.next_multiple_of(run.phases.interval_ns));
        }
        for number in watch.crew.stuck(stop, request, clock.now_ns()) {
            collector.leave_behind(number);
            watch.leave_behind(number, request, clock.now_ns(), stop);
        }
    }
    if let Some(replaced) = files.replaced() {
        watch.fail(replaced);
    }
    watch.finish(stop)
}

/// Sleeps a little: to the edge at which CPU times are read, if it is near.
fn nap(collector: &Collector<'_>, clock: &impl Clock) {
    if collector.are_workers_gone() {
        return;
    }
    let ahead = Duration::from_nanos(collector.next_edge_ns().saturating_sub(clock.now_ns()));
    std::thread::sleep(ahead.clamp(NAP_MIN, NAP_MAX));
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
    stream_index: usize,
    /// It sits in a call that does not return, or has ended.
    is_over: bool,
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stream {}, worker {}", self.stream, self.lane)
    }
}

impl Crew {
    /// Starts a thread for each job; they open their targets and wait. All memory that is handed
    /// over later is allocated here, before anything is measured.
    fn launch(jobs: Vec<Job>, stop: &Arc<Stop>) -> Result<(Crew, Vec<CollectorEnd>), EngineError> {
        let (sender, messages) = channel();
        let start_line = Arc::new(StartLine::default());
        let mut crew = Crew { members: Vec::with_capacity(jobs.len()), start_line, messages };
        let mut ends = Vec::with_capacity(jobs.len());
        let requested = jobs.len();
        for (number, job) in jobs.into_iter().enumerate() {
            let pulse = Arc::new(Pulse::default());
            crew.members.push(Member {
                stream: job.stream.name.clone(),
                lane: job.assigned.lane,
                pulse: Arc::clone(&pulse),
                stream_index: job.stream_index,
                is_over: false,
            });
            let (worker_end, collector_end, tally) = collect::handover(
                job.stream_index,
                job.assigned.lane,
                job.access.connections(),
                Arc::clone(&pulse),
            );
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
                    ThreadError { number: number + 1, requested, source }
                })?;
        }
        Ok((crew, ends))
    }

    /// Waits until every thread has opened its target; their thread numbers, in order. `None`: the
    /// run was to end before that.
    fn await_ready(&self, stop: &Stop) -> Result<Option<Vec<i32>>, EngineError> {
        let mut tids = vec![0; self.members.len()];
        let mut left = self.members.len();
        let mut until = Instant::now() + READY_WITHIN;
        while left > 0 {
            let message = match self.messages.recv_timeout(NAP_MAX) {
                Err(RecvTimeoutError::Timeout) if Instant::now() < until => {
                    if stop.is_requested() {
                        return Ok(None);
                    }
                    continue;
                }
                message => message,
            };
            left -= 1;
            until = Instant::now() + READY_WITHIN;
            match message {
                Ok(Message::Ready(number, tid)) => tids[number] = tid,
                Ok(Message::Ended(number, Err(source))) => return Err(self.failed(number, source)),
                Ok(Message::Ended(number, Ok(_)) | Message::Died(number)) => {
                    return Err(self.died(number));
                }
                Err(_) => return Err(EngineError::NotReady),
            }
        }
        Ok(Some(tids))
    }

    /// The threads that sit in a call for longer than they may.
    fn stuck(&self, stop: &Stop, request: &Request<'_>, now_ns: u64) -> Vec<usize> {
        let deadline_ns = request.assignment.run.operation_deadline_ns;
        let mut patience_ns = if stop.is_now() { STOP_NOW_GRACE_NS } else { deadline_ns };
        if request.engine != EngineChoice::Psync {
            patience_ns += RING_GRACE_NS;
        }
        let is_stuck = |m: &Member| !m.is_over && m.pulse.stalled_ns(now_ns) > patience_ns;
        (0..self.members.len()).filter(|number| is_stuck(&self.members[*number])).collect()
    }

    fn failed(&self, number: usize, source: TargetError) -> EngineError {
        let Member { stream, lane, .. } = &self.members[number];
        EngineError::Target { stream: stream.clone(), lane: *lane, source }
    }

    fn died(&self, number: usize) -> EngineError {
        EngineError::WorkerDied { stream: self.members[number].stream.clone() }
    }
}

/// What the conducting thread hears while workers run.
struct Watch {
    crew: Crew,
    running: usize,
    end: RunEnd,
    died: Option<EngineError>,
}

impl Watch {
    /// Takes every message that has arrived.
    fn listen(&mut self, stop: &Stop) {
        while let Ok(message) = self.crew.messages.try_recv() {
            let number = match message {
                Message::Ready(..) => continue,
                Message::Ended(number, Ok(ended)) => {
                    self.note(number, ended, stop);
                    number
                }
                Message::Ended(number, Err(source)) => {
                    self.fail(self.crew.failed(number, source).to_string());
                    stop.now();
                    number
                }
                Message::Died(number) => {
                    self.died.get_or_insert(self.crew.died(number));
                    stop.now();
                    number
                }
            };
            self.is_over(number);
        }
    }

    fn is_over(&mut self, number: usize) {
        let is_over = &mut self.crew.members[number].is_over;
        if !std::mem::replace(is_over, true) {
            self.running -= 1;
        }
    }

    /// Notes a failure; the first one is the reason, further ones are particulars.
    fn fail(&mut self, reason: String) {
        match self.end.outcome {
            Outcome::Failed { .. } => self.end.details.push(reason),
            _ => self.end.outcome = Outcome::Failed { reason },
        }
    }

    /// Notes what a worker tells at its end.
    fn note(&mut self, number: usize, ended: Ended, stop: &Stop) {
        let member = self.crew.members[number].to_string();
        if ended.is_overdue {
            self.end.outcome = overdue();
            stop.now();
        }
        let told = |line: &String| format!("{member}: {line}");
        self.end.details.extend(ended.faults.iter().chain(&ended.not_returned).map(told));
        self.end.mismatches.extend(ended.mismatches.iter().map(told));
    }

    /// Gives up a worker that sits in a blocking call: its thread cannot be ended from outside and
    /// is left to the end of the process.
    fn leave_behind(&mut self, number: usize, request: &Request<'_>, now_ns: u64, stop: &Stop) {
        let Member { stream_index, lane, pulse, .. } = &self.crew.members[number];
        let run = &request.assignment.run;
        let stream = &run.streams[*stream_index];
        let op = OpStream::new(stream, run.seed).op(*lane, pulse.step());
        let told = thread::describe(&op, &stream.file_set(), pulse.stalled_ns(now_ns));
        self.end.details.push(format!("{}: {told}", self.crew.members[number]));
        if !stop.is_now() {
            self.end.outcome = overdue();
            stop.now();
        }
        self.is_over(number);
    }

    fn finish(mut self, stop: &Stop) -> Result<RunEnd, EngineError> {
        if let Some(error) = self.died {
            return Err(error);
        }
        if self.end.outcome == Outcome::Done && stop.is_requested() {
            self.end.outcome = Outcome::Interrupted;
        }
        Ok(self.end)
    }
}

fn overdue() -> Outcome {
    Outcome::Failed { reason: "operations did not return within their deadline".to_owned() }
}
