//! Throughput limits that act together: of network flows, volumes and endpoints.
//!
//! For: delaying requests so that no limit is exceeded, without refusing any. A request is released
//! when its flow, its volume and its volume's endpoint all have room, and counts against all of
//! them at that instant; so each limit is kept over every window (docs/adr/0012-gcra.md). Not for:
//! the delay of the emulated storage (`delay.rs`) or timers for replies (`wheel.rs`).
//!
//! Order: requests of one flow are released in order of arrival. Among the flows that have room, a
//! volume's clients take turns (`qos/turns.rs`); of one client, the request that arrived first is
//! next, and the volume waits for the request it chose. An endpoint does the same among its
//! volumes. A volume that several clients wait for takes separate turns at the endpoint; otherwise a
//! client would wait behind another client's requests for other volumes. So a flow at its limit
//! delays no other flow, a client with a long queue delays the others by one turn, and no request
//! waits forever. A request that moves no data waits only in the queue of its flow, unless operations
//! per second are limited.
//!
//! The caller defines clients. The service uses the address of a host, so connections of one host
//! share its turns, and more connections do not get a larger share.
//!
//! Time: a request is released and counted at the instant it conforms, even if the call of
//! [`Shaper::release`] is late. So a late wake-up costs no throughput.
//!
//! A changed limit acts on waiting requests immediately: only the first request of each queue is
//! scheduled, and it is scheduled again.

mod meters;
mod schedule;
mod turns;

use std::collections::VecDeque;

use crate::agenda::Agenda;
use crate::ids::{ClientId, EndpointId, FlowId, ServedVolumeId};

pub use meters::Limits;
use meters::Meters;
pub use turns::QUANTUM;
use turns::Turns;

/// A request as the limits see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The volume whose limit it counts against.
    pub volume: ServedVolumeId,
    /// Bytes read or written; 0 for other procedures, which wait only in the queue of their flow and
    /// for limits of operations per second.
    pub bytes: u64,
    /// Identifies the request to the caller.
    pub token: u64,
}

/// The release of a request that conforms to all its limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Release {
    /// As passed to [`Shaper::arrive`].
    pub request: Request,
    /// The flow the request came from.
    pub flow: FlowId,
    /// When it arrived.
    pub arrived_ns: u64,
    /// When it conformed and was counted; not after the instant of the call.
    pub at_ns: u64,
}

/// Queues and limits of a service.
#[derive(Debug, Default)]
pub struct Shaper {
    endpoints: Vec<Endpoint>,
    volumes: Vec<Volume>,
    /// Ids of removed volumes, to be reused.
    free_volumes: Vec<ServedVolumeId>,
    flows: Vec<Flow>,
    /// Ids of closed flows, to be reused.
    free_flows: Vec<FlowId>,
    flow_limits: Limits,
    /// Flows whose first request waits for the flow's own limit, by the instant it conforms.
    waiting_flows: Agenda,
    /// Volumes whose first request waits for the volume's limit.
    waiting_volumes: Agenda,
    /// Endpoints whose first request waits for the endpoint's limit.
    waiting_endpoints: Agenda,
    /// Numbers requests in the order of arrival.
    sequence: u64,
    waiting: usize,
}

#[derive(Debug)]
struct Endpoint {
    meters: Meters,
    /// Volumes whose first request conforms to the limits of its flow and its volume.
    turns: Turns,
    /// Whether it is in `waiting_endpoints`.
    waits: bool,
}

#[derive(Debug)]
struct Volume {
    endpoint: EndpointId,
    meters: Meters,
    /// Flows whose first request is for this volume and conforms to the flow's limits.
    turns: Turns,
    /// The flow whose request was chosen, with the request's number.
    chosen: Option<(u64, FlowId)>,
    waits_for: WaitsFor,
    /// Requests for it that wait in any flow.
    queued: usize,
    /// Its id is freed when no request is queued.
    removed: bool,
}

#[derive(Debug)]
struct Flow {
    client: ClientId,
    meters: Meters,
    queue: VecDeque<Queued>,
    waits_for: WaitsFor,
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    sequence: u64,
    arrived_ns: u64,
    request: Request,
}

/// What the first request of a queue waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitsFor {
    /// The queue is empty.
    Nothing,
    /// The limit of this queue.
    Limit,
    /// The choice among the ready requests, once all of this instant are known.
    Choice,
    /// Its turn at the next queue, where it has this sequence number.
    Turn(u64),
}

impl Shaper {
    /// A shaper without endpoints, volumes or flows. Each new flow gets `flow_limits`.
    pub fn new(flow_limits: Limits) -> Shaper {
        Shaper { flow_limits, ..Shaper::default() }
    }

    /// Adds an endpoint. Several volumes may share it.
    pub fn add_endpoint(&mut self, limits: Limits) -> EndpointId {
        let meters = Meters::new(limits);
        self.endpoints.push(Endpoint { meters, turns: Turns::default(), waits: false });
        EndpointId(last(&self.endpoints))
    }

    /// Adds a volume behind an endpoint.
    pub fn add_volume(&mut self, endpoint: EndpointId, limits: Limits) -> ServedVolumeId {
        let volume = Volume {
            endpoint,
            meters: Meters::new(limits),
            turns: Turns::default(),
            chosen: None,
            waits_for: WaitsFor::Nothing,
            queued: 0,
            removed: false,
        };
        if let Some(id) = self.free_volumes.pop() {
            self.volumes[id.0 as usize] = volume;
            return id;
        }
        self.volumes.push(volume);
        ServedVolumeId(last(&self.volumes))
    }

    /// Removes a volume once its waiting requests are released. No more may arrive for it.
    pub fn remove_volume(&mut self, volume: ServedVolumeId) {
        self.volumes[volume.0 as usize].removed = true;
        self.free_if_unused(volume);
    }

    /// Adds a network flow of a client.
    pub fn open_flow(&mut self, client: ClientId) -> FlowId {
        let meters = Meters::new(self.flow_limits);
        let flow = Flow { client, meters, queue: VecDeque::new(), waits_for: WaitsFor::Nothing };
        if let Some(id) = self.free_flows.pop() {
            self.flows[id.0 as usize] = flow;
            return id;
        }
        self.flows.push(flow);
        FlowId(last(&self.flows))
    }

    /// Removes a flow and returns its waiting requests. Requests that were released remain counted
    /// against their limits.
    pub fn close_flow(&mut self, now_ns: u64, flow: FlowId) -> Vec<Request> {
        let queue = std::mem::take(&mut self.flows[flow.0 as usize].queue);
        self.withdraw_flow(now_ns, flow, queue.front());
        self.waiting -= queue.len();
        self.free_flows.push(flow);
        let dropped: Vec<Request> = queue.into_iter().map(|queued| queued.request).collect();
        for request in &dropped {
            self.volumes[request.volume.0 as usize].queued -= 1;
            self.free_if_unused(request.volume);
        }
        dropped
    }

    /// Waiting requests.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// If neither a limit nor an earlier request delays a request that arrives now, counts it and
    /// returns true. The caller must have released the requests due by now.
    pub fn pass(&mut self, now_ns: u64, flow: FlowId, volume: ServedVolumeId, bytes: u64) -> bool {
        let Shaper { flows, volumes, endpoints, .. } = self;
        let flow = &mut flows[flow.0 as usize];
        let volume = &mut volumes[volume.0 as usize];
        let endpoint = &mut endpoints[volume.endpoint.0 as usize];
        if !flow.queue.is_empty() {
            return false;
        }
        let meters = [&mut flow.meters, &mut volume.meters, &mut endpoint.meters];
        if bytes == 0 && !meters.iter().any(|meters| meters.limits_operations()) {
            return true;
        }
        if volume.waits_for != WaitsFor::Nothing || endpoint.waits {
            return false;
        }
        let conforms = meters.iter().all(|meters| meters.conforms_at_ns(now_ns, bytes) <= now_ns);
        if conforms {
            for meters in meters {
                meters.charge(now_ns, bytes);
            }
        }
        conforms
    }

    /// Queues a request; [`Shaper::release`] returns it when it conforms, perhaps immediately.
    pub fn arrive(&mut self, now_ns: u64, flow: FlowId, request: Request) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.waiting += 1;
        self.volumes[request.volume.0 as usize].queued += 1;
        let queue = &mut self.flows[flow.0 as usize].queue;
        queue.push_back(Queued { sequence, arrived_ns: now_ns, request });
        if queue.len() == 1 {
            self.schedule_flow(now_ns, flow);
        }
    }

    /// Appends all requests that conform by `now_ns` to `out`, in order of release.
    pub fn release(&mut self, now_ns: u64, out: &mut Vec<Release>) {
        // At one instant flows are first, then volumes, then endpoints, so that each chooses among all
        // that are ready.
        while let Some(at_ns) = self.next_event_ns().filter(|at_ns| *at_ns <= now_ns) {
            let first = |agenda: &Agenda| {
                agenda.first().filter(|(first_ns, _)| *first_ns == at_ns).map(|(_, number)| number)
            };
            if let Some(flow) = first(&self.waiting_flows) {
                out.extend(self.promote_flow(at_ns, FlowId(flow)));
            } else if let Some(volume) = first(&self.waiting_volumes) {
                self.promote_volume(at_ns, ServedVolumeId(volume));
            } else if let Some(endpoint) = first(&self.waiting_endpoints) {
                out.extend(self.release_first(at_ns, EndpointId(endpoint)));
            }
        }
    }

    /// When to call [`Shaper::release`] next; `None` while no request waits.
    pub fn next_ns(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        self.next_event_ns()
    }

    /// When to examine a queue next, which may release nothing.
    fn next_event_ns(&self) -> Option<u64> {
        let agendas = [&self.waiting_flows, &self.waiting_volumes, &self.waiting_endpoints];
        agendas.into_iter().filter_map(|agenda| agenda.first()).map(|(at_ns, _)| at_ns).min()
    }

    /// The token of the first request in a flow's queue.
    pub fn first_of(&self, flow: FlowId) -> Option<u64> {
        self.flows.get(flow.0 as usize)?.queue.front().map(|queued| queued.request.token)
    }

    /// Changes a volume's limits immediately. Requests that conform by now and are not released yet
    /// count as released now.
    pub fn set_volume_limits(&mut self, now_ns: u64, volume: ServedVolumeId, limits: Limits) {
        self.volumes[volume.0 as usize].meters.set(now_ns, limits);
        self.schedule_volume(now_ns, volume);
    }

    /// Changes an endpoint's limits immediately; as [`Shaper::set_volume_limits`].
    pub fn set_endpoint_limits(&mut self, now_ns: u64, endpoint: EndpointId, limits: Limits) {
        self.endpoints[endpoint.0 as usize].meters.set(now_ns, limits);
        self.schedule_endpoint(now_ns, endpoint);
    }

    /// Changes the limits of every flow immediately; as [`Shaper::set_volume_limits`].
    pub fn set_flow_limits(&mut self, now_ns: u64, limits: Limits) {
        self.flow_limits = limits;
        for index in 0..self.flows.len() {
            let flow = FlowId(index as u32);
            let state = &mut self.flows[index];
            state.meters.set(now_ns, limits);
            let first = state.queue.front().copied();
            self.withdraw_flow(now_ns, flow, first.as_ref());
            self.schedule_flow(now_ns, flow);
        }
    }
}

/// The index of the last element.
fn last<T>(all: &[T]) -> u32 {
    u32::try_from(all.len() - 1).expect("fewer than 2^32 of a kind")
}
