//! Whether what operations moved went over the wire: the bytes we counted beside those that the
//! kernel counted on the way to the storage.
//!
//! For: catching figures that a cache of this host made. Not for: what the storage's own caches do;
//! nobody on this side of the wire can see that.

use metrics::interval::Interval;
use metrics::run_record::{ExperimentRecord, RunRecord};
use metrics::warning::Warning;
use metrics::wire::{WireInterval, WirePlace};
use workload::op::OpKind;
use workload::plan::TargetSpec;

use crate::verdict::known::FILESYSTEM;
use crate::window;

/// The wire may have counted this share less than operations moved before a cache is said to have
/// answered: counters are read some milliseconds after an interval's edge, and what is outstanding
/// at an edge is counted on one side only.
const MISSING_MAX: f64 = 0.10;
/// And no less than moves in this time: on a busy host they are read later than that, and of half
/// a second a fifth was missing although the device had moved it all.
const EDGES_NS: u64 = 200_000_000;
/// Some drivers bring the counters of an interface up to date only every second or two (i40e: its
/// service task, every 2 s), so that so much more may be missing there.
const LATE_NS: u64 = 2_000_000_000;
/// Above this ratio more went over the wire than operations and their headers explain.
const OTHERS_MIN: f64 = 1.25;
/// Fewer bytes than this in a window are not judged.
const BYTES_MIN: u64 = 1 << 20;

/// File systems that pass the data of a file opened with O_DIRECT by the page cache, unless
/// [`JOURNALS_DATA`].
const DIRECT: [&str; 4] = ["nfs", "nfs4", "xfs", "ext4"];
/// With this option ext4 answers O_DIRECT from the page cache (Documentation/admin-guide/ext4.rst
/// of the kernel).
const JOURNALS_DATA: &str = "data=journal";
/// The environment's entry with the options of a directory's file system.
const SUPER_OPTIONS: &str = "mount.super_options";

/// Which operations a cache of this host can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HostCache {
    /// None: the target's data passes no cache (our NFS client, the null target).
    Absent,
    /// Those on files that are not opened with O_DIRECT.
    Buffered,
    /// All: whether O_DIRECT reaches the storage is not known of the file system.
    Any,
}

impl HostCache {
    /// Of a record's target.
    pub(crate) fn of(record: &ExperimentRecord) -> HostCache {
        let entry = |name: &str| {
            let found = record.environment.iter().find(|(entry, _)| entry == name);
            found.map(|(_, value)| value.as_str())
        };
        let journals_data =
            || entry(SUPER_OPTIONS).is_some_and(|o| o.split(',').any(|o| o == JOURNALS_DATA));
        match record.plan.target {
            TargetSpec::Nfs { .. } | TargetSpec::Emulated { .. } | TargetSpec::Null => {
                HostCache::Absent
            }
            TargetSpec::Directory { .. } => match entry(FILESYSTEM) {
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

/// One place on the way to the storage, over a run's window.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCheck {
    /// Which place.
    pub place: WirePlace,
    /// Reads.
    pub read: WireBytes,
    /// Writes. Where both were done over the loopback, which counts what went either way, it holds
    /// both and `read` nothing.
    pub written: WireBytes,
    /// Ratio wire to counted of both directions in each interval; `None` where nothing was counted.
    pub intervals: Vec<Option<f64>>,
}

impl WireCheck {
    /// The larger share of its bytes, of reads or of writes, that a cache of this host answered, 0
    /// to 1.
    pub fn cached_share(&self) -> f64 {
        let directions = [self.read, self.written].into_iter();
        let cached = directions.filter(|bytes| bytes.is_cached).filter_map(|bytes| bytes.ratio());
        cached.map(|ratio| (1.0 - ratio).clamp(0.0, 1.0)).fold(0.0, f64::max)
    }
}

/// Bytes of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireBytes {
    /// Moved by operations.
    pub counted: u64,
    /// Counted by the place.
    pub wire: u64,
    /// So much is missing that a cache of this host must have answered, which the target allows,
    /// and all operations succeeded.
    pub is_cached: bool,
}

impl WireBytes {
    /// Wire over counted; `None` where too little was counted to be judged.
    pub fn ratio(&self) -> Option<f64> {
        (self.counted >= BYTES_MIN).then(|| self.wire as f64 / self.counted as f64)
    }

    /// Whether more passed than operations and headers explain: others use the place too, or more
    /// is read than asked for.
    pub fn has_others(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio > OTHERS_MIN)
    }

    /// Whether more is missing than the reading of counters explains, `edges` bytes among it.
    fn is_missing(&self, edges: u64) -> bool {
        let more_than_edges = self.counted.saturating_sub(self.wire) > edges;
        more_than_edges && self.ratio().is_some_and(|ratio| ratio < 1.0 - MISSING_MAX)
    }
}

/// The wire of one run's window.
#[derive(Clone, Debug, PartialEq)]
pub struct RunWire {
    /// Which repeat, from 0.
    pub repeat: u32,
    /// Each place, the one that tells most first.
    pub places: Vec<WireCheck>,
}

impl RunWire {
    /// The place that is believed: the mount knows its own bytes, a device and an interface carry
    /// those of others too.
    pub fn believed(&self) -> Option<&WireCheck> {
        self.places.first()
    }

    /// Whether a cache of this host answered reads, or kept writes.
    pub fn is_cached(&self) -> bool {
        self.believed().is_some_and(|check| check.read.is_cached || check.written.is_cached)
    }

    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let Some(check) = self.believed() else { return Vec::new() };
        let of = |is_read: bool, bytes: WireBytes| Warning::ServedFromCache {
            is_read,
            place: check.place,
            counted_bytes: bytes.counted,
            wire_bytes: bytes.wire,
        };
        let directions = [(true, check.read), (false, check.written)].into_iter();
        let cached = directions.filter(|(_, bytes)| bytes.is_cached);
        cached.map(|(is_read, bytes)| of(is_read, bytes)).collect()
    }
}

/// Adds up what each place counted over a run's window; `None` where the record has nothing of it.
pub(crate) fn of_run(record: &RunRecord, cache: HostCache) -> Option<RunWire> {
    let intervals = window::measured(record);
    let of_place = |place| of_place(record, &intervals, place, cache);
    let places: Vec<WireCheck> = WirePlace::ALL.into_iter().filter_map(of_place).collect();
    (!places.is_empty()).then_some(RunWire { repeat: record.run.repeat, places })
}

fn of_place(
    record: &RunRecord,
    intervals: &[&Interval],
    place: WirePlace,
    cache: HostCache,
) -> Option<WireCheck> {
    let with_wire = |interval: &&Interval| interval.wire.iter().find(|w| w.place == place).copied();
    let seen: Vec<(&Interval, WireInterval)> =
        intervals.iter().filter_map(|i| Some((*i, with_wire(i)?))).collect();
    let mut read = direction(record, &seen, OpKind::Read, cache);
    let mut written = direction(record, &seen, OpKind::Write, cache);
    // Each packet is in both counters of the loopback, so its one number cannot be split.
    let both_ways = place == WirePlace::Loopback;
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
        let late_ns = match place {
            WirePlace::Interface => EDGES_NS + LATE_NS,
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
        place,
        read: read.bytes,
        written: written.bytes,
        intervals: ratios,
    })
}

/// What operations of one kind did.
#[derive(Default)]
struct Direction {
    bytes: WireBytes,
    /// Bytes were moved that a cache can answer, and nothing failed: what failed may have passed
    /// the wire, or never reached it.
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
