//! READ, WRITE, COMMIT, restarts, READLINK.

use files::{Error, FileSystem, Options, Piece, SetAttributes, Stability, Unstable};
use units::Bytes;

use crate::scene::*;

#[test]
fn a_read_stops_at_the_end_and_sets_eof() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, b"0123456789");
    for (offset, count, expected, eof) in [
        (0, 4, "0123", false),
        (6, 4, "6789", true),
        (6, 100, "6789", true),
        (10, 5, "", true),
        (1 << 60, 5, "", true),
        (u64::MAX, u64::MAX, "", true),
        (3, 0, "", false),
    ] {
        let read = fs.read(file, offset, count, &ROOT).unwrap();
        assert_eq!((read.count, read.eof), (expected.len() as u64, eof), "{offset} {count}");
        assert_eq!(read.pieces.collect::<Vec<_>>().concat(), expected.as_bytes());
        assert_eq!(read.attributes.size, 10);
    }
}

#[test]
fn holes_read_as_zeros_also_after_a_truncation() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, &[7; 200_000]);
    fs.setattr(file, &size(100), None, &ROOT, at(4)).result.unwrap();
    fs.setattr(file, &size(200_000), None, &ROOT, at(5)).result.unwrap();
    let bytes = text(&fs, file);
    assert!(bytes[..100].iter().all(|byte| *byte == 7));
    assert!(bytes[100..].iter().all(|byte| *byte == 0));
    assert_eq!(fs.getattr(file).unwrap().used, 4096);
}

#[test]
fn an_empty_write_succeeds_and_changes_nothing() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let before = fs.getattr(file).unwrap();
    let answer = fs.write(file, 1 << 40, b"", Stability::Unstable, &ROOT, at(9));
    assert_eq!(answer.result.unwrap().count, 0);
    assert_eq!(fs.getattr(file), Ok(before));
}

#[test]
fn a_write_sets_mtime_and_ctime_and_returns_attributes_before_and_after() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let answer = fs.write(file, 5, b"abc", Stability::FileSync, &ROOT, at(9));
    let (before, after) = (answer.wcc.before.unwrap(), answer.wcc.after.unwrap());
    assert_eq!((before.size, before.mtime), (0, at(2)));
    assert_eq!((after.size, after.mtime, after.ctime, after.atime), (8, at(9), at(9), at(2)));
}

#[test]
fn directories_are_neither_read_nor_written_nor_committed() {
    let mut fs = fs();
    let root = fs.root();
    assert_eq!(fs.read(root, 0, 1, &ROOT).err(), Some(Error::IsDir));
    let written = fs.write(root, 0, b"x", Stability::FileSync, &ROOT, at(3)).result;
    assert_eq!(written.err(), Some(Error::IsDir));
    assert_eq!(fs.commit(root, 0, 0).result, Err(Error::IsDir));
}

#[test]
fn a_write_beyond_the_largest_size_is_fbig_also_if_the_offset_overflows() {
    let mut fs = FileSystem::new(Options { file_size_max: Bytes::new(10), ..options() });
    let file = file(&mut fs, "f");
    for (offset, error) in [(8, None), (9, Some(Error::FBig)), (u64::MAX, Some(Error::FBig))] {
        let result = fs.write(file, offset, b"ab", Stability::FileSync, &ROOT, at(3)).result;
        assert_eq!(result.err(), error, "{offset}");
    }
    assert_eq!(text(&fs, file), b"\0\0\0\0\0\0\0\0ab");
}

#[test]
fn a_symbolic_link_keeps_its_target_and_other_objects_have_none() {
    let mut fs = fs();
    let root = fs.root();
    let none = SetAttributes::default();
    let text = b"../no/such/\xff";
    let link = fs.symlink(root, b"l", text, &none, &ROOT, at(3)).result.unwrap();
    assert_eq!(fs.readlink(link.handle), Ok(&text[..]));
    assert_eq!((link.attributes.size, link.attributes.mode), (12, 0o777));
    assert_eq!(fs.readlink(root), Err(Error::Inval));
    let long = fs.symlink(root, b"m", &[b'x'; 4097], &none, &ROOT, at(3));
    assert_eq!(long.result, Err(Error::NameTooLong));
    let empty = fs.symlink(root, b"m", b"", &none, &ROOT, at(3));
    assert_eq!(empty.result, Err(Error::Inval));
}

#[test]
fn a_restart_loses_uncommitted_data_and_changes_the_verifier() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, b"stable");
    let unstable = fs.write(file, 0, b"UN", Stability::Unstable, &ROOT, at(4)).result.unwrap();
    assert_eq!(unstable.committed, Stability::Unstable);
    assert_eq!(text(&fs, file), b"UNable");
    fs.restart(at(5));
    assert_eq!(text(&fs, file), b"stable");
    assert_ne!(fs.write_verifier(), unstable.verifier);
    assert_eq!(fs.getattr(file).unwrap().mtime, at(5), "clients must invalidate their caches");
    fs.check();
}

#[test]
fn a_commit_makes_earlier_writes_stable_and_returns_their_verifier() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    let written = fs.write(file, 0, b"abc", Stability::Unstable, &ROOT, at(4)).result.unwrap();
    assert_eq!(fs.uncommitted(), Bytes::kib(4));
    assert_eq!(fs.commit(file, 0, 0).result, Ok(written.verifier));
    assert_eq!(fs.uncommitted(), Bytes::ZERO);
    fs.restart(at(5));
    assert_eq!(text(&fs, file), b"abc");
    assert_eq!(fs.getattr(file).unwrap().mtime, at(4), "nothing was lost");
}

#[test]
fn a_restart_loses_uncommitted_data_outside_a_committed_range() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, &[1; 32_768]);
    fs.write(file, 0, &[2; 32_768], Stability::Unstable, &ROOT, at(4)).result.unwrap();
    fs.commit(file, 8192, 4096).result.unwrap();
    fs.restart(at(5));
    let bytes = text(&fs, file);
    let twos: Vec<usize> =
        bytes.chunks(4096).enumerate().filter(|(_, b)| b[0] == 2).map(|(i, _)| i).collect();
    assert_eq!(twos, [2]);
    fs.check();
}

#[test]
fn a_restart_keeps_names_handles_and_cookies() {
    let mut fs = fs();
    let root = fs.root();
    let file = file(&mut fs, "f");
    let page = fs.readdir(root, 0, [0; 8], 4096, &ROOT).unwrap();
    let (cookie, verifier) = (page.entries[1].cookie, page.verifier);
    fs.restart(at(5));
    assert_eq!(find(&fs, root, "f"), Some(file));
    let page = fs.readdir(root, cookie, verifier, 4096, &ROOT).unwrap();
    assert_eq!(page.entries.len(), 1);
}

#[test]
fn beyond_the_limit_on_uncommitted_data_all_of_it_becomes_stable() {
    let unstable = Unstable::MayBeLost { max: Bytes::kib(16) };
    let mut fs = FileSystem::new(Options { unstable, ..options() });
    let (one, two) = (file(&mut fs, "1"), file(&mut fs, "2"));
    let unstable = |fs: &mut FileSystem, file, blocks: usize| {
        let data = vec![9; blocks * 4096];
        fs.write(file, 0, &data, Stability::Unstable, &ROOT, at(4)).result.unwrap().committed
    };
    assert_eq!(unstable(&mut fs, one, 4), Stability::Unstable);
    assert_eq!(unstable(&mut fs, one, 4), Stability::Unstable);
    assert_eq!(fs.uncommitted(), Bytes::kib(16), "a second write adds no copy");
    assert_eq!(unstable(&mut fs, two, 1), Stability::Unstable);
    assert_eq!(fs.uncommitted(), Bytes::kib(4));
    assert_eq!(unstable(&mut fs, two, 5), Stability::FileSync, "beyond the limit by itself");
    fs.restart(at(5));
    assert_eq!(text(&fs, one).len(), 16_384);
    fs.check();
}

#[test]
fn with_a_limit_of_0_all_writes_are_stable() {
    let unstable = Unstable::MayBeLost { max: Bytes::ZERO };
    let mut fs = FileSystem::new(Options { unstable, ..options() });
    let file = file(&mut fs, "f");
    let written = fs.write(file, 0, b"abc", Stability::Unstable, &ROOT, at(4)).result.unwrap();
    assert_eq!(written.committed, Stability::FileSync);
    fs.restart(at(5));
    assert_eq!(text(&fs, file), b"abc");
}

#[test]
fn with_unstable_data_kept_replies_have_the_requested_stability_and_a_restart_loses_nothing() {
    let mut fs = FileSystem::new(Options { unstable: Unstable::Kept, ..options() });
    let file = file(&mut fs, "f");
    for (requested, text) in [(Stability::Unstable, b"abc"), (Stability::DataSync, b"def")] {
        let written = fs.write(file, 0, text, requested, &ROOT, at(4)).result.unwrap();
        assert_eq!(written.committed, requested);
    }
    let written = fs.write(file, 3, b"ghi", Stability::Unstable, &ROOT, at(4)).result.unwrap();
    assert_eq!(fs.commit(file, 0, 0).result, Ok(written.verifier));
    assert_eq!(fs.uncommitted(), Bytes::ZERO);
    fs.restart(at(5));
    assert_eq!(text(&fs, file), b"defghi");
    assert_ne!(fs.write_verifier(), written.verifier);
    fs.check();
}

#[test]
fn bytes_that_were_read_do_not_change_with_the_file() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    write(&mut fs, file, 0, &[1; 100_000]);
    let read: Vec<Piece> = fs.read(file, 0, 100_000, &ROOT).unwrap().pieces.collect();
    write(&mut fs, file, 50_000, &[2; 50_000]);
    fs.setattr(file, &size(10), None, &ROOT, at(4)).result.unwrap();
    fs.remove(fs.root(), b"f", &ROOT, at(5)).result.unwrap();
    assert!(read.concat() == [1; 100_000]);
}

#[test]
fn a_removed_file_leaves_no_uncommitted_data() {
    let mut fs = fs();
    let file = file(&mut fs, "f");
    fs.write(file, 0, &[1; 10_000], Stability::Unstable, &ROOT, at(4)).result.unwrap();
    fs.remove(fs.root(), b"f", &ROOT, at(5)).result.unwrap();
    assert_eq!((fs.used(), fs.uncommitted()), (Bytes::ZERO, Bytes::ZERO));
    fs.check();
    fs.restart(at(6));
    assert_eq!(find(&fs, fs.root(), "f"), None);
}

#[test]
fn offsets_and_sizes_at_the_end_of_their_range_do_not_panic() {
    let all = Bytes::new(u64::MAX);
    let unlimited = Options { file_size_max: all, quota: all, memory_max: all, ..options() };
    let mut fs = FileSystem::new(unlimited);
    let root = fs.root();
    let file = file(&mut fs, "f");
    let largest = i64::MAX as u64;
    assert_eq!(fs.fsinfo(root).unwrap().file_size_max, Bytes::new(largest));
    for stability in [Stability::Unstable, Stability::FileSync] {
        write(&mut fs, file, largest - 2, b"xx");
        for offset in [largest - 1, largest, u64::MAX - 1, u64::MAX] {
            let refused = fs.write(file, offset, b"xx", stability, &ROOT, at(3)).result;
            assert_eq!(refused.err(), Some(Error::FBig));
        }
    }
    assert_eq!(fs.setattr(file, &size(u64::MAX), None, &ROOT, at(4)).result, Err(Error::FBig));
    for (offset, count) in [(u64::MAX, 0), (u64::MAX, u64::MAX), (0, u64::MAX), (largest, 1)] {
        assert!(fs.commit(file, offset, count).result.is_ok());
        assert!(fs.read(file, offset, count, &ROOT).is_ok());
    }
    let read = fs.read(file, largest - 3, 100, &ROOT).unwrap();
    assert_eq!(read.pieces.collect::<Vec<_>>().concat(), b"\0xx");
    fs.check();
}
