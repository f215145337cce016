//! Each procedure with each refusal of RFC 1813 that can be provoked.

use nfs3::arguments::*;
use nfs3::request::NfsArguments as A;
use nfs3::rpc::Credential;
use nfs3::types::nfsstat3 as S;
use nfs3::types::*;
use units::Bytes;

use crate::calls::*;
use crate::scene::{Scene, export, options, root, scene, scene_of, user};

/// A user who owns nothing.
fn alice() -> Credential<'static> {
    user(1000, 100, &[])
}

/// Makes a call as a user. It must be refused with `status`, change nothing, and return attributes.
#[track_caller]
fn assert_refused(scene: &mut Scene, user: Credential<'static>, arguments: A<'_>, status: S) {
    scene.credential = user;
    let call = format!("{arguments:?}");
    let outcome = scene.outcome(arguments);
    scene.credential = root();
    assert_eq!(outcome.status, status, "{call}");
    for wcc in &outcome.wcc {
        let (before, after) = (wcc.before.expect(&call), wcc.after.expect(&call));
        assert_eq!(before.size, after.size, "{call}");
        assert_eq!((before.mtime, before.ctime), (after.mtime, after.ctime), "{call}");
    }
    assert!(outcome.attributes.iter().all(Option::is_some), "{call} returns attributes");
}

#[test]
fn setting_attributes_without_permission_or_to_invalid_values_is_refused() {
    let mut scene = scene();
    let tree = scene.tree();
    let set = |set: sattr3| setattr(&tree.file, set);
    let time = set_time::SET_TO_CLIENT_TIME(nfstime3 { seconds: 1, nseconds: 0 });
    let no_time = set_time::SET_TO_CLIENT_TIME(nfstime3 { seconds: 1, nseconds: 1_000_000_000 });
    let of = |object, new_attributes| setattr(object, new_attributes);
    let owner = sattr3 { uid: Some(1000), ..sattr3::UNCHANGED };
    let size = |size| sattr3 { size: Some(size), ..sattr3::UNCHANGED };
    let now = sattr3 { mtime: set_time::SET_TO_SERVER_TIME, ..sattr3::UNCHANGED };
    for (user, arguments, status) in [
        (alice(), set(mode(0o777)), S::NFS3ERR_PERM),
        (alice(), set(owner), S::NFS3ERR_PERM),
        (alice(), set(sattr3 { mtime: time, ..sattr3::UNCHANGED }), S::NFS3ERR_PERM),
        (alice(), of(&tree.secret, now), S::NFS3ERR_ACCES),
        (alice(), of(&tree.secret, size(0)), S::NFS3ERR_ACCES),
        (root(), set(sattr3 { mtime: no_time, ..sattr3::UNCHANGED }), S::NFS3ERR_INVAL),
        (root(), of(&tree.fifo, size(1)), S::NFS3ERR_INVAL),
        (root(), of(&tree.dir, size(1)), S::NFS3ERR_ISDIR),
        (root(), set(size(u64::MAX)), S::NFS3ERR_FBIG),
    ] {
        assert_refused(&mut scene, user, arguments, status);
    }
    let ctime = scene.attributes(&tree.file).ctime;
    let guard = Some(nfstime3 { nseconds: ctime.nseconds + 1, ..ctime });
    let guarded = |guard| {
        let (object, new_attributes) = (tree.file.fh(), mode(0o600));
        A::SETATTR(SETATTR3args { object, new_attributes, guard })
    };
    assert_refused(&mut scene, root(), guarded(guard), S::NFS3ERR_NOT_SYNC);
    assert_eq!(scene.status(guarded(Some(ctime))), S::NFS3_OK);
    assert_refused(&mut scene, root(), guarded(Some(ctime)), S::NFS3ERR_NOT_SYNC);
}

#[test]
fn names_that_cannot_be_found_or_removed_are_refused() {
    let mut scene = scene();
    let tree = scene.tree();
    let long = "n".repeat(256);
    for (user, arguments, status) in [
        (root(), lookup(&tree.root, "none"), S::NFS3ERR_NOENT),
        (root(), lookup(&tree.file, "none"), S::NFS3ERR_NOTDIR),
        (root(), lookup(&tree.root, &long), S::NFS3ERR_NAMETOOLONG),
        (root(), lookup(&tree.root, ""), S::NFS3ERR_ACCES),
        (alice(), lookup(&tree.private, "inside"), S::NFS3ERR_ACCES),
        (root(), readlink(&tree.file), S::NFS3ERR_INVAL),
        (root(), remove(&tree.root, "none"), S::NFS3ERR_NOENT),
        (root(), remove(&tree.file, "none"), S::NFS3ERR_NOTDIR),
        (root(), remove(&tree.root, "dir"), S::NFS3ERR_ISDIR),
        (root(), remove(&tree.root, &long), S::NFS3ERR_NAMETOOLONG),
        (alice(), remove(&tree.private, "inside"), S::NFS3ERR_ACCES),
        (root(), rmdir(&tree.root, "none"), S::NFS3ERR_NOENT),
        (root(), rmdir(&tree.root, "file"), S::NFS3ERR_NOTDIR),
        (root(), rmdir(&tree.root, "full"), S::NFS3ERR_NOTEMPTY),
        (root(), rmdir(&tree.root, "."), S::NFS3ERR_INVAL),
        (root(), rmdir(&tree.root, ".."), S::NFS3ERR_EXIST),
        (root(), rmdir(&tree.file, "x"), S::NFS3ERR_NOTDIR),
        (root(), rmdir(&tree.root, &long), S::NFS3ERR_NAMETOOLONG),
        (alice(), rmdir(&tree.private, "inside"), S::NFS3ERR_ACCES),
    ] {
        assert_refused(&mut scene, user, arguments, status);
    }
}

#[test]
fn names_that_cannot_be_created_are_refused() {
    let mut scene = scene();
    let tree = scene.tree();
    let long = "n".repeat(256);
    let guarded = createhow3::GUARDED(sattr3::UNCHANGED);
    let bad_time = set_time::SET_TO_CLIENT_TIME(nfstime3 { seconds: 0, nseconds: u32::MAX });
    let bad = sattr3 { atime: bad_time, ..sattr3::UNCHANGED };
    let device = devicedata3 {
        dev_attributes: sattr3::UNCHANGED,
        spec: specdata3 { specdata1: 1, specdata2: 3 },
    };
    let fifo = mknoddata3::NF3FIFO(sattr3::UNCHANGED);
    let linked = symlinkdata3 { symlink_attributes: bad, symlink_data: filename3(b"x") };
    let huge = sattr3 { size: Some(u64::MAX), ..sattr3::UNCHANGED };
    for (user, arguments, status) in [
        (root(), create(&tree.root, "file", guarded), S::NFS3ERR_EXIST),
        (root(), create(&tree.root, "file", createhow3::EXCLUSIVE([1; 8])), S::NFS3ERR_EXIST),
        (root(), create(&tree.root, "dir", createhow3::UNCHECKED(bad)), S::NFS3ERR_INVAL),
        (root(), create(&tree.root, "dir", createhow3::UNCHECKED(huge)), S::NFS3ERR_EXIST),
        (root(), create(&tree.root, "x", createhow3::GUARDED(huge)), S::NFS3ERR_FBIG),
        (root(), create(&tree.file, "x", guarded), S::NFS3ERR_NOTDIR),
        (root(), create(&tree.root, &long, guarded), S::NFS3ERR_NAMETOOLONG),
        (root(), create(&tree.root, "a/b", guarded), S::NFS3ERR_INVAL),
        (alice(), create(&tree.private, "x", guarded), S::NFS3ERR_ACCES),
        (root(), mkdir(&tree.root, "file", sattr3::UNCHANGED), S::NFS3ERR_EXIST),
        (root(), mkdir(&tree.root, "..", sattr3::UNCHANGED), S::NFS3ERR_EXIST),
        (root(), mkdir(&tree.file, "x", sattr3::UNCHANGED), S::NFS3ERR_NOTDIR),
        (root(), mkdir(&tree.root, &long, sattr3::UNCHANGED), S::NFS3ERR_NAMETOOLONG),
        (root(), mkdir(&tree.root, "x", bad), S::NFS3ERR_INVAL),
        (alice(), mkdir(&tree.private, "x", sattr3::UNCHANGED), S::NFS3ERR_ACCES),
        (root(), symlink(&tree.root, "file", "x"), S::NFS3ERR_EXIST),
        (root(), symlink(&tree.root, "x", ""), S::NFS3ERR_INVAL),
        (root(), symlink(&tree.file, "x", "x"), S::NFS3ERR_NOTDIR),
        (root(), symlink(&tree.root, &long, "x"), S::NFS3ERR_NAMETOOLONG),
        (
            root(),
            A::SYMLINK(SYMLINK3args { r#where: at(&tree.root, "x"), symlink: linked }),
            S::NFS3ERR_INVAL,
        ),
        (alice(), symlink(&tree.private, "x", "x"), S::NFS3ERR_ACCES),
        (root(), mknod(&tree.root, "x", mknoddata3::NF3REG), S::NFS3ERR_BADTYPE),
        (root(), mknod(&tree.root, "x", mknoddata3::NF3DIR), S::NFS3ERR_BADTYPE),
        (root(), mknod(&tree.root, "x", mknoddata3::NF3LNK), S::NFS3ERR_BADTYPE),
        (root(), mknod(&tree.root, "file", fifo), S::NFS3ERR_EXIST),
        (root(), mknod(&tree.root, "x", mknoddata3::NF3FIFO(bad)), S::NFS3ERR_INVAL),
        (root(), mknod(&tree.file, "x", fifo), S::NFS3ERR_NOTDIR),
        (root(), mknod(&tree.root, &long, fifo), S::NFS3ERR_NAMETOOLONG),
        (alice(), mknod(&tree.root, "x", mknoddata3::NF3CHR(device)), S::NFS3ERR_PERM),
        (alice(), mknod(&tree.private, "x", fifo), S::NFS3ERR_ACCES),
    ] {
        assert_refused(&mut scene, user, arguments, status);
    }
}

#[test]
fn names_that_cannot_be_renamed_or_linked_are_refused() {
    let mut scene = scene();
    let tree = scene.tree();
    let long = "n".repeat(256);
    let (of_root, of_dir) = (|name| at(&tree.root, name), |name| at(&tree.dir, name));
    for (user, arguments, status) in [
        (root(), rename(of_root("none"), of_dir("x")), S::NFS3ERR_NOENT),
        (root(), rename(of_root("file"), of_root("dir")), S::NFS3ERR_EXIST),
        (root(), rename(of_root("dir"), of_root("file")), S::NFS3ERR_EXIST),
        (root(), rename(of_root("dir"), of_root("full")), S::NFS3ERR_EXIST),
        (root(), rename(of_root("dir"), of_dir("x")), S::NFS3ERR_INVAL),
        (root(), rename(of_root("."), of_root("x")), S::NFS3ERR_INVAL),
        (root(), rename(at(&tree.file, "x"), of_root("x")), S::NFS3ERR_NOTDIR),
        (root(), rename(of_root("file"), at(&tree.file, "x")), S::NFS3ERR_NOTDIR),
        (root(), rename(of_root("file"), of_root(&long)), S::NFS3ERR_NAMETOOLONG),
        (alice(), rename(at(&tree.private, "inside"), of_root("x")), S::NFS3ERR_ACCES),
        (alice(), rename(of_root("file"), at(&tree.private, "x")), S::NFS3ERR_ACCES),
        (root(), link(&tree.file, of_root("dir")), S::NFS3ERR_EXIST),
        (root(), link(&tree.dir, of_root("x")), S::NFS3ERR_INVAL),
        (root(), link(&tree.file, at(&tree.file, "x")), S::NFS3ERR_NOTDIR),
        (root(), link(&tree.file, of_root(&long)), S::NFS3ERR_NAMETOOLONG),
        (alice(), link(&tree.file, at(&tree.private, "x")), S::NFS3ERR_ACCES),
    ] {
        assert_refused(&mut scene, user, arguments, status);
    }
}

#[test]
fn data_that_cannot_be_read_or_written_is_refused() {
    let mut scene = scene();
    let tree = scene.tree();
    let unstable = |file, offset, data| write(file, offset, stable_how::UNSTABLE, data);
    let wrong_count = WRITE3args {
        file: tree.file.fh(),
        offset: 0,
        count: 9,
        stable: stable_how::UNSTABLE,
        data: Data(b"four"),
    };
    for (user, arguments, status) in [
        (alice(), read(&tree.secret, 0, 1), S::NFS3ERR_ACCES),
        (root(), read(&tree.fifo, 0, 1), S::NFS3ERR_INVAL),
        (root(), read(&tree.dir, 0, 1), S::NFS3ERR_ISDIR),
        (alice(), unstable(&tree.secret, 0, b"x"), S::NFS3ERR_ACCES),
        (root(), unstable(&tree.fifo, 0, b"x"), S::NFS3ERR_INVAL),
        (root(), unstable(&tree.dir, 0, b"x"), S::NFS3ERR_ISDIR),
        (root(), unstable(&tree.file, u64::MAX, b"x"), S::NFS3ERR_FBIG),
        (root(), unstable(&tree.file, 1 << 60, b"x"), S::NFS3ERR_FBIG),
        (root(), A::WRITE(wrong_count), S::NFS3ERR_INVAL),
        (root(), commit(&tree.fifo), S::NFS3ERR_INVAL),
        (root(), commit(&tree.dir), S::NFS3ERR_ISDIR),
        (alice(), readdir(&tree.private, 0, [0; 8], 4096), S::NFS3ERR_ACCES),
        (root(), readdir(&tree.file, 0, [0; 8], 4096), S::NFS3ERR_NOTDIR),
        (root(), readdir(&tree.root, 0, [0; 8], 100), S::NFS3ERR_TOOSMALL),
        (root(), readdir(&tree.root, 3, [9; 8], 4096), S::NFS3ERR_BAD_COOKIE),
        (alice(), readdirplus(&tree.private, (0, [0; 8]), 4096, 4096), S::NFS3ERR_ACCES),
        (root(), readdirplus(&tree.file, (0, [0; 8]), 4096, 4096), S::NFS3ERR_NOTDIR),
        (root(), readdirplus(&tree.root, (0, [0; 8]), 4096, 200), S::NFS3ERR_TOOSMALL),
        (root(), readdirplus(&tree.root, (3, [9; 8]), 4096, 4096), S::NFS3ERR_BAD_COOKIE),
    ] {
        assert_refused(&mut scene, user, arguments, status);
    }
}

#[test]
fn a_full_volume_refuses_new_files_and_data() {
    let inodes_max = 3;
    let files = files::FileSystem::new(files::Options { inodes_max, ..options("vol1") });
    let mut scene = scene_of([volume::exports::Export { files, ..export("vol1") }]);
    let top = scene.root_of("/vol1");
    let file = scene.file(&top, "a", 0o666);
    scene.file(&top, "b", 0o666);
    let made = |name| create(&top, name, createhow3::GUARDED(sattr3::UNCHANGED));
    for arguments in [
        made("c"),
        mkdir(&top, "c", sattr3::UNCHANGED),
        symlink(&top, "c", "text"),
        mknod(&top, "c", mknoddata3::NF3SOCK(sattr3::UNCHANGED)),
    ] {
        assert_refused(&mut scene, root(), arguments, S::NFS3ERR_NOSPC);
        let shortage = scene.performed.unwrap().shortage;
        assert_eq!(shortage, Some(volume::procedures::Shortage::Inodes));
    }
    scene.files("vol1").set_quota(Bytes::ZERO);
    let more = write(&file, 0, stable_how::FILE_SYNC, b"x");
    assert_refused(&mut scene, root(), more, S::NFS3ERR_DQUOT);
    assert_eq!(scene.status(remove(&top, "a")), S::NFS3_OK);
    assert_eq!(scene.status(made("c")), S::NFS3_OK);
}

#[test]
fn a_file_with_the_maximum_number_of_links_gets_no_more() {
    let links_max = 3;
    let files = files::FileSystem::new(files::Options { links_max, ..options("vol1") });
    let mut scene = scene_of([volume::exports::Export { files, ..export("vol1") }]);
    let top = scene.root_of("/vol1");
    let file = scene.file(&top, "a", 0o666);
    for name in ["b", "c"] {
        assert_eq!(scene.status(link(&file, at(&top, name))), S::NFS3_OK);
    }
    assert_refused(&mut scene, root(), link(&file, at(&top, "d")), S::NFS3ERR_MLINK);
    assert_eq!(scene.attributes(&file).nlink, 3);
}

#[test]
fn a_stale_handle_and_an_invalid_handle_have_different_errors() {
    let mut scene = scene();
    let top = scene.root_of("/vol1");
    let gone = scene.file(&top, "gone", 0o666);
    assert_eq!(scene.status(remove(&top, "gone")), S::NFS3_OK);
    // The inode number is reused, with another generation.
    let other = scene.file(&top, "other", 0o666);
    for arguments in one_of_each(&gone) {
        assert_eq!(scene.status(arguments), S::NFS3ERR_STALE, "{arguments:?}");
    }
    let mut bytes = other.fh().0.to_vec();
    bytes[9] ^= 1;
    let long = [7; 64];
    for bad in [&bytes[..], &bytes[..23], &[], &long] {
        let bad = Handle::new(bad).unwrap();
        for arguments in one_of_each(&bad) {
            assert_eq!(scene.status(arguments), S::NFS3ERR_BADHANDLE, "{arguments:?}");
            assert_eq!(scene.performed.unwrap().volume, None);
        }
        // The second handle of procedures with two.
        let moved = rename(at(&top, "other"), at(&bad, "x"));
        assert_eq!(scene.status(moved), S::NFS3ERR_BADHANDLE);
        assert_eq!(scene.status(link(&other, at(&bad, "x"))), S::NFS3ERR_BADHANDLE);
    }
    assert_eq!(scene.status(rename(at(&top, "other"), at(&gone, "x"))), S::NFS3ERR_STALE);
    assert_eq!(scene.status(link(&other, at(&gone, "x"))), S::NFS3ERR_STALE);
    // Handles of a removed volume are stale too.
    let index = scene.volume("vol1");
    scene.exports.remove(index).unwrap();
    assert_eq!(scene.status(getattr(&other)), S::NFS3ERR_STALE);
}

#[test]
fn rename_and_link_between_volumes_are_refused() {
    let mut scene = scene_of([export("vol1"), export("vol2")]);
    let (one, two) = (scene.root_of("/vol1"), scene.root_of("/vol2"));
    let file = scene.file(&one, "file", 0o666);
    let outcome = scene.outcome(rename(at(&one, "file"), at(&two, "file")));
    assert_eq!(outcome.status, S::NFS3ERR_XDEV);
    assert!(outcome.wcc[0].after.is_some());
    assert_eq!(scene.status(link(&file, at(&two, "file"))), S::NFS3ERR_XDEV);
    assert_eq!(scene.performed.unwrap().volume, Some(scene.volume("vol1")));
    assert_eq!(scene.status(lookup(&two, "file")), S::NFS3ERR_NOENT);
    assert_eq!(scene.performed.unwrap().volume, Some(scene.volume("vol2")));
}
