//! The content of files in a tree: a pure function of the file, its version and the offset, like the
//! data of [`workload::data`], for any size.

use std::ops::Range;

use workload::data::{DataPattern, TileMaker};
use workload::names::Content;
use workload::random;

const TILE_BYTES: u32 = 4096;
const TILE: u64 = TILE_BYTES as u64;

/// Generates and verifies the content of files.
#[derive(Debug)]
pub struct ContentMaker {
    tiles: TileMaker,
}

/// The first byte of a file that is not as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongByte {
    /// Its offset in the file.
    pub offset_bytes: u64,
    /// What it should be.
    pub expected: u8,
    /// What it is.
    pub found: u8,
}

impl ContentMaker {
    /// The content of the files of a plan with this seed.
    pub fn new(data_seed: u64, pattern: DataPattern) -> ContentMaker {
        let seed = random::derive(data_seed, 0xC0_47E4);
        ContentMaker { tiles: TileMaker::new(seed, pattern, TILE_BYTES) }
    }

    /// Fills `data` with the bytes from `offset_bytes` on.
    pub fn fill(&self, content: Content, offset_bytes: u64, data: &mut [u8]) {
        each_tile(offset_bytes, data.len(), &mut |range, offset| {
            let part = &mut data[range];
            if part.len() as u64 == TILE {
                self.fill_tile(content, offset, part);
            } else {
                let mut whole = [0; TILE_BYTES as usize];
                self.fill_tile(content, offset, &mut whole);
                let within = (offset_bytes.max(offset) - offset) as usize;
                part.copy_from_slice(&whole[within..within + part.len()]);
            }
            true
        });
    }

    /// Finds the first byte of `data`, read from `offset_bytes` on, that is wrong.
    pub fn find_wrong(
        &self,
        content: Content,
        offset_bytes: u64,
        data: &[u8],
    ) -> Option<WrongByte> {
        let mut wrong = None;
        each_tile(offset_bytes, data.len(), &mut |range, offset| {
            let mut whole = [0; TILE_BYTES as usize];
            self.fill_tile(content, offset, &mut whole);
            let within = (offset_bytes.max(offset) - offset) as usize;
            let (start, part) = (range.start, &data[range]);
            let expected = &whole[within..within + part.len()];
            if part == expected {
                return true;
            }
            let at = part.iter().zip(expected).position(|(a, b)| a != b).unwrap_or(0);
            wrong = Some(WrongByte {
                offset_bytes: offset_bytes + (start + at) as u64,
                expected: expected[at],
                found: part[at],
            });
            false
        });
        wrong
    }

    fn fill_tile(&self, content: Content, offset_bytes: u64, tile: &mut [u8]) {
        let file = content.key as u32;
        let generation = (content.key >> 32) as u32 ^ random::mix64(content.version) as u32;
        self.tiles.fill(file, offset_bytes, generation, tile);
    }
}

/// Calls `each` for every tile that `bytes` from `offset_bytes` on overlap, with the range of these
/// bytes in it and the tile's offset, until it returns false.
fn each_tile(offset_bytes: u64, bytes: usize, each: &mut dyn FnMut(Range<usize>, u64) -> bool) {
    let mut at = 0;
    while at < bytes {
        let from = offset_bytes + at as u64;
        let tile_offset = from / TILE * TILE;
        let length = ((tile_offset + TILE - from) as usize).min(bytes - at);
        if !each(at..at + length, tile_offset) {
            return;
        }
        at += length;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn maker() -> ContentMaker {
        let pattern = DataPattern { compressible_permille: 300, duplicate_permille: 100 };
        ContentMaker::new(7, pattern)
    }

    const CONTENT: Content = Content { key: 0x1234_5678_9ABC_DEF0, version: 3 };

    #[test]
    fn any_part_of_a_file_has_the_same_bytes_as_the_whole() {
        let maker = maker();
        let mut whole = vec![0; 20_000];
        maker.fill(CONTENT, 0, &mut whole);
        for draw in 0..200 {
            let from = random::below(random::at(1, draw), 20_000) as usize;
            let length = random::below(random::at(2, draw), (20_000 - from) as u64 + 1) as usize;
            let mut part = vec![0; length];
            maker.fill(CONTENT, from as u64, &mut part);
            assert_eq!(part, whole[from..from + length]);
            assert_eq!(maker.find_wrong(CONTENT, from as u64, &part), None);
        }
    }

    #[test]
    fn a_flipped_byte_is_found_at_its_offset() {
        let maker = maker();
        let mut data = vec![0; 9_000];
        maker.fill(CONTENT, 100, &mut data);
        for at in [0, 1, 3995, 3996, 3997, 8_999] {
            data[at] ^= 1;
            let wrong = maker.find_wrong(CONTENT, 100, &data).expect("a byte was flipped");
            assert_eq!(wrong.offset_bytes, 100 + at as u64);
            assert_eq!((wrong.found, wrong.expected), (data[at], data[at] ^ 1));
            data[at] ^= 1;
        }
    }

    #[test]
    fn files_and_versions_have_different_content() {
        let maker = ContentMaker::new(7, DataPattern::default());
        let contents = [(1, 0), (1, 1), (1, 2), (2, 0), (1 << 32 | 1, 0)];
        let mut all: Vec<Vec<u8>> = Vec::new();
        for (key, version) in contents {
            let mut data = vec![0; 64];
            maker.fill(Content { key, version }, 8192, &mut data);
            assert!(!all.contains(&data));
            all.push(data);
        }
    }
}
