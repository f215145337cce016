//! The first listener: everything that happens goes into the store before anybody else sees it.

use runner::event::{Event, Listener, ListenerError};
use store::Writer;

/// Keeps events in the record of an experiment.
pub(crate) struct Keep {
    writer: Writer,
}

impl Keep {
    /// Keeps into `writer`.
    pub(crate) fn new(writer: Writer) -> Keep {
        Keep { writer }
    }
}

impl Listener for Keep {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        let writer = &mut self.writer;
        let kept = match event {
            Event::EngineChosen(used) => writer.engine_chosen(used),
            Event::PrepareFinished(prepared) => writer.prepared(prepared),
            Event::RunStarted { run, started_unix_ms } => writer.run_started(run, *started_unix_ms),
            Event::Interval { run_index, interval } => writer.interval(*run_index, interval),
            Event::Warning { run_index, warning } => writer.warning(*run_index, warning),
            Event::Witnessed { run_index, counts } => writer.witnessed(*run_index, counts),
            Event::RunFinished { run_index, outcome } => writer.run_finished(*run_index, outcome),
            Event::Finished { outcome } => writer.finish(outcome),
            // They can be told from the intervals and the plan.
            Event::PhaseStarted { .. } | Event::PrepareProgress { .. } => Ok(()),
        };
        kept.map_err(|error| ListenerError(error.to_string()))
    }
}
