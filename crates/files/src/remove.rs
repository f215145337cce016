//! REMOVE and RMDIR: RFC 1813, sections 3.3.12 and 3.3.13.

use crate::attributes::{Changed, STICKY, Time};
use crate::caller::X;
use crate::file_system::check_name;
use crate::inode::Inode;
use crate::{Caller, Error, FileSystem, Handle};

impl FileSystem {
    /// REMOVE: removes a name of any object but a directory, and the object with its last name. Its
    /// handle then becomes stale even if clients still use it; a client with the file open renames
    /// it instead.
    pub fn remove(
        &mut self,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<()> {
        self.unlink(directory, name, caller, now, |inode| match inode.directory() {
            Ok(_) => Err(Error::IsDir),
            Err(_) => Ok(()),
        })
    }

    /// RMDIR: removes an empty directory. Fails with INVAL for "." and with EXIST for "..", which
    /// the RFC lets servers refuse.
    pub fn rmdir(
        &mut self,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<()> {
        let dots = match name {
            b"." => Err(Error::Inval),
            b".." => Err(Error::Exist),
            _ => Ok(()),
        };
        self.unlink(directory, name, caller, now, |inode| {
            dots?;
            if inode.directory()?.is_empty() { Ok(()) } else { Err(Error::NotEmpty) }
        })
    }

    fn unlink(
        &mut self,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
        now: Time,
        allowed: impl Fn(&Inode) -> Result<(), Error>,
    ) -> Changed<()> {
        let before = self.before(directory);
        let result = self.may_unlink(directory, name, caller, allowed).map(|()| {
            let fileid = self.remove_entry(directory.fileid, name);
            self.remove_link(fileid, now);
            self.table.existing_mut(directory.fileid).data_changed(now);
        });
        Changed { result, wcc: self.wcc(directory, before) }
    }

    fn may_unlink(
        &self,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
        allowed: impl Fn(&Inode) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let parent = self.table.get(directory)?;
        let entries = parent.directory()?;
        if !caller.may(parent, X) {
            return Err(Error::Acces);
        }
        check_name(name)?;
        if matches!(name, b"." | b"..") {
            return allowed(parent).and(Err(Error::Inval));
        }
        let inode = self.table.existing(entries.find(name).ok_or(Error::NoEnt)?);
        self.may_change_entries(directory, caller)?;
        check_sticky(parent, inode, caller)?;
        allowed(inode)
    }
}

/// In a directory with the sticky bit, only the owner of the entry or of the directory may remove
/// an entry. Returns ACCES, because RFC 1813 does not list PERM for these procedures.
pub(crate) fn check_sticky(
    directory: &Inode,
    entry: &Inode,
    caller: &Caller<'_>,
) -> Result<(), Error> {
    let is_protected =
        directory.mode & STICKY != 0 && !caller.owns(directory) && !caller.owns(entry);
    if is_protected { Err(Error::Acces) } else { Ok(()) }
}
