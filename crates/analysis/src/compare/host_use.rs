//! Whether both sides of a comparison ran on the same host state: a difference between a quiet and
//! a busy hour of one host is none between two targets.
//!
//! For: steal and the processor time of other processes, which come from outside. Not for: the
//! run-queue delay of this process's threads and the CPU pressure, which the measurement causes
//! itself too, so that a faster target changes them.

use metrics::run_record::RunRecord;

use crate::host_state;
use crate::window;

/// Steal that differs by more than this share of the processors' time is another host state: a
/// hundredth moves a p99 (the same bound as for the warning of a noisy host).
const STEAL_APART: f64 = 0.01;
/// So is processor time of other processes beyond this share. The counters behind it have ticks of
/// 10 ms, and an idle system uses one or two hundredths.
const OTHERS_APART: f64 = 0.05;

/// The kernel counts in ticks of 10 ms for each processor. A few of them, at the edges of short
/// runs, are no difference.
const TICKS_NS: f64 = 5.0 * 10e6;

/// Who used the processors that fourcorners may use, during the windows of a load point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostUse {
    /// Share of their time that the hypervisor took, 0 to 1.
    pub steal: f64,
    /// Share that other processes used. Slightly negative where nothing else ran.
    pub others: f64,
    /// Shares that lie closer together than this may differ by the ticks of the counters alone.
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
        (self.first.steal - self.second.steal).abs() > STEAL_APART.max(self.resolution())
    }

    /// Whether the processor time of other processes differs.
    pub fn in_others(&self) -> bool {
        (self.first.others - self.second.others).abs() > OTHERS_APART.max(self.resolution())
    }

    fn resolution(&self) -> f64 {
        self.first.resolution.max(self.second.resolution)
    }

    /// What differs, the first side's value before the second's.
    pub fn in_words(&self) -> String {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share.max(0.0));
        let pair = |what: &str, a: f64, b: f64| {
            format!("{what} {} against {} of the processors' time", percent(a), percent(b))
        };
        let steal = self.in_steal().then(|| pair("steal", self.first.steal, self.second.steal));
        let others = self
            .in_others()
            .then(|| pair("other processes", self.first.others, self.second.others));
        steal.into_iter().chain(others).collect::<Vec<_>>().join(", ")
    }
}

/// Of all repeats of a load point together; `None` where the host was not read.
pub(super) fn of_records(records: &[&RunRecord]) -> Option<HostUse> {
    let intervals: Vec<_> = records.iter().flat_map(|record| window::measured(record)).collect();
    let summary = host_state::summary(&host_state::samples(&intervals), &[])?;
    Some(HostUse {
        steal: summary.steal?.value,
        others: summary.others?.value,
        resolution: TICKS_NS / (summary.span_ns as f64 * summary.processors?),
    })
}

/// Both where they differ materially; `None` where they do not, or one side was not read.
pub(super) fn contrast(first: Option<HostUse>, second: Option<HostUse>) -> Option<HostContrast> {
    let contrast = HostContrast { first: first?, second: second? };
    (contrast.in_steal() || contrast.in_others()).then_some(contrast)
}
