//! Whether what operations moved went over the wire: the bytes we counted beside those that the
//! kernel counted on the way to the storage.
//!
//! For: catching figures that a cache of this host made. Not for: what the storage's own caches do;
//! nobody on this side of the wire can see that.

use metrics::run_record::RunRecord;
use metrics::warning::Warning;
use metrics::wire::WirePlace;
use workload::op::OpKind;

use crate::window;

/// The wire may have counted this share less than operations moved before a cache is said to have
/// answered: counters are read some milliseconds after an interval's edge, and what is outstanding
/// at an edge is counted on one side only.
const MISSING_MAX: f64 = 0.10;
/// And no less than moves in this time: on a busy host they are read later than that, and of half
/// a second a fifth was missing although the device had moved it all.
const EDGES_NS: u64 = 200_000_000;
/// Above this ratio more went over the wire than operations and their headers explain.
const OTHERS_MIN: f64 = 1.25;
/// Fewer bytes than this in a window are not judged.
const BYTES_MIN: u64 = 1 << 20;

/// One place on the way to the storage, over a run's window.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCheck {
    /// Which place.
    pub place: WirePlace,
    /// Reads.
    pub read: WireBytes,
    /// Writes. Of the loopback it holds what went either way, and `read` nothing.
    pub written: WireBytes,
    /// Ratio wire to counted of both directions in each interval; `None` where nothing was counted.
    pub intervals: Vec<Option<f64>>,
}

/// Bytes of one direction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WireBytes {
    /// Moved by operations.
    pub counted: u64,
    /// Counted by the place.
    pub wire: u64,
    /// What may be missing because the place is looked at some time after an interval's edge: what
    /// moved in 200 ms on average.
    pub edges: u64,
}

impl WireBytes {
    /// Wire over counted; `None` where too little was counted to be judged.
    pub fn ratio(&self) -> Option<f64> {
        (self.counted >= BYTES_MIN).then(|| self.wire as f64 / self.counted as f64)
    }

    /// Whether so much is missing that a cache must have answered.
    pub fn is_cached(&self) -> bool {
        let more_than_edges = self.counted.saturating_sub(self.wire) > self.edges;
        more_than_edges && self.ratio().is_some_and(|ratio| ratio < 1.0 - MISSING_MAX)
    }

    /// Whether more passed than operations and headers explain: others use the place too, or more
    /// is read than asked for.
    pub fn has_others(&self) -> bool {
        self.ratio().is_some_and(|ratio| ratio > OTHERS_MIN)
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

    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let Some(check) = self.believed() else { return Vec::new() };
        let of = |is_read: bool, bytes: WireBytes| Warning::ServedFromCache {
            is_read,
            place: check.place,
            counted_bytes: bytes.counted,
            wire_bytes: bytes.wire,
        };
        let directions = [(true, check.read), (false, check.written)].into_iter();
        let cached = directions.filter(|(_, bytes)| bytes.is_cached());
        cached.map(|(is_read, bytes)| of(is_read, bytes)).collect()
    }
}

/// Adds up what each place counted over a run's window; `None` where the record has nothing of it.
pub(crate) fn of_run(record: &RunRecord) -> Option<RunWire> {
    let intervals = window::measured(record);
    let counted = |interval: &metrics::interval::Interval, kind: OpKind| -> u64 {
        interval.streams.iter().map(|stream| stream.kinds[kind as usize].bytes).sum()
    };
    let of_place = |place: WirePlace| {
        let (mut read, mut written) = (WireBytes::default(), WireBytes::default());
        let (mut ratios, mut window_ns) = (Vec::new(), 0);
        for interval in &intervals {
            let Some(wire) = interval.wire.iter().find(|wire| wire.place == place) else {
                ratios.push(None);
                continue;
            };
            let moved = (counted(interval, OpKind::Read), counted(interval, OpKind::Write));
            let passed = match place {
                // Each packet is in both counters of the loopback.
                WirePlace::Loopback => (0, wire.sent_bytes),
                _ => (wire.received_bytes, wire.sent_bytes),
            };
            let moved_here = match place {
                WirePlace::Loopback => (0, moved.0 + moved.1),
                _ => moved,
            };
            window_ns += interval.end_ns.saturating_sub(interval.start_ns);
            read.counted += moved_here.0;
            written.counted += moved_here.1;
            read.wire += passed.0;
            written.wire += passed.1;
            let both = moved.0 + moved.1;
            let wire = match (moved.0 > 0, moved.1 > 0) {
                _ if place == WirePlace::Loopback => passed.1,
                (true, false) => passed.0,
                (false, true) => passed.1,
                _ => passed.0 + passed.1,
            };
            ratios.push((both > 0).then(|| wire as f64 / both as f64));
        }
        for bytes in [&mut read, &mut written] {
            let moved = u128::from(bytes.counted) * u128::from(EDGES_NS);
            bytes.edges = (moved / u128::from(window_ns.max(1))) as u64;
        }
        let told = ratios.iter().any(Option::is_some);
        told.then_some(WireCheck { place, read, written, intervals: ratios })
    };
    let places: Vec<WireCheck> = WirePlace::ALL.into_iter().filter_map(of_place).collect();
    (!places.is_empty()).then_some(RunWire { repeat: record.run.repeat, places })
}
