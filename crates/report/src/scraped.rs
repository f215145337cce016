//! All stored metrics of other systems as CSV: a line for each value of each scrape.

use std::io::{self, Write};

use metrics::scraped::Scraped;

use crate::csv::quoted;

/// Writes all values. Numbers are as the exporter served them.
///
/// # Errors
/// Errors of `out`.
pub fn write_csv(id: &str, scraped: &Scraped, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "experiment_id,source,run_index,interval_index,unix_ms,metric,labels,kind,value"
    )?;
    for source in &scraped.sources {
        let url = quoted(&source.url);
        for series in &source.series {
            let kind = if series.is_counter { "counter" } else { "gauge" };
            let (name, labels) = (quoted(&series.name), quoted(&series.labels));
            let values = source.scrapes.iter().zip(series.values(source.scrapes.len()));
            for (scrape, value) in values {
                let Some(value) = value else { continue };
                let interval = scrape.after_interval.map_or(String::new(), |n| n.to_string());
                let (run, unix_ms) = (scrape.run_index, scrape.unix_ms);
                writeln!(
                    out,
                    "{id},{url},{run},{interval},{unix_ms},{name},{labels},{kind},{value}"
                )?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use metrics::scraped::{Change, Scrape, ScrapedSeries, ScrapedSource};

    use super::*;

    #[test]
    fn every_value_of_every_scrape_is_a_line() {
        let scrape = |after_interval, unix_ms| Scrape { run_index: 2, after_interval, unix_ms };
        let source = ScrapedSource {
            url: "http://filer/metrics".to_owned(),
            scrapes: vec![scrape(None, 1000), scrape(Some(0), 2000), scrape(Some(1), 3000)],
            series: vec![ScrapedSeries {
                name: "bytes_total".to_owned(),
                labels: "device=\"lo\"".to_owned(),
                is_counter: true,
                changes: vec![
                    Change { scrape: 0, value: Some(1.5e3) },
                    Change { scrape: 2, value: None },
                ],
            }],
            ..ScrapedSource::default()
        };
        let mut out = Vec::new();
        write_csv("x", &Scraped { sources: vec![source] }, &mut out).unwrap();
        let line = |interval, ms| {
            format!(
                "x,http://filer/metrics,2,{interval},{ms},bytes_total,\"device=\"\"lo\"\"\",\
                 counter,1500"
            )
        };
        let text = String::from_utf8(out).unwrap();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(lines, [line("", 1000), line("0", 2000)]);
    }
}
