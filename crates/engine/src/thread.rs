//! The threads of a run, one per worker or, with blocking calls, one per outstanding operation:
//! from opening the target to the last tally.

use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use metrics::recorder::Tally;
use target::names::NameTarget;
use target::run_target::UseTarget;
use target::tree::LaneSteps;
use target::{Target, TargetError};
use uring::slice::ShortSlice;
use workload::arrival::Arrival;
use workload::connection::down_reason;
use workload::names::NameStream;
use workload::op::{Op, OpStream};
use workload::plan::FileSet;
use workload::replay::LaneReplay;

use crate::clock::{Clock, MonotonicClock};
use crate::collect::WorkerEnd;
use crate::cpu::ThreadTimes;
use crate::drive::{DriveEnd, Stop, drive};
use crate::jobs::{Job, NameJob, Work};
use crate::name_data::NameData;
use crate::operations::{NameOperations, Operations, UserOperations};
use crate::pulse::Pulse;
use crate::replay::{ReplayInstants, StreamFiles};
use crate::schedule::{
    Closed, ConstantInstants, Instants, Open, PoissonInstants, RandomThinking, Schedule,
    ScheduledInstants, Thinking,
};
use crate::slots::Slot;
use crate::steps::Steps;
use crate::tiles::Tiles;
use crate::users::{UserSchedule, UserShare};
use crate::worker::{DataPath, Plain, Worker};

/// A thread's message to the conducting thread.
pub(crate) enum Message {
    /// It is ready to start; its thread number.
    Ready(usize, i32),
    /// It has ended.
    Ended(usize, Result<Ended, TargetError>),
    /// It panicked.
    Died(usize),
}

/// A user, and what it has done; `None` if more operations failed than are kept.
pub(crate) type UserEnd = (u32, Option<LaneSteps>);

pub(crate) struct Ended {
    /// Descriptions of abandoned operations, the oldest first.
    pub(crate) incomplete: Vec<String>,
    /// Whether they exceeded their deadline; otherwise the run was stopped.
    pub(crate) is_overdue: bool,
    pub(crate) mismatches: Vec<String>,
    /// Replies that violated the protocol, and connections that were down at the end.
    pub(crate) faults: Vec<String>,
    /// Steps of failed operations that change names; `None` if there were too many to keep.
    pub(crate) failed_steps: Option<Vec<u64>>,
    /// The steps of each of its users; `None` without users.
    pub(crate) users: Option<Vec<UserEnd>>,
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
fn faults(target: &mut impl Target, files: &dyn DescribeOp) -> Vec<String> {
    let faults = target.faults().into_iter();
    let mut all: Vec<String> =
        faults.map(|fault| format!("{}: {}", files.file(fault.file), fault.description)).collect();
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

fn describe_all(slots: &[Slot], files: &dyn DescribeOp, now_ns: u64) -> Vec<String> {
    slots.iter().map(|slot| describe(&slot.op, files, now_ns - slot.issued_ns)).collect()
}

/// Describes an operation that did not complete.
pub(crate) fn describe(op: &Op, files: &dyn DescribeOp, age_ns: u64) -> String {
    format!(
        "{} (operation {}) has been outstanding for {:.3} s",
        files.operation(op),
        op.index,
        age_ns as f64 / 1e9
    )
}

/// The words for operations and files of a stream.
pub(crate) trait DescribeOp {
    /// A file by its number.
    fn file(&self, file: u32) -> String;

    /// An operation.
    fn operation(&self, op: &Op) -> String;
}

impl DescribeOp for FileSet {
    fn file(&self, file: u32) -> String {
        self.file_name(file)
    }

    fn operation(&self, op: &Op) -> String {
        format!(
            "{} of {} bytes at offset {} of {}",
            op.kind.name(),
            op.size_bytes,
            op.offset_bytes,
            self.file_name(op.file)
        )
    }
}

impl DescribeOp for NameStream {
    fn file(&self, _file: u32) -> String {
        "operations on names".to_owned()
    }

    fn operation(&self, op: &Op) -> String {
        let mut path = String::new();
        self.tree().push_path(self.at(op.index).name, &mut path);
        format!("{} of {path}", op.kind.name())
    }
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
        let Drive { thread, job, handover, tally } = self;
        let files = || StreamFiles(job.stream.file_sets());
        match job.work.clone() {
            Work::Replay { lane, data: None, .. } => {
                let with = OfReplay { thread, target, files: files(), lane, data: Plain };
                with.run(job, handover, tally)
            }
            Work::Replay { lane, data: Some(data), verify, .. } => {
                let data = match verify {
                    false => data,
                    true => data
                        .verifying(job.assigned.queue_depth, job.stream.transfer_size_max_bytes()),
                };
                let with = OfReplay { thread, target, files: files(), lane, data };
                with.run(job, handover, tally)
            }
            Work::Data { .. } | Work::Names(_) => {
                with_schedule(job, OfData { thread, target }, handover, tally)
            }
        }
    }
}

/// Runs a job with the schedule of its stream.
trait WithSchedule {
    fn run<S: Schedule>(
        self,
        job: Job,
        schedule: S,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError>;
}

fn with_schedule(
    job: Job,
    with: impl WithSchedule,
    handover: WorkerEnd,
    tally: Box<Tally>,
) -> Result<Ended, TargetError> {
    let (lane, lanes) = (job.assigned.lane, job.stream.workers);
    let seed = job.stream.seed(job.run_seed);
    let start_ns = job.stream.active.start_ns;
    match job.stream.arrival.clone() {
        Arrival::Closed { think_time_ns: 0 } if start_ns == 0 => {
            with.run(job, Closed, handover, tally)
        }
        Arrival::Closed { think_time_ns } => {
            let schedule = Thinking::new(start_ns, think_time_ns, job.assigned.queue_depth);
            with.run(job, schedule, handover, tally)
        }
        Arrival::Constant { offered_rate } => {
            let instants = ConstantInstants::new(offered_rate, lane, lanes);
            let schedule = job.open(instants.starting_at(start_ns));
            with.run(job, schedule, handover, tally)
        }
        Arrival::Poisson { offered_rate } => {
            let instants = PoissonInstants::new(seed, offered_rate, lane, lanes);
            let schedule = job.open(instants.starting_at(start_ns));
            with.run(job, schedule, handover, tally)
        }
        Arrival::Thinking { think_time } => {
            let (source, depth) = ((lane, job.thread), job.assigned.queue_depth);
            let schedule = RandomThinking::new(think_time, seed, source, start_ns, depth);
            with.run(job, schedule, handover, tally)
        }
        Arrival::Scheduled { schedule, process, part } => {
            let instants = ScheduledInstants::new(schedule, process, part, seed, (lane, lanes));
            let schedule = job.open(instants.starting_at(start_ns));
            with.run(job, schedule, handover, tally)
        }
        Arrival::Users(_) => {
            unreachable!("users have operations on names; see `OfNames::run_users`")
        }
    }
}

/// Reads and writes.
struct OfData<'t, T> {
    thread: &'t Thread,
    target: T,
}

impl<T: Target> WithSchedule for OfData<'_, T> {
    fn run<S: Schedule>(
        self,
        job: Job,
        schedule: S,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let OfData { thread, target } = self;
        let set = job.stream.file_set();
        let ops = OpStream::new(&job.stream, job.run_seed);
        let steps = job.shared_steps.as_ref().map_or(Steps::own(), Steps::shared);
        let (maker, generations) = match job.work {
            Work::Data { maker, generations, .. } => (maker, generations),
            Work::Names(_) | Work::Replay { .. } => (None, None),
        };
        let Some(maker) = maker else {
            let worker = Worker::new(job.assigned, ops, steps, schedule, Plain, handover, tally);
            return Ok(thread.start(worker, target, &set)?.0);
        };
        let data = match generations {
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
        let (mut ended, data, ..) = thread.start(worker, target, &set)?;
        ended.mismatches = data
            .into_mismatches()
            .iter()
            .map(|mismatch| format!("{} {mismatch}", set.file_name(mismatch.file)))
            .collect();
        Ok(ended)
    }
}

/// Operations of a list.
struct OfReplay<'t, T, D> {
    thread: &'t Thread,
    target: T,
    files: StreamFiles,
    lane: LaneReplay,
    data: D,
}

impl<T: Target, D: DataPath> OfReplay<'_, T, D> {
    /// At the times of the list, or as fast as possible.
    fn run(self, job: Job, handover: WorkerEnd, tally: Box<Tally>) -> Result<Ended, TargetError> {
        let start_ns = job.stream.active.start_ns;
        if job.stream.arrival.is_open() {
            let schedule = job.open(ReplayInstants::new(self.lane.clone(), start_ns));
            return self.run_with(job, schedule, handover, tally);
        }
        let schedule = Thinking::new(start_ns, 0, job.assigned.queue_depth);
        self.run_with(job, schedule, handover, tally)
    }

    fn run_with<S: Schedule>(
        self,
        job: Job,
        schedule: S,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let OfReplay { thread, target, files, lane, data } = self;
        let steps = job.shared_steps.as_ref().map_or(Steps::own(), Steps::shared);
        let worker = Worker::new(job.assigned, lane, steps, schedule, data, handover, tally);
        let (mut ended, data, ..) = thread.start(worker, target, &files)?;
        ended.mismatches = data
            .into_mismatches()
            .iter()
            .map(|mismatch| format!("{} {mismatch}", files.file(mismatch.file)))
            .collect();
        Ok(ended)
    }
}

/// Operations on names.
struct OfNames<'t> {
    thread: &'t Thread,
    names: NameJob,
    target: NameTarget,
}

impl WithSchedule for OfNames<'_> {
    fn run<S: Schedule>(
        self,
        job: Job,
        schedule: S,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let OfNames { thread, names, target } = self;
        let NameJob { work, window, verify, .. } = names;
        let ops = NameOperations::new(Arc::clone(&work.stream), window);
        let steps = job.shared_steps.as_ref().map_or(Steps::own(), Steps::shared);
        let data = NameData::new(Arc::clone(&work.stream), work.content, verify);
        let worker = Worker::new(job.assigned, ops, steps, schedule, data, handover, tally);
        let (mut ended, data, ops, _) = thread.start(worker, target, &*work.stream)?;
        ended.mismatches = data.into_mismatches();
        ended.failed_steps = ops.into_failed();
        Ok(ended)
    }
}

impl OfNames<'_> {
    /// Runs a job with its share of the users.
    fn run_users(
        self,
        job: Job,
        handover: WorkerEnd,
        tally: Box<Tally>,
    ) -> Result<Ended, TargetError> {
        let OfNames { thread, names, target } = self;
        let NameJob { work, verify, .. } = names;
        let (workers, seed) = (job.stream.workers, job.stream.seed(job.run_seed));
        let share = UserShare {
            first: job.thread * workers + job.assigned.lane,
            distance: job.threads * workers,
        };
        let schedule = UserSchedule::new(&job.stream, seed, share, job.assigned.end_ns);
        let ops = UserOperations::new(Arc::clone(&work.stream));
        let data = NameData::new(Arc::clone(&work.stream), work.content, verify);
        let steps = Steps::own();
        let worker = Worker::new(job.assigned, ops, steps, schedule, data, handover, tally);
        let (mut ended, data, ops, schedule) = thread.start(worker, target, &*work.stream)?;
        ended.mismatches = data.into_mismatches();
        let failed = ops.into_failed();
        let with_failed = |(user, mut steps): (u32, LaneSteps)| {
            let failed = failed.as_ref()?.iter().filter(|(of, _)| *of == user);
            steps.failed = failed.map(|(_, step)| *step).collect();
            Some(steps)
        };
        let ends = schedule.steps().map(|(user, steps)| (user, with_failed((user, steps))));
        ended.users = Some(ends.collect());
        Ok(ended)
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
        let depth = job.assigned.queue_depth;
        match &job.work {
            Work::Data { opener, .. } | Work::Replay { opener, .. } => {
                let opener = opener.clone();
                opener.open(depth, Drive { thread: self, job, handover, tally })?
            }
            Work::Names(names) => {
                let (target, names) = (names.opener.open(depth)?, names.clone());
                let run = OfNames { thread: self, names, target };
                match job.stream.arrival.users() {
                    Some(_) => run.run_users(job, handover, tally),
                    None => with_schedule(job, run, handover, tally),
                }
            }
        }
    }

    /// Reports ready, waits for the start, and drives the worker to its end.
    fn start<S: Schedule, D: DataPath, O: Operations, T: Target>(
        &self,
        mut worker: Worker<S, D, WorkerEnd, O>,
        mut target: T,
        files: &dyn DescribeOp,
    ) -> Result<(Ended, D, O, S), TargetError> {
        let mut ended = Ended {
            incomplete: Vec::new(),
            is_overdue: false,
            mismatches: Vec::new(),
            faults: Vec::new(),
            failed_steps: Some(Vec::new()),
            users: None,
            started_late_ns: None,
        };
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        drop(self.sender.send(Message::Ready(self.number, tid)));
        // Workers of other hosts on this machine that have started must not delay this one.
        let slice = ShortSlice::of_this_thread();
        let Some(start) = self.start_line.wait() else {
            let (data, ops, schedule) = worker.into_parts();
            return Ok((ended, data, ops, schedule));
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
        ended.faults = faults(&mut target, files);
        match end? {
            DriveEnd::Drained => {}
            DriveEnd::Overdue(slots) => {
                ended.incomplete = describe_all(&slots, files, clock.now_ns());
                ended.is_overdue = true;
            }
            DriveEnd::Abandoned(slots) => {
                ended.incomplete = describe_all(&slots, files, clock.now_ns())
            }
        }
        let (data, ops, schedule) = worker.into_parts();
        Ok((ended, data, ops, schedule))
    }
}
