//! The load of a load point, in the terms of predictions and designs: transfer size, share of reads,
//! access pattern, and the number of hosts and volumes. Used by `size --from-run`, `expect --run` and `predict --against`.

use cloud::figure::Access;
use units::Share;

use crate::findings::Findings;
use crate::load_point::{LoadPoint, OpSummary};
use crate::workload_signature::Order;

/// The figure by which a load point is the best of its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BestBy {
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Throughput,
}

impl BestBy {
    /// The figure; `None` if no operation succeeded or hosts were lost.
    pub fn of(self, point: &LoadPoint) -> Option<f64> {
        let data: &OpSummary = &point.merged.total.data;
        let figure = match self {
            BestBy::Operations => data.achieved_rate,
            BestBy::Throughput => data.throughput,
        };
        figure
            .map(|figure| figure.value)
            .filter(|value| *value > 0.0 && data.completed > 0 && point.is_whole())
    }
}

/// The index of the best load point of each variant, in the order of the variants.
pub fn best_of_each(findings: &Findings, by: BestBy) -> Vec<usize> {
    let mut best: Vec<(usize, f64)> = Vec::new();
    for (index, point) in findings.load_points.iter().enumerate() {
        let Some(value) = by.of(point) else { continue };
        let same = |other: &usize| findings.load_points[*other].variant == point.variant;
        match best.iter_mut().find(|(other, _)| same(other)) {
            Some((_, other)) if *other >= value => {}
            Some(one) => *one = (index, value),
            None => best.push((index, value)),
        }
    }
    best.into_iter().map(|(index, _)| index).collect()
}

/// The load of a load point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredLoad {
    /// Mean bytes of an operation.
    pub transfer_bytes: u64,
    /// The share of reads among operations, 0 to 1.
    pub read: f64,
    /// Where operations went.
    pub access: Access,
    /// Hosts that measured together.
    pub hosts: u64,
    /// Volumes that share the load.
    pub volumes: u64,
}

impl MeasuredLoad {
    /// The load that was measured at `point`.
    pub fn of(point: &LoadPoint) -> MeasuredLoad {
        let total = &point.merged.total;
        let completed = total.data.completed.max(1);
        MeasuredLoad {
            transfer_bytes: (total.data.bytes / completed).max(1),
            read: sum_of_reads(point, |kind| kind.completed) as f64 / completed as f64,
            access: match point.signature.order {
                Order::Sequential => Access::Sequential,
                // Random if any stream is random: random access is the more expensive.
                Order::Random | Order::Both => Access::Random,
            },
            hosts: u64::from(point.signature.hosts),
            volumes: u64::from(point.signature.volumes),
        }
    }
}

/// The share of reads among bytes. It differs from the share among operations if
/// reads and writes differ in size.
pub fn read_share_of_bytes(point: &LoadPoint) -> Share {
    Share::of(sum_of_reads(point, |kind| kind.bytes), point.merged.total.data.bytes)
}

fn sum_of_reads(point: &LoadPoint, of: impl Fn(&OpSummary) -> u64) -> u64 {
    let kinds = point.merged.total.kinds.iter();
    kinds.filter(|kind| kind.name == "read").map(of).sum()
}
