//! Client and service in two network namespaces, connected by a link of a known rate that can be
//! interrupted. Needs root, as in CI.

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

/// The link's rate in each direction.
const WIRE_BITS_PER_S: f64 = 200e6;

/// The share of a full Ethernet frame that is TCP payload with time stamps: 1448 of 1514 bytes.
/// Other overhead (reply headers) is below one percent.
const PAYLOAD_SHARE: f64 = 1448.0 / 1514.0;

/// What the link catches up on after it was idle: 21 ms at its rate. A virtual processor that is
/// suspended for less therefore loses none of the link's time; what was idle before the measured part
/// adds at most 2.7 % to it.
const BURST_BYTES: u64 = 512 << 10;

/// A busy machine makes transfers slower than the link, never faster. So no attempt may be faster,
/// and at least [`UNDISTURBED`] must reach the link's rate: if each is disturbed independently with
/// probability 1/4, fewer do in 0.5 % of all tests (binomial). A client that cannot fill the link
/// fails all of them.
const ATTEMPTS: usize = 6;
/// Attempts that must reach the link's rate.
const UNDISTURBED: usize = 2;
/// Transfers of an attempt.
const TRANSFERS: u64 = 400;
/// Allowed relative difference from the link's rate.
const TOLERANCE: f64 = 0.05;

const SERVICE: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 1);
/// The service's second address on the same link.
const SECOND: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 3);
const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 213, 0, 2);

const TRANSFER_BYTES: u32 = 65536;

/// How long the link is down.
const OUT: Duration = Duration::from_secs(5);

/// Two network namespaces and the link between them, removed when dropped.
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
            let (rate, burst) = (WIRE_BITS_PER_S, BURST_BYTES);
            run(&format!(
                "tc -n {side} qdisc add dev wire root tbf rate {rate}bit burst {burst} latency 100ms"
            ));
        }
        wire
    }

    fn cable(&self, state: &str) {
        run(&format!("ip -n {} link set wire {state}", self.service));
    }

    /// Runs `work` in a thread in one of the namespaces.
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

    /// The service on every address of its side, with a portmapper.
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
            deferred_reserve: 0,
            log: Box::new(|_| ()),
        };
        Wire::within(&self.service, || Running::start(options).unwrap())
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        for side in [&self.service, &self.client] {
            // If setting up failed, there may be nothing to remove; the test fails anyway.
            let _ = Command::new("ip").args(["netns", "del", side]).status();
        }
    }
}

/// A file on the volume, accessed over `connections` connections; ports come from the portmapper.
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

fn offsets(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|index| index * u64::from(TRANSFER_BYTES))
}

/// Throughput in bytes per second after the first quarter, during which the token bucket is full
/// and TCP is still adapting.
fn throughput(instants: &[Instant]) -> f64 {
    let from = instants.len() / 4;
    let duration = instants[instants.len() - 1] - instants[from];
    ((instants.len() - 1 - from) * TRANSFER_BYTES as usize) as f64 / duration.as_secs_f64()
}

#[test]
fn reading_and_writing_reach_the_rate_of_the_link() {
    let wire = Wire::new();
    let running = wire.service();
    let expected = WIRE_BITS_PER_S / 8.0 * PAYLOAD_SHARE;
    let ratios = Wire::within(&wire.client, || {
        let mut target = file(4, "");
        let mut ratios = [Vec::new(), Vec::new()];
        let writes: Vec<Op> = offsets(TRANSFERS).map(|at| write(at, TRANSFER_BYTES)).collect();
        let reads: Vec<Op> = offsets(TRANSFERS).map(|at| read(at, TRANSFER_BYTES)).collect();
        for _ in 0..ATTEMPTS {
            for (ops, ratios) in [&writes, &reads].into_iter().zip(&mut ratios) {
                let mut instants = Vec::with_capacity(ops.len());
                let results = all(&mut target, ops, 16, |_, _| instants.push(Instant::now()));
                assert!(results.iter().all(|result| *result == TRANSFER_BYTES as i32));
                ratios.push(throughput(&instants) / expected);
            }
        }
        ratios
    });
    for (what, ratios) in ["written", "read"].into_iter().zip(ratios) {
        let faster = ratios.iter().filter(|ratio| **ratio > 1.0 + TOLERANCE).count();
        let reached = ratios.iter().filter(|ratio| **ratio >= 1.0 - TOLERANCE).count();
        let shares = format!("{what}: {ratios:.3?} of the link's capacity");
        assert!(faster == 0 && reached >= UNDISTURBED, "{shares}");
    }
    running.stop().unwrap();
}

#[test]
fn a_link_that_is_down_for_five_seconds_delays_and_loses_nothing() {
    let wire = Wire::new();
    let running = wire.service();
    let (begun, half) = channel();
    let longest = std::thread::scope(|scope| {
        let wire = &wire;
        let cable = scope.spawn(move || {
            half.recv().unwrap();
            wire.cable("down");
            // The interruption is what this tests.
            std::thread::sleep(OUT);
            wire.cable("up");
        });
        let longest = Wire::within(&wire.client, || {
            let mut target = file(4, "");
            let writes: Vec<Op> = offsets(1000).map(|at| write(at, TRANSFER_BYTES)).collect();
            let mut instants = Vec::with_capacity(writes.len());
            let results = all(&mut target, &writes, 16, |_, _| {
                instants.push(Instant::now());
                if instants.len() == 300 {
                    begun.send(()).unwrap();
                }
            });
            assert!(results.iter().all(|result| *result == TRANSFER_BYTES as i32));
            let reads: Vec<Op> = offsets(1000).map(|at| read(at, TRANSFER_BYTES)).collect();
            all(&mut target, &reads, 16, |op, memory| {
                let mut expected = vec![0; memory.len()];
                fill(op, &mut expected);
                assert!(expected == memory, "data at {} is lost", op.offset_bytes);
            });
            instants.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap()
        });
        cable.join().unwrap();
        longest
    });
    // Some replies were in flight when the link went down.
    assert!(longest >= OUT.mul_f64(0.9), "the longest gap was {longest:?}");
    let last = running.stop().unwrap();
    let (_, volume) = last.counters.volumes().next().unwrap();
    assert_eq!(volume.outstanding, 0);
    assert!(volume.written_bytes >= 1000 * u64::from(TRANSFER_BYTES));
}

#[test]
fn connections_are_distributed_over_the_addresses_of_the_export() {
    let wire = Wire::new();
    let running = wire.service();
    Wire::within(&wire.client, || {
        let mut target = file(6, &format!("&addr={SERVICE},{SECOND}"));
        let writes: Vec<Op> = offsets(60).map(|at| write(at, TRANSFER_BYTES)).collect();
        let results = all(&mut target, &writes, 16, |_, _| {});
        assert!(results.iter().all(|result| *result == TRANSFER_BYTES as i32));
        let seen = running.snapshot().unwrap();
        let mut of_each = [0, 0];
        for one in target.connections() {
            let to = [SERVICE, SECOND].map(|address| format!("{address}:2049"));
            let index = to.iter().position(|to| *to == one.remote.to_string()).unwrap();
            of_each[index] += 1;
            // The service's name of the flow contains the address that the client connected to.
            let name = format!("{}-{}", one.local, one.remote);
            let (_, flow) = seen.counters.flows().find(|(flow, _)| *flow == name).unwrap();
            assert_eq!(flow.written_bytes, one.kinds[OpKind::Write as usize].bytes, "{name}");
            assert!(flow.written_bytes > 0, "{name}");
        }
        assert_eq!(of_each, [3, 3]);
    });
    running.stop().unwrap();
}
