//! The order of reads and writes.

use std::sync::LazyLock;

use workload::mix::Mix;

use crate::randomness::bits::{
    Bits, Law, assert_blocks_vary, assert_independent, assert_random_order,
};

/// Runs with neighbouring seeds.
const SEEDS: u64 = 16;
/// Workers of each run.
const LANES: u32 = 16;
/// Steps of each worker.
const STEPS: u64 = 1_000_000;

/// For each lane of each seed, which steps are reads.
fn reads(read_permille: u16, seeds: impl IntoIterator<Item = u64>, steps: u64) -> Vec<Bits> {
    let lanes = seeds.into_iter().flat_map(|seed| {
        let mix = Mix::new(read_permille, LANES, seed);
        (0..LANES).map(move |lane| (0..steps).map(|step| mix.is_read(lane, step)).collect())
    });
    lanes.collect()
}

/// Sequences with 50 % reads, shared by several tests.
static HALF: LazyLock<Vec<Bits>> = LazyLock::new(|| reads(500, 0..SEEDS, STEPS));

/// The expected distribution.
fn law(read_permille: u16) -> Law {
    Law::ExactInBlocks(f64::from(read_permille) / 1000.0)
}

/// Asserts the order within each lane. Mean run lengths are within `tolerance` (relative) of those of
/// a geometric distribution: at least nine standard deviations of a million draws.
fn assert_order(sequences: &[Bits], read_permille: u16, tolerance: f64) {
    let law = law(read_permille);
    let what = format!("{read_permille} reads per thousand");
    assert_random_order(sequences, law, &what);
    let lags = [1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 64, 128, 256, 512];
    assert_blocks_vary(sequences, law, &lags, &what);
    let share = f64::from(read_permille) / 1000.0;
    for bits in sequences {
        for (run, expected) in bits.mean_runs().into_iter().zip([1.0 / (1.0 - share), 1.0 / share])
        {
            assert!((run / expected - 1.0).abs() < tolerance, "{what}: runs of {run}");
        }
    }
}

#[test]
fn the_order_of_50_percent_reads_is_random() {
    // Mean run length 2.00 ± 0.05.
    assert_order(&HALF, 500, 0.025);
}

#[test]
fn the_order_of_70_percent_reads_is_random() {
    assert_order(&reads(700, 0..SEEDS, STEPS), 700, 0.03);
}

#[test]
fn the_order_of_90_percent_reads_is_random() {
    assert_order(&reads(900, 0..SEEDS, STEPS), 900, 0.03);
}

#[test]
fn the_orders_of_lanes_seeds_and_blocks_are_uncorrelated() {
    let law = law(500);
    let sequences = &*HALF;
    let lanes = LANES as usize;
    let pairs = |distance: usize| {
        let both = sequences.iter().zip(&sequences[distance..]);
        both.map(|(first, second)| (first, law, second, law))
    };
    assert_independent(pairs(1), 4, "neighbouring lanes");
    assert_independent(pairs(4), 4, "lanes four apart");
    assert_independent(pairs(lanes), 4, "the same lane of neighbouring seeds");
    assert_independent(pairs(lanes + 1), 4, "neighbouring lanes of neighbouring seeds");
    let blocks: Vec<[Bits; 2]> = sequences
        .iter()
        .map(|bits| [bits.slice(0, STEPS as usize - 1000), bits.slice(1000, STEPS as usize)])
        .collect();
    let neighbours = blocks.iter().map(|[first, second]| (first, law, second, law));
    assert_independent(neighbours, 4, "neighbouring blocks");
    let lane_and_block = blocks.windows(2).flat_map(|two| {
        let ([first, first_later], [second, second_later]) = (&two[0], &two[1]);
        [(first, law, second_later, law), (first_later, law, second, law)]
    });
    assert_independent(lane_and_block, 4, "neighbouring blocks of neighbouring lanes");
}

#[test]
fn seeds_that_differ_in_one_bit_give_uncorrelated_orders() {
    let seeds = std::iter::once(0).chain((0..64).map(|bit| 1 << bit));
    let sequences: Vec<Bits> = reads(500, seeds, 20_000);
    let law = law(500);
    let (zero, others) = sequences.split_at(LANES as usize);
    let lanes = others.iter().enumerate().map(|(at, bits)| (&zero[at % zero.len()], bits));
    assert_independent(lanes.map(|(a, b)| (a, law, b, law)), 2, "one bit of the seed");
}
