//! The emulated volume that `run` measures if no target is named: its settings, the service that
//! runs in this process, and the comparison with the service's own counters.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use cloud::catalog::Catalog;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::volume_limit::VolumeSettings;
use engine::drive::Stop;
use engine::run::RunEnd;
use metrics::run_record::{ChosenIoMethod, Outcome};
use metrics::service_counters::{PROCEDURES, ServiceCounters};
use metrics::tree_comparison::TreeComparison;
use runner::announce::Announcer;
use runner::conduct::ConductError;
use runner::fleet::{Fleet, FleetError, OnProgress, Progress};
use target::directory::TargetDirectory;
use target::nfs::NfsUrl;
use target::threads::ThreadError;
use units::Bytes;
use volume::config::Config;
use volume::counters::{Counters, Procedure};
use volume::delay::Distribution;
use volume::one_volume::OneVolume;
use volume::shell::{self, Options, Running};
use workload::op::OpKind;
use workload::plan::{EmulatedVolume, Plan, Run};

use crate::outcome::Failure;
use crate::refusal;

const NAME: &str = "emulated";
/// The smallest quota that gives a round limit at every service level.
const QUOTA_GIB: u64 = 1 << 10;
const LEVEL: ServiceLevel = ServiceLevel::Ultra;
/// Chosen: the order of magnitude that clients in the same zone observe.
const READ_DELAY: Duration = Duration::from_micros(400);
/// As for reads.
const WRITE_DELAY: Duration = Duration::from_micros(300);
/// Memory for files, unless the experiment needs more.
const MEMORY: Bytes = Bytes::gib(1);
/// Memory for everything but the experiment's files: the manifest and the index of blocks.
const MEMORY_OVERHEAD: u64 = 64 << 20;
const CONNECTIONS_MAX: usize = 4096;

/// The settings of the volume.
pub fn volume() -> EmulatedVolume {
    volume_of(LEVEL, Bytes::gib(QUOTA_GIB)).expect("the service allows the emulated volume")
}

/// The settings of a volume with this quota.
///
/// # Errors
/// Why the service does not allow such a volume.
pub(crate) fn volume_of(level: ServiceLevel, quota: Bytes) -> Result<EmulatedVolume, String> {
    let settings = VolumeSettings::auto(level, VolumeKind::Regular, quota);
    let limit = Catalog::embedded()
        .volume_limit(&settings)
        .map_err(|errors| errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))?;
    Ok(EmulatedVolume {
        service_level: with_capital(level.name()),
        quota_bytes: quota.get(),
        throughput_limit_bytes_per_s: limit.throughput.map_or(0, |limit| limit.bytes_per_s()),
        read_delay_ns: READ_DELAY.as_nanos() as u64,
        write_delay_ns: WRITE_DELAY.as_nanos() as u64,
        memory_bytes: MEMORY.get(),
    })
}

fn with_capital(name: &str) -> String {
    let mut letters = name.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The volume's URL with the user's options; the port is not known yet.
pub(crate) fn url(options: &str) -> Result<NfsUrl, Failure> {
    url_of(NAME, options)
}

fn url_of(name: &str, options: &str) -> Result<NfsUrl, Failure> {
    let text = format!("nfs://{}/{name}?{options}", Ipv4Addr::LOCALHOST);
    let url: NfsUrl = text.parse().map_err(refusal::of_url)?;
    if url.port.is_some() || url.mount_port.is_some() || !url.addresses.is_empty() {
        return Err(Failure::input(anyhow::anyhow!(
            "use options `{options}`: the emulated volume chooses its address and port; leave out \
             port, mountport and addr, or name a target"
        )));
    }
    Ok(url)
}

/// Sets the volume's memory to what the plan's files need, up to half of the host's.
///
/// # Errors
/// The files need more.
pub(crate) fn set_memory(
    volume: &mut EmulatedVolume,
    plan_bytes: u64,
    host_bytes: Option<u64>,
) -> Result<(), Failure> {
    let needed = plan_bytes.saturating_add(plan_bytes / 16).saturating_add(MEMORY_OVERHEAD);
    let most = host_bytes.map_or(volume.memory_bytes, |host| (host / 2).max(volume.memory_bytes));
    if needed > most {
        return Err(Failure::input(anyhow::anyhow!(
            "the experiment's files take {}, but the emulated volume keeps files in memory and may \
             use at most {}",
            Bytes::new(plan_bytes),
            Bytes::new(most)
        ))
        .with_remedy("use smaller files (--set file_size=...), or name a target"));
    }
    volume.memory_bytes = volume.memory_bytes.max(needed.next_multiple_of(64 << 20).min(most));
    Ok(())
}

/// The service of emulated volumes.
#[derive(Debug)]
pub struct Service {
    running: Running,
    /// Of each volume, by the position of its target in the plan.
    urls: Vec<NfsUrl>,
}

/// A volume to serve.
pub(crate) struct ServedVolume<'a> {
    /// Its name; `None` for the only one.
    pub(crate) name: Option<&'a str>,
    pub(crate) volume: &'a EmulatedVolume,
    /// Options of the built-in client.
    pub(crate) options: &'a str,
}

/// The configuration of the service: each volume has its own pool.
fn config(volumes: &[ServedVolume<'_>], catalog: &Catalog) -> Result<Config, Failure> {
    let constant = |ns| Distribution::Constant { ns };
    let mut whole: Option<Config> = None;
    for ServedVolume { name, volume, .. } in volumes {
        let name = name.unwrap_or(NAME);
        let level = volume.service_level.to_lowercase();
        let one = OneVolume {
            name: name.to_owned(),
            kind: VolumeKind::Regular,
            quota: Bytes::new(volume.quota_bytes),
            level: ServiceLevel::ALL.into_iter().find(|one| one.name() == level).unwrap_or(LEVEL),
            throughput: None,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            flow_throughput: None,
            enforced: true,
            read: constant(volume.read_delay_ns),
            write: constant(volume.write_delay_ns),
        };
        let mut config = one.config(catalog).map_err(|breaches| {
            let breaches: Vec<String> = breaches.iter().map(ToString::to_string).collect();
            let breaches = breaches.join("; ");
            Failure::input(anyhow::anyhow!("emulated volume `{name}`: {breaches}"))
        })?;
        for pool in &mut config.account.pools {
            pool.name = name.to_owned();
        }
        for volume in &mut config.account.volumes {
            volume.pool = name.to_owned();
        }
        whole = Some(match whole {
            None => config,
            Some(mut whole) => {
                let account = &mut whole.account;
                let sum = account.capacity_quota.get() + config.account.capacity_quota.get();
                account.capacity_quota = Bytes::new(sum);
                account.pools.extend(config.account.pools);
                account.volumes.extend(config.account.volumes);
                whole.ops.extend(config.ops);
                whole.rules.extend(config.rules);
                whole
            }
        });
    }
    whole.ok_or_else(|| Failure::internal(anyhow::anyhow!("there is no volume to serve")))
}

/// Why a service did not start. If the system refused the thread, the error lists the limits.
pub(crate) fn not_started(error: shell::Error) -> anyhow::Error {
    match error {
        shell::Error::System { doing, source } if source.kind() == ErrorKind::WouldBlock => {
            let refused = ThreadError { number: 1, requested: 1, source };
            anyhow::Error::new(refused).context(doing)
        }
        error => error.into(),
    }
}

impl Service {
    /// Starts the service on a free loopback port, with one endpoint for all volumes.
    pub(crate) fn start(volumes: &[ServedVolume<'_>]) -> Result<Service, Failure> {
        let catalog = Catalog::embedded();
        let memory = volumes.iter().map(|one| one.volume.memory_bytes).sum();
        let running = Running::start(Options {
            data: None,
            config: config(volumes, &catalog)?,
            catalog,
            memory: Bytes::new(memory),
            portmapper: None,
            metrics: None,
            connections_max: CONNECTIONS_MAX,
            deferred_reserve: 0,
            // The only client is in this process and sees errors as replies.
            log: Box::new(|_| {}),
        })
        .map_err(|error| Failure::target(not_started(error)))?;
        let port = running.addresses().first().map(SocketAddr::port);
        let url = |one: &ServedVolume<'_>| {
            let url = url_of(one.name.unwrap_or(NAME), one.options)?;
            Ok(NfsUrl { port, mount_port: port, ..url })
        };
        Ok(Service { running, urls: volumes.iter().map(url).collect::<Result<_, Failure>>()? })
    }

    /// The ID of the service's thread.
    pub(crate) fn thread_id(&self) -> i32 {
        self.running.thread_id()
    }

    /// The URL of each volume, by the position of its target in the plan.
    pub(crate) fn urls(&self) -> &[NfsUrl] {
        &self.urls
    }

    /// The service's counters of each network flow, by the flow's name.
    fn flows(&self) -> Result<BTreeMap<String, Counters>, String> {
        let snapshot = self.running.snapshot().map_err(|error| error.to_string())?;
        let flows = snapshot.counters.flows();
        Ok(flows.map(|(name, counters)| (name.to_owned(), counters.clone())).collect())
    }
}

/// Runs of another fleet, with the service's counters for an independent check.
///
/// Only the flows of a run's connections are counted: others carry the lock on the target's folder.
pub(crate) struct CheckedFleet<'s> {
    inner: Box<dyn Fleet + 's>,
    service: &'s Service,
    /// The service's counters when the run began.
    before: Result<BTreeMap<String, Counters>, String>,
    /// The flows of the run's connections, by the service's names.
    flows: BTreeSet<String>,
}

impl<'s> CheckedFleet<'s> {
    /// Runs that `inner` executes against `service`.
    pub(crate) fn new(inner: Box<dyn Fleet + 's>, service: &'s Service) -> CheckedFleet<'s> {
        let before = Err("no run has begun".to_owned());
        CheckedFleet { inner, service, before, flows: BTreeSet::new() }
    }
}

/// The service's procedure for each kind of operation whose calls are compared. They have the names of
/// the protocol, so that nothing else is shared with the service.
fn compared() -> impl Iterator<Item = (OpKind, Procedure)> {
    PROCEDURES.into_iter().map(|(kind, name)| {
        let is_it = |procedure: &&Procedure| procedure.name().eq_ignore_ascii_case(name);
        let procedure = Procedure::ALL.iter().find(is_it);
        (kind, *procedure.expect("the service has every procedure of NFSv3"))
    })
}

impl Fleet for CheckedFleet<'_> {
    fn prepare(
        &mut self,
        stop: &Stop,
        announcer: &mut Announcer<'_>,
    ) -> Result<ControlFlow<Outcome>, ConductError> {
        self.inner.prepare(stop, announcer)
    }

    fn host_names(&self) -> Vec<String> {
        self.inner.host_names()
    }

    fn choose_io_method(
        &mut self,
        plan: &Plan,
        directories: &[TargetDirectory],
    ) -> Result<ChosenIoMethod, FleetError> {
        self.inner.choose_io_method(plan, directories)
    }

    fn make_trees(&mut self, run: &Run, stop: &Stop) -> Result<(), FleetError> {
        self.inner.make_trees(run, stop)
    }

    fn compare_trees(
        &mut self,
        run: &Run,
        stop: &Stop,
        end: RunEnd,
    ) -> (RunEnd, Vec<TreeComparison>) {
        self.inner.compare_trees(run, stop, end)
    }

    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_progress: OnProgress<'_>,
    ) -> Result<RunEnd, FleetError> {
        self.before = self.service.flows();
        self.flows.clear();
        let flows = &mut self.flows;
        self.inner.run(run, stop, &mut |progress| {
            if let Progress::Interval(interval) = &progress {
                for connection in &interval.connections {
                    // After a reconnect the connection has another name.
                    flows.insert(format!("{}-{}", connection.local, connection.remote));
                }
            }
            on_progress(progress)
        })
    }

    fn service_counters(&mut self) -> Result<Option<ServiceCounters>, String> {
        let before = self.before.as_ref().map_err(Clone::clone)?;
        let after = self.service.flows()?;
        let mut counts = ServiceCounters::default();
        for name in &self.flows {
            let counters = after
                .get(name)
                .ok_or_else(|| format!("the service has no counters for connection {name}"))?;
            // An earlier run may have used the same port.
            let nothing = Counters::default();
            let earlier = before.get(name).unwrap_or(&nothing);
            for (kind, procedure) in compared() {
                counts.calls[kind as usize] += counters.of(procedure) - earlier.of(procedure);
                let failed = |counters: &Counters| counters.failed[procedure as usize];
                counts.failed += failed(counters) - failed(earlier);
            }
            counts.read_bytes += counters.read_bytes - earlier.read_bytes;
            counts.written_bytes += counters.written_bytes - earlier.written_bytes;
            counts.outstanding_max += counters.outstanding_max;
        }
        Ok(Some(counts))
    }
}
