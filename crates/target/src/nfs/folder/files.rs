//! Files on an export, for fills and verification.
//!
//! A fill writes UNSTABLE, so that the server may gather writes, and then sends a COMMIT. If a
//! write verifier differs from the first, the server restarted and may have lost uncommitted data
//! (RFC 1813, section 3.3.7): then everything is written again.

use std::io;
use std::sync::{Arc, Mutex};

use nfs3::arguments::stable_how;
use nfs3::types::{sattr3, writeverf3};

use crate::folder::{Entry, FillFile, SampledFile, Synced};
use crate::nfs::NfsFile;
use crate::nfs::folder::shared::{Shared, entry, lock};

/// Writes that were acknowledged before they were durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Unstable {
    /// The verifier of the first write.
    verifier: Option<writeverf3>,
    /// A later write had another verifier: earlier data may be lost.
    lost: bool,
}

impl Unstable {
    fn written(&mut self, verifier: writeverf3) {
        let first = *self.verifier.get_or_insert(verifier);
        self.lost |= first != verifier;
    }

    /// The result of a COMMIT with `verifier`, or without one if nothing needed a COMMIT.
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

/// Writes all of `bytes`; calls `unstable` with the verifier of every write that is not durable
/// yet.
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
        let (rest, position) = (&bytes[done..], offset + done as u64);
        let written = shared.with(|session| session.write(file, position, rest, stable))?;
        if written.committed != stable_how::FILE_SYNC {
            unstable(written.verifier);
        }
        done += written.bytes as usize;
        if done < bytes.len() {
            shared.refuse_cancelled()?;
        }
    }
    Ok(())
}

impl FillFile for ExportFile {
    fn attributes(&self) -> io::Result<Entry> {
        let attributes = self.shared.with(|session| session.getattr(&self.file))?;
        Ok(entry(&(self.file.clone(), attributes)))
    }

    fn truncate(&self, size_bytes: u64) -> io::Result<()> {
        let size = sattr3 { size: Some(size_bytes), ..sattr3::UNCHANGED };
        self.shared.with(|session| session.setattr(&self.file, size, None)).map(drop)
    }

    fn write_directly(&mut self, _offset_align_bytes: u64) -> io::Result<()> {
        Ok(())
    }

    fn writes_exclude_each_other(&self) -> bool {
        false
    }

    fn reserve(&self, _size_bytes: u64) -> io::Result<()> {
        // NFSv3 has no procedure for it.
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

/// A file that is open for verification.
pub(super) struct Sampled {
    pub(super) shared: Arc<Shared>,
    pub(super) file: NfsFile,
}

impl SampledFile for Sampled {
    fn first_hole(&self, _size_bytes: u64) -> Option<u64> {
        // NFSv3 does not report holes.
        None
    }

    fn read_at(&self, page: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < page.len() {
            let rest = &mut page[done..];
            let position = offset + done as u64;
            let (bytes, end) =
                self.shared.with(|session| session.read(&self.file, position, rest))?;
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
    fn data_counts_as_lost_if_any_verifier_differs() {
        assert_eq!(synced(&[], 0), Synced::Durable);
        assert_eq!(synced(&[1, 1], 1), Synced::Durable);
        assert_eq!(synced(&[1, 1], 2), Synced::Lost);
        // Even if the server that commits is the one that took the last write.
        assert_eq!(synced(&[1, 2], 2), Synced::Lost);
        assert_eq!(synced(&[1, 2, 1], 1), Synced::Lost);
    }
}
