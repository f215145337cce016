//! `compare` on records with known numbers, and its messages about unusable input.

use metrics::run_record::{ExperimentRecord, Outcome};
use metrics::wire::{CounterSource, WireInterval};
use serde_json::Value;
use store::Store;

use crate::harness::TestDir;
use crate::records::{done, experiment, reads, run, stream};

/// Five repeats at queue depths 1 and 4; `faster` is added to the usual reads per second.
pub(crate) fn measured(faster: u64) -> ExperimentRecord {
    let mut runs = Vec::new();
    for repeat in 0..5u32 {
        for depth in [1, 4] {
            let mut run = run("random read 8 KiB", vec![stream("data", depth)], 1, 6);
            run.repeat = repeat;
            let rate = 10_000 * u64::from(depth) + faster + 20 * u64::from(repeat);
            let seconds = (0..7u64).map(|second| reads(rate + second % 2, 8192, 100_000));
            runs.push(done(run, seconds.collect()));
        }
    }
    experiment(runs)
}

/// Stores the record; returns its ID.
pub(crate) fn kept(dir: &TestDir, record: &ExperimentRecord, started_unix_ms: u64) -> String {
    let store = Store::open(Some(&dir.store())).expect("open the store");
    let mut writer =
        store.create(&record.plan, &record.environment, started_unix_ms).expect("begin a record");
    writer.io_method_chosen(&record.io_method).expect("keep the engine");
    for run in &record.runs {
        writer.run_started(&run.run, started_unix_ms).expect("keep a run");
        for interval in &run.intervals {
            writer.interval(run.run.index, interval).expect("keep an interval");
        }
        writer.run_finished(run.run.index, &Outcome::Done).expect("keep the run's end");
    }
    writer.finish(&Outcome::Done).expect("keep the end");
    writer.id().to_owned()
}

pub(crate) const STARTED: u64 = 1_795_241_733_000;
pub(crate) const DAY_MS: u64 = 86_400_000;

#[test]
fn no_difference_is_claimed_only_if_the_stated_change_would_have_been_seen() {
    let dir = TestDir::new();
    let a = kept(&dir, &measured(0), STARTED);
    let b = kept(&dir, &measured(0), STARTED + DAY_MS);
    let verdicts = |resolution: &[&str]| {
        let text = dir.run(&[&["compare", &a, &b, "--full"], resolution].concat()).stdout;
        (text.contains("no difference"), text.contains("cannot tell"))
    };
    assert_eq!(verdicts(&[]), (true, false));
    assert!(verdicts(&["--resolution", "0.0001%"]).1, "five repeats cannot tell");
    let ended = dir.run(&["compare", &a, &b, "--resolution", "much"]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("--resolution"), "{}", ended.stderr);
}

#[test]
fn a_faster_system_is_reported_and_a_slower_one_ends_with_1() {
    let dir = TestDir::new();
    let slow = kept(&dir, &measured(0), STARTED);
    let fast = kept(&dir, &measured(2_000), STARTED + DAY_MS);
    let at_one_glance = dir.ok(&["compare", &slow, &fast]);
    assert!(at_one_glance.starts_with("B is faster than A."), "{at_one_glance}");
    assert!(at_one_glance.lines().count() <= 40, "{at_one_glance}");
    let full = |ids: [&str; 2]| dir.ok(&["compare", ids[0], ids[1], "--full"]);
    let text = full([&slow, &fast]);
    for words in
        ["B compared with A: faster", "B is 19.9 % (", "faster than A: 12,041 vs 10,041 ops/s"]
    {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(full(["last~1", "last"]), text, "the same by other names");
    let directory = |id: &str| dir.store().join("runs").join(id).display().to_string();
    assert_eq!(full([&directory(&slow), &directory(&fast)]), text);

    let back = dir.run(&["compare", &fast, &slow]);
    assert_eq!(back.code, Some(1), "{}\n{}", back.stdout, back.stderr);
    assert!(back.stdout.starts_with("B is slower than A."), "{}", back.stdout);
    dir.ok(&["compare", &fast, &slow, "--fail-on", "never"]);

    let markdown = dir.ok(&["compare", &slow, &fast, "--format", "md"]);
    assert!(markdown.starts_with("# Comparison of A and B\n"), "{markdown}");
    let json: Value = serde_json::from_str(&dir.ok(&["compare", &slow, &fast, "--json"]))
        .expect("what --json prints is JSON");
    assert_eq!(json["pairs"][0]["verdict"], "faster");
    assert_eq!(json["regressed"], false);
    let rate = &json["pairs"][0]["figures"][0];
    assert_eq!(rate["figure"], "achieved_rate");
    assert_eq!(rate["difference"]["value"], 2_000.0);
    assert_eq!(rate["verdict"], "better");
}

#[test]
fn records_of_different_kernels_are_not_comparable_unless_allowed() {
    let dir = TestDir::new();
    let old = kept(&dir, &measured(0), STARTED);
    let mut record = measured(2_000);
    for (name, value) in &mut record.environment.other {
        if name == "kernel.release" {
            *value = "6.19.0".to_owned();
        }
    }
    let new = kept(&dir, &record, STARTED + DAY_MS);
    let refused = dir.run(&["compare", &old, &new]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    for words in ["No winner", "--allow-different kernel", "kernel.release 6.18.0 | 6.19.0"] {
        assert!(refused.stdout.contains(words), "`{words}` in\n{}", refused.stdout);
    }
    for allowed in ["kernel", "engine,kernel", "all"] {
        let text = dir.ok(&["compare", &old, &new, "--allow-different", allowed]);
        assert!(text.starts_with("B is faster than A."), "{text}");
        assert!(text.contains("kernel.release 6.18.0 | 6.19.0 (allowed)"), "{text}");
    }
}

#[test]
fn a_cached_record_is_not_comparable_unless_allowed() {
    let dir = TestDir::new();
    let wired = |faster: u64, passed: f64| {
        let mut record = measured(faster);
        for interval in record.runs.iter_mut().flat_map(|run| &mut run.intervals) {
            let moved: u64 = interval.streams[0].kinds.iter().map(|kind| kind.bytes).sum();
            let received_bytes = (moved as f64 * passed) as u64;
            let wire =
                WireInterval { source: CounterSource::NfsMount, received_bytes, sent_bytes: 0 };
            interval.wire = vec![wire];
        }
        record
    };
    let storage = kept(&dir, &wired(0, 1.02), STARTED);
    let cached = kept(&dir, &wired(2_000, 0.02), STARTED + DAY_MS);
    let refused = dir.run(&["compare", &storage, &cached]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let flat = refused.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["No winner", "--allow-different cache", "none | 98 % (in 2 load points)"] {
        assert!(flat.contains(words), "`{words}` in\n{}", refused.stdout);
    }
    let allowed = dir.ok(&["compare", &storage, &cached, "--allow-different", "cache"]);
    assert!(allowed.starts_with("B is faster than A."), "{allowed}");
    assert!(allowed.contains("Caveat"), "{allowed}");
}

#[test]
fn three_systems_are_compared_with_the_first_and_ranked() {
    let dir = TestDir::new();
    let ids: Vec<String> = [0, 2_000, 4_000]
        .iter()
        .zip(0..)
        .map(|(faster, day)| kept(&dir, &measured(*faster), STARTED + day * DAY_MS))
        .collect();
    let text = dir.ok(&["compare", &ids[0], &ids[1], &ids[2], "--full"]);
    for words in ["B compared with A: faster", "C compared with A: faster", "\nRanking\n"] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
}

#[test]
fn records_that_cannot_be_compared_are_refused_with_the_reason() {
    let dir = TestDir::new();
    let empty = dir.run(&["compare", "last~1", "last"]);
    assert_eq!(empty.code, Some(2));
    assert!(empty.stderr.contains("no record `last~1`"), "{}", empty.stderr);

    let first = kept(&dir, &measured(0), STARTED);
    let second = kept(&dir, &measured(0), STARTED + DAY_MS);
    let mut other = measured(0);
    for record in &mut other.runs {
        record.run.variant = "sequential write 64 KiB".to_owned();
    }
    let foreign = kept(&dir, &other, STARTED + 2 * DAY_MS);
    let damaged = kept(&dir, &measured(0), STARTED + 3 * DAY_MS);
    let journal = dir.store().join("runs").join(&damaged).join("journal");
    let mut bytes = std::fs::read(&journal).expect("read the journal");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&journal, bytes).expect("damage the journal");

    let cases: [(&[&str], &str); 9] = [
        (&["nothing", &second], "no record `nothing`"),
        (&["2026112", &second], "`2026112` is ambiguous"),
        (&[&first], "name a second record"),
        (&[&first, &first], "with itself: name each record once"),
        (&[&first, &foreign], "no load point in common; the first has random read 8 KiB"),
        (&[&first, &damaged], "is damaged at byte"),
        (&[&first, &second, "--allow-different", "kernal"], "there is no such item; there are"),
        (&[&first, "/tmp"], "no record `/tmp`"),
        (&[&first, &second, "--run-to-run", "much"], "--run-to-run"),
    ];
    for (arguments, words) in cases {
        let all: Vec<&str> = ["compare"].iter().chain(arguments).copied().collect();
        let ended = dir.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(words), "{all:?}: `{words}` in\n{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
