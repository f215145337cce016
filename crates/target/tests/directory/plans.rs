//! What is wanted of a directory in these tests.

use target::directory::{TargetDirectory, Wanted};
use workload::data::DataPattern;
use workload::plan::FileSet;

/// Large enough for several chunks of the fill, and not a multiple of one.
pub(crate) const FILE_BYTES: u64 = (5 << 20) / 2;
pub(crate) const DATA_SEED: u64 = 42;

pub(crate) fn set(files: u32) -> FileSet {
    FileSet {
        stream: "main".to_owned(),
        files,
        file_size_bytes: FILE_BYTES,
        data: DataPattern::default(),
        tile_bytes: 4096,
    }
}

pub(crate) fn wanted(files: u32) -> Wanted {
    Wanted { file_sets: vec![set(files)], data_seed: DATA_SEED, direct_transfer_min_bytes: None }
}

/// Fills without being stopped, and returns the bytes written.
pub(crate) fn fill(directory: &mut TargetDirectory, set: &FileSet) -> u64 {
    directory.fill(set, &|| false, &mut |_, _| {}).unwrap()
}
