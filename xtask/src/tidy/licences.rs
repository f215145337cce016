//! Licences and bans of `deny.toml` against every package that cargo resolved.
//!
//! `cargo deny` reads the same file and knows more (advisories, sources); this rule needs nothing
//! but cargo, so that it holds on every machine. Without advisories: those need the network.
//! A package that `deny.toml` excepts from the list of licences may be a dev-dependency only.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "licences";

const DENY: &str = "deny.toml";

/// A resolved package from outside.
#[derive(Clone, Debug)]
struct Package {
    name: String,
    version: String,
    /// SPDX expression, if its manifest has one.
    license: Option<String>,
}

/// Asks cargo what was resolved and judges it.
///
/// # Errors
/// Cargo could not answer, or `deny.toml` cannot be read.
pub(crate) fn check(tree: &Tree, root: &Path) -> Result<Vec<Diagnostic>> {
    let deny = tree.text(DENY).context("deny.toml is missing")?;
    let deny: toml::Table = deny.parse().context("read deny.toml")?;
    let excepted = names(&deny, "licenses", "exceptions");
    let mut packages = resolved(root)?;
    packages.retain(|package| !excepted.contains(&package.name));
    let mut found =
        judge(&packages, &names(&deny, "licenses", "allow"), &names(&deny, "bans", "deny"));
    found.extend(shipped(tree, &excepted));
    Ok(found)
}

/// Excepted packages that a manifest has among what ships.
fn shipped(tree: &Tree, excepted: &[String]) -> Vec<Diagnostic> {
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

/// Every package from outside in cargo's resolution, for all platforms and with dev-dependencies.
fn resolved(root: &Path) -> Result<Vec<Package>> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(root)
        .output()
        .context("run cargo metadata")?;
    let message = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "cargo metadata failed: {message}");
    let metadata: serde_json::Value =
        serde_json::from_slice(&output.stdout).context("read cargo metadata")?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    Ok(foreign
        .map(|package| Package {
            name: text(&package["name"]).unwrap_or_default(),
            version: text(&package["version"]).unwrap_or_default(),
            license: text(&package["license"]),
        })
        .collect())
}

/// The strings of a list in `deny.toml`, or the `name` (or `crate`) of its tables.
fn names(deny: &toml::Table, section: &str, key: &str) -> Vec<String> {
    let list = deny.get(section).and_then(|section| section.get(key));
    let list = list.and_then(toml::Value::as_array).into_iter().flatten();
    list.filter_map(|entry| {
        let named = entry.get("name").or_else(|| entry.get("crate"));
        entry.as_str().or_else(|| named?.as_str()).map(str::to_owned)
    })
    .collect()
}

fn judge(packages: &[Package], allowed: &[String], banned: &[String]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for Package { name, version, license } in packages {
        let mut push = |what: String, remedy: &str| {
            let remedy = remedy.to_owned();
            found.push(Diagnostic { path: DENY.into(), line: 0, rule: RULE, found: what, remedy });
        };
        if banned.contains(name) {
            push(
                format!("`{name} {version}` is banned"),
                "turn off the feature that brings it (`cargo tree -i` shows the way)",
            );
        }
        let permitted = license.as_deref().is_some_and(|license| permits(license, allowed));
        if !permitted {
            let license = license.as_deref().unwrap_or("no licence");
            push(
                format!("`{name} {version}` comes under `{license}`"),
                "use another package; the allowed list has permissive licences only",
            );
        }
    }
    found
}

/// Whether an SPDX expression can be satisfied with the allowed licences. `/` is the old way to
/// write `OR`.
fn permits(expression: &str, allowed: &[String]) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut at = 0;
    let verdict = any_of(&words, &mut at, allowed);
    verdict && at == words.len()
}

fn any_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut verdict = all_of(words, at, allowed);
    while words.get(*at) == Some(&"OR") {
        *at += 1;
        verdict |= all_of(words, at, allowed);
    }
    verdict
}

fn all_of(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut verdict = one(words, at, allowed);
    while words.get(*at) == Some(&"AND") {
        *at += 1;
        verdict &= one(words, at, allowed);
    }
    verdict
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let Some(word) = words.get(*at) else { return false };
    *at += 1;
    if *word == "(" {
        let verdict = any_of(words, at, allowed);
        *at += 1;
        return verdict;
    }
    let mut licence = (*word).to_owned();
    if words.get(*at) == Some(&"WITH") {
        licence = format!("{licence} WITH {}", words.get(*at + 1).unwrap_or(&""));
        *at += 2;
    }
    allowed.contains(&licence)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn allowed() -> Vec<String> {
        ["MIT", "Apache-2.0", "Unicode-3.0", "Apache-2.0 WITH LLVM-exception"]
            .map(str::to_owned)
            .to_vec()
    }

    #[test]
    fn expressions_are_read_as_spdx_means_them() {
        for good in [
            "MIT",
            "MIT OR GPL-3.0",
            "GPL-3.0/MIT",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "GPL-3.0 OR (MIT AND Apache-2.0)",
        ] {
            assert!(permits(good, &allowed()), "{good}");
        }
        for bad in
            ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR X) AND Y", "MIT WITH exception", "", "MIT MIT"]
        {
            assert!(!permits(bad, &allowed()), "{bad}");
        }
    }

    #[test]
    fn a_package_under_another_licence_or_none_is_an_offence() {
        let package = |license: Option<&str>| Package {
            name: "x".into(),
            version: "1.0.0".into(),
            license: license.map(str::to_owned),
        };
        let packages = [package(Some("MIT")), package(Some("LGPL-3.0")), package(None)];
        assert_eq!(judge(&packages, &allowed(), &[]).len(), 2);
    }

    #[test]
    fn an_exception_is_for_dev_dependencies_only() {
        let tree = Tree::of(&[
            ("crates/a/Cargo.toml", "[dev-dependencies]\noracle = { workspace = true }\n"),
            ("crates/b/Cargo.toml", "[dependencies]\noracle = { workspace = true }\n"),
        ]);
        let found = shipped(&tree, &["oracle".into()]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/b/Cargo.toml");
    }

    #[test]
    fn a_banned_package_is_an_offence() {
        let package = Package {
            name: "bincode".into(),
            version: "3.0.0".into(),
            license: Some("MIT".into()),
        };
        let found = judge(&[package], &allowed(), &["bincode".into()]);
        assert_eq!(found.len(), 1);
        assert!(found[0].found.contains("is banned"));
    }

    #[test]
    fn lists_of_the_deny_file_are_read_in_both_forms() {
        let deny: toml::Table =
            "[bans]\ndeny = [\"a\", { name = \"b\" }, { crate = \"c\" }]\n".parse().expect("TOML");
        assert_eq!(names(&deny, "bans", "deny"), ["a", "b", "c"]);
    }
}
