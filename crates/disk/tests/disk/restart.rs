//! Restarts of the service.

use files::{Error, How, SetAttributes, Stability};
use units::Bytes;

use crate::scene::*;

#[test]
fn a_volume_is_the_same_after_a_restart_with_its_handles_cookies_data_and_holes() {
    let folder = tempfile::tempdir().unwrap();
    let mut fs = open(folder.path(), options());
    let root = fs.root();
    let set = SetAttributes::default();
    let inner = fs.mkdir(root, b"d", &set, &ROOT, at(2)).result.unwrap().handle;
    let file = fs.create(inner, b"f", How::Exclusive(*b"verifier"), &ROOT, at(3));
    let file = file.result.unwrap().handle;
    fs.symlink(root, b"l", b"../somewhere", &set, &ROOT, at(4)).result.unwrap();
    fs.link(file, root, b"also", &ROOT, at(4)).result.unwrap();
    for (offset, length, fill) in [(0, 10, 1), (1 << 20, 100_000, 2), (5 << 30, 4096, 3)] {
        let written =
            fs.write(file, offset, &vec![fill; length], Stability::Unstable, &ROOT, at(5));
        assert_eq!(written.result.unwrap().committed, Stability::Unstable);
    }
    fs.commit(file, 0, 0).result.unwrap();
    fs.setattr(file, &size((1 << 20) + 50_000), None, &ROOT, at(6)).result.unwrap();
    fs.sync().unwrap();
    let (before, data, used) = (everything(&fs), bytes(&fs, file), fs.used());
    let verifier = fs.write_verifier();
    assert_eq!(used, Bytes::kib(4 + 52));
    drop(fs);

    let mut fs = open(folder.path(), later());
    fs.check();
    assert_eq!(everything(&fs), before);
    assert!(bytes(&fs, file) == data);
    assert_eq!((fs.used(), fs.root()), (used, root));
    assert_ne!(fs.write_verifier(), verifier);
    let again = fs.create(inner, b"f", How::Exclusive(*b"verifier"), &ROOT, at(9)).result;
    assert_eq!(again.unwrap().handle, file);
}

#[test]
fn a_removed_file_leaves_no_data_and_its_handle_stays_stale() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("alpha/data");
    let count = || std::fs::read_dir(&data).unwrap().count();
    let mut fs = open(folder.path(), options());
    let root = fs.root();
    let how = How::Guarded(SetAttributes::default());
    let make = |fs: &mut files::FileSystem| {
        let created = fs.create(root, b"f", how, &ROOT, at(2)).result.unwrap().handle;
        fs.write(created, 0, &[1; 5000], Stability::FileSync, &ROOT, at(2)).result.unwrap();
        created
    };
    let removed = make(&mut fs);
    fs.remove(root, b"f", &ROOT, at(3)).result.unwrap();
    let other = make(&mut fs);
    assert_eq!(other.fileid, removed.fileid);
    assert_eq!(count(), 2, "data is deleted only after its removal is durable");
    fs.sync().unwrap();
    assert_eq!(count(), 1);
    drop(fs);
    let fs = open(folder.path(), later());
    assert_eq!(fs.getattr(removed), Err(Error::Stale));
    assert_eq!(bytes(&fs, other), [1; 5000]);
}

#[test]
fn changes_since_the_last_sync_leave_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let mut fs = open(folder.path(), options());
    let root = fs.root();
    let how = How::Guarded(SetAttributes::default());
    let file = fs.create(root, b"kept", how, &ROOT, at(2)).result.unwrap().handle;
    fs.write(file, 0, b"abc", Stability::FileSync, &ROOT, at(2)).result.unwrap();
    fs.sync().unwrap();
    let before = everything(&fs);
    fs.write(file, 3, &[7; 9000], Stability::FileSync, &ROOT, at(3)).result.unwrap();
    let lost = fs.create(root, b"lost", how, &ROOT, at(3)).result.unwrap().handle;
    fs.write(lost, 0, b"abc", Stability::FileSync, &ROOT, at(3)).result.unwrap();
    fs.remove(root, b"kept", &ROOT, at(3)).result.unwrap();
    drop(fs);
    let mut fs = open(folder.path(), later());
    assert_eq!(everything(&fs), before);
    assert_eq!(bytes(&fs, file), b"abc");
    assert_eq!(std::fs::read_dir(folder.path().join("alpha/data")).unwrap().count(), 1);
    fs.setattr(file, &size(9000), None, &ROOT, at(5)).result.unwrap();
    assert!(bytes(&fs, file)[3..].iter().all(|byte| *byte == 0), "truncated data reads as zeros");
}

#[test]
fn ten_thousand_files_are_restored() {
    let folder = tempfile::tempdir().unwrap();
    let mut fs = open(folder.path(), options());
    let root = fs.root();
    for number in 0..10_000u32 {
        let name = format!("file-{number}");
        let how = How::Guarded(SetAttributes::default());
        let created = fs.create(root, name.as_bytes(), how, &ROOT, at(number)).result.unwrap();
        if number % 2 == 0 {
            let text = number.to_le_bytes();
            let written =
                fs.write(created.handle, 0, &text, Stability::Unstable, &ROOT, at(number));
            written.result.unwrap();
        }
        if number % 500 == 0 {
            fs.sync().unwrap();
        }
    }
    fs.sync().unwrap();
    let before = everything(&fs);
    drop(fs);
    let fs = open(folder.path(), later());
    fs.check();
    assert!(everything(&fs) == before);
    for number in (0..10_000u32).step_by(998) {
        let name = format!("file-{number}");
        let file = fs.lookup(root, name.as_bytes(), &ROOT).unwrap().handle;
        assert_eq!(bytes(&fs, file), number.to_le_bytes());
    }
}

#[test]
fn two_volumes_in_a_directory_are_independent() {
    let folder = tempfile::tempdir().unwrap();
    let volumes = directory(folder.path(), |_| {}).unwrap();
    let mut one = volumes.volume("one", options()).unwrap();
    let two = volumes.volume("two", files::Options { fsid: 43, ..options() }).unwrap();
    let root = one.root();
    one.mkdir(root, b"d", &SetAttributes::default(), &ROOT, at(2)).result.unwrap();
    one.sync().unwrap();
    assert_ne!(one.root(), two.root());
    assert_eq!((everything(&one).len(), everything(&two).len()), (2, 1));
    assert_eq!(volumes.names().unwrap(), ["one", "two"]);
    assert!(matches!(volumes.volume("two", options()), Err(disk::Error::Open { .. })));
    drop(two);
    let two = volumes.volume("two", later()).unwrap();
    assert_eq!(two.root().fsid, 43, "handles of clients stay valid");
}
