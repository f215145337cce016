//! Replies that RFC 1813 does not allow: the request, the reply, and the section it violates.

use std::fmt;

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use nfs3::types::writeverf3;
use nfs3::xdr::XdrError;

/// A reply that violates the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ProtocolFault {
    /// The procedure that was called.
    pub procedure: NfsProcedure,
    /// Where the requested bytes begin in the file; 0 if none were requested.
    pub offset_bytes: u64,
    /// Requested bytes; 0 if none were requested.
    pub count_bytes: u32,
    /// The violation.
    pub violation: Violation,
}

/// What is wrong with a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// More bytes than requested.
    TooMany(u32),
    /// READ: the announced byte count, and a different number of bytes.
    DataUnlikeCount(u32, u32),
    /// No bytes, and for READ no end of file.
    Nothing,
    /// WRITE: less stable than requested.
    LessStable {
        /// The requested stability.
        requested: stable_how,
        /// The stability in the reply.
        committed: stable_how,
    },
    /// The write verifier changed and the data cannot be rewritten.
    DataLost {
        /// The verifier of the server instance that had the data.
        before: writeverf3,
        /// The verifier of the current instance.
        after: writeverf3,
    },
    /// READDIR or READDIRPLUS: no entries and no end.
    NoEntries,
    /// READDIR or READDIRPLUS: a cookie that was returned before, so that the listing repeats.
    RepeatedCookie(u64),
    /// READDIR or READDIRPLUS: the names of an earlier page under new cookies.
    RepeatedPage,
    /// READDIR or READDIRPLUS: more entries than the client reads of one directory.
    Endless(usize),
    /// Bytes that cannot be decoded as the procedure's results.
    Unreadable(XdrError),
}

/// The violation in the reply to a READ of `request` (offset, count), if any. The reply announces
/// `announced` bytes, contains `bytes`, and `eof` marks the end of the file.
pub(super) fn of_read(
    request: (u64, u32),
    announced: u32,
    bytes: usize,
    eof: bool,
) -> Option<ProtocolFault> {
    let violation = if bytes != announced as usize {
        Violation::DataUnlikeCount(announced, bytes as u32)
    } else if announced > request.1 {
        Violation::TooMany(announced)
    } else if bytes == 0 && request.1 > 0 && !eof {
        Violation::Nothing
    } else {
        return None;
    };
    Some(ProtocolFault::of_transfer(NfsProcedure::READ, request, violation))
}

/// The violation in the reply to a WRITE of `request` (offset, count), if any.
pub(super) fn of_write(
    request: (u64, u32),
    requested: stable_how,
    bytes: u32,
    committed: stable_how,
) -> Option<ProtocolFault> {
    let violation = if bytes > request.1 {
        Violation::TooMany(bytes)
    } else if bytes == 0 && request.1 > 0 {
        Violation::Nothing
    } else if committed < requested {
        Violation::LessStable { requested, committed }
    } else {
        return None;
    };
    Some(ProtocolFault::of_transfer(NfsProcedure::WRITE, request, violation))
}

impl ProtocolFault {
    pub(super) fn of_transfer(
        procedure: NfsProcedure,
        (offset_bytes, count_bytes): (u64, u32),
        violation: Violation,
    ) -> ProtocolFault {
        ProtocolFault { procedure, offset_bytes, count_bytes, violation }
    }
}

/// The first faults of a target, in preallocated memory.
#[derive(Debug)]
pub(super) struct Faults(Vec<(u32, ProtocolFault)>);

impl Faults {
    /// How many are kept; later faults are usually of the same kind.
    const MAX: usize = 4;

    pub(super) fn new() -> Faults {
        Faults(Vec::with_capacity(Faults::MAX))
    }

    /// Records a fault in a reply for `file`, if there is room.
    pub(super) fn note(&mut self, file: u32, fault: ProtocolFault) {
        if self.0.len() < Faults::MAX {
            self.0.push((file, fault));
        }
    }

    /// The faults, each with the number of its file.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(u32, ProtocolFault)> {
        self.0.iter()
    }
}

const fn stability(stable: stable_how) -> &'static str {
    match stable {
        stable_how::UNSTABLE => "UNSTABLE",
        stable_how::DATA_SYNC => "DATA_SYNC",
        stable_how::FILE_SYNC => "FILE_SYNC",
    }
}

impl fmt::Display for ProtocolFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProtocolFault { procedure, offset_bytes, count_bytes, violation } = self;
        let request = format!("{count_bytes} bytes at offset {offset_bytes} were requested");
        match violation {
            Violation::TooMany(count) => {
                write!(f, "{request}, and the server replied count {count}")?;
            }
            Violation::DataUnlikeCount(count, data) => {
                write!(f, "{request}, and the server replied count {count} with {data} bytes")?;
            }
            Violation::Nothing if *procedure == NfsProcedure::READ => {
                write!(f, "{request}, and the server replied no bytes and no end of file")?;
            }
            Violation::Nothing => write!(f, "{request}, and the server replied count 0")?,
            Violation::LessStable { requested, committed } => write!(
                f,
                "{request} as {}, and the server replied {}",
                stability(*requested),
                stability(*committed)
            )?,
            Violation::DataLost { before, after } => write!(
                f,
                "the write verifier changed from {:016x} to {:016x}: the server restarted or lost \
                 its cache, and data that it had not committed cannot be rewritten",
                u64::from_be_bytes(*before),
                u64::from_be_bytes(*after)
            )?,
            Violation::NoEntries => {
                f.write_str("the server returned neither entries nor the end of the listing")?;
            }
            Violation::RepeatedCookie(cookie) => {
                write!(f, "the server returned cookie {cookie} twice: the listing repeats")?;
            }
            Violation::RepeatedPage => {
                f.write_str("the server listed the same names again: the listing repeats")?;
            }
            Violation::Endless(entries) => {
                write!(f, "the server listed more than {entries} entries without an end")?;
            }
            Violation::Unreadable(error) => {
                write!(f, "the server's reply cannot be decoded: {error}")?;
            }
        }
        write!(f, " (RFC 1813, section 3.3.{})", *procedure as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_states_the_request_the_reply_and_the_section_of_the_rfc() {
        let fault = |procedure, violation| {
            ProtocolFault { procedure, offset_bytes: 4096, count_bytes: 8192, violation }
                .to_string()
        };
        assert_eq!(
            fault(NfsProcedure::WRITE, Violation::TooMany(9000)),
            "8192 bytes at offset 4096 were requested, and the server replied count 9000 (RFC \
             1813, section 3.3.7)"
        );
        assert_eq!(
            fault(NfsProcedure::READ, Violation::Nothing),
            "8192 bytes at offset 4096 were requested, and the server replied no bytes and no end \
             of file (RFC 1813, section 3.3.6)"
        );
        let violation = Violation::LessStable {
            requested: stable_how::FILE_SYNC,
            committed: stable_how::UNSTABLE,
        };
        assert_eq!(
            fault(NfsProcedure::WRITE, violation),
            "8192 bytes at offset 4096 were requested as FILE_SYNC, and the server replied \
             UNSTABLE (RFC 1813, section 3.3.7)"
        );
        let violation = Violation::DataLost { before: [0; 8], after: [0, 0, 0, 0, 0, 0, 1, 2] };
        assert!(
            fault(NfsProcedure::COMMIT, violation).starts_with(
                "the write verifier changed from 0000000000000000 to 0000000000000102"
            )
        );
    }
}
