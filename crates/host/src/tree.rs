//! A directory with copies of the kernel's files, for tests.

use crate::Root;

pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    /// A tree with these files: path without a leading slash, and text.
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let tree = Tree(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    /// Writes or replaces a file.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.0.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// Removes a directory with everything in it.
    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_dir_all(self.0.path().join(path)).unwrap();
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.0.path())
    }
}
