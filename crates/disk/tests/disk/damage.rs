//! Damaged data is never served, and everything else is.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;

use files::{Error, FileSystem, Handle, How, SetAttributes, Stability};

use crate::scene::*;

const BLOCK: u64 = 4096;

fn opened(path: &Path, logged: &LoggedLines) -> FileSystem {
    directory(path, logged.log()).unwrap().volume("alpha", later()).unwrap()
}

/// Reads a range.
fn read(fs: &FileSystem, file: Handle, offset: u64, count: u64) -> Result<Vec<u8>, Error> {
    fs.read(file, offset, count, &ROOT).map(|read| read.pieces.collect::<Vec<_>>().concat())
}

/// Flips a bit of a host file.
fn flip(path: &Path, at: u64) {
    let file = File::options().read(true).write(true).open(path).unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 4], at).unwrap();
}

#[test]
fn data_that_is_missing_cut_or_emptied_answers_io_and_is_named_and_the_rest_is_served() {
    type Harm = fn(&Path, Handle);
    let harms: [(&str, u64, Harm); 5] = [
        ("removed", 0, |path, file| fs::remove_file(data_path(path, file)).unwrap()),
        ("emptied", 0, |path, file| drop(File::create(data_path(path, file)).unwrap())),
        ("cut at a block", 2, |path, file| cut(&data_path(path, file), 2 * BLOCK)),
        ("cut in a block", 1, |path, file| cut(&data_path(path, file), 2 * BLOCK - 1)),
        ("removed with its checksums", 0, |path, file| {
            fs::remove_file(data_path(path, file)).unwrap();
            fs::remove_file(sums_path(path, file)).unwrap();
        }),
    ];
    for (what, good, harm) in harms {
        let folder = tempfile::tempdir().unwrap();
        let mut volume = open(folder.path(), options());
        let other = filled(&mut volume, b"other", &[3; 10_000]);
        let file = filled(&mut volume, b"file", &[7; 5 * BLOCK as usize + 100]);
        drop(volume);
        harm(folder.path(), file);
        let logged = LoggedLines::default();
        // The damage persists after a second start.
        for _ in 0..2 {
            let volume = opened(folder.path(), &logged);
            assert_eq!(bytes(&volume, other), [3; 10_000], "{what}");
            for block in 0..6 {
                let seen = read(&volume, file, block * BLOCK, BLOCK);
                let expected =
                    if block < good { Ok(vec![7; BLOCK as usize]) } else { Err(Error::Io) };
                assert!(seen == expected, "{what}: block {block} gives {:?}", seen.err());
            }
            drop(volume);
        }
        assert!(logged.any("`/file`") || logged.any("(checksum mismatch)"), "{what}: {logged:?}");
        assert!(what == "cut in a block" || logged.any("`/file`"), "{what}: {logged:?}");
        let mut volume = opened(folder.path(), &logged);
        volume.write(file, 0, &[8; 24_576], Stability::FileSync, &ROOT, at(5)).result.unwrap();
        volume.sync().unwrap();
        assert_eq!(bytes(&volume, file), [8; 24_576], "{what}: rewritten");
        volume.check();
    }
}

fn cut(path: &Path, length: u64) {
    File::options().write(true).open(path).unwrap().set_len(length).unwrap();
}

#[test]
fn a_hole_or_a_truncated_file_is_not_reported_as_missing() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let how = How::Guarded(SetAttributes::default());
    let hole = volume.create(volume.root(), b"hole", how, &ROOT, at(2)).result.unwrap().handle;
    volume.setattr(hole, &size(10_000), None, &ROOT, at(2)).result.unwrap();
    let emptied = filled(&mut volume, b"emptied", &[7; 10_000]);
    volume.setattr(emptied, &size(0), None, &ROOT, at(2)).result.unwrap();
    volume.setattr(emptied, &size(9000), None, &ROOT, at(2)).result.unwrap();
    let cut = filled(&mut volume, b"cut", &[7; 10_000]);
    volume.setattr(cut, &size(5000), None, &ROOT, at(2)).result.unwrap();
    volume.setattr(cut, &size(6000), None, &ROOT, at(2)).result.unwrap();
    volume.sync().unwrap();
    drop(volume);
    let logged = LoggedLines::default();
    let volume = opened(folder.path(), &logged);
    assert_eq!(bytes(&volume, hole), [0; 10_000]);
    assert_eq!(bytes(&volume, emptied), [0; 9000]);
    assert_eq!(bytes(&volume, cut), [[7; 5000].as_slice(), &[0; 1000]].concat());
    assert!(!logged.any("alpha"), "{logged:?}");
}

#[test]
fn a_flipped_bit_fails_reads_of_its_block_until_it_is_rewritten_and_is_reported_once() {
    for is_restarted in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let logged = LoggedLines::default();
        let volumes = directory(folder.path(), logged.log()).unwrap();
        let mut volume = volumes.volume("alpha", options()).unwrap();
        let pattern: Vec<u8> = (0..40_000u32).map(|at| (at / 7) as u8).collect();
        let file = filled(&mut volume, b"file", &pattern);
        let path = data_path(folder.path(), file);
        flip(&path, 2 * BLOCK + 17);
        if is_restarted {
            drop(volume);
            volume = volumes.volume("alpha", later()).unwrap();
        }
        for _ in 0..3 {
            assert_eq!(read(&volume, file, 2 * BLOCK, BLOCK), Err(Error::Io));
            assert_eq!(read(&volume, file, 2 * BLOCK + 100, 10), Err(Error::Io));
            // A longer read returns the valid bytes before the block.
            let before = read(&volume, file, 100, 40_000).unwrap();
            assert!(before == pattern[100..2 * BLOCK as usize]);
            let after = read(&volume, file, 3 * BLOCK, 40_000).unwrap();
            assert!(after == pattern[3 * BLOCK as usize..]);
        }
        assert_eq!(logged.count("(checksum mismatch)"), 1, "{logged:?}");
        assert!(
            logged.any(path.to_str().unwrap()) && logged.any("bytes 8192 to 12288"),
            "{logged:?}"
        );
        // The whole block can be rewritten, but not a part, because the rest is unknown.
        let part = volume.write(file, 2 * BLOCK + 1, b"x", Stability::FileSync, &ROOT, at(5));
        assert_eq!(part.result.err(), Some(Error::Io));
        let all = &pattern[2 * BLOCK as usize..3 * BLOCK as usize];
        volume.write(file, 2 * BLOCK, all, Stability::FileSync, &ROOT, at(5)).result.unwrap();
        volume.sync().unwrap();
        assert!(bytes(&volume, file) == pattern);
        drop(volume);
        assert!(bytes(&volumes.volume("alpha", later()).unwrap(), file) == pattern);
    }
}

#[test]
fn a_flipped_bit_in_a_files_last_block_or_in_a_checksum_is_detected() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let file = filled(&mut volume, b"file", &[7; BLOCK as usize + 100]);
    let path = data_path(folder.path(), file);
    for at in [BLOCK, BLOCK + 99] {
        flip(&path, at);
        assert_eq!(read(&volume, file, BLOCK, 1000), Err(Error::Io), "{at}");
        flip(&path, at);
        assert_eq!(read(&volume, file, BLOCK, 1000), Ok(vec![7; 100]));
    }
    // A damaged checksum counts as damaged data.
    flip(&sums_path(folder.path(), file), 64 + 4 + 2);
    assert_eq!(read(&volume, file, BLOCK, 1000), Err(Error::Io));
    assert_eq!(read(&volume, file, 0, 1000), Ok(vec![7; 1000]));
}

#[test]
fn a_directory_of_format_1_is_read_and_gets_checksums_when_blocks_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/disk/format_1");
    copied(&old, folder.path());
    let logged = LoggedLines::default();
    let mut volume = opened(folder.path(), &logged);
    volume.check();
    let file = |volume: &FileSystem, name: &[u8]| {
        volume.lookup(volume.root(), name, &ROOT).unwrap().handle
    };
    let (first, second) = (file(&volume, b"first"), file(&volume, b"second"));
    assert_eq!(bytes(&volume, first), [1; 5000]);
    assert_eq!(bytes(&volume, second), [2; 9000]);
    assert!(logged.any("2 files have data without checksums"), "{logged:?}");
    // This adds a checksum for one block only.
    volume.write(first, 4500, b"new", Stability::FileSync, &ROOT, at(9)).result.unwrap();
    volume.sync().unwrap();
    drop(volume);
    let path = data_path(folder.path(), first);
    flip(&path, 10);
    flip(&path, 4096);
    let volume = opened(folder.path(), &logged);
    assert_eq!(read(&volume, first, 0, 4096).unwrap()[10], 1 ^ 4, "read without verification");
    assert_eq!(read(&volume, first, 4096, 4096), Err(Error::Io));
    assert!(logged.any("1 files have data without checksums"), "{logged:?}");
}

/// A copied directory with another boot ID simulates a loss of power: checksums of dirty files are
/// invalid, and the others are valid.
#[test]
fn after_a_loss_of_power_files_that_were_not_dirty_are_still_verified() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let idle = filled(&mut volume, b"idle", &[1; 8192]);
    let written = filled(&mut volume, b"written", &[2; 8192]);
    drop(volume);
    let mut volume = open(folder.path(), later());
    volume.write(written, 0, &[3; 4096], Stability::Unstable, &ROOT, at(3)).result.unwrap();
    volume.sync().unwrap();
    let copy = tempfile::tempdir().unwrap();
    copied(folder.path(), copy.path());
    drop(volume);
    // A missing `acknowledged` has the same effect as another boot ID.
    fs::remove_file(copy.path().join("alpha/acknowledged")).unwrap();
    // Data and checksums differ.
    for file in [idle, written] {
        flip(&data_path(copy.path(), file), 5);
    }
    let logged = LoggedLines::default();
    let volume = opened(copy.path(), &logged);
    assert_eq!(read(&volume, idle, 0, 4096), Err(Error::Io));
    assert!(read(&volume, written, 0, 4096).is_ok());
    assert!(logged.any("1 files have data without checksums"), "{logged:?}");
}

#[test]
fn data_that_a_kill_left_of_a_removed_file_is_deleted_even_after_a_reboot() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let file = filled(&mut volume, b"file", b"old");
    filled(&mut volume, b"other", b"other");
    volume.remove(volume.root(), b"file", &ROOT, at(3)).result.unwrap();
    volume.sync().unwrap();
    drop(volume);
    let path = data_path(folder.path(), file);
    fs::write(&path, "old").unwrap();
    // Without this file the boot ID is unknown.
    fs::remove_file(folder.path().join("alpha/acknowledged")).unwrap();
    let logged = LoggedLines::default();
    opened(folder.path(), &logged).check();
    assert!(!path.exists() && !logged.any("lost"), "{logged:?}");
}
