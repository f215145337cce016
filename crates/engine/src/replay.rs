//! What a worker needs to replay a list: its operations, their due times, and the data of its writes.

use std::sync::Arc;

use target::Target;
use target::nfs::Rewrite;
use workload::data::TileMaker;
use workload::op::{Op, OpKind};
use workload::outcome::ErrorKind;
use workload::plan::{FileSet, Stream};
use workload::random;
use workload::replay::LaneReplay;

use crate::operations::Operations;
use crate::schedule::Instants;
use crate::thread::DescribeOp;
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

/// The data of the writes of a list: that of the file sets of its files.
#[derive(Clone, Debug)]
pub struct ReplayData {
    /// The first file of each set, with what generates its data.
    makers: Arc<[(u32, TileMaker)]>,
    generation_seed: u64,
    rewrites_fill: bool,
    /// A tile of which a write has a part.
    tile: Vec<u8>,
    took_time: bool,
}

impl ReplayData {
    /// The data of a stream that replays a list.
    pub fn new(stream: &Stream, data_seed: u64, run_seed: u64) -> ReplayData {
        let mut first = 0;
        let maker = |set: FileSet| {
            let maker = (first, set.tile_maker(data_seed));
            first += set.files;
            maker
        };
        let makers: Arc<[_]> = stream.file_sets().into_iter().map(maker).collect();
        let tile_bytes = makers.first().map_or(0, |(_, maker)| maker.tile_bytes());
        ReplayData {
            makers,
            generation_seed: random::derive(run_seed, 0x6E4),
            rewrites_fill: stream.replay.as_ref().is_some_and(|replay| replay.rewrites_fill()),
            tile: vec![0; tile_bytes],
            took_time: false,
        }
    }

    /// A function that generates the data of an earlier write again.
    pub fn rewriting(&self) -> Rewrite {
        let data = self.clone();
        Arc::new(move |op, buffer| data.clone().fill(op, buffer))
    }

    fn fill(&mut self, op: &Op, buffer: &mut [u8]) {
        let at = self.makers.partition_point(|(first, _)| *first <= op.file).saturating_sub(1);
        let Some((first, maker)) = self.makers.get(at) else { return };
        let file = op.file - first;
        if !self.rewrites_fill {
            let generation = (random::at(self.generation_seed, op.index) as u32) | 1;
            return maker.fill(file, op.offset_bytes, generation, buffer);
        }
        let tile_bytes = self.tile.len();
        let (mut offset, mut rest) = (op.offset_bytes, buffer);
        while !rest.is_empty() {
            let within = (offset % tile_bytes as u64) as usize;
            let (part, after) = rest.split_at_mut(rest.len().min(tile_bytes - within));
            maker.fill(file, offset - within as u64, OF_FILL, &mut self.tile);
            part.copy_from_slice(&self.tile[within..within + part.len()]);
            offset += part.len() as u64;
            rest = after;
        }
    }
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
    }

    #[inline]
    fn after(&mut self, _: u32, _: &Op, _: &mut impl Target) -> Result<(), ErrorKind> {
        Ok(())
    }

    fn failed(&mut self, _tag: u32, _op: &Op) {}

    #[inline]
    fn took_time(&mut self) -> bool {
        std::mem::take(&mut self.took_time)
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
