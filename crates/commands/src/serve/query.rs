//! Reads the counters of a running service over HTTP.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use anyhow::anyhow;

use crate::outcome::Failure;

/// A service answers within microseconds.
const TIMEOUT: Duration = Duration::from_secs(5);

/// More than the largest answer: 10,000 flows with their counters.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// The body of the service's answer: `/stat.json` or `/metrics`.
///
/// # Errors
/// There is no service at the address, or it refused the request.
pub fn query(address: SocketAddr, path: &str) -> Result<String, Failure> {
    let failed = |error: anyhow::Error| {
        Failure::target(error.context(format!(
            "query the service at {address}: is `fourcorners volume serve` running there? It prints \
             the address of its metrics when it starts"
        )))
    };
    let answer = fetch(address, path).map_err(|error| failed(error.into()))?;
    let (head, body) =
        answer.split_once("\r\n\r\n").ok_or_else(|| failed(anyhow!("the answer is not HTTP")))?;
    match head.split(' ').nth(1) {
        Some("200") => Ok(body.to_owned()),
        _ => Err(failed(anyhow!("it answered `{}`", head.lines().next().unwrap_or_default()))),
    }
}

fn fetch(address: SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT)?;
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut answer = String::new();
    stream.take(ANSWER_BYTES_MAX).read_to_string(&mut answer)?;
    Ok(answer)
}
