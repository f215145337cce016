//! A total of fewer hosts is labelled wherever a report shows it.

use crate::fixture;
use crate::fixture::loads::range;
use crate::fixture::records::reads;
use analysis::{Findings, analyze};
use metrics::fleet::{HostEvent, HostRun};
use metrics::run_record::{ExperimentRecord, RunRecord};
use report::drawing::theme::Theme;
use report::glance::{self, Layout};
use report::look::Look;
use report::pictures::{Picture, pictures};
use report::{csv, curves, hgrm, html, intervals, json, markdown, pipeline, text};
use serde_json::Value;

/// The rate of the load point with a lost host, in operations per second, as printed and as a number.
const RATE: (&str, u64) = ("7,777", 7_777);

/// Measured by two hosts, of which one was lost after 2 s.
fn lose_a_host(record: &mut RunRecord) {
    let lost =
        HostEvent::Lost { at_ns: 2_000_000_000, why: "killed".to_owned(), others_continued: true };
    record.hosts = vec![
        HostRun { intervals: record.intervals.clone(), events: Vec::new() },
        HostRun { intervals: record.intervals[..2].to_vec(), events: vec![lost] },
    ];
}

/// A curve that lost a host at queue depth 16.
fn bottleneck() -> ExperimentRecord {
    let mut record = fixture::bottleneck();
    let is_lossy = |run: &&mut RunRecord| run.run.streams[0].queue_depth == 16;
    for run in record.runs.iter_mut().filter(is_lossy) {
        for interval in &mut run.intervals {
            interval.streams = vec![reads(RATE.1, 8192, 16_000_000_000 / RATE.1)];
        }
        lose_a_host(run);
    }
    record
}

/// The same with a host lost at every load point.
fn lost_everywhere() -> ExperimentRecord {
    let mut record = bottleneck();
    record.runs.iter_mut().for_each(lose_a_host);
    record
}

fn is_labelled(text: &str) -> bool {
    text.contains("1/2 hosts") || text.contains("1 of 2 hosts from t = 2.00 s")
}

/// Every line with the total has the label.
fn check_lines(output: &str, text: &str, least: usize) {
    let with_total: Vec<&str> = text.lines().filter(|line| line.contains(RATE.0)).collect();
    assert!(with_total.len() >= least, "{output}: {text}");
    for line in with_total {
        assert!(is_labelled(line), "{output}: `{line}` in\n{text}");
    }
}

fn written(write: impl Fn(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector accepts everything");
    String::from_utf8(out).expect("it is text")
}

#[test]
fn every_text_labels_a_total_of_fewer_hosts() {
    for record in [bottleneck(), lost_everywhere()] {
        let findings = analyze(&record);
        let layout = Layout { width: 100, lines_max: 40, look: Look::default() };
        let screen = glance::text(&findings, layout).expect("it was measured");
        check_lines("at one glance", &screen, 1);
        assert!(screen.contains("Hosts were lost: the totals of "), "{screen}");
        check_lines("in full", &text::summary(&findings, 100), 1);
        check_lines("Markdown", &markdown::render(&findings), 1);
        check_lines("for a pipeline", &pipeline::record_markdown(&findings, &[]), 1);
        let distributions = written(|out| hgrm::write(&findings, out));
        let mut sections = distributions.lines().filter(|line| line.starts_with("# random read"));
        assert!(sections.any(is_labelled), "{distributions}");
    }
}

#[test]
fn what_is_missing_is_said_of_the_load_points_that_miss_it() {
    let mut record = lost_everywhere();
    let summary = |record: &ExperimentRecord| text::summary(&analyze(record), 200);
    assert!(summary(&record).contains("Not enough data: hosts were lost at every load point."));
    record.runs[0].hosts.clear();
    record.runs[0].intervals.clear();
    let either = "Not enough data: each load point lost hosts or has no complete interval.";
    assert!(summary(&record).contains(either), "{}", summary(&record));
}

#[test]
fn every_export_labels_a_total_of_fewer_hosts() {
    let record = bottleneck();
    let findings = analyze(&record);
    let rows = |file: &str| -> Vec<Vec<String>> {
        file.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect()
    };
    let column = |rows: &[Vec<String>], name: &str| {
        rows[0].iter().position(|column| column == name).expect("a column")
    };
    let results = rows(&written(|out| csv::write(&findings, out)));
    let hosts = ["remaining_hosts", "planned_hosts", "missing_hosts_from_ns"];
    let hosts = hosts.map(|name| column(&results, name));
    let number = column(&results, "load_point");
    for row in &results[1..] {
        let expected = if row[number] == "4" { ["1", "2", "2000000000"] } else { [""; 3] };
        assert_eq!(hosts.map(|at| row[at].as_str()), expected, "{row:?}");
    }
    let points = rows(&written(|out| curves::write_csv(&findings, out)));
    let label = column(&points, "label");
    let labels: Vec<&str> = points[1..].iter().map(|row| row[label].as_str()).collect();
    assert_eq!(labels, ["1", "2", "4", "8", "16 (1/2 hosts)", "32", "64"]);
    let mut records = std::iter::once(record);
    let intervals =
        rows(&written_once(|out| intervals::write(&mut records, intervals::Format::Csv, out)));
    let (point, interval) = (column(&intervals, "load_point"), column(&intervals, "interval"));
    let [merged, planned] = ["hosts", "planned_hosts"].map(|name| column(&intervals, name));
    for row in &intervals[1..] {
        let expected = match (row[point].as_str(), row[interval].as_str()) {
            ("4", "0" | "1") => ["2", "2"],
            ("4", _) => ["1", "2"],
            _ => ["", ""],
        };
        assert_eq!([row[merged].as_str(), &row[planned]], expected, "{row:?}");
    }
}

fn written_once(write: impl FnOnce(&mut dyn std::io::Write) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("a vector accepts everything");
    String::from_utf8(out).expect("it is text")
}

#[test]
fn json_labels_load_points_curves_and_key_results() {
    let read = |findings: &Findings| -> Value {
        serde_json::from_str(&written(|out| json::write(findings, out))).expect("it is JSON")
    };
    let one = read(&analyze(&bottleneck()));
    assert_eq!(one["load_points"][4]["missing_hosts"]["remaining"], 1);
    assert_eq!(one["curves"][0]["points"][4]["label"], "16 (1/2 hosts)");
    assert_eq!(one["summary"]["curves"][0]["missing_hosts"], Value::Null, "the peak is whole");
    let all = read(&analyze(&lost_everywhere()));
    assert_eq!(all["summary"]["curves"][0]["missing_hosts"]["of"], 2);
    assert_eq!(all["curves"][0]["floor"]["missing"], "hosts were lost");
}

/// A heat map is of one load point, whose name is in its title.
fn shows_several_loads(picture: &Picture) -> bool {
    !picture.title.starts_with("Response times over time")
}

#[test]
fn every_chart_names_load_points_with_lost_hosts() {
    let mut mixes = range();
    lose_a_host(&mut mixes.runs[0]);
    let of_all_hosts = [fixture::bottleneck(), fixture::bottleneck(), range()];
    for (record, whole) in [bottleneck(), lost_everywhere(), mixes].iter().zip(of_all_hosts) {
        let findings = analyze(record);
        let drawn = pictures(&[&findings], Theme::Light);
        assert!(drawn.len() > 3, "{}", drawn.len());
        for picture in drawn.iter().filter(|one| shows_several_loads(one)) {
            assert!(is_labelled(&picture.svg), "{}: {}", picture.name, picture.caption);
        }
        // Side by side with the record of all hosts.
        let whole = analyze(&whole);
        let drawn = pictures(&[&whole, &findings], Theme::Light);
        // A picture of the record of all hosts alone has nothing to label.
        let is_of_whole = |one: &Picture| {
            one.record == Some(0) || (one.record.is_none() && !one.caption.contains("B ("))
        };
        let of_others = drawn.iter().filter(|one| !is_of_whole(one));
        // Bars show the highest load point, which is one of all hosts if there is any.
        let has_labelled_peak = findings.summary.curves.iter().all(|curve| {
            let point = &findings.curves[curve.curve].points[curve.most];
            !findings.load_points[point.load_point].is_whole()
        });
        let is_shown = |one: &&Picture| {
            shows_several_loads(one) && (has_labelled_peak || !one.name.contains("highest-"))
        };
        for picture in of_others.filter(is_shown) {
            assert!(is_labelled(&picture.svg), "{}: {}", picture.name, picture.caption);
        }
        let page = html::render(&findings).expect("the page is complete").replace("&#x2f;", "/");
        // The table of a chart has the label in the heading of a column.
        let results = page.lines().filter(|line| line.contains("</td>"));
        let results = results.filter(|line| !line.contains(&format!("{}</th>", RATE.0)));
        check_lines("the page", &results.collect::<Vec<_>>().join("\n"), 0);
        assert!(is_labelled(&page));
    }
}

#[test]
fn a_line_of_all_hosts_has_a_gap_where_hosts_were_lost() {
    let drawn = pictures(&[&analyze(&bottleneck())], Theme::Light);
    let chart = drawn.iter().find(|one| one.name == "throughput-by-queue-depth").expect("a chart");
    let legend = ">random read 8 KiB (1/2 hosts)</text>";
    assert!(chart.svg.contains(legend), "{}", chart.svg);
    assert!(chart.caption.contains("Load points with lost hosts are named"), "{}", chart.caption);
}
