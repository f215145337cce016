//! The operations of a trace as a list to replay: the experiment, and the list in words.

use std::io::{self, Write};

use observe::{Observation, Recording};
use units::counted;

use super::experiment::one_line;
use super::{answer, seconds};
use crate::prose::wrap;

/// Columns of comments.
const COLUMNS: usize = 100;
/// The queue depth if the concurrency is not known, and the smallest: a bound, which a replay at the
/// times of the trace reaches only if the target is slower.
const QUEUE_DEPTH_MIN: u64 = 64;
/// The largest queue depth of a stream.
const QUEUE_DEPTH_MAX: u64 = 4096;

/// Writes the experiment that replays a list.
///
/// * `name` - the experiment's name, up to 100 characters
/// * `list` - the list's file, as the experiment names it
///
/// # Errors
/// Those of `out`.
pub fn write(
    observation: &Observation,
    recording: &Recording,
    name: &str,
    list: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut text = String::new();
    let comment = |sentence: &str, text: &mut String| {
        wrap(&one_line(sentence), "# ", "# ", COLUMNS, text);
    };
    comment("Replays the operations that `fourcorners observe` found in a trace.", &mut text);
    for sentence in answer(observation) {
        comment(&sentence, &mut text);
    }
    comment(&words(recording), &mut text);
    let quoted = |text: &str| -> String {
        text.chars().filter(|c| !c.is_control() && !"\"\\".contains(*c)).collect()
    };
    text.push_str(&format!("name = \"{}\"\n\n[stream.replay]\n", quoted(name)));
    let list = quoted(list);
    match recording.has_times {
        true => text.push_str(&format!("replay = \"{list}\"\n")),
        // The trace has no times.
        false => text.push_str(&format!("replay = {{ list = \"{list}\", speed = \"max\" }}\n")),
    }
    let depth = observation.concurrency.map_or(0, |found| found.max.saturating_mul(2));
    let depth = depth.clamp(QUEUE_DEPTH_MIN, QUEUE_DEPTH_MAX);
    text.push_str(&format!("queue_depth = {depth}\n"));
    out.write_all(text.as_bytes())
}

/// `400 operations on 2 files in 399ms; left out: 3 open, 1 stat.`
pub fn words(recording: &Recording) -> String {
    let length = match recording.length_ns() {
        Some(ns) => format!(" in {}", seconds(ns)),
        None => " without times".to_owned(),
    };
    let left_out: Vec<String> =
        recording.left_out.iter().map(|(name, count)| format!("{count} {name}")).collect();
    let left_out = match left_out.is_empty() {
        true => "nothing is left out".to_owned(),
        false => format!("left out: {}", left_out.join(", ")),
    };
    format!(
        "{} on {}{length}; {left_out}.",
        counted(recording.operations(), "operation"),
        counted(recording.files(), "file"),
    )
}
