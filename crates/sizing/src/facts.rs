//! The facts that designs are made from, together, so that a test can put others in their place.

use cloud::avs::Avs;
use cloud::catalog::Catalog;
use cloud::client::ClientFacts;
use cloud::figure::{self, Figure};
use cloud::price::Prices;
use cloud::region::{Feature, Regions};
use cloud::row::Status;
use cloud::service_level::{ServiceLevel, VolumeKind};
use cloud::vm_size::{self, VmSize};
use predict::Parameters;

use crate::region_need::demand_level;

/// What is known of the service, its prices, its clients and the machines that they run on.
#[derive(Clone, Debug)]
pub struct Facts {
    /// Levels, ceilings, limits.
    pub catalog: Catalog,
    /// List prices.
    pub prices: Prices,
    /// Regions, with what each has.
    pub regions: Regions,
    /// Sizes of virtual machines; superseded rows are left out.
    pub vms: Vec<VmSize>,
    /// Hosts of Azure VMware Solution, and its limits.
    pub avs: Avs,
    /// How clients should be set.
    pub clients: ClientFacts,
    /// What parts of the service were measured to do, fitted to published figures.
    pub parameters: Parameters,
    /// The published figures that those were fitted to, and the others.
    pub figures: Vec<Figure>,
}

impl Facts {
    /// Those that are part of the binary.
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

    /// The service levels that a region sells.
    pub fn levels_of(&self, region: &str) -> Vec<ServiceLevel> {
        let Some(region) = self.regions.find(region) else { return Vec::new() };
        let is_sold = |level: &ServiceLevel| demand_level(*level, region, self).is_ok();
        ServiceLevel::ALL.into_iter().filter(is_sold).collect()
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

    /// A size of machine, whatever the case of its name and with or without `Standard_`.
    pub fn vm(&self, name: &str) -> Option<&VmSize> {
        let bare = |name: &str| {
            let lower = name.to_ascii_lowercase();
            lower.strip_prefix("standard_").map_or(lower.clone(), str::to_owned)
        };
        let wanted = bare(name);
        self.vms.iter().find(|vm| bare(&vm.name) == wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_region_lacks_is_no_level_and_no_kind_of_volume_of_it() {
        use ServiceLevel::{Premium, Standard, Ultra};
        let facts = Facts::embedded();
        assert_eq!(facts.levels_of("New Zealand North"), [Standard, Premium, Ultra]);
        assert_eq!(facts.levels_of("eastus"), ServiceLevel::ALL);
        assert!(!facts.has_volumes("newzealandnorth", VolumeKind::Large));
        assert!(facts.has_volumes("newzealandnorth", VolumeKind::Regular));
        assert!(facts.has_volumes("eastus", VolumeKind::Breakthrough));
    }

    #[test]
    fn a_machine_is_found_by_its_short_name_too() {
        let facts = Facts::embedded();
        let d32 = facts.vm("d32s_v3").unwrap();
        assert_eq!(d32.name, "Standard_D32s_v3");
        assert_eq!(facts.vm("Standard_d32S_v3"), Some(d32));
        assert_eq!(facts.vm("D33s_v3"), None);
    }
}
