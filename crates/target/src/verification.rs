//! Verifies that files are as we wrote them: ours, complete, without holes, and with our data.
//!
//! This precedes every measurement, because storage serves reads of holes, preallocated extents and
//! zeroes from metadata, so that a result would be meaningless. First the file system is queried for
//! holes; then sampled tiles are read from the storage (with direct I/O if it works) and recognised
//! by their stamp and body.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use workload::data::{TileFound, TileMaker};
use workload::plan::FileSet;
use workload::random;

use crate::aligned::AlignedBuffer;
use crate::folder::{Folder, SampledFile};
use crate::inventory::{durable_bytes, find_file};
use crate::manifest::Manifest;
use crate::refusal::Refusal;

/// Pages that are read of each file in addition to its first and last, unless the set has very many
/// files.
const SAMPLES_PER_FILE: u64 = 64;
/// The same for a file that occupies less than half its size on disk: it may be sparse on a file
/// system that does not report holes (NFSv3), or compressed. The probability that this many samples
/// all miss holes of 1 % is 3 in 100,000.
const SAMPLES_IF_SUSPICIOUS: u64 = 1024;
/// Approximate number of pages that are read of a file set: in larger sets each file has fewer
/// samples.
const SAMPLES_PER_SET: u64 = 4096;
/// Bytes of one sample's read: a page contains whole tiles of either size and meets the alignment
/// of direct I/O.
const PAGE_BYTES: u64 = 4096;

/// Compares the files in a directory with its manifest.
pub(crate) struct Verifier<'a> {
    pub(crate) folder: &'a dyn Folder,
    pub(crate) directory: &'a Path,
    pub(crate) manifest: &'a Manifest,
    pub(crate) data_seed: u64,
    /// Whether pages are read with direct I/O.
    pub(crate) direct: bool,
}

/// A file that is not as we wrote it.
pub(crate) struct InvalidFile {
    pub(crate) index: u32,
    /// Bytes that the manifest records as written.
    pub(crate) durable_bytes: u64,
    /// What is wrong with it.
    pub(crate) refusal: Refusal,
}

impl<'a> Verifier<'a> {
    /// A verifier that writes no probe file: whether direct I/O works is tested on the first file
    /// of `set`.
    pub(crate) fn without_probe(
        folder: &'a dyn Folder,
        directory: &'a Path,
        manifest: &'a Manifest,
        data_seed: u64,
        set: &FileSet,
    ) -> Verifier<'a> {
        let verifier = Verifier { folder, directory, manifest, data_seed, direct: false };
        let first = (0..set.files).find(|index| verifier.durable_bytes(set, *index) > 0);
        let direct =
            first.is_some_and(|index| folder.reads_directly(&directory.join(set.file_name(index))));
        Verifier { direct, ..verifier }
    }

    /// Checks every file of `set` as far as it is recorded as written. Stops at the first that is
    /// not as we wrote it.
    pub(crate) fn check(&self, set: &FileSet) -> Result<(), Refusal> {
        let first = self.refusals(set, |_| true).into_iter().next();
        first.map_or(Ok(()), |file| Err(file.refusal))
    }

    /// Every file of `set` that is not as we wrote it and may be written again.
    pub(crate) fn invalid_files(&self, set: &FileSet) -> Result<Vec<InvalidFile>, Refusal> {
        let is_final = |refusal: &Refusal| refusal.overridden_by().is_none();
        let refusals = self.refusals(set, is_final).into_iter();
        let invalid = |file: InvalidFile| match is_final(&file.refusal) {
            true => Err(file.refusal),
            false => Ok(file),
        };
        refusals.map(invalid).collect()
    }

    /// The files of `set` that are not as we wrote them, by index: all of them, or those up to the
    /// first one whose refusal `is_final`. Threads check several files at a time, because a read from
    /// a slow server takes milliseconds.
    fn refusals(
        &self,
        set: &FileSet,
        is_final: impl Fn(&Refusal) -> bool + Sync,
    ) -> Vec<InvalidFile> {
        let maker = set.tile_maker(self.data_seed);
        let next = AtomicU32::new(0);
        let ended = AtomicBool::new(false);
        let found = Mutex::new(Vec::new());
        // Indices are taken in order and every taken file is checked, so that a final refusal has
        // all files before it checked too.
        let check_files = || {
            while !ended.load(Ordering::Relaxed) {
                let index = next.fetch_add(1, Ordering::Relaxed);
                if index >= set.files {
                    return;
                }
                let durable_bytes = self.durable_bytes(set, index);
                if durable_bytes == 0 {
                    continue;
                }
                if let Err(refusal) = self.check_file(set, index, durable_bytes, &maker) {
                    ended.fetch_or(is_final(&refusal), Ordering::Relaxed);
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.push(InvalidFile { index, durable_bytes, refusal });
                }
            }
        };
        thread::scope(|scope| {
            for number in 2..=self.folder.transfer_threads().min(set.files as usize) {
                let checker = thread::Builder::new().name(format!("check-{number}"));
                // Fewer threads are sufficient.
                if checker.spawn_scoped(scope, check_files).is_err() {
                    break;
                }
            }
            check_files();
        });
        // Connections of these threads must not be open during a measurement.
        self.folder.release_fill_resources();
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort_by_key(|file| file.index);
        found
    }

    /// Bytes of a file that are recorded as written.
    fn durable_bytes(&self, set: &FileSet, index: u32) -> u64 {
        durable_bytes(self.folder, self.directory, self.manifest, set, index, self.data_seed)
    }

    /// Checks the first `expected_bytes` of a file.
    fn check_file(
        &self,
        set: &FileSet,
        index: u32,
        expected_bytes: u64,
        maker: &TileMaker,
    ) -> Result<(), Refusal> {
        let path = self.directory.join(set.file_name(index));
        let found = find_file(self.folder, &path, self.manifest)?
            .ok_or_else(|| Refusal::io("open", &path, io::Error::from(io::ErrorKind::NotFound)))?;
        let found_bytes = found.size_bytes;
        let is_complete = expected_bytes == set.file_size_bytes;
        // An incomplete file may be longer: its space is reserved.
        if found_bytes < expected_bytes || is_complete && found_bytes > expected_bytes {
            return Err(Refusal::WrongSize { path, expected_bytes, found_bytes });
        }
        let file = self
            .folder
            .open_for_sampling(&path, self.direct)
            .map_err(|error| Refusal::io("open", &path, error))?;
        if let Some(offset_bytes) = file.first_hole(expected_bytes) {
            return Err(Refusal::Unwritten { path, offset_bytes });
        }
        let suspicious = found.allocated_bytes < expected_bytes / 2;
        let samples = samples_per_file(set.files, suspicious);
        let offsets = sampled_pages(expected_bytes, samples, u64::from(index));
        let mut page = AlignedBuffer::new(PAGE_BYTES as usize);
        for offset in offsets {
            let len = PAGE_BYTES.min(expected_bytes - offset) as usize;
            read_page(file.as_ref(), offset, len, page.as_mut())
                .map_err(|error| Refusal::io("read", &path, error))?;
            check_page(&path, index, offset, &page.as_mut()[..len], maker)?;
        }
        Ok(())
    }
}

fn samples_per_file(files: u32, suspicious: bool) -> u64 {
    let most = if suspicious { SAMPLES_IF_SUSPICIOUS } else { SAMPLES_PER_FILE };
    (SAMPLES_PER_SET / u64::from(files.max(1))).clamp(4, most)
}

/// The offsets of the pages that are read: the first, the last, and pseudo-random ones, always the
/// same for a file.
fn sampled_pages(size_bytes: u64, samples: u64, seed: u64) -> Vec<u64> {
    let pages = size_bytes.div_ceil(PAGE_BYTES);
    let mut sampled: Vec<u64> = if pages <= samples + 2 {
        (0..pages).collect()
    } else {
        let middle = (0..samples).map(|i| random::below(random::at(seed, i), pages));
        [0, pages - 1].into_iter().chain(middle).collect()
    };
    sampled.sort_unstable();
    sampled.dedup();
    sampled.into_iter().map(|page| page * PAGE_BYTES).collect()
}

/// Reads `len` bytes. Requests the whole page, because direct I/O transfers only whole sectors,
/// even at the end of a file.
fn read_page(file: &dyn SampledFile, offset: u64, len: usize, page: &mut [u8]) -> io::Result<()> {
    loop {
        match file.read_at(page, offset) {
            Ok(count) if count >= len => return Ok(()),
            Ok(_) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Verifies every whole tile of a page. A tile that is truncated by the end of the file is skipped.
fn check_page(
    path: &Path,
    index: u32,
    offset: u64,
    page: &[u8],
    maker: &TileMaker,
) -> Result<(), Refusal> {
    let tile_bytes = maker.tile_bytes();
    let mut scratch = vec![0; tile_bytes];
    for (number, tile) in page.chunks_exact(tile_bytes).enumerate() {
        let offset_bytes = offset + (number * tile_bytes) as u64;
        let path = || path.to_path_buf();
        let not_ours = |found: String| Refusal::NotOurData { path: path(), offset_bytes, found };
        match maker.inspect(index, offset_bytes, tile, &mut scratch) {
            TileFound::Good { .. } | TileFound::GoodDuplicate => {}
            TileFound::Zero => return Err(Refusal::Zero { path: path(), offset_bytes }),
            TileFound::Foreign => return Err(not_ours("data that we never wrote".to_owned())),
            TileFound::Misplaced { file, offset_bytes: from, .. } => {
                return Err(not_ours(format!("data of offset {from} of file {file}")));
            }
            TileFound::Corrupt { at_byte, expected, found } => {
                return Err(not_ours(format!(
                    "byte {} is 0x{found:02x}, but was written as 0x{expected:02x}",
                    offset_bytes + u64::from(at_byte),
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_include_the_first_and_last_page_and_no_page_twice() {
        let pages = sampled_pages(1 << 30, 64, 7);
        assert_eq!(pages.first(), Some(&0));
        assert_eq!(pages.last(), Some(&((1 << 30) - PAGE_BYTES)));
        assert!(pages.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(pages.len() > 60, "{} samples", pages.len());
    }

    #[test]
    fn a_small_file_is_read_completely() {
        assert_eq!(sampled_pages(10_000, 64, 7), [0, 4096, 8192]);
        assert_eq!(sampled_pages(0, 64, 7), [0_u64; 0]);
    }

    #[test]
    fn files_of_a_large_set_have_fewer_samples_and_possibly_sparse_files_more() {
        assert_eq!(samples_per_file(1, false), 64);
        assert_eq!(samples_per_file(1, true), 1024);
        assert_eq!(samples_per_file(256, true), 16);
        assert_eq!(samples_per_file(1_000_000, false), 4);
    }
}
