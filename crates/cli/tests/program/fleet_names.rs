//! Operations on names on several hosts: every host changes its part of one tree, which is compared with
//! the operations of all of them.

use serde_json::Value;

use crate::fleet_runs::{agents, events, number, signal};
use crate::harness::{Ended, TestDir};
use crate::volumes::Served;

/// Every class of names. The load is low, so that hosts on a busy machine deliver their intervals.
const NAMES: &str = r#"
name = "names"
[run]
warm_up = "250ms"
measure = "1s"
interval = "250ms"
[stream.home]
names = { files = 3000, depth = 2, width = 4, size = { "0" = "10%", "3000" = "60%", "20KiB" = "30%" } }
queue_depth = 2
workers = 1
[stream.home.mix]
create = "8%"
copy = "2%"
link = "2%"
symlink = "2%"
unlink = "14%"
mkdir = "2%"
rmdir = "2%"
rename = "5%"
append = "3%"
truncate = "2%"
write_file = "3%"
readlink = "2%"
readdir = "3%"
read_file = "15%"
stat = "25%"
lookup = "5%"
access = "5%"
"#;

const COMPARED: &str = "Compared the tree with its operations";

fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Asserts that a run succeeded and its trees are as its operations must have left them.
fn assert_compared(ended: &Ended, how: &str) {
    assert!(matches!(ended.code, Some(0 | 1)), "{how}: {}\n{}", ended.stdout, ended.stderr);
    // With events on standard output the results are on standard error.
    let words = unwrapped(&format!("{}\n{}", ended.stdout, ended.stderr));
    assert!(words.contains(COMPARED), "{how}: {words}");
    assert!(words.contains("no differences; every byte was read."), "{how}: {words}");
}

/// The trees in the lines of `trees_compared`.
fn trees(stdout: &str) -> Vec<Value> {
    let lines = events(stdout).into_iter().filter(|event| event["event"] == "trees_compared");
    lines.flat_map(|line| line["trees"].as_array().expect("a list").clone()).collect()
}

#[test]
fn three_hosts_share_the_tree_of_a_directory_and_of_an_export() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    let served = Served::start(&dir, &["--address", "127.0.0.1:0", "--no-limits"]);
    let url = format!("nfs://127.0.0.1:{0}/vol1?mountport={0}", served.port);
    let common = ["-w", "names.toml", "--create", "--verify", "--hosts", "local:3"];
    let more = ["--repeats", "2", "--events", "jsonl"];
    for target in ["target", &url] {
        let ended = dir.run(&[&["run", target][..], &common, &more].concat());
        assert_compared(&ended, target);
        assert!(unwrapped(&ended.stderr).contains("after each of 2 runs"), "{}", ended.stderr);
        let trees = trees(&ended.stdout);
        assert_eq!(trees.len(), 2, "one tree after each run: {trees:?}");
        for tree in trees {
            let found = &tree["compared"];
            // Of 3,000 files some are renamed, linked and copied; the operations of each worker on
            // names that are added and removed cancel out.
            assert!(number(found, "files") > 3000, "{tree}");
            assert!(number(found, "symbolic_links") > 0, "{tree}");
            assert_eq!(number(found, "unknown"), 0, "{tree}");
        }
        // All three hosts measured.
        let events = events(&ended.stdout);
        for host in 0..3 {
            let of_host =
                |event: &&Value| event["event"] == "host_interval" && event["host_index"] == host;
            let completed: u64 =
                events.iter().filter(of_host).map(|event| number(event, "completed")).sum();
            assert!(completed > 0, "host {host}");
        }
        // A run on this host finds the same tree.
        let alone = dir.run(&[&["run", target][..], &common[..4]].concat());
        assert!(matches!(alone.code, Some(0 | 1)), "{}", alone.stderr);
    }
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn the_service_counts_the_procedures_of_all_hosts_as_they_do() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    let arguments =
        ["run", "-w", "names.toml", "--verify", "--hosts", "local:2", "--events", "jsonl"];
    let ended = dir.run(&arguments);
    assert_compared(&ended, "emulated volume");
    assert!(ended.stderr.contains("Service-side counters agree"), "{}", ended.stderr);
    let events = events(&ended.stdout);
    let counted = events.iter().find(|event| event["event"] == "service_counters");
    let procedures = counted.expect("the volume counts")["procedures"].as_array().expect("a list");
    let calls = |name: &str| {
        let found = procedures.iter().find(|one| one["procedure"] == name);
        number(found.unwrap_or_else(|| panic!("{name} in {procedures:?}")), "calls")
    };
    for name in ["CREATE", "REMOVE", "RENAME", "LINK", "SYMLINK", "MKDIR", "RMDIR", "GETATTR"] {
        assert!(calls(name) > 0, "{name}");
    }
    assert!(procedures.iter().all(|one| one["procedure"] != "FSSTAT"), "it does not occur");
}

#[test]
fn hosts_and_targets_are_swept_and_every_target_has_its_tree() {
    let dir = TestDir::new();
    let targets = "[target.one]\n[target.two]\n";
    let (name, rest) = NAMES.trim_start().split_once('\n').expect("it has lines");
    let swept = rest.replace("[run]\n", "[run]\nhosts = [1, 2]\n");
    // Of targets that hosts use in turn there are not more than hosts.
    for (spread, text, expected) in [
        ("all", &swept[..], &[0, 1, 0, 1][..]),
        ("worker", &swept, &[0, 1, 0, 1]),
        ("host", rest, &[0, 1]),
    ] {
        let text = text.replace("workers = 1", &format!("workers = 2\nspread = \"{spread}\""));
        dir.file("many.toml", &format!("{name}\n{targets}{text}"));
        let arguments =
            ["run", "-w", "many.toml", "--verify", "--hosts", "local:2", "--events", "jsonl"];
        let ended = dir.run(&arguments);
        assert_compared(&ended, spread);
        assert!(ended.stderr.contains("Service-side counters agree"), "{spread}: {}", ended.stderr);
        let trees = trees(&ended.stdout);
        let targets: Vec<u64> = trees.iter().map(|tree| number(tree, "target_index")).collect();
        assert_eq!(targets, expected, "{spread}");
        assert!(trees.iter().all(|tree| tree["not_compared"].is_null()), "{spread}: {trees:?}");
    }
}

#[test]
fn a_tree_that_a_lost_host_has_used_is_not_compared_and_the_next_run_repairs_it() {
    let dir = TestDir::new();
    dir.file("names.toml", NAMES);
    let run = ["run", "target", "-w", "names.toml", "--create", "--verify"];
    let fleet = ["--hosts", "local:3", "--events", "jsonl", "--on-lost", "continue"];
    // Once the host that makes and compares trees, and once another.
    for lost in [1, 0] {
        let running = dir.start(&[&run[..], &fleet, &["--measure", "3s"]].concat());
        running.wait_for("host_interval");
        signal(&agents(running.id())[lost], "KILL");
        let ended = running.end();
        assert_eq!(ended.code, Some(1), "{}\n{}", ended.stdout, ended.stderr);
        let [tree] = &trees(&ended.stdout)[..] else { panic!("one tree: {}", ended.stdout) };
        assert_eq!(tree["not_compared"], "host_lost");
        let reason = "The tree was not compared with its operations: a host was lost";
        assert!(unwrapped(&ended.stderr).contains(reason), "{}", ended.stderr);
    }
    assert_compared(&dir.run(&[&run[..], &fleet[..2]].concat()), "after a lost host");
    // What no operation can have left is refused by the host that makes the tree.
    let ours = dir.target().join("fourcorners");
    let mut entries = std::fs::read_dir(&ours).expect("it exists");
    let tree = entries.find_map(|entry| {
        let path = entry.expect("it can be read").path();
        (path.extension()? == "tree").then_some(path)
    });
    std::fs::write(tree.expect("there is one").join("mine"), "mine").expect("write a file");
    let refused = dir.run(&[&run[..], &fleet[..2]].concat());
    assert_eq!(refused.code, Some(2), "{}\n{}", refused.stdout, refused.stderr);
    assert!(unwrapped(&refused.stderr).contains("did not create"), "{}", refused.stderr);
}
