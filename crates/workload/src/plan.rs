//! The plan: every sweep value, repeat and seed resolved; nothing left to default.
//! `fourcorners plan` prints it, `run` does it, the store keeps it whole.
//!
//! The types are plain records; a number carries its unit in the field's name because these names
//! are also what is read in the stored JSON.

use serde::{Deserialize, Serialize};

use crate::arrival::Arrival;
use crate::data::{DataPattern, TileMaker};
use crate::pattern::AccessPattern;
use crate::random;
use crate::search::Search;

/// The whole of what `run` will do, in order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// Where the experiment came from: a file's path as given, or `profile:four-corners`.
    pub source: String,
    /// What the user laid over the experiment on the command line, as `KEY=VALUE` in the order
    /// given; filled in by the command, to be shown. The steps have it resolved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// What is sent operations.
    pub target: TargetSpec,
    /// How operations are sent; `auto` is settled by a probe before the first run and stored with
    /// the results.
    pub engine: EngineChoice,
    /// Workers are pinned to processors, one each, in the order of `sched_getaffinity`.
    pub pin: bool,
    /// What is read is checked against what was written.
    pub verify: bool,
    /// The seed from which each run's seed was derived.
    pub seed: u64,
    /// The seed of the data in the target's files.
    pub data_seed: u64,
    /// The steps in the order in which they are done.
    pub steps: Vec<Step>,
}

/// What operations are sent to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetSpec {
    /// A directory, through the kernel's file system.
    Directory {
        /// Its path as the user gave it.
        path: String,
    },
    /// An export of an NFS server, through a client of our own in user space.
    Nfs {
        /// Its canonical form: `nfs://host/export/path?nconnect=8`.
        url: String,
        /// Connections of one process to it, dealt out over the workers of a run (`nconnect`); one
        /// for each worker where there is none.
        connections: Option<u32>,
    },
    /// An emulated volume that `run` serves itself, over NFS on loopback: what is measured where no
    /// target is named.
    Emulated {
        /// What it is.
        volume: EmulatedVolume,
        /// Connections of one process to it, as for `Nfs`.
        connections: Option<u32>,
        /// How it is reached, as the options of a URL: `nconnect=8&policy=per-file`.
        options: String,
    },
    /// Nothing: operations complete at once. Shows the generator's own ceiling.
    Null,
}

impl TargetSpec {
    /// Whether operations are NFS calls of our own client.
    pub const fn is_nfs(&self) -> bool {
        matches!(self, TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. })
    }

    /// Connections of one process, where their number was given.
    pub const fn connections(&self) -> Option<u32> {
        match self {
            TargetSpec::Nfs { connections, .. } | TargetSpec::Emulated { connections, .. } => {
                *connections
            }
            TargetSpec::Directory { .. } | TargetSpec::Null => None,
        }
    }

    /// The target as a user names it; the emulated volume, which has no name, in words.
    pub fn in_words(&self) -> String {
        match self {
            TargetSpec::Directory { path } => path.clone(),
            TargetSpec::Nfs { url, .. } => url.clone(),
            TargetSpec::Emulated { volume, .. } => volume.in_words(),
            TargetSpec::Null => "null:".to_owned(),
        }
    }
}

/// An emulated volume, everything resolved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmulatedVolume {
    /// The service level, as the service calls it: `Ultra`.
    pub service_level: String,
    /// Its quota, in bytes.
    pub quota_bytes: u64,
    /// The throughput limit that follows, in bytes per second, reads and writes together.
    pub throughput_limit_bytes_per_s: u64,
    /// What the service waits before it answers a read, in nanoseconds.
    pub read_delay_ns: u64,
    /// What it waits before it answers a write.
    pub write_delay_ns: u64,
    /// Memory that its files may take, in bytes.
    pub memory_bytes: u64,
}

impl EmulatedVolume {
    /// `emulated volume (1 TiB Ultra)`.
    pub fn in_words(&self) -> String {
        let quota = units::Bytes::new(self.quota_bytes);
        format!("emulated volume ({quota} {})", self.service_level)
    }
}

/// How durable a write over NFS is when it is answered (RFC 1813, `stable_how`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteStability {
    /// The server may keep it in memory until a COMMIT.
    Unstable,
    /// Data and what is needed to read it are durable.
    DataSync,
    /// Data and all attributes are durable.
    FileSync,
}

impl WriteStability {
    /// As it is written in an experiment.
    pub const fn name(self) -> &'static str {
        match self {
            WriteStability::Unstable => "unstable",
            WriteStability::DataSync => "data_sync",
            WriteStability::FileSync => "file_sync",
        }
    }
}

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EngineChoice {
    /// A short probe decides before the first run.
    Auto,
    /// io_uring, one ring for each worker.
    IoUring,
    /// `pread` and `pwrite`, a thread for each outstanding operation.
    Psync,
    /// The NFS client in user space, which needs no engine of the kernel's: what was used on an
    /// export, never what is asked for.
    NfsClient,
}

/// One step of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// A run that is known beforehand.
    Fixed(Run),
    /// Runs that are decided from what was measured; each is a stored [`Run`] too.
    Search(Search),
}

/// One load point, one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its place in the plan's order, from 0.
    pub index: u32,
    /// The variant's name, made of what is run unless the user gave one: `random read 8 KiB`; the
    /// experiment's name where it has no variants.
    pub variant: String,
    /// The values that this load point differs by, as (`stream.key` or `key`, value as a user would
    /// write it). Equal for all repeats of a load point; empty where nothing is swept.
    pub parameters: Vec<(String, String)>,
    /// Which repeat of the load point, from 0.
    pub repeat: u32,
    /// The seed of this run's operation streams.
    pub seed: u64,
    /// Connections of one process to an NFS export in this run, in the place of the target's own
    /// number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// What runs together.
    pub streams: Vec<Stream>,
    /// When it warms up, measures and stops.
    pub phases: Phases,
    /// Failed operations that are tolerated before the run is ended as failed.
    pub tolerated_errors: u64,
    /// The age at which an outstanding operation is given up and the run ended, in nanoseconds.
    pub operation_deadline_ns: u64,
}

/// The phases of a run on the clock, each a whole number of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Operations run but are not part of the window, in nanoseconds.
    pub warm_up_ns: u64,
    /// The window that is reported, in nanoseconds.
    pub measure_ns: u64,
    /// The reporting period, in nanoseconds.
    pub interval_ns: u64,
}

/// One named stream of operations with its own workers and its own results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Its name, unique in the run.
    pub name: String,
    /// Reads in a thousand data operations; the rest are writes.
    pub read_permille: u16,
    /// Transfer sizes and their weights; one entry where there is one size.
    pub transfer_sizes: Vec<WeightedSize>,
    /// Where operations go in the working set.
    pub access_pattern: AccessPattern,
    /// The bytes that can be touched.
    pub working_set: WorkingSet,
    /// The limit on outstanding operations for each worker.
    pub queue_depth: u32,
    /// Workers in all, over all hosts.
    pub workers: u32,
    /// When operations become due.
    pub arrival: Arrival,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// Files are opened with O_DSYNC.
    pub dsync: bool,
    /// How durable writes are when they are answered, over NFS; none on other targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_stability: Option<WriteStability>,
    /// An fsync follows every this many writes of a worker.
    pub fsync_every_writes: Option<u32>,
    /// What is written.
    pub data: DataPattern,
}

/// A transfer size and its share of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightedSize {
    /// Bytes moved by one operation, a multiple of 512.
    pub size_bytes: u64,
    /// Share of operations: this weight over the sum of weights.
    pub weight: u32,
}

/// The bytes a stream can touch: the first `area_bytes` of each of `files` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Number of files.
    pub files: u32,
    /// Size of each file.
    pub file_size_bytes: u64,
    /// How much of each file, from its start, is touched; at most the file's size.
    pub area_bytes: u64,
}

/// Files that a plan needs, with their size and content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSet {
    /// Leading part of the files' names; see [`FileSet::file_name`].
    pub stream: String,
    /// Number of files.
    pub files: u32,
    /// Size of each file.
    pub file_size_bytes: u64,
    /// What the fill writes.
    pub data: DataPattern,
    /// Bytes covered by one stamp of the data pattern: 4,096, or 512 where transfers are smaller or
    /// unaligned.
    pub tile_bytes: u32,
}

impl Stream {
    /// The files this stream works on. Streams of one name, file size and content share them.
    pub fn file_set(&self) -> FileSet {
        let whole = self.transfer_sizes.iter().all(|s| s.size_bytes.is_multiple_of(4096));
        FileSet {
            stream: self.name.clone(),
            files: self.working_set.files,
            file_size_bytes: self.working_set.file_size_bytes,
            data: self.data,
            tile_bytes: if whole { 4096 } else { 512 },
        }
    }

    /// The seed of everything random about this stream in a run with `run_seed`, so that streams of
    /// one run neither do the same operations nor do them at the same instants.
    pub fn seed(&self, run_seed: u64) -> u64 {
        // FNV-1a, 64 bit.
        let name = self.name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        random::derive(run_seed, name)
    }

    /// The limit on outstanding operations over all workers (SNIA's OIO).
    pub fn queue_depth_total(&self) -> u64 {
        u64::from(self.queue_depth) * u64::from(self.workers)
    }

    /// The largest transfer size, in bytes.
    pub fn transfer_size_max_bytes(&self) -> u64 {
        self.transfer_sizes.iter().map(|s| s.size_bytes).max().unwrap_or(0)
    }
}

impl FileSet {
    /// The name of file `index` (from 0) inside the target directory. Whatever the content depends
    /// on is in it, so that a name means one content.
    pub fn file_name(&self, index: u32) -> String {
        let DataPattern { compressible_permille, duplicate_permille } = self.data;
        let mut name = format!("{}-{}", self.stream, self.file_size_bytes);
        if self.tile_bytes != 4096 {
            name.push_str(&format!("-t{}", self.tile_bytes));
        }
        if self.data != DataPattern::default() {
            name.push_str(&format!("-c{compressible_permille}-d{duplicate_permille}"));
        }
        format!("{name}-{index:04}.data")
    }

    /// Size of all files together, in bytes.
    pub fn total_bytes(&self) -> u64 {
        u64::from(self.files) * self.file_size_bytes
    }

    /// Makes and recognises the data of these files: for the fill, the writes and the checks alike.
    /// Each file set has data of its own, so that no storage can save one set's blocks by those of
    /// another.
    pub fn tile_maker(&self, data_seed: u64) -> TileMaker {
        let name = self
            .stream
            .bytes()
            .fold(self.file_size_bytes, |number, byte| random::mix64(number ^ u64::from(byte)));
        TileMaker::new(random::derive(data_seed, name), self.data, self.tile_bytes)
    }
}

impl Plan {
    /// The runs that are known beforehand, in order. Those of a search are not among them.
    pub fn known_runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().filter_map(|step| match step {
            Step::Fixed(run) => Some(run),
            Step::Search(_) => None,
        })
    }

    /// The searches, in order.
    pub fn searches(&self) -> impl Iterator<Item = &Search> {
        self.steps.iter().filter_map(|step| match step {
            Step::Fixed(_) => None,
            Step::Search(search) => Some(search),
        })
    }

    /// Runs that stand for all that the plan may do: those that are known, and for each search
    /// those with the largest needs. For files, memory, threads and the engine.
    pub fn model_runs(&self) -> impl Iterator<Item = &Run> {
        self.steps.iter().flat_map(|step| match step {
            Step::Fixed(run) => std::slice::from_ref(run),
            Step::Search(search) => search.model_runs(),
        })
    }

    /// The streams of [`Plan::model_runs`].
    pub fn model_streams(&self) -> impl Iterator<Item = &Stream> {
        self.model_runs().flat_map(|run| &run.streams)
    }

    /// How many runs there will be: exactly where all are known, else at most.
    pub fn runs_max(&self) -> u32 {
        self.steps.iter().map(Step::runs_max).fold(0, u32::saturating_add)
    }

    /// The step that the run of this index belongs to.
    pub fn step_of(&self, run_index: u32) -> Option<&Step> {
        self.steps.iter().find(|step| match step {
            Step::Fixed(run) => run.index == run_index,
            Step::Search(search) => search.owns(run_index),
        })
    }

    /// Every file set that some run needs, without repetition. Two runs that want the same files
    /// with different numbers of them share the larger set.
    pub fn file_sets(&self) -> Vec<FileSet> {
        let mut sets: Vec<FileSet> = Vec::new();
        for wanted in self.model_streams().map(Stream::file_set) {
            let same = |set: &&mut FileSet| **set == FileSet { files: set.files, ..wanted.clone() };
            match sets.iter_mut().find(same) {
                Some(set) => set.files = set.files.max(wanted.files),
                None => sets.push(wanted),
            }
        }
        sets
    }
}

impl Phases {
    /// From the first operation to the last that is issued, in nanoseconds.
    pub const fn total_ns(&self) -> u64 {
        self.warm_up_ns + self.measure_ns
    }

    /// The window as interval numbers: intervals `first..end` are measured, those before are
    /// warm-up, those from `end` on are cool-down.
    pub const fn window(&self) -> (u32, u32) {
        let first = self.warm_up_ns.div_ceil(self.interval_ns);
        let end = self.total_ns() / self.interval_ns;
        (first as u32, end as u32)
    }
}

impl Run {
    /// `random read 8 KiB, queue_depth=4`: the load point in words, without the repeat.
    pub fn load_point(&self) -> String {
        let mut words = self.variant.clone();
        for (key, value) in &self.parameters {
            words.push_str(&format!(", {key}={value}"));
        }
        words
    }
}

/// The share of a run that one host does: for each stream a range of its lanes. Because operation
/// `i` is `step * lanes + lane`, the shares of all hosts are a partition of the run's operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The whole run, the same on every host.
    pub run: Run,
    /// `lanes[stream]`: the lanes `start..end` that this host drives.
    pub lanes: Vec<std::ops::Range<u32>>,
}

impl Run {
    /// Worker threads that the whole run needs; with `blocking` calls one for each outstanding
    /// operation.
    pub fn threads(&self, blocking: bool) -> u64 {
        let of = |s: &Stream| if blocking { s.queue_depth_total() } else { u64::from(s.workers) };
        self.streams.iter().map(of).sum()
    }

    /// Splits the run over `hosts` hosts, as evenly as the lanes allow; a local run is a fleet of
    /// one.
    pub fn split(&self, hosts: u32) -> Vec<Assignment> {
        assert!(hosts > 0, "a fleet has at least one host");
        let share = |workers: u32, host: u32| {
            (u64::from(workers) * u64::from(host) / u64::from(hosts)) as u32
        };
        (0..hosts)
            .map(|host| Assignment {
                run: self.clone(),
                lanes: self
                    .streams
                    .iter()
                    .map(|s| share(s.workers, host)..share(s.workers, host + 1))
                    .collect(),
            })
            .collect()
    }
}

impl Step {
    /// How many runs it has, at most.
    pub const fn runs_max(&self) -> u32 {
        match self {
            Step::Fixed(_) => 1,
            Step::Search(search) => search.runs_max,
        }
    }

    /// The time of its runs in nanoseconds, at most.
    pub fn time_max_ns(&self) -> u64 {
        match self {
            Step::Fixed(run) => run.phases.total_ns(),
            Step::Search(search) => {
                let longest = search.model_runs().iter().map(|run| run.phases.total_ns()).max();
                longest.unwrap_or(0).saturating_mul(u64::from(search.runs_max))
            }
        }
    }
}

impl Plan {
    /// The time of all runs, without the fill: exactly where all are known, else at most.
    pub fn time_max(&self) -> std::time::Duration {
        let ns = self.steps.iter().map(Step::time_max_ns).fold(0, u64::saturating_add);
        std::time::Duration::from_nanos(ns)
    }

    /// The bytes of all files together.
    pub fn bytes_needed(&self) -> units::Bytes {
        let sum = |sum: u64, set: &FileSet| sum.saturating_add(set.total_bytes());
        units::Bytes::new(self.file_sets().iter().fold(0, sum))
    }
}
