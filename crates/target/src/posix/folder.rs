//! Directories on this machine and on its mounts.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{Access, AtFlags, CWD, FallocateFlags, OFlags, SeekFrom, StatxFlags};
use workload::names::NameTree;
use workload::plan::Capabilities;

use crate::folder::{Entry, FillFile, FindHandles, Folder, Lock, SampledFile, Synced};
use crate::lease_content::{Content, LockOwner};
use crate::nfs::session::Mounted;
use crate::posix::PosixTarget;
use crate::posix::lock::{join, lock, refuse_locked};
use crate::posix::missing_mount::refuse_missing_mount;
use crate::refusal::Refusal;
use crate::run_target::RunTarget;
use crate::storage::{self, Space, Storage, flags};
use crate::tree::access::TreeAccess;
use crate::tree::local::LocalTree;

/// Outstanding writes of a fill.
const WRITERS: usize = 4;

/// The file systems that this machine has mounted.
#[derive(Debug)]
pub(crate) struct LocalFolder;

impl Folder for LocalFolder {
    fn resolve_entry(&self, path: &Path) -> io::Result<Entry> {
        fs::metadata(path).map(|found| Entry::from(&found))
    }

    fn resolve(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn find_entry(&self, path: &Path) -> io::Result<Option<Entry>> {
        // Another host may have written the file: ask the server of a network file system, which the
        // kernel otherwise does only every 3 to 60 s. The call below reports errors.
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
        let _ = rustix::fs::statx(CWD, path, flags, StatxFlags::BASIC_STATS);
        match fs::symlink_metadata(path) {
            Ok(found) => Ok(Some(Entry::from(&found))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn list(&self, directory: &Path) -> io::Result<Vec<OsString>> {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.file_name())).collect()
    }

    fn is_root(&self, directory: &Path) -> bool {
        storage::is_mount_root(directory)
    }

    fn refuse_missing_mount(&self, path: &Path, existing: &Path) -> Result<(), Refusal> {
        refuse_missing_mount(path, existing)
    }

    fn space(&self, directory: &Path) -> Result<Space, Refusal> {
        storage::space(directory)
    }

    fn refuse_unwritable(&self, directory: &Path) -> io::Result<()> {
        Ok(rustix::fs::access(directory, Access::WRITE_OK | Access::EXEC_OK)?)
    }

    fn probe(&self, directory: &Path) -> Result<Storage, Refusal> {
        storage::probe(directory)
    }

    fn reads_directly(&self, path: &Path) -> bool {
        storage::reads_directly(path)
    }

    fn lock(&self, directory: &Path, owner: &LockOwner) -> Result<Box<dyn Lock>, Refusal> {
        Ok(Box::new(lock(directory, owner)?))
    }

    fn join_lock(&self, directory: &Path, lease: &Content) -> Result<Box<dyn Lock>, Refusal> {
        Ok(Box::new(join(directory, lease)?))
    }

    fn refuse_in_use(&self, directory: &Path) -> Result<(), Refusal> {
        refuse_locked(directory)
    }

    fn process_name(&self) -> String {
        std::process::id().to_string()
    }

    fn make_directory(&self, path: &Path) -> io::Result<()> {
        fs::create_dir(path)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove_file(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_directory(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)
    }

    fn sync_directory(&self, directory: &Path) -> io::Result<()> {
        File::open(directory)?.sync_all()
    }

    fn read_whole(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn write_whole(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .custom_flags(flags(OFlags::NOFOLLOW))
            .open(path)?;
        file.write_all(content)?;
        file.sync_all()
    }

    fn open_for_fill(&self, path: &Path) -> io::Result<Box<dyn FillFile>> {
        let buffered = open_for_fill(path, OFlags::empty())?;
        let path = path.to_path_buf();
        Ok(Box::new(LocalFile { path, buffered, direct: None, offset_align_bytes: 1 }))
    }

    fn open_for_sampling(&self, path: &Path, directly: bool) -> io::Result<Box<dyn SampledFile>> {
        let extra = if directly { OFlags::DIRECT } else { OFlags::empty() };
        let file = OpenOptions::new()
            .read(true)
            .custom_flags(flags(OFlags::NOFOLLOW | extra))
            .open(path)?;
        Ok(Box::new(file))
    }

    fn open_tree(&self, root: &Path, tree: &NameTree) -> io::Result<Box<dyn TreeAccess>> {
        Ok(Box::new(LocalTree::open(root, tree)?))
    }

    fn transfer_threads(&self) -> usize {
        WRITERS
    }

    fn release_fill_resources(&self) {}

    fn capabilities(&self) -> Capabilities {
        Capabilities::POSIX
    }

    fn run_target(
        &self,
        directory: &Path,
        _find_handles: FindHandles<'_>,
    ) -> Result<Arc<dyn RunTarget>, Refusal> {
        Ok(Arc::new(PosixTarget::new(directory)))
    }

    fn mounted(&self) -> Option<&Arc<Mounted>> {
        None
    }
}

/// A file that is being filled.
struct LocalFile {
    path: PathBuf,
    buffered: File,
    /// Opened with O_DIRECT, if that works.
    direct: Option<File>,
    offset_align_bytes: u64,
}

fn open_for_fill(path: &Path, extra: OFlags) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .custom_flags(flags(OFlags::NOFOLLOW | extra))
        .open(path)
}

impl FillFile for LocalFile {
    fn attributes(&self) -> io::Result<Entry> {
        self.buffered.metadata().map(|found| Entry::from(&found))
    }

    fn truncate(&self, size_bytes: u64) -> io::Result<()> {
        self.buffered.set_len(size_bytes)
    }

    fn write_directly(&mut self, offset_align_bytes: u64) -> io::Result<()> {
        self.direct = Some(open_for_fill(&self.path, OFlags::DIRECT)?);
        self.offset_align_bytes = offset_align_bytes;
        Ok(())
    }

    /// A write to the page cache holds the lock of its inode. Threads that wait for this lock in the
    /// kernel spin while its owner runs (`kernel/locking/rwsem.c`), those of this program sleep.
    fn writes_exclude_each_other(&self) -> bool {
        self.direct.is_none()
    }

    fn reserve(&self, size_bytes: u64) -> io::Result<()> {
        if size_bytes == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&self.buffered, FallocateFlags::empty(), 0, size_bytes) {
            Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) => Ok(()),
            other => Ok(other?),
        }
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let aligned = (bytes.len() as u64).is_multiple_of(self.offset_align_bytes);
        match &self.direct {
            Some(direct) if aligned => write_all(direct, bytes, offset, self.offset_align_bytes),
            _ => write_all(&self.buffered, bytes, offset, 1),
        }
    }

    fn sync(&self) -> io::Result<Synced> {
        self.buffered.sync_all().map(|()| Synced::Durable)
    }
}

/// Writes all bytes, continuing after a short write at a multiple of `align_bytes`.
fn write_all(file: &File, bytes: &[u8], offset: u64, align_bytes: u64) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match file.write_at(&bytes[done..], offset + done as u64) {
            Ok(count) => {
                let count = (count as u64 / align_bytes * align_bytes) as usize;
                if count == 0 {
                    return Err(io::ErrorKind::WriteZero.into());
                }
                done += count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

impl SampledFile for File {
    fn first_hole(&self, size_bytes: u64) -> Option<u64> {
        rustix::fs::seek(self, SeekFrom::Hole(0)).ok().filter(|offset| *offset < size_bytes)
    }

    fn read_at(&self, page: &mut [u8], offset: u64) -> io::Result<usize> {
        FileExt::read_at(self, page, offset)
    }
}
