//! `agent`: the far end of a fleet, on the pipe that a controller opened.

use std::fs;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use cluster::agent_loop::{self, Attend, Work};
use cluster::message::{Hello, PROTOCOL};
use cluster::outbox::Outbox;
use metrics::fleet::SpoolOwner;
use units::BytesPerSec;

use super::build;
use super::reply;
use super::request::{HostFacts, Request};
use super::signals::Signals;
use super::spool::{self, Spool, SpoolRequest};
use super::station::{Station, StationContext};
use crate::outcome::Failure;
use crate::{check, unix_ms};

/// Serves the controller on standard input and output until it closes them.
///
/// * `is_same_file` - the controller has started its own file, which need not be compared
///
/// # Errors
/// The pipe failed, or what arrives is not from a controller.
pub fn serve(version: &str, is_same_file: bool) -> Result<(), Failure> {
    let hello = Hello {
        protocol: PROTOCOL,
        build: build(version, !is_same_file),
        host_name: kernel_value("hostname"),
        boot_id: kernel_value("random/boot_id"),
        namespaces: namespaces(),
        process: std::process::id(),
    };
    let begun = Instant::now();
    let signals = Arc::new(Signals::default());
    let agent = Agent {
        begun,
        boot_id: hello.boot_id.clone(),
        signals: Arc::clone(&signals),
        station: None,
        spool: Spool::default(),
    };
    agent_loop::serve(hello, begun, io::stdin(), io::stdout(), agent, Attending(signals))
        .context("serve the controller on standard input")
        .map_err(Failure::input)
}

/// The signals, on the thread that reads from the controller.
struct Attending(Arc<Signals>);

impl Attend for Attending {
    fn signal(&mut self, signal: &[u8]) {
        self.0.take(signal);
    }

    fn end(&mut self) {
        self.0.end();
    }

    fn is_finishing(&self) -> bool {
        self.0.is_finishing()
    }
}

fn kernel_value(name: &str) -> String {
    let path = format!("/proc/sys/kernel/{name}");
    fs::read_to_string(path).map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

/// Those that differ between containers; empty if they cannot be read.
fn namespaces() -> String {
    let read = |kind| fs::read_link(format!("/proc/self/ns/{kind}"));
    let all = ["pid", "net"].map(read).into_iter().collect::<Result<Vec<_>, _>>();
    let names = all.unwrap_or_default();
    names.iter().map(|name| name.display().to_string()).collect::<Vec<_>>().join(" ")
}

/// Does what requests say.
struct Agent {
    /// When the clock that the controller samples was 0.
    begun: Instant,
    /// Changes when the machine restarts.
    boot_id: String,
    signals: Arc<Signals>,
    /// The target of the plan that is measured.
    station: Option<Station>,
    /// What this host keeps of the record that is measured.
    spool: Spool,
}

impl Work for Agent {
    fn work(&mut self, request: &[u8], outbox: &Outbox) -> Result<Vec<u8>, String> {
        if self.signals.has_ended() {
            return Err("the controller is gone".to_owned());
        }
        let request = Request::parse(request)?;
        Ok(self.answer(request, outbox).unwrap_or_else(|failure| reply::failed(&failure)))
    }
}

impl Agent {
    fn answer(&mut self, request: Request, outbox: &Outbox) -> Result<Vec<u8>, Failure> {
        let context = StationContext { begun: self.begun, signals: &self.signals, outbox };
        let request = match request {
            Request::Facts { target, option, target_rate_bytes_per_s, round_trip_ns } => {
                let options = check::Options {
                    target,
                    option,
                    target_rate: target_rate_bytes_per_s.map(BytesPerSec::new),
                    round_trip: round_trip_ns.map(Duration::from_nanos),
                    root: None,
                };
                return Ok(reply::done(&HostFacts::of(check::check(&options)?)));
            }
            Request::Open(open) => {
                // A directory is released before it is claimed again.
                self.station = None;
                let (station, opened) = Station::open(*open, &context)?;
                self.station = Some(station);
                return Ok(reply::done(&opened));
            }
            Request::Spool(request) => {
                let done = answer_about_spools(request, &mut self.spool, &self.boot_id, outbox);
                return done.map_err(|reason| Failure::target(anyhow!(reason)));
            }
            other => other,
        };
        let station = self.station.as_mut();
        let station = station.context("no target was opened").map_err(Failure::internal)?;
        Ok(match request {
            Request::TakeList { checksum, piece, is_last } => {
                reply::done(&station.take_list(&checksum, &piece, is_last)?)
            }
            Request::BeginFill { sequence, target, writers } => {
                reply::done(&station.begin_fill(sequence, target, &writers, &context)?)
            }
            Request::FillPart { sequence, target, part } => {
                reply::done(&station.fill_part(sequence, target, *part, &context)?)
            }
            Request::EndFill { target } => reply::done(&station.end_fill(target)?),
            Request::UseFiles { target, manifest } => {
                reply::done(&station.use_files(target, *manifest)?)
            }
            Request::MakeTrees { sequence, target } => {
                reply::done(&station.make_trees(sequence, target, &context)?)
            }
            Request::RestoreTrees { sequence, run } => {
                reply::done(&station.restore_trees(sequence, &run, &context)?)
            }
            Request::CompareTrees { sequence, run, lanes } => {
                reply::done(&station.compare_trees(sequence, &run, lanes, &context))
            }
            Request::ChooseIoMethod => reply::done(&station.choose_io_method()?),
            Request::Run { sequence, assignment, io_method } => {
                let spool = &mut self.spool;
                reply::done(&station.run(sequence, *assignment, io_method, spool, &context)?)
            }
            Request::Left { sequence } => reply::done(&station.left(sequence, &context)),
            Request::Facts { .. } | Request::Open(_) | Request::Spool(_) => {
                unreachable!("answered above")
            }
        })
    }
}

/// * `spool` - the one that this agent writes
fn answer_about_spools(
    request: SpoolRequest,
    spool: &mut Spool,
    boot_id: &str,
    outbox: &Outbox,
) -> Result<Vec<u8>, String> {
    Ok(match request {
        SpoolRequest::Begin { record, host, host_name } => {
            spool.begin(SpoolOwner {
                record,
                host,
                host_name,
                boot_id: boot_id.to_owned(),
                process: std::process::id(),
                begun_unix_ms: unix_ms(),
            });
            reply::done(&())
        }
        SpoolRequest::End => reply::done(&spool.end()?),
        SpoolRequest::List => reply::done(&spool::list(boot_id)?),
        SpoolRequest::Send { name, have } => reply::done(&spool::send(&name, &have, outbox)?),
        SpoolRequest::Remove { name } => reply::done(&spool::remove(&name)?),
    })
}
