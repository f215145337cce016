//! `cargo xtask check`: the one command that says whether the tree is good.
//!
//! Cheapest first, so that a slip is reported in seconds. A test runner comes last, so that its
//! summary ends the output. Nothing is skipped silently: a missing program is an error that names
//! it.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{browser, deny, fuzz, install, kernel, tidy};

/// What `check` was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Leave out what takes minutes and rarely fails: dependencies, fuzz targets, the kernel's
    /// client and the browser.
    fast: bool,
    /// Install Debian packages that are missing.
    install: bool,
}

impl Options {
    /// Reads the flags.
    ///
    /// # Errors
    /// A flag that is not known, in words.
    pub(crate) fn parse(flags: &[&str]) -> Result<Options, String> {
        let mut options = Options::default();
        for flag in flags {
            match *flag {
                "--fast" => options.fast = true,
                "--install" => options.install = true,
                other => return Err(format!("`check` knows --fast and --install, not `{other}`")),
            }
        }
        Ok(options)
    }
}

/// One thing to do.
enum Step {
    /// See that the machine has what these steps need; `install` what is missing.
    Packages { by: &'static [install::Step], install: bool },
    /// The rules of the house.
    Tidy,
    /// Licences, bans, sources and advisories of dependencies.
    Deny,
    /// Every fuzz target for a number of inputs.
    Fuzz,
    /// The service under the Linux kernel's client and, in parallel, the reports in a browser: the
    /// slowest guest keeps only one processor busy.
    KernelAndBrowser,
    /// A program and its arguments, run at the checkout's top.
    Program(&'static str, &'static [&'static str]),
}

fn steps(options: Options) -> Vec<(&'static str, Step)> {
    let by: &[install::Step] = if options.fast {
        &[install::Step::Tests]
    } else {
        &[install::Step::Tests, install::Step::Fuzz, install::Step::Kernel, install::Step::Browser]
    };
    let mut steps = vec![
        ("packages", Step::Packages { by, install: options.install }),
        ("format", Step::Program("cargo", &["fmt", "--all", "--", "--check"])),
        ("tidy", Step::Tidy),
    ];
    if !options.fast {
        steps.push(("dependencies", Step::Deny));
    }
    steps.extend([
        (
            "clippy",
            Step::Program(
                "cargo",
                &[
                    "clippy",
                    "--workspace",
                    "--all-targets",
                    "--locked",
                    "--quiet",
                    "--",
                    "-D",
                    "warnings",
                ],
            ),
        ),
        ("tests", Step::Program("cargo", &["test", "--workspace", "--locked", "--no-fail-fast"])),
    ]);
    if !options.fast {
        steps.push(("fuzz", Step::Fuzz));
        steps.push(("kernel client and browser", Step::KernelAndBrowser));
    }
    steps
}

/// Prints the results of the guests before those of the browser, so that the last lines of the
/// whole check are a test runner's.
fn kernel_and_browser(root: &Path) -> Result<()> {
    let (mut of_guests, mut of_browser) = (Vec::new(), Vec::new());
    let (guests, browser) = thread::scope(|scope| {
        let guests = scope.spawn(|| kernel::run(root, &mut of_guests));
        let browser = browser::run(root, &mut of_browser);
        (guests.join().expect("a thread that waits for programs"), browser)
    });
    std::io::stderr().write_all(&of_guests)?;
    std::io::stdout().write_all(&of_browser)?;
    guests.context("kernel client")?;
    browser.context("browser")
}

/// Does all steps and stops at the first that fails.
///
/// # Errors
/// The step that failed, by name.
pub(crate) fn run(root: &Path, options: Options) -> Result<()> {
    let mut err = std::io::stderr();
    for (name, step) in steps(options) {
        writeln!(err, "==> {name}")?;
        let begun = Instant::now();
        let result = match step {
            Step::Packages { by, install } => install::provide(by, install),
            Step::Tidy => tidy::run(root),
            Step::Deny => deny::run(root),
            Step::Fuzz => fuzz::run(root),
            Step::KernelAndBrowser => kernel_and_browser(root),
            Step::Program(program, arguments) => run_program(root, program, arguments),
        };
        let took = seconds(begun.elapsed());
        if let Err(error) = result {
            bail!("check failed at the step `{name}` after {took}: {error:#}");
        }
        writeln!(err, "==> {name}: good, {took}")?;
    }
    Ok(())
}

/// Runs a program with our own standard streams; its output is the user's to see, whole.
pub(crate) fn run_program(root: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    let path = if program.contains('/') { root.join(program) } else { program.into() };
    let status = Command::new(&path)
        .args(arguments)
        .current_dir(root)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("start {program}"))?;
    if !status.success() {
        bail!("`{program} {}` ended with {status}", arguments.join(" "));
    }
    Ok(())
}

/// Cargo's target folder: this program was built in it.
pub(crate) fn target_directory() -> Result<PathBuf> {
    let program = std::env::current_exe().context("find this program's path")?;
    let folder = program.ancestors().nth(2).context("this program is not in a target folder")?;
    Ok(folder.to_path_buf())
}

fn seconds(took: Duration) -> String {
    format!("{:.1} s", took.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(options: Options) -> Vec<&'static str> {
        steps(options).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn check_runs_everything_and_fast_leaves_out_what_takes_minutes() {
        let mut all = names(Options::default());
        let minutes = ["dependencies", "fuzz", "kernel client and browser"];
        assert!(minutes.iter().all(|name| all.contains(name)));
        all.retain(|name| !minutes.contains(name));
        assert_eq!(all, ["packages", "format", "tidy", "clippy", "tests"]);
        assert_eq!(all, names(Options { fast: true, install: false }));
    }

    #[test]
    fn flags_are_read_and_others_refused() {
        assert_eq!(Options::parse(&["--install"]), Ok(Options { fast: false, install: true }));
        assert!(Options::parse(&["--quick"]).is_err_and(|message| message.contains("--quick")));
    }

    #[test]
    fn a_program_that_fails_fails_the_step() {
        let root = crate::root();
        assert!(run_program(&root, "true", &[]).is_ok());
        let error = run_program(&root, "false", &["x"]).expect_err("false fails");
        assert!(error.to_string().contains("`false x` ended with"));
    }
}
