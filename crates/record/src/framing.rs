//! Frames: events as bytes, in a file or on a pipe.
//!
//! ```text
//! marker u32  length u32  crc32c u32 of length, kind and payload  kind u8
//! payload (length bytes)
//! ```
//! All numbers are little-endian.

/// `\xF4CJ\n`, which no text contains because it is not UTF-8.
pub const MARKER: [u8; 4] = [0xf4, b'C', b'J', b'\n'];
/// Marker, length, checksum and kind.
pub const HEAD_BYTES: usize = 13;

/// Appends a frame whose payload `encode` appends.
///
/// # Panics
/// The payload has 4 GiB or more.
pub fn append(kind: u8, encode: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    encode(out);
    let frame = &mut out[start..];
    let length = u32::try_from(frame.len() - HEAD_BYTES).expect("a frame is smaller than 4 GiB");
    frame[..4].copy_from_slice(&MARKER);
    frame[4..8].copy_from_slice(&length.to_le_bytes());
    frame[12] = kind;
    let check = checksum(frame);
    frame[8..12].copy_from_slice(&check.to_le_bytes());
}

/// The checksum of length, kind and payload of a complete frame.
fn checksum(frame: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&frame[4..8]), &frame[12..])
}

/// A frame as stored or received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawFrame<'a> {
    /// The kind of its payload.
    pub kind: u8,
    /// The event.
    pub payload: &'a [u8],
    /// Its position.
    pub offset_bytes: u64,
}

impl RawFrame<'_> {
    /// The position after it.
    pub const fn end_bytes(&self) -> u64 {
        self.offset_bytes + (HEAD_BYTES + self.payload.len()) as u64
    }
}

/// The frame that begins at `at`, if it is complete and its checksum is correct.
pub fn frame_at(bytes: &[u8], at: usize) -> Option<RawFrame<'_>> {
    let rest = bytes.get(at..)?;
    let head = rest.get(..HEAD_BYTES)?;
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    if head[..4] != MARKER {
        return None;
    }
    let frame = rest.get(..HEAD_BYTES.checked_add(word(4) as usize)?)?;
    (checksum(frame) == word(8)).then_some(RawFrame {
        kind: head[12],
        payload: &frame[HEAD_BYTES..],
        offset_bytes: at as u64,
    })
}

/// Whether a complete frame begins anywhere after `at`.
pub fn has_frame_after(bytes: &[u8], at: usize) -> bool {
    let rest = bytes.get(at + 1..).unwrap_or_default();
    rest.windows(MARKER.len())
        .enumerate()
        .filter(|(_, window)| *window == MARKER)
        .any(|(offset, _)| frame_at(bytes, at + 1 + offset).is_some())
}
