//! Threads that perform the operations on names that io_uring does not have: listings, access, the
//! text of links, and the like. They are started only if such operations occur, and take memory for
//! all operations when they start.

use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{EventfdFlags, eventfd};
use workload::names::NameOp;

use super::calls::NameCalls;
use crate::names::NameAccess;
use crate::threads::ThreadError;
use crate::{Completion, TargetError, slot_buffers};

/// Threads of one worker at most. Each waits for one call.
const THREADS_MAX: usize = 64;
/// Stack of a thread: a listing is read into 32 KiB of it.
const STACK_BYTES: usize = 128 << 10;
/// Directories that each thread keeps open.
const OPEN_DIRECTORIES: usize = 8;

/// What the threads share with the worker.
#[derive(Debug)]
struct Shared {
    queue: Mutex<Queue>,
    submitted: Condvar,
    /// Counts completions, so that the worker's ring can wait for them.
    completions: OwnedFd,
}

#[derive(Debug)]
struct Queue {
    waiting: VecDeque<(u32, NameOp)>,
    done: Vec<Completion>,
    is_closed: bool,
}

/// The helper threads of a worker.
#[derive(Debug)]
pub(super) struct Helpers {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    outstanding: usize,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Every critical section leaves a consistent state.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next operation; `None` at the end.
    fn take(&self) -> Option<(u32, NameOp)> {
        let mut queue = self.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            if let Some(next) = queue.waiting.pop_front() {
                return Some(next);
            }
            queue = self.submitted.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Helpers {
    /// Starts the threads for a worker with `queue_depth`.
    pub(super) fn start(access: &NameAccess, queue_depth: u32) -> Result<Helpers, TargetError> {
        let depth = queue_depth as usize;
        let failed = |source| TargetError::Drive { target: "helper threads".to_owned(), source };
        let shared = Arc::new(Shared {
            queue: Mutex::new(Queue {
                waiting: VecDeque::with_capacity(depth),
                done: Vec::with_capacity(depth),
                is_closed: false,
            }),
            submitted: Condvar::new(),
            completions: eventfd(0, EventfdFlags::CLOEXEC).map_err(|errno| failed(errno.into()))?,
        });
        let mut helpers = Helpers { shared, threads: Vec::new(), outstanding: 0 };
        let requested = depth.min(THREADS_MAX);
        for number in 0..requested {
            let mut calls = NameCalls::open(access, OPEN_DIRECTORIES)?;
            let mut data = slot_buffers(1, access.work.part_bytes())?;
            let shared = Arc::clone(&helpers.shared);
            let work = move || {
                while let Some((tag, op)) = shared.take() {
                    let result = calls.perform(&op, data.slot(0));
                    shared.lock().done.push(Completion { tag, result });
                    // It fails only if the count overflows, and then the worker is notified anyway.
                    let _ = rustix::io::write(&shared.completions, &1u64.to_ne_bytes());
                }
            };
            let thread = std::thread::Builder::new()
                .name("names".to_owned())
                .stack_size(STACK_BYTES)
                .spawn(work)
                .map_err(|source| {
                    let refused = ThreadError { number: number + 1, requested, source };
                    failed(std::io::Error::other(refused))
                })?;
            helpers.threads.push(thread);
        }
        Ok(helpers)
    }

    /// Passes an operation to a thread.
    pub(super) fn submit(&mut self, tag: u32, op: NameOp) {
        self.outstanding += 1;
        self.shared.lock().waiting.push_back((tag, op));
        self.shared.submitted.notify_one();
    }

    /// Takes the completed operations.
    pub(super) fn drain(&mut self, done: &mut Vec<Completion>) {
        let before = done.len();
        done.append(&mut self.shared.lock().done);
        self.outstanding -= done.len() - before;
    }

    /// Operations that were submitted and not taken.
    pub(super) fn outstanding(&self) -> usize {
        self.outstanding
    }

    /// The counter of completions.
    pub(super) fn completions(&self) -> BorrowedFd<'_> {
        self.shared.completions.as_fd()
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.submitted.notify_all();
        if self.outstanding > 0 {
            // A thread may be stuck in a call; it ends when that returns.
            return;
        }
        for thread in self.threads.drain(..) {
            drop(thread.join());
        }
    }
}
