//! One file's bytes on this host, with a checksum of each block in a second file.
//!
//! For: noticing that a block is no longer what was written: a flipped bit, a part that was cut
//! off, a file that is gone. Not for: which files are open (`pool.rs`), or what was promised
//! (`bodies.rs`).
//!
//! The second file, `sums/NAME`, is a header and one CRC-32C for each 4 KiB block of `data/NAME`,
//! padded with zeros at the end of the file. An entry of 0 means that nothing is known of the
//! block: it is a hole, it was written by a version without checksums, or a write was cut short.
//!
//! A write sets the entries of its blocks to 0, writes the data, and then writes the checksums. The
//! kernel keeps what a killed process wrote, in that order, so after a kill an entry is either 0 or
//! right. A loss of power keeps no order; so before a file is first written, its header is made to
//! say that it is being written, safely, and says otherwise only after everything is safe again
//! (the bitmap mode of Linux' dm-integrity does the same). Entries of a file that was being written
//! when power was lost are given up at the next start.

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

/// The file is being written: after a loss of power its entries mean nothing.
const BEING_WRITTEN: u32 = 1;
/// The data was gone at a start: a block without an entry is not a hole but lost.
const LOST: u32 = 2;

/// Entries that one read of the sums takes: those of a READ of 1 MiB.
const ENTRIES: usize = 256;

/// A file that is open.
#[derive(Debug)]
pub(crate) struct CheckedFile {
    data: File,
    /// `None`: written by a version without checksums, and not since.
    sums: Option<Sums>,
}

/// Its checksums.
#[derive(Debug)]
pub(crate) struct Sums {
    file: File,
    is_lost: AtomicBool,
}

/// What the header of a file of sums says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) is_being_written: bool,
    pub(crate) is_lost: bool,
}

/// What a read came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// All bytes are as they were written.
    Whole,
    /// The bytes before this block are; it is not.
    Damaged { block: u64 },
}

/// A block that is to be changed in part is damaged.
pub(crate) fn damaged_block(error: &io::Error) -> Option<u64> {
    error.get_ref()?.downcast_ref::<DamagedBlock>().map(|damaged| damaged.0)
}

#[derive(Debug, thiserror::Error)]
#[error("block {0} does not have its checksum")]
struct DamagedBlock(u64);

/// The entry of a block's bytes, which is never 0.
fn entry_of(block: &[u8]) -> u32 {
    crc32c::crc32c(block).max(1)
}

fn entry_offset(block: u64) -> u64 {
    HEADER_BYTES + block * ENTRY
}

impl Sums {
    /// Opens the sums of a file; `None` if it has none, or none whose header is right.
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
                let state = State {
                    is_being_written: flags & BEING_WRITTEN != 0,
                    is_lost: flags & LOST != 0,
                };
                let is_lost = AtomicBool::new(state.is_lost);
                return Ok(Some((Sums { file, is_lost }, state)));
            }
        }
        Ok(None)
    }

    /// Makes the sums of a file that has none, or none that can be used: it is being written.
    pub(crate) fn make(folder: &Folder, name: &str, data: DataId) -> io::Result<Sums> {
        let file = match folder.create(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.remove(name)?;
                folder.create(name)?
            }
            made => made?,
        };
        let sums = Sums { file, is_lost: AtomicBool::new(false) };
        sums.set_state(data, State { is_being_written: true, is_lost: false })?;
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
        if state.is_being_written {
            flags |= BEING_WRITTEN;
        }
        if state.is_lost {
            flags |= LOST;
        }
        self.is_lost.store(state.is_lost, Ordering::Relaxed);
        host::write(Call::WriteSums, &self.file, 0, &Sums::header(data, flags))
    }

    /// Makes the header safe, and the entries with it.
    pub(crate) fn sync(&self) -> io::Result<()> {
        host::sync(Call::SyncSums, &self.file)
    }

    /// Gives up all entries.
    pub(crate) fn clear(&self) -> io::Result<()> {
        self.file.set_len(HEADER_BYTES)
    }

    pub(crate) fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::Relaxed)
    }

    /// Whether a block's bytes agree with its entry.
    fn agrees(&self, entry: u32, block: &[u8]) -> bool {
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

    /// The blocks of a range of bytes that were written and are not zeros, as ranges of bytes.
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

    /// Another descriptor of the data.
    pub(crate) fn data(&self) -> io::Result<File> {
        self.data.try_clone()
    }

    /// Makes the data safe.
    pub(crate) fn sync(&self) -> io::Result<()> {
        host::sync(Call::SyncData, &self.data)
    }

    /// Fills `into` with the bytes at `offset`; zeros behind the end of the file. Where a block is
    /// damaged, the bytes before it are right.
    pub(crate) fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<ReadOutcome> {
        let Some(sums) = &self.sums else {
            host::read(&self.data, offset, into)?;
            return Ok(ReadOutcome::Whole);
        };
        let mut done = 0;
        while done < into.len() {
            let at = offset + done as u64;
            let (first, inside) = (at / BLOCK_BYTES, (at % BLOCK_BYTES) as usize);
            let left = into.len() - done;
            if inside > 0 || left < BLOCK {
                let mut block = [0; BLOCK];
                host::read(&self.data, first * BLOCK_BYTES, &mut block)?;
                if !sums.agrees(sums.entry(first)?, &block) {
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
                if !sums.agrees(entry, bytes) {
                    return Ok(ReadOutcome::Damaged { block });
                }
            }
            done += count * BLOCK;
        }
        Ok(ReadOutcome::Whole)
    }

    /// Writes bytes and the checksums of their blocks. It must have sums, whose header says that
    /// the file is being written.
    ///
    /// # Errors
    /// Also where a block is damaged of which only a part is written ([`damaged_block`]).
    pub(crate) fn write(&self, offset: u64, bytes: &[u8], entries: &mut Vec<u8>) -> io::Result<()> {
        let Some(sums) = &self.sums else {
            return Err(io::Error::other("a file without checksums is not written"));
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
        let (new, nothing) = entries.split_at(count);
        debug_assert_eq!(count as u64, (end.div_ceil(BLOCK_BYTES) - first) * ENTRY);
        sums.set_entries(first, nothing)?;
        host::write(Call::Write, &self.data, offset, bytes)?;
        sums.set_entries(first, new)
    }

    /// A block as it is, which must be right.
    fn block(&self, sums: &Sums, number: u64) -> io::Result<[u8; BLOCK]> {
        let mut block = [0; BLOCK];
        host::read(&self.data, number * BLOCK_BYTES, &mut block)?;
        if sums.agrees(sums.entry(number)?, &block) {
            Ok(block)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidData, DamagedBlock(number)))
        }
    }

    /// Cuts the file off, safely. A last block that is damaged stays so.
    pub(crate) fn cut(&self, id: DataId, size: u64) -> io::Result<()> {
        let Some(sums) = &self.sums else { return host::cut(&self.data, size) };
        let last = size / BLOCK_BYTES;
        let inside = (size % BLOCK_BYTES) as usize;
        let mut kept = None;
        if inside > 0 && self.data.metadata()?.len() > size && sums.entry(last)? != 0 {
            kept = self.block(sums, last).ok();
        }
        if kept.is_some() {
            sums.set_entries(last, &[0; ENTRY as usize])?;
        }
        host::cut(&self.data, size)?;
        if let Some(mut block) = kept {
            block[inside..].fill(0);
            sums.set_entries(last, &entry_of(&block).to_le_bytes())?;
        }
        let end = entry_offset(size.div_ceil(BLOCK_BYTES));
        if sums.file.metadata()?.len() > end {
            sums.file.set_len(end)?;
        }
        if size == 0 && sums.is_lost() {
            sums.set_state(id, State { is_being_written: true, is_lost: false })?;
        }
        Ok(())
    }

    /// Where the file has data, as the host says, and where it should have some and has none.
    pub(crate) fn compare(&self, size: u64) -> io::Result<Compared> {
        let present = ranges(&self.data, size)?;
        let mut missing = Vec::new();
        if let Some(sums) = &self.sums {
            let end = size.next_multiple_of(BLOCK_BYTES);
            let mut at = 0;
            for range in present.iter().chain([&(end..end)]) {
                // A block of which the host has a part is there.
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

/// What a comparison of a host file with its checksums found, in bytes from its beginning.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    pub(crate) present: Vec<Range<u64>>,
    pub(crate) missing: Vec<Range<u64>>,
}

/// Where a file has data, as the host tells it; all of it where the host cannot tell.
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
