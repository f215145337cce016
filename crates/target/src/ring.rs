//! Files through io_uring: many operations in flight, submitted and reaped in batches.

use std::os::fd::OwnedFd;
use std::time::Duration;

use uring::ring::{Granted, Ring};
use workload::op::{Op, OpKind};

use crate::posix::{self, FileAccess};
use crate::{Completion, Target, TargetError};

/// The files of a stream behind one ring.
#[derive(Debug)]
pub struct RingFiles {
    ring: Ring,
}

impl RingFiles {
    /// Opens the files and a ring for `queue_depth` operations, in the thread that will use it.
    ///
    /// # Errors
    /// A file cannot be opened, there is no memory, or io_uring is refused.
    pub fn open(access: &FileAccess, queue_depth: u32) -> Result<RingFiles, TargetError> {
        let files: Vec<OwnedFd> = access.open()?.into_iter().map(OwnedFd::from).collect();
        let buffers = posix::buffers(queue_depth as usize, access.transfer_size_max_bytes)?;
        let ring = Ring::open(files, buffers).map_err(|source| drive(source))?;
        Ok(RingFiles { ring })
    }

    /// What the kernel granted.
    pub fn granted(&self) -> Granted {
        self.ring.granted()
    }
}

fn drive(source: std::io::Error) -> TargetError {
    TargetError::Drive { target: "io_uring".to_owned(), source }
}

impl Target for RingFiles {
    #[inline]
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        match op.kind {
            OpKind::Read => self.ring.read(tag, op.file, op.offset_bytes, op.size_bytes),
            OpKind::Write => self.ring.write(tag, op.file, op.offset_bytes, op.size_bytes),
            OpKind::Fsync => self.ring.fsync(tag, op.file),
        }
        Ok(())
    }

    #[inline]
    fn reap(&mut self, wait: Duration, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.ring.enter(wait).map_err(drive)?;
        self.ring.drain(|tag, result| done.push(Completion { tag, result }));
        Ok(())
    }

    #[inline]
    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        Some(self.ring.slot(tag))
    }
}
