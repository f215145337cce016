//! One operation on names as blocking system calls: what [`super::PsyncNames`] performs itself and
//! [`super::RingNames`] leaves to its helper threads.

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    Access, AtFlags, Mode, OFlags, RawDir, SeekFrom, StatxFlags, Timespec, Timestamps, UTIME_NOW,
};
use rustix::io::Errno;
use workload::names::{Name, NameOp, NameStream, NameTree};
use workload::op::{Op, OpKind};

use super::directories::{Directories, Held};
use crate::TargetError;
use crate::names::content::WrongByte;
use crate::names::{NameAccess, NameWork};

/// Permission bits of new files.
const FILE_MODE: Mode = Mode::from_raw_mode(0o644);
/// Permission bits of new directories.
const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);
/// How often a call is repeated after EINTR: signals must not stall it forever.
const INTERRUPTED_TRIES_MAX: u32 = 100;

/// Bytes of a listing that are read with one call: what the C library uses.
const LISTING_BYTES: usize = 32 << 10;

/// Performs operations on the names of a tree.
#[derive(Debug)]
pub(super) struct NameCalls {
    work: NameWork,
    directories: Directories,
    /// The path of a directory that is opened.
    path: String,
    /// In the parts of the last operation that are no longer in its buffer.
    wrong: Option<WrongByte>,
}

/// Writes the path of directory `number`, relative to the tree's root.
pub(super) fn directory_path<'p>(tree: &NameTree, number: u64, path: &'p mut String) -> &'p CStr {
    path.clear();
    tree.push_directory_path(tree.depth(), number, path);
    if path.is_empty() {
        path.push('.');
    }
    path.push('\0');
    CStr::from_bytes_until_nul(path.as_bytes()).unwrap_or(c".")
}

/// Room for the path of a directory, so that it is not allocated later.
pub(super) fn path_room() -> String {
    String::with_capacity(1024)
}

impl NameCalls {
    /// Opens the tree of `access`; `directories` of its directories stay open.
    pub(super) fn open(access: &NameAccess, directories: usize) -> Result<NameCalls, TargetError> {
        let root = super::open_root_of(&access.root)?;
        Ok(NameCalls {
            work: access.work.clone(),
            directories: Directories::new(root, directories, 2),
            path: path_room(),
            wrong: None,
        })
    }

    /// The operation with the number of `op`.
    #[inline]
    pub(super) fn operation(&self, op: &Op) -> NameOp {
        self.work.stream.at(op.index)
    }

    /// Performs an operation with `data` as its buffer. Returns the bytes moved, or a negative error
    /// number.
    pub(super) fn perform(&mut self, op: &NameOp, data: &mut [u8]) -> i32 {
        self.wrong = None;
        let mut result = self.attempt(op, data);
        for _ in 0..INTERRUPTED_TRIES_MAX {
            if result != Err(Errno::INTR) {
                break;
            }
            result = self.attempt(op, data);
        }
        match result {
            Ok(bytes) => bytes as i32,
            Err(errno) => -errno.raw_os_error(),
        }
    }

    /// The first wrong byte that the last operation read, in parts that are no longer in its buffer.
    pub(super) fn wrong_byte(&self) -> Option<WrongByte> {
        self.wrong
    }

    fn hold(&mut self, name: Name) -> Result<Held, Errno> {
        let NameCalls { work, directories, path, .. } = self;
        let tree = work.stream.tree();
        let number = tree.directory(name);
        directories.hold(number, || directory_path(tree, number, path))
    }

    fn attempt(&mut self, op: &NameOp, data: &mut [u8]) -> Result<u32, Errno> {
        if op.kind == OpKind::Statfs {
            return rustix::fs::fstatfs(self.directories.root()).map(|_| 0);
        }
        let first = self.hold(op.name)?;
        let second = match op.other {
            // The text of a link is a leaf; its directory does not matter.
            Some(other) if !matches!(op.kind, OpKind::Symlink | OpKind::Readlink) => {
                match self.hold(other) {
                    Ok(held) => Some(held),
                    Err(errno) => {
                        self.directories.release(first);
                        return Err(errno);
                    }
                }
            }
            _ => None,
        };
        let directory = self.directories.descriptor(first);
        let other = second.map_or(directory, |held| self.directories.descriptor(held));
        let calls = Calls { work: &self.work, op, directory, other };
        let result = calls.perform(data, &mut self.wrong);
        self.directories.release(first);
        if let Some(second) = second {
            self.directories.release(second);
        }
        result
    }
}

/// One operation with its open directories.
struct Calls<'a> {
    work: &'a NameWork,
    op: &'a NameOp,
    directory: BorrowedFd<'a>,
    other: BorrowedFd<'a>,
}

impl Calls<'_> {
    /// Performs it. `wrong` gets the first wrong byte of a part that does not remain in `data`.
    fn perform(&self, data: &mut [u8], wrong: &mut Option<WrongByte>) -> Result<u32, Errno> {
        let (op, directory) = (self.op, self.directory);
        let tree = self.stream().tree();
        let leaf = tree.leaf(op.name);
        let name = leaf.as_bytes();
        let other_leaf = op.other.map(|other| tree.leaf(other));
        let other = other_leaf.as_ref().map_or(&b""[..], |leaf| leaf.as_bytes());
        match op.kind {
            OpKind::Create => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                self.write(&self.open(directory, name, flags)?, data)
            }
            OpKind::WriteFile => {
                let flags = OFlags::WRONLY | OFlags::TRUNC;
                self.write(&self.open(directory, name, flags)?, data)
            }
            OpKind::Append => {
                let flags = OFlags::WRONLY | OFlags::APPEND;
                self.write(&self.open(directory, name, flags)?, data)
            }
            OpKind::Open => self.open(directory, name, OFlags::RDONLY).map(|_| 0),
            OpKind::ReadFile => {
                let file = self.open(directory, name, OFlags::RDONLY)?;
                read_all(&file, op.size_bytes, data, &mut |offset, part| {
                    self.work.verify_part(op, offset, part, wrong);
                    Ok(())
                })
            }
            OpKind::Copy => {
                let from = self.open(directory, name, OFlags::RDONLY)?;
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
                let to = self.open(self.other, other, flags)?;
                read_all(&from, op.size_bytes, data, &mut |offset, part| {
                    write_all(&to, part, Some(offset))
                })
            }
            OpKind::Truncate => {
                let file = self.open(directory, name, OFlags::WRONLY)?;
                rustix::fs::ftruncate(&file, op.offset_bytes).map(|()| 0)
            }
            OpKind::Unlink => rustix::fs::unlinkat(directory, name, AtFlags::empty()).map(|()| 0),
            OpKind::Rename => rustix::fs::renameat(directory, name, self.other, other).map(|()| 0),
            OpKind::Link => {
                let flags = AtFlags::empty();
                rustix::fs::linkat(directory, name, self.other, other, flags).map(|()| 0)
            }
            OpKind::Symlink => rustix::fs::symlinkat(other, directory, name).map(|()| 0),
            OpKind::Readlink => {
                let length = rustix::fs::readlinkat_raw(directory, name, &mut *data)?;
                if data[..length] == *other { Ok(0) } else { Err(Errno::BADMSG) }
            }
            OpKind::Mkdir => rustix::fs::mkdirat(directory, name, DIRECTORY_MODE).map(|()| 0),
            OpKind::Rmdir => rustix::fs::unlinkat(directory, name, AtFlags::REMOVEDIR).map(|()| 0),
            OpKind::Readdir => list(directory, false),
            OpKind::Readdirplus => list(directory, true),
            OpKind::Stat => attributes(directory, name, true),
            OpKind::Lookup => attributes(directory, name, false),
            OpKind::LookupMissing => match attributes(directory, name, false) {
                Err(Errno::NOENT) => Ok(0),
                Ok(_) => Err(Errno::EXIST),
                Err(errno) => Err(errno),
            },
            OpKind::Access => {
                rustix::fs::accessat(directory, name, Access::READ_OK, AtFlags::empty()).map(|()| 0)
            }
            OpKind::Setattr => {
                let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
                let times = Timestamps { last_access: now, last_modification: now };
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                rustix::fs::utimensat(directory, name, &times, flags).map(|()| 0)
            }
            OpKind::Statfs | OpKind::Read | OpKind::Write | OpKind::Fsync => Err(Errno::INVAL),
        }
    }

    fn stream(&self) -> &NameStream {
        &self.work.stream
    }

    /// Opens a file. A link in place of a file would lead out of the tree.
    fn open(&self, directory: BorrowedFd<'_>, name: &[u8], how: OFlags) -> Result<OwnedFd, Errno> {
        let flags = how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(directory, name, flags, FILE_MODE)
    }

    /// Writes the operation's content; its first part is in `data` already.
    fn write(&self, file: &OwnedFd, data: &mut [u8]) -> Result<u32, Errno> {
        let op = self.op;
        // An append continues at the end of the file, wherever that is.
        let at_end = op.kind == OpKind::Append;
        let mut done = 0;
        while done < op.size_bytes {
            let part = (data.len() as u32).min(op.size_bytes - done) as usize;
            if done > 0 {
                let offset = op.offset_bytes + u64::from(done);
                self.work.content.fill(op.content, offset, &mut data[..part]);
            }
            let offset = (!at_end).then_some(u64::from(done));
            write_all(file, &data[..part], offset)?;
            done += part as u32;
        }
        Ok(done)
    }
}

/// Writes all bytes, at an offset or at the end of the file.
fn write_all(file: &OwnedFd, mut bytes: &[u8], offset: Option<u64>) -> Result<(), Errno> {
    let mut offset = offset;
    while !bytes.is_empty() {
        let written = match offset {
            Some(offset) => rustix::io::pwrite(file, bytes, offset),
            None => rustix::io::write(file, bytes),
        };
        match written {
            Ok(0) => return Err(Errno::IO),
            Ok(count) => {
                bytes = &bytes[count..];
                offset = offset.map(|offset| offset + count as u64);
            }
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
    Ok(())
}

/// Takes the offset and the bytes of a part of a file.
type EachPart<'e> = &'e mut dyn FnMut(u64, &[u8]) -> Result<(), Errno>;

/// Reads at most `size_bytes` of a file in parts; `each` gets the offset and the bytes of each part.
/// The last part remains in `data`. Returns the bytes read.
fn read_all(
    file: &OwnedFd,
    size_bytes: u32,
    data: &mut [u8],
    each: EachPart<'_>,
) -> Result<u32, Errno> {
    let mut done = 0;
    while done < size_bytes {
        let part = (data.len() as u32).min(size_bytes - done) as usize;
        let mut filled = 0;
        while filled < part {
            let offset = u64::from(done) + filled as u64;
            match rustix::io::pread(file, &mut data[filled..part], offset) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(errno),
            }
        }
        each(u64::from(done), &data[..filled])?;
        done += filled as u32;
        if filled < part {
            break;
        }
    }
    Ok(done)
}

/// Reads the attributes of an entry; without `all`, the name is only looked up.
fn attributes(directory: BorrowedFd<'_>, name: &[u8], all: bool) -> Result<u32, Errno> {
    let (mask, sync) = match all {
        true => (StatxFlags::BASIC_STATS, AtFlags::empty()),
        false => (StatxFlags::empty(), AtFlags::STATX_DONT_SYNC),
    };
    rustix::fs::statx(directory, name, AtFlags::SYMLINK_NOFOLLOW | sync, mask).map(|_| 0)
}

/// Lists a directory, with the attributes of each entry if `plus`.
fn list(directory: BorrowedFd<'_>, plus: bool) -> Result<u32, Errno> {
    // The descriptor has a position, which an earlier listing left at the end.
    rustix::fs::seek(directory, SeekFrom::Start(0))?;
    let mut memory = [MaybeUninit::<u8>::uninit(); LISTING_BYTES];
    let mut entries = RawDir::new(directory.as_fd(), &mut memory);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if plus && name != c"." && name != c".." {
            match attributes(directory, name.to_bytes(), true) {
                // It was removed meanwhile.
                Ok(_) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno),
            }
        }
    }
    Ok(0)
}
