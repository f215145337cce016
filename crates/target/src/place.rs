//! Where a run works: what the user named is ours, holds a directory of ours, or may get one; and
//! whether the volume that is meant is there. Looks, and writes nothing.

use std::fs;
use std::io;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use host::missing_mount::missing_mount;
use host::mounts;

use crate::making::{holds_only_marks, is_unfinished_making};
use crate::manifest::Manifest;
use crate::refusal::{Overrides, Refusal};
use crate::storage;

/// The name of the directory that is made inside the one that the user named.
pub const OUR_NAME: &str = "fourcorners";

/// Entries that a file system or a filer puts into an otherwise empty volume.
const HARMLESS: [&str; 5] = ["lost+found", ".snapshot", ".snapshots", ".zfs", ".Trash-0"];

/// Where a run will work.
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    pub(crate) state: State,
}

/// What stands at the place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// Nothing.
    New,
    /// A directory of our name without a mark and with nothing in it: its making did not end, or
    /// `clean` left it for a file of somebody's that is gone now.
    Unmarked,
    /// A directory with our mark.
    Ours,
}

/// Settles the place, or refuses: what the user named is ours, holds a directory of ours, or may
/// get one.
pub(crate) fn find_place(path: &Path, overrides: Overrides) -> Result<Place, Refusal> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return place_to_create(path, overrides);
        }
        Err(error) => return Err(Refusal::io("look at", path, error)),
    };
    if found.file_type().is_block_device() {
        return Err(Refusal::BlockDevice { path: path.to_path_buf() });
    }
    if !found.is_dir() {
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let named =
        fs::canonicalize(path).map_err(|error| Refusal::io("find the way to", path, error))?;
    if let Some(ours) = our_directory(&named)? {
        return Ok(Place { path: ours, state: State::Ours });
    }
    let inside = named.join(OUR_NAME);
    let state = match inside.symlink_metadata() {
        Err(_) => State::New,
        Ok(_) if holds_only_marks(&inside)? => State::Unmarked,
        Ok(_) => return Err(Refusal::Unmarked { path: inside }),
    };
    if !overrides.among_foreign_files {
        refuse_foreign_files(path, &named)?;
    }
    Ok(Place { path: inside, state })
}

fn place_to_create(path: &Path, overrides: Overrides) -> Result<Place, Refusal> {
    let missing = || Refusal::Missing { path: path.to_path_buf() };
    let no_parent = || Refusal::NoParent { path: path.to_path_buf() };
    if path.symlink_metadata().is_ok() {
        // A link to nowhere: making its end would write where the user does not look.
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let name = path.file_name().ok_or_else(missing)?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = fs::canonicalize(parent).map_err(|_| no_parent())?;
    if !parent.is_dir() {
        return Err(no_parent());
    }
    if !overrides.create {
        return Err(missing());
    }
    Ok(Place { path: parent.join(name), state: State::New })
}

/// The directory of ours that `named` (without links) is or holds, if there is one.
///
/// # Errors
/// There is a manifest, and it cannot be understood.
pub(crate) fn our_directory(named: &Path) -> Result<Option<PathBuf>, Refusal> {
    if Manifest::load(named)?.is_some() {
        return Ok(Some(named.to_path_buf()));
    }
    let inside = named.join(OUR_NAME);
    let is_directory = inside.symlink_metadata().is_ok_and(|found| found.is_dir());
    if is_directory && Manifest::load(&inside)?.is_some() {
        return Ok(Some(inside));
    }
    Ok(None)
}

fn refuse_foreign_files(path: &Path, named: &Path) -> Result<(), Refusal> {
    let entries = fs::read_dir(named).map_err(|error| Refusal::io("list", named, error))?;
    let mut foreign = Vec::new();
    for entry in entries {
        let name = entry.map_err(|error| Refusal::io("list", named, error))?.file_name();
        // A directory of our name was looked at before: nothing is in it.
        let known = name == OUR_NAME || HARMLESS.iter().any(|harmless| name == *harmless);
        if !known && !is_unfinished_making(&named.join(&name))? {
            foreign.push(name);
        }
    }
    foreign.sort();
    match foreign.first() {
        None => Ok(()),
        Some(first) => Err(Refusal::ForeignFiles {
            path: path.to_path_buf(),
            count: foreign.len(),
            example: first.to_string_lossy().into_owned(),
            mount_root: storage::is_mount_root(named),
        }),
    }
}

/// Refuses a path whose volume is not mounted. `existing` is what exists of the way to the place.
pub(crate) fn refuse_missing_mount(path: &Path, existing: &Path) -> Result<(), Refusal> {
    let fstab = match fs::read("/etc/fstab") {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => return Err(Refusal::io("read", Path::new("/etc/fstab"), error)),
    };
    let mountinfo = Path::new("/proc/self/mountinfo");
    let mountinfo = fs::read(mountinfo).map_err(|error| Refusal::io("read", mountinfo, error))?;
    let mounts = mounts::parse(&mountinfo);
    let root = Path::new("/");
    let on_root = mounts::covering(&mounts, existing).is_none_or(|mount| mount.point == root);
    let is_mounted = |point: &Path| mounts.iter().any(|mount| mount.point == point);
    match missing_mount(existing, &fstab, on_root, is_mounted) {
        None => Ok(()),
        Some(missing) => Err(Refusal::MountMissing {
            path: path.to_path_buf(),
            mount_point: missing.mount_point,
            in_fstab: missing.in_fstab,
        }),
    }
}
