//! What a chart counts, operations or bytes, in a unit chosen by magnitude.

use analysis::curve::CurvePoint;
use analysis::curve::fit_line::FitPoint;
use analysis::estimate::Estimate;

use super::shown_curve::{ShownCurve, axis};
use crate::drawing::{Axis, Point, Scale};
use crate::number::plain;
use crate::results;

/// Bytes in a unit of throughput, and the throughput from which a chart uses it; the largest first.
const UNITS: [(&str, f64, f64); 3] = [
    ("GiB/s", 1_073_741_824.0, 10.0 * 1_073_741_824.0),
    ("MiB/s", 1_048_576.0, 1_048_576.0),
    ("KiB/s", 1_024.0, 0.0),
];

/// What a chart counts per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Quantity {
    /// Operations.
    Rate {
        /// What they are called: `IOPS`, or `ops/s` with operations on names.
        unit: &'static str,
    },
    /// Bytes.
    Throughput {
        /// The unit.
        symbol: &'static str,
        /// Bytes in the unit.
        bytes: f64,
    },
}

impl Quantity {
    /// Operations per second of these curves.
    pub(super) fn rate(shown: &[ShownCurve<'_>]) -> Quantity {
        let is_on_names = shown.iter().any(ShownCurve::is_on_names);
        Quantity::Rate { unit: results::rate_unit(is_on_names) }
    }

    /// What these curves are about first: bytes or, with operations on names, operations; then the
    /// other, if there are values.
    pub(super) fn by_importance(shown: &[ShownCurve<'_>]) -> Vec<Quantity> {
        let (rate, throughput) = (Quantity::rate(shown), Quantity::throughput(shown));
        if !shown.iter().any(ShownCurve::is_on_names) {
            return vec![throughput, rate];
        }
        let mut points = shown.iter().flat_map(|one| one.curve.points.iter().map(|p| one.data(p)));
        match points.any(|data| data.bytes > 0) {
            true => vec![rate, throughput],
            false => vec![rate],
        }
    }

    /// The first of [`Quantity::by_importance`].
    pub(super) fn leading(shown: &[ShownCurve<'_>]) -> Quantity {
        match shown.iter().any(ShownCurve::is_on_names) {
            true => Quantity::rate(shown),
            false => Quantity::throughput(shown),
        }
    }

    /// Throughput in the largest unit that suits the highest throughput of these curves.
    pub(super) fn throughput(shown: &[ShownCurve<'_>]) -> Quantity {
        let points = shown.iter().flat_map(|one| one.curve.points.iter().map(move |p| (one, p)));
        let throughputs = points.filter_map(|(one, point)| one.data(point).throughput);
        let most = throughputs.map(|throughput| throughput.value).fold(0.0, f64::max);
        let (symbol, bytes, _) = UNITS.into_iter().find(|unit| most >= unit.2).unwrap_or(UNITS[1]);
        Quantity::Throughput { symbol, bytes }
    }

    pub(super) const fn name(self) -> &'static str {
        match self {
            Quantity::Rate { .. } => "rate",
            Quantity::Throughput { .. } => "throughput",
        }
    }

    pub(super) const fn unit(self) -> &'static str {
        match self {
            Quantity::Rate { unit } => unit,
            Quantity::Throughput { symbol, .. } => symbol,
        }
    }

    pub(super) fn axis(self) -> Axis {
        axis(&format!("{}, {}", self.name(), self.unit()), Scale::Linear)
    }

    /// Operations per second, of which each moves `bytes_per_op`, in this unit.
    pub(super) fn of_ops(self, ops_per_s: f64, bytes_per_op: f64) -> f64 {
        match self {
            Quantity::Rate { .. } => ops_per_s,
            Quantity::Throughput { bytes, .. } => ops_per_s * bytes_per_op / bytes,
        }
    }

    /// Bytes per second in this unit; `None` if it counts operations.
    pub(super) fn of_bytes(self, bytes_per_s: f64) -> Option<f64> {
        match self {
            Quantity::Rate { .. } => None,
            Quantity::Throughput { bytes, .. } => Some(bytes_per_s / bytes),
        }
    }

    /// The value of a load point, with its confidence interval.
    pub(super) fn estimate(
        self,
        rate: Option<Estimate>,
        throughput: Option<Estimate>,
    ) -> Option<Estimate> {
        match self {
            Quantity::Rate { .. } => rate,
            Quantity::Throughput { bytes, .. } => throughput.map(|one| one.scaled(1.0 / bytes)),
        }
    }

    /// A load point of a curve at `x`.
    pub(super) fn point(self, one: &ShownCurve<'_>, point: &CurvePoint, x: f64) -> Point {
        let data = one.data(point);
        let value = self.estimate(data.achieved_rate, data.throughput);
        Point::with_half_width(x, value.map(|v| v.value), value.and_then(|v| v.uncertainty))
    }

    /// A point of a fitted model.
    pub(super) fn of_fit(self, fitted: &FitPoint) -> Option<f64> {
        match self {
            Quantity::Rate { .. } => Some(fitted.rate.get()),
            Quantity::Throughput { .. } => self.of_bytes(fitted.throughput?.get()),
        }
    }

    /// `128 MiB/s`
    pub(super) fn print(self, value: f64) -> String {
        format!("{} {}", plain(value), self.unit())
    }
}
