//! Published figures compared with a record: the configuration of its load points, the source of
//! each part of it, and whether the comparison is meaningful. Used by `expect --run` and by the
//! record's own report, so that both show the same.

use analysis::load_point::{LoadPoint, StreamSummary};
use analysis::measured_load::{BestBy, MeasuredLoad, best_of_each};
use analysis::verdict::{Known, Limit};
use analysis::wire::RunWire;
use analysis::{Findings, analyze};
use cloud::figure::{self, Figure, Protocol};
use cloud::service_level::VolumeKind;
use cloud::vm_size::{self, VmSize};
use metrics::run_record::ExperimentRecord;
use predict::Parameters;
use predict::configuration::{Configuration, usual_endpoints};
use predict::expect::{nearest, predicted};
use report::expect::basis::{
    Basis, ConfigurationBasis, Given, LimitSource, MachineSize, MachineSource,
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

/// Parts of the configuration that the user sets; the rest is from the record.
#[derive(Clone, Debug)]
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
    pub hosts: u64,
    /// Number of volumes.
    pub volumes: u64,
    /// The kind of the volumes.
    pub kind: VolumeKind,
}

impl Default for UserOverrides {
    /// One machine and one regular volume, as in a run.
    fn default() -> UserOverrides {
        UserOverrides {
            vm: None,
            protocol: None,
            nconnect: None,
            limit: None,
            esxi: false,
            hosts: 1,
            volumes: 1,
            kind: VolumeKind::Regular,
        }
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
    let shown = best.iter().take(variants);
    let expectations = shown.map(|index| {
        let configuration = configuration(*index, record, findings, &known, &machine, overrides);
        figures.compared_with(configuration, Some(measured(*index, findings)))
    });
    let expectations: Vec<Expectation> = expectations.collect();
    Published {
        basis: Some(basis(record, &known, machine, overrides, &expectations)),
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
        let basis = match by_metadata {
            Some(name) => MachineSize::NotListed(name.to_owned()),
            None => MachineSize::NotRecorded,
        };
        Machine { size: None, basis }
    }
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
    let MeasuredLoad { transfer_bytes, read, access } = MeasuredLoad::of(point);
    let limit = known.limit(Limit::VolumeThroughput).map(|known| BytesPerSec::new(known.value));
    Configuration {
        protocol: overrides
            .protocol
            .unwrap_or_else(|| target_kind::protocol(target_kind::of(record))),
        vm: machine.size.clone(),
        vcpu: machine.size.as_ref().map(|size| size.vcpu),
        esxi: overrides.esxi,
        hosts: overrides.hosts,
        nconnect: overrides.nconnect.unwrap_or_else(|| connections(record, point)),
        volumes: overrides.volumes,
        kind: overrides.kind,
        endpoints: usual_endpoints(overrides.kind, overrides.volumes),
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
    if findings.wire.get(index).is_some_and(|runs| runs.iter().any(RunWire::is_cached)) {
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
    known: &Known,
    machine: Machine,
    overrides: &UserOverrides,
    expectations: &[Expectation],
) -> Basis {
    let configuration = expectations.first().map(|first| {
        let mut connections: Vec<u64> =
            expectations.iter().map(|one| one.configuration.nconnect).collect();
        connections.sort_unstable();
        connections.dedup();
        let usual = UserOverrides::default();
        let volumes = (overrides.volumes, overrides.kind);
        let limit = match (overrides.limit, known.limit(Limit::VolumeThroughput)) {
            (Some(rate), _) => LimitSource::Given(rate),
            (None, Some(known)) => {
                LimitSource::Known(BytesPerSec::new(known.value), known.origin.clone())
            }
            (None, None) => LimitSource::NotKnown,
        };
        ConfigurationBasis {
            other_version: target_kind::other_version(record),
            protocol: first.configuration.protocol,
            connections,
            hosts: Given { value: overrides.hosts, is_default: overrides.hosts == usual.hosts },
            volumes: Given { value: volumes, is_default: volumes == (usual.volumes, usual.kind) },
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

/// Connections of the load point, of the kernel's mount, or one.
fn connections(record: &ExperimentRecord, point: &LoadPoint) -> u64 {
    let own = point.runs.iter().map(|run| run.connections.len() as u64).max().unwrap_or(0);
    let count = Some(own).filter(|count| *count > 0).or(record.environment.mount_connections);
    count.or_else(|| record.plan.target().connections().map(u64::from)).unwrap_or(1).max(1)
}

/// The latency at queue depth 1, if the variant was measured there.
fn floor_s(findings: &Findings, variant: &str) -> Option<f64> {
    let of_variant = findings.curves.iter().filter_map(|curve| curve.floor.as_ref().ok());
    let mine = |index: usize| findings.load_points[index].variant == variant;
    let mut floors = of_variant.filter(|floor| mine(floor.load_point));
    floors.find_map(|floor| floor.latency_ns()).map(|latency| latency.value / 1e9)
}
