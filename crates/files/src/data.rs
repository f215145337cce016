//! READ, WRITE, COMMIT, and what a restart loses: RFC 1813, sections 3.3.6, 3.3.7, 3.3.21, 4.8.

use std::sync::Arc;

use crate::attributes::{Attributes, Changed, Time};
use crate::change::forget_privileges;
use crate::file::File;
use crate::inode::Body;
use crate::piece::Pieces;
use crate::sparse::BLOCK_BYTES;
use crate::{Caller, DataId, Error, FileSystem, Handle, Storage, Unstable};

/// `stable_how`: how safe written data must be before the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// A restart may lose it until COMMIT.
    Unstable = 0,
    /// The data is safe, and what is needed to find it.
    DataSync = 1,
    /// Data and attributes are safe.
    FileSync = 2,
}

/// The answer of READ.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// The bytes, shared and not copied (but for those that lie in a storage): they may be kept,
    /// and stay as they are now.
    pub pieces: Pieces<'a>,
    /// How many they are together: less than asked for only at the end of the file, or where more
    /// than the transfer size is asked for of data in a storage, or before a block of it that is
    /// damaged; reading that one is NFS3ERR_IO.
    pub count: u64,
    /// True if the last of them is the last of the file, or the offset lies beyond it.
    pub eof: bool,
    /// Of the file.
    pub attributes: Attributes,
}

/// The answer of WRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes written: all of them. A write that does not fit is refused whole.
    pub count: u64,
    /// How safe they are: at least what was asked for.
    pub committed: Stability,
    /// Changes with every restart. A client that sees it change writes again what it had not
    /// committed.
    pub verifier: [u8; 8],
}

impl FileSystem {
    /// READ. The time of last access stays; see [`FileSystem::mark_read`].
    pub fn read(
        &self,
        file: Handle,
        offset: u64,
        count: u64,
        caller: &Caller<'_>,
    ) -> Result<Read<'_>, Error> {
        let inode = self.table.get(file)?;
        let body = inode.file()?;
        if !caller.may_read(inode) {
            return Err(Error::Acces);
        }
        let mut count = count.min(body.size().saturating_sub(offset));
        let offset = if count == 0 { offset.min(body.size()) } else { offset };
        let stored = self.storage.as_ref().filter(|_| body.is_stored(offset, count));
        let pieces = match stored {
            None => body.pieces(if count == 0 { 0 } else { offset }, count),
            Some(storage) => {
                count = count.min(u64::from(self.options.transfer_max));
                let mut bytes: Arc<[u8]> = std::iter::repeat_n(0, count as usize).collect();
                let into = Arc::get_mut(&mut bytes).expect("nobody else has seen it yet");
                let data = DataId { fileid: file.fileid, generation: file.generation };
                count = storage.read(data, offset, into)? as u64;
                Pieces::owned(bytes, count)
            }
        };
        let eof = offset.saturating_add(count) >= body.size();
        Ok(Read { pieces, count, eof, attributes: inode.attributes(self.options.fsid) })
    }

    /// Notes an access, for READ, READLINK and the listings, which only look so that many may
    /// look at once. Whether and how often is the volume's policy; the ctime stays.
    pub fn mark_read(&mut self, object: Handle, now: Time) {
        if let Ok(inode) = self.table.get_mut(object) {
            inode.atime = now;
        }
    }

    /// WRITE. All or nothing: NFS3ERR_DQUOT beyond the quota, NFS3ERR_NOSPC beyond the memory,
    /// NFS3ERR_FBIG beyond the largest size. Where a restart may lose data, what is stable although
    /// UNSTABLE was asked for is said to be FILE_SYNC.
    pub fn write(
        &mut self,
        file: Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Written> {
        let before = self.before(file);
        let result = self.may_write(file, offset, data, caller).and_then(|()| {
            let committed = self.put(file, offset, data, stability)?;
            if !data.is_empty() {
                let inode = self.table.named_mut(file.fileid);
                inode.data_changed(now);
                forget_privileges(inode, caller);
            }
            Ok(Written { count: data.len() as u64, committed, verifier: self.write_verifier() })
        });
        Changed { result, wcc: self.wcc(file, before) }
    }

    fn may_write(
        &self,
        file: Handle,
        offset: u64,
        data: &[u8],
        caller: &Caller<'_>,
    ) -> Result<(), Error> {
        let inode = self.table.get(file)?;
        let body = inode.file()?;
        if caller.read_only {
            return Err(Error::RoFs);
        }
        if !caller.may_write(inode) {
            return Err(Error::Acces);
        }
        if data.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(data.len() as u64).ok_or(Error::FBig)?;
        self.check_size(end)?;
        self.may_grow()?;
        let length = data.len() as u64;
        self.space.admit(match self.storage {
            None => body.cost_of_write(offset, length),
            Some(_) => body.cost_of_storing(offset, length),
        })
    }

    /// Stores the bytes and says how safe they are.
    fn put(
        &mut self,
        file: Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
    ) -> Result<Stability, Error> {
        if data.is_empty() {
            return Ok(Stability::FileSync);
        }
        match self.storage.clone() {
            Some(storage) => self.store(&*storage, file, offset, data, stability),
            None => Ok(self.put_in_memory(file.fileid, offset, data, stability)),
        }
    }

    fn store(
        &mut self,
        storage: &dyn Storage,
        file: Handle,
        offset: u64,
        bytes: &[u8],
        stability: Stability,
    ) -> Result<Stability, Error> {
        let length = bytes.len() as u64;
        let data = DataId { fileid: file.fileid, generation: file.generation };
        let stable = stability != Stability::Unstable;
        let body = self.table.named_mut(file.fileid).file_mut()?;
        body.outside = true;
        let size = body.size();
        if let Err(error) = storage.write(data, offset, bytes, stable) {
            // A part of it may be there; beyond the end of the file it would be seen some day.
            let may_be_there = error != Error::Jukebox && offset + length > size;
            if may_be_there && storage.cut(data, size).is_err() {
                self.failed = true;
            }
            return Err(error);
        }
        self.change_file(file.fileid, |body| {
            body.note_written(offset, length);
            body.promised |= stable;
        });
        self.table.changes.durable |= stable;
        Ok(stability)
    }

    fn put_in_memory(
        &mut self,
        fileid: u64,
        offset: u64,
        data: &[u8],
        stability: Stability,
    ) -> Stability {
        let length = data.len() as u64;
        let bound = match self.options.unstable {
            Unstable::Kept => {
                self.change_file(fileid, |file| file.write_stable(offset, data));
                return stability;
            }
            Unstable::MayBeLost { max } => max.get() / BLOCK_BYTES,
        };
        let touched = (offset + length - 1) / BLOCK_BYTES - offset / BLOCK_BYTES + 1;
        if stability != Stability::Unstable || touched > bound {
            self.change_file(fileid, |file| file.write_stable(offset, data));
            return Stability::FileSync;
        }
        let newly = match &self.table.named(fileid).body {
            Body::File(file) => file.newly_unstable(offset, length),
            _ => unreachable!("the caller saw that it is a file"),
        };
        if self.unstable_blocks + newly > bound {
            self.make_all_stable();
        }
        self.change_file(fileid, |file| file.write_unstable(offset, data));
        Stability::Unstable
    }

    /// COMMIT: the range (0: to the end) survives a restart from now on. Gives the verifier that
    /// the client compares with those of its writes.
    pub fn commit(&mut self, file: Handle, offset: u64, count: u64) -> Changed<[u8; 8]> {
        let before = self.before(file);
        let checked = self.table.get(file).and_then(|inode| inode.file().map(|_| ()));
        let result = checked.and_then(|()| {
            self.make_safe(file)?;
            if self.storage.is_none() {
                self.change_file(file.fileid, |file| file.commit(offset, count));
            }
            Ok(self.write_verifier())
        });
        Changed { result, wcc: self.wcc(file, before) }
    }

    /// Makes what a storage has of a file safe. Where that fails the storage may have dropped what
    /// it could not keep, so every client has to write again what it has not committed; not so
    /// where it could not even begin.
    fn make_safe(&mut self, file: Handle) -> Result<(), Error> {
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        if self.failed {
            return Err(Error::Io);
        }
        self.table.changes.durable = true;
        if !self.table.get(file)?.file()?.outside {
            return Ok(());
        }
        let data = DataId { fileid: file.fileid, generation: file.generation };
        storage.commit(data).inspect_err(|error| {
            if *error != Error::Jukebox {
                self.write_verifier = self.write_verifier.wrapping_add(1);
            }
        })?;
        if !self.table.get(file)?.file()?.promised {
            self.table.get_mut(file)?.file_mut()?.promised = true;
        }
        Ok(())
    }

    /// Whether a refusal for want of room is the storage's, and not a limit of the volume.
    pub fn is_storage_full(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.is_full())
    }

    /// Whether anything may change: not after the storage failed.
    pub(crate) fn may_change(&self) -> Result<(), Error> {
        if self.failed { Err(Error::Io) } else { Ok(()) }
    }

    /// Whether something new may be kept.
    pub(crate) fn may_grow(&self) -> Result<(), Error> {
        self.may_change()?;
        self.storage.as_ref().map_or(Ok(()), |storage| storage.room())
    }

    /// What WRITE and COMMIT give: another one after each restart.
    pub fn write_verifier(&self) -> [u8; 8] {
        self.write_verifier.to_be_bytes()
    }

    /// Loses what a crash of the server may lose: data written UNSTABLE and not committed.
    /// Everything else stays, handles and cookies too; the write verifier changes. Files that
    /// lost something show a change at `now`.
    pub fn restart(&mut self, now: Time) {
        for fileid in std::mem::take(&mut self.unstable) {
            if self.change_file(fileid, File::restart) {
                self.table.named_mut(fileid).data_changed(now);
            }
        }
        self.write_verifier = self.write_verifier.wrapping_add(1);
    }

    fn make_all_stable(&mut self) {
        for fileid in std::mem::take(&mut self.unstable) {
            self.change_file(fileid, |file| file.commit(0, 0));
        }
    }

    /// Changes a file that is known to be one, and keeps the sums of the volume true.
    pub(crate) fn change_file<T>(&mut self, fileid: u64, change: impl FnOnce(&mut File) -> T) -> T {
        let body = self.table.named_mut(fileid).file_mut().expect("the caller saw that it is one");
        let (held, unstable) = (body.held(), body.unstable_blocks());
        let result = change(body);
        let (held_now, unstable_now) = (body.held(), body.unstable_blocks());
        self.space.change(held, held_now);
        self.unstable_blocks = self.unstable_blocks + unstable_now - unstable;
        match (unstable > 0, unstable_now > 0) {
            (false, true) => {
                self.unstable.insert(fileid);
            }
            (true, false) => {
                self.unstable.remove(&fileid);
            }
            _ => {}
        }
        result
    }
}
