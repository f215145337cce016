//! The trials, which are measured in rounds: client, server, call, connections and queue depth.

use std::io::Write;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::judge::{Measurements, Sample};
use super::servers::{self, BackEnd, Server};
use super::{Paths, client};
use crate::process::CLIENT_PROCESSOR;
use crate::product::example;
use crate::rounds::GroupOptions;

/// An NFS call.
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

/// A client and a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pair {
    /// The bare client and server.
    Floor,
    /// The call generator `bench/examples/load` and the emulated volume.
    LoadVolume,
    /// The call generator and nfs-ganesha, files in memory.
    LoadMem,
    /// The call generator and nfs-ganesha, files in a folder.
    LoadVfs,
    /// The built-in client and the emulated volume, as a user runs them.
    Product,
}

/// One measurement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trial {
    pub(crate) name: &'static str,
    pair: Pair,
    connections: u32,
    /// Outstanding calls per connection.
    depth: u32,
}

/// Trials of the same call, measured in alternating order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group {
    pub(crate) name: &'static str,
    pub(crate) call: Call,
    /// Bytes of data per call.
    pub(crate) transfer: u64,
    pub(crate) sequential: bool,
    trials: &'static [Trial],
}

const fn trial(name: &'static str, pair: Pair, connections: u32, depth: u32) -> Trial {
    Trial { name, pair, connections, depth }
}

impl Group {
    #[cfg(test)]
    pub(crate) fn trial_names(&self) -> impl Iterator<Item = &'static str> {
        self.trials.iter().map(|trial| trial.name)
    }
}

/// All pairs, on one connection with 32 calls outstanding.
const ALL_PAIRS: &[Trial] = &[
    trial("floor", Pair::Floor, 1, 32),
    trial("load-volume", Pair::LoadVolume, 1, 32),
    trial("load-mem", Pair::LoadMem, 1, 32),
    trial("load-vfs", Pair::LoadVfs, 1, 32),
    trial("client", Pair::Product, 1, 32),
];
const METADATA: &[Trial] = &[
    trial("load-volume", Pair::LoadVolume, 1, 32),
    trial("load-mem", Pair::LoadMem, 1, 32),
    trial("load-vfs", Pair::LoadVfs, 1, 32),
];
const STREAMING: &[Trial] = &[
    trial("floor", Pair::Floor, 1, 16),
    trial("load-volume", Pair::LoadVolume, 1, 16),
    trial("client", Pair::Product, 1, 16),
];
const DEPTH_1: &[Trial] = &[
    trial("floor", Pair::Floor, 1, 1),
    trial("load-volume", Pair::LoadVolume, 1, 1),
    trial("client", Pair::Product, 1, 1),
];
/// The same total of outstanding calls, which the bare transport also moves faster in larger batches.
const SHAPES: &[Trial] = &[
    trial("16x4", Pair::Product, 16, 4),
    trial("1x64", Pair::Product, 1, 64),
    trial("floor-16x4", Pair::Floor, 16, 4),
    trial("floor-1x64", Pair::Floor, 1, 64),
];

const fn group(name: &'static str, call: Call, transfer: u64, trials: &'static [Trial]) -> Group {
    Group { name, call, transfer, sequential: transfer > 8192, trials }
}

pub(crate) const GROUPS: &[Group] = &[
    group("read-8k", Call::Read, 8192, ALL_PAIRS),
    group("write-8k", Call::Write, 8192, ALL_PAIRS),
    group("connections-read", Call::Read, 8192, SHAPES),
    group("connections-write", Call::Write, 8192, SHAPES),
    group("getattr", Call::GetAttributes, 0, METADATA),
    group("lookup", Call::LookUp, 0, METADATA),
    group("create-remove", Call::CreateRemove, 0, METADATA),
    group("read-64k", Call::Read, 65536, STREAMING),
    group("write-64k", Call::Write, 65536, STREAMING),
    group("depth-1", Call::Read, 8192, DEPTH_1),
];

/// Measures a group in rounds, every other round in reverse order.
pub(crate) fn measure(
    group: &Group,
    paths: &Paths,
    options: &GroupOptions,
    measurements: &mut Measurements,
) -> Result<()> {
    for round in 0..options.repetition.rounds {
        let is_selected =
            |trial: &&Trial| options.selects(&format!("{}/{}", group.name, trial.name));
        let mut trials: Vec<&Trial> = group.trials.iter().filter(is_selected).collect();
        if round % 2 == 1 {
            trials.reverse();
        }
        for trial in trials {
            writeln!(std::io::stderr(), "{} {}, round {round} …", group.name, trial.name)?;
            let sample = measure_once(group, trial, paths, options)
                .with_context(|| format!("{} {}", group.name, trial.name))?;
            measurements.add(group.name, trial.name, round, sample);
        }
    }
    Ok(())
}

fn measure_once(
    group: &Group,
    trial: &Trial,
    paths: &Paths,
    options: &GroupOptions,
) -> Result<Sample> {
    let scratch = &paths.scratch;
    match trial.pair {
        Pair::Floor => {
            // The approximate size of a call with AUTH_SYS and a 32-byte handle: header,
            // arguments, attributes and data.
            let (request, reply) = match group.call {
                Call::Write => (group.transfer + 128, 160),
                _ => (128, group.transfer + 128),
            };
            let server = servers::floor(scratch, request, reply)?;
            let (request, reply) = (request.to_string(), reply.to_string());
            let words = ["client", "--request", &request, "--reply", &reply];
            call(&example("floor")?, &words, &server, group, trial, options)
        }
        Pair::LoadVolume => load(&servers::volume(paths)?, group, trial, options),
        Pair::LoadMem => load(&servers::ganesha(scratch, BackEnd::Mem)?, group, trial, options),
        Pair::LoadVfs => load(&servers::ganesha(scratch, BackEnd::Vfs)?, group, trial, options),
        Pair::Product => {
            let server = servers::volume(paths)?;
            let shape = client::Shape {
                call: group.call,
                transfer: group.transfer,
                sequential: group.sequential,
                connections: trial.connections,
                outstanding: trial.depth * trial.connections,
                seconds: options.repetition.seconds,
            };
            client::measure(paths, &server, &shape)
        }
    }
}

/// Runs the call generator.
fn load(server: &Server, group: &Group, trial: &Trial, options: &GroupOptions) -> Result<Sample> {
    let transfer = group.transfer.max(8192).to_string();
    let order = if group.sequential { "sequential" } else { "random" };
    let mut words = vec![group.call.word(), "--export", &server.export];
    words.extend(["--transfer", &transfer, "--order", order]);
    if let Some(port) = server.mount_port {
        words.extend(["--mount-port", port]);
    }
    call(&example("load")?, &words, server, group, trial, options)
}

/// Runs a client of the examples and parses the line it prints.
fn call(
    program: &Path,
    words: &[&str],
    server: &Server,
    group: &Group,
    trial: &Trial,
    options: &GroupOptions,
) -> Result<Sample> {
    let output = Command::new(program)
        .args(words)
        .args(["--address", &server.address])
        .args(["--server-pid", &server.process.pid().to_string()])
        .args(["--cpu", CLIENT_PROCESSOR])
        .args(["--connections", &trial.connections.to_string()])
        .args(["--depth", &trial.depth.to_string()])
        .args(["--seconds", &options.repetition.seconds.to_string()])
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
        // Little's law; the number outstanding is constant.
        latency_us: outstanding / ops_per_sec * 1e6,
    })
}
