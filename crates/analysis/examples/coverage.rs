//! Simulates how often 95 % intervals contain the truth and prints the numbers in `docs/method.md`:
//! `cargo run --release -p analysis --example coverage`.

#[path = "../src/draws.rs"]
mod draws;
#[path = "../src/simulated.rs"]
mod simulated;

use std::io::{self, Write};

// The simulations are also a module of the crate's tests and need these imports.
use analysis::{estimate, percentile, repeats, steady, times, warm_up};

use crate::simulated::{
    Level, autoregressive, false_alarms, of_mean, of_percentiles, of_repeats, queue,
};

/// Windows of which a mean is taken.
const WINDOWS: u32 = 20_000;
/// The standard deviation of stationary windows: large compared with any tolerated change.
const DEVIATION: f64 = 0.5;
/// Windows of which percentiles are taken.
const PERCENTILE_WINDOWS: u32 = 5_000;
/// Sequences of repeats for each ratio.
const SEQUENCES: u32 = 60_000;

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "Mean of intervals, {WINDOWS} windows each: contains the truth in")?;
    let series = [0.0, 0.0, 0.3, 0.6, 0.8, 0.9].into_iter().zip([10, 60, 30, 60, 120, 300]);
    for (r, n) in series {
        let covered = of_mean(7, WINDOWS, n, 0.0, autoregressive(r));
        writeln!(out, "  correlation of neighbours {r:.1}, {n:3} intervals: {covered:.1} %")?;
    }
    let covered = of_mean(11, WINDOWS, 120, 1.0, queue());
    writeln!(out, "  M/M/1, utilization 1/2, 120 intervals: {covered:.1} %")?;

    writeln!(out, "Stationary windows, {WINDOWS} each: called unsteady, by drift or rounds")?;
    for n in [20, 60, 120, 300] {
        for r in [0.0, 0.3, 0.6, 0.8, 0.9] {
            let found = false_alarms(3, WINDOWS, n, r, DEVIATION);
            writeln!(
                out,
                "  {n:3} intervals, correlation {r:.1}: {:.1} % (drift {:.1} %, rounds {:.1} %); \
                 warm-up called too short {:.1} %",
                found.either, found.drift, found.rounds, found.warm_up
            )?;
        }
    }

    writeln!(
        out,
        "Percentiles, {PERCENTILE_WINDOWS} windows each: contain the truth in (given in)"
    )?;
    for (level, words) in
        [(Level::Same, "independent operations"), (Level::EachItsOwn, "slow or fast intervals")]
    {
        let found = of_percentiles(11, PERCENTILE_WINDOWS, level);
        for (name, (covered, given)) in ["p50", "p90", "p99"].into_iter().zip(found) {
            writeln!(out, "  {words}, {name}: {covered:.1} % ({given:.1} %)")?;
        }
    }

    writeln!(out, "Repeats until narrow, {SEQUENCES} sequences each: the truth lies in")?;
    for looks in [1, repeats::LOOKS] {
        let mut least = [100.0f64; 2];
        for quarters in 1..=16u32 {
            let ratio = f64::from(quarters) / 4.0;
            let required = 0.02;
            let (printed, within) =
                of_repeats(u64::from(quarters), SEQUENCES, ratio * required, required, looks);
            least = [least[0].min(printed), least[1].min(within)];
            writeln!(
                out,
                "  looks {looks}, differences {ratio:.2} of the required width: printed interval \
                 {printed:.1} %, required width {within:.1} %"
            )?;
        }
        writeln!(out, "  looks {looks}, least of all: {:.1} %, {:.1} %", least[0], least[1])?;
    }
    Ok(())
}
