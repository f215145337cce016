//! Restores a volume from its directory. Compares the journal with its acknowledged length, and
//! host files with the journal.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read};
use std::path::Path;

use files::{Damage, DataId, FileSystem, Options, Recovery, Stored};

use crate::acknowledged::{self, Acknowledged, Mark};
use crate::checked::{CheckedFile, State, Sums};
use crate::data_files::{file_name, parse_file_name};
use crate::folder::{Folder, Folders};
use crate::journal::{self, Invalid, Journal};
use crate::{Error, Log};

/// Directory for data that belongs to no file of the tree and may be needed.
const LOST: &str = "lost";

/// Maximum number of files that a message names.
const NAMED: usize = 5;

/// A restored volume.
pub(crate) struct Recovered {
    pub(crate) fs: FileSystem,
    pub(crate) carryover: Carryover,
}

/// State of the previous session that the storage needs.
#[derive(Debug, Default)]
pub(crate) struct Carryover {
    /// The number of the newest journal.
    pub(crate) journal: u64,
    /// Files whose checksums are marked dirty.
    pub(crate) dirty: HashSet<DataId>,
}

impl Recovered {
    /// A new volume.
    pub(crate) fn empty(options: Options) -> Recovered {
        Recovered { fs: FileSystem::new(options), carryover: Carryover::default() }
    }
}

/// Restores a volume; `None` if the directory contains none yet.
pub(crate) fn recover(
    folders: &Folders,
    options: Options,
    log: &Log,
) -> Result<Option<Recovered>, Error> {
    let path = folders.volume.path().join(journal::NAME);
    for entry in names(&folders.volume)? {
        let known = [journal::NAME, journal::NEW_NAME, acknowledged::NAME, acknowledged::NEW_NAME];
        if !known.contains(&&*entry) && !["data", "sums", LOST].contains(&&*entry) {
            return Err(Error::Foreign { path: folders.volume.path().to_owned(), entry });
        }
    }
    let host_files = HostFiles { data: ids(&folders.data)?, sums: ids(&folders.sums)? };
    let mark_path = folders.volume.path().join(acknowledged::NAME);
    let mark = Acknowledged::read(&folders.volume).map_err(Error::host("read", &mark_path))?;
    let mut bytes = Vec::new();
    let read = folders.volume.file(journal::NAME).and_then(|mut file| file.read_to_end(&mut bytes));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if host_files.data.is_empty() && host_files.sums.is_empty() && mark.is_none() {
                return Ok(None);
            }
            return Err(Error::NoJournal { path });
        }
        Err(error) => return Err(Error::host("read", &path)(error)),
    }
    let replayed = replay(&path, &bytes, options)?;
    let offset = bytes.len() as u64;
    let damaged =
        |damage: Damage| Error::Damaged { path: path.clone(), offset, what: damage.to_string() };
    let missing = mark.and_then(|mark| missing(&mark, &replayed));
    let Replayed { number, valid_bytes, recovery, .. } = replayed;
    let finished = recovery.finish();
    if let Some(missing) = missing {
        let data = finished.ok().map(|fs| host_files.unmentioned(&fs, folders)).unwrap_or_default();
        return Err(Error::JournalCut {
            path,
            extent: missing + &data,
            mark: mark_path,
            lost: folders.volume.path().join(LOST),
        });
    }
    let mut fs = finished.map_err(damaged)?;
    if mark.is_none() && number > 0 {
        log(&format!(
            "{} is missing or damaged, so whether {} is complete is unknown",
            mark_path.display(),
            path.display()
        ));
    }
    if valid_bytes < offset {
        let why = match mark {
            Some(_) => "a crash left incomplete and were not acknowledged",
            None => "are incomplete",
        };
        let (path, bytes) = (path.display(), offset - valid_bytes);
        log(&format!("{path}: ignored the last {bytes} bytes, which {why}"));
    }
    let is_same_boot = mark.is_some_and(|mark| mark.is_of_this_boot());
    let mut comparison =
        Comparison { folders, log, is_same_boot, unchecked: 0, dirty: HashSet::new() };
    comparison.compare_all(&mut fs, host_files)?;
    let dirty = comparison.finish();
    // The next journal states that these files have durable data, so their names must be durable.
    folders.data.sync().map_err(Error::host("sync", folders.data.path()))?;
    // On a full disk, the next journal needs this space.
    Journal::release_reserved(&folders.volume).map_err(Error::host("truncate", &path))?;
    let journal = number.max(mark.map_or(0, |mark| mark.number));
    Ok(Some(Recovered { fs, carryover: Carryover { journal, dirty } }))
}

fn names(folder: &Folder) -> Result<Vec<String>, Error> {
    folder.names().map_err(Error::host("list", folder.path()))
}

/// The host files in a folder.
fn ids(folder: &Folder) -> Result<BTreeSet<DataId>, Error> {
    let id = |entry: String| {
        parse_file_name(&entry)
            .ok_or_else(|| Error::Foreign { path: folder.path().to_owned(), entry })
    };
    names(folder)?.into_iter().map(id).collect()
}

/// Describes the acknowledged part of a journal that is missing, if any.
fn missing(mark: &Mark, found: &Replayed) -> Option<String> {
    if mark.number > found.number {
        return Some(format!(
            "it is journal number {}, and number {} was acknowledged up to byte {}",
            found.number, mark.number, mark.length
        ));
    }
    (mark.number == found.number && found.valid_bytes < mark.length).then(|| {
        format!(
            "it is intact up to byte {} and was acknowledged up to byte {}; missing records: {} \
             ({} bytes)",
            found.valid_bytes,
            mark.length,
            mark.batches.saturating_sub(found.appended),
            mark.length - found.valid_bytes,
        )
    })
}

struct Replayed {
    number: u64,
    /// Length in bytes of the valid part.
    valid_bytes: u64,
    /// Batches after the initial tree.
    appended: u64,
    recovery: Recovery,
}

/// Reads the records of a journal.
fn replay(path: &Path, bytes: &[u8], options: Options) -> Result<Replayed, Error> {
    let damaged = |offset, what| Error::Damaged { path: path.to_owned(), offset, what };
    let found = journal::read(bytes).map_err(|invalid| match invalid {
        Invalid::Format(found) => {
            let known = journal::FORMAT.trim_end().to_owned();
            Error::Version { path: path.to_owned(), found, known }
        }
        Invalid::Damaged { offset, what } => damaged(offset, what),
    })?;
    let mut recovery = Recovery::new(options);
    for (offset, batch) in found.batches {
        recovery.apply(batch).map_err(|damage| damaged(offset, damage.to_string()))?;
    }
    Ok(Replayed {
        number: found.number,
        valid_bytes: found.length,
        appended: found.appended,
        recovery,
    })
}

/// The host files in the volume's directory.
struct HostFiles {
    data: BTreeSet<DataId>,
    sums: BTreeSet<DataId>,
}

impl HostFiles {
    /// Describes data that belongs to no file of the tree and was not removed.
    fn unmentioned(&self, fs: &FileSystem, folders: &Folders) -> String {
        let mentioned: BTreeMap<DataId, _> = fs.data().collect();
        let unmentioned = self
            .data
            .iter()
            .filter(|data| !mentioned.contains_key(data) && !fs.was_removed(**data));
        let unmentioned: Vec<String> = unmentioned
            .map(|data| {
                let length = folders.data.file(&file_name(*data)).and_then(|file| file.metadata());
                match length {
                    Ok(found) => format!("data/{} ({} bytes)", file_name(*data), found.len()),
                    Err(_) => format!("data/{}", file_name(*data)),
                }
            })
            .collect();
        if unmentioned.is_empty() {
            return String::new();
        }
        let shown = unmentioned.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let others = unmentioned.len().saturating_sub(NAMED);
        let others = if others > 0 { format!(" and {others} more") } else { String::new() };
        format!("; only the missing part mentions the files with {shown}{others}")
    }
}

/// Compares host files with the tree, and makes them consistent.
struct Comparison<'a> {
    folders: &'a Folders,
    log: &'a Log,
    /// The kernel has not been restarted since the volume was last used.
    is_same_boot: bool,
    /// Number of files with data but without checksums.
    unchecked: u64,
    dirty: HashSet<DataId>,
}

impl Comparison<'_> {
    /// Removes or moves host files that belong to no file of the tree, and truncates those that are
    /// longer than their file. Data that the journal does not mention was never acknowledged.
    fn compare_all(&mut self, fs: &mut FileSystem, mut host_files: HostFiles) -> Result<(), Error> {
        let expected: Vec<_> = fs.data().collect();
        for (data, stored) in expected {
            let has_data = host_files.data.remove(&data);
            let has_sums = host_files.sums.remove(&data);
            if !has_data && !has_sums && !stored.has_durable_data {
                continue;
            }
            let path = self.folders.data.path().join(file_name(data));
            self.compare(fs, data, stored, has_data)
                .map_err(Error::host("compare with the journal:", &path))?;
        }
        for data in host_files.data.union(&host_files.sums) {
            let path = self.folders.data.path().join(file_name(*data));
            self.remove_or_set_aside(fs, *data).map_err(Error::host("remove", &path))?;
        }
        Ok(())
    }

    /// Compares the host file of a file in the tree.
    fn compare(
        &mut self,
        fs: &mut FileSystem,
        data: DataId,
        Stored { size, has_durable_data }: Stored,
        has_data: bool,
    ) -> io::Result<()> {
        let Folders { data: data_folder, sums: sums_folder, .. } = self.folders;
        let name = file_name(data);
        let mut sums = self.sums_of(sums_folder, &name, data)?;
        if !has_data {
            if sums.is_none() && !has_durable_data {
                return Ok(());
            }
            data_folder.create(&name)?;
            let written = sums.as_ref().map_or(Ok(Vec::new()), |sums| sums.written(&(0..size)))?;
            if has_durable_data && size > 0 && written.is_empty() {
                // The written blocks are unknown, so all of them are lost.
                let created = Sums::create(sums_folder, &name, data)?;
                created.set_state(data, State { is_dirty: true, is_lost: true })?;
                created.sync()?;
                self.dirty.insert(data);
                sums = Some(created);
            }
        }
        if sums.as_ref().is_some_and(Sums::is_lost) {
            fs.mark_data_lost(data);
            self.report_missing(fs, data, "all data", 0..size);
        }
        self.unchecked += u64::from(sums.is_none());
        let file = CheckedFile::new(data_folder.file(&name)?, sums);
        file.truncate(data, size)?;
        let found = file.compare(size)?;
        if let (Some(first), Some(last)) = (found.missing.first(), found.missing.last()) {
            let bytes: u64 = found.missing.iter().map(|range| range.end - range.start).sum();
            let what = if has_data { "a part" } else { "all data" };
            self.report_missing(
                fs,
                data,
                &format!("{what} ({bytes} bytes)"),
                first.start..last.end,
            );
        }
        fs.add_stored_ranges(data, &found.present);
        fs.add_stored_ranges(data, &found.missing);
        Ok(())
    }

    fn report_missing(
        &self,
        fs: &FileSystem,
        data: DataId,
        what: &str,
        within: std::ops::Range<u64>,
    ) {
        (self.log)(&format!(
            "{}: {what} of `{}` is missing, between byte {} and byte {}; reads of it fail with \
             NFS3ERR_IO until it is rewritten",
            self.folders.data.path().join(file_name(data)).display(),
            fs.path_of(data).unwrap_or_default(),
            within.start,
            within.end,
        ));
    }

    /// The valid checksums of a file.
    fn sums_of(&mut self, folder: &Folder, name: &str, data: DataId) -> io::Result<Option<Sums>> {
        let Some((sums, state)) = Sums::open(folder, name, data)? else { return Ok(None) };
        if state.is_dirty {
            self.dirty.insert(data);
            if !self.is_same_boot {
                sums.clear()?;
                self.unchecked += 1;
            }
        }
        Ok(Some(sums))
    }

    /// Handles data that belongs to no file of the tree. Removes it if the journal contains the
    /// removal of its file, or if the journal contains everything that was acknowledged; otherwise
    /// moves it to [`LOST`].
    fn remove_or_set_aside(&self, fs: &FileSystem, data: DataId) -> io::Result<()> {
        let Folders { volume, data: data_folder, sums } = self.folders;
        let name = file_name(data);
        if fs.was_removed(data) || self.is_same_boot {
            data_folder.remove(&name)?;
            return sums.remove(&name);
        }
        let lost = volume.subfolder(LOST)?;
        for (folder, to) in [(data_folder, name.clone()), (sums, format!("{name}.sums"))] {
            match folder.move_to(&name, &lost, &to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        (self.log)(&format!(
            "{}: the journal does not mention the file with this data; moved the data to {}",
            data_folder.path().join(&name).display(),
            lost.path().display()
        ));
        Ok(())
    }

    /// Reports files without checksums; returns the dirty files.
    fn finish(self) -> HashSet<DataId> {
        if self.unchecked > 0 {
            let why = if self.is_same_boot {
                "an older version wrote them, or their checksums were removed"
            } else {
                "an older version wrote them, or they were being written and the host may have \
                 been restarted since"
            };
            (self.log)(&format!(
                "{}: {} files have data without checksums ({why}); each block gets one when it is \
                 written",
                self.folders.volume.path().display(),
                self.unchecked
            ));
        }
        self.dirty
    }
}
