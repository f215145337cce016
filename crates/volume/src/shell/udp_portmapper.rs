//! The portmapper over UDP, which `showmount` and `rpcinfo` query.
//!
//! For: receiving calls of limited length and sending the answers. Not for: the content of answers
//! ([`Server::answer_datagram`]).

use std::io::{self, ErrorKind};
use std::net::UdpSocket;

use crate::ids::EndpointId;
use crate::server::Server;

/// Longer datagrams are dropped. A call of GETPORT has 56 bytes, and 872 with the longest credential
/// and verifier (RFC 5531, section 8.2).
const DATAGRAM_BYTES: usize = 1024;

/// Most datagrams answered in a turn.
const DATAGRAMS: usize = 64;

/// A portmapper's socket.
#[derive(Debug)]
pub(super) struct UdpPortmapper {
    pub(super) socket: UdpSocket,
    pub(super) endpoint: EndpointId,
    /// The NFS port of that endpoint.
    pub(super) nfs_port: u16,
}

impl UdpPortmapper {
    /// Answers received datagrams. If the system cannot send an answer now, it is dropped, as the
    /// network might, and the client repeats its call.
    ///
    /// # Errors
    /// The socket failed.
    pub(super) fn answer(&self, server: &mut Server) -> io::Result<()> {
        // One byte more, to detect longer datagrams.
        let mut buffer = [0; DATAGRAM_BYTES + 1];
        for _ in 0..DATAGRAMS {
            let (count, remote) = match self.socket.recv_from(&mut buffer) {
                Ok(received) => received,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if count <= DATAGRAM_BYTES
                && let Some(answer) =
                    server.answer_datagram(self.endpoint, remote, self.nfs_port, &buffer[..count])
            {
                drop(self.socket.send_to(&answer, remote));
            }
        }
        Ok(())
    }
}
