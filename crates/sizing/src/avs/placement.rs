//! Places machines on datastores so that load and stored data are balanced.
//!
//! Longest processing time first (LPT; Graham 1969: at most 4/3 of the optimum for one quantity),
//! then moves and exchanges from the fullest datastore while they help. Deterministic. The fullness
//! of a datastore is the larger of its shares of load and of stored data, in integers.

/// A machine, or a part of one on several datastores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The caller's index of the machine.
    pub machine: usize,
    /// Its part; parts of one machine never share a datastore.
    pub part: u64,
    /// Stored bytes.
    pub stored: u64,
    /// Bytes per second; 0 if unknown.
    pub load: u64,
}

/// A datastore.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Ascending indices of its items.
    pub items: Vec<usize>,
    /// Their stored bytes.
    pub stored: u64,
    /// Their bytes per second.
    pub load: u64,
}

/// Each item on one datastore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The datastores, all within their capacity.
    pub bins: Vec<Bin>,
    /// Lower bound of the fullest datastore of any placement, in bytes.
    pub stored_bound: u64,
    /// Lower bound of the busiest datastore of any placement, in bytes per second.
    pub load_bound: u64,
}

/// Most moves and exchanges.
const IMPROVEMENTS: usize = 64;

/// Places all items on `count` datastores with a capacity of `stored_max` bytes each. `None` if
/// this method finds no placement.
pub fn pack(items: &[Item], count: usize, stored_max: u64) -> Option<Placement> {
    if count == 0 {
        return None;
    }
    let scale = Scale::of(items);
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&at| {
        let item = &items[at];
        (std::cmp::Reverse(scale.share(item.load, item.stored)), item.machine, item.part)
    });
    let mut bins = vec![Bin::default(); count];
    for at in order {
        let item = &items[at];
        let fits = |bin: &Bin| can_hold(bin, item, items, stored_max);
        let after = |bin: &Bin| scale.share(bin.load + item.load, bin.stored + item.stored);
        let best = bins.iter_mut().filter(|bin| fits(bin)).min_by_key(|bin| after(bin))?;
        best.add(at, item);
    }
    improve(&mut bins, items, &scale, stored_max);
    for bin in &mut bins {
        bin.items.sort_unstable();
    }
    let stored_bound = bound(items.iter().map(|item| item.stored).collect(), count);
    let load_bound = bound(items.iter().map(|item| item.load).collect(), count);
    Some(Placement { bins, stored_bound, load_bound })
}

/// Lower bound of the fullest of `count`: an equal share, the largest item, and the two smallest of
/// the largest `count + 1`, of which two must share.
fn bound(mut numbers: Vec<u64>, count: usize) -> u64 {
    numbers.sort_unstable_by_key(|&number| std::cmp::Reverse(number));
    let total: u128 = numbers.iter().map(|&number| u128::from(number)).sum();
    let largest = numbers.first().copied().unwrap_or(0);
    let two = numbers.get(count).map_or(0, |second| numbers[count - 1].saturating_add(*second));
    let even = u64::try_from(total.div_ceil(count as u128)).unwrap_or(u64::MAX);
    even.max(largest).max(two)
}

/// Makes shares of load and of bytes comparable.
struct Scale {
    load: u128,
    stored: u128,
}

impl Scale {
    fn of(items: &[Item]) -> Scale {
        let sum = |number: fn(&Item) -> u64| items.iter().map(|i| u128::from(number(i))).sum();
        Scale { load: sum(|item| item.load), stored: sum(|item| item.stored) }
    }

    /// The larger share, as a part of the product of both totals.
    fn share(&self, load: u64, stored: u64) -> u128 {
        let by_load = u128::from(load).saturating_mul(self.stored.max(1));
        let by_stored = u128::from(stored).saturating_mul(self.load.max(1));
        by_load.max(by_stored)
    }

    fn of_bin(&self, bin: &Bin) -> u128 {
        self.share(bin.load, bin.stored)
    }
}

impl Bin {
    fn add(&mut self, at: usize, item: &Item) {
        self.items.push(at);
        self.stored += item.stored;
        self.load += item.load;
    }

    fn remove(&mut self, at: usize, item: &Item) {
        self.items.retain(|&other| other != at);
        self.stored -= item.stored;
        self.load -= item.load;
    }
}

fn can_hold(bin: &Bin, item: &Item, items: &[Item], stored_max: u64) -> bool {
    bin.stored.saturating_add(item.stored) <= stored_max && !has_sibling(bin, item, items, None)
}

/// Whether another part of the item's machine is on the datastore, ignoring `but`.
fn has_sibling(bin: &Bin, item: &Item, items: &[Item], but: Option<usize>) -> bool {
    let is_sibling = |&other: &usize| {
        items[other].machine == item.machine && items[other].part != item.part && Some(other) != but
    };
    bin.items.iter().any(is_sibling)
}

/// A move or exchange between two datastores.
struct Change {
    to: usize,
    gives: usize,
    takes: Option<usize>,
    /// Fullness of the fuller one afterwards.
    after: u128,
}

fn improve(bins: &mut [Bin], items: &[Item], scale: &Scale, stored_max: u64) {
    for _ in 0..IMPROVEMENTS {
        let Some(from) = (0..bins.len()).max_by_key(|&at| scale.of_bin(&bins[at])) else { return };
        let Some(change) = best_change(bins, from, items, scale, stored_max) else { return };
        bins[from].remove(change.gives, &items[change.gives]);
        bins[change.to].add(change.gives, &items[change.gives]);
        if let Some(takes) = change.takes {
            bins[change.to].remove(takes, &items[takes]);
            bins[from].add(takes, &items[takes]);
        }
    }
}

/// The best move or exchange from datastore `from`; `None` if none helps.
fn best_change(
    bins: &[Bin],
    from: usize,
    items: &[Item],
    scale: &Scale,
    stored_max: u64,
) -> Option<Change> {
    let before = scale.of_bin(&bins[from]);
    let mut best: Option<Change> = None;
    let mut consider = |change: Change| {
        if change.after < best.as_ref().map_or(before, |best| best.after) {
            best = Some(change);
        }
    };
    // With thousands of machines the placement is already even, and there are millions of
    // exchanges.
    let exchanges = items.len() <= 400;
    for &gives in &bins[from].items {
        let item = &items[gives];
        for (to, bin) in bins.iter().enumerate().filter(|(to, _)| *to != from) {
            let source = &bins[from];
            let (load, stored) = (source.load - item.load, source.stored - item.stored);
            if can_hold(bin, item, items, stored_max) {
                let there = scale.share(bin.load + item.load, bin.stored + item.stored);
                let after = scale.share(load, stored).max(there);
                consider(Change { to, gives, takes: None, after });
            }
            for &takes in bin.items.iter().filter(|_| exchanges) {
                let other = &items[takes];
                let (here, there) =
                    (stored + other.stored, bin.stored - other.stored + item.stored);
                if here > stored_max
                    || there > stored_max
                    || has_sibling(bin, item, items, Some(takes))
                    || has_sibling(source, other, items, Some(gives))
                {
                    continue;
                }
                let after = scale
                    .share(load + other.load, here)
                    .max(scale.share(bin.load - other.load + item.load, there));
                consider(Change { to, gives, takes: Some(takes), after });
            }
        }
    }
    best
}
