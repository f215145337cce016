//! A fill that several hosts share: each missing file is written by one of them.
//!
//! The host that claimed the directory creates the missing files and lists them in the manifest
//! before any host writes. So the others write only files that it assigned to them, and recognise
//! each by its identity. It alone writes the manifest: the others report what is durable.

use workload::plan::FileSet;

use crate::directory::TargetDirectory;
use crate::fill::{FillError, failure};
use crate::identity::FileIdentity;
use crate::manifest::{DurableBytes, FilledBy, Manifest};
use crate::refusal::Refusal;

/// Follows a fill.
pub trait FillWatcher {
    /// Bytes written so far, and the bytes that this fill writes.
    fn progress(&mut self, written_bytes: u64, total_bytes: u64);

    /// These files have new durable bytes, possibly none. Returns what other hosts have reported since
    /// the last call.
    fn durable(&mut self, files: &[DurableBytes]) -> Vec<DurableBytes>;
}

/// Follows a fill that one host does.
pub(crate) struct Unshared<'a>(pub(crate) &'a mut dyn FnMut(u64, u64));

impl FillWatcher for Unshared<'_> {
    fn progress(&mut self, written_bytes: u64, total_bytes: u64) {
        (self.0)(written_bytes, total_bytes);
    }

    fn durable(&mut self, _files: &[DurableBytes]) -> Vec<DurableBytes> {
        Vec::new()
    }
}

/// A file that must be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingFile {
    /// Its number in its file set.
    pub index: u32,
    /// Bytes to write.
    pub bytes: u64,
}

impl TargetDirectory {
    /// Creates the missing files of `set`, lists each with its writer, and returns them. A file that
    /// one host began and another continues has no known writer.
    ///
    /// # Errors
    /// See [`FillError`]; files that were created are listed.
    pub fn create_missing(
        &mut self,
        set: &FileSet,
        writers: &[FilledBy],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<MissingFile>, FillError> {
        let missing = self.missing(set);
        if missing.is_empty() {
            return Ok(Vec::new());
        }
        let mut identities = self.existing_identities(set, &missing)?;
        let durable: Vec<u64> =
            missing.iter().map(|index| self.durable_bytes(set, *index)).collect();
        // Each is on disk as ours before it exists.
        self.record(set, &missing, &durable, &identities)?;
        for (index, bytes) in missing.iter().zip(&durable) {
            let writer = &writers[FileSet::filling_host(*index, writers.len())];
            let record = self.manifest.files.get_mut(&set.file_name(*index));
            let record = record.expect("it was listed");
            let began_it = record.filled_by.as_ref().is_some_and(|by| by.host == writer.host);
            record.filled_by = (*bytes == 0 || began_it).then(|| writer.clone());
        }
        let created = self.create(set, &missing, &mut identities, stop);
        self.record(set, &missing, &durable, &identities)?;
        created?;
        let missing = missing.into_iter().zip(durable);
        let of = |(index, durable_bytes)| MissingFile {
            index,
            bytes: set.file_size_bytes - durable_bytes,
        };
        Ok(missing.map(of).collect())
    }

    /// Creates files that do not exist, and finds the identities of all.
    fn create(
        &self,
        set: &FileSet,
        indexes: &[u32],
        identities: &mut [Option<FileIdentity>],
        stop: &dyn Fn() -> bool,
    ) -> Result<(), FillError> {
        for (index, identity) in indexes.iter().zip(identities) {
            if stop() {
                return Err(FillError::Stopped);
            }
            let path = self.file_path(set, *index);
            let failed = |error| failure("create", &path, 0, error);
            let file = self.folder.open_for_fill(&path).map_err(failed)?;
            let found = file.attributes().map_err(failed)?;
            if identity.is_some_and(|known| !known.may_be(&found)) {
                return Err(Refusal::Replaced { path }.into());
            }
            *identity = FileIdentity::of(&found, &self.storage.filesystem);
        }
        Ok(())
    }

    /// Records bytes that are durable, here and on other hosts, in the manifest.
    ///
    /// # Errors
    /// The manifest cannot be written, or the directory is no longer exclusively ours.
    pub fn record_durable(&mut self, files: &[DurableBytes]) -> Result<(), Refusal> {
        if files.is_empty() {
            return Ok(());
        }
        self.refuse_lost_lock()?;
        for DurableBytes { name, bytes } in files {
            if let Some(record) = self.manifest.files.get_mut(name) {
                record.set_durable_bytes(*bytes);
            }
        }
        self.save_manifest()
    }

    /// Uses the manifest of the host that claimed the directory, for a part of the fill.
    pub fn join_fill(&mut self, manifest: Manifest) {
        self.manifest = manifest;
    }

    /// The first file of `set` that is written, at least in part, and not known to be by the host that
    /// fills it now. `writers`: all hosts.
    pub fn find_of_other_writer(
        &self,
        set: &FileSet,
        writers: &[FilledBy],
    ) -> Option<(u32, Option<&FilledBy>)> {
        let is_written = |index: &u32| self.durable_bytes(set, *index) > 0;
        let filled_by = |index: u32| {
            let record = self.manifest.files.get(&set.file_name(index));
            (index, record.and_then(|record| record.filled_by.as_ref()))
        };
        let mut written = (0..set.files).filter(is_written).map(filled_by);
        written.find(|(index, filled_by)| {
            let assigned = FileSet::filling_host(*index, writers.len());
            !filled_by.is_some_and(|by| is_by(by, assigned, writers))
        })
    }

    /// Marks files that [`TargetDirectory::find_of_other_writer`] finds as not written.
    ///
    /// # Errors
    /// The manifest cannot be written.
    pub fn discard_of_other_writers(
        &mut self,
        set: &FileSet,
        writers: &[FilledBy],
    ) -> Result<(), Refusal> {
        let mut discarded = Vec::new();
        while let Some((index, _)) = self.find_of_other_writer(set, writers) {
            let name = set.file_name(index);
            let record = self.manifest.files.get_mut(&name);
            record.expect("a file that was written is listed").set_durable_bytes(0);
            discarded.push(DurableBytes { name, bytes: 0 });
        }
        self.record_durable(&discarded)
    }
}

/// Whether a file was written by host `assigned`. The name counts, unless another host is the machine
/// that had it then.
fn is_by(by: &FilledBy, assigned: usize, hosts: &[FilledBy]) -> bool {
    let own = &hosts[assigned];
    let is_other = |host: &FilledBy| host.boot_id == by.boot_id && host.boot_id != own.boot_id;
    by.host == own.host && !hosts.iter().any(is_other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(host: &str, boot_id: &str) -> FilledBy {
        FilledBy { host: host.to_owned(), boot_id: boot_id.to_owned() }
    }

    #[test]
    fn a_writer_is_known_by_its_name_unless_that_names_another_machine_now() {
        let hosts = [by("a", "1"), by("b", "2")];
        assert!(is_by(&by("a", "1"), 0, &hosts));
        assert!(is_by(&by("a", "0"), 0, &hosts), "it restarted");
        assert!(!is_by(&by("b", "2"), 0, &hosts));
        assert!(!is_by(&by("a", "2"), 0, &hosts), "that machine is b now");
        let one_machine = [by("local-1", "1"), by("local-2", "1")];
        assert!(is_by(&by("local-1", "1"), 0, &one_machine));
        assert!(!is_by(&by("local-1", "1"), 1, &one_machine));
    }
}
