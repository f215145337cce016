//! The exact text of a comparison, and the same numbers in Markdown and JSON.

use crate::fixture::records::{done, experiment, reads, run, stream};
use analysis::compare::facts::Item;
use analysis::compare::side::Side;
use analysis::compare::{Comparison, Options, compare};
use expect_test::expect;
use metrics::host_state::{HostInterval, ProcessorTimes};
use metrics::interleaved::Interleaved;
use metrics::run_record::ExperimentRecord;
use metrics::wire::{CounterSource, WireInterval};
use report::compare::{Detail, json, markdown, text};
use report::glance::Layout;
use report::look::Look;
use workload::interleave::ComparedSide;

/// Repeats at queue depth 4 with these rates in operations per second.
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
fn the_text_begins_with_the_result_in_words() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    expect![[r#"

        B compared with A: faster
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 12.1 % (7.7 to 16.7 %) faster than A: 11,229 vs 10,015 ops/s in random
            read 8 KiB, queue_depth=4
          - B's p99 response time is 10.8 % (7.2 to 14.3 %) shorter: 356 vs 399 µs in
            random read 8 KiB, queue_depth=4
          random read 8 KiB, queue_depth=4
          figure                    A      B  change         95 % CI verdict
          achieved rate, ops/s 10,015 11,229 +12.1 % +7.7 to +16.7 % faster
          response mean, µs       399    356 -10.8 % -14.3 to -7.2 % better
          response p50, µs        399    356 -10.8 % -14.3 to -7.2 % better
          response p99, µs        399    356 -10.8 % -14.3 to -7.2 % better
          response p99.9, µs      399    356 -10.8 % -14.3 to -7.2 % better
          CPU per op, µs         59.9   53.4 -10.8 % -14.3 to -7.2 % better

        Compared experiments
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC

        Statistical method
          Each difference has a 95 % confidence interval (Welch's t, Fieller's for the
          ratio) and a rank test (Mann and Whitney). Repeats ran back to back, so the
          interval includes drift (as a random walk) between the two sessions. Main
          figures are the achieved rate of a closed loop, the mean response time of an
          open loop, and the 99th percentile of both. The 2 tests of main figures share
          one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&compared(&after), Detail::All, 80));
}

/// As the command prints it.
fn at_one_glance(comparison: &Comparison, width: usize) -> String {
    let layout = Layout { width, lines_max: 36, look: Look::default() };
    report::compare::glance(comparison, layout)
}

#[test]
fn a_glance_has_the_verdict_what_differs_most_and_one_row_for_each_load_point() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    expect![[r#"
        B is faster than A. Of 2 main figures in 1 load point: 2 better.
        B is 12.1 % (7.7 to 16.7 %) faster than A: 11,229 vs 10,015 ops/s in random read
          8 KiB, queue_depth=4.
        B's p99 response time is 10.8 % (7.2 to 14.3 %) shorter: 356 vs 399 µs in random
          read 8 KiB, queue_depth=4.

          achieved rate, ops/s
          load point                            A      B  change         95 % CI verdict
          random read 8 KiB, queue_depth=4 10,015 11,229 +12.1 % +7.7 to +16.7 % faster
    "#]]
    .assert_eq(&at_one_glance(&compared(&after), 80));
}

/// Repeats at sixteen load points, the last of which is faster by a tenth on the second side.
fn sixteen_points(is_second: bool) -> ExperimentRecord {
    let runs = (0..16u64).flat_map(|point| {
        (0..5u64).map(move |repeat| {
            let variant = format!("workload {}", point / 4);
            let depth = 1 << (2 * (point % 4));
            let mut run = run(&variant, vec![stream("data", depth)], 1, 6);
            run.repeat = repeat as u32;
            let faster = if is_second && point == 15 { 1000 } else { 0 };
            let rate = 10_000 + 10 * repeat + faster;
            let time_ns = u64::from(depth) * 1_000_000_000 / rate;
            done(run, (0..7).map(|second| reads(rate + second % 2, 8192, time_ns)).collect())
        })
    });
    experiment(runs.collect())
}

#[test]
fn a_glance_at_sixteen_load_points_fits_on_a_screen_of_any_width() {
    let sides = [false, true].map(|is_second| Side::of(&sixteen_points(is_second)));
    let comparison = compare(&sides, &Options::default());
    for width in [40, 60, 80, 120, 200] {
        let text = at_one_glance(&comparison, width);
        assert!(text.starts_with("B is faster than A."), "{text}");
        let wide = text.lines().find(|line| line.chars().count() > width);
        assert_eq!(wide, None, "{width} columns:\n{text}");
        // What differs is shown whatever is left out.
        assert!(text.contains("workload 3, queue_depth=64"), "{text}");
        let shown = text.matches("workload").count();
        assert!(width < 80 || shown >= 16, "{text}");
        assert!(width < 80 || text.lines().count() <= 36, "{text}");
    }
}

#[test]
fn without_a_difference_the_detectable_change_is_reported() {
    let after = measured("20261121-061533-after-c3d4", &[10_010, 10_060, 9_960, 10_020, 10_000]);
    expect![[r#"

        B compared with A: no difference found
          No difference between A and B was found. Of 2 main figures in 1 load point: 2
          without a difference. A change of 5.2 % in any of them would have been
          detected with 80 % power; the 95 % confidence intervals exclude changes above
          3.4 %.
          random read 8 KiB, queue_depth=4
          figure                    A      B change        95 % CI verdict
          achieved rate, ops/s 10,015 10,011  0.0 % -3.3 to +3.3 % no difference
          response p99, µs        399    400  0.0 % -3.2 to +3.4 % no difference

        Compared experiments
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC

        Statistical method
          Each difference has a 95 % confidence interval (Welch's t, Fieller's for the
          ratio) and a rank test (Mann and Whitney). Repeats ran back to back, so the
          interval includes drift (as a random walk) between the two sessions. Main
          figures are the achieved rate of a closed loop, the mean response time of an
          open loop, and the 99th percentile of both. The 2 tests of main figures share
          one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&compared(&after), Detail::Main, 80));
}

#[test]
fn if_anything_else_differs_no_winner_is_named() {
    let mut after =
        measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    after.environment.other[1].1 = "6.19.0".to_owned();
    for record in &mut after.runs {
        record.run.streams[0].workers = 2;
    }
    expect![[r#"

        B compared with A: not comparable
          No winner is named: A and B also differ in kernel and plan, so the cause of
          different figures cannot be determined. To compare them anyway, use
          `--allow-different kernel,plan`.
          Other differences (A | B):
          - kernel: kernel.release 6.18.0 | 6.19.0
          - plan: data.workers 1 | 2 (in 1 load point)
          random read 8 KiB, queue_depth=4
          figure                    A      B  change         95 % CI verdict
          achieved rate, ops/s 10,015 11,229 +12.1 % +7.7 to +16.7 % -
          response p99, µs        399    356 -10.8 % -14.3 to -7.2 % -

        Compared experiments
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC

        Statistical method
          Each difference has a 95 % confidence interval (Welch's t, Fieller's for the
          ratio) and a rank test (Mann and Whitney). Repeats ran back to back, so the
          interval includes drift (as a random walk) between the two sessions. Main
          figures are the achieved rate of a closed loop, the mean response time of an
          open loop, and the 99th percentile of both. The 2 tests of main figures share
          one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&compared(&after), Detail::Main, 80));
}

/// The record with network counters that saw only a share of the bytes, as if a cache had answered
/// the rest.
fn over_the_wire(mut record: ExperimentRecord, passed: f64) -> ExperimentRecord {
    for interval in record.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let moved: u64 = interval.streams[0].kinds.iter().map(|kind| kind.bytes).sum();
        let received_bytes = (moved as f64 * passed) as u64;
        let source = CounterSource::NfsMount;
        interval.wire = vec![WireInterval { source, received_bytes, sent_bytes: 0 }];
    }
    record
}

#[test]
fn caveats_are_between_the_words_and_the_numbers() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    let sides = [Side::of(&over_the_wire(before(), 1.02)), Side::of(&over_the_wire(after, 0.03))];
    let comparison = compare(&sides, &Options::default());
    expect![[r#"

        B compared with A: not comparable, with caveats
          No winner is named: A and B also differ in cache, so the cause of different
          figures cannot be determined. To compare them anyway, use
          `--allow-different cache`. Figures served from a client cache are not those of
          the storage (use direct I/O, or files larger than memory).
          Caveats:
          - B was partly served from a client cache in 1 of 1 load point: random read
            8 KiB, queue_depth=4 (97.0 % of the bytes read never reached this host:
            operations moved 525.02 MiB, but the NFS mount delivered 15.75 MiB)
          Other differences (A | B):
          - cache: bytes from a client cache none | 97 % (in 1 load point)"#]]
    .assert_eq(until_the_numbers(&text(&comparison, Detail::Main, 80)));

    let allowed = Options { allowed: vec![Item::Cache], ..Options::default() };
    let comparison = compare(&sides, &allowed);
    expect![[r#"

        B compared with A: faster, with caveats
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 12.1 % (7.7 to 16.7 %) faster than A: 11,229 vs 10,015 ops/s in random
            read 8 KiB, queue_depth=4
          - B's p99 response time is 10.8 % (7.2 to 14.3 %) shorter: 356 vs 399 µs in
            random read 8 KiB, queue_depth=4
          Caveats:
          - B was partly served from a client cache in 1 of 1 load point: random read
            8 KiB, queue_depth=4 (97.0 % of the bytes read never reached this host:
            operations moved 525.02 MiB, but the NFS mount delivered 15.75 MiB)
          Other differences (A | B):
          - cache: bytes from a client cache none | 97 % (in 1 load point) (allowed)"#]]
    .assert_eq(until_the_numbers(&text(&comparison, Detail::Main, 80)));
    let page = markdown(&comparison, Detail::Main);
    assert!(page.contains("## B compared with A: faster, with caveats"), "{page}");
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
fn two_single_runs_that_differ_are_inconclusive() {
    let (first, second) = (measured("a", &[10_000]), measured("b", &[12_000]));
    let comparison = compare(&[Side::of(&first), Side::of(&second)], &Options::default());
    expect![[r#"

        B compared with A: cannot tell
          Whether A and B differ cannot be determined. Of 2 main figures in 1 load
          point: 2 inconclusive. Each load point was measured once on each side, so the
          variation between runs is unknown. Measure both in turns
          (`run A B --interleave`) or each at least five times (`--repeats 5`), or give
          the variation if you know it (`--run-to-run 2%`).
          - within these runs B is 20.0 % (20.0 to 20.0 %) faster than A: 12,001 vs
            10,001 ops/s in random read 8 KiB, queue_depth=4
          - within these runs B's p99 response time is 16.7 % (16.7 to 16.7 %) shorter:
            333 vs 400 µs in random read 8 KiB, queue_depth=4
          random read 8 KiB, queue_depth=4
          figure                    A      B  change          95 % CI verdict
          achieved rate, ops/s 10,001 12,001 +20.0 % +20.0 to +20.0 % cannot tell (b)
          response p99, µs        400    333 -16.7 % -16.7 to -16.7 % cannot tell (b)
          - (b) differs within these runs; one run each

        Compared experiments
          - A: `a`, four corners on /mnt/vol1, started 2026-11-21 06:15:33 UTC
          - B: `b`, four corners on /mnt/vol1, started 2026-11-21 06:15:33 UTC

        Statistical method
          Each difference has a 95 % confidence interval (Welch's t, Fieller's for the
          ratio) and a rank test (Mann and Whitney). Main figures are the achieved rate
          of a closed loop, the mean response time of an open loop, and the 99th
          percentile of both. The interval of single runs contains the uncertainty of
          each, not the variation between runs.
    "#]]
    .assert_eq(&text(&comparison, Detail::Main, 80));
}

/// The sides of an interleaved comparison.
fn in_turns(mut sides: [ExperimentRecord; 2]) -> Comparison {
    let ids = [sides[0].id.clone(), sides[1].id.clone()];
    for (index, side) in ComparedSide::BOTH.into_iter().enumerate() {
        let partner = ids[side.other().index()].clone();
        let first = vec![ComparedSide::A; sides[index].runs.len()];
        sides[index].environment.interleaved = Some(Interleaved { partner, side, first });
    }
    compare(&sides.each_ref().map(Side::of), &Options::default())
}

#[test]
fn interleaved_sides_are_compared_by_block() {
    let after = measured("20261121-061533-after-c3d4", &[10_110, 10_190, 10_055, 10_130, 10_110]);
    expect![[r#"

        B compared with A: faster
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 1.0 % (1.0 to 1.1 %) faster than A: 10,120 vs 10,015 ops/s in random
            read 8 KiB, queue_depth=4
          - B's p99 response time is 1.0 % (0.9 to 1.2 %) shorter: 395 vs 399 µs in
            random read 8 KiB, queue_depth=4
          random read 8 KiB, queue_depth=4
          figure                    A      B change        95 % CI verdict
          achieved rate, ops/s 10,015 10,120 +1.0 % +1.0 to +1.1 % faster
          response mean, µs       399    395 -1.0 % -1.1 to -1.0 % better
          response p50, µs        399    395 -1.0 % -1.2 to -0.9 % better
          response p99, µs        399    395 -1.0 % -1.2 to -0.9 % better
          response p99.9, µs      399    395 -1.0 % -1.2 to -0.9 % better
          CPU per op, µs         59.9   59.3 -1.0 % -1.1 to -1.0 % better

        Compared experiments
          - A: `20261120-061533-before-a1b2`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC
          - B: `20261121-061533-after-c3d4`, four corners on /mnt/vol1, started
            2026-11-21 06:15:33 UTC

        Statistical method
          The sides took turns in blocks of two runs in random order. Each difference
          has a 95 % confidence interval from the ratios within blocks (paired t). Main
          figures are the achieved rate of a closed loop, the mean response time of an
          open loop, and the 99th percentile of both. The 2 tests of main figures share
          one error rate of 5 % (Holm), the 4 others another.
    "#]]
    .assert_eq(&text(&in_turns([before(), after]), Detail::Main, 80));
}

#[test]
fn a_difference_that_drift_explains_is_inconclusive() {
    let after = measured("20261121-061533-after-c3d4", &[10_110, 10_190, 10_055, 10_130, 10_110]);
    expect![[r#"

        B compared with A: cannot tell
          Whether A and B differ cannot be determined. Of 2 main figures in 1 load
          point: 2 inconclusive. The runs were back to back, and drift from one repeat
          to the next explains the difference. To exclude this, measure both in turns:
          `fourcorners run A B --interleave`."#]]
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

        B compared with A: cannot tell, with caveats
          Whether A and B differ cannot be determined. Of 2 main figures in 1 load
          point: 2 inconclusive. The two sides ran under different host state. To
          exclude this, measure both in turns: `fourcorners run A B --interleave`.
          Caveats:
          - B ran under different host state in 1 of 1 load point: random read 8 KiB,
            queue_depth=4 (steal 0.0 % against 10.0 % of processor time)"#]]
    .assert_eq(until_the_numbers(&text(&back_to_back, Detail::Main, 80)));
    expect![[r#"

        B compared with A: faster, with caveats
          B is faster than A. Of 2 main figures in 1 load point: 2 better.
          - B is 12.1 % (12.0 to 12.3 %) faster than A: 11,229 vs 10,015 ops/s in random
            read 8 KiB, queue_depth=4, but under different host state (steal 0.0 %
            against 10.0 % of processor time)
          - B's p99 response time is 10.8 % (10.7 to 10.9 %) shorter: 356 vs 399 µs in
            random read 8 KiB, queue_depth=4, but under different host state (steal
            0.0 % against 10.0 % of processor time)
          Caveats:
          - B ran under different host state in 1 of 1 load point: random read 8 KiB,
            queue_depth=4 (steal 0.0 % against 10.0 % of processor time)"#]]
    .assert_eq(until_the_numbers(&text(&in_turns(sides), Detail::Main, 80)));
}

#[test]
fn markdown_and_json_have_the_numbers_of_the_text() {
    let after = measured("20261121-061533-after-c3d4", &[11_200, 11_310, 11_150, 11_260, 11_220]);
    let comparison = compared(&after);
    let markdown = markdown(&comparison, Detail::Main);
    assert!(markdown.starts_with("# Comparison of A and B\n\n## B compared with A: faster\n"));
    assert!(
        markdown.contains("| achieved rate, ops/s | 10,015 | 11,229 | +12.1 % |"),
        "{markdown}"
    );
    let mut out = Vec::new();
    json::write(&comparison, &mut out).expect("a vector accepts everything");
    let json: serde_json::Value = serde_json::from_slice(&out).expect("it is JSON");
    let rate = &json["pairs"][0]["figures"][0];
    assert_eq!(rate["unit"], "ops/s");
    assert!((rate["ratio"]["value"].as_f64().expect("a number") - 1.1213).abs() < 1e-4);
    assert_eq!(json["sides"][1]["id"], "20261121-061533-after-c3d4");
}
