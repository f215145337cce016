//! Writes the files that a plan needs: every byte, durably, with the data that reads are verified
//! against.
//!
//! Several large aligned direct writes are outstanding, so that the storage limits the fill. Those to
//! the page cache of a file take turns, while the next data is generated. Space is reserved first
//! (`fallocate`): a lack of space is found early and the layout is contiguous. Then all bytes are
//! written in order. At every checkpoint, and when the fill stops early, the written data is synced
//! and recorded in the manifest, so that the next fill resumes inside the file. Verification of
//! files: [`crate::verification`].

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;

use units::Bytes;
use workload::data::TileMaker;
use workload::plan::FileSet;

use crate::aligned::AlignedBuffer;
use crate::directory::TargetDirectory;
use crate::folder::{FillFile, Synced};
use crate::identity::FileIdentity;
use crate::inventory::find_file;
use crate::manifest::{DurableBytes, FileRecord};
use crate::refusal::Refusal;
use crate::split_fill::{FillWatcher, Unshared};
use crate::storage::DirectIo;
use crate::threads::ThreadError;

/// Bytes of one write: large enough that the storage, not the system call, determines its duration.
const CHUNK_BYTES: u64 = 1 << 20;
/// How often the same chunks are written if the server loses uncommitted data.
const WRITE_TRIES: u32 = 5;
/// Files that are filled together. Small ones share checkpoints, because each checkpoint syncs the
/// manifest.
const BATCH_FILES: usize = 64;
/// Chunks between two checkpoints. A killed fill repeats at most these 256 MiB: two seconds at
/// 128 MiB/s, while the syncs of a checkpoint take milliseconds.
const CHECKPOINT_CHUNKS: usize = 256;

/// Why a fill stopped early. What was written is synced and recorded: the next fill resumes there,
/// and `clean` removes it.
#[derive(Debug, thiserror::Error)]
pub enum FillError {
    /// The user stopped it.
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
        /// Bytes of this file set that were written before the failure.
        written_bytes: u64,
        /// Storage that all files of the directory occupy, in bytes; `clean` frees it.
        taken_bytes: u64,
        /// The kernel's error.
        source: io::Error,
    },
    /// A file could not be created, written or synced.
    #[error("{action} `{}`: {source}", path.display())]
    Io {
        /// The failed action.
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// No writer thread could be started.
    #[error(transparent)]
    Threads(#[from] ThreadError),
    /// A file's name is taken by something else, or the manifest cannot be written.
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
    durable_bytes: u64,
    /// Held by the writer whose turn it is, if [`FillFile::writes_exclude_each_other`].
    turn: Option<Mutex<()>>,
}

/// A file's identity, if the file system provides one.
pub(crate) type Identity = Option<FileIdentity>;

/// A range of a file that is written with one call.
struct Chunk {
    /// Index into the open files.
    file: usize,
    range: Range<u64>,
    is_written: AtomicBool,
}

/// The chunks between two checkpoints, shared by the writers.
struct Portion<'a> {
    maker: &'a TileMaker,
    files: &'a [OpenFile],
    /// Ordered by file and offset.
    chunks: Vec<Chunk>,
    /// Writes to keep outstanding.
    writers: usize,
    /// Bytes that the fill wrote before this portion.
    before_bytes: u64,
    /// The next chunk to write.
    next: AtomicUsize,
    /// Set when a writer fails: the others stop too.
    failed: AtomicBool,
    stop: &'a (dyn Fn() -> bool + Sync),
}

impl TargetDirectory {
    /// Writes the missing parts of the files of `set`, and returns the bytes written. `progress` is
    /// called with the bytes written so far and the total, `stop` before every write.
    ///
    /// # Errors
    /// See [`FillError`].
    pub fn fill(
        &mut self,
        set: &FileSet,
        stop: &(dyn Fn() -> bool + Sync),
        progress: &mut dyn FnMut(u64, u64),
    ) -> Result<u64, FillError> {
        let missing = self.missing(set);
        for index in &missing {
            if let Some(record) = self.manifest.files.get_mut(&set.file_name(*index)) {
                record.filled_by = None;
            }
        }
        self.fill_files(set, &missing, stop, &mut Unshared(progress))
    }

    /// The same for the files with these numbers, all of which are missing. `watcher` also gets what
    /// becomes durable.
    ///
    /// # Errors
    /// See [`FillError`].
    pub fn fill_files(
        &mut self,
        set: &FileSet,
        missing: &[u32],
        stop: &(dyn Fn() -> bool + Sync),
        watcher: &mut dyn FillWatcher,
    ) -> Result<u64, FillError> {
        let mut outcome = self.fill_missing(set, missing, stop, watcher);
        if let Err(FillError::NoSpace { taken_bytes, .. }) = &mut outcome {
            *taken_bytes = self.allocated_bytes();
        }
        self.folder.release_fill_resources();
        outcome
    }

    /// Storage that the files of this directory occupy, in bytes.
    fn allocated_bytes(&self) -> u64 {
        let mut paths: Vec<PathBuf> =
            self.manifest.files.keys().map(|name| self.path.join(name)).collect();
        if !self.lock.has_claimed() {
            // This host knows only its part of the files.
            let names = self.folder.list(&self.path).unwrap_or_default();
            paths = names.iter().map(|name| self.path.join(name)).collect();
        }
        let found =
            paths.into_iter().filter_map(|path| self.folder.find_entry(&path).ok().flatten());
        found.map(|found| found.allocated_bytes).sum()
    }

    fn fill_missing(
        &mut self,
        set: &FileSet,
        missing: &[u32],
        stop: &(dyn Fn() -> bool + Sync),
        watcher: &mut dyn FillWatcher,
    ) -> Result<u64, FillError> {
        let durable_bytes: u64 = missing.iter().map(|index| self.durable_bytes(set, *index)).sum();
        let total_bytes = missing.len() as u64 * set.file_size_bytes - durable_bytes;
        let maker = set.tile_maker(self.data_seed());
        let mut written_bytes = 0;
        for indexes in missing.chunks(BATCH_FILES) {
            let files = self.open_batch(set, indexes, written_bytes)?;
            let mut chunks = files.iter().enumerate().flat_map(|(file, open)| {
                let (start, size_bytes) = (open.durable_bytes, set.file_size_bytes);
                (start..size_bytes).step_by(CHUNK_BYTES as usize).map(move |offset| Chunk {
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
                    writers: self.folder.transfer_threads(),
                    before_bytes: written_bytes,
                    next: AtomicUsize::new(0),
                    failed: AtomicBool::new(false),
                    stop,
                };
                if portion.chunks.is_empty() {
                    break;
                }
                let outcome =
                    portion.write_durably(&mut |bytes| watcher.progress(bytes, total_bytes));
                let recorded = self.checkpoint(set, &portion, watcher);
                written_bytes = outcome?;
                recorded?;
            }
        }
        Ok(written_bytes)
    }

    /// Records and opens files to be filled.
    fn open_batch(
        &mut self,
        set: &FileSet,
        indexes: &[u32],
        written_bytes: u64,
    ) -> Result<Vec<OpenFile>, FillError> {
        let found = self.existing_identities(set, indexes)?;
        let durable: Vec<u64> =
            indexes.iter().map(|index| self.durable_bytes(set, *index)).collect();
        self.record(set, indexes, &durable, &found)?;
        let files = indexes
            .iter()
            .zip(&durable)
            .map(|(index, bytes)| self.open_for_fill(set, *index, *bytes, written_bytes))
            .collect::<Result<Vec<OpenFile>, FillError>>()?;
        let opened: Vec<Identity> = files.iter().map(|file| file.identity).collect();
        if opened != found {
            self.record(set, indexes, &durable, &opened)?;
        }
        Ok(files)
    }

    /// Records the durable bytes of the files of `portion`, and those that other hosts reported.
    fn checkpoint(
        &mut self,
        set: &FileSet,
        portion: &Portion<'_>,
        watcher: &mut dyn FillWatcher,
    ) -> Result<(), Refusal> {
        self.refuse_lost_lock()?;
        let durable = |(file, bytes): (&OpenFile, u64)| DurableBytes {
            name: set.file_name(file.index),
            bytes,
        };
        let mut files: Vec<DurableBytes> =
            portion.durable_ends().into_iter().map(durable).collect();
        let of_others = watcher.durable(&files);
        files.extend(of_others);
        self.record_durable(&files)
    }

    /// The identities of the files that exist already; refuses files that are not ours.
    pub(crate) fn existing_identities(
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

    /// Lists files as being filled, with their durable bytes. Known writers are kept.
    pub(crate) fn record(
        &mut self,
        set: &FileSet,
        indexes: &[u32],
        durable: &[u64],
        identities: &[Identity],
    ) -> Result<(), Refusal> {
        let data_seed = self.data_seed();
        for ((index, durable_bytes), identity) in indexes.iter().zip(durable).zip(identities) {
            let mut record = FileRecord::complete(set, *index, data_seed);
            record.set_durable_bytes(*durable_bytes);
            record.identity = *identity;
            let name = set.file_name(*index);
            let known = self.manifest.files.get(&name);
            record.filled_by = known.and_then(|known| known.filled_by.clone());
            self.manifest.files.insert(name, record);
        }
        self.save_manifest()
    }

    fn open_for_fill(
        &self,
        set: &FileSet,
        index: u32,
        durable_bytes: u64,
        written_bytes: u64,
    ) -> Result<OpenFile, FillError> {
        let path = self.file_path(set, index);
        let failed = |error| failure("open for the fill", &path, written_bytes, error);
        let mut file = self.folder.open_for_fill(&path).map_err(failed)?;
        let found = file.attributes().map_err(failed)?;
        // A file that was created since the check is refused before anything is written to it.
        let record = self.manifest.files.get(&set.file_name(index));
        let known = record.and_then(|record| record.identity);
        if known.is_some_and(|known| !known.may_be(&found)) {
            return Err(FillError::Refused(Refusal::Replaced { path }));
        }
        let identity = FileIdentity::of(&found, &self.storage().filesystem);
        // Longer: it is from an earlier set with this name. Shorter: the writes extend it.
        if found.size_bytes > set.file_size_bytes {
            file.truncate(set.file_size_bytes).map_err(failed)?;
        }
        // In memory there is no cache to bypass: the kernel accepts the flag and ignores it.
        if let DirectIo::Supported { offset_align_bytes } = self.storage().direct
            && !self.storage().in_memory
        {
            file.write_directly(offset_align_bytes).map_err(failed)?;
        }
        file.reserve(set.file_size_bytes)
            .map_err(|error| failure("reserve space for", &path, written_bytes, error))?;
        let turn = file.writes_exclude_each_other().then(|| Mutex::new(()));
        Ok(OpenFile { index, path, file, identity, durable_bytes, turn })
    }
}

impl Portion<'_> {
    /// Writes all chunks until they are durable, and returns the bytes written by the fill so far.
    /// After a failure, the data written before it is still synced.
    fn write_durably(&self, progress: &mut dyn FnMut(u64)) -> Result<u64, FillError> {
        let mut outcome = self.write(progress);
        for _ in 1..WRITE_TRIES {
            let is_lost = self.sync(&mut outcome);
            if !is_lost || outcome.is_err() {
                return outcome;
            }
            // Repeated writes are not progress: they were reported already.
            self.next.store(0, Ordering::Relaxed);
            outcome = self.write(&mut |_| {});
        }
        if self.sync(&mut outcome) && outcome.is_ok() {
            let lost = self.chunks.iter().find(|chunk| !chunk.is_written.load(Ordering::Relaxed));
            let path = &self.files[lost.map_or(0, |chunk| chunk.file)].path;
            let why = "the write verifier changed each time (RFC 1813, section 3.3.7): the \
                       server restarted repeatedly and lost uncommitted data";
            return Err(failure("write", path, self.before_bytes, io::Error::other(why)));
        }
        outcome
    }

    /// Syncs all files of the portion. Chunks of files that are not durable count as unwritten.
    /// Returns whether the server lost any. A failed sync becomes the `outcome` unless that is a
    /// failure already.
    fn sync(&self, outcome: &mut Result<u64, FillError>) -> bool {
        let mut is_lost = false;
        for chunks in self.chunks.chunk_by(|a, b| a.file == b.file) {
            let file = &self.files[chunks[0].file];
            match file.file.sync() {
                Ok(Synced::Durable) => continue,
                Ok(Synced::Lost) => is_lost = true,
                // The first failure is the cause.
                Err(error) => {
                    if let Ok(written_bytes) = *outcome {
                        *outcome = Err(failure("sync", &file.path, written_bytes, error));
                    }
                }
            }
            chunks.iter().for_each(|chunk| chunk.is_written.store(false, Ordering::Relaxed));
        }
        is_lost
    }

    /// The files with new durable bytes, each with the end of its gapless written range. Called
    /// after a sync.
    fn durable_ends(&self) -> Vec<(&OpenFile, u64)> {
        let files = self.chunks.chunk_by(|a, b| a.file == b.file);
        let end = |chunks: &[Chunk]| {
            let written =
                chunks.iter().take_while(|chunk| chunk.is_written.load(Ordering::Relaxed));
            written.last().map(|chunk| (&self.files[chunk.file], chunk.range.end))
        };
        files.filter_map(end).collect()
    }

    /// Writes the chunks that are not written, and returns the bytes written by the fill so far.
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
                    // Fewer writers are sufficient.
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
                    // The first failure is the cause of the others.
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

    /// One writer: takes chunks until none remains. It checks for a stop before it takes one, so a
    /// stopped fill leaves no gap.
    fn write_chunks(&self, results: &Sender<Result<u64, FillError>>) {
        let mut buffer = AlignedBuffer::new(CHUNK_BYTES as usize);
        // The receiver outlives the writers: it ends when all senders are dropped.
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
        // A tile that the end of the file truncates is generated completely.
        let in_tiles = len.next_multiple_of(self.maker.tile_bytes());
        self.maker.fill(file.index, chunk.range.start, 0, &mut buffer[..in_tiles]);
        // A writer that panicked ends the fill, so its turn is over.
        let turn =
            file.turn.as_ref().map(|turn| turn.lock().unwrap_or_else(PoisonError::into_inner));
        let written = file.file.write_all_at(&buffer[..len], chunk.range.start);
        drop(turn);
        written.map_err(|error| failure("write", &file.path, 0, error))
    }
}

pub(crate) fn failure(
    action: &'static str,
    path: &Path,
    written_bytes: u64,
    source: io::Error,
) -> FillError {
    let path = path.to_path_buf();
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            FillError::NoSpace { path, written_bytes, taken_bytes: 0, source }
        }
        // The kernel's EINTR is handled at the call, so this is the user's cancellation.
        io::ErrorKind::Interrupted => FillError::Stopped,
        _ => FillError::Io { action, path, source },
    }
}

impl FillError {
    /// The same error with the bytes that were written before it.
    fn after(self, bytes: u64) -> FillError {
        match self {
            FillError::NoSpace { path, taken_bytes, source, .. } => {
                FillError::NoSpace { path, written_bytes: bytes, taken_bytes, source }
            }
            other => other,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use workload::data::DataPattern;

    use super::*;
    use crate::folder::Entry;

    /// A file that counts concurrent writes.
    #[derive(Default)]
    struct CountingFile {
        writing: AtomicUsize,
        writing_max: Arc<AtomicUsize>,
    }

    impl FillFile for CountingFile {
        fn attributes(&self) -> io::Result<Entry> {
            Err(io::ErrorKind::Unsupported.into())
        }

        fn truncate(&self, _size_bytes: u64) -> io::Result<()> {
            Ok(())
        }

        fn write_directly(&mut self, _offset_align_bytes: u64) -> io::Result<()> {
            Ok(())
        }

        fn writes_exclude_each_other(&self) -> bool {
            true
        }

        fn reserve(&self, _size_bytes: u64) -> io::Result<()> {
            Ok(())
        }

        fn write_all_at(&self, _bytes: &[u8], _offset: u64) -> io::Result<()> {
            let writing = self.writing.fetch_add(1, Ordering::SeqCst) + 1;
            self.writing_max.fetch_max(writing, Ordering::SeqCst);
            // Another writer that does not wait for its turn begins meanwhile.
            thread::yield_now();
            self.writing.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }

        fn sync(&self) -> io::Result<Synced> {
            Ok(Synced::Durable)
        }
    }

    #[test]
    fn writers_of_a_file_whose_writes_exclude_each_other_take_turns() {
        const CHUNKS: u64 = 200;
        let file = CountingFile::default();
        let writing_max = Arc::clone(&file.writing_max);
        let files = [OpenFile {
            index: 0,
            path: PathBuf::from("file"),
            identity: None,
            durable_bytes: 0,
            turn: file.writes_exclude_each_other().then(|| Mutex::new(())),
            file: Box::new(file),
        }];
        let chunk = |number: u64| Chunk {
            file: 0,
            range: number * 4096..(number + 1) * 4096,
            is_written: AtomicBool::new(false),
        };
        let portion = Portion {
            maker: &TileMaker::new(1, DataPattern::default(), 4096),
            files: &files,
            chunks: (0..CHUNKS).map(chunk).collect(),
            writers: 4,
            before_bytes: 0,
            next: AtomicUsize::new(0),
            failed: AtomicBool::new(false),
            stop: &|| false,
        };
        let written = portion.write(&mut |_| {}).expect("nothing fails");
        assert_eq!(written, CHUNKS * 4096);
        assert_eq!(writing_max.load(Ordering::SeqCst), 1);
    }
}
