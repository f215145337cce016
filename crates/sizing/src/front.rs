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
pub(crate) type Marks = (Usd, Reverse<u64>, u64, u64, bool);

pub(crate) fn marks(design: &Design) -> Marks {
    let spare = design.spare_permille().min(SPARE_ENOUGH) / SPARE_STEP;
    // Hosts without a price are told apart by their processors.
    let unpriced = match &design.hosts {
        Some(hosts) if !design.cost.unknown.is_empty() => u64::from(hosts.count) * hosts.vcpu,
        _ => 0,
    };
    (design.cost.month(), Reverse(spare), design.things(), unpriced, design.contradicted)
}

/// Which comes first where nothing else tells designs apart: by kind of volume, then by level, and
/// auto QoS before manual.
fn simplest_first(design: &Design) -> (u8, ServiceLevel, u8) {
    let qos = u8::from(design.qos == QosType::Manual);
    let kind = VolumeKind::ALL.iter().position(|kind| *kind == design.kind).unwrap_or(0) as u8;
    (kind, design.level, qos)
}

fn beats(one: &Marks, other: &Marks) -> bool {
    one.0 <= other.0 && one.1 <= other.1 && one.2 <= other.2 && one.3 <= other.3 && one.4 <= other.4
}

/// The places of all designs, the cheapest first.
pub(crate) fn cheapest_first(designs: &[&Design]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..designs.len()).collect();
    places.sort_by_cached_key(|place| (marks(designs[*place]), simplest_first(designs[*place])));
    places
}

/// What is kept of designs that come one after the other.
pub(crate) trait Kept {
    /// The order in which they are to come.
    fn order(&self, designs: &[&Design]) -> Vec<usize> {
        cheapest_first(designs)
    }

    /// Whether a design is to be kept beside those that are.
    fn stands_out(&self, design: &Design) -> bool;

    /// Keeps it.
    fn keep(&mut self, place: usize, design: &Design);

    /// The places of those that are kept, the cheapest first.
    fn places(self) -> Vec<usize>;
}

/// Those that no other beats. Of two that are alike in everything, the simpler kind is kept. What
/// beats a design comes before it, so one look back at what is kept is enough.
#[derive(Default)]
pub(crate) struct Unbeaten(Vec<(Marks, usize)>);

impl Kept for Unbeaten {
    fn stands_out(&self, design: &Design) -> bool {
        let marks = marks(design);
        !self.0.iter().any(|(other, _)| beats(other, &marks))
    }

    fn keep(&mut self, place: usize, design: &Design) {
        self.0.push((marks(design), place));
    }

    fn places(self) -> Vec<usize> {
        self.0.into_iter().map(|(_, place)| place).collect()
    }
}

/// The cheapest design of each level and kind of volume; contradicted ones only where there is no
/// other.
#[derive(Default)]
pub(crate) struct CheapestOfEach(Vec<(Marks, usize, (ServiceLevel, VolumeKind))>);

impl Kept for CheapestOfEach {
    fn order(&self, designs: &[&Design]) -> Vec<usize> {
        let mut places = cheapest_first(designs);
        places.sort_by_key(|place| designs[*place].contradicted);
        places
    }

    fn stands_out(&self, design: &Design) -> bool {
        let is_mixed = design.pools.iter().any(|pool| pool.level != design.level);
        let key = (design.level, design.kind);
        !is_mixed && !self.0.iter().any(|(_, _, other)| *other == key)
    }

    fn keep(&mut self, place: usize, design: &Design) {
        self.0.push((marks(design), place, (design.level, design.kind)));
    }

    fn places(mut self) -> Vec<usize> {
        self.0.sort_by_key(|(marks, _, _)| *marks);
        self.0.into_iter().map(|(_, place, _)| place).collect()
    }
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
