//! The event loop of [`crate::nfs_world`]: clients, connections and the service, woken in the order
//! of time. The traffic on the connections is in `traffic.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use engine::worker::Plain;
use metrics::run_record::{Outcome, RunRecord};
use metrics::service_counters::ServiceCounters;
use target::nfs::sans_io::SansIoClient;
use volume::counters::{CountersSnapshot, Procedure};
use volume::ids::ConnectionId;
use volume::server::Server;
use workload::op::Op;
use workload::plan::Run;
use workload::random;

use crate::lanes::{self, AbandonedOperation, Ended, Lane, Next};
use crate::link::Link;
use crate::nfs_setup::{Connections, Data, Incident, Setup};
use crate::site::{Site, time_of_day};
use crate::station::Station;
use crate::storage::NEVER_NS;
use crate::tap::Tapped;
use crate::wire::{Medium, Wire};
use crate::world::OVERDUE;

const WIRE_SEED: u64 = 0x317E;
const XID_SEED: u64 = 0x71D;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Event {
    Incident(usize),
    /// A worker must be woken.
    Lane(usize),
    /// Bytes arrive at the service over a connection of this generation.
    Up(usize, u32),
    /// Bytes arrive at the client.
    Down(usize, u32),
    /// A connection is established.
    Connected(usize, u32),
    Server,
}

/// A simulated run, with the service at its end.
#[derive(Debug)]
pub struct Simulated {
    /// What the engine measured, with the service's counters.
    pub record: RunRecord,
    /// The service's counters.
    pub snapshot: CountersSnapshot,
    /// The service.
    pub server: Server,
    /// By worker: the successful writes in the order of completion.
    pub written: Vec<Vec<Op>>,
    /// Descriptions of data that was not as expected.
    pub mismatches: Vec<String>,
    /// The calls seen between the network and the service.
    pub tapped: Tapped,
    /// The oldest operations that exceeded their deadline.
    pub overdue: Vec<AbandonedOperation>,
    /// The oldest operations that had not completed when the run was abandoned.
    pub abandoned: Vec<AbandonedOperation>,
}

/// The state of a run.
pub(crate) struct Network {
    pub(crate) server: Server,
    pub(crate) lanes: Vec<Box<dyn Lane>>,
    pub(crate) stations: Vec<Station>,
    /// When a worker must act even if nothing completes; never once it has ended.
    pub(crate) turn_ns: Vec<u64>,
    /// The time of a worker's planned event.
    pub(crate) lane_ns: Vec<u64>,
    pub(crate) links: Vec<Link>,
    /// By [`ConnectionId::index`].
    pub(crate) link_of: Vec<Option<usize>>,
    pub(crate) wire: Wire,
    /// The directions to the service and to the client.
    pub(crate) media: [Medium; 2],
    /// `(time, order of planning, event)`, the earliest first.
    pub(crate) events: BinaryHeap<Reverse<(u64, u64, Event)>>,
    pub(crate) planned: u64,
    pub(crate) server_ns: u64,
    pub(crate) ready: Vec<ConnectionId>,
    pub(crate) incidents: Vec<(u64, Incident)>,
    pub(crate) setup: Setup,
    pub(crate) tapped: Tapped,
    /// When failed operations are counted next.
    pub(crate) count_ns: u64,
    /// When and why the run was abandoned, if it was.
    pub(crate) stopped: Option<(u64, String)>,
    pub(crate) overdue: Vec<AbandonedOperation>,
    pub(crate) abandoned: Vec<AbandonedOperation>,
}

impl Network {
    pub(crate) fn new(run: &Run, setup: &Setup, seed: u64) -> Network {
        let Site { server, files } = Site::new(setup, run, seed);
        let lanes = match setup.data {
            Data::None => lanes::lanes(run, |_, _| Plain),
            Data::Filled { .. } | Data::Verified { .. } => {
                lanes::lanes(run, |index, stream| files[index].tiles(run, stream))
            }
        };
        // Distributed over the workers as in the engine.
        let workers = lanes.len() as u64;
        let all = u64::from(run.connections.or(setup.client.nconnect).unwrap_or(0)).max(workers);
        let first = |lane: usize| (all * lane as u64 / workers) as u32;
        let (mut links, mut stations) = (Vec::new(), Vec::new());
        for (number, lane) in lanes.iter().enumerate() {
            let index = lane.id().0 as usize;
            let (stream, files) = (&run.streams[index], &files[index]);
            let share = first(number)..first(number + 1);
            let first_link = links.len();
            for (connection, link) in share.clone().enumerate() {
                links.push(Link::new(link as usize, number, connection, files.endpoint));
            }
            let mut xids = (0..).map(|draw| {
                random::at(random::derive(seed, XID_SEED + number as u64), draw) as u32
            });
            let access = files.access(setup, run, stream, share);
            let next_xid = || xids.next().expect("the sequence is infinite");
            let client = SansIoClient::new(&access, stream.queue_depth, next_xid)
                .expect("there is memory for a simulated client");
            stations.push(Station::new(client, first_link, stream.queue_depth));
        }
        let medium =
            |direction: u64| Medium::new(&setup.wire, random::derive(seed, WIRE_SEED + direction));
        let mut network = Network {
            server,
            turn_ns: vec![0; lanes.len()],
            lane_ns: vec![NEVER_NS; lanes.len()],
            lanes,
            stations,
            links,
            link_of: Vec::new(),
            wire: setup.wire.clone(),
            media: [medium(0), medium(1)],
            events: BinaryHeap::new(),
            planned: 0,
            server_ns: NEVER_NS,
            ready: Vec::new(),
            incidents: setup.incidents.clone(),
            setup: setup.clone(),
            tapped: Tapped::default(),
            count_ns: run.phases.interval_ns,
            stopped: None,
            overdue: Vec::new(),
            abandoned: Vec::new(),
        };
        for link in 0..network.links.len() {
            network.accept(0, link);
        }
        for number in 0..network.incidents.len() {
            let at_ns = network.incidents[number].0;
            network.plan(at_ns, Event::Incident(number));
        }
        for lane in 0..network.lanes.len() {
            network.plan_lane(lane, 0);
        }
        network
    }

    pub(crate) fn run(mut self, run: &Run) -> Simulated {
        let mut last_ns = 0;
        while let Some(Reverse((now_ns, _, event))) = self.events.pop() {
            debug_assert!(now_ns >= last_ns, "time does not go back");
            last_ns = now_ns;
            match event {
                Event::Lane(lane) if self.lane_ns[lane] == now_ns => self.wake(now_ns, lane),
                Event::Server if self.server_ns == now_ns => self.server_ns = NEVER_NS,
                Event::Up(link, generation) if self.links[link].generation == generation => {
                    self.links[link].up.is_planned = false;
                    self.take_up(now_ns, link);
                }
                Event::Down(link, generation) if self.links[link].generation == generation => {
                    self.take_down(now_ns, link);
                }
                Event::Connected(link, generation) if self.links[link].generation == generation => {
                    self.connected(now_ns, link);
                }
                Event::Incident(number) => self.cause(now_ns, number),
                // A later plan has replaced this event.
                Event::Lane(_)
                | Event::Server
                | Event::Up(..)
                | Event::Down(..)
                | Event::Connected(..) => continue,
            }
            self.serve(now_ns);
            self.count_failures(now_ns, run);
        }
        self.end(run)
    }

    pub(crate) fn plan(&mut self, at_ns: u64, event: Event) {
        self.events.push(Reverse((at_ns, self.planned, event)));
        self.planned += 1;
    }

    pub(crate) fn plan_lane(&mut self, lane: usize, at_ns: u64) {
        if self.lane_ns[lane] != at_ns {
            self.lane_ns[lane] = at_ns;
            if at_ns != NEVER_NS {
                self.plan(at_ns, Event::Lane(lane));
            }
        }
    }

    /// Executes everything that is due for a client and its worker.
    pub(crate) fn wake(&mut self, now_ns: u64, lane: usize) {
        self.stations[lane].client.set_time(now_ns);
        while let Some(action) = self.stations[lane].client.advance() {
            self.perform(now_ns, lane, action);
        }
        let station = &mut self.stations[lane];
        let is_ended = self.turn_ns[lane] == NEVER_NS;
        if !is_ended && (now_ns >= self.turn_ns[lane] || station.has_done()) {
            let stopped_ns = self.stopped.as_ref().map(|(at_ns, _)| *at_ns);
            self.turn_ns[lane] = match self.lanes[lane].turn(now_ns, stopped_ns, station) {
                Next::At(at_ns) => {
                    assert!(at_ns > now_ns, "time does not advance at {now_ns} ns");
                    at_ns
                }
                Next::Ended => NEVER_NS,
                Next::Overdue(oldest) => {
                    self.overdue.extend(oldest);
                    self.stop(now_ns, OVERDUE.to_owned());
                    NEVER_NS
                }
                Next::Abandoned(oldest) => {
                    self.abandoned.extend(oldest);
                    NEVER_NS
                }
            };
        }
        self.send_all(now_ns, lane);
        let next_ns = match self.turn_ns[lane] {
            NEVER_NS => NEVER_NS,
            turn_ns => turn_ns.min(self.stations[lane].client.next_ns()).max(now_ns + 1),
        };
        self.plan_lane(lane, next_ns);
    }

    /// Ends the run early: every worker is woken now.
    fn stop(&mut self, now_ns: u64, reason: String) {
        if self.stopped.is_some() {
            return;
        }
        self.stopped = Some((now_ns, reason));
        for lane in 0..self.lanes.len() {
            if self.turn_ns[lane] != NEVER_NS {
                self.turn_ns[lane] = now_ns;
                self.plan_lane(lane, now_ns);
            }
        }
    }

    /// At each interval's edge, ends the run if more operations failed than it tolerates.
    fn count_failures(&mut self, now_ns: u64, run: &Run) {
        if now_ns < self.count_ns {
            return;
        }
        self.count_ns += run.phases.interval_ns;
        let failed: u64 = self.lanes.iter().map(|lane| lane.failed()).sum();
        let tolerated = run.tolerated_errors;
        if failed > tolerated {
            self.stop(now_ns, format!("{failed} operations failed, {tolerated} tolerated"));
        }
    }

    /// Causes an incident.
    fn cause(&mut self, now_ns: u64, number: usize) {
        match self.incidents[number].1.clone() {
            Incident::Lose(connections) => {
                let is_lost = |link: &usize| match connections {
                    Connections::All => true,
                    Connections::One(one) => *link == one as usize,
                };
                for link in (0..self.links.len()).filter(is_lost) {
                    self.lose(now_ns, link);
                }
            }
            Incident::Restart => {
                for link in 0..self.links.len() {
                    self.lose(now_ns, link);
                }
                let all: Vec<_> = self.server.exports().iter().map(|(index, _)| index).collect();
                for index in all {
                    let export = self.server.exports_mut().get_mut(index);
                    let export = export.expect("it was just listed");
                    export.files.restart(time_of_day(now_ns));
                }
            }
            Incident::Change(config) => {
                let changed = self.server.change(now_ns, *config);
                changed.unwrap_or_else(|broken| panic!("the change keeps every rule: {broken:?}"));
            }
        }
    }

    /// Cuts a connection if it is connected.
    fn lose(&mut self, now_ns: u64, link: usize) {
        if self.links[link].conn.is_some() {
            self.cut(now_ns, link);
        }
    }

    fn end(self, run: &Run) -> Simulated {
        let outcome = match self.stopped {
            None => Outcome::Done,
            Some((_, reason)) => Outcome::Failed { reason },
        };
        let (mut parts, mut mismatches) = (Vec::new(), Vec::new());
        for Ended { id, parts: of_lane, mismatches: found } in self.lanes.into_iter().map(Lane::end)
        {
            parts.push((id, of_lane));
            mismatches.extend(found.iter().map(ToString::to_string));
        }
        let snapshot = self.server.counters().snapshot();
        let record = RunRecord {
            run: run.clone(),
            started_unix_ms: 0,
            intervals: lanes::intervals(run, parts),
            hosts: Vec::new(),
            warnings: Vec::new(),
            service_counters: Some(counts(&snapshot)),
            trees: Vec::new(),
            outcome,
        };
        let written = self.stations.into_iter().map(|station| station.written).collect();
        Simulated {
            record,
            snapshot,
            server: self.server,
            written,
            mismatches,
            tapped: self.tapped,
            overdue: self.overdue,
            abandoned: self.abandoned,
        }
    }
}

/// The service's counters in the form of a record.
fn counts(snapshot: &CountersSnapshot) -> ServiceCounters {
    let mut counts = ServiceCounters::default();
    for volume in &snapshot.volumes {
        let seen = &volume.counters;
        for (sum, procedure) in
            counts.calls.iter_mut().zip([Procedure::Read, Procedure::Write, Procedure::Commit])
        {
            *sum += seen.of(procedure);
            counts.failed += seen.failed[procedure as usize];
        }
        counts.read_bytes += seen.read_bytes;
        counts.written_bytes += seen.written_bytes;
        counts.outstanding_max += seen.outstanding_max;
    }
    counts
}
