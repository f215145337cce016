//! GETATTR, SETATTR, FSSTAT, FSINFO, PATHCONF, handles and weak cache consistency.

use files::{Error, FileSystem, Handle, How, Kind, Options, SetAttributes, SetTime, Special, Time};
use units::Bytes;

use crate::scene::*;

#[test]
fn a_new_file_belongs_to_its_creator() {
    let mut fs = fs();
    let how = How::Guarded(mode(0o640));
    let created = fs.create(fs.root(), b"f", how, &ALICE, at(5)).result.unwrap().attributes;
    assert_eq!((created.kind, created.mode, created.nlink), (Kind::Regular, 0o640, 1));
    assert_eq!((created.uid, created.gid, created.size, created.used), (1000, 100, 0, 0));
    assert_eq!((created.atime, created.mtime, created.ctime), (at(5), at(5), at(5)));
    assert_eq!(created.fsid, 42);
    let root = fs.getattr(fs.root()).unwrap();
    assert_eq!((root.kind, root.nlink, root.fileid), (Kind::Directory, 2, 2));
}

#[test]
fn used_counts_written_blocks_and_size_includes_holes() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 1 << 20, b"x");
    let attributes = fs.getattr(file).unwrap();
    assert_eq!((attributes.size, attributes.used), ((1 << 20) + 1, 4096));
}

#[test]
fn a_directory_has_a_link_for_each_directory_in_it() {
    let mut fs = fs();
    let root = fs.root();
    let inner = directory(&mut fs, root, "a");
    directory(&mut fs, root, "b");
    file(&mut fs, "c");
    assert_eq!(fs.getattr(root).unwrap().nlink, 4);
    directory(&mut fs, inner, "d");
    assert_eq!(fs.getattr(inner).unwrap().nlink, 3);
    fs.rmdir(root, b"b", &ROOT, at(9)).result.unwrap();
    assert_eq!(fs.getattr(root).unwrap().nlink, 3);
}

#[test]
fn special_files_have_device_numbers_and_no_data() {
    let mut fs = fs();
    let root = fs.root();
    let none = SetAttributes::default();
    for (name, what, kind, rdev) in [
        ("c", Special::CharacterDevice(5, 1), Kind::CharacterDevice, (5, 1)),
        ("b", Special::BlockDevice(8, 16), Kind::BlockDevice, (8, 16)),
        ("s", Special::Socket, Kind::Socket, (0, 0)),
        ("p", Special::Fifo, Kind::Fifo, (0, 0)),
    ] {
        let created = fs.mknod(root, name.as_bytes(), what, &none, &ROOT, at(3)).result.unwrap();
        assert_eq!((created.attributes.kind, created.attributes.rdev), (kind, rdev));
        assert_eq!(fs.read(created.handle, 0, 10, &ROOT).err(), Some(Error::Inval));
    }
    let device = Special::BlockDevice(1, 1);
    let refused = fs.mknod(root, b"x", device, &none, &ALICE, at(3)).result;
    assert_eq!(refused, Err(Error::Perm));
}

#[test]
fn setattr_with_a_guard_is_refused_when_the_object_changed_meanwhile() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let seen = fs.getattr(file).unwrap().ctime;
    write(&mut fs, file, 0, b"x");
    let refused = fs.setattr(file, &size(0), Some(seen), &ROOT, at(9));
    assert_eq!(refused.result, Err(Error::NotSync));
    assert_eq!(refused.wcc.before.unwrap().size, 1);
    assert_eq!(refused.wcc.after.unwrap().size, 1);
    let seen = fs.getattr(file).unwrap().ctime;
    let done = fs.setattr(file, &size(0), Some(seen), &ROOT, at(9));
    assert_eq!(done.result, Ok(()));
    assert_eq!((done.wcc.before.unwrap().size, done.wcc.after.unwrap().size), (1, 0));
}

#[test]
fn times_are_set_to_the_servers_or_the_clients_clock() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let given = Time { seconds: 77, nanoseconds: 88 };
    let set = SetAttributes {
        atime: SetTime::To(given),
        mtime: SetTime::Now,
        ..SetAttributes::default()
    };
    fs.setattr(file, &set, None, &ROOT, at(50)).result.unwrap();
    let now = fs.getattr(file).unwrap();
    assert_eq!((now.atime, now.mtime, now.ctime), (given, at(50), at(50)));
    let set = SetAttributes { mtime: SetTime::To(given), ..size(10) };
    fs.setattr(file, &set, None, &ROOT, at(51)).result.unwrap();
    let now = fs.getattr(file).unwrap();
    assert_eq!((now.atime, now.mtime, now.ctime, now.size), (given, given, at(51), 10));
    let wrong = Time { seconds: 0, nanoseconds: 1_000_000_000 };
    let set = SetAttributes { mtime: SetTime::To(wrong), ..SetAttributes::default() };
    assert_eq!(fs.setattr(file, &set, None, &ROOT, at(52)).result, Err(Error::Inval));
}

#[test]
fn every_change_increases_the_ctime_even_if_the_clock_stops_or_goes_back() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let mut last = fs.getattr(file).unwrap().ctime;
    for now in [at(100), at(100), at(100), at(40), at(41)] {
        fs.setattr(file, &mode(0o600), None, &ROOT, now).result.unwrap();
        let ctime = fs.getattr(file).unwrap().ctime;
        assert!(ctime > last);
        last = ctime;
    }
    assert_eq!(last, Time { seconds: 100, nanoseconds: 4 });
}

#[test]
fn an_empty_setattr_changes_nothing() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let before = fs.getattr(file).unwrap();
    fs.setattr(file, &SetAttributes::default(), None, &ROOT, at(50)).result.unwrap();
    assert_eq!(fs.getattr(file), Ok(before));
}

#[test]
fn only_a_regular_file_has_a_size_that_can_be_set() {
    let mut fs = fs();
    let root = fs.root();
    assert_eq!(fs.setattr(root, &size(0), None, &ROOT, at(9)).result, Err(Error::IsDir));
    let none = SetAttributes::default();
    let link = fs.symlink(root, b"l", b"to", &none, &ROOT, at(3)).result.unwrap().handle;
    assert_eq!(fs.setattr(link, &size(0), None, &ROOT, at(9)).result, Err(Error::Inval));
}

#[test]
fn a_size_beyond_the_maximum_is_fbig_and_changes_nothing() {
    let mut fs = FileSystem::new(Options { file_size_max: Bytes::new(10_000), ..options() });
    let file = file(&mut fs, "f");
    assert_eq!(fs.setattr(file, &size(10_000), None, &ROOT, at(9)).result, Ok(()));
    let before = fs.getattr(file);
    let set = SetAttributes { mode: Some(0), ..size(10_001) };
    assert_eq!(fs.setattr(file, &set, None, &ROOT, at(10)).result, Err(Error::FBig));
    assert_eq!(fs.getattr(file), before);
    let how = How::Guarded(size(10_001));
    let refused = fs.create(fs.root(), b"g", how, &ROOT, at(10)).result;
    assert_eq!(refused, Err(Error::FBig));
    assert_eq!(find(&fs, fs.root(), "g"), None);
}

#[test]
fn a_handle_survives_renames_and_is_stale_forever_after_the_removal() {
    let mut fs = fs();
    let root = fs.root();
    let other = directory(&mut fs, root, "d");
    let file = file(&mut fs, "f");
    fs.rename((root, b"f"), (other, b"g"), &ROOT, at(9)).result.unwrap();
    assert!(fs.getattr(file).is_ok());
    fs.remove(other, b"g", &ROOT, at(10)).result.unwrap();
    assert_eq!(fs.getattr(file), Err(Error::Stale));
    let again = file_in(&mut fs, root, "h").handle;
    assert_eq!(again.fileid, file.fileid, "the number is reused");
    assert_eq!(fs.getattr(file), Err(Error::Stale));
    let answer = fs.setattr(file, &size(0), None, &ROOT, at(11));
    assert_eq!((answer.result, answer.wcc.before), (Err(Error::Stale), None));
}

#[test]
fn handles_of_another_or_an_earlier_volume_are_stale() {
    let mut one = fs();
    let handle = file(&mut one, "f");
    assert_eq!(one.getattr(Handle { fsid: 43, ..handle }), Err(Error::Stale));
    assert_eq!(one.getattr(Handle { fileid: 0, ..handle }), Err(Error::Stale));
    assert_eq!(one.getattr(Handle { fileid: u64::MAX, ..handle }), Err(Error::Stale));
    let mut other = FileSystem::new(Options { instance: 99, ..options() });
    file(&mut other, "f");
    assert_eq!(other.getattr(handle), Err(Error::Stale));
}

#[test]
fn fsstat_reports_the_quota_and_its_free_part() {
    let mut fs = FileSystem::new(Options { inodes_max: 10, quota: Bytes::mib(1), ..options() });
    let root = fs.root();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, &[1; 5000]);
    let figures = fs.fsstat(root).unwrap();
    assert_eq!(figures.total, Bytes::mib(1));
    assert_eq!(figures.free, Bytes::new((1 << 20) - 8192));
    assert_eq!(figures.available, figures.free);
    assert_eq!((figures.files_total, figures.files_free), (10, 8));
    fs.set_quota(Bytes::kib(4));
    assert_eq!(fs.fsstat(root).unwrap().free, Bytes::ZERO);
}

#[test]
fn fsinfo_and_pathconf_report_the_limits() {
    let fs = fs();
    let info = fs.fsinfo(fs.root()).unwrap();
    assert_eq!((info.read_max, info.write_max), (1 << 20, 1 << 20));
    assert_eq!(info.properties, 0x1b);
    let names = fs.pathconf(fs.root()).unwrap();
    assert_eq!((names.links_max, names.name_max), (1000, 255));
}
