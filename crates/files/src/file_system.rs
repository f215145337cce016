//! The file system: its options, code that all procedures share, and procedures that change
//! nothing.

use std::collections::BTreeSet;
use std::sync::Arc;

use units::Bytes;

use crate::attributes::{Attributes, Created, Time, Wcc, WccAttributes};
use crate::caller::X;
use crate::directory::{Directory, entry_bytes};
use crate::file::File;
use crate::inode::{Body, Inode, ROOT, Table, charge};
use crate::space::{INODE_BYTES, Space};
use crate::sparse::{BLOCK_BYTES, Cost};
use crate::{Access, Caller, DataId, Error, Handle, Storage};

/// Options of a file system. Defaults are in the volume's configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Identifies the file system in handles and attributes; unique among the volumes of a server.
    pub fsid: u64,
    /// A number that differs at each start of the volume, for example the clock. It determines the
    /// write verifier and, in a new volume, the cookie verifier and the first generation of inodes,
    /// so that clients cannot use handles or cookies of an earlier volume by mistake.
    pub instance: u64,
    /// Maximum size of all written blocks; see [`FileSystem::set_quota`].
    pub quota: Bytes,
    /// Maximum memory for data, inodes and names.
    pub memory_max: Bytes,
    /// Maximum number of inodes, including the root.
    pub inodes_max: u64,
    /// Maximum size of a file; at most 2^63 - 1, the largest offset of clients.
    pub file_size_max: Bytes,
    /// Maximum number of hard links to a file.
    pub links_max: u32,
    /// What a restart does to data that was written UNSTABLE.
    pub unstable: Unstable,
    /// Maximum size of a READ or WRITE in bytes, as reported by FSINFO.
    pub transfer_max: u32,
    /// Owner, group and mode of the root directory.
    pub root: (u32, u32, u32),
    /// Creation time of the root directory.
    pub made: Time,
}

/// What [`FileSystem::restart`] does to data that was written UNSTABLE and not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unstable {
    /// The data is kept. UNSTABLE writes are answered with UNSTABLE, so that clients send COMMITs
    /// as to any server. For a volume that is served.
    Kept,
    /// The data is lost. For tests of clients, which must write it again.
    MayBeLost {
        /// Maximum size of 4 KiB blocks whose stable content is kept as a copy. Beyond it, all data
        /// becomes stable, as when a server flushes its memory, and the reply says so. 0: every
        /// write is stable immediately.
        max: Bytes,
    },
}

/// A tree of inodes. Its methods are the procedures of RFC 1813, section 3.3, in this order:
/// [`getattr`](FileSystem::getattr), [`setattr`](FileSystem::setattr),
/// [`lookup`](FileSystem::lookup), [`access`](FileSystem::access),
/// [`readlink`](FileSystem::readlink), [`read`](FileSystem::read), [`write`](FileSystem::write),
/// [`create`](FileSystem::create), [`mkdir`](FileSystem::mkdir),
/// [`symlink`](FileSystem::symlink), [`mknod`](FileSystem::mknod),
/// [`remove`](FileSystem::remove), [`rmdir`](FileSystem::rmdir), [`rename`](FileSystem::rename),
/// [`link`](FileSystem::link), [`readdir`](FileSystem::readdir),
/// [`readdirplus`](FileSystem::readdirplus), [`fsstat`](FileSystem::fsstat),
/// [`fsinfo`](FileSystem::fsinfo), [`pathconf`](FileSystem::pathconf),
/// [`commit`](FileSystem::commit).
///
/// Procedures that change something return weak cache consistency data. The others return a plain
/// result; the attributes that their reply contains even on failure are `getattr(handle).ok()`.
///
/// A server with several threads must lock it. READ, GETATTR, LOOKUP, ACCESS and the listings take
/// `&self`.
#[derive(Debug)]
pub struct FileSystem {
    pub(crate) options: Options,
    pub(crate) table: Table,
    pub(crate) space: Space,
    /// Inode numbers of files with unstable data.
    pub(crate) unstable: BTreeSet<u64>,
    /// Blocks in these files whose stable image is kept.
    pub(crate) unstable_blocks: u64,
    pub(crate) write_verifier: u64,
    /// [`Options::instance`] at the volume's creation, which determines verifiers that never
    /// change.
    pub(crate) birth: u64,
    /// `None`: data is in memory only.
    pub(crate) storage: Option<Arc<dyn Storage>>,
    /// The storage failed, so no change is allowed any more.
    pub(crate) failed: bool,
    /// Buffer for records, reused to avoid allocation.
    pub(crate) records: Vec<u8>,
}

impl FileSystem {
    /// An empty file system with a root directory.
    ///
    /// The limits do not apply to the root directory.
    pub fn new(options: Options) -> FileSystem {
        let mut fs = FileSystem::without_root(options, options.instance);
        let (uid, gid, mode) = options.root;
        let made = options.made;
        fs.table.add(Inode {
            fileid: ROOT,
            generation: FileSystem::first_generation(fs.birth),
            mode,
            uid,
            gid,
            links: 1,
            atime: made,
            mtime: made,
            ctime: made,
            is_tracked: false,
            body: Body::Directory(Directory::new(ROOT, options.instance)),
        });
        fs.space.inodes = 1;
        fs.space.memory_bytes = INODE_BYTES;
        fs
    }

    /// A file system without inodes.
    pub(crate) fn without_root(options: Options, birth: u64) -> FileSystem {
        let file_size_max = options.file_size_max.min(Bytes::new(i64::MAX as u64));
        let options = Options { file_size_max, ..options };
        let space = Space {
            quota_bytes: options.quota.get(),
            memory_bytes_max: options.memory_max.get(),
            inodes_max: options.inodes_max,
            used_blocks: 0,
            memory_bytes: 0,
            inodes: 0,
        };
        FileSystem {
            options,
            table: Table::new(options.fsid, FileSystem::first_generation(birth)),
            space,
            unstable: BTreeSet::new(),
            unstable_blocks: 0,
            write_verifier: options.instance,
            birth,
            storage: None,
            failed: false,
            records: Vec::new(),
        }
    }

    /// The generation of the first inode with any number.
    pub(crate) fn first_generation(birth: u64) -> u32 {
        (birth ^ (birth >> 32)) as u32
    }

    /// The root directory, whose handle MOUNT returns.
    pub fn root(&self) -> Handle {
        self.table.handle(self.table.existing(ROOT))
    }

    /// Changes the quota. Nothing is removed if more is used.
    pub fn set_quota(&mut self, quota: Bytes) {
        self.space.quota_bytes = quota.get();
    }

    /// Changes the maximum memory. Nothing is removed if more is used.
    pub fn set_memory_max(&mut self, memory: Bytes) {
        self.space.memory_bytes_max = memory.get();
    }

    /// Size of the written blocks of all files, which the quota limits.
    pub fn used(&self) -> Bytes {
        Bytes::new(self.space.used_bytes())
    }

    /// Memory used by data, inodes and names, which the memory budget limits.
    pub fn memory(&self) -> Bytes {
        Bytes::new(self.space.memory_bytes)
    }

    /// Size of blocks with unstable data.
    pub fn uncommitted(&self) -> Bytes {
        Bytes::new(self.unstable_blocks * BLOCK_BYTES)
    }

    /// GETATTR.
    pub fn getattr(&self, object: Handle) -> Result<Attributes, Error> {
        self.table.get(object).map(|inode| inode.attributes(self.options.fsid))
    }

    /// LOOKUP, including "." and ".."; the root's ".." is the root.
    pub fn lookup(
        &self,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
    ) -> Result<Created, Error> {
        let inode = self.table.get(directory)?;
        let entries = inode.directory()?;
        if !caller.may(inode, X) {
            return Err(Error::Acces);
        }
        let found = match name {
            b"." => inode,
            b".." => self.table.existing(entries.parent),
            _ => {
                check_name(name)?;
                self.table.existing(entries.find(name).ok_or(Error::NoEnt)?)
            }
        };
        Ok(self.created(found))
    }

    /// ACCESS: the requested bits that the caller has.
    pub fn access(
        &self,
        object: Handle,
        requested: Access,
        caller: &Caller<'_>,
    ) -> Result<Access, Error> {
        self.table.get(object).map(|inode| caller.access(inode, requested))
    }

    /// READLINK: the target of a symbolic link. The server never follows it.
    pub fn readlink(&self, link: Handle) -> Result<&[u8], Error> {
        match &self.table.get(link)?.body {
            Body::Symlink(text) => Ok(text),
            _ => Err(Error::Inval),
        }
    }

    /// Checks the tree and recounts all sums, for tests.
    ///
    /// # Panics
    /// On any inconsistency, which is a bug of this crate.
    pub fn check(&self) {
        let mut sum = Cost::default();
        let mut inodes = 0;
        let mut unstable = 0;
        for inode in self.table.all() {
            let charge = charge(inode);
            sum.blocks += charge.blocks;
            sum.memory_bytes += charge.memory_bytes;
            inodes += 1;
            if let Body::File(file) = &inode.body {
                unstable += file.unstable_blocks();
                assert_eq!(file.unstable_blocks() > 0, self.unstable.contains(&inode.fileid));
            }
            if let Ok(entries) = inode.directory() {
                let children = entries.after(0).map(|(_, _, fileid)| self.table.existing(fileid));
                let directories: Vec<u64> =
                    children.filter_map(|inode| Some(inode.directory().ok()?.parent)).collect();
                assert_eq!(entries.subdirectories as usize, directories.len());
                assert!(directories.iter().all(|parent| *parent == inode.fileid), "..");
                assert!(self.table.existing(entries.parent).directory().is_ok());
            }
        }
        assert_eq!(sum.blocks, self.space.used_blocks, "written blocks");
        assert_eq!(sum.memory_bytes, self.space.memory_bytes, "memory");
        assert_eq!(inodes, self.space.inodes, "inodes");
        assert_eq!(unstable, self.unstable_blocks, "uncommitted blocks");
        let links: u64 = self.table.all().map(|inode| u64::from(inode.links)).sum();
        let entries: usize = self
            .table
            .all()
            .filter_map(|inode| inode.directory().ok())
            .map(|directory| directory.after(0).count())
            .sum();
        assert_eq!(links, entries as u64 + 1, "an entry for each link, and none for the root");
    }

    pub(crate) fn created(&self, inode: &Inode) -> Created {
        let attributes = inode.attributes(self.options.fsid);
        Created { handle: self.table.handle(inode), attributes }
    }

    pub(crate) fn before(&self, object: Handle) -> Option<WccAttributes> {
        self.table.get(object).ok().map(Inode::wcc)
    }

    pub(crate) fn wcc(&self, object: Handle, before: Option<WccAttributes>) -> Wcc {
        Wcc { before, after: self.getattr(object).ok() }
    }

    /// Adds a new entry to a directory. The caller has checked the limits.
    pub(crate) fn add_entry(&mut self, directory: u64, name: &[u8], fileid: u64) {
        let is_directory = self.table.existing(fileid).directory().is_ok();
        self.space.memory_bytes += entry_bytes(name);
        self.track_name(directory, name);
        let entries = self.table.directory_mut(directory);
        entries.insert(name, fileid);
        entries.subdirectories += u32::from(is_directory);
    }

    /// Removes an existing entry from a directory; returns the number of its unchanged inode.
    pub(crate) fn remove_entry(&mut self, directory: u64, name: &[u8]) -> u64 {
        self.track_name(directory, name);
        let entries = self.table.directory_mut(directory);
        let fileid = entries.remove(name).expect("the caller found the entry");
        self.space.memory_bytes -= entry_bytes(name);
        if self.table.existing(fileid).directory().is_ok() {
            self.table.directory_mut(directory).subdirectories -= 1;
        }
        fileid
    }

    /// Adds a changed name to the changes, which must be durable before the reply is sent.
    pub(crate) fn track_name(&mut self, directory: u64, name: &[u8]) {
        let changes = &mut self.table.changes;
        if changes.is_tracking {
            changes.names.push((directory, name.into()));
            changes.durable = true;
        }
    }

    /// Removes one link of an inode whose entry was removed, and the inode with its last link.
    pub(crate) fn remove_link(&mut self, fileid: u64, now: Time) {
        let inode = self.table.existing_mut(fileid);
        inode.links -= 1;
        if inode.links > 0 {
            inode.attributes_changed(now);
            return;
        }
        let removed = self.table.remove(fileid).expect("it had an entry");
        self.space.inodes -= 1;
        self.space.change(removed.usage(), Cost::default());
        if let (Some(storage), Body::File(File { is_in_storage: true, .. })) =
            (&self.storage, &removed.body)
        {
            storage.remove(DataId { fileid, generation: removed.generation });
        }
        if self.unstable.remove(&fileid)
            && let Body::File(file) = &removed.body
        {
            self.unstable_blocks -= file.unstable_blocks();
        }
    }
}

/// Maximum length of a name in bytes.
pub(crate) const NAME_MAX: usize = 255;

/// RFC 1813, section 3.2: an empty name is refused with ACCES, and one that is too long with
/// NAMETOOLONG. A server may refuse characters; names with "/" or NUL are refused with INVAL,
/// because UNIX clients cannot use them.
pub(crate) fn check_name(name: &[u8]) -> Result<(), Error> {
    if name.is_empty() {
        return Err(Error::Acces);
    }
    if name.len() > NAME_MAX {
        return Err(Error::NameTooLong);
    }
    if name.contains(&b'/') || name.contains(&0) {
        return Err(Error::Inval);
    }
    Ok(())
}
