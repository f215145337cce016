//! `run --hosts`: which host uses which files, and what `--verify` finds.

use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;

use serde_json::Value;

use crate::harness::TestDir;

const FILES: &str = r#"
name = "files"
[run]
warm_up = "0s"
measure = "500ms"
interval = "250ms"
[stream.main]
read = "100%"
transfer_size = "8KiB"
pattern = "sequential"
files = 4
file_size = "4MiB"
queue_depth = 1
"#;

fn run(dir: &TestDir, arguments: &[&str]) -> crate::harness::Ended {
    dir.file("files.toml", FILES);
    dir.run(&[&["run", "target", "-w", "files.toml", "--no-report"][..], arguments].concat())
}

#[test]
fn hosts_and_workers_with_separate_files_write_and_verify() {
    let dir = TestDir::new();
    for settings in [
        &["--set", "sharing=host", "--set", "workers=2"][..],
        &["--set", "sharing=worker", "--set", "workers=2"],
        &["--set", "sharing=host", "--set", "queue_depth=4", "--set", "pattern=random"],
    ] {
        let several = ["--hosts", "local:2", "--verify", "--set", "read=50%"];
        let ended = run(&dir, &[&several[..], settings].concat());
        assert_eq!(ended.code, Some(0), "{settings:?}: {}", ended.stderr);
    }
    // Shared files cannot be verified.
    let ended = run(&dir, &["--hosts", "local:2", "--verify", "--set", "read=50%"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("several hosts write to the same files"), "{words}");
    assert!(words.contains("--set sharing=host"), "{words}");
}

#[test]
fn parts_without_a_file_and_reads_of_no_other_host_are_refused_with_line_and_remedy() {
    let dir = TestDir::new();
    let with = |more: &str| dir.file("wrong.toml", &format!("{FILES}{more}\n"));
    for (more, hosts, words) in [
        ("sharing = \"host\"", "local:5", "`files` of at least 5"),
        ("sharing = \"worker\"\nworkers = 3", "local:2", "`files` of at least 6"),
        ("read_what = \"others\"", "local:1", "a run has one host"),
        ("read_what = \"others\"\n[[variant]]\nread = \"50%\"", "local:2", "if `read` is 100 %"),
        ("sharing = \"hosts\"", "local:2", "\"all\" or \"host\" or \"worker\""),
    ] {
        with(more);
        let ended = dir.run(&["plan", "null:", "-w", "wrong.toml", "--hosts", hosts]);
        assert_eq!(ended.code, Some(2), "{more}: {}", ended.stderr);
        let printed = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(printed.contains(words), "{more}: {printed}");
        assert!(printed.contains("wrong.toml:"), "{more}: {printed}");
    }
    with("sharing = \"host\"\nread_what = \"others\"");
    let plan = dir.ok(&["plan", "null:", "-w", "wrong.toml", "--hosts", "local:2"]);
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.contains("separate files for each host"), "{plan}");
    assert!(plan.contains("only files that another host filled"), "{plan}");
}

#[test]
fn reads_of_others_need_files_that_these_hosts_filled() {
    let dir = TestDir::new();
    let others = ["--set", "read_what=others", "--verify"];
    assert_eq!(run(&dir, &["--hosts", "local:3"]).code, Some(0));
    // The same hosts.
    let ended = run(&dir, &[&["--hosts", "local:3"][..], &others].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // File 2 is one of local-3.
    let ended = run(&dir, &[&["--hosts", "local:2"][..], &others].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("0002.data` was filled by local-3"), "{words}");
    assert!(words.contains("--refill"), "{words}");
    let ended = run(&dir, &[&["--hosts", "local:2", "--refill"][..], &others].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let ended = run(&dir, &[&["--hosts", "local:2"][..], &others].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    // One host leaves no record of who wrote.
    let dir = TestDir::new();
    assert_eq!(run(&dir, &[]).code, Some(0));
    let ended = run(&dir, &[&["--hosts", "local:2"][..], &others].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("filled by an unknown host"), "{words}");
}

#[test]
fn a_byte_that_one_host_wrote_and_another_reads_is_checked() {
    let dir = TestDir::new();
    dir.file("files.toml", FILES);
    let running = dir.start(&[
        "run",
        "target",
        "-w",
        "files.toml",
        "--hosts",
        "local:2",
        "--verify",
        "--set",
        "read_what=others",
        "--measure",
        "60s",
        "--events",
        "jsonl",
    ]);
    running.next_line(|line| line.contains("host_interval")).expect("it measures");
    // Filled by local-1, so only local-2 reads it.
    let path = dir.target().join("fourcorners").join("main-4194304-0000.data");
    let offset = 1_234_567;
    let file = OpenOptions::new().read(true).write(true).open(path).expect("it was filled");
    let mut byte = [0u8];
    file.read_exact_at(&mut byte, offset).expect("read it");
    file.write_all_at(&[byte[0] ^ 0x40], offset).expect("change it");
    file.sync_all().expect("sync it");
    let ended = running.end();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let words = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["local-2: ", "main-4194304-0000.data", "file 0", "at offset 1234567"] {
        assert!(words.contains(part), "`{part}` in {words}");
    }
    assert!(!words.contains("local-1: main"), "local-1 does not read its own file: {words}");
}

#[test]
fn each_host_reads_only_its_part_of_the_working_set() {
    let dir = TestDir::new();
    dir.file("files.toml", FILES);
    let arguments = ["plan", "null:", "-w", "files.toml", "--hosts", "local:2", "--json"];
    let plan = |more: &[&str]| -> Value {
        serde_json::from_str(&dir.ok(&[&arguments[..], more].concat())).expect("JSON")
    };
    let stream = |plan: &Value| plan["steps"][0]["fixed"]["streams"][0].clone();
    assert_eq!(stream(&plan(&[]))["file_use"], Value::Null, "stored only if it is not the default");
    let with = stream(&plan(&["--set", "sharing=host"]));
    assert_eq!(with["file_use"]["sharing"], "host");
    assert_eq!(with["file_use"]["hosts"], 2);
}
