//! The journal: batches of records, each present completely or not at all.
//!
//! The file begins with a line that contains its format, a number that increases with every journal
//! of the volume, and a checksum of both. (Format 1 has only the line; it is read with number 0.)
//! Frames follow. A frame is a marker, the length of its batch, the frame's own position, the
//! length of the journal that was durable when the frame was written, and a checksum (CRC-32C) over
//! all of these and the batch. All numbers are little-endian.
//!
//! A crash can leave everything that was not yet durable in any state. The frames show how much was
//! durable: if a later frame states that the position of an invalid frame was durable, the journal
//! is damaged and refused. Otherwise the journal ends at the invalid frame. The journal does not
//! show whether its missing end was acknowledged; `acknowledged.rs` does.
//! An empty frame ends the whole tree with which a journal begins. The tree is durable before the
//! file gets its name.

use std::fs::File;
use std::io;

use crate::folder::Folder;
use crate::host::{self, Call};

/// The file's name in the volume's directory, and its name while it is being created.
pub(crate) const NAME: &str = "journal";
pub(crate) const NEW_NAME: &str = "journal.new";

/// The first line of this format and of the previous one.
pub(crate) const FORMAT: &str = "fourcorners journal 2\n";
const FORMAT_1: &str = "fourcorners journal 1\n";

/// The line, the journal's number, and the checksum of both.
const HEADER_BYTES: usize = FORMAT.len() + 8 + 4;

const MARKER: [u8; 4] = *b"4CVF";
const FRAME_HEADER_BYTES: usize = 4 + 4 + 8 + 8 + 4;

/// Space that is reserved in advance, so that NFS3ERR_NOSPC is returned before a change instead of
/// after it. The batches of one turn of a server need far less than the minimum.
const RESERVE_BYTES: u64 = 8 << 20;
const RESERVE_MIN_BYTES: u64 = 2 << 20;

/// A journal is rewritten when it exceeds four times its initial length by this much.
const GROWTH_BYTES: u64 = 64 << 20;

#[derive(Debug)]
pub(crate) struct Journal {
    file: File,
    /// Higher than the number of every earlier journal of the volume.
    pub(crate) number: u64,
    /// Batches that were appended to the initial tree.
    appended: u64,
    /// How many of them are durable.
    pub(crate) durable_batches: u64,
    /// Length in bytes.
    end: u64,
    /// Length in bytes that is durable.
    pub(crate) durable: u64,
    /// Position in bytes up to which space is reserved.
    reserved: u64,
    /// Length in bytes of the initial tree; 0 while it is being written.
    initial_length: u64,
    /// Length in bytes above which the journal is rewritten.
    rewrite_above: u64,
    /// Less than the minimum space could be reserved.
    pub(crate) full: bool,
    buffer: Vec<u8>,
}

impl Journal {
    /// Replaces the current journal by a new one with these batches as its initial tree, durably.
    pub(crate) fn create(
        folder: &Folder,
        number: u64,
        batches: &mut dyn Iterator<Item = Vec<u8>>,
    ) -> io::Result<Journal> {
        folder.remove(NEW_NAME)?;
        let file = host::open(|| folder.create(NEW_NAME))?;
        let mut journal = Journal::empty(file, number, header(number));
        for batch in batches {
            journal.push_frame(&batch);
            journal.write()?;
        }
        journal.push_frame(&[]);
        journal.write()?;
        host::sync(Call::SyncJournal, &journal.file)?;
        journal.durable = journal.end;
        journal.initial_length = journal.end;
        journal.rewrite_above = 4 * journal.end + GROWTH_BYTES;
        folder.rename(NEW_NAME, NAME)?;
        Ok(journal)
    }

    /// Releases the reserved space of a journal that is no longer written.
    pub(crate) fn release_reserved(folder: &Folder) -> io::Result<()> {
        let file = folder.file(NAME)?;
        file.set_len(file.metadata()?.len())
    }

    /// Lets the journal grow further after a rewrite failed.
    pub(crate) fn postpone_rewrite(&mut self) {
        self.rewrite_above = self.end + GROWTH_BYTES;
    }

    /// Appends a batch with one write.
    pub(crate) fn append(&mut self, batch: &[u8]) -> io::Result<()> {
        self.buffer.clear();
        self.push_frame(batch);
        self.write()?;
        self.appended += 1;
        self.reserve()
    }

    fn empty(file: File, number: u64, buffer: Vec<u8>) -> Journal {
        Journal {
            file,
            number,
            appended: 0,
            durable_batches: 0,
            end: 0,
            durable: 0,
            reserved: 0,
            initial_length: 0,
            rewrite_above: 0,
            full: false,
            buffer,
        }
    }

    /// Makes all batches durable.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        if self.durable < self.end {
            host::sync(Call::SyncJournal, &self.file)?;
            (self.durable, self.durable_batches) = (self.end, self.appended);
        }
        Ok(())
    }

    pub(crate) fn is_rewrite_due(&self) -> bool {
        self.end > self.rewrite_above
    }

    /// Reserves space, and updates [`Journal::full`].
    pub(crate) fn reserve(&mut self) -> io::Result<()> {
        if self.reserved >= self.end + RESERVE_MIN_BYTES {
            self.full = false;
            return Ok(());
        }
        // The second length suffices only to remove files.
        for length in [RESERVE_BYTES, RESERVE_MIN_BYTES / 2] {
            match host::reserve(&self.file, self.end, length) {
                Ok(true) => self.reserved = self.reserved.max(self.end + length),
                Ok(false) => self.reserved = u64::MAX,
                Err(error) if host::nfs_error(&error) == files::Error::NoSpc => continue,
                Err(error) => return Err(error),
            }
            break;
        }
        self.full = self.reserved < self.end + RESERVE_MIN_BYTES;
        Ok(())
    }

    /// Appends a frame to the buffer.
    fn push_frame(&mut self, batch: &[u8]) {
        let position = self.end + self.buffer.len() as u64;
        // A new journal gets its name only when the initial tree is durable.
        let durable = if self.initial_length == 0 { position } else { self.durable };
        let mut header = [0; FRAME_HEADER_BYTES - 4];
        header[..4].copy_from_slice(&MARKER);
        header[4..8].copy_from_slice(&(batch.len() as u32).to_le_bytes());
        header[8..16].copy_from_slice(&position.to_le_bytes());
        header[16..].copy_from_slice(&durable.to_le_bytes());
        let check = crc32c::crc32c_append(crc32c::crc32c(&header), batch);
        self.buffer.extend(header);
        self.buffer.extend(check.to_le_bytes());
        self.buffer.extend(batch);
    }

    fn write(&mut self) -> io::Result<()> {
        host::write(Call::Append, &self.file, self.end, &self.buffer)?;
        self.end += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }
}

fn header(number: u64) -> Vec<u8> {
    let mut header = Vec::from(FORMAT);
    header.extend(number.to_le_bytes());
    header.extend(crc32c::crc32c(&header).to_le_bytes());
    header
}

/// Why a journal cannot be read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Invalid {
    /// Its first line is unknown.
    Format(String),
    /// A part that was durable is damaged.
    Damaged { offset: u64, what: String },
}

/// The valid part of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Contents<'a> {
    pub(crate) number: u64,
    /// Each batch with its position in bytes.
    pub(crate) batches: Vec<(u64, &'a [u8])>,
    /// Batches that were appended to the initial tree.
    pub(crate) appended: u64,
    /// Length in bytes. Anything after it was left by a crash.
    pub(crate) length: u64,
}

/// The number of a journal, and the position of its first frame.
fn read_header(bytes: &[u8]) -> Result<(u64, usize), Invalid> {
    if bytes.starts_with(FORMAT_1.as_bytes()) {
        return Ok((0, FORMAT_1.len()));
    }
    let found = bytes.get(..HEADER_BYTES).filter(|_| bytes.starts_with(FORMAT.as_bytes()));
    let number = found.and_then(|found| found[FORMAT.len()..].first_chunk());
    let number = number.map(|number| u64::from_le_bytes(*number));
    if let Some(number) = number.filter(|number| found == Some(&header(*number))) {
        return Ok((number, HEADER_BYTES));
    }
    let is_prefix_of = |format: &str| {
        let shared = bytes.len().min(format.len());
        bytes[..shared] == format.as_bytes()[..shared]
    };
    if is_prefix_of(FORMAT) || is_prefix_of(FORMAT_1) {
        let what = format!("the header of its {} bytes is invalid", bytes.len());
        return Err(Invalid::Damaged { offset: 0, what });
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = &line[..line.len().min(FORMAT.len())];
    Err(Invalid::Format(line.escape_ascii().to_string()))
}

pub(crate) fn read(bytes: &[u8]) -> Result<Contents<'_>, Invalid> {
    let (number, mut at) = read_header(bytes)?;
    let mut batches = Vec::new();
    let mut is_tree_complete = false;
    let mut appended = 0;
    while let Some(frame) = Frame::read(bytes, at) {
        appended += u64::from(is_tree_complete);
        is_tree_complete |= frame.batch.is_empty();
        batches.push((frame.position, frame.batch));
        at += FRAME_HEADER_BYTES + frame.batch.len();
    }
    let length = at as u64;
    if !is_tree_complete {
        let what = "the initial tree is incomplete".to_owned();
        return Err(Invalid::Damaged { offset: length, what });
    }
    let mut later = (at + 1..bytes.len()).filter_map(|at| Frame::read(bytes, at));
    if let Some(later) = later.find(|later| later.durable > length) {
        let what = format!(
            "a checksum is wrong, and the record at byte {} states that this part was durable",
            later.position
        );
        return Err(Invalid::Damaged { offset: length, what });
    }
    Ok(Contents { number, batches, appended, length })
}

struct Frame<'a> {
    position: u64,
    /// Length in bytes of the journal that was durable when the frame was written.
    durable: u64,
    batch: &'a [u8],
}

impl Frame<'_> {
    /// The frame that begins at `at`, if it is complete and valid.
    fn read(bytes: &[u8], at: usize) -> Option<Frame<'_>> {
        let rest = bytes[at..].strip_prefix(&MARKER)?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (position, rest) = rest.split_first_chunk::<8>()?;
        let (durable, rest) = rest.split_first_chunk::<8>()?;
        let (check, rest) = rest.split_first_chunk::<4>()?;
        let batch = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let header = &bytes[at..at + FRAME_HEADER_BYTES - 4];
        let expected = crc32c::crc32c_append(crc32c::crc32c(header), batch);
        let (position, durable) = (u64::from_le_bytes(*position), u64::from_le_bytes(*durable));
        let is_valid = position == at as u64 && u32::from_le_bytes(*check) == expected;
        is_valid.then_some(Frame { position, durable, batch })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A journal with two initial batches and four more, of which the second and the third became
    /// durable together; and the positions of the four.
    fn journal() -> (Vec<u8>, Vec<u64>) {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_create(directory.path()).unwrap();
        let mut initial = vec![b"one".to_vec(), b"two".to_vec()].into_iter();
        let mut journal = Journal::create(&folder, 7, &mut initial).unwrap();
        let mut starts = Vec::new();
        for (batch, sync) in [(&b"three"[..], true), (b"4", false), (b"five", true), (b"6", false)]
        {
            starts.push(journal.end);
            journal.append(batch).unwrap();
            if sync {
                journal.sync().unwrap();
            }
        }
        assert_eq!((journal.appended, journal.durable_batches), (4, 3));
        (std::fs::read(directory.path().join(NAME)).unwrap(), starts)
    }

    #[test]
    fn a_journal_truncated_anywhere_has_the_batches_before_or_is_refused() {
        let (bytes, starts) = journal();
        let all = read(&bytes).unwrap();
        assert_eq!(
            all.batches.iter().map(|(_, batch)| batch.len()).sum::<usize>(),
            3 + 3 + 5 + 1 + 4 + 1
        );
        assert_eq!((all.number, all.appended, all.length), (7, 4, bytes.len() as u64));
        for length in 0..bytes.len() {
            match read(&bytes[..length]) {
                Ok(found) => {
                    assert!(length as u64 >= starts[0], "{length}");
                    assert!(all.batches.starts_with(&found.batches));
                    let end = starts.iter().filter(|start| **start <= length as u64).max();
                    assert_eq!(Some(&found.length), end, "{length}");
                }
                Err(_) => assert!((length as u64) < starts[0], "{length}"),
            }
        }
    }

    #[test]
    fn a_changed_byte_is_refused_if_it_was_durable_and_ends_the_journal_if_it_was_not() {
        let (bytes, starts) = journal();
        let all = read(&bytes).unwrap().batches;
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 0x10;
            let at = at as u64;
            match read(&changed) {
                Err(Invalid::Format(_)) => assert!(at < FORMAT.len() as u64),
                Err(Invalid::Damaged { offset, .. }) => {
                    assert!(at < starts[3], "byte {at} was not durable");
                    assert!(offset <= at && at < offset + 64);
                }
                Ok(found) => {
                    assert!(at >= starts[3], "byte {at} was durable");
                    assert_eq!(found.batches, all[..all.len() - 1]);
                }
            }
        }
    }

    #[test]
    fn a_batch_that_was_not_durable_may_be_missing_before_a_later_one() {
        let directory = tempfile::tempdir().unwrap();
        let folder = Folder::open_or_create(directory.path()).unwrap();
        let mut journal = Journal::create(&folder, 1, &mut std::iter::empty()).unwrap();
        let start = journal.end as usize;
        journal.append(b"lost").unwrap();
        journal.append(b"there").unwrap();
        let mut bytes = std::fs::read(directory.path().join(NAME)).unwrap();
        bytes[start..start + FRAME_HEADER_BYTES].fill(0);
        let found = read(&bytes).unwrap();
        assert_eq!((found.batches.len(), found.length), (1, start as u64));
    }

    #[test]
    fn an_unknown_format_is_distinguished_from_damage_and_the_previous_format_is_read() {
        let invalid = read(b"fourcorners journal 3\nwhatever");
        assert_eq!(invalid, Err(Invalid::Format("fourcorners journal 3".into())));
        for truncated in [&b""[..], b"four", b"fourcorners journal 2\n\0\0\0"] {
            assert!(matches!(read(truncated), Err(Invalid::Damaged { offset: 0, .. })));
        }
        let mut old = Journal::empty(tempfile::tempfile().unwrap(), 0, FORMAT_1.into());
        old.push_frame(b"");
        let found = read(&old.buffer).unwrap();
        assert_eq!((found.number, found.batches.len()), (0, 1));
    }
}
