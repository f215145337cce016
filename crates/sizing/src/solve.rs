//! All designs for a need, reduced to those that no other design beats.

use cloud::avs::AvsLimit;
use cloud::row::LimitName;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::{Nanos, Share};

use crate::capability::Abilities;
use crate::cautions;
use crate::cheaper;
use crate::claim::{Claim, ClaimKind};
use crate::client;
use crate::design::Design;
use crate::facts::Facts;
use crate::front;
use crate::host_search;
use crate::need::{Need, NeedError, Protocol};
use crate::shortfall::{Constraint, Shortfall, Tried};
use crate::space::{self, Space};
use crate::statement::Note;

/// How often a throughput is divided by a thousand in search of a feasible one.
const THOUSANDTHS_MAX: u32 = 3;

/// Whether and how a need can be met.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// There are designs.
    Feasible {
        /// Designs that no other beats in cost, spare throughput and simplicity, cheapest first.
        designs: Vec<Design>,
        /// The cheapest of each level and kind of volume, whether others beat it or not.
        of_each: Vec<Design>,
        /// What to know before any of them.
        cautions: Vec<Claim>,
    },
    /// There is none.
    Infeasible(Infeasible),
}

/// Why a need cannot be met, and the nearest needs that can.
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasible {
    /// For each violated constraint the smallest shortfall; the smallest of all first.
    pub shortfalls: Vec<Shortfall>,
    /// Changes of the need that make it feasible, each with the cheapest design.
    pub nearest: Vec<(Relaxation, Design)>,
}

/// A change of the need.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Relaxation {
    /// Any number of hosts.
    AnyHostCount,
    /// Hosts of any size.
    AnyVm,
    /// Any service level.
    AnyLevel,
    /// Features in preview.
    Previews,
    /// No headroom.
    NoHeadroom,
    /// A longer response time.
    ResponseTime(Nanos),
    /// A lower throughput.
    Throughput(KibPerSec),
}

/// All designs for `need` that no other design beats.
///
/// # Errors
/// The need is invalid.
pub fn solve(need: &Need, facts: &Facts) -> Result<Verdict, NeedError> {
    need.check(facts)?;
    let found = Space::of(need, facts).settled();
    let (mut kept, mut of_each) = (found.front, found.of_each);
    if kept.is_empty() {
        let mut shortfalls = found.shortfalls;
        let is_time = |one: &Shortfall| one.lack.constraint() == Constraint::ResponseTime;
        let fastest = match need.response_time.filter(|_| shortfalls.iter().any(is_time)) {
            Some(required) => fastest(need, facts).map(|(time, design)| (required, time, design)),
            None => None,
        };
        if let Some((required, time, _)) = &fastest {
            shortfalls.retain(|one| !is_time(one));
            shortfalls.push(host_search::too_slow(*required, Some(*time), Tried::Front, facts));
        }
        let shortfalls = front::nearest_of_each(shortfalls);
        let fastest = fastest.map(|(_, time, design)| (time, design));
        let nearest = nearest(need, fastest, facts);
        return Ok(Verdict::Infeasible(Infeasible { shortfalls, nearest }));
    }
    let grown = need.grown();
    for design in kept.iter_mut().chain(&mut of_each) {
        let abilities = space::abilities(&found.known, design.kind);
        design.reasons.extend(abilities.reasons());
        design.notes = notes(&grown, design, abilities, facts);
        if let Some(hosts) = &design.hosts {
            design.settings = client::settings(&grown, hosts, design.response.as_ref(), facts);
        }
    }
    for index in 0..kept.len() {
        kept[index].trade_off = Some(match index {
            0 => cheaper::cheapest(&kept[0], need, facts),
            _ => cheaper::next_cheaper(&kept[index], &kept[index - 1]),
        });
    }
    let cautions = cautions::of(need, &kept[0], facts);
    Ok(Verdict::Feasible { designs: kept, of_each, cautions })
}

/// What to know about a design besides its figures.
fn notes(need: &Need, design: &Design, abilities: &Abilities, facts: &Facts) -> Vec<Claim> {
    let catalog = &facts.catalog;
    let mut notes = Vec::new();
    for (contradiction, is_short) in abilities.contradicted(&design.volumes_of(&need.parts)) {
        let rows = [contradiction.decides.clone(), contradiction.other.clone()];
        let note = Note::Contradicted { contradiction, is_short };
        notes.push(Claim::new(ClaimKind::Published, note, rows));
    }
    let default_gib = catalog.limit(LimitName::RegionCapacityMax);
    if design.pool_gib() > default_gib {
        let note = Note::RequestQuota { required_gib: design.pool_gib(), default_gib };
        let row = catalog.limit_row(LimitName::RegionCapacityMax);
        notes.push(Claim::documented(note, [row]));
    }
    let endpoints = design.hosts.as_ref().map_or(0, |hosts| hosts.endpoints);
    if design.kind == VolumeKind::Regular && endpoints > 1 {
        let note = Note::Endpoints { count: endpoints };
        notes.push(Claim::new(ClaimKind::Extrapolated, note, []));
    }
    let is_flexible = |level| catalog.level(level).throughput.is_none();
    if design.pools.iter().filter(|pool| is_flexible(pool.level)).count() > 1 {
        let note = Note::FreeBaseline {
            level: ServiceLevel::Flexible,
            baseline: KibPerSec::new(catalog.limit(LimitName::FlexibleThroughputBaseline)),
            pools_max: need.pools_max,
        };
        let row = catalog.limit_row(LimitName::FlexibleThroughputBaseline);
        notes.push(Claim::documented(note, [row]));
    }
    if design.kind == VolumeKind::Breakthrough {
        notes.push(Claim::new(ClaimKind::Extrapolated, Note::Breakthrough, []));
    }
    if need.protocol == Protocol::Datastores {
        let (count, avs) = (design.volume_count(), &facts.avs);
        let recommended = avs.limit(AvsLimit::DatastoresRecommended);
        if count < recommended {
            let row = avs.limit_row(AvsLimit::DatastoresRecommended);
            notes.push(Claim::documented(Note::FewDatastores { recommended }, [row]));
        }
        let default = avs.limit(AvsLimit::DatastoresDefault);
        if count > default {
            let row = avs.limit_row(AvsLimit::DatastoresDefault);
            notes.push(Claim::documented(Note::ManyDatastores { default }, [row]));
        }
    }
    if need.charges.cool > Share::ZERO {
        notes.push(Claim::new(ClaimKind::Extrapolated, Note::CoolTier, []));
    }
    notes
}

/// Changes of the need that make it feasible.
fn nearest(
    need: &Need,
    fastest: Option<(Nanos, Design)>,
    facts: &Facts,
) -> Vec<(Relaxation, Design)> {
    let mut nearest = Vec::new();
    let mut offer = |relaxation: Relaxation, changed: Need| {
        let design = Space::of(&changed, facts).cheapest();
        nearest.extend(design.map(|design| (relaxation, design)));
    };
    if need.hosts.is_some() {
        offer(Relaxation::AnyHostCount, Need { hosts: None, ..need.clone() });
    }
    if need.vm.is_some() {
        offer(Relaxation::AnyVm, Need { vm: None, ..need.clone() });
    }
    let levels = facts.levels_of(&need.region);
    if need.levels.len() < levels.len() {
        offer(Relaxation::AnyLevel, Need { levels, ..need.clone() });
    }
    if !need.previews && need.protocol != Protocol::Datastores {
        offer(Relaxation::Previews, Need { previews: true, ..need.clone() });
    }
    if need.headroom > Share::ZERO {
        offer(Relaxation::NoHeadroom, Need { headroom: Share::ZERO, ..need.clone() });
    }
    if let Some((time, design)) = fastest {
        nearest.push((Relaxation::ResponseTime(time), design));
    } else if let Some((less, design)) = with_less(need, facts) {
        nearest.push((Relaxation::Throughput(less.throughput()), design));
    }
    nearest
}

/// The fastest of the designs that no other beats without a required response time. Designs with
/// more hosts or connections may be faster; they are not searched.
fn fastest(need: &Need, facts: &Facts) -> Option<(Nanos, Design)> {
    let any = Need { response_time: None, ..need.clone() };
    let found = Space::of(&any, facts).settled().front;
    let timed = found.into_iter().filter_map(|d| d.response.map(|r| (r.mean, d)));
    timed.min_by(|a, b| a.0.0.total_cmp(&b.0.0))
}

/// The need with the largest feasible share of its throughput, in thousandths; if even one
/// thousandth is infeasible, in thousandths of that.
fn with_less(need: &Need, facts: &Facts) -> Option<(Need, Design)> {
    let thousandth = Share::from_permille(1);
    let mut whole = need.grown();
    for _ in 0..THOUSANDTHS_MAX {
        let at = |permille: u64| {
            let scaled = whole.scaled(Share::from_permille(permille), Share::WHOLE);
            let design = Space::of(&scaled, facts).cheapest()?;
            Some((scaled, design))
        };
        let (mut feasible, mut infeasible) = (1, Share::WHOLE.permille());
        let Some(mut found) = at(feasible) else {
            whole = whole.scaled(thousandth, Share::WHOLE);
            continue;
        };
        while infeasible - feasible > 1 {
            let middle = (feasible + infeasible) / 2;
            match at(middle) {
                Some(one) => {
                    feasible = middle;
                    found = one;
                }
                None => infeasible = middle,
            }
        }
        return Some(found);
    }
    None
}
