//! Division of machines over two pools of different levels.

use cloud::price::Usd;
use cloud::service_level::ServiceLevel;

use crate::avs::ask::{Ask, Facts};
use crate::avs::filling::headroom;
use crate::avs::loads::Chosen;
use crate::avs::pool::pool;
use crate::avs::selection::Selection;

/// Divides the machines, ordered by load per size, where two pools cost least.
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

/// Orders by load per size, ascending; of equal ones the larger first, so that few fill vSAN.
pub(crate) fn colder(one: &Chosen, other: &Chosen) -> std::cmp::Ordering {
    let load = |machine: &Chosen| u128::from(machine.bytes_per_s.unwrap_or(0));
    let size = |machine: &Chosen| u128::from(machine.storage.get().max(1));
    (load(one) * size(other))
        .cmp(&(load(other) * size(one)))
        .then(other.storage.cmp(&one.storage))
        .then(one.row.cmp(&other.row))
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering::{Equal, Greater, Less};

    use units::{Bytes, Share};

    use super::*;
    use crate::avs::loads::LoadFrom;
    use crate::avs::machine::StorageUse;

    fn machine(row: u32, storage: u64, bytes_per_s: Option<u64>) -> Chosen {
        Chosen {
            name: "vm".to_owned(),
            row,
            vcpus: 1,
            memory: Bytes::ZERO,
            storage: Bytes::new(storage),
            storage_use: StorageUse::default(),
            disks: Vec::new(),
            ops_per_s: None,
            bytes_per_s,
            read: Share::WHOLE,
            class: None,
            load_from: LoadFrom::Unknown,
        }
    }

    #[test]
    fn colder_is_less_load_per_size_then_larger_then_earlier() {
        let one = machine(2, 100, Some(10));
        assert_eq!(colder(&machine(2, 100, Some(9)), &one), Less);
        assert_eq!(colder(&machine(2, 99, Some(10)), &one), Greater);
        assert_eq!(colder(&machine(2, 200, Some(20)), &one), Less, "the larger");
        assert_eq!(colder(&machine(3, 100, Some(10)), &one), Greater, "the later");
        assert_eq!(colder(&one, &one), Equal);
        assert_eq!(colder(&machine(2, 0, None), &machine(2, 5, Some(1))), Less);
    }
}
