//! Digests of values, for comparison with stored ones.

// Each test program takes what it needs.
#![allow(missing_docs, unreachable_pub)]

use std::fmt::Debug;
use std::fmt::Write as _;
use std::path::Path;

/// The parts of a value, each with a digest of its text.
///
/// Where a digest differs, compare the texts of two commits: the test writes them below `tmp` in
/// the target folder.
pub struct Snapshot {
    name: &'static str,
    digests: String,
    texts: String,
}

impl Snapshot {
    pub fn new(name: &'static str) -> Snapshot {
        Snapshot { name, digests: String::new(), texts: String::new() }
    }

    /// Adds a part.
    pub fn add(&mut self, name: &str, part: &impl Debug) {
        let text = rounded(&format!("{part:#?}"));
        let _ = writeln!(self.digests, "{:016x} {name}", digest(text.as_bytes()));
        let _ = writeln!(self.texts, "{name}: {text}");
    }

    /// The digests, a line for each part.
    pub fn digests(self) -> String {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("unchanged");
        std::fs::create_dir_all(&folder).expect("make the folder of texts");
        let file = folder.join(self.name).with_extension("txt");
        std::fs::write(&file, self.texts).expect("write the texts");
        self.digests
    }
}

/// With every number that has a fraction or an exponent rounded to six digits: mathematical
/// functions of C libraries differ in their last bits.
fn rounded(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_name = before.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let is_end = |c: char| !(c.is_ascii_digit() || c == '.' || c == 'e');
        let mut end = from.find(is_end).unwrap_or(from.len());
        if from[..end].ends_with('e') && from[end..].starts_with('-') {
            end += 1;
            end += from[end..].find(|c: char| !c.is_ascii_digit()).unwrap_or(from.len() - end);
        }
        let (number, after) = from.split_at(end);
        match number.parse::<f64>() {
            Ok(value) if !is_name && number.contains(['.', 'e']) => {
                let _ = write!(out, "{value:.5e}");
            }
            _ => out.push_str(number),
        }
        rest = after;
    }
    out + rest
}

/// FNV-1a of 64 bits (Fowler, Noll, Vo; draft-eastlake-fnv).
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
