//! What ran, and on which host against which target.

use analysis::Findings;
use metrics::environment::EXPERIMENT_TEXT;

use crate::document::{Block, Column, Section, Table};

/// The section, which every record has.
pub(crate) fn section(findings: &Findings) -> Section {
    let experiment = [
        ("engine", format!("{}: {}", findings.io_method, findings.io_method_reason)),
        ("experiment", findings.source.clone()),
        ("plan (SHA-256)", findings.plan_hash.clone()),
        ("seed", findings.seed.to_string()),
    ];
    let experiment = experiment.map(|(name, value)| vec![name.to_owned(), value]);
    let facts = findings.environment.iter().filter(|(name, _)| name != EXPERIMENT_TEXT);
    let facts = facts.map(|(name, value)| vec![name.clone(), value.clone()]);
    let table = Table {
        caption: "Experiment, host and target.".to_owned(),
        columns: vec![Column::words("property"), Column::words("value")],
        rows: experiment.into_iter().chain(facts).collect(),
    };
    Section {
        id: "environment",
        title: "Environment".to_owned(),
        blocks: vec![Block::Table(table)],
        method: Vec::new(),
    }
}
