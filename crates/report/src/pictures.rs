//! Each chart of a report as a picture, for slides.

use analysis::Findings;

use crate::charts::{Overview, RecordCharts, ShownCurve, of_curves, overview};
use crate::drawing::theme::Theme;
use crate::drawing::{Chart, svg};
use crate::labels::labels;

/// A picture of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// The name of its file, without extension; unique among the pictures.
    pub name: String,
    /// The index of its record; `None` if it shows several records side by side.
    pub record: Option<usize>,
    /// What it shows.
    pub kind: Kind,
    /// A few words, for the head of a slide.
    pub title: String,
    /// What it shows, in a sentence.
    pub caption: String,
    /// The picture, as SVG.
    pub svg: String,
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Load points.
    Curve,
    /// One run over time.
    Run,
}

/// All charts: first those with several records side by side, then those of each record.
pub fn pictures(records: &[&Findings], theme: Theme) -> Vec<Picture> {
    let labels = labels(records);
    let mut pictures: Vec<Picture> = Vec::new();
    let mut add = |chart: Chart, record: Option<usize>, prefix: &str, source: &str| {
        let mut name = format!("{prefix}{}", chart.name);
        if pictures.iter().any(|other| other.name == name) {
            name = format!("{name}-{}", pictures.len() + 1);
        }
        pictures.push(Picture {
            name,
            svg: svg::draw(&chart, theme, source),
            record,
            kind: if chart.is_over_time() { Kind::Run } else { Kind::Curve },
            title: chart.title,
            caption: chart.caption,
        });
    };
    if records.len() > 1 {
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let source = format!("fourcorners, records {}", ids.join(", "));
        for chart in of_curves(&ShownCurve::of_all(records, &labels)) {
            add(chart, None, "side-by-side-", &source);
        }
    }
    for (index, findings) in records.iter().enumerate() {
        let prefix =
            if records.len() > 1 { format!("record-{}-", index + 1) } else { String::new() };
        let source = format!("fourcorners, record {}, {}", findings.id, findings.target);
        let Overview { output, latency } = overview(findings);
        let first_screen = [output, latency].into_iter().filter(Chart::has_measurements);
        for chart in first_screen.chain(RecordCharts::of(findings).all()) {
            add(chart, Some(index), &prefix, &source);
        }
    }
    pictures
}
