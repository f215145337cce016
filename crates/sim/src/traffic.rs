//! What goes over the connections of [`crate::network`], and how they are made and lost.

use std::io::IoSlice;

use target::nfs::unwired::Wish;

use crate::link::Link;
use crate::network::{Network, What};
use crate::site::NFS_PORT;
use crate::storage::NEVER_NS;
use crate::tap::Tap;

/// Pieces gathered at a time.
const PIECES: usize = 64;

impl Network {
    pub(crate) fn grant(&mut self, now_ns: u64, lane: usize, wish: Wish) {
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

    pub(crate) fn made(&mut self, now_ns: u64, link: usize) {
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
    pub(crate) fn accept(&mut self, now_ns: u64, number: usize) {
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
    pub(crate) fn cut(&mut self, now_ns: u64, number: usize) {
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
    pub(crate) fn send_all(&mut self, now_ns: u64, lane: usize) {
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
    pub(crate) fn take_up(&mut self, now_ns: u64, number: usize) {
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
    pub(crate) fn take_down(&mut self, now_ns: u64, number: usize) {
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
    pub(crate) fn serve(&mut self, now_ns: u64) {
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
}
