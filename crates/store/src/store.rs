//! The store as its users see it: open it, begin a record, list the records, load one.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use metrics::run_record::{ExperimentRecord, Outcome};
use workload::plan::Plan;

use crate::index::Index;
use crate::journal::{self, Journal};
use crate::summary::{Stamp, Summary};
use crate::writer::Writer;
use crate::{Error, default_root, manifest, reader, run_id};

pub(crate) const MANIFEST: &str = "manifest.json";
pub(crate) const JOURNAL: &str = "journal";
/// Leading part of a directory that is not yet complete; such directories are no records.
const INCOMPLETE: &str = ".new-";
/// The name that stands for the newest record.
const LAST: &str = "last";

/// A directory with records.
#[derive(Clone, Debug)]
pub struct Store {
    root: PathBuf,
}

/// A record in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name in the store.
    pub id: String,
    /// The experiment's name; empty where the manifest cannot be read.
    pub name: String,
    /// What was sent operations, as the user gave it; empty where the manifest cannot be read.
    pub target: String,
    /// What the user laid over the experiment on the command line, as `KEY=VALUE`.
    pub overrides: Vec<String>,
    /// When it began, in milliseconds since 1970; 0 where the manifest cannot be read.
    pub started_unix_ms: u64,
    /// Runs that ended as planned.
    pub runs_done: u32,
    /// Runs of the plan.
    pub runs_planned: u32,
    /// Whether it goes on, and how it ended if not.
    pub state: State,
}

/// Whether a record's experiment goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is being done now.
    Running,
    /// It ended so; [`Outcome::Aborted`] where it never said how and nobody writes it any more.
    Ended(Outcome),
    /// It cannot be read, with the file, the reason and the remedy in words.
    Damaged {
        /// Which file, what is wrong, what to do.
        reason: String,
    },
}

impl State {
    /// The name in tables and files: `running`, `done`, `interrupted`, `failed`, `aborted` or
    /// `damaged`.
    pub fn name(&self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ended(Outcome::Done) => "done",
            State::Ended(Outcome::Interrupted) => "interrupted",
            State::Ended(Outcome::Failed { .. }) => "failed",
            State::Ended(Outcome::Aborted) => "aborted",
            State::Damaged { .. } => "damaged",
        }
    }
}

impl Store {
    /// Opens the store at `root`, or where [`default_root`] finds it in this process's environment,
    /// for new records; makes its directory where there is none.
    ///
    /// # Errors
    /// [`Error::CreateStore`].
    pub fn open(root: Option<&Path>) -> Result<Store, Error> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => default_root(|name| std::env::var_os(name)),
        };
        let store = Store { root };
        let path = store.runs();
        // That records can be made is tried before anything is measured for one.
        let probe = path.join(format!("{INCOMPLETE}{}", run_id::new_id("probe", 0)));
        fs::create_dir_all(&path)
            .and_then(|()| fs::create_dir(&probe))
            .and_then(|()| fs::remove_dir(&probe))
            .map_err(|source| Error::CreateStore { path, source })?;
        Ok(store)
    }

    /// The store at `root`, to be read: nothing is made, and where there is no store there are no
    /// records.
    pub fn existing(root: &Path) -> Store {
        Store { root: root.to_owned() }
    }

    /// The store's directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Begins the record of `plan`. When this returns, the run directory with its manifest is
    /// durable.
    ///
    /// * `environment` — what the host and the target are, `(name, value)`
    /// * `started_unix_ms` — the wall clock, in milliseconds since 1970
    ///
    /// # Errors
    /// [`Error::CreateRunDirectory`], [`Error::LockJournal`].
    pub fn create(
        &self,
        plan: &Plan,
        environment: &[(String, String)],
        started_unix_ms: u64,
    ) -> Result<Writer, Error> {
        loop {
            let id = run_id::new_id(&plan.name, started_unix_ms);
            if let Some(writer) = self.create_as(id, plan, environment, started_unix_ms)? {
                return Ok(writer);
            }
        }
    }

    /// Begins the records of two plans that are done in turns. `facts_of` gives the environment of
    /// a side (0 or 1) once the ID of the other's record is known. The second begins a millisecond
    /// later, so that it is listed after the first.
    ///
    /// # Errors
    /// [`Error::CreateRunDirectory`], [`Error::LockJournal`].
    pub fn create_pair(
        &self,
        plans: [&Plan; 2],
        facts_of: impl Fn(usize, &str) -> Vec<(String, String)>,
        started_unix_ms: u64,
    ) -> Result<[Writer; 2], Error> {
        loop {
            let ids = plans.map(|plan| run_id::new_id(&plan.name, started_unix_ms));
            let [first, second] = ids.clone();
            let facts = facts_of(0, &second);
            let Some(a) = self.create_as(first, plans[0], &facts, started_unix_ms)? else {
                continue;
            };
            let facts = facts_of(1, &ids[0]);
            let begun = self.create_as(second, plans[1], &facts, started_unix_ms + 1);
            if let Ok(Some(b)) = begun {
                return Ok([a, b]);
            }
            // A record without its partner is none.
            let path = a.directory().to_owned();
            drop(a);
            fs::remove_dir_all(&path)
                .map_err(|source| Error::CreateRunDirectory { path, source })?;
            begun?;
        }
    }

    /// Begins a record with this ID; `None` where another has it.
    fn create_as(
        &self,
        id: String,
        plan: &Plan,
        environment: &[(String, String)],
        started_unix_ms: u64,
    ) -> Result<Option<Writer>, Error> {
        let incomplete = self.runs().join(format!("{INCOMPLETE}{id}"));
        let directory = self.runs().join(&id);
        let fail = |source| Error::CreateRunDirectory { path: directory.clone(), source };
        match fs::create_dir(&incomplete) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            made => made.map_err(fail)?,
        }
        let written =
            manifest::write(&incomplete.join(MANIFEST), &id, plan, environment, started_unix_ms)
                .and_then(|()| Journal::create(incomplete.join(JOURNAL)))
                .and_then(|journal| sync_directory(&incomplete).map(|()| journal).map_err(fail));
        let mut journal = match written {
            Ok(journal) => journal,
            Err(error) => {
                // The first failure is the one to tell; what is left over is no record and
                // is harmless.
                let _left_over = fs::remove_dir_all(&incomplete);
                return Err(error);
            }
        };
        // A record appears whole or not at all. A directory that is not empty is never replaced
        // by a rename.
        if let Err(error) = fs::rename(&incomplete, &directory) {
            fs::remove_dir_all(&incomplete).map_err(fail)?;
            if directory.exists() {
                return Ok(None);
            }
            return Err(fail(error));
        }
        sync_directory(&self.runs()).map_err(fail)?;
        journal.moved_to(directory.join(JOURNAL));
        Ok(Some(Writer { store: self.clone(), id, directory, journal, finished: false }))
    }

    /// All records, the oldest first. Damaged ones are listed as such.
    ///
    /// # Errors
    /// [`Error::ListRuns`]. The index cannot fail this: without it the run directories are read.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        let ids = self.ids()?;
        let mut index = self.usable_index(|index| index.forget_all_but(&ids));
        let mut listed: Vec<Listed> =
            ids.into_iter().map(|id| self.list_one(&mut index, id)).collect();
        listed.sort_by(|a, b| (a.started_unix_ms, &a.id).cmp(&(b.started_unix_ms, &b.id)));
        Ok(listed)
    }

    /// Loads the record named `id_or_prefix`: a whole name, the beginning of exactly one, `last`,
    /// `last~1` for the one before it, or the path of a run directory of this store.
    ///
    /// Of a record that is being written, what is complete so far is loaded.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::ReadFile`], [`Error::DamagedManifest`],
    /// [`Error::DamagedJournal`], [`Error::NewerVersion`].
    pub fn load(&self, id_or_prefix: &str) -> Result<ExperimentRecord, Error> {
        let id = self.resolve(id_or_prefix)?;
        reader::load(&id, &self.runs().join(&id))
    }

    /// The run directory of the record named `id_or_prefix`.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::ListRuns`].
    pub fn run_directory(&self, id_or_prefix: &str) -> Result<PathBuf, Error> {
        Ok(self.runs().join(self.resolve(id_or_prefix)?))
    }

    /// The whole name of the record that `id_or_prefix` means.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::ListRuns`].
    pub fn resolve(&self, id_or_prefix: &str) -> Result<String, Error> {
        let ids = self.ids()?;
        if ids.iter().any(|id| id == id_or_prefix) {
            return Ok(id_or_prefix.to_owned());
        }
        let not_found = || Error::NotFound { wanted: id_or_prefix.to_owned(), runs: self.runs() };
        if let Some(back) = back_from_last(id_or_prefix) {
            return self.newest(ids, back).ok_or_else(not_found);
        }
        if let Some(id) = self.id_of_path(id_or_prefix) {
            return ids.contains(&id).then_some(id).ok_or_else(not_found);
        }
        let mut candidates: Vec<String> =
            ids.into_iter().filter(|id| id.starts_with(id_or_prefix)).collect();
        match candidates.len() {
            0 => Err(not_found()),
            1 => Ok(candidates.remove(0)),
            _ => Err(Error::Ambiguous { wanted: id_or_prefix.to_owned(), candidates }),
        }
    }

    /// Throws the index away and makes it anew from the run directories.
    ///
    /// # Errors
    /// [`Error::ListRuns`], [`Error::RemoveIndex`], [`Error::RebuildIndex`].
    pub fn rebuild_index(&self) -> Result<(), Error> {
        let ids = self.ids()?;
        Index::remove(&self.index_path())?;
        let fail = |source| Error::RebuildIndex { path: self.index_path(), source };
        let mut index = Index::open(&self.index_path()).map_err(fail)?;
        for id in ids {
            index.put(&id, &Summary::read(&self.runs().join(&id))).map_err(fail)?;
        }
        Ok(())
    }

    /// Puts a record that has just ended into the index. A failure is not one of the record:
    /// whatever is missing in the index is added by the next [`Store::list`].
    pub(crate) fn note_finished(&self, id: &str) {
        let mut index = self.usable_index(|_| Ok(()));
        self.list_one(&mut index, id.to_owned());
    }

    fn list_one(&self, index: &mut Index, id: String) -> Listed {
        let directory = self.runs().join(&id);
        let known = index.get(&id);
        if let Some(known) = &known
            && known.outcome.is_some()
            && known.damage.is_none()
            && known.stamp == Stamp::of(&directory)
        {
            return listed(id, known, State::of_summary(known, false));
        }
        // Looked at before the journal is read: who ends in between is found ended, never aborted.
        let live = journal::is_live(&directory.join(JOURNAL));
        let summary = match known {
            // What was damaged is looked at again: it may have been repaired, or merely been out of
            // reach.
            Some(known) if known.damage.is_none() && known.stamp == Stamp::of(&directory) => known,
            _ => {
                let summary = Summary::read(&directory);
                index.put_if_possible(&id, &summary);
                summary
            }
        };
        let state = State::of_summary(&summary, matches!(live, Ok(true)));
        listed(id, &summary, state)
    }

    /// The index on disk after `change`, made anew if it cannot be used; else one in memory, so
    /// that listing always works.
    fn usable_index(&self, change: impl Fn(&mut Index) -> rusqlite::Result<()>) -> Index {
        // Without records there is no store yet, and listing makes none.
        if !self.runs().is_dir() {
            return Index::in_memory();
        }
        let path = self.index_path();
        let open = || {
            let mut index = Index::open(&path)?;
            change(&mut index)?;
            Ok(index)
        };
        open()
            .or_else(|error| {
                let again = Index::is_unreadable(&error) && Index::remove(&path).is_ok();
                if again { open() } else { Err(error) }
            })
            .unwrap_or_else(|_| Index::in_memory())
    }

    /// The record that was begun so many before the newest.
    fn newest(&self, mut ids: Vec<String>, back: usize) -> Option<String> {
        // Names begin with the second; the manifest knows the millisecond, and is read only of
        // those whose second decides.
        let second = |id: &str| id.get(..15).map(str::to_owned);
        ids.sort_by_key(|id| std::cmp::Reverse(second(id)));
        let wanted = second(ids.get(back)?);
        let before = ids.iter().position(|id| second(id) == wanted)?;
        let started = |id: &String| {
            manifest::read(&self.runs().join(id).join(MANIFEST)).map(|m| m.started_unix_ms).ok()
        };
        let mut of_that_second: Vec<&String> =
            ids.iter().filter(|id| second(id) == wanted).collect();
        of_that_second.sort_by_cached_key(|id| std::cmp::Reverse((started(id), (*id).clone())));
        of_that_second.get(back - before).map(|id| (*id).clone())
    }

    /// The name of the record whose run directory a path leads to, where it is in this store.
    fn id_of_path(&self, path: &str) -> Option<String> {
        if !path.contains('/') {
            return None;
        }
        let directory = fs::canonicalize(path).ok()?;
        let runs = fs::canonicalize(self.runs()).ok()?;
        (directory.parent() == Some(&runs))
            .then(|| directory.file_name()?.to_str().map(str::to_owned))?
    }

    /// Names of all run directories, ordered.
    fn ids(&self) -> Result<Vec<String>, Error> {
        let fail = |source| Error::ListRuns { path: self.runs(), source };
        let mut ids = Vec::new();
        let entries = match fs::read_dir(self.runs()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ids),
            entries => entries.map_err(fail)?,
        };
        for entry in entries {
            let entry = entry.map_err(fail)?;
            let is_directory = entry.file_type().map_err(fail)?.is_dir();
            if let Ok(name) = entry.file_name().into_string()
                && is_directory
                && !name.starts_with('.')
            {
                ids.push(name);
            }
        }
        ids.sort();
        Ok(ids)
    }

    fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    fn index_path(&self) -> PathBuf {
        self.root.join("index.sqlite")
    }
}

impl State {
    fn of_summary(summary: &Summary, live: bool) -> State {
        match (&summary.damage, &summary.outcome) {
            (Some(reason), _) => State::Damaged { reason: reason.clone() },
            (None, Some(outcome)) => State::Ended(outcome.clone()),
            (None, None) if live => State::Running,
            (None, None) => State::Ended(Outcome::Aborted),
        }
    }
}

fn listed(id: String, summary: &Summary, state: State) -> Listed {
    Listed {
        id,
        name: summary.name.clone(),
        target: summary.target.clone(),
        overrides: summary.overrides.clone(),
        started_unix_ms: summary.started_unix_ms,
        runs_done: summary.runs_done(),
        runs_planned: summary.runs_planned,
        state,
    }
}

/// How many before the newest `last` or `last~N` means; `None` for any other name.
fn back_from_last(name: &str) -> Option<usize> {
    match name.strip_prefix(LAST)? {
        "" => Some(0),
        back => back.strip_prefix('~')?.parse().ok(),
    }
}

/// Makes names in a directory durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
