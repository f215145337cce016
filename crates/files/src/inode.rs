//! Inodes and the table that finds them by handle in one array access.

use crate::attributes::{Attributes, Kind, MODE_BITS, Time, WccAttributes};
use crate::changes::Changes;
use crate::directory::{Directory, entry_bytes};
use crate::file::File;
use crate::space::INODE_BYTES;
use crate::sparse::{BLOCK_BYTES, Cost};
use crate::{Error, Handle};

/// The inode number of the root; lower ones are never used, as on UNIX file systems.
pub(crate) const ROOT: u64 = 2;

/// What an inode holds.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    File(File),
    Directory(Directory),
    Symlink(Box<[u8]>),
    /// A FIFO, a socket or a device: nothing but its numbers is kept.
    Special(Kind, (u32, u32)),
}

/// One object.
#[derive(Clone, Debug)]
pub(crate) struct Inode {
    pub(crate) fileid: u64,
    pub(crate) generation: u32,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Names in directories; "." and ".." are not counted here.
    pub(crate) names: u32,
    pub(crate) atime: Time,
    pub(crate) mtime: Time,
    pub(crate) ctime: Time,
    /// True if it is among the changes that a storage will be told of.
    pub(crate) marked: bool,
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

    /// What it holds of the quota and of the memory, beside the names in it.
    pub(crate) fn held(&self) -> Cost {
        let own = match &self.body {
            Body::File(file) => file.held(),
            Body::Symlink(text) => Cost { blocks: 0, memory_bytes: text.len() as u64 },
            Body::Directory(_) | Body::Special(..) => Cost::default(),
        };
        Cost { memory_bytes: own.memory_bytes + INODE_BYTES, ..own }
    }

    pub(crate) fn attributes(&self, fsid: u64) -> Attributes {
        let (nlink, rdev) = match &self.body {
            Body::Directory(directory) => (2 + directory.subdirectories, (0, 0)),
            Body::Special(_, rdev) => (self.names, *rdev),
            Body::File(_) | Body::Symlink(_) => (self.names, (0, 0)),
        };
        Attributes {
            kind: self.kind(),
            mode: self.mode & MODE_BITS,
            nlink,
            uid: self.uid,
            gid: self.gid,
            size: self.size(),
            used: match &self.body {
                Body::File(file) => file.held().blocks * BLOCK_BYTES,
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

    /// Attributes changed.
    ///
    /// A clock that stands still, or goes back, must not hide a change from a client that compares
    /// ctimes, so it advances by a nanosecond at least.
    pub(crate) fn attributes_changed(&mut self, now: Time) {
        self.ctime = if now > self.ctime { now } else { self.ctime.next() };
    }

    /// Data changed, and with it the attributes.
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

    /// The regular file in it; a directory and the rest are told apart as other servers do.
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
    /// Of the inode that is here, or of the next one.
    generation: u32,
    inode: Option<Inode>,
}

/// Inodes lie side by side in pages of this many, so that finding one is one look at memory, making
/// one is seldom an allocation, and growing moves none.
const PAGE: usize = 128;

/// All inodes. pages[(fileid - ROOT) / PAGE][(fileid - ROOT) % PAGE].
#[derive(Debug)]
pub(crate) struct Table {
    fsid: u64,
    /// Generation that a number's first inode has.
    first_generation: u32,
    /// Each has the capacity of a page from the beginning; all but the last are full.
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

    /// Slots there are, used or free.
    fn length(&self) -> usize {
        self.pages.last().map_or(0, |last| (self.pages.len() - 1) * PAGE + last.len())
    }

    /// The number and generation that the next inode will have.
    pub(crate) fn next(&self) -> (u64, u32) {
        let free = self.free.last().and_then(|index| Some((*index, self.slot(*index)?)));
        match free {
            Some((index, slot)) => (index as u64 + ROOT, slot.generation),
            None => (self.length() as u64 + ROOT, self.first_generation),
        }
    }

    /// Adds an inode that has the number and generation of [`Table::next`].
    pub(crate) fn add(&mut self, mut inode: Inode) {
        if self.changes.noted {
            inode.marked = true;
            self.changes.inodes.push(inode.fileid);
        }
        match self.free.pop() {
            Some(index) => {
                let slot = self.slot_mut(index).expect("what is free was used once");
                slot.inode = Some(inode);
            }
            None => self.push(Slot { generation: self.first_generation, inode: Some(inode) }),
        }
    }

    fn push(&mut self, slot: Slot) {
        if self.length() == self.pages.len() * PAGE {
            self.pages.push(Vec::with_capacity(PAGE));
        }
        self.pages.last_mut().expect("one was pushed if there was none").push(slot);
    }

    /// Removes an inode; handles of it are stale from now on.
    pub(crate) fn remove(&mut self, fileid: u64) -> Option<Inode> {
        let index = fileid.checked_sub(ROOT)? as usize;
        let slot = self.slot_mut(index)?;
        let inode = slot.inode.take()?;
        slot.generation = slot.generation.wrapping_add(1);
        self.free.push(index);
        if self.changes.noted && !inode.marked {
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
        Ok(self.named_mut(handle.fileid))
    }

    fn index(&self, handle: Handle) -> Result<usize, Error> {
        if handle.fsid != self.fsid {
            return Err(Error::Stale);
        }
        handle.fileid.checked_sub(ROOT).map(|index| index as usize).ok_or(Error::Stale)
    }

    /// An inode that a directory names, so that it must be there.
    pub(crate) fn named(&self, fileid: u64) -> &Inode {
        let slot = self.slot((fileid - ROOT) as usize);
        slot.and_then(|slot| slot.inode.as_ref()).expect("a directory names only what exists")
    }

    /// The same, to be changed.
    pub(crate) fn named_mut(&mut self, fileid: u64) -> &mut Inode {
        let index = (fileid - ROOT) as usize;
        let slot = self.pages.get_mut(index / PAGE).and_then(|page| page.get_mut(index % PAGE));
        let inode = slot.and_then(|slot| slot.inode.as_mut());
        let inode = inode.expect("a directory names only what exists");
        if self.changes.noted && !inode.marked {
            inode.marked = true;
            self.changes.inodes.push(fileid);
        }
        inode
    }

    /// The same, where it is known to be a directory.
    pub(crate) fn directory_mut(&mut self, fileid: u64) -> &mut Directory {
        match &mut self.named_mut(fileid).body {
            Body::Directory(directory) => directory,
            _ => unreachable!("the caller saw that it is a directory"),
        }
    }

    /// An inode that may be gone.
    pub(crate) fn find(&self, fileid: u64) -> Option<&Inode> {
        self.slot(fileid.checked_sub(ROOT)? as usize)?.inode.as_ref()
    }

    /// Takes the mark from an inode that changed; `Err`: it is gone, and the generation of the
    /// next one.
    pub(crate) fn unmark(&mut self, fileid: u64) -> Result<&Inode, u32> {
        let first_generation = self.first_generation;
        let slot = self.slot_mut((fileid - ROOT) as usize).ok_or(first_generation)?;
        let inode = slot.inode.as_mut().ok_or(slot.generation)?;
        inode.marked = false;
        Ok(inode)
    }

    /// Puts back an inode, or the generation that the next one there will have. Numbers come in
    /// their order, none left out.
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

    /// The generation of the inode that has a number, or of the next one that will.
    pub(crate) fn generation(&self, fileid: u64) -> Option<u32> {
        let slot = self.slot(fileid.checked_sub(ROOT)? as usize)?;
        Some(slot.inode.as_ref().map_or(slot.generation, |inode| inode.generation))
    }

    /// Numbers that had an inode and have none, with the generation of the next.
    pub(crate) fn free_numbers(&self) -> impl Iterator<Item = (u64, u32)> {
        let generation = |index: &usize| self.slot(*index).map(|slot| slot.generation);
        self.free.iter().filter_map(move |index| Some((*index as u64 + ROOT, generation(index)?)))
    }

    /// Every inode, in the order of numbers.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Inode> {
        self.pages.iter().flatten().filter_map(|slot| slot.inode.as_ref())
    }
}

/// What an inode and the names in it are charged: the sum that `Space` keeps.
pub(crate) fn charge(inode: &Inode) -> Cost {
    let names: u64 = match &inode.body {
        Body::Directory(directory) => {
            directory.after(0).map(|(_, name, _)| entry_bytes(name)).sum()
        }
        _ => 0,
    };
    let held = inode.held();
    Cost { memory_bytes: held.memory_bytes + names, ..held }
}
