//! Grades verdicts on simulated systems with known limits: `cargo run --release -p sim --example
//! judgement -- [train|examine] [TIMES] [CLASS]`.
//!
//! `train` uses the seeds with which constants were found, `examine` others. TIMES is the number of
//! systems divided by 400. With the number of a class only its systems are drawn, and all its
//! verdicts are printed.

use std::io::Write;
use std::process::ExitCode;

use sim::examination::{Class, EXAMINED, Grade, Tally, examine};

/// Maximum share of confident and wrong verdicts.
const WRONG_MAX: f64 = 0.01;
/// Minimum share of right verdicts.
const RIGHT_MIN: f64 = 0.85;
/// Maximum difference between stated probability and share of right statements.
const CALIBRATION_MAX: f64 = 0.05;
/// A class with fewer statements is not used to judge calibration.
const STATEMENTS_MIN: usize = 20;

fn main() -> std::io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let first = match words.first().map(String::as_str) {
        Some("examine") => EXAMINED,
        _ => 0,
    };
    let times: u64 = words.get(1).and_then(|word| word.parse().ok()).unwrap_or(1);
    let only: Option<u64> = words.get(2).and_then(|word| word.parse().ok());
    let jobs: Vec<(Class, u64)> = Class::ALL
        .into_iter()
        .filter(|(class, _)| only.is_none_or(|only| class.number() == only))
        .flat_map(|(class, count)| (0..count * times).map(move |n| (class, first + n)))
        .collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let parts: Vec<Vec<_>> = std::thread::scope(|scope| {
        let one = |part: usize| {
            let mine = jobs.iter().skip(part).step_by(threads);
            mine.map(|(class, seed)| (*seed, examine(*class, *seed))).collect()
        };
        let handles: Vec<_> = (0..threads).map(|part| scope.spawn(move || one(part))).collect();
        handles.into_iter().map(|handle| handle.join().expect("no thread panics")).collect()
    });
    let mut out = std::io::stdout().lock();
    let mut tally = Tally::default();
    for (seed, graded) in parts.into_iter().flatten() {
        for one in &graded {
            if only.is_some() || one.grade == Grade::Wrong {
                writeln!(
                    out,
                    "{} {seed}: {:?}: {:?}, in {} runs, {:?}",
                    one.class.name(),
                    one.truth,
                    one.answer,
                    one.runs,
                    one.listed
                )?;
            }
        }
        tally.add(graded);
    }
    let (right, open, wrong) = tally.counts();
    let all = (right + open + wrong).max(1) as f64;
    writeln!(out, "\n{}", tally.text())?;
    writeln!(
        out,
        "right {:.1} %, not enough data {:.1} %, wrong {:.1} %; stated with at least 90 % and wrong \
         {:.2} %; calibration off by at most {:.3}",
        100.0 * right as f64 / all,
        100.0 * open as f64 / all,
        100.0 * wrong as f64 / all,
        100.0 * tally.confident_and_wrong() as f64 / all,
        tally.worst_calibration(STATEMENTS_MIN),
    )?;
    // For `cargo xtask bench judgement`: right, not enough data, wrong, confident and wrong.
    writeln!(out, "counts {right} {open} {wrong} {}", tally.confident_and_wrong())?;
    let passes = tally.confident_and_wrong() as f64 <= WRONG_MAX * all
        && right as f64 >= RIGHT_MIN * all
        && tally.worst_calibration(STATEMENTS_MIN) <= CALIBRATION_MAX;
    Ok(if passes { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
