//! Files that results are written to. A file is replaced atomically: until the new one is complete
//! and durable, readers see the old one, also after a kill.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, fchown};
use std::path::{Path, PathBuf};

/// The name that means stdout.
const STDOUT: &str = "-";
/// Symbolic links that are followed, as by the kernel (path_resolution(7)).
const LINKS_MAX: usize = 40;

/// What a path refers to.
#[derive(Debug, PartialEq, Eq)]
enum Destination {
    /// `-`.
    Stdout,
    /// A pipe, a terminal, or a file descriptor of this process, which a rename must not replace.
    InPlace(PathBuf),
    /// A regular file, or one that will be created; symbolic links are followed.
    Replaced(PathBuf),
}

/// Whether `path` means stdout.
pub fn is_stdout(path: &Path) -> bool {
    path == Path::new(STDOUT)
}

/// Writes the file at `path` with `write`.
///
/// # Errors
/// The kernel's error; an existing regular file is unchanged.
pub fn write(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Stdout => {
            let mut out = io::stdout().lock();
            write(&mut out)?;
            out.flush()
        }
        Destination::InPlace(path) => fill(&OpenOptions::new().write(true).open(path)?, write),
        Destination::Replaced(path) => replace(&path, Durability::Durable, write),
    }
}

/// Replaces the file at `path` atomically, for readers who follow it while a run is measured. It is
/// not made durable, because a sync would be load on the disk that may be measured.
///
/// # Errors
/// The kernel's error; an existing regular file is unchanged.
pub(crate) fn replace_often(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::Replaced(path) => replace(&path, Durability::Volatile, write),
        Destination::Stdout | Destination::InPlace(_) => self::write(path, write),
    }
}

/// Whether a file survives a loss of power once it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Durability {
    Durable,
    Volatile,
}

/// Whether [`write`] could write to `path`. Changes and leaves nothing.
///
/// # Errors
/// Why it could not.
pub fn probe(path: &Path) -> io::Result<()> {
    match Destination::of(path)? {
        // Opening a pipe would wait for its reader.
        Destination::Stdout | Destination::InPlace(_) => Ok(()),
        Destination::Replaced(path) => match (open_existing(&path)?, Temporary::next_to(&path)) {
            (Some(_), Err(error)) if error.kind() == ErrorKind::PermissionDenied => Ok(()),
            (_, made) => made.map(drop),
        },
    }
}

impl Destination {
    fn of(path: &Path) -> io::Result<Destination> {
        if is_stdout(path) {
            return Ok(Destination::Stdout);
        }
        let path = follow(path)?;
        match fs::symlink_metadata(&path) {
            Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Ok(Destination::InPlace(path)),
            Ok(_) => Ok(Destination::Replaced(path)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Destination::Replaced(path)),
            Err(error) => Err(error),
        }
    }
}

/// Follows symbolic links; the last one's target need not exist. A link of `/proc` is an open file
/// of this process (`/dev/stdout`) and is not followed.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..=LINKS_MAX {
        let name = match path.file_name() {
            Some(name) if !path.as_os_str().as_bytes().ends_with(b"/") => name.to_owned(),
            _ => return Err(ErrorKind::IsADirectory.into()),
        };
        let parent = directory_of(&path);
        let parent = parent.canonicalize().map_err(|error| match error.kind() {
            ErrorKind::NotFound => {
                let text = format!("the directory {} does not exist", parent.display());
                io::Error::new(ErrorKind::NotFound, text)
            }
            _ => error,
        })?;
        path = parent.join(name);
        match fs::read_link(&path) {
            Ok(link) if !path.starts_with("/proc") => path = parent.join(link),
            _ => return Ok(path),
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Opens the existing file, so that a file without write permission is not replaced; `None` if
/// there is none.
fn open_existing(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().write(true).open(path) {
        Ok(file) => Ok(Some(file)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn replace(
    path: &Path,
    durability: Durability,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let existing = open_existing(path)?;
    let temporary = match (Temporary::next_to(path), &existing) {
        (Ok(temporary), _) => temporary,
        // The file is writable, but its directory is not.
        (Err(error), Some(existing)) if error.kind() == ErrorKind::PermissionDenied => {
            existing.set_len(0)?;
            return fill(existing, write);
        }
        (Err(error), _) => return Err(error),
    };
    if let Some(existing) = existing {
        let found = existing.metadata()?;
        let made = temporary.file.metadata()?;
        if (found.uid(), found.gid()) != (made.uid(), made.gid()) {
            // Only root can change the owner; otherwise the file belongs to the last writer.
            let _ = fchown(&temporary.file, Some(found.uid()), Some(found.gid()));
        }
        temporary.file.set_permissions(found.permissions())?;
    }
    fill(&temporary.file, write)?;
    if durability == Durability::Durable {
        temporary.file.sync_all()?;
    }
    fs::rename(&temporary.path, path)
}

fn fill(file: &File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(file);
    write(&mut out)?;
    out.flush()
}

/// A file that replaces another by a rename; removed if it does not.
struct Temporary {
    path: PathBuf,
    file: File,
}

impl Temporary {
    /// Creates one in the same directory, where a rename is atomic.
    fn next_to(path: &Path) -> io::Result<Temporary> {
        let process = std::process::id();
        let mut number = 0;
        loop {
            let name = format!(".fourcorners-{process}-{number}.part");
            let path = directory_of(path).join(name);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Temporary { path, file }),
                // From a killed process with the same ID, or from another host.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // After the rename the name does not exist.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_old_file_is_complete_until_the_new_one_is() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        fs::write(&path, "the old report").unwrap();
        write(&path, |out| {
            out.write_all(&[b'x'; 100_000])?;
            out.flush()?;
            assert_eq!(fs::read_to_string(&path)?, "the old report");
            Ok(())
        })
        .unwrap();
        assert_eq!(fs::read(&path).unwrap(), [b'x'; 100_000]);
        assert_eq!(names(directory.path()), ["report.html"]);
    }

    #[test]
    fn a_failed_write_leaves_only_the_old_file() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        fs::write(&path, "the old report").unwrap();
        let failed = write(&path, |out| {
            out.write_all(b"half")?;
            Err(ErrorKind::StorageFull.into())
        });
        assert_eq!(failed.unwrap_err().kind(), ErrorKind::StorageFull);
        assert_eq!(fs::read_to_string(&path).unwrap(), "the old report");
        assert_eq!(names(directory.path()), ["report.html"]);
    }

    #[test]
    fn permissions_are_kept_and_links_followed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.html");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o604)).unwrap();
        let link = directory.path().join("latest");
        symlink("report.html", &link).unwrap();
        write(&link, |out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o604);
        assert_eq!(fs::read_link(&link).unwrap(), Path::new("report.html"));

        let dangling = directory.path().join("next");
        symlink("not-yet.html", &dangling).unwrap();
        write(&dangling, |out| out.write_all(b"first")).unwrap();
        assert_eq!(fs::read(directory.path().join("not-yet.html")).unwrap(), b"first");
        let circle = directory.path().join("circle");
        symlink("circle", &circle).unwrap();
        assert!(write(&circle, |_| Ok(())).is_err());
    }

    #[test]
    fn devices_and_open_files_are_written_in_place() {
        for path in ["/dev/null", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/2"] {
            let destination = Destination::of(Path::new(path)).unwrap();
            assert!(matches!(destination, Destination::InPlace(_)), "{path}: {destination:?}");
        }
        assert_eq!(Destination::of(Path::new("-")).unwrap(), Destination::Stdout);
        write(Path::new("/dev/null"), |out| out.write_all(b"gone")).unwrap();
    }

    #[test]
    fn a_probe_refuses_unwritable_paths_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        fs::write(&file, "kept").unwrap();
        for (path, kind) in [
            (directory.path().to_path_buf(), ErrorKind::IsADirectory),
            (directory.path().join("new/"), ErrorKind::IsADirectory),
            (directory.path().join("missing/report.html"), ErrorKind::NotFound),
            (file.join("report.html"), ErrorKind::NotADirectory),
        ] {
            assert_eq!(probe(&path).unwrap_err().kind(), kind, "{}", path.display());
        }
        let missing = probe(&directory.path().join("missing/report.html")).unwrap_err();
        assert!(missing.to_string().ends_with("missing does not exist"), "{missing}");
        probe(&directory.path().join("new.html")).unwrap();
        probe(&file).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
        assert_eq!(names(directory.path()), ["file"]);
    }
}
