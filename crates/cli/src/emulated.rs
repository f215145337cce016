//! The emulated volume that is measured where no target is named: what it is, its service in this
//! process, and its witness.

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
use metrics::interval::Interval;
use metrics::run_record::EngineUsed;
use metrics::witness::WitnessCounts;
use runner::fleet::{Fleet, FleetError, LocalFleet};
use target::directory::TargetDirectory;
use target::nfs::NfsUrl;
use target::threads::ThreadError;
use units::{Bytes, print_duration};
use volume::delay::Distribution;
use volume::one_volume::OneVolume;
use volume::shell::{self, Options, Running};
use volume::witness::{Counters, Procedure};
use workload::plan::{EmulatedVolume, Plan, Run};

use crate::exit::Failure;
use crate::named_target;

const NAME: &str = "emulated";
/// Its size: the smallest quota that gives a round limit with every level.
const QUOTA_GIB: u64 = 1 << 10;
const LEVEL: ServiceLevel = ServiceLevel::Ultra;
/// Our choice, of the order of what the service is seen to take in the same zone.
const READ_DELAY: Duration = Duration::from_micros(400);
/// The same for writes.
const WRITE_DELAY: Duration = Duration::from_micros(300);
/// What its files may take where the experiment does not need more.
const MEMORY: Bytes = Bytes::gib(1);
/// Room beside the experiment's files: our manifest, and what indexes them.
const MEMORY_BESIDE: u64 = 64 << 20;
const CONNECTIONS_MAX: usize = 4096;

/// What is measured where no target is named.
pub(crate) fn volume() -> EmulatedVolume {
    let settings = VolumeSettings::auto(LEVEL, VolumeKind::Regular, Bytes::gib(QUOTA_GIB));
    let limit = Catalog::embedded().volume_limit(&settings);
    let limit = limit.expect("the service allows the emulated volume").throughput;
    EmulatedVolume {
        service_level: "Ultra".to_owned(),
        quota_bytes: Bytes::gib(QUOTA_GIB).get(),
        throughput_limit_bytes_per_s: limit.map_or(0, |limit| limit.bytes_per_s()),
        read_delay_ns: READ_DELAY.as_nanos() as u64,
        write_delay_ns: WRITE_DELAY.as_nanos() as u64,
        memory_bytes: MEMORY.get(),
    }
}

/// A URL of the volume with these options of a user; where it listens is not known yet.
pub(crate) fn url(options: &str) -> Result<NfsUrl, Failure> {
    let url = named_target::parsed(&format!("nfs://{}/{NAME}?{options}", Ipv4Addr::LOCALHOST))?;
    if url.port.is_some() || url.mount_port.is_some() || !url.addresses.is_empty() {
        return Err(Failure::input(anyhow::anyhow!(
            "use options `{options}`: the emulated volume listens at a port and address of its \
             own; leave out port, mountport and addr, or name a target"
        )));
    }
    Ok(url)
}

/// Gives the volume as much memory as the plan's files need, up to half of the host's.
///
/// # Errors
/// They need more.
pub(crate) fn give_memory(
    volume: &mut EmulatedVolume,
    plan_bytes: u64,
    host_bytes: Option<u64>,
) -> Result<(), Failure> {
    let needed = plan_bytes.saturating_add(plan_bytes / 16).saturating_add(MEMORY_BESIDE);
    let most = host_bytes.map_or(volume.memory_bytes, |host| (host / 2).max(volume.memory_bytes));
    if needed > most {
        return Err(Failure::input(anyhow::anyhow!(
            "the experiment's files take {}, and the emulated volume keeps its files in memory, of \
             which it may take {}\n  what to do: use smaller files (--set file_size=...), or name \
             a target",
            Bytes::new(plan_bytes),
            Bytes::new(most)
        )));
    }
    volume.memory_bytes = volume.memory_bytes.max(needed.next_multiple_of(64 << 20).min(most));
    Ok(())
}

/// What it is and what it is not, in sentences.
pub(crate) fn introduction(volume: &EmulatedVolume) -> [String; 2] {
    let time = |ns| print_duration(Duration::from_nanos(ns));
    [
        format!(
            "target: an {}, served by this process over NFS version 3 on loopback: throughput \
             limit {}/s, reads take {}, writes {}, files in memory",
            volume.in_words(),
            Bytes::new(volume.throughput_limit_bytes_per_s),
            time(volume.read_delay_ns),
            time(volume.write_delay_ns),
        ),
        "nothing on this machine's disks is measured; name a directory or nfs://host/export for \
         that"
            .to_owned(),
    ]
}

/// The service of an emulated volume.
pub(crate) struct Service {
    running: Running,
    url: NfsUrl,
}

/// Why a service was not started; where the system refused its thread, with the limits.
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
    /// Starts it on a free port of loopback.
    pub(crate) fn start(volume: &EmulatedVolume, options: &str) -> Result<Service, Failure> {
        let catalog = Catalog::embedded();
        let constant = |ns| Distribution::Constant { ns };
        let one = OneVolume {
            name: NAME.to_owned(),
            kind: VolumeKind::Regular,
            quota: Bytes::new(volume.quota_bytes),
            level: LEVEL,
            throughput: None,
            address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            flow_throughput: None,
            enforced: true,
            read: constant(volume.read_delay_ns),
            write: constant(volume.write_delay_ns),
        };
        let config = one.config(&catalog).map_err(|breaches| {
            let breaches: Vec<String> = breaches.iter().map(ToString::to_string).collect();
            Failure::bug(anyhow::anyhow!("describe the emulated volume: {}", breaches.join("; ")))
        })?;
        let running = Running::start(Options {
            data: None,
            config,
            catalog,
            memory: Bytes::new(volume.memory_bytes),
            portmapper: None,
            metrics: None,
            connections_max: CONNECTIONS_MAX,
            held_room: 0,
            // What it has to say, clients of its own see as errors.
            log: Box::new(|_| {}),
        })
        .map_err(|error| Failure::target(not_started(error)))?;
        let port = running.addresses().first().map(SocketAddr::port);
        let url = NfsUrl { port, mount_port: port, ..url(options)? };
        Ok(Service { running, url })
    }

    /// The number of the thread that serves.
    pub(crate) fn thread_id(&self) -> i32 {
        self.running.thread_id()
    }

    /// Where its volume is.
    pub(crate) fn url(&self) -> &NfsUrl {
        &self.url
    }

    /// What it counted of each network flow, by name.
    fn flows(&self) -> Result<BTreeMap<String, Counters>, String> {
        let snapshot = self.running.snapshot().map_err(|error| error.to_string())?;
        let flows = snapshot.witness.flows();
        Ok(flows.map(|(name, counters)| (name.to_owned(), counters.clone())).collect())
    }
}

/// This host's runs, with the service as their witness.
///
/// Only the flows of the run's own connections are compared: others carry what keeps the directory
/// ours meanwhile.
pub(crate) struct WitnessedFleet<'s> {
    inner: LocalFleet,
    service: &'s Service,
    /// What it had counted when the run began.
    before: Result<BTreeMap<String, Counters>, String>,
    /// The flows of the run's connections, as the service names them.
    flows: BTreeSet<String>,
}

impl<'s> WitnessedFleet<'s> {
    /// Does the runs of `inner` on the files of `service`.
    pub(crate) fn new(inner: LocalFleet, service: &'s Service) -> WitnessedFleet<'s> {
        let before = Err("no run has begun".to_owned());
        WitnessedFleet { inner, service, before, flows: BTreeSet::new() }
    }
}

impl Fleet for WitnessedFleet<'_> {
    fn choose_engine(
        &mut self,
        plan: &Plan,
        directory: Option<&TargetDirectory>,
    ) -> Result<EngineUsed, FleetError> {
        self.inner.choose_engine(plan, directory)
    }

    fn run(
        &mut self,
        run: &Run,
        stop: &Arc<Stop>,
        on_interval: &mut dyn FnMut(Interval) -> ControlFlow<String>,
    ) -> Result<RunEnd, FleetError> {
        self.before = self.service.flows();
        self.flows.clear();
        let flows = &mut self.flows;
        self.inner.run(run, stop, &mut |interval| {
            for connection in &interval.connections {
                // A connection that was made again has another name in a later interval.
                flows.insert(format!("{}-{}", connection.local, connection.remote));
            }
            on_interval(interval)
        })
    }

    fn witness(&mut self) -> Result<Option<WitnessCounts>, String> {
        let before = self.before.as_ref().map_err(Clone::clone)?;
        let after = self.service.flows()?;
        let mut counts = WitnessCounts::default();
        for name in &self.flows {
            let counters = after
                .get(name)
                .ok_or_else(|| format!("the service does not know the connection {name}"))?;
            // A port may have been used before.
            let nothing = Counters::default();
            let earlier = before.get(name).unwrap_or(&nothing);
            let of_interest = [Procedure::Read, Procedure::Write, Procedure::Commit];
            for (sum, procedure) in counts.calls.iter_mut().zip(of_interest) {
                *sum += counters.of(procedure) - earlier.of(procedure);
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
