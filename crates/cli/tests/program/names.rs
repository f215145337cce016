//! Operations on names: from an experiment to a record, what a killed run leaves, and `clean`.

use std::fs;

use crate::harness::TestDir;

const NAMES: &str = r#"
name = "names"
[run]
warm_up = "250ms"
measure = "1s"
interval = "250ms"
[stream.home]
names = { files = 4000, depth = 2, width = 5, size = { "0" = "10%", "3000" = "60%", "20KiB" = "30%" } }
mix = { create = "10%", unlink = "10%", stat = "30%", open = "10%", rename = "5%", read_file = "20%", write_file = "10%", readdir = "5%" }
queue_depth = 2
workers = 2
"#;

fn target(dir: &TestDir) -> String {
    fs::create_dir_all(dir.target()).expect("the target can be made");
    dir.target().display().to_string()
}

#[test]
fn names_are_measured_on_a_directory_and_on_the_emulated_volume_and_removed_by_clean() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    let target = target(&dir);
    for engine in ["psync", "io_uring"] {
        dir.measured(&["run", &target, "-w", "names.toml", "--verify", "--engine", engine]);
    }
    dir.measured(&["run", "-w", "names.toml", "--verify"]);
    dir.ok(&["clean", &target]);
    let left = fs::read_dir(dir.target()).expect("the target can be listed").count();
    assert_eq!(left, 0);
}

#[test]
fn a_run_after_a_killed_one_finds_the_tree_that_it_needs() {
    let dir = TestDir::new();
    dir.file("names.toml", &NAMES.replace("measure = \"1s\"", "measure = \"30s\""));
    dir.file("short.toml", NAMES);
    let target = target(&dir);
    for _ in 0..3 {
        let running = dir.start(&["run", &target, "-w", "names.toml", "--events", "jsonl"]);
        running.wait_for("\"interval\"");
        running.wait_for("\"interval\"");
        running.signal("KILL");
        drop(running);
    }
    dir.measured(&["run", &target, "-w", "short.toml", "--verify"]);
    dir.ok(&["clean", &target]);
}

#[test]
fn a_tree_of_another_plan_is_refused_and_replaced_on_request() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    dir.file("other.toml", &NAMES.replace("files = 4000", "files = 5000"));
    let target = target(&dir);
    dir.measured(&["run", &target, "-w", "names.toml"]);
    let refused = dir.run(&["run", &target, "-w", "other.toml"]);
    assert!(refused.stderr.contains("is a tree of another plan"), "{}", refused.stderr);
    assert!(refused.stderr.contains("--refill"), "{}", refused.stderr);
    dir.measured(&["run", &target, "-w", "other.toml", "--refill"]);
}

#[test]
fn operations_on_names_on_several_hosts_are_refused() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    let target = target(&dir);
    let refused = dir.run(&["run", &target, "-w", "names.toml", "--hosts", "a,b"]);
    assert!(refused.stderr.contains("stream home: operations on names"), "{}", refused.stderr);
    assert!(refused.stderr.contains("leave out `--hosts`"), "{}", refused.stderr);
}
