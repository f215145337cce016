//! Where a run works: what the user named is ours, holds a directory of ours, or may get one; and
//! whether the volume that is meant is there. Looks, and writes nothing.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use host::missing_mount::missing_mount;
use host::mounts;

use crate::folder::{Folder, Kind};
use crate::making::{holds_only_marks, is_unfinished_making};
use crate::manifest::Manifest;
use crate::refusal::{Overrides, Refusal};

/// The name of the directory that is made inside the one that the user named.
pub const OUR_NAME: &str = "fourcorners";

/// Entries that a file system or a filer puts into an otherwise empty volume.
const HARMLESS: [&str; 5] = ["lost+found", ".snapshot", ".snapshots", ".zfs", ".Trash-0"];

/// Where a run will work.
pub(crate) struct Found {
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
pub(crate) fn find_place(
    folder: &dyn Folder,
    path: &Path,
    overrides: Overrides,
) -> Result<Found, Refusal> {
    let found = match folder.look_through(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return place_to_create(folder, path, overrides);
        }
        Err(error) => return Err(Refusal::io("look at", path, error)),
    };
    if found.kind == Kind::BlockDevice {
        return Err(Refusal::BlockDevice { path: path.to_path_buf() });
    }
    if !found.is_directory() {
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let named =
        folder.resolve(path).map_err(|error| Refusal::io("find the way to", path, error))?;
    if let Some(ours) = our_directory(folder, &named)? {
        return Ok(Found { path: ours, state: State::Ours });
    }
    let inside = named.join(OUR_NAME);
    let state = match folder.look(&inside) {
        Ok(None) => State::New,
        Ok(Some(_)) if holds_only_marks(folder, &inside)? => State::Unmarked,
        Ok(Some(_)) => return Err(Refusal::Unmarked { path: inside }),
        Err(error) => return Err(Refusal::io("look at", &inside, error)),
    };
    if !overrides.among_foreign_files {
        refuse_foreign_files(folder, path, &named)?;
    }
    Ok(Found { path: inside, state })
}

fn place_to_create(
    folder: &dyn Folder,
    path: &Path,
    overrides: Overrides,
) -> Result<Found, Refusal> {
    let missing = || Refusal::Missing { path: path.to_path_buf() };
    let no_parent = || Refusal::NoParent { path: path.to_path_buf() };
    if folder.look(path).is_ok_and(|found| found.is_some()) {
        // A link to nowhere: making its end would write where the user does not look.
        return Err(Refusal::NotADirectory { path: path.to_path_buf() });
    }
    let name = path.file_name().ok_or_else(missing)?;
    let parent = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let parent = folder.resolve(parent).map_err(|_| no_parent())?;
    if !folder.look(&parent).is_ok_and(|found| found.is_some_and(|found| found.is_directory())) {
        return Err(no_parent());
    }
    if !overrides.create {
        return Err(missing());
    }
    Ok(Found { path: parent.join(name), state: State::New })
}

/// The directory of ours that `named` (without links) is or holds, if there is one.
///
/// # Errors
/// There is a manifest, and it cannot be understood.
pub(crate) fn our_directory(folder: &dyn Folder, named: &Path) -> Result<Option<PathBuf>, Refusal> {
    if Manifest::load_in(folder, named)?.is_some() {
        return Ok(Some(named.to_path_buf()));
    }
    let inside = named.join(OUR_NAME);
    let found = folder.look(&inside).map_err(|error| Refusal::io("look at", &inside, error))?;
    let is_directory = found.is_some_and(|found| found.is_directory());
    if is_directory && Manifest::load_in(folder, &inside)?.is_some() {
        return Ok(Some(inside));
    }
    Ok(None)
}

fn refuse_foreign_files(folder: &dyn Folder, path: &Path, named: &Path) -> Result<(), Refusal> {
    let names = folder.list(named).map_err(|error| Refusal::io("list", named, error))?;
    let mut foreign = Vec::new();
    for name in names {
        // A directory of our name was looked at before: nothing is in it.
        let known = name == OUR_NAME || HARMLESS.iter().any(|harmless| name == *harmless);
        if !known && !is_unfinished_making(folder, &named.join(&name))? {
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
            mount_root: folder.is_root(named),
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
