//! Back-pressure: requests in progress and pending bytes of a connection are bounded.

use std::io::Write;

use nfs3::request::Arguments;

use crate::harness::{Connection, pattern, read, service, wait_until};

/// Sends `calls` READs together. The service must have at most `allowed` in progress. Each is delayed
/// by 50 ms.
fn assert_in_progress(allowed: usize, calls: usize, more: &str) {
    let running = service("3000MiB/s", &format!("[delay]\nread = \"50ms\"\n{more}"));
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 1000);
    let mut client = Connection::to(running.addresses()[0]);
    let mut all = Vec::new();
    for _ in 0..calls {
        all.extend(client.begin(&Arguments::Nfs(read(&file, 0, 1000))).1);
    }
    client.stream.write_all(&all).expect("send calls");
    for _ in 0..calls {
        assert_eq!(client.receive().data(), pattern(1000));
    }
    let snapshot = running.snapshot().expect("the service is running");
    let address = client.stream.local_addr().expect("the local address").to_string();
    let mut flows = snapshot.counters.flows();
    let (_, flow) =
        flows.find(|(name, _)| name.starts_with(&format!("{address}-"))).expect("a flow");
    assert_eq!((flow.completed(), flow.outstanding_max), (calls as u64, allowed as u64));
    let span =
        flow.last_arrival_ns.zip(flow.first_arrival_ns).map_or(0, |(last, first)| last - first);
    assert!(span >= 50_000_000, "the last was accepted before the first was answered: {span} ns");
}

#[test]
fn the_129th_request_of_a_connection_is_not_read_until_one_is_answered() {
    assert_in_progress(128, 129, "");
}

#[test]
fn the_requests_in_progress_per_connection_can_be_configured() {
    assert_in_progress(4, 20, "[limits]\noutstanding_per_connection = 4\n");
}

#[test]
fn back_pressure_on_one_connection_does_not_affect_another() {
    let running = service("3000MiB/s", "[delay]\nread = \"1h\"\nwrite = \"0s\"\n");
    let mut full = Connection::to(running.addresses()[0]);
    let mut other = Connection::to(running.addresses()[0]);
    let root = full.mount("/vol1");
    for _ in 0..1000 {
        full.send(read(&root, 0, 1));
    }
    wait_until(&running, |now| now.deferred == 128);
    assert_eq!(other.mount("/vol1"), root);
    other.send(read(&root, 0, 1));
    let now = wait_until(&running, |now| now.deferred == 129);
    assert_eq!(now.deferred, 129);
}

#[test]
fn no_request_is_performed_for_a_peer_that_does_not_read_its_replies() {
    const CALLS: usize = 300;
    let running = service("3000MiB/s", "[limits]\nenforced = false\n");
    let mut client = Connection::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 1 << 20);
    let mut slow = Connection::to(running.addresses()[0]);
    for _ in 0..CALLS {
        slow.send(read(&file, 0, 1 << 20));
    }
    // Meanwhile the service performs the slow peer's requests until its pending bytes are too many.
    for _ in 0..200 {
        client.call(read(&file, 0, 1000));
    }
    let snapshot = running.snapshot().unwrap();
    let (_, volume) = snapshot.counters.volumes().next().unwrap();
    let performed = volume.arrived - 1 - 1 - 200;
    // Pending bytes of the service, and socket buffers of both sides.
    assert!(performed < 100, "{performed} replies of 1 MiB to a peer that does not read");
    let expected = pattern(1 << 20);
    for _ in 0..CALLS {
        assert_eq!(slow.receive().data(), expected);
    }
}
