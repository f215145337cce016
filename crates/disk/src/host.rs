//! Calls to this host that may fail while a volume is served, in one place: so that tests can let
//! them fail, and so that each failure becomes the same answer.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::FallocateFlags;
use rustix::io::Errno;

/// What can fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Open,
    Read,
    Write,
    SyncData,
    WriteSums,
    SyncSums,
    Cut,
    Append,
    SyncJournal,
    Acknowledge,
    Reserve,
}

/// What a client is told of a failure. A lack of descriptors ends when others close theirs, so the
/// client is asked to try again and its program never sees an error.
pub(crate) fn answer(error: &io::Error) -> files::Error {
    if lacks_descriptors(error) {
        return files::Error::Jukebox;
    }
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => files::Error::NoSpc,
        io::ErrorKind::FileTooLarge => files::Error::FBig,
        _ => files::Error::Io,
    }
}

/// Whether the process, or the system, has no descriptor left.
pub(crate) fn lacks_descriptors(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::MFILE | Errno::NFILE))
}

/// Opens or makes something.
pub(crate) fn open<T>(open: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    may(Call::Open)?;
    open()
}

/// Fills what it can; zeros behind the end of the file.
pub(crate) fn read(file: &File, offset: u64, into: &mut [u8]) -> io::Result<()> {
    may(Call::Read)?;
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(more) => done += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    into[done..].fill(0);
    Ok(())
}

/// Writes all of it.
pub(crate) fn write(call: Call, file: &File, offset: u64, bytes: &[u8]) -> io::Result<()> {
    may(call)?;
    file.write_all_at(bytes, offset)
}

/// Makes written data safe.
pub(crate) fn sync(call: Call, file: &File) -> io::Result<()> {
    may(call)?;
    file.sync_data()
}

/// Cuts a file off, safely.
pub(crate) fn cut(file: &File, size: u64) -> io::Result<()> {
    may(Call::Cut)?;
    if file.metadata()?.len() > size {
        file.set_len(size)?;
        file.sync_data()?;
    }
    Ok(())
}

/// Takes room on the disk for a range without making the file longer. False: this file system
/// cannot.
pub(crate) fn reserve(file: &File, offset: u64, length: u64) -> io::Result<bool> {
    may(Call::Reserve)?;
    match rustix::fs::fallocate(file, FallocateFlags::KEEP_SIZE, offset, length) {
        Ok(()) => Ok(true),
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(test))]
fn may(_: Call) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
fn may(call: Call) -> io::Result<()> {
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
        /// Which call of this thread fails, and with which error number.
        pub(crate) static FAULT: Cell<Option<(Call, i32)>> = const { Cell::new(None) };
    }
}
