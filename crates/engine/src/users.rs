//! When the operations of a worker's users are due. Thousands of users take a few dozen bytes each: one
//! entry of a heap for the next operation of each, and one of a sorted list for its start in the cycle.
//!
//! A user has at most one operation in flight. The next operation of a scenario is due one think time
//! after the one before has completed. A scenario starts when it is due, or as soon as the user's earlier
//! one has ended; then it is late. Starts that are due are never skipped. An operation at an offset is due
//! that long after the scenario was due, so a scenario that is late by less than its pauses catches up.
//!
//! Not for: what the operations are (`workload::names`), the kinds of think times
//! (`workload::scenario`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use metrics::recorder::Recorder;
use target::tree::LaneSteps;
use workload::plan::Stream;
use workload::random;
use workload::scenario::Wait;

use crate::schedule::Schedule;

/// Separates think times from the other random numbers of a stream.
const THINK_TIMES: u64 = 0x7417;

/// The users of one worker, or of one of its threads.
#[derive(Debug)]
pub struct UserSchedule {
    scenario: Waits,
    /// Users of the stream on this target.
    count: u64,
    share: UserShare,
    cycle_ns: u64,
    /// No scenario starts from this time on.
    end_ns: u64,
    think_seed: u64,
    /// By the number of the user in the share.
    users: Vec<User>,
    /// The times of the starts in the first cycle with the users, in order.
    starts: Vec<(u64, u32)>,
    /// The next start, as an index in `starts`, and its cycle.
    next_start: (usize, u64),
    /// When the next operation of a user is due; at most one entry for each.
    due: BinaryHeap<Reverse<(u64, u32)>>,
    /// Up to when the backlog is integrated, and the integral since then.
    edge_ns: u64,
    backlog_time_ns: i128,
}

/// Which users of a stream a thread has: `first`, `first + distance` and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UserShare {
    /// The first of them.
    pub first: u32,
    /// The distance between two: the number of shares.
    pub distance: u32,
}

/// The state of a user.
#[derive(Clone, Copy, Debug, Default)]
struct User {
    /// Operations that have ended.
    steps: u64,
    /// When the scenario started, in nanoseconds from the run's start.
    started_ns: u64,
    /// When it was due to start.
    due_ns: u64,
    /// Starts that were due while an earlier scenario ran, and are not made up for.
    late_starts: u32,
    /// A scenario runs.
    is_running: bool,
    /// An operation is in flight.
    is_waiting: bool,
}

/// What a user waits for before each operation of a scenario.
#[derive(Debug)]
struct Waits {
    /// By operation: where its waits end in `waits`.
    ends: Box<[u32]>,
    waits: Box<[Wait]>,
}

impl Waits {
    fn of(stream: &Stream) -> Waits {
        let scenario = stream.names.as_ref().and_then(|load| load.scenario.as_ref());
        let before = scenario.map_or_else(Vec::new, |scenario| scenario.waits());
        let mut waits = Vec::new();
        let mut end_after = |before: Vec<Wait>| {
            waits.extend(before);
            waits.len() as u32
        };
        Waits {
            ends: before.into_iter().map(&mut end_after).collect(),
            waits: waits.into_boxed_slice(),
        }
    }

    /// The number of operations.
    fn operations(&self) -> u64 {
        self.ends.len() as u64
    }

    fn before(&self, operation: usize) -> &[Wait] {
        let start = operation.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.waits[start as usize..self.ends[operation] as usize]
    }
}

impl UserSchedule {
    /// A share of the users of a stream on its target, before the first start. All memory is allocated
    /// here.
    ///
    /// * `seed` - of the stream
    /// * `end_ns` - when the stream ends, in nanoseconds from the run's start
    ///
    /// # Panics
    /// The stream has no users, which the plan excludes.
    pub fn new(stream: &Stream, seed: u64, share: UserShare, end_ns: u64) -> UserSchedule {
        let users = stream.arrival.users().expect("the plan has users for this stream");
        let scenario = Waits::of(stream);
        assert!(scenario.operations() > 0, "the plan has a scenario for users");
        let count = users.of_worker(share.first, share.distance);
        let start_of = |local: u32| {
            let user = local * share.distance + share.first;
            (stream.active.start_ns + users.first_start_ns(user, seed), local)
        };
        let mut starts: Vec<(u64, u32)> = (0..count).map(start_of).collect();
        starts.sort_unstable();
        UserSchedule {
            scenario,
            count: u64::from(users.count.max(1)),
            share,
            cycle_ns: users.cycle_ns.max(1),
            end_ns,
            think_seed: random::derive(seed, THINK_TIMES),
            users: vec![User::default(); count as usize],
            starts,
            next_start: (0, 0),
            due: BinaryHeap::with_capacity(count as usize),
            edge_ns: 0,
            backlog_time_ns: 0,
        }
    }

    /// The number in the stream of a user of the share.
    #[inline]
    fn number(&self, local: u32) -> u32 {
        local * self.share.distance + self.share.first
    }

    /// When the next start is due; `u64::MAX` without users.
    #[inline]
    fn next_start_ns(&self) -> u64 {
        let (index, cycle) = self.next_start;
        let first = self.starts.get(index).map(|(first_ns, _)| *first_ns);
        first.map_or(u64::MAX, |first_ns| first_ns.saturating_add(cycle * self.cycle_ns))
    }

    /// Starts a scenario at `at_ns`.
    fn begin(&mut self, local: u32, at_ns: u64, recorder: &mut Recorder) {
        let user = &mut self.users[local as usize];
        user.is_running = true;
        user.started_ns = at_ns;
        // Starts are never skipped, so only the first has no start a cycle before.
        user.due_ns = if user.steps == 0 { at_ns } else { user.due_ns + self.cycle_ns };
        let step = user.steps;
        recorder.scenario_started();
        self.schedule_step(local, step, at_ns);
    }

    /// Makes a user's operation of this step due when the waits before it, which begin at `from_ns`, have
    /// ended.
    #[inline]
    fn schedule_step(&mut self, local: u32, step: u64, from_ns: u64) {
        let index = step * self.count + u64::from(self.number(local));
        let before = self.scenario.before((step % self.scenario.operations()) as usize);
        let mut due_ns = from_ns;
        let scenario_due_ns = self.users[local as usize].due_ns;
        for (number, wait) in (0..).zip(before) {
            due_ns = match wait {
                Wait::Think(time) => {
                    let bits = random::at(self.think_seed ^ number, index);
                    due_ns.saturating_add(time.draw_ns(bits))
                }
                Wait::Until(offset_ns) => due_ns.max(scenario_due_ns.saturating_add(*offset_ns)),
            };
        }
        self.due.push(Reverse((due_ns, local)));
    }

    /// The steps of each user that are done, with the number of the user.
    pub fn steps(&self) -> impl Iterator<Item = (u32, LaneSteps)> + '_ {
        (0..).zip(&self.users).map(|(local, user)| {
            let end = user.steps + u64::from(user.is_waiting);
            (self.number(local), LaneSteps { prefix: user.steps, end, failed: Vec::new() })
        })
    }
}

impl Schedule for UserSchedule {
    const OPEN: bool = false;
    const KEEPS_DUE_TIMES: bool = true;

    #[inline]
    fn next_due_ns(&self) -> u64 {
        let due_ns = self.due.peek().map_or(u64::MAX, |Reverse((due_ns, _))| *due_ns);
        due_ns.min(self.next_start_ns())
    }

    fn poll(&mut self, now_ns: u64, recorder: &mut Recorder) {
        loop {
            let at_ns = self.next_start_ns();
            if at_ns > now_ns || at_ns >= self.end_ns {
                return;
            }
            let (index, cycle) = self.next_start;
            let (_, local) = self.starts[index];
            self.next_start = match index + 1 < self.starts.len() {
                true => (index + 1, cycle),
                false => (0, cycle + 1),
            };
            let is_running = self.users[local as usize].is_running;
            // The first start of a user cannot be late, so it says nothing about lateness.
            if cycle > 0 {
                recorder.scenario_due(is_running);
            }
            match is_running {
                true => self.users[local as usize].late_starts += 1,
                false => self.begin(local, at_ns, recorder),
            }
        }
    }

    #[inline]
    fn next_step(&self) -> Option<(u32, u64)> {
        let Reverse((_, local)) = self.due.peek()?;
        Some((self.number(*local), self.users[*local as usize].steps))
    }

    #[inline]
    fn advance(&mut self, now_ns: u64, _steps: u64) {
        if let Some(Reverse((due_ns, local))) = self.due.pop() {
            self.backlog_time_ns += i128::from(now_ns.saturating_sub(due_ns.max(self.edge_ns)));
            self.users[local as usize].is_waiting = true;
        }
    }

    fn begin_at(&mut self, _step: u64) {}

    #[inline]
    fn completed(&mut self, _now_ns: u64, _count: usize) {}

    fn ended(&mut self, now_ns: u64, index: u64, recorder: &mut Recorder) {
        let local = (index % self.count) as u32 / self.share.distance;
        let step = index / self.count + 1;
        let user = &mut self.users[local as usize];
        user.is_waiting = false;
        user.steps = step;
        if !step.is_multiple_of(self.scenario.operations()) {
            self.schedule_step(local, step, now_ns);
            return;
        }
        recorder.scenario_completed(now_ns.saturating_sub(user.started_ns));
        user.is_running = false;
        if user.late_starts > 0 && now_ns < self.end_ns {
            user.late_starts -= 1;
            self.begin(local, now_ns, recorder);
        }
    }

    fn backlog(&mut self, edge_ns: u64) -> (i64, i128) {
        let mut backlog = 0;
        for Reverse((due_ns, _)) in &self.due {
            if *due_ns < edge_ns {
                backlog += 1;
                let from_ns = (*due_ns).max(self.edge_ns);
                self.backlog_time_ns += i128::from(edge_ns.saturating_sub(from_ns));
            }
        }
        self.edge_ns = self.edge_ns.max(edge_ns);
        (backlog, std::mem::take(&mut self.backlog_time_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_takes_a_few_dozen_bytes() {
        let heap = size_of::<Reverse<(u64, u32)>>();
        assert!(size_of::<User>() + size_of::<(u64, u32)>() + heap <= 64);
    }
}
