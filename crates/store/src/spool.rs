//! Spools: what an agent measured, on its own host, until the controller has all of it.
//!
//! A spool is a directory with a journal of the same format as a record's. Its first frame names its
//! owner; intervals and events of the host follow, each written before it is sent. The journal is locked
//! while its agent has it open, which distinguishes an agent that still measures from one that has ended.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use metrics::fleet::{HostEvent, SpoolOwner};
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use metrics::warning::Warning;
use record::frame;
use serde::Serialize;
use workload::plan::Run;

use crate::Error;
use crate::journal::{self, Journal};
use crate::spool_content::SpoolContent;
use crate::store::sync_directory;

/// Prefix of a spool's directory until it has its first frame.
const INCOMPLETE: &str = ".new-";
/// Longest part of a directory's name that comes from the host's name.
const HOST_CHARS_MAX: usize = 100;

/// The default directory of spools: `$FOURCORNERS_SPOOL`, else `$XDG_STATE_HOME/fourcorners/spool`, else
/// `$HOME/.local/state/fourcorners/spool`, else `fourcorners-spool` in the current directory.
///
/// * `env` - looks up an environment variable
///
/// Empty variables count as unset, and a relative `XDG_STATE_HOME` is ignored.
pub fn default_spool_root(env: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let path = |name| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(root) = path("FOURCORNERS_SPOOL") {
        return root;
    }
    if let Some(state) = path("XDG_STATE_HOME").filter(|state| state.is_absolute()) {
        return state.join("fourcorners/spool");
    }
    match path("HOME") {
        Some(home) => home.join(".local/state/fourcorners/spool"),
        None => PathBuf::from("fourcorners-spool"),
    }
}

/// The spools of a host.
#[derive(Clone, Debug)]
pub struct Spools {
    root: PathBuf,
}

impl Spools {
    /// Those in this directory, which may not exist.
    pub fn at(root: PathBuf) -> Spools {
        Spools { root }
    }

    /// Their directory.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory of an owner's spool.
    pub fn directory(&self, owner: &SpoolOwner) -> PathBuf {
        self.root.join(name_of(owner))
    }

    /// Begins the spool of `owner`.
    ///
    /// # Errors
    /// [`Error::CreateRunDirectory`], [`Error::LockJournal`], [`Error::AppendJournal`].
    pub fn create(&self, owner: &SpoolOwner) -> Result<SpoolWriter, Error> {
        let directory = self.directory(owner);
        let fail = |source| Error::CreateRunDirectory { path: directory.clone(), source };
        let incomplete = self.root.join(format!("{INCOMPLETE}{}", name_of(owner)));
        fs::create_dir_all(&self.root).map_err(fail)?;
        fs::create_dir(&incomplete).map_err(fail)?;
        let begin = || {
            let mut journal = Journal::create(incomplete.join(journal::NAME))?;
            journal.append(frame::SPOOL, |out| frame::encode(owner, out))?;
            journal.sync()?;
            fs::rename(&incomplete, &directory).map_err(fail)?;
            sync_directory(&self.root).map_err(fail)?;
            journal.set_path(directory.join(journal::NAME));
            Ok(journal)
        };
        match begin() {
            Ok(journal) => Ok(SpoolWriter::to(Box::new(SpoolJournal { journal, directory }))),
            Err(error) => {
                // The first failure is reported. An incomplete directory is no spool.
                let _left_over = fs::remove_dir_all(&incomplete);
                Err(error)
            }
        }
    }

    /// The names of the spools, sorted.
    ///
    /// # Errors
    /// [`Error::ListRuns`].
    pub fn names(&self) -> Result<Vec<String>, Error> {
        let fail = |source| Error::ListRuns { path: self.root.clone(), source };
        let entries = match fs::read_dir(&self.root) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            entries => entries.map_err(fail)?,
        };
        let mut names = Vec::new();
        for entry in entries {
            if let Ok(name) = entry.map_err(fail)?.file_name().into_string()
                && !name.starts_with('.')
                && self.root.join(&name).join(journal::NAME).exists()
            {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    /// Reads a spool up to its last complete frame.
    ///
    /// # Errors
    /// [`Error::ReadFile`]. Damage is part of the content.
    pub fn read(&self, name: &str) -> Result<SpoolContent, Error> {
        SpoolContent::read(&self.path(name))
    }

    /// The directory of a spool, always directly below the root.
    fn path(&self, name: &str) -> PathBuf {
        self.root.join(Path::new(name).file_name().unwrap_or_default())
    }

    /// Removes the spool with this name; one that is gone already is removed.
    ///
    /// # Errors
    /// [`Error::RemoveSpool`], and [`Error::BeingWritten`] for one whose agent runs.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        // Nothing but a spool is removed.
        if !path.join(journal::NAME).exists() {
            return Ok(());
        }
        if journal::is_live(&path.join(journal::NAME)).unwrap_or(false) {
            return Err(Error::BeingWritten { path: path.join(journal::NAME) });
        }
        fs::remove_dir_all(&path).map_err(|source| Error::RemoveSpool { path, source })
    }
}

/// The name of an owner's directory: the record and the host. A name with other characters than these, or
/// a long one, gets the host's number, so that names stay unique.
fn name_of(owner: &SpoolOwner) -> String {
    let SpoolOwner { record, host, host_name, .. } = owner;
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.@".contains(c);
    let plain: String =
        host_name.chars().take(HOST_CHARS_MAX).map(|c| if is_plain(c) { c } else { '_' }).collect();
    match plain == *host_name {
        true => format!("{record}-{plain}"),
        false => format!("{record}-{plain}+{host}"),
    }
}

/// What the frames of a spool are appended to.
pub trait SpoolFile: fmt::Debug + Send {
    /// Appends a frame. When this returns, it survives a kill of the process.
    ///
    /// # Errors
    /// [`Error::AppendJournal`], [`Error::JournalClosed`]; what was appended earlier is kept.
    fn append(&mut self, kind: u8, payload: &[u8]) -> Result<(), Error>;

    /// Makes everything durable.
    ///
    /// # Errors
    /// [`Error::AppendJournal`].
    fn sync(&mut self) -> Result<(), Error>;

    /// The spool's directory.
    fn directory(&self) -> &Path;

    /// Removes the spool.
    ///
    /// # Errors
    /// [`Error::RemoveSpool`].
    fn remove(self: Box<Self>) -> Result<(), Error>;
}

/// The journal in a spool's directory.
#[derive(Debug)]
struct SpoolJournal {
    journal: Journal,
    directory: PathBuf,
}

impl SpoolFile for SpoolJournal {
    fn append(&mut self, kind: u8, payload: &[u8]) -> Result<(), Error> {
        self.journal.append(kind, |out| out.extend_from_slice(payload))
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.journal.sync()
    }

    fn directory(&self) -> &Path {
        &self.directory
    }

    fn remove(self: Box<Self>) -> Result<(), Error> {
        let SpoolJournal { journal, directory: path } = *self;
        drop(journal);
        fs::remove_dir_all(&path).map_err(|source| Error::RemoveSpool { path, source })
    }
}

/// The spool that an agent writes.
#[derive(Debug)]
pub struct SpoolWriter {
    file: Box<dyn SpoolFile>,
    payload: Vec<u8>,
}

/// Each of these fails with [`Error::AppendJournal`] or [`Error::JournalClosed`]; what was written
/// earlier is kept.
impl SpoolWriter {
    /// Appends to `file`, whose first frame names the owner.
    pub fn to(file: Box<dyn SpoolFile>) -> SpoolWriter {
        SpoolWriter { file, payload: Vec::new() }
    }

    /// The spool's directory.
    pub fn directory(&self) -> &Path {
        self.file.directory()
    }

    /// Records the start of a run.
    pub fn run_started(&mut self, run: &Run, started_unix_ms: u64) -> Result<(), Error> {
        self.append_with(frame::RUN_STARTED, |out| {
            frame::encode_run_started(run, started_unix_ms, out);
        })
    }

    /// Records an interval of this host, the one at position `host`. When this returns, the interval
    /// survives a kill of the process.
    pub fn interval(
        &mut self,
        host: u32,
        run_index: u32,
        interval: &Interval,
    ) -> Result<(), Error> {
        self.append_with(frame::HOST_INTERVAL, |out| {
            frame::encode_host_interval(host, run_index, interval, out);
        })
    }

    /// Records an event of this host.
    pub fn host_event(&mut self, host: u32, run: u32, event: &HostEvent) -> Result<(), Error> {
        self.append(frame::HOST_EVENT, &(run, host, event))
    }

    /// Records a warning about this host in a run.
    pub fn warning(&mut self, run_index: u32, warning: &Warning) -> Result<(), Error> {
        self.append(frame::WARNING, &(Some(run_index), warning))
    }

    /// Records how this host's share of a run ended, and makes the spool durable.
    pub fn run_finished(&mut self, run_index: u32, outcome: &Outcome) -> Result<(), Error> {
        self.append(frame::RUN_FINISHED, &(run_index, outcome))?;
        self.file.sync()
    }

    /// Removes the spool: everything is in the record.
    ///
    /// # Errors
    /// [`Error::RemoveSpool`].
    pub fn remove(self) -> Result<(), Error> {
        self.file.remove()
    }

    fn append(&mut self, kind: u8, event: &impl Serialize) -> Result<(), Error> {
        self.append_with(kind, |out| frame::encode(event, out))
    }

    fn append_with(&mut self, kind: u8, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        self.payload.clear();
        encode(&mut self.payload);
        self.file.append(kind, &self.payload)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owner(host: u32, host_name: &str) -> SpoolOwner {
        SpoolOwner {
            record: "20261121-061500-oltp-3f2a".to_owned(),
            host,
            host_name: host_name.to_owned(),
            ..SpoolOwner::default()
        }
    }

    #[test]
    fn the_first_usable_variable_determines_the_directory() {
        for (variables, root) in [
            (&[("FOURCORNERS_SPOOL", "s"), ("XDG_STATE_HOME", "/x"), ("HOME", "/h")][..], "s"),
            (&[("XDG_STATE_HOME", "/x"), ("HOME", "/h")], "/x/fourcorners/spool"),
            (&[("XDG_STATE_HOME", "x"), ("HOME", "/h")], "/h/.local/state/fourcorners/spool"),
            (&[("FOURCORNERS_SPOOL", ""), ("HOME", "/h")], "/h/.local/state/fourcorners/spool"),
            (&[], "fourcorners-spool"),
        ] {
            let env = |name: &str| {
                variables.iter().find(|(key, _)| *key == name).map(|(_, value)| value.into())
            };
            assert_eq!(default_spool_root(env), PathBuf::from(root), "{variables:?}");
        }
    }

    #[test]
    fn every_host_of_a_record_has_another_directory_below_the_root() {
        let names = ["vm01", "a/b", "a_b", "../..", "root@vm1", &"x".repeat(300)];
        let mut all: Vec<String> =
            names.iter().zip(0..).map(|(name, host)| name_of(&owner(host, name))).collect();
        assert_eq!(all[0], "20261121-061500-oltp-3f2a-vm01");
        assert_eq!(all[1], "20261121-061500-oltp-3f2a-a_b+1");
        assert!(all.iter().all(|name| !name.contains('/') && name.len() < 200));
        all.sort();
        all.dedup();
        assert_eq!(all.len(), names.len());
    }

    #[test]
    fn a_spool_is_listed_and_kept_while_its_agent_runs() {
        let directory = tempfile::tempdir().unwrap();
        let spools = Spools::at(directory.path().join("spool"));
        assert_eq!(spools.names().unwrap(), [""; 0]);
        let owner = owner(1, "vm02");
        let writer = spools.create(&owner).unwrap();
        let names = spools.names().unwrap();
        assert_eq!(names, ["20261121-061500-oltp-3f2a-vm02"]);
        assert!(spools.create(&owner).is_err(), "an earlier spool is never replaced");
        assert!(spools.read(&names[0]).unwrap().is_live);
        assert!(matches!(spools.remove(&names[0]), Err(Error::BeingWritten { .. })));
        drop(writer);
        assert_eq!(spools.read(&names[0]).unwrap().owner, Some(owner));
        spools.remove(&names[0]).unwrap();
        assert_eq!(spools.names().unwrap(), [""; 0]);
        spools.remove(&names[0]).unwrap();
    }
}
