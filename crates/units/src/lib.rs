//! Quantities with their dimension: bytes, rates, percent, moments, dates; and what is wrong with
//! what a user wrote.
//!
//! For: every boundary between crates, so that a number never loses its unit. Not for: hot loops,
//! which use raw integers named with their unit (`issued_ns`), nor for reading clocks, which no
//! core does.
//!
//! Parsing accepts the habits of the field (`4k` is 4 KiB as in fio and Vdbench, `4KB` is decimal);
//! printing is always IEC for bytes, and a rate carries `/s`.

mod bytes;
mod counted;
pub mod diagnostic;
mod duration;
mod error;
mod instant;
mod nearest;
mod percent;
mod rate;
mod utc;

pub use bytes::Bytes;
pub use counted::counted;
pub use duration::{Nanos, parse_duration, print_duration};
pub use error::ParseError;
pub use instant::Instant;
pub use nearest::{nearest, unknown};
pub use percent::{Percent, fraction_percent, part_of, percent};
pub use rate::{BytesPerSec, OpsPerSec, thousands};
pub use utc::Utc;
