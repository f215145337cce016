//! Placeholder until host state is recorded.
use crate::estimate::Estimate;
/// What the host's processors did in a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HostSummary {
    /// Share of the allowed processors that was busy.
    pub busy: Option<Estimate>,
    /// Processors that this process used.
    pub own_used: Option<Estimate>,
    /// Processors that other processes used.
    pub others: Option<Estimate>,
    /// Share of the processors' time that the hypervisor took.
    pub steal: Option<Estimate>,
    /// Threads of this process that waited for a processor, on average.
    pub run_delay: Option<Estimate>,
    /// Share of one processor that the thread of our own service used.
    pub service: Option<Estimate>,
}
