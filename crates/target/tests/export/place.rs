//! A folder on an export that the user names as target, and its other side: the directory that the
//! server exports, in which a test can do what others might.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use target::directory::{self, TargetDirectory, Wanted};
use target::nfs::NfsUrl;
use target::refusal::{Overrides, Refusal};
use tempfile::TempDir;

use crate::ganesha::Ganesha;
use crate::plans::{fill, set, wanted};

pub(crate) struct Place {
    pub(crate) root: TempDir,
    pub(crate) server: Arc<Ganesha>,
}

/// The server of all tests that run at this moment.
static SERVER: Mutex<Weak<Ganesha>> = Mutex::new(Weak::new());

fn server() -> Arc<Ganesha> {
    let mut running = SERVER.lock().unwrap();
    running.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Ganesha::start());
        *running = Arc::downgrade(&server);
        server
    })
}

impl Place {
    pub(crate) fn new() -> Place {
        let server = server();
        Place { root: tempfile::tempdir_in(server.folder()).unwrap(), server }
    }

    /// On the server's side.
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// The directory that is made in it.
    pub(crate) fn ours(&self) -> PathBuf {
        self.path().join("fourcorners")
    }

    /// What is at `path` on the server's side, as the user names it.
    pub(crate) fn url(&self, path: &Path) -> NfsUrl {
        let below = path.strip_prefix(self.server.folder()).unwrap();
        self.server.vfs(&format!("/{}", below.display())).parse().unwrap()
    }

    pub(crate) fn at(&self, path: &Path) -> target::folder::Place {
        (&self.url(path)).into()
    }

    /// `path` as messages say it.
    pub(crate) fn said(&self, path: &Path) -> PathBuf {
        let url = self.url(path);
        PathBuf::from(format!("nfs://{}{}", url.authority(), url.path))
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

    /// The names in a directory, ordered; a lease that is held is not counted.
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
