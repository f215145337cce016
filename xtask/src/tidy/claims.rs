//! Claims in documents name the test or rule that enforces them, and it exists.
//!
//! In `ARCHITECTURE.md` and the ADRs, a claim ends with "Enforced by" and names in backticks: a
//! test function (in Rust or, for the browser, in JavaScript) or `tidy: rule`. Every invariant of
//! `ARCHITECTURE.md` has one, so that no document promises what nothing enforces.

use std::collections::BTreeSet;

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "claims";

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const ENFORCED_BY: &str = "Enforced by";

/// Claims that name unknown tests or rules, and invariants without a claim.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let tests = test_names(tree);
    let mut found = Vec::new();
    let documents = tree.texts().filter(|(path, _)| {
        *path == ARCHITECTURE || (path.starts_with("docs/adr/") && path.ends_with(".md"))
    });
    for (path, text) in documents {
        for (line, name) in enforcing_names(text) {
            let exists = match name.strip_prefix("tidy: ") {
                Some(rule) => super::rule_names().any(|known| known == rule),
                None => tests.contains(&name),
            };
            if !exists {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line,
                    rule: RULE,
                    found: format!("`{name}` is neither a test nor a tidy rule"),
                    remedy: "name the test that enforces the claim, write it, or drop the claim"
                        .into(),
                });
            }
        }
    }
    if let Some(text) = tree.text(ARCHITECTURE) {
        for (line, invariant) in invariants(text) {
            if !invariant.contains(ENFORCED_BY) {
                found.push(Diagnostic {
                    path: ARCHITECTURE.to_owned(),
                    line,
                    rule: RULE,
                    found: "an invariant without a test or rule".into(),
                    remedy: "end it with: Enforced by `name_of_a_test` or `tidy: rule`".into(),
                });
            }
        }
    }
    found
}

/// `(line, text)` of the numbered items under the heading "Invariants".
fn invariants(text: &str) -> Vec<(usize, String)> {
    let mut items: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with('#') {
            inside = line.trim_start_matches('#').trim() == "Invariants";
            continue;
        }
        if !inside {
            continue;
        }
        let number = line.split_once(". ").map(|(number, _)| number);
        let begins = number.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()));
        if begins {
            items.push((index + 1, line.to_owned()));
        } else if let Some((_, item)) = items.last_mut() {
            item.push(' ');
            item.push_str(line.trim());
        }
    }
    items
}

/// `(line, name)` of everything in backticks between "Enforced by" and the end of its paragraph or
/// list item.
fn enforcing_names(text: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        let begins_item = line.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if line.trim().is_empty() || begins_item {
            inside = false;
        }
        let claim = match line.split_once(ENFORCED_BY) {
            Some((_, after)) => {
                inside = true;
                after
            }
            None => line,
        };
        if inside {
            let spans = claim.split('`').skip(1).step_by(2);
            names.extend(spans.map(|name| (index + 1, name.to_owned())));
        }
    }
    names
}

/// Names of all tests: functions under `#[test]`, including those in `proptest!`, and titles of
/// browser tests.
fn test_names(tree: &Tree) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (_, file) in tree.rust() {
        let mut is_test = false;
        for line in file.parts.code.lines() {
            let line = line.trim();
            if line.starts_with("#[test]") {
                is_test = true;
            } else if is_test && let Some((_, rest)) = line.split_once("fn ") {
                let name = rest.split(['(', '<']).next().unwrap_or_default();
                names.insert(name.trim().to_owned());
                is_test = false;
            }
        }
    }
    for (path, text) in tree.texts() {
        if path.starts_with("tests/") && (path.ends_with(".js") || path.ends_with(".mjs")) {
            for part in text.split("test(").skip(1) {
                let quote = part.trim_start().chars().next().unwrap_or_default();
                names.extend(part.split(quote).nth(1).map(str::to_owned));
            }
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    const CODE: (&str, &str) =
        ("crates/sim/src/lib.rs", "#[test]\nfn nothing_is_lost() {}\nfn not_a_test() {}\n");

    fn lines(architecture: &str) -> Vec<usize> {
        let tree = Tree::of(&[("ARCHITECTURE.md", architecture), CODE]);
        check(&tree).iter().map(|diagnostic| diagnostic.line).collect()
    }

    #[test]
    fn an_invariant_that_names_a_test_or_a_rule_is_not_reported() {
        let item = "1. Nothing is lost. Enforced by\n   `nothing_is_lost` and `tidy: edges`.";
        let text = &format!("## Invariants\n\n{item}\n");
        assert_eq!(lines(text), Vec::<usize>::new());
    }

    #[test]
    fn an_invariant_that_names_an_unknown_test_or_rule_is_reported() {
        assert_eq!(lines("## Invariants\n\n1. So. Enforced by `not_a_test`.\n"), [3]);
        assert_eq!(lines("## Invariants\n\n1. So. Enforced by `tidy: hope`.\n"), [3]);
    }

    #[test]
    fn an_invariant_without_a_name_is_reported() {
        let text = "## Invariants\n\n1. A promise.\n2. Enforced by `nothing_is_lost`.\n";
        assert_eq!(lines(text), [3]);
    }

    #[test]
    fn claims_of_adrs_are_checked() {
        let adr = ("docs/adr/0001-x.md", "It is so. Enforced by `gone`.\n");
        assert_eq!(check(&Tree::of(&[adr, CODE])).len(), 1);
    }

    #[test]
    fn titles_of_browser_tests_count_as_tests() {
        let browser =
            ("tests/browser/report.mjs", "test('the page has no error', async () => {});\n");
        let text = ("ARCHITECTURE.md", "Enforced by `the page has no error`.\n");
        assert_eq!(check(&Tree::of(&[browser, text])), []);
    }
}
