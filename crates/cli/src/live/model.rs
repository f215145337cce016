//! What the live screen shows, followed from event to event. It reads no clock and draws nothing;
//! [`super::screen`] lays it out.

use std::time::Instant;

use analysis::series::{PointPhase, SeriesPoint, WindowSoFar, points_of, total_of};
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use metrics::warning::Warning;
use report::number::TimeUnit;
use runner::event::{Event, Phase};
use runner::lost_hosts::LostHosts;
use units::thousands;
use workload::plan::{Plan, Run};

use super::fill::Fill;
use super::history::History;
use super::position::Position;
use super::quantities::Quantities;
use super::{HostNews, ended_words, engine_words, hosts_words, prepared_words};
use crate::connection_state::ConnectionState;

/// The state of an experiment that is being measured.
#[derive(Debug)]
pub(super) struct LiveModel {
    /// The experiment and its target.
    pub(super) title: String,
    pub(super) position: Position,
    /// Those of all streams of the plan.
    pub(super) quantities: Quantities,
    pub(super) phase: Phase,
    /// The fill in progress.
    pub(super) fill: Option<Fill>,
    pub(super) run: Option<CurrentRun>,
    /// The shortest and the longest time of all runs, in nanoseconds, so that the unit of times
    /// seldom changes.
    times_ns: [f64; 2],
    pub(super) history: History,
    /// The load points that are done, by workload variant.
    pub(super) done: Vec<DoneVariant>,
    /// News of the hosts, if there are several.
    hosts: HostNews,
    /// Those that the current run has lost.
    pub(super) lost: LostHosts,
    /// The last message.
    pub(super) notice: Option<Notice>,
}

/// The run in progress.
#[derive(Debug)]
pub(super) struct CurrentRun {
    pub(super) run: Box<Run>,
    /// End of the last interval, in nanoseconds from the run's start.
    pub(super) elapsed_ns: u64,
    /// Each stream with its last interval.
    pub(super) streams: Vec<(String, Option<SeriesPoint>)>,
    window: WindowSoFar,
    pub(super) connections: ConnectionState,
}

/// The load points of a workload variant that are done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DoneVariant {
    pub(super) name: String,
    /// The number of its latest run.
    pub(super) latest_run: u32,
    /// What its operations per second are called.
    pub(super) rate_unit: &'static str,
    /// The load and its rate: `QD 4` and `8,534`, or `8,534 (23/24 hosts)`.
    pub(super) points: Vec<(String, String)>,
}

/// A message on the screen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Notice {
    pub(super) text: String,
    pub(super) is_warning: bool,
}

impl LiveModel {
    pub(super) fn new(plan: &Plan) -> LiveModel {
        let targets: Vec<String> = plan.targets.iter().map(|target| target.in_words()).collect();
        LiveModel {
            title: format!("{} on {}", plan.name, targets.join(" and ")),
            position: Position::new(plan),
            quantities: Quantities::of(plan.model_streams()),
            phase: Phase::Prepare,
            fill: None,
            run: None,
            times_ns: [f64::INFINITY, 0.0],
            history: History::default(),
            done: Vec::new(),
            hosts: HostNews::default(),
            lost: LostHosts::default(),
            notice: None,
        }
    }

    /// Takes the next event, which happened at `now`.
    pub(super) fn take(&mut self, event: &Event, now: Instant) {
        self.lost.take(event);
        match event {
            Event::IoMethodChosen(used) => self.notice(engine_words(used), false),
            Event::PhaseStarted { phase, .. } => self.phase = *phase,
            Event::PrepareProgress { stream, done, total } => {
                Fill::progress(&mut self.fill, stream, [*done, *total], now);
            }
            Event::PrepareFinished(prepared) => {
                self.fill = None;
                self.notice(prepared_words(prepared), false);
            }
            Event::RunStarted { run, .. } => {
                self.position.run_started(run);
                self.phase = Phase::WarmUp;
                self.run = Some(CurrentRun::new(run));
            }
            Event::Interval { interval, .. } => self.interval(interval),
            Event::FleetReady { hosts } => self.hosts.ready(hosts),
            Event::HostEvent { host, event, .. } => {
                if let Some(words) = self.hosts.words(*host, event) {
                    self.notice(words, true);
                }
            }
            // Reported by RunFinished.
            Event::Warning { warning: Warning::EndedEarly { .. }, .. } => {}
            Event::Warning { warning, .. } => {
                self.notice(format!("warning: {}", report::warnings::found(warning)), true);
            }
            Event::RunFinished { outcome, .. } => self.run_finished(outcome),
            // Service-side counters and trees are reported for all runs together, at the end.
            Event::ServiceCounters { .. }
            | Event::TreesCompared { .. }
            | Event::HostInterval { .. }
            | Event::Finished { .. } => {}
        }
    }

    /// Whether one run has ended and the next has not started.
    pub(super) fn is_between_runs(&self) -> bool {
        self.run.is_none() && self.position.runs_started > 0
    }

    /// The unit of the times in the table.
    pub(super) fn time_unit(&self) -> TimeUnit {
        TimeUnit::of(self.times_ns)
    }

    fn notice(&mut self, text: String, is_warning: bool) {
        self.notice = Some(Notice { text, is_warning });
    }

    fn interval(&mut self, interval: &Interval) {
        let Some(current) = &mut self.run else { return };
        let changed = current.interval(interval);
        for ns in current.times_ns() {
            self.times_ns = [self.times_ns[0].min(ns), self.times_ns[1].max(ns)];
        }
        // The last interval may be microseconds long, in which the last operations complete.
        if interval.end_ns - interval.start_ns >= current.run.phases.interval_ns {
            self.history.add(total_of(&current.run, interval), self.lost.missing_from(interval));
        }
        if let Some(changed) = changed {
            self.notice(changed, true);
        }
    }

    fn run_finished(&mut self, outcome: &Outcome) {
        let Some(current) = self.run.take() else { return };
        let run = &current.run;
        self.position.run_finished(run);
        if let Some(total) = current.window.total(run) {
            let rate = thousands(total.achieved_rate.get().round() as u64);
            let point = (load_words(run), format!("{rate}{}", hosts_words(self.lost.missing())));
            let latest_run = self.position.runs_started;
            match self.done.iter_mut().find(|variant| variant.name == run.variant) {
                Some(variant) => variant.add(point, latest_run),
                None => {
                    let name = run.variant.clone();
                    let rate_unit = Quantities::of(&run.streams).rate_unit();
                    let points = vec![point];
                    self.done.push(DoneVariant { name, latest_run, rate_unit, points });
                }
            }
        }
        if let Some(words) = ended_words(outcome) {
            self.notice(words, true);
        }
    }
}

impl CurrentRun {
    fn new(run: &Run) -> CurrentRun {
        CurrentRun {
            run: Box::new(run.clone()),
            elapsed_ns: 0,
            streams: run.streams.iter().map(|stream| (stream.name.clone(), None)).collect(),
            window: WindowSoFar::default(),
            connections: ConnectionState::default(),
        }
    }

    /// Takes the next interval; returns a line if a connection was lost or restored.
    fn interval(&mut self, interval: &Interval) -> Option<String> {
        self.elapsed_ns = interval.end_ns;
        self.window.add(&self.run, interval);
        let points = points_of(&self.run, interval);
        if points.iter().all(|point| point.phase != PointPhase::CoolDown) {
            for (stream, point) in self.streams.iter_mut().zip(points) {
                stream.1 = Some(point);
            }
        }
        self.connections.observe(interval)
    }

    /// The times in the table.
    fn times_ns(&self) -> impl Iterator<Item = f64> {
        self.streams.iter().filter_map(|(_, point)| point.as_ref()).flat_map(|point| {
            let mean = point.response_mean.map(|mean| mean.0);
            mean.into_iter().chain(point.response_p99_ns.map(|ns| ns as f64))
        })
    }
}

impl DoneVariant {
    /// Adds a load point; a repeat replaces the earlier one.
    fn add(&mut self, point: (String, String), latest_run: u32) {
        self.latest_run = latest_run;
        match self.points.iter_mut().find(|known| known.0 == point.0) {
            Some(known) => *known = point,
            None => self.points.push(point),
        }
    }
}

/// The load of a load point, short: `QD 4`, `log QD 4`, `arrival=10k/s`; empty without a sweep.
fn load_words(run: &Run) -> String {
    let words = run.parameters.iter().map(|(key, value)| {
        match key.strip_suffix("queue_depth").map(|stream| stream.trim_end_matches('.')) {
            Some("") => format!("QD {value}"),
            Some(stream) => format!("{stream} QD {value}"),
            None => format!("{key}={value}"),
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A load point on the screen: `random read 8 KiB, QD 4`.
pub(super) fn point_words(run: &Run) -> String {
    match load_words(run).as_str() {
        "" => run.variant.clone(),
        load => format!("{}, {load}", run.variant),
    }
}
