//! Reads a page over HTTP within a time and a size: the counters of `volume serve`, and metrics of
//! other systems.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use exposition::http;

/// The whole response to a GET request for `path`.
///
/// * `host` - as the server knows itself, for the request's head
/// * `timeout` - for everything: connecting, sending and receiving
/// * `bytes_max` - longer responses are refused
///
/// # Errors
/// The kernel's error; [`ErrorKind::TimedOut`] and [`ErrorKind::FileTooLarge`] beyond the limits.
pub(crate) fn get(
    address: SocketAddr,
    host: &str,
    path: &str,
    timeout: Duration,
    bytes_max: usize,
) -> io::Result<Vec<u8>> {
    let deadline = Instant::now() + timeout;
    let mut stream = TcpStream::connect_timeout(&address, timeout)?;
    stream.set_write_timeout(Some(remaining(deadline)?))?;
    stream.write_all(http::get(host, path).as_bytes())?;
    let mut response = Vec::new();
    let mut buffer = [0; 16 << 10];
    loop {
        stream.set_read_timeout(Some(remaining(deadline)?))?;
        match stream.read(&mut buffer) {
            Ok(0) => return Ok(response),
            Ok(count) => response.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            // A read that times out reports that it would block.
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                return Err(ErrorKind::TimedOut.into());
            }
            Err(error) => return Err(error),
        }
        if response.len() > bytes_max {
            return Err(ErrorKind::FileTooLarge.into());
        }
    }
}

/// The time until `deadline`, which is above 0 because sockets take 0 for no timeout.
fn remaining(deadline: Instant) -> io::Result<Duration> {
    let remaining = deadline.saturating_duration_since(Instant::now());
    if remaining.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(remaining) }
}
