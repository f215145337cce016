//! The loop of [`crate::nfs_world`]: clients, connections and the service, each woken in the order
//! of time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::IoSlice;

use engine::worker::Plain;
use metrics::run_record::{Outcome, RunRecord};
use metrics::witness::WitnessCounts;
use target::nfs::unwired::{Unwired, Wish};
use volume::server::{Conn, Server};
use volume::witness::{Procedure, Snapshot};
use workload::plan::Run;
use workload::random;

use crate::lanes::{self, Ended, Lane, Next};
use crate::link::Link;
use crate::nfs_world::{Data, Happening, Setup, Simulated, Which};
use crate::site::{NFS_PORT, Site, time_of_day};
use crate::station::Station;
use crate::storage::NEVER_NS;
use crate::tap::{Tap, Tapped};
use crate::wire::{Medium, Wire};
use crate::world::{NotReturned, OVERDUE};

/// Pieces gathered at a time.
const PIECES: usize = 64;
const WIRE_SEED: u64 = 0x317E;
const XID_SEED: u64 = 0x71D;

/// Whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum What {
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
    server: Server,
    lanes: Vec<Box<dyn Lane>>,
    stations: Vec<Station>,
    /// When a worker must be woken although nothing has completed; never once it has ended.
    turn_ns: Vec<u64>,
    /// The event that is planned for a worker.
    lane_ns: Vec<u64>,
    links: Vec<Link>,
    /// By [`Conn::index`].
    link_of: Vec<Option<usize>>,
    wire: Wire,
    /// To the service, and back.
    media: [Medium; 2],
    /// `(time, order of planning, what)`, the earliest first.
    events: BinaryHeap<Reverse<(u64, u64, What)>>,
    planned: u64,
    server_ns: u64,
    ready: Vec<Conn>,
    happenings: Vec<(u64, Happening)>,
    setup: Setup,
    tapped: Tapped,
    /// When failed operations are counted next.
    count_ns: u64,
    /// When the run was given up, and why, if it was.
    stopped: Option<(u64, String)>,
    overdue: Vec<NotReturned>,
    left_behind: Vec<NotReturned>,
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
        let all = u64::from(setup.client.nconnect.unwrap_or(0)).max(workers);
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

    fn plan(&mut self, at_ns: u64, what: What) {
        self.events.push(Reverse((at_ns, self.planned, what)));
        self.planned += 1;
    }

    fn plan_lane(&mut self, lane: usize, at_ns: u64) {
        if self.lane_ns[lane] != at_ns {
            self.lane_ns[lane] = at_ns;
            if at_ns != NEVER_NS {
                self.plan(at_ns, What::Lane(lane));
            }
        }
    }

    /// A client and its worker do what there is to do.
    fn wake(&mut self, now_ns: u64, lane: usize) {
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

    fn grant(&mut self, now_ns: u64, lane: usize, wish: Wish) {
        let first = self.stations[lane].first_link;
        match wish {
            Wish::Connect(place) => {
                let link = &mut self.links[first + place];
                link.life += 1;
                // SYN and SYN-ACK.
                let at_ns = self.wire.up_ns(now_ns) + 2 * self.wire.delay_ns;
                let what = What::Made(first + place, link.life);
                self.plan(at_ns, what);
            }
            Wish::Close(place) => self.cut(now_ns, first + place),
        }
    }

    fn made(&mut self, now_ns: u64, link: usize) {
        let up_ns = self.wire.up_ns(now_ns);
        if up_ns > now_ns {
            let life = self.links[link].life;
            return self.plan(up_ns + 2 * self.wire.delay_ns, What::Made(link, life));
        }
        self.accept(now_ns, link);
        let Link { lane, place, .. } = self.links[link];
        let client = &mut self.stations[lane].client;
        client.at(now_ns);
        client.connected(place);
        self.wake(now_ns, lane);
    }

    /// Client and service have a connection.
    fn accept(&mut self, now_ns: u64, number: usize) {
        let links = self.links.len();
        let link = &mut self.links[number];
        let (client, server) = link.ends(links);
        let conn = self.server.accept(now_ns, link.endpoint, server, client, NFS_PORT);
        let conn = conn.expect("the service takes any number of connections");
        link.conn = Some(conn);
        link.tap = self.setup.tapping.map(|_| Tap::new());
        let (local, remote) = link.endpoints(links);
        self.stations[link.lane].client.name_ends(link.place, local, remote);
        self.link_of.resize(self.link_of.len().max(conn.index() + 1), None);
        self.link_of[conn.index()] = Some(number);
    }

    /// A connection is gone, or is not made: both ends learn of it now.
    fn cut(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        if let Some(conn) = link.cut() {
            self.server.closed(now_ns, conn);
            self.link_of[conn.index()] = None;
        }
        let Link { lane, place, .. } = *link;
        let client = &mut self.stations[lane].client;
        client.at(now_ns);
        client.lost(place);
        if self.turn_ns[lane] != NEVER_NS {
            self.plan_lane(lane, now_ns);
        }
    }

    /// Sends what is new of a client.
    fn send_all(&mut self, now_ns: u64, lane: usize) {
        let station = &mut self.stations[lane];
        let first = station.first_link;
        let places: Vec<usize> =
            station.client.take_unsent().iter().map(|place| first + *place as usize).collect();
        for link in places {
            self.send(now_ns, link);
        }
    }

    /// Sends what a client has for a connection, as much as fits.
    fn send(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        if link.conn.is_none() {
            return;
        }
        let client = &mut self.stations[link.lane].client;
        loop {
            let mut slices = [IoSlice::new(&[]); PIECES];
            let filled = client.gather(link.place, &mut slices);
            let sent = link.up.send(now_ns, &slices[..filled], &mut self.media[0]);
            if sent == 0 {
                break;
            }
            client.sent(link.place, sent);
        }
        self.plan_up(now_ns, number);
    }

    /// Plans the arrival of what is on its way to the service, if it wants to read.
    fn plan_up(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        let (Some(conn), Some(at_ns)) = (link.conn, link.up.next_ns()) else { return };
        if link.up.is_planned || !self.server.wants_to_read(conn) {
            return;
        }
        link.up.is_planned = true;
        let what = What::Up(number, link.life);
        self.plan(at_ns.max(now_ns), what);
    }

    /// The service takes what has arrived.
    fn take_up(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        let Some(conn) = link.conn else { return };
        let mut taken = false;
        while self.server.wants_to_read(conn) {
            let Some(piece) = link.up.take(now_ns) else { break };
            taken = true;
            match (&mut link.tap, self.setup.tapping) {
                (Some(tap), Some(tapping)) => {
                    let calls = tap.pass(number as u32, piece, tapping, &mut self.tapped);
                    self.server.received(now_ns, conn, calls);
                }
                _ => self.server.received(now_ns, conn, piece),
            }
        }
        if taken {
            self.send(now_ns, number);
        }
        self.plan_up(now_ns, number);
    }

    /// The client takes what has arrived.
    fn take_down(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        link.down.is_planned = false;
        let Link { lane, place, .. } = *link;
        let client = &mut self.stations[lane].client;
        client.at(now_ns);
        let mut is_sound = true;
        while is_sound && let Some(piece) = link.down.take(now_ns) {
            is_sound = client.received(place, piece);
        }
        if is_sound {
            // There is room again.
            self.give(now_ns, number);
        } else {
            self.cut(now_ns, number);
        }
        self.wake(now_ns, lane);
    }

    /// The service sends what it has for a connection, as much as fits.
    fn give(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        let Some(conn) = link.conn else { return };
        loop {
            let mut slices = [IoSlice::new(&[]); PIECES];
            let filled = self.server.gather(conn, &mut slices);
            let sent = link.down.send(now_ns, &slices[..filled], &mut self.media[1]);
            if sent == 0 {
                break;
            }
            self.server.sent(conn, sent);
        }
        if let (false, Some(at_ns)) = (link.down.is_planned, link.down.next_ns()) {
            link.down.is_planned = true;
            let what = What::Down(number, link.life);
            self.plan(at_ns.max(now_ns), what);
        }
    }

    /// The service does all that there is to do by now.
    fn serve(&mut self, now_ns: u64) {
        loop {
            while self.server.next_ns().is_some_and(|at_ns| at_ns <= now_ns) {
                self.server.advance(now_ns);
            }
            let mut ready = std::mem::take(&mut self.ready);
            self.server.take_ready(&mut ready);
            let is_done = ready.is_empty();
            for conn in ready.drain(..) {
                let Some(link) = self.link_of[conn.index()] else { continue };
                if self.server.is_broken(conn) {
                    self.cut(now_ns, link);
                    continue;
                }
                self.give(now_ns, link);
                self.take_up(now_ns, link);
            }
            self.ready = ready;
            if is_done {
                break;
            }
        }
        let next_ns = self.server.next_ns().unwrap_or(NEVER_NS);
        if next_ns != self.server_ns {
            self.server_ns = next_ns;
            if next_ns != NEVER_NS {
                self.plan(next_ns, What::Server);
            }
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
