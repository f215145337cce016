//! Settings of an emulated volume compared with measurements. Its limits are known exactly, so they
//! check the measurement.

use workload::op::OpKind;
use workload::plan::{EmulatedVolume, TargetSpec};

use crate::estimate::Estimate;
use crate::load_point::LoadPoint;
use crate::verdict::Verdict;

/// The settings of the volume and the measured values that they bound.
#[derive(Clone, Debug, PartialEq)]
pub struct EmulatedFindings {
    /// The settings.
    pub volume: EmulatedVolume,
    /// The highest throughput of any load point, in bytes per second; at most the limit.
    pub throughput: Option<Seen>,
    /// The shortest mean service time of reads at queue depth 1, in nanoseconds; at least the read
    /// delay. `None` if a limit sets the time.
    pub read: Option<Seen>,
    /// The same of writes.
    pub write: Option<Seen>,
}

/// A value with its load point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// Index in `Findings::load_points`.
    pub load_point: usize,
    /// The value.
    pub value: Estimate,
}

/// The findings of an emulated volume; `None` for other targets, and for several volumes.
pub(crate) fn emulated(
    targets: &[TargetSpec],
    load_points: &[LoadPoint],
    verdicts: &[Verdict],
) -> Option<EmulatedFindings> {
    let [TargetSpec::Emulated { volume, .. }] = targets else { return None };
    let throughputs = load_points
        .iter()
        .map(|point| point.merged.total.data.throughput.filter(|_| point.is_whole()));
    Some(EmulatedFindings {
        volume: volume.clone(),
        throughput: seen(throughputs).max_by(|a, b| a.value.value.total_cmp(&b.value.value)),
        read: floor(load_points, verdicts, OpKind::Read),
        write: floor(load_points, verdicts, OpKind::Write),
    })
}

/// The load point at queue depth 1 with the shortest mean service time of `kind`.
fn floor(load_points: &[LoadPoint], verdicts: &[Verdict], kind: OpKind) -> Option<Seen> {
    let is_pace = |index: usize| {
        let own = verdicts.iter().find(|verdict| verdict.load_points.contains(&index));
        own.is_some_and(|verdict| verdict.plateau.floor_is_pace)
    };
    let means = load_points.iter().enumerate().map(|(index, point)| {
        let mut kinds = point.merged.total.kinds.iter();
        let of_kind = kinds.find(|ops| ops.name == kind.name())?;
        of_kind
            .service
            .mean_ns
            .filter(|_| point.is_unloaded() && point.is_whole() && !is_pace(index))
    });
    seen(means).min_by(|a, b| a.value.value.total_cmp(&b.value.value))
}

fn seen(values: impl Iterator<Item = Option<Estimate>>) -> impl Iterator<Item = Seen> {
    let numbered = values.enumerate();
    numbered.filter_map(|(load_point, value)| Some(Seen { load_point, value: value? }))
}
