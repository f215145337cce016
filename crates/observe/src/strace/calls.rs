//! What each call means: a read or write of a file, a change of a descriptor, or a call to count.

use super::descriptors::{Descriptor, Descriptors};
use super::line::{Call, descriptor};
use crate::error::{Error, Position};
use crate::observation::{Direction, Note};
use crate::observer::{Observer, Operation};

/// File systems of the kernel, which are not storage.
const NOT_STORAGE: [&str; 3] = ["/dev/", "/proc/", "/sys/"];

/// Calls on files that are counted by name, besides those that have an effect here.
const COUNTED: [&str; 53] = [
    "access",
    "chmod",
    "chown",
    "copy_file_range",
    "faccessat",
    "faccessat2",
    "fadvise64",
    "fallocate",
    "fchmod",
    "fchmodat",
    "fchown",
    "fchownat",
    "fdatasync",
    "flock",
    "fremovexattr",
    "fsetxattr",
    "fstat",
    "fstatfs",
    "fsync",
    "ftruncate",
    "futimesat",
    "getdents",
    "getdents64",
    "getxattr",
    "lgetxattr",
    "link",
    "linkat",
    "listxattr",
    "lstat",
    "mkdir",
    "mkdirat",
    "newfstatat",
    "readahead",
    "readlink",
    "readlinkat",
    "removexattr",
    "rename",
    "renameat",
    "renameat2",
    "rmdir",
    "sendfile",
    "setxattr",
    "stat",
    "statfs",
    "statx",
    "symlink",
    "symlinkat",
    "sync_file_range",
    "syncfs",
    "truncate",
    "unlink",
    "unlinkat",
    "utimensat",
];

/// Calls whose text is an attribute's name and no path.
const ATTRIBUTES_OF_DESCRIPTORS: [&str; 2] = ["fremovexattr", "fsetxattr"];

/// Calls whose reads and writes are not calls.
const NOT_VISIBLE: [&str; 3] = ["io_submit", "io_uring_enter", "mmap"];

/// The calls of a trace.
#[derive(Debug, Default)]
pub(super) struct Calls {
    descriptors: Descriptors,
    /// Reads and writes of a descriptor without a path, and with one.
    without_path: u64,
    with_path: u64,
    not_visible: [u64; NOT_VISIBLE.len()],
}

/// When a call was made, how it ended, and its line.
#[derive(Clone, Copy, Debug)]
struct When {
    begin_ns: Option<u64>,
    took_ns: Option<u64>,
    has_failed: bool,
    at: Position,
}

/// A read or write: its direction, and the index of the argument with its offset.
fn data_call(name: &str) -> Option<(Direction, Option<usize>)> {
    Some(match name {
        "read" | "readv" => (Direction::Read, None),
        "write" | "writev" => (Direction::Write, None),
        "pread64" | "pread" | "preadv" | "preadv2" => (Direction::Read, Some(3)),
        "pwrite64" | "pwrite" | "pwritev" | "pwritev2" => (Direction::Write, Some(3)),
        _ => return None,
    })
}

impl Calls {
    /// Handles a call; `false` if its line is damaged.
    ///
    /// * `resumed_ns` - when an interrupted call was continued
    pub(super) fn call(
        &mut self,
        thread: u64,
        begin_ns: Option<u64>,
        resumed_ns: Option<u64>,
        call: Call<'_>,
        at: Position,
        observer: &mut Observer,
    ) -> bool {
        if !call.is_complete() {
            return false;
        }
        let end_ns = match (begin_ns, call.duration_ns) {
            (Some(begin), Some(duration)) => begin.checked_add(duration),
            _ => resumed_ns,
        };
        if let Some((direction, offset_at)) = data_call(call.name) {
            let times = (begin_ns, end_ns);
            return self.data(thread, direction, offset_at, times, call, at, observer).is_some();
        }
        let took_ns = begin_ns.zip(end_ns).map(|(begin, end)| end.saturating_sub(begin));
        let has_failed = call.returned().is_some_and(|number| number < 0);
        self.other(thread, call, When { begin_ns, took_ns, has_failed, at }, observer);
        true
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of one line")]
    fn data(
        &mut self,
        thread: u64,
        direction: Direction,
        offset_at: Option<usize>,
        (begin_ns, end_ns): (Option<u64>, Option<u64>),
        call: Call<'_>,
        at: Position,
        observer: &mut Observer,
    ) -> Option<()> {
        let arguments = call.split();
        let (number, path) = descriptor(arguments.first()?)?;
        let Some(path) = path else {
            self.without_path += 1;
            return Some(());
        };
        self.with_path += 1;
        if !is_storage(path) {
            return Some(());
        }
        let Some(size) = call.returned().and_then(|size| u64::try_from(size).ok()) else {
            if observer.includes(path) {
                observer.failed(direction);
            }
            return Some(());
        };
        let explicit = match offset_at {
            Some(at) => Some(arguments.get(at)?.parse::<i64>().ok()?),
            None => None,
        };
        let known = self.descriptors.get(thread, number);
        let file = observer.file(path);
        let offset = match explicit.and_then(|offset| u64::try_from(offset).ok()) {
            Some(offset) => offset,
            // `preadv2` with -1 uses the position, too.
            None => {
                self.descriptors.assumed += u64::from(known.is_none());
                let known = known.unwrap_or_default();
                let offset = match known.appends && direction == Direction::Write {
                    true => file.map_or(0, |file| observer.size_of(file)),
                    false => known.position,
                };
                self.descriptors.set_position(thread, number, offset.saturating_add(size));
                offset
            }
        };
        let Some(file) = file else { return Some(()) };
        if size == 0 {
            if direction == Direction::Read {
                observer.end_of_file();
            }
            return Some(());
        }
        let operation = Operation {
            direction,
            file,
            offset_bytes: offset,
            size_bytes: size,
            begin_ns,
            end_ns,
            is_direct: known.and_then(|known| known.is_direct),
            is_durable: known
                .and_then(|known| known.is_durable)
                .filter(|_| direction == Direction::Write),
        };
        // The size of a file that is appended to must be known before its operation is sorted.
        observer.file_size(file, offset.saturating_add(size));
        observer.data(operation, at);
        Some(())
    }

    fn other(&mut self, thread: u64, call: Call<'_>, when: When, observer: &mut Observer) {
        let arguments = call.split();
        let here = arguments.iter().filter(|argument| argument.starts_with("AT_FDCWD<"));
        for (_, path) in here.filter_map(|argument| descriptor(argument)) {
            self.descriptors.set_directory(thread, path.unwrap_or_default());
        }
        let first = arguments.first().and_then(|argument| descriptor(argument));
        let returned = call.returned();
        let done = returned.filter(|number| *number >= 0);
        match call.name {
            "open" | "openat" | "openat2" | "creat" => {
                if let Some(number) = done {
                    self.descriptors.open(thread, number, opened(call));
                }
                let path = descriptor(call.result).and_then(|(_, path)| path.map(str::to_owned));
                let path = path.or_else(|| self.named_path(thread, call, &arguments));
                count("open", path, when, observer);
            }
            "close" => {
                if let Some((number, path)) = first {
                    self.descriptors.close(thread, number);
                    count("close", path.map(str::to_owned), when, observer);
                }
            }
            "lseek" => {
                let Some((number, path)) = first else { return };
                if let Some(position) = done {
                    self.descriptors.set_position(thread, number, position as u64);
                }
                count("lseek", path.map(str::to_owned), when, observer);
            }
            "chdir" | "fchdir" => {
                let opened = first.and_then(|(_, path)| path.map(str::to_owned));
                let path = opened.or_else(|| self.named_path(thread, call, &arguments));
                if let (Some(path), Some(_)) = (path, done) {
                    self.descriptors.set_directory(thread, &path);
                }
            }
            "dup" | "dup2" | "dup3" | "fcntl" => {
                let is_copy = call.name != "fcntl" || call.arguments.contains("F_DUPFD");
                if let (Some((old, _)), Some(new)) = (first, done.filter(|_| is_copy)) {
                    self.descriptors.duplicate(thread, old, new);
                }
            }
            "clone" | "clone3" | "fork" | "vfork" => {
                if let Some(child) = done.filter(|child| *child > 0) {
                    let shares = call.arguments.contains("CLONE_FILES");
                    self.descriptors.clone_to(thread, child as u64, shares);
                }
            }
            name if COUNTED.contains(&name) => {
                self.counted(thread, call, &arguments, when, observer);
            }
            name => self.not_visible(name, call, &arguments, observer),
        }
    }

    fn not_visible(
        &mut self,
        name: &str,
        call: Call<'_>,
        arguments: &[&str],
        observer: &mut Observer,
    ) {
        let Some(index) = NOT_VISIBLE.iter().position(|known| *known == name) else { return };
        let mapped = || arguments.get(4).and_then(|argument| descriptor(argument));
        let is_file = |path: &str| is_storage(path) && observer.includes(path);
        let counts = match name {
            // Programs map their code; an application that writes to a mapping shares it.
            "mmap" => {
                let is_shared = call.arguments.contains("MAP_SHARED");
                is_shared && mapped().and_then(|(_, path)| path).is_some_and(is_file)
            }
            _ => call.returned().is_some_and(|number| number > 0),
        };
        self.not_visible[index] += u64::from(counts);
    }

    fn counted(
        &mut self,
        thread: u64,
        call: Call<'_>,
        arguments: &[&str],
        when: When,
        observer: &mut Observer,
    ) {
        let of_descriptor = || {
            let descriptors = arguments.iter().filter_map(|argument| descriptor(argument));
            let mut of_files = descriptors.filter(|(number, _)| *number >= 0);
            of_files.find_map(|(_, path)| path.map(str::to_owned))
        };
        let path = match ATTRIBUTES_OF_DESCRIPTORS.contains(&call.name) {
            true => of_descriptor(),
            false => self.named_path(thread, call, arguments).or_else(of_descriptor),
        };
        if let Some(path) = &path {
            file_size(call, path, observer);
            let is_done = call.returned() == Some(0) && is_storage(path);
            if is_done && matches!(call.name, "fsync" | "fdatasync") {
                observer.sync(call.name, path.as_bytes(), Some(path), when.begin_ns, when.at);
            }
        }
        count(call.name.trim_end_matches("64"), path, when, observer);
    }

    /// The path in the arguments of a call: absolute, below the directory of the descriptor before it, or
    /// below the working directory.
    fn named_path(&self, thread: u64, call: Call<'_>, arguments: &[&str]) -> Option<String> {
        let is_name = |argument: &&str| argument.starts_with('"');
        let at = match call.name {
            // The first text is the content of the link.
            "symlink" | "symlinkat" => arguments.iter().rposition(is_name)?,
            _ => arguments.iter().position(is_name)?,
        };
        let name = arguments.get(at)?.strip_prefix('"')?.split('"').next()?;
        if name.is_empty() {
            return None;
        }
        if name.starts_with('/') {
            return Some(normalized(name));
        }
        let before = at.checked_sub(1).and_then(|before| descriptor(arguments.get(before)?));
        let directory = match before {
            Some((_, Some(path))) => path,
            _ => self.descriptors.directory(thread)?,
        };
        Some(normalized(&format!("{directory}/{name}")))
    }

    /// Adds what the reader must know.
    pub(super) fn finish(self, observer: &mut Observer) -> Result<(), Error> {
        if self.with_path == 0 && self.without_path > 0 {
            return Err(Error::NoNames { calls: self.without_path });
        }
        let descriptors = self.descriptors.assumed;
        if descriptors > 0 {
            observer.note(Note::AssumedPositions { descriptors });
        }
        for (call, calls) in NOT_VISIBLE.into_iter().zip(self.not_visible) {
            if calls > 0 {
                observer.note(Note::NotVisible { call, calls });
            }
        }
        Ok(())
    }
}

/// The size of an open regular file that `fstat` returns.
fn file_size(call: Call<'_>, path: &str, observer: &mut Observer) {
    let is_regular = call.name.ends_with("stat") || call.name == "newfstatat";
    if !is_regular || !call.arguments.contains("S_IFREG") || !observer.includes(path) {
        return;
    }
    let size = call.arguments.split("st_size=").nth(1).and_then(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_digit())?;
        rest[..end].parse().ok()
    });
    if let (true, Some(size)) = (is_storage(path), size) {
        observer.known_size(path, size);
    }
}

/// Counts a call on a file of the storage, with its time.
fn count(name: &str, path: Option<String>, when: When, observer: &mut Observer) {
    if path.is_some_and(|path| is_storage(&path) && observer.includes(&path)) {
        observer.other(name);
        if when.has_failed {
            observer.other_failed(name);
        }
        if let Some(took_ns) = when.took_ns {
            observer.other_response(name, took_ns);
        }
    }
}

/// A path of a file, not of a socket, a pipe or the kernel.
fn is_storage(path: &str) -> bool {
    path.starts_with('/') && !NOT_STORAGE.iter().any(|start| path.starts_with(start))
}

/// An absolute path without `.` and `..`, as the kernel prints paths of descriptors.
fn normalized(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

fn opened(call: Call<'_>) -> Descriptor {
    let has =
        |flag: &str| call.arguments.split(['|', ',', ' ', '{', '}', '=']).any(|one| one == flag);
    Descriptor {
        position: 0,
        appends: has("O_APPEND"),
        is_direct: Some(has("O_DIRECT")),
        is_durable: Some(has("O_DSYNC") || has("O_SYNC")),
    }
}
