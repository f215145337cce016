//! Errors, and positions in a trace.

use std::fmt;

/// A record of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// What a record is.
    pub unit: PositionUnit,
    /// Its number, from 1.
    pub number: u64,
    /// Its first byte, from 0.
    pub byte: u64,
}

/// What the records of a trace are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PositionUnit {
    /// Lines of a text.
    Line,
    /// Packets of a capture.
    Packet,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            PositionUnit::Line => "line",
            PositionUnit::Packet => "packet",
        };
        write!(f, "{unit} {} (byte {})", self.number, self.byte)
    }
}

/// Why a trace cannot be observed, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The bytes cannot be read.
    #[error("{at}: {source}")]
    Read {
        /// The record that was being read.
        at: Position,
        /// The error.
        source: std::io::Error,
    },
    /// There are no bytes.
    #[error("it is empty")]
    Empty,
    /// The bytes are compressed.
    #[error("it is compressed ({by}); decompress it first (`{command}`)")]
    Compressed {
        /// The format.
        by: &'static str,
        /// The command that decompresses it.
        command: &'static str,
    },
    /// The content is of no known format.
    #[error(
        "line 1 (byte 0): it is neither a fio I/O log (`write_iolog`), nor the output of strace or \
         blkparse, nor a capture (pcap, pcapng); name the format with --format if it begins with something else"
    )]
    Unknown,
    /// A format was given, and the content is of another one.
    #[error(
        "{at}: {found}, but {expected} is required; leave out --format to recognise the format"
    )]
    NotOfFormat {
        /// The position.
        at: Position,
        /// What is there.
        found: String,
        /// What begins a file of the format.
        expected: &'static str,
    },
    /// A version that is not read.
    #[error("{at}: a fio I/O log of version {version}; versions 2 and 3 are read")]
    IologVersion {
        /// The position.
        at: Position,
        /// The version.
        version: String,
    },
    /// Frames of an unknown kind.
    #[error(
        "{at}: link type {link_type} is not read; capture on a network interface or on `any` \
         (Ethernet, Linux cooked, raw IP)"
    )]
    LinkType {
        /// The position.
        at: Position,
        /// The number of the link type.
        link_type: u32,
    },
    /// The capture ends within its header.
    #[error("{at}: the capture ends within its header; copy the file again")]
    CutHeader {
        /// The position.
        at: Position,
    },
    /// No call names its file.
    #[error(
        "none of its {calls} calls that read or write names a file; record with `strace -f -ttt -T \
         -y`, where -y prints the paths"
    )]
    NoNames {
        /// The calls.
        calls: u64,
    },
    /// Only calls of another version of NFS.
    #[error("it has {calls} calls of NFS version 4 and none of version 3; only version 3 is read")]
    OnlyNfs4 {
        /// The calls.
        calls: u64,
    },
    /// Nothing is read or written.
    #[error("no file is read or written in its {records} ({damaged} of them damaged)")]
    NoOperations {
        /// The records, in words.
        records: String,
        /// How many of them are damaged.
        damaged: u64,
    },
    /// Records are damaged, so a replay would lack them.
    #[error(
        "{at}: the record is damaged, as are {count} in all, and a replay would lack them; repair the \
         trace, or leave them out with --skip-damaged"
    )]
    Damaged {
        /// The first.
        at: Position,
        /// How many.
        count: u64,
    },
    /// Operations that cannot be sorted.
    #[error(
        "{at}: the operation began before another that is more than 65,536 operations earlier in the \
         trace; sort the trace by time"
    )]
    OutOfOrder {
        /// The first operation that is out of order.
        at: Position,
    },
    /// More operations than a list may have.
    #[error("{at}: more than 10,000,000 operations; cut the trace before this one")]
    TooManyOperations {
        /// The first operation that is too many.
        at: Position,
    },
    /// Nothing below the path is read or written.
    #[error("no file below `{under}` is read or written; {known}")]
    NothingUnder {
        /// The path.
        under: String,
        /// A file that is read or written, in words.
        known: String,
    },
}
