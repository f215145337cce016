//! Runs a profile at the same limit as the application, under the same tracer.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::shape::Shape;
use super::tracer::{self, Tracer};

/// The load that is compared with an application.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Offered {
    /// A built-in profile.
    Profile(&'static str),
    /// The experiment that `observe --output` writes for the application's trace.
    Observed,
}

/// The time that a program may take longer than it measures: it fills its files first.
const SLACK: Duration = Duration::from_secs(180);

impl Offered {
    /// The name in the document.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Offered::Profile(name) => name,
            Offered::Observed => "observed",
        }
    }

    /// Runs it; returns its shape and its command.
    ///
    /// * `trace` - that of the application, and the path that was observed
    pub(crate) fn run(
        self,
        bench: &Bench,
        (trace, under): (&Path, &Path),
        scaled: &[String],
        folder: &Path,
    ) -> Result<(Shape, String)> {
        let target = folder.join("target");
        std::fs::create_dir_all(&target)?;
        let mut words = Vec::new();
        match self {
            Offered::Profile(name) => words.extend(["-p".to_owned(), name.to_owned()]),
            Offered::Observed => {
                let file = folder.join("observed.toml");
                let path = file.to_str().context("the path is not UTF-8")?;
                bench.observe(trace, under, &["--output", path])?;
                words.extend(["-w".to_owned(), path.to_owned()]);
            }
        }
        let measure =
            ["--warm-up", "3s", "--measure", &format!("{}s", bench.seconds)].map(str::to_owned);
        words.extend(measure);
        words.extend(scaled.iter().cloned());
        words.extend(["--engine", "psync"].map(str::to_owned));
        let traced = run(bench, &words, &target, folder)?;
        let json = bench.observe(&traced, &target, &["--json"])?;
        let experiment = match self {
            Offered::Profile(name) => format!("-p {name}"),
            Offered::Observed => "-w observed.toml".to_owned(),
        };
        let command = format!("fourcorners run DIR {experiment} {}", words[2..].join(" "));
        Ok((Shape::parse(&json)?, command))
    }
}

/// Runs `fourcorners run` and traces it from the warm-up to the end of the measured window.
fn run(bench: &Bench, words: &[String], target: &Path, folder: &Path) -> Result<PathBuf> {
    let program = bench.fourcorners.to_str().context("the path is not UTF-8")?;
    let mut command: Command = bench.limit.command(None, program);
    let messages = folder.join("profile.messages");
    let mut child = command
        .arg("run")
        .arg(target)
        .args(words)
        .args(["--events", "jsonl", "--no-report"])
        .env("FOURCORNERS_STORE", folder.join("store"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&messages)?)
        .spawn()
        .context("start fourcorners")?;
    let events = child.stdout.take().context("take the events")?;
    let mut tracing = None;
    let mut trace = None;
    for line in BufReader::new(events).lines() {
        let event: Value = serde_json::from_str(&line?).context("parse an event")?;
        let phase = event["phase"].as_str().unwrap_or_default();
        match event["event"].as_str().unwrap_or_default() {
            "phase_started" if phase == "warm_up" => {
                tracing = Some(Tracer::attach(&[child.id()], &bench.trace("profile"))?);
            }
            "phase_started" if phase == "cool_down" => trace = stop(&mut tracing)?.or(trace),
            "run_finished" => trace = stop(&mut tracing)?.or(trace),
            _ => {}
        }
    }
    let slack = SLACK + Duration::from_secs(bench.seconds.into());
    // Exit code 1: the offered rate was not reached, or a requirement was not met.
    let _ = tracer::wait(&mut child, "fourcorners", slack);
    let text = std::fs::read_to_string(&messages).unwrap_or_default();
    let trace = trace.or(stop(&mut tracing)?);
    ensure!(trace.is_some(), "fourcorners measured nothing: {text}");
    trace.context("trace the profile")
}

fn stop(tracing: &mut Option<Tracer>) -> Result<Option<PathBuf>> {
    tracing.take().map(Tracer::stop).transpose()
}
