//! Reads the TOML that users write: experiments, topologies, `volumes.toml`, load profiles, and the
//! tables of facts in `data/`.
//!
//! For: typed values with their position in the text, and one form of diagnostic for all of these
//! files, so that a wrong key looks the same everywhere. Not for: checks of values against each other,
//! which the reading crate does, or opening files.
//!
//! [`parse`] reports all problems of a text, not only the first. [`TableReader`] reads the keys of
//! one table; a key that was never read is unknown, and is reported with the nearest known key.

mod diagnostic;
mod document;
mod table;

pub use diagnostic::{Diagnostic, Source, SourceSpan, did_you_mean};
pub use document::{Problems, in_order, parse, unknown_key};
pub use table::{
    KeySpans, Node, TableReader, duration_ns, report_unknown_keys, scalar_text, text_list,
};
