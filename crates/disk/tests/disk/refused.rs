//! Directories and journals that are not as a service left them.

use std::fs;

use disk::{Directory, Error};
use files::SetAttributes;

use crate::scene::*;

#[test]
fn a_directory_with_content_of_others_is_refused_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("thesis.tex"), "x").unwrap();
    let refused = Directory::open(folder.path(), |_| {}).err().unwrap();
    assert!(matches!(&refused, Error::Foreign { entry, .. } if entry == "thesis.tex"));
    assert!(refused.to_string().contains("give a directory that is empty or new"), "{refused}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn content_of_others_among_volumes_is_refused_too() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path(), options()));
    for place in ["notes.txt", "alpha/notes.txt", "alpha/data/notes.txt"] {
        let path = folder.path().join(place);
        fs::write(&path, "x").unwrap();
        let opened = Directory::open(folder.path(), |_| {});
        let refused = opened.and_then(|directory| directory.volume("alpha", later()));
        assert!(matches!(refused, Err(Error::Foreign { .. })), "{place}");
        fs::remove_file(path).unwrap();
    }
    open(folder.path(), later()).check();
}

#[test]
fn two_services_cannot_share_a_directory_and_the_second_comes_when_the_first_is_gone() {
    let folder = tempfile::tempdir().unwrap();
    let volume = open(folder.path(), options());
    let refused = Directory::open(folder.path(), |_| {}).err().unwrap();
    assert!(matches!(refused, Error::InUse { .. }), "{refused}");
    drop(volume);
    open(folder.path(), later()).check();
}

#[test]
fn names_that_lead_out_of_the_directory_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let directory = Directory::open(folder.path(), |_| {}).unwrap();
    for name in ["", ".", "..", "a/b", ".hidden", "-x", "a b", "\u{e4}"] {
        let refused = directory.volume(name, options());
        assert!(matches!(refused, Err(Error::Name { .. })), "{name:?}");
    }
}

#[test]
fn a_damaged_journal_is_refused_with_its_name_and_the_place_and_nothing_is_changed() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let root = volume.root();
    for name in [b"a", b"b", b"c"] {
        volume.mkdir(root, name, &SetAttributes::default(), &ROOT, at(2)).result.unwrap();
        volume.sync().unwrap();
    }
    drop(volume);
    let path = folder.path().join("alpha/journal");
    let good = fs::read(&path).unwrap();
    let mut bad = good.clone();
    bad[good.len() / 2] ^= 1;
    fs::write(&path, &bad).unwrap();
    let directory = Directory::open(folder.path(), |_| {}).unwrap();
    let refused = directory.volume("alpha", later()).err().unwrap();
    let Error::Damaged { path: named, offset, .. } = &refused else { panic!("{refused}") };
    assert_eq!(named, &path);
    assert!(*offset > 0 && *offset <= good.len() as u64 / 2);
    assert_eq!(fs::read(&path).unwrap(), bad);
    fs::write(&path, good).unwrap();
    directory.volume("alpha", later()).unwrap().check();
}

#[test]
fn data_without_a_journal_and_formats_of_tomorrow_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(open(folder.path(), options()));
    let path = folder.path().join("alpha/journal");
    fs::write(&path, "fourcorners journal 2\n").unwrap();
    let directory = Directory::open(folder.path(), |_| {}).unwrap();
    let refused = directory.volume("alpha", later());
    assert!(matches!(refused, Err(Error::Version { .. })));
    fs::remove_file(&path).unwrap();
    fs::write(folder.path().join("alpha/data/0000000000000003-00000001"), "x").unwrap();
    let refused = directory.volume("alpha", later());
    assert!(matches!(refused, Err(Error::NoJournal { .. })));
    drop(directory);
    fs::write(folder.path().join(".fourcorners-volumes"), "fourcorners volumes 2\n").unwrap();
    let refused = Directory::open(folder.path(), |_| {});
    assert!(matches!(refused, Err(Error::Version { .. })));
}

#[test]
fn an_end_that_a_crash_cut_off_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let mut volume = open(folder.path(), options());
    let root = volume.root();
    let mut states = vec![everything(&volume)];
    let path = folder.path().join("alpha/journal");
    let mut edges = vec![fs::read(&path).unwrap().len()];
    for name in [b"a", b"b", b"c"] {
        volume.mkdir(root, name, &SetAttributes::default(), &ROOT, at(2)).result.unwrap();
        volume.sync().unwrap();
        states.push(everything(&volume));
        edges.push(fs::read(&path).unwrap().len());
    }
    drop(volume);
    let whole = fs::read(&path).unwrap();
    for length in (edges[0]..=whole.len()).rev().step_by(7).chain([edges[1], edges[0]]) {
        fs::write(&path, &whole[..length]).unwrap();
        let told = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
        let tell = std::sync::Arc::clone(&told);
        let tell = move |text: &str| tell.lock().unwrap().push(text.to_owned());
        let directory = Directory::open(folder.path(), tell).unwrap();
        let seen = everything(&directory.volume("alpha", later()).unwrap());
        let whole_units = edges.iter().filter(|edge| **edge <= length).count() - 1;
        assert!(seen == states[whole_units], "{length}");
        let cut = told.lock().unwrap().iter().any(|text| text.contains("a crash cut off"));
        assert_eq!(cut, !edges.contains(&length), "{length}");
    }
}
