//! Ctrl-C and SIGTERM: the first finishes the interval and keeps the results, the second stops now,
//! the third ends the program as the system would have done.

use std::sync::Arc;

use anyhow::Context;
use engine::drive::Stop;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;

use crate::exit::{Exit, Failure};
use crate::terminal;

/// From here on the signals speak to the returned flag. The thread that waits for them sleeps until
/// one comes and ends with the process.
pub(crate) fn listen() -> Result<Arc<Stop>, Failure> {
    let stop = Arc::new(Stop::new());
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .context("listen for Ctrl-C")
        .map_err(|error| Failure { exit: Exit::OwnBug, error: Some(error) })?;
    let theirs = Arc::clone(&stop);
    std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || {
            for (count, signal) in signals.forever().enumerate() {
                match count {
                    0 => {
                        terminal::last_words(FIRST);
                        theirs.finish_interval();
                    }
                    1 => {
                        terminal::last_words(SECOND);
                        theirs.now();
                    }
                    _ => {
                        if let Err(error) = emulate_default_handler(signal) {
                            terminal::last_words(&format!("error: end at once: {error}\n"));
                        }
                    }
                }
            }
        })
        .context("start the thread that listens for Ctrl-C")
        .map_err(|error| Failure { exit: Exit::OwnBug, error: Some(error) })?;
    Ok(stop)
}

const FIRST: &str =
    "\ninterrupted: finishing the interval; results are kept; once more stops now\n";
const SECOND: &str = "\nstopping now; complete intervals are kept\n";
