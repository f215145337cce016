//! Operations on names through io_uring, where it has them; the others through helper threads.
//!
//! A file whose content fits into one part is opened, moved and closed with one chain of requests.
//! Larger files are moved in parts, one request after the other.

use rustix::io::Errno;
use uring::names::{EntryName, NameRing, OpenFor, Part};
use workload::names::{Name, NameOp};
use workload::op::{Op, OpKind};

use super::call_threads::Helpers;
use super::calls::{directory_path, path_room};
use super::directories::{Directories, Held};
use crate::names::content::WrongByte;
use crate::names::{NameAccess, NameWork, writes_content};
use crate::{Completion, Target, TargetError, Wait, slot_buffers};

/// An outstanding operation.
#[derive(Clone, Copy, Debug)]
struct Operation {
    op: NameOp,
    held: [Option<Held>; 2],
    /// Its requests are sent one after the other.
    in_parts: bool,
    /// Bytes moved.
    done_bytes: u32,
    /// Those of them before the part that is in the buffer.
    before_part_bytes: u32,
    /// The first failure, as a negative error number.
    failure: i32,
}

/// The names of a tree through one ring.
#[derive(Debug)]
pub struct RingNames {
    ring: NameRing,
    state: State,
    helpers: Option<Helpers>,
}

/// What the ring's completions change.
#[derive(Debug)]
struct State {
    work: NameWork,
    directories: Directories,
    path: String,
    operations: Vec<Option<Operation>>,
    /// The first wrong byte that each operation has read, in parts that are no longer in its buffer.
    wrong: Vec<Option<WrongByte>>,
    /// Completed, to be returned by the next reap.
    finished: Vec<Completion>,
    /// Requests to be sent because another has completed.
    next: Vec<(u32, Next)>,
}

/// The next request of an operation.
#[derive(Clone, Copy, Debug)]
enum Next {
    Part,
    Close,
}

/// Whether an operation is performed by a helper thread.
fn needs_helper(kind: OpKind, can_truncate: bool) -> bool {
    match kind {
        OpKind::Readlink
        | OpKind::Readdir
        | OpKind::Readdirplus
        | OpKind::Access
        | OpKind::Setattr
        | OpKind::Copy
        | OpKind::Statfs => true,
        OpKind::Truncate => !can_truncate,
        _ => false,
    }
}

fn drive(source: std::io::Error) -> TargetError {
    TargetError::Drive { target: "io_uring".to_owned(), source }
}

impl RingNames {
    /// Whether this process may use io_uring for operations on names.
    pub fn is_available() -> bool {
        slot_buffers(1, 4096).is_ok_and(|data| NameRing::open(data).is_ok())
    }

    /// Opens the tree and a ring for `queue_depth` operations, in the thread that will use it.
    ///
    /// # Errors
    /// The tree cannot be opened, memory cannot be allocated, or io_uring is forbidden or too old.
    pub fn open(access: &NameAccess, queue_depth: u32) -> Result<RingNames, TargetError> {
        let depth = queue_depth as usize;
        let data = slot_buffers(depth, access.work.part_bytes())?;
        let ring = NameRing::open(data).map_err(drive)?;
        let is_helped = |kind| needs_helper(kind, ring.can_truncate());
        let helpers = match access.work.kinds.iter().copied().any(is_helped) {
            true => Some(Helpers::start(access, queue_depth)?),
            false => None,
        };
        let root = super::open_root_of(&access.root)?;
        let state = State {
            work: access.work.clone(),
            directories: Directories::new(root, access.open_directories, 2 * depth),
            path: path_room(),
            operations: vec![None; depth],
            wrong: vec![None; depth],
            finished: Vec::with_capacity(depth),
            next: Vec::with_capacity(depth),
        };
        Ok(RingNames { ring, state, helpers })
    }

    /// Queues the first requests of an operation.
    fn begin(&mut self, tag: u32, op: &NameOp, held: [Option<Held>; 2]) {
        let RingNames { ring, state, .. } = self;
        let tree = state.work.stream.tree();
        let (leaf, other) = (tree.leaf(op.name), op.other.map(|other| tree.leaf(other)));
        let mut names = [[0u8; 256]; 2];
        let (first, second) = names.split_at_mut(1);
        let name = terminated(leaf.as_bytes(), &mut first[0]);
        let other =
            terminated(other.as_ref().map_or(&b""[..], |leaf| leaf.as_bytes()), &mut second[0]);
        let directory = |index: usize| {
            let held = held[index].or(held[0]);
            held.map_or(state.directories.root(), |held| state.directories.descriptor(held))
        };
        let entry = EntryName { directory: directory(0), name };
        let to = EntryName { directory: directory(1), name: other };
        let in_parts = op.size_bytes as usize > ring.slot_bytes();
        let how = match op.kind {
            OpKind::Create => OpenFor::Creating,
            OpKind::WriteFile => OpenFor::Replacing,
            OpKind::Append => OpenFor::Appending,
            _ => OpenFor::Reading,
        };
        match op.kind {
            OpKind::Unlink => ring.unlink(tag, entry, false),
            OpKind::Rmdir => ring.unlink(tag, entry, true),
            OpKind::Rename => ring.rename(tag, entry, to),
            OpKind::Link => ring.link(tag, entry, to),
            OpKind::Symlink => ring.symlink(tag, other, entry),
            OpKind::Mkdir => ring.make_directory(tag, entry),
            OpKind::Stat => ring.attributes(tag, entry, true),
            OpKind::Lookup | OpKind::LookupMissing => ring.attributes(tag, entry, false),
            OpKind::Truncate => ring.open_truncate_close(tag, entry, op.offset_bytes),
            _ if in_parts => ring.open_file(tag, entry, how),
            _ => ring.open_and_close(tag, entry, how, op.size_bytes),
        }
        let operation =
            Operation { op: *op, held, in_parts, done_bytes: 0, before_part_bytes: 0, failure: 0 };
        state.operations[tag as usize] = Some(operation);
        state.wrong[tag as usize] = None;
    }

    /// Queues the requests that completions have made necessary.
    fn continue_operations(&mut self) {
        let RingNames { ring, state, .. } = self;
        for (tag, next) in state.next.drain(..) {
            let Some(operation) = &mut state.operations[tag as usize] else { continue };
            let (op, done_bytes) = (operation.op, operation.done_bytes);
            match next {
                Next::Close => ring.close(tag),
                Next::Part => {
                    let bytes = (ring.slot_bytes() as u32).min(op.size_bytes - done_bytes);
                    if done_bytes > 0 && writes_content(op.kind) {
                        let offset = op.offset_bytes + u64::from(done_bytes);
                        let data = &mut ring.slot(tag)[..bytes as usize];
                        state.work.content.fill(op.content, offset, data);
                    }
                    let how = match op.kind {
                        OpKind::ReadFile => OpenFor::Reading,
                        _ => OpenFor::Creating,
                    };
                    let before = std::mem::replace(&mut operation.before_part_bytes, done_bytes);
                    if op.kind == OpKind::ReadFile && done_bytes > before {
                        let wrong = &mut state.wrong[tag as usize];
                        let part = &ring.slot(tag)[..(done_bytes - before) as usize];
                        state.work.verify_part(&op, u64::from(before), part, wrong);
                    }
                    // The kernel ignores the offset of an append.
                    ring.transfer(tag, how, u64::from(done_bytes), bytes);
                }
            }
        }
    }
}

/// The bytes of a name with a terminating zero.
fn terminated<'n>(name: &[u8], memory: &'n mut [u8; 256]) -> &'n std::ffi::CStr {
    memory[..name.len()].copy_from_slice(name);
    std::ffi::CStr::from_bytes_until_nul(memory).unwrap_or(c"")
}

impl State {
    fn hold(&mut self, name: Name) -> Result<Held, Errno> {
        let State { work, directories, path, .. } = self;
        let tree = work.stream.tree();
        let number = tree.directory(name);
        directories.hold(number, || directory_path(tree, number, path))
    }

    /// Opens the directories of an operation.
    fn hold_all(&mut self, op: &NameOp) -> Result<[Option<Held>; 2], Errno> {
        let first = self.hold(op.name)?;
        let other = match op.other {
            Some(other) if op.kind != OpKind::Symlink => other,
            _ => return Ok([Some(first), None]),
        };
        match self.hold(other) {
            Ok(second) => Ok([Some(first), Some(second)]),
            Err(errno) => {
                self.directories.release(first);
                Err(errno)
            }
        }
    }

    /// Handles a completion of the ring.
    fn complete(&mut self, tag: u32, part: Part, result: i32) {
        let Some(operation) = &mut self.operations[tag as usize] else { return };
        let size_bytes = operation.op.size_bytes;
        match part {
            Part::Name => {
                let result = match operation.op.kind {
                    OpKind::LookupMissing => expect_missing(result),
                    _ => result.min(0),
                };
                self.finish(tag, result);
            }
            Part::Open if result < 0 => self.finish(tag, result),
            Part::Open => self.next.push((tag, Next::Part)),
            Part::Transfer if operation.in_parts => {
                operation.done_bytes += result.max(0) as u32;
                operation.failure = result.min(0);
                let ends = result <= 0 || operation.done_bytes >= size_bytes;
                self.next.push((tag, if ends { Next::Close } else { Next::Part }));
            }
            // A request of a chain completes only if it fails or moves fewer bytes.
            Part::Transfer => {
                operation.done_bytes = result.max(0) as u32;
                operation.failure = result.min(0);
                // Marks the completion of the close as the end of an incomplete transfer.
                operation.in_parts = true;
                self.next.push((tag, Next::Close));
            }
            Part::Close => {
                let moved = if operation.in_parts { operation.done_bytes } else { size_bytes };
                let failure = if operation.failure < 0 { operation.failure } else { result.min(0) };
                self.finish(tag, if failure < 0 { failure } else { moved as i32 });
            }
            Part::Watched => {}
        }
    }

    fn finish(&mut self, tag: u32, result: i32) {
        let operation = self.operations[tag as usize].take();
        for held in operation.into_iter().flat_map(|operation| operation.held).flatten() {
            self.directories.release(held);
        }
        self.finished.push(Completion { tag, result });
    }
}

/// The result of looking for a name that must not exist.
fn expect_missing(result: i32) -> i32 {
    match result {
        0.. => -Errno::EXIST.raw_os_error(),
        result if result == -Errno::NOENT.raw_os_error() => 0,
        failure => failure,
    }
}

impl Target for RingNames {
    fn submit(&mut self, tag: u32, op: &Op) -> Result<(), TargetError> {
        let op = self.state.work.stream.at(op.index);
        if needs_helper(op.kind, self.ring.can_truncate())
            && let Some(helpers) = &mut self.helpers
        {
            helpers.submit(tag, op);
            self.ring.watch(helpers.completions());
            return Ok(());
        }
        match self.state.hold_all(&op) {
            Ok(held) => self.begin(tag, &op, held),
            Err(errno) => {
                self.state.finished.push(Completion { tag, result: -errno.raw_os_error() });
            }
        }
        Ok(())
    }

    fn reap(&mut self, wait: Wait, done: &mut Vec<Completion>) -> Result<(), TargetError> {
        let wait = if self.state.finished.is_empty() { wait } else { Wait::Poll };
        self.ring.enter(wait).map_err(drive)?;
        loop {
            let RingNames { ring, state, .. } = self;
            ring.drain(|tag, part, result| state.complete(tag, part, result));
            if self.state.next.is_empty() {
                break;
            }
            self.continue_operations();
            self.ring.enter(Wait::Poll).map_err(drive)?;
        }
        if let Some(helpers) = &mut self.helpers
            && helpers.outstanding() > 0
        {
            helpers.drain(done);
            if helpers.outstanding() > 0 {
                self.ring.watch(helpers.completions());
            }
        }
        done.append(&mut self.state.finished);
        Ok(())
    }

    fn buffer(&mut self, tag: u32) -> Option<&mut [u8]> {
        Some(self.ring.slot(tag))
    }

    fn wrong_byte(&mut self, tag: u32) -> Option<WrongByte> {
        self.state.wrong[tag as usize]
    }
}
