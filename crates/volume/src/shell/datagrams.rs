//! The portmapper's socket for UDP, where `showmount` and `rpcinfo` ask.
//!
//! For: receiving whole questions of limited length and sending each answer back. Not for: what an
//! answer says ([`Server::answer_datagram`]).

use std::io::{self, ErrorKind};
use std::net::UdpSocket;

use crate::server::Server;

/// The longest datagram that is read; longer ones are dropped. A call of GETPORT has 56 bytes, and
/// 872 with the longest credential and verifier (RFC 5531, section 8.2).
pub(super) const DATAGRAM_BYTES: usize = 1024;

/// Datagrams that are answered in a row; the rest are there in the next turn too.
const DATAGRAMS: usize = 64;

/// A socket, and what the portmapper tells there.
#[derive(Debug)]
pub(super) struct Datagrams {
    pub(super) socket: UdpSocket,
    /// The number of its endpoint in the description.
    pub(super) endpoint: usize,
    /// The port of NFS at that endpoint.
    pub(super) nfs_port: u16,
}

impl Datagrams {
    /// Answers what is there. An answer that the system does not take now is dropped, as the
    /// network may drop it: the client asks again.
    ///
    /// # Errors
    /// The socket failed.
    pub(super) fn answer(&self, server: &mut Server) -> io::Result<()> {
        // One byte more than may be read, to know what was longer.
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
