//! A small HTTP server on loopback as the exporter of another system, and a client for metrics.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Serves until the test program ends.
pub(crate) struct Exporter {
    address: SocketAddr,
    /// Answered requests.
    pub(crate) requests: Arc<AtomicU64>,
}

impl Exporter {
    /// Answers request `n` (from 1) with `page(n)`; `None` keeps the connection without an answer.
    pub(crate) fn start(page: impl Fn(u64) -> Option<String> + Send + 'static) -> Exporter {
        let listener = TcpListener::bind("127.0.0.1:0").expect("listen on loopback");
        let address = listener.local_addr().expect("an address");
        let requests = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&requests);
        std::thread::spawn(move || {
            let mut silent = Vec::new();
            for connection in listener.incoming() {
                let mut connection = connection.expect("accept a connection");
                let mut head = [0; 4096];
                if connection.read(&mut head).unwrap_or(0) == 0 {
                    continue;
                }
                let number = counted.fetch_add(1, Ordering::SeqCst) + 1;
                match page(number) {
                    Some(page) => {
                        let head = format!("HTTP/1.0 200 OK\r\nContent-Length: {}\r\n", page.len());
                        let _ = connection.write_all(format!("{head}\r\n{page}").as_bytes());
                    }
                    None => silent.push(connection),
                }
            }
        });
        Exporter { address, requests }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }
}

/// Head and body of the response to a GET request; `accept` is the client's list of formats.
pub(crate) fn get(address: &str, path: &str, accept: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap_or_else(|e| panic!("{address}: {e}"));
    stream.set_read_timeout(Some(Duration::from_secs(30))).expect("set a timeout");
    let request = format!(
        "GET {path} HTTP/1.1\r\nHost: {address}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).expect("send a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head and a body");
    (head.to_owned(), body.to_owned())
}
