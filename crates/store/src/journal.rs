//! The journal: an append-only file of frames, each with its length and checksum.
//!
//! ```text
//! header  "4CJOURNL"  version u32  crc32c u32 of the 12 bytes before
//! frames  as in `record::framing`
//! ```
//! All numbers are little-endian. A frame is appended with one `write`, so a killed process leaves
//! at most one incomplete frame, at the end. Reading ignores it. An invalid frame with a valid one
//! after it cannot come from a kill and is reported as damage; the marker is used to find the valid
//! one.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use record::framing::{self, RawFrame, frame_at, has_frame_after};

use crate::Error;

/// The file's name in the run directory.
pub(crate) const NAME: &str = "journal";

const MAGIC: [u8; 8] = *b"4CJOURNL";
/// Version of the journal's format. This version reads journals of all versions up to this number
/// and refuses higher ones. Journals are never rewritten.
const VERSION: u32 = 1;
const HEADER_BYTES: usize = 16;

/// The journal of a running experiment, locked while it is open.
#[derive(Debug)]
pub(crate) struct Journal {
    path: PathBuf,
    file: File,
    /// Position after the last complete frame.
    end_bytes: u64,
    /// An incomplete frame could not be truncated.
    closed: bool,
    buffer: Vec<u8>,
}

impl Journal {
    /// Creates and locks the file, and writes its header.
    pub(crate) fn create(path: PathBuf) -> Result<Journal, Error> {
        let fail = |source| Error::CreateRunDirectory { path: path.clone(), source };
        let options = OpenOptions::new().append(true).create_new(true).open(&path);
        let mut file = options.map_err(fail)?;
        if let Err(refused) = file.try_lock() {
            let source = match refused {
                TryLockError::Error(source) => source,
                TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
            };
            return Err(Error::LockJournal { path, source });
        }
        file.write_all(&header(VERSION)).map_err(fail)?;
        file.sync_all().map_err(fail)?;
        let end_bytes = HEADER_BYTES as u64;
        Ok(Journal { path, file, end_bytes, closed: false, buffer: Vec::new() })
    }

    /// Opens and locks the journal of a process that has ended, to append what was missing. An incomplete
    /// frame at its end is removed, because a valid one after it would be reported as damage.
    ///
    /// # Errors
    /// [`Error::BeingWritten`], [`Error::DamagedJournal`], [`Error::NewerVersion`].
    pub(crate) fn reopen(path: PathBuf) -> Result<Journal, Error> {
        let fail = |source| Error::AppendJournal { path: path.clone(), source };
        let file = OpenOptions::new().append(true).open(&path).map_err(fail)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::BeingWritten { path }),
            Err(TryLockError::Error(source)) => return Err(Error::LockJournal { path, source }),
        }
        let read = |source| Error::ReadFile { path: path.clone(), source };
        let bytes = std::fs::read(&path).map_err(read)?;
        let last = frames(&path, &bytes)?.last().map(RawFrame::end_bytes);
        if bytes.len() < HEADER_BYTES {
            return Err(Error::DamagedJournal {
                path,
                offset_bytes: 0,
                reason: "its header is incomplete".to_owned(),
            });
        }
        let end_bytes = last.unwrap_or(HEADER_BYTES as u64);
        if end_bytes < bytes.len() as u64 {
            file.set_len(end_bytes).map_err(fail)?;
        }
        Ok(Journal { path, file, end_bytes, closed: false, buffer: Vec::new() })
    }

    /// Sets the path that messages show, after the run directory was renamed.
    pub(crate) fn set_path(&mut self, path: PathBuf) {
        self.path = path;
    }

    /// Appends a frame with one `write`. When this returns, the kernel has the frame, so it
    /// survives a kill of the process. It survives a loss of power only after [`Journal::sync`].
    pub(crate) fn append(
        &mut self,
        kind: u8,
        encode: impl FnOnce(&mut Vec<u8>),
    ) -> Result<(), Error> {
        if self.closed {
            return Err(Error::JournalClosed { path: self.path.clone() });
        }
        self.buffer.clear();
        framing::append(kind, encode, &mut self.buffer);
        match self.file.write_all(&self.buffer) {
            Ok(()) => {
                self.end_bytes += self.buffer.len() as u64;
                Ok(())
            }
            Err(source) => {
                // An incomplete frame before a complete one would be reported as damage.
                self.closed = self.file.set_len(self.end_bytes).is_err();
                Err(Error::AppendJournal { path: self.path.clone(), source })
            }
        }
    }

    /// Makes everything durable.
    pub(crate) fn sync(&mut self) -> Result<(), Error> {
        self.file
            .sync_data()
            .map_err(|source| Error::AppendJournal { path: self.path.clone(), source })
    }
}

/// Whether a process has the journal open for writing.
pub(crate) fn is_live(path: &Path) -> Result<bool, Error> {
    let fail = |source| Error::ReadFile { path: path.to_owned(), source };
    let file = File::open(path).map_err(fail)?;
    match file.try_lock_shared() {
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(source)) => Err(fail(source)),
    }
}

fn header(version: u32) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..12].copy_from_slice(&version.to_le_bytes());
    let check = crc32c::crc32c(&header[..12]);
    header[12..].copy_from_slice(&check.to_le_bytes());
    header
}

/// The complete frames of a journal that nothing else vouches for, and the damage after them, if there
/// is any.
pub(crate) fn frames_before_damage<'a>(
    path: &Path,
    bytes: &'a [u8],
) -> (Vec<RawFrame<'a>>, Option<Error>) {
    match frames(path, bytes) {
        Ok(frames) => (frames, None),
        Err(damage @ Error::DamagedJournal { offset_bytes, .. }) => {
            let intact = &bytes[..(offset_bytes as usize).min(bytes.len())];
            (frames(path, intact).unwrap_or_default(), Some(damage))
        }
        Err(other) => (Vec::new(), Some(other)),
    }
}

/// The complete frames of a journal. An incomplete frame at the end is ignored.
///
/// # Errors
/// [`Error::DamagedJournal`], [`Error::NewerVersion`].
pub(crate) fn frames<'a>(path: &Path, bytes: &'a [u8]) -> Result<Vec<RawFrame<'a>>, Error> {
    if bytes.len() < HEADER_BYTES {
        // A journal becomes part of a record only with its header, so the file was truncated.
        return Ok(Vec::new());
    }
    check_header(path, bytes)?;
    let mut frames = Vec::new();
    let mut at = HEADER_BYTES;
    while let Some(frame) = frame_at(bytes, at) {
        frames.push(frame);
        at += framing::HEAD_BYTES + frame.payload.len();
    }
    if has_frame_after(bytes, at) {
        return Err(Error::DamagedJournal {
            path: path.to_owned(),
            offset_bytes: at as u64,
            reason: "a frame is damaged, and valid frames follow it".to_owned(),
        });
    }
    Ok(frames)
}

fn check_header(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
    if bytes[..HEADER_BYTES] != header(version) {
        return Err(Error::DamagedJournal {
            path: path.to_owned(),
            offset_bytes: 0,
            reason: "it does not begin with a journal's header".to_owned(),
        });
    }
    if version > VERSION {
        return Err(Error::NewerVersion { path: path.to_owned(), found: version, known: VERSION });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal of a few frames, the position of each, and the position after the last.
    fn small_journal() -> (Vec<u8>, Vec<usize>) {
        let mut bytes = header(VERSION).to_vec();
        let mut edges = vec![bytes.len()];
        for (kind, payload) in [(1, &b"engine"[..]), (4, b""), (4, &[0xf4; 30]), (6, b"\0\0")] {
            framing::append(kind, |out| out.extend_from_slice(payload), &mut bytes);
            edges.push(bytes.len());
        }
        (bytes, edges)
    }

    fn read(bytes: &[u8]) -> Result<Vec<RawFrame<'_>>, Error> {
        frames(Path::new("journal"), bytes)
    }

    #[test]
    fn a_journal_cut_at_any_byte_keeps_exactly_the_whole_frames() {
        let (bytes, edges) = small_journal();
        let all = read(&bytes).unwrap();
        assert_eq!(all.len(), 4);
        for length in 0..=bytes.len() {
            let complete = edges[1..].iter().filter(|edge| **edge <= length).count();
            assert_eq!(read(&bytes[..length]).unwrap(), all[..complete], "cut to {length} bytes");
        }
    }

    #[test]
    fn an_incomplete_end_that_is_filled_with_zeros_is_ignored() {
        let (bytes, edges) = small_journal();
        let all = read(&bytes).unwrap();
        for length in HEADER_BYTES..bytes.len() {
            let complete = edges[1..].iter().filter(|edge| **edge <= length).count();
            let mut torn = bytes[..length].to_vec();
            torn.resize(bytes.len() + 100, 0);
            let frames = read(&torn).unwrap();
            // If the bytes that were cut off were zeros, the frame is complete again.
            let regrown = bytes[length..].iter().all(|byte| *byte == 0);
            assert_eq!(frames, all[..if regrown { all.len() } else { complete }], "{length}");
        }
    }

    #[test]
    fn every_flipped_bit_is_detected() {
        let (bytes, edges) = small_journal();
        let all = read(&bytes).unwrap();
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            let last = bit / 8 >= edges[edges.len() - 2];
            match read(&flipped) {
                // The last frame counts as incomplete, because no other follows.
                Ok(frames) if last => assert_eq!(frames, all[..all.len() - 1], "bit {bit}"),
                Ok(_) => panic!("bit {bit} was not detected"),
                Err(Error::DamagedJournal { offset_bytes, .. }) => {
                    assert!(offset_bytes <= bit as u64 / 8, "bit {bit}");
                }
                Err(other) => panic!("bit {bit}: {other}"),
            }
        }
    }

    #[test]
    fn a_journal_of_a_newer_version_is_refused_naming_both_versions() {
        let mut bytes = header(VERSION + 1).to_vec();
        framing::append(99, |_| {}, &mut bytes);
        let text = read(&bytes).unwrap_err().to_string();
        assert_eq!(
            text,
            "journal has format version 2, and this version of fourcorners reads up to 1; use a \
             newer fourcorners"
        );
    }

    #[test]
    fn a_frame_that_cannot_be_written_leaves_no_bytes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let mut journal = Journal::create(path.clone()).unwrap();
        journal.append(1, |out| out.extend_from_slice(b"complete")).unwrap();
        // A file that is open for reading only refuses both the write and the truncation.
        let writable = std::mem::replace(&mut journal.file, File::open(&path).unwrap());
        assert!(matches!(journal.append(1, |_| {}), Err(Error::AppendJournal { .. })));
        journal.file = writable;
        assert!(matches!(journal.append(1, |_| {}), Err(Error::JournalClosed { .. })));
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(read(&bytes).unwrap().len(), 1);
    }

    #[test]
    fn a_journal_cut_at_any_byte_is_continued_after_its_last_whole_frame() {
        let (bytes, edges) = small_journal();
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        for length in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let mut journal = match Journal::reopen(path.clone()) {
                Ok(journal) => journal,
                Err(Error::DamagedJournal { .. }) if length < HEADER_BYTES => continue,
                Err(other) => panic!("{length}: {other}"),
            };
            assert!(matches!(Journal::reopen(path.clone()), Err(Error::BeingWritten { .. })));
            journal.append(7, |out| out.push(1)).unwrap();
            let written = std::fs::read(&path).unwrap();
            let frames = read(&written).unwrap();
            let complete = edges[1..].iter().filter(|edge| **edge <= length).count();
            assert_eq!((frames.len(), frames[complete].kind), (complete + 1, 7), "{length}");
        }
    }

    #[test]
    fn frames_before_damage_are_read_and_the_damage_is_named() {
        let (mut bytes, edges) = small_journal();
        bytes[edges[2] + 20] ^= 1;
        let (frames, damage) = frames_before_damage(Path::new("journal"), &bytes);
        assert_eq!(frames.len(), 2);
        assert!(damage.is_some_and(|damage| damage.to_string().contains("is damaged at byte")));
        let (frames, damage) =
            frames_before_damage(Path::new("journal"), b"not a journal, but text");
        assert!(frames.is_empty() && damage.is_some());
    }

    #[test]
    fn a_journal_is_live_while_it_is_open() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let journal = Journal::create(path.clone()).unwrap();
        assert!(is_live(&path).unwrap());
        drop(journal);
        assert!(!is_live(&path).unwrap());
    }
}
