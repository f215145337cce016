//! What the fill writes, what it keeps, and how it ends early.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicU64, Ordering};

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
    assert_eq!(states(&place), [FileState::Complete; 2]);
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

#[test]
fn a_fill_that_is_stopped_goes_on_where_files_are_incomplete() {
    let place = Place::new();
    let mut directory = place.open().unwrap();
    let asked = AtomicU64::new(0);
    let stop = || asked.fetch_add(1, Ordering::Relaxed) >= 2;
    let ended = directory.fill(&set(2), &stop, &mut |_, _| {});
    assert!(matches!(ended, Err(FillError::Stopped)), "{ended:?}");
    drop(directory);
    assert_eq!(states(&place), [FileState::Filling; 2]);

    let mut directory = place.open().unwrap();
    assert_eq!(directory.missing(&set(2)), [0, 1]);
    fill(&mut directory, &set(2));
    directory.check(&set(2)).unwrap();
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
