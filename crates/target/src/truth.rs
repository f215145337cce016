//! Whether files are what we left: ours, whole, written, and with our data in them.
//!
//! Asked before any read is measured, because storage answers reads of holes, preallocated extents
//! and zeroes without touching a medium, and a figure from them says nothing. A hole that the file
//! system admits decides; then a sample of tiles is read from the storage (with direct I/O where it
//! works) and recognised by its stamp and body.

use std::io;
use std::path::Path;

use workload::data::{TileFound, TileMaker};
use workload::plan::FileSet;
use workload::random;

use crate::aligned::AlignedBuffer;
use crate::directory::TargetDirectory;
use crate::folder::{Folder, SampledFile};
use crate::manifest::Manifest;
use crate::ours::{find_file, kept_bytes};
use crate::refusal::Refusal;

/// Tiles that are read of each file, beside its first and last, unless there are very many files.
const SAMPLES_PER_FILE: u64 = 64;
/// Where a file takes less than half its size on disk: it may be sparse on a file system that does
/// not tell (NFSv3), or compressed. A hole of 1 % is missed by so many samples with a probability
/// of 3 in 100,000.
const SAMPLES_IF_SUSPICIOUS: u64 = 1024;
/// Tiles that are read of a whole file set, about: beyond it, each file is sampled less.
const SAMPLES_PER_SET: u64 = 4096;
/// Bytes of one sample's read: a page holds whole tiles of either size, at any alignment that
/// direct I/O asks for.
const PAGE_BYTES: u64 = 4096;

impl TargetDirectory {
    /// Checks every file of `set`, as far as it is recorded as written.
    ///
    /// # Errors
    /// The first file that is not what we left, with what was found and where.
    pub fn check(&self, set: &FileSet) -> Result<(), Refusal> {
        self.truth().check(set)
    }

    /// Takes every file of `set` that is not what we left back into the state of an unfilled one,
    /// so that the next fill writes it anew, and returns what was wrong with each.
    ///
    /// # Errors
    /// Something stands in a file's place that is not a file of ours, or the manifest could not be
    /// written.
    pub fn distrust(&mut self, set: &FileSet) -> Result<Vec<Refusal>, Refusal> {
        let wrong = self.truth().wrong(set)?;
        for file in &wrong {
            let record = self.manifest.files.get_mut(&set.file_name(file.index));
            record.expect("a file that was written is listed").set_kept_bytes(0);
        }
        if !wrong.is_empty() {
            self.manifest.save_in(self.folder.as_ref(), &self.path)?;
        }
        Ok(wrong.into_iter().map(|file| file.refusal).collect())
    }

    fn truth(&self) -> Truth<'_> {
        Truth {
            folder: self.folder.as_ref(),
            place: &self.path,
            manifest: &self.manifest,
            data_seed: self.data_seed(),
            direct: self.storage().direct.is_supported(),
        }
    }
}

/// What is compared: the files in a directory with what its manifest says of them.
pub(crate) struct Truth<'a> {
    folder: &'a dyn Folder,
    place: &'a Path,
    manifest: &'a Manifest,
    data_seed: u64,
    /// Tiles are read with direct I/O.
    direct: bool,
}

/// A file that is not what we left.
pub(crate) struct WrongFile {
    pub(crate) index: u32,
    /// Bytes of it that are recorded as written.
    pub(crate) kept_bytes: u64,
    /// What is wrong with it.
    pub(crate) refusal: Refusal,
}

impl<'a> Truth<'a> {
    /// Without a probe, which would write: whether direct I/O works is seen on the first file of
    /// `set`.
    pub(crate) fn looking(
        folder: &'a dyn Folder,
        place: &'a Path,
        manifest: &'a Manifest,
        data_seed: u64,
        set: &FileSet,
    ) -> Truth<'a> {
        let truth = Truth { folder, place, manifest, data_seed, direct: false };
        let first = truth.kept(set).next();
        let direct = first
            .is_some_and(|(index, _)| folder.reads_directly(&place.join(set.file_name(index))));
        Truth { direct, ..truth }
    }

    /// Checks every file of `set` as far as it is recorded as written, and ends at the first that
    /// is not what we left.
    pub(crate) fn check(&self, set: &FileSet) -> Result<(), Refusal> {
        let maker = set.tile_maker(self.data_seed);
        self.kept(set).try_for_each(|(index, bytes)| self.check_file(set, index, bytes, &maker))
    }

    /// Every file of `set` that is not what we left and may be written anew.
    pub(crate) fn wrong(&self, set: &FileSet) -> Result<Vec<WrongFile>, Refusal> {
        let maker = set.tile_maker(self.data_seed);
        let mut wrong = Vec::new();
        for (index, kept_bytes) in self.kept(set) {
            match self.check_file(set, index, kept_bytes, &maker) {
                Ok(()) => {}
                Err(refusal) if refusal.overridden_by().is_some() => {
                    wrong.push(WrongFile { index, kept_bytes, refusal });
                }
                Err(refusal) => return Err(refusal),
            }
        }
        Ok(wrong)
    }

    /// The files of `set` of which anything is recorded as written, with their bytes that are.
    fn kept<'s>(&'s self, set: &'s FileSet) -> impl Iterator<Item = (u32, u64)> + 's {
        let Truth { folder, place, manifest, data_seed, .. } = *self;
        (0..set.files)
            .map(move |index| (index, kept_bytes(folder, place, manifest, set, index, data_seed)))
            .filter(|(_, kept_bytes)| *kept_bytes > 0)
    }

    /// Checks the first `expected_bytes` of a file.
    fn check_file(
        &self,
        set: &FileSet,
        index: u32,
        expected_bytes: u64,
        maker: &TileMaker,
    ) -> Result<(), Refusal> {
        let path = self.place.join(set.file_name(index));
        let found = find_file(self.folder, &path, self.manifest)?
            .ok_or_else(|| Refusal::io("open", &path, io::Error::from(io::ErrorKind::NotFound)))?;
        let found_bytes = found.size_bytes;
        let is_complete = expected_bytes == set.file_size_bytes;
        // Space beyond what was written may be reserved.
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

/// The pages that are read: the first, the last, and pseudo-random ones; always the same for a
/// file.
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

/// Reads `len` bytes; asks for the whole page, because direct I/O takes only whole sectors, even at
/// a file's end.
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

/// Recognises every whole tile of a page. A tile that the file's end cuts off cannot be recognised.
fn check_page(
    path: &Path,
    index: u32,
    offset: u64,
    page: &[u8],
    maker: &TileMaker,
) -> Result<(), Refusal> {
    let tile_bytes = maker.tile_bytes();
    let mut scratch = vec![0; tile_bytes];
    for (place, tile) in page.chunks_exact(tile_bytes).enumerate() {
        let offset_bytes = offset + (place * tile_bytes) as u64;
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
    fn samples_hold_the_first_and_the_last_page_and_no_page_twice() {
        let pages = sampled_pages(1 << 30, 64, 7);
        assert_eq!(pages.first(), Some(&0));
        assert_eq!(pages.last(), Some(&((1 << 30) - PAGE_BYTES)));
        assert!(pages.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(pages.len() > 60, "{} samples", pages.len());
    }

    #[test]
    fn a_small_file_is_read_whole() {
        assert_eq!(sampled_pages(10_000, 64, 7), [0, 4096, 8192]);
        assert_eq!(sampled_pages(0, 64, 7), [0_u64; 0]);
    }

    #[test]
    fn many_files_are_sampled_less_each_and_a_suspicious_one_more() {
        assert_eq!(samples_per_file(1, false), 64);
        assert_eq!(samples_per_file(1, true), 1024);
        assert_eq!(samples_per_file(256, true), 16);
        assert_eq!(samples_per_file(1_000_000, false), 4);
    }
}
