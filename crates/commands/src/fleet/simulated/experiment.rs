//! The controller's side of a simulated experiment: the product's own, from opening the target to collecting
//! the spools, with a record in memory.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use engine::drive::Stop;
use metrics::environment::Environment;
use metrics::fleet::{FleetHost, HostEvent};
use metrics::interval::Interval;
use metrics::run_record::{ChosenIoMethod, ExperimentRecord, Outcome};
use record::frame::Frame;
use runner::conduct::{self, ConductError};
use runner::event::{Event, Listener, ListenerError};
use runner::fleet_run::OnLost;
use sim::fleet::{ControllerKilled, VirtualLinks, World};
use target::nfs::{Observer, WaitObserver, WaitReport};
use target::refusal::Overrides;
use workload::plan::{IoMethodUsed, Plan, TargetSpec};
use workload::resolve::{self, ResolveOptions};

use crate::fleet::collect::Collected;
use crate::fleet::collection::Addition;
use crate::fleet::collector::{Append, Collector};
use crate::fleet::hosts::Hosts;
use crate::fleet::remote::{Opening, RemoteFleet};
use crate::outcome::Failure;

pub(super) const VERSION: &str = "1";
const ID: &str = "20261127-080000-simulated-1";

/// A plan of two runs on so many hosts: warm-up 1 s, 5 s measured. One stream reads files, one has
/// operations on names; the simulated intervals are those of the first.
pub(super) fn plan(hosts: u32) -> Plan {
    static EXPERIMENT: OnceLock<workload::experiment::Experiment> = OnceLock::new();
    let experiment = EXPERIMENT.get_or_init(|| {
        let text = "name = \"simulated\"\n[run]\nwarm_up = \"1s\"\nmeasure = \"5s\"\n\
                    interval = \"1s\"\nrepeats = 2\n[stream.main]\nread = \"100%\"\n\
                    transfer_size = \"8KiB\"\npattern = \"random\"\nfile_size = \"1MiB\"\n\
                    files = 6\nqueue_depth = 4\n[stream.home]\nnames = { files = 1000 }\n\
                    mix = { stat = \"100%\" }\nqueue_depth = 4\n";
        workload::experiment::parse(text, "simulated.toml").expect("it is whole")
    });
    let options = ResolveOptions { hosts, ..ResolveOptions::LOCAL };
    let target = TargetSpec::Directory { path: "target".to_owned() };
    resolve::resolve(experiment, "simulated.toml", target, &options).expect("it can be executed")
}

/// What the controller has stored and reported.
#[derive(Debug, Default)]
pub(super) struct Results {
    /// `None` until all hosts have opened the target.
    pub(super) record: Option<ExperimentRecord>,
    /// `(run, total)` in the order of their report.
    pub(super) totals: Vec<(u32, Interval)>,
    /// What was reported about hosts, and when.
    pub(super) named: Vec<(u64, String)>,
}

pub(super) type SharedResults = Rc<RefCell<Results>>;

fn record(plan: &Plan) -> ExperimentRecord {
    ExperimentRecord {
        id: ID.to_owned(),
        plan: plan.clone(),
        plan_hash: String::new(),
        io_method: ChosenIoMethod { io_method: IoMethodUsed::Psync, reason: String::new() },
        environment: Environment::default(),
        started_unix_ms: 0,
        prepared: Vec::new(),
        warnings: Vec::new(),
        runs: Vec::new(),
        hosts: Vec::new(),
        scraped: Default::default(),
        outcome: Outcome::Aborted,
    }
}

/// Stores events as the record's writer does, and reads them as its reader does.
struct Recorder {
    world: Rc<RefCell<World>>,
    results: SharedResults,
}

impl Recorder {
    fn frame(&mut self, event: &Event) -> Option<Frame> {
        let mut results = self.results.borrow_mut();
        let now_ns = self.world.borrow().now_ns();
        Some(match event.clone() {
            Event::IoMethodChosen(used) => Frame::Engine(used),
            Event::PrepareFinished(prepared) => Frame::Prepared(prepared),
            Event::RunStarted { run, started_unix_ms } => {
                Frame::RunStarted { started_unix_ms, run }
            }
            Event::FleetReady { hosts } => Frame::Fleet(hosts),
            Event::Interval { run_index, interval } => {
                results.totals.push((run_index, *interval));
                return None;
            }
            Event::HostInterval { run_index, host, interval } => {
                Frame::HostInterval { host, run_index, interval }
            }
            Event::HostEvent { run_index, host, event } => {
                if let HostEvent::Lost { why, .. } = &event {
                    results.named.push((now_ns, format!("h{host}: {why}")));
                }
                Frame::HostEvent { host, run_index, event }
            }
            Event::Warning { run_index, warning } => Frame::Warning { run_index, warning },
            Event::RunFinished { run_index, outcome } => {
                if let Outcome::Failed { reason } = &outcome {
                    results.named.push((now_ns, reason.clone()));
                }
                Frame::RunFinished { run_index, outcome }
            }
            Event::Finished { outcome } => Frame::Finished(outcome),
            Event::TreesCompared { run_index, trees } => Frame::Trees { run_index, trees },
            Event::ServiceCounters { .. }
            | Event::PhaseStarted { .. }
            | Event::PrepareProgress { .. } => return None,
        })
    }
}

impl Listener for Recorder {
    fn on_event(&mut self, event: &Event) -> Result<(), ListenerError> {
        if let Some(frame) = self.frame(event) {
            self.results.borrow_mut().append(frame);
        }
        Ok(())
    }
}

impl Results {
    /// Appends a frame as it is read from a journal.
    fn append(&mut self, frame: Frame) {
        let record = self.record.as_mut().expect("the target is open");
        store::apply(record, frame).expect("a record is read as it was written");
    }
}

/// Whether the user has stopped, and what was reported about hosts meanwhile.
#[derive(Debug)]
struct User {
    stop: Arc<Stop>,
    clock: Arc<AtomicU64>,
    named: Mutex<Vec<(u64, String)>>,
}

impl WaitObserver for User {
    fn is_cancelled(&self) -> bool {
        self.stop.is_requested()
    }

    fn report(&self, _wait: &WaitReport) {}

    fn report_of_hosts(&self, hosts: &[&str], words: &str) {
        let now_ns = self.clock.load(Ordering::Relaxed);
        let named = hosts.iter().map(|host| (now_ns, format!("{host}: {words}")));
        self.named.lock().expect("no test panics here").extend(named);
    }
}

/// Runs `work`; `None` if the controller was killed meanwhile.
fn unless_killed<R>(work: impl FnOnce() -> R) -> Option<R> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(panic) if panic.is::<ControllerKilled>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// Executes a plan as `run --hosts` does. How it ended, in words if it could not be executed; `None` if the
/// controller was killed.
pub(super) fn run(
    world: &Rc<RefCell<World>>,
    plan: &Plan,
    on_lost: OnLost,
    stop: &Arc<Stop>,
    results: &SharedResults,
) -> Option<Result<Outcome, String>> {
    let clock = world.borrow().clock();
    let user = Arc::new(User { stop: Arc::clone(stop), clock, named: Mutex::default() });
    let ended = unless_killed(|| run_to_end(world, plan, on_lost, &user, results));
    results.borrow_mut().named.append(&mut user.named.lock().expect("no test panics here"));
    if let Some(Err(why) | Ok(Outcome::Failed { reason: why })) = &ended {
        results.borrow_mut().named.push((world.borrow().now_ns(), why.clone()));
    }
    ended
}

fn run_to_end(
    world: &Rc<RefCell<World>>,
    plan: &Plan,
    on_lost: OnLost,
    user: &Arc<User>,
    results: &SharedResults,
) -> Result<Outcome, String> {
    let stop = &user.stop;
    let observer: Observer = Arc::clone(user) as Observer;
    let overrides = Overrides::default();
    let opening = Opening { plan, overrides, on_lost, observer: &observer };
    let links = VirtualLinks::connect(world, VERSION);
    let in_words = |failure: Failure| failure.reason_in_words();
    let mut remote = RemoteFleet::open(Box::new(links), &opening).map_err(in_words)?;
    results.borrow_mut().record = Some(record(plan));
    remote.begin_spools(ID);
    let mut recorder = Recorder { world: Rc::clone(world), results: Rc::clone(results) };
    let host = conduct::Host {
        memory_bytes: None,
        processors: None,
        available_processors: None,
        steal_since_last: &mut || None,
    };
    let fleet = &mut &mut remote;
    let ended = conduct::conduct_with(fleet, plan, &mut [], host, stop, &mut [&mut recorder]);
    if let Err(error @ ConductError::Listener(_)) = &ended {
        return Err(error.to_string());
    }
    remote.remove_spools();
    remote.left();
    ended.map_err(|error| error.to_string())
}

/// The record as the collector appends to it.
struct Appended(SharedResults);

impl Append for Appended {
    fn append(&mut self, addition: Addition) -> Result<(), store::Error> {
        self.0.borrow_mut().append(match addition {
            Addition::RunStarted { run, started_unix_ms } => {
                Frame::RunStarted { started_unix_ms, run }
            }
            Addition::Interval { host, run_index, interval } => {
                Frame::HostInterval { host, run_index, interval }
            }
            Addition::HostEvent { host, run_index, event } => {
                Frame::HostEvent { host, run_index, event }
            }
            Addition::Warning { run_index, warning } => {
                Frame::Warning { run_index: Some(run_index), warning }
            }
            Addition::RunFinished { run_index, outcome } => {
                Frame::RunFinished { run_index, outcome }
            }
            Addition::Finished { outcome } => Frame::Finished(outcome),
        });
        Ok(())
    }

    fn sync(&mut self) -> Result<(), store::Error> {
        Ok(())
    }
}

/// Collects the spools as `fleet collect` does; `None` if the controller was killed.
pub(super) fn collect(world: &Rc<RefCell<World>>, results: &SharedResults) -> Option<Collected> {
    unless_killed(|| {
        let names: Vec<String> = world.borrow().hosts().map(|host| host.name.clone()).collect();
        let has_hosts =
            results.borrow().record.as_ref().is_some_and(|record| !record.hosts.is_empty());
        if !has_hosts {
            let host = |name: &String| FleetHost { name: name.clone(), ..FleetHost::default() };
            results.borrow_mut().append(Frame::Fleet(names.iter().map(host).collect()));
        }
        let record = results.borrow().record.clone().expect("there is a record");
        let links = Box::new(VirtualLinks::connect(world, VERSION));
        let hosts = Hosts::connect(links, &mut || ControlFlow::Continue(()));
        let appended = Appended(Rc::clone(results));
        let mut collector = Collector::new(ID.to_owned(), names, &record, appended, hosts);
        let observe: &mut dyn FnMut(&str) -> ControlFlow<()> = &mut |_| ControlFlow::Continue(());
        let mut found = collector.await_spools(None, observe).expect("the user does not stop");
        collector.take_spools(&mut found, observe).expect("the record takes everything");
        collector.settle().expect("the record takes everything");
        collector.remove(&found, observe).expect("the user does not stop");
        collector.finish(&found)
    })
}
