//! The ring to the kernel and its memory, behind safe functions: the only crate that allows
//! `unsafe`.
//!
//! It reads, writes and syncs registered files through io_uring with registered buffers, in
//! batches. It also wraps system calls without safe bindings: TCP_INFO of a socket, waiting for
//! many sockets with nanosecond timeouts on every kernel, and the scheduler's slice of a thread.
//! Ideas: the hot loop of fio's `t/io_uring`, firecracker's separation of ring, operation and buffers.
#![expect(
    unsafe_code,
    reason = "this crate exists to contain all of it; each block states why it is sound"
)]

pub mod buffers;
pub mod names;
mod queue;
pub mod ring;
pub mod slice;
pub mod socket;
pub mod waiting;

pub use queue::Wait;
