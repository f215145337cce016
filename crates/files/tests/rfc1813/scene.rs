//! Helpers shared by the tests: a file system with round limits, callers, times.

use files::{
    Caller, Created, FileSystem, Handle, How, Options, SetAttributes, Stability, Time, Unstable,
};
use units::Bytes;

pub(crate) const ROOT: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
pub(crate) const ALICE: Caller<'static> =
    Caller { uid: 1000, gid: 100, gids: &[7, 8], read_only: false };
pub(crate) const BOB: Caller<'static> =
    Caller { uid: 1001, gid: 101, gids: &[8], read_only: false };
pub(crate) const READER: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: true };

pub(crate) fn options() -> Options {
    Options {
        fsid: 42,
        instance: 0x1122_3344_5566_7788,
        quota: Bytes::gib(1),
        memory_max: Bytes::gib(1),
        inodes_max: 1_000_000,
        file_size_max: Bytes::gib(16 << 10),
        links_max: 1000,
        unstable: Unstable::MayBeLost { max: Bytes::mib(64) },
        transfer_max: 1 << 20,
        root: (0, 0, 0o777),
        made: at(1),
    }
}

pub(crate) fn fs() -> FileSystem {
    FileSystem::new(options())
}

pub(crate) fn at(seconds: u32) -> Time {
    Time { seconds, nanoseconds: 0 }
}

pub(crate) fn mode(mode: u32) -> SetAttributes {
    SetAttributes { mode: Some(mode), ..SetAttributes::default() }
}

pub(crate) fn size(size: u64) -> SetAttributes {
    SetAttributes { size: Some(size), ..SetAttributes::default() }
}

/// A file in the root directory that all users may write, created at second 2.
pub(crate) fn file(fs: &mut FileSystem, name: &str) -> Handle {
    file_in(fs, fs.root(), name).handle
}

pub(crate) fn file_in(fs: &mut FileSystem, directory: Handle, name: &str) -> Created {
    let how = How::Guarded(mode(0o666));
    fs.create(directory, name.as_bytes(), how, &ROOT, at(2)).result.unwrap()
}

pub(crate) fn directory(fs: &mut FileSystem, parent: Handle, name: &str) -> Handle {
    fs.mkdir(parent, name.as_bytes(), &mode(0o777), &ROOT, at(2)).result.unwrap().handle
}

pub(crate) fn write(fs: &mut FileSystem, file: Handle, offset: u64, data: &[u8]) {
    let written = fs.write(file, offset, data, Stability::FileSync, &ROOT, at(3)).result.unwrap();
    assert_eq!(written.count, data.len() as u64);
}

pub(crate) fn text(fs: &FileSystem, file: Handle) -> Vec<u8> {
    let read = fs.read(file, 0, u64::MAX, &ROOT).unwrap();
    assert!(read.eof);
    let bytes = read.pieces.collect::<Vec<_>>().concat();
    assert_eq!(bytes.len() as u64, read.count);
    bytes
}

pub(crate) fn find(fs: &FileSystem, directory: Handle, name: &str) -> Option<Handle> {
    fs.lookup(directory, name.as_bytes(), &ROOT).ok().map(|found| found.handle)
}
