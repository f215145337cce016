//! The refusals of a target as a user meets them: the reason, the remedy, exit code 2, and nothing
//! written.

use std::path::Path;

use crate::harness::{Ended, Place};
use crate::runs::TINY;

fn refused(place: &Place, arguments: &[&str], said: &str) -> Ended {
    place.file("tiny.toml", TINY);
    for command in ["plan", "run"] {
        let all = [&[command], arguments, &["-w", "tiny.toml"]].concat();
        let ended = place.run(&all);
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
fn a_directory_with_files_of_others_is_refused_until_they_are_accepted() {
    let place = Place::new();
    std::fs::write(place.target().join("thesis.txt"), "irreplaceable").unwrap();
    let ended = refused(&place, &["target"], "holds an entry that is not ours");
    assert!(ended.stderr.contains("--among-foreign-files"), "{}", ended.stderr);
    assert_eq!(entries(&place.target()), ["thesis.txt"]);

    place.ok(&["run", "target", "-w", "tiny.toml", "--among-foreign-files"]);
    assert_eq!(entries(&place.target()), ["fourcorners", "thesis.txt"]);
    assert_eq!(std::fs::read(place.target().join("thesis.txt")).unwrap(), b"irreplaceable");
}

#[test]
fn a_missing_path_is_refused_until_it_may_be_made() {
    let place = Place::new();
    let ended = refused(&place, &["not/here"], "does not exist");
    assert!(!ended.stderr.contains("--create"), "its parent is missing too: {}", ended.stderr);
    let ended = refused(&place, &["fresh"], "does not exist");
    assert!(ended.stderr.contains("--create"), "{}", ended.stderr);
    assert!(!place.path().join("fresh").exists());
    place.ok(&["run", "fresh", "-w", "tiny.toml", "--create"]);
    assert!(place.path().join("fresh").is_dir());
}

#[test]
fn a_file_and_a_directory_that_is_not_marked_are_refused() {
    let place = Place::new();
    place.file("file", "mine");
    refused(&place, &["file"], "is not a directory");
    std::fs::create_dir(place.target().join("fourcorners")).unwrap();
    std::fs::write(place.target().join("fourcorners/thesis.txt"), "irreplaceable").unwrap();
    refused(&place, &["target"], "is not marked as ours");
    assert_eq!(std::fs::read(place.path().join("file")).unwrap(), b"mine");
}

#[test]
fn a_block_device_is_refused() {
    let place = Place::new();
    let found = std::fs::read_dir("/sys/class/block").into_iter().flatten();
    let device = found
        .filter_map(|entry| Some(Path::new("/dev").join(entry.ok()?.file_name())))
        .find(|path| path.exists());
    let device =
        device.expect("this test needs a block device, of whatever kind; it is only named");
    refused(&place, &[device.to_str().unwrap()], "is a block device");
}

#[test]
fn too_little_space_is_refused_before_the_first_write() {
    let place = Place::new();
    let ended = refused(
        &place,
        &["target", "--set", "file_size=512TiB", "--set", "files=2"],
        "free, but the plan needs",
    );
    assert!(ended.stderr.contains("--ignore-free-space"), "{}", ended.stderr);
    assert_eq!(entries(&place.target()), [""; 0]);
}

#[test]
fn files_that_are_not_as_we_left_them_are_refused_until_they_may_be_refilled() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    place.ok(&["run", "target", "-w", "tiny.toml"]);
    let data = data_file(&place);
    let file = std::fs::OpenOptions::new().write(true).open(&data).unwrap();

    file.set_len(512 << 10).unwrap();
    run_refused(&place, "bytes, but was written with");
    file.set_len(1 << 20).unwrap();
    run_refused(&place, "has never been written");

    place.ok(&["run", "target", "-w", "tiny.toml", "--refill"]);
    std::fs::write(&data, vec![0u8; 1 << 20]).unwrap();
    run_refused(&place, "only zeroes");
    place.ok(&["run", "target", "-w", "tiny.toml", "--refill"]);
    std::fs::write(&data, vec![7u8; 1 << 20]).unwrap();
    run_refused(&place, "does not hold our data");
}

fn run_refused(place: &Place, said: &str) {
    let records = place.ok(&["list"]);
    for command in ["plan", "run"] {
        let ended = place.run(&[command, "target", "-w", "tiny.toml"]);
        assert_eq!(ended.code, Some(2), "{command}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{command} says `{said}`:\n{}", ended.stderr);
        assert!(ended.stderr.contains("--refill"), "{command}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{command}");
    }
    assert_eq!(place.ok(&["list"]), records, "a refusal leaves no record");
}

#[test]
fn a_plan_with_refill_says_which_files_are_written_anew() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    place.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
    let plan = ["plan", "target", "-w", "tiny.toml", "--refill"];
    assert!(place.ok(&plan).contains("nothing to write"));
    std::fs::write(data_file(&place), "cut off").unwrap();
    assert!(place.ok(&plan).contains("1 MiB in 1 file to write"));
    assert_eq!(std::fs::read(data_file(&place)).unwrap(), b"cut off", "plan writes nothing");
}

#[test]
fn a_file_that_was_put_in_place_of_ours_is_not_touched_by_any_command() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    place.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
    let own = place.file("thesis.txt", "irreplaceable");
    std::fs::rename(own, data_file(&place)).unwrap();
    let ended = refused(&place, &["target"], "is not the file that we made");
    assert!(ended.stderr.contains("move it away"), "{}", ended.stderr);
    refused(&place, &["target", "--refill"], "is not the file that we made");
    let said = place.ok(&["clean", "target"]);
    assert!(said.contains("left ") && said.contains("not the file that we made"), "{said}");
    assert_eq!(std::fs::read(data_file(&place)).unwrap(), b"irreplaceable");
}

#[test]
fn a_refusal_is_told_to_other_programs_in_their_form() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    std::fs::write(place.target().join("thesis.txt"), "irreplaceable").unwrap();
    let refusal = |arguments: &[&str]| -> serde_json::Value {
        let ended = place.run(&[arguments, &["target", "-w", "tiny.toml"]].concat());
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
    let event = refusal(&["run", "--events", "jsonl"]);
    assert_eq!((&event["event"], &event["exit_code"]), (&"refused".into(), &2.into()));
    assert!(event["remedy"].as_str().unwrap().contains("--among-foreign-files"), "{event}");
}

#[test]
fn a_marker_of_another_file_system_a_newer_version_or_no_sense_is_refused() {
    let place = Place::new();
    place.file("tiny.toml", TINY);
    place.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
    let path = place.target().join("fourcorners/.fourcorners");
    let text = std::fs::read_to_string(&path).unwrap();
    let marker: serde_json::Value = serde_json::from_str(&text).expect("the marker is JSON");
    let id = marker["filesystem_id"].as_str().expect("the file system has an identity");

    std::fs::write(&path, text.replace("\"version\": 4", "\"version\": 99")).unwrap();
    refused(&place, &["target"], "has version 99");
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    refused(&place, &["target"], "cannot be understood");

    let other = text.replace(id, "00000000deadbeef");
    std::fs::write(&path, other).unwrap();
    let ended = refused(&place, &["target"], "but is now on file system");
    assert!(ended.stderr.contains("--other-filesystem"), "{}", ended.stderr);
    place.ok(&["run", "target", "-w", "tiny.toml", "--no-report", "--other-filesystem"]);
    place.ok(&["run", "target", "-w", "tiny.toml", "--no-report"]);
}

/// The one data file of the tiny experiment.
pub(crate) fn data_file(place: &Place) -> std::path::PathBuf {
    place.target().join("fourcorners").join("main-1048576-0000.data")
}
