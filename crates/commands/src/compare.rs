//! `compare`: reads records and compares them load point by load point.

use std::num::NonZero;
use std::thread::ScopedJoinHandle;

use analysis::compare::facts::Item;
use analysis::compare::side::Side;
use analysis::compare::{Comparison, Options, compare};
use anyhow::{anyhow, bail};
use store::Store;

use crate::keep::baseline::Baseline;
use crate::outcome::Failure;

/// Compares the records with the first of them, or with a baseline.
///
/// # Errors
/// A record cannot be read or is named twice, or they have no load point in common.
pub fn compare_records(
    store: &Store,
    baseline: Option<Baseline>,
    ids: &[String],
    options: &Options,
) -> Result<Comparison, Failure> {
    let comparison = compare(&sides(store, baseline, ids)?, options);
    refuse_nothing_in_common(&comparison).map_err(Failure::input)?;
    Ok(comparison)
}

/// The items with these names, which may differ between records; `all` is every item.
///
/// # Errors
/// There is no item of a name.
pub fn items(names: &[String]) -> Result<Vec<Item>, Failure> {
    let mut items = Vec::new();
    for name in names {
        match (name.as_str(), Item::named(name)) {
            ("all", _) => items.extend(Item::ALL),
            (_, Some(item)) => items.push(item),
            (_, None) => {
                let items = Item::ALL.into_iter().filter(|item| item.prevents_verdict());
                let names: Vec<&str> = items.map(Item::name).collect();
                return Err(Failure::input(anyhow!(
                    "allow `{name}` to differ: there is no such item; there are {}, and `all`",
                    names.join(", ")
                )));
            }
        }
    }
    Ok(items)
}

/// Reads as many records in parallel as there are processors. Only what is compared is kept.
fn sides(
    store: &Store,
    baseline: Option<Baseline>,
    names: &[String],
) -> Result<Vec<Side>, Failure> {
    let mut sides: Vec<Side> = baseline.into_iter().map(|baseline| baseline.side).collect();
    let mut ids: Vec<String> = Vec::new();
    for name in names {
        let id = store.resolve(name).map_err(Failure::input)?;
        if ids.contains(&id) || sides.iter().any(|side| side.id == id) {
            return Err(Failure::input(anyhow!(
                "compare `{id}` with itself: name each record once"
            )));
        }
        ids.push(id);
    }
    let in_parallel = std::thread::available_parallelism().map_or(1, NonZero::get);
    for some in ids.chunks(in_parallel) {
        sides.extend(read(store, some)?);
    }
    if let [only] = sides.as_slice() {
        return Err(Failure::input(anyhow!(
            "compare `{}`: name a second record (`fourcorners list`)",
            only.id
        )));
    }
    Ok(sides)
}

/// Reads records in parallel.
fn read(store: &Store, ids: &[String]) -> Result<Vec<Side>, Failure> {
    std::thread::scope(|scope| {
        let side = |id: &str| store.load(id).map(|record| Side::of(&record));
        let mut reading = Vec::new();
        for id in ids {
            let reader = std::thread::Builder::new().name("reader".to_owned());
            reading.push((id, reader.spawn_scoped(scope, move || side(id))));
        }
        let sides =
            reading.into_iter().map(|(id, reader)| match reader.map(ScopedJoinHandle::join) {
                Ok(Ok(side)) => side.map_err(Failure::input),
                Ok(Err(panic)) => std::panic::resume_unwind(panic),
                // No thread could be started for this record.
                Err(_) => side(id).map_err(Failure::input),
            });
        sides.collect()
    })
}

fn refuse_nothing_in_common(comparison: &Comparison) -> anyhow::Result<()> {
    let Some(pair) = comparison.pairs.iter().find(|pair| pair.points.is_empty()) else {
        return Ok(());
    };
    bail!(
        "compare `{}` with `{}`: they have no load point in common; the first has {}, the second \
         {}; compare records of one experiment that was measured twice",
        comparison.sides[0].id,
        comparison.sides[pair.side].id,
        first_few(&pair.only_in_first),
        first_few(&pair.only_in_other),
    );
}

/// The first load points of a list.
fn first_few(names: &[String]) -> String {
    match names {
        [] => "none, because no run of it started".to_owned(),
        [a, b, c, rest @ ..] if !rest.is_empty() => {
            format!("{a}; {b}; {c}; and {} more", rest.len())
        }
        few => few.join("; "),
    }
}
