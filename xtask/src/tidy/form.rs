//! No unfinished code, no ignored or forgotten tests, no promises in comments, no paths of a
//! developer's machine.

use super::tree::{Diagnostic, Tree, find_word};

pub(crate) const RULE: &str = "form";

/// Code that marks unfinished work, and the remedy.
const UNFINISHED: &[(&str, &str)] = &[
    ("todo!", "write it, or remove it and document the limitation"),
    ("unimplemented!", "write it, or remove it and document the limitation"),
    ("#[ignore", "make the test pass everywhere, or delete it"),
];

/// Words in comments that promise later work.
const PROMISES: &[&str] = &["TODO", "FIXME", "XXX"];

/// Starts of paths that exist only on a developer's machine. Concatenated, so that this file does
/// not break the rule.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

/// Third-party files.
const THIRD_PARTY: &[&str] = &["crates/report/assets/vendor/", "package-lock.json"];

/// Every text file that is not third-party.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, file) in tree.rust() {
        check_rust(path, &file.parts.code, &file.parts.comments, &mut found);
        check_paths(path, &file.text, &mut found);
    }
    for (path, text) in tree.texts() {
        let minified = text.lines().any(|line| line.len() > 5_000);
        if !minified && !THIRD_PARTY.iter().any(|part| path.contains(part)) {
            check_paths(path, text, &mut found);
        }
    }
    found.extend(forgotten_tests(tree));
    found
}

/// Files next to the `main.rs` of a test binary that are not part of it: cargo compiles only what
/// `main.rs` names.
fn forgotten_tests(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (main, file) in tree.rust() {
        let folder = main.strip_suffix("main.rs").filter(|folder| folder.contains("/tests/"));
        let Some(folder) = folder else { continue };
        for (path, _) in tree.rust() {
            let module = path.strip_prefix(folder).and_then(|path| path.strip_suffix(".rs"));
            let Some(module) = module.filter(|name| *name != "main" && !name.contains('/')) else {
                continue;
            };
            if find_word(&file.parts.code, &format!("mod {module}")).is_none() {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: 0,
                    rule: RULE,
                    found: format!("it is no module of {main}"),
                    remedy: "declare it there".into(),
                });
            }
        }
    }
    found
}

fn check_rust(path: &str, code: &str, comments: &str, found: &mut Vec<Diagnostic>) {
    let mut push = |line: usize, what: String, remedy: &str| {
        found.push(Diagnostic {
            path: path.to_owned(),
            line: line + 1,
            rule: RULE,
            found: what,
            remedy: remedy.to_owned(),
        });
    };
    for (index, line) in code.lines().enumerate() {
        for (word, remedy) in UNFINISHED {
            if find_word(line, word).is_some() {
                push(index, format!("`{word}`"), remedy);
            }
        }
    }
    for (index, line) in comments.lines().enumerate() {
        for word in PROMISES {
            if find_word(line, word).is_some() {
                push(
                    index,
                    format!("a comment with {word}"),
                    "do it, or describe the current state",
                );
            }
        }
    }
}

fn check_paths(path: &str, text: &str, found: &mut Vec<Diagnostic>) {
    for (index, line) in text.lines().enumerate() {
        for prefix in MACHINE_PATHS {
            // Only at the start of a path, not within one such as `https://example.org/home/`.
            let begins = line.match_indices(prefix).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "._-/}>".contains(c))
            });
            if begins {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: index + 1,
                    rule: RULE,
                    found: format!("a path that starts with `{prefix}`"),
                    remedy:
                        "take the path from the caller, or use the temporary folder of the test"
                            .into(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        let tree = Tree::of(&[("crates/units/src/lib.rs", text)]);
        check(&tree).iter().map(|diagnostic| diagnostic.line).collect()
    }

    #[test]
    fn unfinished_work_is_reported() {
        assert_eq!(lines(concat!("fn f() { to", "do!() }\n")), [1]);
        assert_eq!(lines(concat!("fn f() { unimplemen", "ted!() }\n")), [1]);
        assert_eq!(lines(concat!("#[test]\n#[ig", "nore]\nfn f() {}\n")), [2]);
        assert_eq!(lines(concat!("// TO", "DO: later\n")), [1]);
    }

    #[test]
    fn a_test_file_that_no_binary_contains_is_reported() {
        let tree = Tree::of(&[
            ("crates/a/tests/main.rs", "mod one;\n"),
            ("crates/a/tests/one.rs", ""),
            ("crates/a/tests/two.rs", ""),
            ("crates/b/tests/alone.rs", ""),
        ]);
        let found: Vec<String> = check(&tree).into_iter().map(|one| one.path).collect();
        assert_eq!(found, ["crates/a/tests/two.rs"]);
    }

    #[test]
    fn a_path_of_a_developers_machine_is_reported() {
        let line = format!("const A: &str = \"{}\";\n", concat!("/ho", "me/ann/x"));
        assert_eq!(lines(&line), [1]);
        let document = format!("see {}\n", concat!("/wo", "rk/x"));
        let tree = Tree::of(&[("README.md", &document)]);
        assert_eq!(check(&tree).len(), 1);
        assert_eq!(lines("const A: &str = \"target/work/x\";\n"), Vec::<usize>::new());
    }
}
