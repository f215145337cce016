//! Designs: everything on vSAN, and datastores on files of each level and mix beside it.

use cloud::avs::AvsLimit;
use cloud::price::Usd;
use cloud::reason::Reason;
use cloud::row::LimitName;
use cloud::service_level::ServiceLevel;
use units::{Bytes, thousands};

use crate::avs::ask::{Ask, Facts, OnVsan, Refusal};
use crate::avs::counted;
use crate::avs::flows::{self, Load};
use crate::avs::hosts::{Hosts, clusters, hosts, usable};
use crate::avs::machine::{Chosen, Machine, Selection, select};
use crate::avs::placement::{Item, Placement, place};
use crate::avs::pool::{Pool, ceiling_mib_per_s, pool};
use crate::avs::spread::{self, Advice, Misfit};

/// Everything that follows from an inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Who counts.
    pub selection: Selection,
    /// Hosts, each for its own reason.
    pub hosts: Hosts,
    /// vSAN alone first, then the levels, then the cheapest mix of two.
    pub designs: Vec<Design>,
    /// The place in `designs` of what is cheapest of those on files that are possible; without
    /// prices the first of them.
    pub best: Option<usize>,
    /// Machines to be spread over several datastores.
    pub spread: Vec<Advice>,
    /// Disks that no datastore holds.
    pub misfits: Vec<Misfit>,
    /// What was taken for granted, in whole sentences.
    pub assumptions: Vec<String>,
}

/// One way to do it.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    /// The levels of its pools, none for vSAN alone.
    pub levels: Vec<ServiceLevel>,
    /// Hosts.
    pub hosts: u64,
    /// Clusters that they are in.
    pub clusters: u64,
    /// Machines whose data stay on vSAN, by their places among those that count.
    pub on_vsan: Vec<usize>,
    /// What those store.
    pub vsan_stored: Bytes,
    /// What vSAN of these hosts can hold.
    pub vsan_usable: Bytes,
    /// What is bought of files.
    pub pools: Vec<Pool>,
    /// Datastores on files, pool by pool.
    pub datastores: Vec<Datastore>,
    /// What files cost in a month; `None` without prices.
    pub files_month: Option<Usd>,
    /// What hosts cost in a month; `None` unless the user says what one costs.
    pub hosts_month: Option<Usd>,
    /// What cannot be met, by how much; a design without is possible.
    pub lacks: Vec<Lack>,
    /// The arithmetic, in order.
    pub reasons: Vec<Reason>,
}

/// A datastore on files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datastore {
    /// Its name.
    pub name: String,
    /// Of its pool.
    pub level: ServiceLevel,
    /// Its quota.
    pub quota_gib: u64,
    /// What its volume may move; by its quota, or assigned.
    pub mib_per_s: u64,
    /// What lies on it: places among the machines that count, with the part (from 1) of how many.
    pub machines: Vec<(usize, u64, u64)>,
    /// What those store.
    pub stored: Bytes,
    /// What those move, bytes per second; 0 where nobody knows.
    pub load_bytes_per_s: u64,
}

/// A constraint that is not met.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Which, by how much.
    pub reason: Reason,
}

/// What a design saves against vSAN alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Hosts fewer; 0 where it has as many or more.
    pub hosts: u64,
    /// Money of a month, and whether it is saved; `None` unless both designs have a price.
    pub month: Option<(Usd, Verdict)>,
    /// A host that costs more than this in a month makes the design the cheaper one; `None`
    /// without prices, or where no host is saved.
    pub break_even: Option<Usd>,
}

/// Which way a difference goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The design costs less than vSAN alone.
    Less,
    /// It costs more.
    More,
}

impl Sizing {
    /// What a design saves against vSAN alone, which is the first.
    pub fn saving(&self, design: &Design) -> Saving {
        let vsan = &self.designs[0];
        let hosts = vsan.hosts.saturating_sub(design.hosts);
        let month = vsan.month().zip(design.month()).map(|(vsan, design)| match design <= vsan {
            true => (vsan.less(design), Verdict::Less),
            false => (design.less(vsan), Verdict::More),
        });
        let each = |files: Usd| Usd::from_micros(files.micros().div_ceil(hosts));
        let break_even = design.files_month.filter(|_| hosts > 0).map(each);
        Saving { hosts, month, break_even }
    }
}

impl Design {
    /// Whether nothing is lacking.
    pub fn is_possible(&self) -> bool {
        self.lacks.is_empty()
    }

    /// `vSAN only`, `Premium`, `Ultra + Standard`
    pub fn name(&self) -> String {
        if self.levels.is_empty() {
            return "vSAN only".to_owned();
        }
        let capital = |level: &ServiceLevel| {
            let name = level.name();
            name[..1].to_uppercase() + &name[1..]
        };
        self.levels.iter().map(capital).collect::<Vec<_>>().join(" + ")
    }

    /// What everything costs in a month, where both are known.
    pub fn month(&self) -> Option<Usd> {
        Some(self.files_month? + self.hosts_month?)
    }
}

/// Sizes hosts, pools and datastores.
///
/// # Errors
/// Nobody is left to size for.
pub fn size(machines: &[Machine], ask: &Ask, facts: &Facts<'_>) -> Result<Sizing, Refusal> {
    let selection = select(machines, ask)?;
    let hosts = hosts(&selection.totals, ask, facts.avs);
    let mut designs = vec![on_vsan_only(&selection, &hosts, ask, facts)];
    for level in ServiceLevel::ALL {
        designs.push(on_files(&[level], &selection, &hosts, ask, facts));
    }
    designs.extend(cheapest_mix(&selection, &hosts, ask, facts));
    let possible = |at: &usize| *at > 0 && designs[*at].is_possible();
    let best = (0..designs.len())
        .filter(possible)
        .min_by_key(|&at| (designs[at].files_month.unwrap_or_default(), at));
    Ok(Sizing {
        spread: spread::advice(&selection.machines, facts.avs),
        misfits: spread::misfits(&selection.machines, facts.catalog),
        assumptions: assumptions(&selection, ask, facts),
        selection,
        hosts,
        designs,
        best,
    })
}

fn on_vsan_only(selection: &Selection, needed: &Hosts, ask: &Ask, facts: &Facts<'_>) -> Design {
    let count = needed.with_vsan_only();
    let mut design = with_hosts(count, ask, facts);
    design.on_vsan = (0..selection.machines.len()).collect();
    design.vsan_stored = selection.totals.storage;
    design.files_month = facts.prices.map(|_| Usd::ZERO);
    design.reasons.push(Reason::asked(format!(
        "the largest of {} hosts",
        numbers(&[
            needed.by_processors.unwrap_or(0),
            needed.by_memory,
            needed.by_storage,
            needed.least.max(needed.least_by_policy),
        ])
    )));
    design
}

/// A design of so many hosts and nothing else yet.
fn with_hosts(count: u64, ask: &Ask, facts: &Facts<'_>) -> Design {
    let most = facts.avs.limit(AvsLimit::HostsPerCloudMax);
    let mut lacks = Vec::new();
    if count > most {
        let text = format!(
            "{} hosts are {} more than a private cloud has",
            thousands(count),
            thousands(count - most)
        );
        let rows = [facts.avs.limit_row(AvsLimit::HostsPerCloudMax)];
        lacks.push(Lack { reason: Reason::from_rows(text, rows) });
    }
    Design {
        levels: Vec::new(),
        hosts: count,
        clusters: clusters(count, facts.avs),
        on_vsan: Vec::new(),
        vsan_stored: Bytes::ZERO,
        vsan_usable: usable(count, ask, facts.avs),
        pools: Vec::new(),
        datastores: Vec::new(),
        files_month: None,
        hosts_month: ask.host_month.map(|month| month.times(count)),
        lacks,
        reasons: Vec::new(),
    }
}

/// What is on files, and on vSAN beside it.
struct Parted {
    design: Design,
    /// Places among the machines that count.
    on_files: Vec<usize>,
}

fn part(selection: &Selection, needed: &Hosts, ask: &Ask, facts: &Facts<'_>) -> Parted {
    let mut count = needed.for_compute();
    if ask.on_vsan == OnVsan::Coldest {
        count = count.max(needed.least_by_policy);
    }
    let mut design = with_hosts(ask.hosts.unwrap_or(count), ask, facts);
    if design.hosts < count {
        let text = format!("{} hosts are {} too few", design.hosts, count - design.hosts);
        design.lacks.push(Lack { reason: Reason::asked(text) });
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
        let text = format!(
            "vSAN of {} can hold {}: {} with the least load for their size, {} together, stay \
             there",
            counted(design.hosts, "host"),
            design.vsan_usable,
            counted(design.on_vsan.len() as u64, "machine"),
            design.vsan_stored
        );
        let rows = [ask.host.row(), ask.policy.row(), facts.avs.limit_row(AvsLimit::VsanUsedMax)];
        design.reasons.push(Reason::from_rows(text, rows));
    }
    Parted { design, on_files }
}

/// Less load for its size first; of equal ones the larger, so that few fill vSAN.
fn colder(one: &Chosen, other: &Chosen) -> std::cmp::Ordering {
    let load = |machine: &Chosen| u128::from(machine.bytes_per_s.unwrap_or(0));
    let size = |machine: &Chosen| u128::from(machine.storage.get().max(1));
    (load(one) * size(other))
        .cmp(&(load(other) * size(one)))
        .then(other.storage.cmp(&one.storage))
        .then(one.row.cmp(&other.row))
}

/// One pool of each of the levels; with two, the machines with the most load for their size are on
/// the first.
fn on_files(
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
        let text = "vSAN of the hosts that processors and memory need holds everything";
        design.reasons.push(Reason::asked(text));
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
    let shares = shares(count, &groups, selection);
    for ((level, group), share) in levels.iter().zip(&groups).zip(shares) {
        if let Err(reason) = fill(*level, group, share, &mut design, selection, ask, facts) {
            design.lacks.push(Lack { reason });
        }
    }
    let total = design.datastores.len() as u64;
    let default = facts.avs.limit(AvsLimit::DatastoresDefault);
    if total > default {
        let text = format!("{total} datastores: above {default} a support request is needed");
        let rows = [facts.avs.limit_row(AvsLimit::DatastoresDefault)];
        design.reasons.push(Reason::from_rows(text, rows));
    }
    design
}

/// How many datastores: asked for, or the largest of what is recommended and what is needed.
fn datastore_count(
    machines: &[usize],
    least: u64,
    design: &mut Design,
    selection: &Selection,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Result<u64, Reason> {
    let avs = facts.avs;
    let sum = |number: fn(&Chosen) -> Option<u64>| {
        let known = machines.iter().filter_map(|&at| number(&selection.machines[at]));
        known.fold(None, |sum: Option<u64>, more| Some(sum.unwrap_or(0).saturating_add(more)))
    };
    let load = Load {
        ops_per_s: sum(|machine| machine.ops_per_s),
        bytes_per_s: sum(|machine| machine.bytes_per_s),
    };
    let most = avs.limit(AvsLimit::DatastoresMax);
    let by_flows = flows::datastores_for(avs, design.hosts, load, most)?;
    design.reasons.extend(by_flows.1);
    let spread = machines.iter().map(|&at| spread::datastores(&selection.machines[at], avs));
    let by_spread = spread.max().unwrap_or(1);
    let recommended = avs.limit(AvsLimit::DatastoresRecommended);
    let needed = by_flows.0.max(by_spread).max(least);
    match ask.datastores {
        Some(asked) if asked < needed => Err(Reason::asked(format!(
            "{asked} datastores are {} too few for the load",
            needed - asked
        ))),
        Some(asked) => Ok(asked),
        None => {
            let text = format!(
                "at least {recommended} datastores: each is one connection from each host, and \
                 four carried what one cannot"
            );
            let rows = [avs.limit_row(AvsLimit::DatastoresRecommended)];
            design.reasons.push(Reason::from_rows(text, rows));
            Ok(needed.max(recommended))
        }
    }
}

/// Datastores of each group, by its share of what is stored; each has one at least.
fn shares(count: u64, groups: &[Vec<usize>], selection: &Selection) -> Vec<u64> {
    let stored = |group: &Vec<usize>| -> u128 {
        group.iter().map(|&at| u128::from(selection.machines[at].storage.get())).sum()
    };
    match groups {
        [hot, cold] => {
            let (hot, cold) = (stored(hot), stored(cold));
            // To the nearest whole number.
            let twice = u128::from(count) * hot * 2 / (hot + cold).max(1);
            let hot = u64::try_from(twice.div_ceil(2)).unwrap_or(count).clamp(1, count.max(2) - 1);
            vec![hot, count.max(2) - hot]
        }
        _ => vec![count],
    }
}

/// Machines on the datastores of one pool; more datastores where they do not fit.
fn fill(
    level: ServiceLevel,
    group: &[usize],
    count: u64,
    design: &mut Design,
    selection: &Selection,
    ask: &Ask,
    facts: &Facts<'_>,
) -> Result<(), Reason> {
    let headroom = headroom(ask, facts);
    let largest = facts.catalog.limit(LimitName::RegularVolumeSizeMax);
    let largest = ask.datastore_gib_max.map_or(largest, |asked| asked.min(largest));
    let stored_max = u128::from(largest) * (1 << 30) * 100 / u128::from(100 + headroom);
    let stored_max = u64::try_from(stored_max).unwrap_or(u64::MAX);
    let ceiling = ceiling_mib_per_s(level, facts);
    let items = items(group, selection, facts);
    // A datastore without a machine is good for nothing.
    let count = match ask.datastores {
        Some(_) => count,
        None => count.min(items.len() as u64),
    };
    let most = match ask.datastores {
        Some(_) => count,
        None => facts.avs.limit(AvsLimit::DatastoresMax),
    };
    let enough = |placement: &Placement| {
        placement.bins.iter().all(|bin| bin.load.div_ceil(1 << 20) <= ceiling)
    };
    let start = least_count(&items, stored_max, ceiling).max(count);
    let placed = (start..=most).find_map(|count| {
        let count = usize::try_from(count).ok()?;
        place(&items, count, stored_max).filter(enough)
    });
    let Some(placement) = placed else {
        return Err(cannot_place(&items, level, start.max(most), stored_max, ceiling, facts));
    };
    buy(level, &items, &placement, headroom, design, facts)
}

/// Fewer datastores than this cannot hold or carry the items, however they are placed.
fn least_count(items: &[Item], stored_max: u64, ceiling_mib_per_s: u64) -> u64 {
    let stored: u128 = items.iter().map(|item| u128::from(item.stored)).sum();
    let load: u128 = items.iter().map(|item| u128::from(item.load)).sum();
    let ceiling = u128::from(ceiling_mib_per_s) * (1 << 20);
    let count = stored.div_ceil(u128::from(stored_max).max(1)).max(load.div_ceil(ceiling.max(1)));
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn cannot_place(
    items: &[Item],
    level: ServiceLevel,
    count: u64,
    stored_max: u64,
    ceiling: u64,
    facts: &Facts<'_>,
) -> Reason {
    let largest = items.iter().map(|item| item.stored).max().unwrap_or(0);
    let busiest = items.iter().map(|item| item.load.div_ceil(1 << 20)).max().unwrap_or(0);
    let row = facts.catalog.limit_row(LimitName::RegularVolumeSizeMax);
    if largest > stored_max {
        let text = format!(
            "a machine stores {}, {} more than a datastore has room for",
            Bytes::new(largest),
            Bytes::new(largest - stored_max)
        );
        return Reason::from_rows(text, [row]);
    }
    let ceiling_row = facts.catalog.ceiling_row(level, cloud::service_level::VolumeKind::Regular);
    if busiest > ceiling {
        let text = format!(
            "a machine moves {} MiB/s, {} MiB/s more than a {level} volume can",
            thousands(busiest),
            thousands(busiest - ceiling)
        );
        return Reason::from_rows(text, ceiling_row);
    }
    let least = least_count(items, stored_max, ceiling);
    let text = format!(
        "at least {} {level} datastores are needed for capacity and throughput, and {} are to be",
        thousands(least),
        thousands(count)
    );
    Reason::from_rows(text, ceiling_row.into_iter().chain([row]))
}

/// The pool and datastores of a placement.
fn buy(
    level: ServiceLevel,
    items: &[Item],
    placement: &Placement,
    headroom: u64,
    design: &mut Design,
    facts: &Facts<'_>,
) -> Result<(), Reason> {
    let least = facts.catalog.limit(LimitName::RegularVolumeSizeMin);
    let quota = |stored: u64| {
        let wanted = u128::from(stored) * u128::from(100 + headroom);
        let gib = wanted.div_ceil(100 * (1 << 30));
        u64::try_from(gib).unwrap_or(u64::MAX).max(least)
    };
    let knows_load = items.iter().any(|item| item.load > 0);
    let needs: Vec<u64> = match knows_load {
        true => placement.bins.iter().map(|bin| bin.load.div_ceil(1 << 20).max(1)).collect(),
        false => Vec::new(),
    };
    let quota_gib = placement.bins.iter().map(|bin| quota(bin.stored)).sum();
    let wanted = knows_load.then(|| needs.iter().sum::<u64>());
    let pool = pool(level, quota_gib, wanted, facts)?;
    let ceiling = ceiling_mib_per_s(level, facts);
    let has = pool.throughput.get() / 1024;
    for (at, bin) in placement.bins.iter().enumerate() {
        let quota_gib = quota(bin.stored);
        let mib_per_s = match (wanted, facts.catalog.level(level).throughput) {
            // What the pool has beyond what is needed is given in the same proportions.
            (Some(wanted), _) => has * needs[at] / wanted.max(1),
            (None, Some(rate)) => rate.limit(quota_gib).get() / 1024,
            (None, None) => has / placement.bins.len() as u64,
        };
        let machines = bin.items.iter().map(|&place| {
            let item = &items[place];
            let parts = items.iter().filter(|other| other.machine == item.machine).count();
            (item.machine, item.part + 1, parts as u64)
        });
        design.datastores.push(Datastore {
            name: format!("{level}-{}", at + 1),
            level,
            quota_gib,
            mib_per_s: mib_per_s.min(ceiling),
            machines: machines.collect(),
            stored: Bytes::new(bin.stored),
            load_bytes_per_s: bin.load,
        });
    }
    design.reasons.push(fullness(level, placement, headroom, facts));
    design.reasons.extend(pool.reasons.iter().cloned());
    design.files_month = design.files_month.zip(pool.month).map(|(sum, more)| sum + more);
    design.pools.push(pool);
    Ok(())
}

/// How even a placement is, beside what nobody could do better.
fn fullness(
    level: ServiceLevel,
    placement: &Placement,
    headroom: u64,
    facts: &Facts<'_>,
) -> Reason {
    let stored = placement.bins.iter().map(|bin| bin.stored).max().unwrap_or(0);
    let load = placement.bins.iter().map(|bin| bin.load).max().unwrap_or(0);
    let mut text = format!(
        "{level}: {}; the fullest stores {} (no placement less than {}), with {headroom} \
         % beside it for snapshots",
        counted(placement.bins.len() as u64, "datastore"),
        Bytes::new(stored),
        Bytes::new(placement.stored_bound)
    );
    if load > 0 {
        text.push_str(&format!(
            "; the busiest moves {} (no placement less than {})",
            spread::mib_per_s(load),
            spread::mib_per_s(placement.load_bound)
        ));
    }
    Reason::from_rows(text, [facts.avs.limit_row(AvsLimit::DatastoreHeadroom)])
}

/// Machines, those that are to be spread in equal parts.
fn items(group: &[usize], selection: &Selection, facts: &Facts<'_>) -> Vec<Item> {
    let mut items = Vec::new();
    for &at in group {
        let machine = &selection.machines[at];
        let parts = spread::datastores(machine, facts.avs);
        for part in 0..parts {
            items.push(Item {
                machine: at,
                part,
                stored: machine.storage.get().div_ceil(parts),
                load: machine.bytes_per_s.unwrap_or(0).div_ceil(parts),
            });
        }
    }
    items
}

fn headroom(ask: &Ask, facts: &Facts<'_>) -> u64 {
    ask.headroom_percent.unwrap_or_else(|| facts.avs.limit(AvsLimit::DatastoreHeadroom))
}

/// The machines in order of load for their size, cut where two pools cost least.
fn split(
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
fn cheapest_mix(
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
            let rate = |level| facts.catalog.level(level).throughput.map_or(0, |rate| rate.get());
            if hot != cold && (rate(hot) > rate(cold) || hot == ServiceLevel::Flexible) {
                let design = on_files(&[hot, cold], selection, needed, ask, facts);
                mixes.extend((design.is_possible() && design.pools.len() == 2).then_some(design));
            }
        }
    }
    mixes.into_iter().min_by_key(|design| design.files_month)
}

/// What was taken for granted.
fn assumptions(selection: &Selection, ask: &Ask, facts: &Facts<'_>) -> Vec<String> {
    let mut said = Vec::new();
    let mut say = |text: String| said.push(text);
    let machines = selection.machines.len() as u64;
    if selection.without_storage > 0 {
        say(format!(
            "{} machines have no figure for storage and count with none.",
            thousands(selection.without_storage as u64)
        ));
    }
    match (selection.measured as u64, selection.totals.bytes_per_s) {
        (_, None) => {
            say("No load is known, so pools are sized for capacity alone; give --ops-per-vm or \
             --throughput-per-vm, or a workbook of Live Optics with --live-optics."
                .to_owned())
        }
        (measured, Some(_)) if measured < machines => say(format!(
            "The load of {} of {} machines was not measured: {}.",
            thousands(machines - measured),
            thousands(machines),
            assumed_load(ask)
        )),
        _ => {}
    }
    if ask.vcpus_per_core.is_none() {
        say("How many vCPUs share a core is not known, so hosts are not counted by processors; \
             give --vcpus-per-core, or an export with the sheet vHost."
            .to_owned());
    }
    say(format!(
        "Memory of a host is wholly for machines, vSAN's data are {} smaller than written, no host \
         is kept free for failures beyond the policy {}.",
        if ask.saving_permille == 1000 { "no" } else { "as much as asked" },
        ask.policy.name
    ));
    match facts.prices {
        Some(prices) => say(format!(
            "Prices are those of the list in {} ({}), without reservation or discount, for months \
             of {} hours.",
            prices.region,
            prices.origin.date,
            crate::avs::HOURS_PER_MONTH
        )),
        None => say("Without a region there are no prices.".to_owned()),
    }
    if ask.host_month.is_none() {
        say(
            "What a host costs is not among the facts; give --host-price for costs and savings in \
             money."
                .to_owned(),
        );
    }
    said
}

fn assumed_load(ask: &Ask) -> String {
    match (ask.ops_per_machine, ask.bytes_per_s_per_machine) {
        (Some(ops), Some(bytes)) => {
            format!("{} ops/s and {} are assumed", thousands(ops), spread::mib_per_s(bytes))
        }
        (Some(ops), None) => {
            format!("{} ops/s of {} are assumed", thousands(ops), Bytes::new(ask.transfer_bytes))
        }
        (None, Some(bytes)) => format!("{} are assumed", spread::mib_per_s(bytes)),
        (None, None) => "those count with none".to_owned(),
    }
}

fn numbers(numbers: &[u64]) -> String {
    let shown: Vec<String> = numbers.iter().map(|number| thousands(*number)).collect();
    shown.join(", ")
}
