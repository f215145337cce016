//! The scheduler's slice of a thread.
//!
//! A thread that wakes while all processors are busy waits until one of the running threads has used up
//! its slice, about 3 ms. With a shorter slice than theirs it runs immediately (EEVDF, Linux 6.12 and
//! newer; sched(7), `sched_runtime` of `sched_setattr`), unless the scheduler owes them processor time.
//! Older kernels ignore it.

use std::io;
use std::mem;

/// The kernel's minimum.
const SHORT_NS: u64 = 100_000;

/// `struct sched_attr`, first version (`linux/sched/types.h`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
struct Attributes {
    size: u32,
    policy: u32,
    flags: u64,
    nice: i32,
    priority: u32,
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
}

/// A short slice of this thread, until this is dropped.
#[derive(Debug)]
pub struct ShortSlice {
    /// `None` if the thread's slice was not changed.
    before: Option<Attributes>,
}

impl ShortSlice {
    /// Shortens the slice of this thread, if the kernel permits it and the thread has no real-time policy.
    pub fn of_this_thread() -> ShortSlice {
        let before = attributes().ok().filter(|before| before.policy == libc::SCHED_OTHER as u32);
        let is_short =
            |before: &Attributes| set(&Attributes { runtime_ns: SHORT_NS, ..*before }).is_ok();
        ShortSlice { before: before.filter(is_short) }
    }
}

impl Drop for ShortSlice {
    fn drop(&mut self) {
        if let Some(before) = &self.before {
            // It was permitted before.
            let _ = set(before);
        }
    }
}

/// The attributes of this thread.
fn attributes() -> io::Result<Attributes> {
    let mut attributes = Attributes::default();
    let size = mem::size_of::<Attributes>();
    // SAFETY: the kernel writes at most `size` bytes into the structure, which lives until the call returns.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_getattr, 0, &raw mut attributes, size as libc::c_uint, 0)
    };
    match result {
        0 => Ok(attributes),
        _ => Err(io::Error::last_os_error()),
    }
}

fn set(attributes: &Attributes) -> io::Result<()> {
    let attributes = Attributes { size: mem::size_of::<Attributes>() as u32, ..*attributes };
    // SAFETY: the kernel reads `size` bytes of the structure, which lives until the call returns.
    let result = unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_slice_ends_when_it_is_dropped_and_nothing_else_changes() {
        let before = attributes().expect("every kernel that we support has it");
        let short = ShortSlice::of_this_thread();
        let during = attributes().expect("as before");
        assert_eq!((during.policy, during.nice), (before.policy, before.nice));
        // Before Linux 6.12 there is no slice of a thread.
        let has_slices = before.runtime_ns > 0;
        assert_eq!(during.runtime_ns, if has_slices { SHORT_NS } else { 0 });
        drop(short);
        assert_eq!(attributes().expect("as before").runtime_ns, before.runtime_ns);
    }
}
