//! The rows of `data/service_levels.toml`.
//!
//! Parsing refuses rows without source or date, or with an unknown key, name or unit, and limits
//! that do not have exactly one current row: a parsed catalogue has every limit.

use crate::row::{CeilingRow, Dimension, LevelRow, LimitName, LimitRow, Origin, Status};
use crate::row_reader::{Row, RowsError, rows};
use crate::service_level::{KibPerSecPerGib, QosType, ServiceLevel, VolumeKind};
use crate::throughput::KibPerSec;

/// The file of [`SERVICE_LEVELS`].
const FILE: &str = "service_levels.toml";
/// The embedded rows.
const SERVICE_LEVELS: &str = include_str!("../../../data/service_levels.toml");

/// KiB/s in a MiB/s.
const KIB_PER_MIB: u64 = 1024;

/// All rows, current and superseded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// Service levels.
    pub levels: Vec<LevelRow>,
    /// Maximum throughput of volumes.
    pub ceilings: Vec<CeilingRow>,
    /// All other limits.
    pub limits: Vec<LimitRow>,
}

impl Catalog {
    /// The embedded catalogue.
    pub fn embedded() -> Catalog {
        Catalog::parse(SERVICE_LEVELS).expect("a test reads the embedded catalogue")
    }

    /// Reads the text of a catalogue.
    ///
    /// # Errors
    /// All problems of the text.
    pub fn parse(text: &str) -> Result<Catalog, RowsError> {
        let mut catalog = Catalog { levels: vec![], ceilings: vec![], limits: vec![] };
        rows(text, FILE, |table, row| catalog.add(table, row))?;
        catalog.require_one_current_row_each()?;
        Ok(catalog)
    }

    /// The current value of a limit, in the unit of its dimension.
    pub fn limit(&self, name: LimitName) -> u64 {
        let current = |row: &&LimitRow| row.name == name && row.origin.status == Status::Current;
        self.limits.iter().find(current).expect("`parse` requires one current row of each").value
    }

    /// The smallest and the largest quota of a volume, in GiB.
    pub fn quota_range(&self, kind: VolumeKind) -> (u64, u64) {
        let (least, most) = match kind {
            VolumeKind::Regular => {
                (LimitName::RegularVolumeSizeMin, LimitName::RegularVolumeSizeMax)
            }
            VolumeKind::Large => (LimitName::LargeVolumeSizeMin, LimitName::LargeVolumeSizeMax),
            VolumeKind::Breakthrough => {
                (LimitName::BreakthroughVolumeSizeMin, LimitName::BreakthroughVolumeSizeMax)
            }
        };
        (self.limit(least), self.limit(most))
    }

    /// The most files and directories of a volume, for any quota.
    pub fn inodes_max(&self, kind: VolumeKind) -> u64 {
        self.limit(match kind {
            VolumeKind::Regular => LimitName::RegularVolumeInodesMax,
            VolumeKind::Large | VolumeKind::Breakthrough => LimitName::LargeVolumeInodesMax,
        })
    }

    /// The current row of a service level.
    pub fn level(&self, level: ServiceLevel) -> &LevelRow {
        let current = |row: &&LevelRow| row.level == level && row.origin.status == Status::Current;
        self.levels.iter().find(current).expect("`parse` requires one current row of each")
    }

    /// The current maximum throughput of a volume with auto QoS; `None` if the service states no limit.
    pub(crate) fn ceiling(&self, level: ServiceLevel, kind: VolumeKind) -> Option<KibPerSec> {
        let current = |row: &&CeilingRow| {
            row.level == level && row.kind == kind && row.origin.status == Status::Current
        };
        self.ceilings.iter().find(current).map(|row| row.throughput)
    }

    fn add(&mut self, table: &str, row: &mut Row<'_, '_>) -> Result<(), String> {
        match table {
            "service_level" => {
                let level = row.named("level", ServiceLevel::named)?;
                let rate = row.optional("throughput_kib_s_per_gib", |row, key| row.number(key))?;
                let throughput = match rate {
                    Some(rate) => Some(KibPerSecPerGib::new(rate).ok_or("a throughput of 0")?),
                    None => None,
                };
                let qos = row.qos_types()?;
                if qos.contains(&QosType::Auto) && throughput.is_none() {
                    return Err("auto QoS without a throughput for each GiB".to_owned());
                }
                let origin = row.origin()?;
                self.levels.push(LevelRow { level, throughput, qos, origin });
            }
            "ceiling" => {
                let level = row.named("level", ServiceLevel::named)?;
                let kind = row.named("volume", VolumeKind::named)?;
                let throughput = KibPerSec::new(row.quantity(Dimension::KibPerSec)?);
                let origin = row.origin()?;
                self.ceilings.push(CeilingRow { level, kind, throughput, origin });
            }
            "limit" => {
                let name = row.named("name", LimitName::named)?;
                let value = row.quantity(name.dimension())?;
                if name == LimitName::FlexibleThroughputMaxPerTib
                    && (value == 0 || !value.is_multiple_of(KIB_PER_MIB))
                {
                    return Err("not whole MiB/s above 0".to_owned());
                }
                let origin = row.origin()?;
                self.limits.push(LimitRow { name, value, origin });
            }
            _ => return Err("unknown table".to_owned()),
        }
        Ok(())
    }

    fn require_one_current_row_each(&self) -> Result<(), RowsError> {
        let require = |of: String, rows: usize, least: usize| match rows {
            1 => Ok(()),
            0 if least == 0 => Ok(()),
            _ => Err(RowsError::NotOneCurrent { of, rows }),
        };
        for level in ServiceLevel::ALL {
            let rows = self.levels.iter().filter(|row| row.level == level);
            require(level.to_string(), current(rows.map(|row| &row.origin)), 1)?;
            for kind in VolumeKind::ALL {
                let rows = self.ceilings.iter().filter(|r| r.level == level && r.kind == kind);
                let of = format!("the ceiling of {} {} volumes", level, kind.name());
                require(of, current(rows.map(|row| &row.origin)), 0)?;
            }
        }
        for &name in LimitName::ALL {
            let rows = self.limits.iter().filter(|row| row.name == name);
            require(name.to_string(), current(rows.map(|row| &row.origin)), 1)?;
        }
        Ok(())
    }
}

fn current<'a>(origins: impl Iterator<Item = &'a Origin>) -> usize {
    origins.filter(|origin| origin.status == Status::Current).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row_reader::is_date;

    #[test]
    fn every_embedded_row_has_source_and_date() {
        let catalog = Catalog::parse(SERVICE_LEVELS).unwrap();
        let levels = catalog.levels.iter().map(|row| &row.origin);
        let ceilings = catalog.ceilings.iter().map(|row| &row.origin);
        let limits = catalog.limits.iter().map(|row| &row.origin);
        let origins: Vec<&Origin> = levels.chain(ceilings).chain(limits).collect();
        assert!(origins.len() > 50);
        for origin in &origins {
            assert!(!origin.source.is_empty() && is_date(&origin.date), "{origin:?}");
        }
        assert!(origins.iter().any(|origin| origin.status == Status::Superseded));
    }

    #[test]
    fn limits_are_from_the_current_rows() {
        let catalog = Catalog::embedded();
        for (name, value) in [
            (LimitName::PoolSizeMin, 1024),
            (LimitName::PoolSizeMax, 2048 * 1024),
            (LimitName::RegularVolumeSizeMin, 50),
            (LimitName::RegularVolumeSizeMax, 102_400),
            (LimitName::LargeVolumeSizeMin, 50 * 1024),
            (LimitName::LargeVolumeSizeMax, 1024 * 1024),
            (LimitName::BreakthroughVolumeSizeMin, 2400),
            (LimitName::BreakthroughVolumeSizeMax, 2400 * 1024),
            (LimitName::LevelCoolDown, 24 * 3600),
            (LimitName::OutstandingPerConnectionMax, 128),
            (LimitName::ManualThroughputMax, 4500 * 1024),
            (LimitName::FlexibleThroughputMaxPerTib, 5 * 128 * 1024),
        ] {
            assert_eq!(catalog.limit(name), value, "{name}");
        }
        let mib = |kind, level| catalog.ceiling(level, kind).map(KibPerSec::as_mib);
        assert_eq!(mib(VolumeKind::Regular, ServiceLevel::Standard), Some(1600.0));
        assert_eq!(mib(VolumeKind::Regular, ServiceLevel::Ultra), Some(4500.0));
        assert_eq!(mib(VolumeKind::Large, ServiceLevel::Standard), Some(12_800.0));
        assert_eq!(mib(VolumeKind::Breakthrough, ServiceLevel::Ultra), None);
        assert_eq!(catalog.level(ServiceLevel::Flexible).qos, [QosType::Manual]);
        assert_eq!(catalog.level(ServiceLevel::Flexible).throughput, None);
    }

    #[test]
    fn a_row_without_its_origin_is_refused() {
        let row = "[[limit]]\nname = \"pool_size_min\"\nvalue = 1\nunit = \"TiB\"\n";
        let origin = "status = \"current\"\nsource = \"a\"\ndate = \"2026-01-29\"\n";
        let problem = |text: String| Catalog::parse(&text).unwrap_err().to_string();
        for (left_out, message) in [
            ("source = \"a\"\n", "service_levels.toml:1:1: `source` is missing"),
            ("date = \"2026-01-29\"\n", "service_levels.toml:1:1: `date` is missing"),
            ("status = \"current\"\n", "service_levels.toml:1:1: `status` is missing"),
        ] {
            assert_eq!(problem(format!("{row}{}", origin.replace(left_out, ""))), message);
        }
        let changed = |from, to| problem(format!("{row}{origin}").replace(from, to));
        assert!(changed("2026-01-29", "soon").contains("`date` is not a date"));
        assert!(changed("\"TiB\"", "\"MiB/s\"").contains("wrong unit"));
        assert!(changed("pool_size_min", "pool_size_mim").contains("`name` is unknown"));
        assert!(
            changed("status", "colour = \"red\"\nstatus")
                .contains("unknown key in [[limit]], found `colour`")
        );
        assert!(changed("value = 1", "value = -1").contains("negative"));
    }

    #[test]
    fn a_rate_that_is_missing_or_not_whole_is_refused() {
        let problem = |from: &str, to: &str| {
            assert!(SERVICE_LEVELS.contains(from), "{from}");
            Catalog::parse(&SERVICE_LEVELS.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let without = problem("throughput_kib_s_per_gib = 16\n", "");
        assert!(without.contains("auto QoS without a throughput for each GiB"), "{without}");
        let per_tib = "\"flexible_throughput_max_per_tib\"\nvalue = 640\nunit = \"MiB/s\"";
        for wrong in ["value = 640\nunit = \"KiB/s\"", "value = 0\nunit = \"MiB/s\""] {
            let changed = per_tib.replace("value = 640\nunit = \"MiB/s\"", wrong);
            let message = problem(per_tib, &changed);
            assert!(message.contains("not whole MiB/s above 0"), "{message}");
        }
    }

    #[test]
    fn a_limit_without_or_with_two_current_rows_is_refused() {
        let name = "name = \"volume_size_step\"";
        let none = SERVICE_LEVELS.replace(name, "name = \"pool_size_step\"");
        let error = Catalog::parse(&none).unwrap_err().to_string();
        assert!(error.contains("has 2 current rows") || error.contains("has 0 current rows"));
        assert!(matches!(Catalog::parse("x = ").unwrap_err(), RowsError::Invalid(_)));
    }
}
