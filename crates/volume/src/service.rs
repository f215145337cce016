//! A request's path through the service: limits, delay, reply, counters.
//!
//! For: joining account, limits, delays and counters in a plain struct that takes `now_ns` and
//! events and returns which replies are due. Not for: stored data or bytes on the wire. The caller
//! calls [`Service::arrive`] for each request it reads, [`Service::advance`] at the instant that
//! [`Service::next_ns`] returns, and [`Service::answered`] for each reply. Configuration changes are
//! in `service/change.rs`.
//!
//! A request that is not deferred needs only [`Service::arrive`], without a queue or a record. A late
//! call of [`Service::advance`] costs no throughput: a request counts against its limits at the
//! instant it conforms, and its delay starts then.

mod change;

use std::collections::{BTreeMap, VecDeque};

use cloud::catalog::Catalog;
use units::Bytes;

use crate::config::Config;
use crate::counters::{CountedReply, Origin, Procedure, ServiceCounters, SubjectId};
use crate::deferred::DeferredReplies;
use crate::delay::{Distance, RequestKind};
use crate::ids::{ClientId, ConnectionId, EndpointId, FlowId, RequestId, ServedVolumeId, VolumeId};
use crate::live::LiveAccount;
use crate::qos::{Release, Request, Shaper};
use crate::rules::Breach;
use crate::slots::{SlotId, Slots};
use crate::wheel::Wheel;

/// Initial capacity of the wheel.
const WHEEL_CAPACITY: usize = 4096;

/// Most requests in [`Service::next_deferred`]'s queue; a busier service has no time to prefetch
/// more.
const UPCOMING_MAX: usize = 1024;

/// A request whose reply is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DueRequest {
    /// As passed to [`Service::arrive`].
    pub token: u64,
    /// The connection that gets the reply.
    pub connection: ConnectionId,
    /// The volume that served the request.
    pub volume: VolumeId,
    /// The NFS procedure.
    pub procedure: Procedure,
    /// When the request arrived.
    pub arrived_ns: u64,
    /// How long limits delayed it.
    pub qos_delay_ns: u64,
    /// When its delay ended.
    pub due_ns: u64,
    /// Its record, if it was deferred.
    pub request: Option<RequestId>,
    origin: Origin,
}

/// Whether a request is deferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Its reply is due immediately.
    Due(DueRequest),
    /// [`Service::advance`] returns it when its reply is due. Until then the caller stores the reply
    /// with [`Service::reply_mut`].
    Deferred(RequestId),
}

impl Arrival {
    /// The request, if its reply is due immediately.
    pub const fn due(self) -> Option<DueRequest> {
        match self {
            Arrival::Due(due) => Some(due),
            Arrival::Deferred(_) => None,
        }
    }
}

/// The service without sockets and storage.
///
/// `R` is the caller's deferred reply. Its memory is reused: after sending a reply, the caller leaves
/// an empty `R` in the record.
#[derive(Debug)]
pub struct Service<R = ()> {
    live: LiveAccount,
    config: Config,
    shaper: Shaper,
    wheel: Wheel<RequestId>,
    counters: ServiceCounters,
    volumes: Slots<ServedVolume>,
    volume_ids: BTreeMap<String, VolumeId>,
    connections: Slots<OpenConnection>,
    deferred: DeferredReplies<Timing, R>,
    /// Numbers requests; seeds the delay of each.
    next_number: u64,
    /// The delay model's lower bound.
    least_delay_ns: u64,
    now_ns: u64,
    released: Vec<Release>,
    /// See [`Service::next_deferred`].
    upcoming: VecDeque<RequestId>,
}

#[derive(Debug)]
struct ServedVolume {
    name: String,
    subject: SubjectId,
    /// at[endpoint]: each endpoint has separate limits, because in breakthrough mode the service
    /// states none for all endpoints together.
    at: Vec<Option<ServedVolumeId>>,
}

#[derive(Debug)]
struct OpenConnection {
    flow: FlowId,
    endpoint: EndpointId,
    flow_subject: SubjectId,
    client_subject: SubjectId,
}

/// When a deferred reply is due, and the inputs of its delay.
#[derive(Clone, Copy, Debug)]
struct Timing {
    number: u64,
    due: DueRequest,
    distance: Distance,
}

/// Why a request cannot be accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArriveError {
    /// The connection was closed or never opened.
    #[error("accept request: the connection is not open")]
    NotOpen,
    /// The volume was removed.
    #[error("accept request: the volume was removed")]
    NoVolume,
    /// The endpoint of the connection does not serve this volume.
    #[error("accept request: volume `{volume}` is not served at endpoint `{endpoint}`")]
    NotServed {
        /// The requested volume.
        volume: String,
        /// The connection's endpoint.
        endpoint: String,
    },
}

impl<R: Default> Service<R> {
    /// Starts a service.
    ///
    /// # Errors
    /// All rules the account breaks; none if `config::parse` returned the configuration.
    pub fn start(now_ns: u64, catalog: Catalog, config: Config) -> Result<Service<R>, Vec<Breach>> {
        let live = LiveAccount::start(catalog, config.account.clone())?;
        let mut shaper = Shaper::new(config.limits.flow());
        for endpoint in &config.endpoints {
            shaper.add_endpoint(change::endpoint_limits(&config, endpoint));
        }
        let mut service = Service {
            live,
            config,
            shaper,
            wheel: Wheel::new(now_ns, WHEEL_CAPACITY),
            counters: ServiceCounters::default(),
            volumes: Slots::default(),
            volume_ids: BTreeMap::new(),
            connections: Slots::default(),
            deferred: DeferredReplies::default(),
            next_number: 0,
            least_delay_ns: 0,
            now_ns,
            released: Vec::new(),
            upcoming: VecDeque::new(),
        };
        service.apply(now_ns);
        Ok(service)
    }

    /// The account in force, with the history of each volume that rules depend on.
    pub const fn account(&self) -> &LiveAccount {
        &self.live
    }

    /// The configuration in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// The service's counters.
    pub const fn counters(&self) -> &ServiceCounters {
        &self.counters
    }

    /// Deferred requests that are neither answered nor dropped.
    pub const fn deferred(&self) -> usize {
        self.deferred.len()
    }

    /// The reply of a deferred request, until the request is answered or dropped. The caller stores
    /// it here when [`Service::arrive`] defers the request, and leaves it empty after sending it.
    pub fn reply_mut(&mut self, request: RequestId) -> Option<&mut R> {
        self.deferred.get_mut(request).map(|record| &mut record.reply)
    }

    /// The reply of a deferred request.
    pub fn reply(&self, request: RequestId) -> Option<&R> {
        self.deferred.get(request).map(|record| &record.reply)
    }

    /// The facts behind the account's rules.
    pub const fn catalog(&self) -> &Catalog {
        self.live.catalog()
    }

    /// The volume with this name.
    pub fn volume_id(&self, name: &str) -> Option<VolumeId> {
        self.volume_ids.get(name).copied()
    }

    /// Sets the bytes that a volume stores; its quota cannot shrink below them.
    pub fn set_used(&mut self, volume: VolumeId, used: Bytes) {
        if let Some(served) = self.volumes.get(volume.0) {
            self.live.set_used(&served.name, used);
        }
    }

    /// A client connected to an endpoint.
    ///
    /// * `flow` — the connection's name in the counters, such as both addresses with ports
    /// * `client` — the client's name in the counters; connections of one client share its turns
    pub fn connect(&mut self, endpoint: EndpointId, flow: &str, client: &str) -> ConnectionId {
        let client_subject = self.counters.open_client(client);
        let connection = OpenConnection {
            flow: self.shaper.open_flow(ClientId::new(client_subject.number())),
            endpoint,
            flow_subject: self.counters.open_flow(flow),
            client_subject,
        };
        ConnectionId(self.connections.insert(connection))
    }

    /// Whether limits or delays can defer requests.
    const fn may_defer(&self) -> bool {
        self.config.limits.enforced || self.least_delay_ns > 0
    }

    /// Allocates memory for `count` deferred requests, if any can be deferred.
    pub fn reserve_deferred(&mut self, count: usize) {
        if self.may_defer() {
            self.deferred.reserve(count);
        }
    }

    /// Frees the memory of deferred requests beyond `count`, if none is deferred.
    pub fn shrink_deferred(&mut self, count: usize) {
        if self.deferred.len() == 0 && self.deferred.capacity() > count {
            self.deferred.release_memory();
            self.reserve_deferred(count);
        }
    }

    /// A connection closed. Its deferred requests are dropped; the caller empties their replies
    /// first, and answers or drops the requests that [`Service::advance`] returned before.
    pub fn disconnect(&mut self, now_ns: u64, connection: ConnectionId) {
        let now_ns = self.release_due_by(now_ns);
        let Some(closed) = self.connections.remove(connection.0) else { return };
        for request in self.shaper.close_flow(now_ns, closed.flow) {
            let id = RequestId(SlotId::from_bits(request.token));
            if let Some(timing) = self.deferred.remove(id) {
                self.counters.count_dropped(timing.due.origin);
            }
        }
        self.counters.close_flow(closed.flow_subject);
        self.counters.close_client(closed.client_subject);
    }

    /// Counts a call for no volume, such as MOUNT, portmap or NULL. The caller answers it.
    pub fn without_volume(&mut self, connection: ConnectionId) {
        if let Some(open) = self.connections.get(connection.0) {
            self.counters.count_without_volume(open.flow_subject, open.client_subject);
        }
    }

    /// Accepts a request. Its reply is due immediately or deferred.
    ///
    /// * `bytes` — read or written; 0 for other procedures than READ and WRITE
    /// * `token` — identifies the request to the caller
    ///
    /// # Errors
    /// Why it cannot be accepted; then nothing was counted.
    pub fn arrive(
        &mut self,
        now_ns: u64,
        connection: ConnectionId,
        volume: VolumeId,
        procedure: Procedure,
        bytes: u64,
        token: u64,
    ) -> Result<Arrival, ArriveError> {
        let now_ns = self.release_due_by(now_ns);
        let open = self.connections.get(connection.0).ok_or(ArriveError::NotOpen)?;
        let served = self.volumes.get(volume.0).ok_or(ArriveError::NoVolume)?;
        let endpoint = &self.config.endpoints[open.endpoint.index()];
        let Some(served_volume) = served.at[open.endpoint.index()] else {
            let (volume, endpoint) = (served.name.clone(), endpoint.name.clone());
            return Err(ArriveError::NotServed { volume, endpoint });
        };
        let origin =
            Origin { volume: served.subject, flow: open.flow_subject, client: open.client_subject };
        let due = DueRequest {
            token,
            connection,
            volume,
            procedure,
            arrived_ns: now_ns,
            qos_delay_ns: 0,
            due_ns: now_ns,
            request: None,
            origin,
        };
        let (distance, flow) = (endpoint.distance, open.flow);
        self.next_number += 1;
        self.counters.count_arrival(now_ns, origin);
        let mut timing = Timing { number: self.next_number, due, distance };
        if !self.shaper.pass(now_ns, flow, served_volume, bytes) {
            let id = self.deferred.insert(timing);
            let request = Request { volume: served_volume, bytes, token: id.0.to_bits() };
            self.shaper.arrive(now_ns, flow, request);
            return Ok(Arrival::Deferred(id));
        }
        match delay_ns(&self.config, &timing) {
            0 => Ok(Arrival::Due(due)),
            delay_ns => {
                timing.due.due_ns = now_ns.saturating_add(delay_ns);
                let id = self.deferred.insert(timing);
                self.wheel.insert(timing.due.due_ns, id);
                Ok(Arrival::Deferred(id))
            }
        }
    }

    /// Appends all requests due by `now_ns` to `out`, in the order they are due.
    pub fn advance(&mut self, now_ns: u64, out: &mut Vec<DueRequest>) {
        let now_ns = self.release_due_by(now_ns);
        let Service { wheel, deferred, connections, counters, .. } = self;
        wheel.advance(now_ns, |_, id| {
            let record = deferred.get(id).expect("the wheel has deferred requests");
            let Timing { due, .. } = record.timing.expect("the wheel has used records");
            match connections.get(due.connection.0) {
                Some(_) => out.push(DueRequest { request: Some(id), ..due }),
                None => {
                    deferred.remove(id);
                    counters.count_dropped(due.origin);
                }
            }
        });
    }

    /// When to call [`Service::advance`] next; `None` while no request waits. A request released by
    /// limits is due after the least delay at the earliest, so this adds it.
    pub fn next_ns(&self) -> Option<u64> {
        let released_ns = self.shaper.next_ns();
        let released_ns = released_ns.map(|at_ns| at_ns.saturating_add(self.least_delay_ns));
        [released_ns, self.wheel.next_ns()].into_iter().flatten().min()
    }

    /// A request, with its token, that waits for limits and moved to the front of its connection's
    /// queue. Each is returned once; one that was at the front when it arrived is not returned.
    pub fn next_deferred(&mut self) -> Option<(RequestId, u64)> {
        loop {
            let id = self.upcoming.pop_front()?;
            // A request that was answered or dropped meanwhile has no record.
            if let Some(timing) = self.deferred.get(id).and_then(|record| record.timing) {
                return Some((id, timing.due.token));
            }
        }
    }

    /// Counts the reply to a request and frees its record.
    ///
    /// * `bytes` — read, or written and accepted
    pub fn answered(&mut self, due: &DueRequest, bytes: u64, failed: bool) {
        let DueRequest { procedure, qos_delay_ns, .. } = *due;
        let storage_delay_ns = due.due_ns - due.arrived_ns - qos_delay_ns;
        let reply = CountedReply { procedure, bytes, failed, qos_delay_ns, storage_delay_ns };
        self.counters.count_reply(due.origin, &reply);
        self.free_record(due);
    }

    /// Counts a request that was due but gets no reply because its connection closed, and frees its
    /// record.
    pub fn dropped(&mut self, due: &DueRequest) {
        self.counters.count_dropped(due.origin);
        self.free_record(due);
    }

    fn free_record(&mut self, due: &DueRequest) {
        if let Some(request) = due.request {
            self.deferred.remove(request);
        }
    }

    /// Counts the lateness of a deferred reply that was due at `due_ns` and sent at `now_ns`.
    pub fn sent(&mut self, now_ns: u64, due_ns: u64) {
        self.counters.count_lateness(now_ns.saturating_sub(due_ns));
    }

    /// Moves requests that conform to their limits by now to the wheel. Time never goes back.
    fn release_due_by(&mut self, now_ns: u64) -> u64 {
        self.now_ns = self.now_ns.max(now_ns);
        if self.shaper.next_ns().is_some_and(|at_ns| at_ns <= self.now_ns) {
            self.release();
        }
        self.now_ns
    }

    fn release(&mut self) {
        let mut all = std::mem::take(&mut self.released);
        self.shaper.release(self.now_ns, &mut all);
        for released in all.drain(..) {
            let id = RequestId(SlotId::from_bits(released.request.token));
            let record = self.deferred.get_mut(id).expect("the shaper has deferred requests");
            let timing = record.timing.as_mut().expect("the shaper has used records");
            timing.due.qos_delay_ns = released.at_ns.saturating_sub(released.arrived_ns);
            timing.due.due_ns = released.at_ns.saturating_add(delay_ns(&self.config, timing));
            self.wheel.insert(timing.due.due_ns, id);
            if self.upcoming.len() < UPCOMING_MAX
                && let Some(token) = self.shaper.first_of(released.flow)
            {
                self.upcoming.push_back(RequestId(SlotId::from_bits(token)));
            }
        }
        self.released = all;
    }
}

/// The delay of the emulated storage for a request.
fn delay_ns(config: &Config, timing: &Timing) -> u64 {
    let kind = match timing.due.procedure {
        Procedure::Read => RequestKind::Read,
        Procedure::Write => RequestKind::Write,
        _ => RequestKind::Other,
    };
    config.delay.draw_ns(timing.distance, kind, timing.number)
}
