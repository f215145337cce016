//! One worker's ring for operations on names: create, open, unlink, rename and the like, relative to
//! open directories. Not for data of files that stay open: that is [`crate::ring`].
//!
//! A file that is opened by an operation is a direct descriptor of the ring: it has the number of the
//! operation's slot and is closed by the ring, so no process-wide descriptor is allocated. Opening,
//! moving the data and closing are linked requests that are sent together; of a chain that succeeds
//! only the last request returns a completion, and of one that fails only the one that failed.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

use io_uring::squeue::{Entry, Flags};
use io_uring::types::{DestinationSlot, Fd, Fixed};
use io_uring::{Probe, opcode};

use crate::buffers::Buffers;
use crate::queue::{Queue, Wait};

/// Longest name of a directory entry in bytes, with the terminating zero.
pub const NAME_BYTES: usize = 256;
/// Requests of one operation that are sent together.
const CHAIN_MAX: usize = 3;
/// Where the second name and the attributes are in the memory of a slot's names.
const SECOND_NAME_BYTES: usize = NAME_BYTES;
const ATTRIBUTES_BYTES: usize = 2 * NAME_BYTES;

/// An entry of an open directory.
#[derive(Clone, Copy, Debug)]
pub struct EntryName<'a> {
    /// The directory, which must stay open until the operation has completed.
    pub directory: BorrowedFd<'a>,
    /// The name in it.
    pub name: &'a CStr,
}

/// The request of an operation that a completion belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// A call on names.
    Name = 0,
    /// Opening the file.
    Open = 1,
    /// Moving data, or setting the size.
    Transfer = 2,
    /// Closing the file.
    Close = 3,
    /// The descriptor of [`NameRing::watch`] has become readable; the result is a count.
    Watched = 4,
}

impl Part {
    const ALL: [Part; 5] = [Part::Name, Part::Open, Part::Transfer, Part::Close, Part::Watched];
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OpenFor {
    /// An existing file, for reading.
    Reading,
    /// A file that does not exist yet, for writing.
    Creating,
    /// An existing file, for writing.
    Writing,
    /// An existing file that is emptied, for writing.
    Replacing,
    /// An existing file, for writing at its end.
    Appending,
}

impl OpenFor {
    const fn flags(self) -> i32 {
        let how = match self {
            OpenFor::Reading => libc::O_RDONLY,
            OpenFor::Creating => libc::O_WRONLY | libc::O_CREAT | libc::O_EXCL,
            OpenFor::Writing => libc::O_WRONLY,
            OpenFor::Replacing => libc::O_WRONLY | libc::O_TRUNC,
            OpenFor::Appending => libc::O_WRONLY | libc::O_APPEND,
        };
        // A link in place of a file would lead out of the directory.
        how | libc::O_NOFOLLOW
    }

    const fn writes(self) -> bool {
        !matches!(self, OpenFor::Reading)
    }
}

/// Permission bits of new files.
const FILE_MODE: libc::mode_t = 0o644;
/// Permission bits of new directories.
const DIRECTORY_MODE: libc::mode_t = 0o755;

/// A ring for operations on names.
pub struct NameRing {
    /// Declared first, so that the ring is closed before its memory is unmapped.
    queue: Queue,
    data: Option<Buffers>,
    /// Two names and the attributes of each slot.
    names: Option<Buffers>,
    /// The count that [`NameRing::watch`] reads.
    watched: Option<Buffers>,
    /// `on_loan[tag]`: the kernel may access the slot's memory.
    on_loan: Vec<bool>,
    outstanding: usize,
    is_watching: bool,
    can_truncate: bool,
}

impl NameRing {
    /// Opens a ring for operations tagged `0..data.slots()`, in the thread that will use it.
    ///
    /// # Errors
    /// io_uring is forbidden, or this kernel lacks linked direct descriptors (Linux 5.19).
    pub fn open(data: Buffers) -> io::Result<NameRing> {
        let depth = data.slots();
        let entries = u32::try_from((depth * CHAIN_MAX + 2).next_power_of_two())
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let (queue, _) = Queue::build(entries)?;
        let parameters = queue.ring.params();
        if !parameters.is_feature_linked_file() || !parameters.is_feature_skip_cqe_on_success() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "operations on names need Linux 5.19 or newer",
            ));
        }
        let submitter = queue.ring.submitter();
        submitter.register_files_sparse(depth as u32)?;
        let mut probe = Probe::new();
        let can_truncate = submitter.register_probe(&mut probe).is_ok()
            && probe.is_supported(opcode::Ftruncate::CODE);
        Ok(NameRing {
            names: Some(Buffers::new(depth, ATTRIBUTES_BYTES + size_of::<libc::statx>())?),
            watched: Some(Buffers::new(1, size_of::<u64>())?),
            on_loan: vec![false; depth],
            data: Some(data),
            queue,
            outstanding: 0,
            is_watching: false,
            can_truncate,
        })
    }

    /// Whether this kernel can set the size of an open file (Linux 6.9).
    pub fn can_truncate(&self) -> bool {
        self.can_truncate
    }

    /// The data of slot `tag`, whose operation must not be outstanding.
    #[inline]
    pub fn slot(&mut self, tag: u32) -> &mut [u8] {
        assert!(!self.on_loan[tag as usize], "the kernel owns the memory of slot {tag}");
        self.data.as_mut().expect("memory exists until drop").slot(tag as usize)
    }

    /// Bytes of data that one request can move.
    pub fn slot_bytes(&self) -> usize {
        self.data().slot_bytes()
    }

    /// The size in the attributes that [`NameRing::attributes`] has read.
    pub fn size_bytes(&self, tag: u32) -> u64 {
        assert!(!self.on_loan[tag as usize], "the kernel owns the memory of slot {tag}");
        let memory = self.names().bytes(tag as usize)[ATTRIBUTES_BYTES..].as_ptr();
        // SAFETY: the memory has room for the attributes after `ATTRIBUTES_BYTES`, which keeps their
        // alignment; any bytes are valid attributes; the kernel does not access it.
        unsafe { (*memory.cast::<libc::statx>()).stx_size }
    }

    /// Opens a file, moves the first `bytes` of the slot's data from or to its start (or end, when
    /// appending), and closes it. Without bytes it is opened and closed.
    pub fn open_and_close(&mut self, tag: u32, file: EntryName<'_>, how: OpenFor, bytes: u32) {
        let data = self.claim(tag, bytes);
        self.make_room(CHAIN_MAX);
        let link = Flags::IO_LINK | Flags::SKIP_SUCCESS;
        let open = self.open_entry(tag, file, how).flags(link);
        self.push(tag, Part::Open, open);
        if bytes > 0 {
            let transfer = transfer_entry(tag, how, data, 0, bytes).flags(link);
            self.push(tag, Part::Transfer, transfer);
        }
        self.push(tag, Part::Close, opcode::Close::new(Fixed(tag)).build());
    }

    /// Opens a file, sets its size, and closes it.
    pub fn open_truncate_close(&mut self, tag: u32, file: EntryName<'_>, size_bytes: u64) {
        self.claim(tag, 0);
        self.make_room(CHAIN_MAX);
        let link = Flags::IO_LINK | Flags::SKIP_SUCCESS;
        let open = self.open_entry(tag, file, OpenFor::Writing).flags(link);
        self.push(tag, Part::Open, open);
        let truncate = opcode::Ftruncate::new(Fixed(tag), size_bytes).build().flags(link);
        self.push(tag, Part::Transfer, truncate);
        self.push(tag, Part::Close, opcode::Close::new(Fixed(tag)).build());
    }

    /// Opens a file; the caller moves data and closes it.
    pub fn open_file(&mut self, tag: u32, file: EntryName<'_>, how: OpenFor) {
        self.claim(tag, 0);
        self.make_room(1);
        let open = self.open_entry(tag, file, how);
        self.push(tag, Part::Open, open);
    }

    /// Moves the first `bytes` of the slot's data from or to the open file.
    pub fn transfer(&mut self, tag: u32, how: OpenFor, offset_bytes: u64, bytes: u32) {
        let data = self.claim(tag, bytes);
        self.make_room(1);
        self.push(tag, Part::Transfer, transfer_entry(tag, how, data, offset_bytes, bytes));
    }

    /// Closes the open file.
    pub fn close(&mut self, tag: u32) {
        self.claim(tag, 0);
        self.make_room(1);
        self.push(tag, Part::Close, opcode::Close::new(Fixed(tag)).build());
    }

    /// Removes a name; of an empty directory if `is_directory`.
    pub fn unlink(&mut self, tag: u32, entry: EntryName<'_>, is_directory: bool) {
        self.claim(tag, 0);
        self.make_room(1);
        let name = self.put_name(tag, 0, entry.name);
        let flags = if is_directory { libc::AT_REMOVEDIR } else { 0 };
        let directory = Fd(entry.directory.as_raw_fd());
        let request = opcode::UnlinkAt::new(directory, name).flags(flags).build();
        self.push(tag, Part::Name, request);
    }

    /// Renames an entry.
    pub fn rename(&mut self, tag: u32, from: EntryName<'_>, to: EntryName<'_>) {
        self.claim(tag, 0);
        self.make_room(1);
        let (old, new) = (self.put_name(tag, 0, from.name), self.put_second(tag, to.name));
        let (from, to) = (Fd(from.directory.as_raw_fd()), Fd(to.directory.as_raw_fd()));
        self.push(tag, Part::Name, opcode::RenameAt::new(from, old, to, new).build());
    }

    /// Gives a file an additional name.
    pub fn link(&mut self, tag: u32, file: EntryName<'_>, link: EntryName<'_>) {
        self.claim(tag, 0);
        self.make_room(1);
        let (old, new) = (self.put_name(tag, 0, file.name), self.put_second(tag, link.name));
        let (from, to) = (Fd(file.directory.as_raw_fd()), Fd(link.directory.as_raw_fd()));
        self.push(tag, Part::Name, opcode::LinkAt::new(from, old, to, new).build());
    }

    /// Creates a symbolic link with this text.
    pub fn symlink(&mut self, tag: u32, text: &CStr, link: EntryName<'_>) {
        self.claim(tag, 0);
        self.make_room(1);
        let (text, name) = (self.put_second(tag, text), self.put_name(tag, 0, link.name));
        let directory = Fd(link.directory.as_raw_fd());
        self.push(tag, Part::Name, opcode::SymlinkAt::new(directory, text, name).build());
    }

    /// Creates a directory.
    pub fn make_directory(&mut self, tag: u32, entry: EntryName<'_>) {
        self.claim(tag, 0);
        self.make_room(1);
        let name = self.put_name(tag, 0, entry.name);
        let directory = Fd(entry.directory.as_raw_fd());
        let request = opcode::MkDirAt::new(directory, name).mode(DIRECTORY_MODE).build();
        self.push(tag, Part::Name, request);
    }

    /// Reads the attributes of an entry; without `all`, the name is only looked up.
    pub fn attributes(&mut self, tag: u32, entry: EntryName<'_>, all: bool) {
        self.claim(tag, 0);
        self.make_room(1);
        let name = self.put_name(tag, 0, entry.name);
        let names = self.names();
        let memory = names.address(tag as usize).wrapping_add(ATTRIBUTES_BYTES);
        let (mask, sync) = match all {
            true => (libc::STATX_BASIC_STATS, libc::AT_STATX_SYNC_AS_STAT),
            false => (0, libc::AT_STATX_DONT_SYNC),
        };
        let directory = Fd(entry.directory.as_raw_fd());
        let request = opcode::Statx::new(directory, name, memory.cast())
            .flags(libc::AT_SYMLINK_NOFOLLOW | sync)
            .mask(mask)
            .build();
        self.push(tag, Part::Name, request);
    }

    /// Returns a completion with [`Part::Watched`] when `count`, an event counter, is not zero. Has
    /// no effect while it is watched already.
    pub fn watch(&mut self, count: BorrowedFd<'_>) {
        if self.is_watching {
            return;
        }
        self.is_watching = true;
        self.make_room(1);
        let memory = self.watched.as_ref().expect("memory exists until drop").address(0);
        let bytes = size_of::<u64>() as u32;
        let request = opcode::Read::new(Fd(count.as_raw_fd()), memory, bytes).build();
        self.outstanding += 1;
        self.push(0, Part::Watched, request);
    }

    /// Sends what is queued, then waits until a request has completed or `wait` is over.
    ///
    /// # Errors
    /// The ring is unusable. An interrupted wait is not an error.
    #[inline]
    pub fn enter(&mut self, wait: Wait) -> io::Result<()> {
        self.queue.enter(wait)
    }

    /// Calls `each(tag, part, result)` for every completion.
    #[inline]
    pub fn drain(&mut self, mut each: impl FnMut(u32, Part, i32)) {
        let NameRing { queue, on_loan, outstanding, is_watching, .. } = self;
        queue.drain(|user_data, result| {
            let (tag, part) = (user_data as u32, Part::ALL[(user_data >> 32) as usize]);
            *outstanding -= 1;
            match part {
                Part::Watched => *is_watching = false,
                _ => on_loan[tag as usize] = false,
            }
            each(tag, part, result);
        });
    }

    /// Marks slot `tag` as in use by the kernel and returns the address of its data.
    #[inline]
    fn claim(&mut self, tag: u32, bytes: u32) -> *mut u8 {
        let on_loan = &mut self.on_loan[tag as usize];
        assert!(!*on_loan, "slot {tag} is outstanding already");
        *on_loan = true;
        self.outstanding += 1;
        let data = self.data();
        assert!(bytes as usize <= data.slot_bytes(), "a transfer larger than its slot");
        data.address(tag as usize)
    }

    /// Sends what is queued if fewer than `entries` fit: a chain must be sent with one call.
    #[inline]
    fn make_room(&mut self, entries: usize) {
        if self.queue.room() < entries {
            // A failure is returned again by the next `enter`.
            drop(self.queue.enter(Wait::Poll));
        }
    }

    fn open_entry(&mut self, tag: u32, file: EntryName<'_>, how: OpenFor) -> Entry {
        let name = self.put_name(tag, 0, file.name);
        let slot = DestinationSlot::try_from_slot_target(tag).ok();
        opcode::OpenAt::new(Fd(file.directory.as_raw_fd()), name)
            .file_index(slot)
            .flags(how.flags())
            .mode(FILE_MODE)
            .build()
    }

    #[inline]
    fn push(&mut self, tag: u32, part: Part, entry: Entry) {
        let entry = entry.user_data((part as u64) << 32 | u64::from(tag));
        // SAFETY: the entry's memory is slot `tag` of `data` and `names`, which `claim` has checked
        // to be large enough and not in use by another operation, or `watched`, which one request
        // uses at a time; until the completion it is neither borrowed nor unmapped (`Drop`).
        unsafe { self.queue.push(&entry) };
    }

    /// Copies the second name of a call.
    fn put_second(&mut self, tag: u32, name: &CStr) -> *const libc::c_char {
        self.put_name(tag, SECOND_NAME_BYTES, name)
    }

    /// Copies a name into the slot's memory, where the kernel reads it.
    fn put_name(&mut self, tag: u32, offset: usize, name: &CStr) -> *const libc::c_char {
        let bytes = name.to_bytes_with_nul();
        assert!(bytes.len() <= NAME_BYTES, "a name is at most 255 bytes long");
        let names = self.names.as_mut().expect("memory exists until drop");
        let memory = &mut names.slot(tag as usize)[offset..offset + bytes.len()];
        memory.copy_from_slice(bytes);
        names.address(tag as usize).wrapping_add(offset).cast()
    }

    fn data(&self) -> &Buffers {
        self.data.as_ref().expect("memory exists until drop")
    }

    fn names(&self) -> &Buffers {
        self.names.as_ref().expect("memory exists until drop")
    }
}

fn transfer_entry(tag: u32, how: OpenFor, data: *mut u8, offset_bytes: u64, bytes: u32) -> Entry {
    if how.writes() {
        opcode::Write::new(Fixed(tag), data, bytes).offset(offset_bytes).build()
    } else {
        opcode::Read::new(Fixed(tag), data, bytes).offset(offset_bytes).build()
    }
}

impl Drop for NameRing {
    fn drop(&mut self) {
        if self.outstanding > 0 {
            // The kernel may still write into the memory, so the mappings are leaked.
            std::mem::forget(self.data.take());
            std::mem::forget(self.names.take());
            std::mem::forget(self.watched.take());
        }
    }
}

impl std::fmt::Debug for NameRing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NameRing")
            .field("slots", &self.on_loan.len())
            .field("outstanding", &self.outstanding)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::time::Duration;

    use super::*;

    struct Tree {
        ring: NameRing,
        path: tempfile::TempDir,
        directory: std::fs::File,
    }

    impl Tree {
        fn new() -> Tree {
            let path = tempfile::tempdir().expect("a directory");
            let directory = std::fs::File::open(path.path()).expect("it can be opened");
            let data = Buffers::new(4, 4096).expect("memory");
            let ring = NameRing::open(data).expect("io_uring is allowed here");
            Tree { ring, path, directory }
        }

        /// Performs one operation and returns its only completion.
        fn perform(
            &mut self,
            call: impl FnOnce(&mut NameRing, &dyn Fn(&'static CStr) -> EntryName<'static>),
        ) -> (u32, Part, i32) {
            let directory = self.directory.try_clone().expect("a second descriptor");
            let directory: &'static std::fs::File = Box::leak(Box::new(directory));
            call(&mut self.ring, &|name| EntryName { directory: directory.as_fd(), name });
            let mut all = Vec::new();
            for _ in 0..1000 {
                self.ring.enter(Wait::Precise(Duration::from_millis(100))).expect("it works");
                self.ring.drain(|tag, part, result| all.push((tag, part, result)));
                if !all.is_empty() {
                    break;
                }
            }
            assert_eq!(all.len(), 1, "{all:?}");
            all[0]
        }

        fn read(&self, name: &str) -> Vec<u8> {
            std::fs::read(self.path.path().join(name)).expect("the file exists")
        }
    }

    #[test]
    fn a_file_is_created_written_and_closed_with_one_completion() {
        let mut tree = Tree::new();
        tree.ring.slot(1).fill(b'x');
        let done = tree.perform(|ring, at| {
            ring.open_and_close(1, at(c"new"), OpenFor::Creating, 3000);
        });
        assert_eq!(done, (1, Part::Close, 0));
        assert_eq!(tree.read("new"), [b'x'; 3000]);
        // The name is taken, so only the first request completes.
        let done = tree.perform(|ring, at| {
            ring.open_and_close(1, at(c"new"), OpenFor::Creating, 3000);
        });
        assert_eq!(done, (1, Part::Open, -libc::EEXIST));
        tree.ring.slot(1).fill(b'y');
        let done = tree.perform(|ring, at| {
            ring.open_and_close(1, at(c"new"), OpenFor::Appending, 10);
        });
        assert_eq!(done, (1, Part::Close, 0));
        assert_eq!(tree.read("new")[3000..], [b'y'; 10]);
        let done = tree.perform(|ring, at| {
            ring.open_and_close(2, at(c"new"), OpenFor::Reading, 3010);
        });
        assert_eq!(done, (2, Part::Close, 0));
        assert_eq!(tree.ring.slot(2)[2999..3001], *b"xy");
    }

    #[test]
    fn a_short_read_ends_the_chain_and_leaves_the_file_to_be_closed() {
        let mut tree = Tree::new();
        std::fs::write(tree.path.path().join("short"), b"abc").expect("a file");
        let done = tree.perform(|ring, at| {
            ring.open_and_close(0, at(c"short"), OpenFor::Reading, 10);
        });
        assert_eq!(done, (0, Part::Transfer, 3));
        assert_eq!(tree.perform(|ring, _| ring.close(0)), (0, Part::Close, 0));
        assert_eq!(tree.perform(|ring, _| ring.close(0)), (0, Part::Close, -libc::EBADF));
    }

    #[test]
    fn names_are_created_linked_renamed_and_removed() {
        let mut tree = Tree::new();
        let ok = |done: (u32, Part, i32)| assert_eq!((done.1, done.2), (Part::Name, 0));
        tree.perform(|ring, at| ring.open_and_close(0, at(c"a"), OpenFor::Creating, 0));
        ok(tree.perform(|ring, at| ring.link(0, at(c"a"), at(c"b"))));
        ok(tree.perform(|ring, at| ring.symlink(0, c"../a", at(c"s"))));
        ok(tree.perform(|ring, at| ring.make_directory(0, at(c"d"))));
        ok(tree.perform(|ring, at| ring.rename(0, at(c"b"), at(c"c"))));
        ok(tree.perform(|ring, at| ring.attributes(0, at(c"a"), true)));
        assert_eq!(tree.ring.size_bytes(0), 0);
        let missing = tree.perform(|ring, at| ring.attributes(0, at(c"b"), false));
        assert_eq!(missing.2, -libc::ENOENT);
        // A symbolic link is not followed.
        let followed = tree.perform(|ring, at| {
            ring.open_and_close(0, at(c"s"), OpenFor::Reading, 0);
        });
        assert_eq!(followed, (0, Part::Open, -libc::ELOOP));
        ok(tree.perform(|ring, at| ring.unlink(0, at(c"d"), true)));
        for name in [c"a", c"c", c"s"] {
            ok(tree.perform(|ring, at| ring.unlink(0, at(name), false)));
        }
        let left = std::fs::read_dir(tree.path.path()).expect("it can be listed").count();
        assert_eq!(left, 0);
    }

    #[test]
    fn an_open_file_is_moved_in_parts_and_truncated() {
        let mut tree = Tree::new();
        let opened = tree.perform(|ring, at| ring.open_file(3, at(c"f"), OpenFor::Creating));
        assert_eq!(opened, (3, Part::Open, 0));
        tree.ring.slot(3).fill(b'1');
        let moved = tree.perform(|ring, _| ring.transfer(3, OpenFor::Creating, 100, 50));
        assert_eq!(moved, (3, Part::Transfer, 50));
        assert_eq!(tree.perform(|ring, _| ring.close(3)), (3, Part::Close, 0));
        if tree.ring.can_truncate() {
            let cut = tree.perform(|ring, at| ring.open_truncate_close(3, at(c"f"), 120));
            assert_eq!(cut, (3, Part::Close, 0));
            assert_eq!(tree.read("f").len(), 120);
        }
    }
}
