//! The wire part of an interval as bytes. In an interval's frame it follows the connections and
//! precedes the state of the host; either may end the frame.

use metrics::wire::{WireInterval, WirePlace};

use crate::codec::{Cursor, Malformed, put_u64};

/// Fewest bytes of one entry.
const LEAST_BYTES: usize = 3;

pub(crate) fn encode(wire: &[WireInterval], out: &mut Vec<u8>) {
    put_u64(out, wire.len() as u64);
    for entry in wire {
        out.push(match entry.place {
            WirePlace::NfsMount => 0,
            WirePlace::BlockDevice => 1,
            WirePlace::Interface => 2,
            WirePlace::Loopback => 3,
        });
        put_u64(out, entry.received_bytes);
        put_u64(out, entry.sent_bytes);
    }
}

pub(crate) fn decode(cursor: &mut Cursor<'_>) -> Result<Vec<WireInterval>, Malformed> {
    let count = cursor.count(LEAST_BYTES)?;
    // None is announced where the state of the host follows.
    if count == 0 && cursor.is_at_end() {
        return Err(Malformed("it announces what the wire counted and has nothing"));
    }
    let mut wire = Vec::with_capacity(count);
    for _ in 0..count {
        let place = match cursor.u8()? {
            0 => WirePlace::NfsMount,
            1 => WirePlace::BlockDevice,
            2 => WirePlace::Interface,
            3 => WirePlace::Loopback,
            _ => return Err(Malformed("its wire has a place that this fourcorners does not know")),
        };
        let (received_bytes, sent_bytes) = (cursor.u64()?, cursor.u64()?);
        wire.push(WireInterval { place, received_bytes, sent_bytes });
    }
    Ok(wire)
}
