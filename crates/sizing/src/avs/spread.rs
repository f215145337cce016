//! One machine on several datastores: when, over how many, and when that is not enough.
//!
//! A host keeps one connection to each datastore, so what one machine gets of one datastore has a
//! limit; several disks on several datastores, striped in the guest, get more.

use cloud::avs::{Avs, AvsLimit};
use cloud::catalog::Catalog;
use cloud::reason::Reason;
use cloud::row::LimitName;
use cloud::throughput::KibPerSec;
use units::{Bytes, thousands};

use crate::avs::machine::Chosen;

/// Bytes in a GiB.
const GIB: u64 = 1 << 30;

/// What to do about one machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// Its name.
    pub machine: String,
    /// Its row in the inventory.
    pub row: u32,
    /// Datastores over which its disks are to be striped.
    pub datastores: u64,
    /// Disks that it has, without raw devices; 0 where the inventory does not say.
    pub disks: u64,
    /// It needs more than one machine was seen to reach, however many datastores.
    pub is_too_much: bool,
    /// Why.
    pub reason: Reason,
}

/// A disk that no datastore on files can hold.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Datastores over which a machine is to be spread, one for nearly all.
pub fn datastores(machine: &Chosen, avs: &Avs) -> u64 {
    let ops_each = avs.limit(AvsLimit::MachineOpsPerDatastore);
    let by_ops = machine.ops_per_s.map_or(1, |ops| ops.div_ceil(ops_each));
    let each = KibPerSec::new(avs.limit(AvsLimit::MachineThroughputPerDatastore)).bytes_per_s();
    let by_throughput = machine.bytes_per_s.map_or(1, |bytes| bytes.div_ceil(each));
    by_ops.max(by_throughput).clamp(1, avs.limit(AvsLimit::MachineDatastoresMax))
}

/// What to do about machines that need more than one datastore gives them.
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
        let (mut parts, mut rows, mut is_too_much) = (Vec::new(), Vec::new(), false);
        if let Some(ops) = machine.ops_per_s.filter(|ops| *ops > ops_each) {
            let (ops_shown, each_shown) = (thousands(ops), thousands(ops_each));
            let needed = ops.div_ceil(ops_each);
            parts.push(format!("{ops_shown} ops/s / {each_shown} ops/s = {needed} datastores"));
            rows.push(avs.limit_row(AvsLimit::MachineOpsPerDatastore));
            if ops > ops_max {
                parts.push(format!("no machine was seen above {} ops/s", thousands(ops_max)));
                rows.push(avs.limit_row(AvsLimit::MachineOpsMax));
                is_too_much = true;
            }
        }
        if let Some(bytes) = machine.bytes_per_s.filter(|bytes| *bytes > each.bytes_per_s()) {
            let needed = bytes.div_ceil(each.bytes_per_s());
            let shown = mib_per_s(bytes);
            parts.push(format!("{shown} / {each} = {needed} datastores"));
            rows.push(avs.limit_row(AvsLimit::MachineThroughputPerDatastore));
            if bytes > most.bytes_per_s() {
                parts.push(format!("no machine was seen above {most}"));
                rows.push(avs.limit_row(AvsLimit::MachineThroughputMax));
                is_too_much = true;
            }
        }
        advice.push(Advice {
            machine: machine.name.clone(),
            row: machine.row,
            datastores: count,
            disks: machine.disks.iter().filter(|disk| !disk.is_raw).count() as u64,
            is_too_much,
            reason: Reason::from_rows(parts.join("; "), rows),
        });
    }
    advice
}

/// Disks that no datastore on files can hold: larger than its largest file, or raw devices.
pub fn misfits(machines: &[Chosen], catalog: &Catalog) -> Vec<Misfit> {
    let most = Bytes::new(catalog.limit(LimitName::FileSizeMax).saturating_mul(GIB));
    let mut misfits = Vec::new();
    for machine in machines {
        for disk in &machine.disks {
            let reason = if disk.is_raw {
                Reason::asked("a raw device lies on no datastore: mount the volume in the guest")
            } else if disk.capacity > most {
                let text = format!("{} is more than the largest file, {most}", disk.capacity);
                Reason::from_rows(text, [catalog.limit_row(LimitName::FileSizeMax)])
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

/// Bytes per second as whole MiB/s, upwards.
pub(crate) fn mib_per_s(bytes_per_s: u64) -> String {
    format!("{} MiB/s", thousands(bytes_per_s.div_ceil(1 << 20)))
}
