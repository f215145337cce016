//! What is measured in rounds: who calls whom with what.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::judge::{Measured, Sample};
use super::servers::{self, BackEnd, Server};
use super::{Options, client, example};
use crate::bench::process::CLIENT_PROCESSOR;

/// Where everything is.
pub(crate) struct Place {
    pub(crate) root: PathBuf,
    pub(crate) scratch: PathBuf,
}

impl Place {
    pub(crate) fn new(root: &Path, scratch: PathBuf) -> Place {
        Place { root: root.to_path_buf(), scratch }
    }
}

/// A call and its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Read,
    Write,
    GetAttributes,
    LookUp,
    CreateRemove,
}

impl Call {
    fn word(self) -> &'static str {
        match self {
            Call::Read => "read",
            Call::Write => "write",
            Call::GetAttributes => "getattr",
            Call::LookUp => "lookup",
            Call::CreateRemove => "create-remove",
        }
    }
}

/// Who serves and who calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    /// The bare pair.
    Floor,
    /// The generator of `xtask/examples/load` against our service.
    LoadOurs,
    /// The same against nfs-ganesha.
    LoadMem,
    /// The same against nfs-ganesha.
    LoadVfs,
    /// Our client, as a user runs it, against our service.
    Ours,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pair: Pair,
    connections: u32,
    /// Outstanding on each connection.
    depth: u32,
}

/// Trials that take turns, with the same call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) call: Call,
    /// Bytes of data of each call.
    pub(crate) transfer: u64,
    pub(crate) sequential: bool,
    trials: &'static [Trial],
}

const fn trial(name: &'static str, pair: Pair, connections: u32, depth: u32) -> Trial {
    Trial { name, pair, connections, depth }
}

impl Group {
    /// What is measured.
    #[cfg(test)]
    pub(crate) fn trial_names(&self) -> impl Iterator<Item = &'static str> {
        self.trials.iter().map(|trial| trial.name)
    }
}

/// Of one connection with 32 outstanding.
const ALL_PAIRS: &[Trial] = &[
    trial("floor", Pair::Floor, 1, 32),
    trial("load-ours", Pair::LoadOurs, 1, 32),
    trial("load-mem", Pair::LoadMem, 1, 32),
    trial("load-vfs", Pair::LoadVfs, 1, 32),
    trial("client", Pair::Ours, 1, 32),
];
const METADATA: &[Trial] = &[
    trial("load-ours", Pair::LoadOurs, 1, 32),
    trial("load-mem", Pair::LoadMem, 1, 32),
    trial("load-vfs", Pair::LoadVfs, 1, 32),
];
const STREAMING: &[Trial] = &[
    trial("floor", Pair::Floor, 1, 16),
    trial("load-ours", Pair::LoadOurs, 1, 16),
    trial("client", Pair::Ours, 1, 16),
];
const ALONE: &[Trial] = &[
    trial("floor", Pair::Floor, 1, 1),
    trial("load-ours", Pair::LoadOurs, 1, 1),
    trial("client", Pair::Ours, 1, 1),
];
const SHAPES: &[Trial] = &[trial("16x16", Pair::Ours, 16, 16), trial("1x64", Pair::Ours, 1, 64)];

const fn group(name: &'static str, call: Call, transfer: u64, trials: &'static [Trial]) -> Group {
    Group { name, call, transfer, sequential: transfer > 8192, trials }
}

/// All of them.
pub(crate) const GROUPS: &[Group] = &[
    group("read-8k", Call::Read, 8192, ALL_PAIRS),
    group("write-8k", Call::Write, 8192, ALL_PAIRS),
    group("connections", Call::Read, 8192, SHAPES),
    group("getattr", Call::GetAttributes, 0, METADATA),
    group("lookup", Call::LookUp, 0, METADATA),
    group("create-remove", Call::CreateRemove, 0, METADATA),
    group("read-64k", Call::Read, 65536, STREAMING),
    group("write-64k", Call::Write, 65536, STREAMING),
    group("depth-1", Call::Read, 8192, ALONE),
];

/// Measures a group in rounds, every other one backwards.
pub(crate) fn measure(
    group: &Group,
    place: &Place,
    options: &Options,
    measured: &mut Measured,
) -> Result<()> {
    for round in 0..options.asked.rounds {
        let wanted = |trial: &&Trial| options.wants(&format!("{}/{}", group.name, trial.name));
        let mut trials: Vec<&Trial> = group.trials.iter().filter(wanted).collect();
        if round % 2 == 1 {
            trials.reverse();
        }
        for trial in trials {
            writeln!(std::io::stderr(), "{} {}, round {round} …", group.name, trial.name)?;
            let sample = one(group, trial, place, options)
                .with_context(|| format!("{} {}", group.name, trial.name))?;
            measured.add(group.name, trial.name, round, sample);
        }
    }
    Ok(())
}

fn one(group: &Group, trial: &Trial, place: &Place, options: &Options) -> Result<Sample> {
    let Place { root, scratch } = place;
    match trial.pair {
        Pair::Floor => {
            // What the calls are with AUTH_SYS and a handle of 32 bytes, to a few bytes: head,
            // arguments, attributes; and the data.
            let (request, reply) = match group.call {
                Call::Write => (group.transfer + 128, 160),
                _ => (128, group.transfer + 128),
            };
            let server = servers::floor(root, scratch, request, reply)?;
            let (request, reply) = (request.to_string(), reply.to_string());
            let words = ["client", "--request", &request, "--reply", &reply];
            call(&example(root, "floor"), &words, &server, group, trial, options)
        }
        Pair::LoadOurs => load(&servers::ours(root, scratch)?, group, trial, place, options),
        Pair::LoadMem => {
            load(&servers::ganesha(scratch, BackEnd::Mem)?, group, trial, place, options)
        }
        Pair::LoadVfs => {
            load(&servers::ganesha(scratch, BackEnd::Vfs)?, group, trial, place, options)
        }
        Pair::Ours => {
            let server = servers::ours(root, scratch)?;
            let shape = client::Shape {
                call: group.call,
                transfer: group.transfer,
                sequential: group.sequential,
                connections: trial.connections,
                outstanding: trial.depth * trial.connections,
                seconds: options.asked.seconds,
            };
            client::measure(place, &server, &shape)
        }
    }
}

fn load(
    server: &Server,
    group: &Group,
    trial: &Trial,
    place: &Place,
    options: &Options,
) -> Result<Sample> {
    let transfer = group.transfer.max(8192).to_string();
    let order = if group.sequential { "sequential" } else { "random" };
    let mut words = vec![group.call.word(), "--export", &server.export];
    words.extend(["--transfer", &transfer, "--order", order]);
    if let Some(port) = server.mount_port {
        words.extend(["--mount-port", port]);
    }
    call(&example(&place.root, "load"), &words, server, group, trial, options)
}

/// Runs one of the examples' clients and reads its line.
fn call(
    program: &Path,
    words: &[&str],
    server: &Server,
    group: &Group,
    trial: &Trial,
    options: &Options,
) -> Result<Sample> {
    let output = Command::new(program)
        .args(words)
        .args(["--address", &server.address])
        .args(["--server-pid", &server.process.pid().to_string()])
        .args(["--cpu", CLIENT_PROCESSOR])
        .args(["--connections", &trial.connections.to_string()])
        .args(["--depth", &trial.depth.to_string()])
        .args(["--seconds", &options.asked.seconds.to_string()])
        .output()
        .with_context(|| format!("start {}", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        let messages = String::from_utf8_lossy(&output.stderr);
        bail!("{} ended with {}: {text}{messages}", program.display(), output.status);
    }
    let field = |name: &str| -> Result<f64> {
        let word = text.split_ascii_whitespace().find_map(|word| word.strip_prefix(name));
        Ok(word.with_context(|| format!("no {name} in: {text}"))?.parse()?)
    };
    let (done, seconds) = (field("done=")?, field("seconds=")?);
    let ops_per_sec = done / seconds;
    let outstanding = f64::from(trial.depth * trial.connections);
    Ok(Sample {
        ops_per_sec,
        client_cpu_us: field("own_cpu_us=")?,
        server_cpu_us: field("server_cpu_us=")?,
        mib_per_sec: ops_per_sec * group.transfer as f64 / f64::from(1 << 20),
        // Little's law: as many are outstanding at every instant.
        response_us: outstanding / ops_per_sec * 1e6,
    })
}
