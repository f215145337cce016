//! All candidate designs, of which only the front is checked with the model.
//!
//! A candidate starts from limits and published figures, which is cheap to compute. The model can
//! only add connections or hosts, never remove them. So a candidate that a checked design beats
//! stays beaten, and only candidates in the front need checking, until all of those are checked.
//! The cheapest design is exact. A design may be missing from the rest of the front if only the
//! hosts that the model adds would give it more spare throughput.

use cloud::row::LimitName;
use cloud::service_level::{ServiceLevel, VolumeKind};
use units::Share;

use crate::capability::Abilities;
use crate::choice::Choice;
use crate::claim::{Claim, ClaimKind};
use crate::client::Settings;
use crate::cost;
use crate::design::Design;
use crate::facts::Facts;
use crate::front;
use crate::host_demand::HostDemand;
use crate::host_kind::{self, HostKind};
use crate::host_search::{self, Loaded};
use crate::layout;
use crate::need::{Need, Part, Protocol};
use crate::published;
use crate::resource_use::{Resource, Use};
use crate::response;
use crate::shortfall::Shortfall;
use crate::statement::Statement;
use crate::storage::{self, Storage};

/// Shares of unused throughput to try beyond the required headroom, in percent. Spare throughput
/// shortens queues.
const SPARE_PERCENT: [u64; 6] = [0, 10, 20, 30, 40, 50];
/// Volumes of each part beyond the fewest. They spread load, and cost nothing until quotas reach
/// their minimum.
const MORE_VOLUMES: [u64; 4] = [0, 1, 2, 3];
/// The same for datastores; each adds a connection to every host.
const MORE_DATASTORES: [u64; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15];

/// More hosts than any load needs.
const HOSTS_ENOUGH: u64 = 100_000;

/// Designs for a need.
pub(crate) struct Space<'a> {
    need: &'a Need,
    grown: Need,
    facts: &'a Facts,
    known: Vec<(VolumeKind, Abilities)>,
    kinds: Vec<HostKind>,
    storages: Vec<Storage>,
    candidates: Vec<Candidate>,
    shortfalls: Vec<Shortfall>,
}

/// A design with its origin.
struct Candidate {
    design: Design,
    storage: usize,
    kind: Option<usize>,
    /// Share of the hosts to keep unused.
    spare: Share,
    is_settled: bool,
}

/// The result of the search.
pub(crate) struct Settled {
    /// Designs that no other beats, cheapest first.
    pub(crate) front: Vec<Design>,
    /// The cheapest of each level and kind of volume.
    pub(crate) of_each: Vec<Design>,
    /// Why candidates were rejected.
    pub(crate) shortfalls: Vec<Shortfall>,
    /// Capabilities for the need, by kind of volume.
    pub(crate) known: Vec<(VolumeKind, Abilities)>,
}

impl<'a> Space<'a> {
    /// All designs that limits and published figures allow.
    pub(crate) fn of(need: &'a Need, facts: &'a Facts) -> Space<'a> {
        let grown = need.grown();
        let of_kind = |kind| (kind, Abilities::of(&grown, kind, facts));
        let known = kinds_of_volume(need, facts).into_iter().map(of_kind).collect();
        let mut space = Space {
            need,
            known,
            kinds: kinds_of_host(need, facts),
            grown,
            facts,
            storages: Vec::new(),
            candidates: Vec::new(),
            shortfalls: Vec::new(),
        };
        let choices = choices(need, facts);
        for choice in &choices {
            let abilities = abilities(&space.known, choice.kind);
            match storage::build(&space.grown, choice, abilities, &facts.catalog) {
                // With as many pools, fewer extra volumes give the same storage.
                Ok(storage) if space.has(&storage) => {}
                // Fewer volumes than pools: another choice covers this.
                Ok(storage) if (storage.pools.len() as u64) < choice.pools => {}
                Ok(storage) => space.add(storage),
                Err(shortfall) => space.shortfalls.push(shortfall),
            }
        }
        for (kind, choices) in layout::groups(&choices) {
            let abilities = abilities(&space.known, kind);
            for storage in layout::divided(&space.grown, &choices, abilities, facts) {
                space.add(storage);
            }
        }
        space
    }

    /// Whether the same pools with the same spare are already present.
    fn has(&self, storage: &Storage) -> bool {
        let spare = storage.choice.spare;
        let mut all = self.storages.iter();
        all.any(|one| one.choice.spare == spare && one.pools == storage.pools)
    }

    /// Adds a storage with every kind of host.
    fn add(&mut self, storage: Storage) {
        let choice = storage.choice;
        let abilities = abilities(&self.known, choice.kind);
        let index = self.storages.len();
        if let Some(required) = self.need.response_time.filter(|_| self.is_too_slow(&storage)) {
            let tried = choice.tried(None);
            return self.shortfalls.push(host_search::too_slow(required, None, tried, self.facts));
        }
        if self.grown.throughput().get() == 0 {
            let design = self.design(&storage, None, abilities);
            let (kind, spare, is_settled) = (None, Share::ZERO, true);
            self.candidates.push(Candidate { design, storage: index, kind, spare, is_settled });
        } else {
            let grown = &self.grown;
            for (kind_index, kind) in self.kinds.iter().enumerate() {
                for spare in spares_of_hosts(self.need, &choice) {
                    let demand =
                        HostDemand::of(grown, &storage, kind, spare, abilities, self.facts);
                    match host_search::at_least(&demand, grown, &storage) {
                        Ok((hosts, uses)) => {
                            let (reasons, response) = (Vec::new(), None);
                            let loaded = Loaded { hosts, uses, reasons, response };
                            let design = self.design(&storage, Some(loaded), abilities);
                            self.candidates.push(Candidate {
                                design,
                                storage: index,
                                kind: Some(kind_index),
                                spare,
                                is_settled: false,
                            });
                        }
                        Err(shortfall) => self.shortfalls.push(shortfall),
                    }
                }
            }
        }
        self.storages.push(storage);
    }

    /// Whether no number of hosts gives the required response time.
    fn is_too_slow(&self, storage: &Storage) -> bool {
        let largest = self.kinds.iter().max_by_key(|kind| kind.vcpu);
        let (Some(within), Some(kind)) = (self.need.response_time, largest) else {
            return false;
        };
        let abilities = abilities(&self.known, storage.choice.kind);
        let demand = HostDemand::of(&self.grown, storage, kind, Share::ZERO, abilities, self.facts);
        let most = demand.connection_steps().into_iter().max().unwrap_or(1);
        let hosts = demand.hosts(HOSTS_ENOUGH, most);
        let (grown, pools) = (&self.grown, &storage.pools);
        grown.throughput().get() > 0
            && !response::may_be_in_time(grown, pools, &hosts, self.facts, within)
    }

    /// Checks a candidate with the model; `false` if it fails.
    fn settle(&mut self, index: usize) -> bool {
        let Candidate { storage, kind, spare, is_settled, .. } = self.candidates[index];
        let Some(kind) = kind.filter(|_| !is_settled) else { return true };
        let storage = &self.storages[storage];
        let abilities = abilities(&self.known, storage.choice.kind);
        let kind = &self.kinds[kind];
        let demand = HostDemand::of(&self.grown, storage, kind, spare, abilities, self.facts);
        match host_search::settled(&demand, &self.grown, storage, self.facts) {
            Ok(loaded) => {
                let design = self.design(storage, Some(loaded), abilities);
                let candidate = &mut self.candidates[index];
                candidate.design = design;
                candidate.is_settled = true;
                true
            }
            Err(shortfall) => {
                self.shortfalls.push(shortfall);
                false
            }
        }
    }

    /// The front of all designs.
    pub(crate) fn settled(mut self) -> Settled {
        loop {
            let front = self.pass(front::Unbeaten::default());
            let of_each = self.pass(front::CheapestOfEach::default());
            if let (Some(front), Some(of_each)) = (front, of_each) {
                let of = |kept: Vec<usize>| {
                    kept.into_iter().map(|index| self.candidates[index].design.clone()).collect()
                };
                let (front, of_each) = (of(front), of(of_each));
                let (shortfalls, known) = (self.shortfalls, self.known);
                return Settled { front, of_each, shortfalls, known };
            }
        }
    }

    /// Visits all candidates once, cheapest first, and checks those that stand out. Returns the
    /// indices to keep, or `None` if the order changed because the model added cost to one or
    /// rejected it.
    fn pass(&mut self, mut kept: impl front::Kept) -> Option<Vec<usize>> {
        let designs: Vec<&Design> = self.candidates.iter().map(|c| &c.design).collect();
        let order = kept.order(&designs);
        let (mut rejected, mut is_same) = (Vec::new(), true);
        for index in order {
            if !kept.stands_out(&self.candidates[index].design) {
                continue;
            }
            let before = front::marks(&self.candidates[index].design);
            if !self.settle(index) {
                rejected.push(index);
            } else if front::marks(&self.candidates[index].design) == before {
                kept.keep(index, &self.candidates[index].design);
            } else {
                is_same = false;
            }
        }
        let is_final = is_same && rejected.is_empty();
        // Largest index first, so that the smaller ones stay valid.
        rejected.sort_unstable();
        for index in rejected.into_iter().rev() {
            self.candidates.swap_remove(index);
        }
        is_final.then(|| kept.indices())
    }

    /// Only the cheapest design.
    pub(crate) fn cheapest(mut self) -> Option<Design> {
        let designs: Vec<&Design> = self.candidates.iter().map(|c| &c.design).collect();
        let mut best: Option<usize> = None;
        for index in front::cheapest_first(&designs) {
            // The model never reduces cost, so no later candidate is cheaper.
            let month = |index: usize| self.candidates[index].design.cost.month();
            if best.is_some_and(|best| month(best) <= month(index)) {
                break;
            }
            if self.settle(index) {
                let month = |index: usize| self.candidates[index].design.cost.month();
                best = Some(best.filter(|best| month(*best) <= month(index)).unwrap_or(index));
            }
        }
        Some(self.candidates.swap_remove(best?).design)
    }

    fn design(&self, storage: &Storage, loaded: Option<Loaded>, abilities: &Abilities) -> Design {
        let (grown, choice) = (&self.grown, storage.choice);
        let (hosts, mut uses, host_reasons, response) = match loaded {
            Some(one) => (Some(one.hosts), one.uses, one.reasons, one.response),
            None => (None, Vec::new(), Vec::new(), None),
        };
        let cost = cost::month(grown, &storage.pools, hosts.as_ref(), self.facts);
        let limits = storage.pools.iter().map(|pool| pool.limits().get()).sum();
        let quotas = storage.pools.iter().map(crate::pool::Pool::quota_gib).sum();
        let required = grown.throughput().get();
        if required > 0 {
            let (resource, kind) = (Resource::VolumeLimits, ClaimKind::DocumentedLimit);
            uses.push(Use { resource, kind, used: required, limit: limits });
        }
        let volumes = storage::volumes_of(&storage.pools, &grown.parts);
        let share = |(part, count): (usize, &u64)| {
            abilities.volumes_for_data(part) / (*count).max(1) as f64
        };
        let most_used = volumes.iter().enumerate().map(share).fold(0.0, f64::max);
        if most_used > 0.0 {
            // Volumes are assumed to add up beyond the largest published number.
            let together = match storage.volume_count() {
                1 => ClaimKind::Published,
                few if few <= published::most_published(self.facts).0 => ClaimKind::Derived,
                _ => ClaimKind::Extrapolated,
            };
            let kind = abilities.kind(|ability| ability.volume.kind).unwrap_or(together);
            let (resource, kind) = (Resource::VolumeCapability, kind.max(together));
            let limit = (required as f64 / most_used) as u64;
            uses.push(Use { resource, kind, used: required, limit });
        }
        let names = |(part, count): (usize, &u64)| {
            let (share, demand, _) = abilities.volumes_for_names(part)?;
            Some((share / (*count).max(1) as f64, demand.names_per_s))
        };
        let busiest = volumes.iter().enumerate().filter_map(names);
        if let Some((share, used)) = busiest.max_by(|a, b| a.0.total_cmp(&b.0)) {
            let kind = match storage.volume_count() {
                1 => ClaimKind::Published,
                _ => ClaimKind::Extrapolated,
            };
            let limit = (used as f64 / share.max(f64::MIN_POSITIVE)) as u64;
            uses.push(Use { resource: Resource::VolumeNames, kind, used, limit });
        }
        let inodes: u64 = grown.parts.iter().map(|part| part.inodes).sum();
        if inodes > 0 {
            let limit = self.facts.catalog.inodes_max(choice.kind);
            let limit = limit.saturating_mul(storage.volume_count());
            let kind = ClaimKind::DocumentedLimit;
            uses.push(Use { resource: Resource::Inodes, kind, used: inodes, limit });
        }
        let stored: u64 = grown.parts.iter().map(|part| part.capacity_gib).sum();
        let kind = ClaimKind::DocumentedLimit;
        uses.push(Use { resource: Resource::Capacity, kind, used: stored, limit: quotas });
        uses.push(Use {
            resource: Resource::RegionalQuota,
            kind,
            used: storage.pools.iter().map(|pool| pool.size_gib).sum(),
            limit: self.facts.catalog.limit(LimitName::RegionCapacityMax),
        });
        // Unchecked candidates are never shown, so they need no reasons.
        let mut reasons = Vec::new();
        if response.is_some() || !host_reasons.is_empty() || hosts.is_none() {
            reasons.extend(growth_reasons(self.need, grown));
            reasons.extend(storage.reasons.iter().cloned());
            reasons.extend(host_reasons);
            reasons.extend(cost.reasons.iter().cloned());
        }
        Design {
            level: choice.level,
            qos: choice.qos,
            kind: choice.kind,
            pools: storage.pools.clone(),
            sized_by: storage.sized_by,
            hosts,
            settings: Settings::default(),
            cost,
            uses,
            reasons,
            response,
            contradicted: abilities.is_contradicted(&volumes),
            notes: Vec::new(),
            trade_off: None,
        }
    }
}

/// The capabilities for volumes of kind `of`, which must be among `known`.
pub(crate) fn abilities(known: &[(VolumeKind, Abilities)], of: VolumeKind) -> &Abilities {
    let found = known.iter().find(|(kind, _)| *kind == of);
    &found.expect("choices have one of the known kinds").1
}

/// The allowed kinds of volume.
pub(crate) fn kinds_of_volume(need: &Need, facts: &Facts) -> Vec<VolumeKind> {
    match need.protocol {
        // No figure is published for datastores on other kinds.
        Protocol::Datastores => vec![VolumeKind::Regular],
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => VolumeKind::ALL
            .into_iter()
            .filter(|kind| need.previews || *kind != VolumeKind::Breakthrough)
            .filter(|kind| facts.has_volumes(&need.region, *kind))
            .collect(),
    }
}

/// The ways to build the storage.
pub(crate) fn choices(need: &Need, facts: &Facts) -> Vec<Choice> {
    let mut spares = vec![need.headroom];
    let steps = SPARE_PERCENT.map(Share::from_percent);
    spares.extend(steps.into_iter().filter(|step| *step > need.headroom));
    let more: &[u64] = match need.protocol {
        Protocol::Datastores => &MORE_DATASTORES,
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => &MORE_VOLUMES,
    };
    let mut choices = Vec::new();
    for level in ServiceLevel::ALL.into_iter().filter(|level| need.levels.contains(level)) {
        for qos in facts.catalog.level(level).qos.iter().copied() {
            for kind in kinds_of_volume(need, facts) {
                // Without a rate per GiB, each pool has a baseline free of charge.
                let pools_max = match facts.catalog.level(level).throughput {
                    Some(_) => 1,
                    None => need.pools_max,
                };
                for &more_volumes in more {
                    for &spare in &spares {
                        choices.extend((1..=pools_max).map(|pools| Choice {
                            level,
                            qos,
                            kind,
                            more_volumes,
                            pools,
                            spare,
                        }));
                    }
                }
            }
        }
    }
    choices
}

/// Shares of the hosts to keep unused: that of the storage and, with a required response time, also
/// the smallest allowed one, to which the model adds as many hosts as needed.
fn spares_of_hosts(need: &Need, choice: &Choice) -> Vec<Share> {
    let mut spares = vec![choice.spare];
    if need.response_time.is_some() && choice.spare > need.headroom {
        spares.push(need.headroom);
    }
    spares
}

/// Kinds of host: the chosen one, otherwise all, but if hosts are charged only those with a price in
/// the region, if there are any.
fn kinds_of_host(need: &Need, facts: &Facts) -> Vec<HostKind> {
    if let Some(name) = &need.vm {
        return host_kind::named(name, need.protocol, facts).into_iter().collect();
    }
    let all = host_kind::all(need.protocol, facts);
    let is_priced = |kind: &HostKind| facts.prices.vm(&kind.name, &need.region).is_some();
    match need.charges.hosts && all.iter().any(is_priced) {
        true => all.into_iter().filter(is_priced).collect(),
        false => all,
    }
}

fn growth_reasons(need: &Need, grown: &Need) -> Vec<Claim> {
    let of = |(part, after): (&Part, &Part)| Statement::Growth {
        growth: need.growth,
        throughput: (part.throughput(), after.throughput()),
        capacity_gib: (part.capacity_gib, after.capacity_gib),
    };
    let parts = need.parts.iter().zip(&grown.parts).filter(|_| need.growth > Share::ZERO);
    parts.map(|pair| Claim::derived(of(pair), [])).collect()
}
