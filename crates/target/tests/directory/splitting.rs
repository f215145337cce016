//! A fill that two hosts share: the same files as one host writes, and the same manifest.

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

use target::directory::TargetDirectory;
use target::fill::FillError;
use target::manifest::{DurableBytes, FileRecord, FileState, FilledBy, Manifest};
use target::refusal::{Overrides, Refusal};
use target::shared_directory::join;
use target::split_fill::{FillWatcher, MissingFile};

use crate::plans::{FILE_BYTES, fill, required, set};
use crate::test_volume::TestVolume;

const FILES: u32 = 5;

/// Collects what becomes durable, and passes on what another host made durable.
#[derive(Default)]
struct Watcher {
    durable: Vec<DurableBytes>,
    of_others: Vec<DurableBytes>,
}

impl FillWatcher for Watcher {
    fn progress(&mut self, _written_bytes: u64, _total_bytes: u64) {}

    fn durable(&mut self, files: &[DurableBytes]) -> Vec<DurableBytes> {
        self.durable.extend_from_slice(files);
        std::mem::take(&mut self.of_others)
    }
}

fn writers() -> [FilledBy; 2] {
    ["first", "second"].map(|host| FilledBy { host: host.to_owned(), boot_id: host.to_owned() })
}

/// The directory on the host that claimed it, and on another.
fn two_hosts(volume: &TestVolume) -> (TargetDirectory, TargetDirectory) {
    let first = volume.open_for(required(FILES), Overrides::default()).unwrap();
    let shared = first.share(volume.location(volume.path())).unwrap();
    let storage = first.storage().clone();
    let second = join(volume.location(volume.path()), &shared, required(FILES), storage).unwrap();
    (first, second)
}

fn indexes(missing: &[MissingFile], host: u32) -> Vec<u32> {
    missing.iter().map(|file| file.index).filter(|index| index % 2 == host).collect()
}

/// Both fill their parts; returns the bytes that each wrote.
fn fill_both(first: &mut TargetDirectory, second: &mut TargetDirectory) -> (u64, u64) {
    let missing = first.create_missing(&set(FILES), &writers(), &|| false).unwrap();
    second.join_fill(first.manifest().clone());
    let mut of_second = Watcher::default();
    let by_second =
        second.fill_files(&set(FILES), &indexes(&missing, 1), &|| false, &mut of_second).unwrap();
    let mut of_first = Watcher { of_others: of_second.durable, ..Watcher::default() };
    let by_first =
        first.fill_files(&set(FILES), &indexes(&missing, 0), &|| false, &mut of_first).unwrap();
    first.record_durable(&of_first.of_others).unwrap();
    (by_first, by_second)
}

fn stored(volume: &TestVolume) -> BTreeMap<String, FileRecord> {
    Manifest::load(&volume.our_directory()).unwrap().unwrap().files
}

fn content(volume: &TestVolume) -> Vec<Vec<u8>> {
    (0..FILES).map(|index| fs::read(volume.file(index)).unwrap()).collect()
}

#[test]
fn two_hosts_write_the_files_and_the_manifest_that_one_host_writes() {
    let (one, two) = (TestVolume::new(), TestVolume::new());
    fill(&mut one.open_for(required(FILES), Overrides::default()).unwrap(), &set(FILES));
    let (mut first, mut second) = two_hosts(&two);
    assert_eq!(fill_both(&mut first, &mut second), (3 * FILE_BYTES, 2 * FILE_BYTES));
    assert!(content(&one) == content(&two), "every byte is equal");
    let plain = |(name, mut record): (String, FileRecord)| {
        (record.identity, record.filled_by) = (None, None);
        (name, record)
    };
    let of_one: Vec<_> = stored(&one).into_iter().map(plain).collect();
    assert_eq!(stored(&two).into_iter().map(plain).collect::<Vec<_>>(), of_one);
    let by = |index: u32| stored(&two)[&set(FILES).file_name(index)].filled_by.clone().unwrap();
    assert_eq!([by(0).host, by(1).host, by(4).host], ["first", "second", "first"]);
    // Each reads what the other wrote.
    second.use_manifest(first.manifest().clone()).unwrap();
    second.check(&set(FILES)).unwrap();
    first.check(&set(FILES)).unwrap();
    assert_eq!(first.find_of_other_writer(&set(FILES), &writers()), None);
    let [a, b] = writers();
    let (index, by) = first.find_of_other_writer(&set(FILES), &[b, a]).expect("roles changed");
    assert_eq!((index, by.unwrap().host.as_str()), (0, "first"));
}

#[test]
fn what_another_host_wrote_before_the_fill_was_interrupted_is_not_written_again() {
    let volume = TestVolume::new();
    let (mut first, mut second) = two_hosts(&volume);
    let missing = first.create_missing(&set(FILES), &writers(), &|| false).unwrap();
    second.join_fill(first.manifest().clone());
    // A file and one of the three chunks of the next.
    let calls = AtomicU64::new(0);
    let stop = || calls.fetch_add(1, Ordering::Relaxed) >= 4;
    let mut watcher = Watcher::default();
    let outcome = second.fill_files(&set(FILES), &indexes(&missing, 1), &stop, &mut watcher);
    assert!(matches!(outcome, Err(FillError::Stopped)), "{outcome:?}");
    first.record_durable(&watcher.durable).unwrap();
    drop((first, second));
    let state = |index: u32| stored(&volume)[&set(FILES).file_name(index)].state;
    assert_eq!(
        [state(0), state(1), state(3)],
        [FileState::Filling, FileState::Complete, FileState::Filling]
    );
    let (mut first, mut second) = two_hosts(&volume);
    assert_eq!(
        fill_both(&mut first, &mut second),
        (3 * FILE_BYTES, FILE_BYTES - (1 << 20)),
        "only what is missing"
    );
    first.check(&set(FILES)).unwrap();
    assert_eq!(first.find_of_other_writer(&set(FILES), &writers()), None);
}

#[test]
fn a_file_that_two_hosts_wrote_has_no_known_writer_and_is_written_again_on_request() {
    let volume = TestVolume::new();
    let (mut first, mut second) = two_hosts(&volume);
    let missing = first.create_missing(&set(FILES), &writers(), &|| false).unwrap();
    second.join_fill(first.manifest().clone());
    let calls = AtomicU64::new(0);
    let stop = || calls.fetch_add(1, Ordering::Relaxed) >= 1;
    let mut watcher = Watcher::default();
    second.fill_files(&set(FILES), &indexes(&missing, 1), &stop, &mut watcher).unwrap_err();
    first.record_durable(&watcher.durable).unwrap();
    drop((first, second));
    // The next run has one host.
    let mut first = volume.open_for(required(FILES), Overrides::default()).unwrap();
    fill(&mut first, &set(FILES));
    let (index, by) = first.find_of_other_writer(&set(FILES), &writers()).expect("one host");
    assert_eq!((index, by), (0, None));
    first.discard_of_other_writers(&set(FILES), &writers()).unwrap();
    assert_eq!(first.missing(&set(FILES)), [0, 1, 2, 3, 4]);
}

#[test]
fn another_host_writes_no_manifest_and_only_files_that_it_recognises() {
    let volume = TestVolume::new();
    let (mut first, mut second) = two_hosts(&volume);
    let missing = first.create_missing(&set(FILES), &writers(), &|| false).unwrap();
    let before = stored(&volume);
    second.join_fill(first.manifest().clone());
    let mut watcher = Watcher::default();
    second.fill_files(&set(FILES), &indexes(&missing, 1), &|| false, &mut watcher).unwrap();
    assert_eq!(stored(&volume), before);
    // A user moved a file over our first one.
    let foreign = volume.path().join("thesis.txt");
    fs::write(&foreign, "years of work").unwrap();
    fs::rename(foreign, volume.file(1)).unwrap();
    second.join_fill(first.manifest().clone());
    let outcome = second.fill_files(&set(FILES), &[1], &|| false, &mut watcher);
    let refused = matches!(outcome, Err(FillError::Refused(Refusal::Replaced { .. })));
    assert!(refused, "{outcome:?}");
    assert_eq!(fs::read_to_string(volume.file(1)).unwrap(), "years of work");
}
