//! A file's data on this host, with a checksum of each block in a second file.
//!
//! For: detecting damage: a flipped bit, a truncated file, a missing file. Not for: which files are
//! open (`pool.rs`), or which writes must be durable (`data_files.rs`).
//!
//! The second file, `sums/NAME`, has a header and a CRC-32C for each 4 KiB block of `data/NAME`;
//! the last block is padded with zeros. An entry of 0 means unknown: the block is a hole, was
//! written by a version without checksums, or its write was interrupted.
//!
//! A write sets the entries of its blocks to 0, writes the data, and then writes the checksums. The
//! kernel keeps what a killed process wrote, in this order, so after a kill each entry is 0 or
//! correct. A loss of power keeps no order. Therefore the header is marked dirty, durably, before
//! the first write, and the mark is cleared only when everything is durable (like the bitmap mode
//! of Linux' dm-integrity). After a loss of power, the entries of dirty files are dropped at the
//! next start.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use files::{BLOCK_BYTES, DataId};
use rustix::fs::SeekFrom;
use rustix::io::Errno;

use crate::folder::Folder;
use crate::host::{self, Call};

const BLOCK: usize = BLOCK_BYTES as usize;
const ENTRY: u64 = 4;

/// The header's length, so that entries are aligned.
const HEADER_BYTES: u64 = 64;
const MAGIC: [u8; 8] = *b"4csums1\n";

/// Flag: the file may have changed since it was last synced, so after a loss of power its entries
/// are invalid.
const DIRTY: u32 = 1;
/// Flag: the data was missing at a start, so a block without an entry is lost instead of a hole.
const LOST: u32 = 2;

/// Entries per read of the sums: those of a READ of 1 MiB.
const ENTRIES: usize = 256;

/// An open file.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    data: File,
    /// `None`: last written by a version without checksums.
    sums: Option<Sums>,
}

/// The checksums of a file.
#[derive(Debug)]
pub(crate) struct Sums {
    file: File,
    is_lost: AtomicBool,
}

/// The flags in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) is_dirty: bool,
    pub(crate) is_lost: bool,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// All bytes are valid.
    Valid,
    /// The bytes before this block are valid; the block is damaged.
    Damaged { block: u64 },
}

/// The damaged block, if that is why a write failed.
pub(crate) fn damaged_block(error: &io::Error) -> Option<u64> {
    error.get_ref()?.downcast_ref::<DamagedBlock>().map(|damaged| damaged.0)
}

#[derive(Debug, thiserror::Error)]
#[error("checksum mismatch in block {0}")]
struct DamagedBlock(u64);

/// The entry of a block, which is never 0.
fn entry_of(block: &[u8]) -> u32 {
    crc32c::crc32c(block).max(1)
}

fn entry_offset(block: u64) -> u64 {
    HEADER_BYTES + block * ENTRY
}

impl Sums {
    /// Opens the sums of a file; `None` if they are missing or their header is invalid.
    pub(crate) fn open(
        folder: &Folder,
        name: &str,
        data: DataId,
    ) -> io::Result<Option<(Sums, State)>> {
        let file = match folder.file(name) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut header = [0; HEADER_BYTES as usize];
        host::read(&file, 0, &mut header)?;
        for flags in 0..4 {
            if header == Sums::header(data, flags) {
                let state = State { is_dirty: flags & DIRTY != 0, is_lost: flags & LOST != 0 };
                let is_lost = AtomicBool::new(state.is_lost);
                return Ok(Some((Sums { file, is_lost }, state)));
            }
        }
        Ok(None)
    }

    /// Creates the sums of a file that has no valid ones, marked dirty.
    pub(crate) fn create(folder: &Folder, name: &str, data: DataId) -> io::Result<Sums> {
        let file = match folder.create(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.remove(name)?;
                folder.create(name)?
            }
            created => created?,
        };
        let sums = Sums { file, is_lost: AtomicBool::new(false) };
        sums.set_state(data, State { is_dirty: true, is_lost: false })?;
        Ok(sums)
    }

    fn header(data: DataId, flags: u32) -> [u8; HEADER_BYTES as usize] {
        let mut header = [0; HEADER_BYTES as usize];
        header[..8].copy_from_slice(&MAGIC);
        header[8..16].copy_from_slice(&data.fileid.to_le_bytes());
        header[16..20].copy_from_slice(&data.generation.to_le_bytes());
        header[20..24].copy_from_slice(&flags.to_le_bytes());
        let check = crc32c::crc32c(&header);
        header[24..28].copy_from_slice(&check.to_le_bytes());
        header
    }

    /// Writes the header.
    pub(crate) fn set_state(&self, data: DataId, state: State) -> io::Result<()> {
        let mut flags = 0;
        if state.is_dirty {
            flags |= DIRTY;
        }
        if state.is_lost {
            flags |= LOST;
        }
        self.is_lost.store(state.is_lost, Ordering::Relaxed);
        host::write(Call::WriteSums, &self.file, 0, &Sums::header(data, flags))
    }

    /// Makes the header and the entries durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        host::sync(Call::SyncSums, &self.file)
    }

    /// Drops all entries.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.file.set_len(HEADER_BYTES)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Whether a block matches its entry.
    fn matches(&self, entry: u32, block: &[u8]) -> bool {
        if entry == 0 { !self.is_lost() } else { entry == entry_of(block) }
    }

    fn entry(&self, block: u64) -> io::Result<u32> {
        let mut entry = [0; ENTRY as usize];
        host::read(&self.file, entry_offset(block), &mut entry)?;
        Ok(u32::from_le_bytes(entry))
    }

    fn set_entries(&self, first: u64, entries: &[u8]) -> io::Result<()> {
        host::write(Call::WriteSums, &self.file, entry_offset(first), entries)
    }

    /// The blocks of a range of bytes whose checksums are not those of zeros, as ranges of bytes.
    pub(crate) fn written(&self, within: &Range<u64>) -> io::Result<Vec<Range<u64>>> {
        let zeros = entry_of(&[0; BLOCK]);
        let (first, after) = (within.start / BLOCK_BYTES, within.end.div_ceil(BLOCK_BYTES));
        let mut found: Vec<Range<u64>> = Vec::new();
        let end = self.file.metadata()?.len().min(entry_offset(after));
        for part in ranges(&self.file, end)? {
            let from = part.start.max(entry_offset(first));
            let mut block = (from - HEADER_BYTES).div_ceil(ENTRY);
            while entry_offset(block) < part.end {
                let mut bytes = [0; ENTRIES * ENTRY as usize];
                host::read(&self.file, entry_offset(block), &mut bytes)?;
                for entry in bytes.chunks_exact(ENTRY as usize) {
                    let entry = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                    if entry != 0 && entry != zeros && block < after {
                        let at = block * BLOCK_BYTES;
                        match found.last_mut() {
                            Some(last) if last.end == at => last.end += BLOCK_BYTES,
                            _ => found.push(at..at + BLOCK_BYTES),
                        }
                    }
                    block += 1;
                }
            }
        }
        Ok(found)
    }
}

impl CheckedFile {
    pub(crate) fn new(data: File, sums: Option<Sums>) -> CheckedFile {
        CheckedFile { data, sums }
    }

    pub(crate) fn sums(&self) -> Option<&Sums> {
        self.sums.as_ref()
    }

    /// A duplicate of the data's descriptor.
    pub(crate) fn data(&self) -> io::Result<File> {
        self.data.try_clone()
    }

    /// Makes the data durable.
    pub(crate) fn sync(&self) -> io::Result<()> {
        host::sync(Call::SyncData, &self.data)
    }

    /// Reads the bytes at `offset`; fills with zeros after the end of the file. If a block is
    /// damaged, the bytes before it are valid.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<ReadOutcome> {
        let Some(sums) = &self.sums else {
            host::read(&self.data, offset, into)?;
            return Ok(ReadOutcome::Valid);
        };
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let (first, inside) = (at / BLOCK_BYTES, (at % BLOCK_BYTES) as usize);
            let left = into.len() - done;
            if inside > 0 || left < BLOCK {
                let mut block = [0; BLOCK];
                host::read(&self.data, first * BLOCK_BYTES, &mut block)?;
                if !sums.matches(sums.entry(first)?, &block) {
                    return Ok(ReadOutcome::Damaged { block: first });
                }
                let count = left.min(BLOCK - inside);
                into[done..done + count].copy_from_slice(&block[inside..inside + count]);
                done += count;
                continue;
            }
            let count = (left / BLOCK).min(ENTRIES);
            let part = &mut into[done..done + count * BLOCK];
            let mut entries = [0; ENTRIES * ENTRY as usize];
            let entries = &mut entries[..count * ENTRY as usize];
            host::read(&sums.file, entry_offset(first), entries)?;
            host::read(&self.data, at, part)?;
            let entries = entries.chunks_exact(ENTRY as usize);
            for (block, (entry, bytes)) in (first..).zip(entries.zip(part.chunks_exact(BLOCK))) {
                let entry = u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                if !sums.matches(entry, bytes) {
                    return Ok(ReadOutcome::Damaged { block });
                }
            }
            done += count * BLOCK;
        }
        Ok(ReadOutcome::Valid)
    }

    /// Writes bytes and the checksums of their blocks. The file must have sums that are marked
    /// dirty.
    ///
    /// # Errors
    /// Also if the write changes only a part of a block that is damaged ([`damaged_block`]).
    pub(crate) fn write(&self, offset: u64, bytes: &[u8], entries: &mut Vec<u8>) -> io::Result<()> {
        let Some(sums) = &self.sums else {
            return Err(io::Error::other("the file has no checksums"));
        };
        let end = offset + bytes.len() as u64;
        let first = offset / BLOCK_BYTES;
        entries.clear();
        let mut done = 0;
        while done < bytes.len() {
            let at = offset + done as u64;
            let inside = (at % BLOCK_BYTES) as usize;
            let count = (BLOCK - inside).min(bytes.len() - done);
            let part = &bytes[done..done + count];
            let entry = if count == BLOCK {
                entry_of(part)
            } else {
                let mut block = self.block(sums, at / BLOCK_BYTES)?;
                block[inside..inside + count].copy_from_slice(part);
                entry_of(&block)
            };
            entries.extend(entry.to_le_bytes());
            done += count;
        }
        let count = entries.len();
        entries.resize(2 * count, 0);
        let (new, unknown) = entries.split_at(count);
        debug_assert_eq!(count as u64, (end.div_ceil(BLOCK_BYTES) - first) * ENTRY);
        sums.set_entries(first, unknown)?;
        host::write(Call::Write, &self.data, offset, bytes)?;
        sums.set_entries(first, new)
    }

    /// Reads and verifies a block.
    fn block(&self, sums: &Sums, number: u64) -> io::Result<[u8; BLOCK]> {
        let mut block = [0; BLOCK];
        host::read(&self.data, number * BLOCK_BYTES, &mut block)?;
        if sums.matches(sums.entry(number)?, &block) {
            Ok(block)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, DamagedBlock(number)))
        }
    }

    /// Truncates the file, durably. A damaged last block stays damaged.
    pub(crate) fn truncate(&self, id: DataId, size: u64) -> io::Result<()> {
        let Some(sums) = &self.sums else { return host::truncate(&self.data, size) };
        let last = size / BLOCK_BYTES;
        let inside = (size % BLOCK_BYTES) as usize;
        let mut last_block = None;
        if inside > 0 && self.data.metadata()?.len() > size && sums.entry(last)? != 0 {
            last_block = self.block(sums, last).ok();
        }
        if last_block.is_some() {
            sums.set_entries(last, &[0; ENTRY as usize])?;
        }
        host::truncate(&self.data, size)?;
        if let Some(mut block) = last_block {
            block[inside..].fill(0);
            sums.set_entries(last, &entry_of(&block).to_le_bytes())?;
        }
        let end = entry_offset(size.div_ceil(BLOCK_BYTES));
        if sums.file.metadata()?.len() > end {
            sums.file.set_len(end)?;
        }
        if size == 0 && sums.is_lost() {
            sums.set_state(id, State { is_dirty: true, is_lost: false })?;
        }
        Ok(())
    }

    /// Compares the host's extents with the checksums.
    pub(crate) fn compare(&self, size: u64) -> io::Result<Compared> {
        let present = ranges(&self.data, size)?;
        let mut missing = Vec::new();
        if let Some(sums) = &self.sums {
            let end = size.next_multiple_of(BLOCK_BYTES);
            let mut at = 0;
            for range in present.iter().chain([&(end..end)]) {
                // A block counts as present if the host has a part of it.
                let hole = at..range.start / BLOCK_BYTES * BLOCK_BYTES;
                if hole.start < hole.end {
                    missing.extend(sums.written(&hole)?);
                }
                at = range.end.next_multiple_of(BLOCK_BYTES);
            }
        }
        for range in &mut missing {
            range.end = range.end.min(size);
        }
        Ok(Compared { present, missing })
    }
}

/// Ranges of a host file in bytes: those with data, and those that have checksums but no data.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) present: Vec<Range<u64>>,
    pub(crate) missing: Vec<Range<u64>>,
}

/// The ranges of a file with data; the whole file if the host does not support this query.
fn ranges(file: &File, size: u64) -> io::Result<Vec<Range<u64>>> {
    let mut ranges = Vec::new();
    let mut at = 0;
    while at < size {
        let from = match rustix::fs::seek(file, SeekFrom::Data(at)) {
            Ok(from) => from,
            Err(Errno::NXIO) => break,
            Err(Errno::INVAL | Errno::OPNOTSUPP) => {
                ranges.push(at..size);
                break;
            }
            Err(error) => return Err(error.into()),
        };
        let to = rustix::fs::seek(file, SeekFrom::Hole(from))?.min(size);
        if from < to {
            ranges.push(from..to);
        }
        at = to.max(at + 1);
    }
    Ok(ranges)
}
