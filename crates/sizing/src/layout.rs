//! Layouts of the parts of the data over several pools, possibly of different levels.
//!
//! Pools are independent, so the cheapest layout with n pools is the cheapest division of the parts
//! into n groups, each in its cheapest pool. It is found exactly, over all subsets of the parts.

use cloud::price::{StoragePrices, Usd};
use cloud::row::LimitName;
use cloud::service_level::{QosType, VolumeKind};
use units::Share;

use crate::capability::Abilities;
use crate::choice::Choice;
use crate::cost;
use crate::facts::Facts;
use crate::need::Need;
use crate::pool::PoolSizedBy;
use crate::storage::{self, Storage};

/// Most parts to divide; more share one level, because subsets double with each part.
pub const PARTS_MAX: usize = 6;

/// The cheapest layouts with several pools, one per number of groups.
///
/// * `choices` - candidates for a pool, with equal kind of volume, spare and number of volumes
pub(crate) fn divided(
    need: &Need,
    choices: &[Choice],
    abilities: &Abilities,
    facts: &Facts,
) -> Vec<Storage> {
    let parts = need.parts.len();
    let Some(prices) = facts.prices.storage(&need.region) else { return Vec::new() };
    if !(2..=PARTS_MAX).contains(&parts) {
        return Vec::new();
    }
    let whole: usize = (1 << parts) - 1;
    let one_pool: Vec<Option<(Usd, Storage)>> = (0..=whole)
        .map(|group| cheapest_pool(need, group, choices, abilities, facts, &prices))
        .collect();
    // best[k][set]: cost of the cheapest division of `set` into k groups, and the group of its
    // first part.
    let mut best: Vec<Vec<Option<(Usd, usize)>>> = vec![vec![None; whole + 1]; parts + 1];
    best[0][0] = Some((Usd::ZERO, 0));
    for count in 1..=parts {
        for set in 1..=whole {
            let first = set & set.wrapping_neg();
            let groups = (1..=set).filter(|group| group & !set == 0 && group & first != 0);
            let all = groups.filter_map(|group| {
                let (pool, _) = one_pool[group].as_ref()?;
                let (rest, _) = best[count - 1][set & !group]?;
                Some((*pool + rest, group))
            });
            best[count][set] = all.min();
        }
    }
    let found = (2..=parts).filter_map(|count| {
        best[count][whole]?;
        let (mut set, mut groups) = (whole, Vec::new());
        for count in (1..=count).rev() {
            let (_, group) = best[count][set]?;
            groups.push(one_pool[group].as_ref()?.1.clone());
            set &= !group;
        }
        Some(joined(groups))
    });
    let most = facts.catalog.limit(LimitName::PoolsPerAccountMax);
    found.filter(|one| one.pools.len() as u64 <= most).collect()
}

/// The cheapest storage of one choice for the parts whose bits are set in `group`.
fn cheapest_pool(
    need: &Need,
    group: usize,
    choices: &[Choice],
    abilities: &Abilities,
    facts: &Facts,
    prices: &StoragePrices<'_>,
) -> Option<(Usd, Storage)> {
    let parts: Vec<usize> = (0..need.parts.len()).filter(|part| (group >> part) & 1 == 1).collect();
    if parts.is_empty() {
        return None;
    }
    let build = |choice: &Choice| {
        let storage = storage::build_for(need, &parts, choice, abilities, &facts.catalog).ok()?;
        let hour = storage
            .pools
            .iter()
            .map(|pool| cost::capacity(pool, prices, 1) + cost::throughput(pool, facts, prices, 1));
        // Savings by the cool tier differ between levels and are ignored here.
        Some((hour.sum::<Usd>(), storage))
    };
    let in_order = |choice: &Choice| (choice.level, choice.qos != QosType::Auto);
    let all = choices.iter().filter_map(|choice| Some((in_order(choice), build(choice)?)));
    let cheapest = all.min_by_key(|(order, (hour, _))| (*hour, *order));
    cheapest.map(|(_, found)| found)
}

fn joined(groups: Vec<Storage>) -> Storage {
    let sized_by = match groups.iter().any(|one| one.sized_by == PoolSizedBy::Throughput) {
        true => PoolSizedBy::Throughput,
        false => {
            let mut all = groups.iter().map(|one| one.sized_by);
            all.find(|one| *one != PoolSizedBy::Minimum).unwrap_or(PoolSizedBy::Minimum)
        }
    };
    let mut reasons = Vec::new();
    let mut pools = Vec::new();
    let choice = groups[0].choice;
    for group in groups {
        pools.extend(group.pools);
        reasons.extend(group.reasons);
    }
    reasons.dedup();
    Storage { choice, pools, sized_by, reasons }
}

/// Choices grouped by kind of volume and spare share, each group with its kind.
pub(crate) fn groups(choices: &[Choice]) -> Vec<(VolumeKind, Vec<Choice>)> {
    let mut groups: Vec<((VolumeKind, Share), Vec<Choice>)> = Vec::new();
    for choice in choices.iter().filter(|c| c.more_volumes == 0 && c.pools == 1) {
        let key = (choice.kind, choice.spare);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(*choice),
            None => groups.push((key, vec![*choice])),
        }
    }
    groups.into_iter().map(|((kind, _), group)| (kind, group)).collect()
}
