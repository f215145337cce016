//! Time per turn with a volume on disk: `cargo run --release -p disk --example turns DIR`.
//!
//! DIR must be new or empty; the program leaves a volume in it. A turn is some operations of one
//! kind and a sync. A durable turn takes mostly the time of an fdatasync on the disk of DIR.

#![expect(clippy::print_stdout, reason = "the program prints a report")]

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use files::{Caller, FileSystem, Handle, How, Options, SetAttributes, Stability, Time, Unstable};
use units::Bytes;

const CALLER: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
const NOW: Time = Time { seconds: 1, nanoseconds: 0 };
const BLOCK: u64 = 8192;
const BLOCKS: u64 = 16_384;

fn main() {
    let path = std::env::args_os().nth(1).expect("the path of a new or empty directory");
    let mut fs = open(Path::new(&path));
    let file = create(&mut fs, b"data");
    let data = vec![7; BLOCK as usize];
    let write = |fs: &mut FileSystem, i: u64, stability| {
        let offset = i.wrapping_mul(2_654_435_761) % BLOCKS * BLOCK;
        let written = fs.write(file, offset, &data, stability, &CALLER, NOW);
        written.result.expect("there is space");
    };
    for turn in [1, 32] {
        let count = BLOCKS / turn;
        measure(&format!("WRITE 8 KiB unstable, {turn} a turn"), count, turn, |i| {
            (0..turn).for_each(|k| write(&mut fs, i * turn + k, Stability::Unstable));
            fs.sync().expect("synced");
        });
    }
    for turn in [1, 32] {
        measure(&format!("WRITE 8 KiB FILE_SYNC, {turn} a turn"), 100, turn, |i| {
            (0..turn).for_each(|k| write(&mut fs, i * turn + k, Stability::FileSync));
            fs.sync().expect("synced");
        });
    }
    measure("READ 8 KiB", BLOCKS, 1, |i| {
        let offset = i.wrapping_mul(2_654_435_761) % BLOCKS * BLOCK;
        let read = fs.read(file, offset, BLOCK, &CALLER).expect("it exists");
        read.pieces.for_each(|piece| drop(black_box(piece)));
    });
    let mut next = 0u64;
    for turn in [1, 32] {
        measure(&format!("CREATE, {turn} a turn"), 100, turn, |_| {
            for _ in 0..turn {
                create(&mut fs, format!("file-{next}").as_bytes());
                next += 1;
            }
            fs.sync().expect("synced");
        });
    }
    while next < 10_000 {
        let file = create(&mut fs, format!("file-{next}").as_bytes());
        fs.write(file, 0, b"x", Stability::Unstable, &CALLER, NOW).result.expect("there is space");
        next += 1;
    }
    fs.sync().expect("synced");
    drop(fs);
    measure("opening the volume with 10,000 files", 1, 1, |_| {
        black_box(open(Path::new(&path)));
    });
}

fn open(path: &Path) -> FileSystem {
    let log = |message: &str| println!("{message}");
    let directory = disk::Directory::open(path, log).expect("a directory of volumes");
    let options = Options {
        fsid: 1,
        instance: 1,
        quota: Bytes::gib(64),
        memory_max: Bytes::gib(64),
        inodes_max: 1 << 30,
        file_size_max: Bytes::gib(1 << 14),
        links_max: 65_000,
        unstable: Unstable::Kept,
        transfer_max: 1 << 20,
        root: (0, 0, 0o755),
        made: NOW,
    };
    directory.volume("speed", options).expect("a valid volume")
}

fn create(fs: &mut FileSystem, name: &[u8]) -> Handle {
    let how = How::Unchecked(SetAttributes::default());
    fs.create(fs.root(), name, how, &CALLER, NOW).result.expect("there is space").handle
}

fn measure(what: &str, turns: u64, operations: u64, turn: impl FnMut(u64)) {
    let begin = Instant::now();
    (0..turns).for_each(turn);
    let us = begin.elapsed().as_secs_f64() * 1e6 / turns as f64;
    println!("{what:<40}{us:>10.1} us per turn {:>10.2} us per operation", us / operations as f64);
}
