//! What memory the codec takes, counted by the allocator itself: no more than a small multiple of
//! the bytes that arrived, whatever lengths they announce; and none at all on the way of READ and
//! WRITE once their buffers are warm.

#![expect(unsafe_code, reason = "an allocator that counts can only be written so")]
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails there")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use nfs3::arguments::stable_how;
use nfs3::client::{Client, ClientOptions, Received};
use nfs3::procedure::{MountProcedure, NfsProcedure, PortmapProcedure, Procedure};
use nfs3::record::RecordReader;
use nfs3::request::{Arguments, Results};
use nfs3::rpc::{AuthSys, Credential, Gids};
use nfs3::server::{self, Programs, Server, ServerOptions, reply_read_head};
use nfs3::template::{ReadTemplate, WriteTemplate};
use nfs3::types::nfs_fh3;
use nfs3::xdr::decode_whole;
use proptest::prelude::*;

thread_local! {
    /// Bytes that the thread holds, most of them at once, and calls of the allocator.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static MOST: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count(change: isize) {
    CALLS.set(CALLS.get() + 1);
    HELD.set(HELD.get() + change);
    MOST.set(MOST.get().max(HELD.get()));
}

// SAFETY: every call is passed on to the system's allocator as it is; counting touches
// thread-locals that need neither initialisation nor destruction, so it does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Old and new exist together for a moment.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most bytes that `work` holds at once beyond what was held before it.
fn most_held(work: impl FnOnce()) -> usize {
    let before = HELD.get();
    MOST.set(before);
    work();
    usize::try_from(MOST.get() - before).expect("the most is not below the beginning")
}

fn procedures() -> Vec<Procedure> {
    let number = |number: u32| number.to_be_bytes();
    let nfs = (0..22).map(|n| Procedure::Nfs(decode_whole::<NfsProcedure>(&number(n)).unwrap()));
    let mount =
        (0..6).map(|n| Procedure::Mount(decode_whole::<MountProcedure>(&number(n)).unwrap()));
    let portmap =
        (0..5).map(|n| Procedure::Portmap(decode_whole::<PortmapProcedure>(&number(n)).unwrap()));
    nfs.chain(mount).chain(portmap).collect()
}

/// Words that make lists go on and lengths huge, among others.
fn words() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        4 => Just(0u32),
        4 => Just(1),
        1 => Just(u32::MAX),
        1 => Just(0x7fff_ffff),
        1 => 2..64u32,
        1 => any::<u32>(),
    ];
    proptest::collection::vec(word, 0..500)
        .prop_map(|words| words.iter().flat_map(|word| word.to_be_bytes()).collect())
}

/// The largest value in memory for the fewest bytes is an entry of READDIRPLUS: some 150 bytes for
/// 36; the list's buffer may be twice as large as needed, and its old and new one exist together.
const BYTES_HELD_PER_BYTE: usize = 16;

proptest! {
    #[test]
    fn decoding_holds_no_more_than_the_bytes_justify(bytes in words()) {
        for procedure in procedures() {
            let held = most_held(|| {
                std::hint::black_box(Arguments::decode(procedure, &bytes).is_ok());
                drop(Results::decode(procedure, &bytes));
            });
            let most = BYTES_HELD_PER_BYTE * bytes.len() + 1024;
            prop_assert!(held <= most, "{held} for {} bytes of {procedure:?}", bytes.len());
        }
    }

    #[test]
    fn a_stream_holds_no_more_than_the_bytes_justify(bytes in words(), piece in 1..100usize) {
        let held = most_held(|| {
            let mut reader = RecordReader::new(usize::MAX);
            'stream: for mut input in bytes.chunks(piece) {
                loop {
                    match reader.next(&mut input) {
                        Ok(Some(_)) => {}
                        Ok(None) => break,
                        Err(_) => break 'stream,
                    }
                }
            }
        });
        prop_assert!(held <= 4 * bytes.len() + 64, "{held} for {} bytes", bytes.len());
    }
}

#[test]
fn a_long_directory_holds_no_more_than_its_bytes_justify() {
    // Entries of READDIRPLUS with an empty name and without attributes and handle.
    let mut bytes = vec![0; 16];
    for _ in 0..10_000 {
        bytes.extend([0, 0, 0, 1]);
        bytes.extend([0; 28]);
    }
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 1]);
    let procedure = Procedure::Nfs(NfsProcedure::READDIRPLUS);
    let held = most_held(|| drop(Results::decode(procedure, &bytes).unwrap()));
    assert!(held > bytes.len(), "the list is there");
    assert!(held <= BYTES_HELD_PER_BYTE * bytes.len(), "{held} for {}", bytes.len());
}

#[test]
fn reads_and_writes_do_not_allocate_once_their_buffers_are_warm() {
    let gids = Gids::new(&[1; 16]).unwrap();
    let sys = AuthSys { stamp: 0, machinename: b"host", uid: 0, gid: 0, gids };
    let file = nfs_fh3(&[7; 64]);
    let reads = ReadTemplate::new(&Credential::Sys(sys), file);
    let writes = WriteTemplate::new(&Credential::Sys(sys), file);
    let options = ClientOptions { slots: 1, max_reply_bytes: 1 << 16, first_generation: 0 };
    let mut client = Client::new(options);
    let programs = Programs { nfs: true, mount: false, portmap: false };
    let mut server =
        Server::new(ServerOptions { programs, max_call_bytes: 1 << 16, max_in_progress: 8 });
    let (mut calls, mut replies) = (Vec::new(), Vec::new());
    let mut exchange = |offset: u64| {
        let slot = if offset.is_multiple_of(2) {
            client.read(&reads, offset, 4096)
        } else {
            client.write(&writes, offset, 0, stable_how::UNSTABLE)
        };
        let slot = slot.expect("one slot for one call");
        calls.clear();
        calls.extend_from_slice(client.message(slot));
        replies.clear();
        let mut input = &calls[..];
        let received = server.receive(&mut input, &mut replies).unwrap().unwrap();
        let server::Received::Request(request) = received else { panic!("a request") };
        let xid = request.xid;
        server.finished();
        reply_read_head(&mut replies, xid, &None, 8, false);
        replies.extend_from_slice(&[9; 8]);
        let mut input = &replies[..];
        let Ok(Some(Received::Completed(completion))) = client.receive(&mut input) else {
            panic!("a completion");
        };
        if offset.is_multiple_of(2) {
            completion.read().unwrap();
        }
    };
    (0..4).for_each(&mut exchange);
    let before = CALLS.get();
    (4..1_000).for_each(&mut exchange);
    assert_eq!(CALLS.get() - before, 0, "calls of the allocator");
}
