//! The hosts of a run over time: throughput and latency, one row for each host.

use analysis::host_heat::{HostCell, HostHeat};

use super::heat::seconds_of_columns;
use super::shown_curve::{axis, file_name};
use crate::drawing::{Alternative, Chart, Panel, Scale, Series, Shape};
use crate::number::{BYTES_PER_MIB, NS_PER_S, TimeUnit, plain};

/// The two charts of a run.
///
/// * `hosts` - the names of all
/// * `subject` - the load point in words
pub(super) fn charts(
    heat: &HostHeat,
    hosts: &[String],
    subject: &str,
    unit: TimeUnit,
) -> [Chart; 2] {
    let throughput = |column: usize, cell: &HostCell| {
        let (start, end) = heat.columns[column];
        let seconds = (end - start).max(1) as f64 / NS_PER_S;
        Some(cell.bytes as f64 / BYTES_PER_MIB / seconds)
    };
    let latency = |_: usize, cell: &HostCell| cell.mean_ns.map(|ns| unit.scale(ns));
    [
        chart(heat, hosts, subject, ["Throughput", "MiB/s"], &throughput),
        chart(heat, hosts, subject, ["Mean latency", unit.symbol()], &latency),
    ]
}

fn chart(
    heat: &HostHeat,
    hosts: &[String],
    subject: &str,
    [quantity, unit]: [&str; 2],
    value: &dyn Fn(usize, &HostCell) -> Option<f64>,
) -> Chart {
    let cells: Vec<(usize, usize, f64)> = heat
        .rows
        .iter()
        .enumerate()
        .flat_map(|(row, of_host)| {
            let cells = of_host.cells.iter().enumerate();
            cells.filter_map(move |(column, cell)| Some((column, row, value(column, cell)?)))
        })
        .collect();
    let most = cells.iter().map(|cell| cell.2).fold(0.0, f64::max);
    let most = format!("{} {unit}", plain(most));
    let names = heat.rows.iter().map(|row| hosts.get(row.host).cloned().unwrap_or_default());
    let left_out = match heat.of > heat.rows.len() {
        true => format!(" The {} slowest of {} hosts.", heat.rows.len(), heat.of),
        false => String::new(),
    };
    Chart {
        name: file_name(&format!("hosts-{quantity}-{subject}")),
        title: format!("{quantity} by host over time: {subject}"),
        caption: format!(
            "{quantity} of each host over seconds from the start of the run, from 0 (darkest) to {most} \
             (brightest). A host that was lost has no more cells.{left_out} {subject}."
        ),
        alternative: Alternative::Caption,
        panels: vec![Panel {
            x: axis(
                "seconds from the start of the run",
                Scale::Names(seconds_of_columns(&heat.columns)),
            ),
            y: axis("host", Scale::Names(names.collect())),
            series: vec![Series {
                name: quantity.to_owned(),
                right: false,
                shape: Shape::Cells { cells, ends: ["0".to_owned(), most] },
            }],
            ..Panel::default()
        }],
        ..Chart::default()
    }
}
