//! A package that `deny.toml` excepts from its list of licences is a dev-dependency only.
//!
//! Licences, bans and sources themselves are checked by `cargo deny`, a step of
//! `cargo xtask check`.

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "licences";

const DENY: &str = "deny.toml";

/// Excepted packages that a manifest has among what ships.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let excepted = tree.text(DENY).map(excepted).unwrap_or_default();
    let mut found = Vec::new();
    for manifest in tree.manifests() {
        for kind in ["dependencies", "build-dependencies"] {
            for name in manifest.names(kind).into_iter().filter(|name| excepted.contains(name)) {
                found.push(Diagnostic {
                    path: manifest.path.clone(),
                    line: manifest.line_of(&name),
                    rule: RULE,
                    found: format!("`{name}` has an exception from the licences and would ship"),
                    remedy: "make it a dev-dependency".into(),
                });
            }
        }
    }
    found
}

/// Names of `[licenses] exceptions`. A file that is not TOML is an error of `cargo deny`'s step.
fn excepted(deny: &str) -> Vec<String> {
    let deny: toml::Table = deny.parse().unwrap_or_default();
    let list = deny.get("licenses").and_then(|section| section.get("exceptions"));
    let list = list.and_then(toml::Value::as_array).into_iter().flatten();
    list.filter_map(|entry| entry.get("name")?.as_str().map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_exception_is_for_dev_dependencies_only() {
        let tree = Tree::of(&[
            ("deny.toml", "[licenses]\nexceptions = [{ name = \"oracle\", allow = [\"X\"] }]\n"),
            ("crates/a/Cargo.toml", "[dev-dependencies]\noracle = { workspace = true }\n"),
            ("crates/b/Cargo.toml", "[dependencies]\noracle = { workspace = true }\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/b/Cargo.toml");
    }
}
