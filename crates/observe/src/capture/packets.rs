//! Packets of pcap and pcapng files, one at a time.
//!
//! Sources: the pcap savefile format (pcap-savefile(5)) and draft-ietf-opsawg-pcapng.

use std::io::{BufRead, ErrorKind};

use crate::error::{Error, Position, PositionUnit};
use crate::observation::Damage;

/// A longer packet or block is damage: the largest of a capture of jumbo frames with segmentation
/// offload is 256 KiB.
const LENGTH_MAX: usize = 1 << 24;
/// Interfaces of a pcapng section.
const INTERFACES_MAX: usize = 4096;

/// One packet as captured.
#[derive(Debug)]
pub(super) struct Packet<'a> {
    pub(super) at: Position,
    pub(super) link_type: u32,
    pub(super) time_ns: u64,
    /// Its first bytes.
    pub(super) data: &'a [u8],
    /// Its length on the wire.
    pub(super) length: usize,
}

/// What comes next in the file.
#[derive(Debug)]
pub(super) enum Next<'a> {
    Packet(Packet<'a>),
    Damaged(Position, Damage),
    End,
}

/// The form of the file.
#[derive(Clone, Debug)]
enum Form {
    Pcap { link_type: u32, ns_per_tick: u64 },
    Pcapng { interfaces: Vec<Interface> },
}

/// An interface of a pcapng section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link_type: u32,
    ticks_per_s: u64,
    snap_length: usize,
}

/// A reader of packets.
#[derive(Debug)]
pub(super) struct Packets<R> {
    input: R,
    form: Form,
    is_big_endian: bool,
    data: Vec<u8>,
    /// The next packet.
    next: Position,
    is_ended: bool,
}

impl<R: BufRead> Packets<R> {
    /// Reads the header of the file.
    pub(super) fn open(input: R) -> Result<Packets<R>, Error> {
        let next = Position { unit: PositionUnit::Packet, number: 1, byte: 0 };
        let form = Form::Pcapng { interfaces: Vec::new() };
        let mut packets =
            Packets { input, form, is_big_endian: false, data: Vec::new(), next, is_ended: false };
        let cut = Error::CutHeader { at: next };
        let magic = match packets.input.fill_buf() {
            Ok(bytes) => bytes.first_chunk::<4>().copied(),
            Err(source) => return Err(Error::Read { at: next, source }),
        };
        let magic = magic.ok_or(cut)?;
        if magic == [0x0a, 0x0d, 0x0d, 0x0a] {
            return Ok(packets);
        }
        if !packets.fill(24)? {
            return Err(Error::CutHeader { at: next });
        }
        packets.is_big_endian = magic[0] == 0xa1;
        let ns_per_tick = match magic.contains(&0x3c) {
            true => 1,
            false => 1_000,
        };
        // The upper bits are flags.
        let link_type = packets.u32(20) & 0xffff;
        super::frame::check_link_type(link_type, next)?;
        packets.form = Form::Pcap { link_type, ns_per_tick };
        Ok(packets)
    }

    /// The next packet.
    pub(super) fn next(&mut self) -> Result<Next<'_>, Error> {
        if self.is_ended {
            return Ok(Next::End);
        }
        let at = self.next;
        match self.form.clone() {
            Form::Pcap { link_type, ns_per_tick } => self.next_pcap(at, link_type, ns_per_tick),
            Form::Pcapng { .. } => self.next_block(),
        }
    }

    fn next_pcap(&mut self, at: Position, link_type: u32, tick: u64) -> Result<Next<'_>, Error> {
        if !self.fill(16)? {
            return Ok(self.ended(at));
        }
        let [seconds, ticks, captured, length] = [0, 4, 8, 12].map(|offset| self.u32(offset));
        let captured = captured as usize;
        if captured > LENGTH_MAX {
            self.is_ended = true;
            return Ok(Next::Damaged(at, Damage::Length));
        }
        if !self.fill(captured)? {
            self.is_ended = true;
            return Ok(Next::Damaged(at, Damage::Cut));
        }
        self.next.number += 1;
        let time_ns = u64::from(seconds) * 1_000_000_000 + u64::from(ticks) * tick;
        let length = (length as usize).max(captured);
        Ok(Next::Packet(Packet { at, link_type, time_ns, data: &self.data, length }))
    }

    /// Reads blocks up to the next packet.
    fn next_block(&mut self) -> Result<Next<'_>, Error> {
        loop {
            let at = self.next;
            if !self.fill(12)? {
                return Ok(self.ended(at));
            }
            let is_section = self.data[..4] == [0x0a, 0x0d, 0x0d, 0x0a];
            if is_section {
                self.is_big_endian = self.data[8..12] == [0x1a, 0x2b, 0x3c, 0x4d];
            }
            let (kind, length) = (self.u32(0), self.u32(4) as usize);
            if !(12..=LENGTH_MAX).contains(&length) || !length.is_multiple_of(4) {
                self.is_ended = true;
                return Ok(Next::Damaged(at, Damage::Length));
            }
            // The first word of the body was read with the header.
            let word: [u8; 4] = [self.data[8], self.data[9], self.data[10], self.data[11]];
            if length > 12 && !self.fill(length - 12)? {
                self.is_ended = true;
                return Ok(Next::Damaged(at, Damage::Cut));
            }
            let rest = if length > 12 { self.data.len() - 4 } else { 0 };
            self.data.truncate(rest);
            self.data.splice(0..0, word);
            match self.block(kind, is_section, at)? {
                Block::Packet { link_type, time_ns, start, captured, length } => {
                    self.next.number += 1;
                    let data = &self.data[start..start + captured];
                    let length = length.max(captured);
                    return Ok(Next::Packet(Packet { at, link_type, time_ns, data, length }));
                }
                Block::Other => {}
                Block::Damaged => {
                    self.next.number += 1;
                    return Ok(Next::Damaged(at, Damage::Header));
                }
            }
        }
    }

    /// Interprets the body of a block, which is in `data`.
    fn block(&mut self, kind: u32, is_section: bool, at: Position) -> Result<Block, Error> {
        let Form::Pcapng { interfaces } = &mut self.form else { return Ok(Block::Other) };
        if is_section {
            interfaces.clear();
            return Ok(Block::Other);
        }
        let (data, big) = (&self.data, self.is_big_endian);
        let word = |offset: usize| word(data, offset, big);
        let found = match kind {
            1 => {
                if data.len() < 8 || interfaces.len() >= INTERFACES_MAX {
                    return Ok(Block::Damaged);
                }
                let link_type = word(0) & 0xffff;
                let link_type = if big { word(0) >> 16 } else { link_type };
                let snap_length = word(4) as usize;
                let ticks_per_s = resolution(&data[8..], big);
                interfaces.push(Interface { link_type, ticks_per_s, snap_length });
                return Ok(Block::Other);
            }
            // Enhanced packet, and its predecessor with 16 bits for the interface.
            2 | 6 if data.len() >= 20 => {
                let interface = match (kind, big) {
                    (6, _) => word(0),
                    (_, true) => word(0) >> 16,
                    (_, false) => word(0) & 0xffff,
                };
                let ticks = u64::from(word(4)) << 32 | u64::from(word(8));
                let lengths = (word(12) as usize, word(16) as usize);
                (interfaces.get(interface as usize), ticks, 20, lengths)
            }
            // A packet without a time, of the first interface.
            3 if data.len() >= 4 => {
                let length = word(0) as usize;
                let first = interfaces.first();
                let snap = first.map_or(0, |interface| match interface.snap_length {
                    0 => usize::MAX,
                    snap => snap,
                });
                (first, 0, 4, (length.min(snap), length))
            }
            2 | 3 | 6 => return Ok(Block::Damaged),
            _ => return Ok(Block::Other),
        };
        let (Some(interface), ticks, start, (captured, length)) = found else {
            return Ok(Block::Damaged);
        };
        if captured > data.len().saturating_sub(start) {
            return Ok(Block::Damaged);
        }
        super::frame::check_link_type(interface.link_type, at)?;
        let ns = u128::from(ticks) * 1_000_000_000 / u128::from(interface.ticks_per_s);
        Ok(Block::Packet {
            link_type: interface.link_type,
            time_ns: u64::try_from(ns).unwrap_or(u64::MAX),
            start,
            captured,
            length,
        })
    }

    /// The end of the file, or of its last whole packet.
    fn ended(&mut self, at: Position) -> Next<'static> {
        self.is_ended = true;
        match self.data.is_empty() {
            true => Next::End,
            false => Next::Damaged(at, Damage::Cut),
        }
    }

    /// Reads exactly `count` bytes into `data`; false if the file ends before. `data` then has the bytes
    /// up to there.
    fn fill(&mut self, count: usize) -> Result<bool, Error> {
        self.data.clear();
        while self.data.len() < count {
            let bytes = match self.input.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(source) => return Err(Error::Read { at: self.next, source }),
            };
            if bytes.is_empty() {
                return Ok(false);
            }
            let part = bytes.len().min(count - self.data.len());
            self.data.extend_from_slice(&bytes[..part]);
            self.input.consume(part);
            self.next.byte += part as u64;
        }
        Ok(true)
    }

    fn u32(&self, offset: usize) -> u32 {
        word(&self.data, offset, self.is_big_endian)
    }

    /// Packets read so far.
    pub(super) fn count(&self) -> u64 {
        self.next.number - 1
    }

    /// Bytes read so far.
    pub(super) fn bytes(&self) -> u64 {
        self.next.byte
    }
}

/// What a block of pcapng is.
enum Block {
    Packet { link_type: u32, time_ns: u64, start: usize, captured: usize, length: usize },
    Other,
    Damaged,
}

/// The number at an offset that exists.
fn word(data: &[u8], offset: usize, is_big_endian: bool) -> u32 {
    let bytes = data.get(offset..).and_then(|rest| rest.first_chunk::<4>()).copied();
    let bytes = bytes.unwrap_or_default();
    if is_big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}

/// Ticks in a second by the option `if_tsresol`; microseconds without it.
fn resolution(mut options: &[u8], is_big_endian: bool) -> u64 {
    let half = |bytes: [u8; 2]| match is_big_endian {
        true => u16::from_be_bytes(bytes),
        false => u16::from_le_bytes(bytes),
    };
    while let Some([code0, code1, length0, length1]) = options.first_chunk::<4>().copied() {
        let (code, length) = (half([code0, code1]), usize::from(half([length0, length1])));
        if code == 9 {
            let exponent = options.get(4).copied().unwrap_or(6);
            let (base, exponent) = match exponent & 0x80 != 0 {
                true => (2u64, u32::from(exponent & 0x7f)),
                false => (10, u32::from(exponent)),
            };
            return base.checked_pow(exponent).unwrap_or(1_000_000_000);
        }
        options = options.get(4 + length.next_multiple_of(4)..).unwrap_or_default();
    }
    1_000_000
}
