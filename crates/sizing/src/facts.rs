//! All facts behind designs in one value, so that tests can replace them.

use cloud::avs::Avs;
use cloud::catalog::Catalog;
use cloud::client::ClientFacts;
use cloud::figure::{self, Figure};
use cloud::price::Prices;
use cloud::reason::RowRef;
use cloud::region::{Feature, Regions};
use cloud::row::Status;
use cloud::service_level::VolumeKind;
use cloud::vm_size::{self, VmSize};
use predict::Parameters;
use units::OpsPerSec;

/// Facts about the service, prices, clients and virtual machines.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Service levels, ceilings and limits.
    pub catalog: Catalog,
    /// List prices.
    pub prices: Prices,
    /// Regions with their features.
    pub regions: Regions,
    /// Sizes of virtual machines, without superseded rows.
    pub vms: Vec<VmSize>,
    /// Hosts of Azure VMware Solution, and its limits.
    pub avs: Avs,
    /// Recommended client settings.
    pub clients: ClientFacts,
    /// Parameters of the model, fitted to published figures.
    pub parameters: Parameters,
    /// All published figures.
    pub figures: Vec<Figure>,
}

impl Facts {
    /// The largest published rate of operations on names of one volume over NFS, with its figure.
    pub fn name_rate(&self, kind: VolumeKind) -> Option<(OpsPerSec, RowRef)> {
        let (rate, figure) = figure::most_names(&self.figures, kind)?;
        Some((rate, figure.row_ref()))
    }

    /// The facts in the binary.
    pub fn embedded() -> Facts {
        let current = |vm: &VmSize| vm.origin.status == Status::Current;
        let figures = figure::all();
        Facts {
            catalog: Catalog::embedded(),
            prices: Prices::embedded(),
            regions: Regions::embedded(),
            vms: vm_size::all().into_iter().filter(current).collect(),
            avs: Avs::embedded(),
            clients: ClientFacts::embedded(),
            parameters: Parameters::calibrated(&figures),
            figures,
        }
    }

    /// Whether a region has volumes of a kind.
    pub fn has_volumes(&self, region: &str, kind: VolumeKind) -> bool {
        let has_large =
            || self.regions.find(region).is_some_and(|one| one.has(Feature::LargeVolumes));
        match kind {
            VolumeKind::Regular => true,
            VolumeKind::Large | VolumeKind::Breakthrough => has_large(),
        }
    }

    /// A size of virtual machine, case-insensitive, with or without `Standard_`.
    pub fn vm(&self, name: &str) -> Option<&VmSize> {
        let bare = |name: &str| {
            let lower = name.to_ascii_lowercase();
            lower.strip_prefix("standard_").map_or(lower.clone(), str::to_owned)
        };
        let name = bare(name);
        self.vms.iter().find(|vm| bare(&vm.name) == name)
    }
}

#[cfg(test)]
mod tests {
    use cloud::service_level::ServiceLevel;

    use super::*;

    #[test]
    fn a_region_has_only_its_own_levels_and_kinds_of_volume() {
        use ServiceLevel::{Premium, Standard, Ultra};
        let facts = Facts::embedded();
        assert_eq!(facts.levels_of("New Zealand North"), [Standard, Premium, Ultra]);
        assert_eq!(facts.levels_of("eastus"), ServiceLevel::ALL);
        assert!(!facts.has_volumes("newzealandnorth", VolumeKind::Large));
        assert!(facts.has_volumes("newzealandnorth", VolumeKind::Regular));
        assert!(facts.has_volumes("eastus", VolumeKind::Breakthrough));
    }

    #[test]
    fn a_size_of_machine_is_found_by_its_short_name() {
        let facts = Facts::embedded();
        let d32 = facts.vm("d32s_v3").unwrap();
        assert_eq!(d32.name, "Standard_D32s_v3");
        assert_eq!(facts.vm("Standard_d32S_v3"), Some(d32));
        assert_eq!(facts.vm("D33s_v3"), None);
    }
}
