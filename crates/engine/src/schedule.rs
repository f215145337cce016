//! When the next operation is due, for one worker. Time is nanoseconds from the run's start and
//! always an argument.
//!
//! A closed schedule answers completions; an open one never hears of them: its instants are a
//! function of the seed alone, so that a slow target cannot slow the offered load down (coordinated
//! omission).

use std::collections::VecDeque;

use workload::arrival::{constant_due_ns, poisson_gap_ns};

/// The due instants of one worker.
pub trait Schedule {
    /// Whether operations become due whatever completes.
    const OPEN: bool;

    /// Whether an operation is due whenever a slot is free, so that due instants are never waited
    /// for.
    const ANSWERS_ONLY: bool = false;

    /// The instant at which the next operation is due; `u64::MAX` while none is known.
    fn next_due_ns(&self) -> u64;

    /// The next operation has been issued at `now_ns`; the one after it is `steps` further in the
    /// lane: more than one where several workers share the lane.
    fn advance(&mut self, now_ns: u64, steps: u64);

    /// Goes to step `step` of the lane before anything is issued.
    fn begin_at(&mut self, step: u64);

    /// `count` operations have completed at `now_ns`.
    fn completed(&mut self, now_ns: u64, count: usize);

    /// Operations due before `edge_ns` but not issued, and the time integral of that number since
    /// the last call, in operations times nanoseconds. Edges come in order.
    ///
    /// Where several workers share a lane, one of them counts what is due and each counts what it
    /// issued: the sum over them is the lane's, and a single share may be negative.
    fn backlog(&mut self, edge_ns: u64) -> (i64, i128);
}

/// Closed without think time: an operation is due whenever a slot is free.
#[derive(Debug, Default)]
pub struct Closed;

impl Schedule for Closed {
    const OPEN: bool = false;
    const ANSWERS_ONLY: bool = true;

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

/// Closed with think time: each completion makes an operation due a while later.
#[derive(Debug)]
pub struct Thinking {
    think_time_ns: u64,
    /// Ascending, because the think time is constant; never longer than the queue depth.
    due_ns: VecDeque<u64>,
}

impl Thinking {
    /// `queue_depth` operations are due at the start.
    pub fn new(think_time_ns: u64, queue_depth: u32) -> Thinking {
        let mut due_ns = VecDeque::with_capacity(queue_depth as usize);
        due_ns.extend(std::iter::repeat_n(0, queue_depth as usize));
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

/// A sequence of due instants that depends on nothing but itself.
pub trait Instants: Clone {
    /// The instant of the next operation, in nanoseconds from the run's start.
    fn peek_ns(&self) -> u64;
    /// Goes on by `steps` operations.
    fn skip(&mut self, steps: u64);
}

/// Evenly spaced instants; the workers' sequences interleave evenly.
#[derive(Clone, Debug)]
pub struct ConstantInstants {
    offered_rate: f64,
    lane: u32,
    lanes: u32,
    step: u64,
    due_ns: u64,
}

impl ConstantInstants {
    /// The share of worker `lane` of `lanes` in `offered_rate` operations per second.
    pub fn new(offered_rate: f64, lane: u32, lanes: u32) -> ConstantInstants {
        let due_ns = constant_due_ns(offered_rate, lane, lanes, 0);
        ConstantInstants { offered_rate, lane, lanes, step: 0, due_ns }
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
        self.due_ns = constant_due_ns(self.offered_rate, self.lane, self.lanes, self.step);
    }
}

/// The instants of a Poisson process; the workers' processes add up to one.
#[derive(Clone, Debug)]
pub struct PoissonInstants {
    seed: u64,
    offered_rate: f64,
    lane: u32,
    lanes: u32,
    step: u64,
    /// Kept as a fraction, so that rounding to nanoseconds does not add up.
    due_ns: f64,
}

impl PoissonInstants {
    /// The share of worker `lane` of `lanes` in a mean of `offered_rate` operations per second,
    /// drawn from the stream's `seed`.
    pub fn new(seed: u64, offered_rate: f64, lane: u32, lanes: u32) -> PoissonInstants {
        let due_ns = poisson_gap_ns(seed, offered_rate, lane, lanes, 0);
        PoissonInstants { seed, offered_rate, lane, lanes, step: 0, due_ns }
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

/// Open: operations become due at the instants of `I`.
#[derive(Debug)]
pub struct Open<I> {
    /// Stands at the next operation to be issued.
    issue: I,
    /// Stands at the first operation that is not yet counted as due.
    due: I,
    share: Share,
    due_sum: Sum,
    issued_sum: Sum,
    integral_at_edge: i128,
}

/// Who counts what is due in a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Share {
    /// This worker does the whole lane.
    Whole,
    /// It counts what is due for all that share the lane.
    CountsDue,
    /// It counts only what it issues itself.
    IssuesOnly,
}

/// Number and sum of instants: enough for the time integral of "due but not issued" without a list.
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

    /// Sum over all counted instants of the time from then to `now_ns`.
    fn elapsed(&self, now_ns: u64) -> i128 {
        i128::from(self.count) * i128::from(now_ns) - self.instants_ns
    }
}

impl<I: Instants> Open<I> {
    /// The schedule of a lane that one worker does, at its first instant.
    pub fn new(instants: I) -> Open<I> {
        Open::with_share(instants, Share::Whole)
    }

    /// The schedule of one of several workers that share a lane; exactly one `counts_due`.
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
        // Without a backlog what is issued is counted as due here and now: an edge then has only
        // the real backlog to walk through, not every instant of its interval.
        let keeps_up = self.share == Share::Whole && self.due_sum.count == self.issued_sum.count;
        if keeps_up {
            self.due_sum.add(self.issue.peek_ns());
        }
        self.issued_sum.add(now_ns);
        self.issue.skip(steps);
        if keeps_up {
            self.due = self.issue.clone();
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
    use super::*;

    #[test]
    fn an_open_schedule_knows_its_backlog_and_its_time_integral() {
        // One operation every 100 ns, due at 0, 100, 200, …
        let mut open = Open::new(ConstantInstants::new(1e7, 0, 1));
        open.advance(0, 1);
        open.advance(150, 1);
        // Before 1,000 ten are due (0, 100, … 900), of which two were issued. Waiting: 50 for the
        // second (100 to 150), and for the third to tenth 800 + 700 + … + 100 = 3,600.
        assert_eq!(open.backlog(1000), (8, 3650));
        // Nothing is issued up to 1,100: eight wait 100 ns more, and the eleventh from its instant
        // on.
        assert_eq!(open.backlog(1100), (9, 900));
    }

    #[test]
    fn an_operation_issued_at_the_instant_of_the_end_leaves_no_backlog() {
        let mut open = Open::new(ConstantInstants::new(1e7, 0, 1));
        open.advance(0, 1);
        open.advance(100, 1);
        assert_eq!(open.backlog(100), (0, 0));
    }

    #[test]
    fn think_time_delays_the_next_operation() {
        let mut thinking = Thinking::new(500, 1);
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
        // The first takes steps 0 and 2, the second step 1, late: the same as in the test above,
        // with one operation more.
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
}
