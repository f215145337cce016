//! Ctrl-C and SIGTERM: the first finishes the interval and keeps the results, the second stops now,
//! the third ends the program as the system would have done.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use anyhow::Context;
use engine::drive::Stop;
use runner::event::{Event, Listener, ListenerError, Phase};
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use target::threads::ThreadError;
use workload::plan::TargetSpec;

use crate::exit::Failure;
use crate::experiment::Planned;
use crate::terminal;

/// The wish to stop, and what it would interrupt: as a listener it follows the plan, so that what
/// is said to the user is true at that moment.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt {
    pub(crate) stop: Arc<Stop>,
    moment: Arc<AtomicU8>,
}

/// Nothing is measured yet: files are looked at and written, or the engine is chosen.
const PREPARING: u8 = 0;
/// A run goes on, or the next is about to.
const MEASURING: u8 = 1;
/// Everything is measured.
const FINISHED: u8 = 2;

impl Listener for Interrupt {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let moment = match event {
            Event::PhaseStarted { phase: Phase::Prepare, .. } => PREPARING,
            Event::RunStarted { .. } => MEASURING,
            Event::Finished { .. } => FINISHED,
            _ => return Ok(()),
        };
        self.moment.store(moment, Ordering::Relaxed);
        Ok(())
    }
}

/// From here on a file that would become larger than `ulimit -f` allows is an error of the write
/// (EFBIG), which names the file, instead of the end of the program (SIGXFSZ).
pub(crate) fn survive_file_size_limit() {
    // A handler that cannot be installed leaves things as they were.
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// From here on the signals speak to the returned flag. The thread that waits for them sleeps until
/// one comes and ends with the process.
pub(crate) fn listen() -> Result<Interrupt, Failure> {
    let interrupt =
        Interrupt { stop: Arc::new(Stop::new()), moment: Arc::new(AtomicU8::new(PREPARING)) };
    let mut signals =
        Signals::new([SIGINT, SIGTERM]).context("listen for Ctrl-C").map_err(Failure::bug)?;
    let theirs = interrupt.clone();
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for (count, signal) in signals.forever().enumerate() {
                let moment = theirs.moment.load(Ordering::Relaxed);
                match count {
                    0 => {
                        terminal::last_words(first_words(moment));
                        theirs.stop.finish_interval();
                    }
                    1 => {
                        terminal::last_words(second_words(moment));
                        theirs.stop.now();
                    }
                    _ => {
                        if let Err(error) = emulate_default_handler(signal) {
                            terminal::last_words(&format!("error: end at once: {error}\n"));
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

/// The same from before a server is first called, where one of `planned` has a server, which may
/// not answer. A directory of this host is surveyed quickly, and until it is claimed Ctrl-C simply
/// ends the program.
pub(crate) fn listen_for_servers(planned: &[Planned]) -> Result<Option<Interrupt>, Failure> {
    let has_server = |planned: &Planned| match planned.plan.target {
        TargetSpec::Emulated { .. } | TargetSpec::Nfs { .. } => true,
        TargetSpec::Directory { .. } | TargetSpec::Null => false,
    };
    planned.iter().any(has_server).then(listen).transpose()
}

const fn first_words(moment: u8) -> &'static str {
    match moment {
        PREPARING => {
            "\ninterrupted before anything was measured: stopping; what is written is kept,\n  \
             and the next run writes only the rest\n"
        }
        FINISHED => "\neverything is measured and kept; the results follow\n",
        _ => "\ninterrupted: finishing the interval; results are kept; once more stops now\n",
    }
}

const fn second_words(moment: u8) -> &'static str {
    match moment {
        MEASURING => "\nstopping now; complete intervals are kept\n",
        _ => "\nstopping; once more ends the program at once\n",
    }
}
