//! Throughput limits that act together: of network flows, volumes and endpoints.
//!
//! For: delaying requests so that no limit is exceeded, without ever refusing one. A request goes
//! when its flow, its volume and its volume's endpoint all have room, and is counted by all of them
//! at that instant; so each limit holds by itself, over every window (docs/adr/0012-gcra.md). Not
//! for: the time that storage takes (`delay.rs`) nor waiting (`wheel.rs`).
//!
//! Order: requests of one flow go in the order in which they arrived. Among the flows that have
//! room a volume lets its clients take turns (`qos/turns.rs`), and within a client serves the
//! request that arrived first; it waits for the one that it chose. An endpoint does the same among
//! its volumes, where a volume for which several clients wait has turns of its own: otherwise a
//! client would wait behind what another one sent to other volumes. So a flow at its own limit
//! holds up nobody else, a client with a long queue delays the others by one turn only, and no
//! request waits for ever. What moves no data where operations are not limited has no limit to
//! wait for, and waits only in the queue of its flow.
//!
//! A client is what the caller says it is; the service takes a host's address, so connections of
//! one host share its turns, and more of them do not make its share larger.
//!
//! Time: each request goes at the instant at which it may, and is counted there, even when
//! [`Shaper::release`] is called later than it asked for. So no throughput is lost by waking late.
//!
//! A limit that changes acts on waiting requests at once: nothing is scheduled ahead but the first
//! of each queue, and that is scheduled anew.

mod meters;
mod turns;

use std::collections::VecDeque;

use crate::agenda::Agenda;

pub use meters::Limits;
use meters::Meters;
pub use turns::QUANTUM;
use turns::Turns;

/// An endpoint of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointId(u32);

/// A volume of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeId(u32);

/// A network flow of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(u32);

/// A client of a [`Shaper`]: its flows share one turn wherever they wait for a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientId(u32);

impl ClientId {
    /// The client of this number; numbers may be used again when a client has no flow left.
    pub const fn new(number: u32) -> ClientId {
        ClientId(number)
    }
}

/// A request as the limits see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Whose limit it counts against.
    pub volume: VolumeId,
    /// Bytes that it reads or writes; 0 for all other procedures, which then wait only in the queue
    /// of their flow and for operations per second.
    pub bytes: u64,
    /// Whatever the caller knows it by.
    pub token: u64,
}

/// A request that may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// As given.
    pub request: Request,
    /// Whence.
    pub flow: FlowId,
    /// When it came.
    pub arrived_ns: u64,
    /// When it may go, and is counted; not after the instant of the call.
    pub at_ns: u64,
}

/// Queues and limits of a service.
#[derive(Debug, Default)]
pub struct Shaper {
    endpoints: Vec<Endpoint>,
    volumes: Vec<Volume>,
    /// Places of volumes that were removed.
    free_volumes: Vec<VolumeId>,
    flows: Vec<Flow>,
    /// Places of flows that were closed.
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
    /// Volumes whose first request has room in its flow and its volume.
    turns: Turns,
    /// Whether it is in `waiting_endpoints`.
    waits: bool,
}

#[derive(Debug)]
struct Volume {
    endpoint: EndpointId,
    meters: Meters,
    /// Flows whose first request is for this volume and has room in its flow.
    turns: Turns,
    /// The flow whose request it chose, with the request's number.
    chosen: Option<(u64, FlowId)>,
    place: Place,
    /// Requests for it that wait in any flow.
    queued: usize,
    /// It goes when nothing is queued any more.
    removed: bool,
}

#[derive(Debug)]
struct Flow {
    client: ClientId,
    meters: Meters,
    queue: VecDeque<Queued>,
    place: Place,
}

#[derive(Clone, Copy, Debug)]
struct Queued {
    sequence: u64,
    arrived_ns: u64,
    request: Request,
}

/// Where the first request of a queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// There is none.
    Empty,
    /// It waits for this queue's limit.
    Waits,
    /// At this instant, when all that are ready are known, one of them is chosen.
    Chooses,
    /// In the `ready` of the next queue, under this number.
    Ready(u64),
}

impl Shaper {
    /// No endpoint, volume or flow; flows to come get `flow_limits` each.
    pub fn new(flow_limits: Limits) -> Shaper {
        Shaper { flow_limits, ..Shaper::default() }
    }

    /// Adds an endpoint, which several volumes may share.
    pub fn add_endpoint(&mut self, limits: Limits) -> EndpointId {
        let meters = Meters::new(limits);
        self.endpoints.push(Endpoint { meters, turns: Turns::default(), waits: false });
        EndpointId(last(&self.endpoints))
    }

    /// Adds a volume behind an endpoint. The place of a removed one is used again.
    pub fn add_volume(&mut self, endpoint: EndpointId, limits: Limits) -> VolumeId {
        let volume = Volume {
            endpoint,
            meters: Meters::new(limits),
            turns: Turns::default(),
            chosen: None,
            place: Place::Empty,
            queued: 0,
            removed: false,
        };
        if let Some(id) = self.free_volumes.pop() {
            self.volumes[id.0 as usize] = volume;
            return id;
        }
        self.volumes.push(volume);
        VolumeId(last(&self.volumes))
    }

    /// Takes a volume out when what waits for it has gone; nothing more may arrive for it.
    pub fn remove_volume(&mut self, volume: VolumeId) {
        self.volumes[volume.0 as usize].removed = true;
        self.free_if_unused(volume);
    }

    /// Adds a network flow of the client that all flows added so belong to.
    pub fn open_flow(&mut self) -> FlowId {
        self.open_flow_of(ClientId(0))
    }

    /// Adds a network flow of a client. The place of a closed one is used again.
    pub fn open_flow_of(&mut self, client: ClientId) -> FlowId {
        let meters = Meters::new(self.flow_limits);
        let flow = Flow { client, meters, queue: VecDeque::new(), place: Place::Empty };
        if let Some(id) = self.free_flows.pop() {
            self.flows[id.0 as usize] = flow;
            return id;
        }
        self.flows.push(flow);
        FlowId(last(&self.flows))
    }

    /// Takes a flow out, with the requests that still waited; what had gone stays counted.
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

    /// Requests that wait.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Lets a request go that comes now, and counts it, if nothing makes it wait: no request
    /// before it and no limit. Whatever is due by now has to be released before.
    pub fn pass(&mut self, now_ns: u64, flow: FlowId, volume: VolumeId, bytes: u64) -> bool {
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
        if volume.place != Place::Empty || endpoint.waits {
            return false;
        }
        let goes = meters.iter().all(|meters| meters.conforms_at_ns(now_ns, bytes) <= now_ns);
        if goes {
            for meters in meters {
                meters.charge(now_ns, bytes);
            }
        }
        goes
    }

    /// Takes a request in; [`Shaper::release`] gives it back when it may go, perhaps at once.
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

    /// Appends to `out` every request that may go by `now_ns`, in the order in which they go.
    pub fn release(&mut self, now_ns: u64, out: &mut Vec<Released>) {
        // At one instant flows first, then volumes, then endpoints: whoever chooses sees all who
        // could be chosen.
        while let Some(at_ns) = self.next_event_ns().filter(|at_ns| *at_ns <= now_ns) {
            let first = |agenda: &Agenda| {
                agenda.first().filter(|(first_ns, _)| *first_ns == at_ns).map(|(_, number)| number)
            };
            if let Some(flow) = first(&self.waiting_flows) {
                out.extend(self.promote_flow(at_ns, FlowId(flow)));
            } else if let Some(volume) = first(&self.waiting_volumes) {
                self.promote_volume(at_ns, VolumeId(volume));
            } else if let Some(endpoint) = first(&self.waiting_endpoints) {
                out.extend(self.release_first(at_ns, EndpointId(endpoint)));
            }
        }
    }

    /// The instant at which something may go next; `None` while nothing waits.
    pub fn next_ns(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
        self.next_event_ns()
    }

    /// When a queue is to be examined next, though nothing may come of it.
    fn next_event_ns(&self) -> Option<u64> {
        let agendas = [&self.waiting_flows, &self.waiting_volumes, &self.waiting_endpoints];
        agendas.into_iter().filter_map(|agenda| agenda.first()).map(|(at_ns, _)| at_ns).min()
    }

    /// The token of the request that is the first of its flow to go.
    pub fn first_of(&self, flow: FlowId) -> Option<u64> {
        self.flows.get(flow.0 as usize)?.queue.front().map(|queued| queued.request.token)
    }

    /// Changes a volume's limits at once. What may go by now has to be released before, or it is
    /// counted as if it went now.
    pub fn set_volume_limits(&mut self, now_ns: u64, volume: VolumeId, limits: Limits) {
        self.volumes[volume.0 as usize].meters.set(now_ns, limits);
        self.schedule_volume(now_ns, volume);
    }

    /// Changes an endpoint's limits at once; as [`Shaper::set_volume_limits`].
    pub fn set_endpoint_limits(&mut self, now_ns: u64, endpoint: EndpointId, limits: Limits) {
        self.endpoints[endpoint.0 as usize].meters.set(now_ns, limits);
        self.schedule_endpoint(now_ns, endpoint);
    }

    /// Changes the limits of every flow, each by itself, at once; as
    /// [`Shaper::set_volume_limits`].
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

    fn free_if_unused(&mut self, volume: VolumeId) {
        let state = &mut self.volumes[volume.0 as usize];
        if state.removed && state.queued == 0 {
            state.removed = false;
            self.free_volumes.push(volume);
        }
    }

    /// The flow whose request the volume serves next, with the request's number.
    fn first_flow(&mut self, volume: VolumeId) -> Option<(u64, FlowId)> {
        let Shaper { flows, volumes, endpoints, .. } = self;
        let Volume { turns, meters, endpoint, .. } = &mut volumes[volume.0 as usize];
        let endpoint = &endpoints[endpoint.0 as usize];
        let first = turns.first(
            |sequence, flow| flows[flow as usize].place == Place::Ready(sequence),
            |flow| cost([meters, &endpoint.meters], front(&flows[flow as usize]).request.bytes),
        );
        first.map(|(sequence, flow)| (sequence, FlowId(flow)))
    }

    /// The volume whose request the endpoint serves next, with the flow that the volume chose.
    fn first_volume(&mut self, endpoint: EndpointId) -> Option<(VolumeId, FlowId)> {
        let Shaper { flows, volumes, endpoints, .. } = self;
        let Endpoint { turns, meters, .. } = &mut endpoints[endpoint.0 as usize];
        let chosen = |volume: u32| {
            let (_, flow) = volumes[volume as usize].chosen.expect("a ready volume has chosen");
            flow
        };
        let first = turns.first(
            |sequence, volume| volumes[volume as usize].place == Place::Ready(sequence),
            |volume| {
                let bytes = front(&flows[chosen(volume).0 as usize]).request.bytes;
                cost([&volumes[volume as usize].meters, meters], bytes)
            },
        );
        first.map(|(_, volume)| (VolumeId(volume), chosen(volume)))
    }

    fn first_request(&self, flow: FlowId) -> Queued {
        *front(&self.flows[flow.0 as usize])
    }

    /// Takes a flow out of wherever its first request stands.
    fn withdraw_flow(&mut self, now_ns: u64, flow: FlowId, first: Option<&Queued>) {
        let place = &mut self.flows[flow.0 as usize].place;
        match (std::mem::replace(place, Place::Empty), first) {
            (Place::Waits, _) => self.waiting_flows.remove(flow.0),
            (Place::Ready(_), Some(first)) => self.schedule_volume(now_ns, first.request.volume),
            _ => {}
        }
    }

    /// Lets a flow's first request wait for the flow's limit, as it is now; it stands nowhere.
    fn schedule_flow(&mut self, now_ns: u64, flow: FlowId) {
        let state = &self.flows[flow.0 as usize];
        let Some(first) = state.queue.front() else { return };
        if state.meters.limits_nothing() && first.request.bytes > 0 {
            return self.make_ready(now_ns, flow);
        }
        let at_ns = state.meters.conforms_at_ns(now_ns, first.request.bytes);
        self.flows[flow.0 as usize].place = Place::Waits;
        self.waiting_flows.set(flow.0, at_ns);
    }

    /// Lets a volume choose among the requests that are ready for it, and the chosen one wait for
    /// the volume's limit, as both are now.
    fn schedule_volume(&mut self, now_ns: u64, volume: VolumeId) {
        let chosen = self.first_flow(volume);
        let state = &mut self.volumes[volume.0 as usize];
        state.chosen = chosen;
        let endpoint = state.endpoint;
        let before = std::mem::replace(&mut state.place, Place::Empty);
        if let Place::Ready(_) = before {
            self.schedule_endpoint(now_ns, endpoint);
        }
        match chosen {
            Some((_, flow)) => {
                let bytes = self.first_request(flow).request.bytes;
                let state = &mut self.volumes[volume.0 as usize];
                state.place = Place::Waits;
                let at_ns = state.meters.conforms_at_ns(now_ns, bytes);
                self.waiting_volumes.set(volume.0, at_ns);
            }
            None if before != Place::Empty => self.waiting_volumes.remove(volume.0),
            None => {}
        }
    }

    /// Lets an endpoint choose among its volumes, and the chosen request wait for the endpoint's
    /// limit, as both are now.
    ///
    /// Gives the chosen request, with its volume and flow, if it may go now.
    fn schedule_endpoint(
        &mut self,
        now_ns: u64,
        endpoint: EndpointId,
    ) -> Option<(Queued, VolumeId, FlowId)> {
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

    /// A flow's first request has room in its flow. If it has no other limit to wait for, it goes.
    fn promote_flow(&mut self, now_ns: u64, flow: FlowId) -> Option<Released> {
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
        state.place = Place::Empty;
        self.went(request.volume);
        self.schedule_flow(now_ns, flow);
        Some(Released { request, flow, arrived_ns, at_ns: now_ns })
    }

    /// A flow's first request waits for its volume from now on.
    fn make_ready(&mut self, now_ns: u64, flow: FlowId) {
        let Queued { sequence, request, .. } = self.first_request(flow);
        let state = &mut self.flows[flow.0 as usize];
        state.place = Place::Ready(sequence);
        let client = u64::from(state.client.0);
        let turns = &mut self.volumes[request.volume.0 as usize].turns;
        let was_shared = turns.is_shared();
        turns.push(client, sequence, flow.0);
        let volume = &self.volumes[request.volume.0 as usize];
        let (place, chosen) = (volume.place, volume.chosen);
        if place != Place::Empty && self.first_flow(request.volume) == chosen {
            // A volume that comes to be shared takes its own turns at the endpoint.
            let is_shared = self.volumes[request.volume.0 as usize].turns.is_shared();
            if was_shared || !is_shared || !matches!(place, Place::Ready(_)) {
                return;
            }
        }
        self.schedule_volume(now_ns, request.volume);
    }

    /// A volume may have room for the request that it chose; if so, that one waits for the
    /// endpoint.
    fn promote_volume(&mut self, now_ns: u64, volume: VolumeId) {
        if self.volumes[volume.0 as usize].place == Place::Chooses {
            self.schedule_volume(now_ns, volume);
            if self.waiting_volumes.at_ns(volume.0) != Some(now_ns) {
                return;
            }
        }
        self.waiting_volumes.remove(volume.0);
        let state = &mut self.volumes[volume.0 as usize];
        let (sequence, flow) = state.chosen.expect("a waiting volume has chosen");
        state.place = Place::Ready(sequence);
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

    /// Lets an endpoint choose when all volumes that have room at this instant have said so.
    fn consider_endpoint(&mut self, now_ns: u64, endpoint: EndpointId) {
        self.endpoints[endpoint.0 as usize].waits = true;
        self.waiting_endpoints.set(endpoint.0, now_ns);
    }

    /// An endpoint may have room for its first request. If so, it goes, and flow, volume and
    /// endpoint count it.
    fn release_first(&mut self, now_ns: u64, endpoint: EndpointId) -> Option<Released> {
        let (queued, volume, flow) = self.schedule_endpoint(now_ns, endpoint)?;
        let Queued { arrived_ns, request, .. } = queued;
        let volumes_state = &mut self.volumes[volume.0 as usize];
        let endpoint_state = &mut self.endpoints[endpoint.0 as usize];
        let cost = cost([&volumes_state.meters, &endpoint_state.meters], request.bytes);
        volumes_state.turns.served(cost);
        volumes_state.place = Place::Empty;
        volumes_state.meters.charge(now_ns, request.bytes);
        endpoint_state.turns.served(cost);
        endpoint_state.meters.charge(now_ns, request.bytes);
        let state = &mut self.flows[flow.0 as usize];
        state.queue.pop_front();
        state.place = Place::Empty;
        state.meters.charge(now_ns, request.bytes);

        // What comes next may be there at this very instant: nobody chooses before that is known,
        // so that a client whose requests come from one queue does not lose its turn.
        self.schedule_flow(now_ns, flow);
        let state = &mut self.volumes[volume.0 as usize];
        if state.place == Place::Empty {
            state.place = Place::Chooses;
            self.waiting_volumes.set(volume.0, now_ns);
        }
        self.consider_endpoint(now_ns, endpoint);
        self.went(request.volume);
        Some(Released { request, flow, arrived_ns, at_ns: now_ns })
    }

    fn went(&mut self, volume: VolumeId) {
        self.waiting -= 1;
        self.volumes[volume.0 as usize].queued -= 1;
        self.free_if_unused(volume);
    }
}

/// Marks the turns of a volume that clients share at its endpoint; clients are below.
const SHARED: u64 = 1 << 32;

/// The first request of a flow that has one.
fn front(flow: &Flow) -> &Queued {
    flow.queue.front().expect("a flow that waits has a request")
}

/// Bytes of a client's turn that a request takes: its own, or where operations are limited those
/// that could go in the time of an operation, if that is more.
fn cost(meters: [&Meters; 2], bytes: u64) -> u64 {
    let operation = meters.into_iter().map(|meters| meters.operation_bytes(QUANTUM)).max();
    bytes.max(operation.unwrap_or_default())
}

/// The place of what was added last.
fn last<T>(all: &[T]) -> u32 {
    u32::try_from(all.len() - 1).expect("fewer than 2^32 of a kind")
}
