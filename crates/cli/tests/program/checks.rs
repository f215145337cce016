//! `check` judges this host and captured ones, and says what it cannot know.

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

use crate::harness::{Ended, Place};

/// Unpacks a host of `tests/hosts` into the place.
fn unpack(place: &Place, name: &str) {
    let file = format!("{}/tests/hosts/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let archive = std::fs::read_to_string(file).expect("the host is there");
    for part in archive.split("==> ").skip(1) {
        let (path, text) = part.split_once(" <==\n").expect("a path stands before its text");
        let path = place.path().join(name).join(path);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("make the tree");
        std::fs::write(path, text).expect("write the tree");
    }
}

/// What `check` says of a captured host, held against a golden file.
fn holds(host: &str, golden: &str, arguments: &[&str], code: i32) -> Ended {
    let place = Place::new();
    unpack(&place, host);
    let ended = place.run(&[&["check", "--root", host][..], arguments].concat());
    assert_eq!(ended.stderr, "");
    let file = format!("{}/tests/golden/check/{golden}", env!("CARGO_MANIFEST_DIR"));
    expect_file![file].assert_eq(&ended.stdout);
    if golden.ends_with(".txt") {
        let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{golden} is wider than 80 columns");
    }
    assert_eq!(ended.code, Some(code), "{}", ended.stdout);
    ended
}

#[test]
fn a_tuned_machine_on_azure_has_no_problem() {
    let arguments = ["/mnt/vol1", "--want", "1500MiB/s", "--rtt", "1ms"];
    holds("azure-d32s-tuned", "azure-d32s-tuned.txt", &arguments, 0);
    let all = [&arguments[..], &["--all"]].concat();
    holds("azure-d32s-tuned", "azure-d32s-tuned.all.txt", &all, 0);
    let json = [&arguments[..], &["--json"]].concat();
    holds("azure-d32s-tuned", "azure-d32s-tuned.json", &json, 0);
}

#[test]
fn a_machine_as_it_is_found_is_told_what_to_change() {
    let arguments = ["/mnt/vol1", "--want", "2GiB/s"];
    holds("azure-d32s-defaults", "azure-d32s-defaults.txt", &arguments, 1);
    let markdown = [&arguments[..], &["--format", "md"]].concat();
    holds("azure-d32s-defaults", "azure-d32s-defaults.md", &markdown, 1);
}

#[test]
fn a_virtual_function_that_carries_nothing_is_a_problem() {
    let ended = holds("azure-d8s-vf-idle", "azure-d8s-vf-idle.txt", &["/mnt/vol1"], 1);
    assert!(ended.stdout.contains("problem: accelerated networking"), "{}", ended.stdout);
}

#[test]
fn kerberos_is_told_with_what_it_costs() {
    let ended = holds("azure-e16s-krb5p", "azure-e16s-krb5p.txt", &["/mnt/vol4/data"], 0);
    assert!(ended.stdout.contains("85 % of sequential MiB/s"), "{}", ended.stdout);
}

#[test]
fn a_host_that_is_not_on_azure_is_judged_without_its_rules() {
    let ended = holds("bare-metal", "bare-metal.txt", &["/srv/scratch", "--rtt", "200us"], 1);
    for absent in ["net.accelerated", "vm.egress"] {
        assert!(!ended.stdout.contains(absent), "{absent}");
    }
}

#[test]
fn a_container_without_a_store_is_judged_as_a_host() {
    holds("container", "container.txt", &[], 0);
}

#[test]
fn an_export_is_judged_by_its_url_and_not_by_mounts() {
    let url = "nfs://10.0.1.4/vol1?nconnect=4&slots=256&privileged=true";
    holds("azure-d32s-tuned", "export.txt", &[url, "--rtt", "350us"], 1);
}

#[test]
fn the_reference_page_has_every_check_and_no_other() {
    let page = include_str!("../../../../docs/reference/check.md");
    let mut told = std::collections::BTreeSet::new();
    for (host, target) in [
        ("azure-d32s-tuned", "/mnt/vol1"),
        ("azure-d32s-tuned", "nfs://10.0.1.4/vol1?nconnect=8&privileged=true"),
        ("azure-d8s-vf-idle", "/mnt/vol1"),
        ("azure-e16s-krb5p", "/mnt/vol4"),
        ("bare-metal", "/srv/scratch"),
    ] {
        let place = Place::new();
        unpack(&place, host);
        let ended = place.run(&["check", target, "--root", host, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        for check in json["checks"].as_array().expect("checks are a list") {
            told.insert(check["id"].as_str().expect("an ID is text").to_owned());
        }
    }
    // Only where there are local locks, and in a container with a limit.
    told.extend(["mount.locks".to_owned(), "cpu.quota".to_owned()]);
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let ids = rows.filter_map(|row| row.split('|').nth(1));
    let documented: std::collections::BTreeSet<String> = ids
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|id| id.contains('.') || *id == "io_uring")
        .map(str::to_owned)
        .collect();
    assert_eq!(told, documented);
}

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

#[test]
fn a_captured_host_that_is_damaged_is_never_our_defect() {
    let place = Place::new();
    unpack(&place, "azure-d8s-vf-idle");
    let files = walk(&place.path().join("azure-d8s-vf-idle"));
    let whole: Vec<Vec<u8>> =
        files.iter().map(|file| std::fs::read(file).expect("read the tree")).collect();
    // xorshift64: the same damage in every run of the test.
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for _ in 0..12 {
        for (file, whole) in files.iter().zip(&whole) {
            let mut bytes = whole.clone();
            match next(4) {
                0 => bytes.truncate(next(bytes.len() + 1)),
                1 if !bytes.is_empty() => {
                    for _ in 0..3 {
                        let at = next(bytes.len());
                        bytes[at] = next(256) as u8;
                    }
                }
                2 => bytes = b"18446744073709551615".to_vec(),
                _ => {}
            }
            std::fs::write(file, bytes).expect("damage the tree");
        }
        for form in ["--all", "--json"] {
            let tree = ["--root", "azure-d8s-vf-idle", "--rtt", "1ms", form];
            let ended = place.run(&[&["check", "/mnt/vol1"][..], &tree].concat());
            assert!(matches!(ended.code, Some(0 | 1)), "{:?} {}", ended.code, ended.stderr);
        }
    }
}

#[test]
fn an_export_that_is_served_here_is_checked_with_the_round_trip_to_it() {
    let place = Place::new();
    let served = place.start(&["volume", "serve", "--metrics", "127.0.0.1:0"]);
    let line = served.wait_for("nfs://");
    let url = line.split_once("nfs://").map(|(_, rest)| format!("nfs://{}", rest.trim()));
    let ended = place.run(&["check", &url.expect("it stands there"), "--json"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{line}{}", ended.stderr);
    let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
    assert!(json["round_trip_s"].as_f64().is_some_and(|time| time > 0.0), "{}", ended.stdout);
    assert_eq!(json["facts"]["nic.name"], "lo");
    let ids = json["checks"].as_array().expect("checks are a list");
    assert!(ids.iter().all(|check| check["subject"] != "mount"), "{}", ended.stdout);
    served.signal("TERM");
    assert_eq!(served.end().code, Some(0));
}

#[test]
fn a_target_that_cannot_be_reached_is_an_error_and_not_free_of_problems() {
    let place = Place::new();
    place.file("file", "");
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listen");
    let port = listener.local_addr().expect("it has an address").port();
    // From here on the port refuses.
    drop(listener);
    let url = format!("nfs://127.0.0.1/vol1?port={port}&mountport={port}");
    for (target, words) in [
        ("missing", "`missing` does not exist"),
        ("missing/below", "`missing/below` does not exist"),
        ("file", "`file` is not a directory"),
        (&url, "mount `nfs://127.0.0.1"),
    ] {
        let ended = place.run(&["check", target]);
        assert_eq!(ended.code, Some(2), "{target}: {}", ended.stdout);
        assert_eq!(ended.stdout, "", "{target}: nothing is judged");
        assert!(ended.stderr.contains(words), "{target}: {}", ended.stderr);
        assert!(ended.stderr.contains("what to do"), "{target}: {}", ended.stderr);
    }
}
