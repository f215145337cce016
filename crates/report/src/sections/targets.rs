//! What was measured on each of several targets.

use analysis::Findings;

use crate::document::{Block, Section};
use crate::results::load_point_name;
use crate::table::Table;

use super::hosts::{columns, figures};

/// Processor time is not known by target, so its column is left out.
const WITHOUT_CPU: usize = 5;

/// The section; `None` for an experiment with one target.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let targets = findings.targets.as_ref()?;
    let mut blocks = Vec::new();
    for (point, of_targets) in findings.load_points.iter().zip(&targets.load_points) {
        let row = |one: &analysis::targets::TargetSummary| {
            let name = targets.names.get(one.target).cloned().unwrap_or_default();
            let mut row = vec![name];
            row.extend(figures(&one.summary));
            row.truncate(WITHOUT_CPU);
            row
        };
        let rows = of_targets.iter().map(row).collect();
        let columns = columns("target").into_iter().take(WITHOUT_CPU).collect();
        blocks.push(Block::Heading(load_point_name(point)));
        blocks.push(Block::Table(Table { caption: String::new(), columns, rows }));
    }
    let method = vec!["Several targets"];
    Some(Section { id: "targets", title: "Targets".to_owned(), blocks, method })
}
