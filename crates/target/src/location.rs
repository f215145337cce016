//! The location of a target with files, as the user specifies it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::folder::Folder;
use crate::nfs::folder::{Export, path_of};
use crate::nfs::{NfsUrl, Observer};
use crate::posix::folder::LocalFolder;
use crate::refusal::Refusal;

/// The location of a target with files, as the user specifies it.
#[derive(Clone, Debug)]
pub enum TargetLocation {
    /// A directory on this machine or on a mount.
    Directory(PathBuf),
    /// An NFSv3 export, or a folder on it, without a mount.
    Nfs(NfsUrl),
    /// The same; the observer is notified of waits for the server and can cancel them.
    ObservedNfs(NfsUrl, Observer),
}

impl TargetLocation {
    /// The common prefix of every path below the location.
    pub(crate) fn path(&self) -> PathBuf {
        match self {
            TargetLocation::Directory(path) => path.clone(),
            TargetLocation::Nfs(url) | TargetLocation::ObservedNfs(url, _) => path_of(url),
        }
    }

    /// Opens the file system behind the location.
    pub(crate) fn folder(&self) -> Result<Arc<dyn Folder>, Refusal> {
        match self {
            TargetLocation::Directory(_) => Ok(Arc::new(LocalFolder)),
            TargetLocation::Nfs(url) => Ok(Arc::new(Export::open(url, None)?)),
            TargetLocation::ObservedNfs(url, observer) => {
                Ok(Arc::new(Export::open(url, Some(observer))?))
            }
        }
    }
}

impl<P: AsRef<Path> + ?Sized> From<&P> for TargetLocation {
    fn from(path: &P) -> TargetLocation {
        TargetLocation::Directory(path.as_ref().to_path_buf())
    }
}

impl From<&NfsUrl> for TargetLocation {
    fn from(url: &NfsUrl) -> TargetLocation {
        TargetLocation::Nfs(url.clone())
    }
}

impl From<&TargetLocation> for TargetLocation {
    fn from(location: &TargetLocation) -> TargetLocation {
        location.clone()
    }
}
