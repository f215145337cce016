//! The written data: a pure function of (seed, file, offset, generation) with a given compressibility
//! and share of duplicates, so that it can be verified without being stored.
//!
//! A file consists of tiles (4,096 bytes; 512 for streams with smaller transfers). A unique tile
//! begins with a stamp of its location and of the write that it came from; the rest is a window of a
//! random pool XORed with a key of the tile, followed by a constant run that provides the
//! compressibility. A duplicate tile is one of a few tiles without a location, which are the same
//! byte for byte everywhere.

use serde::{Deserialize, Serialize};

use crate::random;

/// How compressible the written data is, and its share of duplicates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataPattern {
    /// Share of each tile that compression removes, in thousandths (at most 950).
    pub compressible_permille: u16,
    /// Share of tiles that are copies of another tile, in thousandths (at most 950).
    pub duplicate_permille: u16,
}

/// Bytes of the stamp at a tile's start: magic (4), generation (4), file (4), check (4), offset
/// (8).
pub const STAMP_BYTES: usize = 24;
const MAGIC_UNIQUE: u32 = 0x4643_5431;
const MAGIC_DUPLICATE: u32 = 0x4643_5444;
/// Number of different duplicate tiles. Few, so that small working sets reach their share, too.
const DUPLICATES: u64 = 8;
const POOL_BYTES: usize = 64 << 10;

/// Generates and verifies the tiles of one seed and one pattern.
#[derive(Clone, Debug)]
pub struct TileMaker {
    seed: u64,
    tile_bytes: usize,
    duplicate_permille: u64,
    /// Incompressible bytes after the stamp of a tile, a multiple of 8.
    random_bytes: usize,
    pool: Vec<u8>,
}

/// The result of verifying a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileFound {
    /// The expected tile, of some generation.
    Good {
        /// The generation of the write.
        generation: u32,
    },
    /// The expected duplicate tile; duplicates carry no generation.
    GoodDuplicate,
    /// Every byte is zero: a hole, an unwritten extent, or lost data.
    Zero,
    /// A valid tile of this seed, but of another location.
    Misplaced {
        /// The file in its stamp.
        file: u32,
        /// The offset in its stamp.
        offset_bytes: u64,
        /// The generation in its stamp.
        generation: u32,
    },
    /// The stamp is valid, the rest is not.
    Corrupt {
        /// First wrong byte, from the tile's start.
        at_byte: u32,
        /// The expected byte.
        expected: u8,
        /// The byte that was read.
        found: u8,
    },
    /// Not a tile of this seed.
    Foreign,
}

impl TileMaker {
    /// Prepares tiles of `tile_bytes` (512 or 4,096) for the data of `seed`.
    pub fn new(seed: u64, pattern: DataPattern, tile_bytes: u32) -> TileMaker {
        let tile_bytes = tile_bytes as usize;
        assert!(matches!(tile_bytes, 512 | 4096), "tiles are 512 or 4,096 bytes");
        let mut pool = vec![0u8; POOL_BYTES];
        for (index, word) in pool.chunks_exact_mut(8).enumerate() {
            word.copy_from_slice(&random::at(seed, index as u64).to_le_bytes());
        }
        let kept = tile_bytes * usize::from(1000 - pattern.compressible_permille) / 1000;
        // The constant run compresses to about 16 bytes.
        let random_bytes = if pattern.compressible_permille == 0 {
            tile_bytes - STAMP_BYTES
        } else {
            kept.saturating_sub(STAMP_BYTES + 16) & !7
        };
        TileMaker {
            seed,
            tile_bytes,
            duplicate_permille: u64::from(pattern.duplicate_permille),
            random_bytes,
            pool,
        }
    }

    /// Bytes of one tile.
    pub fn tile_bytes(&self) -> usize {
        self.tile_bytes
    }

    /// Fills `buffer` with the data of write `generation` at `offset_bytes` of `file`. Offset and length
    /// are multiples of the tile.
    #[inline]
    pub fn fill(&self, file: u32, offset_bytes: u64, generation: u32, buffer: &mut [u8]) {
        let mut offset = offset_bytes;
        for tile in buffer.chunks_exact_mut(self.tile_bytes) {
            self.fill_tile(file, offset, generation, tile);
            offset += self.tile_bytes as u64;
        }
    }

    /// Whether the tile at this location is a duplicate.
    #[inline]
    pub fn is_duplicate(&self, file: u32, offset_bytes: u64) -> bool {
        self.duplicate_permille > 0
            && random::below(self.location_hash(file, offset_bytes), 1000) < self.duplicate_permille
    }

    fn location_hash(&self, file: u32, offset_bytes: u64) -> u64 {
        // An odd multiplier is a bijection: no two files share a hash.
        let of_file = u64::from(file).wrapping_mul(0xA24B_AED4_963E_E407);
        random::at(self.seed ^ of_file, offset_bytes)
    }

    fn fill_tile(&self, file: u32, offset_bytes: u64, generation: u32, tile: &mut [u8]) {
        if self.is_duplicate(file, offset_bytes) {
            let number = self.location_hash(file, offset_bytes) ^ u64::from(generation);
            let which = random::below(random::mix64(number), DUPLICATES);
            self.write_stamp(MAGIC_DUPLICATE, 0, which as u32, 0, tile);
            self.write_body(random::at(self.seed, 0xD0B1 + which), tile);
        } else {
            self.write_stamp(MAGIC_UNIQUE, generation, file, offset_bytes, tile);
            self.write_body(self.key(file, offset_bytes, generation), tile);
        }
    }

    #[inline]
    fn key(&self, file: u32, offset_bytes: u64, generation: u32) -> u64 {
        random::mix64(self.location_hash(file, offset_bytes) ^ (u64::from(generation) << 17))
    }

    fn check_number(&self, magic: u32, generation: u32, file: u32, offset_bytes: u64) -> u32 {
        let number = u64::from(magic) << 32 | u64::from(generation);
        (random::mix64(number ^ self.location_hash(file, offset_bytes)) >> 32) as u32
    }

    #[inline]
    fn write_stamp(&self, magic: u32, generation: u32, file: u32, offset: u64, tile: &mut [u8]) {
        tile[0..4].copy_from_slice(&magic.to_le_bytes());
        tile[4..8].copy_from_slice(&generation.to_le_bytes());
        tile[8..12].copy_from_slice(&file.to_le_bytes());
        let check = self.check_number(magic, generation, file, offset);
        tile[12..16].copy_from_slice(&check.to_le_bytes());
        tile[16..24].copy_from_slice(&offset.to_le_bytes());
    }

    /// The body: `random_bytes` of pool XOR key, then a constant run.
    #[inline]
    fn write_body(&self, key: u64, tile: &mut [u8]) {
        let body = &mut tile[STAMP_BYTES..];
        let (noise, run) = body.split_at_mut(self.random_bytes);
        let window = self.window(key);
        for (out, word) in noise.chunks_exact_mut(8).zip(window.chunks_exact(8)) {
            let word = u64::from_le_bytes(word.try_into().expect("chunks of 8")) ^ key;
            out.copy_from_slice(&word.to_le_bytes());
        }
        run.fill(key.to_le_bytes()[0] | 1);
    }

    /// Whether a tile has the body that [`TileMaker::write_body`] writes.
    ///
    /// Differences are collected over blocks of words instead of leaving at the first one: without
    /// a branch for each word, the compiler compares as many words at a time as the processor can.
    #[inline]
    fn has_body(&self, key: u64, tile: &[u8]) -> bool {
        const BLOCK: usize = 512;
        let (noise, run) = tile[STAMP_BYTES..].split_at(self.random_bytes);
        let window = self.window(key);
        let is_noise = noise.chunks(BLOCK).zip(window.chunks(BLOCK)).all(|(found, words)| {
            let words = found.chunks_exact(8).zip(words.chunks_exact(8));
            let differences = words.fold(0, |differences, (found, word)| {
                let found = u64::from_le_bytes(found.try_into().expect("chunks of 8"));
                let word = u64::from_le_bytes(word.try_into().expect("chunks of 8"));
                differences | (found ^ word ^ key)
            });
            differences == 0
        });
        let constant = key.to_le_bytes()[0] | 1;
        is_noise
            && run.chunks(BLOCK).all(|part| {
                part.iter().fold(0, |differences, byte| differences | (byte ^ constant)) == 0
            })
    }

    #[inline]
    fn window(&self, key: u64) -> &[u8] {
        let start = random::below(key, ((POOL_BYTES - self.tile_bytes) / 8) as u64) as usize * 8;
        &self.pool[start..start + self.random_bytes]
    }

    /// Verifies the tile at `offset_bytes` of `file`. `scratch` is at least one tile long.
    pub fn inspect(
        &self,
        file: u32,
        offset_bytes: u64,
        tile: &[u8],
        scratch: &mut [u8],
    ) -> TileFound {
        let word = |at: usize| u32::from_le_bytes(tile[at..at + 4].try_into().expect("four bytes"));
        let (magic, generation, owner, check) = (word(0), word(4), word(8), word(12));
        let offset = u64::from_le_bytes(tile[16..24].try_into().expect("eight bytes"));
        let known = matches!(magic, MAGIC_UNIQUE | MAGIC_DUPLICATE)
            && check == self.check_number(magic, generation, owner, offset);
        if !known {
            let zero = tile.iter().all(|byte| *byte == 0);
            return if zero { TileFound::Zero } else { TileFound::Foreign };
        }
        let duplicate_here = self.is_duplicate(file, offset_bytes);
        let (key, good) = match (magic == MAGIC_DUPLICATE, duplicate_here) {
            (true, true) => {
                let key = random::at(self.seed, 0xD0B1 + u64::from(owner));
                (key, TileFound::GoodDuplicate)
            }
            (false, false) if owner == file && offset == offset_bytes => {
                (self.key(file, offset, generation), TileFound::Good { generation })
            }
            _ => return TileFound::Misplaced { file: owner, offset_bytes: offset, generation },
        };
        // The stamp of a duplicate has no generation and no offset.
        let has_stamp = !duplicate_here || (generation, offset) == (0, 0);
        if has_stamp && self.has_body(key, tile) {
            return good;
        }
        // The expected tile is written only to find the first wrong byte.
        let expected = &mut scratch[..self.tile_bytes];
        if duplicate_here {
            self.write_stamp(MAGIC_DUPLICATE, 0, owner, 0, expected);
        } else {
            self.write_stamp(MAGIC_UNIQUE, generation, file, offset, expected);
        }
        self.write_body(key, expected);
        let differ =
            tile.iter().zip(expected.iter()).position(|(found, expected)| found != expected);
        let at = differ.expect("stamp or body differs");
        TileFound::Corrupt { at_byte: at as u32, expected: expected[at], found: tile[at] }
    }
}
