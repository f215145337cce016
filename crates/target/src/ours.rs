//! Which files of ours are there, and which are still to be written.
//!
//! A file is ours when the manifest lists it, it is a regular file of one name, and it is the very
//! one that we made. Not here: what is in it ([`crate::truth`]).

use std::path::Path;

use workload::plan::FileSet;

use crate::directory::{ToWrite, Wanted};
use crate::folder::{Entry, Folder};
use crate::manifest::{FileRecord, Manifest};
use crate::refusal::Refusal;

/// Bytes from the start of file `index` of `set` in `place` that were written and synced as the
/// plan requires them: its size where it is complete, 0 where it is not there.
pub(crate) fn kept_bytes(
    folder: &dyn Folder,
    place: &Path,
    manifest: &Manifest,
    set: &FileSet,
    index: u32,
    data_seed: u64,
) -> u64 {
    let recorded_bytes = recorded_bytes(manifest, set, index, data_seed);
    // What cannot be looked at is there: the check says why it cannot.
    match recorded_bytes > 0 && matches!(folder.look(&place.join(set.file_name(index))), Ok(None)) {
        true => 0,
        false => recorded_bytes,
    }
}

/// All that a directory without files needs.
pub(crate) fn whole_sets(wanted: &Wanted) -> (Vec<ToWrite>, u64) {
    let to_write: Vec<ToWrite> = wanted
        .file_sets
        .iter()
        .map(|set| ToWrite {
            stream: set.stream.clone(),
            files: set.files,
            bytes: set.total_bytes(),
        })
        .collect();
    let bytes = to_write.iter().map(|set| set.bytes).sum();
    (to_write, bytes)
}

/// What has to be written beside what is there, and the space it takes.
pub(crate) fn missing_files(
    folder: &dyn Folder,
    place: &Path,
    manifest: &Manifest,
    wanted: &Wanted,
    refill: bool,
) -> Result<(Vec<ToWrite>, u64), Refusal> {
    let mut to_write = Vec::new();
    let mut needed_bytes = 0;
    for set in &wanted.file_sets {
        let mut missing = ToWrite { stream: set.stream.clone(), files: 0, bytes: 0 };
        for index in 0..set.files {
            let found = find_file(folder, &place.join(set.file_name(index)), manifest)?;
            let kept_bytes = match found {
                Some(_) => recorded_bytes(manifest, set, index, wanted.data_seed),
                None => 0,
            };
            let is_complete = kept_bytes == set.file_size_bytes;
            if !is_complete {
                missing.files += 1;
                missing.bytes += set.file_size_bytes - kept_bytes;
            }
            if !is_complete || refill {
                let allocated = found.map_or(0, |found| found.allocated_bytes);
                needed_bytes += set.file_size_bytes.saturating_sub(allocated);
            }
        }
        if missing.files > 0 {
            to_write.push(missing);
        }
    }
    Ok((to_write, needed_bytes))
}

/// Looks at a file by a name of ours, and refuses if it is not one that we made.
pub(crate) fn find_file(
    folder: &dyn Folder,
    path: &Path,
    manifest: &Manifest,
) -> Result<Option<Entry>, Refusal> {
    let found = match folder.look(path) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        Err(error) => return Err(Refusal::io("look at", path, error)),
    };
    let path = path.to_path_buf();
    if !found.is_file() {
        return Err(Refusal::NotARegularFile { path, found: found.kind.words() });
    }
    if found.links > 1 {
        // Its bytes are also someone else's file by another name.
        return Err(Refusal::NotARegularFile { path, found: "a file with a second name" });
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(record) = name.and_then(|name| manifest.files.get(name)) else {
        return Err(Refusal::ForeignFile { path });
    };
    match &record.identity {
        Some(identity) if !identity.may_be(&found) => Err(Refusal::Replaced { path }),
        _ => Ok(Some(found)),
    }
}

fn recorded_bytes(manifest: &Manifest, set: &FileSet, index: u32, data_seed: u64) -> u64 {
    let wanted = FileRecord::wanted(set, index, data_seed);
    let record = manifest.files.get(&set.file_name(index));
    record.filter(|record| record.is(&wanted)).map_or(0, FileRecord::kept_bytes)
}
