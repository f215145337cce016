//! Hosts as the fleet of a plan: agents execute it, this process keeps the time and the results.
//!
//! The first host claims the target's directory, and the others join it; all of them [`fill`] its files. Each
//! run is conducted by [`FleetRun`]; the first makes and compares the [`trees`] of names.

mod ask;
mod fill;
mod lists;
mod trees;

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use cluster::controller::{Event, Lost};
use cluster::links::Links;
use engine::drive::Stop;
use engine::operations::LaneEnd;
use engine::run::RunEnd;
use metrics::fleet::{self, FleetHost};
use metrics::run_record::{ChosenIoMethod, Outcome};
use metrics::tree_comparison::TreeComparison;
use metrics::warning::{Warning, is_wall_clock_off};
use record::frame::{self, Frame};
use runner::announce::Announcer;
use runner::conduct::ConductError;
use runner::event::{Event as PlanEvent, Phase};
use runner::fleet::{Fleet, FleetError, OnProgress, Progress};
use runner::fleet_run::{FleetRun, HostClock, OnLost, RunAction, StopLevel};
use target::LockOwner;
use target::directory::TargetDirectory;
use target::nfs::Observer;
use target::refusal::Overrides;
use workload::plan::{IoMethodUsed, Plan, Run, TargetSpec};

use self::ask::NotDone;
use super::reply;
use super::request::{Ended, Open, Opened, Report, Request, Signal, SignalKind};
use super::spool::SpoolRequest;
use crate::outcome::Failure;

/// Longest wait between two looks at deadlines and at the request to stop.
const TURN: Duration = Duration::from_millis(50);
/// In the path of a directory, the name of the host that uses it.
const HOST: &str = "{host}";
/// Facts that do not differ between hosts.
const COMMON_FACTS: [&str; 2] = ["command.line", "experiment.text"];

/// Agents with the target of a plan open.
#[derive(Debug)]
pub(crate) struct RemoteFleet {
    links: Box<dyn Links>,
    hosts: Vec<FleetHost>,
    /// Why a host takes no further part.
    lost: Vec<Option<String>>,
    on_lost: OnLost,
    /// The number of the last request that signals concern.
    sequence: u32,
    /// The directory of each target on the first host; none for the null target.
    paths: Vec<String>,
    io_method: IoMethodUsed,
    observer: Observer,
    /// The plan has operations on names.
    has_trees: bool,
}

/// What agents need to open the target of a plan.
pub(crate) struct Opening<'a> {
    /// The plan, with a target that all hosts reach.
    pub(crate) plan: &'a Plan,
    pub(crate) overrides: Overrides,
    pub(crate) on_lost: OnLost,
    /// Whether the user has asked to stop, and takes waits for a server.
    pub(crate) observer: &'a Observer,
}

impl RemoteFleet {
    /// Waits until all agents run, has the first claim the target, and has the others join it.
    ///
    /// # Errors
    /// A host cannot be reached or cannot use the target; it is named.
    pub(crate) fn open(
        links: Box<dyn Links>,
        opening: &Opening<'_>,
    ) -> Result<RemoteFleet, Failure> {
        let host = |name: String| FleetHost { name, ..FleetHost::default() };
        let hosts: Vec<FleetHost> = links.names().into_iter().map(host).collect();
        let mut fleet = RemoteFleet {
            links,
            lost: vec![None; hosts.len()],
            hosts,
            on_lost: opening.on_lost,
            sequence: 0,
            paths: Vec::new(),
            io_method: opening.plan.io_method.into(),
            observer: Arc::clone(opening.observer),
            has_trees: opening.plan.model_streams().any(|stream| stream.names.is_some()),
        };
        let opened = fleet.connect(opening).and_then(|()| fleet.open_target(opening));
        let opened = opened.and_then(|()| fleet.send_lists(opening));
        opened.map_err(|why| fleet.failure(why))?;
        Ok(fleet)
    }

    /// The hosts, with facts about each.
    pub(crate) fn hosts(&self) -> &[FleetHost] {
        &self.hosts
    }

    /// The directory of each target on the first host; none for the null target.
    pub(crate) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// Number and size of the files that remain on each target, where they can be read.
    pub(crate) fn left(&mut self) -> Vec<Option<(u64, u64)>> {
        self.sequence += 1;
        let request = Request::Left { sequence: self.sequence };
        let last = self.ask_briefly(vec![(0, request)]).and_then(|mut answers| answers.pop());
        last.map_or_else(Vec::new, |(_, left)| left)
    }

    fn connect(&mut self, opening: &Opening<'_>) -> Result<(), NotDone> {
        let mut connected = 0;
        while connected < self.hosts.len() {
            if opening.observer.is_cancelled() {
                return Err(NotDone::Stopped);
            }
            for event in self.turn() {
                match event {
                    Event::Connected { host } => {
                        connected += 1;
                        if let Some(hello) = self.links.controller().hello(host) {
                            self.hosts[host].boot_id.clone_from(&hello.boot_id);
                        }
                    }
                    Event::Lost { host, why } => return Err(NotDone::Lost(host, why.to_string())),
                    _ => {}
                }
            }
        }
        self.refuse_same_hosts()
    }

    /// Refuses a host that is given twice, by two names.
    fn refuse_same_hosts(&self) -> Result<(), NotDone> {
        for host in 0..self.hosts.len() {
            if let Some(earlier) = self.links.earlier_name_of(host) {
                let why = format!("it is the same host as {earlier}\nname each host once");
                return Err(NotDone::Lost(host, why));
            }
        }
        Ok(())
    }

    fn open_target(&mut self, opening: &Opening<'_>) -> Result<(), NotDone> {
        let mut join = None;
        let count = self.hosts.len();
        for hosts in [0..1, 1..count] {
            let open = |host: usize| {
                let mut plan = opening.plan.clone();
                for target in &mut plan.targets {
                    *target = target_of_host(target, &self.hosts[host].name);
                }
                let controller = LockOwner::this_process();
                let (overrides, join) = (opening.overrides, join.clone());
                let open = Open { controller, plan, overrides, join };
                (host, Request::Open(Box::new(open)))
            };
            let requests: Vec<(usize, Request)> = hosts.map(open).collect();
            let is_stopped = || opening.observer.is_cancelled();
            let answers: Vec<(usize, Opened)> = self.ask(requests, &is_stopped)?;
            for (host, opened) in answers {
                let mut facts = opened.environment;
                facts.retain(|(name, _)| !COMMON_FACTS.contains(&name.as_str()));
                self.hosts[host].facts = facts;
                if host == 0 {
                    (self.paths, join) = (opened.paths, opened.shared);
                }
            }
        }
        Ok(())
    }

    /// Waits for something to happen, briefly.
    fn turn(&mut self) -> Vec<Event> {
        self.links.turn(TURN);
        let controller = self.links.controller();
        std::iter::from_fn(|| controller.next_event()).collect()
    }

    /// Begins the spool of every host for the record with this ID. A host that is lost meanwhile is
    /// treated as in a run, so nothing is reported here.
    pub(crate) fn begin_spools(&mut self, record: &str) {
        let begin = |host: usize, name: &str| SpoolRequest::Begin {
            record: record.to_owned(),
            host: host as u32,
            host_name: name.to_owned(),
        };
        let requests = self.hosts.iter().enumerate();
        let requests = requests.map(|(host, one)| (host, Request::Spool(begin(host, &one.name))));
        let _reported_later = self.ask_briefly::<()>(requests.collect());
    }

    /// Removes the spools of hosts that were not lost: all that they measured is in the record.
    pub(crate) fn remove_spools(&mut self) {
        let are_here = (0..self.hosts.len()).filter(|host| self.lost[*host].is_none());
        let requests = are_here.map(|host| (host, Request::Spool(SpoolRequest::End))).collect();
        // A spool that remains is removed by `fleet collect`.
        let _remaining = self.ask_briefly::<()>(requests);
    }

    /// Passes a report on; waits are passed to the observer.
    fn report(&mut self, host: usize, report: &[u8], take: &mut dyn FnMut(usize, Report)) {
        match serde_json::from_slice(report) {
            Ok(Report::Waiting { wait }) => {
                self.report_wait(host, &wait);
            }
            Ok(report) => take(host, report),
            Err(error) => {
                let why = format!("read its report: {error}");
                self.links.controller().lose(host, Lost::Failed(why));
            }
        }
    }

    fn signal(&mut self, host: usize, kind: SignalKind) {
        let signal = Signal { sequence: self.sequence, kind };
        let bytes = serde_json::to_vec(&signal).expect("a signal is numbers");
        self.links.controller().signal(host, bytes);
        self.links.perform();
    }
}

/// The target as one host uses it.
fn target_of_host(target: &TargetSpec, host: &str) -> TargetSpec {
    match target {
        TargetSpec::Directory { path } => TargetSpec::Directory { path: path.replace(HOST, host) },
        other => other.clone(),
    }
}

impl Fleet for &mut RemoteFleet {
    fn prepare(
        &mut self,
        stop: &Stop,
        announcer: &mut Announcer<'_>,
    ) -> Result<ControlFlow<Outcome>, ConductError> {
        announcer.send(&PlanEvent::FleetReady { hosts: self.hosts.clone() });
        if self.paths.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        announcer.send(&PlanEvent::PhaseStarted { run_index: None, phase: Phase::Prepare });
        match self.fill(stop, announcer).and_then(|()| self.prepare_trees(stop, announcer)) {
            Ok(()) => Ok(ControlFlow::Continue(())),
            Err(NotDone::Stopped) => Ok(ControlFlow::Break(Outcome::Interrupted)),
            Err(why) => Err(self.error(why).into()),
        }
    }

    fn host_names(&self) -> Vec<String> {
        self.links.names()
    }

    fn choose_io_method(
        &mut self,
        _plan: &Plan,
        _directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError> {
        let observer = Arc::clone(&self.observer);
        let asked = self.ask(vec![(0, Request::ChooseIoMethod)], &|| observer.is_cancelled());
        let mut answers: Vec<(usize, ChosenIoMethod)> = asked.map_err(|why| self.error(why))?;
        let (_, chosen) = answers.pop().expect("the first host answered");
        self.io_method = chosen.io_method;
        Ok(chosen)
    }

    fn make_trees(&mut self, run: &Run, stop: &Stop) -> Result<(), FleetError> {
        self.restore_trees(run, stop).map_err(|why| self.error(why))
    }

    fn compare_trees(
        &mut self,
        run: &Run,
        stop: &Stop,
        end: RunEnd,
    ) -> (RunEnd, Vec<TreeComparison>) {
        RemoteFleet::compare_trees(self, run, stop, end)
    }

    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError> {
        self.sequence += 1;
        // A run may use only the first hosts.
        let mut names = self.links.names();
        names.truncate(run.hosts as usize);
        let mut session = RunSession {
            numbers: vec![None; self.hosts.len()],
            warnings: Vec::new(),
            core: FleetRun::new(
                run,
                &names,
                &self.lost[..names.len()],
                self.on_lost,
                fleet::are_separate_machines(&self.hosts),
                self.links.now_ns(),
            ),
            run_index: run.index,
        };
        for (host, assignment) in run.split().into_iter().enumerate() {
            if self.lost[host].is_some() {
                continue;
            }
            let request = Request::Run {
                sequence: self.sequence,
                assignment: Box::new(assignment),
                io_method: self.io_method,
            };
            let number = self.links.controller().request(host, request.to_bytes());
            session.numbers[host] = Some(number);
        }
        let mut is_started = false;
        loop {
            session.tell(stop, self.links.now_ns());
            is_started |= self.perform(&mut session);
            if is_started {
                for warning in session.grouped_warnings(&self.hosts) {
                    session.pass(on_progress(Progress::Warning(warning)), self.links.now_ns());
                }
            }
            while let Some(progress) = session.core.next_progress() {
                session.pass(on_progress(progress), self.links.now_ns());
            }
            if session.core.is_over() {
                break;
            }
            for event in self.turn() {
                self.handle(event, &mut session);
            }
            let now_ns = self.links.now_ns();
            let controller = self.links.controller();
            session.core.tick(now_ns, |host| controller.responds(host, now_ns));
        }
        // What the last event led to.
        self.perform(&mut session);
        for warning in session.grouped_warnings(&self.hosts) {
            session.pass(on_progress(Progress::Warning(warning)), self.links.now_ns());
        }
        Ok(session.core.into_end())
    }
}

impl RemoteFleet {
    fn handle(&mut self, event: Event, session: &mut RunSession) {
        let now_ns = self.links.now_ns();
        match event {
            Event::ClockSampled { host } if session.numbers[host].is_some() => {
                if let Some(clock) = self.links.controller().clock(host) {
                    if is_wall_clock_off(clock.wall_ns, clock.error_ns) {
                        let (ahead_ns, error_ns) = (clock.wall_ns, clock.error_ns);
                        session.warn(host, vec![Warning::WallClockOff { ahead_ns, error_ns }]);
                    }
                    let clock = HostClock {
                        ahead_ns: clock.monotonic_ns,
                        error_ns: clock.error_ns,
                        sampled_ns: clock.sampled_ns,
                    };
                    session.core.clock_sampled(host, clock, now_ns);
                }
            }
            Event::Report { host, report } => {
                self.report(host, &report, &mut |host, report| match report {
                    // It takes no part in this run.
                    _ if session.numbers[host].is_none() => {}
                    Report::Ready { warnings } => {
                        session.warn(host, warnings);
                        session.core.ready(host, now_ns);
                    }
                    Report::Warned { warnings } => session.warn(host, warnings),
                    Report::Measured => session.core.measured(host, now_ns),
                    Report::Filling { .. }
                    | Report::MakingTree { .. }
                    | Report::TreeWalked
                    | Report::Durable { .. }
                    | Report::PartFailed
                    | Report::Waiting { .. } => {}
                })
            }
            Event::Frame { host, kind: frame::INTERVAL, payload } => {
                match Frame::decode(frame::INTERVAL, &payload) {
                    Ok(Frame::Interval { run_index, interval })
                        if run_index == session.run_index && session.numbers[host].is_some() =>
                    {
                        session.core.interval(host, *interval, now_ns);
                    }
                    // Of a run that has ended, or of a host that takes no part in this one.
                    Ok(_) => {}
                    Err(malformed) => {
                        let why =
                            format!("it sent an interval that cannot be read: {}", malformed.0);
                        self.links.controller().lose(host, Lost::Failed(why));
                    }
                }
            }
            Event::Reply { host, number, result } if session.numbers[host] == Some(number) => {
                match reply::read::<Ended>(result) {
                    Ok(ended) => {
                        session.warn(host, ended.warnings);
                        session.core.ended(
                            host,
                            RunEnd {
                                outcome: ended.outcome,
                                details: ended.details,
                                mismatches: ended.mismatches,
                                started_late_ns: ended.started_late_ns,
                                lanes: ended.lanes.into_iter().map(LaneEnd::from).collect(),
                            },
                            ended.intervals,
                        );
                    }
                    Err(failed) => {
                        // Its target is lost, so it takes no part in later runs either.
                        let why = failed.in_words();
                        session.core.lost(host, &why);
                        self.lost[host] = Some(why);
                    }
                }
            }
            Event::Lost { host, why } => {
                let why = why.to_string();
                if session.numbers[host].is_some() {
                    session.core.lost(host, &why.replace('\n', "; "));
                }
                self.lost[host] = Some(why);
            }
            Event::Connected { .. }
            | Event::ClockSampled { .. }
            | Event::Frame { .. }
            | Event::Reply { .. } => {}
        }
    }

    /// Performs the actions of a run; whether it was started.
    fn perform(&mut self, session: &mut RunSession) -> bool {
        let mut is_started = false;
        let mut waits: Vec<(usize, String)> = Vec::new();
        while let Some(action) = session.core.next_action() {
            match action {
                RunAction::SampleClock { host } => {
                    let now_ns = self.links.now_ns();
                    self.links.controller().sample_clock(host, now_ns);
                    self.links.perform();
                }
                RunAction::Go { host, start_ns, clock_error_ns } => {
                    is_started = true;
                    self.signal(host, SignalKind::Go { start_ns, clock_error_ns });
                }
                RunAction::EndAt { host, end_ns } => {
                    self.signal(host, SignalKind::EndAt { end_ns })
                }
                RunAction::Stop { host } => self.signal(host, SignalKind::Stop),
                RunAction::ReportWait { host, wait } => waits.push((host, wait)),
                RunAction::GiveUp { host, why } => {
                    self.lost[host] = Some(why.clone());
                    self.links.controller().lose(host, Lost::Failed(why));
                }
            }
        }
        self.report_waits(waits);
        is_started
    }

    /// Hosts that wait for the same are named together: of a server that fails, all hosts do.
    fn report_waits(&self, waits: Vec<(usize, String)>) {
        let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (host, wait) in waits {
            groups.entry(wait).or_default().push(&self.hosts[host].name);
        }
        for (wait, hosts) in groups {
            self.observer.report_of_hosts(&hosts, &wait);
        }
    }

    fn report_wait(&self, host: usize, wait: &str) {
        self.observer.report_of_hosts(&[&self.hosts[host].name], wait);
    }
}

/// A run on the hosts of a fleet.
struct RunSession {
    /// `numbers[host]`: of the request to do its share.
    numbers: Vec<Option<u32>>,
    /// Warnings about hosts that are not passed on yet.
    warnings: Vec<(usize, Warning)>,
    core: FleetRun,
    run_index: u32,
}

impl RunSession {
    /// Tells the core what the user wants.
    fn tell(&mut self, stop: &Stop, now_ns: u64) {
        let level = match (stop.is_requested(), stop.is_now()) {
            (_, true) => StopLevel::Now,
            (true, false) => StopLevel::AtInterval,
            (false, false) => StopLevel::None,
        };
        self.core.stop(level, None, now_ns);
    }

    /// Ends the run if a listener wants that.
    fn pass(&mut self, wanted: ControlFlow<String>, now_ns: u64) {
        if let ControlFlow::Break(reason) = wanted {
            self.core.stop(StopLevel::Now, Some(reason), now_ns);
        }
    }

    fn warn(&mut self, host: usize, warnings: Vec<Warning>) {
        self.warnings.extend(warnings.into_iter().map(|warning| (host, warning)));
    }

    /// The warnings about hosts since the last call, each kind once with the hosts that it concerns.
    fn grouped_warnings(&mut self, hosts: &[FleetHost]) -> Vec<Warning> {
        let of = self.numbers.iter().flatten().count() as u32;
        let mut groups: Vec<(Warning, Vec<usize>)> = Vec::new();
        for (host, warning) in self.warnings.drain(..) {
            match groups.iter_mut().find(|(known, _)| known.code() == warning.code()) {
                Some((_, hosts)) => hosts.push(host),
                None => groups.push((warning, vec![host])),
            }
        }
        let group = |(warning, concerned): (Warning, Vec<usize>)| Warning::OnHosts {
            hosts: concerned.iter().map(|host| hosts[*host].name.clone()).collect(),
            of,
            warning: Box::new(warning),
        };
        groups.into_iter().map(group).collect()
    }
}
