//! Answers that RFC 1813 does not allow: what was requested, what was answered, and where the RFC
//! says otherwise.

use std::fmt;

use nfs3::arguments::stable_how;
use nfs3::procedure::NfsProcedure;
use nfs3::types::writeverf3;
use nfs3::xdr::XdrError;

/// An answer that breaks the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ProtocolFault {
    /// The procedure that was called.
    pub procedure: NfsProcedure,
    /// Where the requested bytes begin in the file; 0 where none were requested.
    pub offset_bytes: u64,
    /// Requested bytes; 0 where none were requested.
    pub count_bytes: u32,
    /// What was answered.
    pub answer: FaultyAnswer,
}

/// What is wrong with an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultyAnswer {
    /// More bytes than requested.
    TooMany(u32),
    /// READ: so many bytes announced, so many present.
    DataUnlikeCount(u32, u32),
    /// No bytes, and for READ no end of the file.
    Nothing,
    /// WRITE: less stable than requested.
    LessStable {
        /// As requested.
        requested: stable_how,
        /// As answered.
        committed: stable_how,
    },
    /// The write verifier changed and the data cannot be written again.
    DataLost {
        /// Of the instance of the server that had the data.
        before: writeverf3,
        /// Of the present instance.
        after: writeverf3,
    },
    /// READDIR or READDIRPLUS: no entries and no end.
    NoEntries,
    /// READDIR or READDIRPLUS: a cookie that had been given before, so that the listing repeats.
    RepeatedCookie(u64),
    /// READDIR or READDIRPLUS: the names of an earlier page under new cookies.
    RepeatedPage,
    /// READDIR or READDIRPLUS: more entries than are read of one directory.
    Endless(usize),
    /// Bytes that are not the procedure's results.
    Unreadable(XdrError),
}

/// What is wrong with the answer to a READ of `request` (offset, count), if anything: it announces
/// `announced` bytes, has `bytes`, and says whether the file ends there.
pub(super) fn of_read(
    request: (u64, u32),
    announced: u32,
    bytes: usize,
    eof: bool,
) -> Option<ProtocolFault> {
    let answer = if bytes != announced as usize {
        FaultyAnswer::DataUnlikeCount(announced, bytes as u32)
    } else if announced > request.1 {
        FaultyAnswer::TooMany(announced)
    } else if bytes == 0 && request.1 > 0 && !eof {
        FaultyAnswer::Nothing
    } else {
        return None;
    };
    Some(ProtocolFault::of_transfer(NfsProcedure::READ, request, answer))
}

/// What is wrong with the answer to a WRITE of `request` (offset, count), if anything.
pub(super) fn of_write(
    request: (u64, u32),
    requested: stable_how,
    bytes: u32,
    committed: stable_how,
) -> Option<ProtocolFault> {
    let answer = if bytes > request.1 {
        FaultyAnswer::TooMany(bytes)
    } else if bytes == 0 && request.1 > 0 {
        FaultyAnswer::Nothing
    } else if committed < requested {
        FaultyAnswer::LessStable { requested, committed }
    } else {
        return None;
    };
    Some(ProtocolFault::of_transfer(NfsProcedure::WRITE, request, answer))
}

impl ProtocolFault {
    pub(super) fn of_transfer(
        procedure: NfsProcedure,
        (offset_bytes, count_bytes): (u64, u32),
        answer: FaultyAnswer,
    ) -> ProtocolFault {
        ProtocolFault { procedure, offset_bytes, count_bytes, answer }
    }
}

/// The first faults of a target, in fixed memory.
#[derive(Debug)]
pub(super) struct Faults(Vec<(u32, ProtocolFault)>);

impl Faults {
    /// Faults that are kept: later ones are mostly more of the same.
    const MAX: usize = 4;

    pub(super) fn new() -> Faults {
        Faults(Vec::with_capacity(Faults::MAX))
    }

    /// Notes a fault in an answer for `file`, if there is room.
    pub(super) fn note(&mut self, file: u32, fault: ProtocolFault) {
        if self.0.len() < Faults::MAX {
            self.0.push((file, fault));
        }
    }

    /// Each with the number of its file.
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
        let ProtocolFault { procedure, offset_bytes, count_bytes, answer } = self;
        let request = format!("{count_bytes} bytes at offset {offset_bytes} were requested");
        match answer {
            FaultyAnswer::TooMany(count) => {
                write!(f, "{request}, and the server answered count {count}")?;
            }
            FaultyAnswer::DataUnlikeCount(count, data) => {
                write!(f, "{request}, and the server answered count {count} with {data} bytes")?;
            }
            FaultyAnswer::Nothing if *procedure == NfsProcedure::READ => {
                write!(f, "{request}, and the server answered no bytes and no end of the file")?;
            }
            FaultyAnswer::Nothing => write!(f, "{request}, and the server answered count 0")?,
            FaultyAnswer::LessStable { requested, committed } => write!(
                f,
                "{request} as {}, and the server answered {}",
                stability(*requested),
                stability(*committed)
            )?,
            FaultyAnswer::DataLost { before, after } => write!(
                f,
                "the write verifier changed from {:016x} to {:016x}: the server restarted or lost \
                 its cache, and what it had not committed cannot be written again",
                u64::from_be_bytes(*before),
                u64::from_be_bytes(*after)
            )?,
            FaultyAnswer::NoEntries => {
                f.write_str("the server answered neither entries nor the listing's end")?;
            }
            FaultyAnswer::RepeatedCookie(cookie) => {
                write!(f, "the server gave cookie {cookie} a second time: the listing repeats")?;
            }
            FaultyAnswer::RepeatedPage => {
                f.write_str("the server listed the same names again: the listing repeats")?;
            }
            FaultyAnswer::Endless(entries) => {
                write!(f, "the server listed more than {entries} entries without an end")?;
            }
            FaultyAnswer::Unreadable(error) => {
                write!(f, "the server's answer cannot be read: {error}")?;
            }
        }
        write!(f, " (RFC 1813, section 3.3.{})", *procedure as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_names_the_request_the_answer_and_the_section_of_the_rfc() {
        let fault = |procedure, answer| {
            ProtocolFault { procedure, offset_bytes: 4096, count_bytes: 8192, answer }.to_string()
        };
        assert_eq!(
            fault(NfsProcedure::WRITE, FaultyAnswer::TooMany(9000)),
            "8192 bytes at offset 4096 were requested, and the server answered count 9000 (RFC \
             1813, section 3.3.7)"
        );
        assert_eq!(
            fault(NfsProcedure::READ, FaultyAnswer::Nothing),
            "8192 bytes at offset 4096 were requested, and the server answered no bytes and no end \
             of the file (RFC 1813, section 3.3.6)"
        );
        let answer = FaultyAnswer::LessStable {
            requested: stable_how::FILE_SYNC,
            committed: stable_how::UNSTABLE,
        };
        assert_eq!(
            fault(NfsProcedure::WRITE, answer),
            "8192 bytes at offset 4096 were requested as FILE_SYNC, and the server answered \
             UNSTABLE (RFC 1813, section 3.3.7)"
        );
        let answer = FaultyAnswer::DataLost { before: [0; 8], after: [0, 0, 0, 0, 0, 0, 1, 2] };
        assert!(
            fault(NfsProcedure::COMMIT, answer).starts_with(
                "the write verifier changed from 0000000000000000 to 0000000000000102"
            )
        );
    }
}
