//! Directories of this host, used through descriptors: every name is one component, opened
//! relative to its directory, and a symbolic link is refused instead of followed.
//!
//! For: keeping everything that is opened, made, renamed or removed inside the directory the
//! operator named, whatever is planted in it. Not for: what the files mean.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

/// Data of others' exports is nobody else's business: directories are made for their owner alone.
const FOLDER_MODE: Mode = Mode::RWXU;

/// The same for files.
const FILE_MODE: Mode = Mode::RUSR.union(Mode::WUSR);

/// An open directory.
#[derive(Debug)]
pub(crate) struct Folder {
    fd: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// The operator's directory, made if it is missing. Its own path may lead through links.
    pub(crate) fn open_or_make(path: &Path) -> io::Result<Folder> {
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

    /// A directory in this one, made if it is missing.
    pub(crate) fn folder(&self, name: &str) -> io::Result<Folder> {
        match rustix::fs::mkdirat(&self.fd, name, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty());
        let fd = fd.map_err(|error| self.explained(name, error))?;
        Ok(Folder { fd, path: self.path.join(name) })
    }

    /// Where it is, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a regular file for reading and writing.
    pub(crate) fn file(&self, name: &str) -> io::Result<File> {
        // Without NONBLOCK a FIFO in its place would stall the open.
        let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let fd = rustix::fs::openat(&self.fd, name, flags, Mode::empty());
        let fd = fd.map_err(|error| self.explained(name, error))?;
        let kind = FileType::from_raw_mode(rustix::fs::fstat(&fd)?.st_mode);
        if kind != FileType::RegularFile {
            let path = self.path.join(name);
            return Err(io::Error::other(format!("{} is not a regular file", path.display())));
        }
        Ok(File::from(fd))
    }

    /// Makes a file; the name must be free.
    pub(crate) fn create(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        Ok(File::from(rustix::fs::openat(&self.fd, name, flags, FILE_MODE)?))
    }

    /// Gives a file another name in this directory, in the place of whatever has it.
    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.fd, from, &self.fd, to)?)
    }

    /// Moves a file to a name in another directory, which must be free there.
    pub(crate) fn move_to(&self, name: &str, folder: &Folder, to: &str) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        Ok(rustix::fs::renameat_with(&self.fd, name, &folder.fd, to, flags)?)
    }

    /// Removes a name; one that is missing is removed already.
    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.fd, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// All names, without the two that every directory has. One that is not UTF-8 is shown as it
    /// can be, which is none of ours.
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

    /// Makes the names in it safe.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.fd)?)
    }

    /// Makes everything written to its file system safe, with one call for any number of files.
    pub(crate) fn sync_file_system(&self) -> io::Result<()> {
        Ok(rustix::fs::syncfs(&self.fd)?)
    }

    /// Bytes that this user can still write on its file system, and all that it has.
    pub(crate) fn free_bytes(&self) -> io::Result<(u64, u64)> {
        let figures = rustix::fs::fstatvfs(&self.fd)?;
        Ok((figures.f_bavail * figures.f_frsize, figures.f_blocks * figures.f_frsize))
    }

    /// What a name is, itself and not what it may lead to.
    pub(crate) fn kind(&self, name: &str) -> io::Result<FileType> {
        let found = rustix::fs::statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode))
    }

    /// Its permission bits.
    pub(crate) fn mode(&self) -> io::Result<u32> {
        Ok(rustix::fs::fstat(&self.fd)?.st_mode & 0o7777)
    }

    /// Says so where what stands in the way is a link.
    fn explained(&self, name: &str, error: Errno) -> io::Error {
        // What the kernel says of one that it may not follow, as a file and as a directory.
        if !matches!(error, Errno::LOOP | Errno::NOTDIR) {
            return error.into();
        }
        match self.kind(name) {
            Ok(FileType::Symlink) => self.link(name),
            _ => error.into(),
        }
    }

    /// Why a name that is a symbolic link is not opened.
    pub(crate) fn link(&self, name: &str) -> io::Error {
        io::Error::other(format!(
            "{} is a symbolic link, and none is followed here: put back what it leads to",
            self.path.join(name).display()
        ))
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
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_make(&place.path().join("new")).unwrap();
        folder.create("file").unwrap();
        folder.folder("inner").unwrap();
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
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_make(place.path()).unwrap();
        std::fs::write(place.path().join("outside"), "x").unwrap();
        symlink("outside", place.path().join("link")).unwrap();
        let error = folder.file("link").unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        let error = folder.folder("link").unwrap_err().to_string();
        assert!(error.contains("symbolic link"), "{error}");
        assert!(folder.create("link").is_err());
        let mode = Mode::from_raw_mode(0o600);
        let fifo = FileType::Fifo;
        rustix::fs::mknodat(&folder, "fifo", fifo, mode, 0).unwrap();
        let error = folder.file("fifo").unwrap_err().to_string();
        assert!(error.contains("not a regular file"), "{error}");
        folder.folder("inner").unwrap();
        assert!(folder.file("inner").is_err());
    }
}
