//! The order of kinds: exact in every 1,000 operations, and the same however a run is split.

use std::collections::{HashMap, HashSet};

use workload::names::{NameClass, NameStream};
use workload::op::OpKind;

use crate::names::load;

const MIX: [(OpKind, u16); 7] = [
    (OpKind::Create, 30),
    (OpKind::Unlink, 30),
    (OpKind::Stat, 533),
    (OpKind::Lookup, 1),
    (OpKind::ReadFile, 300),
    (OpKind::Rename, 6),
    (OpKind::Append, 100),
];

#[test]
fn every_1000_operations_of_a_lane_have_exactly_the_mix() {
    let stream = NameStream::of(&load(&MIX, 3, 1, 100), 3, 1, 42, 1);
    for lane in 0..3 {
        for block in [0, 1, 2, 1_000, 123_456_789] {
            let mut counts: HashMap<OpKind, u16> = HashMap::new();
            for step in block * 1000..(block + 1) * 1000 {
                *counts.entry(stream.op(lane, step).kind).or_default() += 1;
            }
            assert_eq!(counts, HashMap::from(MIX), "lane {lane}, block {block}");
        }
    }
}

#[test]
fn blocks_and_lanes_have_different_orders() {
    let stream = NameStream::of(&load(&MIX, 2, 1, 100), 2, 1, 42, 1);
    let order = |lane, block: u64| -> Vec<OpKind> {
        (block * 1000..(block + 1) * 1000).map(|step| stream.op(lane, step).kind).collect()
    };
    let orders = HashSet::from([order(0, 0), order(0, 1), order(1, 0), order(1, 1)]);
    assert_eq!(orders.len(), 4);
}

#[test]
fn lanes_use_different_names_except_those_that_never_change() {
    let mix = [
        (OpKind::Create, 20),
        (OpKind::Copy, 20),
        (OpKind::Link, 20),
        (OpKind::Symlink, 20),
        (OpKind::Unlink, 80),
        (OpKind::Rename, 20),
        (OpKind::Mkdir, 20),
        (OpKind::Rmdir, 20),
        (OpKind::WriteFile, 80),
        (OpKind::Readlink, 100),
        (OpKind::Stat, 600),
    ];
    let stream = NameStream::of(&load(&mix, 5, 1, 777), 5, 1, 3, 1);
    let shared = [NameClass::Original, NameClass::Missing, NameClass::Directory];
    for lane in 0..5 {
        for step in 0..6000 {
            let op = stream.op(lane, step);
            for name in [Some(op.name), op.other].into_iter().flatten() {
                if !shared.contains(&name.class) {
                    assert_eq!(stream.lane_of(name), Some(lane), "{op:?}");
                }
            }
        }
    }
}

#[test]
fn the_tree_at_the_start_does_not_depend_on_lanes_queue_depth_or_seed() {
    let load = load(&MIX, 4, 300, 1000);
    let start = |lanes, queue_depth, seed| {
        let stream = NameStream::of(&load, lanes, queue_depth, seed, 9);
        let state = |lane| workload::names::NameState::new(&stream, lane, 0);
        let mut names: Vec<String> = (0..lanes)
            .flat_map(|lane| state(lane).names().collect::<Vec<_>>())
            .filter(|(name, _)| name.class == NameClass::File)
            .map(|named| format!("{named:?}"))
            .collect();
        names.sort();
        names
    };
    let first = start(1, 1, 1);
    assert_eq!(first.len() as u64, load.tree.files);
    for (lanes, queue_depth, seed) in [(4, 1, 1), (3, 300, 1), (4, 16, 2)] {
        assert!(start(lanes, queue_depth, seed) == first, "{lanes} {queue_depth} {seed}");
    }
}
