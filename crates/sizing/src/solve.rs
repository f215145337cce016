//! Every design for a need, of which those are kept that nothing else beats.

use cloud::avs::AvsLimit;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::throughput::KibPerSec;
use units::{Bytes, thousands};

use crate::capability::Abilities;
use crate::cautions;
use crate::claim::{Claim, ClaimKind};
use crate::client;
use crate::design::Design;
use crate::facts::Facts;
use crate::front;
use crate::hosts;
use crate::less;
use crate::need::{Need, NeedError, Protocol};
use crate::published::Contradiction;
use crate::shortfall::{Constraint, Shortfall};
use crate::space::{self, Space};

/// How often a throughput is divided by a thousand to find one that can be met.
const THOUSANDTHS_MAX: u32 = 3;

/// Whether and how a need can be met.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// There are designs.
    Feasible {
        /// Those that no other beats in cost, spare throughput and simplicity, the cheapest first.
        designs: Vec<Design>,
        /// The cheapest of each level and kind of volume, whether others beat it or not.
        of_each: Vec<Design>,
        /// What must be known before any of them, in whole sentences: that they go beyond what was
        /// published, or what a subscription may have.
        cautions: Vec<Claim>,
    },
    /// None.
    Infeasible(Infeasible),
}

/// Why a need cannot be met, and what is nearest to it.
#[derive(Clone, Debug, PartialEq)]
pub struct Infeasible {
    /// For each constraint that forbids designs, that which misses by least; the nearest first.
    pub shortfalls: Vec<Shortfall>,
    /// What would be possible: a change of the need, with the cheapest design for it.
    pub nearest: Vec<(String, Design)>,
}

/// All designs for `need` that are worth looking at.
///
/// # Errors
/// What is wrong with the need itself.
pub fn solve(need: &Need, facts: &Facts) -> Result<Verdict, NeedError> {
    need.check(facts)?;
    let found = Space::of(need, facts).settled();
    let (mut kept, mut of_each) = (found.front, found.of_each);
    if kept.is_empty() {
        let mut shortfalls = found.shortfalls;
        let is_time = |one: &Shortfall| one.constraint == Constraint::ResponseTime;
        let fastest = match shortfalls.iter().any(is_time) {
            true => fastest(need, facts),
            false => None,
        };
        if let Some((time_ns, _)) = &fastest {
            shortfalls.retain(|one| !is_time(one));
            let wanted = need.response_time_ns.unwrap_or_default();
            let tried = "the designs that nothing else beats".to_owned();
            shortfalls.push(hosts::too_slow(wanted, Some(*time_ns), tried, facts));
        }
        let shortfalls = front::nearest_of_each(shortfalls);
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
    for place in 0..kept.len() {
        kept[place].cheaper = match place {
            0 => less::without_a_step(&kept[0], need, facts),
            _ => less::lost(&kept[place], &kept[place - 1]),
        };
    }
    let cautions = cautions::of(need, &kept[0], facts);
    Ok(Verdict::Feasible { designs: kept, of_each, cautions })
}

/// What is to be known of a design besides its figures.
fn notes(need: &Need, design: &Design, abilities: &Abilities, facts: &Facts) -> Vec<Claim> {
    let mut notes = Vec::new();
    for (one, is_short) in abilities.contradicted(&design.volumes_of(&need.parts)) {
        notes.push(contradiction(&one, is_short));
    }
    notes.extend(region(design, facts));
    match &design.hosts {
        Some(hosts) if design.kind == VolumeKind::Regular && hosts.endpoints > 1 => {
            let text = format!(
                "the volumes must lie on at least {} endpoints: look at their addresses, for the \
                 service may put several on one",
                hosts.endpoints
            );
            notes.push(Claim::new(ClaimKind::Extrapolated, text, []));
        }
        _ => {}
    }
    let flexible = |level| facts.catalog.level(level).throughput.is_none();
    if design.pools.iter().filter(|pool| flexible(pool.level)).count() > 1 {
        let baseline = facts.catalog.limit(LimitName::FlexibleThroughputBaseline);
        let text = format!(
            "each pool of {} has {} that are not paid for: that is why there are several (at most \
             {}, --pools)",
            ServiceLevel::Flexible,
            KibPerSec::new(baseline),
            need.pools_max
        );
        let row = facts.catalog.limit_row(LimitName::FlexibleThroughputBaseline);
        notes.push(Claim::documented(text, [row]));
    }
    if design.kind == VolumeKind::Breakthrough {
        let text = "breakthrough mode is in preview and on dedicated capacity; no figure of it is \
                    published, so it is taken for as many large volumes as it has endpoints";
        notes.push(Claim::new(ClaimKind::Extrapolated, text, []));
    }
    if need.protocol == Protocol::Datastores {
        let (count, limit) = (design.volume_count(), |name| facts.avs.limit(name));
        let recommended = limit(AvsLimit::DatastoresRecommended);
        if count < recommended {
            let text = format!(
                "the vendor recommends at least {recommended} datastores: each is one more \
                 connection of every host, and machines can be spread over them"
            );
            let row = facts.avs.limit_row(AvsLimit::DatastoresRecommended);
            notes.push(Claim::documented(text, [row]));
        }
        let without = limit(AvsLimit::DatastoresDefault);
        if count > without {
            let text = format!("more than {without} datastores need a support request");
            let row = facts.avs.limit_row(AvsLimit::DatastoresDefault);
            notes.push(Claim::documented(text, [row]));
        }
    }
    if need.charges.cool_permille > 0 {
        let text = "operations on data in the cool tier take longer and move less than the model \
                    says: it is of the hot tier";
        notes.push(Claim::new(ClaimKind::Extrapolated, text, []));
    }
    notes
}

/// What a design has of the capacity that a subscription may have in its region, where that is not
/// enough.
fn region(design: &Design, facts: &Facts) -> Option<Claim> {
    let most = facts.catalog.limit(LimitName::RegionCapacityMax);
    let needed = design.pool_gib();
    (needed > most).then(|| {
        let text = format!(
            "request a regional capacity quota of at least {} from the vendor: a subscription has \
             {} by default, less what its other pools in the region use",
            Bytes::gib(needed),
            Bytes::gib(most)
        );
        Claim::documented(text, [facts.catalog.limit_row(LimitName::RegionCapacityMax)])
    })
}

/// Two figures that disagree about one volume, the newest of which decided.
fn contradiction(one: &Contradiction, is_short: bool) -> Claim {
    let mib = |kib_s: f64| thousands((kib_s / 1024.0).round() as u64);
    let of = |row: &RowRef| format!("{} ({})", row.row, row.date);
    let text = format!(
        "contradicted: one volume is taken to do what {} says, {} MiB/s; {} says {} MiB/s, by \
         which {}",
        of(&one.decides),
        mib(one.decides_kib_s),
        of(&one.other),
        mib(one.other_kib_s),
        match is_short {
            true => "these volumes are too few",
            false => "fewer volumes would do",
        }
    );
    Claim::new(ClaimKind::Published, text, [one.decides.clone(), one.other.clone()])
}

/// What would be possible instead.
fn nearest(need: &Need, fastest: Option<(f64, Design)>, facts: &Facts) -> Vec<(String, Design)> {
    let mut nearest = Vec::new();
    let mut offer = |what: &dyn Fn(&Design) -> String, changed: Need| {
        if let Some(design) = Space::of(&changed, facts).cheapest() {
            nearest.push((what(&design), design));
        }
    };
    let free_count = Need { hosts: None, ..need.clone() };
    let free_size = Need { vm: None, ..need.clone() };
    if need.hosts.is_some() {
        let what = |design: &Design| match &design.hosts {
            Some(hosts) => format!("with {} hosts of {}", hosts.count, hosts.vm),
            None => "with any number of hosts".to_owned(),
        };
        offer(&what, free_count);
    }
    if need.vm.is_some() {
        let what = |design: &Design| match &design.hosts {
            Some(hosts) => format!("with hosts of another size: {} {}", hosts.count, hosts.vm),
            None => "with hosts of another size".to_owned(),
        };
        offer(&what, free_size);
    }
    let levels = facts.levels_of(&need.region);
    if need.levels.len() < levels.len() {
        let what = |design: &Design| match &design.level_names()[..] {
            [one] => format!("at level {one}"),
            several => format!("at levels {}", several.join("+")),
        };
        offer(&what, Need { levels, ..need.clone() });
    }
    if !need.previews && need.protocol != Protocol::Datastores {
        let what = |_: &Design| "with what is in preview (breakthrough volumes)".to_owned();
        offer(&what, Need { previews: true, ..need.clone() });
    }
    if need.headroom_permille > 0 {
        let what = |_: &Design| "without headroom".to_owned();
        offer(&what, Need { headroom_permille: 0, ..need.clone() });
    }
    if let Some((time_ns, design)) = fastest {
        nearest.push((format!("in {}", units::Nanos(time_ns)), design));
    } else if let Some((less, design)) = with_less(need, facts) {
        nearest.push((format!("with at most {}", of_what_is_left(less.throughput())), design));
    }
    nearest
}

/// The fastest of the designs that nothing else beats without a wanted response time. More hosts or
/// connections than those have may be faster still: for time alone nothing is searched.
fn fastest(need: &Need, facts: &Facts) -> Option<(f64, Design)> {
    let any = Need { response_time_ns: None, ..need.clone() };
    let found = Space::of(&any, facts).settled().front;
    let timed = found.into_iter().filter_map(|d| d.response.map(|r| (r.mean_ns, d)));
    timed.min_by(|a, b| a.0.total_cmp(&b.0))
}

/// A throughput with the digits that matter: of less than 1 MiB/s all of them.
fn of_what_is_left(throughput: KibPerSec) -> String {
    match KibPerSec::from_mib(1).is_some_and(|one| throughput < one) {
        true => throughput.to_string(),
        false => format!("{throughput:.1}"),
    }
}

/// The need with the largest share of its throughput that can be met: in thousandths, or where one
/// of them is too much in thousandths of that.
fn with_less(need: &Need, facts: &Facts) -> Option<(Need, Design)> {
    let all = crate::need::PERMILLE;
    let mut whole = need.grown();
    for _ in 0..THOUSANDTHS_MAX {
        let at = |permille: u64| {
            let scaled = whole.scaled(permille, all);
            let design = Space::of(&scaled, facts).cheapest()?;
            Some((scaled, design))
        };
        let (mut feasible, mut infeasible) = (1, all);
        let Some(mut found) = at(feasible) else {
            whole = whole.scaled(1, all);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_of_a_throughput_is_never_told_as_nothing() {
        let said = |kib| of_what_is_left(KibPerSec::new(kib));
        assert_eq!(said(8), "0.0078125 MiB/s");
        assert_eq!(said(1024), "1.0 MiB/s");
        assert_eq!(said(1_953_125), "1,907.3 MiB/s");
    }
}
