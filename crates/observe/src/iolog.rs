//! I/O logs of fio (`write_iolog`), versions 2 and 3.
//!
//! A line is `[TIME] FILE ACTION [OFFSET LENGTH]`; only version 3 has times, and no version has the ends
//! of operations. Source: fio's HOWTO, "Trace file format".

use std::io::BufRead;

use crate::error::{Error, Position};
use crate::format::{Format, START, TimeUnit};
use crate::lines::Lines;
use crate::observation::{Damage, Direction, Source};
use crate::observer::{Observer, Operation};

/// How every log begins.
pub(crate) const HEADER: &str = "fio version ";

/// Actions without an offset and a length.
const BARE: [&str; 5] = ["add", "open", "close", "sync", "datasync"];

/// Actions with an offset and a length.
const ACTIONS: [&str; 7] = ["read", "write", "trim", "sync", "datasync", "sync_file_range", "wait"];

/// A line after its time.
#[derive(Debug, PartialEq, Eq)]
struct Entry<'a> {
    file: &'a str,
    action: &'a str,
    offset: u64,
    length: u64,
}

/// Reads a log to its end.
pub(crate) fn read(
    input: impl BufRead,
    unit: Option<TimeUnit>,
    observer: &mut Observer,
) -> Result<Source, Error> {
    let mut lines = Lines::new(input);
    let (at, header) = lines.next()?.unwrap_or((START, String::new()));
    let version = header.strip_prefix(HEADER).and_then(|rest| rest.strip_suffix(" iolog"));
    let has_times = match version {
        Some("2") => false,
        Some("3") => true,
        _ => {
            let version = version.unwrap_or(&header).chars().take(20).collect();
            return Err(Error::IologVersion { at, version });
        }
    };
    let unit_ns = unit.unwrap_or(TimeUnit::Micro).ns();
    // fio appends the log of another run, whose times begin at 0 again.
    let (mut start_ns, mut last_ns) = (0u64, 0);
    while let Some((at, line)) = lines.next()? {
        if line == header {
            start_ns = last_ns;
            continue;
        }
        let (time, rest) = match has_times.then(|| time_of(&line)) {
            Some(Some((time, rest))) => {
                let time = time.checked_mul(unit_ns).and_then(|ns| ns.checked_add(start_ns));
                last_ns = last_ns.max(time.unwrap_or(0));
                (time, rest)
            }
            Some(None) => (None, ""),
            None => (None, line.as_str()),
        };
        match entry(rest).filter(|_| time.is_some() || !has_times) {
            Some(entry) => count(&entry, time, at, observer),
            None if line.is_empty() => {}
            None => observer.damaged(at, Damage::Malformed),
        }
    }
    Ok(Source {
        format: Format::Iolog,
        records: lines.count(),
        bytes: lines.bytes(),
        assumed_unit: (has_times && unit.is_none()).then_some(TimeUnit::Micro),
    })
}

fn time_of(line: &str) -> Option<(u64, &str)> {
    let (time, rest) = line.split_once(char::is_whitespace)?;
    Some((time.parse().ok()?, rest.trim_start()))
}

/// Split from the end, because names of files may contain blanks.
fn entry(line: &str) -> Option<Entry<'_>> {
    let (rest, word) = last_word(line)?;
    if let Some(action) = BARE.into_iter().find(|action| *action == word) {
        return Some(Entry { file: rest.trim_end(), action, offset: 0, length: 0 });
    }
    let length = word.parse().ok()?;
    let (rest, word) = last_word(rest)?;
    if word == "wait" {
        return Some(Entry { file: rest.trim_end(), action: "wait", offset: 0, length });
    }
    let offset = word.parse().ok()?;
    let (rest, word) = last_word(rest)?;
    let action = ACTIONS.into_iter().find(|action| *action == word)?;
    Some(Entry { file: rest.trim_end(), action, offset, length })
}

/// A text before its last word, and the word.
fn last_word(text: &str) -> Option<(&str, &str)> {
    text.trim_end().rsplit_once(char::is_whitespace)
}

fn count(entry: &Entry<'_>, time: Option<u64>, at: Position, observer: &mut Observer) {
    let direction = match entry.action {
        "read" => Direction::Read,
        "write" => Direction::Write,
        // They are commands to the player of the log, not operations of the application.
        "add" | "wait" => return,
        other => {
            if observer.includes(entry.file) {
                observer.other(other);
                if matches!(other, "sync" | "datasync") {
                    observer.sync(other, entry.file.as_bytes(), Some(entry.file), time, at);
                }
            }
            return;
        }
    };
    if entry.length == 0 {
        return observer.damaged(at, Damage::Malformed);
    }
    let Some(file) = observer.file(entry.file) else { return };
    let operation = Operation {
        direction,
        file,
        offset_bytes: entry.offset,
        size_bytes: entry.length,
        begin_ns: time,
        end_ns: None,
        is_direct: None,
        is_durable: None,
    };
    observer.data(operation, at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_may_contain_blanks_and_numbers() {
        let of = |line| {
            let entry = entry(line).unwrap();
            (entry.file, entry.action, entry.offset, entry.length)
        };
        assert_eq!(of("/a b 7 read 4096 512"), ("/a b 7", "read", 4096, 512));
        assert_eq!(of("/my file close"), ("/my file", "close", 0, 0));
        assert_eq!(of("f sync 0 0"), ("f", "sync", 0, 0));
        assert_eq!(of("f wait 100"), ("f", "wait", 0, 100));
        assert_eq!(entry("f read 4096"), None);
        assert_eq!(entry("f erase 0 1"), None);
        assert_eq!(entry("nothing"), None);
    }
}
