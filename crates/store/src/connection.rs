//! The connections of an interval as bytes.
//!
//! They stand at the end of an interval's frame, which without them ends there: records of before
//! are read as they are.

use metrics::connection::ConnectionInterval;
use workload::connection::{CallCounters, Endpoint, TcpState};
use workload::op::OpKind;

use crate::codec::{Cursor, Malformed, put_u64, put_u128};

/// The IPv4 addresses in IPv6 (RFC 4291, 2.5.5.2).
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
/// Fewest bytes of a connection: nine numbers, two endpoints of IPv4, the mark of TCP.
const LEAST_BYTES: usize = 9 + 2 * 6 + 1;

pub(crate) fn encode(connections: &[ConnectionInterval], out: &mut Vec<u8>) {
    put_u64(out, connections.len() as u64);
    for connection in connections {
        put_u64(out, u64::from(connection.stream));
        put_u64(out, u64::from(connection.lane));
        put_u64(out, u64::from(connection.number));
        put_endpoint(out, connection.local);
        put_endpoint(out, connection.remote);
        put_u64(out, connection.kinds.len() as u64);
        for kind in &connection.kinds {
            put_u64(out, kind.operations);
            put_u64(out, kind.calls);
            put_u64(out, kind.bytes);
        }
        put_u64(out, connection.outstanding_end);
        put_u128(out, connection.outstanding_time_ns);
        put_u64(out, connection.span_ns);
        put_u64(out, connection.reconnects);
        put_u64(out, connection.replays);
        put_u64(out, connection.retries);
        match connection.tcp {
            None => out.push(0),
            Some(tcp) => {
                out.push(1);
                put_u64(out, tcp.rtt_ns);
                put_u64(out, tcp.rtt_deviation_ns);
                put_u64(out, tcp.retransmits);
            }
        }
    }
}

fn put_endpoint(out: &mut Vec<u8>, Endpoint { address, port }: Endpoint) {
    match address.strip_prefix(&MAPPED) {
        Some(v4) => {
            out.push(4);
            out.extend_from_slice(v4);
        }
        None => {
            out.push(6);
            out.extend_from_slice(&address);
        }
    }
    put_u64(out, u64::from(port));
}

pub(crate) fn decode(cursor: &mut Cursor<'_>) -> Result<Vec<ConnectionInterval>, Malformed> {
    let count = cursor.count(LEAST_BYTES)?;
    // None stand before what the wire counted.
    if count == 0 && cursor.is_at_end() {
        return Err(Malformed("it announces connections and has none"));
    }
    let mut connections = Vec::with_capacity(count);
    for _ in 0..count {
        let mut connection = ConnectionInterval {
            stream: cursor.u32()?,
            lane: cursor.u32()?,
            number: cursor.u32()?,
            local: endpoint(cursor)?,
            remote: endpoint(cursor)?,
            ..ConnectionInterval::default()
        };
        let kinds = cursor.count(3)?;
        if kinds > OpKind::COUNT {
            return Err(Malformed("it has operation kinds that this fourcorners does not know"));
        }
        for kind in &mut connection.kinds[..kinds] {
            *kind = CallCounters {
                operations: cursor.u64()?,
                calls: cursor.u64()?,
                bytes: cursor.u64()?,
            };
        }
        connection.outstanding_end = cursor.u64()?;
        connection.outstanding_time_ns = cursor.u128()?;
        connection.span_ns = cursor.u64()?;
        connection.reconnects = cursor.u64()?;
        connection.replays = cursor.u64()?;
        connection.retries = cursor.u64()?;
        connection.tcp = match cursor.u8()? {
            0 => None,
            1 => Some(TcpState {
                rtt_ns: cursor.u64()?,
                rtt_deviation_ns: cursor.u64()?,
                retransmits: cursor.u64()?,
            }),
            _ => return Err(Malformed("it has flags that this fourcorners does not know")),
        };
        connections.push(connection);
    }
    Ok(connections)
}

fn endpoint(cursor: &mut Cursor<'_>) -> Result<Endpoint, Malformed> {
    let address = match cursor.u8()? {
        4 => Endpoint::v4(cursor.bytes()?, 0).address,
        6 => cursor.bytes()?,
        _ => return Err(Malformed("it has an address that is neither IPv4 nor IPv6")),
    };
    let port = u16::try_from(cursor.u64()?).map_err(|_| Malformed("a port is above 16 bits"))?;
    Ok(Endpoint { address, port })
}
