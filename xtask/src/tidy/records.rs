//! Records of benches are renewed: each bench of the data path has one whose program is at most
//! [`COMMITS_MAX`] commits older, counting those that change what the bench measures.
//!
//! An old record is a warning, because a new one needs a quiet machine; before a release it is an
//! error (`cargo xtask tidy --release`). A clone without the history cannot tell, and reports
//! nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use super::tree::{Diagnostic, Tree};

pub(crate) const RULE: &str = "records";

/// How many commits may change the data path after a record.
const COMMITS_MAX: u32 = 50;

/// The crates of the data path.
const MEASURED: [&str; 6] = [
    "crates/engine",
    "crates/uring",
    "crates/metrics",
    "crates/target",
    "crates/nfs3",
    "crates/volume",
];

/// The benches of the data path, by the word after `cargo xtask bench`; without one it is the
/// comparison with fio.
const BENCHES: [&str; 4] = ["", "nfs", "names", "near-far"];

const RECORDS: &str = "bench/runs/";

/// Old records. `commits_since` returns how many commits have changed the data path since a commit;
/// `None` if that is unknown.
pub(crate) fn check(tree: &Tree, commits_since: &dyn Fn(&str) -> Option<u32>) -> Vec<Diagnostic> {
    // By bench: the path of the newest record, and the commits since its program.
    let mut newest: BTreeMap<&str, (&str, u32)> = BTreeMap::new();
    for (path, text) in tree.texts() {
        let is_record = path.starts_with(RECORDS) && path.ends_with("/README.md");
        let bench = bench_of(text).filter(|bench| is_record && BENCHES.contains(bench));
        let (Some(bench), Some(commit)) = (bench, commit_of(text)) else { continue };
        let Some(commits) = commits_since(commit) else { continue };
        let known = newest.entry(bench).or_insert((path, commits));
        if commits < known.1 {
            *known = (path, commits);
        }
    }
    let old = newest.into_iter().filter(|(_, (_, commits))| *commits > COMMITS_MAX);
    old.map(|(bench, (path, commits))| Diagnostic {
        path: path.to_owned(),
        line: 0,
        rule: RULE,
        found: format!(
            "the newest record of this bench is {commits} commits older than the data path; the \
             maximum is {COMMITS_MAX}"
        ),
        remedy: format!("on a quiet machine: {}", format!("cargo xtask bench {bench}").trim_end()),
    })
    .collect()
}

/// The bench of a record, from the command in it; `None` if the program was compared with an older
/// build.
fn bench_of(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("Command: `cargo xtask bench"))?;
    let (command, _) = line.split_once('`')?;
    if command.contains("--before") {
        return None;
    }
    let word = command.split_ascii_whitespace().next().unwrap_or_default();
    Some(if word.starts_with('-') { "" } else { word })
}

/// The commit of the measured program: `fourcorners: commit 05a74f3, changed.`
fn commit_of(text: &str) -> Option<&str> {
    let line = text.lines().find_map(|line| line.strip_prefix("fourcorners: commit "))?;
    let end = line.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(line.len());
    Some(&line[..end]).filter(|commit| !commit.is_empty())
}

/// Asks git in the repository at `root`. `None` without git, without a repository, or if the commit
/// is not in a shallow or different history.
pub(crate) fn commits_since(root: &Path, commit: &str) -> Option<u32> {
    let range = format!("{commit}..HEAD");
    let mut git = Command::new("git");
    git.current_dir(root).args(["rev-list", "--count", &range, "--"]).args(MEASURED);
    let output = git.output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bench: &str, commit: &str) -> String {
        format!(
            "# Bench\n\nfourcorners: commit {commit}, changed.\nCommand: `cargo xtask bench{bench}`\n"
        )
    }

    #[test]
    fn only_the_newest_record_of_each_bench_must_be_recent() {
        let texts = [
            ("bench/runs/1-nfs/README.md", record(" nfs --rounds 5 --seconds 4", "a00")),
            ("bench/runs/2-nfs/README.md", record(" nfs --rounds 5 --seconds 4 memory", "b00")),
            ("bench/runs/1/README.md", record(" --pairs 5 --seconds 6", "a00")),
            ("bench/runs/2-before/README.md", record(" --pairs 5 --before PROGRAM", "b00")),
            ("bench/runs/1-waits/README.md", record(" waits", "a00")),
            ("bench/runs/1-names/README.md", record(" names", "c00")),
            ("docs/method.md", record(" near-far", "a00")),
        ];
        let files: Vec<(&str, &str)> = texts.iter().map(|(path, text)| (*path, &**text)).collect();
        let commits = |commit: &str| match commit {
            "a00" => Some(COMMITS_MAX + 1),
            "b00" => Some(COMMITS_MAX),
            _ => None,
        };
        let found = check(&Tree::of(&files), &commits);
        let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, ["bench/runs/1/README.md"], "{found:?}");
        assert_eq!(found[0].remedy, "on a quiet machine: cargo xtask bench");
    }

    #[test]
    fn without_a_history_nothing_is_known() {
        let folder = std::env::temp_dir();
        assert_eq!(commits_since(&folder, "0123abc"), None);
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        assert_eq!(commits_since(here, "0000000000000000000000000000000000000000"), None);
    }
}
