//! Why the tool will not touch a place, or not believe what lies there.
//!
//! Every refusal names the path, what was found, what to do about it and, where overriding is sane,
//! the one flag that overrides it. Nothing has been written when a refusal of
//! [`crate::directory::survey`] is returned.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use units::Bytes;

use crate::nfs::{NfsError, NfsFailure};
use crate::threads::ThreadError;

/// A refusal that the user may override, by a flag that says what is accepted. None of them lets
/// the tool write over something that it did not make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Override {
    /// Make the directory.
    Create,
    /// Work in a directory of our own beside files of others.
    AmongForeignFiles,
    /// The path is where a mount belongs, and none is there.
    NotAMount,
    /// Our directory was made on another file system.
    OtherFilesystem,
    /// The free space does not suffice.
    IgnoreFreeSpace,
    /// Our files are not as we left them: write them anew.
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

/// Which refusals the user overrides; none by default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// Why the tool does not go on with a path. The message says what was found; [`Refusal::remedy`]
/// says what to do.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// There is nothing at the path.
    #[error("`{}` does not exist", path.display())]
    Missing {
        /// The target as named.
        path: PathBuf,
    },
    /// There is not even a directory to make it in.
    #[error("`{}` does not exist, nor does the directory it would be made in", path.display())]
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
    /// The directory holds files of others and no directory of ours.
    #[error(
        "`{}`{} holds {}, for example `{example}`",
        path.display(),
        if *mount_root { ", the root of a mount," } else { "" },
        foreign_entries(*count)
    )]
    ForeignFiles {
        /// The target as named.
        path: PathBuf,
        /// How many entries.
        count: usize,
        /// The first of them by name.
        example: String,
        /// Whether a file system is mounted at the path.
        mount_root: bool,
    },
    /// A directory stands where ours would, but does not carry our mark.
    #[error("`{}` exists and is not marked as ours (no `.fourcorners` in it)", path.display())]
    Unmarked {
        /// Where our directory would be.
        path: PathBuf,
    },
    /// The volume that the user means is not mounted; the data would go to another disk.
    #[error(
        "nothing is mounted at `{}`{}, so `{}` lies on another file system than its name says",
        mount_point.display(),
        if *in_fstab { " although /etc/fstab lists it" } else { "" },
        path.display()
    )]
    MountMissing {
        /// The target as named.
        path: PathBuf,
        /// Where the mount belongs.
        mount_point: PathBuf,
        /// Whether /etc/fstab lists the mount point; otherwise it is a place for mounts by
        /// convention.
        in_fstab: bool,
    },
    /// Our mark was made on another file system: a copy, or a mount that changed.
    #[error(
        "`{}` was made on file system {marked}, but is now on file system {found}",
        path.display()
    )]
    OtherFilesystem {
        /// Our directory.
        path: PathBuf,
        /// The file system's identity when the directory was made.
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
        /// Space that the plan's files still need, with a reserve for the file system's own
        /// records.
        needed_bytes: u64,
        /// Space that this user may fill.
        free_bytes: u64,
    },
    /// Another process works in the directory.
    #[error(
        "`{}` is in use by another run{}",
        path.display(),
        holder.as_ref().map(|holder| format!(": {holder}")).unwrap_or_default()
    )]
    InUse {
        /// Our directory.
        path: PathBuf,
        /// Who holds it and when it was last heard of, where that is known.
        holder: Option<Holder>,
    },
    /// Another process took over the directory that we worked in.
    #[error(
        "the lock of `{}` was lost: {}",
        path.display(),
        match holder {
            Some(holder) => format!("it is held by {holder}"),
            None => "somebody removed it".to_owned(),
        }
    )]
    TakenOver {
        /// Our directory.
        path: PathBuf,
        /// Who holds it now, if anybody.
        holder: Option<Holder>,
    },
    /// The export cannot be reached or mounted, or has no such folder.
    #[error("mount `{}`: {source}", path.display())]
    NoExport {
        /// The target as named, without options.
        path: PathBuf,
        /// The procedure that was not done.
        source: Box<NfsError>,
    },
    /// The manifest cannot be read as one.
    #[error("`{}` cannot be understood: {reason}", path.display())]
    ManifestDamaged {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The manifest was written by a newer version of the tool.
    #[error("`{}` has version {found}; this tool knows up to {known}", path.display())]
    ManifestNewer {
        /// The manifest.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The newest that is known here.
        known: u32,
    },
    /// There is nothing of ours to clean.
    #[error("`{}` is not marked as ours (no `.fourcorners` in it)", path.display())]
    NothingOfOurs {
        /// The path as named.
        path: PathBuf,
    },
    /// A file that we did not make has a name that we need.
    #[error("`{}` is in the way: it is not listed in the manifest, so it is not \
             ours", path.display())]
    ForeignFile {
        /// The file.
        path: PathBuf,
    },
    /// Another file stands under the name of ours.
    #[error("`{}` is not the file that we made: another one was put in its place", path.display())]
    Replaced {
        /// The file.
        path: PathBuf,
    },
    /// A file of ours was there when the run began, and is not there any more.
    #[error("`{}` is gone: somebody removed it during the run", path.display())]
    Gone {
        /// The file.
        path: PathBuf,
    },
    /// Something else than a file of our own stands where our file was.
    #[error("`{}` is {found}, not a regular file of ours", path.display())]
    NotARegularFile {
        /// What stands in its place.
        path: PathBuf,
        /// What it is, in words.
        found: &'static str,
    },
    /// The file is not as long as we made it.
    #[error(
        "`{}` has {found_bytes} bytes, but was written with {expected_bytes}",
        path.display()
    )]
    WrongSize {
        /// The file.
        path: PathBuf,
        /// Its size by the manifest.
        expected_bytes: u64,
        /// Its size.
        found_bytes: u64,
    },
    /// The file is sparse or preallocated: a read there would not reach the storage.
    #[error(
        "`{}` has never been written at offset {offset_bytes}: a hole or a preallocated extent",
        path.display()
    )]
    Unwritten {
        /// The file.
        path: PathBuf,
        /// The first byte of the hole.
        offset_bytes: u64,
    },
    /// Zeroes: storage may answer them from metadata alone.
    #[error("`{}` holds only zeroes at offset {offset_bytes}", path.display())]
    Zero {
        /// The file.
        path: PathBuf,
        /// Where.
        offset_bytes: u64,
    },
    /// The content is not what we wrote.
    #[error("`{}` does not hold our data at offset {offset_bytes}: {found}", path.display())]
    NotOurData {
        /// The file.
        path: PathBuf,
        /// Where.
        offset_bytes: u64,
        /// What was found, in words.
        found: String,
    },
    /// Direct I/O was asked for and is not to be had.
    #[error("`{}` ({filesystem}) does not support direct I/O: {reason}", path.display())]
    NoDirectIo {
        /// Our directory.
        path: PathBuf,
        /// The file system's name.
        filesystem: String,
        /// What the kernel said.
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
        /// The multiple that is possible.
        needed_bytes: u64,
        /// The plan's smallest direct transfer size.
        smallest_bytes: u64,
    },
    /// A directory was refused while it was made, and what was made of it could not be removed.
    #[error("{cause}; what was made before is left behind: {left}")]
    LeftBehind {
        /// Why it was refused.
        cause: Box<Refusal>,
        /// Why something is left.
        left: Box<Refusal>,
    },
    /// The kernel refused something on the way.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// What was being done: `make directory`.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
}

/// A process that works in a directory, by the lease that it holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// The machine that it is on, by its own word.
    pub host: String,
    /// Its number there.
    pub process: u32,
    /// How long ago it last gave a sign of life, by the server's clock, in seconds.
    pub silent_seconds: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Holder { host, process, silent_seconds } = self;
        write!(f, "process {process} on {host}, last heard of {silent_seconds} s ago")
    }
}

impl Refusal {
    pub(crate) fn io(action: &'static str, path: &Path, source: impl Into<io::Error>) -> Self {
        Refusal::Io { action, path: path.to_path_buf(), source: source.into() }
    }

    /// Whether the user ended it while a server did not answer; nothing is wrong with the target.
    pub fn is_interrupted(&self) -> bool {
        match self {
            Refusal::Io { source, .. } => source.kind() == io::ErrorKind::Interrupted,
            Refusal::NoExport { source, .. } => matches!(source.failure, NfsFailure::Cancelled),
            Refusal::LeftBehind { cause, .. } => cause.is_interrupted(),
            _ => false,
        }
    }

    /// The flag that overrides it, where overriding is sane.
    pub const fn overridden_by(&self) -> Option<Override> {
        match self {
            Refusal::LeftBehind { cause, .. } => cause.overridden_by(),
            Refusal::Missing { .. } => Some(Override::Create),
            Refusal::ForeignFiles { .. } => Some(Override::AmongForeignFiles),
            Refusal::MountMissing { .. } => Some(Override::NotAMount),
            Refusal::OtherFilesystem { .. } => Some(Override::OtherFilesystem),
            Refusal::TooLittleSpace { .. } => Some(Override::IgnoreFreeSpace),
            Refusal::WrongSize { .. }
            | Refusal::Unwritten { .. }
            | Refusal::Zero { .. }
            | Refusal::NotOurData { .. } => Some(Override::Refill),
            _ => None,
        }
    }

    /// What to do about it, with the flag that overrides it if there is one.
    pub fn remedy(&self) -> String {
        let advice: &str = match self {
            Refusal::Missing { .. } => {
                "check the path, mount the volume, or let the directory be made"
            }
            Refusal::NoParent { .. } => "check the path, or make its parent directory",
            Refusal::BlockDevice { .. } => {
                "make a file system on the device, mount it, and name a directory in it"
            }
            Refusal::NotADirectory { .. } => "name a directory",
            Refusal::ForeignFiles { .. } => {
                "name an empty directory, or accept that `fourcorners/` is made beside these \
                 files; they are not touched, but share the space and the load"
            }
            Refusal::Unmarked { .. } => "rename or remove it, or name another directory",
            Refusal::MountMissing { .. } => {
                "mount the volume, or say that the underlying file system is meant"
            }
            Refusal::OtherFilesystem { .. } => {
                "mount the right volume, `fourcorners clean` the directory and run again, or \
                 accept the copy"
            }
            Refusal::ReadOnly { path, .. } if path.starts_with("nfs:") => {
                "let the export's rules allow this host to write, or name another export"
            }
            Refusal::ReadOnly { .. } => "remount it read-write, or name another directory",
            Refusal::TooLittleSpace { .. } => {
                "free some space, use a smaller working set (`--set file_size=...`), or try anyway"
            }
            Refusal::InUse { holder: None, .. } => {
                "wait for the other run, or name another directory"
            }
            Refusal::InUse { holder: Some(_), .. } => {
                "wait for the other run, or name another directory; one that died is taken for \
                 gone 30 s after its last sign of life"
            }
            Refusal::NoExport { .. } => {
                "check host, port and path, that the server runs, and that its rules allow this \
                 host; where no portmapper (port 111) answers, give both `port=` and `mountport=`"
            }
            Refusal::TakenOver { .. } => {
                "find out why this process was not heard of for more than 30 s (stopped, or cut \
                 off from the server), wait for the other run, and run again"
            }
            Refusal::ManifestDamaged { .. } => {
                "look at the directory yourself; if everything in it may go, remove it by hand"
            }
            Refusal::ManifestNewer { .. } => "use the newer version of fourcorners",
            Refusal::NothingOfOurs { .. } => "name a directory that a run was made in",
            Refusal::ForeignFile { .. } => "move the file elsewhere",
            Refusal::Replaced { .. } => {
                "move it away, it is not touched; then run again, and ours is written anew"
            }
            Refusal::LeftBehind { cause, .. } => return cause.remedy(),
            Refusal::Gone { .. } | Refusal::NotARegularFile { .. } => {
                "find out who put it there, remove it, and run again"
            }
            Refusal::WrongSize { .. }
            | Refusal::Unwritten { .. }
            | Refusal::Zero { .. }
            | Refusal::NotOurData { .. } => {
                "`fourcorners clean` the directory and run again, or have the file written anew"
            }
            Refusal::NoDirectIo { .. } => {
                "measure with buffered I/O: `--buffered`, or `direct = false` in the experiment"
            }
            Refusal::DirectAlignment { .. } => {
                "use larger transfers, or buffered I/O: `--buffered`, or `direct = false` in the \
                 experiment"
            }
            Refusal::Io { source, .. }
                if source.get_ref().is_some_and(|cause| cause.is::<ThreadError>()) =>
            {
                "raise the limit, or end other programs of this user or container"
            }
            Refusal::Io { path, source, .. } => match source.kind() {
                io::ErrorKind::StaleNetworkFileHandle => {
                    "look at the server: it was removed or replaced there while we worked, or the \
                     volume was taken away; then run again"
                }
                io::ErrorKind::TimedOut => "look at the server and at the network to it",
                io::ErrorKind::PermissionDenied if path.starts_with("nfs:") => {
                    "check the permissions on the server and the export's rules; `uid=` and \
                     `gid=` in the URL say who asks"
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
