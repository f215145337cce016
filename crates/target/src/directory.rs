//! Our directory on the target, marked and locked. It is claimed by [`crate::survey`] and filled by
//! [`crate::fill`].

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use workload::plan::{Capabilities, FileSet};

use crate::folder::{Folder, Lock};
use crate::inventory::{RequiredFiles, durable_bytes, find_file};
use crate::manifest::{FileState, Manifest};
use crate::nfs::NfsFile;
use crate::nfs::session::Mounted;
use crate::refusal::Refusal;
use crate::run_target::RunTarget;
use crate::storage::Storage;
use crate::verification::Verifier;

/// The name of the directory that is created inside the one that the user named.
pub const OUR_NAME: &str = "fourcorners";

/// Our directory: marked, locked against other runs, on known storage.
#[derive(Debug)]
pub struct TargetDirectory {
    pub(crate) folder: Arc<dyn Folder>,
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
    pub(crate) required: RequiredFiles,
    pub(crate) refill: bool,
    pub(crate) storage: Storage,
    /// Released when the directory is dropped.
    pub(crate) lock: Box<dyn Lock>,
}

impl TargetDirectory {
    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The storage that it is on.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The files that the plan needs.
    pub fn file_sets(&self) -> &[FileSet] {
        &self.required.file_sets
    }

    /// The seed of the files' data.
    pub fn data_seed(&self) -> u64 {
        self.required.data_seed
    }

    /// Whether invalid files are written again.
    pub fn refill(&self) -> bool {
        self.refill
    }

    /// Fails if the directory is no longer exclusively ours, or if a file was replaced, removed or
    /// given a second hard link, as far as this shows without reading. Called at the end of a run,
    /// because such a change invalidates its results.
    ///
    /// # Errors
    /// [`Refusal::TakenOver`], or the first file that changed.
    pub fn refuse_changed(&self) -> Result<(), Refusal> {
        self.refuse_lost_lock()?;
        for set in &self.required.file_sets {
            for index in 0..set.files {
                let path = self.file_path(set, index);
                if find_file(self.folder.as_ref(), &path, &self.manifest)?.is_none() {
                    return Err(Refusal::Gone { path });
                }
            }
        }
        Ok(())
    }

    /// What this kind of target can do.
    pub fn capabilities(&self) -> Capabilities {
        self.folder.capabilities()
    }

    /// The directory's files as the target of runs.
    ///
    /// # Errors
    /// On an export, the first file that is missing or not ours.
    pub fn run_target(&self) -> Result<Arc<dyn RunTarget>, Refusal> {
        let with_handles = |set: &FileSet| Ok((set.clone(), self.handles(set)?));
        let find_handles = || self.file_sets().iter().map(with_handles).collect();
        self.folder.run_target(&self.path, &find_handles)
    }

    /// The mounted export; `None` if the directory is on this machine.
    pub fn mounted(&self) -> Option<&Arc<Mounted>> {
        self.folder.mounted()
    }

    /// The NFS handles of the files of `set`, in order.
    ///
    /// # Errors
    /// The first file that is missing, not ours, or on this machine and so without a handle.
    pub fn handles(&self, set: &FileSet) -> Result<Vec<NfsFile>, Refusal> {
        let file = |index| {
            let path = self.file_path(set, index);
            let found = find_file(self.folder.as_ref(), &path, &self.manifest)?;
            let handle = found.ok_or_else(|| Refusal::Gone { path: path.clone() })?.handle;
            let none = || Refusal::io("find the handle of", &path, io::ErrorKind::Unsupported);
            Ok(NfsFile { handle: handle.ok_or_else(none)?, path: path.display().to_string() })
        };
        (0..set.files).map(file).collect()
    }

    /// Fails if the directory is no longer exclusively ours.
    ///
    /// # Errors
    /// [`Refusal::TakenOver`].
    pub fn refuse_lost_lock(&self) -> Result<(), Refusal> {
        self.lock.refuse_lost(&self.path)
    }

    /// Writes the manifest, on the host that claimed the directory. The others keep theirs in memory.
    pub(crate) fn save_manifest(&self) -> Result<(), Refusal> {
        match self.lock.has_claimed() {
            true => self.manifest.save_in(self.folder.as_ref(), &self.path),
            false => Ok(()),
        }
    }

    /// The manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The path of file `index` of `set`.
    pub fn file_path(&self, set: &FileSet, index: u32) -> PathBuf {
        self.path.join(set.file_name(index))
    }

    /// The numbers of the files of `set` that are incomplete or not as the plan requires.
    pub fn missing(&self, set: &FileSet) -> Vec<u32> {
        let is_complete = |index: &u32| self.durable_bytes(set, *index) == set.file_size_bytes;
        (0..set.files).filter(|index| !is_complete(index)).collect()
    }

    /// Bytes from the start of file `index` of `set` that were written and synced according to the
    /// manifest: its size if it is complete.
    pub fn durable_bytes(&self, set: &FileSet, index: u32) -> u64 {
        let (folder, data_seed) = (self.folder.as_ref(), self.required.data_seed);
        durable_bytes(folder, &self.path, &self.manifest, set, index, data_seed)
    }

    /// Verifies every file of `set`, as far as it is recorded as written.
    ///
    /// # Errors
    /// The first file that is not as we wrote it, with what was found at which offset.
    pub fn check(&self, set: &FileSet) -> Result<(), Refusal> {
        self.verifier().check(set)
    }

    /// Marks every invalid file of `set` as not written, so that the next fill writes it again, and
    /// returns what was wrong with each.
    ///
    /// # Errors
    /// A file's name is taken by something that is not our file, or the manifest cannot be written.
    pub fn discard_invalid(&mut self, set: &FileSet) -> Result<Vec<Refusal>, Refusal> {
        let invalid = self.verifier().invalid_files(set)?;
        for file in &invalid {
            let record = self.manifest.files.get_mut(&set.file_name(file.index));
            record.expect("a file that was written is listed").set_durable_bytes(0);
        }
        if !invalid.is_empty() {
            self.save_manifest()?;
        }
        Ok(invalid.into_iter().map(|file| file.refusal).collect())
    }

    /// Our files that exist, those of other plans included: their number and their size in bytes. Those of
    /// trees are estimated from the shape of the tree.
    ///
    /// # Errors
    /// The first file that cannot be looked up.
    pub fn existing_files(&self) -> io::Result<(u64, u64)> {
        let (mut files, mut bytes) = (0, 0);
        for (name, record) in &self.manifest.files {
            if record.state == FileState::Complete {
                (files, bytes) = (files + 1, bytes + record.size_bytes);
            } else if let Some(found) = self.folder.find_entry(&self.path.join(name))? {
                // It may not exist, and its space may be reserved beyond what was written.
                (files, bytes) = (files + 1, bytes + found.size_bytes);
            }
        }
        Ok((files, bytes))
    }

    /// The number of trees that we created. How many files they have, and of which size, depends on
    /// the operations of the last run.
    pub fn existing_trees(&self) -> u64 {
        self.manifest.trees.len() as u64
    }

    fn verifier(&self) -> Verifier<'_> {
        Verifier {
            folder: self.folder.as_ref(),
            directory: &self.path,
            manifest: &self.manifest,
            data_seed: self.data_seed(),
            direct: self.storage.direct.is_supported(),
        }
    }
}
