//! The response time of a design at the throughput that is wanted, by the model of `predict`, and
//! with it what is outstanding.
//!
//! A closed load with the fewest operations outstanding that reaches the throughput: more of them
//! only wait for each other. Their number over the rate is the response time (Little's law). Slots
//! do not bound it: how many are needed is what it is asked for.

use cloud::service_level::VolumeKind;
use predict::topology::{EndpointGroup, HostGroup, Load, Topology, VolumeGroup};
use predict::{Parameters, at};

use crate::capability::{host_group, workload};
use crate::design::{Pool, Volumes};
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Demand, Need, Part};

/// A rate this much below what is wanted counts as reached, as in `tune`.
pub const REACHED: f64 = 0.97;
/// More operations than any design's connections have slots for.
const OUTSTANDING_MAX: f64 = 1e8;
/// Outstanding operations are found to within this share.
const RESOLUTION: f64 = 0.001;
/// Slots of a connection where they are not to bound.
const SLOTS_UNBOUNDED: u64 = 1 << 32;
/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// What a need comes to on a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The longest mean response time of its demands, in nanoseconds.
    pub mean_ns: f64,
    /// Operations outstanding over all hosts: of each part the most, of all parts together.
    pub outstanding: f64,
    /// The same in calls: an operation that is larger than rsize or wsize is several.
    pub requests: f64,
}

impl Response {
    /// Calls that wait at once, each a slot.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub fn whole_requests(&self) -> u64 {
        self.requests.ceil() as u64
    }
}

/// What the need comes to; `None` where the model says that some demand is not reached, or where
/// there is nothing to say. Each part is modelled alone.
///
/// * `need` - without growth to come
pub fn of(need: &Need, pools: &[Pool], hosts: &Hosts, facts: &Facts) -> Option<Response> {
    let mut whole: Option<Response> = None;
    for part in &need.parts {
        let of_part = of_part(part, pools, hosts, facts)?;
        whole = match (whole, of_part) {
            (Some(one), Some(other)) => Some(Response {
                mean_ns: one.mean_ns.max(other.mean_ns),
                outstanding: one.outstanding + other.outstanding,
                requests: one.requests + other.requests,
            }),
            (one, other) => one.or(other),
        };
    }
    whole
}

/// `None`: a demand is not reached; `Some(None)`: nothing is moved.
fn of_part(part: &Part, pools: &[Pool], hosts: &Hosts, facts: &Facts) -> Option<Option<Response>> {
    let mut most: Option<Response> = None;
    for demand in part.demands.iter().filter(|demand| demand.throughput.get() > 0) {
        let topology = topology(demand, hosts, &volumes_of(part, pools), facts);
        let one = of_demand(demand, &topology, &facts.parameters)?;
        most = Some(match most {
            Some(other) => Response {
                mean_ns: one.mean_ns.max(other.mean_ns),
                outstanding: one.outstanding.max(other.outstanding),
                requests: one.requests.max(other.requests),
            },
            None => one,
        });
    }
    Some(most)
}

/// Whether every demand may be reached in this time: with as much outstanding as Little's law
/// allows in it. One question to the model for each demand.
pub(crate) fn may_be_in_time(
    need: &Need,
    pools: &[Pool],
    hosts: &Hosts,
    facts: &Facts,
    within_ns: u64,
) -> bool {
    // One operation that is alone takes as long as that.
    if (within_ns as f64) < facts.parameters.floor_s().value * NS_PER_S {
        return false;
    }
    let of_demand = |part: &Part, demand: &Demand| {
        let topology = topology(demand, hosts, &volumes_of(part, pools), facts);
        let wanted = demand.ops_per_s() * REACHED;
        let outstanding = wanted * within_ns as f64 / NS_PER_S * (1.0 + RESOLUTION);
        let reached = at(&topology, &facts.parameters, outstanding);
        reached.is_ok_and(|point| point.ops_per_s.value >= wanted)
    };
    let moves = |demand: &&Demand| demand.throughput.get() > 0;
    let mut parts = need.parts.iter();
    parts.all(|part| part.demands.iter().filter(moves).all(|demand| of_demand(part, demand)))
}

fn volumes_of<'a>(part: &Part, pools: &'a [Pool]) -> Vec<&'a Volumes> {
    let all = pools.iter().flat_map(|pool| &pool.volumes);
    all.filter(|v| v.part == part.name).collect()
}

fn topology(demand: &Demand, hosts: &Hosts, volumes: &[&Volumes], facts: &Facts) -> Topology {
    let mut host: HostGroup =
        host_group(hosts.attached, u64::from(hosts.count), hosts.connections, hosts.vcpu);
    host.slots = SLOTS_UNBOUNDED;
    host.egress_bytes_per_s = facts.vm(&hosts.vm).map(|vm| vm.egress_bytes_per_s() as f64);
    let regular = volumes.iter().any(|v| v.kind == VolumeKind::Regular);
    let endpoints = match regular {
        true => vec![EndpointGroup {
            name: "endpoint".to_owned(),
            count: hosts.endpoints,
            limit_bytes_per_s: None,
        }],
        false => Vec::new(),
    };
    let groups: Vec<VolumeGroup> = volumes
        .iter()
        .map(|v| {
            let mut group = VolumeGroup::of("volume", v.count, v.kind);
            group.limit_bytes_per_s = Some(v.throughput.bytes_per_s() as f64);
            group.endpoint = regular.then_some(0);
            group
        })
        .collect();
    let all = (0..groups.len()).collect();
    let load = Load::Closed { outstanding: 1 };
    Topology {
        name: "design".to_owned(),
        floor: None,
        burst_s: 0.0,
        hosts: vec![host],
        endpoints,
        volumes: groups,
        workloads: vec![workload(demand, all, load)],
    }
}

/// The fewest outstanding operations that reach the demand, by doubling and halving.
fn of_demand(demand: &Demand, topology: &Topology, parameters: &Parameters) -> Option<Response> {
    let wanted = demand.ops_per_s() * REACHED;
    let rate = |outstanding: f64| Some(at(topology, parameters, outstanding).ok()?.ops_per_s.value);
    // Fewer than Little's law asks for at the response time of one alone are never enough.
    let mut few = wanted * parameters.floor_s().value * (1.0 - RESOLUTION);
    let mut enough = few.max(1.0) * 1.25;
    while rate(enough)? < wanted {
        few = enough;
        enough *= 2.0;
        if enough > OUTSTANDING_MAX {
            return None;
        }
    }
    while enough - few > RESOLUTION * enough {
        let middle = (few + enough) / 2.0;
        match rate(middle)? < wanted {
            true => few = middle,
            false => enough = middle,
        }
    }
    let reached = rate(enough)?;
    let call_bytes = topology.hosts[0].call_bytes.max(1);
    let calls = demand.transfer_bytes.div_ceil(call_bytes).max(1) as f64;
    Some(Response {
        mean_ns: enough / reached * NS_PER_S,
        outstanding: enough,
        requests: enough * calls,
    })
}
