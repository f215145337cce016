//! Streams that begin and end within a run: what they resolve to, and how wrong times are refused.

use expect_test::{Expect, expect};
use workload::active_time::ActiveTime;
use workload::experiment::parse;
use workload::plan::{Run, TargetSpec};
use workload::resolve::{ResolveOptions, resolve};

const S: u64 = 1_000_000_000;
const STREAM: &str =
    "read = '70%'\ntransfer_size = '8k'\npattern = 'random'\nfile_size = '1GiB'\nqueue_depth = 4\n";

/// A run from 0 to 35 s, whose window begins at 5 s.
fn run(lines: &str) -> Result<Run, String> {
    let text = format!(
        "name = 't'\n[stream.late]\n{lines}\n{STREAM}[stream.whole]\n{STREAM}[run]\nwarm_up = '5s'\n\
         measure = '30s'\n"
    );
    let shown = |found: Vec<settings::Diagnostic>| -> String {
        found.iter().map(|one| format!("{one}\n")).collect()
    };
    let experiment = parse(&text, "x.toml").map_err(shown)?;
    let plan = resolve(&experiment, "x.toml", TargetSpec::Null, &ResolveOptions::LOCAL);
    Ok(plan.map_err(shown)?.known_runs().next().unwrap().clone())
}

fn refused(lines: &str, expected: Expect) {
    expected.assert_eq(&run(lines).err().unwrap_or_default());
}

#[test]
fn a_stream_begins_and_ends_as_written() {
    for (lines, start_ns, end_ns, window) in [
        ("", 0, None, (5, 35)),
        ("start = '10s'", 10 * S, None, (10, 35)),
        ("end = '20s'", 0, Some(20 * S), (5, 20)),
        ("start = '10s'\nend = '20s'", 10 * S, Some(20 * S), (10, 20)),
        // Longer than the run.
        ("end = '60s'", 0, Some(60 * S), (5, 35)),
    ] {
        let run = run(lines).unwrap();
        assert_eq!(run.streams[0].active, ActiveTime { start_ns, end_ns }, "{lines}");
        assert_eq!(run.common_window(), window, "{lines}");
        assert!(run.streams[1].active.is_whole_run());
    }
}

#[test]
fn a_plan_without_starts_and_ends_is_stored_as_before() {
    let stored = serde_json::to_string(&run("").unwrap().streams[0]).unwrap();
    assert!(!stored.contains("active"), "{stored}");
    let limited = run("start = '10s'").unwrap().streams.remove(0);
    let stored = serde_json::to_string(&limited).unwrap();
    assert!(stored.contains(r#""active":{"start_ns":10000000000}"#), "{stored}");
    let read: workload::plan::Stream = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, limited);
}

#[test]
fn an_offered_rate_outside_of_the_time_of_a_stream_is_zero() {
    let run = run("start = '10s'\nend = '20s'\narrival = { constant = 100 }").unwrap();
    let stream = &run.streams[0];
    let rate =
        |from: u64, to: u64| stream.offered_between(from * S, to * S, &run.phases).unwrap().get();
    assert_eq!(
        [rate(0, 10), rate(5, 15), rate(10, 20), rate(15, 35), rate(20, 35)],
        [0.0, 50.0, 100.0, 25.0, 0.0]
    );
    assert_eq!(stream.offered_rate(&run.phases).unwrap().get(), 100.0);
    assert_eq!(run.streams[1].offered_between(0, S, &run.phases), None);
}

#[test]
fn wrong_times_are_refused_with_line_and_remedy() {
    refused(
        "start = '20s'\nend = '10s'",
        expect![[r#"
        x.toml:4:7: stream `late` ends before it starts, found 10s, allowed: `end` after `start` (20s) (both are times from the start of the run)
    "#]],
    );
    refused(
        "start = '10s'\nend = '10s'",
        expect![[r#"
        x.toml:4:7: stream `late` ends before it starts, found 10s, allowed: `end` after `start` (10s) (both are times from the start of the run)
    "#]],
    );
    refused(
        "start = '35s'",
        expect![[r#"
        x.toml:3:9: stream `late` starts after the end of the run, found 35s, allowed: `start` before 35s, the end of the run (start it earlier, or lengthen `measure`)
    "#]],
    );
    refused(
        "end = '5s'",
        expect![[r#"
        x.toml:3:7: stream `late` ends before the window, so it is not measured, found 5s, allowed: `end` after the warm-up (5s) (end it later, or shorten `warm_up`)
    "#]],
    );
    refused(
        "start = '10500ms'",
        expect![[r#"
        x.toml:3:9: `start` of stream `late` is not a whole number of intervals, found 10500ms, allowed: a multiple of `interval` (1s) (the next multiple: `start = "11s"`)
    "#]],
    );
    refused(
        "start = 10",
        expect![[r#"
        x.toml:3:9: wrong value for `start`, found `10`, allowed: a duration such as "30s", "2m" or "500ms", from 0s to 720h (add a unit: `"10s"` for 10 seconds)
    "#]],
    );
}

#[test]
fn a_run_must_not_continue_after_its_last_stream() {
    let text = format!(
        "name = 't'\n[stream.only]\nend = '20s'\n{STREAM}[run]\nwarm_up = '5s'\nmeasure = '30s'\n"
    );
    let wrong = parse(&text, "x.toml").unwrap_err();
    let shown: String = wrong.iter().map(|one| format!("{one}\n")).collect();
    expect![[r#"
        x.toml:1:1: the run continues after its last stream has ended, found the last stream ends at 20s, allowed: a stream that is active until 35s, the end of the run (`measure = "15s"`)
    "#]].assert_eq(&shown);
}

#[test]
fn streams_that_share_a_rate_share_it_all_the_time() {
    let text = format!(
        "name = 't'\n[run]\narrival = {{ constant = 100 }}\n[stream.a]\nstart = '10s'\n{STREAM}\
         [stream.b]\n{STREAM}"
    );
    let wrong = parse(&text, "x.toml").unwrap_err();
    let shown: String = wrong.iter().map(|one| format!("{one}\n")).collect();
    expect![[r#"
        x.toml:5:9: stream `a` shares a rate for a part of the run only, found `'10s'`, allowed: no `start` with `arrival` in [run] (set `arrival` in the streams)
    "#]].assert_eq(&shown);
}

#[test]
fn the_stream_of_a_search_is_active_all_the_time() {
    let text = format!(
        "name = 't'\n[search]\nmethod = 'queue-depth'\n[stream.only]\nstart = '1s'\n{STREAM}"
    );
    let wrong = parse(&text, "x.toml").unwrap_err();
    let shown: String = wrong.iter().map(|one| format!("{one}\n")).collect();
    expect![[r#"
        x.toml:5:1: the stream of a search is active from the start of a run to its end, found `start`, allowed: a stream without `start`
    "#]].assert_eq(&shown);
}
