//! The result at one glance: it fits on a screen of any width, the verdict comes first, and its numbers
//! are those of the findings.

use crate::fixture;
use crate::fixture::loads::{declining, limited, range, repeated};
use crate::fixture::records::{done, emulated_volume, experiment, reads, run, stream};
use analysis::{Findings, analyze};
use metrics::run_record::ExperimentRecord;
use report::glance::{Glance, Layout, text};
use report::html;
use report::look::Look;
use report::number::{mib, plain};
use report::record::Record;

/// Lines of the screen that a result has to fit on.
const LINES_MAX: usize = 40;
/// Narrowest, usual and widest terminals.
const WIDTHS: [usize; 6] = [40, 60, 80, 100, 120, 200];

fn emulated() -> ExperimentRecord {
    let mut record = fixture::four_corners();
    *record.plan.target_mut() = emulated_volume();
    record
}

/// A single queue depth, which does not show whether throughput still rises.
fn one_load() -> ExperimentRecord {
    let intervals = [8000, 8010, 7990, 8020, 8000, 7995];
    let intervals = intervals.map(|rate| reads(rate, 8192, 500_000));
    experiment(vec![done(
        run("random read 8 KiB", vec![stream("data", 4)], 0, 6),
        intervals.into(),
    )])
}

/// Many workloads with long names, each at several queue depths.
fn many_curves() -> ExperimentRecord {
    let names = (1..=12).map(|size| format!("nightly backup of tenant {size}, sequential read"));
    let runs = names.flat_map(|name| {
        [1u64, 2, 4, 8, 16, 32].map(|depth| {
            let rate = (depth * 1000).min(8000);
            let rates = [0, 40, 10, 30, 20, 0].map(|more| rate + more);
            let intervals = rates.map(|rate| reads(rate, 8192, depth * 1_000_000_000 / rate));
            done(run(&name, vec![stream("data", depth as u32)], 0, 6), intervals.into())
        })
    });
    experiment(runs.collect())
}

/// Two workloads of 8 KiB on an emulated volume of 128 MiB/s.
fn one_limit() -> ExperimentRecord {
    let runs = ["random read 8 KiB", "random read 8 KiB, two"].into_iter().flat_map(|variant| {
        [1u64, 4, 16, 32].map(|depth| {
            let rate = (depth * 2000).min(16_384);
            // The limit is exact; below it, intervals differ.
            let wave = if rate < 16_384 { [0, 40, 10, 30, 20, 0] } else { [0; 6] };
            let intervals = wave.map(|less| reads(rate - less, 8192, depth * 1_000_000_000 / rate));
            done(run(variant, vec![stream("data", depth as u32)], 0, 6), intervals.into())
        })
    });
    let mut record = experiment(runs.collect());
    *record.plan.target_mut() = emulated_volume();
    record
}

fn all() -> Vec<(&'static str, Findings)> {
    let records = [
        ("four corners", fixture::four_corners()),
        ("emulated", emulated()),
        ("bottleneck", fixture::bottleneck()),
        ("troubled", fixture::troubled()),
        ("limited", limited()),
        ("declining", declining()),
        ("repeated", repeated(3)),
        ("range", range()),
        ("one load", one_load()),
        ("one limit", one_limit()),
        ("many curves", many_curves()),
    ];
    records.into_iter().map(|(name, record)| (name, analyze(&record))).collect()
}

fn glance(findings: &Findings) -> Glance {
    Glance::of(Record::from(findings)).expect("something was measured")
}

fn shown(findings: &Findings, width: usize, look: Look) -> String {
    let layout = Layout { width, lines_max: LINES_MAX, look };
    text(findings, layout).expect("something was measured")
}

fn at(findings: &Findings, width: usize) -> String {
    shown(findings, width, Look::default())
}

/// Text with single spaces, as it was before it was broken into lines.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    for (name, findings) in all() {
        for width in WIDTHS {
            let text = at(&findings, width);
            let wide = text.lines().find(|line| line.chars().count() > width);
            assert_eq!(wide, None, "{name} at {width} columns:\n{text}");
        }
    }
}

#[test]
fn a_glance_has_at_most_forty_lines_at_80_columns() {
    for (name, findings) in all() {
        for width in [80, 120, 200] {
            let text = at(&findings, width);
            let lines = text.lines().count();
            assert!(lines <= LINES_MAX, "{name} at {width}: {lines} lines\n{text}");
        }
    }
}

#[test]
fn the_verdict_comes_before_every_number_of_the_table() {
    for (name, findings) in all() {
        let verdict = glance(&findings).verdict;
        assert!((1..=2).contains(&verdict.len()), "{name}: {verdict:#?}");
        for width in WIDTHS {
            let text = flat(&at(&findings, width));
            let (before, _) = text.split_once("IOPS").expect("a table has this heading");
            for sentence in &verdict {
                assert!(before.contains(&flat(sentence)), "{name} at {width}: {sentence}\n{text}");
            }
        }
    }
}

/// Numbers of a line in the order of the columns.
fn numbers(line: &str) -> Vec<f64> {
    let number = |word: &str| word.replace(',', "").parse::<f64>().ok();
    line.split_whitespace().filter_map(number).collect()
}

#[test]
fn printed_numbers_are_those_of_the_findings_and_none_is_broken() {
    for (name, record) in
        [("four corners", fixture::four_corners()), ("bottleneck", fixture::bottleneck())]
    {
        let findings = analyze(&record);
        for width in [60, 80, 120, 200] {
            let text = at(&findings, width);
            for one in &findings.summary.curves {
                let data = {
                    let point = &findings.curves[one.curve].points[one.most];
                    &findings.load_points[point.load_point].merged.total.data
                };
                let (rate, throughput) = (data.achieved_rate.unwrap(), data.throughput.unwrap());
                let printed = plain(rate.value);
                let row = text.lines().find(|line| {
                    line.split_whitespace().any(|word| word == printed)
                        && line.contains(&mib(throughput.value))
                });
                let row = row.unwrap_or_else(|| panic!("{name} at {width}: {printed}\n{text}"));
                let found =
                    numbers(row).into_iter().find(|found| (found - rate.value).abs() <= 0.5);
                assert!(found.is_some(), "{name}: {row} for {}", rate.value);
            }
        }
    }
}

#[test]
fn the_page_has_the_sentences_of_the_terminal() {
    for (name, findings) in all() {
        let page = html::render(&findings).expect("the page is rendered");
        let page = page.replace("<code>", "`").replace("</code>", "`");
        let page = page.replace("&#x2f;", "/").replace("&#x27;", "'").replace("&quot;", "\"");
        let text = flat(&at(&findings, 200));
        for sentence in glance(&findings).verdict {
            assert!(page.contains(&sentence), "{name}: the page lacks `{sentence}`");
            assert!(text.contains(&flat(&sentence)), "{name}: the terminal lacks `{sentence}`");
        }
    }
}

#[test]
fn an_inconclusive_verdict_names_the_command_that_would_tell() {
    let verdict = glance(&analyze(&one_load())).verdict.join(" ");
    assert!(verdict.starts_with("Not enough data"), "{verdict}");
    assert!(verdict.contains("fourcorners run") && verdict.contains("--set"), "{verdict}");
}

#[test]
fn a_limit_that_answers_for_all_curves_is_stated_once_with_both_values() {
    let text = at(&analyze(&one_limit()), 80);
    let limit = "Limited by the volume's throughput limit: 128 MiB/s (configured 128 MiB/s).";
    assert_eq!(flat(&text).matches(limit).count(), 1, "{text}");
    assert_eq!(text.matches("throughput limit").count(), 1, "{text}");
}

#[test]
fn of_many_curves_only_the_rows_that_matter_are_shown_and_the_rest_is_counted() {
    let findings = analyze(&many_curves());
    let text = at(&findings, 80);
    assert!(text.contains("load points: --full"), "{text}");
    let more = flat(&text);
    let counted = more.split("+ ").nth(1).and_then(|rest| rest.split(' ').next());
    let left_out: usize = counted.and_then(|count| count.parse().ok()).expect("a count");
    assert!((1..findings.load_points.len()).contains(&left_out), "{text}");
}

#[test]
fn every_letter_in_the_table_is_explained_below_it() {
    for (name, findings) in all() {
        let glance = glance(&findings);
        let text = at(&findings, 80);
        let known = |letter: char| {
            letter == 'L' || letter == '+' || glance.caveats.iter().any(|one| one.mark == letter)
        };
        // A row ends with its letters, after its numbers.
        let is_row = |line: &&str| numbers(line).len() >= 4 && !line.contains("of peak");
        let rows = text.lines().filter(is_row);
        for row in rows {
            let last = row.split_whitespace().last().unwrap_or_default();
            if last.chars().all(|c| c.is_ascii_alphabetic()) {
                assert!(last.chars().all(known), "{name}: `{row}` in\n{text}");
            }
        }
        for caveat in &glance.caveats {
            let line = flat(&format!("{} {}", caveat.mark, caveat.line));
            assert!(flat(&text).contains(&line), "{name}: {line}\n{text}");
        }
        assert!(glance.caveats.len() <= 5 && glance.recommendations.len() <= 3);
    }
}

#[test]
fn only_an_end_that_was_not_planned_has_a_note() {
    assert_eq!(glance(&analyze(&fixture::four_corners())).notes, [""; 0]);
    let notes = glance(&analyze(&fixture::troubled())).notes;
    assert!(notes[0].contains("failed"), "{notes:#?}");
}

#[test]
fn colour_adds_nothing_but_escape_sequences() {
    for (name, findings) in all() {
        let colored = shown(&findings, 80, Look { color: true });
        assert!(colored.contains("\x1b["), "{name} has a coloured verdict");
        let mut plain = String::new();
        for (index, part) in colored.split("\x1b[").enumerate() {
            let text = if index == 0 { part } else { part.split_once('m').unwrap().1 };
            plain.push_str(text);
        }
        assert_eq!(plain, at(&findings, 80), "{name}");
    }
}

#[test]
fn nothing_is_shown_of_a_record_without_load_points() {
    let findings = analyze(&experiment(Vec::new()));
    let layout = Layout { width: 80, lines_max: LINES_MAX, look: Look::default() };
    assert_eq!(text(&findings, layout), None);
}
