//! `cargo xtask mutants`: the share of mutants that the tests of their crate catch. A mutant is the
//! code with one small change, such as `<=` for `<` or a function that returns 0.
//!
//! Purpose: find tests that prove nothing. The areas below have some 11,000 mutants, and each needs
//! a compilation and a test run; so only a sample is tested, evenly spread over each area, and the
//! same one for the same size. `cargo mutants` makes and tests them, in a clone of the commit in
//! the target folder.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::bench::folder::Folder;
use crate::bench::machine::Machine;
use crate::check::target_directory;
use crate::tools;

/// The smallest share of mutants that must be caught.
const CAUGHT_MIN: f64 = 0.95;
/// Default sample per area.
const SAMPLE: usize = 30;
/// A mutant whose tests take longer than this many times the unchanged code's counts as caught.
const TIMEOUT_MULTIPLIER: &str = "4";

/// A part of the code, and the tests that must catch its mutants.
struct Area {
    name: &'static str,
    files: &'static [&'static str],
    /// Arguments of `cargo test`; if empty, all tests of the crate.
    tests: &'static [&'static str],
}

const AREAS: &[Area] = &[
    Area { name: "analysis", files: &["crates/analysis/src/**"], tests: &[] },
    Area { name: "predict", files: &["crates/predict/src/**"], tests: &[] },
    Area { name: "sizing", files: &["crates/sizing/src/**"], tests: &[] },
    Area { name: "nfs3", files: &["crates/nfs3/src/**"], tests: &[] },
    Area {
        name: "target-nfs",
        files: &["crates/target/src/nfs/**"],
        tests: &["--lib", "--test", "nfs"],
    },
    Area {
        name: "volume-limits",
        files: &["crates/volume/src/gcra.rs", "crates/volume/src/qos*", "crates/volume/src/qos/**"],
        tests: &[
            "--lib",
            "--test",
            "limits",
            "--test",
            "gcra",
            "--test",
            "fairness",
            "--test",
            "open_load",
        ],
    },
];

/// What to test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    sample: usize,
    /// Names of areas; if empty, all.
    areas: Vec<String>,
}

impl Options {
    /// Reads `[--sample N] [AREA...]`.
    ///
    /// # Errors
    /// A flag or an area that is not known, in words.
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options { sample: SAMPLE, areas: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--sample" => {
                    let count = words.next().and_then(|count| count.parse().ok());
                    options.sample =
                        count.filter(|count| *count > 0).ok_or("--sample needs a number from 1")?;
                }
                name if AREAS.iter().any(|area| area.name == name) => {
                    options.areas.push(name.to_owned());
                }
                other => {
                    let names: Vec<&str> = AREAS.iter().map(|area| area.name).collect();
                    return Err(format!("no area `{other}`; there are {}", names.join(", ")));
                }
            }
        }
        Ok(options)
    }
}

/// The result for one area. Mutants that do not compile are in none of its counts but `all`.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    area: &'static str,
    /// Mutants of the area, whether tested or not.
    all: usize,
    /// Tests failed, or did not end in time.
    caught: usize,
    /// Descriptions of those whose tests passed.
    missed: Vec<String>,
}

impl Outcome {
    fn tested(&self) -> usize {
        self.caught + self.missed.len()
    }

    fn row(&self) -> String {
        let Outcome { area, all, caught, .. } = self;
        let tested = self.tested();
        let percent = 100.0 * *caught as f64 / tested.max(1) as f64;
        format!("| {area} | {all} | {tested} | {caught} | {percent:.1} % |")
    }
}

/// Tests a sample of mutants and writes the record.
///
/// # Errors
/// `cargo mutants` cannot run, or too few mutants are caught.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let program = tools::installed(root, "cargo-mutants", "27.1.0")?;
    let folder = target_directory()?.join("mutants");
    let tree = folder.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).context("remove the last clone")?;
    }
    fs::create_dir_all(&folder)?;
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--shared"])
        .arg(root)
        .arg(&tree)
        .status()
        .context("start git")?;
    if !cloned.success() {
        bail!("the commit could not be cloned to {}", tree.display());
    }
    let mut outcomes = Vec::new();
    for area in AREAS {
        if options.areas.is_empty() || options.areas.iter().any(|name| name == area.name) {
            let outcome = test_area(&program, &folder, &tree, area, options.sample)
                .with_context(|| format!("test mutants of {}", area.name))?;
            writeln!(std::io::stderr(), "{}", outcome.row())?;
            outcomes.push(outcome);
        }
    }
    let record = Folder::make(root, &Machine::read()?, Some("mutants"))?;
    record.write("README.md", &page(&record, options, &outcomes))?;
    writeln!(std::io::stdout(), "record: {}", record.path.display())?;
    let caught: usize = outcomes.iter().map(|outcome| outcome.caught).sum();
    let tested: usize = outcomes.iter().map(Outcome::tested).sum();
    if (caught as f64) < CAUGHT_MIN * tested as f64 {
        bail!(
            "the tests caught {caught} of {tested} mutants, less than {:.0} %",
            100.0 * CAUGHT_MIN
        );
    }
    Ok(())
}

/// Tests a sample of the mutants of one area in `tree`; keeps build and results below `folder`.
fn test_area(
    program: &Path,
    folder: &Path,
    tree: &Path,
    area: &Area,
    sample: usize,
) -> Result<Outcome> {
    let command = || {
        let mut command = Command::new(program);
        command.arg("mutants").args(["--workspace", "--no-config", "--colors", "never"]);
        area.files.iter().for_each(|files| {
            command.args(["--file", files]);
        });
        command.current_dir(tree).env("CARGO_TARGET_DIR", folder.join("target"));
        // Debug information would only lengthen each build.
        command.env("CARGO_PROFILE_DEV_DEBUG", "none");
        command
    };
    let listed = command().arg("--list").output().context("list mutants")?;
    let count = String::from_utf8_lossy(&listed.stdout).lines().count();
    if count == 0 {
        bail!("no mutants: {}", String::from_utf8_lossy(&listed.stderr));
    }
    let shards = (count / sample).max(1);
    let output = folder.join(area.name);
    fs::create_dir_all(&output)?;
    let mut command = command();
    command
        .args(["--in-place", "--sharding", "round-robin", "--shard", &format!("0/{shards}")])
        .args(["--timeout-multiplier", TIMEOUT_MULTIPLIER, "--output"])
        .arg(&output)
        .arg("--")
        .args(area.tests);
    // Exit code 2: mutants were missed; 3: tests timed out.
    let status = command.status().context("start cargo mutants")?;
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants ended with {status}");
    }
    let names = |file: &str| -> Result<Vec<String>> {
        let path = output.join("mutants.out").join(file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    Ok(Outcome {
        area: area.name,
        all: count,
        caught: names("caught.txt")?.len() + names("timeout.txt")?.len(),
        missed: names("missed.txt")?,
    })
}

fn page(record: &Folder, options: &Options, outcomes: &[Outcome]) -> String {
    let areas = options.areas.iter().map(|name| format!(" {name}")).collect::<String>();
    let mut page = format!(
        "# Mutants caught by tests, {}\n\n{}\n\
         Command: `cargo xtask mutants --sample {}{areas}`\n\n\
         | area | mutants | tested | caught | share |\n| --- | --: | --: | --: | --: |\n",
        record.date, record.measured, options.sample
    );
    for outcome in outcomes {
        let _ = writeln!(page, "{}", outcome.row());
    }
    for Outcome { area, missed, .. } in outcomes.iter().filter(|one| !one.missed.is_empty()) {
        let _ = writeln!(page, "\nMissed in {area}:\n");
        for missed in missed {
            let _ = writeln!(page, "- `{missed}`");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_parsed_and_unknown_areas_are_refused() {
        let read = Options::parse(&["--sample", "5", "nfs3"]);
        assert_eq!(read, Ok(Options { sample: 5, areas: vec!["nfs3".to_owned()] }));
        assert!(Options::parse(&["--sample", "0"]).is_err());
        assert!(
            Options::parse(&["engine"]).is_err_and(|message| message.contains("volume-limits"))
        );
    }

    #[test]
    fn a_row_has_the_share_of_tested_mutants() {
        let outcome = Outcome { area: "x", all: 9, caught: 2, missed: vec![String::new()] };
        assert_eq!(outcome.row(), "| x | 9 | 3 | 2 | 66.7 % |");
    }

    #[test]
    fn every_area_has_files() {
        let root = crate::root();
        for files in AREAS.iter().flat_map(|area| area.files) {
            let path = files.trim_end_matches("/**").trim_end_matches('*');
            let exists = root.join(path).exists() || root.join(format!("{path}.rs")).exists();
            assert!(exists, "{files}");
        }
    }
}
