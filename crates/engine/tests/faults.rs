//! Faults caused by the kernel on a small ext4 on a loop device. Needs root and `mkfs.ext4`.

mod runs;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use engine::drive::Stop;
use engine::request::Request;
use engine::run::run;
use metrics::run_record::Outcome;
use runs::{DATA_SEED, Setting, fill, measure, small_run, sum};
use target::posix::PosixTarget;
use workload::outcome::ErrorKind;
use workload::plan::IoMethodUsed;

/// Runs a program, which must succeed.
fn must(program: &str, arguments: &[&str]) -> String {
    let output = Command::new(program).args(arguments).output();
    let output = output.unwrap_or_else(|error| panic!("{program} is needed by this test: {error}"));
    assert!(
        output.status.success(),
        "{program} {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A mounted ext4 of 64 MiB in a file; unmounted and removed when dropped.
struct Mounted {
    holder: tempfile::TempDir,
    mount_point: PathBuf,
}

impl Mounted {
    fn new() -> Mounted {
        let holder = tempfile::tempdir().expect("a directory");
        let image = holder.path().join("image");
        let file = std::fs::File::create(&image).expect("an image");
        file.set_len(64 << 20).expect("a sparse image");
        must("mkfs.ext4", &["-q", "-F", "-E", "nodiscard", &text(&image)]);
        let mount_point = holder.path().join("mounted");
        std::fs::create_dir(&mount_point).expect("a mount point");
        must("mount", &["-o", "loop", &text(&image), &text(&mount_point)]);
        Mounted { holder, mount_point }
    }

    fn image(&self) -> PathBuf {
        self.holder.path().join("image")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A lazy unmount succeeds while an abandoned operation still holds a file.
        let status = Command::new("umount").arg("-l").arg(&self.mount_point).status();
        assert!(status.is_ok_and(|s| s.success()) || std::thread::panicking());
    }
}

/// A frozen file system: writes hang until it is thawed, at the latest when this is dropped.
struct Frozen<'a>(&'a Path);

impl<'a> Frozen<'a> {
    fn new(mount_point: &'a Path) -> Frozen<'a> {
        must("fsfreeze", &["--freeze", &text(mount_point)]);
        Frozen(mount_point)
    }
}

impl Drop for Frozen<'_> {
    fn drop(&mut self) {
        must("fsfreeze", &["--unfreeze", &text(self.0)]);
    }
}

fn text(path: &Path) -> String {
    path.to_str().expect("temporary paths are UTF-8").to_owned()
}

#[test]
fn a_device_that_fails_is_counted_as_input_output_errors() {
    let mounted = Mounted::new();
    let mut small = small_run();
    small.streams[0].read_permille = 1000;
    small.streams[0].direct = true;
    fill(&mounted.mount_point, &small);
    must("sync", &["-f", &text(&mounted.mount_point)]);
    // The file system's disk now ends at 4 MiB: the kernel returns EIO for reads beyond.
    let image = std::fs::OpenOptions::new().write(true).open(mounted.image()).expect("the image");
    image.set_len(4 << 20).expect("the image can be shortened");
    for engine in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
        let setting = Setting { engine, verify: false };
        let (intervals, _) = measure(&small, Some(&mounted.mount_point), &setting);
        let all = sum(&intervals, 0);
        assert!(all.kinds[0].failed[ErrorKind::InputOutput as usize] > 0, "{engine:?}");
        assert_eq!(all.issued, all.completed() + all.failed());
    }
}

#[test]
fn an_operation_that_never_completes_ends_the_run_and_is_named() {
    for engine in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
        let mounted = Mounted::new();
        let mut small = small_run();
        small.streams[0].read_permille = 0;
        small.streams[0].queue_depth = 2;
        small.streams[0].direct = true;
        small.phases.measure_ns = 30_000_000_000;
        small.operation_deadline_ns = 500_000_000;
        fill(&mounted.mount_point, &small);
        let assignment = small.split().remove(0);
        let request = Request {
            assignment: &assignment,
            targets: vec![Arc::new(PosixTarget::new(mounted.mount_point.clone()))],
            io_method: engine,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let mut frozen = None;
        let mut intervals = Vec::new();
        let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
            if interval.index == 1 {
                frozen = Some(Frozen::new(&mounted.mount_point));
            }
            intervals.push(interval);
            ControlFlow::Continue(())
        })
        .expect("the run can be started");
        drop(frozen);
        let Outcome::Failed { reason } = &end.outcome else { panic!("{engine:?}: {end:?}") };
        assert!(reason.contains("did not return within"), "{reason}");
        assert!(!end.details.is_empty());
        let detail = &end.details[0];
        assert!(
            detail.contains("write of 4096 bytes at offset")
                && detail.contains(" of small-1048576-000")
                && detail.contains("has been outstanding for "),
            "{engine:?}: {detail}"
        );
        // Measurements before it are kept.
        assert!(intervals.len() >= 2 && intervals[0].streams[0].completed() > 0);
    }
}

#[test]
fn a_run_stopped_immediately_does_not_wait_for_hanging_operations() {
    for engine in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
        let mounted = Mounted::new();
        let mut small = small_run();
        small.streams[0].read_permille = 0;
        small.streams[0].queue_depth = 2;
        small.streams[0].direct = true;
        small.phases.measure_ns = 3_600_000_000_000;
        small.operation_deadline_ns = 3_600_000_000_000;
        fill(&mounted.mount_point, &small);
        let assignment = small.split().remove(0);
        let request = Request {
            assignment: &assignment,
            targets: vec![Arc::new(PosixTarget::new(mounted.mount_point.clone()))],
            io_method: engine,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let stop = Arc::new(Stop::new());
        let mut frozen = None;
        let end = run(&request, &stop, None, &mut |interval| {
            if interval.index == 1 {
                frozen = Some(Frozen::new(&mounted.mount_point));
                stop.now();
            }
            ControlFlow::Continue(())
        })
        .expect("the run can be started");
        drop(frozen);
        assert_eq!(end.outcome, Outcome::Interrupted, "{engine:?}");
        assert!(!end.details.is_empty(), "{engine:?}: hanging operations are named");
    }
}

#[test]
fn a_hanging_stream_does_not_delay_another() {
    for engine in [IoMethodUsed::IoUring, IoMethodUsed::Psync] {
        let mounted = Mounted::new();
        let mut two = small_run();
        two.phases.measure_ns = 30_000_000_000;
        two.operation_deadline_ns = 1_000_000_000;
        two.streams[0].read_permille = 0;
        two.streams[0].queue_depth = 2;
        two.streams[0].direct = true;
        let mut reader = two.streams[0].clone();
        reader.name = "reader".to_owned();
        reader.read_permille = 1000;
        reader.arrival = workload::arrival::Arrival::Constant { offered_rate: 400.0 };
        two.streams.push(reader);
        fill(&mounted.mount_point, &two);
        let assignment = two.split().remove(0);
        let request = Request {
            assignment: &assignment,
            targets: vec![Arc::new(PosixTarget::new(mounted.mount_point.clone()))],
            io_method: engine,
            pin: false,
            verify: false,
            data_seed: DATA_SEED,
        };
        let mut frozen = None;
        let mut intervals = Vec::new();
        let end = run(&request, &Arc::new(Stop::new()), None, &mut |interval| {
            if interval.index == 1 {
                frozen = Some(Frozen::new(&mounted.mount_point));
            }
            intervals.push(interval);
            ControlFlow::Continue(())
        })
        .expect("the run can be started");
        drop(frozen);
        assert!(matches!(end.outcome, Outcome::Failed { .. }), "{end:?}");
        // 50 ms at 400/s: 20 operations in each interval throughout the second before the deadline,
        // in which nothing was written.
        let hung = intervals.iter().filter(|i| (6..18).contains(&i.index));
        let (writes, reads): (u64, u64) = hung
            .map(|i| (i.streams[0].completed(), i.streams[1].completed()))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(writes, 0, "{engine:?}");
        assert!(reads >= 120, "{engine:?}: {reads} reads of 240 while the other stream hung");
    }
}
