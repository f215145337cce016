//! One side of a comparison, as a baseline has it.

use analysis::compare::figure::Figure;
use analysis::compare::side::{PointSide, Sample, Side};

use super::{tables, words};
use crate::number::{NONE, TimeUnit, date};
use crate::table::{Column, Table};

/// The main figures of every load point, for a terminal.
pub fn side_text(name: &str, side: &Side, width: usize) -> String {
    let pairs = [
        ("baseline", name.to_owned()),
        ("record", side.id.clone()),
        ("experiment", side.name.clone()),
        ("target", side.target.clone()),
        ("started", date(side.started_unix_ms)),
    ];
    let mut text = Table::pairs(pairs.map(|(key, value)| (key.to_owned(), value))).text(width);
    let main = || side.points.iter().flat_map(|point| main_of(point).map(move |one| (point, one)));
    let times = main().filter(|(_, sample)| sample.figure.unit() == Figure::ResponseMean.unit());
    let unit = TimeUnit::of(times.filter_map(|(_, sample)| sample.mean()));
    let row = |(point, sample): (&PointSide, &Sample)| {
        let figure = sample.figure;
        let mean = sample.mean();
        let hosts = point.missing_hosts().map_or(String::new(), |missing| format!(" ({missing})"));
        vec![
            format!("{}{hosts}", point.in_words()),
            format!("{}, {}", tables::short(figure), words::unit(figure, unit)),
            mean.map_or(NONE.to_owned(), |mean| words::value(figure, mean, unit)),
            sample.repeats.len().to_string(),
        ]
    };
    let table = Table {
        columns: vec![
            Column::words("load point"),
            Column::words("figure"),
            Column::numbers("mean", ""),
            Column::numbers("repeats", ""),
        ],
        rows: main().map(row).collect(),
        ..Table::default()
    };
    text.push('\n');
    text.push_str(&table.text(width));
    text
}

fn main_of(point: &PointSide) -> impl Iterator<Item = &Sample> {
    point.subjects.iter().flat_map(|subject| &subject.samples).filter(|sample| sample.main)
}
