//! An open loop of 10,000/s for 10 s on a real clock: the instants of issue compared with the
//! configured process.
//!
//! Prints lines `NAME VALUE LIMIT`. `rate_error_*` is the relative error of the achieved rate.
//! `ks_*` is the maximum distance between a distribution of inter-arrival times and the configured
//! one, with the limit of the Kolmogorov-Smirnov test at 1 % (1.628 / sqrt(n); Massey, JASA 46,
//! 1951): of the schedule's instants, and of the actual instants of issue, which are disturbed if
//! the thread loses its processor for milliseconds. For constant arrivals the configured
//! distribution is a single point, so the distance of the instants from the grid is tested instead:
//! its median in us, at most 1 % of the spacing.

use std::sync::Arc;
use std::time::Instant;

use engine::clock::{Clock, MonotonicClock};
use engine::drive::{Stop, drive};
use engine::pulse::Pulse;
use engine::schedule::{ConstantInstants, Open, PoissonInstants, Schedule};
use engine::steps::Steps;
use engine::worker::{Assigned, Handover, Plain, Worker};
use metrics::recorder::Tally;
use target::{Completion, Target, TargetError, Wait};
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::op::{Op, OpStream};
use workload::pattern::AccessPattern;
use workload::plan::{Stream, WeightedSize, WorkingSet};

const RATE: f64 = 10_000.0;
const SECONDS: u64 = 10;

/// Records the arrival of each operation and completes it immediately.
struct Recorder {
    clock: MonotonicClock,
    arrived_ns: Vec<u64>,
    pending: Vec<Completion>,
}

impl Target for Recorder {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        self.arrived_ns.push(self.clock.now_ns());
        self.pending.push(Completion { tag, result: op.size_bytes as i32 });
        Ok(())
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        if self.pending.is_empty()
            && let Wait::Precise(wait) | Wait::Coarse(wait) = wait
        {
            std::thread::sleep(wait);
        }
        done.append(&mut self.pending);
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}

/// Returns tallies immediately; they are not read here.
#[expect(clippy::vec_box, reason = "a handover passes boxes, so that a swap moves a pointer")]
struct Recycle(Vec<Box<Tally>>);

impl Handover for Recycle {
    fn empty(&mut self) -> Option<Box<Tally>> {
        Some(self.0.pop().unwrap_or_default())
    }

    fn full(&mut self, _tally: Box<Tally>, _end_ns: u64) {}
}

fn stream(arrival: Arrival) -> Stream {
    Stream {
        name: "arrivals".to_owned(),
        read_permille: 1000,
        transfer_sizes: vec![WeightedSize { size_bytes: 4096, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 1, file_size_bytes: 1 << 30, area_bytes: 1 << 30 },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth: 32,
        workers: 1,
        arrival,
        active: ActiveTime::WHOLE_RUN,
        direct: false,
        dsync: false,
        write_stability: None,
        targets: workload::plan::StreamTargets::default(),
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    }
}

fn issue<S: Schedule>(schedule: S, arrival: Arrival) -> Vec<u64> {
    let assigned = Assigned {
        lane: 0,
        queue_depth: 32,
        interval_ns: 1_000_000_000,
        end_ns: SECONDS * 1_000_000_000,
        operation_deadline_ns: 60_000_000_000,
    };
    let clock = MonotonicClock::starting_at(Instant::now());
    let mut target = Recorder {
        clock,
        arrived_ns: Vec::with_capacity((RATE * SECONDS as f64 * 1.1) as usize),
        pending: Vec::with_capacity(32),
    };
    let ops = OpStream::new(&stream(arrival), 1);
    let mut worker = Worker::new(
        assigned,
        ops,
        Steps::own(),
        schedule,
        Plain,
        Recycle(Vec::new()),
        Box::default(),
    );
    let stop = Arc::new(Stop::new());
    drive(&mut worker, &mut target, &clock, &stop, &Pulse::default())
        .expect("this target never fails");
    target.arrived_ns
}

fn rate_error(arrived_ns: &[u64]) -> f64 {
    let wanted = RATE * SECONDS as f64;
    (arrived_ns.len() as f64 - wanted).abs() / wanted
}

/// Maximum distance between the distribution of gaps and the exponential one of mean `1 / RATE`.
fn ks_exponential(arrived_ns: &[u64]) -> f64 {
    let mut gaps: Vec<f64> =
        arrived_ns.windows(2).map(|pair| (pair[1] - pair[0]) as f64 / 1e9).collect();
    gaps.sort_by(f64::total_cmp);
    let count = gaps.len() as f64;
    gaps.iter().enumerate().fold(0.0, |largest: f64, (index, gap)| {
        let declared = 1.0 - (-gap * RATE).exp();
        let below = (declared - index as f64 / count).abs();
        let above = ((index + 1) as f64 / count - declared).abs();
        largest.max(below).max(above)
    })
}

#[expect(clippy::print_stdout, reason = "a program for the terminal")]
fn main() {
    engine::processor::wake_exactly().expect("a thread may ask for exact timers");
    let constant = Arrival::Constant { offered_rate: RATE };
    let arrived_ns = issue(Open::new(ConstantInstants::new(RATE, 0, 1)), constant);
    println!("rate_error_constant {:.6} 0.001", rate_error(&arrived_ns));
    let spacing_ns = 1e9 / RATE;
    let mut late_us: Vec<f64> = arrived_ns
        .iter()
        .enumerate()
        .map(|(index, at)| (*at as f64 - index as f64 * spacing_ns).abs() / 1e3)
        .collect();
    late_us.sort_by(f64::total_cmp);
    println!("off_grid_median_us {:.3} {:.3}", late_us[late_us.len() / 2], spacing_ns / 1e5);

    let poisson = Arrival::Poisson { offered_rate: RATE };
    let arrived_ns = issue(Open::new(PoissonInstants::new(7, RATE, 0, 1)), poisson);
    // A Poisson count of 100,000 has a standard deviation of 316, 0.3 %, so the rate of the
    // schedule's own instants before the end is compared with the limit of 0.1 %.
    let mut instants = PoissonInstants::new(7, RATE, 0, 1);
    let mut scheduled_ns = Vec::with_capacity(arrived_ns.len());
    while engine::schedule::Instants::peek_ns(&instants) < SECONDS * 1_000_000_000 {
        scheduled_ns.push(engine::schedule::Instants::peek_ns(&instants));
        engine::schedule::Instants::skip(&mut instants, 1);
    }
    let declared = scheduled_ns.len();
    let error = (arrived_ns.len() as f64 - declared as f64).abs() / declared as f64;
    println!("rate_error_poisson {error:.6} 0.001");
    let limit = 1.628 / (arrived_ns.len() as f64 - 1.0).sqrt();
    println!("ks_poisson_schedule {:.6} {limit:.6}", ks_exponential(&scheduled_ns));
    println!("ks_poisson_issued {:.6} {limit:.6}", ks_exponential(&arrived_ns));
}
