//! The delays that a service is set to are those that a client measures.
//!
//! With one operation outstanding the service's requests are numbered in the order of the run, and
//! each number has its delay: so what was drawn in a run is known exactly, and a percentile is not
//! blurred by chance. How well draws follow their definition is held in `volume`. What the way
//! there and back and being woken take is the machine's: a bare pair of sockets, whose other end
//! takes the same time for each exchange, is measured beside it, once looking at the clock until
//! it is time and once asleep.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use metrics::histogram::Counts;
use volume::delay::{Distance, Kind};
use workload::op::OpKind;
use workload::plan::Phases;

use crate::served::*;

const VOLUME: &str = "[limits]\nenforced = false\n\
    [[volume]]\nname = \"vol1\"\npool = \"manual\"\nquota = \"1TiB\"\nthroughput = \"64MiB/s\"\n";

/// Rounds in which each percentile is compared, and how many of them it must be right in. Others
/// that use the machine only ever make times longer: where they spoil half of the rounds, 1.1 % of
/// tests fail; a service that is right in one round of 20 passes 0.7 % of them (both binomial).
const ROUNDS: usize = 16;
const ROUNDS_RIGHT: usize = 4;

/// What may come on top of 2 % and of what a bare pair takes. Code that is not optimised takes
/// several times as long for each call.
const ALLOWED_NS: u64 = if cfg!(debug_assertions) { 90_000 } else { 30_000 };

/// Exchanges of the bare pair.
const EXCHANGES: usize = 1000;

const CALL_BYTES: usize = 150;
const READ_BYTES: usize = 4096;

const FRACTIONS: [f64; 3] = [0.5, 0.99, 0.999];

const HISTOGRAM: &str = "Value Percentile TotalCount 1/(1-Percentile)\n\
    150 0.0 1 1.0\n250 0.5 500 2.0\n600 0.9 900 10\n900 0.99 990 100\n1500 0.999 999 1000\n\
    2000 1.0 1000\n";

/// The percentiles of one run, in nanoseconds: what was drawn for its requests, what the client
/// measured, and what a bare pair takes for the same.
fn percentiles(delay: &str) -> [[u64; 3]; 3] {
    let mut open = |_: &str| Ok(HISTOGRAM.to_owned());
    let config = described_with(&format!("{VOLUME}{delay}"), &mut open);
    let model = config.delay.clone();
    let running = service(config);
    let phases = Phases { warm_up_ns: 0, measure_ns: 1500 * MS, interval_ns: 500 * MS };
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
    let draw = |number| model.draw_ns(Distance::Near, Kind::Read, number);
    let mut drawn: Vec<u64> = (before.arrived + 1..=after.arrived).map(draw).collect();
    let sum: u64 = drawn.iter().sum();
    assert_eq!(after.storage_delay_ns - before.storage_delay_ns, sum, "the witness' own delays");
    assert_eq!((after.qos_delay_ns, after.throttled()), (0, 0));
    let delays = &drawn[..drawn.len().min(EXCHANGES)];
    let (looking, asleep) = (bare(delays, Waits::Looking), bare(delays, Waits::Asleep));
    let floor = std::array::from_fn(|place| looking[place].max(asleep[place]));
    let seen = |fraction| times.percentile_ns(fraction).expect("operations were done");
    [ranked(&mut drawn), FRACTIONS.map(seen), floor]
}

fn ranked(times: &mut [u64]) -> [u64; 3] {
    times.sort_unstable();
    FRACTIONS.map(|fraction| times[(fraction * times.len() as f64).ceil().max(1.0) as usize - 1])
}

/// How the other end of a bare pair lets time pass.
#[derive(Clone, Copy)]
enum Waits {
    /// To the nanosecond.
    Looking,
    /// As exactly as this machine wakes who asks for an instant.
    Asleep,
}

impl Waits {
    fn until(self, due: Instant) {
        match self {
            Waits::Looking => {
                while Instant::now() < due {
                    std::hint::spin_loop();
                }
            }
            Waits::Asleep => std::thread::sleep(due.saturating_duration_since(Instant::now())),
        }
    }
}

/// The percentiles of exchanges of as many bytes as a READ has, over a pair of sockets whose other
/// end answers after the given times.
fn bare(delays: &[u64], waits: Waits) -> [u64; 3] {
    let listener = TcpListener::bind("127.0.0.1:0").expect("listen");
    let mut ours = TcpStream::connect(listener.local_addr().expect("bound")).expect("connect");
    let (mut theirs, _) = listener.accept().expect("accept");
    ours.set_nodelay(true).expect("set TCP_NODELAY");
    theirs.set_nodelay(true).expect("set TCP_NODELAY");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            // As the service's thread has it: without this the kernel wakes 50 us late.
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
        ranked(&mut delays.iter().map(exchange).collect::<Vec<_>>())
    })
}

#[expect(clippy::print_stdout, reason = "figures for whoever looks at them, or at a failure")]
fn hold(name: &str, delay: &str) {
    let _alone = alone();
    // The rounds in which each percentile was what it may be.
    let mut right = [0; FRACTIONS.len()];
    for round in 0..ROUNDS {
        let [drawn, seen, floor] = percentiles(delay);
        println!("{name} {round}: drawn {drawn:?}, seen {seen:?}, bare {floor:?} ns");
        for place in 0..FRACTIONS.len() {
            assert!(seen[place] >= drawn[place], "nobody is answered before the time");
            let most = floor[place] + drawn[place] / 50 + ALLOWED_NS;
            right[place] += usize::from(seen[place] <= most);
        }
        if right.iter().all(|rounds| *rounds >= ROUNDS_RIGHT) {
            return;
        }
        let left = ROUNDS - 1 - round;
        if right.iter().any(|rounds| rounds + left < ROUNDS_RIGHT) {
            break;
        }
    }
    panic!(
        "{name}: {FRACTIONS:?} are right in {right:?} of {ROUNDS} rounds instead of {ROUNDS_RIGHT}"
    );
}

#[test]
fn a_constant_delay_is_what_the_client_measures() {
    hold("constant", "[delay]\nread = \"500us\"\n");
}

#[test]
fn a_lognormal_delay_is_what_the_client_measures() {
    hold("lognormal", "[delay]\nread = { median = \"300us\", p99 = \"900us\" }\n");
}

#[test]
fn a_delay_from_a_histogram_is_what_the_client_measures() {
    hold("histogram", "[delay]\nread = { histogram = \"seen.hgrm\", unit = \"us\" }\n");
}
