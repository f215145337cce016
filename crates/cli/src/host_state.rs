//! Reads the state of this host for each interval: converts what `host` reads to what `metrics`
//! records.

use engine::host_state::HostStateReader;
use host::Root;
use host::state::{StateChange, StateMeter};
use metrics::host_state::{HostInterval, ProcessorTimes};

/// A reader of this host. `service` is the number of the thread that serves the emulated volume in
/// this process, if there is one.
pub(crate) fn reader(root: Root, service: Option<i32>) -> Box<dyn HostStateReader> {
    Box::new(Reader(StateMeter::new(root, service)))
}

struct Reader(StateMeter);

impl HostStateReader for Reader {
    fn begin(&mut self, workers: &[i32]) {
        self.0.begin(workers);
    }

    fn since_last(&mut self) -> HostInterval {
        interval(self.0.since_last())
    }
}

fn interval(change: StateChange) -> HostInterval {
    HostInterval {
        span_ns: change.span_ns,
        reading_cpu_ns: change.reading_cpu_ns,
        processors: change.processors,
        quota_millicores: change.quota_millicores,
        times: change.times.map(|times| ProcessorTimes {
            busy_ns: times.busy_ns,
            idle_ns: times.idle_ns,
            steal_ns: times.steal_ns,
        }),
        runnable_tasks: change.runnable_tasks,
        pressure_ns: change.pressure_ns,
        run_queue_delay_ns: change.run_queue_delay_ns,
        service_cpu_ns: change.service_cpu_ns,
    }
}
