//! `clean` removes what we made and nothing else.

use std::fs;
use std::os::unix::fs::symlink;

use target::clean::clean;
use target::manifest::Manifest;
use target::refusal::Refusal;

use crate::place::Place;
use crate::plans::FILE_BYTES;

#[test]
fn everything_that_we_made_is_removed() {
    let place = Place::filled();
    let cleaned = clean(place.at(place.path())).unwrap();
    assert_eq!((cleaned.removed_files, cleaned.removed_bytes), (2, 2 * FILE_BYTES));
    assert!(cleaned.removed_directory && cleaned.left.is_empty(), "{cleaned:?}");
    assert!(Place::names(place.path()).is_empty());
}

#[test]
fn what_a_crash_left_of_ours_is_removed_too() {
    let place = Place::filled();
    for name in [".fourcorners.new", ".fourcorners.probe"] {
        fs::write(place.ours().join(name), "half").unwrap();
    }
    assert!(clean(place.at(place.path())).unwrap().removed_directory);
}

#[test]
fn our_directory_can_be_named_itself() {
    let place = Place::filled();
    assert!(clean(place.at(&place.ours())).unwrap().removed_directory);
    assert!(place.path().exists());
}

#[test]
fn foreign_files_are_left_and_named() {
    let place = Place::filled();
    let foreign = place.ours().join("thesis.txt");
    fs::write(&foreign, "years of work").unwrap();
    fs::create_dir(place.ours().join("more")).unwrap();
    let cleaned = clean(place.at(place.path())).unwrap();
    assert_eq!(cleaned.removed_files, 2);
    assert!(!cleaned.removed_directory);
    let left: Vec<_> = cleaned.left.iter().map(|left| left.path.file_name().unwrap()).collect();
    assert_eq!(left, ["more", "thesis.txt"]);
    assert_eq!(Place::names(&place.ours()), ["more", "thesis.txt"]);
    assert_eq!(fs::read_to_string(foreign).unwrap(), "years of work");
}

#[test]
fn a_link_in_place_of_a_file_is_left_with_what_it_leads_to() {
    let place = Place::filled();
    let precious = place.path().join("precious");
    fs::write(&precious, "years of work").unwrap();
    fs::remove_file(place.file(0)).unwrap();
    symlink(&precious, place.file(0)).unwrap();
    let cleaned = clean(place.at(&place.ours())).unwrap();
    assert_eq!(cleaned.removed_files, 1);
    assert!(cleaned.left[0].reason.contains("a symbolic link"), "{cleaned:?}");
    assert_eq!(fs::read_to_string(precious).unwrap(), "years of work");
}

#[test]
fn a_directory_without_our_mark_is_refused() {
    let place = Place::new();
    fs::write(place.path().join("thesis.txt"), "years of work").unwrap();
    let refusal = clean(place.at(place.path())).unwrap_err();
    assert!(matches!(refusal, Refusal::NothingOfOurs { .. }), "{refusal}");
    assert_eq!(Place::names(place.path()), ["thesis.txt"]);
}

#[test]
fn a_path_that_does_not_exist_or_is_a_file_is_refused() {
    let place = Place::new();
    let path = place.path().join("x");
    assert!(matches!(clean(place.at(&path)), Err(Refusal::Missing { .. })));
    fs::write(&path, "mine").unwrap();
    assert!(matches!(clean(place.at(&path)), Err(Refusal::NotADirectory { .. })));
    assert!(path.exists());
}

#[test]
fn a_directory_in_use_is_not_cleaned() {
    let place = Place::filled();
    let _in_use = place.open().unwrap();
    assert!(matches!(clean(place.at(place.path())), Err(Refusal::InUse { .. })));
    assert_eq!(Place::names(&place.ours()).len(), 3);
}

#[test]
fn a_manifest_that_names_files_elsewhere_removes_nothing() {
    let place = Place::filled();
    let precious = place.path().join("precious");
    fs::write(&precious, "years of work").unwrap();
    let mut manifest = Manifest::load(&place.ours()).unwrap().unwrap();
    let record = manifest.files.values().next().unwrap().clone();
    manifest.files.insert("../precious".to_owned(), record);
    manifest.save(&place.ours()).unwrap();
    let refusal = clean(place.at(place.path())).unwrap_err();
    assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{refusal}");
    assert!(precious.exists());
    assert_eq!(Place::names(&place.ours()).len(), 3);
}

#[test]
fn a_file_that_was_put_in_place_of_ours_is_left_and_named() {
    let place = Place::filled();
    place.replace_file(0);
    let cleaned = clean(place.at(place.path())).unwrap();
    assert_eq!(cleaned.removed_files, 1);
    assert!(!cleaned.removed_directory);
    assert!(cleaned.left[0].reason.contains("not the file that we made"), "{cleaned:?}");
    assert_eq!(fs::read_to_string(place.file(0)).unwrap(), "years of work");
}

#[test]
fn a_directory_that_was_left_for_a_foreign_file_is_used_again_without_it() {
    let place = Place::filled();
    let foreign = place.ours().join("thesis.txt");
    fs::write(&foreign, "years of work").unwrap();
    assert!(!clean(place.at(place.path())).unwrap().removed_directory);
    assert!(matches!(place.open(), Err(Refusal::Unmarked { .. })));
    fs::remove_file(foreign).unwrap();
    place.open().unwrap();
}
