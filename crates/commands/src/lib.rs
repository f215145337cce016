//! What each command of the program does, without its arguments and without a terminal.
//!
//! Every function takes typed options and returns values, or passes events to the listeners it is
//! given. `cli` turns arguments into options and prints what is returned; a web page or an API can
//! call the same functions.
//!
//! Not for: parsing flags, printing, colours, signals (`cli`), and not for conclusions (`analysis`,
//! `predict`, `sizing`) or their wording (`report`).
//!
//! Reading order: [`outcome`] (how a command ends), [`measure`], then the others by task.

mod build_id;
pub mod check;
pub mod compare;
pub mod conditions;
pub mod config;
pub mod emulated_volume;
pub mod fleet;
pub mod foreign_options;
mod http_get;
pub mod keep;
pub mod measure;
pub mod named_target;
pub mod observe;
pub mod outcome;
pub mod predict;
pub mod refusal;
pub mod serve;
pub mod size;
pub mod tune;
pub mod units_load;

use std::time::SystemTime;

/// The time of day in milliseconds since 1970 (UTC).
pub(crate) fn unix_ms() -> u64 {
    // A clock before 1970 is wrong; the time is only displayed.
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
