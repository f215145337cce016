//! The loop of [`crate::nfs_world`]: clients, connections and the service, each woken in the order
//! of time. What goes over the connections is in `traffic.rs`.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use engine::worker::Plain;
use metrics::run_record::{Outcome, RunRecord};
use metrics::witness::WitnessCounts;
use target::nfs::unwired::Unwired;
use volume::server::{Conn, Server};
use volume::witness::{Procedure, Snapshot};
use workload::plan::Run;
use workload::random;

use crate::lanes::{self, Ended, Lane, Next};
use crate::link::Link;
use crate::nfs_world::{Data, Happening, Setup, Simulated, Which};
use crate::site::{Site, time_of_day};
use crate::station::Station;
use crate::storage::NEVER_NS;
use crate::tap::Tapped;
use crate::wire::{Medium, Wire};
use crate::world::{NotReturned, OVERDUE};

const WIRE_SEED: u64 = 0x317E;
const XID_SEED: u64 = 0x71D;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum What {
    Happening(usize),
    /// A worker.
    Lane(usize),
    /// Something arrives at the service over a connection of this life.
    Up(usize, u32),
    /// Something arrives at the client.
    Down(usize, u32),
    /// A connection is made.
    Made(usize, u32),
    Server,
}

/// Everything of one run.
pub(crate) struct Network {
    pub(crate) server: Server,
    pub(crate) lanes: Vec<Box<dyn Lane>>,
    pub(crate) stations: Vec<Station>,
    /// When a worker must be woken although nothing has completed; never once it has ended.
    pub(crate) turn_ns: Vec<u64>,
    /// The event that is planned for a worker.
    pub(crate) lane_ns: Vec<u64>,
    pub(crate) links: Vec<Link>,
    /// By [`Conn::index`].
    pub(crate) link_of: Vec<Option<usize>>,
    pub(crate) wire: Wire,
    /// To the service, and back.
    pub(crate) media: [Medium; 2],
    /// `(time, order of planning, what)`, the earliest first.
    pub(crate) events: BinaryHeap<Reverse<(u64, u64, What)>>,
    pub(crate) planned: u64,
    pub(crate) server_ns: u64,
    pub(crate) ready: Vec<Conn>,
    pub(crate) happenings: Vec<(u64, Happening)>,
    pub(crate) setup: Setup,
    pub(crate) tapped: Tapped,
    /// When failed operations are counted next.
    pub(crate) count_ns: u64,
    /// When the run was given up, and why, if it was.
    pub(crate) stopped: Option<(u64, String)>,
    pub(crate) overdue: Vec<NotReturned>,
    pub(crate) left_behind: Vec<NotReturned>,
}

impl Network {
    pub(crate) fn new(run: &Run, setup: &Setup, seed: u64) -> Network {
        let Site { server, places } = Site::new(setup, run, seed);
        let lanes = match setup.data {
            Data::None => lanes::lanes(run, |_, _| Plain),
            Data::Filled { .. } | Data::Verified { .. } => {
                lanes::lanes(run, |index, stream| places[index].tiles(run, stream))
            }
        };
        // Dealt out over the workers as the engine does it.
        let workers = lanes.len() as u64;
        let all = u64::from(run.connections.or(setup.client.nconnect).unwrap_or(0)).max(workers);
        let first = |lane: usize| (all * lane as u64 / workers) as u32;
        let (mut links, mut stations) = (Vec::new(), Vec::new());
        for (number, lane) in lanes.iter().enumerate() {
            let index = lane.place().0 as usize;
            let (stream, place) = (&run.streams[index], &places[index]);
            let share = first(number)..first(number + 1);
            let first_link = links.len();
            for (place_of_link, link) in share.clone().enumerate() {
                links.push(Link::new(link as usize, number, place_of_link, place.endpoint));
            }
            let mut xids = (0..).map(|draw| {
                random::at(random::derive(seed, XID_SEED + number as u64), draw) as u32
            });
            let access = place.access(setup, run, stream, share);
            let next_xid = || xids.next().expect("there is always another");
            let client = Unwired::new(&access, stream.queue_depth, next_xid)
                .expect("there is memory for a simulated client");
            stations.push(Station::new(client, first_link, stream.queue_depth));
        }
        let medium = |way: u64| Medium::new(&setup.wire, random::derive(seed, WIRE_SEED + way));
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
            happenings: setup.happenings.clone(),
            setup: setup.clone(),
            tapped: Tapped::default(),
            count_ns: run.phases.interval_ns,
            stopped: None,
            overdue: Vec::new(),
            left_behind: Vec::new(),
        };
        for link in 0..network.links.len() {
            network.accept(0, link);
        }
        for number in 0..network.happenings.len() {
            let at_ns = network.happenings[number].0;
            network.plan(at_ns, What::Happening(number));
        }
        for lane in 0..network.lanes.len() {
            network.plan_lane(lane, 0);
        }
        network
    }

    pub(crate) fn run(mut self, run: &Run) -> Simulated {
        let mut last_ns = 0;
        while let Some(Reverse((now_ns, _, what))) = self.events.pop() {
            debug_assert!(now_ns >= last_ns, "time goes forward");
            last_ns = now_ns;
            match what {
                What::Lane(lane) if self.lane_ns[lane] == now_ns => self.wake(now_ns, lane),
                What::Server if self.server_ns == now_ns => self.server_ns = NEVER_NS,
                What::Up(link, life) if self.links[link].life == life => {
                    self.links[link].up.is_planned = false;
                    self.take_up(now_ns, link);
                }
                What::Down(link, life) if self.links[link].life == life => {
                    self.take_down(now_ns, link);
                }
                What::Made(link, life) if self.links[link].life == life => self.made(now_ns, link),
                What::Happening(number) => self.happen(now_ns, number),
                // Something else was planned since.
                What::Lane(_) | What::Server | What::Up(..) | What::Down(..) | What::Made(..) => {
                    continue;
                }
            }
            self.serve(now_ns);
            self.count_failures(now_ns, run);
        }
        self.end(run)
    }

    pub(crate) fn plan(&mut self, at_ns: u64, what: What) {
        self.events.push(Reverse((at_ns, self.planned, what)));
        self.planned += 1;
    }

    pub(crate) fn plan_lane(&mut self, lane: usize, at_ns: u64) {
        if self.lane_ns[lane] != at_ns {
            self.lane_ns[lane] = at_ns;
            if at_ns != NEVER_NS {
                self.plan(at_ns, What::Lane(lane));
            }
        }
    }

    /// A client and its worker do what there is to do.
    pub(crate) fn wake(&mut self, now_ns: u64, lane: usize) {
        self.stations[lane].client.at(now_ns);
        while let Some(wish) = self.stations[lane].client.advance() {
            self.grant(now_ns, lane, wish);
        }
        let station = &mut self.stations[lane];
        let is_ended = self.turn_ns[lane] == NEVER_NS;
        if !is_ended && (now_ns >= self.turn_ns[lane] || station.has_done()) {
            let stopped_ns = self.stopped.as_ref().map(|(at_ns, _)| *at_ns);
            self.turn_ns[lane] = match self.lanes[lane].turn(now_ns, stopped_ns, station) {
                Next::At(at_ns) => {
                    assert!(at_ns > now_ns, "time stands still at {now_ns} ns");
                    at_ns
                }
                Next::Ended => NEVER_NS,
                Next::Overdue(oldest) => {
                    self.overdue.extend(oldest);
                    self.stop(now_ns, OVERDUE.to_owned());
                    NEVER_NS
                }
                Next::LeftBehind(oldest) => {
                    self.left_behind.extend(oldest);
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

    /// Ends the run early: every worker learns of it now.
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

    /// At each interval's edge: whether more operations failed than the run tolerates.
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

    fn happen(&mut self, now_ns: u64, number: usize) {
        match self.happenings[number].1.clone() {
            Happening::Lose(which) => {
                let lost = |link: &usize| match which {
                    Which::All => true,
                    Which::One(one) => *link == one as usize,
                };
                for link in (0..self.links.len()).filter(lost) {
                    self.lose(now_ns, link);
                }
            }
            Happening::Restart => {
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
            Happening::Change(config) => {
                let changed = self.server.change(now_ns, *config);
                changed.unwrap_or_else(|broken| panic!("the change keeps every rule: {broken:?}"));
            }
        }
    }

    /// Cuts a connection that is there.
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
        for Ended { place, parts: of_lane, mismatches: found } in
            self.lanes.into_iter().map(Lane::end)
        {
            parts.push((place, of_lane));
            mismatches.extend(found.iter().map(ToString::to_string));
        }
        let snapshot = self.server.service().witness().snapshot();
        let record = RunRecord {
            run: run.clone(),
            started_unix_ms: 0,
            intervals: lanes::intervals(run, parts),
            warnings: Vec::new(),
            witness: Some(counts(&snapshot)),
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
            left_behind: self.left_behind,
        }
    }
}

/// What the service counted, as a record keeps it.
fn counts(snapshot: &Snapshot) -> WitnessCounts {
    let mut counts = WitnessCounts::default();
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
