//! A run on this host: starts its threads together, collects their intervals, detects stuck
//! threads, and returns how it ended.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use metrics::interval::Interval;
use metrics::recorder::Tally;
use metrics::run_record::Outcome;
use target::TargetError;
use target::threads::ThreadError;
use workload::names::NameStream;
use workload::op::OpStream;
use workload::plan::IoMethodUsed;
use workload::replay::LaneReplay;

use crate::clock::{Clock, MonotonicClock};
use crate::collect::{self, Collector, CollectorEnd, Part};
use crate::drive::{STOP_NOW_GRACE_NS, Stop};
use crate::file_identities::FileIdentities;
use crate::host_state::HostStateReader;
use crate::jobs::{Job, Work, jobs};
use crate::lane_window::LaneWindow;
use crate::operations::LaneEnd;
use crate::pulse::Pulse;
use crate::replay::StreamFiles;
use crate::request::{EngineError, READY_WITHIN, Request};
use crate::thread::{self, Ended, Message, StartLine, Thread, UserEnd};

/// Stack of a worker's thread: its call depth is small, and psync may need 2,000 threads.
const STACK_BYTES: usize = 256 << 10;
/// Shortest sleep of the conducting thread.
const SLEEP_MIN: Duration = Duration::from_micros(200);
/// Longest sleep: messages wait at most this long, and an idle run costs 20 wake-ups per second.
const SLEEP_MAX: Duration = Duration::from_millis(50);
/// Within this time every worker that does not wait for its target makes a turn of its loop.
const TURN_WITHIN_NS: u64 = 250_000_000;
/// Workers with a ring check deadlines themselves, so they are abandoned only if stuck for this
/// long beyond the deadline.
const RING_GRACE_NS: u64 = 1_000_000_000;
/// Time between "all workers are ready" and the start of the run.
const START_DELAY: Duration = Duration::from_millis(5);

/// How a run ended on this host.
#[derive(Clone, Debug, PartialEq)]
pub struct RunEnd {
    /// The outcome.
    pub outcome: Outcome,
    /// Abandoned operations and failed targets, one line each.
    pub details: Vec<String>,
    /// Corrupt data, one line for each offset.
    pub mismatches: Vec<String>,
    /// How long after the start the first thread ran, in nanoseconds; `None` if none did.
    pub started_late_ns: Option<u64>,
    /// What is done of each lane of operations on names.
    pub lanes: Vec<LaneEnd>,
}

impl RunEnd {
    /// An end without anything to say about it.
    pub const fn of(outcome: Outcome) -> RunEnd {
        RunEnd {
            outcome,
            details: Vec::new(),
            mismatches: Vec::new(),
            started_late_ns: None,
            lanes: Vec::new(),
        }
    }
}

/// Runs an assignment to its end, from an instant soon after all threads are ready. `host` is read at
/// each interval's edge; without it intervals have no host state. `on_interval` receives every interval
/// as soon as it is complete, and may stop the run with a reason.
///
/// # Errors
/// A target could not be opened or was lost; earlier intervals have been passed to `on_interval`.
pub fn run(
    request: &Request<'_>,
    stop: &Arc<Stop>,
    host: Option<&mut dyn HostStateReader>,
    on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
) -> Result<RunEnd, EngineError> {
    match ready(request, stop)? {
        Some(ready) => ready.go(soon(), host, on_interval),
        None => Ok(RunEnd::of(Outcome::Interrupted)),
    }
}

/// A start for a run whose threads are ready now.
pub fn soon() -> Instant {
    Instant::now() + START_DELAY
}

/// A run whose threads have opened their targets and wait for the start.
#[expect(missing_debug_implementations, reason = "it consists of threads and channels")]
pub struct Ready<'r> {
    request: &'r Request<'r>,
    stop: &'r Arc<Stop>,
    files: FileIdentities,
    crew: Crew,
    ends: Vec<CollectorEnd>,
    /// Thread numbers, in order.
    tids: Vec<i32>,
}

/// Starts the threads of an assignment and waits until each has opened its target; `None` if the run was
/// stopped meanwhile.
///
/// # Errors
/// A target could not be opened.
pub fn ready<'r>(
    request: &'r Request<'r>,
    stop: &'r Arc<Stop>,
) -> Result<Option<Ready<'r>>, EngineError> {
    let jobs = jobs(request)?;
    let files = FileIdentities::of(request)?;
    let (crew, ends) = Crew::launch(jobs, stop)?;
    let tids = crew.await_ready(stop)?;
    Ok(tids.map(|tids| Ready { request, stop, files, crew, ends, tids }))
}

impl Ready<'_> {
    /// Runs from `start` to the end; see [`run`].
    ///
    /// # Errors
    /// A target was lost; earlier intervals have been passed to `on_interval`.
    pub fn go(
        self,
        start: Instant,
        host: Option<&mut dyn HostStateReader>,
        on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
    ) -> Result<RunEnd, EngineError> {
        let Ready { request, stop, files, crew, ends, tids } = self;
        let run = &request.assignment.run;
        let mut collector = Collector::new(ends, &run.streams, run.phases.interval_ns, host);
        collector.start(&tids);
        let clock = MonotonicClock::starting_at(start);
        crew.start_line.announce(start);

        let end = RunEnd::of(Outcome::Done);
        let mut watch = Watch { running: crew.members.len(), crew, end, died: None };
        loop {
            sleep(&collector, &clock);
            collector.poll(clock.now_ns());
            while let Some(interval) = collector.take() {
                if let ControlFlow::Break(reason) = on_interval(interval) {
                    stop.now();
                    watch.end.outcome = Outcome::Failed { reason };
                }
            }
            watch.handle_messages(stop);
            if watch.running == 0 && collector.is_done() {
                break;
            }
            if stop.is_requested() && stop.end_ns().is_none() {
                // Far enough in the future that every worker notices it in time.
                let ahead_ns = clock.now_ns() + TURN_WITHIN_NS;
                stop.fix_end(ahead_ns.next_multiple_of(run.phases.interval_ns));
            }
            for number in watch.crew.stuck(stop, request, clock.now_ns()) {
                collector.abandon(number);
                watch.abandon(number, request, clock.now_ns(), stop);
            }
        }
        if let Some(replaced) = files.replaced() {
            watch.fail(replaced);
        }
        watch.finish(stop)
    }
}

/// Sleeps until the next edge at which CPU times are read, or the longest sleep.
fn sleep(collector: &Collector<'_>, clock: &impl Clock) {
    if collector.are_workers_gone() {
        return;
    }
    let ahead = Duration::from_nanos(collector.next_edge_ns().saturating_sub(clock.now_ns()));
    std::thread::sleep(ahead.clamp(SLEEP_MIN, SLEEP_MAX));
}

/// The threads of a run. Dropped before the start, they end.
struct Crew {
    members: Vec<Member>,
    start_line: Arc<StartLine>,
    messages: Receiver<Message>,
}

impl Drop for Crew {
    fn drop(&mut self) {
        self.start_line.cancel();
    }
}

/// One thread.
struct Member {
    stream: String,
    lane: u32,
    /// The lane of operations on names.
    names: Option<NameLane>,
    pulse: Arc<Pulse>,
    stream_index: usize,
    /// It has ended or was abandoned.
    is_over: bool,
}

/// A lane of operations on names, which several threads may share.
struct NameLane {
    target: u32,
    /// Its number on the target.
    lane: u32,
    window: Arc<LaneWindow>,
    /// Steps of the thread's failed operations; `None` if there were too many to keep.
    failed_steps: Option<Vec<u64>>,
    /// The steps of each of the thread's users; `None` without users.
    users: Option<Vec<UserEnd>>,
}

impl std::fmt::Display for Member {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stream {}, worker {}", self.stream, self.lane)
    }
}

impl Crew {
    /// Starts a thread for each job; the threads open their targets and wait. All memory that is
    /// handed over later is allocated here.
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
                lane: job.lane,
                names: match &job.work {
                    Work::Data { .. } | Work::Replay { .. } => None,
                    Work::Names(names) => Some(NameLane {
                        target: job.target,
                        lane: job.assigned.lane,
                        window: Arc::clone(&names.window),
                        failed_steps: None,
                        users: None,
                    }),
                },
                pulse: Arc::clone(&pulse),
                stream_index: job.stream_index,
                is_over: false,
            });
            let (kinds, connections) = (job.stream.kinds(), job.work.connections());
            let has_users = job.stream.arrival.users().is_some();
            // One with the worker, the others spare.
            let tallies = requested as u64 * (collect::SPARE_TALLIES as u64 + 1);
            let (worker_end, collector_end, tally) = collect::handover(
                Part { stream: job.stream_index, target: job.target },
                job.lane,
                connections,
                Arc::clone(&pulse),
                || {
                    let tally = Tally::for_kinds(&kinds, connections, tallies);
                    if has_users { tally.with_users() } else { tally }
                },
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
                .map_err(|source| ThreadError { number: number + 1, requested, source })?;
        }
        Ok((crew, ends))
    }

    /// Waits until every thread has opened its target, and returns the thread numbers in order;
    /// `None` if the run was stopped meanwhile.
    fn await_ready(&self, stop: &Stop) -> Result<Option<Vec<i32>>, EngineError> {
        let mut tids = vec![0; self.members.len()];
        let mut left = self.members.len();
        let mut until = Instant::now() + READY_WITHIN;
        while left > 0 {
            let message = match self.messages.recv_timeout(SLEEP_MAX) {
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

    /// The threads that have been stuck in a call for longer than the deadline.
    fn stuck(&self, stop: &Stop, request: &Request<'_>, now_ns: u64) -> Vec<usize> {
        let deadline_ns = request.assignment.run.operation_deadline_ns;
        let mut stuck_after_ns = if stop.is_now() { STOP_NOW_GRACE_NS } else { deadline_ns };
        if request.io_method != IoMethodUsed::Psync {
            stuck_after_ns += RING_GRACE_NS;
        }
        let is_stuck = |m: &Member| !m.is_over && m.pulse.stalled_ns(now_ns) > stuck_after_ns;
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

/// The state of a run in progress.
struct Watch {
    crew: Crew,
    running: usize,
    end: RunEnd,
    died: Option<EngineError>,
}

impl Watch {
    /// Handles all messages that have arrived.
    fn handle_messages(&mut self, stop: &Stop) {
        while let Ok(message) = self.crew.messages.try_recv() {
            let number = match message {
                Message::Ready(..) => continue,
                Message::Ended(number, Ok(ended)) => {
                    self.record_end(number, ended, stop);
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
            self.set_over(number);
        }
    }

    fn set_over(&mut self, number: usize) {
        let is_over = &mut self.crew.members[number].is_over;
        if !std::mem::replace(is_over, true) {
            self.running -= 1;
        }
    }

    /// Records a failure; the first is the reason, later ones are details.
    fn fail(&mut self, reason: String) {
        match self.end.outcome {
            Outcome::Failed { .. } => self.end.details.push(reason),
            _ => self.end.outcome = Outcome::Failed { reason },
        }
    }

    /// Records how a worker ended.
    fn record_end(&mut self, number: usize, ended: Ended, stop: &Stop) {
        let earliest =
            [self.end.started_late_ns, ended.started_late_ns].into_iter().flatten().min();
        self.end.started_late_ns = earliest;
        let member = self.crew.members[number].to_string();
        if ended.is_overdue {
            self.end.outcome = overdue();
            stop.now();
        }
        let named = |line: &String| format!("{member}: {line}");
        self.end.details.extend(ended.faults.iter().chain(&ended.incomplete).map(named));
        self.end.mismatches.extend(ended.mismatches.iter().map(named));
        if let Some(names) = &mut self.crew.members[number].names {
            names.failed_steps = ended.failed_steps;
            names.users = ended.users;
        }
    }

    /// What is done of each lane of operations on names. The threads of a lane are neighbours.
    fn lane_ends(&self) -> Vec<LaneEnd> {
        let mut ends: Vec<LaneEnd> = Vec::new();
        for member in &self.crew.members {
            let Some(names) = &member.names else { continue };
            let (stream, target, lane) = (member.stream_index, names.target, names.lane);
            if let Some(users) = &names.users {
                let end_of = |(user, steps): &UserEnd| LaneEnd {
                    stream,
                    target,
                    lane: *user,
                    steps: steps.clone(),
                };
                ends.extend(users.iter().map(end_of));
                continue;
            }
            let failed = names.failed_steps.clone();
            match ends.last_mut() {
                Some(last) if (last.stream, last.target, last.lane) == (stream, target, lane) => {
                    match (&mut last.steps, failed) {
                        (Some(steps), Some(failed)) => steps.failed.extend(failed),
                        (steps, _) => *steps = None,
                    }
                }
                _ => {
                    let steps = failed.map(|failed| names.window.steps(failed));
                    ends.push(LaneEnd { stream, target, lane, steps });
                }
            }
        }
        // The users of a worker are not neighbours.
        ends.sort_by_key(|end| (end.stream, end.target, end.lane));
        ends
    }

    /// Abandons a worker that is stuck in a system call: its thread cannot be stopped and exists
    /// until the process ends.
    fn abandon(&mut self, number: usize, request: &Request<'_>, now_ns: u64, stop: &Stop) {
        let Member { stream_index, lane, pulse, .. } = &self.crew.members[number];
        let run = &request.assignment.run;
        let stream = &run.streams[*stream_index];
        let at = stream.target_lane(run.hosts, *lane);
        let on_target = stream.on_target(run.hosts, at.target);
        let stalled_ns = pulse.stalled_ns(now_ns);
        let names = NameStream::new(&on_target, run.seed, request.data_seed);
        let described = match (names, LaneReplay::of(stream, *lane)) {
            (Some(names), _) => {
                let op = match on_target.arrival.users() {
                    Some(_) => names.at(pulse.step()).op(),
                    None => names.op(at.lane, pulse.step()).op(),
                };
                thread::describe(&op, &names, stalled_ns)
            }
            (None, Some(replay)) => {
                let files = StreamFiles(on_target.file_sets());
                thread::describe(&replay.op(pulse.step()), &files, stalled_ns)
            }
            (None, None) => {
                let op = OpStream::new(&on_target, run.seed).op(at.lane, pulse.step());
                thread::describe(&op, &stream.file_set(), stalled_ns)
            }
        };
        self.end.details.push(format!("{}: {described}", self.crew.members[number]));
        if !stop.is_now() {
            self.end.outcome = overdue();
            stop.now();
        }
        self.set_over(number);
    }

    fn finish(mut self, stop: &Stop) -> Result<RunEnd, EngineError> {
        if let Some(error) = self.died {
            return Err(error);
        }
        if self.end.outcome == Outcome::Done && stop.is_requested() {
            self.end.outcome = Outcome::Interrupted;
        }
        self.end.lanes = self.lane_ends();
        Ok(self.end)
    }
}

fn overdue() -> Outcome {
    Outcome::Failed { reason: "operations did not return within their deadline".to_owned() }
}
