//! What volumes, endpoints, connections and processors were measured to do with a demand, as the
//! model of `predict` has it from published figures; as against the limits that are bought.
//!
//! A limit says what the service lets through, a capability what it was seen to reach: a regular
//! volume may be given 4,500 MiB/s and was seen to write between 1,500 and 2,500.

use cloud::reason::Reason;
use cloud::service_level::VolumeKind;
use predict::topology::{HostGroup, Load, Topology, VolumeGroup, Workload};
use predict::{Group, Interval, Parameters, ResourceKind, curve};

use crate::need::{Demand, Need, Part, Protocol};

/// Bytes in a KiB.
const KIB: f64 = 1024.0;

/// What one of each was measured to do with a demand, in KiB/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Ability {
    /// One volume.
    pub volume: Interval,
    /// One endpoint of regular volumes; `None` for volumes with endpoints of their own.
    pub endpoint: Option<Interval>,
    /// One connection.
    pub connection: Interval,
    /// One processor of a host, or one whole host of Azure VMware Solution.
    pub host: Interval,
    /// The figures that these come from.
    pub reasons: Vec<Reason>,
}

impl Ability {
    /// What figures say of a demand at volumes of a kind that are reached in a way; `None` for a
    /// demand of nothing.
    pub fn of(
        demand: &Demand,
        kind: VolumeKind,
        attached: Protocol,
        parameters: &Parameters,
    ) -> Option<Ability> {
        if demand.throughput.get() == 0 {
            return None;
        }
        let host = host_group(attached, 1, 1, 1);
        let topology = Topology {
            name: "one of each".to_owned(),
            floor: None,
            burst_s: 0.0,
            hosts: vec![host],
            endpoints: Vec::new(),
            volumes: vec![VolumeGroup::of("volume", 1, kind)],
            workloads: vec![workload(demand, vec![0], Load::Closed { outstanding: 1 })],
        };
        let curve = curve(&topology, parameters).ok()?;
        let least = |kinds: &[ResourceKind], each: bool| {
            let mut of_kind = curve.bounds.iter().filter(|b| kinds.contains(&b.resource.kind));
            of_kind.next().map(|bound| {
                let count = if each { bound.count.max(1) as f64 } else { 1.0 };
                bound.bytes_per_s.times(1.0 / KIB / count)
            })
        };
        let unbounded = Interval::exactly(f64::INFINITY);
        use ResourceKind::{VolumeRandom, VolumeReads, VolumeWrites};
        let volume = least(&[VolumeRandom, VolumeReads, VolumeWrites], false);
        let endpoints = [ResourceKind::EndpointOps, ResourceKind::EndpointThroughput];
        let group = match kind {
            VolumeKind::Regular => Group::Regular,
            VolumeKind::Large | VolumeKind::Breakthrough => Group::Large,
        };
        let groups = match attached {
            Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => {
                [group, Group::LinuxFlow, Group::LinuxHost]
            }
            Protocol::Datastores => [group, Group::EsxiFlow, Group::EsxiHost],
        };
        Some(Ability {
            volume: volume.unwrap_or(unbounded),
            endpoint: least(&endpoints, true),
            connection: least(&[ResourceKind::Flow], true).unwrap_or(unbounded),
            host: least(&[ResourceKind::HostProcessing], true).unwrap_or(unbounded),
            reasons: groups.iter().filter_map(|g| parameters.reason(*g).cloned()).collect(),
        })
    }
}

/// Hosts that reach volumes in a way, as the model has them.
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
        read: demand.read_permille as f64 / 1000.0,
        access: demand.access,
        load,
    }
}

/// The abilities for every demand of a need, at volumes of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Abilities {
    /// Of each part: its demands with what is known of them.
    parts: Vec<Vec<(Demand, Ability)>>,
}

impl Abilities {
    /// Asks the model once for each demand.
    pub fn of(need: &Need, kind: VolumeKind, parameters: &Parameters) -> Abilities {
        let of_demand = |demand: &Demand| {
            Some((*demand, Ability::of(demand, kind, need.protocol, parameters)?))
        };
        let of_part = |part: &Part| part.demands.iter().filter_map(of_demand).collect();
        Abilities { parts: need.parts.iter().map(of_part).collect() }
    }

    /// What share of one thing the part at `place` needs: the largest of its demands over what
    /// `one` says that the thing does. 3.2 means that four are needed.
    pub fn share_of(&self, place: usize, one: impl Fn(&Ability) -> f64) -> f64 {
        let of = |(demand, ability): &(Demand, Ability)| {
            demand.throughput.get() as f64 / one(ability).max(f64::MIN_POSITIVE)
        };
        self.parts.get(place).map_or(0.0, |part| part.iter().map(of).fold(0.0, f64::max))
    }

    /// The same for all parts, which are in use at the same time.
    pub fn share(&self, one: impl Fn(&Ability) -> f64 + Copy) -> f64 {
        (0..self.parts.len()).map(|place| self.share_of(place, one)).sum()
    }

    /// The demand of a part that needs the largest share of a volume, with what is known of it.
    pub fn hardest(&self, place: usize) -> Option<&(Demand, Ability)> {
        let share = |(demand, ability): &&(Demand, Ability)| {
            demand.throughput.get() as f64 / ability.volume.value
        };
        self.parts.get(place)?.iter().max_by(|a, b| share(a).total_cmp(&share(b)))
    }

    /// The figures behind all of it.
    pub fn reasons(&self) -> Vec<Reason> {
        let mut reasons: Vec<Reason> = Vec::new();
        for (_, ability) in self.parts.iter().flatten() {
            for reason in &ability.reasons {
                if !reasons.contains(reason) {
                    reasons.push(reason.clone());
                }
            }
        }
        reasons
    }
}
