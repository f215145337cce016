//! What the fill writes, what it keeps, and how it ends early.

use std::fs;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::sync::atomic::{AtomicU64, Ordering};

use target::directory::{self, TargetDirectory, ToWrite, Wanted};
use target::fill::FillError;
use target::manifest::{FileState, Manifest};
use target::refusal::{Overrides, Refusal};
use workload::data::{DataPattern, TileFound};

use crate::place::Place;
use crate::plans::{DATA_SEED, FILE_BYTES, fill, set, wanted};

fn states(place: &Place) -> Vec<FileState> {
    let manifest = Manifest::load(&place.ours()).unwrap().unwrap();
    manifest.files.values().map(|file| file.state).collect()
}

#[test]
fn every_byte_is_written_with_the_data_of_its_place() {
    let place = Place::filled();
    every_tile_is_ours(&place);
    assert_eq!(states(&place), [FileState::Complete; 2]);
}

fn every_tile_is_ours(place: &Place) {
    let maker = set(2).tile_maker(DATA_SEED);
    let mut scratch = vec![0; 4096];
    for index in 0..2 {
        let data = fs::read(place.file(index)).unwrap();
        assert_eq!(data.len() as u64, FILE_BYTES);
        for (tile, bytes) in data.chunks_exact(4096).enumerate() {
            let found = maker.inspect(index, tile as u64 * 4096, bytes, &mut scratch);
            assert_eq!(found, TileFound::Good { generation: 0 }, "tile {tile} of file {index}");
        }
    }
}

#[test]
fn no_file_is_sparse() {
    let place = Place::filled();
    for index in 0..2 {
        assert!(fs::metadata(place.file(index)).unwrap().blocks() * 512 >= FILE_BYTES);
    }
}

#[test]
fn progress_grows_to_the_whole() {
    let place = Place::new();
    let mut seen = Vec::new();
    let mut directory = place.open().unwrap();
    let written =
        directory.fill(&set(2), &|| false, &mut |now, total| seen.push((now, total))).unwrap();
    assert_eq!(written, 2 * FILE_BYTES);
    assert!(seen.windows(2).all(|pair| pair[0].0 < pair[1].0), "{seen:?}");
    assert_eq!(seen.last(), Some(&(written, written)));
}

#[test]
fn complete_files_are_used_again() {
    let place = Place::filled();
    let before = fs::metadata(place.file(0)).unwrap().modified().unwrap();
    let mut directory = place.open().unwrap();
    assert_eq!(fill(&mut directory, &set(2)), 0);
    assert_eq!(fs::metadata(place.file(0)).unwrap().modified().unwrap(), before);
}

#[test]
fn only_what_is_missing_is_written() {
    let place = Place::filled();
    fs::remove_file(place.file(1)).unwrap();
    let mut directory = place.open_for(wanted(3), Overrides::default()).unwrap();
    assert_eq!(directory.missing(&set(3)), [1, 2]);
    assert_eq!(fill(&mut directory, &set(3)), 2 * FILE_BYTES);
    directory.check(&set(3)).unwrap();
}

#[test]
fn data_of_another_seed_is_written_anew() {
    let place = Place::filled();
    let mut wanted = wanted(2);
    wanted.data_seed = DATA_SEED + 1;
    let mut directory = place.open_for(wanted, Overrides::default()).unwrap();
    assert_eq!(fill(&mut directory, &set(2)), 2 * FILE_BYTES);
    directory.check(&set(2)).unwrap();
}

#[test]
fn reducible_data_and_small_tiles_are_filled_and_recognised() {
    let place = Place::new();
    let mut set = set(1);
    set.data = DataPattern { compressible_permille: 600, duplicate_permille: 300 };
    set.tile_bytes = 512;
    // Neither a whole page nor a whole tile at the end.
    set.file_size_bytes = (1 << 20) + 512 + 100;
    let mut wanted = wanted(1);
    wanted.file_sets = vec![set.clone()];
    let mut directory = place.open_for(wanted, Overrides::default()).unwrap();
    assert_eq!(fill(&mut directory, &set), set.file_size_bytes);
    assert_eq!(
        fs::metadata(place.ours().join(set.file_name(0))).unwrap().len(),
        set.file_size_bytes
    );
    directory.check(&set).unwrap();
}

/// Fills until `chunks` chunks of 1 MiB were begun.
fn stop_after(directory: &mut TargetDirectory, chunks: u64) {
    let asked = AtomicU64::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= chunks;
    let ended = directory.fill(&set(2), &stop, &mut |_, _| {});
    assert!(matches!(ended, Err(FillError::Stopped)), "{ended:?}");
}

#[test]
fn a_stopped_fill_keeps_what_it_wrote_and_resumes_inside_the_file() {
    let place = Place::new();
    stop_after(&mut place.open().unwrap(), 2);
    assert_eq!(states(&place), [FileState::Filling; 2]);

    let survey =
        directory::survey(place.at(place.path()), wanted(2), Overrides::default()).unwrap();
    let left_bytes = 2 * FILE_BYTES - (2 << 20);
    let left = ToWrite { stream: "main".to_owned(), files: 2, bytes: left_bytes };
    assert_eq!(survey.inspect().unwrap().to_write, [left]);

    let mut directory = place.open().unwrap();
    assert_eq!(directory.missing(&set(2)), [0, 1]);
    assert_eq!(fill(&mut directory, &set(2)), left_bytes);
    every_tile_is_ours(&place);
}

#[test]
fn a_stopped_fill_has_completed_each_file_that_it_finished() {
    let place = Place::new();
    // The first file has two chunks and a half.
    stop_after(&mut place.open().unwrap(), 4);
    assert_eq!(states(&place), [FileState::Complete, FileState::Filling]);
    let mut directory = place.open().unwrap();
    assert_eq!(fill(&mut directory, &set(2)), FILE_BYTES - (1 << 20));
    every_tile_is_ours(&place);
}

#[test]
fn the_kept_part_of_a_stopped_fill_is_checked_before_it_is_believed() {
    let place = Place::new();
    stop_after(&mut place.open().unwrap(), 2);
    let file = fs::OpenOptions::new().write(true).open(place.file(0)).unwrap();
    file.write_all_at(&[0; 4096], 0).unwrap();
    let survey = || directory::survey(place.at(place.path()), wanted(2), Overrides::default());
    let refusal = survey().unwrap().inspect().unwrap_err();
    assert!(matches!(refusal, Refusal::Zero { offset_bytes: 0, .. }), "{refusal}");

    let overrides = Overrides { refill: true, ..Overrides::default() };
    let survey = directory::survey(place.at(place.path()), wanted(2), overrides).unwrap();
    let all = ToWrite { stream: "main".to_owned(), files: 2, bytes: 2 * FILE_BYTES };
    assert_eq!(survey.inspect().unwrap().to_write, [all]);
    let mut directory = place.open().unwrap();
    assert_eq!(directory.distrust(&set(2)).unwrap().len(), 1);
    assert_eq!(fill(&mut directory, &set(2)), 2 * FILE_BYTES);
    every_tile_is_ours(&place);
}

#[test]
fn a_killed_fill_keeps_what_was_written_before_its_last_checkpoint() {
    const CHECKPOINT_BYTES: u64 = 256 << 20;
    let place = Place::new();
    let mut set = set(1);
    set.file_size_bytes = CHECKPOINT_BYTES + (2 << 20);
    let wanted = Wanted { file_sets: vec![set.clone()], ..wanted(1) };
    let mut directory = place.open_for(wanted, Overrides::default()).unwrap();
    // What a kill would leave once the next byte is written.
    let mut left = None;
    let mut look = |now_bytes, _| {
        if now_bytes > CHECKPOINT_BYTES && left.is_none() {
            left = Manifest::load(&place.ours()).unwrap();
        }
    };
    directory.fill(&set, &|| false, &mut look).unwrap();
    let left = left.expect("it was looked at").files[&set.file_name(0)].clone();
    assert_eq!((left.state, left.filled_bytes), (FileState::Filling, CHECKPOINT_BYTES));
}

#[test]
fn a_longer_file_of_an_unfinished_fill_is_cut_to_its_size() {
    let place = Place::new();
    let mut directory = place.open().unwrap();
    directory.fill(&set(2), &|| true, &mut |_, _| {}).unwrap_err();
    fs::OpenOptions::new().write(true).open(place.file(0)).unwrap().set_len(9 << 20).unwrap();
    fill(&mut directory, &set(2));
    directory.check(&set(2)).unwrap();
}

#[test]
fn what_appears_in_the_way_after_the_survey_is_not_overwritten() {
    let place = Place::new();
    let mut directory = place.open().unwrap();
    fs::write(place.file(1), "not ours").unwrap();
    let ended = directory.fill(&set(2), &|| false, &mut |_, _| {});
    assert!(matches!(ended, Err(FillError::Refused(Refusal::ForeignFile { .. }))), "{ended:?}");
    assert_eq!(fs::read_to_string(place.file(1)).unwrap(), "not ours");
}
