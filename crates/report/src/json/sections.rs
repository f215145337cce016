//! Fields of the document that only some records have.
//!
//! A new finding gets a line in [`of`] and a file with a function from its type to a [`Value`].

use serde_json::{Map, Value};

use crate::expect::json::published;
use crate::record::Record;

use super::{emulated, overview, searches, steadiness, tune, verdicts, wire};

/// The fields by name.
pub(super) fn of(record: Record<'_>) -> Map<String, Value> {
    let findings = record.findings;
    let fields = [
        ("emulated_volume", findings.emulated.as_ref().map(emulated::emulated_volume)),
        ("heats", overview::heats(&findings.heats)),
        ("mixes", searches::mixes(findings)),
        ("searches", searches::searches(findings)),
        ("steadiness", steadiness::steadiness(findings)),
        ("published", record.published.map(published)),
        ("summary", overview::summary(findings)),
        ("tune", findings.tune.as_ref().map(|tuned| tune::tune(findings, tuned))),
        ("verdicts", verdicts::verdicts(findings)),
        ("wire", wire::wire(findings)),
        ("service_counters", findings.service_check.map(emulated::service_counters)),
    ];
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    present.collect()
}
