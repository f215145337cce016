//! A temporary directory in the role of the user's volume.

use std::path::{Path, PathBuf};

use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::refusal::{Overrides, Refusal};
use target::survey;
use tempfile::TempDir;

use crate::plans::{fill, required, set};

pub(crate) struct TestVolume {
    pub(crate) root: TempDir,
}

impl TestVolume {
    pub(crate) fn new() -> TestVolume {
        TestVolume { root: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// Our directory in it.
    pub(crate) fn our_directory(&self) -> PathBuf {
        self.path().join("fourcorners")
    }

    /// The location of `path`, as the user specifies it.
    pub(crate) fn location(&self, path: &Path) -> target::location::TargetLocation {
        path.into()
    }

    /// `path` as messages display it.
    pub(crate) fn displayed(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    pub(crate) fn file(&self, index: u32) -> PathBuf {
        self.our_directory().join(set(2).file_name(index))
    }

    pub(crate) fn open(&self) -> Result<TargetDirectory, Refusal> {
        self.open_for(required(2), Overrides::default())
    }

    pub(crate) fn open_for(
        &self,
        required: RequiredFiles,
        overrides: Overrides,
    ) -> Result<TargetDirectory, Refusal> {
        survey::open(self.location(self.path()), required, overrides)
    }

    /// A volume with both files complete.
    pub(crate) fn filled() -> TestVolume {
        let volume = TestVolume::new();
        fill(&mut volume.open().unwrap(), &set(2));
        volume
    }

    /// Replaces one of our files with a user's file.
    pub(crate) fn replace_file(&self, index: u32) {
        let foreign = self.path().join("thesis.txt");
        std::fs::write(&foreign, "years of work").unwrap();
        std::fs::rename(foreign, self.file(index)).unwrap();
    }

    /// The sorted names in a directory without that of the lock.
    pub(crate) fn names(path: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != ".fourcorners.lock")
            .collect();
        names.sort();
        names
    }
}
