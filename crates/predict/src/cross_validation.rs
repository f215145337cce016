//! Cross-validation over documents: the errors of predictions.
//!
//! For: the intervals of all predictions. Each document is left out of the fit in turn, and its
//! figures are predicted from those of all others. Leaving out single figures would underestimate
//! the errors, because the figures of a document share its measurements. Errors may grow with the
//! distance to the nearest remaining figure ([`crate::distance`]); the growth is fitted as well.
//! The interval that contains nine in ten errors is an order statistic, so no distribution is
//! assumed (split conformal prediction: Vovk, Gammerman, Shafer, Algorithmic Learning in a Random
//! World, 2005).

use cloud::figure::{Figure, Role, Value};

use crate::calibrate::{Published, START_BYTE_S, START_CALL_S};
use crate::configuration::Configuration;
use crate::curve::curve;
use crate::interval::Interval;
use crate::of_figure::Case;
use crate::parameters::Parameters;
use crate::spread::{Bounding, CONFIDENCE, Error, Spread};
use crate::topology::Load;

/// Least growth of intervals with distance: unpublished configurations are always less certain than
/// published ones.
const GROWTH_MIN: f64 = 0.1;
/// Largest growth.
const GROWTH_MAX: f64 = 1.0;
/// Fewest errors for a resource's own order statistic.
const ENOUGH: usize = 9;
/// Number of growths tried between the two.
const GROWTH_STEPS: u32 = 18;

/// Kind of a published number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// A rate.
    Rate,
    /// A response time.
    Latency,
}

/// A published number with its prediction from other documents.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The figure.
    pub figure: Figure,
    /// Kind of the number.
    pub quantity: Quantity,
    /// The published number, in operations per second or seconds.
    pub published: f64,
    /// The prediction, in the same unit.
    pub predicted: Interval,
    /// Distance of the figure from the nearest one of another document.
    pub distance: f64,
    /// The kind of resource that bounds a rate; `None` for a known limit.
    pub bounded_by: Option<Bounding>,
}

impl LeftOut {
    /// Whether the interval contains the published number.
    pub fn is_inside(&self) -> bool {
        self.predicted.holds(self.published)
    }

    /// Error relative to the published number.
    pub fn error(&self) -> f64 {
        self.predicted.value / self.published - 1.0
    }

    fn off(&self) -> f64 {
        (self.predicted.value / self.published).ln().abs()
    }
}

impl Spread {
    /// Errors of figures: those of each document, predicted from all others.
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
        let rate = error(&rates);
        let worse = Bounding::ALL.map(|bounding| {
            let its = |one: &&LeftOut| one.bounded_by == Some(bounding);
            let its: Vec<&LeftOut> = rates.iter().copied().filter(its).collect();
            match its.len() >= ENOUGH {
                true => (base(&its, rate.growth) / rate.base).max(1.0),
                false => 1.0,
            }
        });
        Spread { rate, worse, latency: error(&of(Quantity::Latency)) }
    }
}

/// The error that nine in ten of these do not exceed, and its growth.
fn error(errors: &[&LeftOut]) -> Error {
    let growth = growth(errors);
    Error { base: base(errors, growth), growth }
}

/// The error that nine in ten do not exceed, for a published configuration.
fn base(errors: &[&LeftOut], growth: f64) -> f64 {
    let unit = Error { base: 1.0, growth };
    quantile(errors.iter().map(|one| one.off() / unit.at(one.distance)).collect())
}

/// Maximum-likelihood growth with distance for exponentially distributed absolute errors (Laplace's
/// distribution, whose tails are heavier than the normal's).
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
    let tried = (0..=GROWTH_STEPS).map(|step_index| GROWTH_MIN + f64::from(step_index) * step);
    tried.min_by(|a, b| cost(*a).total_cmp(&cost(*b))).unwrap_or(GROWTH_MIN)
}

/// The size that nine in ten of the next errors do not exceed: the order statistic of split
/// conformal prediction, or the largest if there are too few errors.
fn quantile(mut sizes: Vec<f64>) -> f64 {
    sizes.sort_by(f64::total_cmp);
    let rank = (CONFIDENCE * (sizes.len() + 1) as f64).ceil() as usize;
    sizes.get(rank.clamp(1, sizes.len().max(1)) - 1).copied().unwrap_or(0.0)
}

/// Predictions of every number of some figures.
pub(crate) fn predicted(own: &Published<'_>, parameters: &Parameters) -> Vec<LeftOut> {
    let mut all = Vec::new();
    for case in &own.cases {
        // At a given number of outstanding operations, rate and response time determine each other
        // (Little's law).
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

/// Predicted response time of a figure, with the outstanding operations that follow from its rate
/// and response time (Little's law).
fn response(case: &Case, parameters: &Parameters) -> Option<LeftOut> {
    let response_s = case.figure.response_s.filter(|_| case.is_modelled())?;
    let outstanding = case.published_ops_per_s() * response_s;
    let mut topology = case.topology.clone();
    let hosts = topology.hosts[0].count as f64;
    let each = (outstanding / hosts).round().max(1.0) as u64;
    topology.workloads[0].load = Load::Closed { outstanding: each };
    let point = curve(&topology, parameters).ok()?.requested?;
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
