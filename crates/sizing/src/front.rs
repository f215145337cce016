//! Which designs are worth showing: those that no other beats in everything at once (Pareto).

use std::cmp::Reverse;

use cloud::price::Usd;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};

use crate::design::Design;
use crate::shortfall::Shortfall;

/// Above this share, in thousandths, more spare throughput shortens queues no more.
const SPARE_ENOUGH: u64 = 500;
/// Spare shares are compared in steps of a hundredth.
const SPARE_STEP: u64 = 10;

/// What a design is judged by; in each the smaller is the better.
type Marks = (Usd, Reverse<u64>, u64, u64, bool);

fn marks(design: &Design) -> Marks {
    let spare = design.spare_permille().min(SPARE_ENOUGH) / SPARE_STEP;
    // Hosts without a price are told apart by their processors.
    let unpriced = match &design.hosts {
        Some(hosts) if !design.cost.unknown.is_empty() => u64::from(hosts.count) * hosts.vcpu,
        _ => 0,
    };
    (design.cost.month(), Reverse(spare), design.things(), unpriced, design.doubtful)
}

/// Whether auto or manual QoS comes first where nothing else tells designs apart.
fn simplest_first(design: &Design) -> (u8, ServiceLevel, u8) {
    let qos = u8::from(design.qos == QosType::Manual);
    let kind = VolumeKind::ALL.iter().position(|kind| *kind == design.kind).unwrap_or(0) as u8;
    (kind, design.level, qos)
}

fn beats(one: &Marks, other: &Marks) -> bool {
    one.0 <= other.0 && one.1 <= other.1 && one.2 <= other.2 && one.3 <= other.3 && one.4 <= other.4
}

/// The places of those designs that no other beats, the cheapest first. Of two that are alike in
/// everything, the simpler kind is kept.
pub(crate) fn front(designs: &[&Design]) -> Vec<usize> {
    let mut kept: Vec<(Marks, usize)> = Vec::new();
    // What beats a design stands before it, so one look back at what was kept is enough.
    for place in cheapest_first(designs) {
        let marks = marks(designs[place]);
        if !kept.iter().any(|(other, _)| beats(other, &marks)) {
            kept.push((marks, place));
        }
    }
    kept.into_iter().map(|(_, place)| place).collect()
}

/// The places of all designs, the cheapest first.
pub(crate) fn cheapest_first(designs: &[&Design]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..designs.len()).collect();
    places.sort_by_cached_key(|place| (marks(designs[*place]), simplest_first(designs[*place])));
    places
}

/// The places of the cheapest design of each level and kind of volume, the cheapest first; doubtful
/// ones only where there is no other.
pub(crate) fn cheapest_of_each(designs: &[&Design]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    let sorted = cheapest_first(designs);
    for doubtful in [false, true] {
        for place in sorted.iter().copied().filter(|place| designs[*place].doubtful == doubtful) {
            let key = |place: usize| (designs[place].level, designs[place].kind);
            let is_mixed = designs[place].pools.iter().any(|p| p.level != designs[place].level);
            if !is_mixed && !kept.iter().any(|other| key(*other) == key(place)) {
                kept.push(place);
            }
        }
    }
    kept.sort_by_cached_key(|place| (marks(designs[*place]), simplest_first(designs[*place])));
    kept
}

/// Of each constraint the shortfall that misses by least, the nearest of all first.
pub(crate) fn nearest_of_each(mut shortfalls: Vec<Shortfall>) -> Vec<Shortfall> {
    shortfalls.sort_by_key(|one| (one.lack_permille(), one.constraint));
    let mut kept: Vec<Shortfall> = Vec::new();
    for one in shortfalls {
        if !kept.iter().any(|other| other.constraint == one.constraint) {
            kept.push(one);
        }
    }
    kept
}
