//! A comparison as it is read: the exact text, and Markdown and JSON with the same numbers.

mod fixture;

use analysis::compare::facts::Item;
use analysis::compare::side::Side;
use analysis::compare::{Comparison, Options, compare};
use expect_test::expect;
use fixture::records::{done, experiment, reads, run, stream};
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interleaved::Interleaved;
use metrics::run_record::ExperimentRecord;
use metrics::wire::{WireInterval, WirePlace};
use report::compare::{Detail, json, markdown, text};
use workload::interleave::ComparedSide;

/// Repeats at queue depth 4 with these rates, each second as the one before.
fn measured(id: &str, rates: &[u64]) -> ExperimentRecord {
    let runs = rates.iter().zip(0..).map(|(rate, repeat)| {
        let mut run = run("random read 8 KiB", vec![stream("data", 4)], 1, 6);
        run.repeat = repeat;
        let seconds = (0..7u64).map(|second| reads(rate + second % 2, 8192, 4_000_000_000 / rate));
        done(run, seconds.collect())
    });
    let mut record = experiment(runs.collect());
    record.id = id.to_owned();
    record
}

fn before() -> ExperimentRecord {
    measured("20261120-061533-before-a1b2", &[10_000, 10_080, 9_950, 10_030, 10_010])
}

fn compared(second: &ExperimentRecord) -> Comparison {
    compare(&[Side::of(&before()), Side::of(second)], &Options::default())
}

#[test]
fn a_faster_system_is_told_in_words_first_then_in_numbers() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    expect![[r#"

        B against A: faster
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 12.1 % (7.7 to 16.7 %) faster than A: 11,229 against 10,015 ops/s in
            random read 8 KiB, queue_depth=4
          - B's p99 response time is 10.8 % (7.2 to 14.3 %) shorter: 356 against 399 us
            in random read 8 KiB, queue_depth=4
          random read 8 KiB, queue_depth=4
          figure                    A      B  change   95 % interval verdict
          achieved rate, ops/s 10,015 11,229 +12.1 % +7.7 .. +16.7 % faster
          response mean, us       399    356 -10.8 % -14.3 .. -7.2 % better
          response p50, us        399    356 -10.8 % -14.3 .. -7.2 % better
          response p99, us        399    356 -10.8 % -14.3 .. -7.2 % better
          response p99.9, us      399    356 -10.8 % -14.3 .. -7.2 % better
          CPU per op, us         59.9   53.4 -10.8 % -14.3 .. -7.2 % better

        What was compared
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, begun
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, begun 2026-11-21
            06:15:33 UTC

        How it was judged
          Each difference has a 95 % interval (Welch's t, Fieller's for the ratio) and a
          test by ranks (Mann and Whitney). Repeats ran back to back, so the interval
          covers what their drift (as a random walk) would move one session from the
          other. A main figure is the achieved rate of a closed loop, the mean response
          time of an open one, and the 99th percentile of both. The 2 tests of main
          figures share one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&compared(&after), Detail::All, 80));
}

#[test]
fn without_a_difference_it_is_said_what_would_have_been_seen() {
    let after = measured("20261121-061533-after-c3d4", &[10_010, 10_060, 9_960, 10_020, 10_000]);
    expect![[r#"

        B against A: no difference found
          No difference between A and B was found. Of 2 main figures in 1 load point: 2
          without a difference. A change of 5.2 % in any of them would have been seen
          with 80 % power; the largest that a 95 % interval leaves possible is 3.4 %.
          random read 8 KiB, queue_depth=4
          figure                    A      B change  95 % interval verdict
          achieved rate, ops/s 10,015 10,011  0.0 % -3.3 .. +3.3 % no difference
          response p99, us        399    400  0.0 % -3.2 .. +3.4 % no difference

        What was compared
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, begun
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, begun 2026-11-21
            06:15:33 UTC

        How it was judged
          Each difference has a 95 % interval (Welch's t, Fieller's for the ratio) and a
          test by ranks (Mann and Whitney). Repeats ran back to back, so the interval
          covers what their drift (as a random walk) would move one session from the
          other. A main figure is the achieved rate of a closed loop, the mean response
          time of an open one, and the 99th percentile of both. The 2 tests of main
          figures share one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&compared(&after), Detail::Main, 80));
}

#[test]
fn what_else_differs_comes_first_and_no_winner_is_named() {
    let mut after =
        measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    after.environment[1].1 = "6.19.0".to_owned();
    for record in &mut after.runs {
        record.run.streams[0].workers = 2;
    }
    expect![[r#"

        B against A: not comparable
          No winner is named: A and B differ in kernel and plan as well, and nobody
          knows which of it makes the figures differ. If that is what you want to
          compare, say `--allow-different kernel,plan`.
          What else differs (A | B):
          - kernel: kernel.release 6.18.0 | 6.19.0
          - plan: data.workers 1 | 2 (in 1 load point)
          random read 8 KiB, queue_depth=4
          figure                    A      B  change   95 % interval verdict
          achieved rate, ops/s 10,015 11,229 +12.1 % +7.7 .. +16.7 % -
          response p99, us        399    356 -10.8 % -14.3 .. -7.2 % -

        What was compared
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, begun
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, begun 2026-11-21
            06:15:33 UTC

        How it was judged
          Each difference has a 95 % interval (Welch's t, Fieller's for the ratio) and a
          test by ranks (Mann and Whitney). Repeats ran back to back, so the interval
          covers what their drift (as a random walk) would move one session from the
          other. A main figure is the achieved rate of a closed loop, the mean response
          time of an open one, and the 99th percentile of both. The 2 tests of main
          figures share one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&compared(&after), Detail::Main, 80));
}

/// As if a cache had answered all but `passed` of the bytes.
fn over_the_wire(mut record: ExperimentRecord, passed: f64) -> ExperimentRecord {
    for interval in record.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let moved: u64 = interval.streams[0].kinds.iter().map(|kind| kind.bytes).sum();
        let received_bytes = (moved as f64 * passed) as u64;
        let place = WirePlace::NfsMount;
        interval.wire = vec![WireInterval { place, received_bytes, sent_bytes: 0 }];
    }
    record
}

#[test]
fn what_was_wrong_with_the_measurements_stands_between_the_words_and_the_numbers() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    let sides = [Side::of(&over_the_wire(before(), 1.02)), Side::of(&over_the_wire(after, 0.03))];
    let comparison = compare(&sides, &Options::default());
    expect![[r#"

        B against A: not comparable, with caveats
          No winner is named: A and B differ in cache as well, and nobody knows which of
          it makes the figures differ. If that is what you want to compare, say
          `--allow-different cache`. Where a cache of this host answers, figures are not
          those of the storage (direct I/O goes past it, and so do files larger than the
          memory).
          Before you rely on it:
          - B was served by a cache of this host, not by the storage alone, in 1 of 1
            load point: random read 8 KiB, queue_depth=4 (97.0 % of the bytes read never
            came to this host: operations moved 525.02 MiB, the NFS mount delivered
            15.75 MiB)
          What else differs (A | B):
          - cache: bytes from this host's cache none | 97 % (in 1 load point)"#]]
    .assert_eq(until_the_numbers(&text(&comparison, Detail::Main, 80)));

    let allowed = Options { allowed: vec![Item::Cache], ..Options::default() };
    let comparison = compare(&sides, &allowed);
    expect![[r#"

        B against A: faster, with caveats
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 12.1 % (7.7 to 16.7 %) faster than A: 11,229 against 10,015 ops/s in
            random read 8 KiB, queue_depth=4
          - B's p99 response time is 10.8 % (7.2 to 14.3 %) shorter: 356 against 399 us
            in random read 8 KiB, queue_depth=4
          Before you rely on it:
          - B was served by a cache of this host, not by the storage alone, in 1 of 1
            load point: random read 8 KiB, queue_depth=4 (97.0 % of the bytes read never
            came to this host: operations moved 525.02 MiB, the NFS mount delivered
            15.75 MiB)
          What else differs (A | B):
          - cache: bytes from this host's cache none | 97 % (in 1 load point) (no
            obstacle)"#]]
    .assert_eq(until_the_numbers(&text(&comparison, Detail::Main, 80)));
    let page = markdown(&comparison, Detail::Main);
    assert!(page.contains("## B against A: faster, with caveats"), "{page}");
    let mut out = Vec::new();
    json::write(&comparison, &mut out).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    let caveat = &json["pairs"][0]["caveats"][0];
    assert_eq!((&caveat["side"], &caveat["kind"]), (&"B".into(), &"cached".into()));
    assert_eq!(caveat["load_points"][0], "random read 8 KiB, queue_depth=4");
}

fn until_the_numbers(text: &str) -> &str {
    text.split("\n  random read").next().unwrap_or(text)
}

#[test]
fn two_single_runs_are_told_apart_and_no_winner_is_named() {
    let (first, second) = (measured("a", &[10_000]), measured("b", &[12_000]));
    let comparison = compare(&[Side::of(&first), Side::of(&second)], &Options::default());
    expect![[r#"

        B against A: cannot tell
          Whether A and B differ cannot be told. Of 2 main figures in 1 load point: 2
          undecided. Each load point was measured once on each side, so how much one run
          differs from the next is not known. Measure both in turns (`run A B
          --interleave`), or each at least five times (`--repeats 5`), or say what is
          known of it (`--run-to-run 2%`).
          - within these runs B is 20.0 % (20.0 to 20.0 %) faster than A: 12,001 against
            10,001 ops/s in random read 8 KiB, queue_depth=4
          - within these runs B's p99 response time is 16.7 % (16.7 to 16.7 %) shorter:
            333 against 400 us in random read 8 KiB, queue_depth=4
          random read 8 KiB, queue_depth=4
          figure                    A      B  change    95 % interval verdict
          achieved rate, ops/s 10,001 12,001 +20.0 % +20.0 .. +20.0 % cannot tell (b)
          response p99, us        400    333 -16.7 % -16.7 .. -16.7 % cannot tell (b)
          - (b) differs within these runs; one run each

        What was compared
          - A: `a`, four corners on /mnt/vol1, begun 2026-11-21 06:15:33 UTC
          - B: `b`, four corners on /mnt/vol1, begun 2026-11-21 06:15:33 UTC

        How it was judged
          Each difference has a 95 % interval (Welch's t, Fieller's for the ratio) and a
          test by ranks (Mann and Whitney). A main figure is the achieved rate of a
          closed loop, the mean response time of an open one, and the 99th percentile of
          both. Of single runs the interval tells how well each is known, not how much
          runs differ.
    "#]]
    .assert_eq(&text(&comparison, Detail::Main, 80));
}

/// Both as sides of one interleaved comparison.
fn in_turns(mut sides: [ExperimentRecord; 2]) -> Comparison {
    let ids = [sides[0].id.clone(), sides[1].id.clone()];
    for (index, side) in ComparedSide::BOTH.into_iter().enumerate() {
        let partner = ids[side.other().index()].clone();
        let first = vec![ComparedSide::A; sides[index].runs.len()];
        sides[index].environment.extend(Interleaved { partner, side, first }.facts());
    }
    compare(&sides.each_ref().map(Side::of), &Options::default())
}

#[test]
fn sides_that_took_turns_are_compared_by_block() {
    let after = measured("20261121-061533-after-c3d4", &[10_110, 10_190, 10_055, 10_130, 10_110]);
    expect![[r#"

        B against A: faster
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 1.0 % (1.0 to 1.1 %) faster than A: 10,120 against 10,015 ops/s in
            random read 8 KiB, queue_depth=4
          - B's p99 response time is 1.0 % (0.9 to 1.2 %) shorter: 395 against 399 us in
            random read 8 KiB, queue_depth=4
          random read 8 KiB, queue_depth=4
          figure                    A      B change  95 % interval verdict
          achieved rate, ops/s 10,015 10,120 +1.0 % +1.0 .. +1.1 % faster
          response mean, us       399    395 -1.0 % -1.1 .. -1.0 % better
          response p50, us        399    395 -1.0 % -1.2 .. -0.9 % better
          response p99, us        399    395 -1.0 % -1.2 .. -0.9 % better
          response p99.9, us      399    395 -1.0 % -1.2 .. -0.9 % better
          CPU per op, us         59.9   59.3 -1.0 % -1.1 .. -1.0 % better

        What was compared
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, begun
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, begun 2026-11-21
            06:15:33 UTC

        How it was judged
          The sides took turns in blocks of two runs, in random order. Each difference
          has a 95 % interval from the ratios within the blocks (paired t). A main
          figure is the achieved rate of a closed loop, the mean response time of an
          open one, and the 99th percentile of both. The 2 tests of main figures share
          one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&in_turns([before(), after]), Detail::Main, 80));
}

#[test]
fn a_difference_that_drift_explains_points_to_measuring_in_turns() {
    let after = measured("20261121-061533-after-c3d4", &[10_110, 10_190, 10_055, 10_130, 10_110]);
    expect![[r#"

        B against A: cannot tell
          Whether A and B differ cannot be told. Of 2 main figures in 1 load point: 2
          undecided. No difference can be shown from back-to-back runs: the drift from
          one repeat to the next explains as much. `fourcorners run A B --interleave`
          measures both in turns and would tell."#]]
    .assert_eq(until_the_numbers(&text(&compared(&after), Detail::Main, 80)));
}

#[test]
fn different_host_state_is_in_the_sentence_of_the_verdict() {
    let busy = |mut record: ExperimentRecord, steal_ms: u64| {
        for interval in record.runs.iter_mut().flat_map(|run| &mut run.intervals) {
            let times = ProcessorTimes {
                busy_ns: 800_000_000,
                idle_ns: 1_200_000_000 - steal_ms * 1_000_000,
                steal_ns: steal_ms * 1_000_000,
            };
            interval.host = Some(HostInterval {
                span_ns: 1_000_000_000,
                processors: Some(2),
                times: Some(times),
                ..HostInterval::default()
            });
        }
        record
    };
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    let sides = [busy(before(), 0), busy(after, 200)];
    let back_to_back = compare(&sides.each_ref().map(Side::of), &Options::default());
    expect![[r#"

        B against A: cannot tell, with caveats
          Whether A and B differ cannot be told. Of 2 main figures in 1 load point: 2
          undecided. The two sides ran under different host state. `fourcorners run A B
          --interleave` measures both in turns and would tell.
          Before you rely on it:
          - B ran under different host state in 1 of 1 load point: random read 8 KiB,
            queue_depth=4 (steal 0.0 % against 10.0 % of the processors' time)"#]]
    .assert_eq(until_the_numbers(&text(&back_to_back, Detail::Main, 80)));
    expect![[r#"

        B against A: faster, with caveats
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 12.1 % (12.0 to 12.3 %) faster than A: 11,229 against 10,015 ops/s in
            random read 8 KiB, queue_depth=4, but under different host state (steal 0.0
            % against 10.0 % of the processors' time)
          - B's p99 response time is 10.8 % (10.7 to 10.9 %) shorter: 356 against 399 us
            in random read 8 KiB, queue_depth=4, but under different host state (steal
            0.0 % against 10.0 % of the processors' time)
          Before you rely on it:
          - B ran under different host state in 1 of 1 load point: random read 8 KiB,
            queue_depth=4 (steal 0.0 % against 10.0 % of the processors' time)"#]]
    .assert_eq(until_the_numbers(&text(&in_turns(sides), Detail::Main, 80)));
}

#[test]
fn markdown_and_json_have_the_numbers_of_the_text() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    let comparison = compared(&after);
    let markdown = markdown(&comparison, Detail::Main);
    assert!(markdown.starts_with("# Comparison of A and B\n\n## B against A: faster\n"));
    assert!(
        markdown.contains("| achieved rate, ops/s | 10,015 | 11,229 | +12.1 % |"),
        "{markdown}"
    );
    let mut out = Vec::new();
    json::write(&comparison, &mut out).expect("memory takes everything");
    let json: serde_json::Value = serde_json::from_slice(&out).expect("it is JSON");
    let rate = &json["pairs"][0]["figures"][0];
    assert_eq!(rate["unit"], "ops/s");
    assert!((rate["ratio"]["value"].as_f64().expect("a number") - 1.1213).abs() < 1e-4);
    assert_eq!(json["sides"][1]["id"], "20261121-061533-after-c3d4");
}
