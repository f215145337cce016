//! Passes changes of the tree to a storage.

use crate::directory::Directory;
use crate::inode::{Body, Inode};
use crate::record::{BodyRecord, InodeRecord, Record};
use crate::{Error, FileSystem};

/// Approximate size of a batch of records when the whole tree is written.
const BATCH_BYTES: usize = 256 << 10;

impl FileSystem {
    /// Whether the volume has a storage, so that [`FileSystem::sync`] must be called.
    pub const fn has_storage(&self) -> bool {
        self.storage.is_some()
    }

    /// Makes everything durable that replies since the last call will acknowledge as durable. Call
    /// it after procedures are performed and before their replies are sent. One call for many
    /// procedures costs no more than a call for one. Without a storage, it does nothing.
    ///
    /// # Errors
    /// If the storage fails, replies since the last call may acknowledge changes that are not
    /// durable. Do not send them; close their connections. The volume then answers [`Error::Io`] to
    /// every change until it is opened again.
    pub fn sync(&mut self) -> Result<(), Error> {
        let Some(storage) = &self.storage else { return Ok(()) };
        if self.failed {
            return Err(Error::Io);
        }
        let is_rewrite_due = storage.is_rewrite_due();
        let result = if is_rewrite_due { self.rewrite_records() } else { self.append_changes() };
        self.failed = result.is_err();
        result
    }

    /// Passes on the changes since the last call.
    pub(crate) fn append_changes(&mut self) -> Result<(), Error> {
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        let mut records = std::mem::take(&mut self.records);
        records.clear();
        let durable = self.encode_changes(&mut records);
        let result =
            if records.is_empty() && !durable { Ok(()) } else { storage.append(&records, durable) };
        self.records = records;
        result.inspect_err(|_| self.failed = true)
    }

    /// Passes on the changes and then replaces all records by the whole tree.
    pub(crate) fn rewrite_records(&mut self) -> Result<(), Error> {
        self.append_changes()?;
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        storage.rewrite(&mut self.batches())
    }

    /// Appends the records of all changes; returns whether they must be durable.
    fn encode_changes(&mut self, records: &mut Vec<u8>) -> bool {
        let mut inodes = std::mem::take(&mut self.table.changes.inodes);
        let mut names = std::mem::take(&mut self.table.changes.names);
        names.sort_unstable();
        names.dedup();
        inodes.sort_unstable();
        inodes.dedup();
        for fileid in inodes.drain(..) {
            match self.table.take_change(fileid) {
                Ok(inode) => record(inode).encode(records),
                Err(generation) => Record::NoInode { fileid, generation }.encode(records),
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
            .encode(records);
        }
        std::mem::take(&mut self.table.changes.durable)
    }

    /// The records of the whole tree: the volume, inodes with their names, and free inode numbers.
    fn batches(&self) -> impl Iterator<Item = Vec<u8>> {
        let mut inodes = self.table.all();
        let mut names: Option<(u64, u64, &Directory)> = None;
        let mut head = Some(Record::Volume { fsid: self.options.fsid, birth: self.birth });
        let mut free = self.table.free_numbers();
        std::iter::from_fn(move || {
            let mut batch = Vec::new();
            if let Some(head) = head.take() {
                head.encode(&mut batch);
            }
            while batch.len() < BATCH_BYTES {
                if let Some((directory, after, entries)) = names {
                    let next = entries.after(after).next();
                    names = next.map(|(cookie, ..)| (directory, cookie, entries));
                    if let Some((cookie, name, fileid)) = next {
                        Record::Name { directory, cookie, fileid, name }.encode(&mut batch);
                    }
                } else if let Some(inode) = inodes.next() {
                    record(inode).encode(&mut batch);
                    names = inode.directory().ok().map(|entries| (inode.fileid, 0, entries));
                } else if let Some((fileid, generation)) = free.next() {
                    Record::NoInode { fileid, generation }.encode(&mut batch);
                } else {
                    break;
                }
            }
            (!batch.is_empty()).then_some(batch)
        })
    }
}

fn record(inode: &Inode) -> Record<'_> {
    let body = match &inode.body {
        Body::File(file) => BodyRecord::File {
            size: file.size(),
            exclusive: file.exclusive,
            has_durable_data: file.has_durable_data,
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
        links: inode.links,
        atime: inode.atime,
        mtime: inode.mtime,
        ctime: inode.ctime,
        body,
    })
}
