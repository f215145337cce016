//! A value of an experiment key, and its printed form.

use std::fmt;
use std::time::Duration;

use settings::SourceSpan;
use units::print_duration;

use crate::arrival::Arrival;
use crate::names::{NameMix, TreeShape};
use crate::pattern::AccessPattern;
use crate::replay::Replay;
use crate::run::WeightedSize;
use crate::scenario::Scenario;

/// A value of one of the kinds of [`crate::keys::Kind`].
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Free text.
    Text(String),
    /// True or false.
    Flag(bool),
    /// Nanoseconds.
    Duration(u64),
    /// Bytes.
    Bytes(u64),
    /// A whole number.
    Count(u64),
    /// Thousandths.
    Share(u16),
    /// Operations per second.
    Rate(f64),
    /// The skew of a Zipf distribution.
    Skew(f64),
    /// Transfer sizes with their weights.
    Sizes(Vec<WeightedSize>),
    /// An access pattern.
    Pattern(AccessPattern),
    /// An arrival process.
    Arrival(Arrival),
    /// Names of targets.
    TargetNames(Vec<String>),
    /// A tree of names.
    Names(Box<Names>),
    /// Kinds of operations on names with their shares.
    Mix(NameMix),
    /// A list of operations to replay.
    Replay(Box<Replay>),
    /// The scenario of users.
    Scenario(Scenario),
}

/// A tree of names as the user wrote it.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    /// The tree.
    pub tree: TreeShape,
    /// The most files in a directory, if the user limits them.
    pub files_per_directory: Option<u64>,
    /// Bytes that an append adds.
    pub append_bytes: u32,
}

/// One of the values of a key, with its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value.
    pub value: Value,
    /// Its position in the text.
    pub span: SourceSpan,
}

impl fmt::Display for Value {
    /// As written in a file, without quotes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ns: u64| print_duration(Duration::from_nanos(ns));
        match self {
            Value::Text(text) => f.write_str(text),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Duration(ns) => f.write_str(&time(*ns)),
            Value::Bytes(bytes) => f.write_str(&exact_bytes(*bytes)),
            Value::Count(count) => write!(f, "{count}"),
            Value::Share(permille) => write!(f, "{}%", f64::from(*permille) / 10.0),
            Value::Rate(rate) => write!(f, "{rate}/s"),
            Value::Skew(theta) => write!(f, "{theta}"),
            Value::Sizes(sizes) => {
                if let [only] = sizes.as_slice() {
                    return f.write_str(&exact_bytes(only.size_bytes));
                }
                for (at, size) in sizes.iter().enumerate() {
                    let comma = if at == 0 { "" } else { " + " };
                    let share = f64::from(size.weight) / 10.0;
                    write!(f, "{comma}{share}% {}", exact_bytes(size.size_bytes))?;
                }
                Ok(())
            }
            Value::TargetNames(names) => f.write_str(&names.join(",")),
            Value::Pattern(AccessPattern::Sequential) => f.write_str("sequential"),
            Value::Pattern(AccessPattern::Uniform) => f.write_str("random"),
            Value::Pattern(AccessPattern::Zipf { theta }) => write!(f, "zipf {theta}"),
            Value::Pattern(AccessPattern::HotSet { area_permille, accesses_permille }) => write!(
                f,
                "hot set {}% in {}%",
                f64::from(*accesses_permille) / 10.0,
                f64::from(*area_permille) / 10.0
            ),
            Value::Pattern(AccessPattern::PartlySequential { seek_permille }) => {
                write!(f, "sequential, {}% seeks", f64::from(*seek_permille) / 10.0)
            }
            Value::Pattern(AccessPattern::Stride { stride_bytes }) => {
                write!(f, "stride {}", exact_bytes(*stride_bytes))
            }
            Value::Arrival(arrival) => write!(f, "{arrival}"),
            Value::Names(names) => f.write_str(&names.tree.to_string()),
            Value::Mix(mix) => write!(f, "{mix}"),
            Value::Replay(replay) => write!(f, "{replay}"),
            Value::Scenario(scenario) => write!(f, "{scenario}"),
        }
    }
}

/// Bytes in the largest unit that divides them exactly: `8KiB`, `1536MiB`.
pub(crate) fn exact_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["", "KiB", "MiB", "GiB", "TiB", "PiB"];
    let step = if bytes == 0 { 0 } else { (bytes.trailing_zeros() / 10).min(5) };
    format!("{}{}", bytes >> (10 * step), UNITS[step as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_printed_without_rounding() {
        assert_eq!(exact_bytes(8192), "8KiB");
        assert_eq!(exact_bytes(1536 << 20), "1536MiB");
        assert_eq!(exact_bytes(513), "513");
        assert_eq!(exact_bytes(0), "0");
        assert_eq!(exact_bytes(1 << 63), "8192PiB");
    }

    #[test]
    fn values_are_printed_as_written_in_a_file() {
        for (value, shown) in [
            (Value::Share(335), "33.5%"),
            (Value::Share(700), "70%"),
            (Value::Rate(2500.0), "2500/s"),
            (Value::Duration(1_500_000_000), "1500ms"),
            (
                Value::Arrival(Arrival::Closed { think_time_ns: 1_000_000 }),
                "closed, think time 1ms",
            ),
            (
                Value::Sizes(vec![
                    WeightedSize { size_bytes: 8192, weight: 700 },
                    WeightedSize { size_bytes: 65536, weight: 300 },
                ]),
                "70% 8KiB + 30% 64KiB",
            ),
        ] {
            assert_eq!(value.to_string(), shown);
        }
    }
}
