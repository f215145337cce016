//! The last published counters, shared with the threads that export them.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::totals::RunTotals;

/// The last published counters.
#[derive(Debug)]
pub(super) struct Latest {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    totals: Arc<RunTotals>,
    /// Rises with every publication.
    version: u64,
    /// Nothing more is published.
    is_closed: bool,
}

impl Latest {
    pub(super) fn new(totals: RunTotals) -> Latest {
        let state = State { totals: Arc::new(totals), version: 1, is_closed: false };
        Latest { state: Mutex::new(state), changed: Condvar::new() }
    }

    pub(super) fn publish(&self, totals: RunTotals) {
        let totals = Arc::new(totals);
        let mut state = self.lock();
        state.totals = totals;
        state.version += 1;
        drop(state);
        self.changed.notify_all();
    }

    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// The counters now.
    pub(super) fn totals(&self) -> Arc<RunTotals> {
        Arc::clone(&self.lock().totals)
    }

    /// Waits for counters newer than `seen`, and returns them with their version. `None` once
    /// nothing more is published and the last were seen.
    pub(super) fn newer_than(&self, seen: u64) -> Option<(u64, Arc<RunTotals>)> {
        let mut state = self.lock();
        loop {
            if state.version > seen {
                return Some((state.version, Arc::clone(&state.totals)));
            }
            if state.is_closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// The state is replaced as a whole, so it is valid even if a thread panicked.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
