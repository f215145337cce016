//! Inventories of virtual machines as other programs export them: bytes in, an [`Inventory`] out.
//!
//! For: workbooks (xlsx) and CSV sets of RVTools, and workbooks of Live Optics, which know what
//! RVTools does not, operations and throughput of each machine. Not for: files (the caller reads
//! them), nor for what follows from an inventory (crate `sizing`).
//!
//! Headings are those of RVTools 4.4, with the variants of 3.x (`MB` for the same numbers) and of
//! scripted exports (`vInfoVMName`), from RvToolsMerge's table of sheets (sbroenne/RvToolsMerge,
//! 2026-08-17); headings of Live Optics are those that importers of its workbooks read.
//!
//! What is wrong is told with its sheet and cell (`vInfo!C17`), all of a workbook at once. What is
//! merely absent (a machine without processors, as RVTools writes an inaccessible one) is skipped,
//! counted and noted.

mod cell;
mod delimited;
mod error;
mod headings;
pub mod inventory;
mod machines;
mod place;
mod reading;
mod sheet;
mod tables;
mod workbook;

pub use error::{CellMistake, Error};
pub use inventory::Inventory;
pub use reading::{NamedBytes, is_table_of_a_set, read, read_with_columns};
