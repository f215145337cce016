//! `list` and `du`: the stored records with their results, and the space that they take.
//!
//! Headline and verdict need the analysed record. They are computed once and cached in the index.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};

use analysis::Findings;
use analysis::headline::Headline;
use metrics::run_record::Outcome;
use report::number::mib;
use report::table::{Column, Table};
use serde::{Deserialize, Serialize};
use store::{Listed, State, Store};
use units::counted;

use crate::outcome::Failure;

/// Digests of other versions are computed again.
const DIGEST_VERSION: &str = concat!("3, ", env!("CARGO_PKG_VERSION"));

/// The results of a record that a list shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Digest {
    version: String,
    /// Only if most operations are on names.
    pub(super) rate_ops_per_s: Option<f64>,
    /// Only if data was moved.
    pub(super) throughput_bytes_per_s: Option<f64>,
    pub(super) floor_ns: Option<f64>,
    pub(super) verdict: Option<String>,
}

/// A stored record with its results.
#[derive(Clone, Debug)]
pub struct ListedRecord {
    pub(super) listed: Listed,
    pub(super) digest: Digest,
}

/// A record as JSON.
#[derive(Debug, Serialize)]
pub struct Row<'a> {
    id: &'a str,
    label: Option<&'a str>,
    note: Option<&'a str>,
    name: &'a str,
    target: &'a str,
    overrides: &'a [String],
    started_unix_ms: u64,
    runs_done: u32,
    runs_planned: u32,
    state: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    /// Only if most operations are on names.
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_ops_per_s: Option<f64>,
    throughput_bytes_per_s: Option<f64>,
    floor_ns: Option<f64>,
    verdict: Option<&'a str>,
    disk_bytes: u64,
}

impl Digest {
    fn of(findings: &Findings) -> Digest {
        let Headline { rate_on_names, throughput, floor } = Headline::of(findings);
        Digest {
            version: DIGEST_VERSION.to_owned(),
            rate_ops_per_s: rate_on_names.map(|rate| rate.get()),
            throughput_bytes_per_s: throughput.map(|rate| rate.get()),
            floor_ns: floor.map(|floor| floor.0),
            verdict: report::verdict::in_list(findings),
        }
    }

    fn stored(listed: &Listed) -> Option<Digest> {
        let digest: Digest = serde_json::from_str(listed.digest.as_deref()?).ok()?;
        (digest.version == DIGEST_VERSION).then_some(digest)
    }

    fn json(&self) -> String {
        serde_json::to_string(self).expect("a digest is numbers and texts")
    }
}

/// Caches the results of a record that was just analysed, so that `list` need not read it.
pub(crate) fn remember(store: &Store, findings: &Findings) {
    store.put_digests(&[(findings.id.clone(), Digest::of(findings).json())]);
}

/// All records with their results, the oldest first. Results that are not cached are computed on all
/// processors; those of running and damaged records are left out.
///
/// # Errors
/// The store cannot be read.
pub fn list(store: &Store) -> Result<Vec<ListedRecord>, Failure> {
    let listed = store.list().map_err(Failure::input)?;
    let is_missing = |one: &&Listed| {
        matches!(one.state, State::Ended(_)) && one.runs_done > 0 && Digest::stored(one).is_none()
    };
    let missing: Vec<&str> = listed.iter().filter(is_missing).map(|one| one.id.as_str()).collect();
    let computed = compute(store, &missing);
    if !computed.is_empty() {
        let texts = computed.iter().map(|(id, digest)| (id.clone(), digest.json()));
        store.put_digests(&texts.collect::<Vec<_>>());
    }
    let digest = |one: &Listed| {
        computed.get(&one.id).cloned().or_else(|| Digest::stored(one)).unwrap_or_default()
    };
    Ok(listed.into_iter().map(|one| ListedRecord { digest: digest(&one), listed: one }).collect())
}

/// The digests of records by ID. A record that cannot be read has none.
fn compute(store: &Store, ids: &[&str]) -> BTreeMap<String, Digest> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut digests = BTreeMap::new();
        while let Some(id) = ids.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Ok(record) = store.load(id) {
                digests.insert((*id).to_owned(), Digest::of(&analysis::analyze(&record)));
            }
        }
        digests
    };
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get).min(ids.len());
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut digests = work();
        for other in others {
            match other.join() {
                Ok(more) => digests.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        digests
    })
}

impl<'a> Row<'a> {
    /// The JSON of a record.
    pub fn of(record: &'a ListedRecord) -> Row<'a> {
        let ListedRecord { listed, digest } = record;
        Row {
            id: &listed.id,
            label: listed.annotation.label.as_ref().map(store::Label::as_str),
            note: listed.annotation.note.as_deref(),
            name: &listed.name,
            target: &listed.target,
            overrides: &listed.overrides,
            started_unix_ms: listed.started_unix_ms,
            runs_done: listed.runs_done,
            runs_planned: listed.runs_planned,
            state: listed.state.name(),
            reason: reason(&listed.state),
            rate_ops_per_s: digest.rate_ops_per_s,
            throughput_bytes_per_s: digest.throughput_bytes_per_s,
            floor_ns: digest.floor_ns,
            verdict: digest.verdict.as_deref(),
            disk_bytes: listed.disk_bytes,
        }
    }
}

fn reason(state: &State) -> Option<&str> {
    match state {
        State::Damaged { reason } | State::Ended(Outcome::Failed { reason }) => Some(reason),
        _ => None,
    }
}

/// The space that a record takes, as JSON.
#[derive(Debug, Serialize)]
pub struct Usage {
    id: String,
    label: Option<String>,
    disk_bytes: u64,
}

/// The space that each record takes, the largest first.
///
/// # Errors
/// The store cannot be read.
pub fn usage(store: &Store) -> Result<Vec<Usage>, Failure> {
    let listed = store.list().map_err(Failure::input)?;
    let usage = |one: Listed| Usage {
        label: one.annotation.label.map(|label| label.to_string()),
        id: one.id,
        disk_bytes: one.disk_bytes,
    };
    let mut all: Vec<Usage> = listed.into_iter().map(usage).collect();
    all.sort_by_key(|one| std::cmp::Reverse(one.disk_bytes));
    Ok(all)
}

/// The space that each record takes, and their sum.
pub fn usage_table(all: &[Usage]) -> Table {
    let row = |bytes: u64, id: &str, label: &str| {
        vec![mib(bytes as f64), id.to_owned(), label.to_owned()]
    };
    let each = all
        .iter()
        .map(|one| row(one.disk_bytes, &one.id, one.label.as_deref().unwrap_or_default()));
    let sum = all.iter().map(|one| one.disk_bytes).sum();
    let total = row(sum, &format!("total of {}", counted(all.len() as u64, "record")), "");
    Table {
        columns: vec![Column::numbers("DISK", "MiB"), Column::words("ID"), Column::words("LABEL")],
        rows: each.chain([total]).collect(),
        ..Table::default()
    }
}
