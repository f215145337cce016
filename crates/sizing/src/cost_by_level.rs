//! Storage cost by throughput for each service level: what more or less than the required throughput
//! would cost.
//!
//! For: a chart. Not for: choosing a design, which also depends on response time and hosts.

use cloud::price::Usd;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::Share;

use crate::capability::Abilities;
use crate::choice::Choice;
use crate::cost;
use crate::facts::Facts;
use crate::need::Need;
use crate::space;
use crate::storage;

/// Shares of the required throughput, in percent.
pub(crate) const STEPS_PERCENT: [u64; 11] = [10, 20, 40, 60, 80, 100, 120, 140, 160, 180, 200];

/// The cheapest storage of one level for several throughputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LevelCost {
    /// The level of all pools.
    pub level: ServiceLevel,
    /// Required throughput and monthly cost without hosts, by increasing throughput; without those
    /// that the level cannot deliver.
    pub points: Vec<(KibPerSec, Usd)>,
}

/// The monthly cost of each allowed level, from a tenth to twice the required throughput with the
/// same capacity; empty if no throughput is required.
///
/// * `need` - as solved; it must be valid
pub fn cost_by_level(need: &Need, facts: &Facts) -> Vec<LevelCost> {
    let grown = need.grown();
    if grown.throughput().get() == 0 {
        return Vec::new();
    }
    let cheapest_of_all = choices(&grown, facts);
    let mut all: Vec<LevelCost> = Vec::new();
    for step in STEPS_PERCENT {
        let need = grown.scaled(Share::from_percent(step), Share::WHOLE);
        let of_kind = |kind| (kind, Abilities::of(&need, kind, facts));
        let known: Vec<(VolumeKind, Abilities)> =
            space::kinds_of_volume(&need, facts).into_iter().map(of_kind).collect();
        for choice in &cheapest_of_all {
            let abilities = space::abilities(&known, choice.kind);
            let Ok(storage) = storage::build(&need, choice, abilities, &facts.catalog) else {
                continue;
            };
            let point =
                (need.throughput(), cost::month(&need, &storage.pools, None, facts).month());
            add(&mut all, choice.level, point);
        }
    }
    all
}

/// The choices without spare beyond the headroom and without additional volumes, which only cost
/// more.
fn choices(need: &Need, facts: &Facts) -> Vec<Choice> {
    let mut choices = space::choices(need, facts);
    choices.retain(|choice| choice.spare == need.headroom && choice.more_volumes == 0);
    choices
}

/// Adds a point, or replaces that of the same throughput if this one is cheaper.
fn add(all: &mut Vec<LevelCost>, level: ServiceLevel, (throughput, month): (KibPerSec, Usd)) {
    let index = all.iter().position(|one| one.level == level).unwrap_or_else(|| {
        all.push(LevelCost { level, points: Vec::new() });
        all.len() - 1
    });
    let points = &mut all[index].points;
    match points.last_mut() {
        Some((last, cheapest)) if *last == throughput => *cheapest = month.min(*cheapest),
        _ => points.push((throughput, month)),
    }
}
