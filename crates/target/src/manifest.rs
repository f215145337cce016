//! The manifest `.fourcorners`: marks a directory as ours and records what we wrote into it.
//!
//! It is replaced atomically (written to a temporary file, synced, renamed). A file's record is on
//! disk before the file's first byte, and bytes are recorded as durable only after they were
//! synced. So after a crash at any time, every file that we created is listed, and only written
//! bytes count.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};
use workload::data::DataPattern;
use workload::names::TreeShape;
use workload::plan::FileSet;

use crate::folder::Folder;
use crate::identity::FileIdentity;
use crate::posix::folder::LocalFolder;
use crate::refusal::Refusal;

/// The name of the manifest in our directory.
pub const MANIFEST_NAME: &str = ".fourcorners";
/// The temporary file that replaces the manifest.
pub(crate) const MANIFEST_NEW_NAME: &str = ".fourcorners.new";
/// The version of the format that this program writes. Readers refuse newer versions.
///
/// 1: the first. 2: files have an identity. 3: the identity may have an NFS handle. 4: unfinished
/// files have `filled_bytes`. 5: files that a fleet wrote have `filled_by`. 6: trees. New reads old: a file
/// without an identity is identified by its name until it is written again; an unfinished file has
/// no durable bytes; the writer of a file is unknown. Old refuses new. New rewrites old as new.
pub const MANIFEST_VERSION: u32 = 6;
const FORMAT: &str = "fourcorners target directory";

/// The content of `.fourcorners`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Identifies the kind of file.
    pub format: String,
    /// [`MANIFEST_VERSION`] of the writer.
    pub version: u32,
    /// The version of the tool that created the directory.
    pub tool_version: String,
    /// When the directory was created, in milliseconds since 1970.
    pub created_unix_ms: u64,
    /// The identity of the file system on which it was created (`f_fsid`); empty if the file system
    /// has none.
    pub filesystem_id: String,
    /// Every file that we created, by name.
    pub files: BTreeMap<String, FileRecord>,
    /// Every tree that we created, by the name of its directory.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub trees: BTreeMap<String, TreeRecord>,
}

/// One of our trees: everything in it follows from this record and its operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TreeRecord {
    /// The stream whose operations use it.
    pub stream: String,
    /// Its directories and files.
    pub shape: TreeShape,
    /// The seed of the files' data.
    pub data_seed: u64,
    /// The compressibility and duplicates of their data.
    pub data: DataPattern,
}

/// One of our files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileRecord {
    /// Its number in its file set, which the stamps in its data contain.
    pub file: u32,
    /// Its size when complete.
    pub size_bytes: u64,
    /// Bytes covered by one stamp.
    pub tile_bytes: u32,
    /// The seed of its data.
    pub data_seed: u64,
    /// The compressibility and duplicates of its data.
    pub data: DataPattern,
    /// Whether it is complete.
    pub state: FileState,
    /// Bytes from its start that were written and synced, while it is incomplete.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub filled_bytes: u64,
    /// Identifies the file once it exists; `None` in a manifest of version 1 and if the file system
    /// provides no identity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity: Option<FileIdentity>,
    /// The host that wrote all of it, if several hosts filled the directory; `None` if that is not
    /// known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled_by: Option<FilledBy>,
}

/// A host of a fleet that wrote files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FilledBy {
    /// The name by which the user reached it.
    pub host: String,
    /// Identifies its machine until that restarts; empty if it is not known.
    pub boot_id: String,
}

/// Bytes of a file that are durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DurableBytes {
    /// The file's name.
    pub name: String,
    /// Bytes from its start that were written and synced.
    pub bytes: u64,
}

/// Whether a file is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileState {
    /// It may not exist yet; beyond its durable bytes its content is undefined.
    Filling,
    /// Every byte was written and synced.
    Complete,
}

impl FileRecord {
    /// The record of file `index` of `set` when it is complete.
    pub fn complete(set: &FileSet, index: u32, data_seed: u64) -> FileRecord {
        FileRecord {
            file: index,
            size_bytes: set.file_size_bytes,
            tile_bytes: set.tile_bytes,
            data_seed,
            data: set.data,
            state: FileState::Complete,
            filled_bytes: 0,
            identity: None,
            filled_by: None,
        }
    }

    /// Whether this is a record of the file that `required` describes, regardless of identity,
    /// writer and progress.
    pub(crate) fn describes(&self, required: &FileRecord) -> bool {
        let FileRecord { state, filled_bytes, identity, .. } = *required;
        let filled_by = required.filled_by.clone();
        FileRecord { state, filled_bytes, identity, filled_by, ..self.clone() } == *required
    }

    /// Bytes from its start that were written and synced.
    pub(crate) fn durable_bytes(&self) -> u64 {
        match self.state {
            FileState::Complete => self.size_bytes,
            FileState::Filling => self.filled_bytes.min(self.size_bytes),
        }
    }

    /// Sets the durable bytes; the file is complete when all are.
    pub(crate) fn set_durable_bytes(&mut self, durable_bytes: u64) {
        (self.state, self.filled_bytes) = match durable_bytes < self.size_bytes {
            true => (FileState::Filling, durable_bytes),
            false => (FileState::Complete, 0),
        };
    }
}

impl Manifest {
    /// The manifest of a new directory without files.
    pub fn new(filesystem_id: String, created_unix_ms: u64) -> Manifest {
        Manifest {
            format: FORMAT.to_owned(),
            version: MANIFEST_VERSION,
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            created_unix_ms,
            filesystem_id,
            files: BTreeMap::new(),
            trees: BTreeMap::new(),
        }
    }

    /// Reads the manifest of a local `directory`; `None` if it has none.
    ///
    /// # Errors
    /// [`Refusal::ManifestDamaged`], [`Refusal::ManifestNewer`], [`Refusal::NotARegularFile`].
    pub fn load(directory: &Path) -> Result<Option<Manifest>, Refusal> {
        Manifest::load_in(&LocalFolder, directory)
    }

    /// The same for a directory in `folder`.
    pub(crate) fn load_in(
        folder: &dyn Folder,
        directory: &Path,
    ) -> Result<Option<Manifest>, Refusal> {
        let path = directory.join(MANIFEST_NAME);
        match folder.find_entry(&path) {
            Ok(None) => return Ok(None),
            Err(error) => return Err(Refusal::io("stat", &path, error)),
            Ok(Some(found)) if !found.is_file() => {
                return Err(Refusal::NotARegularFile { path, found: found.kind.description() });
            }
            Ok(Some(_)) => {}
        }
        let text = folder.read_whole(&path).map_err(|error| Refusal::io("read", &path, error))?;
        let damaged = |reason: String| Refusal::ManifestDamaged { path: path.clone(), reason };

        // The version first: a newer format may have unknown fields.
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
        match manifest.files.keys().chain(manifest.trees.keys()).find(|name| !is_plain_name(name)) {
            Some(name) => Err(damaged(format!("`{name}` is not a plain file name"))),
            None => Ok(Some(manifest)),
        }
    }

    /// Replaces the manifest of a directory in `folder`, durably. If this fails, the old manifest
    /// is still there.
    pub(crate) fn save_in(&self, folder: &dyn Folder, directory: &Path) -> Result<(), Refusal> {
        let path = directory.join(MANIFEST_NAME);
        self.replace(folder, directory).map_err(|error| Refusal::io("write", &path, error))
    }

    fn replace(&self, folder: &dyn Folder, directory: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        let temporary = directory.join(MANIFEST_NEW_NAME);
        folder.write_whole(&temporary, &text)?;
        folder.rename(&temporary, &directory.join(MANIFEST_NAME))?;
        folder.sync_directory(directory)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes fields by reference")]
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

/// The fields that every version of the manifest has.
#[derive(Deserialize)]
struct Version {
    format: String,
    version: u32,
}

/// Whether a name can only refer to a data file in our directory: no path, not the manifest.
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
    fn a_saved_manifest_loads_unchanged() {
        let directory = tempfile::tempdir().unwrap();
        let mut manifest = Manifest::new("12ab".to_owned(), 1_700_000_000_000);
        let set = FileSet {
            stream: "main".to_owned(),
            files: 1,
            file_size_bytes: 8192,
            data: DataPattern { compressible_permille: 500, duplicate_permille: 0 },
            tile_bytes: 4096,
        };
        manifest.files.insert(set.file_name(0), FileRecord::complete(&set, 0, u64::MAX));
        manifest.save_in(&LocalFolder, directory.path()).unwrap();
        assert_eq!(Manifest::load(directory.path()).unwrap(), Some(manifest));
        assert!(!directory.path().join(MANIFEST_NEW_NAME).exists());
    }

    #[test]
    fn a_directory_without_a_manifest_is_not_ours() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(Manifest::load(directory.path()).unwrap(), None);
    }

    #[test]
    fn text_that_is_not_a_manifest_is_refused() {
        for text in ["", "{", "[]", "{\"format\":\"a cake\",\"version\":1}"] {
            let refusal = with_text(text).unwrap_err();
            assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{text}: {refusal}");
        }
    }

    #[test]
    fn a_newer_manifest_is_refused_for_its_version_even_with_unknown_fields() {
        let refusal =
            with_text("{\"format\":\"fourcorners target directory\",\"version\":7,\"new\":{}}");
        assert!(matches!(refusal, Err(Refusal::ManifestNewer { found: 7, known: 6, .. })));
    }

    #[test]
    fn files_of_a_manifest_of_version_1_have_no_identity() {
        let text = r#"{
            "format": "fourcorners target directory", "version": 1, "tool_version": "0.0.0",
            "created_unix_ms": 1, "filesystem_id": "12ab",
            "files": { "main-4096-0000.data": {
                "file": 0, "size_bytes": 4096, "tile_bytes": 4096, "data_seed": 7,
                "data": { "compressible_permille": 0, "duplicate_permille": 0 },
                "state": "complete"
            } }
        }"#;
        let manifest = with_text(text).unwrap().expect("it is a manifest");
        assert_eq!(manifest.version, MANIFEST_VERSION);
        assert_eq!(manifest.files["main-4096-0000.data"].identity, None);
        assert_eq!(manifest.files["main-4096-0000.data"].filled_by, None);
    }

    #[test]
    fn an_unfinished_file_of_a_manifest_of_version_3_has_no_durable_bytes() {
        let text = r#"{
            "format": "fourcorners target directory", "version": 3, "tool_version": "0.0.0",
            "created_unix_ms": 1, "filesystem_id": "12ab",
            "files": { "main-4096-0000.data": {
                "file": 0, "size_bytes": 4096, "tile_bytes": 4096, "data_seed": 7,
                "data": { "compressible_permille": 0, "duplicate_permille": 0 },
                "state": "filling"
            } }
        }"#;
        let manifest = with_text(text).unwrap().expect("it is a manifest");
        assert_eq!(manifest.files["main-4096-0000.data"].durable_bytes(), 0);
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
            manifest.files.insert(name.to_owned(), FileRecord::complete(&set, 0, 1));
            let refusal = with_text(&serde_json::to_string(&manifest).unwrap()).unwrap_err();
            assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{name}: {refusal}");
        }
    }

    #[test]
    fn a_symbolic_link_is_not_accepted_as_a_manifest() {
        let directory = tempfile::tempdir().unwrap();
        let other = directory.path().join("other");
        fs::write(&other, "{}").unwrap();
        std::os::unix::fs::symlink(&other, directory.path().join(MANIFEST_NAME)).unwrap();
        let refusal = Manifest::load(directory.path()).unwrap_err();
        assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
    }
}
