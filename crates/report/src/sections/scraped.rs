//! Metrics of other systems (`run --scrape`) next to the load.

use analysis::Findings;
use analysis::scraped::{ScrapedFindings, ShownSeries};
use units::{counted, thousands};

use crate::charts::scraped::{SeriesUnit, scraped};
use crate::document::{Block, Column, Section, Table};
use crate::number::plain;

/// The section; `None` if nothing was scraped.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    if findings.scraped.is_empty() {
        return None;
    }
    let blocks = findings.scraped.iter().flat_map(|source| of_source(&findings.id, source));
    Some(Section {
        id: "other-systems",
        title: "Metrics of other systems".to_owned(),
        blocks: blocks.collect(),
        method: Vec::new(),
    })
}

fn of_source(id: &str, source: &ScrapedFindings) -> Vec<Block> {
    let mut blocks =
        vec![Block::Heading(source.url.clone()), Block::Paragraph(summary(id, source))];
    if !source.shown.is_empty() {
        blocks.push(Block::Table(table(&source.shown)));
        blocks.extend(scraped(source).map(|chart| Block::Charts(vec![chart])));
    }
    blocks
}

fn summary(id: &str, source: &ScrapedFindings) -> String {
    if source.scrapes == 0 {
        return format!("All {} failed.", counted(source.failed, "scrape"));
    }
    let mut text = counted(source.scrapes as u64, "scrape");
    if source.failed > 0 {
        text.push_str(&format!(", and {} failed", thousands(source.failed)));
    }
    text.push_str(&format!(
        "; {} series, of which {} varied.",
        thousands(source.series as u64),
        thousands(source.varying as u64)
    ));
    if source.left_out > 0 {
        text.push_str(&format!(
            " {} further samples per scrape were not stored.",
            thousands(source.left_out)
        ));
    }
    if source.shown.len() < source.varying {
        text.push_str(&format!(
            " Shown: {} of them, which follow the achieved rate most closely.",
            source.shown.len()
        ));
    }
    text.push_str(&format!(" `fourcorners export {id} --format scraped` has all."));
    text
}

fn table(shown: &[ShownSeries]) -> Table {
    let row = |series: &ShownSeries| {
        let unit = SeriesUnit::of(series);
        vec![
            plain(series.lowest / unit.divisor),
            plain(series.highest / unit.divisor),
            unit.name,
            series.correlation.map_or("n/a".to_owned(), |r| format!("{r:.2}")),
            series.name.clone(),
        ]
    };
    Table {
        caption: String::new(),
        columns: vec![
            Column::numbers("lowest", ""),
            Column::numbers("highest", ""),
            Column::words("unit"),
            Column::numbers("correlation", "with the rate"),
            Column::words("series"),
        ],
        rows: shown.iter().map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use analysis::fleet::MissingHosts;
    use analysis::scraped::TimedValue;
    use units::Nanos;

    use super::*;

    fn series(name: &str, is_rate: bool, lowest: f64, highest: f64) -> ShownSeries {
        let values = [lowest, highest];
        let at = |(second, value): (usize, f64)| TimedValue {
            at: Nanos(second as f64 * 1e9),
            value: Some(value),
        };
        ShownSeries {
            name: name.to_owned(),
            is_rate,
            values: values.into_iter().enumerate().map(at).collect(),
            lowest,
            highest,
            correlation: Some(0.987),
        }
    }

    #[test]
    fn a_series_has_one_unit_by_its_largest_value() {
        let rows = table(&[
            series("disk_read_bytes_total{device=\"a\"}", true, 1_048_576.0, 419_430_400.0),
            series("packets_total", true, 5e5, 2.5e6),
            series("temperature", false, 40.0, 43.0),
        ])
        .rows;
        let cells: Vec<[&str; 3]> = rows.iter().map(|row| [&*row[0], &*row[1], &*row[2]]).collect();
        assert_eq!(
            cells,
            [["1.00", "400", "MiB/s"], ["0.500", "2.50", "million/s"], ["40.0", "43.0", ""]]
        );
    }

    #[test]
    fn the_chart_has_the_load_above_the_series_in_the_same_unit() {
        let source = ScrapedFindings {
            url: "http://filer:9100/metrics".to_owned(),
            scrapes: 2,
            failed: 1,
            left_out: 0,
            series: 7,
            varying: 3,
            load: Vec::new(),
            lost_hosts: vec![(Nanos(2e9), MissingHosts { remaining: 23, of: 24, from_ns: 1 })],
            shown: vec![series("x_bytes_total", true, 0.0, 2_097_152.0)],
        };
        let chart = scraped(&source).unwrap();
        let [mark] = &chart.panels[0].marks[..] else { panic!("{:?}", chart.panels[0].marks) };
        assert_eq!(
            (mark.name.as_str(), mark.x),
            ("23/24 hosts", 2.0),
            "the load is of fewer hosts"
        );
        let axes: Vec<&str> = chart.panels.iter().map(|panel| panel.y.name.as_str()).collect();
        assert_eq!(axes, ["ops/s", "MiB/s"]);
        let text = summary("ID", &source);
        assert!(
            text.starts_with("2 scrapes, and 1 failed; 7 series, of which 3 varied. Shown: 1 of")
        );
        assert_eq!(
            summary("ID", &ScrapedFindings { scrapes: 0, failed: 4, ..source }),
            "All 4 scrapes failed."
        );
    }
}
