//! An agent's spool: it begins when a record does, gets each interval before the controller, and remains
//! until the controller has everything.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cluster::message::Message;
use cluster::outbox::Outbox;
use metrics::fleet::{HostEvent, SpoolOwner};
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use metrics::warning::Warning;
use record::frame;
use serde::{Deserialize, Serialize};
use store::{SpoolContent, SpoolWriter, Spools, default_spool_root};
use workload::plan::Run;

use super::signals::Start;
use crate::unix_ms;

/// An agent on another machine, of which only its spool is seen, runs if it has written within this time.
const QUIET_MS: u64 = 60_000;

/// What concerns the spools of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum SpoolRequest {
    /// Begin the spool of this host for a record. A failure is a warning about the next run.
    Begin { record: String, host: u32, host_name: String },
    /// Remove the spool of this session.
    End,
    /// List the spools. The answer is [`SpoolList`].
    List,
    /// Send the frames of a spool. The answer is [`SpoolItem`], after them.
    Send {
        name: String,
        /// For runs that the record knows, its number of intervals of this host.
        have: Vec<(u32, u32)>,
    },
    /// Remove a spool. One that is gone already is removed.
    Remove { name: String },
}

/// The spools of a host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpoolList {
    /// Their directory.
    pub(super) directory: String,
    /// What distinguishes this directory from those of other hosts: boot ID, device and inode.
    pub(super) identity: (String, u64, u64),
    pub(super) spools: Vec<SpoolItem>,
}

/// Leaves out spools that several hosts list, because they share a file system: each remains in the list of
/// the host that wrote it, which alone can tell whether its agent runs, or else in the first.
pub(super) fn list_each_once<'l>(lists: impl IntoIterator<Item = &'l mut SpoolList>) {
    let mut lists: Vec<&mut SpoolList> = lists.into_iter().collect();
    let mut keepers: HashMap<SpoolOwner, usize> = HashMap::new();
    for (at, list) in lists.iter().enumerate() {
        for owner in list.spools.iter().filter_map(|item| item.owner.as_ref()) {
            let keeper = keepers.entry(owner.clone()).or_insert(at);
            if list.identity.0 == owner.boot_id {
                *keeper = at;
            }
        }
    }
    for (at, list) in lists.iter_mut().enumerate() {
        let is_kept = |owner: &SpoolOwner| keepers.get(owner) == Some(&at);
        list.spools.retain(|item| item.owner.as_ref().is_none_or(is_kept));
    }
}

/// A spool without its intervals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpoolItem {
    /// The name of its directory.
    pub(super) name: String,
    /// `None` if its beginning is damaged.
    pub(super) owner: Option<SpoolOwner>,
    /// Its agent runs.
    pub(super) is_live: bool,
    pub(super) runs: Vec<SpoolRunItem>,
    pub(super) damage: Option<String>,
    pub(super) bytes: u64,
    pub(super) age_ms: u64,
    pub(super) is_complete: bool,
}

/// A run in a spool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct SpoolRunItem {
    pub(super) run_index: u32,
    pub(super) load_point: String,
    pub(super) started_unix_ms: u64,
    /// Since its start, in milliseconds.
    pub(super) elapsed_ms: u64,
    pub(super) planned_ms: u64,
    pub(super) intervals: u32,
    pub(super) has_ended: bool,
}

/// The spools of this process's environment.
pub(super) fn spools_here() -> Spools {
    Spools::at(default_spool_root(|name| std::env::var_os(name)))
}

/// The spool that this agent writes.
#[derive(Debug, Default)]
pub(super) struct Spool {
    owner: SpoolOwner,
    /// `None` before the first record, and after a failure.
    writer: Option<SpoolWriter>,
    /// Reported as a warning about the next run, once.
    failure: Option<Warning>,
}

impl Spool {
    pub(super) fn begin(&mut self, owner: SpoolOwner) {
        let spools = spools_here();
        // The earlier one is unlocked first.
        self.writer = None;
        let created = spools.create(&owner);
        self.begun(owner, created, spools.root());
    }

    /// Takes the spool that was created in the directory of spools, or the failure to do so.
    pub(super) fn begun(
        &mut self,
        owner: SpoolOwner,
        created: Result<SpoolWriter, store::Error>,
        root: &Path,
    ) {
        match created {
            Ok(writer) => self.writer = Some(writer),
            Err(error) => self.failed(Spools::at(root.to_owned()).directory(&owner), &error),
        }
        self.owner = owner;
    }

    /// Removes the spool, also one that could not be written to its end.
    pub(super) fn end(&mut self) -> Result<(), String> {
        let removed = match self.writer.take() {
            Some(writer) => writer.remove(),
            None => {
                let spools = spools_here();
                let directory = spools.directory(&self.owner);
                let name = directory.file_name().unwrap_or_default().to_string_lossy();
                spools.remove(&name)
            }
        };
        removed.map_err(|error| error.to_string())
    }

    /// Whether what is measured is being kept on this host.
    pub(super) const fn is_kept(&self) -> bool {
        self.writer.is_some()
    }

    /// The failure that was not reported yet.
    pub(super) fn take_failure(&mut self) -> Option<Warning> {
        self.failure.take()
    }

    pub(super) fn run_started(&mut self, run: &Run) {
        self.write(|spool, _| spool.run_started(run, unix_ms()));
    }

    /// Keeps an interval; whether it is on this host's disk.
    pub(super) fn interval(&mut self, run_index: u32, interval: &Interval) -> bool {
        self.write(|spool, host| spool.interval(host, run_index, interval));
        self.is_kept()
    }

    /// Keeps how this host's share of a run ended.
    pub(super) fn run_finished(
        &mut self,
        run_index: u32,
        started: Option<(Start, u64)>,
        warnings: &[Warning],
        outcome: &Outcome,
    ) {
        self.write(|spool, host| {
            if let Some((Start { clock_error_ns, .. }, late_ns)) = started {
                let started = HostEvent::Started { late_ns, clock_error_ns };
                spool.host_event(host, run_index, &started)?;
            }
            for warning in warnings {
                spool.warning(run_index, warning)?;
            }
            spool.host_event(host, run_index, &HostEvent::Ended)?;
            spool.run_finished(run_index, outcome)
        });
    }

    fn write(&mut self, write: impl FnOnce(&mut SpoolWriter, u32) -> Result<(), store::Error>) {
        let Some(writer) = &mut self.writer else { return };
        if let Err(error) = write(writer, self.owner.host) {
            let path = writer.directory().to_owned();
            // What follows an interval that is missing could not be used.
            self.writer = None;
            self.failed(path, &error);
        }
    }

    fn failed(&mut self, path: PathBuf, error: &store::Error) {
        let (path, reason) = (path.display().to_string(), error.to_string());
        self.failure = Some(Warning::SpoolFailed { path, reason });
    }
}

/// The spools of this host.
pub(super) fn list(boot_id: &str) -> Result<SpoolList, String> {
    let spools = spools_here();
    let names = spools.names().map_err(|error| error.to_string())?;
    let item = |name: &String| {
        let item = SpoolItem::of(name, &spools.read(name).ok()?);
        // A lock on a shared file system may be known only to the host that has it.
        let is_elsewhere = item.owner.as_ref().is_some_and(|owner| owner.boot_id != boot_id);
        let is_live = item.is_live || (is_elsewhere && item.age_ms < QUIET_MS);
        Some(SpoolItem { is_live, is_complete: item.is_complete && !is_live, ..item })
    };
    let (device, inode) =
        fs::metadata(spools.root()).map_or((0, 0), |found| (found.dev(), found.ino()));
    Ok(SpoolList {
        directory: spools.root().display().to_string(),
        identity: (boot_id.to_owned(), device, inode),
        // One that was removed meanwhile is left out.
        spools: names.iter().filter_map(item).collect(),
    })
}

/// Sends the frames of a spool that the record lacks.
pub(super) fn send(name: &str, have: &[(u32, u32)], outbox: &Outbox) -> Result<SpoolItem, String> {
    let content = spools_here().read(name).map_err(|error| error.to_string())?;
    send_content(&content, have, outbox)?;
    Ok(SpoolItem::of(name, &content))
}

/// Sends the frames that the record lacks.
pub(super) fn send_content(
    content: &SpoolContent,
    have: &[(u32, u32)],
    outbox: &Outbox,
) -> Result<(), String> {
    let mut skipped: Vec<(u32, u32)> = have.to_vec();
    for (kind, payload) in &content.frames {
        let origin = frame::Frame::origin_of_interval(*kind, payload);
        let run_index = origin.ok().flatten().map(|(_, run_index)| run_index);
        let is_of_run = |(run, left): &&mut (u32, u32)| Some(*run) == run_index && *left > 0;
        if let Some((_, left)) = skipped.iter_mut().find(is_of_run) {
            *left -= 1;
            continue;
        }
        let message = Message::Frame { kind: *kind, payload: payload.clone() };
        outbox.send(&message).map_err(|error| format!("send the spool: {error}"))?;
    }
    Ok(())
}

pub(super) fn remove(name: &str) -> Result<(), String> {
    spools_here().remove(name).map_err(|error| error.to_string())
}

impl SpoolItem {
    pub(super) fn of(name: &str, content: &SpoolContent) -> SpoolItem {
        let now_ms = unix_ms();
        let run = |run: &store::SpooledRun| SpoolRunItem {
            run_index: run.run_index,
            load_point: run.load_point.clone(),
            started_unix_ms: run.started_unix_ms,
            elapsed_ms: now_ms.saturating_sub(run.started_unix_ms),
            planned_ms: run.planned_ns / 1_000_000,
            intervals: run.intervals,
            has_ended: run.outcome.is_some(),
        };
        SpoolItem {
            name: name.to_owned(),
            owner: content.owner.clone(),
            is_live: content.is_live,
            runs: content.runs.iter().map(run).collect(),
            damage: content.damage.clone(),
            bytes: content.bytes,
            age_ms: content.age_ms,
            is_complete: content.is_complete(),
        }
    }

    /// The run that its agent is executing.
    pub(super) fn current_run(&self) -> Option<&SpoolRunItem> {
        self.runs.last().filter(|run| self.is_live && !run.has_ended)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of a host with this boot ID: spools of `(host, boot ID)`.
    fn list(boot_id: &str, spools: &[(u32, &str)]) -> SpoolList {
        let item = |(host, boot_id): &(u32, &str)| {
            let owner =
                SpoolOwner { host: *host, boot_id: (*boot_id).to_owned(), ..SpoolOwner::default() };
            SpoolItem { owner: Some(owner), ..SpoolItem::of("", &SpoolContent::default()) }
        };
        SpoolList {
            directory: String::new(),
            identity: (boot_id.to_owned(), 1, 2),
            spools: spools.iter().map(item).collect(),
        }
    }

    #[test]
    fn a_spool_on_a_shared_file_system_is_listed_by_the_host_that_wrote_it() {
        let all = [(0, "a"), (1, "b"), (2, "rebooted")];
        let mut lists = ["a", "b", "c"].map(|boot_id| list(boot_id, &all));
        list_each_once(&mut lists);
        let hosts = |list: &SpoolList| -> Vec<u32> {
            list.spools.iter().flat_map(|item| &item.owner).map(|owner| owner.host).collect()
        };
        assert_eq!(lists.each_ref().map(hosts), [vec![0, 2], vec![1], vec![]]);
    }

    #[test]
    fn a_damaged_spool_remains_in_every_list() {
        let damaged = SpoolItem::of("x", &SpoolContent::default());
        let mut lists = ["a", "b"].map(|boot_id| list(boot_id, &[]));
        lists.iter_mut().for_each(|list| list.spools.push(damaged.clone()));
        list_each_once(&mut lists);
        assert!(lists.iter().all(|list| list.spools.len() == 1));
    }
}
