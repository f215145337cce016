//! The network and block device counters in an interval's frame, between the connections and the
//! host state.

use metrics::wire::{CounterSource, WireInterval};

use crate::codec::{Cursor, Malformed, put_u64};

/// Minimum size of an entry.
const BYTES_MIN: usize = 3;

pub(crate) fn encode(wire: &[WireInterval], out: &mut Vec<u8>) {
    put_u64(out, wire.len() as u64);
    for entry in wire {
        out.push(match entry.source {
            CounterSource::NfsMount => 0,
            CounterSource::BlockDevice => 1,
            CounterSource::Interface => 2,
            CounterSource::Loopback => 3,
        });
        put_u64(out, entry.received_bytes);
        put_u64(out, entry.sent_bytes);
    }
}

pub(crate) fn decode(cursor: &mut Cursor<'_>) -> Result<Vec<WireInterval>, Malformed> {
    let count = cursor.count(BYTES_MIN)?;
    // An empty list is written only if host state follows.
    if count == 0 && cursor.is_at_end() {
        return Err(Malformed("it ends with an empty list of network counters"));
    }
    let mut wire = Vec::with_capacity(count);
    for _ in 0..count {
        let source = match cursor.u8()? {
            0 => CounterSource::NfsMount,
            1 => CounterSource::BlockDevice,
            2 => CounterSource::Interface,
            3 => CounterSource::Loopback,
            _ => {
                return Err(Malformed(
                    "this version of fourcorners does not know a counter's source",
                ));
            }
        };
        let (received_bytes, sent_bytes) = (cursor.u64()?, cursor.u64()?);
        wire.push(WireInterval { source, received_bytes, sent_bytes });
    }
    Ok(wire)
}
