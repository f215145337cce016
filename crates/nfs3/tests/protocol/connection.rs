//! A client connection and a server connection, without sockets.

use nfs3::arguments::{Data, GETATTR3args, REMOVE3args, WRITE3args, stable_how};
use nfs3::client::{Client, ClientOptions, ReceiveError, Received as Reply, ReplyError};
use nfs3::procedure::{NfsProcedure, Procedure};
use nfs3::record::{EMPTY_FRAGMENTS_MAX, RecordError};
use nfs3::reply_cache::{CallKey, ReplyCache, Seen};
use nfs3::request::{Arguments, NfsArguments, NfsResults, Results};
use nfs3::results::{REMOVE3resok, Res3, WRITE3resok};
use nfs3::rpc::{AuthSys, Credential, Gids, ReplyStatus};
use nfs3::server::{
    IncompleteWrite, Programs, Received, Server, ServerOptions, reply, reply_read_head, reply_with,
};
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::{diropargs3, filename3, nfs_fh3, wcc_data};
use nfs3::xdr::padding;

const FILE: nfs_fh3<'static> = nfs_fh3(b"a file's handle");

fn credential() -> Credential<'static> {
    let gids = Gids::new(&[4, 5]).unwrap();
    Credential::Sys(AuthSys { stamp: 1, machinename: b"host", uid: 2, gid: 3, gids })
}

fn client(slots: u32) -> Client {
    Client::new(ClientOptions { slots, max_reply_bytes: 1 << 17, first_generation: 40 })
}

fn server(max_in_progress: usize) -> Server {
    let programs = Programs { nfs: true, mount: false, portmap: false };
    Server::new(ServerOptions { programs, max_call_bytes: 1 << 17, max_in_progress })
}

/// Passes the single request in `bytes` to `check`.
fn request<T>(bytes: &[u8], check: impl FnOnce(nfs3::server::Request<'_>) -> T) -> T {
    let (mut server, mut input, mut replies) = (server(1), bytes, Vec::new());
    let Ok(Some(Received::Request(request))) = server.receive(&mut input, &mut replies) else {
        panic!("one request");
    };
    assert!(input.is_empty() && replies.is_empty());
    check(request)
}

fn remove() -> Arguments<'static> {
    let object = diropargs3 { dir: nfs_fh3(b"dir"), name: filename3(b"name") };
    Arguments::Nfs(NfsArguments::REMOVE(REMOVE3args { object }))
}

/// The status of a server's reply to a call of these words.
fn answered(words: &[u32]) -> ReplyStatus {
    let mut bytes = nfs3::record::mark(words.len() * 4).to_be_bytes().to_vec();
    words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    let (mut server, mut input, mut replies) = (server(1), &bytes[..], Vec::new());
    let received = server.receive(&mut input, &mut replies).unwrap().unwrap();
    let Received::Answered { xid, status } = received else { panic!("{received:?}") };
    assert_eq!((xid, server.in_progress()), (words[0], 0));
    let header = nfs3::xdr::decode_whole::<nfs3::rpc::ReplyHeader<'_>>(&replies[4..]).unwrap();
    assert_eq!((header.xid, header.status), (xid, status), "the reply has the returned status");
    status
}

#[test]
fn a_read_from_a_template_equals_the_generic_call() {
    let template = ReadTemplate::new(&credential(), FILE);
    let mut client = client(4);
    for (offset, count) in [(0, 1), (1 << 40, 65_536)] {
        let slot = client.read(&template, offset, count).unwrap();
        request(client.message(slot), |request| {
            let args = nfs3::arguments::READ3args { file: FILE, offset, count };
            assert_eq!(request.arguments, Arguments::Nfs(NfsArguments::READ(args)));
            assert_eq!((request.xid, request.credential), (client.xid(slot), credential()));
        });
    }
}

#[test]
fn a_write_from_a_template_is_followed_by_its_data_and_padding() {
    let template = WriteTemplate::new(&credential(), FILE);
    let mut client = client(8);
    for data in [&b""[..], b"a", b"ab", b"abc", b"abcd", b"abcde"] {
        let count = data.len() as u32;
        let slot = client.write(&template, 7, count, stable_how::DATA_SYNC).unwrap();
        let bytes = [client.message(slot), data, padding(data.len())].concat();
        request(&bytes, |request| {
            let stable = stable_how::DATA_SYNC;
            let args = WRITE3args { file: FILE, offset: 7, count, stable, data: Data(data) };
            assert_eq!(request.arguments, Arguments::Nfs(NfsArguments::WRITE(args)));
        });
    }
}

#[test]
fn replies_find_their_slots_in_any_order_and_in_any_pieces() {
    let template = ReadTemplate::new(&credential(), FILE);
    let mut client = client(3);
    let slots: Vec<u32> = (0..3).map(|i| client.read(&template, i, 5).unwrap()).collect();
    assert_eq!(client.read(&template, 3, 5), None, "no slot is free");
    let mut stream = Vec::new();
    for slot in slots.iter().rev() {
        reply_read_head(&mut stream, client.xid(*slot), &None, 5, false);
        stream.extend_from_slice(&[*slot as u8; 5]);
        stream.extend_from_slice(padding(5));
    }
    let mut seen = Vec::new();
    for mut piece in stream.chunks(11) {
        while let Some(received) = client.receive(&mut piece).unwrap() {
            let Reply::Completed(completion) = received else { panic!("{received:?}") };
            let Res3::Ok(read) = completion.read().unwrap() else { panic!("a failure") };
            assert_eq!(read.data.0, [completion.slot as u8; 5]);
            seen.push(completion.slot);
        }
    }
    seen.reverse();
    assert_eq!((seen, client.outstanding(), client.room()), (slots, 0, 3));
}

#[test]
fn a_late_reply_to_an_abandoned_call_is_stale() {
    let template = ReadTemplate::new(&credential(), FILE);
    let mut client = client(1);
    let slot = client.read(&template, 0, 0).unwrap();
    let late = client.xid(slot);
    client.abandon(slot);
    let slot = client.read(&template, 0, 0).unwrap();
    assert_ne!(client.xid(slot), late);
    let mut stream = Vec::new();
    reply_read_head(&mut stream, late, &None, 0, true);
    let received = client.receive(&mut &stream[..]).unwrap();
    assert_eq!(received, Some(Reply::Stale { xid: late }));
    assert_eq!(client.outstanding(), 1);
}

#[test]
fn a_reply_with_an_unknown_xid_is_stale() {
    let mut client = client(5);
    for xid in [0, 5, 7, u32::MAX] {
        let mut stream = Vec::new();
        reply_read_head(&mut stream, xid, &None, 0, true);
        assert_eq!(client.receive(&mut &stream[..]), Ok(Some(Reply::Stale { xid })));
    }
}

#[test]
fn after_a_reconnect_outstanding_calls_are_retransmitted_with_the_same_bytes() {
    let mut client = client(4);
    let first = client.call(&credential(), &remove()).unwrap();
    let getattr = Arguments::Nfs(NfsArguments::GETATTR(GETATTR3args { object: FILE }));
    let second = client.call(&credential(), &getattr).unwrap();
    let third = client.call(&credential(), &remove()).unwrap();
    let sent: Vec<Vec<u8>> =
        [first, second, third].iter().map(|slot| client.message(*slot).to_vec()).collect();
    let mut stream = Vec::new();
    let xid = client.xid(second);
    reply(&mut stream, xid, &Results::Nfs(NfsResults::NULL(())));
    // The connection is lost in the middle of the reply.
    assert_eq!(client.receive(&mut &stream[..9]), Ok(None));
    assert_eq!(client.reconnected(), [first, second, third]);
    for (slot, sent) in [first, second, third].iter().zip(&sent) {
        assert_eq!(client.message(*slot), sent, "the same bytes, and so the same xid");
    }
    assert!(matches!(client.receive(&mut &stream[..]), Ok(Some(Reply::Completed(_)))));
    assert_eq!(client.reconnected(), [first, third]);
    // A later call takes the free slot between them, and is retransmitted last.
    let fourth = client.call(&credential(), &getattr).unwrap();
    assert_eq!(fourth, second);
    assert_eq!(client.reconnected(), [first, third, fourth]);
}

#[test]
fn a_retransmitted_call_is_performed_once_and_answered_twice() {
    let mut client = client(1);
    let slot = client.call(&credential(), &remove()).unwrap();
    let message = client.message(slot).to_vec();
    let mut cache = ReplyCache::new(16, 1 << 16);
    let (mut removed, mut replies) = (0, Vec::new());
    for _ in 0..2 {
        let mut answer = Vec::new();
        request(&message, |request| {
            let procedure = request.arguments.procedure();
            assert!(!procedure.is_idempotent());
            let key = CallKey::new(9, request.xid, procedure, request.arguments_bytes);
            match cache.begin(key) {
                Seen::New => {
                    removed += 1;
                    let done = REMOVE3resok { dir_wcc: wcc_data::default() };
                    let results = Results::Nfs(NfsResults::REMOVE(Res3::Ok(done)));
                    reply(&mut answer, request.xid, &results);
                }
                Seen::InProgress => panic!("it was finished before"),
                Seen::Replay(first) => {
                    answer.extend_from_slice(first);
                    return;
                }
            }
            cache.finish(key, &answer);
        });
        replies.push(answer);
    }
    assert_eq!((removed, &replies[0]), (1, &replies[1]));
    assert!(matches!(client.receive(&mut &replies[0][..]), Ok(Some(Reply::Completed(_)))));
    assert!(matches!(client.receive(&mut &replies[1][..]), Ok(Some(Reply::Stale { .. }))));
}

#[test]
fn invalid_calls_are_answered_as_the_rfc_requires() {
    const NONE: [u32; 4] = [0; 4];
    let call = |head: [u32; 6], tail: &[u32]| answered(&[&head[..], tail].concat());
    let mismatch = ReplyStatus::RpcMismatch { low: 2, high: 2 };
    assert_eq!(call([1, 0, 3, 100_003, 3, 0], &NONE), mismatch);
    assert_eq!(call([1, 0, 2, 100_227, 3, 0], &NONE), ReplyStatus::ProgUnavail);
    assert_eq!(call([1, 0, 2, 100_005, 3, 0], &NONE), ReplyStatus::ProgUnavail, "not served");
    let mismatch = ReplyStatus::ProgMismatch { low: 3, high: 3 };
    assert_eq!(call([1, 0, 2, 100_003, 4, 0], &NONE), mismatch);
    assert_eq!(call([1, 0, 2, 100_003, 2, 0], &NONE), mismatch);
    assert_eq!(call([1, 0, 2, 100_003, 3, 22], &NONE), ReplyStatus::ProcUnavail);
    assert_eq!(call([1, 0, 2, 100_003, 3, 1], &NONE), ReplyStatus::GarbageArgs, "no handle");
    assert_eq!(call([1, 0, 2, 100_003, 3, 0], &[0; 5]), ReplyStatus::GarbageArgs, "trailing bytes");
    let bad = ReplyStatus::AuthError(nfs3::rpc::auth_stat::AUTH_BADCRED);
    assert_eq!(call([1, 0, 2, 100_003, 3, 0], &[6, 0, 0, 0]), bad, "RPCSEC_GSS");
    assert_eq!(call([1, 0, 2, 100_003, 3, 0], &[1, 4, 0, 0, 0]), bad, "an invalid body");
    assert_eq!(call([1, 0, 2, 100_003, 3, 0], &[0, 4, 0, 0, 0]), bad, "AUTH_NONE with a body");
    let bad = ReplyStatus::AuthError(nfs3::rpc::auth_stat::AUTH_BADVERF);
    assert_eq!(call([1, 0, 2, 100_003, 3, 0], &[0, 0, 0, 401]), bad, "a verifier too long");
}

#[test]
fn a_server_takes_no_more_calls_than_its_maximum_in_progress() {
    let template = ReadTemplate::new(&credential(), FILE);
    let mut client = client(8);
    let mut stream = Vec::new();
    for offset in 0..3 {
        let slot = client.read(&template, offset, 1).unwrap();
        stream.extend_from_slice(client.message(slot));
    }
    let mut server = server(2);
    let (mut input, mut replies) = (&stream[..], Vec::new());
    for _ in 0..2 {
        assert!(server.is_reading_allowed());
        assert!(matches!(server.receive(&mut input, &mut replies), Ok(Some(_))));
    }
    assert!(!server.is_reading_allowed());
    assert_eq!(server.receive(&mut input, &mut replies), Ok(None));
    assert_eq!(input.len(), stream.len() / 3, "the input is not consumed");
    server.finished();
    assert!(matches!(server.receive(&mut input, &mut replies), Ok(Some(_))));
    assert_eq!((input.len(), server.in_progress()), (0, 2));
}

#[test]
fn too_many_empty_fragments_are_an_error_in_client_and_server() {
    let endless = [0; 4].repeat(EMPTY_FRAGMENTS_MAX + 1);
    let (mut server, mut client) = (server(1), client(1));
    let received = server.receive(&mut &endless[..], &mut Vec::new());
    assert_eq!(received, Err(RecordError::EmptyFragments));
    assert_eq!(
        client.receive(&mut &endless[..]),
        Err(ReceiveError::Record(RecordError::EmptyFragments))
    );
}

#[test]
fn a_reply_without_results_has_a_reason() {
    let template = WriteTemplate::new(&credential(), FILE);
    let mut client = client(1);
    let mut answer = |answer: &dyn Fn(&mut Vec<u8>, u32)| {
        let slot = client.write(&template, 0, 0, stable_how::UNSTABLE).unwrap();
        let mut stream = Vec::new();
        answer(&mut stream, client.xid(slot));
        let Ok(Some(Reply::Completed(completion))) = client.receive(&mut &stream[..]) else {
            panic!("a completion");
        };
        let other = ReplyError::OtherProcedure(Procedure::Nfs(NfsProcedure::WRITE));
        assert_eq!(completion.read(), Err(other));
        completion.write()
    };
    let busy = ReplyStatus::SystemErr;
    let refused = answer(&|stream, xid| nfs3::server::refuse(stream, xid, busy));
    assert_eq!(refused, Err(ReplyError::Refused(busy)));
    let malformed = answer(&|stream, xid| reply_with(stream, xid, &0u32));
    assert!(matches!(malformed, Err(ReplyError::Malformed(_))), "{malformed:?}");
    let done = Res3::Ok(WRITE3resok {
        file_wcc: wcc_data::default(),
        count: 0,
        committed: stable_how::FILE_SYNC,
        verf: [1; 8],
    });
    assert_eq!(answer(&|stream, xid| reply_with(stream, xid, &done)), Ok(done));
}

/// The bytes of a WRITE.
fn write_call(client: &mut Client, count: u32, data: &[u8]) -> Vec<u8> {
    let (offset, stable) = (1 << 40, stable_how::UNSTABLE);
    let args = WRITE3args { file: FILE, offset, count, stable, data: Data(data) };
    let slot = client.call(&credential(), &Arguments::Nfs(NfsArguments::WRITE(args))).unwrap();
    client.message(slot).to_vec()
}

#[test]
fn the_data_of_a_write_can_be_received_separately() {
    let mut client = client(8);
    let data = [9; 1000];
    let bytes = write_call(&mut client, 1000, &data);
    let head = bytes.len() - data.len();
    for first in 0..bytes.len() {
        let (mut server, mut replies) = (server(1), Vec::new());
        let (mut input, rest) = bytes.split_at(first);
        assert_eq!(server.receive(&mut input, &mut replies), Ok(None));
        assert_eq!(server.is_between_calls(), first == 0);
        let missing = bytes.len() - first;
        let expected = IncompleteWrite { offset: 1 << 40, length: 1000, missing, head };
        let expected = (first >= head).then_some(expected);
        assert_eq!(server.incomplete_write(missing), expected, "after {first} bytes");
        assert_eq!(server.incomplete_write(missing + 1), None);
        let Some(write) = expected else { continue };
        assert_eq!(server.detach_data(), &data[write.missing..]);
        assert_eq!((server.incomplete_write(0), server.is_between_calls()), (None, true));
        let request = server.detached_write().unwrap();
        let (offset, stable) = (1 << 40, stable_how::UNSTABLE);
        let args = WRITE3args { file: FILE, offset, count: 1000, stable, data: Data(&[]) };
        assert_eq!(request.arguments, Arguments::Nfs(NfsArguments::WRITE(args)));
        assert_eq!(request.credential, credential());
        assert_eq!((rest, server.detached_write()), (&data[data.len() - missing..], None));
        // The next call follows the data.
        let mut next = &bytes[..];
        assert_eq!(server.receive(&mut next, &mut replies), Ok(None), "one is in progress");
        server.finished();
        assert!(matches!(server.receive(&mut next, &mut replies), Ok(Some(Received::Request(_)))));
    }
}

#[test]
fn data_is_not_received_separately_unless_it_ends_a_call_that_is_performed() {
    let mut client = client(8);
    let good = write_call(&mut client, 1000, &[9; 1000]);
    let incomplete = |bytes: &[u8]| {
        let mut server = server(1);
        let received = server.receive(&mut &bytes[..bytes.len() - 500], &mut Vec::new());
        assert_eq!(received, Ok(None));
        server.incomplete_write(0).is_some()
    };
    assert!(incomplete(&good));
    assert!(!incomplete(&write_call(&mut client, 999, &[9; 1000])), "count");
    assert!(!incomplete(&write_call(&mut client, 998, &[9; 998])), "padding");
    let changed = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        bytes
    };
    let length = good.len() - 1000 - 1;
    for (name, bytes) in [
        ("the length of the data", changed(length, 0xe4)),
        ("the stability", changed(length - 4, 7)),
        ("another procedure", changed(27, 6)),
        ("another version", changed(23, 4)),
        ("a reply", changed(11, 1)),
        ("not the last fragment", changed(0, 0)),
    ] {
        assert!(!incomplete(&bytes), "{name}");
    }
}
