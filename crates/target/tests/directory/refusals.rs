//! Where the tool refuses to work: one test for each row of the table.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use target::directory;
use target::place::OUR_NAME;
use target::refusal::{Override, Overrides, Refusal};

use crate::place::Place;
use crate::plans::{FILE_BYTES, set, wanted};

/// A refusal says its path, what to do, and the flag if it can be overridden.
fn explains(place: &Place, refusal: &Refusal, path: &Path, by: Option<Override>) {
    let (said, remedy) = (refusal.to_string(), refusal.remedy());
    assert!(said.contains(place.said(path).to_str().unwrap()), "{said}");
    assert_eq!(refusal.overridden_by(), by, "{said}");
    match by {
        Some(by) => assert!(remedy.contains(by.flag()), "{remedy}"),
        None => assert!(Override::ALL.iter().all(|by| !remedy.contains(by.flag())), "{remedy}"),
    }
}

fn refused(place: &Place, path: &Path) -> Refusal {
    directory::survey(place.at(path), wanted(2), Overrides::default()).unwrap_err()
}

#[test]
fn a_path_that_does_not_exist_is_refused() {
    let place = Place::new();
    let path = place.path().join("vol1");
    let refusal = refused(&place, &path);
    assert!(matches!(refusal, Refusal::Missing { .. }), "{refusal}");
    explains(&place, &refusal, &path, Some(Override::Create));
    assert!(Place::names(place.path()).is_empty());
}

#[test]
fn a_missing_directory_is_made_and_marked_when_asked_for() {
    let place = Place::new();
    let path = place.path().join("vol1");
    let overrides = Overrides { create: true, ..Overrides::default() };
    let ours = directory::open(place.at(&path), wanted(1), overrides).unwrap();
    assert_eq!(ours.path(), place.said(&path.canonicalize().unwrap()));
    assert_eq!(Place::names(&path), [".fourcorners"]);
}

#[test]
fn a_path_without_a_parent_is_refused_even_when_it_may_be_made() {
    let place = Place::new();
    let path = place.path().join("not/there");
    let overrides = Overrides { create: true, ..Overrides::default() };
    let refusal = directory::survey(place.at(&path), wanted(1), overrides).unwrap_err();
    assert!(matches!(refusal, Refusal::NoParent { .. }), "{refusal}");
    explains(&place, &refusal, &path, None);
}

#[test]
fn a_file_is_refused() {
    let place = Place::new();
    let path = place.path().join("file");
    fs::write(&path, "mine").unwrap();
    let refusal = refused(&place, &path);
    assert!(matches!(refusal, Refusal::NotADirectory { .. }), "{refusal}");
    explains(&place, &refusal, &path, None);
}

#[test]
fn a_link_to_nowhere_is_refused_even_when_it_may_be_made() {
    let place = Place::new();
    let path = place.path().join("link");
    symlink(place.path().join("nowhere"), &path).unwrap();
    let overrides = Overrides { create: true, ..Overrides::default() };
    let refusal = directory::survey(place.at(&path), wanted(1), overrides).unwrap_err();
    assert!(matches!(refusal, Refusal::NotADirectory { .. }), "{refusal}");
}

#[test]
fn a_directory_with_files_of_others_is_refused() {
    let place = Place::new();
    fs::write(place.path().join("thesis.txt"), "years of work").unwrap();
    let refusal = refused(&place, place.path());
    assert!(
        matches!(&refusal, Refusal::ForeignFiles { count: 1, example, mount_root: false, .. }
            if example == "thesis.txt"),
        "{refusal}"
    );
    explains(&place, &refusal, place.path(), Some(Override::AmongForeignFiles));
}

#[test]
fn among_files_of_others_only_a_directory_of_our_own_is_used() {
    let place = Place::new();
    fs::write(place.path().join("thesis.txt"), "years of work").unwrap();
    let overrides = Overrides { among_foreign_files: true, ..Overrides::default() };
    drop(place.open_for(wanted(1), overrides).unwrap());
    assert_eq!(Place::names(place.path()), [OUR_NAME, "thesis.txt"]);
    assert_eq!(Place::names(&place.ours()), [".fourcorners"]);
    // What was allowed once need not be allowed again: the directory is ours now.
    place.open().unwrap();
}

#[test]
fn what_a_volume_brings_by_itself_is_not_foreign() {
    let place = Place::new();
    for name in ["lost+found", ".snapshot"] {
        fs::create_dir(place.path().join(name)).unwrap();
    }
    place.open().unwrap();
}

#[test]
fn a_directory_of_our_name_without_our_mark_is_refused() {
    let place = Place::new();
    fs::create_dir(place.ours()).unwrap();
    fs::write(place.ours().join("thesis.txt"), "years of work").unwrap();
    let refusal = refused(&place, place.path());
    assert!(matches!(refusal, Refusal::Unmarked { .. }), "{refusal}");
    explains(&place, &refusal, &place.ours(), None);
}

#[test]
fn an_unmarked_directory_of_our_name_with_nothing_in_it_is_ours_to_be_marked() {
    let leftovers: [&[&str]; 3] =
        [&[], &[".fourcorners.new"], &[".fourcorners.new", ".fourcorners.probe"]];
    for names in leftovers {
        let place = Place::new();
        fs::create_dir(place.ours()).unwrap();
        for name in names {
            fs::write(place.ours().join(name), "half").unwrap();
        }
        let ours = place.open().unwrap();
        assert_eq!(ours.path(), place.said(&place.ours().canonicalize().unwrap()));
        assert_eq!(Place::names(&place.ours()), [".fourcorners"], "{names:?}");
    }
}

#[test]
fn what_a_killed_making_left_behind_is_removed_and_not_called_foreign() {
    let place = Place::new();
    for (name, marks) in [
        (".fourcorners.new-1", &[][..]),
        (".fourcorners.new-2", &[".fourcorners.new"]),
        (".fourcorners.new-3", &[".fourcorners", ".fourcorners.probe"]),
    ] {
        let making = place.path().join(name);
        fs::create_dir(&making).unwrap();
        for mark in marks {
            fs::write(making.join(mark), "half").unwrap();
        }
    }
    place.open().unwrap();
    assert_eq!(Place::names(place.path()), [OUR_NAME]);
}

#[test]
fn a_directory_of_others_that_is_named_like_a_making_is_foreign() {
    let place = Place::new();
    let making = place.path().join(".fourcorners.new-1");
    fs::create_dir(&making).unwrap();
    fs::write(making.join("thesis.txt"), "years of work").unwrap();
    let refusal = refused(&place, place.path());
    assert!(matches!(refusal, Refusal::ForeignFiles { count: 1, .. }), "{refusal}");
}

#[test]
fn a_link_of_our_name_is_refused() {
    let place = Place::filled();
    let other = Place::new();
    symlink(place.ours(), other.ours()).unwrap();
    let refusal = refused(&other, other.path());
    assert!(matches!(refusal, Refusal::Unmarked { .. }), "{refusal}");
}

#[test]
fn a_plan_that_does_not_fit_is_refused_before_the_first_write() {
    let place = Place::new();
    let mut wanted = wanted(1);
    wanted.file_sets[0].file_size_bytes = 1 << 56;
    let refusal = directory::survey(place.at(place.path()), wanted.clone(), Overrides::default())
        .unwrap_err();
    assert!(matches!(refusal, Refusal::TooLittleSpace { .. }), "{refusal}");
    explains(&place, &refusal, place.path(), Some(Override::IgnoreFreeSpace));
    assert!(Place::names(place.path()).is_empty());

    let overrides = Overrides { ignore_free_space: true, ..Overrides::default() };
    directory::survey(place.at(place.path()), wanted, overrides).unwrap();
}

#[test]
fn a_directory_in_use_is_refused() {
    let place = Place::new();
    let first = place.open().unwrap();
    let refusal = place.open().unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    explains(&place, &refusal, &place.ours(), None);
    drop(first);
    place.open().unwrap();
}

#[test]
fn a_damaged_manifest_is_refused_and_nothing_is_touched() {
    let place = Place::filled();
    let manifest = place.ours().join(".fourcorners");
    fs::write(&manifest, "{\"format\": \"fourcorn").unwrap();
    let before = Place::names(&place.ours());
    let refusal = place.open().unwrap_err();
    assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{refusal}");
    explains(&place, &refusal, &manifest, None);
    assert_eq!(Place::names(&place.ours()), before);
}

#[test]
fn a_foreign_file_with_a_name_that_we_need_is_refused() {
    let place = Place::new();
    drop(place.open().unwrap());
    fs::write(place.file(1), "not ours").unwrap();
    let refusal = place.open().unwrap_err();
    assert!(matches!(refusal, Refusal::ForeignFile { .. }), "{refusal}");
    explains(&place, &refusal, &place.file(1), None);
    assert_eq!(fs::read_to_string(place.file(1)).unwrap(), "not ours");
}

#[test]
fn a_link_in_place_of_a_file_is_refused_and_its_end_is_untouched() {
    let place = Place::filled();
    let precious = place.path().join("precious");
    fs::write(&precious, "years of work").unwrap();
    fs::remove_file(place.file(0)).unwrap();
    symlink(&precious, place.file(0)).unwrap();
    let refusal = place.open().unwrap_err();
    let link = "a symbolic link";
    assert!(
        matches!(&refusal, Refusal::NotARegularFile { found, .. } if *found == link),
        "{refusal}"
    );
    explains(&place, &refusal, &place.file(0), None);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "years of work");
}

#[test]
fn a_file_with_a_second_name_is_refused() {
    let place = Place::filled();
    fs::hard_link(place.file(0), place.path().join("second")).unwrap();
    let refusal = place.open().unwrap_err();
    assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
}

#[test]
fn a_survey_writes_nothing_and_tells_what_will_be_written() {
    let place = Place::new();
    let survey =
        directory::survey(place.at(place.path()), wanted(2), Overrides::default()).unwrap();
    assert!(survey.is_new);
    let parent = place.path().canonicalize().unwrap();
    assert_eq!(survey.place, place.said(&parent.join(OUR_NAME)));
    assert_eq!((survey.to_write[0].files, survey.to_write[0].bytes), (2, 2 * FILE_BYTES));
    assert_eq!(survey.needed_bytes, 2 * FILE_BYTES);
    assert!(Place::names(place.path()).is_empty());
}

#[test]
fn a_survey_of_a_filled_directory_finds_nothing_to_write() {
    let place = Place::filled();
    for path in [place.path(), &place.ours()] {
        let survey = directory::survey(place.at(path), wanted(2), Overrides::default()).unwrap();
        assert!(!survey.is_new);
        assert!(survey.to_write.is_empty(), "{:?}", survey.to_write);
        assert_eq!(survey.needed_bytes, 0);
    }
    assert_eq!(set(2).total_bytes(), 2 * FILE_BYTES);
}
