//! Every design that is looked at, and the few of them that are held against the model.
//!
//! Each begins with what limits and measured abilities alone allow, which costs next to nothing.
//! The model can only ask for more: for more connections or hosts, never for fewer. So a design
//! that another beats, which the model has confirmed, stays beaten, and only those that stand in
//! the front need to be held against the model, again and again until all that stand there have
//! been. What is left begins with the cheapest of all designs, exactly; of the others one may be
//! missing that gets more spare throughput only by the hosts that the model adds to it.

use cloud::row::LimitName;
use cloud::service_level::{ServiceLevel, VolumeKind};
use units::{percent, thousands};

use crate::asked::Asked;
use crate::capability::Abilities;
use crate::claim::{Claim, ClaimKind};
use crate::client::Settings;
use crate::cost;
use crate::design::{Design, Resource, Use};
use crate::facts::Facts;
use crate::front;
use crate::host_kind::{self, HostKind};
use crate::hosts::{self, Loaded};
use crate::layout;
use crate::need::{Need, Protocol};
use crate::published;
use crate::response;
use crate::shortfall::Shortfall;
use crate::storage::{self, Choice, Storage};

/// Shares of the throughput that are bought and left unused, beside the headroom that is asked
/// for: what shorter queues cost.
const SPARE_STEPS: [u64; 6] = [0, 100, 200, 300, 400, 500];
/// Volumes of each part beyond the fewest: they spread load and cost nothing until sizes are at
/// their least.
const MORE_VOLUMES: [u64; 4] = [0, 1, 2, 3];
/// As many for datastores, each of which is a further connection of every host.
const MORE_DATASTORES: [u64; 12] = [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 13, 15];

/// As many as any load needs.
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

/// A design with where it comes from.
struct Candidate {
    design: Design,
    storage: usize,
    kind: Option<usize>,
    /// What of the hosts stays unused, in thousandths.
    spare: u64,
    is_settled: bool,
}

/// What is left.
pub(crate) struct Settled {
    /// Those that no other beats, the cheapest first.
    pub(crate) front: Vec<Design>,
    /// The cheapest of each level and kind of volume.
    pub(crate) of_each: Vec<Design>,
    /// Why others are none.
    pub(crate) shortfalls: Vec<Shortfall>,
    /// What figures say of the need, by kind of volume.
    pub(crate) known: Vec<(VolumeKind, Abilities)>,
}

impl<'a> Space<'a> {
    /// Every design that limits and measured abilities allow.
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
                // Fewer volumes more come to the same where there are as many pools.
                Ok(storage) if space.has(&storage) => {}
                // There are no more pools than volumes, and that is another choice.
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

    /// Whether there is a storage with the same pools and the same spare already.
    fn has(&self, storage: &Storage) -> bool {
        let spare = storage.choice.spare_permille;
        let mut all = self.storages.iter();
        all.any(|one| one.choice.spare_permille == spare && one.pools == storage.pools)
    }

    /// Adds a storage with every kind of host.
    fn add(&mut self, storage: Storage) {
        let choice = storage.choice;
        let abilities = abilities(&self.known, choice.kind);
        let place = self.storages.len();
        if let Some(wanted) = self.need.response_time_ns.filter(|_| self.is_too_slow(&storage)) {
            let tried = storage.choice.name();
            return self.shortfalls.push(hosts::too_slow(wanted, None, tried, self.facts));
        }
        if self.grown.throughput().get() == 0 {
            let design = self.design(&storage, None, abilities);
            let (kind, spare, is_settled) = (None, 0, true);
            self.candidates.push(Candidate { design, storage: place, kind, spare, is_settled });
        } else {
            let grown = &self.grown;
            for (index, kind) in self.kinds.iter().enumerate() {
                for spare in spares_of_hosts(self.need, &choice) {
                    let asked = Asked::of(grown, &storage, kind, spare, abilities, self.facts);
                    match hosts::at_least(&asked, grown, &storage) {
                        Ok((hosts, uses)) => {
                            let (reasons, response) = (Vec::new(), None);
                            let loaded = Loaded { hosts, uses, reasons, response };
                            let design = self.design(&storage, Some(loaded), abilities);
                            self.candidates.push(Candidate {
                                design,
                                storage: place,
                                kind: Some(index),
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

    /// Whether no hosts at all bring a storage to the wanted response time.
    fn is_too_slow(&self, storage: &Storage) -> bool {
        let largest = self.kinds.iter().max_by_key(|kind| kind.vcpu);
        let (Some(within_ns), Some(kind)) = (self.need.response_time_ns, largest) else {
            return false;
        };
        let abilities = abilities(&self.known, storage.choice.kind);
        let asked = Asked::of(&self.grown, storage, kind, 0, abilities, self.facts);
        let most = asked.connection_steps().into_iter().max().unwrap_or(1);
        let hosts = asked.hosts(HOSTS_ENOUGH, most);
        let (grown, pools) = (&self.grown, &storage.pools);
        grown.throughput().get() > 0
            && !response::may_be_in_time(grown, pools, &hosts, self.facts, within_ns)
    }

    /// Holds a candidate against the model; `false` where it is none.
    fn settle(&mut self, place: usize) -> bool {
        let Candidate { storage, kind, spare, is_settled, .. } = self.candidates[place];
        let Some(kind) = kind.filter(|_| !is_settled) else { return true };
        let storage = &self.storages[storage];
        let abilities = abilities(&self.known, storage.choice.kind);
        let kind = &self.kinds[kind];
        let asked = Asked::of(&self.grown, storage, kind, spare, abilities, self.facts);
        match hosts::settled(&asked, &self.grown, storage, self.facts) {
            Ok(loaded) => {
                let design = self.design(storage, Some(loaded), abilities);
                let candidate = &mut self.candidates[place];
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
                let of = |places: Vec<usize>| {
                    places.into_iter().map(|place| self.candidates[place].design.clone()).collect()
                };
                let (front, of_each) = (of(front), of(of_each));
                let (shortfalls, known) = (self.shortfalls, self.known);
                return Settled { front, of_each, shortfalls, known };
            }
        }
    }

    /// Goes through all designs once, the cheapest first, and holds those that stand out against
    /// the model; `None` where it made one dearer, so that another order may be the right one.
    fn pass(&mut self, mut kept: impl front::Kept) -> Option<Vec<usize>> {
        let designs: Vec<&Design> = self.candidates.iter().map(|c| &c.design).collect();
        let order = kept.order(&designs);
        let (mut none, mut is_same) = (Vec::new(), true);
        for place in order {
            if !kept.stands_out(&self.candidates[place].design) {
                continue;
            }
            let before = front::marks(&self.candidates[place].design);
            if !self.settle(place) {
                none.push(place);
            } else if front::marks(&self.candidates[place].design) == before {
                kept.keep(place, &self.candidates[place].design);
            } else {
                is_same = false;
            }
        }
        // From behind, so that places stay what they are; those that are kept are told anew.
        let is_whole = is_same && none.is_empty();
        none.sort_unstable();
        for place in none.into_iter().rev() {
            self.candidates.swap_remove(place);
        }
        is_whole.then(|| kept.places())
    }

    /// The cheapest design alone.
    pub(crate) fn cheapest(mut self) -> Option<Design> {
        let designs: Vec<&Design> = self.candidates.iter().map(|c| &c.design).collect();
        let mut best: Option<usize> = None;
        for place in front::cheapest_first(&designs) {
            // The model makes nothing cheaper, so what follows is not.
            let month = |place: usize| self.candidates[place].design.cost.month();
            if best.is_some_and(|best| month(best) <= month(place)) {
                break;
            }
            if self.settle(place) {
                let month = |place: usize| self.candidates[place].design.cost.month();
                best = Some(best.filter(|best| month(*best) <= month(place)).unwrap_or(place));
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
        let quotas = storage.pools.iter().map(crate::design::Pool::quota_gib).sum();
        let wanted = grown.throughput().get();
        if wanted > 0 {
            let (resource, kind) = (Resource::VolumeLimits, ClaimKind::DocumentedLimit);
            uses.push(Use { resource, kind, used: wanted, limit: limits });
        }
        let volumes = storage::volumes_of(&storage.pools, &grown.parts);
        let share = |(place, count): (usize, &u64)| {
            abilities.share_of(place, |ability| ability.volume.kib_s) / (*count).max(1) as f64
        };
        let most_used = volumes.iter().enumerate().map(share).fold(0.0, f64::max);
        if most_used > 0.0 {
            // More volumes than any figure was published of are taken to add up all the same.
            let together = match storage.volume_count() {
                1 => ClaimKind::Published,
                few if few <= published::most_published(self.facts).0 => ClaimKind::Derived,
                _ => ClaimKind::Extrapolated,
            };
            let kind = abilities.kind(|ability| ability.volume.kind).unwrap_or(together);
            let (resource, kind) = (Resource::VolumeCapability, kind.max(together));
            let limit = (wanted as f64 / most_used) as u64;
            uses.push(Use { resource, kind, used: wanted, limit });
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
        // Of the many that are only looked at nobody asks why.
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
            decides: storage.decides,
            hosts,
            settings: Settings::default(),
            cost,
            uses,
            reasons,
            response,
            contradicted: abilities.is_contradicted(&volumes),
            notes: Vec::new(),
            cheaper: String::new(),
        }
    }
}

/// Of these kinds the one that is wanted, which is among them.
pub(crate) fn abilities(known: &[(VolumeKind, Abilities)], wanted: VolumeKind) -> &Abilities {
    let found = known.iter().find(|(kind, _)| *kind == wanted);
    &found.expect("choices are made of the kinds that are known").1
}

/// The kinds of volume that may be used.
fn kinds_of_volume(need: &Need, facts: &Facts) -> Vec<VolumeKind> {
    match need.protocol {
        // Of datastores on other kinds nothing is published.
        Protocol::Datastores => vec![VolumeKind::Regular],
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => VolumeKind::ALL
            .into_iter()
            .filter(|kind| need.previews || *kind != VolumeKind::Breakthrough)
            .filter(|kind| facts.has_volumes(&need.region, *kind))
            .collect(),
    }
}

/// The ways to build the storage.
fn choices(need: &Need, facts: &Facts) -> Vec<Choice> {
    let mut spares = vec![need.headroom_permille];
    spares.extend(SPARE_STEPS.into_iter().filter(|step| *step > need.headroom_permille));
    let more: &[u64] = match need.protocol {
        Protocol::Datastores => &MORE_DATASTORES,
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => &MORE_VOLUMES,
    };
    let mut choices = Vec::new();
    for level in ServiceLevel::ALL.into_iter().filter(|level| need.levels.contains(level)) {
        for qos in facts.catalog.level(level).qos.iter().copied() {
            for kind in kinds_of_volume(need, facts) {
                // Each pool of such a level has a baseline that is not paid for.
                let pools_max = match facts.catalog.level(level).throughput {
                    Some(_) => 1,
                    None => need.pools_max,
                };
                for &more_volumes in more {
                    for &spare_permille in &spares {
                        choices.extend((1..=pools_max).map(|pools| Choice {
                            level,
                            qos,
                            kind,
                            more_volumes,
                            pools,
                            spare_permille,
                        }));
                    }
                }
            }
        }
    }
    choices
}

/// What of the hosts stays unused: as much as of the storage; and where a response time is wanted,
/// as little as may be too, for as many hosts more as it takes are found by the model.
fn spares_of_hosts(need: &Need, choice: &Choice) -> Vec<u64> {
    let mut spares = vec![choice.spare_permille];
    if need.response_time_ns.is_some() && choice.spare_permille > need.headroom_permille {
        spares.push(need.headroom_permille);
    }
    spares
}

/// Kinds of host: the given one, or all that have a price in the region, or all.
fn kinds_of_host(need: &Need, facts: &Facts) -> Vec<HostKind> {
    if let Some(name) = &need.vm {
        return host_kind::named(name, need.protocol, facts).into_iter().collect();
    }
    let all = host_kind::all(need.protocol, facts);
    let is_priced = |kind: &HostKind| facts.prices.vm(&kind.name, &need.region).is_some();
    match all.iter().any(is_priced) {
        true => all.into_iter().filter(is_priced).collect(),
        false => all,
    }
}

fn growth_reasons(need: &Need, grown: &Need) -> Vec<Claim> {
    if need.growth_permille == 0 {
        return Vec::new();
    }
    let (growth, mut said) = (percent(need.growth_permille), Vec::new());
    for (part, after) in need.parts.iter().zip(&grown.parts) {
        let text = format!(
            "{growth} of growth: {} become {}, {} GiB become {} GiB",
            part.throughput(),
            after.throughput(),
            thousands(part.capacity_gib),
            thousands(after.capacity_gib)
        );
        said.push(Claim::derived(text, []));
    }
    said
}
