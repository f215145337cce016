//! The table of everything that can be written in an experiment file.
//!
//! One table makes the parser, the JSON Schema and the reference page, so that they cannot
//! disagree. A new key is a row here, a field of [`crate::plan`] and a line in [`crate::resolve`].

/// What can be written under one key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// The key.
    pub name: &'static str,
    /// Where it stands.
    pub section: Section,
    /// What kind of value it takes.
    pub kind: Kind,
    /// What holds where it is not written.
    pub presence: Presence,
    /// Several values may be given, and each is done.
    pub sweep: bool,
    /// What it is for, in a sentence or two.
    pub doc: &'static str,
    /// A value as it would be written in the file.
    pub example: &'static str,
}

/// A part of an experiment file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// The top of the file.
    Experiment,
    /// `[run]`
    Run,
    /// `[search]`
    Search,
    /// `[stream.NAME]`; a `[[variant]]` takes these keys too.
    Stream,
    /// `[[variant]]`
    Variant,
}

/// A kind of value, with its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// Words of the user's own.
    Text,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Yes or no.
    Flag,
    /// A time in nanoseconds.
    Duration {
        /// The shortest, in nanoseconds.
        min_ns: u64,
        /// The longest, in nanoseconds.
        max_ns: u64,
    },
    /// A count of bytes.
    Bytes {
        /// It is a multiple of this.
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
    /// A share of a whole.
    Share {
        /// The smallest, in thousandths.
        min_permille: u16,
        /// The largest, in thousandths.
        max_permille: u16,
    },
    /// Operations per second.
    Rate,
    /// The skew of a Zipf distribution.
    Skew,
    /// One transfer size, or several with their shares.
    TransferSizes,
    /// An access pattern.
    Pattern,
    /// An arrival process.
    Arrival,
}

/// What holds where a key is not written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Presence {
    /// There is no value that would be right for everyone: it must be written.
    Required,
    /// This value, as it would be written.
    Default(&'static str),
    /// Nothing; the words say what that means.
    Absent(&'static str),
}

use Presence::{Absent, Default, Required};
use Section::{Experiment, Run, Search, Stream, Variant};

const SECOND: u64 = 1_000_000_000;
const HOUR: u64 = 3600 * SECOND;
/// The unit of the data pattern; file sizes are whole tiles.
pub(crate) const TILE: u64 = 4096;
/// The unit of O_DIRECT on every Linux file system, and the smallest tile.
pub(crate) const SECTOR: u64 = 512;

/// A transfer size: whole sectors, up to what one kernel call moves everywhere and a slot's buffer
/// may hold.
pub(crate) const TRANSFER: Kind = Kind::Bytes { multiple_of: SECTOR, max: 64 << 20 };
/// The share of one transfer size.
pub(crate) const WEIGHT: Kind = Kind::Share { min_permille: 1, max_permille: 1000 };
/// The think time of a closed loop.
pub(crate) const THINK_TIME: Kind = Kind::Duration { min_ns: 0, max_ns: HOUR };
/// The hot part of the area, and the share of operations that go there.
pub(crate) const HOT_SHARE: Kind = Kind::Share { min_permille: 1, max_permille: 999 };
/// What a compressor or a deduplicator can remove; above 95 % a tile has no room for its stamp.
const REDUCIBLE: Kind = Kind::Share { min_permille: 0, max_permille: 950 };

/// Methods of a search.
const SEARCH_METHODS: &[&str] = &["queue-depth", "offered-rate", "curve"];

/// The keys, in the order in which the reference shows them.
pub const KEYS: &[Key] = &[
    Key {
        name: "name",
        section: Experiment,
        kind: Kind::Text,
        presence: Required,
        sweep: false,
        doc: "What the experiment is called in lists and reports.",
        example: "\"oltp\"",
    },
    Key {
        name: "target",
        section: Experiment,
        kind: Kind::Text,
        presence: Absent("the target on the command line; without one, an emulated volume"),
        sweep: false,
        doc: "What is measured: a directory, an export of an NFS server such as \
              `nfs://server/vol1?nconnect=8`, or `null:` for the generator's own ceiling. A target \
              on the command line goes before it.",
        example: "\"/mnt/vol1\"",
    },
    Key {
        name: "warm_up",
        section: Run,
        kind: Kind::Duration { min_ns: 0, max_ns: 24 * HOUR },
        presence: Default("\"5s\""),
        sweep: true,
        doc: "Time in which operations run but are not part of the result. A whole number of \
              intervals; the default is rounded up to one.",
        example: "\"5s\"",
    },
    Key {
        name: "measure",
        section: Run,
        kind: Kind::Duration { min_ns: SECOND / 100, max_ns: 30 * 24 * HOUR },
        presence: Default("\"30s\""),
        sweep: true,
        doc: "The window that is reported. A whole number of intervals; ten or more are needed for \
              an uncertainty worth the name.",
        example: "\"30s\"",
    },
    Key {
        name: "interval",
        section: Run,
        kind: Kind::Duration { min_ns: SECOND / 100, max_ns: HOUR },
        presence: Default("\"1s\""),
        sweep: true,
        doc: "The reporting period: what is counted is kept for each of these.",
        example: "\"1s\"",
    },
    Key {
        name: "repeats",
        section: Run,
        kind: Kind::Count { min: 1, max: 1000 },
        presence: Default("1"),
        sweep: false,
        doc: "How often each load point is run. Three or more show how much runs differ from one \
              another.",
        example: "3",
    },
    Key {
        name: "until",
        section: Run,
        kind: Kind::Share { min_permille: 1, max_permille: 500 },
        presence: Absent("as many repeats as `repeats` says"),
        sweep: false,
        doc: "Repeat each load point until its achieved rate and its mean response time are known \
              within this (the half-width of their 95 % intervals between repeats). Done in blocks \
              in random order, each of the load points that still need it; at least `repeats` of \
              them (3 where that is not written), at most `repeats_max`.",
        example: "\"2%\"",
    },
    Key {
        name: "repeats_max",
        section: Run,
        kind: Kind::Count { min: 1, max: 1000 },
        presence: Default("10"),
        sweep: false,
        doc: "With `until`: how often a load point is measured at most.",
        example: "10",
    },
    Key {
        name: "seed",
        section: Run,
        kind: Kind::Count { min: 0, max: u64::MAX >> 1 },
        presence: Default("1"),
        sweep: false,
        doc: "The number from which all randomness comes. The same seed gives the same operations \
              and data.",
        example: "1",
    },
    Key {
        name: "order",
        section: Run,
        kind: Kind::Word(&["as-written", "randomised"]),
        presence: Default("\"as-written\""),
        sweep: false,
        doc: "The order of the runs. `as-written`: load points in the file's order, the repeats of \
              each one after another. `randomised`: every load point once in random order, then \
              all again for the next repeat, so that a drift of the target does not look like an \
              effect of the load.",
        example: "\"randomised\"",
    },
    Key {
        name: "tolerated_errors",
        section: Run,
        kind: Kind::Count { min: 0, max: u64::MAX >> 1 },
        presence: Default("0"),
        sweep: true,
        doc: "Failed operations after which a run goes on. One more ends it as failed.",
        example: "0",
    },
    Key {
        name: "operation_deadline",
        section: Run,
        kind: Kind::Duration { min_ns: SECOND / 1000, max_ns: 24 * HOUR },
        presence: Default("\"60s\""),
        sweep: true,
        doc: "The age at which an outstanding operation is given up and the run ended as failed.",
        example: "\"60s\"",
    },
    Key {
        name: "nconnect",
        section: Run,
        kind: Kind::Count { min: 1, max: 1024 },
        presence: Absent("the target's own, or one for each worker"),
        sweep: true,
        doc: "Connections of this process to an NFS export (`nfs://`) or to the emulated volume, \
              dealt out over the workers. Those of a mount are set when it is mounted.",
        example: "[1, 4, 16]",
    },
    Key {
        name: "method",
        section: Search,
        kind: Kind::Word(SEARCH_METHODS),
        presence: Absent("no search: every load point is known beforehand"),
        sweep: false,
        doc: "What is looked for, for each load point of the sweeps. `queue-depth`: the closed \
              curve, 1 operation outstanding and then twice as many again and again, up to the \
              queue depth of the stream, until more brings no more; then depths between, where \
              the curve bends. `offered-rate`: the open curve, Poisson arrivals at shares of the \
              largest rate that a ladder of queue depths finds, which is not refined. `curve`: \
              both curves. There is one stream then, and it is `closed`. Several queue depths on \
              the command line (`--set queue_depth=1,8,64`) take the place of `queue-depth`.",
        example: "\"curve\"",
    },
    Key {
        name: "step",
        section: Search,
        kind: Kind::Count { min: 2, max: 16 },
        presence: Default("2"),
        sweep: false,
        doc: "Each queue depth of the ladder over the one before it: 2 doubles, 4 is faster and \
              coarser.",
        example: "4",
    },
    Key {
        name: "gain_min",
        section: Search,
        kind: Kind::Share { min_permille: 1, max_permille: 1000 },
        presence: Default("\"5%\""),
        sweep: false,
        doc: "The ladder of queue depths ends when throughput has stopped rising: also when two \
              steps in a row each raise it by less than this per doubling.",
        example: "\"5%\"",
    },
    Key {
        name: "response_time_max",
        section: Search,
        kind: Kind::Duration { min_ns: 1000, max_ns: HOUR },
        presence: Absent("no objective"),
        sweep: false,
        doc: "The objective for the mean response time: the first load point above it is the last \
              of its curve, and the knee by the objective is the last one within it.",
        example: "\"5ms\"",
    },
    Key {
        name: "refine",
        section: Search,
        kind: Kind::Count { min: 0, max: 100 },
        presence: Default("3"),
        sweep: false,
        doc: "At most so many queue depths between those of the ladder, where the curve bends.",
        example: "3",
    },
    Key {
        name: "load_points",
        section: Search,
        kind: Kind::Count { min: 1, max: 100 },
        presence: Default("10"),
        sweep: false,
        doc: "Load points of the open curve up to the largest rate that the ladder found, evenly \
              spaced: 10 are at 10 %, 20 %, and so on, to 100 % of it.",
        example: "10",
    },
    Key {
        name: "beyond",
        section: Search,
        kind: Kind::Count { min: 0, max: 100 },
        presence: Default("2"),
        sweep: false,
        doc: "Load points of the open curve above that rate, as far apart. The first that is more \
              than the target takes is the last.",
        example: "2",
    },
    Key {
        name: "read",
        section: Stream,
        kind: Kind::Share { min_permille: 0, max_permille: 1000 },
        presence: Required,
        sweep: true,
        doc: "Share of reads among the operations; the rest are writes. Exact in every thousand \
              operations of a worker, in random order.",
        example: "\"70%\"",
    },
    Key {
        name: "transfer_size",
        section: Stream,
        kind: Kind::TransferSizes,
        presence: Required,
        sweep: true,
        doc: "Bytes moved by one operation, or several sizes with their shares of the operations.",
        example: "\"8KiB\"",
    },
    Key {
        name: "pattern",
        section: Stream,
        kind: Kind::Pattern,
        presence: Required,
        sweep: true,
        doc: "Where operations go. `sequential`: each worker walks through the working set from a \
              starting point of its own. `random`: every place is equally likely. `zipf`: the k-th \
              most popular place is chosen in proportion to k^-skew. `hot_set`: a share of the \
              accesses goes to a part of the area.",
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
        doc: "Size of each file. Files times size should be well above every cache that is not to \
              be measured.",
        example: "\"256MiB\"",
    },
    Key {
        name: "area",
        section: Stream,
        kind: Kind::Bytes { multiple_of: TILE, max: 1 << 50 },
        presence: Absent("all of every file"),
        sweep: true,
        doc: "Touch only this much of the files, from the start of each: the area over the number \
              of files, in whole blocks of 4 KiB.",
        example: "\"64MiB\"",
    },
    Key {
        name: "queue_depth",
        section: Stream,
        kind: Kind::Count { min: 1, max: 4096 },
        presence: Required,
        sweep: true,
        doc: "The limit on outstanding operations of each worker. With `[search]`, the deepest \
              that is tried.",
        example: "[1, 4, 16]",
    },
    Key {
        name: "workers",
        section: Stream,
        kind: Kind::Count { min: 1, max: 1024 },
        presence: Default("1"),
        sweep: true,
        doc: "Threads that issue operations, each with a queue depth of its own.",
        example: "2",
    },
    Key {
        name: "arrival",
        section: Stream,
        kind: Kind::Arrival,
        presence: Default("\"closed\""),
        sweep: true,
        doc: "When operations become due. `closed`: the next when one finishes, after a think time \
              if one is given. `constant` and `poisson`: at the offered rate of the whole stream, \
              whatever completes; lateness then counts in the response time. The offered rate is \
              that of all operations, the fsyncs of `fsync_every` included.",
        example: "{ poisson = \"10k/s\" }",
    },
    Key {
        name: "direct",
        section: Stream,
        kind: Kind::Flag,
        presence: Default("true"),
        sweep: true,
        doc: "Open the files with O_DIRECT, so that the host's page cache is not what is measured. \
              On an NFS export (`nfs://`) it means nothing: there is no cache to go past.",
        example: "true",
    },
    Key {
        name: "dsync",
        section: Stream,
        kind: Kind::Flag,
        presence: Default("false"),
        sweep: true,
        doc: "Open the files with O_DSYNC: a write completes when it is durable. On an NFS export \
              (`nfs://`) writes ask for DATA_SYNC, unless `write_stability` says otherwise.",
        example: "true",
    },
    Key {
        name: "write_stability",
        section: Stream,
        kind: Kind::Word(&["unstable", "data_sync", "file_sync"]),
        presence: Absent("`unstable`, or `data_sync` where `dsync = true`"),
        sweep: true,
        doc: "On an NFS export (`nfs://`) only: how durable a write is when the server answers it. \
              `unstable`: it may be in the server's memory until an fsync (COMMIT). `data_sync`: \
              the data is durable. `file_sync`: the attributes too.",
        example: "\"file_sync\"",
    },
    Key {
        name: "fsync_every",
        section: Stream,
        kind: Kind::Count { min: 1, max: 1_000_000 },
        presence: Absent("no fsync"),
        sweep: true,
        doc: "Send an fsync after this many writes of a worker. An fsync is an operation like the \
              others: it takes a place in the queue, and with an offered rate it takes one of the \
              arrivals, so that `1` makes half of a stream of writes fsyncs.",
        example: "8",
    },
    Key {
        name: "compressible",
        section: Stream,
        kind: REDUCIBLE,
        presence: Default("\"0%\""),
        sweep: true,
        doc: "Share of each 4 KiB of data that a compressor can remove.",
        example: "\"50%\"",
    },
    Key {
        name: "duplicate",
        section: Stream,
        kind: REDUCIBLE,
        presence: Default("\"0%\""),
        sweep: true,
        doc: "Share of the data's blocks that are copies of another block.",
        example: "\"25%\"",
    },
    Key {
        name: "name",
        section: Variant,
        kind: Kind::Text,
        presence: Absent("what it does: `random read 8 KiB`"),
        sweep: false,
        doc: "What the variant is called in tables and reports. Where the command line changes \
              what the operations are, or a key of the variant, what is really done is added to the \
              name.",
        example: "\"order entry\"",
    },
    Key {
        name: "stream",
        section: Variant,
        kind: Kind::Text,
        presence: Absent("its settings hold for every stream"),
        sweep: false,
        doc: "The one stream that the variant's settings are laid over.",
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
    /// Whether values of this kind can be counted through: `1..32 x2`, `10%..50% step 10%`.
    pub fn is_number(&self) -> bool {
        matches!(
            self,
            Kind::Duration { .. }
                | Kind::Bytes { .. }
                | Kind::Count { .. }
                | Kind::Share { .. }
                | Kind::Rate
                | Kind::Skew
        )
    }

    /// What may be written, in words with an example.
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
            Kind::Count { min, max } => format!("a whole number from {min} to {max}"),
            Kind::Share { min_permille, max_permille } => {
                format!("a share from {} to {}", share(min_permille), share(max_permille))
            }
            Kind::Rate => {
                "a rate such as \"10000/s\", \"2.5k/s\" or 500 (a number alone is per second), \
                 from 0.001/s to 1000000000/s"
                    .to_owned()
            }
            Kind::Skew => "a number above 0, up to 10, such as 1.1".to_owned(),
            Kind::TransferSizes => format!(
                "{}; or several with their shares: {{ \"8k\" = \"70%\", \"64k\" = \"30%\" }}",
                TRANSFER.allowed()
            ),
            Kind::Pattern => "\"sequential\", \"random\", { zipf = 1.1 } or \
                              { hot_set = { area = \"10%\", accesses = \"90%\" } }"
                .to_owned(),
            Kind::Arrival => "\"closed\", { closed = { think_time = \"1ms\" } }, \
                              { constant = \"10000/s\" } or { poisson = \"10k/s\" }"
                .to_owned(),
        }
    }
}
