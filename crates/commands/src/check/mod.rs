//! `check`: whether this host and this mount are configured so that the storage is the bottleneck
//! and not they. Changes nothing.

mod facts;

use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use analysis::host_check::{
    self, About, Checkup, Export, Facts, Options as CheckOptions, RoundTrip, RoundTripSource,
};
use anyhow::{Context, anyhow};
use host::Root;
use target::nfs::{NfsUrl, Session};
use target::refusal::Refusal;
use units::BytesPerSec;
use workload::plan::TargetSpec;

use crate::outcome::Failure;
use crate::{named_target, refusal};
use facts::HostFacts;

/// The POSIX shell script that captures a host.
pub const CAPTURE_SCRIPT: &str = include_str!("../../assets/capture-host.sh");

/// Files without which a captured host cannot be checked.
const REQUIRED: [&str; 4] =
    ["proc/self/mountinfo", "proc/sys/kernel/osrelease", "proc/cpuinfo", "proc/stat"];

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The target as the user names it; without it, the host only.
    pub target: Option<String>,
    /// Options of the NFS export, `KEY=VALUE`.
    pub option: Vec<String>,
    /// The required throughput over all connections.
    pub target_rate: Option<BytesPerSec>,
    /// The round-trip time to the server.
    pub round_trip: Option<Duration>,
    /// The directory of a captured host; without it, this host.
    pub root: Option<PathBuf>,
}

/// A checked host.
#[derive(Debug)]
pub struct Checked {
    /// The facts.
    pub facts: Facts,
    /// What they were judged for.
    pub options: CheckOptions,
    /// The results.
    pub checkup: Checkup,
}

/// Reads the facts and judges them.
///
/// # Errors
/// The directory does not exist, the export cannot be mounted, or the captured host is incomplete.
pub fn check(options: &Options) -> Result<Checked, Failure> {
    let is_captured = options.root.is_some();
    let root = match &options.root {
        None => Root::of_this_host(),
        Some(path) => captured_root(path)?,
    };
    let subject = Subject::named(options, is_captured)?;
    let host = HostFacts {
        root: &root,
        is_captured,
        directory: subject.directory.as_deref(),
        server: subject.server,
    };
    let facts = host.read();
    let round_trip = match options.round_trip {
        Some(time) => {
            Some(RoundTrip { seconds: time.as_secs_f64(), source: RoundTripSource::Given })
        }
        None => {
            let server = host.server(&facts.0).filter(|_| !is_captured);
            let connected = server.and_then(|server| facts::round_trip(server, subject.port));
            connected.or_else(|| facts::round_trip_of_mount(&facts))
        }
    };
    let check_options = CheckOptions {
        about: subject.about,
        required: options.target_rate,
        round_trip,
        is_captured,
    };
    let checkup = host_check::judge(&facts, &check_options);
    Ok(Checked { facts, options: check_options, checkup })
}

/// What the user names, before anything is looked at: it may be on other hosts.
enum Named {
    Host,
    Directory(String),
    Export(Export, NfsUrl),
}

impl Named {
    fn of(options: &Options) -> Result<Named, Failure> {
        let Some(named) = options.target.as_deref() else {
            if let Some(option) = options.option.first() {
                return Err(Failure::input(anyhow!("use option `{option}`: no export is named")));
            }
            return Ok(Named::Host);
        };
        match named_target::spec(Some(named), &options.option)? {
            TargetSpec::Directory { path } => Ok(Named::Directory(path)),
            TargetSpec::Nfs { url, .. } => {
                let url = named_target::parsed(&url)?;
                let export = Export {
                    url: named.to_owned(),
                    connections: url.nconnect,
                    slots: url.slots,
                    privileged: url.privileged,
                };
                Ok(Named::Export(export, url))
            }
            TargetSpec::Null | TargetSpec::Emulated { .. } => Err(Failure::input(anyhow!(
                "check `{named}`: it has no storage; leave it out to check the host only"
            ))),
        }
    }
}

/// What the options name, without looking at it.
///
/// # Errors
/// The target is not one that can be checked.
pub(crate) fn about(options: &Options) -> Result<About, Failure> {
    Ok(match Named::of(options)? {
        Named::Host => About::Host,
        Named::Directory(path) => About::Directory { path },
        Named::Export(export, _) => About::Export(export),
    })
}

/// Mounts the export, as a run would.
fn refuse_unreachable(url: &NfsUrl) -> Result<(), Refusal> {
    Session::open(url).map(drop).map_err(|error| {
        let path = PathBuf::from(format!("nfs://{}{}", url.authority(), url.path));
        Refusal::NoExport { path, source: Box::new(error) }
    })
}

/// A directory of this host, absolute and without symbolic links.
fn existing_directory(path: &Path) -> Result<PathBuf, Refusal> {
    let found = std::fs::canonicalize(path);
    let found = found.map_err(|source| match source.kind() {
        ErrorKind::NotFound => Refusal::Missing { path: path.to_path_buf() },
        _ => Refusal::Io { action: "check", path: path.to_path_buf(), source },
    })?;
    match found.is_dir() {
        true => Ok(found),
        false => Err(Refusal::NotADirectory { path: path.to_path_buf() }),
    }
}

/// The root of a captured host with all required files.
fn captured_root(path: &Path) -> Result<Root, Failure> {
    let name = path.display();
    let is_directory = std::fs::metadata(path)
        .with_context(|| format!("read the captured host {name}"))
        .map_err(Failure::input)?
        .is_dir();
    if !is_directory {
        return Err(Failure::input(anyhow!(
            "read the captured host {name}: not a directory; unpack the archive first"
        )));
    }
    let root = Root::at(path);
    let missing = root.missing(&REQUIRED);
    if missing.is_empty() {
        return Ok(root);
    }
    let missing = match missing.as_slice() {
        [one] => format!("{one} is missing"),
        many => format!("{} are missing", many.join(", ")),
    };
    Err(Failure::input(anyhow!("read the captured host {name}: {missing}")).with_remedy(
        "capture the host with the script that `fourcorners check --capture-script` prints, and \
         name the directory that it creates",
    ))
}

/// The target that is checked.
struct Subject {
    about: About,
    directory: Option<PathBuf>,
    server: Option<IpAddr>,
    port: Option<u16>,
}

impl Subject {
    fn named(options: &Options, is_captured: bool) -> Result<Subject, Failure> {
        match Named::of(options)? {
            Named::Host => {
                Ok(Subject { about: About::Host, directory: None, server: None, port: None })
            }
            Named::Directory(path) => Subject::of_directory(&path, is_captured),
            Named::Export(export, url) => {
                if !is_captured {
                    refuse_unreachable(&url).map_err(refusal::failure)?;
                }
                Ok(Subject::of_export(export, &url, is_captured))
            }
        }
    }

    fn of_directory(named: &str, is_captured: bool) -> Result<Subject, Failure> {
        let path = PathBuf::from(named);
        let directory = match is_captured {
            true if path.is_absolute() => path,
            true => {
                return Err(Failure::input(anyhow!(
                    "check {named} of a captured host: give the absolute path on that host"
                )));
            }
            false => existing_directory(&path).map_err(refusal::failure)?,
        };
        let about = About::Directory { path: named.to_owned() };
        Ok(Subject { about, directory: Some(directory), server: None, port: None })
    }

    fn of_export(export: Export, url: &NfsUrl, is_captured: bool) -> Subject {
        let literal = url.addresses.first().copied().or_else(|| url.host.parse().ok());
        // A name in a captured host's configuration may resolve to another address here.
        let server = literal.or_else(|| match is_captured {
            true => None,
            false => facts::resolved(&url.host),
        });
        Subject { about: About::Export(export), directory: None, server, port: url.port }
    }
}
