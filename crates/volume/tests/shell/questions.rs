//! What the service says of itself: over HTTP, and to the process that runs it.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use volume::shell::Running;

use crate::harness::{Connected, PATIENCE, described, getattr, options, read, service};

fn asked(address: SocketAddr, request: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).expect("connect");
    stream.set_read_timeout(Some(PATIENCE)).expect("set a timeout");
    stream.write_all(request.as_bytes()).expect("ask");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
    (head.to_owned(), body.to_owned())
}

fn get(address: SocketAddr, path: &str) -> (String, String) {
    asked(address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n"))
}

fn asking() -> (Running, SocketAddr) {
    let (mut options, _lines) = options(described("64MiB/s", ""));
    options.metrics = Some("127.0.0.1:0".parse().expect("an address"));
    let running = Running::start(options).expect("start");
    let metrics = running.metrics().expect("it was asked for");
    (running, metrics)
}

#[test]
fn metrics_are_lines_of_names_labels_and_numbers() {
    let (running, metrics) = asking();
    let mut client = Connected::to(running.addresses()[0]);
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
fn stat_json_has_every_counter_with_its_unit() {
    let (running, metrics) = asking();
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    client.filled(&root, "file", 8192);
    let (head, body) = get(metrics, "/stat.json");
    assert!(head.contains("Content-Type: application/json"), "{head}");
    for part in [
        "\"connections\":1,\"held\":0",
        "\"name\":\"vol1\",\"quota_bytes\":1099511627776,\"throughput_limit_bytes_per_s\":67108864",
        "\"arrived\":2,\"completed\":2,\"read_bytes\":0,\"written_bytes\":8192,\"outstanding\":0",
        "\"operations\":{\"write\":1,\"create\":1}",
        "\"clients\":[\n{\"name\":\"127.0.0.1\"",
        "\"storage_delay_ns\":0,\"dropped\":0,\"without_volume\":1",
        "\"closed_flows\":{\"count\":0,\"arrived\":0",
    ] {
        assert!(body.contains(part), "no {part} in\n{body}");
    }
}

#[test]
fn questions_that_are_none_are_refused_and_those_without_end_cost_nothing() {
    let (running, metrics) = asking();
    assert!(get(metrics, "/").0.starts_with("HTTP/1.1 404 "));
    assert!(asked(metrics, "PUT /metrics HTTP/1.1\r\n\r\n").0.starts_with("HTTP/1.1 405 "));
    // More than are kept: the first ones give way.
    let slow: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut stream = TcpStream::connect(metrics).unwrap();
            stream.write_all(b"GET /metrics HT").unwrap();
            stream
        })
        .collect();
    assert!(get(metrics, "/metrics").0.starts_with("HTTP/1.1 200 "));
    let mut client = Connected::to(running.addresses()[0]);
    client.mount("/vol1");
    drop(slow);
}

#[test]
fn the_serving_thread_is_known_by_the_kernels_number_of_it() {
    let running = service("3000MiB/s", "");
    let name = |id: i32| std::fs::read_to_string(format!("/proc/self/task/{id}/comm")).unwrap();
    assert_eq!(name(running.thread_id()), "volume\n");
    let another = service("3000MiB/s", "");
    assert_eq!(name(another.thread_id()), "volume\n");
    assert_ne!(another.thread_id(), running.thread_id());
}
