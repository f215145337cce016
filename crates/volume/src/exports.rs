//! What clients see: volumes under their paths, who may use them, and requests performed on them.
//!
//! For: turning a decoded request of NFS 3, MOUNT 3 or the portmapper into its encoded reply, with
//! the effect on the volume's files done in between. Not for: bytes of connections, limits and
//! delays; a request is performed when it arrives, and its reply is what waits.
//!
//! A handle's first eight bytes name the volume, so a request finds it by a search in a sorted
//! list of numbers, usually of one.

use std::collections::VecDeque;

use files::{FileSystem, Handle, Time};
use nfs3::procedure::Procedure;
use nfs3::reply_cache::ReplyCache;
use nfs3::request::{Arguments, NfsArguments};
use nfs3::server::{Request, reply_with};

use crate::export_rules::ExportRules;
use crate::peer::Peer;
use crate::procedures;
use crate::procedures::mount::Mounted;
use crate::reply::Reply;

/// Calls that each volume's duplicate request cache remembers: those of 256 connections with 64
/// outstanding. What a client repeats after a reconnect is what it had outstanding.
const CACHED_CALLS: usize = 16_384;
/// Bytes of their replies; one that changes names has some 300.
const CACHED_BYTES: usize = 8 << 20;

/// Longest name of a volume; MOUNT allows paths of 1024 bytes.
const NAME_BYTES_MAX: usize = 255;

/// A volume of [`Exports`]; numbers are not used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VolumeIndex(u32);

impl VolumeIndex {
    /// The number: 0 for the volume that was added first.
    #[must_use]
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A volume as clients see it.
#[derive(Debug)]
pub struct Export {
    /// What it is called; its path is this behind a "/".
    pub name: String,
    /// What is in it. Its fsid must be its own; [`fsid_of`] makes one of the name.
    pub files: FileSystem,
    /// Who may use it.
    pub rules: ExportRules,
    /// Indices of the endpoints that it is served at; `None` is everywhere.
    pub endpoints: Option<Vec<usize>>,
}

/// Why a volume cannot be exported.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ExportError {
    /// No client could mount it under this name.
    #[error(
        "export volume `{0}`: a path is made of the name, so it has 1 to 255 bytes, does not \
         begin or end with `/`, and holds no control character; rename it"
    )]
    NoPath(String),
    /// Another has the name.
    #[error("export volume `{0}`: the name is taken; give each volume its own")]
    NameTaken(String),
    /// Another has the number.
    #[error(
        "export volume `{name}`: its file system has the number {fsid:#x}, which `{other}` has \
         already; rename one of the two"
    )]
    NumberTaken {
        /// The volume.
        name: String,
        /// The number.
        fsid: u64,
        /// Who has it.
        other: String,
    },
}

/// What became of a request, for limits, books and the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Performed {
    /// Of which volume; `None` where the request names none, or none that the client may use.
    pub volume: Option<VolumeIndex>,
    /// What was asked for.
    pub procedure: Procedure,
    /// Bytes really read or written; 0 for what is neither READ nor WRITE.
    pub bytes: u64,
    /// True if the reply says that it was not done.
    pub failed: bool,
    /// True if it was a repeated call whose first reply was given again.
    pub replayed: bool,
    /// What it failed for want of.
    pub shortage: Option<Shortage>,
}

/// What a volume has no more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortage {
    /// Its quota is used up: NFS3ERR_DQUOT.
    Quota,
    /// The memory that it may take is used up: NFS3ERR_NOSPC. The emulation's limit, not the
    /// volume's, and so worth a line in the log.
    Memory,
    /// The disk that it is kept on is full: NFS3ERR_NOSPC. The storage says so itself, with the
    /// disk's name.
    Disk,
    /// It has as many objects as it may have: NFS3ERR_NOSPC.
    Inodes,
}

/// All volumes.
#[derive(Debug, Default)]
pub struct Exports {
    /// volumes[index]; `None` where one was taken away.
    volumes: Vec<Option<Volume>>,
    /// (fsid, index), sorted.
    by_fsid: Vec<(u64, u32)>,
    pub(crate) mounted: VecDeque<Mounted>,
}

/// A volume with what is kept for its requests.
#[derive(Debug)]
pub(crate) struct Volume {
    pub(crate) export: Export,
    /// Most bytes of one READ or WRITE.
    pub(crate) transfer_max: u32,
    pub(crate) replies: ReplyCache,
}

impl Volume {
    pub(crate) fn is_served_at(&self, endpoint: usize) -> bool {
        self.export.endpoints.as_ref().is_none_or(|served| served.contains(&endpoint))
    }
}

/// A number for a volume that is the same as long as its name is, so that handles survive a
/// restart of the service and a change of the order of volumes.
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
    /// Another has its name or its number; then nothing has changed.
    pub fn add(&mut self, export: Export) -> Result<VolumeIndex, ExportError> {
        let name = &export.name;
        let fits = (1..=NAME_BYTES_MAX).contains(&name.len()) && !name.contains(char::is_control);
        if !fits || name.starts_with('/') || name.ends_with('/') {
            return Err(ExportError::NoPath(export.name));
        }
        let root = export.files.root();
        for (_, other) in self.volumes() {
            if other.export.name == export.name {
                return Err(ExportError::NameTaken(export.name));
            }
            if other.export.files.root().fsid == root.fsid {
                let (name, other) = (export.name, other.export.name.clone());
                return Err(ExportError::NumberTaken { name, fsid: root.fsid, other });
            }
        }
        let number = u32::try_from(self.volumes.len()).expect("fewer volumes than fit memory");
        let transfer_max = export.files.fsinfo(root).map_or(0, |info| info.read_max);
        let replies = ReplyCache::new(CACHED_CALLS, CACHED_BYTES);
        self.volumes.push(Some(Volume { export, transfer_max, replies }));
        self.by_fsid.push((root.fsid, number));
        self.by_fsid.sort_unstable();
        Ok(VolumeIndex(number))
    }

    /// Takes a volume away; its handles are stale from now on.
    pub fn remove(&mut self, index: VolumeIndex) -> Option<Export> {
        let volume = self.volumes.get_mut(index.get())?.take()?;
        self.by_fsid.retain(|(_, number)| *number != index.0);
        Some(volume.export)
    }

    /// The volume of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<VolumeIndex> {
        self.volumes().find(|(_, volume)| volume.export.name == name).map(|(index, _)| index)
    }

    /// A volume.
    #[must_use]
    pub fn get(&self, index: VolumeIndex) -> Option<&Export> {
        self.volumes.get(index.get())?.as_ref().map(|volume| &volume.export)
    }

    /// A volume, to change its rules, its endpoints or its quota while clients use it; name and
    /// number of its file system must stay.
    pub fn get_mut(&mut self, index: VolumeIndex) -> Option<&mut Export> {
        self.volumes.get_mut(index.get())?.as_mut().map(|volume| &mut volume.export)
    }

    /// All volumes in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (VolumeIndex, &Export)> {
        self.volumes().map(|(index, volume)| (index, &volume.export))
    }

    /// The same, to change them.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (VolumeIndex, &mut Export)> {
        let all = self.volumes.iter_mut().zip(0..);
        all.filter_map(|(volume, number)| Some((VolumeIndex(number), &mut volume.as_mut()?.export)))
    }

    pub(crate) fn volumes(&self) -> impl Iterator<Item = (VolumeIndex, &Volume)> {
        let all = self.volumes.iter().zip(0..);
        all.filter_map(|(volume, number)| Some((VolumeIndex(number), volume.as_ref()?)))
    }

    /// Performs a request and writes its reply, record mark included, in the place of what was in
    /// `reply`. Never fails: what cannot be done is said in the reply.
    ///
    /// * `now` — for the times of what changes
    pub fn perform(
        &mut self,
        request: &Request<'_>,
        peer: &Peer,
        now: Time,
        reply: &mut Reply,
    ) -> Performed {
        reply.clear();
        match &request.arguments {
            Arguments::Nfs(NfsArguments::NULL(())) => {
                reply_with(reply.head(), request.xid, &());
                Performed::of(request)
            }
            Arguments::Nfs(arguments) => {
                procedures::perform(self, request, arguments, peer, now, reply)
            }
            Arguments::Mount(arguments) => {
                procedures::mount::perform(self, request, arguments, peer, reply)
            }
            Arguments::Portmap(arguments) => {
                procedures::portmap::perform(request, arguments, peer, reply)
            }
        }
    }

    /// The volume that a handle names, whether or not its object is still there.
    pub(crate) fn of_handle(&mut self, handle: Handle) -> Option<(VolumeIndex, &mut Volume)> {
        let at = match self.by_fsid[..] {
            // Mostly there is one volume.
            [(fsid, _)] if fsid == handle.fsid => 0,
            _ => self.by_fsid.binary_search_by_key(&handle.fsid, |(fsid, _)| *fsid).ok()?,
        };
        let number = self.by_fsid[at].1;
        let volume = self.volumes[number as usize].as_mut()?;
        Some((VolumeIndex(number), volume))
    }
}

impl Performed {
    /// Done, with nothing else to say.
    pub(crate) fn of(request: &Request<'_>) -> Performed {
        Performed {
            volume: None,
            procedure: request.arguments.procedure(),
            bytes: 0,
            failed: false,
            replayed: false,
            shortage: None,
        }
    }
}
