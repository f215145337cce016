//! The shape of a load: its mix, transfer sizes, concurrency and latency, from the JSON of
//! `fourcorners observe`.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

/// Kinds of operations, with the system calls that are counted as each. Other calls do not reach the
/// storage (`lseek`, `flock`), are hints (`fadvise64`, `sync_file_range`), or follow another one
/// (`close`). Of `open` only those without success count: an application passes the whole path, where
/// fourcorners first opens the directories.
const KINDS: [(&str, &[&str]); 11] = [
    (FSYNC, &["fsync", "fdatasync", "syncfs"]),
    ("stat", &["stat", "lstat", "fstat", "newfstatat", "statx", "statfs", "fstatfs"]),
    (OPEN, &["open"]),
    ("access", &["access", "faccessat", "faccessat2"]),
    ("readdir", &["getdents"]),
    ("readlink", &["readlink", "readlinkat"]),
    ("mkdir", &["mkdir", "mkdirat"]),
    ("remove", &["unlink", "unlinkat", "rmdir"]),
    ("rename", &["rename", "renameat", "renameat2"]),
    ("link", &["link", "linkat", "symlink", "symlinkat"]),
    (
        "setattr",
        &[
            "chmod",
            "fchmod",
            "fchmodat",
            "chown",
            "fchown",
            "fchownat",
            "futimesat",
            "utimensat",
            "truncate",
            "ftruncate",
            "fallocate",
        ],
    ),
];

/// The kind that is counted with reads and writes; all others are operations on names.
const FSYNC: &str = "fsync";
/// The kind of which only those without success are compared.
const OPEN: &str = "open";
/// Operations on names of a smaller share are not divided by kind.
const NAMES_MIN_PERCENT: f64 = 2.0;

/// Kinds that fail where a name is searched and not found: an NFS client sends a LOOKUP for each.
const SEARCHING: [&str; 3] = ["stat", OPEN, "access"];

/// A latency or size from fewer operations is not compared.
const SAMPLES_MIN: u64 = 30;

/// The unit of a figure, which is part of its column in the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// A share of the operations, in percent.
    Percent,
    Bytes,
    Operations,
    Microseconds,
    /// Of two numbers of the same unit.
    Ratio,
}

impl Unit {
    const ALL: [(Unit, &str); 5] = [
        (Unit::Percent, "%"),
        (Unit::Bytes, "B"),
        (Unit::Operations, "operations"),
        (Unit::Microseconds, "us"),
        (Unit::Ratio, "ratio"),
    ];

    pub(crate) fn name(self) -> &'static str {
        Unit::ALL.iter().find(|(unit, _)| *unit == self).map_or("", |(_, name)| name)
    }

    pub(crate) fn parse(name: &str) -> Option<Unit> {
        Unit::ALL.iter().find(|(_, known)| *known == name).map(|(unit, _)| *unit)
    }
}

/// A figure of a shape, by name.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    pub(crate) value: f64,
}

/// The figures of a load, in the order in which they are printed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shape {
    pub(crate) figures: Vec<Figure>,
    /// Operations of all kinds.
    pub(crate) operations: u64,
    /// Reads and writes per second.
    pub(crate) data_per_s: f64,
    pub(crate) seconds: f64,
}

impl Shape {
    /// From the JSON of `fourcorners observe --json`.
    pub(crate) fn parse(json: &str) -> Result<Shape> {
        let json: Value = serde_json::from_str(json).context("parse the observation")?;
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        let mut kinds: Vec<(&str, u64)> = vec![
            ("read", count(&json["reads"]["operations"])),
            ("write", count(&json["writes"]["operations"])),
        ];
        let calls = json["others"].as_array().context("find the calls of the observation")?;
        let mut missing = 0;
        let mut response: BTreeMap<&str, (u64, f64)> = BTreeMap::new();
        for (kind, names) in KINDS {
            let of_kind = calls
                .iter()
                .filter(|call| call["name"].as_str().is_some_and(|name| names.contains(&name)));
            let mut operations = 0;
            for call in of_kind {
                let failed = count(&call["failed"]);
                let of_missing = if SEARCHING.contains(&kind) { failed } else { 0 };
                missing += of_missing;
                operations += count(&call["operations"]) - of_missing;
                let times = &call["response_time"];
                if let Some(mean_ns) = times["mean_ns"].as_f64() {
                    let samples = count(&times["samples"]);
                    let sum = response.entry(kind).or_default();
                    *sum = (sum.0 + samples, sum.1 + samples as f64 * mean_ns);
                }
            }
            kinds.push((kind, operations));
        }
        kinds.retain(|(kind, _)| *kind != OPEN);
        kinds.push(("missing name", missing));
        let sum =
            |kinds: &[(&str, u64)]| kinds.iter().map(|(_, operations)| operations).sum::<u64>();
        let is_data = |(kind, _): &(&str, u64)| ["read", "write", FSYNC].contains(kind);
        let (data, names): (Vec<_>, Vec<_>) = kinds.into_iter().partition(is_data);
        let operations = sum(&data) + sum(&names);
        let mut shape = Shape {
            figures: Vec::new(),
            operations,
            data_per_s: json["arrival"]["mean_per_s"].as_f64().unwrap_or(0.0),
            seconds: json["duration_s"].as_f64().unwrap_or(0.0),
        };
        let percent = |part: u64, all: u64| part as f64 * 100.0 / all.max(1) as f64;
        let of_names = percent(sum(&names), operations);
        shape.add("operations on names".to_owned(), Unit::Percent, Some(of_names));
        for (kind, of_kind) in &data {
            let share = percent(*of_kind, sum(&data));
            shape.add(format!("data: {kind}"), Unit::Percent, Some(share));
        }
        for (kind, of_kind) in names.iter().filter(|_| of_names >= NAMES_MIN_PERCENT) {
            let share = percent(*of_kind, sum(&names));
            shape.add(format!("names: {kind}"), Unit::Percent, Some(share));
        }
        for (name, key) in [("read", "reads"), ("write", "writes")] {
            shape.add_sizes(name, &json[key]);
        }
        shape.add(
            "outstanding, mean".to_owned(),
            Unit::Operations,
            json["in_flight"]["mean"].as_f64(),
        );
        shape.add(
            "outstanding, maximum".to_owned(),
            Unit::Operations,
            json["in_flight"]["max"].as_f64(),
        );
        let gaps = json["arrival"]["gap_variation"].as_f64();
        shape.add("arrival gaps, variation".to_owned(), Unit::Ratio, gaps);
        for (name, key) in [("read", "reads"), ("write", "writes")] {
            let times = &json[key]["response_time"];
            if count(&times["samples"]) >= SAMPLES_MIN {
                let us = |ns: &Value| ns.as_f64().map(|ns| ns / 1e3);
                shape.add(
                    format!("{name} latency, mean"),
                    Unit::Microseconds,
                    us(&times["mean_ns"]),
                );
                shape.add(format!("{name} latency, p50"), Unit::Microseconds, us(&times["p50_ns"]));
            }
        }
        let of_names: &[&str] = if of_names >= NAMES_MIN_PERCENT { &["stat"] } else { &[] };
        for kind in [FSYNC].iter().chain(of_names) {
            let sum = response.get(*kind).filter(|(samples, _)| *samples >= SAMPLES_MIN);
            let mean_us = sum.map(|(samples, sum_ns)| sum_ns / *samples as f64 / 1e3);
            shape.add(format!("{kind} latency, mean"), Unit::Microseconds, mean_us);
        }
        Ok(shape)
    }

    fn add_sizes(&mut self, name: &str, data: &Value) {
        let pair =
            |size: &Value| Some((size["size_bytes"].as_u64()?, size["operations"].as_u64()?));
        let sizes = data["sizes"].as_array();
        let mut sizes: Vec<(u64, u64)> = sizes.into_iter().flatten().filter_map(pair).collect();
        sizes.sort_unstable();
        let total: u64 = sizes.iter().map(|(_, operations)| operations).sum();
        if total < SAMPLES_MIN {
            return;
        }
        let percentile = |percent: u64| {
            let mut below = 0;
            let at = sizes.iter().find(|(_, operations)| {
                below += operations;
                below * 100 >= total * percent
            });
            at.map(|(size, _)| *size as f64)
        };
        let bytes: u64 = sizes.iter().map(|(size, operations)| size * operations).sum();
        for (label, value) in [
            ("p50", percentile(50)),
            ("p90", percentile(90)),
            ("mean", Some(bytes as f64 / total as f64)),
        ] {
            self.add(format!("{name} size, {label}"), Unit::Bytes, value);
        }
    }

    fn add(&mut self, name: String, unit: Unit, value: Option<f64>) {
        if let Some(value) = value {
            self.figures.push(Figure { name, unit, value });
        }
    }

    /// What was observed, in words.
    pub(crate) fn describe(&self) -> String {
        let (operations, seconds) = (self.operations, self.seconds);
        format!(
            "{operations} operations in {seconds:.0} s, {:.0} reads and writes per second",
            self.data_per_s
        )
    }

    pub(crate) fn get(&self, name: &str) -> Option<f64> {
        self.figures.iter().find(|figure| figure.name == name).map(|figure| figure.value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_has_shares_of_all_kinds_and_percentiles_of_sizes() {
        let json = r#"{"reads": {"operations": 60, "sizes": [{"size_bytes": 8192, "operations": 50},
            {"size_bytes": 65536, "operations": 10}],
            "response_time": {"samples": 60, "mean_ns": 100000.0, "p50_ns": 90000}},
            "writes": {"operations": 20, "sizes": [{"size_bytes": 512, "operations": 20}],
            "response_time": {"samples": 20, "mean_ns": 5.0, "p50_ns": null}},
            "others": [{"name": "fdatasync", "operations": 15, "response_time":
            {"samples": 15, "mean_ns": 1000.0}}, {"name": "fsync", "operations": 15,
            "response_time": {"samples": 15, "mean_ns": 3000.0}},
            {"name": "newfstatat", "operations": 10, "failed": 4, "response_time": null},
            {"name": "lseek", "operations": 900, "response_time": null}],
            "arrival": {"mean_per_s": 8.0, "gap_variation": 1.5}, "duration_s": 10.0,
            "in_flight": {"mean": 0.5, "max": 3}}"#;
        let shape = Shape::parse(json).expect("an observation");
        // lseek does not reach the storage.
        assert_eq!(shape.operations, 120);
        let expected = [
            ("operations on names", 10.0 / 120.0 * 100.0),
            ("data: read", 60.0 / 110.0 * 100.0),
            ("data: fsync", 30.0 / 110.0 * 100.0),
            ("names: stat", 60.0),
            ("names: missing name", 40.0),
            ("read size, p50", 8192.0),
            ("read size, p90", 65536.0),
            ("read size, mean", (50 * 8192 + 10 * 65536) as f64 / 60.0),
            ("outstanding, maximum", 3.0),
            ("arrival gaps, variation", 1.5),
            ("read latency, mean", 100.0),
            ("fsync latency, mean", 2.0),
        ];
        for (name, value) in expected {
            let found = shape.get(name).expect(name);
            assert!((found - value).abs() < 1e-9, "{name}: {found}");
        }
        // Too few writes for a size or a latency, and no times of stat.
        for name in ["write size, p50", "write latency, mean", "stat latency, mean"] {
            assert_eq!(shape.get(name), None, "{name}");
        }
    }
}
