//! What the load points of a record did, as configurations and needs are told: for `size
//! --from-run`, `expect --run` and `predict --against`.

use analysis::Findings;
use analysis::load_point::{LoadPoint, OpSummary};
use analysis::work::Order;
use cloud::figure::Access;

/// By what a load point is the best of its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Most {
    /// Operations per second.
    Operations,
    /// Bytes per second.
    Throughput,
}

impl Most {
    /// The figure; nothing where nothing succeeded.
    pub(crate) fn of(self, point: &LoadPoint) -> Option<f64> {
        let data: &OpSummary = &point.merged.total.data;
        let figure = match self {
            Most::Operations => data.achieved_rate,
            Most::Throughput => data.throughput,
        };
        figure.map(|figure| figure.value).filter(|value| *value > 0.0 && data.completed > 0)
    }
}

/// Places of the load points of each variant with the most, in the order of the variants.
pub(crate) fn best_of_each(findings: &Findings, most: Most) -> Vec<usize> {
    let mut best: Vec<(usize, f64)> = Vec::new();
    for (place, point) in findings.load_points.iter().enumerate() {
        let Some(value) = most.of(point) else { continue };
        let same = |other: &usize| findings.load_points[*other].variant == point.variant;
        match best.iter_mut().find(|(other, _)| same(other)) {
            Some((_, other)) if *other >= value => {}
            Some(one) => *one = (place, value),
            None => best.push((place, value)),
        }
    }
    best.into_iter().map(|(place, _)| place).collect()
}

/// What a load point did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Done {
    /// Mean bytes of an operation.
    pub(crate) transfer_bytes: u64,
    /// The share of reads among operations, 0 to 1.
    pub(crate) read: f64,
    /// Where operations went.
    pub(crate) access: Access,
}

impl Done {
    /// From what the load point counted.
    pub(crate) fn of(point: &LoadPoint) -> Done {
        let total = &point.merged.total;
        let completed = total.data.completed.max(1);
        Done {
            transfer_bytes: (total.data.bytes / completed).max(1),
            read: reads(point, |kind| kind.completed) as f64 / completed as f64,
            access: match point.work.order {
                Order::Sequential => Access::Sequential,
                // Random where any stream is: that is what costs.
                Order::Random | Order::Both => Access::Random,
            },
        }
    }
}

/// The share of reads among bytes, in thousandths: where reads and writes are of different sizes
/// it is not that among operations.
pub(crate) fn read_permille_of_bytes(point: &LoadPoint) -> u64 {
    let bytes = point.merged.total.data.bytes.max(1);
    reads(point, |kind| kind.bytes).saturating_mul(1000) / bytes
}

fn reads(point: &LoadPoint, of: impl Fn(&OpSummary) -> u64) -> u64 {
    let kinds = point.merged.total.kinds.iter();
    kinds.filter(|kind| kind.name == "read").map(of).sum()
}
