//! Page-aligned memory for outstanding operations, one slot each.

use std::io;
use std::ptr::NonNull;

/// Alignment of the memory, sufficient for direct I/O everywhere.
pub const ALIGN_BYTES: usize = 4096;
/// Regions of at least this size use huge pages, so that they need few TLB entries.
const HUGE_PAGE_BYTES: usize = 2 << 20;

/// `slots` zeroed slots of equal size in one mapping.
#[derive(Debug)]
pub struct Buffers {
    start: NonNull<u8>,
    mapped_bytes: usize,
    slot_bytes: usize,
    slots: usize,
}

// SAFETY: the mapping is owned by this value and accessed only through its methods.
unsafe impl Send for Buffers {}

impl Buffers {
    /// Maps `slots` slots, each of at least `slot_bytes`, rounded up to whole pages.
    ///
    /// # Errors
    /// The kernel has no memory.
    pub fn new(slots: usize, slot_bytes: usize) -> io::Result<Buffers> {
        let slot_bytes = slot_bytes.next_multiple_of(ALIGN_BYTES).max(ALIGN_BYTES);
        let mapped_bytes = slots
            .checked_mul(slot_bytes)
            .ok_or_else(|| io::Error::from(io::ErrorKind::OutOfMemory))?
            .max(ALIGN_BYTES);
        // SAFETY: an anonymous private mapping at an address chosen by the kernel aliases nothing.
        let start = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                mapped_bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            )
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        if mapped_bytes >= HUGE_PAGE_BYTES {
            // SAFETY: the range is the mapping made above. The call is a hint; its failure is
            // ignored.
            unsafe { libc::madvise(start, mapped_bytes, libc::MADV_HUGEPAGE) };
        }
        let start = NonNull::new(start.cast()).expect("mmap never returns null without MAP_FIXED");
        Ok(Buffers { start, mapped_bytes, slot_bytes, slots })
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Bytes of each slot.
    pub fn slot_bytes(&self) -> usize {
        self.slot_bytes
    }

    /// The memory of slot `slot`.
    #[inline]
    pub fn slot(&mut self, slot: usize) -> &mut [u8] {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the range lies within the mapping, which is initialised (zeroed) and borrowed
        // through `self`.
        unsafe {
            std::slice::from_raw_parts_mut(
                self.start.as_ptr().add(slot * self.slot_bytes),
                self.slot_bytes,
            )
        }
    }

    /// The memory of slot `slot`, read-only.
    #[inline]
    pub fn bytes(&self, slot: usize) -> &[u8] {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: as in `slot`; the shared borrow prevents writes through this value.
        unsafe {
            std::slice::from_raw_parts(
                self.start.as_ptr().add(slot * self.slot_bytes),
                self.slot_bytes,
            )
        }
    }

    /// The address of slot `slot`, for the kernel.
    pub(crate) fn address(&self, slot: usize) -> *mut u8 {
        assert!(slot < self.slots, "slot {slot} of {}", self.slots);
        // SAFETY: the offset lies within the mapping.
        unsafe { self.start.as_ptr().add(slot * self.slot_bytes) }
    }
}

impl Drop for Buffers {
    fn drop(&mut self) {
        // SAFETY: the range is the mapping made in `new`; no borrow of it exists any more.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.mapped_bytes) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_aligned_separate_and_zeroed() {
        let mut buffers = Buffers::new(3, 5000).expect("12 KiB can be mapped");
        assert_eq!(buffers.slot_bytes(), 8192);
        for slot in 0..3 {
            assert!(buffers.address(slot).addr().is_multiple_of(ALIGN_BYTES));
            assert!(buffers.slot(slot).iter().all(|byte| *byte == 0));
            buffers.slot(slot).fill(slot as u8 + 1);
        }
        for slot in 0..3 {
            assert!(buffers.slot(slot).iter().all(|byte| *byte == slot as u8 + 1));
        }
    }
}
