//! Differences between experiments besides their figures, which may explain a difference.

use super::caveats;
use super::facts::{Fact, Item};
use super::plan_keys;
use super::side::{PointSide, Side};

/// A difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Its category.
    pub item: Item,
    /// Its key: `kernel.release`, or a key of the plan.
    pub key: String,
    /// Value of the first; `None` if its record has none.
    pub first: Option<String>,
    /// Value of the other.
    pub second: Option<String>,
    /// Number of common load points that differ, for a key of the plan; 0 for the whole experiment.
    pub load_points: usize,
    /// Whether it prevents a verdict.
    pub prevents_verdict: bool,
}

/// The key for the share of bytes served by a cache.
const CACHED: &str = "bytes from a client cache";

/// All differences, by category.
pub(super) fn differences(
    first: &Side,
    second: &Side,
    matched: &[(&PointSide, &PointSide)],
    allowed: &[Item],
) -> Vec<Difference> {
    let prevents_verdict = |item: Item| item.prevents_verdict() && !allowed.contains(&item);
    let mut found = Vec::new();
    let value = |facts: &[Fact], key: &str| {
        facts.iter().find(|fact| fact.key == key).map(|fact| fact.value.clone())
    };
    let only_second =
        second.facts.iter().filter(|fact| !first.facts.iter().any(|theirs| theirs.key == fact.key));
    for fact in first.facts.iter().chain(only_second) {
        let (a, b) = (value(&first.facts, &fact.key), value(&second.facts, &fact.key));
        if a != b {
            found.push(Difference {
                item: fact.item,
                key: fact.key.clone(),
                first: a,
                second: b,
                load_points: 0,
                prevents_verdict: prevents_verdict(fact.item),
            });
        }
    }
    for (a, b) in matched {
        for (key, mine, theirs) in keys(a, b) {
            let item = plan_keys::item_of(&key);
            let same = |known: &&mut Difference| {
                known.item == item
                    && known.load_points > 0
                    && (&known.key, &known.first, &known.second) == (&key, &mine, &theirs)
            };
            match found.iter_mut().find(same) {
                Some(known) => known.load_points += 1,
                None => found.push(Difference {
                    item,
                    key,
                    first: mine,
                    second: theirs,
                    load_points: 1,
                    prevents_verdict: prevents_verdict(item),
                }),
            }
        }
    }
    if let Some((first, second, load_points)) = caveats::cached_apart(matched) {
        found.push(Difference {
            item: Item::Cache,
            key: CACHED.to_owned(),
            first: Some(first),
            second: Some(second),
            load_points,
            prevents_verdict: prevents_verdict(Item::Cache),
        });
    }
    found.sort_by_key(|difference| difference.item);
    found
}

type KeyValues = (String, Option<String>, Option<String>);

/// The differing keys of a load point.
fn keys(a: &PointSide, b: &PointSide) -> Vec<KeyValues> {
    let value = |point: &PointSide, key: &str| {
        point.keys.iter().find(|(k, _)| k == key).map(|(_, value)| value.clone())
    };
    let only_second = b.keys.iter().filter(|(key, _)| value(a, key).is_none());
    a.keys
        .iter()
        .chain(only_second)
        .map(|(key, _)| (key.clone(), value(a, key), value(b, key)))
        .filter(|(_, mine, theirs)| mine != theirs)
        .collect()
}
