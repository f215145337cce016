//! What a worker needs to replay a list: its operations, their due times, and the data of its writes.

use std::sync::Arc;

use target::Target;
use target::nfs::Rewrite;
use workload::data::{TileFound, TileMaker};
use workload::op::{Op, OpKind};
use workload::outcome::ErrorKind;
use workload::plan::{FileSet, Stream};
use workload::random;
use workload::replay::LaneReplay;

use crate::operations::Operations;
use crate::schedule::Instants;
use crate::thread::DescribeOp;
use crate::tiles::{Generations, Mismatch, VerifiedFiles, Verifier, generation};
use crate::worker::DataPath;

/// The generation of the data that the fill writes.
const OF_FILL: u32 = 0;

impl Operations for LaneReplay {
    fn prepared_for(self, _lane: u32) -> LaneReplay {
        self
    }

    #[inline]
    fn op(&self, _lane: u32, step: u64) -> Op {
        LaneReplay::op(self, step)
    }
}

/// The due times of a worker's part of a list.
#[derive(Debug)]
pub struct ReplayInstants {
    lane: LaneReplay,
    start_ns: u64,
    step: u64,
    due_ns: u64,
}

impl ReplayInstants {
    /// With the list's time 0 at `start_ns`.
    pub fn new(lane: LaneReplay, start_ns: u64) -> ReplayInstants {
        let mut instants = ReplayInstants { lane, start_ns, step: 0, due_ns: 0 };
        instants.skip(0);
        instants
    }
}

impl Clone for ReplayInstants {
    fn clone(&self) -> ReplayInstants {
        ReplayInstants { lane: self.lane.clone(), ..*self }
    }

    /// Copies only the position: both are of one list.
    #[inline]
    fn clone_from(&mut self, source: &ReplayInstants) {
        (self.step, self.due_ns) = (source.step, source.due_ns);
    }
}

impl Instants for ReplayInstants {
    #[inline]
    fn peek_ns(&self) -> u64 {
        self.due_ns
    }

    #[inline]
    fn skip(&mut self, steps: u64) {
        self.step += steps;
        self.due_ns = self.lane.due_ns(self.step).saturating_add(self.start_ns);
    }
}

/// The data of the operations of a list: that of the file sets of its files.
///
/// Verified reads are compared by whole tiles, as those of other streams are. If the writes of the list
/// write the data of the fill again, every byte is known, and all of them are compared.
#[derive(Clone, Debug)]
pub struct ReplayData {
    sets: Arc<[ReplaySet]>,
    generation_seed: u64,
    rewrites_fill: bool,
    /// A tile of which an operation has a part.
    tile: Vec<u8>,
    verifier: Option<Verifier>,
    took_time: bool,
}

/// The files of one size.
#[derive(Debug)]
struct ReplaySet {
    /// The number of the first of them.
    first: u32,
    /// What generates their data.
    maker: TileMaker,
    /// The generations of their tiles, for verifying.
    generations: Option<Generations>,
}

impl ReplaySet {
    fn verified(&self) -> Option<VerifiedFiles<'_>> {
        let generations = self.generations.as_ref()?;
        Some(VerifiedFiles { maker: &self.maker, generations, first: self.first })
    }
}

impl ReplayData {
    /// The data of a stream that replays a list.
    pub fn new(stream: &Stream, data_seed: u64, run_seed: u64, verify: bool) -> ReplayData {
        let rewrites_fill = stream.replay.as_ref().is_some_and(|replay| replay.rewrites_fill());
        let mut first = 0;
        let set = |set: FileSet| {
            let generations = (verify && !rewrites_fill).then(|| {
                Generations::new(set.files, set.file_size_bytes, u64::from(set.tile_bytes))
            });
            let of_size = ReplaySet { first, maker: set.tile_maker(data_seed), generations };
            first += set.files;
            of_size
        };
        let sets: Arc<[ReplaySet]> = stream.file_sets().into_iter().map(set).collect();
        let tile_bytes = sets.first().map_or(0, |set| set.maker.tile_bytes());
        ReplayData {
            sets,
            generation_seed: random::derive(run_seed, 0x6E4),
            rewrites_fill,
            tile: vec![0; tile_bytes],
            verifier: None,
            took_time: false,
        }
    }

    /// Verifies the reads of a worker with `queue_depth` slots.
    #[must_use]
    pub(crate) fn verifying(
        mut self,
        queue_depth: u32,
        transfer_size_max_bytes: u64,
    ) -> ReplayData {
        let tile_bytes = self.tile.len();
        self.verifier = Some(Verifier::new(tile_bytes, queue_depth, transfer_size_max_bytes));
        self
    }

    /// A function that generates the data of an earlier write again.
    pub fn rewriting(&self) -> Rewrite {
        let data = ReplayData { verifier: None, ..self.clone() };
        Arc::new(move |op, buffer| data.clone().fill(op, buffer))
    }

    fn set_of(&self, op: &Op) -> Option<usize> {
        self.sets.partition_point(|set| set.first <= op.file).checked_sub(1)
    }

    fn fill(&mut self, op: &Op, buffer: &mut [u8]) {
        let Some(at) = self.set_of(op) else { return };
        if !self.rewrites_fill {
            let generation = generation(self.generation_seed, op);
            let set = &self.sets[at];
            return set.maker.fill(op.file - set.first, op.offset_bytes, generation, buffer);
        }
        let mut rest = buffer;
        for (offset, within, length) in parts(op.offset_bytes, rest.len(), self.tile.len()) {
            let (part, after) = rest.split_at_mut(length);
            self.make_tile(at, op.file, offset);
            part.copy_from_slice(&self.tile[within..within + length]);
            rest = after;
        }
    }

    /// The fill's tile at this offset of a file, in `tile`.
    fn make_tile(&mut self, set: usize, file: u32, offset_bytes: u64) {
        let set = &self.sets[set];
        set.maker.fill(file - set.first, offset_bytes, OF_FILL, &mut self.tile);
    }

    /// Compares a read with the data of the fill, which is all that is ever written.
    fn check_fill(&mut self, set: usize, op: &Op, data: &[u8]) -> Result<(), ErrorKind> {
        let mut verdict = Ok(());
        let mut at = 0;
        for (offset_bytes, within, length) in parts(op.offset_bytes, data.len(), self.tile.len()) {
            let found = &data[at..at + length];
            at += length;
            self.make_tile(set, op.file, offset_bytes);
            let expected = &self.tile[within..within + length];
            if found == expected {
                continue;
            }
            let wrong = found.iter().zip(expected).take_while(|(a, b)| a == b).count();
            verdict = Err(ErrorKind::Corrupt);
            let mut first_bytes = [0; 8];
            first_bytes.iter_mut().zip(found).for_each(|(first, byte)| *first = *byte);
            let mismatch = Mismatch {
                file: op.file,
                offset_bytes,
                op_index: op.index,
                expected_generation: Some(OF_FILL),
                found: TileFound::Corrupt {
                    at_byte: (within + wrong) as u32,
                    expected: expected[wrong],
                    found: found[wrong],
                },
                first_bytes,
                times: 1,
            };
            if let Some(verifier) = &mut self.verifier {
                verifier.note(mismatch);
            }
        }
        verdict
    }
}

/// The parts of tiles of `length` bytes from `offset_bytes` on: the offset of each tile, and where its part
/// begins in the tile and how long it is.
fn parts(
    offset_bytes: u64,
    length: usize,
    tile_bytes: usize,
) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset_bytes + done as u64;
        let within = (at % tile_bytes as u64) as usize;
        let part = (length - done).min(tile_bytes - within);
        done += part;
        (part > 0).then_some((at - within as u64, within, part))
    })
}

impl DataPath for ReplayData {
    const TAKES_TIME: bool = true;

    #[inline]
    fn before(&mut self, tag: u32, op: &Op, target: &mut impl Target) {
        if op.kind == OpKind::Write
            && let Some(buffer) = target.buffer(tag)
        {
            self.fill(op, &mut buffer[..op.size_bytes as usize]);
            self.took_time = true;
        }
        let set = self.verifier.is_some().then(|| self.set_of(op)).flatten();
        if let (Some(set), Some(verifier)) = (set, &mut self.verifier)
            && let Some(files) = self.sets[set].verified()
        {
            verifier.note_issue(tag, op, files);
        }
    }

    #[inline]
    fn after(&mut self, tag: u32, op: &Op, target: &mut impl Target) -> Result<(), ErrorKind> {
        if self.verifier.is_none() {
            return Ok(());
        }
        let Some(set) = self.set_of(op) else { return Ok(()) };
        match op.kind {
            OpKind::Write => {
                let generation = generation(self.generation_seed, op);
                if let Some(files) = self.sets[set].verified() {
                    Verifier::end_write(op, Some(generation), files);
                }
                Ok(())
            }
            OpKind::Read => {
                let Some(data) = target.buffer(tag) else { return Ok(()) };
                self.took_time = true;
                let data = &data[..op.size_bytes as usize];
                match (self.sets[set].verified(), &mut self.verifier) {
                    (Some(files), Some(verifier)) => verifier.check_read(tag, op, data, files),
                    _ => self.check_fill(set, op, data),
                }
            }
            _ => Ok(()),
        }
    }

    fn failed(&mut self, _tag: u32, op: &Op) {
        // It is unknown whether a failed write reached the storage.
        let set = self.verifier.is_some().then(|| self.set_of(op)).flatten();
        if let Some(files) = set.and_then(|set| self.sets[set].verified()) {
            Verifier::end_write(op, None, files);
        }
    }

    #[inline]
    fn took_time(&mut self) -> bool {
        std::mem::take(&mut self.took_time)
    }

    fn into_mismatches(self) -> Vec<Mismatch> {
        self.verifier.map(Verifier::into_mismatches).unwrap_or_default()
    }
}

/// The file sets of a stream, whose files are numbered from the first set on.
pub(crate) struct StreamFiles(pub(crate) Vec<FileSet>);

impl DescribeOp for StreamFiles {
    fn file(&self, file: u32) -> String {
        let mut index = file;
        for set in &self.0 {
            if index < set.files {
                return set.file_name(index);
            }
            index -= set.files;
        }
        format!("file {file}")
    }

    fn operation(&self, op: &Op) -> String {
        let (kind, size, offset) = (op.kind.name(), op.size_bytes, op.offset_bytes);
        format!("{kind} of {size} bytes at offset {offset} of {}", self.file(op.file))
    }
}
