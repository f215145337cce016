//! The connections in an interval's frame. They follow the streams; frames of older versions, and
//! of intervals without connections, network counters and host state, end there.

use metrics::connection::ConnectionInterval;
use workload::connection::{CallCounters, Endpoint, TcpState};
use workload::op::OpKind;

use crate::codec::{Cursor, Malformed, UNKNOWN_KINDS, put_u64, put_u128};

/// Prefix of IPv4-mapped IPv6 addresses (RFC 4291, 2.5.5.2).
const MAPPED: [u8; 12] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];
/// Flag of a connection whose TCP state follows.
const HAS_TCP: u8 = 1;
/// Flag of a connection whose [`disturbances`] follow. Older versions did not store them.
const HAS_DISTURBANCES: u8 = 2;
/// Minimum size of a connection: nine numbers, two IPv4 endpoints, the flags.
const BYTES_MIN: usize = 9 + 2 * 6 + 1;

pub(crate) fn encode(connections: &[ConnectionInterval], out: &mut Vec<u8>) {
    put_u64(out, connections.len() as u64);
    for connection in connections {
        put_u64(out, u64::from(connection.stream));
        put_u64(out, u64::from(connection.lane));
        put_u64(out, u64::from(connection.number));
        put_endpoint(out, connection.local);
        put_endpoint(out, connection.remote);
        let kinds = connection.kinds.stored_kinds();
        put_u64(out, kinds.len() as u64);
        for kind in kinds {
            let kind = &connection.kinds[*kind];
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
        let disturbances = disturbances(connection);
        let is_disturbed = disturbances.iter().any(|number| *number > 0);
        let flags = if connection.tcp.is_some() { HAS_TCP } else { 0 };
        out.push(flags | if is_disturbed { HAS_DISTURBANCES } else { 0 });
        if let Some(tcp) = connection.tcp {
            put_u64(out, tcp.rtt_ns);
            put_u64(out, tcp.rtt_deviation_ns);
            put_u64(out, tcp.retransmits);
        }
        if is_disturbed {
            disturbances.iter().for_each(|number| put_u64(out, *number));
        }
    }
}

/// Numbers that are stored only if one of them is not 0: rewritten bytes, changes of the write
/// verifier, and the time without a connection with its error number.
fn disturbances(connection: &ConnectionInterval) -> [u64; 4] {
    let ConnectionInterval { rewritten_bytes, verifier_changes, down_ns, down_errno, .. } =
        *connection;
    [rewritten_bytes, verifier_changes, down_ns, u64::from(down_errno.cast_unsigned())]
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
    let count = cursor.count(BYTES_MIN)?;
    // An empty list is written only if network counters or host state follow.
    if count == 0 && cursor.is_at_end() {
        return Err(Malformed("it ends with an empty list of connections"));
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
        let kinds = OpKind::ALL.get(..kinds).ok_or(Malformed(UNKNOWN_KINDS))?;
        for kind in kinds {
            let calls = CallCounters {
                operations: cursor.u64()?,
                calls: cursor.u64()?,
                bytes: cursor.u64()?,
            };
            if calls != CallCounters::default() {
                connection.kinds[*kind] = calls;
            }
        }
        connection.outstanding_end = cursor.u64()?;
        connection.outstanding_time_ns = cursor.u128()?;
        connection.span_ns = cursor.u64()?;
        connection.reconnects = cursor.u64()?;
        connection.replays = cursor.u64()?;
        connection.retries = cursor.u64()?;
        let flags = cursor.u8()?;
        if flags & !(HAS_TCP | HAS_DISTURBANCES) != 0 {
            return Err(Malformed("this version of fourcorners does not know its flags"));
        }
        if flags & HAS_TCP != 0 {
            connection.tcp = Some(TcpState {
                rtt_ns: cursor.u64()?,
                rtt_deviation_ns: cursor.u64()?,
                retransmits: cursor.u64()?,
            });
        }
        if flags & HAS_DISTURBANCES != 0 {
            connection.rewritten_bytes = cursor.u64()?;
            connection.verifier_changes = cursor.u64()?;
            connection.down_ns = cursor.u64()?;
            connection.down_errno = cursor.u32()?.cast_signed();
        }
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
    let port = u16::try_from(cursor.u64()?).map_err(|_| Malformed("a port exceeds 16 bits"))?;
    Ok(Endpoint { address, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_without_outage_or_restart_has_the_bytes_of_older_records() {
        let plain = ConnectionInterval { replays: 3, ..ConnectionInterval::default() };
        let down = ConnectionInterval { down_ns: 5, down_errno: 111, ..plain.clone() };
        for (connection, flags) in [(plain.clone(), 0), (down, HAS_DISTURBANCES)] {
            let mut bytes = Vec::new();
            encode(std::slice::from_ref(&connection), &mut bytes);
            // The flags are the last byte of a connection without TCP state in older records.
            let mut without = Vec::new();
            encode(std::slice::from_ref(&plain), &mut without);
            assert_eq!(bytes[without.len() - 1], flags);
            assert_eq!(bytes.len() > without.len(), flags != 0);
            assert_eq!(decode(&mut Cursor::new(&bytes)), Ok(vec![connection]));
        }
    }
}
