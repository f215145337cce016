//! `compare` on records whose numbers are known, and what it says of input that it cannot use.

use metrics::run_record::{ExperimentRecord, Outcome};
use metrics::wire::{WireInterval, WirePlace};
use serde_json::Value;
use store::Store;

use crate::harness::Place;
use crate::records::{done, experiment, reads, run, stream};

/// Five repeats at queue depths 1 and 4, with so many reads a second more than the usual.
fn measured(faster: u64) -> ExperimentRecord {
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

/// Keeps the record in the place's store; gives its ID.
pub(crate) fn kept(place: &Place, record: &ExperimentRecord, started_unix_ms: u64) -> String {
    let store = Store::open(Some(&place.store())).expect("open the store");
    let mut writer =
        store.create(&record.plan, &record.environment, started_unix_ms).expect("begin a record");
    writer.engine_chosen(&record.engine).expect("keep the engine");
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

const STARTED: u64 = 1_795_241_733_000;
const DAY_MS: u64 = 86_400_000;

#[test]
fn a_faster_system_is_called_so_and_a_slower_one_ends_with_exit_code_1() {
    let place = Place::new();
    let slow = kept(&place, &measured(0), STARTED);
    let fast = kept(&place, &measured(2_000), STARTED + DAY_MS);
    let text = place.ok(&["compare", &slow, &fast]);
    for words in
        ["B against A: faster", "B is 19.9 % (", "faster than A: 12,041 against 10,041 ops/s"]
    {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(place.ok(&["compare", "last~1", "last"]), text, "the same by other names");
    let directory = |id: &str| place.store().join("runs").join(id).display().to_string();
    assert_eq!(place.ok(&["compare", &directory(&slow), &directory(&fast)]), text);

    let back = place.run(&["compare", &fast, &slow]);
    assert_eq!(back.code, Some(1), "{}\n{}", back.stdout, back.stderr);
    assert!(back.stdout.contains("B against A: slower"), "{}", back.stdout);
    place.ok(&["compare", &fast, &slow, "--fail-on", "never"]);

    let markdown = place.ok(&["compare", &slow, &fast, "--format", "md"]);
    assert!(markdown.starts_with("# Comparison of A and B\n"), "{markdown}");
    let json: Value = serde_json::from_str(&place.ok(&["compare", &slow, &fast, "--json"]))
        .expect("what --json prints is JSON");
    assert_eq!(json["pairs"][0]["verdict"], "faster");
    assert_eq!(json["regressed"], false);
    let rate = &json["pairs"][0]["figures"][0];
    assert_eq!(rate["figure"], "achieved_rate");
    assert_eq!(rate["difference"]["value"], 2_000.0);
    assert_eq!(rate["verdict"], "better");
}

#[test]
fn another_kernel_forbids_a_winner_unless_it_is_what_is_compared() {
    let place = Place::new();
    let old = kept(&place, &measured(0), STARTED);
    let mut record = measured(2_000);
    for (name, value) in &mut record.environment {
        if name == "kernel.release" {
            *value = "6.19.0".to_owned();
        }
    }
    let new = kept(&place, &record, STARTED + DAY_MS);
    let refused = place.run(&["compare", &old, &new]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    for words in ["not comparable", "--allow-different kernel", "kernel.release 6.18.0 | 6.19.0"] {
        assert!(refused.stdout.contains(words), "`{words}` in\n{}", refused.stdout);
    }
    for allowed in ["kernel", "engine,kernel", "all"] {
        let text = place.ok(&["compare", &old, &new, "--allow-different", allowed]);
        assert!(text.contains("B against A: faster"), "{text}");
        assert!(text.contains("kernel.release 6.18.0 | 6.19.0 (no obstacle)"), "{text}");
    }
}

#[test]
fn a_cache_that_answered_for_one_of_them_forbids_a_winner_unless_it_is_allowed() {
    let place = Place::new();
    let wired = |faster: u64, passed: f64| {
        let mut record = measured(faster);
        for interval in record.runs.iter_mut().flat_map(|run| &mut run.intervals) {
            let moved: u64 = interval.streams[0].kinds.iter().map(|kind| kind.bytes).sum();
            let received_bytes = (moved as f64 * passed) as u64;
            let wire = WireInterval { place: WirePlace::NfsMount, received_bytes, sent_bytes: 0 };
            interval.wire = vec![wire];
        }
        record
    };
    let storage = kept(&place, &wired(0, 1.02), STARTED);
    let cached = kept(&place, &wired(2_000, 0.02), STARTED + DAY_MS);
    let refused = place.run(&["compare", &storage, &cached]);
    assert_eq!(refused.code, Some(1), "{}", refused.stderr);
    let flat = refused.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in ["not comparable", "--allow-different cache", "none | 98 % (in 2 load points)"] {
        assert!(flat.contains(words), "`{words}` in\n{}", refused.stdout);
    }
    let allowed = place.ok(&["compare", &storage, &cached, "--allow-different", "cache"]);
    assert!(allowed.contains("B against A: faster, with caveats"), "{allowed}");
    assert!(allowed.contains("Before you rely on it:"), "{allowed}");
}

#[test]
fn three_systems_are_compared_with_the_first_and_ranked() {
    let place = Place::new();
    let ids: Vec<String> = [0, 2_000, 4_000]
        .iter()
        .zip(0..)
        .map(|(faster, day)| kept(&place, &measured(*faster), STARTED + day * DAY_MS))
        .collect();
    let text = place.ok(&["compare", &ids[0], &ids[1], &ids[2]]);
    for words in ["B against A: faster", "C against A: faster", "\nRanking\n"] {
        assert!(text.contains(words), "`{words}` in\n{text}");
    }
}

#[test]
fn what_cannot_be_compared_is_refused_with_the_reason() {
    let place = Place::new();
    let empty = place.run(&["compare", "last~1", "last"]);
    assert_eq!(empty.code, Some(2));
    assert!(empty.stderr.contains("no record `last~1`"), "{}", empty.stderr);

    let first = kept(&place, &measured(0), STARTED);
    let second = kept(&place, &measured(0), STARTED + DAY_MS);
    let mut other = measured(0);
    for record in &mut other.runs {
        record.run.variant = "sequential write 64 KiB".to_owned();
    }
    let foreign = kept(&place, &other, STARTED + 2 * DAY_MS);
    let damaged = kept(&place, &measured(0), STARTED + 3 * DAY_MS);
    let journal = place.store().join("runs").join(&damaged).join("journal");
    let mut bytes = std::fs::read(&journal).expect("read the journal");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x55;
    std::fs::write(&journal, bytes).expect("damage the journal");

    let cases: [(&[&str], &str); 9] = [
        (&["nothing", &second], "no record `nothing`"),
        (&["2026112", &second], "`2026112` is ambiguous"),
        (&[&first], "name a second record"),
        (&[&first, &first], "with itself: every record is named once"),
        (&[&first, &foreign], "no load point in common; the first has random read 8 KiB"),
        (&[&first, &damaged], "is damaged at byte"),
        (&[&first, &second, "--allow-different", "kernal"], "there is no such item; there are"),
        (&[&first, "/tmp"], "no record `/tmp`"),
        (&[&first, &second, "--run-to-run", "much"], "--run-to-run"),
    ];
    for (arguments, words) in cases {
        let all: Vec<&str> = ["compare"].iter().chain(arguments).copied().collect();
        let ended = place.run(&all);
        assert_eq!(ended.code, Some(2), "{all:?}\n{}\n{}", ended.stdout, ended.stderr);
        assert!(ended.stderr.contains(words), "{all:?}: `{words}` in\n{}", ended.stderr);
        assert_eq!(ended.stdout, "");
    }
}
