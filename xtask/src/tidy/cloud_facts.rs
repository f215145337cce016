//! Facts about the cloud are rows of `data/` with source and date, never numbers in code.
//!
//! A number in code is reported if it equals that of a row and is distinctive enough to exclude a
//! coincidence, or if it is a constant whose comment cites a document of the vendor.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::tree::{Diagnostic, RustFile, Tree};

pub(crate) const RULE: &str = "cloud-facts";

/// Files with facts about the service, its machines and prices. Published figures and client
/// settings are left out: the same numbers occur in code for other reasons.
const DATA: &[&str] = &[
    "data/avs.toml",
    "data/prices.toml",
    "data/service_levels.toml",
    "data/storage_prices.toml",
    "data/vm_sizes.toml",
];

/// Text in comments that cites the vendor.
const CITATIONS: &[&str] = &[
    "AD:",
    "azure-docs",
    "learn.microsoft",
    "Azure NetApp Files",
    "Azure service",
    "its documentation",
    "same document",
];

/// Smaller numbers are not distinctive.
const DISTINCTIVE_MIN: u64 = 1000;
/// Numbers with fewer decimals are not distinctive.
const DISTINCTIVE_DECIMALS: usize = 5;

/// Lines whose number equals that of a row but means something else.
const EXCEPTIONS: &[(&str, &str)] =
    &[("crates/analysis/src/host_check/network.rs", "const MTU: u64 = 1500;")];

const REMEDY: &str =
    "make it a row of data/ with source and date, and read it through crates/cloud";

/// Finds facts in the product's code.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let facts = facts(tree);
    let product = |path: &str, file: &RustFile| {
        path.starts_with("crates/") && path.contains("/src/") && !file.is_test
    };
    let mut found = Vec::new();
    for (path, file) in tree.rust().filter(|(path, file)| product(path, file)) {
        let code = file.parts.code_without_tests();
        let comments: Vec<&str> = file.parts.comments.lines().collect();
        for (index, line) in code.lines().enumerate() {
            let is_exception = EXCEPTIONS.contains(&(path, line.trim()));
            let number = numbers(line).find(|number| facts.contains(number));
            let violation = match number.filter(|_| !is_exception) {
                Some(number) => format!("{number} is a row of data/"),
                None => match cited(line, &comments[..index]) {
                    Some(citation) => format!("a constant that cites `{citation}`"),
                    None => continue,
                },
            };
            found.push(Diagnostic {
                path: path.to_owned(),
                line: index + 1,
                rule: RULE,
                found: violation,
                remedy: REMEDY.to_owned(),
            });
        }
    }
    found
}

/// Distinctive numbers of all rows, without digit separators.
fn facts(tree: &Tree) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for text in DATA.iter().filter_map(|path| tree.text(path)) {
        let tables = text.parse::<Table>().unwrap_or_default();
        let rows =
            tables.values().filter_map(Value::as_array).flatten().filter_map(Value::as_table);
        for value in rows.flat_map(Table::values) {
            all.extend(distinctive(value));
        }
    }
    all
}

/// A number as code would write it, if it is distinctive: not a power of two, not whole thousands,
/// and with enough decimals.
fn distinctive(value: &Value) -> Option<String> {
    match value {
        Value::Integer(number) => {
            let number = u64::try_from(*number).ok()?;
            let is_round = number.is_power_of_two() || number.is_multiple_of(DISTINCTIVE_MIN);
            (number > DISTINCTIVE_MIN && !is_round).then(|| number.to_string())
        }
        Value::String(text) => {
            let (whole, digits) = text.split_once('.')?;
            let is_number = [whole, digits].iter().all(|p| p.bytes().all(|b| b.is_ascii_digit()));
            (is_number && digits.len() >= DISTINCTIVE_DECIMALS).then(|| text.clone())
        }
        _ => None,
    }
}

/// The number literals of a line, without digit separators and types.
fn numbers(line: &str) -> impl Iterator<Item = String> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let words = line.split(move |c: char| !is_part(c));
    words.filter(|word| word.starts_with(|c: char| c.is_ascii_digit())).map(|word| {
        let digits = word.chars().take_while(|c| c.is_ascii_digit() || matches!(c, '.' | '_'));
        let plain: String = digits.filter(|c| *c != '_').collect();
        plain.trim_end_matches('.').to_owned()
    })
}

/// The citation in the comment above a constant with a number.
fn cited(line: &str, before: &[&str]) -> Option<&'static str> {
    let code = line.trim_start();
    let code = code.strip_prefix("pub ").or(code.strip_prefix("pub(crate) ")).unwrap_or(code);
    let (_, value) = code.strip_prefix("const ")?.split_once('=')?;
    if !value.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let comment = before.iter().rev().take_while(|line| !line.trim().is_empty());
    let comment: String = comment.copied().collect();
    CITATIONS.iter().copied().find(|citation| comment.contains(citation))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: &str = "[[limit]]\nvalue = 2147483632\n[[limit]]\nvalue = 1024\n\
                        [[limit]]\nvalue = 12000\n[[storage]]\nstandard = \"0.000202\"\n";

    fn check_one(path: &str, text: &str) -> Vec<Diagnostic> {
        check(&Tree::of(&[("data/service_levels.toml", ROWS), (path, text)]))
    }

    #[test]
    fn a_number_of_a_row_is_reported_in_product_code_only() {
        let text = "const INODES: u64 = 2_147_483_632;\nlet price = 0.000202_f64;\n";
        let found = check_one("crates/volume/src/server/volumes.rs", text);
        let lines: Vec<usize> = found.iter().map(|one| one.line).collect();
        assert_eq!(lines, [1, 2], "{found:?}");
        assert!(found[0].found.contains("2147483632 is a row of data/"), "{}", found[0].found);
        assert_eq!(check_one("crates/volume/tests/limits.rs", text), []);
        assert_eq!(check_one("bench/src/nfs.rs", text), []);
        let test = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(check_one("crates/volume/src/model.rs", &test), []);
    }

    #[test]
    fn round_numbers_and_powers_of_two_are_not_reported() {
        let text = "const A: u64 = 1024;\nconst B: u64 = 12_000;\nconst C: u64 = 2_147_483_633;\n";
        assert_eq!(check_one("crates/volume/src/model.rs", text), []);
    }

    #[test]
    fn a_constant_that_cites_the_vendor_is_reported() {
        for citation in CITATIONS {
            let text =
                format!("/// By {citation}\n/// of June.\npub const MAX: Bytes = gib(16 << 10);\n");
            let found = check_one("crates/volume/src/model.rs", &text);
            assert_eq!(found.len(), 1, "{citation}");
            assert_eq!(found[0].line, 3);
        }
        let text = "/// As Azure NetApp Files names it.\nconst NAME: &str = \"ANF\";\n\
                    /// Our choice.\nconst DEPTH: u32 = 128;\n";
        assert_eq!(check_one("crates/volume/src/model.rs", text), []);
    }
}
