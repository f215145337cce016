//! `run --scrape`: metrics of other systems next to the results.

use std::fs;
use std::sync::atomic::Ordering;

use crate::exporter::Exporter;
use crate::harness::TestDir;

const EXPERIMENT: &str = "name = \"scraping\"\n[run]\nwarm_up = \"250ms\"\nmeasure = \"2s\"\n\
    interval = \"250ms\"\n[stream.main]\nread = \"100%\"\ntransfer_size = \"8KiB\"\n\
    pattern = \"random\"\nfiles = 1\nfile_size = \"64MiB\"\nqueue_depth = 1\n";

/// What a filer's exporter could serve: a counter, a gauge and a constant.
fn filer(number: u64) -> Option<String> {
    let temperature = 40 + number % 3;
    Some(format!(
        "# TYPE filer_calls_total counter\nfiler_calls_total{{vol=\"a\"}} {}\n\
         # TYPE filer_temperature gauge\nfiler_temperature {temperature}\nfiler_up 1\n",
        1000 * number
    ))
}

/// The codes of the warnings in `show --json`.
fn codes(json: &str) -> Vec<String> {
    let results: serde_json::Value = serde_json::from_str(json).expect("it is JSON");
    let warnings = results["warnings"].as_array().expect("warnings");
    warnings.iter().map(|one| one["code"].as_str().expect("a code").to_owned()).collect()
}

#[test]
fn metrics_of_another_system_are_stored_exported_and_charted() {
    let dir = TestDir::new();
    dir.file("e.toml", EXPERIMENT);
    let exporter = Exporter::start(filer);
    dir.measured(&["run", "null:", "-w", "e.toml", "--scrape", &exporter.url(), "--report=r.html"]);

    let csv = dir.ok(&["export", "last", "--format", "scraped"]);
    let rows: Vec<&str> = csv.lines().filter(|line| line.contains("filer_calls_total")).collect();
    // One at the start of the run, and one after each of 9 intervals; the first request is the test
    // before the run. A busy host may miss some.
    let requests = exporter.requests.load(Ordering::SeqCst);
    assert!((6..=10).contains(&rows.len()) && (rows.len() as u64) < requests, "{csv}");
    let first = format!("{},0,,", exporter.url());
    assert!(rows[0].contains(&first), "{}", rows[0]);
    assert!(rows[0].ends_with(",filer_calls_total,\"vol=\"\"a\"\"\",counter,2000"), "{}", rows[0]);
    assert_eq!(csv.lines().filter(|line| line.contains("filer_up")).count(), rows.len());

    let report = fs::read_to_string(dir.path().join("r.html")).expect("the report");
    assert!(report.contains("Metrics of other systems"));
    assert!(report.contains("filer_temperature"), "it varies, so it is charted");
    assert!(!report.contains("filer_up"), "it is constant");
    let shown = dir.ok(&["show", "last", "--full"]);
    assert!(shown.contains("Metrics of other systems") && shown.contains("3 series"), "{shown}");
    assert!(!codes(&dir.ok(&["show", "last", "--json"])).contains(&"scrapes_failed".to_owned()));
}

#[test]
fn a_damaged_file_of_metrics_is_a_warning_and_the_record_stays_readable() {
    let dir = TestDir::new();
    dir.file("e.toml", EXPERIMENT);
    let exporter = Exporter::start(filer);
    dir.measured(&["run", "null:", "-w", "e.toml", "--scrape", &exporter.url(), "--no-report"]);
    let runs = fs::read_dir(dir.store().join("runs")).expect("list the store");
    let run = runs.map(|run| run.expect("an entry").path()).next().expect("a record");
    let path = run.join("scraped");
    let mut bytes = fs::read(&path).expect("the file of metrics");
    bytes[60] ^= 0xff;
    fs::write(&path, bytes).expect("damage it");
    let codes = codes(&dir.ok(&["show", "last", "--json"]));
    assert!(codes.contains(&"scraped_damaged".to_owned()), "{codes:?}");
    assert_eq!(dir.ok(&["export", "last", "--format", "scraped"]).lines().count(), 1);
}

#[test]
fn exporters_that_fail_are_warnings_and_do_not_disturb_the_run() {
    let dir = TestDir::new();
    dir.file("e.toml", EXPERIMENT);
    // One is not there, one never answers, one serves something else.
    let silent = Exporter::start(|_| None);
    let page = Exporter::start(|_| Some("<html>\n".to_owned()));
    let nowhere = "http://127.0.0.1:1/metrics";
    let urls = format!("{nowhere},{},{}", silent.url(), page.url());
    let ended = dir.run(&["run", "null:", "-w", "e.toml", "--scrape", &urls, "--no-report"]);
    assert!(matches!(ended.code, Some(0 | 1)), "{}", ended.stderr);
    let stderr = ended.stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    for reason in [
        format!("scrape {nowhere}: Connection refused"),
        format!("scrape {}: no complete answer within 2s", silent.url()),
        format!("scrape {}: line 1, column 1: expected a metric's name", page.url()),
    ] {
        assert!(stderr.contains(&reason), "no `{reason}` in\n{}", ended.stderr);
    }
    assert!(stderr.contains("the run continues"), "{stderr}");
    let results: serde_json::Value =
        serde_json::from_str(&dir.ok(&["show", "last", "--json"])).expect("it is JSON");
    let point = &results["load_points"][0];
    assert!(!point.is_null(), "the run has its results");
    let codes = codes(&results.to_string());
    assert_eq!(codes.iter().filter(|code| *code == "scrapes_failed").count(), 1, "{codes:?}");
}

#[test]
fn a_wrong_url_is_refused_with_its_column() {
    let dir = TestDir::new();
    for (urls, column, reason) in [
        ("http://filer:65536/metrics", 14, "a port is a number from 1 to 65535"),
        ("http://:9100", 8, "the host is missing"),
        ("http://filer,https://filer", 1, "https is not supported"),
        ("filer:9100", 1, "a URL begins with http://"),
    ] {
        let ended = dir.run(&["run", "null:", "--quick", "--scrape", urls]);
        assert_eq!(ended.code, Some(2), "{urls}: {}", ended.stderr);
        let expected = format!("column {column}: {reason}");
        assert!(ended.stderr.contains(&expected), "{urls}: {}", ended.stderr);
    }
    assert!(!dir.store().exists());
    let nine = ["http://127.0.0.1:1"; 9].join(",");
    let ended = dir.run(&["run", "null:", "--quick", "--scrape", &nine]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.contains("at most 8 exporters"), "{}", ended.stderr);
}
