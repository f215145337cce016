//! Imports between crates: checks every manifest and every `use` against the tables of
//! `ARCHITECTURE.md`.

use super::tree::{Diagnostic, Tree, find_word};

pub(crate) const RULE: &str = "edges";

/// A package, the packages that it may import, and why no others.
struct Row {
    package: &'static str,
    may_import: &'static [&'static str],
    reason: &'static str,
}

const TABLE: &[Row] = &[
    Row { package: "units", may_import: &[], reason: "quantities import no other crate" },
    Row {
        package: "statistics",
        may_import: &[],
        reason: "formulas take plain numbers, not records",
    },
    Row {
        package: "settings",
        may_import: &["units"],
        reason: "a reader of TOML knows no particular setting and opens no files",
    },
    Row {
        package: "workload",
        may_import: &["units", "settings"],
        reason: "a workload does not know how it is executed or measured",
    },
    Row {
        package: "metrics",
        may_import: &["units", "workload"],
        reason: "measurements do not know how they are stored or interpreted",
    },
    Row {
        package: "nfs3",
        may_import: &["units"],
        reason: "a protocol is bytes in and bytes out: it knows neither sockets nor files",
    },
    Row {
        package: "observe",
        may_import: &["metrics", "nfs3"],
        reason: "an observation is a function of a trace: it opens no files and has no words",
    },
    Row {
        package: "exposition",
        may_import: &[],
        reason: "a text format knows neither what is counted nor the sockets that carry it",
    },
    Row {
        package: "cloud",
        may_import: &["units", "settings"],
        reason: "facts do not know the conclusions drawn from them",
    },
    Row {
        package: "predict",
        may_import: &["units", "statistics", "settings", "cloud"],
        reason: "a prediction is a function of facts and a topology; it uses no measurements",
    },
    Row {
        package: "rvtools",
        may_import: &["units"],
        reason: "an inventory does not know the designs derived from it",
    },
    Row {
        package: "analysis",
        may_import: &["units", "statistics", "workload", "metrics", "cloud"],
        reason: "analysis is a function of records: it neither stores, executes nor displays",
    },
    Row {
        package: "sizing",
        may_import: &["units", "settings", "cloud", "predict"],
        reason: "sizing is a function of requirements and facts",
    },
    Row {
        package: "files",
        may_import: &["units"],
        reason: "a tree of files knows neither the protocol nor the counters of its server",
    },
    Row { package: "uring", may_import: &["units"], reason: "the ring handles only bytes" },
    Row {
        package: "host",
        may_import: &["units", "metrics"],
        reason: "facts about the host do not know the conclusions drawn from them",
    },
    Row {
        package: "target",
        may_import: &["units", "workload", "nfs3", "uring", "host"],
        reason: "a target executes operations; it neither schedules nor measures them",
    },
    Row {
        package: "engine",
        may_import: &["units", "workload", "metrics", "target", "uring"],
        reason: "the engine does not know the plan around it",
    },
    Row {
        package: "record",
        may_import: &["workload", "metrics"],
        reason: "frames are bytes: they know neither files nor pipes",
    },
    Row {
        package: "cluster",
        may_import: &["record"],
        reason: "controller and agents carry requests without knowing what they are about",
    },
    Row {
        package: "store",
        may_import: &["units", "workload", "metrics", "record"],
        reason: "the store keeps raw data, without conclusions",
    },
    Row {
        package: "disk",
        may_import: &["files"],
        reason: "durable storage knows neither the protocol nor the counters of its server",
    },
    Row {
        package: "volume",
        may_import: &["units", "settings", "nfs3", "cloud", "files", "disk", "uring", "exposition"],
        reason: "the service checks the load generator, so they share no code that counts",
    },
    Row {
        package: "runner",
        may_import: &["units", "workload", "metrics", "analysis", "engine", "target"],
        reason: "the runner emits events; store, report and cli listen",
    },
    Row {
        package: "report",
        may_import: &[
            "units", "workload", "metrics", "analysis", "cloud", "predict", "sizing", "observe",
        ],
        reason: "a report formats findings and performs no I/O",
    },
    Row {
        package: "commands",
        may_import: &[
            "units",
            "settings",
            "workload",
            "metrics",
            "analysis",
            "uring",
            "target",
            "engine",
            "host",
            "record",
            "store",
            "runner",
            "report",
            "cloud",
            "predict",
            "rvtools",
            "sizing",
            "observe",
            "volume",
            "exposition",
            "cluster",
        ],
        reason: "a command takes options and returns values: no arguments, no terminal",
    },
    Row {
        package: "cli",
        may_import: &[
            "units", "settings", "workload", "metrics", "analysis", "target", "engine", "store",
            "runner", "report", "cloud", "predict", "sizing", "observe", "volume", "commands",
        ],
        reason: "only tests use the simulator",
    },
    Row {
        package: "sim",
        may_import: &[
            "units", "workload", "metrics", "analysis", "target", "engine", "nfs3", "cloud",
            "files", "volume", "cluster",
        ],
        reason: "the simulator has no disk, no terminal and no real network",
    },
    Row {
        package: "xtask",
        may_import: &[],
        reason: "a check must start within seconds, so xtask compiles no crate of the product",
    },
    Row {
        package: "facts",
        may_import: &["units", "cloud", "sizing"],
        reason: "it maintains the data that cloud and sizing read",
    },
    Row {
        package: "bench",
        may_import: &["units", "statistics"],
        reason: "a bench runs the product as a program",
    },
];

const REMEDY: &str = "move the code to a crate that may import it, or propose the import in an ADR and \
                      change the tables in ARCHITECTURE.md and edges.rs";

/// Checks manifests and `use` lines against the table. Dev-dependencies are not restricted.
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
                found: format!("package `{package}` has no row in the table of imports"),
                remedy: "add it to ARCHITECTURE.md and to TABLE in xtask/src/tidy/edges.rs".into(),
            });
            continue;
        };
        let violation = |path: &str, line: usize, to: &str| Diagnostic {
            path: path.to_owned(),
            line,
            rule: RULE,
            found: format!("`{package}` may not import `{to}` ({})", row.reason),
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
                    found.push(violation(&manifest.path, manifest.line_of(&name), &name));
                }
            }
        }
        // Examples are compiled with dev-dependencies, which are not restricted.
        let product = tree.product_code(package).filter(|(path, _)| !path.contains("/examples/"));
        for (path, code) in product {
            for (index, line) in code.lines().enumerate() {
                let to = used_crate(line).filter(|name| banned.contains(name));
                // A module of the same name in the file (`mod target;`) is not the crate.
                if let Some(to) = to
                    && find_word(&code, &format!("mod {to}")).is_none()
                {
                    found.push(violation(path, index + 1, to));
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
    fn a_forbidden_import_in_a_manifest_is_reported() {
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
    fn a_forbidden_import_in_a_use_is_reported_except_in_tests() {
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
    fn dev_dependencies_are_not_restricted() {
        let engine = manifest("[dev-dependencies]\nsim = { workspace = true }\n");
        let tree = Tree::of(&[
            ("crates/engine/Cargo.toml", &engine),
            ("crates/sim/Cargo.toml", &manifest("")),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_package_without_a_row_is_reported() {
        let tree = Tree::of(&[("crates/novelty/Cargo.toml", &manifest(""))]);
        assert!(check(&tree)[0].found.contains("`novelty` has no row"));
    }

    #[test]
    fn a_module_with_the_name_of_a_crate_is_not_the_crate() {
        let tree = Tree::of(&[
            ("crates/metrics/Cargo.toml", &manifest("")),
            ("crates/store/Cargo.toml", &manifest("")),
            ("crates/metrics/src/lib.rs", "mod store;\nuse store::Thing;\n"),
        ]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn the_table_has_no_cycle() {
        // Each row imports only packages of earlier rows.
        for (index, row) in TABLE.iter().enumerate() {
            for to in row.may_import {
                let row_of_import = TABLE.iter().position(|other| other.package == *to);
                assert!(
                    row_of_import.is_some_and(|other| other < index),
                    "{} -> {to}",
                    row.package
                );
            }
        }
    }
}
