//! Counters of a target's connections. They only grow; readers compute differences.
//!
//! Not for: opening connections (`target`), nor for the counters of an interval (`metrics`).

use std::fmt;

use crate::kind_table::Blank;
use crate::op::OpKind;

/// One end of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Endpoint {
    /// The address as IPv6; IPv4 in its mapped form (RFC 4291, 2.5.5.2).
    pub address: [u8; 16],
    /// The port; 0 if not connected.
    pub port: u16,
}

/// Counters of one connection since its target was opened. They keep growing across reconnects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConnectionCounters {
    /// The local end of the last connect.
    pub local: Endpoint,
    /// The remote end.
    pub remote: Endpoint,
    /// By operation kind: `kinds[OpKind as usize]`.
    pub kinds: [CallCounters; OpKind::COUNT],
    /// Calls that currently wait for a reply.
    pub outstanding: u64,
    /// Time integral of the outstanding calls up to `age_ns`, in calls times nanoseconds.
    pub outstanding_time_ns: u128,
    /// Time since the target was opened, in nanoseconds.
    pub age_ns: u64,
    /// Reconnects after the connection was lost.
    pub reconnects: u64,
    /// Calls repeated after a reconnect, and reads repeated because the server lost uncommitted data.
    pub replays: u64,
    /// Calls repeated at the server's request (NFS3ERR_JUKEBOX and similar).
    pub retries: u64,
    /// Bytes rewritten because the server restarted or lost its cache before they were committed;
    /// included in `kinds`.
    pub rewritten_bytes: u64,
    /// Number of new write verifiers first seen on this connection, without the target's first one.
    /// Each means that the server restarted or lost its cache.
    pub verifier_changes: u64,
    /// Time without a connection, up to `age_ns`, in nanoseconds.
    pub down_time_ns: u64,
    /// Why there is currently no connection, as a Linux error number; 0 while connected.
    pub down_errno: i32,
    /// The kernel's view of the connection, if available.
    pub tcp: Option<TcpState>,
}

/// Why there is no connection, in words; `errno` as in [`ConnectionCounters::down_errno`].
pub fn down_reason(errno: i32) -> String {
    match errno {
        32 => "closed by the server".to_owned(),
        71 => "the server's replies are malformed".to_owned(),
        104 => "reset by the server".to_owned(),
        110 => "no reply".to_owned(),
        111 => "connection refused".to_owned(),
        101 | 113 => "no route to the server".to_owned(),
        other => std::io::Error::from_raw_os_error(other).to_string(),
    }
}

/// Calls of one operation kind on one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallCounters {
    /// Operations that ended, successfully or not. An operation of several calls counts on the
    /// connection of its first call.
    pub operations: u64,
    /// Calls (RPCs). A call repeated after a reconnect keeps its xid and does not count again; see
    /// [`ConnectionCounters::replays`]. A call repeated at the server's request has a new xid and
    /// counts again.
    pub calls: u64,
    /// Bytes of file data moved by calls that succeeded.
    pub bytes: u64,
}

/// Counters by operation kind with these for reads, writes and fsyncs.
pub fn data_calls(calls: [CallCounters; 3]) -> [CallCounters; OpKind::COUNT] {
    let mut kinds = [CallCounters::default(); OpKind::COUNT];
    kinds[..calls.len()].copy_from_slice(&calls);
    kinds
}

impl Blank for CallCounters {
    fn blank() -> &'static CallCounters {
        &CallCounters { operations: 0, calls: 0, bytes: 0 }
    }
}

/// The kernel's view of a TCP connection (TCP_INFO, tcp(7)).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpState {
    /// Smoothed round-trip time, in nanoseconds.
    pub rtt_ns: u64,
    /// Its mean deviation, in nanoseconds.
    pub rtt_deviation_ns: u64,
    /// Retransmitted segments, over all sockets of this connection.
    pub retransmits: u64,
}

impl Endpoint {
    /// An end with an IPv4 address.
    pub const fn v4(octets: [u8; 4], port: u16) -> Endpoint {
        let [a, b, c, d] = octets;
        Endpoint { address: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d], port }
    }

    /// An end with an IPv6 address.
    pub const fn v6(octets: [u8; 16], port: u16) -> Endpoint {
        Endpoint { address: octets, port }
    }
}

impl fmt::Display for Endpoint {
    /// `10.0.0.4:2049`, `[fe80:0:0:0:0:0:0:1]:2049`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, a, b, c, d] = self.address {
            return write!(f, "{a}.{b}.{c}.{d}:{}", self.port);
        }
        f.write_str("[")?;
        for (index, pair) in self.address.chunks_exact(2).enumerate() {
            let colon = if index == 0 { "" } else { ":" };
            write!(f, "{colon}{:x}", u16::from_be_bytes([pair[0], pair[1]]))?;
        }
        write!(f, "]:{}", self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_printed_as_addresses_with_ports() {
        assert_eq!(Endpoint::v4([10, 0, 0, 4], 2049).to_string(), "10.0.0.4:2049");
        let mut octets = [0; 16];
        (octets[0], octets[1], octets[15]) = (0xfe, 0x80, 1);
        assert_eq!(Endpoint::v6(octets, 2049).to_string(), "[fe80:0:0:0:0:0:0:1]:2049");
    }
}
