//! What each machine does to its disks: what was measured; else what its class in the profile says;
//! else what was asked for all.

use crate::avs::ask::Ask;
use crate::avs::machine::{Chosen, LoadFrom, Machine};
use crate::avs::profile::{ClassLoad, ClassOf};

/// No machine moves a PiB in a second; sums of what is below stay within a u64.
const LOAD_MAX: u64 = 1 << 50;

/// A machine with its load.
pub(crate) fn with_load(machine: &Machine, class: Option<ClassOf>, ask: &Ask) -> Chosen {
    let of_class = class.zip(ask.profile.as_ref()).and_then(|(of, profile)| profile.class(of));
    let said = of_class.map(|class| class.load);
    let transfer_bytes = said.and_then(|load| load.transfer_bytes);
    let is_measured = machine.ops_per_s.or(machine.bytes_per_s).is_some();
    let (load_from, ops_per_s, bytes_per_s) = match said {
        _ if is_measured => {
            let (ops, bytes) = (machine.ops_per_s.map(whole), machine.bytes_per_s.map(whole));
            (LoadFrom::Measured, ops, bytes)
        }
        Some(load) => {
            let (ops, bytes) = by_class(machine, load);
            (LoadFrom::Class, ops, bytes)
        }
        None => match (ask.ops_per_machine, ask.bytes_per_s_per_machine) {
            (None, None) => (LoadFrom::Nobody, None, None),
            (ops, bytes) => (LoadFrom::Asked, ops, bytes),
        },
    };
    let each = transfer_bytes.unwrap_or(ask.transfer_bytes);
    let by_ops = ops_per_s.map(|ops| ops.saturating_mul(each));
    Chosen {
        name: machine.name.clone(),
        row: machine.row,
        vcpus: machine.vcpus,
        memory: machine.memory,
        storage: machine.storage.unwrap_or_default(),
        held: machine.held,
        disks: machine.disks.clone(),
        ops_per_s: ops_per_s.map(|ops| ops.min(LOAD_MAX)),
        bytes_per_s: bytes_per_s.or(by_ops).map(|bytes| bytes.min(LOAD_MAX)),
        read_permille: said.and_then(|load| load.read_permille).unwrap_or(ask.read_permille),
        class,
        load_from,
    }
}

/// Operations and bytes per second. Where a class says throughput and the size of an operation,
/// their number follows.
fn by_class(machine: &Machine, load: ClassLoad) -> (Option<u64>, Option<u64>) {
    let holds = machine.held.in_use.or(machine.storage).unwrap_or_default();
    let ops = load.ops.map(|rate| rate.of(machine.vcpus, holds));
    let bytes = load.bytes.map(|rate| rate.of(machine.vcpus, holds));
    let by_size = bytes.zip(load.transfer_bytes).map(|(bytes, each)| bytes.div_ceil(each.max(1)));
    (ops.or(by_size), bytes)
}

/// Upwards: a load is never made smaller.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(rate: f64) -> u64 {
    (rate.ceil() as u64).min(LOAD_MAX)
}
