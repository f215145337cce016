//! Whether the mix of reads and writes was the one that was asked for.
//!
//! Operations are chosen so that every thousand of a worker hold the mix exactly
//! ([`workload::mix`]), and a closed loop issues the next one whatever its kind, so a kind that
//! takes longer cannot crowd itself out. What completed in the window may differ from that by what
//! was outstanding at its edges; this says by how much it did.

use metrics::run_record::RunRecord;
use workload::op::OpKind;

use crate::load_point::LoadPoint;

/// A mix that differs from what was asked for by more than this share of the operations does not
/// hold.
pub const DIFFERENCE_MAX: f64 = 0.005;

/// The mix of one stream at one load point. Of streams that read and write.
#[derive(Clone, Debug, PartialEq)]
pub struct MixCheck {
    /// The load point, as a place in `Findings::load_points`.
    pub load_point: usize,
    /// The stream's name.
    pub stream: String,
    /// Share of reads that was asked for, 0 to 1.
    pub asked: f64,
    /// Share of reads among the reads and writes that succeeded, 0 to 1.
    pub achieved: f64,
    /// Reads and writes that succeeded.
    pub operations: u64,
}

impl MixCheck {
    /// Achieved minus asked.
    pub fn difference(&self) -> f64 {
        self.achieved - self.asked
    }

    /// Whether it is within [`DIFFERENCE_MAX`] of what was asked for.
    pub fn holds(&self) -> bool {
        self.difference().abs() < DIFFERENCE_MAX
    }
}

/// The mixes of all load points; `groups` are their runs.
pub(crate) fn mixes(load_points: &[LoadPoint], groups: &[Vec<&RunRecord>]) -> Vec<MixCheck> {
    let mut mixes = Vec::new();
    for (place, (point, runs)) in load_points.iter().zip(groups).enumerate() {
        let asked = runs.first().map_or(&[][..], |run| &run.run.streams);
        for (stream, summary) in asked.iter().zip(&point.merged.streams) {
            if !(1..1000).contains(&stream.read_permille) || summary.data.completed == 0 {
                continue;
            }
            let reads = summary.kinds.iter().find(|kind| kind.name == OpKind::Read.name());
            let reads = reads.map_or(0, |kind| kind.completed);
            mixes.push(MixCheck {
                load_point: place,
                stream: stream.name.clone(),
                asked: f64::from(stream.read_permille) / 1000.0,
                achieved: reads as f64 / summary.data.completed as f64,
                operations: summary.data.completed,
            });
        }
    }
    mixes
}
