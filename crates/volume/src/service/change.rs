//! Changes of the configuration while the service runs: quotas, levels, limits, delays, volumes.
//!
//! For: replacing the configuration, completely or not at all, while requests wait. Not for: the
//! rules of an account (`rules.rs`) and of its changes (`live.rs`).

use super::{ServedVolume, Service};
use crate::config::{Config, Endpoint};
use crate::delay::{DelayModel, RequestKind};
use crate::ids::{EndpointId, VolumeId};
use crate::qos::Limits;
use crate::rules::{Breach, ConfigItem, Rule};

impl<R: Default> Service<R> {
    /// Replaces the configuration. Limits change immediately, for waiting requests too; delays change
    /// for requests whose delay has not started. Waiting requests for a volume that was removed, or
    /// moved to another endpoint, are still answered; new ones are refused.
    ///
    /// # Errors
    /// All rules that this would break, and everything that cannot change while the service runs;
    /// then nothing has changed.
    pub fn change(&mut self, now_ns: u64, mut new: Config) -> Result<(), Vec<Breach>> {
        let now_ns = self.release_due_by(now_ns);
        let mut broken = check_endpoints(&self.config.endpoints, &new.endpoints);
        let mut live = self.live.clone();
        if let Err(more) = live.change(now_ns, new.account.clone()) {
            broken.extend(more);
        }
        if !broken.is_empty() {
            return Err(broken);
        }
        // Endpoint ids are indices in the first configuration, so later ones keep its order.
        let before = &self.config.endpoints;
        new.endpoints.sort_by_key(|endpoint| before.iter().position(|b| b.name == endpoint.name));
        (self.live, self.config) = (live, new);
        self.apply(now_ns);
        Ok(())
    }

    /// Applies the configuration in force to limits, delays and volumes.
    pub(super) fn apply(&mut self, now_ns: u64) {
        self.shaper.set_flow_limits(now_ns, self.config.limits.flow());
        for (index, endpoint) in self.config.endpoints.iter().enumerate() {
            let limits = endpoint_limits(&self.config, endpoint);
            self.shaper.set_endpoint_limits(now_ns, EndpointId::new(index), limits);
        }
        self.least_delay_ns = least_ns(&self.config.delay, &self.config.endpoints);
        let account = self.live.account().clone();
        let is_removed = |name: &&String| account.volume(name).is_none();
        let removed: Vec<String> = self.volume_ids.keys().filter(is_removed).cloned().collect();
        for name in removed {
            let id = self.volume_ids.remove(&name);
            let Some(served) = id.and_then(|id| self.volumes.remove(id.0)) else { continue };
            self.counters.close_volume(served.subject);
            for id in served.at.into_iter().flatten() {
                self.shaper.remove_volume(id);
            }
        }
        for (index, volume) in account.volumes.iter().enumerate() {
            let throughput = self.live.throughput_limit(volume);
            let ops = self.config.ops.get(index).copied().flatten();
            let limits = self.config.limits.limits(throughput, ops);
            let id = self.id_of(&volume.name);
            for endpoint in 0..self.config.endpoints.len() {
                let is_served = volume.endpoints.contains(&self.config.endpoints[endpoint].name);
                let limits = is_served.then_some(limits);
                self.serve(now_ns, id, EndpointId::new(endpoint), limits);
            }
        }
    }

    /// The id of the volume with this name, which is added if it is new.
    fn id_of(&mut self, name: &str) -> VolumeId {
        if let Some(id) = self.volume_ids.get(name) {
            return *id;
        }
        let subject = self.counters.open_volume(name);
        let at = vec![None; self.config.endpoints.len()];
        let volume = ServedVolume { name: name.to_owned(), subject, at };
        let id = VolumeId(self.volumes.insert(volume));
        self.volume_ids.insert(name.to_owned(), id);
        id
    }

    /// Serves a volume at an endpoint with these limits, or stops serving it there (`None`).
    fn serve(
        &mut self,
        now_ns: u64,
        volume: VolumeId,
        endpoint: EndpointId,
        limits: Option<Limits>,
    ) {
        let Some(served) = self.volumes.get_mut(volume.0) else { return };
        let at = &mut served.at[endpoint.index()];
        match (*at, limits) {
            (Some(id), Some(limits)) => self.shaper.set_volume_limits(now_ns, id, limits),
            (None, Some(limits)) => *at = Some(self.shaper.add_volume(endpoint, limits)),
            (Some(id), None) => {
                *at = None;
                self.shaper.remove_volume(id);
            }
            (None, None) => {}
        }
    }
}

pub(super) fn endpoint_limits(config: &Config, endpoint: &Endpoint) -> Limits {
    config.limits.limits(endpoint.throughput, endpoint.ops)
}

/// A lower bound of the delay of every request at every endpoint.
fn least_ns(delay: &DelayModel, endpoints: &[Endpoint]) -> u64 {
    let kinds = [RequestKind::Read, RequestKind::Write, RequestKind::Other];
    let at = |endpoint: &Endpoint| {
        kinds.map(|kind| delay.distribution(endpoint.distance, kind).least_ns())
    };
    endpoints.iter().flat_map(at).min().unwrap_or(0)
}

/// Endpoints and their addresses are fixed, because clients are connected to them.
fn check_endpoints(before: &[Endpoint], after: &[Endpoint]) -> Vec<Breach> {
    let mut broken = Vec::new();
    for (index, endpoint) in after.iter().enumerate() {
        let name = endpoint.name.clone();
        let mut add = |key, rule| {
            let item = ConfigItem::Endpoint(index);
            broken.push(Breach { item, name: name.clone(), key, rule });
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
            let (item, name) = (ConfigItem::Unknown, endpoint.name.clone());
            broken.push(Breach { item, name, key: "name", rule: Rule::EndpointRemoved });
        }
    }
    broken
}
