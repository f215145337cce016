//! Signals of the controller for the request that an agent is doing. They arrive on another thread than the
//! one that does the work, and may arrive before that request begins or after it has ended.

use std::ops::ControlFlow;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use engine::drive::Stop;
use target::manifest::DurableBytes;

use super::request::{Signal, SignalKind};

/// How often a wait for the start looks at the request to stop.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// After this time, a request that was stopped no longer waits for a server.
const ABANDONED_AFTER: Duration = Duration::from_secs(2);

/// The signals for one request.
#[derive(Debug, Default)]
pub(super) struct Signals {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// That of the request; signals for an earlier one are too late.
    sequence: u32,
    start: Option<Start>,
    stop: Arc<Stop>,
    /// When it was asked to stop now.
    stopped: Option<Instant>,
    /// What other hosts have written durably, and is not taken yet.
    durable: Vec<DurableBytes>,
    /// Nothing more follows in `durable`.
    others_ended: bool,
    /// A run is executed that can be finished without the controller.
    can_finish_alone: bool,
    /// The controller is gone.
    has_ended: bool,
}

impl State {
    fn stop_now(&mut self) {
        self.stop.now();
        self.stopped.get_or_insert_with(Instant::now);
    }

    /// Breaks with the start of the run, or with `None` if it is stopped.
    fn take_start(&mut self, can_finish_alone: bool) -> ControlFlow<Option<Start>> {
        if self.stop.is_requested() {
            return ControlFlow::Break(None);
        }
        let Some(start) = self.start else { return ControlFlow::Continue(()) };
        self.can_finish_alone = can_finish_alone;
        ControlFlow::Break(Some(start))
    }
}

/// When a run starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Start {
    /// By the agent's clock, in nanoseconds.
    pub(super) at_ns: u64,
    /// At most this much earlier or later than on the controller, in nanoseconds.
    pub(super) clock_error_ns: u64,
}

impl Signals {
    /// Takes a signal. One that cannot be read is ignored: both ends have the same version.
    pub(super) fn take(&self, signal: &[u8]) {
        let Ok(Signal { sequence, kind }) = serde_json::from_slice(signal) else { return };
        let Some(mut state) = self.of(sequence) else { return };
        match kind {
            SignalKind::Go { start_ns: at_ns, clock_error_ns } => {
                state.start = Some(Start { at_ns, clock_error_ns });
            }
            SignalKind::EndAt { end_ns } => state.stop.finish_at(end_ns),
            SignalKind::Stop => state.stop_now(),
            SignalKind::Durable { files } => state.durable.extend(files),
            SignalKind::OthersFilled => state.others_ended = true,
        }
        self.changed.notify_all();
    }

    /// The controller is gone: stops what is being done, unless it is a run that can be finished alone.
    /// No later request begins.
    pub(super) fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.can_finish_alone {
            state.stop_now();
        }
        state.sequence = u32::MAX;
        state.start = None;
        state.has_ended = true;
        self.changed.notify_all();
    }

    /// Whether the request that is being done no longer waits for a server, because it was stopped some
    /// time ago. A server that responds within that time still gets what records the progress.
    pub(super) fn is_abandoned(&self) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.stopped.is_some_and(|stopped| stopped.elapsed() >= ABANDONED_AFTER)
    }

    /// Whether the controller is gone.
    pub(super) fn has_ended(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).has_ended
    }

    /// Whether a run is executed that is not stopped by the end of the controller.
    pub(super) fn is_finishing(&self) -> bool {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).can_finish_alone
    }

    /// The run that was started has ended, or nothing would be left of it.
    pub(super) fn run_ended(&self) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).can_finish_alone = false;
    }

    /// Like [`Signals::await_start`], without waiting; continues if neither has arrived.
    #[cfg(test)]
    pub(super) fn poll_start(
        &self,
        sequence: u32,
        can_finish_alone: bool,
    ) -> ControlFlow<Option<Start>> {
        let none = ControlFlow::Break(None);
        self.of(sequence).map_or(none, |mut state| state.take_start(can_finish_alone))
    }

    /// The state of a request; `None` if a later one has begun.
    fn of(&self, sequence: u32) -> Option<MutexGuard<'_, State>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.sequence < sequence {
            let has_ended = state.has_ended;
            *state = State { sequence, has_ended, ..State::default() };
        }
        (state.sequence == sequence).then_some(state)
    }

    /// The request to stop the request with this number.
    pub(super) fn stop(&self, sequence: u32) -> Arc<Stop> {
        let stopped = || {
            let stop = Stop::new();
            stop.now();
            Arc::new(stop)
        };
        self.of(sequence).map_or_else(stopped, |state| Arc::clone(&state.stop))
    }

    /// What other hosts have written durably since the last call, also after [`Signals::end`].
    pub(super) fn take_durable(&self) -> Vec<DurableBytes> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut state.durable)
    }

    /// The same, but waits for it; `None` when the others have ended or the controller is gone.
    pub(super) fn await_durable(&self, sequence: u32) -> Option<Vec<DurableBytes>> {
        loop {
            let durable = self.take_durable();
            if !durable.is_empty() {
                return Some(durable);
            }
            let state = self.of(sequence)?;
            if !state.durable.is_empty() {
                continue;
            }
            if state.others_ended {
                return None;
            }
            let waited = self.changed.wait_timeout(state, LOOK_EVERY);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }

    /// Whether the parts of all other hosts have ended, or the controller is gone.
    #[cfg(test)]
    pub(super) fn others_have_ended(&self, sequence: u32) -> bool {
        self.of(sequence).is_none_or(|state| state.others_ended)
    }

    /// Waits for the start; `None` if the request is stopped. From the start on, the end of the controller
    /// does not stop a run that can be finished alone.
    pub(super) fn await_start(&self, sequence: u32, can_finish_alone: bool) -> Option<Start> {
        loop {
            let mut state = self.of(sequence)?;
            if let ControlFlow::Break(start) = state.take_start(can_finish_alone) {
                return start;
            }
            let waited = self.changed.wait_timeout(state, LOOK_EVERY);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signal(sequence: u32, kind: SignalKind) -> Vec<u8> {
        serde_json::to_vec(&Signal { sequence, kind }).expect("numbers")
    }

    fn go() -> SignalKind {
        SignalKind::Go { start_ns: 7, clock_error_ns: 2 }
    }

    #[test]
    fn a_signal_counts_for_its_request_even_if_it_comes_first_and_not_for_a_later_one() {
        let signals = Signals::default();
        signals.take(&signal(2, go()));
        signals.take(&signal(1, SignalKind::Stop));
        assert_eq!(signals.await_start(2, false), Some(Start { at_ns: 7, clock_error_ns: 2 }));
        assert!(!signals.stop(2).is_requested());
        signals.take(&signal(2, SignalKind::Stop));
        assert!(signals.stop(2).is_now());
        assert!(!signals.stop(3).is_requested());
        assert_eq!(signals.await_start(2, false), None, "a later one has begun");
    }

    #[test]
    fn the_end_stops_everything() {
        let signals = Signals::default();
        let stop = signals.stop(1);
        signals.end();
        assert!(stop.is_now() && signals.stop(1).is_now() && signals.stop(2).is_now());
        assert_eq!(signals.await_start(2, true), None);
        assert!(signals.has_ended() && !signals.is_finishing());
    }

    #[test]
    fn a_run_that_has_started_is_finished_alone_and_what_follows_it_is_not() {
        let signals = Signals::default();
        let stop = signals.stop(1);
        signals.take(&signal(1, go()));
        assert!(signals.await_start(1, true).is_some());
        signals.end();
        assert!(signals.is_finishing() && !stop.is_requested());
        assert!(signals.stop(2).is_now(), "no later request begins");
        signals.run_ended();
        assert!(!signals.is_finishing());
    }

    #[test]
    fn a_run_that_waits_for_its_start_ends_with_the_controller() {
        let signals = Signals::default();
        let stop = signals.stop(1);
        signals.end();
        signals.take(&signal(1, go()));
        assert!(stop.is_now() && !signals.is_finishing());
        assert_eq!(signals.await_start(1, true), None);
    }

    #[test]
    fn what_others_wrote_is_taken_until_they_have_ended_or_the_controller_is_gone() {
        let durable = |name: &str| DurableBytes { name: name.to_owned(), bytes: 4096 };
        let signals = Signals::default();
        signals.take(&signal(1, SignalKind::Durable { files: vec![durable("a")] }));
        signals.take(&signal(1, SignalKind::Durable { files: vec![durable("b")] }));
        signals.take(&signal(1, SignalKind::OthersFilled));
        assert_eq!(signals.await_durable(1), Some(vec![durable("a"), durable("b")]));
        assert_eq!(signals.await_durable(1), None);
        signals.take(&signal(2, SignalKind::Durable { files: vec![durable("c")] }));
        signals.end();
        assert_eq!(signals.await_durable(2), Some(vec![durable("c")]));
        assert_eq!(signals.await_durable(2), None);
    }

    #[test]
    fn a_stop_ends_the_wait_for_the_start() {
        let signals = Signals::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| signals.await_start(1, true));
            signals.take(&signal(1, SignalKind::Stop));
            assert_eq!(waiting.join().expect("it does not panic"), None);
        });
    }
}
