//! WRITEs whose data is received into chunks that become the file's, without sockets.

use std::io::IoSliceMut;

use files::{Caller, Handle, How, SetAttributes, Stability, Time};
use nfs3::arguments::{Data, GETATTR3args, READ3args, WRITE3args, stable_how};
use nfs3::client::{Client, ClientOptions, Received};
use nfs3::request::{Arguments, NfsArguments, NfsResults, Results};
use nfs3::results::Res3;
use nfs3::rpc::Credential;
use nfs3::types::{nfs_fh3, nfsstat3};
use volume::ids::ConnectionId;
use volume::server::{RECEIVE_SLICES, Server};

use crate::server::{connect, send_all, sent_bytes, server};

const MS: u64 = 1_000_000;
const KIB_64: usize = 64 << 10;
const MIB: usize = 1 << 20;
const NOW: Time = Time { seconds: 1, nanoseconds: 0 };
const USER: Caller<'static> = Caller { uid: 0, gid: 0, gids: &[], read_only: false };
const UNLIMITED: &str = "[limits]\nenforced = false\n";

/// A server with a file of `length` bytes, all 7.
fn server_with_file(more: &str, length: usize) -> (Server, Handle) {
    let (mut server, _) = server(more);
    let (_, export) = server.exports_mut().iter_mut().next().expect("a volume");
    let files = &mut export.files;
    let attributes = SetAttributes { mode: Some(0o666), ..SetAttributes::default() };
    let (root, how) = (files.root(), How::Guarded(attributes));
    let file = files.create(root, b"file", how, &USER, NOW).result.expect("a new file").handle;
    let data = vec![7; length];
    files.write(file, 0, &data, Stability::FileSync, &USER, NOW).result.expect("written");
    (server, file)
}

fn content(server: &Server, file: Handle) -> Vec<u8> {
    let (_, export) = server.exports().iter().next().expect("a volume");
    let read = export.files.read(file, 0, u64::MAX, &USER).expect("read the file");
    read.pieces.collect::<Vec<_>>().concat()
}

fn client() -> Client {
    let (slots, max_reply_bytes) = (4096, 2 << 20);
    Client::new(ClientOptions { slots, max_reply_bytes, first_generation: 0 })
}

/// The bytes of a call.
fn call(client: &mut Client, arguments: NfsArguments<'_>) -> Vec<u8> {
    let arguments = Arguments::Nfs(arguments);
    let slot = client.call(&Credential::None, &arguments).expect("a free slot");
    client.message(slot).to_vec()
}

fn write_call(client: &mut Client, file: Handle, offset: u64, data: &[u8]) -> Vec<u8> {
    let (file, count, stable) = (file.to_bytes(), data.len() as u32, stable_how::UNSTABLE);
    let (file, data) = (nfs_fh3(&file), Data(data));
    call(client, NfsArguments::WRITE(WRITE3args { file, offset, count, stable, data }))
}

fn getattr_call(client: &mut Client, file: Handle) -> Vec<u8> {
    call(client, NfsArguments::GETATTR(GETATTR3args { object: nfs_fh3(&file.to_bytes()) }))
}

/// Receives the front of `stream` by one system call as the shell does, with `available` bytes in the
/// socket; returns how many bytes went into slices.
fn receive(server: &mut Server, id: ConnectionId, stream: &mut &[u8], available: usize) -> usize {
    let available = available.min(stream.len());
    let window = server.receive_bytes(id).unwrap_or(MIB);
    let mut slices = [(); RECEIVE_SLICES].map(|()| IoSliceMut::new(&mut []));
    let filled = server.receive_slices(id, &mut slices);
    let mut direct = 0;
    for slice in &mut slices[..filled] {
        let count = slice.len().min(available - direct);
        slice[..count].copy_from_slice(&stream[direct..direct + count]);
        direct += count;
    }
    let count = direct + window.min(available - direct);
    let (bytes, rest) = stream.split_at(count);
    *stream = rest;
    server.received_into_slices(MS, id, direct, &bytes[direct..]);
    direct
}

/// Receives all of `stream`, at most `available` bytes at a time; returns how many went into slices.
fn receive_all(
    server: &mut Server,
    id: ConnectionId,
    mut stream: &[u8],
    available: usize,
) -> usize {
    let mut direct = 0;
    while !stream.is_empty() {
        direct += receive(server, id, &mut stream, available);
        server.advance(MS);
    }
    direct
}

/// The status of the replies to WRITEs and GETATTRs that the server sends.
fn statuses(server: &mut Server, id: ConnectionId, client: &mut Client) -> Vec<nfsstat3> {
    let replies = sent_bytes(server, id);
    let (mut input, mut statuses) = (&replies[..], Vec::new());
    while let Some(received) = client.receive(&mut input).expect("valid replies") {
        let Received::Completed(done) = received else { panic!("{received:?}") };
        statuses.push(match Results::decode(done.procedure, done.body).expect("valid results") {
            Results::Nfs(NfsResults::WRITE(Res3::Ok(_))) => nfsstat3::NFS3_OK,
            Results::Nfs(NfsResults::WRITE(Res3::Fail(status, _))) => status,
            Results::Nfs(NfsResults::GETATTR(Res3::Ok(_))) => nfsstat3::NFS3_OK,
            other => panic!("{other:?}"),
        });
    }
    statuses
}

fn pattern(length: usize, seed: usize) -> Vec<u8> {
    (0..length).map(|at| (at / 256 + at * seed) as u8).collect()
}

#[test]
fn a_stream_of_writes_has_the_same_effect_however_it_is_received() {
    const FILE_BYTES: usize = 4 * MIB;
    let mut writes = vec![
        (0, KIB_64),
        (KIB_64, KIB_64),
        (5, MIB),
        (MIB + 4096, KIB_64),
        (2 * MIB, MIB),
        (2 * MIB - 8, 3 * KIB_64 - 4),
        (3 * MIB, 8192),
        (FILE_BYTES - KIB_64, MIB),
        (2 * KIB_64, KIB_64 - 1),
        (0, 2 * KIB_64 + 2),
    ];
    // Others follow many of equal length.
    for (offset, length, step) in [(0, KIB_64, KIB_64), (4096, 2 * KIB_64, KIB_64), (0, 8192, 9)] {
        writes.extend((0..12).map(|number| (offset + number * step, length)));
    }
    // Rarely the same as the previous one.
    writes.extend((0..12).map(|number| (number * KIB_64, KIB_64 << (number % 5 / 2))));
    for available in [150, 1000, 5000, KIB_64, 300_000, usize::MAX] {
        let (mut server, file) = server_with_file(UNLIMITED, FILE_BYTES);
        let (id, mut client) = (connect(&mut server), client());
        let (mut expected, mut stream, mut calls) = (vec![7; FILE_BYTES], Vec::new(), 0);
        for (seed, (offset, length)) in writes.iter().copied().enumerate() {
            let data = pattern(length, 2 * seed + 1);
            expected.resize(expected.len().max(offset + length), 0);
            expected[offset..offset + length].copy_from_slice(&data);
            stream.extend(write_call(&mut client, file, offset as u64, &data));
            let others = if seed < 14 || seed % 8 == 0 { seed % 3 } else { 0 };
            for _ in 0..others {
                stream.extend(getattr_call(&mut client, file));
            }
            calls += 1 + others;
        }
        let direct = receive_all(&mut server, id, &stream, available);
        assert!(content(&server, file) == expected, "{available} bytes at a time");
        let statuses = statuses(&mut server, id, &mut client);
        assert_eq!(statuses, vec![nfsstat3::NFS3_OK; calls], "{available} bytes at a time");
        assert!(server.is_idle(id));
        if available < stream.len() {
            assert!(direct > 2 * MIB, "{direct} bytes received directly, {available} at a time");
        }
    }
}

#[test]
fn a_pipeline_of_writes_is_received_by_few_system_calls() {
    const WRITES: usize = 100;
    let (mut server, file) = server_with_file(UNLIMITED, MIB);
    let (id, mut client) = (connect(&mut server), client());
    let data = pattern(KIB_64, 3);
    let stream: Vec<u8> = (0..WRITES)
        .flat_map(|number| write_call(&mut client, file, (number % 16 * KIB_64) as u64, &data))
        .collect();
    // The first is expected only after a WRITE.
    let (first, mut rest) = stream.split_at(stream.len() / WRITES);
    receive_all(&mut server, id, first, usize::MAX);
    let (mut calls, mut direct) = (0, 0);
    while !rest.is_empty() {
        direct += receive(&mut server, id, &mut rest, usize::MAX);
        calls += 1;
    }
    // One for the second WRITE's head, and then for 1, 2, 4, 8 and 16 WRITEs.
    assert!(calls <= 6 + WRITES / 16, "{calls} system calls");
    assert!(direct >= (WRITES - 1) * (KIB_64 - 1024), "{direct} bytes received directly");
    assert!(content(&server, file) == data.repeat(16));
}

#[test]
fn no_part_of_a_write_is_visible_before_all_of_it_arrived() {
    let (mut server, file) = server_with_file(UNLIMITED, MIB);
    let id = connect(&mut server);
    let stream = write_call(&mut client(), file, 0, &pattern(MIB, 3));
    let direct = receive_all(&mut server, id, &stream[..stream.len() - 1], KIB_64);
    assert!(direct > MIB / 2, "{direct} bytes received directly");
    assert!(content(&server, file) == [7; MIB]);
    let volume = |server: &Server| server.counters().volumes().next().expect("a volume").1.arrived;
    assert_eq!(volume(&server), 0, "it is not charged yet");
    server.closed(MS, id);
    assert!(content(&server, file) == [7; MIB], "the peer closed its connection");
}

#[test]
fn a_file_can_be_truncated_or_removed_while_a_write_to_it_arrives() {
    for is_removed in [false, true] {
        let (mut server, file) = server_with_file(UNLIMITED, MIB);
        let (id, mut client) = (connect(&mut server), client());
        let data = pattern(2 * KIB_64, 3);
        let stream = write_call(&mut client, file, KIB_64 as u64, &data);
        let (first, second) = stream.split_at(100_000);
        assert!(receive_all(&mut server, id, first, 50_000) > 0);
        let (_, export) = server.exports_mut().iter_mut().next().expect("a volume");
        let files = &mut export.files;
        if is_removed {
            files.remove(files.root(), b"file", &USER, NOW).result.expect("removed");
        } else {
            let empty = SetAttributes { size: Some(0), ..SetAttributes::default() };
            files.setattr(file, &empty, None, &USER, NOW).result.expect("truncated");
        }
        receive_all(&mut server, id, second, usize::MAX);
        if is_removed {
            assert_eq!(statuses(&mut server, id, &mut client), [nfsstat3::NFS3ERR_STALE]);
        } else {
            assert_eq!(statuses(&mut server, id, &mut client), [nfsstat3::NFS3_OK]);
            assert!(content(&server, file) == [&[0; KIB_64][..], &data].concat());
        }
    }
}

#[test]
fn a_write_with_inconsistent_lengths_is_not_received_directly() {
    let (server, file) = server_with_file(UNLIMITED, MIB);
    drop(server);
    // The last word is the mark of an empty fragment if the record ends before it.
    let data = [&pattern(KIB_64 - 4, 3)[..], &[0; 4]].concat();
    let good = write_call(&mut client(), file, 0, &data);
    let head = good.len() - data.len();
    let (mark, count, length) = (0, head - 12, head - 4);
    for (at, add) in [
        (mark, -4_i64),
        (mark, 4),
        (count, -4),
        (count, 4),
        (count, 1 << 20),
        (length, -4),
        (length, 4),
        (length, 1 << 20),
    ] {
        let (mut server, file) = server_with_file(UNLIMITED, MIB);
        let id = connect(&mut server);
        let mut bytes = good.clone();
        let word: [u8; 4] = bytes[at..at + 4].try_into().expect("four bytes");
        let word = (i64::from(u32::from_be_bytes(word)) + add) as u32;
        bytes[at..at + 4].copy_from_slice(&word.to_be_bytes());
        assert_eq!(receive_all(&mut server, id, &bytes, 20_000), 0, "{add} added at {at}");
        assert!(content(&server, file) == [7; MIB], "{add} added at {at}");
    }
}

#[test]
fn a_bounded_number_of_connections_receives_writes_directly() {
    const MOST: usize = 256;
    let (mut server, file) = server_with_file(UNLIMITED, MIB);
    let data = pattern(KIB_64, 3);
    let stream = write_call(&mut client(), file, 0, &data);
    let start = |server: &mut Server| {
        let id = connect(server);
        server.received(MS, id, &stream[..1000]);
        id
    };
    let ids: Vec<ConnectionId> = (0..MOST).map(|_| start(&mut server)).collect();
    let direct = |server: &mut Server, id| {
        let mut slices = [(); RECEIVE_SLICES].map(|()| IoSliceMut::new(&mut []));
        let filled = server.receive_slices(id, &mut slices);
        server.received_into_slices(MS, id, 0, &[]);
        filled > 0
    };
    assert!(ids.iter().all(|id| direct(&mut server, *id)));
    let more = start(&mut server);
    assert!(!direct(&mut server, more));
    server.received(MS, more, &stream[1000..]);
    assert!(content(&server, file)[..KIB_64] == data, "it is copied");
    server.closed(MS, ids[7]);
    let more = start(&mut server);
    assert!(direct(&mut server, more), "a connection that receives directly was closed");
    for id in ids.iter().filter(|id| **id != ids[7]) {
        server.received(MS, *id, &stream[1000..]);
    }
    let more = start(&mut server);
    assert!(direct(&mut server, more), "others are complete");
}

#[test]
fn the_reply_to_a_write_that_was_received_directly_is_deferred() {
    let (mut server, file) = server_with_file("[delay]\nwrite = \"1ms\"\n", MIB);
    let (id, mut client) = (connect(&mut server), client());
    let data = pattern(KIB_64, 3);
    let stream = write_call(&mut client, file, 0, &data);
    assert!(receive_all(&mut server, id, &stream, 20_000) > 0);
    assert!(content(&server, file)[..KIB_64] == data, "its effect lies between call and reply");
    assert_eq!((server.deferred(), send_all(&mut server, id)), (1, 0));
    server.advance(2 * MS);
    assert_eq!(statuses(&mut server, id, &mut client), [nfsstat3::NFS3_OK]);
}

#[test]
fn a_complete_write_waits_while_the_peer_does_not_read_its_replies() {
    let (mut server, file) =
        server_with_file("[limits]\nenforced = false\n[delay]\nread = \"1ms\"\n", MIB);
    let (id, mut client) = (connect(&mut server), client());
    let (handle, data) = (file.to_bytes(), pattern(KIB_64, 3));
    for _ in 0..9 {
        let file = nfs_fh3(&handle);
        let arguments = READ3args { file, offset: 0, count: 1 << 20 };
        server.received(MS, id, &call(&mut client, NfsArguments::READ(arguments)));
    }
    let stream = write_call(&mut client, file, 0, &data);
    server.received(MS, id, &stream[..1000]);
    server.advance(2 * MS);
    assert!(server.pending_pieces(id) > 0 && !server.wants_to_read(id));
    let mut rest = &stream[1000..];
    assert!(receive(&mut server, id, &mut rest, usize::MAX) > 0 && rest.is_empty());
    server.received(MS, id, &getattr_call(&mut client, file));
    assert!(content(&server, file)[..KIB_64] == [7; KIB_64], "it is not performed yet");
    assert!(!server.is_unfinished(id) && !server.is_idle(id));
    send_all(&mut server, id);
    assert!(server.is_unfinished(id));
    server.advance(2 * MS);
    assert!(content(&server, file)[..KIB_64] == data);
    server.advance(4 * MS);
    assert!(send_all(&mut server, id) > 0 && server.is_idle(id));
}
