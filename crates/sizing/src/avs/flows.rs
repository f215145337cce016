//! The number of datastores that carry a load, by the model of crate `predict`.
//!
//! A host has one connection to each datastore, so connections are hosts times datastores. The
//! model is calibrated from published figures of such hosts. The service decides how many endpoints
//! the volumes share; if one is not enough, the required number is reported.

use cloud::figure::Access;
use cloud::service_level::VolumeKind;
use predict::topology::{self, EndpointGroup, HostGroup, Topology, VolumeGroup, Workload};
use predict::{Bound, Parameters, capacity};
use units::{Bytes, BytesPerSec, OpsPerSec, Share};

use crate::avs::loads::Chosen;
use crate::avs::selection::total;
use crate::avs::statement::{Capacity, LoadRate, Reason, Statement};

/// Transfer size of the published sequential figures of such hosts.
const SEQUENTIAL_BYTES: u64 = 64 << 10;
/// Most endpoints to try.
const ENDPOINTS_MAX: u64 = 16;

/// The load on all datastores together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// Operations per second, if known.
    pub ops_per_s: Option<u64>,
    /// Bytes per second, if known.
    pub bytes_per_s: Option<u64>,
    /// The share of reads.
    pub read: Share,
}

impl Load {
    /// The load of all machines together. If some have operations and others only throughput, the
    /// latter counts as large sequential operations. The share of reads is weighted by operations,
    /// or by bytes if no operations are known.
    pub fn of<'a>(machines: impl Iterator<Item = &'a Chosen> + Clone, read: Share) -> Load {
        let knows_ops = machines.clone().any(|machine| machine.ops_per_s.is_some());
        let large = |bytes: u64| bytes.div_ceil(SEQUENTIAL_BYTES);
        let ops = |machine: &Chosen| match knows_ops {
            true => machine.ops_per_s.or(machine.bytes_per_s.map(large)),
            false => None,
        };
        let weight =
            |machine: &Chosen| u128::from(ops(machine).or(machine.bytes_per_s).unwrap_or(0));
        let all: u128 = machines.clone().map(weight).sum();
        let reads = machines.clone().map(|one| weight(one) * u128::from(one.read.permille()));
        let reads =
            reads.sum::<u128>().checked_div(all).and_then(|share| u64::try_from(share).ok());
        Load {
            ops_per_s: total(machines.clone().map(ops)),
            bytes_per_s: total(machines.map(|machine| machine.bytes_per_s)),
            read: reads.map_or(read, Share::from_permille),
        }
    }
}

/// Datastores that carry a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Carried {
    /// How many.
    pub datastores: u64,
    /// The arithmetic.
    pub reasons: Vec<Reason>,
}

/// The fewest datastores, up to `most`, that carry the load; 1 without a known load.
///
/// # Errors
/// The predicted capacity, if it is not enough.
pub fn datastores_for(
    hosts: u64,
    load: Load,
    most: u64,
    parameters: &Parameters,
) -> Result<Carried, Reason> {
    let Some((demand, required)) = Demand::of(load) else {
        return Ok(Carried { datastores: 1, reasons: Vec::new() });
    };
    let mut best: Option<Bound> = None;
    for endpoints in 1..=ENDPOINTS_MAX {
        let bound = |count| demand.bound(hosts, count, endpoints, parameters);
        let most_of_these = bound(most)?;
        if demand.rate(&most_of_these) < required {
            best = Some(most_of_these);
            continue;
        }
        let (mut too_few, mut enough) = (0, most);
        while enough - too_few > 1 {
            let middle = too_few + (enough - too_few) / 2;
            match demand.rate(&bound(middle)?) >= required {
                true => enough = middle,
                false => too_few = middle,
            }
        }
        let datastores = enough.max(endpoints);
        let limit = bound(datastores)?;
        let statement = Statement::Carried {
            load: demand.load(required),
            hosts,
            datastores,
            capacity: demand.capacity(&limit),
            endpoints,
        };
        let reasons = vec![reason(statement, &limit, parameters)];
        return Ok(Carried { datastores, reasons });
    }
    let Some(best) = best else { return Ok(Carried { datastores: 1, reasons: Vec::new() }) };
    let statement = Statement::NotCarried {
        load: demand.load(required),
        hosts,
        excess: demand.load(required - demand.rate(&best)),
        capacity: demand.capacity(&best),
    };
    Err(reason(statement, &best, parameters))
}

/// A load as a workload of the model.
struct Demand {
    transfer_bytes: u64,
    read: f64,
    access: Access,
}

impl Demand {
    /// The workload and its required rate: operations per second if known, otherwise bytes per
    /// second in large operations.
    fn of(load: Load) -> Option<(Demand, f64)> {
        let read = load.read.fraction();
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
        let group = EndpointGroup { name: "endpoints".to_owned(), count: endpoints, limit: None };
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
                // Any number above the slots gives the asymptotic bound.
                load: topology::Load::Closed { outstanding: 1 << 16 },
                names: None,
            }],
        };
        let unpredictable = |error| Reason::given(Statement::Unpredictable(error));
        capacity(&topology, parameters).map_err(unpredictable)
    }

    fn rate(&self, bound: &Bound) -> f64 {
        match self.access {
            Access::Random => bound.ops_per_s.value,
            Access::Sequential => bound.bytes_per_s.value,
        }
    }

    fn load(&self, rate: f64) -> LoadRate {
        match self.access {
            Access::Random => LoadRate::Operations {
                rate: OpsPerSec::new(rate),
                transfer: Bytes::new(self.transfer_bytes),
            },
            Access::Sequential => LoadRate::Throughput(BytesPerSec::new(rate)),
        }
    }

    fn capacity(&self, bound: &Bound) -> Capacity {
        Capacity { load: self.load(self.rate(bound)), bottleneck: bound.resource.clone() }
    }
}

fn reason(statement: Statement, bound: &Bound, parameters: &Parameters) -> Reason {
    let calibrated = bound.resource.group.and_then(|group| parameters.reason(group));
    Reason::from_rows(statement, calibrated.map_or(Vec::new(), |reason| reason.rows.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_load_is_random_operations_or_else_sequential_bytes() {
        let of = |ops_per_s: Option<u64>, bytes_per_s: Option<u64>| {
            let (demand, rate) = Demand::of(Load { ops_per_s, bytes_per_s, read: Share::WHOLE })?;
            Some((demand.access, demand.transfer_bytes, rate))
        };
        use Access::{Random, Sequential};
        assert_eq!(of(Some(100), Some(409_601)), Some((Random, 4097, 100.0)));
        assert_eq!(of(Some(100), Some(100)), Some((Random, 512, 100.0)), "a sector");
        assert_eq!(of(Some(100), None), Some((Random, 8192, 100.0)));
        assert_eq!(of(None, Some(5000)), Some((Sequential, 65_536, 5000.0)));
        assert_eq!(of(Some(0), Some(5000)), Some((Sequential, 65_536, 5000.0)));
        assert_eq!(of(None, None), None);
    }
}
