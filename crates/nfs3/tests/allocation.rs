//! Memory use of the codec, counted by the allocator: at most a small multiple of the received
//! bytes, whatever lengths they announce, and no allocation for READ and WRITE after warm-up.

#![expect(unsafe_code, reason = "a counting allocator needs it")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

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
    /// Allocated bytes of the thread, their maximum, and the number of allocator calls.
    static ALLOCATED: Cell<isize> = const { Cell::new(0) };
    static ALLOCATED_MAX: Cell<isize> = const { Cell::new(0) };
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

struct Counting;

fn count(change: isize) {
    CALLS.set(CALLS.get() + 1);
    ALLOCATED.set(ALLOCATED.get() + change);
    ALLOCATED_MAX.set(ALLOCATED_MAX.get().max(ALLOCATED.get()));
}

// SAFETY: every call is passed on unchanged to the system's allocator. Counting uses thread-locals
// without initialisation or destruction, so it does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // The old and the new block exist at the same time.
        count(size as isize);
        count(-(layout.size() as isize));
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The maximum of bytes that `work` has allocated at a time.
fn allocated_max(work: impl FnOnce()) -> usize {
    let before = ALLOCATED.get();
    ALLOCATED_MAX.set(before);
    work();
    usize::try_from(ALLOCATED_MAX.get() - before).expect("the maximum is not below the start")
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

/// Random words, including many that continue lists and announce huge lengths.
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

/// The highest ratio is that of a READDIRPLUS entry: about 150 bytes in memory for 36 bytes. The
/// list's buffer may be twice as large as needed, and an old and a new one exist at the same time.
const ALLOCATED_PER_BYTE: usize = 16;

proptest! {
    #[test]
    fn decoding_allocates_at_most_a_multiple_of_the_bytes(bytes in words()) {
        for procedure in procedures() {
            let allocated = allocated_max(|| {
                std::hint::black_box(Arguments::decode(procedure, &bytes).is_ok());
                drop(Results::decode(procedure, &bytes));
            });
            let max = ALLOCATED_PER_BYTE * bytes.len() + 1024;
            prop_assert!(allocated <= max, "{allocated} for {} bytes of {procedure:?}", bytes.len());
        }
    }

    #[test]
    fn a_stream_allocates_at_most_a_multiple_of_its_bytes(bytes in words(), piece in 1..100usize) {
        let allocated = allocated_max(|| {
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
        prop_assert!(allocated <= 4 * bytes.len() + 64, "{allocated} for {} bytes", bytes.len());
    }
}

#[test]
fn a_long_directory_allocates_at_most_a_multiple_of_its_bytes() {
    // Entries of READDIRPLUS with an empty name and without attributes and handle.
    let mut bytes = vec![0; 16];
    for _ in 0..10_000 {
        bytes.extend([0, 0, 0, 1]);
        bytes.extend([0; 28]);
    }
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 1]);
    let procedure = Procedure::Nfs(NfsProcedure::READDIRPLUS);
    let allocated = allocated_max(|| drop(Results::decode(procedure, &bytes).unwrap()));
    assert!(allocated > bytes.len(), "the list was allocated");
    assert!(allocated <= ALLOCATED_PER_BYTE * bytes.len(), "{allocated} for {}", bytes.len());
}

#[test]
fn reads_and_writes_do_not_allocate_after_warm_up() {
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
        let slot = slot.expect("the slot is free");
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
