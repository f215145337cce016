//! Disk loads of kinds of machines, from `data/load_profiles.toml`.
//!
//! For: assumptions about machines without a measured load. Not for: measured loads, or the number of
//! datastores.

use crate::reason::RowRef;
use crate::row::{Origin, Status};
use crate::row_reader::{Row, RowsError, rows};

const FILE: &str = "load_profiles.toml";
/// The embedded rows.
const LOAD_PROFILES: &str = include_str!("../../../data/load_profiles.toml");
/// Bytes in a TB and in a GiB.
const TB: u64 = 1_000_000_000_000;
const GIB: u64 = 1 << 30;

/// The disk load of a kind of machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadProfile {
    /// `avd-medium`
    pub name: String,
    /// A description of the machines.
    pub about: String,
    /// Operations per second of one unit.
    pub ops: u64,
    /// The unit.
    pub each: Each,
    /// Bytes per operation, if known.
    pub transfer_bytes: Option<u64>,
    /// The share of reads in thousandths, if known.
    pub read_permille: Option<u64>,
    /// Values that no accessible document confirms: `read`, `transfer_size`.
    pub unconfirmed: Vec<String>,
    /// Its source.
    pub origin: Origin,
}

/// The unit of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Each {
    /// A machine.
    Machine,
    /// A user.
    User {
        /// Users per virtual processor.
        per_vcpu: u64,
    },
    /// 10^12 bytes stored by a machine.
    Terabyte,
}

impl LoadProfile {
    /// Thousandths of operations per second for each machine, virtual processor or GiB, rounded up.
    pub fn milli_ops(&self) -> u64 {
        let milli = u128::from(self.ops) * 1000;
        let milli = match self.each {
            Each::Machine => milli,
            Each::User { per_vcpu } => milli * u128::from(per_vcpu),
            Each::Terabyte => (milli * u128::from(GIB)).div_ceil(u128::from(TB)),
        };
        u64::try_from(milli).unwrap_or(u64::MAX)
    }

    /// The calculation: `10 ops/s per user x 4 users per vCPU`.
    pub fn arithmetic(&self) -> String {
        match self.each {
            Each::Machine => format!("{} ops/s per machine", self.ops),
            Each::User { per_vcpu } => {
                format!("{} ops/s per user x {per_vcpu} users per vCPU", self.ops)
            }
            Each::Terabyte => format!("{} ops/s per TB (931.3 GiB)", self.ops),
        }
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new(FILE, format!("profile {}", self.name), &self.origin)
    }
}

/// All current profiles, in the order of the file.
pub fn all() -> Vec<LoadProfile> {
    let all = parse(LOAD_PROFILES).expect("a test reads the embedded profiles");
    all.into_iter().filter(|profile| profile.origin.status == Status::Current).collect()
}

/// The current profile with this name; case is ignored.
pub fn named(name: &str) -> Option<LoadProfile> {
    all().into_iter().find(|profile| profile.name.eq_ignore_ascii_case(name))
}

/// Reads the text of a file.
///
/// # Errors
/// All problems of the text; a name with two current rows.
pub fn parse(text: &str) -> Result<Vec<LoadProfile>, RowsError> {
    let all = rows(text, FILE, |table, row| match table {
        "profile" => profile(row),
        _ => Err("unknown table".to_owned()),
    })?;
    for one in &all {
        let current =
            |other: &&LoadProfile| other.name == one.name && other.origin.status == Status::Current;
        let rows = all.iter().filter(current).count();
        if rows != 1 {
            return Err(RowsError::NotOneCurrent { of: one.name.clone(), rows });
        }
    }
    Ok(all)
}

fn profile(row: &mut Row<'_, '_>) -> Result<LoadProfile, String> {
    let users = row.optional("users_per_vcpu", Row::number)?;
    let each = match (row.text("each")?.as_str(), users) {
        ("machine", None) => Each::Machine,
        ("TB", None) => Each::Terabyte,
        ("user", Some(per_vcpu @ 1..)) => Each::User { per_vcpu },
        ("user", _) => return Err("`users_per_vcpu` is missing or 0".to_owned()),
        ("machine" | "TB", Some(_)) => return Err("`users_per_vcpu` without users".to_owned()),
        (other, _) => return Err(format!("`each` is unknown: `{other}`")),
    };
    let unconfirmed = row.optional("unconfirmed", Row::texts)?.unwrap_or_default();
    if let Some(other) = unconfirmed.iter().find(|key| !matches!(key.as_str(), KEY_READ | KEY_SIZE))
    {
        return Err(format!("`unconfirmed` names `{other}`"));
    }
    let read_permille = row.optional("read_permille", Row::number)?;
    if read_permille.is_some_and(|share| share > 1000) {
        return Err("`read_permille` is above 1,000".to_owned());
    }
    Ok(LoadProfile {
        name: row.text("name")?,
        about: row.text("about")?,
        ops: match row.number("ops")? {
            0 => return Err("`ops` is 0".to_owned()),
            ops => ops,
        },
        each,
        transfer_bytes: row.optional("transfer_bytes", Row::number)?,
        read_permille,
        unconfirmed,
        origin: row.origin()?,
    })
}

const KEY_READ: &str = "read";
const KEY_SIZE: &str = "transfer_size";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_profiles_are_read_and_their_arithmetic_is_exact() {
        let milli = |name| named(name).unwrap().milli_ops();
        assert_eq!(milli("AVD-medium"), 40_000);
        assert_eq!(milli("avd-sign-in"), 200_000);
        assert_eq!(milli("meditech-expanse-like"), 750_000);
        // 1,000 x 2^30 / 10^12 = 1.0737...
        assert_eq!(milli("epic-like"), 1074);
        assert_eq!(
            named("avd-medium").unwrap().arithmetic(),
            "10 ops/s per user x 4 users per vCPU"
        );
        assert_eq!(named("oracle"), None);
        assert_eq!(named("epic-like").unwrap().row().row, "profile epic-like");
    }

    #[test]
    fn an_invalid_row_is_refused() {
        let problem = |from: &str, to: &str| {
            assert!(LOAD_PROFILES.contains(from), "{from}");
            parse(&LOAD_PROFILES.replacen(from, to, 1)).unwrap_err().to_string()
        };
        assert!(problem("ops = 10", "ops = 0").contains("`ops` is 0"));
        assert!(problem("ops = 10", "ops = -1").contains("negative"));
        assert!(problem("ops = 10", "iops = 10").contains("`ops` is missing"));
        assert!(problem("users_per_vcpu = 6\n", "").contains("`users_per_vcpu` is missing"));
        assert!(problem("each = \"TB\"", "each = \"GB\"").contains("`each` is unknown"));
        assert!(problem("[\"read\"]", "[\"ops\"]").contains("`unconfirmed` names `ops`"));
        assert!(problem("read_permille = 250", "read_permille = 1250").contains("above 1,000"));
        assert!(problem("date = \"2023-10-23\"\n", "").contains("`date` is missing"));
        assert!(problem("[[profile]]", "[[class]]").contains("unknown table"));
        assert!(problem("\"avd-light\"", "\"avd-heavy\"").contains("has 2 current rows"));
    }
}
