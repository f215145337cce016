//! Ten million names take no memory: counted by the allocator.

#![expect(unsafe_code, reason = "a counting allocator needs unsafe code")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use workload::names::{
    NameLoad, NameMix, NameSize, NameSpread, NameState, NameStream, TreeShape, WeightedFileSize,
};
use workload::op::OpKind;

thread_local! {
    /// Of this thread alone: the test harness allocates in its own one meanwhile.
    static ALLOCATED_BYTES: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed unchanged to the system's allocator; counting uses a cell of
// the thread, which needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATED_BYTES.set(ALLOCATED_BYTES.get() + layout.size() as u64);
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's guarantees are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocated_bytes() -> u64 {
    ALLOCATED_BYTES.get()
}

#[test]
fn ten_million_names_of_four_workers_take_less_than_64_kib() {
    let size = |size_bytes, weight| WeightedFileSize { size_bytes, weight };
    let load = NameLoad {
        tree: TreeShape {
            files: 10_000_000,
            depth: 2,
            width: 100,
            directories: 10_000,
            name_length: 12,
            spread: NameSpread::Random,
            sizes: NameSize::Weighted { sizes: vec![size(4096, 9), size(1 << 20, 1)] },
        },
        mix: NameMix::of(&[
            (OpKind::Create, 20),
            (OpKind::Unlink, 20),
            (OpKind::Append, 20),
            (OpKind::WriteFile, 20),
            (OpKind::Stat, 620),
            (OpKind::ReadFile, 300),
        ]),
        append_bytes: 4096,
        scenario: None,
    };
    let before = allocated_bytes();
    let stream = NameStream::of(&load, 4, 32, 1, 1);
    let prepared = allocated_bytes();
    assert!(prepared - before < 65_536, "{} bytes", prepared - before);
    // Far into the run, when every file was replaced many times.
    let (far, mut bytes, mut path) = (100_000_000_000, 0u64, String::with_capacity(64));
    let with_path = allocated_bytes();
    for step in far..far + 20_000 {
        let op = stream.op((step % 4) as u32, step);
        bytes += u64::from(op.size_bytes) + stream.tree().leaf(op.name).as_bytes().len() as u64;
        path.clear();
        stream.tree().push_path(op.name, &mut path);
    }
    for lane in 0..4 {
        let state = NameState::new(&stream, lane, far);
        assert_eq!(state.count(), 2_500_000);
        bytes +=
            state.names().take(10_000).filter(|(name, is)| state.find(*name) == Some(*is)).count()
                as u64;
    }
    assert!(bytes > 0);
    assert_eq!(allocated_bytes(), with_path, "operations and names allocate nothing");
}
