//! Stores measurements: a run directory for each experiment, and an index of all of them.
//!
//! The run directory (`ROOT/runs/ID/`) is authoritative: `manifest.json` contains the plan and the
//! environment, and `journal` receives events as they happen. `ROOT/index.sqlite` only makes
//! listing fast and can be deleted at any time. Not for: what the numbers mean (`analysis`) or how
//! they are displayed (`report`).
//!
//! Plain authoritative files and an index that can be rebuilt follow git's objects and index. The
//! journal's frames follow the logs of databases (length, checksum, append only).
//!
//! Reading order: [`Store`], `manifest`, `journal` (a file of frames; their content is in crate `record`),
//! `writer`, `reader`, `listing`, `index`, `annotation` (labels), `removal`, `spool` (of an agent).

mod annotation;
mod error;
mod index;
mod journal;
mod listing;
mod manifest;
mod reader;
mod removal;
mod root;
mod run_id;
mod scraped;
mod spool;
mod spool_content;
mod store;
mod summary;
mod writer;

pub use annotation::{Annotation, InvalidLabel, Label};
pub use error::Error;
pub use listing::{Listed, State};
pub use manifest::plan_hash;
pub use reader::apply;
pub use root::default_root;
pub use scraped::{ScrapedSample, ScrapedWriter};
pub use spool::{SpoolFile, SpoolWriter, Spools, default_spool_root};
pub use spool_content::{SpoolContent, SpooledRun};
pub use store::Store;
pub use writer::Writer;
