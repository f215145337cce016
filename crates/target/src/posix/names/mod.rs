//! Operations on names of a tree in a directory of this machine or a mount: with blocking calls
//! ([`PsyncNames`]) or io_uring ([`RingNames`]), relative to open directories, following no link.

mod call_threads;
mod calls;
pub(crate) mod directories;
mod psync;
mod ring;

pub use psync::PsyncNames;
pub use ring::RingNames;

use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags};

use crate::TargetError;

/// Opens the root of a tree, which must not be a link.
pub(crate) fn open_root(path: &Path) -> std::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::openat(CWD, path, flags, Mode::empty())?)
}

fn open_root_of(path: &Path) -> Result<OwnedFd, TargetError> {
    open_root(path).map_err(|source| TargetError::Open { path: path.display().to_string(), source })
}
