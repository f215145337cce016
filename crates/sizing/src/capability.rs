//! Throughput of volumes, endpoints, connections and hosts for a demand, by published figures.
//!
//! A limit is what the service allows, a capability is what was measured: a regular volume may have
//! a limit of 4,500 MiB/s and read 3,600. Volumes and hosts follow their newest figure
//! ([`crate::published`]), connections and endpoints the model of `predict`.

use std::cell::RefCell;

use cloud::figure::Access;
use cloud::reason::RowRef;
use cloud::service_level::VolumeKind;
use cloud::throughput::KibPerSec;
use predict::topology::{HostGroup, Load, Topology, VolumeGroup, Workload};
use predict::{Group, Interval, Parameters, Reason, ResourceKind, curve};
use units::{OpsPerSec, Share};

use crate::claim::{Claim, ClaimKind};
use crate::facts::Facts;
use crate::need::{Demand, Need, Part, Protocol};
use crate::published::{self, Capability};
use crate::statement::Contradiction;

/// Bytes in a KiB.
const KIB: f64 = 1024.0;

/// The throughput of one of each for a demand.
#[derive(Clone, Debug, PartialEq)]
pub struct Ability {
    /// One volume.
    pub volume: Capability,
    /// One endpoint of regular volumes, in KiB/s; `None` for volumes with separate endpoints.
    pub endpoint: Option<Interval>,
    /// One connection, in KiB/s.
    pub connection: Interval,
    /// One host by its number of processors; any host of Azure VMware Solution has 0.
    pub hosts: Vec<(u64, Capability)>,
    /// Its operations on names; `None` without any.
    pub names: Option<Box<NameAbility>>,
    /// The calibration of the model.
    pub reasons: Vec<Reason>,
}

/// What carries the operations on names of a demand.
#[derive(Clone, Debug, PartialEq)]
pub struct NameAbility {
    /// Hosts, connections and endpoints: a call without data costs at most as much as a small read.
    calls: (KibPerSec, Ability),
    /// The largest published rate of one volume with its figure; `None` if none is published.
    pub volume: Option<(OpsPerSec, RowRef)>,
}

/// The small read that an operation on names counts as, except at volumes.
const CALL_KIB: u64 = 4;

impl Ability {
    /// Capabilities for a demand with a kind of volume and a protocol; `None` without throughput.
    pub fn of(
        demand: &Demand,
        kind: VolumeKind,
        attached: Protocol,
        facts: &Facts,
    ) -> Option<Ability> {
        Ability::with(demand, kind, &Models::new(attached, &facts.parameters), facts)
    }

    fn with(
        demand: &Demand,
        kind: VolumeKind,
        models: &Models<'_>,
        facts: &Facts,
    ) -> Option<Ability> {
        if demand.throughput.get() == 0 {
            return None;
        }
        let own = models.of(demand, kind)?;
        let by_model = |kib_s| Capability::of_model(kib_s, ClaimKind::Derived);
        let attached = models.attached;
        let model = |demand: &Demand, kind| Some(models.of(demand, kind)?.volume);
        let by_figure = |demand: &Demand, kind| published::volume(demand, kind, facts, &model);
        let group = match kind {
            VolumeKind::Regular => Group::Regular,
            VolumeKind::Large | VolumeKind::Breakthrough => Group::Large,
        };
        let (volume, hosts, groups) = match attached {
            Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => {
                let processor = |demand: &Demand| Some(models.of(demand, kind)?.host);
                let one_volume =
                    |demand: &Demand| Some(by_figure(demand, VolumeKind::Regular)?.least_kib_s());
                let is_smb = attached == Protocol::Smb;
                let mut counts: Vec<u64> = facts.vms.iter().map(|vm| vm.vcpu.max(1)).collect();
                counts.sort_unstable();
                counts.dedup();
                let host = |count: u64| {
                    let found =
                        published::host(demand, count, is_smb, facts, &processor, &one_volume);
                    let or = || by_model(own.host * count as f64);
                    (count, found.unwrap_or_else(or))
                };
                let hosts = counts.into_iter().map(host).collect();
                let volume = by_figure(demand, kind).unwrap_or_else(|| by_model(own.volume));
                (volume, hosts, [group, Group::LinuxFlow, Group::LinuxHost])
            }
            Protocol::Datastores => {
                let hosts = vec![(0, by_model(own.host))];
                (by_model(own.volume), hosts, [group, Group::EsxiFlow, Group::EsxiHost])
            }
        };
        Some(Ability {
            volume,
            endpoint: own.endpoint,
            connection: own.connection,
            hosts,
            names: NameAbility::of(demand, kind, models, facts).map(Box::new),
            reasons: groups.iter().filter_map(|g| facts.parameters.reason(*g).cloned()).collect(),
        })
    }

    /// The capability of one host with this number of processors, or of any host of Azure VMware
    /// Solution.
    pub fn host(&self, processors: u64) -> &Capability {
        let found = self.hosts.iter().find(|(count, _)| *count == processors);
        &found.or(self.hosts.first()).expect("there are hosts").1
    }
}

impl NameAbility {
    fn of(
        demand: &Demand,
        kind: VolumeKind,
        models: &Models<'_>,
        facts: &Facts,
    ) -> Option<NameAbility> {
        if demand.names_per_s == 0 {
            return None;
        }
        let throughput = KibPerSec::new(demand.names_per_s.saturating_mul(CALL_KIB));
        let reads = Demand {
            throughput,
            transfer_bytes: CALL_KIB << 10,
            read: Share::WHOLE,
            access: Access::Random,
            names_per_s: 0,
        };
        let calls = (throughput, Ability::with(&reads, kind, models, facts)?);
        Some(NameAbility { calls, volume: facts.name_rate(kind) })
    }
}

/// The model's prediction for one of each, in KiB/s.
#[derive(Clone, Copy, Debug)]
struct Prediction {
    volume: f64,
    endpoint: Option<Interval>,
    connection: Interval,
    /// One processor, or one whole host of Azure VMware Solution.
    host: f64,
}

/// Predictions of the model, each computed once.
struct Models<'a> {
    attached: Protocol,
    parameters: &'a Parameters,
    known: RefCell<Vec<(Demand, VolumeKind, Prediction)>>,
}

impl Models<'_> {
    fn new(attached: Protocol, parameters: &Parameters) -> Models<'_> {
        Models { attached, parameters, known: RefCell::default() }
    }

    fn of(&self, demand: &Demand, kind: VolumeKind) -> Option<Prediction> {
        // Capabilities do not depend on the required throughput.
        let demand = Demand { throughput: KibPerSec::new(1), names_per_s: 0, ..*demand };
        let same = |one: &&(Demand, VolumeKind, Prediction)| one.0 == demand && one.1 == kind;
        if let Some((_, _, found)) = self.known.borrow().iter().find(same) {
            return Some(*found);
        }
        let found = self.predict(&demand, kind)?;
        self.known.borrow_mut().push((demand, kind, found));
        Some(found)
    }

    fn predict(&self, demand: &Demand, kind: VolumeKind) -> Option<Prediction> {
        let topology = Topology {
            name: "one of each".to_owned(),
            floor: None,
            burst_s: 0.0,
            hosts: vec![host_group(self.attached, 1, 1, 1)],
            endpoints: Vec::new(),
            volumes: vec![VolumeGroup::of("volume", 1, kind)],
            workloads: vec![workload(demand, vec![0], Load::Closed { outstanding: 1 })],
        };
        let curve = curve(&topology, self.parameters).ok()?;
        let least = |kinds: &[ResourceKind], each: bool| {
            let mut of_kind = curve.bounds.iter().filter(|b| kinds.contains(&b.resource.kind));
            of_kind.next().map(|bound| {
                let count = if each { bound.count.max(1) as f64 } else { 1.0 };
                bound.bytes_per_s.times(1.0 / KIB / count)
            })
        };
        let unbounded = Interval::exactly(f64::INFINITY);
        use ResourceKind::{VolumeRandom, VolumeReads, VolumeWrites};
        let endpoints = [ResourceKind::EndpointOps, ResourceKind::EndpointThroughput];
        let volume = least(&[VolumeRandom, VolumeReads, VolumeWrites], false);
        let host = least(&[ResourceKind::HostProcessing], true);
        Some(Prediction {
            volume: volume.unwrap_or(unbounded).value,
            endpoint: least(&endpoints, true),
            connection: least(&[ResourceKind::Flow], true).unwrap_or(unbounded),
            host: host.unwrap_or(unbounded).value,
        })
    }
}

/// Hosts as a group of the model.
pub(crate) fn host_group(attached: Protocol, count: u64, nconnect: u64, vcpu: u64) -> HostGroup {
    match attached {
        Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => {
            let mut host = HostGroup::linux("host", count, nconnect);
            host.vcpu = Some(vcpu);
            host
        }
        Protocol::Datastores => HostGroup::esxi("host", count, None),
    }
}

/// A demand as a workload of the model.
pub(crate) fn workload(demand: &Demand, volumes: Vec<usize>, load: Load) -> Workload {
    Workload {
        name: "demand".to_owned(),
        hosts: 0,
        volumes,
        transfer_bytes: demand.transfer_bytes,
        read: demand.read.fraction(),
        access: demand.access,
        load,
        names: None,
    }
}

/// The capabilities for all demands of a need with one kind of volume.
#[derive(Clone, Debug, PartialEq)]
pub struct Abilities {
    /// Of each part its demands with their capabilities.
    parts: Vec<Vec<(Demand, Ability)>>,
}

impl Abilities {
    /// Evaluates each demand.
    pub fn of(need: &Need, kind: VolumeKind, facts: &Facts) -> Abilities {
        let models = Models::new(need.protocol, &facts.parameters);
        let of_demand =
            |demand: &Demand| Some((*demand, Ability::with(demand, kind, &models, facts)?));
        let of_part = |part: &Part| part.demands.iter().filter_map(of_demand).collect();
        Abilities { parts: need.parts.iter().map(of_part).collect() }
    }

    /// How many of something a part needs: its largest demand divided by the capability of `one`.
    /// 3.2 means that four are needed.
    pub fn share_of(&self, part: usize, one: impl Fn(&Ability) -> f64) -> f64 {
        let share = |throughput: KibPerSec, ability: &Ability| {
            throughput.get() as f64 / one(ability).max(f64::MIN_POSITIVE)
        };
        let of = |(demand, ability): &(Demand, Ability)| {
            let names = ability.names.as_ref().map_or(0.0, |names| {
                let (throughput, calls) = &names.calls;
                share(*throughput, calls)
            });
            share(demand.throughput, ability) + names
        };
        self.parts.get(part).map_or(0.0, |part| part.iter().map(of).fold(0.0, f64::max))
    }

    /// How many volumes a part needs for its reads and writes.
    pub fn volumes_for_data(&self, part: usize) -> f64 {
        let of = |(demand, ability): &(Demand, Ability)| {
            demand.throughput.get() as f64 / ability.volume.kib_s.max(f64::MIN_POSITIVE)
        };
        self.parts.get(part).map_or(0.0, |part| part.iter().map(of).fold(0.0, f64::max))
    }

    /// The demand of a part that needs most volumes for its operations on names, with that number
    /// and the published rate of one; `None` if no rate is published.
    pub fn volumes_for_names(&self, part: usize) -> Option<(f64, &Demand, &(OpsPerSec, RowRef))> {
        let of = |(demand, ability): &'_ (Demand, Ability)| -> Option<f64> {
            let (rate, _) = ability.names.as_ref()?.volume.as_ref()?;
            Some(demand.names_per_s as f64 / rate.get().max(f64::MIN_POSITIVE))
        };
        let demands = self.parts.get(part)?.iter();
        let most = demands.filter_map(|one| Some((of(one)?, one)));
        let (share, (demand, ability)) = most.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some((share, demand, ability.names.as_ref()?.volume.as_ref()?))
    }

    /// How many volumes a part needs. Figures of operations on names were measured together with
    /// reads and writes, so the larger of both numbers counts.
    pub fn volumes_for(&self, part: usize) -> f64 {
        let names = self.volumes_for_names(part).map_or(0.0, |(share, ..)| share);
        self.volumes_for_data(part).max(names)
    }

    /// The same for all parts, which are in use at the same time.
    pub fn share(&self, one: impl Fn(&Ability) -> f64 + Copy) -> f64 {
        (0..self.parts.len()).map(|part| self.share_of(part, one)).sum()
    }

    /// The demand of a part that needs the largest share of a volume, with its capabilities.
    pub fn hardest(&self, part: usize) -> Option<&(Demand, Ability)> {
        let share = |(demand, ability): &&(Demand, Ability)| {
            demand.throughput.get() as f64 / ability.volume.kib_s
        };
        self.parts.get(part)?.iter().max_by(|a, b| share(a).total_cmp(&share(b)))
    }

    /// The weakest evidence of a capability over all demands.
    pub fn kind(&self, one: impl Fn(&Ability) -> ClaimKind) -> Option<ClaimKind> {
        self.parts.iter().flatten().map(|(_, ability)| one(ability)).max()
    }

    /// The figures that decide a capability, over all demands.
    pub(crate) fn rows(&self, one: impl Fn(&Ability) -> &Capability) -> Vec<RowRef> {
        let mut rows: Vec<RowRef> = Vec::new();
        for row in self.parts.iter().flatten().flat_map(|(_, ability)| &one(ability).by) {
            if !rows.contains(row) {
                rows.push(row.clone());
            }
        }
        rows
    }

    /// Whether some figure says that the volumes do less than required.
    ///
    /// * `volumes` - number of volumes of each part
    pub fn is_contradicted(&self, volumes: &[u64]) -> bool {
        self.parts.iter().zip(volumes).any(|(part, count)| {
            part.iter().any(|(demand, ability)| {
                let least = ability.volume.least_kib_s() * *count as f64;
                demand.throughput.get() as f64 > least
            })
        })
    }

    /// The contradictions that would change the number of volumes of a part, each with whether the
    /// volumes would be too few.
    ///
    /// * `volumes` - number of volumes of each part
    pub fn contradicted(&self, volumes: &[u64]) -> Vec<(Contradiction, bool)> {
        let mut all: Vec<(Contradiction, bool)> = Vec::new();
        for (index, part) in self.parts.iter().enumerate() {
            let count = volumes.get(index).copied().unwrap_or(1).max(1);
            for (demand, ability) in part {
                let share = demand.throughput.get() as f64 / ability.volume.kib_s;
                for one in &ability.volume.contradictions {
                    let other = share / one.factor();
                    let is_short = other.ceil() as u64 > count;
                    let matters = is_short || other.ceil() < share.ceil();
                    if matters && !all.iter().any(|(seen, _)| seen == one) {
                        all.push((one.clone(), is_short));
                    }
                }
            }
        }
        all
    }

    /// The calibration behind the model's values.
    pub fn reasons(&self) -> Vec<Claim> {
        let mut claims: Vec<Claim> = Vec::new();
        for (_, ability) in self.parts.iter().flatten() {
            for reason in &ability.reasons {
                let claim = Claim::derived(reason.statement.clone(), reason.rows.clone());
                if !claims.contains(&claim) {
                    claims.push(claim);
                }
            }
        }
        claims
    }
}
