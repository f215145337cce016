//! The sheets that are read, and under which headings their columns stand.
//!
//! A heading matches without regard to case and blanks, so that `vInfoPowerstate` of a scripted
//! export and `vinfopowerstate` are the same.

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

/// What a column says.
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

/// A column that is looked for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) field: Field,
    /// Headings that it may have; the first is the one that is named to users.
    pub(crate) names: &'static [&'static str],
    /// Nothing can be said without it.
    pub(crate) is_needed: bool,
}

const fn needed(field: Field, names: &'static [&'static str]) -> Wanted {
    Wanted { field, names, is_needed: true }
}

const fn wanted(field: Field, names: &'static [&'static str]) -> Wanted {
    Wanted { field, names, is_needed: false }
}

const INFO: &[Wanted] = &[
    needed(Field::Name, &["VM", "vInfoVMName"]),
    needed(Field::Power, &["Powerstate", "vInfoPowerstate"]),
    needed(Field::Cpus, &["CPUs", "vInfoCPUs"]),
    needed(Field::Memory, &["Memory", "vInfoMemory"]),
    wanted(Field::Id, &["VM UUID", "vInfoUUID"]),
    wanted(Field::Template, &["Template", "vInfoTemplate"]),
    wanted(Field::Placeholder, &["SRM Placeholder", "vInfoSRMPlaceHolder"]),
    wanted(
        Field::Provisioned,
        &["Provisioned MiB", "Provisioned MB", "vInfoProvisioned", "vInfoProvisionedMiB"],
    ),
    wanted(Field::InUse, &["In Use MiB", "In Use MB", "vInfoInUse", "vInfoInUseMiB"]),
    wanted(Field::Os, &["OS according to the configuration file", "vInfoOS"]),
    wanted(Field::OsByTools, &["OS according to the VMware Tools", "vInfoOSTools"]),
    wanted(Field::Folder, &["Folder", "vInfoFolder"]),
    wanted(Field::ResourcePool, &["Resource pool", "vInfoResourcepool"]),
    wanted(Field::Annotation, &["Annotation", "vInfoAnnotation"]),
    wanted(Field::Datacenter, &["Datacenter", "vInfoDataCenter"]),
    wanted(Field::Cluster, &["Cluster", "vInfoCluster"]),
    wanted(Field::Host, &["Host", "vInfoHost"]),
];

const DISK: &[Wanted] = &[
    needed(Field::Name, &["VM"]),
    needed(Field::Capacity, &["Capacity MiB", "Capacity MB"]),
    wanted(Field::Id, &["VM UUID"]),
    wanted(Field::Label, &["Disk"]),
    wanted(Field::Raw, &["Raw"]),
];

const MEMORY: &[Wanted] = &[
    needed(Field::Name, &["VM", "vMemoryVMName"]),
    needed(Field::Consumed, &["Consumed", "vMemoryConsumed"]),
    wanted(Field::Id, &["VM UUID", "vMemoryUUID"]),
];

const HOST: &[Wanted] = &[
    needed(Field::Name, &["Host", "vHostName"]),
    wanted(Field::Cores, &["# Cores", "vHostNumCpuCores"]),
    wanted(Field::Vcpus, &["# vCPUs", "vHostvCPUs"]),
    wanted(Field::VcpusPerCore, &["vCPUs per Core", "vHostVCPUsPerCore"]),
    wanted(Field::Cluster, &["Cluster", "vHostCluster"]),
    wanted(Field::Memory, &["# Memory", "vHostMemorySize"]),
    wanted(Field::CpuUsage, &["CPU usage %", "vHostOverallCpuUsage"]),
    wanted(Field::MemoryUsage, &["Memory usage %", "vHostOverallMemoryUsage"]),
];

const CLUSTER: &[Wanted] = &[
    needed(Field::Name, &["Name"]),
    needed(Field::Hosts, &["NumHosts"]),
    wanted(Field::Cores, &["NumCpuCores"]),
    wanted(Field::Failover, &["Failover Level"]),
];

const PARTITION: &[Wanted] = &[
    needed(Field::Name, &["VM", "vPartitionVMName"]),
    needed(Field::Consumed, &["Consumed MiB", "Consumed MB", "vPartitionConsumedMiB"]),
    wanted(Field::Capacity, &["Capacity MiB", "Capacity MB", "vPartitionCapacityMiB"]),
    wanted(Field::Id, &["VM UUID", "vPartitionUUID"]),
];

const DATASTORE: &[Wanted] = &[
    needed(Field::Name, &["Name"]),
    wanted(Field::Kind, &["Type"]),
    wanted(Field::Capacity, &["Capacity MiB", "Capacity MB"]),
    wanted(Field::Provisioned, &["Provisioned MiB", "Provisioned MB"]),
    wanted(Field::InUse, &["In Use MiB", "In Use MB"]),
];

const LIVE_MACHINES: &[Wanted] = &[
    needed(Field::Name, &["VM Name"]),
    needed(Field::Power, &["Power State"]),
    needed(Field::Cpus, &["Virtual CPU"]),
    needed(Field::Memory, &["Provisioned Memory (MiB)", "Provisioned Memory (MB)"]),
    wanted(Field::Id, &["MOB ID"]),
    wanted(Field::Template, &["Template"]),
    wanted(Field::Provisioned, &["Virtual Disk Size (MiB)", "Virtual Disk Size (MB)"]),
    wanted(Field::InUse, &["Virtual Disk Used (MiB)", "Virtual Disk Used (MB)"]),
    wanted(Field::Os, &["VM OS"]),
    wanted(Field::Cluster, &["Cluster"]),
];

const LIVE_DISKS: &[Wanted] = &[
    needed(Field::Name, &["VM Name"]),
    needed(Field::Capacity, &["Capacity (MiB)", "Capacity (MB)"]),
    wanted(Field::Id, &["MOB ID"]),
];

const LIVE_PERFORMANCE: &[Wanted] = &[
    needed(Field::Name, &["VM Name"]),
    wanted(Field::Id, &["MOB ID"]),
    wanted(Field::PeakOps, &["Peak IOPS"]),
    wanted(Field::MeanOps, &["Average IOPS"]),
    wanted(Field::PeakKb, &["Max KB/sec"]),
    wanted(Field::MeanKb, &["Average KB/sec"]),
];

impl Tab {
    /// All of them, those that a file may be about before those that only add to it.
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

    /// As its program names it.
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

    /// The sheet of this name.
    pub(crate) fn named(name: &str) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| plain(tab.name()) == plain(name))
    }

    /// The columns that are looked for.
    pub(crate) const fn wanted(self) -> &'static [Wanted] {
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

    /// The sheet whose needed columns a table of these headings has: the first that fits, so that
    /// `vInfo`, which needs most, is not taken for less.
    pub(crate) fn of_headings<'a>(headings: impl Iterator<Item = &'a str> + Clone) -> Option<Tab> {
        Tab::ALL.into_iter().find(|tab| {
            let mut needed = tab.wanted().iter().filter(|column| column.is_needed);
            // A lone name column would fit nearly everything.
            tab.wanted().iter().filter(|column| column.is_needed).count() > 1
                && needed.all(|column| headings.clone().any(|heading| column.is(heading)))
        })
    }
}

impl Wanted {
    /// Whether the column has this heading.
    pub(crate) fn is(&self, heading: &str) -> bool {
        let heading = plain(heading);
        self.names.iter().any(|name| plain(name) == heading)
    }
}

/// Without case and blanks: how headings are compared.
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
    fn a_table_is_known_by_its_headings() {
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
    fn no_heading_of_a_sheet_means_two_columns() {
        for tab in Tab::ALL {
            let names = tab.wanted().iter().flat_map(|column| column.names);
            for name in names {
                let columns = tab.wanted().iter().filter(|column| column.is(name)).count();
                assert_eq!(columns, 1, "{}: {name}", tab.name());
            }
        }
    }
}
