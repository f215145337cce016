//! A design with Azure NetApp Files datastores: the machines on vSAN, the number of datastores, and
//! the machines of each pool.

use cloud::avs::AvsLimit;
use cloud::price::Usd;
use cloud::service_level::ServiceLevel;
use units::Bytes;

use crate::avs::ask::{Ask, Facts, OnVsan};
use crate::avs::design::{Design, Lack, with_hosts};
use crate::avs::filling::fill;
use crate::avs::flows::{self, Load};
use crate::avs::hosts::Hosts;
use crate::avs::mix::{colder, split};
use crate::avs::selection::Selection;
use crate::avs::spread;
use crate::avs::statement::{Reason, Statement};

/// A design with machines divided between vSAN and datastores.
struct Parted {
    design: Design,
    /// Machines on datastores, as indices of the selected machines.
    on_files: Vec<usize>,
}

fn part(selection: &Selection, needed: &Hosts, ask: &Ask, facts: &Facts<'_>) -> Parted {
    let least = match ask.on_vsan {
        OnVsan::Coldest => needed.least.max(needed.least_by_policy),
        OnVsan::Nothing => needed.least,
    };
    let count = needed.at_least(ask.hosts.unwrap_or(0).max(least));
    let mut design = with_hosts(ask.hosts.unwrap_or(count), ask, facts);
    if design.hosts < count {
        let (hosts, missing) = (design.hosts, count - design.hosts);
        let reason = Reason::given(Statement::FewHosts { hosts, missing });
        design.lacks.push(Lack { reason });
    }
    let machines = &selection.machines;
    let mut order: Vec<usize> = (0..machines.len()).collect();
    if ask.on_vsan == OnVsan::Coldest {
        order.sort_by(|&one, &other| colder(&machines[one], &machines[other]));
        let mut rest = design.vsan_usable.get();
        for &at in &order {
            let stored = machines[at].storage.get();
            if stored <= rest && spread::datastores(&machines[at], facts.avs) == 1 {
                rest -= stored;
                design.on_vsan.push(at);
            }
        }
        design.on_vsan.sort_unstable();
    }
    let on_files = (0..machines.len()).filter(|at| design.on_vsan.binary_search(at).is_err());
    let on_files: Vec<usize> = on_files.collect();
    let stored = design.on_vsan.iter().map(|&at| machines[at].storage.get());
    design.vsan_stored = Bytes::new(stored.fold(0, u64::saturating_add));
    if ask.on_vsan == OnVsan::Coldest {
        let statement = Statement::OnVsan {
            hosts: design.hosts,
            usable: design.vsan_usable,
            machines: design.on_vsan.len() as u64,
            stored: design.vsan_stored,
        };
        let rows = [ask.host.row(), ask.policy.row(), facts.avs.limit_row(AvsLimit::VsanUsedMax)];
        design.reasons.push(Reason::from_rows(statement, rows));
    }
    Parted { design, on_files }
}

/// A design with one pool per level; with two, the machines with the most load per size are on the
/// first.
pub(crate) fn on_files(
    levels: &[ServiceLevel],
    selection: &Selection,
    needed: &Hosts,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Design {
    let Parted { mut design, on_files } = part(selection, needed, ask, facts);
    design.levels = levels.to_vec();
    design.files_month = facts.prices.map(|_| Usd::ZERO);
    if on_files.is_empty() {
        design.reasons.push(Reason::given(Statement::AllOnVsan));
        return design;
    }
    let groups = match levels {
        [_] => vec![on_files],
        _ => {
            let (hot, cold) = split(on_files, levels, selection, ask, facts);
            vec![hot, cold]
        }
    };
    let all = groups.concat();
    let count = match datastore_count(&all, groups.len() as u64, &mut design, selection, ask, facts)
    {
        Ok(count) => count,
        Err(reason) => {
            design.lacks.push(Lack { reason });
            facts.avs.limit(AvsLimit::DatastoresRecommended)
        }
    };
    let stored = |group: &Vec<usize>| -> u128 {
        group.iter().map(|&at| u128::from(selection.machines[at].storage.get())).sum()
    };
    let shares = shares(count, &groups.iter().map(stored).collect::<Vec<_>>());
    for ((level, group), share) in levels.iter().zip(&groups).zip(shares) {
        if let Err(reason) = fill(*level, group, share, &mut design, selection, ask, facts) {
            design.lacks.push(Lack { reason });
        }
    }
    let total = design.datastores.len() as u64;
    let default = facts.avs.limit(AvsLimit::DatastoresDefault);
    if total > default {
        let statement = Statement::ManyDatastores { datastores: total, default };
        let rows = [facts.avs.limit_row(AvsLimit::DatastoresDefault)];
        design.reasons.push(Reason::from_rows(statement, rows));
    }
    design
}

/// The requested number of datastores, or the larger of the recommended and the required number.
fn datastore_count(
    machines: &[usize],
    least: u64,
    design: &mut Design,
    selection: &Selection,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Result<u64, Reason> {
    let avs = facts.avs;
    let load = Load::of(machines.iter().map(|&at| &selection.machines[at]), ask.read);
    let most = avs.limit(AvsLimit::DatastoresMax);
    let carried = flows::datastores_for(design.hosts, load, most, facts.parameters)?;
    design.reasons.extend(carried.reasons);
    let spread = machines.iter().map(|&at| spread::datastores(&selection.machines[at], avs));
    let by_spread = spread.max().unwrap_or(1);
    let recommended = avs.limit(AvsLimit::DatastoresRecommended);
    let needed = carried.datastores.max(by_spread).max(least);
    match ask.datastores {
        Some(datastores) if datastores < needed => {
            let missing = needed - datastores;
            Err(Reason::given(Statement::FewDatastores { datastores, missing }))
        }
        Some(datastores) => Ok(datastores),
        None => {
            let statement = Statement::RecommendedDatastores { recommended };
            let rows = [avs.limit_row(AvsLimit::DatastoresRecommended)];
            design.reasons.push(Reason::from_rows(statement, rows));
            Ok(needed.max(recommended))
        }
    }
}

/// Datastores of each group in proportion to its stored data, at least one.
///
/// * `stored` - bytes of each group
fn shares(count: u64, stored: &[u128]) -> Vec<u64> {
    match *stored {
        [hot, cold] => {
            let count = count.max(2);
            // To the nearest whole number.
            let twice = u128::from(count) * hot * 2 / (hot + cold).max(1);
            let hot = u64::try_from(twice.div_ceil(2)).unwrap_or(count).clamp(1, count - 1);
            vec![hot, count - hot]
        }
        _ => vec![count],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datastores_are_shared_in_proportion_to_stored_data() {
        assert_eq!(shares(8, &[300, 100]), [6, 2]);
        assert_eq!(shares(5, &[100, 100]), [3, 2], "a half is rounded up");
        assert_eq!(shares(4, &[100, 700]), [1, 3], "a half is rounded up");
        assert_eq!(shares(5, &[66, 100]), [2, 3]);
        assert_eq!(shares(8, &[1, 100_000]), [1, 7]);
        assert_eq!(shares(8, &[100_000, 1]), [7, 1]);
        assert_eq!(shares(1, &[300, 100]), [1, 1]);
        assert_eq!(shares(4, &[0, 0]), [1, 3]);
        assert_eq!(shares(5, &[300]), [5]);
    }
}
