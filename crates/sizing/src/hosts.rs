//! Hosts for a throughput: how many of a size, with how many connections, how much outstanding.
//!
//! What a host receives is not metered, so reads are bounded by network flows and not by egress;
//! what it sends is. Outstanding operations follow from Little's law, `outstanding = operations per
//! second x response time`, and each connection carries at most the service's slots.

use cloud::catalog::Catalog;
use cloud::client::SettingName;
use cloud::reason::Reason;
use cloud::row::LimitName;
use cloud::service_level::VolumeKind;
use cloud::throughput::KibPerSec;
use cloud::vm_size::VmSize;
use units::thousands;

use crate::design::{Resource, Use};
use crate::facts::Facts;
use crate::need::{Need, Protocol, bought};
use crate::shortfall::{Constraint, Shortfall};
use crate::storage::Storage;

/// Nanoseconds in a second.
const NS_PER_S: f64 = 1e9;

/// Hosts that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The size of each: `Standard_D32s_v5`.
    pub vm: String,
    /// Processors of each.
    pub vcpu: u64,
    /// How many there are.
    pub count: u32,
    /// Connections of each to each endpoint: nconnect, or those of Multichannel.
    pub connections: u64,
    /// Endpoints over which the volumes are reached, as far as is known at least.
    pub endpoints: u64,
    /// Operations outstanding on each, by Little's law; `None` without a response time.
    pub outstanding: Option<u64>,
}

impl Hosts {
    /// Connections of all hosts.
    pub fn connections_total(&self) -> u64 {
        u64::from(self.count).saturating_mul(self.connections).saturating_mul(self.endpoints)
    }
}

/// Hosts with what they use.
pub(crate) type Loaded = (Hosts, Vec<Use>, Vec<Reason>);

/// Operations outstanding for the whole need: the largest demand of each part, all parts together.
pub fn outstanding(need: &Need) -> Option<u64> {
    let seconds = need.response_time_ns? as f64 / NS_PER_S;
    let of_part = |part: &crate::need::Part| {
        let each = part.demands.iter().map(|demand| demand.ops_per_s() * seconds);
        each.fold(0.0, f64::max)
    };
    Some(need.parts.iter().map(of_part).sum::<f64>().ceil() as u64)
}

/// Endpoints that the volumes have at least, of which a host's connections go to each.
fn endpoints(storage: &Storage, throughput: KibPerSec, catalog: &Catalog) -> u64 {
    let volumes = storage.volume_count();
    match storage.choice.kind {
        VolumeKind::Regular => {
            let each = catalog.limit(LimitName::EndpointThroughput).max(1);
            throughput.get().div_ceil(each).clamp(1, volumes.max(1))
        }
        VolumeKind::Large => volumes,
        VolumeKind::Breakthrough => volumes * catalog.limit(LimitName::BreakthroughEndpoints),
    }
}

/// The numbers of connections that are worth considering, rising.
fn connection_steps(need: &Need, facts: &Facts) -> Vec<u64> {
    match need.protocol {
        Protocol::Nfs3 | Protocol::Nfs41 => vec![
            1,
            facts.clients.setting(SettingName::NconnectWanted),
            facts.catalog.limit(LimitName::NconnectMax),
        ],
        Protocol::Smb => vec![
            facts.clients.setting(SettingName::SmbConnectionsDefault),
            facts.clients.setting(SettingName::SmbConnectionsMax),
        ],
    }
}

/// The fewest hosts of this size for the need, or the given number of them.
///
/// # Errors
/// The first constraint that they do not hold.
pub(crate) fn build(
    need: &Need,
    storage: &Storage,
    vm: &VmSize,
    facts: &Facts,
) -> Result<Loaded, Shortfall> {
    let catalog = &facts.catalog;
    let wanted = need.throughput();
    let spare = storage.choice.spare_permille;
    let writes = need.writes();
    let egress = vm.egress_bytes_per_s() / 1024;
    let tried = || format!("{}, {}", storage.choice.name(), vm.name);
    let by_egress = bought(writes, spare).get().div_ceil(egress.max(1)).max(1);
    let given = need.hosts.map(u64::from);
    if let Some(given) = given.filter(|given| *given < by_egress) {
        let most = KibPerSec::new(given * egress);
        let wanted = bought(writes, spare);
        return Err(Shortfall {
            constraint: Constraint::Egress,
            tried: tried(),
            text: format!(
                "{given} {} send at most {most:.1}; writes need {wanted:.1}",
                vm.name,
                most = Mib(most),
                wanted = Mib(wanted)
            ),
            wanted: wanted.get(),
            most: most.get(),
            rows: vec![vm.row()],
        });
    }
    let endpoints = endpoints(storage, wanted, catalog);
    let flow = catalog.limit(LimitName::FlowThroughput).max(1);
    let slots = slots(need, catalog);
    let outstanding = outstanding(need);
    let by_flows = bought(wanted, spare).get().div_ceil(flow).max(1);
    let by_slots = slots.and_then(|each| Some(outstanding?.div_ceil(each))).unwrap_or(1);
    let connections = by_flows.max(by_slots);
    let steps = connection_steps(need, facts);
    let most = steps.iter().copied().max().unwrap_or(1);
    let by_connections = connections.div_ceil(most.saturating_mul(endpoints).max(1));
    let count = given.unwrap_or(by_egress.max(by_connections));
    let of_hosts = |each: u64| count.saturating_mul(each).saturating_mul(endpoints);
    let Some(each) = steps.into_iter().find(|each| of_hosts(*each) >= connections) else {
        return Err(Shortfall {
            constraint: Constraint::Connections,
            tried: tried(),
            text: format!(
                "{} connections are needed; {count} hosts with {most} to each of {endpoints} \
                 endpoints have {}",
                thousands(connections),
                thousands(of_hosts(most))
            ),
            wanted: connections,
            most: of_hosts(most),
            rows: vec![
                catalog.limit_row(LimitName::FlowThroughput),
                catalog.limit_row(LimitName::NconnectMax),
            ],
        });
    };
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let hosts = Hosts {
        vm: vm.name.clone(),
        vcpu: vm.vcpu,
        count,
        connections: each,
        endpoints,
        outstanding: outstanding.map(|all| all.div_ceil(u64::from(count.max(1)))),
    };
    refuse_full_endpoints(&hosts, storage, wanted, outstanding, facts)?;
    let uses = uses(&hosts, wanted, writes, egress, flow, slots.zip(outstanding));
    let reasons = reasons(need, &hosts, vm, &uses, facts);
    Ok((hosts, uses, reasons))
}

/// Requests outstanding on a connection; `None` for SMB, which has credits instead.
fn slots(need: &Need, catalog: &Catalog) -> Option<u64> {
    let each = catalog.limit(LimitName::OutstandingPerConnectionMax).max(1);
    (need.protocol != Protocol::Smb).then_some(each)
}

fn refuse_full_endpoints(
    hosts: &Hosts,
    storage: &Storage,
    wanted: KibPerSec,
    outstanding: Option<u64>,
    facts: &Facts,
) -> Result<(), Shortfall> {
    let name = SettingName::OutstandingPerEndpointMax;
    let most = facts.clients.setting(name).saturating_mul(hosts.endpoints);
    let tried = format!("{}, {}", storage.choice.name(), hosts.vm);
    if let Some(outstanding) = outstanding.filter(|outstanding| *outstanding > most) {
        return Err(Shortfall {
            constraint: Constraint::Outstanding,
            tried,
            text: format!(
                "{} operations are outstanding; {} endpoints take {}",
                thousands(outstanding),
                hosts.endpoints,
                thousands(most)
            ),
            wanted: outstanding,
            most,
            rows: facts.clients.setting_row(name).into_iter().collect(),
        });
    }
    let each = facts.catalog.limit(LimitName::EndpointThroughput);
    let most = KibPerSec::new(each.saturating_mul(hosts.endpoints));
    if storage.choice.kind == VolumeKind::Regular && wanted > most {
        return Err(Shortfall {
            constraint: Constraint::Endpoints,
            tried,
            text: format!("{} endpoints give {most}; wanted are {wanted}", hosts.endpoints),
            wanted: wanted.get(),
            most: most.get(),
            rows: vec![facts.catalog.limit_row(LimitName::EndpointThroughput)],
        });
    }
    Ok(())
}

fn uses(
    hosts: &Hosts,
    wanted: KibPerSec,
    writes: KibPerSec,
    egress: u64,
    flow: u64,
    slots: Option<(u64, u64)>,
) -> Vec<Use> {
    let all = hosts.connections_total();
    let mut uses = vec![Use {
        resource: Resource::Flows,
        used: wanted.get(),
        limit: all.saturating_mul(flow),
    }];
    if writes.get() > 0 {
        let limit = u64::from(hosts.count).saturating_mul(egress);
        uses.push(Use { resource: Resource::Egress, used: writes.get(), limit });
    }
    if let Some((each, outstanding)) = slots {
        let limit = all.saturating_mul(each);
        uses.push(Use { resource: Resource::Slots, used: outstanding, limit });
    }
    uses
}

fn reasons(need: &Need, hosts: &Hosts, vm: &VmSize, uses: &[Use], facts: &Facts) -> Vec<Reason> {
    let catalog = &facts.catalog;
    let mut reasons = Vec::new();
    if let Some(one) = uses.iter().find(|one| one.resource == Resource::Egress) {
        let text = format!(
            "writes: {} of {}; {} x {} Mbit/s egress of {} = {:.1}",
            KibPerSec::new(one.used),
            need.throughput(),
            hosts.count,
            thousands(vm.egress_mbit_s),
            vm.name,
            Mib(KibPerSec::new(one.limit))
        );
        reasons.push(Reason::from_rows(text, [vm.row()]));
    }
    let flow = KibPerSec::new(catalog.limit(LimitName::FlowThroughput));
    let text = format!(
        "flows: {} hosts x {} connections x {} endpoints x {flow} = {}",
        hosts.count,
        hosts.connections,
        hosts.endpoints,
        KibPerSec::new(hosts.connections_total().saturating_mul(flow.get()))
    );
    let rows = [LimitName::FlowThroughput, LimitName::NconnectMax].map(|n| catalog.limit_row(n));
    reasons.push(Reason::from_rows(text, rows));
    if let (Some(each), Some(ns)) = (hosts.outstanding, need.response_time_ns) {
        let ops: f64 = need.parts.iter().map(|part| most_ops(&part.demands)).sum();
        let text = format!(
            "Little's law: {} ops/s x {} = {} outstanding, {each} on each host",
            thousands(ops.round() as u64),
            units::Nanos(ns as f64),
            thousands(outstanding(need).unwrap_or_default())
        );
        let row = catalog.limit_row(LimitName::OutstandingPerConnectionMax);
        reasons.push(Reason::from_rows(text, [row]));
    }
    reasons
}

fn most_ops(demands: &[crate::need::Demand]) -> f64 {
    demands.iter().map(crate::need::Demand::ops_per_s).fold(0.0, f64::max)
}

/// A limit that is no whole number of MiB/s, with the digits that matter.
struct Mib(KibPerSec);

impl std::fmt::Display for Mib {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.*} MiB/s", f.precision().unwrap_or(1), self.0.as_mib())
    }
}
