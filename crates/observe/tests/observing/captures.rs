//! Captures with known calls.

use std::path::Path;

use observe::observation::{Direction, Note, Observation};
use observe::{Format, Options, observe};

use crate::capture_file::{
    Capture, Container, Link, call, opaque, read_call, read_reply, reply, write_call, write_reply,
};
use crate::{damaged, observed, refused, sizes};

/// LOOKUP, four reads of which two overlap, two writes and a COMMIT.
fn known(container: Container) -> Vec<u8> {
    let mut capture = Capture::new(container);
    let names = [opaque(b"root"), opaque(b"data")].concat();
    capture.client(&call(1, 3, &names));
    capture.server(&reply(1, &[&[0][..], &opaque(b"file"), &[0, 0]].concat()));
    // 1 ms each, as the capture has one packet in a millisecond.
    capture.client(&read_call(2, b"file", 0, 65536));
    capture.client(&read_call(3, b"file", 65536, 65536));
    capture.server(&read_reply(2, 65536, 1 << 20));
    capture.server(&read_reply(3, 65536, 1 << 20));
    capture.client(&read_call(4, b"file", 524_288, 8192));
    capture.server(&read_reply(4, 8192, 1 << 20));
    capture.client(&write_call(5, b"file", 131_072, 4096, 0));
    capture.server(&write_reply(5, 4096, 1 << 20));
    capture.client(&write_call(6, b"log", 0, 512, 2));
    capture.server(&write_reply(6, 512, 512));
    capture.client(&call(7, 21, &[&opaque(b"file")[..], &[0, 0, 0]].concat()));
    capture.server(&reply(7, &[0, 0, 0, 1, 2]));
    capture.bytes()
}

fn check(found: &Observation) {
    assert_eq!(found.source.format, Format::Capture);
    assert_eq!(damaged(found), 0, "{:?}", found.notes);
    assert_eq!(sizes(found, Direction::Read), [(65536, 2), (8192, 1)]);
    assert_eq!(sizes(found, Direction::Write), [(512, 1), (4096, 1)]);
    assert_eq!(found.data[1].durable, Some(1));
    assert_eq!((found.other("LOOKUP"), found.other("COMMIT"), found.syncs()), (1, 1, 1));
    // The second read and the first write continue the first read.
    assert_eq!((found.runs.sequential, found.runs.runs), (2, 3));
    let files = &found.working_set.files;
    let figures: Vec<(&str, u64)> =
        files.iter().map(|file| (file.name.as_str(), file.size_bytes)).collect();
    assert_eq!(figures, [("?/data", 1 << 20), ("handle 6c6f67", 512)]);
    assert_eq!(found.working_set.touched_bytes, 131_072 + 8192 + 4096 + 4096);
    // Reads from 2 to 4, 3 to 5 and 6 to 7 ms, writes from 8 to 9 and 10 to 11: 7 ms in 9.
    assert_eq!(found.duration_ns, Some(9_000_000));
    let flight = found.concurrency.unwrap();
    assert_eq!(flight.max, 2);
    assert!((flight.mean - 7.0 / 9.0).abs() < 1e-9, "{flight:?}");
    let response = found.data[0].response.unwrap();
    assert_eq!((response.samples, response.p50_ns), (3, None));
    assert!((response.mean_ns - 5e6 / 3.0).abs() < 1.0, "{response:?}");
}

#[test]
fn a_capture_of_known_calls_is_observed_exactly() {
    for is_pcapng in [false, true] {
        for is_big_endian in [false, true] {
            for has_nanoseconds in [false, true] {
                let form =
                    Container { is_pcapng, is_big_endian, has_nanoseconds, ..Container::pcap() };
                check(&observed(&known(form)));
            }
        }
    }
    let links = [Link::Vlan, Link::Cooked, Link::Cooked2, Link::RawIp, Link::EthernetIpv6];
    for link in links {
        check(&observed(&known(Container { link, ..Container::pcap() })));
    }
}

#[test]
fn short_packets_are_enough() {
    for snap in [256, 300, 1000] {
        check(&observed(&known(Container { snap, ..Container::pcap() })));
        check(&observed(&known(Container { snap, ..Container::pcapng() })));
    }
}

#[test]
fn segments_out_of_order_and_repeated_are_put_in_order() {
    let mut capture = Capture::new(Container::pcap());
    let message = read_call(1, b"f", 0, 512);
    let (first, second) = message.split_at(50);
    capture.segment(0, 50, second);
    capture.segment(0, 0, &first[..20]);
    // A retransmission with more than before.
    capture.send(0, first);
    capture.lose(0, second.len());
    capture.client(&message.clone());
    capture.server(&read_reply(1, 512, 512));
    let found = observed(&capture.bytes());
    assert_eq!((found.operations(), damaged(&found)), (1, 0));
    assert!(!found.notes.iter().any(|note| matches!(note, Note::Gaps { .. })), "{:?}", found.notes);
}

#[test]
fn a_capture_that_begins_in_a_message_or_lacks_segments_is_read_from_the_next() {
    let mut capture = Capture::without_begin(Container::pcap());
    // The rest of a reply whose call was not captured.
    capture.server(&read_reply(9, 4096, 4096)[1000..]);
    capture.server(&read_reply(8, 4096, 4096));
    capture.client(&read_call(1, b"f", 0, 4096));
    capture.server(&read_reply(1, 4096, 8192));
    capture.client(&read_call(2, b"f", 4096, 4096));
    capture.lose(1, 5000);
    capture.client(&read_call(3, b"f", 4096, 4096));
    capture.server(&read_reply(3, 4096, 8192));
    let found = observed(&capture.bytes());
    assert_eq!(found.operations(), 2);
    for note in
        [Note::Gaps { gaps: 1 }, Note::Unanswered { calls: 1 }, Note::Unmatched { replies: 1 }]
    {
        assert!(found.notes.contains(&note), "{note:?} {:?}", found.notes);
    }
}

#[test]
fn failed_calls_ends_of_files_and_other_versions_are_counted_apart() {
    let mut capture = Capture::new(Container::pcap());
    capture.client(&read_call(1, b"f", 0, 4096));
    capture.server(&read_reply(1, 4096, 4096));
    capture.client(&read_call(2, b"f", 4096, 4096));
    capture.server(&read_reply(2, 0, 4096));
    capture.client(&read_call(3, b"f", 0, 4096));
    // NFS3ERR_STALE without attributes.
    capture.server(&reply(3, &[70, 0]));
    let found = observed(&capture.bytes());
    assert_eq!((found.operations(), found.data[0].failed), (1, 1));
    assert!(found.notes.contains(&Note::EndOfFile { reads: 1 }), "{:?}", found.notes);

    let mut capture = Capture::new(Container::pcap());
    let mut compound = call(1, 1, &[0]);
    // The version is the sixth word, after the mark.
    compound[4 * 5..4 * 6].copy_from_slice(&4u32.to_be_bytes());
    capture.client(&compound);
    let error = refused(&capture.bytes());
    assert!(error.contains("NFS version 4"), "{error}");
}

#[test]
fn frames_of_unknown_links_are_refused_with_their_number() {
    let mut bytes = known(Container::pcap());
    bytes[20] = 147;
    let error = refused(&bytes);
    assert!(error.contains("packet 1 (byte 0)"), "{error}");
    assert!(error.contains("link type 147"), "{error}");
}

/// Counts are those of the README of the captures, which third-party implementations made.
#[test]
fn a_capture_of_the_linux_client_has_the_calls_of_its_description() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../nfs3/tests/captures");
    let bytes = std::fs::read(folder.join("data.pcap")).unwrap();
    let found = observed(&bytes);
    assert_eq!(damaged(&found), 0, "{:?}", found.notes);
    let [reads, writes] = &found.data;
    let at_end = found.notes.iter().find_map(|note| match note {
        Note::EndOfFile { reads } => Some(*reads),
        _ => None,
    });
    assert_eq!(reads.operations + reads.failed + at_end.unwrap_or(0), 10);
    assert_eq!((writes.operations, writes.failed), (6, 0));
    let others = ["CREATE", "SETATTR", "REMOVE"].map(|name| found.other(name));
    assert_eq!(others, [4, 1, 4]);
    assert!(found.working_set.files.iter().all(|file| file.name.contains('/')), "{found:?}");
    // MKDIR and mounts of another capture, without reads of data.
    let names = std::fs::read(folder.join("names.pcap")).unwrap();
    let error = observe(&names[..], &Options::default()).unwrap_err().to_string();
    assert!(error.contains("no file is read or written"), "{error}");
}
