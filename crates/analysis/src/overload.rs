//! Whether an open schedule was kept.

use workload::op::OpKind;

use crate::window::Measured;

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
    let window_s = measured.length_ns.iter().sum::<f64>() / 1e9;
    let growth = measured.backlog_end.saturating_sub(measured.backlog_start);
    let tolerated = (offered_rate * window_s * GROWTH_MAX).max(queue_depth_total as f64);
    let completed: f64 = measured.together(&OpKind::ALL).completed.iter().sum();
    (growth as f64 > tolerated).then(|| Overload {
        offered_rate,
        achieved_rate: completed / window_s,
        backlog_growth: growth,
    })
}
