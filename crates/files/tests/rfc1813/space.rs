//! Quota, memory budget, inodes.

use files::{Error, FileSystem, Handle, How, Options, SetAttributes, Stability, Unstable};
use proptest::prelude::*;
use units::Bytes;

use crate::scene::*;
use crate::steps::{apply, steps, tree};

fn with(quota: Bytes, memory_max: Bytes) -> FileSystem {
    FileSystem::new(Options { quota, memory_max, ..options() })
}

fn put(fs: &mut FileSystem, file: Handle, offset: u64, length: usize) -> Result<u64, Error> {
    let data = vec![1; length];
    let result = fs.write(file, offset, &data, Stability::Unstable, &ROOT, at(3)).result;
    result.map(|written| written.count)
}

#[test]
fn the_quota_is_exact_to_the_block_and_a_write_that_does_not_fit_changes_nothing() {
    let mut fs = with(Bytes::kib(64), Bytes::gib(1));
    let file = file(&mut fs, "f");
    assert_eq!(put(&mut fs, file, 0, 60 << 10), Ok(60 << 10));
    let before = fs.getattr(file);
    assert_eq!(put(&mut fs, file, 60 << 10, 4097), Err(Error::DQuot));
    assert_eq!(fs.getattr(file), before);
    assert_eq!(put(&mut fs, file, 60 << 10, 4096), Ok(4096));
    assert_eq!(fs.used(), Bytes::kib(64));
    assert_eq!(put(&mut fs, file, 0, 64 << 10), Ok(64 << 10), "overwriting uses no quota");
    assert_eq!(put(&mut fs, file, 1 << 30, 1), Err(Error::DQuot));
    fs.check();
}

#[test]
fn a_changed_quota_applies_immediately_and_removes_nothing() {
    let mut fs = with(Bytes::kib(8), Bytes::gib(1));
    let file = file(&mut fs, "f");
    assert_eq!(put(&mut fs, file, 0, 8192), Ok(8192));
    assert_eq!(put(&mut fs, file, 8192, 1), Err(Error::DQuot));
    fs.set_quota(Bytes::kib(12));
    assert_eq!(put(&mut fs, file, 8192, 1), Ok(1));
    fs.set_quota(Bytes::kib(4));
    assert_eq!(put(&mut fs, file, 0, 8193), Ok(8193));
    assert_eq!(put(&mut fs, file, 12_288, 1), Err(Error::DQuot));
    assert_eq!(text(&fs, file).len(), 8193);
}

#[test]
fn truncating_and_removing_free_quota() {
    let mut fs = with(Bytes::kib(64), Bytes::gib(1));
    let (root, file) = (fs.root(), file(&mut fs, "f"));
    assert_eq!(put(&mut fs, file, 0, 64 << 10), Ok(64 << 10));
    fs.setattr(file, &size(4097), None, &ROOT, at(4)).result.unwrap();
    assert_eq!(fs.used(), Bytes::kib(8));
    fs.link(file, root, b"g", &ROOT, at(5)).result.unwrap();
    fs.remove(root, b"f", &ROOT, at(6)).result.unwrap();
    assert_eq!(fs.used(), Bytes::kib(8), "it has another link");
    fs.remove(root, b"g", &ROOT, at(7)).result.unwrap();
    assert_eq!(fs.used(), Bytes::ZERO);
    fs.check();
}

#[test]
fn a_restart_frees_the_quota_of_unstable_data() {
    let mut fs = with(Bytes::kib(64), Bytes::gib(1));
    let file = file(&mut fs, "f");
    assert_eq!(put(&mut fs, file, 0, 64 << 10), Ok(64 << 10));
    fs.restart(at(5));
    assert_eq!(fs.used(), Bytes::ZERO);
    assert_eq!(put(&mut fs, file, 0, 64 << 10), Ok(64 << 10));
    fs.check();
}

#[test]
fn beyond_the_memory_budget_data_inodes_and_names_are_nospc() {
    let empty = fs().memory().get();
    // Charges: 256 bytes for an inode, 128 plus its length for a name, the length of a chunk.
    let memory = Bytes::new(empty + 256 + 129 + 4096);
    let mut fs = with(Bytes::gib(1), memory);
    let root = fs.root();
    let file = file(&mut fs, "f");
    assert_eq!(put(&mut fs, file, 0, 4097), Err(Error::NoSpc));
    assert_eq!(put(&mut fs, file, 0, 4096), Ok(4096));
    assert_eq!(fs.memory(), memory);
    assert_eq!(fs.fsstat(root).unwrap().available, Bytes::ZERO);
    let none = SetAttributes::default();
    let created = fs.create(root, b"g", How::Guarded(none), &ROOT, at(4)).result;
    assert_eq!(created, Err(Error::NoSpc));
    assert_eq!(fs.symlink(root, b"g", b"f", &none, &ROOT, at(4)).result, Err(Error::NoSpc));
    assert_eq!(fs.link(file, root, b"g", &ROOT, at(4)).result, Err(Error::NoSpc));
    let longer = fs.rename((root, b"f"), (root, b"ff"), &ROOT, at(4)).result;
    assert_eq!(longer, Err(Error::NoSpc));
    assert_eq!(fs.rename((root, b"f"), (root, b"g"), &ROOT, at(4)).result, Ok(()));
    assert_eq!(fs.remove(root, b"g", &ROOT, at(5)).result, Ok(()));
    assert_eq!(fs.memory().get(), empty);
    fs.check();
}

#[test]
fn the_number_of_inodes_is_limited_and_a_removal_frees_one() {
    let mut fs = FileSystem::new(Options { inodes_max: 3, ..options() });
    let root = fs.root();
    file(&mut fs, "a");
    file(&mut fs, "b");
    let none = SetAttributes::default();
    assert_eq!(fs.mkdir(root, b"c", &none, &ROOT, at(3)).result, Err(Error::NoSpc));
    fs.remove(root, b"a", &ROOT, at(4)).result.unwrap();
    assert!(fs.mkdir(root, b"c", &none, &ROOT, at(5)).result.is_ok());
    fs.check();
}

proptest! {
    #[test]
    fn a_refused_operation_changes_nothing_and_no_limit_is_exceeded(
        steps in proptest::collection::vec((steps(), any::<bool>()), 1..60),
        quota_kib in 0..200u64,
        memory_kib in 1..300u64,
        inodes_max in 1..12u64,
    ) {
        let mut fs = FileSystem::new(Options {
            quota: Bytes::kib(quota_kib),
            memory_max: Bytes::kib(memory_kib),
            inodes_max,
            unstable: Unstable::MayBeLost { max: Bytes::kib(32) },
            ..options()
        });
        for (step, is_stable) in &steps {
            let stability = if *is_stable { Stability::DataSync } else { Stability::Unstable };
            let before = (tree(&fs), fs.used(), fs.memory(), fs.uncommitted());
            if apply(&mut fs, step, stability).is_err() {
                let after = (tree(&fs), fs.used(), fs.memory(), fs.uncommitted());
                prop_assert_eq!(before, after, "{:?}", step);
            }
            fs.check();
            prop_assert!(fs.used() <= Bytes::kib(quota_kib));
            prop_assert!(fs.memory() <= Bytes::kib(memory_kib));
            prop_assert!(fs.uncommitted() <= Bytes::kib(32));
        }
        fs.restart(at(9));
        fs.check();
        prop_assert_eq!(fs.uncommitted(), Bytes::ZERO);
    }
}
