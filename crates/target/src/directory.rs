//! The directory that a run works in: found or made, marked, locked, and never anything else.
//!
//! `fourcorners run /mnt/vol1` works in `/mnt/vol1/fourcorners/`, which it makes and marks with the
//! manifest `.fourcorners`; `/mnt/vol1` itself is used only if it carries that mark. Two steps keep
//! "checked before the first write" honest: [`survey`] looks and writes nothing (`plan` stops
//! there), [`Survey::claim`] makes, marks and locks. Not here: what is written ([`crate::fill`]),
//! and whether it is still what was written ([`crate::truth`]).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use workload::plan::{FileSet, Plan};

use crate::folder::{Folder, Lock, Place};
use crate::identity::FileIdentity;
use crate::making::{holds_only_marks, making_in, remove_marks, remove_unfinished, take_back};
use crate::manifest::Manifest;
use crate::nfs::NfsFile;
use crate::nfs::session::Mounted;
use crate::ours::{find_file, kept_bytes, missing_files, whole_sets};
use crate::place::{State, find_place};
use crate::refusal::{Overrides, Refusal};
use crate::storage::{DirectIo, Storage};
use crate::truth::Truth;

/// What a plan needs of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The files.
    pub file_sets: Vec<FileSet>,
    /// The seed of the data in them.
    pub data_seed: u64,
    /// The smallest transfer size of all streams with direct I/O, in bytes; `None` if all are
    /// buffered.
    pub direct_transfer_min_bytes: Option<u64>,
}

impl Wanted {
    /// What `plan` needs.
    pub fn by(plan: &Plan) -> Wanted {
        let direct = plan.model_streams().filter(|stream| stream.direct);
        Wanted {
            file_sets: plan.file_sets(),
            data_seed: plan.data_seed,
            direct_transfer_min_bytes: direct
                .flat_map(|stream| &stream.transfer_sizes)
                .map(|size| size.size_bytes)
                .min(),
        }
    }
}

/// What was found before anything is written, and what will be done.
#[derive(Debug)]
pub struct Survey {
    /// The directory that the run will work in.
    pub place: PathBuf,
    /// Whether it has to be made.
    pub is_new: bool,
    /// What the fill will write, one entry for each file set that is not complete.
    pub to_write: Vec<ToWrite>,
    /// Space that it still takes, without the reserve.
    pub needed_bytes: u64,
    /// Space that there is.
    pub free_bytes: u64,
    folder: Arc<dyn Folder>,
    state: State,
    manifest: Option<Manifest>,
    filesystem_id: String,
    wanted: Wanted,
    overrides: Overrides,
}

/// The part of a file set that is not there yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToWrite {
    /// Leading part of the files' names.
    pub stream: String,
    /// Number of files to be written.
    pub files: u32,
    /// Bytes to be written.
    pub bytes: u64,
}

/// A directory that is ours: marked, locked against other runs, and on known storage.
#[derive(Debug)]
pub struct TargetDirectory {
    pub(crate) folder: Arc<dyn Folder>,
    pub(crate) path: PathBuf,
    pub(crate) manifest: Manifest,
    wanted: Wanted,
    refill: bool,
    storage: Storage,
    /// Its lock ends with it.
    lock: Box<dyn Lock>,
}

/// Surveys and claims at once.
///
/// # Errors
/// See [`survey`] and [`Survey::claim`].
pub fn open(
    place: impl Into<Place>,
    wanted: Wanted,
    overrides: Overrides,
) -> Result<TargetDirectory, Refusal> {
    survey(place, wanted, overrides)?.claim()
}

/// Checks everything about the place that can be checked without writing: for the whole plan,
/// before its first byte.
///
/// # Errors
/// The first refusal that `overrides` does not allow.
pub fn survey(
    place: impl Into<Place>,
    wanted: Wanted,
    overrides: Overrides,
) -> Result<Survey, Refusal> {
    let place = place.into();
    let (path, shared) = (place.path(), place.folder()?);
    let (path, folder) = (path.as_path(), shared.as_ref());
    let place = find_place(folder, path, overrides)?;
    // What exists of the way to the place: the place itself, or the directory it will be made in.
    let is_new = place.state == State::New;
    let existing = if is_new { parent_of(&place.path) } else { &place.path };

    let space = folder.space(existing)?;
    if space.read_only {
        return Err(Refusal::ReadOnly { path: path.to_path_buf() });
    }
    if !overrides.not_a_mount {
        folder.refuse_missing_mount(path, existing)?;
    }
    folder.may_write_into(existing).map_err(|error| Refusal::io("write into", existing, error))?;

    let mut manifest = if is_new { None } else { Manifest::load_in(folder, &place.path)? };
    if let Some(manifest) = &mut manifest
        && is_other_filesystem(manifest, &space.filesystem_id)
    {
        if !overrides.other_filesystem {
            return Err(Refusal::OtherFilesystem {
                path: place.path,
                marked: manifest.filesystem_id.clone(),
                found: space.filesystem_id,
            });
        }
        // The files of an accepted copy are others than those that we made.
        manifest.files.values_mut().for_each(|record| record.identity = None);
    }
    let (to_write, needed_bytes) = match &manifest {
        None => whole_sets(&wanted),
        Some(manifest) => missing_files(folder, &place.path, manifest, &wanted, overrides.refill)?,
    };
    let with_reserve = needed_bytes.saturating_add(reserve_bytes(needed_bytes));
    if with_reserve > space.free_bytes && !overrides.ignore_free_space {
        return Err(Refusal::TooLittleSpace {
            path: path.to_path_buf(),
            needed_bytes: with_reserve,
            free_bytes: space.free_bytes,
        });
    }
    Ok(Survey {
        place: place.path,
        is_new,
        to_write,
        needed_bytes,
        free_bytes: space.free_bytes,
        folder: shared,
        state: place.state,
        manifest,
        filesystem_id: space.filesystem_id,
        wanted,
        overrides,
    })
}

impl Survey {
    /// Looks into the files that are there, as a run does before it measures, and writes nothing:
    /// with `refill` those that are not what we left are to be written too.
    ///
    /// # Errors
    /// Another run works in the directory; without `refill`, the first file that is not what we
    /// left.
    pub fn inspect(mut self) -> Result<Survey, Refusal> {
        let Some(manifest) = &self.manifest else { return Ok(self) };
        let folder = self.folder.as_ref();
        folder.refuse_in_use(&self.place)?;
        let data_seed = self.wanted.data_seed;
        for set in &self.wanted.file_sets {
            let truth = Truth::looking(folder, &self.place, manifest, data_seed, set);
            if !self.overrides.refill {
                truth.check(set)?;
                continue;
            }
            let wrong = truth.wrong(set)?;
            if wrong.is_empty() {
                continue;
            }
            // What is missing of a file that is also unfinished is listed already.
            let whole = wrong.iter().filter(|file| file.kept_bytes == set.file_size_bytes);
            let files = whole.count() as u32;
            let bytes = wrong.iter().map(|file| file.kept_bytes).sum();
            match self.to_write.iter_mut().find(|part| part.stream == set.stream) {
                Some(part) => {
                    part.files += files;
                    part.bytes += bytes;
                }
                None => {
                    let stream = set.stream.clone();
                    self.to_write.push(ToWrite { stream, files, bytes });
                }
            }
        }
        Ok(self)
    }

    /// Makes and marks the directory, or takes the one that is ours, and locks it.
    ///
    /// # Errors
    /// Another run works in it, or its storage cannot do what the plan asks for; a directory that
    /// was made for this is removed again.
    pub fn claim(self) -> Result<TargetDirectory, Refusal> {
        if self.state == State::New { self.make() } else { self.take() }
    }

    /// Makes the directory under another name, complete with its mark, and moves it into place: no
    /// crash leaves an unmarked directory of our name behind. What earlier crashes left under such
    /// other names goes first.
    fn make(self) -> Result<TargetDirectory, Refusal> {
        let parent = parent_of(&self.place).to_path_buf();
        let folder = self.folder.as_ref();
        remove_unfinished(folder, &parent)?;
        let making = making_in(folder, &parent);
        folder
            .make_directory(&making)
            .map_err(|error| Refusal::io("make directory", &making, error))?;
        let made = folder.lock(&making).and_then(|lock| self.mark(&making, lock));
        let made = made.and_then(|claimed| {
            folder
                .rename(&making, &self.place)
                .and_then(|()| folder.sync_directory(&parent))
                .map_err(|error| Refusal::io("make directory", &self.place, error))?;
            Ok(claimed)
        });
        match made {
            Ok(claimed) => Ok(TargetDirectory { path: self.place, ..claimed }),
            Err(refusal) => Err(take_back(folder, &making, refusal)),
        }
    }

    fn mark(&self, making: &Path, lock: Box<dyn Lock>) -> Result<TargetDirectory, Refusal> {
        let storage = self.folder.probe(making)?;
        refuse_without_direct_io(&self.place, &self.wanted, &storage)?;
        let manifest = Manifest::new(self.filesystem_id.clone(), unix_ms(SystemTime::now()));
        manifest.save_in(self.folder.as_ref(), making)?;
        Ok(self.claimed(making, manifest, storage, lock))
    }

    /// Takes the directory that is there.
    fn take(self) -> Result<TargetDirectory, Refusal> {
        let folder = self.folder.as_ref();
        let lock = folder.lock(&self.place)?;
        // Another run may have changed it since the survey; from here on it cannot.
        match Manifest::load_in(folder, &self.place)? {
            Some(manifest) => self.take_marked(manifest, lock),
            None if self.state == State::Unmarked && holds_only_marks(folder, &self.place)? => {
                let marked = self.mark(&self.place, lock);
                // The directory itself was there before.
                marked.map_err(|cause| match remove_marks(folder, &self.place) {
                    Ok(()) => cause,
                    Err(left) => {
                        Refusal::LeftBehind { cause: Box::new(cause), left: Box::new(left) }
                    }
                })
            }
            None => Err(Refusal::Unmarked { path: self.place }),
        }
    }

    fn take_marked(
        self,
        mut manifest: Manifest,
        lock: Box<dyn Lock>,
    ) -> Result<TargetDirectory, Refusal> {
        let storage = self.folder.probe(&self.place)?;
        refuse_without_direct_io(&self.place, &self.wanted, &storage)?;
        if manifest.filesystem_id != self.filesystem_id {
            if is_other_filesystem(&manifest, &self.filesystem_id) {
                // The user has said that this copy is ours: its files are, too.
                for (name, record) in &mut manifest.files {
                    let path = self.place.join(name);
                    let found = self.folder.look(&path);
                    let found = found.map_err(|error| Refusal::io("look at", &path, error))?;
                    record.identity =
                        found.and_then(|found| FileIdentity::of(&found, &storage.filesystem));
                }
            }
            manifest.filesystem_id.clone_from(&self.filesystem_id);
            manifest.save_in(self.folder.as_ref(), &self.place)?;
        }
        Ok(self.claimed(&self.place, manifest, storage, lock))
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
            wanted: self.wanted.clone(),
            refill: self.overrides.refill,
            storage,
            lock,
        }
    }
}

impl TargetDirectory {
    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is stored on.
    pub fn storage(&self) -> &Storage {
        &self.storage
    }

    /// The files that the plan needs in it.
    pub fn file_sets(&self) -> &[FileSet] {
        &self.wanted.file_sets
    }

    /// The seed of the data in them.
    pub fn data_seed(&self) -> u64 {
        self.wanted.data_seed
    }

    /// Whether files that are not as we left them are written anew.
    pub fn refill(&self) -> bool {
        self.refill
    }

    /// Whether everything still is as it was when the run began, as far as it can be seen without
    /// reading: the directory is still ours alone, and no file was replaced, removed or given a
    /// second name. To be asked at the end of a run, whose figures are worth nothing otherwise.
    ///
    /// # Errors
    /// [`Refusal::TakenOver`], or the first file that is not what it was.
    pub fn refuse_changed(&self) -> Result<(), Refusal> {
        self.refuse_lost_lock()?;
        for set in &self.wanted.file_sets {
            for index in 0..set.files {
                let path = self.file_path(set, index);
                if find_file(self.folder.as_ref(), &path, &self.manifest)?.is_none() {
                    return Err(Refusal::Gone { path });
                }
            }
        }
        Ok(())
    }

    /// What is mounted, where the directory is on an export; `None` where it is on this machine.
    pub fn mounted(&self) -> Option<&Arc<Mounted>> {
        self.folder.mounted()
    }

    /// The files of `set` by their handles, in order; for a directory on an export.
    ///
    /// # Errors
    /// The first file that is not there or not ours, or has no handle because it is on this
    /// machine.
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

    pub(crate) fn refuse_lost_lock(&self) -> Result<(), Refusal> {
        self.lock.refuse_lost(&self.path)
    }

    /// What is known of the files.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// The path of file `index` of `set`.
    pub fn file_path(&self, set: &FileSet, index: u32) -> PathBuf {
        self.path.join(set.file_name(index))
    }

    /// The numbers of those files of `set` that are not complete as the plan wants them.
    pub fn missing(&self, set: &FileSet) -> Vec<u32> {
        let is_complete = |index: &u32| self.kept_bytes(set, *index) == set.file_size_bytes;
        (0..set.files).filter(|index| !is_complete(index)).collect()
    }

    /// Bytes from the start of file `index` of `set` that were written and synced, as far as the
    /// manifest records them: its size where it is complete.
    pub fn kept_bytes(&self, set: &FileSet, index: u32) -> u64 {
        let (folder, data_seed) = (self.folder.as_ref(), self.wanted.data_seed);
        kept_bytes(folder, &self.path, &self.manifest, set, index, data_seed)
    }
}

/// Whether our mark was made on another file system than the one `found`. One without identity
/// (NFS) cannot be told from another.
fn is_other_filesystem(manifest: &Manifest, found: &str) -> bool {
    let marked = &manifest.filesystem_id;
    !marked.is_empty() && !found.is_empty() && marked != found
}

fn refuse_without_direct_io(
    place: &Path,
    wanted: &Wanted,
    storage: &Storage,
) -> Result<(), Refusal> {
    let Some(smallest_bytes) = wanted.direct_transfer_min_bytes else { return Ok(()) };
    let (path, filesystem) = (place.to_path_buf(), storage.filesystem.clone());
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

/// What a file system takes for its own records, on top of the data: a hundredth (extent trees,
/// checksums of copy-on-write file systems), and room to replace the manifest.
const fn reserve_bytes(needed_bytes: u64) -> u64 {
    if needed_bytes == 0 { 0 } else { needed_bytes / 100 + (1 << 20) }
}

fn parent_of(path: &Path) -> &Path {
    path.parent().expect("the place has a name inside a directory")
}

fn unix_ms(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
