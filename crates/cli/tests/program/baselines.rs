//! `baseline` and `compare --baseline`.

use serde_json::Value;

use crate::comparing::{DAY_MS, STARTED, kept, measured};
use crate::harness::TestDir;

#[test]
fn a_baseline_gives_the_same_comparison_as_its_record() {
    let dir = TestDir::new();
    let slow = kept(&dir, &measured(0), STARTED);
    let fast = kept(&dir, &measured(2_000), STARTED + DAY_MS);
    assert_eq!(dir.ok(&["baseline", "save", "main", &slow]), "main.json\n");
    let text = std::fs::read_to_string(dir.path().join("main.json")).expect("read the baseline");
    assert!(text.len() < 30_000, "{} bytes", text.len());
    assert!(text.contains("[\"kernel\",\"kernel.release\",\"6.18.0\"],\n"), "{text}");

    let of_record = dir.ok(&["compare", &slow, &fast, "--json"]);
    // The baseline needs no store with its record.
    dir.ok(&["rm", &slow]);
    let of_baseline = dir.ok(&["compare", "--baseline", "main.json", &fast, "--json"]);
    assert_eq!(of_baseline, of_record);
    let json: Value = serde_json::from_str(&of_baseline).expect("--json prints JSON");
    assert_eq!(json["pairs"][0]["verdict"], "faster");

    let shown = dir.ok(&["baseline", "show", "main.json"]);
    for words in ["main\n", &slow, "random read 8 KiB, queue_depth=4", "10,041", "40,041"] {
        assert!(shown.contains(words), "`{words}` in\n{shown}");
    }
    assert!(shown.lines().all(|line| line.chars().count() <= 80), "{shown}");
}

#[test]
fn a_regression_is_a_failed_test_case_and_a_table_in_markdown() {
    let dir = TestDir::new();
    let fast = kept(&dir, &measured(2_000), STARTED);
    kept(&dir, &measured(0), STARTED + DAY_MS);
    dir.ok(&["baseline", "save", "main", &fast, "--output", "ci.json"]);
    let files = ["--junit", "j.xml", "--markdown", "m.md"];
    let compared = dir.run(&[&["compare", "--baseline", "ci.json", "last"][..], &files].concat());
    assert_eq!(compared.code, Some(1), "{}", compared.stderr);
    let xml = std::fs::read_to_string(dir.path().join("j.xml")).expect("read the JUnit file");
    let xml = roxmltree::Document::parse(&xml).expect("it is XML");
    let failures: Vec<&str> = xml
        .descendants()
        .filter(|one| one.has_tag_name("failure"))
        .map(|failure| failure.attribute("message").expect("a message"))
        .collect();
    assert_eq!(failures.len(), 2, "{failures:?}");
    assert!(failures[0].contains("achieved rate 12,041 to 10,041 ops/s, -16.6 %"), "{failures:?}");
    let markdown = std::fs::read_to_string(dir.path().join("m.md")).expect("read the Markdown");
    for words in [
        "### B compared with A: slower",
        "| random read 8 KiB, queue\\_depth=1 | achieved rate, ops/s |",
    ] {
        assert!(markdown.contains(words), "`{words}` in\n{markdown}");
    }
}

#[test]
fn an_unusable_baseline_is_refused_with_file_and_line() {
    let dir = TestDir::new();
    let id = kept(&dir, &measured(0), STARTED);
    kept(&dir, &measured(0), STARTED + DAY_MS);
    dir.ok(&["baseline", "save", "main", &id]);
    let text = std::fs::read_to_string(dir.path().join("main.json")).expect("read the baseline");
    dir.file("conflict.json", &text.replacen("  \"name\"", "<<<<<<< HEAD\n  \"name\"", 1));
    let newer = "\"fourcorners_baseline\": 9";
    dir.file("newer.json", &text.replacen("\"fourcorners_baseline\": 1", newer, 1));
    dir.file("foreign.json", "{\"schema_version\": 2}\n");
    for (file, words) in [
        ("missing.json", "read baseline missing.json: No such file"),
        (
            "conflict.json",
            "read baseline conflict.json: it is not a valid baseline: key must be a string at line 3 column 1",
        ),
        ("newer.json", "it has format version 9, and this version of fourcorners reads up to 1"),
        ("foreign.json", "missing field `fourcorners_baseline` at line 1 column 21"),
    ] {
        let ended = dir.run(&["compare", "--baseline", file, "last"]);
        assert_eq!(ended.code, Some(2), "{file}: {}", ended.stdout);
        assert!(ended.stderr.contains(words), "{file}: `{words}` in\n{}", ended.stderr);
        assert!(ended.stderr.contains("`fourcorners baseline save NAME ID`"), "{}", ended.stderr);
    }
    let itself = dir.run(&["compare", "--baseline", "main.json", &id]);
    assert!(itself.stderr.contains("with itself"), "{}", itself.stderr);
    let unwritable = dir.run(&["baseline", "save", "main", "--output", "missing/main.json"]);
    assert_eq!(unwritable.code, Some(2));
    assert!(unwritable.stderr.contains("missing does not exist"), "{}", unwritable.stderr);
}
