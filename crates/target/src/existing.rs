//! The file sets that exist in our directory, for display.

use std::path::Path;

use workload::plan::FileSet;

use crate::folder::Folder;
use crate::inventory::{RequiredFiles, ToWrite};
use crate::manifest::{FileRecord, Manifest};
use crate::refusal::Refusal;

/// The files of one set that exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExistingSet {
    /// The set: as the plan needs it, or with the number of files that exist.
    pub set: FileSet,
    /// Complete files.
    pub files: u32,
    /// Bytes that were written and synced, also of incomplete files.
    pub bytes: u64,
    /// Whether the plan needs the set.
    pub is_required: bool,
}

/// What exists of the plan's sets: all except what must be written.
pub(crate) fn required(sets: &[FileSet], to_write: &[ToWrite]) -> Vec<ExistingSet> {
    let existing = |set: &FileSet| {
        let missing = to_write.iter().find(|part| part.set == *set);
        let (files, bytes) = missing.map_or((0, 0), |part| (part.files, part.bytes));
        ExistingSet {
            files: set.files - files,
            bytes: set.total_bytes() - bytes,
            set: set.clone(),
            is_required: true,
        }
    };
    sets.iter().map(existing).filter(|existing| existing.bytes > 0).collect()
}

/// The files that the plan does not need, by set. They are not verified.
pub(crate) fn others(
    folder: &dyn Folder,
    directory: &Path,
    manifest: &Manifest,
    required: &RequiredFiles,
) -> Result<Vec<ExistingSet>, Refusal> {
    let is_required = |one: &FileSet, index: u32| {
        let same = |set: &FileSet| FileSet { files: set.files, ..one.clone() } == *set;
        required.file_sets.iter().any(|set| same(set) && index < set.files)
    };
    let mut sets: Vec<ExistingSet> = Vec::new();
    for (name, record) in &manifest.files {
        let one = set_of(name, record);
        if is_required(&one, record.file) {
            continue;
        }
        let path = directory.join(name);
        let found = folder.find_entry(&path).map_err(|error| Refusal::io("stat", &path, error))?;
        if found.is_none() {
            continue;
        }
        let same = |known: &&mut ExistingSet| {
            FileSet { files: known.set.files, ..one.clone() } == known.set
        };
        let existing = match sets.iter_mut().find(same) {
            Some(known) => known,
            None => {
                sets.push(ExistingSet { set: one, files: 0, bytes: 0, is_required: false });
                sets.last_mut().expect("it was added")
            }
        };
        let bytes = record.durable_bytes();
        existing.set.files += 1;
        existing.files += u32::from(bytes == record.size_bytes);
        existing.bytes += bytes;
    }
    Ok(sets)
}

/// The set of a file with this name, without files.
fn set_of(name: &str, record: &FileRecord) -> FileSet {
    let unnamed = FileSet {
        stream: String::new(),
        files: 0,
        file_size_bytes: record.size_bytes,
        data: record.data,
        tile_bytes: record.tile_bytes,
    };
    let stream = name.strip_suffix(&unnamed.file_name(record.file)).unwrap_or(name).to_owned();
    FileSet { stream, ..unnamed }
}
