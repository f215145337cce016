//! The virtual machines of an inventory.

use units::{Bytes, BytesPerSec, OpsPerSec};

/// A virtual machine of an inventory.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name, which need not be unique.
    pub name: String,
    /// Its row in the inventory.
    pub row: u32,
    /// Its power state.
    pub power: Power,
    /// Whether it is a template.
    pub is_template: bool,
    /// Whether it is a placeholder for a machine elsewhere.
    pub is_placeholder: bool,
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory, in the chosen sense.
    pub memory: Bytes,
    /// Storage, in the chosen sense; `None` if the inventory does not state it.
    pub storage: Option<Bytes>,
    /// Storage in every sense.
    pub storage_use: StorageUse,
    /// Its labels, for matching classes.
    pub labels: Labels,
    /// Its disks, if known.
    pub disks: Vec<Disk>,
    /// Measured operations.
    pub rate: Option<OpsPerSec>,
    /// Measured bytes.
    pub throughput: Option<BytesPerSec>,
}

/// Storage of a machine in each sense of the inventory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StorageUse {
    /// Disks and swap at their full size.
    pub provisioned: Option<Bytes>,
    /// Used space on datastores, including snapshots and swap.
    pub in_use: Option<Bytes>,
    /// Used space in the guest's file systems.
    pub guest_used: Option<Bytes>,
    /// Capacity of the guest's file systems.
    pub guest_capacity: Option<Bytes>,
}

/// A disk of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// Its name.
    pub label: String,
    /// Its full size.
    pub capacity: Bytes,
    /// Whether it is a raw device, which no datastore can hold.
    pub is_raw: bool,
}

/// Power states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Powered on.
    On,
    /// Powered off.
    Off,
    /// Suspended.
    Suspended,
}

impl Power {
    /// The name that users write.
    pub const fn name(self) -> &'static str {
        match self {
            Power::On => "on",
            Power::Off => "off",
            Power::Suspended => "suspended",
        }
    }
}

/// Labels of a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// Its name.
    Vm,
    /// The folder in the inventory, with its path.
    Folder,
    /// The resource pool.
    ResourcePool,
    /// The data centre.
    Datacenter,
    /// The cluster.
    Cluster,
    /// The host that it runs on.
    Host,
    /// The operating system, as configured or reported by its tools.
    Os,
    /// The annotation.
    Annotation,
    /// Another column, by its index in [`crate::avs::profile::Profile::columns`].
    Column(usize),
}

/// The labels of a machine in an inventory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Labels {
    /// The folder, with its path.
    pub folder: Option<String>,
    /// The resource pool.
    pub resource_pool: Option<String>,
    /// The data centre.
    pub datacenter: Option<String>,
    /// The cluster.
    pub cluster: Option<String>,
    /// The host.
    pub host: Option<String>,
    /// The operating system by each source.
    pub os: Vec<String>,
    /// The annotation.
    pub annotation: Option<String>,
    /// Other columns, in the order of [`crate::avs::profile::Profile::columns`].
    pub columns: Vec<Option<String>>,
}
