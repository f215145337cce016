//! Writes the files that a plan needs: every byte, durably, with the data that later reads are
//! checked against.
//!
//! Large aligned direct writes, several outstanding, so that the fill is limited by the storage.
//! Space is reserved first (`fallocate`), which makes a lack of it known early and keeps the layout
//! contiguous; the reserved extents are then all written. Not here: whether files are still what
//! was written ([`crate::truth`]).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use workload::data::TileMaker;
use workload::plan::FileSet;

use crate::aligned::AlignedBuffer;
use crate::directory::TargetDirectory;
use crate::folder::{FillFile, Synced};
use crate::identity::FileIdentity;
use crate::manifest::{FileRecord, FileState};
use crate::ours::find_file;
use crate::refusal::Refusal;
use crate::storage::DirectIo;

/// Bytes of one write. Large enough that the storage, not the call, is what takes time.
const CHUNK_BYTES: u64 = 1 << 20;
/// How often the same files are written, where the server loses what was not yet committed.
const WRITE_TRIES: u32 = 5;
/// Files that are open at once; their records change together, so that many small files do not cost
/// as many syncs of the manifest.
const BATCH_FILES: usize = 64;

/// Why a fill ended before its end. What was begun stays listed as incomplete, so that the next
/// fill completes it and `clean` removes it.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// As the user wished.
    #[error("the fill was stopped")]
    Stopped,
    /// The file system or a quota is full.
    #[error("no space left for `{}` after {written_bytes} bytes of the fill: \
             {source}", path.display())]
    NoSpace {
        /// The file that did not fit.
        path: PathBuf,
        /// Bytes of this file set that were written before.
        written_bytes: u64,
        /// The kernel's answer.
        source: io::Error,
    },
    /// A file could not be made, written or synced.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To which file.
        path: PathBuf,
        /// The kernel's answer.
        source: io::Error,
    },
    /// Something is in the way, or the manifest could not be written.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

/// A file that is being filled.
struct OpenFile {
    index: u32,
    path: PathBuf,
    file: Box<dyn FillFile>,
    identity: Identity,
}

/// Which file it is, where the file system tells.
type Identity = Option<FileIdentity>;

/// What the writers share.
struct Batch<'a> {
    maker: &'a TileMaker,
    files: Vec<&'a OpenFile>,
    size_bytes: u64,
    /// Writes that are kept outstanding.
    writers: usize,
    /// The next chunk to be written, counted over all files of the batch.
    next: AtomicUsize,
    /// Set when a writer failed: the others end too.
    failed: AtomicBool,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl TargetDirectory {
    /// Writes those files of `set` that are missing or incomplete, and returns the bytes written.
    /// `progress` is told the bytes written so far and in all; `stop` is asked before every write.
    ///
    /// # Errors
    /// See [`FillError`]. What was complete before stays complete.
    pub fn fill(
        &mut self,
        set: &FileSet,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, FillError> {
        let ended = self.fill_missing(set, stop, progress);
        self.folder.rest();
        ended
    }

    fn fill_missing(
        &mut self,
        set: &FileSet,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, FillError> {
        let missing = self.missing(set);
        let total_bytes = missing.len() as u64 * set.file_size_bytes;
        let maker = set.tile_maker(self.data_seed());
        let mut written_bytes = 0;
        for indexes in missing.chunks(BATCH_FILES) {
            let found = self.refuse_what_is_in_the_way(set, indexes)?;
            self.record(set, indexes, FileState::Filling, &found)?;
            let files = indexes
                .iter()
                .map(|index| self.open_for_fill(set, *index, written_bytes))
                .collect::<Result<Vec<OpenFile>, FillError>>()?;
            let made: Vec<Identity> = files.iter().map(|file| file.identity).collect();
            if made != found {
                self.record(set, indexes, FileState::Filling, &made)?;
            }
            let batch = Batch {
                maker: &maker,
                files: files.iter().collect(),
                size_bytes: set.file_size_bytes,
                writers: self.folder.fill_writers(),
                next: AtomicUsize::new(0),
                failed: AtomicBool::new(false),
                stop,
            };
            written_bytes =
                batch.write_durably(written_bytes, &mut |bytes| progress(bytes, total_bytes))?;
            self.refuse_lost_lock()?;
            self.record(set, indexes, FileState::Complete, &made)?;
        }
        Ok(written_bytes)
    }

    /// The identities of those files that are there already.
    fn refuse_what_is_in_the_way(
        &self,
        set: &FileSet,
        indexes: &[u32],
    ) -> Result<Vec<Identity>, Refusal> {
        let (folder, filesystem) = (self.folder.as_ref(), &self.storage().filesystem);
        let identity = |index: &u32| {
            let found = find_file(folder, &self.file_path(set, *index), &self.manifest)?;
            Ok(found.and_then(|found| FileIdentity::of(&found, filesystem)))
        };
        indexes.iter().map(identity).collect()
    }

    fn record(
        &mut self,
        set: &FileSet,
        indexes: &[u32],
        state: FileState,
        identities: &[Identity],
    ) -> Result<(), Refusal> {
        let data_seed = self.data_seed();
        for (index, identity) in indexes.iter().zip(identities) {
            let wanted = FileRecord::wanted(set, *index, data_seed);
            let record = FileRecord { state, identity: *identity, ..wanted };
            self.manifest.files.insert(set.file_name(*index), record);
        }
        self.manifest.save_in(self.folder.as_ref(), &self.path)
    }

    fn open_for_fill(
        &self,
        set: &FileSet,
        index: u32,
        written_bytes: u64,
    ) -> Result<OpenFile, FillError> {
        let path = self.file_path(set, index);
        let failed = |error| failure("open for the fill", &path, written_bytes, error);
        let mut file = self.folder.open_for_fill(&path).map_err(failed)?;
        let found = file.look().map_err(failed)?;
        // Nothing was written yet: a file that came in between is as it was.
        let record = self.manifest.files.get(&set.file_name(index));
        let known = record.and_then(|record| record.identity);
        if known.is_some_and(|known| !known.may_be(&found)) {
            return Err(FillError::Refused(Refusal::Replaced { path }));
        }
        let identity = FileIdentity::of(&found, &self.storage().filesystem);
        // Longer than wanted: an earlier set of this name. Shorter: the writes will extend it.
        if found.size_bytes > set.file_size_bytes {
            file.cut(set.file_size_bytes).map_err(failed)?;
        }
        if let DirectIo::Supported { offset_align_bytes } = self.storage().direct {
            file.write_directly(offset_align_bytes).map_err(failed)?;
        }
        file.reserve(set.file_size_bytes)
            .map_err(|error| failure("reserve space for", &path, written_bytes, error))?;
        Ok(OpenFile { index, path, file, identity })
    }
}

impl<'a> Batch<'a> {
    /// Writes all chunks of all files until the storage says that they are there to stay.
    fn write_durably(
        mut self,
        before: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<u64, FillError> {
        let written = self.write(before, progress)?;
        for _ in 1..WRITE_TRIES {
            self.files = self.lost(written)?;
            if self.files.is_empty() {
                return Ok(written);
            }
            self.next = AtomicUsize::new(0);
            // Told already: what is written again is no progress.
            self.write(before, &mut |_| {})?;
        }
        match self.lost(written)?.first() {
            None => Ok(written),
            Some(file) => {
                let why = "the write verifier changed each time (RFC 1813, section 3.3.7): the \
                           server was started anew again and again, and lost what was written";
                Err(failure("write", &file.path, written, io::Error::other(why)))
            }
        }
    }

    /// Makes all files durable, and returns those that have to be written again.
    fn lost(&self, written: u64) -> Result<Vec<&'a OpenFile>, FillError> {
        let mut lost = Vec::new();
        for file in &self.files {
            let synced = file.file.sync();
            match synced.map_err(|error| failure("sync", &file.path, written, error))? {
                Synced::Durable => {}
                Synced::Lost => lost.push(*file),
            }
        }
        Ok(lost)
    }
}

impl Batch<'_> {
    /// Writes all chunks of all files. `before` is what was written in earlier batches; returns
    /// that and this.
    fn write(&self, before: u64, progress: &mut dyn FnMut(u64)) -> Result<u64, FillError> {
        let (sender, receiver) = mpsc::channel::<Result<u64, FillError>>();
        thread::scope(|scope| {
            for _ in 0..self.writers.min(self.chunks()) {
                let sender = sender.clone();
                scope.spawn(move || self.write_chunks(&sender));
            }
            drop(sender);
            let mut written = before;
            let mut outcome = Ok(());
            for message in receiver {
                match message {
                    Ok(bytes) => {
                        written += bytes;
                        progress(written);
                    }
                    // The first failure is the cause; the others follow from it.
                    Err(error) if outcome.is_ok() => {
                        self.failed.store(true, Ordering::Relaxed);
                        outcome = Err(error.after(written));
                    }
                    Err(_) => {}
                }
            }
            outcome.map(|()| written)
        })
    }

    fn chunks_per_file(&self) -> usize {
        self.size_bytes.div_ceil(CHUNK_BYTES) as usize
    }

    fn chunks(&self) -> usize {
        self.files.len() * self.chunks_per_file()
    }

    /// One writer: takes chunk after chunk until none is left.
    fn write_chunks(&self, results: &Sender<Result<u64, FillError>>) {
        let mut buffer = AlignedBuffer::new(CHUNK_BYTES as usize);
        loop {
            let chunk = self.next.fetch_add(1, Ordering::Relaxed);
            if chunk >= self.chunks() || self.failed.load(Ordering::Relaxed) {
                return;
            }
            let result = if (self.stop)() {
                Err(FillError::Stopped)
            } else {
                let file = self.files[chunk / self.chunks_per_file()];
                let offset = (chunk % self.chunks_per_file()) as u64 * CHUNK_BYTES;
                self.write_chunk(file, offset, buffer.as_mut())
                    .map_err(|error| failure("write", &file.path, 0, error))
            };
            let ended = result.is_err();
            // The receiver lives as long as the writers: it ends only when all senders are gone.
            results.send(result).expect("the fill waits for its writers");
            if ended {
                return;
            }
        }
    }

    fn write_chunk(&self, file: &OpenFile, offset: u64, buffer: &mut [u8]) -> io::Result<u64> {
        let len = CHUNK_BYTES.min(self.size_bytes - offset) as usize;
        // The last tile of a file may be cut off, and is made whole in memory.
        let in_tiles = len.next_multiple_of(self.maker.tile_bytes());
        self.maker.fill(file.index, offset, 0, &mut buffer[..in_tiles]);
        file.file.write_all_at(&buffer[..len], offset)?;
        Ok(len as u64)
    }
}

fn failure(action: &'static str, path: &Path, written_bytes: u64, source: io::Error) -> FillError {
    let path = path.to_path_buf();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            FillError::NoSpace { path, written_bytes, source }
        }
        // Where the kernel is interrupted it is asked again: this is the user's wish.
        io::ErrorKind::Interrupted => FillError::Stopped,
        _ => FillError::Io { action, path, source },
    }
}

impl FillError {
    /// The same, with what was written before.
    fn after(self, bytes: u64) -> FillError {
        match self {
            FillError::NoSpace { path, source, .. } => {
                FillError::NoSpace { path, written_bytes: bytes, source }
            }
            other => other,
        }
    }
}
