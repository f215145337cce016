//! Keeps what was measured: a run directory for each experiment, and an index of all of them.
//!
//! The run directory (`ROOT/runs/ID/`) is the truth: `manifest.json` says what was to be done and
//! where, `journal` receives what happened as it happens. `ROOT/index.sqlite` only makes listing
//! fast; it can be deleted at any time. Not for: what the numbers mean (`analysis`) or how they are
//! shown (`report`).
//!
//! The split between plain files that survive anything and an index that may be lost follows git's
//! objects and index; the journal's frames follow the logs of databases (length, checksum, append
//! only).
//!
//! Reading order: [`Store`], `manifest`, `journal` (frames and their checksums), `frame` (what is
//! in a frame), `interval` (the compact form of histograms), `writer`, `reader`, `index`.

mod codec;
mod connection;
mod error;
mod frame;
mod host_state;
mod index;
mod interval;
mod journal;
mod manifest;
mod reader;
mod root;
mod run_id;
mod store;
mod summary;
mod wire;
mod writer;

pub use error::Error;
pub use manifest::plan_hash;
pub use root::default_root;
pub use store::{Listed, State, Store};
pub use writer::Writer;
