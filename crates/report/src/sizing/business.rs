//! The demand of a number of job sets, users or streams: what each part of it comes from.

use serde::Serialize;
use sizing::business::{BusinessDemand, KindDemand, VariantDemand};
use units::{Bytes, BytesPerSec, thousands};

use crate::document::{Block, Column, Section, Table};
use crate::number::{NONE, exported, plain};

/// `500 job sets`.
pub(super) fn units(of: &BusinessDemand) -> String {
    format!("{} {}", thousands(of.units), of.metric)
}

/// What the units offer in total, in a sentence; of several variants the one with most bytes.
pub(super) fn in_words(of: &BusinessDemand) -> String {
    let Some(variant) = of.largest() else { return String::new() };
    let (all, reads, writes) = variant.totals();
    let names = variant.on_names().get();
    let on_names = match names > 0.0 {
        true => format!(", {} of them on names", plain(names)),
        false => String::new(),
    };
    let at = match of.variants.len() {
        1 => String::new(),
        _ => format!(" ({})", variant.name),
    };
    format!(
        "{} by {}{at}: {} ops/s{on_names}, and {} MiB/s.",
        units(of),
        of.profile,
        plain(all.get()),
        plain(BytesPerSec::new(reads.get() + writes.get()).as_mib())
    )
}

/// Kinds of operations without a published rate, which do not count.
pub(super) fn not_enough_data(of: &BusinessDemand) -> Option<String> {
    let kinds = of.not_counted();
    if kinds.is_empty() {
        return None;
    }
    let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
    Some(format!(
        "Not enough data for {}: no rate of these operations is published, so {} ops/s of them are not \
         in the design. Measure them on a volume with `run` before you buy.",
        names.join(", "),
        plain(of.not_counted_rate().get())
    ))
}

/// Operations, bytes, capacity and inodes with what they come from.
pub(super) fn section(of: &BusinessDemand) -> Section {
    let source = match of.is_built_in {
        true => format!("`fourcorners profiles {}` has the source of each number", of.profile),
        false => format!("from {}", of.profile),
    };
    let mut blocks = vec![Block::Paragraph(format!(
        "What {} offer, by {}: each offers the rates of one unit; {source}.",
        units(of),
        of.profile
    ))];
    let is_only = of.variants.len() == 1;
    blocks.extend(of.variants.iter().map(|one| Block::Table(table(one, is_only))));
    let per_unit =
        |amount: String, all: String| format!("{} x {amount} = {all}", thousands(of.units));
    let capacity = match of.unit_capacity {
        Some(unit) => {
            let all = Bytes::new(unit.get().saturating_mul(of.units));
            format!("capacity: {}", per_unit(unit.to_string(), all.to_string()))
        }
        None => "capacity: the profile does not state what one unit stores (--capacity)".to_owned(),
    };
    let inodes = match of.unit_inodes {
        Some(unit) => {
            let all = thousands(unit.saturating_mul(of.units));
            format!("inodes: {}", per_unit(thousands(unit), all))
        }
        None => "inodes: not enough data; the profile does not state those of one unit".to_owned(),
    };
    let mut points = vec![capacity, inodes];
    if let Some(percentile) = of.percentile_max {
        points.push(format!(
            "response time: the profile limits its {percentile}, which is not predicted; \
             --response-time limits the mean"
        ));
    }
    points.extend(not_enough_data(of));
    blocks.push(Block::List(points));
    super::section("demand", &format!("Demand of {}", units(of)), blocks)
}

fn table(variant: &VariantDemand, is_only: bool) -> Table {
    let mib = |rate: BytesPerSec| match rate.get() > 0.0 {
        true => plain(rate.as_mib()),
        false => NONE.to_owned(),
    };
    let row = |kind: &KindDemand| {
        let counted = if kind.is_counted { "" } else { "not enough data" };
        let (reads, writes) = (mib(kind.reads), mib(kind.writes));
        vec![kind.name.clone(), plain(kind.rate.get()), reads, writes, counted.to_owned()]
    };
    let mut rows: Vec<Vec<String>> = variant.kinds.iter().map(row).collect();
    let (all, reads, writes) = variant.totals();
    rows.push(vec!["all".to_owned(), plain(all.get()), mib(reads), mib(writes), String::new()]);
    Table {
        caption: if is_only { String::new() } else { variant.name.clone() },
        columns: vec![
            Column::words("operation"),
            Column::numbers("rate", "ops/s"),
            Column::numbers("reads", "MiB/s"),
            Column::numbers("writes", "MiB/s"),
            Column::words("not in the design").dispensable(1),
        ],
        rows,
    }
}

/// The same as JSON.
#[derive(Serialize)]
pub(super) struct BusinessJson<'a> {
    profile: &'a str,
    metric: &'a str,
    units: u64,
    unit_capacity_bytes: Option<u64>,
    unit_inodes: Option<u64>,
    variants: Vec<VariantJson<'a>>,
    /// Kinds without a published rate, which are not in the design.
    not_enough_data: Vec<&'a str>,
}

#[derive(Serialize)]
struct VariantJson<'a> {
    name: &'a str,
    kinds: Vec<KindJson<'a>>,
}

#[derive(Serialize)]
struct KindJson<'a> {
    kind: &'a str,
    ops_per_s: f64,
    read_bytes_per_s: f64,
    written_bytes_per_s: f64,
    counted: bool,
}

pub(super) fn json(of: &BusinessDemand) -> BusinessJson<'_> {
    fn kind(one: &KindDemand) -> KindJson<'_> {
        KindJson {
            kind: &one.name,
            ops_per_s: exported(one.rate.get()),
            read_bytes_per_s: exported(one.reads.get()),
            written_bytes_per_s: exported(one.writes.get()),
            counted: one.is_counted,
        }
    }
    fn variant(one: &VariantDemand) -> VariantJson<'_> {
        VariantJson { name: &one.name, kinds: one.kinds.iter().map(kind).collect() }
    }
    BusinessJson {
        profile: &of.profile,
        metric: &of.metric,
        units: of.units,
        unit_capacity_bytes: of.unit_capacity.map(Bytes::get),
        unit_inodes: of.unit_inodes,
        variants: of.variants.iter().map(variant).collect(),
        not_enough_data: of.not_counted().into_iter().map(|(name, _)| name).collect(),
    }
}
