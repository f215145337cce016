//! Memory and start of a run with 10 million names.
//!
//! The names are on the null target: their operations are generated and recorded, but no tree is
//! made, so the figures are those of fourcorners and not of a file system.

use anyhow::{Context, Result, ensure};

use super::Bench;
use super::results::{Figure, Results};
use crate::rusage;

/// The group's name on the command line.
pub(super) const NAME: &str = "ten-million-names";

/// Files, of which each kind of operation takes names; the tree has other classes of names, too.
const EXPERIMENT: &str = "\
name = \"bench\"
[run]
warm_up = \"0s\"
measure = \"1s\"
interval = \"1s\"
repeats = 1
seed = 1
[stream.bench]
names = { files = 10_000_000, depth = 3, width = 100, size = \"4KiB\" }
mix = { create = \"10%\", unlink = \"10%\", rename = \"10%\", stat = \"40%\", open = \"20%\", lookup_missing = \"10%\" }
queue_depth = 16
workers = 4
";
/// Seconds that [`EXPERIMENT`] measures.
const MEASURED_S: f64 = 1.0;
/// Limit of the peak resident memory of the process.
const PEAK_MIB_MAX: f64 = 100.0;
/// Limit of the time that is not measured: start, planning and end.
const OTHER_S_MAX: f64 = 1.0;

/// Runs the experiment `rounds` times.
pub(super) fn measure(bench: &Bench, rounds: u32, results: &mut Results) -> Result<()> {
    let folder = &bench.paths.scratch;
    std::fs::write(folder.join("ten-million.toml"), EXPERIMENT).context("write the experiment")?;
    let words = ["run", "null:", "-w", "ten-million.toml", "--no-report", "--store", "store"];
    let (mut peaks, mut others) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let usage = rusage::measure(&bench.paths.fourcorners, &words, folder)?;
        ensure!(usage.code == Some(0), "the run ended with {:?}: {}", usage.code, usage.stderr);
        peaks.push(usage.peak_bytes as f64 / f64::from(1 << 20));
        others.push(usage.seconds - MEASURED_S);
    }
    results
        .add_figures(NAME, Figure { name: "peak resident MiB", values: peaks, max: PEAK_MIB_MAX });
    results.add_figures(
        NAME,
        Figure { name: "s besides the measured second", values: others, max: OTHER_S_MAX },
    );
    Ok(())
}
