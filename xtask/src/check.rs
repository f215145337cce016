//! `cargo xtask check`: the one command that tells whether the tree is good.
//!
//! The cheapest steps come first, so that a slip is reported in seconds. A test runner comes last,
//! so that its summary ends the output. No step is skipped silently: a missing program is an error
//! that names it.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::{browser, deny, dist, fuzz, install, kernel, tidy};

/// Options of the command line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    /// Skip what takes minutes and rarely fails: dependencies, the package, fuzz targets, the kernel's
    /// NFS client and the browser.
    fast: bool,
    /// Install Debian packages that are missing.
    install: bool,
}

impl Options {
    /// Parses the flags.
    ///
    /// # Errors
    /// A message about an unknown flag.
    pub(crate) fn parse(flags: &[&str]) -> Result<Options, String> {
        let mut options = Options::default();
        for flag in flags {
            match *flag {
                "--fast" => options.fast = true,
                "--install" => options.install = true,
                other => {
                    return Err(format!(
                        "unknown flag `{other}`; `check` has --fast and --install"
                    ));
                }
            }
        }
        Ok(options)
    }
}

/// A step of the check.
enum Step {
    /// The programs and libraries that `by` uses are there; `install` adds missing ones.
    Packages { by: &'static [install::Step], install: bool },
    /// The repository rules.
    Tidy,
    /// Licences, bans, sources and advisories of dependencies.
    Deny,
    /// Everything is compiled with clippy; with `guest`, the guest of the kernel client is downloaded
    /// in parallel.
    Build { guest: bool },
    /// The kernel's NFS client and, in parallel, every fuzz target for a fixed number of inputs and
    /// then the browser: the slowest guest keeps only one processor busy.
    KernelFuzzAndBrowser,
    /// The package: built, installed and used.
    Package,
    /// The tests of all crates.
    Tests,
    /// A program and its arguments, run in the root of the repository.
    Program(&'static str, &'static [&'static str]),
}

fn steps(options: Options) -> Vec<(&'static str, Step)> {
    let by: &[install::Step] = if options.fast {
        &[install::Step::Tests]
    } else {
        &[
            install::Step::Tests,
            install::Step::Dependencies,
            install::Step::Fuzz,
            install::Step::Kernel,
            install::Step::Browser,
            install::Step::Package,
        ]
    };
    let mut steps = vec![
        ("packages", Step::Packages { by, install: options.install }),
        ("format", Step::Program("cargo", &["fmt", "--all", "--", "--check"])),
        ("tidy", Step::Tidy),
    ];
    if !options.fast {
        steps.push(("dependencies", Step::Deny));
    }
    steps.push(("build and clippy", Step::Build { guest: !options.fast }));
    steps.push(("tests", Step::Tests));
    if !options.fast {
        steps.push(("package", Step::Package));
        steps.push(("kernel client, fuzz targets and browser", Step::KernelFuzzAndBrowser));
    }
    steps
}

/// Compiles everything that the tests need.
fn build(root: &Path, guest: bool) -> Result<()> {
    let mut cargo = with_clippy();
    cargo.args(["build", "--workspace", "--all-targets", "--locked", "--quiet"]);
    thread::scope(|scope| {
        let guest = guest.then(|| scope.spawn(|| kernel::prepare(root)));
        let built = run_command(root, &mut cargo);
        if let Some(guest) = guest {
            guest.join().expect("the thread only waits for programs").context("guest")?;
        }
        built
    })
}

/// Cargo with clippy as the compiler of our crates, and its warnings as errors. Clippy's driver is the
/// compiler with more lints and without optimisations of MIR. So crates and dependencies are analysed
/// once for lints and tests; after `cargo clippy`, which generates no code, all would be analysed again.
fn with_clippy() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.env("RUSTC_WORKSPACE_WRAPPER", "clippy-driver");
    // As `cargo clippy -- -D warnings` passes its arguments.
    cargo.env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    cargo
}

/// Prints the results of the guests before those of the browser, whose test runner ends the output
/// with its summary.
fn kernel_fuzz_and_browser(root: &Path) -> Result<()> {
    let (mut guest_output, mut browser_output) = (Vec::new(), Vec::new());
    let (guests, fuzz, browser) = thread::scope(|scope| {
        let guests = scope.spawn(|| kernel::run(root, &mut guest_output));
        let fuzz = fuzz::run(root);
        let browser = browser::run(root, &mut browser_output);
        (guests.join().expect("the thread only waits for programs"), fuzz, browser)
    });
    std::io::stderr().write_all(&guest_output)?;
    std::io::stdout().write_all(&browser_output)?;
    guests.context("kernel client")?;
    fuzz.context("fuzz targets")?;
    browser.context("browser")
}

/// Runs the steps and stops at the first failure.
///
/// # Errors
/// Names the step that failed.
pub(crate) fn run(root: &Path, options: Options) -> Result<()> {
    let mut err = std::io::stderr();
    for (name, step) in steps(options) {
        writeln!(err, "==> {name}")?;
        let begun = Instant::now();
        let result = match step {
            Step::Packages { by, install } => install::provide(by, install),
            Step::Tidy => tidy::run(root, tidy::When::Always),
            Step::Deny => deny::run(root),
            Step::Package => dist::check_built(root),
            Step::Build { guest } => build(root, guest),
            Step::Tests => tests(root),
            Step::KernelFuzzAndBrowser => kernel_fuzz_and_browser(root),
            Step::Program(program, arguments) => run_program(root, program, arguments),
        };
        let took = seconds(begun.elapsed());
        if let Err(error) = result {
            bail!("step `{name}` failed after {took}: {error:#}");
        }
        writeln!(err, "==> {name}: passed, {took}")?;
    }
    Ok(())
}

/// Runs the tests of all crates, two for each processor: most of them wait for programs and clocks.
fn tests(root: &Path) -> Result<()> {
    let threads = thread::available_parallelism().map_or(2, |processors| 2 * processors.get());
    // The same compiler as that of the build, so that nothing is built again.
    let mut cargo = with_clippy();
    cargo.args(["test", "--workspace", "--locked", "--no-fail-fast"]);
    cargo.env("RUST_TEST_THREADS", threads.to_string());
    run_command(root, &mut cargo)
}

/// Runs a program; its output goes to the terminal.
pub(crate) fn run_program(root: &Path, program: &str, arguments: &[&str]) -> Result<()> {
    let path = if program.contains('/') { root.join(program) } else { program.into() };
    run_command(root, Command::new(path).args(arguments))
}

fn run_command(root: &Path, command: &mut Command) -> Result<()> {
    let words: Vec<_> = [command.get_program()].into_iter().chain(command.get_args()).collect();
    let line = words.join(OsStr::new(" ")).display().to_string();
    let status = command
        .current_dir(root)
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("start {line}"))?;
    if !status.success() {
        bail!("`{line}` ended with {status}");
    }
    Ok(())
}

/// Cargo's target folder, in which this program was built.
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
    fn fast_skips_the_steps_that_take_minutes() {
        let mut all = names(Options::default());
        let minutes = ["dependencies", "package", "kernel client, fuzz targets and browser"];
        assert!(minutes.iter().all(|name| all.contains(name)));
        all.retain(|name| !minutes.contains(name));
        assert_eq!(all, ["packages", "format", "tidy", "build and clippy", "tests"]);
        assert_eq!(all, names(Options { fast: true, install: false }));
    }

    #[test]
    fn known_flags_are_parsed_and_others_refused() {
        assert_eq!(Options::parse(&["--install"]), Ok(Options { fast: false, install: true }));
        assert!(Options::parse(&["--quick"]).is_err_and(|message| message.contains("--quick")));
    }

    #[test]
    fn a_failing_program_fails_the_step() {
        let root = crate::root();
        assert!(run_program(&root, "true", &[]).is_ok());
        let error = run_program(&root, "false", &["x"]).expect_err("false fails");
        assert!(error.to_string().contains("`false x` ended with"));
    }
}
