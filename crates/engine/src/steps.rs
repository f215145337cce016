//! Which steps of its lane a worker takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The steps of a lane in order: all of them, or those that the other workers of the lane leave.
#[derive(Debug)]
pub enum Steps {
    /// One worker does the whole lane.
    Own {
        /// The step that is next.
        next: u64,
    },
    /// Several workers do a lane together: blocking calls, one thread for each outstanding
    /// operation. Whoever is free takes the next step, so that together they are one queue of their
    /// number, as a ring is, and no kind of operation falls to some of them alone.
    Shared {
        /// The next step that nobody has taken.
        counter: Arc<AtomicU64>,
        /// The step that this worker has taken and not yet issued.
        taken: u64,
    },
}

impl Steps {
    /// All steps of the lane, from the first.
    pub const fn own() -> Steps {
        Steps::Own { next: 0 }
    }

    /// The steps that are taken from `counter`, which the workers of one lane share.
    pub fn shared(counter: &Arc<AtomicU64>) -> Steps {
        let taken = counter.fetch_add(1, Ordering::Relaxed);
        Steps::Shared { counter: Arc::clone(counter), taken }
    }

    /// The step of the next operation.
    #[inline]
    pub const fn current(&self) -> u64 {
        match self {
            Steps::Own { next } => *next,
            Steps::Shared { taken, .. } => *taken,
        }
    }

    /// Goes on to the step after it, and says how far that is.
    #[inline]
    pub fn advance(&mut self) -> u64 {
        match self {
            Steps::Own { next } => {
                *next += 1;
                1
            }
            Steps::Shared { counter, taken } => {
                let before = *taken;
                *taken = counter.fetch_add(1, Ordering::Relaxed);
                *taken - before
            }
        }
    }
}
