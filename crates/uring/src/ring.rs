//! One worker's ring: registered files, registered buffers, batches in and out.
//!
//! A ring is created, used and dropped by one thread (SINGLE_ISSUER), and completions are delivered
//! only when that thread enters the kernel (DEFER_TASKRUN), so that they do not interrupt a batch.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use io_uring::opcode;
use io_uring::types::{Fixed, FsyncFlags};

use crate::buffers::Buffers;
use crate::queue::{Queue, Wait};

/// The features that this kernel granted to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Granted {
    /// SINGLE_ISSUER and DEFER_TASKRUN (Linux 6.1 or newer).
    pub defer_taskrun: bool,
    /// Buffers are registered: the kernel pins them once instead of per operation.
    pub fixed_buffers: bool,
}

/// A ring for `depth` operations on a fixed set of files.
pub struct Ring {
    /// Declared first, so that the ring is closed before its memory is unmapped.
    queue: Queue,
    buffers: Option<Buffers>,
    files: Vec<OwnedFd>,
    granted: Granted,
    /// `on_loan[tag]`: the kernel may access the slot's memory.
    on_loan: Vec<bool>,
    outstanding: usize,
}

impl Ring {
    /// Opens a ring for operations tagged `0..buffers.slots()` on `files`, in the thread that will
    /// use it.
    ///
    /// # Errors
    /// io_uring is forbidden (old kernel, `kernel.io_uring_disabled`, seccomp), or files cannot be
    /// registered.
    pub fn open(files: Vec<OwnedFd>, buffers: Buffers) -> io::Result<Ring> {
        let depth = buffers.slots();
        let entries = u32::try_from((depth + 1).next_power_of_two())
            .map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
        let (queue, defer_taskrun) = Queue::build(entries)?;
        let descriptors: Vec<i32> = files.iter().map(AsRawFd::as_raw_fd).collect();
        queue.ring.submitter().register_files(&descriptors)?;
        let vectors: Vec<libc::iovec> = (0..depth)
            .map(|slot| libc::iovec {
                iov_base: buffers.address(slot).cast(),
                iov_len: buffers.slot_bytes(),
            })
            .collect();
        // SAFETY: the vectors describe slots of `buffers`, which this value keeps until the ring is
        // closed (`Drop`). If the kernel refuses (RLIMIT_MEMLOCK), unregistered buffers are used,
        // at a higher cost.
        let fixed_buffers = unsafe { queue.ring.submitter().register_buffers(&vectors) }.is_ok();
        Ok(Ring {
            queue,
            on_loan: vec![false; depth],
            buffers: Some(buffers),
            files,
            granted: Granted { defer_taskrun, fixed_buffers },
            outstanding: 0,
        })
    }

    /// The features that this kernel granted.
    pub fn granted(&self) -> Granted {
        self.granted
    }

    /// Operations that are queued and not sent.
    #[inline]
    pub fn unsent(&self) -> usize {
        self.queue.unsent()
    }

    /// The memory of slot `tag`, whose operation must not be outstanding.
    #[inline]
    pub fn slot(&mut self, tag: u32) -> &mut [u8] {
        assert!(!self.on_loan[tag as usize], "the kernel owns the memory of slot {tag}");
        self.memory().slot(tag as usize)
    }

    /// Queues a read of `size_bytes` at `offset_bytes` of file `file` into slot `tag`.
    #[inline]
    pub fn read(&mut self, tag: u32, file: u32, offset_bytes: u64, size_bytes: u32) {
        let address = self.claim(tag, file, size_bytes);
        let entry = if self.granted.fixed_buffers {
            opcode::ReadFixed::new(Fixed(file), address, size_bytes, tag as u16)
                .offset(offset_bytes)
                .build()
        } else {
            opcode::Read::new(Fixed(file), address, size_bytes).offset(offset_bytes).build()
        };
        self.push(entry.user_data(u64::from(tag)));
    }

    /// Queues a write of the first `size_bytes` of slot `tag` at `offset_bytes` of file `file`.
    #[inline]
    pub fn write(&mut self, tag: u32, file: u32, offset_bytes: u64, size_bytes: u32) {
        let address = self.claim(tag, file, size_bytes);
        let entry = if self.granted.fixed_buffers {
            opcode::WriteFixed::new(Fixed(file), address, size_bytes, tag as u16)
                .offset(offset_bytes)
                .build()
        } else {
            opcode::Write::new(Fixed(file), address, size_bytes).offset(offset_bytes).build()
        };
        self.push(entry.user_data(u64::from(tag)));
    }

    /// Queues an fdatasync of file `file`.
    pub fn fsync(&mut self, tag: u32, file: u32) {
        self.claim(tag, file, 0);
        let entry = opcode::Fsync::new(Fixed(file)).flags(FsyncFlags::DATASYNC).build();
        self.push(entry.user_data(u64::from(tag)));
    }

    /// Sends what is queued, then waits until an operation has completed or `wait` is over. Enters
    /// the kernel at most once, and not at all if there is nothing to send or deliver and no wait.
    ///
    /// # Errors
    /// The ring is unusable. An interrupted wait is not an error.
    #[inline]
    pub fn enter(&mut self, wait: Wait) -> io::Result<()> {
        self.queue.enter(wait)
    }

    /// Calls `each(tag, result)` for every completed operation; `result` is the bytes moved or a
    /// negative error number.
    #[inline]
    pub fn drain(&mut self, mut each: impl FnMut(u32, i32)) {
        let Ring { queue, on_loan, outstanding, .. } = self;
        queue.drain(|user_data, result| {
            let tag = user_data as u32;
            on_loan[tag as usize] = false;
            *outstanding -= 1;
            each(tag, result);
        });
    }

    /// Marks slot `tag` as in use by the kernel and returns its address.
    #[inline]
    fn claim(&mut self, tag: u32, file: u32, size_bytes: u32) -> *mut u8 {
        let on_loan = &mut self.on_loan[tag as usize];
        assert!(!*on_loan, "slot {tag} is outstanding already");
        *on_loan = true;
        self.outstanding += 1;
        assert!((file as usize) < self.files.len(), "file {file} of {}", self.files.len());
        let buffers = self.buffers.as_ref().expect("buffers exist until drop");
        assert!(size_bytes as usize <= buffers.slot_bytes(), "an operation larger than its slot");
        buffers.address(tag as usize)
    }

    #[inline]
    fn push(&mut self, entry: io_uring::squeue::Entry) {
        // SAFETY: the entry's memory is slot `tag` of `buffers`, which `claim` has checked to be
        // large enough and not in use by another operation; until the completion it is neither
        // borrowed (`slot`) nor unmapped (`Drop`).
        unsafe { self.queue.push(&entry) };
    }

    fn memory(&mut self) -> &mut Buffers {
        self.buffers.as_mut().expect("buffers exist until drop")
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        if self.outstanding > 0 {
            // The kernel may still write into the memory, so the mapping is leaked.
            std::mem::forget(self.buffers.take());
        }
    }
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring")
            .field("files", &self.files.len())
            .field("granted", &self.granted)
            .field("outstanding", &self.outstanding)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::FileExt;
    use std::time::Duration;

    use super::*;

    fn done(ring: &mut Ring, count: usize) -> Vec<(u32, i32)> {
        let mut all = Vec::new();
        for _ in 0..1000 {
            ring.enter(Wait::Coarse(Duration::from_millis(100))).expect("the ring works");
            ring.drain(|tag, result| all.push((tag, result)));
            if all.len() >= count {
                break;
            }
        }
        all.sort_unstable();
        all
    }

    #[test]
    fn data_written_through_the_ring_is_read_back() {
        let file = tempfile::tempfile().expect("a temporary file");
        let other = file.try_clone().expect("a second descriptor");
        let buffers = Buffers::new(4, 4096).expect("memory");
        let mut ring = Ring::open(vec![file.into()], buffers).expect("io_uring is allowed here");
        for tag in 0..3 {
            ring.slot(tag).fill(b'a' + tag as u8);
            ring.write(tag, 0, u64::from(tag) * 4096, 4096);
        }
        assert_eq!(done(&mut ring, 3), [(0, 4096), (1, 4096), (2, 4096)]);
        ring.fsync(3, 0);
        assert_eq!(done(&mut ring, 1), [(3, 0)]);
        let mut seen = vec![0; 4096];
        other.read_exact_at(&mut seen, 8192).expect("the third block was written");
        assert!(seen.iter().all(|byte| *byte == b'c'));
        ring.read(3, 0, 4096, 4096);
        assert_eq!(done(&mut ring, 1), [(3, 4096)]);
        assert!(ring.slot(3).iter().all(|byte| *byte == b'b'));
    }

    #[test]
    fn errors_are_returned_as_negative_numbers() {
        let file = std::fs::File::open("/proc/self/status").expect("a readable file");
        let mut ring =
            Ring::open(vec![file.into()], Buffers::new(1, 4096).expect("memory")).expect("a ring");
        ring.write(0, 0, 0, 512);
        assert_eq!(done(&mut ring, 1), [(0, -libc::EBADF)]);
    }

    #[test]
    #[should_panic(expected = "the kernel owns the memory")]
    fn memory_in_use_by_the_kernel_cannot_be_borrowed() {
        let file = tempfile::tempfile().expect("a temporary file");
        let mut ring =
            Ring::open(vec![file.into()], Buffers::new(1, 4096).expect("memory")).expect("a ring");
        ring.read(0, 0, 0, 4096);
        ring.slot(0);
    }
}
