//! What a user waits for: commands that think and do not measure, against the time that each may
//! take.
//!
//! No other tool does the same, so there is no peer and no ratio: the time on the clock of three
//! rounds is shown, and the middle one counts. On a machine that does other things too they say
//! little. The most memory that a program had is beside it. Every round is kept in
//! `bench/runs/DATE-MACHINE-waits/raw.csv`.

mod writing;

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::alone::{self, Taken};
use super::machine::Machine;
use super::ours;

/// Rounds of each.
const ROUNDS: usize = 3;

/// Examples that are built beside the program: package and name.
const EXAMPLES: [(&str, &str); 4] = [
    ("analysis", "compare_hour"),
    ("report", "ten_thousand"),
    ("rvtools", "estate"),
    ("sim", "scale"),
];

/// How long it took.
#[derive(Clone, Copy, Debug)]
enum Clock {
    /// From its start to its end.
    OfTheProcess,
    /// What it says itself in its last line, `… together 812 ms` or `3.1 s together`: it makes what
    /// it works on first.
    ItsOwn,
}

#[derive(Clone, Copy, Debug)]
struct Wait {
    name: &'static str,
    /// In the folder of the release build.
    program: &'static str,
    arguments: &'static [&'static str],
    clock: Clock,
    seconds_max: f64,
    /// Of memory; nothing where it is only shown.
    peak_bytes_max: Option<u64>,
}

const WAITS: [Wait; 7] = [
    Wait {
        name: "check this host",
        program: "fourcorners",
        arguments: &["check"],
        clock: Clock::OfTheProcess,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "compare two runs of an hour",
        program: "examples/compare_hour",
        arguments: &["1"],
        clock: Clock::ItsOwn,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "compare two runs of an hour, four streams",
        program: "examples/compare_hour",
        arguments: &["4"],
        clock: Clock::ItsOwn,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "analysis and report of 10,000 load points",
        program: "examples/ten_thousand",
        arguments: &[],
        clock: Clock::ItsOwn,
        seconds_max: 5.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "size",
        program: "fourcorners",
        arguments: &["size", "--throughput", "950MiB/s", "--capacity", "4TiB"],
        clock: Clock::OfTheProcess,
        seconds_max: 1.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "avs, 2,000 virtual machines",
        program: "fourcorners",
        arguments: &["avs", "--rvtools", ESTATE],
        clock: Clock::OfTheProcess,
        seconds_max: 2.0,
        peak_bytes_max: None,
    },
    Wait {
        name: "simulate 1,000 hosts x 10 volumes x 16 flows",
        program: "examples/scale",
        arguments: &[],
        clock: Clock::OfTheProcess,
        seconds_max: 10.0,
        peak_bytes_max: Some(1 << 30),
    },
];

/// In the folder in which everything is started.
const ESTATE: &str = "estate.xlsx";

/// Measures each, says which took too long, and writes the dated folder.
pub(crate) fn run(root: &Path, only: &[&str]) -> Result<()> {
    let wanted = |wait: &&Wait| only.is_empty() || only.iter().any(|part| wait.name.contains(part));
    let waits: Vec<&Wait> = WAITS.iter().filter(wanted).collect();
    let names: Vec<&str> = WAITS.iter().map(|wait| wait.name).collect();
    ensure!(!waits.is_empty(), "nothing is called so; there are: {}", names.join("; "));
    ours::build(root)?;
    for (package, example) in EXAMPLES {
        ours::cargo(root, &["build", "--release", "--package", package, "--example", example])?;
    }
    let built = root.join("target/release");
    let scratch = root.join("target/bench/waits");
    std::fs::create_dir_all(&scratch)?;
    round(&built, &scratch, "examples/estate", &["2000", ESTATE])?;
    let mut out = std::io::stdout();
    let machine = Machine::read()?;
    writeln!(out, "{}", machine.describe())?;
    let mut all = Vec::new();
    for wait in waits {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let taken = round(&built, &scratch, wait.program, wait.arguments)?;
            let seconds = match wait.clock {
                Clock::OfTheProcess => taken.seconds,
                Clock::ItsOwn => {
                    together(&taken.stdout).with_context(|| format!("read `{}`", taken.stdout))?
                }
            };
            rounds.push(Round { seconds, peak_bytes: taken.peak_bytes });
        }
        let waited = Waited::of(wait, rounds);
        writeln!(out, "{}", waited.line())?;
        all.push(waited);
    }
    let folder = writing::write(root, &machine, only, &all)?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    let missed: Vec<&str> = all.iter().filter(|one| !one.holds()).map(|one| one.name).collect();
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// Runs a program to its end.
fn round(built: &Path, folder: &Path, program: &str, words: &[&str]) -> Result<Taken> {
    let taken = alone::take(&built.join(program), words, folder)?;
    // 1 is a verdict: a host that is not set well is checked all the same.
    let done = matches!(taken.code, Some(0 | 1));
    ensure!(done, "{program} ended with {:?}: {}", taken.code, taken.stderr);
    Ok(taken)
}

/// One time through.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    pub(crate) seconds: f64,
    /// The most resident memory, what it works on included.
    pub(crate) peak_bytes: u64,
}

/// What came out of all rounds.
#[derive(Clone, Debug)]
pub(crate) struct Waited {
    pub(crate) name: &'static str,
    pub(crate) seconds_max: f64,
    pub(crate) peak_bytes_max: Option<u64>,
    /// As they were taken.
    pub(crate) rounds: Vec<Round>,
    /// Least, middle and most.
    pub(crate) seconds: [f64; 3],
    /// The most of any round.
    pub(crate) peak_bytes: u64,
}

impl Waited {
    fn of(wait: &Wait, rounds: Vec<Round>) -> Waited {
        let mut seconds: Vec<f64> = rounds.iter().map(|round| round.seconds).collect();
        seconds.sort_by(f64::total_cmp);
        Waited {
            name: wait.name,
            seconds_max: wait.seconds_max,
            peak_bytes_max: wait.peak_bytes_max,
            seconds: [seconds[0], seconds[seconds.len() / 2], seconds[seconds.len() - 1]],
            peak_bytes: rounds.iter().map(|round| round.peak_bytes).max().unwrap_or(0),
            rounds,
        }
    }

    /// Whether the middle round was fast enough, and no round took too much memory.
    pub(crate) fn holds(&self) -> bool {
        let fits = self.peak_bytes_max.is_none_or(|most| self.peak_bytes <= most);
        self.seconds[1] <= self.seconds_max && fits
    }

    pub(crate) fn verdict(&self) -> &'static str {
        if self.holds() { "holds" } else { "MISSED" }
    }

    /// In a terminal.
    pub(crate) fn line(&self) -> String {
        let [least, middle, most] = self.seconds;
        let memory = mib(self.peak_bytes);
        let bound = self
            .peak_bytes_max
            .map_or_else(String::new, |most| format!(" and <= {:.0} MiB", mib(most)));
        format!(
            "{:46} {middle:6.2} s ({least:.2} to {most:.2}) {memory:6.0} MiB  must be <= {} \
             s{bound}: {}",
            self.name,
            self.seconds_max,
            self.verdict()
        )
    }
}

/// In MiB.
pub(crate) fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// The seconds of the last line.
fn together(said: &str) -> Option<f64> {
    let line = said.lines().last()?;
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let place = words.iter().position(|word| *word == "together")?;
    let (number, unit) = match words.get(place + 1..place + 3) {
        Some([number, unit]) => (number, unit),
        _ => (words.get(place.checked_sub(2)?)?, words.get(place - 1)?),
    };
    let factor = if *unit == "ms" { 1e-3 } else { 1.0 };
    Some(number.parse::<f64>().ok()? * factor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_round_is_judged_and_the_most_memory_of_any() {
        let waited = |seconds: [f64; 3], peak_bytes| {
            let wait = Wait { peak_bytes_max: Some(1000), ..WAITS[0] };
            let round = |seconds| Round { seconds, peak_bytes };
            Waited::of(&wait, seconds.map(round).to_vec())
        };
        let held = waited([5.0, 0.5, 0.9], 1000);
        assert_eq!(held.seconds, [0.5, 0.9, 5.0]);
        assert!(held.holds() && held.line().ends_with("holds"), "{}", held.line());
        assert!(!waited([5.0, 0.5, 1.1], 1000).holds());
        assert!(!waited([0.5, 0.5, 0.5], 1001).holds());
    }

    #[test]
    fn the_last_line_tells_the_time() {
        assert_eq!(together("a\nload 3 ms, compare 2 ms, together 812 ms\n"), Some(0.812));
        assert_eq!(together("  1.00 s  text\n  3.25 s  together\n"), Some(3.25));
        assert_eq!(together("nothing"), None);
    }
}
