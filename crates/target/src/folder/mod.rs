//! What a target's directory needs of the file system that it is in, so that the rules of
//! [`crate::directory`] are the same wherever the files are.
//!
//! Paths are names as a user would say them: `/mnt/vol1/fourcorners/main-0.data` here,
//! `nfs://filer/vol1/fourcorners/main-0.data` on an export. Each implementation understands its
//! own; the rules only join and split them. Nothing here decides anything about safety.

pub(crate) mod local;
pub(crate) mod nfs;

use std::ffi::OsString;
use std::fmt;
use std::fs::Metadata;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use nfs3::types::Handle;

use crate::folder::local::Local;
use crate::folder::nfs::{Export, path_of};
use crate::nfs::session::Mounted;
use crate::nfs::{NfsUrl, WaitObserver};
use crate::refusal::Refusal;
use crate::storage::{Space, Storage};

/// What the user names as target.
#[derive(Clone, Debug)]
pub enum Place {
    /// A directory that this machine has or has mounted.
    Directory(PathBuf),
    /// An export of NFS version 3, or a folder on it, without a mount.
    Nfs(NfsUrl),
    /// The same; the observer is told what is awaited, and may end it.
    ObservedNfs(NfsUrl, Observer),
}

/// Whoever is told of waits for a server.
pub type Observer = Arc<dyn WaitObserver>;

impl Place {
    /// The name of the place, as every path in it begins.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            Place::Directory(path) => path.clone(),
            Place::Nfs(url) | Place::ObservedNfs(url, _) => path_of(url),
        }
    }

    /// The way to what is there.
    pub(crate) fn folder(&self) -> Result<Arc<dyn Folder>, Refusal> {
        match self {
            Place::Directory(_) => Ok(Arc::new(Local)),
            Place::Nfs(url) => Ok(Arc::new(Export::open(url, None)?)),
            Place::ObservedNfs(url, observer) => Ok(Arc::new(Export::open(url, Some(observer))?)),
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for Place {
    fn from(path: &P) -> Place {
        Place::Directory(path.as_ref().to_path_buf())
    }
}

impl From<&NfsUrl> for Place {
    fn from(url: &NfsUrl) -> Place {
        Place::Nfs(url.clone())
    }
}

impl From<&Place> for Place {
    fn from(place: &Place) -> Place {
        place.clone()
    }
}

/// What stands under a name.
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
    /// What it is, in words.
    pub(crate) const fn words(self) -> &'static str {
        match self {
            Kind::File => "a regular file",
            Kind::Directory => "a directory",
            Kind::Link => "a symbolic link",
            Kind::BlockDevice | Kind::CharacterDevice => "a device",
            Kind::PipeOrSocket => "a pipe or socket",
        }
    }
}

/// What is known of an entry of a directory, or of what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) kind: Kind,
    /// Names that it has.
    pub(crate) links: u64,
    pub(crate) size_bytes: u64,
    /// Bytes that it takes on the storage, as far as the file system counts them.
    pub(crate) allocated_bytes: u64,
    /// Its number in the file system.
    pub(crate) inode: u64,
    /// When it was created, in nanoseconds since 1970, where the file system knows.
    pub(crate) created_unix_ns: Option<u64>,
    /// By which a server of NFS knows it.
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
            // In units of 512 bytes whatever the file system's own unit: stat(2).
            allocated_bytes: found.blocks().saturating_mul(512),
            inode: found.ino(),
            created_unix_ns: created_unix_ns(found),
            handle: None,
        }
    }
}

fn created_unix_ns(found: &Metadata) -> Option<u64> {
    let since = found.created().ok()?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    // Some file systems answer with zero where they do not know.
    u64::try_from(since.as_nanos()).ok().filter(|ns| *ns > 0)
}

/// A file system, as far as a directory of ours needs one. Links are followed where it is said, and
/// nowhere else.
pub(crate) trait Folder: fmt::Debug + Send + Sync {
    /// What the user's `path` leads to; links are followed where the file system follows them.
    fn look_through(&self, path: &Path) -> io::Result<Entry>;

    /// The one name, without links, of what the user's `path` leads to.
    fn resolve(&self, path: &Path) -> io::Result<PathBuf>;

    /// What stands under the name itself; `None` if nothing does.
    fn look(&self, path: &Path) -> io::Result<Option<Entry>>;

    /// The names in a directory, without `.` and `..`, in no order.
    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>>;

    /// Whether a file system begins at this directory.
    fn is_root(&self, directory: &Path) -> bool;

    /// Refuses a path whose volume is not mounted. `existing` is what exists of the way to it.
    fn refuse_missing_mount(&self, path: &Path, existing: &Path) -> Result<(), Refusal>;

    /// What the file system says of itself.
    fn space(&self, directory: &Path) -> Result<Space, Refusal>;

    /// Whether entries can be made in a directory, as far as that can be asked.
    fn may_write_into(&self, directory: &Path) -> io::Result<()>;

    /// Finds out what a directory of ours is stored on; may write into it and leaves nothing.
    fn probe(&self, directory: &Path) -> Result<Storage, Refusal>;

    /// Whether the file can be read directly, by looking alone.
    fn reads_directly(&self, path: &Path) -> bool;

    /// Locks a directory of ours against every other run and `clean`, for as long as the answer
    /// lives; the directory may be moved meanwhile.
    fn lock(&self, directory: &Path) -> Result<Box<dyn Lock>, Refusal>;

    /// Refuses a directory that another run works in, and takes nothing.
    fn refuse_in_use(&self, directory: &Path) -> Result<(), Refusal>;

    /// What tells this process from all others that may make a directory at the same place.
    fn maker(&self) -> String;

    fn make_directory(&self, path: &Path) -> io::Result<()>;

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    fn remove_file(&self, path: &Path) -> io::Result<()>;

    fn remove_directory(&self, path: &Path) -> io::Result<()>;

    /// Makes the entries of a directory durable.
    fn sync_directory(&self, directory: &Path) -> io::Result<()>;

    /// The whole of a small file.
    fn read_whole(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// Makes a small file with this content, durably; one that is there gets it. Follows no link.
    fn write_whole(&self, path: &Path, content: &[u8]) -> io::Result<()>;

    /// Opens a file to be filled, and makes it if there is none. What is in it stays.
    fn open_for_fill(&self, path: &Path) -> io::Result<Box<dyn FillFile>>;

    /// Opens a file to be sampled, past all caches if it is to be read directly.
    fn open_for_sampling(&self, path: &Path, directly: bool) -> io::Result<Box<dyn SampledFile>>;

    /// Writes that a fill should keep outstanding.
    fn fill_writers(&self) -> usize;

    /// Lets go of what only a fill or a check needs: a run comes next, and is to be alone.
    fn rest(&self);

    /// What is mounted, where it is an export.
    fn mounted(&self) -> Option<&Arc<Mounted>>;
}

/// A lock that is held.
pub(crate) trait Lock: fmt::Debug + Send + Sync {
    /// Refuses to go on once the lock was lost to somebody else.
    fn refuse_lost(&self, directory: &Path) -> Result<(), Refusal>;
}

/// Whether what was written is still there after a sync.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Synced {
    /// Everything is durable.
    Durable,
    /// The server was started anew meanwhile, and something of it may be lost: it has to be
    /// written again.
    Lost,
}

/// A file that is being filled, by several writers at once.
pub(crate) trait FillFile: Send + Sync {
    fn look(&self) -> io::Result<Entry>;

    /// Cuts the file to this size.
    fn cut(&self, size_bytes: u64) -> io::Result<()>;

    /// From now on writes go past all caches, where their size is a multiple of
    /// `offset_align_bytes`.
    fn write_directly(&mut self, offset_align_bytes: u64) -> io::Result<()>;

    /// Reserves the file's space, where the file system knows how to.
    fn reserve(&self, size_bytes: u64) -> io::Result<()>;

    /// Writes all of it, going on after a short write.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;

    /// Makes everything durable that was written.
    fn sync(&self) -> io::Result<Synced>;
}

/// A file of which pages are read.
pub(crate) trait SampledFile {
    /// The first byte that was never written, as far as the file system tells: preallocated extents
    /// count as holes, and a file system that cannot tell has none.
    fn first_hole(&self, size_bytes: u64) -> Option<u64>;

    /// Reads `page`, or what there is of it before the file's end; returns how many bytes.
    fn read_at(&self, page: &mut [u8], offset: u64) -> io::Result<usize>;
}
