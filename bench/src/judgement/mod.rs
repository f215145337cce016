//! `cargo xtask bench judgement`: how often verdicts are right, on systems whose limits are known.
//!
//! First simulated systems, with seeds that were not used to choose any threshold (`crates/sim`,
//! example `judgement`); then emulated volumes in network namespaces, measured by the program with
//! default settings. Each system is measured once. All verdicts are in
//! `bench/runs/DATE-MACHINE-judgement/raw.csv`; `docs/reference/limits.md` is generated from both.

mod grade;
mod network;
mod systems;

use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::folder::{Folder, quoted};
use crate::machine::Machine;
use crate::process::{CLIENT_PROCESSOR, SERVER_PROCESSOR};
use crate::product;
use grade::{Counts, Graded};
use network::{Network, Side};
use systems::{ALL, Processors, System};

/// The NFS port; nothing else uses it in the namespaces.
const PORT: u16 = 2049;
/// Time limit for the service to start listening.
const START_LIMIT: Duration = Duration::from_secs(20);
/// Time limit for one system: 24 runs, four curves, and the fill.
const SYSTEM_LIMIT: Duration = Duration::from_secs(300);
/// Largest share of verdicts that may be confident and wrong.
const WRONG_MAX: f64 = 0.01;
/// Smallest share of verdicts that must be right.
const RIGHT_MIN: f64 = 0.85;

/// Options of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// Number of simulated systems, in units of 400.
    times: u32,
    /// Only systems whose description contains one of these; if empty, all.
    only: Vec<String>,
}

impl Options {
    /// Parses `[--times N] [SYSTEM...]`; `--times 0` skips the simulated systems.
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options { times: 5, only: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--times" => {
                    let value = words.next().ok_or("--times needs a value")?;
                    options.times =
                        value.parse().map_err(|_| format!("`{value}` is not a number"))?;
                }
                flag if flag.starts_with('-') => return Err(format!("unknown flag `{flag}`")),
                name => options.only.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    fn is_complete(&self) -> bool {
        self.times > 0 && self.only.is_empty()
    }
}

/// Examines the systems and writes the dated folder; a complete examination also writes the page.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let program = product::build(root)?;
    let simulated = match options.times {
        0 => Simulated::default(),
        times => examine_simulated(root, times)?,
    };
    let scratch = root.join("target/bench/judgement");
    std::fs::create_dir_all(&scratch)?;
    let chosen = ALL.iter().filter(|system| {
        let description = system.describe();
        options.only.is_empty() || options.only.iter().any(|only| description.contains(only))
    });
    let mut graded = Vec::new();
    for system in chosen {
        writeln!(std::io::stderr(), "{} …", system.describe())?;
        let found = examine(&program, &scratch, system)
            .with_context(|| format!("examine: {}", system.describe()))?;
        for one in &found {
            let stated = one.probability;
            let stated = stated.map_or_else(String::new, |p| format!(" ({:.1} %)", 100.0 * p));
            writeln!(std::io::stderr(), "  {}: {}{stated}", one.grade.name(), one.causes)?;
        }
        graded.extend(found);
    }
    let machine = Machine::read()?;
    let results = Results { simulated, graded };
    let folder = write(root, &machine, options, &results)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}\n{}\n{}", results.simulated.tables, results.emulated(), results.sentence())?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    ensure!(
        results.counts().are_within(WRONG_MAX, RIGHT_MIN),
        "missed: at most {WRONG_MAX} confident and wrong, and at least {RIGHT_MIN} right"
    );
    Ok(())
}

/// Results of the simulated systems.
#[derive(Debug, Default)]
struct Simulated {
    /// Markdown, with a sentence.
    tables: String,
    counts: Counts,
}

/// Results of both parts.
#[derive(Debug)]
struct Results {
    simulated: Simulated,
    graded: Vec<Graded>,
}

impl Results {
    /// Tables of the emulated volumes, with a sentence.
    fn emulated(&self) -> String {
        let counts = Counts::of(self.graded.iter());
        format!("{}\n{}\n", grade::tables(&self.graded), counts.text())
    }

    fn counts(&self) -> Counts {
        self.simulated.counts.plus(Counts::of(self.graded.iter()))
    }

    fn sentence(&self) -> String {
        format!("{} verdicts: {}.", self.counts().verdicts(), self.counts().text())
    }
}

/// Examines the simulated systems.
fn examine_simulated(root: &Path, times: u32) -> Result<Simulated> {
    writeln!(std::io::stderr(), "{} simulated systems …", 400 * times)?;
    let ended = Command::new("cargo")
        .args(["run", "--release", "--quiet", "-p", "sim", "--example", "judgement", "--"])
        .args(["examine", &times.to_string()])
        .current_dir(root)
        .stderr(Stdio::inherit())
        .output()
        .context("start cargo")?;
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    ensure!(ended.status.success(), "the simulated examination missed its bounds:\n{text}");
    // Wrong verdicts come first, one per line; the counts come last.
    let table = text.find("| system |").context("no table in the output")?;
    let (tables, counts) =
        text[table..].rsplit_once("counts ").context("no counts in the output")?;
    let numbers: Vec<usize> = counts.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [right, not_enough_data, wrong, confident_and_wrong] = numbers[..] else {
        bail!("expected four counts, found `{counts}`");
    };
    let counts = Counts { right, not_enough_data, wrong, confident_and_wrong };
    Ok(Simulated { tables: tables.to_owned(), counts })
}

/// A process; killed on drop.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // Fails if it has ended already, which is fine.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves one system, measures it once, and grades its verdicts.
fn examine(program: &Path, scratch: &Path, system: &System) -> Result<Vec<Graded>> {
    let network = Network::new(system.link)?;
    let client_processor = match system.processors {
        Processors::Shared => SERVER_PROCESSOR,
        _ => CLIENT_PROCESSOR,
    };
    let config = scratch.join("volumes.toml");
    std::fs::write(&config, system.config(&format!("{}:{PORT}", network::SERVICE)))?;
    let mut service = network.command(Side::Service, SERVER_PROCESSOR);
    service.arg(program).args(["volume", "serve", "--metrics", "none", "--config"]).arg(&config);
    let log_file = |name: &str| std::fs::File::create(scratch.join(name));
    service.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log_file("service.log")?);
    let mut service = Started(service.spawn().context("start the service")?);
    wait_for(&network, &mut service)?;
    let _busy = start_busy_processes(system)?;

    let store = scratch.join("store");
    let target = format!(
        "nfs://{}:{PORT}/vol1?mountport={PORT}&nconnect={}",
        network::SERVICE,
        system.connections
    );
    let mut command = network.command(Side::Client, client_processor);
    command.arg(program).args(["run", &target]);
    match system.experiment() {
        Some(text) => {
            let file = scratch.join("examined.toml");
            std::fs::write(&file, text)?;
            command.arg("-w").arg(file);
        }
        None => {
            command.arg("--quick");
        }
    }
    if system.command == systems::Command::Explain {
        command.arg("--explain");
    }
    if !system.known.is_empty() {
        command.args(["--known", system.known]);
    }
    command.arg("--store").arg(&store).args(["--json", "--no-report", "--no-progress"]);
    let out = scratch.join("out.json");
    command.stdin(Stdio::null()).stdout(std::fs::File::create(&out)?);
    command.stderr(log_file("run.log")?);
    let mut measuring = Started(command.spawn().context("start the measurement")?);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = measuring.0.try_wait()? {
            break status;
        }
        ensure!(begun.elapsed() < SYSTEM_LIMIT, "it took more than {SYSTEM_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    // Exit code 1: complete, but a load point misses a requirement of the experiment.
    let messages = || std::fs::read_to_string(scratch.join("run.log")).unwrap_or_default();
    ensure!(
        matches!(status.code(), Some(0 | 1)),
        "the measurement ended with {status}: {}",
        messages()
    );
    let document: Value =
        serde_json::from_slice(&std::fs::read(&out)?).context("parse the JSON of fourcorners")?;
    let verdicts = document["verdicts"].as_array().context("no verdicts in the JSON")?;
    let graded: Option<Vec<Graded>> =
        verdicts.iter().map(|verdict| grade::grade(system, verdict)).collect();
    graded.context("a verdict without an answer in the JSON")
}

/// Waits until the service accepts connections from the client's side of the link.
fn wait_for(network: &Network, service: &mut Started) -> Result<()> {
    let begun = Instant::now();
    let address = format!("/dev/tcp/{}/{PORT}", network::SERVICE);
    loop {
        let mut connect = network.command(Side::Client, CLIENT_PROCESSOR);
        connect.args(["bash", "-c", &format!("exec 3<>{address}")]).stderr(Stdio::null());
        if connect.status().context("start bash")?.success() {
            return Ok(());
        }
        if let Some(status) = service.0.try_wait()? {
            bail!("the service ended with {status}; see service.log");
        }
        ensure!(begun.elapsed() < START_LIMIT, "the service did not start listening");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Starts processes that keep the processor of one side busy.
fn start_busy_processes(system: &System) -> Result<Vec<Started>> {
    let (processor, count) = match system.processors {
        Processors::BusyClient(count) => (CLIENT_PROCESSOR, count),
        Processors::BusyService(count) => (SERVER_PROCESSOR, count),
        Processors::Separate | Processors::Shared => return Ok(Vec::new()),
    };
    let start = |_| {
        let mut command = Command::new("taskset");
        command.args(["-c", processor, "bash", "-c", "while :; do :; done"]);
        Ok(Started(command.spawn().context("start taskset")?))
    };
    (0..count).map(start).collect()
}

/// Writes the dated folder; a complete examination also writes the page.
fn write(root: &Path, machine: &Machine, options: &Options, results: &Results) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("judgement"))?;
    let (simulated, emulated, sentence) =
        (&results.simulated.tables, results.emulated(), results.sentence());
    let readme = format!(
        "# Examination of verdicts of {}\n\n{}\nCommand: `cargo xtask bench judgement --times \
         {}{}`\n\nTogether {sentence}\n\n## Simulated systems\n\n{simulated}\n## Emulated volumes in \
         network namespaces\n\n{emulated}",
        folder.date,
        folder.header,
        options.times,
        options.only.iter().map(|only| format!(" '{only}'")).collect::<String>(),
    );
    folder.write("README.md", &readme)?;
    let mut raw = "class,system,curve,causes,stated,grade\n".to_owned();
    for one in &results.graded {
        let stated = one.probability.map_or_else(String::new, |p| p.to_string());
        let words = [one.class, &one.system, &one.curve, &one.causes].map(quoted).join(",");
        let _ = writeln!(raw, "{words},{stated},{}", one.grade.name());
    }
    folder.write("raw.csv", &raw)?;
    if options.is_complete() {
        let page = format!(
            "# How often verdicts are right\n\n\
             The [verdict](../method.md#verdicts) on a curve says what limits it, that no \
             limit was reached, or that there is\nnot enough data. This page compares it with \
             systems whose limits are known. Each was tried once, and none was\nused to \
             choose a threshold. A set of causes (\"link or VM egress limit\") is right if it \
             contains the true one; the\ncolumns give the number of causes named. Generated \
             by `cargo xtask bench judgement`.\n\n\
             Together {sentence} Targets: at most 1 %\nconfident and wrong, at least 85 % \
             right.\n\n\
             ## Simulated systems\n\n\
             All amounts, times, noise, connections, workers and transfer sizes, and what is \
             known in advance, are random\n(`crates/sim/src/examination`). Each system is \
             measured with the product's searches and profiles. Round-trip times\ninclude \
             server time, as in real kernels.\n\n\
             {simulated}\n\
             ## Emulated volumes in network namespaces\n\n\
             {} systems (`bench/src/judgement/systems.rs`), served by `volume serve` and \
             measured by `run --explain`,\n`run --quick` and `run`, on {}\n\n{emulated}",
            ALL.len(),
            folder.header.replace('\n', " "),
        );
        std::fs::write(root.join("docs/reference/limits.md"), page)
            .context("write docs/reference/limits.md")?;
    }
    Ok(folder.path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complete_examination_writes_the_page() {
        let parse = |words: &[&str]| Options::parse(words).expect("valid flags");
        assert!(parse(&[]).is_complete());
        assert!(!parse(&["--times", "0"]).is_complete() && !parse(&["slots"]).is_complete());
        assert!(Options::parse(&["--rounds", "3"]).is_err());
    }
}
