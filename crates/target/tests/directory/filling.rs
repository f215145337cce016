//! What a fill writes, what it keeps, and how it stops early.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};

use target::directory::TargetDirectory;
use target::existing::ExistingSet;
use target::fill::FillError;
use target::inventory::{RequiredFiles, ToWrite};
use target::manifest::{FileState, Manifest};
use target::refusal::{Overrides, Refusal};
use target::survey;
use workload::data::{DataPattern, TileFound};

use crate::plans::{DATA_SEED, FILE_BYTES, fill, required, set};
use crate::test_volume::TestVolume;

fn states(volume: &TestVolume) -> Vec<FileState> {
    let manifest = Manifest::load(&volume.our_directory()).unwrap().unwrap();
    manifest.files.values().map(|file| file.state).collect()
}

#[test]
fn every_byte_is_written_with_the_data_of_its_offset() {
    let volume = TestVolume::filled();
    every_tile_is_ours(&volume);
    assert_eq!(states(&volume), [FileState::Complete; 2]);
}

fn every_tile_is_ours(volume: &TestVolume) {
    let maker = set(2).tile_maker(DATA_SEED);
    let mut scratch = vec![0; 4096];
    for index in 0..2 {
        let data = fs::read(volume.file(index)).unwrap();
        assert_eq!(data.len() as u64, FILE_BYTES);
        for (tile, bytes) in data.chunks_exact(4096).enumerate() {
            let found = maker.inspect(index, tile as u64 * 4096, bytes, &mut scratch);
            assert_eq!(found, TileFound::Good { generation: 0 }, "tile {tile} of file {index}");
        }
    }
}

#[test]
fn no_file_is_sparse() {
    let volume = TestVolume::filled();
    for index in 0..2 {
        assert!(fs::metadata(volume.file(index)).unwrap().blocks() * 512 >= FILE_BYTES);
    }
}

#[test]
fn progress_increases_up_to_the_total() {
    let volume = TestVolume::new();
    let mut seen = Vec::new();
    let mut directory = volume.open().unwrap();
    let written =
        directory.fill(&set(2), &|| false, &mut |now, total| seen.push((now, total))).unwrap();
    assert_eq!(written, 2 * FILE_BYTES);
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "{seen:?}");
    assert_eq!(seen.last(), Some(&(written, written)));
}

#[test]
fn complete_files_are_reused() {
    let volume = TestVolume::filled();
    let before = fs::metadata(volume.file(0)).unwrap().modified().unwrap();
    let mut directory = volume.open().unwrap();
    assert_eq!(fill(&mut directory, &set(2)), 0);
    assert_eq!(fs::metadata(volume.file(0)).unwrap().modified().unwrap(), before);
}

#[test]
fn only_missing_files_are_written() {
    let volume = TestVolume::filled();
    fs::remove_file(volume.file(1)).unwrap();
    let mut directory = volume.open_for(required(3), Overrides::default()).unwrap();
    assert_eq!(directory.missing(&set(3)), [1, 2]);
    assert_eq!(fill(&mut directory, &set(3)), 2 * FILE_BYTES);
    directory.check(&set(3)).unwrap();
}

#[test]
fn data_of_another_seed_is_rewritten() {
    let volume = TestVolume::filled();
    let mut required = required(2);
    required.data_seed = DATA_SEED + 1;
    let mut directory = volume.open_for(required, Overrides::default()).unwrap();
    assert_eq!(fill(&mut directory, &set(2)), 2 * FILE_BYTES);
    directory.check(&set(2)).unwrap();
}

#[test]
fn reducible_data_and_small_tiles_are_filled_and_recognised() {
    let volume = TestVolume::new();
    let mut set = set(1);
    set.data = DataPattern { compressible_permille: 600, duplicate_permille: 300 };
    set.tile_bytes = 512;
    // The end of the file is neither at a page nor at a tile boundary.
    set.file_size_bytes = (1 << 20) + 512 + 100;
    let mut required = required(1);
    required.file_sets = vec![set.clone()];
    let mut directory = volume.open_for(required, Overrides::default()).unwrap();
    assert_eq!(fill(&mut directory, &set), set.file_size_bytes);
    assert_eq!(
        fs::metadata(volume.our_directory().join(set.file_name(0))).unwrap().len(),
        set.file_size_bytes
    );
    directory.check(&set).unwrap();
}

/// Stops a fill after it has begun `chunks` chunks of 1 MiB.
fn stop_after(directory: &mut TargetDirectory, chunks: u64) {
    let calls = AtomicU64::new(0);
    let stop = || calls.fetch_add(1, Ordering::Relaxed) >= chunks;
    let outcome = directory.fill(&set(2), &stop, &mut |_, _| {});
    assert!(matches!(outcome, Err(FillError::Stopped)), "{outcome:?}");
}

#[test]
fn a_stopped_fill_keeps_what_it_wrote_and_resumes_inside_the_file() {
    let volume = TestVolume::new();
    stop_after(&mut volume.open().unwrap(), 2);
    assert_eq!(states(&volume), [FileState::Filling; 2]);

    let survey =
        survey::survey(volume.location(volume.path()), required(2), Overrides::default()).unwrap();
    let left_bytes = 2 * FILE_BYTES - (2 << 20);
    let left = ToWrite { set: set(2), files: 2, bytes: left_bytes };
    let survey = survey.inspect().unwrap();
    assert_eq!(survey.to_write, [left]);
    let partial = ExistingSet { set: set(2), files: 0, bytes: 2 << 20, is_required: true };
    assert_eq!(survey.existing_sets().unwrap(), [partial]);

    let mut directory = volume.open().unwrap();
    assert_eq!(directory.missing(&set(2)), [0, 1]);
    assert_eq!(fill(&mut directory, &set(2)), left_bytes);
    every_tile_is_ours(&volume);
}

#[test]
fn a_stopped_fill_marks_finished_files_as_complete() {
    let volume = TestVolume::new();
    // The first file has two and a half chunks.
    stop_after(&mut volume.open().unwrap(), 4);
    assert_eq!(states(&volume), [FileState::Complete, FileState::Filling]);
    let mut directory = volume.open().unwrap();
    assert_eq!(fill(&mut directory, &set(2)), FILE_BYTES - (1 << 20));
    every_tile_is_ours(&volume);
}

#[test]
fn the_durable_part_of_a_stopped_fill_is_verified() {
    let volume = TestVolume::new();
    stop_after(&mut volume.open().unwrap(), 2);
    let file = fs::OpenOptions::new().write(true).open(volume.file(0)).unwrap();
    file.write_all_at(&[0; 4096], 0).unwrap();
    let survey =
        || survey::survey(volume.location(volume.path()), required(2), Overrides::default());
    let refusal = survey().unwrap().inspect().unwrap_err();
    assert!(matches!(refusal, Refusal::Zero { offset_bytes: 0, .. }), "{refusal}");

    let overrides = Overrides { refill: true, ..Overrides::default() };
    let survey = survey::survey(volume.location(volume.path()), required(2), overrides).unwrap();
    let all = ToWrite { set: set(2), files: 2, bytes: 2 * FILE_BYTES };
    assert_eq!(survey.inspect().unwrap().to_write, [all]);
    let mut directory = volume.open().unwrap();
    assert_eq!(directory.discard_invalid(&set(2)).unwrap().len(), 1);
    assert_eq!(fill(&mut directory, &set(2)), 2 * FILE_BYTES);
    every_tile_is_ours(&volume);
}

#[test]
fn a_killed_fill_keeps_everything_up_to_its_last_checkpoint() {
    const CHECKPOINT_BYTES: u64 = 256 << 20;
    let volume = TestVolume::new();
    let mut set = set(1);
    set.file_size_bytes = CHECKPOINT_BYTES + (2 << 20);
    let required = RequiredFiles { file_sets: vec![set.clone()], ..required(1) };
    let mut directory = volume.open_for(required, Overrides::default()).unwrap();
    // The manifest that a kill after the next write would leave.
    let mut left = None;
    let mut progress = |now_bytes, _| {
        if now_bytes > CHECKPOINT_BYTES && left.is_none() {
            left = Manifest::load(&volume.our_directory()).unwrap();
        }
    };
    directory.fill(&set, &|| false, &mut progress).unwrap();
    let left = left.expect("the fill passed a checkpoint").files[&set.file_name(0)].clone();
    assert_eq!((left.state, left.filled_bytes), (FileState::Filling, CHECKPOINT_BYTES));
}

#[test]
fn a_file_of_an_unfinished_fill_is_truncated_to_its_size() {
    let volume = TestVolume::new();
    let mut directory = volume.open().unwrap();
    directory.fill(&set(2), &|| true, &mut |_, _| {}).unwrap_err();
    fs::OpenOptions::new().write(true).open(volume.file(0)).unwrap().set_len(9 << 20).unwrap();
    fill(&mut directory, &set(2));
    directory.check(&set(2)).unwrap();
}

#[test]
fn a_foreign_file_created_after_the_survey_is_not_overwritten() {
    let volume = TestVolume::new();
    let mut directory = volume.open().unwrap();
    fs::write(volume.file(1), "not ours").unwrap();
    let outcome = directory.fill(&set(2), &|| false, &mut |_, _| {});
    assert!(matches!(outcome, Err(FillError::Refused(Refusal::ForeignFile { .. }))), "{outcome:?}");
    assert_eq!(fs::read_to_string(volume.file(1)).unwrap(), "not ours");
}
