//! One operation, and the stream of operations as a pure function of (seed, i).

use serde::{Deserialize, Serialize};

use crate::file_use::{FileUse, Part};
use crate::mix::Mix;
use crate::pattern::Positions;
use crate::random;
use crate::run::Stream;

/// The kind of an operation. Records store its number, so new kinds are added at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum OpKind {
    /// Reads `size_bytes` at `offset_bytes`.
    Read = 0,
    /// Writes `size_bytes` at `offset_bytes`.
    Write = 1,
    /// Makes earlier writes to the file durable.
    Fsync = 2,
    /// Creates a file that must not exist, with its content.
    Create = 3,
    /// Opens an existing file and closes it.
    Open = 4,
    /// Removes a file, a hard link or a symbolic link.
    Unlink = 5,
    /// Gives a file another name, in the same or another directory.
    Rename = 6,
    /// Creates a hard link to a file.
    Link = 7,
    /// Creates a symbolic link.
    Symlink = 8,
    /// Reads the text of a symbolic link.
    Readlink = 9,
    /// Creates a directory.
    Mkdir = 10,
    /// Removes an empty directory.
    Rmdir = 11,
    /// Lists the names in a directory.
    Readdir = 12,
    /// Lists a directory with the attributes of each name.
    Readdirplus = 13,
    /// Returns the attributes of a file (NFS: GETATTR).
    Stat = 14,
    /// Asks which kinds of access are permitted.
    Access = 15,
    /// Changes the mode or the times of a file (NFS: SETATTR).
    Setattr = 16,
    /// Cuts a file to its original size.
    Truncate = 17,
    /// Writes at the end of a file.
    Append = 18,
    /// Finds an existing name in a directory.
    Lookup = 19,
    /// Looks for a name that does not exist.
    LookupMissing = 20,
    /// Reads a file and creates another with its content.
    Copy = 21,
    /// Opens a file, reads all of it and closes it.
    ReadFile = 22,
    /// Opens an existing file, replaces its content and closes it.
    WriteFile = 23,
    /// Returns the size and the free space of the file system.
    Statfs = 24,
}

impl OpKind {
    /// All kinds, in the order of their numbers. What is stored or drawn for each kind is limited to
    /// those that occur in a stream ([`Stream::kinds`]).
    pub const ALL: [OpKind; 25] = [
        OpKind::Read,
        OpKind::Write,
        OpKind::Fsync,
        OpKind::Create,
        OpKind::Open,
        OpKind::Unlink,
        OpKind::Rename,
        OpKind::Link,
        OpKind::Symlink,
        OpKind::Readlink,
        OpKind::Mkdir,
        OpKind::Rmdir,
        OpKind::Readdir,
        OpKind::Readdirplus,
        OpKind::Stat,
        OpKind::Access,
        OpKind::Setattr,
        OpKind::Truncate,
        OpKind::Append,
        OpKind::Lookup,
        OpKind::LookupMissing,
        OpKind::Copy,
        OpKind::ReadFile,
        OpKind::WriteFile,
        OpKind::Statfs,
    ];
    /// The number of kinds.
    pub const COUNT: usize = Self::ALL.len();
    /// The kinds of streams without names. Their numbers come first.
    pub const DATA: [OpKind; 3] = [OpKind::Read, OpKind::Write, OpKind::Fsync];

    /// All kinds but fsync, which belongs to the writes before it: what the figures of a stream as a
    /// whole are about.
    pub const MAIN: [OpKind; Self::COUNT - 1] = {
        let mut main = [OpKind::Read; Self::COUNT - 1];
        let mut at = 0;
        while at < main.len() {
            main[at] = Self::ALL[if at < OpKind::Fsync as usize { at } else { at + 1 }];
            at += 1;
        }
        main
    };

    /// Numbers by kind: these for reads, writes and fsyncs, and 0 for others.
    pub const fn data_counts(counts: [u64; 3]) -> [u64; Self::COUNT] {
        let mut all = [0; Self::COUNT];
        all[OpKind::Read as usize] = counts[0];
        all[OpKind::Write as usize] = counts[1];
        all[OpKind::Fsync as usize] = counts[2];
        all
    }

    /// The kind with this number.
    pub const fn numbered(number: usize) -> Option<OpKind> {
        if number < Self::COUNT { Some(Self::ALL[number]) } else { None }
    }

    /// The kind with this name.
    pub fn named(name: &str) -> Option<OpKind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Whether operations act on a name of a tree; the others are on files at an offset.
    pub const fn is_on_names(self) -> bool {
        self as usize >= Self::DATA.len()
    }

    /// Whether operations return data of files.
    pub const fn reads_data(self) -> bool {
        matches!(self, OpKind::Read | OpKind::ReadFile | OpKind::Copy)
    }

    /// Whether operations store data in files.
    pub const fn writes_data(self) -> bool {
        matches!(
            self,
            OpKind::Write | OpKind::Create | OpKind::WriteFile | OpKind::Append | OpKind::Copy
        )
    }

    /// The name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            OpKind::Read => "read",
            OpKind::Write => "write",
            OpKind::Fsync => "fsync",
            OpKind::Create => "create",
            OpKind::Open => "open",
            OpKind::Unlink => "unlink",
            OpKind::Rename => "rename",
            OpKind::Link => "link",
            OpKind::Symlink => "symlink",
            OpKind::Readlink => "readlink",
            OpKind::Mkdir => "mkdir",
            OpKind::Rmdir => "rmdir",
            OpKind::Readdir => "readdir",
            OpKind::Readdirplus => "readdirplus",
            OpKind::Stat => "stat",
            OpKind::Access => "access",
            OpKind::Setattr => "setattr",
            OpKind::Truncate => "truncate",
            OpKind::Append => "append",
            OpKind::Lookup => "lookup",
            OpKind::LookupMissing => "lookup_missing",
            OpKind::Copy => "copy",
            OpKind::ReadFile => "read_file",
            OpKind::WriteFile => "write_file",
            OpKind::Statfs => "statfs",
        }
    }
}

/// One operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op {
    /// Its number in the stream: `i = step * lanes + lane`.
    pub index: u64,
    /// Its offset in the file.
    pub offset_bytes: u64,
    /// Bytes moved; 0 if none.
    pub size_bytes: u32,
    /// The file's number in the stream's file set; 0 for operations on names.
    pub file: u32,
    /// Its kind.
    pub kind: OpKind,
}

/// The operations of one stream: a pure function of (seed, lane, step), without state.
#[derive(Clone, Debug)]
pub struct OpStream {
    mix: Mix,
    position_seed: u64,
    lanes: u32,
    /// A cycle is this many data operations and one fsync; 0 without fsync.
    data_ops_per_fsync: u64,
    sizes: Vec<SizeClass>,
    size_weight_sum: u64,
    /// The parts that workers use; `None` if every worker uses all files.
    parts: Option<Parts>,
}

/// The files that workers use, if they do not use all of them.
#[derive(Clone, Debug)]
struct Parts {
    file_use: FileUse,
    files: u32,
    /// The part of one worker, so that it need not be computed for each of its operations.
    own: Option<(u32, Part)>,
}

/// One transfer size with its positions.
#[derive(Clone, Debug)]
struct SizeClass {
    size_bytes: u32,
    /// Sum of the weights of this class and those before it.
    weight_to_here: u64,
    /// Distance between neighbouring positions: the smallest transfer size.
    align_bytes: u64,
    positions_per_file: u64,
    one_file: bool,
    positions: Positions,
    /// The positions in parts of the files: `(files, workers)` with those of such a part.
    in_parts: Vec<((u32, u32), Positions)>,
}

impl OpStream {
    /// Prepares the stream with a run's seed. `stream.workers` is the number of lanes.
    pub fn new(stream: &Stream, seed: u64) -> OpStream {
        let seed = stream.seed(seed);
        let set = &stream.working_set;
        let align_bytes = stream.transfer_sizes.iter().map(|s| s.size_bytes).min().unwrap_or(512);
        let parts = (!stream.file_use.is_all()).then_some(Parts {
            file_use: stream.file_use,
            files: set.files,
            own: None,
        });
        let shapes = parts.as_ref().map_or_else(Vec::new, |parts| parts.shapes(stream.workers));
        let mut weight = 0;
        let sizes: Vec<SizeClass> = stream
            .transfer_sizes
            .iter()
            .map(|size| {
                weight += u64::from(size.weight);
                assert!(
                    size.size_bytes <= set.area_bytes,
                    "the plan allows only transfers that fit"
                );
                let positions_per_file = (set.area_bytes - size.size_bytes) / align_bytes + 1;
                SizeClass {
                    size_bytes: u32::try_from(size.size_bytes)
                        .expect("the plan allows below 4 GiB"),
                    weight_to_here: weight,
                    align_bytes,
                    positions_per_file,
                    one_file: set.files == 1,
                    positions: Positions::new(
                        stream.access_pattern,
                        set.files,
                        positions_per_file,
                        align_bytes,
                        stream.workers,
                    ),
                    in_parts: shapes
                        .iter()
                        .map(|(files, lanes)| {
                            let pattern = stream.access_pattern;
                            let positions = Positions::new(
                                pattern,
                                *files,
                                positions_per_file,
                                align_bytes,
                                *lanes,
                            );
                            ((*files, *lanes), positions)
                        })
                        .collect(),
                }
            })
            .collect();
        let write_permille = u64::from(1000 - stream.read_permille);
        let data_ops_per_fsync = match stream.fsync_every_writes {
            Some(writes) if write_permille > 0 => {
                (u64::from(writes) * 1000).div_ceil(write_permille)
            }
            _ => 0,
        };
        OpStream {
            mix: Mix::new(stream.read_permille, stream.workers, seed),
            position_seed: random::derive(seed, 0x9_1ACE),
            lanes: stream.workers,
            data_ops_per_fsync,
            sizes,
            size_weight_sum: weight,
            parts,
        }
    }

    /// The same stream, prepared for the operations of worker `lane`: finding its files takes divisions.
    #[must_use]
    pub fn prepared_for(mut self, lane: u32) -> OpStream {
        if let Some(parts) = &mut self.parts {
            parts.own = Some((lane, parts.file_use.part(lane, self.lanes, parts.files)));
        }
        self
    }

    /// The operation of step `step` (from 0) of worker `lane` (from 0).
    // Without calls the operation is not passed through memory, which is a fifth of the cost of an
    // operation of the null target.
    #[inline(always)]
    pub fn op(&self, lane: u32, step: u64) -> Op {
        let index = step * u64::from(self.lanes) + u64::from(lane);
        let (data_step, is_fsync) = self.data_step(step);
        let op = self.data_op(lane, data_step, index);
        if is_fsync {
            // On the file of the preceding operation.
            return Op { offset_bytes: 0, size_bytes: 0, kind: OpKind::Fsync, ..op };
        }
        op
    }

    /// The step among reads and writes; for an fsync that of the write before it, and `true`.
    #[inline]
    fn data_step(&self, step: u64) -> (u64, bool) {
        if self.data_ops_per_fsync == 0 {
            return (step, false);
        }
        let cycle = self.data_ops_per_fsync + 1;
        let (cycles, within) = (step / cycle, step % cycle);
        let data_step = cycles * self.data_ops_per_fsync + within;
        match within < self.data_ops_per_fsync {
            true => (data_step, false),
            false => (data_step - 1, true),
        }
    }

    #[inline(always)]
    fn data_op(&self, lane: u32, step: u64, index: u64) -> Op {
        let bits_of = |step: u64| {
            random::at(self.position_seed, step * u64::from(self.lanes) + u64::from(lane))
        };
        let bits = bits_of(step);
        let size = if self.sizes.len() == 1 { &self.sizes[0] } else { self.size_class(bits) };
        let (file, position_in_file) = if let Some(parts) = &self.parts {
            size.in_part(parts.of_lane(lane, self.lanes), step, bits, bits_of)
        } else {
            let position = size.positions.position(lane, step, bits, bits_of);
            if size.one_file {
                (0, position)
            } else {
                ((position / size.positions_per_file) as u32, position % size.positions_per_file)
            }
        };
        Op {
            index,
            offset_bytes: position_in_file * size.align_bytes,
            size_bytes: size.size_bytes,
            file,
            // A table avoids a branch, which would be mispredicted half the time.
            kind: [OpKind::Write, OpKind::Read][usize::from(self.mix.is_read(lane, step))],
        }
    }

    fn size_class(&self, bits: u64) -> &SizeClass {
        let draw = random::below(random::mix64(!bits), self.size_weight_sum);
        let found = self.sizes.iter().find(|class| draw < class.weight_to_here);
        found.expect("the last class ends at the sum of weights")
    }
}

impl Parts {
    #[inline]
    fn of_lane(&self, lane: u32, lanes: u32) -> Part {
        match self.own {
            Some((own, part)) if own == lane => part,
            _ => self.file_use.part(lane, lanes, self.files),
        }
    }

    /// The different shapes of parts, as `(files, workers)`.
    fn shapes(&self, lanes: u32) -> Vec<(u32, u32)> {
        let mut shapes = Vec::new();
        for lane in 0..lanes {
            let part = self.file_use.part(lane, lanes, self.files);
            let shape = (part.files, part.lanes);
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        shapes
    }
}

impl SizeClass {
    /// The file and the position in it of step `step` of a worker that uses `part`.
    #[inline(never)]
    fn in_part(
        &self,
        part: Part,
        step: u64,
        bits: u64,
        bits_of: impl Fn(u64) -> u64,
    ) -> (u32, u64) {
        let shape = (part.files, part.lanes);
        let found = self.in_parts.iter().find(|(known, _)| *known == shape);
        let (_, positions) = found.expect("every shape was prepared");
        let position = positions.position(part.lane, step, bits, bits_of);
        let index = (position / self.positions_per_file) as u32;
        (part.file(index), position % self.positions_per_file)
    }
}
