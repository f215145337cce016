//! RENAME and LINK: RFC 1813, sections 3.3.14 and 3.3.15.

use crate::attributes::{Attributes, Time, Wcc};
use crate::caller::{W, X};
use crate::directory::entry_bytes;
use crate::file_system::check_name;
use crate::inode::{Body, ROOT};
use crate::remove::check_sticky;
use crate::sparse::Cost;
use crate::{Caller, Error, FileSystem, Handle};

/// The answer of RENAME.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Renamed {
    /// What came of it.
    pub result: Result<(), Error>,
    /// Of the directory that the name was in.
    pub from: Wcc,
    /// Of the directory that it is in now.
    pub to: Wcc,
}

/// The answer of LINK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub struct Linked {
    /// What came of it.
    pub result: Result<(), Error>,
    /// Of the file, afterwards.
    pub file: Option<Attributes>,
    /// Of the directory.
    pub directory: Wcc,
}

impl FileSystem {
    /// RENAME, in one step: no moment is without either name. What was under the new name is
    /// gone, if both are directories (the old one there empty) or neither is; else EXIST, as the
    /// RFC wants. Two names of one file: nothing happens. Into itself or below: INVAL.
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

    /// The object to be moved and the one that it replaces, if nothing speaks against it.
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
        let inode = self.table.named(moved);
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
        // Its ".." changes, which is an entry of it.
        if moves_directory && elsewhere && !caller.may(inode, W) {
            return Err(Error::Acces);
        }
        match replaced.map(|fileid| self.table.named(fileid)) {
            Some(old) => {
                check_sticky(target, old, caller)?;
                let may_go = match old.directory() {
                    Ok(entries) => moves_directory && entries.is_empty(),
                    Err(_) => !moves_directory,
                };
                if !may_go {
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

    /// Whether a directory is `ancestor` or lies below it.
    fn is_within(&self, directory: u64, ancestor: u64) -> bool {
        let mut at = directory;
        while at != ancestor {
            if at == ROOT {
                return false;
            }
            at = self.table.named(at).directory().map_or(ROOT, |entries| entries.parent);
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
        let moved = self.leave(from.0.fileid, from.1);
        match replaced {
            Some(old) => {
                let moves_directory = self.table.named(moved).directory().is_ok();
                self.note_name(to.0.fileid, to.1);
                let entries = self.table.directory_mut(to.0.fileid);
                entries.replace(to.1, moved);
                // Both are directories or neither: the count of directories stays. What left the
                // source directory was counted there.
                debug_assert_eq!(moves_directory, self.table.named(old).directory().is_ok());
                self.forget(old, now);
            }
            None => self.enter(to.0.fileid, to.1, moved),
        }
        let inode = self.table.named_mut(moved);
        inode.attributes_changed(now);
        if let Body::Directory(entries) = &mut inode.body {
            entries.parent = to.0.fileid;
        }
        self.table.named_mut(from.0.fileid).data_changed(now);
        if from.0.fileid != to.0.fileid {
            self.table.named_mut(to.0.fileid).data_changed(now);
        }
    }

    /// LINK: one more name for anything but a directory (INVAL).
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
            self.enter(directory.fileid, name, file.fileid);
            let inode = self.table.named_mut(file.fileid);
            inode.names += 1;
            inode.attributes_changed(now);
            self.table.named_mut(directory.fileid).data_changed(now);
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
        if inode.names >= self.options.links_max {
            return Err(Error::MLink);
        }
        self.may_grow()?;
        self.space.admit(Cost { blocks: 0, memory_bytes: entry_bytes(name) })
    }
}
