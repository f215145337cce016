//! Block traces of Linux as text: the output of blkparse in its default format.
//!
//! A line is `DEVICE CPU SEQUENCE TIME PID ACTION RWBS SECTOR + SECTORS [PROCESS]`. An operation begins
//! when it is queued (`Q`), or issued (`D`) if the trace has no queued one for its sectors, and ends when
//! it completes (`C`). Several that were merged complete together. A device is a file. Source:
//! blkparse(1) and the kernel's `blktrace_api.h`.

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::error::{Error, Position};
use crate::format::Format;
use crate::lines::Lines;
use crate::observation::{Damage, Direction, Note, Source};
use crate::observer::{Observer, Operation};

/// Bytes of a sector, whatever the device.
const SECTOR_BYTES: u64 = 512;
/// Operations that wait for their end.
const PENDING_MAX: usize = 1 << 20;
/// Lines that may precede the first event.
const LINES_BEFORE: usize = 20;
const NS_PER_S: u64 = 1_000_000_000;

/// One event.
#[derive(Debug, PartialEq, Eq)]
struct Event<'a> {
    device: &'a str,
    time_ns: u64,
    action: &'a str,
    rwbs: &'a str,
    /// The first sector and the number of sectors, if the event has them.
    sectors: Option<(u64, u64)>,
}

/// An operation that has begun.
#[derive(Debug)]
struct Begun {
    operation: Operation,
    at: Position,
}

/// Whether text begins like a trace.
pub(crate) fn is_likely(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&start[..start.len().min(1 << 16)]);
    text.lines().take(LINES_BEFORE).any(|line| event(line).is_some())
}

/// Reads a trace to its end.
pub(crate) fn read(input: impl BufRead, observer: &mut Observer) -> Result<Source, Error> {
    let mut lines = Lines::new(input);
    // By device and first sector; the number keeps those of one sector apart.
    let mut pending: BTreeMap<(String, u64, u64), Begun> = BTreeMap::new();
    let (mut number, mut unmatched, mut is_summary) = (0u64, 0u64, false);
    while let Some((at, line)) = lines.next()? {
        is_summary |= begins_summary(&line);
        if is_summary || line.trim().is_empty() {
            continue;
        }
        let Some(event) = event(&line) else {
            observer.damaged(at, Damage::Malformed);
            continue;
        };
        match event.action {
            "Q" => {
                number += 1;
                begin(&event, number, at, &mut pending, observer);
            }
            "D" if !is_pending(&event, &pending) => {
                number += 1;
                begin(&event, number, at, &mut pending, observer);
            }
            "C" => unmatched += u64::from(!end(&event, &mut pending, observer)),
            // Merges, plugs, messages and others on the way from the begin to the end.
            _ => {}
        }
        if pending.len() > PENDING_MAX
            && let Some((_, oldest)) = pending.pop_first()
        {
            observer.data(oldest.operation, oldest.at);
        }
    }
    // Those without an end are operations, too, in the order in which they began.
    let mut rest: Vec<Begun> = pending.into_values().collect();
    rest.sort_by_key(|begun| begun.operation.begin_ns);
    for begun in rest {
        observer.data(begun.operation, begun.at);
    }
    if unmatched > 0 {
        observer.note(Note::Unmatched { replies: unmatched });
    }
    Ok(Source {
        format: Format::Blktrace,
        records: lines.count(),
        bytes: lines.bytes(),
        assumed_unit: None,
    })
}

/// Whether this line is the first of the totals that blkparse prints after the events.
fn begins_summary(line: &str) -> bool {
    let is_of_cpu = || {
        let rest = line.strip_prefix("CPU")?;
        let (number, rest) = rest.split_once(' ')?;
        Some(number.bytes().all(|byte| byte.is_ascii_digit()) && rest.starts_with('('))
    };
    line.starts_with("Total (") || is_of_cpu() == Some(true)
}

/// The event of a line; `None` if it has none.
fn event(line: &str) -> Option<Event<'_>> {
    let mut words = line.split_ascii_whitespace();
    let device = words.next()?;
    let (major, minor) = device.split_once(',')?;
    major.parse::<u32>().ok()?;
    minor.parse::<u32>().ok()?;
    words.next()?.parse::<u32>().ok()?;
    words.next()?.parse::<u64>().ok()?;
    let time_ns = time_ns(words.next()?)?;
    words.next()?.parse::<u64>().ok()?;
    let action = words.next()?;
    if action.len() > 2 {
        return None;
    }
    // Only some actions have what follows.
    let Some(rwbs) = words.next() else {
        let is_bare = !matches!(action, "Q" | "D" | "C");
        return is_bare.then_some(Event { device, time_ns, action, rwbs: "", sectors: None });
    };
    if !matches!(action, "Q" | "D" | "C") {
        return Some(Event { device, time_ns, action, rwbs, sectors: None });
    }
    if !rwbs.bytes().all(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    let next = words.next()?;
    // A flush without data has the process, or the error of its completion, only.
    if next.starts_with('[') {
        return Some(Event { device, time_ns, action, rwbs, sectors: None });
    }
    let first = next.parse().ok()?;
    let sectors = match words.next()? {
        "+" => Some((first, words.next()?.parse().ok()?)),
        end if end.starts_with('[') => None,
        _ => return None,
    };
    // The line of an event ends with the process or, of a completion, with the error.
    line.ends_with(']').then_some(Event { device, time_ns, action, rwbs, sectors })
}

/// Seconds with nine digits after the point.
fn time_ns(text: &str) -> Option<u64> {
    let (seconds, fraction) = text.split_once('.')?;
    if fraction.len() != 9 {
        return None;
    }
    let fraction: u64 = fraction.parse().ok()?;
    seconds.parse::<u64>().ok()?.checked_mul(NS_PER_S)?.checked_add(fraction)
}

fn begin(
    event: &Event<'_>,
    number: u64,
    at: Position,
    pending: &mut BTreeMap<(String, u64, u64), Begun>,
    observer: &mut Observer,
) {
    let (begin_ns, path) = (Some(event.time_ns), file_name(event.device));
    let data = event.rwbs.trim_start_matches('F');
    let direction = match data.bytes().find(|byte| b"RWDE".contains(byte)) {
        Some(b'R') => Some(Direction::Read),
        Some(b'W') if event.sectors.is_some_and(|(_, count)| count > 0) => Some(Direction::Write),
        _ => None,
    };
    let Some(direction) = direction else {
        let is_flush = event.rwbs.starts_with('F');
        let name = if is_flush { "flush" } else { "discard" };
        if !observer.includes(&path) {
            return;
        }
        observer.other(name);
        if is_flush {
            observer.sync(name, path.as_bytes(), Some(&path), begin_ns, at);
        }
        return;
    };
    let Some((sector, count)) = event.sectors.filter(|(_, count)| *count > 0) else {
        return observer.damaged(at, Damage::Malformed);
    };
    let (offset_bytes, size_bytes) =
        (sector.checked_mul(SECTOR_BYTES), count.checked_mul(SECTOR_BYTES));
    let (Some(offset_bytes), Some(size_bytes)) = (offset_bytes, size_bytes) else {
        return observer.damaged(at, Damage::TooLarge);
    };
    let Some(file) = observer.file(&path) else { return };
    let operation = Operation {
        direction,
        file,
        offset_bytes,
        size_bytes,
        begin_ns,
        end_ns: None,
        is_direct: None,
        is_durable: (direction == Direction::Write).then_some(data.contains('F')),
    };
    pending.insert((event.device.to_owned(), sector, number), Begun { operation, at });
}

/// Whether an operation of a device that has begun has one of the event's sectors.
fn is_pending(event: &Event<'_>, pending: &BTreeMap<(String, u64, u64), Begun>) -> bool {
    let Some((first, count)) = event.sectors else {
        // A flush was queued before.
        return true;
    };
    let device = event.device.to_owned();
    let range = (device.clone(), first, 0)..(device, first.saturating_add(count.max(1)), 0);
    pending.range(range).next().is_some()
}

/// Ends all operations in the sectors of a completion; `false` if there are none.
fn end(
    event: &Event<'_>,
    pending: &mut BTreeMap<(String, u64, u64), Begun>,
    observer: &mut Observer,
) -> bool {
    let Some((first, count)) = event.sectors.filter(|(_, count)| *count > 0) else { return true };
    let device = event.device.to_owned();
    let range = (device.clone(), first, 0)..(device, first.saturating_add(count), 0);
    let ended: Vec<_> = pending.range(range).map(|(key, _)| key.clone()).collect();
    let is_read = event.rwbs.contains('R');
    let is_data = is_read || event.rwbs.contains('W');
    for key in &ended {
        if let Some(Begun { operation, at }) = pending.remove(key) {
            observer.data(Operation { end_ns: Some(event.time_ns), ..operation }, at);
        }
    }
    // Discards have no begin here, and devices outside of the requested path neither.
    !ended.is_empty() || !is_data || !observer.includes(&file_name(event.device))
}

fn file_name(device: &str) -> String {
    format!("device {device}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_blkparse_are_events() {
        let of = |line| event(line).map(|event| (event.action, event.rwbs, event.sectors));
        let line = "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]";
        assert_eq!(of(line), Some(("Q", "W", Some((223_490, 8)))));
        let line = "  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]";
        assert_eq!(of(line), Some(("G", "W", None)));
        let line = "259,0    1       11     1.000000001     0  C  RS 80 + 16 [0]";
        assert_eq!(of(line), Some(("C", "RS", Some((80, 16)))));
        let line = "  8,0    3        5     0.000005000   697  P   N [kjournald]";
        assert_eq!(of(line), Some(("P", "N", None)));
        let line = "  8,0    3        9     0.000005000   697  Q FWS [kworker/1:1]";
        assert_eq!(of(line), Some(("Q", "FWS", None)));
        for line in [
            "  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjourn",
            "  8,0    3        1     0.000000000   697  Q   W 223490 +",
            "  8,0    3        1     0.0   697  Q   W 223490 + 8 [k]",
            "8 0 3 1 0.000000000 697 Q W 223490 + 8 [k]",
            "",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        assert!(begins_summary("CPU0 (8,0):") && begins_summary("Total (8,0):"));
        assert!(!begins_summary("CPU time (s)"));
    }
}
