//! Designs: everything on vSAN, and datastores on files of each level and mix beside it.

use cloud::avs::AvsLimit;
use cloud::price::Usd;
use cloud::reason::Reason;
use cloud::service_level::ServiceLevel;
use cloud::throughput::KibPerSec;
use units::{Bytes, thousands};

use crate::avs::ask::{Ask, Facts, Refusal};
use crate::avs::assumptions::{assumptions, warnings};
use crate::avs::files::on_files;
use crate::avs::hosts::{Hosts, clusters, hosts, usable};
use crate::avs::machine::{Machine, Selection, select};
use crate::avs::mix::cheapest_mix;
use crate::avs::pool::Pool;
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
    /// The place in `designs` of what is cheapest of those on files that are possible, two pools
    /// only where they cost 2 % less than one; without prices the first of them.
    pub best: Option<usize>,
    /// Machines to be spread over several datastores.
    pub spread: Vec<Advice>,
    /// Disks that no datastore holds.
    pub misfits: Vec<Misfit>,
    /// What was taken for granted, in whole sentences.
    pub assumptions: Vec<String>,
    /// What is probably a slip in what was asked, in whole sentences.
    pub warnings: Vec<String>,
    /// What the profile says of each class, in its order.
    pub loads: Vec<Reason>,
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
    /// The throughput limit of its volume.
    pub throughput: KibPerSec,
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
    let best = best(&designs);
    Ok(Sizing {
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

/// One pool more is to be looked after: two must cost less than this share of the cheapest single
/// one, in hundredths.
const MIX_COSTS_AT_MOST_PERCENT: u64 = 98;

/// The place of the cheapest possible design on files.
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
    let asked = [needed.at_least(0), needed.by_storage, needed.least.max(needed.least_by_policy)];
    let with_spare = match asked.into_iter().max() {
        Some(most) if count > most => {
            format!(", with the spare ones of every cluster {}", thousands(count))
        }
        _ => String::new(),
    };
    design.reasons.push(Reason::asked(format!(
        "the largest of {} hosts{with_spare}{}",
        numbers(&asked),
        spare_text(needed, count)
    )));
    design
}

/// A design of so many hosts and nothing else yet.
pub(crate) fn with_hosts(count: u64, ask: &Ask, facts: &Facts<'_>) -> Design {
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

/// `; 5 of 75 are spare`
pub(crate) fn spare_text(needed: &Hosts, count: u64) -> String {
    match needed.spare(count) {
        0 => String::new(),
        1 => format!("; 1 of {} is spare", thousands(count)),
        spare => format!("; {spare} of {} are spare", thousands(count)),
    }
}

fn numbers(numbers: &[u64]) -> String {
    let shown: Vec<String> = numbers.iter().map(|number| thousands(*number)).collect();
    shown.join(", ")
}
