//! Captures of NFSv3 over TCP: packets to segments, streams, RPC messages, and operations.
//!
//! Only the first bytes of each message are kept, so captures with short packets (`tcpdump -s 256`)
//! are read, too, and data is never copied. A stream whose begin is not in the capture, or that lacks a
//! segment, is read from the next message that can be recognised.

mod calls;
mod frame;
mod messages;
mod names;
mod packets;
mod streams;

use std::io::BufRead;

use crate::error::Error;
use crate::format::Format;
use crate::observation::{Damage, Note, Source};
use crate::observer::Observer;

use calls::Calls;
use frame::{Frame, segment};
use packets::{Next, Packets};
use streams::{Received, Streams};

/// Reads a capture to its end.
pub(crate) fn read(input: impl BufRead, observer: &mut Observer) -> Result<Source, Error> {
    let mut packets = Packets::open(input)?;
    let mut streams = Streams::default();
    let mut calls = Calls::default();
    let mut not_tcp = 0;
    loop {
        match packets.next()? {
            Next::Packet(packet) => match segment(&packet) {
                Frame::Segment(segment) => {
                    let mut each = |message: Received<'_>| calls.receive(message, observer);
                    streams.receive(&segment, packet.at, &mut each);
                }
                Frame::NotTcp => not_tcp += 1,
                Frame::Other => {}
                Frame::Damaged => observer.damaged(packet.at, Damage::Header),
            },
            Next::Damaged(at, why) => observer.damaged(at, why),
            Next::End => break,
        }
    }
    streams.finish(&mut |message: Received<'_>| calls.receive(message, observer));
    if streams.gaps > 0 {
        observer.note(Note::Gaps { gaps: streams.gaps });
    }
    if not_tcp > 0 {
        observer.note(Note::NotTcp { packets: not_tcp });
    }
    calls.finish(observer)?;
    Ok(Source {
        format: Format::Capture,
        records: packets.count(),
        bytes: packets.bytes(),
        assumed_unit: None,
    })
}
