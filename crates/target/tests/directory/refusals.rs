//! What the tool refuses: one test for each kind of refusal.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use target::directory::OUR_NAME;
use target::existing::ExistingSet;
use target::inventory::RequiredFiles;
use target::refusal::{Override, Overrides, Refusal};
use target::survey;

use crate::plans::{FILE_BYTES, required, set};
use crate::test_volume::TestVolume;

/// A refusal states its path, what to do, and the flag that overrides it, if any.
fn is_explained(volume: &TestVolume, refusal: &Refusal, path: &Path, by: Option<Override>) {
    let (message, remedy) = (refusal.to_string(), refusal.remedy());
    assert!(message.contains(volume.displayed(path).to_str().unwrap()), "{message}");
    assert_eq!(refusal.overridden_by(), by, "{message}");
    match by {
        Some(by) => assert!(remedy.contains(by.flag()), "{remedy}"),
        None => assert!(Override::ALL.iter().all(|by| !remedy.contains(by.flag())), "{remedy}"),
    }
}

fn refused(volume: &TestVolume, path: &Path) -> Refusal {
    survey::survey(volume.location(path), required(2), Overrides::default()).unwrap_err()
}

#[test]
fn a_path_that_does_not_exist_is_refused() {
    let volume = TestVolume::new();
    let path = volume.path().join("vol1");
    let refusal = refused(&volume, &path);
    assert!(matches!(refusal, Refusal::Missing { .. }), "{refusal}");
    is_explained(&volume, &refusal, &path, Some(Override::Create));
    assert!(TestVolume::names(volume.path()).is_empty());
}

#[test]
fn a_missing_directory_is_created_and_marked_with_the_flag() {
    let volume = TestVolume::new();
    let path = volume.path().join("vol1");
    let overrides = Overrides { create: true, ..Overrides::default() };
    let ours = survey::open(volume.location(&path), required(1), overrides).unwrap();
    assert_eq!(ours.path(), volume.displayed(&path.canonicalize().unwrap()));
    assert_eq!(TestVolume::names(&path), [".fourcorners"]);
}

#[test]
fn a_path_without_a_parent_is_refused_even_with_the_flag() {
    let volume = TestVolume::new();
    let path = volume.path().join("not/there");
    let overrides = Overrides { create: true, ..Overrides::default() };
    let refusal = survey::survey(volume.location(&path), required(1), overrides).unwrap_err();
    assert!(matches!(refusal, Refusal::NoParent { .. }), "{refusal}");
    is_explained(&volume, &refusal, &path, None);
}

#[test]
fn a_file_is_refused() {
    let volume = TestVolume::new();
    let path = volume.path().join("file");
    fs::write(&path, "mine").unwrap();
    let refusal = refused(&volume, &path);
    assert!(matches!(refusal, Refusal::NotADirectory { .. }), "{refusal}");
    is_explained(&volume, &refusal, &path, None);
}

#[test]
fn a_dangling_link_is_refused_even_with_the_flag() {
    let volume = TestVolume::new();
    let path = volume.path().join("link");
    symlink(volume.path().join("nowhere"), &path).unwrap();
    let overrides = Overrides { create: true, ..Overrides::default() };
    let refusal = survey::survey(volume.location(&path), required(1), overrides).unwrap_err();
    assert!(matches!(refusal, Refusal::NotADirectory { .. }), "{refusal}");
}

#[test]
fn a_directory_with_files_of_others_is_refused() {
    let volume = TestVolume::new();
    fs::write(volume.path().join("thesis.txt"), "years of work").unwrap();
    let refusal = refused(&volume, volume.path());
    assert!(
        matches!(&refusal, Refusal::ForeignFiles { count: 1, example, mount_root: false, .. }
            if example == "thesis.txt"),
        "{refusal}"
    );
    is_explained(&volume, &refusal, volume.path(), Some(Override::AmongForeignFiles));
}

#[test]
fn among_files_of_others_only_our_directory_is_used() {
    let volume = TestVolume::new();
    fs::write(volume.path().join("thesis.txt"), "years of work").unwrap();
    let overrides = Overrides { among_foreign_files: true, ..Overrides::default() };
    drop(volume.open_for(required(1), overrides).unwrap());
    assert_eq!(TestVolume::names(volume.path()), [OUR_NAME, "thesis.txt"]);
    assert_eq!(TestVolume::names(&volume.our_directory()), [".fourcorners"]);
    // The override is not needed again: the directory is ours now.
    volume.open().unwrap();
}

#[test]
fn entries_of_the_file_system_itself_are_not_foreign() {
    let volume = TestVolume::new();
    for name in ["lost+found", ".snapshot"] {
        fs::create_dir(volume.path().join(name)).unwrap();
    }
    volume.open().unwrap();
}

#[test]
fn a_directory_of_our_name_without_our_mark_is_refused() {
    let volume = TestVolume::new();
    fs::create_dir(volume.our_directory()).unwrap();
    fs::write(volume.our_directory().join("thesis.txt"), "years of work").unwrap();
    let refusal = refused(&volume, volume.path());
    assert!(matches!(refusal, Refusal::Unmarked { .. }), "{refusal}");
    is_explained(&volume, &refusal, &volume.our_directory(), None);
}

#[test]
fn an_empty_unmarked_directory_with_our_name_is_marked_and_used() {
    let leftovers: [&[&str]; 3] =
        [&[], &[".fourcorners.new"], &[".fourcorners.new", ".fourcorners.probe"]];
    for names in leftovers {
        let volume = TestVolume::new();
        fs::create_dir(volume.our_directory()).unwrap();
        for name in names {
            fs::write(volume.our_directory().join(name), "half").unwrap();
        }
        let ours = volume.open().unwrap();
        assert_eq!(ours.path(), volume.displayed(&volume.our_directory().canonicalize().unwrap()));
        assert_eq!(TestVolume::names(&volume.our_directory()), [".fourcorners"], "{names:?}");
    }
}

#[test]
fn the_leftovers_of_a_killed_creation_are_removed_and_not_foreign() {
    let volume = TestVolume::new();
    for (name, marks) in [
        (".fourcorners.new-1", &[][..]),
        (".fourcorners.new-2", &[".fourcorners.new"]),
        (".fourcorners.new-3", &[".fourcorners", ".fourcorners.probe"]),
    ] {
        let temporary = volume.path().join(name);
        fs::create_dir(&temporary).unwrap();
        for mark in marks {
            fs::write(temporary.join(mark), "half").unwrap();
        }
    }
    volume.open().unwrap();
    assert_eq!(TestVolume::names(volume.path()), [OUR_NAME]);
}

#[test]
fn a_users_directory_named_like_an_unfinished_creation_is_foreign() {
    let volume = TestVolume::new();
    let named_alike = volume.path().join(".fourcorners.new-1");
    fs::create_dir(&named_alike).unwrap();
    fs::write(named_alike.join("thesis.txt"), "years of work").unwrap();
    let refusal = refused(&volume, volume.path());
    assert!(matches!(refusal, Refusal::ForeignFiles { count: 1, .. }), "{refusal}");
}

#[test]
fn a_link_with_our_name_is_refused() {
    let volume = TestVolume::filled();
    let other = TestVolume::new();
    symlink(volume.our_directory(), other.our_directory()).unwrap();
    let refusal = refused(&other, other.path());
    assert!(matches!(refusal, Refusal::Unmarked { .. }), "{refusal}");
}

#[test]
fn a_plan_that_does_not_fit_is_refused_before_the_first_write() {
    let volume = TestVolume::new();
    let mut required = required(1);
    required.file_sets[0].file_size_bytes = 1 << 56;
    let refusal =
        survey::survey(volume.location(volume.path()), required.clone(), Overrides::default())
            .unwrap_err();
    assert!(matches!(refusal, Refusal::TooLittleSpace { .. }), "{refusal}");
    is_explained(&volume, &refusal, volume.path(), Some(Override::IgnoreFreeSpace));
    assert!(TestVolume::names(volume.path()).is_empty());

    let overrides = Overrides { ignore_free_space: true, ..Overrides::default() };
    survey::survey(volume.location(volume.path()), required, overrides).unwrap();
}

#[test]
fn a_directory_in_use_is_refused() {
    let volume = TestVolume::new();
    let first = volume.open().unwrap();
    let refusal = volume.open().unwrap_err();
    assert!(matches!(refusal, Refusal::InUse { .. }), "{refusal}");
    is_explained(&volume, &refusal, &volume.our_directory(), None);
    drop(first);
    volume.open().unwrap();
}

#[test]
fn a_damaged_manifest_is_refused_and_nothing_is_touched() {
    let volume = TestVolume::filled();
    let manifest = volume.our_directory().join(".fourcorners");
    fs::write(&manifest, "{\"format\": \"fourcorn").unwrap();
    let before = TestVolume::names(&volume.our_directory());
    let refusal = volume.open().unwrap_err();
    assert!(matches!(refusal, Refusal::ManifestDamaged { .. }), "{refusal}");
    is_explained(&volume, &refusal, &manifest, None);
    assert_eq!(TestVolume::names(&volume.our_directory()), before);
}

#[test]
fn a_foreign_file_with_a_name_that_we_need_is_refused() {
    let volume = TestVolume::new();
    drop(volume.open().unwrap());
    fs::write(volume.file(1), "not ours").unwrap();
    let refusal = volume.open().unwrap_err();
    assert!(matches!(refusal, Refusal::ForeignFile { .. }), "{refusal}");
    is_explained(&volume, &refusal, &volume.file(1), None);
    assert_eq!(fs::read_to_string(volume.file(1)).unwrap(), "not ours");
}

#[test]
fn a_link_in_place_of_a_file_is_refused_and_its_target_is_untouched() {
    let volume = TestVolume::filled();
    let precious = volume.path().join("precious");
    fs::write(&precious, "years of work").unwrap();
    fs::remove_file(volume.file(0)).unwrap();
    symlink(&precious, volume.file(0)).unwrap();
    let refusal = volume.open().unwrap_err();
    let link = "a symbolic link";
    assert!(
        matches!(&refusal, Refusal::NotARegularFile { found, .. } if *found == link),
        "{refusal}"
    );
    is_explained(&volume, &refusal, &volume.file(0), None);
    assert_eq!(fs::read_to_string(&precious).unwrap(), "years of work");
}

#[test]
fn a_file_with_a_second_hard_link_is_refused() {
    let volume = TestVolume::filled();
    fs::hard_link(volume.file(0), volume.path().join("second")).unwrap();
    let refusal = volume.open().unwrap_err();
    assert!(matches!(refusal, Refusal::NotARegularFile { .. }), "{refusal}");
}

#[test]
fn a_survey_writes_nothing_and_lists_what_will_be_written() {
    let volume = TestVolume::new();
    let survey =
        survey::survey(volume.location(volume.path()), required(2), Overrides::default()).unwrap();
    assert!(survey.is_new);
    let parent = volume.path().canonicalize().unwrap();
    assert_eq!(survey.directory, volume.displayed(&parent.join(OUR_NAME)));
    assert_eq!((survey.to_write[0].files, survey.to_write[0].bytes), (2, 2 * FILE_BYTES));
    assert_eq!(survey.needed_bytes, 2 * FILE_BYTES);
    assert!(TestVolume::names(volume.path()).is_empty());
}

#[test]
fn a_survey_lists_existing_files_that_the_plan_needs_and_others() {
    let volume = TestVolume::filled();
    let of = |required: RequiredFiles| {
        let location = volume.location(volume.path());
        let survey = survey::survey(location, required, Overrides::default()).unwrap();
        survey.inspect().unwrap().existing_sets().unwrap()
    };
    let existing = |files: u32, is_required: bool| ExistingSet {
        set: set(files),
        files,
        bytes: u64::from(files) * FILE_BYTES,
        is_required,
    };
    assert_eq!(of(required(2)), [existing(2, true)]);
    assert_eq!(of(required(1)), [existing(1, true), existing(1, false)]);
    let mut other = required(2);
    other.file_sets[0].stream = "log".to_owned();
    assert_eq!(of(other), [existing(2, false)]);
}

#[test]
fn a_survey_of_a_filled_directory_finds_nothing_to_write() {
    let volume = TestVolume::filled();
    for path in [volume.path(), &volume.our_directory()] {
        let survey =
            survey::survey(volume.location(path), required(2), Overrides::default()).unwrap();
        assert!(!survey.is_new);
        assert!(survey.to_write.is_empty(), "{:?}", survey.to_write);
        assert_eq!(survey.needed_bytes, 0);
    }
    assert_eq!(set(2).total_bytes(), 2 * FILE_BYTES);
}
