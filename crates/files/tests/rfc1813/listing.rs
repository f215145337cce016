//! READDIR and READDIRPLUS.

use std::collections::{BTreeMap, BTreeSet};

use files::{Error, FileSystem, Handle};
use proptest::prelude::*;

use crate::scene::*;

/// Bytes of a reply without entries, counted by hand from RFC 1813.
const FRAME: u32 = 88 + 8 + 4 + 4;

fn names(fs: &FileSystem, directory: Handle, count: u32) -> Vec<String> {
    let (mut cookie, mut verifier, mut all) = (0, [0; 8], Vec::new());
    loop {
        let page = fs.readdir(directory, cookie, verifier, count, &ROOT).unwrap();
        for entry in &page.entries {
            all.push(String::from_utf8(entry.name.to_vec()).unwrap());
            assert!(entry.cookie > cookie);
            cookie = entry.cookie;
        }
        verifier = page.verifier;
        if page.eof {
            return all;
        }
    }
}

#[test]
fn a_listing_has_both_dots_and_all_names_in_the_order_of_creation_at_any_page_size() {
    let mut fs = fs();
    let root = fs.root();
    for name in ["zebra", "ant", "middle"] {
        file(&mut fs, name);
    }
    for count in [FRAME + 32, 200, 4096] {
        assert_eq!(names(&fs, root, count), [".", "..", "zebra", "ant", "middle"], "{count}");
    }
    let page = fs.readdir(root, 0, [0; 8], 4096, &ROOT).unwrap();
    assert_eq!((page.entries[0].fileid, page.entries[1].fileid), (2, 2));
}

#[test]
fn a_page_is_filled_to_the_byte_and_one_without_space_for_an_entry_is_too_small() {
    let mut fs = fs();
    let root = fs.root();
    file(&mut fs, "12345");
    // Each entry: value follows 4, fileid 8, length 4, name padded to 4, cookie 8.
    let (dot, five) = (4 + 8 + 4 + 4 + 8, 4 + 8 + 4 + 8 + 8);
    let all = FRAME + 2 * dot + five;
    let page = |count| fs.readdir(root, 0, [0; 8], count, &ROOT);
    assert_eq!(page(all).map(|page| (page.entries.len(), page.eof)), Ok((3, true)));
    assert_eq!(page(all - 1).map(|page| (page.entries.len(), page.eof)), Ok((2, false)));
    assert_eq!(page(FRAME + dot).unwrap().entries.len(), 1);
    assert_eq!(page(FRAME + dot - 1), Err(Error::TooSmall));
    assert_eq!(page(0), Err(Error::TooSmall));
    // The end of the list is a valid reply.
    let after = page(all).unwrap().entries[2].cookie;
    let verifier = page(all).unwrap().verifier;
    let end = fs.readdir(root, after, verifier, FRAME, &ROOT).unwrap();
    assert_eq!((end.entries.len(), end.eof), (0, true));
}

#[test]
fn readdirplus_limits_names_and_the_whole_reply_separately() {
    let mut fs = fs();
    let root = fs.root();
    let file = file(&mut fs, "1234");
    // In addition to the entry: attributes 4 + 84, handle 4 + 4 + 24.
    let each = 28 + 88 + 32;
    let page = |names, count| fs.readdirplus(root, 0, [0; 8], names, count, &ROOT);
    assert_eq!(page(4096, FRAME + 3 * each).unwrap().entries.len(), 3);
    assert_eq!(page(4096, FRAME + 3 * each - 1).unwrap().entries.len(), 2);
    assert_eq!(page(4096, FRAME + each - 1), Err(Error::TooSmall));
    // "." is 17 bytes of information, ".." 18.
    assert_eq!(page(35, 4096).unwrap().entries.len(), 2);
    assert_eq!(page(34, 4096).unwrap().entries.len(), 1);
    assert_eq!(page(0, 4096).unwrap().entries.len(), 1, "one is always returned");
    let last = page(4096, 4096).unwrap().entries[2];
    let object = last.object.unwrap();
    assert_eq!((object.handle, Ok(object.attributes)), (file, fs.getattr(file)));
}

#[test]
fn a_cookie_with_a_wrong_verifier_is_bad_and_cookie_0_needs_none() {
    let mut fs = fs();
    let root = fs.root();
    file(&mut fs, "f");
    let page = fs.readdir(root, 0, [9; 8], 4096, &ROOT).unwrap();
    let cookie = page.entries[0].cookie;
    assert_eq!(fs.readdir(root, cookie, [9; 8], 4096, &ROOT), Err(Error::BadCookie));
    assert!(fs.readdir(root, u64::MAX, page.verifier, 4096, &ROOT).unwrap().entries.is_empty());
    let file = find(&fs, root, "f").unwrap();
    assert_eq!(fs.readdir(file, 0, [0; 8], 4096, &ROOT), Err(Error::NotDir));
}

#[test]
fn a_listing_resumes_after_a_removed_entry() {
    let mut fs = fs();
    let root = fs.root();
    for name in ["a", "b", "c"] {
        file(&mut fs, name);
    }
    let first = fs.readdir(root, 0, [0; 8], FRAME + 4 * 28, &ROOT).unwrap();
    let (cookie, verifier) = (first.entries[3].cookie, first.verifier);
    fs.remove(root, b"b", &ROOT, at(3)).result.unwrap();
    let rest = fs.readdir(root, cookie, verifier, 4096, &ROOT).unwrap();
    assert_eq!(rest.entries.iter().map(|entry| entry.name).collect::<Vec<_>>(), [b"c"]);
}

proptest! {
    /// Files are created, removed, renamed and replaced between pages.
    #[test]
    fn an_entry_that_exists_during_a_whole_listing_is_returned_exactly_once(
        start in 0..40u8,
        changes in proptest::collection::vec(
            proptest::collection::vec((0..4u8, 0..60u8, 0..60u8), 0..6), 1..30),
        room in 28..200u32,
    ) {
        let mut fs = fs();
        let root = fs.root();
        for name in 0..start {
            file(&mut fs, &name.to_string());
        }
        let mut throughout: BTreeSet<String> = (0..start).map(|name| name.to_string()).collect();
        let mut returned: BTreeMap<String, u32> = BTreeMap::new();
        let (mut cookie, mut verifier, mut eof) = (0, [0; 8], false);
        let mut changes = changes.into_iter();
        while !eof {
            let page = fs.readdir(root, cookie, verifier, FRAME + room, &ROOT).unwrap();
            for entry in &page.entries {
                *returned.entry(String::from_utf8(entry.name.to_vec()).unwrap()).or_default() += 1;
                cookie = entry.cookie;
            }
            verifier = page.verifier;
            eof = page.eof;
            for (what, one, other) in changes.next().unwrap_or_default() {
                let (one, other) = (one.to_string(), other.to_string());
                match what {
                    0 => {
                        let how = files::How::Guarded(mode(0o666));
                        let _ = fs.create(root, one.as_bytes(), how, &ROOT, at(3));
                    }
                    1 => {
                        if fs.remove(root, one.as_bytes(), &ROOT, at(3)).result.is_ok() {
                            throughout.remove(&one);
                        }
                    }
                    _ => {
                        let (from, to) = ((root, one.as_bytes()), (root, other.as_bytes()));
                        let done = fs.rename(from, to, &ROOT, at(3)).result.is_ok();
                        if done && one != other {
                            throughout.remove(&one);
                        }
                    }
                }
            }
        }
        for name in &throughout {
            prop_assert_eq!(returned.get(name), Some(&1), "{}", name);
        }
        prop_assert_eq!((returned.get("."), returned.get("..")), (Some(&1), Some(&1)));
        fs.check();
    }
}
