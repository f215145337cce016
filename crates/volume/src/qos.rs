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
//! waits for ever.
//!
//! A limit that changes acts on waiting requests at once: nothing is scheduled ahead but the first
//! of each queue, and that is scheduled anew.

use std::collections::{BTreeSet, VecDeque};

use crate::gcra::{Gcra, Rate};

/// What is limited at one place: bytes and operations per second, both, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that are read and written, together.
    pub bytes: Option<Rate>,
    /// Operations of every kind.
    pub ops: Option<Rate>,
}

/// An endpoint of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct EndpointId(usize);

/// A volume of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct VolumeId(usize);

/// A network flow of a [`Shaper`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(usize);

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
}

/// Queues and limits of a service.
#[derive(Debug, Default)]
pub struct Shaper {
    endpoints: Vec<Endpoint>,
    volumes: Vec<Volume>,
    /// Closed flows are `None` until their place is used again.
    flows: Vec<Option<Flow>>,
    flow_limits: Limits,
    /// Flows whose first request waits for the flow's own limit, by the instant it conforms.
    waiting_flows: BTreeSet<(u64, FlowId)>,
    /// Volumes whose first request waits for the volume's limit.
    waiting_volumes: BTreeSet<(u64, VolumeId)>,
    /// Endpoints whose first request waits for the endpoint's limit.
    waiting_endpoints: BTreeSet<(u64, EndpointId)>,
    /// Numbers requests in the order of arrival.
    sequence: u64,
    waiting: usize,
}

#[derive(Debug)]
struct Endpoint {
    meters: Meters,
    /// Volumes whose first request has room in its flow and its volume, by arrival.
    ready: BTreeSet<(u64, VolumeId)>,
    wakes_ns: Option<u64>,
}

#[derive(Debug)]
struct Volume {
    endpoint: EndpointId,
    meters: Meters,
    /// Flows whose first request is for this volume and has room in its flow, by arrival.
    ready: BTreeSet<(u64, FlowId)>,
    place: Place,
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
    /// In the set of those that wait for this queue's limit, until this instant.
    Waits(u64),
    /// In the `ready` of the next queue, under this number.
    Ready(u64),
}

/// The two limits of one place.
#[derive(Clone, Debug, Default)]
struct Meters {
    bytes: Option<Gcra>,
    ops: Option<Gcra>,
}

impl Meters {
    fn new(limits: Limits) -> Meters {
        Meters { bytes: limits.bytes.map(Gcra::new), ops: limits.ops.map(Gcra::new) }
    }

    fn set(&mut self, now_ns: u64, limits: Limits) {
        for (meter, rate) in [(&mut self.bytes, limits.bytes), (&mut self.ops, limits.ops)] {
            match (meter.as_mut(), rate) {
                (Some(gcra), Some(rate)) => gcra.set_rate(now_ns, rate),
                _ => *meter = rate.map(Gcra::new),
            }
        }
    }

    /// The first instant at which both have room. Waiting only drains, so the later of two is it.
    fn conforms_at_ns(&self, now_ns: u64, request: &Request) -> u64 {
        let at = |meter: &Option<Gcra>, cost| {
            meter.as_ref().map_or(now_ns, |gcra| gcra.conforms_at_ns(now_ns, cost))
        };
        at(&self.bytes, request.bytes).max(at(&self.ops, 1))
    }

    fn charge(&mut self, now_ns: u64, request: &Request) {
        for (meter, cost) in [(&mut self.bytes, request.bytes), (&mut self.ops, 1)] {
            if let Some(gcra) = meter {
                gcra.charge(now_ns, cost);
            }
        }
    }
}

impl Shaper {
    /// No endpoint, volume or flow; flows to come get `flow_limits` each.
    pub fn new(flow_limits: Limits) -> Shaper {
        Shaper { flow_limits, ..Shaper::default() }
    }

    /// Adds an endpoint, which several volumes may share.
    pub fn add_endpoint(&mut self, limits: Limits) -> EndpointId {
        let meters = Meters::new(limits);
        self.endpoints.push(Endpoint { meters, ready: BTreeSet::new(), wakes_ns: None });
        EndpointId(self.endpoints.len() - 1)
    }

    /// Adds a volume behind an endpoint.
    pub fn add_volume(&mut self, endpoint: EndpointId, limits: Limits) -> VolumeId {
        let meters = Meters::new(limits);
        let place = Place::Empty;
        self.volumes.push(Volume { endpoint, meters, ready: BTreeSet::new(), place });
        VolumeId(self.volumes.len() - 1)
    }

    /// Adds a network flow. The place of a closed one is used again.
    pub fn open_flow(&mut self) -> FlowId {
        let meters = Meters::new(self.flow_limits);
        let flow = Some(Flow { meters, queue: VecDeque::new(), place: Place::Empty });
        match self.flows.iter().position(Option::is_none) {
            Some(index) => {
                self.flows[index] = flow;
                FlowId(index)
            }
            None => {
                self.flows.push(flow);
                FlowId(self.flows.len() - 1)
            }
        }
    }

    /// Takes a flow out, with the requests that still waited; what had gone stays counted.
    pub fn close_flow(&mut self, now_ns: u64, flow: FlowId) -> Vec<Request> {
        self.withdraw_flow(now_ns, flow);
        let closed = self.flows[flow.0].take().expect("a flow is closed once");
        self.waiting -= closed.queue.len();
        closed.queue.into_iter().map(|queued| queued.request).collect()
    }

    /// Requests that wait.
    pub const fn waiting(&self) -> usize {
        self.waiting
    }

    /// Takes a request in; [`Shaper::release`] gives it back when it may go, perhaps at once.
    pub fn arrive(&mut self, now_ns: u64, flow: FlowId, request: Request) {
        let sequence = self.sequence;
        self.sequence += 1;
        self.waiting += 1;
        let queue = &mut self.flow_mut(flow).queue;
        queue.push_back(Queued { sequence, arrived_ns: now_ns, request });
        if queue.len() == 1 {
            self.schedule_flow(now_ns, flow);
        }
    }

    /// Appends to `out` every request that may go by `now_ns`, in the order in which they go.
    pub fn release(&mut self, now_ns: u64, out: &mut Vec<Released>) {
        // Flows first, then volumes, then one endpoint: whoever chooses sees all who could be
        // chosen.
        loop {
            if let Some(&(at_ns, flow)) = self.waiting_flows.first()
                && at_ns <= now_ns
            {
                self.promote_flow(now_ns, flow);
            } else if let Some(&(at_ns, volume)) = self.waiting_volumes.first()
                && at_ns <= now_ns
            {
                self.promote_volume(now_ns, volume);
            } else if let Some(&(at_ns, endpoint)) = self.waiting_endpoints.first()
                && at_ns <= now_ns
            {
                out.push(self.release_first(now_ns, endpoint));
            } else {
                return;
            }
        }
    }

    /// The instant at which something may go next; `None` while nothing waits.
    pub fn next_ns(&self) -> Option<u64> {
        let flow = self.waiting_flows.first().map(|(at_ns, _)| *at_ns);
        let volume = self.waiting_volumes.first().map(|(at_ns, _)| *at_ns);
        let endpoint = self.waiting_endpoints.first().map(|(at_ns, _)| *at_ns);
        [flow, volume, endpoint].into_iter().flatten().min()
    }

    /// Changes a volume's limits at once.
    pub fn set_volume_limits(&mut self, now_ns: u64, volume: VolumeId, limits: Limits) {
        self.volumes[volume.0].meters.set(now_ns, limits);
        self.schedule_volume(now_ns, volume);
    }

    /// Changes an endpoint's limits at once.
    pub fn set_endpoint_limits(&mut self, now_ns: u64, endpoint: EndpointId, limits: Limits) {
        self.endpoints[endpoint.0].meters.set(now_ns, limits);
        self.schedule_endpoint(now_ns, endpoint);
    }

    /// Changes the limits of every flow, each by itself, at once.
    pub fn set_flow_limits(&mut self, now_ns: u64, limits: Limits) {
        self.flow_limits = limits;
        for index in 0..self.flows.len() {
            if let Some(flow) = &mut self.flows[index] {
                flow.meters.set(now_ns, limits);
                self.schedule_flow(now_ns, FlowId(index));
            }
        }
    }

    fn flow_mut(&mut self, flow: FlowId) -> &mut Flow {
        self.flows[flow.0].as_mut().expect("a closed flow is not used")
    }

    fn flow(&self, flow: FlowId) -> &Flow {
        self.flows[flow.0].as_ref().expect("a closed flow is not used")
    }

    /// Takes a flow out of wherever its first request stands.
    fn withdraw_flow(&mut self, now_ns: u64, flow: FlowId) {
        match std::mem::replace(&mut self.flow_mut(flow).place, Place::Empty) {
            Place::Empty => {}
            Place::Waits(at_ns) => {
                self.waiting_flows.remove(&(at_ns, flow));
            }
            Place::Ready(sequence) => {
                let volume = self.flow(flow).queue[0].request.volume;
                self.volumes[volume.0].ready.remove(&(sequence, flow));
                self.schedule_volume(now_ns, volume);
            }
        }
    }

    /// Lets a flow's first request wait for the flow's limit, as it is now.
    fn schedule_flow(&mut self, now_ns: u64, flow: FlowId) {
        self.withdraw_flow(now_ns, flow);
        let state = self.flow_mut(flow);
        if let Some(first) = state.queue.front() {
            let at_ns = state.meters.conforms_at_ns(now_ns, &first.request);
            state.place = Place::Waits(at_ns);
            self.waiting_flows.insert((at_ns, flow));
        }
    }

    /// Lets a volume's first request wait for the volume's limit, as it is now.
    fn schedule_volume(&mut self, now_ns: u64, volume: VolumeId) {
        let endpoint = self.volumes[volume.0].endpoint;
        match std::mem::replace(&mut self.volumes[volume.0].place, Place::Empty) {
            Place::Empty => {}
            Place::Waits(at_ns) => {
                self.waiting_volumes.remove(&(at_ns, volume));
            }
            Place::Ready(sequence) => {
                self.endpoints[endpoint.0].ready.remove(&(sequence, volume));
                self.schedule_endpoint(now_ns, endpoint);
            }
        }
        if let Some(&(_, flow)) = self.volumes[volume.0].ready.first() {
            let request = self.flow(flow).queue[0].request;
            let at_ns = self.volumes[volume.0].meters.conforms_at_ns(now_ns, &request);
            self.volumes[volume.0].place = Place::Waits(at_ns);
            self.waiting_volumes.insert((at_ns, volume));
        }
    }

    /// Lets an endpoint's first request wait for the endpoint's limit, as it is now.
    fn schedule_endpoint(&mut self, now_ns: u64, endpoint: EndpointId) {
        if let Some(at_ns) = self.endpoints[endpoint.0].wakes_ns.take() {
            self.waiting_endpoints.remove(&(at_ns, endpoint));
        }
        if let Some((_, flow)) = self.first_of(endpoint) {
            let request = self.flow(flow).queue[0].request;
            let state = &mut self.endpoints[endpoint.0];
            let at_ns = state.meters.conforms_at_ns(now_ns, &request);
            state.wakes_ns = Some(at_ns);
            self.waiting_endpoints.insert((at_ns, endpoint));
        }
    }

    /// The volume and flow of the request that the endpoint serves next.
    fn first_of(&self, endpoint: EndpointId) -> Option<(VolumeId, FlowId)> {
        let &(_, volume) = self.endpoints[endpoint.0].ready.first()?;
        let &(_, flow) = self.volumes[volume.0].ready.first().expect("a ready volume has a flow");
        Some((volume, flow))
    }

    /// A flow's first request has room in its flow.
    fn promote_flow(&mut self, now_ns: u64, flow: FlowId) {
        self.withdraw_flow(now_ns, flow);
        let state = self.flow_mut(flow);
        let Queued { sequence, request, .. } = state.queue[0];
        state.place = Place::Ready(sequence);
        let ready = &mut self.volumes[request.volume.0].ready;
        ready.insert((sequence, flow));
        if ready.first() == Some(&(sequence, flow)) {
            self.schedule_volume(now_ns, request.volume);
        }
    }

    /// A volume's first request has room in its flow and its volume.
    fn promote_volume(&mut self, now_ns: u64, volume: VolumeId) {
        let state = &mut self.volumes[volume.0];
        let &(sequence, _) = state.ready.first().expect("a waiting volume has a flow");
        if let Place::Waits(at_ns) = std::mem::replace(&mut state.place, Place::Ready(sequence)) {
            self.waiting_volumes.remove(&(at_ns, volume));
        }
        let endpoint = state.endpoint;
        let ready = &mut self.endpoints[endpoint.0].ready;
        ready.insert((sequence, volume));
        if ready.first() == Some(&(sequence, volume)) {
            self.schedule_endpoint(now_ns, endpoint);
        }
    }

    /// An endpoint's first request has room everywhere: it goes, and all three count it.
    fn release_first(&mut self, now_ns: u64, endpoint: EndpointId) -> Released {
        let (volume, flow) = self.first_of(endpoint).expect("a waiting endpoint has a volume");
        self.withdraw_flow(now_ns, flow);
        let state = self.flow_mut(flow);
        let queued = state.queue.pop_front().expect("a ready flow has a request");
        state.meters.charge(now_ns, &queued.request);
        self.waiting -= 1;
        self.volumes[volume.0].meters.charge(now_ns, &queued.request);
        self.endpoints[endpoint.0].meters.charge(now_ns, &queued.request);
        self.schedule_flow(now_ns, flow);
        self.schedule_volume(now_ns, volume);
        self.schedule_endpoint(now_ns, endpoint);
        Released { request: queued.request, flow, arrived_ns: queued.arrived_ns }
    }
}
