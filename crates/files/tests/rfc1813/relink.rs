//! RENAME and LINK.

use files::{Error, FileSystem, Handle, Options, SetAttributes};

use crate::scene::*;

#[test]
fn a_rename_over_a_file_replaces_it_and_its_handle_is_stale() {
    let mut fs = fs();
    let root = fs.root();
    let (old, new) = (file(&mut fs, "a"), file(&mut fs, "b"));
    let answer = fs.rename((root, b"b"), (root, b"a"), &ROOT, at(5));
    answer.result.unwrap();
    assert_eq!(answer.from, answer.to, "one directory");
    assert!(answer.to.before.unwrap().mtime < at(5));
    assert_eq!(answer.to.after.unwrap().mtime, at(5));
    assert_eq!(fs.getattr(old), Err(Error::Stale));
    assert_eq!((find(&fs, root, "a"), find(&fs, root, "b")), (Some(new), None));
    assert_eq!(fs.getattr(new).unwrap().ctime, at(5));
    fs.check();
}

#[test]
fn a_file_with_another_name_survives_being_replaced_under_one() {
    let mut fs = fs();
    let root = fs.root();
    let old = file(&mut fs, "a");
    fs.link(old, root, b"other", &ROOT, at(3)).result.unwrap();
    file(&mut fs, "b");
    fs.rename((root, b"b"), (root, b"a"), &ROOT, at(5)).result.unwrap();
    let attributes = fs.getattr(old).unwrap();
    assert_eq!((attributes.nlink, attributes.ctime), (1, at(5)));
    fs.check();
}

#[test]
fn a_directory_moves_with_its_content_and_gets_its_new_parent() {
    let mut fs = fs();
    let root = fs.root();
    let (from, to) = (directory(&mut fs, root, "from"), directory(&mut fs, root, "to"));
    let moved = directory(&mut fs, from, "d");
    let inside = file_in(&mut fs, moved, "f").handle;
    let answer = fs.rename((from, b"d"), (to, b"e"), &ROOT, at(5));
    answer.result.unwrap();
    assert_eq!((answer.from.after.unwrap().nlink, answer.to.after.unwrap().nlink), (2, 3));
    assert_eq!(find(&fs, to, "e"), Some(moved));
    assert_eq!(find(&fs, moved, ".."), Some(to));
    assert_eq!(find(&fs, moved, "f"), Some(inside));
    fs.check();
}

#[test]
fn a_directory_is_not_moved_into_itself_or_below() {
    let mut fs = fs();
    let root = fs.root();
    let upper = directory(&mut fs, root, "upper");
    let lower = directory(&mut fs, upper, "lower");
    for target in [upper, lower] {
        let refused = fs.rename((root, b"upper"), (target, b"x"), &ROOT, at(5)).result;
        assert_eq!(refused, Err(Error::Inval));
    }
    fs.check();
}

#[test]
fn a_rename_between_two_names_of_one_file_does_nothing() {
    let mut fs = fs();
    let root = fs.root();
    let file = file(&mut fs, "a");
    fs.link(file, root, b"b", &ROOT, at(3)).result.unwrap();
    let answer = fs.rename((root, b"a"), (root, b"b"), &ROOT, at(5));
    assert_eq!(answer.result, Ok(()));
    assert_eq!(answer.to.after.unwrap().mtime, at(3), "unchanged since the LINK");
    assert_eq!((find(&fs, root, "a"), find(&fs, root, "b")), (Some(file), Some(file)));
    assert_eq!(fs.rename((root, b"a"), (root, b"a"), &ROOT, at(5)).result, Ok(()));
}

#[test]
fn a_rename_replaces_only_an_object_of_the_same_kind_and_an_empty_directory() {
    let mut fs = fs();
    let root = fs.root();
    file(&mut fs, "f");
    let full = directory(&mut fs, root, "full");
    file_in(&mut fs, full, "x");
    let empty = directory(&mut fs, root, "empty");
    let moved = directory(&mut fs, root, "d");
    for (from, to) in [("f", "empty"), ("d", "f"), ("d", "full"), ("f", "full")] {
        let names = ((root, from.as_bytes()), (root, to.as_bytes()));
        let refused = fs.rename(names.0, names.1, &ROOT, at(5)).result;
        assert_eq!(refused, Err(Error::Exist), "{from} {to}");
    }
    let nothing = fs.rename((root, b"nothing"), (root, b"x"), &ROOT, at(5)).result;
    assert_eq!(nothing, Err(Error::NoEnt));
    fs.rename((root, b"d"), (root, b"empty"), &ROOT, at(5)).result.unwrap();
    assert_eq!(find(&fs, root, "empty"), Some(moved));
    assert_eq!(fs.getattr(empty), Err(Error::Stale));
    assert_eq!(fs.getattr(root).unwrap().nlink, 4);
    fs.check();
}

#[test]
fn a_link_is_another_name_of_the_same_file() {
    let mut fs = fs();
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, b"abc");
    let answer = fs.link(file, inner, b"g", &ROOT, at(5));
    answer.result.unwrap();
    let attributes = answer.file.unwrap();
    assert_eq!((attributes.nlink, attributes.ctime, attributes.mtime), (2, at(5), at(3)));
    assert_eq!(answer.directory.after.unwrap().mtime, at(5));
    fs.remove(root, b"f", &ROOT, at(6)).result.unwrap();
    assert_eq!((text(&fs, file), fs.getattr(file).unwrap().nlink), (b"abc".to_vec(), 1));
    fs.check();
}

#[test]
fn links_are_refused_for_directories_for_existing_names_and_beyond_their_limit() {
    let mut fs = FileSystem::new(Options { links_max: 3, ..options() });
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    let file = file(&mut fs, "f");
    assert_eq!(fs.link(inner, root, b"x", &ROOT, at(5)).result, Err(Error::Inval));
    assert_eq!(fs.link(file, root, b"d", &ROOT, at(5)).result, Err(Error::Exist));
    assert_eq!(fs.link(file, root, b"..", &ROOT, at(5)).result, Err(Error::Exist));
    assert_eq!(fs.link(file, file, b"x", &ROOT, at(5)).result, Err(Error::NotDir));
    fs.link(file, root, b"2", &ROOT, at(5)).result.unwrap();
    fs.link(file, root, b"3", &ROOT, at(5)).result.unwrap();
    assert_eq!(fs.link(file, root, b"4", &ROOT, at(5)).result, Err(Error::MLink));
    let none = SetAttributes::default();
    let text = fs.symlink(root, b"l", b"f", &none, &ROOT, at(6)).result.unwrap().handle;
    fs.link(text, root, b"m", &ROOT, at(7)).result.unwrap();
    fs.check();
}

#[test]
fn two_volumes_share_neither_names_nor_links() {
    let mut fs = fs();
    let root = fs.root();
    let elsewhere = Handle { fsid: 43, ..root };
    let file = file(&mut fs, "f");
    let moved = fs.rename((root, b"f"), (elsewhere, b"f"), &ROOT, at(5)).result;
    assert_eq!(moved, Err(Error::XDev));
    assert_eq!(fs.link(file, elsewhere, b"g", &ROOT, at(5)).result, Err(Error::XDev));
}
