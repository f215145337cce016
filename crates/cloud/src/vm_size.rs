//! VM sizes with their egress limits, from `data/vm_sizes.toml`.
//!
//! Not for: limits of managed disks, which do not apply to a file store, or prices.

use units::{BytesPerSec, nearest};

use crate::reason::RowRef;
use crate::row::{Origin, Status};
use crate::row_reader::{RowsError, rows};

const FILE: &str = "vm_sizes.toml";
/// The embedded sizes.
const VM_SIZES: &str = include_str!("../../../data/vm_sizes.toml");

/// The prefix of all names.
const PREFIX: &str = "Standard_";

/// A VM size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmSize {
    /// The name in the instance metadata: `Standard_D32s_v3`.
    pub name: String,
    /// Processors.
    pub vcpu: u64,
    /// Egress limit over all its interfaces, in 10^6 bit/s. Ingress is not limited, so this bounds
    /// writes to a file store, not reads.
    pub egress_mbit_s: u64,
    /// Whether accelerated networking is always on.
    pub accelerated_always: bool,
    /// Its source.
    pub origin: Origin,
}

impl VmSize {
    /// The egress limit.
    pub fn egress(&self) -> BytesPerSec {
        BytesPerSec::new(self.egress_mbit_s.saturating_mul(1_000_000 / 8) as f64)
    }

    /// Its row.
    pub fn row(&self) -> RowRef {
        RowRef::new("vm_sizes.toml", format!("vm_size {}", self.name), &self.origin)
    }
}

/// All sizes, current and superseded.
pub fn all() -> Vec<VmSize> {
    parse(VM_SIZES).expect("a test reads the embedded sizes")
}

/// The current row of a size; case is ignored.
pub fn named(name: &str) -> Option<VmSize> {
    all()
        .into_iter()
        .find(|size| size.origin.status == Status::Current && size.name.eq_ignore_ascii_case(name))
}

/// The current row of a size; the prefix may be missing: `D32s_v5`.
///
/// # Errors
/// The most similar name, if one is similar enough.
pub fn find(text: &str) -> Result<VmSize, Option<String>> {
    if let Some(size) = named(text).or_else(|| named(&format!("{PREFIX}{text}"))) {
        return Ok(size);
    }
    // Compared without the common prefix.
    let short = |name: &str| match name.get(..PREFIX.len()) {
        Some(start) if start.eq_ignore_ascii_case(PREFIX) => name[PREFIX.len()..].to_owned(),
        _ => name.to_owned(),
    };
    let all: Vec<String> = all().iter().map(|size| short(&size.name)).collect();
    let near = nearest(&short(text), all.iter().map(String::as_str));
    Err(near.map(|near| format!("{PREFIX}{near}")))
}

/// Reads the text of a file.
///
/// # Errors
/// All problems of the text.
pub fn parse(text: &str) -> Result<Vec<VmSize>, RowsError> {
    rows(text, FILE, |table, row| {
        if table != "vm_size" {
            return Err("unknown table".to_owned());
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
    fn egress_limits_convert_from_decimal_megabits_to_bytes() {
        let size = named("standard_d32s_v3").unwrap();
        assert_eq!((size.vcpu, size.egress().get()), (32, 2e9));
        let mib_s = size.egress().as_mib();
        assert_eq!(format!("{mib_s:.1}"), "1907.3");
        assert_eq!(named("Standard_D8s_v3").unwrap().egress_mbit_s, 4000);
        assert_eq!(named("Standard_Nowhere"), None);
    }

    #[test]
    fn the_prefix_of_a_size_may_be_missing_and_a_misspelled_name_gives_the_nearest() {
        for text in ["Standard_D32s_v3", "standard_d32s_v3", "D32s_v3", "d32S_V3"] {
            assert_eq!(find(text).unwrap().name, "Standard_D32s_v3");
        }
        for text in ["D32s_v33", "Standard_D32sv3", "d32-s-v3"] {
            assert_eq!(find(text), Err(Some("Standard_D32s_v3".to_owned())), "{text}");
        }
        for text in ["", "x", "Standard_", "Standard_Nowhere", "my server"] {
            assert_eq!(find(text), Err(None), "{text}");
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
        assert!(problem("name", "colour = \"red\"\nname").contains("found `colour`"));
    }
}
