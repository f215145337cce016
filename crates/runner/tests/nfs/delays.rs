//! The delays configured for a service are those measured by a client.
//!
//! With one outstanding operation the service's requests are numbered in the order of the run, and
//! each number has its delay, so the delays of a run are known, and the service's own sum of delays
//! is compared exactly. That delays follow their distribution and are exact to the nanosecond is
//! tested in virtual time (crates/volume/tests/core/delays.rs).
//!
//! The additional time of connection and wake-up is measured, and compared with that of a pair of
//! plain sockets with the same delays: once polling the clock, and once sleeping. Both are measured
//! alternately, in [`ROUNDS`] rounds, and all operations of all rounds count.
//!
//! Error rate: other programs sometimes delay an operation of either side. Above the median the
//! share of late operations may be four times that of the plain pair. Of the 3,600 operations of a
//! test 9 are expected above the plain pair's 99.75th percentile if both are disturbed equally, and
//! 36 are allowed: P(Poisson(9) > 36) < 1e-11; at the 90th percentile 90 and 360. Medians of 3,600
//! operations differ by chance by less than the allowed 2 %.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use metrics::histogram::Counts;
use volume::delay::{Distance, RequestKind};
use workload::op::OpKind;
use workload::plan::Phases;

use crate::served::*;

const VOLUME: &str = "[limits]\nenforced = false\n\
    [[volume]]\nname = \"vol1\"\npool = \"manual\"\nquota = \"1TiB\"\nthroughput = \"64MiB/s\"\n";

/// Rounds, each of the service and of the plain pair.
const ROUNDS: usize = 8;

/// Duration of a round's measurement of the service.
const ROUND_NS: u64 = 250 * MS;

/// Allowed in addition to 2 % and to the time of a plain pair. Unoptimised code takes several times
/// as long for each call.
const ALLOWED_NS: u64 = if cfg!(debug_assertions) { 90_000 } else { 30_000 };

const CALL_BYTES: usize = 150;
const READ_BYTES: usize = 4096;

/// Percentiles that are compared in addition to the median.
const TAILS: [f64; 2] = [0.9, 0.99];

const HISTOGRAM: &str = "Value Percentile TotalCount 1/(1-Percentile)\n\
    150 0.0 1 1.0\n250 0.5 500 2.0\n600 0.9 900 10\n900 0.99 990 100\n1500 0.999 999 1000\n\
    2000 1.0 1000\n";

/// The results of all rounds, in nanoseconds.
#[derive(Default)]
struct Seen {
    /// The configured delays.
    drawn: Vec<u64>,
    /// The times measured by the client.
    times: Counts,
    /// Exchanges of plain pairs with the same delays, polling and sleeping: the total time, and the
    /// time in addition to the delay.
    exchanges: [Vec<u64>; 2],
    excesses: [Vec<u64>; 2],
}

impl Seen {
    fn round(&mut self, delay: &str) {
        let mut open = |_: &str| Ok(HISTOGRAM.to_owned());
        let config = described_with(&format!("{VOLUME}{delay}"), &mut open);
        let model = config.delay.clone();
        let running = service(config);
        let phases = Phases { warm_up_ns: 0, measure_ns: ROUND_NS, interval_ns: ROUND_NS };
        let load = Load { queue_depth: 1, transfer_bytes: READ_BYTES as u64, phases, ..LOAD };
        let measured = load.on(&running, |_| ());
        measured.assert_flawless();

        let mut times = Counts::default();
        for interval in &measured.record.intervals {
            times.merge(&interval.streams[0].kinds[OpKind::Read as usize].service);
        }
        let (before, after) = (&measured.before, &measured.after);
        let (before, after) = (counted(before, "vol1"), counted(after, "vol1"));
        assert_eq!(times.total(), after.completed() - before.completed());
        // The service numbers its requests from 1.
        let draw = |number| model.draw_ns(Distance::Near, RequestKind::Read, number);
        let drawn: Vec<u64> = (before.arrived + 1..=after.arrived).map(draw).collect();
        let sum: u64 = drawn.iter().sum();
        assert_eq!(after.storage_delay_ns - before.storage_delay_ns, sum, "as the service counts");
        assert_eq!((after.qos_delay_ns, after.throttled()), (0, 0));
        for (index, waits) in [Waits::Polling, Waits::Asleep].into_iter().enumerate() {
            let exchanges = bare(&drawn, waits);
            let excess = exchanges.iter().zip(&drawn).map(|(took, delay)| took - delay);
            self.excesses[index].extend(excess);
            self.exchanges[index].extend(exchanges);
        }
        self.times.merge(&times);
        self.drawn.extend(drawn);
    }
}

/// The percentile by nearest rank.
fn percentile(times: &[u64], fraction: f64) -> u64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted[(fraction * sorted.len() as f64).ceil().max(1.0) as usize - 1]
}

fn larger(times: &[Vec<u64>; 2], fraction: f64) -> u64 {
    percentile(&times[0], fraction).max(percentile(&times[1], fraction))
}

/// How the other end of a plain pair waits.
#[derive(Clone, Copy)]
enum Waits {
    /// Exact to the nanosecond.
    Polling,
    /// As precisely as this machine wakes a thread at a given time.
    Asleep,
}

impl Waits {
    fn until(self, due: Instant) {
        match self {
            Waits::Polling => {
                while Instant::now() < due {
                    std::hint::spin_loop();
                }
            }
            Waits::Asleep => std::thread::sleep(due.saturating_duration_since(Instant::now())),
        }
    }
}

/// The duration of exchanges of as many bytes as a READ, over a pair of sockets whose other end
/// replies after the given times.
fn bare(delays: &[u64], waits: Waits) -> Vec<u64> {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let mut ours = TcpStream::connect(listener.local_addr().expect("bound")).expect("connect");
    let (mut theirs, _) = listener.accept().expect("accept");
    ours.set_nodelay(true).expect("set TCP_NODELAY");
    theirs.set_nodelay(true).expect("set TCP_NODELAY");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // As in the service's thread: otherwise the kernel wakes 50 us late.
            let slack = NonZeroU64::new(1);
            rustix::thread::set_current_timer_slack(slack).expect("set the timer's slack");
            for delay_ns in delays {
                theirs.read_exact(&mut [0; CALL_BYTES]).expect("a call");
                waits.until(Instant::now() + Duration::from_nanos(*delay_ns));
                theirs.write_all(&[0; READ_BYTES]).expect("a reply");
            }
        });
        let exchange = |_| {
            let begun = Instant::now();
            ours.write_all(&[0; CALL_BYTES]).expect("a call");
            ours.read_exact(&mut [0; READ_BYTES]).expect("a reply");
            begun.elapsed().as_nanos() as u64
        };
        delays.iter().map(exchange).collect()
    })
}

#[expect(clippy::print_stdout, reason = "figures for reading a failure")]
fn check(name: &str, delay: &str) {
    let _alone = alone();
    let mut all = Seen::default();
    for _ in 0..ROUNDS {
        all.round(delay);
    }
    let count = all.drawn.len();
    let mut failures = 0;
    let mut compare = |fraction: f64, floor_ns: u64, of_drawn: f64| {
        let drawn_ns = percentile(&all.drawn, fraction);
        let seen_ns = all.times.percentile_ns(fraction).expect("operations were done");
        assert!(seen_ns >= drawn_ns, "{name}: no reply arrives before its delay is over");
        let most_ns = floor_ns + percentile(&all.drawn, of_drawn) / 50 + ALLOWED_NS;
        println!(
            "{name}, {count} operations, {fraction}: drawn {drawn_ns}, seen {seen_ns}, at most \
             {most_ns} ns"
        );
        failures += usize::from(seen_ns > most_ns);
    };
    compare(0.5, larger(&all.exchanges, 0.5), 0.5);
    for fraction in TAILS {
        // An operation above a percentile has either a long delay or a long additional time: three
        // quarters of them may have the former and a quarter the latter.
        let beyond = 1.0 - fraction;
        let (of_drawn, of_excess) = (1.0 - beyond * 0.75, 1.0 - beyond * 0.25);
        let floor_ns = percentile(&all.drawn, of_drawn) + larger(&all.excesses, of_excess);
        compare(fraction, floor_ns, of_drawn);
    }
    assert_eq!(failures, 0, "{name}: percentiles are beyond what the machine explains");
}

#[test]
fn a_constant_delay_is_measured_by_the_client() {
    check("constant", "[delay]\nread = \"500us\"\n");
}

#[test]
fn a_lognormal_delay_is_measured_by_the_client() {
    check("lognormal", "[delay]\nread = { median = \"300us\", p99 = \"900us\" }\n");
}

#[test]
fn a_delay_from_a_histogram_is_measured_by_the_client() {
    check("histogram", "[delay]\nread = { histogram = \"seen.hgrm\", unit = \"us\" }\n");
}
