//! Waits for an NFS server on the terminal, and their end by Ctrl-C.

use std::sync::Arc;

use engine::drive::Stop;
use target::folder::{Observer, Place};
use target::nfs::{NfsUrl, WaitObserver, WaitReport};

use crate::terminal::last_words;

/// Prints what is awaited; a request to stop ends it.
#[derive(Debug)]
struct WaitsOnTerminal {
    /// `None` where the system's own handling of Ctrl-C ends the program.
    stop: Option<Arc<Stop>>,
}

impl WaitObserver for WaitsOnTerminal {
    fn is_cancelled(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.is_requested())
    }

    fn report(&self, wait: &WaitReport) {
        last_words(&format!("{wait}\n"));
    }
}

/// An export whose waits are printed, and ended by `stop` where there is one.
pub(crate) fn export(url: NfsUrl, stop: Option<&Arc<Stop>>) -> Place {
    let observer: Observer = Arc::new(WaitsOnTerminal { stop: stop.cloned() });
    Place::ObservedNfs(url, observer)
}
