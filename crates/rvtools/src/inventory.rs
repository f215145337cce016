//! The inventory of an export.

use units::{Bytes, BytesPerSec, OpsPerSec};

/// An inventory of virtual machines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Machines in the order of their rows, including templates and placeholders.
    pub machines: Vec<Machine>,
    /// The current hosts.
    pub hosts: Vec<Host>,
    /// The current clusters.
    pub clusters: Vec<Cluster>,
    /// The current datastores.
    pub datastores: Vec<Datastore>,
    /// Names and numbers of rows of the sheets that were read.
    pub sheets: Vec<(String, usize)>,
    /// Optional sheets that are missing.
    pub absent: Vec<&'static str>,
    /// What was skipped or ambiguous, in sentences.
    pub notes: Vec<String>,
}

/// A virtual machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name; not always unique.
    pub name: String,
    /// Its row number in the spreadsheet: the headings are usually row 1.
    pub row: u32,
    /// Its unique ID; missing in short exports.
    pub id: Option<String>,
    /// Its power state.
    pub power: Power,
    /// Whether it is a template.
    pub is_template: bool,
    /// Whether it is a placeholder of Site Recovery Manager for a machine at another site.
    pub is_placeholder: bool,
    /// Virtual processors.
    pub vcpus: u64,
    /// Configured memory.
    pub memory: Bytes,
    /// Consumed memory of the host (`vMemory`, `Consumed`).
    pub memory_consumed: Option<Bytes>,
    /// Disks and swap at their full size.
    pub provisioned: Option<Bytes>,
    /// Space used on datastores, including snapshots and swap.
    pub in_use: Option<Bytes>,
    /// Space used in the guest's file systems (`vPartition`, needs VMware Tools).
    pub guest_used: Option<Bytes>,
    /// Size of the guest's file systems.
    pub guest_capacity: Option<Bytes>,
    /// Its disks, if the export has `vDisk`.
    pub disks: Vec<Disk>,
    /// Operating system as configured.
    pub os: Option<String>,
    /// Operating system as reported by VMware Tools.
    pub os_by_tools: Option<String>,
    /// Folder in the inventory, with its path.
    pub folder: Option<String>,
    /// Resource pool.
    pub resource_pool: Option<String>,
    /// The annotation.
    pub annotation: Option<String>,
    /// Data centre.
    pub datacenter: Option<String>,
    /// Cluster that it runs in.
    pub cluster: Option<String>,
    /// Host that it runs on.
    pub host: Option<String>,
    /// The values of the requested columns, in the caller's order.
    pub columns: Vec<Option<String>>,
    /// Its measured disk load.
    pub load: Option<Load>,
}

/// A power state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// Running.
    On,
    /// Powered off.
    Off,
    /// Suspended, with its memory saved.
    Suspended,
}

/// A virtual disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// `Hard disk 1`
    pub label: String,
    /// Its provisioned size.
    pub capacity: Bytes,
    /// Whether it is a raw device, which cannot be on a datastore.
    pub is_raw: bool,
}

/// A machine's disk load, reads and writes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Peak operations.
    pub peak_rate: Option<OpsPerSec>,
    /// Mean operations.
    pub mean_rate: Option<OpsPerSec>,
    /// Peak bytes.
    pub peak_throughput: Option<BytesPerSec>,
    /// Mean bytes.
    pub mean_throughput: Option<BytesPerSec>,
}

/// A host.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// Its name.
    pub name: String,
    /// Its cluster.
    pub cluster: Option<String>,
    /// Processor cores.
    pub cores: Option<u64>,
    /// Its memory.
    pub memory: Option<Bytes>,
    /// Processor utilization, in percent.
    pub cpu_usage_percent: Option<f64>,
    /// Memory utilization, in percent.
    pub memory_usage_percent: Option<f64>,
    /// Virtual processors of its machines.
    pub vcpus: Option<u64>,
    /// Virtual processors per core, as exported.
    pub vcpus_per_core: Option<f64>,
}

/// A cluster of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Number of hosts.
    pub hosts: Option<u64>,
    /// Number of cores.
    pub cores: Option<u64>,
    /// Host failures that its high availability tolerates; `None` also if it is not a number.
    pub failover: Option<u64>,
}

/// A datastore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Datastore {
    /// Its name.
    pub name: String,
    /// `VMFS`, `NFS`, `vsan`
    pub kind: Option<String>,
    /// Its size.
    pub capacity: Option<Bytes>,
    /// Space provisioned to machines; may exceed the size with thin provisioning.
    pub provisioned: Option<Bytes>,
    /// Space used.
    pub in_use: Option<Bytes>,
}
