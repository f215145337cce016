//! Each chart of a report as a picture, for slides.

use analysis::Findings;

use crate::chart::theme::Theme;
use crate::chart::{Chart, svg};
use crate::charts::{RecordCharts, Shown, of_curves};
use crate::labels::labels;

/// A picture of a chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// What its file is called, without ending; each once.
    pub name: String,
    /// The record it is of, as a place among those that were given; `None` of all side by side.
    pub record: Option<usize>,
    /// What it is about.
    pub kind: Kind,
    /// A few words, for the head of a slide.
    pub title: String,
    /// What it shows, in a sentence.
    pub caption: String,
    /// The picture.
    pub svg: String,
}

/// What a picture is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Load points.
    Curve,
    /// One run over time.
    Run,
}

/// All charts: of several records first those that show them side by side, then each record's own.
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
            kind: if chart.panels.len() > 1 { Kind::Run } else { Kind::Curve },
            title: chart.title,
            caption: chart.caption,
        });
    };
    if records.len() > 1 {
        let together: Vec<(Option<&str>, &Findings)> =
            labels.iter().zip(records).map(|(l, f)| (Some(l.as_str()), *f)).collect();
        let ids: Vec<&str> = records.iter().map(|record| record.id.as_str()).collect();
        let source = format!("fourcorners, records {}", ids.join(", "));
        for chart in of_curves(&Shown::all(&together)) {
            add(chart, None, "side-by-side-", &source);
        }
    }
    for (place, findings) in records.iter().enumerate() {
        let prefix =
            if records.len() > 1 { format!("record-{}-", place + 1) } else { String::new() };
        let source = format!("fourcorners, record {}, {}", findings.id, findings.target);
        for chart in RecordCharts::of(findings).all() {
            add(chart, Some(place), &prefix, &source);
        }
    }
    pictures
}
