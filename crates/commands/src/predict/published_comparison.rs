//! Published figures compared with a record: the configuration of its load points, the source of
//! each part of it, and whether the comparison is meaningful. Used by `expect --run` and by the
//! record's own report, so that both show the same.

use std::collections::{BTreeMap, BTreeSet};

use analysis::load_point::{LoadPoint, RunSummary, StreamSummary};
use analysis::measured_load::{BestBy, MeasuredLoad, best_of_each};
use analysis::verdict::{Known, KnownLimit, Limit};
use analysis::workload_signature::WorkloadSignature;
use analysis::{Findings, analyze};
use cloud::figure::{self, Figure, Protocol};
use cloud::service_level::VolumeKind;
use cloud::vm_size::{self, VmSize};
use metrics::environment::Environment;
use metrics::fleet::FleetHost;
use metrics::run_record::ExperimentRecord;
use predict::Parameters;
use predict::configuration::{Configuration, usual_endpoints};
use predict::expect::{nearest, predicted};
use report::expect::basis::{
    Basis, ConfigurationBasis, Counts, LimitSource, MachineSize, MachineSource,
};
use report::expect::published::Published;
use report::expect::{Expectation, Measured, Note};
use units::{BytesPerSec, OpsPerSec, Utc};

use super::target_kind;

/// Figures for each load point in a record's own report.
const FIGURES_SHOWN: usize = 3;
/// Workload variants in a record's own report.
const VARIANTS_SHOWN: usize = 12;

/// The published figures, and the model that is calibrated with them.
#[derive(Clone, Debug)]
pub struct PublishedFigures {
    figures: Vec<Figure>,
    parameters: Parameters,
    /// The age of a figure is counted from this year.
    year: u64,
    /// How many figures are shown for each load.
    top: usize,
}

impl PublishedFigures {
    /// All published figures.
    ///
    /// * `unix_ms` - the time from which the age of figures is counted
    /// * `top` - how many figures are shown for each load
    pub fn at(unix_ms: u64, top: usize) -> PublishedFigures {
        let figures = figure::all();
        let parameters = Parameters::calibrated(&figures);
        PublishedFigures { figures, parameters, year: Utc::from_unix_ms(unix_ms).year, top }
    }

    /// The figures nearest to a configuration, the model's prediction, and the measurement.
    pub fn compared_with(
        &self,
        configuration: Configuration,
        measured: Option<Measured>,
    ) -> Expectation {
        let PublishedFigures { figures, parameters, year, top } = self;
        Expectation {
            curve: predicted(&configuration, parameters),
            near: nearest(&configuration, figures, parameters, *year, *top),
            figures: figures.clone(),
            configuration,
            measured,
        }
    }
}

/// Parts of the configuration that the user sets; the rest is from the record, or one of everything.
#[derive(Clone, Debug, Default)]
pub struct UserOverrides {
    /// The machine's size.
    pub vm: Option<VmSize>,
    /// How the volumes are accessed.
    pub protocol: Option<Protocol>,
    /// Connections of each machine.
    pub nconnect: Option<u64>,
    /// The throughput limit of each volume.
    pub limit: Option<BytesPerSec>,
    /// The clients are VMware hosts.
    pub esxi: bool,
    /// Number of machines.
    pub hosts: Option<u64>,
    /// Number of volumes.
    pub volumes: Option<u64>,
    /// The kind of the volumes; by default regular.
    pub kind: Option<VolumeKind>,
}

impl UserOverrides {
    /// The kind of the volumes, which no record contains.
    pub(super) fn volume_kind(&self) -> VolumeKind {
        self.kind.unwrap_or(VolumeKind::Regular)
    }
}

/// Options for published figures in a record's own report.
#[derive(Clone, Debug, Default)]
pub struct ReportOptions {
    /// The size of the machine that measured.
    pub vm: Option<VmSize>,
    /// Show them whatever the target is.
    pub any_target: bool,
}

impl ReportOptions {
    /// Whether the user set an option.
    pub fn is_set(&self) -> bool {
        self.vm.is_some() || self.any_target
    }
}

/// The published figures for a record's own report. `None` for targets that they do not apply to,
/// unless an option requests them.
pub fn of_record(
    record: &ExperimentRecord,
    findings: &Findings,
    options: &ReportOptions,
) -> Option<Published> {
    if !options.is_set() && !target_kind::of(record).is_network() {
        return None;
    }
    let overrides = UserOverrides { vm: options.vm.clone(), ..UserOverrides::default() };
    let published = published(record, findings, &overrides, FIGURES_SHOWN, VARIANTS_SHOWN);
    (!published.expectations.is_empty()).then_some(published)
}

/// The published figures for the best load point of each variant.
///
/// * `top` - figures for each load point
/// * `variants` - the most load points
pub(crate) fn published(
    record: &ExperimentRecord,
    findings: &Findings,
    overrides: &UserOverrides,
    top: usize,
    variants: usize,
) -> Published {
    let best = best_of_each(findings, BestBy::Operations);
    let known = Known::of(record);
    let machine = Machine::of(record, &known, overrides);
    let figures = PublishedFigures::at(record.started_unix_ms, top);
    let shown = &best[..best.len().min(variants)];
    let expectations = shown.iter().map(|index| {
        let configuration = configuration(*index, record, findings, &known, &machine, overrides);
        figures.compared_with(configuration, Some(measured(*index, findings)))
    });
    let expectations: Vec<Expectation> = expectations.collect();
    let limits = shown.iter().filter_map(|index| limit(&known, &findings.load_points[*index]));
    let limits: Vec<KnownLimit> = limits.collect();
    Published {
        basis: Some(basis(record, &limits, machine, overrides, &expectations)),
        left_out: best.len().saturating_sub(variants),
        expectations,
    }
}

/// The findings of a record, and the published figures for its report.
pub fn analyzed(
    record: &ExperimentRecord,
    options: &ReportOptions,
) -> (Findings, Option<Published>) {
    let findings = analyze(record);
    let published = of_record(record, &findings, options);
    (findings, published)
}

/// The size of the machine, and its source.
struct Machine {
    size: Option<VmSize>,
    basis: MachineSize,
}

impl Machine {
    fn of(record: &ExperimentRecord, known: &Known, overrides: &UserOverrides) -> Machine {
        let of = |size: VmSize, source| Machine {
            basis: MachineSize::Known { name: size.name.clone(), source },
            size: Some(size),
        };
        if let Some(size) = &overrides.vm {
            return of(size.clone(), MachineSource::Given);
        }
        let by_metadata = record.environment.vm_size.as_deref();
        if let Some(size) = by_metadata.and_then(vm_size::named) {
            return of(size, MachineSource::Metadata);
        }
        let egress =
            known.limit(Limit::VmEgress).and_then(|known| vm_size::named(known.origin.name()?));
        if let Some(size) = egress {
            return of(size, MachineSource::KnownEgress);
        }
        let basis = match (by_metadata, sizes(&record.hosts)) {
            (Some(name), _) => MachineSize::NotListed(name.to_owned()),
            (None, sizes) if sizes.len() > 1 => MachineSize::Mixed(sizes),
            (None, _) => MachineSize::NotRecorded,
        };
        Machine { size: None, basis }
    }
}

/// The sizes of a fleet's machines, each once.
fn sizes(hosts: &[FleetHost]) -> Vec<String> {
    let of_host = |host: &FleetHost| host.facts.iter().cloned().collect::<Environment>().vm_size;
    ascending(hosts.iter().filter_map(of_host))
}

/// Each value once, in ascending order.
fn ascending<T: Ord>(values: impl Iterator<Item = T>) -> Vec<T> {
    values.collect::<BTreeSet<T>>().into_iter().collect()
}

/// The load point as a configuration.
fn configuration(
    index: usize,
    record: &ExperimentRecord,
    findings: &Findings,
    known: &Known,
    machine: &Machine,
    overrides: &UserOverrides,
) -> Configuration {
    let point = &findings.load_points[index];
    let MeasuredLoad { transfer_bytes, read, access, hosts, volumes } = MeasuredLoad::of(point);
    let limit = limit(known, point).map(|known| BytesPerSec::new(known.value));
    let kind = overrides.volume_kind();
    Configuration {
        protocol: overrides
            .protocol
            .unwrap_or_else(|| target_kind::protocol(target_kind::of(record))),
        vm: machine.size.clone(),
        vcpu: machine.size.as_ref().map(|size| size.vcpu),
        esxi: overrides.esxi,
        hosts: overrides.hosts.unwrap_or(hosts),
        nconnect: overrides.nconnect.unwrap_or_else(|| connections(record, point)),
        volumes: overrides.volumes.unwrap_or(volumes),
        kind,
        endpoints: endpoints(overrides, &point.signature),
        limit: overrides.limit.or(limit),
        transfer_bytes,
        read,
        access,
        outstanding: Some(outstanding(&point.merged.total)),
        floor_s: floor_s(findings, &point.variant),
    }
}

/// The queue depth, or the measured mean in flight if the load was paced.
fn outstanding(total: &StreamSummary) -> u64 {
    let seen = total.outstanding_mean.filter(|_| is_paced(total));
    seen.map_or(total.queue_depth_total, |mean| mean.value.round() as u64).max(1)
}

/// Whether the load was limited by an offered rate or a think time instead of the queue depth.
fn is_paced(total: &StreamSummary) -> bool {
    (total.offered_rate.is_some() && total.overload.is_none()) || total.think_time_ns > 0
}

fn measured(index: usize, findings: &Findings) -> Measured {
    let point = &findings.load_points[index];
    let total = &point.merged.total;
    let mut notes = Vec::new();
    match total.offered_rate.filter(|_| is_paced(total)) {
        Some(rate) => notes.push(Note::OfferedRate(rate)),
        None if is_paced(total) => notes.push(Note::ThinkTime),
        None => {}
    }
    if findings.is_cached(index) {
        notes.push(Note::Cached);
    }
    Measured {
        id: findings.id.clone(),
        variant: point.variant.clone(),
        rate: OpsPerSec::new(total.data.achieved_rate.map_or(0.0, |rate| rate.value)),
        verdict: findings.verdict_of(index).cloned(),
        notes,
    }
}

/// What is compared, the source of each value, and what is assumed.
fn basis(
    record: &ExperimentRecord,
    limits: &[KnownLimit],
    machine: Machine,
    overrides: &UserOverrides,
    expectations: &[Expectation],
) -> Basis {
    let configuration = expectations.first().map(|first| {
        let of_all = |value: fn(&Configuration) -> u64| {
            ascending(expectations.iter().map(|one| value(&one.configuration)))
        };
        let counts = |given: Option<u64>, value| match given {
            Some(_) => Counts::Given(of_all(value)),
            None => Counts::Recorded(of_all(value)),
        };
        let limit = match (overrides.limit, limits.first()) {
            (Some(rate), _) => LimitSource::Given(rate),
            (None, Some(first)) => {
                let mut rates: Vec<f64> = limits.iter().map(|known| known.value).collect();
                rates.sort_by(f64::total_cmp);
                rates.dedup();
                let rates = rates.into_iter().map(BytesPerSec::new).collect();
                LimitSource::Known(rates, first.origin.clone())
            }
            (None, None) => LimitSource::NotKnown,
        };
        ConfigurationBasis {
            other_version: target_kind::other_version(record),
            protocol: first.configuration.protocol,
            connections: of_all(|one| one.nconnect),
            hosts: counts(overrides.hosts, |one| one.hosts),
            volumes: counts(overrides.volumes, |one| one.volumes),
            kind: overrides.kind,
            limit,
        }
    });
    Basis {
        target: target_kind::of(record),
        is_azure: record.environment.is_azure,
        machine: machine.basis,
        configuration,
    }
}

/// The throughput limit of each volume of the load point, or their mean.
fn limit(known: &Known, point: &LoadPoint) -> Option<KnownLimit> {
    let limits = known.limits_of(&point.signature);
    limits.into_iter().find(|known| known.limit == Limit::VolumeThroughput)
}

/// The server addresses of the load point. Those of other volumes than the record's are the usual ones.
fn endpoints(overrides: &UserOverrides, work: &WorkloadSignature) -> u64 {
    let recorded = work.addresses.filter(|_| (overrides.volumes, overrides.kind) == (None, None));
    recorded.map_or_else(
        || {
            let volumes = overrides.volumes.unwrap_or_else(|| u64::from(work.volumes));
            usual_endpoints(overrides.volume_kind(), volumes)
        },
        u64::from,
    )
}

/// Connections of each host to each endpoint: of the load point, of the kernel's mount, or one.
fn connections(record: &ExperimentRecord, point: &LoadPoint) -> u64 {
    let of_run = |run: &RunSummary| {
        of_each_host(run.connections.iter().map(|one| (one.host, one.remote.as_str())))
    };
    let own = point.runs.iter().map(of_run).max();
    let count = own.filter(|count| *count > 0).or(record.environment.mount_connections);
    count.or_else(|| record.plan.target().connections().map(u64::from)).unwrap_or(1).max(1)
}

/// The most connections of a host to one address. A host may use some of the addresses only.
///
/// * `connections` - the host of each, and its remote address with the port
fn of_each_host<'a>(connections: impl Iterator<Item = (u32, &'a str)>) -> u64 {
    let mut counts: BTreeMap<(u32, &str), u64> = BTreeMap::new();
    for (host, remote) in connections {
        let address = remote.rsplit_once(':').map_or(remote, |(address, _)| address);
        *counts.entry((host, address)).or_default() += 1;
    }
    counts.into_values().max().unwrap_or(0)
}

/// The latency at queue depth 1, if the variant was measured there.
fn floor_s(findings: &Findings, variant: &str) -> Option<f64> {
    let of_variant = findings.curves.iter().filter_map(|curve| curve.floor.as_ref().ok());
    let mine = |index: usize| findings.load_points[index].variant == variant;
    let mut floors = of_variant.filter(|floor| mine(floor.load_point));
    floors.find_map(|floor| floor.latency_ns()).map(|latency| latency.value / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_those_of_a_host_to_one_address() {
        assert_eq!(of_each_host(std::iter::empty()), 0);
        // Each of two hosts has two connections to a separate volume.
        let spread = [(0, "10.0.0.1:2049"), (0, "10.0.0.1:2049"), (1, "[fd00::2]:2049")];
        assert_eq!(of_each_host(spread.into_iter().chain([(1, "[fd00::2]:2049")])), 2);
        let all = [(0, "10.0.0.1:2049"), (0, "10.0.0.2:2049"), (1, "10.0.0.1:2049")];
        assert_eq!(of_each_host(all.into_iter()), 1);
    }

    #[test]
    fn each_size_of_the_machines_of_a_fleet_is_listed_once() {
        let host = |size: Option<&str>| FleetHost {
            facts: size.map(|size| ("vm.size".to_owned(), size.to_owned())).into_iter().collect(),
            ..FleetHost::default()
        };
        let (large, small) = (Some("Standard_D32s_v5"), Some("Standard_D16s_v5"));
        let hosts = [large, small, None, large].map(host);
        assert_eq!(sizes(&hosts), ["Standard_D16s_v5", "Standard_D32s_v5"]);
        assert_eq!(sizes(&[host(None)]), Vec::<String>::new());
    }
}
