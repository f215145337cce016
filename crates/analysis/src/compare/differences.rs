//! What two experiments differ in besides their figures: whoever compares must know, because a
//! difference may come from there.

use super::facts::{Fact, Item};
use super::flaws;
use super::side::{PointSide, Side};

/// Something that differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// What it belongs to.
    pub item: Item,
    /// Its name: `kernel.release`, or a key of the plan.
    pub key: String,
    /// Of the first; `None` where its record does not say.
    pub first: Option<String>,
    /// Of the other.
    pub second: Option<String>,
    /// In how many of the common load points, of a key of the plan; 0 for the whole experiment.
    pub load_points: usize,
    /// It forbids to call a winner.
    pub forbids: bool,
}

/// The share of bytes that never passed the wire.
const CACHED: &str = "bytes from this host's cache";

/// Everything that differs, item by item.
pub(super) fn differences(
    first: &Side,
    second: &Side,
    matched: &[(&PointSide, &PointSide)],
    allowed: &[Item],
) -> Vec<Difference> {
    let forbids = |item: Item| item.forbids() && !allowed.contains(&item);
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
                forbids: forbids(fact.item),
            });
        }
    }
    for (a, b) in matched {
        for (key, mine, theirs) in keys(a, b) {
            let same = |known: &&mut Difference| {
                known.item == Item::Plan
                    && known.load_points > 0
                    && (&known.key, &known.first, &known.second) == (&key, &mine, &theirs)
            };
            match found.iter_mut().find(same) {
                Some(known) => known.load_points += 1,
                None => found.push(Difference {
                    item: Item::Plan,
                    key,
                    first: mine,
                    second: theirs,
                    load_points: 1,
                    forbids: forbids(Item::Plan),
                }),
            }
        }
    }
    if let Some((first, second, load_points)) = flaws::cached_apart(matched) {
        found.push(Difference {
            item: Item::Cache,
            key: CACHED.to_owned(),
            first: Some(first),
            second: Some(second),
            load_points,
            forbids: forbids(Item::Cache),
        });
    }
    found.sort_by_key(|difference| difference.item);
    found
}

type KeyValues = (String, Option<String>, Option<String>);

/// The keys of a load point that differ.
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
