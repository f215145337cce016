//! The peer of a connection: its address and its endpoint.

use std::net::{IpAddr, SocketAddr};

use crate::ids::EndpointId;

/// The peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Peer {
    address: IpAddr,
    client: u64,
    endpoint: EndpointId,
    nfs_port: u16,
    portmapper_udp: Option<u16>,
}

impl Peer {
    /// The peer of an accepted connection.
    ///
    /// * `remote` — the client's address; an IPv4-mapped IPv6 address counts as the IPv4 address
    /// * `endpoint` — its endpoint; only volumes served there are visible
    /// * `nfs_port` — the port that the portmapper returns to this client: that of its endpoint, or
    ///   of the first endpoint if the connection is to the portmapper's port
    #[must_use]
    pub fn new(remote: SocketAddr, endpoint: EndpointId, nfs_port: u16) -> Peer {
        let address = remote.ip().to_canonical();
        Peer { address, client: number_of(address), endpoint, nfs_port, portmapper_udp: None }
    }

    /// Sets the port at which the portmapper also answers over UDP.
    #[must_use]
    pub fn with_portmapper_udp(self, portmapper_udp: Option<u16>) -> Peer {
        Peer { portmapper_udp, ..self }
    }

    /// The client's address.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.address
    }

    /// The endpoint.
    #[must_use]
    pub fn endpoint(&self) -> EndpointId {
        self.endpoint
    }

    /// The port that the portmapper returns.
    #[must_use]
    pub fn nfs_port(&self) -> u16 {
        self.nfs_port
    }

    /// The port of the portmapper over UDP, if it has one.
    #[must_use]
    pub fn portmapper_udp(&self) -> Option<u16> {
        self.portmapper_udp
    }

    /// The client's number for the duplicate request cache. It depends on the address only, because a
    /// client repeats calls on a new connection from another port.
    pub(crate) fn client(&self) -> u64 {
        self.client
    }
}

/// The number of an IPv4 address; a hash of an IPv6 address. Two clients with the same hash would also
/// need equal xids, procedures and arguments to get each other's replies.
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
        Peer::new(remote.parse().unwrap(), EndpointId::new(0), 2049)
    }

    #[test]
    fn a_client_has_the_same_number_from_another_port_and_by_its_mapped_address() {
        let first = peer("10.0.0.4:1000");
        assert_eq!(first.client(), peer("10.0.0.4:1001").client());
        assert_eq!(first.client(), peer("[::ffff:10.0.0.4]:7").client());
        assert_ne!(first.client(), peer("10.0.0.5:1000").client());
        assert_ne!(peer("[fd00::1]:1").client(), peer("[fd01::1]:1").client());
        assert_ne!(peer("[fd00::1]:1").client(), peer("[fd00::2]:1").client());
        assert_eq!(peer("[::ffff:10.0.0.4]:7").address().to_string(), "10.0.0.4");
    }
}
