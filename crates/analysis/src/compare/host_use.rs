//! Compares the host state of both sides: a difference between a quiet and a busy hour of a host is
//! not a difference between targets.
//!
//! For: steal and processor time of other processes, which are external. Not for: run-queue delay
//! of this process and CPU pressure, which the measurement also causes, so a faster target changes
//! them.

use metrics::run_record::RunRecord;

use crate::host_state;
use crate::window;

/// Steal that differs by more than this share of processor time is a different host state: 1 %
/// moves a p99 (the same bound as for the warning about a noisy host).
const STEAL_DIFFERENCE_MAX: f64 = 0.01;
/// The same for other processes. The counters have ticks of 10 ms, and an idle system uses 1 % or 2
/// %.
const OTHERS_DIFFERENCE_MAX: f64 = 0.05;

/// A difference of a few kernel ticks (10 ms each) at the edges of short runs does not count.
const TICKS_NS: f64 = 5.0 * 10e6;

/// Use of the processors available to fourcorners during the windows of a load point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostUse {
    /// Share of time taken by the hypervisor, 0 to 1.
    pub steal: f64,
    /// Share used by other processes; may be slightly negative if nothing else ran.
    pub others: f64,
    /// Resolution of the shares, due to kernel ticks.
    pub resolution: f64,
}

/// The host states of two sides that differ materially.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostContrast {
    /// During the first side's runs.
    pub first: HostUse,
    /// During the second side's.
    pub second: HostUse,
}

impl HostContrast {
    /// Whether steal differs.
    pub fn in_steal(&self) -> bool {
        (self.first.steal - self.second.steal).abs() > STEAL_DIFFERENCE_MAX.max(self.resolution())
    }

    /// Whether the processor time of other processes differs.
    pub fn in_others(&self) -> bool {
        (self.first.others - self.second.others).abs()
            > OTHERS_DIFFERENCE_MAX.max(self.resolution())
    }

    fn resolution(&self) -> f64 {
        self.first.resolution.max(self.second.resolution)
    }
}

/// All repeats of a load point together; `None` without host counters.
pub(super) fn of_records(records: &[&RunRecord]) -> Option<HostUse> {
    let intervals: Vec<_> = records.iter().flat_map(|record| window::measured(record)).collect();
    let summary = host_state::summary(&host_state::samples(&intervals), &[])?;
    Some(HostUse {
        steal: summary.steal?.value,
        others: summary.others?.value,
        resolution: TICKS_NS / (summary.span_ns as f64 * summary.processors?),
    })
}

/// Both host states if they differ materially; `None` otherwise, or without counters of one side.
pub(super) fn contrast(first: Option<HostUse>, second: Option<HostUse>) -> Option<HostContrast> {
    let contrast = HostContrast { first: first?, second: second? };
    (contrast.in_steal() || contrast.in_others()).then_some(contrast)
}
