//! What the experiment requires of its results, and by how much they meet it.

use analysis::Findings;
use analysis::condition::{Answer, Judged, judge};
use units::counted;

use crate::conditions::{observed, of_metric, of_required};
use crate::document::{Block, Column, Section, Table};
use crate::number::NONE;
use crate::results::load_point_name;

/// The section; `None` if the experiment has no requirements.
pub(super) fn section(findings: &Findings) -> Option<Section> {
    let judged: Vec<Judged> =
        findings.requirements.iter().map(|one| judge(findings, one)).collect();
    if judged.is_empty() {
        return None;
    }
    let met = judged.iter().filter(|one| one.answer == Answer::Passed).count();
    let mut sentence =
        format!("The results meet {met} of {}.", counted(judged.len() as u64, "requirement"));
    for one in judged.iter().filter_map(|one| of_metric(findings, one)) {
        sentence.push_str(&format!(" {one}."));
    }
    let row = |one: &Judged| {
        let at = one.worst.map(|worst| load_point_name(&findings.load_points[worst.load_point]));
        vec![
            one.answer.name().to_owned(),
            one.condition.text.clone(),
            observed(one),
            of_required(one).unwrap_or_else(|| NONE.to_owned()),
            at.unwrap_or_else(|| NONE.to_owned()),
        ]
    };
    let table = Table {
        caption: "Requirements of the experiment, each at the load point that decides.".to_owned(),
        columns: vec![
            Column::words("result"),
            Column::words("requirement"),
            Column::words("measured"),
            Column::words("from the required value"),
            Column::words("load point"),
        ],
        rows: judged.iter().map(row).collect(),
    };
    Some(Section {
        id: "requirements",
        title: "Requirements".to_owned(),
        blocks: vec![Block::Paragraph(sentence), Block::Table(table)],
        method: vec!["Conditions"],
    })
}
