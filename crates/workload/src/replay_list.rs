//! The text of a list of operations to replay, as `fourcorners observe --replay` writes it.
//!
//! ```text
//! fourcorners replay 1
//! file 0 /mnt/vol1/db
//! left-out 12 open
//! 0 read 0 4096 8192
//! 1500 write 0 0 512
//! 2000 fsync 0
//! end 3
//! ```
//! The first line has the version. A line of an operation has its time in nanoseconds since the first
//! one (`-` in all lines if the trace has no times), its kind, the file's number, offset and size. The last line
//! has the number of operations, so that a list that was cut is recognised.
//! Not for: writing it (crate `observe`), nor for reading the file (the caller has its text).

use std::ops::Range;

use settings::{Diagnostic, Source};

use crate::op::OpKind;
use crate::replay::{END_MAX, FILES_MAX, ListedOp, OPERATIONS_MAX, ReplayList, SIZE_MAX};

/// The first line, of the only version.
const HEADER: &str = "fourcorners replay 1";
const FORM: &str = "`TIME read FILE OFFSET SIZE`, `TIME write FILE OFFSET SIZE` or `TIME fsync FILE`, \
                    with TIME in nanoseconds or `-`";
const RECORD: &str = "write the list again: `fourcorners observe TRACE --replay FILE`";

/// A problem in a line: what is wrong, and what is allowed.
struct Wrong {
    message: &'static str,
    allowed: &'static str,
    hint: &'static str,
}

const fn wrong(message: &'static str, allowed: &'static str, hint: &'static str) -> Wrong {
    Wrong { message, allowed, hint }
}

/// Reads a list.
///
/// * `name` - the file as the user named it
///
/// # Errors
/// The first problem.
pub(crate) fn parse(name: &str, text: &str) -> Result<ReplayList, Box<Diagnostic>> {
    let mut reading = Reading::default();
    let mut at = 0;
    for (number, whole) in text.split_inclusive('\n').enumerate() {
        let line = whole.trim_end();
        let result = match number {
            0 => header(line),
            _ => reading.line(line),
        };
        if let Err(wrong) = result {
            return Err(refused(name, text, at..at + line.len(), &wrong));
        }
        at += whole.len();
    }
    let wrong = match (text.is_empty(), reading.is_ended, reading.operations.is_empty()) {
        (true, ..) => Some(wrong("the list is empty", HEADER, RECORD)),
        (_, false, _) => Some(wrong("the list was cut", "`end COUNT` in the last line", RECORD)),
        (_, true, true) => Some(wrong("the list has no operation", FORM, RECORD)),
        (_, true, false) => None,
    };
    if let Some(wrong) = wrong {
        return Err(refused(name, text, text.len()..text.len(), &wrong));
    }
    let Reading { operations, files, has_times, left_out, is_ended: _ } = reading;
    let checksum = checksum(text);
    let has_times = has_times == Some(true);
    Ok(ReplayList::new(operations, files, has_times, left_out, checksum))
}

fn refused(name: &str, text: &str, span: Range<usize>, wrong: &Wrong) -> Box<Diagnostic> {
    let span = Source::file(name, text).span(span);
    let mut diagnostic = span.diagnostic(wrong.message, wrong.allowed);
    // A list may be longer than a diagnostic should be.
    diagnostic.source = Some(span.written.clone());
    diagnostic.span = 0..span.written.len();
    if !wrong.hint.is_empty() {
        diagnostic = diagnostic.with_hint(wrong.hint);
    }
    Box::new(diagnostic)
}

fn header(line: &str) -> Result<(), Wrong> {
    match line {
        HEADER => Ok(()),
        _ if line.starts_with("fourcorners replay ") => {
            Err(wrong("an unknown version of a list to replay", HEADER, RECORD))
        }
        _ => Err(wrong(
            "this is not a list to replay",
            HEADER,
            "turn a trace into a list: `fourcorners observe TRACE --replay FILE`",
        )),
    }
}

/// What was read so far.
#[derive(Default)]
struct Reading {
    operations: Vec<ListedOp>,
    files: usize,
    has_times: Option<bool>,
    left_out: u64,
    is_ended: bool,
}

impl Reading {
    fn line(&mut self, line: &str) -> Result<(), Wrong> {
        let mut words = line.split_ascii_whitespace();
        let Some(first) = words.next() else { return Ok(()) };
        match first {
            _ if first.starts_with('#') => Ok(()),
            _ if self.is_ended => Err(wrong("the list continues after its end", "nothing", RECORD)),
            "end" => self.end(words.next()),
            "file" => self.file(words.next()),
            "left-out" => {
                let count = words.next().and_then(|count| count.parse::<u64>().ok());
                let Some(count) = count else {
                    return Err(wrong(
                        "wrong line in a list to replay",
                        "`left-out COUNT KIND`",
                        "",
                    ));
                };
                self.left_out = self.left_out.saturating_add(count);
                Ok(())
            }
            time => self.operation(time, words),
        }
    }

    fn end(&mut self, count: Option<&str>) -> Result<(), Wrong> {
        if count.and_then(|count| count.parse().ok()) != Some(self.operations.len()) {
            let allowed = "`end` with the number of operations above";
            return Err(wrong(
                "the list lacks operations, or has more than it should",
                allowed,
                RECORD,
            ));
        }
        self.is_ended = true;
        Ok(())
    }

    fn file(&mut self, number: Option<&str>) -> Result<(), Wrong> {
        if number.and_then(|number| number.parse().ok()) != Some(self.files) {
            return Err(wrong(
                "the files of a list are not numbered in order",
                "`file NUMBER NAME`, numbered from 0",
                "",
            ));
        }
        if self.files == FILES_MAX {
            return Err(wrong(
                "the list has too many files",
                "at most 10,000 files",
                "leave out some: `fourcorners observe TRACE --replay FILE --under PATH`",
            ));
        }
        self.files += 1;
        Ok(())
    }

    fn operation<'t>(
        &mut self,
        time: &str,
        mut words: impl Iterator<Item = &'t str>,
    ) -> Result<(), Wrong> {
        let malformed = || wrong("wrong line in a list to replay", FORM, "");
        let time_ns = match time {
            "-" => None,
            text => Some(text.parse::<u64>().map_err(|_| malformed())?),
        };
        if *self.has_times.get_or_insert(time_ns.is_some()) != time_ns.is_some() {
            let allowed = "times in all lines, or `-` in all";
            return Err(wrong("only some operations of a list have times", allowed, ""));
        }
        let time_ns = time_ns.unwrap_or(0);
        match self.operations.last() {
            None if time_ns != 0 => {
                let allowed = "0 in the first operation";
                return Err(wrong("the list does not start at time 0", allowed, ""));
            }
            Some(last) if time_ns < last.time_ns => {
                let allowed = "a time that is not before the one of the line above";
                return Err(wrong("the operations of a list are out of order", allowed, RECORD));
            }
            _ => {}
        }
        if time_ns > 30 * 24 * 3600 * 1_000_000_000 {
            return Err(wrong("the list is longer than a run can be", "at most 30 days", ""));
        }
        let kind = match words.next() {
            Some("read") => OpKind::Read,
            Some("write") => OpKind::Write,
            Some("fsync") => OpKind::Fsync,
            _ => return Err(malformed()),
        };
        let mut number = || words.next().and_then(|word| word.parse::<u64>().ok());
        let file = number().ok_or_else(malformed)?;
        if file >= self.files as u64 {
            let allowed = "the number of a `file` line above";
            return Err(wrong("an operation on an unknown file", allowed, ""));
        }
        let (offset_bytes, size) = match kind {
            OpKind::Fsync => (0, 0),
            _ => (number().ok_or_else(malformed)?, number().ok_or_else(malformed)?),
        };
        if words.next().is_some() {
            return Err(malformed());
        }
        if size == 0 && kind != OpKind::Fsync {
            let allowed = "a size of at least 1 byte";
            return Err(wrong("an operation that moves nothing", allowed, "remove the line"));
        }
        if size > SIZE_MAX {
            let hint = "replace it by several operations";
            return Err(wrong("an operation is too large", "up to 64 MiB", hint));
        }
        if offset_bytes.checked_add(size).is_none_or(|end| end > END_MAX) {
            let allowed = "an end of up to 1 PiB";
            return Err(wrong("an operation is beyond the largest file", allowed, ""));
        }
        if self.operations.len() == OPERATIONS_MAX {
            return Err(wrong(
                "the list has too many operations",
                "at most 10,000,000 operations",
                "cut the list before this line",
            ));
        }
        let (size_bytes, file) = (size as u32, file as u16);
        self.operations.push(ListedOp { time_ns, offset_bytes, size_bytes, file, kind });
        Ok(())
    }
}

/// The text of a list in pieces of about `bytes` each. A file has its number as its name.
pub(crate) fn pieces(list: &ReplayList, bytes: usize) -> impl Iterator<Item = String> + '_ {
    let mut head = format!("{HEADER}\n");
    for file in 0..list.files() {
        head += &format!("file {file} {file}\n");
    }
    if list.left_out() > 0 {
        head += &format!("left-out {} operation\n", list.left_out());
    }
    let operations = list.operations();
    let (mut next, mut is_ended) = (0, false);
    std::iter::from_fn(move || {
        if is_ended {
            return None;
        }
        let mut text = std::mem::take(&mut head);
        while text.len() < bytes && next < operations.len() {
            append(&operations[next], list.has_times(), &mut text);
            next += 1;
        }
        if next == operations.len() {
            text += &format!("end {next}\n");
            is_ended = true;
        }
        Some(text)
    })
}

fn append(op: &ListedOp, has_times: bool, text: &mut String) {
    let ListedOp { time_ns, offset_bytes, size_bytes, file, kind } = op;
    match has_times {
        true => *text += &format!("{time_ns} "),
        false => text.push_str("- "),
    }
    *text += &match kind {
        OpKind::Fsync => format!("fsync {file}\n"),
        _ => format!("{} {file} {offset_bytes} {size_bytes}\n", kind.name()),
    };
}

/// FNV-1a with 64 bits: finds a list that was changed by mistake.
fn checksum(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ReplayList, String> {
        parse("app.replay", text).map_err(|wrong| wrong.to_string())
    }

    #[test]
    fn a_list_has_its_operations_with_files_in_the_order_of_their_sizes() {
        let text = "fourcorners replay 1\n# of app.strace\nfile 0 /big\nfile 1 /a b\n\
                    left-out 12 open\nleft-out 3 stat\n0 read 0 1048576 8192\n5 write 1 0 512\n\
                    5 fsync 1\n\nend 3\n";
        let list = read(text).unwrap();
        let op = |time_ns, kind, file, offset_bytes, size_bytes| ListedOp {
            time_ns,
            offset_bytes,
            size_bytes,
            file,
            kind,
        };
        let expected = [
            op(0, OpKind::Read, 1, 1 << 20, 8192),
            op(5, OpKind::Write, 0, 0, 512),
            op(5, OpKind::Fsync, 0, 0, 0),
        ];
        assert_eq!(list.operations(), expected);
        assert!(list.has_times());
        assert!(!read("fourcorners replay 1\nfile 0 f\n- fsync 0\nend 1\n").unwrap().has_times());
    }

    #[test]
    fn a_list_in_pieces_is_put_together_again() {
        let timed = "fourcorners replay 1\nfile 0 /big\nfile 1 /a b\nleft-out 12 open\n\
                     0 read 0 1048576 8192\n5 write 1 0 512\n5 fsync 1\nend 3\n";
        let untimed = "fourcorners replay 1\nfile 0 f\nfile 1 unused\n- write 0 512 1024\n\
                       - fsync 0\nend 2\n";
        for text in [timed, untimed] {
            let list = read(text).unwrap();
            for bytes in [1, 40, 1 << 20] {
                let pieces: Vec<String> = list.pieces(bytes).collect();
                assert_eq!(pieces.len() == 1, bytes == 1 << 20, "{pieces:?}");
                let checksum = format!("{:016x}", checksum(text));
                let received = ReplayList::received(&pieces.concat(), &checksum).unwrap();
                assert!(received == list, "{pieces:?}");
                // A piece is missing, or the last line of one.
                assert!(ReplayList::received(&pieces[1..].concat(), &checksum).is_err());
            }
        }
    }

    #[test]
    fn wrong_lines_are_refused_with_file_line_and_what_is_allowed() {
        for (lines, wrong) in [
            ("0 read 0 0", "3:1: wrong line in a list to replay"),
            ("0 read 0 0 512 7", "3:1: wrong line in a list to replay"),
            ("0 erase 0 0 512", "3:1: wrong line in a list to replay"),
            ("zero read 0 0 512", "3:1: wrong line in a list to replay"),
            ("1 read 0 0 512", "3:1: the list does not start at time 0"),
            (
                "0 read 0 0 512\n9 fsync 0\n8 fsync 0",
                "5:1: the operations of a list are out of order",
            ),
            ("0 read 0 0 512\n- fsync 0", "4:1: only some operations of a list have times"),
            ("0 read 1 0 512", "3:1: an operation on an unknown file"),
            ("0 read 0 0 0", "3:1: an operation that moves nothing"),
            ("0 read 0 0 67108865", "3:1: an operation is too large"),
            ("0 read 0 1125899906842624 1", "3:1: an operation is beyond the largest file"),
            ("file 2 g", "3:1: the files of a list are not numbered in order"),
            ("left-out many open", "3:1: wrong line in a list to replay"),
            ("0 read 0 0 512\nend 2", "4:1: the list lacks operations, or has more than it should"),
            ("0 read 0 0 512\nend 1\n9 fsync 0", "5:1: the list continues after its end"),
        ] {
            let text = format!("fourcorners replay 1\nfile 0 f\n{lines}\n");
            let found = read(&text).expect_err(lines);
            assert!(found.starts_with(&format!("app.replay:{wrong}")), "{lines}: {found}");
            assert!(found.contains("allowed: "), "{found}");
        }
        for (text, wrong) in [
            ("", "app.replay:1:1: the list is empty"),
            ("fio version 3 iolog\n", "app.replay:1:1: this is not a list to replay"),
            ("fourcorners replay 2\n", "app.replay:1:1: an unknown version"),
            (
                "fourcorners replay 1\nfile 0 f\nend 0\n",
                "app.replay:4:1: the list has no operation",
            ),
            ("fourcorners replay 1\nfile 0 f\n0 read 0 0 51", "app.replay:3:14: the list was cut"),
        ] {
            let found = read(text).expect_err(text);
            assert!(found.starts_with(wrong), "{found}");
        }
    }
}
