//! Bytes between the socket of a connection and the server, by system calls that gather and scatter.

use std::io::{self, IoSlice, IoSliceMut, Read};
use std::net::TcpStream;

use rustix::io::Errno;
use rustix::net::{SendAncillaryBuffer, SendFlags, sendmsg};

use crate::ids::ConnectionId;
use crate::server::{RECEIVE_SLICES, Server};

/// Most pieces in one system call.
const SEND_PIECES: usize = 256;

/// The same for a few replies: making an array of [`SEND_PIECES`] takes longer than gathering them.
const SEND_PIECES_OF_FEW: usize = 32;

/// Receives by one system call: into the server's memory first, if it has some for the next bytes,
/// and then into `buffer`. Returns how many bytes were received and requested.
pub(super) fn receive(
    server: &mut Server,
    mut stream: &TcpStream,
    id: ConnectionId,
    buffer: &mut [u8],
    now_ns: u64,
) -> io::Result<(usize, usize)> {
    let Some(bytes) = server.receive_bytes(id) else {
        let count = stream.read(buffer)?;
        if count > 0 {
            server.received(now_ns, id, &buffer[..count]);
        }
        return Ok((count, buffer.len()));
    };
    let mut slices = [(); RECEIVE_SLICES + 1].map(|()| IoSliceMut::new(&mut []));
    let filled = server.receive_slices(id, &mut slices[..RECEIVE_SLICES]);
    let in_slices: usize = slices[..filled].iter().map(|slice| slice.len()).sum();
    slices[filled] = IoSliceMut::new(&mut buffer[..bytes]);
    let result = stream.read_vectored(&mut slices[..=filled]);
    // After an error, the server takes its memory back.
    let count = *result.as_ref().unwrap_or(&0);
    let into_slices = count.min(in_slices);
    server.received_into_slices(now_ns, id, into_slices, &buffer[..count - into_slices]);
    result.map(|count| (count, in_slices + bytes))
}

/// Sends a connection's pending bytes; true if its socket does not take all of them.
pub(super) fn send(server: &mut Server, stream: &TcpStream, id: ConnectionId) -> io::Result<bool> {
    loop {
        let is_full = match server.pending_pieces(id) {
            0 => return Ok(false),
            1..=SEND_PIECES_OF_FEW => send_pieces::<SEND_PIECES_OF_FEW>(server, stream, id)?,
            _ => send_pieces::<SEND_PIECES>(server, stream, id)?,
        };
        if is_full {
            return Ok(true);
        }
    }
}

/// Sends at most `N` pieces; true if the socket does not take all of them.
fn send_pieces<const N: usize>(
    server: &mut Server,
    stream: &TcpStream,
    id: ConnectionId,
) -> io::Result<bool> {
    let mut slices = [IoSlice::new(&[]); N];
    let count = server.gather(id, &mut slices);
    let slices = &slices[..count];
    let pending: usize = slices.iter().map(|slice| slice.len()).sum();
    let mut none = SendAncillaryBuffer::default();
    match sendmsg(stream, slices, &mut none, SendFlags::NOSIGNAL) {
        Ok(sent) => {
            server.sent(id, sent);
            Ok(sent < pending)
        }
        Err(Errno::AGAIN) => Ok(true),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
