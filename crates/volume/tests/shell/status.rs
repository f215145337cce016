//! The service's status over HTTP, and its thread id.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use volume::shell::Running;

use crate::harness::{Connection, TIMEOUT, configured, getattr, options, read, service};

/// The head and the body of the response.
fn response(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(TIMEOUT)).expect("set a timeout");
    stream.write_all(request.as_bytes()).expect("send a request");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    let (head, body) = response.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

fn get(address: SocketAddr, path: &str) -> (String, String) {
    response(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
}

/// A service with an address for metrics.
fn service_with_metrics() -> (Running, SocketAddr) {
    let (mut options, _lines) = options(configured("64MiB/s", ""));
    options.metrics = Some("127.0.0.1:0".parse().expect("an address"));
    let running = Running::start(options).expect("start the service");
    let metrics = running.metrics().expect("the address for metrics");
    (running, metrics)
}

#[test]
fn metrics_are_lines_of_names_labels_and_numbers() {
    let (running, metrics) = service_with_metrics();
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 8192);
    client.call(read(&file, 0, 8192));
    client.call(getattr(&file));
    let (head, body) = get(metrics, "/metrics");
    assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
    assert!(head.contains("Content-Type: text/plain; version=0.0.4"), "{head}");
    assert!(head.contains(&format!("Content-Length: {}", body.len())), "{head}");
    let mut names = BTreeSet::new();
    for line in body.lines().filter(|line| !line.starts_with('#')) {
        let (series, value) = line.rsplit_once(' ').unwrap();
        assert!(value.parse::<f64>().is_ok(), "{line}");
        let name = series.split('{').next().unwrap();
        assert!(name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'), "{line}");
        names.insert(name);
    }
    assert!(names.contains("fourcorners_volume_operations_total"), "{names:?}");
    let line = "fourcorners_volume_read_bytes_total{volume=\"vol1\"} 8192";
    assert!(body.lines().any(|seen| seen == line), "{body}");
}

#[test]
fn stat_json_has_the_state_and_the_counters() {
    let (running, metrics) = service_with_metrics();
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    client.filled(&root, "file", 8192);
    let (head, body) = get(metrics, "/stat.json");
    assert!(head.contains("Content-Type: application/json"), "{head}");
    for part in [
        "\"connections\":1,\"deferred\":0",
        "\"name\":\"vol1\",\"quota_bytes\":1099511627776,\"throughput_limit_bytes_per_s\":67108864",
        "\"arrived\":2,\"completed\":2,\"read_bytes\":0,\"written_bytes\":8192,\"outstanding\":0",
        "\"operations\":{\"write\":1,\"create\":1}",
        "\"clients\":[\n{\"name\":\"127.0.0.1\"",
        "\"storage_delay_ns\":0,\"dropped\":0,\"calls_without_volume\":1",
        "\"closed_flows\":{\"count\":0,\"arrived\":0",
    ] {
        assert!(body.contains(part), "no {part} in\n{body}");
    }
}

#[test]
fn invalid_requests_are_refused_and_incomplete_ones_block_no_other() {
    let (running, metrics) = service_with_metrics();
    assert!(get(metrics, "/").0.starts_with("HTTP/1.1 404 "));
    assert!(response(metrics, "PUT /metrics HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 405 "));
    // More connections than allowed: the oldest are closed.
    let slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(metrics).unwrap();
            stream.write_all(b"GET /metrics HT").unwrap();
            stream
        })
        .collect();
    assert!(get(metrics, "/metrics").0.starts_with("HTTP/1.1 200 "));
    let mut client = Connection::to(running.addresses()[0]);
    client.mount("/vol1");
    drop(slow);
}

#[test]
fn the_thread_id_is_that_of_the_serving_thread() {
    let running = service("3000MiB/s", "");
    let name = |id: i32| std::fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap();
    assert_eq!(name(running.thread_id()), "volume\n");
    let other = service("3000MiB/s", "");
    assert_eq!(name(other.thread_id()), "volume\n");
    assert_ne!(other.thread_id(), running.thread_id());
}
