//! The sequence of calls of an operation on names, from finding its handles to its end.

use nfs3::arguments::stable_how;
use nfs3::client::Client;
use nfs3::rpc::Credential;
use nfs3::types::{Handle, cookieverf3, writeverf3};
use rustix::io::Errno;
use workload::names::{Content, Leaf, Name, NameOp};
use workload::op::{Op, OpKind};

use super::encode::{CallNames, NameCall, Range, begin};
use super::handles::Handles;
use super::reply::NameReply;
use crate::names::NameWork;
use crate::names::content::WrongByte;
use crate::nfs::calls::{Call, CallKind, NONE};
use crate::nfs::core::{Core, Operation};

/// Handles of directories that a worker keeps: 300 KiB.
const DIRECTORIES_KEPT: usize = 4096;
/// Handles of files that a worker keeps: 600 KiB.
const FILES_KEPT: usize = 8192;
/// Largest part of a listing, in bytes.
const LISTING_BYTES_MAX: u32 = 32 << 10;

/// An outstanding operation.
#[derive(Clone, Debug)]
pub(super) struct NameOperation {
    pub(super) op: NameOp,
    /// The directory of the operation's name, once it is known.
    pub(super) directory: Option<Handle>,
    /// The directory of its second name.
    pub(super) other_directory: Option<Handle>,
    /// The file.
    pub(super) file: Option<Handle>,
    /// The file that a copy creates.
    pub(super) copy: Option<Handle>,
    /// In which directory a directory is looked up, and the level of that one.
    pub(super) above: Option<Handle>,
    level: u32,
    /// The outstanding call.
    pub(super) call: NameCall,
    /// Calls that have ended since the handles are known.
    calls: u32,
    /// Bytes that were read, and bytes that were written or, of a read, are done.
    read: u32,
    done: u32,
    eof: bool,
    pub(super) cookie: u64,
    pub(super) cookie_verifier: cookieverf3,
    pub(super) stable: stable_how,
    /// The verifier of WRITEs that are not durable.
    unstable: Option<writeverf3>,
    is_committed: bool,
    /// Its content is written again.
    is_again: bool,
}

/// What the operations of a worker share.
#[derive(Debug)]
pub(in crate::nfs) struct Names {
    work: NameWork,
    /// The directory that contains the tree, and the tree's root once it is known.
    parent: Handle,
    root: Option<Handle>,
    directories: Handles,
    files: Handles,
    /// By tag. They are several hundred bytes each, so that they are changed where they are.
    operations: Vec<NameOperation>,
    /// The first wrong byte that each operation has read, in parts that are no longer in its buffer.
    wrong: Vec<Option<WrongByte>>,
    path: String,
    /// Bytes of a part of a listing: a reply is at most as long as that to the largest READ.
    listing_bytes: u32,
}

/// What follows.
enum Next {
    Call(NameCall),
    /// The operation ends with this result.
    End(i32),
}

fn directory_key(level: u32, number: u64) -> u64 {
    u64::from(level) << 56 | number
}

fn file_key(name: Name) -> u64 {
    (name.class as u64) << 56 | name.number
}

impl Names {
    pub(super) fn new(work: NameWork, parent: Handle, queue_depth: u32) -> Names {
        Names {
            work,
            parent,
            root: None,
            directories: Handles::new(DIRECTORIES_KEPT),
            files: Handles::new(FILES_KEPT),
            operations: vec![NameOperation::unused(); queue_depth as usize],
            wrong: vec![None; queue_depth as usize],
            path: String::with_capacity(1024),
            listing_bytes: LISTING_BYTES_MAX,
        }
    }

    /// The same with replies of at most the size of a READ of `rsize_bytes`.
    pub(in crate::nfs) fn with_replies_of(mut self, rsize_bytes: u32) -> Names {
        self.listing_bytes = rsize_bytes.min(LISTING_BYTES_MAX);
        self
    }

    /// The text of the link that an operation reads.
    pub(in crate::nfs) fn link_text(&self, tag: u32) -> Option<Leaf> {
        let operation = &self.operations[tag as usize];
        operation.op.other.map(|other| self.work.stream.tree().leaf(other))
    }

    /// The stability that the WRITEs of an operation request.
    pub(in crate::nfs) fn stable(&self, tag: u32) -> stable_how {
        self.operations[tag as usize].stable
    }

    /// The name of the directory that is looked up for an operation, possibly written to `path`.
    fn directory_leaf<'n>(
        work: &'n NameWork,
        number: u64,
        level: u32,
        path: &'n mut String,
    ) -> &'n [u8] {
        if level == 0 {
            return work.tree.as_bytes();
        }
        let tree = work.stream.tree();
        path.clear();
        let up = tree.depth() - level;
        tree.push_directory_path(level, number / tree.width().saturating_pow(up), path);
        path.rsplit('/').next().unwrap_or_default().as_bytes()
    }

    /// Begins the outstanding call of an operation on a connection.
    pub(in crate::nfs) fn encode(
        &mut self,
        client: &mut Client,
        credential: &Credential<'_>,
        call: &Call,
    ) -> Option<u32> {
        let Names { work, operations, path, parent, root, listing_bytes, .. } = self;
        let operation = &operations[call.operation as usize];
        let tree = work.stream.tree();
        let (leaf, other) =
            (tree.leaf(operation.op.name), operation.op.other.map(|o| tree.leaf(o)));
        let name = match operation.call {
            NameCall::LookupDirectory => {
                let wanted = operation.wanted_directory().unwrap_or(operation.op.name);
                Self::directory_leaf(work, tree.directory(wanted), operation.level, path)
            }
            _ => leaf.as_bytes(),
        };
        let names = CallNames {
            name,
            other: other.as_ref().map_or(&[], |leaf| leaf.as_bytes()),
            root: root.as_ref().unwrap_or(parent),
            listing_bytes: *listing_bytes,
        };
        let range = Range { offset: call.offset, count: call.count };
        begin(client, credential, operation, names, range)
    }

    /// What follows for an operation, and the part of a file that a call moves: its offset in the
    /// buffer and in the file, and its bytes.
    fn next(&mut self, tag: u32, part: u32, wsize: u32, rsize: u32) -> (Next, (u32, u64, u32)) {
        // The list is moved, not the operation, so that the caches can be used with it.
        let mut operations = std::mem::take(&mut self.operations);
        let operation = &mut operations[tag as usize];
        let (next, range) = self.next_of(operation, part, wsize, rsize);
        if let Next::Call(call) = next {
            operation.call = call;
        }
        self.operations = operations;
        (next, range)
    }

    fn next_of(
        &mut self,
        operation: &mut NameOperation,
        part: u32,
        wsize: u32,
        rsize: u32,
    ) -> (Next, (u32, u64, u32)) {
        let nothing = (0, 0, 0);
        let op = operation.op;
        if self.root.is_none() {
            (operation.above, operation.level) = (Some(self.parent), 0);
            return (Next::Call(NameCall::LookupDirectory), nothing);
        }
        if operation.file.is_none() && needs_file(op.kind) {
            operation.file = self.files.get(file_key(op.name));
        }
        while let Some(wanted) = operation.wanted_directory() {
            let tree = self.work.stream.tree();
            let (depth, width) = (tree.depth(), tree.width());
            let number = tree.directory(wanted);
            // The nearest directory above whose handle is known.
            let mut level = depth;
            let known = loop {
                if level == 0 {
                    break self.root;
                }
                let of_level = number / width.saturating_pow(depth - level);
                if let Some(known) = self.directories.get(directory_key(level, of_level)) {
                    break Some(known);
                }
                level -= 1;
            };
            if level < depth {
                (operation.above, operation.level) = (known, level + 1);
                return (Next::Call(NameCall::LookupDirectory), nothing);
            }
            match operation.directory {
                None if operation.file.is_none() => operation.directory = known,
                _ => operation.other_directory = known,
            }
        }
        if operation.file.is_none() && needs_file(op.kind) {
            return (Next::Call(NameCall::Lookup), nothing);
        }
        let first = operation.calls == 0;
        let once = |call| (if first { Next::Call(call) } else { Next::End(0) }, nothing);
        match op.kind {
            OpKind::Create if first => (Next::Call(NameCall::Create), nothing),
            OpKind::WriteFile if first => (Next::Call(NameCall::Setattr), nothing),
            OpKind::Create | OpKind::WriteFile => operation.write(part, wsize, 0),
            OpKind::Append => operation.write(part, wsize, op.offset_bytes),
            OpKind::Copy if first => (Next::Call(NameCall::Create), nothing),
            OpKind::Copy if operation.done == operation.read && !operation.eof => {
                if operation.read >= op.size_bytes {
                    return operation.write(part, wsize, 0);
                }
                operation.read_part(part, rsize)
            }
            OpKind::Copy => operation.write(part, wsize, 0),
            OpKind::ReadFile => {
                operation.done = operation.read;
                if operation.eof || operation.read >= op.size_bytes {
                    return (Next::End(operation.read as i32), nothing);
                }
                operation.read_part(part, rsize)
            }
            OpKind::Open if first => (Next::Call(NameCall::Lookup), nothing),
            OpKind::Open if operation.calls == 1 => (Next::Call(NameCall::Access), nothing),
            OpKind::Unlink => once(NameCall::Remove),
            OpKind::Rename => once(NameCall::Rename),
            OpKind::Link => once(NameCall::Link),
            OpKind::Symlink => once(NameCall::Symlink),
            OpKind::Readlink => once(NameCall::Readlink),
            OpKind::Mkdir => once(NameCall::Mkdir),
            OpKind::Rmdir => once(NameCall::Rmdir),
            OpKind::Readdir if !operation.eof => (Next::Call(NameCall::Readdir), nothing),
            OpKind::Readdirplus if !operation.eof => (Next::Call(NameCall::Readdirplus), nothing),
            OpKind::Stat => once(NameCall::Getattr),
            OpKind::Access => once(NameCall::Access),
            OpKind::Setattr | OpKind::Truncate => once(NameCall::Setattr),
            OpKind::Lookup => once(NameCall::Lookup),
            OpKind::LookupMissing if first => (Next::Call(NameCall::Lookup), nothing),
            OpKind::LookupMissing => (Next::End(-Errno::EXIST.raw_os_error()), nothing),
            OpKind::Statfs => once(NameCall::Fsstat),
            _ => (Next::End(0), nothing),
        }
    }

    /// Applies a reply to its operation.
    fn apply(&mut self, tag: u32, reply: &NameReply) -> Result<(), i32> {
        let operation = &mut self.operations[tag as usize];
        let op = operation.op;
        let tree = self.work.stream.tree();
        let is_found = operation.call != NameCall::Lookup || !needs_file(op.kind);
        match operation.call {
            NameCall::LookupDirectory => {
                let Some(handle) = reply.handle else { return Err(Errno::IO.raw_os_error()) };
                if operation.level == 0 {
                    self.root = Some(handle);
                } else if let Some(wanted) = operation.wanted_directory() {
                    let up = tree.depth() - operation.level;
                    let number = tree.directory(wanted) / tree.width().saturating_pow(up);
                    self.directories.insert(directory_key(operation.level, number), handle);
                }
                return Ok(());
            }
            NameCall::Lookup => {
                operation.file = reply.handle;
                if let Some(handle) = reply.handle {
                    self.files.insert(file_key(op.name), handle);
                }
            }
            NameCall::Create => {
                let created = if op.kind == OpKind::Copy { op.other } else { Some(op.name) };
                let target = match op.kind {
                    OpKind::Copy => &mut operation.copy,
                    _ => &mut operation.file,
                };
                *target = reply.handle;
                match (created, reply.handle) {
                    (Some(name), Some(handle)) => self.files.insert(file_key(name), handle),
                    // The server need not return a handle; without one nothing can be written.
                    _ if op.size_bytes > 0 => return Err(Errno::OPNOTSUPP.raw_os_error()),
                    _ => {}
                }
            }
            NameCall::Write => {
                operation.done += reply.bytes;
                if let Some(verifier) = reply.verifier {
                    let before = operation.unstable.replace(verifier);
                    if before.is_some_and(|before| before != verifier) {
                        operation.write_again();
                    }
                }
            }
            NameCall::Commit => {
                operation.is_committed = true;
                if operation.unstable != reply.verifier {
                    operation.write_again();
                }
            }
            NameCall::Read => {
                operation.read += reply.bytes;
                operation.eof = reply.eof && operation.read < op.size_bytes;
            }
            NameCall::Remove => drop(self.files.remove(file_key(op.name))),
            NameCall::Rename => {
                if let (Some(handle), Some(other)) =
                    (self.files.remove(file_key(op.name)), op.other)
                {
                    self.files.insert(file_key(other), handle);
                }
            }
            NameCall::Readdir | NameCall::Readdirplus => {
                operation.eof = reply.eof;
                (operation.cookie, operation.cookie_verifier) = reply.cookie;
            }
            NameCall::Readlink if reply.is_wrong => return Err(Errno::BADMSG.raw_os_error()),
            _ => {}
        }
        operation.calls += u32::from(is_found);
        Ok(())
    }
}

/// Whether an operation of this kind acts on a file by its handle, which must be found first.
const fn needs_file(kind: OpKind) -> bool {
    use OpKind::{
        Access, Append, Copy, Link, ReadFile, Readlink, Setattr, Stat, Truncate, WriteFile,
    };
    matches!(
        kind,
        Access | Append | Copy | Link | ReadFile | Readlink | Setattr | Stat | Truncate | WriteFile
    )
}

impl NameOperation {
    /// Before the first operation of its slot.
    const fn unused() -> NameOperation {
        let op = NameOp {
            index: 0,
            kind: OpKind::Statfs,
            name: Name::directory(0),
            other: None,
            offset_bytes: 0,
            size_bytes: 0,
            content: Content { key: 0, version: 0 },
        };
        NameOperation {
            op,
            directory: None,
            other_directory: None,
            file: None,
            copy: None,
            above: None,
            level: 0,
            call: NameCall::Lookup,
            calls: 0,
            read: 0,
            done: 0,
            eof: false,
            cookie: 0,
            cookie_verifier: [0; 8],
            stable: stable_how::UNSTABLE,
            unstable: None,
            is_committed: false,
            is_again: false,
        }
    }

    /// Begins an operation in the slot of one that has ended. Its fields are named one by one so that
    /// none is forgotten, and set where they are: of an empty handle, only the tag is written.
    fn begin(&mut self, op: NameOp, begin_stable: stable_how) {
        let NameOperation {
            op: current,
            directory,
            other_directory,
            file,
            copy,
            above,
            level,
            call,
            calls,
            read,
            done,
            eof,
            cookie,
            cookie_verifier,
            stable,
            unstable,
            is_committed,
            is_again,
        } = self;
        (*current, *stable) = (op, begin_stable);
        *directory = None;
        *other_directory = None;
        *file = None;
        *copy = None;
        *above = None;
        (*level, *call, *calls) = (0, NameCall::Lookup, 0);
        (*read, *done, *eof) = (0, 0, false);
        (*cookie, *cookie_verifier) = (0, [0; 8]);
        (*unstable, *is_committed, *is_again) = (None, false, false);
    }

    /// A name whose directory is not known yet.
    fn wanted_directory(&self) -> Option<Name> {
        if self.op.kind == OpKind::Statfs {
            return None;
        }
        // An operation on a file whose handle is known does not need its directory.
        if self.directory.is_none() && self.file.is_none() {
            return Some(self.op.name);
        }
        // The text of a link is a leaf; its directory does not matter.
        let other = self
            .op
            .other
            .filter(|_| matches!(self.op.kind, OpKind::Rename | OpKind::Link | OpKind::Copy));
        other.filter(|_| self.other_directory.is_none())
    }

    /// The next WRITE of the content, at `start` of the file; a COMMIT if it is not durable then.
    fn write(&mut self, part: u32, wsize: u32, start: u64) -> (Next, (u32, u64, u32)) {
        let size_bytes = if self.op.kind == OpKind::Copy { self.read } else { self.op.size_bytes };
        if self.done < size_bytes {
            let within = self.done % part;
            let count = (size_bytes - self.done).min(part - within).min(wsize);
            let range = (within, start + u64::from(self.done), count);
            return (Next::Call(NameCall::Write), range);
        }
        if self.unstable.is_some() && !self.is_committed {
            return (Next::Call(NameCall::Commit), (0, 0, 0));
        }
        (Next::End(size_bytes as i32), (0, 0, 0))
    }

    fn read_part(&self, part: u32, rsize: u32) -> (Next, (u32, u64, u32)) {
        let within = self.read % part;
        let count = (self.op.size_bytes - self.read).min(part - within).min(rsize);
        (Next::Call(NameCall::Read), (within, u64::from(self.read), count))
    }

    /// Writes everything again, durably: the server has restarted and may have lost it.
    fn write_again(&mut self) {
        (self.done, self.unstable, self.is_committed) = (0, None, false);
        (self.stable, self.is_again) = (stable_how::FILE_SYNC, true);
        if self.op.kind == OpKind::Copy {
            (self.read, self.eof) = (0, false);
        }
    }
}

impl Core {
    /// Accepts an operation on names.
    pub(in crate::nfs) fn begin_name(&mut self, tag: u32, op: &Op) {
        self.operations[tag as usize] = Operation::new(*op);
        self.operations[tag as usize].calls_left = 1;
        let wsize = self.settings.wsize_bytes;
        let requested = self.settings.stability;
        let Some(names) = &mut self.names else { return };
        let name_op = names.work.stream.at(op.index);
        // One durable WRITE costs less than a WRITE and a COMMIT; the kernel's client does the same.
        let stable = match requested {
            stable_how::UNSTABLE if name_op.size_bytes <= wsize => stable_how::FILE_SYNC,
            requested => requested,
        };
        names.operations[tag as usize].begin(name_op, stable);
        names.wrong[tag as usize] = None;
        self.continue_name(tag);
    }

    /// Starts the next call of an operation, or ends it.
    fn continue_name(&mut self, tag: u32) {
        let (wsize, rsize) = (self.settings.wsize_bytes, self.settings.rsize_bytes);
        let part = self.buffers.slot_bytes() as u32;
        let Some(names) = &mut self.names else { return };
        let (next, range) = names.next(tag, part, wsize, rsize);
        match next {
            Next::Call(call) => {
                if call == NameCall::Write && range.0 == 0 {
                    self.fill_part(tag, range);
                }
                if call == NameCall::Read && range.0 == 0 {
                    self.verify_part(tag, range.1);
                }
                let call = self.calls.take(CallKind::Name(call), tag, tag, range);
                self.start(call);
            }
            Next::End(result) => self.end_name(tag, result),
        }
    }

    /// Generates the content of a part of a file; the engine has generated the first.
    fn fill_part(&mut self, tag: u32, (_, offset, _): (u32, u64, u32)) {
        let Some(names) = &self.names else { return };
        let operation = &names.operations[tag as usize];
        let op = operation.op;
        if op.kind == OpKind::Copy || operation.done == 0 && !operation.is_again {
            return;
        }
        let data = self.buffers.slot(tag as usize);
        let left = (op.size_bytes - operation.done) as usize;
        let length = left.min(data.len());
        names.work.content.fill(op.content, offset, &mut data[..length]);
    }

    /// Verifies the part of a file in the buffer, which the next READ at `offset` replaces.
    fn verify_part(&mut self, tag: u32, offset: u64) {
        let Some(names) = &mut self.names else { return };
        let op = names.operations[tag as usize].op;
        let data = self.buffers.slot(tag as usize);
        if let Some(start) = offset.checked_sub(data.len() as u64) {
            let wrong = &mut names.wrong[tag as usize];
            names.work.verify_part(&op, start, data, wrong);
        }
    }

    /// The first wrong byte that an operation has read, in parts that are no longer in its buffer.
    pub(in crate::nfs) fn wrong_byte(&self, tag: u32) -> Option<WrongByte> {
        self.names.as_ref()?.wrong.get(tag as usize).copied().flatten()
    }

    /// Applies the reply to a call.
    pub(in crate::nfs) fn named(&mut self, index: u32, reply: Result<NameReply, i32>) {
        let Call { operation: tag, .. } = self.calls[index];
        self.calls.release(index);
        let Some(names) = &mut self.names else { return };
        let applied = reply.and_then(|reply| names.apply(tag, &reply));
        match applied {
            Ok(()) => self.continue_name(tag),
            Err(errno) => {
                let kind = self.operations[tag as usize].op.kind;
                let is_missing = errno == Errno::NOENT.raw_os_error();
                let expected = kind == OpKind::LookupMissing && is_missing;
                self.end_name(tag, if expected { 0 } else { -errno });
            }
        }
    }

    fn end_name(&mut self, tag: u32, result: i32) {
        if result < 0
            && let Some(names) = &mut self.names
        {
            // A handle may be stale.
            names.files.remove(file_key(names.operations[tag as usize].op.name));
        }
        let operation = &mut self.operations[tag as usize];
        (operation.bytes, operation.errno) = (result.max(0) as u32, (-result).max(0));
        operation.calls_left = 0;
        if operation.flow == NONE {
            operation.flow = 0;
        }
        self.end_operation(tag);
    }
}
