//! Inspects the target before anything is written, and claims its directory.
//!
//! `fourcorners run /mnt/vol1` uses `/mnt/vol1/fourcorners/`, which it creates and marks with the
//! manifest `.fourcorners`; it uses `/mnt/vol1` itself only if that carries the mark. [`survey`]
//! performs every check that needs no write (`plan` stops there); [`Survey::claim`] creates, marks
//! and locks the directory. What is written into it: [`crate::fill`]; how its content is verified:
//! [`crate::verification`].

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::creation::{
    holds_only_marks, remove_marks, remove_unfinished, temporary_in, undo_creation,
};
use crate::directory::TargetDirectory;
use crate::existing::{self, ExistingSet};
use crate::folder::{Folder, Lock};
use crate::identity::FileIdentity;
use crate::inventory::{RequiredFiles, ToWrite, missing_files, whole_sets};
use crate::lease_content::LockOwner;
use crate::location::TargetLocation;
use crate::manifest::Manifest;
use crate::refusal::{Overrides, Refusal};
use crate::storage::{DirectIo, Storage};
use crate::tree::{RequiredTree, refuse_other_trees};
use crate::verification::Verifier;
use crate::working_directory::{State, find_working_directory};

/// The state of the target before anything is written, and what a run will write.
#[derive(Debug)]
pub struct Survey {
    /// The directory that the run will use.
    pub directory: PathBuf,
    /// Whether the directory must be created.
    pub is_new: bool,
    /// What the fill will write, one entry for each file set that is not complete.
    pub to_write: Vec<ToWrite>,
    /// Space that this needs, without the reserve for the file system's metadata.
    pub needed_bytes: u64,
    /// Free space.
    pub free_bytes: u64,
    folder: Arc<dyn Folder>,
    state: State,
    manifest: Option<Manifest>,
    filesystem_id: String,
    required: RequiredFiles,
    overrides: Overrides,
}

/// Surveys and claims a target.
///
/// # Errors
/// See [`survey`] and [`Survey::claim`].
pub fn open(
    location: impl Into<TargetLocation>,
    required: RequiredFiles,
    overrides: Overrides,
) -> Result<TargetDirectory, Refusal> {
    survey(location, required, overrides)?.claim()
}

/// Checks everything about the location that can be checked without writing, for the whole plan.
///
/// # Errors
/// The first refusal that `overrides` does not allow.
pub fn survey(
    location: impl Into<TargetLocation>,
    required: RequiredFiles,
    overrides: Overrides,
) -> Result<Survey, Refusal> {
    let location = location.into();
    let (path, shared) = (location.path(), location.folder()?);
    let (path, folder) = (path.as_path(), shared.as_ref());
    let working = find_working_directory(folder, path, overrides)?;
    let is_new = working.state == State::New;
    let existing = if is_new { parent_of(&working.path) } else { &working.path };

    let space = folder.space(existing)?;
    if space.read_only {
        return Err(Refusal::ReadOnly { path: path.to_path_buf() });
    }
    if !overrides.not_a_mount {
        folder.refuse_missing_mount(path, existing)?;
    }
    folder
        .refuse_unwritable(existing)
        .map_err(|error| Refusal::io("write into", existing, error))?;

    let mut manifest = if is_new { None } else { Manifest::load_in(folder, &working.path)? };
    if let Some(manifest) = &mut manifest
        && is_other_filesystem(manifest, &space.filesystem_id)
    {
        if !overrides.other_filesystem {
            return Err(Refusal::OtherFilesystem {
                path: working.path,
                marked: manifest.filesystem_id.clone(),
                found: space.filesystem_id,
            });
        }
        // The files of an accepted copy do not have the identities of the original files.
        manifest.files.values_mut().for_each(|record| record.identity = None);
    }
    let (to_write, needed_bytes) = match &manifest {
        None => whole_sets(&required),
        Some(manifest) => {
            missing_files(folder, &working.path, manifest, &required, overrides.refill)?
        }
    };
    let new_inodes = new_trees(manifest.as_ref(), &required).map(RequiredTree::inodes_max).sum();
    let new_bytes: u64 = new_trees(manifest.as_ref(), &required).map(RequiredTree::bytes).sum();
    if let (Some(manifest), false) = (&manifest, overrides.refill) {
        refuse_other_trees(manifest, &working.path, &required.trees, required.data_seed)?;
    }
    if let Some(free) = space.free_inodes
        && new_inodes > free
        && !overrides.ignore_free_space
    {
        let (path, needed) = (path.to_path_buf(), new_inodes);
        return Err(Refusal::TooFewInodes { path, needed, free });
    }
    let needed_bytes = needed_bytes.saturating_add(new_bytes);
    let with_reserve = needed_bytes.saturating_add(reserve_bytes(needed_bytes));
    if with_reserve > space.free_bytes && !overrides.ignore_free_space {
        return Err(Refusal::TooLittleSpace {
            path: path.to_path_buf(),
            needed_bytes: with_reserve,
            free_bytes: space.free_bytes,
        });
    }
    Ok(Survey {
        directory: working.path,
        is_new,
        to_write,
        needed_bytes,
        free_bytes: space.free_bytes,
        folder: shared,
        state: working.state,
        manifest,
        filesystem_id: space.filesystem_id,
        required,
        overrides,
    })
}

impl Survey {
    /// Verifies existing files, as a run does before it measures, without writing. With `refill`,
    /// invalid files are added to what must be written.
    ///
    /// # Errors
    /// Another run uses the directory; without `refill`, the first invalid file.
    pub fn inspect(mut self) -> Result<Survey, Refusal> {
        let Some(manifest) = &self.manifest else { return Ok(self) };
        let folder = self.folder.as_ref();
        folder.refuse_in_use(&self.directory)?;
        let data_seed = self.required.data_seed;
        for set in &self.required.file_sets {
            let verifier =
                Verifier::without_probe(folder, &self.directory, manifest, data_seed, set);
            if !self.overrides.refill {
                verifier.check(set)?;
                continue;
            }
            let invalid = verifier.invalid_files(set)?;
            if invalid.is_empty() {
                continue;
            }
            // Incomplete files are listed already, so only their written bytes are added.
            let complete = invalid.iter().filter(|file| file.durable_bytes == set.file_size_bytes);
            let files = complete.count() as u32;
            let bytes = invalid.iter().map(|file| file.durable_bytes).sum();
            match self.to_write.iter_mut().find(|part| part.set == *set) {
                Some(part) => {
                    part.files += files;
                    part.bytes += bytes;
                }
                None => self.to_write.push(ToWrite { set: set.clone(), files, bytes }),
            }
        }
        Ok(self)
    }

    /// The trees of the plan that do not exist yet.
    pub fn new_trees(&self) -> impl Iterator<Item = &RequiredTree> {
        new_trees(self.manifest.as_ref(), &self.required)
    }

    /// The file sets that exist in the directory. Those that the plan needs are first, and valid as
    /// far as [`Survey::inspect`] verified them.
    ///
    /// # Errors
    /// The first file that cannot be looked up.
    pub fn existing_sets(&self) -> Result<Vec<ExistingSet>, Refusal> {
        let Some(manifest) = &self.manifest else { return Ok(Vec::new()) };
        let mut sets = existing::required(&self.required.file_sets, &self.to_write);
        let folder = self.folder.as_ref();
        sets.extend(existing::others(folder, &self.directory, manifest, &self.required)?);
        Ok(sets)
    }

    /// Locks our directory for this process; creates and marks it first if it does not exist.
    ///
    /// # Errors
    /// Another run uses the directory, or its storage does not support what the plan requires. A
    /// directory that was created for this is removed again.
    pub fn claim(self) -> Result<TargetDirectory, Refusal> {
        self.claim_for(&LockOwner::this_process())
    }

    /// The same with a lock that belongs to `owner`, the controller of several hosts.
    ///
    /// # Errors
    /// As [`Survey::claim`].
    pub fn claim_for(self, owner: &LockOwner) -> Result<TargetDirectory, Refusal> {
        if self.state == State::New { self.create(owner) } else { self.claim_existing(owner) }
    }

    /// Creates the directory as described in [`crate::creation`], after removing what interrupted
    /// creations left behind.
    fn create(self, owner: &LockOwner) -> Result<TargetDirectory, Refusal> {
        let parent = parent_of(&self.directory).to_path_buf();
        let folder = self.folder.as_ref();
        remove_unfinished(folder, &parent)?;
        let temporary = temporary_in(folder, &parent);
        folder
            .make_directory(&temporary)
            .map_err(|error| Refusal::io("make directory", &temporary, error))?;
        let marked = folder.lock(&temporary, owner).and_then(|lock| self.mark(&temporary, lock));
        let created = marked.and_then(|claimed| {
            folder
                .rename(&temporary, &self.directory)
                .and_then(|()| folder.sync_directory(&parent))
                .map_err(|error| Refusal::io("make directory", &self.directory, error))?;
            Ok(claimed)
        });
        match created {
            Ok(claimed) => Ok(TargetDirectory { path: self.directory, ..claimed }),
            Err(refusal) => Err(undo_creation(folder, &temporary, refusal)),
        }
    }

    fn mark(&self, directory: &Path, lock: Box<dyn Lock>) -> Result<TargetDirectory, Refusal> {
        let storage = self.folder.probe(directory)?;
        refuse_without_direct_io(&self.directory, &self.required, &storage)?;
        let manifest = Manifest::new(self.filesystem_id.clone(), unix_ms(SystemTime::now()));
        manifest.save_in(self.folder.as_ref(), directory)?;
        Ok(self.claimed(directory, manifest, storage, lock))
    }

    fn claim_existing(self, owner: &LockOwner) -> Result<TargetDirectory, Refusal> {
        let folder = self.folder.as_ref();
        let lock = folder.lock(&self.directory, owner)?;
        // Another run may have changed the directory between the survey and the lock.
        match Manifest::load_in(folder, &self.directory)? {
            Some(manifest) => self.claim_marked(manifest, lock),
            None if self.state == State::Unmarked && holds_only_marks(folder, &self.directory)? => {
                let marked = self.mark(&self.directory, lock);
                // Only the marks are removed: the directory existed before.
                marked.map_err(|cause| match remove_marks(folder, &self.directory) {
                    Ok(()) => cause,
                    Err(left) => {
                        Refusal::LeftBehind { cause: Box::new(cause), left: Box::new(left) }
                    }
                })
            }
            None => Err(Refusal::Unmarked { path: self.directory }),
        }
    }

    fn claim_marked(
        self,
        mut manifest: Manifest,
        lock: Box<dyn Lock>,
    ) -> Result<TargetDirectory, Refusal> {
        let storage = self.folder.probe(&self.directory)?;
        refuse_without_direct_io(&self.directory, &self.required, &storage)?;
        if manifest.filesystem_id != self.filesystem_id {
            if is_other_filesystem(&manifest, &self.filesystem_id) {
                // The user has accepted this copy, and with it its files.
                for (name, record) in &mut manifest.files {
                    let path = self.directory.join(name);
                    let found = self.folder.find_entry(&path);
                    let found = found.map_err(|error| Refusal::io("stat", &path, error))?;
                    record.identity =
                        found.and_then(|found| FileIdentity::of(&found, &storage.filesystem));
                }
            }
            manifest.filesystem_id.clone_from(&self.filesystem_id);
            manifest.save_in(self.folder.as_ref(), &self.directory)?;
        }
        Ok(self.claimed(&self.directory, manifest, storage, lock))
    }

    fn claimed(
        &self,
        path: &Path,
        manifest: Manifest,
        storage: Storage,
        lock: Box<dyn Lock>,
    ) -> TargetDirectory {
        TargetDirectory {
            folder: Arc::clone(&self.folder),
            path: path.to_path_buf(),
            manifest,
            required: self.required.clone(),
            refill: self.overrides.refill,
            storage,
            lock,
        }
    }
}

/// The trees that a directory does not have yet.
fn new_trees<'r>(
    manifest: Option<&'r Manifest>,
    required: &'r RequiredFiles,
) -> impl Iterator<Item = &'r RequiredTree> {
    let exists = move |name: &str| manifest.is_some_and(|one| one.trees.contains_key(name));
    required.trees.iter().filter(move |tree| !exists(&tree.name(required.data_seed)))
}

/// Whether our mark was made on a file system other than the one `found`. File systems without an
/// identity (NFS) count as the same.
fn is_other_filesystem(manifest: &Manifest, found: &str) -> bool {
    let marked = &manifest.filesystem_id;
    !marked.is_empty() && !found.is_empty() && marked != found
}

fn refuse_without_direct_io(
    directory: &Path,
    required: &RequiredFiles,
    storage: &Storage,
) -> Result<(), Refusal> {
    let Some(smallest_bytes) = required.direct_transfer_min_bytes else { return Ok(()) };
    let (path, filesystem) = (directory.to_path_buf(), storage.filesystem.clone());
    match &storage.direct {
        DirectIo::Unsupported { reason } => {
            Err(Refusal::NoDirectIo { path, filesystem, reason: reason.clone() })
        }
        DirectIo::Supported { offset_align_bytes: needed_bytes }
            if !smallest_bytes.is_multiple_of(*needed_bytes) =>
        {
            let needed_bytes = *needed_bytes;
            Err(Refusal::DirectAlignment { path, filesystem, needed_bytes, smallest_bytes })
        }
        DirectIo::Supported { .. } => Ok(()),
    }
}

/// What a file system needs for its metadata in addition to the data: a hundredth (extent trees,
/// checksums of copy-on-write file systems), and room to replace the manifest.
const fn reserve_bytes(needed_bytes: u64) -> u64 {
    if needed_bytes == 0 { 0 } else { needed_bytes / 100 + (1 << 20) }
}

fn parent_of(path: &Path) -> &Path {
    path.parent().expect("the working directory has a name inside a directory")
}

fn unix_ms(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
