//! `export` of intervals, for analysis in other programs, and `schema results`.

use std::path::Path;
use std::process::Command;

use crate::harness::TestDir;

/// Two runs of two measured intervals each.
const TINY: &str = "\
name = \"tiny\"
[run]
warm_up = \"50ms\"
measure = \"100ms\"
interval = \"50ms\"
[stream.all]
read = \"100%\"
pattern = \"random\"
transfer_size = \"4KiB\"
files = 1
file_size = \"1MiB\"
queue_depth = [1, 2]
";

fn measured(dir: &TestDir) {
    dir.file("tiny.toml", TINY);
    dir.measured(&["run", "null:", "-w", "tiny.toml", "--no-report"]);
}

fn lines(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split(',').collect()).collect()
}

#[test]
fn intervals_of_several_records_are_exported_into_one_file_or_a_folder() {
    let dir = TestDir::new();
    measured(&dir);
    measured(&dir);
    let text = dir.ok(&["export", "last~1", "last", "--format", "intervals"]);
    let all = lines(&text);
    let column = |name: &str| all[0].iter().position(|one| *one == name).expect("a column");
    // In the order of their start; those of the same second are not in the order of their names.
    let mut ids: Vec<&str> = all[1..].iter().map(|line| line[column("experiment_id")]).collect();
    ids.dedup();
    assert_eq!(ids.len(), 2, "{text}");
    let measured = all[1..].iter().filter(|line| line[column("phase")] == "measure");
    // Two records of two load points with two intervals each; all streams only read.
    assert_eq!(measured.count(), 8, "{text}");
    assert!(all[1..].iter().all(|line| line[column("operation")] == "read"), "{text}");

    dir.ok(&["export", "--all", "--format", "intervals", "--output", "each/"]);
    let mut together = String::new();
    for id in ids {
        let path = dir.path().join("each").join(format!("{id}.csv"));
        let file = std::fs::read_to_string(&path).expect("a file per record");
        together.extend(file.lines().skip(1).map(|line| format!("{line}\n")));
    }
    assert_eq!(together, text.split_once('\n').expect("a heading").1);
}

#[test]
fn a_damaged_record_is_left_out_of_all_and_refused_by_name() {
    let dir = TestDir::new();
    measured(&dir);
    measured(&dir);
    let runs = dir.store().join("runs");
    let names = std::fs::read_dir(&runs).expect("the store has runs");
    let mut names: Vec<_> = names.map(|entry| entry.expect("an entry").file_name()).collect();
    names.sort();
    let damaged = names[0].to_str().expect("IDs are text");
    std::fs::write(runs.join(damaged).join("manifest.json"), "{").expect("damage the manifest");
    let all = dir.run(&["export", "--all", "--format", "intervals", "-o", "all.csv"]);
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    assert!(all.stderr.contains(&format!("{damaged} is left out")), "{}", all.stderr);
    let before = std::fs::read(dir.path().join("all.csv")).expect("the file was written");
    let named = dir.run(&["export", damaged, "--format", "intervals", "-o", "all.csv"]);
    assert_eq!(named.code, Some(2), "{}", named.stderr);
    assert!(named.stderr.contains("manifest.json"), "{}", named.stderr);
    assert_eq!(std::fs::read(dir.path().join("all.csv")).expect("it is still there"), before);
}

#[test]
fn formats_of_one_record_refuse_several() {
    let dir = TestDir::new();
    for arguments in
        [&["export", "a", "b", "--format", "csv"][..], &["export", "--all", "--format", "json"]]
    {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}");
        assert!(ended.stderr.contains("takes one ID"), "{}", ended.stderr);
    }
    let none = dir.run(&["export", "--all", "--format", "intervals"]);
    assert_eq!(none.code, Some(2));
    assert!(none.stderr.contains("no experiments in"), "{}", none.stderr);
}

/// Tests of the whole workspace are built with Parquet, those of this crate without it.
#[test]
fn parquet_is_written_or_the_build_with_it_is_named() {
    let dir = TestDir::new();
    measured(&dir);
    let ended = dir.run(&["export", "last", "--format", "parquet", "-o", "last.parquet"]);
    let written = std::fs::read(dir.path().join("last.parquet"));
    match ended.code {
        Some(0) => {
            let file = written.expect("the file was written");
            assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        }
        _ => {
            assert_eq!(ended.code, Some(2), "{}", ended.stderr);
            assert!(ended.stderr.contains("--features parquet"), "{}", ended.stderr);
            assert!(written.is_err());
        }
    }
}

#[test]
fn printed_results_satisfy_the_printed_schema() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.file("schema.json", &dir.ok(&["schema", "results"]));
    let run = ["run", "null:", "-w", "tiny.toml", "--no-report", "--json"];
    dir.file("run.json", &dir.measured(&run));
    let tune = ["tune", "null:", "--target-rate", "1k/s", "--no-report", "--json"];
    let quick = ["--measure", "200ms", "--warm-up", "100ms", "--interval", "20ms"];
    dir.file("tune.json", &dir.measured(&[&tune[..], &quick].concat()));
    let names = ["--mix", "lookup", "--files", "40", "--queue-depth-max", "2"];
    let tune = ["tune", "--target-rate", "100/s", "--no-report", "--json"];
    dir.file("names.json", &dir.measured(&[&tune[..], &names, &quick].concat()));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../report/tests/validate.py");
    let validated = Command::new("/usr/bin/python3")
        .arg(script)
        .args(["schema.json", "run.json", "tune.json", "names.json"])
        .current_dir(dir.path())
        .output()
        .expect("start python3");
    assert!(validated.status.success(), "{}", String::from_utf8_lossy(&validated.stdout));
}
