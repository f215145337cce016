//! The first listener: stores every event before another listener sees it.

use runner::event::{Event, Listener, ListenerError};
use store::Writer;

/// Stores events in the record of an experiment.
pub(super) struct RecordWriter {
    writer: Writer,
    /// Intervals of each host are stored, from which those of all hosts follow.
    is_fleet: bool,
}

impl RecordWriter {
    /// Stores into `writer`.
    pub(super) fn new(writer: Writer) -> RecordWriter {
        RecordWriter { writer, is_fleet: false }
    }
}

impl Listener for RecordWriter {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let writer = &mut self.writer;
        let stored = match event {
            Event::IoMethodChosen(used) => writer.io_method_chosen(used),
            Event::PrepareFinished(prepared) => writer.prepared(prepared),
            Event::RunStarted { run, started_unix_ms } => writer.run_started(run, *started_unix_ms),
            Event::FleetReady { hosts } => {
                self.is_fleet = true;
                writer.fleet(hosts)
            }
            Event::Interval { .. } if self.is_fleet => Ok(()),
            Event::Interval { run_index, interval } => writer.interval(*run_index, interval),
            Event::HostInterval { run_index, host, interval } => {
                writer.host_interval(*host, *run_index, interval)
            }
            Event::HostEvent { run_index, host, event } => {
                writer.host_event(*host, *run_index, event)
            }
            Event::Warning { run_index, warning } => writer.warning(*run_index, warning),
            Event::ServiceCounters { run_index, counts } => {
                writer.service_counters(*run_index, counts)
            }
            Event::TreesCompared { run_index, trees } => writer.trees(*run_index, trees),
            Event::RunFinished { run_index, outcome } => writer.run_finished(*run_index, outcome),
            Event::Finished { outcome } => writer.finish(outcome),
            // They follow from the intervals and the plan.
            Event::PhaseStarted { .. } | Event::PrepareProgress { .. } => Ok(()),
        };
        stored.map_err(|error| ListenerError(error.to_string()))
    }
}
