//! The written data: as compressible and repetitive as configured, and every damage is detected.

use std::collections::HashMap;

use proptest::prelude::*;
use sha2::{Digest, Sha256};
use workload::data::{DataPattern, STAMP_BYTES, TileFound, TileMaker};

const BLOCK: usize = 4096;

fn written(pattern: DataPattern, tile_bytes: u32, blocks: usize) -> Vec<u8> {
    let maker = TileMaker::new(77, pattern, tile_bytes);
    let mut data = vec![0; blocks * BLOCK];
    let half = data.len() / 2;
    maker.fill(0, 0, 0, &mut data[..half]);
    // Like an overwritten file: another generation, another file.
    maker.fill(1, 1 << 30, 3, &mut data[half..]);
    data
}

/// Share of bytes that zstd removes if each block is compressed separately, like inline compression of
/// storage.
fn compressed_away(data: &[u8]) -> f64 {
    let packed: usize = data
        .chunks_exact(BLOCK)
        .map(|block| zstd::bulk::compress(block, 3).unwrap().len().min(BLOCK))
        .sum();
    1.0 - packed as f64 / data.len() as f64
}

/// Share of blocks that are copies of an earlier one.
fn copies(data: &[u8], block: usize) -> f64 {
    let mut seen: HashMap<Vec<u8>, u32> = HashMap::new();
    let mut copies = 0;
    for tile in data.chunks_exact(block) {
        let count = seen.entry(Sha256::digest(tile).to_vec()).or_default();
        copies += u32::from(*count > 0);
        *count += 1;
    }
    f64::from(copies) / (data.len() / block) as f64
}

#[test]
fn data_is_as_compressible_and_repetitive_as_configured() {
    for compressible_permille in [0, 250, 500, 750] {
        for duplicate_permille in [0, 250, 500] {
            let pattern = DataPattern { compressible_permille, duplicate_permille };
            let data = written(pattern, 4096, 4000);
            let away = compressed_away(&data);
            let expected = f64::from(compressible_permille) / 1000.0;
            assert!((away - expected).abs() <= 0.05, "{pattern:?}: {away} compressed away");
            let copied = copies(&data, BLOCK);
            let expected = f64::from(duplicate_permille) / 1000.0;
            assert!((copied - expected).abs() <= 0.05, "{pattern:?}: {copied} are copies");
        }
    }
}

#[test]
fn tiles_of_one_sector_have_the_configured_shares_too() {
    for (compressible_permille, duplicate_permille) in [(0, 0), (500, 0), (0, 250), (500, 500)] {
        let pattern = DataPattern { compressible_permille, duplicate_permille };
        let data = written(pattern, 512, 2000);
        let copied = copies(&data, 512);
        let expected = f64::from(duplicate_permille) / 1000.0;
        assert!((copied - expected).abs() <= 0.05, "{pattern:?}: {copied} are copies");
        if duplicate_permille == 0 {
            let away = compressed_away(&data);
            let expected = f64::from(compressible_permille) / 1000.0;
            assert!((away - expected).abs() <= 0.05, "{pattern:?}: {away} compressed away");
        }
    }
}

#[test]
fn incompressible_data_does_not_compress_across_blocks() {
    let data = written(DataPattern::default(), 4096, 4000);
    let packed = zstd::bulk::compress(&data, 3).unwrap().len();
    assert!(packed as f64 > data.len() as f64 * 0.98, "{packed} of {}", data.len());
}

fn patterns() -> impl Strategy<Value = DataPattern> {
    (0..=950u16, 0..=950u16).prop_map(|(compressible_permille, duplicate_permille)| DataPattern {
        compressible_permille,
        duplicate_permille,
    })
}

#[test]
fn each_byte_after_the_stamp_is_compared() {
    for (compressible_permille, tile_bytes) in [(0, 512), (0, 4096), (333, 4096), (950, 512)] {
        let pattern = DataPattern { compressible_permille, duplicate_permille: 0 };
        let maker = TileMaker::new(11, pattern, tile_bytes);
        let mut tile = tile(&maker, 3, 8192, 5);
        for at in STAMP_BYTES..tile.len() {
            tile[at] ^= 0x80;
            let found = maker.inspect(3, 8192, &tile, &mut [0; 4096]);
            let expected = tile[at] ^ 0x80;
            let wrong = TileFound::Corrupt { at_byte: at as u32, expected, found: tile[at] };
            assert_eq!(found, wrong);
            tile[at] ^= 0x80;
        }
        let found = maker.inspect(3, 8192, &tile, &mut [0; 4096]);
        assert_eq!(found, TileFound::Good { generation: 5 });
    }
}

/// A tile as written.
fn tile(maker: &TileMaker, file: u32, offset: u64, generation: u32) -> Vec<u8> {
    let mut tile = vec![0; maker.tile_bytes()];
    maker.fill(file, offset, generation, &mut tile);
    tile
}

proptest! {
    #[test]
    fn a_written_tile_is_good(
        pattern in patterns(), small: bool, seed: u64, file in 0..100u32, position in 0..1u64 << 40,
        generation: u32,
    ) {
        let maker = TileMaker::new(seed, pattern, if small { 512 } else { 4096 });
        let offset = position * maker.tile_bytes() as u64;
        let tile = tile(&maker, file, offset, generation);
        let found = maker.inspect(file, offset, &tile, &mut vec![0; 4096]);
        if maker.is_duplicate(file, offset) {
            prop_assert_eq!(found, TileFound::GoodDuplicate);
        } else {
            prop_assert_eq!(found, TileFound::Good { generation });
        }
    }

    #[test]
    fn every_flipped_byte_is_detected(
        pattern in patterns(), small: bool, seed: u64, position in 0..1u64 << 30,
        generation in 0..9u32, at in 0..4096usize, flip in 1..=255u8,
    ) {
        let maker = TileMaker::new(seed, pattern, if small { 512 } else { 4096 });
        let offset = position * maker.tile_bytes() as u64;
        let mut tile = tile(&maker, 3, offset, generation);
        let at = at % tile.len();
        let expected = tile[at];
        tile[at] ^= flip;
        let found = maker.inspect(3, offset, &tile, &mut vec![0; 4096]);
        if at >= STAMP_BYTES {
            let wrong = TileFound::Corrupt { at_byte: at as u32, expected, found: tile[at] };
            prop_assert_eq!(found, wrong);
        } else {
            // Without a valid stamp, no tile is recognised.
            prop_assert_eq!(found, TileFound::Foreign);
        }
    }

    #[test]
    fn a_torn_tile_is_detected(
        seed: u64, cut in 1..8usize, compressible_permille in 0..=500u16,
    ) {
        let pattern = DataPattern { compressible_permille, duplicate_permille: 0 };
        let maker = TileMaker::new(seed, pattern, 4096);
        let (old, mut torn) = (tile(&maker, 0, 8192, 1), tile(&maker, 0, 8192, 2));
        torn[cut * 512..].copy_from_slice(&old[cut * 512..]);
        if torn != tile(&maker, 0, 8192, 2) {
            let found = maker.inspect(0, 8192, &torn, &mut [0; 4096]);
            let corrupt = matches!(found, TileFound::Corrupt { .. });
            prop_assert!(corrupt, "{:?}", found);
        }
    }

    #[test]
    fn a_misplaced_tile_is_reported_with_its_origin(
        seed: u64, file in 0..4u32, position in 0..1000u64, other in 0..1000u64,
    ) {
        prop_assume!((file, position) != (2, other));
        let maker = TileMaker::new(seed, DataPattern::default(), 4096);
        let tile = tile(&maker, file, position * 4096, 5);
        let found = maker.inspect(2, other * 4096, &tile, &mut [0; 4096]);
        let expected = TileFound::Misplaced { file, offset_bytes: position * 4096, generation: 5 };
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_unique_tile_in_place_of_a_duplicate_is_misplaced_and_vice_versa(seed: u64) {
        let pattern = DataPattern { compressible_permille: 0, duplicate_permille: 500 };
        let maker = TileMaker::new(seed, pattern, 4096);
        let (mut unique, mut duplicate) = (None, None);
        for position in 0..64 {
            let offset = position * 4096;
            let kind = if maker.is_duplicate(0, offset) { &mut duplicate } else { &mut unique };
            *kind = Some(offset);
        }
        let (Some(unique), Some(duplicate)) = (unique, duplicate) else { return Ok(()) };
        for (from, to) in [(unique, duplicate), (duplicate, unique)] {
            let found = maker.inspect(0, to, &tile(&maker, 0, from, 1), &mut [0; 4096]);
            let misplaced = matches!(found, TileFound::Misplaced { .. });
            prop_assert!(misplaced, "{:?}", found);
        }
    }

    #[test]
    fn zeros_and_foreign_data_are_distinguished(seed: u64, byte in 1..=255u8, pattern in patterns()) {
        let maker = TileMaker::new(seed, pattern, 4096);
        let mut scratch = [0; 4096];
        prop_assert_eq!(maker.inspect(0, 0, &[0; 4096], &mut scratch), TileFound::Zero);
        prop_assert_eq!(maker.inspect(0, 0, &[byte; 4096], &mut scratch), TileFound::Foreign);
        let other = TileMaker::new(seed ^ 1, pattern, 4096);
        let found = maker.inspect(0, 0, &tile(&other, 0, 0, 1), &mut scratch);
        prop_assert_eq!(found, TileFound::Foreign);
    }
}
