//! A minimal HTTP server for GET requests of a browser, `curl` or Prometheus.
//!
//! For: one request and one response per connection, with bounded memory, in the loop that serves
//! NFS. Not for: bodies, keep-alive or ranges; RFC 9112, section 9.3, allows a server to omit them
//! with `Connection: close`.

use std::io::{self, Read, Write};
use std::net::TcpStream;

use super::poll::Interest;

/// Most HTTP connections open at the same time.
pub(super) const HTTP_CONNECTIONS: usize = 64;

/// Longer request heads are refused.
const HEAD_BYTES: usize = 8 << 10;

/// The response to a request.
#[derive(Debug)]
pub(crate) struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: String,
}

impl Answer {
    /// Status 200 with this body.
    pub(crate) const fn found(content_type: &'static str, body: String) -> Answer {
        Answer { status: "200 OK", content_type, body }
    }

    /// Status 404, with the paths that exist.
    pub(crate) fn not_found(known: &str) -> Answer {
        refused("404 Not Found", format!("known paths: {known}\n"))
    }
}

const fn refused(status: &'static str, body: String) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body }
}

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
    /// * `respond` — returns the response for a path
    ///
    /// # Errors
    /// The connection failed.
    pub(super) fn resume(
        &mut self,
        respond: impl FnOnce(&str) -> Answer,
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
            match answer(&self.head, respond) {
                Some(answer) => self.answer = message(&answer, self.head.starts_with(b"HEAD ")),
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

/// The response to a request with this head; `None` while the head is incomplete.
fn answer(head: &[u8], respond: impl FnOnce(&str) -> Answer) -> Option<Answer> {
    let ends = |end: &[u8]| head.windows(end.len()).any(|window| window == end);
    if !ends(b"\r\n\r\n") && !ends(b"\n\n") {
        let too_long = head.len() > HEAD_BYTES;
        return too_long.then(|| {
            let body = format!("a request head has at most {HEAD_BYTES} bytes\n");
            refused("431 Request Header Fields Too Large", body)
        });
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.trim_end().split(' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(path)) = (method, path) else {
        return Some(refused("400 Bad Request", "not an HTTP/1.1 request\n".to_owned()));
    };
    if !version.is_some_and(|version| version.starts_with("HTTP/1.")) || words.next().is_some() {
        return Some(refused("400 Bad Request", "not an HTTP/1.1 request\n".to_owned()));
    }
    if method != "GET" && method != "HEAD" {
        return Some(refused(
            "405 Method Not Allowed",
            "only GET and HEAD are supported\n".to_owned(),
        ));
    }
    let path = path.split('?').next().unwrap_or_default();
    Some(respond(path))
}

fn message(answer: &Answer, head_only: bool) -> Vec<u8> {
    let Answer { status, content_type, body } = answer;
    let length = body.len();
    let allow = if status.starts_with("405") { "Allow: GET, HEAD\r\n" } else { "" };
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n{allow}\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    );
    let mut message = head.into_bytes();
    if !head_only {
        message.extend_from_slice(body.as_bytes());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The status line and the body of the response to a request head.
    fn response(head: &str) -> Option<(String, String)> {
        let respond = |path: &str| match path {
            "/metrics" => Answer::found("text/plain", "a 1\n".to_owned()),
            _ => Answer::not_found("/metrics"),
        };
        let answer = answer(head.as_bytes(), respond)?;
        let text = String::from_utf8(message(&answer, head.starts_with("HEAD"))).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Some((head.lines().next().unwrap().to_owned(), body.to_owned()))
    }

    #[test]
    fn requests_get_the_status_of_the_standard() {
        for (head, status, body) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK", "a 1\n"),
            ("GET /metrics?x=1 HTTP/1.0\n\n", "200 OK", "a 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "200 OK", ""),
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found", "known paths: /metrics\n"),
            ("PUT /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "only GET and HEAD"),
            ("GET /metrics\r\n\r\n", "400 Bad Request", "not an HTTP/1.1 request"),
            ("\r\n\r\n", "400 Bad Request", "not an HTTP/1.1 request"),
            ("GET / x HTTP/1.1\r\n\r\n", "400 Bad Request", "not an HTTP/1.1 request"),
        ] {
            let (line, received) = response(head).unwrap();
            assert_eq!(line, format!("HTTP/1.1 {status}"), "{head:?}");
            assert!(received.starts_with(body), "{head:?} {received:?}");
        }
    }

    #[test]
    fn an_incomplete_request_waits_and_an_endless_one_is_refused() {
        assert_eq!(response("GET /metrics HTTP/1.1\r\nHost: x\r\n"), None);
        let endless = format!("GET /{} HTTP/1.1\r\n", "x".repeat(HEAD_BYTES));
        assert!(response(&endless).unwrap().0.contains(" 431 "));
    }
}
