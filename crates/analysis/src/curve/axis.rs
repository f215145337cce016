//! The axis of a load point's curve, and the point's position on it.

use std::collections::BTreeMap;

use units::{Bytes, OpsPerSec, Percent, parse_duration};

use super::{MIXED_LOAD, OFFERED_RATE, QUEUE_DEPTH, USERS};
use crate::curve_point::CurvePoint;
use crate::load_point::LoadPoint;

/// Parameters of the load by their last word, in order of preference as an axis.
pub(crate) const LOAD_KEYS: [&str; 6] =
    ["users", "queue_depth", "queue_depth_total", "workers", "offered_rate", "rate"];

/// Which parameters differ within each variant.
pub(crate) struct Axes<'a> {
    variants: BTreeMap<&'a str, Family<'a>>,
}

/// The load points of one variant.
#[derive(Default)]
struct Family<'a> {
    load_points: usize,
    keys: BTreeMap<&'a str, Key<'a>>,
}

/// One parameter over a family.
struct Key<'a> {
    first: &'a str,
    /// Load points that have it.
    load_points: usize,
    /// Whether its values differ.
    differs: bool,
}

impl<'a> Axes<'a> {
    pub(crate) fn of(load_points: &'a [LoadPoint]) -> Axes<'a> {
        let mut variants: BTreeMap<&str, Family<'_>> = BTreeMap::new();
        for point in load_points {
            let family = variants.entry(&point.variant).or_default();
            family.load_points += 1;
            for (key, value) in &point.parameters {
                let fresh = Key { first: value, load_points: 0, differs: false };
                let key = family.keys.entry(key).or_insert(fresh);
                key.load_points += 1;
                key.differs |= key.first != value;
            }
        }
        Axes { variants }
    }

    /// The axis of this load point's curve: among the parameters that differ within the variant the
    /// queue depth, otherwise workers, otherwise an offered rate, otherwise the first quantity.
    pub(crate) fn axis_of<'b>(&self, mine: &'b LoadPoint) -> Option<&'b str> {
        let family = self.variants.get(mine.variant.as_str())?;
        let differs = |name: &str| {
            let key = family.keys.get(name);
            key.is_some_and(|key| key.differs || key.load_points < family.load_points)
        };
        let mut swept: Vec<&(String, String)> =
            mine.parameters.iter().filter(|(key, _)| differs(key)).collect();
        // A variant with a single load point uses the queue depth as axis, like others.
        if swept.is_empty() {
            swept = mine.parameters.iter().collect();
        }
        let last_word = |key: &str| key.rsplit('.').next().map(str::to_owned);
        LOAD_KEYS
            .iter()
            .find_map(|wanted| {
                swept.iter().find(|(key, _)| last_word(key).as_deref() == Some(wanted))
            })
            .or_else(|| swept.iter().find(|(_, value)| offered(value).is_some()))
            .or_else(|| swept.iter().find(|(_, value)| quantity(value).is_some()))
            .map(|(key, _)| key.as_str())
    }
}

/// Process and rate of an arrival in the form of a plan: `poisson 1000/s`.
fn offered(text: &str) -> Option<(&str, &str)> {
    let (process, rate) = text.split_once(' ')?;
    (["poisson", "constant"].contains(&process) && rate.ends_with("/s")).then_some((process, rate))
}

/// The number of a value with any unit.
fn quantity(text: &str) -> Option<f64> {
    let text = offered(text).map_or(text, |(_, rate)| rate);
    text.parse::<f64>()
        .ok()
        .or_else(|| text.parse::<Bytes>().ok().map(|bytes| bytes.get() as f64))
        .or_else(|| text.parse::<OpsPerSec>().ok().map(OpsPerSec::get))
        .or_else(|| parse_duration(text).ok().map(|time| time.as_secs_f64()))
        .or_else(|| text.parse::<Percent>().ok().map(Percent::fraction))
}

/// `queue depth`; of one of several streams, `database queue depth`.
pub(crate) fn in_words(key: &str) -> String {
    let (stream, key) = match key.rsplit_once('.') {
        Some(("run", key)) => (String::new(), key),
        Some((stream, key)) => (format!("{stream} "), key),
        None => (String::new(), key),
    };
    match key {
        "arrival" => format!("{stream}{OFFERED_RATE}"),
        key => format!("{stream}{}", key.replace('_', " ")),
    }
}

/// Whether all streams of a load point have users.
fn has_only_users(load_point: &LoadPoint) -> bool {
    load_point.merged.streams.iter().all(|stream| stream.users.is_some())
}

/// The load of a load point, as the axis of a curve along which nothing was swept.
pub(crate) fn of_load(load_point: &LoadPoint) -> &'static str {
    let merged = &load_point.merged;
    match merged.total.offered_rate {
        _ if has_only_users(load_point) => USERS,
        Some(_) => OFFERED_RATE,
        None if merged.is_mixed() => MIXED_LOAD,
        None => QUEUE_DEPTH,
    }
}

/// The position of a load point on the axis of [`of_load`], and its label.
fn unswept(load_point: &LoadPoint) -> (f64, String) {
    let depth = load_point.queue_depth_total;
    let total = &load_point.merged.total;
    if let Some(users) = total.users.as_ref().filter(|_| has_only_users(load_point)) {
        return (users.users as f64, users.users.to_string());
    }
    match total.offered_rate {
        Some(offered) if total.rate_varies => (offered.get(), format!("{offered} (mean)")),
        Some(offered) => (offered.get(), offered.to_string()),
        None if load_point.merged.is_mixed() => (depth as f64, "mixed".to_owned()),
        None => (depth as f64, depth.to_string()),
    }
}

pub(crate) fn name_without(load_point: &LoadPoint, axis: Option<&str>) -> String {
    let mut name = load_point.variant.clone();
    for (key, value) in &load_point.parameters {
        // Without an axis the load is the label.
        if Some(key.as_str()) != axis {
            name.push_str(&format!(", {}={value}", key.replace('_', " ")));
        } else if let Some((process, _)) = offered(value) {
            // A different arrival process is a different curve.
            name.push_str(&format!(", {process} arrivals"));
        }
    }
    name
}

pub(crate) fn point(index: usize, load_point: &LoadPoint, axis: Option<&str>) -> CurvePoint {
    let swept = axis.and_then(|key| load_point.parameters.iter().find(|(k, _)| k == key));
    let (x, mut label) = match swept {
        Some((_, value)) => {
            let label = offered(value).map_or(value.as_str(), |(_, rate)| rate);
            (quantity(value).unwrap_or(index as f64), label.to_owned())
        }
        None => unswept(load_point),
    };
    if let Some(missing) = load_point.missing_hosts {
        label.push_str(&format!(" ({missing})"));
    }
    CurvePoint { load_point: index, x, label, sample: None, little: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quantity_has_any_unit_or_none() {
        for (text, number) in [
            ("16", Some(16.0)),
            ("8KiB", Some(8192.0)),
            ("poisson 1000/s", Some(1000.0)),
            ("constant 2500/s", Some(2500.0)),
            ("250ms", Some(0.25)),
            ("70%", Some(0.7)),
            ("random", None),
        ] {
            assert_eq!(quantity(text), number, "{text}");
        }
    }

    #[test]
    fn only_the_arrivals_of_a_plan_are_offered_rates() {
        assert_eq!(offered("poisson 1000/s"), Some(("poisson", "1000/s")));
        assert_eq!(offered("constant 5/s"), Some(("constant", "5/s")));
        assert_eq!([offered("poisson 1000"), offered("zipf 5/s"), offered("5/s")], [None; 3]);
    }

    #[test]
    fn a_key_in_words_names_the_stream_but_not_the_run() {
        assert_eq!(in_words("queue_depth"), "queue depth");
        assert_eq!(in_words("run.hosts"), "hosts");
        assert_eq!(in_words("database.queue_depth"), "database queue depth");
        assert_eq!(in_words("database.arrival"), "database offered rate");
    }
}
