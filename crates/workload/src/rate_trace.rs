//! A trace of offered rates: a CSV file with a time and a rate in each line.
//!
//! Not for: reading the file (the caller has its text), nor for schedules in an experiment
//! (`arrival_reader`).

use std::ops::Range;

use settings::{Diagnostic, Source};
use units::{OpsPerSec, parse_duration};

use crate::rate_schedule::{Segment, SegmentRate};

/// Each row is stored in every run of a plan.
const ROWS_MAX: usize = 10_000;
const FORM: &str =
    "a time and a rate in each line, such as `1.5,2000` (seconds, operations per second)";

/// The segments of a trace: each rate applies from its time to that of the next row, and the last rate
/// for as long as the one before it.
///
/// * `name` - the file as the user named it
///
/// # Errors
/// The first problem.
pub(crate) fn segments(name: &str, text: &str) -> Result<Vec<Segment>, Box<Diagnostic>> {
    let source = Source::option(name, text);
    let refuse = |span: Range<usize>, wrong: &str, allowed: &str| {
        Err(Box::new(source.span(span).diagnostic(wrong, allowed)))
    };
    let mut rows: Vec<(u64, f64)> = Vec::new();
    for (at, line) in lines(text) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let span = at..at + line.len();
        let [time, rate] = fields[..] else {
            return refuse(span, "wrong line in a trace of rates", FORM);
        };
        let (time, rate) = match (time_ns(time), rate_of(rate)) {
            (Some(time), Some(rate)) => (time, rate),
            // A line with names of columns.
            (None, None) if rows.is_empty() && time.starts_with(char::is_alphabetic) => continue,
            _ => return refuse(span, "wrong line in a trace of rates", FORM),
        };
        match rows.last() {
            None if time != 0 => {
                return refuse(
                    span,
                    "a trace of rates does not start at time 0",
                    "0 in the first line",
                );
            }
            Some((before, _)) if time <= *before => {
                return refuse(
                    span,
                    "the times of a trace of rates do not increase",
                    "a later time",
                );
            }
            _ => rows.push((time, rate)),
        }
        if rows.len() > ROWS_MAX {
            return refuse(span, "a trace of rates has too many lines", "at most 10,000 lines");
        }
    }
    let ends = rows.iter().skip(1).map(|(time, _)| *time);
    let lengths: Vec<u64> = rows.iter().zip(ends).map(|((from, _), to)| to - from).collect();
    let Some(last) = lengths.last().copied() else {
        return refuse(0..0, "a trace of rates needs two lines or more", FORM);
    };
    let lengths = lengths.into_iter().chain([last]);
    let segment = |((_, rate), length): (&(u64, f64), u64)| Segment {
        duration_ns: Some(length),
        rate: SegmentRate::Constant { rate: *rate },
    };
    Ok(rows.iter().zip(lengths).map(segment).collect())
}

/// The lines with content, each with its position: without comments (`#`).
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut at = 0;
    let positioned = text.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        (start, line.split('#').next().unwrap_or("").trim_end())
    });
    positioned.filter(|(_, line)| !line.trim().is_empty())
}

/// Seconds without a unit, or a duration with one.
fn time_ns(text: &str) -> Option<u64> {
    let ns = match text.parse::<f64>() {
        Ok(seconds) => seconds * 1e9,
        Err(_) => parse_duration(text).ok()?.as_nanos() as f64,
    };
    // 30 days, the longest run.
    (0.0..=30.0 * 86_400.0 * 1e9).contains(&ns).then(|| ns.round() as u64)
}

fn rate_of(text: &str) -> Option<f64> {
    let rate = text.parse::<OpsPerSec>().ok()?.get();
    (rate == 0.0 || (1e-3..=1e9).contains(&rate)).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u64, f64)>, String> {
        let segments = segments("rates.csv", text).map_err(|wrong| wrong.to_string())?;
        let row = |segment: Segment| match segment.rate {
            SegmentRate::Constant { rate } => (segment.duration_ns.unwrap_or(0) / 1_000_000, rate),
            _ => unreachable!("a trace has constant rates"),
        };
        Ok(segments.into_iter().map(row).collect())
    }

    #[test]
    fn each_rate_applies_until_the_next_and_the_last_as_long_as_the_one_before() {
        let expected = Ok(vec![(500, 100.0), (1500, 2000.0), (1500, 0.0)]);
        assert_eq!(read("0,100\n0.5,2000\n2,0\n"), expected);
        let text = "time,rate\n# a comment\n0, 100/s\n\n500ms, 2k/s # more\r\n2s,0";
        assert_eq!(read(text), expected);
    }

    #[test]
    fn wrong_lines_are_refused_with_file_and_line() {
        for (text, wrong) in [
            ("0,1\n2,1\n1,1\n", "rates.csv:3:1: the times of a trace of rates do not increase"),
            ("0,1\n1,1\n1,1\n", "rates.csv:3:1: the times of a trace of rates do not increase"),
            ("1,1\n2,1\n", "rates.csv:1:1: a trace of rates does not start at time 0"),
            ("time,rate\n0,-5\n", "rates.csv:2:1: wrong line in a trace of rates"),
            ("0,1\n1,fast\n", "rates.csv:2:1: wrong line in a trace of rates"),
            ("0,1\ntime,rate\n", "rates.csv:2:1: wrong line in a trace of rates"),
            ("0,1,2\n", "rates.csv:1:1: wrong line in a trace of rates"),
            ("0,1\n", "rates.csv:1:1: a trace of rates needs two lines or more"),
            ("", "rates.csv:1:1: a trace of rates needs two lines or more"),
        ] {
            let found = read(text).expect_err("it is refused");
            assert!(found.starts_with(wrong), "{found}");
            assert!(found.contains("allowed: "), "{found}");
        }
    }
}
