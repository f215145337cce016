//! A volume with a storage: what is restored from its records and data.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use files::{DataId, Error, FileSystem, Options, Recovery, Stability, Storage};
use proptest::prelude::*;
use units::Bytes;

use crate::scene::*;
use crate::steps::{Step, apply, steps, tree};

const BLOCK: u64 = 4096;

/// A storage in memory with injectable failures.
#[derive(Debug, Default)]
struct MemoryStorage(Mutex<State>);

#[derive(Clone, Debug, Default)]
struct State {
    data: BTreeMap<DataId, Vec<u8>>,
    /// Written blocks, as a disk has them: a block stays after a truncation in its middle, even if
    /// the remaining bytes were never written.
    written: BTreeMap<DataId, BTreeSet<u64>>,
    removed: Vec<DataId>,
    batches: Vec<Vec<u8>>,
    fails: Option<Error>,
    full: bool,
}

impl MemoryStorage {
    fn fail(&self, with: Option<Error>) {
        self.0.lock().unwrap().fails = with;
    }

    fn state(&self) -> Result<std::sync::MutexGuard<'_, State>, Error> {
        let state = self.0.lock().unwrap();
        state.fails.map_or(Ok(()), Err)?;
        Ok(state)
    }
}

impl Storage for MemoryStorage {
    fn read(&self, data: DataId, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let state = self.state()?;
        let bytes = state.data.get(&data).and_then(|bytes| bytes.get(offset as usize..));
        let bytes = bytes.unwrap_or_default();
        let length = bytes.len().min(into.len());
        into[..length].copy_from_slice(&bytes[..length]);
        Ok(into.len())
    }

    fn open(&self, _: DataId) -> Result<(), Error> {
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.0.lock().unwrap().full
    }

    fn write(&self, data: DataId, offset: u64, bytes: &[u8], _: bool) -> Result<(), Error> {
        let mut state = self.state()?;
        assert!(!state.removed.contains(&data), "{data:?} was removed");
        let stored = state.data.entry(data).or_default();
        let end = offset as usize + bytes.len();
        stored.resize(stored.len().max(end), 0);
        stored[offset as usize..end].copy_from_slice(bytes);
        let blocks = offset / BLOCK..(end as u64).div_ceil(BLOCK);
        state.written.entry(data).or_default().extend(blocks);
        Ok(())
    }

    fn truncate(&self, data: DataId, size: u64) -> Result<(), Error> {
        let mut state = self.state()?;
        if let Some(stored) = state.data.get_mut(&data) {
            stored.truncate(size as usize);
        }
        if let Some(written) = state.written.get_mut(&data) {
            written.retain(|block| *block < size.div_ceil(BLOCK));
        }
        Ok(())
    }

    fn commit(&self, _: DataId) -> Result<(), Error> {
        self.state().map(|_| ())
    }

    fn remove(&self, data: DataId) {
        self.0.lock().unwrap().removed.push(data);
    }

    fn append(&self, records: &[u8], _: bool) -> Result<(), Error> {
        let mut state = self.state()?;
        state.batches.push(records.to_vec());
        for data in std::mem::take(&mut state.removed) {
            state.data.remove(&data);
            state.written.remove(&data);
        }
        Ok(())
    }

    fn rewrite(&self, batches: &mut dyn Iterator<Item = Vec<u8>>) -> Result<(), Error> {
        let mut state = self.state()?;
        state.batches = batches.collect();
        Ok(())
    }

    fn is_rewrite_due(&self) -> bool {
        self.0.lock().unwrap().batches.len() > 20
    }

    fn check_space(&self) -> Result<(), Error> {
        if self.0.lock().unwrap().full { Err(Error::NoSpc) } else { Ok(()) }
    }
}

fn stored(options: Options) -> (FileSystem, Arc<MemoryStorage>) {
    let storage = Arc::new(MemoryStorage::default());
    (FileSystem::new(options).store_in(storage.clone()).unwrap(), storage)
}

/// The file system as restored after a crash.
fn recovered(storage: &MemoryStorage, options: Options) -> FileSystem {
    let state = storage.0.lock().unwrap().clone();
    let mut recovery = Recovery::new(options);
    for batch in &state.batches {
        recovery.apply(batch).unwrap();
    }
    let mut fs = recovery.finish().unwrap();
    let files: Vec<(DataId, files::Stored)> = fs.data().collect();
    let (mut data, mut written) = (BTreeMap::new(), BTreeMap::new());
    for (id, stored) in files {
        if let Some(mut bytes) = state.data.get(&id).cloned() {
            bytes.truncate(stored.size as usize);
            let mut blocks = state.written[&id].clone();
            blocks.retain(|block| *block < (bytes.len() as u64).div_ceil(BLOCK));
            let end = |block: u64| ((block + 1) * BLOCK).min(bytes.len() as u64);
            let ranges = blocks.iter().map(|block| block * BLOCK..end(*block));
            let ranges: Vec<std::ops::Range<u64>> = ranges.collect();
            fs.add_stored_ranges(id, &ranges);
            data.insert(id, bytes);
            written.insert(id, blocks);
        }
    }
    let again = Arc::new(MemoryStorage(Mutex::new(State { data, written, ..State::default() })));
    fs.store_in(again).unwrap()
}

fn later() -> Options {
    Options { fsid: 1, instance: 99, root: (7, 7, 0), made: at(77), ..options() }
}

/// Everything that a client can see of every object, by its handle.
fn everything(fs: &FileSystem) -> Vec<(files::Handle, files::Attributes, u64)> {
    let mut all = vec![(fs.root(), fs.getattr(fs.root()).unwrap(), 0)];
    let mut at = 0;
    while let Some((directory, attributes, _)) = all.get(at).copied() {
        at += 1;
        if attributes.kind == files::Kind::Directory {
            let page = fs.readdirplus(directory, 2, page_verifier(fs), 65_536, 65_536, &ROOT);
            for plus in page.unwrap().entries {
                let object = plus.object.unwrap();
                all.push((object.handle, object.attributes, plus.entry.cookie));
            }
        }
    }
    all
}

fn page_verifier(fs: &FileSystem) -> [u8; 8] {
    fs.readdir(fs.root(), 0, [0; 8], 4096, &ROOT).unwrap().verifier
}

#[test]
fn handles_cookies_and_their_verifier_survive_a_restart_and_the_write_verifier_changes() {
    let (mut fs, storage) = stored(options());
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    let file = file_in(&mut fs, inner, "f").handle;
    write(&mut fs, file, 5000, &[3; 10_000]);
    fs.sync().unwrap();
    let again = recovered(&storage, later());
    again.check();
    assert_eq!(everything(&again), everything(&fs));
    assert_eq!(page_verifier(&again), page_verifier(&fs));
    assert_eq!(text(&again, file), text(&fs, file));
    assert_eq!((again.root(), again.used()), (fs.root(), fs.used()));
    assert_ne!(again.write_verifier(), fs.write_verifier());
}

#[test]
fn a_handle_of_a_removed_file_is_stale_after_a_restart_even_if_its_number_is_reused() {
    let (mut fs, storage) = stored(options());
    let removed = file(&mut fs, "removed");
    fs.remove(fs.root(), b"removed", &ROOT, at(3)).result.unwrap();
    fs.sync().unwrap();
    let mut again = recovered(&storage, later());
    assert_eq!(again.getattr(removed), Err(Error::Stale));
    let new = file(&mut again, "new");
    assert_eq!(new.fileid, removed.fileid);
    assert_eq!(again.getattr(removed), Err(Error::Stale));
}

#[test]
fn changes_since_the_last_sync_are_lost_completely() {
    let (mut fs, storage) = stored(options());
    file(&mut fs, "kept");
    fs.sync().unwrap();
    let before = tree(&fs);
    let lost = file(&mut fs, "lost");
    fs.rename((fs.root(), b"kept"), (fs.root(), b"other"), &ROOT, at(4)).result.unwrap();
    let again = recovered(&storage, later());
    assert_eq!(tree(&again), before);
    assert_eq!(again.getattr(lost), Err(Error::Stale));
}

#[test]
fn a_write_that_the_storage_refuses_fails_and_does_not_change_the_file() {
    for error in [Error::NoSpc, Error::Io] {
        let (mut fs, storage) = stored(options());
        let file = file(&mut fs, "f");
        write(&mut fs, file, 0, b"abc");
        let before = fs.getattr(file);
        storage.fail(Some(error));
        let refused = fs.write(file, 0, b"xyz", Stability::FileSync, &ROOT, at(9)).result;
        assert_eq!(refused.err(), Some(error));
        storage.fail(None);
        assert_eq!((fs.getattr(file), text(&fs, file)), (before, b"abc".to_vec()));
        fs.check();
        fs.sync().unwrap();
    }
}

#[test]
fn a_failed_commit_changes_the_verifier_so_that_clients_write_again() {
    let (mut fs, storage) = stored(options());
    let file = file(&mut fs, "f");
    let written = fs.write(file, 0, b"abc", Stability::Unstable, &ROOT, at(4)).result.unwrap();
    assert_eq!(written.committed, Stability::Unstable);
    storage.fail(Some(Error::Io));
    assert_eq!(fs.commit(file, 0, 0).result, Err(Error::Io));
    storage.fail(None);
    assert_ne!(fs.commit(file, 0, 0).result, Ok(written.verifier));
}

#[test]
fn after_a_failed_sync_changes_are_refused_and_reads_continue() {
    let (mut fs, storage) = stored(options());
    let kept = file(&mut fs, "f");
    write(&mut fs, kept, 0, b"abc");
    fs.sync().unwrap();
    file(&mut fs, "g");
    storage.fail(Some(Error::Io));
    assert_eq!(fs.sync(), Err(Error::Io));
    storage.fail(None);
    assert_eq!(fs.sync(), Err(Error::Io));
    let root = fs.root();
    assert_eq!(fs.remove(root, b"f", &ROOT, at(5)).result, Err(Error::Io));
    assert_eq!(fs.setattr(kept, &mode(0), None, &ROOT, at(5)).result, Err(Error::Io));
    let written = fs.write(kept, 0, b"x", Stability::Unstable, &ROOT, at(5)).result;
    assert_eq!(written.err(), Some(Error::Io));
    assert_eq!(text(&fs, kept), b"abc");
}

#[test]
fn without_space_for_records_nothing_can_be_created_and_removing_stays_possible() {
    let (mut fs, storage) = stored(options());
    let root = fs.root();
    let old = file(&mut fs, "f");
    storage.0.lock().unwrap().full = true;
    let created = fs.mkdir(root, b"d", &mode(0o777), &ROOT, at(3)).result;
    assert_eq!(created, Err(Error::NoSpc));
    let linked = fs.link(old, root, b"l", &ROOT, at(3)).result;
    assert_eq!(linked, Err(Error::NoSpc));
    assert_eq!(fs.remove(root, b"f", &ROOT, at(3)).result, Ok(()));
    fs.sync().unwrap();
}

#[test]
fn incomplete_and_unknown_records_are_reported() {
    let (mut fs, storage) = stored(options());
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    file_in(&mut fs, inner, "f");
    fs.sync().unwrap();
    let batches = storage.0.lock().unwrap().batches.clone();
    let damage = |batches: &[Vec<u8>]| {
        let mut recovery = Recovery::new(later());
        let applied = batches.iter().try_for_each(|batch| recovery.apply(batch));
        applied.and_then(|()| recovery.finish().map(drop)).expect_err("it is damaged").to_string()
    };
    assert_eq!(damage(&[]), "no record identifies the volume");
    assert_eq!(damage(&batches[1..]), "no record identifies the volume");
    let mut foreign = batches.clone();
    foreign.push(vec![200]);
    assert_eq!(damage(&foreign), "a record of kind 200, which this version does not know");
    let mut cut = batches.clone();
    cut.last_mut().unwrap().pop();
    assert_eq!(damage(&cut), "an incomplete record");
}

proptest! {
    #[test]
    fn after_each_sync_the_storage_has_the_whole_tree(
        steps in proptest::collection::vec((steps(), 0..3u8), 1..60)
    ) {
        let limits = Options { quota: Bytes::mib(1), ..options() };
        let (mut fs, storage) = stored(limits);
        let mut memory = FileSystem::new(limits);
        for (step, what) in &steps {
            let stability = if *what == 0 { Stability::FileSync } else { Stability::Unstable };
            let result = apply(&mut fs, step, stability);
            prop_assert_eq!(result, apply(&mut memory, step, stability));
            prop_assert_eq!(fs.used(), memory.used());
            if *what < 2 {
                fs.sync().unwrap();
                let again = recovered(&storage, later());
                again.check();
                prop_assert_eq!(everything(&again), everything(&fs));
                prop_assert_eq!(tree(&again), tree(&memory));
                prop_assert_eq!(again.used(), memory.used());
            }
            fs.check();
        }
        prop_assert_eq!(everything(&fs), everything(&memory));
    }
}

#[test]
fn a_block_truncated_to_its_hole_still_counts_after_a_restart() {
    let (mut fs, storage) = stored(options());
    for step in [
        Step::Create("c".to_owned()),
        Step::Write("c".to_owned(), 9111, 1, 1),
        Step::Truncate("c".to_owned(), 8193),
    ] {
        apply(&mut fs, &step, Stability::FileSync).unwrap();
    }
    fs.sync().unwrap();
    assert_eq!(everything(&recovered(&storage, later())), everything(&fs));
}
