//! Confines `unsafe`, tokio, serde, statistics, and the conversion between quotas and throughput
//! limits to certain crates.

use super::tree::{Diagnostic, Manifest, Tree, find_word, folder_of};

pub(crate) const UNSAFE_RULE: &str = "unsafe-in-uring";
pub(crate) const TOKIO_RULE: &str = "tokio-at-the-edges";
pub(crate) const SERDE_RULE: &str = "serde-at-the-edges";
pub(crate) const STATISTICS_RULE: &str = "no-statistics-in-report";
pub(crate) const QUOTA_RULE: &str = "quota-arithmetic";

/// Crates that may depend on tokio. Only `volume` exists so far, and it does not.
const TOKIO: &[&str] = &["cluster", "web", "volume", "target-smb"];

/// Crates that may depend on the serde family: experiment and stored plan, manifest of the target,
/// store and the events in its journals (`metrics`), exports, events, `--json`, and tools; also
/// those that read TOML as a tree of values, without derives: facts, volumes, topologies and load
/// profiles.
const SERDE: &[&str] = &[
    "settings", "workload", "metrics", "record", "cluster", "target", "store", "report",
    "commands", "cli", "xtask", "facts", "bench", "cloud", "volume", "predict", "sizing",
];
const SERDE_FAMILY: &[&str] =
    &["serde", "serde_json", "postcard", "toml", "rmp-serde", "schemars", "csv"];

/// Names that compute statistics, which a report must not. Rounding to the displayed digits is
/// layout, and reading a percentile of a finding is not a computation.
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

/// The numbers from which the throughput limit of a volume or pool is computed. Without them, no
/// other crate can compute a limit, so all crates use the limits of `cloud`.
const QUOTA_ARITHMETIC: &[&str] = &[
    "kib_per_sec_per_gib",
    "LimitName::FlexibleThroughputMaxPerTib",
    "LimitName::ManualThroughputMin",
    "LimitName::ManualThroughputMax",
];

/// Finds `unsafe` in product code outside `uring`, and in tests without a stated reason.
pub(crate) fn check_unsafe(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, file) in tree.rust().filter(|(path, _)| !path.starts_with("crates/uring/")) {
        let code =
            if file.is_test { file.parts.code.clone() } else { file.parts.code_without_tests() };
        let excused = file.is_test && find_word(&code, "expect(unsafe_code").is_some();
        for (index, line) in code.lines().enumerate() {
            let is_unsafe = find_word(line, "allow(unsafe_code").is_some()
                || find_word(line, "unsafe").is_some();
            if is_unsafe && !excused {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: index + 1,
                    rule: UNSAFE_RULE,
                    found: "`unsafe` outside crates/uring".into(),
                    remedy:
                        "move it into crates/uring behind a safe function; a file under tests/ \
                             may use `#![expect(unsafe_code, reason = \"…\")]`"
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
                found: "the lint `unsafe_code` differs from that of the workspace".into(),
                remedy: "use only `[lints] workspace = true`".into(),
            });
        }
    }
    found
}

/// Finds dependencies on tokio outside [`TOKIO`].
pub(crate) fn check_tokio(tree: &Tree) -> Vec<Diagnostic> {
    let remedy = "use a thread, or propose the dependency in an ADR";
    check_dependencies(tree, TOKIO_RULE, &["tokio"], TOKIO, remedy)
}

/// Finds dependencies on the serde family outside [`SERDE`].
pub(crate) fn check_serde(tree: &Tree) -> Vec<Diagnostic> {
    let remedy = "serialise the type in the crate that stores or displays it \
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

/// Finds statistics in the code of `report`.
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
                    found: format!("`{name}` computes a statistic in the report"),
                    remedy: "compute it in crates/analysis, with a known-answer test".into(),
                });
            }
        }
    }
    found
}

/// Finds conversions between quotas and throughput limits outside `cloud`. Tests may compute limits
/// independently.
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
                    remedy: "call `Catalog::volume_limit`, `Catalog::least_quota` or \
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
    fn a_limit_computed_outside_cloud_is_reported() {
        for name in QUOTA_ARITHMETIC {
            let text = format!("fn f(x: X) {{ let y = x.g({name}); }}\n");
            let test = format!("#[cfg(test)]\nmod tests {{\n    {text}}}\n");
            let tree = Tree::of(&[
                ("crates/sizing/src/storage.rs", &text),
                ("crates/sizing/tests/proofs.rs", &text),
                ("crates/volume/src/model.rs", &test),
                ("crates/cloud/src/volume_limit.rs", &text),
                ("bench/src/nfs.rs", &text),
            ]);
            let found = check_quota_arithmetic(&tree);
            let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
            assert_eq!(paths, ["bench/src/nfs.rs", "crates/sizing/src/storage.rs"], "{name}");
        }
    }

    #[test]
    fn unsafe_outside_uring_is_reported() {
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
    fn an_unsafe_test_needs_a_reason() {
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
    fn a_manifest_with_another_unsafe_lint_is_reported() {
        let tree =
            Tree::of(&[("crates/engine/Cargo.toml", "[lints.rust]\nunsafe_code = \"allow\"\n")]);
        assert_eq!(check_unsafe(&tree)[0].line, 2);
    }

    #[test]
    fn tokio_outside_its_crates_is_reported() {
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
    fn serde_outside_its_crates_is_reported() {
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
    fn each_statistic_is_reported_only_in_the_report() {
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
