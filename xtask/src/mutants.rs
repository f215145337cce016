//! `cargo xtask mutants`: how many small changes of the code (a `<` for a `<=`, a function that
//! returns 0) the tests of its crate notice.
//!
//! For: finding tests that prove nothing. There are some 11,000 such changes in the areas below,
//! and each needs a compilation and the tests of a crate; so a sample of each area is tried, evenly
//! spread over it and the same for the same number. `cargo mutants` makes and tries them, in a
//! clone of the commit below `target/`.

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

/// At least this share of the changes must be noticed.
const CAUGHT_MIN: f64 = 0.95;
/// Changes tried in each area unless asked otherwise.
const SAMPLE: usize = 30;
/// A test run may take this many times as long as without a change; then the change counts as
/// noticed.
const TIMEOUT_MULTIPLIER: &str = "4";

/// A part of the code, and the tests that are to notice its changes.
struct Area {
    name: &'static str,
    files: &'static [&'static str],
    /// Arguments of `cargo test`; all tests of the crate without any.
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

/// What is to be tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Options {
    sample: usize,
    /// Names of areas; all without any.
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

/// What became of the changes tried in an area, by their names.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tried {
    /// All changes of the area, tried or not.
    all: usize,
    caught: Vec<String>,
    missed: Vec<String>,
    /// Noticed because the tests did not end.
    timeout: Vec<String>,
    /// Do not compile, and say nothing.
    unviable: Vec<String>,
}

impl Tried {
    fn noticed(&self) -> usize {
        self.caught.len() + self.timeout.len()
    }

    fn viable(&self) -> usize {
        self.noticed() + self.missed.len()
    }

    fn row(&self, name: &str) -> String {
        let (noticed, viable) = (self.noticed(), self.viable());
        let share = 100.0 * noticed as f64 / viable.max(1) as f64;
        format!("| {name} | {} | {viable} | {noticed} | {share:.1} % |", self.all)
    }
}

/// Tries the changes and writes the record.
///
/// # Errors
/// `cargo mutants` cannot run, or fewer changes are noticed than must be.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let program = tools::installed(root, "cargo-mutants", "27.1.0")?;
    let place = target_directory()?.join("mutants");
    let tree = place.join("tree");
    if tree.exists() {
        fs::remove_dir_all(&tree).context("remove the last clone")?;
    }
    fs::create_dir_all(&place)?;
    let cloned = Command::new("git")
        .args(["clone", "--quiet", "--shared"])
        .arg(root)
        .arg(&tree)
        .status()
        .context("start git")?;
    if !cloned.success() {
        bail!("the commit could not be cloned to {}", tree.display());
    }
    let mut all = Vec::new();
    for area in AREAS {
        if options.areas.is_empty() || options.areas.iter().any(|name| name == area.name) {
            let tried = one(&program, &place, &tree, area, options.sample)
                .with_context(|| format!("change {}", area.name))?;
            writeln!(std::io::stderr(), "{}", tried.row(area.name))?;
            all.push((area.name, tried));
        }
    }
    let folder = Folder::make(root, &Machine::read()?, Some("mutants"))?;
    folder.write("README.md", &page(&folder, options, &all))?;
    writeln!(std::io::stdout(), "record: {}", folder.path.display())?;
    let noticed: usize = all.iter().map(|(_, tried)| tried.noticed()).sum();
    let viable: usize = all.iter().map(|(_, tried)| tried.viable()).sum();
    if (noticed as f64) < CAUGHT_MIN * viable as f64 {
        bail!("{noticed} of {viable} changes are noticed, not {:.0} %", 100.0 * CAUGHT_MIN);
    }
    Ok(())
}

fn one(program: &Path, place: &Path, tree: &Path, area: &Area, sample: usize) -> Result<Tried> {
    let command = || {
        let mut command = Command::new(program);
        command.arg("mutants").args(["--workspace", "--no-config", "--colors", "never"]);
        area.files.iter().for_each(|files| {
            command.args(["--file", files]);
        });
        command.current_dir(tree).env("CARGO_TARGET_DIR", place.join("target"));
        // Nobody reads backtraces of changes; without lines less is compiled and linked.
        command.env("CARGO_PROFILE_DEV_DEBUG", "none");
        command
    };
    let listed = command().arg("--list").output().context("list changes")?;
    let count = String::from_utf8_lossy(&listed.stdout).lines().count();
    if count == 0 {
        bail!("nothing to change: {}", String::from_utf8_lossy(&listed.stderr));
    }
    let shards = (count / sample).max(1);
    let output = place.join(area.name);
    fs::create_dir_all(&output)?;
    let mut command = command();
    command
        .args(["--in-place", "--sharding", "round-robin", "--shard", &format!("0/{shards}")])
        .args(["--timeout-multiplier", TIMEOUT_MULTIPLIER, "--output"])
        .arg(&output)
        .arg("--")
        .args(area.tests);
    // It ends with 2 where changes are missed and with 3 where tests did not end.
    let status = command.status().context("start cargo mutants")?;
    if !matches!(status.code(), Some(0 | 2 | 3)) {
        bail!("cargo mutants ended with {status}");
    }
    let names = |file: &str| -> Result<Vec<String>> {
        let path = output.join("mutants.out").join(file);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        Ok(text.lines().map(str::to_owned).collect())
    };
    Ok(Tried {
        all: count,
        caught: names("caught.txt")?,
        missed: names("missed.txt")?,
        timeout: names("timeout.txt")?,
        unviable: names("unviable.txt")?,
    })
}

fn page(folder: &Folder, options: &Options, all: &[(&str, Tried)]) -> String {
    let areas = options.areas.iter().map(|name| format!(" {name}")).collect::<String>();
    let mut page = format!(
        "# Changes that tests notice, {}\n\n{}\n\
         Command: `cargo xtask mutants --sample {}{areas}`\n\n\
         | area | changes there are | tried | noticed | share |\n| --- | --: | --: | --: | --: |\n",
        folder.date, folder.measured, options.sample
    );
    for (name, tried) in all {
        let _ = writeln!(page, "{}", tried.row(name));
    }
    for (name, tried) in all.iter().filter(|(_, tried)| !tried.missed.is_empty()) {
        let _ = writeln!(page, "\nNot noticed in {name}:\n");
        for missed in &tried.missed {
            let _ = writeln!(page, "- `{missed}`");
        }
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_and_the_sample_are_read_and_others_refused() {
        let read = Options::parse(&["--sample", "5", "nfs3"]);
        assert_eq!(read, Ok(Options { sample: 5, areas: vec!["nfs3".to_owned()] }));
        assert!(Options::parse(&["--sample", "0"]).is_err());
        assert!(
            Options::parse(&["engine"]).is_err_and(|message| message.contains("volume-limits"))
        );
    }

    #[test]
    fn a_change_whose_tests_do_not_end_is_noticed_and_one_that_does_not_compile_does_not_count() {
        let name = || vec![String::new()];
        let tried =
            Tried { all: 9, caught: name(), missed: name(), timeout: name(), unviable: name() };
        assert_eq!((tried.noticed(), tried.viable()), (2, 3));
        assert_eq!(tried.row("x"), "| x | 9 | 3 | 2 | 66.7 % |");
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
