//! The formats of traces, recognised by their content.

use std::io::BufRead;

use crate::error::{Error, Position, PositionUnit};
use crate::{blktrace, iolog, strace};

/// The format of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An I/O log of fio, version 2 or 3 (`write_iolog`).
    Iolog,
    /// The output of strace, best with `-f -ttt -T -y`.
    Strace,
    /// A capture with NFSv3: pcap or pcapng.
    Capture,
    /// The output of blkparse.
    Blktrace,
}

/// The unit of the times in a fio I/O log of version 3, which depends on fio's version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Milliseconds.
    Milli,
    /// Microseconds.
    Micro,
    /// Nanoseconds.
    Nano,
}

impl TimeUnit {
    /// Nanoseconds of one.
    pub(crate) const fn ns(self) -> u64 {
        match self {
            TimeUnit::Milli => 1_000_000,
            TimeUnit::Micro => 1_000,
            TimeUnit::Nano => 1,
        }
    }
}

/// The start of the file, which has no record yet.
pub(crate) const START: Position = Position { unit: PositionUnit::Line, number: 1, byte: 0 };

/// First bytes of compressed files.
const COMPRESSED: [(&[u8], &str, &str); 3] = [
    (&[0x1f, 0x8b], "gzip", "gunzip FILE"),
    (&[0x28, 0xb5, 0x2f, 0xfd], "zstd", "unzstd FILE"),
    (&[0xfd, b'7', b'z', b'X', b'Z'], "xz", "unxz FILE"),
];

/// First bytes of captures: pcap in both byte orders and resolutions, and pcapng.
const CAPTURES: [[u8; 4]; 5] = [
    [0xd4, 0xc3, 0xb2, 0xa1],
    [0xa1, 0xb2, 0xc3, 0xd4],
    [0x4d, 0x3c, 0xb2, 0xa1],
    [0xa1, 0xb2, 0x3c, 0x4d],
    [0x0a, 0x0d, 0x0d, 0x0a],
];

/// The format that the first bytes show. A format that the user names must fit where a file of the
/// format always begins alike.
pub(crate) fn detect(input: &mut impl BufRead, named: Option<Format>) -> Result<Format, Error> {
    let start = input.fill_buf().map_err(|source| Error::Read { at: START, source })?;
    if start.is_empty() {
        return Err(Error::Empty);
    }
    if let Some((_, by, command)) = COMPRESSED.iter().find(|(magic, ..)| start.starts_with(magic)) {
        return Err(Error::Compressed { by, command });
    }
    let is_capture = CAPTURES.iter().any(|magic| start.starts_with(magic));
    let is_iolog = start.starts_with(iolog::HEADER.as_bytes());
    let expected = match (named, is_capture, is_iolog) {
        (None | Some(Format::Capture), true, _) => return Ok(Format::Capture),
        (None | Some(Format::Iolog), _, true) => return Ok(Format::Iolog),
        // A trace may begin with lines of the traced program.
        (Some(named @ (Format::Strace | Format::Blktrace)), false, false) => return Ok(named),
        (None, ..) if blktrace::is_likely(start) => return Ok(Format::Blktrace),
        (None, ..) if strace::is_likely(start) => return Ok(Format::Strace),
        (None, ..) => return Err(Error::Unknown),
        (Some(Format::Capture), ..) => "the magic number of pcap or pcapng",
        (Some(Format::Iolog), ..) => "`fio version 2 iolog` or `fio version 3 iolog`",
        (Some(Format::Strace), ..) => "text of strace",
        (Some(Format::Blktrace), ..) => "text of blkparse",
    };
    let found = match (is_capture, is_iolog) {
        (true, _) => "this is a capture".to_owned(),
        (_, true) => "this is a fio I/O log".to_owned(),
        _ => format!("it begins with `{}`", first_line(start)),
    };
    Err(Error::NotOfFormat { at: START, found, expected })
}

/// At most 40 printable characters of the first line.
fn first_line(start: &[u8]) -> String {
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let text = String::from_utf8_lossy(&line[..line.len().min(160)]).into_owned();
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_recognised_by_their_first_bytes() {
        let is = |bytes: &[u8]| detect(&mut &*bytes, None).ok();
        assert_eq!(is(&[0xd4, 0xc3, 0xb2, 0xa1, 2, 0]), Some(Format::Capture));
        assert_eq!(is(&[0x0a, 0x0d, 0x0d, 0x0a, 28, 0]), Some(Format::Capture));
        assert_eq!(is(b"fio version 3 iolog\n"), Some(Format::Iolog));
        assert_eq!(is(b"12  1700000000.5 close(3) = 0\n"), Some(Format::Strace));
        assert_eq!(is(b"hello\nworld\n"), None);
        let refused = |bytes: &[u8]| detect(&mut &*bytes, None).unwrap_err().to_string();
        assert!(refused(&[0x1f, 0x8b, 8]).contains("gunzip FILE"));
        assert_eq!(refused(b""), "it is empty");
    }

    #[test]
    fn a_named_format_that_does_not_fit_is_refused() {
        let start = b"fio version 3 iolog\n";
        let error = detect(&mut &start[..], Some(Format::Capture)).unwrap_err().to_string();
        assert!(error.contains("this is a fio I/O log") && error.contains("pcap"), "{error}");
        let error = detect(&mut &b"hello"[..], Some(Format::Iolog)).unwrap_err().to_string();
        assert!(error.contains("begins with `hello`"), "{error}");
        assert_eq!(detect(&mut &b"hello"[..], Some(Format::Strace)).unwrap(), Format::Strace);
    }
}
