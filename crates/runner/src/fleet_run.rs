//! One run on several hosts: when they start together, what all of them measured, and what a lost host
//! means for it.
//!
//! A core without I/O and without a clock: the caller passes what the hosts say and the time, and
//! performs the [`RunAction`]s. Each host's share ends, or the host is lost within a stated time, so
//! every run ends.

use std::collections::VecDeque;
use std::time::Duration;

use engine::run::RunEnd;
use metrics::fleet::{Gather, HostEvent};
use metrics::interval::Interval;
use metrics::run_record::Outcome;
use units::print_whole_seconds;
use workload::plan::Run;

use crate::fleet::Progress;
use crate::overdue::{self, NAMED_AFTER_NS, WaitReports};

/// Time for the start to reach every host, in addition to the round trips.
const START_LEAD_NS: u64 = 100_000_000;
/// Time for the end of a stopped run to reach every host.
const STOP_LEAD_NS: u64 = 1_000_000_000;
/// A host that does not open its files, or check them after the run, within this time is lost. Its engine
/// gives up after 60 s.
pub const READY_WITHIN_NS: u64 = 70_000_000_000;
/// A host that runs and delivers no interval for this long, and an interval, is lost although it is alive.
pub const STALLED_AFTER_NS: u64 = 8_000_000_000;
/// Time for an interval to arrive after its end, before its host is named, in nanoseconds.
const INTERVAL_LATE_NS: u64 = 2_000_000_000;

/// Two clocks run apart by at most this much, in millionths of the time: each quartz is off by at most 50 ppm.
const DRIFT_MAX_PPM: u64 = 100;

/// What a lost host means.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLost {
    /// The run fails.
    #[default]
    Fail,
    /// The others continue, and every total says without whom.
    Continue,
}

/// What the caller has to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunAction {
    /// Sample a host's clock, and pass it to [`FleetRun::clock_sampled`].
    SampleClock {
        /// The host's position in the fleet.
        host: usize,
    },
    /// Start a host's share.
    Go {
        /// The host's position in the fleet.
        host: usize,
        /// The instant, by the host's monotonic clock, in nanoseconds.
        start_ns: u64,
        /// The instant is at most this much earlier or later there, in nanoseconds.
        clock_error_ns: u64,
    },
    /// End a host's share at an edge of its intervals.
    EndAt {
        /// The host's position in the fleet.
        host: usize,
        /// Time from the run's start, in nanoseconds.
        end_ns: u64,
    },
    /// Stop a host's share now.
    Stop {
        /// The host's position in the fleet.
        host: usize,
    },
    /// Report that a host makes no progress. It is not lost.
    ReportWait {
        /// The host's position in the fleet.
        host: usize,
        /// What it does for long, in words.
        wait: String,
    },
    /// End the session with a host.
    GiveUp {
        /// The host's position in the fleet.
        host: usize,
        /// The reason.
        why: String,
    },
}

/// The request to stop a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopLevel {
    /// None.
    None,
    /// At the end of an interval.
    AtInterval,
    /// Now.
    Now,
}

/// A host's clock: its monotonic clock minus the caller's, and the error of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostClock {
    /// The difference, in nanoseconds.
    pub ahead_ns: i64,
    /// At most this much too high or too low when it was sampled.
    pub error_ns: u64,
    /// When it was sampled, by the caller's clock, in nanoseconds.
    pub sampled_ns: u64,
}

impl HostClock {
    /// The error at another time of the caller's clock, in nanoseconds.
    pub const fn error_at(self, at_ns: u64) -> u64 {
        self.error_ns + (at_ns.abs_diff(self.sampled_ns) * DRIFT_MAX_PPM).div_ceil(1_000_000)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It opens its files.
    Preparing,
    /// It waits for the start.
    Ready,
    Running,
    /// It has delivered its intervals and checks its files.
    Checking,
    /// Its share has ended, or it is lost.
    Over,
}

#[derive(Debug)]
struct Member {
    name: String,
    stage: Stage,
    /// Since every host was ready.
    clock: Option<HostClock>,
    /// It was requested to sample the clock.
    is_sampling: bool,
    /// Of the common instant on this host, in nanoseconds.
    start_error_ns: Option<u64>,
    /// Intervals delivered.
    delivered: u32,
    /// When it last delivered something.
    heard_ns: u64,
    /// Reports about the time since then.
    wait_reports: WaitReports,
    /// Time up to its last interval in which operations were in flight and none ended.
    idle_ns: u64,
    /// Reports about that time.
    idle_reports: WaitReports,
    /// Its share has ended; otherwise a host whose stage is over is lost.
    has_ended: bool,
}

impl Member {
    /// The start waits for its clock.
    const fn is_awaited(&self) -> bool {
        self.is_sampling && self.clock.is_none()
    }
}

/// A run on several hosts.
#[derive(Debug)]
pub struct FleetRun {
    members: Vec<Member>,
    gather: Gather,
    interval_ns: u64,
    on_lost: OnLost,
    /// The common start, by the caller's clock.
    start_ns: Option<u64>,
    stopped: StopLevel,
    /// When a tick first saw that the run was stopped.
    stop_seen_ns: Option<u64>,
    end: RunEnd,
    progress: VecDeque<Progress>,
    actions: VecDeque<RunAction>,
}

impl FleetRun {
    /// A run whose shares were sent to all hosts that are not `lost` already.
    ///
    /// * `names` - of all hosts, in their order
    /// * `lost` - why a host takes no part
    /// * `with_wire` - the hosts are separate machines, whose counters can be added
    pub fn new(
        run: &Run,
        names: &[String],
        lost: &[Option<String>],
        on_lost: OnLost,
        with_wire: bool,
        now_ns: u64,
    ) -> FleetRun {
        let member = |name: &String| Member {
            name: name.clone(),
            stage: Stage::Preparing,
            clock: None,
            is_sampling: false,
            start_error_ns: None,
            delivered: 0,
            heard_ns: now_ns,
            wait_reports: WaitReports::default(),
            idle_ns: 0,
            idle_reports: WaitReports::default(),
            has_ended: false,
        };
        let mut all = FleetRun {
            members: names.iter().map(member).collect(),
            gather: Gather::new(names.len(), with_wire),
            interval_ns: run.phases.interval_ns,
            on_lost,
            start_ns: None,
            stopped: StopLevel::None,
            stop_seen_ns: None,
            end: RunEnd::of(Outcome::Done),
            progress: VecDeque::new(),
            actions: VecDeque::new(),
        };
        for (host, why) in lost.iter().enumerate() {
            if let Some(why) = why {
                all.lost(host, why);
            }
        }
        all
    }

    /// The next thing that the caller has to do.
    pub fn next_action(&mut self) -> Option<RunAction> {
        self.actions.pop_front()
    }

    /// The next thing that became known.
    pub fn next_progress(&mut self) -> Option<Progress> {
        self.progress.pop_front()
    }

    /// Whether every host's share has ended.
    pub fn is_over(&self) -> bool {
        self.members.iter().all(|member| member.stage == Stage::Over)
    }

    /// A host has opened its files and waits for the start.
    pub fn ready(&mut self, host: usize, now_ns: u64) {
        if self.members[host].stage == Stage::Preparing {
            self.members[host].stage = Stage::Ready;
            self.start_if_all_are_ready(now_ns);
        }
    }

    /// A host's clock was sampled, as requested.
    pub fn clock_sampled(&mut self, host: usize, clock: HostClock, now_ns: u64) {
        if self.members[host].is_sampling {
            self.members[host].clock = Some(clock);
            self.start_if_all_are_ready(now_ns);
        }
    }

    /// Samples the clocks once every host is ready, because clocks run apart while hosts open their files,
    /// and starts the shares then.
    fn start_if_all_are_ready(&mut self, now_ns: u64) {
        let is_too_late = self.start_ns.is_some() || self.stopped != StopLevel::None;
        let is_preparing = self.members.iter().any(|member| member.stage == Stage::Preparing);
        if is_too_late || self.is_over() || is_preparing {
            return;
        }
        let ready = || self.members.iter().filter(|member| member.stage == Stage::Ready);
        if !ready().all(|member| member.clock.is_some()) {
            for (host, member) in self.members.iter_mut().enumerate() {
                if member.stage == Stage::Ready && !member.is_sampling {
                    member.is_sampling = true;
                    member.heard_ns = now_ns;
                    self.actions.push_back(RunAction::SampleClock { host });
                }
            }
            return;
        }
        let trip_ns = ready().filter_map(|one| one.clock).map(|clock| 2 * clock.error_ns).max();
        let start_ns = now_ns + START_LEAD_NS + trip_ns.unwrap_or(0);
        self.start_ns = Some(start_ns);
        for (host, member) in self.members.iter_mut().enumerate() {
            if let (Stage::Ready, Some(clock)) = (member.stage, member.clock) {
                member.stage = Stage::Running;
                member.heard_ns = start_ns;
                let clock_error_ns = clock.error_at(start_ns);
                member.start_error_ns = Some(clock_error_ns);
                let start_ns = start_ns.saturating_add_signed(clock.ahead_ns);
                self.actions.push_back(RunAction::Go { host, start_ns, clock_error_ns });
            }
        }
    }

    /// A host delivered an interval.
    pub fn interval(&mut self, host: usize, interval: Interval, now_ns: u64) {
        let member = &mut self.members[host];
        if member.stage != Stage::Running {
            return;
        }
        member.heard_ns = now_ns.max(member.heard_ns);
        member.delivered += 1;
        self.report_idle(host, &interval);
        if !self.gather.add(host, interval.clone()) {
            return self.give_up(host, "its intervals are not in order".to_owned());
        }
        self.progress.push_back(Progress::HostInterval(host as u32, interval));
        self.take_totals();
    }

    /// Names a host whose storage hangs while its agent continues to deliver intervals.
    fn report_idle(&mut self, host: usize, interval: &Interval) {
        let streams = || interval.streams.iter();
        let was_in_flight = streams().any(|stream| stream.outstanding_start > 0);
        let has_ended = streams().any(|stream| stream.completed() + stream.failed() > 0);
        let member = &mut self.members[host];
        member.idle_ns = match was_in_flight && !has_ended {
            true => member.idle_ns + self.interval_ns,
            false => 0,
        };
        // The hang may have begun an interval earlier.
        let first_after_ns = NAMED_AFTER_NS.saturating_sub(self.interval_ns).max(1);
        if member.idle_reports.is_due(member.idle_ns, first_after_ns) {
            let in_flight: u64 = streams().map(|stream| stream.outstanding_end).sum();
            let wait = format!(
                "no operation completed for {} s, {in_flight} in flight; its agent responds, its \
                 storage may not",
                member.idle_ns / 1_000_000_000
            );
            self.actions.push_back(RunAction::ReportWait { host, wait });
        }
    }

    fn take_totals(&mut self) {
        while let Some(total) = self.gather.take() {
            self.progress.push_back(Progress::Interval(total));
        }
    }

    /// A host has measured its last interval, and checks its files before its share ends.
    pub fn measured(&mut self, host: usize, now_ns: u64) {
        let member = &mut self.members[host];
        if member.stage == Stage::Running {
            member.stage = Stage::Checking;
            member.heard_ns = now_ns.max(member.heard_ns);
        }
    }

    /// A host's share ended.
    ///
    /// * `intervals` - what it has measured; a host of which some did not arrive is lost
    pub fn ended(&mut self, host: usize, end: RunEnd, intervals: u32) {
        if self.members[host].stage == Stage::Over {
            return;
        }
        let name = self.members[host].name.clone();
        let named = |line: String| format!("{name}: {line}");
        let RunEnd { outcome, details, mismatches, started_late_ns, lanes } = end;
        if let (Some(late_ns), Some(clock_error_ns)) =
            (started_late_ns, self.members[host].start_error_ns)
        {
            let event = HostEvent::Started { late_ns, clock_error_ns };
            self.progress.push_back(Progress::HostEvent(host as u32, event));
        }
        let missing = intervals.saturating_sub(self.members[host].delivered);
        if missing > 0 {
            let why = format!(
                "{missing} of its {intervals} intervals did not arrive, because the controller did \
                 not read them in time"
            );
            return self.give_up(host, why);
        }
        if let Outcome::Failed { reason } = &outcome
            && self.start_ns.is_some()
            && self.members[host].delivered == 0
        {
            // It took no part: what the others measured is not a total of all hosts.
            return self.lost(host, reason);
        }
        self.members[host].stage = Stage::Over;
        self.members[host].has_ended = true;
        self.progress.push_back(Progress::HostEvent(host as u32, HostEvent::Ended));
        self.end.details.extend(details.into_iter().map(named));
        self.end.mismatches.extend(mismatches.into_iter().map(named));
        self.end.lanes.extend(lanes);
        match outcome {
            Outcome::Done | Outcome::Aborted => {}
            Outcome::Interrupted if self.end.outcome == Outcome::Done => {
                self.end.outcome = Outcome::Interrupted;
            }
            Outcome::Interrupted => {}
            Outcome::Failed { reason } => self.fail(named(reason)),
        }
        // Without any of its intervals the others' are no totals of all hosts.
        if self.members[host].delivered > 0 {
            self.gather.end(host);
            self.take_totals();
        }
    }

    /// Nothing more comes from a host.
    pub fn lost(&mut self, host: usize, why: &str) {
        let member = &mut self.members[host];
        if member.stage == Stage::Over {
            return;
        }
        member.stage = Stage::Over;
        let at_ns = u64::from(member.delivered) * self.interval_ns;
        let name = member.name.clone();
        let others_continued = self.on_lost == OnLost::Continue;
        let event = HostEvent::Lost { at_ns, why: why.to_owned(), others_continued };
        self.progress.push_back(Progress::HostEvent(host as u32, event));
        if others_continued {
            self.gather.end(host);
            self.take_totals();
            let has_ended = self.members.iter().any(|member| member.has_ended);
            if self.is_over() && !has_ended && self.end.outcome == Outcome::Done {
                self.fail(format!("every host is lost; {name}: {why}"));
            }
            return;
        }
        let at = match self.start_ns {
            Some(_) => {
                format!(" at t = {}", print_whole_seconds(Duration::from_nanos(at_ns)))
            }
            None => String::new(),
        };
        self.fail(format!("{name} is lost{at}: {why}"));
    }

    /// Fails the run; the first reason is the outcome, later ones are details.
    fn fail(&mut self, reason: String) {
        match self.end.outcome {
            Outcome::Failed { .. } => self.end.details.push(reason),
            _ => self.end.outcome = Outcome::Failed { reason },
        }
        self.stop_shares(StopLevel::Now, 0);
    }

    fn give_up(&mut self, host: usize, why: String) {
        self.actions.push_back(RunAction::GiveUp { host, why: why.clone() });
        self.lost(host, &why);
    }

    /// Ends the run as the user or a listener wishes.
    ///
    /// * `reason` - why the run fails; `None` if the user stopped it
    pub fn stop(&mut self, level: StopLevel, reason: Option<String>, now_ns: u64) {
        if let Some(reason) = reason {
            return self.fail(reason);
        }
        self.stop_shares(level, now_ns);
    }

    fn stop_shares(&mut self, level: StopLevel, now_ns: u64) {
        if level <= self.stopped {
            return;
        }
        self.stopped = level;
        let level = match self.start_ns {
            None => StopLevel::Now,
            Some(_) => level,
        };
        for (host, member) in self.members.iter().enumerate() {
            if member.stage == Stage::Over {
                continue;
            }
            self.actions.push_back(match level {
                StopLevel::None => continue,
                StopLevel::Now => RunAction::Stop { host },
                StopLevel::AtInterval => {
                    let run_ns = now_ns.saturating_sub(self.start_ns.unwrap_or(now_ns));
                    let end_ns = (run_ns + STOP_LEAD_NS).next_multiple_of(self.interval_ns);
                    RunAction::EndAt { host, end_ns }
                }
            });
        }
    }

    /// Names hosts that are alive and make no progress, gives them up after a longer time, and starts the
    /// others if they waited for a host that is lost. Call it at least once a second.
    ///
    /// * `responds` - whether a host is known to be alive; if not, its connection tells why
    pub fn tick(&mut self, now_ns: u64, responds: impl Fn(usize) -> bool) {
        let longest_ns = STALLED_AFTER_NS + self.interval_ns;
        if self.stopped != StopLevel::None {
            self.stop_seen_ns.get_or_insert(now_ns);
        }
        let since_stop_ns = self.stop_seen_ns.map_or(0, |seen_ns| now_ns - seen_ns);
        for host in (0..self.members.len()).filter(|host| responds(*host)) {
            let silent_ns = now_ns.saturating_sub(self.members[host].heard_ns);
            let seconds = silent_ns / 1_000_000_000;
            self.report_wait(host, silent_ns);
            match self.members[host].stage {
                Stage::Preparing if silent_ns > READY_WITHIN_NS => {
                    self.give_up(host, format!("it did not open its files within {seconds} s"));
                }
                Stage::Ready if since_stop_ns > STALLED_AFTER_NS => {
                    self.give_up(host, "it did not end a run that was stopped".to_owned());
                }
                // It waits for the other hosts otherwise.
                Stage::Ready if self.members[host].is_awaited() && silent_ns > READY_WITHIN_NS => {
                    self.give_up(host, format!("its clock was not read within {seconds} s"));
                }
                Stage::Checking if silent_ns > READY_WITHIN_NS => {
                    self.give_up(host, format!("it did not check its files within {seconds} s"));
                }
                Stage::Running if silent_ns > longest_ns => self.give_up(
                    host,
                    format!("its agent is alive, but no interval arrived for {seconds} s"),
                ),
                _ => {}
            }
        }
        // A host that is lost no longer keeps the others from starting.
        self.start_if_all_are_ready(now_ns);
    }

    /// Names a host that is alive and delivers nothing.
    fn report_wait(&mut self, host: usize, silent_ns: u64) {
        let member = &mut self.members[host];
        // Independent of the interval, unless it is so long that nothing is due yet.
        let of_interval_ns = NAMED_AFTER_NS.max(self.interval_ns + INTERVAL_LATE_NS);
        let (doing, first_after_ns) = match member.stage {
            Stage::Preparing => ("opening its files", NAMED_AFTER_NS),
            Stage::Running => ("", of_interval_ns),
            Stage::Checking => ("checking its files", NAMED_AFTER_NS),
            Stage::Ready | Stage::Over => return,
        };
        if !member.wait_reports.is_due(silent_ns, first_after_ns) {
            return;
        }
        let wait = match doing {
            "" => format!("no interval for {} s; its agent responds", silent_ns / 1_000_000_000),
            doing => overdue::no_progress(doing, silent_ns),
        };
        self.actions.push_back(RunAction::ReportWait { host, wait });
    }

    /// How the run ended.
    pub fn into_end(self) -> RunEnd {
        self.end
    }
}
