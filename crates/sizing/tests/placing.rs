//! Placement: every item once, no datastore too full, close to the optimum.

use proptest::prelude::*;
use sizing::avs::placement::{Item, Placement, pack};

fn item(machine: usize, stored: u64, load: u64) -> Item {
    Item { machine, part: 0, stored, load }
}

/// Items and the number of datastores.
fn problems(most: usize) -> impl Strategy<Value = (Vec<Item>, usize)> {
    let items = prop::collection::vec((1_u64..1000, 0_u64..1000), 1..most);
    (items, 1_usize..6).prop_map(|(numbers, count)| {
        let items = numbers.iter().enumerate().map(|(at, (stored, load))| item(at, *stored, *load));
        (items.collect(), count)
    })
}

fn fullest(placement: &Placement) -> u64 {
    placement.bins.iter().map(|bin| bin.stored).max().unwrap_or(0)
}

/// The best placement, by exhaustive search.
fn best(items: &[Item], count: usize) -> u64 {
    fn go(rest: &[Item], bins: &mut [u64], least: &mut u64) {
        let Some((first, rest)) = rest.split_first() else {
            *least = (*least).min(bins.iter().copied().max().unwrap_or(0));
            return;
        };
        for at in 0..bins.len() {
            // Empty datastores are equivalent.
            if bins[..at].contains(&0) && bins[at] == 0 {
                continue;
            }
            bins[at] += first.stored;
            if bins[at] < *least {
                go(rest, bins, least);
            }
            bins[at] -= first.stored;
        }
    }
    let mut least = u64::MAX;
    go(items, &mut vec![0; count], &mut least);
    least
}

proptest! {
    #[test]
    fn every_item_is_placed_once_and_no_datastore_is_over_its_room(
        (items, count) in problems(60),
        room in 500_u64..20_000,
    ) {
        let Some(placement) = pack(&items, count, room) else { return Ok(()) };
        prop_assert_eq!(placement.bins.len(), count);
        let mut placed: Vec<usize> =
            placement.bins.iter().flat_map(|bin| bin.items.iter().copied()).collect();
        placed.sort_unstable();
        prop_assert_eq!(placed, (0..items.len()).collect::<Vec<_>>());
        for bin in &placement.bins {
            let stored: u64 = bin.items.iter().map(|&at| items[at].stored).sum();
            let load: u64 = bin.items.iter().map(|&at| items[at].load).sum();
            prop_assert_eq!((bin.stored, bin.load), (stored, load));
            prop_assert!(stored <= room);
        }
        prop_assert!(fullest(&placement) >= placement.stored_bound);
    }

    #[test]
    fn no_exchange_overfills_a_datastore_that_is_nearly_full(
        (items, count) in problems(9),
        spare in 0_u64..100,
    ) {
        let room = best(&items, count) + spare;
        let Some(placement) = pack(&items, count, room) else { return Ok(()) };
        prop_assert!(fullest(&placement) <= room);
    }

    #[test]
    fn the_fullest_is_within_four_thirds_of_the_best(
        (items, count) in problems(9),
    ) {
        let items: Vec<Item> = items.iter().map(|i| item(i.machine, i.stored, 0)).collect();
        let placement = pack(&items, count, u64::MAX).expect("there is room");
        let best = best(&items, count);
        prop_assert!(placement.stored_bound <= best);
        prop_assert!(best <= fullest(&placement));
        prop_assert!(3 * fullest(&placement) <= 4 * best, "{} {best}", fullest(&placement));
    }

    #[test]
    fn the_same_items_always_get_the_same_places((items, count) in problems(40)) {
        prop_assert_eq!(pack(&items, count, u64::MAX), pack(&items, count, u64::MAX));
    }
}

#[test]
fn many_machines_are_distributed_evenly_by_load_and_size() {
    let items: Vec<Item> = (0..2000)
        .map(|at| item(at, 10 + (at as u64 * 7919) % 500, (at as u64 * 104_729) % 97))
        .collect();
    let placement = pack(&items, 8, u64::MAX).unwrap();
    let busiest = placement.bins.iter().map(|bin| bin.load).max().unwrap();
    assert!(fullest(&placement) * 100 <= placement.stored_bound * 102, "{}", fullest(&placement));
    assert!(busiest * 100 <= placement.load_bound * 102, "{busiest} {}", placement.load_bound);
}

#[test]
fn parts_of_one_machine_never_share_a_datastore() {
    let parts =
        |machine, count| (0..count).map(move |part| Item { machine, part, stored: 9, load: 9 });
    let items: Vec<Item> = parts(0, 4).chain(parts(1, 3)).chain([item(2, 50, 1)]).collect();
    let placement = pack(&items, 4, u64::MAX).unwrap();
    for bin in &placement.bins {
        let mut machines: Vec<usize> = bin.items.iter().map(|&at| items[at].machine).collect();
        machines.sort_unstable();
        let count = machines.len();
        machines.dedup();
        assert_eq!(machines.len(), count);
    }
    assert_eq!(pack(&items, 3, u64::MAX), None);
    assert_eq!(pack(&items, 0, u64::MAX), None);
    assert_eq!(pack(&items, 4, 40), None);
}
