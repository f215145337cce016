//! The runs that find the overload point: the largest number of users with few enough late scenarios.

use workload::plan::Run;
use workload::search::Search;
use workload::user_search::UserSearch;

use super::{Ended, is_failed};
use crate::load_point::{LoadPoint, RunSummary};

/// The next run, or the reason why there is none.
pub(super) fn next(search: &Search, users: &UserSearch, done: &[&LoadPoint]) -> Result<Run, Ended> {
    let mut points = Vec::new();
    for run in done.iter().filter_map(|point| point.runs.first()) {
        points.push(measured(run).filter(|_| !is_failed(run)).ok_or(Ended::Failed)?);
    }
    next_count(users, &points).map(|count| search.template.with_users(count))
}

/// The number of users of a run, and the share of its scenarios that were late; `None` if that was not
/// measured.
fn measured(run: &RunSummary) -> Option<(u32, f64)> {
    let users = run.summary.total.users.as_ref()?;
    Some((u32::try_from(users.users).ok()?, users.overload?.value))
}

/// The next number of users, from the numbers that were measured with their overload.
fn next_count(search: &UserSearch, points: &[(u32, f64)]) -> Result<u32, Ended> {
    let most = f64::from(search.overload_max_permille) / 1000.0;
    let fails = points.iter().filter(|(_, overload)| *overload > most).map(|(users, _)| *users);
    let Some(fails) = fails.min() else {
        let is_known = |count: &u32| points.iter().any(|(users, _)| users == count);
        let next = search.rungs().into_iter().find(|count| !is_known(count));
        return next.ok_or(Ended::AllTried);
    };
    let below = points.iter().map(|(users, _)| *users).filter(|users| *users < fails);
    match below.max() {
        Some(passes) => search.between(passes, fails).ok_or(Ended::Bracketed),
        None if fails > search.below(fails) => Ok(search.below(fails)),
        None => Err(Ended::Overloaded),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEARCH: UserSearch = UserSearch {
        users_max: 1600,
        users_min: 1,
        step: 2,
        overload_max_permille: 10,
        precision_permille: 50,
    };

    /// Searches a target on which scenarios are late from `limit` users on.
    fn tried(search: &UserSearch, limit: u32) -> (Vec<u32>, Ended) {
        let mut points: Vec<(u32, f64)> = Vec::new();
        loop {
            match next_count(search, &points) {
                Ok(count) => {
                    assert!(points.iter().all(|(users, _)| *users != count), "{count} twice");
                    points.push((count, if count < limit { 0.01 } else { 0.011 }));
                }
                Err(ended) => {
                    return (points.into_iter().map(|(users, _)| users).collect(), ended);
                }
            }
        }
    }

    #[test]
    fn the_overload_point_is_bracketed_within_the_precision() {
        let (counts, ended) = tried(&SEARCH, 700);
        assert_eq!(counts, [100, 200, 400, 800, 600, 700, 650, 675]);
        assert_eq!(ended, Ended::Bracketed);
        for limit in [2, 3, 101, 333, 1599, 1600] {
            let (counts, ended) = tried(&SEARCH, limit);
            assert_eq!(ended, Ended::Bracketed, "{limit}: {counts:?}");
            let passes = counts.iter().filter(|count| **count < limit).max().expect("one passes");
            let fails = counts.iter().filter(|count| **count >= limit).min().expect("one fails");
            assert!(fails - passes <= (passes / 20).max(1), "{limit}: {passes} to {fails}");
            assert!(counts.len() as u32 <= SEARCH.load_points_max(), "{counts:?}");
        }
    }

    #[test]
    fn a_target_that_is_never_or_always_overloaded_ends_the_search() {
        assert_eq!(tried(&SEARCH, 1601), (vec![100, 200, 400, 800, 1600], Ended::AllTried));
        let (counts, ended) = tried(&SEARCH, 0);
        assert_eq!(ended, Ended::Overloaded);
        assert_eq!(counts.last(), Some(&1));
    }
}
