//! `rm` and `prune`: remove records from the store.

use std::time::Duration;

use store::{Error, Listed, State, Store};

use crate::outcome::Failure;
use crate::unix_ms;

/// A record that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Its ID.
    pub id: String,
    /// The space that it took, in bytes.
    pub disk_bytes: u64,
}

/// Removes the records with these names. All names are resolved first, because `last` would change.
/// Continues after an error; each name or record has one result.
pub fn remove(store: &Store, names: &[String]) -> Vec<Result<Removed, Failure>> {
    let mut ids: Vec<String> = Vec::new();
    let mut results = Vec::new();
    for name in names {
        match store.resolve(name) {
            Ok(id) if ids.contains(&id) => {}
            Ok(id) => ids.push(id),
            Err(error) => results.push(Err(Failure::input(error))),
        }
    }
    let removed = store.remove(&ids).into_iter().zip(ids).map(|(removed, id)| match removed {
        Ok(disk_bytes) => Ok(Removed { id, disk_bytes }),
        Err(error @ Error::Running { .. }) => Err(Failure::input(error)),
        Err(error) => Err(Failure::target(error)),
    });
    results.extend(removed);
    results
}

/// The records that began more than `age` ago, without running ones and those whose start is unknown.
///
/// # Errors
/// The store cannot be read.
pub fn older_than(
    store: &Store,
    age: Duration,
    keep_labelled: bool,
) -> Result<Vec<Listed>, Failure> {
    let age_ms = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
    let newest_ms = unix_ms().saturating_sub(age_ms);
    let is_old = |one: &Listed| {
        one.state != State::Running
            && (1..newest_ms).contains(&one.started_unix_ms)
            && !(keep_labelled && one.annotation.label.is_some())
    };
    let listed = store.list().map_err(Failure::input)?;
    Ok(listed.into_iter().filter(is_old).collect())
}
