//! The unit in which a predicted or published rate is shown: operations if they are random or on names,
//! otherwise bytes.

use cloud::figure::{Access, Value};
use predict::{Interval, Point, Topology};

use crate::number::{BYTES_PER_MIB, plain, whole};
use crate::results::rate_unit;

/// How rates are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
    /// As reads and writes.
    Iops,
    /// As operations, some of which are on names.
    Ops,
    /// As bytes.
    Throughput,
}

impl Quantity {
    /// Of loads with these access patterns.
    pub(crate) fn of(patterns: impl IntoIterator<Item = Access>) -> Quantity {
        match patterns.into_iter().all(|pattern| pattern == Access::Random) {
            true => Quantity::Iops,
            false => Quantity::Throughput,
        }
    }

    /// Of the loads of a topology.
    pub(crate) fn of_topology(topology: &Topology) -> Quantity {
        match is_on_names(topology) {
            true => Quantity::Ops,
            false => Quantity::of(topology.workloads.iter().map(|one| one.access)),
        }
    }

    /// Of a published figure; `None` if it is not a rate.
    pub(crate) fn of_figure(value: Value) -> Option<Quantity> {
        match value {
            Value::Rate(_) => Some(Quantity::Iops),
            Value::Throughput(_) => Some(Quantity::Throughput),
            Value::Seconds(_) => None,
        }
    }

    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Quantity::Iops => rate_unit(false),
            Quantity::Ops => "rate",
            Quantity::Throughput => "throughput",
        }
    }

    /// Its name with its unit, in a sentence.
    pub(crate) const fn in_words(self) -> &'static str {
        match self {
            Quantity::Iops => rate_unit(false),
            Quantity::Ops => rate_unit(true),
            Quantity::Throughput => "throughput in MiB/s",
        }
    }

    /// Its unit.
    pub(crate) const fn unit(self) -> &'static str {
        match self {
            Quantity::Iops => rate_unit(false),
            Quantity::Ops => rate_unit(true),
            Quantity::Throughput => "MiB/s",
        }
    }

    /// The name of an axis.
    pub(crate) const fn axis(self) -> &'static str {
        match self {
            Quantity::Iops => rate_unit(false),
            Quantity::Ops => rate_unit(true),
            Quantity::Throughput => "throughput, MiB/s",
        }
    }

    /// A predicted rate.
    pub(crate) fn interval(self, point: &Point) -> Interval {
        match self {
            Quantity::Iops | Quantity::Ops => point.ops_per_s,
            Quantity::Throughput => point.bytes_per_s.times(1.0 / BYTES_PER_MIB),
        }
    }

    /// Operations per second of this size.
    pub(crate) fn of_ops(self, ops_per_s: f64, transfer_bytes: u64) -> f64 {
        match self {
            Quantity::Iops | Quantity::Ops => ops_per_s,
            Quantity::Throughput => ops_per_s * transfer_bytes as f64 / BYTES_PER_MIB,
        }
    }

    /// A number without its unit, as precise as a prediction.
    pub(crate) fn print(self, number: f64) -> String {
        match self {
            Quantity::Iops | Quantity::Ops => whole(number),
            Quantity::Throughput => plain(number),
        }
    }
}

/// Whether a load of the topology has operations on names, which operations per second measure.
pub(crate) fn is_on_names(topology: &Topology) -> bool {
    topology.workloads.iter().any(|workload| workload.names.is_some())
}

/// `33,000 to 41,000`, or one number if both ends print alike.
pub(crate) fn range(of: Interval, print: impl Fn(f64) -> String) -> String {
    let (low, high) = (print(of.low), print(of.high));
    match of.high.is_finite() {
        true if low == high => low,
        true => format!("{low} to {high}"),
        false => format!("at least {low}"),
    }
}

/// `36,900 IOPS (33,000 to 41,000)`, or only the number if the interval has no width.
pub(crate) fn with_range(of: Interval, unit: &str, print: impl Fn(f64) -> String) -> String {
    let value = print(of.value);
    match range(of, print) {
        same if same == value => format!("{value} {unit}"),
        range => format!("{value} {unit} ({range})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_with_a_width_show_their_ends() {
        let doubtful = Interval { low: 170_123.0, value: 195_456.0, high: 220_789.0 };
        assert_eq!(range(doubtful, whole), "170,000 to 221,000");
        assert_eq!(with_range(doubtful, "IOPS", whole), "195,000 IOPS (170,000 to 221,000)");
        assert_eq!(with_range(Interval::exactly(64.0), "MiB/s", plain), "64.0 MiB/s");
    }
}
