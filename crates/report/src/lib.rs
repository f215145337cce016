//! Lays out what analysis found: as a table for a terminal, CSV, JSON, HdrHistogram percentile
//! files, and a self-contained HTML page.
//!
//! For: layout and the scaling of units. Not for: arithmetic; every number comes from
//! [`analysis::Findings`] as it is, which is why all outputs carry the same ones.
//!
//! Reading order: [`rows`] (what a table shows), [`number`] (how a number is printed), [`sections`]
//! and [`document`] (what is said beside it), then the outputs.

pub mod avs;
pub mod chart;
mod charts;
pub mod compare;
pub mod connections;
pub mod csv;
pub mod curves;
pub mod document;
mod emulated;
pub mod expect;
pub mod hgrm;
pub mod html;
pub mod json;
pub mod labels;
pub mod markdown;
pub mod method;
pub mod number;
pub mod pictures;
pub mod predict;
pub mod record;
pub mod rows;
pub mod sections;
pub mod settings;
pub mod sheet;
pub mod sizing;
pub mod text;
mod verdict;
