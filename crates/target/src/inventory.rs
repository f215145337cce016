//! Which of the plan's files exist, and which must still be written.
//!
//! A file is ours if the manifest lists it, it is a regular file with a single hard link, and it is
//! the very file that we created. Its content is checked in [`crate::verification`].

use std::path::Path;

use workload::plan::{FileSet, Plan};

use crate::folder::{Entry, Folder};
use crate::manifest::{FileRecord, Manifest};
use crate::refusal::Refusal;
use crate::tree::RequiredTree;

/// The files that a plan needs in a directory.
#[derive(Clone, Debug, PartialEq)]
pub struct RequiredFiles {
    /// The files.
    pub file_sets: Vec<FileSet>,
    /// The trees, as the first run that uses each needs it.
    pub trees: Vec<RequiredTree>,
    /// The seed of their data.
    pub data_seed: u64,
    /// The smallest transfer size of all streams with direct I/O, in bytes; `None` if all are
    /// buffered.
    pub direct_transfer_min_bytes: Option<u64>,
}

impl RequiredFiles {
    /// The files that `plan` needs on one of its targets, by its position.
    pub fn of(plan: &Plan, target: usize) -> RequiredFiles {
        let with_files = plan.model_streams().filter(|stream| stream.names.is_none());
        let direct = with_files.filter(|stream| stream.direct);
        RequiredFiles {
            file_sets: plan.file_sets(target),
            trees: trees(plan, target as u32),
            data_seed: plan.data_seed,
            direct_transfer_min_bytes: direct
                .flat_map(|stream| &stream.transfer_sizes)
                .map(|size| size.size_bytes)
                .min(),
        }
    }
}

/// The trees that a plan needs on one of its targets, by its position.
fn trees(plan: &Plan, target: u32) -> Vec<RequiredTree> {
    let mut trees: Vec<RequiredTree> = Vec::new();
    for run in plan.model_runs() {
        for tree in RequiredTree::of_run(run, target) {
            let name = tree.name(plan.data_seed);
            if !trees.iter().any(|known| known.name(plan.data_seed) == name) {
                trees.push(tree);
            }
        }
    }
    trees
}

/// The part of a file set that must still be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToWrite {
    /// The whole set.
    pub set: FileSet,
    /// Number of files to write.
    pub files: u32,
    /// Bytes to write.
    pub bytes: u64,
}

/// Bytes from the start of file `index` of `set` in `directory` that were written and synced as the
/// plan requires them: the file's size if it is complete, 0 if it does not exist.
pub(crate) fn durable_bytes(
    folder: &dyn Folder,
    directory: &Path,
    manifest: &Manifest,
    set: &FileSet,
    index: u32,
    data_seed: u64,
) -> u64 {
    let recorded_bytes = recorded_bytes(manifest, set, index, data_seed);
    let path = directory.join(set.file_name(index));
    // If the lookup fails, the file counts as existing: verification then reports the error.
    match recorded_bytes > 0 && matches!(folder.find_entry(&path), Ok(None)) {
        true => 0,
        false => recorded_bytes,
    }
}

/// What must be written into a directory without files, and the total bytes.
pub(crate) fn whole_sets(required: &RequiredFiles) -> (Vec<ToWrite>, u64) {
    let to_write: Vec<ToWrite> = required
        .file_sets
        .iter()
        .map(|set| ToWrite { set: set.clone(), files: set.files, bytes: set.total_bytes() })
        .collect();
    let bytes = to_write.iter().map(|set| set.bytes).sum();
    (to_write, bytes)
}

/// What must be written in addition to existing files, and the space it needs in bytes.
pub(crate) fn missing_files(
    folder: &dyn Folder,
    directory: &Path,
    manifest: &Manifest,
    required: &RequiredFiles,
    refill: bool,
) -> Result<(Vec<ToWrite>, u64), Refusal> {
    let mut to_write = Vec::new();
    let mut needed_bytes = 0;
    for set in &required.file_sets {
        let mut missing = ToWrite { set: set.clone(), files: 0, bytes: 0 };
        for index in 0..set.files {
            let found = find_file(folder, &directory.join(set.file_name(index)), manifest)?;
            let durable_bytes = match found {
                Some(_) => recorded_bytes(manifest, set, index, required.data_seed),
                None => 0,
            };
            let is_complete = durable_bytes == set.file_size_bytes;
            if !is_complete {
                missing.files += 1;
                missing.bytes += set.file_size_bytes - durable_bytes;
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

/// Finds a file with one of our names, and refuses it if we did not create it.
pub(crate) fn find_file(
    folder: &dyn Folder,
    path: &Path,
    manifest: &Manifest,
) -> Result<Option<Entry>, Refusal> {
    let found = match folder.find_entry(path) {
        Ok(Some(found)) => found,
        Ok(None) => return Ok(None),
        Err(error) => return Err(Refusal::io("stat", path, error)),
    };
    let path = path.to_path_buf();
    if !found.is_file() {
        return Err(Refusal::NotARegularFile { path, found: found.kind.description() });
    }
    if found.links > 1 {
        // Writing to it would change a user's file under its other name.
        return Err(Refusal::NotARegularFile { path, found: "a file with a second hard link" });
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
    let required = FileRecord::complete(set, index, data_seed);
    let record = manifest.files.get(&set.file_name(index));
    record.filter(|record| record.describes(&required)).map_or(0, FileRecord::durable_bytes)
}
