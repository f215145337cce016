//! The ring to the kernel and the memory it works on, behind safe functions: the only crate that
//! allows `unsafe`.
//!
//! For: reading, writing and syncing registered files through io_uring with registered buffers, in
//! batches; and what only raw system calls give: what the kernel says of a socket, and a wait for
//! many of them on every kernel. Not for: deciding what to read or
//! when. Ideas: the hot loop of fio's `t/io_uring`, firecracker's split of ring, operation and
//! buffers.
#![expect(
    unsafe_code,
    reason = "this crate exists to hold all of it; each block says why it is sound"
)]

pub mod buffers;
pub mod ring;
pub mod socket;
pub mod waiting;
