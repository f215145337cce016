//! The rows of `data/service_levels.toml`, read and asked.
//!
//! Reading refuses a row without source or date, with an unknown key, name or unit, and a limit
//! that has no current row or two: a catalogue that was read can be asked for every limit.

use toml::{Table, Value};

use crate::row::{CeilingRow, Dimension, LevelRow, LimitName, LimitRow, Origin, Status};
use crate::service_level::{KibPerSecPerGib, QosType, ServiceLevel, VolumeKind};
use crate::throughput::KibPerSec;

/// The facts that the product goes by.
const SERVICE_LEVELS: &str = include_str!("../../../data/service_levels.toml");

/// The table whose keys hold for each row that does not have them.
const DEFAULT: &str = "default";

/// KiB/s in a MiB/s.
const KIB_PER_MIB: u64 = 1024;

/// Every row, current and superseded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catalog {
    /// What the service levels give.
    pub levels: Vec<LevelRow>,
    /// The most throughput of volumes.
    pub ceilings: Vec<CeilingRow>,
    /// Everything else.
    pub limits: Vec<LimitRow>,
}

/// Why a text is no catalogue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CatalogError {
    /// It is not TOML.
    #[error("read catalogue: {0}")]
    Toml(String),
    /// A row is not as it must be.
    #[error("row {row} of [[{table}]]: {problem}")]
    Row {
        /// The table's name.
        table: String,
        /// Counted from 1; 0 where the table as a whole is meant.
        row: usize,
        /// What is wrong.
        problem: String,
    },
    /// There must be exactly one current row, so that nobody has to choose.
    #[error("{of} has {rows} current rows instead of one")]
    NotOneCurrent {
        /// What the rows are about.
        of: String,
        /// How many there are.
        rows: usize,
    },
}

impl Catalog {
    /// The catalogue that is part of the binary.
    pub fn embedded() -> Catalog {
        Catalog::parse(SERVICE_LEVELS).expect("a test reads the embedded catalogue")
    }

    /// Reads the text of a catalogue.
    ///
    /// # Errors
    /// The first thing that is wrong with it.
    pub fn parse(text: &str) -> Result<Catalog, CatalogError> {
        let mut catalog = Catalog { levels: vec![], ceilings: vec![], limits: vec![] };
        rows(text, |table, row| catalog.add(table, row))?;
        catalog.demand_one_current_row_each()?;
        Ok(catalog)
    }

    /// The current number of a limit, in the unit of its name's dimension.
    pub fn limit(&self, name: LimitName) -> u64 {
        let current = |row: &&LimitRow| row.name == name && row.origin.status == Status::Current;
        self.limits.iter().find(current).expect("`parse` demands one current row of each").value
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

    /// What a service level gives now.
    pub fn level(&self, level: ServiceLevel) -> &LevelRow {
        let current = |row: &&LevelRow| row.level == level && row.origin.status == Status::Current;
        self.levels.iter().find(current).expect("`parse` demands one current row of each")
    }

    /// The most throughput of a volume with auto QoS now; `None` where the service states no limit.
    pub(crate) fn ceiling(&self, level: ServiceLevel, kind: VolumeKind) -> Option<KibPerSec> {
        let current = |row: &&CeilingRow| {
            row.level == level && row.kind == kind && row.origin.status == Status::Current
        };
        self.ceilings.iter().find(current).map(|row| row.throughput)
    }

    /// Where every row comes from.
    pub fn origins(&self) -> impl Iterator<Item = &Origin> {
        let levels = self.levels.iter().map(|row| &row.origin);
        let ceilings = self.ceilings.iter().map(|row| &row.origin);
        levels.chain(ceilings).chain(self.limits.iter().map(|row| &row.origin))
    }

    fn add(&mut self, table: &str, row: &mut Row) -> Result<(), String> {
        match table {
            "service_level" => {
                let level = row.named("level", ServiceLevel::named)?;
                let throughput = match row.0.contains_key("throughput_kib_s_per_gib") {
                    true => {
                        let rate = row.number("throughput_kib_s_per_gib")?;
                        Some(KibPerSecPerGib::new(rate).ok_or("a throughput of 0")?)
                    }
                    false => None,
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
            _ => return Err("an unknown table".to_owned()),
        }
        Ok(())
    }

    fn demand_one_current_row_each(&self) -> Result<(), CatalogError> {
        let demand = |of: String, rows: usize, least: usize| match rows {
            1 => Ok(()),
            0 if least == 0 => Ok(()),
            _ => Err(CatalogError::NotOneCurrent { of, rows }),
        };
        for level in ServiceLevel::ALL {
            let rows = self.levels.iter().filter(|row| row.level == level);
            demand(level.to_string(), current(rows.map(|row| &row.origin)), 1)?;
            for kind in VolumeKind::ALL {
                let rows = self.ceilings.iter().filter(|r| r.level == level && r.kind == kind);
                let of = format!("the ceiling of {} {} volumes", level, kind.name());
                demand(of, current(rows.map(|row| &row.origin)), 0)?;
            }
        }
        for &name in LimitName::ALL {
            let rows = self.limits.iter().filter(|row| row.name == name);
            demand(name.to_string(), current(rows.map(|row| &row.origin)), 1)?;
        }
        Ok(())
    }
}

fn current<'a>(origins: impl Iterator<Item = &'a Origin>) -> usize {
    origins.filter(|origin| origin.status == Status::Current).count()
}

/// What `read` makes of each row of a text of `[[table]]`s. It must take every key of the row.
/// The keys of a table `default` hold for each row that does not have them.
pub(crate) fn rows<T>(
    text: &str,
    mut read: impl FnMut(&str, &mut Row) -> Result<T, String>,
) -> Result<Vec<T>, CatalogError> {
    let mut tables: Table = text.parse().map_err(|error| CatalogError::Toml(format!("{error}")))?;
    let default = match tables.remove(DEFAULT) {
        Some(Value::Table(default)) => default,
        Some(_) => return Err(CatalogError::Toml(format!("`{DEFAULT}` is not a table"))),
        None => Table::new(),
    };
    let mut all = Vec::new();
    for (table, rows) in &tables {
        let wrong =
            |row: usize, problem: String| CatalogError::Row { table: table.clone(), row, problem };
        let rows = rows.as_array().ok_or_else(|| wrong(0, "not a list of rows".to_owned()))?;
        for (index, row) in rows.iter().enumerate() {
            let wrong = |problem: String| wrong(index + 1, problem);
            let keys = row.as_table().ok_or_else(|| wrong("not a table".to_owned()))?;
            let mut row = Row(default.clone());
            row.0.extend(keys.clone());
            all.push(read(table, &mut row).map_err(wrong)?);
            if let Some(unknown) = row.0.keys().next() {
                return Err(wrong(format!("unknown key `{unknown}`")));
            }
        }
    }
    Ok(all)
}

/// A row of which keys are taken until none may be left.
pub(crate) struct Row(Table);

impl Row {
    pub(crate) fn text(&mut self, key: &str) -> Result<String, String> {
        match self.0.remove(key) {
            Some(Value::String(text)) if !text.trim().is_empty() => Ok(text),
            Some(_) => Err(format!("`{key}` is not a text")),
            None => Err(format!("`{key}` is missing")),
        }
    }

    pub(crate) fn number(&mut self, key: &str) -> Result<u64, String> {
        match self.0.remove(key) {
            Some(Value::Integer(number)) => {
                u64::try_from(number).map_err(|_| format!("`{key}` is negative"))
            }
            Some(_) => Err(format!("`{key}` is not a whole number")),
            None => Err(format!("`{key}` is missing")),
        }
    }

    /// Degrees of latitude or longitude.
    pub(crate) fn degrees(&mut self, key: &str) -> Result<f64, String> {
        match self.0.remove(key) {
            Some(Value::Float(degrees)) if degrees.abs() <= 180.0 => Ok(degrees),
            Some(_) => Err(format!("`{key}` is no number of degrees")),
            None => Err(format!("`{key}` is missing")),
        }
    }

    pub(crate) fn named<T>(
        &mut self,
        key: &str,
        named: impl Fn(&str) -> Option<T>,
    ) -> Result<T, String> {
        let name = self.text(key)?;
        named(&name).ok_or_else(|| format!("`{key}` is unknown: `{name}`"))
    }

    /// A list of texts.
    pub(crate) fn texts(&mut self, key: &str) -> Result<Vec<String>, String> {
        let wrong = || format!("`{key}` is no list of texts");
        let list = self.0.remove(key).ok_or_else(|| format!("`{key}` is missing"))?;
        let list = list.as_array().ok_or_else(wrong)?;
        list.iter().map(|one| one.as_str().map(str::to_owned).ok_or_else(wrong)).collect()
    }

    /// What `read` makes of a key that need not be there.
    pub(crate) fn optional<T>(
        &mut self,
        key: &str,
        read: impl FnOnce(&mut Row, &str) -> Result<T, String>,
    ) -> Result<Option<T>, String> {
        self.0.contains_key(key).then(|| read(self, key)).transpose()
    }

    pub(crate) fn quantity(&mut self, dimension: Dimension) -> Result<u64, String> {
        let (value, unit) = (self.number("value")?, self.text("unit")?);
        let factor = dimension.factor(&unit).ok_or_else(|| format!("wrong unit `{unit}`"))?;
        value.checked_mul(factor).ok_or_else(|| format!("`value` is too large: {value}"))
    }

    fn qos_types(&mut self) -> Result<Vec<QosType>, String> {
        let list = self.0.remove("qos").ok_or("`qos` is missing")?;
        let list = list.as_array().filter(|list| !list.is_empty()).ok_or("`qos` is no list")?;
        let read = |one: &Value| {
            one.as_str().and_then(QosType::named).ok_or_else(|| format!("unknown QoS type {one}"))
        };
        list.iter().map(read).collect()
    }

    pub(crate) fn origin(&mut self) -> Result<Origin, String> {
        let status = |name: &str| match name {
            "current" => Some(Status::Current),
            "superseded" => Some(Status::Superseded),
            _ => None,
        };
        let (source, date) = (self.text("source")?, self.text("date")?);
        if !is_date(&date) {
            return Err(format!("`date` is none: `{date}`"));
        }
        let status = self.named("status", status)?;
        let note = self.0.contains_key("note").then(|| self.text("note")).transpose()?;
        Ok(Origin { source, date, status, note })
    }
}

/// `2026`, `2026-01` or `2026-01-29`.
fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let number = |part: &str, digits: usize, least: u32, most: u32| {
        part.len() == digits
            && part.bytes().all(|b| b.is_ascii_digit())
            && part.parse().is_ok_and(|n| (least..=most).contains(&n))
    };
    parts.len() <= 3
        && number(parts[0], 4, 1990, 2999)
        && parts.get(1).is_none_or(|month| number(month, 2, 1, 12))
        && parts.get(2).is_none_or(|day| number(day, 2, 1, 31))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_catalogue_is_one_and_every_row_has_source_and_date() {
        let catalog = Catalog::parse(SERVICE_LEVELS).unwrap();
        assert!(catalog.origins().count() > 50);
        for origin in catalog.origins() {
            assert!(!origin.source.is_empty() && is_date(&origin.date), "{origin:?}");
        }
        assert!(catalog.origins().any(|origin| origin.status == Status::Superseded));
    }

    #[test]
    fn limits_are_those_of_the_current_rows() {
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
        for (left_out, said) in [
            ("source = \"a\"\n", "row 1 of [[limit]]: `source` is missing"),
            ("date = \"2026-01-29\"\n", "row 1 of [[limit]]: `date` is missing"),
            ("status = \"current\"\n", "row 1 of [[limit]]: `status` is missing"),
        ] {
            assert_eq!(problem(format!("{row}{}", origin.replace(left_out, ""))), said);
        }
        let changed = |from, to| problem(format!("{row}{origin}").replace(from, to));
        assert!(changed("2026-01-29", "soon").contains("`date` is none"));
        assert!(changed("\"TiB\"", "\"MiB/s\"").contains("wrong unit"));
        assert!(changed("pool_size_min", "pool_size_mim").contains("`name` is unknown"));
        assert!(changed("status", "colour = \"red\"\nstatus").contains("unknown key `colour`"));
        assert!(changed("value = 1", "value = -1").contains("negative"));
    }

    #[test]
    fn a_rate_that_limits_cannot_be_computed_with_is_refused() {
        let problem = |from: &str, to: &str| {
            assert!(SERVICE_LEVELS.contains(from), "{from}");
            Catalog::parse(&SERVICE_LEVELS.replacen(from, to, 1)).unwrap_err().to_string()
        };
        let without = problem("throughput_kib_s_per_gib = 16\n", "");
        assert!(without.contains("auto QoS without a throughput for each GiB"), "{without}");
        let per_tib = "\"flexible_throughput_max_per_tib\"\nvalue = 640\nunit = \"MiB/s\"";
        for wrong in ["value = 640\nunit = \"KiB/s\"", "value = 0\nunit = \"MiB/s\""] {
            let changed = per_tib.replace("value = 640\nunit = \"MiB/s\"", wrong);
            let said = problem(per_tib, &changed);
            assert!(said.contains("not whole MiB/s above 0"), "{said}");
        }
    }

    #[test]
    fn a_row_without_a_key_has_that_of_the_default_table() {
        let text = "default.source = \"s\"\ndefault.date = \"2026\"\n\
                    default.status = \"current\"\n\
                    row = [{ name = \"a\" }, { name = \"b\", date = \"2025\" }]\n";
        let read = |_: &str, row: &mut Row| Ok((row.text("name")?, row.origin()?.date));
        let found = rows(text, read).unwrap();
        let expected = [("a", "2026"), ("b", "2025")].map(|(n, d)| (n.to_owned(), d.to_owned()));
        assert_eq!(found, expected);
        let wrong = rows("default = 1\n", read).unwrap_err().to_string();
        assert!(wrong.contains("`default` is not a table"), "{wrong}");
    }

    #[test]
    fn a_limit_without_or_with_two_current_rows_is_refused() {
        let name = "name = \"volume_size_step\"";
        let none = SERVICE_LEVELS.replace(name, "name = \"pool_size_step\"");
        let error = Catalog::parse(&none).unwrap_err().to_string();
        assert!(error.contains("has 2 current rows") || error.contains("has 0 current rows"));
        assert!(matches!(Catalog::parse("x = ").unwrap_err(), CatalogError::Toml(_)));
    }
}
