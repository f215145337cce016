//! Reads Azure's instance metadata service.
//!
//! It is queried only if the firmware identifies an Azure virtual machine, for at most [`TIMEOUT`] in
//! total, and only for the entries below: the whole document contains the owner's keys and data.
//! Source: Azure Instance Metadata Service,
//! <https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service>.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::{Root, facts};

/// Timeout for all requests together.
const TIMEOUT: Duration = Duration::from_millis(200);

/// The names of facts, and their entries in the document `compute`.
pub const ENTRIES: [(&str, &str); 3] =
    [("vm.location", "location"), ("vm.size", "vmSize"), ("vm.zone", "zone")];

/// The document, or its part with these entries, in a captured tree.
const CAPTURED: &str = "captured/imds.json";

/// A link-local address: nothing leaves the hypervisor.
const SERVICE: ([u8; 4], u16) = ([169, 254, 169, 254], 80);
/// Maximum size of a response in bytes; responses are one word.
const RESPONSE_MAX: u64 = 64 << 10;

/// Facts about the virtual machine; none outside Azure, or if the service does not respond in time.
pub fn facts(root: &Root) -> Vec<(String, String)> {
    if !facts::is_azure(root) {
        return Vec::new();
    }
    query(SocketAddr::from(SERVICE), TIMEOUT)
}

/// The document in a captured tree, as text.
pub fn captured(root: &Root) -> Option<String> {
    root.text(CAPTURED)
}

fn query(service: SocketAddr, timeout: Duration) -> Vec<(String, String)> {
    let deadline = Instant::now() + timeout;
    let mut facts = Vec::new();
    for (name, entry) in ENTRIES {
        match request(service, entry, deadline) {
            Ok(Some(value)) => facts.push((name.to_owned(), value)),
            Ok(None) => {}
            // The next request would fail, too.
            Err(_) => break,
        }
    }
    facts
}

/// The text of an entry; `None` if the service has none.
fn request(service: SocketAddr, entry: &str, deadline: Instant) -> std::io::Result<Option<String>> {
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(std::io::Error::from(std::io::ErrorKind::TimedOut)),
            false => Ok(left),
        }
    };
    let mut stream = TcpStream::connect_timeout(&service, left()?)?;
    // HTTP/1.0: the response ends with the connection. Never through a proxy.
    let request = format!(
        "GET /metadata/instance/compute/{entry}?api-version=2021-02-01&format=text HTTP/1.0\r\n\
         Host: 169.254.169.254\r\nMetadata: true\r\n\r\n"
    );
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 4096];
    while (bytes.len() as u64) < RESPONSE_MAX {
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut chunk)? {
            0 => break,
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(body(&bytes))
}

/// The body of a successful response, if it is one word.
fn body(response: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(response).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let status = head.split_ascii_whitespace().nth(1)?;
    let word = body.trim();
    let is_word = !word.is_empty()
        && word.len() <= 100
        && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte));
    (status == "200" && is_word).then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// A service that sends one response after another, then closes. Returns the requests.
    fn service(
        responses: &'static [&'static str],
    ) -> (SocketAddr, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let requests = std::thread::spawn(move || {
            let mut requests = String::new();
            for response in responses {
                let (mut stream, _) = listener.accept().unwrap();
                let mut chunk = [0u8; 1024];
                while !requests.ends_with("\r\n\r\n") || requests.is_empty() {
                    let count = stream.read(&mut chunk).unwrap();
                    requests.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
                }
                stream.write_all(response.as_bytes()).unwrap();
                requests.push('|');
            }
            requests
        });
        (address, requests)
    }

    #[test]
    fn only_the_required_entries_are_requested() {
        let (address, requests) = service(&[
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nwesteurope",
            "HTTP/1.1 200 OK\r\n\r\nStandard_D32s_v3\r\n",
            "HTTP/1.1 404 Not Found\r\n\r\nnone",
        ]);
        let facts = query(address, Duration::from_secs(20));
        let expected = [("vm.location", "westeurope"), ("vm.size", "Standard_D32s_v3")];
        let facts: Vec<_> = facts.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(facts, expected);
        let requests = requests.join().unwrap();
        assert_eq!(requests.matches("Metadata: true\r\n").count(), 3);
        assert!(requests.contains("compute/vmSize?") && !requests.contains("userData"));
    }

    #[test]
    fn a_silent_service_times_out() {
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        assert_eq!(query(silent.local_addr().unwrap(), Duration::from_millis(20)), []);
    }

    #[test]
    fn a_response_that_is_not_one_word_is_ignored() {
        for response in ["", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n\r\n<html>", "\r\n\r\nx"] {
            assert_eq!(body(response.as_bytes()), None, "{response:?}");
        }
    }

    #[test]
    fn a_machine_outside_azure_has_no_facts() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(facts(&Root::at(empty.path())), []);
    }
}
