//! The refusals of a target as a user meets them: the reason, the remedy, exit code 2, and nothing
//! written.

use std::path::Path;
use std::process::Command;

use crate::harness::{Ended, TestDir};
use crate::runs::TINY;

fn refused(dir: &TestDir, arguments: &[&str], said: &str) -> Ended {
    dir.file("tiny.toml", TINY);
    for command in ["plan", "run"] {
        let all = [&[command], arguments, &["-w", "tiny.toml"]].concat();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(said), "{all:?} says `{said}`:\n{}", ended.stderr);
        if command == "run" {
            return ended;
        }
    }
    unreachable!("the loop ends with `run`")
}

fn entries(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(directory)
        .expect("list a directory")
        .map(|entry| entry.expect("list a directory").file_name().into_string().expect("text"))
        .collect();
    names.sort();
    names
}

#[test]
fn a_directory_with_foreign_files_is_refused_unless_overridden() {
    let dir = TestDir::new();
    std::fs::write(dir.target().join("thesis.txt"), "irreplaceable").unwrap();
    let ended = refused(&dir, &["target"], "contains an entry that is not ours");
    assert!(ended.stderr.contains("--among-foreign-files"), "{}", ended.stderr);
    assert_eq!(entries(&dir.target()), ["thesis.txt"]);

    dir.ok(&["run", "target", "-w", "tiny.toml", "--among-foreign-files"]);
    assert_eq!(entries(&dir.target()), ["fourcorners", "thesis.txt"]);
    assert_eq!(std::fs::read(dir.target().join("thesis.txt")).unwrap(), b"irreplaceable");
}

#[test]
fn a_missing_path_is_refused_unless_create_is_given() {
    let dir = TestDir::new();
    let ended = refused(&dir, &["not/here"], "does not exist");
    assert!(!ended.stderr.contains("--create"), "its parent is missing too: {}", ended.stderr);
    let ended = refused(&dir, &["fresh"], "does not exist");
    assert!(ended.stderr.contains("--create"), "{}", ended.stderr);
    assert!(!dir.path().join("fresh").exists());
    dir.ok(&["run", "fresh", "-w", "tiny.toml", "--create"]);
    assert!(dir.path().join("fresh").is_dir());
}

#[test]
fn a_mount_point_without_its_mount_is_refused_unless_overridden() {
    let mut dir = TestDir::new();
    let line = format!("filer:/vol1 {} nfs defaults 0 0\n", dir.target().display());
    let table = dir.file("fstab", &line);
    // Another table of file systems, in a separate mount namespace. Requires root, as in CI.
    let script = format!("mount --bind {} /etc/fstab && exec \"$@\"", table.display());
    let mut starter = Command::new("unshare");
    starter.args(["--mount", "sh", "-c", &script, "sh", env!("CARGO_BIN_EXE_fourcorners")]);
    dir.enter(starter);
    let ended = refused(&dir, &["target"], "mounted");
    assert!(ended.stderr.contains("--not-a-mount"), "{}", ended.stderr);
    assert_eq!(entries(&dir.target()), Vec::<String>::new());
    dir.ok(&["plan", "target", "-w", "tiny.toml", "--not-a-mount"]);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--not-a-mount"]);
    assert_eq!(entries(&dir.target()), ["fourcorners"]);
}

#[test]
fn a_file_and_an_unmarked_directory_are_refused() {
    let dir = TestDir::new();
    dir.file("file", "mine");
    refused(&dir, &["file"], "is not a directory");
    std::fs::create_dir(dir.target().join("fourcorners")).unwrap();
    std::fs::write(dir.target().join("fourcorners/thesis.txt"), "irreplaceable").unwrap();
    refused(&dir, &["target"], "fourcorners did not create it");
    assert_eq!(std::fs::read(dir.path().join("file")).unwrap(), b"mine");
}

#[test]
fn a_block_device_is_refused() {
    let dir = TestDir::new();
    let found = std::fs::read_dir("/sys/class/block").into_iter().flatten();
    let device = found
        .filter_map(|entry| Some(Path::new("/dev").join(entry.ok()?.file_name())))
        .find(|path| path.exists());
    let device =
        device.expect("this test needs a block device, of whatever kind; it is only named");
    refused(&dir, &[device.to_str().unwrap()], "is a block device");
}

#[test]
fn too_little_space_is_refused_before_the_first_write() {
    let dir = TestDir::new();
    let ended = refused(
        &dir,
        &["target", "--set", "file_size=512TiB", "--set", "files=2"],
        "free, but the plan needs",
    );
    assert!(ended.stderr.contains("--ignore-free-space"), "{}", ended.stderr);
    assert_eq!(entries(&dir.target()), [""; 0]);
}

#[test]
fn changed_files_are_refused_unless_refill_is_given() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml"]);
    let data = data_file(&dir);
    let file = std::fs::OpenOptions::new().write(true).open(&data).unwrap();

    file.set_len(512 << 10).unwrap();
    run_refused(&dir, "bytes, but was written with");
    file.set_len(1 << 20).unwrap();
    run_refused(&dir, "was never written");

    dir.ok(&["run", "target", "-w", "tiny.toml", "--refill"]);
    std::fs::write(&data, vec![0u8; 1 << 20]).unwrap();
    run_refused(&dir, "only zeroes");
    dir.ok(&["run", "target", "-w", "tiny.toml", "--refill"]);
    std::fs::write(&data, vec![7u8; 1 << 20]).unwrap();
    run_refused(&dir, "does not contain our data");
}

fn run_refused(dir: &TestDir, said: &str) {
    let records = dir.ok(&["list"]);
    for command in ["plan", "run"] {
        let ended = dir.run(&[command, "target", "-w", "tiny.toml"]);
        assert_eq!(ended.code, Some(2), "{command}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{command} says `{said}`:\n{}", ended.stderr);
        assert!(ended.stderr.contains("--refill"), "{command}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{command}");
    }
    assert_eq!(dir.ok(&["list"]), records, "a refusal leaves no record");
}

#[test]
fn a_plan_with_refill_lists_the_files_to_rewrite() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
    let plan = ["plan", "target", "-w", "tiny.toml", "--refill"];
    assert!(dir.ok(&plan).contains("nothing to write"));
    std::fs::write(data_file(&dir), "cut off").unwrap();
    assert!(dir.ok(&plan).contains("1 MiB in 1 file to write"));
    assert_eq!(std::fs::read(data_file(&dir)).unwrap(), b"cut off", "plan writes nothing");
}

#[test]
fn a_replaced_file_is_not_touched_by_any_command() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
    let own = dir.file("thesis.txt", "irreplaceable");
    std::fs::rename(own, data_file(&dir)).unwrap();
    let ended = refused(&dir, &["target"], "is not the file that fourcorners created");
    assert!(ended.stderr.contains("move it away"), "{}", ended.stderr);
    refused(&dir, &["target", "--refill"], "is not the file that fourcorners created");
    let said = dir.ok(&["clean", "target"]);
    assert!(
        said.contains("left ") && said.contains("not the file that fourcorners created"),
        "{said}"
    );
    assert_eq!(std::fs::read(data_file(&dir)).unwrap(), b"irreplaceable");
}

#[test]
fn a_refusal_is_part_of_json_and_events() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    std::fs::write(dir.target().join("thesis.txt"), "irreplaceable").unwrap();
    let refusal = |arguments: &[&str]| -> serde_json::Value {
        let ended = dir.run(&[arguments, &["target", "-w", "tiny.toml"]].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}: {}", ended.stderr);
        serde_json::from_str(&ended.stdout).expect("stdout is one JSON value")
    };
    for command in ["plan", "run"] {
        let document = refusal(&[command, "--json"]);
        let refused = &document["refused"];
        assert!(refused["reason"].as_str().unwrap().contains("thesis.txt"), "{document}");
        assert_eq!(refused["overridden_by"], "--among-foreign-files");
        assert_eq!(refused["exit_code"], 2);
    }
    let document = refusal(&["run", "--hosts", "local:2", "--json"]);
    let refused = &document["refused"];
    assert!(refused["reason"].as_str().unwrap().starts_with("local-1: "), "{document}");
    assert_eq!(refused["overridden_by"], "--among-foreign-files");
    let event = refusal(&["run", "--events", "jsonl"]);
    assert_eq!((&event["event"], &event["exit_code"]), (&"refused".into(), &2.into()));
    assert!(event["remedy"].as_str().unwrap().contains("--among-foreign-files"), "{event}");
}

#[test]
fn a_marker_of_another_file_system_or_version_is_refused() {
    let dir = TestDir::new();
    dir.file("tiny.toml", TINY);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
    let path = dir.target().join("fourcorners/.fourcorners");
    let text = std::fs::read_to_string(&path).unwrap();
    let marker: serde_json::Value = serde_json::from_str(&text).expect("the marker is JSON");
    let id = marker["filesystem_id"].as_str().expect("the file system has an identity");

    std::fs::write(&path, text.replace("\"version\": 6", "\"version\": 99")).unwrap();
    refused(&dir, &["target"], "has version 99");
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    refused(&dir, &["target"], "is not a valid manifest");

    let other = text.replace(id, "00000000deadbeef");
    std::fs::write(&path, other).unwrap();
    let ended = refused(&dir, &["target"], "but is now on file system");
    assert!(ended.stderr.contains("--other-filesystem"), "{}", ended.stderr);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report", "--other-filesystem"]);
    dir.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
}

/// The one data file of the tiny experiment.
pub(crate) fn data_file(dir: &TestDir) -> std::path::PathBuf {
    dir.target().join("fourcorners").join("main-1048576-0000.data")
}
