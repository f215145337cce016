//! Hosts for a throughput: how many of a kind, with how many connections, how much outstanding.
//!
//! First the fewest that limits and measured abilities allow, then as many more connections or
//! hosts as the model of `predict` asks for: outstanding operations follow from Little's law,
//! `outstanding = operations per second x response time`, and the connections must have slots for
//! their calls.

use cloud::throughput::KibPerSec;
use units::thousands;

use crate::asked::Asked;
use crate::claim::{Claim, ClaimKind};
use crate::design::{Pool, Resource, Use};
use crate::facts::Facts;
use crate::need::{Demand, Need, Protocol};
use crate::published;
use crate::response::{self, Response};
use crate::shortfall::{Constraint, Shortfall};
use crate::storage::Storage;

/// Hosts are not multiplied beyond this to shorten waits: by then they wait for something else.
const MORE_HOSTS: u64 = 64;

/// Hosts that are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// The kind of each: `Standard_D32s_v5`, `AV36P`.
    pub vm: String,
    /// Processors of each.
    pub vcpu: u64,
    /// How they reach the volumes.
    pub attached: Protocol,
    /// How many there are.
    pub count: u32,
    /// Connections of each on each path: nconnect, or those of Multichannel.
    pub connections: u64,
    /// Endpoints over which the volumes are reached, as far as is known at least.
    pub endpoints: u64,
    /// What a host has such connections to: each endpoint, or each datastore.
    pub paths: u64,
    /// Calls that all connections have slots for; `None` for SMB, which has credits.
    pub slots: Option<u64>,
    /// Operations outstanding on each, by Little's law at the response time that the model
    /// expects; `None` where it does not reach the throughput.
    pub outstanding: Option<u64>,
}

impl Hosts {
    /// Connections of all hosts.
    pub fn connections_total(&self) -> u64 {
        u64::from(self.count).saturating_mul(self.connections).saturating_mul(self.paths)
    }
}

/// Hosts with what they use, and what the model expects of them.
pub(crate) struct Loaded {
    pub(crate) hosts: Hosts,
    pub(crate) uses: Vec<Use>,
    pub(crate) reasons: Vec<Claim>,
    pub(crate) response: Option<Response>,
}

/// The fewest hosts that may do it: what more exactly comes of them is not looked at, and never
/// takes fewer.
///
/// # Errors
/// The first constraint that they do not hold.
pub(crate) fn at_least(
    asked: &Asked<'_>,
    need: &Need,
    storage: &Storage,
) -> Result<(Hosts, Vec<Use>), Shortfall> {
    let hosts = asked.fewest(need.hosts.map(u64::from))?;
    let least = asked.least_requests();
    asked.refuse_full_endpoints(storage, least)?;
    let uses = asked.uses(&hosts, Some(least));
    Ok((hosts, uses))
}

/// The fewest hosts with which the model reaches the throughput in the wanted time with the slots
/// that there are.
///
/// # Errors
/// The constraint that they do not hold.
pub(crate) fn settled(
    asked: &Asked<'_>,
    need: &Need,
    storage: &Storage,
    facts: &Facts,
) -> Result<Loaded, Shortfall> {
    let first = at_least(asked, need, storage)?.0;
    let trial = Trial { asked, need, pools: &storage.pools, facts };
    let found = trial.settle(&first)?;
    let (mut hosts, response) = found;
    let requests = response.as_ref().map(Response::whole_requests);
    if let Some(requests) = requests {
        asked.refuse_full_endpoints(storage, requests)?;
    }
    if let Some(response) = &response {
        hosts.outstanding = Some((response.outstanding / f64::from(hosts.count)).ceil() as u64);
    }
    let uses = asked.uses(&hosts, requests.or(Some(asked.least_requests())));
    let reasons = reasons(need, &hosts, asked, &uses, response.as_ref(), facts);
    Ok(Loaded { hosts, uses, reasons, response })
}

/// Hosts of one kind for one storage, held against the model.
struct Trial<'a> {
    asked: &'a Asked<'a>,
    need: &'a Need,
    pools: &'a [Pool],
    facts: &'a Facts,
}

impl Trial<'_> {
    fn settle(&self, first: &Hosts) -> Result<(Hosts, Option<Response>), Shortfall> {
        let count = u64::from(first.count);
        let steps = self.asked.connection_steps();
        let most = steps.iter().copied().max().unwrap_or(1);
        let ceiling = match self.need.hosts {
            Some(_) => count,
            None => self.asked.kind.most.unwrap_or(u64::MAX).min(count.saturating_mul(MORE_HOSTS)),
        };
        if let Some(within_ns) = self.need.response_time_ns {
            let best = self.asked.hosts(ceiling, most);
            if !response::may_be_in_time(self.need, self.pools, &best, self.facts, within_ns) {
                return Err(self.too_slow());
            }
        }
        let (mut kept, mut last) = (None, None);
        for connections in steps.into_iter().filter(|each| *each >= first.connections) {
            match self.judged(self.asked.hosts(count, connections)) {
                Ok(found) => {
                    let requests = found.1.as_ref().map(Response::whole_requests);
                    let is_enough = self.asked.leaves_spare(&found.0, requests);
                    kept = Some(found);
                    if is_enough {
                        break;
                    }
                }
                Err(shortfall) => last = Some(shortfall),
            }
        }
        if let Some(found) = kept {
            return Ok(found);
        }
        // More hosts: twice as many until it is enough, then the fewest of those.
        let (mut few, mut enough) = (count, count);
        let mut found = None;
        while found.is_none() && enough < ceiling {
            few = enough;
            enough = enough.saturating_mul(2).min(ceiling);
            match self.judged(self.asked.hosts(enough, most)) {
                Ok(one) => found = Some(one),
                Err(shortfall) => last = Some(shortfall),
            }
        }
        while found.is_some() && enough - few > 1 {
            let middle = few + (enough - few) / 2;
            match self.judged(self.asked.hosts(middle, most)) {
                Ok(one) => {
                    enough = middle;
                    found = Some(one);
                }
                Err(_) => few = middle,
            }
        }
        found.ok_or_else(|| last.unwrap_or_else(|| self.too_slow()))
    }

    /// What the model says of these hosts, where that is what is wanted.
    fn judged(&self, hosts: Hosts) -> Result<(Hosts, Option<Response>), Shortfall> {
        // Most hosts that are too slow are told by one question to the model, not by twenty.
        if let Some(within_ns) = self.need.response_time_ns
            && !response::may_be_in_time(self.need, self.pools, &hosts, self.facts, within_ns)
        {
            return Err(self.too_slow());
        }
        let Some(response) = response::of(self.need, self.pools, &hosts, self.facts) else {
            return match self.need.response_time_ns {
                Some(_) => Err(self.too_slow()),
                None => Ok((hosts, None)),
            };
        };
        if self.need.response_time_ns.is_some_and(|wanted| response.mean_ns > wanted as f64) {
            return Err(self.too_slow());
        }
        let requests = response.whole_requests();
        match hosts.slots {
            Some(slots) if requests > slots => Err(self.asked.few_slots(requests, slots)),
            _ => Ok((hosts, Some(response))),
        }
    }

    fn too_slow(&self) -> Shortfall {
        let wanted = self.need.response_time_ns.unwrap_or_default();
        too_slow(wanted, None, self.asked.tried.clone(), self.facts)
    }
}

/// A response time that is longer than what is wanted, or one that is not known.
pub(crate) fn too_slow(
    wanted_ns: u64,
    mean_ns: Option<f64>,
    tried: String,
    facts: &Facts,
) -> Shortfall {
    let floor_ns = facts.parameters.floor_s().times(1e9);
    let expected = match mean_ns {
        Some(mean_ns) => format!("the model expects {}", units::Nanos(mean_ns)),
        None => "the model expects more".to_owned(),
    };
    let text = format!(
        "{} is wanted; {expected}, of which one operation alone takes {} ({} to {} were published)",
        units::Nanos(wanted_ns as f64),
        units::Nanos(floor_ns.value),
        units::Nanos(floor_ns.low),
        units::Nanos(floor_ns.high),
    );
    Shortfall {
        constraint: Constraint::ResponseTime,
        kind: Constraint::ResponseTime.kind(),
        tried,
        text,
        // Turned round, for the shorter is the better: what is missing is a rate.
        wanted: mean_ns.map_or(u64::MAX, |ns| ns.min(1e18) as u64),
        most: wanted_ns,
        rows: Vec::new(),
    }
}

fn reasons(
    need: &Need,
    hosts: &Hosts,
    asked: &Asked<'_>,
    uses: &[Use],
    response: Option<&Response>,
    facts: &Facts,
) -> Vec<Claim> {
    let kind = asked.kind;
    let of = |resource: Resource| uses.iter().find(|one| one.resource == resource);
    let mut reasons = Vec::new();
    if let (Some(one), Some(mbit)) = (of(Resource::Egress), kind.egress_mbit_s) {
        let text = format!(
            "writes: {} of {}; {} x {} Mbit/s egress of {} = {:.1}",
            KibPerSec::new(one.used),
            need.throughput(),
            hosts.count,
            thousands(mbit),
            kind.name,
            KibPerSec::new(one.limit)
        );
        reasons.push(Claim::documented(text, [kind.row.clone()]));
    }
    let whole = match hosts.attached {
        Protocol::Datastores => format!("{} hosts", hosts.count),
        _ => format!("{} x {} processors", hosts.count, hosts.vcpu),
    };
    let connections =
        format!("{} x {} connections x {}", hosts.count, hosts.connections, asked.path_words());
    let fold = match hosts.attached {
        Protocol::Datastores => None,
        _ => published::extrapolation_words(hosts.vcpu, facts),
    };
    for (resource, what) in [(Resource::HostCapability, whole), (Resource::Flows, connections)] {
        if let Some(one) = of(resource) {
            let fold = fold.as_ref().filter(|_| resource == Resource::HostCapability);
            let fold = fold.map_or(String::new(), |words| format!(", {words}"));
            let text = format!("{what} can do {:.0}{fold}", KibPerSec::new(one.limit));
            let rows = match resource {
                Resource::HostCapability => asked.host_rows.clone(),
                _ => Vec::new(),
            };
            reasons.push(Claim::new(one.kind, text, rows));
        }
    }
    if let (Some(each), Some(response)) = (hosts.outstanding, response) {
        let kind = of(Resource::HostCapability).map_or(ClaimKind::Derived, |one| one.kind);
        let text = outstanding_words(need, response, each);
        reasons.push(Claim::new(kind.max(ClaimKind::Derived), text, []));
    }
    if let (Some(one), Some(each)) = (of(Resource::Slots), asked.slots_each(hosts.connections)) {
        let text = format!(
            "slots: {} x {} x {each} = {}, of which {} are used",
            hosts.count,
            asked.path_words(),
            thousands(one.limit),
            thousands(one.used)
        );
        reasons.push(Claim::documented(text, asked.slot_rows()));
    }
    reasons
}

/// Little's law in words; with several demands what is outstanding is of those with the most.
fn outstanding_words(need: &Need, response: &Response, each: u64) -> String {
    let demands: Vec<&Demand> = need.parts.iter().flat_map(|part| &part.demands).collect();
    let all = thousands(response.outstanding.ceil() as u64);
    match &demands[..] {
        [one] => format!(
            "Little's law: {} ops/s ({} of what is wanted, which counts as all of it) x {}, as \
             the model expects = {all} outstanding, {each} on each host",
            thousands((one.ops_per_s() * response::REACHED).round() as u64),
            Percent(response::REACHED),
            units::Nanos(response.mean_ns),
        ),
        _ => format!(
            "Little's law, of each part the demand that needs most: {all} outstanding, {each} on \
             each host"
        ),
    }
}

/// A share as percent.
struct Percent(f64);

impl std::fmt::Display for Percent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.0} %", self.0 * 100.0)
    }
}
