//! What only a file system of this machine tells: holes, and what direct I/O asks for.

use target::refusal::{Overrides, Refusal};

use crate::place::Place;
use crate::plans::{FILE_BYTES, wanted};
use crate::truths::{refused_and_mended, writable};

#[test]
fn a_file_that_was_cut_off_and_extended_is_sparse_and_refused() {
    let place = Place::filled();
    let file = writable(&place.file(0));
    file.set_len(1 << 20).unwrap();
    file.set_len(FILE_BYTES).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(
        matches!(refusal, Refusal::Unwritten { offset_bytes, .. } if offset_bytes == 1 << 20),
        "{refusal}"
    );
}

#[test]
fn a_preallocated_file_is_refused() {
    let place = Place::filled();
    let file = writable(&place.file(0));
    file.set_len(0).unwrap();
    rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, FILE_BYTES).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(matches!(refusal, Refusal::Unwritten { offset_bytes: 0, .. }), "{refusal}");
}

#[test]
fn a_hole_in_the_middle_is_refused_however_small() {
    let place = Place::filled();
    let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    rustix::fs::fallocate(writable(&place.file(0)), flags, 1 << 20, 4096).unwrap();
    let refusal = refused_and_mended(&place);
    assert!(
        matches!(refusal, Refusal::Unwritten { offset_bytes, .. } if offset_bytes == 1 << 20),
        "{refusal}"
    );
}

#[test]
fn transfers_smaller_than_direct_io_allows_are_refused() {
    let place = Place::new();
    let mut wanted = wanted(1);
    wanted.direct_transfer_min_bytes = Some(1);
    let refusal = place.open_for(wanted, Overrides::default()).unwrap_err();
    // Where the file system has no direct I/O at all, that is what it says.
    let expected = matches!(refusal, Refusal::DirectAlignment { .. } | Refusal::NoDirectIo { .. });
    assert!(expected, "{refusal}");
    assert!(refusal.remedy().contains("--buffered"), "{}", refusal.remedy());
    assert!(Place::names(place.path()).is_empty(), "what was made for it is removed");
}
