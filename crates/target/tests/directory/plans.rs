//! The files that these tests require.

use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use workload::data::DataPattern;
use workload::plan::FileSet;

/// Several chunks of the fill, but not a multiple of one.
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

pub(crate) fn required(files: u32) -> RequiredFiles {
    RequiredFiles {
        file_sets: vec![set(files)],
        trees: Vec::new(),
        data_seed: DATA_SEED,
        direct_transfer_min_bytes: None,
    }
}

/// Fills without being stopped, and returns the bytes written.
pub(crate) fn fill(directory: &mut TargetDirectory, set: &FileSet) -> u64 {
    directory.fill(set, &|| false, &mut |_, _| {}).unwrap()
}
