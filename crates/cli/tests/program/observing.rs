//! `observe`: what it prints and writes, and how it refuses what it cannot read.

use std::fmt::Write;

use serde_json::Value;

use crate::harness::TestDir;

/// A trace of one thread: three random reads, then a write to a log, 100 times, always 1 ms apart.
fn trace() -> String {
    let mut text = String::new();
    let mut at_ms = 0;
    let mut add = |call: &str, bytes: u64, path: &str, offset: u64| {
        let (seconds, ms) = (1_700_000_000 + at_ms / 1000, at_ms % 1000);
        writeln!(
            text,
            "42 {seconds}.{ms:03}000 {call}(3</srv/app/{path}>, \"x\"..., {bytes}, {offset}) = {bytes} \
             <0.000400>"
        )
        .expect("writing to a string cannot fail");
        at_ms += 1;
    };
    for round in 0..100 {
        for part in 0..3 {
            // Each position of 1,024 once, far from the one before.
            add("pread64", 8192, "data", (round * 3 + part) * 517 % 1024 * 8192);
        }
        add("pwrite64", 4096, "log", round * 4096);
    }
    text
}

#[test]
fn an_observation_is_printed_within_the_terminal_and_in_json() {
    let dir = TestDir::new();
    dir.file("app.strace", &trace());
    for flag in [&[][..], &["--full"]] {
        let shown = dir.ok(&[&["observe", "app.strace"][..], flag].concat());
        assert!(shown.starts_with("400 reads and writes in 399 ms"), "{shown}");
        assert!(shown.contains("400 lines") && shown.contains("none damaged"), "{shown}");
        let wide = shown.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{shown}");
    }
    assert!(dir.ok(&["observe", "app.strace", "--full"]).contains("/srv/app/data"));
    let shown = dir.ok(&["observe", "app.strace", "--json"]);
    let json: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(json["operations"], 400);
    assert_eq!(json["reads"]["operations"], 300);
    assert_eq!(json["runs"]["sequential"], 99);
    assert_eq!(json["working_set"]["touched_bytes"], 300 * 8192 + 100 * 4096);
    assert_eq!(json["in_flight"]["max"], 1);
    assert_eq!(json["damaged_records"], 0);
    assert_eq!(json["writes"]["response_time"]["samples"], 100);
}

#[test]
fn an_observed_profile_is_planned() {
    let dir = TestDir::new();
    dir.file("app.strace", &trace());
    let full = ["observe", "app.strace", "--full", "--report", "app.html"];
    let ended = dir.run(&[&full[..], &["--output", "app.toml"]].concat());
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.contains("Not in the experiment"), "{}", ended.stdout);
    assert!(ended.stderr.contains("points, listed in its comments"), "{}", ended.stderr);
    let text = std::fs::read_to_string(dir.path().join("app.toml")).expect("read the experiment");
    for line in [
        "name = \"observed-app\"",
        "[stream.random]",
        "[stream.sequential]",
        "read = \"0%\"",
        "transfer_size = \"4KiB\"",
        "# Not expressed by this file:",
    ] {
        assert!(text.contains(line), "{line}\n{text}");
    }
    let plan = dir.ok(&["plan", "target", "-w", "app.toml", "--json"]);
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    let streams = &plan["steps"][0]["fixed"]["streams"];
    assert_eq!(streams.as_array().map(Vec::len), Some(2), "{plan}");
    // One operation in a millisecond: 99 of 400 continue the log.
    let rate = |at: usize| streams[at]["arrival"]["constant"]["offered_rate"].as_f64();
    assert_eq!((rate(0), rate(1)), (Some(247.5), Some(752.5)));
    // The same on stdout, and nothing else there.
    assert_eq!(dir.ok(&["observe", "app.strace", "-o", "-"]), text);
    // Below a path, with one stream.
    let under = ["observe", "app.strace", "--under", "/srv/app/log", "--out", "log.toml"];
    dir.ok(&under);
    dir.ok(&["plan", "target", "-w", "log.toml"]);
}

#[test]
fn a_trace_that_is_cut_is_read_and_the_cut_line_is_counted() {
    let dir = TestDir::new();
    let whole = trace();
    let end = whole.match_indices('\n').nth(199).expect("it has more lines").0;
    // Within line 200.
    dir.file("cut.strace", &whole[..end - 30]);
    let shown = dir.ok(&["observe", "cut.strace"]);
    assert!(shown.contains("1 damaged") && shown.contains("line 200 (byte"), "{shown}");
}

#[test]
fn files_that_are_no_traces_are_refused_with_a_remedy() {
    let dir = TestDir::new();
    dir.file("empty", "");
    dir.file("letter", "Dear reader,\nthis is not a trace.\n");
    dir.file("log", "fio version 3 iolog\n");
    let gzip = dir.path().join("trace.gz");
    std::fs::write(gzip, [0x1f, 0x8b, 8, 0]).expect("write a file of the test");
    for (arguments, expected) in [
        (&["empty"][..], "observe empty: it is empty"),
        (&["missing"], "observe missing: No such file"),
        (&["target"], "it is a directory; name a trace in it"),
        (&["letter"], "neither a fio I/O log (`write_iolog`), nor the output of strace"),
        (&["trace.gz"], "gunzip"),
        (&["log"], "no file is read or written in its 1 line"),
        (&["letter", "--format", "pcap"], "it begins with `Dear reader,`"),
        (&["log", "--format", "strace"], "this is a fio I/O log"),
        (&["log", "--output", "absent/x.toml"], "absent"),
    ] {
        let ended = dir.run(&[&["observe"][..], arguments].concat());
        assert_eq!(ended.code, Some(2), "{arguments:?}\n{}\n{}", ended.stdout, ended.stderr);
        let stderr = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(stderr.contains(expected), "{arguments:?}\n{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
