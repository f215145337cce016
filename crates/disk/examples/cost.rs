//! Time per READ and WRITE of a volume on disk, without a network, at random offsets of a file of
//! 64 MiB in the page cache.
//!
//! `cargo run --release -p disk --example cost -- DIR`; with DIR on tmpfs, the disk has no effect.

#![expect(clippy::print_stdout, reason = "the program prints its results")]

use std::error::Error;
use std::time::Instant;

use files::{Caller, How, Options, SetAttributes, Stability, Time, Unstable};
use units::Bytes;

const FILE_BYTES: u64 = 64 << 20;
const CALLS: u64 = 20_000;
const ROOT: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("give a directory")?;
    let now = Time { seconds: 1, nanoseconds: 0 };
    let options = Options {
        fsid: 1,
        instance: 1,
        quota: Bytes::gib(1),
        memory_max: Bytes::gib(1),
        inodes_max: 1000,
        file_size_max: Bytes::gib(1),
        links_max: 100,
        unstable: Unstable::Kept,
        transfer_max: 1 << 20,
        root: (0, 0, 0o755),
        made: now,
    };
    let volumes = disk::Directory::open(path.as_ref(), |_| {})?;
    let mut fs = volumes.volume("cost", options)?;
    let how = How::Unchecked(SetAttributes::default());
    let file = fs.create(fs.root(), b"file", how, &ROOT, now).result?.handle;
    for offset in (0..FILE_BYTES).step_by(1 << 20) {
        fs.write(file, offset, &vec![7; 1 << 20], Stability::Unstable, &ROOT, now).result?;
    }
    fs.commit(file, 0, 0).result?;
    fs.sync().map_err(|error| format!("{error:?}"))?;
    for length in [4 << 10, 64 << 10] {
        let data = vec![9; length as usize];
        // An odd step visits every block once per pass, in scattered order.
        let offset = |call: u64| call.wrapping_mul(7919) % (FILE_BYTES / length) * length;
        let begun = Instant::now();
        for call in 0..CALLS {
            let read = fs.read(file, offset(call), length, &ROOT)?;
            assert_eq!(read.count, length);
        }
        let read_ns = begun.elapsed().as_nanos() as u64 / CALLS;
        let begun = Instant::now();
        for call in 0..CALLS {
            fs.write(file, offset(call), &data, Stability::Unstable, &ROOT, now).result?;
        }
        let write_ns = begun.elapsed().as_nanos() as u64 / CALLS;
        println!("{:2} KiB: read {read_ns} ns, write {write_ns} ns", length >> 10);
    }
    Ok(())
}
