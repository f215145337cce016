//! A tree in a directory of this machine or a mount.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawDir, SeekFrom, StatxFlags};
use rustix::io::Errno;
use workload::names::NameTree;

use super::access::{At, TreeAccess, TreeDirectory, TreeEntry};
use crate::folder::Kind;
use crate::names::PART_BYTES_MAX;
use crate::posix::names::directories::{Directories, Held};

/// Directories that a thread keeps open.
const OPEN_DIRECTORIES: usize = 64;
/// Bytes of a listing that are read with one call.
const LISTING_BYTES: usize = 32 << 10;

/// A tree in a directory.
#[derive(Debug)]
pub(crate) struct LocalTree {
    tree: NameTree,
    directories: Directories,
    path: String,
    part: Vec<u8>,
}

impl LocalTree {
    pub(crate) fn open(root: &Path, tree: &NameTree) -> io::Result<LocalTree> {
        let root = crate::posix::names::open_root(root)?;
        Ok(LocalTree {
            tree: tree.clone(),
            directories: Directories::new(root, OPEN_DIRECTORIES, 2),
            path: String::new(),
            part: vec![0; PART_BYTES_MAX as usize],
        })
    }

    fn hold(&mut self, directory: TreeDirectory) -> Result<Held, Errno> {
        let LocalTree { tree, directories, path, .. } = self;
        directories.hold(directory.key(), || {
            path.clear();
            tree.push_directory_path(directory.level, directory.number, path);
            if path.is_empty() {
                path.push('.');
            }
            path.push('\0');
            std::ffi::CStr::from_bytes_until_nul(path.as_bytes()).unwrap_or(c".")
        })
    }

    /// Runs `call` with an open directory.
    fn with<R>(
        &mut self,
        directory: TreeDirectory,
        call: impl FnOnce(BorrowedFd<'_>, &mut Vec<u8>) -> Result<R, Errno>,
    ) -> io::Result<R> {
        let held = self.hold(directory)?;
        let result = call(self.directories.descriptor(held), &mut self.part);
        self.directories.release(held);
        Ok(result?)
    }
}

fn open(directory: BorrowedFd<'_>, leaf: &[u8], how: OFlags) -> Result<OwnedFd, Errno> {
    let flags = how | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, leaf, flags, Mode::from_raw_mode(0o644))
}

fn kind(mode: u32) -> Kind {
    match FileType::from_raw_mode(mode) {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        FileType::BlockDevice => Kind::BlockDevice,
        FileType::CharacterDevice => Kind::CharacterDevice,
        _ => Kind::PipeOrSocket,
    }
}

impl TreeAccess for LocalTree {
    fn list(&mut self, directory: TreeDirectory) -> io::Result<Vec<TreeEntry>> {
        self.with(directory, |directory, _| {
            rustix::fs::seek(directory, SeekFrom::Start(0))?;
            let mut memory = [MaybeUninit::<u8>::uninit(); LISTING_BYTES];
            let mut listing = RawDir::new(directory, &mut memory);
            let mut entries = Vec::new();
            while let Some(entry) = listing.next() {
                let entry = entry?;
                let name = entry.file_name();
                if name == c"." || name == c".." {
                    continue;
                }
                let mask = StatxFlags::TYPE | StatxFlags::SIZE;
                // Those of the server: other hosts may have changed what this one has cached.
                let how = AtFlags::SYMLINK_NOFOLLOW | AtFlags::STATX_FORCE_SYNC;
                match rustix::fs::statx(directory, name, how, mask) {
                    Ok(found) => entries.push(TreeEntry {
                        leaf: name.to_bytes().to_vec(),
                        kind: kind(u32::from(found.stx_mode)),
                        size_bytes: found.stx_size,
                    }),
                    // It was removed meanwhile.
                    Err(Errno::NOENT) => {}
                    Err(errno) => return Err(errno),
                }
            }
            Ok(entries)
        })
    }

    fn make_directory(&mut self, (directory, leaf): At<'_>) -> io::Result<()> {
        self.with(directory, |directory, _| {
            rustix::fs::mkdirat(directory, leaf, Mode::from_raw_mode(0o755))
        })
    }

    fn remove_directory(&mut self, (directory, leaf): At<'_>) -> io::Result<()> {
        self.with(directory, |directory, _| {
            rustix::fs::unlinkat(directory, leaf, AtFlags::REMOVEDIR)
        })
    }

    fn remove(&mut self, (directory, leaf): At<'_>) -> io::Result<()> {
        self.with(directory, |directory, _| rustix::fs::unlinkat(directory, leaf, AtFlags::empty()))
    }

    fn create(
        &mut self,
        (directory, leaf): At<'_>,
        size_bytes: u64,
        fill: &mut dyn FnMut(u64, &mut [u8]),
    ) -> io::Result<()> {
        self.with(directory, |directory, memory| {
            let file = open(directory, leaf, OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL)?;
            let mut done = 0;
            while done < size_bytes {
                let length = (size_bytes - done).min(memory.len() as u64) as usize;
                fill(done, &mut memory[..length]);
                let mut part = &memory[..length];
                while !part.is_empty() {
                    match rustix::io::pwrite(&file, part, done) {
                        Ok(0) => return Err(Errno::IO),
                        Ok(count) => {
                            part = &part[count..];
                            done += count as u64;
                        }
                        Err(Errno::INTR) => {}
                        Err(errno) => return Err(errno),
                    }
                }
            }
            Ok(())
        })
    }

    fn link(&mut self, from: At<'_>, to: At<'_>) -> io::Result<()> {
        let first = self.hold(from.0)?;
        let second = self.hold(to.0);
        let result = second.and_then(|second| {
            let (old, new) =
                (self.directories.descriptor(first), self.directories.descriptor(second));
            let linked = rustix::fs::linkat(old, from.1, new, to.1, AtFlags::empty());
            self.directories.release(second);
            linked
        });
        self.directories.release(first);
        Ok(result?)
    }

    fn symlink(&mut self, (directory, leaf): At<'_>, text: &[u8]) -> io::Result<()> {
        self.with(directory, |directory, _| rustix::fs::symlinkat(text, directory, leaf))
    }

    fn link_text(&mut self, (directory, leaf): At<'_>) -> io::Result<Vec<u8>> {
        self.with(directory, |directory, memory| {
            let length = rustix::fs::readlinkat_raw(directory, leaf, &mut memory[..])?;
            Ok(memory[..length].to_vec())
        })
    }

    fn read(
        &mut self,
        (directory, leaf): At<'_>,
        size_bytes: u64,
        each: &mut dyn FnMut(u64, &[u8]) -> bool,
    ) -> io::Result<u64> {
        self.with(directory, |directory, memory| {
            let file = open(directory, leaf, OFlags::RDONLY)?;
            let mut done = 0;
            while done < size_bytes {
                let length = (size_bytes - done).min(memory.len() as u64) as usize;
                let count = match rustix::io::pread(&file, &mut memory[..length], done) {
                    Ok(0) => break,
                    Ok(count) => count,
                    Err(Errno::INTR) => continue,
                    Err(errno) => return Err(errno),
                };
                if !each(done, &memory[..count]) {
                    break;
                }
                done += count as u64;
            }
            Ok(done)
        })
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(self.directories.root())?)
    }
}
