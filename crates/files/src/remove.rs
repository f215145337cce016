//! REMOVE and RMDIR: RFC 1813, sections 3.3.12 and 3.3.13.

use crate::attributes::{Changed, STICKY, Time};
use crate::caller::X;
use crate::file_system::check_name;
use crate::inode::Inode;
use crate::{Caller, Error, FileSystem, Handle};

impl FileSystem {
    /// REMOVE: takes away a name of anything but a directory; with its last name the object goes
    /// and its handle is stale, whoever still uses it. A client that has the file open renames it
    /// instead.
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

    /// RMDIR: takes away an empty directory. "." is INVAL and ".." is EXIST, as the RFC says of
    /// servers that refuse them.
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
            let fileid = self.leave(directory.fileid, name);
            self.forget(fileid, now);
            self.table.named_mut(directory.fileid).data_changed(now);
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
        let inode = self.table.named(entries.find(name).ok_or(Error::NoEnt)?);
        self.may_change_entries(directory, caller)?;
        check_sticky(parent, inode, caller)?;
        allowed(inode)
    }
}

/// In a directory with the sticky bit only the owner of the entry or of the directory may take an
/// entry away. RFC 1813 lists no PERM for these procedures, hence ACCES.
pub(crate) fn check_sticky(
    directory: &Inode,
    entry: &Inode,
    caller: &Caller<'_>,
) -> Result<(), Error> {
    let kept = directory.mode & STICKY != 0 && !caller.owns(directory) && !caller.owns(entry);
    if kept { Err(Error::Acces) } else { Ok(()) }
}
