//! A fitted model as a line over the range that was measured: for drawing beside the points.
//!
//! Not for: prediction. The line ends where the measured points do.

use crate::curve::Curve;
use crate::curve::sample::Load;
use crate::fit::model::Model;
use crate::load_point::{LoadPoint, OpSummary};

/// Steps of a line.
const STEPS: u32 = 64;
/// Axis and load are the same but for a unit where their ratio varies by no more than rounding.
const RATIO_TOLERANCE: f64 = 1e-6;
/// Points move the same bytes by operation where these differ by less than this share.
const BYTES_TOLERANCE: f64 = 0.01;

/// What the preferred model of a curve says, from its lowest load to its highest.
#[derive(Clone, Debug, PartialEq)]
pub struct FitLine {
    /// The model.
    pub model: Model,
    /// Its places, ascending in load.
    pub points: Vec<FitPoint>,
}

/// One place on it. Nothing of it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitPoint {
    /// Where it stands on the curve's axis.
    pub x: f64,
    /// Operations per second.
    pub rate: f64,
    /// Mean response time, in seconds.
    pub response_s: f64,
    /// Bytes per second; `None` where operations of different sizes were measured.
    pub throughput: Option<f64>,
}

impl FitLine {
    /// The line of the curve's preferred model; `None` where no model fits, where fsyncs (which
    /// models count) are no part of what the curve shows, and where its axis is not its load.
    pub fn of(curve: &Curve, load_points: &[LoadPoint]) -> Option<FitLine> {
        let fits = curve.fits.as_ref().ok()?;
        let fit = &fits.fits[fits.preferred?];
        let data: Option<Vec<&OpSummary>> = curve
            .points
            .iter()
            .map(|point| {
                let total = &load_points[point.load_point].merged.total;
                total.all_kinds.is_none().then_some(&total.data)
            })
            .collect();
        let data = data?;
        let samples: Option<Vec<_>> = curve.points.iter().map(|point| point.sample).collect();
        let samples = samples?;
        let (first, last) = (samples.first()?, samples.last()?);
        let x_per_load = curve.points[0].x / first.load;
        let straight = curve.points.iter().zip(&samples).all(|(point, sample)| {
            (point.x / sample.load / x_per_load - 1.0).abs() <= RATIO_TOLERANCE
        });
        if !straight {
            return None;
        }
        let bytes = bytes_per_operation(&data);
        let mut loads: Vec<f64> = (0..=STEPS)
            .map(|step| f64::from(step) / f64::from(STEPS))
            .map(|share| match curve.load {
                // Operations are whole, and doublings are evenly spaced.
                Load::Closed => (first.load * (last.load / first.load).powf(share)).round(),
                Load::Open | Load::NotRaised => first.load + share * (last.load - first.load),
            })
            .collect();
        loads.dedup();
        let place = |load: f64| {
            let said = fit.predicted(load);
            let (rate, response_s) = match curve.load {
                Load::Open => (load, said),
                Load::Closed | Load::NotRaised => (said, load / said - fit.think_time_s),
            };
            let finite = rate.is_finite() && response_s.is_finite() && rate > 0.0;
            finite.then(|| FitPoint {
                x: load * x_per_load,
                rate,
                response_s,
                throughput: bytes.map(|bytes| bytes * rate),
            })
        };
        let points: Vec<FitPoint> = loads.into_iter().filter_map(place).collect();
        (!points.is_empty()).then_some(FitLine { model: fit.model, points })
    }
}

/// Bytes that an operation moves, where all points agree.
fn bytes_per_operation(data: &[&OpSummary]) -> Option<f64> {
    let each = |ops: &&OpSummary| ops.bytes as f64 / ops.completed.max(1) as f64;
    let first = each(data.first()?);
    let same = |ops: &&OpSummary| (each(ops) - first).abs() <= BYTES_TOLERANCE * first;
    data.iter().all(same).then_some(first)
}
