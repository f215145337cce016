//! The public interface of the store: open it, create, find, list and load records.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use metrics::environment::Environment;
use metrics::fleet::Reach;
use metrics::run_record::ExperimentRecord;
use workload::plan::Plan;

use crate::annotation::{self, Annotation, Label};
use crate::journal::{self, Journal};
use crate::listing::{self, Listed};
use crate::root::{Root, default_root};
use crate::writer::Writer;
use crate::{Error, manifest, reader, removal, run_id};

/// Prefix of a run directory's name until it is complete.
const INCOMPLETE: &str = ".new-";
/// The name of the newest record.
pub(crate) const LAST: &str = "last";

/// A directory with records.
#[derive(Clone, Debug)]
pub struct Store {
    root: Root,
}

impl Store {
    /// Opens the store at `root`, or at the [`default_root`] of this process's environment, for new
    /// records. Creates the directory if it is missing.
    ///
    /// # Errors
    /// [`Error::CreateStore`].
    pub fn open(root: Option<&Path>) -> Result<Store, Error> {
        let root = match root {
            Some(root) => root.to_owned(),
            None => default_root(|name| std::env::var_os(name)),
        };
        let store = Store { root: Root(root) };
        let path = store.root.runs();
        // Tested now rather than after the first measurement.
        let probe = path.join(format!("{INCOMPLETE}{}", run_id::new_id("probe", 0)));
        fs::create_dir_all(&path)
            .and_then(|()| fs::create_dir(&probe))
            .and_then(|()| fs::remove_dir(&probe))
            .map_err(|source| Error::CreateStore { path, source })?;
        Ok(store)
    }

    /// The store at `root`, for reading. Nothing is created; a missing store has no records.
    pub fn existing(root: &Path) -> Store {
        Store { root: Root(root.to_owned()) }
    }

    /// The store's directory.
    pub fn root(&self) -> &Path {
        &self.root.0
    }

    /// Creates the record of `plan`. When this returns, the run directory with its manifest is
    /// durable.
    ///
    /// * `environment` — the host, the target and the command
    /// * `started_unix_ms` — the wall clock, in milliseconds since 1970
    ///
    /// # Errors
    /// [`Error::CreateRunDirectory`], [`Error::LockJournal`].
    pub fn create(
        &self,
        plan: &Plan,
        environment: &Environment,
        started_unix_ms: u64,
    ) -> Result<Writer, Error> {
        self.create_for(plan, environment, None, started_unix_ms)
    }

    /// The same for a plan that a fleet executes; with how its hosts are reached.
    ///
    /// # Errors
    /// As for [`Store::create`].
    pub fn create_for(
        &self,
        plan: &Plan,
        environment: &Environment,
        fleet: Option<&Reach>,
        started_unix_ms: u64,
    ) -> Result<Writer, Error> {
        loop {
            let id = run_id::new_id(&plan.name, started_unix_ms);
            let created = self.create_as(id, plan, environment, fleet, started_unix_ms)?;
            if let Some(writer) = created {
                return Ok(writer);
            }
        }
    }

    /// Continues the record with this ID, whose experiment has ended in any way: events that were missing
    /// are appended after those that it has.
    ///
    /// # Errors
    /// [`Error::BeingWritten`], [`Error::DamagedJournal`], [`Error::NewerVersion`],
    /// [`Error::AppendJournal`].
    pub fn continue_record(&self, id: &str) -> Result<Writer, Error> {
        let directory = self.root.run_directory(id);
        let journal = Journal::reopen(directory.join(journal::NAME))?;
        let (root, id) = (self.root.clone(), id.to_owned());
        Ok(Writer { root, id, directory, journal, finished: false })
    }

    /// How the hosts of the record with this ID were reached; `None` if it does not say so.
    ///
    /// # Errors
    /// [`Error::ReadFile`], [`Error::DamagedManifest`], [`Error::NewerVersion`].
    pub fn reach(&self, id: &str) -> Result<Option<Reach>, Error> {
        Ok(manifest::read(&self.root.run_directory(id).join(manifest::NAME))?.fleet)
    }

    /// Creates the records of two plans that are executed in alternating runs. `facts_of` returns
    /// the environment of a side (0 or 1), given the ID of the other's record. The second starts a
    /// millisecond later, so that it is listed after the first.
    ///
    /// # Errors
    /// [`Error::CreateRunDirectory`], [`Error::LockJournal`].
    pub fn create_pair(
        &self,
        plans: [&Plan; 2],
        facts_of: impl Fn(usize, &str) -> Environment,
        started_unix_ms: u64,
    ) -> Result<[Writer; 2], Error> {
        loop {
            let ids = plans.map(|plan| run_id::new_id(&plan.name, started_unix_ms));
            let [first, second] = ids.clone();
            let facts = facts_of(0, &second);
            let Some(a) = self.create_as(first, plans[0], &facts, None, started_unix_ms)? else {
                continue;
            };
            let facts = facts_of(1, &ids[0]);
            let begun = self.create_as(second, plans[1], &facts, None, started_unix_ms + 1);
            if let Ok(Some(b)) = begun {
                return Ok([a, b]);
            }
            // A record without its partner is removed.
            let path = a.directory().to_owned();
            drop(a);
            fs::remove_dir_all(&path)
                .map_err(|source| Error::CreateRunDirectory { path, source })?;
            begun?;
        }
    }

    /// Creates a record with this ID; `None` if another has it.
    fn create_as(
        &self,
        id: String,
        plan: &Plan,
        environment: &Environment,
        fleet: Option<&Reach>,
        started_unix_ms: u64,
    ) -> Result<Option<Writer>, Error> {
        let incomplete = self.root.runs().join(format!("{INCOMPLETE}{id}"));
        let directory = self.root.run_directory(&id);
        let fail = |source| Error::CreateRunDirectory { path: directory.clone(), source };
        match fs::create_dir(&incomplete) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(None),
            created => created.map_err(fail)?,
        }
        let written = manifest::write(
            &incomplete.join(manifest::NAME),
            &id,
            plan,
            environment,
            fleet,
            started_unix_ms,
        )
        .and_then(|()| Journal::create(incomplete.join(journal::NAME)))
        .and_then(|journal| sync_directory(&incomplete).map(|()| journal).map_err(fail));
        let mut journal = match written {
            Ok(journal) => journal,
            Err(error) => {
                // The first failure is reported. An incomplete directory is no record.
                let _left_over = fs::remove_dir_all(&incomplete);
                return Err(error);
            }
        };
        // The rename makes the record visible. It never replaces a directory that is not empty.
        if let Err(error) = fs::rename(&incomplete, &directory) {
            fs::remove_dir_all(&incomplete).map_err(fail)?;
            if directory.exists() {
                return Ok(None);
            }
            return Err(fail(error));
        }
        sync_directory(&self.root.runs()).map_err(fail)?;
        journal.set_path(directory.join(journal::NAME));
        Ok(Some(Writer { root: self.root.clone(), id, directory, journal, finished: false }))
    }

    /// All records, the oldest first. Damaged ones are listed as such.
    ///
    /// # Errors
    /// [`Error::ListRuns`]. Without a usable index, the run directories are read.
    pub fn list(&self) -> Result<Vec<Listed>, Error> {
        listing::list(&self.root)
    }

    /// Loads the record that `id_or_prefix` names: an ID, an unambiguous prefix of one, a label,
    /// `last`, `last~1` for the one before it, or the path of a run directory of this store.
    ///
    /// A record that is being written is loaded up to its last complete frame.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::ReadFile`], [`Error::DamagedManifest`],
    /// [`Error::DamagedJournal`], [`Error::NewerVersion`].
    pub fn load(&self, id_or_prefix: &str) -> Result<ExperimentRecord, Error> {
        let id = self.resolve(id_or_prefix)?;
        reader::load(&id, &self.root.run_directory(&id))
    }

    /// The plan of the record with this ID, without its results.
    ///
    /// # Errors
    /// [`Error::ReadFile`], [`Error::DamagedManifest`], [`Error::NewerVersion`].
    pub fn plan(&self, id: &str) -> Result<Plan, Error> {
        Ok(manifest::read(&self.root.run_directory(id).join(manifest::NAME))?.plan)
    }

    /// The run directory of the record that `id_or_prefix` names.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::ListRuns`].
    pub fn run_directory(&self, id_or_prefix: &str) -> Result<PathBuf, Error> {
        Ok(self.root.run_directory(&self.resolve(id_or_prefix)?))
    }

    /// The ID of the record that `id_or_prefix` names.
    ///
    /// # Errors
    /// [`Error::NotFound`], [`Error::Ambiguous`], [`Error::ListRuns`].
    pub fn resolve(&self, id_or_prefix: &str) -> Result<String, Error> {
        let ids = self.root.ids()?;
        if ids.iter().any(|id| id == id_or_prefix) {
            return Ok(id_or_prefix.to_owned());
        }
        let not_found =
            || Error::NotFound { requested: id_or_prefix.to_owned(), runs: self.root.runs() };
        if let Some(back) = back_from_last(id_or_prefix) {
            return self.newest(ids, back).ok_or_else(not_found);
        }
        if let Some(id) = self.id_of_path(id_or_prefix) {
            return ids.contains(&id).then_some(id).ok_or_else(not_found);
        }
        if let Ok(label) = id_or_prefix.parse::<Label>()
            && let Some(id) = annotation::owner(&self.root, &ids, &label)
        {
            return Ok(id);
        }
        let mut candidates: Vec<String> =
            ids.into_iter().filter(|id| id.starts_with(id_or_prefix)).collect();
        match candidates.len() {
            0 => Err(not_found()),
            1 => Ok(candidates.remove(0)),
            _ => Err(Error::Ambiguous { requested: id_or_prefix.to_owned(), candidates }),
        }
    }

    /// The label and the note of the record with this ID.
    ///
    /// # Errors
    /// [`Error::ReadFile`], [`Error::DamagedAnnotation`].
    pub fn annotation(&self, id: &str) -> Result<Annotation, Error> {
        annotation::read(&self.root.run_directory(id))
    }

    /// Replaces the label and the note of the record with this ID.
    ///
    /// # Errors
    /// [`Error::LabelTaken`], [`Error::WriteAnnotation`].
    pub fn annotate(&self, id: &str, annotation: &Annotation) -> Result<(), Error> {
        annotation::write(&self.root, id, annotation)
    }

    /// Refuses a label that a record has, before a measurement that would get it.
    ///
    /// # Errors
    /// [`Error::LabelTaken`], [`Error::ListRuns`].
    pub fn refuse_taken_label(&self, label: &Label) -> Result<(), Error> {
        annotation::refuse_taken(&self.root, label, None)
    }

    /// Removes the records with these IDs, and what interrupted removals left. Continues after an
    /// error. Returns the bytes that each took.
    pub fn remove(&self, ids: &[String]) -> Vec<Result<u64, Error>> {
        removal::remove_left_over(&self.root);
        ids.iter().map(|id| removal::remove(&self.root, id)).collect()
    }

    /// Stores a text computed from each of these records in the index, by ID; [`Store::list`] returns
    /// it until the record changes. Without a usable index this does nothing.
    pub fn put_digests(&self, digests: &[(String, String)]) {
        listing::put_digests(&self.root, digests);
    }

    /// The ID of the record that was created `back` before the newest.
    fn newest(&self, mut ids: Vec<String>, back: usize) -> Option<String> {
        // IDs begin with the second. Manifests have the millisecond; only those that started in
        // the decisive second are read.
        let second = |id: &str| id.get(..15).map(str::to_owned);
        ids.sort_by_key(|id| std::cmp::Reverse(second(id)));
        let decisive = second(ids.get(back)?);
        let before = ids.iter().position(|id| second(id) == decisive)?;
        let started = |id: &String| {
            manifest::read(&self.root.run_directory(id).join(manifest::NAME))
                .map(|m| m.started_unix_ms)
                .ok()
        };
        let mut of_that_second: Vec<&String> =
            ids.iter().filter(|id| second(id) == decisive).collect();
        of_that_second.sort_by_cached_key(|id| std::cmp::Reverse((started(id), (*id).clone())));
        of_that_second.get(back - before).map(|id| (*id).clone())
    }

    /// The ID of the record whose run directory is at `path`, if it is in this store.
    fn id_of_path(&self, path: &str) -> Option<String> {
        if !path.contains('/') {
            return None;
        }
        let directory = fs::canonicalize(path).ok()?;
        let runs = fs::canonicalize(self.root.runs()).ok()?;
        (directory.parent() == Some(&runs))
            .then(|| directory.file_name()?.to_str().map(str::to_owned))?
    }
}

/// `N` of `last~N`, 0 for `last`; `None` for any other name.
fn back_from_last(name: &str) -> Option<usize> {
    match name.strip_prefix(LAST)? {
        "" => Some(0),
        back => back.strip_prefix('~')?.parse().ok(),
    }
}

/// Makes names in a directory durable.
pub(crate) fn sync_directory(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}
