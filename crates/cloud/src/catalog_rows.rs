//! References to the rows of the catalogue.

use crate::catalog::Catalog;
use crate::reason::RowRef;
use crate::row::{LimitName, LimitRow, Status};
use crate::service_level::{ServiceLevel, VolumeKind};

/// The file's name.
const FILE: &str = "service_levels.toml";

impl Catalog {
    /// The current row of a service level.
    pub fn level_row(&self, level: ServiceLevel) -> RowRef {
        RowRef::new(FILE, format!("service_level {level}"), &self.level(level).origin)
    }

    /// The current row of a ceiling; `None` if the service states no limit.
    pub(crate) fn ceiling_row(&self, level: ServiceLevel, kind: VolumeKind) -> Option<RowRef> {
        let row = self.ceilings.iter().find(|row| {
            row.level == level && row.kind == kind && row.origin.status == Status::Current
        })?;
        Some(RowRef::new(FILE, format!("ceiling {level} {}", kind.name()), &row.origin))
    }

    /// The current row of a limit.
    pub fn limit_row(&self, name: LimitName) -> RowRef {
        let current = |row: &&LimitRow| row.name == name && row.origin.status == Status::Current;
        let row =
            self.limits.iter().find(current).expect("`parse` requires one current row of each");
        RowRef::new(FILE, format!("limit {name}"), &row.origin)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_table_and_row() {
        let catalog = Catalog::embedded();
        let row = catalog.ceiling_row(ServiceLevel::Premium, VolumeKind::Regular).unwrap();
        assert_eq!((row.file, row.row.as_str()), (FILE, "ceiling premium regular"));
        assert_eq!(row.status, Status::Current);
        assert_eq!(catalog.ceiling_row(ServiceLevel::Ultra, VolumeKind::Breakthrough), None);
        assert_eq!(catalog.limit_row(LimitName::PoolSizeMin).row, "limit pool_size_min");
        assert_eq!(catalog.level_row(ServiceLevel::Flexible).row, "service_level flexible");
    }
}
