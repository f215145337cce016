//! The numbers that identify a result in a list of experiments.

use units::{BytesPerSec, Nanos, OpsPerSec};

use crate::findings::Findings;
use crate::summary::CurveSummary;

/// The best of an experiment's curves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Headline {
    /// Highest rate of any load point without lost hosts, if most operations are on names.
    pub rate_on_names: Option<OpsPerSec>,
    /// Highest throughput of any load point without lost hosts; `None` if no operation moved data.
    pub throughput: Option<BytesPerSec>,
    /// Lowest latency of an unloaded operation, of the curves that have a floor.
    pub floor: Option<Nanos>,
}

impl Headline {
    /// The headline of an experiment, without load points measured only as evidence.
    pub fn of(findings: &Findings) -> Headline {
        let curves = &findings.summary.curves;
        // A list has no room for a label, so a total of fewer hosts is not in it.
        let is_whole = |curve: &&CurveSummary| {
            let most = &findings.curves[curve.curve].points[curve.most];
            findings.load_points[most.load_point].is_whole()
        };
        let whole = || curves.iter().filter(is_whole);
        let rate_on_names = whole()
            .filter(|_| findings.is_on_names())
            .map(|curve| curve.rate.value)
            .reduce(f64::max);
        let throughput = whole()
            .filter_map(|curve| curve.throughput)
            .map(|one| one.value)
            .filter(|value| *value > 0.0)
            .reduce(f64::max);
        let floor_of = |index: usize| findings.curves[index].floor.as_ref().ok()?.latency_ns();
        let floor = curves
            .iter()
            .filter_map(|one| floor_of(one.curve))
            .map(|one| one.value)
            .reduce(f64::min);
        Headline {
            rate_on_names: rate_on_names.map(OpsPerSec::new),
            throughput: throughput.map(BytesPerSec::new),
            floor: floor.map(Nanos),
        }
    }
}
