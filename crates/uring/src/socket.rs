//! The kernel's state of a TCP connection (TCP_INFO), for which there is no safe binding.

use std::io;
use std::os::fd::{AsFd, AsRawFd};

/// The kernel's state of a TCP connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpInfo {
    /// Smoothed round-trip time, in microseconds.
    pub rtt_us: u32,
    /// Its mean deviation, in microseconds.
    pub rtt_deviation_us: u32,
    /// Segments retransmitted since it was connected.
    pub retransmits: u32,
}

/// Size of `struct tcp_info` up to the last field read here, in bytes.
const INFO_BYTES: usize = 104;

/// Reads the state of a connection.
///
/// # Errors
/// It is not a TCP socket.
pub fn tcp_info(socket: impl AsFd) -> io::Result<TcpInfo> {
    let mut info = [0u8; INFO_BYTES];
    let mut length = INFO_BYTES as libc::socklen_t;
    // SAFETY: the kernel writes at most `length` bytes, the size of `info`, and then their number
    // to `length`; both live until the call returns.
    let result = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    // The offsets of `tcpi_rtt`, `tcpi_rttvar` and `tcpi_total_retrans` in linux/tcp.h; fields are
    // only ever appended. An older kernel that returns fewer bytes leaves zeros.
    let word = |offset: usize| {
        let bytes = info[offset..offset + 4].try_into().expect("a word has four bytes");
        u32::from_ne_bytes(bytes)
    };
    Ok(TcpInfo { rtt_us: word(68), rtt_deviation_us: word(72), retransmits: word(100) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_used_connection_has_a_round_trip_time() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = listener.local_addr().expect("it is bound");
        let mut ours = TcpStream::connect(address).expect("it listens");
        let (mut theirs, _) = listener.accept().expect("a connection");
        for _ in 0..10 {
            ours.write_all(b"x").expect("there is room");
            theirs.read_exact(&mut [0]).expect("a byte comes");
        }
        let info = tcp_info(&ours).expect("it is a TCP socket");
        assert!((1..1_000_000).contains(&info.rtt_us), "{info:?}");
        assert_eq!(info.retransmits, 0);
        let file = tempfile::tempfile().expect("a temporary file");
        assert!(tcp_info(&file).is_err());
    }
}
