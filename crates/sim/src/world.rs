//! Virtual time: the loop that wakes workers in the order of their events.
//!
//! Every worker has one event, the next moment at which it must look: a completion, a due instant,
//! an interval's edge. The loop takes the earliest (at one moment: in the order in which they were
//! planned), so nothing depends on anything but the run, the model and the seed. It does for many
//! workers in one thread what `engine::drive` does for one on a real clock; that both do the same
//! is a test.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use analysis::load_point::{Generator, load_points};
use engine::worker::Plain;
use metrics::run_record::{EngineUsed, ExperimentRecord, Outcome, RunRecord};
use target::{Completion, Target, TargetError, Wait};
use workload::op::Op;
use workload::plan::{EngineChoice, Plan, Run, Step};
use workload::random;

pub use crate::lanes::NotReturned;
use crate::lanes::{self, Lane, Next};
use crate::storage::{Answer, Model, NEVER_NS, Storage};

/// Why a run ends with operations that do not come back.
pub(crate) const OVERDUE: &str = "operations did not return within their deadline";
/// Distance of the runs of an experiment on the calendar, beyond their own length.
const BETWEEN_RUNS_MS: u64 = 1000;

/// A run that was simulated, with what the storage itself saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Simulated {
    /// What the engine measured.
    pub record: RunRecord,
    /// What the storage was sent, in the order of arrival: the witness.
    pub seen: Vec<Seen>,
    /// The oldest of the operations that were outstanding longer than their deadline.
    pub overdue: Vec<NotReturned>,
    /// The oldest of those that had not come back a while after the run was ended for that.
    pub left_behind: Vec<NotReturned>,
}

/// One operation as the storage saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Index of the stream.
    pub stream: u32,
    /// The worker's lane.
    pub lane: u32,
    /// When it arrived, in nanoseconds from the run's start.
    pub issued_ns: u64,
    /// What it was.
    pub op: Op,
    /// What became of it.
    pub answer: Answer,
}

/// Simulates a run on one host; `seed` decides what the storage draws.
pub fn simulate(run: &Run, model: &Model, seed: u64) -> RunRecord {
    World::new(run, model, seed, None).run(run).record
}

/// The same, and keeps what the storage saw: some 70 bytes for each operation.
pub fn simulate_with_witness(run: &Run, model: &Model, seed: u64) -> Simulated {
    World::new(run, model, seed, Some(Vec::new())).run(run)
}

/// Simulates a whole plan, run after run, each against a storage at rest.
pub fn experiment(plan: &Plan, model: &Model, seed: u64) -> ExperimentRecord {
    experiment_of(plan, seed, |run, seed| simulate(run, model, seed))
}

/// A whole plan, run after run, each as `simulate` does it with a seed of its own.
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
    let generator = Generator::of(plan, EngineChoice::IoUring, None);
    for step in &plan.steps {
        let before = runs.len();
        match step {
            Step::Fixed(run) => runs.push(simulate(run)),
            // As the runner does it.
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
        id: format!("simulated-{seed}"),
        plan: plan.clone(),
        plan_hash: String::new(),
        engine: EngineUsed {
            engine: EngineChoice::IoUring,
            reason: "simulated in virtual time".to_owned(),
        },
        environment: vec![("host".to_owned(), "simulated".to_owned())],
        started_unix_ms: 0,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs,
        outcome: Outcome::Done,
    }
}

/// Everything of one run.
struct World {
    storage: Storage,
    seen: Option<Vec<Seen>>,
    lanes: Vec<Box<dyn Lane>>,
    /// By lane: what is on its way to it.
    mailboxes: Vec<Mailbox>,
    /// `(time, order of planning, lane)`, the earliest first.
    events: BinaryHeap<Reverse<(u64, u64, usize)>>,
    planned: u64,
    /// When the run was given up, if it was.
    stopped_ns: Option<u64>,
    overdue: Vec<NotReturned>,
    left_behind: Vec<NotReturned>,
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
            left_behind: Vec::new(),
        }
    }

    fn run(mut self, run: &Run) -> Simulated {
        let mut last_ns = 0;
        while let Some(Reverse((now_ns, _, number))) = self.events.pop() {
            debug_assert!(now_ns >= last_ns, "time goes forward");
            last_ns = now_ns;
            let lane = &mut self.lanes[number];
            let mut target = SimTarget {
                now_ns,
                place: lane.place(),
                storage: &mut self.storage,
                seen: self.seen.as_mut(),
                mailbox: &mut self.mailboxes[number],
            };
            match lane.turn(now_ns, self.stopped_ns, &mut target) {
                Next::At(at_ns) => {
                    let wake_ns = at_ns.min(target.mailbox.next_ns());
                    assert!(wake_ns > now_ns, "time stands still at {now_ns} ns");
                    self.events.push(Reverse((wake_ns, self.planned, number)));
                    self.planned += 1;
                }
                Next::Ended => {}
                Next::Overdue(oldest) => {
                    self.stopped_ns.get_or_insert(now_ns);
                    self.overdue.extend(oldest);
                }
                Next::LeftBehind(oldest) => self.left_behind.extend(oldest),
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
            intervals: lanes::intervals(run, ended.map(|end| (end.place, end.parts)).collect()),
            warnings: Vec::new(),
            witness: None,
            outcome,
        };
        let (overdue, left_behind) = (self.overdue, self.left_behind);
        Simulated { record, seen: self.seen.unwrap_or_default(), overdue, left_behind }
    }
}

/// Completions on their way to one worker, the earliest first; at one moment in the order of issue.
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

/// The storage as one worker sees it at one moment.
struct SimTarget<'a> {
    now_ns: u64,
    place: (u32, u32),
    storage: &'a mut Storage,
    seen: Option<&'a mut Vec<Seen>>,
    mailbox: &'a mut Mailbox,
}

impl Target for SimTarget<'_> {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let answer = self.storage.arrive(self.now_ns, op);
        if let Some(seen) = &mut self.seen {
            let (stream, lane) = self.place;
            seen.push(Seen { stream, lane, issued_ns: self.now_ns, op: *op, answer });
        }
        if answer.completed_ns != NEVER_NS {
            let number = self.mailbox.issued;
            self.mailbox.coming.push(Reverse((answer.completed_ns, number, tag, answer.result)));
            self.mailbox.issued += 1;
        }
        Ok(())
    }

    /// Does not wait: the loop around it moves the time.
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
