//! What may change while the service runs: quotas, levels, limits and delays, volumes that come and
//! go; and what may not.
//!
//! For: stepping from one description to another, whole or not at all, with requests waiting. Not
//! for: the rules of an account and of its steps; those are in `rules.rs` and `live.rs`.

use crate::config::{Config, Endpoint};
use crate::delay::{DelayModel, Kind};
use crate::qos::Limits;
use crate::rules::{Breach, Rule, Subject};
use crate::service::{EndpointKey, Served, Service, VolumeKey};

impl Service {
    /// Steps to another description. Limits change at once, for waiting requests too; delays for
    /// requests that have not begun theirs. Requests for a volume that is gone, or gone from its
    /// endpoint, are still answered; no more of them are taken.
    ///
    /// # Errors
    /// All rules that this would break, and whatever cannot change while it runs; then nothing has
    /// changed.
    pub fn change(&mut self, now_ns: u64, mut wanted: Config) -> Result<(), Vec<Breach>> {
        let now_ns = self.settle(now_ns);
        let mut broken = check_endpoints(&self.config.endpoints, &wanted.endpoints);
        let mut live = self.live.clone();
        if let Err(more) = live.change(now_ns, wanted.account.clone()) {
            broken.extend(more);
        }
        if !broken.is_empty() {
            return Err(broken);
        }
        // Keys of endpoints are places in the description, in whatever order it is written now.
        let before = &self.config.endpoints;
        wanted
            .endpoints
            .sort_by_key(|endpoint| before.iter().position(|b| b.name == endpoint.name));
        (self.live, self.config) = (live, wanted);
        self.apply(now_ns);
        Ok(())
    }

    /// Brings everything else to the description in force.
    pub(super) fn apply(&mut self, now_ns: u64) {
        self.shaper.set_flow_limits(now_ns, self.config.limits.flow());
        for (endpoint, id) in self.config.endpoints.iter().zip(&self.endpoints) {
            let limits = endpoint_limits(&self.config, endpoint);
            self.shaper.set_endpoint_limits(now_ns, *id, limits);
        }
        self.least_delay_ns = least_ns(&self.config.delay, &self.config.endpoints);
        let account = self.live.account().clone();
        let gone = |name: &&String| account.volume(name).is_none();
        let gone: Vec<String> = self.volume_keys.keys().filter(gone).cloned().collect();
        for name in gone {
            let key = self.volume_keys.remove(&name);
            let Some(served) = key.and_then(|key| self.volumes.remove(key.0)) else { continue };
            self.witness.close_volume(served.subject);
            for id in served.at.into_iter().flatten() {
                self.shaper.remove_volume(id);
            }
        }
        for (index, volume) in account.volumes.iter().enumerate() {
            let throughput = self.live.throughput_limit(volume);
            let ops = self.config.ops.get(index).copied().flatten();
            let limits = self.config.limits.limits(throughput, ops);
            let key = self.key_of(&volume.name);
            for endpoint in 0..self.endpoints.len() {
                let wanted = volume.endpoints.contains(&self.config.endpoints[endpoint].name);
                self.serve(now_ns, key, EndpointKey(endpoint as u32), limits, wanted);
            }
        }
    }

    /// The key of a volume; new if there is none of this name.
    fn key_of(&mut self, name: &str) -> VolumeKey {
        if let Some(key) = self.volume_keys.get(name) {
            return *key;
        }
        let subject = self.witness.volume(name);
        let at = vec![None; self.endpoints.len()];
        let key = VolumeKey(self.volumes.insert(Served { name: name.to_owned(), subject, at }));
        self.volume_keys.insert(name.to_owned(), key);
        key
    }

    /// Serves a volume at an endpoint with these limits, or no longer.
    fn serve(
        &mut self,
        now_ns: u64,
        key: VolumeKey,
        endpoint: EndpointKey,
        limits: Limits,
        wanted: bool,
    ) {
        let index = endpoint.0 as usize;
        let Some(served) = self.volumes.get_mut(key.0) else { return };
        match (served.at[index], wanted) {
            (Some(id), true) => self.shaper.set_volume_limits(now_ns, id, limits),
            (None, true) => {
                served.at[index] = Some(self.shaper.add_volume(self.endpoints[index], limits));
            }
            (Some(id), false) => {
                served.at[index] = None;
                self.shaper.remove_volume(id);
            }
            (None, false) => {}
        }
    }
}

pub(super) fn endpoint_limits(config: &Config, endpoint: &Endpoint) -> Limits {
    config.limits.limits(endpoint.throughput, endpoint.ops)
}

/// What no request of any endpoint goes below.
fn least_ns(delay: &DelayModel, endpoints: &[Endpoint]) -> u64 {
    let kinds = [Kind::Read, Kind::Write, Kind::Other];
    let at = |endpoint: &Endpoint| {
        kinds.map(|kind| delay.distribution(endpoint.distance, kind).least_ns())
    };
    endpoints.iter().flat_map(at).min().unwrap_or(0)
}

/// Where it listens is fixed: clients are connected there.
fn check_endpoints(before: &[Endpoint], after: &[Endpoint]) -> Vec<Breach> {
    let mut broken = Vec::new();
    for (index, endpoint) in after.iter().enumerate() {
        let name = endpoint.name.clone();
        let mut add = |key, rule| {
            let subject = Subject::Endpoint(index);
            broken.push(Breach { subject, name: name.clone(), key, rule });
        };
        match before.iter().find(|other| other.name == endpoint.name) {
            None => add("name", Rule::EndpointAdded),
            Some(other) if other.address != endpoint.address => {
                let (from, to) = (other.address, endpoint.address);
                add("address", Rule::AddressFixed { from, to });
            }
            Some(_) => {}
        }
    }
    for endpoint in before {
        if after.iter().all(|other| other.name != endpoint.name) {
            let (subject, name) = (Subject::Unknown, endpoint.name.clone());
            broken.push(Breach { subject, name, key: "name", rule: Rule::EndpointRemoved });
        }
    }
    broken
}
