//! `plan` shows what `run` would do, and writes nothing.

use expect_test::expect_file;
use workload::profiles::{Group, PROFILES};

use crate::harness::{TestDir, golden};
use crate::runs::TINY;

#[test]
fn the_plan_of_every_synthetic_profile_is_as_stored() {
    let dir = TestDir::new();
    let synthetic = PROFILES.iter().filter(|profile| profile.group == Group::Synthetic);
    for name in synthetic.map(|profile| profile.name) {
        let shown = dir.ok(&["plan", "target", "--profile", name]);
        // The free space of the machine that runs the test does not belong into a golden file.
        let shown: String = shown
            .lines()
            .map(|line| match line.split_once("; ") {
                Some((fill, _)) if line.starts_with("fill") => format!("{fill}; FREE\n"),
                _ => format!("{line}\n"),
            })
            .collect();
        let file = format!("{}/tests/golden/plan/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        expect_file![file].assert_eq(&golden(&shown, &dir));
        let too_wide = shown
            .lines()
            .find(|line| line.chars().count() > 80 && !line.contains(dir.path().to_str().unwrap()));
        assert_eq!(too_wide, None, "the plan of {name} is wider than 80 columns");
    }
}

#[test]
fn a_plan_shows_that_fsyncs_are_part_of_the_offered_rate() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let open = ["plan", "-w", "tiny.toml", "--set", "arrival.constant=10k/s"];
    assert!(!dir.ok(&open).contains("fsyncs included"));
    let shown = dir.ok(&[&open[..], &["--set", "read=0%", "--set", "fsync_every=1"]].concat());
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("constant 10,000 ops/s (fsyncs included)"), "{shown}");
}

#[test]
fn the_seed_of_a_plan_is_that_of_the_flag_and_changes_the_seed_of_each_run() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let plan = |seed: &str| dir.ok(&["plan", "-w", "tiny.toml", "--seed", seed, "--json"]);
    assert_eq!(plan("7"), plan("7"));
    let seeds = |json: &str| {
        let plan: serde_json::Value = serde_json::from_str(json).expect("the plan is JSON");
        plan["steps"].to_string()
    };
    assert_ne!(seeds(&plan("7")), seeds(&plan("8")));
}

#[test]
fn the_json_plan_has_every_run_and_nothing_is_written() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let json = dir.ok(&["plan", "-w", "tiny.toml", "--repeats", "2", "--json"]);
    let plan: serde_json::Value = serde_json::from_str(&json).expect("the plan is JSON");
    let steps = plan["steps"].as_array().expect("a plan has steps");
    assert_eq!(steps.len(), 4, "two load points, two repeats");
    assert_eq!(steps[0]["fixed"]["phases"]["measure_ns"], 200_000_000);
    assert!(!dir.store().exists(), "plan writes nothing");
}

#[test]
fn a_plan_lists_existing_file_sets_and_what_would_be_added() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let plan = |more: &[&str]| {
        let shown = dir.ok(&[&["plan", "target", "-w", "tiny.toml"], more].concat());
        let of_directory = |line: &&str| line.starts_with("existing") || line.starts_with("fill");
        let lines = shown.lines().filter(of_directory).map(|line| {
            let words = line.split("; ").filter(|words| !words.contains(" free"));
            words.collect::<Vec<_>>().join("; ").split_whitespace().collect::<Vec<_>>().join(" ")
        });
        lines.collect::<Vec<_>>()
    };
    assert_eq!(plan(&[]), ["fill 1 MiB in 1 file to write"]);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report", "--no-progress"]);
    let one = "existing main: 1 of 1 file of 1 MiB, 1 MiB valid";
    assert_eq!(plan(&[]), [one, "fill nothing to write, the files exist"]);
    assert_eq!(
        plan(&["--set", "files=3"]),
        ["existing main: 1 of 3 files of 1 MiB, 1 MiB valid", "fill 2 MiB in 2 files to write"]
    );
    assert_eq!(
        plan(&["--set", "file_size=2MiB"]),
        [
            "existing main: 1 file of 1 MiB, 1 MiB written; not needed",
            "fill 2 MiB in 1 file to write"
        ]
    );
    assert_eq!(
        plan(&["--set", "file_size=1MiB,2MiB,4MiB"]),
        [one, "fill main: 2 MiB in 1 file, main: 4 MiB in 1 file to write"]
    );
}

#[test]
fn a_printed_profile_is_an_experiment_file() {
    let dir = TestDir::new();
    let text = dir.ok(&["profiles", "four-corners"]);
    dir.file("mine.toml", &text);
    let steps = |json: String| {
        let plan: serde_json::Value = serde_json::from_str(&json).expect("the plan is JSON");
        plan["steps"].clone()
    };
    assert_eq!(
        steps(dir.ok(&["plan", "target", "-w", "mine.toml", "--json"])),
        steps(dir.ok(&["plan", "target", "--json"]))
    );
}

#[test]
fn the_schema_is_json_and_knows_the_keys() {
    let dir = TestDir::new();
    let schema: serde_json::Value =
        serde_json::from_str(&dir.ok(&["schema"])).expect("the schema is JSON");
    assert!(schema.to_string().contains("queue_depth"));
}

#[test]
fn quick_shortens_an_experiment_unless_a_flag_sets_a_duration() {
    let dir = TestDir::new();
    dir.file("tiny.toml", &TINY.replace("200ms", "30s"));
    let plan = |arguments: &[&str]| -> serde_json::Value {
        let all = [&["plan", "target", "-w", "tiny.toml", "--json"], arguments].concat();
        serde_json::from_str(&dir.ok(&all)).expect("the plan is JSON")
    };
    let phases = |plan: serde_json::Value| plan["steps"][0]["fixed"]["phases"].clone();
    assert_eq!(phases(plan(&["--quick"]))["measure_ns"], 3_000_000_000u64);
    let many = plan(&["--quick", "--set", "queue_depth=1..16 step 1"]);
    assert_eq!(many["steps"].as_array().expect("a plan has steps").len(), 16);
    let phases_of_many = phases(many);
    assert_eq!(phases_of_many["measure_ns"], 1_250_000_000, "16 load points share 24 s");
    assert_eq!(phases_of_many["warm_up_ns"], 250_000_000);
    let said = phases(plan(&["--quick", "--measure", "500ms"]));
    assert_eq!(said["measure_ns"], 500_000_000);
    assert_eq!(said["warm_up_ns"], 1_000_000_000);
}
