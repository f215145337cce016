//! The hosts that a run has lost while the others continue, followed from event to event, so that no
//! total is shown without them.

use analysis::fleet::MissingHosts;
use metrics::fleet::HostEvent;
use metrics::interval::Interval;
use workload::plan::Run;

use crate::event::Event;

/// The lost hosts of the current run.
#[derive(Clone, Debug, Default)]
pub struct LostHosts {
    /// Hosts of the run.
    of: usize,
    /// The planned length of its intervals, in nanoseconds.
    interval_ns: u64,
    /// Time from the run's start from which totals are without a host, in nanoseconds, of each.
    at_ns: Vec<u64>,
}

impl LostHosts {
    /// Takes the next event.
    pub fn take(&mut self, event: &Event) {
        match event {
            Event::RunStarted { run, .. } => self.begin(run),
            Event::HostEvent {
                event: HostEvent::Lost { at_ns, others_continued: true, .. },
                ..
            } => self.at_ns.push(*at_ns),
            _ => {}
        }
    }

    fn begin(&mut self, run: &Run) {
        let (of, interval_ns) = (run.hosts as usize, run.phases.interval_ns);
        *self = LostHosts { of, interval_ns, at_ns: Vec::new() };
    }

    /// Hosts of the run that are lost, now.
    pub const fn count(&self) -> usize {
        self.at_ns.len()
    }

    /// Hosts of the run.
    pub const fn of(&self) -> usize {
        self.of
    }

    /// Hosts that are missing from the totals of the whole run; `None` if there are none.
    pub fn missing(&self) -> Option<MissingHosts> {
        self.missing_at(u64::MAX)
    }

    /// Hosts that are missing from the total of an interval; `None` if there are none.
    pub fn missing_from(&self, interval: &Interval) -> Option<MissingHosts> {
        self.missing_at(u64::from(interval.index) * self.interval_ns)
    }

    fn missing_at(&self, at_ns: u64) -> Option<MissingHosts> {
        let lost = || self.at_ns.iter().copied().filter(|lost_ns| *lost_ns <= at_ns);
        let from_ns = lost().min()?;
        Some(MissingHosts {
            remaining: self.of.saturating_sub(lost().count()),
            of: self.of,
            from_ns,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_without_the_hosts_that_were_lost_before_it() {
        let mut hosts = LostHosts { of: 3, interval_ns: 250, at_ns: Vec::new() };
        let interval = |index: u32| Interval { index, ..Interval::default() };
        assert_eq!((hosts.missing(), hosts.missing_from(&interval(9))), (None, None));
        let lost = |host: u32, at_ns: u64, others_continued: bool| Event::HostEvent {
            run_index: 0,
            host,
            event: HostEvent::Lost { at_ns, why: "killed".to_owned(), others_continued },
        };
        hosts.take(&lost(2, 1_000, true));
        hosts.take(&lost(0, 750, true));
        let missing = |remaining: usize| Some(MissingHosts { remaining, of: 3, from_ns: 750 });
        assert_eq!(hosts.missing_from(&interval(2)), None);
        assert_eq!(hosts.missing_from(&interval(3)), missing(2));
        assert_eq!(hosts.missing_from(&interval(4)), missing(1));
        assert_eq!(hosts.missing(), missing(1));
        hosts.take(&lost(1, 0, false));
        assert_eq!(hosts.count(), 2, "a run that fails has no totals without a host");
    }
}
