//! Whether throughput has stopped rising: the one judgement of saturation.
//!
//! Everything that says something about the end of a curve asks this module: the verdict on what
//! limits it, knees, charts, searches that decide whether to go deeper, and tuning. Its answer is
//! "reached", "not reached" or "inconclusive" with the reason; only points that are precise enough
//! decide.
//!
//! Reached means that more load brings no more: throughput grew by less than 5 % per doubling of
//! the load over at least two doublings. (Over one it may pause on a step of a staircase.) Not
//! reached means that operations hardly wait at the highest load. Everything between is
//! inconclusive.
//!
//! Not for: what limits the curve ([`crate::verdict`]).

use crate::estimate::Estimate;
use crate::load_point::LoadPoint;

/// Growth per doubling of the load whose upper bound still counts as flat.
pub const FLAT_MAX: f64 = 0.05;
/// Doublings over which it must be flat.
const FLAT_DOUBLINGS: f64 = 2.0;
/// A point with a wider 95 % interval (half-width over value) decides nothing.
pub const PRECISE_MAX: f64 = 0.10;
/// At the highest load of a curve that has not reached its end, operations take at most this many
/// times as long as unloaded ones.
const UNLOADED_MAX: f64 = 1.15;
/// Throughput grows at least so much per doubling where the end was not reached.
const RISING_MIN: f64 = 0.20;
/// Two loads are a doubling apart from this ratio on: depths shared by workers are not exact.
const DOUBLING: f64 = 1.9;
/// A rate that falls by more than this share from the peak to the highest load was not measured
/// under the same conditions, or the target does less work under more load: a repeat tells.
const FALL_MAX: f64 = 0.20;
/// Runs that must agree before such a peak is believed.
const REPEATS_TO_CONFIRM: u32 = 2;
/// Rates within this share of each other are one level.
const SAME_LEVEL: f64 = 0.01;
/// A limit that is known for certain is reached at this share of it, or within the interval.
const AT_LIMIT: f64 = 0.98;
/// A rate at queue depth 1 that is this share of the plateau is set by the limit's pace.
const AT_PACE: f64 = 0.90;
/// A mean schedule delay above this multiple of the mean service time means that operations stood
/// in a backlog, whether or not all slots were in use meanwhile.
const BACKLOG_STANDS: f64 = 1.0;
/// All slots are in use when this share of the queue depth is outstanding on average.
const SLOTS_USED: f64 = 0.97;
/// Operations that take at most this many times the shortest service time do not wait in the
/// target.
const NOT_WAITING: f64 = 1.2;

/// One load of a curve, as far as its end depends on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Queue depth over all workers, or in an open loop operations per second offered.
    pub load: f64,
    /// Operations completed per second, with its 95 % interval.
    pub rate: Estimate,
    /// Mean time for which an operation keeps its slot, in seconds: in a closed loop the response
    /// time, because its data is made and checked meanwhile; in an open loop the service time.
    pub slot_s: f64,
    /// What became of the schedule.
    pub schedule: Schedule,
    /// Runs behind it.
    pub runs: u32,
    /// Whether its runs agree with one another; true for a single run.
    pub agrees: bool,
}

/// What became of the offered schedule at one load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schedule {
    /// There was none: a closed loop.
    Closed,
    /// Every operation was issued about when it was due.
    Kept,
    /// The backlog grew.
    NotKept,
    /// The rate was met on average, but operations waited longer to be sent than the target took
    /// for them.
    BacklogStood,
    /// Not kept, because all slots of the queue depth were in use while operations did not wait in
    /// the target: the queue depth is too small for the offered rate.
    QueueDepthTooSmall,
}

/// A point on which a judgement depends is measured at most so often.
pub const RUNS_PER_POINT: u32 = 3;

impl Step {
    /// Whether another run would make a judgement that depends on this point possible.
    pub fn wants_another_run(&self) -> bool {
        (!self.is_precise() || !self.agrees) && self.runs < RUNS_PER_POINT
    }

    fn half_width(&self) -> f64 {
        self.rate.relative().unwrap_or(f64::INFINITY)
    }

    /// Whether its interval is narrow enough for the point to decide anything.
    pub fn is_precise(&self) -> bool {
        self.half_width() <= PRECISE_MAX
    }
}

/// Whether the end of a curve was reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// More load brings no more.
    Reached(Reason),
    /// Operations hardly wait at the highest load; in an open loop every offered rate was kept.
    NotReached,
    /// The data do not tell.
    Inconclusive(Inconclusive),
}

/// Why a curve's end counts as reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Throughput is flat while the load grows.
    Flat,
    /// Throughput equals a limit that is known for certain.
    AtKnownLimit,
    /// An offered rate could not be kept.
    RateNotKept,
}

/// Why the data do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// One load point only.
    OnePoint,
    /// A point on which the judgement depends is not known well enough; its index in the curve.
    Precision(usize),
    /// Throughput still rose, but operations already wait: the end may be near or reached.
    MoreLoad,
    /// The load was not doubled.
    Doubling,
    /// The same load gave different rates at different times; its index in the curve.
    Stability(usize),
    /// The offered rate was met while operations stood in a backlog; its index in the curve.
    BacklogStood(usize),
    /// The queue depth did not allow the offered rate; its index in the curve.
    QueueDepth(usize),
}

/// Growth of throughput at the end of a curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Growth {
    /// The point that the last one is compared with, as its index in the curve.
    pub from: usize,
    /// Doublings of the load between them.
    pub doublings: f64,
    /// Rate at the end over the rate there, minus 1.
    pub total: f64,
    /// Half-width of `total`'s 95 % interval; `None` where one of the two has none.
    pub half_width: Option<f64>,
}

impl Growth {
    /// Growth per doubling: a share of the rate.
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

/// The judgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plateau {
    /// Whether the end was reached.
    pub state: State,
    /// The point with the highest rate, as its index in the curve.
    pub top: usize,
    /// The first point whose rate is that of the end, where it was reached.
    pub from: Option<usize>,
    /// Rate of the end where it was reached, the points on it weighted by their precision; else
    /// the highest rate.
    pub level: Estimate,
    /// How throughput grew towards the highest load; `None` below two points and in an open loop.
    pub growth: Option<Growth>,
    /// By what share the rate at the highest load lies below the highest rate, where that is more
    /// than uncertainty.
    pub falls: Option<f64>,
    /// The rate at queue depth 1 is (nearly) that of the end, so the time of its operations is the
    /// limit's pace and not the latency of the target.
    pub floor_is_pace: bool,
}

impl Plateau {
    /// Whether the end was reached.
    pub const fn is_reached(&self) -> bool {
        matches!(self.state, State::Reached(_))
    }
}

/// Judges a curve whose points are in ascending order of load; `None` where nothing was measured.
/// Indices in the result are those of `points`.
///
/// * `certain`: operations per second at a limit that is known for certain (one that this program
///   set itself), if there is one
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
        floor_is_pace: (pace || certain) && is_unqueued(first),
    })
}

/// Queue depth 1 of one worker in a closed loop.
fn is_unqueued(step: &Step) -> bool {
    step.schedule == Schedule::Closed && step.load <= 1.0
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
        // Flat or not is a matter of precision: of the less precise of the two.
        let worse = if steps[last].half_width() >= steps[growth.from].half_width() {
            last
        } else {
            growth.from
        };
        return State::Inconclusive(Inconclusive::Precision(worse));
    }
    State::Inconclusive(Inconclusive::MoreLoad)
}

/// Growth over the last doubling of the load, or over the last step where that is larger.
fn growth(steps: &[Step]) -> Option<Growth> {
    growth_over(steps, DOUBLING.log2())
}

/// Growth from the nearest point that lies at least `doublings` below the highest load.
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

/// The rate of the end: the mean of the points on it, weighted by their precision.
fn level(steps: &[Step], top: usize, state: State) -> Estimate {
    let most = steps[top].rate;
    if !matches!(state, State::Reached(Reason::Flat)) {
        return most;
    }
    // What is on the plateau is decided by the most loaded precise point, which cannot be a lucky
    // maximum; but where throughput falls again, its end is the peak.
    let last = steps.iter().rev().find(|step| step.is_precise()).map_or(most, |step| step.rate);
    if last.value < most.value * (1.0 - FLAT_MAX) {
        return most;
    }
    let noise = |step: &Step| step.half_width().hypot(last.relative().unwrap_or(0.0));
    let near = |step: &&Step| {
        let apart = (step.rate.value / last.value - 1.0).abs();
        step.is_precise() && apart <= noise(step).max(SAME_LEVEL)
    };
    weighted(steps.iter().filter(near).map(|step| step.rate)).unwrap_or(most)
}

/// Mean of estimates weighted by their precision, with the interval that their own intervals and
/// their disagreement give (the Birge ratio: Birge, Physical Review 40, 1932). Estimates without
/// an interval are left out; `None` where none has one.
pub fn weighted(estimates: impl Iterator<Item = Estimate>) -> Option<Estimate> {
    /// No interval is taken for narrower than this share of its value.
    const HALF_MIN: f64 = 1e-4;
    let known: Vec<(Estimate, f64)> = estimates
        .filter_map(|one| Some((one, one.uncertainty?.max(HALF_MIN * one.value.abs()))))
        .filter(|(_, half)| *half > 0.0)
        .collect();
    let weight = |half: f64| 1.0 / (half * half);
    let sum: f64 = known.iter().map(|(_, half)| weight(*half)).sum();
    let (first, _) = *known.first()?;
    if known.iter().all(|(one, _)| one.value == first.value) {
        // Rounding must not move what all agree on.
        return Some(Estimate { uncertainty: Some(1.0 / sum.sqrt()), ..first });
    }
    let value = known.iter().map(|(one, half)| one.value * weight(*half)).sum::<f64>() / sum;
    // In units of the intervals' half-widths, which are about two standard errors.
    let squares: f64 =
        known.iter().map(|(one, half)| (2.0 * (one.value - value) / half).powi(2)).sum();
    let degrees = known.len().saturating_sub(1).max(1) as f64;
    let disagreement = (squares / degrees).sqrt().max(1.0);
    Some(Estimate {
        value,
        uncertainty: Some(disagreement / sum.sqrt()),
        samples: known.iter().map(|(one, _)| one.samples).sum(),
        method: first.method,
    })
}

/// What became of the schedule of an open load.
///
/// * `delay_s`, `service_s`: mean schedule delay and mean service time, in seconds
/// * `slots_used`: mean outstanding operations over the queue depth
/// * `unloaded_s`: shortest mean service time of the same work, in seconds
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

/// The steps of these load points, in their order; `None` for a point that measured nothing, or
/// whose streams are partly closed and partly open, so that its load is no single number.
pub fn steps(points: &[&LoadPoint]) -> Vec<Option<Step>> {
    let service =
        |point: &&&LoadPoint| point.merged.total.data.service.mean_ns.map(|mean| mean.value / 1e9);
    let unloaded_s =
        points.iter().filter_map(|point| service(&point)).fold(f64::INFINITY, f64::min);
    points.iter().map(|point| step(point, unloaded_s)).collect()
}

fn step(point: &LoadPoint, unloaded_s: f64) -> Option<Step> {
    let total = &point.merged.total;
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
            (offered, service_s, schedule)
        }
        (false, None) => return None,
    };
    (measured && load > 0.0).then_some(Step { load, rate, slot_s, schedule, runs, agrees })
}
