//! `agent`: the far end of a fleet, on the pipe that a controller opened.

use std::fs;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use cluster::agent_loop::{self, Outbox, Work};
use cluster::message::{Hello, PROTOCOL};
use serde::Serialize;
use units::BytesPerSec;

use super::request::{HostFacts, Request};
use super::signals::Signals;
use super::station::{Station, StationContext};
use crate::check;
use crate::outcome::{Failure, Reason};

/// Serves the controller on standard input and output until it closes them.
///
/// # Errors
/// The pipe failed, or what arrives is not from a controller.
pub fn serve(version: &str) -> Result<(), Failure> {
    let hello = Hello {
        protocol: PROTOCOL,
        version: version.to_owned(),
        host_name: kernel_value("hostname"),
        boot_id: kernel_value("random/boot_id"),
        process: std::process::id(),
    };
    let begun = Instant::now();
    let signals = Arc::new(Signals::default());
    let agent = Agent { begun, signals: Arc::clone(&signals), station: None };
    let on_signal = |signal: Option<&[u8]>| match signal {
        Some(signal) => signals.take(signal),
        None => signals.end(),
    };
    agent_loop::serve(hello, begun, io::stdin(), io::stdout(), agent, on_signal)
        .context("serve the controller on standard input")
        .map_err(Failure::input)
}

fn kernel_value(name: &str) -> String {
    let path = format!("/proc/sys/kernel/{name}");
    fs::read_to_string(path).map_or_else(|_| String::new(), |text| text.trim().to_owned())
}

/// Does what requests say. An error is its reason, and what to do on the next line.
struct Agent {
    /// When the clock that the controller samples was 0.
    begun: Instant,
    signals: Arc<Signals>,
    /// The target of the plan that is measured.
    station: Option<Station>,
}

impl Work for Agent {
    fn work(&mut self, request: &[u8], outbox: &Outbox) -> Result<Vec<u8>, String> {
        let request = Request::parse(request)?;
        self.answer(request, outbox).map_err(|failure| in_words(&failure))
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
                return Ok(to_bytes(&HostFacts::of(check::check(&options)?)));
            }
            Request::Open(open) => {
                // A directory is released before it is claimed again.
                self.station = None;
                let (station, opened) = Station::open(*open, &context)?;
                self.station = Some(station);
                return Ok(to_bytes(&opened));
            }
            other => other,
        };
        let station = self.station.as_mut();
        let station = station.context("no target was opened").map_err(Failure::internal)?;
        Ok(match request {
            Request::BeginFill { sequence, writers } => {
                to_bytes(&station.begin_fill(sequence, &writers, &context)?)
            }
            Request::FillPart { sequence, part } => {
                to_bytes(&station.fill_part(sequence, *part, &context)?)
            }
            Request::EndFill => to_bytes(&station.end_fill()?),
            Request::UseFiles { manifest } => to_bytes(&station.use_files(*manifest)?),
            Request::ChooseIoMethod => to_bytes(&station.choose_io_method()?),
            Request::Run { sequence, assignment, io_method } => {
                to_bytes(&station.run(sequence, &assignment, io_method, &context)?)
            }
            Request::Left => to_bytes(&station.left()),
            Request::Facts { .. } | Request::Open(_) => unreachable!("answered above"),
        })
    }
}

fn to_bytes(answer: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(answer).expect("an answer is numbers, texts and lists")
}

fn in_words(failure: &Failure) -> String {
    let reason = match &failure.reason {
        Reason::Error(error) => format!("{error:#}"),
        Reason::Problems { problems, .. } => {
            problems.first().map_or_else(String::new, |problem| problem.message.clone())
        }
    };
    match &failure.remedy {
        Some(remedy) => format!("{reason}\n{remedy}"),
        None => reason,
    }
}
