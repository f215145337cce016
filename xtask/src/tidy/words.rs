//! One meaning per word: enforces part of `docs/glossary.md` in names, strings and documents.
//!
//! Only words that would be ambiguous as the name of a type, a field or a table column, and that a
//! single line can reveal.

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "words";

const GLOSSARY: &str = "docs/glossary.md";

/// Words of the glossary's last column, in lower case with blanks between them, and the word to use
/// instead.
const BANNED: &[(&str, &str)] = &[
    ("io size", "transfer size (of an operation), or rsize and wsize (of a call)"),
    ("dataset", "working set"),
    ("sweet spot", "knee, with its method"),
    ("slave", "agent"),
];

/// Names of modules that do not tell what is in them.
const EMPTY_NAMES: &[&str] =
    &["util", "utils", "common", "misc", "manager", "managers", "helper", "helpers"];

/// Documents for users. The glossary, ADRs and the method may quote other tools.
const DOCUMENTS: &[&str] = &["README.md", "CHANGELOG.md", "docs/guide/"];

/// Names and strings of the product, documents for users, and the glossary.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, file) in tree.rust() {
        if has_any(&file.parts.code, BANNED) {
            for (index, line) in file.parts.code.lines().enumerate() {
                for name in line.split(|c: char| !c.is_alphanumeric() && c != '_') {
                    check_line(path, index, &words_of(name), "name", &mut found);
                }
            }
        }
        if path.starts_with("crates/") && path.contains("/src/") && !file.is_test {
            let strings = file.parts.strings_without_tests();
            if has_any(&strings, BANNED) {
                for (index, line) in strings.lines().enumerate() {
                    check_line(path, index, &words_of(line), "string", &mut found);
                }
            }
        }
        if let Some(name) = empty_name(path) {
            found.push(Diagnostic {
                path: path.to_owned(),
                line: 0,
                rule: RULE,
                found: format!("a module named `{name}`"),
                remedy: "name it after its purpose, or put its items where they are used".into(),
            });
        }
    }
    let is_checked = |path: &str| {
        let is_template = path.starts_with("crates/report/assets/")
            && (path.ends_with(".html") || path.ends_with(".jinja"));
        is_template || DOCUMENTS.iter().any(|document| path.starts_with(document))
    };
    for (path, text) in tree.texts().filter(|(path, _)| is_checked(path)) {
        for (index, line) in text.lines().enumerate() {
            check_line(path, index, &words_of(line), "text", &mut found);
        }
    }
    found.extend(check_glossary(tree));
    found
}

/// Adds a diagnostic for each banned word in `words`, which has blanks around each word.
fn check_line(path: &str, index: usize, words: &str, kind: &str, found: &mut Vec<Diagnostic>) {
    for (banned, instead) in BANNED {
        if words.contains(&format!(" {banned} ")) {
            found.push(Diagnostic {
                path: path.to_owned(),
                line: index + 1,
                rule: RULE,
                found: format!("`{banned}` in a {kind}"),
                remedy: format!("use {instead} ({GLOSSARY})"),
            });
        }
    }
}

/// Every banned word must be in the glossary.
fn check_glossary(tree: &Tree) -> Vec<Diagnostic> {
    let Some(glossary) = tree.text(GLOSSARY) else { return Vec::new() };
    let glossary = words_of(&glossary.replace('\n', " "));
    let unknown = BANNED.iter().filter(|(word, _)| !glossary.contains(&format!(" {word} ")));
    unknown
        .map(|(word, _)| Diagnostic {
            path: GLOSSARY.to_owned(),
            line: 0,
            rule: RULE,
            found: format!("the banned word `{word}` is missing"),
            remedy: "add it to the last column, or remove it from BANNED in words.rs".into(),
        })
        .collect()
}

/// The words of a name or a text in lower case, with blanks between and around them: `QueueDepth`,
/// `queue_depth` and `queue depth` are all ` queue depth `.
pub(super) fn words_of(text: &str) -> String {
    let mut words = String::from(" ");
    let mut previous = ' ';
    for c in text.replace("I/O", "IO").chars() {
        let starts_word = c.is_uppercase() && previous.is_lowercase();
        if (starts_word || !c.is_alphanumeric()) && !words.ends_with(' ') {
            words.push(' ');
        }
        if c.is_alphanumeric() {
            words.extend(c.to_lowercase());
        }
        previous = c;
    }
    if !words.ends_with(' ') {
        words.push(' ');
    }
    words
}

/// Whether `text` has one of these phrases, perhaps over the end of a line or of a name: of most
/// texts the lines need not be checked.
pub(super) fn has_any(text: &str, phrases: &[(&str, &str)]) -> bool {
    let words = words_of(text);
    phrases.iter().any(|(phrase, _)| words.contains(&format!(" {phrase} ")))
}

fn empty_name(path: &str) -> Option<&str> {
    let name = path.strip_suffix("/mod.rs").unwrap_or(path.strip_suffix(".rs")?);
    let name = name.rsplit('/').next()?;
    EMPTY_NAMES.contains(&name).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Tree::of(&[(path, text)])).iter().map(|diagnostic| diagnostic.line).collect()
    }

    #[test]
    fn each_banned_word_is_reported_in_a_name_and_in_a_string() {
        for (word, _) in BANNED {
            let snake = word.replace(' ', "_");
            let name = format!("\nfn the_{snake}_of() {{}}\n");
            assert_eq!(lines("crates/engine/src/a.rs", &name), [2], "{word}");
            let text = format!("const A: &str = \"mean {word} seen\";\n");
            assert_eq!(lines("crates/cli/src/a.rs", &text), [1], "{word}");
        }
    }

    #[test]
    fn names_and_texts_are_split_into_words() {
        for text in ["QueueDepth", "queue_depth", "QUEUE_DEPTH", "queue depth", "(queue) depth."] {
            assert_eq!(words_of(text), " queue depth ", "{text}");
        }
        assert_eq!(words_of("I/O size"), " io size ");
    }

    #[test]
    fn part_of_a_longer_word_is_not_reported() {
        let code = "let a = datasets; // dataset\n";
        assert_eq!(lines("crates/engine/src/a.rs", code), Vec::<usize>::new());
    }

    #[test]
    fn strings_of_tests_and_tools_are_not_checked() {
        let text = "const A: &str = \"dataset\";\n";
        for path in ["bench/src/fio/peer.rs", "crates/cli/tests/a.rs"] {
            assert_eq!(lines(path, text), Vec::<usize>::new(), "{path}");
        }
    }

    #[test]
    fn templates_and_documents_for_users_are_checked() {
        assert_eq!(lines("crates/report/assets/report.html", "<p>\nDataset</p>\n"), [2]);
        assert_eq!(lines("README.md", "small dataset\n"), [1]);
        assert_eq!(lines("docs/method.md", "small dataset\n"), Vec::<usize>::new());
    }

    #[test]
    fn a_module_with_an_empty_name_is_reported() {
        assert_eq!(lines("crates/engine/src/utils.rs", ""), [0]);
        assert_eq!(lines("crates/engine/src/helpers/mod.rs", ""), [0]);
    }

    #[test]
    fn a_banned_word_that_the_glossary_lacks_is_reported() {
        let found = check(&Tree::of(&[(GLOSSARY, "| **working set** | … | dataset |\n")]));
        assert_eq!(found.len(), BANNED.len() - 1);
    }
}
