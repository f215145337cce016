//! Every dependency has a reason in ADR 0009. `cargo deny` checks everything else about
//! dependencies: unused ones, versions outside the workspace's list, licences and sources.

use super::tree::{Diagnostic, Manifest, Tree};

pub(crate) const RULE: &str = "dependencies";

/// The document with a line per dependency.
const REASONS: &str = "docs/adr/0009-dependencies.md";

/// Third-party dependencies of every package that have no line in [`REASONS`].
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let reasons = tree.text(REASONS).unwrap_or_default();
    let manifests = tree.manifests();
    let is_ours = |name: &str| manifests.iter().any(|manifest| manifest.package == name);
    let mut found = Vec::new();
    for manifest in &manifests {
        for name in Manifest::KINDS.iter().flat_map(|kind| manifest.names(kind)) {
            if is_ours(&name) || reasons.lines().any(|line| is_reason(line, &name)) {
                continue;
            }
            found.push(Diagnostic {
                path: manifest.path.clone(),
                line: manifest.line_of(&name),
                rule: RULE,
                found: format!("no reason for `{name}` in {REASONS}"),
                remedy: format!("add a row there that starts with `{name}` and states the reason"),
            });
        }
    }
    found
}

/// Whether a table row or list item starts with the name in backticks and continues with text.
fn is_reason(line: &str, name: &str) -> bool {
    let item = line.trim_start_matches(['|', '-', '*', ' ']);
    let rest = item.strip_prefix('`').and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with('`') && rest.trim_matches(['`', '|', ' ']).len() > 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[dependencies]\nunits = { workspace = true }\nlibc = { workspace = true }\n";

    fn check_with(reasons: &str) -> Vec<Diagnostic> {
        check(&Tree::of(&[
            ("crates/units/Cargo.toml", ""),
            ("crates/uring/Cargo.toml", MANIFEST),
            (REASONS, reasons),
        ]))
    }

    #[test]
    fn a_dependency_without_a_reason_is_reported() {
        let found = check_with("| `libc-other` | something else entirely |\n| `libc` | |\n");
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/uring/Cargo.toml", 3));
    }

    #[test]
    fn a_dependency_with_a_reason_is_not_reported() {
        assert_eq!(check_with("| `libc` | names and numbers of the kernel's interface |\n"), []);
    }
}
