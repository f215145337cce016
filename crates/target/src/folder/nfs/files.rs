//! The files of an export: written to be filled, read to be sampled.
//!
//! A fill writes UNSTABLE, so that the server may gather what it writes to its storage, and asks
//! for it with a COMMIT at the end. Where a write verifier is another than the first, the server
//! was started anew and may have lost what was not committed (RFC 1813, section 3.3.7): then
//! everything is written again.

use std::io;
use std::sync::{Arc, Mutex};

use nfs3::arguments::stable_how;
use nfs3::types::{sattr3, writeverf3};

use crate::folder::nfs::shared::{Shared, entry, lock};
use crate::folder::{Entry, FillFile, SampledFile, Synced};
use crate::nfs::NfsFile;

/// Writes that were answered before they were durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Unstable {
    /// The verifier of the first.
    verifier: Option<writeverf3>,
    /// A later one had another verifier: something before it may be lost.
    lost: bool,
}

impl Unstable {
    fn written(&mut self, verifier: writeverf3) {
        let first = *self.verifier.get_or_insert(verifier);
        self.lost |= first != verifier;
    }

    /// After a COMMIT that gave `verifier`, or without one if there was nothing to commit.
    fn committed(self, verifier: Option<writeverf3>) -> Synced {
        match self.lost || self.verifier != verifier {
            true => Synced::Lost,
            false => Synced::Durable,
        }
    }
}

/// A file that is being filled.
pub(super) struct ExportFile {
    shared: Arc<Shared>,
    file: NfsFile,
    unstable: Mutex<Unstable>,
}

impl ExportFile {
    pub(super) fn new(shared: Arc<Shared>, file: NfsFile) -> ExportFile {
        ExportFile { shared, file, unstable: Mutex::default() }
    }
}

/// Writes all of `bytes`; `unstable` is told the verifier of every write that is not durable yet.
pub(super) fn write_all(
    shared: &Shared,
    file: &NfsFile,
    bytes: &[u8],
    offset: u64,
    stable: stable_how,
    unstable: impl Fn(writeverf3),
) -> io::Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        let (rest, at) = (&bytes[done..], offset + done as u64);
        let written = shared.with(|session| session.write(file, at, rest, stable))?;
        shared.refuse_cancelled()?;
        if written.committed != stable_how::FILE_SYNC {
            unstable(written.verifier);
        }
        done += written.bytes as usize;
    }
    Ok(())
}

impl FillFile for ExportFile {
    fn look(&self) -> io::Result<Entry> {
        let attributes = self.shared.with(|session| session.getattr(&self.file))?;
        Ok(entry(&(self.file.clone(), attributes)))
    }

    fn cut(&self, size_bytes: u64) -> io::Result<()> {
        let size = sattr3 { size: Some(size_bytes), ..sattr3::UNCHANGED };
        self.shared.with(|session| session.setattr(&self.file, size, None)).map(drop)
    }

    fn write_directly(&mut self, _offset_align_bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn reserve(&self, _size_bytes: u64) -> io::Result<()> {
        // NFSv3 cannot.
        Ok(())
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        write_all(&self.shared, &self.file, bytes, offset, stable_how::UNSTABLE, |verifier| {
            lock(&self.unstable).written(verifier);
        })
    }

    fn sync(&self) -> io::Result<Synced> {
        let unstable = std::mem::take(&mut *lock(&self.unstable));
        let verifier = match unstable.verifier {
            None => None,
            Some(_) => Some(self.shared.with(|session| session.commit(&self.file))?),
        };
        Ok(unstable.committed(verifier))
    }
}

/// A file of which pages are read.
pub(super) struct Sampled {
    pub(super) shared: Arc<Shared>,
    pub(super) file: NfsFile,
}

impl SampledFile for Sampled {
    fn first_hole(&self, _size_bytes: u64) -> Option<u64> {
        // NFSv3 does not tell.
        None
    }

    fn read_at(&self, page: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < page.len() {
            let rest = &mut page[done..];
            let at = offset + done as u64;
            let (bytes, end) = self.shared.with(|session| session.read(&self.file, at, rest))?;
            done += bytes;
            if end || bytes == 0 {
                break;
            }
        }
        Ok(done)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn synced(written: &[u8], committed: u8) -> Synced {
        let mut unstable = Unstable::default();
        written.iter().for_each(|verifier| unstable.written([*verifier; 8]));
        unstable.committed((!written.is_empty()).then_some([committed; 8]))
    }

    #[test]
    fn what_was_written_is_lost_when_a_verifier_is_another() {
        assert_eq!(synced(&[], 0), Synced::Durable);
        assert_eq!(synced(&[1, 1], 1), Synced::Durable);
        assert_eq!(synced(&[1, 1], 2), Synced::Lost);
        // Even if the last life of the server is the one that commits.
        assert_eq!(synced(&[1, 2], 2), Synced::Lost);
        assert_eq!(synced(&[1, 2, 1], 1), Synced::Lost);
    }
}
