//! Hosts for a throughput: how many of a size, with how many connections, how much outstanding.
//!
//! What a host receives is not metered, so reads are bounded by what processors and connections
//! were measured to do, and not by egress; what it sends is. Outstanding operations follow from
//! Little's law, `outstanding = operations per second x response time`, and each connection
//! carries at most the service's slots.

use cloud::catalog::Catalog;
use cloud::client::SettingName;
use cloud::reason::Reason;
use cloud::row::LimitName;
use cloud::service_level::VolumeKind;
use cloud::throughput::KibPerSec;
use cloud::vm_size::VmSize;
use units::thousands;

use crate::capability::{Abilities, Ability};
use crate::design::{Resource, Use};
use crate::facts::Facts;
use crate::need::{Need, PERMILLE, Protocol, bought};
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

/// The response time that outstanding operations are counted by: what is wanted, or else that of
/// one operation at a time as published.
fn time_ns(need: &Need, facts: &Facts) -> Option<f64> {
    let floor = facts.parameters.floor_s().value * NS_PER_S;
    match need.response_time_ns {
        Some(ns) => Some(ns as f64),
        None => (floor > 0.0).then_some(floor),
    }
}

/// Operations outstanding for the whole need: the largest demand of each part, all parts together.
pub fn outstanding(need: &Need, facts: &Facts) -> Option<u64> {
    let seconds = time_ns(need, facts)? / NS_PER_S;
    let of_part = |part: &crate::need::Part| most_ops(&part.demands) * seconds;
    Some(need.parts.iter().map(of_part).sum::<f64>().ceil() as u64)
}

/// Endpoints that the volumes have at least, of which a host's connections go to each. Regular
/// volumes may share one, so as many are counted as the load needs.
fn endpoints(storage: &Storage, abilities: &Abilities, catalog: &Catalog) -> u64 {
    let volumes = storage.volume_count();
    match storage.choice.kind {
        VolumeKind::Regular => {
            let one = |ability: &Ability| ability.endpoint.map_or(f64::INFINITY, |e| e.value);
            (abilities.share(one).ceil() as u64).max(1)
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
    abilities: &Abilities,
    facts: &Facts,
) -> Result<Loaded, Shortfall> {
    let asked = Asked::of(need, storage, vm, abilities, facts);
    let given = need.hosts.map(u64::from);
    let steps = connection_steps(need, facts);
    let most = steps.iter().copied().max().unwrap_or(1);
    if let Some(given) = given {
        asked.refuse_few(given, most, vm, &facts.catalog)?;
    }
    let connections = asked.connections;
    let by_connections = connections.div_ceil(most.saturating_mul(asked.endpoints).max(1));
    let least = asked.by_egress.max(asked.by_processors).max(by_connections);
    let count = given.unwrap_or(least);
    let of_hosts = |each: u64| count.saturating_mul(each).saturating_mul(asked.endpoints);
    let each = steps.into_iter().find(|each| of_hosts(*each) >= connections).unwrap_or(most);
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    let outstanding = asked.outstanding;
    let hosts = Hosts {
        vm: vm.name.clone(),
        vcpu: vm.vcpu,
        count,
        connections: each,
        endpoints: asked.endpoints,
        outstanding: outstanding.map(|all| all.div_ceil(u64::from(count.max(1)))),
    };
    refuse_full_endpoints(&hosts, storage, &asked, facts)?;
    let uses = uses(&hosts, &asked, abilities);
    let reasons = reasons(need, &hosts, vm, &asked, &uses, facts);
    Ok((hosts, uses, reasons))
}

/// What a need asks of hosts of one size.
struct Asked {
    tried: String,
    wanted: KibPerSec,
    /// Writes with the spare that is bought.
    writes_bought: KibPerSec,
    writes: KibPerSec,
    /// What one host sends.
    egress: u64,
    by_egress: u64,
    by_processors: u64,
    endpoints: u64,
    /// Connections that are needed for the load and its slots.
    connections: u64,
    /// Requests on a connection; `None` for SMB, which has credits instead.
    slots: Option<u64>,
    outstanding: Option<u64>,
}

impl Asked {
    fn of(
        need: &Need,
        storage: &Storage,
        vm: &VmSize,
        abilities: &Abilities,
        facts: &Facts,
    ) -> Asked {
        let catalog = &facts.catalog;
        let spare = storage.choice.spare_permille;
        let used = PERMILLE.saturating_sub(spare).max(1) as f64 / PERMILLE as f64;
        let (wanted, writes) = (need.throughput(), need.writes());
        let writes_bought = bought(writes, spare);
        let egress = (vm.egress_bytes_per_s() / 1024).max(1);
        let processors = abilities.share(|ability| ability.vcpu.value) / used;
        let by_processors = (processors / vm.vcpu.max(1) as f64).ceil() as u64;
        let slots = slots(need, catalog);
        let outstanding = outstanding(need, facts);
        let by_slots = slots.and_then(|each| Some(outstanding?.div_ceil(each))).unwrap_or(1);
        let by_load = (abilities.share(|ability| ability.connection.value) / used).ceil() as u64;
        Asked {
            tried: format!("{}, {}", storage.choice.name(), vm.name),
            wanted,
            writes_bought,
            writes,
            egress,
            by_egress: writes_bought.get().div_ceil(egress).max(1),
            by_processors: by_processors.max(1),
            endpoints: endpoints(storage, abilities, catalog),
            connections: by_load.max(by_slots).max(1),
            slots,
            outstanding,
        }
    }

    /// Whether so many hosts are too few, and of what.
    fn refuse_few(
        &self,
        given: u64,
        most: u64,
        vm: &VmSize,
        catalog: &Catalog,
    ) -> Result<(), Shortfall> {
        let few = |constraint, text, wanted, most, rows| {
            Err(Shortfall { constraint, tried: self.tried.clone(), text, wanted, most, rows })
        };
        if given < self.by_egress {
            let sent = KibPerSec::new(given.saturating_mul(self.egress));
            let text = format!(
                "{given} {} send at most {:.1}; writes need {:.1}",
                vm.name,
                Mib(sent),
                Mib(self.writes_bought)
            );
            let wanted = self.writes_bought.get();
            return few(Constraint::Egress, text, wanted, sent.get(), vec![vm.row()]);
        }
        if given < self.by_processors {
            let text = format!(
                "{given} {} with {} processors each, where published figures ask for {} of them",
                vm.name, vm.vcpu, self.by_processors
            );
            let (wanted, rows) = (self.by_processors, vec![vm.row()]);
            return few(Constraint::Hosts, text, wanted, given, rows);
        }
        let has = given.saturating_mul(most).saturating_mul(self.endpoints);
        if has < self.connections {
            let text = format!(
                "{} connections are needed; {given} hosts with {most} to each of {} endpoints have \
                 {}",
                thousands(self.connections),
                self.endpoints,
                thousands(has)
            );
            let rows = vec![catalog.limit_row(LimitName::NconnectMax)];
            return few(Constraint::Connections, text, self.connections, has, rows);
        }
        Ok(())
    }
}

/// Requests outstanding on a connection; `None` for SMB, which has credits instead.
fn slots(need: &Need, catalog: &Catalog) -> Option<u64> {
    let each = catalog.limit(LimitName::OutstandingPerConnectionMax).max(1);
    (need.protocol != Protocol::Smb).then_some(each)
}

fn refuse_full_endpoints(
    hosts: &Hosts,
    storage: &Storage,
    asked: &Asked,
    facts: &Facts,
) -> Result<(), Shortfall> {
    let name = SettingName::OutstandingPerEndpointMax;
    let most = facts.clients.setting(name).saturating_mul(hosts.endpoints);
    let tried = asked.tried.clone();
    if let Some(outstanding) = asked.outstanding.filter(|outstanding| *outstanding > most) {
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
    let volumes = storage.volume_count();
    if storage.choice.kind == VolumeKind::Regular && hosts.endpoints > volumes {
        return Err(Shortfall {
            constraint: Constraint::Endpoints,
            tried,
            text: format!("{} endpoints are needed for {volumes} volumes", hosts.endpoints),
            wanted: hosts.endpoints,
            most: volumes,
            rows: Vec::new(),
        });
    }
    Ok(())
}

/// How much of everything is used. Of what was measured, `limit` is what is expected.
fn uses(hosts: &Hosts, asked: &Asked, abilities: &Abilities) -> Vec<Use> {
    let wanted = asked.wanted.get();
    // So much load takes `share` of one thing, so `count` of them do `wanted x count / share`.
    let measured = |resource, share: f64, count: f64| Use {
        resource,
        used: wanted,
        limit: if share > 0.0 { (wanted as f64 * count / share) as u64 } else { u64::MAX },
    };
    let all = hosts.connections_total();
    let processors = u64::from(hosts.count).saturating_mul(hosts.vcpu);
    let connection = abilities.share(|ability| ability.connection.value);
    let vcpu = abilities.share(|ability| ability.vcpu.value);
    let mut uses = vec![
        measured(Resource::HostCapability, vcpu, processors as f64),
        measured(Resource::Flows, connection, all as f64),
    ];
    let endpoint = abilities.share(|a| a.endpoint.map_or(f64::INFINITY, |e| e.value));
    if endpoint > 0.0 {
        uses.push(measured(Resource::Endpoints, endpoint, hosts.endpoints as f64));
    }
    if asked.writes.get() > 0 {
        let limit = u64::from(hosts.count).saturating_mul(asked.egress);
        uses.push(Use { resource: Resource::Egress, used: asked.writes.get(), limit });
    }
    if let Some((each, outstanding)) = asked.slots.zip(asked.outstanding) {
        let limit = all.saturating_mul(each);
        uses.push(Use { resource: Resource::Slots, used: outstanding, limit });
    }
    uses
}

fn reasons(
    need: &Need,
    hosts: &Hosts,
    vm: &VmSize,
    asked: &Asked,
    uses: &[Use],
    facts: &Facts,
) -> Vec<Reason> {
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
    for (resource, what) in [
        (Resource::HostCapability, format!("{} x {} processors", hosts.count, hosts.vcpu)),
        (
            Resource::Flows,
            format!(
                "{} x {} connections x {} endpoints",
                hosts.count, hosts.connections, hosts.endpoints
            ),
        ),
    ] {
        if let Some(one) = uses.iter().find(|one| one.resource == resource) {
            reasons.push(Reason::asked(format!(
                "{what} were measured to do {:.0} by the published figures",
                Mib(KibPerSec::new(one.limit))
            )));
        }
    }
    if let (Some(each), Some(ns)) = (hosts.outstanding, time_ns(need, facts)) {
        let ops: f64 = need.parts.iter().map(|part| most_ops(&part.demands)).sum();
        let text = format!(
            "Little's law: {} ops/s x {} = {} outstanding, {each} on each host",
            thousands(ops.round() as u64),
            units::Nanos(ns),
            thousands(asked.outstanding.unwrap_or_default())
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
