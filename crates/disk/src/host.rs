//! System calls that may fail while a volume is in use, in one place, so that tests can inject
//! faults and every failure maps to the same NFS error.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// A call into which tests can inject a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Open,
    Read,
    Write,
    SyncData,
    WriteSums,
    SyncSums,
    Truncate,
    Append,
    SyncJournal,
    Acknowledge,
    Reserve,
}

/// The NFS error for a failure. A lack of descriptors is temporary, so the client gets JUKEBOX and
/// retries, and its application sees no error.
pub(crate) fn nfs_error(error: &io::Error) -> files::Error {
    if lacks_descriptors(error) {
        return files::Error::Jukebox;
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => files::Error::NoSpc,
        io::ErrorKind::FileTooLarge => files::Error::FBig,
        _ => files::Error::Io,
    }
}

/// Whether the process or the system has no file descriptor left.
pub(crate) fn lacks_descriptors(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

/// Opens or creates a file.
pub(crate) fn open<T>(open: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    inject_fault(Call::Open)?;
    open()
}

/// Reads bytes; fills with zeros after the end of the file.
pub(crate) fn read(file: &File, offset: u64, into: &mut [u8]) -> io::Result<()> {
    inject_fault(Call::Read)?;
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(count) => done += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    into[done..].fill(0);
    Ok(())
}

pub(crate) fn write(call: Call, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    inject_fault(call)?;
    file.write_all_at(bytes, offset)
}

/// Makes written data durable.
pub(crate) fn sync(call: Call, file: &File) -> io::Result<()> {
    inject_fault(call)?;
    file.sync_data()
}

/// Truncates a file, durably.
pub(crate) fn truncate(file: &File, size: u64) -> io::Result<()> {
    inject_fault(Call::Truncate)?;
    if file.metadata()?.len() > size {
        file.set_len(size)?;
        file.sync_data()?;
    }
    Ok(())
}

/// Reserves disk space for a range without changing the file's length. Returns false if the file
/// system does not support this.
pub(crate) fn reserve(file: &File, offset: u64, length: u64) -> io::Result<bool> {
    inject_fault(Call::Reserve)?;
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, offset, length) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(test))]
fn inject_fault(_: Call) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
fn inject_fault(call: Call) -> io::Result<()> {
    match faults::FAULT.get() {
        Some((failing, errno)) if failing == call => Err(io::Error::from_raw_os_error(errno)),
        _ => Ok(()),
    }
}

#[cfg(test)]
pub(crate) mod faults {
    use super::Call;
    use std::cell::Cell;

    std::thread_local! {
        /// The call of this thread that fails, and its error number.
        pub(crate) static FAULT: Cell<Option<(Call, i32)>> = const { Cell::new(None) };
    }
}
