//! The table of all keys of an experiment file.
//!
//! Parser, JSON Schema and reference page are generated from this one table, so they cannot
//! disagree. A new key is a row here, a field of [`crate::run`] and a line in [`crate::resolve`].

use crate::metric::ResponseTime;
use crate::name_reader::on_names;
use crate::op::OpKind;
use crate::scenario::{SCENARIO_OPERATIONS_MAX, Starts, USERS_MAX};
use crate::stream_targets::Spread;

/// One key of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// Its name.
    pub name: &'static str,
    /// The table that it belongs to.
    pub section: Section,
    /// The kind of its value.
    pub kind: Kind,
    /// What applies if the key is missing.
    pub presence: Presence,
    /// Whether several values may be given as a sweep.
    pub sweep: bool,
    /// Its description, in one or two sentences.
    pub doc: &'static str,
    /// A value as written in the file.
    pub example: &'static str,
}

/// A part of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The top level.
    Experiment,
    /// `[target.NAME]`
    Target,
    /// `[run]`
    Run,
    /// `[search]`
    Search,
    /// `[metric]`
    Metric,
    /// `[stream.NAME]`; these keys are also allowed in a `[[variant]]`.
    Stream,
    /// `[[variant]]`
    Variant,
}

/// A kind of value, with its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Free text.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// True or false.
    Flag,
    /// A duration.
    Duration {
        /// The shortest, in nanoseconds.
        min_ns: u64,
        /// The longest, in nanoseconds.
        max_ns: u64,
    },
    /// A count of bytes.
    Bytes {
        /// The size must be a multiple of this.
        multiple_of: u64,
        /// The largest.
        max: u64,
    },
    /// A whole number.
    Count {
        /// The smallest.
        min: u64,
        /// The largest.
        max: u64,
    },
    /// A share.
    Share {
        /// The smallest, in thousandths.
        min_permille: u16,
        /// The largest, in thousandths.
        max_permille: u16,
    },
    /// Operations per second.
    Rate,
    /// Operations per second in a part of a schedule, which may be none.
    ScheduledRate,
    /// A think time, constant or drawn from a distribution.
    ThinkTime,
    /// The skew of a Zipf distribution.
    Skew,
    /// One transfer size, or several with their shares.
    TransferSizes,
    /// An access pattern.
    Pattern,
    /// An arrival process.
    Arrival,
    /// Conditions that results must meet.
    Requirements,
    /// Names of targets, in which `*` matches any text.
    TargetNames,
    /// A tree of names.
    Names,
    /// The size of a file in a tree of names.
    FileSize,
    /// The sizes of the files in a tree of names.
    FileSizes,
    /// Kinds of operations on names with their shares.
    Mix,
    /// A list of operations to replay, with its speed.
    Replay,
    /// How many times as fast as in a trace.
    Speed,
    /// The steps of a user's scenario.
    Scenario,
}

/// What applies if a key is missing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// No default suits every workload: the key must be given.
    Required,
    /// This value, as written in the file.
    Default(&'static str),
    /// No value; the text describes what that means.
    Absent(&'static str),
}

use Presence::{Absent, Default, Required};
use Section::{Experiment, Metric, Run, Search, Stream, Target, Variant};

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;
/// The unit of the data pattern, in bytes; file sizes are whole tiles.
pub(crate) const TILE: u64 = 4096;
/// The unit of O_DIRECT on every Linux file system, in bytes, and the smallest tile.
pub(crate) const SECTOR: u64 = 512;

/// A transfer size: whole sectors, up to the largest buffer of a slot.
pub(crate) const TRANSFER: Kind = Kind::Bytes { multiple_of: SECTOR, max: 64 << 20 };
/// The share of one transfer size.
pub(crate) const WEIGHT: Kind = Kind::Share { min_permille: 1, max_permille: 1000 };
/// The think time of a closed loop.
pub(crate) const THINK_TIME: Kind = Kind::Duration { min_ns: 0, max_ns: HOUR };
/// The share of seeks of a partly sequential pattern.
pub(crate) const SEEKS: Kind = Kind::Share { min_permille: 1, max_permille: 1000 };
/// The distance of a stride; that it is a multiple of the transfer size is checked with it.
pub(crate) const STRIDE: Kind = Kind::Bytes { multiple_of: SECTOR, max: 1 << 50 };
/// The length of a part of a schedule, of a period, or of a burst.
pub(crate) const SCHEDULE_TIME: Kind =
    Kind::Duration { min_ns: SECOND / 1000, max_ns: 30 * 24 * HOUR };
/// The start or end of a stream.
const ACTIVE_TIME: Kind = Kind::Duration { min_ns: 0, max_ns: 30 * 24 * HOUR };
/// The share of a period that is a burst.
pub(crate) const DUTY: Kind = Kind::Share { min_permille: 1, max_permille: 999 };
/// The hot part of the area, and the share of operations on it.
pub(crate) const HOT_SHARE: Kind = Kind::Share { min_permille: 1, max_permille: 999 };
/// Files in a tree of names.
pub(crate) const FILES: Kind = Kind::Count { min: 1, max: 10_000_000_000 };
/// Levels of directories.
pub(crate) const DEPTH: Kind = Kind::Count { min: 0, max: 16 };
/// Directories in a directory.
pub(crate) const WIDTH: Kind = Kind::Count { min: 1, max: 100_000 };
/// Files in a directory of the last level.
pub(crate) const FILES_PER_DIRECTORY: Kind = Kind::Count { min: 1, max: 10_000_000_000 };
/// The length of a name, up to that of every file system.
pub(crate) const NAME_LENGTH: Kind = Kind::Count { min: 2, max: 255 };
/// The largest file of a tree, which operations read and write as a whole.
pub(crate) const FILE_SIZE_MAX: u64 = 1 << 30;
/// Bytes that an append adds.
pub(crate) const APPEND: Kind = Kind::Bytes { multiple_of: 1, max: 64 << 20 };
/// The standard deviation of a lognormal distribution.
pub(crate) const SIGMA: Kind = Kind::Skew;
/// The offset of a scenario's step in the cycle.
pub(crate) const OFFSET: Kind = Kind::Duration { min_ns: 0, max_ns: 24 * HOUR };
/// Operations of a step of a scenario.
pub(crate) const SCENARIO_COUNT: Kind = Kind::Count { min: 1, max: SCENARIO_OPERATIONS_MAX };
/// The share that compression or deduplication can remove; above 95 % a tile has no room for its
/// stamp.
const REDUCIBLE: Kind = Kind::Share { min_permille: 0, max_permille: 950 };

const SEARCH_METHODS: &[&str] = &["queue-depth", "offered-rate", "curve", "users"];

/// The keys, in the order of the reference page.
pub const KEYS: &[Key] = &[
    Key {
        name: "name",
        section: Experiment,
        kind: Kind::Text,
        presence: Required,
        sweep: false,
        doc: "The experiment's name in lists and reports.",
        example: "\"oltp\"",
    },
    Key {
        name: "target",
        section: Experiment,
        kind: Kind::Text,
        presence: Absent("the target on the command line; without one, an emulated volume"),
        sweep: false,
        doc: "The storage to measure: a directory, an export of an NFS server such as \
              `nfs://server/vol1?nconnect=8`, or `null:` to measure the generator itself. A target \
              on the command line overrides it. Several targets are tables instead: \
              `[target.NAME]`.",
        example: "\"/mnt/vol1\"",
    },
    Key {
        name: "require",
        section: Experiment,
        kind: Kind::Requirements,
        presence: Absent("results are not judged"),
        sweep: false,
        doc: "What the results must meet, as `[WORKLOAD.][KIND.]METRIC OP VALUE`; see \
              [Run in CI](../guide/pipelines.md). Each load point is judged with its confidence \
              interval. `run` and `show` exit with 1 if one does not meet it.",
        example: "[\"log.fsync.p99 < 10ms\", \"achieved >= 95%\"]",
    },
    Key {
        name: "location",
        section: Target,
        kind: Kind::Text,
        presence: Absent("an emulated volume, which `run` serves itself"),
        sweep: false,
        doc: "The storage: a directory, in whose path `{host}` is replaced by the name of the host \
              that uses it, or an export such as `nfs://server/vol1`. All targets of an experiment \
              are of one kind.",
        example: "\"/mnt/vol1\"",
    },
    Key {
        name: "service_level",
        section: Target,
        kind: Kind::Word(&["standard", "premium", "ultra"]),
        presence: Default("\"ultra\""),
        sweep: false,
        doc: "The service level of an emulated volume.",
        example: "\"premium\"",
    },
    Key {
        name: "quota",
        section: Target,
        kind: Kind::Bytes { multiple_of: 1 << 30, max: 100 << 40 },
        presence: Default("\"1TiB\""),
        sweep: false,
        doc: "The quota of an emulated volume. With its service level it sets the throughput limit.",
        example: "\"2TiB\"",
    },
    Key {
        name: "warm_up",
        section: Run,
        kind: Kind::Duration { min_ns: 0, max_ns: 24 * HOUR },
        presence: Default("\"5s\""),
        sweep: true,
        doc: "Time before the window, in which operations run but are not part of the result. A \
              whole number of intervals; the default is rounded up to one.",
        example: "\"5s\"",
    },
    Key {
        name: "measure",
        section: Run,
        kind: Kind::Duration { min_ns: SECOND / 100, max_ns: 30 * 24 * HOUR },
        presence: Default("\"30s\""),
        sweep: true,
        doc: "Length of the window that results are computed from. A whole number of intervals; a \
              useful confidence interval needs ten or more.",
        example: "\"30s\"",
    },
    Key {
        name: "interval",
        section: Run,
        kind: Kind::Duration { min_ns: SECOND / 100, max_ns: HOUR },
        presence: Default("\"1s\""),
        sweep: true,
        doc: "The reporting period: counts and latencies are stored for each interval.",
        example: "\"1s\"",
    },
    Key {
        name: "repeats",
        section: Run,
        kind: Kind::Count { min: 1, max: 1000 },
        presence: Default("1"),
        sweep: false,
        doc: "Runs of each load point. Three or more show the variation between runs.",
        example: "3",
    },
    Key {
        name: "until",
        section: Run,
        kind: Kind::Share { min_permille: 1, max_permille: 500 },
        presence: Absent("exactly `repeats` runs"),
        sweep: false,
        doc: "Repeat each load point until the 95 % confidence intervals of its achieved rate and \
              its mean response time are within ± this share. The repeats run in blocks: each \
              block contains the load points that are not yet within it, in random order. At least \
              `repeats` (3 if not given), at most `repeats_max`.",
        example: "\"2%\"",
    },
    Key {
        name: "repeats_max",
        section: Run,
        kind: Kind::Count { min: 1, max: 1000 },
        presence: Default("10"),
        sweep: false,
        doc: "With `until`: the maximum number of runs of a load point.",
        example: "10",
    },
    Key {
        name: "seed",
        section: Run,
        kind: Kind::Count { min: 0, max: u64::MAX >> 1 },
        presence: Default("1"),
        sweep: false,
        doc: "Seed of the random number generator. The same seed gives the same operations and \
              data.",
        example: "1",
    },
    Key {
        name: "order",
        section: Run,
        kind: Kind::Word(&["as-written", "randomised"]),
        presence: Default("\"as-written\""),
        sweep: false,
        doc: "The order of the runs. `as-written`: load points in the order of the file, each with \
              all its repeats. `randomised`: every load point once in random order, then all again \
              for the next repeat, so that a drift of the target is not mistaken for an effect of \
              the load.",
        example: "\"randomised\"",
    },
    Key {
        name: "arrival",
        section: Run,
        kind: Kind::Arrival,
        presence: Absent("each stream has the `arrival` that it sets"),
        sweep: true,
        doc: "An offered rate or a schedule that all streams share in proportion to their `weight`. \
              No stream sets `arrival` then.",
        example: "{ poisson = \"10k/s\" }",
    },
    Key {
        name: "tolerated_errors",
        section: Run,
        kind: Kind::Count { min: 0, max: u64::MAX >> 1 },
        presence: Default("0"),
        sweep: true,
        doc: "Failed operations that a run tolerates. One more ends it as failed.",
        example: "0",
    },
    Key {
        name: "operation_deadline",
        section: Run,
        kind: Kind::Duration { min_ns: SECOND / 1000, max_ns: 24 * HOUR },
        presence: Default("\"60s\""),
        sweep: true,
        doc: "A run fails when an operation is outstanding for longer than this.",
        example: "\"60s\"",
    },
    Key {
        name: "hosts",
        section: Run,
        kind: Kind::Count { min: 1, max: 4096 },
        presence: Absent("all hosts that `--hosts` names; without it, this host"),
        sweep: true,
        doc: "Hosts that execute a run: the first ones of those that `--hosts` names. Each has the \
              `workers` of every stream; an offered rate is that of all hosts together.",
        example: "[1, 2, 4, 8]",
    },
    Key {
        name: "targets",
        section: Run,
        kind: Kind::Count { min: 1, max: 1024 },
        presence: Absent("all targets of each stream"),
        sweep: true,
        doc: "Targets that a run uses: the first ones of each stream's `targets`.",
        example: "[1, 6, 12]",
    },
    Key {
        name: "nconnect",
        section: Run,
        kind: Kind::Count { min: 1, max: 1024 },
        presence: Absent("that of the target's URL, or one for each worker"),
        sweep: true,
        doc: "Connections to an NFS export (`nfs://`) or to the emulated volume, distributed over \
              the workers. For a directory on an NFS mount, use the mount option instead.",
        example: "[1, 4, 16]",
    },
    Key {
        name: "method",
        section: Search,
        kind: Kind::Word(SEARCH_METHODS),
        presence: Absent("no search: the file lists every load point"),
        sweep: false,
        doc: "The curve to search, for each load point of the sweeps. `queue-depth`: the closed \
              curve. The queue depth starts at 1 and is multiplied by `step` until throughput \
              stops rising or the stream's queue depth is reached; then depths around the bend of \
              the curve are added. `offered-rate`: the open curve, with Poisson arrivals at shares \
              of the highest rate over the same queue depths, without the added ones. `curve`: \
              both. `users`: the largest number of users whose scenarios start in time (the \
              overload point). The experiment must have one stream, with `closed` arrival or, for \
              `users`, with users. Several queue \
              depths on the command line (`--set queue_depth=1,8,64`) replace the method \
              `queue-depth`.",
        example: "\"curve\"",
    },
    Key {
        name: "step",
        section: Search,
        kind: Kind::Count { min: 2, max: 16 },
        presence: Default("2"),
        sweep: false,
        doc: "Factor from one queue depth, or number of users, to the next: 2 doubles it, 4 is faster \
              and coarser.",
        example: "4",
    },
    Key {
        name: "gain_min",
        section: Search,
        kind: Kind::Share { min_permille: 1, max_permille: 1000 },
        presence: Default("\"5%\""),
        sweep: false,
        doc: "Queue depths are no longer raised once throughput has stopped rising, or after two \
              consecutive steps that each raise it by less than this per doubling.",
        example: "\"5%\"",
    },
    Key {
        name: "response_time_max",
        section: Search,
        kind: Kind::Duration { min_ns: 1000, max_ns: HOUR },
        presence: Absent("no objective"),
        sweep: false,
        doc: "The objective for the mean response time. A curve ends at the first load point above \
              it; the last load point that meets it is the knee by the objective.",
        example: "\"5ms\"",
    },
    Key {
        name: "refine",
        section: Search,
        kind: Kind::Count { min: 0, max: 100 },
        presence: Default("3"),
        sweep: false,
        doc: "Maximum number of queue depths that are added where the curve bends.",
        example: "3",
    },
    Key {
        name: "load_points",
        section: Search,
        kind: Kind::Count { min: 1, max: 100 },
        presence: Default("10"),
        sweep: false,
        doc: "Evenly spaced load points of the open curve up to the highest rate of the closed \
              curve: 10 means 10 %, 20 %, and so on up to 100 % of it.",
        example: "10",
    },
    Key {
        name: "beyond",
        section: Search,
        kind: Kind::Count { min: 0, max: 100 },
        presence: Default("2"),
        sweep: false,
        doc: "Load points of the open curve above that rate, at the same spacing. The curve ends \
              at the first one that overloads the target.",
        example: "2",
    },
    Key {
        name: "name",
        section: Metric,
        kind: Kind::Text,
        presence: Required,
        sweep: false,
        doc: "The metric's name in tables and charts, in the plural.",
        example: "\"job sets\"",
    },
    Key {
        name: "values",
        section: Metric,
        kind: Kind::Count { min: 1, max: 1_000_000_000 },
        presence: Absent("parts of `maximum`"),
        sweep: true,
        doc: "The load points: at each, every stream offers this many times its rate.",
        example: "[10, 20, 30, 40]",
    },
    Key {
        name: "maximum",
        section: Metric,
        kind: Kind::Count { min: 1, max: 1_000_000_000 },
        presence: Absent("`values`"),
        sweep: false,
        doc: "The largest load point, instead of `values`.",
        example: "100",
    },
    Key {
        name: "load_points",
        section: Metric,
        kind: Kind::Count { min: 1, max: 100 },
        presence: Default("10"),
        sweep: false,
        doc: "With `maximum`: the number of load points, which are equal parts of it.",
        example: "10",
    },
    Key {
        name: "rate_min",
        section: Metric,
        kind: Kind::Share { min_permille: 1, max_permille: 1000 },
        presence: Default("\"95%\""),
        sweep: false,
        doc: "A load point passes if the achieved rate of every stream is at least this share of the \
              offered one.",
        example: "\"95%\"",
    },
    Key {
        name: "response_time_max",
        section: Metric,
        kind: Kind::Duration { min_ns: 1, max_ns: HOUR },
        presence: Absent("any response time"),
        sweep: false,
        doc: "A load point passes if the response time of all streams together is at most this.",
        example: "\"20ms\"",
    },
    Key {
        name: "response_time",
        section: Metric,
        kind: Kind::Word(&ResponseTime::NAMES),
        presence: Default("\"mean\""),
        sweep: false,
        doc: "Which response time `response_time_max` limits.",
        example: "\"p99\"",
    },
    Key {
        name: "capacity",
        section: Metric,
        kind: Kind::Bytes { multiple_of: 1, max: 1 << 50 },
        presence: Absent("not stated"),
        sweep: false,
        doc: "What one unit stores, for `size`. A run has the files of its streams.",
        example: "\"11GiB\"",
    },
    Key {
        name: "inodes",
        section: Metric,
        kind: Kind::Count { min: 1, max: 1_000_000_000 },
        presence: Absent("not stated"),
        sweep: false,
        doc: "Files and directories of one unit, for `size`.",
        example: "7200",
    },
    Key {
        name: "overload_max",
        section: Search,
        kind: Kind::Share { min_permille: 1, max_permille: 500 },
        presence: Default("\"1%\""),
        sweep: false,
        doc: "With `users`: the tolerated overload, the share of scenarios that could not be started \
              when they were due because the user's earlier one still ran.",
        example: "\"2%\"",
    },
    Key {
        name: "precision",
        section: Search,
        kind: Kind::Share { min_permille: 1, max_permille: 500 },
        presence: Default("\"5%\""),
        sweep: false,
        doc: "With `users`: the search ends when the smallest number of users with more overload \
              exceeds the largest with less by at most this share.",
        example: "\"2%\"",
    },
    Key {
        name: "read",
        section: Stream,
        kind: Kind::Share { min_permille: 0, max_permille: 1000 },
        presence: Required,
        sweep: true,
        doc: "Share of reads; all other operations are writes. Exact over every 1,000 operations \
              of a worker, in random order.",
        example: "\"70%\"",
    },
    Key {
        name: "transfer_size",
        section: Stream,
        kind: Kind::TransferSizes,
        presence: Required,
        sweep: true,
        doc: "Bytes moved by one operation (block size), or several sizes with their shares of the \
              operations.",
        example: "\"8KiB\"",
    },
    Key {
        name: "pattern",
        section: Stream,
        kind: Kind::Pattern,
        presence: Required,
        sweep: true,
        doc: "The order of offsets. `sequential`: each worker goes through the working set from \
              its own starting point. `random`: every offset is equally likely. `zipf`: the k-th \
              most popular offset is chosen with a probability proportional to k^-skew. `hot_set`: \
              a share of the accesses goes to a part of the area. `seek`: sequential, but this share \
              of the operations, exact over every 1,000 of a worker, moves to a random offset, from \
              which the worker continues. `stride`: each operation of a worker starts this far after \
              its last one; each offset is used once before any is repeated.",
        example: "\"random\"",
    },
    Key {
        name: "files",
        section: Stream,
        kind: Kind::Count { min: 1, max: 10_000 },
        presence: Default("1"),
        sweep: true,
        doc: "Number of files.",
        example: "4",
    },
    Key {
        name: "file_size",
        section: Stream,
        kind: Kind::Bytes { multiple_of: TILE, max: 1 << 50 },
        presence: Required,
        sweep: true,
        doc: "Size of each file. `files` times `file_size` should be well above the size of every \
              cache that is not to be measured.",
        example: "\"256MiB\"",
    },
    Key {
        name: "area",
        section: Stream,
        kind: Kind::Bytes { multiple_of: TILE, max: 1 << 50 },
        presence: Absent("all of every file"),
        sweep: true,
        doc: "Access only this much of the files in total: the same part of each file, from its \
              start, in whole blocks of 4 KiB.",
        example: "\"64MiB\"",
    },
    Key {
        name: "names",
        section: Stream,
        kind: Kind::Names,
        presence: Absent("operations on files at offsets"),
        sweep: true,
        doc: "A tree of names, for operations such as create, stat and unlink; see \
              [Operations on names](../guide/names.md). `files`: number of files, divided among the \
              workers. `depth`: levels of directories (default 1). `width`: directories in each \
              directory (10). `files_per_directory`: use only as many directories as the files need. \
              `name_length`: bytes in a name (12). `spread`: how files are distributed over the \
              directories: `fill`, `round_robin` (default) or `random`. `size`: sizes of the files (0). \
              `append`: bytes that an append adds (4 KiB).",
        example: "{ files = 100000, depth = 2, width = 20, size = \"4KiB\" }",
    },
    Key {
        name: "mix",
        section: Stream,
        kind: Kind::Mix,
        presence: Absent("required with `names`, without `users`"),
        sweep: true,
        doc: "With `names`: the kinds of operations and their shares, exact over every 1,000 \
              operations of a worker, in random order. Names are removed as often as they are added: \
              `unlink` equals the sum of `create`, `copy`, `link` and `symlink`, and `rmdir` equals \
              `mkdir`.",
        example: "{ create = \"2%\", unlink = \"2%\", stat = \"66%\", read_file = \"30%\" }",
    },
    Key {
        name: "replay",
        section: Stream,
        kind: Kind::Replay,
        presence: Absent("operations that the other keys describe"),
        sweep: true,
        doc: "The operations of a trace instead of those that other keys describe, at the times of the \
              trace; see [Replay a trace](../guide/replay.md). `list`: the file that \
              `fourcorners observe TRACE --replay FILE` wrote, relative to the experiment. `speed`: \
              `2` is twice as fast (default 1), `\"max\"` as fast as `queue_depth` permits. \
              `repeat`: start again at its end (default false). Without `measure`, a run in which \
              all streams replay lasts as long as the longest list, and has no warm-up unless \
              `warm_up` is set.",
        example: "{ list = \"app.replay\", speed = 2 }",
    },
    Key {
        name: "users",
        section: Stream,
        kind: Kind::Count { min: 1, max: USERS_MAX },
        presence: Absent("no users: `queue_depth` or `arrival` sets the load"),
        sweep: true,
        doc: "With `names`: users, divided among the workers, who each start the `scenario` once in \
              each `cycle`; see [Users](../guide/users.md). With `[search]`, the maximum that is \
              tried.",
        example: "[1000, 2000, 4000]",
    },
    Key {
        name: "cycle",
        section: Stream,
        kind: Kind::Duration { min_ns: SECOND / 1000, max_ns: 24 * HOUR },
        presence: Absent("required with `users`"),
        sweep: true,
        doc: "With `users`: the time from one start of a user's scenario to the next.",
        example: "\"900s\"",
    },
    Key {
        name: "scenario",
        section: Stream,
        kind: Kind::Scenario,
        presence: Absent("required with `users`"),
        sweep: false,
        doc: "With `users`: what a user does once in each cycle, one operation after the other. A \
              step is a kind of operation with its number, `think`, the time before each of \
              them, and `at`, the time in the cycle from which they are due; or `think` or `at` \
              alone, a pause. Names are removed as often as they are added, as in \
              `mix`.",
        example: "[{ readdirplus = 1 }, { think = \"2s\" }, { stat = 5, think = \"1s\" }, { read_file = 1 }]",
    },
    Key {
        name: "starts",
        section: Stream,
        kind: Kind::Word(&Starts::NAMES),
        presence: Absent("`random`"),
        sweep: true,
        doc: "With `users`: how their starts are spread over the cycle. `random`: each at a random \
              time, the same in every cycle. `even`: at equal distances.",
        example: "\"even\"",
    },
    Key {
        name: "queue_depth",
        section: Stream,
        kind: Kind::Count { min: 1, max: 4096 },
        presence: Required,
        sweep: true,
        doc: "Maximum number of outstanding operations (in flight) per worker; not with `users`. With \
              `[search]`, the maximum that is tried.",
        example: "[1, 4, 16]",
    },
    Key {
        name: "workers",
        section: Stream,
        kind: Kind::Count { min: 1, max: 1024 },
        presence: Default("1"),
        sweep: true,
        doc: "Threads that issue operations, each with the full queue depth.",
        example: "2",
    },
    Key {
        name: "sharing",
        section: Stream,
        kind: Kind::Word(&["all", "host", "worker"]),
        presence: Default("\"all\""),
        sweep: true,
        doc: "Which workers use which files. `all`: every worker uses all files. `host`: each host \
              has a separate part of the files, which its workers share; `files` is at least the \
              number of hosts. `worker`: each worker has a separate part; `files` is at least the \
              number of workers of all hosts.",
        example: "\"host\"",
    },
    Key {
        name: "read_what",
        section: Stream,
        kind: Kind::Word(&["all", "others"]),
        presence: Default("\"all\""),
        sweep: true,
        doc: "With several hosts, which files a host reads. `others`: only files that another host \
              filled, so that no read is served from a cache that the fill left on the host. Only \
              for streams that only read; with `sharing`, a host has the part of the next host.",
        example: "\"others\"",
    },
    Key {
        name: "targets",
        section: Stream,
        kind: Kind::TargetNames,
        presence: Absent("all targets"),
        sweep: false,
        doc: "The targets that the stream uses, by their names in `[target.NAME]`. Each has its own \
              files, as many and as large as the stream says.",
        example: "[\"vol*\"]",
    },
    Key {
        name: "spread",
        section: Stream,
        kind: Kind::Word(&Spread::NAMES),
        presence: Default("\"all\""),
        sweep: false,
        doc: "How the stream's workers are spread over its targets. `all`: every host sends to every \
              target, with `workers` workers for each. `host`: each host sends to one target; the \
              hosts use the targets in turn. `worker`: each worker sends to one target; the workers \
              use the targets in turn.",
        example: "\"host\"",
    },
    Key {
        name: "arrival",
        section: Stream,
        kind: Kind::Arrival,
        presence: Default("\"closed\""),
        sweep: true,
        doc: "When operations become due. `closed`: the next one when one completes, after an \
              optional think time, which is constant, `exponential` with a mean, or `uniform` \
              between two times. `constant` and `poisson`: at the stream's offered rate, \
              independent of completions; time spent waiting to be issued counts in the response \
              time. `schedule`: at rates that change by plan, see \
              [Schedules](../guide/schedules.md). The offered rate includes the fsyncs of \
              `fsync_every`.",
        example: "{ poisson = \"10k/s\" }",
    },
    Key {
        name: "start",
        section: Stream,
        kind: ACTIVE_TIME,
        presence: Absent("the start of the run"),
        sweep: true,
        doc: "When the stream begins, as the time from the start of the run, warm-up included. Before \
              it the stream offers nothing, and its results begin there. A whole number of intervals.",
        example: "\"10s\"",
    },
    Key {
        name: "end",
        section: Stream,
        kind: ACTIVE_TIME,
        presence: Absent("the end of the run"),
        sweep: true,
        doc: "When the stream ends, as the time from the start of the run, warm-up included. From then \
              on it offers nothing, and its results end there. A whole number of intervals. Totals \
              of several streams cover the time in which all of them are active.",
        example: "\"40s\"",
    },
    Key {
        name: "weight",
        section: Stream,
        kind: Kind::Count { min: 1, max: 1000 },
        presence: Default("1"),
        sweep: true,
        doc: "The stream's part of the rate of `arrival` in [run]: its weight over the sum of the \
              weights of all streams.",
        example: "3",
    },
    Key {
        name: "direct",
        section: Stream,
        kind: Kind::Flag,
        presence: Default("true"),
        sweep: true,
        doc: "Open the files with O_DIRECT, which bypasses the host's page cache. No effect on an \
              NFS export (`nfs://`), which is accessed without a cache.",
        example: "true",
    },
    Key {
        name: "dsync",
        section: Stream,
        kind: Kind::Flag,
        presence: Default("false"),
        sweep: true,
        doc: "Open the files with O_DSYNC: a write completes when it is durable. On an NFS export \
              (`nfs://`) writes request DATA_SYNC, unless `write_stability` is given.",
        example: "true",
    },
    Key {
        name: "write_stability",
        section: Stream,
        kind: Kind::Word(&["unstable", "data_sync", "file_sync"]),
        presence: Absent("`unstable`, or `data_sync` if `dsync = true`"),
        sweep: true,
        doc: "Only for NFS exports (`nfs://`): how durable a write is when the server replies. \
              `unstable`: it may be in the server's memory until an fsync (COMMIT). `data_sync`: \
              the data is durable. `file_sync`: data and attributes are durable.",
        example: "\"file_sync\"",
    },
    Key {
        name: "fsync_every",
        section: Stream,
        kind: Kind::Count { min: 1, max: 1_000_000 },
        presence: Absent("no fsync"),
        sweep: true,
        doc: "Issue an fsync after this many writes of a worker. An fsync counts as an operation: \
              it uses one slot of the queue depth, and with an offered rate one of the arrivals. \
              With `1`, half of the operations of a write-only stream are fsyncs.",
        example: "8",
    },
    Key {
        name: "compressible",
        section: Stream,
        kind: REDUCIBLE,
        presence: Default("\"0%\""),
        sweep: true,
        doc: "Share of the written data that compression can remove, the same in every 4 KiB.",
        example: "\"50%\"",
    },
    Key {
        name: "duplicate",
        section: Stream,
        kind: REDUCIBLE,
        presence: Default("\"0%\""),
        sweep: true,
        doc: "Share of the written blocks that are copies of another block.",
        example: "\"25%\"",
    },
    Key {
        name: "name",
        section: Variant,
        kind: Kind::Text,
        presence: Absent("a description: `random read 8 KiB`"),
        sweep: false,
        doc: "The variant's name in tables and reports. If the command line changes the kind of \
              operations or a key of the variant, a description of what actually runs is added.",
        example: "\"order entry\"",
    },
    Key {
        name: "stream",
        section: Variant,
        kind: Kind::Text,
        presence: Absent("all streams"),
        sweep: false,
        doc: "The stream that the variant's settings apply to.",
        example: "\"database\"",
    },
];

/// The row of `name` in `section`.
pub fn key(section: Section, name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.section == section && key.name == name)
}

/// The rows of `section`.
pub fn keys_of(section: Section) -> impl Iterator<Item = &'static Key> {
    KEYS.iter().filter(move |key| key.section == section)
}

impl Kind {
    /// Whether a range of values can be given: `1..32 x2`, `10%..50% step 10%`.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Kind::Duration { .. }
                | Kind::Bytes { .. }
                | Kind::FileSize
                | Kind::Count { .. }
                | Kind::Share { .. }
                | Kind::Rate
                | Kind::ScheduledRate
                | Kind::Skew
                | Kind::Speed
        )
    }

    /// What is allowed, with an example.
    pub fn allowed(&self) -> String {
        use units::{Bytes, Percent, print_duration};
        let time = |ns| print_duration(std::time::Duration::from_nanos(ns));
        let share = |p| Percent::from_permille(p).map(|p| p.to_string()).unwrap_or_default();
        match *self {
            Kind::Text => "text in quotes, up to 100 characters".to_owned(),
            Kind::Word(words) => {
                let quoted: Vec<String> = words.iter().map(|w| format!("\"{w}\"")).collect();
                quoted.join(" or ")
            }
            Kind::Flag => "true or false".to_owned(),
            Kind::Duration { min_ns, max_ns } => {
                format!(
                    "a duration such as \"30s\", \"2m\" or \"500ms\", from {} to {}",
                    time(min_ns),
                    time(max_ns)
                )
            }
            Kind::Bytes { multiple_of, max } => format!(
                "a size such as \"8k\", \"8KiB\" or \"1.5GiB\", a multiple of {}, up to {}",
                Bytes::new(multiple_of),
                Bytes::new(max)
            ),
            Kind::Count { min, max } if max == u64::MAX >> 1 => {
                format!("a whole number from {min}")
            }
            Kind::Count { min, max } => {
                let suffixes = match max {
                    1_000_000.. => ", such as 5000, \"250k\" or \"1M\"",
                    10_000.. => ", such as 500 or \"2k\"",
                    _ => "",
                };
                format!("a whole number from {min} to {max}{suffixes}")
            }
            Kind::Share { min_permille, max_permille } => {
                format!("a share from {} to {}", share(min_permille), share(max_permille))
            }
            Kind::Rate => {
                "a rate such as \"10000/s\", \"2.5k/s\" or 500 (per second), from 0.001/s to \
                 1000000000/s"
                    .to_owned()
            }
            Kind::ScheduledRate => {
                "a rate such as \"10000/s\" or \"2.5k/s\", from 0.001/s to 1000000000/s, or 0"
                    .to_owned()
            }
            Kind::ThinkTime => format!(
                "{}; or {{ exponential = \"10ms\" }} or {{ uniform = [\"5ms\", \"15ms\"] }}",
                THINK_TIME.allowed()
            ),
            Kind::Skew => "a number above 0, up to 10, such as 1.1".to_owned(),
            Kind::TransferSizes => format!(
                "{}; or several with their shares: {{ \"8k\" = \"70%\", \"64k\" = \"30%\" }}",
                TRANSFER.allowed()
            ),
            Kind::Pattern => "\"sequential\", \"random\", { zipf = 1.1 }, \
                              { hot_set = { area = \"10%\", accesses = \"90%\" } }, \
                              { seek = \"25%\" } or { stride = \"1MiB\" }"
                .to_owned(),
            Kind::Requirements => {
                "a list of conditions in quotes: a metric, `<`, `<=`, `>` or `>=`, \
                                   and a value with its unit, such as \"read.p99 < 2ms\""
                    .to_owned()
            }
            Kind::TargetNames => {
                "names of [target.NAME] tables, in which `*` matches any text, such as \
                                  [\"vol*\"] or \"vol1\""
                    .to_owned()
            }
            Kind::Names => "a table with `files`, and optionally `depth`, `width`, \
                            `files_per_directory`, `name_length`, `spread`, `size` and `append`, \
                            such as { files = 100000, depth = 2, width = 20, size = \"4KiB\" }"
                .to_owned(),
            Kind::FileSize => {
                format!("a size such as \"8k\" or \"1.5MiB\", up to {}", Bytes::new(FILE_SIZE_MAX))
            }
            Kind::FileSizes => format!(
                "{}; several with their shares: {{ \"4k\" = \"70%\", \"64k\" = \"30%\" }}; \
                 {{ lognormal = {{ median = \"16KiB\", sigma = 1.5, max = \"64MiB\" }} }} or \
                 {{ file = \"sizes.csv\" }}",
                Kind::FileSize.allowed()
            ),
            Kind::Mix => {
                let kinds: Vec<&str> = on_names().map(OpKind::name).collect();
                format!(
                    "shares of {}, with a sum of 100 %, such as {{ create = \"2%\", unlink = \
                     \"2%\", stat = \"96%\" }}",
                    kinds.join(", ")
                )
            }
            Kind::Replay => {
                "the file of a list such as \"app.replay\", or a table with `list`, and \
                             optionally `speed` and `repeat`, such as \
                             { list = \"app.replay\", speed = 2 }"
                    .to_owned()
            }
            Kind::Speed => "a number from 0.001 to 1000, such as 2 or 0.5, or \"max\"".to_owned(),
            Kind::Scenario => {
                let kinds: Vec<&str> = on_names().map(OpKind::name).collect();
                format!(
                    "a list of steps, each with `think`, `at` or one of {} and its number, such as \
                     [{{ readdirplus = 1 }}, {{ think = \"2s\" }}, {{ stat = 5, think = \"1s\" }}]",
                    kinds.join(", ")
                )
            }
            Kind::Arrival => "\"closed\", { closed = { think_time = \"1ms\" } }, \
                              { constant = \"10000/s\" }, { poisson = \"10k/s\" } or \
                              { schedule = [{ constant = \"1k/s\", for = \"10s\" }, …] }"
                .to_owned(),
        }
    }
}
