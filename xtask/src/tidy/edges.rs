//! Who may import whom: the table of `ARCHITECTURE.md`, held against every manifest and every
//! `use`.

use super::tree::{Diagnostic, Tree, find_word};

pub(crate) const RULE: &str = "edges";

/// A package, the packages of ours it may depend on, and why not others.
struct Row {
    package: &'static str,
    may_import: &'static [&'static str],
    never: &'static str,
}

const TABLE: &[Row] = &[
    Row { package: "units", may_import: &[], never: "quantities know nothing of ours" },
    Row {
        package: "workload",
        may_import: &["units"],
        never: "what to do does not know how it is done or measured",
    },
    Row {
        package: "metrics",
        may_import: &["units", "workload"],
        never: "what was measured does not know what it means or where it is kept",
    },
    Row {
        package: "nfs3",
        may_import: &["units"],
        never: "a protocol is bytes in and bytes out: it knows neither sockets nor what is stored",
    },
    Row {
        package: "cloud",
        may_import: &["units"],
        never: "facts do not know what is concluded from them",
    },
    Row {
        package: "predict",
        may_import: &["units", "cloud"],
        never: "a prediction is a function of facts and a topology: it has measured nothing",
    },
    Row {
        package: "rvtools",
        may_import: &["units"],
        never: "what an export says does not know what follows from it",
    },
    Row {
        package: "analysis",
        may_import: &["units", "workload", "metrics", "cloud"],
        never: "thinking is a function of records: it keeps, drives and shows nothing",
    },
    Row {
        package: "sizing",
        may_import: &["units", "cloud", "predict"],
        never: "a sizing is a function of needs and facts",
    },
    Row {
        package: "files",
        may_import: &["units"],
        never: "a tree of files knows neither the wire nor what its server measures",
    },
    Row { package: "uring", may_import: &["units"], never: "the ring knows bytes only" },
    Row {
        package: "host",
        may_import: &["units"],
        never: "facts about the host know no conclusions",
    },
    Row {
        package: "target",
        may_import: &["units", "workload", "nfs3", "uring", "host"],
        never: "a target does operations; it neither schedules nor measures them",
    },
    Row {
        package: "engine",
        may_import: &["units", "workload", "metrics", "target", "uring"],
        never: "the engine does not know the plan around it",
    },
    Row {
        package: "store",
        may_import: &["units", "workload", "metrics"],
        never: "what is kept is raw: no conclusions in it",
    },
    Row {
        package: "disk",
        may_import: &["files"],
        never: "what keeps a tree does not know who is served or measured",
    },
    Row {
        package: "volume",
        may_import: &["units", "nfs3", "cloud", "files", "disk", "uring"],
        never: "the witness shares no code with what it is to check",
    },
    Row {
        package: "runner",
        may_import: &["units", "workload", "metrics", "analysis", "engine", "target"],
        never: "the runner emits events; store, report and cli listen",
    },
    Row {
        package: "report",
        may_import: &["units", "workload", "metrics", "analysis", "cloud", "predict", "sizing"],
        never: "a report lays out what analysis says and fetches nothing",
    },
    Row {
        package: "cli",
        may_import: &[
            "units", "workload", "metrics", "analysis", "uring", "target", "engine", "host",
            "store", "runner", "report", "cloud", "predict", "rvtools", "sizing", "volume",
        ],
        never: "the simulator is for tests",
    },
    Row {
        package: "sim",
        may_import: &[
            "units", "workload", "metrics", "analysis", "target", "engine", "nfs3", "cloud",
            "files", "volume",
        ],
        never: "the simulator has no disk, no screen and no second host",
    },
    Row {
        package: "xtask",
        may_import: &[
            "units", "workload", "metrics", "analysis", "store", "report", "cloud", "sizing",
        ],
        never: "the project's tools read results; they drive the product as a program",
    },
];

const REMEDY: &str = "move the code to where the edge points down the list in ARCHITECTURE.md, or \
                      argue for the edge in an ADR and change the table there and in edges.rs";

/// Manifests and `use` lines against the table. Dev-dependencies are free.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let manifests = tree.manifests();
    let ours: Vec<&str> = manifests.iter().map(|manifest| manifest.package.as_str()).collect();
    let mut found = Vec::new();
    for manifest in &manifests {
        let package = manifest.package.as_str();
        let Some(row) = TABLE.iter().find(|row| row.package == package) else {
            found.push(Diagnostic {
                path: manifest.path.clone(),
                line: 0,
                rule: RULE,
                found: format!("package `{package}` has no row in the table of edges"),
                remedy: "add it to ARCHITECTURE.md and to TABLE in xtask/src/tidy/edges.rs".into(),
            });
            continue;
        };
        let offence = |path: &str, line: usize, to: &str| Diagnostic {
            path: path.to_owned(),
            line,
            rule: RULE,
            found: format!("`{package}` may not import `{to}` ({})", row.never),
            remedy: REMEDY.into(),
        };
        let banned: Vec<&str> = ours
            .iter()
            .copied()
            .filter(|other| *other != package && !row.may_import.contains(other))
            .collect();
        for kind in ["dependencies", "build-dependencies"] {
            for name in manifest.names(kind) {
                if banned.contains(&name.as_str()) {
                    found.push(offence(&manifest.path, manifest.line_of(&name), &name));
                }
            }
        }
        // Examples are compiled with dev-dependencies, which are free.
        let product = tree.product_code(package).filter(|(path, _)| !path.contains("/examples/"));
        for (path, code) in product {
            for (index, line) in code.lines().enumerate() {
                let to = used_crate(line).filter(|name| banned.contains(name));
                // A module of the same name in the file (`mod target;`) is not the crate.
                if let Some(to) = to
                    && find_word(&code, &format!("mod {to}")).is_none()
                {
                    found.push(offence(path, index + 1, to));
                }
            }
        }
    }
    found
}

/// The crate that a `use` or `extern crate` line names.
fn used_crate(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let line = line.strip_prefix("pub ").unwrap_or(line);
    let line = line.strip_prefix("pub(crate) ").unwrap_or(line);
    let path = line.strip_prefix("use ").or_else(|| line.strip_prefix("extern crate "))?;
    path.trim_start_matches(':').split([':', ';', ' ']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(dependencies: &str) -> String {
        format!("[package]\nname = \"x\"\n\n{dependencies}")
    }

    #[test]
    fn an_edge_that_points_up_in_a_manifest_is_an_offence() {
        let report = manifest(
            "[dependencies]\nunits = { workspace = true }\nstore = { workspace = true }\n",
        );
        let tree = Tree::of(&[
            ("crates/report/Cargo.toml", &report),
            ("crates/store/Cargo.toml", &manifest("")),
            ("crates/units/Cargo.toml", &manifest("")),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/report/Cargo.toml", 6));
        assert!(found[0].found.contains("`report` may not import `store`"));
    }

    #[test]
    fn an_edge_that_points_up_in_a_use_is_an_offence_but_not_in_a_test() {
        let lib =
            "use std::fmt;\npub use engine::drive;\n#[cfg(test)]\nmod t { use sim::World; }\n";
        let tree = Tree::of(&[
            ("crates/metrics/Cargo.toml", &manifest("")),
            ("crates/metrics/examples/load.rs", "use engine::drive;\n"),
            ("crates/engine/Cargo.toml", &manifest("")),
            ("crates/sim/Cargo.toml", &manifest("")),
            ("crates/metrics/src/lib.rs", lib),
        ]);
        let found = check(&tree);
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].line, 2);
    }

    #[test]
    fn dev_dependencies_are_free() {
        let engine = manifest("[dev-dependencies]\nsim = { workspace = true }\n");
        let tree = Tree::of(&[
            ("crates/engine/Cargo.toml", &engine),
            ("crates/sim/Cargo.toml", &manifest("")),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_package_without_a_row_is_an_offence() {
        let tree = Tree::of(&[("crates/novelty/Cargo.toml", &manifest(""))]);
        assert!(check(&tree)[0].found.contains("`novelty` has no row"));
    }

    #[test]
    fn a_module_of_a_crates_name_is_not_the_crate() {
        let tree = Tree::of(&[
            ("crates/metrics/Cargo.toml", &manifest("")),
            ("crates/store/Cargo.toml", &manifest("")),
            ("crates/metrics/src/lib.rs", "mod store;\nuse store::Thing;\n"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn the_table_has_no_circle() {
        // Rows stand in the order of the data: an edge points to an earlier row, save for the two
        // hands that cores never see.
        for (index, row) in TABLE.iter().enumerate() {
            for to in row.may_import {
                let place = TABLE.iter().position(|other| other.package == *to);
                assert!(place.is_some_and(|place| place < index), "{} -> {to}", row.package);
            }
        }
    }
}
