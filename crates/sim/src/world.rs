//! Virtual time: the loop that wakes workers in the order of their events.
//!
//! Every worker has one event: its next completion, due instant or interval boundary. The loop
//! takes the earliest event, and of simultaneous ones the first planned, so the result depends only
//! on the run, the model and the seed. It does for many workers in one thread what `engine::drive`
//! does for one on a real clock; a test shows that both do the same.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use analysis::load_point::{Generator, load_points};
use engine::worker::Plain;
use metrics::environment::Environment;
use metrics::run_record::{ChosenIoMethod, ExperimentRecord, Outcome, RunRecord};
use target::{Completion, Target, TargetError, Wait};
use workload::op::Op;
use workload::plan::{IoMethodUsed, Plan, Run, Step};
use workload::random;

pub use crate::lanes::AbandonedOperation;
use crate::lanes::{self, Lane, Next};
use crate::storage::{Model, NEVER_NS, Storage, StorageReply};

/// The outcome of a run with operations that do not complete; the same text as in the engine.
pub(crate) const OVERDUE: &str = "operations did not return within their deadline";
/// Pause between two runs of an experiment.
const BETWEEN_RUNS_MS: u64 = 1000;

/// A simulated run, with the operations that arrived at the storage.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// What the engine measured.
    pub record: RunRecord,
    /// The operations that arrived at the storage, in this order.
    pub seen: Vec<Seen>,
    /// The oldest operations that exceeded their deadline.
    pub overdue: Vec<AbandonedOperation>,
    /// The oldest operations that did not complete after the run was abandoned.
    pub abandoned: Vec<AbandonedOperation>,
}

/// An operation that arrived at the storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Index of the stream.
    pub stream: u32,
    /// The worker's lane.
    pub lane: u32,
    /// When it arrived, in nanoseconds from the run's start.
    pub issued_ns: u64,
    /// The operation.
    pub op: Op,
    /// The storage's reply.
    pub reply: StorageReply,
}

/// Simulates a run on one host; `seed` determines the storage's random draws.
pub fn simulate(run: &Run, model: &Model, seed: u64) -> RunRecord {
    World::new(run, model, seed, None).run(run).record
}

/// Like [`simulate`]; also returns the operations that arrived, about 70 bytes each.
pub fn simulate_observed(run: &Run, model: &Model, seed: u64) -> Simulated {
    World::new(run, model, seed, Some(Vec::new())).run(run)
}

/// Simulates a whole plan, run after run, each with an idle storage.
pub fn experiment(plan: &Plan, model: &Model, seed: u64) -> ExperimentRecord {
    experiment_of(plan, seed, |run, seed| simulate(run, model, seed))
}

/// Simulates a whole plan, run after run, each with its own seed.
pub fn experiment_of(
    plan: &Plan,
    seed: u64,
    mut simulate: impl FnMut(&Run, u64) -> RunRecord,
) -> ExperimentRecord {
    let mut started_unix_ms = 0;
    let mut runs: Vec<RunRecord> = Vec::new();
    let mut simulate = |run: &Run| {
        let mut record = simulate(run, random::derive(seed, u64::from(run.index)));
        record.started_unix_ms = started_unix_ms;
        started_unix_ms += run.phases.total_ns() / 1_000_000 + BETWEEN_RUNS_MS;
        record
    };
    let generator = Generator::of(plan, IoMethodUsed::IoUring, None);
    for step in &plan.steps {
        let before = runs.len();
        match step {
            Step::Fixed(run) => runs.push(simulate(run)),
            // As in the runner.
            Step::Search(search) => {
                while let Some(run) =
                    analysis::search::next(search, &load_points(&runs[before..], generator))
                {
                    runs.push(simulate(&run));
                }
            }
        }
    }
    ExperimentRecord {
        scraped: Default::default(),
        hosts: Vec::new(),
        id: format!("simulated-{seed}"),
        plan: plan.clone(),
        plan_hash: String::new(),
        io_method: ChosenIoMethod {
            io_method: IoMethodUsed::IoUring,
            reason: "simulated in virtual time".to_owned(),
        },
        environment: Environment::from_iter([("host".to_owned(), "simulated".to_owned())]),
        started_unix_ms: 0,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs,
        outcome: Outcome::Done,
    }
}

/// The state of a run.
struct World {
    storage: Storage,
    seen: Option<Vec<Seen>>,
    lanes: Vec<Box<dyn Lane>>,
    /// By lane: the completions on their way to it.
    mailboxes: Vec<Mailbox>,
    /// `(time, order of planning, lane)`, earliest first.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    planned: u64,
    /// When the run was abandoned.
    stopped_ns: Option<u64>,
    overdue: Vec<AbandonedOperation>,
    abandoned: Vec<AbandonedOperation>,
}

impl World {
    fn new(run: &Run, model: &Model, seed: u64, seen: Option<Vec<Seen>>) -> World {
        let lanes = lanes::lanes(run, |_, _| Plain);
        World {
            storage: Storage::new(model.clone(), seed),
            seen,
            events: (0..lanes.len()).map(|lane| Reverse((0, lane as u64, lane))).collect(),
            planned: lanes.len() as u64,
            mailboxes: lanes.iter().map(|_| Mailbox::default()).collect(),
            lanes,
            stopped_ns: None,
            overdue: Vec::new(),
            abandoned: Vec::new(),
        }
    }

    fn run(mut self, run: &Run) -> Simulated {
        let mut last_ns = 0;
        while let Some(Reverse((now_ns, _, number))) = self.events.pop() {
            debug_assert!(now_ns >= last_ns, "time never goes backwards");
            last_ns = now_ns;
            let lane = &mut self.lanes[number];
            let mut target = SimTarget {
                now_ns,
                id: lane.id(),
                storage: &mut self.storage,
                seen: self.seen.as_mut(),
                mailbox: &mut self.mailboxes[number],
            };
            match lane.turn(now_ns, self.stopped_ns, &mut target) {
                Next::At(at_ns) => {
                    let wake_ns = at_ns.min(target.mailbox.next_ns());
                    assert!(wake_ns > now_ns, "time does not advance at {now_ns} ns");
                    self.events.push(Reverse((wake_ns, self.planned, number)));
                    self.planned += 1;
                }
                Next::Ended => {}
                Next::Overdue(oldest) => {
                    self.stopped_ns.get_or_insert(now_ns);
                    self.overdue.extend(oldest);
                }
                Next::Abandoned(oldest) => self.abandoned.extend(oldest),
            }
        }
        let outcome = match self.overdue.len() {
            0 => Outcome::Done,
            _ => Outcome::Failed { reason: OVERDUE.to_owned() },
        };
        let ended = self.lanes.into_iter().map(Lane::end);
        let record = RunRecord {
            run: run.clone(),
            started_unix_ms: 0,
            intervals: lanes::intervals(run, ended.map(|end| (end.id, end.parts)).collect()),
            warnings: Vec::new(),
            hosts: Vec::new(),
            service_counters: None,
            trees: Vec::new(),
            outcome,
        };
        let (overdue, abandoned) = (self.overdue, self.abandoned);
        Simulated { record, seen: self.seen.unwrap_or_default(), overdue, abandoned }
    }
}

/// Completions on their way to one worker, earliest first; simultaneous ones in the order of issue.
#[derive(Default)]
struct Mailbox {
    coming: BinaryHeap<Reverse<(u64, u64, u32, i32)>>,
    issued: u64,
}

impl Mailbox {
    fn next_ns(&self) -> u64 {
        self.coming.peek().map_or(NEVER_NS, |Reverse((completed_ns, ..))| *completed_ns)
    }
}

/// The storage for one worker at one time.
struct SimTarget<'a> {
    now_ns: u64,
    id: (u32, u32),
    storage: &'a mut Storage,
    seen: Option<&'a mut Vec<Seen>>,
    mailbox: &'a mut Mailbox,
}

impl Target for SimTarget<'_> {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let reply = self.storage.arrive(self.now_ns, op);
        if let Some(seen) = &mut self.seen {
            let (stream, lane) = self.id;
            seen.push(Seen { stream, lane, issued_ns: self.now_ns, op: *op, reply });
        }
        if reply.completed_ns != NEVER_NS {
            let number = self.mailbox.issued;
            self.mailbox.coming.push(Reverse((reply.completed_ns, number, tag, reply.result)));
            self.mailbox.issued += 1;
        }
        Ok(())
    }

    /// Does not wait: the surrounding loop advances the time.
    fn reap(&mut self, _wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        while self.mailbox.next_ns() <= self.now_ns {
            let Some(Reverse((.., tag, result))) = self.mailbox.coming.pop() else { break };
            done.push(Completion { tag, result });
        }
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}
