//! A folder on an export in the role of the user's volume, and the directory that the server
//! exports, in which a test can act as another user.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};

use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::nfs::NfsUrl;
use target::refusal::{Overrides, Refusal};
use target::survey;
use tempfile::TempDir;

use crate::ganesha::Ganesha;
use crate::plans::{fill, required, set};

pub(crate) struct TestVolume {
    pub(crate) root: TempDir,
    pub(crate) server: Arc<Ganesha>,
}

/// The server shared by all tests that run concurrently.
static SERVER: Mutex<Weak<Ganesha>> = Mutex::new(Weak::new());

fn server() -> Arc<Ganesha> {
    let mut running = SERVER.lock().unwrap();
    running.upgrade().unwrap_or_else(|| {
        let server = Arc::new(Ganesha::start());
        *running = Arc::downgrade(&server);
        server
    })
}

impl TestVolume {
    pub(crate) fn new() -> TestVolume {
        let server = server();
        TestVolume { root: tempfile::tempdir_in(server.folder()).unwrap(), server }
    }

    /// The directory on the server.
    pub(crate) fn path(&self) -> &Path {
        self.root.path()
    }

    /// Our directory in it.
    pub(crate) fn our_directory(&self) -> PathBuf {
        self.path().join("fourcorners")
    }

    /// The URL of `path`, which is on the server.
    pub(crate) fn url(&self, path: &Path) -> NfsUrl {
        let below = path.strip_prefix(self.server.folder()).unwrap();
        self.server.vfs(&format!("/{}", below.display())).parse().unwrap()
    }

    pub(crate) fn location(&self, path: &Path) -> target::location::TargetLocation {
        (&self.url(path)).into()
    }

    /// `path` as messages display it.
    pub(crate) fn displayed(&self, path: &Path) -> PathBuf {
        let url = self.url(path);
        PathBuf::from(format!("nfs://{}{}", url.authority(), url.path))
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

    /// The sorted names in a directory without the lease.
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
