//! Hosts for a throughput: their number, connections and outstanding operations.
//!
//! Starts with the fewest that limits and published figures allow, then adds connections or hosts
//! until the model of `predict` reaches the throughput and response time. Outstanding operations
//! follow from Little's law, `outstanding = rate x response time`, and the connections must have
//! slots for their calls.

use cloud::throughput::KibPerSec;
use units::{Nanos, OpsPerSec, Share};

use crate::claim::{Claim, ClaimKind};
use crate::facts::Facts;
use crate::host_demand::HostDemand;
use crate::hosts::Hosts;
use crate::need::{Demand, Need};
use crate::pool::Pool;
use crate::resource_use::{Resource, Use};
use crate::response::{self, Response};
use crate::shortfall::{Lack, Shortfall, Tried};
use crate::statement::HostStatement;
use crate::storage::Storage;

/// Hosts are multiplied at most by this; beyond it, waits have another cause.
const MORE_HOSTS: u64 = 64;

/// Hosts with the resources that they use and the predicted response time.
pub(crate) struct Loaded {
    pub(crate) hosts: Hosts,
    pub(crate) uses: Vec<Use>,
    pub(crate) reasons: Vec<Claim>,
    pub(crate) response: Option<Response>,
}

/// The fewest hosts that may suffice, without asking the model, which never needs fewer.
///
/// # Errors
/// The first violated constraint.
pub(crate) fn at_least(
    demand: &HostDemand<'_>,
    need: &Need,
    storage: &Storage,
) -> Result<(Hosts, Vec<Use>), Shortfall> {
    let hosts = demand.fewest(need.hosts.map(u64::from))?;
    let least = demand.least_requests();
    demand.refuse_full_endpoints(storage, least)?;
    let uses = demand.uses(&hosts, Some(least));
    Ok((hosts, uses))
}

/// The fewest hosts with which the model reaches the throughput and response time within the slots.
///
/// # Errors
/// The violated constraint.
pub(crate) fn settled(
    demand: &HostDemand<'_>,
    need: &Need,
    storage: &Storage,
    facts: &Facts,
) -> Result<Loaded, Shortfall> {
    let first = at_least(demand, need, storage)?.0;
    let trial = Trial { demand, need, pools: &storage.pools, facts };
    let found = trial.settle(&first)?;
    let (mut hosts, response) = found;
    let requests = response.as_ref().map(Response::whole_requests);
    if let Some(requests) = requests {
        demand.refuse_full_endpoints(storage, requests)?;
    }
    if let Some(response) = &response {
        hosts.outstanding = Some((response.outstanding / f64::from(hosts.count)).ceil() as u64);
    }
    let uses = demand.uses(&hosts, requests.or(Some(demand.least_requests())));
    let reasons = reasons(need, &hosts, demand, &uses, response.as_ref());
    Ok(Loaded { hosts, uses, reasons, response })
}

/// Hosts of one kind for one storage, checked with the model.
struct Trial<'a> {
    demand: &'a HostDemand<'a>,
    need: &'a Need,
    pools: &'a [Pool],
    facts: &'a Facts,
}

impl Trial<'_> {
    fn settle(&self, first: &Hosts) -> Result<(Hosts, Option<Response>), Shortfall> {
        let count = u64::from(first.count);
        let steps = self.demand.connection_steps();
        let most = steps.iter().copied().max().unwrap_or(1);
        let ceiling = match self.need.hosts {
            Some(_) => count,
            None => self.demand.kind.most.unwrap_or(u64::MAX).min(count.saturating_mul(MORE_HOSTS)),
        };
        if let Some(within) = self.need.response_time {
            let best = self.demand.hosts(ceiling, most);
            if !response::may_be_in_time(self.need, self.pools, &best, self.facts, within) {
                return Err(self.too_slow(within));
            }
        }
        let (mut kept, mut last) = (None, None);
        for connections in steps.into_iter().filter(|each| *each >= first.connections) {
            match self.check(self.demand.hosts(count, connections)) {
                Ok(found) => {
                    let requests = found.1.as_ref().map(Response::whole_requests);
                    let is_enough = self.demand.leaves_spare(&found.0, requests);
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
        // Double the hosts until they suffice, then bisect for the fewest.
        let (mut few, mut enough) = (count, count);
        let mut found = None;
        while found.is_none() && enough < ceiling {
            few = enough;
            enough = enough.saturating_mul(2).min(ceiling);
            match self.check(self.demand.hosts(enough, most)) {
                Ok(one) => found = Some(one),
                Err(shortfall) => last = Some(shortfall),
            }
        }
        while found.is_some() && enough - few > 1 {
            let middle = few + (enough - few) / 2;
            match self.check(self.demand.hosts(middle, most)) {
                Ok(one) => {
                    enough = middle;
                    found = Some(one);
                }
                Err(_) => few = middle,
            }
        }
        found.ok_or_else(|| {
            last.expect("hosts were checked, and each that does not suffice has a shortfall")
        })
    }

    /// The predicted response time of these hosts, if it is short enough.
    fn check(&self, hosts: Hosts) -> Result<(Hosts, Option<Response>), Shortfall> {
        let within = self.need.response_time;
        // One evaluation of the model rejects most hosts that are too slow; the search takes 20.
        if let Some(within) = within
            && !response::may_be_in_time(self.need, self.pools, &hosts, self.facts, within)
        {
            return Err(self.too_slow(within));
        }
        let response = response::of(self.need, self.pools, &hosts, self.facts);
        match (response, within) {
            (None, None) => Ok((hosts, None)),
            (None, Some(within)) => Err(self.too_slow(within)),
            (Some(response), Some(within)) if response.mean > within => Err(self.too_slow(within)),
            (Some(response), _) => {
                let requests = response.whole_requests();
                match hosts.slots {
                    Some(slots) if requests > slots => Err(self.demand.few_slots(requests, slots)),
                    _ => Ok((hosts, Some(response))),
                }
            }
        }
    }

    fn too_slow(&self, required: Nanos) -> Shortfall {
        too_slow(required, None, self.demand.tried.clone(), self.facts)
    }
}

/// A response time that exceeds the required one by an amount that may be unknown.
pub(crate) fn too_slow(
    required: Nanos,
    predicted: Option<Nanos>,
    tried: Tried,
    facts: &Facts,
) -> Shortfall {
    let unloaded = facts.parameters.floor_s().times(1e9);
    Shortfall::new(Lack::ResponseTime { required, predicted, unloaded }, tried, Vec::new())
}

fn reasons(
    need: &Need,
    hosts: &Hosts,
    demand: &HostDemand<'_>,
    uses: &[Use],
    response: Option<&Response>,
) -> Vec<Claim> {
    let kind = demand.kind;
    let (count, connections, paths) = (u64::from(hosts.count), hosts.connections, demand.paths());
    let of = |resource: Resource| uses.iter().find(|one| one.resource == resource);
    let mut reasons = Vec::new();
    if let (Some(one), Some(mbit_s)) = (of(Resource::Egress), kind.egress_mbit_s) {
        let statement = HostStatement::Egress {
            writes: KibPerSec::new(one.used),
            throughput: need.throughput(),
            hosts: count,
            vm: kind.name.clone(),
            mbit_s,
            limit: KibPerSec::new(one.limit),
        };
        reasons.push(Claim::documented(statement, [kind.row.clone()]));
    }
    if let Some(one) = of(Resource::HostCapability) {
        let (vcpu, extrapolated_from) = demand.processors();
        let limit = KibPerSec::new(one.limit);
        let statement = HostStatement::Capability { hosts: count, vcpu, limit, extrapolated_from };
        reasons.push(Claim::new(one.kind, statement, demand.host_rows.clone()));
    }
    if let Some(one) = of(Resource::Flows) {
        let limit = KibPerSec::new(one.limit);
        let statement = HostStatement::Connections { hosts: count, connections, paths, limit };
        reasons.push(Claim::new(one.kind, statement, []));
    }
    if let (Some(each), Some(response)) = (hosts.outstanding, response) {
        let kind = of(Resource::HostCapability).map_or(ClaimKind::Derived, |one| one.kind);
        let statement = littles_law(need, response, each);
        reasons.push(Claim::new(kind.max(ClaimKind::Derived), statement, []));
    }
    if let (Some(one), Some(each)) = (of(Resource::Slots), demand.slots_each(connections)) {
        let (slots, used) = (one.limit, one.used);
        let statement = HostStatement::Slots { hosts: count, paths, each, slots, used };
        reasons.push(Claim::documented(statement, demand.slot_rows()));
    }
    reasons
}

fn littles_law(need: &Need, response: &Response, of_each_host: u64) -> HostStatement {
    let demands: Vec<&Demand> = need.parts.iter().flat_map(|part| &part.demands).collect();
    let outstanding = response.outstanding.ceil() as u64;
    match &demands[..] {
        [one] => HostStatement::LittlesLaw {
            rate: OpsPerSec::new(one.rate().get() * response::REACHED),
            reached: Share::from_permille((response::REACHED * 1000.0).round() as u64),
            response_time: response.mean,
            outstanding,
            of_each_host,
        },
        _ => HostStatement::LittlesLawOfParts { outstanding, of_each_host },
    }
}
