//! Cores never read a clock, a file, a socket, an environment variable or unseeded randomness.

use super::tree::{Diagnostic, Tree, find_word};

pub(crate) const RULE: &str = "purity";

const CORES: &[&str] = &[
    "units",
    "statistics",
    "settings",
    "workload",
    "metrics",
    "analysis",
    "files",
    "nfs3",
    "observe",
    "exposition",
    "cloud",
    "predict",
    "rvtools",
    "sizing",
];

/// Names that a core must not use, and what they read.
const BANNED: &[(&str, &str)] = &[
    ("std::time::Instant", "a clock"),
    ("SystemTime", "a clock"),
    ("Instant::now", "a clock"),
    ("std::fs", "files"),
    ("std::os", "the operating system"),
    ("std::net", "the network"),
    ("std::thread", "threads"),
    ("thread_local", "threads"),
    ("std::env", "the environment"),
    ("std::process", "processes"),
    ("std::io::stdin", "standard input"),
    ("thread_rng", "unseeded randomness"),
    ("rand::rng", "unseeded randomness"),
    ("getrandom", "unseeded randomness"),
    ("OsRng", "unseeded randomness"),
    ("SysRng", "unseeded randomness"),
    ("from_entropy", "unseeded randomness"),
    ("from_os_rng", "unseeded randomness"),
    ("RandomState", "unseeded randomness"),
    ("HashMap", "the unseeded order of a hash map"),
    ("HashSet", "the unseeded order of a hash set"),
];

/// Names imported from `std` in braces, as in `use std::{fs, time::Instant}`.
const BANNED_IN_STD: &[&str] = &["fs", "os", "net", "thread", "env", "process", "time::Instant"];

/// Third-party dependencies of cores: they perform no I/O.
const PURE_DEPENDENCIES: &[&str] = &[
    "serde",
    "serde_json",
    "toml",
    "thiserror",
    "rand_core",
    "rand_distr",
    "puruspe",
    "rmpfit",
    // It can open files, but the core passes it bytes, since `std::fs` is banned there.
    "calamine",
    "csv-core",
];

/// Checks the code and the dependencies of every core.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for core in CORES {
        // Examples are programs that measure the core; they are not part of it.
        for (path, code) in tree.product_code(core).filter(|(path, _)| !path.contains("/examples/"))
        {
            for (index, line) in code.lines().enumerate() {
                if let Some((name, reads)) = violation(line) {
                    found.push(Diagnostic {
                        path: path.to_owned(),
                        line: index + 1,
                        rule: RULE,
                        found: format!("`{name}` in the core `{core}` reads {reads}"),
                        remedy:
                            "take the value as an argument (`now`, a seed, bytes); use BTreeMap \
                                 or Vec for a fixed order"
                                .into(),
                    });
                }
            }
        }
    }
    let manifests = tree.manifests();
    for manifest in manifests.iter().filter(|m| CORES.contains(&m.package.as_str())) {
        for name in manifest.names("dependencies") {
            let ours = manifests.iter().any(|other| other.package == name);
            if !ours && !PURE_DEPENDENCIES.contains(&name.as_str()) {
                found.push(Diagnostic {
                    path: manifest.path.clone(),
                    line: manifest.line_of(&name),
                    rule: RULE,
                    found: format!("the core `{}` depends on `{name}`", manifest.package),
                    remedy:
                        "use it in a crate that performs I/O, or verify that it performs none and \
                             add it to PURE_DEPENDENCIES in xtask/src/tidy/purity.rs"
                            .into(),
                });
            }
        }
    }
    found
}

fn violation(line: &str) -> Option<(String, &'static str)> {
    if let Some((name, reads)) = BANNED.iter().find(|(name, _)| find_word(line, name).is_some()) {
        return Some(((*name).to_owned(), reads));
    }
    let (_, list) = line.split_once("std::{")?;
    let banned = |part: &&str| BANNED_IN_STD.iter().any(|name| part.trim().starts_with(name));
    let part = list.split([',', '{', '}']).find(banned)?;
    Some((format!("std::{}", part.trim()), "the outside world"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_banned_name_is_reported_in_a_core() {
        for (name, _) in BANNED {
            let text = format!("fn f() {{\n    let x = {name}();\n}}\n");
            let tree = Tree::of(&[("crates/metrics/src/lib.rs", &text)]);
            let found = check(&tree);
            assert_eq!(found.len(), 1, "{name}");
            assert_eq!(found[0].line, 2);
        }
    }

    #[test]
    fn names_imported_from_std_in_braces_are_reported() {
        let tree = Tree::of(&[("crates/units/src/a.rs", "use std::{fmt, fs};\n")]);
        assert_eq!(check(&tree).len(), 1);
    }

    #[test]
    fn other_crates_tests_examples_comments_and_strings_are_not_checked() {
        let core = "//! Never std::fs.\nconst A: &str = \"std::env\";\n\
                    #[cfg(test)]\nmod tests { use std::fs; }\n";
        let tree = Tree::of(&[
            ("crates/units/src/lib.rs", core),
            ("crates/host/src/lib.rs", "use std::fs;\n"),
            ("crates/units/tests/all.rs", "use std::time::Instant;\n"),
            ("crates/units/examples/speed.rs", "use std::time::Instant;\n"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn an_impure_dependency_of_a_core_is_reported() {
        let manifest =
            "[dependencies]\nserde = { workspace = true }\nrustix = { workspace = true }\n";
        let tree = Tree::of(&[("crates/workload/Cargo.toml", manifest)]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 3);
    }
}
