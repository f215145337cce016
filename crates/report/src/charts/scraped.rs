//! Metrics of another system under the load, over the time of all runs.

use analysis::fleet::MissingHosts;
use analysis::scraped::{ScrapedFindings, ShownSeries, TimedValue};
use units::Nanos;

use super::shown_curve::{axis, file_name};
use crate::drawing::{Alternative, Chart, Mark, Panel, Point, Scale, Series, Shape, Stroke};

/// The chart of an exporter; `None` if none of its series varied.
pub(crate) fn scraped(source: &ScrapedFindings) -> Option<Chart> {
    if source.shown.is_empty() {
        return None;
    }
    let one = SeriesUnit { divisor: 1.0, name: "ops/s".to_owned() };
    let mut panels = vec![panel("achieved rate", &one, &source.load)];
    panels.extend(
        source
            .shown
            .iter()
            .map(|series| panel(&series.name, &SeriesUnit::of(series), &series.values)),
    );
    if let Some(load) = panels.first_mut() {
        let mark = |(at, missing): &(Nanos, MissingHosts)| Mark {
            name: missing.to_string(),
            x: at.0 / 1e9,
        };
        load.marks = source.lost_hosts.iter().map(mark).collect();
    }
    if let Some(last) = panels.last_mut() {
        last.x.name = "seconds from the start of the first run".to_owned();
    }
    Some(Chart {
        name: file_name(&format!("scraped-{}", source.url)),
        title: format!("Metrics of {} under the load", source.url),
        caption:
            "The achieved rate, and below it the series that follow it most closely; counters \
                  as their rise per second."
                .to_owned(),
        panels,
        alternative: Alternative::Caption,
        ..Chart::default()
    })
}

/// The unit in which a series is shown, chosen by its largest value.
pub(crate) struct SeriesUnit {
    /// The exporter's unit times this is one of it.
    pub(crate) divisor: f64,
    /// `MiB/s`, `million/s`; empty for plain values.
    pub(crate) name: String,
}

impl SeriesUnit {
    pub(crate) fn of(series: &ShownSeries) -> SeriesUnit {
        // Names of metrics end in the unit, and labels follow.
        let metric = series.name.split('{').next().unwrap_or_default();
        let (divisor, name) = match series.highest.abs().max(series.lowest.abs()) {
            most if metric.contains("_bytes") && most >= 1_048_576.0 => (1_048_576.0, "MiB"),
            most if most >= 1e9 => (1e9, "billion"),
            most if most >= 1e6 => (1e6, "million"),
            _ => (1.0, ""),
        };
        let rate = if series.is_rate { "/s" } else { "" };
        SeriesUnit { divisor, name: format!("{name}{rate}") }
    }
}

fn panel(name: &str, unit: &SeriesUnit, values: &[TimedValue]) -> Panel {
    let value = |one: &TimedValue| one.value.map(|value| value / unit.divisor);
    let points = values.iter().map(|one| Point::at(one.at.0 / 1e9, value(one))).collect();
    let shape = Shape::Line { points, stroke: Stroke::Plain };
    Panel {
        x: axis("", Scale::Linear),
        y: axis(&unit.name, Scale::Linear),
        series: vec![Series { name: name.to_owned(), right: false, shape }],
        ..Panel::default()
    }
}
