//! Inodes, and the table that finds an inode by its handle with two array accesses.

use crate::attributes::{Attributes, Kind, MODE_BITS, Time, WccAttributes};
use crate::directory::{Directory, entry_bytes};
use crate::file::File;
use crate::space::INODE_BYTES;
use crate::sparse::{BLOCK_BYTES, Cost};
use crate::{Error, Handle};

/// Inode number of the root. As on UNIX file systems, lower numbers are not used.
pub(crate) const ROOT: u64 = 2;

/// The content of an inode.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    File(File),
    Directory(Directory),
    Symlink(Box<[u8]>),
    /// A FIFO, a socket, or a device with its major and minor number.
    Special(Kind, (u32, u32)),
}

/// An object of the file system.
#[derive(Clone, Debug)]
pub(crate) struct Inode {
    pub(crate) fileid: u64,
    pub(crate) generation: u32,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Number of directory entries, without "." and "..".
    pub(crate) links: u32,
    pub(crate) atime: Time,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    /// True if it is already in [`Changes::inodes`].
    pub(crate) is_tracked: bool,
    pub(crate) body: Body,
}

impl Inode {
    pub(crate) fn kind(&self) -> Kind {
        match &self.body {
            Body::File(_) => Kind::Regular,
            Body::Directory(_) => Kind::Directory,
            Body::Symlink(_) => Kind::Symlink,
            Body::Special(kind, _) => *kind,
        }
    }

    pub(crate) fn size(&self) -> u64 {
        match &self.body {
            Body::File(file) => file.size(),
            Body::Directory(directory) => directory.size(),
            Body::Symlink(text) => text.len() as u64,
            Body::Special(..) => 0,
        }
    }

    /// Its use of quota and memory, without the entries of a directory.
    pub(crate) fn usage(&self) -> Cost {
        let content = match &self.body {
            Body::File(file) => file.usage(),
            Body::Symlink(text) => Cost { blocks: 0, memory_bytes: text.len() as u64 },
            Body::Directory(_) | Body::Special(..) => Cost::default(),
        };
        Cost { memory_bytes: content.memory_bytes + INODE_BYTES, ..content }
    }

    pub(crate) fn attributes(&self, fsid: u64) -> Attributes {
        let (nlink, rdev) = match &self.body {
            Body::Directory(directory) => (2 + directory.subdirectories, (0, 0)),
            Body::Special(_, rdev) => (self.links, *rdev),
            Body::File(_) | Body::Symlink(_) => (self.links, (0, 0)),
        };
        Attributes {
            kind: self.kind(),
            mode: self.mode & MODE_BITS,
            nlink,
            uid: self.uid,
            gid: self.gid,
            size: self.size(),
            used: match &self.body {
                Body::File(file) => file.usage().blocks * BLOCK_BYTES,
                _ => self.size(),
            },
            rdev,
            fsid,
            fileid: self.fileid,
            atime: self.atime,
            mtime: self.mtime,
            ctime: self.ctime,
        }
    }

    pub(crate) fn wcc(&self) -> WccAttributes {
        WccAttributes { size: self.size(), mtime: self.mtime, ctime: self.ctime }
    }

    /// Sets the ctime. It increases by at least a nanosecond even if the clock stops or goes back,
    /// because clients detect changes by comparing ctimes.
    pub(crate) fn attributes_changed(&mut self, now: Time) {
        self.ctime = if now > self.ctime { now } else { self.ctime.next() };
    }

    /// Sets the mtime and the ctime.
    pub(crate) fn data_changed(&mut self, now: Time) {
        self.attributes_changed(now);
        self.mtime = self.ctime;
    }

    pub(crate) fn directory(&self) -> Result<&Directory, Error> {
        match &self.body {
            Body::Directory(directory) => Ok(directory),
            _ => Err(Error::NotDir),
        }
    }

    /// The regular file. Like other servers, refuses a directory with ISDIR and the rest with
    /// INVAL.
    pub(crate) fn file(&self) -> Result<&File, Error> {
        match &self.body {
            Body::File(file) => Ok(file),
            Body::Directory(_) => Err(Error::IsDir),
            _ => Err(Error::Inval),
        }
    }

    pub(crate) fn file_mut(&mut self) -> Result<&mut File, Error> {
        match &mut self.body {
            Body::File(file) => Ok(file),
            Body::Directory(_) => Err(Error::IsDir),
            _ => Err(Error::Inval),
        }
    }
}

#[derive(Clone, Debug)]
struct Slot {
    /// Of the inode, or of the next one if the slot is free.
    generation: u32,
    inode: Option<Inode>,
}

/// Inodes per page. Pages make creating an inode cheap (rarely an allocation) and keep inodes in
/// place when the table grows.
const PAGE: usize = 128;

/// Changes since the storage last received records. Nothing is tracked without a storage.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) is_tracking: bool,
    /// Numbers of changed and removed inodes; existing inodes occur once.
    pub(crate) inodes: Vec<u64>,
    /// Directories, and names that were added, removed, or assigned to another inode.
    pub(crate) names: Vec<(u64, Box<[u8]>)>,
    /// The changes must be durable before replies are sent.
    pub(crate) durable: bool,
}

/// All inodes: `pages[(fileid - ROOT) / PAGE][(fileid - ROOT) % PAGE]`.
#[derive(Debug)]
pub(crate) struct Table {
    fsid: u64,
    /// Generation of the first inode with any number.
    first_generation: u32,
    /// Each is allocated with the capacity of a page; all but the last are full.
    pages: Vec<Vec<Slot>>,
    free: Vec<usize>,
    pub(crate) changes: Changes,
}

impl Table {
    pub(crate) fn new(fsid: u64, first_generation: u32) -> Table {
        Table {
            fsid,
            first_generation,
            pages: Vec::new(),
            free: Vec::new(),
            changes: Changes::default(),
        }
    }

    fn slot(&self, index: usize) -> Option<&Slot> {
        self.pages.get(index / PAGE)?.get(index % PAGE)
    }

    fn slot_mut(&mut self, index: usize) -> Option<&mut Slot> {
        self.pages.get_mut(index / PAGE)?.get_mut(index % PAGE)
    }

    /// Number of slots, used or free.
    fn length(&self) -> usize {
        self.pages.last().map_or(0, |last| (self.pages.len() - 1) * PAGE + last.len())
    }

    /// The number and generation of the next inode.
    pub(crate) fn next(&self) -> (u64, u32) {
        let free = self.free.last().and_then(|index| Some((*index, self.slot(*index)?)));
        match free {
            Some((index, slot)) => (index as u64 + ROOT, slot.generation),
            None => (self.length() as u64 + ROOT, self.first_generation),
        }
    }

    /// Adds an inode with the number and generation of [`Table::next`].
    pub(crate) fn add(&mut self, mut inode: Inode) {
        if self.changes.is_tracking {
            inode.is_tracked = true;
            self.changes.inodes.push(inode.fileid);
        }
        match self.free.pop() {
            Some(index) => {
                let slot = self.slot_mut(index).expect("a free slot exists");
                slot.inode = Some(inode);
            }
            None => self.push(Slot { generation: self.first_generation, inode: Some(inode) }),
        }
    }

    fn push(&mut self, slot: Slot) {
        if self.length() == self.pages.len() * PAGE {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        self.pages.last_mut().expect("a page was added above").push(slot);
    }

    /// Removes an inode. Its handles become stale.
    pub(crate) fn remove(&mut self, fileid: u64) -> Option<Inode> {
        let index = fileid.checked_sub(ROOT)? as usize;
        let slot = self.slot_mut(index)?;
        let inode = slot.inode.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        if self.changes.is_tracking && !inode.is_tracked {
            self.changes.inodes.push(fileid);
        }
        Some(inode)
    }

    pub(crate) fn handle(&self, inode: &Inode) -> Handle {
        Handle { fsid: self.fsid, fileid: inode.fileid, generation: inode.generation }
    }

    pub(crate) fn get(&self, handle: Handle) -> Result<&Inode, Error> {
        let inode = self.slot(self.index(handle)?).and_then(|slot| slot.inode.as_ref());
        inode.filter(|inode| inode.generation == handle.generation).ok_or(Error::Stale)
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> Result<&mut Inode, Error> {
        self.get(handle)?;
        Ok(self.existing_mut(handle.fileid))
    }

    fn index(&self, handle: Handle) -> Result<usize, Error> {
        if handle.fsid != self.fsid {
            return Err(Error::Stale);
        }
        handle.fileid.checked_sub(ROOT).map(|index| index as usize).ok_or(Error::Stale)
    }

    /// An inode that must exist because a directory has an entry for it.
    pub(crate) fn existing(&self, fileid: u64) -> &Inode {
        let slot = self.slot((fileid - ROOT) as usize);
        slot.and_then(|slot| slot.inode.as_ref())
            .expect("a directory entry refers to an existing inode")
    }

    /// The same, mutably. The inode counts as changed.
    pub(crate) fn existing_mut(&mut self, fileid: u64) -> &mut Inode {
        let index = (fileid - ROOT) as usize;
        let slot = self.pages.get_mut(index / PAGE).and_then(|page| page.get_mut(index % PAGE));
        let inode = slot.and_then(|slot| slot.inode.as_mut());
        let inode = inode.expect("a directory entry refers to an existing inode");
        if self.changes.is_tracking && !inode.is_tracked {
            inode.is_tracked = true;
            self.changes.inodes.push(fileid);
        }
        inode
    }

    /// The same, for an inode that the caller knows to be a directory.
    pub(crate) fn directory_mut(&mut self, fileid: u64) -> &mut Directory {
        match &mut self.existing_mut(fileid).body {
            Body::Directory(directory) => directory,
            _ => unreachable!("the caller checked that it is a directory"),
        }
    }

    /// An inode that may have been removed.
    pub(crate) fn find(&self, fileid: u64) -> Option<&Inode> {
        self.slot(fileid.checked_sub(ROOT)? as usize)?.inode.as_ref()
    }

    /// A changed inode, which is no longer tracked. `Err`: it was removed; contains the generation
    /// of the next one.
    pub(crate) fn take_change(&mut self, fileid: u64) -> Result<&Inode, u32> {
        let first_generation = self.first_generation;
        let slot = self.slot_mut((fileid - ROOT) as usize).ok_or(first_generation)?;
        let inode = slot.inode.as_mut().ok_or(slot.generation)?;
        inode.is_tracked = false;
        Ok(inode)
    }

    /// Adds an inode, or a free number with the generation of its next inode. Numbers must ascend
    /// without gaps.
    pub(crate) fn restore(&mut self, fileid: u64, inode: Result<Inode, u32>) {
        debug_assert_eq!(fileid - ROOT, self.length() as u64);
        match inode {
            Ok(inode) => {
                self.push(Slot { generation: inode.generation, inode: Some(inode) });
            }
            Err(generation) => {
                self.free.push((fileid - ROOT) as usize);
                self.push(Slot { generation, inode: None });
            }
        }
    }

    /// The generation of the inode with a number, or of the next one if the number is free.
    pub(crate) fn generation(&self, fileid: u64) -> Option<u32> {
        let slot = self.slot(fileid.checked_sub(ROOT)? as usize)?;
        Some(slot.inode.as_ref().map_or(slot.generation, |inode| inode.generation))
    }

    /// Free numbers, each with the generation of its next inode.
    pub(crate) fn free_numbers(&self) -> impl Iterator<Item = (u64, u32)> {
        let generation = |index: &usize| self.slot(*index).map(|slot| slot.generation);
        self.free.iter().filter_map(move |index| Some((*index as u64 + ROOT, generation(index)?)))
    }

    /// All inodes, ordered by number.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Inode> {
        self.pages.iter().flatten().filter_map(|slot| slot.inode.as_ref())
    }
}

/// Use of quota and memory by an inode and its entries; `Space` has the sum of all.
pub(crate) fn charge(inode: &Inode) -> Cost {
    let names: u64 = match &inode.body {
        Body::Directory(directory) => {
            directory.after(0).map(|(_, name, _)| entry_bytes(name)).sum()
        }
        _ => 0,
    };
    let usage = inode.usage();
    Cost { memory_bytes: usage.memory_bytes + names, ..usage }
}
