//! One connection of a simulated client: both directions and its state.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use volume::ids::ConnectionId;
use workload::connection::Endpoint;

use crate::site::{NFS_PORT, server_address};
use crate::tap::Tap;
use crate::wire::Pipe;

/// The client host's address.
const CLIENT: [u8; 4] = [10, 0, 0, 2];
/// Source ports; every new connection takes another.
const PORTS: std::ops::RangeInclusive<u64> = 10_000..=60_000;

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    /// Its number in the process.
    pub(crate) number: usize,
    pub(crate) lane: usize,
    /// Its number in its worker.
    pub(crate) connection: usize,
    pub(crate) endpoint: usize,
    /// Its number in the service; `None` while it is not connected.
    pub(crate) conn: Option<ConnectionId>,
    /// Incremented when it is opened, lost or closed, which invalidates planned events.
    pub(crate) generation: u32,
    /// To the service.
    pub(crate) up: Pipe,
    /// To the client.
    pub(crate) down: Pipe,
    pub(crate) tap: Option<Tap>,
}

impl Link {
    pub(crate) fn new(number: usize, lane: usize, connection: usize, endpoint: usize) -> Link {
        Link {
            number,
            lane,
            connection,
            endpoint,
            conn: None,
            generation: 0,
            up: Pipe::default(),
            down: Pipe::default(),
            tap: None,
        }
    }

    /// Discards everything in flight, and returns the connection that the service must close.
    pub(crate) fn cut(&mut self) -> Option<ConnectionId> {
        self.generation += 1;
        (self.up, self.down) = (Pipe::default(), Pipe::default());
        if self.tap.is_some() {
            self.tap = Some(Tap::new());
        }
        self.conn.take()
    }

    /// The addresses of client and service, in the service's form.
    pub(crate) fn addresses(&self, links: usize) -> (SocketAddr, SocketAddr) {
        let taken = self.number as u64 + u64::from(self.generation) * links as u64;
        let port = PORTS.start() + taken % (PORTS.end() - PORTS.start());
        let client = SocketAddr::new(IpAddr::V4(Ipv4Addr::from(CLIENT)), port as u16);
        (client, server_address(self.endpoint))
    }

    /// The same in the form of the client's counters.
    pub(crate) fn endpoints(&self, links: usize) -> (Endpoint, Endpoint) {
        let (client, server) = self.addresses(links);
        let remote = match server.ip() {
            IpAddr::V4(ip) => Endpoint::v4(ip.octets(), NFS_PORT),
            IpAddr::V6(ip) => Endpoint::v6(ip.octets(), NFS_PORT),
        };
        (Endpoint::v4(CLIENT, client.port()), remote)
    }
}
