//! What an export says.

use units::Bytes;

/// Everything that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inventory {
    /// Machines in the order of their rows, templates and placeholders too.
    pub machines: Vec<Machine>,
    /// Hosts that they run on now.
    pub hosts: Vec<Host>,
    /// Clusters of those hosts.
    pub clusters: Vec<Cluster>,
    /// Datastores that they lie on now.
    pub datastores: Vec<Datastore>,
    /// Sheets that were read, as their file names them, each with its rows.
    pub sheets: Vec<(String, usize)>,
    /// Sheets that would have said more and are not there.
    pub absent: Vec<&'static str>,
    /// What was skipped or taken in another sense, in whole sentences.
    pub notes: Vec<String>,
}

/// A virtual machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// Its name, which need not be unique.
    pub name: String,
    /// Its row, as a spreadsheet counts them: the headings are usually row 1.
    pub row: u32,
    /// What tells it from machines of the same name; absent in short exports.
    pub id: Option<String>,
    /// Whether it runs.
    pub power: Power,
    /// A template is no machine yet.
    pub is_template: bool,
    /// A placeholder of Site Recovery Manager stands for a machine elsewhere.
    pub is_placeholder: bool,
    /// Virtual processors.
    pub vcpus: u64,
    /// Memory that it was given.
    pub memory: Bytes,
    /// Memory of the host that it holds (`vMemory`, `Consumed`).
    pub memory_consumed: Option<Bytes>,
    /// Disks and swap at their full size.
    pub provisioned: Option<Bytes>,
    /// What it holds on datastores now, snapshots and swap too.
    pub in_use: Option<Bytes>,
    /// What its guest's file systems hold (`vPartition`, needs VMware Tools).
    pub guest_used: Option<Bytes>,
    /// What its guest's file systems could hold.
    pub guest_capacity: Option<Bytes>,
    /// Its disks, where `vDisk` is there.
    pub disks: Vec<Disk>,
    /// Operating system as configured.
    pub os: Option<String>,
    /// Operating system as its tools tell it.
    pub os_by_tools: Option<String>,
    /// Folder in the inventory, with its path.
    pub folder: Option<String>,
    /// Resource pool.
    pub resource_pool: Option<String>,
    /// What somebody noted about it.
    pub annotation: Option<String>,
    /// Data centre.
    pub datacenter: Option<String>,
    /// Cluster that it runs in.
    pub cluster: Option<String>,
    /// Host that it runs on.
    pub host: Option<String>,
    /// What stands in the columns that the caller asked for, in the caller's order.
    pub columns: Vec<Option<String>>,
    /// What it does to its disks, where somebody measured it.
    pub load: Option<Load>,
}

/// Whether a machine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Power {
    /// It does.
    On,
    /// It does not.
    Off,
    /// It was put aside with its memory.
    Suspended,
}

/// A virtual disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    /// `Hard disk 1`
    pub label: String,
    /// Its full size.
    pub capacity: Bytes,
    /// A raw device, which no datastore can hold.
    pub is_raw: bool,
}

/// What a machine does to its disks, reads and writes together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Load {
    /// Most operations per second that were seen.
    pub peak_ops_per_s: Option<f64>,
    /// Their mean.
    pub mean_ops_per_s: Option<f64>,
    /// Most bytes per second that were seen.
    pub peak_bytes_per_s: Option<f64>,
    /// Their mean.
    pub mean_bytes_per_s: Option<f64>,
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
    /// How busy its processors are, in hundredths.
    pub cpu_usage_percent: Option<f64>,
    /// How full its memory is, in hundredths.
    pub memory_usage_percent: Option<f64>,
    /// Virtual processors of the machines that run on it.
    pub vcpus: Option<u64>,
    /// Virtual processors for each core, as the export has it.
    pub vcpus_per_core: Option<f64>,
}

/// A cluster of hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cluster {
    /// Its name.
    pub name: String,
    /// Its hosts.
    pub hosts: Option<u64>,
    /// Their cores.
    pub cores: Option<u64>,
    /// Hosts that may fail, as its high availability is set; absent also where that is no number.
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
    /// What machines were given of it; more than its size where they are thin.
    pub provisioned: Option<Bytes>,
    /// What it holds.
    pub in_use: Option<Bytes>,
}
