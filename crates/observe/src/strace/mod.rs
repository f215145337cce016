//! The output of strace: reads and writes with their files, and counts of other calls on files.
//!
//! Best with `strace -f -ttt -T -y`: -ttt gives times, -T durations, -y the paths of descriptors. Works
//! without -f, -ttt and -T; without paths there is nothing to characterise. A call that another
//! thread's interrupts is printed in two parts, which are joined by the thread's ID.

mod calls;
mod descriptors;
mod line;

use std::collections::BTreeMap;
use std::io::BufRead;

use crate::error::Error;
use crate::format::Format;
use crate::lines::Lines;
use crate::observation::{Damage, Note, Source};
use crate::observer::Observer;

use calls::Calls;
use line::{Line, Part, is_name};

/// Threads with an interrupted call.
const PENDING_MAX: usize = 1 << 16;
/// The times of strace have microseconds.
const RESOLUTION_NS: u64 = 1_000;
/// Lines that may precede the first call of a trace.
const LINES_BEFORE: usize = 20;

/// Whether text begins like a trace.
pub(crate) fn is_likely(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(&start[..start.len().min(1 << 16)]);
    let mut lines = text.lines().take(LINES_BEFORE).map(|line| Line::parse(line.trim_end()).part);
    lines.any(|part| match part {
        Part::Whole(call) => call.is_complete(),
        // strace attached to a process with many threads begins with the calls in which they wait.
        Part::Begin(begin) => begin.split_once('(').is_some_and(|(name, _)| is_name(name)),
        _ => false,
    })
}

/// Reads a trace to its end.
pub(crate) fn read(input: impl BufRead, observer: &mut Observer) -> Result<Source, Error> {
    observer.set_resolution_ns(RESOLUTION_NS);
    let mut lines = Lines::new(input);
    let mut calls = Calls::default();
    let mut pending: BTreeMap<u64, (String, Option<u64>)> = BTreeMap::new();
    while let Some((at, text)) = lines.next()? {
        let line = Line::parse(&text);
        let thread = line.thread.unwrap_or(0);
        let is_read = match line.part {
            Part::Event => true,
            Part::Whole(call) => calls.call(thread, line.time_ns, None, call, at, observer),
            Part::Begin(begin) => {
                if pending.len() < PENDING_MAX {
                    pending.insert(thread, (begin.to_owned(), line.time_ns));
                }
                true
            }
            Part::End(end) => match pending.remove(&thread) {
                Some((begin, begin_ns)) => {
                    let whole = format!("{begin}{end}");
                    match Line::parse(&whole).part {
                        Part::Whole(call) => {
                            calls.call(thread, begin_ns, line.time_ns, call, at, observer)
                        }
                        // strace detached before its end.
                        Part::Begin(_) => true,
                        _ => false,
                    }
                }
                // It began before the trace.
                None => true,
            },
            Part::Unknown => text.is_empty(),
        };
        if !is_read {
            observer.damaged(at, Damage::Malformed);
        }
    }
    if !pending.is_empty() {
        observer.note(Note::Unanswered { calls: pending.len() as u64 });
    }
    calls.finish(observer)?;
    Ok(Source {
        format: Format::Strace,
        records: lines.count(),
        bytes: lines.bytes(),
        assumed_unit: None,
    })
}
