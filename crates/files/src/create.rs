//! CREATE, MKDIR, SYMLINK, MKNOD: RFC 1813, sections 3.3.8 to 3.3.11.

use crate::attributes::{
    Changed, Created, Kind, MODE_BITS, SET_GROUP_ID, SetAttributes, SetTime, Time,
};
use crate::caller::{W, X};
use crate::directory::{Directory, entry_bytes};
use crate::file::File;
use crate::file_system::check_name;
use crate::inode::{Body, Inode};
use crate::sparse::Cost;
use crate::{Caller, Error, FileSystem, Handle};

/// Maximum length of a symbolic link's target: PATH_MAX of Linux, which cannot follow longer ones.
const LINK_TEXT_MAX: usize = 4096;

/// `createhow3`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// A regular file of this name may exist. Then only its size is set.
    Unchecked(SetAttributes),
    /// No object of this name may exist.
    Guarded(SetAttributes),
    /// As guarded, but a file that was created with the same verifier is returned, so that a
    /// retransmitted request succeeds. The client sets the attributes afterwards.
    Exclusive([u8; 8]),
}

/// `mknoddata3`: the type of object that MKNOD creates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Special {
    /// With major and minor number.
    CharacterDevice(u32, u32),
    /// With major and minor number.
    BlockDevice(u32, u32),
    /// A socket.
    Socket,
    /// A named pipe.
    Fifo,
}

impl FileSystem {
    /// CREATE.
    pub fn create(
        &mut self,
        directory: Handle,
        name: &[u8],
        how: How,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Created> {
        let before = self.before(directory);
        let result = self.try_create(directory, name, how, caller, now);
        Changed { result, wcc: self.wcc(directory, before) }
    }

    fn try_create(
        &mut self,
        directory: Handle,
        name: &[u8],
        how: How,
        caller: &Caller<'_>,
        now: Time,
    ) -> Result<Created, Error> {
        if let Some(fileid) = self.find_for_entry(directory, name, caller)? {
            return self.create_existing(fileid, how, caller, now);
        }
        let (set, exclusive) = match how {
            How::Unchecked(set) | How::Guarded(set) => (set, None),
            How::Exclusive(verifier) => (SetAttributes::default(), Some(verifier)),
        };
        self.check_size(set.size.unwrap_or(0))?;
        let mut file = File::default();
        file.exclusive = exclusive;
        file.set_size(set.size.unwrap_or(0));
        self.make(directory, name, Body::File(file), &set, caller, now)
    }

    fn create_existing(
        &mut self,
        fileid: u64,
        how: How,
        caller: &Caller<'_>,
        now: Time,
    ) -> Result<Created, Error> {
        let inode = self.table.existing(fileid);
        let Body::File(file) = &inode.body else { return Err(Error::Exist) };
        match how {
            How::Guarded(_) => return Err(Error::Exist),
            How::Exclusive(verifier) if file.exclusive != Some(verifier) => {
                return Err(Error::Exist);
            }
            How::Exclusive(_) => {}
            How::Unchecked(set) => {
                let size = SetAttributes { size: set.size, ..SetAttributes::default() };
                if size.size.is_some() {
                    self.try_setattr(self.table.handle(inode), &size, None, caller, now)?;
                }
            }
        }
        Ok(self.created(self.table.existing(fileid)))
    }

    /// MKDIR.
    pub fn mkdir(
        &mut self,
        directory: Handle,
        name: &[u8],
        set: &SetAttributes,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Created> {
        let body = Body::Directory(Directory::new(directory.fileid, self.options.instance));
        self.make_new(directory, name, body, set, caller, now)
    }

    /// SYMLINK. The target is stored unchanged; it need not exist, but must not be empty.
    pub fn symlink(
        &mut self,
        directory: Handle,
        name: &[u8],
        text: &[u8],
        set: &SetAttributes,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Created> {
        let refused = match text.len() {
            0 => Some(Error::Inval),
            1..=LINK_TEXT_MAX => None,
            _ => Some(Error::NameTooLong),
        };
        if let Some(error) = refused {
            let wcc = self.wcc(directory, self.before(directory));
            return Changed { result: Err(error), wcc };
        }
        self.make_new(directory, name, Body::Symlink(text.into()), set, caller, now)
    }

    /// MKNOD. Only the superuser may create devices.
    pub fn mknod(
        &mut self,
        directory: Handle,
        name: &[u8],
        what: Special,
        set: &SetAttributes,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Created> {
        let (kind, rdev) = match what {
            Special::CharacterDevice(major, minor) => (Kind::CharacterDevice, (major, minor)),
            Special::BlockDevice(major, minor) => (Kind::BlockDevice, (major, minor)),
            Special::Socket => (Kind::Socket, (0, 0)),
            Special::Fifo => (Kind::Fifo, (0, 0)),
        };
        if matches!(kind, Kind::CharacterDevice | Kind::BlockDevice) && !caller.is_root() {
            let wcc = self.wcc(directory, self.before(directory));
            return Changed { result: Err(Error::Perm), wcc };
        }
        self.make_new(directory, name, Body::Special(kind, rdev), set, caller, now)
    }

    fn make_new(
        &mut self,
        directory: Handle,
        name: &[u8],
        body: Body,
        set: &SetAttributes,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Created> {
        let before = self.before(directory);
        let result = match self.find_for_entry(directory, name, caller) {
            Ok(None) => self.make(directory, name, body, set, caller, now),
            Ok(Some(_)) => Err(Error::Exist),
            Err(error) => Err(error),
        };
        Changed { result, wcc: self.wcc(directory, before) }
    }

    /// The inode that already has a name that is to be created. "." and ".." always exist.
    pub(crate) fn find_for_entry(
        &self,
        directory: Handle,
        name: &[u8],
        caller: &Caller<'_>,
    ) -> Result<Option<u64>, Error> {
        let inode = self.table.get(directory)?;
        let entries = inode.directory()?;
        if !caller.may(inode, X) {
            return Err(Error::Acces);
        }
        check_name(name)?;
        if matches!(name, b"." | b"..") {
            return Err(Error::Exist);
        }
        Ok(entries.find(name))
    }

    /// Whether the caller may add or remove entries.
    pub(crate) fn may_change_entries(
        &self,
        directory: Handle,
        caller: &Caller<'_>,
    ) -> Result<(), Error> {
        let inode = self.table.get(directory)?;
        inode.directory()?;
        if caller.read_only {
            return Err(Error::RoFs);
        }
        if caller.may(inode, W | X) { self.may_change() } else { Err(Error::Acces) }
    }

    /// Whether one more directory may have `directory` as its "..".
    pub(crate) fn admit_subdirectory(&self, directory: u64) -> Result<(), Error> {
        let count = self.table.existing(directory).directory()?.subdirectories;
        if count.saturating_add(2) >= self.options.links_max { Err(Error::MLink) } else { Ok(()) }
    }

    /// Creates an object with a name that the directory does not have.
    fn make(
        &mut self,
        directory: Handle,
        name: &[u8],
        body: Body,
        set: &SetAttributes,
        caller: &Caller<'_>,
        now: Time,
    ) -> Result<Created, Error> {
        self.may_change_entries(directory, caller)?;
        let parent = self.table.get(directory)?;
        let gid_of_parent = parent.mode & SET_GROUP_ID != 0;
        let uid = set.uid.unwrap_or(caller.uid);
        let gid = set.gid.unwrap_or(if gid_of_parent { parent.gid } else { caller.gid });
        let allowed = uid == caller.uid && (set.gid.is_none() || caller.is_member(gid));
        if !caller.is_root() && !allowed {
            return Err(Error::Perm);
        }
        // Without a mode from the client, only the owner has access.
        let mode = match &body {
            Body::Symlink(_) => 0o777,
            Body::Directory(_) => {
                set.mode.unwrap_or(0o700) | if gid_of_parent { SET_GROUP_ID } else { 0 }
            }
            Body::File(_) | Body::Special(..) => set.mode.unwrap_or(0o600),
        };
        if matches!(body, Body::Directory(_)) {
            self.admit_subdirectory(directory.fileid)?;
        }
        let text_bytes = match &body {
            Body::Symlink(text) => text.len() as u64,
            _ => 0,
        };
        self.may_grow()?;
        self.space.admit_inode(entry_bytes(name) + text_bytes)?;
        let time = |set| match set {
            SetTime::To(time) => time,
            SetTime::Keep | SetTime::Now => now,
        };
        let (fileid, generation) = self.table.next();
        let inode = Inode {
            fileid,
            generation,
            mode: mode & MODE_BITS,
            uid,
            gid,
            links: 1,
            atime: time(set.atime),
            mtime: time(set.mtime),
            ctime: now,
            is_tracked: false,
            body,
        };
        self.space.inodes += 1;
        self.space.change(Cost::default(), inode.usage());
        self.table.add(inode);
        self.add_entry(directory.fileid, name, fileid);
        self.table.existing_mut(directory.fileid).data_changed(now);
        Ok(self.created(self.table.existing(fileid)))
    }
}
