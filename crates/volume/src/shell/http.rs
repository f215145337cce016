//! Answers a few questions over HTTP: what a browser, `curl` or Prometheus asks for with GET.
//!
//! For: one request and one answer for each connection, out of bounded memory, in the loop that
//! serves NFS. Not for: being a web server: no bodies, no keep-alive, no ranges (RFC 9112 allows
//! a server all of that, section 9.3 with `Connection: close`).

use std::io::{self, Read, Write};
use std::net::TcpStream;

/// Longer heads of requests are refused.
const HEAD_BYTES: usize = 8 << 10;

/// What a question comes to.
#[derive(Debug)]
pub(crate) struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: String,
}

impl Answer {
    /// What was asked for.
    pub(crate) const fn found(content_type: &'static str, body: String) -> Answer {
        Answer { status: "200 OK", content_type, body }
    }

    /// There is no such path.
    pub(crate) fn not_found(known: &str) -> Answer {
        refused("404 Not Found", format!("there are {known}\n"))
    }
}

const fn refused(status: &'static str, body: String) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body }
}

/// What a conversation waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// More of the question.
    ToRead,
    /// Room for the answer.
    ToWrite,
    /// Nothing: the connection is to be closed.
    ForNothing,
}

/// One question and its answer.
#[derive(Debug)]
pub(crate) struct Conversation {
    stream: TcpStream,
    head: Vec<u8>,
    /// The whole answer, once it is known.
    answer: Vec<u8>,
    sent: usize,
}

impl Conversation {
    pub(crate) const fn new(stream: TcpStream) -> Conversation {
        Conversation { stream, head: Vec::new(), answer: Vec::new(), sent: 0 }
    }

    pub(crate) const fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Goes on as far as the socket lets it. `ask` gives the answer for a path.
    ///
    /// # Errors
    /// The connection failed.
    pub(crate) fn go_on(&mut self, ask: impl FnOnce(&str) -> Answer) -> io::Result<Waits> {
        if self.answer.is_empty() {
            let mut buffer = [0; 1024];
            loop {
                match self.stream.read(&mut buffer) {
                    Ok(0) => return Ok(Waits::ForNothing),
                    Ok(count) => self.head.extend_from_slice(&buffer[..count]),
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
                if self.head.len() > HEAD_BYTES {
                    break;
                }
            }
            match answer(&self.head, ask) {
                Some(answer) => self.answer = message(&answer, self.head.starts_with(b"HEAD ")),
                None => return Ok(Waits::ToRead),
            }
        }
        while self.sent < self.answer.len() {
            match self.stream.write(&self.answer[self.sent..]) {
                Ok(count) => self.sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Waits::ToWrite);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Waits::ForNothing)
    }
}

/// The answer to a request with this head; `None` while it is not whole.
fn answer(head: &[u8], ask: impl FnOnce(&str) -> Answer) -> Option<Answer> {
    let ends = |end: &[u8]| head.windows(end.len()).any(|window| window == end);
    if !ends(b"\r\n\r\n") && !ends(b"\n\n") {
        let too_long = head.len() > HEAD_BYTES;
        return too_long.then(|| {
            let body = format!("the head of a request has at most {HEAD_BYTES} bytes\n");
            refused("431 Request Header Fields Too Large", body)
        });
    }
    let line = head.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = String::from_utf8_lossy(line);
    let mut words = line.trim_end().split(' ');
    let (method, path, version) = (words.next(), words.next(), words.next());
    let (Some(method), Some(path)) = (method, path) else {
        return Some(refused("400 Bad Request", "this is no request of HTTP/1.1\n".to_owned()));
    };
    if !version.is_some_and(|version| version.starts_with("HTTP/1.")) || words.next().is_some() {
        return Some(refused("400 Bad Request", "this is no request of HTTP/1.1\n".to_owned()));
    }
    if method != "GET" && method != "HEAD" {
        return Some(refused("405 Method Not Allowed", "only GET and HEAD are known\n".to_owned()));
    }
    let path = path.split('?').next().unwrap_or_default();
    Some(ask(path))
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

    fn asked(head: &str) -> Option<(String, String)> {
        let ask = |path: &str| match path {
            "/metrics" => Answer::found("text/plain", "a 1\n".to_owned()),
            _ => Answer::not_found("/metrics"),
        };
        let answer = answer(head.as_bytes(), ask)?;
        let text = String::from_utf8(message(&answer, head.starts_with("HEAD"))).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        Some((head.lines().next().unwrap().to_owned(), body.to_owned()))
    }

    #[test]
    fn questions_get_the_status_that_the_standard_has_for_them() {
        for (head, status, body) in [
            ("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK", "a 1\n"),
            ("GET /metrics?x=1 HTTP/1.0\n\n", "200 OK", "a 1\n"),
            ("HEAD /metrics HTTP/1.1\r\n\r\n", "200 OK", ""),
            ("GET / HTTP/1.1\r\n\r\n", "404 Not Found", "there are /metrics\n"),
            ("PUT /metrics HTTP/1.1\r\n\r\n", "405 Method Not Allowed", "only GET and HEAD"),
            ("GET /metrics\r\n\r\n", "400 Bad Request", "this is no request"),
            ("\r\n\r\n", "400 Bad Request", "this is no request"),
            ("GET / x HTTP/1.1\r\n\r\n", "400 Bad Request", "this is no request"),
        ] {
            let (line, seen) = asked(head).unwrap();
            assert_eq!(line, format!("HTTP/1.1 {status}"), "{head:?}");
            assert!(seen.starts_with(body), "{head:?} {seen:?}");
        }
    }

    #[test]
    fn a_question_that_is_not_whole_waits_and_one_without_end_is_refused() {
        assert_eq!(asked("GET /metrics HTTP/1.1\r\nHost: x\r\n"), None);
        let endless = format!("GET /{} HTTP/1.1\r\n", "x".repeat(HEAD_BYTES));
        assert!(asked(&endless).unwrap().0.contains(" 431 "));
    }
}
