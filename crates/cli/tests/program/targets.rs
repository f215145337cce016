//! `[target.NAME]`: several targets in one experiment, on one host and on several.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;

use crate::harness::TestDir;

/// Emulated volumes; the third has another quota and service level with the same limit.
const VOLUMES: &str = r#"
name = "scale-out"
[target.vol1]
[target.vol2]
[target.vol3]
service_level = "premium"
quota = "2TiB"
[run]
warm_up = "500ms"
measure = "2s"
interval = "250ms"
"#;

const STREAM: &str = r#"
[stream.main]
read = "50%"
transfer_size = "64KiB"
pattern = "random"
files = 2
file_size = "4MiB"
queue_depth = 8
"#;

/// The limit of each volume: 1 TiB Ultra and 2 TiB Premium.
const LIMIT_BYTES_PER_S: f64 = 128.0 * 1024.0 * 1024.0;

fn number(value: &Value, field: &str) -> u64 {
    value[field].as_u64().unwrap_or_else(|| panic!("`{field}` in {value}"))
}

/// Operations of the windows in a summary.
fn completed(summary: &Value) -> u64 {
    number(&summary["total"]["data"], "completed")
}

fn throughput(summary: &Value) -> f64 {
    let estimate = &summary["total"]["data"]["throughput_bytes_per_sec"];
    estimate["value"].as_f64().unwrap_or_else(|| panic!("a throughput in {summary}"))
}

/// Names of the targets of a load point, with their operations.
fn targets(point: &Value) -> Vec<(&str, u64)> {
    let each = point["targets"].as_array().expect("a list").iter();
    each.map(|one| (one["name"].as_str().expect("a name"), completed(&one["summary"]))).collect()
}

#[test]
fn targets_in_the_plural_are_measured_together_and_each_is_at_its_own_limit() {
    let dir = TestDir::new();
    dir.file("many.toml", &format!("{VOLUMES}targets = [1, 3]\n{STREAM}"));
    let ended = dir.run(&["run", "-w", "many.toml", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let results: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let points = results["load_points"].as_array().expect("a list");
    assert_eq!(points.len(), 2);
    for (point, expected) in points.iter().zip([&["vol1"][..], &["vol1", "vol2", "vol3"]]) {
        let parts = targets(point);
        let names: Vec<&str> = parts.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, expected);
        assert!(parts.iter().all(|(_, completed)| *completed > 0), "{parts:?}");
        let sum: u64 = parts.iter().map(|(_, completed)| completed).sum();
        assert_eq!(sum, completed(&point["merged"]), "the total is the sum of the targets");
        for one in point["targets"].as_array().expect("a list") {
            // A stall of this process before the window moves completions into it.
            assert!(throughput(&one["summary"]) < LIMIT_BYTES_PER_S * 1.2, "{one}");
        }
    }
    assert_eq!(number(&points[1], "queue_depth_total"), 24, "one worker for each target");
    let scaling = &results["scalings"][0];
    assert_eq!(
        (&scaling["counted"], number(&scaling["points"][1], "count")),
        (&"targets".into(), 3)
    );
    let efficiency = scaling["points"][1]["efficiency"].as_f64().expect("both rates are known");
    let rates = [0, 1].map(|at| throughput(&points[at]["merged"]));
    assert!((efficiency - rates[1] / 3.0 / rates[0]).abs() < 0.01, "{efficiency}, {rates:?}");
    // The service counted the calls of all volumes.
    let text = dir.ok(&["show", "last", "--full"]);
    assert!(results["service_counters"].is_object(), "{}", results["service_counters"]);
    for words in ["3 targets (vol1, vol2, vol3)", "Targets\n", "Scaling\n"] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    dir.ok(&["report", "last", "--format", "svg", "--output", "charts"]);
    let charts = fs::read_dir(dir.path().join("charts")).expect("it was made");
    let charts: Vec<String> = charts
        .filter_map(|file| Some(file.ok()?.file_name().to_string_lossy().into_owned()))
        .collect();
    for words in ["stacked-by-target.svg", "scaling-targets-"] {
        assert!(charts.iter().any(|name| name.contains(words)), "`{words}` in {charts:?}");
    }
    let plan = dir.ok(&["plan", "-w", "many.toml"]);
    for words in ["target      vol3: emulated volume (2 TiB Premium)", "on each of 3 targets"] {
        assert!(plan.contains(words), "`{words}` in\n{plan}");
    }
}

#[test]
fn each_directory_has_its_files_and_reads_of_both_are_verified() {
    let dir = TestDir::new();
    let mut text =
        "name = \"two\"\n[run]\nwarm_up = \"0\"\nmeasure = \"500ms\"\ninterval = \"100ms\"\n"
            .to_owned();
    for name in ["a", "b"] {
        fs::create_dir_all(dir.path().join(name)).expect("make a folder");
        let path = dir.path().join(name).display().to_string();
        text.push_str(&format!("[target.{name}]\nlocation = \"{path}\"\n"));
    }
    dir.file("two.toml", &format!("{text}{STREAM}"));
    let arguments = ["run", "-w", "two.toml", "--not-a-mount", "--verify"];
    let ended = dir.run(&arguments);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for name in ["a", "b"] {
        let files = fs::read_dir(dir.path().join(name).join("fourcorners")).expect("it was made");
        let data = files
            .filter_map(Result::ok)
            .filter(|file| file.path().extension().is_some_and(|extension| extension == "data"));
        assert_eq!(data.count(), 2, "{name}");
        let clean = format!("fourcorners clean {}", dir.path().join(name).display());
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&ended.stdout).contains(&clean), "`{clean}` in\n{}", ended.stdout);
    }
    // The facts about each of them are stored, those of the second with its name.
    let shown: Value = serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("JSON");
    let fact = |name: &str| {
        let mut facts = shown["environment"].as_array().expect("a list").iter();
        let found = facts.find(|one| one["name"] == name).and_then(|one| one["value"].as_str());
        found.unwrap_or_else(|| panic!("`{name}` in {}", shown["environment"])).to_owned()
    };
    for (name, path) in [("target.directory", "a"), ("target.directory.b", "b")] {
        let path = dir.path().join(path).join("fourcorners");
        assert_eq!(fact(name), path.display().to_string());
    }
    assert_eq!(fact("filesystem.type.b"), fact("filesystem.type"));
    // A wrong byte on the second target is found there.
    let file = dir.path().join("b/fourcorners/main-4194304-0000.data");
    let mut data = fs::read(&file).expect("read it");
    data.iter_mut().for_each(|byte| *byte ^= 1);
    fs::write(&file, data).expect("damage it in the same file");
    let ended = dir.run(&arguments);
    assert_ne!(ended.code, Some(0), "{}", ended.stdout);
    assert!(ended.stderr.contains("main-4194304-0000.data"), "{}", ended.stderr);
}

#[test]
fn hosts_use_targets_in_turn_or_all_of_them() {
    let dir = TestDir::new();
    let volumes =
        VOLUMES.replace("[target.vol3]\nservice_level = \"premium\"\nquota = \"2TiB\"\n", "");
    for (spread, workers) in [("host", 2), ("all", 4)] {
        dir.file("many.toml", &format!("{volumes}{STREAM}spread = \"{spread}\"\n"));
        let ended = dir.run(&["run", "-w", "many.toml", "--hosts", "local:2", "--json"]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let results: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let point = &results["load_points"][0];
        assert_eq!(number(point, "queue_depth_total"), 8 * workers, "{spread}");
        let of_targets = targets(point);
        let of_hosts: Vec<u64> = point["hosts"]
            .as_array()
            .expect("a list")
            .iter()
            .map(|host| completed(&host["summary"]))
            .collect();
        let sum: u64 = of_targets.iter().map(|(_, completed)| completed).sum();
        assert_eq!(sum, of_hosts.iter().sum::<u64>(), "{spread}");
        if spread == "host" {
            let by_target: Vec<u64> = of_targets.iter().map(|(_, completed)| *completed).collect();
            assert_eq!(by_target, of_hosts, "the first host sends to the first target");
        }
    }
}

#[test]
fn hosts_targets_connections_and_queue_depths_are_one_experiment() {
    let dir = TestDir::new();
    let volumes = VOLUMES.replace("\"500ms\"", "\"100ms\"").replace("\"2s\"", "\"200ms\"");
    let volumes = volumes.replace("\"250ms\"", "\"100ms\"");
    let axes = "hosts = [1, 2]\ntargets = [1, 3]\nnconnect = [1, 2]\n";
    let stream = STREAM.replace("queue_depth = 8", "queue_depth = [1, 4]");
    dir.file("matrix.toml", &format!("{volumes}{axes}{stream}"));
    let ended = dir.run(&["run", "-w", "matrix.toml", "--hosts", "local:2", "--json"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let results: Value = serde_json::from_str(&ended.stdout).expect("JSON");
    let points = results["load_points"].as_array().expect("a list");
    let mut seen = BTreeSet::new();
    for point in points {
        let value = |name: &str| -> u64 {
            let mut parameters = point["parameters"].as_array().expect("a list").iter();
            let found = parameters.find(|one| one["name"] == name);
            let value = found.and_then(|one| one["value"].as_str()?.parse().ok());
            value.unwrap_or_else(|| panic!("`{name}` in {}", point["parameters"]))
        };
        let [hosts, targets, flows, depth] =
            ["run.hosts", "run.targets", "run.nconnect", "queue_depth"].map(value);
        let connections = point["runs"][0]["connections"].as_array().expect("a list");
        let owner = |one: &'_ Value| (one["host"].to_string(), one["target"].to_string());
        let owners: BTreeSet<(String, String)> = connections.iter().map(owner).collect();
        assert_eq!(owners.len() as u64, hosts * targets, "{owners:?}");
        assert_eq!(connections.len() as u64, hosts * targets * flows, "{connections:?}");
        assert_eq!(number(point, "queue_depth_total"), hosts * targets * depth);
        assert!(completed(&point["merged"]) > 0, "{point}");
        seen.insert((hosts, targets, flows, depth));
    }
    assert_eq!((points.len(), seen.len()), (16, 16), "{seen:?}");
}

#[test]
fn targets_that_cannot_be_measured_together_are_refused_with_line_and_remedy() {
    let dir = TestDir::new();
    fs::create_dir_all(dir.path().join("a")).expect("make a folder");
    for (text, arguments, words) in [
        (
            format!("{VOLUMES}{STREAM}targets = [\"disk*\"]\n"),
            &[][..],
            &["uses an unknown target", "`vol1` or `vol2` or `vol3`", "many.toml:20"][..],
        ),
        (
            format!("{VOLUMES}targets = 4\n{STREAM}"),
            &[],
            &["more targets than stream `main` has", "`targets` of at most 3"],
        ),
        (
            format!("{VOLUMES}{STREAM}spread = \"host\"\n"),
            &[],
            &["more targets than hosts", "--hosts", "run.targets=1"],
        ),
        (
            VOLUMES.replace("[target.vol2]", "[target.vol2]\nlocation = \"a\"") + STREAM,
            &[],
            &["target `vol2` is of another kind than `vol1`", "only emulated volumes"],
        ),
        (
            VOLUMES.replace("[target.vol3]", "[target.vol3]\nlocation = \"a\"") + STREAM,
            &[],
            &["target `vol3` has `location` and `quota`"],
        ),
        (
            "name = \"x\"\n[target.a]\nlocation = \"a\"\n[target.b]\nlocation = \"a\"\n".to_owned()
                + STREAM,
            &[],
            &["target `b` is target `a` again", "each location once"],
        ),
        (
            format!("{VOLUMES}{STREAM}"),
            &["a"],
            &["has [target.NAME] tables", "leave the target out"],
        ),
        (
            VOLUMES.replace("[target.vol1]", "[target.vol1]\nlokation = \"a\"") + STREAM,
            &[],
            &["unknown key in [target.vol1]", "did you mean `location`"],
        ),
        (VOLUMES.replace("quota = \"2TiB\"", "quota = \"1GiB\"") + STREAM, &[], &["many.toml:5"]),
    ] {
        dir.file("many.toml", &text);
        let all = [&["plan", "-w", "many.toml"], arguments].concat();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{text}\n{}", ended.stdout);
        for words in words {
            assert!(ended.stderr.contains(words), "`{words}` in\n{}", ended.stderr);
        }
    }
}
