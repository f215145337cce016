//! A fitted model as a line over the measured range, for charts.
//!
//! Not for: prediction beyond the measured points.

use units::{BytesPerSec, OpsPerSec};

use crate::curve::Curve;
use crate::fit::model::Model;
use crate::load_point::{LoadPoint, OpSummary};
use crate::sample::Load;

/// Steps of a line.
const STEPS: u32 = 64;
/// Axis and load differ only by a unit if their ratio is constant within this share.
const RATIO_TOLERANCE: f64 = 1e-6;
/// Bytes per operation are equal within this share.
const BYTES_TOLERANCE: f64 = 0.01;

/// The preferred model of a curve from its lowest to its highest load.
#[derive(Clone, Debug, PartialEq)]
pub struct FitLine {
    /// The model.
    pub model: Model,
    /// Its points, with ascending load.
    pub points: Vec<FitPoint>,
}

/// A computed point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FitPoint {
    /// Position on the curve's axis.
    pub x: f64,
    /// Completed operations.
    pub rate: OpsPerSec,
    /// Mean response time, in seconds.
    pub response_s: f64,
    /// Bytes moved; `None` if transfer sizes differ.
    pub throughput: Option<BytesPerSec>,
}

impl FitLine {
    /// The line of the preferred model; `None` if no model fits, if the curve excludes fsync, which
    /// models count, or if the axis is not the load.
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
                // Whole operations, evenly spaced in doublings.
                Load::Closed => (first.load * (last.load / first.load).powf(share)).round(),
                Load::Open | Load::NotRaised => first.load + share * (last.load - first.load),
            })
            .collect();
        loads.dedup();
        let point_at = |load: f64| {
            let said = fit.predicted(load);
            let (rate, response_s) = match curve.load {
                Load::Open => (load, said),
                Load::Closed | Load::NotRaised => (said, load / said - fit.think_time_s),
            };
            let finite = rate.is_finite() && response_s.is_finite() && rate > 0.0;
            finite.then(|| FitPoint {
                x: load * x_per_load,
                rate: OpsPerSec::new(rate),
                response_s,
                throughput: bytes.map(|bytes| BytesPerSec::new(bytes * rate)),
            })
        };
        let points: Vec<FitPoint> = loads.into_iter().filter_map(point_at).collect();
        (!points.is_empty()).then_some(FitLine { model: fit.model, points })
    }
}

/// Bytes per operation, if equal at all points.
fn bytes_per_operation(data: &[&OpSummary]) -> Option<f64> {
    let each = |ops: &&OpSummary| ops.bytes as f64 / ops.completed.max(1) as f64;
    let first = each(data.first()?);
    let same = |ops: &&OpSummary| (each(ops) - first).abs() <= BYTES_TOLERANCE * first;
    data.iter().all(same).then_some(first)
}
