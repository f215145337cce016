//! Failures of system calls.

use std::sync::{Arc, Mutex};

use files::{Caller, Error, FileSystem, Handle, How, Options, SetAttributes, Stability, Time};

use crate::Directory;
use crate::host::Call;
use crate::host::faults::FAULT;

const ROOT: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
const NOW: Time = Time { seconds: 5, nanoseconds: 0 };
const EIO: i32 = 5;
const ENOSPC: i32 = 28;
const EDQUOT: i32 = 122;

struct Scene {
    fs: FileSystem,
    file: Handle,
    logged: Arc<Mutex<Vec<String>>>,
    folder: tempfile::TempDir,
    directory: Directory,
}

fn options() -> Options {
    Options {
        fsid: 1,
        instance: 1,
        quota: units::Bytes::gib(1),
        memory_max: units::Bytes::gib(1),
        inodes_max: 1000,
        file_size_max: units::Bytes::gib(1),
        links_max: 100,
        unstable: files::Unstable::Kept,
        transfer_max: 1 << 20,
        root: (0, 0, 0o755),
        made: NOW,
    }
}

fn scene() -> Scene {
    let folder = tempfile::tempdir().unwrap();
    let logged = Arc::new(Mutex::new(Vec::new()));
    let lines = Arc::clone(&logged);
    let log = move |line: &str| lines.lock().unwrap().push(line.to_owned());
    let directory = Directory::open(&folder.path().join("new"), log).unwrap();
    let mut fs = directory.volume("v", options()).unwrap();
    let how = How::Guarded(SetAttributes::default());
    let file = fs.create(fs.root(), b"f", how, &ROOT, NOW).result.unwrap().handle;
    fs.write(file, 0, &[1; 8192], Stability::FileSync, &ROOT, NOW).result.unwrap();
    fs.sync().unwrap();
    Scene { fs, file, logged, folder, directory }
}

impl Scene {
    fn write(&mut self, stability: Stability) -> Result<(), Error> {
        self.fs.write(self.file, 4096, &[2; 8192], stability, &ROOT, NOW).result.map(drop)
    }

    /// Creates files and writes to each; [`Scene::file`] becomes the last of them.
    fn write_others(&mut self, count: u32, stability: Stability) {
        for number in 0..count {
            let how = How::Guarded(SetAttributes::default());
            let name = format!("file {number}");
            let created = self.fs.create(self.fs.root(), name.as_bytes(), how, &ROOT, NOW);
            self.file = created.result.unwrap().handle;
            self.write(stability).unwrap();
        }
    }
}

#[test]
fn a_full_disk_is_nospc_a_failing_one_is_io_and_writes_succeed_after_the_fault() {
    for (errno, error) in [(ENOSPC, Error::NoSpc), (EDQUOT, Error::NoSpc), (EIO, Error::Io)] {
        let mut scene = scene();
        let before = scene.fs.getattr(scene.file);
        FAULT.set(Some((Call::Write, errno)));
        for _ in 0..3 {
            assert_eq!(scene.write(Stability::Unstable), Err(error));
        }
        FAULT.set(None);
        assert_eq!(scene.logged.lock().unwrap().len(), 1, "logged once");
        assert_eq!(scene.fs.getattr(scene.file), before);
        assert_eq!(scene.write(Stability::FileSync), Ok(()));
        scene.fs.sync().unwrap();
        scene.fs.check();
    }
}

#[test]
fn a_failed_read_is_io() {
    let scene = scene();
    FAULT.set(Some((Call::Read, EIO)));
    assert_eq!(scene.fs.read(scene.file, 0, 10, &ROOT).err(), Some(Error::Io));
    FAULT.set(None);
    assert!(scene.fs.read(scene.file, 0, 10, &ROOT).is_ok());
    let logged = scene.logged.lock().unwrap();
    assert!(logged[0].contains("read a file's data in ") && logged[0].contains("os error 5"));
}

#[test]
fn a_failed_commit_is_io_and_changes_the_verifier() {
    let mut scene = scene();
    scene.write(Stability::Unstable).unwrap();
    let verifier = scene.fs.write_verifier();
    FAULT.set(Some((Call::SyncData, EIO)));
    assert_eq!(scene.fs.commit(scene.file, 0, 0).result, Err(Error::Io));
    FAULT.set(None);
    assert_ne!(scene.fs.write_verifier(), verifier);
    scene.fs.sync().unwrap();
}

#[test]
fn a_stable_write_that_cannot_be_made_durable_fails_the_sync_and_every_later_change() {
    for call in [Call::SyncData, Call::Append, Call::SyncJournal] {
        let mut scene = scene();
        scene.write(Stability::DataSync).unwrap();
        FAULT.set(Some((call, EIO)));
        assert_eq!(scene.fs.sync(), Err(Error::Io), "{call:?}");
        FAULT.set(None);
        assert_eq!(scene.write(Stability::Unstable), Err(Error::Io));
        assert_eq!(scene.fs.sync(), Err(Error::Io));
        assert!(scene.fs.read(scene.file, 0, 10, &ROOT).is_ok());
    }
}

#[test]
fn a_turn_syncs_each_file_once_and_syncs_nothing_without_stable_writes() {
    let mut scene = scene();
    scene.write(Stability::Unstable).unwrap();
    for call in [Call::SyncData, Call::SyncJournal] {
        FAULT.set(Some((call, EIO)));
        scene.fs.sync().unwrap();
    }
    FAULT.set(None);
    for _ in 0..100 {
        scene.write(Stability::FileSync).unwrap();
    }
    scene.fs.sync().unwrap();
    scene.fs.commit(scene.file, 0, 0).result.unwrap();
    FAULT.set(Some((Call::SyncData, EIO)));
    assert!(scene.fs.commit(scene.file, 0, 0).result.is_ok(), "it is already durable");
    FAULT.set(None);
}

/// The bytes of the file after a crash at this point.
fn after_a_crash(scene: Scene) -> Vec<u8> {
    let Scene { fs, file, folder, directory, .. } = scene;
    drop((fs, directory));
    let directory = Directory::open(&folder.path().join("new"), |_| {}).unwrap();
    let fs = directory.volume("v", options()).unwrap();
    fs.check();
    fs.read(file, 0, 1 << 20, &ROOT).unwrap().pieces.collect::<Vec<_>>().concat()
}

#[test]
fn data_is_truncated_only_after_the_journal_has_the_new_size() {
    for call in [Call::Append, Call::SyncJournal] {
        let mut scene = scene();
        FAULT.set(Some((call, EIO)));
        let set = SetAttributes { size: Some(10), ..SetAttributes::default() };
        assert_eq!(scene.fs.setattr(scene.file, &set, None, &ROOT, NOW).result, Err(Error::Io));
        FAULT.set(None);
        let bytes = after_a_crash(scene);
        assert!(bytes.iter().all(|byte| *byte == 1), "{call:?}");
        // A record whose sync failed is in the page cache.
        assert_eq!(bytes.len(), if call == Call::Append { 8192 } else { 10 });
    }
}

#[test]
fn the_journal_never_mentions_stable_data_before_it_is_durable() {
    let mut scene = scene();
    scene.write(Stability::DataSync).unwrap();
    FAULT.set(Some((Call::SyncData, EIO)));
    assert_eq!(scene.fs.sync(), Err(Error::Io));
    FAULT.set(None);
    assert_eq!(after_a_crash(scene).len(), 8192, "the journal does not contain the write");
}

#[test]
fn without_space_for_the_journal_nothing_can_be_created() {
    let mut scene = scene();
    let how = How::Guarded(SetAttributes::default());
    FAULT.set(Some((Call::Reserve, ENOSPC)));
    let mut refused = None;
    // A batch has at least 100 bytes, and 8 MiB are reserved.
    for number in 0..200_000 {
        let name = "n".repeat(200) + &number.to_string();
        let created = scene.fs.create(scene.fs.root(), name.as_bytes(), how, &ROOT, NOW);
        if let Err(error) = created.result {
            refused = Some(error);
            break;
        }
        scene.fs.remove(scene.fs.root(), name.as_bytes(), &ROOT, NOW).result.unwrap();
        if number % 100 == 0 {
            scene.fs.sync().unwrap();
        }
    }
    assert_eq!(refused, Some(Error::NoSpc));
    assert_eq!(scene.fs.remove(scene.fs.root(), b"f", &ROOT, NOW).result, Ok(()));
    scene.fs.sync().unwrap();
    FAULT.set(None);
    assert!(scene.fs.create(scene.fs.root(), b"g", how, &ROOT, NOW).result.is_ok());
    scene.fs.sync().unwrap();
}

/// A volume with more files than can be open; the first of them is closed.
fn scene_with_many_files() -> (Scene, Handle) {
    let mut scene = scene();
    scene.directory.set_descriptors(8);
    let first = scene.file;
    scene.write_others(40, Stability::Unstable);
    scene.fs.sync().unwrap();
    (scene, first)
}

#[test]
fn a_lack_of_descriptors_is_jukebox_and_changes_nothing() {
    const EMFILE: i32 = 24;
    const ENFILE: i32 = 23;
    for errno in [EMFILE, ENFILE] {
        let (mut scene, first) = scene_with_many_files();
        scene.file = first;
        scene.write(Stability::Unstable).unwrap();
        let last = scene.fs.lookup(scene.fs.root(), b"file 0", &ROOT).unwrap().handle;
        let (verifier, before) = (scene.fs.write_verifier(), scene.fs.getattr(last));
        FAULT.set(Some((Call::Open, errno)));
        scene.file = last;
        for _ in 0..3 {
            assert_eq!(scene.write(Stability::FileSync), Err(Error::Jukebox));
            assert_eq!(scene.fs.read(last, 4096, 10, &ROOT).err(), Some(Error::Jukebox));
            assert_eq!(scene.fs.commit(last, 0, 0).result, Err(Error::Jukebox));
            let set = SetAttributes { size: Some(10), ..SetAttributes::default() };
            let set = scene.fs.setattr(last, &set, None, &ROOT, NOW).result;
            assert_eq!(set, Err(Error::Jukebox));
            scene.fs.sync().unwrap();
        }
        assert_eq!(scene.fs.write_verifier(), verifier, "nothing was lost");
        assert_eq!(scene.fs.getattr(last), before);
        // Creating and removing names needs no descriptors.
        let how = How::Guarded(SetAttributes::default());
        scene.fs.create(scene.fs.root(), b"new", how, &ROOT, NOW).result.unwrap();
        scene.fs.remove(scene.fs.root(), b"file 1", &ROOT, NOW).result.unwrap();
        scene.fs.sync().unwrap();
        FAULT.set(None);
        let logged = scene.logged.lock().unwrap().clone();
        assert!(logged.iter().any(|line| line.contains("ulimit -n")), "{logged:?}");
        assert_eq!(scene.write(Stability::FileSync), Ok(()));
        scene.fs.commit(last, 0, 0).result.unwrap();
        scene.fs.sync().unwrap();
        scene.fs.check();
    }
}

#[test]
fn the_sync_of_a_turn_opens_no_file() {
    let mut scene = scene();
    scene.directory.set_descriptors(2);
    scene.write_others(50, Stability::FileSync);
    FAULT.set(Some((Call::Open, 24)));
    scene.fs.sync().unwrap();
    FAULT.set(None);
}

#[test]
fn a_full_disk_is_reported_with_its_path_and_free_space() {
    let mut scene = scene();
    FAULT.set(Some((Call::Write, ENOSPC)));
    assert_eq!(scene.write(Stability::Unstable), Err(Error::NoSpc));
    assert!(scene.fs.is_storage_full());
    FAULT.set(None);
    let logged = scene.logged.lock().unwrap()[0].clone();
    let path = scene.folder.path().join("new/v");
    assert!(logged.contains(path.to_str().unwrap()) && logged.contains(" MiB free)"), "{logged}");
    assert_eq!(scene.write(Stability::Unstable), Ok(()));
    assert!(!scene.fs.is_storage_full());
}

#[test]
fn an_interrupted_write_is_not_damage() {
    // Interrupted before the data, and in the middle of it.
    for call in [Call::WriteSums, Call::Write] {
        let mut scene = scene();
        let set = SetAttributes { size: Some(12_288), ..SetAttributes::default() };
        scene.fs.setattr(scene.file, &set, None, &ROOT, NOW).result.unwrap();
        scene.fs.sync().unwrap();
        FAULT.set(Some((call, EIO)));
        assert_eq!(scene.write(Stability::Unstable), Err(Error::Io));
        FAULT.set(None);
        let path = scene.folder.path().join("new/v/data");
        let data = std::fs::read_dir(path).unwrap().next().unwrap().unwrap().path();
        if call == Call::Write {
            // The kernel wrote up to the middle of a block.
            let data = std::fs::File::options().write(true).open(data).unwrap();
            std::os::unix::fs::FileExt::write_all_at(&data, &[2; 2000], 4096).unwrap();
        }
        assert_eq!(after_a_crash(scene).len(), 12_288);
    }
}

#[test]
fn a_file_is_marked_dirty_once_before_its_first_write() {
    let mut scene = scene();
    scene.write(Stability::FileSync).unwrap();
    scene.fs.sync().unwrap();
    let Scene { fs, file, folder, directory, logged } = scene;
    drop(fs);
    let fs = directory.volume("v", options()).unwrap();
    let mut scene = Scene { fs, file, folder, directory, logged };
    FAULT.set(Some((Call::SyncSums, EIO)));
    assert_eq!(scene.write(Stability::Unstable), Err(Error::Io));
    FAULT.set(None);
    assert_eq!(scene.write(Stability::Unstable), Ok(()));
    FAULT.set(Some((Call::SyncSums, EIO)));
    assert_eq!(scene.write(Stability::Unstable), Ok(()), "it is already marked");
    FAULT.set(None);
}

#[test]
fn a_failed_early_sync_fails_the_sync_of_its_turn() {
    let mut scene = scene();
    scene.directory.set_descriptors(2);
    scene.write(Stability::FileSync).unwrap();
    let how = How::Guarded(SetAttributes::default());
    let other = scene.fs.create(scene.fs.root(), b"other", how, &ROOT, NOW).result.unwrap().handle;
    FAULT.set(Some((Call::SyncData, EIO)));
    scene.file = other;
    assert_eq!(scene.write(Stability::FileSync), Err(Error::Io));
    FAULT.set(None);
    assert_eq!(scene.fs.sync(), Err(Error::Io), "the first write belongs to this turn");
}

#[test]
fn a_host_file_removed_while_in_use_fails_reads_and_is_reported() {
    let mut scene = scene();
    scene.directory.set_descriptors(2);
    let data = scene.folder.path().join("new/v/data");
    let removed = std::fs::read_dir(data).unwrap().next().unwrap().unwrap().path();
    let how = How::Guarded(SetAttributes::default());
    let first = scene.file;
    let other = scene.fs.create(scene.fs.root(), b"other", how, &ROOT, NOW).result.unwrap().handle;
    scene.file = other;
    scene.write(Stability::FileSync).unwrap();
    scene.fs.sync().unwrap();
    std::fs::remove_file(&removed).unwrap();
    for _ in 0..2 {
        assert_eq!(scene.fs.read(first, 0, 10, &ROOT).err(), Some(Error::Io));
    }
    let logged = scene.logged.lock().unwrap().clone();
    let named: Vec<_> =
        logged.iter().filter(|line| line.contains(removed.to_str().unwrap())).collect();
    assert!(named.len() == 1 && named[0].contains("is missing"), "{logged:?}");
}
