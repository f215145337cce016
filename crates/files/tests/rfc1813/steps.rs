//! Random operations on a few paths, and the resulting tree.

use std::collections::BTreeMap;

use files::{Error, FileSystem, Handle, How, Kind, SetAttributes, Stability};
use proptest::prelude::*;

use crate::scene::*;

/// One operation. Paths are relative to the root.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Create(String),
    Mkdir(String),
    Symlink(String),
    Write(String, u64, u64, u8),
    Truncate(String, u64),
    Remove(String),
    Rmdir(String),
    Rename(String, String),
    Link(String, String),
}

/// The object at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Directory { nlink: u32 },
    File { nlink: u32, bytes: Vec<u8> },
    Symlink(Vec<u8>),
}

fn paths() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["a", "b", "c"]);
    proptest::collection::vec(name, 1..4).prop_map(|names| names.join("/"))
}

/// Symbolic links have separate names, so that the kernel never follows one.
fn symlinks() -> impl Strategy<Value = String> {
    paths().prop_map(|path| path + "/s")
}

/// Two paths of files and directories, or of symbolic links.
fn pairs() -> impl Strategy<Value = (String, String)> {
    prop_oneof![5 => (paths(), paths()), 1 => (symlinks(), symlinks())]
}

pub(crate) fn steps() -> impl Strategy<Value = Step> {
    prop_oneof![
        3 => paths().prop_map(Step::Create),
        4 => paths().prop_map(Step::Mkdir),
        1 => symlinks().prop_map(Step::Symlink),
        4 => (paths(), 0..150_000u64, 1..9_000u64, 1..=255u8)
            .prop_map(|(path, offset, length, fill)| Step::Write(path, offset, length, fill)),
        1 => (paths(), 0..150_000u64).prop_map(|(path, size)| Step::Truncate(path, size)),
        1 => prop_oneof![paths(), symlinks()].prop_map(Step::Remove),
        1 => paths().prop_map(Step::Rmdir),
        3 => pairs().prop_map(|(from, to)| Step::Rename(from, to)),
        2 => pairs().prop_map(|(from, to)| Step::Link(from, to)),
    ]
}

/// The directory of a path's last name, and that name.
fn parent<'a>(fs: &FileSystem, path: &'a str) -> Result<(Handle, &'a [u8]), Error> {
    match path.rsplit_once('/') {
        Some((before, name)) => Ok((walk(fs, before)?, name.as_bytes())),
        None => Ok((fs.root(), path.as_bytes())),
    }
}

pub(crate) fn walk(fs: &FileSystem, path: &str) -> Result<Handle, Error> {
    path.split('/').try_fold(fs.root(), |directory, name| {
        fs.lookup(directory, name.as_bytes(), &ROOT).map(|found| found.handle)
    })
}

pub(crate) fn apply(fs: &mut FileSystem, step: &Step, stability: Stability) -> Result<(), Error> {
    let now = at(5);
    match step {
        Step::Create(path) => {
            let (directory, name) = parent(fs, path)?;
            let how = How::Guarded(mode(0o644));
            fs.create(directory, name, how, &ROOT, now).result.map(drop)
        }
        Step::Mkdir(path) => {
            let (directory, name) = parent(fs, path)?;
            fs.mkdir(directory, name, &mode(0o755), &ROOT, now).result.map(drop)
        }
        Step::Symlink(path) => {
            let (directory, name) = parent(fs, path)?;
            let none = SetAttributes::default();
            fs.symlink(directory, name, b"to/nothing", &none, &ROOT, now).result.map(drop)
        }
        Step::Write(path, offset, length, fill) => {
            let file = walk(fs, path)?;
            let data = vec![*fill; *length as usize];
            fs.write(file, *offset, &data, stability, &ROOT, now).result.map(drop)
        }
        Step::Truncate(path, to) => {
            let file = walk(fs, path)?;
            fs.setattr(file, &size(*to), None, &ROOT, now).result
        }
        Step::Remove(path) => {
            let (directory, name) = parent(fs, path)?;
            fs.remove(directory, name, &ROOT, now).result
        }
        Step::Rmdir(path) => {
            let (directory, name) = parent(fs, path)?;
            fs.rmdir(directory, name, &ROOT, now).result
        }
        Step::Rename(from, to) => {
            let (from, to) = (parent(fs, from)?, parent(fs, to)?);
            fs.rename(from, to, &ROOT, now).result
        }
        Step::Link(from, to) => {
            let file = walk(fs, from)?;
            let (directory, name) = parent(fs, to)?;
            fs.link(file, directory, name, &ROOT, now).result
        }
    }
}

/// All objects by path.
pub(crate) fn tree(fs: &FileSystem) -> BTreeMap<String, Found> {
    let mut all = BTreeMap::new();
    let mut rest = vec![(String::new(), fs.root())];
    while let Some((path, directory)) = rest.pop() {
        let page = fs.readdirplus(directory, 0, [0; 8], 65_536, 65_536, &ROOT).unwrap();
        assert!(page.eof);
        for plus in &page.entries[2..] {
            let path = format!("{path}{}", std::str::from_utf8(plus.entry.name).unwrap());
            let object = plus.object.unwrap();
            let nlink = object.attributes.nlink;
            let found = match object.attributes.kind {
                Kind::Directory => {
                    rest.push((format!("{path}/"), object.handle));
                    Found::Directory { nlink }
                }
                Kind::Symlink => Found::Symlink(fs.readlink(object.handle).unwrap().to_vec()),
                _ => Found::File { nlink, bytes: text(fs, object.handle) },
            };
            all.insert(path, found);
        }
    }
    all
}
