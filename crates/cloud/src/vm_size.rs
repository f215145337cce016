//! Sizes of virtual machines, from `data/vm_sizes.toml`: what a client of the file store may send.
//!
//! Not for: limits of managed disks, which do not apply to a file store, and prices.

use units::nearest;

use crate::catalog::{CatalogError, rows};
use crate::reason::RowRef;
use crate::row::{Origin, Status};

/// The sizes that the product knows.
const VM_SIZES: &str = include_str!("../../../data/vm_sizes.toml");

/// What names of sizes begin with.
const PREFIX: &str = "Standard_";

/// A size of virtual machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmSize {
    /// As the instance metadata write it: `Standard_D32s_v3`.
    pub name: String,
    /// Processors.
    pub vcpu: u64,
    /// The most that it sends over all its interfaces, in 10^6 bit/s. What it receives is not
    /// metered: this bounds writes to a file store, and not reads.
    pub egress_mbit_s: u64,
    /// Whether it always has accelerated networking; otherwise it can be turned off.
    pub accelerated_always: bool,
    /// Where from.
    pub origin: Origin,
}

impl VmSize {
    /// The egress limit in bytes per second: `10^6 / 8 x Mbit/s`.
    pub fn egress_bytes_per_s(&self) -> u64 {
        self.egress_mbit_s.saturating_mul(1_000_000 / 8)
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new("vm_sizes.toml", format!("vm_size {}", self.name), &self.origin)
    }
}

/// All sizes that are known, current and superseded.
pub fn all() -> Vec<VmSize> {
    parse(VM_SIZES).expect("a test reads the embedded sizes")
}

/// The current row of a size, whatever the case of its name; `None` where it is not known.
pub fn named(name: &str) -> Option<VmSize> {
    all()
        .into_iter()
        .find(|size| size.origin.status == Status::Current && size.name.eq_ignore_ascii_case(name))
}

/// The current row of a size whose name may lack its beginning: `D32s_v5`.
///
/// # Errors
/// The name that may have been meant; nothing where none is near.
pub fn meant(text: &str) -> Result<VmSize, Option<String>> {
    if let Some(size) = named(text).or_else(|| named(&format!("{PREFIX}{text}"))) {
        return Ok(size);
    }
    // What all names begin with says nothing about which is near.
    let short = |name: &str| match name.get(..PREFIX.len()) {
        Some(start) if start.eq_ignore_ascii_case(PREFIX) => name[PREFIX.len()..].to_owned(),
        _ => name.to_owned(),
    };
    let all: Vec<String> = all().iter().map(|size| short(&size.name)).collect();
    let near = nearest(&short(text), all.iter().map(String::as_str));
    Err(near.map(|near| format!("{PREFIX}{near}")))
}

/// Reads the text of a table of sizes.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn parse(text: &str) -> Result<Vec<VmSize>, CatalogError> {
    rows(text, |table, row| {
        if table != "vm_size" {
            return Err("an unknown table".to_owned());
        }
        let unit = row.text("unit")?;
        if unit != "Mbit/s" {
            return Err(format!("wrong unit `{unit}`"));
        }
        Ok(VmSize {
            name: row.text("name")?,
            vcpu: row.number("vcpu")?,
            egress_mbit_s: row.number("network")?,
            accelerated_always: match row.text("accelerated")?.as_str() {
                "yes" => false,
                "required" => true,
                other => return Err(format!("`accelerated` is unknown: `{other}`")),
            },
            origin: row.origin()?,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_embedded_sizes_are_read_and_each_has_one_current_row() {
        let all = parse(VM_SIZES).unwrap();
        assert!(all.len() > 40, "{}", all.len());
        for size in &all {
            let current =
                |other: &&VmSize| other.name == size.name && other.origin.status == Status::Current;
            assert_eq!(all.iter().filter(current).count(), 1, "{}", size.name);
        }
    }

    #[test]
    fn mbit_become_bytes_and_not_mib() {
        let size = named("standard_d32s_v3").unwrap();
        assert_eq!((size.vcpu, size.egress_bytes_per_s()), (32, 2_000_000_000));
        let mib_s = size.egress_bytes_per_s() as f64 / f64::from(1 << 20);
        assert_eq!(format!("{mib_s:.1}"), "1907.3");
        assert_eq!(named("Standard_D8s_v3").unwrap().egress_mbit_s, 4000);
        assert_eq!(named("Standard_Nowhere"), None);
    }

    #[test]
    fn a_size_is_known_by_the_end_of_its_name_and_a_slip_by_the_nearest() {
        for text in ["Standard_D32s_v3", "standard_d32s_v3", "D32s_v3", "d32S_V3"] {
            assert_eq!(meant(text).unwrap().name, "Standard_D32s_v3");
        }
        for text in ["D32s_v33", "Standard_D32sv3", "d32-s-v3"] {
            assert_eq!(meant(text), Err(Some("Standard_D32s_v3".to_owned())), "{text}");
        }
        for text in ["", "x", "Standard_", "Standard_Nowhere", "my server"] {
            assert_eq!(meant(text), Err(None), "{text}");
        }
    }

    #[test]
    fn a_row_with_another_unit_or_key_is_refused() {
        let row = "[[vm_size]]\nname = \"A\"\nvcpu = 2\nnetwork = 10\nunit = \"Mbit/s\"\n\
                   accelerated = \"yes\"\nstatus = \"current\"\nsource = \"s\"\ndate = \"2024\"\n";
        assert_eq!(parse(row).unwrap().len(), 1);
        let problem = |from: &str, to: &str| parse(&row.replace(from, to)).unwrap_err().to_string();
        assert!(problem("Mbit/s", "MiB/s").contains("wrong unit"));
        assert!(problem("vcpu", "cpus").contains("`vcpu` is missing"));
        assert!(problem("date = \"2024\"\n", "").contains("`date` is missing"));
        assert!(problem("name", "colour = \"red\"\nname").contains("unknown key `colour`"));
    }
}
