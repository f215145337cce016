//! Metrics of other systems: known rates, and the series that follow the load.

use crate::records;
use metrics::run_record::ExperimentRecord;
use metrics::scraped::{Change, Scrape, Scraped, ScrapedSeries, ScrapedSource};

fn series(name: &str, is_counter: bool, values: &[f64]) -> ScrapedSeries {
    let change = |(scrape, value): (usize, &f64)| Change {
        scrape: scrape as u32,
        value: (!value.is_nan()).then_some(*value),
    };
    ScrapedSeries {
        name: name.to_owned(),
        is_counter,
        changes: values.iter().enumerate().map(change).collect(),
        ..ScrapedSeries::default()
    }
}

/// A run of seven seconds whose rate falls from second to second, with a scrape at its start and
/// after each second.
fn record(series: Vec<ScrapedSeries>) -> ExperimentRecord {
    let seconds: Vec<_> = (0..7).map(|n| records::reads(700 - 100 * n, 8192, 400_000)).collect();
    let run = records::done(records::run("reads", vec![records::stream("data", 4)], 0, 7), seconds);
    let mut record = records::experiment(vec![run]);
    let started = record.runs[0].started_unix_ms;
    let scrapes = (0..8).map(|n| Scrape {
        run_index: 0,
        after_interval: u32::checked_sub(n, 1),
        unix_ms: started + 1000 * u64::from(n),
    });
    let url = "http://filer:9100/metrics".to_owned();
    let scrapes = scrapes.collect();
    let source = ScrapedSource { url, scrapes, series, ..ScrapedSource::default() };
    record.scraped = Scraped { sources: vec![source] };
    record
}

#[test]
fn counters_become_rates_and_the_series_that_follows_the_load_comes_first() {
    let gone = f64::NAN;
    let record = record(vec![
        series("constant", false, &[3.0]),
        series("temperature", false, &[50.0, 52.0, 51.0, 53.0, 50.0, 52.0, 51.0, 50.0]),
        // Reset after the third second.
        series("calls_total", true, &[0.0, 710.0, 1310.0, 0.0, 410.0, 710.0, 910.0, 1010.0]),
        series("sessions", false, &[4.0, 4.0, gone, 5.0]),
    ]);
    let findings = analysis::analyze(&record);
    let source = &findings.scraped[0];
    assert_eq!((source.scrapes, source.series, source.varying), (8, 4, 3));
    let names: Vec<&str> = source.shown.iter().map(|one| one.name.as_str()).collect();
    assert_eq!(names, ["calls_total", "sessions", "temperature"]);
    let calls = &source.shown[0];
    let rates: Vec<Option<f64>> = calls.values.iter().map(|one| one.value).collect();
    let rate = Some;
    assert_eq!(
        rates,
        [None, rate(710.0), rate(600.0), None, rate(410.0), rate(300.0), rate(200.0), rate(100.0)]
    );
    assert_eq!((calls.lowest, calls.highest, calls.is_rate), (100.0, 710.0, true));
    assert!(calls.correlation.is_some_and(|r| r > 0.999), "{:?}", calls.correlation);
    let load: Vec<Option<f64>> = source.load.iter().map(|one| one.value).collect();
    assert_eq!(load[..3], [None, rate(700.0), rate(600.0)]);
    assert_eq!(source.load[2].at.0, 2e9);
    assert_eq!(source.shown[1].values[2].value, None);
}

#[test]
fn a_scrape_of_an_unknown_run_is_left_out() {
    let values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    let mut record = record(vec![series("x", false, &values)]);
    record.scraped.sources[0].scrapes[3].run_index = 9;
    let findings = analysis::analyze(&record);
    assert_eq!(findings.scraped[0].shown[0].values.len(), 7);
}
