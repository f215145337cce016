//! Load points that differ only in their load on the target, with the inputs of a verdict on them.

use crate::curve::Outline;
use crate::curve::plateau::{Plateau, Reason, Schedule, State, Step};
use crate::host_state::HostSummary;
use crate::load_point::LoadPoint;
use crate::workload_signature::WorkloadSignature;

/// Below this ratio of loaded to unloaded time of an operation, the ceiling is unknown.
const WAITING_MIN: f64 = 1.3;
/// Relative standard error of a rate without an interval.
const UNKNOWN_ERROR: f64 = 0.2;

/// Further observations at the load point with the highest rate.
#[derive(Clone, Debug)]
pub(crate) struct Top {
    /// The busiest worker's use of its processors.
    pub(crate) worker_busy: Option<f64>,
    /// Use of the host's processors.
    pub(crate) host: Option<HostSummary>,
    /// Mean outstanding calls per connection.
    pub(crate) calls_outstanding: Option<f64>,
    /// Variance over mean of the operations completed in an interval.
    pub(crate) dispersion: Option<f64>,
    /// Mean time that an operation occupies its slot, in seconds.
    pub(crate) slot_s: f64,
    /// Bytes per operation.
    pub(crate) bytes_per_op: f64,
}

/// Load points of one workload at different loads.
#[derive(Clone, Debug)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) signature: WorkloadSignature,
    /// The load points, ascending by load, as indices into `Findings::load_points`.
    pub(crate) load_points: Vec<usize>,
    /// `steps[i]` belongs to `load_points[i]`; `None` if nothing was measured.
    pub(crate) steps: Vec<Option<Step>>,
    pub(crate) plateau: Plateau,
    /// Time of an operation without queueing, in seconds.
    pub(crate) unloaded_s: Option<f64>,
    /// What each target delivers relative to the mean of all, `(position, weight)`; empty if unknown.
    pub(crate) target_weights: Vec<(u32, f64)>,
    pub(crate) top: Top,
}

/// Bounds of a series' ceiling, in operations per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ceiling {
    /// Lower bound.
    pub(crate) low: f64,
    /// Upper bound; infinite if unknown.
    pub(crate) high: f64,
    /// Relative standard error of both.
    pub(crate) error: f64,
}

impl Series {
    /// The load point with the highest rate.
    pub(crate) fn top_load_point(&self) -> usize {
        self.load_points[self.plateau.top]
    }

    /// The measured points, ascending by load.
    pub(crate) fn measured(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.steps.iter().flatten()
    }

    /// The highest load.
    pub(crate) fn deepest(&self) -> f64 {
        self.measured().next_back().map_or(0.0, |step| step.load)
    }

    /// Rate of the plateau, otherwise the highest rate.
    pub(crate) fn level(&self) -> f64 {
        self.plateau.level.value
    }

    pub(crate) fn connections(&self) -> f64 {
        f64::from(self.signature.connections.unwrap_or(1).max(1))
    }

    /// Its volumes, each weighted by what it delivers relative to the mean: if volumes are the limit, a
    /// volume with twice the limit of another counts twice as much.
    pub(crate) fn volumes(&self) -> f64 {
        let weight = |target: &u32| {
            self.target_weights.iter().find(|(known, _)| known == target).map(|(_, weight)| *weight)
        };
        let targets = &self.signature.targets;
        let weights: Option<f64> = targets.iter().map(weight).sum();
        // A circumstance that was not measured may have more volumes than targets.
        let is_measured = targets.len() == self.signature.volumes as usize;
        weights
            .filter(|sum| is_measured && *sum > 0.0)
            .unwrap_or_else(|| f64::from(self.signature.volumes.max(1)))
    }

    pub(crate) fn calls_per_op(&self) -> f64 {
        self.signature.calls_per_op.unwrap_or(1.0)
    }

    /// Bounds of its ceiling. If operations take `w` times as long as unloaded ones, a curve
    /// `X = A N / (N + c)` has reached `1 - 1 / w` of its asymptote, and every sharper curve more.
    pub(crate) fn ceiling(&self) -> Ceiling {
        let half = self.plateau.level.relative();
        let agrees = self.steps[self.plateau.top].is_some_and(|step| step.agrees);
        let error = half.filter(|_| agrees).map_or(UNKNOWN_ERROR, |half| half / 2.0);
        let low = self.level();
        if self.is_reached() {
            return Ceiling { low, high: low, error };
        }
        let waiting = self.unloaded_s.map(|unloaded| self.top.slot_s / unloaded);
        let high = match waiting.filter(|_| self.signature.closed) {
            Some(waiting) if waiting > WAITING_MIN => low * waiting / (waiting - 1.0),
            _ => f64::INFINITY,
        };
        Ceiling { low, high, error }
    }

    /// Whether its rate has stopped rising.
    pub(crate) fn is_reached(&self) -> bool {
        self.plateau.is_reached()
    }

    /// Whether its highest rate is precise enough for a comparison.
    pub(crate) fn is_top_precise(&self) -> bool {
        self.steps[self.plateau.top].is_some_and(|step| step.is_precise() && step.agrees)
    }

    /// Whether it equals a limit set by this program.
    pub(crate) fn is_at_certain_limit(&self) -> bool {
        self.plateau.state == State::Reached(Reason::AtKnownLimit)
    }
}

/// The series of these load points: each load curve, and each point of other curves.
pub(crate) fn series(outlines: &[Outline], load_points: &[LoadPoint]) -> Vec<Series> {
    let mut all: Vec<Series> = Vec::new();
    // Users set the load of a run by their pauses; what limits it does not follow from its rate.
    let has_users = |outline: &&Outline| {
        let mut points = outline.points.iter();
        points.any(|point| load_points[point.load_point].merged.total.users.is_some())
    };
    for outline in outlines.iter().filter(|outline| !has_users(outline)) {
        let whole: Vec<usize> = (0..outline.points.len()).collect();
        match &outline.plateau {
            Ok(plateau) => {
                let name = outline.name.clone();
                all.push(Series::new(name, outline, &whole, *plateau, load_points));
            }
            Err(_) => {
                for point in whole {
                    let Some(plateau) = outline.alone(point) else { continue };
                    let label = &outline.points[point].label;
                    let name = format!("{}, {} {label}", outline.name, outline.axis);
                    all.push(Series::new(name, outline, &[point], plateau, load_points));
                }
            }
        }
    }
    let unloaded: Vec<Option<f64>> = all.iter().map(|one| unloaded_s(one, &all)).collect();
    let weights: Vec<Vec<(u32, f64)>> = all.iter().map(|one| target_weights(one, &all)).collect();
    for ((one, unloaded_s), target_weights) in all.iter_mut().zip(unloaded).zip(weights) {
        one.unloaded_s = unloaded_s;
        one.target_weights = target_weights;
    }
    all
}

/// The weights of targets, from the series of the same operations that uses most of them, at its highest
/// rate: if volumes are the limit, each is at its own there.
fn target_weights(one: &Series, all: &[Series]) -> Vec<(u32, f64)> {
    let is_alike = |other: &&Series| {
        other.signature.kind == one.signature.kind && !other.signature.target_shares.is_empty()
    };
    let widest = all.iter().filter(is_alike).reduce(|best, next| {
        if next.signature.volumes > best.signature.volumes { next } else { best }
    });
    widest.map_or_else(Vec::new, |widest| {
        let work = &widest.signature;
        let count = work.target_shares.len() as f64;
        let weights = work.target_shares.iter().map(|share| share * count);
        work.targets.iter().copied().zip(weights).collect()
    })
}

impl Series {
    fn new(
        name: String,
        outline: &Outline,
        points: &[usize],
        plateau: Plateau,
        load_points: &[LoadPoint],
    ) -> Series {
        let indices: Vec<usize> =
            points.iter().map(|point| outline.points[*point].load_point).collect();
        let steps: Vec<Option<Step>> = points.iter().map(|point| outline.steps[*point]).collect();
        let top = &load_points[indices[plateau.top]];
        let total = &top.merged.total;
        let rate = total.achieved_rate_all_kinds().map_or(0.0, |rate| rate.value);
        let bytes = total.data.throughput.map_or(0.0, |throughput| throughput.value);
        Series {
            name,
            signature: top.signature.clone(),
            plateau,
            unloaded_s: None,
            target_weights: Vec::new(),
            top: Top {
                worker_busy: total.worker_busy_max.map(|busy| busy.value),
                host: top.merged.host.clone(),
                calls_outstanding: top.signature.calls_outstanding,
                dispersion: top.signature.dispersion,
                slot_s: steps[plateau.top].map_or(0.0, |step| step.slot_s),
                bytes_per_op: if rate > 0.0 { bytes / rate } else { 0.0 },
            },
            load_points: indices,
            steps,
        }
    }
}

/// Time of an operation that does not wait: the shortest over all series with the same operations,
/// at queue depth 1 (of each host and target) or at an offered rate that the target sustained. A rate set by a limit does not
/// count.
fn unloaded_s(one: &Series, all: &[Series]) -> Option<f64> {
    let family = all.iter().filter(|other| other.signature.kind == one.signature.kind);
    let of = |other: &Series| -> Option<f64> {
        let first = other.measured().next()?;
        let unqueued = first.is_unloaded && !other.plateau.floor_is_pace;
        (unqueued || first.schedule == Schedule::Kept).then_some(first.slot_s)
    };
    family.filter_map(of).min_by(f64::total_cmp)
}
