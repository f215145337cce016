//! Overload: whether an open schedule was kept.

use metrics::run_record::RunRecord;
use units::OpsPerSec;
use workload::op::OpKind;

use crate::window::{self, WindowSums};

/// An offered rate that was not met: the backlog grew over the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Overload {
    /// Offered operations.
    pub offered_rate: OpsPerSec,
    /// Completed operations.
    pub achieved_rate: OpsPerSec,
    /// Growth of the backlog over the window, in operations.
    pub backlog_growth: u64,
}

/// Tolerated growth of the backlog as a share of the operations due in the window. A Poisson
/// schedule has temporary backlogs, but not of 1 % of all operations.
const GROWTH_MAX: f64 = 0.01;

/// Overload of a window: the backlog grew by more than `queue_depth_total` operations and by more
/// than 1 % of those due. `None` in a closed loop, or if the schedule was kept.
pub(crate) fn judge(
    measured: &WindowSums<'_>,
    offered_rate: Option<OpsPerSec>,
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

/// Overload of one stream of a run, with its backlog at the end of the window.
pub(crate) fn of_run(record: &RunRecord, stream: usize) -> Option<(Overload, u64)> {
    let planned = record.run.streams.get(stream)?;
    let intervals = window::of_stream(record, planned);
    let (first, last) = (intervals.first()?, intervals.last()?);
    let offered_rate = planned.arrival.offered_rate(first.start_ns, last.end_ns)?;
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

/// Counters of a window.
struct Seen {
    window_s: f64,
    completed: f64,
    growth: u64,
}

fn judged(seen: &Seen, offered_rate: OpsPerSec, queue_depth_total: u64) -> Option<Overload> {
    let Seen { window_s, completed, growth } = *seen;
    let tolerated = (offered_rate.get() * window_s * GROWTH_MAX).max(queue_depth_total as f64);
    (growth as f64 > tolerated).then(|| Overload {
        offered_rate,
        achieved_rate: OpsPerSec::new(completed / window_s),
        backlog_growth: growth,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backlog_may_grow_by_the_queue_depth_or_by_one_percent_of_the_operations() {
        let judge = |growth, depth| {
            let seen = Seen { window_s: 10.0, completed: 4500.0, growth };
            judged(&seen, OpsPerSec::new(500.0), depth)
        };
        // 5,000 operations were due: one percent is 50.
        assert_eq!((judge(50, 1), judge(64, 64)), (None, None));
        let over = judge(51, 1).expect("more than one percent");
        assert_eq!((over.achieved_rate.get(), over.backlog_growth), (450.0, 51));
        assert_eq!(over.offered_rate.get(), 500.0);
        assert!(judge(65, 64).is_some());
    }
}
