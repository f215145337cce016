//! Every design for a need, of which those are kept that nothing else beats.

use cloud::reason::Reason;
use cloud::service_level::{QosType, ServiceLevel, VolumeKind};
use units::thousands;

use crate::capability::Abilities;
use crate::client::{self, Settings};
use crate::cost;
use crate::design::{Decides, Design, Resource, Use};
use crate::facts::Facts;
use crate::front;
use crate::hosts;
use crate::need::{Need, NeedError, percent};
use crate::response::response;
use crate::shortfall::{Constraint, Shortfall};
use crate::storage::{self, Choice, Storage};

/// Shares of the throughput that are bought and left unused, beside the headroom that is asked
/// for: what shorter queues cost.
const SPARE_STEPS: [u64; 6] = [0, 100, 200, 300, 400, 500];
/// Volumes of each part beyond the fewest: they spread load and cost nothing until sizes are at
/// their least.
const MORE_VOLUMES: [u64; 4] = [0, 1, 2, 3];

/// Whether and how a need can be met.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// There are designs.
    Feasible {
        /// Those that no other beats in cost, spare throughput and simplicity, the cheapest first.
        designs: Vec<Design>,
        /// The cheapest of each level and kind of volume, whether others beat it or not.
        of_each: Vec<Design>,
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
    let (designs, shortfalls) = designs(need, facts);
    if designs.is_empty() {
        let nearest = nearest(need, facts);
        let shortfalls = front::nearest_of_each(shortfalls);
        return Ok(Verdict::Infeasible(Infeasible { shortfalls, nearest }));
    }
    let mut of_each = front::cheapest_of_each(&designs);
    let mut kept = front::front(designs);
    for design in kept.iter_mut().chain(&mut of_each) {
        design.response = response(need, design, facts);
    }
    let in_time = |design: &Design| match (need.response_time_ns, &design.response) {
        (Some(wanted), Some(response)) => response.mean_ns <= wanted as f64,
        (Some(_), None) => design.hosts.is_none(),
        (None, _) => true,
    };
    if !kept.iter().any(in_time) {
        return Ok(Verdict::Infeasible(too_slow(need, &kept, facts)));
    }
    kept.retain(in_time);
    of_each.retain(in_time);
    let grown = need.grown();
    for design in kept.iter_mut().chain(&mut of_each) {
        let abilities = Abilities::of(&grown, design.kind, &facts.parameters);
        design.reasons.extend(abilities.reasons());
        design.notes = notes(design);
        if let Some(hosts) = &design.hosts {
            design.settings = client::settings(need, hosts, facts);
        }
    }
    for place in 0..kept.len() {
        kept[place].cheaper = match place {
            0 => without_a_step(&kept[0], need, facts),
            _ => front::lost(&kept[place], &kept[place - 1]),
        };
    }
    Ok(Verdict::Feasible { designs: kept, of_each })
}

/// Why no design is fast enough, and which is the fastest.
fn too_slow(need: &Need, kept: &[Design], facts: &Facts) -> Infeasible {
    let time = |design: &&Design| design.response.map(|response| response.mean_ns);
    let fastest = kept
        .iter()
        .filter(|design| time(design).is_some())
        .min_by(|a, b| time(a).partial_cmp(&time(b)).unwrap_or(std::cmp::Ordering::Equal));
    let wanted = need.response_time_ns.unwrap_or_default();
    let floor_ns = facts.parameters.floor_s().times(1e9);
    let best = fastest.as_ref().and_then(time).unwrap_or(f64::INFINITY);
    let shortfall = Shortfall {
        constraint: Constraint::ResponseTime,
        tried: "every design that the limits allow".to_owned(),
        text: format!(
            "{} is wanted; the model expects {}, of which one operation alone takes {} ({} to {} \
             were published)",
            units::Nanos(wanted as f64),
            units::Nanos(best),
            units::Nanos(floor_ns.value),
            units::Nanos(floor_ns.low),
            units::Nanos(floor_ns.high),
        ),
        // Turned round, for the shorter is the better: what is missing is a rate.
        wanted: best.min(1e18) as u64,
        most: wanted,
        rows: Vec::new(),
    };
    let nearest = fastest.map(|design| (format!("in {}", units::Nanos(best)), design.clone()));
    Infeasible { shortfalls: vec![shortfall], nearest: nearest.into_iter().collect() }
}

/// What is to be known of a design besides its figures.
fn notes(design: &Design) -> Vec<String> {
    let mut notes = Vec::new();
    if design.doubtful {
        notes.push(
            "in doubt: the published figures lead to less than this of its volumes, though some of \
             them reach it"
                .to_owned(),
        );
    }
    match &design.hosts {
        Some(hosts) if design.kind == VolumeKind::Regular && hosts.endpoints > 1 => {
            notes.push(format!(
                "the volumes must lie on at least {} endpoints: look at their addresses, for the \
                 service may put several on one",
                hosts.endpoints
            ));
        }
        _ => {}
    }
    if design.kind == VolumeKind::Breakthrough {
        notes.push("breakthrough mode is in preview and on dedicated capacity".to_owned());
    }
    notes
}

/// Every design of the enumeration, and why the others are none.
pub fn designs(need: &Need, facts: &Facts) -> (Vec<Design>, Vec<Shortfall>) {
    let grown = need.grown();
    let (mut designs, mut shortfalls) = (Vec::new(), Vec::new());
    let known: Vec<(VolumeKind, Abilities)> = VolumeKind::ALL
        .into_iter()
        .map(|kind| (kind, Abilities::of(&grown, kind, &facts.parameters)))
        .collect();
    for choice in choices(need, facts) {
        let (_, abilities) =
            known.iter().find(|(kind, _)| *kind == choice.kind).expect("each kind is known");
        let storage = match storage::build(&grown, &choice, abilities, &facts.catalog) {
            Ok(storage) => storage,
            Err(shortfall) => {
                shortfalls.push(shortfall);
                continue;
            }
        };
        if grown.throughput().get() == 0 {
            designs.push(design(need, &grown, &storage, None, abilities, facts));
            continue;
        }
        for vm in sizes(need, facts) {
            match hosts::build(&grown, &storage, vm, abilities, facts) {
                Ok(loaded) => {
                    let loaded = Some(loaded);
                    designs.push(design(need, &grown, &storage, loaded, abilities, facts));
                }
                Err(shortfall) => shortfalls.push(shortfall),
            }
        }
    }
    (designs, shortfalls)
}

/// The ways to build the storage.
fn choices(need: &Need, facts: &Facts) -> Vec<Choice> {
    let mut spares = vec![need.headroom_permille];
    spares.extend(SPARE_STEPS.into_iter().filter(|step| *step > need.headroom_permille));
    let mut choices = Vec::new();
    for level in ServiceLevel::ALL.into_iter().filter(|level| need.levels.contains(level)) {
        for qos in facts.catalog.level(level).qos.iter().copied() {
            for kind in VolumeKind::ALL {
                if kind == VolumeKind::Breakthrough && !need.previews {
                    continue;
                }
                for more_volumes in MORE_VOLUMES {
                    for &spare_permille in &spares {
                        choices.push(Choice { level, qos, kind, more_volumes, spare_permille });
                    }
                }
            }
        }
    }
    choices
}

/// Sizes of host: the given one, or all that have a price in the region, or all.
fn sizes<'a>(need: &Need, facts: &'a Facts) -> Vec<&'a cloud::vm_size::VmSize> {
    if let Some(name) = &need.vm {
        return facts.vm(name).into_iter().collect();
    }
    let priced = |vm: &&cloud::vm_size::VmSize| facts.prices.vm(&vm.name, &need.region).is_some();
    let with_price: Vec<_> = facts.vms.iter().filter(priced).collect();
    if with_price.is_empty() { facts.vms.iter().collect() } else { with_price }
}

fn design(
    need: &Need,
    grown: &Need,
    storage: &Storage,
    loaded: Option<hosts::Loaded>,
    abilities: &Abilities,
    facts: &Facts,
) -> Design {
    let choice = storage.choice;
    let (hosts, mut uses, host_reasons) = match loaded {
        Some((hosts, uses, reasons)) => (Some(hosts), uses, reasons),
        None => (None, Vec::new(), Vec::new()),
    };
    let cost = cost::month(grown, &storage.pools, hosts.as_ref(), facts);
    let limits = storage.pools.iter().map(|pool| pool.limits().get()).sum();
    let quotas = storage.pools.iter().map(crate::design::Pool::quota_gib).sum();
    let wanted = grown.throughput().get();
    if wanted > 0 {
        uses.push(Use { resource: Resource::VolumeLimits, used: wanted, limit: limits });
    }
    let able = storage.volumes_of_parts(&grown.parts).into_iter().enumerate();
    let most_used = able
        .map(|(place, count)| abilities.share_of(place, |a| a.volume.value) / count.max(1) as f64)
        .fold(0.0, f64::max);
    if most_used > 0.0 {
        let limit = (wanted as f64 / most_used) as u64;
        uses.push(Use { resource: Resource::VolumeCapability, used: wanted, limit });
    }
    let stored: u64 = grown.parts.iter().map(|part| part.capacity_gib).sum();
    uses.push(Use { resource: Resource::Capacity, used: stored, limit: quotas });
    let mut reasons = growth_reasons(need, grown);
    reasons.extend(storage.reasons.iter().cloned());
    reasons.extend(host_reasons);
    reasons.extend(cost.reasons.iter().cloned());
    Design {
        level: choice.level,
        qos: choice.qos,
        kind: choice.kind,
        pools: storage.pools.clone(),
        decides: storage.decides,
        hosts,
        settings: Settings::default(),
        cost,
        uses,
        reasons,
        response: None,
        doubtful: most_used > 1.0,
        notes: Vec::new(),
        cheaper: String::new(),
    }
}

fn growth_reasons(need: &Need, grown: &Need) -> Vec<Reason> {
    if need.growth_permille == 0 {
        return Vec::new();
    }
    let (growth, mut said) = (percent(need.growth_permille), Vec::new());
    for (part, after) in need.parts.iter().zip(&grown.parts) {
        said.push(Reason::asked(format!(
            "{growth} of growth: {} become {}, {} GiB become {} GiB",
            part.throughput(),
            after.throughput(),
            thousands(part.capacity_gib),
            thousands(after.capacity_gib)
        )));
    }
    said
}

/// What a smaller pool would lack: why nothing is cheaper than the cheapest.
fn without_a_step(design: &Design, need: &Need, facts: &Facts) -> String {
    let catalog = &facts.catalog;
    let step = catalog.limit(cloud::row::LimitName::PoolSizeStep);
    let gib = design.pool_gib();
    if design.decides == Decides::Minimum || gib <= step * design.pools.len() as u64 {
        return "nothing smaller can be bought".to_owned();
    }
    let less = gib - step;
    let tib = less >> 10;
    match (design.decides, catalog.level(design.level).throughput) {
        (Decides::Throughput, Some(rate)) => {
            let grown = need.grown().throughput();
            let gives = rate.limit(less);
            let lack = cloud::throughput::KibPerSec::new(grown.get().saturating_sub(gives.get()));
            match lack.get() {
                0 => {
                    format!("a pool of {tib} TiB gives {gives} and so less spare than is asked for")
                }
                _ => format!("a pool of {tib} TiB gives {gives}: {lack} short"),
            }
        }
        _ => {
            let lack = design.quota_gib().saturating_sub(less);
            format!("a pool of {tib} TiB holds {} GiB less than the quotas", thousands(lack))
        }
    }
}

/// What would be possible instead.
fn nearest(need: &Need, facts: &Facts) -> Vec<(String, Design)> {
    let mut nearest = Vec::new();
    let mut offer = |what: &dyn Fn(&Design) -> String, changed: Need| {
        if let Some(design) = cheapest(&changed, facts) {
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
    if need.levels.len() < ServiceLevel::ALL.len() {
        let levels = ServiceLevel::ALL.to_vec();
        offer(&|design| format!("at level {}", design.level), Need { levels, ..need.clone() });
    }
    if !need.previews {
        let what = |_: &Design| "with what is in preview (breakthrough volumes)".to_owned();
        offer(&what, Need { previews: true, ..need.clone() });
    }
    if need.headroom_permille > 0 {
        let what = |_: &Design| "without headroom".to_owned();
        offer(&what, Need { headroom_permille: 0, ..need.clone() });
    }
    if let Some((less, design)) = less(need, facts) {
        let throughput = less.throughput();
        nearest.push((format!("with at most {:.1} MiB/s", throughput.as_mib()), design));
    }
    nearest
}

fn cheapest(need: &Need, facts: &Facts) -> Option<Design> {
    front::front(designs(need, facts).0).into_iter().next()
}

/// The need with the largest share of its throughput, in thousandths, that can be met.
fn less(need: &Need, facts: &Facts) -> Option<(Need, Design)> {
    let all = crate::need::PERMILLE;
    let at = |permille: u64| {
        let scaled = Need { growth_permille: 0, ..need.grown().scaled(permille, all) };
        cheapest(&scaled, facts).map(|design| (scaled, design))
    };
    let (mut feasible, mut found) = (0, None);
    let mut infeasible = all;
    while infeasible - feasible > 1 {
        let middle = (feasible + infeasible) / 2;
        match at(middle) {
            Some(one) => {
                feasible = middle;
                found = Some(one);
            }
            None => infeasible = middle,
        }
    }
    found
}

/// Whether auto or manual QoS comes first where nothing else tells designs apart.
pub(crate) fn simplest_first(design: &Design) -> (u8, ServiceLevel, u8) {
    let qos = u8::from(design.qos == QosType::Manual);
    let kind = VolumeKind::ALL.iter().position(|kind| *kind == design.kind).unwrap_or(0) as u8;
    (kind, design.level, qos)
}
