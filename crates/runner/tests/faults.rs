//! Runs on real files whose storage fails during the run: truncated, removed, with I/O errors,
//! frozen. Needs root and loop devices, as available in CI; every mount is removed by its guard.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use engine::drive::Stop;
use metrics::run_record::Outcome;
use runner::conduct::{ConductError, Host, conduct};
use runner::event::{Event, Listener, ListenerError};
use target::inventory::RequiredFiles;
use target::refusal::Overrides;
use target::survey;
use workload::active_time::ActiveTime;
use workload::arrival::Arrival;
use workload::data::DataPattern;
use workload::pattern::AccessPattern;
use workload::plan::{
    IoMethod, Phases, Plan, Run, Step, Stream, TargetSpec, WeightedSize, WorkingSet,
};

const FILE_BYTES: u64 = 4 << 20;
const INTERVAL_NS: u64 = 100_000_000;

fn plan(engine: IoMethod, read_permille: u16) -> Plan {
    let stream = Stream {
        name: "main".to_owned(),
        read_permille,
        transfer_sizes: vec![WeightedSize { size_bytes: 4096, weight: 1 }],
        access_pattern: AccessPattern::Uniform,
        working_set: WorkingSet { files: 1, file_size_bytes: FILE_BYTES, area_bytes: FILE_BYTES },
        file_use: workload::file_use::FileUse::ALL,
        queue_depth: 4,
        workers: 1,
        arrival: Arrival::Closed { think_time_ns: 0 },
        active: ActiveTime::WHOLE_RUN,
        direct: true,
        dsync: false,
        write_stability: None,
        targets: workload::plan::StreamTargets::default(),
        names: None,
        replay: None,
        fsync_every_writes: None,
        data: DataPattern::default(),
    };
    let run = Run {
        index: 0,
        variant: "faults".to_owned(),
        parameters: Vec::new(),
        repeat: 0,
        seed: 1,
        hosts: 1,
        connections: None,
        streams: vec![stream],
        // Much longer than any test: the fault ends the run.
        phases: Phases { warm_up_ns: 0, measure_ns: 600 * INTERVAL_NS, interval_ns: INTERVAL_NS },
        tolerated_errors: 0,
        operation_deadline_ns: 5 * INTERVAL_NS,
    };
    Plan {
        name: "faults".to_owned(),
        source: "test".to_owned(),
        overrides: Vec::new(),
        targets: vec![TargetSpec::Null],
        target_names: Vec::new(),
        io_method: engine,
        pin: false,
        verify: false,
        metric: None,
        seed: 1,
        data_seed: 1,
        requirements: Vec::new(),
        steps: vec![Step::Fixed(run)],
    }
}

/// Breaks the storage at one point of the run, and counts its intervals.
struct Saboteur<'a> {
    at: fn(&Event) -> bool,
    deed: Option<Box<dyn FnOnce() + 'a>>,
    intervals: u32,
}

impl Listener for Saboteur<'_> {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        self.intervals += u32::from(matches!(event, Event::Interval { .. }));
        if (self.at)(event)
            && let Some(deed) = self.deed.take()
        {
            deed();
        }
        Ok(())
    }
}

fn first_interval(event: &Event) -> bool {
    matches!(event, Event::Interval { .. })
}

fn run_started(event: &Event) -> bool {
    matches!(event, Event::RunStarted { .. })
}

/// Runs until the fault ends it; returns the reason and the number of recorded intervals.
fn sabotaged(
    path: &Path,
    plan: &Plan,
    at: fn(&Event) -> bool,
    deed: impl FnOnce(&Path),
) -> (String, u32) {
    let mut ours = survey::open(path, RequiredFiles::of(plan, 0), Overrides::default()).unwrap();
    let file = ours.file_path(&plan.file_sets(0)[0], 0);
    let mut saboteur = Saboteur { at, deed: Some(Box::new(|| deed(&file))), intervals: 0 };
    let stop = Arc::new(Stop::new());
    let host = Host {
        memory_bytes: None,
        processors: None,
        available_processors: None,
        steal_since_last: &mut || None,
    };
    let ended: Result<Outcome, ConductError> =
        conduct(plan, std::slice::from_mut(&mut ours), host, &stop, &mut [&mut saboteur]);
    let Outcome::Failed { reason } = ended.unwrap() else { panic!("the run failed") };
    (reason, saboteur.intervals)
}

/// A mounted ext4 in a file on a loop device.
struct Disk {
    point: PathBuf,
    device: String,
    image: PathBuf,
    _directory: tempfile::TempDir,
}

fn tool<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {complained}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

impl Disk {
    fn new() -> Disk {
        let directory = tempfile::tempdir().unwrap();
        let (image, point) = (directory.path().join("image"), directory.path().join("mount"));
        fs::create_dir(&point).unwrap();
        fs::File::create(&image).unwrap().set_len(64 << 20).unwrap();
        let device = tool("losetup", &["--find", "--show", image.to_str().unwrap()]);
        let disk = Disk { point, device, image, _directory: directory };
        tool("mkfs.ext4", &["-q", "-F", "-b", "4096", &disk.device]);
        tool("mount", &["-t", "ext4", &disk.device, disk.point.to_str().unwrap()]);
        disk
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // A worker that hung may hold its file slightly longer than the run: unmount lazily.
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.point).status();
        let detached = Command::new("losetup").args(["--detach", &self.device]).status();
        let fine = unmounted.is_ok_and(|s| s.success()) && detached.is_ok_and(|s| s.success());
        assert!(fine || std::thread::panicking(), "undo {}", self.device);
    }
}

const ENGINES: [IoMethod; 2] = [IoMethod::IoUring, IoMethod::Psync];

#[test]
fn a_file_truncated_during_a_run_ends_it_with_short_transfers() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().unwrap();
        let cut = |file: &Path| {
            let file = fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(4096).unwrap();
        };
        let (reason, intervals) =
            sabotaged(directory.path(), &plan(engine, 1000), first_interval, cut);
        assert!(reason.contains("read (short transfer)"), "{engine:?}: {reason}");
        assert!(reason.contains("--refill"), "{engine:?}: {reason}");
        assert!(intervals >= 2, "{engine:?}: {intervals}");
    }
}

#[test]
fn a_file_removed_before_a_run_ends_it_with_its_name() {
    for engine in ENGINES {
        let directory = tempfile::tempdir().unwrap();
        let remove = |file: &Path| fs::remove_file(file).unwrap();
        let (reason, intervals) =
            sabotaged(directory.path(), &plan(engine, 1000), run_started, remove);
        assert!(reason.contains("No such file"), "{engine:?}: {reason}");
        assert!(reason.contains("main-4194304-0000.data"), "{engine:?}: {reason}");
        assert_eq!(intervals, 0);
    }
}

#[test]
fn storage_with_io_errors_ends_a_run() {
    for engine in ENGINES {
        let disk = Disk::new();
        let image = disk.image.clone();
        // The device keeps its size, but most of its data is missing.
        let behead = |_: &Path| {
            let image = fs::OpenOptions::new().write(true).open(&image).unwrap();
            image.set_len(1 << 20).unwrap();
        };
        let (reason, intervals) =
            sabotaged(&disk.point, &plan(engine, 1000), first_interval, behead);
        assert!(reason.contains("read (I/O error, EIO)"), "{engine:?}: {reason}");
        assert!(reason.contains("dmesg"), "{engine:?}: {reason}");
        assert!(intervals >= 2, "{engine:?}: {intervals}");
    }
}

#[test]
fn a_full_volume_ends_a_run_of_writes() {
    for engine in ENGINES {
        let disk = Disk::new();
        let point = disk.point.clone();
        // The file's space is given to another file, so that its writes need new space.
        let squeeze = |file: &Path| {
            let file = fs::OpenOptions::new().write(true).open(file).unwrap();
            file.set_len(4096).unwrap();
            let hog = fs::File::create(point.join("hog")).unwrap();
            let mut size_bytes = 64 << 20;
            let mut taken = 0;
            while size_bytes >= 4096 {
                let flags = rustix::fs::FallocateFlags::empty();
                match rustix::fs::fallocate(&hog, flags, taken, size_bytes) {
                    Ok(()) => taken += size_bytes,
                    Err(_) => size_bytes /= 2,
                }
            }
        };
        let (reason, intervals) = sabotaged(&disk.point, &plan(engine, 0), first_interval, squeeze);
        assert!(reason.contains("write (no space left, ENOSPC)"), "{engine:?}: {reason}");
        assert!(reason.contains("free some space"), "{engine:?}: {reason}");
        assert!(intervals >= 2, "{engine:?}: {intervals}");
    }
}

/// Thaws a file system in any case.
struct Thaw<'a>(&'a Path);

impl Drop for Thaw<'_> {
    fn drop(&mut self) {
        let thawed = Command::new("fsfreeze").arg("--unfreeze").arg(self.0).status();
        assert!(thawed.is_ok_and(|status| status.success()), "thaw {}", self.0.display());
    }
}

#[test]
fn operations_that_never_complete_end_a_run_at_their_deadline() {
    for engine in ENGINES {
        let disk = Disk::new();
        let point = disk.point.clone();
        let mut frozen = None;
        let freeze = |_: &Path| {
            tool("fsfreeze", &["--freeze", point.to_str().unwrap()]);
            frozen = Some(Thaw(&point));
        };
        let (reason, intervals) = sabotaged(&disk.point, &plan(engine, 0), first_interval, freeze);
        drop(frozen);
        assert!(reason.contains("did not return within"), "{engine:?}: {reason}");
        assert!(reason.contains("stream main, worker 0"), "{engine:?}: {reason}");
        assert!(intervals >= 1, "{engine:?}: {intervals}");
    }
}
