//! SETATTR: RFC 1813, section 3.3.2, with POSIX permissions.

use crate::attributes::{
    Changed, MODE_BITS, SET_GROUP_ID, SET_USER_ID, SetAttributes, SetTime, Time,
};
use crate::caller::W;
use crate::inode::Inode;
use crate::{Caller, DataId, Error, FileSystem, Handle};

impl FileSystem {
    /// SETATTR. Refused with NOT_SYNC if the object's ctime differs from `guard`. Sets either all
    /// attributes or none.
    pub fn setattr(
        &mut self,
        object: Handle,
        set: &SetAttributes,
        guard: Option<Time>,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<()> {
        let before = self.before(object);
        let result = self.try_setattr(object, set, guard, caller, now);
        Changed { result, wcc: self.wcc(object, before) }
    }

    pub(crate) fn try_setattr(
        &mut self,
        object: Handle,
        set: &SetAttributes,
        guard: Option<Time>,
        caller: &Caller<'_>,
        now: Time,
    ) -> Result<(), Error> {
        let inode = self.table.get(object)?;
        if guard.is_some_and(|ctime| ctime != inode.ctime) {
            return Err(Error::NotSync);
        }
        if caller.read_only {
            return Err(Error::RoFs);
        }
        self.may_set(inode, set, caller)?;
        self.may_change()?;
        if *set == SetAttributes::default() {
            return Ok(());
        }
        let mut stored_size = None;
        if let Some(size) = set.size {
            let file = self.table.existing(object.fileid).file()?;
            stored_size = (file.is_in_storage && size < file.size()).then_some(size);
            if let (Some(_), Some(storage)) = (stored_size, &self.storage) {
                storage.open(DataId { fileid: object.fileid, generation: object.generation })?;
            }
            self.change_file(object.fileid, |file| file.set_size(size));
        }
        let inode = self.table.get_mut(object)?;
        if set.size.is_some() {
            inode.data_changed(now);
            clear_privileges(inode, caller);
        } else {
            inode.attributes_changed(now);
        }
        let owner_changes = set.uid.is_some_and(|uid| uid != inode.uid)
            || set.gid.is_some_and(|gid| gid != inode.gid);
        inode.uid = set.uid.unwrap_or(inode.uid);
        inode.gid = set.gid.unwrap_or(inode.gid);
        match set.mode {
            Some(mode) => inode.mode = mode & MODE_BITS,
            None if owner_changes && inode.directory().is_err() => clear_set_id(inode),
            None => {}
        }
        // The caller must not give others the rights of a group to which it does not belong.
        if set.mode.is_some() && !caller.is_root() && !caller.is_member(inode.gid) {
            inode.mode &= !SET_GROUP_ID;
        }
        let ctime = inode.ctime;
        match set.atime {
            SetTime::Keep => {}
            SetTime::Now => inode.atime = ctime,
            SetTime::To(time) => inode.atime = time,
        }
        match set.mtime {
            SetTime::Keep => {}
            SetTime::Now => inode.mtime = ctime,
            SetTime::To(time) => inode.mtime = time,
        }
        self.table.changes.durable = true;
        stored_size.map_or(Ok(()), |size| self.truncate_stored(object, size))
    }

    /// Truncates a file's data in the storage after the journal has the new size: a crash between
    /// the two leaves unused data, but never a file without its data.
    fn truncate_stored(&mut self, file: Handle, size: u64) -> Result<(), Error> {
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        self.table.changes.durable = true;
        self.append_changes()?;
        let data = DataId { fileid: file.fileid, generation: file.generation };
        storage.truncate(data, size).inspect_err(|_| self.failed = true)
    }

    fn may_set(
        &self,
        inode: &Inode,
        set: &SetAttributes,
        caller: &Caller<'_>,
    ) -> Result<(), Error> {
        let owns = caller.owns(inode);
        if set.mode.is_some() && !owns {
            return Err(Error::Perm);
        }
        let gives_away = set.uid.is_some_and(|uid| uid != inode.uid || !owns);
        let to_other_group =
            set.gid.is_some_and(|gid| !owns || (gid != inode.gid && !caller.is_member(gid)));
        if !caller.is_root() && (gives_away || to_other_group) {
            return Err(Error::Perm);
        }
        for time in [set.atime, set.mtime] {
            match time {
                SetTime::Keep => {}
                SetTime::Now if owns || caller.may(inode, W) => {}
                SetTime::Now => return Err(Error::Acces),
                SetTime::To(time) if time.nanoseconds > 999_999_999 => return Err(Error::Inval),
                SetTime::To(_) if owns => {}
                SetTime::To(_) => return Err(Error::Perm),
            }
        }
        if let Some(size) = set.size {
            inode.file()?;
            if !caller.may_write(inode) {
                return Err(Error::Acces);
            }
            self.check_size(size)?;
        }
        Ok(())
    }

    pub(crate) fn check_size(&self, size: u64) -> Result<(), Error> {
        if size > self.options.file_size_max.get() { Err(Error::FBig) } else { Ok(()) }
    }
}

/// A change by any user but the superuser clears set-user-id and set-group-id, so that the changed
/// program does not run with its owner's rights.
pub(crate) fn clear_privileges(inode: &mut Inode, caller: &Caller<'_>) {
    if !caller.is_root() {
        clear_set_id(inode);
    }
}

/// Keeps set-group-id without the group's execute bit, which means mandatory locking.
fn clear_set_id(inode: &mut Inode) {
    inode.mode &= !SET_USER_ID;
    if inode.mode & 0o010 != 0 {
        inode.mode &= !SET_GROUP_ID;
    }
}
