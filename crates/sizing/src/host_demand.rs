//! The demand of a need on hosts of one kind: hosts and connections, and why fewer do not suffice.
//!
//! Ingress is not metered, so reads are bounded by published capabilities of hosts and connections;
//! writes are also bounded by egress.

use cloud::avs::AvsLimit;
use cloud::client::SettingName;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::VolumeKind;
use cloud::throughput::KibPerSec;
use units::Share;

use crate::capability::Abilities;
use crate::claim::ClaimKind;
use crate::facts::Facts;
use crate::host_kind::HostKind;
use crate::hosts::Hosts;
use crate::need::{Demand, Need, Part, Protocol, bought};
use crate::published;
use crate::resource_use::{Resource, Use};
use crate::shortfall::{Lack, Shortfall, Tried};
use crate::statement::{PathKind, Paths};
use crate::storage::Storage;

/// Connections and slots used up to this share never count as the bottleneck.
const BUSY: Share = Share::from_percent(50);

/// The demand of a need on hosts of one kind.
pub(crate) struct HostDemand<'a> {
    facts: &'a Facts,
    pub(crate) kind: &'a HostKind,
    protocol: Protocol,
    /// Whether the hosts are part of the cost.
    is_charged: bool,
    pub(crate) tried: Tried,
    required: KibPerSec,
    /// Writes including spare.
    writes_bought: KibPerSec,
    writes: KibPerSec,
    by_egress: u64,
    by_capability: u64,
    /// The evidence for the capability of a host.
    pub(crate) host_basis: ClaimKind,
    /// The published figures behind it.
    pub(crate) host_rows: Vec<RowRef>,
    /// Shares of one host, connection and endpoint that the need takes.
    host_share: f64,
    connection_share: f64,
    endpoint_share: f64,
    pub(crate) endpoints: u64,
    /// Endpoints or datastores, each with separate connections.
    pub(crate) paths: u64,
    /// Connections required for the load.
    by_load: u64,
    /// Lowest number of outstanding calls: that at the unloaded response time.
    least_requests: u64,
}

impl<'a> HostDemand<'a> {
    /// * `need` - without growth to come
    /// * `spare` - share of hosts and connections to keep unused
    pub(crate) fn of(
        need: &Need,
        storage: &Storage,
        kind: &'a HostKind,
        spare: Share,
        abilities: &Abilities,
        facts: &'a Facts,
    ) -> HostDemand<'a> {
        let used = spare.rest().max(Share::from_permille(1)).fraction();
        let writes = need.writes();
        let writes_bought = bought(writes, spare);
        let host_share = abilities.share(|ability| ability.host(kind.vcpu).kib_s);
        let connection_share = abilities.share(|ability| ability.connection.value);
        let endpoint_share =
            abilities.share(|a| a.endpoint.as_ref().map_or(f64::INFINITY, |e| e.value));
        let endpoints = endpoints(storage, endpoint_share, facts);
        let by_capability = (host_share / used).ceil() as u64;
        let host_basis = abilities.kind(|ability| ability.host(kind.vcpu).kind);
        HostDemand {
            facts,
            kind,
            protocol: need.protocol,
            is_charged: need.charges.hosts,
            tried: storage.choice.tried(Some(&kind.name)),
            required: need.throughput(),
            writes_bought,
            writes,
            by_egress: kind.egress_kib_s().map_or(1, |each| writes_bought.get().div_ceil(each)),
            by_capability: by_capability.max(1),
            host_basis: host_basis.unwrap_or(ClaimKind::Derived),
            host_rows: abilities.rows(|ability| ability.host(kind.vcpu)),
            host_share,
            connection_share,
            endpoint_share,
            endpoints,
            paths: match need.protocol {
                Protocol::Datastores => storage.volume_count(),
                Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => endpoints,
            },
            by_load: ((connection_share / used).ceil() as u64).max(1),
            least_requests: least_requests(need, facts),
        }
    }

    /// The numbers of connections to consider, ascending.
    pub(crate) fn connection_steps(&self) -> Vec<u64> {
        let clients = &self.facts.clients;
        match self.protocol {
            Protocol::Nfs3 | Protocol::Nfs41 => vec![
                1,
                clients.setting(SettingName::NconnectRecommended),
                self.facts.catalog.limit(LimitName::NconnectMax),
            ],
            Protocol::Smb => vec![
                clients.setting(SettingName::SmbConnectionsDefault),
                clients.setting(SettingName::SmbConnectionsMax),
            ],
            Protocol::Datastores => vec![1],
        }
    }

    /// The rows that bound them; none for datastores, which have one connection per host.
    fn connection_rows(&self) -> Vec<RowRef> {
        match self.protocol {
            Protocol::Nfs3 | Protocol::Nfs41 => {
                vec![self.facts.catalog.limit_row(LimitName::NconnectMax)]
            }
            Protocol::Smb => {
                let row = self.facts.clients.setting_row(SettingName::SmbConnectionsMax);
                row.into_iter().collect()
            }
            Protocol::Datastores => Vec::new(),
        }
    }

    /// Maximum outstanding calls of one host on one path; `None` for SMB, which has credits.
    pub(crate) fn slots_each(&self, connections: u64) -> Option<u64> {
        let catalog = &self.facts.catalog;
        let each = catalog.limit(LimitName::OutstandingPerConnectionMax).max(1);
        let all = connections.saturating_mul(each);
        match self.protocol {
            Protocol::Nfs3 | Protocol::Datastores => Some(all),
            // All connections of a mount belong to one session.
            Protocol::Nfs41 => Some(all.min(catalog.limit(LimitName::SlotsPerNfs41SessionMax))),
            Protocol::Smb => None,
        }
    }

    /// The rows behind [`HostDemand::slots_each`].
    pub(crate) fn slot_rows(&self) -> Vec<RowRef> {
        let catalog = &self.facts.catalog;
        let each = catalog.limit_row(LimitName::OutstandingPerConnectionMax);
        match self.protocol {
            Protocol::Nfs41 => {
                vec![each, catalog.limit_row(LimitName::SlotsPerNfs41SessionMax)]
            }
            Protocol::Nfs3 | Protocol::Datastores => vec![each],
            Protocol::Smb => Vec::new(),
        }
    }

    /// `count` hosts with `connections` on each path.
    pub(crate) fn hosts(&self, count: u64, connections: u64) -> Hosts {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let mut hosts = Hosts {
            vm: self.kind.name.clone(),
            vcpu: self.kind.vcpu,
            extrapolated_from: self.processors().1,
            is_charged: self.is_charged,
            attached: self.protocol,
            count,
            connections,
            endpoints: self.endpoints,
            paths: self.paths,
            slots: None,
            outstanding: None,
        };
        let each = self.slots_each(connections);
        hosts.slots = each.map(|each| u64::from(count).saturating_mul(each * hosts.paths));
        hosts
    }

    /// The fewest hosts that may suffice, or the given number, with enough connections to keep
    /// some unused. Slots are checked for the lowest possible number of outstanding calls.
    ///
    /// # Errors
    /// The first violated constraint.
    pub(crate) fn fewest(&self, given: Option<u64>) -> Result<Hosts, Shortfall> {
        let steps = self.connection_steps();
        let most = steps.iter().copied().max().unwrap_or(1);
        let datastores_max = self.facts.avs.limit(AvsLimit::DatastoresMax);
        if self.protocol == Protocol::Datastores && self.paths > datastores_max {
            let lack = Lack::Datastores { required: self.paths, most: datastores_max };
            return Err(self.few(lack, vec![self.facts.avs.limit_row(AvsLimit::DatastoresMax)]));
        }
        if let Some(given) = given {
            self.refuse_few(given, most)?;
        }
        let by_connections = self.by_load.div_ceil(most.saturating_mul(self.paths).max(1));
        let slots = self.slots_each(most).map(|each| each.saturating_mul(self.paths).max(1));
        let by_slots = slots.map_or(1, |slots| self.least_requests.div_ceil(slots));
        let least = self.by_egress.max(self.by_capability).max(by_connections).max(by_slots);
        let count = given.unwrap_or(least.max(self.kind.fewest));
        if let Some(most) = self.kind.most.filter(|most| count > *most) {
            let lack = Lack::HostsOfCloud { required: count, most };
            return Err(self.few(lack, vec![self.facts.avs.limit_row(AvsLimit::HostsPerCloudMax)]));
        }
        let enough = |each: &u64| {
            let hosts = self.hosts(count, *each);
            hosts.connections_total() >= self.by_load
                && hosts.slots.is_none_or(|slots| slots >= self.least_requests)
                && self.leaves_spare(&hosts, Some(self.least_requests))
        };
        let connections = steps.iter().copied().find(enough).unwrap_or(most);
        Ok(self.hosts(count, connections))
    }

    /// Whether something other than connections and slots is exhausted first.
    pub(crate) fn leaves_spare(&self, hosts: &Hosts, requests: Option<u64>) -> bool {
        let uses = self.uses(hosts, requests);
        let is_path = |one: &&Use| matches!(one.resource, Resource::Flows | Resource::Slots);
        let others = uses.iter().filter(|one| !is_path(one)).map(Use::share).max();
        let most = others.unwrap_or(Share::ZERO).max(BUSY);
        uses.iter().filter(is_path).all(|one| one.share() <= most)
    }

    /// The reason why `given` hosts with `most` connections on each path are too few, if they are.
    fn refuse_few(&self, given: u64, most: u64) -> Result<(), Shortfall> {
        if let Some(each) = self.kind.egress_kib_s().filter(|_| given < self.by_egress) {
            let sent = KibPerSec::new(given.saturating_mul(each));
            let lack = Lack::Egress { required: self.writes_bought, most: sent, hosts: given };
            return Err(self.few(lack, vec![self.kind.row.clone()]));
        }
        if given < self.by_capability {
            let (vcpu, extrapolated_from) = self.processors();
            let required = self.by_capability;
            let lack = Lack::HostCapability { required, hosts: given, vcpu, extrapolated_from };
            let shortfall = self.few(lack, vec![self.kind.row.clone()]);
            return Err(Shortfall { kind: self.host_basis, ..shortfall });
        }
        if given < self.kind.fewest {
            let lack = Lack::HostsOfCluster { required: self.kind.fewest, hosts: given };
            let rows = vec![self.facts.avs.limit_row(AvsLimit::HostsPerClusterMin)];
            return Err(self.few(lack, rows));
        }
        if given.saturating_mul(most).saturating_mul(self.paths) < self.by_load {
            let (required, paths) = (self.by_load, self.paths());
            let lack = Lack::Connections { required, hosts: given, each: most, paths };
            return Err(self.few(lack, self.connection_rows()));
        }
        let slots = self.hosts(given, most).slots;
        if let Some(slots) = slots.filter(|slots| *slots < self.least_requests) {
            return Err(self.few_slots(self.least_requests, slots));
        }
        Ok(())
    }

    /// What hosts have connections to.
    pub(crate) fn paths(&self) -> Paths {
        let kind = match self.protocol {
            Protocol::Datastores => PathKind::Datastore,
            Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => PathKind::Endpoint,
        };
        Paths { count: self.paths, kind }
    }

    /// Processors of a host, and the nearest published number of processors if they are outside
    /// the published range; `None` for Azure VMware Solution, whose hosts are taken as a whole.
    pub(crate) fn processors(&self) -> (Option<u64>, Option<u64>) {
        match self.protocol {
            Protocol::Datastores => (None, None),
            Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => {
                let vcpu = self.kind.vcpu;
                (Some(vcpu), published::extrapolated_from(vcpu, self.facts))
            }
        }
    }

    pub(crate) fn few_slots(&self, requests: u64, slots: u64) -> Shortfall {
        self.few(Lack::Slots { required: requests, most: slots }, self.slot_rows())
    }

    fn few(&self, lack: Lack, rows: Vec<RowRef>) -> Shortfall {
        Shortfall::new(lack, self.tried.clone(), rows)
    }

    /// Checks the requests that endpoints accept, and that there are enough volumes for the
    /// endpoints.
    ///
    /// # Errors
    /// The first violated constraint.
    pub(crate) fn refuse_full_endpoints(
        &self,
        storage: &Storage,
        requests: u64,
    ) -> Result<(), Shortfall> {
        let name = SettingName::OutstandingPerEndpointMax;
        let most = self.facts.clients.setting(name).saturating_mul(self.endpoints);
        if self.protocol != Protocol::Smb && requests > most {
            let (required, endpoints) = (requests, self.endpoints);
            let lack = Lack::EndpointRequests { required, most, endpoints };
            let rows = self.facts.clients.setting_row(name).into_iter().collect();
            return Err(self.few(lack, rows));
        }
        let volumes = storage.volume_count();
        if storage.choice.kind == VolumeKind::Regular && self.endpoints > volumes {
            let lack = Lack::Endpoints { required: self.endpoints, volumes };
            return Err(self.few(lack, Vec::new()));
        }
        Ok(())
    }

    /// Outstanding calls at the unloaded response time.
    pub(crate) fn least_requests(&self) -> u64 {
        self.least_requests
    }

    /// How much of each resource is used. The limit of a capability is the one that decided the
    /// number of hosts.
    pub(crate) fn uses(&self, hosts: &Hosts, requests: Option<u64>) -> Vec<Use> {
        let required = self.required.get();
        // The load takes `share` of one, so `count` of them carry `required x count / share`.
        let able = |resource, kind, share: f64, count: f64| Use {
            resource,
            kind,
            used: required,
            limit: if share > 0.0 { (required as f64 * count / share) as u64 } else { u64::MAX },
        };
        let all = hosts.connections_total() as f64;
        let count = u64::from(hosts.count);
        // Hosts are assumed to add up beyond the largest published number.
        let together = match count {
            1 => ClaimKind::Published,
            few if few <= published::most_published(self.facts).1 => ClaimKind::Derived,
            _ => ClaimKind::Extrapolated,
        };
        let by_host = self.host_basis.max(together);
        let by_flow = ClaimKind::Derived.max(together);
        let mut uses = vec![
            able(Resource::HostCapability, by_host, self.host_share, count as f64),
            able(Resource::Flows, by_flow, self.connection_share, all),
        ];
        if self.endpoint_share > 0.0 {
            // All published figures are for one endpoint.
            let kind = match hosts.endpoints {
                1 => ClaimKind::Derived,
                _ => ClaimKind::Extrapolated,
            };
            let endpoints = hosts.endpoints as f64;
            uses.push(able(Resource::Endpoints, kind, self.endpoint_share, endpoints));
        }
        if let Some(each) = self.kind.egress_kib_s().filter(|_| self.writes.get() > 0) {
            let (resource, kind) = (Resource::Egress, ClaimKind::DocumentedLimit);
            let limit = count.saturating_mul(each);
            uses.push(Use { resource, kind, used: self.writes.get(), limit });
        }
        if let Some((used, limit)) = requests.zip(hosts.slots) {
            let kind = ClaimKind::DocumentedLimit;
            uses.push(Use { resource: Resource::Slots, kind, used, limit });
        }
        uses
    }
}

/// The fewest endpoints of the volumes; a host has connections to each. Regular volumes may share
/// an endpoint, so as many are counted as the load requires.
fn endpoints(storage: &Storage, share: f64, facts: &Facts) -> u64 {
    let volumes = storage.volume_count();
    match storage.choice.kind {
        VolumeKind::Regular => (share.ceil() as u64).max(1),
        VolumeKind::Large => volumes,
        VolumeKind::Breakthrough => volumes * facts.catalog.limit(LimitName::BreakthroughEndpoints),
    }
}

/// Little's law at the unloaded response time: the sum over parts of the demand with the most
/// calls. Under load there are more.
fn least_requests(need: &Need, facts: &Facts) -> u64 {
    let call_bytes = facts.clients.setting(SettingName::TransferSizeRecommended).max(1);
    let of_demand = |demand: &Demand| {
        let calls = demand.transfer_bytes.div_ceil(call_bytes).max(1) as f64;
        demand.rate().get() * crate::response::REACHED * calls + demand.names_per_s as f64
    };
    let of_part = |part: &Part| part.demands.iter().map(of_demand).fold(0.0, f64::max);
    let calls: f64 = need.parts.iter().map(of_part).sum();
    (calls * facts.parameters.floor_s().value).floor() as u64
}

#[cfg(test)]
mod tests {
    use cloud::figure::Access;
    use cloud::service_level::{QosType, ServiceLevel};

    use super::*;
    use crate::choice::Choice;
    use crate::host_kind;
    use crate::need::Charges;
    use crate::storage;

    /// The demand of 100 MiB/s of reads on one endpoint.
    fn demand<'a>(facts: &'a Facts, kind: &'a HostKind, protocol: Protocol) -> HostDemand<'a> {
        let reads = Demand {
            throughput: KibPerSec::new(100 << 10),
            transfer_bytes: 64 << 10,
            read: Share::WHOLE,
            access: Access::Sequential,
            names_per_s: 0,
        };
        let need = Need {
            parts: vec![Part {
                name: "data".to_owned(),
                capacity_gib: 4096,
                demands: vec![reads],
                inodes: 0,
            }],
            growth: Share::ZERO,
            headroom: Share::ZERO,
            response_time: None,
            region: "eastus".to_owned(),
            protocol,
            hosts: None,
            vm: None,
            levels: vec![ServiceLevel::Premium],
            previews: false,
            hours_per_month: 730,
            charges: Charges::default(),
            pools_max: crate::need::POOLS_MAX,
            business: None,
        };
        let choice = Choice {
            level: ServiceLevel::Premium,
            qos: QosType::Auto,
            kind: VolumeKind::Regular,
            more_volumes: 0,
            pools: 1,
            spare: Share::ZERO,
        };
        let abilities = Abilities::of(&need, choice.kind, facts);
        let storage = storage::build(&need, &choice, &abilities, &facts.catalog).unwrap();
        let mut demand = HostDemand::of(&need, &storage, kind, Share::ZERO, &abilities, facts);
        assert_eq!((demand.endpoints, demand.paths), (1, 1));
        demand.endpoint_share = 0.0;
        demand
    }

    #[test]
    fn connections_and_slots_are_no_bottleneck_up_to_half_use_or_the_use_of_the_host() {
        let facts = Facts::embedded();
        let kind = host_kind::named("D4s_v3", Protocol::Nfs3, &facts).unwrap();
        let spare = |host: f64, connection: f64, requests: Option<u64>, expected: bool| {
            let mut demand = demand(&facts, &kind, Protocol::Nfs3);
            demand.host_share = host;
            demand.connection_share = connection;
            let hosts = demand.hosts(1, 1);
            assert_eq!(hosts.slots, Some(128));
            let seen = demand.leaves_spare(&hosts, requests);
            assert_eq!(seen, expected, "{host} {connection} {requests:?}");
        };
        // The host is used by less than half: half is the bound.
        spare(0.2, 0.5, None, true);
        spare(0.2, 0.51, None, false);
        spare(0.2, 0.1, Some(64), true);
        spare(0.2, 0.1, Some(65), false);
        // The host is used by more: its share is the bound.
        spare(0.8, 0.79, None, true);
        spare(0.8, 0.82, None, false);
        spare(0.8, 0.1, Some(102), true);
        spare(0.8, 0.1, Some(103), false);
    }

    #[test]
    fn a_lack_of_connections_cites_the_limit_of_the_protocol() {
        let facts = Facts::embedded();
        let rows = |protocol: Protocol, vm: &str, count: u64| {
            let kind = host_kind::named(vm, protocol, &facts).unwrap();
            let mut demand = demand(&facts, &kind, protocol);
            demand.by_load = 1000;
            let shortfall = demand.fewest(Some(count)).unwrap_err();
            assert!(matches!(shortfall.lack, Lack::Connections { required: 1000, .. }));
            shortfall.rows.iter().map(|row| row.row.clone()).collect::<Vec<_>>()
        };
        assert_eq!(rows(Protocol::Nfs3, "D4s_v3", 1), ["limit nconnect_max"]);
        assert_eq!(rows(Protocol::Nfs41, "D4s_v3", 1), ["limit nconnect_max"]);
        assert_eq!(rows(Protocol::Smb, "D4s_v3", 1), ["setting smb_connections_max"]);
        assert_eq!(rows(Protocol::Datastores, "AV36", 3), Vec::<String>::new());
    }
}
