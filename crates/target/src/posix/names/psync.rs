//! Operations on names through blocking calls: one outstanding operation, performed when it is
//! submitted.

use uring::buffers::Buffers;
use workload::op::Op;

use super::calls::NameCalls;
use crate::names::NameAccess;
use crate::names::content::WrongByte;
use crate::{Completion, Target, TargetError, Wait, slot_buffers};

/// One blocking operation at a time.
#[derive(Debug)]
pub struct PsyncNames {
    calls: NameCalls,
    data: Buffers,
    finished: Option<Completion>,
}

impl PsyncNames {
    /// Opens the tree.
    ///
    /// # Errors
    /// The tree cannot be opened, or memory cannot be allocated.
    pub fn open(access: &NameAccess) -> Result<PsyncNames, TargetError> {
        Ok(PsyncNames {
            calls: NameCalls::open(access, access.open_directories)?,
            data: slot_buffers(1, access.work.part_bytes())?,
            finished: None,
        })
    }
}

impl Target for PsyncNames {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let operation = self.calls.operation(op);
        let result = self.calls.perform(&operation, self.data.slot(0));
        self.finished = Some(Completion { tag, result });
        Ok(())
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        match self.finished.take() {
            Some(completion) => done.push(completion),
            None => crate::sleep(wait),
        }
        Ok(())
    }

    fn buffer(&mut self, _tag: u32) -> Option<&mut [u8]> {
        Some(self.data.slot(0))
    }

    fn wrong_byte(&mut self, _tag: u32) -> Option<WrongByte> {
        self.calls.wrong_byte()
    }
}
