//! What a need asks of hosts of one kind: how many, with how many connections, and what forbids
//! fewer.
//!
//! What a host receives is not metered, so reads are bounded by what hosts and connections can do
//! by published figures, and not by egress; what it sends is.

use cloud::avs::AvsLimit;
use cloud::client::SettingName;
use cloud::reason::RowRef;
use cloud::row::LimitName;
use cloud::service_level::VolumeKind;
use cloud::throughput::KibPerSec;
use units::thousands;

use crate::capability::Abilities;
use crate::claim::ClaimKind;
use crate::design::{Resource, Use};
use crate::facts::Facts;
use crate::host_kind::HostKind;
use crate::hosts::Hosts;
use crate::need::{Demand, Need, PERMILLE, Part, Protocol, bought};
use crate::published;
use crate::shortfall::{Constraint, Shortfall};
use crate::storage::Storage;

/// Above this share, in thousandths, connections and slots leave less spare than counts.
const BUSY: u64 = 500;

/// What a need asks of hosts of one kind.
pub(crate) struct Asked<'a> {
    facts: &'a Facts,
    pub(crate) kind: &'a HostKind,
    protocol: Protocol,
    pub(crate) tried: String,
    pub(crate) wanted: KibPerSec,
    /// Writes with the spare that is bought.
    writes_bought: KibPerSec,
    pub(crate) writes: KibPerSec,
    by_egress: u64,
    by_capability: u64,
    /// What the capability of a host rests on.
    pub(crate) host_basis: ClaimKind,
    /// The figures that decide it.
    pub(crate) host_rows: Vec<RowRef>,
    /// Shares of one host, connection and endpoint that the need takes.
    host_share: f64,
    connection_share: f64,
    endpoint_share: f64,
    pub(crate) endpoints: u64,
    /// What each connection leads to: endpoints, or datastores.
    pub(crate) paths: u64,
    /// Connections that are needed for the load.
    by_load: u64,
    /// Calls that are outstanding at least: at the response time of one that is alone.
    least_requests: u64,
}

impl<'a> Asked<'a> {
    /// * `need` - without growth to come
    /// * `spare` - what of hosts and connections is bought and stays unused, in thousandths
    pub(crate) fn of(
        need: &Need,
        storage: &Storage,
        kind: &'a HostKind,
        spare: u64,
        abilities: &Abilities,
        facts: &'a Facts,
    ) -> Asked<'a> {
        let used = PERMILLE.saturating_sub(spare).max(1) as f64 / PERMILLE as f64;
        let writes = need.writes();
        let writes_bought = bought(writes, spare);
        let host_share = abilities.share(|ability| ability.host(kind.vcpu).kib_s);
        let connection_share = abilities.share(|ability| ability.connection.value);
        let endpoint_share =
            abilities.share(|a| a.endpoint.as_ref().map_or(f64::INFINITY, |e| e.value));
        let endpoints = endpoints(storage, endpoint_share, facts);
        let by_capability = (host_share / used).ceil() as u64;
        let host_basis = abilities.kind(|ability| ability.host(kind.vcpu).kind);
        Asked {
            facts,
            kind,
            protocol: need.protocol,
            tried: format!("{}, {}", storage.choice.name(), kind.name),
            wanted: need.throughput(),
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

    /// The numbers of connections that are worth considering, rising.
    pub(crate) fn connection_steps(&self) -> Vec<u64> {
        let clients = &self.facts.clients;
        match self.protocol {
            Protocol::Nfs3 | Protocol::Nfs41 => vec![
                1,
                clients.setting(SettingName::NconnectWanted),
                self.facts.catalog.limit(LimitName::NconnectMax),
            ],
            Protocol::Smb => vec![
                clients.setting(SettingName::SmbConnectionsDefault),
                clients.setting(SettingName::SmbConnectionsMax),
            ],
            Protocol::Datastores => vec![1],
        }
    }

    /// The rows that bound them; none of datastores, to each of which a host has one.
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

    /// Calls that one host may have outstanding on one path; `None` for SMB, which has credits.
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

    /// The rows that slots come from.
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

    /// So many hosts with so many connections each.
    pub(crate) fn hosts(&self, count: u64, connections: u64) -> Hosts {
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let mut hosts = Hosts {
            vm: self.kind.name.clone(),
            vcpu: self.kind.vcpu,
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

    /// The fewest hosts that may do it, or the given number of them, with connections that leave
    /// them spare. Whether slots are enough is known of the least that is outstanding only.
    ///
    /// # Errors
    /// The first constraint that they do not hold.
    pub(crate) fn fewest(&self, given: Option<u64>) -> Result<Hosts, Shortfall> {
        let steps = self.connection_steps();
        let most = steps.iter().copied().max().unwrap_or(1);
        let datastores_max = self.facts.avs.limit(AvsLimit::DatastoresMax);
        if self.protocol == Protocol::Datastores && self.paths > datastores_max {
            return Err(self.few(
                Constraint::VolumeCount,
                format!("{} are needed; there are at most {datastores_max}", self.path_words()),
                self.paths,
                datastores_max,
                vec![self.facts.avs.limit_row(AvsLimit::DatastoresMax)],
            ));
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
            return Err(self.few(
                Constraint::Hosts,
                format!(
                    "{count} {} are needed; a private cloud has at most {most}",
                    self.kind.name
                ),
                count,
                most,
                vec![self.facts.avs.limit_row(AvsLimit::HostsPerCloudMax)],
            ));
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

    /// Whether connections and slots are not what is exhausted first.
    pub(crate) fn leaves_spare(&self, hosts: &Hosts, requests: Option<u64>) -> bool {
        let uses = self.uses(hosts, requests);
        let is_ours = |one: &&Use| matches!(one.resource, Resource::Flows | Resource::Slots);
        let others = uses.iter().filter(|one| !is_ours(one)).map(Use::permille).max();
        let most = others.unwrap_or(0).max(BUSY);
        uses.iter().filter(is_ours).all(|one| one.permille() <= most)
    }

    /// Whether so many hosts are too few, and of what.
    fn refuse_few(&self, given: u64, most: u64) -> Result<(), Shortfall> {
        let name = &self.kind.name;
        if let Some(each) = self.kind.egress_kib_s().filter(|_| given < self.by_egress) {
            let sent = KibPerSec::new(given.saturating_mul(each));
            let text = format!(
                "{given} {name} send at most {sent:.1}; writes need {:.1}",
                self.writes_bought
            );
            let (wanted, rows) = (self.writes_bought.get(), vec![self.kind.row.clone()]);
            return Err(self.few(Constraint::Egress, text, wanted, sent.get(), rows));
        }
        if given < self.by_capability {
            let text = match self.protocol {
                Protocol::Datastores => format!(
                    "{given} {name}, where published figures ask for {} hosts",
                    self.by_capability
                ),
                _ => format!(
                    "{given} {name} with {} processors each, where published figures ask for {} of \
                     them{}",
                    self.kind.vcpu,
                    self.by_capability,
                    match published::extrapolation_words(self.kind.vcpu, self.facts) {
                        Some(words) => format!(" ({words})"),
                        None => String::new(),
                    }
                ),
            };
            let rows = vec![self.kind.row.clone()];
            let lack = self.few(Constraint::Hosts, text, self.by_capability, given, rows);
            return Err(Shortfall { kind: self.host_basis, ..lack });
        }
        if given < self.kind.fewest {
            let text = format!("{given} {name}; a cluster has at least {}", self.kind.fewest);
            let rows = vec![self.facts.avs.limit_row(AvsLimit::HostsPerClusterMin)];
            return Err(self.few(Constraint::Hosts, text, self.kind.fewest, given, rows));
        }
        let has = given.saturating_mul(most).saturating_mul(self.paths);
        if has < self.by_load {
            let text = format!(
                "{} connections are needed; {given} hosts with {most} to each of {} have {}",
                thousands(self.by_load),
                self.path_words(),
                thousands(has)
            );
            let rows = self.connection_rows();
            return Err(self.few(Constraint::Connections, text, self.by_load, has, rows));
        }
        let slots = self.hosts(given, most).slots;
        if let Some(slots) = slots.filter(|slots| *slots < self.least_requests) {
            return Err(self.few_slots(self.least_requests, slots));
        }
        Ok(())
    }

    /// `2 endpoints`
    pub(crate) fn path_words(&self) -> String {
        let what = match self.protocol {
            Protocol::Datastores => "datastore",
            Protocol::Nfs3 | Protocol::Nfs41 | Protocol::Smb => "endpoint",
        };
        format!("{} {what}{}", self.paths, if self.paths == 1 { "" } else { "s" })
    }

    pub(crate) fn few_slots(&self, requests: u64, slots: u64) -> Shortfall {
        let text = format!(
            "{} requests are outstanding; the connections have {} slots",
            thousands(requests),
            thousands(slots)
        );
        self.few(Constraint::Connections, text, requests, slots, self.slot_rows())
    }

    pub(crate) fn few(
        &self,
        constraint: Constraint,
        text: String,
        wanted: u64,
        most: u64,
        rows: Vec<RowRef>,
    ) -> Shortfall {
        let (kind, tried) = (constraint.kind(), self.tried.clone());
        Shortfall { constraint, kind, tried, text, wanted, most, rows }
    }

    /// What an endpoint lets be outstanding, and whether volumes can lie on so many endpoints.
    ///
    /// # Errors
    /// The first that does not hold.
    pub(crate) fn refuse_full_endpoints(
        &self,
        storage: &Storage,
        requests: u64,
    ) -> Result<(), Shortfall> {
        let name = SettingName::OutstandingPerEndpointMax;
        let most = self.facts.clients.setting(name).saturating_mul(self.endpoints);
        if self.protocol != Protocol::Smb && requests > most {
            let text = format!(
                "{} requests are outstanding; {} endpoints take {}",
                thousands(requests),
                self.endpoints,
                thousands(most)
            );
            let rows = self.facts.clients.setting_row(name).into_iter().collect();
            return Err(self.few(Constraint::Outstanding, text, requests, most, rows));
        }
        let volumes = storage.volume_count();
        if storage.choice.kind == VolumeKind::Regular && self.endpoints > volumes {
            let text = format!("{} endpoints are needed for {volumes} volumes", self.endpoints);
            let constraint = Constraint::Endpoints;
            return Err(self.few(constraint, text, self.endpoints, volumes, Vec::new()));
        }
        Ok(())
    }

    /// Calls outstanding at the response time of one that is alone.
    pub(crate) fn least_requests(&self) -> u64 {
        self.least_requests
    }

    /// How much of everything is used. Of capabilities `limit` is the one by which the number of
    /// hosts was chosen.
    pub(crate) fn uses(&self, hosts: &Hosts, requests: Option<u64>) -> Vec<Use> {
        let wanted = self.wanted.get();
        // So much load takes `share` of one thing, so `count` of them do `wanted x count / share`.
        let able = |resource, kind, share: f64, count: f64| Use {
            resource,
            kind,
            used: wanted,
            limit: if share > 0.0 { (wanted as f64 * count / share) as u64 } else { u64::MAX },
        };
        let all = hosts.connections_total() as f64;
        let count = u64::from(hosts.count);
        // More hosts than any figure was published of are taken to add up all the same.
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
            // Every published figure is of one endpoint.
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

/// Endpoints that the volumes have at least, of which a host's connections go to each. Regular
/// volumes may share one, so as many are counted as the load needs.
fn endpoints(storage: &Storage, share: f64, facts: &Facts) -> u64 {
    let volumes = storage.volume_count();
    match storage.choice.kind {
        VolumeKind::Regular => (share.ceil() as u64).max(1),
        VolumeKind::Large => volumes,
        VolumeKind::Breakthrough => volumes * facts.catalog.limit(LimitName::BreakthroughEndpoints),
    }
}

/// Little's law at the response time of one operation that is alone: of each part the demand with
/// the most calls, all parts together. Under load they are more.
fn least_requests(need: &Need, facts: &Facts) -> u64 {
    let call_bytes = facts.clients.setting(SettingName::TransferSizeWanted).max(1);
    let of_demand = |demand: &Demand| {
        let calls = demand.transfer_bytes.div_ceil(call_bytes).max(1) as f64;
        demand.ops_per_s() * crate::response::REACHED * calls
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
    use crate::host_kind;
    use crate::need::Charges;
    use crate::storage::{self, Choice};

    /// What 100 MiB/s of reads on one endpoint ask for.
    fn asked<'a>(facts: &'a Facts, kind: &'a HostKind, protocol: Protocol) -> Asked<'a> {
        let demand = Demand {
            throughput: KibPerSec::new(100 << 10),
            transfer_bytes: 64 << 10,
            read_permille: 1000,
            access: Access::Sequential,
        };
        let need = Need {
            parts: vec![Part {
                name: "data".to_owned(),
                capacity_gib: 4096,
                demands: vec![demand],
            }],
            growth_permille: 0,
            headroom_permille: 0,
            response_time_ns: None,
            region: "eastus".to_owned(),
            protocol,
            hosts: None,
            vm: None,
            levels: vec![ServiceLevel::Premium],
            previews: false,
            hours_per_month: 730,
            charges: Charges::default(),
            pools_max: crate::need::POOLS_MAX,
        };
        let choice = Choice {
            level: ServiceLevel::Premium,
            qos: QosType::Auto,
            kind: VolumeKind::Regular,
            more_volumes: 0,
            pools: 1,
            spare_permille: 0,
        };
        let abilities = Abilities::of(&need, choice.kind, facts);
        let storage = storage::build(&need, &choice, &abilities, &facts.catalog).unwrap();
        let mut asked = Asked::of(&need, &storage, kind, 0, &abilities, facts);
        assert_eq!((asked.endpoints, asked.paths), (1, 1));
        asked.endpoint_share = 0.0;
        asked
    }

    #[test]
    fn connections_and_slots_leave_spare_up_to_a_half_or_up_to_what_else_is_used_more() {
        let facts = Facts::embedded();
        let kind = host_kind::named("D4s_v3", Protocol::Nfs3, &facts).unwrap();
        let spare = |host: f64, connection: f64, requests: Option<u64>, expected: bool| {
            let mut asked = asked(&facts, &kind, Protocol::Nfs3);
            asked.host_share = host;
            asked.connection_share = connection;
            let hosts = asked.hosts(1, 1);
            assert_eq!(hosts.slots, Some(128));
            let seen = asked.leaves_spare(&hosts, requests);
            assert_eq!(seen, expected, "{host} {connection} {requests:?}");
        };
        // Nothing else is used by more than a half: a half is the bound.
        spare(0.2, 0.5, None, true);
        spare(0.2, 0.51, None, false);
        spare(0.2, 0.1, Some(64), true);
        spare(0.2, 0.1, Some(65), false);
        // The host is used by more: what it leaves is the bound.
        spare(0.8, 0.79, None, true);
        spare(0.8, 0.82, None, false);
        spare(0.8, 0.1, Some(102), true);
        spare(0.8, 0.1, Some(103), false);
    }

    #[test]
    fn a_lack_of_connections_cites_what_bounds_them_on_this_way_to_the_volumes() {
        let facts = Facts::embedded();
        let rows = |protocol: Protocol, vm: &str, count: u64| {
            let kind = host_kind::named(vm, protocol, &facts).unwrap();
            let mut asked = asked(&facts, &kind, protocol);
            asked.by_load = 1000;
            let lack = asked.fewest(Some(count)).unwrap_err();
            assert!(lack.text.starts_with("1,000 connections are needed"), "{}", lack.text);
            lack.rows.iter().map(|row| row.row.clone()).collect::<Vec<_>>()
        };
        assert_eq!(rows(Protocol::Nfs3, "D4s_v3", 1), ["limit nconnect_max"]);
        assert_eq!(rows(Protocol::Nfs41, "D4s_v3", 1), ["limit nconnect_max"]);
        assert_eq!(rows(Protocol::Smb, "D4s_v3", 1), ["setting smb_connections_max"]);
        assert_eq!(rows(Protocol::Datastores, "AV36", 3), Vec::<String>::new());
    }
}
