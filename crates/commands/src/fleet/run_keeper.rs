//! Keeps one run of an agent: each interval in the spool first, then on its way to the controller.

use std::cell::{Cell, RefCell};
use std::ops::ControlFlow;

use cluster::message::Message;
use engine::run::RunEnd;
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use metrics::warning::Warning;
use record::frame;
use workload::plan::Run;

use super::request::Report;
use super::signals::Start;
use super::spool::Spool;
use super::station::{StationContext, send_report};

/// One run of an agent.
pub(super) struct RunKeeper<'a> {
    spool: RefCell<&'a mut Spool>,
    context: &'a StationContext<'a>,
    run: &'a Run,
    started: Cell<Option<Start>>,
    /// Intervals that were measured.
    intervals: Cell<u32>,
    /// Intervals are sent; not after one that could not be, because those after it would be refused.
    is_sending: Cell<bool>,
}

impl<'a> RunKeeper<'a> {
    pub(super) fn new(
        spool: &'a mut Spool,
        context: &'a StationContext<'a>,
        run: &'a Run,
    ) -> RunKeeper<'a> {
        RunKeeper {
            spool: RefCell::new(spool),
            context,
            run,
            started: Cell::new(None),
            intervals: Cell::new(0),
            is_sending: Cell::new(true),
        }
    }

    /// Waits for the start of the run; `None` if it is stopped.
    pub(super) fn await_start(&self, sequence: u32) -> Option<Start> {
        let mut spool = self.spool.borrow_mut();
        let start = self.context.signals.await_start(sequence, spool.is_kept())?;
        self.started.set(Some(start));
        spool.run_started(self.run);
        Some(start)
    }

    /// Keeps an interval and sends it. Breaks if neither succeeds.
    pub(super) fn interval(&self, interval: &Interval) -> ControlFlow<String> {
        self.intervals.set(self.intervals.get() + 1);
        let is_kept = self.spool.borrow_mut().interval(self.run.index, interval);
        if !is_kept {
            // Without the controller nothing would be left of the run.
            self.context.signals.run_ended();
            if self.is_sending.get()
                && let Some(warning) = self.spool.borrow_mut().take_failure()
            {
                let warnings = vec![warning];
                send_report(self.context.outbox, &Report::Warned { warnings });
            }
        }
        if self.is_sending.get() {
            let mut payload = Vec::new();
            record::interval::encode(self.run.index, interval, &mut payload);
            let message = Message::Frame { kind: frame::INTERVAL, payload };
            let sent = match is_kept {
                true => self.context.outbox.send_without_waiting(&message),
                false => self.context.outbox.send(&message),
            };
            if let Err(error) = sent {
                self.is_sending.set(false);
                if !is_kept {
                    return ControlFlow::Break(format!("the controller is gone: {error}"));
                }
            }
        }
        match is_kept || self.is_sending.get() {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break("the controller is gone, and so is the spool".to_owned()),
        }
    }

    /// Intervals that were measured so far.
    pub(super) const fn intervals(&self) -> u32 {
        self.intervals.get()
    }

    /// Keeps how the run ended, and returns the warnings that are not reported yet.
    pub(super) fn finished(&self, end: &RunEnd, mut warnings: Vec<Warning>) -> Vec<Warning> {
        let mut spool = self.spool.borrow_mut();
        if let Some(start) = self.started.get() {
            let started = end.started_late_ns.map(|late_ns| (start, late_ns));
            spool.run_finished(self.run.index, started, &warnings, &outcome_of(end));
        }
        self.context.signals.run_ended();
        warnings.extend(spool.take_failure());
        warnings
    }
}

/// How a share ended; corrupt data is a failure.
fn outcome_of(end: &RunEnd) -> Outcome {
    match &end.outcome {
        Outcome::Done | Outcome::Interrupted if !end.mismatches.is_empty() => {
            Outcome::Failed { reason: end.mismatches.join("\n") }
        }
        outcome => outcome.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_with_corrupt_data_failed_however_it_ended() {
        let mut end = RunEnd::of(Outcome::Done);
        assert_eq!(outcome_of(&end), Outcome::Done);
        end.mismatches = vec!["file a, offset 0".to_owned()];
        let failed = Outcome::Failed { reason: "file a, offset 0".to_owned() };
        assert_eq!(outcome_of(&end), failed);
    }
}
