//! What was observed: numbers with their unit in the name, no sentences.

use crate::error::Position;
use crate::format::{Format, TimeUnit};

/// Bytes of a block of the working set.
pub const BLOCK_BYTES: u64 = 4096;

/// Whether an operation reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
}

impl Direction {
    /// Both, in the order of their index.
    pub const ALL: [Direction; 2] = [Direction::Read, Direction::Write];

    /// The index of its figures.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// The characteristics of an application.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// The trace.
    pub source: Source,
    /// The path that files are at or below; `None` for all files.
    pub under: Option<String>,
    /// From the first begin of an operation to the last end (or begin), in nanoseconds.
    pub duration_ns: Option<u64>,
    /// Reads and writes, by [`Direction::index`].
    pub data: [DataFigures; 2],
    /// Other operations, the most frequent first.
    pub others: Vec<OtherFigures>,
    /// Sequential and other operations.
    pub runs: RunFigures,
    /// Blocks and files.
    pub working_set: WorkingSet,
    /// When operations begin.
    pub arrival: Option<Arrival>,
    /// Operations in flight.
    pub concurrency: Option<Concurrency>,
    /// What a reader must know of these figures.
    pub notes: Vec<Note>,
}

impl Observation {
    /// Reads and writes.
    pub fn operations(&self) -> u64 {
        self.data[0].operations + self.data[1].operations
    }

    /// Bytes read and written.
    pub fn bytes(&self) -> u64 {
        self.data[0].bytes.saturating_add(self.data[1].bytes)
    }

    /// The number of other operations with this name.
    pub fn other(&self, name: &str) -> u64 {
        self.others.iter().find(|other| other.name == name).map_or(0, |other| other.operations)
    }

    /// Calls that make data durable: fsync, fdatasync, COMMIT.
    pub fn syncs(&self) -> u64 {
        ["fsync", "fdatasync", "sync", "datasync", "COMMIT"]
            .map(|name| self.other(name))
            .iter()
            .sum()
    }
}

/// The trace, and how much of it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Its format.
    pub format: Format,
    /// Lines or packets.
    pub records: u64,
    /// Bytes.
    pub bytes: u64,
    /// The unit of its times, if the format leaves it open.
    pub assumed_unit: Option<TimeUnit>,
}

/// Reads or writes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DataFigures {
    /// Successful ones that moved data.
    pub operations: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Operations that failed.
    pub failed: u64,
    /// Operations of each transfer size, the commonest first.
    pub sizes: Vec<SizeCount>,
    /// From begin to end, where both are known.
    pub response: Option<ResponseTimes>,
    /// Operations that bypass the page cache (O_DIRECT); `None` if the trace does not show it.
    pub direct: Option<u64>,
    /// Writes that are durable when they end (O_DSYNC, O_SYNC, DATA_SYNC, FILE_SYNC); `None` if the
    /// trace does not show it.
    pub durable: Option<u64>,
}

impl DataFigures {
    /// Operations that continue a run.
    pub fn sequential(&self) -> u64 {
        self.sizes.iter().map(|size| size.sequential).sum()
    }
}

/// Operations that neither read nor write.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherFigures {
    /// Their name in the trace.
    pub name: String,
    /// How many, those that failed included.
    pub operations: u64,
    /// Those of them that failed, for example because there is no file of the name.
    pub failed: u64,
    /// From begin to end, where both are known.
    pub response: Option<ResponseTimes>,
}

/// The operations of one transfer size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SizeCount {
    /// Bytes moved by one.
    pub size_bytes: u64,
    /// How many.
    pub operations: u64,
    /// Those of them that continue a run.
    pub sequential: u64,
}

/// Response times in nanoseconds. A percentile with fewer than ten samples above it is `None`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResponseTimes {
    /// Operations with a known begin and end.
    pub samples: u64,
    /// Their mean.
    pub mean_ns: f64,
    /// The median.
    pub p50_ns: Option<u64>,
    /// The 99th percentile.
    pub p99_ns: Option<u64>,
}

/// Runs: operations on a file, each of which begins where an earlier one of its run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RunFigures {
    /// Runs, those of one operation included.
    pub runs: u64,
    /// Runs of one operation.
    pub single: u64,
    /// Operations that continue a run.
    pub sequential: u64,
    /// Operations of `sequential` that chance explains: as many begin at decoys, some sizes before or
    /// after the end of a run.
    pub by_chance: f64,
}

/// What the operations touch.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WorkingSet {
    /// Bytes of the distinct blocks of [`BLOCK_BYTES`].
    pub touched_bytes: u64,
    /// Half-width of the 95 % interval of `touched_bytes` as a share of it; 0 if it is exact.
    pub touched_error: f64,
    /// How often a touched block is accessed, on average.
    pub accesses_per_block: f64,
    /// The share of the accesses that go to the most accessed tenth of the touched blocks.
    pub hottest_tenth: f64,
    /// The same if all touched blocks were equally likely.
    pub hottest_tenth_uniform: f64,
    /// Every file with at least one read or write, the most accessed first.
    pub files: Vec<FileFigures>,
}

impl WorkingSet {
    /// The sum of the sizes of all files.
    pub fn file_bytes(&self) -> u64 {
        self.files.iter().fold(0, |sum, file| sum.saturating_add(file.size_bytes))
    }
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileFigures {
    /// Its path, or its handle if no name is known.
    pub name: String,
    /// Its size as the trace shows it, but at least the end of the last access.
    pub size_bytes: u64,
    /// Reads and writes that continue a run.
    pub sequential: u64,
    /// The other ones.
    pub random: u64,
}

/// When operations begin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Operations per second, from the first begin to the last.
    pub mean_per_s: f64,
    /// Whole seconds.
    pub seconds: u64,
    /// Variance over mean of the operations of each whole second: 0 for a constant rate, 1 for Poisson
    /// arrivals, more for bursts. `None` for fewer than ten seconds.
    pub dispersion: Option<f64>,
    /// Operations of the busiest whole second; `None` if there is none.
    pub peak_per_s: Option<u64>,
    /// Standard deviation over mean of the times between begins: 0 for a constant rate, 1 for Poisson
    /// arrivals.
    pub gap_variation: Option<f64>,
}

/// Operations in flight between their begin and end, over the whole duration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Concurrency {
    /// The mean over time.
    pub mean: f64,
    /// The most at any time.
    pub max: u64,
    /// The number that is not exceeded for 99 % of the time.
    pub p99: u64,
}

/// What a reader must know of the figures.
#[derive(Clone, Debug, PartialEq)]
pub enum Note {
    /// Records that could not be read, and the first of them.
    Damaged {
        /// How many.
        count: u64,
        /// The first.
        first: Position,
        /// What is wrong with it.
        why: Damage,
    },
    /// The trace has no times.
    NoTimes,
    /// Operations without an end, because of which no concurrency is given.
    NoEnds {
        /// How many.
        operations: u64,
    },
    /// Operations that began before an operation more than a window of 65,536 operations earlier in the
    /// trace.
    Unsorted {
        /// How many.
        operations: u64,
    },
    /// Descriptors whose first position is not known and was taken as 0.
    AssumedPositions {
        /// How many.
        descriptors: u64,
    },
    /// Calls that read or write without a read or write in the trace.
    NotVisible {
        /// The call.
        call: &'static str,
        /// How many.
        calls: u64,
    },
    /// Reads that returned nothing, at the end of a file.
    EndOfFile {
        /// How many.
        reads: u64,
    },
    /// Operations on files outside the requested path.
    Outside {
        /// How many.
        operations: u64,
    },
    /// Operations on files whose name is not known, which are therefore not below the requested path.
    Nameless {
        /// How many.
        operations: u64,
    },
    /// Operations on further files than are kept apart.
    TooManyFiles {
        /// How many.
        operations: u64,
        /// Files that are kept apart.
        files_max: usize,
    },
    /// Transfer sizes beyond those that are kept apart, rounded to powers of two.
    RoundedSizes {
        /// How many operations.
        operations: u64,
    },
    /// Calls of an NFS version that is not read.
    OtherNfs {
        /// How many.
        calls: u64,
    },
    /// Calls without a reply in the capture.
    Unanswered {
        /// How many.
        calls: u64,
    },
    /// Replies without a call in the capture.
    Unmatched {
        /// How many.
        replies: u64,
    },
    /// Bytes that the capture lacks between segments.
    Gaps {
        /// How many gaps.
        gaps: u64,
    },
    /// Packets of IP fragments or of UDP to or from the port of NFS, which are not read.
    NotTcp {
        /// How many.
        packets: u64,
    },
}

/// What is wrong with a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Damage {
    /// A line is not of the format.
    Malformed,
    /// An operation is larger than 4 GiB, or ends beyond the largest file.
    TooLarge,
    /// The trace ends within it.
    Cut,
    /// A packet has a header that contradicts its length.
    Header,
    /// The length of a packet or block is impossible; reading ended there.
    Length,
    /// An RPC message cannot be decoded.
    Message,
}
