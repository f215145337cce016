//! `cargo xtask tidy`: rules of the repository that no compiler enforces.
//!
//! A rule is a function from the [`Tree`] to diagnostics. It never reads the disk, so that a test
//! can break it on purpose. To add a rule: a module here, a line in [`RULES`], and a test that
//! breaks it. The rule `records` also needs the history of the repository.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail};

mod claims;
mod cloud_facts;
mod confinement;
mod dependencies;
mod edges;
mod form;
mod links;
mod purity;
mod records;
mod retired;
mod rust_text;
mod sizes;
mod tree;
mod words;

pub(crate) use tree::{Diagnostic, Tree};

/// A rule: its name in diagnostics and in `ARCHITECTURE.md`, and its check.
pub(crate) struct Rule {
    name: &'static str,
    check: fn(&Tree) -> Vec<Diagnostic>,
}

pub(crate) const RULES: &[Rule] = &[
    Rule { name: edges::RULE, check: edges::check },
    Rule { name: purity::RULE, check: purity::check },
    Rule { name: confinement::UNSAFE_RULE, check: confinement::check_unsafe },
    Rule { name: confinement::TOKIO_RULE, check: confinement::check_tokio },
    Rule { name: confinement::SERDE_RULE, check: confinement::check_serde },
    Rule { name: confinement::STATISTICS_RULE, check: confinement::check_statistics },
    Rule { name: confinement::QUOTA_RULE, check: confinement::check_quota_arithmetic },
    Rule { name: cloud_facts::RULE, check: cloud_facts::check },
    Rule { name: words::RULE, check: words::check },
    Rule { name: retired::RULE, check: retired::check },
    Rule { name: form::RULE, check: form::check },
    Rule { name: links::RULE, check: links::check },
    Rule { name: dependencies::RULE, check: dependencies::check },
    Rule { name: claims::RULE, check: claims::check },
];

/// When the check is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// At the desk and in CI.
    Always,
    /// Before a release, when old records of benches are errors.
    BeforeRelease,
}

/// Names of all rules, for the rule `claims`.
fn rule_names() -> impl Iterator<Item = &'static str> {
    RULES.iter().map(|rule| rule.name).chain([records::RULE])
}

/// Checks the whole tree, prints all diagnostics, and fails if there is one.
pub(crate) fn run(root: &Path, when: When) -> Result<()> {
    let tree = Tree::read(root).context("read the tree")?;
    let mut diagnostics: Vec<Diagnostic> =
        RULES.iter().flat_map(|rule| (rule.check)(&tree)).collect();
    let old_records = records::check(&tree, &|commit| records::commits_since(root, commit));
    let warnings = match when {
        When::Always => old_records,
        When::BeforeRelease => {
            diagnostics.extend(old_records);
            Vec::new()
        }
    };

    let mut out = std::io::stdout().lock();
    for diagnostic in &diagnostics {
        writeln!(out, "{diagnostic}")?;
    }
    for warning in &warnings {
        writeln!(out, "warning: {warning}")?;
    }
    writeln!(out, "{}", sizes::report(&tree))?;
    if !diagnostics.is_empty() {
        bail!("tidy found {} violations, listed above", diagnostics.len());
    }
    writeln!(out, "tidy: {} files, {} rules, no violations", tree.len(), rule_names().count())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_rules_are_unique() {
        let mut names: Vec<_> = rule_names().collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), rule_names().count());
    }
}
