//! What is on a simulated host, and what was measured there. It survives the host's processes.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use metrics::fleet::SpoolOwner;
use metrics::interval::Interval;
use record::{frame, framing};
use store::{SpoolContent, SpoolFile, SpoolWriter, Spools};

/// The directory of spools.
pub(super) const ROOT: &str = "spools";

/// A spool as it is stored.
#[derive(Debug, Default)]
struct StoredSpool {
    frames: Vec<u8>,
    /// A process has it open.
    is_live: bool,
}

#[derive(Debug, Default)]
struct Content {
    spools: BTreeMap<String, StoredSpool>,
    is_full: bool,
    measured: Vec<(u32, Interval)>,
    starts: Vec<(u32, u64)>,
}

/// The disk of a host.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk(Arc<Mutex<Content>>);

impl Disk {
    fn lock(&self) -> MutexGuard<'_, Content> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nothing more can be written.
    pub(super) fn fill(&self) {
        self.lock().is_full = true;
    }

    /// Begins the spool of `owner`.
    pub(super) fn create(&self, owner: &SpoolOwner) -> Result<SpoolWriter, store::Error> {
        let path = Spools::at(PathBuf::from(ROOT)).directory(owner);
        let name = path.file_name().expect("it has a name").to_string_lossy().into_owned();
        let mut content = self.lock();
        if content.is_full {
            let source = io::ErrorKind::StorageFull.into();
            return Err(store::Error::CreateRunDirectory { path, source });
        }
        let mut frames = Vec::new();
        framing::append(frame::SPOOL, |out| frame::encode(owner, out), &mut frames);
        content.spools.insert(name.clone(), StoredSpool { frames, is_live: true });
        Ok(SpoolWriter::to(Box::new(File { disk: self.clone(), name, path })))
    }

    /// The names of the spools.
    pub(super) fn names(&self) -> Vec<String> {
        self.lock().spools.keys().cloned().collect()
    }

    /// The content of a spool.
    pub(super) fn read(&self, name: &str) -> Option<SpoolContent> {
        let content = self.lock();
        let StoredSpool { frames, is_live } = content.spools.get(name)?;
        let (mut raw, mut at) = (Vec::new(), 0);
        while let Some(frame) = framing::frame_at(frames, at) {
            at = frame.end_bytes() as usize;
            raw.push(frame);
        }
        let read = SpoolContent::of_frames(&Path::new(ROOT).join(name), &raw);
        Some(SpoolContent { is_live: *is_live, ..read })
    }

    /// Removes a spool that no process has open.
    pub(super) fn remove(&self, name: &str) -> Result<(), String> {
        let mut content = self.lock();
        if content.spools.get(name).is_some_and(|spool| spool.is_live) {
            return Err("an agent writes it".to_owned());
        }
        content.spools.remove(name);
        Ok(())
    }

    /// An interval of a run was measured.
    pub(super) fn measured(&self, run_index: u32, interval: &Interval) {
        self.lock().measured.push((run_index, interval.clone()));
    }

    /// The intervals of a run that were measured.
    pub(super) fn intervals(&self, run_index: u32) -> Vec<Interval> {
        let content = self.lock();
        let of_run = content.measured.iter().filter(|(run, _)| *run == run_index);
        of_run.map(|(_, interval)| interval.clone()).collect()
    }

    /// A run started at this time of the host's monotonic clock.
    pub(super) fn started(&self, run_index: u32, monotonic_ns: u64) {
        self.lock().starts.push((run_index, monotonic_ns));
    }

    /// The runs that started, and when by the host's monotonic clock.
    pub(super) fn starts(&self) -> Vec<(u32, u64)> {
        self.lock().starts.clone()
    }
}

/// An open spool.
#[derive(Debug)]
struct File {
    disk: Disk,
    name: String,
    path: PathBuf,
}

impl SpoolFile for File {
    fn append(&mut self, kind: u8, payload: &[u8]) -> Result<(), store::Error> {
        let mut content = self.disk.lock();
        let is_full = content.is_full;
        match content.spools.get_mut(&self.name) {
            Some(spool) if !is_full => {
                framing::append(kind, |out| out.extend_from_slice(payload), &mut spool.frames);
                Ok(())
            }
            _ => {
                let source = io::ErrorKind::StorageFull.into();
                Err(store::Error::AppendJournal { path: self.path.clone(), source })
            }
        }
    }

    fn sync(&mut self) -> Result<(), store::Error> {
        Ok(())
    }

    fn directory(&self) -> &Path {
        &self.path
    }

    fn remove(self: Box<Self>) -> Result<(), store::Error> {
        self.disk.lock().spools.remove(&self.name);
        Ok(())
    }
}

impl Drop for File {
    fn drop(&mut self) {
        if let Some(spool) = self.disk.lock().spools.get_mut(&self.name) {
            spool.is_live = false;
        }
    }
}
