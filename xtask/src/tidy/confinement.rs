//! Things that may live in some crates only: `unsafe`, tokio, serde, statistics, and the arithmetic
//! between quotas and throughput limits.

use super::tree::{Diagnostic, Manifest, Tree, find_word, folder_of};

pub(crate) const UNSAFE_RULE: &str = "unsafe-in-uring";
pub(crate) const TOKIO_RULE: &str = "tokio-at-the-edges";
pub(crate) const SERDE_RULE: &str = "serde-at-the-edges";
pub(crate) const STATISTICS_RULE: &str = "no-statistics-in-report";
pub(crate) const QUOTA_RULE: &str = "quota-arithmetic";

/// Crates that may have tokio; none of them exists yet.
const TOKIO: &[&str] = &["cluster", "web", "volume", "target-smb"];

/// Crates that may have serde: the experiment and the stored plan, the target's manifest, the
/// store, the report's exports, the command line's `--json`, the project's tools; and, for TOML as
/// a tree of values without any derive, the rows of facts and the descriptions of volumes, of a
/// topology and of machines' loads.
const SERDE: &[&str] = &[
    "workload", "target", "store", "report", "cli", "xtask", "cloud", "volume", "predict", "sizing",
];
const SERDE_FAMILY: &[&str] = &["serde", "serde_json", "toml", "rmp-serde", "schemars", "csv"];

/// Names that compute a statistic. A report that calls one has begun to think. Rounding to the
/// digits that are shown is layout, and asking a finding for its percentile is reading.
const STATISTICS: &[&str] = &[
    "percentile_ns(",
    "mean_ns(",
    "quantile(",
    "variance(",
    "median(",
    "sqrt(",
    "powf(",
    "ln(",
    "exp(",
    "sum::<f64>",
    "sum::<u64>",
    "merge(",
    "histogram::",
    "Recorder",
];

/// The numbers from which the throughput limit of a volume or a pool is computed: the rate of a
/// service level, and the bounds of what is assigned or bought. Without them no other crate can
/// compute a limit itself, so all of them have the ceilings and ranges of `cloud`.
const QUOTA_ARITHMETIC: &[&str] = &[
    "kib_per_sec_per_gib",
    "LimitName::FlexibleThroughputMaxPerTib",
    "LimitName::ManualThroughputMin",
    "LimitName::ManualThroughputMax",
];

/// `unsafe` in product code outside `uring`, and in tests that do not say why.
pub(crate) fn check_unsafe(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, file) in tree.rust().filter(|(path, _)| !path.starts_with("crates/uring/")) {
        let code =
            if file.is_test { file.parts.code.clone() } else { file.parts.code_without_tests() };
        let excused = file.is_test && find_word(&code, "expect(unsafe_code").is_some();
        for (index, line) in code.lines().enumerate() {
            let opened = find_word(line, "allow(unsafe_code").is_some()
                || find_word(line, "unsafe").is_some();
            if opened && !excused {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: index + 1,
                    rule: UNSAFE_RULE,
                    found: "`unsafe` outside crates/uring".into(),
                    remedy:
                        "move it into crates/uring behind a safe function; a file under tests/ \
                             may say `#![expect(unsafe_code, reason = \"…\")]`"
                            .into(),
                });
            }
        }
    }
    for manifest in tree.manifests().iter().filter(|manifest| manifest.package != "uring") {
        let line = manifest.line_of("unsafe_code");
        if line > 0 {
            found.push(Diagnostic {
                path: manifest.path.clone(),
                line,
                rule: UNSAFE_RULE,
                found: "the lint `unsafe_code` is set apart from the workspace's".into(),
                remedy: "say `[lints] workspace = true` only".into(),
            });
        }
    }
    found
}

/// tokio among the dependencies of a crate that drives threads itself.
pub(crate) fn check_tokio(tree: &Tree) -> Vec<Diagnostic> {
    let remedy = "use a thread, or argue for an edge in an ADR";
    check_dependencies(tree, TOKIO_RULE, &["tokio"], TOKIO, remedy)
}

/// serde among the dependencies of a crate that is no edge.
pub(crate) fn check_serde(tree: &Tree) -> Vec<Diagnostic> {
    let remedy = "write and read the type in the crate that stores or shows it \
                  (docs/adr/0011-serde-at-the-edges.md)";
    check_dependencies(tree, SERDE_RULE, SERDE_FAMILY, SERDE, remedy)
}

fn check_dependencies(
    tree: &Tree,
    rule: &'static str,
    names: &[&str],
    allowed: &[&str],
    remedy: &str,
) -> Vec<Diagnostic> {
    let outside = |manifest: &&Manifest| !allowed.contains(&manifest.package.as_str());
    let manifests = tree.manifests();
    let mut found = Vec::new();
    for manifest in manifests.iter().filter(outside) {
        for name in manifest.names("dependencies") {
            if names.contains(&name.as_str()) {
                found.push(Diagnostic {
                    path: manifest.path.clone(),
                    line: manifest.line_of(&name),
                    rule,
                    found: format!("`{}` depends on `{name}`", manifest.package),
                    remedy: remedy.to_owned(),
                });
            }
        }
    }
    found
}

/// Statistics in the report's code.
pub(crate) fn check_statistics(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    debug_assert_eq!(folder_of("report"), "crates/report/");
    for (path, code) in tree.product_code("report") {
        for (index, line) in code.lines().enumerate() {
            if let Some(name) = STATISTICS.iter().find(|name| find_word(line, name).is_some()) {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: index + 1,
                    rule: STATISTICS_RULE,
                    found: format!("`{name}` computes in the report"),
                    remedy: "compute it in crates/analysis, with a known-answer test, and show it \
                             here"
                        .into(),
                });
            }
        }
    }
    found
}

/// Arithmetic between quotas and throughput limits outside `cloud`; tests may work limits out on
/// their own.
pub(crate) fn check_quota_arithmetic(tree: &Tree) -> Vec<Diagnostic> {
    let cloud = folder_of("cloud");
    let outside = |path: &str, is_test: bool| !is_test && !path.starts_with(&cloud);
    let mut found = Vec::new();
    for (path, file) in tree.rust().filter(|(path, file)| outside(path, file.is_test)) {
        for (index, line) in file.parts.code_without_tests().lines().enumerate() {
            let named = QUOTA_ARITHMETIC.iter().find(|name| find_word(line, name).is_some());
            if let Some(name) = named {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: index + 1,
                    rule: QUOTA_RULE,
                    found: format!("`{name}` outside crates/cloud"),
                    remedy: "ask `Catalog::volume_limit`, `Catalog::least_quota` or \
                             `Catalog::pool_throughput`"
                        .into(),
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_computed_outside_cloud_is_an_offence() {
        for name in QUOTA_ARITHMETIC {
            let text = format!("fn f(x: X) {{ let y = x.g({name}); }}\n");
            let test = format!("#[cfg(test)]\nmod tests {{\n    {text}}}\n");
            let tree = Tree::of(&[
                ("crates/sizing/src/storage.rs", &text),
                ("crates/sizing/tests/proofs.rs", &text),
                ("crates/volume/src/model.rs", &test),
                ("crates/cloud/src/volume_limit.rs", &text),
                ("xtask/src/bench/nfs.rs", &text),
            ]);
            let found = check_quota_arithmetic(&tree);
            let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
            assert_eq!(paths, ["crates/sizing/src/storage.rs", "xtask/src/bench/nfs.rs"], "{name}");
        }
    }

    #[test]
    fn unsafe_outside_uring_is_an_offence() {
        let tree = Tree::of(&[
            ("crates/engine/src/a.rs", "fn f() {\n    unsafe { g() }\n}\n"),
            ("crates/uring/src/ring.rs", "fn f() { unsafe { g() } }\n"),
            ("crates/target/src/b.rs", "// unsafe\n#![deny(unsafe_code)]\n"),
        ]);
        let found = check_unsafe(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("crates/engine/src/a.rs", 2));
    }

    #[test]
    fn a_test_may_be_unsafe_only_where_it_says_why() {
        let said =
            "#![expect(unsafe_code, reason = \"counts allocations\")]\nunsafe impl A for B {}\n";
        let tree = Tree::of(&[
            ("crates/engine/tests/said.rs", said),
            ("crates/engine/tests/silent.rs", "unsafe impl A for B {}\n"),
        ]);
        let found = check_unsafe(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/engine/tests/silent.rs");
    }

    #[test]
    fn a_manifest_that_sets_the_unsafe_lint_apart_is_an_offence() {
        let tree =
            Tree::of(&[("crates/engine/Cargo.toml", "[lints.rust]\nunsafe_code = \"allow\"\n")]);
        assert_eq!(check_unsafe(&tree)[0].line, 2);
    }

    #[test]
    fn tokio_outside_its_crates_is_an_offence() {
        let manifest = "[dependencies]\ntokio = { workspace = true }\n";
        let tree = Tree::of(&[
            ("crates/engine/Cargo.toml", manifest),
            ("crates/web/Cargo.toml", manifest),
        ]);
        let found = check_tokio(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/engine/Cargo.toml");
    }

    #[test]
    fn serde_in_a_crate_that_is_no_edge_is_an_offence() {
        let manifest = "[dependencies]\nserde_json = { workspace = true }\n";
        let tree = Tree::of(&[
            ("crates/analysis/Cargo.toml", manifest),
            ("crates/store/Cargo.toml", manifest),
        ]);
        let found = check_serde(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].path, "crates/analysis/Cargo.toml");
    }

    #[test]
    fn each_statistic_is_an_offence_in_the_report_and_nowhere_else() {
        for name in STATISTICS {
            let text = format!("fn f(x: X) {{ let y = x.{name}); }}\n");
            let tree = Tree::of(&[
                ("crates/report/src/html.rs", &text),
                ("crates/analysis/src/lib.rs", &text),
            ]);
            let found = check_statistics(&tree);
            assert_eq!(found.len(), 1, "{name}");
            assert_eq!(found[0].path, "crates/report/src/html.rs");
        }
    }
}
