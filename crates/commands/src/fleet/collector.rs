//! Collects the spools of a record: lists them on all hosts, waits for agents that still write one, takes
//! their frames into the record, and removes them.

use std::ops::ControlFlow;
use std::time::Duration;

use metrics::run_record::ExperimentRecord;
use store::Writer;
use units::{listed, print_whole_seconds};

use super::collect::{Collected, CollectedHost, interrupted};
use super::collection::{Addition, Collection};
use super::hosts::Hosts;
use super::request::Request;
use super::spool::{self, SpoolItem, SpoolList, SpoolRequest};
use crate::outcome::Failure;

/// Time after the planned end of a run for its last operations, before its agent is no longer awaited.
const GRACE: Duration = Duration::from_secs(60);
/// Time between two lists of spools while an agent finishes its run.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// A spool of the record.
pub(super) struct Found {
    /// The host that lists it.
    asked: usize,
    /// The position of the host that wrote it.
    host: usize,
    item: SpoolItem,
    /// Everything in it is in the record.
    is_taken: bool,
}

/// What takes the additions to a record.
pub(super) trait Append {
    /// Appends what the record lacks.
    fn append(&mut self, addition: Addition) -> Result<(), store::Error>;

    /// Makes it durable.
    fn sync(&mut self) -> Result<(), store::Error>;
}

/// A record while its spools are collected.
pub(super) struct Collector<W> {
    id: String,
    names: Vec<String>,
    collection: Collection,
    writer: W,
    hosts: Hosts,
    /// Agents that finish their run, in words.
    awaited: String,
    has_changed: bool,
    problems: Vec<(String, String)>,
}

impl<W: Append> Collector<W> {
    /// * `names` - those of all hosts of the record
    /// * `hosts` - those that are asked
    pub(super) fn new(
        id: String,
        names: Vec<String>,
        record: &ExperimentRecord,
        writer: W,
        hosts: Hosts,
    ) -> Collector<W> {
        Collector {
            collection: Collection::of(record, &names),
            id,
            names,
            writer,
            hosts,
            awaited: String::new(),
            has_changed: false,
            problems: Vec::new(),
        }
    }

    /// The spools of the record, once no agent writes one, or after the longest wait.
    pub(super) fn await_spools(
        &mut self,
        wait: Option<Duration>,
        observe: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<Vec<Found>, Failure> {
        let begun_ns = self.hosts.now_ns();
        let mut longest = None;
        loop {
            let (found, problems) = self.list(observe);
            let live: Vec<&Found> = found.iter().filter(|one| one.item.is_live).collect();
            let longest = *longest.get_or_insert_with(|| wait.unwrap_or(GRACE + remaining(&live)));
            let waited = Duration::from_nanos(self.hosts.now_ns() - begun_ns);
            if live.is_empty() || waited >= longest {
                for one in live {
                    let process = one.item.owner.as_ref().map_or(0, |owner| owner.process);
                    let why = format!(
                        "its agent (process {process}) still runs{}; collect again later",
                        in_run(&one.item)
                    );
                    self.problems.push((self.names[one.host].clone(), why));
                }
                self.problems.extend(problems);
                return Ok(found);
            }
            let awaited =
                live.iter().map(|one| format!("{}{}", self.names[one.host], in_run(&one.item)));
            self.awaited = listed(&awaited.collect::<Vec<String>>());
            if observe(&self.awaited).is_break() {
                return Err(interrupted());
            }
            self.hosts.wait(LOOK_EVERY);
        }
    }

    /// The spools of the record on all hosts, and those that cannot be used.
    fn list(
        &mut self,
        observe: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> (Vec<Found>, Vec<(String, String)>) {
        let (mut lists, mut problems) = (Vec::<(usize, SpoolList)>::new(), Vec::new());
        for (asked, name) in self.hosts.names().into_iter().enumerate() {
            let list = Request::Spool(SpoolRequest::List);
            let mut no_frames = |_| Ok(());
            let words = match self.awaited.as_str() {
                "" => format!("the spools of {name}"),
                awaited => awaited.to_owned(),
            };
            let listed = self.hosts.ask(asked, &list, &mut no_frames, &mut || observe(&words));
            let list: SpoolList = match listed {
                Ok(list) => list,
                Err(why) if self.hosts.lost(asked).is_none() => {
                    problems.push((name, why));
                    continue;
                }
                // Listed as not reached.
                Err(_) => continue,
            };
            // Agents on one machine have the same spools.
            if lists.iter().all(|(_, known)| known.identity != list.identity) {
                lists.push((asked, list));
            }
        }
        spool::list_each_once(lists.iter_mut().map(|(_, list)| list));
        let names = self.hosts.names();
        let mut found = Vec::new();
        for (asked, list) in lists {
            for item in list.spools {
                let path = format!("{}/{}", list.directory, item.name);
                match self.host_of(&item, &path) {
                    Some(Ok(host)) => found.push(Found { asked, host, item, is_taken: false }),
                    Some(Err(why)) => problems.push((names[asked].clone(), why)),
                    None => {}
                }
            }
        }
        (found, problems)
    }

    /// The position of the host whose spool this is; `None` if it is of another record, and an error if
    /// only its name is of this one.
    fn host_of(&self, item: &SpoolItem, path: &str) -> Option<Result<usize, String>> {
        let has_name = item.name.starts_with(&format!("{}-", self.id));
        match &item.owner {
            Some(owner) if owner.record == self.id => {
                let host = owner.host as usize;
                Some(match self.names.get(host) == Some(&owner.host_name) {
                    true => Ok(host),
                    false => Err(format!(
                        "{path} is of host {} ({}), which the record does not have; nothing is taken \
                         from it",
                        owner.host_name,
                        owner.host + 1
                    )),
                })
            }
            Some(owner) if has_name => Some(Err(format!(
                "{path} belongs to record {}; nothing is taken from it",
                owner.record
            ))),
            None if has_name => {
                let damage = item.damage.as_deref().unwrap_or("its owner is not known");
                Some(Err(format!("{damage}; nothing can be taken from it: remove it on the host")))
            }
            _ => None,
        }
    }

    /// Takes the frames of all spools into the record.
    pub(super) fn take_spools(
        &mut self,
        found: &mut [Found],
        observe: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        found.sort_by_key(|one| (self.collection.was_lost(one.host), one.host));
        for one in found {
            let name = self.names[one.host].clone();
            let (collection, writer) = (&mut self.collection, &mut self.writer);
            let (mut failure, mut has_changed) = (None, false);
            let have = collection.have(one.host);
            let send = SpoolRequest::Send { name: one.item.name.clone(), have };
            let mut take = |frame| {
                let Some(addition) = collection.take(one.host, frame)? else { return Ok(()) };
                has_changed = true;
                writer.append(addition).map_err(|error| {
                    let why = error.to_string();
                    failure = Some(error);
                    why
                })
            };
            let words = format!("the intervals of {name}");
            let sent = self.hosts.ask::<SpoolItem>(
                one.asked,
                &Request::Spool(send),
                &mut take,
                &mut || observe(&words),
            );
            self.has_changed |= has_changed;
            if let Some(error) = failure {
                return Err(Failure::target(error));
            }
            match sent {
                Ok(SpoolItem { damage: Some(damage), .. }) => {
                    let why = format!("{damage}; what comes before it is in the record");
                    self.problems.push((name, why));
                }
                Ok(item) => one.is_taken = !item.is_live,
                Err(why) => self.problems.push((name, why)),
            }
        }
        Ok(())
    }

    /// Appends what is known once all spools are taken, and makes the record durable.
    pub(super) fn settle(&mut self) -> Result<(), Failure> {
        for addition in self.collection.settle() {
            self.has_changed = true;
            self.writer.append(addition).map_err(Failure::target)?;
        }
        self.writer.sync().map_err(Failure::target)
    }

    /// Removes the spools whose content is in the record.
    pub(super) fn remove(
        &mut self,
        found: &[Found],
        observe: &mut dyn FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), Failure> {
        for one in found.iter().filter(|one| one.is_taken) {
            let remove = Request::Spool(SpoolRequest::Remove { name: one.item.name.clone() });
            let mut no_frames = |_| Ok(());
            let removed: Result<(), String> =
                self.hosts.ask(one.asked, &remove, &mut no_frames, &mut || observe("the end"));
            if let Err(why) = removed {
                let name = self.names[one.host].clone();
                self.problems.push((name, format!("its spool remains: {why}")));
            }
        }
        Ok(())
    }

    pub(super) fn finish(self, found: &[Found]) -> Collected {
        let asked = self.hosts.names();
        let lost = |host: usize| Some((asked[host].clone(), self.hosts.lost(host)?.to_owned()));
        let hosts = self.names.iter().enumerate().map(|(host, name)| {
            let (added, left_out) = self.collection.counts(host);
            let has_spool = found.iter().any(|one| one.host == host);
            CollectedHost { name: name.clone(), added, left_out, has_spool }
        });
        Collected {
            hosts: hosts.collect(),
            has_changed: self.has_changed,
            not_reached: (0..asked.len()).filter_map(lost).collect(),
            problems: self.problems,
            incomplete: self.collection.incomplete(),
            never_started: self.collection.never_started(),
            id: self.id,
        }
    }
}

impl Append for Writer {
    fn append(&mut self, addition: Addition) -> Result<(), store::Error> {
        match addition {
            Addition::RunStarted { run, started_unix_ms } => {
                self.run_started(&run, started_unix_ms)
            }
            Addition::Interval { host, run_index, interval } => {
                self.host_interval(host, run_index, &interval)
            }
            Addition::HostEvent { host, run_index, event } => {
                self.host_event(host, run_index, &event)
            }
            Addition::Warning { run_index, warning } => self.warning(Some(run_index), &warning),
            Addition::RunFinished { run_index, outcome } => self.run_finished(run_index, &outcome),
            Addition::Finished { outcome } => self.finish(&outcome),
        }
    }

    fn sync(&mut self) -> Result<(), store::Error> {
        Writer::sync(self)
    }
}

/// The longest time until the planned end of a run.
fn remaining(live: &[&Found]) -> Duration {
    let remaining = live.iter().filter_map(|one| {
        let run = one.item.current_run()?;
        Some(run.planned_ms.saturating_sub(run.elapsed_ms))
    });
    Duration::from_millis(remaining.max().unwrap_or(0))
}

/// Which run an agent executes, and how far it is.
fn in_run(item: &SpoolItem) -> String {
    let Some(run) = item.current_run() else { return String::new() };
    let time = |ms| print_whole_seconds(Duration::from_millis(ms));
    let (elapsed, planned) = (time(run.elapsed_ms), time(run.planned_ms));
    format!(" (run {}, {elapsed} of {planned})", run.run_index + 1)
}
