//! The state of this host in each interval, read for the engine.

use engine::host_state::HostStateReader;
use host::Root;
use host::state::StateMeter;
use metrics::host_state::HostInterval;

/// A reader of this host's state.
///
/// * `service` - the thread that serves the emulated volume in this process, if there is one
pub(crate) fn reader(root: Root, service: Option<i32>) -> Box<dyn HostStateReader> {
    Box::new(Reader(StateMeter::new(root, service)))
}

struct Reader(StateMeter);

impl HostStateReader for Reader {
    fn begin(&mut self, workers: &[i32]) {
        self.0.begin(workers);
    }

    fn since_last(&mut self) -> HostInterval {
        self.0.since_last()
    }
}
