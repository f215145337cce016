//! Why the tool refuses to use a target or does not trust its files.
//!
//! Every refusal names the path, what was found, what to do about it and, if overriding is safe,
//! the flag that overrides it. When [`crate::survey::survey`] returns a refusal, nothing was
//! written.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use units::Bytes;

use crate::nfs::{NfsError, NfsFailure};
use crate::threads::ThreadError;

/// A refusal that the user may override, by a flag that names what is accepted. None allows the
/// tool to overwrite files that it did not create.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Override {
    /// Create the directory.
    Create,
    /// Create our directory among files of others.
    AmongForeignFiles,
    /// The path is a mount point without a mount.
    NotAMount,
    /// Our directory was created on another file system.
    OtherFilesystem,
    /// The free space is too small.
    IgnoreFreeSpace,
    /// Our files are not as we wrote them: write them again.
    Refill,
}

impl Override {
    /// All of them.
    pub const ALL: [Override; 6] = [
        Override::Create,
        Override::AmongForeignFiles,
        Override::NotAMount,
        Override::OtherFilesystem,
        Override::IgnoreFreeSpace,
        Override::Refill,
    ];

    /// The flag on the command line.
    pub const fn flag(self) -> &'static str {
        match self {
            Override::Create => "--create",
            Override::AmongForeignFiles => "--among-foreign-files",
            Override::NotAMount => "--not-a-mount",
            Override::OtherFilesystem => "--other-filesystem",
            Override::IgnoreFreeSpace => "--ignore-free-space",
            Override::Refill => "--refill",
        }
    }
}

/// Which refusals the user overrides; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overrides {
    /// See [`Override::Create`].
    pub create: bool,
    /// See [`Override::AmongForeignFiles`].
    pub among_foreign_files: bool,
    /// See [`Override::NotAMount`].
    pub not_a_mount: bool,
    /// See [`Override::OtherFilesystem`].
    pub other_filesystem: bool,
    /// See [`Override::IgnoreFreeSpace`].
    pub ignore_free_space: bool,
    /// See [`Override::Refill`].
    pub refill: bool,
}

/// Why the tool refuses a path. The message states what was found; [`Refusal::remedy`] states what
/// to do.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is nothing at the path.
    #[error("`{}` does not exist", path.display())]
    Missing {
        /// The target as named.
        path: PathBuf,
    },
    /// The directory is not the one that the first host of a fleet has claimed.
    #[error("`{}` is not the directory that the first host uses at this path", path.display())]
    OtherDirectory {
        /// The directory on this host.
        path: PathBuf,
    },
    /// Neither the path nor its parent directory exists.
    #[error("`{}` does not exist, nor does its parent directory", path.display())]
    NoParent {
        /// The target as named.
        path: PathBuf,
    },
    /// A block device would be overwritten.
    #[error("`{}` is a block device, not a directory", path.display())]
    BlockDevice {
        /// The target as named.
        path: PathBuf,
    },
    /// A file, a socket, or the like.
    #[error("`{}` is not a directory", path.display())]
    NotADirectory {
        /// The target as named.
        path: PathBuf,
    },
    /// The directory contains other files and none of our directories.
    #[error(
        "`{}`{} contains {}, for example `{example}`",
        path.display(),
        if *mount_root { ", the root of a mount," } else { "" },
        foreign_entries(*count)
    )]
    ForeignFiles {
        /// The target as named.
        path: PathBuf,
        /// Number of entries.
        count: usize,
        /// The first of them by name.
        example: String,
        /// Whether a file system is mounted at the path.
        mount_root: bool,
    },
    /// A directory with our name exists but does not carry our mark.
    #[error(
        "`{}` exists but fourcorners did not create it (no `.fourcorners` in it)",
        path.display()
    )]
    Unmarked {
        /// The path of our directory.
        path: PathBuf,
    },
    /// The user's volume is not mounted; the data would go to the underlying file system.
    #[error(
        "nothing is mounted at `{}`{}, so `{}` is on the underlying file system",
        mount_point.display(),
        if *in_fstab { " although /etc/fstab lists it" } else { "" },
        path.display()
    )]
    MountMissing {
        /// The target as named.
        path: PathBuf,
        /// The expected mount point.
        mount_point: PathBuf,
        /// Whether /etc/fstab lists the mount point; otherwise it is one by convention (`/mnt`).
        in_fstab: bool,
    },
    /// Our mark was made on another file system: the directory was copied, or the mount changed.
    #[error(
        "`{}` was created on file system {marked}, but is now on file system {found}",
        path.display()
    )]
    OtherFilesystem {
        /// Our directory.
        path: PathBuf,
        /// The file system's identity when the directory was created.
        marked: String,
        /// Its identity now.
        found: String,
    },
    /// The file system is mounted read-only.
    #[error("`{}` is on a read-only file system", path.display())]
    ReadOnly {
        /// The target as named.
        path: PathBuf,
    },
    /// The plan does not fit.
    #[error(
        "`{}` has {} free, but the plan needs {}",
        path.display(), Bytes::new(*free_bytes), Bytes::new(*needed_bytes)
    )]
    TooLittleSpace {
        /// The target as named.
        path: PathBuf,
        /// Space that the plan's files still need, with a reserve for the file system's metadata.
        needed_bytes: u64,
        /// Space available to this user.
        free_bytes: u64,
    },
    /// Another process uses the directory.
    #[error(
        "`{}` is in use by another run{}",
        path.display(),
        holder.as_ref().map(|holder| format!(": {holder}")).unwrap_or_default()
    )]
    InUse {
        /// Our directory.
        path: PathBuf,
        /// The holder of the lock, if known.
        holder: Option<Holder>,
    },
    /// Another process took over the directory during the run.
    #[error(
        "the lock of `{}` was lost: {}",
        path.display(),
        match holder {
            Some(holder) => format!("it is held by {holder}"),
            None => "it was removed".to_owned(),
        }
    )]
    TakenOver {
        /// Our directory.
        path: PathBuf,
        /// The present holder, if any.
        holder: Option<Holder>,
    },
    /// The export cannot be reached or mounted, or does not have the folder.
    #[error("mount `{}`: {source}", path.display())]
    NoExport {
        /// The target as named, without options.
        path: PathBuf,
        /// The failed procedure.
        source: Box<NfsError>,
    },
    /// The manifest cannot be parsed.
    #[error("`{}` is not a valid manifest: {reason}", path.display())]
    ManifestDamaged {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The manifest was written by a newer version of the tool.
    #[error(
        "`{}` has version {found}; this version of fourcorners supports up to {known}",
        path.display()
    )]
    ManifestNewer {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest supported version.
        known: u32,
    },
    /// `clean` found none of our directories.
    #[error("`{}` was not created by fourcorners (no `.fourcorners` in it)", path.display())]
    NothingToClean {
        /// The path as named.
        path: PathBuf,
    },
    /// A file that we did not create has the name of one of our files.
    #[error(
        "`{}` is not listed in the manifest, so fourcorners did not create it",
        path.display()
    )]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// One of our trees contains what none of its operations created.
    #[error("`{}` is {found}, which fourcorners did not create", path.display())]
    ForeignInTree {
        /// The path.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// The directory has a tree of the same stream with another shape or content.
    #[error("`{}` is a tree of another plan", path.display())]
    OtherTree {
        /// The tree.
        path: PathBuf,
    },
    /// The file system has too few inodes for the plan's trees.
    #[error(
        "`{}` has {} free inodes, but the plan needs {}",
        path.display(), units::thousands(*free), units::thousands(*needed)
    )]
    TooFewInodes {
        /// The target as named.
        path: PathBuf,
        /// Files, links and directories that the plan needs in addition to those that exist.
        needed: u64,
        /// Free inodes.
        free: u64,
    },
    /// Our file was replaced by another with its name.
    #[error("`{}` is not the file that fourcorners created: it was replaced", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// Our file was removed during the run.
    #[error("`{}` was removed during the run", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// The name of our file is taken by something else.
    #[error("`{}` is {found}, not the file that fourcorners created", path.display())]
    NotARegularFile {
        /// The path.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// The file does not have the size that we wrote.
    #[error(
        "`{}` has {found_bytes} bytes, but was written with {expected_bytes}",
        path.display()
    )]
    WrongSize {
        /// The file.
        path: PathBuf,
        /// Its size according to the manifest.
        expected_bytes: u64,
        /// Its size.
        found_bytes: u64,
    },
    /// The file is sparse or preallocated: reads would not reach the storage.
    #[error(
        "`{}` was never written at offset {offset_bytes}: it has a hole or a preallocated extent",
        path.display()
    )]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// The first byte of the hole.
        offset_bytes: u64,
    },
    /// Zeroes, which storage may serve from metadata.
    #[error("`{}` contains only zeroes at offset {offset_bytes}", path.display())]
    Zero {
        /// The file.
        path: PathBuf,
        /// The first byte of the tile.
        offset_bytes: u64,
    },
    /// The content is not what we wrote.
    #[error("`{}` does not contain our data at offset {offset_bytes}: {found}", path.display())]
    NotOurData {
        /// The file.
        path: PathBuf,
        /// The first byte of the tile.
        offset_bytes: u64,
        /// What was found, in words.
        found: String,
    },
    /// The plan reads files that another host wrote, and this one was not written by the host that
    /// fills it.
    #[error(
        "`{}` was filled by {}, but the plan needs it filled by {expected}, so that each host reads \
         files of others",
        path.display(),
        filled_by.as_deref().unwrap_or("an unknown host")
    )]
    OtherWriter {
        /// The file.
        path: PathBuf,
        /// The host that wrote it, if that is known.
        filled_by: Option<String>,
        /// The host that fills it.
        expected: String,
    },
    /// Direct I/O is required and not supported.
    #[error("`{}` ({filesystem}) does not support direct I/O: {reason}", path.display())]
    NoDirectIo {
        /// Our directory.
        path: PathBuf,
        /// The file system's name.
        filesystem: String,
        /// The reason, from the kernel.
        reason: String,
    },
    /// Direct transfers of this size are not possible on this file system.
    #[error(
        "`{}` ({filesystem}) allows direct I/O in multiples of {needed_bytes} bytes, but the plan \
         has transfers of {smallest_bytes}",
        path.display()
    )]
    DirectAlignment {
        /// Our directory.
        path: PathBuf,
        /// The file system's name.
        filesystem: String,
        /// The required multiple.
        needed_bytes: u64,
        /// The plan's smallest direct transfer size.
        smallest_bytes: u64,
    },
    /// Creating the directory was refused, and the unfinished directory could not be removed.
    #[error("{cause}; what was already created could not be removed: {left}")]
    LeftBehind {
        /// Why it was refused.
        cause: Box<Refusal>,
        /// Why it could not be removed.
        left: Box<Refusal>,
    },
    /// A refusal on another host, in words.
    #[error("{host}: {reason}")]
    OnHost {
        /// The host's name.
        host: String,
        /// What was found.
        reason: String,
        /// What to do about it, with the flag that overrides it.
        remedy: String,
        /// What overrides it.
        overridden_by: Option<Override>,
    },
    /// A system call failed.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// The failed action: `make directory`.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
}

/// The process that holds a lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Its host name.
    pub host: String,
    /// Its process number there.
    pub process: u32,
    /// Time since it last renewed the lease, by the server's clock, in seconds; `None` if the kernel
    /// keeps the lock, which is then not renewed.
    pub silent_seconds: Option<u64>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holder { host, process, silent_seconds } = self;
        write!(f, "process {process} on {host}")?;
        match silent_seconds {
            Some(seconds) => write!(f, ", last renewed {seconds} s ago"),
            None => Ok(()),
        }
    }
}

impl Refusal {
    pub(crate) fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Refusal::Io { action, path: path.to_path_buf(), source: source.into() }
    }

    /// Whether the target has no space left, or a quota is used up: the target failed, whatever was
    /// given to the program.
    pub fn is_storage_full(&self) -> bool {
        match self {
            Refusal::Io { source, .. } => {
                matches!(source.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
            }
            _ => false,
        }
    }

    /// Whether the user cancelled it while a server did not reply; nothing is wrong with the
    /// target.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Refusal::Io { source, .. } => source.kind() == io::ErrorKind::Interrupted,
            Refusal::NoExport { source, .. } => matches!(source.failure, NfsFailure::Cancelled),
            Refusal::LeftBehind { cause, .. } => cause.is_interrupted(),
            _ => false,
        }
    }

    /// The flag that overrides it, if that is safe.
    pub const fn overridden_by(&self) -> Option<Override> {
        match self {
            Refusal::LeftBehind { cause, .. } => cause.overridden_by(),
            Refusal::OnHost { overridden_by, .. } => *overridden_by,
            Refusal::Missing { .. } => Some(Override::Create),
            Refusal::ForeignFiles { .. } => Some(Override::AmongForeignFiles),
            Refusal::MountMissing { .. } => Some(Override::NotAMount),
            Refusal::OtherFilesystem { .. } => Some(Override::OtherFilesystem),
            Refusal::TooLittleSpace { .. } | Refusal::TooFewInodes { .. } => {
                Some(Override::IgnoreFreeSpace)
            }
            Refusal::WrongSize { .. }
            | Refusal::Unwritten { .. }
            | Refusal::Zero { .. }
            | Refusal::NotOurData { .. }
            | Refusal::OtherTree { .. }
            | Refusal::OtherWriter { .. } => Some(Override::Refill),
            _ => None,
        }
    }

    /// What to do about it, with the flag that overrides it if there is one.
    pub fn remedy(&self) -> String {
        let advice: &str = match self {
            Refusal::Missing { .. } => {
                "check the path, mount the volume, or have the directory created"
            }
            Refusal::OtherDirectory { .. } => {
                "mount the same volume on all hosts; `fourcorners check --hosts` compares their mounts"
            }
            Refusal::NoParent { .. } => "check the path, or create its parent directory",
            Refusal::BlockDevice { .. } => {
                "create a file system on the device, mount it, and name a directory in it"
            }
            Refusal::NotADirectory { .. } => "name a directory",
            Refusal::ForeignFiles { .. } => {
                "name an empty directory, or have `fourcorners/` created next to these files; \
                 they are not touched, but share the space and the load"
            }
            Refusal::Unmarked { .. } => "rename or remove it, or name another directory",
            Refusal::MountMissing { .. } => {
                "mount the volume, or confirm that the underlying file system is intended"
            }
            Refusal::OtherFilesystem { .. } => {
                "mount the right volume, run `fourcorners clean` on the directory and run again, \
                 or accept the copy"
            }
            Refusal::ReadOnly { path, .. } if path.starts_with("nfs:") => {
                "allow this host to write in the export's rules, or name another export"
            }
            Refusal::ReadOnly { .. } => "remount it read-write, or name another directory",
            Refusal::TooLittleSpace { .. } => {
                "free some space, use a smaller working set (`--set file_size=...`), or try anyway"
            }
            Refusal::InUse { holder: None | Some(Holder { silent_seconds: None, .. }), .. } => {
                "wait for the other run, or name another directory"
            }
            Refusal::InUse { holder: Some(_), .. } => {
                "wait for the other run, or name another directory; if that run was killed, its \
                 lock expires 30 s after it was last renewed"
            }
            Refusal::NoExport { .. } => {
                "check host, port and path, that the server runs, and that its export rules allow \
                 this host; if no portmapper (port 111) replies, give both `port=` and \
                 `mountport=`"
            }
            Refusal::TakenOver { .. } => {
                "find out why this process did not renew its lock for more than 30 s (stopped, or \
                 cut off from the server), wait for the other run, and run again"
            }
            Refusal::ManifestDamaged { .. } => {
                "inspect the directory; if nothing in it is needed, remove it by hand"
            }
            Refusal::ManifestNewer { .. } => "use the newer version of fourcorners",
            Refusal::NothingToClean { .. } => "name a directory that a run has used",
            Refusal::ForeignFile { .. } | Refusal::ForeignInTree { .. } => "move it elsewhere",
            Refusal::OtherTree { .. } => {
                "run `fourcorners clean` on the directory, or have the tree replaced"
            }
            Refusal::TooFewInodes { .. } => {
                "name a file system with more inodes, use fewer files (`names.files`), or try anyway"
            }
            Refusal::Replaced { .. } => {
                "move it away (it was not changed) and run again; our file is then written again"
            }
            Refusal::LeftBehind { cause, .. } => return cause.remedy(),
            Refusal::OnHost { remedy, .. } => return remedy.clone(),
            Refusal::Gone { .. } => "find out what removed it, and run again",
            Refusal::NotARegularFile { .. } => "find out what created it, remove it, and run again",
            Refusal::WrongSize { .. }
            | Refusal::Unwritten { .. }
            | Refusal::Zero { .. }
            | Refusal::NotOurData { .. } => {
                "run `fourcorners clean` on the directory and run again, or have the file written \
                 again"
            }
            Refusal::OtherWriter { .. } => {
                "name the hosts that filled the files, in the same order, or have them written again"
            }
            Refusal::NoDirectIo { .. } => {
                "use buffered I/O: `--buffered`, or `direct = false` in the experiment"
            }
            Refusal::DirectAlignment { .. } => {
                "use larger transfers, or buffered I/O: `--buffered`, or `direct = false` in the \
                 experiment"
            }
            Refusal::Io { source, .. }
                if source.get_ref().is_some_and(|cause| cause.is::<ThreadError>()) =>
            {
                "raise the limit, or stop other programs of this user or container"
            }
            Refusal::Io { path, source, .. } => match source.kind() {
                io::ErrorKind::StaleNetworkFileHandle => {
                    "check the server: the file was removed or replaced there during the run, or the \
                 volume was removed; then run again"
                }
                io::ErrorKind::TimedOut => "check the server and the network to it",
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free some space or raise the quota; `fourcorners clean` on the directory removes \
                     what was written"
                }
                io::ErrorKind::PermissionDenied if path.starts_with("nfs:") => {
                    "check the permissions on the server and the export's rules; `uid=` and \
                     `gid=` in the URL set the caller"
                }
                _ => "check the path and its permissions",
            },
        };
        match self.overridden_by() {
            Some(by) => format!("{advice} (`{}`)", by.flag()),
            None => advice.to_owned(),
        }
    }
}

fn foreign_entries(count: usize) -> String {
    match count {
        1 => "an entry that is not ours".to_owned(),
        count => format!("{count} entries that are not ours"),
    }
}
