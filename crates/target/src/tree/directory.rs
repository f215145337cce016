//! The trees in our directory: made before a run, compared after it, and refused if they belong to
//! another plan.

use std::io;
use std::path::PathBuf;

use workload::names::NameTree;

use super::content::Inspection;
use super::differences::Differences;
use super::expected::TreeState;
use super::repair::{Repaired, repair};
use super::required::RequiredTree;
use super::walk::{Workers, compare};
use super::{TreeError, TreeLocation, remove};
use crate::directory::TargetDirectory;
use crate::fill::FillError;
use crate::manifest::Manifest;
use crate::refusal::Refusal;

/// Takes what is done so far.
pub type TreeProgress<'p> = &'p mut dyn FnMut(Repaired);

impl From<TreeError> for Refusal {
    fn from(error: TreeError) -> Refusal {
        match error {
            TreeError::Stopped => {
                Refusal::io("walk", std::path::Path::new(""), io::ErrorKind::Interrupted)
            }
            TreeError::Foreign { path, found } => Refusal::ForeignInTree { path, found },
            TreeError::Io { action, path, source } => Refusal::Io { action, path, source },
        }
    }
}

impl From<TreeError> for FillError {
    fn from(error: TreeError) -> FillError {
        match error {
            TreeError::Stopped => FillError::Stopped,
            TreeError::Io { action, path, source } => FillError::Io { action, path, source },
            error @ TreeError::Foreign { .. } => FillError::Refused(error.into()),
        }
    }
}

/// Refuses a directory with a tree of a stream that the plan needs in another shape.
pub(crate) fn refuse_other_trees(
    manifest: &Manifest,
    path: &std::path::Path,
    required: &[RequiredTree],
    data_seed: u64,
) -> Result<(), Refusal> {
    match other_trees(manifest, required, data_seed).next() {
        None => Ok(()),
        Some(name) => Err(Refusal::OtherTree { path: path.join(name) }),
    }
}

/// Trees of the plan's streams that are of another plan.
fn other_trees<'m>(
    manifest: &'m Manifest,
    required: &'m [RequiredTree],
    data_seed: u64,
) -> impl Iterator<Item = &'m String> {
    manifest.trees.iter().filter_map(move |(name, record)| {
        let mut of_stream = required.iter().filter(|tree| tree.stream == record.stream).peekable();
        of_stream.peek()?;
        of_stream.all(|tree| tree.name(data_seed) != *name).then_some(name)
    })
}

impl TargetDirectory {
    /// The trees that the plan needs.
    pub fn trees(&self) -> &[RequiredTree] {
        &self.required.trees
    }

    /// The path of a tree.
    pub fn tree_path(&self, tree: &RequiredTree) -> PathBuf {
        self.path.join(tree.name(self.data_seed()))
    }

    /// Makes a tree what it is at the start of a run: creates what is missing, removes what earlier
    /// runs left.
    ///
    /// # Errors
    /// The tree contains what is not ours, something cannot be created, or the user stopped it.
    pub fn make_tree(
        &mut self,
        tree: &RequiredTree,
        stop: &(dyn Fn() -> bool + Sync),
        progress: TreeProgress<'_>,
    ) -> Result<Repaired, FillError> {
        let outcome = self.make_tree_with(tree, stop, progress);
        self.folder.release_fill_resources();
        outcome
    }

    fn make_tree_with(
        &mut self,
        tree: &RequiredTree,
        stop: &(dyn Fn() -> bool + Sync),
        progress: TreeProgress<'_>,
    ) -> Result<Repaired, FillError> {
        let data_seed = self.data_seed();
        let workers = Workers { threads: self.folder.transfer_threads(), stop };
        if !self.refill {
            refuse_other_trees(&self.manifest, &self.path, &self.required.trees, data_seed)?;
        }
        let others: Vec<String> =
            other_trees(&self.manifest, &self.required.trees, data_seed).cloned().collect();
        for name in others {
            self.remove_tree(&name, workers)?;
        }
        let (name, root) = (tree.name(data_seed), self.tree_path(tree));
        if !self.manifest.trees.contains_key(&name) {
            let found = self.folder.find_entry(&root);
            let found = found.map_err(|error| Refusal::io("stat", &root, error))?;
            if found.is_some() {
                return Err(Refusal::ForeignFile { path: root }.into());
            }
            // On disk before the first directory, so that `clean` knows every tree.
            self.manifest.trees.insert(name, tree.record(data_seed));
            self.save_manifest()?;
        }
        self.restore_tree(tree, stop, progress)
    }

    /// The same for a tree that the manifest lists.
    ///
    /// # Errors
    /// As [`TargetDirectory::make_tree`].
    pub fn restore_tree(
        &self,
        tree: &RequiredTree,
        stop: &(dyn Fn() -> bool + Sync),
        progress: TreeProgress<'_>,
    ) -> Result<Repaired, FillError> {
        let data_seed = self.data_seed();
        let workers = Workers { threads: self.folder.transfer_threads(), stop };
        let root = self.tree_path(tree);
        match self.folder.make_directory(&root) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Refusal::io("make directory", &root, error).into());
            }
            _ => {}
        }
        let paths = NameTree::new(&tree.load.tree);
        let location = TreeLocation { folder: self.folder.as_ref(), root: &root, tree: &paths };
        let (state, content) = (tree.at_start(data_seed), tree.content(data_seed));
        // Tiles that are duplicates do not show the version of a file.
        let inspection = match tree.data.duplicate_permille {
            0 => Inspection::Head,
            _ => Inspection::Whole,
        };
        Ok(repair(&location, &state, (&content, inspection), workers, progress)?)
    }

    /// Compares a tree with what is expected; the content of files too if `verify`.
    ///
    /// # Errors
    /// The tree cannot be read, or the user stopped it.
    pub fn compare_tree(
        &self,
        tree: &RequiredTree,
        state: &TreeState,
        verify: bool,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> Result<Differences, Refusal> {
        let data_seed = self.data_seed();
        let (root, paths) = (self.tree_path(tree), NameTree::new(&tree.load.tree));
        let location = TreeLocation { folder: self.folder.as_ref(), root: &root, tree: &paths };
        let workers = Workers { threads: self.folder.transfer_threads(), stop };
        let inspection = if verify { Inspection::Whole } else { Inspection::Size };
        let content = tree.content(data_seed);
        let compared = compare(&location, state, &content, inspection, workers);
        self.folder.release_fill_resources();
        Ok(compared?)
    }

    /// Removes a tree that the manifest lists.
    fn remove_tree(&mut self, name: &str, workers: Workers<'_>) -> Result<(), FillError> {
        let Some(record) = self.manifest.trees.get(name) else { return Ok(()) };
        let (root, paths) = (self.path.join(name), NameTree::new(&record.shape));
        let location = TreeLocation { folder: self.folder.as_ref(), root: &root, tree: &paths };
        let removed = remove(&location, workers)?;
        if let Some((path, found)) = removed.foreign.into_iter().next() {
            return Err(Refusal::ForeignInTree { path, found }.into());
        }
        self.folder
            .remove_directory(&root)
            .map_err(|error| Refusal::io("remove directory", &root, error))?;
        self.manifest.trees.remove(name);
        Ok(self.save_manifest()?)
    }
}
