//! `run`: measures a plan, stores the record, and analyses it.
//!
//! Steps, each with what the user may see between them: [`experiment::plan`], [`serve`],
//! [`prepare`] (claims the target, begins the record), [`Prepared::measure`] (passes every event to
//! the listeners), [`verdict::verdict`]. Two targets in alternating runs: [`interleave`].

pub(crate) mod environment;
mod event_line;
pub mod event_lines;
pub mod experiment;
mod explain;
pub(crate) mod host_state;
pub mod interleave;
pub mod known_limit;
pub mod left_on_target;
pub mod plan;
pub mod profiles;
mod record_writer;
pub mod run_metrics;
pub mod scrape;
pub mod verdict;
pub(crate) mod wire;
mod working_set;

use std::path::PathBuf;
use std::sync::Arc;

use analysis::Findings;
use engine::drive::Stop;
use host::Root;
use host::cpu::CpuTimes;
use metrics::fleet::FleetHost;
use metrics::run_record;
use report::expect::published::Published;
use runner::conduct::{ConductError, Host, conduct_with};
use runner::event::Listener;
use runner::fleet::LocalFleet;
use runner::fleet_run::OnLost;
use store::{Annotation, Store, Writer};
use target::directory::TargetDirectory;
use target::inventory::RequiredFiles;
use target::location::TargetLocation;
use target::nfs::{NfsUrl, Observer};
use target::refusal::Overrides;
use target::survey::{self, Survey};
use workload::limit::StatedLimit;
use workload::plan::{Plan, TargetSpec};

use crate::emulated_volume::{CheckedFleet, ServedVolume, Service};
use crate::fleet::Fleet;
use crate::fleet::remote::{Opening, RemoteFleet};
use crate::keep::listing;
use crate::named_target;
use crate::outcome::Failure;
use crate::predict::published_comparison::{self, ReportOptions};
use crate::{refusal, unix_ms};
use experiment::Planned;
use left_on_target::LeftOnTarget;
use record_writer::RecordWriter;
use scrape::{ScrapeUrl, Scraper};

/// How a plan is executed and where its record is stored.
#[derive(Clone, Debug)]
pub struct Options {
    /// Refusals that the user overrides.
    pub overrides: Overrides,
    /// Limits that the user knows, stored with the record.
    pub known: Vec<StatedLimit>,
    /// The store's directory, which is created if it does not exist.
    pub store: PathBuf,
    /// Exporters whose metrics are stored with the record.
    pub scrape: Vec<ScrapeUrl>,
    /// Label and note of the record.
    pub annotation: Annotation,
    /// The hosts that measure, instead of this one.
    pub fleet: Option<FleetOptions>,
}

/// The hosts that measure, instead of this one.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// The hosts, and the program on them.
    pub fleet: Fleet,
    /// What a lost host means.
    pub on_lost: OnLost,
}

/// A plan with its target claimed and its record begun.
#[derive(Debug)]
pub struct Prepared {
    planned: Planned,
    store: Store,
    writer: Writer,
    /// One for each target. Dropped before the service, which they release their locks with.
    directories: Vec<TargetDirectory>,
    remote: Option<RemoteFleet>,
    service: Option<Service>,
    scraper: Option<Scraper>,
}

/// The result of [`Prepared::measure`].
#[derive(Debug)]
pub struct Measured {
    /// How execution ended.
    pub ended: Result<run_record::Outcome, ConductError>,
    /// The analysed record.
    pub findings: Findings,
    /// The published figures for its own report.
    pub published: Option<Published>,
    /// The record's directory.
    pub run_directory: PathBuf,
    /// The first target.
    pub target: TargetSpec,
    /// The files that remain, on each target that has some.
    pub left: Vec<LeftOnTarget>,
}

/// Starts the service of the emulated volumes if they are the targets.
///
/// # Errors
/// The service did not start.
pub fn serve(plan: &Plan) -> Result<Option<Service>, Failure> {
    let served = |(at, target): (usize, &'_ TargetSpec)| match target {
        TargetSpec::Emulated { volume, options, .. } => {
            let name = plan.target_names.get(at).map(String::as_str);
            Some((name, volume.clone(), options.clone()))
        }
        TargetSpec::Directory { .. } | TargetSpec::Nfs { .. } | TargetSpec::Null => None,
    };
    let volumes: Vec<_> = plan.targets.iter().enumerate().filter_map(served).collect();
    if volumes.is_empty() {
        return Ok(None);
    }
    let volumes: Vec<ServedVolume<'_>> = volumes
        .iter()
        .map(|(name, volume, options)| ServedVolume { name: *name, volume, options })
        .collect();
    Service::start(&volumes).map(Some)
}

/// Claims the target's directory and begins the record. A refused target is left unchanged, and so
/// is the store.
///
/// * `command_line` - the command that repeats the run, stored with the record
/// * `observer` - is notified of waits for a server and may end them
///
/// # Errors
/// The target is refused, or the store cannot be written.
pub fn prepare(
    mut planned: Planned,
    service: Option<Service>,
    options: &Options,
    command_line: &str,
    observer: Observer,
) -> Result<Prepared, Failure> {
    refuse_taken_label(options, &options.annotation)?;
    if let Some(fleet) = &options.fleet {
        return prepare_fleet(planned, service, options, fleet, command_line, observer);
    }
    let surveys = locations(&planned.plan, service.as_ref(), &observer)?
        .into_iter()
        .enumerate()
        .map(|(target, at)| survey(&planned.plan, target, at, options.overrides))
        .collect::<Result<Vec<Survey>, Failure>>()?;
    let store = open_store(options)?;
    let directories = surveys.into_iter().map(Survey::claim).collect::<Result<Vec<_>, _>>();
    let directories = directories.map_err(refusal::failure)?;
    let environment = environment::of_host(
        &planned.plan,
        &planned.text,
        command_line,
        &directories,
        &options.known,
    )?;
    explain::add_facts(&mut planned.plan, &environment.prior);
    let writer = store.create(&planned.plan, &environment, unix_ms()).map_err(Failure::target)?;
    annotate(&store, &writer, &options.annotation)?;
    let scraper = Scraper::start(&options.scrape, &writer)?;
    Ok(Prepared { planned, store, writer, directories, remote: None, service, scraper })
}

/// Where the files of each target are; empty for the null target.
fn locations(
    plan: &Plan,
    service: Option<&Service>,
    observer: &Observer,
) -> Result<Vec<TargetLocation>, Failure> {
    let served = |url: &NfsUrl| TargetLocation::ObservedNfs(url.clone(), Arc::clone(observer));
    if let Some(service) = service {
        return Ok(service.urls().iter().map(served).collect());
    }
    let named = |target| named_target::location(target, Arc::clone(observer));
    let all = plan.targets.iter().map(named).collect::<Result<Vec<_>, Failure>>()?;
    Ok(all.into_iter().flatten().collect())
}

/// The same with the hosts of a fleet: each opens the target before the record begins.
fn prepare_fleet(
    planned: Planned,
    service: Option<Service>,
    options: &Options,
    fleet: &FleetOptions,
    command_line: &str,
    observer: Observer,
) -> Result<Prepared, Failure> {
    let mut plan = planned.plan.clone();
    if let Some(service) = &service {
        fleet.fleet.refuse_other_machines()?;
        for (target, url) in plan.targets.iter_mut().zip(service.urls()) {
            let connections = target.connections();
            *target = TargetSpec::Nfs { url: url.to_string(), connections };
        }
    }
    let opening = Opening {
        plan: &plan,
        overrides: options.overrides,
        on_lost: fleet.on_lost,
        observer: &observer,
    };
    let mut remote = RemoteFleet::open(Box::new(fleet.fleet.connect()), &opening)?;
    let store = open_store(options)?;
    let environment =
        environment::of_fleet(&planned.text, command_line, remote.hosts(), &options.known);
    let reach = fleet.fleet.reach();
    let writer = store.create_for(&planned.plan, &environment, Some(&reach), unix_ms());
    let writer = writer.map_err(Failure::target)?;
    remote.begin_spools(writer.id());
    annotate(&store, &writer, &options.annotation)?;
    let scraper = Scraper::start(&options.scrape, &writer)?;
    let remote = Some(remote);
    Ok(Prepared { planned, store, writer, directories: Vec::new(), remote, service, scraper })
}

impl Prepared {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.planned.plan
    }

    /// The directory of each target; none for the null target.
    pub fn directories(&self) -> &[TargetDirectory] {
        &self.directories
    }

    /// The hosts, and the directory of each target on the first; `None` without a fleet.
    pub fn fleet(&self) -> Option<(&[FleetHost], &[String])> {
        self.remote.as_ref().map(|remote| (remote.hosts(), remote.paths()))
    }

    /// Executes the plan, and analyses the record. Every event is stored before the listeners get
    /// it.
    ///
    /// # Errors
    /// The record cannot be read back. How the execution ended is in [`Measured::ended`].
    pub fn measure(
        self,
        listeners: &mut [&mut dyn Listener],
        stop: &Arc<Stop>,
    ) -> Result<Measured, Failure> {
        let Prepared { planned, store, writer, mut directories, mut remote, service, mut scraper } =
            self;
        let plan = &planned.plan;
        let id = writer.id().to_owned();
        let run_directory = writer.directory().to_owned();
        let serving_thread = service.as_ref().map(Service::thread_id);
        let reader = host_state::reader(Root::of_this_host(), serving_thread);
        let meter = wire::meter(Root::of_this_host(), &directories);
        let is_remote = remote.is_some();
        let fleet: Box<dyn runner::fleet::Fleet + '_> = match &mut remote {
            Some(remote) => Box::new(remote),
            None => Box::new(LocalFleet::new(plan).with_host_state(reader).with_wire(meter)),
        };
        let mut fleet = match &service {
            Some(service) => Box::new(CheckedFleet::new(fleet, service)),
            None => fleet,
        };
        let mut record_writer = RecordWriter::new(writer);
        let mut all: Vec<&mut dyn Listener> = vec![&mut record_writer];
        all.extend(scraper.iter_mut().map(|scraper| scraper as &mut dyn Listener));
        all.extend(listeners.iter_mut().map(|listener| &mut **listener as &mut dyn Listener));
        let mut conduct = |host: Host<'_>| {
            conduct_with(fleet.as_mut(), plan, &mut directories, host, stop, &mut all)
        };
        let ended = match is_remote {
            // Agents report about their own hosts; this one only keeps the results.
            true => conduct(Host {
                memory_bytes: None,
                processors: None,
                available_processors: None,
                steal_since_last: &mut || None,
            }),
            false => with_hosts(|[host]| conduct(host)),
        };
        drop(fleet);
        if let Some(remote) = &mut remote
            && !matches!(ended, Err(ConductError::Listener(_)))
        {
            remote.remove_spools();
        }
        // The last scrapes end before the record is read.
        drop(scraper);
        let left = match &mut remote {
            Some(remote) => {
                let left = plan.targets.iter().zip(remote.left());
                left.filter_map(|(target, files)| LeftOnTarget::new(target, files, 0)).collect()
            }
            None => LeftOnTarget::of_each(&plan.targets, &directories),
        };
        drop((directories, remote));
        drop(service);
        let record = store.load(&id).map_err(Failure::target)?;
        let (findings, published) =
            published_comparison::analyzed(&record, &ReportOptions::default());
        listing::remember(&store, &findings);
        let target = plan.target().clone();
        Ok(Measured { ended, findings, published, run_directory, target, left })
    }
}

/// Inspects the directory of a target, by its position, without changing it.
pub(crate) fn survey(
    plan: &Plan,
    target: usize,
    location: TargetLocation,
    overrides: Overrides,
) -> Result<Survey, Failure> {
    let required = RequiredFiles::of(plan, target);
    let mut survey = survey::survey(location, required, overrides).map_err(refusal::failure)?;
    if !overrides.refill {
        // The run inspects the files again; here a refusal still comes before a record exists.
        survey = survey.inspect().map_err(refusal::failure)?;
    }
    Ok(survey)
}

/// Refuses a label that another record has, before anything is measured.
fn refuse_taken_label(options: &Options, annotation: &Annotation) -> Result<(), Failure> {
    let Some(label) = &annotation.label else { return Ok(()) };
    Store::existing(&options.store).refuse_taken_label(label).map_err(Failure::input)
}

/// Stores the label and the note of a new record, if there are any.
fn annotate(store: &Store, writer: &Writer, annotation: &Annotation) -> Result<(), Failure> {
    if *annotation == Annotation::default() {
        return Ok(());
    }
    store.annotate(writer.id(), annotation).map_err(Failure::input)
}

fn open_store(options: &Options) -> Result<Store, Failure> {
    Store::open(Some(&options.store)).map_err(Failure::input)
}

/// Calls `measure` with this host's counters, for each of the plans that it conducts.
fn with_hosts<R, const N: usize>(measure: impl FnOnce([Host<'_>; N]) -> R) -> R {
    let root = Root::of_this_host();
    let mut steals: [_; N] = std::array::from_fn(|_| {
        let root = root.clone();
        let mut earlier = CpuTimes::read(&root);
        move || {
            let before = std::mem::replace(&mut earlier, CpuTimes::read(&root))?;
            earlier.as_ref()?.steal_since(&before)
        }
    });
    let memory_bytes = host::facts::memory_bytes(&root);
    let processors = u32::try_from(engine::processor::processors().len()).ok();
    let available_processors = engine::processor::available();
    measure(steals.each_mut().map(|steal_since_last| Host {
        memory_bytes,
        processors,
        available_processors,
        steal_since_last,
    }))
}
