//! The exact form of the results table, and the same numbers in text, CSV, JSON and HTML.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeMap;

use crate::fixture;
use crate::fixture::records::{SECOND_NS, done, experiment, host_second, kind, reads, run, stream};
use analysis::{Findings, analyze};
use metrics::host_state::HostInterval;
use report::{csv, hgrm, html, json, markdown, method, text};
use serde_json::Value;
use workload::op::OpKind;

fn written(
    write: impl Fn(&Findings, &mut dyn std::io::Write) -> std::io::Result<()>,
    f: &Findings,
) -> String {
    let mut out = Vec::new();
    write(f, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// A load point of 10,000 reads of 8 KiB and 100 µs per second for six seconds, and a shorter one.
fn small() -> Findings {
    let at = |depth: u32, rate: u64, time_ns: u64, seconds: u64| {
        let window = (0..seconds).map(|_| reads(rate, 8192, time_ns)).collect();
        done(run("random read 8 KiB", vec![stream("data", depth)], 0, seconds), window)
    };
    analyze(&experiment(vec![at(1, 10_000, 100_000, 6), at(4, 300, 13_333_000, 2)]))
}

#[test]
fn the_table_fits_eighty_columns_and_ends_with_the_warnings() {
    let table = text::summary(&small(), 80);
    let (_, from) = table.rsplit_once("\n\nrandom read 8 KiB\n").expect("the table has a name");
    let lines: Vec<&str> = ["", "random read 8 KiB"].into_iter().chain(from.lines()).collect();
    let words = |line: usize| lines[line].split_whitespace().collect::<Vec<_>>().join(" ");
    assert_eq!(words(1), "random read 8 KiB");
    assert_eq!(words(2), "queue achieved 95 % throughput response time, µs out- CPU");
    assert_eq!(words(3), "depth ops/s CI ± MiB/s mean p50 p99 p99.9 standing µs/op !");
    assert_eq!(words(4), "1 10,000 0.0 % 78.1 100 100 100 100 1.00 60.0");
    assert_eq!(words(5), "4 300 - 2.34 13,333 13,333 n/a n/a 4.00 2,000 ab");
    assert!(table.contains("n/a: too few samples (fewer than ten above this percentile)."));
    assert!(
        table.contains(
            "  a  window_too_short\n     - the window has 2 intervals (random read 8 KiB,"
        )
    );
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
}

#[test]
fn the_text_fits_the_given_width() {
    for findings in [analyze(&fixture::four_corners()), analyze(&fixture::troubled())] {
        for width in [80, 100, 132] {
            let table = text::summary(&findings, width);
            assert!(table.lines().all(|line| line.chars().count() <= width), "{width}:\n{table}");
            assert!(!table.contains('\u{1b}'), "no colours");
        }
    }
}

/// Cells by column, by `(load point, repeat, stream, operation)`.
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
            // Reading JSON may round the last bit.
            assert!((cell - value).abs() <= 1e-15 * value.abs(), "{what}: {cell}, {value}");
            let is_short = cell.fract() == 0.0 || cell == report::number::exported(cell);
            assert!(is_short, "{what}: more than nine digits in {cell}");
        }
    }
}

#[test]
fn csv_and_json_have_the_same_numbers() {
    let mut with_host = fixture::troubled();
    for interval in with_host.runs.iter_mut().flat_map(|run| &mut run.intervals) {
        let span_ns = SECOND_NS + u64::from(interval.index) * 1_000_000;
        interval.host = Some(HostInterval { span_ns, ..host_second() });
    }
    for record in [fixture::four_corners(), fixture::troubled(), with_host] {
        let findings = analyze(&record);
        let rows = csv_rows(&written(csv::write, &findings));
        let document: Value =
            serde_json::from_str(&written(|one, out| json::write(one, out), &findings)).unwrap();
        let mut compared = 0;
        for (index, load_point) in document["load_points"].as_array().unwrap().iter().enumerate() {
            let merged = [("all".to_owned(), &load_point["merged"])];
            let runs = load_point["runs"].as_array().unwrap().iter();
            let runs =
                runs.map(|r| ((r["repeat"].as_u64().unwrap() + 1).to_string(), &r["summary"]));
            for (repeat, summary) in merged.into_iter().chain(runs) {
                for stream in summary["streams"].as_array().unwrap() {
                    let kinds = stream["kinds"].as_array().unwrap().iter();
                    let all = stream.get("all_kinds");
                    for operation in std::iter::once(&stream["data"]).chain(kinds).chain(all) {
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
    same("offered_rate_ops_per_sec", &stream["offered_rate_ops_per_sec"]);
    let all_kinds = "achieved_rate_all_kinds_ops_per_sec";
    same(all_kinds, &stream[all_kinds]["value"]);
    same("outstanding_mean_ops", &stream["outstanding_mean_ops"]["value"]);
    same("backlog_mean_ops", &stream["backlog_mean_ops"]["value"]);
    same("process_cpu_ns_per_op", &summary["process_cpu_ns_per_op"]["value"]);
    same("worker_cpu_ns_per_op", &stream["worker_cpu_ns_per_op"]);
    same("little_service_mismatch_fraction", &stream["little_service"]["mismatch_fraction"]);
    compare_host(row, &summary["host"]);
}

/// Missing in both if the record has no host state.
fn compare_host(row: &BTreeMap<String, String>, host: &Value) {
    for name in ["span_ns", "late_readings", "processors", "quota_processors"] {
        assert_same(&row[&format!("host_{name}")], &host[name], name);
    }
    for (name, unit) in [
        ("busy", "fraction"),
        ("process", "fraction"),
        ("others", "fraction"),
        ("steal", "fraction"),
        ("run_queue_delay", "ns_per_sec"),
        ("run_queue_delay", "ns_per_op"),
        ("pressure", "fraction"),
        ("runnable_mean", "tasks"),
        ("service_cpu", "fraction"),
    ] {
        let estimate = &host[format!("{name}_{unit}")];
        assert_same(&row[&format!("host_{name}_{unit}")], &estimate["value"], name);
        let uncertainty = format!("host_{name}_uncertainty_{unit}");
        assert_same(&row[&uncertainty], &estimate["uncertainty"], &uncertainty);
    }
}

#[test]
fn an_export_without_results_has_the_names_of_the_columns() {
    let mut record = experiment(Vec::new());
    record.outcome = metrics::run_record::Outcome::Failed { reason: "no room".to_owned() };
    let file = written(csv::write, &analyze(&record));
    assert_eq!(file.lines().count(), 1, "{file}");
    assert_eq!(file.lines().next(), written(csv::write, &small()).lines().next());
}

#[test]
fn the_table_of_an_open_loop_with_fsyncs_has_a_line_with_all_kinds() {
    let mut open = stream("log", 4);
    open.fsync_every_writes = Some(1);
    open.arrival = workload::arrival::Arrival::Constant { offered_rate: 10_000.0 };
    let window = (0..6).map(|_| {
        let mut interval = metrics::interval::StreamInterval::default();
        interval.kinds[OpKind::Write as usize] = kind(5_000, 8192, 100_000, 100_000);
        interval.kinds[OpKind::Fsync as usize] = kind(5_000, 0, 200_000, 200_000);
        interval
    });
    let findings = analyze(&experiment(vec![done(run("log", vec![open], 0, 6), window.collect())]));
    let table = text::summary(&findings, 80);
    let row = |label: &str| {
        let line = table.lines().find(|line| line.trim_start().starts_with(label)).unwrap();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!([row("write"), row("fsync"), row("all")], ["5,000", "5,000", "10,000"]);
    assert!(html::render(&findings).unwrap().contains("<td>10,000</td>"));
}

#[test]
fn a_half_width_above_half_of_the_value_is_not_printed_as_a_number() {
    let window = [10, 10, 10, 1_000, 1_000, 1_000].map(|rate| reads(rate, 8192, 100_000));
    let record = done(run("v", vec![stream("data", 1)], 0, 6), window.into());
    let findings = analyze(&experiment(vec![record]));
    let rate = findings.load_points[0].merged.total.data.achieved_rate.unwrap();
    assert!(rate.relative().unwrap() > 1.0);
    let (table, page) = (text::summary(&findings, 80), html::render(&findings).unwrap());
    assert!(table.contains(" >50 % "), "{table}");
    assert!(page.contains("<td>&gt;50 %</td>"), "in the table");
    assert!(page.contains(" ± &gt;50 %, "), "below the chart");
    // Exports have the number.
    let column = "achieved_rate_uncertainty_ops_per_sec";
    let rows = csv_rows(&written(csv::write, &findings));
    let row = rows.values().find(|row| row["operation"] == "data").unwrap();
    assert_eq!(
        row[column].parse::<f64>().unwrap(),
        report::number::exported(rate.uncertainty.unwrap())
    );
}

/// A run that failed with a reason of three lines with files and a command.
fn failed_with_details() -> Findings {
    let reason = "2 blocks were not as written (try `--verify`)\n\
                  data-0000 at 4,096: zeroes & <nothing>\ndata-0001 at 8,192: `stale";
    let mut record = done(run("v", vec![stream("data", 1)], 0, 6), vec![reads(9, 8192, 1_000)]);
    record.outcome = metrics::run_record::Outcome::Failed { reason: reason.to_owned() };
    let mut record = experiment(vec![record]);
    record.outcome = record.runs[0].outcome.clone();
    analyze(&record)
}

#[test]
fn the_details_of_a_failure_are_separate_lines() {
    let findings = failed_with_details();
    let table = text::summary(&findings, 80);
    for line in [
        "    - data-0000 at 4,096: zeroes & <nothing>",
        "    - data-0001 at 8,192: `stale",
        "         . data-0001 at 8,192: `stale",
    ] {
        assert!(table.lines().any(|l| l == line), "{line}\n{table}");
    }
    let page = html::render(&findings).unwrap();
    let item = "<li>data-0000 at 4,096: zeroes &amp; &lt;nothing&gt;</li>";
    assert_eq!(page.matches(item).count(), 2, "as a note and in the warning");
}

#[test]
fn text_between_backticks_is_code_on_the_page() {
    let page = html::render(&failed_with_details()).unwrap();
    assert!(page.contains("(try <code>--verify</code>)"));
    assert!(page.contains("8,192: `stale</li>"), "an unpaired backtick stays");
    assert!(page.contains("(<code>measure</code>)"), "in the remedy");
}

#[test]
fn the_page_and_the_table_print_the_same_cells() {
    let findings = analyze(&fixture::four_corners());
    let page = html::render(&findings).unwrap();
    let table = text::summary(&findings, 80);
    for block in report::results::tables(&findings) {
        for row in &block.rows {
            let words = row.join(" ");
            let words: Vec<&str> = words.split_whitespace().collect();
            let is_row = |line: &str| line.split_whitespace().collect::<Vec<_>>() == words;
            assert!(table.lines().any(is_row), "{words:?}");
            let cell = |cell: &String| {
                format!("<td>{}</td>", cell.replace('>', "&gt;").replace('/', "&#x2f;"))
            };
            let html: String = row[1..10].iter().map(cell).collect();
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
    // The page has three scripts, and no name ends one of them.
    assert_eq!(page.matches("</script>").count(), 3);
    assert!(page.contains("\\u003c/script\\u003e\\u003cscript\\u003ealert(1)"));
}

#[test]
fn the_page_has_all_sections_and_needs_no_network() {
    let findings = analyze(&fixture::four_corners());
    let page = html::render(&findings).unwrap();
    for id in [
        "bottleneck",
        "recommendations",
        "numbers",
        "evidence",
        "warnings",
        "curves",
        "percentiles",
        "time",
        "environment",
        "method",
        "reproduce",
    ] {
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
fn the_experiment_file_is_next_to_the_command_that_repeats_it() {
    let mut record = fixture::four_corners();
    let text = "name = \"mine\"\n[stream.<main>]\n";
    record.environment.experiment_text = Some(text.to_owned());
    let page = html::render(&analyze(&record)).unwrap();
    assert_eq!(page.matches("stream.&lt;main&gt;").count(), 1, "once, escaped");
    assert!(!page.contains("<th scope=\"row\">experiment.text"), "not in the environment");
    let reproduce = page.split_once("id=\"reproduce\"").expect("the section is there").1;
    assert!(reproduce.contains("<details data-paper><summary>The experiment</summary>"));
}

#[test]
fn the_report_of_an_hour_of_four_streams_is_small() {
    let findings = analyze(&fixture::hour());
    assert_eq!(findings.series.len(), 4);
    assert!(findings.series.iter().all(|s| (800..=1_001).contains(&s.points.len())));
    let page = html::render(&findings).unwrap();
    assert!(page.len() < 4_000_000, "{} bytes", page.len());
}

#[test]
fn percentile_files_have_the_format_of_hdr_histogram() {
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
fn the_bundle_of_echarts_has_the_recorded_checksum() {
    use sha2::Digest as _;
    let bundle = include_bytes!("../assets/echarts/echarts.min.js");
    let named = include_str!("../assets/echarts/echarts.min.js.sha256");
    let digest: String =
        sha2::Sha256::digest(bundle).iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(named.split_whitespace().next(), Some(digest.as_str()));
    assert!(bundle.len() < 800_000, "{} bytes", bundle.len());
    let text = std::str::from_utf8(bundle).unwrap();
    assert!(!text.contains("</script"), "would end its script element");
    assert!(!text.contains("new Function") && !text.contains("eval("));
}

#[test]
fn every_definition_is_a_heading_of_the_method_page() {
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

#[test]
fn names_from_users_cannot_become_markup_of_markdown() {
    let page = markdown::render(&analyze(&fixture::troubled()));
    assert!(!page.contains("<script>") && !page.contains("<b>bold") && !page.contains("<relatime"));
    assert!(page.contains("&lt;script&gt;alert(2)"), "{page}");
}

#[test]
fn markdown_has_the_cells_of_the_table() {
    let page = markdown::render(&small());
    let row = "| 1 | 10,000 | 0.0 % | 78.1 | 100 | 100 | 100 | 100 | 1.00 | 60.0 |  |";
    assert!(page.lines().any(|line| line == row), "{page}");
}
