//! The ratio of virtual processors to cores.

/// Virtual processors to cores, exactly.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ratio {
    /// Virtual processors …
    pub vcpus: u64,
    /// … on this many cores, above 0.
    pub cores: u64,
    /// Its source.
    pub source: RatioSource,
}

/// The source of a [`Ratio`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RatioSource {
    /// The user.
    Given,
    /// Sums over the sheet vHost.
    Hosts,
    /// The mean over the sheet vHost.
    HostMean,
    /// The running machines and the sheet vCluster.
    RunningMachines,
}
