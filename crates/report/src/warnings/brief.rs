//! Warnings in a few words, for lists of caveats.

use metrics::warning::Warning;

/// The kind of warning in a few words.
pub(crate) const fn brief(warning: &Warning) -> &'static str {
    match warning {
        Warning::GeneratorBusy { .. } => "a worker used nearly all of its processor",
        Warning::ProcessorsBusy { .. } => "the generator used nearly all processors",
        Warning::ThreadsShareProcessors { .. } => "threads share processors",
        Warning::ScheduleDelayHigh { .. } => "operations were sent late",
        Warning::Overloaded { .. } => "overloaded",
        Warning::NotSteady { .. } => "not in steady state",
        Warning::RoundsDiffer { .. } => "rounds of the window differ",
        Warning::WarmUpTooShort { .. } => "warm-up too short",
        Warning::OutlierIntervals { .. } => "outlier intervals",
        Warning::WindowTooShort { intervals: 0 } => "no complete interval",
        Warning::WindowTooShort { .. } => "window too short",
        Warning::FewSamplesForPercentile { .. } => "too few samples for a percentile",
        Warning::LittleMismatch { .. } => "Little's law does not hold",
        Warning::WorkingSetFitsCache { .. } => "the working set fits into this host's memory",
        Warning::WorkingSetFitsServerCache { .. } => {
            "a cache of the file server may hold the working set"
        }
        Warning::ErrorsSeen { .. } => "operations failed",
        Warning::RepeatsDisagree { .. } => "repeats disagree",
        Warning::OutlierRepeat { .. } => "one repeat is an outlier",
        Warning::HostNoisy { .. } => "the hypervisor took processor time",
        Warning::EndedEarly { .. } => "a run ended early",
        Warning::ConnectionsUneven { .. } => "connections carried unequal shares",
        Warning::ConnectionReestablished { .. } => "connections were lost and replaced",
        Warning::ServerRestarted { .. } => "the server restarted or lost its cache",
        Warning::ServedFromCache { is_read: true, .. } => "a client cache served reads",
        Warning::ServedFromCache { .. } => "a client cache held writes back",
        Warning::NotStorage { .. } => "direct I/O may not have reached a device",
        Warning::ScrapesFailed { .. } => "metrics of another system could not be read",
        Warning::ScrapedDamaged { .. } => "stored metrics of other systems are damaged",
        Warning::OnHosts { warning, .. } => brief(warning),
        Warning::HostsLost { .. } => "hosts were lost",
        Warning::HostsStartedApart { .. } => "hosts did not start together",
        Warning::HostsDiffer { .. } => "hosts differ in their settings",
        Warning::SpoolFailed { .. } => "spool not written",
        Warning::WallClockOff { .. } => "wall clock wrong",
        Warning::HostSlower { .. } => "one host was slower than the others",
    }
}
