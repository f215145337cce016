//! Operations that repeat those of a recorded trace: operation *i* is entry *i* of a list.
//!
//! Reading order: [`ReplayList`] (the operations), [`Replay`] (a list with speed and repetition, as a
//! plan stores it), [`LaneReplay`] (what one worker does, and when). Operations are divided among the
//! workers by file, so that those of a file are sent in the order of the trace.
//!
//! Not for: the text of a list (`replay_list`), nor for reading traces (crate `observe`).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::arrival::{Arrival, Process};
use crate::op::{Op, OpKind};
use crate::rate_schedule::{RateSchedule, Segment, SegmentRate};
use crate::replay_list;
use crate::run::{FileSet, Stream, WeightedSize};

/// The most operations of a list: 240 MB of memory.
pub const OPERATIONS_MAX: usize = 10_000_000;
/// The most files of a list, all of which a worker has open.
pub const FILES_MAX: usize = 10_000;
/// The largest operation, as for other streams: a buffer of each slot has this size.
pub const SIZE_MAX: u64 = 64 << 20;
/// The largest end of an operation, as for the files of other streams.
pub const END_MAX: u64 = 1 << 50;
/// Different sizes of files; with more, sizes are rounded up to sixteenths of a power of two.
const FILE_SIZES_MAX: usize = 64;
/// Sizes of files are multiples of this, as for other streams.
const FILE_UNIT: u64 = 4096;
/// Parts of a run whose offered rates are stored in the plan.
const PARTS_MAX: u64 = 10_000;
/// Transfer sizes that a plan lists.
const SIZES_LISTED: usize = 64;

/// One operation of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListedOp {
    /// Nanoseconds since the first operation; 0 without times.
    pub time_ns: u64,
    /// Its offset in the file.
    pub offset_bytes: u64,
    /// Bytes moved; 0 for an fsync.
    pub size_bytes: u32,
    /// The file's number.
    pub file: u16,
    /// Its kind: a read, write or fsync.
    pub kind: OpKind,
}

/// The operations of a trace, in order.
#[derive(PartialEq, Eq)]
pub struct ReplayList {
    operations: Vec<ListedOp>,
    /// The size of each file, ascending.
    file_sizes: Vec<u64>,
    has_times: bool,
    left_out: u64,
    checksum: u64,
}

impl fmt::Debug for ReplayList {
    /// Without the operations, of which there may be millions.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ReplayList({} operations, {:016x})", self.operations.len(), self.checksum)
    }
}

impl ReplayList {
    /// A list of at least one operation, whose times do not decrease.
    ///
    /// * `files` - the number of files that operations name
    /// * `left_out` - operations of the trace that are not in the list
    /// * `checksum` - of the text
    pub(crate) fn new(
        mut operations: Vec<ListedOp>,
        files: usize,
        has_times: bool,
        left_out: u64,
        checksum: u64,
    ) -> ReplayList {
        let mut ends = vec![0; files];
        for op in &operations {
            let end = &mut ends[usize::from(op.file)];
            *end = u64::max(*end, op.offset_bytes + u64::from(op.size_bytes));
        }
        let sizes = sizes_of(&ends);
        // Files of one size are a file set, so their numbers are consecutive.
        let mut order: Vec<usize> = (0..files).collect();
        order.sort_by_key(|file| sizes[*file]);
        let mut number_of = vec![0u16; files];
        for (number, file) in order.iter().enumerate() {
            number_of[*file] = number as u16;
        }
        for op in &mut operations {
            op.file = number_of[usize::from(op.file)];
        }
        let file_sizes = order.into_iter().map(|file| sizes[file]).collect();
        ReplayList { operations, file_sizes, has_times, left_out, checksum }
    }

    /// The operations, in order. Files are numbered by size.
    pub fn operations(&self) -> &[ListedOp] {
        &self.operations
    }

    /// Its text in pieces of about `bytes` each, without the names of files, for [`ReplayList::received`].
    pub fn pieces(&self, bytes: usize) -> impl Iterator<Item = String> + '_ {
        replay_list::pieces(self, bytes)
    }

    /// The list whose pieces were put together again.
    ///
    /// * `checksum` - [`Replay::checksum`] of the list that was sent
    ///
    /// # Errors
    /// The text is none of a list.
    pub fn received(text: &str, checksum: &str) -> Result<ReplayList, String> {
        let checksum = u64::from_str_radix(checksum, 16).map_err(|error| error.to_string())?;
        let list = replay_list::parse("list", text).map_err(|wrong| wrong.to_string())?;
        Ok(ReplayList { checksum, ..list })
    }

    /// Operations of the trace that are not in it.
    pub(crate) const fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Whether it has times.
    pub fn has_times(&self) -> bool {
        self.has_times
    }

    /// The number of files.
    pub fn files(&self) -> u32 {
        self.file_sizes.len() as u32
    }

    /// The time of its last operation, in nanoseconds.
    pub(crate) fn last_ns(&self) -> u64 {
        self.operations.last().map_or(0, |op| op.time_ns)
    }

    /// The largest power of two up to 4 KiB that divides all offsets and sizes.
    fn alignment_bytes(&self, writes_only: bool) -> u32 {
        let of = |op: &&ListedOp| match writes_only {
            true => op.kind == OpKind::Write,
            false => op.size_bytes > 0,
        };
        let bits = self.operations.iter().filter(of);
        let bits =
            bits.fold(FILE_UNIT, |bits, op| bits | op.offset_bytes | u64::from(op.size_bytes));
        1 << bits.trailing_zeros()
    }

    /// The commonest transfer sizes with their numbers, and the largest.
    pub(crate) fn transfer_sizes(&self) -> Vec<WeightedSize> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        for op in self.operations.iter().filter(|op| op.size_bytes > 0) {
            *counts.entry(op.size_bytes).or_default() += 1;
        }
        let largest = counts.last_key_value().map_or(FILE_UNIT as u32, |(size, _)| *size);
        let mut sizes: Vec<(u32, u32)> = counts.into_iter().collect();
        sizes.sort_by_key(|(size, count)| (*size != largest, u32::MAX - count));
        sizes.truncate(SIZES_LISTED);
        sizes.sort_unstable();
        if sizes.is_empty() {
            sizes.push((largest, 1));
        }
        let of = |(size, weight)| WeightedSize { size_bytes: u64::from(size), weight };
        sizes.into_iter().map(of).collect()
    }

    /// The numbers of the operations of each of `lanes` workers. Files go to the worker with the fewest
    /// operations, the busiest first.
    pub fn split(&self, lanes: u32) -> Vec<Arc<[u32]>> {
        let mut counts = vec![0u64; self.file_sizes.len()];
        for op in &self.operations {
            counts[usize::from(op.file)] += 1;
        }
        let mut order: Vec<usize> = (0..counts.len()).collect();
        order.sort_by_key(|file| u64::MAX - counts[*file]);
        let mut loads = vec![(0u64, 0u64); lanes.max(1) as usize];
        let mut lane_of = vec![0usize; counts.len()];
        for file in order {
            // Files without operations are none, so a worker without files is chosen first.
            let least = (0..loads.len()).min_by_key(|lane| (loads[*lane], *lane)).unwrap_or(0);
            lane_of[file] = least;
            loads[least].0 += counts[file];
            loads[least].1 += 1;
        }
        let mut numbers: Vec<Vec<u32>> =
            loads.iter().map(|(count, _)| Vec::with_capacity(*count as usize)).collect();
        for (number, op) in self.operations.iter().enumerate() {
            numbers[lane_of[usize::from(op.file)]].push(number as u32);
        }
        numbers.into_iter().map(Arc::from).collect()
    }
}

/// The size of each file: up to the end of its last access, at least one unit.
fn sizes_of(ends: &[u64]) -> Vec<u64> {
    let mut sizes: Vec<u64> =
        ends.iter().map(|end| end.max(&1).next_multiple_of(FILE_UNIT)).collect();
    let mut different = sizes.clone();
    different.sort_unstable();
    different.dedup();
    if different.len() > FILE_SIZES_MAX {
        for size in &mut sizes {
            let unit = ((*size).next_power_of_two() / 16).max(FILE_UNIT);
            *size = size.next_multiple_of(unit);
        }
    }
    sizes
}

/// Files of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplayFiles {
    /// Their size.
    pub file_size_bytes: u64,
    /// How many.
    pub files: u32,
}

/// What a stream replays. A stored plan has the figures; the list itself is in the file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The file of the list, as the user named it.
    pub list: String,
    /// A checksum of its text: 64 bits in hexadecimal digits.
    pub checksum: String,
    /// How many times as fast as in the trace; `None` as fast as the queue depth permits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speed: Option<f64>,
    /// Whether the list starts again after its end.
    #[serde(default)]
    pub repeat: bool,
    /// Reads, writes and fsyncs of the list.
    pub operations: [u64; 3],
    /// Bytes that they read and write.
    pub bytes: [u64; 2],
    /// Operations of the trace that are not in the list.
    #[serde(default)]
    pub left_out: u64,
    /// The time of the last operation in the trace, in nanoseconds; `None` without times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length_ns: Option<u64>,
    /// Operations that are due within the run; `None` as fast as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<u64>,
    /// The files, by size.
    pub files: Vec<ReplayFiles>,
    /// The largest power of two up to 4 KiB that divides all offsets and sizes.
    pub alignment_bytes: u32,
    /// The same for writes.
    pub write_alignment_bytes: u32,
    /// The list; empty in a plan that was stored.
    #[serde(skip)]
    source: ListSource,
}

/// A list that is compared by the checksum next to it.
#[derive(Clone, Debug, Default)]
struct ListSource(Option<Arc<ReplayList>>);

impl PartialEq for ListSource {
    fn eq(&self, _other: &ListSource) -> bool {
        true
    }
}

impl Replay {
    /// * `name` - the file of the list
    pub(crate) fn new(
        name: &str,
        list: &Arc<ReplayList>,
        speed: Option<f64>,
        repeat: bool,
    ) -> Replay {
        let (mut operations, mut bytes) = ([0; 3], [0; 2]);
        for op in list.operations() {
            operations[op.kind as usize] += 1;
            if let Some(bytes) = bytes.get_mut(op.kind as usize) {
                *bytes += u64::from(op.size_bytes);
            }
        }
        let mut files: Vec<ReplayFiles> = Vec::new();
        for size in &list.file_sizes {
            match files.last_mut().filter(|last| last.file_size_bytes == *size) {
                Some(last) => last.files += 1,
                None => files.push(ReplayFiles { file_size_bytes: *size, files: 1 }),
            }
        }
        Replay {
            list: name.to_owned(),
            checksum: format!("{:016x}", list.checksum),
            speed,
            repeat,
            operations,
            bytes,
            left_out: list.left_out,
            length_ns: list.has_times.then(|| list.last_ns()),
            due: None,
            files,
            alignment_bytes: list.alignment_bytes(false),
            write_alignment_bytes: list.alignment_bytes(true),
            source: ListSource(Some(Arc::clone(list))),
        }
    }

    /// The list; `None` in a plan that was stored.
    pub fn source(&self) -> Option<&Arc<ReplayList>> {
        self.source.0.as_ref()
    }

    /// Adds the list to a plan that was sent, if it is this one.
    pub fn attach(&mut self, list: &Arc<ReplayList>) {
        if format!("{:016x}", list.checksum) == self.checksum {
            self.source = ListSource(Some(Arc::clone(list)));
        }
    }

    /// Reads, writes and fsyncs of the list.
    pub fn operations_total(&self) -> u64 {
        self.operations.iter().sum()
    }

    /// The number of files.
    pub fn files_total(&self) -> u32 {
        self.files.iter().map(|of_size| of_size.files).sum()
    }

    /// Bytes of all files.
    pub fn file_bytes(&self) -> u64 {
        self.files.iter().map(|of_size| u64::from(of_size.files) * of_size.file_size_bytes).sum()
    }

    /// Whether writes write the data of the fill again, because they do not consist of whole stamps of
    /// the data pattern.
    pub const fn rewrites_fill(&self) -> bool {
        self.write_alignment_bytes < 512
    }

    /// Bytes per stamp of the data pattern.
    const fn tile_bytes(&self) -> u32 {
        match self.write_alignment_bytes {
            512..FILE_UNIT_U32 => 512,
            _ => FILE_UNIT_U32,
        }
    }

    /// The file sets of a stream that replays this. Their files are numbered from the first set on.
    pub(crate) fn file_sets(&self, stream: &Stream) -> Vec<FileSet> {
        let of = |of_size: &ReplayFiles| FileSet {
            stream: stream.name.clone(),
            files: of_size.files,
            file_size_bytes: of_size.file_size_bytes,
            data: stream.data,
            tile_bytes: self.tile_bytes(),
        };
        self.files.iter().map(of).collect()
    }

    /// When it has ended, in nanoseconds from its start: just after its last operation. `None` if it
    /// starts again, or has no times.
    pub(crate) fn end_ns(&self) -> Option<u64> {
        let speed = self.speed.filter(|_| !self.repeat)?;
        Some(scaled_ns(self.length_ns?, speed) + 1)
    }

    /// The period of a list that starts again: its length and a mean gap.
    fn period_ns(&self) -> Option<u64> {
        let (speed, length_ns) = (self.speed?, self.length_ns?);
        let gaps = self.operations_total().saturating_sub(1).max(1);
        let period_ns = length_ns + length_ns / gaps;
        self.repeat.then(|| scaled_ns(period_ns, speed).max(1))
    }

    /// Operations that are due before `ns` nanoseconds from its start; none without times.
    fn count_before(&self, list: &ReplayList, ns: u64) -> u64 {
        let Some(speed) = self.speed else { return 0 };
        let of_one = |ns: u64| {
            let is_due = |op: &ListedOp| scaled_ns(op.time_ns, speed) < ns;
            list.operations.partition_point(is_due) as u64
        };
        match self.period_ns() {
            Some(period_ns) => {
                (ns / period_ns) * list.operations.len() as u64 + of_one(ns % period_ns)
            }
            None => of_one(ns),
        }
    }

    /// The offered rates in a run of `total_ns` if it starts at `start_ns`: exact for each of the
    /// intervals, unless there are more than 10,000. `due` is set to the operations in them.
    pub(crate) fn set_arrival(
        &mut self,
        start_ns: u64,
        total_ns: u64,
        interval_ns: u64,
    ) -> Option<Arrival> {
        if self.speed.is_none() {
            return Some(Arrival::Closed { think_time_ns: 0 });
        }
        let list = Arc::clone(self.source()?);
        let intervals = total_ns.div_ceil(interval_ns).max(1);
        let part_ns = interval_ns * intervals.div_ceil(PARTS_MAX);
        let count = |ns: u64| self.count_before(&list, ns.saturating_sub(start_ns));
        let mut segments: Vec<Segment> = Vec::new();
        for part in 0..total_ns.div_ceil(part_ns) {
            let (from, to) = (part * part_ns, (part + 1) * part_ns);
            let rate = (count(to) - count(from)) as f64 * 1e9 / part_ns as f64;
            let rate = SegmentRate::Constant { rate };
            match segments.last_mut().filter(|last| last.rate == rate) {
                Some(last) => last.duration_ns = last.duration_ns.map(|ns| ns + part_ns),
                None => segments.push(Segment { duration_ns: Some(part_ns), rate }),
            }
        }
        segments.push(Segment { duration_ns: None, rate: SegmentRate::Constant { rate: 0.0 } });
        self.due = Some(count(total_ns));
        let schedule = RateSchedule::try_from(segments).ok()?;
        Some(Arrival::Scheduled { schedule, process: Process::Constant, part: 1.0 })
    }

    /// The share of reads in a thousand reads and writes; 0 or 1,000 only if there are none of the other
    /// kind.
    pub(crate) fn read_permille(&self) -> u16 {
        let [reads, writes, _] = self.operations;
        match (reads, writes) {
            (0, 0) => 0,
            (_, 0) => 1000,
            (0, _) => 0,
            _ => ((reads * 1000 + (reads + writes) / 2) / (reads + writes)).clamp(1, 999) as u16,
        }
    }
}

const FILE_UNIT_U32: u32 = FILE_UNIT as u32;

impl fmt::Display for Replay {
    /// As in the names of load points: `app.replay at 2x, repeated`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.list)?;
        match self.speed {
            Some(1.0) => {}
            Some(speed) => write!(f, " at {speed}x")?,
            None => f.write_str(" at max")?,
        }
        // As fast as possible, it is always repeated.
        if self.repeat && self.speed.is_some() { f.write_str(", repeated") } else { Ok(()) }
    }
}

/// A time of the trace at a speed. Exact at speed 1.
fn scaled_ns(ns: u64, speed: f64) -> u64 {
    if speed == 1.0 { ns } else { (ns as f64 / speed).round() as u64 }
}

/// The operations of one worker: a pure function of the step.
#[derive(Clone, Debug)]
pub struct LaneReplay {
    list: Arc<ReplayList>,
    /// Positions in the list.
    numbers: Arc<[u32]>,
    speed: f64,
    /// Time from one pass over the list to the next; 0 if times do not matter.
    period_ns: u64,
    repeats: bool,
}

impl LaneReplay {
    /// * `numbers` - the worker's part of [`ReplayList::split`]
    pub fn new(replay: &Replay, list: Arc<ReplayList>, numbers: Arc<[u32]>) -> LaneReplay {
        LaneReplay {
            list,
            numbers,
            speed: replay.speed.unwrap_or(1.0),
            period_ns: replay.period_ns().unwrap_or(0),
            repeats: replay.repeat || replay.speed.is_none(),
        }
    }

    /// That of worker `lane` of a stream that replays a list; `None` for other streams, and for a plan that
    /// was stored.
    pub fn of(stream: &Stream, lane: u32) -> Option<LaneReplay> {
        let replay = stream.replay.as_ref()?;
        let list = replay.source()?;
        let numbers = list.split(stream.workers).get(lane as usize)?.clone();
        Some(LaneReplay::new(replay, Arc::clone(list), numbers))
    }

    /// The pass over the list, and the position in it, of a step (from 0); `None` after the end.
    #[inline]
    fn position(&self, step: u64) -> Option<(u64, u32)> {
        let count = self.numbers.len() as u64;
        if step < count {
            return Some((0, self.numbers[step as usize]));
        }
        if !self.repeats || count == 0 {
            return None;
        }
        Some((step / count, self.numbers[(step % count) as usize]))
    }

    /// The operation of a step. After the end, which is never due, an fsync of the first file.
    #[inline]
    pub fn op(&self, step: u64) -> Op {
        let Some((pass, number)) = self.position(step) else {
            let kind = OpKind::Fsync;
            return Op { index: u64::MAX, offset_bytes: 0, size_bytes: 0, file: 0, kind };
        };
        let listed = self.list.operations[number as usize];
        Op {
            index: pass * self.list.operations.len() as u64 + u64::from(number),
            offset_bytes: listed.offset_bytes,
            size_bytes: listed.size_bytes,
            file: u32::from(listed.file),
            kind: listed.kind,
        }
    }

    /// When a step is due, in nanoseconds from the start of the replay; `u64::MAX` after its end.
    #[inline]
    pub fn due_ns(&self, step: u64) -> u64 {
        match self.position(step) {
            Some((pass, number)) => {
                let time_ns = self.list.operations[number as usize].time_ns;
                pass * self.period_ns + scaled_ns(time_ns, self.speed)
            }
            None => u64::MAX,
        }
    }
}
