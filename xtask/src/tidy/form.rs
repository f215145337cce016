//! The form of files: line length, nothing unfinished, nothing that names a machine.

use super::tree::{Diagnostic, Tree, find_word};

pub(crate) const RULE: &str = "form";

/// Most characters in a line of Rust.
const LINE_LENGTH: usize = 100;

/// What stands for work that was not done.
const UNFINISHED: &[(&str, &str)] = &[
    ("todo!", "write it, or leave it out and say so in a document"),
    ("unimplemented!", "write it, or leave it out and say so in a document"),
    ("#[ignore", "make the test pass everywhere or delete it; nothing is skipped"),
];

/// Words in comments that promise work for later.
const PROMISES: &[&str] = &["TODO", "FIXME", "XXX"];

/// Beginnings of paths that exist on somebody's machine only. Put together here so that this file
/// does not offend against itself.
const MACHINE_PATHS: &[&str] =
    &[concat!("/ho", "me/"), concat!("/ro", "ot/"), concat!("/Us", "ers/"), concat!("/wo", "rk/")];

/// Files whose text is not ours.
const FOREIGN: &[&str] = &["crates/report/assets/vendor/", "package-lock.json"];

/// Every text file of ours.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, file) in tree.rust() {
        check_rust(path, &file.text, &file.parts.code, &file.parts.comments, &mut found);
        check_paths(path, &file.text, &mut found);
    }
    for (path, text) in tree.texts() {
        let minified = text.lines().any(|line| line.len() > 5_000);
        if !minified && !FOREIGN.iter().any(|foreign| path.contains(foreign)) {
            check_paths(path, text, &mut found);
        }
    }
    found
}

fn check_rust(path: &str, text: &str, code: &str, comments: &str, found: &mut Vec<Diagnostic>) {
    let mut push = |line: usize, what: String, remedy: &str| {
        found.push(Diagnostic {
            path: path.to_owned(),
            line: line + 1,
            rule: RULE,
            found: what,
            remedy: remedy.to_owned(),
        });
    };
    let parts = code.lines().zip(comments.lines());
    for (index, (line, (code, comments))) in text.lines().zip(parts).enumerate() {
        let length = line.chars().count();
        // A line inside a string is what the program prints or expects, of whatever length.
        let is_ours = !code.trim().is_empty() || !comments.trim().is_empty();
        if length > LINE_LENGTH && is_ours && !line.contains("https://") {
            push(index, format!("{length} characters in a line"), "break it at 100");
        }
    }
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
                push(index, format!("a comment that says {word}"), "do it, or say what is so now");
            }
        }
    }
}

fn check_paths(path: &str, text: &str, found: &mut Vec<Diagnostic>) {
    for (index, line) in text.lines().enumerate() {
        for prefix in MACHINE_PATHS {
            // Only where a path begins: `target/work/` and `https://x/home/` are something else.
            let begins = line.match_indices(prefix).any(|(at, _)| {
                let before = line[..at].chars().next_back();
                !before.is_some_and(|c| c.is_alphanumeric() || "._-/}>".contains(c))
            });
            if begins {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: index + 1,
                    rule: RULE,
                    found: format!("a path that begins with `{prefix}`"),
                    remedy: "take the place from the caller, or make it under the test's own \
                             temporary folder"
                        .into(),
                });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offences(text: &str) -> Vec<usize> {
        let tree = Tree::of(&[("crates/units/src/lib.rs", text)]);
        check(&tree).iter().map(|diagnostic| diagnostic.line).collect()
    }

    #[test]
    fn a_line_of_more_than_a_hundred_characters_is_an_offence() {
        assert_eq!(offences(&format!("\n// {}\n", "x".repeat(97))), Vec::<usize>::new());
        assert_eq!(offences(&format!("\n// {}\n", "x".repeat(98))), [2]);
        let text = format!("const A: &str = r#\"\n{}\n\"#;\n", "x".repeat(200));
        assert_eq!(offences(&text), Vec::<usize>::new());
        assert_eq!(
            offences(&format!("// https://e.org/{}\n", "x".repeat(98))),
            Vec::<usize>::new()
        );
    }

    #[test]
    fn unfinished_work_is_an_offence() {
        assert_eq!(offences(concat!("fn f() { to", "do!() }\n")), [1]);
        assert_eq!(offences(concat!("fn f() { unimplemen", "ted!() }\n")), [1]);
        assert_eq!(offences(concat!("#[test]\n#[ig", "nore]\nfn f() {}\n")), [2]);
        assert_eq!(offences(concat!("// TO", "DO: later\n")), [1]);
    }

    #[test]
    fn a_path_of_somebodys_machine_is_an_offence() {
        let line = format!("const A: &str = \"{}\";\n", concat!("/ho", "me/ann/x"));
        assert_eq!(offences(&line), [1]);
        let document = format!("see {}\n", concat!("/wo", "rk/x"));
        let tree = Tree::of(&[("README.md", &document)]);
        assert_eq!(check(&tree).len(), 1);
        assert_eq!(offences("const A: &str = \"target/work/x\";\n"), Vec::<usize>::new());
    }
}
