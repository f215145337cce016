//! How long analysis takes for 10,000 load points: a thousand curves of ten queue depths, each
//! load point six seconds of intervals with some hundred buckets. Wanted: with the report below
//! 5 s.
//!
//! `cargo run --release -p analysis --example ten_thousand`

#[path = "../tests/records/mod.rs"]
mod records;

use std::io::Write;
use std::time::Instant;

use metrics::histogram::{Counts, bucket_of};
use metrics::interval::{KindInterval, StreamInterval};
use metrics::run_record::RunRecord;
use records::{done, experiment, run, stream};
use workload::op::OpKind;
use workload::random;

const CURVES: u64 = 1000;
const DEPTHS: [u32; 10] = [1, 2, 4, 8, 12, 16, 32, 64, 128, 256];
const BUCKETS: u64 = 100;

fn second(rate: f64, mean_ns: f64, seed: u64) -> StreamInterval {
    let operations = (rate * (0.99 + 0.02 * random::unit(random::at(seed, 1)))) as u64;
    let each = (operations / BUCKETS).max(1);
    let times = (0..BUCKETS).map(|step| (mean_ns * (0.5 + step as f64 / BUCKETS as f64)) as u64);
    let times: Vec<u64> = times.collect();
    let counts = Counts {
        buckets: times.iter().map(|time_ns| (bucket_of(*time_ns), each)).collect(),
        over_range: 0,
        sum_ns: times.iter().map(|time_ns| u128::from(time_ns * each)).sum(),
        min_ns: times[0],
        max_ns: times[times.len() - 1],
    };
    let completed = each * BUCKETS;
    let mut interval = StreamInterval {
        issued: completed,
        outstanding_time_ns: counts.sum_ns,
        ..StreamInterval::default()
    };
    interval.kinds[OpKind::Read as usize] = KindInterval {
        completed,
        bytes: completed * 8192,
        service: counts.clone(),
        response: counts,
        ..KindInterval::default()
    };
    interval
}

fn load_point(curve: u64, queue_depth: u32) -> RunRecord {
    let seed = random::derive(curve, u64::from(queue_depth));
    let depth = f64::from(queue_depth);
    let (alone_s, most) = (0.5e-3 + 1e-6 * curve as f64, 20_000.0);
    // Between the straight lines of a delay and a limit.
    let rate = 1.0 / (alone_s / depth + 1.0 / most);
    let mut run = run("read", vec![stream("data", queue_depth)], 0, 6);
    run.parameters.push(("read".to_owned(), format!("{curve}")));
    let window = (0..6).map(|n| second(rate, depth / rate * 1e9, random::at(seed, n)));
    done(run, window.collect())
}

fn main() -> std::io::Result<()> {
    let points = (0..CURVES).flat_map(|curve| DEPTHS.map(|depth| load_point(curve, depth)));
    let mut record = experiment(points.collect());
    for (index, run) in record.runs.iter_mut().enumerate() {
        run.run.index = index as u32;
    }
    let began = Instant::now();
    let findings = analysis::analyze(&record);
    let took = began.elapsed();
    let fitted =
        findings.curves.iter().filter(|c| c.fits.as_ref().is_ok_and(|f| f.preferred.is_some()));
    writeln!(
        std::io::stdout(),
        "{} load points, {} curves, {} of them with a model that fits: {:.2} s",
        findings.load_points.len(),
        findings.curves.len(),
        fitted.count(),
        took.as_secs_f64()
    )
}
