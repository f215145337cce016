//! A minimal reader of classic pcap files with Ethernet frames, which reassembles TCP streams.

use std::collections::BTreeMap;

/// One end of a connection: IPv4 address and port.
pub(crate) type End = ([u8; 4], u16);

/// One direction of a connection.
#[derive(Default)]
pub(crate) struct Stream {
    /// The sequence number of the next byte, after the SYN.
    next: Option<u32>,
    pub(crate) bytes: Vec<u8>,
}

/// The streams of a capture by (sender, receiver).
///
/// Panics if a stream has a gap, which contradicts the README of the captures.
pub(crate) fn streams(file: &[u8]) -> BTreeMap<(End, End), Stream> {
    assert_eq!(file[..4], [0xd4, 0xc3, 0xb2, 0xa1], "classic pcap, little-endian");
    assert_eq!(file[20..24], [1, 0, 0, 0], "Ethernet");
    let mut streams: BTreeMap<(End, End), Stream> = BTreeMap::new();
    let mut rest = &file[24..];
    while !rest.is_empty() {
        let captured = u32::from_le_bytes(rest[8..12].try_into().unwrap());
        let length = u32::from_le_bytes(rest[12..16].try_into().unwrap());
        assert_eq!(captured, length, "whole packets");
        let (frame, next) = rest[16..].split_at(captured as usize);
        rest = next;
        let is_ipv4 = frame[12..14] == [8, 0];
        let is_tcp = is_ipv4 && frame[23] == 6;
        if is_tcp {
            segment(&frame[14..], &mut streams);
        }
    }
    streams
}

fn segment(packet: &[u8], streams: &mut BTreeMap<(End, End), Stream>) {
    let total = usize::from(u16::from_be_bytes(packet[2..4].try_into().unwrap()));
    let address = |at: usize| -> [u8; 4] { packet[at..at + 4].try_into().unwrap() };
    let (from, to) = (address(12), address(16));
    let tcp = &packet[usize::from(packet[0] & 15) * 4..total];
    let port = |at: usize| u16::from_be_bytes(tcp[at..at + 2].try_into().unwrap());
    let sequence = u32::from_be_bytes(tcp[4..8].try_into().unwrap());
    let data = &tcp[usize::from(tcp[12] >> 4) * 4..];
    let stream = streams.entry(((from, port(0)), (to, port(2)))).or_default();
    let is_first = tcp[13] & 2 != 0;
    if is_first {
        stream.next = Some(sequence.wrapping_add(1));
    } else if !data.is_empty() {
        assert_eq!(stream.next, Some(sequence), "segments in order without duplicates");
        stream.bytes.extend_from_slice(data);
        stream.next = Some(sequence.wrapping_add(data.len() as u32));
    }
}
