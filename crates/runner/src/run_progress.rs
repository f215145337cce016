//! The progress of one run: its phases, intervals and failures.

use std::ops::ControlFlow;

use analysis::service_check::GeneratorCounts;
use metrics::interval::Interval;
use workload::plan::Run;

use crate::announce::{Announcer, not_kept};
use crate::event::{Event, Phase};
use crate::fleet::Progress;
use crate::tolerance::Tolerance;

/// Forwards the intervals and phases of one run, and counts its failures.
pub(crate) struct RunProgress<'p, 'a> {
    run_index: u32,
    window: (u32, u32),
    tolerance: Tolerance,
    /// Our counters so far, to be compared with the service's.
    pub(crate) our_counters: GeneratorCounts,
    /// Why the run was ended, if too many operations failed.
    pub(crate) too_many_failed: Option<String>,
    /// The intervals, if a search needs them.
    pub(crate) intervals: Option<Vec<Interval>>,
    announcer: &'p mut Announcer<'a>,
}

impl<'p, 'a> RunProgress<'p, 'a> {
    /// * `host_names` - of a fleet's hosts; empty without a fleet
    pub(crate) fn begin(
        run: &Run,
        is_export: bool,
        keep: bool,
        host_names: Vec<String>,
        announcer: &'p mut Announcer<'a>,
    ) -> RunProgress<'p, 'a> {
        let mut progress = RunProgress {
            run_index: run.index,
            window: run.phases.window(),
            tolerance: Tolerance::new(run.tolerated_errors, is_export, host_names),
            our_counters: GeneratorCounts::default(),
            too_many_failed: None,
            intervals: keep.then(Vec::new),
            announcer,
        };
        let phase = if progress.window.0 == 0 { Phase::Measure } else { Phase::WarmUp };
        progress.enter(phase);
        progress
    }

    fn enter(&mut self, phase: Phase) {
        let run_index = Some(self.run_index);
        self.announcer.send(&Event::PhaseStarted { run_index, phase });
    }

    /// Takes what became known; breaks with a reason if the run must end.
    pub(crate) fn take(&mut self, progress: Progress) -> ControlFlow<String> {
        let run_index = self.run_index;
        let event = match progress {
            Progress::Interval(interval) => return self.take_interval(interval),
            Progress::HostInterval(host, interval) => {
                self.tolerance.count_on_host(host, &interval);
                Event::HostInterval { run_index, host, interval: Box::new(interval) }
            }
            Progress::HostEvent(host, event) => Event::HostEvent { run_index, host, event },
            Progress::Warning(warning) => Event::Warning { run_index: Some(run_index), warning },
        };
        self.announcer.send(&event);
        match self.announcer.failure() {
            Some(failure) => ControlFlow::Break(not_kept(failure)),
            None => ControlFlow::Continue(()),
        }
    }

    fn take_interval(&mut self, interval: Interval) -> ControlFlow<String> {
        let next = interval.index + 1;
        let tolerated = self.tolerance.count(&interval);
        self.our_counters.add(&interval);
        if let Some(intervals) = &mut self.intervals {
            intervals.push(interval.clone());
        }
        let interval = Box::new(interval);
        self.announcer.send(&Event::Interval { run_index: self.run_index, interval });
        let (first, end) = self.window;
        if next == end {
            self.enter(Phase::CoolDown);
        } else if next == first {
            self.enter(Phase::Measure);
        }
        if let Some(failure) = self.announcer.failure() {
            return ControlFlow::Break(not_kept(failure));
        }
        if let Err(reason) = tolerated {
            self.too_many_failed = Some(reason.clone());
            return ControlFlow::Break(reason);
        }
        ControlFlow::Continue(())
    }
}
