//! `check` on this host and on captured hosts.

use std::path::Path;
use std::process::Command;

use expect_test::expect_file;

use crate::harness::{Ended, TestDir};

/// Unpacks a host of `tests/hosts` into the test directory.
fn unpack(dir: &TestDir, name: &str) {
    let file = format!("{}/tests/hosts/{name}.txt", env!("CARGO_MANIFEST_DIR"));
    let archive = std::fs::read_to_string(file).expect("the host is there");
    for part in archive.split("==> ").skip(1) {
        let (path, text) = part.split_once(" <==\n").expect("a path precedes its text");
        let path = dir.path().join(name).join(path);
        std::fs::create_dir_all(path.parent().expect("it is below")).expect("make the tree");
        std::fs::write(path, text).expect("write the tree");
    }
}

/// Compares the output of `check` for a captured host with a stored file.
fn check_captured(host: &str, golden: &str, arguments: &[&str], code: i32) -> Ended {
    let dir = TestDir::new();
    unpack(&dir, host);
    let ended = dir.run(&[&["check", "--root", host][..], arguments].concat());
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
    let arguments = ["/mnt/vol1", "--target-rate", "1500MiB/s", "--rtt", "1ms"];
    check_captured("azure-d32s-tuned", "azure-d32s-tuned.txt", &arguments, 0);
    let all = [&arguments[..], &["--all"]].concat();
    check_captured("azure-d32s-tuned", "azure-d32s-tuned.all.txt", &all, 0);
    let json = [&arguments[..], &["--json"]].concat();
    check_captured("azure-d32s-tuned", "azure-d32s-tuned.json", &json, 0);
}

#[test]
fn an_untuned_vm_gets_the_commands_to_change() {
    let arguments = ["/mnt/vol1", "--target-rate", "2GiB/s"];
    check_captured("azure-d32s-defaults", "azure-d32s-defaults.txt", &arguments, 1);
    let markdown = [&arguments[..], &["--format", "md"]].concat();
    check_captured("azure-d32s-defaults", "azure-d32s-defaults.md", &markdown, 1);
}

#[test]
fn an_idle_virtual_function_is_a_problem() {
    let ended = check_captured("azure-d8s-vf-idle", "azure-d8s-vf-idle.txt", &["/mnt/vol1"], 1);
    assert!(ended.stdout.contains("problem: accelerated networking"), "{}", ended.stdout);
}

#[test]
fn kerberos_is_reported_with_its_cost() {
    let ended = check_captured("azure-e16s-krb5p", "azure-e16s-krb5p.txt", &["/mnt/vol4/data"], 0);
    assert!(ended.stdout.contains("85 % less sequential"), "{}", ended.stdout);
}

#[test]
fn a_host_outside_azure_is_checked_without_azure_rules() {
    let ended =
        check_captured("bare-metal", "bare-metal.txt", &["/srv/scratch", "--rtt", "200us"], 1);
    for absent in ["net.accelerated", "vm.egress"] {
        assert!(!ended.stdout.contains(absent), "{absent}");
    }
}

#[test]
fn a_container_without_a_target_is_checked_as_a_host() {
    check_captured("container", "container.txt", &[], 0);
}

#[test]
fn an_export_is_checked_by_its_url_and_not_by_mounts() {
    let url = "nfs://10.0.1.4/vol1?nconnect=4&slots=256&privileged=true";
    check_captured("azure-d32s-tuned", "export.txt", &[url, "--rtt", "350us"], 1);
}

#[test]
fn the_reference_page_lists_exactly_the_existing_checks() {
    let page = include_str!("../../../../docs/reference/check.md");
    let mut found = std::collections::BTreeSet::new();
    for (host, target) in [
        ("azure-d32s-tuned", "/mnt/vol1"),
        ("azure-d32s-tuned", "nfs://10.0.1.4/vol1?nconnect=8&privileged=true"),
        ("azure-d8s-vf-idle", "/mnt/vol1"),
        ("azure-e16s-krb5p", "/mnt/vol4"),
        ("bare-metal", "/srv/scratch"),
    ] {
        let dir = TestDir::new();
        unpack(&dir, host);
        let ended = dir.run(&["check", target, "--root", host, "--json"]);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        for check in json["checks"].as_array().expect("checks are a list") {
            found.insert(check["id"].as_str().expect("an ID is text").to_owned());
        }
    }
    // Only where there are local locks, and in a container with a limit.
    found.extend(["mount.locks".to_owned(), "cpu.quota".to_owned()]);
    let rows = page.lines().filter(|line| line.starts_with("| `"));
    let ids = rows.filter_map(|row| row.split('|').nth(1));
    let documented: std::collections::BTreeSet<String> = ids
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .filter(|id| id.contains('.') || *id == "io_uring")
        .map(str::to_owned)
        .collect();
    assert_eq!(found, documented);
}

/// Captures the host that runs the test, as a user would.
fn capture(dir: &TestDir, name: &str) {
    dir.file("capture.sh", &dir.ok(&["check", "--capture-script"]));
    let captured = Command::new("sh")
        .args(["capture.sh", name])
        .current_dir(dir.path())
        .output()
        .expect("start the shell");
    assert!(captured.status.success(), "{}", String::from_utf8_lossy(&captured.stderr));
}

#[test]
fn a_captured_host_has_the_same_facts_as_the_host() {
    let dir = TestDir::new();
    capture(&dir, "here");
    let facts = |arguments: &[&str]| {
        let ended = dir.run(arguments);
        let json: serde_json::Value = serde_json::from_str(&ended.stdout).expect("it is JSON");
        json["facts"].as_object().expect("facts are an object").clone()
    };
    let live = facts(&["check", "--json"]);
    let captured = facts(&["check", "--json", "--root", "here"]);
    // Trials and counters differ from one check to the next; limits are those of the shell.
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
    let dir = TestDir::new();
    capture(&dir, "here");
    for entry in walk(&dir.path().join("here")) {
        let name = entry.to_string_lossy().into_owned();
        for secret in ["shadow", "passwd", "environ", "cmdline", "ssh", "krb5", "authorized"] {
            assert!(!name.contains(secret), "{name}");
        }
    }
    let again = Command::new("sh")
        .args(["capture.sh", "here"])
        .current_dir(dir.path())
        .output()
        .expect("start the shell");
    assert_eq!(again.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&again.stderr).contains("already exists"));
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
fn a_directory_without_a_captured_host_is_refused_with_the_missing_files() {
    let dir = TestDir::new();
    let ended = dir.run(&["check", "--root", "target"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    for said in ["proc/self/mountinfo", "proc/cpuinfo", "--capture-script"] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    let ended = dir.run(&["check", "--root", "nowhere"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
}

#[test]
fn contradictory_arguments_are_refused() {
    let dir = TestDir::new();
    capture(&dir, "here");
    for (arguments, said) in [
        (&["check", "null:"][..], "it has no storage"),
        (&["check", "nowhere"], "nowhere"),
        (&["check", "--target-rate", "0"], "above 0"),
        (&["check", "--target-rate", "fast"], "a throughput such as"),
        // The former name of the flag.
        (&["check", "--want", "fast"], "a throughput such as"),
        (&["check", "--rtt", "0s"], "above 0"),
        (&["check", "-o", "nconnect=8"], "no export is named"),
        (&["check", "target", "--root", "here"], "absolute path on that host"),
        (&["check", "--capture-script", "--json"], "cannot be used"),
        (&["check", "--json", "--format", "md"], "cannot be used"),
    ] {
        let ended = dir.run(arguments);
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stdout);
        assert!(ended.stderr.contains(said), "{arguments:?}: {}", ended.stderr);
    }
}

#[test]
fn a_damaged_captured_host_never_causes_an_internal_error() {
    let dir = TestDir::new();
    unpack(&dir, "azure-d8s-vf-idle");
    let files = walk(&dir.path().join("azure-d8s-vf-idle"));
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
            let ended = dir.run(&[&["check", "/mnt/vol1"][..], &tree].concat());
            assert!(matches!(ended.code, Some(0 | 1)), "{:?} {}", ended.code, ended.stderr);
        }
    }
}

#[test]
fn the_round_trip_to_an_export_is_measured() {
    let dir = TestDir::new();
    let served = dir.start(&["volume", "serve", "--metrics", "127.0.0.1:0"]);
    let line = served.wait_for("nfs://");
    let url = line.split_once("nfs://").map(|(_, rest)| format!("nfs://{}", rest.trim()));
    let ended = dir.run(&["check", &url.expect("the line has a URL"), "--json"]);
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
fn an_unreachable_target_is_an_error_and_not_a_pass() {
    let dir = TestDir::new();
    dir.file("file", "");
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("listen");
    let port = listener.local_addr().expect("it has an address").port();
    // The port now refuses connections.
    drop(listener);
    let url = format!("nfs://127.0.0.1/vol1?port={port}&mountport={port}");
    for (target, words) in [
        ("missing", "`missing` does not exist"),
        ("missing/below", "`missing/below` does not exist"),
        ("file", "`file` is not a directory"),
        (&url, "mount `nfs://127.0.0.1"),
    ] {
        let ended = dir.run(&["check", target]);
        assert_eq!(ended.code, Some(2), "{target}: {}", ended.stdout);
        assert_eq!(ended.stdout, "", "{target}: nothing is checked");
        assert!(ended.stderr.contains(words), "{target}: {}", ended.stderr);
        assert!(ended.stderr.contains("what to do"), "{target}: {}", ended.stderr);
    }
}
