//! `cargo xtask bench waits`: run time and peak memory of commands that compute and do not measure,
//! and the time until a run starts, with a limit for each.
//!
//! No other tool does the same, so there is no ratio. Each command runs three times, and the median
//! wall-clock time is judged; on a busy machine it means little. All rounds are in
//! `bench/runs/DATE-MACHINE-waits/raw.csv`.

mod start;
mod writing;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use crate::machine::Machine;
use crate::product;
use crate::rusage::{self, Usage};

/// Rounds per command.
const ROUNDS: usize = 3;

/// Examples to build: package and name.
const EXAMPLES: [(&str, &str); 4] = [
    ("analysis", "compare_hour"),
    ("report", "ten_thousand"),
    ("rvtools", "estate"),
    ("sim", "scale"),
];

/// Which time counts.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// The run time of the process.
    Process,
    /// The time in the last line of its output, `… together 812 ms` or `3.1 s together`: the
    /// program first makes its input, which does not count.
    Printed,
    /// The time until the first run starts: the event `phase_started` with a run. Its threads are then
    /// started, and its first operation is sent 5 ms after they are ready.
    UntilRun,
}

/// A command and its limits.
#[derive(Clone, Copy, Debug)]
struct Wait {
    name: &'static str,
    /// Path in the folder of release builds.
    program: &'static str,
    arguments: &'static [&'static str],
    clock: Clock,
    seconds_max: f64,
    /// Limit of the peak memory; `None` if it is only shown.
    peak_bytes_max: Option<u64>,
}

const WAITS: [Wait; 12] = [
    Wait {
        name: "print the help",
        program: "fourcorners",
        arguments: &["--help"],
        clock: Clock::Process,
        seconds_max: 0.02,
        peak_bytes_max: None,
    },
    Wait {
        name: "start on the null target",
        program: "fourcorners",
        arguments: START_NULL,
        clock: Clock::UntilRun,
        seconds_max: 0.035,
        peak_bytes_max: None,
    },
    Wait {
        name: "start in a directory with its files",
        program: "fourcorners",
        arguments: START_DIRECTORY,
        clock: Clock::UntilRun,
        seconds_max: 0.145,
        peak_bytes_max: None,
    },
    // From start to end, so its first interval is on the screen earlier.
    Wait {
        name: "measure one interval of a directory",
        program: "fourcorners",
        arguments: ONE_INTERVAL,
        clock: Clock::Process,
        seconds_max: 3.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "check 200 agents on this host",
        program: "fourcorners",
        arguments: &["check", "--hosts", "local:200"],
        clock: Clock::Process,
        seconds_max: 10.0,
        peak_bytes_max: Some(1 << 30),
    },
    Wait {
        name: "check this host",
        program: "fourcorners",
        arguments: &["check"],
        clock: Clock::Process,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "compare two runs of an hour",
        program: "examples/compare_hour",
        arguments: &["1"],
        clock: Clock::Printed,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "compare two runs of an hour, four streams",
        program: "examples/compare_hour",
        arguments: &["4"],
        clock: Clock::Printed,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "analysis and report of 10,000 load points",
        program: "examples/ten_thousand",
        arguments: &[],
        clock: Clock::Printed,
        seconds_max: 5.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "size",
        program: "fourcorners",
        arguments: &["size", "--throughput", "950MiB/s", "--capacity", "4TiB"],
        clock: Clock::Process,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "avs, 2,000 virtual machines",
        program: "fourcorners",
        arguments: &["avs", "--rvtools", ESTATE],
        clock: Clock::Process,
        seconds_max: 2.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "simulate 1,000 hosts x 10 volumes x 16 flows",
        program: "examples/scale",
        arguments: &[],
        clock: Clock::Process,
        seconds_max: 10.0,
        peak_bytes_max: Some(1 << 30),
    },
];

/// The quick profile's files, with one load point of an interval after one of warm-up.
const ONE_INTERVAL: &[&str] =
    &["run", "files", "-w", "interval.toml", "--create", "--no-report", "--store", "store"];
const START_NULL: &[&str] = &[
    "run",
    "null:",
    "-w",
    "interval.toml",
    "--no-report",
    "--store",
    "store",
    "--events",
    "jsonl",
];
const START_DIRECTORY: &[&str] = &[
    "run",
    "files",
    "-w",
    "interval.toml",
    "--no-report",
    "--store",
    "store",
    "--events",
    "jsonl",
];
const ONE_INTERVAL_TOML: &str = "\
name = \"interval\"
[run]
warm_up = \"250ms\"
measure = \"250ms\"
interval = \"250ms\"
[stream.corner]
read = \"100%\"
transfer_size = \"8KiB\"
pattern = \"random\"
files = 4
file_size = \"128MiB\"
queue_depth = 4
";

/// An RVTools export, in the working directory of all commands.
const ESTATE: &str = "estate.xlsx";

/// Measures the selected commands and writes the dated folder.
pub(crate) fn run(root: &Path, only: &[&str]) -> Result<()> {
    let is_selected =
        |wait: &&Wait| only.is_empty() || only.iter().any(|part| wait.name.contains(part));
    let waits: Vec<&Wait> = WAITS.iter().filter(is_selected).collect();
    let names: Vec<&str> = WAITS.iter().map(|wait| wait.name).collect();
    ensure!(!waits.is_empty(), "no command has this name; there are: {}", names.join("; "));
    product::build(root)?;
    for (package, example) in EXAMPLES {
        product::build_example(root, package, example)?;
    }
    let built = product::release_folder()?;
    let scratch = root.join("target/bench/waits");
    std::fs::create_dir_all(&scratch)?;
    run_once(&built, &scratch, "examples/estate", &["2000", ESTATE])?;
    std::fs::write(scratch.join("interval.toml"), ONE_INTERVAL_TOML)?;
    // Fills the files.
    run_once(&built, &scratch, "fourcorners", ONE_INTERVAL)?;
    let mut out = std::io::stdout();
    let machine = Machine::read()?;
    writeln!(out, "{}", machine.describe())?;
    let mut all = Vec::new();
    for wait in waits {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let usage = run_once(&built, &scratch, wait.program, wait.arguments)?;
            let seconds = match wait.clock {
                Clock::Process => usage.seconds,
                Clock::Printed => printed_seconds(&usage.stdout)
                    .with_context(|| format!("read `{}`", usage.stdout))?,
                Clock::UntilRun => {
                    start::seconds_until_run(&built.join(wait.program), wait.arguments, &scratch)?
                }
            };
            rounds.push(Round { seconds, peak_bytes: usage.peak_bytes });
        }
        let result = WaitResult::of(wait, rounds);
        writeln!(out, "{}", result.line())?;
        all.push(result);
    }
    let folder = writing::write(root, &machine, only, &all)?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed: Vec<&str> = all.iter().filter(|one| !one.passes()).map(|one| one.name).collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// Runs a program to its end.
fn run_once(built: &Path, folder: &Path, program: &str, arguments: &[&str]) -> Result<Usage> {
    let usage = rusage::measure(&built.join(program), arguments, folder)?;
    // Exit code 1 is a negative verdict, such as a badly configured host.
    let done = matches!(usage.code, Some(0 | 1));
    ensure!(done, "{program} ended with {:?}: {}", usage.code, usage.stderr);
    Ok(usage)
}

/// One run of a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) seconds: f64,
    /// Peak resident memory, including the input.
    pub(crate) peak_bytes: u64,
}

/// The rounds of a command, summarised.
#[derive(Clone, Debug)]
pub(crate) struct WaitResult {
    pub(crate) name: &'static str,
    pub(crate) seconds_max: f64,
    pub(crate) peak_bytes_max: Option<u64>,
    /// In the order in which they ran.
    pub(crate) rounds: Vec<Round>,
    /// Minimum, median and maximum.
    pub(crate) seconds: [f64; 3],
    /// Maximum of all rounds.
    pub(crate) peak_bytes: u64,
}

impl WaitResult {
    fn of(wait: &Wait, rounds: Vec<Round>) -> WaitResult {
        let mut seconds: Vec<f64> = rounds.iter().map(|round| round.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        WaitResult {
            name: wait.name,
            seconds_max: wait.seconds_max,
            peak_bytes_max: wait.peak_bytes_max,
            seconds: [seconds[0], seconds[seconds.len() / 2], seconds[seconds.len() - 1]],
            peak_bytes: rounds.iter().map(|round| round.peak_bytes).max().unwrap_or(0),
            rounds,
        }
    }

    /// Whether the median time and the peak memory are within their limits.
    pub(crate) fn passes(&self) -> bool {
        let fits = self.peak_bytes_max.is_none_or(|most| self.peak_bytes <= most);
        self.seconds[1] <= self.seconds_max && fits
    }

    pub(crate) fn verdict(&self) -> &'static str {
        if self.passes() { "met" } else { "MISSED" }
    }

    /// One line for the terminal.
    pub(crate) fn line(&self) -> String {
        let [min, median, max] = self.seconds;
        let memory = mib(self.peak_bytes);
        let bound = self
            .peak_bytes_max
            .map_or_else(String::new, |limit| format!(" and <= {:.0} MiB", mib(limit)));
        format!(
            "{:46} {median:7.3} s ({min:.3} to {max:.3}) {memory:6.0} MiB  required <= {} \
             s{bound}: {}",
            self.name,
            self.seconds_max,
            self.verdict()
        )
    }
}

pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The time in the last line of a program's output; see [`Clock::Printed`].
fn printed_seconds(output: &str) -> Option<f64> {
    let line = output.lines().last()?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let [.., number, unit, "in", "total"] = words.as_slice() else { return None };
    let factor = if *unit == "ms" { 1e-3 } else { 1.0 };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_time_and_the_peak_memory_are_judged() {
        let result = |seconds: [f64; 3], peak_bytes| {
            let wait = Wait { seconds_max: 1.0, peak_bytes_max: Some(1000), ..WAITS[0] };
            let round = |seconds| Round { seconds, peak_bytes };
            WaitResult::of(&wait, seconds.map(round).to_vec())
        };
        let met = result([5.0, 0.5, 0.9], 1000);
        assert_eq!(met.seconds, [0.5, 0.9, 5.0]);
        assert!(met.passes() && met.line().ends_with(": met"), "{}", met.line());
        assert!(!result([5.0, 0.5, 1.1], 1000).passes());
        assert!(!result([0.5, 0.5, 0.5], 1001).passes());
    }

    #[test]
    fn the_time_is_read_from_the_last_line() {
        assert_eq!(printed_seconds("a\nload 3 ms, compare 2 ms, 812 ms in total\n"), Some(0.812));
        assert_eq!(printed_seconds("  1.00 s  text\n  3.25 s  in total\n"), Some(3.25));
        assert_eq!(printed_seconds("nothing"), None);
    }
}
