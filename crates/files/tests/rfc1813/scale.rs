//! Operations that must stay fast at scale.

use std::time::{Duration, Instant};

use files::{FileSystem, How, Options};
use units::Bytes;

use crate::scene::*;

/// Far above the normal duration (a fraction of a second, not optimised). A cost that grows with
/// the square of the entries takes minutes.
const DURATION_MAX: Duration = Duration::from_secs(30);

#[test]
fn a_hundred_thousand_files_in_one_directory_are_created_found_listed_and_removed_fast() {
    let started = Instant::now();
    let mut fs = fs();
    let root = fs.root();
    let name = |number: u32| format!("file-{number:08}");
    for number in 0..100_000 {
        let how = How::Guarded(mode(0o644));
        fs.create(root, name(number).as_bytes(), how, &ROOT, at(2)).result.unwrap();
    }
    for number in (0..100_000).rev() {
        assert!(find(&fs, root, &name(number)).is_some());
    }
    let (mut cookie, mut verifier, mut seen, mut eof) = (0, [0; 8], 0, false);
    while !eof {
        let page = fs.readdirplus(root, cookie, verifier, 8192, 32_768, &ROOT).unwrap();
        seen += page.entries.len();
        cookie = page.entries.last().map_or(cookie, |entry| entry.entry.cookie);
        (verifier, eof) = (page.verifier, page.eof);
    }
    assert_eq!(seen, 100_002);
    for number in 0..100_000 {
        fs.remove(root, name(number).as_bytes(), &ROOT, at(3)).result.unwrap();
    }
    fs.check();
    assert!(started.elapsed() < DURATION_MAX, "{:?}", started.elapsed());
}

#[test]
fn a_sparse_file_of_a_tebibyte_uses_memory_only_for_written_data() {
    let mut fs = FileSystem::new(Options { memory_max: Bytes::mib(1), ..options() });
    let file = file(&mut fs, "f");
    let memory = fs.memory().get();
    let end = (1u64 << 40) - 3;
    write(&mut fs, file, end, b"end");
    write(&mut fs, file, 1 << 39, b"middle");
    let attributes = fs.getattr(file).unwrap();
    assert_eq!((attributes.size, attributes.used), (1 << 40, 8192));
    // The last block is the sixteenth of its chunk, so the chunk has its full length.
    assert_eq!(fs.memory().get() - memory, (64 << 10) + (4 << 10));
    let read = fs.read(file, end - 5, 100, &ROOT).unwrap();
    assert_eq!(read.pieces.collect::<Vec<_>>().concat(), b"\0\0\0\0\0end");
    fs.setattr(file, &size(1 << 44), None, &ROOT, at(4)).result.unwrap();
    fs.setattr(file, &size(0), None, &ROOT, at(5)).result.unwrap();
    assert_eq!(fs.memory().get(), memory);
    fs.check();
}
