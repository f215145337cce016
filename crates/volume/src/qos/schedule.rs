//! Which request is released next, and when: the choices of volumes and endpoints.
//!
//! A flow's first request waits for the flow's limit, then for its turn at the volume, then for the
//! volume's limit, then for the volume's turn at the endpoint, then for the endpoint's limit.

use super::meters::Meters;
use super::turns::QUANTUM;
use super::{Endpoint, Flow, Queued, Release, Shaper, Volume, WaitsFor};
use crate::ids::{EndpointId, FlowId, ServedVolumeId};

impl Shaper {
    pub(super) fn free_if_unused(&mut self, volume: ServedVolumeId) {
        let state = &mut self.volumes[volume.0 as usize];
        if state.removed && state.queued == 0 {
            state.removed = false;
            self.free_volumes.push(volume);
        }
    }

    /// The flow whose request the volume serves next, with the request's number.
    fn first_flow(&mut self, volume: ServedVolumeId) -> Option<(u64, FlowId)> {
        let Shaper { flows, volumes, endpoints, .. } = self;
        let Volume { turns, meters, endpoint, .. } = &mut volumes[volume.0 as usize];
        let endpoint = &endpoints[endpoint.0 as usize];
        let first = turns.first(
            |sequence, flow| flows[flow as usize].waits_for == WaitsFor::Turn(sequence),
            |flow| cost([meters, &endpoint.meters], front(&flows[flow as usize]).request.bytes),
        );
        first.map(|(sequence, flow)| (sequence, FlowId(flow)))
    }

    /// The volume whose request the endpoint serves next, with the flow that the volume chose.
    fn first_volume(&mut self, endpoint: EndpointId) -> Option<(ServedVolumeId, FlowId)> {
        let Shaper { flows, volumes, endpoints, .. } = self;
        let Endpoint { turns, meters, .. } = &mut endpoints[endpoint.0 as usize];
        let chosen = |volume: u32| {
            let (_, flow) = volumes[volume as usize].chosen.expect("a ready volume has chosen");
            flow
        };
        let first = turns.first(
            |sequence, volume| volumes[volume as usize].waits_for == WaitsFor::Turn(sequence),
            |volume| {
                let bytes = front(&flows[chosen(volume).0 as usize]).request.bytes;
                cost([&volumes[volume as usize].meters, meters], bytes)
            },
        );
        first.map(|(_, volume)| (ServedVolumeId(volume), chosen(volume)))
    }

    fn first_request(&self, flow: FlowId) -> Queued {
        *front(&self.flows[flow.0 as usize])
    }

    /// Withdraws a flow's first request from the queue or limit it waits for.
    pub(super) fn withdraw_flow(&mut self, now_ns: u64, flow: FlowId, first: Option<&Queued>) {
        let waits_for = &mut self.flows[flow.0 as usize].waits_for;
        match (std::mem::replace(waits_for, WaitsFor::Nothing), first) {
            (WaitsFor::Limit, _) => self.waiting_flows.remove(flow.0),
            (WaitsFor::Turn(_), Some(first)) => self.schedule_volume(now_ns, first.request.volume),
            _ => {}
        }
    }

    /// Schedules a flow's first request by the flow's limits.
    pub(super) fn schedule_flow(&mut self, now_ns: u64, flow: FlowId) {
        let state = &self.flows[flow.0 as usize];
        let Some(first) = state.queue.front() else { return };
        if state.meters.limits_nothing() && first.request.bytes > 0 {
            return self.make_ready(now_ns, flow);
        }
        let at_ns = state.meters.conforms_at_ns(now_ns, first.request.bytes);
        self.flows[flow.0 as usize].waits_for = WaitsFor::Limit;
        self.waiting_flows.set(flow.0, at_ns);
    }

    /// Chooses among the requests that are ready for a volume, and schedules the chosen one by the
    /// volume's limits.
    pub(super) fn schedule_volume(&mut self, now_ns: u64, volume: ServedVolumeId) {
        let chosen = self.first_flow(volume);
        let state = &mut self.volumes[volume.0 as usize];
        state.chosen = chosen;
        let endpoint = state.endpoint;
        let before = std::mem::replace(&mut state.waits_for, WaitsFor::Nothing);
        if let WaitsFor::Turn(_) = before {
            self.schedule_endpoint(now_ns, endpoint);
        }
        match chosen {
            Some((_, flow)) => {
                let bytes = self.first_request(flow).request.bytes;
                let state = &mut self.volumes[volume.0 as usize];
                state.waits_for = WaitsFor::Limit;
                let at_ns = state.meters.conforms_at_ns(now_ns, bytes);
                self.waiting_volumes.set(volume.0, at_ns);
            }
            None if before != WaitsFor::Nothing => self.waiting_volumes.remove(volume.0),
            None => {}
        }
    }

    /// Chooses among the volumes that are ready at an endpoint, and schedules the chosen request by
    /// the endpoint's limits. Returns it with its volume and flow if it conforms now.
    pub(super) fn schedule_endpoint(
        &mut self,
        now_ns: u64,
        endpoint: EndpointId,
    ) -> Option<(Queued, ServedVolumeId, FlowId)> {
        let first = self.first_volume(endpoint);
        let state = &mut self.endpoints[endpoint.0 as usize];
        let Some((volume, flow)) = first else {
            if std::mem::take(&mut state.waits) {
                self.waiting_endpoints.remove(endpoint.0);
            }
            return None;
        };
        let queued = *front(&self.flows[flow.0 as usize]);
        state.waits = true;
        let at_ns = state.meters.conforms_at_ns(now_ns, queued.request.bytes);
        self.waiting_endpoints.set(endpoint.0, at_ns);
        (at_ns <= now_ns).then_some((queued, volume, flow))
    }

    /// A flow's first request conforms to the flow's limits. Releases it if no other limit applies.
    pub(super) fn promote_flow(&mut self, now_ns: u64, flow: FlowId) -> Option<Release> {
        self.waiting_flows.remove(flow.0);
        let Queued { arrived_ns, request, .. } = self.first_request(flow);
        let volume = &self.volumes[request.volume.0 as usize];
        let endpoint = &self.endpoints[volume.endpoint.0 as usize];
        let state = &mut self.flows[flow.0 as usize];
        let meters = [&state.meters, &volume.meters, &endpoint.meters];
        if request.bytes > 0 || meters.iter().any(|meters| meters.limits_operations()) {
            self.make_ready(now_ns, flow);
            return None;
        }
        state.queue.pop_front();
        state.waits_for = WaitsFor::Nothing;
        self.count_released(request.volume);
        self.schedule_flow(now_ns, flow);
        Some(Release { request, flow, arrived_ns, at_ns: now_ns })
    }

    /// Queues a flow's first request at its volume.
    fn make_ready(&mut self, now_ns: u64, flow: FlowId) {
        let Queued { sequence, request, .. } = self.first_request(flow);
        let state = &mut self.flows[flow.0 as usize];
        state.waits_for = WaitsFor::Turn(sequence);
        let client = u64::from(state.client.0);
        let turns = &mut self.volumes[request.volume.0 as usize].turns;
        let was_shared = turns.is_shared();
        turns.push(client, sequence, flow.0);
        let volume = &self.volumes[request.volume.0 as usize];
        let (waits_for, chosen) = (volume.waits_for, volume.chosen);
        if waits_for != WaitsFor::Nothing && self.first_flow(request.volume) == chosen {
            // A volume that becomes shared takes separate turns at the endpoint.
            let is_shared = self.volumes[request.volume.0 as usize].turns.is_shared();
            if was_shared || !is_shared || !matches!(waits_for, WaitsFor::Turn(_)) {
                return;
            }
        }
        self.schedule_volume(now_ns, request.volume);
    }

    /// Queues a volume's chosen request at the endpoint, if it conforms to the volume's limits.
    pub(super) fn promote_volume(&mut self, now_ns: u64, volume: ServedVolumeId) {
        if self.volumes[volume.0 as usize].waits_for == WaitsFor::Choice {
            self.schedule_volume(now_ns, volume);
            if self.waiting_volumes.at_ns(volume.0) != Some(now_ns) {
                return;
            }
        }
        self.waiting_volumes.remove(volume.0);
        let state = &mut self.volumes[volume.0 as usize];
        let (sequence, flow) = state.chosen.expect("a waiting volume has chosen");
        state.waits_for = WaitsFor::Turn(sequence);
        let client = if state.turns.is_shared() {
            SHARED | u64::from(volume.0)
        } else {
            u64::from(self.flows[flow.0 as usize].client.0)
        };
        let endpoint = state.endpoint;
        let state = &mut self.endpoints[endpoint.0 as usize];
        state.turns.push(client, sequence, volume.0);
        self.consider_endpoint(now_ns, endpoint);
    }

    /// Schedules an endpoint's choice after all volumes that become ready at this instant.
    fn consider_endpoint(&mut self, now_ns: u64, endpoint: EndpointId) {
        self.endpoints[endpoint.0 as usize].waits = true;
        self.waiting_endpoints.set(endpoint.0, now_ns);
    }

    /// Releases an endpoint's first request and counts it at flow, volume and endpoint, if it
    /// conforms to the endpoint's limits.
    pub(super) fn release_first(&mut self, now_ns: u64, endpoint: EndpointId) -> Option<Release> {
        let (queued, volume, flow) = self.schedule_endpoint(now_ns, endpoint)?;
        let Queued { arrived_ns, request, .. } = queued;
        let volumes_state = &mut self.volumes[volume.0 as usize];
        let endpoint_state = &mut self.endpoints[endpoint.0 as usize];
        let cost = cost([&volumes_state.meters, &endpoint_state.meters], request.bytes);
        volumes_state.turns.served(cost);
        volumes_state.waits_for = WaitsFor::Nothing;
        volumes_state.meters.charge(now_ns, request.bytes);
        endpoint_state.turns.served(cost);
        endpoint_state.meters.charge(now_ns, request.bytes);
        let state = &mut self.flows[flow.0 as usize];
        state.queue.pop_front();
        state.waits_for = WaitsFor::Nothing;
        state.meters.charge(now_ns, request.bytes);

        // The flow's next request may be ready at the same instant. The choice waits for it, so that
        // a client with one flow does not lose its turn.
        self.schedule_flow(now_ns, flow);
        let state = &mut self.volumes[volume.0 as usize];
        if state.waits_for == WaitsFor::Nothing {
            state.waits_for = WaitsFor::Choice;
            self.waiting_volumes.set(volume.0, now_ns);
        }
        self.consider_endpoint(now_ns, endpoint);
        self.count_released(request.volume);
        Some(Release { request, flow, arrived_ns, at_ns: now_ns })
    }

    fn count_released(&mut self, volume: ServedVolumeId) {
        self.waiting -= 1;
        self.volumes[volume.0 as usize].queued -= 1;
        self.free_if_unused(volume);
    }
}

/// Marks the number of a shared volume in an endpoint's turns; clients have lower numbers.
const SHARED: u64 = 1 << 32;

/// The first request of a flow that is not empty.
fn front(flow: &Flow) -> &Queued {
    flow.queue.front().expect("a flow that waits has a request")
}

/// The bytes of a client's turn that a request uses: its own, or if operations are limited, at least
/// those that could be sent in the time of one operation.
fn cost(meters: [&Meters; 2], bytes: u64) -> u64 {
    let operation = meters.into_iter().map(|meters| meters.operation_bytes(QUANTUM)).max();
    bytes.max(operation.unwrap_or_default())
}
