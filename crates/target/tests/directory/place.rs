//! A temporary directory that the user names as target.

use std::path::{Path, PathBuf};

use target::directory::{self, TargetDirectory, Wanted};
use target::refusal::{Overrides, Refusal};
use tempfile::TempDir;

use crate::plans::{fill, set, wanted};

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

    /// What is at `path` on this machine, as the user names it.
    pub(crate) fn at(&self, path: &Path) -> target::folder::Place {
        path.into()
    }

    /// `path` as messages say it.
    pub(crate) fn said(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
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
        directory::open(self.at(self.path()), wanted, overrides)
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
