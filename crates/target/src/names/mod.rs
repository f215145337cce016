//! Operations on names of a tree: what the kinds of targets share.
//!
//! Which operation has which number is a pure function ([`workload::names`]). A target gets the number
//! and computes the names itself; the engine prepares what is written in the buffer of the operation
//! ([`content`]). The tree is made, checked and removed by [`crate::tree`].

pub mod content;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use workload::names::{NameOp, NameStream};
use workload::op::{Op, OpKind};
use workload::plan::Stream;

use self::content::{ContentMaker, WrongByte};
use crate::nfs::names::NfsNameAccess;
use crate::null::Null;
use crate::posix::names::{PsyncNames, RingNames};
use crate::tree::RequiredTree;
use crate::{Completion, Target, TargetError, Wait};

/// Largest part of a file that is moved with one request. Larger files are moved in parts, so that
/// memory does not depend on their size.
pub const PART_BYTES_MAX: u64 = 1 << 20;
/// Smallest buffer of an operation: listings of directories are read into it too.
const PART_BYTES_MIN: u64 = 32 << 10;

/// What a worker's operations on names need.
#[derive(Clone)]
pub struct NameWork {
    /// The operations of the worker's stream on its target.
    pub stream: Arc<NameStream>,
    /// The content of files.
    pub content: Arc<ContentMaker>,
    /// The name of the tree in our directory.
    pub tree: String,
    /// The kinds of operations that occur.
    pub kinds: Vec<OpKind>,
    /// The largest file that an operation creates or replaces, and the largest append, in bytes.
    pub content_bytes_max: u64,
    /// What is read of a file is compared with its content.
    pub verify: bool,
}

impl NameWork {
    /// What the operations of `stream` need; `None` if they are not on names. With `verify` what they read
    /// is compared with what the files must contain.
    pub fn of(stream: &Stream, run_seed: u64, data_seed: u64, verify: bool) -> Option<NameWork> {
        let tree = RequiredTree::of(stream)?;
        let append_bytes = u64::from(tree.load.append_bytes);
        Some(NameWork {
            stream: Arc::new(NameStream::new(stream, run_seed, data_seed)?),
            content: Arc::new(tree.content(data_seed)),
            tree: tree.name(data_seed),
            kinds: stream.kinds(),
            content_bytes_max: tree.load.tree.sizes.max_bytes().max(append_bytes),
            verify,
        })
    }

    /// Bytes of the buffer of an operation.
    pub fn part_bytes(&self) -> u64 {
        self.content_bytes_max.clamp(PART_BYTES_MIN, PART_BYTES_MAX).next_multiple_of(4096)
    }
}

impl NameWork {
    /// Verifies a part of a file that is about to leave the buffer; the engine verifies the last part.
    /// This takes time of the operation, as generating further parts does.
    pub(crate) fn verify_part(
        &self,
        op: &NameOp,
        offset_bytes: u64,
        data: &[u8],
        wrong: &mut Option<WrongByte>,
    ) {
        let is_last = offset_bytes + data.len() as u64 >= u64::from(op.size_bytes);
        if self.verify && op.kind == OpKind::ReadFile && !is_last && wrong.is_none() {
            *wrong = self.content.find_wrong(op.content, offset_bytes, data);
        }
    }
}

impl fmt::Debug for NameWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NameWork").field("tree", &self.tree).finish_non_exhaustive()
    }
}

/// Names of a tree in a directory.
#[derive(Clone, Debug)]
pub struct NameAccess {
    /// The path of the tree.
    pub root: PathBuf,
    /// What the operations need.
    pub work: NameWork,
    /// Directories that the worker may keep open.
    pub open_directories: usize,
}

/// What a worker's thread needs to open its target for operations on names.
#[derive(Clone, Debug)]
pub enum NameOpener {
    /// The null target.
    Null,
    /// A directory, through blocking calls.
    Psync(NameAccess),
    /// A directory, through io_uring.
    Ring(NameAccess),
    /// An NFS export.
    Nfs(Box<NfsNameAccess>),
}

impl NameOpener {
    /// The number of connections that the worker opens.
    pub fn connections(&self) -> usize {
        match self {
            NameOpener::Nfs(access) => access.connections(),
            NameOpener::Null | NameOpener::Psync(_) | NameOpener::Ring(_) => 0,
        }
    }

    /// Opens the target for `queue_depth` operations, in the thread that will use it.
    ///
    /// # Errors
    /// The target cannot be opened.
    pub fn open(&self, queue_depth: u32) -> Result<NameTarget, TargetError> {
        Ok(NameTarget(match self {
            NameOpener::Null => Box::new(Null::new(queue_depth)),
            NameOpener::Psync(access) => Box::new(PsyncNames::open(access)?),
            NameOpener::Ring(access) => Box::new(RingNames::open(access, queue_depth)?),
            NameOpener::Nfs(access) => access.open(queue_depth)?,
        }))
    }
}

/// An open target for operations on names. A trait object, because a virtual call is a thousandth of
/// an operation on names, and the loop around each kind of target takes long to compile.
pub struct NameTarget(Box<dyn Target>);

impl fmt::Debug for NameTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NameTarget")
    }
}

impl Target for NameTarget {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        self.0.submit(tag, op)
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        self.0.reap(wait, done)
    }

    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        self.0.buffer(tag)
    }

    fn wrong_byte(&mut self, tag: u32) -> Option<WrongByte> {
        self.0.wrong_byte(tag)
    }

    fn batch(&self) -> usize {
        self.0.batch()
    }

    fn faults(&self) -> Vec<crate::Fault> {
        self.0.faults()
    }

    fn is_unresponsive(&self) -> bool {
        self.0.is_unresponsive()
    }

    fn connections(&mut self) -> &[workload::connection::ConnectionCounters] {
        self.0.connections()
    }
}

/// Whether operations of this kind write the content of a file that the engine prepares.
pub const fn writes_content(kind: OpKind) -> bool {
    matches!(kind, OpKind::Create | OpKind::WriteFile | OpKind::Append)
}
