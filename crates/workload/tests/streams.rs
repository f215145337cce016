//! Properties of operation streams, over many workloads.

use std::collections::HashSet;

use proptest::prelude::*;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::file_use::{FileUse, Sharing};
use workload::op::{Op, OpKind, OpStream};
use workload::pattern::AccessPattern;
use workload::plan::{Phases, Run, Stream, WeightedSize, WorkingSet};

use crate::base_stream::base_stream;

fn patterns() -> impl Strategy<Value = AccessPattern> {
    prop_oneof![
        Just(AccessPattern::Sequential),
        Just(AccessPattern::Uniform),
        (0.1..3.0).prop_map(|theta| AccessPattern::Zipf { theta }),
        (1..1000u16, 1..1000u16).prop_map(|(area_permille, accesses_permille)| {
            AccessPattern::HotSet { area_permille, accesses_permille }
        }),
        (1..=1000u16).prop_map(|seek_permille| AccessPattern::PartlySequential { seek_permille }),
        (1..9u64).prop_map(|sectors| AccessPattern::Stride { stride_bytes: sectors * 512 }),
    ]
}

/// Valid streams: transfers in sectors that fit the area, and one size if sequential.
fn streams() -> impl Strategy<Value = Stream> {
    let sizes = prop::collection::vec((1..64u64, 1..1000u32), 1..4);
    let set = (1..9u32, 16..64u64, 1..17u64);
    let load = (0..=1000u16, 1..9u32, prop::option::of(1..20u32));
    (patterns(), sizes, set, load).prop_map(|(pattern, mut sizes, set, load)| {
        if pattern.is_ordered() {
            sizes.truncate(1);
        }
        if let AccessPattern::Stride { stride_bytes } = pattern {
            sizes[0].0 = stride_bytes / 512;
        }
        let (files, file_tiles, area_tiles) = set;
        let (read_permille, workers, fsync_every_writes) = load;
        Stream {
            name: "s".to_owned(),
            read_permille,
            transfer_sizes: sizes
                .into_iter()
                .map(|(sectors, weight)| WeightedSize {
                    size_bytes: sectors.min(area_tiles * 8) * 512,
                    weight,
                })
                .collect(),
            access_pattern: pattern,
            working_set: WorkingSet {
                files,
                file_size_bytes: file_tiles * 4096,
                area_bytes: area_tiles * 4096,
            },
            file_use: workload::file_use::FileUse::ALL,
            queue_depth: 1,
            workers,
            arrival: Arrival::Closed { think_time_ns: 0 },
            active: ActiveTime::WHOLE_RUN,
            direct: false,
            dsync: false,
            write_stability: None,
            targets: workload::plan::StreamTargets::default(),
            names: None,
            replay: None,
            fsync_every_writes: fsync_every_writes.filter(|_| read_permille < 1000),
            data: DataPattern::default(),
        }
    })
}

fn run_of(stream: Stream) -> Run {
    Run {
        index: 0,
        variant: "v".to_owned(),
        parameters: Vec::new(),
        repeat: 0,
        seed: 1,
        hosts: 1,
        connections: None,
        streams: vec![stream],
        phases: Phases { warm_up_ns: 0, measure_ns: 1, interval_ns: 1 },
        tolerated_errors: 0,
        operation_deadline_ns: 1,
    }
}

proptest! {
    #[test]
    fn operations_are_whole_sectors_within_the_area(
        stream in streams(), seed: u64, step in 0..u64::MAX / 1024,
    ) {
        let operations = OpStream::new(&stream, seed);
        for step in step..step + 50 {
            for lane in 0..stream.workers {
                let op = operations.op(lane, step);
                prop_assert!(op.file < stream.working_set.files);
                let end = op.offset_bytes + u64::from(op.size_bytes);
                prop_assert!(end <= stream.working_set.area_bytes);
                prop_assert!(op.offset_bytes.is_multiple_of(512));
                prop_assert_eq!(op.index, step * u64::from(stream.workers) + u64::from(lane));
                let size = u64::from(op.size_bytes);
                let known = stream.transfer_sizes.iter().any(|s| s.size_bytes == size);
                prop_assert_eq!(op.kind == OpKind::Fsync, !known);
            }
        }
    }

    #[test]
    fn equal_seeds_give_equal_operations_and_different_seeds_different_ones(
        stream in streams(), seed: u64,
    ) {
        let first = |seed| -> Vec<Op> {
            let operations = OpStream::new(&stream, seed);
            (0..200).map(|step| operations.op(0, step)).collect()
        };
        prop_assert_eq!(first(seed), first(seed));
        let sectors = u64::from(stream.working_set.files) * stream.working_set.area_bytes / 512;
        if stream.access_pattern == AccessPattern::Uniform && sectors > 64
            && stream.transfer_sizes[0].size_bytes * 4 < stream.working_set.area_bytes
        {
            prop_assert_ne!(first(seed), first(seed ^ 1));
        }
    }

    #[test]
    fn sequential_accesses_every_offset_once_in_each_pass(
        files in 1..5u32, positions in 1..20u64, sectors in 1..9u64, workers in 1..5u32,
        pass in 0..3u64,
    ) {
        let size_bytes = sectors * 512;
        let stream = Stream {
            read_permille: 1000,
            transfer_sizes: vec![WeightedSize { size_bytes, weight: 1 }],
            access_pattern: AccessPattern::Sequential,
            working_set: WorkingSet {
                files,
                file_size_bytes: 1 << 20,
                area_bytes: positions * size_bytes,
            },
            workers,
            fsync_every_writes: None,
            ..base_stream()
        };
        let operations = OpStream::new(&stream, 1);
        let all = positions * u64::from(files);
        let mut starts = HashSet::new();
        for lane in 0..workers {
            let mut accessed = HashSet::new();
            for step in pass * all..(pass + 1) * all {
                let op = operations.op(lane, step);
                prop_assert!(accessed.insert((op.file, op.offset_bytes)), "accessed twice");
            }
            prop_assert_eq!(accessed.len() as u64, all);
            let first = operations.op(lane, 0);
            starts.insert((first.file, first.offset_bytes));
        }
        if u64::from(workers) <= all {
            prop_assert_eq!(starts.len(), workers as usize, "each worker has its own start");
        }
    }

    #[test]
    fn hosts_that_share_a_run_do_each_operation_once(
        stream in streams(), hosts in 1..12u32,
    ) {
        let run = run_of(stream);
        let operations = OpStream::new(&run.streams[0], run.seed);
        let mut indexes = Vec::new();
        for (host, assignment) in (0..).zip((Run { hosts, ..run.clone() }).split()) {
            for lane in assignment.lanes[0].clone() {
                prop_assert_eq!(assignment.run.host_of(&run.streams[0], lane), host);
                indexes.extend((0..20).map(|step| operations.op(lane, step).index));
            }
        }
        indexes.sort_unstable();
        let all: Vec<u64> = (0..20 * u64::from(run.streams[0].workers)).collect();
        prop_assert_eq!(indexes, all);
    }

    #[test]
    fn hosts_with_separate_files_access_no_file_of_another_and_each_offset_in_their_part(
        pattern in patterns(), hosts in 1..5u32, per_host in 1..4u32, more in 0..9u32,
        by_worker in any::<bool>(), of_others in any::<bool>(),
    ) {
        let sharing = if by_worker { Sharing::Worker } else { Sharing::Host };
        let filled_by_others = (of_others && hosts > 1).then_some(hosts);
        let workers = hosts * per_host;
        let files = workers + more;
        let positions = 8;
        let stream = Stream {
            read_permille: 1000,
            access_pattern: pattern,
            working_set: WorkingSet { files, file_size_bytes: 1 << 20, area_bytes: positions * 8192 },
            file_use: FileUse { sharing, hosts, filled_by_others },
            workers,
            ..base_stream()
        };
        let operations = OpStream::new(&stream, 9);
        let steps = positions * u64::from(files);
        let mut user_of = vec![None; files as usize];
        for lane in 0..workers {
            let host = lane / per_host;
            let user = if by_worker { lane } else { host };
            let mut accessed = HashSet::new();
            // Prepared for this worker, or for another one.
            let prepared = operations.clone().prepared_for(lane);
            for step in 0..steps {
                let op = operations.op(lane, step);
                prop_assert_eq!(op, prepared.op(lane, step));
                let other = (lane + 1) % workers;
                prop_assert_eq!(operations.op(other, step), prepared.op(other, step));
                prop_assert!(op.file < files && op.offset_bytes < positions * 8192);
                prop_assert_eq!(*user_of[op.file as usize].get_or_insert(user), user);
                prop_assert_eq!(filled_by_others.is_some(), op.file % hosts != host);
                accessed.insert((op.file, op.offset_bytes));
            }
            if pattern == AccessPattern::Sequential {
                let own: HashSet<u32> = accessed.iter().map(|(file, _)| *file).collect();
                prop_assert_eq!(accessed.len() as u64, own.len() as u64 * positions);
            }
        }
        if pattern == AccessPattern::Sequential {
            prop_assert!(user_of.iter().all(Option::is_some), "every file is used");
        }
    }

    #[test]
    fn the_mix_is_exact_over_every_1000_data_operations(
        read_permille in 0..=1000u16, workers in 1..4u32, fsync in prop::option::of(1..50u32),
    ) {
        let stream = Stream {
            read_permille,
            workers,
            fsync_every_writes: fsync.filter(|_| read_permille < 1000),
            ..base_stream()
        };
        let operations = OpStream::new(&stream, 3);
        for lane in 0..workers {
            let kinds: Vec<OpKind> = (0..5000)
                .map(|step| operations.op(lane, step).kind)
                .filter(|kind| *kind != OpKind::Fsync)
                .collect();
            for block in kinds.chunks_exact(1000) {
                let reads = block.iter().filter(|kind| **kind == OpKind::Read).count();
                prop_assert_eq!(reads, usize::from(read_permille));
            }
        }
    }

    #[test]
    fn an_fsync_follows_the_given_number_of_writes_on_the_file_of_the_last_operation(
        writes in 1..40u32, write_permille in 1..=1000u16,
    ) {
        let stream = Stream {
            read_permille: 1000 - write_permille,
            fsync_every_writes: Some(writes),
            ..base_stream()
        };
        let operations = OpStream::new(&stream, 3);
        let ops: Vec<Op> = (0..200_000).map(|step| operations.op(0, step)).collect();
        let last = ops.iter().rposition(|op| op.kind == OpKind::Fsync).expect("one in 40,000");
        let count = |kind| ops[..=last].iter().filter(|op| op.kind == kind).count() as f64;
        let between = count(OpKind::Write) / count(OpKind::Fsync);
        // A cycle is a whole number of operations, so up to one write more than configured; and the
        // last block is incomplete.
        let expected = f64::from(writes);
        let is_near = between >= expected - 0.25 && between <= expected + 1.25;
        prop_assert!(is_near, "{between} for {expected}");
        for pair in ops.windows(2).filter(|pair| pair[1].kind == OpKind::Fsync) {
            prop_assert_eq!(pair[0].file, pair[1].file);
        }
    }
}

#[test]
fn transfer_sizes_have_their_shares() {
    let stream = Stream {
        transfer_sizes: vec![
            WeightedSize { size_bytes: 4096, weight: 600 },
            WeightedSize { size_bytes: 16_384, weight: 300 },
            WeightedSize { size_bytes: 65_536, weight: 100 },
        ],
        ..base_stream()
    };
    let operations = OpStream::new(&stream, 5);
    let mut counts = [0u32; 3];
    for step in 0..100_000 {
        let size = u64::from(operations.op(0, step).size_bytes);
        counts[stream.transfer_sizes.iter().position(|s| s.size_bytes == size).unwrap()] += 1;
    }
    // Chi-square with two degrees of freedom exceeds 9.21 with a probability of 1 %.
    let found: f64 = counts
        .iter()
        .zip([60_000.0, 30_000.0, 10_000.0])
        .map(|(count, expected)| (f64::from(*count) - expected).powi(2) / expected)
        .sum();
    assert!(found < 9.21, "{counts:?}: {found}");
}

#[test]
fn files_do_not_depend_on_kind_or_size() {
    let stream = Stream {
        transfer_sizes: vec![
            WeightedSize { size_bytes: 4096, weight: 1 },
            WeightedSize { size_bytes: 8192, weight: 1 },
        ],
        ..base_stream()
    };
    let operations = OpStream::new(&stream, 11);
    // counts[kind][size][file]
    let mut counts = [[[0f64; 4]; 2]; 2];
    for step in 0..160_000 {
        let op = operations.op(0, step);
        counts[op.kind as usize][usize::from(op.size_bytes == 8192)][op.file as usize] += 1.0;
    }
    for cell in counts.as_flattened().as_flattened() {
        // 16 equal cells of 10,000: five standard deviations are 500.
        assert!((cell - 10_000.0).abs() < 500.0, "{counts:?}");
    }
}

#[test]
fn streams_with_different_names_have_different_offsets() {
    let other = Stream { name: "t".to_owned(), ..base_stream() };
    let (first, second) = (OpStream::new(&base_stream(), 1), OpStream::new(&other, 1));
    let same = (0..1000)
        .filter(|step| first.op(0, *step).offset_bytes == second.op(0, *step).offset_bytes)
        .count();
    assert!(same < 10, "{same}");
}
