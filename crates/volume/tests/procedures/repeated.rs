//! The duplicate request cache: repeated calls that are not idempotent get their first reply.

use std::sync::{Arc, Mutex};

use files::{DataId, Error, FileSystem, Storage};
use nfs3::arguments::*;
use nfs3::request::Arguments;
use nfs3::types::nfsstat3 as S;
use nfs3::types::*;
use volume::exports::Export;
use volume::procedures::Shortage;

use crate::calls::*;
use crate::scene::{export, options, peer, scene, scene_of};

#[test]
fn a_repeated_call_that_is_not_idempotent_gets_its_first_reply_on_any_connection() {
    let mut scene = scene();
    let tree = scene.tree();
    let set = sattr3 { size: Some(3), ..sattr3::UNCHANGED };
    for arguments in [
        setattr(&tree.file, set),
        create(&tree.dir, "a", createhow3::GUARDED(sattr3::UNCHANGED)),
        mkdir(&tree.dir, "b", sattr3::UNCHANGED),
        symlink(&tree.dir, "c", "text"),
        mknod(&tree.dir, "d", mknoddata3::NF3FIFO(sattr3::UNCHANGED)),
        link(&tree.file, at(&tree.dir, "e")),
        rename(at(&tree.dir, "e"), at(&tree.dir, "f")),
        remove(&tree.dir, "f"),
        rmdir(&tree.dir, "b"),
        // A refusal.
        remove(&tree.dir, "f"),
    ] {
        let arguments = Arguments::Nfs(arguments);
        scene.peer = peer("127.0.0.1:1000");
        let first = scene.call(&arguments);
        let performed = scene.performed.unwrap();
        assert!(!performed.replayed, "{arguments:?}");
        let before = scene.attributes(&tree.dir);
        scene.xid -= 1;
        scene.peer = peer("127.0.0.1:1001");
        assert_eq!(scene.send(&arguments), first, "{arguments:?}");
        let again = scene.performed.unwrap();
        assert!(again.replayed, "{arguments:?}");
        assert_eq!((again.failed, again.volume), (performed.failed, performed.volume));
        scene.xid += 1;
        assert_eq!(scene.attributes(&tree.dir), before, "performed once");
    }
}

#[test]
fn idempotent_calls_are_performed_again() {
    let mut scene = scene();
    let tree = scene.tree();
    let arguments = Arguments::Nfs(write(&tree.file, 0, stable_how::UNSTABLE, b"data"));
    scene.call(&arguments);
    let first = scene.attributes(&tree.file).ctime;
    scene.xid -= 1;
    scene.send(&arguments);
    assert!(!scene.performed.unwrap().replayed);
    assert!(scene.attributes(&tree.file).ctime > first);
}

#[test]
fn a_call_with_another_client_xid_or_argument_is_performed() {
    let mut scene = scene();
    let tree = scene.tree();
    let create = |name| create(&tree.dir, name, createhow3::GUARDED(sattr3::UNCHANGED));
    let repeated = Arguments::Nfs(create("a"));
    scene.call(&repeated);
    let status = |body: Vec<u8>| S(u32::from_be_bytes(body[..4].try_into().unwrap()));
    scene.peer = peer("10.0.0.1:1000");
    assert_eq!(status(scene.send(&repeated)), S::NFS3ERR_EXIST, "another client");
    scene.peer = peer("127.0.0.1:1000");
    assert_eq!(status(scene.send(&Arguments::Nfs(create("b")))), S::NFS3_OK, "other arguments");
    assert_eq!(status(scene.send(&repeated)), S::NFS3_OK, "still cached");
    assert_eq!(status(scene.call(&repeated)), S::NFS3ERR_EXIST, "another xid");
}

#[test]
fn each_volume_has_a_separate_cache() {
    let mut scene = scene_of([export("vol1"), export("vol2")]);
    let (one, two) = (scene.root_of("/vol1"), scene.root_of("/vol2"));
    let create = |root| create(root, "a", createhow3::GUARDED(sattr3::UNCHANGED));
    scene.call(&Arguments::Nfs(create(&one)));
    scene.send(&Arguments::Nfs(create(&two)));
    assert!(!scene.performed.unwrap().replayed);
    scene.send(&Arguments::Nfs(create(&one)));
    assert!(scene.performed.unwrap().replayed);
}

#[test]
fn the_cache_is_bounded_and_drops_the_oldest_call() {
    let mut scene = scene();
    let tree = scene.tree();
    let first = scene.xid + 1;
    let setting = setattr(&tree.file, mode(0o600));
    for _ in 0..20_000 {
        assert_eq!(scene.status(setting), S::NFS3_OK);
    }
    let last = scene.xid;
    for (xid, is_cached) in [(last, true), (last - 10_000, true), (first, false)] {
        scene.xid = xid;
        scene.send(&Arguments::Nfs(setting));
        assert_eq!(scene.performed.unwrap().replayed, is_cached, "xid {xid} of {first} to {last}");
    }
}

/// Storage that stores nothing, and fails with an error once one is set.
#[derive(Debug, Default)]
struct FailingStorage(Mutex<Option<Error>>);

impl FailingStorage {
    fn result(&self) -> Result<(), Error> {
        self.0.lock().unwrap().map_or(Ok(()), Err)
    }

    fn fail_with(&self, error: Error) {
        *self.0.lock().unwrap() = Some(error);
    }
}

impl Storage for FailingStorage {
    fn read(&self, _: DataId, _: u64, into: &mut [u8]) -> Result<usize, Error> {
        self.result().map(|()| into.len())
    }

    fn open(&self, _: DataId) -> Result<(), Error> {
        self.result()
    }

    fn is_full(&self) -> bool {
        self.result() == Err(Error::NoSpc)
    }

    fn write(&self, _: DataId, _: u64, _: &[u8], _: bool) -> Result<(), Error> {
        self.result()
    }

    fn truncate(&self, _: DataId, _: u64) -> Result<(), Error> {
        self.result()
    }

    fn commit(&self, _: DataId) -> Result<(), Error> {
        self.result()
    }

    fn remove(&self, _: DataId) {}

    fn append(&self, _: &[u8], _: bool) -> Result<(), Error> {
        self.result()
    }

    fn rewrite(&self, _: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error> {
        self.result()
    }

    fn is_rewrite_due(&self) -> bool {
        false
    }

    fn check_space(&self) -> Result<(), Error> {
        self.result()
    }
}

#[test]
fn a_cached_reply_is_not_repeated_if_storage_failed_meanwhile() {
    let storage = Arc::new(FailingStorage::default());
    let files = FileSystem::new(options("vol1"));
    let files = files.store_in(Arc::clone(&storage) as Arc<dyn Storage>).unwrap();
    let mut scene = scene_of([Export { files, ..export("vol1") }]);
    let root = scene.root_of("/vol1");
    let create = Arguments::Nfs(create(&root, "a", createhow3::GUARDED(sattr3::UNCHANGED)));
    let first = scene.call(&create);
    assert_eq!(first[..4], [0; 4], "performed in memory");
    storage.fail_with(Error::Io);
    assert_eq!(scene.files("vol1").sync(), Err(Error::Io), "not stored");
    let again = scene.send(&create);
    assert_eq!(S(u32::from_be_bytes(again[..4].try_into().unwrap())), S::NFS3ERR_IO);
    let performed = scene.performed.unwrap();
    assert!(performed.failed && !performed.replayed);
}

#[test]
fn a_full_disk_is_reported_as_a_shortage_of_disk() {
    let storage = Arc::new(FailingStorage::default());
    let files = FileSystem::new(options("vol1"));
    let files = files.store_in(Arc::clone(&storage) as Arc<dyn Storage>).unwrap();
    let mut scene = scene_of([Export { files, ..export("vol1") }]);
    let root = scene.root_of("/vol1");
    storage.fail_with(Error::NoSpc);
    let refused = scene.status(create(&root, "a", createhow3::GUARDED(sattr3::UNCHANGED)));
    assert_eq!(refused, S::NFS3ERR_NOSPC);
    assert_eq!(scene.performed.unwrap().shortage, Some(Shortage::Disk));
}
