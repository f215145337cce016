//! `cargo xtask bench applications`: real applications compared with the profiles that have their shape.
//!
//! Each application runs under strace, and `fourcorners observe` characterises it; then its profile
//! runs at the same limit of the same disk under the same tracer and is characterised the same way. A
//! difference above 15 % needs a reason in `reasons`. The record is in `bench/runs/`, and
//! `docs/validation-profiles.md` is made from it.

mod document;
mod limit;
mod offered;
mod programs;
mod reasons;
mod record;
mod shape;
mod tracer;

use std::io::Write;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::folder::Folder;
use crate::machine::Machine;
use crate::product;
use limit::Limit;
use offered::Offered;
use programs::Traced;
use record::{Compared, Record};
use shape::Shape;

/// How long an application and its profile are observed.
const SECONDS: u32 = 30;
/// A local disk: the temporary folder is often in memory, which cannot be limited.
const DISK: &str = "/var/tmp";
/// Traces are written here, so that they are no load of the disk.
const MEMORY: &str = "/dev/shm";
/// The flag that makes the document again, for example with more reasons, and runs nothing.
const DOCUMENT_ONLY: &str = "--document";
/// The ID of the user and the group without privileges on Debian, which databases need.
const UNPRIVILEGED: u32 = 65534;

/// The tree of the profile of a build with a tenth of its files.
const TREE: &str = "{ files = 2000, depth = 2, width = 10, size = \
                    { lognormal = { median = \"14KiB\", sigma = 0.5, max = \"1MiB\" } } }";

/// An application, and what it is compared with.
struct Application {
    name: &'static str,
    offered: Offered,
    run: fn(&Bench, &Path) -> Result<Traced>,
    /// The flags that give the profile the size and rate of the application, which are not part of the
    /// shape.
    scaled: fn(&Shape) -> Vec<String>,
}

const APPLICATIONS: [Application; 6] = [
    Application {
        name: "build",
        offered: Offered::Profile("software-build"),
        run: programs::build::run,
        scaled: |_| vec!["--set".to_owned(), format!("build.names={TREE}")],
    },
    Application {
        name: "fdatasync",
        offered: Offered::Profile("etcd"),
        run: programs::fdatasync::run,
        scaled: |_| Vec::new(),
    },
    Application {
        name: "postgres",
        offered: Offered::Profile("postgres-like"),
        run: programs::postgres::run,
        scaled: |_| words("--working-set 640MiB"),
    },
    Application {
        name: "mariadb",
        offered: Offered::Profile("mysql-like"),
        run: programs::mariadb::run,
        scaled: |shape| {
            let rate = format!("run.arrival.poisson={:.0}/s", shape.data_per_s);
            words(&format!("--working-set 128MiB --set {rate} --set pages.queue_depth=8"))
        },
    },
    Application {
        name: "sqlite",
        offered: Offered::Observed,
        run: programs::sqlite::run,
        scaled: |_| Vec::new(),
    },
    Application {
        name: "dbench",
        offered: Offered::Observed,
        run: programs::dbench::run,
        scaled: |_| Vec::new(),
    },
];

fn words(text: &str) -> Vec<String> {
    text.split(' ').map(str::to_owned).collect()
}

/// What all applications need.
pub(crate) struct Bench {
    root: PathBuf,
    fourcorners: PathBuf,
    limit: Limit,
    /// A folder on the disk and one in memory, removed at the end.
    disk: PathBuf,
    memory: PathBuf,
    seconds: u32,
}

impl Bench {
    fn prepare(root: &Path) -> Result<Bench> {
        let fourcorners = product::build_for_development(root)?;
        let name = format!("fourcorners-applications-{}", std::process::id());
        let (disk, memory) = (Path::new(DISK).join(&name), Path::new(MEMORY).join(&name));
        for folder in [&disk, &memory] {
            std::fs::create_dir(folder).with_context(|| format!("make {}", folder.display()))?;
        }
        let limit = Limit::new(&disk)?;
        Ok(Bench { root: root.to_path_buf(), fourcorners, limit, disk, memory, seconds: SECONDS })
    }

    /// The path of a trace.
    fn trace(&self, of: &str) -> PathBuf {
        self.memory.join(format!("{of}.strace"))
    }

    /// `fourcorners observe` of a trace; returns what it prints.
    fn observe(&self, trace: &Path, under: &Path, arguments: &[&str]) -> Result<String> {
        let mut command = Command::new(&self.fourcorners);
        command.arg("observe").arg(trace).args(["--format", "strace", "--under"]);
        command.arg(under).args(arguments);
        let output = command.output().context("start fourcorners")?;
        let messages = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "observe {}: {messages}", trace.display());
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Gives a folder to the unprivileged user; returns its ID.
    fn unprivileged(&self, folder: &Path) -> Result<String> {
        chown(folder, Some(UNPRIVILEGED), Some(UNPRIVILEGED))
            .with_context(|| format!("give {}", folder.display()))?;
        Ok(UNPRIVILEGED.to_string())
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // If this fails, only space is lost: the next run makes other folders.
        drop(std::fs::remove_dir_all(&self.disk));
        drop(std::fs::remove_dir_all(&self.memory));
    }
}

/// Compares the applications with these names, or all; writes the record and the document of all.
///
/// With `--document` alone, makes the document from the newest record.
pub(crate) fn run(root: &Path, names: &[&str]) -> Result<()> {
    if names == [DOCUMENT_ONLY] {
        let record = Record::newest(root)?;
        write_document(root, &record)?;
        return require_reasons(&record);
    }
    let known = APPLICATIONS.map(|application| application.name);
    if let Some(other) = names.iter().find(|name| !known.contains(name)) {
        bail!("no application is called `{other}`; there are {}", known.join(", "));
    }
    let bench = Bench::prepare(root)?;
    let mut out = std::io::stdout();
    let mut record = Record { about: Vec::new(), applications: Vec::new() };
    let is_selected =
        |application: &&Application| names.is_empty() || names.contains(&application.name);
    for application in APPLICATIONS.iter().filter(is_selected) {
        writeln!(std::io::stderr(), "{} …", application.name)?;
        let compared = compare(&bench, application).with_context(|| application.name.to_owned())?;
        write!(out, "{}", document::section(&compared))?;
        record.applications.push(compared);
    }
    if names.is_empty() {
        let folder = Folder::make(root, &Machine::read()?, Some(record::NAME))?;
        record.about = folder.header.lines().map(str::to_owned).collect();
        record.about.push(format!("Limit: {}.", Limit::describe()));
        let load = std::fs::read_to_string("/proc/loadavg").context("read the load average")?;
        record.about.push(format!("Load average at the end: {}.", load.trim()));
        record.write(&folder)?;
        write_document(root, &record)?;
        writeln!(out, "written: {} and {}", folder.path.display(), document::PATH)?;
    }
    require_reasons(&record)
}

fn write_document(root: &Path, record: &Record) -> Result<()> {
    std::fs::write(root.join(document::PATH), document::render(record)).context(document::PATH)
}

/// Fails if a difference has no reason.
fn require_reasons(record: &Record) -> Result<()> {
    let unexplained = record.unexplained();
    ensure!(
        unexplained.is_empty(),
        "differences above {} % without a reason; correct the profile, or add the reason to \
         bench/src/applications/reasons.rs:\n  {}",
        record::TOLERANCE_PERCENT,
        unexplained.join("\n  ")
    );
    Ok(())
}

/// Runs an application, then its profile.
fn compare(bench: &Bench, application: &Application) -> Result<Compared> {
    let folder = bench.disk.join(application.name);
    std::fs::create_dir(&folder).context("make a folder")?;
    let traced = (application.run)(bench, &folder)?;
    let json = bench.observe(&traced.trace, &traced.under, &["--json"])?;
    let real = Shape::parse(&json)?;
    let scaled = (application.scaled)(&real);
    let source = (traced.trace.as_path(), traced.under.as_path());
    let (offered, command) = application.offered.run(bench, source, &scaled, &folder)?;
    std::fs::remove_dir_all(&folder).context("remove the folder of the application")?;
    Ok(Compared {
        name: application.name.to_owned(),
        offered: application.offered.name().to_owned(),
        version: traced.version,
        settings: traced.settings,
        command,
        sizes: [&real, &offered].map(Shape::describe),
        rows: record::rows(&real, &offered),
    })
}
