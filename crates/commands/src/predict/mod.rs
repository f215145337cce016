//! `predict` and `expect`: what hosts and volumes will deliver, compared with published figures and
//! with measurements.

mod measured_run;
mod profile_loads;
pub mod published_comparison;
mod target_kind;

use std::path::Path;

use analysis::{Findings, analyze};
use anyhow::{Context, anyhow};
use cloud::figure::{Access, Protocol};
use predict::configuration::{Configuration, usual_endpoints};
use predict::topology::Workload;
use predict::{Curve, Parameters, Topology, topology_file};
use report::expect::Expectation;
use report::expect::published::Published;
use report::predict::Comparison;
use report::results::load_point_name;
use store::Store;
use units::Percent;

use crate::outcome::Failure;
use crate::unix_ms;
use published_comparison::{PublishedFigures, UserOverrides};

/// Published figures for each workload of a topology.
const FIGURES_SHOWN: usize = 3;
/// Bytes in a KiB.
const KIB: u64 = 1024;

/// What a prediction is compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// Published figures.
    Published,
    /// The measured run with this ID.
    Run(String),
}

/// A prediction, and what it is compared with.
#[derive(Debug)]
pub struct Prediction {
    /// The topology.
    pub topology: Topology,
    /// Throughput and latency over concurrency.
    pub curve: Curve,
    /// Published figures and measured runs.
    pub compared: Comparison,
}

/// Predicts what the topology in a file will deliver.
///
/// # Errors
/// The file cannot be read or has problems, or a run cannot be compared with it.
pub fn predict(path: &Path, against: &[Against], store: &Store) -> Result<Prediction, Failure> {
    let topology = read_topology(path)?;
    let parameters = Parameters::calibrated(&cloud::figure::all());
    let curve = predict::curve(&topology, &parameters).map_err(Failure::input)?;
    let mut compared = Comparison::default();
    for against in against {
        match against {
            Against::Published => compared.published = published(&topology),
            Against::Run(id) => {
                compared.measured.push(measured_run::measured(id, store, &topology, &parameters)?);
            }
        }
    }
    Ok(Prediction { topology, curve, compared })
}

fn read_topology(path: &Path) -> Result<Topology, Failure> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("read topology {}", path.display()))
        .map_err(Failure::input)?;
    topology_file::parse_with(&text, &path.display().to_string(), &profile_loads::loads)
        .map_err(|problems| Failure::problems(&text, problems))
}

/// The figures nearest to each workload.
fn published(topology: &Topology) -> Vec<Expectation> {
    let figures = PublishedFigures::at(unix_ms(), FIGURES_SHOWN);
    let of =
        |workload: &Workload| figures.compared_with(Configuration::of(topology, workload), None);
    topology.workloads.iter().map(of).collect()
}

/// The load of `expect`; with no part given, the four corners.
#[derive(Clone, Copy, Debug, Default)]
pub struct Load {
    /// Bytes of an operation.
    pub transfer_bytes: Option<u64>,
    /// The share of reads.
    pub read: Option<Percent>,
    /// The access pattern.
    pub access: Option<Access>,
}

/// The published figures nearest to a configuration.
///
/// * `top` - how many figures for each load
///
/// # Errors
/// The configuration contradicts itself.
pub fn expect(configuration: &UserOverrides, load: Load, top: usize) -> Result<Published, Failure> {
    refuse_contradiction(configuration)?;
    let figures = PublishedFigures::at(unix_ms(), top);
    let expectations = loads(load).into_iter().map(|(transfer_bytes, access, read)| {
        figures.compared_with(of_load(configuration, transfer_bytes, access, read), None)
    });
    Ok(Published { expectations: expectations.collect(), ..Published::default() })
}

/// The published figures nearest to a measured run.
///
/// * `top` - how many figures for each load point
///
/// # Errors
/// The configuration contradicts itself, or the record has no successful operations.
pub fn expect_of_run(
    id: &str,
    configuration: &UserOverrides,
    top: usize,
    store: &Store,
) -> Result<Published, Failure> {
    refuse_contradiction(configuration)?;
    let record = store.load(id).map_err(Failure::input)?;
    let findings = analyze(&record);
    refuse_lost_hosts("expect from", &findings)?;
    let published =
        published_comparison::published(&record, &findings, configuration, top, usize::MAX);
    if published.expectations.is_empty() {
        return Err(no_successful_operations("expect", &findings.id));
    }
    Ok(published)
}

/// Refuses a record with lost hosts: the best load of all hosts may be one that only some measured.
///
/// * `what` - what is done with the record, as `size from`
///
/// # Errors
/// Hosts were lost at a load point.
pub(crate) fn refuse_lost_hosts(what: &str, findings: &Findings) -> Result<(), Failure> {
    let lost = findings.load_points.iter().filter(|point| !point.is_whole()).map(load_point_name);
    let lost: Vec<String> = lost.collect();
    let Some(first) = lost.first() else { return Ok(()) };
    let id = &findings.id;
    Err(Failure::input(anyhow!(
        "{what} `{id}`: the totals of {} are those of fewer hosts: {first}; complete the record \
         (`fourcorners fleet collect {id}`) or measure again",
        match lost.len() {
            1 => "a load point".to_owned(),
            several => format!("{several} load points"),
        },
    )))
}

/// The failure of a command that needs a record with successful operations.
pub(crate) fn no_successful_operations(command: &str, id: &str) -> Failure {
    Failure::input(anyhow!(
        "{command} from `{id}`: the record has no successful operations; name one that has \
         (`fourcorners list`)"
    ))
}

/// Refuses options that would be ignored.
fn refuse_contradiction(configuration: &UserOverrides) -> Result<(), Failure> {
    let problem = if configuration.esxi && configuration.nconnect.is_some() {
        "--nconnect: a VMware host has one connection to each volume; leave it out and set \
         --volumes"
    } else if configuration.esxi && configuration.protocol == Some(Protocol::Smb) {
        "--protocol smb: datastores of VMware hosts use NFS; leave it out"
    } else {
        return Ok(());
    };
    Err(Failure::input(anyhow!(problem)))
}

/// Transfer size, access pattern and share of reads of each load.
fn loads(load: Load) -> Vec<(u64, Access, f64)> {
    let Load { transfer_bytes, read, access } = load;
    if let (None, None, None) = (transfer_bytes, read, access) {
        return vec![
            (8 * KIB, Access::Random, 1.0),
            (8 * KIB, Access::Random, 0.0),
            (64 * KIB, Access::Sequential, 1.0),
            (64 * KIB, Access::Sequential, 0.0),
        ];
    }
    let access = access.unwrap_or(Access::Random);
    let usual = if access == Access::Random { 8 * KIB } else { 64 * KIB };
    vec![(transfer_bytes.unwrap_or(usual), access, read.map_or(1.0, Percent::fraction))]
}

fn of_load(
    configuration: &UserOverrides,
    transfer_bytes: u64,
    access: Access,
    read: f64,
) -> Configuration {
    let (volumes, kind) = (configuration.volumes.unwrap_or(1), configuration.volume_kind());
    Configuration {
        protocol: configuration.protocol.unwrap_or(Protocol::Nfsv3),
        vcpu: configuration.vm.as_ref().map(|size| size.vcpu),
        vm: configuration.vm.clone(),
        esxi: configuration.esxi,
        hosts: configuration.hosts.unwrap_or(1),
        nconnect: configuration.nconnect.unwrap_or(1),
        volumes,
        kind,
        endpoints: usual_endpoints(kind, volumes),
        limit: configuration.limit,
        transfer_bytes,
        read,
        access,
        outstanding: None,
        floor_s: None,
    }
}
