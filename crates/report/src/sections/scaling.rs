//! How the rate grows with the number of hosts or targets.

use analysis::Findings;
use analysis::scaling::{Scaling, ScalingPoint};

use crate::document::{Block, Section};
use crate::number::{mib, plain};
use crate::results::printed;
use crate::table::{Column, Table};

/// The section; `None` if neither number was varied.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    if findings.scalings.is_empty() {
        return None;
    }
    let table = |scaling: &Scaling| {
        let rows = scaling.points.iter().map(|point| row(findings, point)).collect();
        [
            Block::Heading(scaling.name.clone()),
            Block::Table(Table { caption: String::new(), columns: columns(scaling), rows }),
        ]
    };
    let blocks = findings.scalings.iter().flat_map(table).collect();
    let method = vec!["Scaling efficiency"];
    Some(Section { id: "scaling", title: "Scaling".to_owned(), blocks, method })
}

fn columns(scaling: &Scaling) -> Vec<Column> {
    vec![
        Column::words(scaling.counted),
        Column::numbers("rate", "ops/s"),
        Column::numbers("throughput", "MiB/s"),
        Column::numbers("efficiency", "%"),
        Column::numbers("95 % CI", "±%"),
    ]
}

fn row(findings: &Findings, point: &ScalingPoint) -> Vec<String> {
    let data = &findings.load_points[point.load_point].merged.total.data;
    let share = |value: f64| format!("{:.1}", 100.0 * value);
    let efficiency = point.efficiency;
    let missing = findings.load_points[point.load_point].missing_hosts;
    let missing = missing.map_or(String::new(), |missing| format!(" ({missing})"));
    vec![
        format!("{}{missing}", point.count),
        printed(data.achieved_rate, plain),
        printed(data.throughput_of_data(), mib),
        efficiency.map_or_else(String::new, |one| share(one.value)),
        efficiency.and_then(|one| one.uncertainty).map_or_else(String::new, share),
    ]
}
