//! The response time of a design at the throughput that is wanted, by the model of `predict`.
//!
//! A closed load with the fewest operations outstanding that reaches the throughput: more of them
//! only wait for each other. Their number over the rate is the response time (Little's law).

use predict::topology::{EndpointGroup, HostGroup, Load, Topology, VolumeGroup};
use predict::{Parameters, at};

use crate::capability::workload;
use crate::design::{Design, Volumes};
use crate::facts::Facts;
use crate::hosts::Hosts;
use crate::need::{Demand, Need};
use cloud::service_level::VolumeKind;

/// A rate this much below what is wanted counts as reached, as in `tune`.
const REACHED: f64 = 0.97;
/// More operations than any design's connections have slots for.
const OUTSTANDING_MAX: f64 = 1e8;
/// Outstanding operations are found to within this share.
const RESOLUTION: f64 = 0.01;
/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// What a demand comes to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Response {
    /// The mean response time in nanoseconds.
    pub mean_ns: f64,
    /// Operations outstanding over all hosts.
    pub outstanding: f64,
}

/// The longest response time of the need's demands on a design; `None` where the model says that
/// some demand is not reached, or where there is nothing to say.
pub fn response(need: &Need, design: &Design, facts: &Facts) -> Option<Response> {
    let hosts = design.hosts.as_ref()?;
    let mut longest: Option<Response> = None;
    for part in &need.grown().parts {
        for demand in part.demands.iter().filter(|demand| demand.throughput.get() > 0) {
            let all = design.pools.iter().flat_map(|pool| &pool.volumes);
            let own: Vec<&Volumes> = all.filter(|v| v.part == part.name).collect();
            let topology = topology(demand, hosts, &own, facts);
            let one = of_demand(demand, &topology, &facts.parameters)?;
            if longest.is_none_or(|other| one.mean_ns > other.mean_ns) {
                longest = Some(one);
            }
        }
    }
    longest
}

fn topology(demand: &Demand, hosts: &Hosts, volumes: &[&Volumes], facts: &Facts) -> Topology {
    let mut host = HostGroup::linux("host", u64::from(hosts.count), hosts.connections);
    host.vcpu = Some(hosts.vcpu);
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
    let (mut few, mut enough) = (0.0, 1.0);
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
    Some(Response { mean_ns: enough / reached * NS_PER_S, outstanding: enough })
}
