//! The mark of a directory of ours, and the record of what we wrote into it: the file
//! `.fourcorners`.
//!
//! It is replaced atomically (written beside, synced, renamed), a file's record is on disk before
//! the file's first byte, and bytes are recorded as kept only after they were synced. So after a
//! crash at any instant every file that we made is listed, and no byte is believed that was not
//! written.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use workload::data::DataPattern;
use workload::plan::FileSet;

use crate::folder::Folder;
use crate::folder::local::Local;
use crate::identity::FileIdentity;
use crate::refusal::Refusal;

/// The name of the manifest inside a directory of ours.
pub const MANIFEST_NAME: &str = ".fourcorners";
/// What is written before it replaces the manifest.
pub(crate) const MANIFEST_NEW_NAME: &str = ".fourcorners.new";
/// The version of the format that is written here. Readers refuse newer ones.
///
/// 1: the first. 2: files have an identity. 3: which may have a handle of NFS. 4: unfinished files
/// have the bytes that are kept. New reads old: a file without identity is believed by its name, as
/// it was then, until it is written again; an unfinished file keeps nothing. Old refuses new. New
/// rewrites old as new.
pub const MANIFEST_VERSION: u32 = 4;
const FORMAT: &str = "fourcorners target directory";

/// What stands in `.fourcorners`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Says what this file is, to people and to us.
    pub format: String,
    /// [`MANIFEST_VERSION`] of the writer.
    pub version: u32,
    /// The version of the tool that made the directory.
    pub tool_version: String,
    /// When the directory was made, in milliseconds since 1970.
    pub created_unix_ms: u64,
    /// The identity of the file system it was made on (`f_fsid`); empty where the file system has
    /// none.
    pub filesystem_id: String,
    /// Every file that we made, by its name.
    pub files: BTreeMap<String, FileRecord>,
}

/// One file of ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its number in its file set; the stamps in it carry it.
    pub file: u32,
    /// Its size.
    pub size_bytes: u64,
    /// Bytes covered by one stamp.
    pub tile_bytes: u32,
    /// The seed of its data.
    pub data_seed: u64,
    /// The compressibility and duplicates of its data.
    pub data: DataPattern,
    /// How far it has come.
    pub state: FileState,
    /// Bytes from its start that were written and synced, while it is being filled.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub filled_bytes: u64,
    /// Which file it is, once it was made; unknown in a manifest of version 1 and where the file
    /// system gives none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FileIdentity>,
}

/// How far a file has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It may not exist yet; beyond the bytes that are kept it may hold anything.
    Filling,
    /// Every byte was written and synced.
    Complete,
}

impl FileRecord {
    /// The record of file `index` of `set`, as it will be once it is complete.
    pub fn wanted(set: &FileSet, index: u32, data_seed: u64) -> FileRecord {
        FileRecord {
            file: index,
            size_bytes: set.file_size_bytes,
            tile_bytes: set.tile_bytes,
            data_seed,
            data: set.data,
            state: FileState::Complete,
            filled_bytes: 0,
            identity: None,
        }
    }

    /// Whether it is what `wanted` describes, whichever file it is and however far it has come.
    pub(crate) fn is(&self, wanted: &FileRecord) -> bool {
        let FileRecord { state, filled_bytes, identity, .. } = *wanted;
        FileRecord { state, filled_bytes, identity, ..self.clone() } == *wanted
    }

    /// Bytes from its start that were written and synced.
    pub(crate) fn kept_bytes(&self) -> u64 {
        match self.state {
            FileState::Complete => self.size_bytes,
            FileState::Filling => self.filled_bytes.min(self.size_bytes),
        }
    }

    /// The file is complete once all its bytes are kept.
    pub(crate) fn set_kept_bytes(&mut self, kept_bytes: u64) {
        (self.state, self.filled_bytes) = match kept_bytes < self.size_bytes {
            true => (FileState::Filling, kept_bytes),
            false => (FileState::Complete, 0),
        };
    }
}

impl Manifest {
    /// The manifest of a directory that is about to be made.
    pub fn new(filesystem_id: String, created_unix_ms: u64) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: MANIFEST_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            created_unix_ms,
            filesystem_id,
            files: BTreeMap::new(),
        }
    }

    /// Reads the manifest of `directory` of this machine; `None` where it has none.
    ///
    /// # Errors
    /// [`Refusal::ManifestDamaged`], [`Refusal::ManifestNewer`], [`Refusal::NotARegularFile`]: then
    /// nothing in the directory is touched.
    pub fn load(directory: &Path) -> Result<Option<Manifest>, Refusal> {
        Manifest::load_in(&Local, directory)
    }

    pub(crate) fn load_in(
        folder: &dyn Folder,
        directory: &Path,
    ) -> Result<Option<Manifest>, Refusal> {
        let path = directory.join(MANIFEST_NAME);
        match folder.look(&path) {
            Ok(None) => return Ok(None),
            Err(error) => return Err(Refusal::io("look at", &path, error)),
            Ok(Some(found)) if !found.is_file() => {
                return Err(Refusal::NotARegularFile { path, found: found.kind.words() });
            }
            Ok(Some(_)) => {}
        }
        let text = folder.read_whole(&path).map_err(|error| Refusal::io("read", &path, error))?;
        let damaged = |reason: String| Refusal::ManifestDamaged { path: path.clone(), reason };

        // The version first: a newer format may have fields that this one does not know.
        let version: Version =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        if version.format != FORMAT {
            return Err(damaged(format!("its format is `{}`", version.format)));
        }
        if version.version > MANIFEST_VERSION {
            let (found, known) = (version.version, MANIFEST_VERSION);
            return Err(Refusal::ManifestNewer { path, found, known });
        }
        let mut manifest: Manifest =
            serde_json::from_slice(&text).map_err(|error| damaged(error.to_string()))?;
        manifest.version = MANIFEST_VERSION;
        match manifest.files.keys().find(|name| !is_plain_name(name)) {
            Some(name) => Err(damaged(format!("`{name}` is not a plain file name"))),
            None => Ok(Some(manifest)),
        }
    }

    /// Replaces the manifest of `directory` of this machine, durably.
    ///
    /// # Errors
    /// What the kernel said; the old manifest is still there then.
    pub fn save(&self, directory: &Path) -> Result<(), Refusal> {
        self.save_in(&Local, directory)
    }

    pub(crate) fn save_in(&self, folder: &dyn Folder, directory: &Path) -> Result<(), Refusal> {
        let path = directory.join(MANIFEST_NAME);
        self.replace(folder, directory).map_err(|error| Refusal::io("write", &path, error))
    }

    fn replace(&self, folder: &dyn Folder, directory: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let beside = directory.join(MANIFEST_NEW_NAME);
        folder.write_whole(&beside, &text)?;
        folder.rename(&beside, &directory.join(MANIFEST_NAME))?;
        folder.sync_directory(directory)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The part of a manifest that every version has.
#[derive(Deserialize)]
struct Version {
    format: String,
    version: u32,
}

/// A name that can only mean an entry of our own directory, and not the manifest itself.
fn is_plain_name(name: &str) -> bool {
    !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\0'])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn with_text(text: &str) -> Result<Option<Manifest>, Refusal> {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join(MANIFEST_NAME), text).unwrap();
        Manifest::load(directory.path())
    }

    #[test]
    fn a_manifest_comes_back_as_it_was_saved() {
        let directory = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new("12ab".to_owned(), 1_700_000_000_000);
        let set = FileSet {
            stream: "main".to_owned(),
            files: 1,
            file_size_bytes: 8192,
            data: DataPattern { compressible_permille: 500, duplicate_permille: 0 },
            tile_bytes: 4096,
        };
        manifest.files.insert(set.file_name(0), FileRecord::wanted(&set, 0, u64::MAX));
        manifest.save(directory.path()).unwrap();
        assert_eq!(Manifest::load(directory.path()).unwrap(), Some(manifest));
        assert!(!directory.path().join(MANIFEST_NEW_NAME).exists());
    }

    #[test]
    fn a_directory_without_a_manifest_is_not_ours() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::load(directory.path()).unwrap(), None);
    }

    #[test]
    fn text_that_is_no_manifest_is_refused() {
        for text in ["", "{", "[]", "{\"format\":\"a cake\",\"version\":1}"] {
            let refusal = with_text(text).unwrap_err();
            assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{text}: {refusal}");
        }
    }

    #[test]
    fn a_newer_manifest_is_refused_by_its_version_alone() {
        let refusal =
            with_text("{\"format\":\"fourcorners target directory\",\"version\":5,\"new\":{}}");
        assert!(matches!(refusal, Err(Refusal::ManifestNewer { found: 5, known: 4, .. })));
    }

    #[test]
    fn a_manifest_of_version_1_is_read_with_files_of_unknown_identity() {
        let text = r#"{
            "format": "fourcorners target directory", "version": 1, "tool_version": "0.0.0",
            "created_unix_ms": 1, "filesystem_id": "12ab",
            "files": { "main-4096-0000.data": {
                "file": 0, "size_bytes": 4096, "tile_bytes": 4096, "data_seed": 7,
                "data": { "compressible_permille": 0, "duplicate_permille": 0 },
                "state": "complete"
            } }
        }"#;
        let manifest = with_text(text).unwrap().expect("it is one");
        assert_eq!(manifest.version, MANIFEST_VERSION);
        assert_eq!(manifest.files["main-4096-0000.data"].identity, None);
    }

    #[test]
    fn an_unfinished_file_of_a_manifest_of_version_3_keeps_nothing() {
        let text = r#"{
            "format": "fourcorners target directory", "version": 3, "tool_version": "0.0.0",
            "created_unix_ms": 1, "filesystem_id": "12ab",
            "files": { "main-4096-0000.data": {
                "file": 0, "size_bytes": 4096, "tile_bytes": 4096, "data_seed": 7,
                "data": { "compressible_permille": 0, "duplicate_permille": 0 },
                "state": "filling"
            } }
        }"#;
        let manifest = with_text(text).unwrap().expect("it is one");
        assert_eq!(manifest.files["main-4096-0000.data"].kept_bytes(), 0);
    }

    #[test]
    fn names_that_lead_out_of_the_directory_are_refused() {
        for name in ["../etc/passwd", "/etc/passwd", "..", ".", "", ".fourcorners", "a/b", "a\0b"] {
            let mut manifest = Manifest::new(String::new(), 0);
            let set = FileSet {
                stream: "main".to_owned(),
                files: 1,
                file_size_bytes: 4096,
                data: DataPattern::default(),
                tile_bytes: 4096,
            };
            manifest.files.insert(name.to_owned(), FileRecord::wanted(&set, 0, 1));
            let refusal = with_text(&serde_json::to_string(&manifest).unwrap()).unwrap_err();
            assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{name}: {refusal}");
        }
    }

    #[test]
    fn a_symbolic_link_is_not_taken_for_a_manifest() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("other");
        fs::write(&other, "{}").unwrap();
        std::os::unix::fs::symlink(&other, directory.path().join(MANIFEST_NAME)).unwrap();
        let refusal = Manifest::load(directory.path()).unwrap_err();
        assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
    }
}
