//! HTTP messages for metrics: responses of a server that answers GET, and requests of a client.
//!
//! For: one request and one response per connection, with bounded heads. Not for: bodies of
//! requests, keep-alive or ranges; RFC 9112, section 9.3, allows a server to omit them with
//! `Connection: close`.

use crate::writer::Format;

/// Longer request heads are refused.
pub const HEAD_BYTES: usize = 8 << 10;

/// A request that can be answered.
#[derive(Clone, Copy, Debug)]
pub struct Request<'h> {
    /// The path, without the query.
    pub path: &'h str,
    /// The format that the client accepts: OpenMetrics if it lists it, as Prometheus does.
    pub format: Format,
}

/// The response to a request.
#[derive(Debug)]
pub struct Answer {
    status: &'static str,
    content_type: &'static str,
    body: String,
}

impl Answer {
    /// Status 200 with this body.
    pub const fn found(content_type: &'static str, body: String) -> Answer {
        Answer { status: "200 OK", content_type, body }
    }

    /// Status 404, with the paths that exist.
    pub fn not_found(known: &str) -> Answer {
        refused("404 Not Found", format!("known paths: {known}\n"))
    }
}

const fn refused(status: &'static str, body: String) -> Answer {
    Answer { status, content_type: "text/plain; charset=utf-8", body }
}

/// The whole response to the bytes received so far; `None` while the request's head is incomplete.
///
/// * `respond` - answers a valid request
pub fn response(head: &[u8], respond: impl FnOnce(Request<'_>) -> Answer) -> Option<Vec<u8>> {
    answer(head, respond).map(|answer| message(&answer, head.starts_with(b"HEAD ")))
}

fn answer(head: &[u8], respond: impl FnOnce(Request<'_>) -> Answer) -> Option<Answer> {
    let ends = |end: &[u8]| head.windows(end.len()).any(|window| window == end);
    if !ends(b"\r\n\r\n") && !ends(b"\n\n") {
        let too_long = head.len() > HEAD_BYTES;
        return too_long.then(|| {
            let body = format!("a request head has at most {HEAD_BYTES} bytes\n");
            refused("431 Request Header Fields Too Large", body)
        });
    }
    let head = String::from_utf8_lossy(head);
    let (line, fields) = head.split_once('\n').unwrap_or_default();
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
    let accepts = |line: &str| {
        let (name, value) = line.split_once(':').unwrap_or_default();
        name.eq_ignore_ascii_case("accept") && value.contains("application/openmetrics-text")
    };
    let format = match fields.lines().any(accepts) {
        true => Format::OpenMetrics,
        false => Format::Prometheus,
    };
    Some(respond(Request { path, format }))
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

/// The request for `path`. It is one of HTTP/1.0, so that the server sends the body in one piece
/// and closes the connection at its end.
pub fn get(host: &str, path: &str) -> String {
    let accept = "text/plain; version=0.0.4, */*;q=0.5";
    format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n")
}

/// Why a response has no usable body.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadResponse {
    /// It does not begin as a response does.
    #[error("the answer is not HTTP")]
    NotHttp,
    /// The server refused the request.
    #[error("it answered `{0}`")]
    Status(String),
    /// The connection ended before the body was complete.
    #[error("the answer ends after {received} of {expected} bytes")]
    Incomplete {
        /// Bytes of the body that arrived.
        received: usize,
        /// Bytes of the whole body.
        expected: usize,
    },
    /// The body is not UTF-8.
    #[error("the answer is not UTF-8")]
    NotText,
}

/// The body of a whole response, received until the server closed the connection.
///
/// # Errors
/// [`BadResponse`].
pub fn body(response: &[u8]) -> Result<&str, BadResponse> {
    let text = std::str::from_utf8(response).map_err(|_| BadResponse::NotText)?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or(BadResponse::NotHttp)?;
    let (status, fields) = head.split_once("\r\n").unwrap_or((head, ""));
    if !status.starts_with("HTTP/1.") {
        return Err(BadResponse::NotHttp);
    }
    if status.split(' ').nth(1) != Some("200") {
        return Err(BadResponse::Status(status.trim_end().to_owned()));
    }
    let length = fields.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    match length {
        Some(expected) if body.len() < expected => {
            Err(BadResponse::Incomplete { received: body.len(), expected })
        }
        _ => Ok(body),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The status line and the body of the response to a request head.
    fn answered(head: &str) -> Option<(String, String)> {
        let respond = |request: Request<'_>| match request.path {
            "/metrics" if request.format == Format::OpenMetrics => {
                Answer::found("text/plain", "# EOF\n".to_owned())
            }
            "/metrics" => Answer::found("text/plain", "a 1\n".to_owned()),
            _ => Answer::not_found("/metrics"),
        };
        let text = String::from_utf8(response(head.as_bytes(), respond)?).unwrap();
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
            let (line, received) = answered(head).unwrap();
            assert_eq!(line, format!("HTTP/1.1 {status}"), "{head:?}");
            assert!(received.starts_with(body), "{head:?} {received:?}");
        }
    }

    #[test]
    fn a_client_that_accepts_openmetrics_gets_it() {
        let accept = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
        let head = format!("GET /metrics HTTP/1.1\r\naccept: {accept}\r\n\r\n");
        assert_eq!(answered(&head).unwrap().1, "# EOF\n");
    }

    #[test]
    fn an_incomplete_request_waits_and_an_endless_one_is_refused() {
        assert_eq!(answered("GET /metrics HTTP/1.1\r\nHost: x\r\n"), None);
        let endless = format!("GET /{} HTTP/1.1\r\n", "x".repeat(HEAD_BYTES));
        assert!(answered(&endless).unwrap().0.contains(" 431 "));
    }

    #[test]
    fn the_body_of_a_response_is_complete_or_refused() {
        let of = |text: &str| body(text.as_bytes()).map(str::to_owned);
        assert_eq!(of("HTTP/1.1 200 OK\r\nX: y\r\n\r\na 1\n"), Ok("a 1\n".to_owned()));
        assert_eq!(
            of("HTTP/1.0 200 OK\r\ncontent-length: 9\r\n\r\na 1\n"),
            Err(BadResponse::Incomplete { received: 4, expected: 9 })
        );
        let status = "HTTP/1.1 301 Moved Permanently";
        assert_eq!(of(&format!("{status}\r\n\r\n")), Err(BadResponse::Status(status.to_owned())));
        assert_eq!(of("SSH-2.0-OpenSSH\r\n\r\n"), Err(BadResponse::NotHttp));
        assert_eq!(body(b"HTTP/1.1 200 OK\r\n\r\n\xff"), Err(BadResponse::NotText));
        assert!(get("filer:9100", "/metrics?x=1").starts_with("GET /metrics?x=1 HTTP/1.0\r\n"));
    }
}
