//! What Azure says of the virtual machine it runs: its instance metadata service.
//!
//! Asked only where the firmware says that this is a machine on Azure, within [`PATIENCE`] in all,
//! and only for the entries below: the whole document holds keys and data of its owner. Source:
//! Azure Instance Metadata Service, <https://learn.microsoft.com/azure/virtual-machines/instance-metadata-service>.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use crate::{Root, facts};

/// For all questions together.
pub const PATIENCE: Duration = Duration::from_millis(200);

/// The names of facts and the entries of the document `compute` that they are.
pub const ENTRIES: [(&str, &str); 3] =
    [("vm.location", "location"), ("vm.size", "vmSize"), ("vm.zone", "zone")];

/// Where a captured tree keeps the document, or the part of it with these entries.
const CAPTURED: &str = "captured/imds.json";

/// Link-local: nothing leaves the hypervisor.
const SERVICE: ([u8; 4], u16) = ([169, 254, 169, 254], 80);
/// Answers are a word.
const ANSWER_MAX: u64 = 64 << 10;

/// Facts about the virtual machine from the service; none where this is not a machine on Azure, or
/// where it does not answer in time.
pub fn facts(root: &Root) -> Vec<(String, String)> {
    if !facts::is_azure(root) {
        return Vec::new();
    }
    ask(SocketAddr::from(SERVICE), PATIENCE)
}

/// The document in a captured tree, as text.
pub fn captured(root: &Root) -> Option<String> {
    root.text(CAPTURED)
}

fn ask(service: SocketAddr, patience: Duration) -> Vec<(String, String)> {
    let deadline = Instant::now() + patience;
    let mut facts = Vec::new();
    for (name, entry) in ENTRIES {
        match answer(service, entry, deadline) {
            Ok(Some(value)) => facts.push((name.to_owned(), value)),
            Ok(None) => {}
            // What does not answer once will not for the next.
            Err(_) => break,
        }
    }
    facts
}

/// The text of an entry; `None` where the service has none.
fn answer(service: SocketAddr, entry: &str, deadline: Instant) -> std::io::Result<Option<String>> {
    let left = || {
        let left = deadline.saturating_duration_since(Instant::now());
        match left.is_zero() {
            true => Err(std::io::Error::from(std::io::ErrorKind::TimedOut)),
            false => Ok(left),
        }
    };
    let mut stream = TcpStream::connect_timeout(&service, left()?)?;
    // HTTP/1.0: the end of the answer is the end of the connection. No proxy may be asked.
    let question = format!(
        "GET /metadata/instance/compute/{entry}?api-version=2021-02-01&format=text HTTP/1.0\r\n\
         Host: 169.254.169.254\r\nMetadata: true\r\n\r\n"
    );
    stream.set_write_timeout(Some(left()?))?;
    stream.write_all(question.as_bytes())?;
    let mut bytes = Vec::new();
    let mut chunk = [0u8; 4096];
    while (bytes.len() as u64) < ANSWER_MAX {
        stream.set_read_timeout(Some(left()?))?;
        match stream.read(&mut chunk)? {
            0 => break,
            count => bytes.extend_from_slice(&chunk[..count]),
        }
    }
    Ok(body(&bytes))
}

/// The body of a successful answer, where it is a word.
fn body(answer: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(answer).ok()?;
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

    /// A service that answers each question in turn, and then hears nobody.
    fn service(answers: &'static [&'static str]) -> (SocketAddr, std::thread::JoinHandle<String>) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let asked = std::thread::spawn(move || {
            let mut asked = String::new();
            for answer in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let mut chunk = [0u8; 1024];
                while !asked.ends_with("\r\n\r\n") || asked.is_empty() {
                    let count = stream.read(&mut chunk).unwrap();
                    asked.push_str(std::str::from_utf8(&chunk[..count]).unwrap());
                }
                stream.write_all(answer.as_bytes()).unwrap();
                asked.push('|');
            }
            asked
        });
        (address, asked)
    }

    #[test]
    fn only_the_entries_that_are_needed_are_asked_for() {
        let (address, asked) = service(&[
            "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nwesteurope",
            "HTTP/1.1 200 OK\r\n\r\nStandard_D32s_v3\r\n",
            "HTTP/1.1 404 Not Found\r\n\r\nnone",
        ]);
        let facts = ask(address, Duration::from_secs(20));
        let expected = [("vm.location", "westeurope"), ("vm.size", "Standard_D32s_v3")];
        let facts: Vec<_> = facts.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(facts, expected);
        let asked = asked.join().unwrap();
        assert_eq!(asked.matches("Metadata: true\r\n").count(), 3);
        assert!(asked.contains("compute/vmSize?") && !asked.contains("userData"));
    }

    #[test]
    fn a_service_that_says_nothing_is_not_waited_for() {
        let silent = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        assert_eq!(ask(silent.local_addr().unwrap(), Duration::from_millis(20)), []);
    }

    #[test]
    fn an_answer_that_is_no_word_is_no_fact() {
        for answer in ["", "HTTP/1.1 200 OK", "HTTP/1.1 200 OK\r\n\r\n<html>", "\r\n\r\nx"] {
            assert_eq!(body(answer.as_bytes()), None, "{answer:?}");
        }
    }

    #[test]
    fn a_machine_that_is_not_on_azure_is_not_asked_about() {
        let empty = tempfile::tempdir().unwrap();
        assert_eq!(facts(&Root::at(empty.path())), []);
    }
}
