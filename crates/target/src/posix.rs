//! Opening the files of a stream, for both engines.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::TargetError;

/// The files that a worker works on, and how they are opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileAccess {
    /// The files, in the order of `Op::file`.
    pub paths: Vec<PathBuf>,
    /// Some operation writes.
    pub write: bool,
    /// O_DIRECT.
    pub direct: bool,
    /// O_DSYNC.
    pub dsync: bool,
    /// Largest transfer, in bytes.
    pub transfer_size_max_bytes: u64,
}

impl FileAccess {
    /// Opens every file.
    ///
    /// # Errors
    /// The first file that cannot be opened, with the kernel's answer.
    pub fn open(&self) -> Result<Vec<File>, TargetError> {
        // A link in the place of a file would lead out of the marked directory.
        let mut flags = OFlags::NOFOLLOW;
        if self.direct {
            flags |= OFlags::DIRECT;
        }
        if self.dsync {
            flags |= OFlags::DSYNC;
        }
        self.paths.iter().map(|path| self.open_one(path, flags)).collect()
    }

    fn open_one(&self, path: &Path, flags: OFlags) -> Result<File, TargetError> {
        let text = || path.display().to_string();
        let file = OpenOptions::new()
            .read(true)
            .write(self.write)
            .custom_flags(flags.bits() as i32)
            .open(path)
            .map_err(|source| TargetError::Open { path: text(), source })?;
        let found = file.metadata().map_err(|source| TargetError::Open { path: text(), source })?;
        // A second name would be a file of somebody else.
        if !found.is_file() || found.nlink() != 1 {
            return Err(TargetError::NotAlone { path: text() });
        }
        Ok(file)
    }
}

/// Memory for `slots` operations of `slot_bytes` each.
pub(crate) fn buffers(
    slots: usize,
    slot_bytes: u64,
) -> Result<uring::buffers::Buffers, TargetError> {
    uring::buffers::Buffers::new(slots, slot_bytes as usize)
        .map_err(|source| TargetError::Memory { bytes: slots as u64 * slot_bytes, source })
}
