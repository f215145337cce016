//! `cargo xtask mutants`: the share of mutants that the tests of their crate catch. A mutant is the
//! code with one small change, such as `<=` for `<` or a function that returns 0.
//!
//! The purpose is to find tests that prove nothing. The areas below have some 11,000 mutants, and
//! each takes a compilation and a test run. So only a sample is tested, spread evenly over each
//! area, and always the same for the same size. `cargo mutants` makes and tests the mutants in a
//! clone of the commit in the target folder.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::folder::Folder;
use crate::machine::Machine;
use crate::target_directory;

/// The smallest share of mutants that must be caught.
const CAUGHT_MIN: f64 = 0.95;
/// Default sample per area.
const SAMPLE: usize = 30;
/// A mutant counts as caught if its tests take this many times as long as those of the original.
const TIMEOUT_MULTIPLIER: &str = "4";

/// Seconds that the tests of dependent crates may take.
const TIMEOUT_S: u32 = 900;

/// A part of the code, and the tests that must catch its mutants.
struct Area {
    name: &'static str,
    files: &'static [&'static str],
    /// Arguments of `cargo test`; if empty, all tests of the crate.
    tests: &'static [&'static str],
    /// What tests those mutants that the tests of the crate itself do not catch.
    dependents: Option<Dependents>,
}

/// Crates whose tests run the code of an area, and the arguments of `cargo test` with them.
struct Dependents {
    packages: &'static [&'static str],
    tests: &'static [&'static str],
}

const AREAS: &[Area] = &[
    Area {
        name: "analysis",
        files: &["crates/analysis/src/**"],
        tests: &[],
        dependents: Some(Dependents { packages: &["report", "sim"], tests: &[] }),
    },
    Area {
        name: "predict",
        files: &["crates/predict/src/**"],
        tests: &[],
        dependents: Some(Dependents { packages: &["report", "cli"], tests: &[] }),
    },
    Area {
        name: "sizing",
        files: &["crates/sizing/src/**"],
        tests: &[],
        dependents: Some(Dependents {
            packages: &["cli"],
            tests: &["--test", "program", "--", "size", "avs"],
        }),
    },
    Area { name: "nfs3", files: &["crates/nfs3/src/**"], tests: &[], dependents: None },
    Area {
        name: "target-nfs",
        files: &["crates/target/src/nfs/**"],
        tests: &["--lib", "--test", "nfs"],
        // Folders on an export, and the volume service as the server.
        dependents: Some(Dependents { packages: &["target"], tests: &["--test", "export"] }),
    },
    Area {
        name: "volume-limits",
        files: &["crates/volume/src/gcra.rs", "crates/volume/src/qos*", "crates/volume/src/qos/**"],
        tests: &["--lib", "--test", "core"],
        dependents: None,
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
    /// A message about an unknown flag or area.
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

/// The result for one area. Mutants that do not compile count only in `all`.
#[derive(Debug, PartialEq, Eq)]
struct Outcome {
    area: &'static str,
    /// Mutants of the area, tested or not.
    all: usize,
    /// Mutants whose tests failed or timed out.
    caught: usize,
    /// Mutants among `caught` whose tests timed out, in an endless loop or on a busy machine.
    timed_out: usize,
    /// Descriptions of mutants whose tests passed.
    missed: Vec<String>,
}

impl Outcome {
    fn tested(&self) -> usize {
        self.caught + self.missed.len()
    }

    fn row(&self) -> String {
        let Outcome { area, all, caught, timed_out, .. } = self;
        let tested = self.tested();
        let percent = 100.0 * *caught as f64 / tested.max(1) as f64;
        format!("| {area} | {all} | {tested} | {caught} | {timed_out} | {percent:.1} % |")
    }
}

/// Tests a sample of mutants with `program`, which is `cargo mutants`, and writes the record.
///
/// # Errors
/// `cargo mutants` cannot run, or too few mutants are caught.
pub(crate) fn run(root: &Path, program: &Path, options: &Options) -> Result<()> {
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
            let session = Session { program, folder: &folder, tree: &tree, area };
            let outcome = test_area(&session, options.sample)
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

/// Runs `cargo mutants` on one area and reads its results.
struct Session<'a> {
    program: &'a Path,
    /// Keeps build and results.
    folder: &'a Path,
    /// The clone whose files are changed.
    tree: &'a Path,
    area: &'a Area,
}

/// Names of tested mutants, as `cargo mutants --list` prints them.
struct Results {
    caught: Vec<String>,
    timed_out: Vec<String>,
    missed: Vec<String>,
}

impl Session<'_> {
    fn command(&self) -> Command {
        let mut command = Command::new(self.program);
        command.arg("mutants").args(["--workspace", "--no-config", "--colors", "never"]);
        for files in self.area.files {
            command.args(["--file", files]);
        }
        command.current_dir(self.tree).env("CARGO_TARGET_DIR", self.folder.join("target"));
        // Debug information would only lengthen each build.
        command.env("CARGO_PROFILE_DEV_DEBUG", "none");
        command
    }

    /// The names of all mutants, tested or not.
    fn names(&self) -> Result<Vec<String>> {
        let listed = self.command().arg("--list").output().context("list mutants")?;
        let names: Vec<String> =
            String::from_utf8_lossy(&listed.stdout).lines().map(str::to_owned).collect();
        if names.is_empty() {
            bail!("no mutants: {}", String::from_utf8_lossy(&listed.stderr));
        }
        Ok(names)
    }

    /// Tests mutants with `cargo test` and `tests`; keeps what happened in `output`.
    fn test(&self, output: &Path, select: &[String], tests: &[&str]) -> Result<Results> {
        fs::create_dir_all(output)?;
        let mut command = self.command();
        command.arg("--in-place").args(select).arg("--output").arg(output).arg("--").args(tests);
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
        Ok(Results {
            caught: names("caught.txt")?,
            timed_out: names("timeout.txt")?,
            missed: names("missed.txt")?,
        })
    }

    /// Tests a sample, evenly spread, with the tests of the area's crate.
    fn test_sample(&self, all: usize, sample: usize) -> Result<Results> {
        let select = [
            "--sharding=round-robin".to_owned(),
            format!("--shard=0/{}", (all / sample).max(1)),
            format!("--timeout-multiplier={TIMEOUT_MULTIPLIER}"),
        ];
        self.test(&self.folder.join(self.area.name), &select, self.area.tests)
    }

    /// Tests `missed` of the mutants `all` with the tests of dependent crates.
    fn test_again(
        &self,
        all: &[String],
        missed: &[String],
        dependents: &Dependents,
    ) -> Result<Results> {
        let output = self.folder.join(format!("{}-dependents", self.area.name));
        if output.exists() {
            fs::remove_dir_all(&output)?;
        }
        // `--re` does not select mutants that delete a field of a struct, so the others are given
        // as caught before, and `--iterate` leaves these out.
        let others = all.iter().filter(|name| !missed.contains(name));
        let others: String = others.map(|name| format!("{name}\n")).collect();
        fs::create_dir_all(output.join("mutants.out"))?;
        fs::write(output.join("mutants.out/caught.txt"), others)?;
        // The baseline would test the area's own crate again.
        let mut select = vec![
            "--iterate".to_owned(),
            "--baseline=skip".to_owned(),
            format!("--timeout={TIMEOUT_S}"),
        ];
        select.extend(dependents.packages.iter().map(|name| format!("--test-package={name}")));
        self.test(&output, &select, dependents.tests)
    }
}

/// Tests a sample of the mutants of one area: first with the tests of its crate, then those that
/// pass them with the tests of the crates that depend on it.
fn test_area(session: &Session<'_>, sample: usize) -> Result<Outcome> {
    let Session { area, .. } = session;
    let all = session.names()?;
    let mut results = session.test_sample(all.len(), sample)?;
    if let Some(dependents) = area.dependents.as_ref().filter(|_| !results.missed.is_empty()) {
        let again = session.test_again(&all, &results.missed, dependents)?;
        results.caught.extend(again.caught);
        results.timed_out.extend(again.timed_out);
        results.missed = again.missed;
    }
    let Results { caught, timed_out, missed } = results;
    let caught = caught.len() + timed_out.len();
    let (all, timed_out) = (all.len(), timed_out.len());
    Ok(Outcome { area: area.name, all, caught, timed_out, missed })
}

fn page(record: &Folder, options: &Options, outcomes: &[Outcome]) -> String {
    let areas = options.areas.iter().map(|name| format!(" {name}")).collect::<String>();
    let mut page = format!(
        "# Mutants caught by tests, {}\n\n{}\n\
         Command: `cargo xtask mutants --sample {}{areas}`\n\n\
         | area | mutants | tested | caught | by timeout | share |\n\
         | --- | --: | --: | --: | --: | --: |\n",
        record.date, record.header, options.sample
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
        let missed = vec![String::new()];
        let outcome = Outcome { area: "x", all: 9, caught: 2, timed_out: 1, missed };
        assert_eq!(outcome.row(), "| x | 9 | 3 | 2 | 1 | 66.7 % |");
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
