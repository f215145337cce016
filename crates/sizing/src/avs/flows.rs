//! How many datastores carry a load from so many hosts, by the model of crate `predict`.
//!
//! A host has one connection to each datastore, so connections are hosts times datastores; the
//! model is calibrated from what was published of such hosts. Volumes share a storage endpoint
//! unless the service gives them several, which it decides; where one is not enough, it is said how
//! many are.

use cloud::figure::Access;
use cloud::reason::Reason;
use cloud::service_level::VolumeKind;
use predict::topology::{self, EndpointGroup, HostGroup, Topology, VolumeGroup, Workload};
use predict::{Bound, Parameters, capacity};
use units::{Bytes, counted, thousands};

use crate::avs::machine::{Chosen, total};

/// Bytes of a sequential operation in what was published of such hosts.
const SEQUENTIAL_BYTES: u64 = 64 << 10;
/// More endpoints than this for one load are not looked for.
const ENDPOINTS_MAX: u64 = 16;

/// What is asked of datastores, all together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Operations per second, where they are known.
    pub ops_per_s: Option<u64>,
    /// Bytes per second, where they are known.
    pub bytes_per_s: Option<u64>,
    /// The share of reads, in thousandths.
    pub read_permille: u64,
}

impl Load {
    /// What machines do together. Where some say operations and others only throughput, that of
    /// the latter counts as large sequential operations; the share of reads is that of their
    /// operations, or of their bytes where nobody says operations.
    pub fn of<'a>(machines: impl Iterator<Item = &'a Chosen> + Clone, read_permille: u64) -> Load {
        let knows_ops = machines.clone().any(|machine| machine.ops_per_s.is_some());
        let large = |bytes: u64| bytes.div_ceil(SEQUENTIAL_BYTES);
        let ops = |machine: &Chosen| match knows_ops {
            true => machine.ops_per_s.or(machine.bytes_per_s.map(large)),
            false => None,
        };
        let weight =
            |machine: &Chosen| u128::from(ops(machine).or(machine.bytes_per_s).unwrap_or(0));
        let all: u128 = machines.clone().map(weight).sum();
        let reads = machines.clone().map(|one| weight(one) * u128::from(one.read_permille));
        let reads =
            reads.sum::<u128>().checked_div(all).and_then(|share| u64::try_from(share).ok());
        Load {
            ops_per_s: total(machines.clone().map(ops)),
            bytes_per_s: total(machines.map(|machine| machine.bytes_per_s)),
            read_permille: reads.unwrap_or(read_permille),
        }
    }
}

/// Datastores that carry a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// How many.
    pub datastores: u64,
    /// Why.
    pub reasons: Vec<Reason>,
}

/// The least number of datastores, up to `most`, that carries the load; 1 where none is known.
///
/// # Errors
/// The most that is predicted, where that is not enough.
pub fn datastores_for(
    hosts: u64,
    load: Load,
    most: u64,
    parameters: &Parameters,
) -> Result<Carried, Reason> {
    let Some((demand, wanted)) = Demand::of(load) else {
        return Ok(Carried { datastores: 1, reasons: Vec::new() });
    };
    let mut best: Option<Bound> = None;
    for endpoints in 1..=ENDPOINTS_MAX {
        let bound = |count| demand.bound(hosts, count, endpoints, parameters);
        let most_of_these = bound(most)?;
        if demand.rate(&most_of_these) < wanted {
            best = Some(most_of_these);
            continue;
        }
        let (mut too_few, mut enough) = (0, most);
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            match demand.rate(&bound(middle)?) >= wanted {
                true => enough = middle,
                false => too_few = middle,
            }
        }
        let datastores = enough.max(endpoints);
        let mut text = format!(
            "{} from {}: {} can carry {}",
            demand.amount(wanted),
            counted(hosts, "host"),
            counted(datastores, "datastore"),
            demand.predicted(&bound(datastores)?)
        );
        if endpoints > 1 {
            text.push_str(&format!(
                "; they must lie on {endpoints} storage endpoints, which the service assigns"
            ));
        }
        let reasons = vec![reason(text, &bound(datastores)?, parameters)];
        return Ok(Carried { datastores, reasons });
    }
    let Some(best) = best else { return Ok(Carried { datastores: 1, reasons: Vec::new() }) };
    let text = format!(
        "{} from {}: {} too many for {}",
        demand.amount(wanted),
        counted(hosts, "host"),
        demand.amount(wanted - demand.rate(&best)),
        demand.predicted(&best)
    );
    Err(reason(text, &best, parameters))
}

/// A load as the model takes it.
struct Demand {
    transfer_bytes: u64,
    read: f64,
    access: Access,
}

impl Demand {
    /// The demand, and how much of it is wanted: operations where they are known, else bytes in
    /// large operations.
    fn of(load: Load) -> Option<(Demand, f64)> {
        let read = load.read_permille as f64 / 1000.0;
        match (load.ops_per_s.filter(|ops| *ops > 0), load.bytes_per_s) {
            (Some(ops), bytes) => {
                let transfer_bytes = bytes.map_or(8 << 10, |bytes| bytes.div_ceil(ops)).max(512);
                Some((Demand { transfer_bytes, read, access: Access::Random }, ops as f64))
            }
            (None, Some(bytes)) => {
                let access = Access::Sequential;
                Some((Demand { transfer_bytes: SEQUENTIAL_BYTES, read, access }, bytes as f64))
            }
            (None, None) => None,
        }
    }

    fn bound(
        &self,
        hosts: u64,
        datastores: u64,
        endpoints: u64,
        parameters: &Parameters,
    ) -> Result<Bound, Reason> {
        let mut volumes = VolumeGroup::of("datastores", datastores, VolumeKind::Regular);
        volumes.endpoint = (endpoints > 1).then_some(0);
        let group = EndpointGroup {
            name: "endpoints".to_owned(),
            count: endpoints,
            limit_bytes_per_s: None,
        };
        let topology = Topology {
            name: "datastores".to_owned(),
            floor: None,
            burst_s: 0.0,
            hosts: vec![HostGroup::esxi("hosts", hosts, None)],
            endpoints: if endpoints > 1 { vec![group] } else { Vec::new() },
            volumes: vec![volumes],
            workloads: vec![Workload {
                name: "machines".to_owned(),
                hosts: 0,
                volumes: vec![0],
                transfer_bytes: self.transfer_bytes,
                read: self.read,
                access: self.access,
                // The bound is that of very many; any number above the slots gives it.
                load: topology::Load::Closed { outstanding: 1 << 16 },
            }],
        };
        capacity(&topology, parameters).map_err(|error| Reason::asked(error.to_string()))
    }

    fn rate(&self, bound: &Bound) -> f64 {
        match self.access {
            Access::Random => bound.ops_per_s.value,
            Access::Sequential => bound.bytes_per_s.value,
        }
    }

    fn amount(&self, rate: f64) -> String {
        match self.access {
            Access::Random => {
                let size = Bytes::new(self.transfer_bytes);
                format!("{} ops/s of {size}", thousands(whole(rate)))
            }
            Access::Sequential => format!("{} MiB/s", thousands(whole(rate / 1_048_576.0))),
        }
    }

    /// `74,505 ops/s of 8 KiB, bounded by connections`
    fn predicted(&self, bound: &Bound) -> String {
        format!(
            "{} (predicted; bounded by {})",
            self.amount(self.rate(bound)),
            bound.resource.short()
        )
    }
}

fn reason(text: String, bound: &Bound, parameters: &Parameters) -> Reason {
    let calibrated = bound.resource.group.and_then(|group| parameters.reason(group));
    Reason::from_rows(text, calibrated.map_or(Vec::new(), |reason| reason.rows.clone()))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(rate: f64) -> u64 {
    rate.ceil() as u64
}
