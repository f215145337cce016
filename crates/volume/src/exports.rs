//! The exported volumes: their paths, files, export rules and duplicate request caches.
//!
//! For: finding the volume of a handle or a name. Not for: performing requests (`procedures.rs`).
//!
//! A handle's first eight bytes are the fsid of its volume, so a request finds it by a binary search
//! in a short sorted list.

use files::{FileSystem, Handle};
use nfs3::reply_cache::ReplyCache;

use crate::export_rules::ExportRules;
use crate::ids::EndpointId;
use crate::mounts::Mounts;

/// Calls in each volume's duplicate request cache: 256 connections with 64 outstanding each. After a
/// reconnect a client repeats the calls it had outstanding.
const CACHED_CALLS: usize = 16_384;
/// Bytes of their replies; a reply to a call that changes names has about 300.
const CACHED_BYTES: usize = 8 << 20;

/// Longest name of a volume; MOUNT allows paths of 1024 bytes.
const NAME_BYTES_MAX: usize = 255;

/// A volume in [`Exports`]. Indices are not reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeIndex(u32);

impl VolumeIndex {
    /// The index: 0 for the volume that was added first.
    #[must_use]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A volume as clients see it.
#[derive(Debug)]
pub struct Export {
    /// Its name. Its path is `/` and the name.
    pub name: String,
    /// Its file tree. The fsid must be unique; [`fsid_of`] derives one from the name.
    pub files: FileSystem,
    /// Who may use it.
    pub rules: ExportRules,
    /// The endpoints that serve it; `None` is all endpoints.
    pub endpoints: Option<Vec<EndpointId>>,
}

/// Why a volume cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// The name is not a valid path.
    #[error(
        "export volume `{0}`: a name has 1 to 255 bytes, no control characters, and no `/` at \
         either end; rename the volume"
    )]
    InvalidName(String),
    /// Another volume has the name.
    #[error("export volume `{0}`: another volume has this name; rename one of them")]
    NameTaken(String),
    /// Another volume has the fsid.
    #[error(
        "export volume `{name}`: volume `{other}` has the same file system id {fsid:#x}; rename \
         one of them"
    )]
    FsidTaken {
        /// The volume.
        name: String,
        /// The fsid.
        fsid: u64,
        /// The volume that has it.
        other: String,
    },
}

/// All volumes.
#[derive(Debug, Default)]
pub struct Exports {
    /// volumes[index]; `None` if the volume was removed.
    volumes: Vec<Option<ExportedVolume>>,
    /// (fsid, index), sorted.
    by_fsid: Vec<(u64, u32)>,
    pub(crate) mounts: Mounts,
}

/// A volume with the state of its requests.
#[derive(Debug)]
pub(crate) struct ExportedVolume {
    pub(crate) export: Export,
    /// Most bytes of one READ or WRITE.
    pub(crate) transfer_max: u32,
    pub(crate) replies: ReplyCache,
}

impl ExportedVolume {
    pub(crate) fn is_served_at(&self, endpoint: EndpointId) -> bool {
        self.export.endpoints.as_ref().is_none_or(|served| served.contains(&endpoint))
    }
}

/// The fsid of a volume with this name. It depends on nothing else, so handles stay valid when the
/// service restarts or volumes are reordered.
#[must_use]
pub fn fsid_of(name: &str) -> u64 {
    // FNV-1a, 64 bit.
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

impl Exports {
    /// No volumes.
    #[must_use]
    pub fn new() -> Exports {
        Exports::default()
    }

    /// Adds a volume.
    ///
    /// # Errors
    /// The name is invalid, or another volume has its name or fsid; then nothing has changed.
    pub fn add(&mut self, export: Export) -> Result<VolumeIndex, ExportError> {
        let name = &export.name;
        let fits = (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control);
        if !fits || name.starts_with('/') || name.ends_with('/') {
            return Err(ExportError::InvalidName(export.name));
        }
        let root = export.files.root();
        for (_, other) in self.volumes() {
            if other.export.name == export.name {
                return Err(ExportError::NameTaken(export.name));
            }
            if other.export.files.root().fsid == root.fsid {
                let (name, other) = (export.name, other.export.name.clone());
                return Err(ExportError::FsidTaken { name, fsid: root.fsid, other });
            }
        }
        let index = u32::try_from(self.volumes.len()).expect("fewer than 2^32 volumes");
        let transfer_max = export.files.fsinfo(root).map_or(0, |info| info.read_max);
        let replies = ReplyCache::new(CACHED_CALLS, CACHED_BYTES);
        self.volumes.push(Some(ExportedVolume { export, transfer_max, replies }));
        self.by_fsid.push((root.fsid, index));
        self.by_fsid.sort_unstable();
        Ok(VolumeIndex(index))
    }

    /// Removes a volume. Its handles become stale.
    pub fn remove(&mut self, index: VolumeIndex) -> Option<Export> {
        let volume = self.volumes.get_mut(index.get())?.take()?;
        self.by_fsid.retain(|(_, other)| *other != index.0);
        Some(volume.export)
    }

    /// The volume with this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<VolumeIndex> {
        self.volumes().find(|(_, volume)| volume.export.name == name).map(|(index, _)| index)
    }

    /// A volume.
    #[must_use]
    pub fn get(&self, index: VolumeIndex) -> Option<&Export> {
        self.volumes.get(index.get())?.as_ref().map(|volume| &volume.export)
    }

    /// A volume, to change its rules, endpoints or quota while clients use it. Its name and fsid
    /// must not change.
    pub fn get_mut(&mut self, index: VolumeIndex) -> Option<&mut Export> {
        self.volumes.get_mut(index.get())?.as_mut().map(|volume| &mut volume.export)
    }

    /// All volumes, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (VolumeIndex, &Export)> {
        self.volumes().map(|(index, volume)| (index, &volume.export))
    }

    /// All volumes, to change them; as [`Exports::get_mut`].
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (VolumeIndex, &mut Export)> {
        let all = self.volumes.iter_mut().zip(0..);
        all.filter_map(|(volume, index)| Some((VolumeIndex(index), &mut volume.as_mut()?.export)))
    }

    pub(crate) fn volumes(&self) -> impl Iterator<Item = (VolumeIndex, &ExportedVolume)> {
        let all = self.volumes.iter().zip(0..);
        all.filter_map(|(volume, index)| Some((VolumeIndex(index), volume.as_ref()?)))
    }

    /// The volume of a handle, whether or not its object still exists.
    pub(crate) fn of_handle(
        &mut self,
        handle: Handle,
    ) -> Option<(VolumeIndex, &mut ExportedVolume)> {
        let position = match self.by_fsid[..] {
            // Usually there is one volume.
            [(fsid, _)] if fsid == handle.fsid => 0,
            _ => self.by_fsid.binary_search_by_key(&handle.fsid, |(fsid, _)| *fsid).ok()?,
        };
        let index = self.by_fsid[position].1;
        let volume = self.volumes[index as usize].as_mut()?;
        Some((VolumeIndex(index), volume))
    }
}
