//! Saturation: decides whether throughput has stopped rising with load.
//!
//! Verdicts, knees, charts, searches and tuning all use this decision. The result is "reached",
//! "not reached" or "inconclusive" with a reason; only sufficiently precise points count.
//!
//! Reached: throughput grew by less than 5 % per doubling of the load over at least two doublings
//! (a staircase may pause for one). Not reached: operations hardly wait at the highest load.
//! Everything else is inconclusive.
//!
//! Not for: the bottleneck ([`crate::verdict`]).

use crate::estimate::{self, Estimate};
use crate::load_point::LoadPoint;

/// Throughput is flat if the upper bound of its growth per doubling is below this.
pub const FLAT_MAX: f64 = 0.05;
/// Doublings of flat throughput required for saturation.
const FLAT_DOUBLINGS: f64 = 2.0;
/// Points with a larger relative half-width do not count.
pub const PRECISE_MAX: f64 = 0.10;
/// Without saturation, operations at the highest load take at most this multiple of the unloaded
/// time.
const UNLOADED_MAX: f64 = 1.15;
/// Without saturation, throughput grows at least by this per doubling.
const RISING_MIN: f64 = 0.20;
/// Ratio of loads that counts as a doubling; queue depths shared by workers are not exact.
const DOUBLING: f64 = 1.9;
/// A larger fall from the peak to the highest load must be confirmed by repeats: conditions may
/// have changed, or the target degrades under load.
const FALL_MAX: f64 = 0.20;
/// Agreeing runs required to confirm such a peak.
const REPEATS_TO_CONFIRM: u32 = 2;
/// Rates within this share are equal.
const SAME_LEVEL: f64 = 0.01;
/// Share of a certain limit that counts as reaching it, if the interval does not include the limit.
const AT_LIMIT: f64 = 0.98;
/// If queue depth 1 reaches this share of the plateau, the limit sets its service time.
const AT_PACE: f64 = 0.90;
/// A mean schedule delay above this multiple of the mean service time indicates a backlog, even if
/// slots were free.
const BACKLOG_STANDS: f64 = 1.0;
/// Mean outstanding share of the queue depth that counts as all slots in use.
const SLOTS_USED: f64 = 0.97;
/// Operations within this multiple of the shortest service time do not queue in the target.
const NOT_WAITING: f64 = 1.2;

/// One load of a curve, as input of the decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Queue depth of all workers, or offered operations per second in an open loop.
    pub load: f64,
    /// Completed operations per second with a 95 % interval.
    pub rate: Estimate,
    /// Mean time that an operation occupies a slot, in seconds: the response time in a closed loop,
    /// which includes generating and verifying data; the service time in an open loop.
    pub slot_s: f64,
    /// Whether the schedule was kept.
    pub schedule: Schedule,
    /// Number of runs.
    pub runs: u32,
    /// Whether its runs agree; true for a single run.
    pub agrees: bool,
    /// Whether it is the smallest load: one operation in flight, or one for each host and target.
    pub is_unloaded: bool,
}

/// Whether the offered schedule was kept at one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// No schedule: a closed loop.
    Closed,
    /// Operations were issued when due.
    Kept,
    /// The backlog grew.
    NotKept,
    /// The rate was met on average, but operations waited longer to be issued than the target took.
    BacklogStood,
    /// Not kept because the queue depth is too small: all slots were in use, but operations did not
    /// queue in the target.
    QueueDepthTooSmall,
}

/// Most measurements of a decisive point.
pub const RUNS_PER_POINT: u32 = 3;

impl Step {
    /// Whether another run of this point could make it decisive.
    pub fn needs_another_run(&self) -> bool {
        (!self.is_precise() || !self.agrees) && self.runs < RUNS_PER_POINT
    }

    fn half_width(&self) -> f64 {
        self.rate.relative().unwrap_or(f64::INFINITY)
    }

    /// Whether its interval is narrow enough to count.
    pub fn is_precise(&self) -> bool {
        self.half_width() <= PRECISE_MAX
    }
}

/// Whether a curve is saturated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Saturated: more load does not raise throughput.
    Reached(Reason),
    /// Not saturated: operations hardly wait at the highest load, or all offered rates were met.
    NotReached,
    /// Inconclusive.
    Inconclusive(Inconclusive),
}

/// Why a curve is saturated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Throughput is flat while the load grows.
    Flat,
    /// Throughput equals a certain limit.
    AtKnownLimit,
    /// An offered rate was not met.
    RateNotKept,
}

/// Why saturation is inconclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// There is only one load point.
    OnePoint,
    /// A decisive point is not precise enough; its index in the curve.
    Precision(usize),
    /// Throughput still rose, but operations already queue.
    MoreLoad,
    /// The load was not doubled.
    Doubling,
    /// The rate of a load varied between runs; its index in the curve.
    Stability(usize),
    /// The offered rate was met, but with a backlog; its index in the curve.
    BacklogStood(usize),
    /// The queue depth was too small for the offered rate; its index in the curve.
    QueueDepth(usize),
}

/// Growth of throughput towards the highest load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// Index of the point that the last one is compared with.
    pub from: usize,
    /// Doublings of the load between them.
    pub doublings: f64,
    /// Ratio of the last rate to the rate there, minus 1.
    pub total: f64,
    /// Half-width of the 95 % interval of `total`; `None` if one of the rates has none.
    pub half_width: Option<f64>,
}

impl Growth {
    /// Relative growth per doubling.
    pub fn per_doubling(&self) -> f64 {
        (1.0 + self.total).powf(1.0 / self.doublings) - 1.0
    }

    fn per_doubling_at(&self, total: f64) -> f64 {
        (1.0 + total).max(0.01).powf(1.0 / self.doublings) - 1.0
    }

    fn upper(&self) -> f64 {
        self.half_width.map_or(f64::INFINITY, |half| self.per_doubling_at(self.total + half))
    }

    fn lower(&self) -> f64 {
        self.half_width.map_or(f64::NEG_INFINITY, |half| self.per_doubling_at(self.total - half))
    }
}

/// The decision on a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Whether the curve is saturated.
    pub state: State,
    /// Index of the point with the highest rate.
    pub top: usize,
    /// Index of the first point on the plateau, if saturated.
    pub from: Option<usize>,
    /// Rate of the plateau if saturated, weighted by precision; otherwise the highest rate.
    pub level: Estimate,
    /// Growth towards the highest load; `None` with fewer than two points or in an open loop.
    pub growth: Option<Growth>,
    /// Relative fall from the highest rate to that at the highest load, if significant.
    pub falls: Option<f64>,
    /// Whether queue depth 1 already reaches the plateau, so the limit sets its service time.
    pub floor_is_pace: bool,
}

impl Plateau {
    /// Whether the curve is saturated.
    pub const fn is_reached(&self) -> bool {
        matches!(self.state, State::Reached(_))
    }
}

/// Decides a curve with ascending load; `None` if nothing was measured. Indices in the result are
/// those of `points`.
///
/// * `certain`: operations per second at a limit that this program set, if any
pub fn judge(points: &[Option<Step>], certain: Option<f64>) -> Option<Plateau> {
    let measured = points.iter().enumerate().filter_map(|(index, step)| Some((index, (*step)?)));
    let (indices, steps): (Vec<usize>, Vec<Step>) = measured.unzip();
    let mut found = judge_measured(&steps, certain)?;
    let index = |of_step: usize| indices[of_step];
    found.top = index(found.top);
    found.from = found.from.map(index);
    if let Some(growth) = &mut found.growth {
        growth.from = index(growth.from);
    }
    if let State::Inconclusive(why) = &mut found.state {
        *why = match *why {
            Inconclusive::Precision(of_step) => Inconclusive::Precision(index(of_step)),
            Inconclusive::Stability(of_step) => Inconclusive::Stability(index(of_step)),
            Inconclusive::BacklogStood(of_step) => Inconclusive::BacklogStood(index(of_step)),
            Inconclusive::QueueDepth(of_step) => Inconclusive::QueueDepth(index(of_step)),
            same => same,
        };
    }
    Some(found)
}

fn judge_measured(steps: &[Step], certain: Option<f64>) -> Option<Plateau> {
    let top = (0..steps.len()).reduce(|best, next| {
        if steps[next].rate.value > steps[best].rate.value { next } else { best }
    })?;
    let growth = growth(steps);
    let state = state(steps, top, growth, certain);
    let level = level(steps, top, state);
    let from = matches!(state, State::Reached(_)).then(|| {
        let on_it = |step: &Step| step.rate.value >= level.value * (1.0 - FLAT_MAX);
        steps.iter().position(on_it).unwrap_or(top)
    });
    let (last, most) = (&steps[steps.len() - 1], &steps[top]);
    let fall = 1.0 - last.rate.value / most.rate.value;
    let noise = last.rate.relative().unwrap_or(0.0).hypot(most.rate.relative().unwrap_or(0.0));
    let first = &steps[0];
    let certain = certain.is_some_and(|limit| first.rate.value >= AT_PACE * limit);
    let pace = from.is_some() && first.rate.value >= AT_PACE * level.value;
    Some(Plateau {
        state,
        top,
        from,
        level,
        growth,
        falls: Some(fall).filter(|fall| *fall > noise.max(FLAT_MAX)),
        floor_is_pace: (pace || certain) && first.is_unloaded,
    })
}

/// Whether the smallest load of a saturated curve already has one of several targets at its rate of the
/// plateau, so that its limit sets a part of the service times.
pub(crate) fn is_pace_of_a_target(plateau: &Plateau, points: &[&LoadPoint]) -> bool {
    let is_smallest = |point: &&&LoadPoint| point.is_unloaded() && point.is_whole();
    let Some(first) = points.first().filter(|point| plateau.is_reached() && is_smallest(point))
    else {
        return false;
    };
    let rates = |point: &LoadPoint| -> Vec<f64> {
        let rate = point.rate_for_judgement().map_or(0.0, |(rate, _, _)| rate.value);
        point.signature.target_shares.iter().map(|share| share * rate).collect()
    };
    let (unloaded, top) = (rates(first), rates(points[plateau.top]));
    unloaded.iter().zip(&top).any(|(unloaded, top)| *unloaded >= AT_PACE * top)
}

fn state(steps: &[Step], top: usize, growth: Option<Growth>, certain: Option<f64>) -> State {
    let most = &steps[top];
    if certain.is_some_and(|limit| {
        let slack = most.rate.relative().unwrap_or(0.0).min(FLAT_MAX);
        most.rate.value >= limit * (AT_LIMIT - slack)
    }) {
        return State::Reached(Reason::AtKnownLimit);
    }
    match steps[0].schedule {
        Schedule::Closed => closed(steps, top, growth),
        _ => open(steps),
    }
}

fn open(steps: &[Step]) -> State {
    let first = |kind: Schedule| steps.iter().position(|step| step.schedule == kind);
    if let Some(index) = first(Schedule::QueueDepthTooSmall) {
        return State::Inconclusive(Inconclusive::QueueDepth(index));
    }
    if first(Schedule::NotKept).is_some() {
        return State::Reached(Reason::RateNotKept);
    }
    match first(Schedule::BacklogStood) {
        Some(index) => State::Inconclusive(Inconclusive::BacklogStood(index)),
        None => State::NotReached,
    }
}

fn closed(steps: &[Step], top: usize, growth: Option<Growth>) -> State {
    let last = steps.len() - 1;
    let Some(growth) = growth else {
        let why = if last == 0 { Inconclusive::OnePoint } else { Inconclusive::Doubling };
        return State::Inconclusive(why);
    };
    for index in [last, growth.from, top] {
        if !steps[index].agrees {
            return State::Inconclusive(Inconclusive::Stability(index));
        }
        if !steps[index].is_precise() {
            return State::Inconclusive(Inconclusive::Precision(index));
        }
    }
    if steps[last].rate.value < steps[top].rate.value * (1.0 - FALL_MAX)
        && steps[top].runs < REPEATS_TO_CONFIRM
    {
        return State::Inconclusive(Inconclusive::Stability(top));
    }
    if let Some(flat) = growth_over(steps, FLAT_DOUBLINGS * DOUBLING.log2())
        && steps[flat.from].is_precise()
        && flat.upper() <= FLAT_MAX
    {
        return State::Reached(Reason::Flat);
    }
    let shortest = steps.iter().map(|step| step.slot_s).fold(f64::INFINITY, f64::min);
    let waits = steps[last].slot_s / shortest > UNLOADED_MAX;
    if growth.lower() >= RISING_MIN && !waits {
        return State::NotReached;
    }
    let wide = growth.half_width.is_none_or(|half| half > FLAT_MAX) && growth.total < RISING_MIN;
    if wide {
        // A more precise measurement could decide; the less precise point of the two is decisive.
        let worse = if steps[last].half_width() >= steps[growth.from].half_width() {
            last
        } else {
            growth.from
        };
        return State::Inconclusive(Inconclusive::Precision(worse));
    }
    State::Inconclusive(Inconclusive::MoreLoad)
}

/// Growth over the last doubling of the load, or over the last step if it is larger.
fn growth(steps: &[Step]) -> Option<Growth> {
    growth_over(steps, DOUBLING.log2())
}

/// Growth from the nearest point at least `doublings` below the highest load.
fn growth_over(steps: &[Step], doublings: f64) -> Option<Growth> {
    let last = steps.last().filter(|step| step.schedule == Schedule::Closed)?;
    let far = |step: &Step| (last.load / step.load).log2() >= doublings;
    let from = steps.iter().rposition(far)?;
    let before = &steps[from];
    let ratio = last.rate.value / before.rate.value;
    let halves = last.rate.relative().zip(before.rate.relative());
    Some(Growth {
        from,
        doublings: (last.load / before.load).log2(),
        total: ratio - 1.0,
        half_width: halves.map(|(a, b)| ratio * a.hypot(b)),
    })
}

/// The rate of the plateau: the mean of its points weighted by precision.
fn level(steps: &[Step], top: usize, state: State) -> Estimate {
    let most = steps[top].rate;
    if !matches!(state, State::Reached(Reason::Flat)) {
        return most;
    }
    // The precise point with the highest load defines the plateau, because a maximum may be chance.
    // If throughput falls again, the peak does.
    let last = steps.iter().rev().find(|step| step.is_precise()).map_or(most, |step| step.rate);
    if last.value < most.value * (1.0 - FLAT_MAX) {
        return most;
    }
    let noise = |step: &Step| step.half_width().hypot(last.relative().unwrap_or(0.0));
    let near = |step: &&Step| {
        let apart = (step.rate.value / last.value - 1.0).abs();
        step.is_precise() && apart <= noise(step).max(SAME_LEVEL)
    };
    estimate::weighted(steps.iter().filter(near).map(|step| step.rate)).unwrap_or(most)
}

/// Decides whether the schedule of an open load was kept.
///
/// * `delay_s`, `service_s`: mean schedule delay and mean service time, in seconds
/// * `slots_used`: mean outstanding operations divided by the queue depth
/// * `unloaded_s`: shortest mean service time of the same load, in seconds
pub fn schedule(
    overloaded: bool,
    delay_s: f64,
    service_s: f64,
    slots_used: f64,
    unloaded_s: f64,
) -> Schedule {
    let full = slots_used >= SLOTS_USED;
    let stands = delay_s > BACKLOG_STANDS * service_s;
    if overloaded {
        match full && service_s <= NOT_WAITING * unloaded_s {
            true => Schedule::QueueDepthTooSmall,
            false => Schedule::NotKept,
        }
    } else if stands {
        Schedule::BacklogStood
    } else {
        Schedule::Kept
    }
}

/// The steps of these load points in order; `None` for a point without measurements, or with both
/// closed and open streams, which has no single load.
pub fn steps(points: &[&LoadPoint]) -> Vec<Option<Step>> {
    let service =
        |point: &&&LoadPoint| point.merged.total.data.service.mean_ns.map(|mean| mean.value / 1e9);
    let unloaded_s =
        points.iter().filter_map(|point| service(&point)).fold(f64::INFINITY, f64::min);
    points.iter().map(|point| step(point, unloaded_s)).collect()
}

fn step(point: &LoadPoint, unloaded_s: f64) -> Option<Step> {
    let total = &point.merged.total;
    if total.rate_varies {
        // No single load: the target may be saturated in a part of the window only.
        return None;
    }
    let closed = point.merged.streams.iter().all(|stream| stream.offered_rate.is_none());
    let service_s = total.data.service.mean_ns?.value / 1e9;
    let (rate, runs, agrees) = point.rate_for_judgement()?;
    let measured = rate.value > 0.0 && service_s > 0.0;
    let slots_used = total.outstanding_mean.map_or(0.0, |mean| mean.value)
        / point.queue_depth_total.max(1) as f64;
    let delay_s = total.schedule_delay_mean_ns.map_or(0.0, |delay| delay.value / 1e9);
    let (load, slot_s, schedule) = match (closed, total.offered_rate) {
        (true, _) => {
            let slot_s = total.data.response.mean_ns?.value / 1e9;
            (point.queue_depth_total as f64, slot_s, Schedule::Closed)
        }
        (false, Some(offered)) => {
            let overloaded = point.merged.streams.iter().any(|stream| stream.overload.is_some());
            let schedule = schedule(overloaded, delay_s, service_s, slots_used, unloaded_s);
            (offered.get(), service_s, schedule)
        }
        (false, None) => return None,
    };
    let is_unloaded = point.is_unloaded();
    let step = Step { load, rate, slot_s, schedule, runs, agrees, is_unloaded };
    (measured && load > 0.0).then_some(step)
}
