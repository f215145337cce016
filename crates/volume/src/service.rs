//! The way of a request through the service: limits, then delay, then the answer; all counted.
//!
//! For: putting account, limits, delays, wheel and witness together, as a plain struct that takes
//! `now_ns` and events and says what is to be answered when. Not for: what is stored, nor for
//! bytes on a wire; whoever has sockets calls [`Service::arrive`] for each request that it read,
//! [`Service::advance`] at the instant that [`Service::next_ns`] names, and
//! [`Service::answered`] for each answer.

use std::collections::BTreeMap;

use cloud::catalog::Catalog;

use crate::config::{Config, Endpoint, ServiceLimits};
use crate::delay::{DelayModel, Distance, Kind};
use crate::live::LiveAccount;
use crate::model::Account;
use crate::qos::{EndpointId, FlowId, Limits, Released, Request, Shaper, VolumeId};
use crate::rules::Breach;
use crate::wheel::Wheel;
use crate::witness::{Answer, Origin, Procedure, Subject, Witness};

/// Requests that the wheel has room for before it allocates.
const WHEEL_CAPACITY: usize = 4096;

/// A connection of a client, until it is closed; numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Connection(u64);

/// A request whose limits and delay are over: it is to be done and answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// As it was given.
    pub token: u64,
    /// Where the answer goes.
    pub connection: Connection,
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
    limits: ServiceLimits,
    delay: DelayModel,
    shaper: Shaper,
    wheel: Wheel<Held>,
    witness: Witness,
    endpoints: BTreeMap<String, (Endpoint, EndpointId)>,
    volumes: BTreeMap<String, ServedVolume>,
    connections: BTreeMap<Connection, Client>,
    /// Requests that the shaper holds, by the number it knows them by.
    waiting: BTreeMap<u64, Held>,
    /// Numbers connections and requests.
    next_number: u64,
    released: Vec<Released>,
}

#[derive(Debug)]
struct ServedVolume {
    subject: Subject,
    /// Operations per second, which no change of the account touches.
    ops: Limits,
    /// One for each endpoint; in breakthrough mode the service states no limit for all together.
    at: BTreeMap<String, VolumeId>,
}

#[derive(Debug)]
struct Client {
    flow: FlowId,
    endpoint: String,
    distance: Distance,
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
        let Config { account, endpoints, ops, limits, delay } = config;
        let live = LiveAccount::start(catalog, account)?;
        let mut shaper = Shaper::new(limits.flow());
        let add = |endpoint: Endpoint| {
            let id = shaper.add_endpoint(limits.limits(endpoint.throughput, endpoint.ops));
            (endpoint.name.clone(), (endpoint, id))
        };
        let endpoints = endpoints.into_iter().map(add).collect();
        let mut service = Service {
            live,
            limits,
            delay,
            shaper,
            wheel: Wheel::new(now_ns, WHEEL_CAPACITY),
            witness: Witness::default(),
            endpoints,
            volumes: BTreeMap::new(),
            connections: BTreeMap::new(),
            waiting: BTreeMap::new(),
            next_number: 0,
            released: Vec::new(),
        };
        let names = service.live.account().volumes.iter().map(|volume| volume.name.clone());
        let limits: Vec<(String, Limits)> =
            names.zip(ops.iter().map(|ops| service.limits.limits(None, *ops))).collect();
        for (name, ops) in limits {
            let subject = service.witness.volume(&name);
            service.volumes.insert(name, ServedVolume { subject, ops, at: BTreeMap::new() });
        }
        service.apply_limits(now_ns);
        Ok(service)
    }

    /// The account as it is now.
    pub const fn account(&self) -> &LiveAccount {
        &self.live
    }

    /// What was seen.
    pub const fn witness(&self) -> &Witness {
        &self.witness
    }

    /// Requests that were taken and are not yet due.
    pub fn held(&self) -> usize {
        self.shaper.waiting() + self.wheel.len()
    }

    /// Steps to another account; limits in force change at once, for waiting requests too.
    ///
    /// # Errors
    /// All rules that this would break; then nothing has changed.
    pub fn change(&mut self, now_ns: u64, wanted: Account) -> Result<(), Vec<Breach>> {
        self.live.change(now_ns, wanted)?;
        self.apply_limits(now_ns);
        Ok(())
    }

    /// A client connected to an endpoint; `None` if there is no such endpoint.
    ///
    /// * `flow` — names the connection in the witness' book, such as both addresses with ports
    /// * `client` — names the client there
    pub fn connect(&mut self, endpoint: &str, flow: &str, client: &str) -> Option<Connection> {
        let distance = self.endpoints.get(endpoint)?.0.distance;
        let connection = Connection(self.number());
        let client = Client {
            flow: self.shaper.open_flow(),
            endpoint: endpoint.to_owned(),
            distance,
            flow_subject: self.witness.flow(flow),
            client_subject: self.witness.client(client),
        };
        self.connections.insert(connection, client);
        Some(connection)
    }

    /// The connection is gone; what it still waited for is dropped.
    pub fn disconnect(&mut self, now_ns: u64, connection: Connection) {
        let Some(client) = self.connections.remove(&connection) else { return };
        for request in self.shaper.close_flow(now_ns, client.flow) {
            if let Some(held) = self.waiting.remove(&request.token) {
                self.witness.dropped(held.due.origin);
            }
        }
    }

    /// A request came.
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
        volume: &str,
        procedure: Procedure,
        bytes: u64,
        token: u64,
    ) -> Result<(), ArriveError> {
        let client = self.connections.get(&connection).ok_or(ArriveError::NotOpen)?;
        let served = self.volumes.get(volume);
        let Some((served, id)) = served.and_then(|s| Some((s, *s.at.get(&client.endpoint)?)))
        else {
            let (volume, endpoint) = (volume.to_owned(), client.endpoint.clone());
            return Err(ArriveError::NotServed { volume, endpoint });
        };
        let origin = Origin {
            volume: served.subject,
            flow: client.flow_subject,
            client: client.client_subject,
        };
        let (flow, distance) = (client.flow, client.distance);
        let due = Due {
            token,
            connection,
            procedure,
            arrived_ns: now_ns,
            qos_delay_ns: 0,
            due_ns: now_ns,
            origin,
        };
        let number = self.number();
        self.witness.arrived(now_ns, origin);
        self.waiting.insert(number, Held { number, due, distance });
        self.shaper.arrive(now_ns, flow, Request { volume: id, bytes, token: number });
        Ok(())
    }

    /// Appends to `out` everything that is due by `now_ns`, in its order.
    pub fn advance(&mut self, now_ns: u64, out: &mut Vec<Due>) {
        self.shaper.release(now_ns, &mut self.released);
        for released in self.released.drain(..) {
            let held = self.waiting.remove(&released.request.token);
            let mut held = held.expect("the shaper gives back what it was given");
            let kind = match held.due.procedure {
                Procedure::Read => Kind::Read,
                Procedure::Write => Kind::Write,
                _ => Kind::Other,
            };
            let delay_ns = self.delay.draw_ns(held.distance, kind, held.number);
            held.due.qos_delay_ns = now_ns.saturating_sub(released.arrived_ns);
            held.due.due_ns = now_ns.saturating_add(delay_ns);
            self.wheel.insert(held.due.due_ns, held);
        }
        let Service { wheel, connections, witness, .. } = self;
        wheel.advance(now_ns, |_, held| match connections.contains_key(&held.due.connection) {
            true => out.push(held.due),
            false => witness.dropped(held.due.origin),
        });
    }

    /// When to call [`Service::advance`] next; `None` while nothing waits.
    pub fn next_ns(&mut self) -> Option<u64> {
        [self.shaper.next_ns(), self.wheel.next_ns()].into_iter().flatten().min()
    }

    /// The answer to a request goes.
    ///
    /// * `bytes` — that were read, or written and taken
    pub fn answered(&mut self, due: &Due, bytes: u64, failed: bool) {
        let Due { procedure, qos_delay_ns, .. } = *due;
        self.witness.completed(due.origin, &Answer { procedure, bytes, failed, qos_delay_ns });
    }

    fn number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Brings the shaper to the account: new volumes, new limits, volumes that are gone.
    fn apply_limits(&mut self, now_ns: u64) {
        let account = self.live.account().clone();
        for volume in &account.volumes {
            let served = self.volumes.entry(volume.name.clone()).or_insert_with(|| ServedVolume {
                subject: self.witness.volume(&volume.name),
                ops: Limits::default(),
                at: BTreeMap::new(),
            });
            let throughput = self.live.throughput_limit(volume);
            let limits = Limits { ops: served.ops.ops, ..self.limits.limits(throughput, None) };
            served.at.retain(|endpoint, _| volume.endpoints.contains(endpoint));
            for name in &volume.endpoints {
                let Some((_, endpoint)) = self.endpoints.get(name) else { continue };
                match served.at.get(name) {
                    Some(id) => self.shaper.set_volume_limits(now_ns, *id, limits),
                    None => {
                        let id = self.shaper.add_volume(*endpoint, limits);
                        served.at.insert(name.clone(), id);
                    }
                }
            }
        }
        self.volumes.retain(|name, _| account.volume(name).is_some());
    }
}
