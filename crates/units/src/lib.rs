//! Quantities with their unit: bytes, rates, percentages, durations and dates; and the nearest known
//! name to an unknown one.
//!
//! For: every boundary between crates, so that a number never loses its unit. Not for: hot loops,
//! which use raw integers named with their unit (`issued_ns`), nor for reading clocks.
//!
//! `4k` is 4 KiB, as in fio and Vdbench; `4KB` is decimal. Bytes are always printed in IEC units.

mod bytes;
mod count;
mod counted;
mod duration;
mod error;
mod nearest;
mod number;
mod percent;
mod rate;
mod share;
mod utc;

pub use bytes::Bytes;
pub use count::parse_count;
pub use counted::{counted, listed};
pub use duration::{Nanos, parse_duration, print_duration, print_whole_seconds};
pub use error::ParseError;
pub use nearest::{nearest, unknown};
pub use number::thousands;
pub use percent::{Percent, fraction_percent, part_of, percent};
pub use rate::{BytesPerSec, OpsPerSec};
pub use share::Share;
pub use utc::Utc;
