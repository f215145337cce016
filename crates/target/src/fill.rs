//! Writes the files that a plan needs: every byte, durably, with the data that later reads are
//! checked against.
//!
//! Large aligned direct writes, several outstanding, so that the fill is limited by the storage.
//! Space is reserved first (`fallocate`), which makes a lack of it known early and keeps the layout
//! contiguous; the reserved extents are then all written, in order. At every checkpoint, and when
//! the fill ends early, what was written is synced and recorded in the manifest, so that the next
//! fill resumes inside the file. Not here: whether files are still what was written
//! ([`crate::truth`]).

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread;

use units::Bytes;
use workload::data::TileMaker;
use workload::plan::FileSet;

use crate::aligned::AlignedBuffer;
use crate::directory::TargetDirectory;
use crate::folder::{FillFile, Synced};
use crate::identity::FileIdentity;
use crate::manifest::FileRecord;
use crate::ours::find_file;
use crate::refusal::Refusal;
use crate::storage::DirectIo;
use crate::threads::ThreadError;

/// Bytes of one write. Large enough that the storage, not the call, is what takes time.
const CHUNK_BYTES: u64 = 1 << 20;
/// How often the same files are written, where the server loses what was not yet committed.
const WRITE_TRIES: u32 = 5;
/// Files that are open at once. Small ones share a checkpoint, so that many of them do not cost as
/// many syncs of the manifest.
const BATCH_FILES: usize = 64;
/// Chunks between two checkpoints. A killed fill repeats at most these 256 MiB: two seconds at
/// 128 MiB/s, while the syncs of a checkpoint take milliseconds.
const CHECKPOINT_CHUNKS: usize = 256;

/// Why a fill ended before its end. What was written is synced and recorded, so that the next fill
/// writes only the rest and `clean` removes it.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// As the user wished.
    #[error("the fill was stopped")]
    Stopped,
    /// The file system or a quota is full.
    #[error(
        "no space left for `{}` after {} of the fill: {source}; the files of this directory take \
         {}",
        path.display(), Bytes::new(*written_bytes), Bytes::new(*taken_bytes)
    )]
    NoSpace {
        /// The file that did not fit.
        path: PathBuf,
        /// Bytes of this file set that were written before.
        written_bytes: u64,
        /// Bytes that all files of the directory take on the storage: what `clean` frees.
        taken_bytes: u64,
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
    /// Not even one writer could be started.
    #[error(transparent)]
    Threads(#[from] ThreadError),
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
    /// Bytes from its start that were durable when it was opened.
    kept_bytes: u64,
}

/// Which file it is, where the file system tells.
type Identity = Option<FileIdentity>;

/// A piece of a file that one write fills.
struct Chunk {
    /// Index of its file among the open ones.
    file: usize,
    range: Range<u64>,
    is_written: AtomicBool,
}

/// What is written between two checkpoints, shared by the writers.
struct Portion<'a> {
    maker: &'a TileMaker,
    files: &'a [OpenFile],
    /// In the order of files and offsets.
    chunks: Vec<Chunk>,
    /// Writes that are kept outstanding.
    writers: usize,
    /// Bytes that the fill wrote before.
    before_bytes: u64,
    /// The next chunk to be written.
    next: AtomicUsize,
    /// Set when a writer failed: the others end too.
    failed: AtomicBool,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl TargetDirectory {
    /// Writes what is missing of the files of `set`, and returns the bytes written. `progress` is
    /// called with the bytes written so far and in all, `stop` before every write.
    ///
    /// # Errors
    /// See [`FillError`]. What was written before is kept.
    pub fn fill(
        &mut self,
        set: &FileSet,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, FillError> {
        let mut ended = self.fill_missing(set, stop, progress);
        if let Err(FillError::NoSpace { taken_bytes, .. }) = &mut ended {
            *taken_bytes = self.taken_bytes();
        }
        self.folder.rest();
        ended
    }

    /// Bytes that the files of this directory take on the storage.
    fn taken_bytes(&self) -> u64 {
        let paths = self.manifest.files.keys().map(|name| self.path.join(name));
        let found = paths.filter_map(|path| self.folder.look(&path).ok().flatten());
        found.map(|found| found.allocated_bytes).sum()
    }

    fn fill_missing(
        &mut self,
        set: &FileSet,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, FillError> {
        let missing = self.missing(set);
        let kept_bytes: u64 = missing.iter().map(|index| self.kept_bytes(set, *index)).sum();
        let total_bytes = missing.len() as u64 * set.file_size_bytes - kept_bytes;
        let maker = set.tile_maker(self.data_seed());
        let mut written_bytes = 0;
        for indexes in missing.chunks(BATCH_FILES) {
            let files = self.begin(set, indexes, written_bytes)?;
            let mut chunks = files.iter().enumerate().flat_map(|(file, open)| {
                let (kept_bytes, size_bytes) = (open.kept_bytes, set.file_size_bytes);
                (kept_bytes..size_bytes).step_by(CHUNK_BYTES as usize).map(move |offset| Chunk {
                    file,
                    range: offset..size_bytes.min(offset + CHUNK_BYTES),
                    is_written: AtomicBool::new(false),
                })
            });
            loop {
                let portion = Portion {
                    maker: &maker,
                    files: &files,
                    chunks: chunks.by_ref().take(CHECKPOINT_CHUNKS).collect(),
                    writers: self.folder.fill_writers(),
                    before_bytes: written_bytes,
                    next: AtomicUsize::new(0),
                    failed: AtomicBool::new(false),
                    stop,
                };
                if portion.chunks.is_empty() {
                    break;
                }
                let ended = portion.write_durably(&mut |bytes| progress(bytes, total_bytes));
                let recorded = self.checkpoint(set, &portion);
                written_bytes = ended?;
                recorded?;
            }
        }
        Ok(written_bytes)
    }

    /// Records and opens files that are to be filled.
    fn begin(
        &mut self,
        set: &FileSet,
        indexes: &[u32],
        written_bytes: u64,
    ) -> Result<Vec<OpenFile>, FillError> {
        let found = self.refuse_what_is_in_the_way(set, indexes)?;
        let kept: Vec<u64> = indexes.iter().map(|index| self.kept_bytes(set, *index)).collect();
        self.record(set, indexes, &kept, &found)?;
        let files = indexes
            .iter()
            .zip(&kept)
            .map(|(index, kept_bytes)| self.open_for_fill(set, *index, *kept_bytes, written_bytes))
            .collect::<Result<Vec<OpenFile>, FillError>>()?;
        let made: Vec<Identity> = files.iter().map(|file| file.identity).collect();
        if made != found {
            self.record(set, indexes, &kept, &made)?;
        }
        Ok(files)
    }

    /// Records how far the files of `portion` are durable.
    fn checkpoint(&mut self, set: &FileSet, portion: &Portion<'_>) -> Result<(), Refusal> {
        self.refuse_lost_lock()?;
        let ends = portion.durable_ends();
        if ends.is_empty() {
            return Ok(());
        }
        for (file, end_bytes) in ends {
            let record = self.manifest.files.get_mut(&set.file_name(file.index));
            record.expect("a file is listed before it is filled").set_kept_bytes(end_bytes);
        }
        self.manifest.save_in(self.folder.as_ref(), &self.path)
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

    /// Lists files as being filled, with the bytes of each that are kept.
    fn record(
        &mut self,
        set: &FileSet,
        indexes: &[u32],
        kept: &[u64],
        identities: &[Identity],
    ) -> Result<(), Refusal> {
        let data_seed = self.data_seed();
        for ((index, kept_bytes), identity) in indexes.iter().zip(kept).zip(identities) {
            let mut record = FileRecord::wanted(set, *index, data_seed);
            record.set_kept_bytes(*kept_bytes);
            record.identity = *identity;
            self.manifest.files.insert(set.file_name(*index), record);
        }
        self.manifest.save_in(self.folder.as_ref(), &self.path)
    }

    fn open_for_fill(
        &self,
        set: &FileSet,
        index: u32,
        kept_bytes: u64,
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
        Ok(OpenFile { index, path, file, identity, kept_bytes })
    }
}

impl Portion<'_> {
    /// Writes all chunks until the storage reports them as durable, and returns the bytes written
    /// by the fill so far. After a failure, what was written until then is synced too.
    fn write_durably(&self, progress: &mut dyn FnMut(u64)) -> Result<u64, FillError> {
        let mut ended = self.write(progress);
        for _ in 1..WRITE_TRIES {
            let is_lost = self.sync(&mut ended);
            if !is_lost || ended.is_err() {
                return ended;
            }
            // Reported already: what is written again is no progress.
            self.next.store(0, Ordering::Relaxed);
            ended = self.write(&mut |_| {});
        }
        if self.sync(&mut ended) && ended.is_ok() {
            let lost = self.chunks.iter().find(|chunk| !chunk.is_written.load(Ordering::Relaxed));
            let path = &self.files[lost.map_or(0, |chunk| chunk.file)].path;
            let why = "the write verifier changed each time (RFC 1813, section 3.3.7): the \
                       server was started anew again and again, and lost what was written";
            return Err(failure("write", path, self.before_bytes, io::Error::other(why)));
        }
        ended
    }

    /// Makes all files of the portion durable. Chunks of a file that is not count as unwritten;
    /// returns whether the server lost any. A file that cannot be synced fails what has `ended`.
    fn sync(&self, ended: &mut Result<u64, FillError>) -> bool {
        let mut is_lost = false;
        for chunks in self.chunks.chunk_by(|a, b| a.file == b.file) {
            let file = &self.files[chunks[0].file];
            match file.file.sync() {
                Ok(Synced::Durable) => continue,
                Ok(Synced::Lost) => is_lost = true,
                // The first failure is the cause.
                Err(error) => {
                    if let Ok(written_bytes) = *ended {
                        *ended = Err(failure("sync", &file.path, written_bytes, error));
                    }
                }
            }
            chunks.iter().for_each(|chunk| chunk.is_written.store(false, Ordering::Relaxed));
        }
        is_lost
    }

    /// The files that are durable further than before, each with the end of what is written of it
    /// without a gap; to be called after a sync.
    fn durable_ends(&self) -> Vec<(&OpenFile, u64)> {
        let files = self.chunks.chunk_by(|a, b| a.file == b.file);
        let end = |chunks: &[Chunk]| {
            let written =
                chunks.iter().take_while(|chunk| chunk.is_written.load(Ordering::Relaxed));
            written.last().map(|chunk| (&self.files[chunk.file], chunk.range.end))
        };
        files.filter_map(end).collect()
    }

    /// Writes those chunks that are not written, and returns the bytes written by the fill so far.
    fn write(&self, progress: &mut dyn FnMut(u64)) -> Result<u64, FillError> {
        let (sender, receiver) = mpsc::channel::<Result<u64, FillError>>();
        thread::scope(|scope| {
            let requested = self.writers.min(self.chunks.len());
            for number in 1..=requested {
                let sender = sender.clone();
                let writer = thread::Builder::new().name(format!("fill-{number}"));
                match writer.spawn_scoped(scope, move || self.write_chunks(&sender)) {
                    Ok(_) => {}
                    Err(source) if number == 1 => {
                        return Err(ThreadError { number, requested, source }.into());
                    }
                    // Fewer writers do it too.
                    Err(_) => break,
                }
            }
            drop(sender);
            let mut written = self.before_bytes;
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

    /// One writer: takes chunk after chunk until none is left. After a stop it takes none, so that
    /// what a stopped fill has written has no gap.
    fn write_chunks(&self, results: &Sender<Result<u64, FillError>>) {
        let mut buffer = AlignedBuffer::new(CHUNK_BYTES as usize);
        // The receiver lives as long as the writers: it ends when all senders are gone.
        let send = |result| results.send(result).expect("the fill waits for its writers");
        while !self.failed.load(Ordering::Relaxed) {
            if (self.stop)() {
                if self.next.load(Ordering::Relaxed) < self.chunks.len() {
                    send(Err(FillError::Stopped));
                }
                return;
            }
            let next = self.chunks.get(self.next.fetch_add(1, Ordering::Relaxed));
            let Some(chunk) = next else { return };
            if !chunk.is_written.load(Ordering::Relaxed) {
                if let Err(error) = self.write_chunk(chunk, buffer.as_mut()) {
                    return send(Err(error));
                }
                chunk.is_written.store(true, Ordering::Relaxed);
            }
            send(Ok(chunk.range.end - chunk.range.start));
        }
    }

    fn write_chunk(&self, chunk: &Chunk, buffer: &mut [u8]) -> Result<(), FillError> {
        let file = &self.files[chunk.file];
        let len = (chunk.range.end - chunk.range.start) as usize;
        // The last tile of a file may be cut off, and is made whole in memory.
        let in_tiles = len.next_multiple_of(self.maker.tile_bytes());
        self.maker.fill(file.index, chunk.range.start, 0, &mut buffer[..in_tiles]);
        let written = file.file.write_all_at(&buffer[..len], chunk.range.start);
        written.map_err(|error| failure("write", &file.path, 0, error))
    }
}

fn failure(action: &'static str, path: &Path, written_bytes: u64, source: io::Error) -> FillError {
    let path = path.to_path_buf();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            FillError::NoSpace { path, written_bytes, taken_bytes: 0, source }
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
            FillError::NoSpace { path, taken_bytes, source, .. } => {
                FillError::NoSpace { path, written_bytes: bytes, taken_bytes, source }
            }
            other => other,
        }
    }
}
