//! The throughput of a volume under late wake-ups: exactly its limit.

use std::ops::Range;

use cloud::catalog::Catalog;
use proptest::prelude::*;
use units::Bytes;
use volume::counters::Procedure;
use volume::ids::ConnectionId;
use volume::service::{DueRequest, Service};

use crate::{endpoint_id, id_of, start};

const NS_PER_S: u64 = 1_000_000_000;
const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

/// Volumes of 64 MiB/s at one endpoint.
fn service(volumes: usize, more: &str) -> Service {
    let mut text = format!(
        "[[pool]]\nname = \"pool1\"\nservice_level = \"premium\"\nsize = \"24TiB\"\n\
         [[endpoint]]\nname = \"ep1\"\n{more}\n"
    );
    for number in 1..=volumes {
        text +=
            &format!("[[volume]]\nname = \"vol{number}\"\npool = \"pool1\"\nquota = \"1TiB\"\n");
    }
    start(&text)
}

/// A pseudo-random number generator.
struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> u64 {
        // Knuth's MMIX generator. Its upper bits are sufficiently random.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A reply: when it was sent, when it was due, its bytes and its volume.
#[derive(Clone, Copy)]
struct Sent {
    sent_ns: u64,
    due_ns: u64,
    bytes: u64,
    volume: usize,
}

/// Closed load on the service, which is called late.
struct Load {
    service: Service,
    connections: Vec<ConnectionId>,
    sizes: Vec<u64>,
    late_ns: u64,
    draw: Draw,
    now_ns: u64,
    due: Vec<DueRequest>,
    sent: Vec<Sent>,
}

impl Load {
    /// Connection `i` is for volume `i % volumes`. Request sizes are drawn from `sizes`.
    fn new(mut service: Service, connections: usize, sizes: &[u64], late_ns: u64) -> Load {
        let endpoint = endpoint_id(&service, "ep1");
        let connections =
            (0..connections).map(|i| service.connect(endpoint, &format!("a:{i}"), "a")).collect();
        Load {
            service,
            connections,
            sizes: sizes.to_vec(),
            late_ns,
            draw: Draw(late_ns + 1),
            now_ns: 0,
            due: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// Sends a request on a connection.
    fn arrive(&mut self, index: usize) {
        let volumes = self.service.config().account.volumes.len();
        let name = format!("vol{}", index % volumes + 1);
        let volume = id_of(&self.service, &name);
        let bytes = self.sizes[self.draw.below(self.sizes.len() as u64) as usize];
        let procedure = [Procedure::Read, Procedure::Write][self.draw.below(2) as usize];
        let token = bytes << 16 | index as u64;
        let connection = self.connections[index];
        let due = self.service.arrive(self.now_ns, connection, volume, procedure, bytes, token);
        self.due.extend(due.expect("it is accepted").due());
    }

    fn start(&mut self, outstanding: usize) {
        for number in 0..outstanding {
            self.arrive(number % self.connections.len());
        }
    }

    /// Answers requests until `end_ns`, and replaces each by a new one.
    fn run(&mut self, end_ns: u64) {
        let volumes = self.service.config().account.volumes.len();
        loop {
            for due in std::mem::take(&mut self.due) {
                let (bytes, index) = (due.token >> 16, (due.token & 0xffff) as usize);
                self.service.answered(&due, bytes, false);
                let (sent_ns, due_ns, volume) = (self.now_ns, due.due_ns, index % volumes);
                self.sent.push(Sent { sent_ns, due_ns, bytes, volume });
                self.arrive(index);
            }
            if !self.due.is_empty() {
                continue;
            }
            let next_ns = self.service.next_ns().expect("requests wait").max(self.now_ns);
            let woken_ns = next_ns + self.draw.below(self.late_ns + 1);
            if woken_ns > end_ns {
                return;
            }
            self.now_ns = woken_ns;
            self.service.advance(woken_ns, &mut self.due);
        }
    }

    /// Bytes of replies due in this time.
    fn bytes_in(&self, span: Range<u64>) -> u64 {
        let inside = self.sent.iter().filter(|reply| span.contains(&reply.due_ns));
        inside.map(|reply| reply.bytes).sum()
    }
}

/// The minimum and maximum bytes in any window of a second that starts with a reply, for replies
/// `(instant, bytes)`.
fn min_and_max(replies: impl Iterator<Item = (u64, u64)>, end_ns: u64) -> (u64, u64) {
    let replies: Vec<(u64, u64)> = replies.collect();
    let (mut after, mut sum) = (0, 0);
    let (mut min, mut max) = (u64::MAX, 0);
    for (at_ns, bytes) in &replies {
        if at_ns + NS_PER_S > end_ns {
            break;
        }
        while after < replies.len() && replies[after].0 < at_ns + NS_PER_S {
            sum += replies[after].1;
            after += 1;
        }
        (min, max) = (min.min(sum), max.max(sum));
        sum -= bytes;
    }
    (min, max)
}

#[track_caller]
fn assert_near(actual: f64, expected: f64, tolerance: f64, case: &str) {
    let error = (actual / expected - 1.0).abs();
    assert!(error <= tolerance, "{case}: {actual} instead of {expected}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Reads and writes of mixed sizes on 1 to 16 connections, with wake-ups up to 1 ms late and the
    /// default burst.
    #[test]
    fn throughput_of_every_second_is_within_one_percent_of_the_limit_despite_late_wakeups(
        connections in 1usize..17,
        sizes in prop_oneof![
            Just(vec![8 * KIB]), Just(vec![64 * KIB]), Just(vec![8 * KIB, 64 * KIB]),
        ],
        late_ns in 0u64..1_000_001,
        delay_us in prop_oneof![Just(0u64), 1u64..500],
    ) {
        let delay = format!("[delay]\nread = \"{delay_us}us\"\nwrite = \"{delay_us}us\"");
        let mut load = Load::new(service(1, &delay), connections, &sizes, late_ns);
        load.start(64);
        let end_ns = 3 * NS_PER_S;
        load.run(end_ns);
        let limit = (64 * MIB) as f64;
        let due = load.sent.iter().map(|reply| (reply.due_ns, reply.bytes));
        let sent = load.sent.iter().map(|reply| (reply.sent_ns, reply.bytes));
        for (min, max) in
            [min_and_max(due, end_ns - 2_000_000), min_and_max(sent, end_ns - 2_000_000)]
        {
            prop_assert!((max as f64 / limit - 1.0) < 0.01, "{max} bytes in a second");
            prop_assert!((1.0 - min as f64 / limit) < 0.01, "{min} bytes in a second");
        }
    }
}

#[test]
fn late_wakeups_cost_a_saturated_volume_no_throughput() {
    // Exactly 8,192 requests of 8 KiB per second, although wake-ups are 0.5 ms late on average, four
    // times the gap between requests.
    let mut load =
        Load::new(service(1, "[limits]\nrefill_interval = \"0\""), 4, &[8 * KIB], NS_PER_S / 1000);
    load.start(64);
    load.run(20 * NS_PER_S + 10_000_000);
    let seconds = (0..20).map(|s| load.bytes_in(s * NS_PER_S..(s + 1) * NS_PER_S));
    assert_eq!(seconds.collect::<Vec<u64>>(), [64 * MIB; 20]);
}

#[test]
fn at_queue_depth_1_the_burst_makes_up_for_late_wakeups() {
    // The next request arrives only after a late reply. Meanwhile the bucket drains into the burst.
    let mut load = Load::new(service(1, ""), 1, &[8 * KIB], 200_000);
    load.start(1);
    load.run(10 * NS_PER_S);
    let bytes = load.bytes_in(NS_PER_S..9 * NS_PER_S) as f64;
    assert_near(bytes, (8 * 64 * MIB) as f64, 0.001, "eight seconds");
}

#[test]
fn the_first_second_after_a_resize_has_the_new_limit() {
    let mut load = Load::new(service(1, ""), 16, &[8 * KIB, 64 * KIB], 1_000_000);
    load.start(256);
    load.run(2 * NS_PER_S);
    for (tib, from_s) in [(4, 2), (1, 4), (2, 6)] {
        let mut new = load.service.config().clone();
        new.account.volumes[0].quota = Bytes::gib(tib << 10);
        let now_ns = load.now_ns;
        load.service.change(now_ns, new).expect("an allowed change");
        load.run((from_s + 2) * NS_PER_S);
        let bytes = load.bytes_in(from_s * NS_PER_S..(from_s + 1) * NS_PER_S);
        assert_near(bytes as f64, (tib * 64 * MIB) as f64, 0.01, "the first second");
    }
}

#[test]
fn two_volumes_share_the_limit_of_their_endpoint_and_each_keeps_its_own() {
    for (endpoint, each) in [("100MiB/s", 50 * MIB), ("200MiB/s", 64 * MIB)] {
        let text = format!("throughput = \"{endpoint}\"");
        let mut load = Load::new(service(2, &text), 2, &[8 * KIB, 64 * KIB], 300_000);
        load.start(64);
        load.run(6 * NS_PER_S);
        for volume in 0..2 {
            let of_volume = load.sent.iter().filter(|reply| {
                reply.volume == volume && (NS_PER_S..5 * NS_PER_S).contains(&reply.due_ns)
            });
            let bytes: u64 = of_volume.map(|reply| reply.bytes).sum();
            // Requests of one client are released in order of arrival, so shares are equal only on
            // average.
            let tolerance = if each == 64 * MIB { 0.01 } else { 0.05 };
            assert_near(bytes as f64 / 4.0, each as f64, tolerance, endpoint);
        }
        let all = load.bytes_in(NS_PER_S..5 * NS_PER_S) as f64 / 4.0;
        assert_near(all, (2 * each) as f64, 0.01, endpoint);
    }
}

#[test]
fn throughput_grows_with_connections_at_the_limit_per_flow_up_to_the_volumes_limit() {
    for (connections, mib) in [(1, 5), (2, 10), (8, 40), (12, 60), (16, 64)] {
        let more = "[limits]\nflow_throughput = \"5MiB/s\"";
        let mut load = Load::new(service(1, more), connections, &[8 * KIB, 64 * KIB], 500_000);
        load.start(16 * connections);
        load.run(6 * NS_PER_S);
        let bytes = load.bytes_in(NS_PER_S..5 * NS_PER_S) as f64 / 4.0;
        assert_near(bytes, (mib * MIB) as f64, 0.01, &format!("{connections} connections"));
    }
}

#[test]
fn the_limit_of_operations_per_second_is_exact_despite_late_wakeups() {
    let mut config = service(1, "").config().clone();
    config.ops[0] = std::num::NonZeroU64::new(1000);
    let service = Service::start(0, Catalog::embedded(), config).expect("no broken rules");
    let mut load = Load::new(service, 4, &[8 * KIB, 64 * KIB, 0], 1_000_000);
    load.start(64);
    load.run(6 * NS_PER_S);
    let inside = load.sent.iter().filter(|reply| (NS_PER_S..5 * NS_PER_S).contains(&reply.due_ns));
    assert_near(inside.count() as f64 / 4.0, 1000.0, 0.001, "operations per second");
}
