//! Prints waits for an NFS server; Ctrl-C ends them.

use std::sync::Arc;

use engine::drive::Stop;
use target::nfs::{Observer, WaitObserver, WaitReport};
use units::listed;

use crate::terminal::write_stderr;

#[derive(Debug)]
struct WaitsOnTerminal {
    /// `None` if the system's default handling of Ctrl-C ends the program.
    stop: Option<Arc<Stop>>,
}

impl WaitObserver for WaitsOnTerminal {
    fn is_cancelled(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.is_requested())
    }

    fn report(&self, wait: &WaitReport) {
        write_stderr(&format!("{wait}\n"));
    }

    fn report_of_hosts(&self, hosts: &[&str], wait: &str) {
        let each = if hosts.len() > 1 { ", each" } else { "" };
        write_stderr(&format!("{}{each}: {wait}\n", listed(hosts)));
    }
}

/// An observer that prints waits, which a request to `stop` ends.
pub(crate) fn observer(stop: Option<&Arc<Stop>>) -> Observer {
    Arc::new(WaitsOnTerminal { stop: stop.cloned() })
}
