//! The designs worth showing: the Pareto front.

use std::cmp::Reverse;

use cloud::price::Usd;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use units::Share;

use crate::design::Design;
use crate::hosts::Hosts;
use crate::shortfall::Shortfall;

/// More spare throughput than this does not shorten queues any further.
const SPARE_ENOUGH: Share = Share::from_percent(50);
/// Spare shares are compared in steps of 1 %, in thousandths.
const SPARE_STEP: u64 = 10;

/// What designs are compared by; less is better.
pub(crate) type Marks = (Usd, Reverse<u64>, u64, u64, bool);

pub(crate) fn marks(design: &Design) -> Marks {
    let spare = design.spare().min(SPARE_ENOUGH).permille() / SPARE_STEP;
    // Hosts to buy without a known price are compared by their processors.
    let unpriced = match &design.hosts {
        Some(hosts) if hosts.is_charged && !design.cost.missing.is_empty() => {
            u64::from(hosts.count) * hosts.vcpu
        }
        _ => 0,
    };
    (design.cost.month(), Reverse(spare), design.things(), unpriced, design.contradicted)
}

/// Order of designs that are equal otherwise: by kind of volume, then by level, auto QoS before
/// manual, and last by hosts that are not charged.
fn simplest_first(design: &Design) -> (u8, ServiceLevel, u8, (bool, u32, u64)) {
    let qos = u8::from(design.qos == QosType::Manual);
    let kind = VolumeKind::ALL.iter().position(|kind| *kind == design.kind).unwrap_or(0) as u8;
    let uncharged = design.hosts.as_ref().filter(|hosts| !hosts.is_charged);
    let hosts = uncharged.map(Hosts::fewest_first).unwrap_or_default();
    (kind, design.level, qos, hosts)
}

fn beats(one: &Marks, other: &Marks) -> bool {
    one.0 <= other.0 && one.1 <= other.1 && one.2 <= other.2 && one.3 <= other.3 && one.4 <= other.4
}

/// The indices of all designs, cheapest first.
pub(crate) fn cheapest_first(designs: &[&Design]) -> Vec<usize> {
    let mut indices: Vec<usize> = (0..designs.len()).collect();
    indices.sort_by_cached_key(|index| (marks(designs[*index]), simplest_first(designs[*index])));
    indices
}

/// A selection of designs that are visited in order.
pub(crate) trait Kept {
    /// The order of visits.
    fn order(&self, designs: &[&Design]) -> Vec<usize> {
        cheapest_first(designs)
    }

    /// Whether to keep a design in addition to those kept so far.
    fn stands_out(&self, design: &Design) -> bool;

    /// Keeps it.
    fn keep(&mut self, index: usize, design: &Design);

    /// The indices of the kept designs, cheapest first.
    fn indices(self) -> Vec<usize>;
}

/// Designs that no other beats. Of equal designs the simpler kind is kept. Whatever beats a design
/// is visited before it, so comparing with the kept ones suffices.
#[derive(Default)]
pub(crate) struct Unbeaten(Vec<(Marks, usize)>);

impl Kept for Unbeaten {
    fn stands_out(&self, design: &Design) -> bool {
        let marks = marks(design);
        !self.0.iter().any(|(other, _)| beats(other, &marks))
    }

    fn keep(&mut self, index: usize, design: &Design) {
        self.0.push((marks(design), index));
    }

    fn indices(self) -> Vec<usize> {
        self.0.into_iter().map(|(_, index)| index).collect()
    }
}

/// The cheapest design of each level and kind of volume; a contradicted one only if there is no
/// other.
#[derive(Default)]
pub(crate) struct CheapestOfEach(Vec<(Marks, usize, (ServiceLevel, VolumeKind))>);

impl Kept for CheapestOfEach {
    fn order(&self, designs: &[&Design]) -> Vec<usize> {
        let mut indices = cheapest_first(designs);
        indices.sort_by_key(|index| designs[*index].contradicted);
        indices
    }

    fn stands_out(&self, design: &Design) -> bool {
        let is_mixed = design.pools.iter().any(|pool| pool.level != design.level);
        let key = (design.level, design.kind);
        !is_mixed && !self.0.iter().any(|(_, _, other)| *other == key)
    }

    fn keep(&mut self, index: usize, design: &Design) {
        self.0.push((marks(design), index, (design.level, design.kind)));
    }

    fn indices(mut self) -> Vec<usize> {
        self.0.sort_by_key(|(marks, _, _)| *marks);
        self.0.into_iter().map(|(_, index, _)| index).collect()
    }
}

/// The smallest shortfall of each constraint, the smallest of all first.
pub(crate) fn nearest_of_each(mut shortfalls: Vec<Shortfall>) -> Vec<Shortfall> {
    shortfalls.sort_by_key(|one| (one.missing(), one.lack.constraint()));
    let mut kept: Vec<Shortfall> = Vec::new();
    for one in shortfalls {
        if !kept.iter().any(|other| other.lack.constraint() == one.lack.constraint()) {
            kept.push(one);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_design_beats_another_that_is_better_in_nothing() {
        let marks = |usd, spare, things, unpriced, contradicted| -> Marks {
            (Usd::from_micros(usd), Reverse(spare), things, unpriced, contradicted)
        };
        let one = marks(10, 5, 3, 2, false);
        assert!(beats(&one, &one), "an equal one");
        for worse in [
            marks(11, 5, 3, 2, false),
            marks(10, 4, 3, 2, false),
            marks(10, 5, 4, 2, false),
            marks(10, 5, 3, 3, false),
            marks(10, 5, 3, 2, true),
        ] {
            assert!(beats(&one, &worse) && !beats(&worse, &one), "{worse:?}");
        }
    }
}
