//! What changed since a storage was last told, and telling it.

use crate::directory::Directory;
use crate::inode::{Body, Inode};
use crate::record::{BodyRecord, InodeRecord, Record};
use crate::{Error, FileSystem};

/// What changed. Nothing is noted in a volume without a storage.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) noted: bool,
    /// Numbers of inodes; those that exist are marked, so that each is here once.
    pub(crate) inodes: Vec<u64>,
    /// Directories, and names that were added to them, removed, or given to another inode.
    pub(crate) names: Vec<(u64, Box<[u8]>)>,
    /// True if something of it must be safe before it is answered.
    pub(crate) durable: bool,
}

/// A unit of a whole tree is about this long.
const UNIT_BYTES: usize = 256 << 10;

impl FileSystem {
    /// Whether [`FileSystem::sync`] has anything to do: the volume is kept, and not in memory only.
    pub const fn has_storage(&self) -> bool {
        self.storage.is_some()
    }

    /// Makes safe what was promised since the last call: to be called after procedures were
    /// performed and before any reply of them is sent. One call for many procedures costs as
    /// much as one for each of them, once. In memory it does nothing.
    ///
    /// # Errors
    /// Where the storage fails, replies since the last call may promise what is not kept. They
    /// must not be sent: close the connections that wait for them. The volume then answers
    /// [`Error::Io`] to every change until it is opened anew.
    pub fn sync(&mut self) -> Result<(), Error> {
        let Some(storage) = &self.storage else { return Ok(()) };
        if self.failed {
            return Err(Error::Io);
        }
        let wants_replacing = storage.wants_replacing();
        let result = if wants_replacing { self.keep_all() } else { self.keep_changes() };
        self.failed = result.is_err();
        result
    }

    /// Hands over what changed.
    pub(crate) fn keep_changes(&mut self) -> Result<(), Error> {
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        let durable = self.put_changes(&mut records);
        let result =
            if records.is_empty() && !durable { Ok(()) } else { storage.append(&records, durable) };
        self.records = records;
        result.inspect_err(|_| self.failed = true)
    }

    /// Hands over everything, as a new beginning.
    pub(crate) fn keep_all(&mut self) -> Result<(), Error> {
        self.keep_changes()?;
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        let mut units = self.units();
        storage.replace(&mut units)
    }

    /// The records of what changed, and whether they must be safe.
    fn put_changes(&mut self, records: &mut Vec<u8>) -> bool {
        let mut inodes = std::mem::take(&mut self.table.changes.inodes);
        let mut names = std::mem::take(&mut self.table.changes.names);
        names.sort_unstable();
        names.dedup();
        inodes.sort_unstable();
        inodes.dedup();
        for fileid in inodes.drain(..) {
            match self.table.unmark(fileid) {
                Ok(inode) => record(inode).put(records),
                Err(generation) => Record::Gone { fileid, generation }.put(records),
            }
        }
        self.table.changes.inodes = inodes;
        for (directory, name) in names {
            let entries = self.table.find(directory).and_then(|inode| inode.directory().ok());
            let Some(entries) = entries else { continue };
            match entries.find_entry(&name) {
                Some((cookie, fileid)) => Record::Name { directory, cookie, fileid, name: &name },
                None => Record::NoName { directory, name: &name },
            }
            .put(records);
        }
        std::mem::take(&mut self.table.changes.durable)
    }

    /// The whole tree in records: what it is, inodes with their names, and numbers without inode.
    fn units(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut inodes = self.table.all();
        let mut names: Option<(u64, u64, &Directory)> = None;
        let mut head = Some(Record::Volume { fsid: self.options.fsid, birth: self.birth });
        let mut free = self.table.free_numbers();
        std::iter::from_fn(move || {
            let mut unit = Vec::new();
            if let Some(head) = head.take() {
                head.put(&mut unit);
            }
            while unit.len() < UNIT_BYTES {
                if let Some((directory, after, entries)) = names {
                    let next = entries.after(after).next();
                    names = next.map(|(cookie, ..)| (directory, cookie, entries));
                    if let Some((cookie, name, fileid)) = next {
                        Record::Name { directory, cookie, fileid, name }.put(&mut unit);
                    }
                } else if let Some(inode) = inodes.next() {
                    record(inode).put(&mut unit);
                    names = inode.directory().ok().map(|entries| (inode.fileid, 0, entries));
                } else if let Some((fileid, generation)) = free.next() {
                    Record::Gone { fileid, generation }.put(&mut unit);
                } else {
                    break;
                }
            }
            (!unit.is_empty()).then_some(unit)
        })
    }
}

/// The record of an inode.
fn record(inode: &Inode) -> Record<'_> {
    let body = match &inode.body {
        Body::File(file) => BodyRecord::File {
            size: file.size(),
            exclusive: file.exclusive,
            promised: file.promised,
        },
        Body::Directory(directory) => {
            BodyRecord::Directory { parent: directory.parent, next_cookie: directory.next_cookie() }
        }
        Body::Symlink(text) => BodyRecord::Symlink(text),
        Body::Special(kind, rdev) => BodyRecord::Special(*kind, *rdev),
    };
    Record::Inode(InodeRecord {
        fileid: inode.fileid,
        generation: inode.generation,
        mode: inode.mode,
        uid: inode.uid,
        gid: inode.gid,
        names: inode.names,
        atime: inode.atime,
        mtime: inode.mtime,
        ctime: inode.ctime,
        body,
    })
}
