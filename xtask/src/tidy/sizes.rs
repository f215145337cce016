//! Lists the ten largest files, for information; file size is not a rule.

use std::fmt::Write;

use super::tree::Tree;

/// The ten largest Rust files, with their numbers of lines.
pub(crate) fn report(tree: &Tree) -> String {
    let mut sizes: Vec<(usize, &str)> =
        tree.rust().map(|(path, file)| (file.text.lines().count(), path)).collect();
    sizes.sort_by(|a, b| b.cmp(a));
    let mut text = String::from(
        "the ten largest files (beyond 500 lines, check whether a file contains two things):",
    );
    for (lines, path) in sizes.iter().take(10) {
        write!(text, "\n  {lines:5}  {path}").expect("writing to a string cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ten_largest_files_are_listed_largest_first() {
        let files: Vec<(String, String)> =
            (0..12).map(|i| (format!("crates/units/src/f{i:02}.rs"), "\n".repeat(i))).collect();
        let files: Vec<(&str, &str)> =
            files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect();
        let text = report(&Tree::of(&files));
        let listed: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(listed.len(), 10);
        assert!(listed[0].ends_with("f11.rs") && listed[9].ends_with("f02.rs"));
    }
}
