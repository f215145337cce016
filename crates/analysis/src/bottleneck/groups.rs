//! Load points that differ in how much is asked at a time and in nothing else, and what their rates
//! say together: still rising, bent, or flat.

use crate::curve::axis::LOAD_KEYS;
use crate::load_point::LoadPoint;
use crate::work::Work;

/// Depths that lie closer together than this say too little about a slope.
const DEPTH_RATIO_MIN: f64 = 1.5;
/// Between depths that lie farther apart, a slope says nothing about the curve's end.
const DEPTH_RATIO_MAX: f64 = 5.0;
/// Percent of rate for percent of depth below which a curve is called flat.
const FLAT_MAX: f64 = 0.12;
/// The same where operations wait longer than they are served: a knee that is drawn out.
const FLAT_WAITING_MAX: f64 = 0.35;
/// Percent of rate for percent of depth above which a curve still rises.
const RISING_MIN: f64 = 0.80;
/// Service time over that of an operation alone from which on operations mostly wait.
const WAITING_MIN: f64 = 4.0;
/// The same for a single load point, of which no slope is known.
const WAITING_ALONE_MIN: f64 = 2.5;
/// The same below which nothing waits.
const WAITING_NONE: f64 = 1.3;
/// Rates within this share of the highest are the flat part.
const LEVEL_SHARE: f64 = 0.96;

/// One load point, in SI units.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) load_point: usize,
    /// How much is asked: operations at a time, or in an open loop the offered rate.
    pub(crate) depth: f64,
    /// Operations per second, of all kinds.
    pub(crate) rate: f64,
    /// Its uncertainty over it.
    pub(crate) uncertainty: f64,
    /// Bytes per second.
    pub(crate) throughput: f64,
    /// Mean service time, in seconds.
    pub(crate) service_s: f64,
    /// Mean outstanding operations.
    pub(crate) outstanding: f64,
    /// Share of its processors that the busiest worker used.
    pub(crate) worker_busy: Option<f64>,
    /// Processors that the process used.
    pub(crate) cpu_used: Option<f64>,
    /// The schedule could not be kept.
    pub(crate) overloaded: bool,
    /// Calls sent and not answered, on average for each connection.
    pub(crate) calls_outstanding: Option<f64>,
    /// Smoothed round-trip time of the connections, in seconds.
    pub(crate) rtt_s: Option<f64>,
    /// Variance over mean of the operations completed in an interval.
    pub(crate) dispersion: Option<f64>,
}

/// How the rate goes with what is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// More is asked, no more is done.
    Flat,
    /// Neither in proportion nor flat.
    Bent,
    /// In proportion.
    Rising,
    /// One load point, and nothing to hold it against.
    Alone,
}

/// Load points that differ in how much is asked at a time.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) variant: String,
    pub(crate) work: Work,
    /// By what is asked, ascending; at least one.
    pub(crate) points: Vec<Point>,
    /// The one with the highest rate, as a place in `points`.
    pub(crate) top: usize,
    /// The mean rate of the flat part; the highest rate where it is not flat.
    pub(crate) level: f64,
    /// Service time of an operation that does not wait, in seconds.
    pub(crate) floor_s: Option<f64>,
    /// The shortest mean service time of all that ask the same: the floor is not above it.
    pub(crate) shortest_s: f64,
    pub(crate) state: State,
    /// Percent of rate for percent of depth at the end.
    pub(crate) slope: Option<f64>,
}

impl Group {
    pub(crate) fn top(&self) -> &Point {
        &self.points[self.top]
    }

    /// The one of which most was asked.
    pub(crate) fn last(&self) -> &Point {
        &self.points[self.points.len() - 1]
    }
}

/// The load points sorted into groups, in the order of their first.
pub(crate) fn groups(load_points: &[LoadPoint]) -> Vec<Group> {
    let mut groups: Vec<(String, Group)> = Vec::new();
    for (index, load_point) in load_points.iter().enumerate() {
        let Some(point) = point(index, load_point) else { continue };
        let name = name(load_point);
        let work = &load_point.work;
        let key = format!(
            "{name}|{}|{}|{:?}|{}|{}",
            work.kind, work.workers, work.connections, work.volumes, work.closed
        );
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.points.push(point),
            None => groups.push((key, Group::new(name, load_point, point))),
        }
    }
    let mut groups: Vec<Group> = groups.into_iter().map(|(_, group)| group).collect();
    join_workers(&mut groups);
    for group in &mut groups {
        group.points.sort_by(|a, b| a.depth.total_cmp(&b.depth));
    }
    let floors: Vec<Option<f64>> = groups.iter().map(|group| floor_s(group, &groups)).collect();
    let shortest: Vec<f64> = groups.iter().map(|group| shortest_s(group, &groups)).collect();
    for ((group, floor_s), shortest_s) in groups.iter_mut().zip(floors).zip(shortest) {
        (group.floor_s, group.shortest_s) = (floor_s, shortest_s);
        group.judge();
    }
    groups
}

/// Where nothing but the number of workers was swept, that is what was asked at a time.
fn join_workers(groups: &mut Vec<Group>) {
    let same = |a: &Group, b: &Group| {
        a.variant == b.variant
            && a.work.kind == b.work.kind
            && a.work.connections == b.work.connections
            && a.work.volumes == b.work.volumes
            && a.work.closed == b.work.closed
            && a.name == b.name
    };
    let mut place = 0;
    while place < groups.len() {
        let alone = |group: &Group| group.points.len() == 1;
        let family = |group: &Group| same(group, &groups[place]);
        if groups.iter().filter(|g| family(g)).all(alone) {
            let others: Vec<usize> =
                (place + 1..groups.len()).filter(|other| family(&groups[*other])).collect();
            for other in others.into_iter().rev() {
                let point = groups.remove(other).points[0];
                groups[place].points.push(point);
            }
        }
        place += 1;
    }
}

/// The variant with what does not say how much is asked at a time.
fn name(load_point: &LoadPoint) -> String {
    let mut name = load_point.variant.clone();
    let asks = |key: &str| {
        let last = key.rsplit('.').next().unwrap_or(key);
        LOAD_KEYS.contains(&last)
    };
    for (key, value) in load_point.parameters.iter().filter(|(key, _)| !asks(key)) {
        name.push_str(&format!(", {}={value}", key.replace('_', " ")));
    }
    name
}

fn point(index: usize, load_point: &LoadPoint) -> Option<Point> {
    let total = &load_point.merged.total;
    let rate = total.achieved_rate_all_kinds().filter(|rate| rate.value > 0.0)?;
    Some(Point {
        load_point: index,
        depth: match total.offered_rate {
            Some(offered) => offered,
            None => load_point.queue_depth_total as f64,
        },
        rate: rate.value,
        uncertainty: rate.relative().unwrap_or(0.0),
        throughput: total.data.throughput.map_or(0.0, |throughput| throughput.value),
        service_s: total.data.service.mean_ns?.value / 1e9,
        outstanding: total.outstanding_mean.map_or(0.0, |mean| mean.value),
        worker_busy: total.worker_busy_max.map(|busy| busy.value),
        cpu_used: load_point.merged.cpu_used.map(|used| used.value),
        overloaded: load_point.merged.streams.iter().any(|stream| stream.overload.is_some()),
        calls_outstanding: load_point.work.calls_outstanding,
        rtt_s: load_point.work.rtt_ns.map(|ns| ns / 1e9),
        dispersion: load_point.work.dispersion,
    })
}

/// Service time of an operation that does not wait: the least of all load points that ask the same
/// of the target, if at that one nothing waits.
fn floor_s(group: &Group, all: &[Group]) -> Option<f64> {
    let family = all.iter().filter(|other| other.work.kind == group.work.kind);
    let firsts = family.filter_map(|other| {
        let first = other.points[0];
        let alone = first.outstanding <= 1.01 && first.depth <= 1.0;
        let in_proportion = || {
            let next = other.points.iter().find(|p| p.depth >= DEPTH_RATIO_MIN * first.depth);
            next.is_some_and(|next| slope_between(&first, next) > RISING_MIN)
        };
        let unhurried = !other.work.closed && !first.overloaded;
        (alone || unhurried || in_proportion()).then_some(first.service_s)
    });
    firsts.min_by(f64::total_cmp)
}

/// The shortest mean service time of all load points that ask the same of the target.
fn shortest_s(group: &Group, all: &[Group]) -> f64 {
    let family = all.iter().filter(|other| other.work.kind == group.work.kind);
    family.flat_map(|other| &other.points).map(|p| p.service_s).fold(f64::INFINITY, f64::min)
}

fn slope_between(low: &Point, high: &Point) -> f64 {
    (high.rate / low.rate).ln() / (high.depth / low.depth).ln()
}

impl Group {
    fn new(name: String, load_point: &LoadPoint, point: Point) -> Group {
        Group {
            name,
            variant: load_point.variant.clone(),
            work: load_point.work.clone(),
            points: vec![point],
            top: 0,
            level: point.rate,
            floor_s: None,
            shortest_s: point.service_s,
            state: State::Alone,
            slope: None,
        }
    }

    fn judge(&mut self) {
        let rates = self.points.iter().enumerate().map(|(place, point)| (place, point.rate));
        self.top = rates.max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0, |(place, _)| place);
        let last = *self.last();
        let before = self.points.iter().rev().find(|p| p.depth * DEPTH_RATIO_MIN <= last.depth);
        let before = before.filter(|p| p.depth * DEPTH_RATIO_MAX >= last.depth);
        self.slope = before.map(|before| slope_between(before, &last));
        self.state = if self.work.closed { self.state_closed() } else { self.state_open() };
        self.level = match self.state {
            State::Flat => {
                let highest = self.top().rate;
                let flat = self.points.iter().map(|point| point.rate);
                let flat = flat.filter(|rate| *rate >= LEVEL_SHARE * highest);
                let (count, sum) = flat.fold((0.0, 0.0), |(n, sum), rate| (n + 1.0, sum + rate));
                sum / count
            }
            State::Bent | State::Rising | State::Alone => self.top().rate,
        };
    }

    fn state_closed(&self) -> State {
        let last = self.last();
        // What is shortest may wait too: then operations wait even longer than this says.
        let waiting = last.service_s / self.floor_s.unwrap_or(self.shortest_s);
        match self.slope {
            Some(slope) if slope < FLAT_MAX => State::Flat,
            Some(slope) if slope < FLAT_WAITING_MAX && waiting > WAITING_MIN => State::Flat,
            // Over a large step a slope says little; what operations wait at its end says more.
            Some(slope) if slope > RISING_MIN && waiting < WAITING_NONE => State::Rising,
            Some(_) => State::Bent,
            None if last.depth <= 1.0 => State::Rising,
            None if waiting > WAITING_ALONE_MIN => State::Flat,
            // By Little's law the rate goes in proportion where operations take the same.
            None if waiting < WAITING_NONE && (self.points.len() > 1 || self.floor_s.is_some()) => {
                State::Rising
            }
            None if self.points.len() > 1 || self.floor_s.is_some() => State::Bent,
            None => State::Alone,
        }
    }

    /// An offered rate that is met leaves every limit out of reach; one that is not has met one.
    fn state_open(&self) -> State {
        if self.points.iter().any(|point| point.overloaded) { State::Flat } else { State::Rising }
    }
}
