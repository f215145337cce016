//! Whether the operations' data went over the wire: the bytes counted by operations compared with
//! the bytes that the kernel counted on the way to the storage.
//!
//! For: detecting figures that are due to a client cache. Not for: the storage's own caches,
//! which cannot be observed from the client.

use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use metrics::wire::{CounterSource, WireInterval};
use workload::op::OpKind;
use workload::plan::TargetSpec;

use crate::window;

/// The wire may count this share less than the operations before a cache is assumed: counters are
/// read some milliseconds after the end of an interval, and operations outstanding at that time are
/// counted on one side only.
const MISSING_MAX: f64 = 0.10;
/// The wire may also count less by the bytes moved in this time: on a busy host the counters are
/// read later; with windows of half a second a fifth was missing although the device had moved all.
const EDGES_NS: u64 = 200_000_000;
/// The same for interfaces: some drivers update their counters only every one or two seconds (i40e:
/// its service task, every 2 s).
const LATE_NS: u64 = 2_000_000_000;
/// Above this ratio, operations and their headers do not explain the bytes on the wire.
const OTHERS_MIN: f64 = 1.25;
/// Windows with fewer bytes than this are not checked.
const BYTES_MIN: u64 = 1 << 20;

/// File systems on which a file opened with O_DIRECT bypasses the page cache, unless
/// [`JOURNALS_DATA`] is set.
const DIRECT: [&str; 4] = ["nfs", "nfs4", "xfs", "ext4"];
/// With this option ext4 answers O_DIRECT from the page cache (Documentation/admin-guide/ext4.rst
/// of the kernel).
const JOURNALS_DATA: &str = "data=journal";

/// Which operations a client cache can serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostCache {
    /// None: the target's data passes through no cache (the program's NFS client, the null target).
    Absent,
    /// Those on files opened without O_DIRECT.
    Buffered,
    /// All: it is unknown whether the file system honours O_DIRECT.
    Any,
}

impl HostCache {
    /// For a record's target.
    pub(crate) fn of(record: &ExperimentRecord) -> HostCache {
        let environment = &record.environment;
        let options = environment.mount_options.as_deref().unwrap_or_default();
        let journals_data = || options.split(',').any(|option| option == JOURNALS_DATA);
        match record.plan.target() {
            TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } | TargetSpec::Null => {
                HostCache::Absent
            }
            TargetSpec::Directory { .. } => match environment.prior.filesystem.as_deref() {
                Some(name) if DIRECT.contains(&name) && !journals_data() => HostCache::Buffered,
                _ => HostCache::Any,
            },
        }
    }

    const fn may_answer(self, direct: bool) -> bool {
        match self {
            HostCache::Absent => false,
            HostCache::Buffered => !direct,
            HostCache::Any => true,
        }
    }
}

/// What one source counted on the way to the storage, over a run's window.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCheck {
    /// Where the bytes were counted.
    pub source: CounterSource,
    /// Reads.
    pub read: WireBytes,
    /// Writes. The loopback counts both directions together: then this contains both and `read`
    /// is empty.
    pub written: WireBytes,
    /// Ratio of bytes on the wire to bytes of operations in each interval, both directions
    /// together; `None` if nothing was counted.
    pub intervals: Vec<Option<f64>>,
    /// Length of the intervals with counters, in nanoseconds.
    pub window_ns: u64,
}

impl WireCheck {
    /// The share of bytes served by a client cache, 0 to 1: the larger one of reads and
    /// writes.
    pub fn cached_share(&self) -> f64 {
        let directions = [self.read, self.written].into_iter();
        let cached = directions.filter(|bytes| bytes.is_cached).filter_map(|bytes| bytes.ratio());
        cached.map(|ratio| (1.0 - ratio).clamp(0.0, 1.0)).fold(0.0, f64::max)
    }
}

/// Bytes in one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireBytes {
    /// Moved by operations.
    pub counted: u64,
    /// Counted by the source.
    pub wire: u64,
    /// So many bytes are missing that a client cache must have served them: the target
    /// allows it, and all operations succeeded.
    pub is_cached: bool,
}

impl WireBytes {
    /// Wire bytes over operations' bytes; `None` with too few bytes for a check.
    pub fn ratio(&self) -> Option<f64> {
        (self.counted >= BYTES_MIN).then(|| self.wire as f64 / self.counted as f64)
    }

    /// Whether operations and headers do not explain the bytes: others use it too, or more
    /// is read than requested.
    pub fn has_others(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio > OTHERS_MIN)
    }

    /// Whether more bytes are missing than the timing of counters explains, including `edges`
    /// bytes.
    fn is_missing(&self, edges: u64) -> bool {
        let more_than_edges = self.counted.saturating_sub(self.wire) > edges;
        more_than_edges && self.ratio().is_some_and(|ratio| ratio < 1.0 - MISSING_MAX)
    }
}

/// The counts of one run's window.
#[derive(Clone, Debug, PartialEq)]
pub struct RunWire {
    /// Number of the repeat, from 0.
    pub repeat: u32,
    /// Each source, the most reliable first.
    pub sources: Vec<WireCheck>,
}

/// Bytes per second that the most reliable source of each run counted, in the directions in which
/// operations moved data; `None` without counters.
pub fn throughput(runs: &[RunWire]) -> Option<f64> {
    let sum = |of: fn(&WireCheck) -> u64| runs.iter().filter_map(RunWire::believed).map(of).sum();
    let bytes: u64 = sum(|check| check.read.wire + check.written.wire);
    let window_ns: u64 = sum(|check| check.window_ns);
    (window_ns > 0).then(|| bytes as f64 * 1e9 / window_ns as f64)
}

impl RunWire {
    /// The most reliable source: a mount counts its own bytes only, a device or interface also those
    /// of others.
    pub fn believed(&self) -> Option<&WireCheck> {
        self.sources.first()
    }

    /// Whether a client cache served reads or writes.
    pub fn is_cached(&self) -> bool {
        self.believed().is_some_and(|check| check.read.is_cached || check.written.is_cached)
    }

    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let Some(check) = self.believed() else { return Vec::new() };
        let of = |is_read: bool, bytes: WireBytes| Warning::ServedFromCache {
            is_read,
            source: check.source,
            counted_bytes: bytes.counted,
            wire_bytes: bytes.wire,
        };
        let directions = [(true, check.read), (false, check.written)].into_iter();
        let cached = directions.filter(|(_, bytes)| bytes.is_cached);
        cached.map(|(is_read, bytes)| of(is_read, bytes)).collect()
    }
}

/// Sums the counts of each source over a run's window; `None` if the record has none.
pub(crate) fn of_run(record: &RunRecord, cache: HostCache) -> Option<RunWire> {
    let intervals = window::measured(record);
    let of_source = |source| of_source(record, &intervals, source, cache);
    let sources: Vec<WireCheck> = CounterSource::ALL.into_iter().filter_map(of_source).collect();
    (!sources.is_empty()).then_some(RunWire { repeat: record.run.repeat, sources })
}

fn of_source(
    record: &RunRecord,
    intervals: &[&Interval],
    source: CounterSource,
    cache: HostCache,
) -> Option<WireCheck> {
    let with_wire =
        |interval: &&Interval| interval.wire.iter().find(|w| w.source == source).copied();
    let seen: Vec<(&Interval, WireInterval)> =
        intervals.iter().filter_map(|i| Some((*i, with_wire(i)?))).collect();
    let mut read = direction(record, &seen, OpKind::Read, cache);
    let mut written = direction(record, &seen, OpKind::Write, cache);
    // Both counters of the loopback include each packet, so the directions cannot be separated.
    let both_ways = source == CounterSource::Loopback;
    read.bytes.wire = seen.iter().map(|(_, wire)| wire.received_bytes).sum();
    written.bytes.wire = seen.iter().map(|(_, wire)| wire.sent_bytes).sum();
    if both_ways && read.bytes.counted > 0 && written.bytes.counted > 0 {
        written.bytes.counted += read.bytes.counted;
        written.may_be_cached = false;
        read = Direction::default();
    }
    let window_ns: u64 = seen.iter().map(|(i, _)| i.end_ns.saturating_sub(i.start_ns)).sum();
    for direction in [&mut read, &mut written] {
        if direction.bytes.counted == 0 {
            direction.bytes = WireBytes::default();
        }
        let late_ns = match source {
            CounterSource::Interface => EDGES_NS + LATE_NS,
            _ => EDGES_NS,
        };
        let moved = u128::from(direction.bytes.counted) * u128::from(late_ns);
        let edges = (moved / u128::from(window_ns.max(1))) as u64;
        direction.bytes.is_cached = direction.may_be_cached && direction.bytes.is_missing(edges);
    }
    let ratio = |interval: &&Interval| {
        let wire = with_wire(interval)?;
        let moved = (moved(interval, OpKind::Read), moved(interval, OpKind::Write));
        let passed = match (moved.0 > 0, moved.1 > 0) {
            _ if both_ways => wire.sent_bytes,
            (true, false) => wire.received_bytes,
            (false, true) => wire.sent_bytes,
            _ => wire.received_bytes + wire.sent_bytes,
        };
        let moved = moved.0 + moved.1;
        (moved > 0).then(|| passed as f64 / moved as f64)
    };
    let ratios: Vec<Option<f64>> = intervals.iter().map(ratio).collect();
    let counted = ratios.iter().any(Option::is_some);
    counted.then_some(WireCheck {
        source,
        read: read.bytes,
        written: written.bytes,
        intervals: ratios,
        window_ns,
    })
}

/// Operations of one kind.
#[derive(Default)]
struct Direction {
    bytes: WireBytes,
    /// A cache can serve these operations, and none failed: a failed operation may or may not have
    /// used the wire.
    may_be_cached: bool,
}

fn direction(
    record: &RunRecord,
    seen: &[(&Interval, WireInterval)],
    kind: OpKind,
    cache: HostCache,
) -> Direction {
    let counted = seen.iter().map(|(interval, _)| moved(interval, kind)).sum();
    let of_kind = |interval: &&Interval| -> Vec<(bool, u64, u64)> {
        let streams = record.run.streams.iter().zip(&interval.streams);
        let of_stream = streams.map(|(planned, stream)| {
            let kind = &stream.kinds[kind as usize];
            (planned.direct, kind.bytes, kind.failed.iter().sum())
        });
        of_stream.collect()
    };
    let parts: Vec<(bool, u64, u64)> =
        seen.iter().flat_map(|(interval, _)| of_kind(interval)).collect();
    let answers = parts.iter().any(|(direct, bytes, _)| *bytes > 0 && cache.may_answer(*direct));
    let failed = parts.iter().any(|(.., failed)| *failed > 0);
    let bytes = WireBytes { counted, ..WireBytes::default() };
    Direction { bytes, may_be_cached: answers && !failed }
}

fn moved(interval: &Interval, kind: OpKind) -> u64 {
    interval.streams.iter().map(|stream| stream.kinds[kind as usize].bytes).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(counted: u64, wire: u64) -> WireBytes {
        WireBytes { counted, wire, is_cached: false }
    }

    #[test]
    fn a_ratio_needs_a_mebibyte_and_others_need_a_quarter_more() {
        assert_eq!(bytes(BYTES_MIN - 1, BYTES_MIN).ratio(), None);
        assert_eq!(bytes(BYTES_MIN, 2 * BYTES_MIN).ratio(), Some(2.0));
        let has_others = |wire| bytes(4 * BYTES_MIN, wire).has_others();
        assert_eq!([has_others(5 * BYTES_MIN), has_others(5 * BYTES_MIN + 1)], [false, true]);
    }

    #[test]
    fn bytes_are_missing_beyond_ten_percent_and_beyond_the_edges() {
        let is_missing = |wire, edges| bytes(10 * BYTES_MIN, wire).is_missing(edges);
        assert!(!is_missing(9 * BYTES_MIN, 0), "ten percent");
        assert!(is_missing(9 * BYTES_MIN - 1, 0));
        assert!(!is_missing(8 * BYTES_MIN, 2 * BYTES_MIN), "all at the edges");
        assert!(is_missing(8 * BYTES_MIN - 1, 2 * BYTES_MIN));
        assert!(!bytes(BYTES_MIN - 1, 0).is_missing(0), "too few to check");
    }

    #[test]
    fn the_cached_share_is_that_of_the_direction_with_more() {
        let cached = |counted, wire| WireBytes { is_cached: true, ..bytes(counted, wire) };
        let share = |read, written| {
            let (source, intervals) = (CounterSource::ALL[0], Vec::new());
            WireCheck { source, read, written, intervals, window_ns: 1 }.cached_share()
        };
        let (half, quarter) = (cached(4 << 20, 2 << 20), cached(4 << 20, 3 << 20));
        assert_eq!([share(half, quarter), share(quarter, half)], [0.5, 0.5]);
        assert_eq!(share(bytes(4 << 20, 0), quarter), 0.25, "only what a cache served");
        assert_eq!(share(cached(4 << 20, 8 << 20), bytes(0, 0)), 0.0, "never below none");
    }

    #[test]
    fn a_cache_answers_by_the_way_a_file_is_opened() {
        let answers = |cache: HostCache| [cache.may_answer(true), cache.may_answer(false)];
        assert_eq!(answers(HostCache::Absent), [false, false]);
        assert_eq!(answers(HostCache::Buffered), [false, true]);
        assert_eq!(answers(HostCache::Any), [true, true]);
    }
}
