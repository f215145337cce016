//! A volume from what is found in its directory: the journal compared with what was acknowledged,
//! and host files with the journal.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io::{self, Read};
use std::path::Path;

use files::{Damage, DataId, FileSystem, Options, Recovery};

use crate::Error;
use crate::acknowledged::{self, Acknowledged, Mark};
use crate::bodies::{meaning, name};
use crate::checked::{CheckedFile, State, Sums};
use crate::directory::Folders;
use crate::folder::Folder;
use crate::journal::{self, Journal, Wrong};
use crate::storage::Tell;

/// Where data goes that no file of the tree has and that may not be worthless.
const LOST: &str = "lost";

/// Files that one message names.
const NAMED: usize = 5;

/// A volume as it was.
pub(crate) struct Recovered {
    pub(crate) fs: FileSystem,
    pub(crate) carryover: Carryover,
}

/// What this life of the volume takes over from the one before.
#[derive(Debug, Default)]
pub(crate) struct Carryover {
    /// The number of the newest journal there was.
    pub(crate) journal: u64,
    /// Files whose header says that they are being written.
    pub(crate) being_written: HashSet<DataId>,
}

impl Recovered {
    /// A volume that is new.
    pub(crate) fn nothing(options: Options) -> Recovered {
        Recovered { fs: FileSystem::new(options), carryover: Carryover::default() }
    }
}

/// The volume as it was; `None` if there is none yet.
pub(crate) fn recover(
    folders: &Folders,
    options: Options,
    tell: &Tell,
) -> Result<Option<Recovered>, Error> {
    let path = folders.volume.path().join(journal::NAME);
    for entry in names(&folders.volume)? {
        let known = [journal::NAME, journal::NEW_NAME, acknowledged::NAME, "acknowledged.new"];
        if !known.contains(&&*entry) && !["data", "sums", LOST].contains(&&*entry) {
            return Err(Error::Foreign { path: folders.volume.path().to_owned(), entry });
        }
    }
    let there = HostFiles { data: ids(&folders.data)?, sums: ids(&folders.sums)? };
    let mark_path = folders.volume.path().join(acknowledged::NAME);
    let mark = Acknowledged::read(&folders.volume).map_err(Error::host("read", &mark_path))?;
    let mut bytes = Vec::new();
    let read = folders.volume.file(journal::NAME).and_then(|mut file| file.read_to_end(&mut bytes));
    match read {
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            if there.data.is_empty() && there.sums.is_empty() && mark.is_none() {
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
    let Replayed { number, whole, recovery, .. } = replayed;
    let finished = recovery.finish();
    if let Some(missing) = missing {
        let data = finished.ok().map(|fs| there.unmentioned(&fs, folders)).unwrap_or_default();
        return Err(Error::JournalCut {
            path,
            extent: missing + &data,
            mark: mark_path,
            lost: folders.volume.path().join(LOST),
        });
    }
    let mut fs = finished.map_err(damaged)?;
    if mark.is_none() && number > 0 {
        tell(&format!(
            "{} is missing or damaged, so whether {} is complete is unknown",
            mark_path.display(),
            path.display()
        ));
    }
    if whole < offset {
        let why = match mark {
            Some(_) => "a crash cut off before they were acknowledged",
            None => "are incomplete",
        };
        let (path, bytes) = (path.display(), offset - whole);
        tell(&format!("{path}: left out the last {bytes} bytes, which {why}"));
    }
    let is_same_boot = mark.is_some_and(|mark| mark.is_of_this_boot());
    let mut comparison =
        Comparison { folders, tell, is_same_boot, unchecked: 0, being_written: HashSet::new() };
    comparison.files_with_tree(&mut fs, there)?;
    let being_written = comparison.end();
    // Files that the next journal will call promised have names that are safe.
    folders.data.sync().map_err(Error::host("sync", folders.data.path()))?;
    // On a full disk this is what the next journal is written to.
    Journal::give_back_room(&folders.volume).map_err(Error::host("cut", &path))?;
    let journal = number.max(mark.map_or(0, |mark| mark.number));
    Ok(Some(Recovered { fs, carryover: Carryover { journal, being_written } }))
}

fn names(folder: &Folder) -> Result<Vec<String>, Error> {
    folder.names().map_err(Error::host("list", folder.path()))
}

/// The host files in a folder.
fn ids(folder: &Folder) -> Result<BTreeSet<DataId>, Error> {
    let id = |entry: String| {
        meaning(&entry).ok_or_else(|| Error::Foreign { path: folder.path().to_owned(), entry })
    };
    names(folder)?.into_iter().map(id).collect()
}

/// What of a journal was acknowledged and is missing, in words; `None` if nothing is.
fn missing(mark: &Mark, found: &Replayed) -> Option<String> {
    if mark.number > found.number {
        return Some(format!(
            "it is journal number {}, and number {} was acknowledged up to byte {}",
            found.number, mark.number, mark.length
        ));
    }
    (mark.number == found.number && found.whole < mark.length).then(|| {
        format!(
            "it is intact up to byte {} and was acknowledged up to byte {}; missing records: {} \
             ({} bytes)",
            found.whole,
            mark.length,
            mark.records.saturating_sub(found.appended),
            mark.length - found.whole,
        )
    })
}

struct Replayed {
    number: u64,
    /// Bytes of it that are intact.
    whole: u64,
    /// Records that follow what it began with.
    appended: u64,
    recovery: Recovery,
}

/// What the journal says.
fn replay(path: &Path, bytes: &[u8], options: Options) -> Result<Replayed, Error> {
    let damaged = |offset, what| Error::Damaged { path: path.to_owned(), offset, what };
    let found = journal::units(bytes).map_err(|wrong| match wrong {
        Wrong::Format(found) => {
            let known = journal::FORMAT.trim_end().to_owned();
            Error::Version { path: path.to_owned(), found, known }
        }
        Wrong::Damaged { offset, what } => damaged(offset, what),
    })?;
    let mut recovery = Recovery::new(options);
    for (offset, unit) in found.units {
        recovery.apply(unit).map_err(|damage| damaged(offset, damage.to_string()))?;
    }
    let whole = found.cut.unwrap_or(bytes.len() as u64);
    Ok(Replayed { number: found.number, whole, appended: found.appended, recovery })
}

/// The host files that were found.
struct HostFiles {
    data: BTreeSet<DataId>,
    sums: BTreeSet<DataId>,
}

impl HostFiles {
    /// Data that no file of the tree has and that was not given up, in words.
    fn unmentioned(&self, fs: &FileSystem, folders: &Folders) -> String {
        let mentioned: BTreeMap<DataId, _> = fs.data().collect();
        let unmentioned = self
            .data
            .iter()
            .filter(|data| !mentioned.contains_key(data) && !fs.was_removed(**data));
        let unmentioned: Vec<String> = unmentioned
            .map(|data| {
                let length = folders.data.file(&name(*data)).and_then(|file| file.metadata());
                match length {
                    Ok(found) => format!("data/{} ({} bytes)", name(*data), found.len()),
                    Err(_) => format!("data/{}", name(*data)),
                }
            })
            .collect();
        if unmentioned.is_empty() {
            return String::new();
        }
        let shown = unmentioned.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = unmentioned.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("; only the missing part mentions the files with {shown}{more}")
    }
}

/// Bringing the host files to what the journal says.
struct Comparison<'a> {
    folders: &'a Folders,
    tell: &'a Tell,
    /// The kernel has not stopped since the volume was last used.
    is_same_boot: bool,
    /// Files with data and no checksums.
    unchecked: u64,
    being_written: HashSet<DataId>,
}

impl Comparison<'_> {
    /// No host file that no file of the tree has stays, and none longer than its file. What is in
    /// them and not in the journal was never acknowledged.
    fn files_with_tree(&mut self, fs: &mut FileSystem, mut there: HostFiles) -> Result<(), Error> {
        let wanted: Vec<_> = fs.data().collect();
        for (data, stored) in wanted {
            let has_data = there.data.remove(&data);
            let has_sums = there.sums.remove(&data);
            if !has_data && !has_sums && !stored.is_promised {
                continue;
            }
            let path = self.folders.data.path().join(name(data));
            self.file_with_inode(fs, data, stored.size, has_data, stored.is_promised)
                .map_err(Error::host("compare with the journal:", &path))?;
        }
        for data in there.data.union(&there.sums) {
            let path = self.folders.data.path().join(name(*data));
            self.remove_or_set_aside(fs, *data).map_err(Error::host("remove", &path))?;
        }
        Ok(())
    }

    fn file_with_inode(
        &mut self,
        fs: &mut FileSystem,
        data: DataId,
        size: u64,
        has_data: bool,
        is_promised: bool,
    ) -> io::Result<()> {
        let Folders { data: data_folder, sums: sums_folder, .. } = self.folders;
        let name = name(data);
        let mut sums = self.sums_of(sums_folder, &name, data)?;
        if !has_data {
            if sums.is_none() && !is_promised {
                return Ok(());
            }
            data_folder.create(&name)?;
            let written = sums.as_ref().map_or(Ok(Vec::new()), |sums| sums.written(&(0..size)))?;
            if is_promised && size > 0 && written.is_empty() {
                // Nothing says which blocks it had, so all of them are lost.
                let made = Sums::make(sums_folder, &name, data)?;
                made.set_state(data, State { is_being_written: true, is_lost: true })?;
                made.sync()?;
                self.being_written.insert(data);
                sums = Some(made);
            }
        }
        if sums.as_ref().is_some_and(Sums::is_lost) {
            fs.lost(data);
            self.say_missing(fs, data, "all data", 0..size);
        }
        self.unchecked += u64::from(sums.is_none());
        let file = CheckedFile::new(data_folder.file(&name)?, sums);
        file.cut(data, size)?;
        let found = file.compare(size)?;
        if let (Some(first), Some(last)) = (found.missing.first(), found.missing.last()) {
            let bytes: u64 = found.missing.iter().map(|range| range.end - range.start).sum();
            let what = if has_data { "a part" } else { "all data" };
            self.say_missing(fs, data, &format!("{what} ({bytes} bytes)"), first.start..last.end);
        }
        fs.found(data, &found.present);
        fs.found(data, &found.missing);
        Ok(())
    }

    fn say_missing(&self, fs: &FileSystem, data: DataId, what: &str, within: std::ops::Range<u64>) {
        (self.tell)(&format!(
            "{}: {what} of `{}` is missing, between byte {} and byte {}; reads of it fail with \
             NFS3ERR_IO until it is rewritten",
            self.folders.data.path().join(name(data)).display(),
            fs.path_of(data).unwrap_or_default(),
            within.start,
            within.end,
        ));
    }

    /// The checksums of a file that can be relied on.
    fn sums_of(&mut self, folder: &Folder, name: &str, data: DataId) -> io::Result<Option<Sums>> {
        let Some((sums, state)) = Sums::open(folder, name, data)? else { return Ok(None) };
        if state.is_being_written {
            self.being_written.insert(data);
            if !self.is_same_boot {
                sums.clear()?;
                self.unchecked += 1;
            }
        }
        Ok(Some(sums))
    }

    /// Removes data of a file that is not in the tree where that is proved, by the journal or
    /// because all that was acknowledged is in it; moves it aside where it is not.
    fn remove_or_set_aside(&self, fs: &FileSystem, data: DataId) -> io::Result<()> {
        let Folders { volume, data: data_folder, sums } = self.folders;
        let name = name(data);
        if fs.was_removed(data) || self.is_same_boot {
            data_folder.remove(&name)?;
            return sums.remove(&name);
        }
        let lost = volume.folder(LOST)?;
        for (folder, to) in [(data_folder, name.clone()), (sums, format!("{name}.sums"))] {
            match folder.move_to(&name, &lost, &to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        (self.tell)(&format!(
            "{}: the journal does not mention the file with this data; moved the data to {}",
            data_folder.path().join(&name).display(),
            lost.path().display()
        ));
        Ok(())
    }

    /// Says what cannot be checked.
    fn end(self) -> HashSet<DataId> {
        if self.unchecked > 0 {
            let why = if self.is_same_boot {
                "an older version wrote them, or their checksums were removed"
            } else {
                "an older version wrote them, or they were being written and the host may have \
                 stopped since"
            };
            (self.tell)(&format!(
                "{}: {} files have data without checksums ({why}); each block gets one when it is \
                 written",
                self.folders.volume.path().display(),
                self.unchecked
            ));
        }
        self.being_written
    }
}
