//! The part of a run in which a stream offers operations.
//!
//! Times are from the run's start, which is common to all streams and hosts. Outside of its time a stream
//! offers nothing, and its results cover none of it.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use settings::{Diagnostic, SourceSpan};
use units::print_duration;

use crate::combination::StreamAt;
use crate::run::{Phases, Stream};
use crate::value::Value;

/// When a stream begins and ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveTime {
    /// Its start, in nanoseconds from the run's start.
    #[serde(default)]
    pub start_ns: u64,
    /// Its end, in nanoseconds from the run's start; `None` for that of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end_ns: Option<u64>,
}

impl ActiveTime {
    /// From the start of a run to its end.
    pub const WHOLE_RUN: ActiveTime = ActiveTime { start_ns: 0, end_ns: None };

    /// Whether it is the whole run, whatever its length.
    pub fn is_whole_run(&self) -> bool {
        *self == ActiveTime::WHOLE_RUN
    }

    /// Start and end in a run with these phases, in nanoseconds from its start.
    pub fn range_ns(&self, phases: &Phases) -> Range<u64> {
        let total_ns = phases.total_ns();
        self.start_ns.min(total_ns)..self.end_ns.unwrap_or(total_ns).min(total_ns)
    }

    /// The intervals `(first, end)` of the run's window in which the stream is active.
    pub fn window(&self, phases: &Phases) -> (u32, u32) {
        let (first, end) = phases.window();
        let active = self.range_ns(phases);
        let from = active.start.div_ceil(phases.interval_ns);
        let to = active.end / phases.interval_ns;
        (first.max(from as u32), end.min(to as u32))
    }
}

impl fmt::Display for ActiveTime {
    /// `from 10s to 40s`; empty for the whole run.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.start_ns, self.end_ns) {
            (0, None) => Ok(()),
            (start, None) => write!(f, "from {}", shown(start)),
            (0, Some(end)) => write!(f, "until {}", shown(end)),
            (start, Some(end)) => write!(f, "from {} to {}", shown(start), shown(end)),
        }
    }
}

fn shown(ns: u64) -> String {
    print_duration(Duration::from_nanos(ns))
}

/// The time of a stream at a load point; checked if the phases of the run are known.
pub(crate) fn of_stream(at: &StreamAt<'_, '_>, problems: &mut Vec<Diagnostic>) -> ActiveTime {
    let time = |name| match at.at(name) {
        Some((Value::Duration(ns), span)) => Some((*ns, span)),
        _ => None,
    };
    let (start, end) = (time("start"), time("end"));
    let start_ns = start.map_or(0, |(ns, _)| ns);
    if let Some(phases) = at.phases {
        check(at.name, (start, end), &phases, problems);
    }
    ActiveTime { start_ns, end_ns: end.map(|(ns, _)| ns) }
}

type Written<'e> = Option<(u64, &'e SourceSpan)>;

fn check(
    stream: &str,
    (start, end): (Written<'_>, Written<'_>),
    phases: &Phases,
    problems: &mut Vec<Diagnostic>,
) {
    let interval_ns = phases.interval_ns;
    let is_partial = |(ns, _): &(u64, &SourceSpan)| !ns.is_multiple_of(interval_ns);
    let partial: Vec<(&str, Written<'_>)> =
        vec![("start", start.filter(is_partial)), ("end", end.filter(is_partial))];
    for (key, written) in partial {
        let Some((ns, span)) = written else { continue };
        let next = shown(ns.div_ceil(interval_ns).saturating_mul(interval_ns));
        let wrong = format!("`{key}` of stream `{stream}` is not a whole number of intervals");
        let allowed = format!("a multiple of `interval` ({})", shown(interval_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(ns));
        problems.push(wrong.with_hint(format!("the next multiple: `{key} = \"{next}\"`")));
    }
    let start_ns = start.map_or(0, |(ns, _)| ns);
    let total_ns = phases.total_ns();
    if let Some((ns, span)) = start.filter(|(ns, _)| *ns >= total_ns) {
        let wrong = format!("stream `{stream}` starts after the end of the run");
        let allowed = format!("`start` before {}, the end of the run", shown(total_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(ns));
        problems.push(wrong.with_hint("start it earlier, or lengthen `measure`"));
    } else if let Some((ns, span)) = end.filter(|(ns, _)| *ns <= start_ns) {
        let wrong = format!("stream `{stream}` ends before it starts");
        let allowed = format!("`end` after `start` ({})", shown(start_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(ns));
        problems.push(wrong.with_hint("both are times from the start of the run"));
    } else if let Some((ns, span)) = end.filter(|(ns, _)| *ns <= phases.warm_up_ns) {
        let wrong = format!("stream `{stream}` ends before the window, so it is not measured");
        let allowed = format!("`end` after the warm-up ({})", shown(phases.warm_up_ns));
        let wrong = span.diagnostic(wrong, allowed).with_found(shown(ns));
        problems.push(wrong.with_hint("end it later, or shorten `warm_up`"));
    }
}

/// Refuses a run that continues after its last stream has ended.
///
/// * `span` - where the run is described
pub(crate) fn check_all(
    streams: &[Stream],
    phases: &Phases,
    span: &SourceSpan,
    problems: &mut Vec<Diagnostic>,
) {
    let ends = streams.iter().map(|stream| stream.active.range_ns(phases).end);
    let Some(last_ns) = ends.max().filter(|last_ns| *last_ns < phases.total_ns()) else { return };
    let measure_ns = last_ns.saturating_sub(phases.warm_up_ns);
    if measure_ns == 0 {
        return;
    }
    let wrong = span.diagnostic(
        "the run continues after its last stream has ended",
        format!("a stream that is active until {}, the end of the run", shown(phases.total_ns())),
    );
    let wrong = wrong.with_found(format!("the last stream ends at {}", shown(last_ns)));
    problems.push(wrong.with_hint(format!("`measure = \"{}\"`", shown(measure_ns))));
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const PHASES: Phases = Phases { warm_up_ns: 5 * S, measure_ns: 30 * S, interval_ns: S };

    #[test]
    fn the_window_of_a_stream_is_the_common_part_of_its_time_and_the_window_of_the_run() {
        for (start_ns, end_ns, expected) in [
            (0, None, (5, 35)),
            (10 * S, Some(20 * S), (10, 20)),
            (2 * S, Some(20 * S), (5, 20)),
            (10 * S, Some(90 * S), (10, 35)),
        ] {
            let active = ActiveTime { start_ns, end_ns };
            assert_eq!(active.window(&PHASES), expected, "{active}");
        }
    }

    #[test]
    fn a_time_in_words_omits_the_ends_of_the_run() {
        let words = |start, end| ActiveTime { start_ns: start, end_ns: end }.to_string();
        assert_eq!(words(0, None), "");
        assert_eq!(words(10 * S, None), "from 10s");
        assert_eq!(words(0, Some(40 * S)), "until 40s");
        assert_eq!(words(10 * S, Some(40 * S)), "from 10s to 40s");
    }
}
