//! Files through `pread` and `pwrite`: one outstanding operation, performed when it is submitted.
//! For systems where io_uring is forbidden or slower (on tmpfs, buffered reads are passed to kernel
//! workers and cost three times as much).

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use uring::buffers::Buffers;
use workload::op::{Op, OpKind};

use crate::posix::FileAccess;
use crate::{Completion, Target, TargetError, Wait, slot_buffers};

/// How often an operation is repeated after EINTR: signals must not stall it forever.
const INTERRUPTED_TRIES_MAX: u32 = 100;

/// One blocking operation at a time.
#[derive(Debug)]
pub struct Psync {
    files: Vec<File>,
    buffers: Buffers,
    finished: Option<Completion>,
}

impl Psync {
    /// Opens the files.
    ///
    /// # Errors
    /// A file cannot be opened, or memory cannot be allocated.
    pub fn open(access: &FileAccess) -> Result<Psync, TargetError> {
        Ok(Psync {
            files: access.open()?,
            buffers: slot_buffers(1, access.transfer_size_max_bytes)?,
            finished: None,
        })
    }

    #[inline]
    fn attempt(&mut self, op: &Op) -> io::Result<usize> {
        let file = &self.files[op.file as usize];
        let memory = self.buffers.slot(0);
        match op.kind {
            OpKind::Read => file.read_at(&mut memory[..op.size_bytes as usize], op.offset_bytes),
            OpKind::Write => file.write_at(&memory[..op.size_bytes as usize], op.offset_bytes),
            OpKind::Fsync => file.sync_data().map(|()| 0),
            _ => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}

impl Target for Psync {
    #[inline]
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let mut outcome = self.attempt(op);
        for _ in 0..INTERRUPTED_TRIES_MAX {
            match &outcome {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                    outcome = self.attempt(op);
                }
                _ => break,
            }
        }
        let result = match outcome {
            Ok(bytes) => bytes as i32,
            Err(error) => -error.raw_os_error().unwrap_or(5),
        };
        self.finished = Some(Completion { tag, result });
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        match self.finished.take() {
            Some(completion) => done.push(completion),
            None => crate::sleep(wait),
        }
        Ok(())
    }

    #[inline]
    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        Some(self.buffers.slot(tag as usize))
    }
}
