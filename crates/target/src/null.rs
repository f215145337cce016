//! The null target: every operation completes at once and moves no data. It shows the generator's
//! own ceiling.

use workload::op::Op;

use crate::{Completion, Target, TargetError, Wait};

/// Completes at the next reap whatever was submitted.
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
