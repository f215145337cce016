//! What the tests share: options, a caller, what can be seen of a volume.

use std::path::Path;

use disk::Directory;
use files::{Attributes, Caller, FileSystem, Handle, Kind, Options, SetAttributes, Time, Unstable};
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

/// Options of a later life of the service.
pub(crate) fn later() -> Options {
    Options { fsid: 1, instance: 99, root: (7, 7, 0), made: at(77), ..options() }
}

pub(crate) fn at(seconds: u32) -> Time {
    Time { seconds, nanoseconds: 0 }
}

pub(crate) fn size(size: u64) -> SetAttributes {
    SetAttributes { size: Some(size), ..SetAttributes::default() }
}

pub(crate) fn open(path: &Path, options: Options) -> FileSystem {
    let path = path.to_owned();
    let directory = Directory::open(&path, |_| {}).unwrap();
    directory.volume("alpha", options).unwrap()
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

/// Every object, by every name of it.
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
