//! `cargo xtask dist`: the program as users install it. A static binary, a Debian package with
//! manual pages and completions, and the context of a container image, below `target/dist/`.
//!
//! The manual pages and completions come from the program itself, so they have every flag.
//! `--check` installs and uses each part ([`check`]).

mod architecture;
mod check;
mod package;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::check::{run_program, target_directory};
use architecture::Architecture;
use package::Package;

/// A larger program fails: users copy it to machines that they measure.
const PROGRAM_BYTES_MAX: u64 = 20_000_000;

/// What to build.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    architecture: Architecture,
    /// Package this program instead of building one; it must run on this machine.
    program: Option<PathBuf>,
    check: bool,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options::default();
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().with_context(|| format!("{word} requires a value"));
            match *word {
                "--target" => options.architecture = Architecture::named(value()?)?,
                "--binary" => options.program = Some(PathBuf::from(value()?)),
                "--check" => options.check = true,
                other => bail!("unknown flag `{other}`; `dist` has --target, --binary and --check"),
            }
        }
        if options.program.is_some() && options.architecture != Architecture::default() {
            bail!("--binary takes a program of this machine, so --target does not apply");
        }
        Ok(options)
    }
}

/// Builds, packages and, if requested, checks.
///
/// # Errors
/// A program is missing or fails, or the result is too large or does not work.
pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let folder = target_directory()?.join("dist");
    let built = match &options.program {
        Some(path) => path.clone(),
        None => build(root, options.architecture)?,
    };
    let host_program = match options.architecture {
        _ if options.program.is_some() => built.clone(),
        Architecture::X86_64 => built.clone(),
        Architecture::Aarch64 => {
            run_program(root, "cargo", &["build", "--package", "cli", "--locked"])?;
            target_directory()?.join("debug/fourcorners")
        }
    };
    let package = Package { root, folder: &folder, architecture: options.architecture };
    let staged = package.stage(&built, &host_program)?;
    let debian = package.debian(&staged)?;
    let container = package.container(&staged)?;
    let program = staged.join("usr/bin/fourcorners");
    for path in [&program, &debian, &container.join("Containerfile")] {
        let size = std::fs::metadata(path)?.len();
        writeln!(std::io::stdout(), "{:>11} bytes  {}", size, path.display())?;
    }
    let size = std::fs::metadata(&program)?.len();
    if options.program.is_none() && size > PROGRAM_BYTES_MAX {
        bail!("the program has {size} bytes, more than {PROGRAM_BYTES_MAX}");
    }
    if options.check {
        check::run(root, &folder, options.architecture, &debian, &container)?;
    }
    Ok(())
}

/// The step `package` of `check`: packages and checks the program that the tests have built. A
/// static one with optimisations takes minutes to build.
///
/// # Errors
/// As [`run`].
pub(crate) fn check_built(root: &Path) -> Result<()> {
    let program = target_directory()?.join("debug/fourcorners");
    let program = program.to_str().context("the path of the program is not UTF-8")?;
    run(root, &["--binary", program, "--check"])
}

/// Builds the static program with the profile `dist` and returns its path.
fn build(root: &Path, architecture: Architecture) -> Result<PathBuf> {
    let target = architecture.rust_target();
    let status = Command::new("cargo")
        .args(["build", "--package", "cli", "--profile", "dist", "--locked", "--target", target])
        .envs(architecture.tools().iter().copied())
        .current_dir(root)
        .stdin(Stdio::null())
        .status()
        .context("start cargo")?;
    if !status.success() {
        bail!(
            "the build for {target} ended with {status}; it requires `rustup target add {target}` \
             and the Debian package {}",
            architecture.compiler_package()
        );
    }
    Ok(target_directory()?.join(target).join("dist/fourcorners"))
}

/// The output of a program that must succeed.
fn output_of(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("start {name}"))?;
    if !output.status.success() {
        bail!("{name} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("the output of {name} is not UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_parsed_and_others_refused() {
        let parsed = Options::parse(&["--target", "aarch64", "--check"]).expect("known flags");
        assert_eq!((parsed.architecture, parsed.check), (Architecture::Aarch64, true));
        for wrong in [&["--fast"][..], &["--target"], &["--target", "mips"]] {
            assert!(Options::parse(wrong).is_err(), "{wrong:?}");
        }
        assert!(Options::parse(&["--binary", "x", "--target", "aarch64"]).is_err());
    }
}
