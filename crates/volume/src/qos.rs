//! Throughput limits that act together: of network flows, volumes and endpoints.
//!
//! For: delaying requests so that no limit is exceeded, without ever refusing one. A request goes
//! when its flow, its volume and its volume's endpoint all have room, and is counted by all of them
//! at that instant; so each limit holds by itself, over every window (docs/adr/0012-gcra.md). Not
//! for: the time that storage takes (`delay.rs`) nor waiting (`wheel.rs`).
//!
//! Order: requests of one flow go in the order in which they arrived. Among the flows that have
//! room a volume serves the request that arrived first, and waits for that one; likewise an
//! endpoint among its volumes. So a flow at its own limit holds up nobody else, and no request
//! waits for ever. What moves no data where operations are not limited has no limit to wait for,
//! and waits only in the queue of its flow.
//!
//! Time: each request goes at the instant at which it may, and is counted there, even when
//! [`Shaper::release`] is called later than it asked for. So no throughput is lost by waking late.
//!
//! A limit that changes acts on waiting requests at once: nothing is scheduled ahead but the first
//! of each queue, and that is scheduled anew.

mod meters;

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::agenda::Agenda;

pub use meters::Limits;
use meters::Meters;

/// An endpoint of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointId(u32);

/// A volume of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeId(u32);

/// A network flow of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(u32);

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

/// Numbers of requests in the order of arrival, each with the flow or volume whose first it is.
/// One that no longer is stays until its turn comes, and is passed over then.
type Ready = BinaryHeap<Reverse<(u64, u32)>>;

#[derive(Debug)]
struct Endpoint {
    meters: Meters,
    /// Volumes whose first request has room in its flow and its volume.
    ready: Ready,
    /// Whether it is in `waiting_endpoints`.
    waits: bool,
}

#[derive(Debug)]
struct Volume {
    endpoint: EndpointId,
    meters: Meters,
    /// Flows whose first request is for this volume and has room in its flow.
    ready: Ready,
    place: Place,
    /// Requests for it that wait in any flow.
    queued: usize,
    /// It goes when nothing is queued any more.
    removed: bool,
}

#[derive(Debug)]
struct Flow {
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
        self.endpoints.push(Endpoint { meters, ready: Ready::new(), waits: false });
        EndpointId(last(&self.endpoints))
    }

    /// Adds a volume behind an endpoint. The place of a removed one is used again.
    pub fn add_volume(&mut self, endpoint: EndpointId, limits: Limits) -> VolumeId {
        let volume = Volume {
            endpoint,
            meters: Meters::new(limits),
            ready: Ready::new(),
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

    /// Adds a network flow. The place of a closed one is used again.
    pub fn open_flow(&mut self) -> FlowId {
        let meters = Meters::new(self.flow_limits);
        let flow = Flow { meters, queue: VecDeque::new(), place: Place::Empty };
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
        while let Some(at_ns) = self.next_ns().filter(|at_ns| *at_ns <= now_ns) {
            let first = |agenda: &Agenda| {
                agenda.first().filter(|(first_ns, _)| *first_ns == at_ns).map(|(_, number)| number)
            };
            if let Some(flow) = first(&self.waiting_flows) {
                out.extend(self.promote_flow(at_ns, FlowId(flow)));
            } else if let Some(volume) = first(&self.waiting_volumes) {
                self.promote_volume(at_ns, VolumeId(volume));
            } else if let Some(endpoint) = first(&self.waiting_endpoints) {
                out.push(self.release_first(at_ns, EndpointId(endpoint)));
            }
        }
    }

    /// The instant at which something may go next; `None` while nothing waits.
    pub fn next_ns(&self) -> Option<u64> {
        if self.waiting == 0 {
            return None;
        }
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
        let Shaper { flows, volumes, .. } = self;
        let ready = &mut volumes[volume.0 as usize].ready;
        while let Some(&Reverse((sequence, flow))) = ready.peek() {
            if flows[flow as usize].place == Place::Ready(sequence) {
                return Some((sequence, FlowId(flow)));
            }
            ready.pop();
        }
        None
    }

    /// The volume whose request the endpoint serves next.
    fn first_volume(&mut self, endpoint: EndpointId) -> Option<VolumeId> {
        let Shaper { volumes, endpoints, .. } = self;
        let ready = &mut endpoints[endpoint.0 as usize].ready;
        while let Some(&Reverse((sequence, volume))) = ready.peek() {
            if volumes[volume as usize].place == Place::Ready(sequence) {
                return Some(VolumeId(volume));
            }
            ready.pop();
        }
        None
    }

    fn first_request(&self, flow: FlowId) -> Queued {
        *self.flows[flow.0 as usize].queue.front().expect("a flow that waits has a request")
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

    /// Lets a volume's first request wait for the volume's limit, as it is now.
    fn schedule_volume(&mut self, now_ns: u64, volume: VolumeId) {
        let first = self.first_flow(volume);
        let state = &mut self.volumes[volume.0 as usize];
        let endpoint = state.endpoint;
        let before = std::mem::replace(&mut state.place, Place::Empty);
        if let Place::Ready(_) = before {
            self.schedule_endpoint(now_ns, endpoint);
        }
        match first {
            Some((_, flow)) => {
                let bytes = self.first_request(flow).request.bytes;
                let state = &mut self.volumes[volume.0 as usize];
                state.place = Place::Waits;
                let at_ns = state.meters.conforms_at_ns(now_ns, bytes);
                self.waiting_volumes.set(volume.0, at_ns);
            }
            None if before == Place::Waits => self.waiting_volumes.remove(volume.0),
            None => {}
        }
    }

    /// Lets an endpoint's first request wait for the endpoint's limit, as it is now.
    fn schedule_endpoint(&mut self, now_ns: u64, endpoint: EndpointId) {
        let first = self.first_volume(endpoint).and_then(|volume| self.first_flow(volume));
        let bytes = first.map(|(_, flow)| self.first_request(flow).request.bytes);
        let state = &mut self.endpoints[endpoint.0 as usize];
        match bytes {
            Some(bytes) => {
                state.waits = true;
                let at_ns = state.meters.conforms_at_ns(now_ns, bytes);
                self.waiting_endpoints.set(endpoint.0, at_ns);
            }
            None if std::mem::take(&mut state.waits) => self.waiting_endpoints.remove(endpoint.0),
            None => {}
        }
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
        self.flows[flow.0 as usize].place = Place::Ready(sequence);
        self.volumes[request.volume.0 as usize].ready.push(Reverse((sequence, flow.0)));
        if self.first_flow(request.volume) == Some((sequence, flow)) {
            self.schedule_volume(now_ns, request.volume);
        }
    }

    /// A volume's first request has room in its flow and its volume.
    fn promote_volume(&mut self, now_ns: u64, volume: VolumeId) {
        self.waiting_volumes.remove(volume.0);
        let (sequence, _) = self.first_flow(volume).expect("a waiting volume has a flow");
        let state = &mut self.volumes[volume.0 as usize];
        state.place = Place::Ready(sequence);
        let endpoint = state.endpoint;
        self.endpoints[endpoint.0 as usize].ready.push(Reverse((sequence, volume.0)));
        if self.first_volume(endpoint) == Some(volume) {
            self.schedule_endpoint(now_ns, endpoint);
        }
    }

    /// An endpoint's first request has room everywhere: it goes, and all three count it.
    fn release_first(&mut self, now_ns: u64, endpoint: EndpointId) -> Released {
        self.waiting_endpoints.remove(endpoint.0);
        let volume = self.first_volume(endpoint).expect("a waiting endpoint has a volume");
        let (_, flow) = self.first_flow(volume).expect("a ready volume has a flow");
        let Queued { arrived_ns, request, .. } = self.first_request(flow);

        let state = &mut self.flows[flow.0 as usize];
        state.queue.pop_front();
        state.place = Place::Empty;
        state.meters.charge(now_ns, request.bytes);
        let state = &mut self.volumes[volume.0 as usize];
        state.ready.pop();
        state.place = Place::Empty;
        state.meters.charge(now_ns, request.bytes);
        let state = &mut self.endpoints[endpoint.0 as usize];
        state.ready.pop();
        state.waits = false;
        state.meters.charge(now_ns, request.bytes);

        // What comes next in the flow may schedule its volume and that its endpoint.
        self.schedule_flow(now_ns, flow);
        if self.volumes[volume.0 as usize].place == Place::Empty {
            self.schedule_volume(now_ns, volume);
        }
        if !self.endpoints[endpoint.0 as usize].waits {
            self.schedule_endpoint(now_ns, endpoint);
        }
        self.went(request.volume);
        Released { request, flow, arrived_ns, at_ns: now_ns }
    }

    fn went(&mut self, volume: VolumeId) {
        self.waiting -= 1;
        self.volumes[volume.0 as usize].queued -= 1;
        self.free_if_unused(volume);
    }
}

/// The place of what was added last.
fn last<T>(all: &[T]) -> u32 {
    u32::try_from(all.len() - 1).expect("fewer than 2^32 of a kind")
}
