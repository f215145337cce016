//! The steps of its lane that a worker takes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The steps of a lane in order: all of them, or those that the worker takes from a shared counter.
#[derive(Debug)]
pub enum Steps {
    /// The worker has the lane to itself.
    Own {
        /// The next step.
        next: u64,
    },
    /// Several workers share the lane: with blocking calls, one thread for each outstanding
    /// operation. A free worker takes the next step, so that together they act as one queue like a
    /// ring.
    Shared {
        /// The next step that no worker has taken.
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

    /// The steps taken from `counter`, which the workers of one lane share.
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

    /// Advances to the next step and returns the distance.
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
