//! When a worker's next operation is due. Time is nanoseconds from the run's start and always an
//! argument.
//!
//! A closed schedule depends on completions. An open one depends only on the seed, so that a slow
//! target cannot reduce the offered load (coordinated omission).

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use metrics::recorder::Recorder;
use workload::arrival::{Process, ThinkTime, constant_due_ns, poisson_gap, poisson_gap_ns};
use workload::random;
use workload::rate_schedule::RateSchedule;

/// The due times of one worker.
pub trait Schedule {
    /// Whether due times do not depend on completions.
    const OPEN: bool;

    /// Whether an operation is due whenever a slot is free, so that due times are never waited for.
    const NEVER_WAITS: bool = false;

    /// Whether operations keep the time at which they were due, although it depends on completions: an
    /// operation that is sent late has a response time above its service time.
    const KEEPS_DUE_TIMES: bool = Self::OPEN;

    /// When the next operation is due, or [`Schedule::poll`] must be called; `u64::MAX` if unknown.
    fn next_due_ns(&self) -> u64;

    /// Notes what is due by `now_ns` without being an operation: starts of users.
    #[inline]
    fn poll(&mut self, _now_ns: u64, _recorder: &mut Recorder) {}

    /// The lane and the step of the next operation, if the schedule chooses them.
    #[inline]
    fn next_step(&self) -> Option<(u32, u64)> {
        None
    }

    /// Notes that the operation with number `index` ended at `now_ns`.
    #[inline]
    fn ended(&mut self, _now_ns: u64, _index: u64, _recorder: &mut Recorder) {}

    /// Notes that the next operation was issued at `now_ns`. The one after it is `steps` steps
    /// later in the lane: more than one if several workers share the lane.
    fn advance(&mut self, now_ns: u64, steps: u64);

    /// Moves to step `step` of the lane, before the first operation.
    fn begin_at(&mut self, step: u64);

    /// Notes that `count` operations completed at `now_ns`.
    fn completed(&mut self, now_ns: u64, count: usize);

    /// The backlog at `edge_ns` (operations due before it and not issued), and its time integral
    /// since the last call, in operations × nanoseconds. Edges must be in order.
    ///
    /// If several workers share a lane, one counts due operations and each counts those it issued:
    /// the sum over the workers is the lane's backlog, and a single share may be negative.
    fn backlog(&mut self, edge_ns: u64) -> (i64, i128);
}

/// Closed without think time: an operation is due whenever a slot is free.
#[derive(Debug, Default)]
pub struct Closed;

impl Schedule for Closed {
    const OPEN: bool = false;
    const NEVER_WAITS: bool = true;

    #[inline]
    fn next_due_ns(&self) -> u64 {
        0
    }

    #[inline]
    fn advance(&mut self, _now_ns: u64, _steps: u64) {}

    fn begin_at(&mut self, _step: u64) {}

    #[inline]
    fn completed(&mut self, _now_ns: u64, _count: usize) {}

    fn backlog(&mut self, _edge_ns: u64) -> (i64, i128) {
        (0, 0)
    }
}

/// Closed with think time: an operation becomes due one think time after each completion.
#[derive(Debug)]
pub struct Thinking {
    think_time_ns: u64,
    /// Ascending, because the think time is constant; at most `queue_depth` entries.
    due_ns: VecDeque<u64>,
}

impl Thinking {
    /// At `start_ns` `queue_depth` operations are due.
    pub fn new(start_ns: u64, think_time_ns: u64, queue_depth: u32) -> Thinking {
        let mut due_ns = VecDeque::with_capacity(queue_depth as usize);
        due_ns.extend(std::iter::repeat_n(start_ns, queue_depth as usize));
        Thinking { think_time_ns, due_ns }
    }
}

impl Schedule for Thinking {
    const OPEN: bool = false;

    #[inline]
    fn next_due_ns(&self) -> u64 {
        self.due_ns.front().copied().unwrap_or(u64::MAX)
    }

    #[inline]
    fn advance(&mut self, _now_ns: u64, _steps: u64) {
        self.due_ns.pop_front();
    }

    fn begin_at(&mut self, _step: u64) {}

    #[inline]
    fn completed(&mut self, now_ns: u64, count: usize) {
        for _ in 0..count {
            self.due_ns.push_back(now_ns + self.think_time_ns);
        }
    }

    fn backlog(&mut self, _edge_ns: u64) -> (i64, i128) {
        (0, 0)
    }
}

/// Separates think times from the other random numbers of a stream.
const THINK_TIMES: u64 = 0x7417;

/// Closed with think times that are drawn from a distribution.
#[derive(Debug)]
pub struct RandomThinking {
    think_time: ThinkTime,
    seed: u64,
    /// Think times drawn so far.
    drawn: u64,
    /// At most `queue_depth` entries.
    due_ns: BinaryHeap<Reverse<u64>>,
}

impl RandomThinking {
    /// At `start_ns` `queue_depth` operations are due. Think times are drawn from the stream's `seed`.
    ///
    /// * `source` - the lane and the number of the worker in it, so that no two workers draw the same
    ///   think times
    pub fn new(
        think_time: ThinkTime,
        seed: u64,
        source: (u32, u32),
        start_ns: u64,
        queue_depth: u32,
    ) -> RandomThinking {
        let source = u64::from(source.0) << 32 | u64::from(source.1);
        let seed = random::derive(random::derive(seed, THINK_TIMES), source);
        let mut due_ns = BinaryHeap::with_capacity(queue_depth as usize);
        due_ns.extend(std::iter::repeat_n(Reverse(start_ns), queue_depth as usize));
        RandomThinking { think_time, seed, drawn: 0, due_ns }
    }
}

impl Schedule for RandomThinking {
    const OPEN: bool = false;

    #[inline]
    fn next_due_ns(&self) -> u64 {
        self.due_ns.peek().map_or(u64::MAX, |due| due.0)
    }

    #[inline]
    fn advance(&mut self, _now_ns: u64, _steps: u64) {
        self.due_ns.pop();
    }

    fn begin_at(&mut self, _step: u64) {}

    #[inline]
    fn completed(&mut self, now_ns: u64, count: usize) {
        for _ in 0..count {
            let think_time_ns = self.think_time.draw_ns(random::at(self.seed, self.drawn));
            self.drawn += 1;
            self.due_ns.push(Reverse(now_ns.saturating_add(think_time_ns)));
        }
    }

    fn backlog(&mut self, _edge_ns: u64) -> (i64, i128) {
        (0, 0)
    }
}

/// A sequence of due times that depends only on its parameters.
pub trait Instants: Clone {
    /// When the next operation is due, in nanoseconds from the run's start.
    fn peek_ns(&self) -> u64;
    /// Advances by `steps` operations.
    fn skip(&mut self, steps: u64);
}

/// Evenly spaced times; the sequences of the workers interleave evenly.
#[derive(Clone, Debug)]
pub struct ConstantInstants {
    offered_rate: f64,
    lane: u32,
    lanes: u32,
    start_ns: u64,
    step: u64,
    due_ns: u64,
}

impl ConstantInstants {
    /// The share of worker `lane` of `lanes` in `offered_rate` operations per second.
    pub fn new(offered_rate: f64, lane: u32, lanes: u32) -> ConstantInstants {
        let due_ns = constant_due_ns(offered_rate, lane, lanes, 0);
        ConstantInstants { offered_rate, lane, lanes, start_ns: 0, step: 0, due_ns }
    }

    /// With the first operation at `start_ns`.
    #[must_use]
    pub fn starting_at(self, start_ns: u64) -> ConstantInstants {
        ConstantInstants { start_ns, due_ns: self.due_ns + start_ns, ..self }
    }
}

impl Instants for ConstantInstants {
    #[inline]
    fn peek_ns(&self) -> u64 {
        self.due_ns
    }

    #[inline]
    fn skip(&mut self, steps: u64) {
        self.step += steps;
        let due_ns = constant_due_ns(self.offered_rate, self.lane, self.lanes, self.step);
        self.due_ns = self.start_ns + due_ns;
    }
}

/// The times of a Poisson process; the processes of the workers add up to one.
#[derive(Clone, Debug)]
pub struct PoissonInstants {
    seed: u64,
    offered_rate: f64,
    lane: u32,
    lanes: u32,
    step: u64,
    /// Fractional, so that rounding errors do not accumulate.
    due_ns: f64,
}

impl PoissonInstants {
    /// The share of worker `lane` of `lanes` in a mean of `offered_rate` operations per second,
    /// drawn from the stream's `seed`.
    pub fn new(seed: u64, offered_rate: f64, lane: u32, lanes: u32) -> PoissonInstants {
        let due_ns = poisson_gap_ns(seed, offered_rate, lane, lanes, 0);
        PoissonInstants { seed, offered_rate, lane, lanes, step: 0, due_ns }
    }

    /// With the process beginning at `start_ns`.
    #[must_use]
    pub fn starting_at(self, start_ns: u64) -> PoissonInstants {
        PoissonInstants { due_ns: self.due_ns + start_ns as f64, ..self }
    }
}

impl Instants for PoissonInstants {
    #[inline]
    fn peek_ns(&self) -> u64 {
        self.due_ns as u64
    }

    #[inline]
    fn skip(&mut self, steps: u64) {
        for _ in 0..steps {
            self.step += 1;
            self.due_ns +=
                poisson_gap_ns(self.seed, self.offered_rate, self.lane, self.lanes, self.step);
        }
    }
}

/// The times of a schedule of rates. The workers' sequences interleave at the schedule's rates, or their
/// Poisson processes add up to one with these rates.
#[derive(Debug)]
pub struct ScheduledInstants {
    schedule: RateSchedule,
    /// The seed of Poisson arrivals; `None` for a constant process.
    seed: Option<u64>,
    part: f64,
    lane: u32,
    lanes: u32,
    /// Arrivals that the schedule expects before the stream's start.
    before: f64,
    position: SchedulePosition,
}

#[derive(Clone, Copy, Debug, Default)]
struct SchedulePosition {
    step: u64,
    /// Arrivals that the schedule expects before this one.
    count: f64,
    due_ns: u64,
}

impl ScheduledInstants {
    /// The share of worker `lane` of `lanes` in a `part` of the rates; Poisson arrivals are drawn from
    /// the stream's `seed`.
    pub fn new(
        schedule: RateSchedule,
        process: Process,
        part: f64,
        seed: u64,
        (lane, lanes): (u32, u32),
    ) -> ScheduledInstants {
        let seed = (process == Process::Poisson).then_some(seed);
        let position = SchedulePosition::default();
        let mut instants =
            ScheduledInstants { schedule, seed, part, lane, lanes, before: 0.0, position };
        instants.position.count = instants.gap(0);
        instants.find_due();
        instants
    }

    /// With the first operation at or after `start_ns`; the rates remain those of the time from the
    /// run's start.
    #[must_use]
    pub fn starting_at(mut self, start_ns: u64) -> ScheduledInstants {
        self.before = self.schedule.count(start_ns as f64);
        self.position.count += self.before;
        self.find_due();
        // The start is exact, whatever the rounding of counts.
        self.position.due_ns = self.position.due_ns.max(start_ns);
        self
    }

    /// Poisson arrivals that the schedule expects between a step and the one before; for a constant
    /// process the first step's position.
    fn gap(&self, step: u64) -> f64 {
        match self.seed {
            Some(seed) => {
                let gap = poisson_gap(seed, self.lane, self.lanes, step);
                gap * f64::from(self.lanes) / self.part
            }
            None => f64::from(self.lane) / self.part,
        }
    }

    #[inline]
    fn find_due(&mut self) {
        // Never, if the schedule offers no more.
        let due_ns = self.schedule.time_ns(self.position.count).filter(|ns| ns.is_finite());
        self.position.due_ns = due_ns.map_or(u64::MAX, |ns| ns.round() as u64);
    }
}

impl Clone for ScheduledInstants {
    fn clone(&self) -> ScheduledInstants {
        ScheduledInstants { schedule: self.schedule.clone(), ..*self }
    }

    /// Copies only the position: both are sequences of one schedule.
    #[inline]
    fn clone_from(&mut self, source: &ScheduledInstants) {
        self.position = source.position;
    }
}

impl Instants for ScheduledInstants {
    #[inline]
    fn peek_ns(&self) -> u64 {
        self.position.due_ns
    }

    #[inline]
    fn skip(&mut self, steps: u64) {
        if steps == 0 {
            return;
        }
        if self.seed.is_some() {
            for _ in 0..steps {
                self.position.step += 1;
                self.position.count += self.gap(self.position.step);
            }
        } else {
            self.position.step += steps;
            let index = self.position.step * u64::from(self.lanes) + u64::from(self.lane);
            self.position.count = self.before + index as f64 / self.part;
        }
        self.find_due();
    }
}

/// Open: operations become due at the times of `I`.
#[derive(Debug)]
pub struct Open<I> {
    /// Positioned at the next operation to be issued.
    issue: I,
    /// Positioned at the first operation that is not counted as due yet.
    due: I,
    share: Share,
    due_sum: Sum,
    issued_sum: Sum,
    integral_at_edge: i128,
}

/// A worker's part in counting the due operations of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// The worker has the lane to itself.
    Whole,
    /// It counts due operations for all workers of the lane.
    CountsDue,
    /// It counts only the operations that it issues.
    IssuesOnly,
}

/// Count and sum of times: sufficient for the time integral of the backlog without a list.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: i64,
    instants_ns: i128,
}

impl Sum {
    fn add(&mut self, instant_ns: u64) {
        self.count += 1;
        self.instants_ns += i128::from(instant_ns);
    }

    /// The sum over all counted times of the time elapsed since then.
    fn elapsed(&self, now_ns: u64) -> i128 {
        i128::from(self.count) * i128::from(now_ns) - self.instants_ns
    }
}

impl<I: Instants> Open<I> {
    /// The schedule of a worker that has its lane to itself.
    pub fn new(instants: I) -> Open<I> {
        Open::with_share(instants, Share::Whole)
    }

    /// The schedule of one of several workers of a lane; exactly one `counts_due`.
    pub fn shared(instants: I, counts_due: bool) -> Open<I> {
        Open::with_share(instants, if counts_due { Share::CountsDue } else { Share::IssuesOnly })
    }

    fn with_share(instants: I, share: Share) -> Open<I> {
        Open {
            due: instants.clone(),
            issue: instants,
            share,
            due_sum: Sum::default(),
            issued_sum: Sum::default(),
            integral_at_edge: 0,
        }
    }
}

impl<I: Instants> Schedule for Open<I> {
    const OPEN: bool = true;

    #[inline]
    fn next_due_ns(&self) -> u64 {
        self.issue.peek_ns()
    }

    #[inline]
    fn advance(&mut self, now_ns: u64, steps: u64) {
        // Without a backlog, count the operation as due here, so that an edge only walks through
        // the actual backlog and not through every due time of its interval.
        let keeps_up = self.share == Share::Whole && self.due_sum.count == self.issued_sum.count;
        if keeps_up {
            self.due_sum.add(self.issue.peek_ns());
        }
        self.issued_sum.add(now_ns);
        self.issue.skip(steps);
        if keeps_up {
            self.due.clone_from(&self.issue);
        }
    }

    fn begin_at(&mut self, step: u64) {
        self.issue.skip(step);
    }

    #[inline]
    fn completed(&mut self, _now_ns: u64, _count: usize) {}

    fn backlog(&mut self, edge_ns: u64) -> (i64, i128) {
        if self.share != Share::IssuesOnly {
            while self.due.peek_ns() < edge_ns {
                self.due_sum.add(self.due.peek_ns());
                self.due.skip(1);
            }
        }
        let backlog = self.due_sum.count - self.issued_sum.count;
        let integral = self.due_sum.elapsed(edge_ns) - self.issued_sum.elapsed(edge_ns);
        let since_last = integral - self.integral_at_edge;
        self.integral_at_edge = integral;
        (backlog, since_last)
    }
}

#[cfg(test)]
mod tests {
    use workload::rate_schedule::{Segment, SegmentRate};

    use super::*;

    #[test]
    fn an_open_schedule_computes_its_backlog_and_time_integral() {
        // One operation every 100 ns, due at 0, 100, 200, …
        let mut open = Open::new(ConstantInstants::new(1e7, 0, 1));
        open.advance(0, 1);
        open.advance(150, 1);
        // Ten are due before 1,000 (0, 100, … 900), of which two were issued. Waiting times: 50 for
        // the second (100 to 150), and 800 + 700 + … + 100 = 3,600 for the third to tenth.
        assert_eq!(open.backlog(1000), (8, 3650));
        // Nothing is issued until 1,100: eight wait another 100 ns, and the eleventh from its due
        // time.
        assert_eq!(open.backlog(1100), (9, 900));
    }

    #[test]
    fn an_operation_issued_at_the_end_leaves_no_backlog() {
        let mut open = Open::new(ConstantInstants::new(1e7, 0, 1));
        open.advance(0, 1);
        open.advance(100, 1);
        assert_eq!(open.backlog(100), (0, 0));
    }

    #[test]
    fn think_time_delays_the_next_operation() {
        let mut thinking = Thinking::new(0, 500, 1);
        assert_eq!(thinking.next_due_ns(), 0);
        thinking.advance(0, 1);
        assert_eq!(thinking.next_due_ns(), u64::MAX);
        thinking.completed(70, 1);
        assert_eq!(thinking.next_due_ns(), 570);
    }

    #[test]
    fn staggered_workers_add_up_to_an_even_spacing() {
        let mut all = Vec::new();
        for lane in 0..4 {
            let mut instants = ConstantInstants::new(1e6, lane, 4);
            for _ in 0..100 {
                all.push(instants.peek_ns());
                instants.skip(1);
            }
        }
        all.sort_unstable();
        assert!(all.windows(2).all(|pair| pair[1] - pair[0] == 1000));
    }

    #[test]
    fn workers_that_share_a_lane_add_up_to_its_backlog() {
        let instants = || ConstantInstants::new(1e7, 0, 1);
        let mut first = Open::shared(instants(), true);
        let mut second = Open::shared(instants(), false);
        // The first takes steps 0 and 2, the second step 1, late: as in the test above, with one
        // more operation.
        first.begin_at(0);
        second.begin_at(1);
        assert_eq!((first.next_due_ns(), second.next_due_ns()), (0, 100));
        first.advance(0, 2);
        second.advance(150, 2);
        first.advance(200, 2);
        assert_eq!(second.next_due_ns(), 300);
        let (a, b) = (first.backlog(1000), second.backlog(1000));
        assert_eq!((a.0 + b.0, a.1 + b.1), (7, 50 + 2800));
    }

    #[test]
    fn workers_of_a_schedule_interleave_at_its_rates() {
        let burst = |rate, seconds: u64| Segment {
            duration_ns: Some(seconds * 1_000_000_000),
            rate: SegmentRate::Constant { rate },
        };
        let schedule = RateSchedule::try_from(vec![burst(1000.0, 1), burst(0.0, 4)]);
        let schedule = schedule.expect("it has a rate");
        for part in [1.0, 0.5] {
            let mut all = Vec::new();
            for lane in 0..3 {
                let of = schedule.clone();
                let mut instants =
                    ScheduledInstants::new(of, Process::Constant, part, 1, (lane, 3));
                while instants.peek_ns() < 10_000_000_000 {
                    all.push(instants.peek_ns());
                    instants.skip(1);
                }
            }
            all.sort_unstable();
            let of_burst = (1000.0 * part) as u64;
            let expected = (0..2 * of_burst).map(|index| {
                let (burst, within) = (index / of_burst, index % of_burst);
                burst * 5_000_000_000 + within * 1_000_000_000 / of_burst
            });
            assert!(all.iter().copied().eq(expected), "part {part}");
        }
    }

    #[test]
    fn an_operation_is_due_a_drawn_think_time_after_a_completion() {
        let think_time = ThinkTime::Uniform { min_ns: 500, max_ns: 900 };
        let mut thinking = RandomThinking::new(think_time, 1, (0, 0), 0, 2);
        thinking.advance(0, 1);
        thinking.advance(0, 1);
        assert_eq!(thinking.next_due_ns(), u64::MAX);
        thinking.completed(1000, 2);
        let first = thinking.next_due_ns();
        thinking.advance(first, 1);
        let second = thinking.next_due_ns();
        assert!((1500..=1900).contains(&first) && (first..=1900).contains(&second));
        let times = |source| {
            let mut other = RandomThinking::new(think_time, 1, source, 0, 1);
            other.advance(0, 1);
            other.completed(0, 1);
            other.next_due_ns()
        };
        assert_ne!(times((0, 0)), times((0, 1)), "threads of a lane draw different times");
        assert_ne!(times((0, 0)), times((1, 0)));
    }
}
