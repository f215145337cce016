//! `[metric]` on the command line: planned, run, exported, compared and kept as a baseline.

use serde_json::Value;

use crate::harness::TestDir;

const JOB_SETS: &str = r#"
name = "eda"

[metric]
name = "job sets"
values = [1, 2]

[run]
warm_up = "20ms"
measure = "200ms"
interval = "20ms"

[stream.reads]
read = "100%"
transfer_size = "8KiB"
pattern = "random"
file_size = "1MiB"
queue_depth = 8
arrival = { constant = "500/s" }
"#;

#[test]
fn a_metric_is_planned_run_exported_compared_and_kept_as_a_baseline() {
    let dir = TestDir::new();
    dir.file("eda.toml", JOB_SETS);
    let plan = dir.ok(&["plan", "null:", "-w", "eda.toml", "--set", "metric.rate_min=90%"]);
    assert!(plan.contains("job sets; passes with 90 % of the offered rate"), "{plan}");
    assert!(plan.contains("eda, job sets=2") && plan.contains("constant 1,000 ops/s"), "{plan}");
    // Two records to compare.
    let run = ["run", "null:", "-w", "eda.toml", "--no-report"];
    dir.ok(&run);
    dir.ok(&run);
    let exported: Value =
        serde_json::from_str(&dir.ok(&["export", "last", "--format", "json"])).expect("JSON");
    let metric = &exported["metric"];
    assert_eq!(
        (metric["name"].as_str(), &metric["rate_min_fraction"]),
        (Some("job sets"), &0.95.into())
    );
    let points = metric["series"][0]["points"].as_array().expect("load points");
    let offered: Vec<Option<f64>> =
        points.iter().map(|point| point["offered_rate_ops_per_sec"].as_f64()).collect();
    assert_eq!(offered, [Some(500.0), Some(1000.0)]);
    let compared = dir.run(&["compare", "last~1", "last"]).stdout;
    let words = compared.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("Largest passing job sets of eda: "), "{compared}");
    dir.ok(&["baseline", "save", "main", "last"]);
}

#[test]
fn a_required_number_of_units_is_passed_or_failed_in_text_json_and_on_the_page() {
    let dir = TestDir::new();
    let required = |bound: &str| format!("name = \"eda\"\nrequire = [\"metric >= {bound}\"]");
    // `null:` achieves every rate, so the larger value is not known to fail.
    dir.file("eda.toml", &JOB_SETS.replace("name = \"eda\"", &required("1")));
    let page = dir.path().join("page.html");
    let report = ["--report", page.to_str().expect("a path")];
    let shown =
        dir.measured(&[&["run", "null:", "-w", "eda.toml", "--full"][..], &report].concat());
    let words = "1 required (job sets), ";
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line(&shown).contains(words), "{shown}");
    let page = std::fs::read_to_string(&page).expect("read the page");
    assert!(one_line(&page).contains(words), "no sentence on the page");
    let json = dir.measured(&["run", "null:", "-w", "eda.toml", "--no-report", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let condition = &json["conditions"][0];
    assert_eq!(
        (&condition["condition"], &condition["bound"]),
        (&"metric >= 1".into(), &1.0.into())
    );
    assert!(condition["distance_fraction"].is_number(), "{condition}");
}

#[test]
fn a_closed_stream_and_a_condition_without_a_metric_are_refused_before_anything_is_written() {
    let dir = TestDir::new();
    dir.file("eda.toml", &JOB_SETS.replace("{ constant = \"500/s\" }", "\"closed\""));
    let ended = dir.run(&["run", "null:", "-w", "eda.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("stream `reads` is a closed loop"), "{}", ended.stderr);
    assert!(ended.stderr.contains("eda.toml:19:1"), "{}", ended.stderr);
    dir.file(
        "plain.toml",
        &JOB_SETS.replace("[metric]\nname = \"job sets\"\nvalues = [1, 2]\n", ""),
    );
    for (condition, words) in [
        ("metric < 4", "the experiment has no business metric"),
        ("metric < x", "found `x`, expected a value of the business metric"),
    ] {
        let ended = dir.run(&["run", "null:", "-w", "plain.toml", "--fail-if", condition]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(words), "{}", ended.stderr);
    }
    assert!(dir.ok(&["list"]).starts_with("no experiments"), "nothing was measured");
}
