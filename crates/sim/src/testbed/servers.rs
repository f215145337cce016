//! Queues: a resource that serves requests in turn, several resources behind one queue, slots, and
//! a bucket of credit.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A resource that serves requests in turn.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Server {
    free_ns: f64,
}

impl Server {
    /// When a request that arrives at `at_ns` and needs `work_ns` is served.
    pub(super) fn pass(&mut self, at_ns: f64, work_ns: f64) -> f64 {
        self.free_ns = self.free_ns.max(at_ns) + work_ns;
        self.free_ns
    }

    /// How long a request that arrives at `at_ns` waits before it is served.
    pub(super) fn wait_ns(&self, at_ns: f64) -> f64 {
        (self.free_ns - at_ns).max(0.0)
    }
}

/// Several equal resources behind one queue.
#[derive(Clone, Debug)]
pub(super) struct Servers {
    free_ns: BinaryHeap<Reverse<u64>>,
}

impl Servers {
    pub(super) fn new(count: u32) -> Servers {
        Servers { free_ns: (0..count.max(1)).map(|_| Reverse(0)).collect() }
    }

    pub(super) fn pass(&mut self, at_ns: f64, work_ns: f64) -> f64 {
        let Reverse(free) = self.free_ns.pop().expect("there is at least one");
        let done = (free as f64).max(at_ns) + work_ns;
        self.free_ns.push(Reverse(done.round() as u64));
        done
    }
}

/// Permits, and the requests waiting for one.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    free: u32,
    waiting: VecDeque<usize>,
}

impl Slots {
    pub(super) fn new(count: u32) -> Slots {
        Slots { free: count, waiting: VecDeque::new() }
    }

    /// Whether `request` gets a permit now; otherwise it waits.
    pub(super) fn take(&mut self, request: usize) -> bool {
        if self.free == 0 {
            self.waiting.push_back(request);
            return false;
        }
        self.free -= 1;
        true
    }

    /// Returns a permit; the result is the waiting request that gets it.
    pub(super) fn release(&mut self) -> Option<usize> {
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.free += 1;
        }
        next
    }
}

/// Credit in bytes, earned at a rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    bytes: f64,
    max: f64,
    /// When it was last updated, in nanoseconds from the session's start.
    at_ns: f64,
}

impl Bucket {
    pub(super) fn full(bytes: f64) -> Bucket {
        Bucket { bytes, max: bytes, at_ns: 0.0 }
    }

    /// Adds `rate` bytes per second since the last update, then spends `bytes` if there are enough.
    pub(super) fn spend(&mut self, at_ns: f64, bytes: f64, rate: f64) -> bool {
        let earned = (at_ns - self.at_ns).max(0.0) / 1e9 * rate;
        self.at_ns = self.at_ns.max(at_ns);
        self.bytes = (self.bytes + earned).min(self.max);
        let enough = self.bytes >= bytes;
        if enough {
            self.bytes -= bytes;
        }
        enough
    }
}
