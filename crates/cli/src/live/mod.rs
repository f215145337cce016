//! Progress on stderr while a plan is executed.
//!
//! On a terminal it is one screen that is redrawn in place: [`model`] follows the events, [`screen`]
//! lays out its lines for a width and a height, [`painter`] draws them. Elsewhere, and with
//! `--plain`, it is plain lines ([`lines`]). The figures are those of `analysis::series`; this module
//! computes no statistics.

mod fill;
mod history;
mod lines;
mod model;
pub(crate) mod painter;
mod position;
mod quantities;
mod screen;
mod table;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use analysis::fleet::MissingHosts;
use metrics::fleet::{FleetHost, HostEvent};
use metrics::run_record::{ChosenIoMethod, Outcome, Prepared};
use runner::event::{Event, Listener, ListenerError};
use units::{Bytes, Nanos, print_whole_seconds};
use workload::plan::Plan;

use crate::connection_state::ConnectionState;
use crate::run_args::RunArguments;
use crate::terminal::Terminal;
use lines::PlainLines;
use model::LiveModel;

/// The screen is redrawn at most this often, because intervals may be as short as a millisecond.
const REDRAW_EVERY: Duration = Duration::from_millis(50);

/// The progress of `plan` in the form that the flags and the terminal ask for.
pub(crate) fn progress(
    plan: &Plan,
    arguments: &RunArguments,
    terminal: &Terminal,
) -> Box<dyn Listener> {
    if arguments.no_progress {
        return Box::new(Decisions::new(terminal));
    }
    // Events on the same terminal would be mixed with the screen.
    let is_shared = arguments.events.is_some() && std::io::stdout().is_terminal();
    if can_redraw(terminal) && !arguments.plain && !arguments.verbose && !is_shared {
        return Box::new(Screen::new(plan, terminal));
    }
    Box::new(PlainLines::new(plan, arguments.verbose, terminal))
}

/// Whether stderr is a terminal that understands control sequences.
fn can_redraw(terminal: &Terminal) -> bool {
    terminal.is_interactive && std::env::var_os("TERM").is_none_or(|kind| kind != "dumb")
}

/// The screen that is redrawn in place until the last run has ended.
struct Screen {
    model: LiveModel,
    drawn: Instant,
    is_colored: bool,
}

impl Screen {
    fn new(plan: &Plan, terminal: &Terminal) -> Screen {
        let model = LiveModel::new(plan);
        Screen { model, drawn: Instant::now(), is_colored: terminal.color_stderr }
    }
}

impl Listener for Screen {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let now = Instant::now();
        self.model.take(event, now);
        match event {
            Event::Finished { .. } => {
                painter::clear();
                return Ok(());
            }
            // The screen stays as it is between two runs, because it would flicker.
            _ if self.model.is_between_runs() => return Ok(()),
            Event::Interval { .. } | Event::PrepareProgress { .. }
                if now.duration_since(self.drawn) < REDRAW_EVERY =>
            {
                return Ok(());
            }
            _ => {}
        }
        self.drawn = now;
        painter::draw(self.model.lines(painter::size()), self.is_colored);
        Ok(())
    }
}

impl Drop for Screen {
    /// After an error that ended the plan without its last event.
    fn drop(&mut self) {
        painter::clear();
    }
}

/// What happened to one of several hosts, if the user must know immediately.
#[derive(Debug, Default)]
struct HostNews {
    hosts: Vec<FleetHost>,
    /// Why hosts are lost: a host is missing from each further run for the same reason.
    lost: BTreeMap<u32, String>,
}

impl HostNews {
    fn ready(&mut self, hosts: &[FleetHost]) {
        self.hosts = hosts.to_vec();
        self.lost.clear();
    }

    fn words(&mut self, host: u32, event: &HostEvent) -> Option<String> {
        let HostEvent::Lost { at_ns, why, others_continued } = event else { return None };
        let known = self.lost.insert(host, why.clone()).as_ref() == Some(why);
        if known && *at_ns == 0 {
            return None;
        }
        let name = self.hosts.get(host as usize).map_or("a host", |host| host.name.as_str());
        let at = print_whole_seconds(Duration::from_nanos(*at_ns));
        let then = if *others_continued { "; the others continue" } else { "" };
        Some(format!("{name} is lost at t = {at}: {why}{then}"))
    }
}

/// After a total of fewer hosts: ` (23/24 hosts)`; nothing if it is that of all.
fn hosts_words(missing: Option<MissingHosts>) -> String {
    missing.map_or(String::new(), |missing| format!(" ({missing})"))
}

/// Without progress: prints the chosen I/O method, and lost and restored connections.
struct Decisions {
    terminal: Terminal,
    connections: ConnectionState,
}

impl Decisions {
    fn new(terminal: &Terminal) -> Decisions {
        Decisions { terminal: *terminal, connections: ConnectionState::default() }
    }
}

impl Listener for Decisions {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        match event {
            Event::IoMethodChosen(used) => self.terminal.note_wrapped(&engine_words(used)),
            Event::RunStarted { .. } => self.connections = ConnectionState::default(),
            Event::Interval { interval, .. } => {
                if let Some(changed) = self.connections.observe(interval) {
                    self.terminal.note(&changed);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

fn engine_words(used: &ChosenIoMethod) -> String {
    format!("engine: {} ({})", used.io_method.name(), used.reason)
}

fn prepared_words(prepared: &Prepared) -> String {
    match prepared.written_bytes {
        0 => format!("files of {}: ready, no data to write", prepared.stream),
        bytes => format!(
            "files of {}: ready, {} written in {}",
            prepared.stream,
            Bytes::new(bytes),
            Nanos(prepared.took_ns as f64)
        ),
    }
}

/// How a run ended, unless it ended as planned.
fn ended_words(outcome: &Outcome) -> Option<String> {
    Some(match outcome {
        Outcome::Done => return None,
        Outcome::Interrupted => "run interrupted".to_owned(),
        // The full reason is printed at the end.
        Outcome::Failed { reason } => {
            format!("run failed: {}", reason.lines().next().unwrap_or_default())
        }
        Outcome::Aborted => "run aborted".to_owned(),
    })
}
