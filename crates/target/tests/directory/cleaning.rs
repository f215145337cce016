//! `clean` removes what we created and nothing else.

use std::fs;
use std::os::unix::fs::symlink;

use target::clean::clean;
use target::manifest::Manifest;
use target::refusal::Refusal;

use crate::plans::FILE_BYTES;
use crate::test_volume::TestVolume;

#[test]
fn everything_that_we_created_is_removed() {
    let volume = TestVolume::filled();
    let cleaned = clean(volume.location(volume.path())).unwrap();
    assert_eq!((cleaned.removed_files, cleaned.removed_bytes), (2, 2 * FILE_BYTES));
    assert!(cleaned.removed_directory && cleaned.not_removed.is_empty(), "{cleaned:?}");
    assert!(TestVolume::names(volume.path()).is_empty());
}

#[test]
fn our_files_from_a_crash_are_removed_too() {
    let volume = TestVolume::filled();
    for name in [".fourcorners.new", ".fourcorners.probe"] {
        fs::write(volume.our_directory().join(name), "half").unwrap();
    }
    assert!(clean(volume.location(volume.path())).unwrap().removed_directory);
}

#[test]
fn our_directory_can_be_named_directly() {
    let volume = TestVolume::filled();
    assert!(clean(volume.location(&volume.our_directory())).unwrap().removed_directory);
    assert!(volume.path().exists());
}

#[test]
fn foreign_files_are_kept_and_listed() {
    let volume = TestVolume::filled();
    let foreign = volume.our_directory().join("thesis.txt");
    fs::write(&foreign, "years of work").unwrap();
    fs::create_dir(volume.our_directory().join("more")).unwrap();
    let cleaned = clean(volume.location(volume.path())).unwrap();
    assert_eq!(cleaned.removed_files, 2);
    assert!(!cleaned.removed_directory);
    let left: Vec<_> =
        cleaned.not_removed.iter().map(|left| left.path.file_name().unwrap()).collect();
    assert_eq!(left, ["more", "thesis.txt"]);
    assert_eq!(TestVolume::names(&volume.our_directory()), ["more", "thesis.txt"]);
    assert_eq!(fs::read_to_string(foreign).unwrap(), "years of work");
}

#[test]
fn a_link_in_place_of_our_file_is_kept_with_its_target() {
    let volume = TestVolume::filled();
    let precious = volume.path().join("precious");
    fs::write(&precious, "years of work").unwrap();
    fs::remove_file(volume.file(0)).unwrap();
    symlink(&precious, volume.file(0)).unwrap();
    let cleaned = clean(volume.location(&volume.our_directory())).unwrap();
    assert_eq!(cleaned.removed_files, 1);
    assert!(cleaned.not_removed[0].reason.contains("a symbolic link"), "{cleaned:?}");
    assert_eq!(fs::read_to_string(precious).unwrap(), "years of work");
}

#[test]
fn a_directory_without_our_mark_is_not_cleaned() {
    let volume = TestVolume::new();
    fs::write(volume.path().join("thesis.txt"), "years of work").unwrap();
    let refusal = clean(volume.location(volume.path())).unwrap_err();
    assert!(matches!(refusal, Refusal::NothingToClean { .. }), "{refusal}");
    assert_eq!(TestVolume::names(volume.path()), ["thesis.txt"]);
}

#[test]
fn a_path_that_does_not_exist_or_is_a_file_is_refused() {
    let volume = TestVolume::new();
    let path = volume.path().join("x");
    assert!(matches!(clean(volume.location(&path)), Err(Refusal::Missing { .. })));
    fs::write(&path, "mine").unwrap();
    assert!(matches!(clean(volume.location(&path)), Err(Refusal::NotADirectory { .. })));
    assert!(path.exists());
}

#[test]
fn a_directory_in_use_is_not_cleaned() {
    let volume = TestVolume::filled();
    let _in_use = volume.open().unwrap();
    assert!(matches!(clean(volume.location(volume.path())), Err(Refusal::InUse { .. })));
    assert_eq!(TestVolume::names(&volume.our_directory()).len(), 3);
}

#[test]
fn a_manifest_that_names_files_elsewhere_removes_nothing() {
    let volume = TestVolume::filled();
    let precious = volume.path().join("precious");
    fs::write(&precious, "years of work").unwrap();
    let mut manifest = Manifest::load(&volume.our_directory()).unwrap().unwrap();
    let record = manifest.files.values().next().unwrap().clone();
    manifest.files.insert("../precious".to_owned(), record);
    fs::write(volume.our_directory().join(".fourcorners"), serde_json::to_vec(&manifest).unwrap())
        .unwrap();
    let refusal = clean(volume.location(volume.path())).unwrap_err();
    assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{refusal}");
    assert!(precious.exists());
    assert_eq!(TestVolume::names(&volume.our_directory()).len(), 3);
}

#[test]
fn a_file_that_replaced_ours_is_kept_and_listed() {
    let volume = TestVolume::filled();
    volume.replace_file(0);
    let cleaned = clean(volume.location(volume.path())).unwrap();
    assert_eq!(cleaned.removed_files, 1);
    assert!(!cleaned.removed_directory);
    assert!(
        cleaned.not_removed[0].reason.contains("not the file that fourcorners created"),
        "{cleaned:?}"
    );
    assert_eq!(fs::read_to_string(volume.file(0)).unwrap(), "years of work");
}

#[test]
fn a_directory_kept_for_a_foreign_file_is_usable_once_that_is_removed() {
    let volume = TestVolume::filled();
    let foreign = volume.our_directory().join("thesis.txt");
    fs::write(&foreign, "years of work").unwrap();
    assert!(!clean(volume.location(volume.path())).unwrap().removed_directory);
    assert!(matches!(volume.open(), Err(Refusal::Unmarked { .. })));
    fs::remove_file(foreign).unwrap();
    volume.open().unwrap();
}
