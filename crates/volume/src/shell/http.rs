//! A minimal HTTP server for GET requests of a browser, `curl` or Prometheus.
//!
//! For: connections without blocking and with bounded memory, in the loop that serves NFS. Not for:
//! the messages (`exposition::http`).

use std::io::{self, Read, Write};
use std::net::TcpStream;

use exposition::http::{Answer, HEAD_BYTES, Request, response};

use super::poll::Interest;

/// Most HTTP connections open at the same time.
pub(super) const HTTP_CONNECTIONS: usize = 64;

/// All HTTP connections, by index.
#[derive(Debug, Default)]
pub(super) struct HttpConnections {
    connections: Vec<Option<HttpConnection>>,
    /// The connection that was replaced last because there were too many.
    replaced: usize,
}

impl HttpConnections {
    /// An index for a new connection. If there are too many connections, the oldest one is closed,
    /// because it had the most time.
    pub(super) fn free_index(&mut self) -> usize {
        let index = match self.connections.iter().position(Option::is_none) {
            Some(index) => index,
            None if self.connections.len() < HTTP_CONNECTIONS => {
                self.connections.push(None);
                self.connections.len() - 1
            }
            None => {
                self.replaced = (self.replaced + 1) % HTTP_CONNECTIONS;
                self.replaced
            }
        };
        self.connections[index] = None;
        index
    }

    pub(super) fn insert(&mut self, index: usize, stream: TcpStream) {
        self.put_back(index, HttpConnection::new(stream));
    }

    pub(super) fn take(&mut self, index: usize) -> Option<HttpConnection> {
        self.connections.get_mut(index)?.take()
    }

    pub(super) fn put_back(&mut self, index: usize, connection: HttpConnection) {
        self.connections[index] = Some(connection);
    }
}

/// A connection, for one request and its response.
#[derive(Debug)]
pub(crate) struct HttpConnection {
    stream: TcpStream,
    head: Vec<u8>,
    /// The whole response, once it is known.
    answer: Vec<u8>,
    sent: usize,
}

impl HttpConnection {
    const fn new(stream: TcpStream) -> HttpConnection {
        HttpConnection { stream, head: Vec::new(), answer: Vec::new(), sent: 0 }
    }

    pub(crate) const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Reads and writes as far as the socket allows. Returns what to wait for; `None` if the
    /// connection is finished.
    ///
    /// * `respond` — answers a valid request
    ///
    /// # Errors
    /// The connection failed.
    pub(super) fn resume(
        &mut self,
        respond: impl FnOnce(Request<'_>) -> Answer,
    ) -> io::Result<Option<Interest>> {
        if self.answer.is_empty() {
            let mut buffer = [0; 1024];
            loop {
                match self.stream.read(&mut buffer) {
                    Ok(0) => return Ok(None),
                    Ok(count) => self.head.extend_from_slice(&buffer[..count]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
                if self.head.len() > HEAD_BYTES {
                    break;
                }
            }
            match response(&self.head, respond) {
                Some(answer) => self.answer = answer,
                None => return Ok(Some(Interest::READ)),
            }
        }
        while self.sent < self.answer.len() {
            match self.stream.write(&self.answer[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Some(Interest { read: false, write: true }));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }
}
