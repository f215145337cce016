//! A record beside what was published: which configuration its load points are, how each part of
//! that is known, and whether a comparison means anything. For `expect --run` and for the record's
//! own report, so that both say the same.

mod reached;

use analysis::load_point::{LoadPoint, StreamSummary};
use analysis::verdict::{Known, Limit};
use analysis::wire::RunWire;
use analysis::{Findings, analyze};
use cloud::figure::{self, Figure, Protocol};
use cloud::service_level::VolumeKind;
use cloud::vm_size::{self, VmSize};
use metrics::run_record::ExperimentRecord;
use predict::Parameters;
use predict::expect::{Configuration, nearest, predicted, usual_endpoints};
use report::expect::published::Published;
use report::expect::{Expectation, Measured};
use units::{BytesPerSec, Utc, counted};

use crate::beside_args::BesideArguments;
use crate::load_points::{Done, Most, best_of_each};
use reached::Reached;

/// Figures beside each load point of a record's own report.
const FIGURES_SHOWN: usize = 3;
/// Variants of a record's own report.
const VARIANTS_SHOWN: usize = 12;
/// The entry in which the record keeps what Azure's metadata said.
const VM_SIZE: &str = "vm.size";

/// What is published, with the model that was fitted to it.
#[derive(Clone, Debug)]
pub(crate) struct Literature {
    figures: Vec<Figure>,
    parameters: Parameters,
    /// From which the age of figures is counted.
    year: u64,
    /// Figures that are shown beside each load.
    top: usize,
}

impl Literature {
    /// Everything that the product knows.
    ///
    /// * `unix_ms` - the time from which the age of figures is counted
    pub(crate) fn at(unix_ms: u64, top: usize) -> Literature {
        let figures = figure::all();
        let parameters = Parameters::calibrated(&figures);
        Literature { figures, parameters, year: Utc::from_unix_ms(unix_ms).year, top }
    }

    /// The figures nearest to a configuration, and what the model says.
    pub(crate) fn beside(
        &self,
        configuration: Configuration,
        measured: Option<Measured>,
    ) -> Expectation {
        let Literature { figures, parameters, year, top } = self;
        Expectation {
            curve: predicted(&configuration, parameters),
            near: nearest(&configuration, figures, parameters, *year, *top),
            figures: figures.clone(),
            configuration,
            measured,
        }
    }
}

/// What the user says of a record's configuration; the record says the rest.
#[derive(Clone, Debug)]
pub(crate) struct Said {
    pub(crate) vm: Option<VmSize>,
    pub(crate) protocol: Option<Protocol>,
    pub(crate) nconnect: Option<u64>,
    pub(crate) limit_bytes_per_s: Option<f64>,
    pub(crate) esxi: bool,
    pub(crate) hosts: u64,
    pub(crate) volumes: u64,
    pub(crate) kind: VolumeKind,
}

impl Default for Said {
    /// One machine and one regular volume, as a run has them.
    fn default() -> Said {
        Said {
            vm: None,
            protocol: None,
            nconnect: None,
            limit_bytes_per_s: None,
            esxi: false,
            hosts: 1,
            volumes: 1,
            kind: VolumeKind::Regular,
        }
    }
}

/// What stands beside a record in its own report; nothing where figures of a file service over a
/// network say nothing about its target, unless they are asked for.
pub(crate) fn of_record(
    record: &ExperimentRecord,
    findings: &Findings,
    asked: &BesideArguments,
) -> Option<Published> {
    if !asked.is_asked() && !Reached::of(record).is_network() {
        return None;
    }
    let said = Said { vm: asked.vm.clone(), ..Said::default() };
    let published = published(record, findings, &said, FIGURES_SHOWN, VARIANTS_SHOWN);
    (!published.expectations.is_empty()).then_some(published)
}

/// A record with its findings beside what was published.
///
/// * `top` - figures for each load point
/// * `variants` - most load points
pub(crate) fn published(
    record: &ExperimentRecord,
    findings: &Findings,
    said: &Said,
    top: usize,
    variants: usize,
) -> Published {
    let best = best_of_each(findings, Most::Operations);
    let known = Known::of(record);
    let machine = Machine::of(record, &known, said);
    let literature = Literature::at(record.started_unix_ms, top);
    let shown = best.iter().take(variants);
    let expectations = shown.map(|place| {
        let configuration = configuration(*place, record, findings, &known, &machine, said);
        literature.beside(configuration, Some(measured(*place, findings)))
    });
    let expectations: Vec<Expectation> = expectations.collect();
    Published {
        basis: basis(record, &known, &machine, said, &expectations),
        left_out: best.len().saturating_sub(variants),
        expectations,
    }
}

/// Findings of a record and what stands beside them.
pub(crate) fn analyzed(
    record: &ExperimentRecord,
    asked: &BesideArguments,
) -> (Findings, Option<Published>) {
    let findings = analyze(record);
    let published = of_record(record, &findings, asked);
    (findings, published)
}

/// The size of the machine, and how it is known.
struct Machine {
    size: Option<VmSize>,
    words: String,
}

impl Machine {
    fn of(record: &ExperimentRecord, known: &Known, said: &Said) -> Machine {
        let of = |size: VmSize, how: &str| Machine {
            words: format!("The machine: {}, {how}.", size.name),
            size: Some(size),
        };
        if let Some(size) = &said.vm {
            return of(size.clone(), "as given");
        }
        let by_metadata = entry(&record.environment, VM_SIZE);
        if let Some(size) = by_metadata.and_then(vm_size::named) {
            return of(size, "as Azure's metadata said when it was measured");
        }
        let egress = known.limit(Limit::VmEgress).and_then(|known| vm_size::named(&known.origin));
        if let Some(size) = egress {
            return of(size, "as `--known egress=` says");
        }
        let why = match by_metadata {
            Some(name) => format!("is {name}, of which no limits are known"),
            None => "is of a size that the record does not know".to_owned(),
        };
        let words = format!("The machine {why}, so it limits nothing here; `--vm` names a size.");
        Machine { size: None, words }
    }
}

/// The load point as a configuration.
fn configuration(
    place: usize,
    record: &ExperimentRecord,
    findings: &Findings,
    known: &Known,
    machine: &Machine,
    said: &Said,
) -> Configuration {
    let point = &findings.load_points[place];
    let Done { transfer_bytes, read, access } = Done::of(point);
    let limit = known.limit(Limit::VolumeThroughput).map(|known| known.value);
    Configuration {
        protocol: said.protocol.unwrap_or_else(|| Reached::of(record).protocol()),
        vm: machine.size.clone(),
        vcpu: machine.size.as_ref().map(|size| size.vcpu),
        esxi: said.esxi,
        hosts: said.hosts,
        nconnect: said.nconnect.unwrap_or_else(|| connections(record, point)),
        volumes: said.volumes,
        kind: said.kind,
        endpoints: usual_endpoints(said.kind, said.volumes),
        limit_bytes_per_s: said.limit_bytes_per_s.or(limit),
        transfer_bytes,
        read,
        access,
        outstanding: Some(outstanding(&point.merged.total)),
        floor_s: floor_s(findings, &point.variant),
    }
}

/// As many as may be, or those that were, where the load was not more than asked for.
fn outstanding(total: &StreamSummary) -> u64 {
    let seen = total.outstanding_mean.filter(|_| is_paced(total));
    seen.map_or(total.queue_depth_total, |mean| mean.value.round() as u64).max(1)
}

/// Whether more could have been asked of the store at this queue depth than was.
fn is_paced(total: &StreamSummary) -> bool {
    (total.offered_rate.is_some() && total.overload.is_none()) || total.think_time_ns > 0
}

fn measured(place: usize, findings: &Findings) -> Measured {
    let point = &findings.load_points[place];
    let total = &point.merged.total;
    let mut apart = Vec::new();
    match total.offered_rate.filter(|_| is_paced(total)) {
        Some(rate) => apart.push(format!(
            "No more than {} ops/s were offered, so it does not show what the store can do.",
            report::number::plain(rate)
        )),
        None if is_paced(total) => apart.push(
            "Operations waited after each other, so it does not show what the store can do."
                .to_owned(),
        ),
        None => {}
    }
    if findings.wire.get(place).is_some_and(|runs| runs.iter().any(RunWire::is_cached)) {
        apart.push(
            "A cache of this host answered in part; what was published is of the store.".to_owned(),
        );
    }
    Measured {
        id: findings.id.clone(),
        variant: point.variant.clone(),
        ops_per_s: total.data.achieved_rate.map_or(0.0, |rate| rate.value),
        verdict: findings.verdict_of(place).cloned(),
        apart,
    }
}

/// What is compared with what, how that is known, and what is assumed.
fn basis(
    record: &ExperimentRecord,
    known: &Known,
    machine: &Machine,
    said: &Said,
    expectations: &[Expectation],
) -> Vec<String> {
    let reached = Reached::of(record);
    let mut all = vec![reached.words(record), machine.words.clone()];
    let Some(first) = expectations.first().map(|one| &one.configuration) else { return all };
    if let Some(version) = reached.other_version(record) {
        all.push(format!("The mount speaks NFS {version}; what was published is of NFSv3."));
    }
    let mut connections: Vec<u64> = expectations.iter().map(|e| e.configuration.nconnect).collect();
    connections.sort_unstable();
    connections.dedup();
    let connections: Vec<String> = connections.iter().map(u64::to_string).collect();
    all.push(format!(
        "Protocol {}, connections of the machine: {}.",
        first.protocol.name(),
        connections.join(", ")
    ));
    let [mut assumed, given] = counts(said);
    if !given.is_empty() {
        all.push(format!("As given: {}.", given.join(", ")));
    }
    let limit = |rate: f64| format!("Throughput limit of each volume: {}", BytesPerSec::new(rate));
    match (said.limit_bytes_per_s, known.limit(Limit::VolumeThroughput)) {
        (Some(rate), _) => all.push(format!("{}, as given.", limit(rate))),
        (None, Some(known)) => all.push(format!("{} ({}).", limit(known.value), known.origin)),
        (None, None) => assumed.push(
            "no throughput limit, because none is known (`run --known volume=` or `expect \
             --limit` name one)"
                .to_owned(),
        ),
    }
    if !assumed.is_empty() {
        all.push(format!("Assumed: {}.", assumed.join(", ")));
    }
    all
}

/// Machines and volumes: those that are assumed, and those that were given.
///
/// Who gives what is assumed anyway has not said anything else.
fn counts(said: &Said) -> [Vec<String>; 2] {
    let usual = Said::default();
    let volume = format!("{} volume", said.kind.name());
    let is_usual = (said.volumes, said.kind) == (usual.volumes, usual.kind);
    let all = [
        (said.hosts == usual.hosts, counted(said.hosts, "machine")),
        (is_usual, counted(said.volumes, &volume)),
    ];
    let (assumed, given): (Vec<_>, Vec<_>) = all.into_iter().partition(|(is_usual, _)| *is_usual);
    [assumed, given].map(|some| some.into_iter().map(|(_, words)| words).collect())
}

/// Connections of the load point, of the kernel's mount, or one.
fn connections(record: &ExperimentRecord, point: &LoadPoint) -> u64 {
    let own = point.runs.iter().map(|run| run.connections.len() as u64).max().unwrap_or(0);
    let mount = || entry(&record.environment, "mount.nconnect").and_then(|text| text.parse().ok());
    let count = Some(own).filter(|count| *count > 0).or_else(mount);
    count.or_else(|| record.plan.target.connections().map(u64::from)).unwrap_or(1).max(1)
}

/// The response time of one operation at a time, where the variant was measured so.
fn floor_s(findings: &Findings, variant: &str) -> Option<f64> {
    let of_variant = findings.curves.iter().filter_map(|curve| curve.floor.as_ref().ok());
    let mine = |index: usize| findings.load_points[index].variant == variant;
    let mut floors = of_variant.filter(|floor| mine(floor.load_point));
    floors.find_map(|floor| floor.latency_ns()).map(|latency| latency.value / 1e9)
}

/// An entry of a record's environment.
fn entry<'r>(environment: &'r [(String, String)], name: &str) -> Option<&'r str> {
    environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
