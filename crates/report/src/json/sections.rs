//! Parts of the document that only some records have: a field is there where its finding is.
//!
//! A new finding is one line in [`of`] and a file of its own beside this one, with one function
//! from its type to a [`Value`].

use serde_json::{Map, Value};

use crate::expect::json::published;
use crate::record::Record;

use super::{emulated, overview, searches, steadiness, tune, verdicts, wire};

/// The fields, by name, in the order of the names.
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
        ("witness", findings.witnessed.map(emulated::witness)),
    ];
    let present = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    present.collect()
}
