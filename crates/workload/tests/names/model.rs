//! The operations of a lane, executed in any order that the window allows, on a model that remembers
//! every name: none fails, and the arithmetic gives the same tree.

use std::collections::HashMap;

use proptest::prelude::*;
use workload::names::{
    Content, Expected, Name, NameClass, NameLoad, NameOp, NameProblem, NameState, NameStream,
};
use workload::op::OpKind;
use workload::random::{self, CounterRng};
use workload::scenario::{Scenario, ScenarioStep};

use crate::names::load;

/// What the model remembers of a name.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    expected: Expected,
    /// Outstanding operations that only use the name.
    users: u32,
    /// Whether an outstanding operation adds, changes or removes it.
    is_changed: bool,
}

/// A tree that knows nothing of the arithmetic: paths and what they are.
#[derive(Default)]
struct Model {
    /// Names that exist, and those that an outstanding operation adds.
    names: HashMap<String, Entry>,
}

impl Model {
    /// The tree before the first operation.
    fn at_start(stream: &NameStream, lanes: u32) -> Model {
        let mut model = Model::default();
        let mut add = |name: Name, expected: Expected| {
            let entry = Entry { expected, users: 0, is_changed: false };
            let before = model.names.insert(path(stream, name), entry);
            assert_eq!(before, None, "{name:?} has the path of another name");
        };
        for lane in 0..lanes {
            NameState::new(stream, lane, 0).names().for_each(|(name, is)| add(name, is));
        }
        for number in 0..stream.population().originals {
            let name = Name { class: NameClass::Original, number };
            add(name, stream.original(name).expect("it is an original"));
        }
        model
    }

    fn uses(&mut self, path: &str) -> &Entry {
        let entry = self.names.get_mut(path).unwrap_or_else(|| panic!("{path} does not exist"));
        assert!(!entry.is_changed, "{path} is changed by another operation");
        entry.users += 1;
        entry
    }

    fn changes(&mut self, path: &str) -> &mut Entry {
        let entry = self.names.get_mut(path).unwrap_or_else(|| panic!("{path} does not exist"));
        assert!(!entry.is_changed && entry.users == 0, "{path} is in use");
        entry.is_changed = true;
        entry
    }

    fn adds(&mut self, path: String, expected: Expected) {
        let entry = Entry { expected, users: 0, is_changed: true };
        assert!(self.names.insert(path.clone(), entry).is_none(), "{path} exists");
    }

    /// Begins an operation: what it uses must be stable until it ends.
    fn begin(&mut self, stream: &NameStream, op: &NameOp) {
        let name = path(stream, op.name);
        let other = op.other.map(|other| path(stream, other)).unwrap_or_default();
        let file = Expected::File { size_bytes: op.size_bytes.into(), content: op.content };
        match op.kind {
            OpKind::Create => self.adds(name, file),
            OpKind::Copy => {
                assert_eq!(self.uses(&name).expected, file, "a copy has the size of its source");
                self.adds(other, file);
            }
            OpKind::Link => {
                let linked = self.uses(&name).expected;
                self.adds(other, linked);
            }
            OpKind::Symlink => {
                let text = op.other.expect("a symbolic link has a text");
                self.adds(name, Expected::Symlink { text });
            }
            OpKind::Readlink => {
                let text = op.other.expect("a symbolic link has a text");
                assert_eq!(self.uses(&name).expected, Expected::Symlink { text });
            }
            OpKind::Mkdir => self.adds(name, Expected::Directory),
            OpKind::Unlink => {
                assert_ne!(self.changes(&name).expected, Expected::Directory);
            }
            OpKind::Rmdir => assert_eq!(self.changes(&name).expected, Expected::Directory),
            OpKind::Rename => {
                let moved = self.changes(&name).expected;
                self.adds(other, moved);
            }
            OpKind::Append => {
                let (size_bytes, content) = size(self.changes(&name));
                assert_eq!(
                    (op.offset_bytes, op.content),
                    (size_bytes, content),
                    "appends at the end"
                );
            }
            OpKind::Truncate => {
                assert!(op.offset_bytes <= size(self.changes(&name)).0, "a truncate only cuts");
            }
            OpKind::WriteFile => {
                let (_, before) = size(self.changes(&name));
                assert_eq!(op.content.key, before.key);
                assert!(op.content.version > before.version, "a new version");
            }
            OpKind::ReadFile => assert_eq!(self.uses(&name).expected, file, "{op:?}"),
            OpKind::LookupMissing => assert!(!self.names.contains_key(&name), "{name} exists"),
            OpKind::Open | OpKind::Stat | OpKind::Access | OpKind::Setattr | OpKind::Lookup => {
                size(self.uses(&name));
            }
            OpKind::Readdir | OpKind::Readdirplus => {
                assert!(op.name.number < stream.tree().directories());
            }
            OpKind::Statfs => {}
            OpKind::Read | OpKind::Write | OpKind::Fsync => panic!("not on names"),
        }
    }

    /// Ends an operation: its effect is visible.
    fn end(&mut self, stream: &NameStream, op: &NameOp) {
        let name = path(stream, op.name);
        let other = op.other.map(|other| path(stream, other)).unwrap_or_default();
        let mut unused = |path: &str| self.names.get_mut(path).expect("in use").users -= 1;
        match op.kind {
            OpKind::Copy | OpKind::Link => {
                unused(&name);
                self.added(&other);
            }
            OpKind::Create | OpKind::Symlink | OpKind::Mkdir => self.added(&name),
            OpKind::Unlink | OpKind::Rmdir => {
                self.names.remove(&name);
            }
            OpKind::Rename => {
                self.names.remove(&name);
                self.added(&other);
            }
            OpKind::Append | OpKind::Truncate | OpKind::WriteFile => {
                let entry = self.names.get_mut(&name).expect("in use");
                let (size_bytes, content) = size(entry);
                let expected = match op.kind {
                    OpKind::Append => (size_bytes + u64::from(op.size_bytes), content),
                    OpKind::Truncate => (op.offset_bytes, content),
                    _ => (op.size_bytes.into(), op.content),
                };
                *entry = Entry {
                    expected: Expected::File { size_bytes: expected.0, content: expected.1 },
                    users: 0,
                    is_changed: false,
                };
            }
            OpKind::ReadFile
            | OpKind::Readlink
            | OpKind::Open
            | OpKind::Stat
            | OpKind::Access
            | OpKind::Setattr
            | OpKind::Lookup => unused(&name),
            _ => {}
        }
    }

    fn added(&mut self, path: &str) {
        self.names.get_mut(path).expect("in use").is_changed = false;
    }
}

fn size(entry: &Entry) -> (u64, Content) {
    match entry.expected {
        Expected::File { size_bytes, content } => (size_bytes, content),
        other => panic!("{other:?} is not a file"),
    }
}

fn path(stream: &NameStream, name: Name) -> String {
    let mut path = String::new();
    stream.tree().push_path(name, &mut path);
    path
}

/// Executes the first `steps` steps of a lane on the model, with as many outstanding as the window
/// allows, each ending in random order.
fn execute(model: &mut Model, stream: &NameStream, lane: u32, steps: u64, seed: u64) {
    let mut bits = CounterRng::new(seed);
    let mut outstanding: Vec<(u64, NameOp)> = Vec::new();
    let mut next = 0;
    while next < steps || !outstanding.is_empty() {
        let oldest = outstanding.iter().map(|(step, _)| *step).min().unwrap_or(next);
        let may_begin = next < steps && next < oldest + stream.window_steps().max(1);
        // Rarely ends one of the oldest, so that the window is nearly full.
        if may_begin && (outstanding.is_empty() || random::below(bits.next(), 10) > 0) {
            let op = stream.op(lane, next);
            assert_eq!(op, stream.at(op.index), "an operation is a function of its number");
            model.begin(stream, &op);
            outstanding.push((next, op));
            next += 1;
        } else {
            let ended = random::below(bits.next(), outstanding.len() as u64) as usize;
            let (_, op) = outstanding.swap_remove(ended);
            model.end(stream, &op);
        }
    }
}

/// The tree of the arithmetic, by path.
fn computed(stream: &NameStream, steps: &[u64]) -> HashMap<String, Expected> {
    let mut names = HashMap::new();
    for (lane, steps) in steps.iter().enumerate() {
        let state = NameState::new(stream, lane as u32, *steps);
        let mut count = 0;
        for (name, expected) in state.names() {
            assert_eq!(state.find(name), Some(expected), "{name:?}");
            assert_eq!(stream.lane_of(name), Some(lane as u32), "{name:?}");
            assert!(names.insert(path(stream, name), expected).is_none(), "{name:?} exists twice");
            count += 1;
        }
        assert_eq!(state.count(), count);
    }
    for number in 0..stream.population().originals {
        let name = Name { class: NameClass::Original, number };
        names.insert(path(stream, name), stream.original(name).expect("it is an original"));
    }
    names
}

/// Kinds without those that must be balanced: unlink, rmdir, and stat, which fills up.
const FREE: [OpKind; 19] = [
    OpKind::Create,
    OpKind::Open,
    OpKind::Rename,
    OpKind::Link,
    OpKind::Symlink,
    OpKind::Readlink,
    OpKind::Mkdir,
    OpKind::Readdir,
    OpKind::Readdirplus,
    OpKind::Access,
    OpKind::Setattr,
    OpKind::Truncate,
    OpKind::Append,
    OpKind::Lookup,
    OpKind::LookupMissing,
    OpKind::Copy,
    OpKind::ReadFile,
    OpKind::WriteFile,
    OpKind::Statfs,
];

/// Mixes of all kinds, of which each occurs in half of the mixes.
fn mixes() -> impl Strategy<Value = Vec<(OpKind, u16)>> {
    let share = prop_oneof![Just(0u16), 1..60u16];
    prop::collection::vec(share, FREE.len()).prop_map(|shares| {
        let mut mix: Vec<(OpKind, u16)> = FREE.into_iter().zip(shares).collect();
        let sum = |mix: &[(OpKind, u16)], kinds: &[OpKind]| -> u16 {
            mix.iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, share)| share).sum()
        };
        let added = [OpKind::Create, OpKind::Copy, OpKind::Link, OpKind::Symlink];
        // Appends alone only grow.
        if sum(&mix, &[OpKind::Truncate, OpKind::WriteFile, OpKind::Create, OpKind::Copy]) == 0 {
            mix[12].1 = 0;
        }
        mix.push((OpKind::Unlink, sum(&mix, &added)));
        mix.push((OpKind::Rmdir, sum(&mix, &[OpKind::Mkdir])));
        // The largest mix is scaled down to 1,000 by leaving out its last kinds.
        while mix.iter().map(|(_, share)| share).sum::<u16>() > 1000 {
            let free: Vec<usize> =
                (0..mix.len()).filter(|at| mix[*at].1 > 0 && is_only_read(mix[*at].0)).collect();
            let at = *free.first().expect("what must be balanced has less than 1,000");
            mix[at].1 = 0;
        }
        let rest = 1000 - mix.iter().map(|(_, share)| share).sum::<u16>();
        mix.push((OpKind::Stat, rest));
        mix
    })
}

fn is_only_read(kind: OpKind) -> bool {
    !matches!(
        kind,
        OpKind::Create
            | OpKind::Copy
            | OpKind::Link
            | OpKind::Symlink
            | OpKind::Mkdir
            | OpKind::Unlink
            | OpKind::Rmdir
            | OpKind::Truncate
            | OpKind::WriteFile
    )
}

/// A scenario of all kinds in random order, with 1 to 3 operations of those in `kinds`.
fn scenario(kinds: &[u16], seed: u64) -> Scenario {
    let mut counts: Vec<(OpKind, u16)> =
        FREE.into_iter().zip(kinds.iter().copied().chain(std::iter::repeat(0))).collect();
    let sum = |counts: &[(OpKind, u16)], kinds: &[OpKind]| -> u16 {
        counts.iter().filter(|(kind, _)| kinds.contains(kind)).map(|(_, count)| count).sum()
    };
    let added = [OpKind::Create, OpKind::Copy, OpKind::Link, OpKind::Symlink];
    if sum(&counts, &[OpKind::Truncate, OpKind::WriteFile, OpKind::Create, OpKind::Copy]) == 0 {
        counts[12].1 = 0;
    }
    counts.push((OpKind::Unlink, sum(&counts, &added)));
    counts.push((OpKind::Rmdir, sum(&counts, &[OpKind::Mkdir])));
    counts.push((OpKind::Stat, 2));
    let kinds: Vec<OpKind> =
        counts.iter().flat_map(|(kind, count)| vec![*kind; usize::from(*count)]).collect();
    let step = |at: usize| ScenarioStep::Operations { kind: kinds[at], count: 1, think_time: None };
    Scenario { steps: random::shuffled(seed, kinds.len()).into_iter().map(step).collect() }
}

fn stream_of(load: &NameLoad, lanes: u32, seed: u64) -> NameStream {
    NameStream::of(load, lanes, 1, seed, 7)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn operations_in_any_order_of_the_window_give_the_tree_of_the_arithmetic(
        mix in mixes(),
        lanes in 1..4u32,
        more in 0..400u64,
        steps in prop::collection::vec(0..7000u64, 3),
        seed: u64,
    ) {
        let load = load(&mix, lanes, 1, more);
        let stream = stream_of(&load, lanes, seed);
        let mut model = Model::at_start(&stream, lanes);
        for lane in 0..lanes {
            execute(&mut model, &stream, lane, steps[lane as usize], seed ^ u64::from(lane));
        }
        let names: HashMap<String, Expected> =
            model.names.into_iter().map(|(path, entry)| (path, entry.expected)).collect();
        let computed = computed(&stream, &steps[..lanes as usize]);
        for (path, expected) in &computed {
            prop_assert_eq!(names.get(path), Some(expected), "{}", path);
        }
        prop_assert_eq!(names.len(), computed.len());
    }

    #[test]
    fn names_that_do_not_exist_are_not_found(mix in mixes(), steps in 0..5000u64, seed: u64) {
        let stream = stream_of(&load(&mix, 2, 1, 30), 2, seed);
        let state = NameState::new(&stream, 1, steps);
        let existing: std::collections::HashSet<Name> =
            state.names().map(|(name, _)| name).collect();
        let classes = [
            NameClass::File,
            NameClass::Moved,
            NameClass::Link,
            NameClass::Symlink,
            NameClass::Made,
            NameClass::Missing,
            NameClass::Directory,
        ];
        for class in classes {
            for number in 0..3 * stream.population().files {
                let name = Name { class, number };
                prop_assert_eq!(state.find(name).is_some(), existing.contains(&name), "{:?}", name);
            }
        }
    }
}

#[test]
fn a_deeper_queue_overlaps_more_and_needs_more_files() {
    let mix = [(OpKind::Create, 100), (OpKind::Unlink, 100), (OpKind::WriteFile, 800)];
    // Up to 250 outstanding, the window is 1,000 steps; then a multiple of 1,000.
    let windows = [1, 250, 251, 1000].map(|depth| {
        let load = load(&mix, 1, depth, 0);
        (NameStream::of(&load, 1, depth, 1, 1).window_steps(), load.tree.files)
    });
    // 3 x 100 + 1 that are added or removed, 2 x 100 + 3 x 800 that are changed.
    assert_eq!(windows[0], (1000, 301 + 200 + 2400));
    assert_eq!(windows[1], windows[0]);
    assert_eq!(windows[2], (2000, 501 + 400 + 4000));
    assert_eq!(windows[3].0, 4000);
    let load = load(&mix, 1, 1000, 0);
    let stream = NameStream::of(&load, 1, 1000, 5, 7);
    let mut model = Model::at_start(&stream, 1);
    execute(&mut model, &stream, 0, 15_000, 3);
    assert_eq!(model.names.len(), computed(&stream, &[15_000]).len());
}

#[test]
fn one_file_less_than_needed_is_refused() {
    let mix = [(OpKind::Create, 20), (OpKind::Unlink, 20), (OpKind::Stat, 960)];
    for lanes in [1, 4, 7] {
        let mut load = load(&mix, lanes, 1, 0);
        load.tree.files -= 1;
        let problem = load.problem(lanes, 1);
        assert_eq!(
            problem,
            Some(workload::names::NameProblem::TooFewFiles { files_min: u64::from(lanes) * 61 })
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn the_scenarios_of_users_give_the_tree_of_the_arithmetic(
        kinds in prop::collection::vec(0..4u16, 19),
        users in 1..5u32,
        more in 0..50u64,
        steps in prop::collection::vec(0..400u64, 5),
        seed: u64,
    ) {
        let scenario = scenario(&kinds, seed);
        let mut load = load(&[(OpKind::Stat, 1000)], users, 0, 0);
        load.mix = scenario.mix();
        load.scenario = Some(scenario.clone());
        if let Some(NameProblem::TooFewFiles { files_min }) = load.problem(users, 0) {
            load.tree.files = files_min;
        }
        load.tree.files += more;
        prop_assert_eq!(load.problem(users, 0), None);
        let stream = NameStream::of(&load, users, 0, seed, 7);
        let mut model = Model::at_start(&stream, users);
        for user in 0..users {
            let done = steps[user as usize];
            // In the stated order, again and again.
            let kinds: Vec<OpKind> = scenario.kinds().collect();
            let expected = kinds.into_iter().cycle().take(done as usize);
            prop_assert!((0..done).map(|step| stream.op(user, step).kind).eq(expected));
            execute(&mut model, &stream, user, done, seed ^ u64::from(user));
        }
        let names: HashMap<String, Expected> =
            model.names.into_iter().map(|(path, entry)| (path, entry.expected)).collect();
        prop_assert_eq!(names, computed(&stream, &steps[..users as usize]));
    }
}
