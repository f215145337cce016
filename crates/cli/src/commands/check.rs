//! `check`: whether this host and this mount are set so that the store is measured and not they.
//! Changes nothing.

use std::io::{ErrorKind, Write};
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use analysis::host_check::{self, About, Asked, Export, Facts, RoundTrip};
use anyhow::{Context, anyhow};
use host::Root;
use target::nfs::{NfsUrl, Session};
use target::refusal::Refusal;
use workload::plan::TargetSpec;

use crate::check_args::{CheckArguments, CheckFormat};
use crate::check_look::{self, Look};
use crate::check_show;
use crate::exit::{Exit, Failure, Outcome};
use crate::named_target;
use crate::refusal;

/// The POSIX shell script that captures a host.
const CAPTURE_SCRIPT: &str = include_str!("../../assets/capture-host.sh");

/// Without these nothing can be said of a host.
const NEEDED: [&str; 4] =
    ["proc/self/mountinfo", "proc/sys/kernel/osrelease", "proc/cpuinfo", "proc/stat"];

pub(crate) fn run(arguments: &CheckArguments) -> Outcome {
    let mut out = std::io::stdout().lock();
    if arguments.capture_script {
        out.write_all(CAPTURE_SCRIPT.as_bytes())?;
        out.flush()?;
        return Ok(Exit::Done);
    }
    let (facts, asked) = look(arguments)?;
    let checkup = host_check::judge(&facts, &asked);
    match arguments.format() {
        CheckFormat::Json => check_show::json(&checkup, &facts, &asked, &mut out)?,
        CheckFormat::Md => out.write_all(check_show::markdown(&checkup, &asked).as_bytes())?,
        CheckFormat::Text => {
            let text = check_show::text(&checkup, &asked, arguments.all);
            out.write_all(text.as_bytes())?;
        }
    }
    out.flush()?;
    Ok(if checkup.has_problems() { Exit::Negative } else { Exit::Done })
}

/// The facts, and what is asked of them.
fn look(arguments: &CheckArguments) -> Result<(Facts, Asked), Failure> {
    let is_captured = arguments.root.is_some();
    let root = match &arguments.root {
        None => Root::of_this_host(),
        Some(path) => captured_root(path)?,
    };
    let subject = Subject::named(arguments, is_captured)?;
    let look = Look {
        root: &root,
        is_captured,
        directory: subject.directory.as_deref(),
        server: subject.server,
    };
    let facts = look.facts();
    let round_trip = match arguments.rtt {
        Some(time) => Some(RoundTrip {
            seconds: time.as_secs_f64(),
            how: "as given".to_owned(),
            is_upper_bound: false,
        }),
        None => {
            let server = look.server(&facts.0).filter(|_| !is_captured);
            let connected = server.and_then(|server| check_look::round_trip(server, subject.port));
            connected.or_else(|| check_look::round_trip_of_mount(&facts))
        }
    };
    let want_bytes_per_s = arguments.want.map(units::BytesPerSec::get);
    Ok((facts, Asked { about: subject.about, want_bytes_per_s, round_trip, is_captured }))
}

/// Mounts the export, as a run would.
fn refuse_unreachable(url: &NfsUrl) -> Result<(), Refusal> {
    Session::open(url).map(drop).map_err(|error| {
        let path = PathBuf::from(format!("nfs://{}{}", url.authority(), url.path));
        Refusal::NoExport { path, source: Box::new(error) }
    })
}

/// A directory of this host, absolute and without links.
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

/// A tree that has what is needed.
fn captured_root(path: &Path) -> Result<Root, Failure> {
    let place = path.display();
    let is_directory = std::fs::metadata(path)
        .with_context(|| format!("read the captured host {place}"))
        .map_err(Failure::input)?
        .is_dir();
    if !is_directory {
        return Err(Failure::input(anyhow!(
            "read the captured host {place}: not a directory; unpack the archive first"
        )));
    }
    let root = Root::at(path);
    let missing = root.missing(&NEEDED);
    if missing.is_empty() {
        return Ok(root);
    }
    Err(Failure::input(anyhow!(
        "read the captured host {place}: {} not there\n  what to do: capture the host with the \
         script that `fourcorners check --capture-script` prints, and name the\n              \
         directory that it made",
        match missing.as_slice() {
            [one] => format!("{one} is"),
            many => format!("{} are", many.join(", ")),
        }
    )))
}

/// What is looked at.
struct Subject {
    about: About,
    directory: Option<PathBuf>,
    server: Option<IpAddr>,
    port: Option<u16>,
}

impl Subject {
    fn named(arguments: &CheckArguments, is_captured: bool) -> Result<Subject, Failure> {
        let Some(named) = arguments.target.as_deref() else {
            if let Some(option) = arguments.option.first() {
                return Err(Failure::input(anyhow!("use option `{option}`: no export is named")));
            }
            return Ok(Subject { about: About::Host, directory: None, server: None, port: None });
        };
        match named_target::spec(Some(named), &arguments.option)? {
            TargetSpec::Directory { path } => Subject::of_directory(&path, is_captured),
            TargetSpec::Nfs { url, .. } => {
                let url = named_target::parsed(&url)?;
                if !is_captured {
                    refuse_unreachable(&url).map_err(refusal::failure)?;
                }
                Ok(Subject::of_export(named, &url, is_captured))
            }
            TargetSpec::Null | TargetSpec::Emulated { .. } => Err(Failure::input(anyhow!(
                "check `{named}`: there is no store; leave it out to check the host alone"
            ))),
        }
    }

    fn of_directory(named: &str, is_captured: bool) -> Result<Subject, Failure> {
        let path = PathBuf::from(named);
        let directory = match is_captured {
            true if path.is_absolute() => path,
            true => {
                return Err(Failure::input(anyhow!(
                    "check {named} of a captured host: give the path from `/` on, as it was there"
                )));
            }
            false => existing_directory(&path).map_err(refusal::failure)?,
        };
        let about = About::Directory { path: named.to_owned() };
        Ok(Subject { about, directory: Some(directory), server: None, port: None })
    }

    fn of_export(named: &str, url: &NfsUrl, is_captured: bool) -> Subject {
        let literal = url.addresses.first().copied().or_else(|| url.host.parse().ok());
        // The names of another host are not asked of this one.
        let server = literal.or_else(|| match is_captured {
            true => None,
            false => check_look::resolved(&url.host),
        });
        let export = Export {
            url: named.to_owned(),
            connections: url.nconnect,
            slots: url.slots,
            privileged: url.privileged,
        };
        Subject { about: About::Export(export), directory: None, server, port: url.port }
    }
}
