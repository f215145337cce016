//! The way of a request through the service: limits, then delay, then the answer; all counted.
//!
//! For: putting account, limits, delays, wheel and witness together, as a plain struct that takes
//! `now_ns` and events and says what is to be answered when. Not for: what is stored, nor for
//! bytes on a wire; whoever has sockets calls [`Service::arrive`] for each request that it read,
//! [`Service::advance`] at the instant that [`Service::next_ns`] names, and
//! [`Service::answered`] for each answer. What may change while it runs is in `service/change.rs`.
//!
//! A request that nothing holds goes through [`Service::arrive`] alone: no queue, no map, no name.
//! Whoever asks late loses nothing: a request is counted by its limits at the instant at which it
//! may go, and its delay begins there.

mod change;

use std::collections::{BTreeMap, VecDeque};

use cloud::catalog::Catalog;
use units::Bytes;

use crate::config::Config;
use crate::delay::{Distance, Kind};
use crate::live::LiveAccount;
use crate::qos::{ClientId, EndpointId, FlowId, Released, Request, Shaper, VolumeId};
use crate::rules::Breach;
use crate::slots::{Place, Slots};
use crate::wheel::Wheel;
use crate::witness::{Answer, Origin, Procedure, Subject, Witness};

/// Requests that the wheel has room for before it allocates.
const WHEEL_CAPACITY: usize = 4096;

/// Requests that are remembered as coming; with so many there is no time to look at more.
const COMING_MAX: usize = 1024;

/// An endpoint, for as long as the service runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EndpointKey(u32);

/// A volume, until it is removed; one of the same name that is made later is another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeKey(Place);

/// A connection of a client, until it is closed; no other is named so after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Connection(Place);

/// A request whose limits and delay are over: it is to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// As it was given.
    pub token: u64,
    /// Where the answer goes.
    pub connection: Connection,
    /// What it was for.
    pub volume: VolumeKey,
    /// What is asked for.
    pub procedure: Procedure,
    /// When it came.
    pub arrived_ns: u64,
    /// How long limits held it.
    pub qos_delay_ns: u64,
    /// When its delay was over.
    pub due_ns: u64,
    origin: Origin,
}

/// Everything but sockets and storage.
#[derive(Debug)]
pub struct Service {
    live: LiveAccount,
    config: Config,
    shaper: Shaper,
    wheel: Wheel<Place>,
    witness: Witness,
    /// By their keys, in the order of the description.
    endpoints: Vec<EndpointId>,
    volumes: Slots<Served>,
    volume_keys: BTreeMap<String, VolumeKey>,
    connections: Slots<Client>,
    /// Requests that the shaper or the wheel holds; it knows them by their places.
    held: Slots<Held>,
    /// Numbers requests; their delays are drawn by it.
    next_number: u64,
    /// No request takes less, by the delay model.
    least_delay_ns: u64,
    now_ns: u64,
    released: Vec<Released>,
    /// See [`Service::coming`].
    coming: VecDeque<Place>,
}

#[derive(Debug)]
struct Served {
    name: String,
    subject: Subject,
    /// at[endpoint]: in breakthrough mode the service states no limit for all endpoints together.
    at: Vec<Option<VolumeId>>,
}

#[derive(Debug)]
struct Client {
    flow: FlowId,
    endpoint: EndpointKey,
    flow_subject: Subject,
    client_subject: Subject,
}

#[derive(Clone, Copy, Debug)]
struct Held {
    number: u64,
    due: Due,
    distance: Distance,
}

/// Why a request cannot be taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArriveError {
    /// The connection was closed, or there never was one.
    #[error("take request: the connection is not open")]
    NotOpen,
    /// The volume was removed.
    #[error("take request: the volume is no longer there")]
    NoVolume,
    /// The endpoint of the connection does not serve this volume.
    #[error("take request: volume `{volume}` is not served at endpoint `{endpoint}`")]
    NotServed {
        /// What was asked for.
        volume: String,
        /// Where.
        endpoint: String,
    },
}

impl Service {
    /// Starts a service that was described.
    ///
    /// # Errors
    /// All rules that the account breaks; none if the description came from `config::parse`.
    pub fn start(now_ns: u64, catalog: Catalog, config: Config) -> Result<Service, Vec<Breach>> {
        let live = LiveAccount::start(catalog, config.account.clone())?;
        let mut shaper = Shaper::new(config.limits.flow());
        let add = |endpoint| shaper.add_endpoint(change::endpoint_limits(&config, endpoint));
        let endpoints = config.endpoints.iter().map(add).collect();
        let mut service = Service {
            live,
            config,
            shaper,
            wheel: Wheel::new(now_ns, WHEEL_CAPACITY),
            witness: Witness::default(),
            endpoints,
            volumes: Slots::default(),
            volume_keys: BTreeMap::new(),
            connections: Slots::default(),
            held: Slots::default(),
            next_number: 0,
            least_delay_ns: 0,
            now_ns,
            released: Vec::new(),
            coming: VecDeque::new(),
        };
        service.apply(now_ns);
        Ok(service)
    }

    /// The account as it is now, with what is remembered of each volume.
    pub const fn account(&self) -> &LiveAccount {
        &self.live
    }

    /// The description that is in force.
    pub const fn config(&self) -> &Config {
        &self.config
    }

    /// What was seen.
    pub const fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Requests that were taken and are not yet due.
    pub const fn held(&self) -> usize {
        self.held.len()
    }

    /// The rows that the account's rules are made of.
    pub const fn catalog(&self) -> &Catalog {
        self.live.catalog()
    }

    /// The endpoint of this name.
    pub fn endpoint_key(&self, name: &str) -> Option<EndpointKey> {
        let index = self.config.endpoints.iter().position(|endpoint| endpoint.name == name)?;
        Some(EndpointKey(index as u32))
    }

    /// The volume of this name.
    pub fn volume_key(&self, name: &str) -> Option<VolumeKey> {
        self.volume_keys.get(name).copied()
    }

    /// What a volume is called; `None` if it was removed.
    pub fn volume_name(&self, volume: VolumeKey) -> Option<&str> {
        self.volumes.get(volume.0).map(|served| served.name.as_str())
    }

    /// Notes what a volume holds; its quota cannot be made less than that.
    pub fn set_used(&mut self, volume: VolumeKey, used: Bytes) {
        if let Some(served) = self.volumes.get(volume.0) {
            self.live.set_used(&served.name, used);
        }
    }

    /// A client connected to an endpoint.
    ///
    /// * `flow` — names the connection in the witness' book, such as both addresses with ports
    /// * `client` — names the client there; connections of one client share its turns at limits
    pub fn connect(&mut self, endpoint: EndpointKey, flow: &str, client: &str) -> Connection {
        let client_subject = self.witness.client(client);
        let client = Client {
            flow: self.shaper.open_flow_of(ClientId::new(client_subject.number())),
            endpoint,
            flow_subject: self.witness.flow(flow),
            client_subject,
        };
        Connection(self.connections.insert(client))
    }

    /// Whether requests are held as a rule: limits are in force, or all take their time.
    pub const fn may_hold(&self) -> bool {
        self.config.limits.enforced || self.least_delay_ns > 0
    }

    /// Makes room for `count` requests that are held at once.
    pub fn make_room(&mut self, count: usize) {
        self.held.make_room(count);
    }

    /// The connection is gone; what it still waited for is dropped. Requests that were given out as
    /// due are answered or dropped by the caller all the same.
    pub fn disconnect(&mut self, now_ns: u64, connection: Connection) {
        let now_ns = self.settle(now_ns);
        let Some(client) = self.connections.remove(connection.0) else { return };
        for request in self.shaper.close_flow(now_ns, client.flow) {
            if let Some(held) = self.held.remove(Place::from_bits(request.token)) {
                self.witness.dropped(held.due.origin);
            }
        }
        self.witness.close_flow(client.flow_subject);
        self.witness.close_client(client.client_subject);
    }

    /// A call came that is for no volume, such as MOUNT, portmap or NULL; the caller answers it.
    pub fn without_volume(&mut self, connection: Connection) {
        if let Some(client) = self.connections.get(connection.0) {
            self.witness.without_volume(client.flow_subject, client.client_subject);
        }
    }

    /// A request came. If nothing holds it, it is due at once and given back; otherwise it comes
    /// out of [`Service::advance`].
    ///
    /// * `bytes` — that it reads or writes; 0 for all other procedures
    /// * `token` — whatever the caller knows it by
    ///
    /// # Errors
    /// Why it cannot be taken; then nothing was counted.
    pub fn arrive(
        &mut self,
        now_ns: u64,
        connection: Connection,
        volume: VolumeKey,
        procedure: Procedure,
        bytes: u64,
        token: u64,
    ) -> Result<Option<Due>, ArriveError> {
        let now_ns = self.settle(now_ns);
        let client = self.connections.get(connection.0).ok_or(ArriveError::NotOpen)?;
        let served = self.volumes.get(volume.0).ok_or(ArriveError::NoVolume)?;
        let Some(id) = served.at[client.endpoint.0 as usize] else {
            let endpoint = self.config.endpoints[client.endpoint.0 as usize].name.clone();
            return Err(ArriveError::NotServed { volume: served.name.clone(), endpoint });
        };
        let origin = Origin {
            volume: served.subject,
            flow: client.flow_subject,
            client: client.client_subject,
        };
        let due = Due {
            token,
            connection,
            volume,
            procedure,
            arrived_ns: now_ns,
            qos_delay_ns: 0,
            due_ns: now_ns,
            origin,
        };
        let distance = self.config.endpoints[client.endpoint.0 as usize].distance;
        let flow = client.flow;
        self.next_number += 1;
        self.witness.arrived(now_ns, origin);
        let held = Held { number: self.next_number, due, distance };
        if !self.shaper.pass(now_ns, flow, id, bytes) {
            let token = self.held.insert(held).to_bits();
            self.shaper.arrive(now_ns, flow, Request { volume: id, bytes, token });
            return Ok(None);
        }
        match delay_ns(&self.config, &held) {
            0 => Ok(Some(due)),
            delay_ns => {
                self.delay(now_ns, delay_ns, held);
                Ok(None)
            }
        }
    }

    /// Appends to `out` everything that is due by `now_ns`, in its order.
    pub fn advance(&mut self, now_ns: u64, out: &mut Vec<Due>) {
        let now_ns = self.settle(now_ns);
        let Service { wheel, held, connections, witness, .. } = self;
        wheel.advance(now_ns, |_, place| {
            let Held { due, .. } = held.remove(place).expect("the wheel has what is held");
            match connections.get(due.connection.0) {
                Some(_) => out.push(due),
                None => witness.dropped(due.origin),
            }
        });
    }

    /// When to call [`Service::advance`] next; `None` while nothing waits. What a limit lets go is
    /// not due before the least delay is over, so nobody needs to come earlier for it.
    pub fn next_ns(&mut self) -> Option<u64> {
        let released_ns = self.shaper.next_ns();
        let released_ns = released_ns.map(|at_ns| at_ns.saturating_add(self.least_delay_ns));
        [released_ns, self.wheel.next_ns()].into_iter().flatten().min()
    }

    /// The token of a request that limits hold and that came to be the first of its connection;
    /// each is told once, and not those that were first when they arrived.
    pub fn coming(&mut self) -> Option<u64> {
        loop {
            let place = self.coming.pop_front()?;
            // Those that are gone already name nothing.
            if let Some(held) = self.held.get(place) {
                return Some(held.due.token);
            }
        }
    }

    /// The answer to a request goes.
    ///
    /// * `bytes` — that were read, or written and taken
    pub fn answered(&mut self, due: &Due, bytes: u64, failed: bool) {
        let Due { procedure, qos_delay_ns, .. } = *due;
        let storage_delay_ns = due.due_ns - due.arrived_ns - qos_delay_ns;
        let answer = Answer { procedure, bytes, failed, qos_delay_ns, storage_delay_ns };
        self.witness.completed(due.origin, &answer);
    }

    /// A reply that had been due at `due_ns` is on its way.
    pub fn left(&mut self, now_ns: u64, due_ns: u64) {
        self.witness.left(now_ns.saturating_sub(due_ns));
    }

    /// A request that was due gets no answer, because its connection is gone.
    pub fn dropped(&mut self, due: &Due) {
        self.witness.dropped(due.origin);
    }

    /// Lets go from the limits what may go by now. The clock never goes back.
    fn settle(&mut self, now_ns: u64) -> u64 {
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
            let place = Place::from_bits(released.request.token);
            let held = self.held.get_mut(place).expect("the shaper has what is held");
            held.due.qos_delay_ns = released.at_ns.saturating_sub(released.arrived_ns);
            let delay_ns = delay_ns(&self.config, held);
            held.due.due_ns = released.at_ns.saturating_add(delay_ns);
            self.wheel.insert(held.due.due_ns, place);
            if self.coming.len() < COMING_MAX
                && let Some(token) = self.shaper.first_of(released.flow)
            {
                self.coming.push_back(Place::from_bits(token));
            }
        }
        self.released = all;
    }

    /// Lets a request take its time from now on.
    fn delay(&mut self, now_ns: u64, delay_ns: u64, mut held: Held) {
        held.due.due_ns = now_ns.saturating_add(delay_ns);
        let place = self.held.insert(held);
        self.wheel.insert(held.due.due_ns, place);
    }
}

/// The time that storage takes for a request.
fn delay_ns(config: &Config, held: &Held) -> u64 {
    let kind = match held.due.procedure {
        Procedure::Read => Kind::Read,
        Procedure::Write => Kind::Write,
        _ => Kind::Other,
    };
    config.delay.draw_ns(held.distance, kind, held.number)
}
