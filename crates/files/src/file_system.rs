//! The file system: what it is opened with, what every procedure shares, and those that only look.

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

/// What a file system is made with. There are no defaults: a volume's configuration says them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Identifies the file system in handles and attributes; unique among the volumes of a server.
    pub fsid: u64,
    /// A number that no earlier life of this volume had (the clock at the start will do). The
    /// write verifier comes from it, and in a volume that is new the cookie verifier and the
    /// generations of inodes, so that nothing a client kept from another life is taken for
    /// something of this one.
    pub instance: u64,
    /// Written blocks that it may hold; [`FileSystem::set_quota`] changes it.
    pub quota: Bytes,
    /// Memory that data, inodes and names may take.
    pub memory_max: Bytes,
    /// Inodes it may have, the root counted.
    pub inodes_max: u64,
    /// Largest size of a file; at most 2^63 - 1, the largest offset that clients have.
    pub file_size_max: Bytes,
    /// Names one file may have.
    pub links_max: u32,
    /// What becomes of data written UNSTABLE.
    pub unstable: Unstable,
    /// Most bytes of one READ or WRITE, as FSINFO tells the clients.
    pub transfer_max: u32,
    /// Owner, group and mode of the root directory.
    pub root: (u32, u32, u32),
    /// When the root directory was made.
    pub made: Time,
}

/// What [`FileSystem::restart`] does to data that was written UNSTABLE and not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unstable {
    /// Nothing: it is as safe as all the rest, which is in memory too. An UNSTABLE write is
    /// answered UNSTABLE, so that clients send their COMMITs as to any server, and neither costs
    /// anything beyond itself. For a volume that is served.
    Kept,
    /// It is lost. For tests of clients, which have to write it again.
    MayBeLost {
        /// Touched blocks of 4 KiB of which a copy is kept as they were. Beyond that all of it
        /// becomes stable, as a server's memory would be flushed, and is said to be. 0: every
        /// write is stable at once, and costs no copy.
        max: Bytes,
    },
}

/// A tree of inodes. Its methods are the procedures of RFC 1813, section 3.3, in that order:
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
/// Procedures that change something give weak cache consistency data with their answer. The others
/// give a plain result; the attributes that their reply carries also on failure are
/// `getattr(handle).ok()`.
///
/// It is not shared by itself: a server with several threads puts it behind a lock. READ,
/// GETATTR, LOOKUP, ACCESS and the listings need it only to look at.
#[derive(Debug)]
pub struct FileSystem {
    pub(crate) options: Options,
    pub(crate) table: Table,
    pub(crate) space: Space,
    /// Numbers of the files of which something is not stable.
    pub(crate) unstable: BTreeSet<u64>,
    /// Blocks in them whose stable image is kept.
    pub(crate) unstable_blocks: u64,
    pub(crate) write_verifier: u64,
    /// The instance in which the volume was made: what shall stay the same comes from it.
    pub(crate) birth: u64,
    /// Where data and records are kept; `None`: in memory.
    pub(crate) storage: Option<Arc<dyn Storage>>,
    /// True if the storage failed, so that nothing may change any more.
    pub(crate) failed: bool,
    /// Records that are handed over, kept for their memory.
    pub(crate) records: Vec<u8>,
}

impl FileSystem {
    /// An empty file system with a root directory.
    ///
    /// The limits are not looked at for the root itself: it exists also where nothing else fits.
    pub fn new(options: Options) -> FileSystem {
        let mut fs = FileSystem::of(options, options.instance);
        let (uid, gid, mode) = options.root;
        let made = options.made;
        fs.table.add(Inode {
            fileid: ROOT,
            generation: FileSystem::first_generation(fs.birth),
            mode,
            uid,
            gid,
            names: 1,
            atime: made,
            mtime: made,
            ctime: made,
            marked: false,
            body: Body::Directory(Directory::new(ROOT, options.instance)),
        });
        fs.space.inodes = 1;
        fs.space.memory_bytes = INODE_BYTES;
        fs
    }

    /// A file system without anything, not even a root.
    pub(crate) fn of(options: Options, birth: u64) -> FileSystem {
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

    /// The generation of the first inode that has a number.
    pub(crate) fn first_generation(birth: u64) -> u32 {
        (birth ^ (birth >> 32)) as u32
    }

    /// What MOUNT gives to the client.
    pub fn root(&self) -> Handle {
        self.table.handle(self.table.named(ROOT))
    }

    /// Changes the quota at once. Nothing is taken away where more is used.
    pub fn set_quota(&mut self, quota: Bytes) {
        self.space.quota_bytes = quota.get();
    }

    /// Changes the memory that it may take, at once. Nothing is taken away where more is used.
    pub fn set_memory_max(&mut self, memory: Bytes) {
        self.space.memory_bytes_max = memory.get();
    }

    /// Written blocks of all files: what the quota counts.
    pub fn used(&self) -> Bytes {
        Bytes::new(self.space.used_bytes())
    }

    /// Memory taken by data, inodes and names: what the budget counts.
    pub fn memory(&self) -> Bytes {
        Bytes::new(self.space.memory_bytes)
    }

    /// Blocks touched by unstable writes and not yet committed.
    pub fn uncommitted(&self) -> Bytes {
        Bytes::new(self.unstable_blocks * BLOCK_BYTES)
    }

    /// GETATTR.
    pub fn getattr(&self, object: Handle) -> Result<Attributes, Error> {
        self.table.get(object).map(|inode| inode.attributes(self.options.fsid))
    }

    /// LOOKUP, of "." and ".." too; the root's ".." is the root.
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
            b".." => self.table.named(entries.parent),
            _ => {
                check_name(name)?;
                self.table.named(entries.find(name).ok_or(Error::NoEnt)?)
            }
        };
        Ok(self.created(found))
    }

    /// ACCESS: which of the bits asked for the caller has.
    pub fn access(
        &self,
        object: Handle,
        asked: Access,
        caller: &Caller<'_>,
    ) -> Result<Access, Error> {
        self.table.get(object).map(|inode| caller.access(inode, asked))
    }

    /// READLINK: the text of a symbolic link, which the server never follows.
    pub fn readlink(&self, link: Handle) -> Result<&[u8], Error> {
        match &self.table.get(link)?.body {
            Body::Symlink(text) => Ok(text),
            _ => Err(Error::Inval),
        }
    }

    /// Recounts everything from the tree and compares it with what is kept, for tests: every
    /// directory entry names an inode, every inode has its names, and the sums are right.
    ///
    /// # Panics
    /// Where something is wrong; that is a defect of this crate.
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
                let inside = entries.after(0).map(|(_, _, fileid)| self.table.named(fileid));
                let directories: Vec<u64> =
                    inside.filter_map(|inode| Some(inode.directory().ok()?.parent)).collect();
                assert_eq!(entries.subdirectories as usize, directories.len());
                assert!(directories.iter().all(|parent| *parent == inode.fileid), "..");
                assert!(self.table.named(entries.parent).directory().is_ok());
            }
        }
        assert_eq!(sum.blocks, self.space.used_blocks, "written blocks");
        assert_eq!(sum.memory_bytes, self.space.memory_bytes, "memory");
        assert_eq!(inodes, self.space.inodes, "inodes");
        assert_eq!(unstable, self.unstable_blocks, "uncommitted blocks");
        let names: u64 = self.table.all().map(|inode| u64::from(inode.names)).sum();
        let entries: usize = self
            .table
            .all()
            .filter_map(|inode| inode.directory().ok())
            .map(|directory| directory.after(0).count())
            .sum();
        assert_eq!(names, entries as u64 + 1, "names, and the root that has none");
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

    /// Adds a name to a directory that has room for it and does not have it.
    pub(crate) fn enter(&mut self, directory: u64, name: &[u8], fileid: u64) {
        let is_directory = self.table.named(fileid).directory().is_ok();
        self.space.memory_bytes += entry_bytes(name);
        self.note_name(directory, name);
        let entries = self.table.directory_mut(directory);
        entries.insert(name, fileid);
        entries.subdirectories += u32::from(is_directory);
    }

    /// Takes a name that is there out of a directory; the inode it named stays as it is.
    pub(crate) fn leave(&mut self, directory: u64, name: &[u8]) -> u64 {
        self.note_name(directory, name);
        let entries = self.table.directory_mut(directory);
        let fileid = entries.remove(name).expect("the caller looked first");
        self.space.memory_bytes -= entry_bytes(name);
        if self.table.named(fileid).directory().is_ok() {
            self.table.directory_mut(directory).subdirectories -= 1;
        }
        fileid
    }

    /// Notes that a name of a directory changes, which must be safe before it is answered.
    pub(crate) fn note_name(&mut self, directory: u64, name: &[u8]) {
        let changes = &mut self.table.changes;
        if changes.noted {
            changes.names.push((directory, name.into()));
            changes.durable = true;
        }
    }

    /// Takes away one name of an inode that no directory names by it any more, and the inode with
    /// its last name.
    pub(crate) fn forget(&mut self, fileid: u64, now: Time) {
        let inode = self.table.named_mut(fileid);
        inode.names -= 1;
        if inode.names > 0 {
            inode.attributes_changed(now);
            return;
        }
        let gone = self.table.remove(fileid).expect("it was named until now");
        self.space.inodes -= 1;
        self.space.change(gone.held(), Cost::default());
        if let (Some(storage), Body::File(File { outside: true, .. })) = (&self.storage, &gone.body)
        {
            storage.forget(DataId { fileid, generation: gone.generation });
        }
        if self.unstable.remove(&fileid)
            && let Body::File(file) = &gone.body
        {
            self.unstable_blocks -= file.unstable_blocks();
        }
    }
}

/// The longest name.
pub(crate) const NAME_MAX: usize = 255;

/// RFC 1813, section 3.2: the null name is refused with ACCES, one that is too long with
/// NAMETOOLONG; characters that the server does not support may be refused, and here "/" and NUL
/// are, with INVAL, because no client of ours could ever reach them again.
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
