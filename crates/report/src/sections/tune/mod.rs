//! What a tuning found: the answer first, then the arithmetic step by step, what was measured on
//! the way, and the settings that give the concurrency.

mod settings;
pub(crate) mod verdict;
mod words;

use analysis::Findings;
use analysis::tune::arithmetic::Arithmetic;
use analysis::tune::findings::{Tried, TuneFindings};
use analysis::tune::limit::LevelQuota;
use units::thousands;
use workload::reach::Wanted;

use crate::document::{Block, Column, Section, Table};
use crate::number::{half_width, mib};
use words::{digits, exactly, operations, rate, wanted};

pub(super) use settings::settings;

/// The heading of `docs/method.md`.
const METHOD: &str = "Tuning";

/// The answer, how it was worked out, and what was measured for it.
pub(super) fn answer(findings: &Findings) -> Option<Section> {
    let tune = findings.tune.as_ref()?;
    let mut blocks: Vec<Block> =
        verdict::words(findings, tune).into_iter().map(Block::Paragraph).collect();
    if let Some(table) = quotas(tune) {
        blocks.push(Block::Table(table));
    }
    if let Some(arithmetic) = &tune.arithmetic {
        blocks.push(Block::Paragraph("The arithmetic:".to_owned()));
        blocks.push(Block::List(steps(arithmetic)));
    }
    if !tune.tried.is_empty() {
        blocks.push(Block::Table(tried(tune)));
    }
    Some(Section {
        id: "tuning",
        title: format!("Tuning for {}", wanted(tune)),
        blocks,
        method: vec![METHOD, "Little's law", "Uncertainty"],
    })
}

/// Quotas that would give what is wanted.
fn quotas(tune: &TuneFindings) -> Option<Table> {
    if tune.quotas.iter().all(|quota| quota.quota_bytes.is_none()) {
        return None;
    }
    let row = |quota: &LevelQuota| {
        let ceiling = quota.ceiling_bytes_per_s.map(|most| mib(most as f64)).unwrap_or_default();
        let gib = match quota.quota_bytes {
            Some(bytes) => thousands(bytes >> 30),
            None => "none".to_owned(),
        };
        vec![quota.level.to_owned(), gib, ceiling]
    };
    Some(Table {
        caption: format!(
            "The least quota that gives {} MiB/s, at each service level:",
            mib(tune.wanted_bytes_per_s)
        ),
        columns: vec![
            Column::words("service level"),
            Column::numbers("quota", "GiB"),
            Column::numbers("most of a volume", "MiB/s"),
        ],
        rows: tune.quotas.iter().map(row).collect(),
    })
}

/// The worked example, with units.
fn steps(arithmetic: &Arithmetic) -> Vec<String> {
    let transfer = arithmetic.transfer_bytes;
    let response_s = arithmetic.response_ns / 1e9;
    let mut steps = vec![format!(
        "Response time with one operation outstanding (one worker, queue depth 1): {} ms = {} s.",
        digits(arithmetic.response_ns / 1e6, 3),
        digits(response_s, 6)
    )];
    let per_second = rate(arithmetic.ops_per_s);
    steps.push(match arithmetic.wanted {
        Wanted::Throughput { bytes_per_s } => format!(
            "Wanted rate: {} MiB/s x 1,024 KiB/MiB / {} KiB = {per_second} ops/s.",
            exactly(bytes_per_s / 1_048_576.0),
            exactly(transfer / 1024.0)
        ),
        Wanted::Rate { .. } => format!(
            "Wanted rate: {per_second} ops/s (of {} KiB each, {} MiB/s).",
            exactly(transfer / 1024.0),
            mib(arithmetic.ops_per_s * transfer)
        ),
    });
    steps.push(format!(
        "Little's law, outstanding = rate x response time: {per_second} ops/s x {} s = {:.2}, so \
         {}.",
        digits(response_s, 6),
        arithmetic.outstanding,
        operations(arithmetic.outstanding_whole)
    ));
    steps.push(
        "The response time may rise with the load, and with it what is needed for the same rate; \
         so it was measured, and corrected:"
            .to_owned(),
    );
    steps
}

/// Every concurrency that was measured, and what Little's law says is needed by it.
fn tried(tune: &TuneFindings) -> Table {
    let row = |tried: &Tried, says: String| {
        let relative = tried.rate.relative().map(half_width).unwrap_or_default();
        vec![
            tried.outstanding.to_string(),
            rate(tried.rate.value),
            relative,
            mib(tried.throughput.value),
            digits(tried.response_ns.value / 1e6, 3),
            says,
        ]
    };
    let says = |tried: &Tried| {
        let needed = tune.wanted_ops_per_s * tried.response_ns.value / 1e9;
        match tried.rate.value >= tune.least_ops_per_s {
            true => "enough".to_owned(),
            false => format!("too little; {needed:.2} needed"),
        }
    };
    let mut rows: Vec<Vec<String>> =
        tune.tried.iter().map(|tried| row(tried, says(tried))).collect();
    rows.extend(
        tune.held
            .iter()
            .map(|held| row(held, format!("held at {} ops/s", rate(tune.wanted_ops_per_s)))),
    );
    Table {
        caption: String::new(),
        columns: vec![
            Column::numbers("outstanding", "ops"),
            Column::numbers("rate", "ops/s"),
            Column::numbers("95 %", "+-"),
            Column::numbers("throughput", "MiB/s"),
            Column::numbers("response", "ms"),
            Column::words("says"),
        ],
        rows,
    }
}
