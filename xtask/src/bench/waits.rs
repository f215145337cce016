//! What a user waits for: commands that think and do not measure, against the time that each may
//! take.
//!
//! No other tool does the same, so there is no peer and no ratio: the time on the clock of three
//! rounds is shown, and the middle one counts. On a machine that does other things too they say
//! little. Nothing is written but what is printed.

use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};

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
enum Clock {
    /// From its start to its end.
    OfTheProcess,
    /// What it says itself in its last line, `… together 812 ms` or `3.1 s together`: it makes what
    /// it works on first.
    ItsOwn,
}

struct Wait {
    name: &'static str,
    /// In the folder of the release build.
    program: &'static str,
    arguments: &'static [&'static str],
    clock: Clock,
    seconds_max: f64,
}

const WAITS: [Wait; 7] = [
    Wait {
        name: "check this host",
        program: "fourcorners",
        arguments: &["check"],
        clock: Clock::OfTheProcess,
        seconds_max: 1.0,
    },
    Wait {
        name: "compare two runs of an hour",
        program: "examples/compare_hour",
        arguments: &["1"],
        clock: Clock::ItsOwn,
        seconds_max: 1.0,
    },
    Wait {
        name: "compare two runs of an hour, four streams",
        program: "examples/compare_hour",
        arguments: &["4"],
        clock: Clock::ItsOwn,
        seconds_max: 1.0,
    },
    Wait {
        name: "analysis and report of 10,000 load points",
        program: "examples/ten_thousand",
        arguments: &[],
        clock: Clock::ItsOwn,
        seconds_max: 5.0,
    },
    Wait {
        name: "size",
        program: "fourcorners",
        arguments: &["size", "--throughput", "950MiB/s", "--capacity", "4TiB"],
        clock: Clock::OfTheProcess,
        seconds_max: 1.0,
    },
    Wait {
        name: "avs, 2,000 virtual machines",
        program: "fourcorners",
        arguments: &["avs", "--rvtools", ESTATE],
        clock: Clock::OfTheProcess,
        seconds_max: 2.0,
    },
    Wait {
        name: "simulate 1,000 hosts x 10 volumes x 16 flows",
        program: "examples/scale",
        arguments: &[],
        clock: Clock::OfTheProcess,
        seconds_max: 10.0,
    },
];

/// In the folder in which everything is started.
const ESTATE: &str = "estate.xlsx";

/// Measures each and says which took too long.
pub(crate) fn run(root: &Path, only: &[&str]) -> Result<()> {
    ours::build(root)?;
    for (package, example) in EXAMPLES {
        ours::cargo(root, &["build", "--release", "--package", package, "--example", example])?;
    }
    let built = root.join("target/release");
    let scratch = root.join("target/bench/waits");
    std::fs::create_dir_all(&scratch)?;
    take(&built, &scratch, "examples/estate", &["2000", ESTATE])?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", Machine::read()?.describe())?;
    let mut missed = Vec::new();
    let wanted = |wait: &&Wait| only.is_empty() || only.iter().any(|part| wait.name.contains(part));
    for wait in WAITS.iter().filter(wanted) {
        let mut seconds = Vec::new();
        for _ in 0..ROUNDS {
            let (process, said) = take(&built, &scratch, wait.program, wait.arguments)?;
            seconds.push(match wait.clock {
                Clock::OfTheProcess => process,
                Clock::ItsOwn => together(&said).with_context(|| format!("read `{said}`"))?,
            });
        }
        seconds.sort_by(f64::total_cmp);
        let (least, middle, most) = (seconds[0], seconds[ROUNDS / 2], seconds[ROUNDS - 1]);
        let verdict = if middle <= wait.seconds_max { "holds" } else { "MISSED" };
        writeln!(
            out,
            "{:46} {middle:6.2} s ({least:.2} to {most:.2})  must be <= {} s: {verdict}",
            wait.name, wait.seconds_max
        )?;
        if middle > wait.seconds_max {
            missed.push(wait.name);
        }
    }
    if missed.is_empty() { Ok(()) } else { bail!("missed: {}", missed.join("; ")) }
}

/// Runs a program to its end: seconds on the clock, and what it said.
fn take(built: &Path, folder: &Path, program: &str, words: &[&str]) -> Result<(f64, String)> {
    let begun = Instant::now();
    let ended = Command::new(built.join(program)).args(words).current_dir(folder).output()?;
    let seconds = begun.elapsed().as_secs_f64();
    // 1 is a verdict: a host that is not set well is checked all the same.
    let done = matches!(ended.status.code(), Some(0 | 1));
    let why = String::from_utf8_lossy(&ended.stderr);
    ensure!(done, "{program} ended with {}: {why}", ended.status);
    Ok((seconds, String::from_utf8_lossy(&ended.stdout).into_owned()))
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
    fn the_last_line_tells_the_time() {
        assert_eq!(together("a\nload 3 ms, compare 2 ms, together 812 ms\n"), Some(0.812));
        assert_eq!(together("  1.00 s  text\n  3.25 s  together\n"), Some(3.25));
        assert_eq!(together("nothing"), None);
    }
}
