//! Helpers shared by the tests: options, a caller, and the visible state of a volume.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use disk::Directory;
use files::{
    Attributes, Caller, FileSystem, Handle, How, Kind, Options, SetAttributes, Stability, Time,
    Unstable,
};
use units::Bytes;

pub(crate) const ROOT: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };

pub(crate) fn options() -> Options {
    Options {
        fsid: 42,
        instance: 0x1122_3344_5566_7788,
        quota: Bytes::gib(1),
        memory_max: Bytes::gib(1),
        inodes_max: 1_000_000,
        file_size_max: Bytes::gib(16 << 10),
        links_max: 1000,
        unstable: Unstable::Kept,
        transfer_max: 1 << 20,
        root: (0, 0, 0o777),
        made: at(1),
    }
}

/// Options at a later start of the service.
pub(crate) fn later() -> Options {
    Options { fsid: 1, instance: 99, root: (7, 7, 0), made: at(77), ..options() }
}

pub(crate) fn at(seconds: u32) -> Time {
    Time { seconds, nanoseconds: 0 }
}

pub(crate) fn size(size: u64) -> SetAttributes {
    SetAttributes { size: Some(size), ..SetAttributes::default() }
}

/// Locked while a process is started: between fork and exec it has copies of all descriptors, which
/// keep directories locked.
static STARTING: RwLock<()> = RwLock::new(());

pub(crate) fn directory(
    path: &Path,
    log: impl Fn(&str) + Send + Sync + 'static,
) -> Result<Directory, disk::Error> {
    let _no_process_starts = STARTING.read().unwrap_or_else(PoisonError::into_inner);
    Directory::open(path, log)
}

/// Starts a process; its program runs when this returns.
pub(crate) fn started(command: &mut Command) -> Child {
    let _no_directory_opens = STARTING.write().unwrap_or_else(PoisonError::into_inner);
    let ours = locks_of("self");
    let child = command.spawn().unwrap();
    // Linux wakes the parent before exec closes the copied descriptors.
    let until = Instant::now() + Duration::from_secs(60);
    while locks_of(&child.id().to_string()).iter().any(|lock| ours.contains(lock)) {
        assert!(Instant::now() < until, "exec closes the descriptors");
        std::thread::yield_now();
    }
    child
}

/// The locks of directories that a process has open.
fn locks_of(process: &str) -> Vec<PathBuf> {
    // A process that has ended has none.
    let entries = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
    let files = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    files.filter(|file| file.ends_with(".fourcorners-volumes")).collect()
}

pub(crate) fn open(path: &Path, options: Options) -> FileSystem {
    directory(path, |_| {}).unwrap().volume("alpha", options).unwrap()
}

/// Creates a file with these bytes, durably, in the root directory.
pub(crate) fn filled(fs: &mut FileSystem, name: &[u8], bytes: &[u8]) -> Handle {
    let how = How::Guarded(SetAttributes::default());
    let file = fs.create(fs.root(), name, how, &ROOT, at(2)).result.unwrap().handle;
    fs.write(file, 0, bytes, Stability::FileSync, &ROOT, at(2)).result.unwrap();
    fs.sync().unwrap();
    file
}

/// The host file with a file's data.
pub(crate) fn data_path(folder: &Path, file: Handle) -> PathBuf {
    folder.join(format!("alpha/data/{:016x}-{:08x}", file.fileid, file.generation))
}

/// The host file with a file's checksums.
pub(crate) fn sums_path(folder: &Path, file: Handle) -> PathBuf {
    folder.join(format!("alpha/sums/{:016x}-{:08x}", file.fileid, file.generation))
}

/// Copies a directory recursively.
pub(crate) fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() {
            copied(&from, &to);
        } else {
            std::fs::copy(from, to).unwrap();
        }
    }
}

/// All bytes of a file, or of all files below a directory.
pub(crate) fn bytes_below(path: &Path) -> Vec<Vec<u8>> {
    if !path.is_dir() {
        return vec![std::fs::read(path).unwrap()];
    }
    let mut below: Vec<_> =
        std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    below.sort();
    below.iter().flat_map(|path| bytes_below(path)).collect()
}

/// Lines logged for the operator.
#[derive(Clone, Debug, Default)]
pub(crate) struct LoggedLines(Arc<Mutex<Vec<String>>>);

impl LoggedLines {
    pub(crate) fn log(&self) -> impl Fn(&str) + Send + Sync + 'static {
        let lines = Arc::clone(&self.0);
        move |line: &str| lines.lock().unwrap().push(line.to_owned())
    }

    pub(crate) fn any(&self, part: &str) -> bool {
        self.count(part) > 0
    }

    pub(crate) fn count(&self, part: &str) -> usize {
        self.0.lock().unwrap().iter().filter(|line| line.contains(part)).count()
    }
}

pub(crate) fn bytes(fs: &FileSystem, file: Handle) -> Vec<u8> {
    let size = fs.getattr(file).unwrap().size;
    let mut all = Vec::new();
    while (all.len() as u64) < size {
        let read = fs.read(file, all.len() as u64, size, &ROOT).unwrap();
        assert!(read.count > 0);
        read.pieces.for_each(|piece| all.extend_from_slice(&piece));
    }
    all
}

/// One object as a client sees it: handle, attributes, cookie, name, text of a link.
pub(crate) type Seen = (Handle, Attributes, u64, Vec<u8>, Vec<u8>);

/// All objects, by all their names.
pub(crate) fn everything(fs: &FileSystem) -> Vec<Seen> {
    let root = fs.root();
    let mut all: Vec<Seen> = vec![(root, fs.getattr(root).unwrap(), 0, Vec::new(), Vec::new())];
    let mut next = 0;
    while next < all.len() {
        let (directory, attributes) = (all[next].0, all[next].1);
        next += 1;
        if attributes.kind != Kind::Directory {
            continue;
        }
        let (mut cookie, mut verifier) = (0, [0; 8]);
        loop {
            let page = fs.readdirplus(directory, cookie, verifier, 65_536, 65_536, &ROOT).unwrap();
            verifier = page.verifier;
            for plus in &page.entries {
                cookie = plus.entry.cookie;
                if matches!(plus.entry.name, b"." | b"..") {
                    continue;
                }
                let object = plus.object.unwrap();
                let text = fs.readlink(object.handle).unwrap_or_default().to_vec();
                let name = plus.entry.name.to_vec();
                all.push((object.handle, object.attributes, cookie, name, text));
            }
            if page.eof {
                break;
            }
        }
    }
    all
}
