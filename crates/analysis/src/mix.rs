//! Compares the achieved share of reads with the planned one.
//!
//! Each thousand operations of a worker have exactly the planned mix ([`workload::mix`]), and a
//! closed loop issues the next operation regardless of its kind. Completions in the window can
//! differ only by the operations outstanding at its edges.

use metrics::run_record::RunRecord;
use workload::op::OpKind;

use crate::load_point::LoadPoint;

/// Largest tolerated difference from the planned share.
pub const DIFFERENCE_MAX: f64 = 0.005;

/// The mix of a stream that reads and writes, at one load point.
#[derive(Clone, Debug, PartialEq)]
pub struct MixCheck {
    /// Index of the load point in `Findings::load_points`.
    pub load_point: usize,
    /// The stream's name.
    pub stream: String,
    /// Planned share of reads, 0 to 1.
    pub planned: f64,
    /// Share of reads in successful reads and writes, 0 to 1.
    pub achieved: f64,
    /// Successful reads and writes.
    pub operations: u64,
}

impl MixCheck {
    /// Achieved minus planned share.
    pub fn difference(&self) -> f64 {
        self.achieved - self.planned
    }

    /// Whether the difference is at most [`DIFFERENCE_MAX`].
    pub fn holds(&self) -> bool {
        self.difference().abs() < DIFFERENCE_MAX
    }
}

/// The mixes of all load points; `groups` are their runs.
pub(crate) fn mixes(load_points: &[LoadPoint], groups: &[Vec<&RunRecord>]) -> Vec<MixCheck> {
    let mut mixes = Vec::new();
    for (index, (point, runs)) in load_points.iter().zip(groups).enumerate() {
        let planned = runs.first().map_or(&[][..], |run| &run.run.streams);
        for (stream, summary) in planned.iter().zip(&point.merged.streams) {
            if !(1..1000).contains(&stream.read_permille) || summary.data.completed == 0 {
                continue;
            }
            let reads = summary.kinds.iter().find(|kind| kind.name == OpKind::Read.name());
            let reads = reads.map_or(0, |kind| kind.completed);
            mixes.push(MixCheck {
                load_point: index,
                stream: stream.name.clone(),
                planned: f64::from(stream.read_permille) / 1000.0,
                achieved: reads as f64 / summary.data.completed as f64,
                operations: summary.data.completed,
            });
        }
    }
    mixes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mix_holds_below_half_a_percent_in_both_directions() {
        let check = |achieved| MixCheck {
            load_point: 0,
            stream: "main".to_owned(),
            planned: 0.5,
            achieved,
            operations: 1000,
        };
        assert!((check(0.7).difference() - 0.2).abs() < 1e-12);
        let holds = [0.494, 0.4951, 0.5, 0.5049, 0.506].map(|achieved| check(achieved).holds());
        assert_eq!(holds, [false, true, true, true, false]);
    }
}
