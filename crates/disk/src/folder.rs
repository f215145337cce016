//! Directories of this host, used through descriptors. Every name is a single component, opened
//! relative to its directory, and symbolic links are refused.
//!
//! For: keeping every access inside the operator's directory, whatever other users create in it.
//! Not for: the content of files.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::Error;

/// Only the owner may access the data of exports.
const FOLDER_MODE: Mode = Mode::RWXU;

const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open directory.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// The operator's directory; created if it is missing. Its path may contain symbolic links.
    pub(crate) fn open_or_create(path: &Path) -> io::Result<Folder> {
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        match rustix::fs::mkdir(path, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let fd = rustix::fs::open(path, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
        Ok(Folder { fd, path: path.to_owned() })
    }

    /// A subdirectory; created if it is missing.
    pub(crate) fn subfolder(&self, name: &str) -> io::Result<Folder> {
        match rustix::fs::mkdirat(&self.fd, name, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty());
        let fd = fd.map_err(|error| self.explain(name, error))?;
        Ok(Folder { fd, path: self.path.join(name) })
    }

    /// Its path, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file for reading and writing.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        // Without NONBLOCK, opening a FIFO would block.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty());
        let fd = fd.map_err(|error| self.explain(name, error))?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        if kind != FileType::RegularFile {
            let path = self.path.join(name);
            return Err(io::Error::other(format!("{} is not a regular file", path.display())));
        }
        Ok(File::from(fd))
    }

    /// Creates a file; fails if the name exists.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, FILE_MODE)?))
    }

    /// Renames a file in this directory; replaces a file with the new name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Moves a file to another directory; fails if the new name exists there.
    pub(crate) fn move_to(&self, name: &str, folder: &Folder, to: &str) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        Ok(rustix::fs::renameat_with(&self.fd, name, &folder.fd, to, flags)?)
    }

    /// Removes a file; succeeds if it is missing.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// All names except "." and "..". Invalid UTF-8 is replaced; no file of fourcorners has such a
    /// name.
    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.fd)? {
            let name = entry?.file_name().to_string_lossy().into_owned();
            if name != "." && name != ".." {
                names.push(name);
            }
        }
        Ok(names)
    }

    /// Makes its entries durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    /// Makes everything written to its file system durable, with one system call.
    pub(crate) fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.fd)?)
    }

    /// Free bytes and total bytes of its file system.
    pub(crate) fn free_bytes(&self) -> io::Result<(u64, u64)> {
        let figures = rustix::fs::fstatvfs(&self.fd)?;
        Ok((figures.f_bavail * figures.f_frsize, figures.f_blocks * figures.f_frsize))
    }

    /// The type of a file, without following a symbolic link.
    pub(crate) fn kind(&self, name: &str) -> io::Result<FileType> {
        let found = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }

    /// Its permission bits.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(&self.fd)?.st_mode & 0o7777)
    }

    /// Replaces an error that a symbolic link caused by one that names it.
    fn explain(&self, name: &str, error: Errno) -> io::Error {
        // The kernel's errors for a link that it must not follow, to a file and to a directory.
        if !matches!(error, Errno::LOOP | Errno::NOTDIR) {
            return error.into();
        }
        match self.kind(name) {
            Ok(FileType::Symlink) => self.link_error(name),
            _ => error.into(),
        }
    }

    /// The error for a symbolic link.
    pub(crate) fn link_error(&self, name: &str) -> io::Error {
        io::Error::other(format!(
            "{} is a symbolic link, which is not followed: replace it by its target",
            self.path.join(name).display()
        ))
    }
}

/// The directories of a volume.
#[derive(Debug)]
pub(crate) struct Folders {
    pub(crate) volume: Folder,
    /// The data of files.
    pub(crate) data: Folder,
    /// Their checksums.
    pub(crate) sums: Folder,
}

impl Folders {
    /// The directories of the volume `name` in `all`; created if they are missing.
    pub(crate) fn open_in(all: &Folder, name: &str) -> Result<Folders, Error> {
        let open = |folder: &Folder, name: &str| {
            let path = folder.path().join(name);
            folder.subfolder(name).map_err(Error::host("open the directory", &path))
        };
        let volume = open(all, name)?;
        let (data, sums) = (open(&volume, "data")?, open(&volume, "sums")?);
        for folder in [&volume, all] {
            folder.sync().map_err(Error::host("sync", folder.path()))?;
        }
        Ok(Folders { volume, data, sums })
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn files_and_directories_are_created_private() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_create(&directory.path().join("new")).unwrap();
        folder.create("file").unwrap();
        folder.subfolder("inner").unwrap();
        let mode = |name: &str| {
            let path = folder.path().join(name);
            std::fs::metadata(path).unwrap().permissions().mode() & 0o777
        };
        assert_eq!((folder.mode().unwrap(), mode("inner"), mode("file")), (0o700, 0o700, 0o600));
        let names = folder.names().unwrap();
        assert_eq!(names.len(), 2, "{names:?}");
    }

    #[test]
    fn links_fifos_and_directories_are_refused_as_files() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_create(directory.path()).unwrap();
        std::fs::write(directory.path().join("outside"), "x").unwrap();
        symlink("outside", directory.path().join("link")).unwrap();
        let error = folder.file("link").unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        let error = folder.subfolder("link").unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert!(folder.create("link").is_err());
        let mode = Mode::from_raw_mode(0o600);
        let fifo = FileType::Fifo;
        rustix::fs::mknodat(&folder, "fifo", fifo, mode, 0).unwrap();
        let error = folder.file("fifo").unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        folder.subfolder("inner").unwrap();
        assert!(folder.file("inner").is_err());
    }
}
