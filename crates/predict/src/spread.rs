//! How far predictions are off, found from documents that the fit did not see.
//!
//! For: the intervals of all predictions. Each document is left out of the fit in turn, and its
//! figures are predicted from those of all others. Figures of one document share its measurements,
//! so leaving out single figures would make errors look small. The errors' size may grow with the
//! distance to the nearest figure that was not left out ([`crate::distance`]): how fast, is fitted
//! as well. The interval that nine in ten of the errors lie in is an order statistic, so no
//! distribution is assumed (split conformal prediction: Vovk, Gammerman, Shafer, Algorithmic
//! Learning in a Random World, 2005).

use cloud::figure::{Figure, Role, Value};

use crate::calibrate::{Published, START_BYTE_S, START_CALL_S};
use crate::curve::{Point, curve};
use crate::expect::Configuration;
use crate::interval::Interval;
use crate::of_figure::Case;
use crate::parameters::Parameters;
use crate::resource::ResourceKind;
use crate::topology::Load;

/// The share of figures that intervals are to hold.
pub const CONFIDENCE: f64 = 0.9;
/// The least growth of intervals with distance: configurations that nobody published are never as
/// certain as published ones.
const GROWTH_MIN: f64 = 0.1;
/// The most, and the step in which growths are tried.
const GROWTH_MAX: f64 = 1.0;
/// With fewer errors than this a resource has no order statistic of its own.
const ENOUGH: usize = 9;
/// Growths tried between the two.
const GROWTH_STEPS: u32 = 18;

/// How far predictions of one quantity are off, as the logarithm of a factor either way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Error {
    /// For a published configuration.
    pub base: f64,
    /// The power of one plus the distance that it grows with.
    pub growth: f64,
}

impl Error {
    /// The factor by which it is larger at a distance from published configurations.
    pub fn growth_at(&self, distance: f64) -> f64 {
        (1.0 + distance).powf(self.growth)
    }

    /// At a distance from published configurations.
    pub fn at(&self, distance: f64) -> f64 {
        self.base * self.growth_at(distance)
    }

    /// The error that nine in ten of these do not exceed, and how it grows.
    fn of(errors: &[&LeftOut]) -> Error {
        let growth = growth(errors);
        Error { base: base(errors, growth), growth }
    }
}

/// Kinds of resources whose errors are pooled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounding {
    /// Connections.
    Flows,
    /// Hosts, and the virtual machines on them.
    Hosts,
    /// Endpoints.
    Endpoints,
    /// Random operations of volumes.
    Random,
    /// Sequential reads of volumes.
    Reads,
    /// Sequential writes of volumes.
    Writes,
}

impl Bounding {
    /// All of them.
    pub const ALL: [Bounding; 6] = [
        Bounding::Flows,
        Bounding::Hosts,
        Bounding::Endpoints,
        Bounding::Random,
        Bounding::Reads,
        Bounding::Writes,
    ];

    /// That of a resource whose demand is fitted; `None` of known limits.
    fn of(kind: ResourceKind) -> Option<Bounding> {
        match kind {
            ResourceKind::Flow => Some(Bounding::Flows),
            ResourceKind::HostProcessing | ResourceKind::Guest => Some(Bounding::Hosts),
            ResourceKind::EndpointOps | ResourceKind::EndpointThroughput => {
                Some(Bounding::Endpoints)
            }
            ResourceKind::VolumeRandom => Some(Bounding::Random),
            ResourceKind::VolumeReads => Some(Bounding::Reads),
            ResourceKind::VolumeWrites => Some(Bounding::Writes),
            _ => None,
        }
    }
}

/// How far predictions are off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Rates.
    pub rate: Error,
    /// By resource, how many times as far rates are off that it bounds: 1, but for those that are
    /// met worse than all together.
    pub worse: [f64; Bounding::ALL.len()],
    /// Response times of one operation at a time.
    pub latency: Error,
}

/// What a published number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A rate.
    Rate,
    /// A response time.
    Latency,
}

/// A published number beside its prediction from other documents.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The figure.
    pub figure: Figure,
    /// Which of its numbers.
    pub quantity: Quantity,
    /// In operations per second, or in seconds.
    pub published: f64,
    /// In the same unit.
    pub predicted: Interval,
    /// How far the figure is from the nearest one of another document.
    pub distance: f64,
    /// What bounds a rate; `None` where that is a known limit.
    pub bounded_by: Option<Bounding>,
}

impl LeftOut {
    /// Whether the published number lies in the interval.
    pub fn is_inside(&self) -> bool {
        self.predicted.holds(self.published)
    }

    /// How far off, as a share of what was published.
    pub fn error(&self) -> f64 {
        self.predicted.value / self.published - 1.0
    }

    fn off(&self) -> f64 {
        (self.predicted.value / self.published).ln().abs()
    }
}

impl Default for Spread {
    /// Nothing is off.
    fn default() -> Spread {
        let none = Error::default();
        Spread { rate: none, worse: [1.0; Bounding::ALL.len()], latency: none }
    }
}

impl Spread {
    /// That of the embedded figures: what [`Spread::published`] gives, rounded up; a test holds it
    /// to that. Finding it takes a fit for each document: too long for every start of the program.
    pub const PUBLISHED: Spread = Spread {
        rate: Error { base: 0.1542, growth: 0.70 },
        worse: [1.162, 1.0, 1.0, 1.1192, 1.0, 1.1775],
        latency: Error { base: 1.204, growth: 0.10 },
    };

    /// That of figures: the errors of each document, predicted from all others.
    pub fn published(figures: &[Figure]) -> Spread {
        let cases: Vec<Case> = figures.iter().filter_map(Case::of).collect();
        Spread::of(&Published::of(&cases, figures))
    }

    /// The errors of each document, predicted from all others.
    pub(crate) fn of(published: &Published<'_>) -> Spread {
        let mut errors: Vec<LeftOut> = Vec::new();
        for document in published.documents() {
            let (own, others) = published.split(document);
            let parameters = Parameters::fitted(&others, START_CALL_S, START_BYTE_S);
            errors.extend(predicted(&own, &parameters));
        }
        let of = |quantity| -> Vec<&LeftOut> {
            errors.iter().filter(|error| error.quantity == quantity).collect()
        };
        let rates = of(Quantity::Rate);
        let rate = Error::of(&rates);
        let worse = Bounding::ALL.map(|bounding| {
            let its = |one: &&LeftOut| one.bounded_by == Some(bounding);
            let its: Vec<&LeftOut> = rates.iter().copied().filter(its).collect();
            match its.len() >= ENOUGH {
                true => (base(&its, rate.growth) / rate.base).max(1.0),
                false => 1.0,
            }
        });
        Spread { rate, worse, latency: Error::of(&of(Quantity::Latency)) }
    }

    /// How far a rate is off that a demand bounds, for a published configuration.
    pub(crate) fn of_rate(&self, bounding: Bounding) -> f64 {
        self.rate.base * self.worse[bounding as usize]
    }
}

/// The error that nine in ten do not exceed, for a published configuration.
fn base(errors: &[&LeftOut], growth: f64) -> f64 {
    let unit = Error { base: 1.0, growth };
    quantile(errors.iter().map(|one| one.off() / unit.at(one.distance)).collect())
}

/// The growth with distance under which the errors are likeliest, if their sizes are distributed
/// exponentially (Laplace's distribution of the errors, whose tails are heavier than the normal's).
fn growth(errors: &[&LeftOut]) -> f64 {
    let cost = |growth: f64| {
        let error = Error { base: 1.0, growth };
        let scales = errors.iter().map(|one| error.at(one.distance));
        let (mut mean, mut logs) = (0.0, 0.0);
        for (scale, one) in scales.zip(errors) {
            mean += one.off() / scale / errors.len() as f64;
            logs += scale.ln() / errors.len() as f64;
        }
        mean.max(f64::MIN_POSITIVE).ln() + logs
    };
    let step = (GROWTH_MAX - GROWTH_MIN) / f64::from(GROWTH_STEPS);
    let tried = (0..=GROWTH_STEPS).map(|place| GROWTH_MIN + f64::from(place) * step);
    tried.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(GROWTH_MIN)
}

/// The size that nine in ten of the next errors do not exceed: the order statistic of split
/// conformal prediction, or the largest where there are too few for it.
fn quantile(mut sizes: Vec<f64>) -> f64 {
    sizes.sort_by(f64::total_cmp);
    let rank = (CONFIDENCE * (sizes.len() + 1) as f64).ceil() as usize;
    sizes.get(rank.clamp(1, sizes.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// Every number of some figures, as parameters predict it.
pub(crate) fn predicted(own: &Published<'_>, parameters: &Parameters) -> Vec<LeftOut> {
    let mut all = Vec::new();
    for case in &own.cases {
        // At a given number outstanding rate and response time are one number (Little's law).
        let response = response(case, parameters);
        if response.is_none() || case.figure.outstanding.is_none() {
            all.push(rate(case, parameters));
        }
        all.extend(response);
    }
    all.extend(own.anchors.iter().filter_map(|figure| floor(figure, parameters)));
    all
}

fn rate(case: &Case, parameters: &Parameters) -> LeftOut {
    LeftOut {
        figure: case.figure.clone(),
        quantity: Quantity::Rate,
        published: case.published_ops_per_s(),
        predicted: case.predicted_interval(parameters),
        distance: parameters.distance_of(&case.configuration()),
        bounded_by: case.bounded_by(parameters).and_then(Bounding::of),
    }
}

/// The response time of a figure that has one, with as many operations outstanding as its rate and
/// its response time come to (Little's law).
fn response(case: &Case, parameters: &Parameters) -> Option<LeftOut> {
    let response_s = case.figure.response_s.filter(|_| case.is_modelled())?;
    let outstanding = case.published_ops_per_s() * response_s;
    let mut topology = case.topology.clone();
    let hosts = topology.hosts[0].count as f64;
    let each = (outstanding / hosts).round().max(1.0) as u64;
    topology.workloads[0].load = Load::Closed { outstanding: each };
    let point: Point = curve(&topology, parameters).ok()?.asked?;
    Some(LeftOut {
        figure: case.figure.clone(),
        quantity: Quantity::Latency,
        published: response_s,
        predicted: point.response_s,
        distance: parameters.distance_of(&case.configuration()),
        bounded_by: None,
    })
}

/// The response time of one operation at a time.
fn floor(figure: &Figure, parameters: &Parameters) -> Option<LeftOut> {
    let Value::Seconds(published) = figure.value else { return None };
    let configuration = Configuration::unloaded(figure);
    let distance = parameters.distance_of(&configuration);
    (figure.role == Role::Anchor).then(|| LeftOut {
        figure: figure.clone(),
        quantity: Quantity::Latency,
        published,
        predicted: parameters.floor_at(distance),
        distance,
        bounded_by: None,
    })
}
