//! Retired words do not return: they make names and comments hard to read.
//!
//! CONTRIBUTING.md describes the language. A word is listed here if this program has no good use
//! for it, so that a match is nearly always a sentence to rewrite. The rule covers the whole tree.

use super::tree::{Diagnostic, Tree};
use super::words::{has_any, words_of};

pub(crate) const RULE: &str = "retired-words";

/// Words and phrases, and what to write instead.
const RETIRED: &[(&str, &str)] = &[
    ("told", "reported, counted, listed, known"),
    ("held back", "delayed, deferred"),
    ("held against", "compared with, checked against"),
    ("beside", "next to, compared with"),
    ("nobody", "the actor: no user, no caller, nothing"),
    ("somebody", "the actor: a user, another process"),
    ("whoever", "the actor: the caller, the client"),
    ("of its own", "separate, own"),
    ("of ours", "our"),
    ("of theirs", "their"),
    ("another hand", "third-party, independent"),
    ("asked for", "requested, required"),
    ("let go", "sent, released"),
    ("goes on", "continues"),
    ("go on", "continue"),
    ("stands in", "is in, is stored in"),
    ("whence", "source, origin"),
    ("wish", "requirement, request, next step"),
    ("at once", "immediately, at the same time"),
];

/// Retired as names, because a dozen things were called so.
const RETIRED_NAMES: &[(&str, &str)] =
    &[("place", "index, offset, position, location, path, address")];

/// Files that quote retired words: this list, and the examples of the table of language.
const QUOTING: &[&str] = &["CONTRIBUTING.md", "xtask/src/tidy/retired.rs"];

/// The document whose code spans name flags and keys of earlier versions.
const HISTORY: &str = "CHANGELOG.md";

/// Flags of earlier versions, which are still accepted.
const OLD_FLAGS: &[&str] = &["beside-published"];

/// Names, comments, strings and documents, except records of benches.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let is_checked = |path: &str| !path.starts_with("bench/runs/") && !QUOTING.contains(&path);
    let mut found = Vec::new();
    for (path, file) in tree.rust().filter(|(path, _)| is_checked(path)) {
        let text = if has_any(&file.text, RETIRED) { file.text.as_str() } else { "" };
        for (index, line) in text.lines().enumerate() {
            let line = OLD_FLAGS.iter().fold(line.to_owned(), |line, flag| line.replace(flag, ""));
            check_line(path, index, &line, RETIRED, &mut found);
        }
        let code = &file.parts.code;
        let code = if has_any(code, RETIRED_NAMES) { code.as_str() } else { "" };
        for (index, line) in code.lines().enumerate() {
            // "In place" is the usual term for an update without a copy.
            let line = line.replace("in_place", "").replace("InPlace", "");
            check_line(path, index, &line, RETIRED_NAMES, &mut found);
        }
    }
    for (path, text) in tree.texts().filter(|(path, _)| is_checked(path)) {
        if !path.ends_with(".md") {
            continue;
        }
        for (index, line) in text.lines().enumerate() {
            match path {
                HISTORY => check_line(path, index, &without_spans(line), RETIRED, &mut found),
                _ => check_line(path, index, line, RETIRED, &mut found),
            }
        }
    }
    found
}

/// A line of Markdown without its code spans.
fn without_spans(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join(" ")
}

fn check_line(
    path: &str,
    index: usize,
    line: &str,
    words: &[(&str, &str)],
    found: &mut Vec<Diagnostic>,
) {
    let line = words_of(line);
    for (retired, instead) in words {
        if line.contains(&format!(" {retired} ")) {
            found.push(Diagnostic {
                path: path.to_owned(),
                line: index + 1,
                rule: RULE,
                found: format!("the retired word `{retired}`"),
                remedy: format!("rewrite the sentence; for example: {instead}"),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|diagnostic| diagnostic.line).collect()
    }

    #[test]
    fn each_retired_word_is_reported_in_names_comments_strings_and_documents() {
        for (word, _) in RETIRED {
            let snake = word.replace(' ', "_");
            let code = format!("fn is_{snake}() {{}}\n// It is {word} so.\nlet a = \"{word}\";\n");
            assert_eq!(lines("bench/src/a.rs", &code), [1, 2, 3], "{word}");
            assert_eq!(lines("README.md", &format!("It is\n{word} so.\n")), [2], "{word}");
        }
    }

    #[test]
    fn a_retired_name_is_reported_only_as_a_name() {
        let code = "// takes place\nlet first_place = 1;\nsort_in_place();\nInPlace;\nreplace();\n";
        assert_eq!(lines("bench/src/a.rs", code), [2]);
    }

    #[test]
    fn files_that_quote_retired_words_and_records_of_benches_are_not_checked() {
        for path in ["CONTRIBUTING.md", "bench/runs/2026-11-21-a/README.md"] {
            assert_eq!(lines(path, "// told\n"), Vec::<usize>::new(), "{path}");
        }
        assert_eq!(lines("docs/method.md", "told\n"), [1]);
    }

    #[test]
    fn names_of_earlier_versions_are_allowed_as_flags_and_in_the_changelog() {
        let code = format!("alias = \"{}\"\nlet told = 1;\n", OLD_FLAGS[0]);
        assert_eq!(lines("crates/cli/src/a.rs", &code), [2]);
        assert_eq!(lines("CHANGELOG.md", "`not_told` is now `unknown`.\nIt is told.\n"), [2]);
    }
}
