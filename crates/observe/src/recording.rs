//! The operations of a trace in order, as a list that a stream can replay.
//!
//! The text of a list is described in `docs/reference/observe.md`. Not for: reading it (`workload`).

use std::collections::BTreeMap;
use std::io::{self, Write};

use crate::error::Position;
use crate::files::FileId;
use crate::observation::{Direction, Note, Observation};

/// The most operations of a list.
pub const OPERATIONS_MAX: usize = 10_000_000;
/// The largest operation of a list. Larger ones are written as several.
const SIZE_MAX: u64 = 64 << 20;

/// What an operation of a list does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// It reads or writes.
    Data { direction: Direction, offset_bytes: u64, size_bytes: u64 },
    /// It makes the file's data durable.
    Sync,
}

/// An operation of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Recorded {
    begin_ns: Option<u64>,
    file: FileId,
    action: Action,
}

/// The operations so far.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    operations: Vec<Recorded>,
    /// Calls that make data durable, by their name in the trace.
    syncs: BTreeMap<String, u64>,
    last_ns: Option<u64>,
    /// The first operation that began before one which was recorded earlier.
    pub(crate) out_of_order: Option<Position>,
    /// The first operation beyond those that are kept.
    pub(crate) beyond: Option<Position>,
}

impl Recorder {
    pub(crate) fn add(
        &mut self,
        begin_ns: Option<u64>,
        file: FileId,
        action: Action,
        at: Position,
    ) {
        if begin_ns < self.last_ns && begin_ns.is_some() {
            self.out_of_order.get_or_insert(at);
        }
        if self.operations.len() >= OPERATIONS_MAX {
            self.beyond.get_or_insert(at);
            return;
        }
        self.last_ns = self.last_ns.max(begin_ns);
        self.operations.push(Recorded { begin_ns, file, action });
    }

    pub(crate) fn count_sync(&mut self, name: &str) {
        *self.syncs.entry(name.to_owned()).or_default() += 1;
    }

    /// The list.
    ///
    /// * `names` - the name of each file
    pub(crate) fn finish(self, names: &[String], observation: &Observation) -> Recording {
        let mut numbers: BTreeMap<FileId, usize> = BTreeMap::new();
        let mut files = Vec::new();
        for operation in &self.operations {
            numbers.entry(operation.file).or_insert_with(|| {
                files.push(names.get(operation.file as usize).cloned().unwrap_or_default());
                files.len() - 1
            });
        }
        let has_times = self.operations.iter().all(|operation| operation.begin_ns.is_some());
        Recording {
            left_out: left_out(&self.syncs, observation),
            operations: self.operations,
            numbers,
            files,
            has_times,
        }
    }
}

/// Operations of a trace that a list does not have, by name.
fn left_out(syncs: &BTreeMap<String, u64>, observation: &Observation) -> Vec<(String, u64)> {
    let others = observation.others.iter().map(|other| {
        let listed = syncs.get(&other.name).copied().unwrap_or(0);
        (other.name.clone(), other.operations.saturating_sub(listed))
    });
    let failed = ["failed read", "failed write"].into_iter().zip(&observation.data);
    let failed = failed.map(|(name, data)| (name.to_owned(), data.failed));
    let noted = observation.notes.iter().filter_map(|note| match note {
        Note::Damaged { count, .. } => Some(("damaged record".to_owned(), *count)),
        Note::EndOfFile { reads } => Some(("read at the end of a file".to_owned(), *reads)),
        Note::NotVisible { call, calls } => Some(((*call).to_owned(), *calls)),
        Note::Nameless { operations } => Some(("operation without a name".to_owned(), *operations)),
        Note::TooManyFiles { operations, .. } => {
            Some(("operation on a further file".to_owned(), *operations))
        }
        Note::Unanswered { calls } => Some(("call without an end".to_owned(), *calls)),
        Note::OtherNfs { calls } => Some(("call of another NFS version".to_owned(), *calls)),
        _ => None,
    });
    others.chain(failed).chain(noted).filter(|(_, count)| *count > 0).collect()
}

/// The operations of a trace, in the order of their begins.
#[derive(Debug)]
pub struct Recording {
    operations: Vec<Recorded>,
    numbers: BTreeMap<FileId, usize>,
    files: Vec<String>,
    /// Whether every operation has a time.
    pub has_times: bool,
    /// Operations of the trace that are not in the list, by their name.
    pub left_out: Vec<(String, u64)>,
}

impl Recording {
    /// Operations of the list.
    pub fn operations(&self) -> u64 {
        self.operations.len() as u64
    }

    /// Files of the list.
    pub fn files(&self) -> u64 {
        self.files.len() as u64
    }

    /// From the first begin to the last, in nanoseconds; `None` without times.
    pub fn length_ns(&self) -> Option<u64> {
        let (first, last) = (self.operations.first()?, self.operations.last()?);
        Some(last.begin_ns?.saturating_sub(first.begin_ns?)).filter(|_| self.has_times)
    }

    /// Writes the list.
    ///
    /// * `source` - the trace, for a comment
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, source: &str, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "fourcorners replay 1")?;
        writeln!(out, "# {}", one_line(source))?;
        for (number, name) in self.files.iter().enumerate() {
            writeln!(out, "file {number} {}", one_line(name))?;
        }
        for (name, count) in &self.left_out {
            writeln!(out, "left-out {count} {}", one_line(name))?;
        }
        let mut count = 0u64;
        let first_ns = self.operations.first().and_then(|first| first.begin_ns).unwrap_or(0);
        for Recorded { begin_ns, file, action } in &self.operations {
            let file = self.numbers.get(file).copied().unwrap_or(0);
            let time = begin_ns.filter(|_| self.has_times).map(|ns| ns.saturating_sub(first_ns));
            let time = time.map_or_else(|| "-".to_owned(), |ns| ns.to_string());
            match *action {
                Action::Sync => {
                    writeln!(out, "{time} fsync {file}")?;
                    count += 1;
                }
                Action::Data { direction, offset_bytes, size_bytes } => {
                    let kind = if direction == Direction::Read { "read" } else { "write" };
                    let (mut offset, mut rest) = (offset_bytes, size_bytes);
                    while rest > 0 {
                        let size = rest.min(SIZE_MAX);
                        writeln!(out, "{time} {kind} {file} {offset} {size}")?;
                        (offset, rest) = (offset + size, rest - size);
                        count += 1;
                    }
                }
            }
        }
        writeln!(out, "end {count}")
    }
}

/// A name without the ends of lines that it may have.
fn one_line(name: &str) -> String {
    name.chars().map(|c| if c.is_control() { '?' } else { c }).collect()
}
