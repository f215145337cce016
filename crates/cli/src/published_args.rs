//! Flags for published figures in a record's own report.

use clap::Args;
use cloud::vm_size::VmSize;
use commands::predict::published_comparison::ReportOptions;
use predict::topology_file;

const PUBLISHED: &str = "Published figures";

/// The part of the configuration that the record does not have.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct PublishedArguments {
    /// Compare with published figures for this VM size: D32s_v5.
    ///
    /// Default: the size from Azure's metadata during the measurement, or from `--known egress=`.
    /// With this flag published figures are shown for every kind of target.
    #[arg(long, value_name = "SIZE", value_parser = vm, help_heading = PUBLISHED)]
    pub(crate) vm: Option<VmSize>,

    /// Show published figures for every kind of target.
    ///
    /// By default they are shown for NFS or SMB over a network, and not for the emulated volume or
    /// a local disk, to which they do not apply.
    #[arg(long, alias = "beside-published", help_heading = PUBLISHED)]
    pub(crate) published: bool,
}

impl PublishedArguments {
    /// Whether a comparison was requested, which only the full text of a record has.
    pub(crate) const fn is_requested(&self) -> bool {
        self.published || self.vm.is_some()
    }

    pub(crate) fn options(&self) -> ReportOptions {
        ReportOptions { vm: self.vm.clone(), any_target: self.published }
    }
}

/// The VM size of this name, whose `Standard_` may be left out.
///
/// # Errors
/// The nearest name, or how names are written.
pub(crate) fn vm(text: &str) -> Result<VmSize, String> {
    topology_file::vm(text).map_err(|hint| format!("{hint}; without --vm no VM limit applies"))
}
