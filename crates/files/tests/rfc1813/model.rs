//! Random operations compared with a simple model: a map from paths to files, each with its current
//! bytes and its bytes on stable storage.

use std::collections::{BTreeMap, BTreeSet};

use files::Stability;
use proptest::prelude::*;
use units::Bytes;

use crate::scene;
use crate::steps::{Found, Step, apply, steps, tree, walk};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Node {
    Directory,
    File(usize),
    Symlink(usize),
}

#[derive(Clone, Debug, Default)]
struct Content {
    now: Vec<u8>,
    stable: Vec<u8>,
}

#[derive(Debug, Default)]
struct Model {
    paths: BTreeMap<String, Node>,
    contents: Vec<Content>,
}

impl Model {
    fn has_parent(&self, path: &str) -> bool {
        path.rsplit_once('/')
            .is_none_or(|(parent, _)| self.paths.get(parent) == Some(&Node::Directory))
    }

    fn is_empty(&self, path: &str) -> bool {
        let inside = format!("{path}/");
        !self.paths.keys().any(|other| other.starts_with(&inside))
    }

    /// Adds a node if its parent exists and its path is free; returns whether it did.
    fn add(&mut self, path: &str, node: Node) -> bool {
        let free = self.has_parent(path) && !self.paths.contains_key(path);
        if free {
            self.paths.insert(path.to_owned(), node);
        }
        free
    }

    fn new_content(&mut self) -> usize {
        self.contents.push(Content::default());
        self.contents.len() - 1
    }

    /// Performs a step; returns whether it succeeded.
    fn apply(&mut self, step: &Step, stability: Stability) -> bool {
        match step {
            Step::Create(path) => {
                let content = self.new_content();
                self.add(path, Node::File(content))
            }
            Step::Mkdir(path) => self.add(path, Node::Directory),
            Step::Symlink(path) => {
                let content = self.new_content();
                self.add(path, Node::Symlink(content))
            }
            Step::Write(path, offset, length, fill) => {
                let Some(Node::File(content)) = self.paths.get(path) else { return false };
                let content = &mut self.contents[*content];
                put(&mut content.now, *offset, *length, *fill);
                if stability != Stability::Unstable {
                    put(&mut content.stable, *offset, *length, *fill);
                }
                true
            }
            Step::Truncate(path, size) => {
                let Some(Node::File(content)) = self.paths.get(path) else { return false };
                self.contents[*content].now.resize(*size as usize, 0);
                self.contents[*content].stable.resize(*size as usize, 0);
                true
            }
            Step::Remove(path) => match self.paths.get(path) {
                None | Some(Node::Directory) => false,
                Some(_) => self.paths.remove(path).is_some(),
            },
            Step::Rmdir(path) => {
                let empty = self.paths.get(path) == Some(&Node::Directory) && self.is_empty(path);
                empty && self.paths.remove(path).is_some()
            }
            Step::Rename(from, to) => self.rename(from, to),
            Step::Link(from, to) => match self.paths.get(from).copied() {
                None | Some(Node::Directory) => false,
                Some(node) => self.add(to, node),
            },
        }
    }

    fn rename(&mut self, from: &str, to: &str) -> bool {
        let Some(moved) = self.paths.get(from).copied() else { return false };
        if !self.has_parent(to) {
            return false;
        }
        let replaced = self.paths.get(to).copied();
        // One path, or two names of one file.
        if from == to || (replaced == Some(moved) && moved != Node::Directory) {
            return true;
        }
        let inside = format!("{from}/");
        if to.starts_with(&inside) {
            return false;
        }
        let is_allowed = match replaced {
            None => true,
            Some(Node::Directory) => moved == Node::Directory && self.is_empty(to),
            Some(_) => moved != Node::Directory,
        };
        if is_allowed {
            let below: Vec<String> =
                self.paths.keys().filter(|path| path.starts_with(&inside)).cloned().collect();
            for path in below {
                let node = self.paths.remove(&path).unwrap();
                self.paths.insert(format!("{to}/{}", &path[inside.len()..]), node);
            }
            self.paths.remove(from);
            self.paths.insert(to.to_owned(), moved);
        }
        is_allowed
    }

    fn tree(&self) -> BTreeMap<String, Found> {
        let found = |(path, node): (&String, &Node)| {
            let names = self.paths.values().filter(|other| *other == node).count() as u32;
            let inside = format!("{path}/");
            let directories = self
                .paths
                .iter()
                .filter(|(other, node)| {
                    let rest = other.strip_prefix(&inside);
                    **node == Node::Directory && rest.is_some_and(|rest| !rest.contains('/'))
                })
                .count() as u32;
            let found = match node {
                Node::Directory => Found::Directory { nlink: 2 + directories },
                Node::Symlink(_) => Found::Symlink(b"to/nothing".to_vec()),
                Node::File(content) => {
                    Found::File { nlink: names, bytes: self.contents[*content].now.clone() }
                }
            };
            (path.clone(), found)
        };
        self.paths.iter().map(found).collect()
    }
}

fn put(bytes: &mut Vec<u8>, offset: u64, length: u64, fill: u8) {
    let (from, to) = (offset as usize, (offset + length) as usize);
    bytes.resize(bytes.len().max(to), 0);
    bytes[from..to].fill(fill);
}

/// A step, a COMMIT of a path, or a restart of the server.
#[derive(Clone, Debug)]
enum Event {
    Unstable(Step),
    Stable(Step),
    Commit(String),
    Restart,
}

fn events() -> impl Strategy<Value = Event> {
    prop_oneof![
        8 => steps().prop_map(Event::Unstable),
        4 => steps().prop_map(Event::Stable),
        1 => prop::sample::select(vec!["a", "b", "a/a", "a/b"])
            .prop_map(|path| Event::Commit(path.to_owned())),
        1 => Just(Event::Restart),
    ]
}

proptest! {
    #[test]
    fn random_operations_and_restarts_equal_a_map_of_paths(
        events in proptest::collection::vec(events(), 1..80)
    ) {
        let mut fs = scene::fs();
        let mut model = Model::default();
        for event in &events {
            let (step, stability) = match event {
                Event::Unstable(step) => (step, Stability::Unstable),
                Event::Stable(step) => (step, Stability::FileSync),
                Event::Commit(path) => {
                    if let Ok(file) = walk(&fs, path) {
                        let _ = fs.commit(file, 0, 0);
                    }
                    if let Some(Node::File(content)) = model.paths.get(path) {
                        let content = &mut model.contents[*content];
                        content.stable.clone_from(&content.now);
                    }
                    continue;
                }
                Event::Restart => {
                    fs.restart(scene::at(9));
                    for content in &mut model.contents {
                        content.now.clone_from(&content.stable);
                    }
                    continue;
                }
            };
            let done = apply(&mut fs, step, stability);
            prop_assert_eq!(done.is_ok(), model.apply(step, stability), "{:?}: {:?}", step, done);
        }
        fs.check();
        prop_assert_eq!(tree(&fs), model.tree());
        // The quota counts the blocks of each remaining file once.
        let files: BTreeSet<_> = tree(&fs)
            .iter()
            .filter(|(_, found)| matches!(found, Found::File { .. }))
            .map(|(path, _)| walk(&fs, path).unwrap())
            .collect();
        let used = files.iter().map(|file| fs.getattr(*file).unwrap().used).sum();
        prop_assert_eq!(fs.used(), Bytes::new(used));
    }
}

proptest! {
    #[test]
    fn the_same_calls_give_the_same_tree_with_the_same_handles_and_times(
        steps in proptest::collection::vec(steps(), 1..60)
    ) {
        let (mut one, mut other) = (scene::fs(), scene::fs());
        for step in &steps {
            let first = apply(&mut one, step, Stability::Unstable);
            prop_assert_eq!(first, apply(&mut other, step, Stability::Unstable));
        }
        let all = tree(&one);
        prop_assert_eq!(&all, &tree(&other));
        for path in all.keys() {
            let handle = walk(&one, path);
            prop_assert_eq!(handle, walk(&other, path));
            prop_assert_eq!(one.getattr(handle.unwrap()), other.getattr(handle.unwrap()));
        }
    }
}
