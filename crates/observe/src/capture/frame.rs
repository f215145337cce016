//! The TCP segment in a frame: Ethernet with VLAN tags, Linux cooked, BSD loopback or raw IP.

use super::packets::Packet;
use crate::error::{Error, Position};

/// Ethernet.
const ETHERNET: u32 = 1;
/// BSD loopback; the second one in network byte order.
const LOOPBACK: [u32; 2] = [0, 108];
/// Raw IP: both versions, with numbers of several systems, and each of them.
const RAW: [u32; 5] = [12, 14, 101, 228, 229];
/// Linux cooked (`tcpdump -i any`), versions 1 and 2.
const COOKED: u32 = 113;
const COOKED_2: u32 = 276;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
/// Tags of VLANs, single and stacked.
const VLAN: [u16; 2] = [0x8100, 0x88a8];
const TCP: u8 = 6;
const UDP: u8 = 17;
/// The port of NFS, for datagrams only: TCP streams are recognised by their content.
const NFS_PORT: u16 = 2049;

/// An address and a port; version 4 is mapped into version 6.
pub(super) type End = ([u8; 16], u16);

/// A segment of TCP.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    pub(super) from: End,
    pub(super) to: End,
    pub(super) sequence: u32,
    /// The first segment of a connection.
    pub(super) is_syn: bool,
    pub(super) data: &'a [u8],
    /// Bytes after `data` that were on the wire but not captured.
    pub(super) missing: usize,
    pub(super) time_ns: u64,
}

/// What a frame has.
#[derive(Debug)]
pub(super) enum Frame<'a> {
    Segment(Segment<'a>),
    /// A fragment of IP, or a datagram of NFS.
    NotTcp,
    Other,
    Damaged,
}

/// Refuses an unknown kind of frames.
pub(super) fn check_link_type(link_type: u32, at: Position) -> Result<(), Error> {
    let is_known = link_type == ETHERNET
        || [COOKED, COOKED_2].contains(&link_type)
        || LOOPBACK.contains(&link_type)
        || RAW.contains(&link_type);
    if is_known { Ok(()) } else { Err(Error::LinkType { at, link_type }) }
}

/// The segment in a packet.
pub(super) fn segment<'a>(packet: &Packet<'a>) -> Frame<'a> {
    let data = packet.data;
    // Bytes that were not captured.
    let missing = packet.length - data.len();
    let ip = match packet.link_type {
        ETHERNET => ethernet(data),
        COOKED => data.get(14..).and_then(|rest| Some((half(rest, 0)?, rest.get(2..)?))),
        COOKED_2 => half(data, 0).and_then(|kind| Some((kind, data.get(20..)?))),
        link if LOOPBACK.contains(&link) => data.get(4..).and_then(by_version),
        _ => by_version(data),
    };
    let Some((kind, ip)) = ip else { return Frame::Damaged };
    let found = match kind {
        IPV4 => ipv4(ip, missing),
        IPV6 => ipv6(ip, missing),
        _ => return Frame::Other,
    };
    match found {
        Some(Ip { protocol: TCP, is_fragment: false, data, missing, from, to }) => {
            match tcp(data, missing, from, to, packet.time_ns) {
                Some(segment) => Frame::Segment(segment),
                None => Frame::Damaged,
            }
        }
        Some(Ip { protocol: TCP, .. }) => Frame::NotTcp,
        Some(Ip { protocol: UDP, data, .. }) => {
            let is_nfs = [half(data, 0), half(data, 2)].contains(&Some(NFS_PORT));
            if is_nfs { Frame::NotTcp } else { Frame::Other }
        }
        Some(_) => Frame::Other,
        None => Frame::Damaged,
    }
}

/// The payload of IP.
struct Ip<'a> {
    protocol: u8,
    is_fragment: bool,
    from: [u8; 16],
    to: [u8; 16],
    data: &'a [u8],
    missing: usize,
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn ethernet(frame: &[u8]) -> Option<(u16, &[u8])> {
    let mut rest = frame.get(12..)?;
    while VLAN.contains(&half(rest, 0)?) {
        rest = rest.get(4..)?;
    }
    Some((half(rest, 0)?, rest.get(2..)?))
}

fn by_version(bytes: &[u8]) -> Option<(u16, &[u8])> {
    match bytes.first()? >> 4 {
        4 => Some((IPV4, bytes)),
        6 => Some((IPV6, bytes)),
        _ => None,
    }
}

/// The first `length` of the bytes from `start` on the wire, of which `missing` at the end are not in
/// `bytes`: those in `bytes`, and how many are missing. Short frames are padded.
fn payload(bytes: &[u8], start: usize, length: usize, missing: usize) -> Option<(&[u8], usize)> {
    let rest = bytes.get(start..)?;
    let on_wire = rest.len() + missing;
    let length = length.min(on_wire);
    let captured = rest.len().min(length);
    Some((&rest[..captured], length - captured))
}

fn ipv4(bytes: &[u8], missing: usize) -> Option<Ip<'_>> {
    let header = usize::from(bytes.first()? & 15) * 4;
    // With segmentation offload the length is 0, and the packet has all bytes of the frame.
    let length = match usize::from(half(bytes, 2)?) {
        0 => usize::MAX,
        total => total.checked_sub(header)?,
    };
    let mapped = |at: usize| -> Option<[u8; 16]> {
        let mut address = [0; 16];
        (address[10], address[11]) = (0xff, 0xff);
        address[12..].copy_from_slice(bytes.get(at..at + 4)?);
        Some(address)
    };
    let (data, missing) = payload(bytes, header, length, missing)?;
    Some(Ip {
        protocol: *bytes.get(9)?,
        is_fragment: half(bytes, 6)? & 0x3fff != 0,
        from: mapped(12)?,
        to: mapped(16)?,
        data,
        missing,
    })
}

fn ipv6(bytes: &[u8], missing: usize) -> Option<Ip<'_>> {
    let address = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<16>()).copied();
    let (mut protocol, mut header, mut is_fragment) = (*bytes.get(6)?, 40, false);
    // Hop-by-hop, routing, fragment and destination headers.
    while [0, 43, 44, 60].contains(&protocol) {
        let (next, length) = (*bytes.get(header)?, usize::from(*bytes.get(header + 1)?));
        is_fragment |= protocol == 44;
        header += if protocol == 44 { 8 } else { (length + 1) * 8 };
        protocol = next;
    }
    let length = match usize::from(half(bytes, 4)?) {
        0 => usize::MAX,
        length => (length + 40).checked_sub(header)?,
    };
    let (from, to) = (address(8)?, address(24)?);
    let (data, missing) = payload(bytes, header, length, missing)?;
    Some(Ip { protocol, is_fragment, from, to, data, missing })
}

fn tcp(
    bytes: &[u8],
    missing: usize,
    from: [u8; 16],
    to: [u8; 16],
    time_ns: u64,
) -> Option<Segment<'_>> {
    let header = usize::from(bytes.get(12)? >> 4) * 4;
    let sequence = u32::from_be_bytes(*bytes.get(4..)?.first_chunk()?);
    let (data, missing) = payload(bytes, header, usize::MAX, missing)?;
    Some(Segment {
        from: (from, half(bytes, 0)?),
        to: (to, half(bytes, 2)?),
        sequence,
        is_syn: bytes.get(13)? & 2 != 0,
        data,
        missing,
        time_ns,
    })
}
