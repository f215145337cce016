//! The trees of operations on names after the runs, in sentences.

use analysis::Findings;
use analysis::tree_check::TreeCheck;
use metrics::tree_comparison::NotCompared;
use units::{counted, thousands};

/// Whether the trees are what their operations must have left, and where that is not known; empty
/// without operations on names.
pub(crate) fn sentences(findings: &Findings) -> Vec<String> {
    let Some(check) = &findings.tree_check else { return Vec::new() };
    let mut sentences = Vec::new();
    if check.runs_compared > 0 {
        sentences.push(compared(check));
    }
    for (reason, runs) in NotCompared::ALL.into_iter().zip(check.not_compared) {
        if runs > 0 {
            let after = match u64::from(check.runs) {
                1 => String::new(),
                all => format!(" after {} of {} runs", thousands(runs.into()), thousands(all)),
            };
            let reason = reason_words(reason);
            sentences
                .push(format!("The tree was not compared with its operations{after}: {reason}."));
        }
    }
    sentences
}

/// `Compared the tree with its operations: 4,000 files, 30 directories, no differences.`
fn compared(check: &TreeCheck) -> String {
    let found = &check.found;
    let after = match u64::from(check.runs_compared) {
        1 => String::new(),
        runs => format!(" after each of {} runs", thousands(runs)),
    };
    let most = if check.runs_compared == 1 { "" } else { "up to " };
    let mut names = format!(
        "{most}{}, {}",
        counted(found.files, "file"),
        match found.directories {
            1 => "1 directory".to_owned(),
            directories => format!("{} directories", thousands(directories)),
        }
    );
    if found.symbolic_links > 0 {
        names.push_str(&format!(", {}", counted(found.symbolic_links, "symbolic link")));
    }
    let differences = match (found.differences, check.runs_compared) {
        (0, _) => "no differences".to_owned(),
        (differences, 1) => counted(differences, "difference"),
        (differences, _) => {
            let runs = counted(u64::from(check.runs_that_differ), "run");
            format!("{} in {runs}", counted(differences, "difference"))
        }
    };
    let mut sentence =
        format!("Compared the tree with its operations{after}: {names}, {differences}");
    if found.with_content {
        sentence.push_str("; every byte was read");
    }
    match found.unknown {
        0 => {}
        1 => {
            sentence.push_str("; 1 name that a failed operation may have changed was not compared")
        }
        names => sentence.push_str(&format!(
            "; {} names that failed operations may have changed were not compared",
            thousands(names)
        )),
    }
    sentence.push('.');
    sentence
}

/// Why a tree was not compared, in words.
const fn reason_words(reason: NotCompared) -> &'static str {
    match reason {
        NotCompared::RunEndedEarly => "the run did not complete",
        NotCompared::TooManyFailed => {
            "so many operations failed that what they changed is not known"
        }
        NotCompared::HostLost => "a host was lost, and what it changed is not known",
        NotCompared::Incomplete => "the comparison failed or was stopped",
    }
}

#[cfg(test)]
mod tests {
    use metrics::tree_comparison::ComparedTree;

    use super::*;

    #[test]
    fn a_compared_tree_is_stated_with_what_was_compared() {
        let found = ComparedTree { files: 4000, directories: 1, ..ComparedTree::default() };
        let one = TreeCheck { runs: 1, runs_compared: 1, found, ..TreeCheck::default() };
        assert_eq!(
            compared(&one),
            "Compared the tree with its operations: 4,000 files, 1 directory, no differences."
        );
        let found = ComparedTree {
            directories: 30,
            symbolic_links: 7,
            unknown: 2,
            differences: 3,
            with_content: true,
            ..found
        };
        let several = TreeCheck { runs: 3, runs_compared: 2, runs_that_differ: 1, found, ..one };
        assert_eq!(
            compared(&several),
            "Compared the tree with its operations after each of 2 runs: up to 4,000 files, 30 \
             directories, 7 symbolic links, 3 differences in 1 run; every byte was read; 2 names that \
             failed operations may have changed were not compared."
        );
    }
}
