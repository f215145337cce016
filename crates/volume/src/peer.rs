//! Who is at the other end of a connection, as far as the exports need to know.

use std::net::{IpAddr, SocketAddr};

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    address: IpAddr,
    client: u64,
    endpoint: usize,
    nfs_port: u16,
    portmapper_udp: Option<u16>,
}

impl Peer {
    /// What is known when a connection is accepted.
    ///
    /// * `remote` — of the client; an IPv4 address that came in through an IPv6 socket is taken
    ///   for the IPv4 address that it is
    /// * `endpoint` — index of the endpoint that it came to: only volumes served there are seen
    /// * `nfs_port` — what the portmapper tells this client: the port of that endpoint, or of the
    ///   first one where the connection came to the portmapper's own port
    #[must_use]
    pub fn new(remote: SocketAddr, endpoint: usize, nfs_port: u16) -> Peer {
        let address = remote.ip().to_canonical();
        Peer { address, client: number_of(address), endpoint, nfs_port, portmapper_udp: None }
    }

    /// The same client of a service whose portmapper answers over UDP at this port too.
    #[must_use]
    pub fn with_portmapper_udp(self, portmapper_udp: Option<u16>) -> Peer {
        Peer { portmapper_udp, ..self }
    }

    /// The client's address.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The endpoint's index.
    #[must_use]
    pub fn endpoint(&self) -> usize {
        self.endpoint
    }

    /// The port that the portmapper tells.
    #[must_use]
    pub fn nfs_port(&self) -> u16 {
        self.nfs_port
    }

    /// The port at which the portmapper answers over UDP, if it does.
    #[must_use]
    pub fn portmapper_udp(&self) -> Option<u16> {
        self.portmapper_udp
    }

    /// The client's number for the duplicate request cache: of the address alone, for a client
    /// repeats its calls on a new connection from another port.
    pub(crate) fn client(&self) -> u64 {
        self.client
    }
}

/// An IPv4 address is its number. Of an IPv6 address the halves are mixed: two clients that meet
/// there would still need equal xids, procedures and arguments to be mistaken for one another.
fn number_of(address: IpAddr) -> u64 {
    match address {
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            ((bits >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ bits as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peer(remote: &str) -> Peer {
        Peer::new(remote.parse().unwrap(), 0, 2049)
    }

    #[test]
    fn a_client_is_the_same_from_another_port_and_through_a_mapped_address() {
        let first = peer("10.0.0.4:1000");
        assert_eq!(first.client(), peer("10.0.0.4:1001").client());
        assert_eq!(first.client(), peer("[::ffff:10.0.0.4]:7").client());
        assert_ne!(first.client(), peer("10.0.0.5:1000").client());
        assert_ne!(peer("[fd00::1]:1").client(), peer("[fd01::1]:1").client());
        assert_ne!(peer("[fd00::1]:1").client(), peer("[fd00::2]:1").client());
        assert_eq!(peer("[::ffff:10.0.0.4]:7").address().to_string(), "10.0.0.4");
    }
}
