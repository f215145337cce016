//! IDs of records: sortable by time, unique, short enough to type.

use std::hash::{BuildHasher, Hasher, RandomState};

use units::Utc;

/// Maximum length of the experiment's name in an ID.
const NAME_CHARS_MAX: usize = 40;

/// A new ID such as `20261121-061500-four-corners-3f2a`: the UTC second, the experiment's name, and
/// four random digits, which distinguish records that start in one second on several hosts.
pub(crate) fn new_id(name: &str, started_unix_ms: u64) -> String {
    // RandomState is seeded by the system, which saves a dependency.
    let random = RandomState::new().build_hasher().finish() & 0xffff;
    format!("{}-{}-{random:04x}", utc_second(started_unix_ms), plain_name(name))
}

/// `name` in lower case letters, digits and single dashes.
fn plain_name(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() {
            plain.push(c.to_ascii_lowercase());
        } else if !plain.is_empty() && !plain.ends_with('-') {
            plain.push('-');
        }
    }
    plain.truncate(NAME_CHARS_MAX);
    let plain = plain.trim_end_matches('-');
    if plain.is_empty() { "experiment".to_owned() } else { plain.to_owned() }
}

/// `20261121-061500` for milliseconds since 1970.
fn utc_second(unix_ms: u64) -> String {
    let utc = Utc::from_unix_ms(unix_ms);
    format!("{}-{}", utc.date().replace('-', ""), utc.time().replace(':', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_written_as_utc_seconds() {
        for (unix_s, text) in [
            (0, "19700101-000000"),
            (951_782_400, "20000229-000000"),
            (1_709_251_199, "20240229-235959"),
            (1_709_251_200, "20240301-000000"),
            (1_795_241_700, "20261121-061500"),
            (4_102_444_799, "20991231-235959"),
        ] {
            assert_eq!(utc_second(unix_s * 1000 + 999), text);
        }
    }

    #[test]
    fn names_become_plain_and_short() {
        assert_eq!(plain_name("four-corners"), "four-corners");
        assert_eq!(plain_name("  OLTP / 8 KiB (log) "), "oltp-8-kib-log");
        assert_eq!(plain_name("../../etc"), "etc");
        assert_eq!(plain_name("äöü"), "experiment");
        assert_eq!(plain_name(&"x".repeat(300)).len(), NAME_CHARS_MAX);
        let id = new_id("four-corners", 1_795_241_700_000);
        assert!(id.starts_with("20261121-061500-four-corners-"), "{id}");
        assert_eq!(id.len(), "20261121-061500-four-corners-3f2a".len());
    }
}
