//! Whether an open schedule was kept.

use metrics::run_record::RunRecord;
use workload::op::OpKind;

use crate::window::{self, Measured};

/// A schedule that could not be kept: the backlog grew over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// Operations per second asked for.
    pub offered_rate: f64,
    /// Operations per second completed.
    pub achieved_rate: f64,
    /// By how many operations the backlog grew from the window's start to its end.
    pub backlog_growth: u64,
}

/// The backlog may grow by this share of the operations due in the window before the schedule
/// counts as not kept. A Poisson schedule leaves a backlog now and then that is worked off later;
/// one that grows by a hundredth of all operations is not worked off.
const GROWTH_MAX: f64 = 0.01;

/// Judges a window: overloaded when the backlog grew by more than `queue_depth_total` operations
/// and by more than a hundredth of those due. `None` in a closed loop, and where the schedule was
/// kept.
pub(crate) fn judge(
    measured: &Measured<'_>,
    offered_rate: Option<f64>,
    queue_depth_total: u64,
) -> Option<Overload> {
    let offered_rate = offered_rate?;
    let seen = Seen {
        window_s: measured.length_ns.iter().sum::<f64>() / 1e9,
        completed: measured.together(&OpKind::ALL).completed.iter().sum(),
        growth: measured.backlog_end.saturating_sub(measured.backlog_start),
    };
    judged(&seen, offered_rate, queue_depth_total)
}

/// The same of one stream of a run, without its histograms; and its backlog when the window ended.
pub(crate) fn of_run(record: &RunRecord, stream: usize) -> Option<(Overload, u64)> {
    let planned = record.run.streams.get(stream)?;
    let offered_rate = planned.arrival.offered_rate()?;
    let intervals = window::measured(record);
    let (first, last) = (intervals.first()?, intervals.last()?);
    let of = |interval: &metrics::interval::Interval| {
        interval.streams.get(stream).map_or(0, |stream| stream.backlog_end)
    };
    let before = record.intervals.iter().find(|i| first.index.checked_sub(1) == Some(i.index));
    let kinds = intervals.iter().filter_map(|i| i.streams.get(stream)).flat_map(|s| &s.kinds);
    let length_ns: u64 = intervals.iter().map(|i| i.end_ns - i.start_ns).sum();
    let seen = Seen {
        window_s: length_ns as f64 / 1e9,
        completed: kinds.map(|kind| kind.completed as f64).sum(),
        growth: of(last).saturating_sub(before.map_or(0, of)),
    };
    Some((judged(&seen, offered_rate, planned.queue_depth_total())?, of(last)))
}

/// What was seen of a window.
struct Seen {
    window_s: f64,
    completed: f64,
    growth: u64,
}

fn judged(seen: &Seen, offered_rate: f64, queue_depth_total: u64) -> Option<Overload> {
    let Seen { window_s, completed, growth } = *seen;
    let tolerated = (offered_rate * window_s * GROWTH_MAX).max(queue_depth_total as f64);
    (growth as f64 > tolerated).then(|| Overload {
        offered_rate,
        achieved_rate: completed / window_s,
        backlog_growth: growth,
    })
}
