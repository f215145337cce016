//! What an agent measures with: the target of a plan on this host. Its files: [`fill`]; trees of names:
//! [`trees`]; lists to replay: [`lists`].

mod fill;
mod lists;
mod trees;

use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::message::Message;
use cluster::outbox::Outbox;
use engine::run::RunEnd;
use host::Root;
use host::cpu::CpuTimes;
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, Outcome};
use runner::fleet::{Fleet, LocalFleet};
use runner::host_warnings::{self, HostLimits};
use runner::run_trees::RunTrees;
use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::manifest::Manifest;
use target::nfs::{WaitObserver, WaitReport};
use target::refusal::Refusal;
use target::shared_directory;
use workload::plan::{Assignment, IoMethodUsed, Plan};

use self::lists::Lists;
use super::request::{Ended, LaneDone, Open, Opened, Report};
use super::run_keeper::RunKeeper;
use super::signals::Signals;
use super::spool::Spool;
use crate::measure::{self, environment, host_state, wire};
use crate::outcome::Failure;
use crate::{named_target, refusal};

/// A start that arrives later than this is not that of the other hosts.
pub(super) const STARTS_WITHIN: Duration = Duration::from_secs(5);

/// What the agent gives to each request.
pub(super) struct StationContext<'a> {
    /// When the clock that the controller samples was 0.
    pub(super) begun: Instant,
    pub(super) signals: &'a Arc<Signals>,
    pub(super) outbox: &'a Outbox,
}

/// The target of a plan on this host.
pub(super) struct Station {
    plan: Plan,
    /// One for each target; none for the null target.
    directories: Vec<TargetDirectory>,
    fleet: LocalFleet,
    /// `is_written[set]`: files of the set were missing when the fill began.
    is_written: Vec<bool>,
    /// The method of the last run; its files are found again when it changes.
    io_method: Option<IoMethodUsed>,
    /// The trees of names, on the host that makes them.
    trees: RunTrees,
    lists: Lists,
}

impl Station {
    /// Claims the target's directory, or joins the one that another host has claimed.
    pub(super) fn open(
        open: Open,
        context: &StationContext<'_>,
    ) -> Result<(Station, Opened), Failure> {
        let Open { controller, plan, overrides, join } = open;
        let mut directories = Vec::new();
        let mut shared = join.is_none().then(Vec::new);
        for (at, target) in plan.targets.iter().enumerate() {
            let observer = Arc::new(WaitsOfAgent {
                outbox: context.outbox.clone(),
                signals: Arc::clone(context.signals),
            });
            let Some(location) = named_target::location(target, observer)? else { continue };
            directories.push(match join.as_ref().map(|join| join.get(at)) {
                None => {
                    let survey = measure::survey(&plan, at, location.clone(), overrides)?;
                    let claimed = survey.claim_for(&controller).map_err(refusal::failure)?;
                    let directory = claimed.share(&location).map_err(refusal::failure)?;
                    shared.iter_mut().for_each(|all| {
                        all.push((directory.clone(), claimed.storage().clone()));
                    });
                    claimed
                }
                Some(of_first) => {
                    let missing = || Failure::internal(anyhow::anyhow!("a target was not claimed"));
                    let (directory, storage) = of_first.ok_or_else(missing)?;
                    let required = RequiredFiles::of(&plan, at);
                    let joined =
                        shared_directory::join(&location, directory, required, storage.clone());
                    joined.map_err(refusal::failure)?
                }
            });
        }
        let environment = environment::of_host(&plan, "", "", &directories, &[])?.pairs();
        let root = Root::of_this_host;
        let fleet = LocalFleet::new(&plan)
            .with_host_state(host_state::reader(root(), None))
            .with_wire(wire::meter(root(), &directories));
        let path = |directory: &TargetDirectory| directory.path().display().to_string();
        let paths = directories.iter().map(path).collect();
        let opened = Opened { paths, shared, environment };
        let trees = RunTrees::unknown(plan.verify);
        let is_written = Vec::new();
        let io_method = None;
        let lists = Lists::default();
        Ok((Station { plan, directories, fleet, is_written, io_method, trees, lists }, opened))
    }

    /// Uses the files of the host that claimed the directory of a target.
    pub(super) fn use_files(&mut self, target: usize, manifest: Manifest) -> Result<(), Failure> {
        let directory = fill::directory_of(&mut self.directories, target)?;
        directory.use_manifest(manifest).map_err(refusal::failure)
    }

    pub(super) fn choose_io_method(&mut self) -> Result<ChosenIoMethod, Failure> {
        let chosen = self.fleet.choose_io_method(&self.plan, &self.directories);
        let chosen = chosen.map_err(Failure::target)?;
        self.io_method = Some(chosen.io_method);
        Ok(chosen)
    }

    /// Executes this host's share of a run: reports when it is ready, starts when the controller says, and
    /// keeps and sends each interval. If the controller is gone after the start, the run is finished as
    /// planned, as long as its intervals are kept.
    pub(super) fn run(
        &mut self,
        sequence: u32,
        mut assignment: Assignment,
        io_method: IoMethodUsed,
        spool: &mut Spool,
        context: &StationContext<'_>,
    ) -> Result<Ended, Failure> {
        let stop = context.signals.stop(sequence);
        self.lists.attach_to(&mut assignment.run);
        if self.io_method != Some(io_method) {
            let used = self.fleet.use_io_method(io_method, &self.directories);
            used.map_err(Failure::target)?;
            self.io_method = Some(io_method);
        }
        let root = Root::of_this_host();
        let before = CpuTimes::read(&root);
        let mut warnings = self.warnings_before(&assignment, io_method);
        warnings.extend(spool.take_failure());
        let run = &assignment.run;
        self.trees.changed_by(&self.directories, run);
        let signals = Arc::clone(context.signals);
        let keeper = RunKeeper::new(spool, signals, context.outbox.clone(), run.index);
        let is_too_late = Cell::new(false);
        let start = || {
            send_report(context.outbox, &Report::Ready { warnings });
            let start = context.signals.await_start(sequence, keeper.is_kept())?;
            keeper.started(start, run);
            let start = context.begun + Duration::from_nanos(start.at_ns);
            // The others have started without this host.
            is_too_late.set(start.elapsed() > STARTS_WITHIN);
            (!is_too_late.get()).then_some(start)
        };
        let mut on_interval = |interval: Interval| keeper.interval(&interval);
        let end = self.fleet.execute(&assignment, &stop, start, &mut on_interval);
        let mut end = end.map_err(|error| {
            let reason = error.to_string();
            keeper.finished(&RunEnd::of(Outcome::Failed { reason }), Vec::new());
            Failure::target(error)
        })?;
        if is_too_late.get() {
            let reason = format!(
                "the start reached it more than {} s late; the controller was stopped, or the network \
                 does not respond",
                STARTS_WITHIN.as_secs()
            );
            end.outcome = Outcome::Failed { reason };
        }
        send_report(context.outbox, &Report::Measured);
        if end.outcome == Outcome::Done
            && let Err(changed) = self.refuse_changed()
        {
            end.outcome = match changed.is_interrupted() {
                true => Outcome::Interrupted,
                false => Outcome::Failed { reason: changed.to_string() },
            };
        }
        let steal = before.zip(CpuTimes::read(&root)).and_then(|(from, to)| to.steal_since(&from));
        let warnings = steal.and_then(host_warnings::of_steal).into_iter().collect();
        let warnings = keeper.finished(&end, warnings);
        Ok(Ended {
            outcome: end.outcome,
            details: end.details,
            mismatches: end.mismatches,
            started_late_ns: end.started_late_ns,
            intervals: keeper.intervals(),
            warnings,
            lanes: end.lanes.into_iter().map(LaneDone::from).collect(),
        })
    }

    fn warnings_before(
        &self,
        assignment: &Assignment,
        io_method: IoMethodUsed,
    ) -> Vec<metrics::warning::Warning> {
        let can = self.plan.target().capabilities();
        let blocking = io_method == IoMethodUsed::Psync && can.local_files;
        let limits = HostLimits {
            memory_bytes: host::facts::memory_bytes(&Root::of_this_host()),
            available_processors: engine::processor::available(),
        };
        let storage = self.directories.first().filter(|_| can.local_files);
        host_warnings::before_run(
            &assignment.run,
            assignment.threads(blocking),
            limits,
            storage.map(TargetDirectory::storage),
        )
    }

    /// The handles of an export's files stay valid when other files take their names. (Files of a directory
    /// are checked by the engine.)
    fn refuse_changed(&self) -> Result<(), Refusal> {
        let refuse = match self.plan.target().capabilities().own_client {
            true => TargetDirectory::refuse_changed,
            false => TargetDirectory::refuse_lost_lock,
        };
        self.directories.iter().try_for_each(refuse)
    }

    /// Number and size of the files that remain on each target.
    pub(super) fn left(
        &self,
        sequence: u32,
        context: &StationContext<'_>,
    ) -> Vec<Option<(u64, u64)>> {
        // What was stopped before this does not end it.
        context.signals.stop(sequence);
        self.directories.iter().map(|directory| directory.existing_files().ok()).collect()
    }
}

pub(super) fn send_report(outbox: &Outbox, report: &Report) {
    let bytes = serde_json::to_vec(report).expect("a report is numbers, texts and lists");
    // If the controller is gone, the agent's loop sees it too.
    let _ = outbox.send(&Message::Report(bytes));
}

/// Sends waits for a server. They end some time after the request was stopped.
#[derive(Debug)]
struct WaitsOfAgent {
    outbox: Outbox,
    signals: Arc<Signals>,
}

impl WaitObserver for WaitsOfAgent {
    fn is_cancelled(&self) -> bool {
        self.signals.is_abandoned()
    }

    fn report(&self, wait: &WaitReport) {
        send_report(&self.outbox, &Report::Waiting { wait: wait.to_string() });
    }
}
