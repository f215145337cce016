//! Runs of operations on names: on a directory with blocking calls and with io_uring, and over NFS to
//! the emulated volume. After each the tree is what the arithmetic says, and the service has counted
//! the same calls.
#![expect(clippy::expect_used, reason = "a failed step fails its test")]

#[expect(dead_code, reason = "other tests use the rest")]
mod runs;
mod served;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use engine::drive::Stop;
use engine::request::Request;
use engine::run::{RunEnd, run};
use metrics::interval::{Interval, UsersInterval};
use metrics::run_record::Outcome;
use runs::{DATA_SEED, small_run};
use served::service;
use target::clean::clean;
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::inventory::RequiredFiles;
use target::location::TargetLocation;
use target::nfs::NfsUrl;
use target::refusal::{Overrides, Refusal};
use target::survey;
use target::tree::{Difference, RequiredTree, TreeState};
use volume::counters::{Counters, Procedure};
use volume::shell::Running;
use workload::arrival::{Arrival, ThinkTime};
use workload::names::{
    NameLoad, NameMix, NameSize, NameSpread, NameStream, NameTree, TreeShape, WeightedFileSize,
};
use workload::op::OpKind;
use workload::plan::{IoMethodUsed, Run};
use workload::scenario::{Scenario, ScenarioStep, Starts, Users};

/// Every kind, in thousandths.
const EVERY_KIND: [(OpKind, u16); 22] = [
    (OpKind::Create, 60),
    (OpKind::Copy, 20),
    (OpKind::Link, 20),
    (OpKind::Symlink, 20),
    (OpKind::Unlink, 120),
    (OpKind::Mkdir, 20),
    (OpKind::Rmdir, 20),
    (OpKind::Rename, 40),
    (OpKind::Readlink, 20),
    (OpKind::Readdir, 20),
    (OpKind::Readdirplus, 20),
    (OpKind::Stat, 140),
    (OpKind::Access, 40),
    (OpKind::Setattr, 40),
    (OpKind::Truncate, 40),
    (OpKind::Append, 40),
    (OpKind::Lookup, 60),
    (OpKind::LookupMissing, 40),
    (OpKind::Open, 60),
    (OpKind::ReadFile, 80),
    (OpKind::WriteFile, 60),
    (OpKind::Statfs, 20),
];

fn load(mix: &[(OpKind, u16)]) -> NameLoad {
    let size = |size_bytes, weight| WeightedFileSize { size_bytes, weight };
    // Empty, not a multiple of a block, and larger than the part of a file that is moved together.
    let sizes = vec![
        size(0, 20),
        size(100, 100),
        size(4096, 500),
        size(5000, 300),
        size(40_000, 70),
        size(1_500_000, 10),
    ];
    NameLoad {
        tree: TreeShape {
            files: 2000,
            depth: 2,
            width: 4,
            directories: 13,
            name_length: 12,
            spread: NameSpread::RoundRobin,
            sizes: NameSize::Weighted { sizes },
        },
        mix: NameMix::of(mix),
        append_bytes: 3000,
        scenario: None,
    }
}

/// A run of operations on names for 400 ms.
fn run_of(mix: &[(OpKind, u16)], queue_depth: u32) -> Run {
    let mut run = small_run();
    run.phases.measure_ns = 400_000_000;
    run.streams[0].names = Some(load(mix));
    run.streams[0].queue_depth = queue_depth;
    run.streams[0].workers = 2;
    run.streams[0].write_stability = None;
    run
}

fn open(location: impl Into<TargetLocation>, run: &Run) -> TargetDirectory {
    let required = RequiredFiles {
        file_sets: Vec::new(),
        trees: RequiredTree::of_run(run, 0),
        data_seed: DATA_SEED,
        direct_transfer_min_bytes: None,
    };
    survey::open(location, required, Overrides::default()).expect("the target can be used")
}

/// The directory with the tree of a run.
fn prepared(location: impl Into<TargetLocation>, run: &Run) -> (TargetDirectory, RequiredTree) {
    let mut ours = open(location, run);
    let tree = ours.trees()[0].clone();
    ours.make_tree(&tree, &|| false, &mut |_| {}).expect("the tree can be made");
    (ours, tree)
}

fn execute(
    run_of: &Run,
    ours: &TargetDirectory,
    io_method: IoMethodUsed,
) -> (Vec<Interval>, RunEnd) {
    let assignment = run_of.split().remove(0);
    let request = Request {
        assignment: &assignment,
        targets: vec![ours.run_target().expect("the tree exists")],
        io_method,
        pin: false,
        verify: true,
        data_seed: DATA_SEED,
    };
    let mut intervals = Vec::new();
    let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
        intervals.push(interval);
        ControlFlow::Continue(())
    });
    (intervals, end.expect("the run can be started"))
}

/// What the tree must contain after a run.
fn state_after(run: &Run, end: &RunEnd) -> TreeState {
    let names = NameStream::new(&run.streams[0], run.seed, DATA_SEED).expect("it has names");
    let steps = end.lanes.iter().map(|lane| lane.steps.clone().expect("few failed")).collect();
    TreeState::after(names, steps)
}

/// Checks that everything succeeded and the tree is as expected.
fn assert_flawless(
    run: &Run,
    (ours, tree): &(TargetDirectory, RequiredTree),
    (intervals, end): &(Vec<Interval>, RunEnd),
) {
    assert_eq!(end.outcome, Outcome::Done, "{end:?}");
    assert_eq!(end.mismatches, Vec::<String>::new());
    let mix = &run.streams[0].names.as_ref().expect("it has names").mix;
    for kind in mix.kinds() {
        let of_kind = |interval: &Interval| {
            let counted = &interval.streams[0].kinds[kind as usize];
            (counted.completed, counted.failed_total())
        };
        let (completed, failed) =
            intervals.iter().map(of_kind).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(failed, 0, "{kind:?} of {completed}");
        assert!(completed > 0, "{kind:?}");
    }
    let found = ours
        .compare_tree(tree, &state_after(run, end), true, &|| false)
        .expect("the tree can be read");
    assert_eq!(found.total(), 0, "{found}: {:#?}", found.described);
    assert!(found.names > 2000, "{}", found.names);
}

/// A directory on a file system in memory, where this host has one.
fn directory() -> tempfile::TempDir {
    match Path::new("/dev/shm").is_dir() {
        true => tempfile::tempdir_in("/dev/shm"),
        false => tempfile::tempdir(),
    }
    .expect("a directory can be made")
}

#[test]
fn every_kind_on_a_directory_leaves_the_expected_tree_with_blocking_calls() {
    let path = directory();
    let run = run_of(&EVERY_KIND, 4);
    let ours = prepared(path.path(), &run);
    assert_flawless(&run, &ours, &execute(&run, &ours.0, IoMethodUsed::Psync));
}

#[test]
fn every_kind_on_a_directory_leaves_the_expected_tree_with_io_uring() {
    let path = tempfile::tempdir().expect("a directory can be made");
    let run = run_of(&EVERY_KIND, 16);
    let ours = prepared(path.path(), &run);
    assert_flawless(&run, &ours, &execute(&run, &ours.0, IoMethodUsed::IoUring));
}

fn url(service: &Running, options: &str) -> NfsUrl {
    let port = service.addresses()[0].port();
    let url = format!("nfs://127.0.0.1:{port}/vol1?mountport={port}&{options}");
    url.parse().expect("it is a URL")
}

const PROCEDURES: [(OpKind, Procedure); 18] = [
    (OpKind::Read, Procedure::Read),
    (OpKind::Write, Procedure::Write),
    (OpKind::Fsync, Procedure::Commit),
    (OpKind::Create, Procedure::Create),
    (OpKind::Unlink, Procedure::Remove),
    (OpKind::Rename, Procedure::Rename),
    (OpKind::Link, Procedure::Link),
    (OpKind::Symlink, Procedure::Symlink),
    (OpKind::Readlink, Procedure::Readlink),
    (OpKind::Mkdir, Procedure::Mkdir),
    (OpKind::Rmdir, Procedure::Rmdir),
    (OpKind::Readdir, Procedure::Readdir),
    (OpKind::Readdirplus, Procedure::Readdirplus),
    (OpKind::Stat, Procedure::Getattr),
    (OpKind::Access, Procedure::Access),
    (OpKind::Setattr, Procedure::Setattr),
    (OpKind::Lookup, Procedure::Lookup),
    (OpKind::Statfs, Procedure::Fsstat),
];

#[test]
fn every_kind_over_nfs_leaves_the_expected_tree_and_is_counted_equally_by_the_service() {
    let service = service(Duration::ZERO);
    let run = run_of(&EVERY_KIND, 32);
    // Small transfers, so that large files take several calls.
    let ours = prepared(&url(&service, "nconnect=4&rsize=16384&wsize=16384"), &run);
    let measured = execute(&run, &ours.0, IoMethodUsed::NfsClient);
    let snapshot = service.snapshot().expect("the service runs");
    let flows: BTreeMap<&str, &Counters> = snapshot.counters.flows().collect();
    let mut names: Vec<String> = Vec::new();
    for connection in measured.0.iter().flat_map(|interval| &interval.connections) {
        names.push(format!("{}-{}", connection.local, connection.remote));
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), 4);
    for (kind, procedure) in PROCEDURES {
        let connections = measured.0.iter().flat_map(|interval| &interval.connections);
        let ours: u64 = connections.map(|one| one.kinds[kind as usize].calls).sum();
        let theirs: u64 = names.iter().map(|name| flows[name.as_str()].of(procedure)).sum();
        assert_eq!(ours, theirs, "{kind:?}");
        assert!(ours > 0, "{kind:?}");
    }
    assert_flawless(&run, &ours, &measured);
}

/// A run of 100 users for 1.5 s, whose scenarios have every kind, with and without think times.
fn run_of_users() -> Run {
    let mut run = run_of(&EVERY_KIND, 16);
    // On a busy host too some scenarios end, which have every kind.
    run.phases.measure_ns = 1_500_000_000;
    let think_time = Some(ThinkTime::Exponential { mean_ns: 200_000 });
    let steps = EVERY_KIND.iter().map(|(kind, permille)| ScenarioStep::Operations {
        kind: *kind,
        count: permille / 20,
        think_time: think_time.filter(|_| permille % 40 == 0),
    });
    let scenario = Scenario { steps: steps.collect() };
    let stream = &mut run.streams[0];
    let load = stream.names.as_mut().expect("it has names");
    (load.mix, load.scenario) = (scenario.mix(), Some(scenario));
    stream.arrival =
        Arrival::Users(Users { count: 100, cycle_ns: 150_000_000, starts: Starts::Random });
    assert_eq!(load.problem(100, 0), None);
    run
}

/// What users did in a run: balanced, whatever the host was doing.
fn assert_counted(intervals: &[Interval]) {
    let mut sum = UsersInterval::default();
    for interval in intervals {
        sum.merge(interval.streams[0].users.as_ref().expect("the stream has users"));
    }
    assert!(sum.completed <= sum.started && sum.started <= sum.completed + 100, "{sum:?}");
    assert_eq!((sum.duration_us.total(), sum.late <= sum.due), (sum.completed, true));
    let issued: u64 = intervals.iter().map(|interval| interval.streams[0].issued).sum();
    assert_eq!(sum.delay.total(), issued);
    // 100 users with starts every 150 ms in 1.5 s; the first of each is not counted.
    assert_eq!(sum.due, 900, "{sum:?}");
}

#[test]
fn users_on_a_directory_leave_the_expected_tree_with_each_io_method() {
    for io_method in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
        let path = directory();
        let run = run_of_users();
        let ours = prepared(path.path(), &run);
        let measured = execute(&run, &ours.0, io_method);
        assert_counted(&measured.0);
        assert_flawless(&run, &ours, &measured);
    }
}

#[test]
fn users_over_nfs_leave_the_expected_tree() {
    let service = service(Duration::ZERO);
    let run = run_of_users();
    let ours = prepared(&url(&service, "nconnect=2"), &run);
    let measured = execute(&run, &ours.0, IoMethodUsed::NfsClient);
    assert_counted(&measured.0);
    assert_flawless(&run, &ours, &measured);
}

/// All files of the tree, in order.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut directories = vec![root.to_path_buf()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(&directory).expect("it can be listed") {
            let path = entry.expect("it can be listed").path();
            let found = path.symlink_metadata().expect("it exists");
            if found.is_dir() {
                directories.push(path);
            } else if found.len() >= 4096 {
                all.push(path);
            }
        }
    }
    all.sort();
    all
}

#[test]
fn each_planted_difference_is_found_and_repaired_and_what_is_not_ours_is_refused() {
    let path = directory();
    let run = run_of(&[(OpKind::Create, 500), (OpKind::Unlink, 500)], 1);
    let (mut ours, tree) = prepared(path.path(), &run);
    let root = ours.tree_path(&tree);
    let compare = |ours: &TargetDirectory| {
        let state = tree.at_start(DATA_SEED);
        ours.compare_tree(&tree, &state, true, &|| false).expect("the tree can be read")
    };
    assert_eq!(compare(&ours).total(), 0);

    let all = files(&root);
    std::fs::remove_file(&all[0]).expect("it exists");
    // A name that an operation could have created, in the directory where it belongs.
    let paths = NameTree::new(&tree.load.tree);
    let leaf = all[1].file_name().expect("it has a name").as_encoded_bytes();
    let mut name = paths.parse(leaf).expect("it is a name of the tree");
    name.number += 1_000_000 * paths.directories();
    let surplus = all[1].with_file_name(paths.leaf(name).as_str());
    std::fs::write(&surplus, "surplus").expect("it can be written");
    let mut content = std::fs::read(&all[2]).expect("it exists");
    std::fs::write(&all[2], &content[..100]).expect("it can be written");
    content = std::fs::read(&all[3]).expect("it exists");
    content[2000] ^= 1;
    std::fs::write(&all[3], &content).expect("it can be written");
    std::fs::remove_file(&all[4]).expect("it exists");
    std::os::unix::fs::symlink("/etc/passwd", &all[4]).expect("it can be made");
    let found = compare(&ours);
    let kinds = [
        Difference::Missing,
        Difference::Surplus,
        Difference::WrongKind,
        Difference::WrongSize,
        Difference::WrongContent,
    ];
    assert_eq!(kinds.map(|kind| found.count(kind)), [1, 1, 1, 1, 1], "{:#?}", found.described);
    for file in [&all[0], &surplus, &all[2], &all[3], &all[4]] {
        let file = file.display().to_string();
        assert!(found.described.iter().any(|line| line.contains(&file)), "{file}");
    }
    assert!(found.described.iter().any(|line| line.contains("at offset 2000")));

    // A flipped byte inside a file is found only by reading all of it.
    std::fs::remove_file(&all[3]).expect("it exists");
    let repaired = ours.make_tree(&tree, &|| false, &mut |_| {}).expect("it can be repaired");
    assert_eq!((repaired.created, repaired.removed), (4, 3));
    assert_eq!(compare(&ours).total(), 0);

    let foreign = all[5].with_file_name("notes.txt");
    std::fs::write(&foreign, "mine").expect("it can be written");
    let refused = ours.make_tree(&tree, &|| false, &mut |_| {}).expect_err("it is not ours");
    let FillError::Refused(Refusal::ForeignInTree { path: named, .. }) = &refused else {
        panic!("{refused}")
    };
    assert_eq!(*named, foreign);
    drop(ours);
    let cleaned = clean(path.path()).expect("it can be cleaned");
    assert!(!cleaned.removed_directory);
    assert_eq!(std::fs::read(&foreign).expect("it was kept"), b"mine");
    assert!(cleaned.not_removed.iter().any(|kept| kept.path == foreign), "{cleaned:?}");
}

#[test]
fn a_link_in_place_of_a_directory_is_not_followed() {
    let path = directory();
    let elsewhere = directory();
    let run = run_of(&[(OpKind::Create, 500), (OpKind::Unlink, 500)], 1);
    let (mut ours, tree) = prepared(path.path(), &run);
    let directory = ours.tree_path(&tree).join("t1");
    std::fs::rename(&directory, elsewhere.path().join("t1")).expect("it can be moved");
    std::os::unix::fs::symlink(elsewhere.path().join("t1"), &directory).expect("it can be made");
    let before = files(elsewhere.path());
    let refused = ours.make_tree(&tree, &|| false, &mut |_| {}).expect_err("it is a link");
    assert!(matches!(refused, FillError::Refused(Refusal::ForeignInTree { .. })), "{refused}");
    for io_method in [IoMethodUsed::Psync, IoMethodUsed::IoUring] {
        let (intervals, _) = execute(&run, &ours, io_method);
        let failed: u64 = intervals.iter().map(|interval| interval.streams[0].failed()).sum();
        assert!(failed > 0);
        assert_eq!(files(elsewhere.path()), before, "{io_method:?}");
    }
    drop(ours);
    drop(clean(path.path()));
    assert_eq!(files(elsewhere.path()), before);
}

#[test]
fn a_tree_is_made_in_parts_restored_after_a_run_and_removed_exactly() {
    let path = directory();
    let run = run_of(&EVERY_KIND, 4);
    let mut ours = open(path.path(), &run);
    let tree = ours.trees()[0].clone();
    // The fill is stopped after a few requests to stop, as often as it takes.
    let mut parts = 0;
    loop {
        let polls = AtomicU32::new(0);
        let stop = || polls.fetch_add(1, Ordering::Relaxed) > 200;
        match ours.make_tree(&tree, &stop, &mut |_| {}) {
            Ok(_) => break,
            Err(FillError::Stopped) => parts += 1,
            Err(error) => panic!("{error}"),
        }
        assert!(parts < 1000, "each part makes progress");
    }
    let compare = |ours: &TargetDirectory| {
        let state = tree.at_start(DATA_SEED);
        ours.compare_tree(&tree, &state, true, &|| false).expect("the tree can be read")
    };
    assert_eq!(compare(&ours).total(), 0);
    let measured = execute(&run, &ours, IoMethodUsed::Psync);
    assert_flawless(&run, &(ours, tree.clone()), &measured);

    // The next start of the program finds what the run has left.
    let mut ours = open(path.path(), &run);
    assert!(compare(&ours).total() > 0, "the run has changed the tree");
    ours.make_tree(&tree, &|| false, &mut |_| {}).expect("it can be restored");
    assert_eq!(compare(&ours).total(), 0);
    drop(ours);

    // A tree of the same stream with another shape is of another plan.
    let mut other = run.clone();
    other.streams[0].names.as_mut().expect("it has names").tree.files = 2500;
    let required = RequiredFiles {
        file_sets: Vec::new(),
        trees: RequiredTree::of_run(&other, 0),
        data_seed: DATA_SEED,
        direct_transfer_min_bytes: None,
    };
    let refused = survey::survey(path.path(), required, Overrides::default());
    assert!(matches!(refused, Err(Refusal::OtherTree { .. })), "{refused:?}");

    let cleaned = clean(path.path()).expect("it can be cleaned");
    assert!(cleaned.removed_directory, "{cleaned:?}");
    assert_eq!(std::fs::read_dir(path.path()).expect("it can be listed").count(), 0);
}
