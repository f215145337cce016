//! Two pools of different levels: which machines on which, and which two cost least.

use cloud::price::Usd;
use cloud::service_level::ServiceLevel;

use crate::avs::ask::{Ask, Facts};
use crate::avs::design::Design;
use crate::avs::files::{colder, on_files};
use crate::avs::filling::headroom;
use crate::avs::hosts::Hosts;
use crate::avs::machine::Selection;
use crate::avs::pool::pool;

/// The machines in order of load for their size, cut where two pools cost least.
pub(crate) fn split(
    mut machines: Vec<usize>,
    levels: &[ServiceLevel],
    selection: &Selection,
    ask: &Ask,
    facts: &Facts<'_>,
) -> (Vec<usize>, Vec<usize>) {
    let of = |at: usize| &selection.machines[at];
    machines.sort_by(|&one, &other| colder(of(other), of(one)));
    let headroom = u128::from(100 + headroom(ask, facts));
    let sums = |machines: &[usize]| {
        let stored: u128 = machines.iter().map(|&at| u128::from(of(at).storage.get())).sum();
        let load: u128 =
            machines.iter().map(|&at| u128::from(of(at).bytes_per_s.unwrap_or(0))).sum();
        (stored, load)
    };
    let (all_stored, all_load) = sums(&machines);
    let cost = |level: ServiceLevel, stored: u128, load: u128| {
        let quota = u64::try_from((stored * headroom).div_ceil(100 * (1 << 30))).ok()?;
        let load = u64::try_from(load.div_ceil(1 << 20)).ok()?;
        pool(level, quota, Some(load), facts).ok()?.month
    };
    let (mut stored, mut load) = (0, 0);
    let mut best: Option<(Usd, usize)> = None;
    for cut in 1..machines.len() {
        let machine = of(machines[cut - 1]);
        stored += u128::from(machine.storage.get());
        load += u128::from(machine.bytes_per_s.unwrap_or(0));
        let hot = cost(levels[0], stored, load);
        let cold = cost(levels[1], all_stored - stored, all_load - load);
        if let Some(cost) = hot.zip(cold).map(|(hot, cold)| hot + cold)
            && best.is_none_or(|(least, _)| cost < least)
        {
            best = Some((cost, cut));
        }
    }
    let cut = best.map_or(machines.len() / 2, |(_, cut)| cut);
    let cold = machines.split_off(cut);
    (machines, cold)
}

/// The cheapest possible mix of two levels, the faster one for the machines with the most load for
/// their size. Without prices or loads there is nothing to choose by.
pub(crate) fn cheapest_mix(
    selection: &Selection,
    needed: &Hosts,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Option<Design> {
    facts.prices?;
    selection.totals.bytes_per_s?;
    let mut mixes = Vec::new();
    for hot in ServiceLevel::ALL {
        for cold in ServiceLevel::ALL {
            let rate = |level| facts.catalog.level(level).throughput;
            // A level whose throughput is bought apart from size can be either of the two.
            let is_faster = rate(hot).zip(rate(cold)).is_none_or(|(hot, cold)| hot > cold);
            if hot != cold && is_faster {
                let design = on_files(&[hot, cold], selection, needed, ask, facts);
                mixes.extend((design.is_possible() && design.pools.len() == 2).then_some(design));
            }
        }
    }
    mixes.into_iter().min_by_key(|design| design.files_month)
}
