//! Links in documents work: linked files exist and anchors are headings. Paths in backticks that
//! start at the root of the repository exist. The guide is complete: every document of `docs/` is in its
//! contents and links only to documents of `docs/`, so that the links work on its site too.

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "links";

/// Folders at the root. A path in backticks that starts with one of them is checked.
const TOP: [&str; 7] = ["crates/", "xtask/", "docs/", "data/", "examples/", "tests/", "bench/"];

/// The folder of the guide.
const GUIDE: &str = "docs/";

/// The contents of the guide.
const CONTENTS: &str = "docs/SUMMARY.md";

/// All links and paths of all Markdown files. Links to other hosts are not followed: tests use no
/// network.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (line, link) in links(text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            if let Some(what) = broken(tree, path, &link) {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line,
                    rule: RULE,
                    found: format!("broken link `{link}`: {what}"),
                    remedy: "correct the path (relative to the document) or the heading".into(),
                });
            }
        }
        // A record of a bench names paths of its commit.
        if path.starts_with("bench/runs/") {
            continue;
        }
        for (line, named) in paths(text).filter(|(_, named)| !exists(tree, named)) {
            found.push(Diagnostic {
                path: path.to_owned(),
                line,
                rule: RULE,
                found: format!("`{named}` does not exist"),
                remedy: "correct the path (relative to the root of the repository)".into(),
            });
        }
    }
    found.extend(missing_in_contents(tree));
    found
}

/// Documents of the guide that its contents do not list.
fn missing_in_contents(tree: &Tree) -> Vec<Diagnostic> {
    let Some(contents) = tree.text(CONTENTS) else { return Vec::new() };
    let listed: Vec<String> =
        links(contents).iter().map(|(_, link)| resolve(CONTENTS, link)).collect();
    let is_page = |path: &str| path.starts_with(GUIDE) && path.ends_with(".md") && path != CONTENTS;
    let pages = tree.texts().map(|(path, _)| path).filter(|path| is_page(path));
    let missing = pages.filter(|page| !listed.iter().any(|listed| listed == page));
    missing
        .map(|page| Diagnostic {
            path: page.to_owned(),
            line: 0,
            rule: RULE,
            found: format!("the document is not in {CONTENTS}"),
            remedy: "add it there".into(),
        })
        .collect()
}

/// `(line, path)` of every path in backticks that starts with a folder of [`TOP`], outside code
/// blocks.
fn paths(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let spans = outside_blocks(text)
        .flat_map(|(line, text)| text.split('`').skip(1).step_by(2).map(move |span| (line, span)));
    spans.filter(|(_, span)| {
        TOP.iter().any(|top| span.starts_with(top)) && !span.contains(char::is_whitespace)
    })
}

/// Whether a path exists; for `data/*.toml`, whether the folder does.
fn exists(tree: &Tree, named: &str) -> bool {
    let folder = named.split_once('*').map(|(before, _)| before.rsplit_once('/'));
    let path = folder.map_or(named, |before| before.map_or("", |(folder, _)| folder));
    tree.has(path.trim_end_matches('/'))
}

fn broken(tree: &Tree, from: &str, link: &str) -> Option<String> {
    let (file, anchor) = link.split_once('#').map_or((link, None), |(f, a)| (f, Some(a)));
    let to = if file.is_empty() { from.to_owned() } else { resolve(from, file) };
    if !tree.has(to.trim_end_matches('/')) {
        return Some(format!("no file `{to}`"));
    }
    if from.starts_with(GUIDE) && !to.starts_with(GUIDE) {
        return Some(format!("`{to}` is not in {GUIDE}: name it in backticks, without a link"));
    }
    let anchor = anchor?;
    let text = tree.text(&to)?;
    let exists = headings(text).iter().any(|heading| heading == anchor);
    (!exists).then(|| format!("no heading `{anchor}` in `{to}`"))
}

/// The path from the root for `link` in the document `from`.
fn resolve(from: &str, link: &str) -> String {
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in link.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

/// `(line, destination)` of every inline link and link reference outside code.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut links = Vec::new();
    for (line, prose) in prose(text) {
        let mut rest = prose.as_str();
        while let Some(at) = rest.find("](") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find([')', ' ']) else { break };
            links.push((line, rest[..end].to_owned()));
        }
        let reference = prose.strip_prefix('[').and_then(|rest| rest.split_once("]: "));
        if let Some((_, destination)) = reference {
            links.push((line, destination.trim().to_owned()));
        }
    }
    links
}

/// The lines outside code blocks, without code spans.
fn prose(text: &str) -> impl Iterator<Item = (usize, String)> {
    outside_blocks(text).map(|(line, text)| (line, text.split('`').step_by(2).collect()))
}

/// The lines outside code blocks, with their numbers.
fn outside_blocks(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            return None;
        }
        (!in_code).then_some((index + 1, line))
    })
}

/// The anchors of a document's headings, as GitHub forms them.
fn headings(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut anchors: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let title = line.trim_start_matches('#');
        if in_code || title == line || !title.starts_with(' ') {
            continue;
        }
        let kept = title.trim().to_lowercase();
        let kept = kept.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let same = anchors.iter().filter(|other| **other == anchor).count();
        anchors.push(if same == 0 { anchor } else { format!("{anchor}-{same}") });
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_to_a_missing_file_is_reported() {
        let tree =
            Tree::of(&[("bench/a.md", "1\n[b](b.md) [up](../README.md)\n"), ("README.md", "")]);
        let found = check(&tree);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
        assert!(found[0].found.contains("no file `bench/b.md`"));
    }

    #[test]
    fn the_guide_lists_all_of_its_documents_and_links_only_to_them() {
        let tree = Tree::of(&[
            ("docs/SUMMARY.md", "- [a](guide/a.md)\n"),
            ("docs/guide/a.md", "[b](../b.md)\n[up](../../README.md)\n"),
            ("docs/b.md", ""),
            ("README.md", ""),
        ]);
        let found = check(&tree);
        let found: Vec<_> = found.iter().map(|one| (one.path.as_str(), one.line)).collect();
        assert_eq!(found, [("docs/guide/a.md", 2), ("docs/b.md", 0)]);
    }

    #[test]
    fn a_link_to_a_missing_heading_is_reported() {
        let text = "# The first, `code` too\n[good](#the-first-code-too) [bad](#second)\n";
        let found = check(&Tree::of(&[("README.md", text)]));
        assert_eq!(found.len(), 1);
        assert!(found[0].found.contains("#second"));
    }

    #[test]
    fn code_other_hosts_and_folders_are_not_reported() {
        let text = "```\n[x](y)\n```\n`[x](y)` [h](https://example.org) [d](docs/adr/)\n";
        let tree = Tree::of(&[("README.md", text), ("docs/adr/0001.md", "")]);
        assert_eq!(check(&tree), []);
    }

    #[test]
    fn a_broken_link_reference_is_reported() {
        let found = check(&Tree::of(&[("README.md", "see [x]\n\n[x]: gone.md\n")]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 3);
    }

    #[test]
    fn a_missing_path_in_backticks_is_reported() {
        let text = "`docs/a.md`, `crates/x/gone.rs`\n`docs/` `docs/*.md` `cargo x` `bench/runs o`\n\
                    ```\n`data/none`\n```\n`data/*.toml` `src/lib.rs`\n";
        let found = check(&Tree::of(&[("docs/a.md", text)]));
        let lines: Vec<_> = found.iter().map(|one| (one.line, one.found.as_str())).collect();
        let record = Tree::of(&[("bench/runs/a/README.md", "`crates/x/gone.rs`\n")]);
        assert_eq!(check(&record), []);
        let gone = |path: &str| format!("`{path}` does not exist");
        assert_eq!(lines, [(1, gone("crates/x/gone.rs").as_str()), (6, &gone("data/*.toml"))]);
    }
}
