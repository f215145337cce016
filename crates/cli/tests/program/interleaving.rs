//! `run A B --interleave`: two targets in alternating runs, a record for each, and their
//! comparison.

use serde_json::Value;

use crate::harness::{Ended, TestDir};
use crate::runs::TINY;

fn ids(ended: &Ended) -> [String; 2] {
    ['A', 'B'].map(|side| {
        let text = format!("{}\n{}", ended.stdout, ended.stderr);
        let head = format!("record {side} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&head).map(str::to_owned));
        line.expect("run names the record of each side")
    })
}

/// Facts of a record, as the CSV and JSON of other outputs do not have them.
fn fact(dir: &TestDir, id: &str, name: &str) -> String {
    let path = dir.store().join("runs").join(id).join("manifest.json");
    let text = std::fs::read_to_string(path).expect("read the manifest");
    let manifest: Value = serde_json::from_str(&text).expect("a manifest is JSON");
    let facts = manifest["environment"].as_array().expect("the environment is a list");
    let found = facts.iter().find(|fact| fact[0] == name).expect("the fact is there");
    found[1].as_str().expect("a fact is text").to_owned()
}

#[test]
fn two_targets_are_measured_in_alternating_runs_and_compared() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    std::fs::create_dir(dir.path().join("other")).expect("make the second target");
    let pair = ["run", "target", "other", "-w", "tiny.toml", "--interleave", "--repeats", "3"];
    let ended = dir.run(&[&pair[..], &["-v"]].concat());
    // Three short runs on a busy machine may differ; what is said of a difference is tested elsewhere.
    assert!(matches!(ended.code, Some(0 | 1)), "{}\n{}", ended.stdout, ended.stderr);
    for words in ["Measured in alternating runs", "record A ", "record B "] {
        assert!(ended.stdout.contains(words), "`{words}` in\n{}", ended.stdout);
    }
    assert!(!ended.stdout.contains("not comparable"), "{}", ended.stdout);
    // Both are ready before anything is measured, and every run is announced with its side.
    let first_run = ended.stderr.find("run 1 of 12").expect("progress counts both sides");
    assert_eq!(ended.stderr[..first_run].matches("files of main: ready").count(), 2);
    assert!(ended.stderr.contains(": A: tiny, queue_depth=1"), "{}", ended.stderr);
    assert!(ended.stderr.contains(": B: tiny, queue_depth=4, repeat 3"), "{}", ended.stderr);

    let [a, b] = ids(&ended);
    assert_eq!(fact(&dir, &a, "interleaved.partner"), b);
    assert_eq!(fact(&dir, &b, "interleaved.partner"), a);
    assert_eq!(fact(&dir, &b, "interleaved.side"), "B");
    let order = fact(&dir, &a, "interleaved.order");
    assert_eq!(order, fact(&dir, &b, "interleaved.order"));
    // Of three blocks of each of the two load points, one or two begin with A.
    assert_eq!(order.len(), 6);
    for point in [&order[..3], &order[3..]] {
        assert!((1..=2).contains(&point.matches('A').count()), "{order}");
    }
    let listed = dir.ok(&["list"]);
    let positions = [&a, &b].map(|id| listed.find(id.as_str()).expect("both are listed"));
    assert!(positions.is_sorted(), "A comes before B");

    // Either side is a normal record, and `compare` gives the same result.
    dir.ok(&["show", &a]);
    dir.ok(&["report", &b]);
    let again = dir.run(&["compare", "last~1", "last", "--fail-on", "never"]);
    let (result, _) = again.stdout.split_once("\n\nmore ").expect("a line for more");
    assert!(ended.stdout.starts_with(result), "{}", again.stdout);
    let back = dir.ok(&["compare", &b, &a, "--json", "--fail-on", "never"]);
    let back: Value = serde_json::from_str(&back).expect("--json prints JSON");
    assert_eq!(back["pairs"][0]["figures"][0]["basis"], "interleaved blocks");
}

#[test]
fn a_target_is_compared_with_itself_in_json_by_five_blocks() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let arguments = ["run", "target", "./target", "-w", "tiny.toml", "--interleave", "--json"];
    let ended = dir.run(&arguments);
    assert!(matches!(ended.code, Some(0 | 1)), "{}\n{}", ended.stdout, ended.stderr);
    let comparison: Value = serde_json::from_str(&ended.stdout).expect("--json prints JSON");
    let rate = &comparison["pairs"][0]["figures"][0];
    assert_eq!(rate["basis"], "interleaved blocks");
    assert_eq!(rate["difference"]["samples"], 5.0);
    assert!(ended.stderr.contains("repeats: 5 blocks"), "{}", ended.stderr);
    ids(&ended);
}

#[test]
fn unsuitable_plans_for_interleaving_are_refused_and_leave_nothing() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let cases: [(&[&str], &str); 7] = [
        (&["target", "--interleave"], "<TARGET_B>"),
        (&["target", "other"], "--interleave"),
        (&["target", "other", "third", "--interleave"], "unexpected argument 'third'"),
        (&["target", "other", "--interleave", "--until", "2%"], "--until"),
        (&["target", "other", "--interleave", "--explain"], "--explain"),
        (&["null:", "null:", "--interleave", "-p", "curve"], "search"),
        (&["target", "missing", "--interleave", "-w", "tiny.toml"], "missing"),
    ];
    for (arguments, words) in cases {
        let all: Vec<&str> = ["run"].iter().chain(arguments).copied().collect();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(words), "{all:?}: `{words}` in\n{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
    let left = std::fs::read_dir(dir.target()).expect("read the target").count();
    assert_eq!(left, 0, "the first target is not marked where the second is refused");
    assert!(!dir.store().exists(), "no record was begun");
}
