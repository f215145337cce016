//! READ, WRITE, COMMIT, and data that a restart loses: RFC 1813, sections 3.3.6, 3.3.7, 3.3.21,
//! 4.8.

use std::sync::Arc;

use crate::attributes::{Attributes, Changed, Time};
use crate::change::clear_privileges;
use crate::file::File;
use crate::inode::Body;
use crate::piece::Pieces;
use crate::sparse::BLOCK_BYTES;
use crate::write_buffer::WriteBuffer;
use crate::{Caller, DataId, Error, FileSystem, Handle, Storage, Unstable};

/// `stable_how`: what must be durable before the reply to a WRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// Nothing: a restart may lose the data until COMMIT.
    Unstable = 0,
    /// The data, and the metadata needed to find it.
    DataSync = 1,
    /// Data and attributes.
    FileSync = 2,
}

/// The result of READ.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    /// The bytes at the time of the READ; later writes do not change them. Bytes in memory are
    /// shared, and bytes in a storage are copied.
    pub pieces: Pieces<'a>,
    /// Total length of the pieces. It is less than requested only at the end of the file, and for
    /// data in a storage beyond the transfer size or before a damaged block, whose READ fails with
    /// NFS3ERR_IO.
    pub count: u64,
    /// True if the pieces or the offset reach the end of the file.
    pub eof: bool,
    /// Of the file.
    pub attributes: Attributes,
}

/// The result of WRITE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Bytes written, always all. A write that does not fit is refused.
    pub count: u64,
    /// At least the requested stability.
    pub committed: Stability,
    /// Changes with every restart. A client that sees a change rewrites its uncommitted data.
    pub verifier: [u8; 8],
}

impl FileSystem {
    /// READ. Does not change the atime.
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
                let into = Arc::get_mut(&mut bytes).expect("it is not shared yet");
                let data = DataId { fileid: file.fileid, generation: file.generation };
                count = storage.read(data, offset, into)? as u64;
                Pieces::owned(bytes, count)
            }
        };
        let eof = offset.saturating_add(count) >= body.size();
        Ok(Read { pieces, count, eof, attributes: inode.attributes(self.options.fsid) })
    }

    /// WRITE, all or nothing: fails with NFS3ERR_DQUOT beyond the quota, NFS3ERR_NOSPC beyond the
    /// memory, and NFS3ERR_FBIG beyond the maximum size. With [`Unstable::MayBeLost`], a write that
    /// is stable although UNSTABLE was requested returns FILE_SYNC.
    pub fn write(
        &mut self,
        file: Handle,
        offset: u64,
        data: &[u8],
        stability: Stability,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Written> {
        let length = data.len() as u64;
        self.write_with(file, (offset, length), caller, now, |fs| {
            fs.write_data(file, offset, data, stability)
        })
    }

    /// The same, with data that was received into chunks. In memory, whole chunks become the
    /// file's. The buffer then has unused chunks only, or is unchanged if the WRITE failed.
    ///
    /// # Panics
    /// If bytes of the data are missing.
    pub fn write_buffered(
        &mut self,
        file: Handle,
        data: &mut WriteBuffer,
        stability: Stability,
        caller: &Caller<'_>,
        now: Time,
    ) -> Changed<Written> {
        assert_eq!(data.missing(), 0, "a WRITE is performed when all its data was received");
        if self.storage.is_some() || self.options.unstable != Unstable::Kept {
            return self.write(file, data.offset(), &data.to_vec(), stability, caller, now);
        }
        self.write_with(file, (data.offset(), data.len()), caller, now, |fs| {
            fs.change_file(file.fileid, |body| body.write_buffered(data));
            Ok(stability)
        })
    }

    /// Checks a WRITE of a range (offset, length), and writes its bytes with `write_data`, which
    /// returns their stability.
    fn write_with(
        &mut self,
        file: Handle,
        (offset, length): (u64, u64),
        caller: &Caller<'_>,
        now: Time,
        write_data: impl FnOnce(&mut FileSystem) -> Result<Stability, Error>,
    ) -> Changed<Written> {
        let before = self.before(file);
        let result = self.may_write(file, offset, length, caller).and_then(|()| {
            let committed = write_data(self)?;
            if length > 0 {
                let inode = self.table.existing_mut(file.fileid);
                inode.data_changed(now);
                clear_privileges(inode, caller);
            }
            Ok(Written { count: length, committed, verifier: self.write_verifier() })
        });
        Changed { result, wcc: self.wcc(file, before) }
    }

    fn may_write(
        &self,
        file: Handle,
        offset: u64,
        length: u64,
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
        if length == 0 {
            return Ok(());
        }
        let end = offset.checked_add(length).ok_or(Error::FBig)?;
        self.check_size(end)?;
        self.may_grow()?;
        self.space.admit(match self.storage {
            None => body.cost_of_write(offset, length),
            Some(_) => body.cost_of_storing(offset, length),
        })
    }

    /// Writes the bytes; returns their stability.
    fn write_data(
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
            Some(storage) => self.write_to_storage(&*storage, file, offset, data, stability),
            None => Ok(self.write_to_memory(file.fileid, offset, data, stability)),
        }
    }

    fn write_to_storage(
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
        let body = self.table.existing_mut(file.fileid).file_mut()?;
        body.is_in_storage = true;
        let size = body.size();
        if let Err(error) = storage.write(data, offset, bytes, stable) {
            // Bytes beyond the end of the file would become visible when the file grows.
            let may_exceed_size = error != Error::Jukebox && offset + length > size;
            if may_exceed_size && storage.truncate(data, size).is_err() {
                self.failed = true;
            }
            return Err(error);
        }
        self.change_file(file.fileid, |body| {
            body.add_stored(offset, length);
            body.has_durable_data |= stable;
        });
        self.table.changes.durable |= stable;
        Ok(stability)
    }

    fn write_to_memory(
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
        let newly = match &self.table.existing(fileid).body {
            Body::File(file) => file.newly_unstable(offset, length),
            _ => unreachable!("the caller checked that it is a file"),
        };
        if self.unstable_blocks + newly > bound {
            self.make_all_stable();
        }
        self.change_file(fileid, |file| file.write_unstable(offset, data));
        Stability::Unstable
    }

    /// COMMIT: makes a range durable; `count` 0 means up to the end. Returns the verifier that the
    /// client compares with those of its writes.
    pub fn commit(&mut self, file: Handle, offset: u64, count: u64) -> Changed<[u8; 8]> {
        let before = self.before(file);
        let checked = self.table.get(file).and_then(|inode| inode.file().map(|_| ()));
        let result = checked.and_then(|()| {
            self.commit_stored(file)?;
            if self.storage.is_none() {
                self.change_file(file.fileid, |file| file.commit(offset, count));
            }
            Ok(self.write_verifier())
        });
        Changed { result, wcc: self.wcc(file, before) }
    }

    /// Makes a file's data in the storage durable. If that fails, the storage may have lost data,
    /// so the verifier changes and clients rewrite their uncommitted data. JUKEBOX means that
    /// nothing was tried.
    fn commit_stored(&mut self, file: Handle) -> Result<(), Error> {
        let Some(storage) = self.storage.clone() else { return Ok(()) };
        if self.failed {
            return Err(Error::Io);
        }
        self.table.changes.durable = true;
        if !self.table.get(file)?.file()?.is_in_storage {
            return Ok(());
        }
        let data = DataId { fileid: file.fileid, generation: file.generation };
        storage.commit(data).inspect_err(|error| {
            if *error != Error::Jukebox {
                self.write_verifier = self.write_verifier.wrapping_add(1);
            }
        })?;
        if !self.table.get(file)?.file()?.has_durable_data {
            self.table.get_mut(file)?.file_mut()?.has_durable_data = true;
        }
        Ok(())
    }

    /// Whether NFS3ERR_NOSPC came from a full storage, as opposed to a limit of the volume.
    pub fn is_storage_full(&self) -> bool {
        self.storage.as_ref().is_some_and(|storage| storage.is_full())
    }

    /// Refuses changes after the storage failed.
    pub(crate) fn may_change(&self) -> Result<(), Error> {
        if self.failed { Err(Error::Io) } else { Ok(()) }
    }

    /// Refuses new objects and data if the storage has no space for records.
    pub(crate) fn may_grow(&self) -> Result<(), Error> {
        self.may_change()?;
        self.storage.as_ref().map_or(Ok(()), |storage| storage.check_space())
    }

    /// The verifier of WRITE and COMMIT, which changes with each restart.
    pub fn write_verifier(&self) -> [u8; 8] {
        self.write_verifier.to_be_bytes()
    }

    /// Simulates a restart of the server: drops uncommitted data and changes the write verifier.
    /// Everything else is kept, including handles and cookies. `now` becomes the mtime of files
    /// that lost data.
    pub fn restart(&mut self, now: Time) {
        for fileid in std::mem::take(&mut self.unstable) {
            if self.change_file(fileid, File::restart) {
                self.table.existing_mut(fileid).data_changed(now);
            }
        }
        self.write_verifier = self.write_verifier.wrapping_add(1);
    }

    fn make_all_stable(&mut self) {
        for fileid in std::mem::take(&mut self.unstable) {
            self.change_file(fileid, |file| file.commit(0, 0));
        }
    }

    /// Changes a regular file and updates the sums of the volume.
    pub(crate) fn change_file<T>(&mut self, fileid: u64, change: impl FnOnce(&mut File) -> T) -> T {
        let body = self
            .table
            .existing_mut(fileid)
            .file_mut()
            .expect("the caller checked that it is a file");
        let (usage, unstable) = (body.usage(), body.unstable_blocks());
        let result = change(body);
        let (usage_now, unstable_now) = (body.usage(), body.unstable_blocks());
        self.space.change(usage, usage_now);
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
