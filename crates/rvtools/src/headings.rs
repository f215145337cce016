//! The sheets that are read, and the headings of their columns.
//!
//! Headings are compared without case and spaces: `vInfo Powerstate` equals `vinfopowerstate`.

/// A sheet that is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Tab {
    /// RVTools: machines.
    Info,
    /// RVTools: disks of machines.
    Disk,
    /// RVTools: memory of machines.
    Memory,
    /// RVTools: hosts.
    Host,
    /// RVTools: clusters.
    Cluster,
    /// RVTools: file systems of guests.
    Partition,
    /// RVTools: datastores.
    Datastore,
    /// Live Optics: machines.
    LiveMachines,
    /// Live Optics: disks of machines.
    LiveDisks,
    /// Live Optics: operations and throughput of machines.
    LivePerformance,
}

/// The meaning of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Name,
    Id,
    Power,
    Template,
    Placeholder,
    Cpus,
    Memory,
    Provisioned,
    InUse,
    Os,
    OsByTools,
    Folder,
    ResourcePool,
    Annotation,
    Datacenter,
    Cluster,
    Host,
    Label,
    Capacity,
    Raw,
    Consumed,
    Cores,
    Vcpus,
    VcpusPerCore,
    CpuUsage,
    MemoryUsage,
    Hosts,
    Failover,
    Kind,
    PeakOps,
    MeanOps,
    PeakKb,
    MeanKb,
}

/// A column that is read.
#[derive(Debug)]
pub(crate) struct Column {
    pub(crate) field: Field,
    /// Its possible headings; messages use the first.
    pub(crate) names: &'static [&'static str],
    /// Whether a sheet without it is refused.
    pub(crate) is_required: bool,
}

const fn required(field: Field, names: &'static [&'static str]) -> Column {
    Column { field, names, is_required: true }
}

const fn optional(field: Field, names: &'static [&'static str]) -> Column {
    Column { field, names, is_required: false }
}

const INFO: &[Column] = &[
    required(Field::Name, &["VM", "vInfoVMName"]),
    required(Field::Power, &["Powerstate", "vInfoPowerstate"]),
    required(Field::Cpus, &["CPUs", "vInfoCPUs"]),
    required(Field::Memory, &["Memory", "vInfoMemory"]),
    optional(Field::Id, &["VM UUID", "vInfoUUID"]),
    optional(Field::Template, &["Template", "vInfoTemplate"]),
    optional(Field::Placeholder, &["SRM Placeholder", "vInfoSRMPlaceHolder"]),
    optional(
        Field::Provisioned,
        &["Provisioned MiB", "Provisioned MB", "vInfoProvisioned", "vInfoProvisionedMiB"],
    ),
    optional(Field::InUse, &["In Use MiB", "In Use MB", "vInfoInUse", "vInfoInUseMiB"]),
    optional(Field::Os, &["OS according to the configuration file", "vInfoOS"]),
    optional(Field::OsByTools, &["OS according to the VMware Tools", "vInfoOSTools"]),
    optional(Field::Folder, &["Folder", "vInfoFolder"]),
    optional(Field::ResourcePool, &["Resource pool", "vInfoResourcepool"]),
    optional(Field::Annotation, &["Annotation", "vInfoAnnotation"]),
    optional(Field::Datacenter, &["Datacenter", "vInfoDataCenter"]),
    optional(Field::Cluster, &["Cluster", "vInfoCluster"]),
    optional(Field::Host, &["Host", "vInfoHost"]),
];

const DISK: &[Column] = &[
    required(Field::Name, &["VM"]),
    required(Field::Capacity, &["Capacity MiB", "Capacity MB"]),
    optional(Field::Id, &["VM UUID"]),
    optional(Field::Label, &["Disk"]),
    optional(Field::Raw, &["Raw"]),
];

const MEMORY: &[Column] = &[
    required(Field::Name, &["VM", "vMemoryVMName"]),
    required(Field::Consumed, &["Consumed", "vMemoryConsumed"]),
    optional(Field::Id, &["VM UUID", "vMemoryUUID"]),
];

const HOST: &[Column] = &[
    required(Field::Name, &["Host", "vHostName"]),
    optional(Field::Cores, &["# Cores", "vHostNumCpuCores"]),
    optional(Field::Vcpus, &["# vCPUs", "vHostvCPUs"]),
    optional(Field::VcpusPerCore, &["vCPUs per Core", "vHostVCPUsPerCore"]),
    optional(Field::Cluster, &["Cluster", "vHostCluster"]),
    optional(Field::Memory, &["# Memory", "vHostMemorySize"]),
    optional(Field::CpuUsage, &["CPU usage %", "vHostOverallCpuUsage"]),
    optional(Field::MemoryUsage, &["Memory usage %", "vHostOverallMemoryUsage"]),
];

const CLUSTER: &[Column] = &[
    required(Field::Name, &["Name"]),
    required(Field::Hosts, &["NumHosts"]),
    optional(Field::Cores, &["NumCpuCores"]),
    optional(Field::Failover, &["Failover Level"]),
];

const PARTITION: &[Column] = &[
    required(Field::Name, &["VM", "vPartitionVMName"]),
    required(Field::Consumed, &["Consumed MiB", "Consumed MB", "vPartitionConsumedMiB"]),
    optional(Field::Capacity, &["Capacity MiB", "Capacity MB", "vPartitionCapacityMiB"]),
    optional(Field::Id, &["VM UUID", "vPartitionUUID"]),
];

const DATASTORE: &[Column] = &[
    required(Field::Name, &["Name"]),
    optional(Field::Kind, &["Type"]),
    optional(Field::Capacity, &["Capacity MiB", "Capacity MB"]),
    optional(Field::Provisioned, &["Provisioned MiB", "Provisioned MB"]),
    optional(Field::InUse, &["In Use MiB", "In Use MB"]),
];

const LIVE_MACHINES: &[Column] = &[
    required(Field::Name, &["VM Name"]),
    required(Field::Power, &["Power State"]),
    required(Field::Cpus, &["Virtual CPU"]),
    required(Field::Memory, &["Provisioned Memory (MiB)", "Provisioned Memory (MB)"]),
    optional(Field::Id, &["MOB ID"]),
    optional(Field::Template, &["Template"]),
    optional(Field::Provisioned, &["Virtual Disk Size (MiB)", "Virtual Disk Size (MB)"]),
    optional(Field::InUse, &["Virtual Disk Used (MiB)", "Virtual Disk Used (MB)"]),
    optional(Field::Os, &["VM OS"]),
    optional(Field::Cluster, &["Cluster"]),
];

const LIVE_DISKS: &[Column] = &[
    required(Field::Name, &["VM Name"]),
    required(Field::Capacity, &["Capacity (MiB)", "Capacity (MB)"]),
    optional(Field::Id, &["MOB ID"]),
];

const LIVE_PERFORMANCE: &[Column] = &[
    required(Field::Name, &["VM Name"]),
    optional(Field::Id, &["MOB ID"]),
    optional(Field::PeakOps, &["Peak IOPS"]),
    optional(Field::MeanOps, &["Average IOPS"]),
    optional(Field::PeakKb, &["Max KB/sec"]),
    optional(Field::MeanKb, &["Average KB/sec"]),
];

impl Tab {
    /// All sheets; those of machines before those that only add to them.
    pub(crate) const ALL: [Tab; 10] = [
        Tab::Info,
        Tab::LiveMachines,
        Tab::Disk,
        Tab::Memory,
        Tab::Host,
        Tab::Cluster,
        Tab::Partition,
        Tab::Datastore,
        Tab::LiveDisks,
        Tab::LivePerformance,
    ];

    /// Its name in RVTools or Live Optics.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Tab::Info => "vInfo",
            Tab::Disk => "vDisk",
            Tab::Memory => "vMemory",
            Tab::Host => "vHost",
            Tab::Cluster => "vCluster",
            Tab::Partition => "vPartition",
            Tab::Datastore => "vDatastore",
            Tab::LiveMachines => "VMs",
            Tab::LiveDisks => "VM Disks",
            Tab::LivePerformance => "VM Performance",
        }
    }

    /// The sheet with this name.
    pub(crate) fn named(name: &str) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| plain(tab.name()) == plain(name))
    }

    /// The columns that are read.
    pub(crate) const fn columns(self) -> &'static [Column] {
        match self {
            Tab::Info => INFO,
            Tab::Disk => DISK,
            Tab::Memory => MEMORY,
            Tab::Host => HOST,
            Tab::Cluster => CLUSTER,
            Tab::Partition => PARTITION,
            Tab::Datastore => DATASTORE,
            Tab::LiveMachines => LIVE_MACHINES,
            Tab::LiveDisks => LIVE_DISKS,
            Tab::LivePerformance => LIVE_PERFORMANCE,
        }
    }

    /// The first sheet whose required columns are among these headings. `vInfo`, which requires most,
    /// comes first.
    pub(crate) fn of_headings<'a>(headings: impl Iterator<Item = &'a str> + Clone) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| {
            let mut required = tab.columns().iter().filter(|column| column.is_required);
            // A name column on its own would match almost any table.
            tab.columns().iter().filter(|column| column.is_required).count() > 1
                && required.all(|column| headings.clone().any(|heading| column.is(heading)))
        })
    }
}

impl Column {
    /// Whether the column has this heading.
    pub(crate) fn is(&self, heading: &str) -> bool {
        let heading = plain(heading);
        self.names.iter().any(|name| plain(name) == heading)
    }
}

/// Lower case without spaces, to compare headings.
pub(crate) fn plain(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_whitespace() && *c != '\u{feff}')
        .flat_map(char::to_lowercase)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_is_recognised_by_its_headings() {
        let of = |headings: &[&'static str]| Tab::of_headings(headings.iter().copied());
        assert_eq!(of(&["VM", "Powerstate", "CPUs", "Memory", "In Use MB"]), Some(Tab::Info));
        assert_eq!(
            of(&["vinfovmname", "vInfo Powerstate", "vInfoCPUs", "vInfoMemory"]),
            Some(Tab::Info)
        );
        assert_eq!(of(&["VM", "Disk", "Capacity MiB"]), Some(Tab::Disk));
        assert_eq!(of(&["VM", "Capacity MiB", "Consumed MiB"]), Some(Tab::Disk));
        assert_eq!(of(&["VM", "CPUs"]), None);
        assert_eq!(Tab::named("vinfo"), Some(Tab::Info));
        assert_eq!(Tab::named("VMPerformance"), Some(Tab::LivePerformance));
    }

    #[test]
    fn every_heading_belongs_to_one_column() {
        for tab in Tab::ALL {
            let names = tab.columns().iter().flat_map(|column| column.names);
            for name in names {
                let columns = tab.columns().iter().filter(|column| column.is(name)).count();
                assert_eq!(columns, 1, "{}: {name}", tab.name());
            }
        }
    }
}
