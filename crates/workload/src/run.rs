//! One run: its target, streams and phases, with every value resolved.
//!
//! The types are plain records. Field names carry units because they are also the keys of the stored
//! JSON.

use serde::{Deserialize, Serialize};
use units::OpsPerSec;

use crate::active_time::ActiveTime;
use crate::arrival::Arrival;
use crate::data::{DataPattern, TileMaker};
use crate::file_use::FileUse;
use crate::names::NameLoad;
use crate::op::OpKind;
use crate::pattern::AccessPattern;
use crate::random;
use crate::replay::Replay;
pub use crate::stream_targets::{Spread, StreamTargets, TargetLane};

/// The target of operations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetSpec {
    /// A directory, through the kernel's file system.
    Directory {
        /// Its path as the user gave it.
        path: String,
    },
    /// An export of an NFS server, through the built-in user-space client.
    Nfs {
        /// Its canonical form: `nfs://host/export/path?nconnect=8`.
        url: String,
        /// Connections per process (`nconnect`), distributed over the workers of a run; one per
        /// worker if not given.
        connections: Option<u32>,
    },
    /// An emulated volume that `run` serves itself, over NFS on loopback: the default target.
    Emulated {
        /// Its settings.
        volume: EmulatedVolume,
        /// Connections per process, as for `Nfs`.
        connections: Option<u32>,
        /// Options of the built-in client, as in a URL: `nconnect=8&policy=per-file`.
        options: String,
    },
    /// Nothing: operations complete immediately. Measures the generator itself.
    Null,
}

/// What a kind of target can do, so that callers need not name the kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Operations move data, so there are files to fill and reads can be verified.
    pub moves_data: bool,
    /// Operations are calls of the built-in NFS client, over connections that it opens and counts.
    pub own_client: bool,
    /// Files are reached through the kernel: an I/O method is chosen, and the page cache matters.
    pub local_files: bool,
}

impl Capabilities {
    /// The null target.
    pub const NULL: Capabilities =
        Capabilities { moves_data: false, own_client: false, local_files: false };
    /// A directory.
    pub const POSIX: Capabilities =
        Capabilities { moves_data: true, own_client: false, local_files: true };
    /// An NFS export.
    pub const NFS: Capabilities =
        Capabilities { moves_data: true, own_client: true, local_files: false };
}

impl TargetSpec {
    /// What this kind of target can do.
    pub const fn capabilities(&self) -> Capabilities {
        match self {
            TargetSpec::Directory { .. } => Capabilities::POSIX,
            TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } => Capabilities::NFS,
            TargetSpec::Null => Capabilities::NULL,
        }
    }

    /// Whether `run` serves it itself.
    pub const fn is_emulated(&self) -> bool {
        matches!(self, TargetSpec::Emulated { .. })
    }

    /// Connections per process, if given.
    pub const fn connections(&self) -> Option<u32> {
        match self {
            TargetSpec::Nfs { connections, .. } | TargetSpec::Emulated { connections, .. } => {
                *connections
            }
            TargetSpec::Directory { .. } | TargetSpec::Null => None,
        }
    }

    /// The target's name, or a description of the emulated volume, which has no name.
    pub fn in_words(&self) -> String {
        match self {
            TargetSpec::Directory { path } => path.clone(),
            TargetSpec::Nfs { url, .. } => url.clone(),
            TargetSpec::Emulated { volume, .. } => volume.in_words(),
            TargetSpec::Null => "null:".to_owned(),
        }
    }
}

/// The resolved settings of an emulated volume.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmulatedVolume {
    /// The service level, with the service's name: `Ultra`.
    pub service_level: String,
    /// Its quota, in bytes.
    pub quota_bytes: u64,
    /// The resulting throughput limit, in bytes per second, reads and writes together.
    pub throughput_limit_bytes_per_s: u64,
    /// Delay of each read, in nanoseconds.
    pub read_delay_ns: u64,
    /// Delay of each write, in nanoseconds.
    pub write_delay_ns: u64,
    /// Memory limit of its files, in bytes.
    pub memory_bytes: u64,
}

impl EmulatedVolume {
    /// `emulated volume (1 TiB Ultra)`.
    pub fn in_words(&self) -> String {
        let quota = units::Bytes::new(self.quota_bytes);
        format!("emulated volume ({quota} {})", self.service_level)
    }
}

/// How durable an NFS write is when the server replies (RFC 1813, `stable_how`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteStability {
    /// The server may keep it in memory until a COMMIT.
    Unstable,
    /// The data, and the metadata needed to read it, is durable.
    DataSync,
    /// Data and all attributes are durable.
    FileSync,
}

impl WriteStability {
    /// The name in an experiment.
    pub const fn name(self) -> &'static str {
        match self {
            WriteStability::Unstable => "unstable",
            WriteStability::DataSync => "data_sync",
            WriteStability::FileSync => "file_sync",
        }
    }
}

/// The requested I/O method: how operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IoMethod {
    /// A short probe decides before the first run.
    Auto,
    /// io_uring, one ring per worker.
    IoUring,
    /// `pread` and `pwrite`, one thread per outstanding operation.
    Psync,
}

/// The I/O method that was used. Journals store a variant as its position here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IoMethodUsed {
    /// `auto` was requested, and the experiment ended before the probe decided.
    Undecided,
    /// io_uring, one ring per worker.
    IoUring,
    /// `pread` and `pwrite`, one thread per outstanding operation.
    Psync,
    /// The built-in NFS client, which needs no method of the kernel's file systems.
    NfsClient,
}

impl IoMethodUsed {
    /// The name in records and reports.
    pub const fn name(self) -> &'static str {
        match self {
            IoMethodUsed::Undecided => "auto",
            IoMethodUsed::IoUring => "io_uring",
            IoMethodUsed::Psync => "psync",
            IoMethodUsed::NfsClient => "nfs_client",
        }
    }
}

impl From<IoMethod> for IoMethodUsed {
    fn from(requested: IoMethod) -> IoMethodUsed {
        match requested {
            IoMethod::Auto => IoMethodUsed::Undecided,
            IoMethod::IoUring => IoMethodUsed::IoUring,
            IoMethod::Psync => IoMethodUsed::Psync,
        }
    }
}

/// One load point, one repeat.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Its position in the plan, from 0.
    pub index: u32,
    /// The variant's name, or a description such as `random read 8 KiB`; without variants, the
    /// experiment's name.
    pub variant: String,
    /// The sweep values of this load point, as (`stream.key` or `key`, value as written in a file).
    /// Equal for all repeats; empty without a sweep.
    pub parameters: Vec<(String, String)>,
    /// Which repeat of the load point, from 0.
    pub repeat: u32,
    /// The seed of this run's operation streams.
    pub seed: u64,
    /// Number of hosts that execute it.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub hosts: u32,
    /// Connections per process in this run, instead of the target's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections: Option<u32>,
    /// The streams, which run concurrently.
    pub streams: Vec<Stream>,
    /// Lengths of warm-up and window.
    pub phases: Phases,
    /// Failed operations that are tolerated before the run is ended as failed.
    pub tolerated_errors: u64,
    /// The age at which an outstanding operation fails the run, in nanoseconds.
    pub operation_deadline_ns: u64,
}

/// Most threads for the users of one worker with blocking calls.
pub const USER_THREADS_MAX: u32 = 64;

const fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(hosts: &u32) -> bool {
    *hosts == 1
}

/// The phases of a run, each a whole number of intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phases {
    /// Time before the window, in nanoseconds.
    pub warm_up_ns: u64,
    /// The window, in nanoseconds.
    pub measure_ns: u64,
    /// The reporting period, in nanoseconds.
    pub interval_ns: u64,
}

/// One named stream of operations with its own workers and results.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stream {
    /// Its name, unique in the run.
    pub name: String,
    /// Reads in a thousand data operations; the rest are writes.
    pub read_permille: u16,
    /// Transfer sizes and their weights.
    pub transfer_sizes: Vec<WeightedSize>,
    /// The order of offsets.
    pub access_pattern: AccessPattern,
    /// The bytes that can be accessed.
    pub working_set: WorkingSet,
    /// Which workers use which files.
    #[serde(default, skip_serializing_if = "FileUse::is_default")]
    pub file_use: FileUse,
    /// The limit on outstanding operations for each worker. With users, most have none outstanding, and
    /// the limit is that of the memory for their operations.
    pub queue_depth: u32,
    /// Number of workers, over all hosts.
    pub workers: u32,
    /// When operations become due.
    pub arrival: Arrival,
    /// The part of the run in which it offers operations.
    #[serde(default, skip_serializing_if = "ActiveTime::is_whole_run")]
    pub active: ActiveTime,
    /// Files are opened with O_DIRECT.
    pub direct: bool,
    /// Files are opened with O_DSYNC.
    pub dsync: bool,
    /// How durable NFS writes are when the server replies; `None` for other targets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_stability: Option<WriteStability>,
    /// An fsync follows this many writes of a worker.
    pub fsync_every_writes: Option<u32>,
    /// The written data.
    pub data: DataPattern,
    /// The targets that it uses.
    #[serde(default, skip_serializing_if = "StreamTargets::is_first")]
    pub targets: StreamTargets,
    /// The names that it uses instead of reading and writing at offsets; then `read_permille`,
    /// `transfer_sizes`, `access_pattern`, `working_set` and `fsync_every_writes` have no effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub names: Option<NameLoad>,
    /// The list of operations that it replays; then `read_permille`, `transfer_sizes` and `working_set`
    /// summarise it, and `arrival` has its offered rates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay: Option<Box<Replay>>,
}

/// A transfer size and its share of the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WeightedSize {
    /// Bytes moved by one operation, a multiple of 512.
    pub size_bytes: u64,
    /// Share of operations: this weight over the sum of weights.
    pub weight: u32,
}

/// The bytes that a stream can access: the first `area_bytes` of each of `files` files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkingSet {
    /// Number of files.
    pub files: u32,
    /// Size of each file.
    pub file_size_bytes: u64,
    /// The accessed part of each file, from its start.
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
    /// The data that the fill writes.
    pub data: DataPattern,
    /// Bytes per stamp of the data pattern: 4,096, or 512 for smaller or unaligned transfers.
    pub tile_bytes: u32,
}

impl Stream {
    /// The files of this stream, numbered from the first set on: one set, several if it replays a list,
    /// none if it uses names.
    pub fn file_sets(&self) -> Vec<FileSet> {
        match (&self.replay, &self.names) {
            (Some(replay), _) => replay.file_sets(self),
            (None, Some(_)) => Vec::new(),
            (None, None) => vec![self.file_set()],
        }
    }

    /// The files of a stream that replays nothing and uses no names. Streams with equal name, file size and content share them.
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

    /// The kinds of operations that can occur, in the order of their numbers.
    pub fn kinds(&self) -> Vec<OpKind> {
        if let Some(names) = &self.names {
            return names.mix.kinds().collect();
        }
        if let Some(replay) = &self.replay {
            let occurs = OpKind::DATA.into_iter().zip(replay.operations);
            return occurs.filter(|(_, count)| *count > 0).map(|(kind, _)| kind).collect();
        }
        let occurs = [
            (OpKind::Read, self.read_permille > 0),
            (OpKind::Write, self.read_permille < 1000),
            (OpKind::Fsync, self.fsync_every_writes.is_some()),
        ];
        occurs.into_iter().filter_map(|(kind, occurs)| occurs.then_some(kind)).collect()
    }

    /// Whether it performs operations on names, which operations per second measure.
    pub const fn is_on_names(&self) -> bool {
        self.names.is_some()
    }

    /// Whether any of its operations moves data.
    pub fn moves_data(&self) -> bool {
        let Some(load) = &self.names else { return true };
        let has_content = load.tree.sizes.max_bytes() > 0;
        load.mix.kinds().any(|kind| match kind {
            OpKind::Append => load.append_bytes > 0,
            _ => has_content && (kind.reads_data() || kind.writes_data()),
        })
    }

    /// The seed of this stream in a run with `run_seed`, so that the streams of a run have different
    /// operations and arrivals, and so has a stream on each of its targets.
    pub fn seed(&self, run_seed: u64) -> u64 {
        // FNV-1a, 64 bit.
        let name = self.name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
        });
        let seed = random::derive(run_seed, name);
        match self.targets.positions[..] {
            [position] if position > 0 => random::derive(seed, u64::from(position)),
            _ => seed,
        }
    }

    /// The mean offered rate in its part of the window of a run with these phases; `None` for a closed
    /// loop.
    pub fn offered_rate(&self, phases: &Phases) -> Option<OpsPerSec> {
        let active = self.active.range_ns(phases);
        self.arrival.offered_rate(active.start.max(phases.warm_up_ns), active.end)
    }

    /// The mean offered rate between two times from the run's start, none of it outside of the time in
    /// which it is active; `None` for a closed loop.
    pub fn offered_between(&self, from_ns: u64, to_ns: u64, phases: &Phases) -> Option<OpsPerSec> {
        let active = self.active.range_ns(phases);
        let (from, to) = (from_ns.max(active.start), to_ns.min(active.end));
        let inside = self.arrival.offered_rate(from, to.max(from))?;
        let share = to.saturating_sub(from) as f64 / to_ns.saturating_sub(from_ns).max(1) as f64;
        Some(OpsPerSec::new(inside.get() * share))
    }

    /// The lanes of operations on names and the queue depth of each: the workers, or users, whose
    /// operations do not overlap (a queue depth of 0).
    pub fn name_lanes(&self) -> (u32, u32) {
        match self.arrival.users() {
            Some(users) => (users.count, 0),
            None => (self.workers, self.queue_depth),
        }
    }

    /// Threads of one worker; with `blocking` calls one for each outstanding operation, and for users at
    /// most [`USER_THREADS_MAX`], among which they are divided.
    pub fn threads_of_worker(&self, blocking: bool) -> u32 {
        match (blocking, self.arrival.users()) {
            (false, _) => 1,
            (true, None) => self.queue_depth,
            (true, Some(_)) => self.queue_depth.min(USER_THREADS_MAX),
        }
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
    /// The name of file `index` (from 0) inside the target directory. It contains everything that the
    /// content depends on, so that files with equal names have equal content.
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

    /// Which of `hosts` hosts fills file `index`. It does not depend on the number of files, so that a set
    /// can grow.
    pub const fn filling_host(index: u32, hosts: usize) -> usize {
        index as usize % hosts
    }

    /// Size of all files together, in bytes.
    pub fn total_bytes(&self) -> u64 {
        u64::from(self.files) * self.file_size_bytes
    }

    /// Generates and verifies the data of these files. File sets have different data, so that storage
    /// cannot deduplicate one against another.
    pub fn tile_maker(&self, data_seed: u64) -> TileMaker {
        let name = self
            .stream
            .bytes()
            .fold(self.file_size_bytes, |number, byte| random::mix64(number ^ u64::from(byte)));
        TileMaker::new(random::derive(data_seed, name), self.data, self.tile_bytes)
    }
}

impl Phases {
    /// Time in which operations are issued, in nanoseconds.
    pub const fn total_ns(&self) -> u64 {
        self.warm_up_ns + self.measure_ns
    }

    /// The window as interval numbers `(first, end)`: intervals before `first` are warm-up, those from
    /// `end` on are cool-down.
    pub const fn window(&self) -> (u32, u32) {
        let first = self.warm_up_ns.div_ceil(self.interval_ns);
        let end = self.total_ns() / self.interval_ns;
        (first as u32, end as u32)
    }
}

impl Run {
    /// The intervals `(first, end)` of the window in which all streams are active: those of totals. None
    /// if `end` is not above `first`.
    pub fn common_window(&self) -> (u32, u32) {
        let windows = self.streams.iter().map(|stream| stream.active.window(&self.phases));
        windows
            .fold(self.phases.window(), |(first, end), (from, to)| (first.max(from), end.min(to)))
    }

    /// A description of the load point, without the repeat: `random read 8 KiB, queue_depth=4`.
    pub fn load_point(&self) -> String {
        let mut words = self.variant.clone();
        for (key, value) in &self.parameters {
            words.push_str(&format!(", {key}={value}"));
        }
        words
    }
}

/// One host's share of a run: a range of lanes (worker numbers) for each stream. Because operation
/// `i` is `step * lanes + lane`, the shares of all hosts are a partition of the run's operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// The whole run, the same on every host.
    pub run: Run,
    /// `lanes[stream]`: the lanes of this host.
    pub lanes: Vec<std::ops::Range<u32>>,
}

impl Assignment {
    /// The run as this host sees it: its workers, and its part of offered rates, without that of a list
    /// to replay.
    pub fn share(&self) -> Run {
        let mut run = self.run.clone();
        run.hosts = 1;
        for (stream, lanes) in run.streams.iter_mut().zip(&self.lanes) {
            let part = lanes.len() as f64 / f64::from(stream.workers.max(1));
            stream.arrival = match stream.replay {
                // Which operations are a host's depends on the list, which a stored plan lacks.
                Some(_) => Arrival::Closed { think_time_ns: 0 },
                None => stream.arrival.scaled(part),
            };
            stream.workers = lanes.len() as u32;
        }
        run
    }

    /// Threads that this host's share needs; with `blocking` calls one per outstanding operation.
    pub fn threads(&self, blocking: bool) -> u64 {
        let streams = self.run.streams.iter().zip(&self.lanes);
        let of = |(stream, lanes): (&Stream, &std::ops::Range<u32>)| {
            lanes.len() as u64 * u64::from(stream.threads_of_worker(blocking))
        };
        streams.map(of).sum()
    }
}

impl Run {
    /// Threads that the whole run needs; with `blocking` calls one per outstanding operation.
    pub fn threads(&self, blocking: bool) -> u64 {
        let of = |s: &Stream| u64::from(s.workers) * u64::from(s.threads_of_worker(blocking));
        self.streams.iter().map(of).sum()
    }

    /// Splits the run over its hosts, as evenly as the lanes allow.
    ///
    /// # Panics
    /// The run has no host.
    pub fn split(&self) -> Vec<Assignment> {
        assert!(self.hosts > 0, "a run has at least one host");
        let share = |workers: u32, host: u32| {
            (u64::from(workers) * u64::from(host) / u64::from(self.hosts)) as u32
        };
        (0..self.hosts)
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

    /// The position of the host that has the worker `lane` of a stream, as [`Run::split`] gives it.
    pub fn host_of(&self, stream: &Stream, lane: u32) -> u32 {
        let lanes_to_here = u64::from(lane) + 1;
        let hosts = u64::from(self.hosts.max(1));
        ((lanes_to_here * hosts - 1) / u64::from(stream.workers.max(1))) as u32
    }
}
