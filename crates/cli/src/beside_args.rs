//! Flags by which published figures are set beside a record in its own report.

use clap::Args;
use cloud::vm_size::VmSize;
use predict::topology_file;

const PUBLISHED: &str = "Published figures";

/// What is said of the configuration that the record does not know.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct BesideArguments {
    /// The size of the machine that measured, for published figures beside the record: D32s_v5.
    ///
    /// Without it, what Azure's metadata said when it was measured, or the size of `--known
    /// egress=`. Naming one sets figures beside records of any target.
    #[arg(long, value_name = "SIZE", value_parser = vm, help_heading = PUBLISHED)]
    pub(crate) vm: Option<VmSize>,

    /// Set published figures beside the record whatever its target was.
    ///
    /// Without it they stand beside records of NFS or SMB over a network, and not beside those of
    /// the emulated volume or of a disk, to which they say nothing.
    #[arg(long, help_heading = PUBLISHED)]
    pub(crate) beside_published: bool,
}

impl BesideArguments {
    /// Whether anything was said.
    pub(crate) fn is_asked(&self) -> bool {
        self.vm.is_some() || self.beside_published
    }
}

/// The size of that name, which may lack its beginning.
///
/// # Errors
/// The nearest name, or how names are written.
pub(crate) fn vm(text: &str) -> Result<VmSize, String> {
    topology_file::vm(text)
        .map_err(|hint| format!("{hint}; without --vm the machine does not limit"))
}
