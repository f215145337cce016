//! Replays of traces: from a trace of another tool to operations that a third tool sees.

use std::process::Command;

use serde_json::Value;

use crate::harness::TestDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fourcorners");

/// The operations of a list: kind, file, offset and size, in order. Files by the size of what the list
/// accesses of them, because a replay has other names.
fn operations(list: &str) -> Vec<(String, u64, u64, u64)> {
    let mut all: Vec<(String, usize, u64, u64)> = Vec::new();
    for line in list.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())) {
        let words: Vec<&str> = line.split(' ').collect();
        let number = |at: usize| words.get(at).map_or(0, |word| word.parse().expect("a number"));
        all.push((words[1].to_owned(), number(2) as usize, number(3), number(4)));
    }
    let mut ends = vec![0; all.iter().map(|(_, file, ..)| file + 1).max().unwrap_or(0)];
    for (_, file, offset, size) in &all {
        ends[*file] = u64::max(ends[*file], offset + size);
    }
    all.into_iter().map(|(kind, file, offset, size)| (kind, ends[file], offset, size)).collect()
}

fn read(dir: &TestDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join(name)).expect("the file was written")
}

/// An I/O log that fio writes: 200 reads and writes of two sizes on two files, and fsyncs.
fn fio_log(dir: &TestDir) {
    let fio = Command::new("fio")
        .args(["--name=app", "--ioengine=sync", "--rw=randrw", "--rwmixread=60", "--fsync=20"])
        .args(["--bssplit=4k/70:16k/30", "--nrfiles=2", "--filesize=1m", "--number_ios=200"])
        .args(["--randseed=7", "--write_iolog=app.log", "--minimal", "--allow_file_create=1"])
        .current_dir(dir.path())
        .output()
        .expect("fio is installed");
    assert!(fio.status.success(), "{}", String::from_utf8_lossy(&fio.stderr));
}

#[test]
fn a_log_of_fio_is_replayed_operation_by_operation_as_strace_sees_it() {
    let mut dir = TestDir::new();
    fio_log(&dir);
    let observe = ["observe", "app.log", "--replay", "app.replay", "--output", "app.toml"];
    let ended = dir.run(&observe);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stderr.contains("operations on 2 files"), "{}", ended.stderr);
    let expected = operations(&read(&dir, "app.replay"));
    assert!(expected.len() > 200, "{}", expected.len());
    // One operation at a time, so that their order is known. Repeated, so that a busy machine performs
    // the whole list, however late.
    let repeated = "replay.replay={ list = 'app.replay', repeat = true }";
    let run = ["run", "target", "-w", "app.toml", "--engine", "psync", "--set", "queue_depth=1"];
    let more = ["--set", repeated, "--measure", "4s", "--warm-up", "0s", "--buffered"];
    let run = [&run[..], &more].concat();
    dir.measured(&run);
    let calls = "trace=pread64,pwrite64,fsync,fdatasync";
    let mut strace = Command::new("strace");
    strace.args(["-f", "--quiet=all", "-y", "-ttt", "-T", "-o", "run.strace", "-e", calls]);
    strace.arg(PROGRAM);
    dir.enter(strace);
    dir.measured(&run);
    let mut plain = Command::new("env");
    plain.arg(PROGRAM);
    dir.enter(plain);
    let target = dir.target().display().to_string();
    dir.ok(&["observe", "run.strace", "--under", &target, "--replay", "run.replay"]);
    let found = operations(&read(&dir, "run.replay"));
    // Samples of the files are verified before the first pass.
    let is_pass = |part: &[(String, u64, u64, u64)]| part == expected;
    let passes = found.windows(expected.len()).filter(|part| is_pass(part)).count();
    assert!(passes > 0, "{} operations, none of them the list: {found:?}", found.len());
    dir.ok(&["clean", "target"]);
}

#[test]
fn a_plan_says_what_is_replayed_and_what_is_not() {
    let dir = TestDir::new();
    let list = "fourcorners replay 1\nfile 0 /db\nfile 1 /log\nleft-out 3 open\n0 read 0 0 8192\n\
                500000000 write 1 0 4096\n3500000000 fsync 1\nend 3\n";
    dir.file("app.replay", list);
    dir.file("app.toml", "name = 'app'\n[stream.db]\nreplay = 'app.replay'\nqueue_depth = 4\n");
    let shown = dir.ok(&["plan", "target", "-w", "app.toml"]);
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    for expected in [
        "1. app: 4s after 0s of warm-up",
        "db: replay of app.replay, 1 read + 1 write + 1 fsync of 12 KiB in 3500ms",
        "3 operations of the trace left out, 2 files",
        "at the times of the list, direct",
    ] {
        assert!(words.contains(expected), "{expected}\n{shown}");
    }
    let cut = dir.ok(&["plan", "target", "-w", "app.toml", "--measure", "2s"]);
    assert!(cut.contains("the first 2 of 3 operations"), "{cut}");
    let json = dir.ok(&["plan", "target", "-w", "app.toml", "--json"]);
    let json: Value = serde_json::from_str(&json).expect("JSON");
    let replay = &json["steps"][0]["fixed"]["streams"][0]["replay"];
    assert_eq!((&replay["list"], &replay["due"]), (&"app.replay".into(), &3.into()), "{json}");
}

#[test]
fn what_cannot_be_replayed_is_refused_before_anything_is_written() {
    let dir = TestDir::new();
    dir.file("cut.log", "fio version 3 iolog\n0 /f read 0 4096\n9 /f re");
    dir.file("zero.log", "fio version 3 iolog\n0 /f read 0 4096\n9 /f read 0 0\n");
    for (log, expected) in [("cut.log", "line 3 (byte 37)"), ("zero.log", "line 3 (byte 37)")] {
        let ended = dir.run(&["observe", log, "--replay", "x.replay"]);
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
        assert!(ended.stderr.contains("--skip-damaged"), "{}", ended.stderr);
        assert!(!dir.path().join("x.replay").exists());
    }
    dir.ok(&["observe", "cut.log", "--replay", "x.replay", "--skip-damaged", "-o", "x.toml"]);
    assert!(read(&dir, "x.replay").contains("left-out 1 damaged record"));
    let list = read(&dir, "x.replay");
    dir.file("x.replay", &list[..list.len() - 6]);
    let ended = dir.run(&["run", "target", "-w", "x.toml"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("the list was cut"), "{}", ended.stderr);
    assert!(!dir.target().join("fourcorners").exists(), "nothing was written");
}

#[test]
fn volumes_perform_a_list_together_and_verify_what_it_reads() {
    let dir = TestDir::new();
    // 240 reads and writes of four files in 120 ms; the run ends seconds later, so that a busy machine
    // performs all of them.
    let mut list = "fourcorners replay 1\nfile 0 /a\nfile 1 /b\nfile 2 /c\nfile 3 /d\n".to_owned();
    for number in 0..240u64 {
        let kind = if number % 3 == 0 { "write" } else { "read" };
        let (ns, file, offset) = (number * 500_000, number % 4, number / 8 * 8192);
        list.push_str(&format!("{ns} {kind} {file} {offset} 8192\n"));
    }
    list.push_str("3500000000 fsync 0\nend 241\n");
    dir.file("app.replay", &list);
    let stream = "[stream.db]\nreplay = 'app.replay'\nqueue_depth = 16\n";
    dir.file("app.toml", &format!("name = 'app'\n[target.vol1]\n[target.vol2]\n{stream}"));
    dir.measured(&["run", "-w", "app.toml", "--verify", "--no-report"]);
    let exported = dir.ok(&["export", "last", "--format", "json"]);
    let exported: Value = serde_json::from_str(&exported).expect("JSON");
    let point = &exported["load_points"][0];
    assert_eq!(point["merged"]["total"]["data"]["completed"], 240);
    let of_targets: Vec<Option<u64>> = point["targets"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|one| one["summary"]["total"]["data"]["completed"].as_u64())
        .collect();
    assert_eq!(of_targets, [Some(120), Some(120)], "the files are divided evenly");
    // Three workers on each volume are more than there are files.
    let more = ["plan", "-w", "app.toml", "--set", "db.workers=3"];
    let ended = dir.run(&more);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("more workers on its targets together"), "{}", ended.stderr);
}

#[test]
fn hosts_perform_a_list_together_each_file_on_one_of_them() {
    let dir = TestDir::new();
    // 240 reads and writes of four files within 120 ms, long after the last host has started and before
    // the run ends.
    let mut list = "fourcorners replay 1\nfile 0 /a\nfile 1 /b\nfile 2 /c\nfile 3 /d\n".to_owned();
    list.push_str("0 fsync 0\n");
    for number in 0..240u64 {
        let kind = if number % 3 == 0 { "write" } else { "read" };
        let (ns, file, offset) = (2_000_000_000 + number * 500_000, number % 4, number / 8 * 8192);
        list.push_str(&format!("{ns} {kind} {file} {offset} 8192\n"));
    }
    list.push_str("4500000000 fsync 0\nend 242\n");
    dir.file("app.replay", &list);
    dir.file("app.toml", "name = 'app'\n[stream.db]\nreplay = 'app.replay'\nqueue_depth = 16\n");
    let run = ["run", "-w", "app.toml", "--hosts", "local:2", "--no-report"];
    // The last one is the emulated volume.
    for more in [&["null:"][..], &["target", "--buffered", "--verify"], &["--verify"]] {
        dir.measured(&[&run[..], more].concat());
        let exported = dir.ok(&["export", "last", "--format", "json"]);
        let exported: Value = serde_json::from_str(&exported).expect("JSON");
        let point = &exported["load_points"][0];
        let completed = |of: &Value| of["total"]["data"]["completed"].as_u64();
        assert_eq!(completed(&point["merged"]), Some(240), "{more:?}");
        let hosts = point["hosts"].as_array().expect("a list").iter();
        let of_hosts: Vec<Option<u64>> = hosts.map(|host| completed(&host["summary"])).collect();
        assert_eq!(of_hosts, [Some(120), Some(120)], "{more:?}");
    }
    let ended = dir.run(&["plan", "null:", "-w", "app.toml", "--hosts", "local:5"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("hosts and targets together"), "{}", ended.stderr);
}
