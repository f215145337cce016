//! Checks that a region has what a need requires: features, levels with a price, a replication
//! pair. An error names the nearest regions that have it.

use cloud::region::{Feature, Region, Regions};
use cloud::service_level::ServiceLevel;
use units::Share;

use crate::facts::Facts;
use crate::need::{Need, NeedError, Protocol};

/// Most regions that an error names.
const NEAREST: usize = 3;

impl Facts {
    /// The service levels that a region sells.
    pub fn levels_of(&self, region: &str) -> Vec<ServiceLevel> {
        let Some(region) = self.regions.find(region) else { return Vec::new() };
        let is_sold = |level: &ServiceLevel| demand_level(*level, region, self).is_ok();
        ServiceLevel::ALL.into_iter().filter(is_sold).collect()
    }
}

/// Checks all requirements of a need on its region.
pub(crate) fn check(need: &Need, facts: &Facts) -> Result<(), NeedError> {
    let unknown = || NeedError::UnknownRegion { name: need.region.clone() };
    let region = facts.regions.find(&need.region).ok_or_else(unknown)?;
    if facts.prices.storage(&region.name).is_none() {
        let priced = |one: &Region| facts.prices.storage(&one.name).is_some();
        return Err(lacks("Azure NetApp Files", region, &facts.regions, priced));
    }
    for level in &need.levels {
        demand_level(*level, region, facts)?;
    }
    let charges = &need.charges;
    for (feature, is_needed) in [
        (Feature::CoolAccess, charges.cool > Share::ZERO),
        (Feature::Backup, charges.backup_gib > 0),
        (Feature::AvsDatastores, need.protocol == Protocol::Datastores),
    ] {
        if is_needed {
            demand(feature, region, &facts.regions)?;
        }
    }
    let Some(replication) = &charges.replication else { return Ok(()) };
    let to = facts.regions.find(&replication.to);
    match to.filter(|to| region.replicates_to(&to.name)) {
        Some(to) => replication.level.map_or(Ok(()), |level| demand_level(level, to, facts)),
        None => Err(NeedError::NoReplication {
            from: region.display_name.clone(),
            to: to.map_or(&replication.to, |to| &to.display_name).clone(),
            pairs: region.replicates_to.clone(),
        }),
    }
}

/// The error that `region` lacks `feature`, with the nearest regions for which `has` holds.
fn lacks(
    feature: &str,
    region: &Region,
    regions: &Regions,
    has: impl Fn(&Region) -> bool,
) -> NeedError {
    let nearest = regions.nearest(region, NEAREST, has);
    NeedError::RegionLacks {
        feature: feature.to_owned(),
        region: region.display_name.clone(),
        nearest: nearest.into_iter().map(|one| one.name.clone()).collect(),
    }
}

/// Checks that a region has a feature.
///
/// # Errors
/// It does not.
pub fn demand(feature: Feature, region: &Region, regions: &Regions) -> Result<(), NeedError> {
    match region.has(feature) {
        true => Ok(()),
        false => Err(lacks(feature.words(), region, regions, |one| one.has(feature))),
    }
}

/// Checks that a region has a price for a service level.
///
/// # Errors
/// It does not.
pub fn demand_level(level: ServiceLevel, region: &Region, facts: &Facts) -> Result<(), NeedError> {
    let priced = |one: &Region| {
        facts.prices.storage(&one.name).is_some_and(|prices| prices.capacity(level).is_some())
    };
    match level {
        ServiceLevel::Flexible => demand(Feature::Flexible, region, &facts.regions)?,
        ServiceLevel::Standard | ServiceLevel::Premium | ServiceLevel::Ultra => {}
    }
    match priced(region) {
        true => Ok(()),
        false => {
            let what = format!("price for the {level} service level");
            Err(lacks(&what, region, &facts.regions, priced))
        }
    }
}
