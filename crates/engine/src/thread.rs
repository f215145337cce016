//! The threads of a run, one per worker or, with blocking calls, one per outstanding operation:
//! from opening the target to the last tally.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use metrics::recorder::Tally;
use target::nfs::Rewrite;
use target::run_target::{Opener, UseTarget, WorkerShare};
use target::{Target, TargetError};
use uring::slice::ShortSlice;
use workload::arrival::Arrival;
use workload::connection::down_reason;
use workload::data::TileMaker;
use workload::op::{Op, OpStream};
use workload::plan::{Assignment, Capabilities, FileSet, IoMethodUsed, Stream};

use crate::clock::{Clock, MonotonicClock};
use crate::collect::WorkerEnd;
use crate::cpu::ThreadTimes;
use crate::drive::{DriveEnd, Stop, drive};
use crate::pulse::Pulse;
use crate::request::{EngineError, Request, THREADS_MAX};
use crate::schedule::{
    Closed, ConstantInstants, Instants, Open, PoissonInstants, RandomThinking, Schedule,
    ScheduledInstants, Thinking,
};
use crate::slots::Slot;
use crate::steps::Steps;
use crate::tiles::{Generations, Tiles};
use crate::worker::{Assigned, DataPath, Plain, Worker};

/// The work of one thread.
pub(crate) struct Job {
    pub(crate) stream_index: usize,
    /// The worker's number in the whole stream; [`Assigned`] has that on its target.
    pub(crate) lane: u32,
    /// The target's position in the plan.
    pub(crate) target: u32,
    /// The stream on this target.
    pub(crate) stream: Stream,
    pub(crate) assigned: Assigned,
    /// The counter from which the threads of a shared lane take steps.
    pub(crate) shared_steps: Option<Arc<AtomicU64>>,
    /// Its number among the threads of its lane.
    pub(crate) thread: u32,
    pub(crate) run_seed: u64,
    pub(crate) opener: Opener,
    pub(crate) maker: Option<Arc<TileMaker>>,
    pub(crate) generations: Option<Arc<Generations>>,
    pub(crate) processor: Option<usize>,
}

/// A thread's message to the conducting thread.
pub(crate) enum Message {
    /// It is ready to start; its thread number.
    Ready(usize, i32),
    /// It has ended.
    Ended(usize, Result<Ended, TargetError>),
    /// It panicked.
    Died(usize),
}

pub(crate) struct Ended {
    /// Descriptions of abandoned operations, the oldest first.
    pub(crate) incomplete: Vec<String>,
    /// Whether they exceeded their deadline; otherwise the run was stopped.
    pub(crate) is_overdue: bool,
    pub(crate) mismatches: Vec<String>,
    /// Replies that violated the protocol, and connections that were down at the end.
    pub(crate) faults: Vec<String>,
    /// How long after the start it ran, in nanoseconds; `None` if it was not started.
    pub(crate) started_late_ns: Option<u64>,
}

/// The common start, announced once all threads are ready.
#[derive(Default)]
pub(crate) struct StartLine {
    start: Mutex<Option<Option<Instant>>>,
    announced: Condvar,
}

impl StartLine {
    pub(crate) fn announce(&self, start: Instant) {
        *self.start.lock().expect("no thread panics while holding it") = Some(Some(start));
        self.announced.notify_all();
    }

    /// Ends the threads that wait, unless the start was announced.
    pub(crate) fn cancel(&self) {
        self.start.lock().expect("no thread panics while holding it").get_or_insert(None);
        self.announced.notify_all();
    }

    pub(crate) fn wait(&self) -> Option<Instant> {
        let guard = self.start.lock().expect("no thread panics while holding it");
        let guard = self
            .announced
            .wait_while(guard, |start| start.is_none())
            .expect("no thread panics while holding it");
        guard.flatten()
    }
}

/// One job for each thread.
pub(crate) fn jobs(request: &Request<'_>) -> Result<Vec<Job>, EngineError> {
    let run = &request.assignment.run;
    let processors = if request.pin { crate::processor::processors() } else { Vec::new() };
    let can = request.targets.first().map_or(Capabilities::NULL, |first| first.capabilities());
    // A blocking call handles one outstanding operation, so a lane needs a thread for each.
    let blocking = can.local_files && request.io_method == IoMethodUsed::Psync;
    let mut jobs: Vec<Job> = Vec::new();
    let mut workers = WorkersOfTargets::of(request.assignment);
    for (stream_index, stream) in run.streams.iter().enumerate() {
        let parts = StreamParts::of(request, stream, can.moves_data);
        let threads_per_lane = if blocking { stream.queue_depth } else { 1 };
        for lane in request.assignment.lanes[stream_index].clone() {
            let counter = blocking.then(|| Arc::new(AtomicU64::new(0)));
            let requested = jobs.len() as u64 + u64::from(threads_per_lane);
            if requested > THREADS_MAX {
                return Err(EngineError::TooManyThreads { requested: run.threads(blocking) });
            }
            let processor = (!processors.is_empty())
                .then(|| processors[jobs.len() / threads_per_lane as usize % processors.len()]);
            let at = stream.target_lane(run.hosts, lane);
            let part = parts.on(at.target);
            let rewrite = |maker| Arc::new(Tiles::rewriting(maker, run.seed)) as Rewrite;
            let (number, of_target) = workers.next(at.target);
            let opener = request.targets.get(at.target as usize).and_then(|target| {
                target.opener(&WorkerShare {
                    stream: &part.stream,
                    number,
                    workers: of_target,
                    connections: run.connections,
                    io_method: request.io_method,
                    verify: request.verify,
                    rewrite: part.maker.clone().map(rewrite),
                })
            });
            let missing = || EngineError::NoFiles { stream: stream.name.clone() };
            let opener = opener.ok_or_else(missing)?;
            for thread in 0..threads_per_lane {
                jobs.push(Job {
                    stream_index,
                    lane,
                    target: at.target,
                    stream: part.stream.clone(),
                    assigned: Assigned {
                        lane: at.lane,
                        queue_depth: if blocking { 1 } else { stream.queue_depth },
                        interval_ns: run.phases.interval_ns,
                        end_ns: stream.active.range_ns(&run.phases).end,
                        operation_deadline_ns: run.operation_deadline_ns,
                    },
                    shared_steps: counter.clone(),
                    thread,
                    run_seed: run.seed,
                    opener: opener.clone(),
                    maker: part.maker.clone(),
                    generations: part.generations.clone(),
                    processor,
                });
            }
        }
    }
    Ok(jobs)
}

/// A stream on each of its targets, with what its workers there share.
struct StreamParts(Vec<StreamPart>);

struct StreamPart {
    target: u32,
    stream: Stream,
    maker: Option<Arc<TileMaker>>,
    generations: Option<Arc<Generations>>,
}

impl StreamParts {
    fn of(request: &Request<'_>, stream: &Stream, moves_data: bool) -> StreamParts {
        let set = stream.file_set();
        let data = moves_data && (stream.read_permille < 1000 || request.verify);
        let maker = data.then(|| Arc::new(set.tile_maker(request.data_seed)));
        let generations = || {
            let tile_bytes = u64::from(set.tile_bytes);
            Arc::new(Generations::new(set.files, set.file_size_bytes, tile_bytes))
        };
        let part = |target: &u32| StreamPart {
            target: *target,
            stream: stream.on_target(request.assignment.run.hosts, *target),
            maker: maker.clone(),
            generations: (data && request.verify).then(generations),
        };
        StreamParts(stream.targets.positions.iter().map(part).collect())
    }

    fn on(&self, target: u32) -> &StreamPart {
        let part = self.0.iter().find(|part| part.target == target);
        part.expect("a worker sends to a target of its stream")
    }
}

/// Numbers the workers of this process on each target, in the order of the jobs.
struct WorkersOfTargets(BTreeMap<u32, (u32, u32)>);

impl WorkersOfTargets {
    fn of(assignment: &Assignment) -> WorkersOfTargets {
        let mut counts: BTreeMap<u32, (u32, u32)> = BTreeMap::new();
        for (stream, lanes) in assignment.run.streams.iter().zip(&assignment.lanes) {
            for lane in lanes.clone() {
                let target = stream.target_lane(assignment.run.hosts, lane).target;
                counts.entry(target).or_default().1 += 1;
            }
        }
        WorkersOfTargets(counts)
    }

    /// The number of the next worker on `target`, and how many there are.
    fn next(&mut self, target: u32) -> (u32, u32) {
        let (next, all) = self.0.entry(target).or_default();
        *next += 1;
        (*next - 1, *all)
    }
}

impl Job {
    fn open<I: Instants>(&self, instants: I) -> Open<I> {
        match self.shared_steps {
            None => Open::new(instants),
            // One thread counts due operations for all of the lane.
            Some(_) => Open::shared(instants, self.thread == 0),
        }
    }
}

/// Describes replies that violated the protocol, and connections that are down.
fn faults(target: &mut impl Target, set: &FileSet) -> Vec<String> {
    let faults = target.faults().into_iter();
    let mut all: Vec<String> = faults
        .map(|fault| format!("{}: {}", set.file_name(fault.file), fault.description))
        .collect();
    let mut missing: Vec<String> = target
        .connections()
        .iter()
        .filter(|connection| connection.down_errno != 0)
        .map(|connection| {
            let reason = down_reason(connection.down_errno);
            format!("no connection to {}: {reason}", connection.remote)
        })
        .collect();
    missing.dedup();
    all.extend(missing);
    all
}

fn describe_all(slots: &[Slot], set: &FileSet, now_ns: u64) -> Vec<String> {
    slots.iter().map(|slot| describe(&slot.op, set, now_ns - slot.issued_ns)).collect()
}

/// Describes an operation that did not complete.
pub(crate) fn describe(op: &Op, set: &FileSet, age_ns: u64) -> String {
    format!(
        "{} of {} bytes at offset {} of {} (operation {}) has been outstanding for {:.3} s",
        op.kind.name(),
        op.size_bytes,
        op.offset_bytes,
        set.file_name(op.file),
        op.index,
        age_ns as f64 / 1e9
    )
}

/// Drives a worker with the target that its thread has opened.
struct Drive<'t> {
    thread: &'t Thread,
    job: Job,
    handover: WorkerEnd,
    tally: Box<Tally>,
}

impl UseTarget for Drive<'_> {
    type Output = Result<Ended, TargetError>;

    fn use_target<T: Target>(self, target: T) -> Result<Ended, TargetError> {
        self.thread.with_schedule(self.job, target, self.handover, self.tally)
    }
}

/// A worker's thread.
pub(crate) struct Thread {
    pub(crate) number: usize,
    pub(crate) sender: Sender<Message>,
    pub(crate) start_line: Arc<StartLine>,
    pub(crate) stop: Arc<Stop>,
    pub(crate) pulse: Arc<Pulse>,
}

impl Thread {
    pub(crate) fn work(self, job: Job, handover: WorkerEnd, tally: Box<Tally>) {
        let number = self.number;
        let sender = self.sender.clone();
        let work = std::panic::AssertUnwindSafe(|| self.open_and_drive(job, handover, tally));
        let message = match std::panic::catch_unwind(work) {
            Ok(result) => Message::Ended(number, result),
            Err(_) => Message::Died(number),
        };
        // The receiver is gone if the run was abandoned.
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
        // A failure costs up to 50 µs of schedule delay, which is recorded as such.
        drop(crate::processor::wake_exactly());
        let (opener, depth) = (job.opener.clone(), job.assigned.queue_depth);
        opener.open(depth, Drive { thread: self, job, handover, tally })?
    }

    fn with_schedule<T: Target>(
        &self,
        job: Job,
        target: T,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let (lane, lanes) = (job.assigned.lane, job.stream.workers);
        let seed = job.stream.seed(job.run_seed);
        let start_ns = job.stream.active.start_ns;
        match job.stream.arrival.clone() {
            Arrival::Closed { think_time_ns: 0 } if start_ns == 0 => {
                self.with_data(job, Closed, target, handover, tally)
            }
            Arrival::Closed { think_time_ns } => {
                let schedule = Thinking::new(start_ns, think_time_ns, job.assigned.queue_depth);
                self.with_data(job, schedule, target, handover, tally)
            }
            Arrival::Constant { offered_rate } => {
                let instants = ConstantInstants::new(offered_rate, lane, lanes);
                let schedule = job.open(instants.starting_at(start_ns));
                self.with_data(job, schedule, target, handover, tally)
            }
            Arrival::Poisson { offered_rate } => {
                let instants = PoissonInstants::new(seed, offered_rate, lane, lanes);
                let schedule = job.open(instants.starting_at(start_ns));
                self.with_data(job, schedule, target, handover, tally)
            }
            Arrival::Thinking { think_time } => {
                let (source, depth) = ((lane, job.thread), job.assigned.queue_depth);
                let schedule = RandomThinking::new(think_time, seed, source, start_ns, depth);
                self.with_data(job, schedule, target, handover, tally)
            }
            Arrival::Scheduled { schedule, process, part } => {
                let instants = ScheduledInstants::new(schedule, process, part, seed, (lane, lanes));
                let schedule = job.open(instants.starting_at(start_ns));
                self.with_data(job, schedule, target, handover, tally)
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
        let set = job.stream.file_set();
        let ops = OpStream::new(&job.stream, job.run_seed);
        let steps = job.shared_steps.as_ref().map_or(Steps::own(), Steps::shared);
        let Some(maker) = job.maker else {
            let worker = Worker::new(job.assigned, ops, steps, schedule, Plain, handover, tally);
            return Ok(self.start(worker, target, &set)?.0);
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
        let worker = Worker::new(job.assigned, ops, steps, schedule, data, handover, tally);
        let (mut ended, data) = self.start(worker, target, &set)?;
        ended.mismatches = data
            .into_mismatches()
            .iter()
            .map(|mismatch| format!("{} {mismatch}", set.file_name(mismatch.file)))
            .collect();
        Ok(ended)
    }

    /// Reports ready, waits for the start, and drives the worker to its end.
    fn start<S: Schedule, D: DataPath, T: Target>(
        &self,
        mut worker: Worker<S, D, WorkerEnd>,
        mut target: T,
        set: &FileSet,
    ) -> Result<(Ended, D), TargetError> {
        let mut ended = Ended {
            incomplete: Vec::new(),
            is_overdue: false,
            mismatches: Vec::new(),
            faults: Vec::new(),
            started_late_ns: None,
        };
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        drop(self.sender.send(Message::Ready(self.number, tid)));
        // Workers of other hosts on this machine that have started must not delay this one.
        let slice = ShortSlice::of_this_thread();
        let Some(start) = self.start_line.wait() else {
            return Ok((ended, worker.into_data()));
        };
        while let Some(ahead) = start.checked_duration_since(Instant::now()) {
            std::thread::sleep(ahead);
            if ahead.is_zero() {
                break;
            }
        }
        drop(slice);
        let clock = MonotonicClock::starting_at(start);
        ended.started_late_ns = Some(clock.now_ns());
        let end = drive(&mut worker, &mut target, &clock, &self.stop, &self.pulse);
        // Before the thread ends, because its times cannot be read afterwards.
        self.pulse.ended(ThreadTimes::own());
        ended.faults = faults(&mut target, set);
        match end? {
            DriveEnd::Drained => {}
            DriveEnd::Overdue(slots) => {
                ended.incomplete = describe_all(&slots, set, clock.now_ns());
                ended.is_overdue = true;
            }
            DriveEnd::Abandoned(slots) => {
                ended.incomplete = describe_all(&slots, set, clock.now_ns())
            }
        }
        Ok((ended, worker.into_data()))
    }
}
