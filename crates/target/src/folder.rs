//! The file system operations that the rules for the target directory need, so that the same rules
//! apply to local directories and to exports.
//!
//! Paths are as a user writes them: `/mnt/vol1/fourcorners/main-0.data`, or
//! `nfs://filer/vol1/fourcorners/main-0.data` on an export. Only the implementation interprets
//! them; the rules join and split them. No safety decision is made here.

use std::ffi::OsString;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use nfs3::types::Handle;
use workload::names::NameTree;
use workload::plan::{Capabilities, FileSet};

use crate::lease_content::{Content, LockOwner};
use crate::nfs::NfsFile;
use crate::nfs::session::Mounted;
use crate::refusal::Refusal;
use crate::run_target::RunTarget;
use crate::storage::{Space, Storage};
use crate::tree::access::TreeAccess;

/// Finds the files of every set that the plan needs, by their handles.
pub(crate) type FindHandles<'a> = &'a dyn Fn() -> Result<Vec<(FileSet, Vec<NfsFile>)>, Refusal>;

/// The type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File,
    Directory,
    Link,
    BlockDevice,
    CharacterDevice,
    PipeOrSocket,
}

impl Kind {
    /// The type in words, for messages.
    pub(crate) const fn description(self) -> &'static str {
        match self {
            Kind::File => "a regular file",
            Kind::Directory => "a directory",
            Kind::Link => "a symbolic link",
            Kind::BlockDevice | Kind::CharacterDevice => "a device",
            Kind::PipeOrSocket => "a pipe or socket",
        }
    }
}

/// The attributes of a directory entry, or of the file that a link refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// Number of hard links.
    pub(crate) links: u64,
    pub(crate) size_bytes: u64,
    /// Bytes allocated on the storage, as reported by the file system.
    pub(crate) allocated_bytes: u64,
    /// Inode number.
    pub(crate) inode: u64,
    /// Creation time in nanoseconds since 1970, if the file system records it.
    pub(crate) created_unix_ns: Option<u64>,
    /// The file's handle on an NFS server.
    pub(crate) handle: Option<Handle>,
}

impl Entry {
    pub(crate) fn is_file(&self) -> bool {
        self.kind == Kind::File
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }
}

impl From<&Metadata> for Entry {
    fn from(found: &Metadata) -> Entry {
        let kind = found.file_type();
        Entry {
            kind: if kind.is_file() {
                Kind::File
            } else if kind.is_dir() {
                Kind::Directory
            } else if kind.is_symlink() {
                Kind::Link
            } else if kind.is_block_device() {
                Kind::BlockDevice
            } else if kind.is_char_device() {
                Kind::CharacterDevice
            } else {
                Kind::PipeOrSocket
            },
            links: found.nlink(),
            size_bytes: found.len(),
            // In units of 512 bytes, whatever the file system's block size: stat(2).
            allocated_bytes: found.blocks().saturating_mul(512),
            inode: found.ino(),
            created_unix_ns: created_unix_ns(found),
            handle: None,
        }
    }
}

fn created_unix_ns(found: &Metadata) -> Option<u64> {
    let since = found.created().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    // Some file systems return zero if they do not record it.
    u64::try_from(since.as_nanos()).ok().filter(|ns| *ns > 0)
}

/// A file system. Links are followed only where documented.
pub(crate) trait Folder: fmt::Debug + Send + Sync {
    /// The entry that `path` refers to, following links where the file system does.
    fn resolve_entry(&self, path: &Path) -> io::Result<Entry>;

    /// The canonical path of the entry that `path` refers to.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// The entry at `path`, without following links; `None` if there is none.
    fn find_entry(&self, path: &Path) -> io::Result<Option<Entry>>;

    /// The names in a directory without `.` and `..`, in any order.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;

    /// Whether this directory is the root of a file system.
    fn is_root(&self, directory: &Path) -> bool;

    /// Refuses a path whose volume is not mounted. `existing` is the part of the path that exists.
    fn refuse_missing_mount(&self, path: &Path, existing: &Path) -> Result<(), Refusal>;

    /// The file system's identity and free space.
    fn space(&self, directory: &Path) -> Result<Space, Refusal>;

    /// Fails if entries cannot be created in a directory, as far as this shows without writing.
    fn refuse_unwritable(&self, directory: &Path) -> io::Result<()>;

    /// Determines what kind of storage our directory is on; may write a file there and removes it.
    fn probe(&self, directory: &Path) -> Result<Storage, Refusal>;

    /// Whether the file can be read with direct I/O; writes nothing.
    fn reads_directly(&self, path: &Path) -> bool;

    /// Locks our directory against other runs and `clean` until the lock is dropped; the directory
    /// may be moved while it is locked.
    fn lock(&self, directory: &Path, owner: &LockOwner) -> Result<Box<dyn Lock>, Refusal>;

    /// Shares the lock that another host has taken and shared with this content of its lease file.
    ///
    /// # Errors
    /// [`Refusal::OtherDirectory`] if the directory has no lease with this content.
    fn join_lock(&self, directory: &Path, lease: &Content) -> Result<Box<dyn Lock>, Refusal>;

    /// Refuses a directory that another run has locked. Does not lock it.
    fn refuse_in_use(&self, directory: &Path) -> Result<(), Refusal>;

    /// A name for this process, unique among all processes that may create the same directory.
    fn process_name(&self) -> String;

    fn make_directory(&self, path: &Path) -> io::Result<()>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove_file(&self, path: &Path) -> io::Result<()>;

    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a directory durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// Reads a small file.
    fn read_whole(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Creates or replaces a small file with this content, durably. Follows no link.
    fn write_whole(&self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// Opens a file for a fill and creates it if it does not exist. Its content is kept.
    fn open_for_fill(&self, path: &Path) -> io::Result<Box<dyn FillFile>>;

    /// Opens a file for verification; `directly`: bypassing all caches.
    fn open_for_sampling(&self, path: &Path, directly: bool) -> io::Result<Box<dyn SampledFile>>;

    /// Opens the tree at `root`, which exists, for one thread.
    fn open_tree(&self, root: &Path, tree: &NameTree) -> io::Result<Box<dyn TreeAccess>>;

    /// How many threads fill or verify files.
    fn transfer_threads(&self) -> usize;

    /// Closes connections that only a fill or a verification needs, so that they do not affect
    /// runs.
    fn release_fill_resources(&self);

    /// What this kind of target can do.
    fn capabilities(&self) -> Capabilities;

    /// The files in `directory`, which is in this file system, as the target of runs.
    fn run_target(
        &self,
        directory: &Path,
        find_handles: FindHandles<'_>,
    ) -> Result<Arc<dyn RunTarget>, Refusal>;

    /// The mounted export, if this is one.
    fn mounted(&self) -> Option<&Arc<Mounted>>;
}

/// A lock, released when dropped.
pub(crate) trait Lock: fmt::Debug + Send + Sync {
    /// Fails if another process has taken over the lock.
    fn refuse_lost(&self, directory: &Path) -> Result<(), Refusal>;

    /// Whether this host has claimed the directory; otherwise it joined the host that did.
    fn has_claimed(&self) -> bool;

    /// Lets other hosts join; returns the content of the lease file that they must find.
    fn share(&self, directory: &Path) -> Result<Content, Refusal>;
}

/// Whether written data survived until the sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synced {
    /// Everything is durable.
    Durable,
    /// The server restarted and may have lost some of it: everything must be written again.
    Lost,
}

/// A file that is being filled, by several writers concurrently.
pub(crate) trait FillFile: Send + Sync {
    fn attributes(&self) -> io::Result<Entry>;

    /// Truncates the file to this size.
    fn truncate(&self, size_bytes: u64) -> io::Result<()>;

    /// Makes later writes bypass all caches if their size is a multiple of `offset_align_bytes`.
    fn write_directly(&mut self, offset_align_bytes: u64) -> io::Result<()>;

    /// Whether the file system performs one write at a time.
    fn writes_exclude_each_other(&self) -> bool;

    /// Preallocates the file's space, if the file system supports it.
    fn reserve(&self, size_bytes: u64) -> io::Result<()>;

    /// Writes all bytes, continuing after short writes.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes everything that was written durable.
    fn sync(&self) -> io::Result<Synced>;
}

/// A file that is open for verification.
pub(crate) trait SampledFile {
    /// The first byte that was never written, according to the file system: preallocated extents
    /// count as holes. `None` if there is none or the file system does not report holes.
    fn first_hole(&self, size_bytes: u64) -> Option<u64>;

    /// Reads `page`, or as much of it as the file has; returns the number of bytes.
    fn read_at(&self, page: &mut [u8], offset: u64) -> io::Result<usize>;
}
