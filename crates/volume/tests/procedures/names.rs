//! Procedures on names and attributes that succeed.

use nfs3::arguments::*;
use nfs3::request::{NfsArguments as A, NfsResults as R};
use nfs3::results::*;
use nfs3::types::nfsstat3 as S;
use nfs3::types::*;

use crate::calls::*;
use crate::scene::{Scene, scene, user};

/// Looks a name up; its handle and attributes.
fn found(scene: &mut Scene, dir: &Handle, name: &str) -> (Handle, fattr3) {
    scene.nfs(lookup(dir, name), |results| match results {
        R::LOOKUP(Res3::Ok(ok)) => {
            assert!(ok.dir_attributes.is_some());
            (Handle::from(ok.object), ok.obj_attributes.unwrap())
        }
        other => panic!("{other:?}"),
    })
}

#[test]
fn lookup_finds_every_kind_of_object_by_name() {
    let mut scene = scene();
    let tree = scene.tree();
    for (name, handle, ftype) in [
        ("file", tree.file, ftype3::NF3REG),
        ("dir", tree.dir, ftype3::NF3DIR),
        ("full", tree.full, ftype3::NF3DIR),
        ("link", tree.link, ftype3::NF3LNK),
        ("fifo", tree.fifo, ftype3::NF3FIFO),
        (".", tree.root, ftype3::NF3DIR),
        ("..", tree.root, ftype3::NF3DIR),
    ] {
        let (found, attributes) = found(&mut scene, &tree.root, name);
        assert_eq!((found, attributes.ftype), (handle, ftype), "{name}");
        assert_eq!(scene.attributes(&handle), attributes);
    }
    assert_eq!(found(&mut scene, &tree.dir, "..").0, tree.root);
    scene.nfs(readlink(&tree.link), |results| match results {
        R::READLINK(Res3::Ok(ok)) => {
            assert_eq!(ok.data.0, b"file");
            assert_eq!(ok.symlink_attributes.unwrap().ftype, ftype3::NF3LNK);
        }
        other => panic!("{other:?}"),
    });
}

#[test]
fn a_device_keeps_its_numbers() {
    let mut scene = scene();
    let tree = scene.tree();
    let spec = specdata3 { specdata1: 259, specdata2: 7 };
    let device = devicedata3 { dev_attributes: mode(0o640), spec };
    for (name, what, ftype) in [
        ("character", mknoddata3::NF3CHR(device), ftype3::NF3CHR),
        ("block", mknoddata3::NF3BLK(device), ftype3::NF3BLK),
    ] {
        let handle = scene.create(mknod(&tree.root, name, what));
        let attributes = scene.attributes(&handle);
        assert_eq!((attributes.ftype, attributes.rdev, attributes.mode), (ftype, spec, 0o640));
    }
    let socket = scene.create(mknod(&tree.root, "socket", mknoddata3::NF3SOCK(mode(0o600))));
    assert_eq!(scene.attributes(&socket).ftype, ftype3::NF3SOCK);
}

#[test]
fn changes_of_a_directory_return_its_attributes_before_and_after() {
    let mut scene = scene();
    let tree = scene.tree();
    for arguments in [
        create(&tree.dir, "a", createhow3::GUARDED(sattr3::UNCHANGED)),
        mkdir(&tree.dir, "b", sattr3::UNCHANGED),
        symlink(&tree.dir, "c", "text"),
        mknod(&tree.dir, "d", mknoddata3::NF3FIFO(sattr3::UNCHANGED)),
        link(&tree.file, at(&tree.dir, "e")),
        rename(at(&tree.dir, "e"), at(&tree.dir, "f")),
        remove(&tree.dir, "f"),
        rmdir(&tree.dir, "b"),
    ] {
        let before = scene.attributes(&tree.dir);
        let outcome = scene.outcome(arguments);
        assert_eq!(outcome.status, S::NFS3_OK, "{arguments:?}");
        let (was, is) = (outcome.wcc[0].before.unwrap(), outcome.wcc[0].after.unwrap());
        assert_eq!((was.size, was.mtime, was.ctime), (before.size, before.mtime, before.ctime));
        assert!(is.ctime > was.ctime && is.mtime > was.mtime, "{arguments:?}");
        assert_eq!(is, scene.attributes(&tree.dir));
        assert!(outcome.attributes.iter().all(Option::is_some), "{arguments:?}");
    }
}

#[test]
fn a_repeated_exclusive_create_returns_the_same_file() {
    let mut scene = scene();
    let tree = scene.tree();
    let once = create(&tree.root, "once", createhow3::EXCLUSIVE(*b"verifier"));
    let first = scene.create(once);
    // With another xid, which the reply cache does not have.
    assert_eq!(scene.create(once), first);
    let other = create(&tree.root, "once", createhow3::EXCLUSIVE(*b"anotherv"));
    assert_eq!(scene.status(other), S::NFS3ERR_EXIST);
}

#[test]
fn an_unchecked_create_of_an_existing_file_sets_only_its_size() {
    let mut scene = scene();
    let tree = scene.tree();
    let set = sattr3 { size: Some(2), ..mode(0o600) };
    assert_eq!(scene.create(create(&tree.root, "file", createhow3::UNCHECKED(set))), tree.file);
    let attributes = scene.attributes(&tree.file);
    assert_eq!((attributes.size, attributes.mode), (2, 0o666));
}

#[test]
fn attributes_are_set_to_the_servers_or_the_clients_time() {
    let mut scene = scene();
    let tree = scene.tree();
    let time = nfstime3 { seconds: 77, nseconds: 999_999_999 };
    let set = sattr3 {
        mode: Some(0o4751),
        uid: Some(5),
        gid: Some(6),
        size: Some(9),
        atime: set_time::SET_TO_SERVER_TIME,
        mtime: set_time::SET_TO_CLIENT_TIME(time),
    };
    let outcome = scene.outcome(setattr(&tree.file, set));
    let now = nfstime3 { seconds: scene.seconds, nseconds: 0 };
    let is = outcome.wcc[0].after.unwrap();
    assert_eq!((is.mode, is.uid, is.gid, is.size), (0o4751, 5, 6, 9));
    assert_eq!((is.atime, is.mtime, is.ctime), (now, time, now));
    assert_eq!(scene.attributes(&tree.file), is);
}

#[test]
fn a_rename_replaces_an_existing_file() {
    let mut scene = scene();
    let tree = scene.tree();
    let other = scene.file(&tree.dir, "other", 0o600);
    let moved = rename(at(&tree.root, "file"), at(&tree.dir, "other"));
    let outcome = scene.outcome(moved);
    assert_eq!((outcome.status, outcome.wcc.len()), (S::NFS3_OK, 2));
    assert!(outcome.wcc.iter().all(|wcc| wcc.before.is_some() && wcc.after.is_some()));
    assert_eq!(found(&mut scene, &tree.dir, "other").0, tree.file);
    assert_eq!(scene.status(lookup(&tree.root, "file")), S::NFS3ERR_NOENT);
    assert_eq!(scene.status(getattr(&other)), S::NFS3ERR_STALE);
}

#[test]
fn access_follows_the_mode_for_owner_group_and_supplementary_groups() {
    let mut scene = scene();
    let tree = scene.tree();
    let set = sattr3 { uid: Some(10), gid: Some(20), ..mode(0o640) };
    assert_eq!(scene.status(setattr(&tree.file, set)), S::NFS3_OK);
    let all = 0x3f;
    let (change, read) = (ACCESS3_MODIFY | ACCESS3_EXTEND, ACCESS3_READ);
    for (user, bits) in [
        (user(10, 1, &[]), read | change),
        (user(11, 20, &[]), read),
        (user(11, 1, &[3, 20]), read),
        (user(11, 1, &[3]), 0),
    ] {
        scene.credential = user;
        scene.nfs(access(&tree.file, all), |results| match results {
            R::ACCESS(Res3::Ok(ok)) => assert_eq!(ok.access, bits, "{user:?}"),
            other => panic!("{other:?}"),
        });
    }
}

#[test]
fn the_null_procedure_does_nothing() {
    let mut scene = scene();
    scene.nfs(A::NULL(()), |results| assert_eq!(*results, R::NULL(())));
    assert_eq!(scene.performed.unwrap().volume, None);
}

#[test]
fn filesystem_information_follows_the_quota() {
    let mut scene = scene();
    let tree = scene.tree();
    let space = |scene: &mut Scene| {
        scene.nfs(fsstat(&tree.root), |results| match results {
            R::FSSTAT(Res3::Ok(ok)) => *ok,
            other => panic!("{other:?}"),
        })
    };
    let before = space(&mut scene);
    assert_eq!((before.tbytes, before.fbytes), (1 << 30, (1 << 30) - 4096));
    assert!(before.abytes <= before.fbytes && before.afiles == before.ffiles);
    scene.files("vol1").set_quota(units::Bytes::kib(8));
    let after = space(&mut scene);
    assert_eq!((after.tbytes, after.fbytes, after.abytes), (8192, 4096, 4096));
    scene.nfs(fsinfo(&tree.root), |results| match results {
        R::FSINFO(Res3::Ok(ok)) => {
            assert_eq!((ok.rtmax, ok.rtpref, ok.rtmult), (1 << 20, 64 << 10, 4096));
            assert_eq!((ok.wtmax, ok.wtpref, ok.wtmult), (1 << 20, 64 << 10, 4096));
            assert_eq!(ok.maxfilesize, 16 << 40);
            let all = FSF3_LINK | FSF3_SYMLINK | FSF3_HOMOGENEOUS | FSF3_CANSETTIME;
            assert_eq!(ok.properties, all);
        }
        other => panic!("{other:?}"),
    });
    scene.nfs(pathconf(&tree.file), |results| match results {
        R::PATHCONF(Res3::Ok(ok)) => {
            assert_eq!((ok.linkmax, ok.name_max), (1000, 255));
            assert!(ok.no_trunc && ok.chown_restricted && ok.case_preserving);
            assert!(!ok.case_insensitive);
        }
        other => panic!("{other:?}"),
    });
}
