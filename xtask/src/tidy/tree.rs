//! The repository as the rules see it: the content of every text file, and every path.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use anyhow::{Context, Result};

use super::rust_text::RustText;

/// A violation of a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Diagnostic {
    /// Path from the root of the repository.
    pub path: String,
    /// Line, from 1; 0 for the whole file.
    pub line: usize,
    /// The rule's name.
    pub rule: &'static str,
    /// What was found.
    pub found: String,
    /// How to fix it.
    pub remedy: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": [{}] {}\n    remedy: {}", self.rule, self.found, self.remedy)
    }
}

/// A Rust file: its text and its parts.
pub(crate) struct RustFile {
    /// The whole text.
    pub text: String,
    /// Code, strings and comments.
    pub parts: RustText,
    /// Whether the whole file is test code: under `tests/` or `benches/`, or a module declared
    /// under `#[cfg(test)]`.
    pub is_test: bool,
}

/// All files of the repository.
#[derive(Default)]
pub(crate) struct Tree {
    /// Every file and folder, from the root, with `/`.
    paths: BTreeSet<String>,
    /// Text files that are not Rust.
    texts: BTreeMap<String, String>,
    rust: BTreeMap<String, RustFile>,
}

/// File extensions that are read as text.
const TEXT: &[&str] =
    &["md", "toml", "sh", "js", "mjs", "css", "html", "jinja", "json", "yml", "yaml", "jsonl"];

/// Names of folders that tools generate.
const GENERATED: &[&str] = &[".git", "node_modules"];

impl Tree {
    /// Reads the repository at `root`, without folders that git and tools generate.
    pub(crate) fn read(root: &Path) -> Result<Tree> {
        let mut tree = Tree::default();
        tree.read_folder(root, "")?;
        tree.mark_test_files();
        Ok(tree)
    }

    /// A tree for a test.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Tree {
        let mut tree = Tree::default();
        for (path, text) in files {
            let mut folder = *path;
            while let Some((parent, _)) = folder.rsplit_once('/') {
                tree.paths.insert(parent.to_owned());
                folder = parent;
            }
            tree.insert((*path).to_owned(), Some((*text).to_owned()));
        }
        tree.mark_test_files();
        tree
    }

    fn read_folder(&mut self, folder: &Path, name: &str) -> Result<()> {
        let entries = std::fs::read_dir(folder).with_context(|| format!("list {name:?}"))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("list {name:?}"))?;
            let file_name = entry.file_name().to_string_lossy().into_owned();
            let path =
                if name.is_empty() { file_name.clone() } else { format!("{name}/{file_name}") };
            // `target` is cargo's folder at the root and in `fuzz`; `crates/target` is a crate.
            let is_generated = GENERATED.contains(&file_name.as_str())
                || matches!(path.as_str(), "target" | "fuzz/target");
            if is_generated {
                continue;
            }
            if entry.file_type().with_context(|| format!("inspect {path}"))?.is_dir() {
                self.paths.insert(path.clone());
                self.read_folder(&entry.path(), &path)?;
                continue;
            }
            let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
            let is_text = ending == "rs" || TEXT.contains(&ending) || path.starts_with(".ci/");
            let text = if is_text {
                let bytes = std::fs::read(entry.path()).with_context(|| format!("read {path}"))?;
                Some(String::from_utf8_lossy(&bytes).into_owned())
            } else {
                None
            };
            self.insert(path, text);
        }
        Ok(())
    }

    fn insert(&mut self, path: String, text: Option<String>) {
        match text {
            Some(text) if path.ends_with(".rs") => {
                let parts = RustText::scan(&text);
                let is_test = path.split('/').any(|part| part == "tests" || part == "benches");
                self.rust.insert(path.clone(), RustFile { text, parts, is_test });
            }
            Some(text) => {
                self.texts.insert(path.clone(), text);
            }
            None => {}
        }
        self.paths.insert(path);
    }

    /// Marks files whose parent module declares them under `#[cfg(test)]`, and those below them.
    fn mark_test_files(&mut self) {
        let mut tests = BTreeSet::new();
        for (path, file) in &self.rust {
            for module in file.parts.test_modules_elsewhere() {
                let folder = match path.rsplit_once('/') {
                    Some((folder, "lib.rs" | "main.rs" | "mod.rs")) => folder.to_owned(),
                    _ => path.trim_end_matches(".rs").to_owned(),
                };
                tests.insert(format!("{folder}/{module}.rs"));
                let below = format!("{folder}/{module}/");
                let files = self.rust.range(below.clone()..).map(|(path, _)| path);
                tests.extend(files.take_while(|path| path.starts_with(&below)).cloned());
            }
        }
        for path in tests {
            if let Some(file) = self.rust.get_mut(&path) {
                file.is_test = true;
            }
        }
    }

    /// Number of files that were read.
    pub(crate) fn len(&self) -> usize {
        self.texts.len() + self.rust.len()
    }

    /// Whether a file or folder exists.
    pub(crate) fn has(&self, path: &str) -> bool {
        path.is_empty() || self.paths.contains(path)
    }

    /// A text file that is not Rust.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    /// Every text file that is not Rust.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Every Rust file.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &RustFile)> {
        self.rust.iter().map(|(path, file)| (path.as_str(), file))
    }

    /// Every Rust file of a package that is not test code, with its code without test modules.
    pub(crate) fn product_code(&self, package: &str) -> impl Iterator<Item = (&str, String)> {
        let folder = folder_of(package);
        self.rust()
            .filter(move |(path, file)| path.starts_with(&folder) && !file.is_test)
            .map(|(path, file)| (path, file.parts.code_without_tests()))
    }

    /// The manifest of every package; the package has the name of its folder.
    pub(crate) fn manifests(&self) -> Vec<Manifest> {
        let mut manifests = Vec::new();
        for (path, text) in self.texts() {
            let Some(folder) = path.strip_suffix("/Cargo.toml") else { continue };
            let package = folder.rsplit('/').next().unwrap_or(folder);
            if !folder_of(package).starts_with(&format!("{folder}/")) {
                continue;
            }
            let table = text.parse::<toml::Table>();
            manifests.push(Manifest {
                package: package.to_owned(),
                path: path.to_owned(),
                text: text.to_owned(),
                table: table.unwrap_or_default(),
            });
        }
        manifests
    }
}

/// The folder of a package, with a closing `/`.
pub(crate) fn folder_of(package: &str) -> String {
    match package {
        // Not `xtask/`: that contains the package `facts`.
        "xtask" => "xtask/src/".to_owned(),
        "facts" => "xtask/facts/".to_owned(),
        "bench" => "bench/".to_owned(),
        package => format!("crates/{package}/"),
    }
}

/// A package's Cargo.toml.
pub(crate) struct Manifest {
    /// The package: the name of its folder.
    pub package: String,
    /// Path of the file.
    pub path: String,
    /// The file's text.
    pub text: String,
    table: toml::Table,
}

impl Manifest {
    /// The dependency tables of a manifest.
    pub(crate) const KINDS: [&'static str; 3] =
        ["dependencies", "dev-dependencies", "build-dependencies"];

    /// Names in one of the dependency tables.
    pub(crate) fn names(&self, kind: &str) -> Vec<String> {
        let table = self.table.get(kind).and_then(toml::Value::as_table);
        table.into_iter().flatten().map(|(name, _)| name.clone()).collect()
    }

    /// The line (from 1) that starts with `name`, or 0.
    pub(crate) fn line_of(&self, name: &str) -> usize {
        let found = self.text.lines().position(|line| {
            line.strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with(['=', '.']))
        });
        found.map_or(0, |index| index + 1)
    }
}

/// The position of `word` in `line` as a whole word (no letter, digit or `_` on either side).
pub(crate) fn find_word(line: &str, word: &str) -> Option<usize> {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut from = 0;
    while let Some(found) = line[from..].find(word) {
        let start = from + found;
        let end = start + word.len();
        let before = line[..start].chars().next_back().is_some_and(of_word);
        let after = line[end..].chars().next().is_some_and(of_word);
        let open_start = !word.starts_with(of_word);
        let open_end = !word.ends_with(of_word);
        if (open_start || !before) && (open_end || !after) {
            return Some(start);
        }
        from = end;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_words_are_found() {
        assert_eq!(find_word("a unsafe b", "unsafe"), Some(2));
        assert_eq!(find_word("unsafe_code", "unsafe"), None);
        assert_eq!(find_word("std::fs::read", "std::fs"), Some(0));
        assert_eq!(find_word("x std::fsx", "std::fs"), None);
        assert_eq!(find_word("self.mean_ns(", "mean_ns("), Some(5));
    }

    #[test]
    fn a_module_declared_under_cfg_test_is_test_code() {
        let tree = Tree::of(&[
            ("crates/units/src/lib.rs", "mod bytes;\n#[cfg(test)]\nmod checks;\n"),
            ("crates/units/src/checks.rs", "mod cases;\n"),
            ("crates/units/src/checks/cases.rs", "fn f() {}\n"),
            ("crates/units/src/bytes.rs", "fn g() {}\n"),
        ]);
        let paths: Vec<_> = tree.product_code("units").map(|(path, _)| path).collect();
        assert_eq!(paths, ["crates/units/src/bytes.rs", "crates/units/src/lib.rs"]);
    }

    #[test]
    fn a_manifest_has_names_and_lines_of_dependencies() {
        let tree = Tree::of(&[(
            "crates/units/Cargo.toml",
            "[dependencies]\nserde = { workspace = true }\nlibc = \"0.2\"\n",
        )]);
        let manifest = &tree.manifests()[0];
        assert_eq!(manifest.names("dependencies"), ["libc", "serde"]);
        assert_eq!(manifest.line_of("libc"), 3);
    }
}
