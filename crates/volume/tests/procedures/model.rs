//! Random sequences of procedures compared with a simple model of a tree: names, contents, links.
//! Weak cache consistency data is compared with GETATTR before and after each call.

use std::collections::BTreeMap;

use nfs3::arguments::*;
use nfs3::request::{NfsArguments as A, NfsResults as R};
use nfs3::results::*;
use nfs3::types::nfsstat3 as S;
use nfs3::types::*;
use proptest::prelude::*;

use crate::calls::*;
use crate::outcome::outcome_of;
use crate::scene::{Scene, scene};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

#[derive(Clone, Debug, PartialEq)]
enum Body {
    File(Vec<u8>),
    Directory { entries: BTreeMap<&'static str, usize>, parent: usize },
    Link(&'static str),
}

#[derive(Clone, Debug)]
struct Node {
    body: Body,
    names: usize,
}

/// Numbers are indices of all objects ever created, removed or not, modulo their count.
#[derive(Clone, Copy, Debug)]
enum Step {
    Create(usize, &'static str, bool),
    Mkdir(usize, &'static str),
    Symlink(usize, &'static str),
    Remove(usize, &'static str),
    Rmdir(usize, &'static str),
    Rename(usize, &'static str, usize, &'static str),
    Link(usize, usize, &'static str),
    Write(usize, u32, u32, u8),
    Size(usize, u32),
    Read(usize, u32, u32),
    Lookup(usize, &'static str),
}

/// The expected tree: nodes[0] is the root, nodes[i] has handles[i].
struct Model {
    nodes: Vec<Node>,
    handles: Vec<Handle>,
}

impl Model {
    fn directory(&self, index: usize) -> Result<&BTreeMap<&'static str, usize>, S> {
        match &self.nodes[index] {
            Node { names: 0, .. } => Err(S::NFS3ERR_STALE),
            Node { body: Body::Directory { entries, .. }, .. } => Ok(entries),
            _ => Err(S::NFS3ERR_NOTDIR),
        }
    }

    fn file(&self, index: usize) -> Result<&Vec<u8>, S> {
        match &self.nodes[index] {
            Node { names: 0, .. } => Err(S::NFS3ERR_STALE),
            Node { body: Body::File(bytes), .. } => Ok(bytes),
            Node { body: Body::Directory { .. }, .. } => Err(S::NFS3ERR_ISDIR),
            Node { body: Body::Link(_), .. } => Err(S::NFS3ERR_INVAL),
        }
    }

    fn is_directory(&self, index: usize) -> bool {
        matches!(self.nodes[index].body, Body::Directory { .. })
    }

    fn entries(&mut self, index: usize) -> &mut BTreeMap<&'static str, usize> {
        match &mut self.nodes[index].body {
            Body::Directory { entries, .. } => entries,
            other => panic!("{other:?}"),
        }
    }

    fn bytes(&mut self, index: usize) -> &mut Vec<u8> {
        match &mut self.nodes[index].body {
            Body::File(bytes) => bytes,
            other => panic!("{other:?}"),
        }
    }

    fn is_within(&self, mut index: usize, ancestor: usize) -> bool {
        loop {
            if index == ancestor {
                return true;
            }
            match &self.nodes[index].body {
                Body::Directory { parent, .. } if *parent != index => index = *parent,
                _ => return false,
            }
        }
    }

    fn make(&mut self, directory: usize, name: &'static str, body: Body) -> Result<(), S> {
        if self.directory(directory)?.contains_key(name) {
            return Err(S::NFS3ERR_EXIST);
        }
        let index = self.nodes.len();
        self.nodes.push(Node { body, names: 1 });
        self.entries(directory).insert(name, index);
        Ok(())
    }

    fn remove(&mut self, directory: usize, name: &str, is_rmdir: bool) -> Result<(), S> {
        let index = *self.directory(directory)?.get(name).ok_or(S::NFS3ERR_NOENT)?;
        match (is_rmdir, &self.nodes[index].body) {
            (false, Body::Directory { .. }) => return Err(S::NFS3ERR_ISDIR),
            (true, Body::Directory { entries, .. }) if !entries.is_empty() => {
                return Err(S::NFS3ERR_NOTEMPTY);
            }
            (true, Body::File(_) | Body::Link(_)) => return Err(S::NFS3ERR_NOTDIR),
            _ => {}
        }
        self.entries(directory).remove(name);
        self.nodes[index].names -= 1;
        Ok(())
    }

    fn rename(
        &mut self,
        (from, old): (usize, &'static str),
        (to, new): (usize, &'static str),
    ) -> Result<(), S> {
        let stale = |index: usize| self.nodes[index].names == 0;
        if stale(from) || stale(to) {
            return Err(S::NFS3ERR_STALE);
        }
        self.directory(to).and(self.directory(from))?;
        let moved = *self.directory(from)?.get(old).ok_or(S::NFS3ERR_NOENT)?;
        let replaced = self.directory(to)?.get(new).copied();
        if replaced == Some(moved) {
            return Ok(());
        }
        if self.is_directory(moved) && self.is_within(to, moved) {
            return Err(S::NFS3ERR_INVAL);
        }
        if let Some(replaced) = replaced {
            let empty = self.directory(replaced).is_ok_and(BTreeMap::is_empty);
            let both = self.is_directory(moved) && empty;
            if !both && (self.is_directory(moved) || self.is_directory(replaced)) {
                return Err(S::NFS3ERR_EXIST);
            }
            self.nodes[replaced].names -= 1;
        }
        self.entries(from).remove(old);
        self.entries(to).insert(new, moved);
        if let Body::Directory { parent, .. } = &mut self.nodes[moved].body {
            *parent = to;
        }
        Ok(())
    }

    fn link(&mut self, file: usize, directory: usize, name: &'static str) -> Result<(), S> {
        if self.nodes[file].names == 0 {
            return Err(S::NFS3ERR_STALE);
        }
        if self.directory(directory)?.contains_key(name) {
            return Err(S::NFS3ERR_EXIST);
        }
        if self.is_directory(file) {
            return Err(S::NFS3ERR_INVAL);
        }
        self.entries(directory).insert(name, file);
        self.nodes[file].names += 1;
        Ok(())
    }

    /// Performs a step on the model.
    fn step(&mut self, step: Step) -> Result<(), S> {
        match step {
            Step::Create(directory, name, guarded) => {
                match self.directory(directory)?.get(name).copied() {
                    Some(index) if guarded || self.file(index).is_err() => Err(S::NFS3ERR_EXIST),
                    Some(_) => Ok(()),
                    None => self.make(directory, name, Body::File(Vec::new())),
                }
            }
            Step::Mkdir(parent, name) => {
                let entries = BTreeMap::new();
                self.make(parent, name, Body::Directory { entries, parent })
            }
            Step::Symlink(directory, name) => self.make(directory, name, Body::Link(name)),
            Step::Remove(directory, name) => self.remove(directory, name, false),
            Step::Rmdir(directory, name) => self.remove(directory, name, true),
            Step::Rename(from, old, to, new) => self.rename((from, old), (to, new)),
            Step::Link(file, directory, name) => self.link(file, directory, name),
            Step::Write(file, offset, length, fill) => {
                self.file(file)?;
                let (offset, end) = (offset as usize, (offset + length) as usize);
                let bytes = self.bytes(file);
                if length > 0 {
                    bytes.resize(bytes.len().max(end), 0);
                    bytes[offset..end].fill(fill);
                }
                Ok(())
            }
            Step::Size(file, size) => {
                self.file(file)?;
                self.bytes(file).resize(size as usize, 0);
                Ok(())
            }
            Step::Read(file, ..) => self.file(file).map(|_| ()),
            Step::Lookup(directory, name) => {
                let found = self.directory(directory)?.contains_key(name);
                if found { Ok(()) } else { Err(S::NFS3ERR_NOENT) }
            }
        }
    }

    /// The step with numbers of existing objects.
    fn bounded(&self, step: Step) -> Step {
        let count = self.nodes.len();
        match step {
            Step::Create(d, name, guarded) => Step::Create(d % count, name, guarded),
            Step::Mkdir(d, name) => Step::Mkdir(d % count, name),
            Step::Symlink(d, name) => Step::Symlink(d % count, name),
            Step::Remove(d, name) => Step::Remove(d % count, name),
            Step::Rmdir(d, name) => Step::Rmdir(d % count, name),
            Step::Rename(d, old, e, new) => Step::Rename(d % count, old, e % count, new),
            Step::Link(file, d, name) => Step::Link(file % count, d % count, name),
            Step::Write(file, at, length, fill) => Step::Write(file % count, at, length, fill),
            Step::Size(file, size) => Step::Size(file % count, size),
            Step::Read(file, at, length) => Step::Read(file % count, at, length),
            Step::Lookup(d, name) => Step::Lookup(d % count, name),
        }
    }
}

/// The attributes of an object; `None` if its handle is stale.
fn attributes_of(scene: &mut Scene, object: &Handle) -> Option<fattr3> {
    scene.nfs(getattr(object), |results| match results {
        R::GETATTR(Res3::Ok(ok)) => Some(ok.obj_attributes),
        R::GETATTR(Res3::Fail(status, ())) => {
            assert_eq!(*status, S::NFS3ERR_STALE);
            None
        }
        other => panic!("{other:?}"),
    })
}

/// Performs a step by a call, and compares its results with the model and with GETATTR.
fn step(scene: &mut Scene, model: &mut Model, step: Step) {
    let step = model.bounded(step);
    let handles = model.handles.clone();
    let fill;
    // The objects with weak cache consistency data in the results.
    let (arguments, subjects): (A<'_>, Vec<usize>) = match step {
        Step::Create(d, name, true) => {
            (create(&handles[d], name, createhow3::GUARDED(mode(0o644))), vec![d])
        }
        Step::Create(d, name, false) => {
            (create(&handles[d], name, createhow3::UNCHECKED(mode(0o644))), vec![d])
        }
        Step::Mkdir(d, name) => (mkdir(&handles[d], name, mode(0o755)), vec![d]),
        Step::Symlink(d, name) => (symlink(&handles[d], name, name), vec![d]),
        Step::Remove(d, name) => (remove(&handles[d], name), vec![d]),
        Step::Rmdir(d, name) => (rmdir(&handles[d], name), vec![d]),
        Step::Rename(d, old, e, new) => {
            (rename(at(&handles[d], old), at(&handles[e], new)), vec![d, e])
        }
        Step::Link(file, d, name) => (link(&handles[file], at(&handles[d], name)), vec![d]),
        Step::Write(file, offset, length, byte) => {
            fill = vec![byte; length as usize];
            (write(&handles[file], u64::from(offset), stable_how::UNSTABLE, &fill), vec![file])
        }
        Step::Size(file, size) => {
            let set = sattr3 { size: Some(u64::from(size)), ..sattr3::UNCHANGED };
            (setattr(&handles[file], set), vec![file])
        }
        Step::Read(file, at, length) => (read(&handles[file], u64::from(at), length), vec![]),
        Step::Lookup(d, name) => (lookup(&handles[d], name), vec![]),
    };
    let before: Vec<Option<fattr3>> =
        subjects.iter().map(|index| attributes_of(scene, &handles[*index])).collect();
    let expected = model.step(step);
    let (outcome, created, data) = scene.nfs(arguments, |results| {
        let created = match results {
            R::CREATE(Res3::Ok(ok)) | R::MKDIR(Res3::Ok(ok)) | R::SYMLINK(Res3::Ok(ok)) => {
                ok.obj.map(Handle::from)
            }
            _ => None,
        };
        let data = match results {
            R::READ(Res3::Ok(ok)) => Some((ok.data.0.to_vec(), ok.eof)),
            _ => None,
        };
        (outcome_of(results), created, data)
    });
    assert_eq!(outcome.status, expected.err().unwrap_or(S::NFS3_OK), "{step:?}");
    if model.nodes.len() > model.handles.len() {
        model.handles.push(created.unwrap());
    }
    for ((index, before), wcc) in subjects.iter().zip(before).zip(&outcome.wcc) {
        let was = before.map(|was| wcc_attr { size: was.size, mtime: was.mtime, ctime: was.ctime });
        assert_eq!(wcc.before, was, "{step:?}");
        assert_eq!(wcc.after, attributes_of(scene, &handles[*index]), "{step:?}");
        if let (Some(was), Some(is)) = (wcc.before, wcc.after) {
            let changes = was.ctime != is.ctime;
            assert!(is.ctime >= was.ctime, "{step:?}");
            assert!(expected.is_ok() || !changes, "{step:?}: a refusal changed something");
        }
    }
    if let (Step::Read(file, offset, length), Some((data, eof))) = (step, data) {
        let bytes = model.file(file).unwrap();
        let from = (offset as usize).min(bytes.len());
        let to = (from + length as usize).min(bytes.len());
        assert!(data == bytes[from..to], "{step:?}: wrong data");
        assert_eq!(eof, offset as usize + data.len() >= bytes.len(), "{step:?}");
    }
}

/// Lists all objects and compares them with the model.
fn compare(scene: &mut Scene, model: &Model) {
    for (node, handle) in model.nodes.iter().zip(&model.handles) {
        let attributes = attributes_of(scene, handle);
        assert_eq!(attributes.is_some(), node.names > 0);
        let Some(attributes) = attributes else { continue };
        match &node.body {
            Body::File(bytes) => {
                assert_eq!(
                    (attributes.ftype, attributes.size),
                    (ftype3::NF3REG, bytes.len() as u64)
                );
                assert_eq!(attributes.nlink as usize, node.names);
                scene.nfs(read(handle, 0, 1 << 20), |results| match results {
                    R::READ(Res3::Ok(ok)) => assert!(ok.data.0 == bytes && ok.eof),
                    other => panic!("{other:?}"),
                });
            }
            Body::Link(text) => scene.nfs(readlink(handle), |results| match results {
                R::READLINK(Res3::Ok(ok)) => assert_eq!(ok.data.0, text.as_bytes()),
                other => panic!("{other:?}"),
            }),
            Body::Directory { entries, .. } => {
                let below = entries.values().filter(|index| model.is_directory(**index)).count();
                assert_eq!(attributes.nlink as usize, 2 + below);
                let listed = readdirplus(handle, (0, [0; 8]), 1 << 20, 1 << 20);
                scene.nfs(listed, |results| match results {
                    R::READDIRPLUS(Res3::Ok(ok)) => {
                        let found: BTreeMap<&[u8], Handle> = ok.reply.entries[2..]
                            .iter()
                            .map(|entry| (entry.name.0, entry.name_handle.unwrap().into()))
                            .collect();
                        let expected: BTreeMap<&[u8], Handle> = entries
                            .iter()
                            .map(|(name, index)| (name.as_bytes(), model.handles[*index]))
                            .collect();
                        assert_eq!(found, expected);
                        assert_eq!(ok.reply.entries.len(), found.len() + 2);
                    }
                    other => panic!("{other:?}"),
                });
            }
        }
    }
}

fn steps() -> impl Strategy<Value = Step> {
    let name = proptest::sample::select(&NAMES[..]);
    let other = proptest::sample::select(&NAMES[..]);
    let (object, second) = (0..20usize, 0..20usize);
    (0..14u8, object, name, second, other, 0..100_000u32, any::<u8>()).prop_map(
        |(kind, object, name, second, other, number, byte)| match kind {
            0 | 1 => Step::Create(object, name, byte % 2 == 0),
            2 | 3 => Step::Mkdir(object, name),
            4 => Step::Symlink(object, name),
            5 => Step::Remove(object, name),
            6 => Step::Rmdir(object, name),
            7 | 8 => Step::Rename(object, name, second, other),
            9 => Step::Link(object, second, name),
            10 => Step::Write(object, number, u32::from(byte) * 300, byte),
            11 => Step::Size(object, number),
            12 => Step::Read(object, number, u32::from(byte) * 300),
            _ => Step::Lookup(object, name),
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn any_sequence_of_procedures_gives_the_tree_and_the_statuses_of_a_simple_model(
        all in proptest::collection::vec(steps(), 1..80)
    ) {
        let mut scene = scene();
        let root = scene.root_of("/vol1");
        let body = Body::Directory { entries: BTreeMap::new(), parent: 0 };
        let mut model = Model { nodes: vec![Node { body, names: 1 }], handles: vec![root] };
        for one in all {
            step(&mut scene, &mut model, one);
        }
        compare(&mut scene, &model);
        scene.files("vol1").check();
    }
}
