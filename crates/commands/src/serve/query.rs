//! Reads the counters of a running service over HTTP.

use std::net::SocketAddr;
use std::time::Duration;

use exposition::http;

use crate::http_get;
use crate::outcome::Failure;

/// A service answers within microseconds.
const TIMEOUT: Duration = Duration::from_secs(5);

/// More than the largest answer: 10,000 flows with their counters.
const ANSWER_BYTES_MAX: usize = 256 << 20;

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
    let host = address.to_string();
    let answer = http_get::get(address, &host, path, TIMEOUT, ANSWER_BYTES_MAX)
        .map_err(|error| failed(error.into()))?;
    http::body(&answer).map(str::to_owned).map_err(|error| failed(error.into()))
}
