//! Response time and outstanding operations of a design at the required throughput, predicted by
//! the model of `predict`.
//!
//! Finds the smallest closed load that reaches the throughput; more operations would only queue.
//! Their number divided by the rate is the response time (Little's law). Slots do not limit this
//! load, because the result says how many are required.

use cloud::service_level::VolumeKind;
use predict::topology::{EndpointGroup, HostGroup, Load, Topology, VolumeGroup};
use predict::{Parameters, at};
use units::Nanos;

use crate::capability::{host_group, workload};
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Demand, Need, Part};
use crate::pool::{Pool, Volumes};

/// A rate of at least this share of the required one counts as reached, as in `tune`.
pub const REACHED: f64 = 0.97;
/// More operations than the slots of any design.
const OUTSTANDING_MAX: f64 = 1e8;
/// Relative precision of the outstanding operations.
const RESOLUTION: f64 = 0.001;
/// Slots of a connection that never limit.
const SLOTS_UNBOUNDED: u64 = 1 << 32;
/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// The prediction for a need on a design.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The longest mean response time of its demands.
    pub mean: Nanos,
    /// Outstanding operations of all hosts: the sum over parts of the largest demand.
    pub outstanding: f64,
    /// Outstanding calls: an operation larger than rsize or wsize takes several.
    pub requests: f64,
}

impl Response {
    /// Slots required.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    pub fn whole_requests(&self) -> u64 {
        self.requests.ceil() as u64
    }
}

/// Predicts a need; `None` if the model does not reach some demand, or if there is no demand. Each
/// part is modelled separately.
///
/// * `need` - without growth to come
pub fn of(need: &Need, pools: &[Pool], hosts: &Hosts, facts: &Facts) -> Option<Response> {
    let mut whole: Option<Response> = None;
    for part in &need.parts {
        let of_part = of_part(part, pools, hosts, facts)?;
        whole = match (whole, of_part) {
            (Some(one), Some(other)) => Some(Response {
                mean: longer(one.mean, other.mean),
                outstanding: one.outstanding + other.outstanding,
                requests: one.requests + other.requests,
            }),
            (one, other) => one.or(other),
        };
    }
    whole
}

fn longer(one: Nanos, other: Nanos) -> Nanos {
    Nanos(one.0.max(other.0))
}

/// `None` if a demand is not reached; `Some(None)` if there is no demand.
fn of_part(part: &Part, pools: &[Pool], hosts: &Hosts, facts: &Facts) -> Option<Option<Response>> {
    let mut most: Option<Response> = None;
    for demand in part.demands.iter().filter(|demand| demand.throughput.get() > 0) {
        let topology = topology(demand, hosts, &volumes_of(part, pools), facts);
        let one = of_demand(demand, &topology, &facts.parameters)?;
        most = Some(match most {
            Some(other) => Response {
                mean: longer(one.mean, other.mean),
                outstanding: one.outstanding.max(other.outstanding),
                requests: one.requests.max(other.requests),
            },
            None => one,
        });
    }
    Some(most)
}

/// Whether every demand is reached within this response time, with the outstanding operations that
/// Little's law allows. Evaluates the model once per demand.
pub(crate) fn may_be_in_time(
    need: &Need,
    pools: &[Pool],
    hosts: &Hosts,
    facts: &Facts,
    within: Nanos,
) -> bool {
    if within.0 < facts.parameters.floor_s().value * NS_PER_S {
        return false;
    }
    let of_demand = |part: &Part, demand: &Demand| {
        let topology = topology(demand, hosts, &volumes_of(part, pools), facts);
        let required = demand.rate().get() * REACHED;
        let outstanding = required * within.0 / NS_PER_S * (1.0 + RESOLUTION);
        let reached = at(&topology, &facts.parameters, outstanding);
        reached.is_ok_and(|point| point.ops_per_s.value >= required)
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
    host.egress = facts.vm(&hosts.vm).map(|vm| vm.egress());
    let regular = volumes.iter().any(|v| v.kind == VolumeKind::Regular);
    let endpoints = match regular {
        true => {
            vec![EndpointGroup { name: "endpoint".to_owned(), count: hosts.endpoints, limit: None }]
        }
        false => Vec::new(),
    };
    let groups: Vec<VolumeGroup> = volumes
        .iter()
        .map(|v| {
            let mut group = VolumeGroup::of("volume", v.count, v.kind);
            group.limit = Some(v.throughput.into());
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

/// Finds the fewest outstanding operations that reach the demand, by doubling and bisection.
fn of_demand(demand: &Demand, topology: &Topology, parameters: &Parameters) -> Option<Response> {
    let required = demand.rate().get() * REACHED;
    let rate = |outstanding: f64| Some(at(topology, parameters, outstanding).ok()?.ops_per_s.value);
    // Little's law at the unloaded response time is a lower bound.
    let mut few = required * parameters.floor_s().value * (1.0 - RESOLUTION);
    let mut enough = few.max(1.0) * 1.25;
    while rate(enough)? < required {
        few = enough;
        enough *= 2.0;
        if enough > OUTSTANDING_MAX {
            return None;
        }
    }
    while enough - few > RESOLUTION * enough {
        let middle = (few + enough) / 2.0;
        match rate(middle)? < required {
            true => few = middle,
            false => enough = middle,
        }
    }
    let reached = rate(enough)?;
    let call_bytes = topology.hosts[0].call_bytes.max(1);
    let calls = demand.transfer_bytes.div_ceil(call_bytes).max(1) as f64;
    // Operations on names are taken to last as long: no figure has their own response time.
    let mean_s = enough / reached;
    let names = demand.names_per_s as f64 * mean_s;
    Some(Response {
        mean: Nanos(mean_s * NS_PER_S),
        outstanding: enough + names,
        requests: enough * calls + names,
    })
}
