//! A temporary directory that the user names as target, and the plans that are made for it.

use std::path::{Path, PathBuf};

use target::directory::{self, TargetDirectory, Wanted};
use target::refusal::{Overrides, Refusal};
use tempfile::TempDir;
use workload::data::DataPattern;
use workload::plan::FileSet;

/// Large enough for several chunks of the fill, and not a multiple of one.
pub(crate) const FILE_BYTES: u64 = (5 << 20) / 2;
pub(crate) const DATA_SEED: u64 = 42;

pub(crate) struct Place {
    pub(crate) root: TempDir,
}

impl Place {
    pub(crate) fn new() -> Place {
        Place { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The directory that is made in it.
    pub(crate) fn ours(&self) -> PathBuf {
        self.path().join("fourcorners")
    }

    pub(crate) fn file(&self, index: u32) -> PathBuf {
        self.ours().join(set(2).file_name(index))
    }

    pub(crate) fn open(&self) -> Result<TargetDirectory, Refusal> {
        self.open_for(wanted(2), Overrides::default())
    }

    pub(crate) fn open_for(
        &self,
        wanted: Wanted,
        overrides: Overrides,
    ) -> Result<TargetDirectory, Refusal> {
        directory::open(self.path(), wanted, overrides)
    }

    /// A directory with both files complete.
    pub(crate) fn filled() -> Place {
        let place = Place::new();
        fill(&mut place.open().unwrap(), &set(2));
        place
    }

    /// Puts somebody's own file in the place of one of ours.
    pub(crate) fn replace_file(&self, index: u32) {
        let own = self.path().join("thesis.txt");
        std::fs::write(&own, "years of work").unwrap();
        std::fs::rename(own, self.file(index)).unwrap();
    }

    /// The names in a directory, ordered.
    pub(crate) fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

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
