//! Keeps one run of an agent: each interval in the spool first, then on its way to the controller.

use std::cell::{Cell, RefCell};
use std::ops::{ControlFlow, DerefMut};
use std::sync::Arc;

use cluster::message::Message;
use cluster::outbox::Outbox;
use engine::run::RunEnd;
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use metrics::warning::Warning;
use record::frame;
use workload::plan::Run;

use super::request::Report;
use super::signals::{Signals, Start};
use super::spool::Spool;
use super::station::send_report;

/// One run of an agent.
pub(super) struct RunKeeper<S> {
    spool: RefCell<S>,
    signals: Arc<Signals>,
    outbox: Outbox,
    run_index: u32,
    started: Cell<Option<Start>>,
    /// Intervals that were measured.
    intervals: Cell<u32>,
    /// Intervals are sent; not after one that could not be, because those after it would be refused.
    is_sending: Cell<bool>,
}

impl<S: DerefMut<Target = Spool>> RunKeeper<S> {
    /// Keeps the intervals of the run with this index in `spool`, and sends them.
    pub(super) fn new(
        spool: S,
        signals: Arc<Signals>,
        outbox: Outbox,
        run_index: u32,
    ) -> RunKeeper<S> {
        RunKeeper {
            spool: RefCell::new(spool),
            signals,
            outbox,
            run_index,
            started: Cell::new(None),
            intervals: Cell::new(0),
            is_sending: Cell::new(true),
        }
    }

    /// Whether what is measured is being kept on this host.
    pub(super) fn is_kept(&self) -> bool {
        self.spool.borrow_mut().is_kept()
    }

    /// Takes the start of the run.
    pub(super) fn started(&self, start: Start, run: &Run) {
        self.started.set(Some(start));
        self.spool.borrow_mut().run_started(run);
    }

    /// Keeps an interval and sends it. Breaks if neither succeeds.
    pub(super) fn interval(&self, interval: &Interval) -> ControlFlow<String> {
        self.intervals.set(self.intervals.get() + 1);
        let is_kept = self.spool.borrow_mut().interval(self.run_index, interval);
        if !is_kept {
            // Without the controller nothing would be left of the run.
            self.signals.run_ended();
            if self.is_sending.get()
                && let Some(warning) = self.spool.borrow_mut().take_failure()
            {
                let warnings = vec![warning];
                send_report(&self.outbox, &Report::Warned { warnings });
            }
        }
        if self.is_sending.get() {
            let mut payload = Vec::new();
            record::interval::encode(self.run_index, interval, &mut payload);
            let message = Message::Frame { kind: frame::INTERVAL, payload };
            let sent = match is_kept {
                true => self.outbox.send_without_waiting(&message),
                false => self.outbox.send(&message),
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

    /// The spool, for another run.
    #[cfg(test)]
    pub(super) fn into_spool(self) -> S {
        self.spool.into_inner()
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
            spool.run_finished(self.run_index, started, &warnings, &outcome_of(end));
        }
        self.signals.run_ended();
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
