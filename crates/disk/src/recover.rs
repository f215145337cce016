//! A volume from what is found in its directory.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::Path;

use files::{Damage, DataId, FileSystem, Options, Recovery};
use rustix::fs::SeekFrom;
use rustix::io::Errno;

use crate::bodies::meaning;
use crate::directory::entries;
use crate::journal::{self, Journal, Wrong};
use crate::storage::Tell;
use crate::{Error, host};

/// The volume as it was; `None` if there is none yet.
pub(crate) fn recover(
    folder: &Path,
    options: Options,
    tell: &Tell,
) -> Result<Option<FileSystem>, Error> {
    let path = journal::path(folder);
    let data_folder = folder.join("data");
    for entry in entries(folder)? {
        if !matches!(&*entry, "journal" | "journal.new" | "data") {
            return Err(Error::Foreign { path: folder.to_owned(), entry });
        }
    }
    let mut data = BTreeSet::new();
    for entry in entries(&data_folder)? {
        let Some(id) = meaning(&entry) else {
            return Err(Error::Foreign { path: data_folder, entry });
        };
        data.insert(id);
    }
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound && data.is_empty() => {
            return Ok(None);
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::NoJournal { path });
        }
        Err(error) => return Err(Error::host("read", &path)(error)),
    };
    let recovery = replay(&path, &bytes, options, tell)?;
    let offset = bytes.len() as u64;
    let damaged = |damage: Damage| Error::Damaged { path, offset, what: damage.to_string() };
    let mut fs = recovery.finish().map_err(damaged)?;
    match_data(&mut fs, data, &data_folder)?;
    // On a full disk this is what the next journal is written to.
    Journal::give_back_room(folder).map_err(Error::host("cut", folder))?;
    Ok(Some(fs))
}

/// What the journal says.
fn replay(path: &Path, bytes: &[u8], options: Options, tell: &Tell) -> Result<Recovery, Error> {
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
    if let Some(cut) = found.cut {
        tell(&format!(
            "{}: left out the last {} bytes, which a crash cut off before they were acknowledged",
            path.display(),
            bytes.len() as u64 - cut
        ));
    }
    Ok(recovery)
}

/// Brings the host files to what the journal says: none that no file of the tree has, none longer
/// than its file. What is in them and not in the journal was never acknowledged.
fn match_data(
    fs: &mut FileSystem,
    mut there: BTreeSet<DataId>,
    folder: &Path,
) -> Result<(), Error> {
    let wanted: Vec<(DataId, u64)> = fs.data().collect();
    for (data, size) in wanted {
        if !there.remove(&data) {
            continue;
        }
        let path = folder.join(crate::bodies::name(data));
        let ranges = File::options().read(true).write(true).open(&path).and_then(|file| {
            host::cut(&file, size)?;
            ranges(&file, size)
        });
        fs.found(data, &ranges.map_err(Error::host("look at", &path))?);
    }
    for data in there {
        let path = folder.join(crate::bodies::name(data));
        fs::remove_file(&path).map_err(Error::host("remove", &path))?;
    }
    Ok(())
}

/// Where a file has data, as the host tells it; all of it where the host cannot tell.
fn ranges(file: &File, size: u64) -> io::Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < size {
        let from = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(from) => from,
            Err(Errno::NXIO) => break,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                ranges.push(at..size);
                break;
            }
            Err(error) => return Err(error.into()),
        };
        let to = rustix::fs::seek(file, SeekFrom::Hole(from))?.min(size);
        if from < to {
            ranges.push(from..to);
        }
        at = to.max(at + 1);
    }
    Ok(ranges)
}
