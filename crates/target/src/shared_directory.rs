//! One directory for several hosts: the first claims it and fills the files, the others join it.
//!
//! A host could have another volume at the same path, or none. So each of the others must find the
//! lease that the first host took for their controller, which contains a random token. From then on
//! it shares the lease: the directory is in use until the last host leaves it. The others use
//! the first host's manifest, because theirs may come from a cache of the NFS client, and every
//! file's identity must agree with it.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::directory::TargetDirectory;
use crate::inventory::RequiredFiles;
use crate::lease_content::Content;
use crate::location::TargetLocation;
use crate::manifest::Manifest;
use crate::refusal::Refusal;
use crate::storage::Storage;

/// How the other hosts recognise a directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedDirectory {
    /// Its path below the path that the user named; empty if it is that path.
    below: PathBuf,
    /// Its lease.
    lease: Content,
}

impl TargetDirectory {
    /// Lets other hosts join. `named` is the path that the user named.
    ///
    /// # Errors
    /// The path cannot be resolved, or the lease has no file.
    pub fn share(&self, named: impl Into<TargetLocation>) -> Result<SharedDirectory, Refusal> {
        let named = named.into().path();
        let named =
            self.folder.resolve(&named).map_err(|error| Refusal::io("resolve", &named, error))?;
        let lease = self.lock.share(&self.path)?;
        let below = self.path.strip_prefix(&named).unwrap_or(Path::new("")).to_path_buf();
        Ok(SharedDirectory { below, lease })
    }

    /// Uses the manifest of the host that claimed the directory, and verifies that this host sees the
    /// same files.
    ///
    /// # Errors
    /// The first file that is missing or is not the one in the manifest.
    pub fn use_manifest(&mut self, manifest: Manifest) -> Result<(), Refusal> {
        self.manifest = manifest;
        self.refuse_changed()
    }
}

/// Joins the directory that another host has claimed, on this `storage` according to that host.
///
/// # Errors
/// [`Refusal::OtherDirectory`] if this host has another directory at the path, or the path cannot be used
/// here.
pub fn join(
    named: impl Into<TargetLocation>,
    shared: &SharedDirectory,
    required: RequiredFiles,
    storage: Storage,
) -> Result<TargetDirectory, Refusal> {
    let named = named.into();
    let (path, folder) = (named.path(), named.folder()?);
    let resolved = match folder.resolve(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Refusal::Missing { path });
        }
        resolved => resolved.map_err(|error| Refusal::io("resolve", &path, error))?,
    };
    let path = match shared.below.as_os_str().is_empty() {
        true => resolved,
        false => resolved.join(&shared.below),
    };
    if folder.find_entry(&path).map_err(|error| Refusal::io("stat", &path, error))?.is_none() {
        return Err(Refusal::OtherDirectory { path });
    }
    Ok(TargetDirectory {
        manifest: Manifest::new(String::new(), 0),
        lock: folder.join_lock(&path, &shared.lease)?,
        folder,
        path,
        required,
        refill: false,
        storage,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::refusal::Overrides;
    use crate::survey;
    use workload::data::DataPattern;
    use workload::plan::FileSet;

    fn required() -> RequiredFiles {
        let set = FileSet {
            stream: "main".to_owned(),
            files: 2,
            file_size_bytes: 8192,
            data: DataPattern::default(),
            tile_bytes: 4096,
        };
        RequiredFiles {
            file_sets: vec![set],
            trees: Vec::new(),
            data_seed: 7,
            direct_transfer_min_bytes: None,
        }
    }

    fn claim(named: &Path) -> TargetDirectory {
        let overrides = Overrides { not_a_mount: true, ..Overrides::default() };
        survey::open(named, required(), overrides).expect("it is empty")
    }

    #[test]
    fn another_host_joins_by_the_token_and_sees_the_files_of_the_first() {
        let volume = tempfile::tempdir().expect("make a directory");
        let mut first = claim(volume.path());
        let shared = first.share(volume.path()).expect("it is writable");
        let storage = first.storage().clone();
        let mut second =
            join(volume.path(), &shared, required(), storage).expect("it is the same directory");
        assert_eq!(second.path(), first.path());
        let set = required().file_sets.remove(0);
        first.fill(&set, &|| false, &mut |_, _| ()).expect("there is space");
        second.use_manifest(first.manifest().clone()).expect("they are the same files");
        second.check(&set).expect("their data is ours");
        // Another volume has files of the same names.
        let file = first.file_path(&set, 1);
        let data = fs::read(&file).expect("read it");
        fs::rename(&file, volume.path().join("moved")).expect("move it away");
        fs::write(&file, data).expect("write a copy");
        let manifest = first.manifest().clone();
        let refusal = second.use_manifest(manifest).expect_err("it is another file");
        assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
    }

    #[test]
    fn another_directory_at_the_path_is_refused() {
        let (volume, other) = (tempfile::tempdir(), tempfile::tempdir());
        let (volume, other) = (volume.expect("make one"), other.expect("make another"));
        let first = claim(volume.path());
        let shared = first.share(volume.path()).expect("it is writable");
        let storage = || first.storage().clone();
        let refusal = join(other.path(), &shared, required(), storage()).expect_err("it is empty");
        assert!(matches!(refusal, Refusal::OtherDirectory { .. }), "{refusal}");
        // It is ours, but from another run.
        claim(other.path()).share(other.path()).expect("it is writable");
        let refusal = join(other.path(), &shared, required(), storage()).expect_err("another");
        assert!(matches!(refusal, Refusal::OtherDirectory { .. }), "{refusal}");
        let missing = other.path().join("missing");
        let refusal = join(&missing, &shared, required(), storage()).expect_err("nothing is there");
        assert!(matches!(refusal, Refusal::Missing { .. }), "{refusal}");
    }
}
