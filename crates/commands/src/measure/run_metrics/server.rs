//! `--metrics`: the last counters over HTTP.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use exposition::http::{Answer, Request, response};

use super::latest::Latest;
use crate::outcome::Failure;

/// The only path.
const PATH: &str = "/metrics";
/// A client that sent no request and took no response by then is disconnected, because the next one
/// waits for it. Prometheus waits 10 s by default.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(1);

/// The thread that serves `/metrics`, one client after the other, so that clients use bounded
/// memory and at most one processor.
#[derive(Debug)]
pub(super) struct Server {
    address: SocketAddr,
    is_stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Listens and starts the thread.
    pub(super) fn start(address: SocketAddr, latest: Arc<Latest>) -> Result<Server, Failure> {
        let listener = TcpListener::bind(address).map_err(|error| refused(address, error))?;
        let address = listener.local_addr().map_err(|error| refused(address, error))?;
        let is_stopping = Arc::new(AtomicBool::new(false));
        let stopping = Arc::clone(&is_stopping);
        let thread = std::thread::Builder::new()
            .name("metrics".to_owned())
            .spawn(move || serve(&listener, &stopping, &latest))
            .context("start the thread that serves metrics")
            .map_err(Failure::internal)?;
        Ok(Server { address, is_stopping, thread: Some(thread) })
    }

    /// Where it listens.
    pub(super) const fn address(&self) -> SocketAddr {
        self.address
    }
}

fn refused(address: SocketAddr, error: io::Error) -> Failure {
    let remedy = match error.kind() {
        ErrorKind::AddrInUse => "another program listens there; choose another port, or 0 for any",
        ErrorKind::AddrNotAvailable => "it is not an address of this host",
        ErrorKind::PermissionDenied => "ports below 1024 need more privileges",
        _ => "choose another address",
    };
    Failure::input(anyhow!("--metrics {address}: {error}: {remedy}"))
}

impl Drop for Server {
    fn drop(&mut self) {
        self.is_stopping.store(true, Ordering::Release);
        // A connection ends the wait for one. If it is refused, others are waiting.
        let _ = TcpStream::connect_timeout(&reachable(self.address), CLIENT_TIMEOUT);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed; the results are not affected.
            let _ = thread.join();
        }
    }
}

/// An address that reaches a listener at `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn serve(listener: &TcpListener, is_stopping: &AtomicBool, latest: &Latest) {
    for connection in listener.incoming() {
        if is_stopping.load(Ordering::Acquire) {
            return;
        }
        match connection {
            // A client that fails is its own problem.
            Ok(client) => drop(answer(client, latest)),
            // Too many open files: waiting prevents a busy loop.
            Err(_) => std::thread::sleep(CLIENT_TIMEOUT),
        }
    }
}

fn answer(mut client: TcpStream, latest: &Latest) -> io::Result<()> {
    let deadline = Instant::now() + CLIENT_TIMEOUT;
    client.set_write_timeout(Some(CLIENT_TIMEOUT))?;
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let remaining = deadline.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Ok(());
        }
        client.set_read_timeout(Some(remaining))?;
        let count = client.read(&mut buffer)?;
        if count == 0 {
            return Ok(());
        }
        head.extend_from_slice(&buffer[..count]);
        if let Some(message) = response(&head, |request| page(request, latest)) {
            return client.write_all(&message);
        }
    }
}

fn page(Request { path, format }: Request<'_>, latest: &Latest) -> Answer {
    match path {
        PATH => Answer::found(format.content_type(), latest.totals().exposition(format)),
        _ => Answer::not_found(PATH),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listener_on_all_addresses_is_reached_at_loopback() {
        for (address, reached) in [
            ("0.0.0.0:9400", "127.0.0.1:9400"),
            ("[::]:9400", "[::1]:9400"),
            ("10.0.0.4:1", "10.0.0.4:1"),
        ] {
            let address: SocketAddr = address.parse().expect("an address");
            assert_eq!(reachable(address).to_string(), reached);
        }
    }
}
