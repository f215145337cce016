//! What a volume gives in the long run, when whoever waits wakes late: exactly its limit.

use std::ops::Range;

use cloud::catalog::Catalog;
use proptest::prelude::*;
use units::Bytes;
use volume::config::parse;
use volume::service::{Connection, Due, Service};
use volume::witness::Procedure;

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
    let catalog = Catalog::embedded();
    let config = parse(&text, "v.toml", &catalog, &mut |path| Err(path.to_owned()));
    Service::start(0, catalog, config.expect("it is right")).expect("it keeps rules")
}

/// A number below `below`, another one at each call.
struct Draw(u64);

impl Draw {
    fn below(&mut self, below: u64) -> u64 {
        // Knuth's MMIX generator; the upper bits are good enough to be late by.
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// An answer that went: when it was seen to be due, when it was due, its bytes and its volume.
#[derive(Clone, Copy)]
struct Answer {
    seen_ns: u64,
    due_ns: u64,
    bytes: u64,
    volume: usize,
}

/// Clients that keep so many requests outstanding, and a shell that wakes late.
struct Load {
    service: Service,
    connections: Vec<Connection>,
    sizes: Vec<u64>,
    late_ns: u64,
    draw: Draw,
    now_ns: u64,
    waiting: Vec<Due>,
    seen: Vec<Answer>,
}

impl Load {
    /// Connection `i` is for volume `i % volumes`; request sizes are drawn from `sizes`.
    fn new(mut service: Service, connections: usize, sizes: &[u64], late_ns: u64) -> Load {
        let endpoint = service.endpoint_key("ep1").expect("it is there");
        let connections =
            (0..connections).map(|i| service.connect(endpoint, &format!("a:{i}"), "a")).collect();
        Load {
            service,
            connections,
            sizes: sizes.to_vec(),
            late_ns,
            draw: Draw(late_ns + 1),
            now_ns: 0,
            waiting: Vec::new(),
            seen: Vec::new(),
        }
    }

    fn arrive(&mut self, place: usize) {
        let volumes = self.service.config().account.volumes.len();
        let name = format!("vol{}", place % volumes + 1);
        let volume = self.service.volume_key(&name).expect("it is there");
        let bytes = self.sizes[self.draw.below(self.sizes.len() as u64) as usize];
        let procedure = [Procedure::Read, Procedure::Write][self.draw.below(2) as usize];
        let token = bytes << 16 | place as u64;
        let connection = self.connections[place];
        let due = self.service.arrive(self.now_ns, connection, volume, procedure, bytes, token);
        self.waiting.extend(due.expect("it is taken"));
    }

    fn start(&mut self, outstanding: usize) {
        for number in 0..outstanding {
            self.arrive(number % self.connections.len());
        }
    }

    /// Answers until `end_ns`; a new request comes in the place of each.
    fn run(&mut self, end_ns: u64) {
        let volumes = self.service.config().account.volumes.len();
        loop {
            for due in std::mem::take(&mut self.waiting) {
                let (bytes, place) = (due.token >> 16, (due.token & 0xffff) as usize);
                self.service.answered(&due, bytes, false);
                let (seen_ns, due_ns, volume) = (self.now_ns, due.due_ns, place % volumes);
                self.seen.push(Answer { seen_ns, due_ns, bytes, volume });
                self.arrive(place);
            }
            if !self.waiting.is_empty() {
                continue;
            }
            let next_ns = self.service.next_ns().expect("requests wait").max(self.now_ns);
            let woken_ns = next_ns + self.draw.below(self.late_ns + 1);
            if woken_ns > end_ns {
                return;
            }
            self.now_ns = woken_ns;
            self.service.advance(woken_ns, &mut self.waiting);
        }
    }

    fn bytes_in(&self, span: Range<u64>) -> u64 {
        let inside = self.seen.iter().filter(|answer| span.contains(&answer.due_ns));
        inside.map(|answer| answer.bytes).sum()
    }
}

/// The least and the most that went in any window of a second that begins with an answer.
fn least_and_most(answers: impl Iterator<Item = (u64, u64)>, end_ns: u64) -> (u64, u64) {
    let answers: Vec<(u64, u64)> = answers.collect();
    let (mut after, mut sum) = (0, 0);
    let (mut least, mut most) = (u64::MAX, 0);
    for (at_ns, bytes) in &answers {
        if at_ns + NS_PER_S > end_ns {
            break;
        }
        while after < answers.len() && answers[after].0 < at_ns + NS_PER_S {
            sum += answers[after].1;
            after += 1;
        }
        (least, most) = (least.min(sum), most.max(sum));
        sum -= bytes;
    }
    (least, most)
}

fn within(seen: f64, wanted: f64, share: f64, what: &str) {
    assert!((seen / wanted - 1.0).abs() <= share, "{what}: {seen} instead of {wanted}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Sizes mixed, reads and writes, one to sixteen connections, up to a millisecond late, with
    /// the burst that is there when nothing is said.
    #[test]
    fn every_second_holds_the_limit_within_one_percent_however_late_one_wakes(
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
        let wanted = (64 * MIB) as f64;
        let due = load.seen.iter().map(|answer| (answer.due_ns, answer.bytes));
        let seen = load.seen.iter().map(|answer| (answer.seen_ns, answer.bytes));
        for (least, most) in [
            least_and_most(due, end_ns - 2_000_000),
            least_and_most(seen, end_ns - 2_000_000),
        ] {
            prop_assert!((most as f64 / wanted - 1.0) < 0.01, "{most} in a second");
            prop_assert!((1.0 - least as f64 / wanted) < 0.01, "{least} in a second");
        }
    }
}

#[test]
fn a_saturated_volume_loses_nothing_by_waking_late() {
    // 8,192 requests of 8 KiB a second and none but them, though each wake is late by half a
    // millisecond on average, four times the time from one to the next.
    let mut load =
        Load::new(service(1, "[limits]\nrefill_interval = \"0\""), 4, &[8 * KIB], NS_PER_S / 1000);
    load.start(64);
    load.run(20 * NS_PER_S + 10_000_000);
    let seconds = (0..20).map(|s| load.bytes_in(s * NS_PER_S..(s + 1) * NS_PER_S));
    assert_eq!(seconds.collect::<Vec<u64>>(), [64 * MIB; 20]);
}

#[test]
fn one_request_at_a_time_gets_the_limit_by_the_burst() {
    // The next comes only when the answer was seen: what the bucket drained meanwhile is not lost.
    let mut load = Load::new(service(1, ""), 1, &[8 * KIB], 200_000);
    load.start(1);
    load.run(10 * NS_PER_S);
    let seen = load.bytes_in(NS_PER_S..9 * NS_PER_S) as f64;
    within(seen, (8 * 64 * MIB) as f64, 0.001, "eight seconds");
}

#[test]
fn within_a_second_after_a_resize_the_new_limit_is_met() {
    let mut load = Load::new(service(1, ""), 16, &[8 * KIB, 64 * KIB], 1_000_000);
    load.start(256);
    load.run(2 * NS_PER_S);
    for (tib, from_s) in [(4, 2), (1, 4), (2, 6)] {
        let mut wanted = load.service.config().clone();
        wanted.account.volumes[0].quota = Bytes::gib(tib << 10);
        let now_ns = load.now_ns;
        load.service.change(now_ns, wanted).expect("it may be so");
        load.run((from_s + 2) * NS_PER_S);
        let seen = load.bytes_in(from_s * NS_PER_S..(from_s + 1) * NS_PER_S);
        within(seen as f64, (tib * 64 * MIB) as f64, 0.01, "the first second");
    }
}

#[test]
fn two_volumes_share_their_endpoint_and_each_keeps_its_own_limit() {
    for (endpoint, each) in [("100MiB/s", 50 * MIB), ("200MiB/s", 64 * MIB)] {
        let text = format!("throughput = \"{endpoint}\"");
        let mut load = Load::new(service(2, &text), 2, &[8 * KIB, 64 * KIB], 300_000);
        load.start(64);
        load.run(6 * NS_PER_S);
        for volume in 0..2 {
            let late = load.seen.iter().filter(|answer| {
                answer.volume == volume && (NS_PER_S..5 * NS_PER_S).contains(&answer.due_ns)
            });
            let bytes: u64 = late.map(|answer| answer.bytes).sum();
            // Shares follow arrival, so that of two alike they are alike only on average.
            let share = if each == 64 * MIB { 0.01 } else { 0.05 };
            within(bytes as f64 / 4.0, each as f64, share, endpoint);
        }
        let all = load.bytes_in(NS_PER_S..5 * NS_PER_S) as f64 / 4.0;
        within(all, (2 * each) as f64, 0.01, endpoint);
    }
}

#[test]
fn one_connection_gives_the_cap_of_a_flow_and_eight_eight_times_it_up_to_the_volume() {
    for (connections, mib) in [(1, 5), (2, 10), (8, 40), (12, 60), (16, 64)] {
        let more = "[limits]\nflow_throughput = \"5MiB/s\"";
        let mut load = Load::new(service(1, more), connections, &[8 * KIB, 64 * KIB], 500_000);
        load.start(16 * connections);
        load.run(6 * NS_PER_S);
        let seen = load.bytes_in(NS_PER_S..5 * NS_PER_S) as f64 / 4.0;
        within(seen, (mib * MIB) as f64, 0.01, &format!("{connections} connections"));
    }
}

#[test]
fn operations_of_a_volume_are_limited_exactly_too() {
    let mut config = service(1, "").config().clone();
    config.ops[0] = std::num::NonZeroU64::new(1000);
    let service = Service::start(0, Catalog::embedded(), config).expect("it keeps rules");
    let mut load = Load::new(service, 4, &[8 * KIB, 64 * KIB, 0], 1_000_000);
    load.start(64);
    load.run(6 * NS_PER_S);
    let inside =
        load.seen.iter().filter(|answer| (NS_PER_S..5 * NS_PER_S).contains(&answer.due_ns));
    within(inside.count() as f64 / 4.0, 1000.0, 0.001, "operations a second");
}
