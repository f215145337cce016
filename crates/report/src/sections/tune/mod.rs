//! The outcome of a tuning: the answer, the arithmetic step by step, the measurements, and the
//! settings that give the concurrency.

pub(crate) mod glance;
mod quantities;
mod settings;
pub(crate) mod verdict;

use analysis::Findings;
use analysis::tune::arithmetic::Arithmetic;
use analysis::tune::findings::{Tried, TuneFindings};
use analysis::tune::limit::LevelQuota;
use units::thousands;
use workload::reach::RequiredRate;

use crate::document::{Block, Column, Section, Table};
use crate::number::mib;
use crate::results::relative;
use quantities::{digits, exactly, operations, rate, requirement, time_unit};

use settings::on_hosts;
pub(super) use settings::settings;

/// The anchor of the answer.
pub(super) const ANSWER: &str = "tuning";

/// The heading of the method in `docs/method.md`.
const METHOD: &str = "Tuning";

/// The answer, the arithmetic, and the measurements.
pub(super) fn answer(findings: &Findings) -> Option<Section> {
    let tune = findings.tune.as_ref()?;
    let mut blocks: Vec<Block> =
        verdict::words(findings, tune).into_iter().map(Block::Paragraph).collect();
    if let Some(table) = quotas(tune) {
        blocks.push(Block::Table(table));
    }
    if let Some(arithmetic) = &tune.arithmetic {
        blocks.push(Block::Paragraph("Arithmetic:".to_owned()));
        blocks.push(Block::List(steps(tune, arithmetic)));
    }
    if !tune.tried.is_empty() {
        blocks.push(Block::Table(measurements(tune)));
    }
    Some(Section {
        id: ANSWER,
        title: format!("Tuning for {}", requirement(tune)),
        blocks,
        method: vec![METHOD, "Little's law", "Uncertainty"],
    })
}

/// The quotas that would give the required throughput.
fn quotas(tune: &TuneFindings) -> Option<Table> {
    let throughput = mib(tune.target_throughput?.get());
    if tune.quotas.iter().all(|quota| quota.quota.is_none()) {
        return None;
    }
    let row = |quota: &LevelQuota| {
        let max = quota.ceiling.map(|max| mib(max.bytes_per_s() as f64)).unwrap_or_default();
        let gib = match quota.quota {
            Some(bytes) => thousands(bytes.get() >> 30),
            None => "none".to_owned(),
        };
        vec![quota.level.to_owned(), gib, max]
    };
    Some(Table {
        caption: format!("The lowest quota for {throughput} MiB/s at each service level:"),
        columns: vec![
            Column::words("service level"),
            Column::numbers("quota", "GiB"),
            Column::numbers("volume maximum", "MiB/s"),
        ],
        rows: tune.quotas.iter().map(row).collect(),
    })
}

/// The calculation with units.
fn steps(tune: &TuneFindings, arithmetic: &Arithmetic) -> Vec<String> {
    let operation_bytes = arithmetic.operation_bytes;
    let response_s = arithmetic.response.0 / 1e9;
    let mut steps = vec![format!(
        "Response time at queue depth 1 of one worker: {} ms = {} s.",
        digits(arithmetic.response.0 / 1e6, 3),
        digits(response_s, 6)
    )];
    let per_second = rate(arithmetic.rate.get());
    steps.push(match arithmetic.required {
        RequiredRate::Throughput { bytes_per_s } => format!(
            "Required rate: {} MiB/s x 1,024 KiB/MiB / {} KiB = {per_second} ops/s.",
            exactly(bytes_per_s / 1_048_576.0),
            exactly(operation_bytes / 1024.0)
        ),
        // Their sizes differ, and what they move was measured.
        RequiredRate::Rate { .. } if tune.stream.is_on_names() => {
            format!("Required rate: {per_second} ops/s.")
        }
        RequiredRate::Rate { .. } => format!(
            "Required rate: {per_second} ops/s ({} KiB each, {} MiB/s).",
            exactly(operation_bytes / 1024.0),
            mib(arithmetic.rate.get() * operation_bytes)
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
        "Response time may rise with the load, and the required concurrency with it, so it was \
         measured and corrected:"
            .to_owned(),
    );
    steps
}

fn paced_at(tune: &TuneFindings) -> String {
    format!("paced at {} ops/s", rate(tune.target_rate.get()))
}

/// Every concurrency that was measured, and the one required according to Little's law.
fn measurements(tune: &TuneFindings) -> Table {
    let unit = time_unit(tune);
    let moves_data = tune.target_throughput.is_some();
    let throughput = |tried: &Tried| tried.throughput.map(|one| mib(one.value));
    let row = |tried: &Tried, result: String| {
        let mut cells =
            vec![tried.outstanding.to_string(), rate(tried.rate.value), relative(Some(tried.rate))];
        cells.extend(moves_data.then(|| throughput(tried).unwrap_or_default()));
        cells.extend([unit.print(tried.response_ns.value), result]);
        cells
    };
    let result = |tried: &Tried| {
        let required = tune.target_rate.get() * tried.response_ns.value / 1e9;
        match tried.rate.value >= tune.least_rate.get() {
            true => "sufficient".to_owned(),
            false => format!("too low; needs {required:.2}"),
        }
    };
    let mut rows: Vec<Vec<String>> =
        tune.tried.iter().map(|tried| row(tried, result(tried))).collect();
    let paced = paced_at(tune);
    rows.extend(tune.paced.iter().map(|tried| row(tried, paced.clone())));
    let mut columns = vec![
        Column::numbers("outstanding", "ops"),
        Column::numbers("rate", "ops/s"),
        Column::numbers("95 % CI", "±"),
    ];
    columns.extend(moves_data.then(|| Column::numbers("throughput", "MiB/s")));
    columns.extend([Column::numbers("response", unit.symbol()), Column::words("result")]);
    Table { caption: String::new(), columns, rows }
}
