//! One connection of a simulated client: both directions, and whether it is there.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use volume::server::Conn;
use workload::connection::Endpoint;

use crate::site::{NFS_PORT, server_address};
use crate::tap::Tap;
use crate::wire::Pipe;

/// The host of all workers.
const CLIENT: [u8; 4] = [10, 0, 0, 2];
/// Source ports begin here, and every connection that is made takes another.
const PORTS: std::ops::RangeInclusive<u64> = 10_000..=60_000;

/// A connection.
#[derive(Debug)]
pub(crate) struct Link {
    /// Among those of the process.
    pub(crate) number: usize,
    pub(crate) lane: usize,
    /// Among those of its worker.
    pub(crate) place: usize,
    pub(crate) endpoint: usize,
    /// What the service calls it; `None` while it is not there.
    pub(crate) conn: Option<Conn>,
    /// Grows whenever it is made, lost or given up: what was planned before means nothing.
    pub(crate) life: u32,
    /// To the service.
    pub(crate) up: Pipe,
    /// To the client.
    pub(crate) down: Pipe,
    pub(crate) tap: Option<Tap>,
}

impl Link {
    pub(crate) fn new(number: usize, lane: usize, place: usize, endpoint: usize) -> Link {
        Link {
            number,
            lane,
            place,
            endpoint,
            conn: None,
            life: 0,
            up: Pipe::default(),
            down: Pipe::default(),
            tap: None,
        }
    }

    /// Forgets everything on its way, and gives what the service is to close.
    pub(crate) fn cut(&mut self) -> Option<Conn> {
        self.life += 1;
        (self.up, self.down) = (Pipe::default(), Pipe::default());
        if self.tap.is_some() {
            self.tap = Some(Tap::new());
        }
        self.conn.take()
    }

    /// Our end and the other, as the service takes them.
    pub(crate) fn ends(&self, links: usize) -> (SocketAddr, SocketAddr) {
        let taken = self.number as u64 + u64::from(self.life) * links as u64;
        let port = PORTS.start() + taken % (PORTS.end() - PORTS.start());
        let client = SocketAddr::new(IpAddr::V4(Ipv4Addr::from(CLIENT)), port as u16);
        (client, server_address(self.endpoint))
    }

    /// The same, as the client's counters have them.
    pub(crate) fn endpoints(&self, links: usize) -> (Endpoint, Endpoint) {
        let (client, server) = self.ends(links);
        let remote = match server.ip() {
            IpAddr::V4(ip) => Endpoint::v4(ip.octets(), NFS_PORT),
            IpAddr::V6(ip) => Endpoint::v6(ip.octets(), NFS_PORT),
        };
        (Endpoint::v4(CLIENT, client.port()), remote)
    }
}
