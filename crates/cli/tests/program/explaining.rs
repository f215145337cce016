//! `run --explain`: scaling experiments on targets with a known bottleneck.

use serde_json::Value;

use crate::harness::{Running, TestDir};

/// 64 KiB reads: one operation of a connection that is limited to 10 MiB/s takes 6.25 ms, which is
/// much more than a busy machine adds.
const LARGE: &str = r#"
name = "large"

[run]
warm_up = "250ms"
measure = "1s"
interval = "50ms"

[stream.main]
read = "100%"
transfer_size = "64KiB"
pattern = "random"
files = 2
file_size = "2MiB"
queue_depth = 16
"#;

/// Finds the bottleneck of LARGE once: no limit if the machine was too busy for precise data, but
/// never another than `limit`. Returns the JSON, and whether `limit` was named.
fn explained_once(limit: &str, dir: &TestDir, arguments: &[&str]) -> (Value, bool) {
    let shown = explained(dir, arguments);
    let verdict = &shown["verdicts"][0];
    let named = verdict["limits"].as_array().expect("an array");
    assert!(named.iter().all(|one| one == limit), "only {limit} may be named: {verdict:#}");
    let is_named = !named.is_empty();
    if is_named {
        assert_eq!(shown["searches"][0]["ended"], "explained", "{verdict:#}");
    }
    (shown, is_named)
}

/// Requires that `limit` is named in two of three attempts, and no other limit in any. Returns the
/// JSON of the last that names it.
///
/// On two processors with other load, the limits of three targets were named in 30 of 30 attempts:
/// with 95 % confidence in more than 90 % of them, so at most 2.7 % of tests fail.
fn explained_as(limit: &str, dir: &TestDir, arguments: &[&str]) -> Value {
    let (mut right, mut unnamed) = (Vec::new(), 0);
    while right.len() < 2 && unnamed < 2 {
        match explained_once(limit, dir, arguments) {
            (shown, true) => right.push(shown),
            (_, false) => unnamed += 1,
        }
    }
    assert!(unnamed < 2, "{limit} was not named in {unnamed} of 3 attempts");
    right.pop().expect("two are right")
}

/// Runs the scaling experiments on LARGE; returns the JSON of the record.
fn explained(dir: &TestDir, arguments: &[&str]) -> Value {
    dir.file("large.toml", LARGE);
    let fixed = ["run", "-w", "large.toml", "--explain", "--no-report", "--no-progress"];
    let all: Vec<&str> = fixed.iter().chain(arguments).copied().collect();
    let result = dir.ok(&all);
    let has_line = |start: &&str| result.lines().any(|line| line.starts_with(start));
    assert!(["Limited by ", "No", "Throughput"].iter().any(has_line), "{result}");
    let json = dir.ok(&["show", "last", "--json"]);
    serde_json::from_str(&json).expect("it is JSON")
}

/// A volume with 40 MiB/s and 10 MiB/s per connection; and its URL.
fn served(dir: &TestDir) -> (Running, String) {
    let serving = dir.start(&[
        "volume",
        "serve",
        "--address",
        "127.0.0.1:0",
        "--metrics",
        "none",
        "--throughput",
        "40MiB/s",
        "--flow-throughput",
        "10MiB/s",
    ]);
    let line = serving.wait_for("nfs://");
    let at = line.find("nfs://").expect("it was waited for");
    let url = line[at..].split_whitespace().next().expect("there is a URL").to_owned();
    (serving, url)
}

#[test]
fn more_connections_distinguish_their_limit_from_that_of_the_volume() {
    let dir = TestDir::new();
    let (serving, url) = served(&dir);
    let over_one = explained_as("network_flow", &dir, &[&url]);
    // Changed load points are evidence only: they have no verdict and no summary.
    let verdicts = over_one["verdicts"].as_array().expect("an array");
    assert_eq!(verdicts.len(), 1, "{verdicts:#?}");
    let table = dir.ok(&["show", "last", "--full"]);
    let short = table.split("\nSummary\n").nth(1).expect("there is a summary");
    let short = short.split("\n\n").next().expect("text before the table");
    assert!(short.contains("- large: "), "{short}");
    assert!(!short.contains("run.nconnect"), "{short}");
    assert!(table.contains("4 connections instead of 1"), "{table}");
    let points = over_one["load_points"].as_array().expect("there are load points");
    assert!(points.len() > 2, "a curve and a change: {}", points.len());

    // Eight connections together exceed the limit of the volume.
    let more = ["-o", "nconnect=8", "--known", "volume=40MiB/s"];
    let over_eight =
        explained_as("volume_throughput", &dir, &[&[url.as_str()], &more[..]].concat());
    let command = over_eight["repeat_command"].as_str().expect("it is text");
    assert!(command.ends_with("--option nconnect=8 --known volume=40MiB/s"), "{command}");
    assert!(command.contains(" --explain "), "{command}");
    serving.signal("INT");
    assert_eq!(serving.end().code, Some(0));
}

#[test]
fn the_bottleneck_of_the_emulated_volume_is_its_throughput_limit() {
    let dir = TestDir::new();
    explained_as("volume_throughput", &dir, &[]);
    // While other programs use the host, the generator's own limit is rarely precise enough to be
    // named (1 of 10 attempts next to a compiler). That it is named at all is tested in `sim`.
    explained_once("client_cpu", &dir, &["null:"]);
}

#[test]
fn the_plan_lists_possible_changes_and_unsuitable_loads_are_refused() {
    let dir = TestDir::new();
    dir.file("large.toml", LARGE);
    let plan = dir.ok(&["plan", "-w", "large.toml", "--explain", "--set", "workers=2"]);
    let flat = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "runs at most 24, 30s in all",
        "large: search, at most 24 runs",
        "2 operations outstanding, then four times as many in each step, up to 2048, until",
        "another number of connections, transfer size, order, number of workers or direction",
    ] {
        assert!(flat.contains(words), "{words}:\n{plan}");
    }
    assert!(plan.lines().all(|line| line.chars().count() <= 80), "{plan}");
    let profile = dir.ok(&["plan", "--explain", "--set", "run.nconnect=2"]);
    assert!(profile.contains("at most 96"), "each of the four corners: {profile}");

    let two = LARGE.to_owned() + &LARGE[LARGE.find("[stream").expect("a stream")..];
    dir.file("two.toml", &two.replacen("stream.main", "stream.other", 1));
    let on_names = "name = \"n\"\n[stream.n]\nnames = { files = 100 }\nmix = { stat = \"100%\" }\n\
                    queue_depth = 4\n";
    dir.file("names.toml", on_names);
    let large = ["-w", "large.toml"];
    for (arguments, words) in [
        (&["-w", "two.toml"][..], "2 concurrent streams"),
        (&["-w", "names.toml"], "which has operations on names"),
        (&[&large[..], &["--set", "transfer_size=8KiB,64KiB"]].concat(), "`transfer_size`"),
        (
            &[&large[..], &["--set", "arrival={ poisson = \"100/s\" }"]].concat(),
            "offers a fixed rate",
        ),
        (&[&large[..], &["--repeats", "3"]].concat(), "with --repeats"),
        (&[&large[..], &["--until", "2%"]].concat(), "with --until"),
        (&["-p", "ranges"], "over several values of `read`"),
    ] {
        let all = [&["run", "--explain"], arguments].concat();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        let flat = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains(words), "{arguments:?}: {}", ended.stderr);
    }
    let tuned = dir.run(&["tune", "--target-rate", "1MiB/s", "--explain"]);
    assert_eq!(tuned.code, Some(2), "{}", tuned.stderr);
    assert!(tuned.stderr.contains("use --explain"), "{}", tuned.stderr);
    assert!(!dir.store().exists());
}
