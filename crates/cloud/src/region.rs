//! Azure regions, from `data/regions.toml`: their names, features of the file service, and possible
//! destinations of replication.
//!
//! For: finding a region by name, checking features, and finding the nearest regions with a feature.
//! Not for: prices (`price.rs`).

use std::fmt;

use crate::reason::RowRef;
use crate::row::Origin;
use crate::row_reader::{Row, RowsError, rows};

/// The embedded regions.
const REGIONS: &str = include_str!("../../../data/regions.toml");
/// The file's name, for references to its rows.
const FILE: &str = "regions.toml";

macro_rules! features {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $words:literal;)*) => {
        /// A feature of the file service that some regions lack.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Feature { $($(#[$doc])* $variant,)* }

        impl Feature {
            /// All values.
            pub const ALL: &[Feature] = &[$(Feature::$variant,)*];

            /// The name in the data.
            pub const fn name(self) -> &'static str {
                match self { $(Feature::$variant => $name,)* }
            }

            /// A description.
            pub const fn words(self) -> &'static str {
                match self { $(Feature::$variant => $words,)* }
            }
        }
    };
}

features! {
    /// Volumes can be placed in an availability zone.
    AvailabilityZones = "availability_zones", "availability zones";
    /// Volumes can be datastores of Azure VMware Solution.
    AvsDatastores = "avs_datastores", "datastores for Azure VMware Solution";
    /// Volumes can be backed up.
    Backup = "backup", "backup";
    /// Cache volumes.
    CacheVolumes = "cache_volumes", "cache volumes";
    /// Pools can have a cool tier.
    CoolAccess = "cool_access", "cool access";
    /// Replication between availability zones.
    CrossZoneReplication = "cross_zone_replication", "cross-zone replication";
    /// Customer-managed keys.
    CustomerManagedKeys = "customer_managed_keys", "customer-managed keys";
    /// Customer-managed keys in a hardware security module.
    CustomerManagedKeysHsm =
        "customer_managed_keys_hsm", "customer-managed keys in a hardware security module";
    /// Pools can be encrypted twice.
    DoubleEncryption = "double_encryption", "double encryption";
    /// The zone-redundant Elastic service level.
    ElasticZrs = "elastic_zrs", "Elastic zone-redundant service level";
    /// File access logs.
    FileAccessLogs = "file_access_logs", "file access logs";
    /// The Flexible service level.
    Flexible = "flexible", "Flexible service level";
    /// Volumes larger than regular ones.
    LargeVolumes = "large_volumes", "large volumes";
    /// Detection of ransomware.
    RansomwareProtection = "ransomware_protection", "ransomware protection";
    /// Standard network features.
    StandardNetworkFeatures = "standard_network_features", "Standard network features";
    /// Network features can be changed without interruption.
    StandardNetworkFeaturesEdit = "standard_network_features_edit",
        "changing network features without interruption";
}

impl Feature {
    /// The feature with this name; `-` equals `_`.
    pub fn named(name: &str) -> Option<Feature> {
        let plain = name.to_ascii_lowercase().replace('-', "_");
        Feature::ALL.iter().copied().find(|feature| feature.name() == plain)
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// A region.
#[derive(Clone, Debug, PartialEq)]
pub struct Region {
    /// The name in Azure's interfaces: `westeurope`.
    pub name: String,
    /// The name in Azure's portal: `West Europe`.
    pub display_name: String,
    /// Latitude and longitude in degrees, if the vendor's lists have them.
    pub position: Option<(f64, f64)>,
    /// Features of the file service; `None` if the vendor's list lacks the region.
    pub features: Option<Vec<Feature>>,
    /// Names of the regions that volumes can be replicated to.
    pub replicates_to: Vec<String>,
    /// Its source.
    pub origin: Origin,
}

impl Region {
    /// Whether the region has a feature according to the vendor's list.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.as_ref().is_some_and(|all| all.contains(&feature))
    }

    /// Whether volumes can be replicated from here to `other`.
    pub fn replicates_to(&self, other: &str) -> bool {
        self.replicates_to.iter().any(|name| name == other)
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("region {}", self.name), &self.origin)
    }

    /// The angle between two regions on the globe, in radians, by the spherical law of cosines;
    /// `None` where a position is not known.
    fn angle_to(&self, other: &Region) -> Option<f64> {
        let ((lat, lon), (other_lat, other_lon)) = (self.position?, other.position?);
        let (a, b) = (lat.to_radians(), other_lat.to_radians());
        let east = (other_lon - lon).to_radians();
        let cosine = a.sin() * b.sin() + a.cos() * b.cos() * east.cos();
        Some(cosine.clamp(-1.0, 1.0).acos())
    }
}

/// All regions in the vendor's lists.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Regions(Vec<Region>);

impl Regions {
    /// The embedded regions.
    pub fn embedded() -> Regions {
        Regions::parse(REGIONS).expect("a test reads the embedded regions")
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// All problems of the text; a region twice; a replication to an unknown region.
    pub fn parse(text: &str) -> Result<Regions, RowsError> {
        let all = rows(text, FILE, |table, row| match table {
            "region" => region(row),
            _ => Err("unknown table".to_owned()),
        })?;
        let wrong = |region: &Region, problem: String| {
            Err(RowsError::Contradiction { row: format!("region {}", region.name), problem })
        };
        for (index, region) in all.iter().enumerate() {
            if all[..index].iter().any(|other| other.name == region.name) {
                return wrong(region, "a second row".to_owned());
            }
            let is_known = |name: &&String| all.iter().any(|other| other.name == **name);
            if let Some(unknown) = region.replicates_to.iter().find(|name| !is_known(name)) {
                return wrong(region, format!("`replicates_to` is unknown: `{unknown}`"));
            }
        }
        Ok(Regions(all))
    }

    /// All regions, in the order of the data.
    pub fn iter(&self) -> impl Iterator<Item = &Region> {
        self.0.iter()
    }

    /// The region with this name: `westeurope`, `West Europe`, `(Europe) West Europe`.
    pub fn find(&self, text: &str) -> Option<&Region> {
        let name = plain(text);
        self.0.iter().find(|one| one.name == name || plain(&one.display_name) == name)
    }

    /// The region with the most similar name.
    pub fn similar(&self, text: &str) -> Option<&Region> {
        let name = plain(text);
        let near = units::nearest(&name, self.0.iter().map(|one| one.name.as_str()))?;
        self.find(near)
    }

    /// Up to `count` regions that satisfy `suits`, the nearest to `from` first; those without a position
    /// come last.
    pub fn nearest(
        &self,
        from: &Region,
        count: usize,
        suits: impl Fn(&Region) -> bool,
    ) -> Vec<&Region> {
        let others = self.0.iter().filter(|one| one.name != from.name && suits(one));
        let angle = |one: &Region| from.angle_to(one).unwrap_or(f64::INFINITY);
        let mut found: Vec<(f64, &Region)> = others.map(|one| (angle(one), one)).collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        found.into_iter().take(count).map(|(_, one)| one).collect()
    }
}

/// Lower-case letters and digits, without a leading geography in parentheses.
fn plain(text: &str) -> String {
    let text = text.trim();
    let bare = match text.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, bare)) => bare,
        None => text,
    };
    bare.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

fn region(row: &mut Row<'_, '_>) -> Result<Region, String> {
    let named = |name: &String| {
        Feature::named(name).ok_or_else(|| format!("unknown feature in `features`: `{name}`"))
    };
    let features = match row.optional("features", |row, key| row.texts(key))? {
        Some(names) => Some(names.iter().map(named).collect::<Result<Vec<_>, _>>()?),
        None => None,
    };
    let latitude = row.optional("latitude", |row, key| row.degrees(key))?;
    let longitude = row.optional("longitude", |row, key| row.degrees(key))?;
    Ok(Region {
        name: row.text("name")?,
        display_name: row.text("display_name")?,
        position: latitude.zip(longitude),
        features,
        replicates_to: row
            .optional("replicates_to", |row, key| row.texts(key))?
            .unwrap_or_default(),
        origin: row.origin()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_region_is_found_by_each_of_its_names() {
        let regions = Regions::embedded();
        for text in
            ["westeurope", "WestEurope", "West Europe", "west-europe", "(Europe) West Europe"]
        {
            assert_eq!(
                regions.find(text).map(|one| one.name.as_str()),
                Some("westeurope"),
                "{text}"
            );
        }
        assert_eq!(regions.find("US Gov Virginia").unwrap().name, "usgovvirginia");
        assert_eq!(regions.find("atlantis"), None);
        assert_eq!(regions.similar("West Eurpe").unwrap().display_name, "West Europe");
        assert_eq!(regions.similar("atlantis"), None);
    }

    #[test]
    fn the_vendors_list_has_features_of_48_regions_and_replication_is_symmetric() {
        let regions = Regions::embedded();
        let listed = || regions.iter().filter(|one| one.features.is_some());
        assert_eq!(listed().count(), 48);
        for from in listed() {
            for to in &from.replicates_to {
                assert!(regions.find(to).unwrap().replicates_to(&from.name), "{} {to}", from.name);
            }
        }
        let lacks = |feature| {
            let names = listed().filter(move |one| !one.has(feature)).map(|one| one.name.as_str());
            names.collect::<Vec<_>>()
        };
        assert_eq!(lacks(Feature::Flexible), ["newzealandnorth"]);
        let large = ["israelcentral", "newzealandnorth", "southindia", "uaecentral"];
        assert_eq!(lacks(Feature::LargeVolumes), large);
        assert_eq!(lacks(Feature::Backup), Vec::<&str>::new());
    }

    #[test]
    fn the_nearest_regions_with_a_feature_come_first() {
        let regions = Regions::embedded();
        let from = regions.find("newzealandnorth").unwrap();
        let near = regions.nearest(from, 2, |one| one.has(Feature::LargeVolumes));
        let names: Vec<&str> = near.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["australiaeast", "australiacentral2"]);
        // 2.4 degrees north and 5.5 west at a cosine of 0.61: some 4.1 degrees, 0.072 radians.
        let [london, dublin] = ["uksouth", "northeurope"].map(|name| regions.find(name).unwrap());
        let radians = london.angle_to(dublin).unwrap();
        assert!((0.070..0.076).contains(&radians), "{radians}");
    }

    #[test]
    fn a_repeated_region_or_an_unknown_destination_is_refused() {
        let row = "[[region]]\nname = \"a\"\ndisplay_name = \"A\"\nfeatures = [\"backup\"]\n\
                   status = \"current\"\nsource = \"s\"\ndate = \"2026\"\n";
        assert_eq!(Regions::parse(row).unwrap().iter().count(), 1);
        let problem = |text: String| Regions::parse(&text).unwrap_err().to_string();
        assert!(problem(format!("{row}{row}")).contains("region a: a second row"));
        assert!(problem(format!("{row}replicates_to = [\"b\"]\n")).contains("is unknown: `b`"));
        assert!(
            problem(row.replace("backup", "backups"))
                .contains("unknown feature in `features`: `backups`")
        );
    }
}
