//! A kill at any moment. The test starts itself as the process to be killed.
//!
//! The process works in turns: a few operations, then `sync`, then a line that acknowledges the
//! turn. The operations are a function of the seed. The parent performs them in memory and thus
//! knows the possible states of the volume: after the last acknowledged turn, or after any
//! operation of the next turn. A kill keeps everything that was passed to the kernel, so no
//! acknowledged change may be missing, stable or not.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use files::{Attributes, FileSystem, Handle, How, SetAttributes, Stability};

use crate::scene::*;

const DIRECTORY: &str = "FOURCORNERS_CRASH_DIRECTORY";
const SEED: &str = "FOURCORNERS_CRASH_SEED";

/// A random number as a function of its arguments (splitmix64).
fn draw(seed: u64, turn: u64, operation: u64, what: u64) -> u64 {
    let mut z = seed ^ turn << 32 ^ operation << 16 ^ what << 8;
    z = z.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn operations(seed: u64, turn: u64) -> u64 {
    1 + draw(seed, turn, 0, 99) % 4
}

/// Performs an operation; returns whether it succeeded, which depends only on the tree.
fn operate(fs: &mut FileSystem, seed: u64, turn: u64, operation: u64) -> bool {
    let draw = |what, below: u64| draw(seed, turn, operation, what) % below;
    let now = at(100 + turn as u32);
    let root = fs.root();
    let directories = [&b"x"[..], b"y"].map(|name| fs.lookup(root, name, &ROOT));
    let directory = |which: u64| match &directories[which as usize % 2] {
        Ok(found) if which < 2 => found.handle,
        _ => root,
    };
    let names = [&b"a"[..], b"b", b"c", b"d", b"e"];
    let (from, to) = (directory(draw(1, 3)), directory(draw(2, 3)));
    let (name, other) = (names[draw(3, 5) as usize], names[draw(4, 5) as usize]);
    let file = fs.lookup(from, name, &ROOT).map(|found| found.handle);
    let how = How::Guarded(SetAttributes::default());
    let set = SetAttributes::default();
    match (draw(0, 16), file) {
        (0 | 1, Err(_)) => fs.create(from, name, how, &ROOT, now).result.is_ok(),
        (2, _) => {
            let name = [&b"x"[..], b"y"][draw(5, 2) as usize];
            fs.mkdir(root, name, &set, &ROOT, now).result.is_ok()
        }
        (3, _) => fs.symlink(from, name, b"text", &set, &ROOT, now).result.is_ok(),
        (4..=8, Ok(file)) => {
            let data = vec![1 + draw(6, 255) as u8; 1 + draw(7, 20_000) as usize];
            let how = [Stability::Unstable, Stability::DataSync, Stability::FileSync];
            let stability = how[draw(8, 3) as usize];
            fs.write(file, draw(9, 60_000), &data, stability, &ROOT, now).result.is_ok()
        }
        (9, Ok(file)) => fs.setattr(file, &size(draw(10, 60_000)), None, &ROOT, now).result.is_ok(),
        (10, _) => fs.remove(from, name, &ROOT, now).result.is_ok(),
        (11, _) => {
            let name = [&b"x"[..], b"y"][draw(5, 2) as usize];
            fs.rmdir(root, name, &ROOT, now).result.is_ok()
        }
        (12, _) => fs.rename((from, name), (to, other), &ROOT, now).result.is_ok(),
        (13, Ok(file)) => fs.link(file, to, other, &ROOT, now).result.is_ok(),
        (14, Ok(file)) => fs.commit(file, 0, 0).result.is_ok(),
        (_, Err(_)) => fs.create(to, other, how, &ROOT, now).result.is_ok(),
        _ => true,
    }
}

/// Not a test: the process that `a_kill_at_any_moment…` starts and kills.
#[test]
fn the_process_that_is_killed() {
    let Some(folder) = std::env::var_os(DIRECTORY) else { return };
    let seed: u64 = std::env::var(SEED).unwrap().parse().unwrap();
    let mut fs = open(Path::new(&folder), options());
    let mut out = std::io::stdout();
    for turn in 0..100_000 {
        for operation in 0..operations(seed, turn) {
            operate(&mut fs, seed, turn, operation);
        }
        fs.sync().unwrap();
        writeln!(out, "acknowledged {turn}").unwrap();
        out.flush().unwrap();
    }
}

/// The visible state of a volume, with the bytes of its files. `used` is omitted, because it may
/// include blocks of an interrupted write.
fn state(fs: &FileSystem) -> (Vec<Seen>, Vec<(Handle, Vec<u8>)>) {
    let mut seen = everything(fs);
    for object in &mut seen {
        object.1 = Attributes { used: 0, ..object.1 };
    }
    let files = seen.iter().filter(|object| object.1.kind == files::Kind::Regular);
    let bytes = files.map(|object| (object.0, bytes(fs, object.0))).collect();
    (seen, bytes)
}

#[test]
fn a_kill_at_any_moment_loses_nothing_that_was_acknowledged_and_halves_nothing() {
    for seed in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "crash::the_process_that_is_killed", "--nocapture"]);
        command.env(DIRECTORY, folder.path()).env(SEED, seed.to_string()).stdout(Stdio::piped());
        let mut child = started(&mut command);
        let mut last = None;
        let enough = draw(seed, 0, 0, 0) % 100;
        let mut killed = false;
        for line in BufReader::new(child.stdout.take().unwrap()).lines() {
            let line = line.unwrap();
            let Some((_, turn)) = line.split_once("acknowledged ") else { continue };
            last = Some(turn.parse::<u64>().unwrap());
            if !killed && last >= Some(enough) {
                child.kill().unwrap();
                killed = true;
            }
        }
        child.wait().unwrap();
        assert!(killed, "the process ended before the kill");

        let mut model = FileSystem::new(options());
        let done = last.unwrap();
        for turn in 0..=done {
            for operation in 0..operations(seed, turn) {
                operate(&mut model, seed, turn, operation);
            }
        }
        let mut states = vec![state(&model)];
        for operation in 0..operations(seed, done + 1) {
            operate(&mut model, seed, done + 1, operation);
            states.push(state(&model));
        }
        let mut fs = open(folder.path(), later());
        fs.check();
        let (seen, data) = state(&fs);
        let found = states.iter().position(|state| state.0 == seen);
        let found = found.unwrap_or_else(|| {
            panic!("seed {seed}: neither the tree after turn {done} nor one during the next")
        });
        for (index, (file, bytes)) in data.iter().enumerate() {
            let after = &states[found].1[index];
            assert_eq!((after.0, after.1.len()), (*file, bytes.len()));
            for (at, byte) in bytes.iter().enumerate() {
                let later = states[found..].iter().flat_map(|state| &state.1);
                let mut possible = later.filter(|(other, _)| other == file);
                assert!(
                    possible.any(|(_, bytes)| bytes.get(at).is_some_and(|other| other == byte)),
                    "seed {seed}: byte {at} of {file:?} was never {byte}"
                );
            }
        }
        let how = How::Guarded(SetAttributes::default());
        fs.create(fs.root(), b"after", how, &ROOT, at(9)).result.unwrap();
        fs.sync().unwrap();
        fs.check();
    }
}
