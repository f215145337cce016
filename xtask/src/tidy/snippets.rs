//! Experiments shown in documents are experiments: each parses and resolves.

use workload::experiment::parse;

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "snippets";

/// Every block of TOML in a document that has a stream.
pub(crate) fn check(tree: &Tree) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        for (begins, block) in blocks(text).into_iter().filter(|(_, b)| b.contains("[stream.")) {
            for mistake in parse(&block, path).err().unwrap_or_default() {
                found.push(Diagnostic {
                    path: path.to_owned(),
                    line: begins + mistake.line as usize,
                    rule: RULE,
                    found: format!("an experiment that is none: {}", mistake.message),
                    remedy: format!("allowed: {}", mistake.allowed),
                });
            }
        }
    }
    found
}

/// `(line of the opening fence, text)` of every block marked as TOML.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut blocks: Vec<(usize, String)> = Vec::new();
    let mut inside = false;
    for (index, line) in text.lines().enumerate() {
        if line.starts_with("```") {
            inside = !inside && line == "```toml";
            if inside {
                blocks.push((index + 1, String::new()));
            }
        } else if inside && let Some((_, block)) = blocks.last_mut() {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "name = \"a\"\n[stream.main]\nread = \"70%\"\ntransfer_size = \"8KiB\"\n\
                        pattern = \"random\"\nfile_size = \"1GiB\"\nqueue_depth = 4\n";

    #[test]
    fn an_experiment_that_parses_is_no_offence() {
        let text = format!("# A\n```toml\n{GOOD}```\n```toml\n[dependencies]\n```\n");
        assert_eq!(check(&Tree::of(&[("README.md", &text)])), []);
    }

    #[test]
    fn an_experiment_with_a_mistake_is_an_offence_at_its_line() {
        let text = format!("# A\n```toml\n{}```\n", GOOD.replace("70%", "170%"));
        let found = check(&Tree::of(&[("docs/guide/a.md", &text)]));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 5);
    }
}
