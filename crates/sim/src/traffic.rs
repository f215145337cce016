//! The traffic on the connections of [`crate::network`], and how they are opened and lost.

use std::io::IoSlice;

use target::nfs::sans_io::SocketAction;
use volume::ids::EndpointId;

use crate::link::Link;
use crate::network::{Event, Network};
use crate::site::NFS_PORT;
use crate::storage::NEVER_NS;
use crate::tap::Tap;

/// Pieces gathered per call.
const PIECES: usize = 64;

impl Network {
    pub(crate) fn perform(&mut self, now_ns: u64, lane: usize, action: SocketAction) {
        let first = self.stations[lane].first_link;
        match action {
            SocketAction::Connect(connection) => {
                let number = first + connection;
                self.links[number].generation += 1;
                // SYN and SYN-ACK.
                let at_ns = self.wire.up_ns(now_ns) + 2 * self.wire.delay_ns;
                self.plan(at_ns, Event::Connected(number, self.links[number].generation));
            }
            SocketAction::Close(connection) => self.cut(now_ns, first + connection),
        }
    }

    pub(crate) fn connected(&mut self, now_ns: u64, number: usize) {
        let up_ns = self.wire.up_ns(now_ns);
        if up_ns > now_ns {
            let generation = self.links[number].generation;
            let at_ns = up_ns + 2 * self.wire.delay_ns;
            return self.plan(at_ns, Event::Connected(number, generation));
        }
        self.accept(now_ns, number);
        let Link { lane, connection, .. } = self.links[number];
        let client = &mut self.stations[lane].client;
        client.set_time(now_ns);
        client.connected(connection);
        self.wake(now_ns, lane);
    }

    /// Connects client and service.
    pub(crate) fn accept(&mut self, now_ns: u64, number: usize) {
        let links = self.links.len();
        let link = &mut self.links[number];
        let (client, server) = link.addresses(links);
        let endpoint = EndpointId::new(link.endpoint);
        let conn = self.server.accept(now_ns, endpoint, server, client, NFS_PORT);
        let conn = conn.expect("the service accepts any number of connections");
        link.conn = Some(conn);
        link.tap = self.setup.tapping.map(|_| Tap::new());
        let (local, remote) = link.endpoints(links);
        self.stations[link.lane].client.set_endpoints(link.connection, local, remote);
        self.link_of.resize(self.link_of.len().max(conn.index() + 1), None);
        self.link_of[conn.index()] = Some(number);
    }

    /// Cuts a connection, or fails its opening; both ends notice it now.
    pub(crate) fn cut(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        if let Some(conn) = link.cut() {
            self.server.closed(now_ns, conn);
            self.link_of[conn.index()] = None;
        }
        let Link { lane, connection, .. } = *link;
        let client = &mut self.stations[lane].client;
        client.set_time(now_ns);
        client.lost(connection);
        if self.turn_ns[lane] != NEVER_NS {
            self.plan_lane(lane, now_ns);
        }
    }

    /// Sends a client's newly queued calls.
    pub(crate) fn send_all(&mut self, now_ns: u64, lane: usize) {
        let station = &mut self.stations[lane];
        let first = station.first_link;
        let unsent = station.client.take_unsent().iter();
        let links: Vec<usize> = unsent.map(|connection| first + *connection as usize).collect();
        for link in links {
            self.send(now_ns, link);
        }
    }

    /// Sends a client's bytes on a connection, as many as fit.
    fn send(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        if link.conn.is_none() {
            return;
        }
        let client = &mut self.stations[link.lane].client;
        loop {
            let mut slices = [IoSlice::new(&[]); PIECES];
            let filled = client.gather(link.connection, &mut slices);
            let sent = link.up.send(now_ns, &slices[..filled], &mut self.media[0]);
            if sent == 0 {
                break;
            }
            client.sent(link.connection, sent);
        }
        self.plan_up(now_ns, number);
    }

    /// Plans the arrival of bytes in flight to the service, if it is reading.
    fn plan_up(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        let (Some(conn), Some(at_ns)) = (link.conn, link.up.next_ns()) else { return };
        if link.up.is_planned || !self.server.wants_to_read(conn) {
            return;
        }
        link.up.is_planned = true;
        let event = Event::Up(number, link.generation);
        self.plan(at_ns.max(now_ns), event);
    }

    /// The service receives the bytes that have arrived.
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

    /// The client receives the bytes that have arrived.
    pub(crate) fn take_down(&mut self, now_ns: u64, number: usize) {
        let link = &mut self.links[number];
        link.down.is_planned = false;
        let Link { lane, connection, .. } = *link;
        let client = &mut self.stations[lane].client;
        client.set_time(now_ns);
        let mut is_usable = true;
        while is_usable && let Some(piece) = link.down.take(now_ns) {
            is_usable = client.received(connection, piece);
        }
        if is_usable {
            // The connection's window has room again.
            self.send_replies(now_ns, number);
        } else {
            self.cut(now_ns, number);
        }
        self.wake(now_ns, lane);
    }

    /// Sends the service's bytes on a connection, as many as fit.
    fn send_replies(&mut self, now_ns: u64, number: usize) {
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
            let event = Event::Down(number, link.generation);
            self.plan(at_ns.max(now_ns), event);
        }
    }

    /// Executes everything that is due in the service.
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
                self.send_replies(now_ns, link);
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
                self.plan(next_ns, Event::Server);
            }
        }
    }
}
