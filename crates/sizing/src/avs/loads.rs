//! The load of each machine: measured, otherwise by its class in the profile, otherwise by the
//! options for each machine.

use units::{Bytes, Share};

use crate::avs::ask::Ask;
use crate::avs::class_load::ClassLoad;
use crate::avs::machine::{Disk, Machine, StorageUse};
use crate::avs::profile::ClassOf;

/// Far above the load of any machine; sums of smaller loads fit in a u64.
const LOAD_MAX: u64 = 1 << 50;

/// A selected machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Its name.
    pub name: String,
    /// Its row in the inventory.
    pub row: u32,
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory.
    pub memory: Bytes,
    /// Storage; 0 if the inventory does not state it.
    pub storage: Bytes,
    /// Storage in every sense.
    pub storage_use: StorageUse,
    /// Disks.
    pub disks: Vec<Disk>,
    /// Operations per second, measured or assumed.
    pub ops_per_s: Option<u64>,
    /// Bytes per second, measured, assumed, or operations times their size.
    pub bytes_per_s: Option<u64>,
    /// The share of reads in its operations.
    pub read: Share,
    /// Its class in the profile, even if its load has another source.
    pub class: Option<ClassOf>,
    /// The source of its load.
    pub load_from: LoadFrom,
}

/// The source of a machine's load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadFrom {
    /// Measured.
    Measured,
    /// Its class in the profile.
    Class,
    /// The options for each machine.
    EachMachine,
    /// Unknown.
    Unknown,
}

impl LoadFrom {
    /// Its name in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            LoadFrom::Measured => "measured",
            LoadFrom::Class => "profile",
            LoadFrom::EachMachine => "options",
            LoadFrom::Unknown => "none",
        }
    }
}

pub(crate) fn with_load(machine: &Machine, class: Option<ClassOf>, ask: &Ask) -> Chosen {
    let of_class = class.zip(ask.profile.as_ref()).and_then(|(of, profile)| profile.class(of));
    let of_class = of_class.map(|class| class.load);
    let transfer_bytes = of_class.and_then(|load| load.transfer_bytes);
    let is_measured = machine.rate.is_some() || machine.throughput.is_some();
    let (load_from, ops_per_s, bytes_per_s) = match of_class {
        _ if is_measured => {
            let ops = machine.rate.map(|rate| whole(rate.get()));
            let bytes = machine.throughput.map(|throughput| whole(throughput.get()));
            (LoadFrom::Measured, ops, bytes)
        }
        Some(load) => {
            let (ops, bytes) = by_class(machine, load);
            (LoadFrom::Class, ops, bytes)
        }
        None => match (ask.ops_per_machine, ask.bytes_per_s_per_machine) {
            (None, None) => (LoadFrom::Unknown, None, None),
            (ops, bytes) => (LoadFrom::EachMachine, ops, bytes),
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
        storage_use: machine.storage_use,
        disks: machine.disks.clone(),
        ops_per_s: ops_per_s.map(|ops| ops.min(LOAD_MAX)),
        bytes_per_s: bytes_per_s.or(by_ops).map(|bytes| bytes.min(LOAD_MAX)),
        read: of_class.and_then(|load| load.read).unwrap_or(ask.read),
        class,
        load_from,
    }
}

/// Operations and bytes per second by a class. Operations follow from throughput and transfer size.
fn by_class(machine: &Machine, load: ClassLoad) -> (Option<u64>, Option<u64>) {
    let used = machine.storage_use.in_use.or(machine.storage).unwrap_or_default();
    let ops = load.ops.map(|rate| rate.of(machine.vcpus, used));
    let bytes = load.bytes.map(|rate| rate.of(machine.vcpus, used));
    let by_size = bytes.zip(load.transfer_bytes).map(|(bytes, each)| bytes.div_ceil(each.max(1)));
    (ops.or(by_size), bytes)
}

/// Rounds up, so that a load never shrinks.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(rate: f64) -> u64 {
    (rate.ceil() as u64).min(LOAD_MAX)
}
