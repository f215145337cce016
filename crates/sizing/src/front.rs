//! Which designs are worth showing: those that no other beats in everything at once (Pareto).

use std::cmp::Reverse;

use cloud::price::Usd;

use crate::design::Design;
use crate::need::percent;
use crate::shortfall::Shortfall;
use crate::solve::simplest_first;

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

fn beats(one: &Marks, other: &Marks) -> bool {
    one.0 <= other.0 && one.1 <= other.1 && one.2 <= other.2 && one.3 <= other.3 && one.4 <= other.4
}

/// The designs that no other beats, the cheapest first. Of two that are alike in everything, the
/// simpler kind is kept.
pub fn front(designs: Vec<Design>) -> Vec<Design> {
    let mut sorted: Vec<(Marks, Design)> = designs.into_iter().map(|d| (marks(&d), d)).collect();
    // What beats a design stands before it, so one look back at what was kept is enough.
    sorted.sort_by_cached_key(|(marks, design)| (*marks, simplest_first(design)));
    let mut kept: Vec<(Marks, Design)> = Vec::new();
    for (marks, design) in sorted {
        if !kept.iter().any(|(other, _)| beats(other, &marks)) {
            kept.push((marks, design));
        }
    }
    kept.into_iter().map(|(_, design)| design).collect()
}

/// The cheapest design of each level and kind of volume; doubtful ones only where there is no
/// other.
pub(crate) fn cheapest_of_each(designs: &[Design]) -> Vec<Design> {
    let mut sorted: Vec<(Marks, &Design)> = designs.iter().map(|d| (marks(d), d)).collect();
    sorted.sort_by_key(|(marks, design)| (design.doubtful, *marks, simplest_first(design)));
    let mut kept: Vec<(Marks, &Design)> = Vec::new();
    for (marks, design) in sorted {
        let alike = |(_, other): &(Marks, &Design)| {
            (other.level, other.kind) == (design.level, design.kind)
        };
        if !kept.iter().any(alike) {
            kept.push((marks, design));
        }
    }
    kept.sort_by_key(|(marks, design)| (*marks, simplest_first(design)));
    kept.into_iter().map(|(_, design)| design.clone()).collect()
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

/// What `cheaper` saves and what it lacks beside `design`.
pub(crate) fn lost(design: &Design, cheaper: &Design) -> String {
    let saved = design.cost.month().less(cheaper.cost.month());
    let mut lost = Vec::new();
    if cheaper.spare_permille() < design.spare_permille() {
        let (less, more) = (cheaper.spare_permille(), design.spare_permille());
        lost.push(format!("{} spare instead of {}", percent(less), percent(more)));
    }
    let counts = [
        (cheaper.pools.len() as u64, design.pools.len() as u64, "pool"),
        (cheaper.volume_count(), design.volume_count(), "volume"),
        (cheaper.host_count(), design.host_count(), "host"),
    ];
    for (has, instead, what) in counts.into_iter().filter(|(has, instead, _)| has > instead) {
        let s = if has == 1 { "" } else { "s" };
        lost.push(format!("{has} {what}{s} instead of {instead}"));
    }
    let lost =
        if lost.is_empty() { "nothing that is counted here".to_owned() } else { lost.join(", ") };
    format!("the next cheaper saves {saved} and has {lost}")
}
