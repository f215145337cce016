//! Computes the figures of an observation from the operations that a reader finds.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::blocks::{Blocks, hottest_tenth_uniform};
use crate::error::{Error, Position, PositionUnit};
use crate::files::{FILES_MAX, FileId, Files};
use crate::flight::InFlight;
use crate::observation::{
    BLOCK_BYTES, Damage, DataFigures, Direction, FileFigures, Note, Observation, OtherFigures,
    RunFigures, Source, WorkingSet,
};
use crate::rate::Begins;
use crate::recording::{Action, Recorder, Recording};
use crate::response::Times;
use crate::runs::Step;
use crate::sizes::Sizes;

/// Operations that are sorted by their begin. Traces are in the order of ends.
const WINDOW: usize = 1 << 16;
/// Names of other operations that are kept apart.
const NAMES_MAX: usize = 1024;
/// The largest size of an operation.
const SIZE_MAX: u64 = 4 << 30;
/// The largest end of an operation.
const END_MAX: u64 = 1 << 60;

/// A read or write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operation {
    pub(crate) direction: Direction,
    pub(crate) file: FileId,
    pub(crate) offset_bytes: u64,
    /// Above 0.
    pub(crate) size_bytes: u64,
    pub(crate) begin_ns: Option<u64>,
    pub(crate) end_ns: Option<u64>,
    pub(crate) is_direct: Option<bool>,
    pub(crate) is_durable: Option<bool>,
}

/// An operation that waits for its turn in the order of begins.
#[derive(Clone, Copy, Debug)]
enum Waiting {
    Data(Operation, Position),
    /// A call that makes the data of a file durable, which only a recording has.
    Sync(FileId, u64, Position),
}

/// Reads or writes so far.
#[derive(Debug, Default)]
struct Data {
    operations: u64,
    bytes: u64,
    failed: u64,
    sizes: Sizes,
    times: Times,
    direct: Option<u64>,
    durable: Option<u64>,
}

/// Operations of one name that neither read nor write, so far.
#[derive(Debug, Default)]
struct Other {
    operations: u64,
    failed: u64,
    times: Times,
}

/// The figures so far.
#[derive(Debug)]
pub(crate) struct Observer {
    under: Option<String>,
    files: Files,
    /// Operations by begin; the second number keeps the order of the trace among equals.
    waiting: BTreeMap<(u64, u64), Waiting>,
    added: u64,
    data: [Data; 2],
    others: BTreeMap<String, Other>,
    runs: RunFigures,
    blocks: Blocks,
    begins: Begins,
    last_end_ns: u64,
    flight: InFlight,
    without_begin: u64,
    without_end: u64,
    unsorted: u64,
    outside: u64,
    nameless: u64,
    over_files: u64,
    end_of_file: u64,
    damaged: Option<(u64, Position, Damage)>,
    notes: Vec<Note>,
    /// A file outside the requested path.
    example: Option<String>,
    /// The operations, if they are recorded.
    recorder: Option<Recorder>,
}

impl Observer {
    /// * `under` - only files at or below this path
    pub(crate) fn new(under: Option<String>) -> Observer {
        let under = under.map(|path| match path.trim_end_matches('/') {
            "" => path,
            trimmed => trimmed.to_owned(),
        });
        Observer {
            under,
            files: Files::default(),
            waiting: BTreeMap::new(),
            added: 0,
            data: Default::default(),
            others: BTreeMap::new(),
            runs: RunFigures::default(),
            blocks: Blocks::default(),
            begins: Begins::default(),
            last_end_ns: 0,
            flight: InFlight::default(),
            without_begin: 0,
            without_end: 0,
            unsorted: 0,
            outside: 0,
            nameless: 0,
            over_files: 0,
            end_of_file: 0,
            damaged: None,
            notes: Vec::new(),
            example: None,
            recorder: None,
        }
    }

    /// Records every operation.
    #[must_use]
    pub(crate) fn recording(mut self) -> Observer {
        self.recorder = Some(Recorder::default());
        self
    }

    /// The resolution of the trace's times, which may make operations overlap that do not.
    pub(crate) fn set_resolution_ns(&mut self, resolution_ns: u64) {
        self.flight.set_resolution_ns(resolution_ns);
    }

    /// Whether only some files are observed.
    pub(crate) fn is_restricted(&self) -> bool {
        self.under.is_some()
    }

    /// Whether a path is at or below the requested one.
    pub(crate) fn includes(&self, path: &str) -> bool {
        let Some(under) = &self.under else { return true };
        match path.strip_prefix(under.as_str()) {
            Some(rest) => rest.is_empty() || rest.starts_with('/') || under == "/",
            None => false,
        }
    }

    /// The file with this path, for a read or write; `None` if it is not observed, which is counted.
    pub(crate) fn file(&mut self, path: &str) -> Option<FileId> {
        if !self.includes(path) {
            self.outside += 1;
            self.example.get_or_insert_with(|| path.to_owned());
            return None;
        }
        self.counted_file(path.as_bytes(), || path.to_owned())
    }

    /// The file with this key, whose path may not be known, for a read or write.
    pub(crate) fn file_by_key(&mut self, key: &[u8], path: Option<&str>) -> Option<FileId> {
        match path {
            Some(path) if !self.includes(path) => {
                self.outside += 1;
                self.example.get_or_insert_with(|| path.to_owned());
                None
            }
            None if self.is_restricted() => {
                self.nameless += 1;
                None
            }
            _ => self.counted_file(key, || path.map_or_else(|| handle_name(key), str::to_owned)),
        }
    }

    fn counted_file(&mut self, key: &[u8], name: impl FnOnce() -> String) -> Option<FileId> {
        let id = self.files.id(key, name);
        self.over_files += u64::from(id.is_none());
        id
    }

    /// A file has at least this size.
    pub(crate) fn file_size(&mut self, file: FileId, bytes: u64) {
        if let Some(file) = self.files.get(file).filter(|_| bytes <= END_MAX) {
            file.size_bytes = file.size_bytes.max(bytes);
        }
    }

    /// The file with this path, which may not be read or written, has at least this size.
    pub(crate) fn known_size(&mut self, path: &str, bytes: u64) {
        if let Some(file) = self.files.id(path.as_bytes(), || path.to_owned()) {
            self.file_size(file, bytes);
        }
    }

    /// The known size of a file.
    pub(crate) fn size_of(&mut self, file: FileId) -> u64 {
        self.files.get(file).map_or(0, |file| file.size_bytes)
    }

    /// An operation that is neither a read nor a write.
    pub(crate) fn other(&mut self, name: &str) {
        if !self.others.contains_key(name) && self.others.len() < NAMES_MAX {
            self.others.insert(name.to_owned(), Other::default());
        }
        if let Some(other) = self.others.get_mut(name) {
            other.operations += 1;
        }
    }

    /// An operation failed which [`Observer::other`] has counted.
    pub(crate) fn other_failed(&mut self, name: &str) {
        if let Some(other) = self.others.get_mut(name) {
            other.failed += 1;
        }
    }

    /// The time that an operation took which [`Observer::other`] has counted.
    pub(crate) fn other_response(&mut self, name: &str, response_ns: u64) {
        if let Some(other) = self.others.get_mut(name) {
            other.times.add(response_ns);
        }
    }

    /// A read or write that failed.
    pub(crate) fn failed(&mut self, direction: Direction) {
        self.data[direction.index()].failed += 1;
    }

    /// A read that returned nothing.
    pub(crate) fn end_of_file(&mut self) {
        self.end_of_file += 1;
    }

    /// A record that cannot be read.
    pub(crate) fn damaged(&mut self, at: Position, why: Damage) {
        self.damaged.get_or_insert((0, at, why)).0 += 1;
    }

    /// Something to know of the figures.
    pub(crate) fn note(&mut self, note: Note) {
        self.notes.push(note);
    }

    /// Adds a read or write, which is counted as damaged if it cannot be one.
    pub(crate) fn data(&mut self, operation: Operation, at: Position) {
        let end = operation.offset_bytes.checked_add(operation.size_bytes);
        if operation.size_bytes > SIZE_MAX || end.is_none_or(|end| end > END_MAX) {
            return self.damaged(at, Damage::TooLarge);
        }
        let Some(begin_ns) = operation.begin_ns else {
            self.without_begin += 1;
            return self.take(Waiting::Data(operation, at));
        };
        self.wait(begin_ns, Waiting::Data(operation, at));
    }

    /// Records a call that makes the data of a file durable, which [`Observer::other`] has counted.
    pub(crate) fn sync(
        &mut self,
        name: &str,
        key: &[u8],
        path: Option<&str>,
        begin_ns: Option<u64>,
        at: Position,
    ) {
        let is_included = match path {
            Some(path) => self.includes(path),
            None => !self.is_restricted(),
        };
        let Some(recorder) = self.recorder.as_mut().filter(|_| is_included) else { return };
        let name_of_file = || path.map_or_else(|| handle_name(key), str::to_owned);
        let Some(file) = self.files.id(key, name_of_file) else { return };
        recorder.count_sync(name);
        match begin_ns {
            Some(begin_ns) => self.wait(begin_ns, Waiting::Sync(file, begin_ns, at)),
            None => recorder.add(None, file, Action::Sync, at),
        }
    }

    fn wait(&mut self, begin_ns: u64, waiting: Waiting) {
        self.added += 1;
        self.waiting.insert((begin_ns, self.added), waiting);
        if self.waiting.len() > WINDOW {
            self.take_first();
        }
    }

    fn take_first(&mut self) {
        if let Some((_, waiting)) = self.waiting.pop_first() {
            self.take(waiting);
        }
    }

    /// Counts and records an operation whose turn it is.
    fn take(&mut self, waiting: Waiting) {
        let (begin_ns, file, action, at) = match waiting {
            Waiting::Data(operation, at) => {
                let Operation { direction, offset_bytes, size_bytes, .. } = operation;
                self.count(operation);
                let action = Action::Data { direction, offset_bytes, size_bytes };
                (operation.begin_ns, operation.file, action, at)
            }
            Waiting::Sync(file, begin_ns, at) => (Some(begin_ns), file, Action::Sync, at),
        };
        if let Some(recorder) = &mut self.recorder {
            recorder.add(begin_ns, file, action, at);
        }
    }

    /// Counts an operation, in the order of begins.
    fn count(&mut self, operation: Operation) {
        let Operation { direction, file: id, offset_bytes: offset, size_bytes: size, .. } =
            operation;
        let end = offset + size;
        let Some(file) = self.files.get(id) else { return };
        file.size_bytes = file.size_bytes.max(end);
        self.runs.by_chance += file.runs.decoys_hit(offset, end);
        let Step { continues, joined, grown } = file.runs.add(direction, offset, end);
        self.runs.single += u64::from(!continues);
        self.runs.single = self.runs.single.saturating_sub(grown);
        match continues {
            true => file.sequential += 1,
            false => file.random += 1,
        }
        if joined.is_some() {
            file.sequential += 1;
            file.random = file.random.saturating_sub(1);
        }
        self.runs.sequential += u64::from(continues) + u64::from(joined.is_some());
        if let Some((direction, size)) = joined {
            self.data[direction.index()].sizes.joined(size);
        }
        let data = &mut self.data[direction.index()];
        data.operations += 1;
        data.bytes = data.bytes.saturating_add(size);
        data.sizes.add(size, continues);
        if let Some(is_direct) = operation.is_direct {
            *data.direct.get_or_insert(0) += u64::from(is_direct);
        }
        if let Some(is_durable) = operation.is_durable {
            *data.durable.get_or_insert(0) += u64::from(is_durable);
        }
        for block in offset / BLOCK_BYTES..=(end - 1) / BLOCK_BYTES {
            self.blocks.touch(id, block);
        }
        self.count_times(operation);
    }

    fn count_times(&mut self, operation: Operation) {
        let Some(begin_ns) = operation.begin_ns else { return };
        self.unsorted += u64::from(begin_ns < self.begins.last_ns());
        self.begins.add(begin_ns);
        match operation.end_ns {
            Some(end_ns) => {
                self.flight.add(begin_ns, end_ns);
                self.last_end_ns = self.last_end_ns.max(end_ns);
                let times = &mut self.data[operation.direction.index()].times;
                times.add(end_ns.saturating_sub(begin_ns));
            }
            None => self.without_end += 1,
        }
    }

    /// The figures of the whole trace, and the recording that was requested.
    pub(crate) fn finish_with_recording(
        mut self,
        source: Source,
    ) -> Result<(Observation, Recording), Error> {
        self.take_all();
        let recorder = self.recorder.take().unwrap_or_default();
        let names: Vec<String> = self.files.all.iter().map(|file| file.name.clone()).collect();
        if let Some(at) = recorder.out_of_order {
            return Err(Error::OutOfOrder { at });
        }
        if let Some(at) = recorder.beyond {
            return Err(Error::TooManyOperations { at });
        }
        let observation = self.finish(source)?;
        let recording = recorder.finish(&names, &observation);
        Ok((observation, recording))
    }

    fn take_all(&mut self) {
        while !self.waiting.is_empty() {
            self.take_first();
        }
    }

    /// The figures of the whole trace.
    pub(crate) fn finish(mut self, source: Source) -> Result<Observation, Error> {
        self.take_all();
        if self.data.iter().all(|data| data.operations == 0) {
            return Err(self.nothing(&source));
        }
        self.add_notes();
        let total: u64 = self.data.iter().map(|data| data.operations).sum();
        let last_ns = self.begins.last_ns().max(self.last_end_ns);
        let duration = self.begins.first_ns().map(|first| last_ns.saturating_sub(first));
        let has_ends = self.without_end == 0 && self.without_begin == 0;
        let others = self.others.into_iter().map(|(name, other)| OtherFigures {
            name,
            operations: other.operations,
            failed: other.failed,
            response: other.times.figures(),
        });
        let mut others: Vec<OtherFigures> = others.collect();
        others.sort_by_key(|other| Reverse(other.operations));
        Ok(Observation {
            source,
            under: self.under,
            duration_ns: duration.filter(|ns| *ns > 0),
            data: self.data.map(figures),
            others,
            runs: RunFigures { runs: total - self.runs.sequential, ..self.runs },
            working_set: working_set(&self.blocks, self.files),
            arrival: self.begins.arrival(),
            concurrency: has_ends.then(|| self.flight.concurrency()).flatten(),
            notes: self.notes,
        })
    }

    fn nothing(self, source: &Source) -> Error {
        match (self.under, self.example) {
            (Some(under), Some(example)) => {
                Error::NothingUnder { under, known: format!("a file that is: `{example}`") }
            }
            (Some(under), None) if self.nameless > 0 => Error::NothingUnder {
                under,
                known: "the names of its files are not in the trace; leave out --under".to_owned(),
            },
            _ => Error::NoOperations {
                records: match (unit_of(source), source.records) {
                    (PositionUnit::Line, 1) => "1 line".to_owned(),
                    (PositionUnit::Line, many) => format!("{many} lines"),
                    (PositionUnit::Packet, 1) => "1 packet".to_owned(),
                    (PositionUnit::Packet, many) => format!("{many} packets"),
                },
                damaged: self.damaged.map_or(0, |(count, ..)| count),
            },
        }
    }

    fn add_notes(&mut self) {
        let timed = self.begins.first_ns().is_some();
        let damaged = self.damaged.map(|(count, first, why)| Note::Damaged { count, first, why });
        let rounded = self.data.iter().map(|data| data.sizes.rounded).sum();
        let some = |count: u64, note: Note| (count > 0).then_some(note);
        let operations = self.unsorted;
        let found = [
            damaged,
            (!timed).then_some(Note::NoTimes),
            some(
                if timed { self.without_end + self.without_begin } else { 0 },
                Note::NoEnds { operations: self.without_end + self.without_begin },
            ),
            some(self.unsorted, Note::Unsorted { operations }),
            some(self.end_of_file, Note::EndOfFile { reads: self.end_of_file }),
            some(self.outside, Note::Outside { operations: self.outside }),
            some(self.nameless, Note::Nameless { operations: self.nameless }),
            some(
                self.over_files,
                Note::TooManyFiles { operations: self.over_files, files_max: FILES_MAX },
            ),
            some(rounded, Note::RoundedSizes { operations: rounded }),
        ];
        self.notes.splice(0..0, found.into_iter().flatten());
    }
}

/// What the records of a trace are.
fn unit_of(source: &Source) -> PositionUnit {
    match source.format {
        crate::Format::Capture => PositionUnit::Packet,
        crate::Format::Iolog | crate::Format::Strace | crate::Format::Blktrace => {
            PositionUnit::Line
        }
    }
}

/// A name for a file with a handle only.
fn handle_name(handle: &[u8]) -> String {
    let hex: String = handle.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("handle {hex}")
}

fn figures(data: Data) -> DataFigures {
    DataFigures {
        operations: data.operations,
        bytes: data.bytes,
        failed: data.failed,
        sizes: data.sizes.counted(),
        response: data.times.figures(),
        direct: data.direct,
        durable: data.durable,
    }
}

fn working_set(blocks: &Blocks, files: Files) -> WorkingSet {
    let of = |file: crate::files::File| FileFigures {
        name: file.name,
        size_bytes: file.size_bytes,
        sequential: file.sequential,
        random: file.random,
    };
    let used = files.all.into_iter().filter(|file| file.sequential + file.random > 0);
    let mut files: Vec<FileFigures> = used.map(of).collect();
    files.sort_by_key(|file| Reverse(file.sequential + file.random));
    let mean = blocks.mean_accesses();
    WorkingSet {
        touched_bytes: blocks.distinct().saturating_mul(BLOCK_BYTES),
        touched_error: blocks.error(),
        accesses_per_block: mean,
        hottest_tenth: blocks.hottest_tenth(),
        hottest_tenth_uniform: hottest_tenth_uniform(mean),
        files,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_below_another_by_whole_names() {
        let observer = Observer::new(Some("/data/db/".to_owned()));
        assert!(observer.includes("/data/db") && observer.includes("/data/db/f1"));
        assert!(!observer.includes("/data/dbs") && !observer.includes("/data"));
        assert!(Observer::new(Some("/".to_owned())).includes("/x"));
        assert!(Observer::new(None).includes("relative"));
    }
}
