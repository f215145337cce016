//! The client's behaviour for replies that violate RFC 1813: each fault is reported with the
//! request, the reply, and the section.

use std::sync::Arc;

use nfs3::procedure::NfsProcedure;
use nfs3::types::{Handle, nfsstat3};
use target::nfs::{NfsFailure, NfsFile};
use target::{Fault, Target};
use workload::op::{Op, OpKind};
use workload::outcome::ErrorKind;
use workload::plan::WriteStability;

use crate::drive::{all, fill, fsync, read, write};
use crate::scripted::{Act, Scripted};

/// Descriptions of invalid replies to 8 KiB at offset 4096.
const FAULTS: [(Act, OpKind, &str); 7] = [
    (Act::Announce(9000), OpKind::Write, "and the server replied count 9000"),
    (Act::Announce(0), OpKind::Write, "and the server replied count 0"),
    (Act::Unsafe, OpKind::Write, "as FILE_SYNC, and the server replied UNSTABLE"),
    (Act::Truncated, OpKind::Write, "the server's reply cannot be decoded: "),
    (Act::Announce(9000), OpKind::Read, "and the server replied count 9000 with 8192 bytes"),
    (Act::Announce(100), OpKind::Read, "and the server replied count 100 with 8192 bytes"),
    (Act::Nothing, OpKind::Read, "and the server replied no bytes and no end of file"),
];

fn section(kind: OpKind) -> &'static str {
    match kind {
        OpKind::Read => "(RFC 1813, section 3.3.6)",
        OpKind::Write => "(RFC 1813, section 3.3.7)",
        _ => "(RFC 1813, section 3.3.21)",
    }
}

#[test]
fn a_measured_operation_that_fails_by_a_fault_reports_it() {
    for (act, kind, expected) in FAULTS {
        let server = Scripted::start((2, 1 << 20), move |_, _| act);
        let mut target = server.open("", 1, |access| access.stability = WriteStability::FileSync);
        let op = Op { kind, file: 1, ..read(4096, 8192) };
        let [result] = all(&mut target, &[op], 1, |_, _| {})[..] else { panic!("one operation") };
        assert_eq!(ErrorKind::from_errno(-result), ErrorKind::Protocol, "{act:?} {result}");
        let faults = target.faults();
        let [Fault { file: 1, description }] = &faults[..] else { panic!("{act:?} {faults:?}") };
        let procedure = if kind == OpKind::Read { "READ: " } else { "WRITE: " };
        assert!(description.starts_with(procedure), "{description}");
        assert!(description.contains(expected), "{description}");
        assert!(description.ends_with(section(kind)), "{description}");
    }
}

#[test]
fn a_blocking_call_reports_the_fault_too() {
    let file = NfsFile { handle: Handle::new(b"f\0").unwrap(), path: "file".to_owned() };
    for (act, kind, expected) in FAULTS {
        let server = Scripted::start((1, 1 << 20), move |_, _| act);
        let mut session = server.session("");
        let error = match kind {
            OpKind::Read => session.read(&file, 4096, &mut [0; 8192]).map(drop),
            _ => session
                .write(&file, 4096, &[1; 8192], nfs3::arguments::stable_how::FILE_SYNC)
                .map(drop),
        };
        let error = error.unwrap_err().to_string();
        assert!(error.contains(expected), "{act:?}: {error}");
    }
}

#[test]
fn only_the_first_faults_are_kept() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Nothing);
    let mut target = server.open("", 4, |_| {});
    let ops: Vec<Op> = (0..50).map(|index| read(index * 8192, 8192)).collect();
    let results = all(&mut target, &ops, 4, |_, _| {});
    assert!(results.iter().all(|result| *result < 0), "{results:?}");
    assert_eq!(target.faults().len(), 4);
}

#[test]
fn an_unstable_write_may_be_answered_as_more_stable() {
    // RFC 1813, section 3.3.7: committed may be safer than requested, never less safe.
    for (requested, result) in [
        (WriteStability::Unstable, 8192),
        (WriteStability::DataSync, -71),
        (WriteStability::FileSync, -71),
    ] {
        let server = Scripted::start((1, 1 << 20), |_, _| Act::Unsafe);
        let mut target = server.open("", 1, |access| access.stability = requested);
        assert_eq!(all(&mut target, &[write(0, 8192)], 1, |_, _| {}), [result]);
    }
}

#[test]
fn data_that_cannot_be_rewritten_is_reported_with_both_verifiers() {
    let server = Scripted::start((1, 1 << 20), |seen, world| {
        if seen.procedure == NfsProcedure::COMMIT {
            world.restart();
        }
        Act::Answer
    });
    let mut target = server.open("", 1, |_| {});
    assert_eq!(all(&mut target, &[write(0, 8192), fsync()], 1, |_, _| {}), [8192, -5]);
    let faults = target.faults();
    let [Fault { file: 0, description }] = &faults[..] else { panic!("{faults:?}") };
    let changed = "COMMIT: the write verifier changed from 0076657269666965 to 0176657269666965:";
    assert!(description.starts_with(changed), "{description}");
}

#[test]
fn data_rewritten_after_a_restart_is_counted() {
    let server = Scripted::start((1, 1 << 20), |seen, world| {
        if seen.procedure == NfsProcedure::COMMIT && world.count(NfsProcedure::COMMIT) == 1 {
            world.restart();
        }
        Act::Answer
    });
    let mut target = server.open("nconnect=2", 4, |access| {
        access.rewrite = Some(Arc::new(|op: &Op, memory: &mut [u8]| fill(op, memory)));
    });
    let mut ops: Vec<Op> = (0..4).map(|index| write(index * 8192, 8192)).collect();
    assert_eq!(all(&mut target, &ops, 4, |_, _| {}), [8192; 4]);
    ops.push(fsync());
    // Writes acknowledged by the new instance need not be rewritten.
    assert_eq!(all(&mut target, &ops[4..], 1, |_, _| {}), [0]);
    let mut totals = (0, 0);
    for connection in target.connections() {
        totals.0 += connection.verifier_changes;
        totals.1 += connection.rewritten_bytes;
    }
    assert_eq!(totals, (1, 4 * 8192));
    // Later writes are written once.
    assert_eq!(all(&mut target, &ops, 1, |_, _| {}), [8192, 8192, 8192, 8192, 0]);
    let rewritten: u64 = target.connections().iter().map(|one| one.rewritten_bytes).sum();
    assert_eq!(rewritten, 4 * 8192);
}

fn listing(act: impl Fn(u64) -> Act + Send + 'static) -> String {
    let server = Scripted::start((1, 8192), move |seen, _| act(seen.offset));
    let mut session = server.session("");
    let root = session.root();
    let error = session.readdir(&root).unwrap_err();
    assert!(matches!(error.failure, NfsFailure::Fault(_)), "{error}");
    error.to_string()
}

#[test]
fn a_listing_that_repeats_a_cookie_fails() {
    // Cookies 1 to 4, then 1 again, with new names each time.
    let mut name = 0;
    let server = Scripted::start((1, 8192), move |seen, _| {
        name += 10;
        Act::List { entries: 2, name, cookie: if seen.offset >= 4 { 1 } else { seen.offset + 1 } }
    });
    let mut session = server.session("");
    let root = session.root();
    let error = session.readdir(&root).unwrap_err().to_string();
    let expected = "the server returned cookie 2 twice: the listing repeats (RFC 1813, section \
                    3.3.16)";
    assert!(error.contains(expected), "{error}");
    // At cookies 0, 2 and 4; the last repeats.
    assert_eq!(server.world.lock().unwrap().count(NfsProcedure::READDIR), 3);
}

#[test]
fn a_listing_restarts_when_the_server_rejects_its_cookie() {
    let mut has_forgotten = false;
    let server = Scripted::start((1, 8192), move |seen, _| match seen.offset {
        0 => Act::List { entries: 2, name: 0, cookie: 1 },
        2 if !has_forgotten => {
            has_forgotten = true;
            Act::Fail(nfsstat3::NFS3ERR_BAD_COOKIE)
        }
        2 => Act::List { entries: 2, name: 2, cookie: 3 },
        _ => Act::ListEnd,
    });
    let mut session = server.session("");
    let root = session.root();
    let names: Vec<Vec<u8>> =
        session.readdir(&root).unwrap().into_iter().map(|entry| entry.name).collect();
    assert_eq!(names, [b"n0", b"n1", b"n2", b"n3"]);
}

#[test]
fn a_server_that_always_rejects_cookies_fails_the_listing() {
    let server = Scripted::start((1, 8192), |seen, _| match seen.offset {
        0 => Act::List { entries: 2, name: 0, cookie: 1 },
        _ => Act::Fail(nfsstat3::NFS3ERR_BAD_COOKIE),
    });
    let mut session = server.session("");
    let root = session.root();
    let error = session.readdir(&root).unwrap_err();
    assert!(error.is_status(nfsstat3::NFS3ERR_BAD_COOKIE), "{error}");
    // One start and eight restarts, of two calls each.
    assert_eq!(server.world.lock().unwrap().count(NfsProcedure::READDIR), 18);
}

#[test]
fn a_listing_that_repeats_its_names_under_new_cookies_fails() {
    let error = listing(|cookie| Act::List { entries: 3, name: 0, cookie: cookie + 1 });
    assert!(error.contains("listed the same names again"), "{error}");
}

#[test]
fn a_listing_without_entries_and_end_fails() {
    let error = listing(|cookie| Act::List { entries: 0, name: 0, cookie });
    assert!(error.contains("neither entries nor the end of the listing"), "{error}");
}

#[test]
fn a_listing_without_end_fails_at_the_maximum() {
    let page = |cookie| Act::List { entries: 20_000, name: cookie, cookie: cookie + 1 };
    let error = listing(page);
    assert!(error.contains("more than 1000000 entries without an end"), "{error}");
}
