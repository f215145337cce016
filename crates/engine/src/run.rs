//! The threads of a run: one per worker with a ring, or one per outstanding operation with blocking
//! calls.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use metrics::interval::Interval;
use metrics::recorder::Tally;
use metrics::run_record::Outcome;
use target::null::Null;
use target::posix::FileAccess;
use target::psync::Psync;
use target::ring::RingFiles;
use target::{Target, TargetError};
use workload::arrival::Arrival;
use workload::data::TileMaker;
use workload::op::{Op, OpStream};
use workload::plan::{Assignment, EngineChoice, Stream};

use crate::clock::{Clock, MonotonicClock};
use crate::collect::{self, Collector, CollectorEnd, WorkerEnd};
use crate::drive::{DriveEnd, Pulse, STOP_NOW_GRACE_NS, Stop, drive};
use crate::schedule::{Closed, ConstantInstants, Open, PoissonInstants, Schedule, Thinking};
use crate::slots::Slot;
use crate::tiles::{Generations, Tiles};
use crate::worker::{Assigned, DataPath, Plain, Worker};

/// Most threads of one run; a psync run needs one for each outstanding operation.
pub const THREADS_MAX: u64 = 2048;
/// How long opening all files and rings may take.
const READY_WITHIN: Duration = Duration::from_secs(60);
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

/// What a thread of the run is to do.
struct Job {
    stream_index: usize,
    stream: Stream,
    assigned: Assigned,
    schedule_lane: u32,
    schedule_lanes: u32,
    run_seed: u64,
    access: Option<FileAccess>,
    engine: EngineChoice,
    maker: Option<Arc<TileMaker>>,
    generations: Option<Arc<Generations>>,
    processor: Option<usize>,
}

/// What a thread tells.
enum Message {
    /// It is ready to start; its thread number.
    Ready(usize, i32),
    /// It has ended.
    Ended(usize, Result<Ended, TargetError>),
    /// It unwound.
    Died(usize),
}

struct Ended {
    not_returned: Vec<Slot>,
    /// They are older than their deadline; otherwise the run was stopped before.
    is_overdue: bool,
    mismatches: Vec<String>,
}

/// The common start, announced once everybody is ready.
#[derive(Default)]
struct StartLine {
    start: Mutex<Option<Option<Instant>>>,
    announced: Condvar,
}

impl StartLine {
    fn announce(&self, start: Option<Instant>) {
        *self.start.lock().expect("nobody panics while holding it") = Some(start);
        self.announced.notify_all();
    }

    fn wait(&self) -> Option<Instant> {
        let guard = self.start.lock().expect("nobody panics while holding it");
        let guard = self
            .announced
            .wait_while(guard, |start| start.is_none())
            .expect("nobody panics while holding it");
        guard.flatten()
    }
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
    let jobs = jobs(request)?;
    let names: Vec<String> = run.streams.iter().map(|stream| stream.name.clone()).collect();
    let who: Vec<(usize, u32)> = jobs.iter().map(|j| (j.stream_index, j.assigned.lane)).collect();

    let start_line = Arc::new(StartLine::default());
    let (sender, messages) = channel();
    let mut ends: Vec<CollectorEnd> = Vec::with_capacity(jobs.len());
    let mut pulses = Vec::with_capacity(jobs.len());
    // The handover's box allocations happen here, before anything is measured.
    for (number, job) in jobs.into_iter().enumerate() {
        let open = job.stream.arrival.offered_rate().is_some();
        let pulse = Arc::new(Pulse::default());
        let (worker_end, collector_end, tally) =
            collect::handover(job.stream_index, job.assigned.lane, open, Arc::clone(&pulse));
        ends.push(collector_end);
        pulses.push(Arc::clone(&pulse));
        let thread = Thread {
            number,
            sender: sender.clone(),
            start_line: Arc::clone(&start_line),
            stop: Arc::clone(stop),
            pulse,
        };
        std::thread::Builder::new()
            .name(format!("worker-{number}"))
            .stack_size(256 << 10)
            .spawn(move || thread.work(job, worker_end, tally))
            .map_err(|source| EngineError::Target {
                stream: names[who[number].0].clone(),
                lane: who[number].1,
                source: TargetError::Drive { target: "a thread".to_owned(), source },
            })?;
    }
    drop(sender);

    let failed = |number: usize, source: TargetError| EngineError::Target {
        stream: names[who[number].0].clone(),
        lane: who[number].1,
        source,
    };
    let mut tids = vec![0; who.len()];
    for _ in 0..who.len() {
        match messages.recv_timeout(READY_WITHIN) {
            Ok(Message::Ready(number, tid)) => tids[number] = tid,
            Ok(Message::Ended(number, Err(source))) => {
                start_line.announce(None);
                return Err(failed(number, source));
            }
            Ok(Message::Ended(number, Ok(_)) | Message::Died(number)) => {
                start_line.announce(None);
                return Err(EngineError::WorkerDied { stream: names[who[number].0].clone() });
            }
            Err(_) => {
                start_line.announce(None);
                return Err(EngineError::NotReady);
            }
        }
    }
    let mut collector = Collector::new(ends, names.len(), run.phases.interval_ns);
    collector.start(&tids);
    let start = Instant::now() + LEAD;
    let clock = MonotonicClock::starting_at(start);
    start_line.announce(Some(start));

    let mut watch = Watch {
        messages,
        running: who.len(),
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
        watch.listen(stop, &names, &who);
        if watch.running == 0 && collector.is_done() {
            break;
        }
        // A worker that sits in a blocking call cannot look at the clock itself.
        if request.engine == EngineChoice::Psync && watch.running > 0 {
            let patience_ns =
                if stop.is_now() { STOP_NOW_GRACE_NS } else { run.operation_deadline_ns };
            if let Some(stuck) = stuck(&pulses, patience_ns, clock.now_ns()) {
                watch.leave_behind(&who[stuck], &names, patience_ns, stop);
                break;
            }
        }
    }
    match watch.broken {
        Some((number, Some(source))) => Err(failed(number, source)),
        Some((number, None)) => {
            Err(EngineError::WorkerDied { stream: names[who[number].0].clone() })
        }
        None => {
            if watch.end.outcome == Outcome::Done && stop.is_requested() {
                watch.end.outcome = Outcome::Interrupted;
            }
            Ok(watch.end)
        }
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
    messages: Receiver<Message>,
    running: usize,
    end: RunEnd,
    broken: Option<(usize, Option<TargetError>)>,
}

impl Watch {
    /// Takes every message that has arrived.
    fn listen(&mut self, stop: &Stop, names: &[String], who: &[(usize, u32)]) {
        loop {
            match self.messages.recv_timeout(Duration::ZERO) {
                Ok(Message::Ready(..)) => {}
                Ok(Message::Ended(number, Ok(ended))) => {
                    self.running -= 1;
                    self.note(number, ended, stop, names, who);
                }
                Ok(Message::Ended(number, Err(source))) => {
                    self.running -= 1;
                    self.broken.get_or_insert((number, Some(source)));
                    stop.now();
                }
                Ok(Message::Died(number)) => {
                    self.running -= 1;
                    self.broken.get_or_insert((number, None));
                    stop.now();
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Gives up a worker that sits in a blocking call: its thread cannot be ended from outside and
    /// is left to the end of the process.
    fn leave_behind(
        &mut self,
        (stream, lane): &(usize, u32),
        names: &[String],
        patience_ns: u64,
        stop: &Stop,
    ) {
        self.end.details.push(format!(
            "stream {}, worker {lane}: a blocking call has not returned for {} s",
            names[*stream],
            patience_ns / 1_000_000_000
        ));
        if !stop.is_now() {
            self.end.outcome = Outcome::Failed {
                reason: "an operation did not return within its deadline".to_owned(),
            };
            stop.now();
        }
    }

    fn note(
        &mut self,
        number: usize,
        ended: Ended,
        stop: &Stop,
        names: &[String],
        who: &[(usize, u32)],
    ) {
        let place = format!("stream {}, worker {}", names[who[number].0], who[number].1);
        if ended.is_overdue {
            self.end.outcome = Outcome::Failed {
                reason: "operations did not return within their deadline".to_owned(),
            };
            stop.now();
        }
        for slot in &ended.not_returned {
            let Op { kind, file, offset_bytes, size_bytes, index } = slot.op;
            self.end.details.push(format!(
                "{place}: {} of {size_bytes} bytes at offset {offset_bytes} of file {file} \
                 (operation {index}), issued {:.3} s after the start, never returned",
                kind.name(),
                slot.issued_ns as f64 / 1e9,
            ));
        }
        for mismatch in ended.mismatches {
            self.end.details.push(format!("{place}: {mismatch}"));
        }
    }
}

/// The first worker whose loop has not gone around for longer than `patience_ns`.
fn stuck(pulses: &[Arc<Pulse>], patience_ns: u64, now_ns: u64) -> Option<usize> {
    pulses.iter().position(|pulse| pulse.is_stuck(now_ns, patience_ns))
}

/// One job for each thread.
fn jobs(request: &Request<'_>) -> Result<Vec<Job>, EngineError> {
    let run = &request.assignment.run;
    let processors = if request.pin { crate::processor::processors() } else { Vec::new() };
    let mut jobs: Vec<Job> = Vec::new();
    for (stream_index, stream) in run.streams.iter().enumerate() {
        let access = request.directory.as_ref().map(|directory| FileAccess {
            paths: file_paths(directory, stream),
            write: stream.read_permille < 1000,
            direct: stream.direct,
            dsync: stream.dsync,
            transfer_size_max_bytes: stream.transfer_size_max_bytes(),
        });
        let set = stream.file_set();
        let data = access.is_some() && (stream.read_permille < 1000 || request.verify);
        let maker = data.then(|| Arc::new(set.tile_maker(request.data_seed)));
        let generations = (data && request.verify).then(|| {
            let tile_bytes = u64::from(set.tile_bytes);
            Arc::new(Generations::new(set.files, set.file_size_bytes, tile_bytes))
        });
        // A blocking call is one outstanding operation, so a lane needs a thread for each.
        let blocking = access.is_some() && request.engine == EngineChoice::Psync;
        let threads_per_lane = if blocking { stream.queue_depth } else { 1 };
        for lane in request.assignment.lanes[stream_index].clone() {
            let wanted = jobs.len() as u64 + u64::from(threads_per_lane);
            if wanted > THREADS_MAX {
                return Err(EngineError::TooManyThreads { wanted: run.threads(blocking) });
            }
            let processor = (!processors.is_empty())
                .then(|| processors[jobs.len() / threads_per_lane as usize % processors.len()]);
            for thread in 0..threads_per_lane {
                jobs.push(Job {
                    stream_index,
                    stream: stream.clone(),
                    assigned: Assigned {
                        lane,
                        first_step: u64::from(thread),
                        stride: u64::from(threads_per_lane),
                        queue_depth: if blocking { 1 } else { stream.queue_depth },
                        interval_ns: run.phases.interval_ns,
                        end_ns: run.phases.total_ns(),
                        operation_deadline_ns: run.operation_deadline_ns,
                    },
                    schedule_lane: lane * threads_per_lane + thread,
                    schedule_lanes: stream.workers * threads_per_lane,
                    run_seed: run.seed,
                    access: access.clone(),
                    engine: request.engine,
                    maker: maker.clone(),
                    generations: generations.clone(),
                    processor,
                });
            }
        }
    }
    Ok(jobs)
}

/// The files of a stream in its directory, in the order of `Op::file`.
pub fn file_paths(directory: &std::path::Path, stream: &Stream) -> Vec<PathBuf> {
    let set = stream.file_set();
    (0..set.files).map(|index| directory.join(set.file_name(index))).collect()
}

/// A worker's thread.
struct Thread {
    number: usize,
    sender: Sender<Message>,
    start_line: Arc<StartLine>,
    stop: Arc<Stop>,
    pulse: Arc<Pulse>,
}

impl Thread {
    fn work(self, job: Job, handover: WorkerEnd, tally: Box<Tally>) {
        let number = self.number;
        let sender = self.sender.clone();
        let work = std::panic::AssertUnwindSafe(|| self.open_and_drive(job, handover, tally));
        let message = match std::panic::catch_unwind(work) {
            Ok(result) => Message::Ended(number, result),
            Err(_) => Message::Died(number),
        };
        // Nobody listens any more when the run was given up.
        drop(sender.send(message));
    }

    fn open_and_drive(
        &self,
        job: Job,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        if let Some(processor) = job.processor {
            crate::processor::pin(processor).map_err(|source| TargetError::Drive {
                target: "a processor".to_owned(),
                source,
            })?;
        }
        // A refusal costs up to 50 us of schedule delay, which is recorded as such.
        drop(crate::processor::wake_exactly());
        let depth = job.assigned.queue_depth;
        match (&job.access, job.engine) {
            (None, _) => self.with_schedule(job, Null::new(depth), handover, tally),
            (Some(access), EngineChoice::Psync) => {
                let target = Psync::open(access)?;
                self.with_schedule(job, target, handover, tally)
            }
            (Some(access), EngineChoice::IoUring | EngineChoice::Auto) => {
                let target = RingFiles::open(access, depth)?;
                self.with_schedule(job, target, handover, tally)
            }
        }
    }

    fn with_schedule<T: Target>(
        &self,
        job: Job,
        target: T,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let (lane, lanes) = (job.schedule_lane, job.schedule_lanes);
        match job.stream.arrival {
            Arrival::Closed { think_time_ns: 0 } => {
                self.with_data(job, Closed, target, handover, tally)
            }
            Arrival::Closed { think_time_ns } => {
                let schedule = Thinking::new(think_time_ns, job.assigned.queue_depth);
                self.with_data(job, schedule, target, handover, tally)
            }
            Arrival::Constant { offered_rate } => {
                let schedule = Open::new(ConstantInstants::new(offered_rate, lane, lanes));
                self.with_data(job, schedule, target, handover, tally)
            }
            Arrival::Poisson { offered_rate } => {
                let instants = PoissonInstants::new(job.run_seed, offered_rate, lane, lanes);
                self.with_data(job, Open::new(instants), target, handover, tally)
            }
        }
    }

    fn with_data<S: Schedule, T: Target>(
        &self,
        job: Job,
        schedule: S,
        target: T,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let ops = OpStream::new(&job.stream, job.run_seed);
        let Some(maker) = job.maker else {
            let worker = Worker::new(job.assigned, ops, schedule, Plain, handover, tally);
            return Ok(self.start(worker, target)?.0);
        };
        let data = match job.generations {
            None => Tiles::filling(maker, job.run_seed),
            Some(generations) => Tiles::verifying(
                maker,
                job.run_seed,
                generations,
                job.assigned.queue_depth,
                job.stream.transfer_size_max_bytes(),
            ),
        };
        let set = job.stream.file_set();
        let worker = Worker::new(job.assigned, ops, schedule, data, handover, tally);
        let (mut ended, data) = self.start(worker, target)?;
        ended.mismatches = data
            .into_mismatches()
            .iter()
            .map(|mismatch| format!("{} {mismatch}", set.file_name(mismatch.file)))
            .collect();
        Ok(ended)
    }

    /// Says "ready", waits for the start, drives the worker to its end.
    fn start<S: Schedule, D: DataPath, T: Target>(
        &self,
        mut worker: Worker<S, D, WorkerEnd>,
        mut target: T,
    ) -> Result<(Ended, D), TargetError> {
        let mut ended =
            Ended { not_returned: Vec::new(), is_overdue: false, mismatches: Vec::new() };
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        drop(self.sender.send(Message::Ready(self.number, tid)));
        let Some(start) = self.start_line.wait() else {
            return Ok((ended, worker.into_data()));
        };
        while let Some(ahead) = start.checked_duration_since(Instant::now()) {
            std::thread::sleep(ahead);
            if ahead.is_zero() {
                break;
            }
        }
        let clock = MonotonicClock::starting_at(start);
        let end = drive(&mut worker, &mut target, &clock, &self.stop, &self.pulse);
        // Before the worker and its end of the handover go: the collector cannot ask a thread that
        // is gone.
        self.pulse.ended(crate::cpu::own_cpu_ns());
        match end? {
            DriveEnd::Drained => {}
            DriveEnd::Overdue(slots) => {
                ended.not_returned = slots;
                ended.is_overdue = true;
            }
            DriveEnd::LeftBehind(slots) => ended.not_returned = slots,
        }
        Ok((ended, worker.into_data()))
    }
}
