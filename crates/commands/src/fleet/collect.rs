//! `fleet collect`: completes a record from the spools of its hosts.
//!
//! Hosts that were cut off have finished their run, or still do, which is awaited. What the record lacks is
//! appended to its journal; the spools are removed once the journal is on disk.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::time::Duration;

use anyhow::anyhow;
use metrics::fleet::FleetHost;
use serde::{Serialize, Serializer};
use store::Store;

use super::Fleet;
use super::collector::Collector;
use super::hosts::Hosts;
use crate::outcome::{Exit, Failure};

pub use super::collection::{Incomplete, NeverStarted};

/// What `fleet collect` is to do.
#[derive(Debug)]
pub struct Options<'a> {
    /// The store with the record.
    pub store: &'a Store,
    /// The record's ID, a prefix, a label or `last`.
    pub record: &'a str,
    /// The hosts, instead of those that are stored with the record.
    pub fleet: Option<Fleet>,
    /// Longest wait for agents that finish their run; `None`: until its planned end and a minute.
    pub wait: Option<Duration>,
    /// Version of this program; agents must have the same.
    pub version: &'a str,
}

/// What was collected.
#[derive(Debug, Serialize)]
pub struct Collected {
    /// The record's ID.
    #[serde(rename = "record")]
    pub id: String,
    /// The hosts of the record.
    pub hosts: Vec<CollectedHost>,
    /// Something was appended to the record.
    pub has_changed: bool,
    /// Hosts that are not reached, with the reason.
    #[serde(serialize_with = "with_reasons")]
    pub not_reached: Vec<(String, String)>,
    /// Spools that could not be used, or not completely, with host and reason.
    #[serde(serialize_with = "with_reasons")]
    pub problems: Vec<(String, String)>,
    /// What the record still lacks.
    pub incomplete: Vec<Incomplete>,
    /// Planned runs that no host started; `None` if there are none, or if their number is not known.
    pub never_started: Option<NeverStarted>,
}

/// What was collected from a host.
#[derive(Debug, Serialize)]
pub struct CollectedHost {
    /// Its name.
    pub name: String,
    /// Intervals that were added to the record.
    pub added: u32,
    /// Intervals that it measured after the other hosts had been stopped, which are not part of the run.
    pub left_out: u32,
    /// It had a spool.
    pub has_spool: bool,
}

/// Hosts with reasons as `{"host": ..., "reason": ...}`.
fn with_reasons<S: Serializer>(all: &[(String, String)], out: S) -> Result<S::Ok, S::Error> {
    out.collect_seq(
        all.iter().map(|(host, reason)| BTreeMap::from([("host", host), ("reason", reason)])),
    )
}

impl Collected {
    /// The exit code: a host is not reached, the record is not complete, or neither.
    pub fn exit(&self) -> Exit {
        let is_complete = self.incomplete.is_empty() && self.never_started.is_none();
        match (self.not_reached.is_empty(), self.problems.is_empty() && is_complete) {
            (false, _) => Exit::TargetFailed,
            (true, false) => Exit::Negative,
            (true, true) => Exit::Done,
        }
    }
}

/// Collects a record.
///
/// * `observe` - gets what is awaited, in words, and may end the command
///
/// # Errors
/// The record has no hosts, is being measured, or cannot be read or written.
pub fn collect(
    options: Options<'_>,
    observe: &mut dyn FnMut(&str) -> ControlFlow<()>,
) -> Result<Collected, Failure> {
    let is_interrupted = Cell::new(false);
    let observe = &mut |awaited: &str| {
        let flow = observe(awaited);
        is_interrupted.set(is_interrupted.get() || flow.is_break());
        flow
    };
    let store = options.store;
    let id = store.resolve(options.record).map_err(Failure::input)?;
    let record = store.load(&id).map_err(Failure::input)?;
    let reach = store.reach(&id).map_err(Failure::input)?;
    let names: Vec<String> = match (&reach, record.hosts.is_empty()) {
        (Some(reach), true) => reach.hosts.iter().map(|host| host.name.clone()).collect(),
        (None, true) => {
            return Err(Failure::input(anyhow!(
                "{id} was measured by one host without --hosts: there is nothing to collect"
            )));
        }
        (_, false) => record.hosts.iter().map(|host| host.name.clone()).collect(),
    };
    let fleet = match (options.fleet, &reach) {
        (Some(fleet), _) => fleet,
        (None, Some(reach)) => Fleet::of_reach(reach, options.version)?,
        (None, None) => {
            return Err(Failure::input(anyhow!("{id} does not say how its hosts were reached"))
                .with_remedy("name them with --hosts"));
        }
    };
    let mut writer = store.continue_record(&id).map_err(|error| match error {
        store::Error::BeingWritten { .. } => Failure::input(anyhow!(
            "{id} is being measured or collected; wait until that has ended"
        )),
        error => Failure::input(error),
    })?;
    // Read again: it may have grown before it was locked.
    let record = store.load(&id).map_err(Failure::input)?;
    if record.hosts.is_empty() {
        // The controller was killed before it wrote them; without them, intervals have no owner.
        let host = |name: &String| FleetHost { name: name.clone(), ..FleetHost::default() };
        let hosts: Vec<FleetHost> = names.iter().map(host).collect();
        writer.fleet(&hosts).map_err(Failure::target)?;
    }
    let links = Box::new(fleet.connect());
    let hosts = Hosts::connect(links, &mut || observe("the agents of the hosts"));
    let mut collector = Collector::new(id.clone(), names, &record, writer, hosts);
    let mut found = collector.await_spools(options.wait, observe)?;
    collector.take_spools(&mut found, observe)?;
    collector.settle()?;
    if is_interrupted.get() {
        return Err(interrupted());
    }
    // What the spools contain is removed only when it can be read from the record.
    store.load(&id).map_err(Failure::target)?;
    collector.remove(&found, observe)?;
    Ok(collector.finish(&found))
}

pub(super) fn interrupted() -> Failure {
    Failure { is_interrupted: true, ..Failure::input(anyhow!("interrupted by the user")) }
}
