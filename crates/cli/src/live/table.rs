//! The table of streams on the live screen: fixed columns (offered rates and throughputs if there are any), of which a narrow
//! terminal shows the most important ones.
//!
//! Not for: results, which `report::table` lays out. Here a column keeps its width from interval to
//! interval, so that the numbers do not move.

use analysis::series::SeriesPoint;
use report::number::{NONE, TimeUnit, mib};
use units::thousands;

use super::quantities::Quantities;

/// A column: a narrow terminal keeps those with the smallest rank.
struct Column {
    heading: String,
    width: usize,
    rank: u8,
    cell: Cell,
}

/// Prints the value of a stream and its interval, if there was one.
type Cell = Box<dyn Fn(&str, Option<&SeriesPoint>) -> String>;

/// The heading and a line for each stream, of at most `width` columns.
pub(super) fn lines(
    streams: &[(String, Option<SeriesPoint>)],
    quantities: Quantities,
    unit: TimeUnit,
    width: usize,
) -> Vec<String> {
    let columns = fitting(columns(streams, quantities, unit), width);
    let heading = columns.iter().map(|column| column.heading.clone()).collect();
    let rows = streams.iter().map(|(name, point)| {
        columns.iter().map(|column| (column.cell)(name, point.as_ref())).collect::<Vec<String>>()
    });
    std::iter::once(heading).chain(rows).map(|cells: Vec<String>| row(&columns, &cells)).collect()
}

fn columns(
    streams: &[(String, Option<SeriesPoint>)],
    quantities: Quantities,
    unit: TimeUnit,
) -> Vec<Column> {
    let names = streams.iter().map(|(name, _)| name.chars().count());
    let name_width = names.max().unwrap_or(0).clamp("stream".len(), 12);
    let number = |heading: &str, width, rank, cell: fn(&SeriesPoint) -> String| Column {
        heading: heading.to_owned(),
        width,
        rank,
        cell: Box::new(move |_, point| point.map_or_else(|| NONE.to_owned(), cell)),
    };
    let time = |name: &str, rank, ns: fn(&SeriesPoint) -> Option<f64>| Column {
        heading: format!("{name}, {}", unit.symbol()),
        width: 8,
        rank,
        cell: Box::new(move |_, point| {
            point.and_then(ns).map_or_else(|| NONE.to_owned(), |ns| unit.print(ns))
        }),
    };
    let offered = Column {
        heading: "offered".to_owned(),
        width: 9,
        rank: 2,
        cell: Box::new(|_, point| {
            let rate = point.and_then(|point| point.offered_rate);
            rate.map_or_else(|| NONE.to_owned(), |rate| thousands(rate.get().round() as u64))
        }),
    };
    let is_open = |(_, point): &(String, Option<SeriesPoint>)| {
        point.as_ref().is_some_and(|point| point.offered_rate.is_some())
    };
    let mut columns = vec![
        Column {
            heading: "stream".to_owned(),
            width: name_width,
            rank: 0,
            cell: Box::new(move |name, _| name.chars().take(name_width).collect()),
        },
        number(quantities.rate_unit(), 9, 1, |point| {
            thousands(point.achieved_rate.get().round() as u64)
        }),
        number("MiB/s", 9, 3, |point| mib(point.throughput.get())),
        time("mean", 5, |point| Some(point.response_mean?.0)),
        time("p99", 4, |point| point.response_p99_ns.map(|ns| ns as f64)),
        number("in flight", 9, 7, |point| format!("{:.1}", point.outstanding_mean)),
        number("errors", 6, 6, |point| thousands(point.failed)),
    ];
    if !quantities.move_data {
        columns.remove(2);
    }
    if streams.iter().any(is_open) {
        columns.insert(2, offered);
    }
    columns
}

/// The columns that fit, in their order.
fn fitting(mut columns: Vec<Column>, width: usize) -> Vec<Column> {
    while columns.len() > 1
        && columns.iter().map(|column| column.width + 1).sum::<usize>() > width + 1
    {
        let most = columns.iter().map(|column| column.rank).max();
        columns.retain(|column| Some(column.rank) != most);
    }
    columns
}

fn row(columns: &[Column], cells: &[String]) -> String {
    let mut line = String::new();
    for (index, (column, cell)) in columns.iter().zip(cells).enumerate() {
        let width = column.width;
        match index {
            0 => line.push_str(&format!("{cell:<width$}")),
            _ => line.push_str(&format!(" {cell:>width$}")),
        }
    }
    line
}
