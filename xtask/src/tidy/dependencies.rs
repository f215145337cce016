//! Dependencies: listed once for the workspace, each with a reason, each used.

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "dependencies";

/// The document with a line for each dependency.
const REASONS: &str = "docs/adr/0009-dependencies.md";

/// The workspace's list against the reasons and the members' manifests.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let Some(workspace) = tree.text("Cargo.toml") else { return found };
    let listed = external(workspace);
    let reasons = tree.text(REASONS).unwrap_or_default();
    let manifests = tree.manifests();
    let kinds = ["dependencies", "dev-dependencies", "build-dependencies"];
    let used: Vec<String> =
        manifests.iter().flat_map(|m| kinds.iter().flat_map(|kind| m.names(kind))).collect();
    for (line, name) in &listed {
        let mut push = |what: String, remedy: String| {
            let path = "Cargo.toml".to_owned();
            found.push(Diagnostic { path, line: *line, rule: RULE, found: what, remedy });
        };
        if !reasons.lines().any(|reason| is_reason(reason, name)) {
            push(
                format!("no reason for `{name}` in {REASONS}"),
                format!("say there in a line that begins with `{name}` why we have it"),
            );
        }
        if !used.contains(name) {
            push(format!("`{name}` is used by no crate"), "delete the line".into());
        }
    }
    for manifest in &manifests {
        for name in manifest.own_versions() {
            found.push(Diagnostic {
                path: manifest.path.clone(),
                line: manifest.line_of(&name),
                rule: RULE,
                found: format!("`{name}` has its own version here"),
                remedy: "list it in the workspace's Cargo.toml and say `workspace = true` here"
                    .into(),
            });
        }
    }
    found
}

/// A table row or list item that begins with the name in backticks and says something after it.
fn is_reason(line: &str, name: &str) -> bool {
    let item = line.trim_start_matches(['|', '-', '*', ' ']);
    let rest = item.strip_prefix('`').and_then(|rest| rest.strip_prefix(name));
    rest.is_some_and(|rest| rest.starts_with('`') && rest.trim_matches(['`', '|', ' ']).len() > 10)
}

/// `(line, name)` of the workspace's dependencies that are not our own.
fn external(workspace: &str) -> Vec<(usize, String)> {
    let mut in_table = false;
    let mut listed = Vec::new();
    for (index, line) in workspace.lines().enumerate() {
        if line.starts_with('[') {
            in_table = line.trim() == "[workspace.dependencies]";
        } else if in_table
            && let Some((name, value)) = line.split_once('=')
            && !line.starts_with('#')
            && !value.contains("path =")
        {
            listed.push((index + 1, name.trim().to_owned()));
        }
    }
    listed
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORKSPACE: &str =
        "[workspace.dependencies]\nunits = { path = \"crates/units\" }\nlibc = \"0.2\"\n";
    const USER: &str = "[dependencies]\nlibc = { workspace = true }\n";

    #[test]
    fn a_dependency_without_a_reason_is_an_offence() {
        let tree = Tree::of(&[
            ("Cargo.toml", WORKSPACE),
            ("crates/uring/Cargo.toml", USER),
            (REASONS, "| `libc-other` | something else entirely |\n| `libc` | |\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 3);
    }

    #[test]
    fn a_dependency_with_reason_and_user_is_no_offence() {
        let tree = Tree::of(&[
            ("Cargo.toml", WORKSPACE),
            ("crates/uring/Cargo.toml", USER),
            (REASONS, "| `libc` | names and numbers of the kernel's interface |\n"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_dependency_that_nobody_uses_is_an_offence() {
        let reasons = "- `libc`: names and numbers of the kernel's interface\n";
        let found = check(&Tree::of(&[("Cargo.toml", WORKSPACE), (REASONS, reasons)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].found.contains("used by no crate"));
    }

    #[test]
    fn a_version_in_a_crates_own_manifest_is_an_offence() {
        let tree = Tree::of(&[
            ("Cargo.toml", "[workspace.dependencies]\n"),
            ("crates/uring/Cargo.toml", "[dependencies]\nlibc = \"0.2\"\n"),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/uring/Cargo.toml", 2));
    }
}
