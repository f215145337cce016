//! Client and service in two network namespaces, with a wire of a known rate between them that can
//! be cut. Wants root, as CI has it.

use std::fs::File;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use cloud::catalog::Catalog;
use nfs3::arguments::createhow3;
use nfs3::portmap::PMAP_PORT;
use nfs3::types::sattr3;
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use target::Target;
use target::nfs::{NfsAccess, NfsFiles, NfsUrl, Session};
use units::Bytes;
use volume::config;
use volume::shell::{Options, Running};
use workload::op::{Op, OpKind};
use workload::plan::WriteStability;

use crate::drive::{all, fill, read, write};

/// The wire's rate, each way.
const WIRE_BITS_PER_S: f64 = 200e6;

/// Of an Ethernet frame without options that is full, what TCP carries with time stamps: 1448 of
/// 1514 bytes. The rest of what does not count (heads of replies) is less than a percent.
const PAYLOAD_SHARE: f64 = 1448.0 / 1514.0;

/// A machine that is busy with other tests makes the pace slower than the wire is, never faster.
/// So none of these attempts may be faster, and [`UNDISTURBED`] of them must reach the wire's rate:
/// where each is disturbed with probability 1/4, independently, fewer do in 0.5 % of all tests
/// (binomial). A client that cannot fill the wire fails all of them.
const ATTEMPTS: usize = 6;
/// Attempts that reach the wire's rate.
const UNDISTURBED: usize = 2;
/// Transfers of an attempt.
const TRANSFERS: u64 = 400;
/// How far from the wire's rate what is measured may be.
const TOLERANCE: f64 = 0.05;

const SERVICE: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 1);
/// The service's second address, on the same wire.
const SECOND: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 3);
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 2);

const TRANSFER_BYTES: u32 = 65536;

/// How long the cable is out.
const OUT: Duration = Duration::from_secs(5);

/// Two namespaces and the wire between them; gone with this.
struct Wire {
    service: String,
    client: String,
}

fn run(words: &str) {
    let mut parts = words.split_ascii_whitespace();
    let status = Command::new(parts.next().unwrap()).args(parts).status().unwrap();
    assert!(status.success(), "`{words}` ended with {status}");
}

impl Wire {
    fn new() -> Wire {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = |side| format!("fourcorners-{}-{number}-{side}", std::process::id());
        let wire = Wire { service: name("service"), client: name("client") };
        let Wire { service, client } = &wire;
        run(&format!("ip netns add {service}"));
        run(&format!("ip netns add {client}"));
        run(&format!("ip link add wire netns {service} type veth peer name wire netns {client}"));
        for (side, address) in [(service, SERVICE), (service, SECOND), (client, CLIENT)] {
            run(&format!("ip -n {side} address add {address}/24 dev wire"));
        }
        for side in [service, client] {
            run(&format!("ip -n {side} link set wire up"));
            let rate = WIRE_BITS_PER_S;
            run(&format!(
                "tc -n {side} qdisc add dev wire root tbf rate {rate}bit burst 64kb latency 100ms"
            ));
        }
        wire
    }

    fn cable(&self, state: &str) {
        run(&format!("ip -n {} link set wire {state}", self.service));
    }

    /// Does something in a thread that is in a namespace of the wire.
    fn within<T: Send>(name: &str, work: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let namespace = File::open(format!("/run/netns/{name}")).unwrap();
                let kind = Some(LinkNameSpaceType::Network);
                move_into_link_name_space(namespace.as_fd(), kind).unwrap();
                work()
            });
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// The service on every address of its side, with its portmapper where clients ask for it.
    fn service(&self) -> Running {
        let text = "[[endpoint]]\nname = \"ep1\"\naddress = \"0.0.0.0:2049\"\n\
             [[pool]]\nname = \"pool1\"\nservice_level = \"ultra\"\nsize = \"4TiB\"\n\
             [[volume]]\nname = \"vol1\"\npool = \"pool1\"\nquota = \"1TiB\"\n\
             [limits]\nenforced = false\n";
        let catalog = Catalog::embedded();
        let mut open = |name: &str| Err(format!("there is no {name}"));
        let config = config::parse(text, "volumes.toml", &catalog, &mut open).unwrap();
        let options = Options {
            config,
            catalog,
            memory: Bytes::gib(1),
            portmapper: Some(PMAP_PORT as u16),
            metrics: None,
            data: None,
            connections_max: 100,
            held_room: 0,
            log: Box::new(|_| ()),
        };
        Wire::within(&self.service, || Running::start(options).unwrap())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for side in [&self.service, &self.client] {
            // Where setting up failed there may be nothing to remove; the test fails anyway.
            let _ = Command::new("ip").args(["netns", "del", side]).status();
        }
    }
}

/// A file on the volume, with a client of so many connections, which asks the portmapper for ports.
fn file(connections: u32, more: &str) -> NfsFiles {
    let url = format!("nfs://{SERVICE}/vol1?nconnect={connections}{more}");
    let url: NfsUrl = url.parse().unwrap();
    let mut session = Session::open(&url).unwrap();
    let root = session.root();
    let new = createhow3::UNCHECKED(sattr3 { mode: Some(0o600), ..sattr3::UNCHANGED });
    let file = session.create(&root, b"file", new).unwrap().0;
    let access = NfsAccess {
        mounted: Arc::clone(session.mounted()),
        connections: 0..connections,
        files: vec![file.handle],
        stability: WriteStability::Unstable,
        transfer_size_max_bytes: u64::from(TRANSFER_BYTES),
        keep_read_data: true,
        rewrite: Some(Arc::new(|op: &Op, memory: &mut [u8]| fill(op, memory))),
        uncommitted_max: target::nfs::files::UNCOMMITTED_MAX,
    };
    NfsFiles::open(&access, 16).unwrap()
}

fn places(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|place| place * u64::from(TRANSFER_BYTES))
}

/// Bytes per second of the operations after the first quarter, in which the wire's bucket was full
/// and TCP had yet to find its pace.
fn pace(instants: &[Instant]) -> f64 {
    let from = instants.len() / 4;
    let took = instants[instants.len() - 1] - instants[from];
    ((instants.len() - 1 - from) * TRANSFER_BYTES as usize) as f64 / took.as_secs_f64()
}

#[test]
fn the_wires_rate_is_what_reading_and_writing_find() {
    let wire = Wire::new();
    let running = wire.service();
    let wanted = WIRE_BITS_PER_S / 8.0 * PAYLOAD_SHARE;
    let ratios = Wire::within(&wire.client, || {
        let mut target = file(4, "");
        let mut ratios = [Vec::new(), Vec::new()];
        let writes: Vec<Op> = places(TRANSFERS).map(|at| write(at, TRANSFER_BYTES)).collect();
        let reads: Vec<Op> = places(TRANSFERS).map(|at| read(at, TRANSFER_BYTES)).collect();
        for _ in 0..ATTEMPTS {
            for (ops, ratios) in [&writes, &reads].into_iter().zip(&mut ratios) {
                let mut instants = Vec::with_capacity(ops.len());
                let results = all(&mut target, ops, 16, |_, _| instants.push(Instant::now()));
                assert!(results.iter().all(|result| *result == TRANSFER_BYTES as i32));
                ratios.push(pace(&instants) / wanted);
            }
        }
        ratios
    });
    for (what, ratios) in ["written", "read"].into_iter().zip(ratios) {
        let faster = ratios.iter().filter(|ratio| **ratio > 1.0 + TOLERANCE).count();
        let reached = ratios.iter().filter(|ratio| **ratio >= 1.0 - TOLERANCE).count();
        let shares = format!("{what}: {ratios:.3?} of what the wire carries");
        assert!(faster == 0 && reached >= UNDISTURBED, "{shares}");
    }
    running.stop().unwrap();
}

#[test]
fn a_cable_that_is_out_for_five_seconds_delays_and_loses_nothing() {
    let wire = Wire::new();
    let running = wire.service();
    let (begun, half) = channel();
    let longest = std::thread::scope(|scope| {
        let wire = &wire;
        let cable = scope.spawn(move || {
            half.recv().unwrap();
            wire.cable("down");
            // What is tested is this time without a wire.
            std::thread::sleep(OUT);
            wire.cable("up");
        });
        let longest = Wire::within(&wire.client, || {
            let mut target = file(4, "");
            let writes: Vec<Op> = places(1000).map(|at| write(at, TRANSFER_BYTES)).collect();
            let mut instants = Vec::with_capacity(writes.len());
            let results = all(&mut target, &writes, 16, |_, _| {
                instants.push(Instant::now());
                if instants.len() == 300 {
                    begun.send(()).unwrap();
                }
            });
            assert!(results.iter().all(|result| *result == TRANSFER_BYTES as i32));
            let reads: Vec<Op> = places(1000).map(|at| read(at, TRANSFER_BYTES)).collect();
            all(&mut target, &reads, 16, |op, memory| {
                let mut expected = vec![0; memory.len()];
                fill(op, &mut expected);
                assert!(expected == memory, "what was written at {} is lost", op.offset_bytes);
            });
            instants.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
        });
        cable.join().unwrap();
        longest
    });
    // Some answers were on their way when the wire was cut.
    assert!(longest >= OUT.mul_f64(0.9), "the longest gap was {longest:?}");
    let last = running.stop().unwrap();
    let (_, volume) = last.witness.volumes().next().unwrap();
    assert_eq!(volume.outstanding, 0);
    assert!(volume.written_bytes >= 1000 * u64::from(TRANSFER_BYTES));
}

#[test]
fn connections_are_spread_over_the_addresses_of_the_export() {
    let wire = Wire::new();
    let running = wire.service();
    Wire::within(&wire.client, || {
        let mut target = file(6, &format!("&addr={SERVICE},{SECOND}"));
        let writes: Vec<Op> = places(60).map(|at| write(at, TRANSFER_BYTES)).collect();
        let results = all(&mut target, &writes, 16, |_, _| {});
        assert!(results.iter().all(|result| *result == TRANSFER_BYTES as i32));
        let seen = running.snapshot().unwrap();
        let mut of_each = [0, 0];
        for one in target.connections() {
            let to = [SERVICE, SECOND].map(|address| format!("{address}:2049"));
            let place = to.iter().position(|to| *to == one.remote.to_string()).unwrap();
            of_each[place] += 1;
            // The flow's name at the service has the address that the client connected to.
            let name = format!("{}-{}", one.local, one.remote);
            let (_, flow) = seen.witness.flows().find(|(flow, _)| *flow == name).unwrap();
            assert_eq!(flow.written_bytes, one.kinds[OpKind::Write as usize].bytes, "{name}");
            assert!(flow.written_bytes > 0, "{name}");
        }
        assert_eq!(of_each, [3, 3]);
    });
    running.stop().unwrap();
}
