//! Time per procedure without a storage: `cargo run --release -p files --example speed`.
//!
//! Each line has the median and the minimum of several rounds, in nanoseconds per call. Offsets and
//! names are in scattered order, so that processor caches have no more effect than on a server. Pin
//! the process for repeatable figures (`taskset -c 1`).

#![expect(clippy::print_stdout, reason = "the program prints a report")]

use std::hint::black_box;
use std::time::Instant;

use files::{
    Caller, FileSystem, Handle, How, Options, Piece, SetAttributes, Stability, Time, Unstable,
};
use units::Bytes;

const CALLER: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
const NAMES: u64 = 100_000;
const FILE_BYTES: u64 = 256 << 20;
const BLOCK: u64 = 8192;
const BLOCKS: u64 = FILE_BYTES / BLOCK;
type Name = [u8; 17];
const ROUNDS: usize = 7;

fn main() {
    let mut fs = FileSystem::new(options());
    let root = fs.root();
    let directory =
        fs.mkdir(root, b"d", &SetAttributes::default(), &CALLER, now()).result.expect("created");
    let directory = directory.handle;
    let mut handles = Vec::new();
    for number in 0..NAMES {
        handles.push(create(&mut fs, directory, &name(number)));
    }
    measure("GETATTR, 100,000 files", 100_000, |i| {
        let handle = handles[scattered(i, NAMES) as usize];
        black_box(fs.getattr(black_box(handle))).expect("it exists");
    });
    // As in a server that has just received the name: the name is cached and the directory is not.
    let names: Vec<Name> = (0..NAMES).map(|i| name(scattered(i, NAMES))).collect();
    measure("LOOKUP, 100,000 names", 100_000, |i| {
        let name = &names[(i % NAMES) as usize];
        black_box(fs.lookup(directory, black_box(name), &CALLER)).expect("it exists");
    });
    let fresh: Vec<Name> = (0..NAMES).map(|i| name(NAMES + scattered(i, NAMES))).collect();
    measure("CREATE + REMOVE, 100,000 names", 50_000, |i| {
        let name = &fresh[(i % NAMES) as usize];
        create(&mut fs, directory, name);
        fs.remove(directory, name, &CALLER, now()).result.expect("created above");
    });

    let file = create(&mut fs, root, b"f");
    let data = vec![7; BLOCK as usize];
    measure_once("WRITE 8 KiB over holes, in order", BLOCKS, |i| {
        write(&mut fs, file, i * BLOCK, &data, Stability::Unstable);
    });
    measure("WRITE 8 KiB in place, scattered", 30_000, |i| {
        write(&mut fs, file, scattered(i, BLOCKS) * BLOCK, &data, Stability::Unstable);
    });
    measure("WRITE 8 KiB in place, one chunk", 30_000, |i| {
        write(&mut fs, file, i % 8 * BLOCK, &data, Stability::Unstable);
    });
    measure("READ 8 KiB as pieces, scattered", 100_000, |i| {
        let read = fs.read(file, scattered(i, BLOCKS) * BLOCK, BLOCK, &CALLER);
        for piece in read.expect("it is a file").pieces {
            black_box::<Piece>(piece);
        }
    });
    let chunks = FILE_BYTES / 65_536;
    measure("WRITE 8 KiB to a chunk that a reply shares", 3_000, |i| {
        let offset = scattered(i, chunks) * 65_536;
        let read = fs.read(file, offset, BLOCK, &CALLER).expect("it is a file");
        let shared: Vec<Piece> = read.pieces.collect();
        write(&mut fs, file, offset, &data, Stability::Unstable);
        black_box(shared);
    });
    measure("copying 8 KiB, scattered (for comparison)", 30_000, {
        let mut memory = vec![1u8; FILE_BYTES as usize];
        let data = &data;
        move |i| {
            let at = (scattered(i, BLOCKS) * BLOCK) as usize;
            black_box(&mut memory[at..at + BLOCK as usize]).copy_from_slice(data);
        }
    });
    fs.remove(root, b"f", &CALLER, now()).result.expect("it exists");
    let file = create(&mut fs, root, b"g");
    measure_once("WRITE 8 KiB over holes, scattered", BLOCKS, |i| {
        write(&mut fs, file, scattered(i, BLOCKS) * BLOCK, &data, Stability::Unstable);
    });
}

fn options() -> Options {
    Options {
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
        made: now(),
    }
}

fn now() -> Time {
    Time { seconds: 1, nanoseconds: 0 }
}

fn name(number: u64) -> Name {
    format!("file-{number:08}.dat").into_bytes().try_into().expect("17 bytes")
}

fn create(fs: &mut FileSystem, directory: Handle, name: &[u8]) -> Handle {
    let how = How::Guarded(SetAttributes::default());
    fs.create(directory, name, how, &CALLER, now()).result.expect("there is space").handle
}

fn write(fs: &mut FileSystem, file: Handle, offset: u64, data: &[u8], stability: Stability) {
    let written = fs.write(file, offset, data, stability, &CALLER, now());
    black_box(written).result.expect("there is space");
}

/// A permutation of `0..among`: the factor is coprime to every `among` used here.
fn scattered(i: u64, among: u64) -> u64 {
    i.wrapping_mul(2_654_435_761) % among
}

fn measure_once(what: &str, calls: u64, mut call: impl FnMut(u64)) {
    let begin = Instant::now();
    (0..calls).for_each(&mut call);
    let ns = begin.elapsed().as_nanos() as u64 / calls;
    println!("{what:<44}{ns:>8} ns");
}

fn measure(what: &str, calls: u64, mut call: impl FnMut(u64)) {
    let mut rounds: Vec<u64> = (0..ROUNDS as u64)
        .map(|round| {
            let begin = Instant::now();
            (round * calls..(round + 1) * calls).for_each(&mut call);
            begin.elapsed().as_nanos() as u64 / calls
        })
        .collect();
    rounds.sort_unstable();
    println!("{what:<44}{:>8} ns   minimum {}", rounds[ROUNDS / 2], rounds[0]);
}
