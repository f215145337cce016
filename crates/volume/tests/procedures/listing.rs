//! READDIR and READDIRPLUS: every entry is listed once, within the requested bytes.

use std::collections::BTreeMap;

use nfs3::request::NfsResults as R;
use nfs3::results::*;
use nfs3::types::*;
use nfs3::xdr::{Writer, Xdr};

use crate::calls::*;
use crate::scene::{Scene, scene, user};

/// Bytes of the status, which the client's limit does not include.
const STATUS_BYTES: usize = 4;

/// Lists a directory by READDIR in replies of at most `count` bytes. Returns (name, fileid).
fn listed(scene: &mut Scene, dir: &Handle, count: u32) -> Vec<(String, u64)> {
    let mut all = Vec::new();
    let (mut cookie, mut verifier) = (0, [0; 8]);
    for _ in 0..10_000 {
        let arguments = nfs3::request::Arguments::Nfs(readdir(dir, cookie, verifier, count));
        let body = scene.call(&arguments);
        assert!(body.len() - STATUS_BYTES <= count as usize, "{} of {count}", body.len());
        let results = nfs3::request::Results::decode(arguments.procedure(), &body).unwrap();
        let nfs3::request::Results::Nfs(R::READDIR(Res3::Ok(ok))) = results else {
            panic!("{results:?}")
        };
        assert!(ok.dir_attributes.is_some());
        verifier = ok.cookieverf;
        for entry in &ok.reply.entries {
            cookie = entry.cookie;
            all.push((String::from_utf8(entry.name.0.to_vec()).unwrap(), entry.fileid));
        }
        if ok.reply.eof {
            return all;
        }
        assert!(!ok.reply.entries.is_empty(), "neither entries nor the end");
    }
    panic!("the listing does not end");
}

#[test]
fn a_listing_in_small_replies_has_every_entry_once() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let dir = scene.create(mkdir(&root, "dir", mode(0o777)));
    let mut expected = BTreeMap::new();
    for number in 0..300 {
        let name = format!("{number}{}", "x".repeat(number % 40));
        let handle = scene.file(&dir, &name, 0o600);
        expected.insert(name, scene.attributes(&handle).fileid);
    }
    expected.insert(".".to_owned(), scene.attributes(&dir).fileid);
    expected.insert("..".to_owned(), scene.attributes(&root).fileid);
    for count in [200, 512, 4096, 65_536, u32::MAX] {
        let listed = listed(&mut scene, &dir, count);
        assert_eq!(listed.len(), expected.len(), "no entry twice");
        assert_eq!(BTreeMap::from_iter(listed), expected, "replies of {count} bytes");
    }
}

#[test]
fn a_listing_with_attributes_respects_both_limits_and_has_handles() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let dir = scene.create(mkdir(&root, "dir", mode(0o777)));
    for number in 0..100 {
        scene.file(&dir, &format!("file{number:03}"), 0o600);
    }
    for (dircount, maxcount) in [(100, 65_536), (65_536, 700), (1000, 2000), (1, 65_536)] {
        let mut names = Vec::new();
        let mut after = (0, [0; 8]);
        let mut replies = 0;
        loop {
            replies += 1;
            assert!(replies < 200, "the listing does not end");
            let arguments = readdirplus(&dir, after, dircount, maxcount);
            let mut eof = true;
            let handles = scene.nfs(arguments, |results| match results {
                R::READDIRPLUS(Res3::Ok(ok)) => {
                    eof = ok.reply.eof;
                    let all = &ok.reply.entries;
                    // File ID, length and padded name, cookie.
                    let directory_bytes = |name: &[u8]| 8 + 4 + name.len().next_multiple_of(4) + 8;
                    let directory: usize =
                        all.iter().map(|entry| directory_bytes(entry.name.0)).sum();
                    assert!(all.len() == 1 || directory <= dircount as usize + 4 * all.len());
                    let mut encoded = Vec::new();
                    ok.encode(&mut Writer::new(&mut encoded));
                    assert!(encoded.len() <= maxcount as usize);
                    let handle = |entry: &nfs3::directory::entryplus3<'_>| {
                        after = (entry.cookie, ok.cookieverf);
                        names.push(entry.name.0.to_vec());
                        let handle = Handle::from(entry.name_handle.unwrap());
                        (handle, entry.name_attributes.unwrap(), entry.fileid)
                    };
                    all.iter().map(handle).collect::<Vec<_>>()
                }
                other => panic!("{other:?}"),
            });
            for (handle, attributes, fileid) in handles {
                assert_eq!(attributes.fileid, fileid);
                assert_eq!(scene.attributes(&handle), attributes);
            }
            if eof {
                break;
            }
        }
        assert_eq!(names.len(), 102, "dircount {dircount}, maxcount {maxcount}");
    }
}

#[test]
fn an_entry_is_listed_once_while_others_are_added_and_removed() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let dir = scene.create(mkdir(&root, "dir", mode(0o777)));
    for number in 0..60 {
        scene.file(&dir, &format!("{number}"), 0o600);
    }
    let mut seen = Vec::new();
    let mut after = (0, [0; 8]);
    for round in 0..100 {
        let mut eof = false;
        scene.nfs(readdir(&dir, after.0, after.1, 300), |results| match results {
            R::READDIR(Res3::Ok(ok)) => {
                eof = ok.reply.eof;
                for entry in &ok.reply.entries {
                    after = (entry.cookie, ok.cookieverf);
                    seen.push(String::from_utf8(entry.name.0.to_vec()).unwrap());
                }
            }
            other => panic!("{other:?}"),
        });
        if eof {
            break;
        }
        // Files with odd numbers are removed, also the one at the cookie, and new ones are created.
        scene.status(remove(&dir, &format!("{}", round * 2 + 1)));
        scene.file(&dir, &format!("new{round}"), 0o600);
    }
    for number in (0..60).step_by(2) {
        let name = format!("{number}");
        assert_eq!(seen.iter().filter(|seen| **seen == name).count(), 1, "{name}");
    }
}

#[test]
fn without_search_permission_a_listing_has_names_without_handles() {
    let mut scene = scene();
    let root = scene.root_of("/vol1");
    let dir = scene.create(mkdir(&root, "dir", mode(0o744)));
    scene.file(&dir, "file", 0o600);
    scene.credential = user(1000, 100, &[]);
    scene.nfs(readdirplus(&dir, (0, [0; 8]), 4096, 4096), |results| match results {
        R::READDIRPLUS(Res3::Ok(ok)) => {
            assert_eq!(ok.reply.entries.len(), 3);
            let hidden = |entry: &nfs3::directory::entryplus3<'_>| {
                entry.name_handle.is_none() && entry.name_attributes.is_none()
            };
            assert!(ok.reply.entries.iter().all(hidden));
        }
        other => panic!("{other:?}"),
    });
}
