//! Refusals and failures that need a separate file system: a small ext4 on a loop device, full,
//! read-only, unmounted, or without direct I/O. Needs root and loop devices, as in CI; every mount
//! is undone by its guard.

#![expect(clippy::unwrap_used, reason = "a failed helper fails its test")]

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use target::clean::clean;
use target::directory::TargetDirectory;
use target::fill::FillError;
use target::inventory::RequiredFiles;
use target::manifest::{FileState, Manifest};
use target::refusal::{Override, Overrides, Refusal};
use target::storage::DirectIo;
use target::survey;
use target::tree::RequiredTree;
use workload::data::DataPattern;
use workload::names::{NameLoad, NameMix, NameSize, NameSpread, TreeShape};
use workload::op::OpKind;
use workload::plan::FileSet;

const IMAGE_BYTES: u64 = 64 << 20;

/// A file with a file system in it, attached to a loop device.
struct Disk {
    directory: tempfile::TempDir,
    device: PathBuf,
}

/// A mount, unmounted when dropped.
struct Mounted {
    point: PathBuf,
}

fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S]) -> String {
    let output = Command::new(program).args(arguments).output().unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{program}: {stdout}{stderr}");
    stdout.trim().to_owned()
}

impl Disk {
    fn new() -> Disk {
        Disk::with_sectors_of("512")
    }

    fn with_sectors_of(bytes: &str) -> Disk {
        let directory = tempfile::tempdir().unwrap();
        let image = directory.path().join("image");
        fs::File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        let image = image.to_str().unwrap();
        let device = run("losetup", &["--find", "--show", "--sector-size", bytes, image]);
        let disk = Disk { directory, device: PathBuf::from(device) };
        run("mkfs.ext4", &["-q", "-F", "-b", "4096", disk.device.to_str().unwrap()]);
        disk
    }

    fn mount(&self) -> Mounted {
        self.mount_with("rw")
    }

    fn mount_with(&self, options: &str) -> Mounted {
        let point = self.directory.path().join("mount");
        fs::create_dir_all(&point).unwrap();
        self.mount_at(&point, options)
    }

    fn mount_at(&self, point: &Path, options: &str) -> Mounted {
        let (device, point_text) = (self.device.to_str().unwrap(), point.to_str().unwrap());
        run("mount", &["-t", "ext4", "-o", options, device, point_text]);
        Mounted { point: point.to_path_buf() }
    }
}

impl Mounted {
    fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        run("mount", &["-o", &options, self.point.to_str().unwrap()]);
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A process that another test has just forked may still have our files open, so the mount
        // is detached now and ends when they are closed.
        let ended = Command::new("umount").arg("--lazy").arg(&self.point).status();
        assert!(std::thread::panicking() || ended.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let ended = Command::new("losetup").arg("--detach").arg(&self.device).status();
        assert!(std::thread::panicking() || ended.unwrap().success());
    }
}

fn set(file_size_bytes: u64) -> FileSet {
    FileSet {
        stream: "main".to_owned(),
        files: 1,
        file_size_bytes,
        data: DataPattern::default(),
        tile_bytes: 4096,
    }
}

fn required(file_size_bytes: u64) -> RequiredFiles {
    RequiredFiles {
        file_sets: vec![set(file_size_bytes)],
        trees: Vec::new(),
        data_seed: 7,
        direct_transfer_min_bytes: Some(4096),
    }
}

fn open(path: &Path, file_size_bytes: u64) -> Result<TargetDirectory, Refusal> {
    survey::open(path, required(file_size_bytes), Overrides::default())
}

fn fill(directory: &mut TargetDirectory, file_size_bytes: u64) -> Result<u64, FillError> {
    directory.fill(&set(file_size_bytes), &|| false, &mut |_, _| {})
}

/// Fills a volume with a user's file, except for `left` blocks.
fn fill_up(volume: &Mounted, left: u64) -> PathBuf {
    let path = volume.point.join("thesis.txt");
    let file = fs::File::create(&path).unwrap();
    // ext4 frees the blocks of removed files when it commits its journal; until then the volume
    // looks full.
    rustix::fs::syncfs(&file).unwrap();
    let mut size_bytes = 0;
    for step_bytes in [1 << 20, 4096] {
        let flags = rustix::fs::FallocateFlags::empty();
        while rustix::fs::fallocate(&file, flags, size_bytes, step_bytes).is_ok() {
            size_bytes += step_bytes;
        }
    }
    let target_bytes = size_bytes.checked_sub(left * 4096);
    file.set_len(target_bytes.expect("an empty volume has room for more than four blocks"))
        .unwrap();
    file.sync_all().unwrap();
    path
}

#[test]
fn a_directory_that_does_not_fit_on_a_full_volume_leaves_nothing() {
    let disk = Disk::new();
    let volume = disk.mount();
    let overrides =
        Overrides { ignore_free_space: true, among_foreign_files: true, ..Overrides::default() };
    // With room for a directory, but not for all files in it.
    let mut failed_inside = 0;
    for left in 0..4 {
        let foreign = fill_up(&volume, left);
        match survey::open(&volume.point, required(8 << 20), overrides) {
            Ok(ours) => {
                drop(ours);
                assert!(clean(&volume.point).unwrap().removed_directory, "{left} blocks left");
            }
            Err(refusal) => {
                failed_inside += u32::from(!refusal.to_string().starts_with("make directory"));
            }
        }
        let names: Vec<_> =
            fs::read_dir(&volume.point).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names.len(), 2, "lost+found and the file: {names:?}, {left} blocks left");
        fs::remove_file(foreign).unwrap();
    }
    assert!(failed_inside > 0, "no failure came after the directory was created");
}

#[test]
fn an_empty_volume_is_filled_with_direct_io_and_verified() {
    let disk = Disk::new();
    let volume = disk.mount();
    let mut ours = open(&volume.point, 8 << 20).unwrap();
    assert_eq!(ours.storage().filesystem, "ext4");
    assert!(ours.storage().direct.is_supported() && !ours.storage().in_memory);
    assert_eq!(fill(&mut ours, 8 << 20).unwrap(), 8 << 20);
    ours.check(&set(8 << 20)).unwrap();
    drop(ours);
    assert!(clean(&volume.point).unwrap().removed_directory);
}

#[test]
fn a_mount_root_with_files_of_others_is_recognised() {
    let disk = Disk::new();
    let volume = disk.mount();
    fs::write(volume.point.join("thesis.txt"), "years of work").unwrap();
    let refusal = open(&volume.point, 1 << 20).unwrap_err();
    assert!(
        matches!(refusal, Refusal::ForeignFiles { mount_root: true, count: 1, .. }),
        "{refusal}"
    );
}

#[test]
fn a_block_device_is_refused() {
    let disk = Disk::new();
    let refusal = open(&disk.device, 1 << 20).unwrap_err();
    assert!(matches!(refusal, Refusal::BlockDevice { .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), None);
}

#[test]
fn a_read_only_file_system_is_refused() {
    let disk = Disk::new();
    let volume = disk.mount();
    drop(open(&volume.point, 1 << 20).unwrap());
    volume.remount("ro");
    let refusal = open(&volume.point, 1 << 20).unwrap_err();
    assert!(matches!(refusal, Refusal::ReadOnly { .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), None);
}

#[test]
fn a_file_system_that_turns_read_only_fails_the_fill() {
    let disk = Disk::new();
    let volume = disk.mount();
    let mut ours = open(&volume.point, 8 << 20).unwrap();
    volume.remount("ro");
    let error = fill(&mut ours, 8 << 20).unwrap_err();
    assert!(error.to_string().contains("Read-only file system"), "{error}");
}

#[test]
fn a_plan_larger_than_the_volume_is_refused_before_the_first_write() {
    let disk = Disk::new();
    let volume = disk.mount();
    let refusal = open(&volume.point, IMAGE_BYTES).unwrap_err();
    assert!(
        matches!(refusal, Refusal::TooLittleSpace { needed_bytes, free_bytes, .. }
            if needed_bytes > IMAGE_BYTES && free_bytes < IMAGE_BYTES),
        "{refusal}"
    );
    assert!(!volume.point.join("fourcorners").exists());
}

#[test]
fn a_tree_with_more_names_than_free_inodes_is_refused_before_the_first_write() {
    let disk = Disk::new();
    let volume = disk.mount();
    let tree = |files| RequiredTree {
        stream: "main".to_owned(),
        load: NameLoad {
            tree: TreeShape {
                files,
                depth: 1,
                width: 10,
                directories: 10,
                name_length: 12,
                spread: NameSpread::RoundRobin,
                sizes: NameSize::constant(0),
            },
            mix: NameMix::of(&[(OpKind::Stat, 1000)]),
            append_bytes: 0,
            scenario: None,
        },
        lanes: 1,
        queue_depth: 1,
        data: DataPattern::default(),
    };
    // The image has one inode for each 16 KiB at most.
    let needed = |files| RequiredFiles {
        file_sets: Vec::new(),
        trees: vec![tree(files)],
        data_seed: 7,
        direct_transfer_min_bytes: None,
    };
    let survey = |files, overrides| survey::survey(&volume.point, needed(files), overrides);
    let refusal = survey(100_000, Overrides::default()).unwrap_err();
    assert!(
        matches!(refusal, Refusal::TooFewInodes { needed, free, .. }
            if needed > 100_000 && free < IMAGE_BYTES >> 12),
        "{refusal}"
    );
    assert_eq!(refusal.overridden_by(), Some(Override::IgnoreFreeSpace));
    assert!(!volume.point.join("fourcorners").exists());
    survey(1000, Overrides::default()).unwrap();
    survey(100_000, Overrides { ignore_free_space: true, ..Overrides::default() }).unwrap();
}

#[test]
fn a_full_volume_fails_the_fill_and_clean_removes_it() {
    let disk = Disk::new();
    let volume = disk.mount();
    let overrides = Overrides { ignore_free_space: true, ..Overrides::default() };
    let mut ours = survey::open(&volume.point, required(IMAGE_BYTES), overrides).unwrap();
    let error = fill(&mut ours, IMAGE_BYTES).unwrap_err();
    assert!(matches!(error, FillError::NoSpace { .. }), "{error}");
    let manifest = Manifest::load(ours.path()).unwrap().unwrap();
    assert!(manifest.files.values().all(|file| file.state == FileState::Filling));
    drop(ours);

    let cleaned = clean(&volume.point).unwrap();
    assert!(cleaned.removed_directory, "{cleaned:?}");
    fill(&mut open(&volume.point, 8 << 20).unwrap(), 8 << 20).unwrap();
}

#[test]
fn space_that_is_used_by_others_during_the_fill_fails_it() {
    let disk = Disk::new();
    let volume = disk.mount();
    let mut ours = open(&volume.point, 32 << 20).unwrap();
    let hog = fs::File::create(volume.point.join("hog")).unwrap();
    rustix::fs::fallocate(&hog, rustix::fs::FallocateFlags::empty(), 0, 24 << 20).unwrap();
    let error = fill(&mut ours, 32 << 20).unwrap_err();
    assert!(matches!(error, FillError::NoSpace { .. }), "{error}");
}

#[test]
fn a_missing_mount_is_refused_and_an_existing_one_is_used() {
    let disk = Disk::new();
    // A conventional mount point with the process's number in its name.
    let point = PathBuf::from(format!("/mnt/fourcorners-test-{}", std::process::id()));
    fs::create_dir(&point).unwrap();
    let unmounted = open(&point, 1 << 20).map(drop);
    let mounted = {
        let volume = disk.mount_at(&point, "rw");
        open(&volume.point, 1 << 20).map(drop)
    };
    let overrides = Overrides { not_a_mount: true, ..Overrides::default() };
    let overridden = survey::survey(&point, required(1 << 20), overrides).map(drop);
    fs::remove_dir(&point).unwrap();

    let refusal = unmounted.unwrap_err();
    assert!(
        matches!(&refusal, Refusal::MountMissing { mount_point, .. } if *mount_point == point),
        "{refusal}"
    );
    assert_eq!(refusal.overridden_by(), Some(Override::NotAMount));
    mounted.unwrap();
    overridden.unwrap();
}

#[test]
fn a_copy_of_our_directory_on_another_file_system_is_refused() {
    let (first, second) = (Disk::new(), Disk::new());
    let (from, to) = (first.mount(), second.mount());
    drop(open(&from.point, 1 << 20).unwrap());
    let (from, to) = (from.point.join("fourcorners"), to.point.join("fourcorners"));
    run("cp", &["-a", from.to_str().unwrap(), to.to_str().unwrap()]);

    let refusal = open(&to, 1 << 20).unwrap_err();
    assert!(matches!(refusal, Refusal::OtherFilesystem { .. }), "{refusal}");
    assert_eq!(refusal.overridden_by(), Some(Override::OtherFilesystem));
    let overrides = Overrides { other_filesystem: true, ..Overrides::default() };
    drop(survey::open(&to, required(1 << 20), overrides).unwrap());
    // Once accepted, the copy is marked for this file system.
    open(&to, 1 << 20).unwrap();
}

#[test]
fn a_file_system_without_direct_io_is_refused_for_it_and_usable_with_buffered_io() {
    let disk = Disk::new();
    // ext4 has no direct I/O while it keeps data in its journal.
    let volume = disk.mount_with("data=journal");
    let refusal = open(&volume.point, 2 << 20).unwrap_err();
    assert!(matches!(refusal, Refusal::NoDirectIo { .. }), "{refusal}");
    assert!(refusal.remedy().contains("--buffered"), "{}", refusal.remedy());
    assert!(!volume.point.join("fourcorners").exists(), "the directory created for it is removed");

    let buffered = RequiredFiles { direct_transfer_min_bytes: None, ..required(2 << 20) };
    let mut ours = survey::open(&volume.point, buffered, Overrides::default()).unwrap();
    fill(&mut ours, 2 << 20).unwrap();
    ours.check(&set(2 << 20)).unwrap();
}

#[test]
fn direct_transfers_below_the_devices_sector_are_refused() {
    let disk = Disk::with_sectors_of("4096");
    let volume = disk.mount();
    let small = RequiredFiles { direct_transfer_min_bytes: Some(512), ..required(1 << 20) };
    let refusal = survey::open(&volume.point, small, Overrides::default()).unwrap_err();
    assert!(
        matches!(refusal, Refusal::DirectAlignment { needed_bytes: 4096, smallest_bytes: 512, .. }),
        "{refusal}"
    );
    let ours = open(&volume.point, 1 << 20).unwrap();
    assert_eq!(ours.storage().direct, DirectIo::Supported { offset_align_bytes: 4096 });
}

#[test]
fn preallocated_extents_are_refused_on_ext4() {
    let disk = Disk::new();
    let volume = disk.mount();
    let mut ours = open(&volume.point, 4 << 20).unwrap();
    fill(&mut ours, 4 << 20).unwrap();
    let path = ours.file_path(&set(4 << 20), 0);
    let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
    let zero = rustix::fs::FallocateFlags::ZERO_RANGE;
    rustix::fs::fallocate(&file, zero, 1 << 20, 1 << 20).unwrap();
    let refusal = ours.check(&set(4 << 20)).unwrap_err();
    assert!(
        matches!(refusal, Refusal::Unwritten { offset_bytes, .. } if offset_bytes == 1 << 20),
        "{refusal}"
    );
}
