//! Ctrl-C and SIGTERM: the first finishes the interval and keeps the results, the second stops
//! immediately, the third ends the program as without a handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::Context;
use commands::measure::experiment::Planned;
use commands::outcome::Failure;
use engine::drive::Stop;
use runner::event::{Event, Listener, ListenerError, Phase};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use target::threads::ThreadError;

use crate::terminal;

/// A request to stop, and what it interrupts. As a listener it follows the plan, so that the
/// message matches the current stage.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    pub(crate) stop: Arc<Stop>,
    stage: Arc<AtomicU8>,
}

/// Nothing is measured yet: files are inspected and filled, or the I/O method is chosen.
const PREPARING: u8 = 0;
/// A run is in progress, or the next will start.
const MEASURING: u8 = 1;
/// All runs are complete.
const FINISHED: u8 = 2;

impl Listener for Interrupt {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let stage = match event {
            Event::PhaseStarted { phase: Phase::Prepare, .. } => PREPARING,
            Event::RunStarted { .. } => MEASURING,
            Event::Finished { .. } => FINISHED,
            _ => return Ok(()),
        };
        self.stage.store(stage, Ordering::Relaxed);
        Ok(())
    }
}

/// Handles SIGXFSZ, so that exceeding `ulimit -f` is a write error (EFBIG) with the file's name
/// instead of the end of the program.
pub(crate) fn survive_file_size_limit() {
    // Without the handler the signal ends the program, as by default.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// Ignores SIGHUP, which an agent may get when its connection is cut: it then finishes its run.
pub(crate) fn survive_hang_up() {
    // Without the handler the signal ends the program, as by default.
    let _ = signal_hook::flag::register(SIGHUP, Arc::default());
}

/// Handles the signals with the returned flag. The thread that waits for them sleeps until one
/// arrives, and ends with the process.
pub(crate) fn listen() -> Result<Interrupt, Failure> {
    let interrupt =
        Interrupt { stop: Arc::new(Stop::new()), stage: Arc::new(AtomicU8::new(PREPARING)) };
    let mut signals =
        Signals::new([SIGINT, SIGTERM]).context("listen for Ctrl-C").map_err(Failure::internal)?;
    let handled = interrupt.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for (count, signal) in signals.forever().enumerate() {
                let stage = handled.stage.load(Ordering::Relaxed);
                match count {
                    0 => {
                        terminal::write_stderr(first_message(stage));
                        handled.stop.finish_interval();
                    }
                    1 => {
                        terminal::write_stderr(second_message(stage));
                        handled.stop.now();
                    }
                    _ => {
                        if let Err(error) = emulate_default_handler(signal) {
                            terminal::write_stderr(&format!("error: end the program: {error}\n"));
                        }
                    }
                }
            }
        })
        .map_err(|source| ThreadError { number: 1, requested: 1, source })
        .context("listen for Ctrl-C")
        .map_err(Failure::target)?;
    Ok(interrupt)
}

/// Handles the signals before a server is first contacted, if one of `planned` has a server: it may
/// not respond. Inspecting a local directory is quick, and until it is claimed the default handling
/// of Ctrl-C is right.
pub(crate) fn listen_for_servers(planned: &[Planned]) -> Result<Option<Interrupt>, Failure> {
    let has_server = |planned: &Planned| planned.plan.target().capabilities().own_client;
    planned.iter().any(has_server).then(listen).transpose()
}

const fn first_message(stage: u8) -> &'static str {
    match stage {
        PREPARING => {
            "\ninterrupted before measuring: stopping; files written so far are kept,\n  \
             and the next run writes only the rest\n"
        }
        FINISHED => "\nall runs are complete and stored; the results follow\n",
        _ => {
            "\ninterrupted: finishing the interval; results are kept; Ctrl-C again stops immediately\n"
        }
    }
}

const fn second_message(stage: u8) -> &'static str {
    match stage {
        MEASURING => "\nstopping immediately; complete intervals are kept\n",
        _ => "\nstopping; Ctrl-C again ends the program immediately\n",
    }
}
