//! Captures: calls of the Linux client are decoded as by the server, and replies of nfs-ganesha as
//! by the client, and both are encoded to the same bytes.
//!
//! This crate's client and server share a codec, so tests that use only both cannot find its
//! errors.

use std::collections::BTreeMap;
use std::path::Path;

use nfs3::client::Completion;
use nfs3::mount::mountstat3;
use nfs3::procedure::{MountProcedure, NfsProcedure, Procedure};
use nfs3::record::{RecordReader, mark};
use nfs3::request::{Arguments, MountResults, NfsArguments, NfsResults, Results};
use nfs3::results::Res3;
use nfs3::rpc::{ReplyHeader, ReplyStatus, encode_call_head};
use nfs3::server::{Programs, Received, Server, ServerOptions, reply};
use nfs3::types::nfsstat3;
use nfs3::xdr::{Reader, Writer, Xdr};

use crate::pcap::streams;

/// NFSACL, which the Linux client requests and this crate does not support.
const NFSACL_PROGRAM: u32 = 100_227;

/// Counts of a capture.
#[derive(Default)]
struct Counts {
    calls: BTreeMap<Procedure, usize>,
    replies: BTreeMap<Procedure, usize>,
    /// (procedure, status) of the replies of NFS.
    statuses: BTreeMap<(NfsProcedure, nfsstat3), usize>,
    refused_mounts: Vec<mountstat3>,
    /// Calls to programs that are not supported.
    unavailable: usize,
}

/// Decodes and re-encodes every record of a capture.
fn replay(name: &str) -> Counts {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/captures").join(name);
    let file = std::fs::read(path).unwrap();
    let streams = streams(&file);
    let mut counts = Counts::default();
    for ((from, to), sent) in &streams {
        // The client opens all connections, from other ports than the server's.
        let from_server = [111, 12048, 12049].contains(&from.1);
        if !from_server {
            let received = &streams[&(*to, *from)];
            let outstanding = calls(&sent.bytes, &mut counts);
            replies(&received.bytes, outstanding, &mut counts);
        }
    }
    counts
}

/// Decodes the client's side of a connection; returns the procedures by xid.
fn calls(stream: &[u8], counts: &mut Counts) -> BTreeMap<u32, Option<Procedure>> {
    let mut server = Server::new(ServerOptions {
        programs: Programs { nfs: true, mount: true, portmap: true },
        max_call_bytes: 1 << 21,
        max_in_progress: usize::MAX,
    });
    let mut outstanding = BTreeMap::new();
    let mut answers = Vec::new();
    // In pieces that do not match record boundaries.
    for mut piece in stream.chunks(1_000) {
        while let Some(received) = server.receive(&mut piece, &mut answers).unwrap() {
            match received {
                Received::Request(request) => {
                    let procedure = request.arguments.procedure();
                    *counts.calls.entry(procedure).or_default() += 1;
                    outstanding.insert(request.xid, Some(procedure));
                }
                Received::Answered { xid, status } => {
                    assert_eq!(status, ReplyStatus::ProgUnavail);
                    counts.unavailable += 1;
                    outstanding.insert(xid, None);
                }
                Received::NotACall => panic!("a record that is not a call"),
            }
        }
    }
    encode_calls_again(stream);
    outstanding
}

/// The records of a stream.
fn records(mut stream: &[u8]) -> Vec<Vec<u8>> {
    let mut reader = RecordReader::new(1 << 21);
    let mut records = Vec::new();
    while let Some(record) = reader.next(&mut stream).unwrap() {
        records.push(record.to_vec());
    }
    records
}

fn encode_calls_again(stream: &[u8]) {
    for record in records(stream) {
        let mut reader = Reader::new(&record);
        let header = nfs3::rpc::CallHeader::decode(&mut reader).unwrap();
        let procedure = match header.program {
            NFSACL_PROGRAM => continue,
            nfs3::procedure::NFS_PROGRAM => {
                Procedure::Nfs(NfsProcedure::decode(&mut number(header.procedure)).unwrap())
            }
            nfs3::procedure::MOUNT_PROGRAM => {
                Procedure::Mount(MountProcedure::decode(&mut number(header.procedure)).unwrap())
            }
            _ => Procedure::Portmap(Xdr::decode(&mut number(header.procedure)).unwrap()),
        };
        let credential = nfs3::rpc::Credential::decode(header.credential).unwrap();
        let arguments = Arguments::decode(procedure, reader.rest()).unwrap();
        let mut encoded = Vec::new();
        let mut writer = Writer::new(&mut encoded);
        encode_call_head(&mut writer, header.xid, procedure.numbers(), &credential);
        arguments.encode(&mut writer);
        assert_eq!(encoded, record, "{arguments:?}");
        if let Arguments::Nfs(NfsArguments::WRITE(write)) = arguments {
            assert_eq!(write.data.0.len(), write.count as usize);
        }
    }
}

fn number(procedure: u32) -> Reader<'static> {
    let bytes: &'static [u8] = Vec::leak(procedure.to_be_bytes().to_vec());
    Reader::new(bytes)
}

/// Decodes the server's side of a connection.
fn replies(stream: &[u8], mut calls: BTreeMap<u32, Option<Procedure>>, counts: &mut Counts) {
    for record in records(stream) {
        let mut reader = Reader::new(&record);
        let header = ReplyHeader::decode(&mut reader).unwrap();
        let Some(procedure) = calls.remove(&header.xid).expect("a reply to a call") else {
            continue;
        };
        let completion = Completion {
            slot: 0,
            xid: header.xid,
            procedure,
            status: header.status,
            body: reader.rest(),
        };
        let results = completion.results().unwrap();
        *counts.replies.entry(procedure).or_default() += 1;
        let mut encoded = Vec::new();
        reply(&mut encoded, header.xid, &results);
        assert_eq!(encoded[..4], mark(record.len()).to_be_bytes());
        assert_eq!(encoded[4..], record, "{results:?}");
        if let Procedure::Nfs(procedure) = procedure
            && procedure != NfsProcedure::NULL
        {
            let status = nfsstat3::decode(&mut Reader::new(completion.body)).unwrap();
            assert!(status.name().is_some(), "{status}");
            *counts.statuses.entry((procedure, status)).or_default() += 1;
        }
        match &results {
            Results::Nfs(NfsResults::READ(Res3::Ok(read))) => {
                assert_eq!(read.count as usize, read.data.0.len());
            }
            Results::Mount(MountResults::MNT(Err(status))) => counts.refused_mounts.push(*status),
            _ => {}
        }
    }
    assert!(calls.is_empty(), "calls without a reply: {calls:?}");
}

/// Compares with the README of the captures.
fn assert_calls(counts: &Counts, expected: &[(NfsProcedure, usize)]) {
    assert_eq!(counts.calls, counts.replies, "every call has its reply");
    for (procedure, count) in expected {
        assert_eq!(counts.calls.get(&Procedure::Nfs(*procedure)), Some(count), "{procedure:?}");
    }
    let has = |procedure| counts.calls.contains_key(&Procedure::Mount(procedure));
    assert!(has(MountProcedure::NULL) && has(MountProcedure::MNT));
    assert!(has(MountProcedure::UMNT));
    assert!(counts.unavailable > 0, "the client requests NFSACL");
}

#[test]
fn the_linux_clients_name_operations_are_decoded_and_encoded_to_the_same_bytes() {
    use NfsProcedure as P;
    let counts = replay("names.pcap");
    assert_calls(
        &counts,
        &[
            (P::ACCESS, 14),
            (P::MKDIR, 2),
            (P::LOOKUP, 8),
            (P::CREATE, 2),
            (P::SETATTR, 6),
            (P::SYMLINK, 1),
            (P::MKNOD, 2),
            (P::LINK, 1),
            (P::RENAME, 3),
            (P::READDIRPLUS, 1),
            (P::READLINK, 1),
            (P::FSSTAT, 1),
            (P::FSINFO, 2),
            (P::PATHCONF, 1),
            (P::REMOVE, 5),
            (P::RMDIR, 2),
        ],
    );
    assert_eq!(counts.statuses[&(P::LOOKUP, nfsstat3::NFS3ERR_NOENT)], 7);
}

#[test]
fn the_linux_clients_data_operations_are_decoded_and_encoded_to_the_same_bytes() {
    use NfsProcedure as P;
    let counts = replay("data.pcap");
    let expected = [(P::CREATE, 4), (P::WRITE, 6), (P::READ, 10), (P::SETATTR, 1), (P::REMOVE, 4)];
    assert_calls(&counts, &expected);
}

#[test]
fn refusals_of_a_third_party_server_are_decoded_with_their_statuses() {
    use NfsProcedure as P;
    let counts = replay("errors.pcap");
    assert_calls(&counts, &[(P::MKDIR, 4), (P::LOOKUP, 21), (P::RMDIR, 4), (P::READ, 1)]);
    assert!(counts.refused_mounts.contains(&mountstat3::MNT3ERR_ACCES));
    for refusal in [
        (P::MKDIR, nfsstat3::NFS3ERR_EXIST),
        (P::LOOKUP, nfsstat3::NFS3ERR_NOENT),
        (P::RMDIR, nfsstat3::NFS3ERR_NOTEMPTY),
        (P::SETATTR, nfsstat3::NFS3ERR_PERM),
        (P::READ, nfsstat3::NFS3ERR_STALE),
    ] {
        assert!(counts.statuses.contains_key(&refusal), "{refusal:?} in {:?}", counts.statuses);
    }
}
