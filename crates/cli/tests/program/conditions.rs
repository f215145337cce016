//! `--fail-if`, `--strict`, `--junit` and `--markdown` of `run` and `show`.

use serde_json::Value;

use crate::comparing::{STARTED, kept, measured};
use crate::harness::{Ended, TestDir};
use crate::runs::TINY;

/// A record with 10,041 ± 39 reads per second of 100 µs at queue depth 1, and 40,041 at 4.
fn stored() -> TestDir {
    let dir = TestDir::new();
    kept(&dir, &measured(0), STARTED);
    dir
}

/// Asserts the exit code, and that stderr contains each of `words` if lines were joined.
fn assert_ended(ended: &Ended, code: i32, words: &[&str]) {
    assert_eq!(ended.code, Some(code), "{}\n{}", ended.stdout, ended.stderr);
    let stderr = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for word in words {
        assert!(stderr.contains(word), "`{word}` in\n{}", ended.stderr);
    }
}

#[test]
fn a_condition_that_is_met_ends_with_1_and_names_the_worst_load_point_with_its_interval() {
    let dir = stored();
    let ended = dir.run(&["show", "last", "--fail-if", "iops < 20k", "--fail-if", "mean > 1ms"]);
    let failed = "failed: `iops < 20k`: 10,041 ops/s (95 % CI 10,001 ops/s to 10,080 ops/s) at \
                  random read 8 KiB, queue_depth=1 (1 of 2 load points)";
    assert_ended(&ended, 1, &[failed, "passed: `mean > 1ms`: 100 µs at random read 8 KiB"]);
    assert!(ended.stderr.lines().all(|line| line.chars().count() <= 80), "{}", ended.stderr);
}

#[test]
fn an_inconclusive_condition_fails_only_with_strict() {
    let dir = stored();
    let cannot_tell = ["show", "last", "--fail-if", "iops < 10041/s"];
    let words = ["cannot tell: `iops < 10041/s`: 10,041 ops/s", "the interval includes the bound"];
    assert_ended(&dir.run(&cannot_tell), 0, &words);
    assert_ended(&dir.run(&[&cannot_tell[..], &["--strict"]].concat()), 1, &words);
    let nothing = ["show", "last", "--fail-if", "write.p99 > 1ms"];
    assert_ended(&dir.run(&nothing), 0, &["cannot tell", "no load point with these operations"]);
    assert_ended(&dir.run(&["show", "last", "--fail-if", "p99 > 1ms", "--strict"]), 0, &["passed"]);
}

#[test]
fn a_wrong_condition_is_refused_with_its_column_before_anything_is_measured() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    for (condition, words) in [
        ("read.p98 > 2ms", "column 6: `p98` is not a metric"),
        ("p99 > fast", "column 7: found `fast`, expected a duration"),
        (
            "mainn.p99 > 2ms",
            "no workload or stream `mainn`; there are tiny, main; did you mean `main`?",
        ),
    ] {
        let ended = dir.run(&["run", "null:", "-w", "tiny.toml", "--fail-if", condition]);
        assert_ended(&ended, 2, &[words]);
        assert_eq!(ended.stdout, "");
    }
    let unwritable = ["run", "null:", "-w", "tiny.toml", "--junit", "missing/a.xml"];
    assert_ended(&dir.run(&unwritable), 2, &["write missing/a.xml", "missing does not exist"]);
    let full = dir.run(&["run", "null:", "-w", "tiny.toml", "--no-report", "--junit", "/dev/full"]);
    assert_ended(&full, 3, &["write /dev/full: No space left on device"]);
    dir.ok(&["rm", "last"]);
    let stdout = ["run", "null:", "-w", "tiny.toml", "--markdown", "-"];
    assert_ended(&dir.run(&stdout), 2, &["--junit and --markdown write a file"]);
    assert!(dir.ok(&["list"]).starts_with("no experiments"), "nothing was measured");
}

#[test]
fn a_run_reports_its_conditions_in_json_events_junit_and_markdown() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let conditions = ["--fail-if", "errors > 0", "--fail-if", "main.throughput < 1PiB/s"];
    let run = ["run", "null:", "-w", "tiny.toml", "--repeats", "2", "--no-progress", "--no-report"];
    let files = ["--events", "jsonl", "--junit", "j.xml", "--markdown", "m.md"];
    let ended = dir.run(&[&run[..], &conditions[..], &files[..]].concat());
    assert_ended(&ended, 1, &["passed: `errors > 0`", "failed: `main.throughput < 1PiB/s`"]);
    let last: Value = serde_json::from_str(ended.stdout.lines().last().expect("a line"))
        .expect("events are JSON");
    assert_eq!((&last["verdict"], &last["exit_code"]), (&"condition_failed".into(), &1.into()));
    assert_eq!(last["conditions"][0]["result"], "passed");
    let failed = &last["conditions"][1];
    assert_eq!((&failed["result"], &failed["load_points_failed"]), (&"failed".into(), &2.into()));
    assert!(failed["worst"]["interval"].is_array(), "{failed}");

    let shown = dir.run(&[&["show", "last", "--json"][..], &conditions[..]].concat());
    let shown: Value = serde_json::from_str(&shown.stdout).expect("--json prints JSON");
    assert_eq!(shown["conditions"], last["conditions"], "a stored run is judged alike");

    let xml = std::fs::read_to_string(dir.path().join("j.xml")).expect("read the JUnit file");
    let xml = roxmltree::Document::parse(&xml).expect("it is XML");
    let suite = xml.root_element().first_element_child().expect("a test suite");
    let count = |name: &str| suite.attribute(name).expect("a count").to_owned();
    assert_eq!([count("tests"), count("failures"), count("skipped")], ["3", "1", "0"]);
    let names: Vec<&str> = xml
        .descendants()
        .filter(|one| one.has_tag_name("testcase"))
        .map(|case| case.attribute("name").expect("a test case has a name"))
        .collect();
    let expected =
        ["measured as planned", "fail if errors > 0", "fail if main.throughput < 1PiB/s"];
    assert_eq!(names, expected);
    let failure = xml.descendants().find(|one| one.has_tag_name("failure")).expect("a failure");
    assert!(failure.attribute("message").expect("a message").contains("(2 of 2 load points)"));

    let markdown = std::fs::read_to_string(dir.path().join("m.md")).expect("read the Markdown");
    for words in
        ["### tiny on null:", "| failed | fail if main.throughput &lt; 1PiB/s |", "Record `"]
    {
        assert!(markdown.contains(words), "`{words}` in\n{markdown}");
    }
}

#[test]
fn requirements_of_an_experiment_are_judged_by_run_and_show_and_are_in_every_output() {
    let dir = TestDir::new();
    let require = "require = [\"errors <= 0\", \"main.throughput >= 1PiB/s\"]\n";
    dir.file("strict.toml", &TINY.replacen("name = ", &format!("{require}name = "), 1));
    let files =
        ["--events", "jsonl", "--junit", "j.xml", "--markdown", "m.md", "--report", "r.html"];
    let run = ["run", "null:", "-w", "strict.toml", "--repeats", "2", "--no-progress"];
    let run = [&run[..], &files].concat();
    let ended = dir.run(&run);
    let failed = "failed: `main.throughput >= 1PiB/s`:";
    assert_ended(&ended, 1, &["passed: `errors <= 0`", failed, "% below the required value"]);
    let last: Value = serde_json::from_str(ended.stdout.lines().last().expect("a line"))
        .expect("events are JSON");
    assert_eq!((&last["verdict"], &last["exit_code"]), (&"condition_failed".into(), &1.into()));
    assert_eq!(last["conditions"][1]["required"], true);
    let file = |name: &str| std::fs::read_to_string(dir.path().join(name)).expect("read a file");
    assert!(file("j.xml").contains("require main.throughput &gt;= 1PiB/s"), "{}", file("j.xml"));
    assert!(file("m.md").contains("| failed | require main.throughput &gt;= 1PiB/s |"));
    assert!(file("r.html").contains("The results meet 1 of 2 requirements."));
    let shown = dir.run(&["show", "last", "--full"]);
    assert_ended(&shown, 1, &[failed]);
    assert!(shown.stdout.contains("The results meet 1 of 2 requirements."), "{}", shown.stdout);
    let json: Value = serde_json::from_str(&dir.run(&["show", "last", "--json"]).stdout)
        .expect("--json prints JSON");
    assert_eq!(json["conditions"], last["conditions"]);
}

#[test]
fn a_wrong_requirement_is_refused_with_line_and_column() {
    let dir = TestDir::new();
    dir.file("wrong.toml", &TINY.replacen("name = ", "require = \"p98 < 2ms\"\nname = ", 1));
    let ended = dir.run(&["run", "null:", "-w", "wrong.toml"]);
    assert_ended(&ended, 2, &["`p98` is not a metric", "wrong.toml:2:12"]);
}

#[test]
fn inconclusive_conditions_are_skipped_test_cases_unless_strict() {
    let dir = stored();
    let show = ["show", "last", "--fail-if", "iops < 10041/s", "--junit", "j.xml"];
    for (strict, element) in [(&[][..], "skipped"), (&["--strict"], "failure")] {
        dir.run(&[&show[..], strict].concat());
        let xml = std::fs::read_to_string(dir.path().join("j.xml")).expect("read the JUnit file");
        let xml = roxmltree::Document::parse(&xml).expect("it is XML");
        assert!(xml.descendants().any(|one| one.has_tag_name(element)), "{element}");
    }
}
