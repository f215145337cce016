//! Too much at once: the service pushes back, and what waits is bounded.

use std::io::Write;

use nfs3::request::Arguments;

use crate::harness::{Connected, pattern, read, service, settled};

/// Sends `calls` reads together to a service that allows `allowed` at once and takes 50 ms for
/// each.
fn pushed(allowed: usize, calls: usize, more: &str) {
    let running = service("3000MiB/s", &format!("[delay]\nread = \"50ms\"\n{more}"));
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 1000);
    let mut client = Connected::to(running.addresses()[0]);
    let mut all = Vec::new();
    for _ in 0..calls {
        all.extend(client.begin(&Arguments::Nfs(read(&file, 0, 1000))).1);
    }
    client.stream.write_all(&all).expect("send calls");
    for _ in 0..calls {
        assert_eq!(client.receive().data(), pattern(1000));
    }
    let snapshot = running.snapshot().expect("the service runs");
    let address = client.stream.local_addr().expect("our address").to_string();
    let mut flows = snapshot.witness.flows();
    let (_, flow) =
        flows.find(|(name, _)| name.starts_with(&format!("{address}-"))).expect("a flow");
    assert_eq!((flow.completed(), flow.outstanding_max), (calls as u64, allowed as u64));
    let span =
        flow.last_arrival_ns.zip(flow.first_arrival_ns).map_or(0, |(last, first)| last - first);
    assert!(span >= 50_000_000, "the last was taken before the first was answered: {span} ns");
}

#[test]
fn the_129th_request_of_a_connection_is_not_read_until_one_is_answered() {
    pushed(128, 129, "");
}

#[test]
fn the_description_says_how_many_requests_a_connection_may_have() {
    pushed(4, 20, "[limits]\noutstanding_per_connection = 4\n");
}

#[test]
fn requests_of_another_connection_are_taken_while_one_is_pushed_back() {
    let running = service("3000MiB/s", "[delay]\nread = \"1h\"\nwrite = \"0s\"\n");
    let mut full = Connected::to(running.addresses()[0]);
    let mut other = Connected::to(running.addresses()[0]);
    let root = full.mount("/vol1");
    for _ in 0..1000 {
        full.send(read(&root, 0, 1));
    }
    settled(&running, |now| now.held == 128);
    assert_eq!(other.mount("/vol1"), root);
    other.send(read(&root, 0, 1));
    let now = settled(&running, |now| now.held == 129);
    assert_eq!(now.held, 129);
}

#[test]
fn nothing_is_performed_for_a_peer_that_does_not_read_what_it_asked_for() {
    const CALLS: usize = 300;
    let running = service("3000MiB/s", "[limits]\nenforced = false\n");
    let mut client = Connected::to(running.addresses()[0]);
    let root = client.mount("/vol1");
    let file = client.filled(&root, "file", 1 << 20);
    let mut slow = Connected::to(running.addresses()[0]);
    for _ in 0..CALLS {
        slow.send(read(&file, 0, 1 << 20));
    }
    // While the other is served, the slow one gets as far as it can without reading.
    for _ in 0..200 {
        client.call(read(&file, 0, 1000));
    }
    let snapshot = running.snapshot().unwrap();
    let (_, volume) = snapshot.witness.volumes().next().unwrap();
    let performed = volume.arrived - 1 - 1 - 200;
    // What the service keeps, and what the kernel keeps for both sides.
    assert!(performed < 100, "{performed} replies of 1 MiB wait for a peer that does not read");
    let expected = pattern(1 << 20);
    for _ in 0..CALLS {
        assert_eq!(slow.receive().data(), expected);
    }
}
