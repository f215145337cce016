//! Reads exported inventories of virtual machines: bytes in, an [`Inventory`] out.
//!
//! For: workbooks (xlsx) and CSV sets of RVTools, and workbooks of Live Optics, which add operations
//! and throughput per machine. Not for: opening files, nor for sizing (crate `sizing`).
//!
//! Headings are those of RVTools 4.4, with the variants of 3.x (`MB` for the same numbers) and of
//! scripted exports (`vInfoVMName`), from RvToolsMerge's table of sheets (sbroenne/RvToolsMerge,
//! 2026-08-17). Headings of Live Optics are those that other importers of its workbooks read.
//!
//! All wrong cells of an export are reported together, each with its reference (`vInfo!C17`). Rows
//! that lack values (an inaccessible machine has no processors in RVTools) are skipped, counted and
//! noted.

mod cell;
mod cell_ref;
mod delimited;
mod error;
mod headings;
pub mod inventory;
mod machines;
mod reading;
mod sheet;
mod tables;
mod workbook;

pub use error::{CellError, Error};
pub use inventory::Inventory;
pub use reading::{NamedBytes, is_table_of_a_set, read};
