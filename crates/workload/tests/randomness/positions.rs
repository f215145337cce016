//! Offset, file and size of operations: each in random order, and independent of each other and of
//! the kind.

use workload::op::{Op, OpKind, OpStream};
use workload::pattern::AccessPattern;
use workload::plan::{Stream, WeightedSize, WorkingSet};

use crate::base_stream::base_stream;
use crate::randomness::bits::{Bits, Law, assert_independent, assert_random_order};
use crate::randomness::statistics::{
    assert_plausible, chi_square, kolmogorov, kolmogorov_probability,
};

/// Runs with neighbouring seeds.
const SEEDS: u64 = 8;
/// Workers of each run.
const LANES: u32 = 8;
/// Steps of each worker.
const STEPS: u64 = 200_000;
/// Bytes of each file: so many that offsets are practically continuous.
const AREA_BYTES: u64 = 1 << 36;
const FILES: u32 = 4;
/// Sizes and their weights, in tenths.
const SIZES: [(u64, u32); 3] = [(4096, 5), (8192, 3), (65_536, 2)];
/// Equal parts of an area in which offsets are counted.
const EIGHTHS: usize = 8;

fn stream(access_pattern: AccessPattern) -> Stream {
    let size = |(size_bytes, weight)| WeightedSize { size_bytes, weight };
    Stream {
        read_permille: 700,
        transfer_sizes: SIZES.map(size).to_vec(),
        access_pattern,
        workers: LANES,
        working_set: WorkingSet {
            files: FILES,
            file_size_bytes: AREA_BYTES,
            area_bytes: AREA_BYTES,
        },
        ..base_stream()
    }
}

/// The operations of every lane of every seed.
fn lanes(access_pattern: AccessPattern) -> Vec<Vec<Op>> {
    let stream = stream(access_pattern);
    let all = (0..SEEDS).flat_map(|seed| {
        let operations = OpStream::new(&stream, seed);
        (0..LANES).map(move |lane| (0..STEPS).map(|step| operations.op(lane, step)).collect())
    });
    all.collect()
}

/// The offset as a fraction of the file, from 0 to below 1.
fn fraction(op: &Op) -> f64 {
    op.offset_bytes as f64 / (AREA_BYTES - u64::from(op.size_bytes) + SIZES[0].0) as f64
}

fn eighth(op: &Op) -> usize {
    (fraction(op) * EIGHTHS as f64) as usize
}

fn size_number(op: &Op) -> usize {
    let size_bytes = u64::from(op.size_bytes);
    SIZES.iter().position(|(size, _)| *size == size_bytes).expect("one of the sizes")
}

fn share_of_size(number: usize) -> f64 {
    f64::from(SIZES[number].1) / 10.0
}

/// A property of operations, with its expected distribution.
type Property = (&'static str, Law, fn(&Op) -> bool);

/// Properties at every scale at which a lattice would show.
const PROPERTIES: [Property; 8] = [
    ("is a read", Law::ExactInBlocks(0.7), |op| op.kind == OpKind::Read),
    ("has the smallest size", Law::Independent(0.5), |op| op.size_bytes == 4096),
    ("has the largest size", Law::Independent(0.2), |op| op.size_bytes == 65_536),
    ("is in file 2 or 3", Law::Independent(0.5), |op| op.file >= 2),
    ("is in file 1 or 3", Law::Independent(0.5), |op| op.file % 2 == 1),
    ("is in the upper half", Law::Independent(0.5), |op| fraction(op) >= 0.5),
    ("is in an odd eighth", Law::Independent(0.5), |op| eighth(op) % 2 == 1),
    ("has an odd position", Law::Independent(0.5), |op| op.offset_bytes / 4096 % 2 == 1),
];

fn values(lanes: &[Vec<Op>], property: Property) -> Vec<Bits> {
    lanes.iter().map(|ops| ops.iter().map(property.2).collect()).collect()
}

/// Pairs of operations `distance` apart, without overlap: chi-square needs independent pairs.
fn pairs_apart(ops: &[Op], distance: usize) -> impl Iterator<Item = (&Op, &Op)> {
    let pairs = ops.iter().zip(&ops[distance..]).enumerate();
    let apart = pairs.filter(move |(at, _)| distance == 0 || (at / distance).is_multiple_of(2));
    apart.map(|(_, pair)| pair)
}

#[test]
fn the_order_of_offsets_files_and_sizes_is_random() {
    let lanes = lanes(AccessPattern::Uniform);
    for property in PROPERTIES {
        assert_random_order(&values(&lanes, property), property.1, property.0);
    }
}

#[test]
fn offsets_are_uniform_over_the_area() {
    for (number, ops) in lanes(AccessPattern::Uniform).iter().enumerate() {
        let mut fractions: Vec<f64> = ops.iter().map(fraction).collect();
        fractions.sort_by(f64::total_cmp);
        let found = kolmogorov_probability(kolmogorov(&fractions, |fraction| fraction));
        assert_plausible(found, &format!("lane {number} of all seeds"));
    }
}

#[test]
fn kind_size_file_and_offset_are_independent_also_of_the_next_operations() {
    let lanes = lanes(AccessPattern::Uniform);
    let of_all = PROPERTIES.map(|property| values(&lanes, property));
    for (first, of_first) in PROPERTIES.iter().zip(&of_all) {
        for (second, of_second) in PROPERTIES.iter().zip(&of_all) {
            // The two sizes exclude each other.
            if first.0 < second.0 && !(first.0.contains("size") && second.0.contains("size")) {
                let both = of_first.iter().zip(of_second);
                let pairs = both.map(|(a, b)| (a, first.1, b, second.1));
                assert_independent(pairs, 8, &format!("{} and {}", first.0, second.0));
            }
        }
    }

    // cells[kind][size][file][eighth]: kind and size of one operation, file and offset of the same or
    // a later one.
    let cell = |kind: &Op, location: &Op| {
        let kind_and_size = kind.kind as usize * SIZES.len() + size_number(kind);
        (kind_and_size * FILES as usize + location.file as usize) * EIGHTHS + eighth(location)
    };
    let mut probabilities = Vec::new();
    for share in [0.7, 0.3] {
        for size in 0..SIZES.len() {
            let each = share * share_of_size(size) / (FILES as usize * EIGHTHS) as f64;
            probabilities.extend([each; FILES as usize * EIGHTHS]);
        }
    }
    for distance in [0, 1, 2] {
        let mut observed = vec![0u64; probabilities.len()];
        for ops in &lanes {
            for (first, second) in pairs_apart(ops, distance) {
                observed[cell(first, second)] += 1;
            }
        }
        let found = chi_square(&observed, &probabilities);
        assert_plausible(found, &format!("kind and size, file and offset {distance} later"));
    }
}

#[test]
fn pairs_of_offsets_are_uniform_over_the_square() {
    let lanes = lanes(AccessPattern::Uniform);
    let probabilities = vec![1.0 / 4096.0; 4096];
    for distance in [1, 2, 3, 1000] {
        let mut observed = vec![0u64; 4096];
        for ops in &lanes {
            for (first, second) in pairs_apart(ops, distance) {
                let cell = |op: &Op| (fraction(op) * 64.0) as usize;
                observed[cell(first) * 64 + cell(second)] += 1;
            }
        }
        let found = chi_square(&observed, &probabilities);
        assert_plausible(found, &format!("operations {distance} apart"));
    }
}

#[test]
fn offsets_files_and_sizes_of_lanes_and_seeds_are_uncorrelated() {
    let all = lanes(AccessPattern::Uniform);
    for property in PROPERTIES {
        let values = values(&all, property);
        for (distance, what) in [(1, "the next lane"), (LANES as usize, "the next seed")] {
            let both = values.iter().zip(&values[distance..]);
            let pairs = both.map(|(first, second)| (first, property.1, second, property.1));
            assert_independent(pairs, 8, &format!("{}, {what}", property.0));
        }
    }
}

#[test]
fn the_order_of_accesses_to_a_hot_set_is_random() {
    let hot_set = AccessPattern::HotSet { area_permille: 200, accesses_permille: 800 };
    let lanes = lanes(hot_set);
    let properties: [Property; 4] = [
        ("is hot", Law::Independent(0.8), |op| fraction(op) < 0.2),
        ("is in the upper half of the hot or the cold part", Law::Independent(0.5), |op| {
            let fraction = fraction(op);
            if fraction < 0.2 { fraction >= 0.1 } else { fraction >= 0.6 }
        }),
        ("is in file 1 or 3", Law::Independent(0.5), |op| op.file % 2 == 1),
        ("has the smallest size", Law::Independent(0.5), |op| op.size_bytes == 4096),
    ];
    let of_all = properties.map(|property| values(&lanes, property));
    for (number, (property, of_first)) in properties.iter().zip(&of_all).enumerate() {
        assert_random_order(of_first, property.1, property.0);
        for (other, of_second) in properties.iter().zip(&of_all).skip(number + 1) {
            let both = of_first.iter().zip(of_second);
            let pairs = both.map(|(first, second)| (first, property.1, second, other.1));
            assert_independent(pairs, 8, &format!("{} and {}", property.0, other.0));
        }
    }
}

#[test]
fn the_order_of_accesses_to_the_most_popular_position_is_random() {
    let theta: f64 = 1.1;
    let stream =
        Stream { access_pattern: AccessPattern::Zipf { theta }, workers: LANES, ..base_stream() };
    let positions = 4 * (1 << 24) / 8192;
    let share = 1.0 / (1..=positions).map(|rank| f64::from(rank).powf(-theta)).sum::<f64>();
    let lanes: Vec<Bits> = (0..SEEDS)
        .flat_map(|seed| {
            let operations = OpStream::new(&stream, seed);
            let is_first = move |op: Op| op.file == 0 && op.offset_bytes == 0;
            (0..LANES).map(move |lane| {
                (0..STEPS).map(|step| is_first(operations.op(lane, step))).collect()
            })
        })
        .collect();
    assert_random_order(&lanes, Law::Independent(share), "the most popular position");
}
