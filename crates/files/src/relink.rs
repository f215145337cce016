//! RENAME and LINK: RFC 1813, sections 3.3.14 and 3.3.15.

use crate::attributes::{Attributes, Time, Wcc};
use crate::caller::{W, X};
use crate::directory::entry_bytes;
use crate::file_system::check_name;
use crate::inode::{Body, ROOT};
use crate::remove::check_sticky;
use crate::sparse::Cost;
use crate::{Caller, Error, FileSystem, Handle};

/// The result of RENAME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Renamed {
    /// Result of the procedure.
    pub result: Result<(), Error>,
    /// Of the source directory.
    pub from: Wcc,
    /// Of the target directory.
    pub to: Wcc,
}

/// The result of LINK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Linked {
    /// Result of the procedure.
    pub result: Result<(), Error>,
    /// Of the file, after the procedure.
    pub file: Option<Attributes>,
    /// Of the directory.
    pub directory: Wcc,
}

impl FileSystem {
    /// RENAME, atomically. Replaces an object with the new name if both are directories, with the
    /// replaced one empty, or neither is; otherwise fails with EXIST, as the RFC requires. Does
    /// nothing if both names refer to the same file. Fails with INVAL if a directory would move
    /// into itself or its subtree.
    pub fn rename(
        &mut self,
        from: (Handle, &[u8]),
        to: (Handle, &[u8]),
        caller: &Caller<'_>,
        now: Time,
    ) -> Renamed {
        let (from_before, to_before) = (self.before(from.0), self.before(to.0));
        let result = self.may_rename(from, to, caller).map(|(moved, replaced)| {
            if Some(moved) != replaced {
                self.move_entry(from, to, replaced, now);
            }
        });
        Renamed { result, from: self.wcc(from.0, from_before), to: self.wcc(to.0, to_before) }
    }

    /// Checks a RENAME; returns the object to move and the one that it replaces.
    fn may_rename(
        &self,
        from: (Handle, &[u8]),
        to: (Handle, &[u8]),
        caller: &Caller<'_>,
    ) -> Result<(u64, Option<u64>), Error> {
        if from.0.fsid != to.0.fsid {
            return Err(Error::XDev);
        }
        let (source, target) = (self.table.get(from.0)?, self.table.get(to.0)?);
        let (from_entries, to_entries) = (source.directory()?, target.directory()?);
        if !caller.may(source, X) || !caller.may(target, X) {
            return Err(Error::Acces);
        }
        for name in [from.1, to.1] {
            check_name(name)?;
            if matches!(name, b"." | b"..") {
                return Err(Error::Inval);
            }
        }
        let moved = from_entries.find(from.1).ok_or(Error::NoEnt)?;
        self.may_change_entries(from.0, caller)?;
        self.may_change_entries(to.0, caller)?;
        let inode = self.table.existing(moved);
        check_sticky(source, inode, caller)?;
        let replaced = to_entries.find(to.1);
        if replaced == Some(moved) {
            return Ok((moved, replaced));
        }
        let moves_directory = inode.directory().is_ok();
        let elsewhere = from.0.fileid != to.0.fileid;
        if moves_directory && self.is_within(to.0.fileid, moved) {
            return Err(Error::Inval);
        }
        // The move changes its ".." entry.
        if moves_directory && elsewhere && !caller.may(inode, W) {
            return Err(Error::Acces);
        }
        match replaced.map(|fileid| self.table.existing(fileid)) {
            Some(old) => {
                check_sticky(target, old, caller)?;
                let is_replaceable = match old.directory() {
                    Ok(entries) => moves_directory && entries.is_empty(),
                    Err(_) => !moves_directory,
                };
                if !is_replaceable {
                    return Err(Error::Exist);
                }
            }
            None => {
                if moves_directory && elsewhere {
                    self.admit_subdirectory(to.0.fileid)?;
                }
                self.may_grow()?;
                let more = entry_bytes(to.1).saturating_sub(entry_bytes(from.1));
                self.space.admit(Cost { blocks: 0, memory_bytes: more })?;
            }
        }
        Ok((moved, replaced))
    }

    /// Whether a directory is `ancestor` or in its subtree.
    fn is_within(&self, directory: u64, ancestor: u64) -> bool {
        let mut at = directory;
        while at != ancestor {
            if at == ROOT {
                return false;
            }
            at = self.table.existing(at).directory().map_or(ROOT, |entries| entries.parent);
        }
        true
    }

    fn move_entry(
        &mut self,
        from: (Handle, &[u8]),
        to: (Handle, &[u8]),
        replaced: Option<u64>,
        now: Time,
    ) {
        let moved = self.remove_entry(from.0.fileid, from.1);
        match replaced {
            Some(old) => {
                let moves_directory = self.table.existing(moved).directory().is_ok();
                self.track_name(to.0.fileid, to.1);
                let entries = self.table.directory_mut(to.0.fileid);
                entries.replace(to.1, moved);
                // Both are directories or neither is, so the number of subdirectories stays the
                // same here. `remove_entry` changed it in the source directory.
                debug_assert_eq!(moves_directory, self.table.existing(old).directory().is_ok());
                self.remove_link(old, now);
            }
            None => self.add_entry(to.0.fileid, to.1, moved),
        }
        let inode = self.table.existing_mut(moved);
        inode.attributes_changed(now);
        if let Body::Directory(entries) = &mut inode.body {
            entries.parent = to.0.fileid;
        }
        self.table.existing_mut(from.0.fileid).data_changed(now);
        if from.0.fileid != to.0.fileid {
            self.table.existing_mut(to.0.fileid).data_changed(now);
        }
    }

    /// LINK: another name for an object. Fails with INVAL for a directory.
    pub fn link(
        &mut self,
        file: Handle,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
        now: Time,
    ) -> Linked {
        let before = self.before(directory);
        let result = self.may_link(file, directory, name, caller).map(|()| {
            self.add_entry(directory.fileid, name, file.fileid);
            let inode = self.table.existing_mut(file.fileid);
            inode.links += 1;
            inode.attributes_changed(now);
            self.table.existing_mut(directory.fileid).data_changed(now);
        });
        Linked { result, file: self.getattr(file).ok(), directory: self.wcc(directory, before) }
    }

    fn may_link(
        &self,
        file: Handle,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
    ) -> Result<(), Error> {
        if file.fsid != directory.fsid {
            return Err(Error::XDev);
        }
        let inode = self.table.get(file)?;
        if self.find_for_entry(directory, name, caller)?.is_some() {
            return Err(Error::Exist);
        }
        if inode.directory().is_ok() {
            return Err(Error::Inval);
        }
        self.may_change_entries(directory, caller)?;
        if inode.links >= self.options.links_max {
            return Err(Error::MLink);
        }
        self.may_grow()?;
        self.space.admit(Cost { blocks: 0, memory_bytes: entry_bytes(name) })
    }
}
