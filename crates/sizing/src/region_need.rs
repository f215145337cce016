//! What a need asks of its region: features, levels with a price, a replication pair. What the
//! region lacks is refused with the nearest regions that have it.

use cloud::region::{Feature, Region, Regions};
use cloud::service_level::ServiceLevel;

use crate::facts::Facts;
use crate::need::{Need, NeedError, Protocol};

/// How many regions are named that have what another lacks.
const NEAREST: usize = 3;

pub(crate) fn nearest_words(nearest: &[String]) -> String {
    match nearest {
        [] => "no region has it".to_owned(),
        [one] => format!("the nearest region that has it is {one}"),
        several => format!("the nearest regions that have it are {}", several.join(", ")),
    }
}

pub(crate) fn pair_words(pairs: &[String]) -> String {
    match pairs {
        [] => "the region has no replication pair".to_owned(),
        pairs => format!("they can be replicated to {}", pairs.join(", ")),
    }
}

/// Says what the region lacks of what is needed.
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
        (Feature::CoolAccess, charges.cool_permille > 0),
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

/// That `region` lacks `feature`, with the nearest regions for which `has` holds.
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

/// Says that a region lacks a feature, if it does.
///
/// # Errors
/// It does.
pub fn demand(feature: Feature, region: &Region, regions: &Regions) -> Result<(), NeedError> {
    match region.has(feature) {
        true => Ok(()),
        false => Err(lacks(feature.words(), region, regions, |one| one.has(feature))),
    }
}

/// Says that a region has no price of a level, if it has none.
///
/// # Errors
/// It has none.
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
            let what = format!("price of the {level} service level");
            Err(lacks(&what, region, &facts.regions, priced))
        }
    }
}
