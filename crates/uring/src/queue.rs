//! The queues of a ring: sending, waiting with or without a timer, and taking completions.
//! What is sent is decided by [`crate::ring`] and [`crate::names`].

use std::io;
use std::time::Duration;

use io_uring::types::{SubmitArgs, Timespec};
use io_uring::{IoUring, opcode, squeue};

/// How long a ring waits for a completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Not at all: sends and reaps what has completed.
    Poll,
    /// Until this time has passed, to the microsecond. Each wait arms a timer in the kernel.
    Precise(Duration),
    /// At most this long; every later wait of the ring must end later than this one. One standing
    /// timer then serves many waits: arming one takes 1 to 2 µs in a virtual machine, because it
    /// exits the guest.
    Coarse(Duration),
}

/// A ring without its operations.
pub(crate) struct Queue {
    pub(crate) ring: IoUring,
    unsent: usize,
    /// The standing timer of [`Wait::Coarse`] is in the kernel.
    timer_armed: bool,
    /// The duration of the timer. Boxed, because the kernel reads it when the timer is submitted.
    timer: Box<Timespec>,
}

/// The standing timer's user data; tags are smaller.
const TIMER: u64 = u64::MAX;
/// Longest duration of the standing timer.
const TIMER_MAX: Duration = Duration::from_millis(100);
/// Shorter coarse waits use a precise timer.
const COARSE_MIN: Duration = Duration::from_millis(2);

impl Queue {
    /// Builds the best ring that this kernel grants; returns also whether it defers task work.
    pub(crate) fn build(entries: u32) -> io::Result<(Queue, bool)> {
        let (ring, defer_taskrun) = build(entries)?;
        let timer = Box::new(Timespec::new());
        Ok((Queue { ring, unsent: 0, timer_armed: false, timer }, defer_taskrun))
    }

    /// Entries that are queued and not sent.
    #[inline]
    pub(crate) fn unsent(&self) -> usize {
        self.unsent
    }

    /// How many entries can be queued before the next [`Queue::enter`].
    #[inline]
    pub(crate) fn room(&mut self) -> usize {
        let queue = self.ring.submission();
        // One entry is kept for the standing timer.
        (queue.capacity() - queue.len()).saturating_sub(1)
    }

    /// Queues an entry.
    ///
    /// # Safety
    /// The memory that the entry refers to is valid, and not borrowed, until its completion.
    ///
    /// # Panics
    /// The queue is full.
    #[inline]
    pub(crate) unsafe fn push(&mut self, entry: &squeue::Entry) {
        // SAFETY: the caller guarantees it.
        let pushed = unsafe { self.ring.submission().push(entry) };
        pushed.expect("the queue has an entry for each request of each slot");
        self.unsent += 1;
    }

    /// Sends what is queued, then waits until an operation has completed or `wait` is over. Enters
    /// the kernel at most once, and not at all if there is nothing to send or deliver and no wait.
    ///
    /// # Errors
    /// The ring is unusable. An interrupted wait is not an error.
    #[inline]
    pub(crate) fn enter(&mut self, wait: Wait) -> io::Result<()> {
        let entered = match wait {
            Wait::Poll => {
                if self.unsent == 0 && !self.ring.submission().taskrun() {
                    return Ok(());
                }
                self.ring.submit()
            }
            Wait::Coarse(wait) if wait >= COARSE_MIN => {
                if !self.timer_armed {
                    self.arm_timer(wait.min(TIMER_MAX));
                }
                self.ring.submit_and_wait(1)
            }
            Wait::Precise(wait) | Wait::Coarse(wait) => {
                let timeout = Timespec::new().sec(wait.as_secs()).nsec(wait.subsec_nanos());
                self.ring.submitter().submit_with_args(1, &SubmitArgs::new().timespec(&timeout))
            }
        };
        match entered {
            Ok(_) => {}
            // A timeout, a signal, or a full completion queue: queued operations were sent anyway,
            // and completed ones are returned by `drain`.
            Err(error) => match error.raw_os_error() {
                Some(libc::ETIME | libc::EINTR | libc::EBUSY) => {}
                _ => return Err(error),
            },
        }
        self.unsent = self.ring.submission().len();
        Ok(())
    }

    fn arm_timer(&mut self, time: Duration) {
        *self.timer = Timespec::new().sec(time.as_secs()).nsec(time.subsec_nanos());
        let entry = opcode::Timeout::new(&raw const *self.timer).build().user_data(TIMER);
        // SAFETY: the duration is boxed and is not changed while the timer is armed.
        let pushed = unsafe { self.ring.submission().push(&entry) };
        pushed.expect("the queue has an entry for the timer in addition to the slots");
        self.timer_armed = true;
    }

    /// Calls `each(user_data, result)` for every completion.
    #[inline]
    pub(crate) fn drain(&mut self, mut each: impl FnMut(u64, i32)) {
        for entry in self.ring.completion() {
            if entry.user_data() == TIMER {
                self.timer_armed = false;
                continue;
            }
            each(entry.user_data(), entry.result());
        }
    }
}

/// Builds the best ring that this kernel grants; returns whether it defers task work.
fn build(entries: u32) -> io::Result<(IoUring, bool)> {
    // TASKRUN_FLAG shows pending completions in the ring's flags; without it, polling under
    // DEFER_TASKRUN would never deliver them.
    let mut best = IoUring::builder();
    best.setup_single_issuer()
        .setup_defer_taskrun()
        .setup_taskrun_flag()
        .setup_submit_all()
        .setup_cqsize(entries * 2);
    match best.build(entries) {
        Ok(ring) => Ok((ring, true)),
        // EINVAL: the kernel does not support these flags. Other errors mean that io_uring is
        // forbidden.
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
            let mut plain = IoUring::builder();
            plain.setup_cqsize(entries * 2);
            Ok((plain.build(entries)?, false))
        }
        Err(error) => Err(error),
    }
}
