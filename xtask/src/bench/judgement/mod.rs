//! `cargo xtask bench judgement`: how often verdicts are right, on systems whose limits are known.
//!
//! First simulated systems with seeds that no threshold was found with (`crates/sim`, example
//! `judgement`), then emulated volumes in network namespaces, measured by the product's own program
//! with the settings a user has. One try each. Every verdict is kept in
//! `bench/runs/DATE-MACHINE-judgement/raw.csv`, and `docs/reference/limits.md` is made from both
//! tables.

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

use super::folder::{Folder, quoted};
use super::machine::Machine;
use super::ours;
use super::process::{CLIENT_PROCESSOR, SERVER_PROCESSOR};
use grade::{Counts, Graded};
use network::{Network, Side};
use systems::{ALL, Processors, System};

/// The NFS port; the namespaces are our own.
const PORT: u16 = 2049;
/// How long a service may take until it listens.
const START_LIMIT: Duration = Duration::from_secs(20);
/// How long one system may take: 24 runs, four curves, and the fill.
const SYSTEM_LIMIT: Duration = Duration::from_secs(300);
/// Confident and wrong at most, as a share.
const WRONG_MAX: f64 = 0.01;
/// Right at least, as a share.
const RIGHT_MIN: f64 = 0.85;

/// Options of the command line.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The number of simulated systems over 400.
    times: u32,
    /// Only systems whose description contains one of these; all when empty.
    only: Vec<String>,
}

impl Options {
    /// `[--times N] [SYSTEM...]`; `--times 0` leaves the simulated systems out.
    pub(crate) fn parse(words: &[&str]) -> Result<Options, String> {
        let mut options = Options { times: 5, only: Vec::new() };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--times" => {
                    let value = words.next().ok_or("--times wants a value")?;
                    options.times = value.parse().map_err(|_| format!("`{value}` is no number"))?;
                }
                flag if flag.starts_with('-') => return Err(format!("no flag `{flag}`")),
                name => options.only.push(name.to_owned()),
            }
        }
        Ok(options)
    }

    fn is_whole(&self) -> bool {
        self.times > 0 && self.only.is_empty()
    }
}

/// Examines, and writes the dated folder; the page too where everything was examined.
pub(crate) fn run(root: &Path, options: &Options) -> Result<()> {
    let program = ours::build(root)?;
    let simulated = match options.times {
        0 => Simulated::default(),
        times => simulated(root, times)?,
    };
    let scratch = root.join("target/bench/judgement");
    std::fs::create_dir_all(&scratch)?;
    let chosen = ALL.iter().filter(|system| {
        let words = system.describe();
        options.only.is_empty() || options.only.iter().any(|only| words.contains(only))
    });
    let mut graded = Vec::new();
    for system in chosen {
        writeln!(std::io::stderr(), "{} …", system.describe())?;
        let found = examine(&program, &scratch, system)
            .with_context(|| format!("examine: {}", system.describe()))?;
        for one in &found {
            let stated = one.stated.map_or_else(String::new, |p| format!(" ({:.1} %)", 100.0 * p));
            writeln!(std::io::stderr(), "  {}: {}{stated}", one.grade.name(), one.said)?;
        }
        graded.extend(found);
    }
    let machine = Machine::read()?;
    let results = Results { simulated, graded };
    let folder = write(root, &machine, options, &results)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}\n{}\n{}", results.simulated.tables, results.real(), results.together())?;
    writeln!(out, "written to {}", folder.strip_prefix(root).unwrap_or(&folder).display())?;
    ensure!(
        results.counts().hold(WRONG_MAX, RIGHT_MIN),
        "missed: at most {WRONG_MAX} confident and wrong, at least {RIGHT_MIN} right"
    );
    Ok(())
}

/// What the simulated systems gave.
#[derive(Debug, Default)]
struct Simulated {
    /// As Markdown, with a sentence.
    tables: String,
    counts: Counts,
}

/// Both parts of an examination.
#[derive(Debug)]
struct Results {
    simulated: Simulated,
    graded: Vec<Graded>,
}

impl Results {
    /// Tables and sentence of the emulated volumes.
    fn real(&self) -> String {
        let counts = Counts::of(self.graded.iter());
        format!("{}\n{}\n", grade::tables(&self.graded), counts.text())
    }

    fn counts(&self) -> Counts {
        self.simulated.counts.and(Counts::of(self.graded.iter()))
    }

    fn together(&self) -> String {
        format!("{} verdicts: {}.", self.counts().verdicts(), self.counts().text())
    }
}

/// Examines the simulated systems.
fn simulated(root: &Path, times: u32) -> Result<Simulated> {
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
    // Verdicts that were wrong come first, one in a line; the counts come last.
    let table = text.find("| system |").context("the tables of the examination")?;
    let (tables, counts) = text[table..].rsplit_once("counts ").context("the counts")?;
    let numbers: Vec<usize> = counts.split_whitespace().filter_map(|n| n.parse().ok()).collect();
    let [right, not_enough_data, wrong, confident_and_wrong] = numbers[..] else {
        bail!("four counts, not `{counts}`");
    };
    let counts = Counts { right, not_enough_data, wrong, confident_and_wrong };
    Ok(Simulated { tables: tables.to_owned(), counts })
}

/// A process that is ended when this is dropped.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Serves one system, measures it once as a user would, and grades every verdict.
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
    let messages = |name: &str| std::fs::File::create(scratch.join(name));
    service.stdin(Stdio::null()).stdout(Stdio::null()).stderr(messages("service.log")?);
    let mut service = Started(service.spawn().context("start the service")?);
    wait_for(&network, &mut service)?;
    let _busy = burners(system)?;

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
    command.stderr(messages("run.log")?);
    let mut measuring = Started(command.spawn().context("start the measurement")?);
    let begun = Instant::now();
    let status = loop {
        if let Some(status) = measuring.0.try_wait()? {
            break status;
        }
        ensure!(begun.elapsed() < SYSTEM_LIMIT, "it took more than {SYSTEM_LIMIT:?}");
        std::thread::sleep(Duration::from_millis(20));
    };
    // 1: complete, but a load point did not reach what the experiment requires.
    let said = || std::fs::read_to_string(scratch.join("run.log")).unwrap_or_default();
    ensure!(
        matches!(status.code(), Some(0 | 1)),
        "the measurement ended with {status}: {}",
        said()
    );
    let document: Value = serde_json::from_slice(&std::fs::read(&out)?).context("read our JSON")?;
    let verdicts = document["verdicts"].as_array().context("verdicts in our JSON")?;
    let graded: Option<Vec<Graded>> =
        verdicts.iter().map(|verdict| grade::grade(system, verdict)).collect();
    graded.context("answers in our JSON")
}

/// Waits until the service accepts connections from the client's side of the link.
fn wait_for(network: &Network, service: &mut Started) -> Result<()> {
    let begun = Instant::now();
    let address = format!("/dev/tcp/{}/{PORT}", network::SERVICE);
    loop {
        let mut asking = network.command(Side::Client, CLIENT_PROCESSOR);
        asking.args(["bash", "-c", &format!("exec 3<>{address}")]).stderr(Stdio::null());
        if asking.status().context("start bash")?.success() {
            return Ok(());
        }
        if let Some(status) = service.0.try_wait()? {
            bail!("the service ended with {status}; service.log says why");
        }
        ensure!(begun.elapsed() < START_LIMIT, "the service does not listen");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Processes that compute all the time on the processor of one side.
fn burners(system: &System) -> Result<Vec<Started>> {
    let (processor, count) = match system.processors {
        Processors::BusyClient(count) => (CLIENT_PROCESSOR, count),
        Processors::BusyService(count) => (SERVER_PROCESSOR, count),
        Processors::Apart | Processors::Shared => return Ok(Vec::new()),
    };
    let burner = |_| {
        let mut command = Command::new("taskset");
        command.args(["-c", processor, "bash", "-c", "while :; do :; done"]);
        Ok(Started(command.spawn().context("start taskset")?))
    };
    (0..count).map(burner).collect()
}

/// Writes the dated folder, and the page where everything was examined.
fn write(root: &Path, machine: &Machine, options: &Options, results: &Results) -> Result<PathBuf> {
    let folder = Folder::make(root, machine, Some("judgement"))?;
    let (simulated, real, together) =
        (&results.simulated.tables, results.real(), results.together());
    let readme = format!(
        "# Examination of verdicts of {}\n\n{}\nCommand: `cargo xtask bench judgement --times \
         {}{}`\n\nTogether {together}\n\n## Simulated systems\n\n{simulated}\n## Emulated volumes in \
         network namespaces\n\n{real}",
        folder.date,
        folder.measured,
        options.times,
        options.only.iter().map(|only| format!(" '{only}'")).collect::<String>(),
    );
    folder.write("README.md", &readme)?;
    let mut raw = "class,system,curve,said,stated,grade\n".to_owned();
    for one in &results.graded {
        let stated = one.stated.map_or_else(String::new, |stated| stated.to_string());
        let words = [one.class, &one.system, &one.curve, &one.said].map(quoted).join(",");
        let _ = writeln!(raw, "{words},{stated},{}", one.grade.name());
    }
    folder.write("raw.csv", &raw)?;
    if options.is_whole() {
        let page = format!(
            "# How often verdicts are right\n\n\
             The [verdict](../method.md#verdicts) on a curve says what limits it, that no limit was \
             reached, or that there is\nnot enough data. Here it is compared with systems whose \
             limits are known. One try each; no system was used to\nfind a threshold. A set of \
             causes (\"link or VM egress limit\") counts as right if one of them is the truth; \
             the\ncolumns tell how many were named. Made by `cargo xtask bench judgement`.\n\n\
             Together {together} The aims: at most 1 %\nconfident and wrong, at least 85 % right.\n\n\
             ## Simulated systems\n\n\
             All amounts, times, noise, connections, workers and transfer sizes, and what is known \
             beforehand, are drawn at\nrandom (`crates/sim/src/examination`). Each is measured with \
             the product's own searches and profiles. Round-trip\ntimes contain the server's time, \
             as real kernels report them.\n\n{simulated}\n\
             ## Emulated volumes in network namespaces\n\n\
             {} systems (`xtask/src/bench/judgement/systems.rs`), served by `volume serve` and \
             measured by `run --explain`,\n`run --quick` and `run`, on {}\n\n{real}",
            ALL.len(),
            folder.measured.replace('\n', " "),
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
    fn only_a_whole_examination_makes_the_page() {
        let parse = |words: &[&str]| Options::parse(words).expect("they are flags");
        assert!(parse(&[]).is_whole());
        assert!(!parse(&["--times", "0"]).is_whole() && !parse(&["slots"]).is_whole());
        assert!(Options::parse(&["--rounds", "3"]).is_err());
    }
}
