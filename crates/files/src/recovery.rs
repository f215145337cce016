//! Restores the tree from its records.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::directory::Directory;
use crate::file::File;
use crate::inode::{Body, Inode, ROOT, Table, charge};
use crate::record::{BodyRecord, Damage, InodeRecord, Record};
use crate::{DataId, Error, FileSystem, Options, Storage, Stored};

/// Collects records in the order in which they were stored, and builds the file system that they
/// describe.
#[derive(Debug)]
pub struct Recovery {
    options: Options,
    volume: Option<(u64, u64)>,
    /// `inodes[fileid]`; `Err` contains the generation of the next inode with this free number.
    inodes: BTreeMap<u64, Result<Inode, u32>>,
    /// `names[directory][name] = (cookie, fileid)`
    names: BTreeMap<u64, Names>,
}

type Names = BTreeMap<Box<[u8]>, (u64, u64)>;

impl Recovery {
    /// Starts without records. `fsid`, `root` and `made` of the options are ignored: they come from
    /// the records.
    pub fn new(options: Options) -> Recovery {
        Recovery { options, volume: None, inodes: BTreeMap::new(), names: BTreeMap::new() }
    }

    /// Applies a batch of records that was passed to [`Storage::append`] or [`Storage::rewrite`].
    pub fn apply(&mut self, batch: &[u8]) -> Result<(), Damage> {
        let mut rest = batch;
        while !rest.is_empty() {
            let record = Record::decode(&mut rest)?;
            self.apply_one(record)?;
        }
        Ok(())
    }

    fn apply_one(&mut self, record: Record<'_>) -> Result<(), Damage> {
        match record {
            Record::Volume { fsid, birth } => self.volume = Some((fsid, birth)),
            Record::Inode(inode) => self.put_inode(&inode),
            Record::NoInode { fileid, generation } => {
                self.names.remove(&fileid);
                self.inodes.insert(fileid, Err(generation));
            }
            Record::Name { directory, cookie, fileid, name } => {
                self.names_of(directory)?.insert(name.into(), (cookie, fileid));
            }
            Record::NoName { directory, name } => {
                self.names_of(directory)?.remove(name);
            }
        }
        Ok(())
    }

    fn names_of(&mut self, fileid: u64) -> Result<&mut Names, Damage> {
        match self.inodes.get(&fileid) {
            Some(Ok(inode)) if inode.directory().is_ok() => {
                Ok(self.names.entry(fileid).or_default())
            }
            _ => Err(Damage(format!("a name in inode {fileid}, which is not a directory"))),
        }
    }

    fn put_inode(&mut self, record: &InodeRecord<'_>) {
        let generation = self.inodes.get(&record.fileid).map(|inode| {
            inode.as_ref().map_or_else(|generation| *generation, |inode| inode.generation)
        });
        if generation != Some(record.generation) {
            self.names.remove(&record.fileid);
        }
        let body = match &record.body {
            BodyRecord::File { size, exclusive, has_durable_data } => {
                let mut file = File::default();
                (file.is_in_storage, file.has_durable_data) =
                    (*has_durable_data, *has_durable_data);
                file.exclusive = *exclusive;
                file.set_size(*size);
                Body::File(file)
            }
            BodyRecord::Directory { parent, next_cookie } => {
                let mut directory = Directory::new(*parent, self.options.instance);
                directory.raise_next_cookie(*next_cookie);
                Body::Directory(directory)
            }
            BodyRecord::Symlink(text) => Body::Symlink((*text).into()),
            BodyRecord::Special(kind, rdev) => Body::Special(*kind, *rdev),
        };
        let inode = Inode {
            fileid: record.fileid,
            generation: record.generation,
            mode: record.mode,
            uid: record.uid,
            gid: record.gid,
            links: record.links,
            atime: record.atime,
            mtime: record.mtime,
            ctime: record.ctime,
            is_tracked: false,
            body,
        };
        self.inodes.insert(record.fileid, Ok(inode));
    }

    /// The file system, if the records are consistent. It has no storage yet; see
    /// [`FileSystem::add_stored_ranges`] and [`FileSystem::store_in`].
    pub fn finish(mut self) -> Result<FileSystem, Damage> {
        let Some((fsid, birth)) = self.volume else {
            return Err(Damage("no record identifies the volume".into()));
        };
        let names = self.add_names()?;
        self.check_names(&names)?;
        let options = Options { fsid, ..self.options };
        let mut fs = FileSystem::without_root(options, birth);
        let (mut inodes, mut next) = (0, ROOT);
        fs.table = Table::new(fsid, FileSystem::first_generation(birth));
        for (fileid, inode) in self.inodes {
            // No client knows numbers that a crash left unused.
            for unused in next..fileid {
                fs.table.restore(unused, Err(FileSystem::first_generation(birth)));
            }
            next = fileid + 1;
            if let Ok(inode) = &inode {
                inodes += 1;
                let charge = charge(inode);
                fs.space.used_blocks += charge.blocks;
                fs.space.memory_bytes += charge.memory_bytes;
            }
            fs.table.restore(fileid, inode);
        }
        fs.space.inodes = inodes;
        Ok(fs)
    }

    /// Adds the names to their directories; returns the number of names of each inode.
    fn add_names(&mut self) -> Result<BTreeMap<u64, u32>, Damage> {
        let mut counts = BTreeMap::new();
        for (directory, names) in std::mem::take(&mut self.names) {
            let mut names: Vec<(u64, u64, Box<[u8]>)> =
                names.into_iter().map(|(name, (cookie, fileid))| (cookie, fileid, name)).collect();
            names.sort_unstable();
            let mut subdirectories = 0;
            for (_, fileid, name) in &names {
                let what = || format!("the name {} in directory {directory}", name.escape_ascii());
                let Some(Ok(named)) = self.inodes.get(fileid) else {
                    let what = what();
                    return Err(Damage(format!(
                        "{what} refers to inode {fileid}, which does not exist"
                    )));
                };
                if let Ok(inside) = named.directory() {
                    if inside.parent != directory || *fileid == directory {
                        let parent = inside.parent;
                        let what = what();
                        return Err(Damage(format!(
                            "{what} refers to directory {fileid}, whose parent is {parent}"
                        )));
                    }
                    subdirectories += 1;
                }
                *counts.entry(*fileid).or_insert(0u32) += 1;
            }
            let Some(Ok(Inode { body: Body::Directory(entries), .. })) =
                self.inodes.get_mut(&directory)
            else {
                return Err(Damage(format!(
                    "names in inode {directory}, which is not a directory"
                )));
            };
            entries.subdirectories = subdirectories;
            for (cookie, fileid, name) in names {
                if !entries.restore(&name, fileid, cookie) {
                    let name = name.escape_ascii();
                    return Err(Damage(format!(
                        "the name {name} in directory {directory} shares cookie {cookie} with \
                         another name"
                    )));
                }
            }
        }
        Ok(counts)
    }

    fn check_names(&self, names: &BTreeMap<u64, u32>) -> Result<(), Damage> {
        match self.inodes.get(&ROOT) {
            Some(Ok(root)) if root.directory().is_ok() => {}
            _ => return Err(Damage("no root directory".into())),
        }
        for inode in self.inodes.values().flatten() {
            let found = names.get(&inode.fileid).copied().unwrap_or(0);
            let expected = if inode.fileid == ROOT { 0 } else { inode.links };
            if found != expected || (inode.fileid != ROOT && found == 0) {
                return Err(Damage(format!(
                    "inode {} should have {expected} names and has {found}",
                    inode.fileid
                )));
            }
        }
        Ok(())
    }
}

impl FileSystem {
    /// The data of all regular files in the tree.
    pub fn data(&self) -> impl Iterator<Item = (DataId, Stored)> {
        self.table.all().filter_map(|inode| match &inode.body {
            Body::File(file) => {
                let data = DataId { fileid: inode.fileid, generation: inode.generation };
                Some((data, Stored { size: file.size(), has_durable_data: file.has_durable_data }))
            }
            _ => None,
        })
    }

    /// Whether the records prove that the file with this data was removed.
    pub fn was_removed(&self, data: DataId) -> bool {
        let generation = self.table.generation(data.fileid);
        // Generations increase by one and may wrap around.
        generation.is_some_and(|now| (now.wrapping_sub(data.generation) as i32) > 0)
    }

    /// A path of a file from the root, for messages. Searches all directories.
    pub fn path_of(&self, data: DataId) -> Option<String> {
        let mut path = String::new();
        let mut fileid = data.fileid;
        while fileid != ROOT {
            let names = self.table.all().filter_map(|inode| Some((inode, inode.directory().ok()?)));
            let (parent, name) = names
                .flat_map(|(inode, names)| names.after(0).map(move |entry| (inode.fileid, entry)))
                .find_map(|(parent, (_, name, named))| {
                    (named == fileid).then_some((parent, name))
                })?;
            path = format!("/{}{path}", name.escape_ascii());
            fileid = parent;
        }
        Some(path)
    }

    /// After a [`Recovery`], adds the byte ranges of a file, below its size, that a storage has or
    /// should have. The data counts as acknowledged. Files without ranges have no data.
    pub fn add_stored_ranges(&mut self, data: DataId, ranges: &[Range<u64>]) {
        self.change_file(data.fileid, |file| {
            (file.is_in_storage, file.has_durable_data) = (true, true);
            for range in ranges {
                debug_assert!(range.start < range.end && range.end <= file.size());
                file.add_stored(range.start, range.end - range.start);
            }
        });
    }

    /// After a [`Recovery`], marks a file whose data the storage has lost without knowing which
    /// ranges were written. Every read of the file goes to the storage.
    pub fn mark_data_lost(&mut self, data: DataId) {
        self.change_file(data.fileid, |file| {
            (file.is_in_storage, file.has_durable_data, file.is_data_lost) = (true, true, true);
        });
    }

    /// Attaches a storage and passes all records to it. Data in memory is not passed on, so this is
    /// for a file system that is new or comes from a [`Recovery`].
    ///
    /// # Errors
    /// Those of the storage.
    pub fn store_in(mut self, storage: Arc<dyn Storage>) -> Result<FileSystem, Error> {
        for inode in self.table.all() {
            if let Body::File(file) = &inode.body {
                debug_assert_eq!(file.memory_usage().blocks, 0, "its data would be lost");
            }
        }
        self.table.changes.is_tracking = true;
        self.storage = Some(storage);
        self.rewrite_records()?;
        Ok(self)
    }
}
