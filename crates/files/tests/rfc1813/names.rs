//! LOOKUP, CREATE, MKDIR, SYMLINK, REMOVE, RMDIR.

use files::{Error, FileSystem, How, Options, SetAttributes};

use crate::scene::*;

const NONE: SetAttributes = SetAttributes {
    mode: None,
    uid: None,
    gid: None,
    size: None,
    atime: files::SetTime::Keep,
    mtime: files::SetTime::Keep,
};

#[test]
fn dot_is_the_directory_and_dot_dot_its_parent_or_the_root() {
    let mut fs = fs();
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    assert_eq!(find(&fs, inner, "."), Some(inner));
    assert_eq!(find(&fs, inner, ".."), Some(root));
    assert_eq!(find(&fs, root, ".."), Some(root));
    let file = file(&mut fs, "f");
    assert_eq!(fs.lookup(file, b".", &ROOT), Err(Error::NotDir));
    assert_eq!(fs.lookup(root, b"nothing", &ROOT), Err(Error::NoEnt));
}

#[test]
fn invalid_names_are_refused_by_every_procedure() {
    let mut fs = fs();
    let root = fs.root();
    file(&mut fs, "f");
    let long = [b'x'; 256];
    for (name, error) in [
        (&b""[..], Error::Acces),
        (&long[..], Error::NameTooLong),
        (b"a/b", Error::Inval),
        (b"a\0b", Error::Inval),
    ] {
        assert_eq!(fs.lookup(root, name, &ROOT), Err(error));
        let created = fs.create(root, name, How::Unchecked(NONE), &ROOT, at(3)).result;
        assert_eq!(created, Err(error));
        assert_eq!(fs.mkdir(root, name, &NONE, &ROOT, at(3)).result, Err(error));
        assert_eq!(fs.symlink(root, name, b"x", &NONE, &ROOT, at(3)).result, Err(error));
        assert_eq!(fs.remove(root, name, &ROOT, at(3)).result, Err(error));
        assert_eq!(fs.rmdir(root, name, &ROOT, at(3)).result, Err(error));
        assert_eq!(fs.rename((root, b"f"), (root, name), &ROOT, at(3)).result, Err(error));
        assert_eq!(fs.rename((root, name), (root, b"g"), &ROOT, at(3)).result, Err(error));
    }
    file(&mut fs, std::str::from_utf8(&long[..255]).unwrap());
}

#[test]
fn dot_and_dot_dot_exist_and_cannot_be_removed() {
    let mut fs = fs();
    let root = fs.root();
    for name in [&b"."[..], b".."] {
        let created = fs.create(root, name, How::Unchecked(NONE), &ROOT, at(3)).result;
        assert_eq!(created, Err(Error::Exist));
        assert_eq!(fs.mkdir(root, name, &NONE, &ROOT, at(3)).result, Err(Error::Exist));
        assert_eq!(fs.remove(root, name, &ROOT, at(3)).result, Err(Error::IsDir));
        file(&mut fs, "f");
        assert_eq!(fs.rename((root, b"f"), (root, name), &ROOT, at(3)).result, Err(Error::Inval));
        assert_eq!(fs.rename((root, name), (root, b"g"), &ROOT, at(3)).result, Err(Error::Inval));
        fs.remove(root, b"f", &ROOT, at(3)).result.unwrap();
    }
    assert_eq!(fs.rmdir(root, b".", &ROOT, at(3)).result, Err(Error::Inval));
    assert_eq!(fs.rmdir(root, b"..", &ROOT, at(3)).result, Err(Error::Exist));
}

#[test]
fn an_unchecked_create_opens_an_existing_file_and_sets_only_its_size() {
    let mut fs = fs();
    let root = fs.root();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, b"abc");
    let how = How::Unchecked(mode(0o000));
    let again = fs.create(root, b"f", how, &ROOT, at(5)).result.unwrap();
    assert_eq!((again.handle, again.attributes.mode, again.attributes.size), (file, 0o666, 3));
    let how = How::Unchecked(size(0));
    let again = fs.create(root, b"f", how, &ROOT, at(6)).result.unwrap();
    assert_eq!((again.handle, again.attributes.size), (file, 0));
    directory(&mut fs, root, "d");
    let taken = fs.create(root, b"d", How::Unchecked(NONE), &ROOT, at(7)).result;
    assert_eq!(taken, Err(Error::Exist));
}

#[test]
fn a_guarded_create_refuses_an_existing_name() {
    let mut fs = fs();
    file(&mut fs, "f");
    let answer = fs.create(fs.root(), b"f", How::Guarded(NONE), &ROOT, at(5));
    assert_eq!(answer.result, Err(Error::Exist));
    assert_eq!(answer.wcc.before.unwrap().mtime, answer.wcc.after.unwrap().mtime);
}

#[test]
fn a_retransmitted_exclusive_create_succeeds_and_another_one_does_not() {
    let mut fs = fs();
    let root = fs.root();
    let how = How::Exclusive(*b"verifier");
    let first = fs.create(root, b"f", how, &ALICE, at(5)).result.unwrap();
    // The client sets the attributes; the CREATE may still be retransmitted after that.
    fs.setattr(first.handle, &mode(0o640), None, &ALICE, at(6)).result.unwrap();
    let again = fs.create(root, b"f", how, &ALICE, at(7));
    assert_eq!(again.result.unwrap().handle, first.handle);
    assert_eq!(again.wcc.before.unwrap().mtime, again.wcc.after.unwrap().mtime);
    let other = fs.create(root, b"f", How::Exclusive(*b"another1"), &ALICE, at(8)).result;
    assert_eq!(other, Err(Error::Exist));
    file(&mut fs, "g");
    assert_eq!(fs.create(root, b"g", how, &ROOT, at(9)).result, Err(Error::Exist));
}

#[test]
fn creating_and_removing_changes_the_times_of_the_directory() {
    let mut fs = fs();
    let root = fs.root();
    let created = fs.mkdir(root, b"d", &NONE, &ROOT, at(5));
    assert_eq!(created.wcc.before.unwrap().mtime, at(1));
    assert_eq!(created.wcc.after.unwrap().mtime, at(5));
    let removed = fs.rmdir(root, b"d", &ROOT, at(6));
    assert_eq!(removed.wcc.before.unwrap().mtime, at(5));
    assert_eq!(removed.wcc.after.unwrap().mtime, at(6));
    fs.check();
}

#[test]
fn remove_is_for_files_and_rmdir_for_empty_directories() {
    let mut fs = fs();
    let root = fs.root();
    let inner = directory(&mut fs, root, "d");
    file_in(&mut fs, inner, "f");
    file(&mut fs, "f");
    assert_eq!(fs.remove(root, b"d", &ROOT, at(3)).result, Err(Error::IsDir));
    assert_eq!(fs.rmdir(root, b"f", &ROOT, at(3)).result, Err(Error::NotDir));
    assert_eq!(fs.rmdir(root, b"d", &ROOT, at(3)).result, Err(Error::NotEmpty));
    assert_eq!(fs.remove(root, b"none", &ROOT, at(3)).result, Err(Error::NoEnt));
    fs.remove(inner, b"f", &ROOT, at(3)).result.unwrap();
    fs.rmdir(root, b"d", &ROOT, at(3)).result.unwrap();
    assert_eq!(fs.lookup(inner, b".", &ROOT), Err(Error::Stale));
    let how = How::Guarded(NONE);
    assert_eq!(fs.create(inner, b"x", how, &ROOT, at(4)).result, Err(Error::Stale));
}

#[test]
fn the_maximum_number_of_links_limits_subdirectories() {
    let mut fs = FileSystem::new(Options { links_max: 4, ..options() });
    let root = fs.root();
    directory(&mut fs, root, "a");
    let inner = directory(&mut fs, root, "b");
    assert_eq!(fs.mkdir(root, b"c", &NONE, &ROOT, at(3)).result, Err(Error::MLink));
    directory(&mut fs, inner, "c");
    let moved = fs.rename((inner, b"c"), (root, b"c"), &ROOT, at(4)).result;
    assert_eq!(moved, Err(Error::MLink));
    fs.check();
}
