//! Which of several figures of a machine in an inventory counts.

/// Which figures count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Senses {
    /// For storage.
    pub storage: StorageSense,
    /// For memory.
    pub memory: MemorySense,
    /// For measured loads.
    pub load: LoadSense,
}

/// Figures for a machine's storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StorageSense {
    /// Used space on datastores, with snapshots and swap.
    InUse,
    /// Disks and swap at their full size.
    Provisioned,
    /// Used space in the guest's file systems; without it, as `InUse`.
    Guest,
}

/// Figures for a machine's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemorySense {
    /// The configured memory.
    Provisioned,
    /// The host memory in use.
    Consumed,
}

/// Figures for a measured load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadSense {
    /// The maximum.
    Peak,
    /// The mean.
    Mean,
}
