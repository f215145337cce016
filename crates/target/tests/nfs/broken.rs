//! The client's behaviour for servers that violate the protocol, and for slow owners.

use std::io::IoSlice;
use std::time::{Duration, Instant};

use nfs3::arguments::stable_how;
use nfs3::request::{NfsResults, Results};
use nfs3::results::{Res3, WRITE3resok};
use nfs3::server::reply;
use nfs3::types::{Handle, wcc_data};
use target::Target;
use target::nfs::sans_io::{SansIoClient, SocketAction};
use target::nfs::{NfsFailure, NfsFile};

use crate::drive::{all, read, write};
use crate::scripted::{Act, Scripted};

fn file() -> NfsFile {
    NfsFile { handle: Handle::new(b"f\0").unwrap(), path: "file".to_owned() }
}

#[test]
fn a_reply_is_valid_although_garbage_follows_and_the_next_call_works() {
    let server = Scripted::start((1, 8192), |_, world| match world.seen.len() {
        1 => Act::GarbageBehind,
        _ => Act::Answer,
    });
    let mut session = server.session("");
    let mut memory = [0; 4096];
    for offset in [0, 4096] {
        assert_eq!(session.read(&file(), offset, &mut memory).unwrap().0, 4096);
    }
    assert_eq!(server.world.lock().unwrap().seen.len(), 2);
}

#[test]
fn replies_to_unknown_calls_do_not_extend_a_deadline() {
    let server = Scripted::start((1, 8192), |_, _| Act::Flood);
    let mut session = server.session("timeo=1s");
    session.set_deadline(Duration::from_millis(300));
    let error = session.read(&file(), 0, &mut [0; 4096]).unwrap_err();
    assert!(matches!(error.failure, NfsFailure::Deadline(_)), "{error}");
}

/// The bytes that the only connection sends next.
fn unsent(client: &mut SansIoClient) -> Vec<u8> {
    client.take_unsent();
    let mut pieces = [IoSlice::new(&[]); 8];
    let filled = client.gather(0, &mut pieces);
    pieces[..filled].iter().flat_map(|piece| piece.to_vec()).collect()
}

#[test]
fn waiting_calls_continue_after_a_reply_to_an_incomplete_call() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
    let access = server.access("slots=1", |_| {});
    let mut client = SansIoClient::new(&access, 2, || 1).unwrap();
    client.submit(0, &write(0, 8192));
    client.submit(1, &read(0, 4096));
    let first = unsent(&mut client);
    client.sent(0, 100);
    let ok = WRITE3resok {
        file_wcc: wcc_data::default(),
        count: 8192,
        committed: stable_how::UNSTABLE,
        verf: [1; 8],
    };
    let xid = u32::from_be_bytes(first[4..8].try_into().unwrap());
    let mut early_reply = Vec::new();
    reply(&mut early_reply, xid, &Results::Nfs(NfsResults::WRITE(Res3::Ok(ok))));
    assert!(!client.received(0, &early_reply), "the reply violates the protocol");
    client.lost(0);
    let now_ns = client.next_ns();
    client.set_time(now_ns);
    assert_eq!(client.advance(), Some(SocketAction::Connect(0)));
    client.connected(0);
    let second = unsent(&mut client);
    assert!(!second.is_empty() && second[4..8] != first[4..8], "the READ is sent");
}

#[test]
fn several_connections_work_on_an_old_kernel_too() {
    // Affects all later tests of this process, which must pass either way.
    uring::waiting::wait_as_before_linux_5_11();
    let server = Scripted::start((1, 1 << 20), |_, world| match world.seen.len() {
        20 => Act::DoAndClose,
        _ => Act::Fragments,
    });
    let mut target = server.open("nconnect=3", 16, |_| {});
    let ops: Vec<_> = (0..128).map(|index| read(index * 8192, 8192)).collect();
    let results = all(&mut target, &ops, 16, |_, _| {});
    assert!(results.iter().all(|result| *result == 8192), "{results:?}");
}

#[test]
fn time_before_the_first_operation_is_neither_outstanding_nor_silence() {
    let server = Scripted::start((1, 1 << 20), |_, _| Act::Answer);
    let mut target = server.open("", 1, |_| {});
    // Opening takes some time; the call is outstanding only from here on.
    let begun = Instant::now();
    target.submit(0, &read(0, 8192)).unwrap();
    let counters = target.connections()[0];
    let outstanding = begun.elapsed().as_nanos();
    assert_eq!(counters.outstanding, 1);
    assert!(counters.outstanding_time_ns <= outstanding, "{counters:?} in {outstanding} ns");
}
