//! Machines that need several datastores.
//!
//! A host has one connection to each datastore, which limits a machine on one datastore. Disks on
//! several datastores, striped in the guest, exceed that limit.

use cloud::avs::{Avs, AvsLimit};
use cloud::catalog::Catalog;
use cloud::row::LimitName;
use cloud::throughput::KibPerSec;
use units::Bytes;

use crate::avs::loads::Chosen;
use crate::avs::statement::{Reason, SpreadOps, SpreadThroughput, Statement};

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// A machine that needs several datastores.
#[derive(Clone, Debug, PartialEq)]
pub struct Advice {
    /// Its name.
    pub machine: String,
    /// Its row in the inventory.
    pub row: u32,
    /// Datastores to stripe its disks over.
    pub datastores: u64,
    /// Its disks without raw devices; 0 if unknown.
    pub disks: u64,
    /// It needs more than the highest published rate of one machine.
    pub is_too_much: bool,
    /// The arithmetic.
    pub reason: Reason,
}

/// A disk that no datastore can hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Misfit {
    /// The machine's name.
    pub machine: String,
    /// Its row in the inventory.
    pub row: u32,
    /// The disk.
    pub disk: String,
    /// Why.
    pub reason: Reason,
}

/// Datastores that a machine needs; one for nearly all.
pub fn datastores(machine: &Chosen, avs: &Avs) -> u64 {
    let ops_each = avs.limit(AvsLimit::MachineOpsPerDatastore);
    let by_ops = machine.ops_per_s.map_or(1, |ops| ops.div_ceil(ops_each));
    let each = KibPerSec::new(avs.limit(AvsLimit::MachineThroughputPerDatastore)).bytes_per_s();
    let by_throughput = machine.bytes_per_s.map_or(1, |bytes| bytes.div_ceil(each));
    by_ops.max(by_throughput).clamp(1, avs.limit(AvsLimit::MachineDatastoresMax))
}

/// The machines that need more than one datastore.
pub fn advice(machines: &[Chosen], avs: &Avs) -> Vec<Advice> {
    let ops_each = avs.limit(AvsLimit::MachineOpsPerDatastore);
    let ops_max = avs.limit(AvsLimit::MachineOpsMax);
    let each = KibPerSec::new(avs.limit(AvsLimit::MachineThroughputPerDatastore));
    let most = KibPerSec::new(avs.limit(AvsLimit::MachineThroughputMax));
    let mut advice = Vec::new();
    for machine in machines {
        let count = datastores(machine, avs);
        if count == 1 {
            continue;
        }
        let mut rows = Vec::new();
        let ops = machine.ops_per_s.filter(|ops| *ops > ops_each).map(|ops| {
            rows.push(avs.limit_row(AvsLimit::MachineOpsPerDatastore));
            let most = (ops > ops_max).then_some(ops_max);
            rows.extend(most.map(|_| avs.limit_row(AvsLimit::MachineOpsMax)));
            SpreadOps { ops, each: ops_each, most }
        });
        let high = machine.bytes_per_s.filter(|bytes| *bytes > each.bytes_per_s());
        let throughput = high.map(|bytes_per_s| {
            rows.push(avs.limit_row(AvsLimit::MachineThroughputPerDatastore));
            let most = (bytes_per_s > most.bytes_per_s()).then_some(most);
            rows.extend(most.map(|_| avs.limit_row(AvsLimit::MachineThroughputMax)));
            SpreadThroughput { bytes_per_s, each, most }
        });
        let exceeds = |ops: Option<SpreadOps>| ops.is_some_and(|ops| ops.most.is_some());
        advice.push(Advice {
            machine: machine.name.clone(),
            row: machine.row,
            datastores: count,
            disks: machine.disks.iter().filter(|disk| !disk.is_raw).count() as u64,
            is_too_much: exceeds(ops) || throughput.is_some_and(|one| one.most.is_some()),
            reason: Reason::from_rows(Statement::Spread { ops, throughput }, rows),
        });
    }
    advice
}

/// Disks that no datastore can hold: larger than the largest file, or raw devices.
pub fn misfits(machines: &[Chosen], catalog: &Catalog) -> Vec<Misfit> {
    let most = Bytes::new(catalog.limit(LimitName::FileSizeMax).saturating_mul(GIB));
    let mut misfits = Vec::new();
    for machine in machines {
        for disk in &machine.disks {
            let reason = if disk.is_raw {
                Reason::given(Statement::RawDevice)
            } else if disk.capacity > most {
                let statement = Statement::LargeDisk { size: disk.capacity, most };
                Reason::from_rows(statement, [catalog.limit_row(LimitName::FileSizeMax)])
            } else {
                continue;
            };
            misfits.push(Misfit {
                machine: machine.name.clone(),
                row: machine.row,
                disk: disk.label.clone(),
                reason,
            });
        }
    }
    misfits
}
