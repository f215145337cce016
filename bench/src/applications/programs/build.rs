//! git clone and make of a C library: zstd, whose source is part of a crate that tests use.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{Traced, first_line};
use crate::applications::{Bench, tracer};

/// Compiles every source to an object with its dependencies, and archives them.
const MAKEFILE: &str = "\
SOURCES := $(wildcard common/*.c compress/*.c decompress/*.c dictBuilder/*.c deprecated/*.c legacy/*.c)
OBJECTS := $(SOURCES:.c=.o)
CFLAGS := -O0 -g -MMD -I. -Icommon -DXXH_NAMESPACE=ZSTD_ -DZSTD_DISABLE_ASM
libzstd.a: $(OBJECTS)
\t$(AR) rcs $@ $^
-include $(OBJECTS:.o=.d)
";
/// The author of the only commit, and where git looks for settings.
const GIT: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "bench"),
    ("GIT_AUTHOR_EMAIL", "bench@localhost"),
    ("GIT_COMMITTER_NAME", "bench"),
    ("GIT_COMMITTER_EMAIL", "bench@localhost"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_SYSTEM", "/dev/null"),
];

pub(crate) fn run(bench: &Bench, folder: &Path) -> Result<Traced> {
    let (sources, version) = sources(&bench.root)?;
    let origin = folder.join("origin");
    let script = "cp -R \"$1\" \"$2\" && cd \"$2\" && printf '%s' \"$3\" > Makefile && git init -q . \
                  && git add . && git commit -q -m sources && git gc -q";
    let mut commit = Command::new("sh");
    commit.args(["-c", script, "sh"]).args([&sources, &origin]).arg(MAKEFILE).envs(GIT);
    ensure!(commit.status().context("start sh")?.success(), "commit the sources of the library");
    let under = folder.join("work");
    let mut build = bench.limit.command(None, "sh");
    let script = "git clone -q \"file://$1\" \"$2\" && make -s -j2 -C \"$2\"";
    build.args(["-c", script, "sh"]).args([&origin, &under]);
    let trace = bench.trace("application");
    tracer::run(&build, &trace, Duration::from_secs(300))?;
    ensure!(under.join("libzstd.a").exists(), "the library was not built");
    Ok(Traced {
        trace,
        under,
        version: format!(
            "{version}, {}, {}",
            first_line("gcc", "--version")?,
            first_line("make", "--version")?
        ),
        settings:
            "`git clone file://ORIGIN DIR && make -j2 -C DIR` with `-O0 -g -MMD`; all calls on \
                   files in DIR"
                .to_owned(),
    })
}

/// The folder of the library's source, and its version.
fn sources(root: &Path) -> Result<(PathBuf, String)> {
    let arguments = ["metadata", "--format-version", "1", "--locked"];
    let output = Command::new("cargo").args(arguments).current_dir(root).output();
    let json: Value = serde_json::from_slice(&output.context("start cargo")?.stdout)
        .context("parse the metadata of cargo")?;
    let mut packages = json["packages"].as_array().into_iter().flatten();
    let package = packages.find(|package| package["name"] == "zstd-sys");
    let package = package.context("find the crate zstd-sys")?;
    let manifest = package["manifest_path"].as_str().context("find the crate zstd-sys")?;
    let folder = Path::new(manifest).parent().context("find the crate zstd-sys")?.join("zstd/lib");
    let version = package["version"].as_str().and_then(|version| version.split_once("+zstd."));
    Ok((folder, format!("zstd {}", version.map_or("", |(_, version)| version))))
}
