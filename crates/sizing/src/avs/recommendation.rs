//! The sizing of an inventory: all designs, the best of them, and what it saves.

use cloud::price::Usd;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::Share;

use crate::avs::ask::{Ask, Facts, Refusal};
use crate::avs::assumptions::{assumptions, warnings};
use crate::avs::design::{Design, with_hosts};
use crate::avs::files::on_files;
use crate::avs::hosts::{Hosts, hosts};
use crate::avs::machine::Machine;
use crate::avs::pool::pool;
use crate::avs::selection::{Selection, select};
use crate::avs::spread::{self, Advice, Misfit};
use crate::avs::statement::{Assumption, Reason, Statement, Warning};
use crate::cost_by_level::{LevelCost, STEPS_PERCENT};

/// The sizing of an inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// The machines that count.
    pub selection: Selection,
    /// Required hosts by each criterion.
    pub hosts: Hosts,
    /// vSAN only first, then each level, then the cheapest mix of two.
    pub designs: Vec<Design>,
    /// Index of the cheapest possible design with datastores; two pools must cost 2 % less than
    /// one. Without prices the first possible one.
    pub best: Option<usize>,
    /// Machines that need several datastores.
    pub spread: Vec<Advice>,
    /// Disks that no datastore can hold.
    pub misfits: Vec<Misfit>,
    /// What was assumed.
    pub assumptions: Vec<Assumption>,
    /// Probable mistakes in the options.
    pub warnings: Vec<Warning>,
    /// The load of each class of the profile, in its order.
    pub loads: Vec<Reason>,
    /// What the datastores of the best design would cost with each level, by throughput; empty
    /// without datastores, loads or prices.
    pub costs: Vec<LevelCost>,
}

/// What a design saves compared with vSAN only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Saving {
    /// Hosts saved; 0 if it has as many or more.
    pub hosts: u64,
    /// Difference in monthly cost, and its direction; `None` unless both designs have a price.
    pub month: Option<(Usd, Direction)>,
    /// The design is cheaper if a host costs more than this per month; `None` without prices or
    /// saved hosts.
    pub break_even: Option<Usd>,
}

/// Direction of a difference in cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// The design costs less than vSAN only.
    Less,
    /// It costs more.
    More,
}

impl Sizing {
    /// What a design saves compared with vSAN only, the first design.
    pub fn saving(&self, design: &Design) -> Saving {
        let vsan = &self.designs[0];
        let hosts = vsan.hosts.saturating_sub(design.hosts);
        let month = vsan.month().zip(design.month()).map(|(vsan, design)| match design <= vsan {
            true => (vsan.less(design), Direction::Less),
            false => (design.less(vsan), Direction::More),
        });
        let each = |files: Usd| Usd::from_micros(files.micros().div_ceil(hosts));
        let break_even = design.files_month.filter(|_| hosts > 0).map(each);
        Saving { hosts, month, break_even }
    }
}

/// Sizes hosts, pools and datastores.
///
/// # Errors
/// No machine is left, or none has a figure for storage.
pub fn size(machines: &[Machine], ask: &Ask, facts: &Facts<'_>) -> Result<Sizing, Refusal> {
    let selection = select(machines, ask)?;
    let hosts = hosts(&selection.totals, ask, facts.avs);
    let mut designs = vec![on_vsan_only(&selection, &hosts, ask, facts)];
    for level in ServiceLevel::ALL {
        designs.push(on_files(&[level], &selection, &hosts, ask, facts));
    }
    designs.extend(cheapest_mix(&selection, &hosts, ask, facts));
    let best = best(&designs);
    Ok(Sizing {
        costs: best.map_or_else(Vec::new, |at| costs(&designs[at], facts)),
        spread: spread::advice(&selection.machines, facts.avs),
        misfits: spread::misfits(&selection.machines, facts.catalog),
        warnings: warnings(&selection, ask),
        loads: ask.profile.iter().flat_map(|p| p.all()).map(|(_, c)| c.reason.clone()).collect(),
        assumptions: assumptions(&selection, &hosts, ask, facts),
        selection,
        hosts,
        designs,
        best,
    })
}

/// The monthly cost of one pool of each level for the quotas of a design, from a tenth to twice its
/// load.
fn costs(design: &Design, facts: &Facts<'_>) -> Vec<LevelCost> {
    let quota_gib: u64 = design.datastores.iter().map(|store| store.quota_gib).sum();
    let load = design.load();
    if load.get() == 0 {
        return Vec::new();
    }
    let at = |level: ServiceLevel, percent: &u64| {
        let throughput = KibPerSec::new(Share::from_percent(*percent).ceil_of(load.get()));
        let mib_per_s = throughput.get().div_ceil(KIB_PER_MIB);
        Some((throughput, pool(level, quota_gib, Some(mib_per_s), facts).ok()?.month?))
    };
    let of_level = |level: ServiceLevel| {
        let points: Vec<_> = STEPS_PERCENT.iter().filter_map(|step| at(level, step)).collect();
        (!points.is_empty()).then_some(LevelCost { level, points })
    };
    ServiceLevel::ALL.into_iter().filter_map(of_level).collect()
}

/// KiB/s in a MiB/s.
const KIB_PER_MIB: u64 = 1024;

/// Two pools are more to manage, so they must cost less than this share of the cheapest single one,
/// in hundredths.
const MIX_COSTS_AT_MOST_PERCENT: u64 = 98;

/// Index of the cheapest possible design with datastores.
fn best(designs: &[Design]) -> Option<usize> {
    let cost = |at: usize| {
        let month = designs[at].files_month.unwrap_or_default();
        match designs[at].levels.len() {
            2 => month.times(100),
            _ => month.times(MIX_COSTS_AT_MOST_PERCENT),
        }
    };
    let possible = |at: &usize| designs[*at].is_possible();
    (1..designs.len()).filter(possible).min_by_key(|&at| (cost(at), at))
}

fn on_vsan_only(selection: &Selection, needed: &Hosts, ask: &Ask, facts: &Facts<'_>) -> Design {
    let count = needed.with_vsan_only();
    let mut design = with_hosts(count, ask, facts);
    design.on_vsan = (0..selection.machines.len()).collect();
    design.vsan_stored = selection.totals.storage;
    design.files_month = facts.prices.map(|_| Usd::ZERO);
    let least = needed.least.max(needed.least_by_policy);
    design.reasons.push(Reason::given(Statement::LargestOf {
        candidates: [needed.at_least(0), needed.by_storage, least],
        hosts: count,
        spare: needed.spare(count),
    }));
    design
}

/// The cheapest possible pair of levels; the faster one is for the machines with the most load per
/// size. `None` without prices or loads.
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
            // A level whose throughput is bought separately can be either.
            let is_faster = rate(hot).zip(rate(cold)).is_none_or(|(hot, cold)| hot > cold);
            if hot != cold && is_faster {
                let design = on_files(&[hot, cold], selection, needed, ask, facts);
                mixes.extend((design.is_possible() && design.pools.len() == 2).then_some(design));
            }
        }
    }
    mixes.into_iter().min_by_key(|design| design.files_month)
}
