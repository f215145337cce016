//! The data path of a stream that moves real data: fills buffers before writes, and with `--verify`
//! compares read data with the expected data.
//!
//! Expected data is a function of (data seed, file, offset, generation). The generation of a tile
//! that was written in this run is in a table with one word per tile, shared by the stream's
//! workers. For other tiles any generation is accepted, but the tile must be complete and at its
//! offset.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use target::Target;
use workload::data::{TileFound, TileMaker};
use workload::op::{Op, OpKind};
use workload::outcome::ErrorKind;
use workload::random;

use crate::worker::DataPath;

/// Mismatches that a worker keeps in detail; all are counted.
const MISMATCHES_KEPT: usize = 16;

/// Read data that differs from the expected data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The file's number in the stream.
    pub file: u32,
    /// The offset of the tile.
    pub offset_bytes: u64,
    /// Number of the operation that read it.
    pub op_index: u64,
    /// The expected generation, if known.
    pub expected_generation: Option<u32>,
    /// What was found.
    pub found: TileFound,
    /// The first bytes that were found.
    pub first_bytes: [u8; 8],
    /// How often the tile was read with a mismatch.
    pub times: u64,
}

/// The state of every tile of a stream's files in this run: `states[file * tiles_per_file + tile]`.
///
/// A word contains the generation of the last acknowledged write (0: unknown), the number of
/// outstanding writes, and a version that every change increments, so that a read can detect
/// changes while it was outstanding.
#[derive(Debug)]
pub struct Generations {
    states: Vec<AtomicU64>,
    tiles_per_file: u64,
}

const VERSION_ONE: u64 = 1 << 44;
const OUTSTANDING_ONE: u64 = 1 << 32;
const OUTSTANDING_MASK: u64 = 0x7ff << 32;
/// Writes have overlapped since none was outstanding: the order in which they took effect is
/// unknown.
const OVERLAPPED: u64 = 1 << 43;
const GENERATION_MASK: u64 = 0xffff_ffff;
/// Stored instead of a generation (those are odd) after writes overlapped: servers and file systems
/// do not guarantee that one of them wins completely (nfs-ganesha's memory back end does not).
const MIXED: u32 = 2;

impl Generations {
    /// A table for `files` files of `file_size_bytes` in tiles of `tile_bytes`, all unknown.
    pub fn new(files: u32, file_size_bytes: u64, tile_bytes: u64) -> Generations {
        let tiles_per_file = file_size_bytes.div_ceil(tile_bytes);
        let count = tiles_per_file * u64::from(files);
        Generations { states: (0..count).map(|_| AtomicU64::new(0)).collect(), tiles_per_file }
    }

    fn state(&self, file: u32, tile: u64) -> &AtomicU64 {
        &self.states[(u64::from(file) * self.tiles_per_file + tile) as usize]
    }

    fn write_begins(&self, file: u32, tile: u64) {
        self.change(file, tile, |now| {
            let overlap = if now & OUTSTANDING_MASK == 0 { 0 } else { OVERLAPPED };
            now.wrapping_add(VERSION_ONE + OUTSTANDING_ONE) | overlap
        });
    }

    /// Ends a write; `generation` is what it wrote if it succeeded.
    fn write_ends(&self, file: u32, tile: u64, generation: Option<u32>) {
        self.change(file, tile, |now| {
            let known = if now & OVERLAPPED == 0 { generation.unwrap_or(0) } else { MIXED };
            let ended = now.wrapping_add(VERSION_ONE).wrapping_sub(OUTSTANDING_ONE);
            let clear = if ended & OUTSTANDING_MASK == 0 { OVERLAPPED } else { 0 };
            (ended & !GENERATION_MASK & !clear) | u64::from(known)
        });
    }

    fn change(&self, file: u32, tile: u64, change: impl Fn(u64) -> u64) {
        let state = self.state(file, tile);
        let changed =
            state.fetch_update(Ordering::AcqRel, Ordering::Acquire, |now| Some(change(now)));
        debug_assert!(changed.is_ok(), "the closure always returns a value");
    }
}

/// The verification state of one worker.
#[derive(Clone, Debug)]
pub(crate) struct Verifier {
    /// `seen[tag * tiles_per_op + tile]`: the tile's state when the read was issued.
    seen: Vec<u64>,
    tiles_per_op: usize,
    scratch: Vec<u8>,
    mismatches: Vec<Mismatch>,
}

/// Files of one size, with what verifies them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct VerifiedFiles<'a> {
    pub(crate) maker: &'a TileMaker,
    pub(crate) generations: &'a Generations,
    /// The number of the first of them in the stream.
    pub(crate) first: u32,
}

impl VerifiedFiles<'_> {
    /// The tiles of which an operation has every byte: all of its tiles, unless it is of a list.
    fn whole_tiles(&self, op: &Op) -> Range<u64> {
        let tile_bytes = self.maker.tile_bytes() as u64;
        let first = op.offset_bytes.div_ceil(tile_bytes);
        first..first.max((op.offset_bytes + u64::from(op.size_bytes)) / tile_bytes)
    }

    fn state(&self, op: &Op, tile: u64) -> &AtomicU64 {
        self.generations.state(op.file - self.first, tile)
    }
}

impl Verifier {
    /// Of a worker with `queue_depth` slots and operations of at most `tiles_per_op` tiles.
    pub(crate) fn new(
        tile_bytes: usize,
        queue_depth: u32,
        transfer_size_max_bytes: u64,
    ) -> Verifier {
        let tiles_per_op = (transfer_size_max_bytes as usize).div_ceil(tile_bytes);
        Verifier {
            seen: vec![0; tiles_per_op * queue_depth as usize],
            tiles_per_op,
            scratch: vec![0; tile_bytes],
            mismatches: Vec::with_capacity(MISMATCHES_KEPT),
        }
    }

    pub(crate) fn into_mismatches(self) -> Vec<Mismatch> {
        self.mismatches
    }

    /// Records a mismatch, once for each offset.
    pub(crate) fn note(&mut self, mismatch: Mismatch) {
        let same = |known: &&mut Mismatch| {
            (known.file, known.offset_bytes) == (mismatch.file, mismatch.offset_bytes)
        };
        if let Some(known) = self.mismatches.iter_mut().find(same) {
            known.times += 1;
        } else if self.mismatches.len() < MISMATCHES_KEPT {
            self.mismatches.push(mismatch);
        }
    }

    pub(crate) fn note_issue(&mut self, tag: u32, op: &Op, files: VerifiedFiles<'_>) {
        for (number, tile) in files.whole_tiles(op).enumerate() {
            match op.kind {
                OpKind::Write => files.generations.write_begins(op.file - files.first, tile),
                OpKind::Read => {
                    self.seen[tag as usize * self.tiles_per_op + number] =
                        files.state(op, tile).load(Ordering::Acquire);
                }
                _ => {}
            }
        }
    }

    /// Ends a write; `generation` is what it wrote if it succeeded.
    pub(crate) fn end_write(op: &Op, generation: Option<u32>, files: VerifiedFiles<'_>) {
        if op.kind == OpKind::Write {
            for tile in files.whole_tiles(op) {
                files.generations.write_ends(op.file - files.first, tile, generation);
            }
        }
    }

    /// Compares what a read returned.
    pub(crate) fn check_read(
        &mut self,
        tag: u32,
        op: &Op,
        data: &[u8],
        files: VerifiedFiles<'_>,
    ) -> Result<(), ErrorKind> {
        let tile_bytes = files.maker.tile_bytes();
        let mut verdict = Ok(());
        for (number, tile) in files.whole_tiles(op).enumerate() {
            let offset_bytes = tile * tile_bytes as u64;
            let at = (offset_bytes - op.offset_bytes) as usize;
            let bytes = &data[at..at + tile_bytes];
            let before = self.seen[tag as usize * self.tiles_per_op + number];
            let after = files.state(op, tile).load(Ordering::Acquire);
            let unchanged = before == after && after & OUTSTANDING_MASK == 0;
            let known = (after & GENERATION_MASK) as u32;
            let expected = (unchanged && known != 0 && known != MIXED).then_some(known);
            let file = op.file - files.first;
            let found = files.maker.inspect(file, offset_bytes, bytes, &mut self.scratch);
            // A read concurrent with a write may return part of it.
            let good = !unchanged
                || match found {
                    TileFound::Good { generation } => expected.is_none_or(|e| e == generation),
                    TileFound::GoodDuplicate => true,
                    TileFound::Corrupt { .. } => known == MIXED,
                    _ => false,
                };
            if !good {
                verdict = Err(ErrorKind::Corrupt);
                self.note(Mismatch {
                    file: op.file,
                    offset_bytes,
                    op_index: op.index,
                    expected_generation: expected,
                    found,
                    first_bytes: bytes[..8].try_into().expect("a tile has eight bytes"),
                    times: 1,
                });
            }
        }
        verdict
    }
}

/// Fills and verifies tiles.
#[derive(Debug)]
pub struct Tiles {
    maker: Arc<TileMaker>,
    generation_seed: u64,
    verifier: Option<(Verifier, Arc<Generations>)>,
    /// Whether data was generated or verified since the last call of `took_time`.
    took_time: bool,
}

impl Tiles {
    /// Only fills. Generations depend on `run_seed`, so that runs write different data.
    pub fn filling(maker: Arc<TileMaker>, run_seed: u64) -> Tiles {
        let generation_seed = random::derive(run_seed, 0x6E4);
        Tiles { maker, generation_seed, verifier: None, took_time: false }
    }

    /// A function that generates the data of an earlier write of this run again.
    pub fn rewriting(
        maker: Arc<TileMaker>,
        run_seed: u64,
    ) -> impl Fn(&Op, &mut [u8]) + Send + Sync + use<> {
        let tiles = Tiles::filling(maker, run_seed);
        move |op, data| {
            let generation = generation(tiles.generation_seed, op);
            tiles.maker.fill(op.file, op.offset_bytes, generation, data);
        }
    }

    /// Fills, and verifies the reads of a worker with `queue_depth` slots and transfers of at most
    /// `transfer_size_max_bytes`.
    pub fn verifying(
        maker: Arc<TileMaker>,
        run_seed: u64,
        generations: Arc<Generations>,
        queue_depth: u32,
        transfer_size_max_bytes: u64,
    ) -> Tiles {
        let verifier = Verifier::new(maker.tile_bytes(), queue_depth, transfer_size_max_bytes);
        Tiles { verifier: Some((verifier, generations)), ..Tiles::filling(maker, run_seed) }
    }
}

/// The generation that a write writes: never 0, which is the fill's and the table's "unknown".
pub(crate) fn generation(seed: u64, op: &Op) -> u32 {
    (random::at(seed, op.index) as u32) | 1
}

impl DataPath for Tiles {
    const TAKES_TIME: bool = true;

    #[inline]
    fn before(&mut self, tag: u32, op: &Op, target: &mut impl Target) {
        if op.kind == OpKind::Write
            && let Some(buffer) = target.buffer(tag)
        {
            let data = &mut buffer[..op.size_bytes as usize];
            let generation = generation(self.generation_seed, op);
            self.maker.fill(op.file, op.offset_bytes, generation, data);
            self.took_time = true;
        }
        if let Some((verifier, generations)) = &mut self.verifier {
            verifier.note_issue(
                tag,
                op,
                VerifiedFiles { maker: &self.maker, generations, first: 0 },
            );
        }
    }

    #[inline]
    fn after(&mut self, tag: u32, op: &Op, target: &mut impl Target) -> Result<(), ErrorKind> {
        let Some((verifier, generations)) = &mut self.verifier else { return Ok(()) };
        let files = VerifiedFiles { maker: &self.maker, generations, first: 0 };
        match op.kind {
            OpKind::Write => {
                let generation = generation(self.generation_seed, op);
                Verifier::end_write(op, Some(generation), files);
            }
            OpKind::Read => {
                if let Some(data) = target.buffer(tag) {
                    self.took_time = true;
                    return verifier.check_read(tag, op, data, files);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn failed(&mut self, _tag: u32, op: &Op) {
        // It is unknown whether a failed write reached the storage.
        if let Some((_, generations)) = &self.verifier {
            let files = VerifiedFiles { maker: &self.maker, generations, first: 0 };
            Verifier::end_write(op, None, files);
        }
    }

    #[inline]
    fn took_time(&mut self) -> bool {
        std::mem::take(&mut self.took_time)
    }

    fn into_mismatches(self) -> Vec<Mismatch> {
        self.verifier.map(|(verifier, _)| verifier.into_mismatches()).unwrap_or_default()
    }
}

impl std::fmt::Display for Mismatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "file {}, offset {}: expected ", self.file, self.offset_bytes)?;
        match self.expected_generation {
            Some(generation) => write!(f, "generation {generation:#010x}")?,
            None => write!(f, "this tile in any generation")?,
        }
        write!(f, ", found ")?;
        match self.found {
            TileFound::Good { generation } => write!(f, "generation {generation:#010x}")?,
            TileFound::GoodDuplicate => write!(f, "a duplicate tile")?,
            TileFound::Zero => write!(f, "zeros")?,
            TileFound::Foreign => {
                write!(f, "foreign data that begins with")?;
                for byte in self.first_bytes {
                    write!(f, " {byte:02x}")?;
                }
            }
            TileFound::Misplaced { file, offset_bytes, .. } => {
                write!(f, "the tile of file {file}, offset {offset_bytes}")?;
            }
            TileFound::Corrupt { at_byte, expected, found } => write!(
                f,
                "byte {found:#04x} instead of {expected:#04x} at offset {}",
                self.offset_bytes + u64::from(at_byte)
            )?,
        }
        write!(f, " (operation {}", self.op_index)?;
        if self.times > 1 {
            write!(f, ", read {} times", self.times)?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(generations: &Generations) -> u32 {
        (generations.state(0, 0).load(Ordering::Acquire) & GENERATION_MASK) as u32
    }

    #[test]
    fn overlapping_writes_leave_a_tile_with_unknown_generation() {
        let generations = Generations::new(1, 4096, 4096);
        generations.write_begins(0, 0);
        generations.write_ends(0, 0, Some(5));
        assert_eq!(known(&generations), 5);

        // The second began before the first ended: either may have taken effect last.
        generations.write_begins(0, 0);
        generations.write_begins(0, 0);
        generations.write_ends(0, 0, Some(7));
        assert_eq!(known(&generations), MIXED);
        generations.write_ends(0, 0, Some(9));
        assert_eq!(known(&generations), MIXED);

        generations.write_begins(0, 0);
        generations.write_ends(0, 0, Some(11));
        assert_eq!(known(&generations), 11);
        // It is unknown whether a failed write reached the storage.
        generations.write_begins(0, 0);
        generations.write_ends(0, 0, None);
        assert_eq!(known(&generations), 0);
    }
}
