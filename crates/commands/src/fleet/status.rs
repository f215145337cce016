//! `fleet status`: which agents run on each host, and the spools that are there.

use std::time::Duration;

use report::number::NONE;
use report::table::{Column, Table};
use serde::Serialize;
use units::{Bytes, Utc, print_whole_seconds};

use super::reply;
use super::request::Request;
use super::spool::{self, SpoolItem, SpoolList, SpoolRequest};
use super::{Fleet, ObserveHosts};

/// The state of a fleet.
#[derive(Debug, Serialize)]
pub struct Status {
    /// Hosts that are one machine are one entry.
    pub hosts: Vec<HostStatus>,
}

/// The state of a host.
#[derive(Debug, Serialize)]
pub struct HostStatus {
    /// Its names.
    pub names: Vec<String>,
    /// Why it is not reached; null if it is.
    pub error: Option<String>,
    /// The directory of its spools.
    pub directory: Option<String>,
    /// Agents that execute an experiment.
    pub agents: Vec<AgentStatus>,
    /// Its spools, also those of agents that run.
    pub spools: Vec<SpoolStatus>,
}

/// An agent that executes an experiment.
#[derive(Debug, Serialize)]
pub struct AgentStatus {
    /// Its process.
    pub process: u32,
    /// The ID of the record that its controller writes.
    pub record: String,
    /// The host's name there.
    pub host: String,
    /// When it began, in milliseconds since 1970 by the host's clock.
    pub since_unix_ms: u64,
    /// The run that it executes, by its position in the plan; null between runs.
    pub run_index: Option<u32>,
    /// The load point of that run.
    pub load_point: Option<String>,
    /// Since the start of that run, in milliseconds.
    pub run_elapsed_ms: Option<u64>,
    /// The planned duration of that run, in milliseconds.
    pub run_planned_ms: Option<u64>,
}

/// A spool.
#[derive(Debug, Serialize)]
pub struct SpoolStatus {
    /// The name of its directory.
    pub name: String,
    /// The ID of its record; null if its beginning is damaged.
    pub record: Option<String>,
    /// The host's name in the record.
    pub host: Option<String>,
    /// Runs that were started.
    pub runs: usize,
    /// Complete intervals.
    pub intervals: u64,
    /// Its size.
    pub bytes: u64,
    /// Since it was last written, in milliseconds.
    pub age_ms: u64,
    /// `running`, `complete`, `incomplete` or `damaged`.
    pub state: &'static str,
    /// What is damaged.
    pub damage: Option<String>,
}

/// Asks every host.
///
/// * `observe` - gets the hosts that are not done, and may end the command
pub fn status(fleet: &Fleet, observe: ObserveHosts<'_>) -> Status {
    let answers = fleet.ask(&Request::Spool(SpoolRequest::List), observe);
    let mut machines: Vec<(Vec<String>, Result<SpoolList, String>)> = Vec::new();
    for (name, answer) in fleet.names().zip(answers) {
        let list = answer.map_err(|lost| lost.to_string()).and_then(|answer| {
            let list = reply::read::<SpoolList>(Ok(answer.result));
            list.map_err(|failed| failed.in_words())
        });
        let identity =
            |list: &Result<SpoolList, String>| Some(list.as_ref().ok()?.identity.clone());
        let here = identity(&list);
        let known =
            machines.iter_mut().find(|(_, known)| here.is_some() && identity(known) == here);
        match known {
            Some((names, _)) => names.push(name.to_owned()),
            None => machines.push((vec![name.to_owned()], list)),
        }
    }
    spool::list_each_once(machines.iter_mut().filter_map(|(_, list)| list.as_mut().ok()));
    Status {
        hosts: machines.into_iter().map(|(names, list)| HostStatus::of(names, list)).collect(),
    }
}

impl HostStatus {
    fn of(names: Vec<String>, list: Result<SpoolList, String>) -> HostStatus {
        match list {
            Ok(list) => HostStatus {
                names,
                error: None,
                agents: list.spools.iter().filter_map(AgentStatus::of).collect(),
                spools: list.spools.into_iter().map(SpoolStatus::of).collect(),
                directory: Some(list.directory),
            },
            Err(why) => HostStatus {
                names,
                error: Some(why),
                directory: None,
                agents: Vec::new(),
                spools: Vec::new(),
            },
        }
    }
}

impl AgentStatus {
    fn of(item: &SpoolItem) -> Option<AgentStatus> {
        let owner = item.owner.as_ref().filter(|_| item.is_live)?;
        let run = item.current_run();
        Some(AgentStatus {
            process: owner.process,
            record: owner.record.clone(),
            host: owner.host_name.clone(),
            since_unix_ms: owner.begun_unix_ms,
            run_index: run.map(|run| run.run_index),
            load_point: run.map(|run| run.load_point.clone()),
            run_elapsed_ms: run.map(|run| run.elapsed_ms),
            run_planned_ms: run.map(|run| run.planned_ms),
        })
    }
}

impl SpoolStatus {
    fn of(item: SpoolItem) -> SpoolStatus {
        let state = match (&item.damage, item.is_live, item.is_complete) {
            (Some(_), _, _) => "damaged",
            (None, true, _) => "running",
            (None, false, true) => "complete",
            (None, false, false) => "incomplete",
        };
        let (record, host) = item.owner.map(|owner| (owner.record, owner.host_name)).unzip();
        SpoolStatus {
            name: item.name,
            record,
            host,
            runs: item.runs.len(),
            intervals: item.runs.iter().map(|run| u64::from(run.intervals)).sum(),
            bytes: item.bytes,
            age_ms: item.age_ms,
            state,
            damage: item.damage,
        }
    }
}

impl Status {
    /// Whether a host is not reached.
    pub fn has_lost(&self) -> bool {
        self.hosts.iter().any(|host| host.error.is_some())
    }

    /// Agents, spools, and hosts that are not reached, in `width` columns.
    pub fn text(&self, width: usize) -> String {
        let mut text = String::new();
        for host in &self.hosts {
            if let Some(error) = &host.error {
                text += &format!(
                    "{}: not reached: {}\n",
                    host.names.join(", "),
                    error.replace('\n', "; ")
                );
            }
        }
        let agents = self.agents();
        let spools = self.spools();
        for (table, none) in [(agents, "no agent executes an experiment"), (spools, "no spools")] {
            match table.rows.is_empty() {
                true => text += &format!("{none}\n"),
                false => text += &table.text(width),
            }
        }
        for (host, spool) in self.each_spool() {
            if let Some(damage) = &spool.damage {
                text += &format!("{}: {damage}\n", host.names.join(", "));
            }
        }
        text
    }

    fn agents(&self) -> Table {
        let row = |agent: &AgentStatus| {
            let time =
                |ms: Option<u64>| print_whole_seconds(Duration::from_millis(ms.unwrap_or(0)));
            let run = agent.run_index.map_or(NONE.to_owned(), |index| {
                let (elapsed, planned) = (agent.run_elapsed_ms, agent.run_planned_ms);
                format!("{}, {} of {}", index + 1, time(elapsed), time(planned))
            });
            let since = Utc::from_unix_ms(agent.since_unix_ms);
            vec![
                agent.host.clone(),
                agent.process.to_string(),
                format!("{} {}", since.date(), &since.time()[..5]),
                run,
                agent.record.clone(),
            ]
        };
        Table {
            columns: vec![
                Column::words("HOST"),
                Column::numbers("PROCESS", ""),
                Column::words("SINCE (UTC)"),
                Column::words("RUN"),
                Column::words("RECORD"),
            ],
            rows: self.hosts.iter().flat_map(|host| &host.agents).map(row).collect(),
            ..Table::default()
        }
    }

    fn spools(&self) -> Table {
        let row = |(host, spool): (&HostStatus, &SpoolStatus)| {
            vec![
                spool.host.clone().unwrap_or_else(|| host.names.join(", ")),
                spool.state.to_owned(),
                spool.runs.to_string(),
                spool.intervals.to_string(),
                Bytes::new(spool.bytes).to_string(),
                print_whole_seconds(Duration::from_millis(spool.age_ms)),
                spool.record.clone().unwrap_or_else(|| spool.name.clone()),
            ]
        };
        Table {
            columns: vec![
                Column::words("HOST"),
                Column::words("SPOOL"),
                Column::numbers("RUNS", ""),
                Column::numbers("INTERVALS", ""),
                Column::numbers("SIZE", ""),
                Column::numbers("AGE", ""),
                Column::words("RECORD"),
            ],
            rows: self.each_spool().map(row).collect(),
            ..Table::default()
        }
    }

    fn each_spool(&self) -> impl Iterator<Item = (&HostStatus, &SpoolStatus)> {
        self.hosts.iter().flat_map(|host| host.spools.iter().map(move |spool| (host, spool)))
    }
}
