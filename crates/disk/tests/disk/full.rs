//! A full disk: a small ext4 file system. Requires root and loop devices, as in CI; a guard
//! unmounts it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use files::{Error, FileSystem, Handle, How, SetAttributes, Stability};

use crate::scene::*;

const IMAGE_BYTES: u64 = 64 << 20;
const WRITE_BYTES: usize = 256 << 10;

/// A small mounted file system; unmounted when dropped.
struct Mounted {
    point: PathBuf,
    _folder: tempfile::TempDir,
}

fn run<S: AsRef<OsStr>>(program: &str, arguments: &[S]) {
    let child = started(Command::new(program).args(arguments).stderr(Stdio::piped()));
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {errors}");
}

impl Mounted {
    fn new() -> Mounted {
        let folder = tempfile::tempdir().unwrap();
        let (image, point) = (folder.path().join("image"), folder.path().join("mount"));
        fs::File::create(&image).unwrap().set_len(IMAGE_BYTES).unwrap();
        fs::create_dir(&point).unwrap();
        run("mkfs.ext4", &["-q", "-F", "-b", "4096", "-m", "0", image.to_str().unwrap()]);
        let (image, at) = (image.to_str().unwrap(), point.to_str().unwrap());
        run("mount", &["-t", "ext4", "-o", "loop", image, at]);
        Mounted { point, _folder: folder }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // Until its exec, a process that another test has just forked has copies of all descriptors.
        let is_unmounted = (0..250).any(|_| {
            let mut child = started(Command::new("umount").arg(&self.point));
            let is_unmounted = child.wait().unwrap().success();
            if !is_unmounted {
                std::thread::sleep(std::time::Duration::from_millis(20));
            }
            is_unmounted
        });
        assert!(std::thread::panicking() || is_unmounted);
    }
}

fn create(fs: &mut FileSystem, name: &str) -> Result<Handle, Error> {
    let how = How::Guarded(SetAttributes::default());
    fs.create(fs.root(), name.as_bytes(), how, &ROOT, at(2)).result.map(|created| created.handle)
}

fn write(fs: &mut FileSystem, file: Handle, offset: u64, fill: u8) -> Result<(), Error> {
    let data = vec![fill; WRITE_BYTES];
    let written = fs.write(file, offset, &data, Stability::FileSync, &ROOT, at(3)).result;
    fs.sync().expect("the journal has reserved space");
    written.map(drop)
}

/// Writes until a write is refused; returns the number of successful writes.
fn fill(fs: &mut FileSystem, file: Handle) -> u64 {
    for number in 0..IMAGE_BYTES / WRITE_BYTES as u64 {
        if let Err(error) = write(fs, file, number * WRITE_BYTES as u64, 7) {
            assert_eq!(error, Error::NoSpc);
            return number;
        }
    }
    panic!("more was written than the disk can store");
}

fn verify(path: &Path, expected: &[(Handle, u64)]) {
    let fs = open(path, later());
    fs.check();
    for (file, writes) in expected {
        let bytes = bytes(&fs, *file);
        assert_eq!(bytes.len() as u64, writes * WRITE_BYTES as u64);
        assert!(bytes.iter().all(|byte| *byte == 7));
    }
}

#[test]
fn a_full_disk_refuses_writes_keeps_existing_data_and_recovers_when_space_is_freed() {
    let mounted = Mounted::new();
    let path = mounted.point.clone();
    let mut fs = open(&path, options());
    let (one, two) = (create(&mut fs, "one").unwrap(), create(&mut fs, "two").unwrap());
    assert_eq!(write(&mut fs, two, 0, 7), Ok(()));
    let first = fill(&mut fs, one);
    assert!(first > 100, "{first}");
    // Records still have their reserved space.
    for number in 0..1000 {
        create(&mut fs, &format!("empty-{number}")).unwrap();
        fs.sync().unwrap();
    }
    drop(fs);
    verify(&path, &[(one, first), (two, 1)]);
    let mut fs = open(&path, later());
    fs.remove(fs.root(), b"one", &ROOT, at(4)).result.unwrap();
    fs.sync().unwrap();
    assert!(fill(&mut fs, two) >= first);
    drop(fs);
    let fs = open(&path, later());
    assert!(bytes(&fs, two).iter().all(|byte| *byte == 7));
}
