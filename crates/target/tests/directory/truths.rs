//! What is not believed before a read is measured, and how `--refill` mends it.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;

use target::directory;
use target::manifest::Manifest;
use target::refusal::{Override, Overrides, Refusal};

use crate::place::Place;
use crate::plans::{FILE_BYTES, fill, set, wanted};

pub(crate) fn writable(path: &Path) -> File {
    OpenOptions::new().write(true).open(path).unwrap()
}

/// The refusal of the check, which leads to `--refill`, and after which a refill makes all well.
pub(crate) fn refused_and_mended(place: &Place) -> Refusal {
    let refusal = place.open().unwrap().check(&set(2)).unwrap_err();
    assert_eq!(refusal.overridden_by(), Some(Override::Refill), "{refusal}");
    assert!(refusal.remedy().contains("fourcorners clean"), "{}", refusal.remedy());

    let overrides = Overrides { refill: true, ..Overrides::default() };
    let mut directory = place.open_for(wanted(2), overrides).unwrap();
    assert!(directory.refill());
    assert_eq!(directory.distrust(&set(2)).unwrap().len(), 1);
    assert_eq!(fill(&mut directory, &set(2)), FILE_BYTES, "only the wrong file is written");
    directory.check(&set(2)).unwrap();
    refusal
}

#[test]
fn files_as_we_left_them_are_believed() {
    let place = Place::filled();
    let mut directory = place.open().unwrap();
    directory.check(&set(2)).unwrap();
    assert!(directory.distrust(&set(2)).unwrap().is_empty());
}

#[test]
fn writes_of_earlier_runs_are_our_data() {
    let place = Place::filled();
    let maker = set(2).tile_maker(crate::plans::DATA_SEED);
    let mut tile = vec![0; 4096];
    let file = writable(&place.file(1));
    for offset in (0..FILE_BYTES).step_by(4096) {
        maker.fill(1, offset, 0xDEAD_BEEF, &mut tile);
        file.write_all_at(&tile, offset).unwrap();
    }
    place.open().unwrap().check(&set(2)).unwrap();
}

#[test]
fn a_file_that_was_cut_off_is_refused() {
    let place = Place::filled();
    writable(&place.file(1)).set_len(FILE_BYTES - 4096).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(
        matches!(refusal, Refusal::WrongSize { expected_bytes: FILE_BYTES, found_bytes, .. }
            if found_bytes == FILE_BYTES - 4096),
        "{refusal}"
    );
}

#[test]
fn a_file_that_grew_is_refused() {
    let place = Place::filled();
    writable(&place.file(1)).set_len(FILE_BYTES + 1).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(matches!(refusal, Refusal::WrongSize { .. }), "{refusal}");
}

#[test]
fn a_file_of_zeroes_is_refused() {
    let place = Place::filled();
    fs::write(place.file(0), vec![0; FILE_BYTES as usize]).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(matches!(refusal, Refusal::Zero { offset_bytes: 0, .. }), "{refusal}");
}

#[test]
fn foreign_content_is_refused() {
    let place = Place::filled();
    fs::write(place.file(0), vec![b'x'; FILE_BYTES as usize]).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(refusal.to_string().contains("data that we never wrote"), "{refusal}");
}

#[test]
fn one_changed_byte_in_a_sampled_tile_is_refused_with_its_place() {
    let place = Place::filled();
    let file = OpenOptions::new().read(true).write(true).open(place.file(0)).unwrap();
    let last = FILE_BYTES - 1;
    let mut byte = [0];
    file.read_exact_at(&mut byte, last).unwrap();
    file.write_all_at(&[byte[0] ^ 1], last).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(refusal.to_string().contains(&format!("byte {last} is 0x")), "{refusal}");
}

#[test]
fn the_content_of_another_file_of_ours_is_refused() {
    let place = Place::filled();
    fs::write(place.file(1), fs::read(place.file(0)).unwrap()).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(refusal.to_string().contains("data of offset 0 of file 0"), "{refusal}");
}

fn refilling() -> Overrides {
    Overrides { refill: true, ..Overrides::default() }
}

#[test]
fn a_file_that_was_put_in_place_of_ours_is_refused_even_when_it_may_be_refilled() {
    let place = Place::filled();
    place.replace_file(0);
    for overrides in [Overrides::default(), refilling()] {
        let refusal = place.open_for(wanted(2), overrides).unwrap_err();
        assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
        assert_eq!(refusal.overridden_by(), None);
        assert!(refusal.remedy().contains("move it away"), "{}", refusal.remedy());
    }
    assert_eq!(fs::read_to_string(place.file(0)).unwrap(), "years of work");

    fs::rename(place.file(0), place.path().join("thesis.txt")).unwrap();
    let mut directory = place.open().unwrap();
    assert_eq!(fill(&mut directory, &set(2)), FILE_BYTES, "ours is written anew");
}

#[test]
fn a_file_that_is_put_in_place_of_ours_after_the_survey_is_not_refilled() {
    let place = Place::filled();
    let mut directory = place.open_for(wanted(2), refilling()).unwrap();
    place.replace_file(1);
    let refusal = directory.distrust(&set(2)).unwrap_err();
    assert!(matches!(refusal, Refusal::Replaced { .. }), "{refusal}");
    assert_eq!(fs::read_to_string(place.file(1)).unwrap(), "years of work");
}

#[test]
fn a_file_without_a_known_identity_is_believed_by_its_name() {
    let place = Place::filled();
    let mut manifest = Manifest::load(&place.ours()).unwrap().unwrap();
    for record in manifest.files.values_mut() {
        assert!(record.identity.take().is_some(), "the fill keeps it");
    }
    manifest.save(&place.ours()).unwrap();
    let copy = place.path().join("copy");
    fs::copy(place.file(0), &copy).unwrap();
    fs::rename(copy, place.file(0)).unwrap();
    place.open().unwrap().check(&set(2)).unwrap();
}

#[test]
fn a_copy_that_the_user_accepts_as_ours_has_files_of_ours() {
    let place = Place::filled();
    let mut manifest = Manifest::load(&place.ours()).unwrap().unwrap();
    manifest.filesystem_id = "00000000deadbeef".to_owned();
    for record in manifest.files.values_mut() {
        record.identity.as_mut().unwrap().created_unix_ns = Some(1);
    }
    manifest.save(&place.ours()).unwrap();
    let overrides = Overrides { other_filesystem: true, ..Overrides::default() };
    place.open_for(wanted(2), overrides).unwrap().check(&set(2)).unwrap();
    place.open().unwrap().check(&set(2)).unwrap();
}

#[test]
fn looking_finds_what_a_run_would_refuse_and_writes_nothing() {
    let place = Place::filled();
    let look = |overrides| {
        directory::survey(place.at(place.path()), wanted(2), overrides)
            .and_then(directory::Survey::inspect)
    };
    assert!(look(Overrides::default()).unwrap().to_write.is_empty());
    let changed = || fs::metadata(place.ours()).unwrap().modified().unwrap();
    let before = changed();

    writable(&place.file(1)).set_len(FILE_BYTES - 4096).unwrap();
    assert!(matches!(look(Overrides::default()), Err(Refusal::WrongSize { .. })));
    writable(&place.file(1)).set_len(FILE_BYTES).unwrap();
    assert!(matches!(
        look(Overrides::default()),
        Err(Refusal::Unwritten { .. } | Refusal::Zero { .. })
    ));
    fs::write(place.file(1), vec![b'x'; FILE_BYTES as usize]).unwrap();
    assert!(matches!(look(Overrides::default()), Err(Refusal::NotOurData { .. })));

    let to_write = look(refilling()).unwrap().to_write;
    assert_eq!((to_write.len(), to_write[0].files, to_write[0].bytes), (1, 1, FILE_BYTES));
    assert_eq!(changed(), before, "nothing is written");
}

#[test]
fn looking_says_that_another_run_works_there() {
    let place = Place::filled();
    let _in_use = place.open().unwrap();
    let survey =
        directory::survey(place.at(place.path()), wanted(2), Overrides::default()).unwrap();
    assert!(matches!(survey.inspect(), Err(Refusal::InUse { .. })));
}
