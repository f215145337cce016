//! When all hosts of a fleet measured together, and which time the totals cover.
//!
//! Totals cover the whole intervals of the measure phase. They include time in which not all hosts
//! measured if a host started after the warm-up, or was lost while the others continued.

use metrics::fleet::HostRun;
use metrics::run_record::RunRecord;

use crate::window;

/// Edges of intervals are at most this share of an interval away from where they belong.
const EDGE_MAX: f64 = 0.01;

/// The time that is common to all hosts. Times are from the start of a run, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommonWindow {
    /// Runs of several hosts.
    pub runs: u32,
    /// Those in which not all hosts measured at the same time.
    pub runs_without: u32,
    /// From the last start, the latest of the other runs, to the first end or loss of a host, the
    /// earliest of them and at most the planned end; `None` if there are no others.
    pub span_ns: Option<(u64, u64)>,
    /// What totals cover, from the earliest to the latest of all runs; `None` without an interval.
    pub totals_ns: Option<(u64, u64)>,
    /// Runs whose totals include time in which not all hosts measured.
    pub runs_beyond: u32,
}

impl CommonWindow {
    /// Of all runs on several hosts; `None` if there are none, or if no start is known.
    pub fn of(runs: &[RunRecord]) -> Option<CommonWindow> {
        let several = runs.iter().filter(|run| run.hosts.len() > 1);
        several.filter_map(CommonWindow::of_run).reduce(|all, run| CommonWindow {
            runs: all.runs + run.runs,
            runs_without: all.runs_without + run.runs_without,
            span_ns: both(all.span_ns, run.span_ns, |(a, b), (c, d)| (a.max(c), b.min(d))),
            totals_ns: both(all.totals_ns, run.totals_ns, |(a, b), (c, d)| (a.min(c), b.max(d))),
            runs_beyond: all.runs_beyond + run.runs_beyond,
        })
    }

    fn of_run(record: &RunRecord) -> Option<CommonWindow> {
        let phases = &record.run.phases;
        // The start of a host that was lost is not known, but it delivered intervals.
        let starts_ns = record.hosts.iter().filter_map(|host| Some(host.started()?.0));
        let from_ns = starts_ns.max()?;
        let to_ns = record.hosts.iter().map(end_ns).min()?.min(phases.total_ns());
        let measured = window::common(record);
        let totals_ns = measured.first().zip(measured.last());
        let totals_ns = totals_ns.map(|(first, last)| (first.start_ns, last.end_ns));
        let edge_ns = (phases.interval_ns as f64 * EDGE_MAX) as u64;
        let is_beyond = totals_ns.is_some_and(|(first_ns, last_ns)| {
            first_ns + edge_ns < from_ns || last_ns > to_ns + edge_ns
        });
        let span_ns = (from_ns < to_ns).then_some((from_ns, to_ns));
        Some(CommonWindow {
            runs: 1,
            runs_without: u32::from(span_ns.is_none()),
            span_ns,
            totals_ns,
            runs_beyond: u32::from(is_beyond),
        })
    }
}

/// Both spans as one, or the one that is known.
fn both<T>(a: Option<T>, b: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(merge(a, b)),
        (known, None) | (None, known) => known,
    }
}

/// The end of what a host delivered.
fn end_ns(host: &HostRun) -> u64 {
    host.intervals.last().map_or(0, |last| last.end_ns)
}
