//! One meaning per word: what `docs/glossary.md` says not to use, held in names and in texts.
//!
//! Only words that can be told from a line are here; "load" or "test" cannot. A place where the
//! word is right (another tool's option, the kernel's own name for a thing) stands in [`ALLOWED`]
//! with the reason.

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "words";

const GLOSSARY: &str = "docs/glossary.md";

/// A word of the glossary's right column and our word for it.
struct Banned {
    /// Words in lower case with a blank between them.
    word: &'static str,
    /// What we say.
    ours: &'static str,
}

const BANNED: &[Banned] = &[
    Banned { word: "iodepth", ours: "queue depth (the limit) or outstanding (what is)" },
    Banned { word: "io depth", ours: "queue depth (the limit) or outstanding (what is)" },
    Banned { word: "inflight", ours: "outstanding" },
    Banned { word: "in flight", ours: "outstanding" },
    Banned { word: "block size", ours: "transfer size" },
    Banned { word: "blocksize", ours: "transfer size" },
    Banned { word: "io size", ours: "transfer size" },
    Banned { word: "footprint", ours: "working set" },
    Banned { word: "dataset", ours: "working set" },
    Banned { word: "sweet spot", ours: "knee, with its method" },
    Banned { word: "hockey stick", ours: "curve" },
    Banned { word: "slave", ours: "agent" },
    Banned { word: "culprit", ours: "bottleneck" },
];

/// Names of modules that say nothing about what is in them.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "common", "misc", "manager", "managers", "helper", "helpers"];

/// Crates whose strings a user may read.
const SPOKEN: &[&str] = &[
    "workload", "metrics", "analysis", "predict", "sizing", "target", "engine", "host", "store",
    "runner", "report", "cli",
];

/// Where doc comments are what `--help` prints, by beginning and end.
const HELP: (&str, &str) = ("crates/cli/src/", "args.rs");

/// Documents that a user reads. The glossary itself, decisions and the method quote other tools.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "docs/guide/"];

/// A place where a word is right.
struct Allowed {
    /// Beginning of the path.
    path: &'static str,
    word: &'static str,
    /// Why.
    reason: &'static str,
}

const ALLOWED: &[Allowed] = &[
    Allowed {
        path: "crates/host/src/device.rs",
        word: "block size",
        reason: "the kernel's own names for a property of a disk",
    },
    Allowed {
        path: "crates/report/src/settings/fio.rs",
        word: "iodepth",
        reason: "fio's own name of an option",
    },
    Allowed {
        path: "crates/cli/src/foreign_options/table.rs",
        word: "iodepth",
        reason: "fio's own name of an option",
    },
    Allowed {
        path: "crates/cli/src/foreign_options/table.rs",
        word: "blocksize",
        reason: "fio's own name of an option",
    },
];

/// Names and strings of the code, texts of the documents, and this table against the glossary.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut used = vec![false; ALLOWED.len()];
    for (path, file) in tree.rust() {
        for (index, line) in file.parts.code.lines().enumerate() {
            for name in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                look(path, index, &words_of_name(name), "name", &mut used, &mut found);
            }
        }
        let spoken =
            SPOKEN.iter().any(|package| path.starts_with(&format!("crates/{package}/src/")));
        if spoken && !file.is_test {
            for (index, line) in file.parts.strings_without_tests().lines().enumerate() {
                look(path, index, &words_of_text(line), "text", &mut used, &mut found);
            }
        }
        if path.starts_with(HELP.0) && path.ends_with(HELP.1) {
            for (index, line) in file.parts.comments.lines().enumerate() {
                look(path, index, &words_of_text(line), "help text", &mut used, &mut found);
            }
        }
        if let Some(name) = empty_name(path) {
            found.push(Diagnostic {
                path: path.to_owned(),
                line: 0,
                rule: RULE,
                found: format!("a module named `{name}`"),
                remedy: "name it after what it is for, or put its items where they are used".into(),
            });
        }
    }
    for (path, text) in tree.texts() {
        let template = path.starts_with("crates/report/assets/")
            && (path.ends_with(".html") || path.ends_with(".jinja"));
        if template || DOCUMENTS.iter().any(|document| path.starts_with(document)) {
            for (index, line) in text.lines().enumerate() {
                look(path, index, &words_of_text(line), "text", &mut used, &mut found);
            }
        }
    }
    found.extend(check_table(tree, &used));
    found
}

/// Adds an offence for each banned word in ` words with blanks around `.
fn look(
    path: &str,
    index: usize,
    words: &str,
    kind: &str,
    used: &mut [bool],
    found: &mut Vec<Diagnostic>,
) {
    for banned in BANNED {
        if !words.contains(&format!(" {} ", banned.word)) {
            continue;
        }
        let excuse = ALLOWED
            .iter()
            .position(|allowed| allowed.word == banned.word && path.starts_with(allowed.path));
        if let Some(excuse) = excuse {
            used[excuse] = true;
            continue;
        }
        found.push(Diagnostic {
            path: path.to_owned(),
            line: index + 1,
            rule: RULE,
            found: format!("`{}` in a {kind}", banned.word),
            remedy: format!(
                "say {} ({GLOSSARY}); where another's name is meant, add the place to ALLOWED in \
                 xtask/src/tidy/words.rs with the reason",
                banned.ours
            ),
        });
    }
}

/// The table itself: every word stands in the glossary, every allowance is needed.
fn check_table(tree: &Tree, used: &[bool]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let mut push = |path: &str, what: String, remedy: &str| {
        let (path, remedy) = (path.to_owned(), remedy.to_owned());
        found.push(Diagnostic { path, line: 0, rule: RULE, found: what, remedy });
    };
    if let Some(glossary) = tree.text(GLOSSARY) {
        let glossary = words_of_text(&glossary.replace('\n', " "));
        for banned in BANNED {
            if !glossary.contains(&format!(" {} ", banned.word)) {
                let what =
                    format!("the glossary does not say that `{}` is not our word", banned.word);
                push(GLOSSARY, what, "add it to the right column, or drop it from words.rs");
            }
        }
    }
    for (allowed, used) in ALLOWED.iter().zip(used) {
        if tree.has(allowed.path.trim_end_matches('/')) && !used {
            let what = format!(
                "`{}` is allowed here but is not here (reason given: {})",
                allowed.word, allowed.reason
            );
            push(allowed.path, what, "drop the line from ALLOWED in xtask/src/tidy/words.rs");
        }
    }
    found
}

/// The words of an identifier in lower case, with blanks between and around: `QueueDepth`,
/// `queue_depth` and `QUEUE_DEPTH` are ` queue depth `.
fn words_of_name(name: &str) -> String {
    let mut words = String::from(" ");
    let mut before_lower = false;
    for c in name.chars() {
        if c == '_' {
            words.push(' ');
        } else {
            if c.is_uppercase() && before_lower {
                words.push(' ');
            }
            words.extend(c.to_lowercase());
        }
        before_lower = c.is_lowercase();
    }
    words.push(' ');
    words
}

/// The words of a text in lower case, with one blank between and around.
fn words_of_text(text: &str) -> String {
    let lower = text.to_lowercase().replace("i/o", "io");
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    format!(" {} ", words.collect::<Vec<_>>().join(" "))
}

fn empty_name(path: &str) -> Option<&str> {
    let name = path.strip_suffix("/mod.rs").unwrap_or(path.strip_suffix(".rs")?);
    let name = name.rsplit('/').next()?;
    EMPTY_NAMES.contains(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|diagnostic| diagnostic.line).collect()
    }

    #[test]
    fn each_banned_word_is_an_offence_in_a_name_and_in_a_text() {
        for banned in BANNED {
            let snake = banned.word.replace(' ', "_");
            let name = format!("\nfn the_{snake}_of() {{}}\n");
            assert_eq!(offences("crates/engine/src/a.rs", &name), [2], "{}", banned.word);
            let text = format!("const A: &str = \"mean {} seen\";\n", banned.word);
            assert_eq!(offences("crates/cli/src/a.rs", &text), [1], "{}", banned.word);
        }
    }

    #[test]
    fn names_in_capitals_and_camels_are_read_word_by_word() {
        assert_eq!(words_of_name("QueueDepth"), " queue depth ");
        assert_eq!(words_of_name("QUEUE_DEPTH"), " queue depth ");
        assert_eq!(offences("crates/engine/src/a.rs", "struct InFlight;\n"), [1]);
    }

    #[test]
    fn a_part_of_a_longer_word_is_no_offence() {
        let code = "let lightweight = 1; // footprint\nlet a = datasets;\n";
        assert_eq!(offences("crates/engine/src/a.rs", code), Vec::<usize>::new());
    }

    #[test]
    fn texts_of_tests_and_of_the_projects_tools_are_free() {
        assert_eq!(
            offences("xtask/src/bench.rs", "const A: &str = \"--iodepth\";\n"),
            Vec::<usize>::new()
        );
        assert_eq!(
            offences("crates/cli/tests/a.rs", "const A: &str = \"iodepth\";\n"),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn templates_and_documents_for_users_are_read() {
        assert_eq!(offences("crates/report/assets/report.html", "<p>\nFootprint</p>\n"), [2]);
        assert_eq!(offences("README.md", "small footprint\n"), [1]);
        assert_eq!(offences("docs/method.md", "small footprint\n"), Vec::<usize>::new());
    }

    #[test]
    fn help_texts_are_read() {
        for path in ["crates/cli/src/args.rs", "crates/cli/src/run_args.rs"] {
            assert_eq!(offences(path, "/// Mean footprint.\nstruct A;\n"), [1], "{path}");
        }
        assert_eq!(
            offences("crates/cli/src/live.rs", "/// Mean footprint.\n"),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn a_module_whose_name_says_nothing_is_an_offence() {
        assert_eq!(offences("crates/engine/src/utils.rs", ""), [0]);
        assert_eq!(offences("crates/engine/src/helpers/mod.rs", ""), [0]);
    }

    #[test]
    fn a_word_that_the_glossary_does_not_know_is_an_offence() {
        let found = check(&Tree::of(&[(GLOSSARY, "| **outstanding** | … | inflight |\n")]));
        assert_eq!(found.len(), BANNED.len() - 1);
    }
}
