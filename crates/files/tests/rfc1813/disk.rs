//! The same operations on a file system of the kernel and on this one: results, errors and the
//! resulting trees must be equal.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::{FileExt, MetadataExt, symlink};
use std::path::Path;

use files::{Error, Stability};
use proptest::prelude::*;

use crate::scene;
use crate::steps::{Found, Step, apply, steps, tree};

fn on_disk(root: &Path, step: &Step) -> io::Result<()> {
    let at = |path: &String| root.join(path);
    let open = |path: &String| fs::OpenOptions::new().write(true).open(at(path));
    match step {
        Step::Create(path) => fs::File::create_new(at(path)).map(drop),
        Step::Mkdir(path) => fs::create_dir(at(path)),
        Step::Symlink(path) => symlink("to/nothing", at(path)),
        Step::Write(path, offset, length, fill) => {
            open(path)?.write_all_at(&vec![*fill; *length as usize], *offset)
        }
        Step::Truncate(path, size) => open(path)?.set_len(*size),
        Step::Remove(path) => fs::remove_file(at(path)),
        Step::Rmdir(path) => fs::remove_dir(at(path)),
        Step::Rename(from, to) => fs::rename(at(from), at(to)),
        Step::Link(from, to) => fs::hard_link(at(from), at(to)),
    }
}

fn tree_on_disk(root: &Path) -> BTreeMap<String, Found> {
    let mut all = BTreeMap::new();
    let mut rest = vec![(String::new(), root.to_path_buf())];
    while let Some((prefix, directory)) = rest.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let entry = entry.unwrap();
            let path = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            let about = entry.metadata().unwrap();
            let found = if about.is_dir() {
                rest.push((format!("{path}/"), entry.path()));
                // Some file systems of the kernel do not count subdirectories as links.
                let inside = fs::read_dir(entry.path()).unwrap();
                let directories = inside.filter(|e| e.as_ref().unwrap().path().is_dir()).count();
                Found::Directory { nlink: 2 + directories as u32 }
            } else if about.is_symlink() {
                let text = fs::read_link(entry.path()).unwrap();
                Found::Symlink(text.to_str().unwrap().as_bytes().to_vec())
            } else {
                let bytes = fs::read(entry.path()).unwrap();
                Found::File { nlink: about.nlink() as u32, bytes }
            };
            all.insert(path, found);
        }
    }
    all
}

/// The kernel's error for an error of this crate, if there is only one. For RENAME, the RFC
/// requires EXIST where POSIX has several errors; for a LINK to a directory, POSIX requires PERM.
fn kind_of(step: &Step, error: Error) -> Option<ErrorKind> {
    if matches!(step, Step::Rename(..) | Step::Link(..)) {
        return None;
    }
    match error {
        Error::NoEnt => Some(ErrorKind::NotFound),
        Error::Exist => Some(ErrorKind::AlreadyExists),
        Error::NotDir => Some(ErrorKind::NotADirectory),
        Error::IsDir => Some(ErrorKind::IsADirectory),
        Error::NotEmpty => Some(ErrorKind::DirectoryNotEmpty),
        _ => None,
    }
}

proptest! {
    #[test]
    fn results_and_trees_equal_those_of_the_kernel(
        steps in proptest::collection::vec(steps(), 1..60)
    ) {
        let folder = tempfile::tempdir().unwrap();
        let mut fs = scene::fs();
        for step in &steps {
            let result = apply(&mut fs, step, Stability::Unstable);
            let expected = on_disk(folder.path(), step);
            prop_assert_eq!(
                result.is_ok(), expected.is_ok(), "{:?}: {:?} {:?}", step, result, expected
            );
            if let (Err(result), Err(expected)) = (result, expected)
                && let Some(kind) = kind_of(step, result)
            {
                prop_assert_eq!(kind, expected.kind(), "{:?}", step);
            }
        }
        fs.check();
        prop_assert_eq!(tree(&fs), tree_on_disk(folder.path()));
    }
}
