//! What is printed: the table's exact form, and the same numbers in text, CSV, JSON and HTML.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

mod fixture;

use std::collections::BTreeMap;

use analysis::{Findings, analyze};
use fixture::records::{done, experiment, reads, run, stream};
use report::{csv, hgrm, html, json, method, text};
use serde_json::Value;

fn written(
    write: impl Fn(&Findings, &mut dyn std::io::Write) -> std::io::Result<()>,
    f: &Findings,
) -> String {
    let mut out = Vec::new();
    write(f, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// One load point of 10,000 reads of 8 KiB and 100 us each second for six seconds, and a shorter
/// one.
fn small() -> Findings {
    let at = |depth: u32, rate: u64, time_ns: u64, seconds: u64| {
        let window = (0..seconds).map(|_| reads(rate, 8192, time_ns)).collect();
        done(run("random read 8 KiB", vec![stream("data", depth)], 0, seconds), window)
    };
    analyze(&experiment(vec![at(1, 10_000, 100_000, 6), at(4, 300, 13_333_000, 2)]))
}

#[test]
fn the_table_fits_eighty_columns_and_ends_with_the_warnings_in_words() {
    let table = text::summary(&small(), 80);
    let lines: Vec<&str> = table.lines().collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(1), "random read 8 KiB");
    assert_eq!(words(2), "queue achieved 95 % through- response time, us out- CPU");
    assert_eq!(words(3), "depth ops/s +- MiB/s mean p50 p99 p99.9 standing us/op !");
    assert_eq!(words(4), "1 10,000 0.0 % 78.1 100 100 100 100 1.00 60.0");
    assert_eq!(words(5), "4 300 - 2.34 13,333 13,333 too few too few 4.00 2,000 ab");
    assert!(table.contains("too few: too few samples (fewer than ten)"));
    assert!(
        table.contains(
            "  a  window_too_short\n     - the window has 2 intervals (random read 8 KiB,"
        )
    );
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn every_fixture_fits_the_width_it_is_given() {
    for findings in [analyze(&fixture::four_corners()), analyze(&fixture::troubled())] {
        for width in [80, 100, 132] {
            let table = text::summary(&findings, width);
            assert!(table.lines().all(|line| line.chars().count() <= width), "{width}:\n{table}");
            assert!(!table.contains('\u{1b}'), "no colour inside");
        }
    }
}

/// `(load point, repeat, stream, operation)` to cells by column.
type CsvRows = BTreeMap<(usize, String, String, String), BTreeMap<String, String>>;

fn csv_rows(text: &str) -> CsvRows {
    let mut lines = text.lines().map(cells);
    let names = lines.next().unwrap();
    let rows = lines.map(|cells| {
        assert_eq!(cells.len(), names.len());
        let row: BTreeMap<String, String> = names.iter().cloned().zip(cells).collect();
        let key = (
            row["load_point"].parse().unwrap(),
            row["repeat"].clone(),
            row["stream"].clone(),
            row["operation"].clone(),
        );
        (key, row)
    });
    rows.collect()
}

/// RFC 4180, without line breaks inside cells.
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        let cell = cells.last_mut().unwrap();
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => cell.push(chars.next().unwrap()),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            c => cell.push(c),
        }
    }
    cells
}

fn assert_same(cell: &str, value: &Value, what: &str) {
    match value {
        Value::Null => assert_eq!(cell, "", "{what}"),
        value => {
            let (cell, value) = (cell.parse::<f64>().unwrap(), value.as_f64().unwrap());
            // The JSON reader may be off by the last bit.
            assert!((cell - value).abs() <= 1e-15 * value.abs(), "{what}: {cell}, {value}");
        }
    }
}

#[test]
fn csv_and_json_carry_the_same_numbers() {
    for record in [fixture::four_corners(), fixture::troubled()] {
        let findings = analyze(&record);
        let rows = csv_rows(&written(csv::write, &findings));
        let document: Value = serde_json::from_str(&written(json::write, &findings)).unwrap();
        let mut compared = 0;
        for (index, load_point) in document["load_points"].as_array().unwrap().iter().enumerate() {
            let merged = [("all".to_owned(), &load_point["merged"])];
            let runs = load_point["runs"].as_array().unwrap().iter();
            let runs =
                runs.map(|r| ((r["repeat"].as_u64().unwrap() + 1).to_string(), &r["summary"]));
            for (repeat, summary) in merged.into_iter().chain(runs) {
                for stream in summary["streams"].as_array().unwrap() {
                    let kinds = stream["kinds"].as_array().unwrap().iter();
                    for operation in std::iter::once(&stream["data"]).chain(kinds) {
                        let text = |v: &Value| v.as_str().unwrap().to_owned();
                        let key = (
                            index,
                            repeat.clone(),
                            text(&stream["name"]),
                            text(&operation["operation"]),
                        );
                        compare(&rows[&key], summary, stream, operation);
                        compared += 1;
                    }
                }
            }
        }
        let all_streams = rows.keys().filter(|k| k.2 == "all streams").count();
        assert_eq!(compared + all_streams, rows.len());
    }
}

fn compare(row: &BTreeMap<String, String>, summary: &Value, stream: &Value, operation: &Value) {
    let same = |column: &str, value: &Value| assert_same(&row[column], value, column);
    same("completed", &operation["completed"]);
    same("failed", &operation["failed"]);
    same("moved_bytes", &operation["moved_bytes"]);
    same("intervals", &summary["intervals"]);
    for name in ["achieved_rate", "throughput"] {
        let unit = if name == "throughput" { "bytes_per_sec" } else { "ops_per_sec" };
        let estimate = &operation[format!("{name}_{unit}")];
        same(&format!("{name}_{unit}"), &estimate["value"]);
        same(&format!("{name}_uncertainty_{unit}"), &estimate["uncertainty"]);
    }
    for name in ["response", "service"] {
        let times = &operation[format!("{name}_time")];
        same(&format!("{name}_mean_ns"), &times["mean_ns"]["value"]);
        same(&format!("{name}_mean_uncertainty_ns"), &times["mean_ns"]["uncertainty"]);
        same(&format!("{name}_max_ns"), &times["max_ns"]);
        for percentile in times["percentiles"].as_array().unwrap() {
            let fraction = percentile["name"].as_str().unwrap().replace('.', "_");
            same(&format!("{name}_{fraction}_ns"), &percentile["value_ns"]);
        }
    }
    same("outstanding_mean_ops", &stream["outstanding_mean_ops"]["value"]);
    same("backlog_mean_ops", &stream["backlog_mean_ops"]["value"]);
    same("process_cpu_ns_per_op", &summary["process_cpu_ns_per_op"]["value"]);
    same("worker_cpu_ns_per_op", &stream["worker_cpu_ns_per_op"]);
    same("little_service_mismatch_fraction", &stream["little_service"]["mismatch_fraction"]);
}

#[test]
fn the_page_and_the_table_print_the_same_cells() {
    let findings = analyze(&fixture::four_corners());
    let page = html::render(&findings).unwrap();
    let table = text::summary(&findings, 80);
    for block in report::rows::blocks(&findings) {
        for row in &block.rows {
            let cells = row.cells(block.time_unit());
            let line: Vec<&str> = std::iter::once(row.label.as_str())
                .chain(cells.iter().map(String::as_str))
                .collect();
            let words = line.join(" ");
            let words: Vec<&str> = words.split_whitespace().collect();
            let in_table = |l: &str| l.split_whitespace().collect::<Vec<_>>() == words;
            assert!(table.lines().any(in_table), "{words:?}");
            let html: String = cells[..9].iter().map(|cell| format!("<td>{cell}</td>")).collect();
            assert!(page.contains(&html), "{html}");
        }
    }
}

#[test]
fn names_from_users_cannot_become_markup() {
    let page = html::render(&analyze(&fixture::troubled())).unwrap();
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains("<b>bold"));
    assert!(!page.contains("rw,<relatime>"));
    // The three scripts of the page, and no other end of one.
    assert_eq!(page.matches("</script>").count(), 3);
    assert!(page.contains("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"));
}

#[test]
fn the_page_carries_all_sections_and_needs_no_network() {
    let findings = analyze(&fixture::four_corners());
    let page = html::render(&findings).unwrap();
    for id in
        ["summary", "warnings", "curves", "percentiles", "time", "environment", "method", "again"]
    {
        assert!(page.contains(&format!("<h2 id=\"{id}\">")), "{id}");
    }
    assert!(page.contains("default-src &#x27;none&#x27;") || page.contains("default-src 'none'"));
    for outside in ["src=\"http", "href=\"http", "url(http", "@import"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // The template escapes slashes too.
    assert!(page.replace("&#x2f;", "/").contains(&findings.repeat_command));
}

#[test]
fn the_report_of_an_hour_of_four_streams_is_small_enough_to_mail() {
    let findings = analyze(&fixture::hour());
    assert_eq!(findings.series.len(), 4);
    assert!(findings.series.iter().all(|s| (800..=1_001).contains(&s.points.len())));
    let page = html::render(&findings).unwrap();
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
}

#[test]
fn percentile_files_have_hdr_histograms_form() {
    let file = written(hgrm::write, &small());
    let expected = "\
# random read 8 KiB, queue_depth=1 | data | read | response time | us
       Value     Percentile TotalCount 1/(1-Percentile)

     100.000 0.000000000000      60000           1.00
     100.000 1.000000000000      60000
#[Mean    =      100.000, StdDeviation   =        0.001]
#[Max     =      100.000, Total count    =        60000]
#[Buckets =           26, SubBuckets     =         2048]
";
    assert!(file.starts_with(expected), "{file}");
    assert_eq!(file.matches("#[Mean").count(), 4);
}

#[test]
fn the_chart_bundle_is_the_one_that_the_checksum_names() {
    use sha2::Digest as _;
    let bundle = include_bytes!("../assets/echarts/echarts.min.js");
    let named = include_str!("../assets/echarts/echarts.min.js.sha256");
    let digest: String =
        sha2::Sha256::digest(bundle).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(named.split_whitespace().next(), Some(digest.as_str()));
    assert!(bundle.len() < 800_000, "{} bytes", bundle.len());
    let text = std::str::from_utf8(bundle).unwrap();
    assert!(!text.contains("</script"), "would end the script element it stands in");
    assert!(!text.contains("new Function") && !text.contains("eval("));
}

#[test]
fn every_definition_in_a_report_is_a_heading_of_the_method_page() {
    let page = include_str!("../../../docs/method.md");
    for (name, _) in method::DEFINITIONS {
        assert!(page.lines().any(|line| line == format!("## {name}")), "{name}");
    }
}

#[test]
fn the_csv_reference_describes_every_column() {
    let page = include_str!("../../../docs/reference/csv.md");
    let file = written(csv::write, &small());
    let mut described: Vec<String> = Vec::new();
    for line in page.lines().filter(|line| line.starts_with("| `")) {
        let first = line.split('|').nth(1).unwrap();
        described.extend(first.split('`').skip(1).step_by(2).map(str::to_owned));
    }
    let names = cells(file.lines().next().unwrap());
    assert_eq!(described, names, "in this order");
}
