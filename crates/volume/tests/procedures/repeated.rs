//! The duplicate request cache: a call that must not be done twice is answered as the first time.

use std::sync::{Arc, Mutex};

use files::{DataId, Error, FileSystem, Storage};
use nfs3::arguments::*;
use nfs3::request::Arguments;
use nfs3::types::nfsstat3 as S;
use nfs3::types::*;
use volume::exports::{Export, Shortage};

use crate::calls::*;
use crate::scene::{export, options, peer, scene, scene_of};

#[test]
fn a_repeated_call_that_changes_names_gets_its_first_reply_from_any_connection() {
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
        // Refusals too.
        remove(&tree.dir, "f"),
    ] {
        let arguments = Arguments::Nfs(arguments);
        scene.peer = peer("127.0.0.1:1000");
        let first = scene.call(&arguments);
        let done = scene.performed.unwrap();
        assert!(!done.replayed, "{arguments:?}");
        let before = scene.attributes(&tree.dir);
        scene.xid -= 1;
        scene.peer = peer("127.0.0.1:1001");
        assert_eq!(scene.send(&arguments), first, "{arguments:?}");
        let again = scene.performed.unwrap();
        assert!(again.replayed, "{arguments:?}");
        assert_eq!((again.failed, again.volume), (done.failed, done.volume));
        scene.xid += 1;
        assert_eq!(scene.attributes(&tree.dir), before, "done once");
    }
}

#[test]
fn calls_that_may_be_repeated_are_done_again() {
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
fn another_client_xid_or_argument_makes_another_call() {
    let mut scene = scene();
    let tree = scene.tree();
    let made = |name| create(&tree.dir, name, createhow3::GUARDED(sattr3::UNCHANGED));
    let again = Arguments::Nfs(made("a"));
    scene.call(&again);
    let status = |body: Vec<u8>| S(u32::from_be_bytes(body[..4].try_into().unwrap()));
    scene.peer = peer("10.0.0.1:1000");
    assert_eq!(status(scene.send(&again)), S::NFS3ERR_EXIST, "another client");
    scene.peer = peer("127.0.0.1:1000");
    assert_eq!(status(scene.send(&Arguments::Nfs(made("b")))), S::NFS3_OK, "other arguments");
    assert_eq!(status(scene.send(&again)), S::NFS3_OK, "still known");
    assert_eq!(status(scene.call(&again)), S::NFS3ERR_EXIST, "another xid");
}

#[test]
fn volumes_remember_calls_apart() {
    let mut scene = scene_of([export("vol1"), export("vol2")]);
    let (one, two) = (scene.root_of("/vol1"), scene.root_of("/vol2"));
    let made = |root| create(root, "a", createhow3::GUARDED(sattr3::UNCHANGED));
    scene.call(&Arguments::Nfs(made(&one)));
    scene.send(&Arguments::Nfs(made(&two)));
    assert!(!scene.performed.unwrap().replayed);
    scene.send(&Arguments::Nfs(made(&one)));
    assert!(scene.performed.unwrap().replayed);
}

#[test]
fn the_cache_is_bounded_and_forgets_the_oldest() {
    let mut scene = scene();
    let tree = scene.tree();
    let first = scene.xid + 1;
    let setting = setattr(&tree.file, mode(0o600));
    for _ in 0..20_000 {
        assert_eq!(scene.status(setting), S::NFS3_OK);
    }
    let last = scene.xid;
    for (xid, known) in [(last, true), (last - 10_000, true), (first, false)] {
        scene.xid = xid;
        scene.send(&Arguments::Nfs(setting));
        assert_eq!(scene.performed.unwrap().replayed, known, "xid {xid} of {first} to {last}");
    }
}

/// Keeps nothing, and fails with this error if there is one.
#[derive(Debug, Default)]
struct Broken(Mutex<Option<Error>>);

impl Broken {
    fn answer(&self) -> Result<(), Error> {
        self.0.lock().unwrap().map_or(Ok(()), Err)
    }

    fn fail_with(&self, error: Error) {
        *self.0.lock().unwrap() = Some(error);
    }
}

impl Storage for Broken {
    fn read(&self, _: DataId, _: u64, into: &mut [u8]) -> Result<usize, Error> {
        self.answer().map(|()| into.len())
    }

    fn open(&self, _: DataId) -> Result<(), Error> {
        self.answer()
    }

    fn is_full(&self) -> bool {
        self.answer() == Err(Error::NoSpc)
    }

    fn write(&self, _: DataId, _: u64, _: &[u8], _: bool) -> Result<(), Error> {
        self.answer()
    }

    fn cut(&self, _: DataId, _: u64) -> Result<(), Error> {
        self.answer()
    }

    fn commit(&self, _: DataId) -> Result<(), Error> {
        self.answer()
    }

    fn forget(&self, _: DataId) {}

    fn append(&self, _: &[u8], _: bool) -> Result<(), Error> {
        self.answer()
    }

    fn replace(&self, _: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error> {
        self.answer()
    }

    fn wants_replacing(&self) -> bool {
        false
    }

    fn room(&self) -> Result<(), Error> {
        self.answer()
    }
}

#[test]
fn a_reply_is_not_given_again_when_what_it_promised_could_not_be_kept() {
    let broken = Arc::new(Broken::default());
    let files = FileSystem::new(options("vol1"));
    let files = files.keep_in(Arc::clone(&broken) as Arc<dyn Storage>).unwrap();
    let mut scene = scene_of([Export { files, ..export("vol1") }]);
    let root = scene.root_of("/vol1");
    let made = Arguments::Nfs(create(&root, "a", createhow3::GUARDED(sattr3::UNCHANGED)));
    let first = scene.call(&made);
    assert_eq!(first[..4], [0; 4], "done in memory");
    broken.fail_with(Error::Io);
    assert_eq!(scene.files("vol1").sync(), Err(Error::Io), "and not kept");
    let again = scene.send(&made);
    assert_eq!(S(u32::from_be_bytes(again[..4].try_into().unwrap())), S::NFS3ERR_IO);
    let performed = scene.performed.unwrap();
    assert!(performed.failed && !performed.replayed);
}

#[test]
fn a_full_disk_is_not_reported_as_a_lack_of_memory() {
    let broken = Arc::new(Broken::default());
    let files = FileSystem::new(options("vol1"));
    let files = files.keep_in(Arc::clone(&broken) as Arc<dyn Storage>).unwrap();
    let mut scene = scene_of([Export { files, ..export("vol1") }]);
    let root = scene.root_of("/vol1");
    broken.fail_with(Error::NoSpc);
    let refused = scene.status(create(&root, "a", createhow3::GUARDED(sattr3::UNCHANGED)));
    assert_eq!(refused, S::NFS3ERR_NOSPC);
    assert_eq!(scene.performed.unwrap().shortage, Some(Shortage::Disk));
}
