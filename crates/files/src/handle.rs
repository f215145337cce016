//! File handles, by which clients identify objects.

use crate::Error;

/// The length of a handle on the wire; RFC 1813 allows up to 64.
pub const HANDLE_BYTES: usize = 24;

/// Identifies an object, whatever its names are. After the object's removal the handle is stale
/// forever: its inode number may be reused, but with another generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Handle {
    /// File system.
    pub fsid: u64,
    /// Inode number.
    pub fileid: u64,
    /// Distinguishes the objects that had this inode number.
    pub generation: u32,
}

impl Handle {
    /// The bytes on the wire: fsid, fileid, generation and a check value, big-endian.
    pub fn to_bytes(self) -> [u8; HANDLE_BYTES] {
        let mut bytes = [0; HANDLE_BYTES];
        bytes[..8].copy_from_slice(&self.fsid.to_be_bytes());
        bytes[8..16].copy_from_slice(&self.fileid.to_be_bytes());
        bytes[16..20].copy_from_slice(&self.generation.to_be_bytes());
        bytes[20..].copy_from_slice(&check_of(self).to_be_bytes());
        bytes
    }

    /// Reads a handle. [`Error::BadHandle`] if the length or the check value is wrong, which
    /// distinguishes a handle of another server from a stale one.
    pub fn from_bytes(bytes: &[u8]) -> Result<Handle, Error> {
        let bytes: &[u8; HANDLE_BYTES] = bytes.try_into().map_err(|_| Error::BadHandle)?;
        let four = |at: usize| [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        let eight = |at: usize| {
            u64::from(u32::from_be_bytes(four(at))) << 32
                | u64::from(u32::from_be_bytes(four(at + 4)))
        };
        let generation = u32::from_be_bytes(four(16));
        let handle = Handle { fsid: eight(0), fileid: eight(8), generation };
        if u32::from_be_bytes(four(20)) == check_of(handle) {
            Ok(handle)
        } else {
            Err(Error::BadHandle)
        }
    }
}

/// The check value. It is cheap because every request needs it. It detects accidents, not
/// attackers, who can guess the handles of any NFSv3 server; export rules keep them out.
fn check_of(handle: Handle) -> u32 {
    let mix =
        |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    let hash = mix(mix(mix(0, handle.fsid), handle.fileid), u64::from(handle.generation));
    (hash ^ (hash >> 32)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handle_survives_the_wire_and_any_changed_byte_is_a_bad_handle() {
        let handle = Handle { fsid: 0x0102_0304_0506_0708, fileid: 77, generation: 9 };
        let bytes = handle.to_bytes();
        assert_eq!(Handle::from_bytes(&bytes), Ok(handle));
        for at in 0..HANDLE_BYTES {
            let mut other = bytes;
            for bit in 0..8 {
                other[at] = bytes[at] ^ 1 << bit;
                assert_eq!(Handle::from_bytes(&other), Err(Error::BadHandle), "byte {at}");
            }
        }
        for length in [0, 8, 23, 25, 64] {
            assert_eq!(Handle::from_bytes(&vec![0; length]), Err(Error::BadHandle));
        }
    }
}
