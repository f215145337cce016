//! A document that says a test holds something names the test, and the test exists.
//!
//! In `ARCHITECTURE.md` and the ADRs a claim ends with "Held by" and names in backticks: a test
//! function (in Rust or, for the browser, in JavaScript) or `tidy: rule`. Every invariant of
//! `ARCHITECTURE.md` has one. Documentation that claims what nothing enforces is the most common
//! lie of a codebase.

use std::collections::BTreeSet;

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "claims";

const ARCHITECTURE: &str = "ARCHITECTURE.md";
const HELD_BY: &str = "Held by";

/// Every "Held by", and that each invariant has one.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let tests = test_names(tree);
    let mut found = Vec::new();
    let documents = tree.texts().filter(|(path, _)| {
        *path == ARCHITECTURE || (path.starts_with("docs/adr/") && path.ends_with(".md"))
    });
    for (path, text) in documents {
        for (line, name) in claimed(text) {
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
                    remedy: "name the test that holds the claim, write it, or drop the claim"
                        .into(),
                });
            }
        }
    }
    if let Some(text) = tree.text(ARCHITECTURE) {
        for (line, invariant) in invariants(text) {
            if !invariant.contains(HELD_BY) {
                found.push(Diagnostic {
                    path: ARCHITECTURE.to_owned(),
                    line,
                    rule: RULE,
                    found: "an invariant that names nothing that holds it".into(),
                    remedy: "end it with: Held by `name_of_a_test` or `tidy: rule`".into(),
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

/// `(line, name)` of everything in backticks between "Held by" and the end of its paragraph or
/// item.
fn claimed(text: &str) -> Vec<(usize, String)> {
    let mut names = Vec::new();
    let mut held = false;
    for (index, line) in text.lines().enumerate() {
        let begins_item = line.trim_start().starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if line.trim().is_empty() || begins_item {
            held = false;
        }
        let claim = match line.split_once(HELD_BY) {
            Some((_, after)) => {
                held = true;
                after
            }
            None => line,
        };
        if held {
            let spans = claim.split('`').skip(1).step_by(2);
            names.extend(spans.map(|name| (index + 1, name.to_owned())));
        }
    }
    names
}

/// Names of all tests: functions under `#[test]`, those of `proptest!`, and titles of browser
/// tests.
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
    fn an_invariant_that_names_a_test_or_a_rule_is_no_offence() {
        let item = "1. Nothing is lost. Held by\n   `nothing_is_lost` and `tidy: edges`.";
        let text = &format!("## Invariants\n\n{item}\n");
        assert_eq!(lines(text), Vec::<usize>::new());
    }

    #[test]
    fn an_invariant_that_names_what_is_no_test_is_an_offence() {
        assert_eq!(lines("## Invariants\n\n1. Nothing. Held by `not_a_test`.\n"), [3]);
        assert_eq!(lines("## Invariants\n\n1. Nothing. Held by `tidy: hope`.\n"), [3]);
    }

    #[test]
    fn an_invariant_that_names_nothing_is_an_offence() {
        assert_eq!(lines("## Invariants\n\n1. Said only.\n2. Held by `nothing_is_lost`.\n"), [3]);
    }

    #[test]
    fn a_claim_of_a_decision_record_is_checked_too() {
        let adr = ("docs/adr/0001-x.md", "It is so. Held by `gone`.\n");
        assert_eq!(check(&Tree::of(&[adr, CODE])).len(), 1);
    }

    #[test]
    fn titles_of_browser_tests_can_be_named() {
        let browser =
            ("tests/browser/report.mjs", "test('the page has no error', async () => {});\n");
        let text = ("ARCHITECTURE.md", "Held by `the page has no error`.\n");
        assert_eq!(check(&Tree::of(&[browser, text])), []);
    }
}
