//! What only a local file system reports: holes, and the alignment of direct I/O.

use target::refusal::{Overrides, Refusal};

use crate::plans::{FILE_BYTES, required};
use crate::test_volume::TestVolume;
use crate::verification::{refused_then_refilled, writable};

#[test]
fn a_file_that_was_truncated_and_extended_is_sparse_and_refused() {
    let volume = TestVolume::filled();
    let file = writable(&volume.file(0));
    file.set_len(1 << 20).unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(
        matches!(refusal, Refusal::Unwritten { offset_bytes, .. } if offset_bytes == 1 << 20),
        "{refusal}"
    );
}

#[test]
fn a_preallocated_file_is_refused() {
    let volume = TestVolume::filled();
    let file = writable(&volume.file(0));
    file.set_len(0).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, FILE_BYTES).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(matches!(refusal, Refusal::Unwritten { offset_bytes: 0, .. }), "{refusal}");
}

#[test]
fn a_hole_in_the_middle_is_refused() {
    let volume = TestVolume::filled();
    let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(writable(&volume.file(0)), flags, 1 << 20, 4096).unwrap();
    let refusal = refused_then_refilled(&volume);
    assert!(
        matches!(refusal, Refusal::Unwritten { offset_bytes, .. } if offset_bytes == 1 << 20),
        "{refusal}"
    );
}

#[test]
fn transfers_smaller_than_direct_io_allows_are_refused() {
    let volume = TestVolume::new();
    let mut required = required(1);
    required.direct_transfer_min_bytes = Some(1);
    let refusal = volume.open_for(required, Overrides::default()).unwrap_err();
    // The file system may not support direct I/O at all.
    let expected = matches!(refusal, Refusal::DirectAlignment { .. } | Refusal::NoDirectIo { .. });
    assert!(expected, "{refusal}");
    assert!(refusal.remedy().contains("--buffered"), "{}", refusal.remedy());
    assert!(TestVolume::names(volume.path()).is_empty(), "the directory created for it is removed");
}
