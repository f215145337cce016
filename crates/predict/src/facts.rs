//! Default limits of the service for topologies, read once.

use std::sync::LazyLock;

use cloud::catalog::Catalog;
use cloud::client::{ClientFacts, SettingName};
use cloud::figure;
use cloud::row::{LimitName, Status};
use cloud::service_level::VolumeKind;
use cloud::vm_size::{self, VmSize};

/// Defaults of a topology.
#[derive(Debug)]
pub(crate) struct Facts {
    /// Most outstanding calls per connection.
    pub(crate) slots: u64,
    /// rsize and wsize.
    pub(crate) call_bytes: u64,
    /// The most connections of a mount.
    pub(crate) nconnect_max: u64,
    /// Number of endpoints of a volume in breakthrough mode.
    breakthrough_endpoints: u64,
    /// Kinds of operations on names with a published rate.
    pub(crate) name_kinds: Vec<&'static str>,
    /// All facts.
    pub(crate) catalog: Catalog,
}

static FACTS: LazyLock<Facts> = LazyLock::new(|| {
    let catalog = Catalog::embedded();
    Facts {
        slots: catalog.limit(LimitName::OutstandingPerConnectionMax),
        call_bytes: ClientFacts::embedded().setting(SettingName::TransferSizeRecommended),
        nconnect_max: catalog.limit(LimitName::NconnectMax),
        breakthrough_endpoints: catalog.limit(LimitName::BreakthroughEndpoints),
        name_kinds: NAME_KINDS.iter().map(String::as_str).collect(),
        catalog,
    }
});

static NAME_KINDS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let figures = figure::all();
    figure::name_kinds(&figures).into_iter().map(str::to_owned).collect()
});

static SIZES: LazyLock<Vec<VmSize>> = LazyLock::new(vm_size::all);

/// The current row of a size of virtual machine; `None` if unknown.
pub(crate) fn vm_size(name: &str) -> Option<&'static VmSize> {
    let is_current = |size: &&VmSize| size.origin.status == Status::Current;
    SIZES.iter().filter(is_current).find(|size| size.name.eq_ignore_ascii_case(name))
}

/// The rows, read once.
pub(crate) fn of() -> &'static Facts {
    &FACTS
}

/// Number of a volume's own endpoints; a regular volume shares one with others, counted as 1.
pub(crate) fn endpoints_of_one(kind: VolumeKind) -> u64 {
    match kind {
        VolumeKind::Regular | VolumeKind::Large => 1,
        VolumeKind::Breakthrough => of().breakthrough_endpoints,
    }
}
