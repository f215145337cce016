//! Labels, `list`, `rm`, `prune`, `du` and `clean --experiment`.

use serde_json::Value;

use crate::comparing::{DAY_MS, STARTED, kept, measured};
use crate::harness::TestDir;
use crate::runs::TINY;

fn json(text: &str) -> Value {
    serde_json::from_str(text).expect("--json prints JSON")
}

fn two_records() -> (TestDir, String, String) {
    let dir = TestDir::new();
    let first = kept(&dir, &measured(0), STARTED);
    let second = kept(&dir, &measured(2_000), STARTED + DAY_MS);
    (dir, first, second)
}

#[test]
fn a_label_works_wherever_an_id_does() {
    let (dir, first, second) = two_records();
    dir.ok(&["label", &first, "before", "--note", "kernel 6.18"]);
    dir.ok(&["label", "last", "after"]);
    assert_eq!(dir.ok(&["show", "before"]), dir.ok(&["show", &first]));
    let compared = |a: &str, b: &str| dir.ok(&["compare", a, b, "--json"]);
    assert_eq!(compared("before", "after"), compared(&first, &second));
    for with_label in [
        &["export", "before", "--format", "csv"][..],
        &["report", "before", "--output", "r.html"],
        &["baseline", "save", "main", "before"],
        &["expect", "--run", "before", "--vm", "D32s_v5"],
        &["size", "--from-run", "before"],
    ] {
        let ended = dir.run(with_label);
        assert_ne!(ended.code, Some(2), "{with_label:?}: {}", ended.stderr);
    }
    let taken = dir.run(&["label", "last", "before"]);
    assert_eq!(taken.code, Some(2));
    assert!(
        taken.stderr.contains(&format!("label `before` belongs to {first}")),
        "{}",
        taken.stderr
    );
    for label in ["last", "last~1", "20261121", "two words"] {
        let refused = dir.run(&["label", "last", label]);
        assert_eq!(refused.code, Some(2), "{label}");
        assert!(refused.stderr.contains("a label begins with a letter"), "{}", refused.stderr);
    }
    dir.ok(&["label", "before", "--remove"]);
    assert_eq!(dir.run(&["show", "before"]).code, Some(2));
    dir.ok(&["label", "last", "before"]);
    assert_eq!(dir.run(&["show", "after"]).code, Some(2), "a record has one label");
}

#[test]
fn a_run_is_labelled_and_a_taken_label_is_refused_before_measuring() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let run =
        ["run", "null:", "-w", "tiny.toml", "--no-progress", "--no-report", "--label", "near"];
    dir.ok(&[&run[..], &["--note", "a note"]].concat());
    let listed = json(&dir.ok(&["list", "--json"]));
    assert_eq!((&listed[0]["label"], &listed[0]["note"]), (&"near".into(), &"a note".into()));
    let again = dir.run(&run);
    assert_eq!(again.code, Some(2), "{}", again.stderr);
    assert!(again.stderr.contains("label `near` belongs to "), "{}", again.stderr);
    assert_eq!(json(&dir.ok(&["list", "--json"])).as_array().map(Vec::len), Some(1));
    let shown = json(&dir.ok(&["show", "near", "--json"]));
    let repeat = shown["repeat_command"].as_str().expect("it is text");
    assert!(!repeat.contains("--label"), "the label names one record: {repeat}");

    let pair = ["run", "null:", "null:", "--interleave", "-w", "tiny.toml", "--repeats", "1"];
    dir.measured(&[&pair[..], &["--label", "pair", "--no-progress", "--no-report"]].concat());
    for label in ["pair-A", "pair-B"] {
        dir.ok(&["show", label]);
    }
}

#[test]
fn list_shows_the_results_and_drops_columns_in_a_narrow_terminal() {
    let (dir, first, second) = two_records();
    dir.ok(&["label", &first, "before"]);
    let text = dir.ok(&["list"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[2].starts_with(&first) && lines[3].starts_with(&second), "newest last:\n{text}");
    // 40,040.5 reads of 8 KiB per second; an unloaded read takes 100 µs.
    for words in ["before", "313", "100", "2026-11-21", "/mnt/vol1", "MiB/s", "µs"] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    for width in ["80", "60", "40"] {
        let narrow = dir.ok(&["list", "--width", width]);
        let widest = narrow.lines().map(|line| line.chars().count()).max();
        assert!(widest <= width.parse().ok(), "{width}:\n{narrow}");
        // What is left of an ID still names the record.
        let id = narrow.lines().find(|line| line.contains("20261121")).expect("the record");
        let id = id.split_whitespace().next().expect("an ID");
        assert_eq!(dir.ok(&["show", id]), dir.ok(&["show", &first]));
    }
    let listed = json(&dir.ok(&["list", "--json"]));
    assert_eq!(listed[0]["throughput_bytes_per_s"], 40_040.5 * 8192.0);
    assert_eq!(listed[0]["floor_ns"], 100_000.0);
    assert!(listed[0]["disk_bytes"].as_u64() > Some(0), "{listed}");
    assert!(listed[0]["verdict"].is_string(), "{listed}");

    let index = dir.store().join("index.sqlite");
    std::fs::remove_file(index).expect("remove the index");
    assert_eq!(dir.ok(&["list"]), text, "results are computed again");
}

#[test]
fn rm_removes_what_it_can_and_reports_the_rest() {
    let (dir, first, second) = two_records();
    let ended = dir.run(&["rm", "last~1", "nothing", "last", &first]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("no record `nothing`"), "{}", ended.stderr);
    for id in [&first, &second] {
        assert_eq!(ended.stdout.matches(&format!("removed {id} (")).count(), 1, "{}", ended.stdout);
    }
    assert!(dir.ok(&["list"]).starts_with("no experiments yet"));
    assert_eq!(std::fs::read_dir(dir.store().join("runs")).expect("the store").count(), 0);
}

#[test]
fn a_running_experiment_is_not_removed() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    let long = ["run", "null:", "-w", "tiny.toml", "--measure", "60s", "--events", "jsonl"];
    let running = dir.start(&long);
    running.wait_for("run_started");
    let refused = dir.run(&["rm", "last"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stdout);
    assert!(refused.stderr.contains("it is running"), "{}", refused.stderr);
    let pruned = dir.ok(&["prune", "--older-than", "0"]);
    assert!(pruned.contains("no record is that old"), "{pruned}");
    running.signal("KILL");
    running.end();
    dir.ok(&["rm", "last"]);
}

#[test]
fn prune_removes_old_records_but_not_labelled_ones() {
    let dir = TestDir::new();
    // Long ago, whatever the clock of the host.
    let old = kept(&dir, &measured(0), 1_000_000_000_000);
    let labelled = kept(&dir, &measured(0), 1_000_000_100_000);
    dir.ok(&["label", &labelled, "kept"]);
    dir.file("tiny.toml", TINY);
    dir.measured(&["run", "null:", "-w", "tiny.toml", "--no-progress", "--no-report"]);
    let prune = ["prune", "--older-than", "30d", "--keep-labelled"];
    let dry = dir.ok(&[&prune[..], &["--dry-run"]].concat());
    assert!(
        dry.starts_with(&format!("would remove {old} (")) && dry.contains("\n1 record, "),
        "{dry}"
    );
    assert_eq!(dir.ok(&["list"]).lines().count(), 5);
    assert!(dir.ok(&prune).starts_with(&format!("removed {old} (")));
    assert_eq!(dir.ok(&prune), "no record is that old\n");
    assert!(dir.ok(&["prune", "--older-than", "30d"]).contains(&labelled));
    let unit = dir.run(&["prune", "--older-than", "30"]);
    assert!(unit.stderr.contains("expected a duration"), "{}", unit.stderr);
}

#[test]
fn du_lists_the_largest_record_first() {
    let (dir, first, second) = two_records();
    let run_directory = dir.store().join("runs").join(&first);
    std::fs::write(run_directory.join("report.html"), vec![b'x'; 3 << 20]).expect("write a file");
    let text = dir.ok(&["du"]);
    let found = [first.as_str(), &second, "total of 2 records"].map(|words| text.find(words));
    assert!(found.is_sorted() && found[0].is_some(), "{text}");
    let all = json(&dir.ok(&["du", "--json"]));
    assert_eq!(all[0]["id"], first.as_str());
    assert!(all[0]["disk_bytes"].as_u64() >= Some(3 << 20), "{all}");
}

#[test]
fn clean_removes_the_files_of_one_experiment_and_keeps_those_of_others() {
    let dir = TestDir::new();
    let named = |name: &str, stream: &str| {
        TINY.replace("\"tiny\"", &format!("\"{name}\"")).replace("stream.main", stream)
    };
    dir.file("one.toml", &named("one", "stream.main"));
    dir.file("two.toml", &named("two", "stream.other"));
    // The file sets of `both` are those of the other two.
    let both = named("both", "stream.main");
    let stream = both.split("[stream.main]").nth(1).expect("it has a stream");
    dir.file("both.toml", &format!("{both}\n[stream.other]{stream}").replace("[1, 4]", "1"));
    for name in ["one.toml", "two.toml"] {
        dir.measured(&["run", "target", "-w", name, "--no-progress", "--no-report"]);
    }
    let ours = dir.target().join("fourcorners");
    let has = |stream: &str| ours.join(format!("{stream}-1048576-0000.data")).exists();
    let cleaned = dir.ok(&["clean", "target", "--experiment", "one"]);
    assert!(cleaned.contains("removed 1 file (1 MiB)"), "{cleaned}");
    assert!(!has("main") && has("other"), "{cleaned}");

    // A file of another experiment too is kept, and the next run fills only what is missing.
    dir.measured(&["run", "target", "-w", "both.toml", "--no-progress", "--no-report"]);
    let cleaned = dir.ok(&["clean", "target", "--experiment", "two"]);
    assert!(cleaned.contains("kept 1 file that `both` uses too"), "{cleaned}");
    assert!(has("main") && has("other"), "{cleaned}");

    let unknown = dir.run(&["clean", "target", "--experiment", "thre"]);
    assert_eq!(unknown.code, Some(2));
    let words = "no experiment `thre` was measured on target: there are both, one, two";
    assert!(unknown.stderr.contains(words), "{}", unknown.stderr);

    let all = ["one", "two", "both"].map(|name| ["--experiment", name]).concat();
    let cleaned = dir.ok(&[&["clean", "target"][..], &all[..]].concat());
    assert!(cleaned.contains("removed the directory"), "{cleaned}");
}
