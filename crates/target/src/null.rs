//! The null target: every operation completes immediately and moves no data. It shows the load
//! generator's own ceiling.

use workload::op::Op;
use workload::plan::{Capabilities, IoMethod, IoMethodUsed};

use crate::names::{NameOpener, NameWork};
use crate::run_target::{Opener, RunTarget, WorkerShare};
use crate::{Completion, Target, TargetError, Wait};

/// The null target, ready for runs.
#[derive(Clone, Copy, Debug)]
pub struct NullTarget;

impl RunTarget for NullTarget {
    fn capabilities(&self) -> Capabilities {
        Capabilities::NULL
    }

    fn opener(&self, _worker: &WorkerShare<'_>) -> Option<Opener> {
        Some(Opener::Null)
    }

    fn name_opener(&self, _worker: &WorkerShare<'_>, _work: NameWork) -> Option<NameOpener> {
        Some(NameOpener::Null)
    }

    fn fixed_io_method(&self, requested: IoMethod) -> Option<(IoMethodUsed, &'static str)> {
        let used = match requested {
            IoMethod::Auto => IoMethodUsed::IoUring,
            forced => forced.into(),
        };
        Some((used, "the null target needs none: operations complete immediately"))
    }
}

/// Completes all submitted operations at the next reap.
#[derive(Debug)]
pub struct Null {
    submitted: Vec<Completion>,
}

impl Null {
    /// A null target for `queue_depth` outstanding operations.
    pub fn new(queue_depth: u32) -> Null {
        Null { submitted: Vec::with_capacity(queue_depth as usize) }
    }
}

impl Target for Null {
    #[inline]
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        self.submitted.push(Completion { tag, result: op.size_bytes as i32 });
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        if self.submitted.is_empty() {
            crate::sleep(wait);
        }
        done.append(&mut self.submitted);
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        None
    }
}
