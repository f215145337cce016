//! How late replies leave that were held.

use std::io::Write;

use nfs3::request::Arguments;

use crate::harness::{Connected, described, options, pattern, read, service, settled};

use volume::shell::Running;

const CONNECTIONS: usize = 800;
const EACH: usize = 128;

fn with_ops(ops: &str) -> volume::config::Config {
    described("3000MiB/s", &format!("ops = \"{ops}\"\n"))
}

/// The figures are for whoever looks at them (`--release -- --nocapture`), for how late a thread is
/// woken depends on who else wants the processor.
#[test]
fn of_a_hundred_thousand_held_replies_each_leaves_in_its_turn_and_how_late_is_noted() {
    let running = Running::start(options(with_ops("1000k/s")).0).expect("start the service");
    let mut first = Connected::to(running.addresses()[0]);
    let root = first.mount("/vol1");
    let file = first.filled(&root, "file", 512);
    running.change(with_ops("1/s")).expect("operations can be limited");
    let mut clients: Vec<Connected> = (0..CONNECTIONS)
        .map(|_| {
            let mut client = Connected::to(running.addresses()[0]);
            let begin = |_| client.begin(&Arguments::Nfs(read(&file, 0, 512))).1;
            let calls: Vec<u8> = (0..EACH).flat_map(begin).collect();
            client.stream.write_all(&calls).expect("send calls");
            client
        })
        .collect();
    // At one a second some have gone; nearly all are held, and all have come.
    let all = (CONNECTIONS * EACH) as u64;
    let came = |now: &volume::shell::Snapshot| {
        let flows = now.witness.flows();
        flows
            .map(|(_, flow)| flow.of(volume::witness::Procedure::Read) + flow.outstanding)
            .sum::<u64>()
    };
    let before = settled(&running, |now| came(now) == all);
    assert!(before.held > 100_000, "{}", before.held);

    // 8,000 a second are 64 MiB/s of 8 KiB. Who came first is answered first.
    running.change(with_ops("8000/s")).expect("the limit can change");
    let before = running.snapshot().expect("the service runs");
    for client in &mut clients[..125] {
        for _ in 0..EACH {
            assert_eq!(client.receive().data(), pattern(512));
        }
    }
    let after = running.snapshot().expect("the service runs");
    let late = after.witness.lateness().since(before.witness.lateness());
    // All that left had been held, and no other.
    assert_eq!(late.count(), (before.held - after.held) as u64);
    let at = |fraction| late.percentile_ns(fraction).expect("some left") as f64 / 1e3;
    let cores =
        (after.processor_ns - before.processor_ns) as f64 / (after.now_ns - before.now_ns) as f64;
    println!(
        "{} left, late by p50 {} us, p99 {} us, p99.9 {} us; {cores:.3} cores, {} turns",
        late.count(),
        at(0.5),
        at(0.99),
        at(0.999),
        after.turns - before.turns,
    );
}

#[test]
fn replies_that_nothing_held_are_not_late() {
    let running = service("3000MiB/s", "");
    let mut client = Connected::to(running.addresses()[0]);
    client.mount("/vol1");
    let seen = settled(&running, |now| now.connections == 1);
    assert_eq!((seen.witness.lateness().count(), seen.held), (0, 0));
    assert_eq!(seen.witness.lateness().percentile_ns(0.99), None);
}
