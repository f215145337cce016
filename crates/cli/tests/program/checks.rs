//! `check` judges this host and captured ones, and says what it cannot know.

use std::path::Path;
use std::process::Command;

use crate::harness::Place;

/// Captures the host that runs the test, as a user would.
fn capture(place: &Place, name: &str) {
    place.file("capture.sh", &place.ok(&["check", "--capture-script"]));
    let captured = Command::new("sh")
        .args(["capture.sh", name])
        .current_dir(place.path())
        .output()
        .expect("start the shell");
    assert!(captured.status.success(), "{}", String::from_utf8_lossy(&captured.stderr));
}

#[test]
fn a_captured_host_is_judged_by_the_same_facts_as_the_host_itself() {
    let place = Place::new();
    capture(&place, "here");
    let facts = |arguments: &[&str]| {
        let ended = place.run(arguments);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        json["facts"].as_object().expect("facts are an object").clone()
    };
    let live = facts(&["check", "--json"]);
    let captured = facts(&["check", "--json", "--root", "here"]);
    // What is tried or counted differs from one look to the next; limits are those of the shell.
    let changes = ["cpu.steal", "generator.", "io_uring.tried", "limit.", "nic.rx_", "nic.tx_"];
    let changes = |name: &str| changes.iter().any(|one| name.starts_with(one));
    for (name, value) in live.iter().filter(|(name, _)| !changes(name)) {
        if !name.starts_with("virtualisation") {
            assert_eq!(captured.get(name), Some(value), "{name}");
        }
    }
    assert!(!captured.contains_key("generator.ops_per_s"));
    assert!(live.contains_key("generator.ops_per_s"));
}

#[test]
fn a_capture_copies_no_secrets_and_replaces_nothing() {
    let place = Place::new();
    capture(&place, "here");
    for entry in walk(&place.path().join("here")) {
        let name = entry.to_string_lossy().into_owned();
        for secret in ["shadow", "passwd", "environ", "cmdline", "ssh", "krb5", "authorized"] {
            assert!(!name.contains(secret), "{name}");
        }
    }
    let again = Command::new("sh")
        .args(["capture.sh", "here"])
        .current_dir(place.path())
        .output()
        .expect("start the shell");
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("is there already"));
}

fn walk(directory: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_path_buf()];
    while let Some(directory) = left.pop() {
        for entry in std::fs::read_dir(directory).expect("list the tree") {
            let path = entry.expect("list the tree").path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_directory_that_is_no_captured_host_is_refused_with_what_is_missing() {
    let place = Place::new();
    let ended = place.run(&["check", "--root", "target"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for said in ["proc/self/mountinfo", "proc/cpuinfo", "--capture-script"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    let ended = place.run(&["check", "--root", "nowhere"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
}

#[test]
fn arguments_that_cannot_be_meant_are_refused() {
    let place = Place::new();
    capture(&place, "here");
    for (arguments, said) in [
        (&["check", "null:"][..], "there is no store"),
        (&["check", "nowhere"], "nowhere"),
        (&["check", "--want", "0"], "above 0"),
        (&["check", "--want", "fast"], "a throughput such as"),
        (&["check", "--rtt", "0s"], "more than 0"),
        (&["check", "-o", "nconnect=8"], "no export is named"),
        (&["check", "target", "--root", "here"], "from `/` on"),
        (&["check", "--capture-script", "--json"], "cannot be used"),
        (&["check", "--json", "--format", "md"], "cannot be used"),
    ] {
        let ended = place.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stdout);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
}
