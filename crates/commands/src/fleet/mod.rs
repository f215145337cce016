//! Several hosts: which ones the user named, and what their agents do.
//!
//! [`Fleet`] resolves `--hosts`, [`agent`] is the far end of the pipe, [`request`]
//! and [`reply`] are what they send.
//! [`check`] asks all hosts for their settings; [`remote`] executes a plan on them, each with a [`station`]
//! and a [`spool`]. [`status`] lists the spools, [`collect`] completes a record from them.

pub mod agent;
pub mod check;
pub mod collect;
mod collection;
mod collector;
mod descriptors;
mod hosts;
pub(crate) mod remote;
mod reply;
mod request;
mod run_keeper;
mod signals;
#[cfg(test)]
mod simulated;
mod spool;
mod station;
pub mod status;

use std::ops::ControlFlow;
use std::process::Command;

use anyhow::{Context, anyhow};
use cluster::ask::{Answer, Ask};
use cluster::controller::Lost;
use cluster::host_list::{self, Entry, Host, Surroundings};
use cluster::launch::{AgentProgram, Copy, Launcher};
use cluster::message::Build;
use cluster::pipes::Pipes;
use metrics::fleet::{Reach, ReachedHost};
use sha2::{Digest, Sha256};

use crate::build_id::build_id;
use crate::outcome::Failure;
use request::Request;

/// Arguments of `kubectl get` that select pods; the others select the cluster and the namespace.
const POD_SELECTORS: [&str; 2] = ["-l", "--selector"];

/// Gets the names of the hosts that are not done, and may end the command.
pub type ObserveHosts<'a> = &'a mut dyn FnMut(&[&str]) -> ControlFlow<()>;

/// The hosts of a command, and the program on them.
#[derive(Clone, Debug)]
pub struct Fleet {
    hosts: Vec<Host>,
    agent: AgentProgram,
    build: Build,
}

impl Fleet {
    /// Resolves the values of `--hosts`.
    ///
    /// * `agent` - the program's path on the hosts
    /// * `push` - copy this program to the hosts instead
    /// * `version` - of this program; agents must have the same
    ///
    /// # Errors
    /// The values are not hosts, a host is named twice, the pods cannot be listed, or this process may not
    /// open enough files.
    pub fn of(hosts: &[String], agent: &str, push: bool, version: &str) -> Result<Fleet, Failure> {
        let slurm_nodes = std::env::var("SLURM_JOB_NODELIST").ok();
        let read_file =
            |path: &str| std::fs::read_to_string(path).map_err(|error| error.to_string());
        let surroundings =
            Surroundings { read_file: &read_file, slurm_nodes: slurm_nodes.as_deref() };
        let mut all = Vec::new();
        for entry in host_list::parse(hosts, surroundings).map_err(Failure::input)? {
            match entry {
                Entry::Hosts(hosts) => all.extend(hosts),
                Entry::Pods { arguments } => all.extend(pods(&arguments)?),
            }
        }
        host_list::refuse_twice(&all).map_err(Failure::input)?;
        descriptors::provide_for(all.len())?;
        let agent = agent_program(agent, push)?;
        Ok(Fleet { build: build_for(&all, version), hosts: all, agent })
    }

    /// The hosts of a record.
    ///
    /// # Errors
    /// The record was written by a version that knows other ways to reach a host, or this process may not open
    /// enough files.
    pub fn of_reach(reach: &Reach, version: &str) -> Result<Fleet, Failure> {
        let host = |host: &ReachedHost| {
            let launcher = host.launcher.parse().map_err(Failure::input)?;
            Ok(Host { name: host.name.clone(), launcher })
        };
        let hosts = reach.hosts.iter().map(host).collect::<Result<Vec<_>, Failure>>()?;
        descriptors::provide_for(hosts.len())?;
        let agent = agent_program(&reach.agent, reach.push)?;
        Ok(Fleet { build: build_for(&hosts, version), hosts, agent })
    }

    /// How the hosts are reached, for their record.
    pub(crate) fn reach(&self) -> Reach {
        let host = |host: &Host| ReachedHost {
            name: host.name.clone(),
            launcher: host.launcher.to_string(),
        };
        Reach {
            agent: self.agent.on_hosts.clone(),
            push: self.agent.copy.is_some(),
            hosts: self.hosts.iter().map(host).collect(),
        }
    }

    /// The names of the hosts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.hosts.iter().map(|host| host.name.as_str())
    }

    /// Number of hosts.
    pub fn count(&self) -> u32 {
        u32::try_from(self.hosts.len()).expect("a list of hosts is short")
    }

    /// Refuses hosts that do not reach a server on this machine's loopback.
    pub(crate) fn refuse_other_machines(&self) -> Result<(), Failure> {
        match self.hosts.iter().find(|host| host.launcher != Launcher::Local) {
            None => Ok(()),
            Some(host) => Err(Failure::input(anyhow!(
                "{}: the emulated volume of this process is not reachable from other hosts",
                host.name
            ))
            .with_remedy(
                "name a target that all hosts reach, for example the nfs:// URL of `fourcorners \
                 volume serve --listen ADDRESS`",
            )),
        }
    }

    /// Starts the agents.
    pub(crate) fn connect(&self) -> Pipes {
        Pipes::open(&self.hosts, &self.agent, &self.build)
    }

    /// Sends a request to every host; see [`cluster::pipes::ask`].
    ///
    /// * `observe` - gets the names of the hosts that are not done, and may end the wait
    fn ask(&self, request: &Request, observe: ObserveHosts<'_>) -> Vec<Result<Answer, Lost>> {
        let names: Vec<&str> = self.names().collect();
        let observe =
            &mut |ask: &Ask| observe(&ask.missing().map(|host| names[host]).collect::<Vec<_>>());
        cluster::pipes::ask(&self.hosts, &self.agent, &self.build, request.to_bytes(), observe)
    }
}

/// This build, with the ID that agents on these hosts have.
fn build_for(hosts: &[Host], version: &str) -> Build {
    build(version, hosts.iter().any(|host| host.launcher != Launcher::Local))
}

/// This build.
fn build(version: &str, with_id: bool) -> Build {
    Build {
        version: version.to_owned(),
        architecture: std::env::consts::ARCH.to_owned(),
        // A host where the program cannot be read is compared by its version.
        id: with_id.then(build_id).and_then(Result::ok),
    }
}

/// The program at this path on the hosts, or a copy of this one.
fn agent_program(on_hosts: &str, push: bool) -> Result<AgentProgram, Failure> {
    let internal = |error: std::io::Error| Failure::internal(anyhow!("read this program: {error}"));
    let here = std::env::current_exe().map_err(internal)?;
    let copy = push.then(|| std::fs::read(&here).map(copy_of)).transpose().map_err(internal)?;
    let here = here.display().to_string();
    Ok(AgentProgram { on_hosts: on_hosts.to_owned(), here, copy })
}

fn copy_of(bytes: Vec<u8>) -> Copy {
    let sha256 = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
    Copy { bytes: bytes.into(), sha256 }
}

/// The running pods that `kubectl get pods ARGUMENTS` lists.
fn pods(arguments: &[String]) -> Result<Vec<Host>, Failure> {
    let mut command = Command::new("kubectl");
    command.args(["get", "pods"]).args(arguments);
    command.args(["--field-selector=status.phase=Running", "-o", "name"]);
    let output = command.output().context("start `kubectl`").map_err(Failure::input)?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr);
        let why = words.lines().next().unwrap_or_default();
        return Err(Failure::input(anyhow!("list the pods with `kubectl get pods`: {why}")));
    }
    let launcher = Launcher::Kubectl { arguments: without_selectors(arguments) };
    let listed = String::from_utf8_lossy(&output.stdout);
    let names = listed.lines().map(|line| line.strip_prefix("pod/").unwrap_or(line));
    let hosts: Vec<Host> =
        names.map(|name| Host { name: name.to_owned(), launcher: launcher.clone() }).collect();
    match hosts.is_empty() {
        false => Ok(hosts),
        true => Err(Failure::input(anyhow!(
            "`kubectl get pods {}` lists no running pod",
            arguments.join(" ")
        ))),
    }
}

/// The arguments without those that select pods.
fn without_selectors(arguments: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut all = arguments.iter();
    while let Some(argument) = all.next() {
        if POD_SELECTORS.contains(&argument.as_str()) {
            all.next();
        } else if !POD_SELECTORS.iter().any(|flag| argument.starts_with(&format!("{flag}="))) {
            kept.push(argument.clone());
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pods_are_selected_once_and_reached_in_their_namespace() {
        let arguments = ["-n", "load", "-l", "app=load", "--selector=a=b", "--context", "x"];
        let arguments = arguments.map(str::to_owned);
        assert_eq!(without_selectors(&arguments), ["-n", "load", "--context", "x"]);
    }
}
